#include "formats/series.h"
#include "base/map.h"
#include "base/names.h"
#include "formats/csv.h"
#include "formats/mat.h"
#include "formats/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    char *bytes;
    size_t size, capacity;
} Content;

static const size_t READ_PIECE = (size_t)1 << 20;

/* Reads to the end; on failure returns errno. */
static int read_content(int file, Content *content)
{
    for (;;) {
        if (content->capacity - content->size < READ_PIECE) {
            const size_t larger = content->capacity * 2 + READ_PIECE;
            char *const grown = realloc(content->bytes, larger);
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
    diag_error(diag, error == ENOENT ? DIAG_FILE_MISSING : DIAG_FILE_UNREADABLE, SPAN_NONE, "cannot read '%s': %s",
               path, reason);
}

/* "comment [unit]", as in MAT files. */
static const char *comment_of(const StoreVariable *variable, Arena *arena)
{
    if (!variable->unit[0])
        return variable->comment;
    return arena_format(arena, "%s%s[%s]", variable->comment, variable->comment[0] ? " " : "", variable->unit);
}

/* All of a native result. Aliases without a sign share their values. */
static Series *read_store(const char *path, Arena *arena, Diag *diag)
{
    Store *const store = store_open(path, arena, diag);
    if (!store)
        return NULL;
    const StoreInfo *const info = store_info(store);
    SeriesColumn *const columns = NEW_ARRAY(arena, SeriesColumn, info->n_variables);
    Map known;
    map_init(&known, arena, info->n_variables);
    for (uint32_t k = 0; k < info->n_variables; k++) {
        const StoreVariable *const v = &info->variables[k];
        const uint64_t key = ((uint64_t)v->storage << 1 | v->is_negated) << 32 | v->column;
        const uint64_t n = v->storage == STORE_CONSTANT ? 1 : info->n_rows;
        uint32_t other;
        columns[k] = (SeriesColumn){ v->name, comment_of(v, arena), NULL, v->storage == STORE_CONSTANT };
        if (map_get(&known, key, &other)) {
            columns[k].values = columns[other].values;
            continue;
        }
        double *const values = NEW_ARRAY(arena, double, n);
        store_values(store, k, 0, n, values);
        columns[k].values = values;
        map_put(&known, key, k);
    }
    Series *const series = NEW(arena, Series);
    *series = (Series){ info->n_variables, info->n_rows, columns };
    store_close(store);
    return series;
}

static bool is_store(int file)
{
    char begin[8];
    return pread(file, begin, sizeof begin, 0) == (ssize_t)sizeof begin && store_is_file(begin, sizeof begin);
}

Series *series_read(const char *path, Arena *arena, Diag *diag)
{
    const bool is_standard = strcmp(path, "-") == 0;
    const int file = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        report_unreadable(diag, path, errno);
        return NULL;
    }
    if (!is_standard && is_store(file)) {
        close(file);
        return read_store(path, arena, diag);
    }
    Content content = { 0 };
    Series *series = NULL;
    const int error = read_content(file, &content);
    if (error)
        report_unreadable(diag, path, error);
    else if (mat_is_file(content.bytes, content.size))
        series = mat_read(path, content.bytes, content.size, arena, diag);
    else
        series = csv_read(path, content.bytes, content.size, arena, diag);
    free(content.bytes);
    if (!is_standard)
        close(file);
    return series;
}

const SeriesColumn *series_find(const Series *series, const char *name)
{
    for (uint32_t c = 0; c < series->n_columns; c++)
        if (strcmp(series->columns[c].name, name) == 0)
            return &series->columns[c];
    return NULL;
}

const char *series_nearest(const Series *series, const char *name)
{
    const size_t length = strlen(name);
    uint32_t best = 2 + (uint32_t)(length < 60 ? length / 3 : 20);
    const char *nearest = NULL;
    for (uint32_t c = 0; c < series->n_columns; c++) {
        const char *const other = series->columns[c].name;
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
