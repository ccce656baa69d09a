#include "formats/replay.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/store.h"

typedef struct {
    const Series *series;
    Arena *arena;
    KoineModel model;
    KoineModelKind kind;
    KoineTables tables;
    KoineVariable *variables;
    VEC(uint32_t) slots; /* the column each slot is filled from */
    VEC(KoineEnumeration) enumerations;
    Map by_place, by_enumeration;
    const double **values; /* without a store: of each slot */
    KoineSlot *rows;       /* with one: pieces of all columns, one after the other */
    uint64_t piece, begun, n_there;
    uint8_t *kinds;
    uint32_t *event_steps;
} Replay;

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* The slot of a column; those of one place share one. */
static uint64_t slot_of(Replay *r, uint64_t place, uint32_t column)
{
    uint32_t slot;
    if (!map_get(&r->by_place, place, &slot)) {
        slot = r->slots.n;
        vec_push(r->arena, &r->slots, column);
        map_put(&r->by_place, place, slot);
    }
    return slot * sizeof(KoineSlot);
}

static uint32_t enumeration_of(Replay *r, const StoreVariable *from)
{
    const uint64_t key = (uint64_t)(uintptr_t)from->labels; /* shared by all variables of the type */
    uint32_t k;
    if (!map_get(&r->by_enumeration, key, &k)) {
        k = r->enumerations.n;
        vec_push(r->arena, &r->enumerations, ((KoineEnumeration){ from->enumeration, from->n_labels, from->labels }));
        map_put(&r->by_enumeration, key, k);
    }
    return k;
}

static void add_store_variable(Replay *r, uint32_t column, KoineVariable *to)
{
    const StoreVariable *from = &store_info(r->series->store)->variables[column];
    const uint64_t place = (uint64_t)from->storage << 32 | from->column;
    *to = (KoineVariable){ .name = from->name, .unit = from->unit, .comment = from->comment };
    to->now = slot_of(r, place, column);
    to->type = from->type;
    to->variability = from->variability;
    to->causality = from->causality;
    to->flags = from->is_negated ? KOINE_VARIABLE_NEGATED : 0;
    if (from->enumeration)
        to->enumeration = enumeration_of(r, from);
}

/* "comment [unit]" of MAT files. */
static void split_comment(const char *text, Arena *arena, KoineVariable *to)
{
    const size_t n = strlen(text);
    const char *open = n && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    to->unit = "";
    to->comment = text;
    if (!open || (open > text && open[-1] != ' '))
        return;
    to->unit = arena_text(arena, open + 1, (size_t)(text + n - 1 - (open + 1)));
    to->comment = open > text ? arena_text(arena, text, (size_t)(open - text - 1)) : "";
}

static void add_series_variable(Replay *r, uint32_t column, KoineVariable *to)
{
    const SeriesColumn *from = &r->series->columns[column];
    *to = (KoineVariable){ .name = from->name };
    split_comment(from->comment ? from->comment : "", r->arena, to);
    to->now = slot_of(r, (uint64_t)(uintptr_t)from->values, column);
    to->type = KOINE_REAL;
    to->variability = from->is_constant ? KOINE_VARIABILITY_PARAMETER : KOINE_VARIABILITY_CONTINUOUS;
    to->causality = from->is_constant ? KOINE_CAUSALITY_PARAMETER : KOINE_CAUSALITY_LOCAL;
}

static void make_tables(Replay *r)
{
    const uint32_t n = r->series->n_columns - 1; /* the time is no variable */
    r->variables = NEW_ARRAY(r->arena, KoineVariable, n);
    map_init(&r->by_place, r->arena, n);
    map_init(&r->by_enumeration, r->arena, 8);
    for (uint32_t k = 0; k < n; k++) {
        (r->series->store ? add_store_variable : add_series_variable)(r, k + 1, &r->variables[k]);
        r->variables[k].count = 1;
        r->variables[k].state = -1;
    }
    r->tables = (KoineTables){ .name = "", .guid = "" };
    r->tables.variables = r->variables;
    r->tables.n_variables = n;
    r->tables.types.enumerations = r->enumerations.at;
    r->tables.types.n_enumerations = r->enumerations.n;
    r->tables.block_size = r->slots.n * sizeof(KoineSlot);
    r->kind.tables = &r->tables;
    r->model.kind = &r->kind;
    r->model.block = arena_alloc(r->arena, (r->slots.n + 1) * sizeof(KoineSlot), _Alignof(KoineSlot));
    r->model.size = r->tables.block_size;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The column as it is stored: the sign is the variable's. */
static void read_piece(Replay *r, uint64_t row)
{
    struct Store *store = r->series->store;
    const StoreInfo *info = store_info(store);
    r->begun = row;
    r->n_there = r->series->n_rows - row < r->piece ? r->series->n_rows - row : r->piece;
    for (uint32_t k = 0; k < r->slots.n; k++) {
        const StoreVariable *v = &info->variables[r->slots.at[k]];
        KoineSlot *to = r->rows + k * r->piece;
        store_slots(store, r->slots.at[k], row, r->n_there, to);
        for (uint64_t i = 0; i < r->n_there && v->is_negated; i++) {
            if (v->type == KOINE_REAL)
                to[i].r = -to[i].r;
            else
                to[i].i = v->type == KOINE_BOOLEAN ? !to[i].i : (int64_t)(0 - (uint64_t)to[i].i);
        }
    }
    store_kinds(store, row, r->n_there, r->kinds, r->event_steps);
}

static void prepare_rows(Replay *r)
{
    enum { MOST = 4096, LEAST = 16 };
    const uint64_t memory = (uint64_t)1 << 24; /* as much as a block of the native store */
    if (r->series->store) {
        r->piece = MOST;
        while (r->piece > LEAST && r->piece * 8 * (r->slots.n + 3) > memory)
            r->piece /= 2;
        r->rows = NEW_ARRAY(r->arena, KoineSlot, r->piece * r->slots.n);
        r->kinds = NEW_ARRAY(r->arena, uint8_t, r->piece);
        r->event_steps = NEW_ARRAY(r->arena, uint32_t, r->piece);
        return;
    }
    r->values = NEW_ARRAY(r->arena, const double *, r->slots.n);
    for (uint32_t k = 0; k < r->slots.n; k++)
        r->values[k] = r->series->columns[r->slots.at[k]].values;
}

static void fill_row(Replay *r, uint64_t row, KoinePoint *point)
{
    KoineSlot *block = (KoineSlot *)(void *)r->model.block;
    const double *times = r->series->columns[0].values;
    *point = (KoinePoint){ .time = times[row], .kind = KOINE_POINT_GRID };
    if (r->series->store) {
        if (row >= r->begun + r->n_there)
            read_piece(r, row);
        for (uint32_t k = 0; k < r->slots.n; k++)
            block[k] = r->rows[k * r->piece + (row - r->begun)];
        point->kind = r->kinds[row - r->begun];
        point->event_step = r->event_steps[row - r->begun];
        return;
    }
    for (uint32_t k = 0; k < r->slots.n; k++)
        block[k].r = r->values[k][r->series->columns[r->slots.at[k]].is_constant ? 0 : row];
    if (row + 1 < r->series->n_rows && times[row + 1] == times[row])
        point->kind = KOINE_POINT_LEFT;
    else if (row > 0 && times[row - 1] == times[row])
        point->kind = KOINE_POINT_RIGHT;
}

bool replay(const Series *series, KoineSink *sink, Arena *arena)
{
    Replay r = { .series = series, .arena = arena };
    make_tables(&r);
    KoineStatus status = sink->begin(sink, &r.model);
    if (status == KOINE_OK)
        prepare_rows(&r);
    for (uint64_t row = 0; row < series->n_rows && status == KOINE_OK; row++) {
        KoinePoint point;
        fill_row(&r, row, &point);
        status = sink->point(sink, &r.model, &point);
    }
    const KoineStatus end = sink->end(sink, &r.model);
    return status == KOINE_OK && end == KOINE_OK;
}
