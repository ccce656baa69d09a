/* The instant: arrive, event steps until nothing is enabled, leave (2.4 of the semantics). */
#include "runtime/run.h"
#include "runtime/sample.h"
#include "runtime/support/time_rule.h"
#include <stdio.h>
#include <stdlib.h>

static const uint64_t SAMPLE = 1024;   /* one instant in so many is timed */
static const uint32_t MAX_GROWTH = 40; /* doublings of the block in one call */
enum { ALIGNMENT = 64, MANY_EVENTS = 250000 };

KoineStatus koine_grow(KoineRun *run)
{
    KoineModel *model = run->model;
    const uint64_t size = (2 * model->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *block = aligned_alloc(ALIGNMENT, size);
    if (!block)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for a model of %llu bytes", (unsigned long long)size);
    memcpy(block, model->block, model->size);
    memset(block + model->size, 0, size - model->size);
    free(model->block);
    model->block = block;
    model->size = size;
    return KOINE_OK;
}

/* commit and leave: call again with a larger block as long as they ask for one. */
static KoineStatus finish_call(KoineRun *run, KoineStatus (*call)(KoineModel *, KoineOutcome *), KoineStatus status)
{
    for (uint32_t k = 0; status == KOINE_GROW && k < MAX_GROWTH; k++) {
        TRY(koine_grow(run));
        status = call(run->model, &run->instant.outcome);
    }
    return status == KOINE_OK ? KOINE_OK : koine_model_failed(run, status, "event step");
}

static KoineStatus too_many_steps(KoineRun *run)
{
    return koine_fail_by(run, KOINE_CAUSE_EVENT_STEPS,
                         "more than %u event steps at one time (%s): some transition stays enabled for ever",
                         (unsigned)run->instant.max_steps, koine_control_names.max_event_steps);
}

static KoineStatus event_steps(KoineRun *run)
{
    KoineModel *model = run->model;
    const KoineModelKind *kind = run->kind;
    KoineOutcome *outcome = &run->instant.outcome;
    for (uint32_t n = 0;; n++) {
        outcome->flags = 0;
        KoineStatus status = kind->step(model, outcome);
        if (status != KOINE_OK)
            return koine_model_failed(run, status, "event step");
        if (!(outcome->flags & KOINE_COMMIT))
            break;
        if (n > run->instant.max_steps) /* a model with a limit of its own says more about it, at the limit */
            return too_many_steps(run);
        if (run->output.wants_event_steps)
            TRY(koine_record(run, run->time, n, KOINE_POINT_STEP));
        status = kind->commit(model, outcome);
        if (status != KOINE_OK)
            TRY(finish_call(run, kind->commit, status));
        run->report->statistics.events.event_steps++;
    }
    return KOINE_OK;
}

/* A time event that was found by a search may lie just behind the last point of the branch. */
static double before_event(const KoineRun *run, unsigned cause)
{
    return cause & KOINE_AT_ROOTS || !isnan(run->crossing.before_time) ? run->roots.left
                                                                       : run->time - 64 * koine_ulp(run->time);
}

/* Left limits with the bits frozen. Where the branch cannot be evaluated at the crossing itself, the last point
 * before it has to stand for them. */
static KoineStatus record_left(KoineRun *run, unsigned cause)
{
    const int kind = cause & KOINE_AT_START  ? KOINE_POINT_START
                     : cause & KOINE_AT_STOP ? KOINE_POINT_STOP
                                             : KOINE_POINT_LEFT;
    const bool is_across =
        run->problem.strategy->keeps_left && !isnan(run->crossing.before_time) && kind == KOINE_POINT_LEFT;
    KoineStatus status = is_across ? KOINE_RETRY : koine_record(run, run->time, 0, kind);
    if (status > 0 && !(cause & KOINE_AT_START) &&
        (cause & (KOINE_AT_ROOTS | KOINE_AT_TIME) || !isnan(run->crossing.before_time))) {
        const double left = before_event(run, cause);
        TRY(left == run->roots.left ? koine_place_left(run) : koine_place(run, left));
        status = koine_record(run, left, 0, kind);
        TRY(koine_place(run, run->time));
    }
    return status > 0 ? koine_model_failed(run, status,
                                           cause & KOINE_AT_START ? "computing the values at the start"
                                                                  : "computing the values before an event")
                      : status;
}

/* The first point of a continued run holds what the first instant makes of the values found. */
static KoineStatus record_right(KoineRun *run, unsigned cause)
{
    const int kind = cause & KOINE_AT_CONTINUE             ? KOINE_POINT_START
                     : run->instant.outcome.event_step > 0 ? KOINE_POINT_RIGHT
                                                           : KOINE_POINT_REGION;
    const KoineStatus status = koine_record(run, run->time, run->instant.outcome.event_step, kind);
    return status > 0 ? koine_model_failed(run, status, "computing the values after an event") : status;
}

/* Rows at events can be far more than those of the output grid. */
static void warn_of_rows(const KoineRun *run)
{
    const KoineHost *host = run->model->host;
    bool keeps_events = false;
    for (uint32_t k = 0; k < run->options->n_sinks; k++)
        keeps_events |= !run->options->sinks[k]->skips_events;
    if (!host || !host->message || !keeps_events)
        return;
    char text[256];
    snprintf(
        text, sizeof text,
        "%llu time events up to time %.9g, each with two rows of the result; without rows at events it stays small "
        "(event-rows: off)",
        (unsigned long long)run->report->statistics.events.time_events, run->time);
    host->message(host->context, run->model, KOINE_MESSAGE_WARNING, text);
}

static void count(KoineRun *run, unsigned cause)
{
    KoineRunStatistics *statistics = &run->report->statistics;
    statistics->events.instants++;
    ++statistics->events.by_event_steps[koine_bucket(run->instant.outcome.event_step)];
    statistics->events.state_events += (cause & KOINE_AT_ROOTS) != 0;
    statistics->events.time_events += (cause & KOINE_AT_TIME) != 0;
    if (cause & KOINE_AT_TIME && statistics->events.time_events == MANY_EVENTS)
        warn_of_rows(run);
}

KoineStatus koine_instant(KoineRun *run, unsigned cause)
{
    KoineModel *model = run->model;
    const KoineArrival arrival = {
        .time = run->time,
        .x = run->tables->n_x ? koine_states(model) : NULL,
        .cause = cause | (run->time + koine_near(run->time) >= run->problem.stop ? KOINE_AT_STOP : 0u),
        .crossed = run->roots.crossed,
        .entry = run->pause.outside.entry,
        .changes = run->pause.outside.changes,
        .n_changes = run->pause.outside.n_changes,
    };
    const bool records =
        run->options->n_sinks > 0 && (!koine_is_chatter(run, cause) || koine_is_on_grid(run, run->time));
    const double begun = koine_sample_begin(&run->instant.sample, SAMPLE);
    if (records && cause != KOINE_AT_STEP && !(cause & (KOINE_AT_CONTINUE | KOINE_AT_TERMINAL)))
        TRY(record_left(run, cause));
    run->instant.outcome = (KoineOutcome){ .next_time = INFINITY };
    KoineStatus status = run->kind->arrive(model, &arrival);
    if (status != KOINE_OK)
        return koine_model_failed(run, status, "arriving at an event");
    TRY(event_steps(run));
    run->instant.outcome.flags = 0;
    status = run->kind->leave(model, &run->instant.outcome);
    if (status != KOINE_OK)
        TRY(finish_call(run, run->kind->leave, status));
    run->signals.sampled_time = run->time;
    koine_sample_end(&run->instant.sample, begun);
    run->instant.next_time = run->instant.outcome.next_time;
    run->roots.time = NAN;
    run->roots.is_between = false;
    run->instant.is_fresh = true;
    run->instant.was_crossing = (cause & KOINE_AT_ROOTS) != 0;
    count(run, cause);
    if (records && (run->instant.outcome.flags & KOINE_CHANGED || cause & KOINE_AT_CONTINUE))
        TRY(record_right(run, cause));
    if (run->output.grid_time < INFINITY || records)
        koine_record_skip(run, run->time);
    const bool is_watched = run->problem.strategy->watch && !(cause & (KOINE_AT_INPUT | KOINE_AT_ENTRY));
    return is_watched ? run->problem.strategy->watch(run, cause) : KOINE_OK;
}

static void tell_step(KoineRun *run)
{
    const KoineIntegrationStep step = { run->output.stepped_time, run->time, run->solver ? run->solver->error : 0 };
    run->output.stepped_time = run->time;
    run->options->listener.stepped(run->options->listener.context, run->model, &step);
}

static KoineStatus accept_point(KoineRun *run, KoineOutcome *outcome)
{
    KoineModel *model = run->model;
    KoineStatus status = run->kind->accept(model, run->time, koine_states(model), outcome);
    for (uint32_t k = 0; status == KOINE_GROW && k < MAX_GROWTH; k++) {
        TRY(koine_grow(run));
        status = run->kind->accept(model, run->time, koine_states(model), outcome);
    }
    if (status != KOINE_OK)
        return koine_model_failed(run, status, "accepting a step");
    return run->tables->n_signals ? koine_signals_sample(run) : KOINE_OK;
}

static void take_outcome(KoineRun *run, const KoineOutcome *outcome, unsigned *cause)
{
    if (outcome->flags & KOINE_COMMIT)
        *cause |= KOINE_AT_STEP;
    if (outcome->flags & KOINE_TERMINATE) {
        run->is_over = true;
        run->report->end = KOINE_RUN_TERMINATED;
    }
}

KoineStatus koine_accept_quietly(KoineRun *run, unsigned *cause)
{
    KoineOutcome outcome = { .next_time = INFINITY };
    TRY(accept_point(run, &outcome));
    take_outcome(run, &outcome, cause);
    return KOINE_OK;
}

KoineStatus koine_accept(KoineRun *run, unsigned *cause)
{
    KoineOutcome outcome = { .next_time = INFINITY };
    TRY(accept_point(run, &outcome));
    if (run->options->listener.stepped)
        tell_step(run);
    take_outcome(run, &outcome, cause);
    return KOINE_OK;
}
