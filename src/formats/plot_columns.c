#include "formats/plot_columns.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/select.h"
#include <string.h>

typedef struct {
    const Series *results;
    Arena *arena;
    Map known; /* which names the list has, by their checksum or the next free number */
    VEC(PlotSeries) list;
} Pane;

/* The name with the unit, where the file has it: "comment [unit]" in MAT. */
static const char *legend(const SeriesColumn *column, Arena *arena)
{
    const char *open = strrchr(column->comment, '['), *close = strrchr(column->comment, ']');
    if (!open || !close || close < open)
        return column->name;
    return arena_format(arena, "%s %.*s", column->name, (int)(close + 1 - open), open);
}

static void add_column(Pane *pane, uint32_t at)
{
    const SeriesColumn *column = &pane->results->columns[at];
    const char *name = legend(column, pane->arena);
    uint64_t key = hash_bytes(name, strlen(name), 0);
    for (uint32_t k; map_get(&pane->known, key, &k); key++)
        if (strcmp(pane->list.at[k].name, name) == 0)
            return;
    map_put(&pane->known, key, pane->list.n);
    const PlotSeries series = { .name = name,
                                .times = pane->results->columns[0].values,
                                .values = series_fetch(pane->results, at, pane->arena),
                                .n = pane->results->n_rows,
                                .is_constant = column->is_constant };
    vec_push(pane->arena, &pane->list, series);
}

/* The columns one glob names; false: none. */
static bool add_matching(Pane *pane, const char *glob)
{
    GlobMatch *finds = series_glob(pane->results, glob);
    for (uint32_t c = 1; finds && c < pane->results->n_columns; c++)
        if (finds(glob, pane->results->columns[c].name))
            add_column(pane, c);
    return finds != NULL;
}

static Pane begin(const Series *results, Arena *arena)
{
    Pane pane = { .results = results, .arena = arena };
    map_init(&pane.known, arena, 16);
    return pane;
}

const char *plot_named(const Series *results, const char *globs, Arena *arena, PlotPane *to)
{
    const char *const *each;
    const uint32_t n = globs_split(globs, arena, &each);
    Pane pane = begin(results, arena);
    for (uint32_t g = 0; g < n; g++)
        if (!add_matching(&pane, each[g]))
            return each[g];
    *to = (PlotPane){ "", pane.list.at, pane.list.n };
    return NULL;
}

uint32_t plot_unasked(const Series *results, uint32_t most, Arena *arena, PlotPane *to)
{
    Pane pane = begin(results, arena);
    uint32_t n_changing = 0;
    for (uint32_t c = 1; c < results->n_columns; c++)
        if (!results->columns[c].is_constant && n_changing++ < most)
            add_column(&pane, c);
    *to = (PlotPane){ "", pane.list.at, pane.list.n };
    return n_changing;
}
