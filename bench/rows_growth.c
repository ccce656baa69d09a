/* H: how each pass grows with the number of objects: in a row, and all at one node. */
#include "bench.h"
#include "driver/words.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- growth: seconds of every pass for two ladders, and the exponent between them ---- */
enum { MOST_PASSES = 64 };
static const double SHORTEST = 1e-3; /* seconds: what is below is no time */

typedef struct {
    double last;
    uint32_t n;
    double seconds[MOST_PASSES];
} Stopwatch;

static void stop_watch(void *context, const char *pass)
{
    Stopwatch *w = context;
    const double now = cpu_seconds();
    if (pass && w->n < MOST_PASSES)
        w->seconds[w->n++] = now - w->last;
    w->last = now;
}

int child_passes(const char *path)
{
    Stopwatch w = { 0 };
    Compilation *c = compilation_create(NULL);
    const double begun = cpu_seconds();
    c->watch = stop_watch;
    c->watch_context = &w;
    if (!compilation_load(c, &(CompileRequest){ .path = path }))
        return 1;
    const double loaded = cpu_seconds() - begun;
    if (!compilation_schedule(c))
        return 1;
    printf("%.6f", loaded);
    for (uint32_t k = 0; k < w.n; k++)
        printf(" %.6f", w.seconds[k]);
    printf(" %.6f\n", cpu_seconds() - w.last);
    return 0;
}

static uint32_t count_passes(void)
{
    uint32_t n = 0;
    while (compilation_pass_name(n))
        n++;
    return n;
}

/* What grows. A cell is an object, or two with their node. */
typedef struct {
    const char *name;
    void (*generate)(const Bench *bench, uint32_t cells, char *path);
    uint32_t equations_of_cell, cells; /* cells: of the smaller one; --quick: a tenth */
} Family;
enum { LADDER, STAR, PARALLEL, N_FAMILIES };
static const Family families[N_FAMILIES] = {
    [LADDER] = { "ladder", generate_ladder, 8, 12500 },
    [STAR] = { "star", generate_star, 8, 12500 },
    [PARALLEL] = { "parallel", generate_parallel, 4, 25000 },
};

typedef struct {
    bool is_good;
    uint32_t n; /* passes */
    uint32_t cells[2];
    double seconds[2][MOST_PASSES + 2]; /* reading, the passes, the program */
} Growth;

/* The least of several. */
static bool time_passes(const Bench *bench, const Family *family, uint32_t cells, int rounds, double *seconds)
{
    const uint32_t n = count_passes() + 2;
    char path[PATH_SIZE];
    family->generate(bench, cells, path);
    for (int round = 0; round < rounds; round++) {
        double numbers[MOST_PASSES + 2];
        if (!child_numbers(bench, (const char *[]){ "passes", path, NULL }, numbers, n))
            return false;
        for (uint32_t j = 0; j < n; j++)
            if (round == 0 || numbers[j] < seconds[j])
                seconds[j] = numbers[j];
    }
    return true;
}

/* Measured once. */
static const Growth *growth(const Bench *bench, uint32_t family)
{
    static Growth kept[N_FAMILIES];
    Growth *g = &kept[family];
    if (g->n)
        return g;
    g->n = count_passes();
    g->is_good = g->n <= MOST_PASSES;
    for (int k = 0; k < 2 && g->is_good; k++) {
        g->cells[k] = families[family].cells / (bench->is_quick ? 10 : 1) * (k ? 10 : 1);
        g->is_good = time_passes(bench, &families[family], g->cells[k], k ? 2 : 5, g->seconds[k]);
    }
    return g;
}

typedef struct {
    uint32_t family;
    const char *pass;
} GrowthOf;

static void measure_growth(const Bench *bench, const Row *row, Figure *figure)
{
    const GrowthOf *of = row->subject;
    const Growth *g = growth(bench, of->family);
    const uint32_t equations_of_cell = families[of->family].equations_of_cell;
    uint32_t j = 0;
    if (strcmp(of->pass, "program") == 0)
        j = g->n + 1;
    else if (strcmp(of->pass, "read") != 0)
        while (j < g->n && strcmp(compilation_pass_name(j++), of->pass) != 0)
            ;
    if (!g->is_good) {
        no_figure(figure, "the %s cannot be compiled", families[of->family].name);
        return;
    }
    const double few = fmax(g->seconds[0][j], SHORTEST), many = fmax(g->seconds[1][j], SHORTEST);
    figure->value = log(many / few) / log((double)g->cells[1] / g->cells[0]);
    figure->is_known = true;
    note(figure, "%.3g and %.3g us an equation, of %u and %u",
         1e6 * g->seconds[0][j] / (g->cells[0] * equations_of_cell),
         1e6 * g->seconds[1][j] / (g->cells[1] * equations_of_cell), g->cells[0] * equations_of_cell,
         g->cells[1] * equations_of_cell);
}

/* All of it, at 100,000 and 1,000,000 equations (--quick: a tenth). */
static void measure_whole(const Bench *bench, const Row *row, Figure *figure)
{
    const GrowthOf *of = row->subject;
    const Growth *g = growth(bench, of->family);
    const uint32_t equations_of_cell = families[of->family].equations_of_cell;
    if (!g->is_good) {
        no_figure(figure, "the %s cannot be compiled", families[of->family].name);
        return;
    }
    double of_equation[2] = { 0 };
    for (int k = 0; k < 2; k++)
        for (uint32_t j = 0; j < g->n + 2; j++)
            of_equation[k] += 1e6 * g->seconds[k][j] / (g->cells[k] * equations_of_cell);
    figure->value = of_equation[1] / of_equation[0];
    figure->is_known = true;
    note(figure, "%.3g and %.3g us an equation, of %u and %u", of_equation[0], of_equation[1],
         g->cells[0] * equations_of_cell, g->cells[1] * equations_of_cell);
}

/* Microseconds an equation of a ladder. */
static void measure_equation(const Bench *bench, const Row *row, Figure *figure)
{
    const uint32_t equations = *(const uint32_t *)row->subject, cells = equations / families[LADDER].equations_of_cell;
    double seconds[MOST_PASSES + 2], all = 0;
    if (bench->is_quick && equations >= 1000000) {
        no_figure(figure, "left out by --quick");
        return;
    }
    if (!time_passes(bench, &families[LADDER], cells, equations >= 1000000 ? 2 : 5, seconds)) {
        no_figure(figure, "the ladder cannot be compiled");
        return;
    }
    for (uint32_t j = 0; j < count_passes() + 2; j++)
        all += seconds[j];
    figure->value = 1e6 * all / equations;
    figure->is_known = true;
    note(figure, "%u equations in %.3g s, from text to Program", equations, all);
}

/* Laying out a program that shares nearly all it computes, at 20,000 and 200,000 equations (--quick: a tenth). */
static void measure_sharing(const Bench *bench, const Row *row, Figure *figure)
{
    const uint32_t n = count_passes();
    double best[2] = { INFINITY, INFINITY };
    (void)row;
    for (int k = 0; k < 2; k++) {
        char path[PATH_SIZE];
        generate_sines(bench, (bench->is_quick ? 2000 : 20000) * (k ? 10 : 1), path);
        for (int round = 0; round < (k ? 2 : 5); round++) {
            double numbers[MOST_PASSES + 2];
            if (n > MOST_PASSES || !child_numbers(bench, (const char *[]){ "passes", path, NULL }, numbers, n + 2)) {
                no_figure(figure, "the model cannot be compiled");
                return;
            }
            best[k] = fmin(best[k], fmax(numbers[n + 1], SHORTEST));
        }
    }
    figure->value = log10(best[1] / best[0]);
    figure->is_known = true;
    note(figure, "%.3g and %.3g ms", 1e3 * best[0], 1e3 * best[1]);
}

/* Every pass has its row: those without one are counted. */
static void measure_missing(const Bench *bench, const Row *row, Figure *figure);

static const GrowthOf ladder = { LADDER, NULL }, star = { STAR, NULL }, parallel = { PARALLEL, NULL };
static const uint32_t few = 10000, more = 100000, many = 1000000;

#define GROWTH(pass)                                                                                                   \
    {                                                                                                                  \
        "growth/" pass, AT_MOST, 1.5, "exponent", measure_growth, &(const GrowthOf){ LADDER, pass }, NULL              \
    }
#define GROWTH_STAR(pass)                                                                                              \
    {                                                                                                                  \
        "growth/star-" pass, AT_MOST, 1.5, "exponent", measure_growth, &(const GrowthOf){ STAR, pass }, NULL           \
    }
/* Reading, every pass, and the program: growth/unlisted counts the passes that are missing here. */
#define PASSES(ROW)                                                                                                    \
    ROW("read"), ROW("lower-functions"), ROW("size-functions"), ROW("lower-arrays"), ROW("lower-last"),                \
        ROW("lower-channels"), ROW("decide-regions"), ROW("build-ports"), ROW("lower-partitions"),                     \
        ROW("lower-procedures"), ROW("lower-ticks"), ROW("lower-triggers"), ROW("lower-pulses"),                       \
        ROW("lower-terminal"), ROW("lower-assertions"), ROW("fill-definitions"), ROW("apply-task"),                    \
        ROW("lower-delays"), ROW("evaluate-sizes"), ROW("order-model"), ROW("expand-connections"),                     \
        ROW("split-arrays"), ROW("solve-whens"), ROW("evaluate-parameters"), ROW("fold-constants"),                    \
        ROW("eliminate-aliases"), ROW("find-events"), ROW("carry-rests"), ROW("merge-regions"), ROW("lower-whens"),    \
        ROW("find-constraints"), ROW("reduce-index"), ROW("lower-homotopy"), ROW("match-equations"),                   \
        ROW("sort-blocks"), ROW("find-joints"), ROW("check-branches"), ROW("check-systems"), ROW("remove-unneeded"),   \
        ROW("tear-systems"), ROW("solve-small"), ROW("build-parts"), ROW("build-initial"), ROW("build-jacobian"),      \
        ROW("program")
static const Row rows[] = {
    PASSES(GROWTH),
    { "growth/sharing", AT_MOST, 1.5, "exponent", measure_sharing, NULL, NULL },
    { "growth/unlisted", AT_MOST, 0, "passes", measure_missing, NULL, NULL },
    { "growth/all", AT_MOST, 1.5, "1M/100k", measure_whole, &ladder, NULL },
    { "growth/all/10k", AT_MOST, 15, "us", measure_equation, &few, NULL },
    { "growth/all/100k", AT_MOST, 15, "us", measure_equation, &more, NULL },
    { "growth/all/1m", AT_MOST, 15, "us", measure_equation, &many, NULL },
    PASSES(GROWTH_STAR),
    { "growth/star-all", AT_MOST, 1.5, "1M/100k", measure_whole, &star, NULL },
    { "growth/parallel-all", AT_MOST, 1.5, "1M/100k", measure_whole, &parallel, NULL },
};
const Group group_growth = { "H. growth of the passes: an RC ladder of objects, and all of its branches at one node",
                             rows, sizeof rows / sizeof rows[0] };

static void measure_missing(const Bench *bench, const Row *row, Figure *figure)
{
    uint32_t n = 0;
    (void)bench, (void)row;
    for (uint32_t k = 0; compilation_pass_name(k); k++) {
        uint32_t n_rows = 0;
        for (uint32_t j = 0; j < group_growth.n; j++)
            n_rows += rows[j].measure == measure_growth &&
                      strcmp(((const GrowthOf *)rows[j].subject)->pass, compilation_pass_name(k)) == 0;
        if (n_rows != 2)
            note(figure, "%s%s", n++ ? ", " : "", compilation_pass_name(k));
    }
    figure->value = n;
    figure->is_known = true;
}
