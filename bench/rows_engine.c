/* H: the equation engine: how each pass grows, matching, an RC ladder beside CVODE with a banded matrix by hand. */
#include "bench.h"
#include "graph/components.h"
#include "graph/matching.h"
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>

/* ---- growth: seconds of every pass for two ladders, and the exponent between them ---- */
enum { MOST_PASSES = 40, EQUATIONS_OF_CELL = 8 };
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
    compilation_watch(c, stop_watch, &w);
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

typedef struct {
    bool is_good;
    uint32_t n; /* passes */
    uint32_t cells[2];
    double seconds[2][MOST_PASSES + 2]; /* reading, the passes, the program */
} Growth;

/* Measured once. */
static const Growth *growth(const Bench *bench)
{
    static Growth g;
    if (g.n)
        return &g;
    g.n = count_passes();
    g.is_good = g.n <= MOST_PASSES;
    for (int k = 0; k < 2 && g.is_good; k++) {
        char path[PATH_SIZE];
        g.cells[k] = (bench->is_quick ? 1250 : 12500) * (k ? 10 : 1);
        generate_ladder(bench, g.cells[k], path);
        for (int round = 0; round < (k ? 2 : 5) && g.is_good; round++) {
            double numbers[MOST_PASSES + 2];
            g.is_good = child_numbers(bench, (const char *[]){ "passes", path, NULL }, numbers, g.n + 2);
            for (uint32_t j = 0; j < g.n + 2; j++)
                if (round == 0 || numbers[j] < g.seconds[k][j])
                    g.seconds[k][j] = numbers[j];
        }
    }
    return &g;
}

static void measure_growth(const Bench *bench, const Row *row, Figure *figure)
{
    const Growth *g = growth(bench);
    const char *pass = row->subject;
    uint32_t j = 0;
    if (strcmp(pass, "program") == 0)
        j = g->n + 1;
    else if (strcmp(pass, "read") != 0)
        while (j < g->n && strcmp(compilation_pass_name(j++), pass) != 0)
            ;
    if (!g->is_good) {
        no_figure(figure, "the ladder cannot be compiled");
        return;
    }
    const double few = fmax(g->seconds[0][j], SHORTEST), many = fmax(g->seconds[1][j], SHORTEST);
    figure->value = log(many / few) / log((double)g->cells[1] / g->cells[0]);
    figure->is_known = true;
    note(figure, "%.3g and %.3g us an equation, of %u and %u",
         1e6 * g->seconds[0][j] / (g->cells[0] * EQUATIONS_OF_CELL),
         1e6 * g->seconds[1][j] / (g->cells[1] * EQUATIONS_OF_CELL), g->cells[0] * EQUATIONS_OF_CELL,
         g->cells[1] * EQUATIONS_OF_CELL);
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

/* All of it, at 100,000 and 1,000,000 equations (--quick: a tenth). */
static void measure_whole(const Bench *bench, const Row *row, Figure *figure)
{
    const Growth *g = growth(bench);
    (void)row;
    if (!g->is_good) {
        no_figure(figure, "the ladder cannot be compiled");
        return;
    }
    double of_equation[2] = { 0 };
    for (int k = 0; k < 2; k++)
        for (uint32_t j = 0; j < g->n + 2; j++)
            of_equation[k] += 1e6 * g->seconds[k][j] / (g->cells[k] * EQUATIONS_OF_CELL);
    figure->value = of_equation[1] / of_equation[0];
    figure->is_known = true;
    note(figure, "%.3g and %.3g us an equation, of %u and %u", of_equation[0], of_equation[1],
         g->cells[0] * EQUATIONS_OF_CELL, g->cells[1] * EQUATIONS_OF_CELL);
}

/* ---- matching and sorting of random equations ---- */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void measure_random(const Bench *bench, const Row *row, Figure *figure)
{
    enum { N = 20000, PER_ROW = 4 };
    double best = INFINITY;
    uint32_t n_blocks = 0, n_matched = 0;
    (void)row;
    for (int round = 0; round < (bench->is_quick ? 3 : 10); round++) {
        Arena *arena = arena_create(NULL);
        Edge *edges = NEW_ARRAY(arena, Edge, N * PER_ROW);
        uint32_t *place = NEW_ARRAY(arena, uint32_t, N), n = 0;
        uint64_t random = 2026;
        for (uint32_t k = 0; k < N; k++)
            place[k] = k;
        for (uint32_t k = N; k-- > 1;) { /* a hidden solution: row k has unknown place[k] */
            const uint32_t j = (uint32_t)(next_random(&random) % (k + 1)), t = place[k];
            place[k] = place[j];
            place[j] = t;
        }
        for (uint32_t k = 0; k < N; k++)
            for (uint32_t j = 0; j < PER_ROW; j++)
                edges[n++] = (Edge){ k, j ? (uint32_t)(next_random(&random) % N) : place[k] };
        uint32_t *column_of_row = NEW_ARRAY(arena, uint32_t, N), *row_of_column = NEW_ARRAY(arena, uint32_t, N);
        const double begun = cpu_seconds();
        const Incidence g = incidence_build(N, N, edges, n, arena);
        n_matched = match_rows(&g, arena, column_of_row, row_of_column);
        const Incidence rows = match_dependencies(&g, row_of_column, arena);
        n_blocks = strong_components(&rows, arena, NULL).n;
        best = fmin(best, cpu_seconds() - begun);
        arena_destroy(arena);
    }
    if (n_matched != N) {
        no_figure(figure, "only %u of %d are matched", n_matched, N);
        return;
    }
    figure->value = best;
    figure->is_known = true;
    note(figure, "%d equations with %d unknowns each, %u blocks", N, PER_ROW, n_blocks);
}

/* ---- the run beside CVODE by hand ---- */
enum { CELLS = 1000 };
static const double STOP = 1000, TOLERANCE = 1e-6;

static int slopes(double time, N_Vector y, N_Vector out, void *data)
{
    const double *u = N_VGetArrayPointer(y);
    double *d = N_VGetArrayPointer(out);
    (void)time, (void)data;
    for (int k = 0; k < CELLS; k++) {
        const double in = (k ? u[k - 1] : 1.0) - u[k];
        d[k] = k + 1 < CELLS ? in - (u[k] - u[k + 1]) : in;
    }
    return 0;
}

static int jacobian(double time, N_Vector y, N_Vector slope, SUNMatrix matrix, void *data, N_Vector w1, N_Vector w2,
                    N_Vector w3)
{
    (void)time, (void)y, (void)slope, (void)data, (void)w1, (void)w2, (void)w3;
    for (int k = 0; k < CELLS; k++) {
        SM_ELEMENT_B(matrix, k, k) = k + 1 < CELLS ? -2 : -1;
        if (k)
            SM_ELEMENT_B(matrix, k, k - 1) = 1;
        if (k + 1 < CELLS)
            SM_ELEMENT_B(matrix, k, k + 1) = 1;
    }
    return 0;
}

typedef struct {
    double end[CELLS];
    long steps;
} ByHand;

static bool run_by_hand(void *context)
{
    ByHand *hand = context;
    SUNContext sundials;
    if (SUNContext_Create(NULL, &sundials))
        return false;
    N_Vector y = N_VNew_Serial(CELLS, sundials), atol = N_VNew_Serial(CELLS, sundials);
    SUNMatrix matrix = SUNBandMatrix(CELLS, 1, 1, sundials);
    SUNLinearSolver linear = SUNLinSol_Band(y, matrix, sundials);
    void *cvode = CVodeCreate(CV_BDF, sundials);
    double time = 0;
    N_VConst(0, y);
    N_VConst(1e-3 * TOLERANCE, atol); /* as Koine takes it for states that begin at zero */
    const bool is_good = !CVodeInit(cvode, slopes, 0, y) && !CVodeSVtolerances(cvode, TOLERANCE, atol) &&
                         !CVodeSetLinearSolver(cvode, linear, matrix) && !CVodeSetJacFn(cvode, jacobian) &&
                         !CVodeSetMaxNumSteps(cvode, 1000000) && CVodeSetStopTime(cvode, STOP) == CV_SUCCESS &&
                         CVode(cvode, STOP, y, &time, CV_NORMAL) >= 0;
    CVodeGetNumSteps(cvode, &hand->steps);
    memcpy(hand->end, N_VGetArrayPointer(y), sizeof hand->end);
    CVodeFree(&cvode);
    SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(y);
    N_VDestroy(atol);
    SUNContext_Free(&sundials);
    return is_good;
}

typedef struct {
    Subject subject;
    SubjectRun run;
} Ours;

static bool run_ours(void *context)
{
    Ours *ours = context;
    return subject_run(&ours->subject, &ours->run);
}

static void measure_run(const Bench *bench, const Row *row, Figure *figure)
{
    static const char *const names[] = { "C1.u", "C10.u", "C50.u" };
    static const int cells[] = { 1, 10, 50 };
    double end[3], seconds[2];
    ByHand hand = { .steps = 0 };
    Ours ours = {
        .run = { .solver = "cvode-bdf", .stop = STOP, .tolerance = TOLERANCE, .n = 3, .names = names, .end = end }
    };
    char path[PATH_SIZE];
    generate_ladder(bench, CELLS, path);
    if (!subject_open(&ours.subject, path, row->tier, figure))
        return;
    if (!measure_both(bench, &(Work){ run_ours, &ours }, &(Work){ run_by_hand, &hand }, seconds)) {
        no_figure(figure, "failed: %s", ours.run.text);
        subject_close(&ours.subject);
        return;
    }
    subject_close(&ours.subject);
    for (int k = 0; k < 3; k++)
        if (fabs(end[k] - hand.end[cells[k] - 1]) > 1e-3) {
            no_figure(figure, "%s is %g, by hand %g", names[k], end[k], hand.end[cells[k] - 1]);
            return;
        }
    figure->value = seconds[0] / seconds[1];
    figure->is_known = true;
    note(figure, "%.3g ms, hand %.3g ms; steps %llu, hand %ld", 1e3 * seconds[0], 1e3 * seconds[1],
         (unsigned long long)ours.run.counts.steps, hand.steps);
}

/* Every pass has its row: those without one are counted. */
static void measure_missing(const Bench *bench, const Row *row, Figure *figure);

#define GROWTH(pass)                                                                                                   \
    {                                                                                                                  \
        "growth/" pass, AT_MOST, 1.5, "exponent", measure_growth, pass, NULL                                           \
    }
static const Row rows[] = {
    GROWTH("read"),
    GROWTH("reject-unsupported"),
    GROWTH("fill-definitions"),
    GROWTH("apply-task"),
    GROWTH("lower-homotopy"),
    GROWTH("lower-delays"),
    GROWTH("evaluate-sizes"),
    GROWTH("order-model"),
    GROWTH("expand-connections"),
    GROWTH("split-arrays"),
    GROWTH("evaluate-parameters"),
    GROWTH("fold-constants"),
    GROWTH("eliminate-aliases"),
    GROWTH("find-events"),
    GROWTH("merge-regions"),
    GROWTH("solve-whens"),
    GROWTH("lower-whens"),
    GROWTH("reduce-index"),
    GROWTH("match-equations"),
    GROWTH("sort-blocks"),
    GROWTH("remove-unneeded"),
    GROWTH("check-branches"),
    GROWTH("check-systems"),
    GROWTH("tear-systems"),
    GROWTH("solve-small"),
    GROWTH("build-parts"),
    GROWTH("build-initial"),
    GROWTH("build-jacobian"),
    GROWTH("program"),
    { "growth/sharing", AT_MOST, 1.5, "exponent", measure_sharing, NULL, NULL },
    { "growth/unlisted", AT_MOST, 0, "passes", measure_missing, NULL, NULL },
    { "growth/all", AT_MOST, 1.5, "1M/100k", measure_whole, NULL, NULL },
    { "engine/random20k", AT_MOST, 0.1, "s", measure_random, NULL, NULL },
    { "engine/ladder1k/cc", AT_MOST, 1.3, "x", measure_run, NULL, "cc" },
    { "engine/ladder1k/interp", AT_MOST, 2, "x", measure_run, NULL, "interp" },
};
const Group group_engine = {
    "H. equation engine: growth of the passes with an RC ladder of objects, matching, the ladder's run", rows,
    sizeof rows / sizeof rows[0]
};

static void measure_missing(const Bench *bench, const Row *row, Figure *figure)
{
    uint32_t n = 0;
    (void)bench, (void)row;
    for (uint32_t k = 0; compilation_pass_name(k); k++) {
        bool is_listed = false;
        for (uint32_t j = 0; j < group_engine.n && !is_listed; j++)
            is_listed = rows[j].measure == measure_growth && strcmp(rows[j].subject, compilation_pass_name(k)) == 0;
        if (!is_listed)
            note(figure, "%s%s", n++ ? ", " : "", compilation_pass_name(k));
    }
    figure->value = n;
    figure->is_known = true;
}
