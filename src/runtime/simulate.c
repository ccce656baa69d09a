/* The run of a hybrid model (2.2 of the semantics): read run_model first. */
#include "runtime/run.h"
#include "runtime/sample.h"
#include <stdio.h>
#include <stdlib.h>

static const double DEFAULT_POINTS = 500;
static const double LOW_SHARE = 0.1; /* of high_error */
static const uint32_t DEFAULT_MAX_STEPS = 1000;
static const uint32_t DEFAULT_MAX_CROSSING = 200;

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

/* The next time event of models that search for it; where the search has come to, if that is all. */
static double look_ahead(KoineRun *run)
{
    double searched = INFINITY;
    if (run->kind->size < sizeof(KoineModelKind) || !run->kind->look_ahead)
        return searched;
    do
        run->next_time = run->kind->look_ahead(run->model, run->stop, &searched);
    while (run->next_time == INFINITY && searched < run->stop && koine_snap(run, searched) <= run->time);
    return searched < run->stop ? koine_snap(run, searched) : INFINITY;
}

/* An event just before or behind the end happens at the end. */
static double next_goal(KoineRun *run)
{
    const double searched = look_ahead(run);
    if (searched > run->time && searched < run->next_time)
        return searched;
    const double next = koine_snap_up(run, run->next_time); /* models that know no grid may give any time */
    const double head = next > run->time ? next : run->time;
    return head < run->stop - koine_near(run->stop) ? head : run->stop;
}

static KoineStatus restart(KoineRun *run)
{
    if (!run->solver)
        return KOINE_OK;
    ++run->report->statistics.restarts;
    run->quiet = 0;
    koine_roots_forget(run);
    if (run->scales.steps > 0)
        TRY(koine_scales_restart(run));
    return run->solver->kind->restart(run->solver, run->time, koine_states(run->model)) < 0
               ? koine_fail_by(run, KOINE_CAUSE_SOLVER, "%s cannot be restarted: %s", run->solver->kind->name,
                               run->problem.text)
               : KOINE_OK;
}

/* The classic methods on a time grid: the first step size is in force again after every instant. */
static bool begins_anew(const KoineRun *run)
{
    return koine_has_grid(run) && run->solver &&
           (run->solver->kind->never_passes || run->solver->kind->stops_at_points);
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
    if (run->outcome.flags & (KOINE_RESTART | KOINE_STATES | KOINE_NOMINALS) || begins_anew(run))
        return restart(run);
    if (cause & KOINE_AT_TIME)
        ++run->quiet;
    return KOINE_OK;
}

/* An interrupted run leaves a last point from which a later one can start. */
static KoineStatus record_interruption(KoineRun *run)
{
    if (run->report->end != KOINE_RUN_INTERRUPTED || !run->options->n_sinks)
        return KOINE_OK;
    TRY(koine_place(run, run->time));
    const KoineStatus status = koine_record(run, run->time, 0, KOINE_POINT_STOP);
    return status < 0 ? status : KOINE_OK; /* what cannot be computed here is not recorded */
}

static KoineStatus run_model(KoineRun *run)
{
    TRY(instant(run, causes_at(run, run->time, run->options->is_continued ? KOINE_AT_CONTINUE : KOINE_AT_START)));
    TRY(koine_scales_restart(run));
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
    return record_interruption(run);
}

/* --- Preparation --- */

static double positive_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* The model serves its calendar on the grid that its host names: the run must have the same. */
static double resolution_of(const KoineRun *run)
{
    return run->options->resolution != 0 ? run->options->resolution
           : run->model->host            ? run->model->host->resolution
                                         : 0;
}

static double on_grid(double resolution, double time)
{
    return resolution > 0 ? koine_grid_time(resolution, koine_grid_nearest(resolution, time)) : time;
}

/* The largest time: 32 bits count grid points in SIMPLEX, unless another end is given. With more than 46 bits rounding
 * would be larger than a quarter of a cell. */
static KoineStatus check_grid(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    const double resolution = resolution_of(run);
    if (!(resolution >= 0) || !isfinite(resolution) || !(options->max_time >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS, "resolution %g, max_time %g: none of them may be negative",
                          resolution, options->max_time);
    if (run->model->host && run->model->host->resolution != resolution)
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "the run has the time resolution %g, the model was created with %g: they must be the same",
                          resolution, run->model->host->resolution);
    const double most = positive_or(options->max_time, resolution > 0 ? 2147483647.0 * resolution : INFINITY);
    const double limit = resolution > 0 ? fmin(most, 70368744177664.0 * resolution) : most;
    if (options->start < -limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the start time %g lies beyond minus the largest time %g",
                          options->start, limit);
    if (options->stop > limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the stop time %.12g lies beyond the largest time %.12g (TMax%s)",
                          options->stop, limit,
                          most == options->max_time ? "" : ": 2147483647 times the resolution TScal");
    return KOINE_OK;
}

static KoineStatus check_start(KoineRun *run)
{
    const double time = *koine_time(run->model), resolution = resolution_of(run);
    if (run->options->is_continued &&
        !(time >= on_grid(resolution, run->options->start) && time <= on_grid(resolution, run->options->stop)))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "the run cannot be continued: the model stands at time %g, which is not between start %g and "
                          "stop %g",
                          time, run->options->start, run->options->stop);
    return KOINE_OK;
}

static KoineStatus check_error_control(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    if (!(options->first_step >= 0) || !(options->high_error >= 0) || !(options->low_error >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "first step %g, high error %g, low error %g: none of them may be negative",
                          options->first_step, options->high_error, options->low_error);
    const double high = positive_or(options->high_error, positive_or(options->tolerance, KOINE_USUAL_TOLERANCE));
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
    if (options->tolerance > 0 && options->tolerance < KOINE_LEAST_TOLERANCE)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the tolerance %g is below %g: numbers have 16 digits",
                          options->tolerance, KOINE_LEAST_TOLERANCE);
    if (!(options->absolute_tolerance >= 0) || !isfinite(options->absolute_tolerance))
        return koine_fail(run, KOINE_RUN_OPTIONS, "the absolute tolerance %g is no positive number",
                          options->absolute_tolerance);
    TRY(check_error_control(run));
    TRY(check_grid(run));
    TRY(check_start(run));
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
    const double resolution = resolution_of(run);
    const double start = on_grid(resolution, options->start), stop = on_grid(resolution, options->stop);
    const double span = stop - start;
    const double usual = positive_or(span / DEFAULT_POINTS, positive_or(span, 1)); /* a part may be too small */
    run->interval = koine_max(positive_or(options->interval, usual), resolution);
    run->problem = (KoineProblem){
        .model = run->model,
        .start = start,
        .stop = stop,
        .tolerance = positive_or(options->tolerance, KOINE_USUAL_TOLERANCE),
        .step = positive_or(options->step, run->interval),
        .max_step = positive_or(options->max_step, INFINITY),
        .resolution = resolution,
        .error_mode = options->error_mode,
        .interrupt = options->interrupt,
        .text = run->solver_text,
        .text_size = sizeof run->solver_text,
        .cause = &run->solver_cause,
    };
    run->problem.first_step = positive_or(options->first_step, run->problem.step);
    run->problem.high_error = positive_or(options->high_error, run->problem.tolerance);
    run->problem.low_error = positive_or(options->low_error, LOW_SHARE * run->problem.high_error);
    run->time = options->is_continued ? on_grid(resolution, *koine_time(run->model)) : start;
    run->stop = stop;
    /* on a time grid steps may end at output times, whether or not anyone looks at the points */
    run->output_time = options->n_sinks || resolution > 0 ? start : INFINITY;
    run->grid_time = run->output_time;
    koine_watch_begin(run, span);
    run->countdown = 1;
    run->max_steps = options->max_steps                                ? options->max_steps
                     : run->model->host && run->model->host->max_steps ? run->model->host->max_steps
                                                                       : DEFAULT_MAX_STEPS;
    run->max_crossing = options->max_crossing ? options->max_crossing : DEFAULT_MAX_CROSSING;
}

static KoineStatus make_vectors(KoineRun *run)
{
    const size_t n = run->tables->n_x;
    if (n == 0)
        return KOINE_OK;
    run->atol = malloc(6 * n * sizeof *run->atol);
    if (!run->atol)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %zu states", n);
    run->problem.atol = run->atol;
    run->crossing = run->atol + n;
    run->before = run->atol + 3 * n;
    run->here = run->atol + 5 * n;
    return KOINE_OK;
}

/* Nothing continuous needs no solver; root functions of time alone only need the time to move. */
static KoineStatus make_solver(KoineRun *run)
{
    const KoineSolverKind *kind = koine_find_solver(run->options->solver ? run->options->solver : "auto");
    if (run->tables->capabilities & KOINE_IS_AUTONOMOUS ||
        (run->tables->n_x == 0 && run->tables->n_roots == 0 && run->tables->n_signals == 0))
        return KOINE_OK;
    if (run->tables->n_x == 0)
        kind = &koine_solver_clock;
    else
        TRY(koine_scales_create(run, kind));
    if (kind->create(&run->problem, &run->solver) < 0)
        return koine_fail_by(run, run->problem.text[0] ? KOINE_CAUSE_SOLVER : KOINE_CAUSE_MEMORY,
                             "the solver %s cannot be set up: %s", kind->name,
                             run->problem.text[0] ? run->problem.text : "no memory");
    koine_pulses_begin(run);
    return run->solver->kind->restart(run->solver, run->time, run->tables->n_x ? koine_states(run->model) : NULL);
}

static KoineStatus prepare(KoineRun *run)
{
    TRY(check_options(run));
    set_problem(run);
    TRY(make_vectors(run));
    TRY(koine_roots_create(run));
    run->renewed_time = NAN;
    *koine_time(run->model) = run->stepped_time = run->time;
    const KoineStatus status = run->options->is_continued ? KOINE_OK : run->kind->initialise(run->model, run->time);
    if (status != KOINE_OK)
        return koine_model_failed(run, status, "initialisation");
    TRY(koine_signals_create(run));
    TRY(make_solver(run));
    koine_record_from_here(run);
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

/* What the model did in this run: its count at the end less the one at the begin. */
static void count_model(KoineRun *run, int sign)
{
    KoineModelStatistics now = { 0 }, *const sum = &run->report->statistics.model;
    if (!(run->kind->size >= sizeof(KoineModelKind) && run->kind->statistics))
        return;
    run->kind->statistics(run->model, &now);
    const uint64_t by = (uint64_t)(int64_t)sign;
    sum->node_evaluations += by * now.node_evaluations;
    sum->transitions += by * now.transitions;
    sum->newton_iterations += by * now.newton_iterations;
    sum->linear_solves += by * now.linear_solves;
    sum->newton_updates += by * now.newton_updates;
    sum->solved_from_start += by * now.solved_from_start;
    sum->solved_by_kinsol += by * now.solved_by_kinsol;
    sum->solved_by_homotopy += by * now.solved_by_homotopy;
    sum->factorizations += by * now.factorizations;
    sum->factors_found += by * now.factors_found;
    sum->largest_condition = now.largest_condition; /* of all runs so far */
    sum->iterations += by * now.iterations;
    sum->cycles += by * now.cycles;
    sum->time_looks += by * now.time_looks;
    sum->mixed_flips += by * now.mixed_flips;
    sum->mixed_combinations += by * now.mixed_combinations;
    sum->most_cycles = now.most_cycles; /* of all runs so far */
    for (uint32_t k = 0; k < KOINE_BUCKETS; ++k)
        sum->by_cycles[k] += by * now.by_cycles[k];
}

/* The block holds time and state of the end of the run, so that it can be continued. */
static void settle(KoineRun *run)
{
    if (!run->solver || run->report->end == KOINE_RUN_FAILED)
        return;
    if (koine_has_grid(run) && run->tables->n_x && run->solver->time > run->time) {
        memcpy(koine_states(run->model), run->here, run->tables->n_x * sizeof *run->here);
        *koine_time(run->model) = run->time;
    } else {
        koine_place(run, run->time);
    }
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
    count_model(run, 1);
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
    koine_scales_destroy(run);
    free(run->atol);
    free(run->signals);
}

KoineRunEnd koine_simulate(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report)
{
    const double begun = koine_clock(CLOCK_THREAD_CPUTIME_ID);
    KoineRun run = { .model = model,
                     .kind = model->kind,
                     .tables = model->kind->tables,
                     .options = options,
                     .report = report,
                     .next_time = INFINITY,
                     .pulse = -INFINITY,
                     .before_time = NAN, /* nothing lies before the start */
                     .evaluated_time = NAN };
    *report = (KoineRunReport){ .end = KOINE_RUN_DONE, .fault = { .origin = -1, .variable = -1 } };
    model->fault = report->fault;
    count_model(&run, -1);
    if (prepare(&run) >= 0 && run_model(&run) >= 0)
        settle(&run);
    koine_hold_end(&run);
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
