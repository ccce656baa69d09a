/* koine compare: whether two results are the same, signal by signal, within a tube. */
#include "base/map.h"
#include "base/vec.h"
#include "cli/verbs.h"
#include "formats/compare.h"
#include "formats/plot.h"
#include "formats/select.h"
#include "formats/series.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_SHOWN = 10, MOST_DRAWN = 6 };

typedef struct {
    uint32_t reference, other; /* columns */
    Deviation deviation;
} Pair;

typedef struct {
    const Command *command;
    Arena *arena, *scratch;
    const Series *reference, *other;
    double tube, absolute, width;
    const char *const *globs;
    uint32_t n_globs;
    VEC(Pair) pairs;
    VEC(const char *) missing;
    uint32_t n_different, n_more; /* signals that differ; only the other result has */
} Comparison;

static bool is_different(const Pair *pair)
{
    return pair->deviation.deviation > pair->deviation.height;
}

static double ratio(const Pair *pair)
{
    const Deviation *const d = &pair->deviation;
    return d->deviation == 0 ? 0 : d->height > 0 ? d->deviation / d->height : INFINITY;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ratio(a), y = ratio(b);
    if (x != y)
        return x < y ? 1 : -1;
    const Deviation *const p = &((const Pair *)a)->deviation, *const q = &((const Pair *)b)->deviation;
    if (p->deviation != q->deviation)
        return p->deviation < q->deviation ? 1 : -1;
    return ((const Pair *)a)->reference < ((const Pair *)b)->reference ? -1 : 1;
}

static bool is_wanted(const Comparison *c, const char *name)
{
    for (uint32_t k = 0; k < c->n_globs; k++)
        if (glob_matches(c->globs[k], name))
            return true;
    return c->n_globs == 0;
}

static Curve curve_of(const Series *series, uint32_t column, Arena *arena)
{
    return (Curve){ series->columns[0].values, series_fetch(series, column, arena), series->n_rows,
                    series->columns[column].is_constant };
}

static void compare_pair(Comparison *c, uint32_t reference, uint32_t other)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const Curve a = curve_of(c->reference, reference, c->scratch), b = curve_of(c->other, other, c->scratch);
    Pair pair = { .reference = reference, .other = other };
    pair.deviation = compare_curves(&a, &b, c->width, tube_height(&a, c->tube, c->absolute), c->scratch);
    arena_reset(c->scratch, mark);
    c->n_different += is_different(&pair);
    vec_push(c->arena, &c->pairs, pair);
}

static Map names_of(const Series *series, Arena *arena)
{
    Map map;
    map_init(&map, arena, series->n_columns);
    for (uint32_t k = series->n_columns; k-- > 1;) { /* the first of several wins */
        const char *const name = series->columns[k].name;
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

static void compare_all(Comparison *c)
{
    const Map theirs = names_of(c->other, c->arena), ours = names_of(c->reference, c->arena);
    for (uint32_t k = 1; k < c->reference->n_columns; k++) {
        const char *const name = c->reference->columns[k].name;
        uint32_t other;
        if (!is_wanted(c, name))
            continue;
        if (find_name(&theirs, c->other, name, &other))
            compare_pair(c, k, other);
        else
            vec_push(c->arena, &c->missing, name);
    }
    for (uint32_t k = 1; k < c->other->n_columns; k++) {
        uint32_t found;
        const char *const name = c->other->columns[k].name;
        c->n_more += is_wanted(c, name) && !find_name(&ours, c->reference, name, &found);
    }
    if (c->pairs.n)
        qsort(c->pairs.at, c->pairs.n, sizeof *c->pairs.at, by_ratio);
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

static void add_number(Text *text, double value)
{
    text_format(text, "%.6g", value);
}

static void print_pair(const Comparison *c, const Pair *pair)
{
    const Deviation *const d = &pair->deviation;
    Text text = { .arena = c->arena };
    text_format(&text, "%s %s: ", is_different(pair) ? "differs" : "agrees ",
                c->reference->columns[pair->reference].name);
    add_number(&text, d->deviation);
    text_add(&text, " of ");
    add_number(&text, d->height);
    if (d->deviation > 0) {
        text_add(&text, " at time ");
        add_number(&text, d->time);
        text_add(&text, ": ");
        add_number(&text, d->value);
        text_add(&text, " instead of ");
        add_number(&text, d->low);
        if (d->high != d->low) {
            text_add(&text, " to ");
            add_number(&text, d->high);
        }
    }
    puts(text.at);
}

/* The signals that differ most; where all agree, the one that does so least. */
static void print_worst(const Comparison *c)
{
    const uint32_t n = c->n_different ? c->n_different : c->pairs.n ? 1 : 0;
    for (uint32_t k = 0; k < n && k < MOST_SHOWN; k++)
        print_pair(c, &c->pairs.at[k]);
    if (n > MOST_SHOWN)
        printf("and %u more\n", n - MOST_SHOWN);
    for (uint32_t k = 0; k < c->missing.n && k < MOST_SHOWN; k++)
        printf("missing %s\n", c->missing.at[k]);
    if (c->missing.n > MOST_SHOWN)
        printf("and %u more are missing\n", c->missing.n - MOST_SHOWN);
}

static double last_time(const Series *series)
{
    return series->n_rows ? series->columns[0].values[series->n_rows - 1] : (double)NAN;
}

/* Whether both cover the same time; said where not. */
static bool have_same_range(const Comparison *c)
{
    const double begin[2] = { c->reference->columns[0].values[0], c->other->columns[0].values[0] };
    const double end[2] = { last_time(c->reference), last_time(c->other) };
    if (fabs(begin[0] - begin[1]) <= c->width && fabs(end[0] - end[1]) <= c->width)
        return true;
    printf("differs time: from %.9g to %.9g instead of %.9g to %.9g\n", begin[1], end[1], begin[0], end[0]);
    return false;
}

static int draw_worst(const Comparison *c, const char *path)
{
    PlotPane panes[MOST_DRAWN];
    uint32_t n = 0;
    for (; n < MOST_DRAWN && n < c->pairs.n && (n == 0 || is_different(&c->pairs.at[n])); n++) {
        const Pair *const pair = &c->pairs.at[n];
        PlotSeries *const both = NEW_ARRAY(c->arena, PlotSeries, 2);
        for (int k = 0; k < 2; k++) {
            const Series *const series = k ? c->other : c->reference;
            const Curve curve = curve_of(series, k ? pair->other : pair->reference, c->arena);
            both[k] = (PlotSeries){ .name = c->command->arguments[k],
                                    .times = curve.times,
                                    .values = curve.values,
                                    .n = curve.n,
                                    .is_constant = curve.is_constant };
        }
        panes[n] = (PlotPane){ c->reference->columns[pair->reference].name, both, 2 };
    }
    const PlotOptions options = { 0 };
    const Text svg = plot_svg(panes, n, &options, c->arena);
    FILE *const file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    const bool is_written = file && fwrite(svg.at, 1, svg.n, file) == svg.n;
    if (is_written && (file == stdout || fclose(file) == 0))
        return EXIT_GOOD;
    say("cannot write '%s': %s", path, strerror(errno));
    return EXIT_ENVIRONMENT;
}

static int report(const Comparison *c)
{
    const bool is_same_range = have_same_range(c);
    print_worst(c);
    const bool is_same = is_same_range && c->n_different == 0 && c->missing.n == 0;
    const char *const more =
        c->n_more ? arena_format(c->arena, "; '%s' has %u others", c->command->arguments[1], c->n_more) : "";
    const bool is_one = c->pairs.n == 1;
    if (c->n_different || c->missing.n)
        say("%u of %u signals differ, %u are missing%s", c->n_different, c->pairs.n, c->missing.n, more);
    else
        say("%u signal%s agree%s%s%s", c->pairs.n, is_one ? "" : "s", is_one ? "s" : "",
            is_same ? "" : " where both have values", more);
    const char *const svg = command_option(c->command, "svg");
    const int drawn = svg && c->pairs.n ? draw_worst(c, svg) : EXIT_GOOD;
    return drawn != EXIT_GOOD ? drawn : is_same ? EXIT_GOOD : EXIT_MODEL;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int read_number(const Command *command, const char *name, double otherwise, double *value)
{
    const char *const text = command_option(command, name);
    *value = otherwise;
    if (!text)
        return EXIT_GOOD;
    const char *const end = text + strlen(text);
    if (text_to_real(text, end, value) == end && *text && *value >= 0 && isfinite(*value))
        return EXIT_GOOD;
    return usage_error(command, "--%s must be a number that is not negative, not '%s'", name, text);
}

static int compare_results(Comparison *c)
{
    if (c->reference->n_rows == 0 || c->other->n_rows == 0) {
        say("'%s' has no points", c->command->arguments[c->reference->n_rows == 0 ? 0 : 1]);
        return EXIT_MODEL;
    }
    c->width = c->tube * (last_time(c->reference) - c->reference->columns[0].values[0]);
    compare_all(c);
    if (c->pairs.n == 0 && c->missing.n == 0) {
        say("there is no signal to compare");
        return EXIT_USAGE;
    }
    return report(c);
}

static int run_compare(const Command *command)
{
    Comparison c = { .command = command, .arena = command->arena };
    int status = read_number(command, "tube", 2e-3, &c.tube);
    if (status == EXIT_GOOD)
        status = read_number(command, "absolute", c.tube > 0 ? 1e-9 : 0, &c.absolute);
    if (status != EXIT_GOOD)
        return status;
    const char *const globs = command_option(command, "variables");
    if (globs)
        c.n_globs = globs_split(globs, command->arena, &c.globs);
    Sources *const sources = sources_create(command->arena);
    Diag *const diag = diag_create(command->arena, sources);
    c.reference = series_lazy(command->arguments[0], command->arena, diag);
    c.other = series_lazy(command->arguments[1], command->arena, diag);
    diag_print(diag, stderr, (DiagStyle){ .colour = command->colour_err });
    c.scratch = arena_create(out_of_memory);
    status = c.reference && c.other ? compare_results(&c) : error_status(diag, EXIT_MODEL);
    arena_destroy(c.scratch);
    series_done(c.reference);
    series_done(c.other);
    return status;
}

static const Option options_of_compare[] = {
    { .name = "tube",
      .value = "NUMBER",
      .help = "size of the tube as a part of the range of time and of the signal; default 0.002; 0: the same bits" },
    { .name = "absolute", .value = "NUMBER", .help = "a difference that never counts; default 1e-9" },
    { .name = "variables", .value = "GLOB,...", .help = "what is compared; default everything" },
    { .name = "svg", .value = "FILE", .help = "draw the signals that differ most, both results in one picture" },
    { 0 },
};

static const Example examples[] = {
    { "koine compare reference.csv ball.h5",
      "says which signals leave the tube around the reference; status 1 if any." },
    { "koine compare a.h5 b.h5 --tube 0", "wants the same points and the same numbers." },
    { "koine compare a.csv b.csv --svg difference.svg", "draws the worst pairs." },
    { 0 },
};

const Verb verb_compare = {
    .name = "compare",
    .arguments = "REFERENCE OTHER",
    .summary = "compare two results signal by signal",
    .text =
        "Each signal of the first result must be in the second one, and stay inside a tube around the first: at each "
        "time the values that the reference has a little earlier and later, and a little more on both sides. The "
        "signals that leave it furthest are printed, with how far they are from what the reference has, how much "
        "is allowed, and where. The exit status is 1 if a signal differs or is missing, or if the results do not "
        "cover the same time.",
    .least = 2,
    .most = 2,
    .options = options_of_compare,
    .examples = examples,
    .run = run_compare,
};
