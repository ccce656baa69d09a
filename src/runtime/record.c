/* What sinks receive. Before a point is handed out the outputs are evaluated in place, so that every slot is valid. */
#include "runtime/run.h"
#include "runtime/sample.h"

static const uint64_t SAMPLE = 64;      /* one point in so many is timed */
static const double SHORTEST = 0x1p-30; /* of the way between two points */

static KoineStatus sink_failed(KoineRun *run, const KoineSink *sink)
{
    return koine_fail(run, KOINE_RUN_SINK, "results cannot be written: %s",
                      sink->error[0] ? sink->error : "the sink does not say why");
}

/* The earliest time at which someone wants a point, or the first time of instants not before it. */
static void choose_grid_time(KoineRun *run)
{
    run->output.next_time = run->output.grid_time;
    for (uint32_t k = 0; run->output.has_own_grids && k < run->options->n_sinks; k++) {
        const KoineSink *sink = run->options->sinks[k];
        if (sink->has_own_grid)
            run->output.next_time = koine_min(run->output.next_time, koine_snap_up(run, sink->next_time));
    }
}

static void tell(const KoineRun *run, KoineRecording what, double time)
{
    if (run->options->listener.recording)
        run->options->listener.recording(run->options->listener.context, what, time);
}

static KoineStatus begin_sinks(KoineRun *run)
{
    for (uint32_t k = 0; k < run->options->n_sinks; k++) {
        KoineSink *sink = run->options->sinks[k];
        run->output.n_begun = k + 1;
        run->output.wants_event_steps = run->output.wants_event_steps || sink->wants_event_steps;
        run->output.has_own_grids = run->output.has_own_grids || sink->has_own_grid;
        if (sink->begin && sink->begin(sink, run->model) < 0)
            return sink_failed(run, sink);
    }
    return KOINE_OK;
}

KoineStatus koine_record_begin(KoineRun *run)
{
    tell(run, KOINE_RECORDING_BEGIN, run->time);
    const KoineStatus status = begin_sinks(run);
    tell(run, KOINE_RECORDING_REST, run->time);
    choose_grid_time(run);
    return status;
}

/* Every sink is ended, whatever the others say. */
KoineStatus koine_record_end(KoineRun *run)
{
    KoineStatus status = KOINE_OK;
    tell(run, KOINE_RECORDING_END, run->time);
    for (uint32_t k = 0; k < run->output.n_begun; k++) {
        KoineSink *sink = run->options->sinks[k];
        if (sink->end && sink->end(sink, run->model) < 0 && run->report->end == KOINE_RUN_DONE)
            status = sink_failed(run, sink);
    }
    tell(run, KOINE_RECORDING_REST, run->time);
    run->output.n_begun = 0;
    return status;
}

static KoineStatus evaluate_outputs(KoineRun *run, double time)
{
    KoineModel *model = run->model;
    const KoineEvaluation at = {
        .time = time,
        .x = run->tables->n_x ? koine_states(model) : NULL,
        .want = KOINE_WANT_OUTPUTS | (run->tables->n_x ? KOINE_WANT_DER : 0),
        .der = run->tables->n_x ? koine_slopes(model) : NULL,
    };
    return run->kind->evaluate(model, &at);
}

/* Without states no step of a solver becomes smaller where the solution of a system cannot be followed: here it does,
 * from the last point on. *time becomes the time that was reached, or could not be. */
static KoineStatus follow_outputs(KoineRun *run, double *time)
{
    const double end = *time, from = run->output.evaluated_time, least = SHORTEST * (end - from);
    double at = from, step = 0.5 * (end - from);
    KoineStatus status = KOINE_RETRY;
    while (at < end && step >= least && status >= 0) {
        *time = at + step < end ? at + step : end;
        *koine_time(run->model) = *time;
        status = evaluate_outputs(run, *time);
        step = status == KOINE_OK ? 2 * step : 0.5 * step;
        at = status == KOINE_OK ? *time : at;
    }
    return status;
}

static KoineStatus evaluate_point(KoineRun *run, double *time)
{
    KoineStatus status = evaluate_outputs(run, *time);
    if (status > 0 && run->tables->n_x == 0 && run->output.evaluated_time < *time)
        status = follow_outputs(run, time);
    if (status == KOINE_OK)
        run->output.evaluated_time = *time;
    return status;
}

KoineStatus koine_evaluate_here(KoineRun *run, double time)
{
    const double evaluated = run->output.evaluated_time;
    *koine_time(run->model) = time;
    const KoineStatus status = evaluate_point(run, &time);
    run->output.evaluated_time = evaluated;
    return status;
}

bool koine_is_on_grid(const KoineRun *run, double time)
{
    const double near = koine_near(time);
    return time >= run->output.grid_time - near || time <= run->problem.start + near ||
           time >= run->problem.stop - near;
}

/* Instants are for all who do not skip them; other points for who asked for them. The event that ends a run is the
 * last point of those that skipped it. */
static bool is_wanted(KoineRun *run, const KoineSink *sink, const KoinePoint *point)
{
    const bool is_event = point->kind == KOINE_POINT_LEFT || point->kind == KOINE_POINT_RIGHT ||
                          point->kind == KOINE_POINT_REGION || point->kind == KOINE_POINT_STEP;
    if (is_event && sink->skips_events && !koine_is_on_grid(run, point->time)) {
        run->output.skipped_time = point->time;
        return false;
    }
    if (point->kind == KOINE_POINT_STOP && run->report->end == KOINE_RUN_TERMINATED)
        return sink->skips_events;
    if (point->kind == KOINE_POINT_STEP)
        return sink->wants_event_steps;
    if (point->kind == KOINE_POINT_GRID && run->output.has_own_grids)
        return (sink->has_own_grid ? sink->next_time : run->output.grid_time) <= point->time;
    return true;
}

static KoineStatus hand_out(KoineRun *run, const KoinePoint *point)
{
    bool is_taken = false;
    for (uint32_t k = 0; k < run->options->n_sinks; k++) {
        KoineSink *sink = run->options->sinks[k];
        if (!is_wanted(run, sink, point))
            continue;
        is_taken = true;
        if (sink->point(sink, run->model, point) < 0)
            return sink_failed(run, sink);
    }
    run->report->statistics.events.points += is_taken;
    return KOINE_OK;
}

KoineStatus koine_record(KoineRun *run, double time, uint32_t event_step, int kind)
{
    if (run->options->n_sinks == 0)
        return KOINE_OK;
    const KoinePoint point = { .time = time, .event_step = event_step, .kind = kind };
    const double begun = koine_sample_begin(&run->output.sample, SAMPLE);
    *koine_time(run->model) = time;
    KoineStatus status = evaluate_point(run, &time);
    if (status != KOINE_OK)
        run->time = time; /* not as far as the steps are: the message tells where it failed */
    if (status < 0)
        return koine_model_failed(run, status, "computing the values of an output point");
    if (status != KOINE_OK)
        return status;
    tell(run, KOINE_RECORDING_POINT, time);
    status = hand_out(run, &point);
    tell(run, KOINE_RECORDING_REST, time);
    koine_sample_end(&run->output.sample, begun);
    return status;
}

static void next_grid_point(KoineRun *run)
{
    run->output.grid_time =
        koine_snap_nearest(run, run->problem.start + (double)++run->output.number * run->output.interval);
}

double koine_record_next(const KoineRun *run, double time)
{
    double next = run->output.grid_time;
    if (next <= time) {
        const double number = floor((time - run->problem.start) / run->output.interval) + 1;
        next = koine_snap_nearest(run, run->problem.start + number * run->output.interval);
        if (next <= time) /* by rounding */
            next = koine_snap_nearest(run, run->problem.start + (number + 1) * run->output.interval);
    }
    for (uint32_t k = 0; run->output.has_own_grids && k < run->options->n_sinks; k++) {
        const KoineSink *sink = run->options->sinks[k];
        const double own = sink->has_own_grid ? koine_snap_up(run, sink->next_time) : INFINITY;
        next = own > time ? koine_min(next, own) : next;
    }
    return next;
}

void koine_record_from_here(KoineRun *run)
{
    if (run->output.grid_time == INFINITY)
        return;
    const double n = floor((run->time - run->problem.start) / run->output.interval) - 1;
    run->output.number = n > 0 && n < 0x1p62 ? (uint64_t)n : 0;
    koine_record_skip(run, run->time);
}

/* The other run may have had no sinks, or this one has none. */
void koine_record_restored(KoineRun *run)
{
    KoineOutput *output = &run->output;
    const double time = run->report->time, n = floor((time - run->problem.start) / output->interval) - 1;
    if (run->options->n_sinks == 0 && !run->problem.strategy->meets_points) {
        output->grid_time = INFINITY;
    } else if (output->grid_time == INFINITY) {
        output->grid_time = run->problem.start;
        output->number = n > 0 && n < 0x1p62 ? (uint64_t)n : 0;
        koine_record_skip(run, time);
    }
    choose_grid_time(run);
}

KoineStatus koine_record_grid(KoineRun *run, double to, bool instant_follows)
{
    while (instant_follows ? run->output.next_time < to - koine_near(to) : run->output.next_time <= to) {
        TRY(koine_place(run, run->output.next_time));
        const KoineStatus status = koine_record(run, run->output.next_time, 0, KOINE_POINT_GRID);
        if (status > 0)
            return koine_model_failed(run, status, "computing the values of an output point");
        TRY(status);
        if (run->problem.strategy->looks_between && koine_run_interrupted(run)) { /* here, not where the step ends */
            run->time = run->output.next_time;
            return KOINE_OK;
        }
        if (run->output.grid_time <= run->output.next_time)
            next_grid_point(run);
        choose_grid_time(run);
    }
    return KOINE_OK;
}

/* A sink with a grid of its own has seen the instant and moved on. */
void koine_record_skip(KoineRun *run, double time)
{
    const double end = time + koine_near(time);
    if (!(run->output.interval > koine_ulp(end))) /* finer than the time itself: only instants have points */
        run->output.grid_time = INFINITY;
    while (run->output.grid_time <= end)
        next_grid_point(run);
    choose_grid_time(run);
}
