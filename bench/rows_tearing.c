/* I: tearing: the arm of a robot, how the pass grows, what it gains. */
#include "bench.h"
#include "explain/figures.h"
#include "graph/tearing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- seconds of the pass ---- */
typedef struct {
    double last, seconds;
} Stopwatch;

static void stop_watch(void *context, const char *pass)
{
    Stopwatch *w = context;
    const double now = cpu_seconds();
    if (pass && strcmp(pass, "tear-systems") == 0)
        w->seconds = now - w->last;
    w->last = now;
}

/* Best of several; the sizes of the last. Negative: it cannot be compiled. */
static double seconds_of_pass(const char *path, int rounds, CompileReport *report)
{
    double best = INFINITY;
    for (int round = 0; round < rounds; round++) {
        Stopwatch w = { 0 };
        Compilation *c = compilation_create(NULL);
        c->watch = stop_watch;
        c->watch_context = &w;
        if (!compilation_load(c, &(CompileRequest){ .path = path }) || !compilation_schedule(c))
            best = -1;
        else
            *report = compile_report(c->schedule, c->program, c->arena);
        compilation_destroy(c);
        best = fmin(best, w.seconds);
    }
    return best;
}

static void robot_path(const Bench *bench, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/robot.ir", bench->models);
}

static void measure_robot(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    CompileReport report = { 0 };
    (void)row;
    robot_path(bench, path);
    const double seconds = seconds_of_pass(path, 10, &report);
    if (seconds < 0 || report.largest_block != 255 || report.largest_torn > 6) {
        no_figure(figure, "%llu equations torn to %llu", (unsigned long long)report.largest_block,
                  (unsigned long long)report.largest_torn);
        return;
    }
    figure->value = 1e3 * seconds;
    figure->is_known = true;
    note(figure, "%llu equations torn to %llu", (unsigned long long)report.largest_block,
         (unsigned long long)report.largest_torn);
}

/* ---- growth ---- */
typedef struct {
    const char *name;
    uint32_t of_block; /* equations of a system; 0: all in one */
} Rings;

static void generate_rings(const Bench *bench, const Rings *rings, uint32_t n, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s%u.ir", bench->folder, rings->name, n);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    const uint32_t of_block = rings->of_block ? rings->of_block : n;
    fprintf(f, "koine-ir 1\nmodel m\nvar x Real continuous der start 1.0 fixed\neq e0 der(x) = y0 - x\n");
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t first = k - k % of_block, at = k % of_block;
        fprintf(f, "var y%u Real continuous now\neq q%u 4.0*y%u + y%u + y%u = x\n", k, k, k,
                first + (at + 1) % of_block, first + (at * 7 + 3) % of_block);
    }
    fprintf(f, "end m\n");
    fclose(f);
}

static void measure_growth(const Bench *bench, const Row *row, Figure *figure)
{
    double of_equation[2], seconds[2];
    const uint32_t few = bench->is_quick ? 2000 : 10000;
    CompileReport report = { 0 };
    for (int k = 0; k < 2; k++) {
        char path[PATH_SIZE];
        const uint32_t n = k ? 10 * few : few;
        generate_rings(bench, row->subject, n, path);
        seconds[k] = seconds_of_pass(path, k ? 1 : 3, &report);
        of_equation[k] = 1e6 * seconds[k] / n;
    }
    if (seconds[0] < 0 || seconds[1] < 0) {
        no_figure(figure, "the rings cannot be compiled");
        return;
    }
    figure->value = log10(seconds[1] / seconds[0]);
    figure->is_known = true;
    note(figure, "%.3g and %.3g us an equation, of %u and %u; torn to %llu", of_equation[0], of_equation[1], few,
         10 * few, (unsigned long long)report.largest_torn);
}

/* The choice alone, on integers: a million equations. */
static double seconds_of_choice(uint32_t n, uint32_t *n_torn, uint64_t *work)
{
    Arena *arena = arena_create(NULL);
    uint32_t *start = NEW_ARRAY(arena, uint32_t, n + 1), *index = NEW_ARRAY(arena, uint32_t, 3 * (size_t)n);
    uint8_t *solvable = NEW_ARRAY(arena, uint8_t, 3 * (size_t)n);
    uint32_t entries = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t far = (uint32_t)(((uint64_t)k * 2654435761u) % n), next = (k + 1) % n;
        index[entries++] = k;
        index[entries++] = next;
        if (far != k && far != next)
            index[entries++] = far;
        start[k + 1] = entries;
    }
    memset(solvable, 1, entries);
    const TearingProblem problem = { .rows = { n, n, start, index }, .solvable = solvable };
    const double begun = cpu_seconds();
    *work = 0;
    *n_torn = n - tear_system(&problem, arena, work).n_inner;
    const double seconds = cpu_seconds() - begun;
    arena_destroy(arena);
    return seconds;
}

static void measure_choice(const Bench *bench, const Row *row, Figure *figure)
{
    const uint32_t few = bench->is_quick ? 10000 : 100000;
    uint32_t n_torn[2];
    uint64_t work[2];
    (void)row;
    const double seconds[] = { seconds_of_choice(few, &n_torn[0], &work[0]),
                               seconds_of_choice(10 * few, &n_torn[1], &work[1]) };
    figure->value = log10(seconds[1] / seconds[0]);
    figure->is_known = true;
    note(figure, "%.3g s for %u torn to %u, %.3g s for %u torn to %u; counted steps grow with exponent %.3f",
         seconds[0], few, n_torn[0], seconds[1], 10 * few, n_torn[1], log10((double)work[1] / (double)work[0]));
}

/* ---- the gain: the arm torn beside the arm whole ---- */
typedef struct {
    Compilation *c;
    const KoineModelKind *kind;
    KoineModel *model;
    uint32_t n; /* states */
    double x[40], der[40];
} Arm;

static bool open_arm(Arm *arm, const char *path, const char *systems, const char *tier)
{
    static const KoineHost host = { 0 };
    const char *why;
    arm->c = compilation_create(NULL);
    return compilation_load(arm->c, &(CompileRequest){ .path = path, .systems = systems }) &&
           compilation_schedule(arm->c) && (arm->kind = compilation_kind(arm->c, tier, &why)) &&
           arm->kind->create(arm->kind, &host, &arm->model) == KOINE_OK &&
           arm->kind->initialise(arm->model, 0) == KOINE_OK;
}

static void close_arm(Arm *arm)
{
    if (arm->model)
        arm->kind->destroy(arm->model);
    compilation_destroy(arm->c);
}

static bool run_arm(void *context)
{
    Arm *arm = context;
    bool is_good = true;
    for (int k = 0; k < 200 && is_good; k++) {
        for (uint32_t j = 0; j < arm->n; j++)
            arm->x[j] = 0.1 * j + 0.001 * k;
        const KoineEvaluation at = { .x = arm->x, .want = KOINE_WANT_DER, .der = arm->der };
        is_good = arm->kind->evaluate(arm->model, &at) == KOINE_OK;
    }
    return is_good;
}

static void measure_gain(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    Arm torn = { .n = 12 }, whole = { .n = 12 };
    double seconds[2] = { 0 }, most = 0;
    (void)row;
    robot_path(bench, path);
    const bool is_good = open_arm(&torn, path, NULL, "cc") && open_arm(&whole, path, "whole", "cc") &&
                         measure_both(bench, &(Work){ run_arm, &torn }, &(Work){ run_arm, &whole }, seconds);
    for (uint32_t k = 0; k < torn.n; k++)
        most = fmax(most, fabs(torn.der[k] - whole.der[k]) / (1 + fabs(whole.der[k])));
    close_arm(&torn);
    close_arm(&whole);
    if (!is_good || !(most < 1e-9)) {
        no_figure(figure, "derivatives differ by %g", most);
        return;
    }
    figure->value = seconds[0] / seconds[1];
    figure->is_known = true;
    note(figure, "%.3g us an evaluation, whole %.3g us; they differ by %.1g", 1e6 * seconds[0] / 200,
         1e6 * seconds[1] / 200, most);
}

/* ---- formulas of small systems beside their numeric solution ---- */
enum { STAGES = 20 };

/* Stages beside each other at one source: a T of resistors, two parallel capacitors (index 2), and a bridge of five
 * resistors; each of them a system of its own. */
static void generate_filters(const Bench *bench, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/filters.dym", bench->folder);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "@el.lib\nmodel filters\n  submodel (Vsource) U\n  submodel (Ground) g\n  node n0 n1\n");
    for (uint32_t k = 0; k < STAGES; k++)
        fprintf(
            f,
            "  submodel (Resistor) Ra%u (R=%u), Rb%u (R=3), Rc%u (R=2)\n  submodel (Capacitor) C%u (C=0.5), D%u "
            "(C=0.25)\n  submodel (Resistor) Rd%u (R=1), Re%u (R=2), Rf%u (R=3), Rg%u (R=4), Rh%u (R=5)\n"
            "  node m%u c%u p%u q%u\n"
            "  connect Ra%u at (n1,m%u), Rb%u at (m%u,n0), Rc%u at (m%u,c%u), C%u at (c%u,n0), D%u at (c%u,n0)\n"
            "  connect Rd%u at (c%u,p%u), Re%u at (c%u,q%u), Rf%u at (p%u,q%u), Rg%u at (p%u,n0), Rh%u at (q%u,n0)\n",
            k, k % 3 + 1, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k,
            k, k, k, k, k, k);
    fprintf(f, "  connect U at (n1,n0), g at n0\n  U.V0 = 10\nend\n");
    fclose(f);
}

static void measure_formulas(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    Arm formulas = { .n = STAGES }, numeric = { .n = STAGES };
    double seconds[2] = { 0 }, most = 0;
    generate_filters(bench, path);
    const bool is_good = open_arm(&formulas, path, NULL, row->tier) && open_arm(&numeric, path, "torn", row->tier) &&
                         measure_both(bench, &(Work){ run_arm, &formulas }, &(Work){ run_arm, &numeric }, seconds);
    for (uint32_t k = 0; k < STAGES; k++)
        most = fmax(most, fabs(formulas.der[k] - numeric.der[k]) / (1 + fabs(numeric.der[k])));
    const CompileReport report =
        is_good ? compile_report(formulas.c->schedule, formulas.c->program, formulas.c->arena) : (CompileReport){ 0 };
    close_arm(&formulas);
    close_arm(&numeric);
    if (!is_good || !(most < 1e-12)) {
        no_figure(figure, "derivatives differ by %g", most);
        return;
    }
    figure->value = seconds[0] / seconds[1];
    figure->is_known = true;
    note(figure, "%.3g us an evaluation, numeric %.3g us; %llu systems by formulas, %llu numeric",
         1e6 * seconds[0] / 200, 1e6 * seconds[1] / 200, (unsigned long long)report.formula_systems,
         (unsigned long long)report.linear_systems);
}

static const Rings one = { "ring", 0 }, many = { "rings", 10 };
static const Row rows[] = {
    { "tearing/robot255", AT_MOST, 10, "ms", measure_robot, NULL, NULL },
    { "tearing/robot255/gain", AT_MOST, 0.5, "x whole", measure_gain, NULL, NULL },
    { "tearing/filters/cc", AT_MOST, 0.5, "x numeric", measure_formulas, NULL, "cc" },
    { "tearing/filters/interp", AT_MOST, 0.7, "x numeric", measure_formulas, NULL, "interp" },
    { "tearing/growth/one", AT_MOST, 1.5, "exponent", measure_growth, &one, NULL },
    { "tearing/growth/many", AT_MOST, 1.5, "exponent", measure_growth, &many, NULL },
    { "tearing/growth/choice", AT_MOST, 1.7, "exponent", measure_choice, NULL, NULL },
};
const Group group_tearing = { "I. tearing: an arm of 6 joints, growth of the pass, gain", rows,
                              sizeof rows / sizeof rows[0] };
