/* Opening results by the way to read that fits, and reading ranges of their columns; see result.h. */
#include "web/result.h"
#include "base/diag.h"
#include "formats/live.h"
#include "formats/result_file.h"
#include "formats/series.h"
#include "formats/store.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    bool (*is_mine)(const char *path);
    /* Fills columns and rows. False: *error says why. */
    bool (*open)(Result *result, const char **error);
    bool (*read)(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to);
    ResultChange (*look)(Result *result);
    void (*close)(Result *result);
    /* optional: NULL means that the rows must be read */
    uint64_t (*row_at)(const Result *result, double time);
    bool (*buckets)(const Result *result, uint32_t column, double from, double to, uint32_t n, ResultBucket *buckets);
    bool (*events)(const Result *result, double from, double to, uint32_t most, double *times, uint64_t *n);
} ResultKind;

struct Result {
    Arena *arena;
    const ResultKind *kind;
    const char *path;
    ResultColumn *columns;
    uint32_t n_columns;
    uint64_t n_rows;
    const Series *series; /* SERIES */
    LiveFile *live;       /* LIVE */
    Store *store;         /* STORE */
    const char *provenance, *statistics;
    const char *damage;    /* what was found when it was opened; NULL: nothing */
    bool is_unreadable;    /* it could not be opened, and not the file is to blame */
    bool is_unfinished;    /* its run did not come to an end yet, or was killed */
    uint64_t node;         /* of the file when it was opened */
    int64_t changed, size; /* of the file when it was read */
};

/* ---- formats that are read as a whole ---- */
static bool is_any(const char *path)
{
    (void)path;
    return true;
}

static void note_state(Result *result)
{
    struct stat state;
    if (stat(result->path, &state) == 0) {
        result->changed = (int64_t)state.st_mtim.tv_sec * 1000000000 + state.st_mtim.tv_nsec;
        result->size = (int64_t)state.st_size;
        result->node = (uint64_t)state.st_ino;
    }
}

/* A column whose values repeat and jump only: drawn in steps. */
static bool looks_discrete(const SeriesColumn *column, uint64_t n)
{
    uint64_t n_changes = 0;
    for (uint64_t k = 1; k < n && !column->is_constant; k++) {
        if (column->values[k] != floor(column->values[k]))
            return false;
        n_changes += column->values[k] != column->values[k - 1];
    }
    return !column->is_constant && n > 1 && n_changes <= n / 4;
}

/* The first warning of a reader. */
static const char *warning_of(const Diag *diag)
{
    DiagItem item;
    return diag_item(diag, 0, &item) ? item.at.message : NULL;
}

static bool series_open(Result *result, const char **error)
{
    Sources *sources = sources_create(result->arena);
    Diag *diag = diag_create(result->arena, sources);
    note_state(result);
    result->series = series_read(result->path, result->arena, diag);
    DiagItem item;
    if (!result->series || result->series->n_columns == 0) {
        *error = diag_item(diag, 0, &item) ? item.at.message : "there is nothing in it";
        result->is_unreadable = diag_item(diag, 0, &item) && item.code == DIAG_FILE_UNREADABLE;
        return false;
    }
    result->damage = warning_of(diag);
    result->n_columns = result->series->n_columns;
    result->n_rows = result->series->n_rows;
    result->columns = NEW_ARRAY(result->arena, ResultColumn, result->n_columns);
    for (uint32_t k = 0; k < result->n_columns; k++) {
        const SeriesColumn *from = &result->series->columns[k];
        result->columns[k] = (ResultColumn){ .name = from->name,
                                             .unit = "",
                                             .comment = from->comment ? from->comment : "",
                                             .is_constant = from->is_constant,
                                             .is_discrete = k > 0 && looks_discrete(from, result->n_rows) };
    }
    return true;
}

static bool series_range(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to)
{
    const SeriesColumn *from = &result->series->columns[column];
    for (uint64_t k = 0; k < n; k++)
        to[k] = series_value(from, first + k);
    return true;
}

static ResultChange series_look(Result *result)
{
    const int64_t changed = result->changed, size = result->size;
    note_state(result);
    return changed != result->changed || size != result->size ? RESULT_OTHER : RESULT_SAME;
}

static void series_close(Result *result)
{
    (void)result;
}

/* ---- a run under way ---- */
static bool is_live(const char *path)
{
    return text_ends_with(path, LIVE_ENDING);
}

static bool open_live(Result *result, const char **error)
{
    result->live = live_open(result->path, result->arena, error);
    if (!result->live)
        return false;
    result->n_columns = live_columns(result->live);
    result->columns = NEW_ARRAY(result->arena, ResultColumn, result->n_columns);
    for (uint32_t k = 0; k < result->n_columns; k++) {
        const LiveColumn from = live_column(result->live, k);
        result->columns[k] = (ResultColumn){
            .name = from.name, .unit = from.unit, .comment = from.comment, .is_discrete = from.is_discrete
        };
    }
    result->n_rows = live_refresh(result->live);
    return true;
}

static bool read_live(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to)
{
    live_read(result->live, column, first, n, to);
    return true;
}

static ResultChange look_live(Result *result)
{
    const uint64_t before = result->n_rows;
    result->n_rows = live_refresh(result->live);
    return result->n_rows != before ? RESULT_GROWN : RESULT_SAME;
}

static void close_live(Result *result)
{
    live_close(result->live);
}

/* ---- the native store: read in place ---- */
static bool is_store(const char *path)
{
    char bytes[16];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t n = read(file, bytes, sizeof bytes);
    close(file);
    return n > 0 && store_is_file(bytes, (size_t)n);
}

static void take_store_info(Result *result)
{
    const StoreInfo *info = store_info(result->store);
    result->n_rows = info->n_rows;
    result->provenance = info->begin;
    result->statistics = info->end;
    result->is_unfinished = !info->is_closed && !info->end;
}

static bool open_store(Result *result, const char **error)
{
    Sources *sources = sources_create(result->arena);
    Diag *diag = diag_create(result->arena, sources);
    note_state(result);
    result->store = store_open(result->path, result->arena, diag);
    DiagItem item;
    if (!result->store) {
        *error = diag_item(diag, 0, &item) ? item.at.message : "it is no result";
        result->is_unreadable = diag_item(diag, 0, &item) && item.code == DIAG_FILE_UNREADABLE;
        return false;
    }
    const StoreInfo *info = store_info(result->store);
    result->damage = warning_of(diag);
    result->n_columns = info->n_variables;
    result->columns = NEW_ARRAY(result->arena, ResultColumn, info->n_variables + 1);
    for (uint32_t k = 0; k < info->n_variables; k++) {
        const StoreVariable *from = &info->variables[k];
        result->columns[k] = (ResultColumn){ .name = from->name,
                                             .unit = from->unit ? from->unit : "",
                                             .comment = from->comment ? from->comment : "",
                                             .is_constant = from->storage == STORE_CONSTANT,
                                             .is_discrete = from->storage == STORE_CHANGES };
    }
    take_store_info(result);
    return info->n_variables > 0;
}

static bool read_store(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to)
{
    store_values(result->store, column, first, n, to);
    return true;
}

static ResultChange look_store(Result *result)
{
    struct stat state;
    if (stat(result->path, &state) != 0)
        return RESULT_SAME;
    if ((uint64_t)state.st_ino != result->node || (int64_t)state.st_size < result->size)
        return RESULT_OTHER;
    if (result->statistics || !store_refresh(result->store))
        return RESULT_SAME;
    take_store_info(result);
    return RESULT_GROWN;
}

static void close_store(Result *result)
{
    store_close(result->store);
}

static uint64_t store_row(const Result *result, double time)
{
    return store_row_at(result->store, time);
}

static bool store_pieces(const Result *result, uint32_t column, double from, double to, uint32_t n,
                         ResultBucket *buckets)
{
    StoreBucket *all = malloc(n * sizeof *all);
    if (!all)
        return false;
    store_buckets(result->store, column, from, to, n, all);
    for (uint32_t k = 0; k < n; k++)
        buckets[k] = (ResultBucket){ all[k].n, all[k].minimum, all[k].maximum, all[k].first_time, all[k].last_time };
    free(all);
    return true;
}

static bool store_event_times(const Result *result, double from, double to, uint32_t most, double *times, uint64_t *n)
{
    uint64_t *rows = malloc((most + 1) * sizeof *rows);
    if (!rows)
        return false;
    *n = store_events(result->store, from, to, most, rows);
    for (uint64_t k = 0; k < *n && k < most; k++)
        store_values(result->store, 0, rows[k], 1, &times[k]);
    free(rows);
    return true;
}

static const ResultKind kinds[] = {
    { is_live, open_live, read_live, look_live, close_live, NULL, NULL, NULL },
    { is_store, open_store, read_store, look_store, close_store, store_row, store_pieces, store_event_times },
    { is_any, series_open, series_range, series_look, series_close, NULL, NULL, NULL },
};

/* ---- what all have ---- */
bool result_is_named(const char *path)
{
    return result_format_named(path) || is_live(path);
}

Result *result_open(const char *path, Arena *arena, const char **error)
{
    bool is_unreadable;
    return result_try(path, arena, error, &is_unreadable);
}

Result *result_try(const char *path, Arena *arena, const char **error, bool *is_unreadable)
{
    Arena *own = arena_create_like(arena);
    Result *result = NEW(own, Result);
    *result = (Result){ .arena = own, .path = arena_text(own, path, strlen(path)) };
    for (result->kind = kinds; !result->kind->is_mine(path);)
        result->kind++;
    const char *why = NULL;
    if (result->kind->open(result, &why))
        return result;
    *error = arena_text(arena, why, strlen(why));
    *is_unreadable = result->is_unreadable;
    arena_destroy(own);
    return NULL;
}

void result_close(Result *result)
{
    if (!result)
        return;
    result->kind->close(result);
    arena_destroy(result->arena);
}

uint32_t result_columns(const Result *result)
{
    return result->n_columns;
}

const ResultColumn *result_column(const Result *result, uint32_t column)
{
    return &result->columns[column];
}

uint32_t result_find(const Result *result, const char *name)
{
    if (result->store)
        return store_find(result->store, name);
    for (uint32_t k = 0; k < result->n_columns; k++)
        if (strcmp(result->columns[k].name, name) == 0)
            return k;
    return UINT32_MAX;
}

uint64_t result_rows(const Result *result)
{
    return result->n_rows;
}

bool result_read(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to)
{
    return column < result->n_columns && first <= result->n_rows && n <= result->n_rows - first &&
           result->kind->read(result, column, first, n, to);
}

uint64_t result_row_at(const Result *result, double time)
{
    if (result->kind->row_at)
        return result->kind->row_at(result, time);
    uint64_t low = 0, high = result->n_rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        double at;
        if (result_read(result, 0, middle, 1, &at) && at < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ResultChange result_look(Result *result)
{
    return result->kind->look(result);
}

const char *result_provenance(const Result *result)
{
    return result->provenance;
}

const char *result_note(const Result *result)
{
    return result->damage          ? result->damage
           : result->is_unfinished ? "its run has not ended: it goes on elsewhere, or was killed"
                                   : NULL;
}

const char *result_statistics(const Result *result)
{
    return result->statistics;
}

bool result_buckets(const Result *result, uint32_t column, double from, double to, uint32_t n, ResultBucket *buckets)
{
    return result->kind->buckets && result->kind->buckets(result, column, from, to, n, buckets);
}

bool result_events(const Result *result, double from, double to, uint32_t most, double *times, uint64_t *n)
{
    return result->kind->events && result->kind->events(result, from, to, most, times, n);
}
