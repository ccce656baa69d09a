/* The run of a hybrid model (2.2 of the semantics): read run_model first. */
#include "runtime/run.h"
#include "runtime/sample.h"
#include <stdio.h>
#include <stdlib.h>

static const double DEFAULT_TOLERANCE = 1e-6;
static const double DEFAULT_POINTS = 500;
static const double LOW_SHARE = 0.1; /* of high_error */
static const uint32_t DEFAULT_MAX_STEPS = 1000;

/* --- The run --- */

/* What the instant at `time` is for, beside `cause`. Times within 16 ulp are one (S7). */
static unsigned causes_at(const KoineRun *run, double time, unsigned cause)
{
    if (run->next_time <= time + koine_near(time))
        cause |= KOINE_AT_TIME;
    if (time >= run->stop)
        cause |= KOINE_AT_STOP;
    return cause;
}

/* An event just before or behind the end happens at the end. */
static double next_goal(const KoineRun *run)
{
    const double head = run->next_time > run->time ? run->next_time : run->time;
    return head < run->stop - koine_near(run->stop) ? head : run->stop;
}

static KoineStatus restart(KoineRun *run)
{
    if (!run->solver)
        return KOINE_OK;
    ++run->report->statistics.restarts;
    run->quiet = 0;
    koine_roots_forget(run);
    return run->solver->kind->restart(run->solver, run->time, koine_states(run->model)) < 0
               ? koine_fail(run, KOINE_RUN_FAILED, "%s cannot be restarted: %s", run->solver->kind->name,
                            run->problem.text)
               : KOINE_OK;
}

/* The solver goes on undisturbed unless the instant changed what it integrates. */
static KoineStatus instant(KoineRun *run, unsigned cause)
{
    TRY(koine_instant(run, cause));
    if (run->outcome.flags & KOINE_TERMINATE) {
        run->is_over = true;
        run->report->end = KOINE_RUN_TERMINATED;
    }
    if (run->solver)
        run->solver->placed = NAN;
    if (run->outcome.flags & (KOINE_RESTART | KOINE_STATES | KOINE_NOMINALS))
        return restart(run);
    if (cause & KOINE_AT_TIME)
        ++run->quiet;
    return KOINE_OK;
}

static KoineStatus run_model(KoineRun *run)
{
    TRY(instant(run, causes_at(run, run->time, KOINE_AT_START)));
    while (run->time < run->stop && !run->is_over) {
        const double goal = next_goal(run);
        unsigned cause;
        TRY(koine_advance(run, goal, &cause));
        if (run->is_over)
            break;
        cause = causes_at(run, run->time, cause);
        if (cause)
            TRY(instant(run, cause));
    }
    return KOINE_OK;
}

/* --- Preparation --- */

static double positive_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

static KoineStatus check_error_control(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    if (!(options->first_step >= 0) || !(options->high_error >= 0) || !(options->low_error >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "first step %g, high error %g, low error %g: none of them may be negative",
                          options->first_step, options->high_error, options->low_error);
    const double high = positive_or(options->high_error, positive_or(options->tolerance, DEFAULT_TOLERANCE));
    if (options->low_error > high)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the low error %g lies above the high error %g", options->low_error,
                          high);
    if (options->error_mode < KOINE_ERROR_ADAPT || options->error_mode > KOINE_ERROR_NONE)
        return koine_fail(run, KOINE_RUN_OPTIONS, "there is no error mode %d", options->error_mode);
    return KOINE_OK;
}

static KoineStatus check_options(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    const KoineModelKind *const kind = run->kind;
    if (kind->version != KOINE_MODEL_VERSION || kind->size < offsetof(KoineModelKind, statistics))
        return koine_fail(run, KOINE_RUN_OPTIONS, "the model has interface version %u, this program version %u",
                          (unsigned)kind->version, KOINE_MODEL_VERSION);
    if (!isfinite(options->start) || !isfinite(options->stop) || options->stop < options->start)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the stop time %g lies before the start time %g", options->stop,
                          options->start);
    if (!(options->interval >= 0) || !(options->tolerance >= 0) || !(options->step >= 0) || !(options->max_step >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "interval %g, tolerance %g, step %g, max_step %g: none of them may be negative",
                          options->interval, options->tolerance, options->step, options->max_step);
    if (options->tolerance >= 1)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the tolerance %g is not below 1", options->tolerance);
    TRY(check_error_control(run));
    if (options->resolution != 0)
        return koine_fail(run, KOINE_RUN_OPTIONS, "a time grid is not supported: the resolution must be 0, not %g",
                          options->resolution);
    if (options->solver && !koine_find_solver(options->solver))
        return koine_fail(run, KOINE_RUN_OPTIONS, "there is no solver \"%s\"", options->solver);
    if (run->tables->capabilities & (KOINE_IS_DAE | KOINE_HAS_OWN_SOLVER))
        return koine_fail(run, KOINE_RUN_OPTIONS, "the model \"%s\" is %s: this is not supported", run->tables->name,
                          run->tables->capabilities & KOINE_IS_DAE ? "a residual form without explicit derivatives"
                                                                   : "one with a solver of its own");
    return KOINE_OK;
}

static void set_problem(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    const double span = options->stop - options->start;
    run->interval = positive_or(options->interval, span > 0 ? span / DEFAULT_POINTS : 1);
    run->problem = (KoineProblem){
        .model = run->model,
        .start = options->start,
        .stop = options->stop,
        .tolerance = positive_or(options->tolerance, DEFAULT_TOLERANCE),
        .step = positive_or(options->step, run->interval),
        .max_step = positive_or(options->max_step, INFINITY),
        .resolution = options->resolution,
        .error_mode = options->error_mode,
        .text = run->solver_text,
        .text_size = sizeof run->solver_text,
    };
    run->problem.first_step = positive_or(options->first_step, run->problem.step);
    run->problem.high_error = positive_or(options->high_error, run->problem.tolerance);
    run->problem.low_error = positive_or(options->low_error, LOW_SHARE * run->problem.high_error);
    run->time = options->start;
    run->stop = options->stop;
    run->output_time = options->n_sinks ? options->start : INFINITY;
    run->grid_time = run->output_time;
    run->watch.critical = 32e-12 * span;
    run->countdown = 1;
    run->max_steps = options->max_steps                                ? options->max_steps
                     : run->model->host && run->model->host->max_steps ? run->model->host->max_steps
                                                                       : DEFAULT_MAX_STEPS;
}

static KoineStatus make_vectors(KoineRun *run)
{
    const size_t n = run->tables->n_x;
    if (n == 0)
        return KOINE_OK;
    run->atol = malloc(5 * n * sizeof *run->atol);
    if (!run->atol)
        return koine_fail(run, KOINE_RUN_FAILED, "no memory for %zu states", n);
    run->problem.atol = run->atol;
    run->crossing = run->atol + n;
    run->before = run->atol + 3 * n;
    return KOINE_OK;
}

/* Scale of a state, below which its error is absolute: the nominal value; else a thousandth of its start value,
 * taken between 1e-6 and 1, so that states of small size keep some digits and states that begin at zero have
 * tolerance*1e-3. */
static double scale_of(const KoineVariable *variable, double start)
{
    if (variable && variable->nominal != 0)
        return fabs(variable->nominal);
    return 1e-3 * (start != 0 && isfinite(start) ? fmin(fmax(fabs(start), 1e-6), 1) : 1);
}

static void set_tolerances(KoineRun *run)
{
    const KoineTables *const tables = run->tables;
    const double *const x = koine_states(run->model);
    for (uint32_t i = 0; i < tables->n_x; ++i) {
        const KoineVariable *const variable =
            tables->state_variable && tables->variables ? &tables->variables[tables->state_variable[i]] : NULL;
        run->atol[i] = run->problem.tolerance * scale_of(variable, x[i]);
    }
}

/* Nothing continuous needs no solver; root functions of time alone only need the time to move. */
static KoineStatus make_solver(KoineRun *run)
{
    const KoineSolverKind *kind = koine_find_solver(run->options->solver ? run->options->solver : "auto");
    if (run->tables->capabilities & KOINE_IS_AUTONOMOUS || (run->tables->n_x == 0 && run->tables->n_roots == 0))
        return KOINE_OK;
    if (run->tables->n_x == 0)
        kind = &koine_solver_clock;
    else
        set_tolerances(run);
    if (kind->create(&run->problem, &run->solver) < 0)
        return koine_fail(run, KOINE_RUN_FAILED, "the solver %s cannot be set up: %s", kind->name,
                          run->problem.text[0] ? run->problem.text : "no memory");
    return run->solver->kind->restart(run->solver, run->time, run->tables->n_x ? koine_states(run->model) : NULL);
}

static KoineStatus prepare(KoineRun *run)
{
    TRY(check_options(run));
    set_problem(run);
    TRY(make_vectors(run));
    TRY(koine_roots_create(run));
    *koine_time(run->model) = run->time;
    const KoineStatus status = run->kind->initialise(run->model, run->time);
    if (status != KOINE_OK)
        return koine_model_failed(run, status, "initialisation");
    TRY(make_solver(run));
    return koine_record_begin(run);
}

/* --- Statistics --- */

/* Time of one evaluation of the derivatives, measured after the run on its last point. */
static double seconds_per_evaluation(KoineRun *run, uint64_t evaluations)
{
    const uint64_t n = evaluations / 200 < 1000 ? evaluations / 200 : 1000;
    const KoineDerivatives derivatives = koine_derivatives_of(run->kind);
    if (n == 0)
        return 0;
    const double begun = koine_clock(CLOCK_MONOTONIC);
    for (uint64_t k = 0; k < n; ++k)
        derivatives(run->model);
    return (koine_clock(CLOCK_MONOTONIC) - begun) / (double)n;
}

static void fill_statistics(KoineRun *run, double begun)
{
    KoineRunStatistics *const statistics = &run->report->statistics;
    statistics->total_seconds = koine_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
    statistics->root_evaluations = run->roots.evaluations;
    if (run->solver) {
        snprintf(statistics->solver, sizeof statistics->solver, "%s", run->solver->kind->name);
        run->solver->kind->statistics(run->solver, statistics);
    }
    if (run->kind->size >= sizeof(KoineModelKind) && run->kind->statistics)
        run->kind->statistics(run->model, &statistics->model);
    const double evaluations = (double)(statistics->evaluations + statistics->root_evaluations);
    const double integration =
        run->report->end == KOINE_RUN_DONE ? evaluations * seconds_per_evaluation(run, statistics->evaluations) : 0;
    const double points = koine_sample_total(&run->points);
    statistics->model_seconds = fmin(integration + koine_sample_total(&run->instants), statistics->total_seconds);
    statistics->solver_seconds = fmax(0, statistics->total_seconds - statistics->model_seconds - points);
}

static void destroy(KoineRun *run)
{
    if (run->solver)
        run->solver->kind->destroy(run->solver);
    koine_roots_destroy(run);
    free(run->atol);
}

KoineRunEnd koine_simulate(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report)
{
    const double begun = koine_clock(CLOCK_THREAD_CPUTIME_ID);
    KoineRun run = { .model = model,
                     .kind = model->kind,
                     .tables = model->kind->tables,
                     .options = options,
                     .report = report,
                     .next_time = INFINITY };
    *report = (KoineRunReport){ .end = KOINE_RUN_DONE, .fault = { .origin = -1, .variable = -1 } };
    model->fault = report->fault;
    if (prepare(&run) >= 0)
        run_model(&run);
    report->time = run.time;
    koine_record_end(&run);
    if (report->end != KOINE_RUN_OPTIONS)
        fill_statistics(&run, begun);
    destroy(&run);
    if (report->end == KOINE_RUN_TERMINATED)
        snprintf(report->text, sizeof report->text, "the model ended the run at time %.17g", report->time);
    if (report->end == KOINE_RUN_INTERRUPTED)
        snprintf(report->text, sizeof report->text, "interrupted at time %.17g", report->time);
    return report->end;
}
