/* The native store as a format of results; see result_file.h and store.h. */
#include "formats/result_file.h"
#include "formats/store.h"
#include "formats/store_layout.h"

static KoineSink *create_sink(const ResultOptions *o, Arena *arena)
{
    return store_sink(&(StoreOptions){ .path = o->path,
                                       .is_confined = o->is_confined,
                                       .globs = o->globs,
                                       .n_globs = o->n_globs,
                                       .has_phases = o->has_phases,
                                       .begin = o->begin },
                      arena);
}

/* An HDF5 file with the mark of ours near its begin. */
static bool is_ours(const char *bytes, size_t size)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n", format[] = STORE_FORMAT;
    if (size < sizeof signature || memcmp(bytes, signature, sizeof signature - 1) != 0)
        return false;
    for (size_t k = 0; k + sizeof format <= size; k++)
        if (memcmp(bytes + k, format, sizeof format - 1) == 0)
            return true;
    return false;
}

/* "comment [unit]", as in MAT files. */
static const char *comment_of(const StoreVariable *variable, Arena *arena)
{
    if (!variable->unit[0])
        return variable->comment;
    return arena_format(arena, "%s%s[%s]", variable->comment, variable->comment[0] ? " " : "", variable->unit);
}

static Series *open_in_place(const char *path, Arena *arena, Diag *diag)
{
    Store *store = store_open(path, arena, diag);
    if (!store)
        return NULL;
    const StoreInfo *info = store_info(store);
    SeriesColumn *columns = NEW_ARRAY(arena, SeriesColumn, info->n_variables);
    for (uint32_t k = 0; k < info->n_variables; k++) {
        const StoreVariable *v = &info->variables[k];
        columns[k] = (SeriesColumn){ v->name, comment_of(v, arena), NULL, v->storage == STORE_CONSTANT };
    }
    double *times = NEW_ARRAY(arena, double, info->n_rows);
    store_values(store, 0, 0, info->n_rows, times);
    columns[0].values = times;
    Series *series = NEW(arena, Series);
    *series = (Series){ info->n_variables, info->n_rows, columns, store, NULL, 0 };
    return series;
}

static void measure(const char *path, Arena *arena, uint64_t *points, double *time)
{
    Store *store = store_open(path, arena, diag_create(arena, sources_create(arena)));
    *points = store ? store_info(store)->n_rows : 0;
    if (*points)
        store_values(store, 0, *points - 1, 1, time);
    if (store)
        store_close(store);
}

const ResultFormat store_format = {
    .remark = "native: compressed, with units, for large results and 'koine view'",
    .begins_as = "HDF5",
    .holds = RESULT_HOLDS_PARAMETERS | RESULT_HOLDS_RUN,
    .sink = create_sink,
    .finish = store_finish,
    .is_file = store_is_file,
    .is_ours = is_ours,
    .open = open_in_place,
    .measure = measure,
};
