/* H: the equation engine: matching, an RC ladder beside CVODE with a banded matrix by hand, branches at one node. */
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
         (unsigned long long)ours.run.counts.integration.steps, hand.steps);
}

/* ---- many branches at one node: how the run grows ---- */
static bool run_star(const Bench *bench, const Row *row, uint32_t branches, double *seconds, SubjectRun *run,
                     Figure *figure)
{
    Subject subject;
    char path[PATH_SIZE];
    generate_star(bench, branches, path);
    if (!subject_open(&subject, path, row->tier, figure))
        return false;
    bool is_good = true;
    *seconds = INFINITY;
    for (int round = 0; round < 3 && is_good; round++) {
        const double begun = cpu_seconds();
        is_good = subject_run(&subject, run);
        *seconds = fmin(*seconds, cpu_seconds() - begun);
    }
    subject_close(&subject);
    if (!is_good)
        no_figure(figure, "failed: %s", run->text);
    return is_good;
}

static void measure_star(const Bench *bench, const Row *row, Figure *figure)
{
    enum { FEW = 1000, MANY = 4000 };
    SubjectRun run = { .solver = "auto", .stop = STOP, .tolerance = TOLERANCE };
    double few, many;
    if (!run_star(bench, row, FEW, &few, &run, figure))
        return;
    const double steps = (double)run.counts.integration.steps;
    if (!run_star(bench, row, MANY, &many, &run, figure))
        return;
    const double few_step = few / steps, many_step = many / (double)run.counts.integration.steps;
    figure->value = log(many_step / few_step) / log((double)MANY / FEW);
    figure->is_known = true;
    note(figure, "%d branches %.3g ms, %d %.3g ms; a step %.3g and %.3g us a branch", FEW, 1e3 * few, MANY, 1e3 * many,
         1e6 * few_step / FEW, 1e6 * many_step / MANY);
}

static const Row rows[] = {
    { "engine/random20k", AT_MOST, 0.1, "s", measure_random, NULL, NULL },
    { "engine/ladder1k/cc", AT_MOST, 1.3, "x", measure_run, NULL, "cc" },
    { "engine/ladder1k/interp", AT_MOST, 2, "x", measure_run, NULL, "interp" },
    { "engine/star/interp", AT_MOST, 1.5, "exponent", measure_star, NULL, "interp" },
    { "engine/star/cc", AT_MOST, 1.5, "exponent", measure_star, NULL, "cc" },
};
const Group group_engine = { "H. equation engine: matching, the ladder's run, the run of many branches at a node", rows,
                             sizeof rows / sizeof rows[0] };
