#include "experiment/complete.h"
#include "koine/simulate.h"
#include <string.h>

static const double MOST_POINTS = 1e10; /* of the output grid: 80 GB for each variable */

static bool is_solver(const char *name)
{
    for (uint32_t k = 0; koine_solver_name(k); k++)
        if (strcmp(koine_solver_name(k), name) == 0)
            return true;
    return false;
}

static void check_solver(const char *solver, Span span, Arena *arena, Diag *diag)
{
    if (!solver || is_solver(solver))
        return;
    Text list = { .arena = arena };
    for (uint32_t k = 0; koine_solver_name(k); k++)
        text_format(&list, "%s%s", k ? ", " : "", koine_solver_name(k));
    diag_error(diag, DIAG_EXPERIMENT_VALUE, span, "there is no solver '%s'", solver);
    diag_help(diag, "one of: %s", list.at);
}

void experiment_stop_with_phases(Experiment *e)
{
    const ExperimentPhase *last = e->n_phases ? &e->phases[e->n_phases - 1] : NULL;
    if (e->has[EXPERIMENT_STOP] || !last || !last->has[EXPERIMENT_STOP])
        return;
    e->has[EXPERIMENT_STOP] = true;
    e->spans[EXPERIMENT_STOP] = last->spans[EXPERIMENT_STOP];
    e->part.stop = last->part.stop;
}

/* A steady state is one point, unless a stop time is given. */
static void stop_with_task(Experiment *e)
{
    if (e->has[EXPERIMENT_STOP] || !e->has[EXPERIMENT_TASK] || strncmp(e->how.task, "steady", 6) != 0)
        return;
    e->has[EXPERIMENT_STOP] = true;
    e->part.stop = e->has[EXPERIMENT_START] ? e->begin.start : 0;
}

static void check_times(const Experiment *e, Diag *diag)
{
    if (!e->has[EXPERIMENT_STOP]) {
        diag_error(diag, DIAG_NO_STOP, SPAN_NONE, "there is no stop time");
        diag_help(diag, "give one with --stop, or 'stop:' in an experiment file beside the model");
        return;
    }
    if (!experiment_check(e, diag))
        return;
    const double span = e->part.stop - (e->has[EXPERIMENT_START] ? e->begin.start : 0);
    if (!(span - span == 0)) {
        diag_error(diag, DIAG_EXPERIMENT_VALUE, e->spans[EXPERIMENT_STOP],
                   "from the start to the stop time is further than numbers reach");
    } else if (e->has[EXPERIMENT_INTERVAL] && span / e->results.interval > MOST_POINTS) {
        diag_error(diag, DIAG_TOO_MANY_POINTS, e->spans[EXPERIMENT_INTERVAL],
                   "the interval would give %.3g points; at most %g are possible", span / e->results.interval,
                   MOST_POINTS);
        diag_help(diag, "choose a larger interval or an earlier stop");
    }
}

/* Without a start time the run goes on at the time of the earlier result. */
static void read_start(Experiment *e, StartState *start, Arena *arena, Diag *diag)
{
    if (!e->has[EXPERIMENT_START_FROM]) {
        if (e->has[EXPERIMENT_START_FROM_TIME])
            diag_error(diag, DIAG_START_STATE, e->spans[EXPERIMENT_START_FROM_TIME],
                       "'start-from-time' needs 'start-from', the result that it means");
        return;
    }
    if (!start_read(e, arena, diag, start) || e->has[EXPERIMENT_START])
        return;
    e->has[EXPERIMENT_START] = true;
    e->spans[EXPERIMENT_START] = e->spans[EXPERIMENT_START_FROM];
    e->begin.start = start->time;
}

bool experiment_complete(Experiment *experiment, StartState *start, Arena *arena, Diag *diag)
{
    const uint32_t before = diag_errors(diag);
    check_solver(experiment->part.solver, experiment->spans[EXPERIMENT_SOLVER], arena, diag);
    for (uint32_t k = 0; k < experiment->n_phases; k++) {
        const ExperimentPhase *phase = &experiment->phases[k];
        check_solver(phase->part.solver, phase->spans[EXPERIMENT_SOLVER], arena, diag);
    }
    read_start(experiment, start, arena, diag);
    experiment_stop_with_phases(experiment);
    stop_with_task(experiment);
    check_times(experiment, diag);
    return diag_errors(diag) == before;
}

bool experiment_lead(Experiment *experiment, const char *at, bool is_steady, StartState *start, Arena *arena,
                     Diag *diag)
{
    if (at && !experiment_give(experiment, "stop", at, arena, diag))
        return false;
    if (!at) {
        experiment->has[EXPERIMENT_STOP] = true;
        experiment->part.stop = experiment->has[EXPERIMENT_START] ? experiment->begin.start : 0;
        experiment->n_phases = 0;
    }
    if (is_steady && !experiment_give(experiment, "task", "start steady", arena, diag))
        return false;
    experiment->results.n_observers = 0;
    experiment->has[EXPERIMENT_PROTOCOL] = false;
    experiment->results.protocol = NULL;
    return experiment_complete(experiment, start, arena, diag);
}
