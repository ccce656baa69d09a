#include "formats/compare_results.h"
#include "base/map.h"
#include "formats/select.h"
#include <math.h>
#include <stdlib.h>

bool signal_differs(const ComparedSignal *pair)
{
    return pair->deviation.deviation > pair->deviation.height;
}

static double ratio(const ComparedSignal *pair)
{
    const Deviation *d = &pair->deviation;
    return d->deviation == 0 ? 0 : d->height > 0 ? d->deviation / d->height : INFINITY;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ratio(a), y = ratio(b);
    if (x != y)
        return x < y ? 1 : -1;
    const Deviation *p = &((const ComparedSignal *)a)->deviation, *q = &((const ComparedSignal *)b)->deviation;
    if (p->deviation != q->deviation)
        return p->deviation < q->deviation ? 1 : -1;
    return ((const ComparedSignal *)a)->reference < ((const ComparedSignal *)b)->reference ? -1 : 1;
}

static bool is_wanted(const Comparison *c, const char *name)
{
    for (uint32_t k = 0; k < c->n_globs; k++)
        if (c->finds[k] && c->finds[k](c->globs[k], name))
            return true;
    return c->n_globs == 0;
}

static Curve curve_of(const Series *series, uint32_t column, Arena *arena)
{
    return (Curve){ series->columns[0].values, series_fetch(series, column, arena), series->n_rows,
                    series->columns[column].is_constant };
}

static void compare_pair(Comparison *c, uint32_t reference, uint32_t other, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    const Curve a = curve_of(c->reference, reference, scratch), b = curve_of(c->other, other, scratch);
    ComparedSignal pair = { .reference = reference, .other = other };
    pair.deviation = compare_curves(&a, &b, c->width, tube_height(&a, c->tube, c->absolute), scratch);
    arena_reset(scratch, mark);
    c->n_different += signal_differs(&pair);
    vec_push(c->arena, &c->pairs, pair);
}

static Map names_of(const Series *series, Arena *arena)
{
    Map map;
    map_init(&map, arena, series->n_columns);
    for (uint32_t k = series->n_columns; k-- > 1;) { /* the first of several wins */
        const char *name = series->columns[k].name;
        map_put(&map, hash_bytes(name, strlen(name), 0), k);
    }
    return map;
}

static bool find_name(const Map *map, const Series *series, const char *name, uint32_t *column)
{
    if (!map_get(map, hash_bytes(name, strlen(name), 0), column))
        return false;
    if (strcmp(series->columns[*column].name, name) == 0)
        return true;
    for (*column = 1; *column < series->n_columns; ++*column) /* two names of one hash */
        if (strcmp(series->columns[*column].name, name) == 0)
            return true;
    return false;
}

static void compare_all(Comparison *c, Arena *scratch)
{
    const Map theirs = names_of(c->other, c->arena), ours = names_of(c->reference, c->arena);
    for (uint32_t k = 1; k < c->reference->n_columns; k++) {
        const char *name = c->reference->columns[k].name;
        uint32_t other;
        if (!is_wanted(c, name))
            continue;
        if (find_name(&theirs, c->other, name, &other))
            compare_pair(c, k, other, scratch);
        else
            vec_push(c->arena, &c->missing, name);
    }
    for (uint32_t k = 1; k < c->other->n_columns; k++) {
        uint32_t found;
        const char *name = c->other->columns[k].name;
        c->n_more += is_wanted(c, name) && !find_name(&ours, c->reference, name, &found);
    }
    if (c->pairs.n)
        qsort(c->pairs.at, c->pairs.n, sizeof *c->pairs.at, by_ratio);
}

static double last_time(const Series *series)
{
    return series->n_rows ? series->columns[0].values[series->n_rows - 1] : (double)NAN;
}

static bool have_same_times(const Comparison *c)
{
    return fabs(c->reference->columns[0].values[0] - c->other->columns[0].values[0]) <= c->width &&
           fabs(last_time(c->reference) - last_time(c->other)) <= c->width;
}

/* The reference tells the capitals of a name; the other result those that the reference has not. */
static void read_globs(Comparison *c)
{
    c->finds = NEW_ARRAY(c->arena, GlobMatch *, c->n_globs + 1);
    for (uint32_t k = 0; k < c->n_globs; k++) {
        c->finds[k] = series_glob(c->reference, c->globs[k]);
        if (!c->finds[k])
            c->finds[k] = series_glob(c->other, c->globs[k]);
    }
}

void compare_results(Comparison *c)
{
    read_globs(c);
    Arena *scratch = arena_create_like(c->arena);
    c->width = c->tube * (last_time(c->reference) - c->reference->columns[0].values[0]);
    c->has_same_times = have_same_times(c);
    compare_all(c, scratch);
    arena_destroy(scratch);
}

static void add_pair(const Comparison *c, const ComparedSignal *pair, Text *text)
{
    const Deviation *d = &pair->deviation;
    text_format(text, "%s %s: %.6g of %.6g", signal_differs(pair) ? "differs" : "agrees ",
                c->reference->columns[pair->reference].name, d->deviation, d->height);
    if (d->deviation > 0) {
        text_format(text, " at time %.6g: %.6g instead of %.6g", d->time, d->value, d->low);
        if (d->high != d->low)
            text_format(text, " to %.6g", d->high);
    }
    text_char(text, '\n');
}

void comparison_text(const Comparison *c, uint32_t most, Text *text)
{
    const uint32_t n = c->n_different ? c->n_different : c->pairs.n ? 1 : 0;
    if (!c->has_same_times)
        text_format(text, "differs time: from %.9g to %.9g instead of %.9g to %.9g\n", c->other->columns[0].values[0],
                    last_time(c->other), c->reference->columns[0].values[0], last_time(c->reference));
    for (uint32_t k = 0; k < n && k < most; k++)
        add_pair(c, &c->pairs.at[k], text);
    if (n > most)
        text_format(text, "and %u more\n", n - most);
    for (uint32_t k = 0; k < c->missing.n && k < most; k++)
        text_format(text, "missing %s\n", c->missing.at[k]);
    if (c->missing.n > most)
        text_format(text, "and %u more are missing\n", c->missing.n - most);
}

void comparison_summary(const Comparison *c, const char *name, Text *text)
{
    const bool is_one = c->pairs.n == 1;
    if (c->n_different || c->missing.n)
        text_format(text, "%u of %u signals differ, %u are missing", c->n_different, c->pairs.n, c->missing.n);
    else
        text_format(text, "%u signal%s agree%s%s", c->pairs.n, is_one ? "" : "s", is_one ? "s" : "",
                    c->has_same_times ? "" : " where both have values");
    if (c->n_more)
        text_format(text, "; '%s' has %u others", name, c->n_more);
}

uint32_t comparison_panes(const Comparison *c, const char *const names[2], uint32_t most, PlotPane *panes)
{
    uint32_t n = 0;
    for (; n < most && n < c->pairs.n && (n == 0 || signal_differs(&c->pairs.at[n])); n++) {
        const ComparedSignal *pair = &c->pairs.at[n];
        PlotSeries *both = NEW_ARRAY(c->arena, PlotSeries, 2);
        for (int k = 0; k < 2; k++) {
            const Curve curve = curve_of(k ? c->other : c->reference, k ? pair->other : pair->reference, c->arena);
            both[k] = (PlotSeries){ .name = names[k],
                                    .times = curve.times,
                                    .values = curve.values,
                                    .n = curve.n,
                                    .is_constant = curve.is_constant };
        }
        panes[n] = (PlotPane){ c->reference->columns[pair->reference].name, both, 2 };
    }
    return n;
}
