#include "formats/series.h"
#include "base/map.h"
#include "base/names.h"
#include "formats/result_file.h"
#include "formats/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *bytes;
    size_t size, capacity;
} Content;

static const size_t READ_PIECE = (size_t)1 << 20;
static const size_t READ_MOST = (size_t)2 << 30; /* of files that are read as a whole */

/* Reads to the end; on failure returns errno. */
static int read_content(int file, Content *content)
{
    struct stat state;
    if (fstat(file, &state) == 0 && S_ISREG(state.st_mode) && (uint64_t)state.st_size > READ_MOST)
        return EFBIG;
    for (;;) {
        if (content->size > READ_MOST)
            return EFBIG;
        if (content->capacity - content->size < READ_PIECE) {
            const size_t larger = content->capacity * 2 + READ_PIECE;
            char *grown = realloc(content->bytes, larger);
            if (!grown)
                return ENOMEM;
            content->bytes = grown;
            content->capacity = larger;
        }
        const ssize_t n = read(file, content->bytes + content->size, content->capacity - content->size);
        if (n == 0)
            return 0;
        if (n > 0)
            content->size += (size_t)n;
        else if (errno != EINTR)
            return errno;
    }
}

static void report_unreadable(Diag *diag, const char *path, int error)
{
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    if (error == EFBIG) {
        diag_error(diag, DIAG_FILE_TOO_LARGE, SPAN_NONE, "cannot read '%s': it has more than %g GB", path,
                   (double)READ_MOST / (1 << 30));
        diag_help(diag, "native results (.h5) may have any size");
        return;
    }
    diag_error(diag, error == ENOENT ? DIAG_FILE_MISSING : DIAG_FILE_UNREADABLE, SPAN_NONE, "cannot read '%s': %s",
               path, reason);
}

/* All values of a native result. Aliases without a sign share theirs. */
static void load_all(Series *series, Arena *arena)
{
    const StoreInfo *info = store_info(series->store);
    SeriesColumn *columns = NEW_ARRAY(arena, SeriesColumn, series->n_columns);
    memcpy(columns, series->columns, series->n_columns * sizeof *columns);
    Map known;
    map_init(&known, arena, series->n_columns);
    for (uint32_t k = 0; k < series->n_columns; k++) {
        const StoreVariable *v = &info->variables[k];
        const uint64_t key = ((uint64_t)v->storage << 1 | v->is_negated) << 32 | v->column;
        uint32_t other;
        if (map_get(&known, key, &other)) {
            columns[k].values = columns[other].values;
            continue;
        }
        columns[k].values = series_fetch(series, k, arena);
        map_put(&known, key, k);
    }
    series->columns = columns;
}

const double *series_fetch(const Series *series, uint32_t column, Arena *arena)
{
    const SeriesColumn *c = &series->columns[column];
    if (c->values)
        return c->values;
    const uint64_t n = c->is_constant ? 1 : series->n_rows;
    double *values = NEW_ARRAY(arena, double, n);
    store_values(series->store, column, 0, n, values);
    return values;
}

/* The format that reads such a file in place; NULL: there is none. */
static const ResultFormat *format_in_place(int file)
{
    char begin[8];
    if (pread(file, begin, sizeof begin, 0) != (ssize_t)sizeof begin)
        return NULL;
    for (uint32_t k = 0; result_format_at(k); k++) {
        const ResultFormat *format = result_format_at(k);
        if (format->open && format->is_file(begin, sizeof begin))
            return format;
    }
    return NULL;
}

/* The format of what was read: by its first bytes, else that text format which the name tells, else the first one.
 * NULL: nothing by such a name is text, whatever text it might be taken for. */
static const ResultFormat *format_of_content(const char *path, const Content *content)
{
    for (uint32_t k = 0; result_format_at(k); k++) {
        const ResultFormat *format = result_format_at(k);
        if (format->read && format->is_file && format->is_file(content->bytes, content->size))
            return format;
    }
    const ResultFormat *named = result_format_named(path);
    if (!named)
        return result_format_at(0);
    return named->begins_as ? NULL : named;
}

static void report_no_result(Diag *diag, const char *path, Arena *arena)
{
    Text begins = { .arena = arena };
    uint32_t n = 0;
    while (result_format_at(n))
        n++;
    for (uint32_t k = n; k-- > 0;)
        if (result_format_at(k)->begins_as)
            text_format(&begins, "%s as %s", begins.n ? " nor" : "neither", result_format_at(k)->begins_as);
    diag_error(diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: this is no result: it begins %s", path, begins.at);
    diag_help(diag, "a CSV file needs the ending .csv");
}

/* A pipe is not waited for before it is known to be one. */
static int open_file(const char *path, Diag *diag)
{
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat state;
    if (file < 0 || fstat(file, &state) != 0) {
        report_unreadable(diag, path, errno);
    } else if (!source_is_file(path, state.st_mode)) {
        diag_error(diag, DIAG_FILE_MISSING, SPAN_NONE,
                   "cannot read '%s': it is no file, but a folder, a pipe or a device", path);
    } else {
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

static Series *open_series(const char *path, bool has_words, Arena *arena, Diag *diag)
{
    const bool is_standard = strcmp(path, "-") == 0;
    const int file = is_standard ? STDIN_FILENO : open_file(path, diag);
    if (file < 0)
        return NULL;
    const ResultFormat *format = is_standard ? NULL : format_in_place(file);
    if (format) {
        close(file);
        return format->open(path, arena, diag);
    }
    Content content = { 0 };
    Series *series = NULL;
    const int error = read_content(file, &content);
    if (error) {
        report_unreadable(diag, path, error);
    } else if ((format = format_of_content(path, &content)) == NULL) {
        report_no_result(diag, path, arena);
    } else {
        ReadSeries *read_all = has_words && format->read_words ? format->read_words : format->read;
        series = read_all(path, content.bytes, content.size, arena, diag);
    }
    free(content.bytes);
    if (!is_standard)
        close(file);
    return series;
}

Series *series_lazy(const char *path, Arena *arena, Diag *diag)
{
    return open_series(path, false, arena, diag);
}

Series *series_signals(const char *path, Arena *arena, Diag *diag)
{
    return open_series(path, true, arena, diag);
}

void series_done(const Series *series)
{
    if (series && series->store)
        store_close(series->store);
}

Series *series_read(const char *path, Arena *arena, Diag *diag)
{
    Series *series = series_lazy(path, arena, diag);
    if (!series || !series->store)
        return series;
    load_all(series, arena);
    series_done(series);
    series->store = NULL;
    return series;
}

double series_at(const Series *series, const SeriesColumn *column, uint64_t row)
{
    if (column->values)
        return series_value(column, row);
    double value;
    store_values(series->store, (uint32_t)(column - series->columns), row, 1, &value);
    return value;
}

const SeriesColumn *series_find(const Series *series, const char *name)
{
    if (series->store) {
        const uint32_t k = store_find(series->store, name);
        return k < series->n_columns ? &series->columns[k] : NULL;
    }
    for (uint32_t c = 0; c < series->n_columns; c++)
        if (strcmp(series->columns[c].name, name) == 0)
            return &series->columns[c];
    return NULL;
}

GlobMatch *series_glob(const Series *series, const char *glob)
{
    static GlobMatch *const ways[] = { glob_matches, glob_matches_any_case };
    for (uint32_t way = 0; way < 2; way++)
        for (uint32_t k = 1; k < series->n_columns; k++)
            if (ways[way](glob, series->columns[k].name))
                return ways[way];
    return NULL;
}

const char *series_nearest(const Series *series, const char *name)
{
    const size_t length = strlen(name);
    uint32_t best = 2 + (uint32_t)(length < 60 ? length / 3 : 20);
    const char *nearest = NULL;
    for (uint32_t c = 0; c < series->n_columns; c++) {
        const char *other = series->columns[c].name;
        const size_t n = strlen(other);
        if (n > length && other[n - length - 1] == '.' && strcmp(other + n - length, name) == 0)
            return other;
        const uint32_t distance = edit_distance(name, other, best);
        if (distance < best) {
            best = distance;
            nearest = other;
        }
    }
    return nearest;
}
