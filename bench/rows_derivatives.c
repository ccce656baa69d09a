/* L: exact derivatives by inputs beside those by the states, linear models, and runs in steps: Koine beside itself. */
#include "bench.h"
#include "koine/linearize.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    KoineModel *model;
    KoineEvaluation at;
    double *values, *weights;
} Point;

static bool fill_state(void *context)
{
    const Point *p = context;
    return p->model->kind->partial.jacobian(p->model, &p->at, KOINE_BY_X, 0, p->values) == KOINE_OK;
}

static bool fill_input(void *context)
{
    const Point *p = context;
    return p->model->kind->partial.jacobian(p->model, &p->at, KOINE_BY_INPUT, 0, p->values) == KOINE_OK;
}

static bool go_back(void *context)
{
    const Point *p = context;
    return p->model->kind->partial.adjoint(p->model, &p->at, KOINE_BY_X, p->weights, p->values) == KOINE_OK;
}

typedef struct {
    bool (*run)(void *context);
} Way;

static void measure_matrix(const Bench *bench, const Row *row, Figure *figure)
{
    const Way *way = row->subject;
    Subject subject;
    char path[PATH_SIZE];
    double seconds[2];
    model_path(bench, "driven10000.ir", path);
    if (!subject_open(&subject, path, row->tier, figure))
        return;
    Point p = { .model = subject_start(&subject) };
    if (!p.model) {
        no_figure(figure, "does not start");
        subject_close(&subject);
        return;
    }
    const KoineTables *t = subject.kind->tables;
    p.values = calloc(4 * (size_t)t->n_x, sizeof *p.values);
    p.weights = calloc(t->n_x, sizeof *p.weights);
    for (uint32_t k = 0; k < t->n_x; k++)
        p.weights[k] = cos(k);
    p.at = (KoineEvaluation){ .x = (const double *)(const void *)(p.model->block + t->x) };
    if (measure_both(bench, &(Work){ way->run, &p }, &(Work){ fill_state, &p }, seconds)) {
        figure->value = seconds[0] / seconds[1];
        figure->is_known = true;
        note(figure, "%.4g us, by the states %.4g us", 1e6 * seconds[0], 1e6 * seconds[1]);
    }
    free(p.values);
    free(p.weights);
    subject.kind->destroy(p.model);
    subject_close(&subject);
}

/* ---- Linear models ---------------------------------------------------------------------------------------------- */

static void measure_linear(const Bench *bench, const Row *row, Figure *figure)
{
    enum { TIMES = 20000 };
    Subject subject;
    char path[PATH_SIZE];
    KoineReason why = { "" };
    model_path(bench, "driven10.ir", path);
    if (!subject_open(&subject, path, row->tier, figure))
        return;
    KoineModel *model = subject_start(&subject);
    KoineLinearModel *linear = koine_linear_model_create(subject.kind, true, &why);
    bool is_good = model && linear;
    const double begun = cpu_seconds();
    for (int k = 0; k < TIMES && is_good; k++)
        is_good = koine_linearize(model, linear, &why) == KOINE_OK;
    figure->value = cpu_seconds() - begun;
    figure->is_known = is_good;
    note(figure, "%.4g us each, with eigenvalues%s", 1e6 * figure->value / TIMES, why.text);
    koine_linear_model_free(linear);
    if (model)
        subject.kind->destroy(model);
    subject_close(&subject);
}

/* ---- Runs in steps ---------------------------------------------------------------------------------------------- */

typedef struct {
    const Subject *subject;
    uint32_t steps;
} Steps;

static KoineStatus keep_nothing(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    (void)sink;
    (void)model;
    (void)point;
    return KOINE_OK;
}

static bool run_in_steps(void *context)
{
    enum { STOP = 20, POINTS = 500 };
    const Steps *s = context;
    const KoineHost host = { .tolerance = 1e-6 };
    KoineSink sink = { .point = keep_nothing }, *sinks[] = { &sink };
    const KoineRunOptions options = { .stop = STOP,
                                      .interval = (double)STOP / POINTS,
                                      .tolerance = 1e-6,
                                      .solver = "dopri5",
                                      .sinks = sinks,
                                      .n_sinks = 1 };
    KoineRunReport report;
    KoineModel *model;
    if (s->subject->kind->create(s->subject->kind, &host, &model) != KOINE_OK)
        return false;
    KoineRun *run = koine_run_open(model, &options, &report);
    for (uint32_t k = 1; k < s->steps; k++)
        koine_run_advance(run, STOP * (double)k / s->steps);
    koine_run_advance(run, INFINITY);
    const bool is_good = koine_run_close(run) == KOINE_RUN_DONE;
    s->subject->kind->destroy(model);
    return is_good;
}

static void measure_steps(const Bench *bench, const Row *row, Figure *figure)
{
    Subject subject;
    char path[PATH_SIZE];
    double seconds[2];
    model_path(bench, "driven1000.ir", path);
    if (!subject_open(&subject, path, row->tier, figure))
        return;
    Steps many = { &subject, 100 }, one = { &subject, 1 };
    if (measure_both(bench, &(Work){ run_in_steps, &many }, &(Work){ run_in_steps, &one }, seconds)) {
        figure->value = seconds[0] / seconds[1];
        figure->is_known = true;
        note(figure, "100 advances %.4g ms, one %.4g ms", 1e3 * seconds[0], 1e3 * seconds[1]);
    }
    subject_close(&subject);
}

static void measure_saving(const Bench *bench, const Row *row, Figure *figure)
{
    enum { TIMES = 20000 };
    Subject subject;
    char path[PATH_SIZE];
    const KoineHost host = { .tolerance = 1e-6 };
    const KoineRunOptions options = { .stop = 20, .tolerance = 1e-6, .solver = "dopri5" };
    KoineRunReport report;
    KoineReason why = { "" };
    KoineModel *model;
    model_path(bench, "driven1000.ir", path);
    if (!subject_open(&subject, path, row->tier, figure))
        return;
    if (subject.kind->create(subject.kind, &host, &model) != KOINE_OK) {
        no_figure(figure, "there is no instance");
        subject_close(&subject);
        return;
    }
    KoineRun *run = koine_run_open(model, &options, &report);
    koine_run_advance(run, 5.03);
    KoineSavedRun *saved = koine_run_save(run, NULL, &why);
    bool is_good = saved != NULL;
    const double begun = cpu_seconds();
    for (int k = 0; k < TIMES && is_good; k++) {
        saved = koine_run_save(run, saved, &why);
        is_good = saved && koine_run_restore(run, saved, &why) == KOINE_RESTORED_EXACTLY;
    }
    figure->value = 1e6 * (cpu_seconds() - begun) / TIMES;
    figure->is_known = is_good;
    note(figure, "save and restore, 1,000 states%s", why.text);
    koine_saved_free(saved);
    koine_run_close(run);
    subject.kind->destroy(model);
    subject_close(&subject);
}

static const Way by_input = { fill_input }, backwards = { go_back };

static const Row rows[] = {
    { "derivatives/input/interp", AT_MOST, 1.5, "x of state", measure_matrix, &by_input, "interp" },
    { "derivatives/input/cc", AT_MOST, 1.5, "x of state", measure_matrix, &by_input, "cc" },
    { "derivatives/adjoint/interp", AT_MOST, 1.5, "x of state", measure_matrix, &backwards, "interp" },
    { "derivatives/adjoint/cc", AT_MOST, 1.5, "x of state", measure_matrix, &backwards, "cc" },
    { "derivatives/linearize/interp", AT_MOST, 1, "s", measure_linear, NULL, "interp" },
    { "derivatives/linearize/cc", AT_MOST, 1, "s", measure_linear, NULL, "cc" },
    { "steps/advances/cc", AT_MOST, 1.1, "x of one", measure_steps, NULL, "cc" },
    { "steps/save/cc", AT_MOST, 20, "us", measure_saving, NULL, "cc" },
};
const Group group_derivatives = { "L. derivatives by inputs, linear models, runs in steps", rows,
                                  sizeof rows / sizeof rows[0] };
