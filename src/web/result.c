#include "web/result.h"
#include "base/diag.h"
#include "formats/live.h"
#include "formats/series.h"
#include <math.h>
#include <sys/stat.h>

typedef struct {
    const char *form;
    bool (*is_mine)(const char *path);
    /* Fills columns and rows. False: *error says why. */
    bool (*open)(Result *result, const char **error);
    bool (*read)(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to);
    bool (*has_changed)(Result *result);
    void (*close)(Result *result);
} ResultKind;

struct Result {
    Arena *arena;
    const ResultKind *kind;
    const char *path;
    ResultColumn *columns;
    uint32_t n_columns;
    uint64_t n_rows;
    const Series *series;  /* SERIES */
    LiveFile *live;        /* LIVE */
    int64_t changed, size; /* of the file when it was read */
};

/* ---- CSV and MAT: read as a whole ---- */
static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

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

static bool series_open(Result *result, const char **error)
{
    Sources *const sources = sources_create(result->arena);
    Diag *const diag = diag_create(result->arena, sources);
    note_state(result);
    result->series = series_read(result->path, result->arena, diag);
    DiagItem item;
    if (!result->series || result->series->n_columns == 0) {
        *error = diag_item(diag, 0, &item) ? item.at.message : "there is nothing in it";
        return false;
    }
    result->n_columns = result->series->n_columns;
    result->n_rows = result->series->n_rows;
    result->columns = NEW_ARRAY(result->arena, ResultColumn, result->n_columns);
    for (uint32_t k = 0; k < result->n_columns; k++) {
        const SeriesColumn *const from = &result->series->columns[k];
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
    const SeriesColumn *const from = &result->series->columns[column];
    for (uint64_t k = 0; k < n; k++)
        to[k] = series_value(from, first + k);
    return true;
}

static bool series_has_changed(Result *result)
{
    const int64_t changed = result->changed, size = result->size;
    note_state(result);
    return changed != result->changed || size != result->size;
}

static void series_close(Result *result)
{
    (void)result;
}

/* ---- a run under way ---- */
static bool is_live(const char *path)
{
    return ends_with(path, LIVE_ENDING);
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

static bool live_has_changed(Result *result)
{
    const uint64_t before = result->n_rows;
    result->n_rows = live_refresh(result->live);
    return result->n_rows != before;
}

static void close_live(Result *result)
{
    live_close(result->live);
}

static const ResultKind kinds[] = {
    { "live", is_live, open_live, read_live, live_has_changed, close_live },
    { "CSV or MAT", is_any, series_open, series_range, series_has_changed, series_close },
};

/* ---- what all have ---- */
Result *result_open(const char *path, Arena *arena, const char **error)
{
    Arena *const own = arena_create_like(arena);
    Result *const result = NEW(own, Result);
    *result = (Result){ .arena = own, .path = arena_text(own, path, strlen(path)) };
    for (result->kind = kinds; !result->kind->is_mine(path);)
        result->kind++;
    const char *why = NULL;
    if (result->kind->open(result, &why))
        return result;
    *error = arena_text(arena, why, strlen(why));
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

const char *result_form(const Result *result)
{
    return result->kind->form;
}

uint32_t result_columns(const Result *result)
{
    return result->n_columns;
}

const ResultColumn *result_column(const Result *result, uint32_t column)
{
    return &result->columns[column];
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

bool result_has_changed(Result *result)
{
    return result->kind->has_changed(result);
}
