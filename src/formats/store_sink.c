/* The sink of the native store: rows are copied out of the model into a block; when it is full the writer's thread
 * packs and writes it while the run fills the next. There are a few of them, so that the run waits only when the disk
 * is slower than it for long; the one freed last is used first, because it is still in the cache. */
#include "base/map.h"
#include "base/vec.h"
#include "formats/select.h"
#include "formats/store.h"
#include "formats/store_layout.h"
#include "formats/store_write.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct { /* slots that follow each other in the model and in the row */
    uint64_t offset;
    uint32_t at, n;
} SlotRun;

enum { BLOCKS = 3 }; /* one is filled, one written, one lies between; of BLOCK_BYTES at most */

typedef struct {
    KoineSlot *rows;
    uint32_t n;
} Filled;

/* How a row is made of the model's memory. */
typedef struct {
    VEC(SlotRun) runs;
    VEC(uint64_t) constants; /* offsets of what is written once */
    uint32_t kind_at;        /* place of the columns of marks in a row */
} RowPlan;

/* What the run and the thread that writes share. While there is a thread, the mutex guards all that stands below it. */
typedef struct {
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    KoineSlot *empty[BLOCKS];
    uint32_t n_empty;
    Filled pending[BLOCKS]; /* to be written, the first one first */
    uint32_t n_pending;
    uint32_t n_for_now; /* rows of `filling` that were written already */
    bool is_looking;    /* the thread reads `filling` */
    bool is_ending, is_failed;
} Writing;

typedef struct {
    KoineSink sink; /* first: a pointer to it is one to the StoreSink */
    StoreOptions options;
    Arena *arena;
    StoreWriter writer;
    RowPlan row;
    StoreTables tables;        /* of the file; written at the first point */
    _Atomic uint32_t n_filled; /* rows of `filling`; those before it do not change any more */
    KoineSlot *filling;
    bool is_open, has_point;
    Writing writing;
} StoreSink;

static KoineStatus fail(StoreSink *s)
{
    memcpy(s->sink.error, s->writer.file.error, sizeof s->sink.error);
    return KOINE_FAILED;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Waits for a block; false: the rows that are there have waited long enough. */
static bool wait_for_block(StoreSink *s)
{
    const double patience = s->options.patience > 0 ? s->options.patience : 10;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until); /* as `changed` has it: nobody sets this clock back */
    const double end = (double)until.tv_nsec * 1e-9 + patience;
    until.tv_sec += (time_t)end;
    until.tv_nsec = (long)((end - (double)(time_t)end) * 1e9);
    while (s->writing.n_pending == 0 && !s->writing.is_ending)
        if (pthread_cond_timedwait(&s->writing.changed, &s->writing.mutex, &until) == ETIMEDOUT)
            return false;
    return true;
}

/* The begin of a block that fills slowly. It is written again when it has doubled, so that what is given up of the file
 * stays smaller than the block. */
static void write_for_now(StoreSink *s)
{
    const uint32_t n = atomic_load_explicit(&s->n_filled, memory_order_acquire);
    if (n == 0 || n < 2 * s->writing.n_for_now || s->writing.is_failed)
        return;
    s->writing.is_looking = true;
    pthread_mutex_unlock(&s->writing.mutex);
    const bool is_good = store_writer_block(&s->writer, s->filling, n, true);
    pthread_mutex_lock(&s->writing.mutex);
    s->writing.is_failed |= !is_good;
    s->writing.n_for_now = n;
    s->writing.is_looking = false;
    pthread_cond_broadcast(&s->writing.changed);
}

static void *write_blocks(void *context)
{
    StoreSink *s = context;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the library keeps this for each thread */
    pthread_mutex_lock(&s->writing.mutex);
    for (;;) {
        if (!wait_for_block(s)) {
            write_for_now(s);
            continue;
        }
        if (s->writing.n_pending == 0)
            break;
        const Filled block = s->writing.pending[0];
        pthread_mutex_unlock(&s->writing.mutex);
        const bool is_good = store_writer_block(&s->writer, block.rows, block.n, false);
        pthread_mutex_lock(&s->writing.mutex);
        s->writing.is_failed |= !is_good;
        s->writing.empty[s->writing.n_empty++] = block.rows;
        memmove(s->writing.pending, s->writing.pending + 1, --s->writing.n_pending * sizeof *s->writing.pending);
        pthread_cond_broadcast(&s->writing.changed);
    }
    pthread_mutex_unlock(&s->writing.mutex);
    return NULL;
}

static void start_thread(StoreSink *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_init(&s->writing.mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->writing.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    s->writing.has_thread = pthread_create(&s->writing.thread, NULL, write_blocks, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Gives the block that is being filled to the thread, and begins the next when there is one. */
static bool hand_over(StoreSink *s)
{
    const uint32_t n = atomic_load_explicit(&s->n_filled, memory_order_relaxed);
    if (n == 0)
        return !s->writing.is_failed;
    if (!s->writing.has_thread) {
        s->n_filled = 0;
        s->writing.is_failed |= !store_writer_block(&s->writer, s->filling, n, false);
        return !s->writing.is_failed;
    }
    pthread_mutex_lock(&s->writing.mutex);
    while (s->writing.n_empty == 0 || s->writing.is_looking)
        pthread_cond_wait(&s->writing.changed, &s->writing.mutex);
    const bool is_good = !s->writing.is_failed;
    if (is_good) {
        s->writing.pending[s->writing.n_pending++] = (Filled){ s->filling, n };
        s->filling = s->writing.empty[--s->writing.n_empty];
    }
    s->n_filled = 0;
    s->writing.n_for_now = 0;
    pthread_cond_broadcast(&s->writing.changed);
    pthread_mutex_unlock(&s->writing.mutex);
    return is_good;
}

static void end_thread(StoreSink *s)
{
    if (!s->writing.has_thread)
        return;
    pthread_mutex_lock(&s->writing.mutex);
    s->writing.is_ending = true;
    pthread_cond_broadcast(&s->writing.changed);
    pthread_mutex_unlock(&s->writing.mutex);
    pthread_join(s->writing.thread, NULL);
    s->writing.has_thread = false;
    pthread_mutex_destroy(&s->writing.mutex);
    pthread_cond_destroy(&s->writing.changed);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static StoreStorage storage_of(const StoreSink *s, const KoineVariable *variable)
{
    if (variable->variability <= KOINE_VARIABILITY_PARAMETER)
        return s->options.has_phases && variable->variability == KOINE_VARIABILITY_PARAMETER ? STORE_CHANGES
                                                                                             : STORE_CONSTANT;
    return variable->variability == KOINE_VARIABILITY_CONTINUOUS && variable->type == KOINE_REAL ? STORE_DENSE
                                                                                                 : STORE_CHANGES;
}

static int by_offset(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef VEC(uint64_t) Offsets;

/* The different slots of one storage in the order of the model's memory. */
static Offsets collect_offsets(const StoreSink *s, const KoineTables *tables, const Selection *selection,
                               StoreStorage storage, Arena *arena)
{
    Offsets offsets = { 0 };
    for (uint32_t k = 0; k < selection->n; k++)
        if (storage_of(s, &tables->variables[selection->at[k].variable]) == storage)
            vec_push(arena, &offsets, selection->at[k].offset);
    if (offsets.n)
        qsort(offsets.at, offsets.n, sizeof *offsets.at, by_offset);
    uint32_t n = 0;
    for (uint32_t k = 0; k < offsets.n; k++)
        if (n == 0 || offsets.at[n - 1] != offsets.at[k])
            offsets.at[n++] = offsets.at[k];
    offsets.n = n;
    return offsets;
}

static void add_runs(StoreSink *s, const Offsets *offsets, uint32_t at, Map *columns, uint32_t first_column)
{
    map_init(columns, s->arena, offsets->n);
    for (uint32_t k = 0; k < offsets->n; k++, at++) {
        map_put(columns, offsets->at[k], first_column + k);
        if (k > 0 && offsets->at[k] == offsets->at[k - 1] + sizeof(KoineSlot))
            s->row.runs.at[s->row.runs.n - 1].n++;
        else
            vec_push(s->arena, &s->row.runs, ((SlotRun){ offsets->at[k], at, 1 }));
    }
}

static const char **list_enumerations(const KoineTables *tables, Arena *arena)
{
    const char **const list = NEW_ARRAY(arena, const char *, tables->types.n_enumerations + 1);
    for (uint32_t k = 0; k < tables->types.n_enumerations; k++) {
        Text text = { .arena = arena };
        text_add(&text, tables->types.enumerations[k].name);
        for (uint32_t v = 0; v < tables->types.enumerations[k].n; v++)
            text_format(&text, "\n%s", tables->types.enumerations[k].values[v]);
        list[k] = text.at;
    }
    return list;
}

static StoreTables make_tables(StoreSink *s, const KoineTables *tables, const Selection *selection)
{
    Arena *arena = s->arena;
    Offsets offsets[3];
    Map columns[3];
    for (int k = 0; k < 3; k++)
        offsets[k] = collect_offsets(s, tables, selection, (StoreStorage)k, arena);
    StoreWriter *w = &s->writer;
    w->n_dense = 1 + offsets[STORE_DENSE].n;
    w->n_changes = MARK_COLUMNS + offsets[STORE_CHANGES].n;
    s->row.kind_at = w->n_dense;
    add_runs(s, &offsets[STORE_DENSE], 1, &columns[STORE_DENSE], 1);
    add_runs(s, &offsets[STORE_CHANGES], w->n_dense + MARK_COLUMNS, &columns[STORE_CHANGES], MARK_COLUMNS);
    map_init(&columns[STORE_CONSTANT], arena, offsets[STORE_CONSTANT].n);
    for (uint32_t k = 0; k < offsets[STORE_CONSTANT].n; k++) {
        map_put(&columns[STORE_CONSTANT], offsets[STORE_CONSTANT].at[k], k);
        vec_push(arena, &s->row.constants, offsets[STORE_CONSTANT].at[k]);
    }
    StoreTables made = { .rows = NEW_ARRAY(arena, StoreRow, selection->n + 1), .n_rows = selection->n + 1 };
    made.rows[0] = (StoreRow){ "time", "s", "", { STORE_DENSE, 0, 0, KOINE_REAL, KOINE_VARIABILITY_CONTINUOUS } };
    made.rows[0].table[TABLE_ENUMERATION] = -1;
    for (uint32_t k = 0; k < selection->n; k++) {
        const Column *column = &selection->at[k];
        const KoineVariable *variable = &tables->variables[column->variable];
        const StoreStorage storage = storage_of(s, variable);
        Text name = { .arena = arena };
        column_name(tables, column, &name);
        uint32_t at = 0;
        map_get(&columns[storage], column->offset, &at);
        StoreRow *row = &made.rows[k + 1];
        *row = (StoreRow){ name.at,
                           variable->unit ? variable->unit : "",
                           variable->comment ? variable->comment : "",
                           { (int32_t)storage, (int32_t)at, (variable->flags & KOINE_VARIABLE_NEGATED) != 0,
                             variable->type, variable->variability, variable->causality, -1 } };
        if (variable->type == KOINE_ENUMERATION && variable->enumeration < tables->types.n_enumerations)
            row->table[TABLE_ENUMERATION] = (int32_t)variable->enumeration;
    }
    made.enumerations = list_enumerations(tables, arena);
    made.n_enumerations = tables->types.n_enumerations;
    made.n_constants = offsets[STORE_CONSTANT].n;
    made.begin = s->options.begin ? s->options.begin : "{}";
    return made;
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

/* Its rows begin with cache lines. */
static KoineSlot *make_block(StoreSink *s)
{
    enum { LINE = 64 };
    const size_t size = s->writer.stride * s->writer.block_rows;
    KoineSlot *slots = NEW_ARRAY(s->arena, KoineSlot, size + LINE / sizeof(KoineSlot));
    return slots + (LINE - (uintptr_t)slots % LINE) % LINE / sizeof(KoineSlot);
}

static KoineStatus store_begin(KoineSink *sink, const KoineModel *model)
{
    StoreSink *s = (StoreSink *)sink;
    const StoreOptions *options = &s->options;
    const KoineTables *tables = model->kind->tables;
    Selection selection;
    SelectionMiss miss;
    if (!select_columns(tables, options->globs, options->n_globs, SELECT_PARAMETERS, s->arena, &selection, &miss)) {
        selection_miss_text(&miss, options->globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    s->tables = make_tables(s, tables, &selection);
    s->is_open = true;
    if (!store_writer_open(&s->writer, options->path, options->is_confined, s->arena))
        return fail(s);
    while (s->writing.n_empty < BLOCKS)
        s->writing.empty[s->writing.n_empty++] = make_block(s);
    s->filling = s->writing.empty[--s->writing.n_empty];
    return KOINE_OK;
}

/* A run that fails before its first point leaves an older file as it is; parameters have their values from there on.
 * The thread starts then, too: the file is its own from there. */
static bool begin_file(StoreSink *s, const KoineModel *model)
{
    s->has_point = true;
    if (!store_writer_begin(&s->writer, &s->tables, s->arena))
        return false;
    KoineSlot *slots = NEW_ARRAY(s->arena, KoineSlot, s->row.constants.n);
    for (uint32_t k = 0; k < s->row.constants.n; k++)
        memcpy(&slots[k], model->block + s->row.constants.at[k], sizeof slots[k]);
    store_writer_constants(&s->writer, slots, s->row.constants.n, s->arena);
    start_thread(s);
    return !s->writer.file.is_failed;
}

static KoineStatus store_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    StoreSink *s = (StoreSink *)sink;
    if (!s->has_point && !begin_file(s, model))
        return fail(s);
    const uint32_t n = atomic_load_explicit(&s->n_filled, memory_order_relaxed);
    KoineSlot *row = s->filling + s->writer.stride * n;
    row[0].r = point->time;
    row[s->row.kind_at + COLUMN_KIND].i = point->kind;
    row[s->row.kind_at + COLUMN_EVENT_STEP].i = point->event_step;
    for (uint32_t k = 0; k < s->row.runs.n; k++) {
        const SlotRun *run = &s->row.runs.at[k];
        if (run->n == 1)
            memcpy(&row[run->at], model->block + run->offset, sizeof *row);
        else
            memcpy(&row[run->at], model->block + run->offset, run->n * sizeof *row);
    }
    atomic_store_explicit(&s->n_filled, n + 1, memory_order_release);
    if (n + 1 < s->writer.block_rows)
        return KOINE_OK;
    return hand_over(s) ? KOINE_OK : fail(s);
}

static KoineStatus store_end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    StoreSink *s = (StoreSink *)sink;
    const bool is_handed = hand_over(s);
    end_thread(s);
    return is_handed && !s->writing.is_failed ? KOINE_OK : fail(s);
}

bool store_finish(KoineSink *sink, const char *end)
{
    StoreSink *s = (StoreSink *)sink;
    if (!s->is_open)
        return true;
    s->is_open = false;
    end_thread(s);
    StoreFile *file = &s->writer.file;
    if (!s->has_point && !file->is_failed) { /* a file without rows is better than none, but not than an older one */
        if (file->has_older)
            return store_file_close(file);
        store_writer_begin(&s->writer, &s->tables, s->arena);
    }
    if (store_writer_end(&s->writer, end))
        return true;
    fail(s);
    return false;
}

KoineSink *store_sink(const StoreOptions *options, Arena *arena)
{
    StoreSink *s = NEW(arena, StoreSink);
    s->options = *options;
    s->arena = arena;
    s->sink.context = s;
    s->sink.wants_event_steps = options->every_event_step;
    s->sink.begin = store_begin;
    s->sink.point = store_point;
    s->sink.end = store_end;
    return &s->sink;
}
