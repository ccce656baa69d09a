/* Results in memory: see koine.h. They are made with malloc: they outlive projects, and a lack of memory is a status.
 */
#include "api/api.h"
#include "formats/compare.h"
#include "formats/series.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROWS = 512 };
static const double USUAL_TUBE = 2e-3, USUAL_ABSOLUTE = 1e-9;

KoineResult *result_create(uint32_t n_columns)
{
    KoineResult *result = calloc(1, sizeof *result);
    if (!result)
        return NULL;
    result->names = calloc((size_t)n_columns + 1, sizeof *result->names);
    result->values = calloc((size_t)n_columns + 1, sizeof *result->values);
    result->n_columns = n_columns;
    if (result->names && result->values)
        return result;
    result->n_columns = 0;
    koine_result_free(result);
    return NULL;
}

bool result_name(KoineResult *result, uint32_t k, const char *name)
{
    result->names[k] = strdup(name);
    return result->names[k] != NULL;
}

static bool set_capacity(KoineResult *result, uint64_t rows)
{
    for (uint32_t k = 0; k < result->n_columns; k++) {
        double *larger = realloc(result->values[k], (size_t)(rows + 1) * sizeof *larger);
        if (!larger)
            return false;
        result->values[k] = larger;
    }
    result->capacity = rows;
    return true;
}

bool result_grow(KoineResult *result)
{
    return result->n_rows < result->capacity ||
           set_capacity(result, result->capacity ? 2 * result->capacity : FIRST_ROWS);
}

void koine_result_free(KoineResult *result)
{
    if (!result)
        return;
    for (uint32_t k = 0; k < result->n_columns; k++) {
        free(result->names[k]);
        free(result->values[k]);
    }
    free(result->names);
    free(result->values);
    free(result->why);
    free(result);
}

uint64_t koine_result_rows(const KoineResult *result)
{
    return result->n_rows;
}

const char *koine_result_name(const KoineResult *result, uint32_t k)
{
    return k < result->n_columns ? result->names[k] : NULL;
}

int64_t koine_result_find(const KoineResult *result, const char *name)
{
    for (uint32_t k = 0; k < result->n_columns; k++)
        if (strcmp(result->names[k], name) == 0)
            return k;
    return -1;
}

const double *koine_result_values(const KoineResult *result, uint32_t k)
{
    return k < result->n_columns ? result->values[k] : NULL;
}

/* ---- Of a run --------------------------------------------------------------------------------------------------- */

static KoineStatus no_memory(MemorySink *memory)
{
    snprintf(memory->sink.error, sizeof memory->sink.error, "no memory for the results");
    return -1;
}

static KoineStatus memory_begin(KoineSink *sink, const KoineModel *model)
{
    MemorySink *memory = (MemorySink *)(void *)sink;
    const KoineTables *tables = model->kind->tables;
    SelectionMiss miss;
    if (!select_columns(tables, memory->globs, memory->n_globs, SELECT_PARAMETERS, memory->arena, &memory->selection,
                        &miss)) {
        selection_miss_text(&miss, memory->globs, sink->error, sizeof sink->error);
        return -1;
    }
    memory->result = result_create(memory->selection.n + 1);
    if (!memory->result || !result_name(memory->result, 0, "time"))
        return no_memory(memory);
    Text name = { .arena = memory->arena };
    for (uint32_t k = 0; k < memory->selection.n; k++) {
        name.n = 0;
        column_name(tables, &memory->selection.at[k], &name);
        if (!result_name(memory->result, k + 1, name.at))
            return no_memory(memory);
    }
    return KOINE_OK;
}

static KoineStatus memory_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    MemorySink *memory = (MemorySink *)(void *)sink;
    KoineResult *result = memory->result;
    if (!result_grow(result))
        return no_memory(memory);
    const uint64_t row = result->n_rows++;
    result->values[0][row] = point->time;
    for (uint32_t k = 0; k < memory->selection.n; k++) {
        const Column *column = &memory->selection.at[k];
        KoineSlot slot;
        memcpy(&slot, model->block + column->offset, sizeof slot);
        result->values[k + 1][row] = column_value(&model->kind->tables->variables[column->variable], slot);
    }
    return KOINE_OK;
}

void memory_sink(MemorySink *memory, const char *const *globs, uint32_t n_globs, Arena *arena)
{
    *memory = (MemorySink){
        .sink = { .begin = memory_begin, .point = memory_point }, .globs = globs, .n_globs = n_globs, .arena = arena
    };
}

KoineResult *koine_result(const KoineProject *project)
{
    const KoineResult *from = project->run.memory.result;
    KoineResult *result = from ? result_create(from->n_columns) : NULL;
    if (!result)
        return NULL;
    bool is_good = set_capacity(result, from->n_rows);
    for (uint32_t k = 0; is_good && k < from->n_columns; k++) {
        is_good = result_name(result, k, from->names[k]);
        if (from->n_rows)
            memcpy(result->values[k], from->values[k], (size_t)from->n_rows * sizeof(double));
    }
    result->n_rows = from->n_rows;
    if (is_good)
        return result;
    koine_result_free(result);
    return NULL;
}

/* ---- Of a file -------------------------------------------------------------------------------------------------- */

static KoineResult *copy_series(const Series *series)
{
    KoineResult *result = result_create(series->n_columns);
    bool is_good = result && set_capacity(result, series->n_rows);
    for (uint32_t k = 0; is_good && k < series->n_columns; k++) {
        is_good = result_name(result, k, series->columns[k].name);
        for (uint64_t row = 0; row < series->n_rows; row++)
            result->values[k][row] = series_value(&series->columns[k], row);
    }
    if (is_good) {
        result->n_rows = series->n_rows;
        return result;
    }
    koine_result_free(result);
    return NULL;
}

KoineResult *koine_result_open(const char *file, const char **why)
{
    Arena *arena = arena_create(NULL);
    Diag *diag = diag_create(arena, sources_create(arena));
    const Series *series = series_read(file, arena, diag);
    DiagItem item = { .at.message = "there is no memory" };
    KoineResult *result = series ? copy_series(series) : NULL;
    if (!result) {
        (void)diag_item(diag, 0, &item);
        result = result_create(0);
        if (result)
            result->why = strdup(item.at.message);
    }
    if (why)
        *why = result ? result->why : "there is no memory";
    if (series)
        series_done(series);
    arena_destroy(arena);
    return result;
}

/* ---- Two of them ------------------------------------------------------------------------------------------------ */

/* The worst come first: one more is put in its place. */
static void insert(KoineDeviation *worst, uint32_t n, uint32_t most, const KoineDeviation *one)
{
    uint32_t at = n < most ? n : most;
    const double ratio = one->deviation / one->allowed;
    while (at > 0 && !(worst[at - 1].deviation / worst[at - 1].allowed >= ratio)) {
        if (at < most)
            worst[at] = worst[at - 1];
        at--;
    }
    if (at < most)
        worst[at] = *one;
}

uint32_t koine_compare(const KoineResult *reference, const KoineResult *other, double tube, double absolute,
                       KoineDeviation *worst, uint32_t most)
{
    const uint64_t n = reference->n_rows;
    uint32_t n_different = 0;
    if (reference->n_columns == 0 || other->n_columns == 0 || n == 0 || other->n_rows == 0)
        return 0;
    tube = tube < 0 ? USUAL_TUBE : tube;
    absolute = absolute < 0 ? USUAL_ABSOLUTE : absolute;
    const double width = tube * (reference->values[0][n - 1] - reference->values[0][0]);
    Arena *scratch = arena_create(NULL);
    for (uint32_t k = 1; k < reference->n_columns; k++) {
        const int64_t column = koine_result_find(other, reference->names[k]);
        if (column < 1)
            continue;
        const Curve a = { reference->values[0], reference->values[k], n, false },
                    b = { other->values[0], other->values[column], other->n_rows, false };
        const ArenaMark mark = arena_mark(scratch);
        const Deviation d = compare_curves(&a, &b, width, tube_height(&a, tube, absolute), scratch);
        arena_reset(scratch, mark);
        if (!(d.deviation > d.height))
            continue;
        const KoineDeviation one = { reference->names[k], d.deviation, d.height, d.time };
        insert(worst, n_different, most, &one);
        n_different++;
    }
    arena_destroy(scratch);
    return n_different;
}
