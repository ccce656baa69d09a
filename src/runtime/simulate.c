/* The run of a hybrid model (2.2 of the semantics): read go_on first. */
#include "runtime/sample.h"
#include "runtime/save.h"
#include <stdio.h>
#include <stdlib.h>

static const double DEFAULT_POINTS = 500;
static const uint32_t DEFAULT_MAX_STEPS = 1000;

/* --- The run --- */

/* What the instant at `time` is for, beside `cause`. Times within 16 ulp are one (S7). */
static unsigned causes_at(const KoineRun *run, double time, unsigned cause)
{
    if (run->instant.next_time <= time + koine_near(time))
        cause |= KOINE_AT_TIME;
    if (time >= run->problem.stop)
        cause |= KOINE_AT_STOP;
    return cause;
}

/* The next time event of models that search for it; where the search has come to, if that is all. */
static double look_ahead(KoineRun *run)
{
    double searched = INFINITY;
    if (run->kind->size < sizeof(KoineModelKind) || !run->kind->time.look_ahead)
        return searched;
    do
        run->instant.next_time = run->kind->time.look_ahead(run->model, run->problem.stop, &searched);
    while (run->instant.next_time == INFINITY && searched < run->problem.stop &&
           koine_snap(run, searched) <= run->time);
    return searched < run->problem.stop ? koine_snap(run, searched) : INFINITY;
}

/* An event just before or behind the end happens at the end. */
static double next_goal(KoineRun *run)
{
    const double searched = look_ahead(run);
    if (searched > run->time && searched < run->instant.next_time)
        return searched;
    const double next = koine_snap_up(run, run->instant.next_time); /* models may give any time */
    const double head = next > run->time ? next : run->time;
    return head < run->problem.stop - koine_near(run->problem.stop) ? head : run->problem.stop;
}

KoineStatus koine_restart(KoineRun *run)
{
    if (!run->solver)
        return KOINE_OK;
    run->report->statistics.integration.restarts++;
    run->instant.quiet = 0;
    koine_roots_forget(run);
    if (run->scales.steps > 0)
        TRY(koine_scales_restart(run));
    return run->solver->kind->restart(run->solver, run->time, koine_states(run->model)) < 0
               ? koine_fail_by(run, KOINE_CAUSE_SOLVER, "%s cannot be restarted: %s", run->solver->kind->name,
                               run->problem.text)
               : KOINE_OK;
}

static bool begins_anew(const KoineRun *run)
{
    return run->solver && run->problem.strategy->restarts(run->solver->kind);
}

/* The solver goes on undisturbed unless the instant changed what it integrates. */
static KoineStatus instant(KoineRun *run, unsigned cause)
{
    TRY(koine_instant(run, cause));
    if (run->instant.outcome.flags & KOINE_TERMINATE) {
        run->is_over = true;
        run->report->end = KOINE_RUN_TERMINATED;
    }
    if (run->solver)
        run->solver->placed = NAN;
    if (run->instant.outcome.flags & (KOINE_RESTART | KOINE_STATES | KOINE_NOMINALS) || begins_anew(run))
        return koine_restart(run);
    if (cause & KOINE_AT_TIME)
        run->instant.quiet++;
    return KOINE_OK;
}

/* A run that ends before its time leaves a last point from which a later one can start. */
static KoineStatus record_early_end(KoineRun *run)
{
    const KoineRunEnd end = run->report->end;
    const bool is_skipped = end == KOINE_RUN_TERMINATED && run->output.skipped_time == run->time;
    if ((end != KOINE_RUN_INTERRUPTED && !is_skipped) || !run->options->n_sinks)
        return KOINE_OK;
    TRY(koine_place(run, run->time));
    const KoineStatus status = koine_record(run, run->time, 0, KOINE_POINT_STOP);
    return status < 0 ? status : KOINE_OK; /* what cannot be computed here is not recorded */
}

KoineStatus koine_serve(KoineRun *run, unsigned cause)
{
    run->pause.is_integrating = false; /* towards what may not be the goal any more */
    return instant(run, causes_at(run, run->time, cause));
}

/* A run that was taken up where it was saved may still owe an instant. */
static KoineStatus serve_left_over(KoineRun *run)
{
    const unsigned cause = run->pause.cause;
    run->pause.cause = 0;
    return koine_serve(run, cause);
}

/* Up to pause.until, or to the end of the run. */
static KoineStatus go_on(KoineRun *run)
{
    while (run->time < run->problem.stop && !run->is_over) {
        unsigned cause;
        if (run->pause.cause)
            TRY(serve_left_over(run));
        if (run->time >= run->pause.until && !run->pause.has_part)
            return KOINE_OK;
        if (!run->pause.is_integrating)
            run->pause.goal = next_goal(run);
        TRY(koine_advance(run, &cause));
        if (run->is_over || run->pause.is_integrating)
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

static KoineStatus check_start(KoineRun *run)
{
    const double time = *koine_time(run->model);
    if (run->options->is_continued &&
        !(time >= koine_snap_nearest(run, run->options->start) && time <= koine_snap_nearest(run, run->options->stop)))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "the run cannot be continued: the model stands at time %g, which is not between start %g and "
                          "stop %g",
                          time, run->options->start, run->options->stop);
    return KOINE_OK;
}

static KoineStatus check_options(KoineRun *run)
{
    const KoineRunOptions *options = run->options;
    const KoineModelKind *kind = run->kind;
    if (kind->version != KOINE_MODEL_VERSION || kind->size < offsetof(KoineModelKind, counts))
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
    TRY(koine_time_choose(run));
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
    const KoineRunOptions *options = run->options;
    const double start = koine_snap_nearest(run, options->start), stop = koine_snap_nearest(run, options->stop);
    const double span = stop - start;
    const double usual = positive_or(span / DEFAULT_POINTS, positive_or(span, 1)); /* a part may be too small */
    run->output.interval = koine_max(positive_or(options->interval, usual), run->problem.control.resolution);
    run->problem = (KoineProblem){
        .model = run->model,
        .strategy = run->problem.strategy,
        .start = start,
        .stop = stop,
        .tolerance = positive_or(options->tolerance, KOINE_USUAL_TOLERANCE),
        .step = positive_or(options->step, run->output.interval),
        .max_step = positive_or(options->max_step, INFINITY),
        .control = run->problem.control,
        .interrupt = options->listener.interrupt,
        .text = run->solver_fault.text,
        .text_size = sizeof run->solver_fault.text,
        .cause = &run->solver_fault.cause,
    };
    koine_time_complete(&run->problem);
    run->time = options->is_continued ? koine_snap_nearest(run, *koine_time(run->model)) : start;
    run->output.grid_time = options->n_sinks || run->problem.strategy->meets_points ? start : INFINITY;
    run->output.next_time = run->output.grid_time;
    koine_watch_begin(run, span);
    run->output.countdown = 1;
    run->instant.max_steps = options->max_steps                                ? options->max_steps
                             : run->model->host && run->model->host->max_steps ? run->model->host->max_steps
                                                                               : DEFAULT_MAX_STEPS;
}

static KoineStatus make_vectors(KoineRun *run)
{
    const size_t n = run->tables->n_x;
    if (n == 0)
        return KOINE_OK;
    run->crossing.x = malloc(4 * n * sizeof *run->crossing.x);
    if (!run->crossing.x)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %zu states", n);
    run->crossing.before = run->crossing.x + 2 * n;
    return KOINE_OK;
}

/* Nothing continuous needs no solver; root functions of time alone only need the time to move. */
static KoineStatus make_solver(KoineRun *run)
{
    const KoineSolverKind *kind = koine_find_solver(run->options->solver ? run->options->solver : "auto");
    if (run->tables->capabilities & KOINE_IS_AUTONOMOUS ||
        (run->tables->n_x == 0 && run->tables->roots.n == 0 && run->tables->n_signals == 0))
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

/* Room for all but what depends on the values in the block. */
static KoineStatus make_parts(KoineRun *run)
{
    set_problem(run);
    TRY(make_vectors(run));
    if (run->problem.strategy->memory.create)
        TRY(run->problem.strategy->memory.create(run));
    TRY(koine_roots_create(run));
    run->repeats.renewed_time = NAN;
    return KOINE_OK;
}

static KoineStatus prepare(KoineRun *run)
{
    TRY(check_options(run));
    TRY(make_parts(run));
    *koine_time(run->model) = run->output.stepped_time = run->time;
    const KoineStatus status = run->options->is_continued ? KOINE_OK : run->kind->initialise(run->model, run->time);
    if (status != KOINE_OK)
        return koine_model_failed(run, status, "initialisation");
    TRY(koine_signals_create(run));
    TRY(make_solver(run));
    koine_record_from_here(run);
    /* A run that was interrupted while it was prepared opens no results: a sink may wait, as for a pipe. */
    if (!run->options->is_continued && koine_run_interrupted(run))
        return KOINE_FAILED;
    return koine_record_begin(run);
}

/* The sinks begin when the block shows the values from which the run goes on. */
static KoineStatus take_up(KoineRun *run, const KoineSavedRun *saved)
{
    KoineReason why = { "" };
    if (!koine_saved_is_of(run, saved, &why) || !koine_saved_put_block(run->model, saved, &why))
        return koine_fail(run, KOINE_RUN_OPTIONS, "%s", why.text);
    TRY(check_options(run));
    TRY(make_parts(run));
    TRY(koine_signals_create(run));
    TRY(make_solver(run));
    if (!koine_saved_fits(run, saved, &why))
        return koine_fail(run, KOINE_RUN_OPTIONS, "%s", why.text);
    TRY(koine_saved_put(run, saved));
    TRY(koine_pause_show(run));
    return koine_record_begin(run);
}

static KoineStatus start(KoineRun *run)
{
    TRY(instant(run, causes_at(run, run->time, run->options->is_continued ? KOINE_AT_CONTINUE : KOINE_AT_START)));
    return koine_scales_restart(run);
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
    for (uint64_t k = 0; k < n; k++)
        derivatives(run->model);
    return (koine_clock(CLOCK_MONOTONIC) - begun) / (double)n;
}

/* What the model did in this run: its count at the end less the one at the begin. */
void koine_count_model(KoineRun *run, int sign)
{
    KoineModelStatistics now = { 0 }, *sum = &run->report->statistics.model;
    if (!(run->kind->size >= sizeof(KoineModelKind) && run->kind->counts.statistics))
        return;
    run->kind->counts.statistics(run->model, &now);
    const uint64_t by = (uint64_t)(int64_t)sign;
#define COUNT_ADD(name)                     sum->name += by * now.name;
#define COUNT_MOST(name)                    sum->name = now.name; /* of all runs so far */
#define KOINE_MODEL_COUNTER(name, how, ...) COUNT_##how(name)
#include "koine/statistics.def"
    sum->largest_condition = now.largest_condition; /* of all runs so far */
    for (uint32_t k = 0; k < KOINE_BUCKETS; k++)
        sum->by_cycles[k] += by * now.by_cycles[k];
}

/* The block holds time and state of the end of the run, so that it can be continued. */
static void settle(KoineRun *run)
{
    if (!run->solver || run->report->end == KOINE_RUN_FAILED)
        return;
    run->problem.strategy->settle(run);
}

static void fill_statistics(KoineRun *run)
{
    KoineRunStatistics *statistics = &run->report->statistics;
    statistics->integration.root_evaluations = run->roots.evaluations;
    if (run->solver) {
        snprintf(statistics->solver, sizeof statistics->solver, "%s", run->solver->kind->name);
        run->solver->kind->statistics(run->solver, statistics);
    }
    koine_count_model(run, 1);
    const double evaluations = (double)(statistics->integration.evaluations + statistics->integration.root_evaluations);
    const double integration = run->report->end == KOINE_RUN_DONE
                                   ? evaluations * seconds_per_evaluation(run, statistics->integration.evaluations)
                                   : 0;
    const double points = koine_sample_total(&run->output.sample);
    statistics->model_seconds = fmin(integration + koine_sample_total(&run->instant.sample), statistics->total_seconds);
    statistics->solver_seconds = fmax(0, statistics->total_seconds - statistics->model_seconds - points);
}

static void destroy(KoineRun *run)
{
    if (run->solver)
        run->solver->kind->destroy(run->solver);
    koine_roots_destroy(run);
    koine_scales_destroy(run);
    if (run->problem.strategy->memory.destroy)
        run->problem.strategy->memory.destroy(run);
    free(run->crossing.x);
    free(run->signals.values);
    free(run->pause.block);
    free(run);
}

/* The model is told that the run is over, if it wants to know, and may still act. */
static KoineStatus tell_end(KoineRun *run)
{
    const KoineRunEnd end = run->report->end;
    const bool is_end = end == KOINE_RUN_TERMINATED || (end == KOINE_RUN_DONE && !run->options->goes_on);
    return is_end && run->tables->capabilities & KOINE_HAS_TERMINAL ? koine_instant(run, KOINE_AT_TERMINAL) : KOINE_OK;
}

/* The run has come to its end, whichever that is: the last point, and the state to continue from. */
void koine_finish(KoineRun *run, KoineStatus status)
{
    run->is_over = true;
    if (status >= 0 && run->pause.has_part) /* interrupted before it went on */
        status = koine_pause_stay(run);
    if (status >= 0 && record_early_end(run) >= 0) {
        settle(run);
        (void)tell_end(run); /* where it fails the report says so */
    }
    run->report->time = run->time;
}

/* CPU time of the calls is added up: the caller's own does not count. Where the last advance was short the clock on the
 * wall tells it: the system takes longer to say the CPU time than such an advance may last. */
static clockid_t clock_for(const KoineRun *run)
{
    return run->pause.was_short ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

static void count_seconds(KoineRun *run, double begun)
{
    static const double SHORT = 1e-4;
    const double seconds = koine_clock(clock_for(run)) - begun;
    run->report->statistics.total_seconds += seconds;
    run->pause.was_short = seconds < SHORT;
}

static KoineRun *create(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report)
{
    KoineRun *run = malloc(sizeof *run);
    *report = (KoineRunReport){ .end = KOINE_RUN_DONE, .fault = { .origin = -1, .variable = -1 } };
    model->fault = report->fault;
    if (!run) {
        report->end = KOINE_RUN_FAILED;
        report->fault.cause = KOINE_CAUSE_MEMORY;
        snprintf(report->text, sizeof report->text, "no memory for a run");
        return NULL;
    }
    *run = (KoineRun){ .model = model,
                       .kind = model->kind,
                       .tables = model->kind->tables,
                       .options = options,
                       .report = report,
                       .problem = { .strategy = &koine_time_continuous },
                       .instant = { .next_time = INFINITY },
                       .repeats = { .pulse = -INFINITY },
                       .crossing = { .before_time = NAN }, /* nothing lies before the start */
                       .output = { .evaluated_time = NAN, .skipped_time = NAN } };
    koine_count_model(run, -1);
    return run;
}

KoineRun *koine_run_open(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report)
{
    const double begun = koine_clock(CLOCK_THREAD_CPUTIME_ID);
    KoineRun *run = create(model, options, report);
    if (!run)
        return NULL;
    KoineStatus status = prepare(run);
    if (status >= 0)
        status = start(run);
    report->time = run->time;
    if (status < 0 || run->is_over || run->time >= run->problem.stop)
        koine_finish(run, status);
    count_seconds(run, begun);
    return run;
}

KoineRun *koine_run_reopen(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report,
                           const KoineSavedRun *saved, KoineRestored *restored)
{
    const double begun = koine_clock(CLOCK_THREAD_CPUTIME_ID);
    KoineRun *run = create(model, options, report);
    *restored = KOINE_RESTORED_NOT;
    if (!run)
        return NULL;
    const KoineStatus status = take_up(run, saved);
    if (status >= 0)
        *restored = koine_saved_is_exact(saved) ? KOINE_RESTORED_EXACTLY : KOINE_RESTORED_ANEW;
    else
        koine_finish(run, status);
    count_seconds(run, begun);
    return run;
}

bool koine_run_advance(KoineRun *run, double to)
{
    const double begun = koine_clock(clock_for(run)), stop = run->problem.stop;
    if (run->is_over)
        return false;
    const double until = isnan(to) ? run->time : koine_snap_nearest(run, to);
    if (run->pause.is_shown && until <= run->report->time)
        return true;
    koine_pause_resume(run);
    run->pause.until = until >= stop - koine_near(stop) ? INFINITY : until;
    KoineStatus status = go_on(run);
    const bool is_over = status < 0 || run->is_over || run->time >= stop;
    if (!is_over)
        status = koine_pause_show(run);
    if (is_over || status < 0)
        koine_finish(run, status);
    count_seconds(run, begun);
    return !run->is_over;
}

static void describe_end(const KoineModel *model, KoineRunReport *report)
{
    if (report->end == KOINE_RUN_TERMINATED) {
        report->fault.place = model->fault.place;
        snprintf(report->text, sizeof report->text, "the model ended the run at time %.17g", report->time);
    }
    if (report->end == KOINE_RUN_INTERRUPTED)
        snprintf(report->text, sizeof report->text, "interrupted at time %.17g", report->time);
}

KoineRunEnd koine_run_close(KoineRun *run)
{
    const double begun = koine_clock(clock_for(run));
    const KoineModel *model = run->model;
    KoineRunReport *report = run->report;
    if (!run->is_over) {
        report->end = KOINE_RUN_INTERRUPTED;
        koine_finish(run, koine_pause_stay(run));
    }
    koine_hold_end(run);
    koine_record_end(run);
    count_seconds(run, begun);
    if (report->end != KOINE_RUN_OPTIONS)
        fill_statistics(run);
    destroy(run);
    describe_end(model, report);
    return report->end;
}

KoineRunEnd koine_simulate(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report)
{
    KoineRun *run = koine_run_open(model, options, report);
    if (!run)
        return report->end;
    koine_run_advance(run, INFINITY);
    return koine_run_close(run);
}
