/* Integration up to the next event (2.3 of the semantics). */
#include "runtime/run.h"

static const uint32_t QUIET_EVENTS = 4; /* time events without restart, after which steps pass over them */
static const uint32_t PROGRESS = 256;   /* steps between two calls of progress */

KoineStatus koine_place(KoineRun *run, double time)
{
    KoineSolver *solver = run->solver;
    if (solver && solver->placed == time)
        return KOINE_OK;
    if (solver && run->tables->n_x) {
        double *x = koine_states(run->model);
        if (time >= solver->time) /* by at most 16 ulp */
            memcpy(x, solver->x, run->tables->n_x * sizeof *x);
        else if (solver->kind->interpolate(solver, time, x) != KOINE_OK)
            return koine_solver_failed(run);
        solver->placed = time;
    }
    *koine_time(run->model) = time;
    return KOINE_OK;
}

KoineStatus koine_place_left(KoineRun *run)
{
    if (run->roots.left != run->crossing.before_time)
        return koine_place(run, run->roots.left);
    memcpy(koine_states(run->model), run->crossing.before, run->tables->n_x * sizeof *run->crossing.before);
    *koine_time(run->model) = run->crossing.before_time;
    run->solver->placed = NAN;
    return KOINE_OK;
}

bool koine_run_interrupted(KoineRun *run)
{
    if (!run->options->listener.interrupt || !*run->options->listener.interrupt)
        return false;
    run->report->end = KOINE_RUN_INTERRUPTED;
    run->is_over = true;
    return true;
}

static KoineStatus tell_progress(KoineRun *run)
{
    if (--run->output.countdown > 0)
        return KOINE_OK;
    run->output.countdown = PROGRESS;
    if (run->options->listener.progress)
        run->options->listener.progress(run->options->listener.context, run->time);
    return run->solver ? koine_watch_tries(run) : KOINE_OK;
}

/* --- The steps --- */

/* Where the solver has to stop. Time events that never disturb it are passed over and served by interpolation. */
static double limit(const KoineRun *run, double goal)
{
    const KoineSolverKind *kind = run->solver->kind;
    if (run->problem.strategy->ends_at_points(kind) && run->output.next_time > run->time &&
        run->output.next_time < goal - koine_near(goal))
        return run->output.next_time;
    return run->instant.quiet >= QUIET_EVENTS && !kind->never_passes && !run->tables->n_signals ? run->problem.stop
                                                                                                : goal;
}

/* A solver that finds no step short enough begins again: with other tolerances where these can be mended, or once with
 * the ones it has, because what it remembers of the steps before may be what misleads it. */
static KoineStatus advance_or_mend(KoineRun *run, double end)
{
    KoineSolver *solver = run->solver;
    const KoineStatus status = solver->kind->advance(solver, end);
    if (status >= 0 || !run->problem.text[0] || run->tables->n_x == 0 || koine_run_interrupted(run))
        return status;
    if (!koine_scales_mend(run) && run->repeats.renewed_time == solver->time)
        return status;
    run->repeats.renewed_time = solver->time;
    run->problem.text[0] = '\0';
    memcpy(run->crossing.x, solver->x, run->tables->n_x * sizeof *run->crossing.x);
    TRY(solver->kind->restart(solver, solver->time, run->crossing.x));
    return solver->kind->advance(solver, end);
}

/* A solver step, made again with a shorter one where it has passed over a pulse. */
static KoineStatus advance_solver(KoineRun *run, double goal, double *end)
{
    bool is_undone;
    do {
        *end = limit(run, goal);
        if (run->repeats.pulse - run->solver->time > koine_near(run->repeats.pulse) && run->repeats.pulse < *end)
            *end = run->repeats.pulse;
        const KoineStatus status = advance_or_mend(run, *end);
        if (status != KOINE_OK)
            return status;
        if (!run->repeats.has_sources)
            return KOINE_OK;
        TRY(koine_pulses_check(run, &is_undone));
    } while (is_undone);
    return KOINE_OK;
}

/* How far the last step takes the run. */
static double reach(const KoineRun *run, double goal)
{
    return koine_snap(run, koine_min(run->solver->time, goal));
}

KoineStatus koine_begin_at_event(KoineRun *run, double to)
{
    return run->solver->kind->restart(run->solver, to, run->crossing.x) < 0 ? koine_solver_failed(run) : KOINE_OK;
}

KoineStatus koine_shorten(KoineRun *run, double *to, bool *is_event)
{
    KoineSolver *solver = run->solver;
    if (!solver->kind->shorten || *to == solver->time)
        return KOINE_OK;
    TRY(koine_place(run, *to));
    memcpy(run->crossing.x, koine_states(run->model), run->tables->n_x * sizeof *run->crossing.x);
    const KoineStatus status = solver->kind->shorten(solver, *to);
    if (status < 0)
        return koine_solver_failed(run);
    if (status > 0) /* it cannot be evaluated on the way: keep the interpolated state */
        return koine_begin_at_event(run, *to);
    if (*is_event && run->problem.strategy->confirm)
        return run->problem.strategy->confirm(run, to, is_event);
    return KOINE_OK;
}

/* A root function has no value beyond roots.left: go there, then on as from any point that cannot be evaluated. */
static KoineStatus stop_at_blind_spot(KoineRun *run, double goal, unsigned *cause)
{
    const double to = run->roots.left;
    TRY(koine_record_grid(run, to, false));
    TRY(koine_place(run, to));
    memcpy(run->crossing.x, koine_states(run->model), run->tables->n_x * sizeof *run->crossing.x);
    TRY(run->solver->kind->restart(run->solver, to, run->crossing.x));
    run->time = to;
    koine_keep(run);
    return run->problem.strategy->cross(run, goal, cause);
}

/* Two events in one step: the model must see an accepted point between them, where it takes its hysteresis bands
 * back (S5). Then *to is that point, and the second event is looked for again. */
static bool is_seen_between(KoineRun *run, double *to)
{
    const double between = koine_snap(run, koine_min(run->time + 0.5 * (*to - run->time), run->roots.left));
    if (!run->instant.is_fresh || *to - run->time < 64 * koine_ulp(*to) || between <= run->time)
        return false;
    *to = between;
    run->roots.time = NAN;
    run->roots.is_between = true;
    return true;
}

static void count_cut(KoineRun *run, double goal, double end)
{
    KoineRunStatistics *statistics = &run->report->statistics;
    if (run->solver->time != end)
        return;
    if (end == run->instant.next_time)
        statistics->integration.steps_cut_at_times++;
    else if (end < goal)
        statistics->integration.steps_cut_at_outputs++;
}

/* One solver step, unless an event left over some of the last one. */
static KoineStatus step(KoineRun *run, double goal, double *to, unsigned *cause)
{
    *to = reach(run, goal);
    if (*to > run->time)
        return KOINE_OK;
    TRY(run->problem.strategy->begin_step(run, goal, cause));
    if (*cause)
        return KOINE_OK;
    double end;
    const KoineStatus status = advance_solver(run, goal, &end);
    if (status < 0 && koine_run_interrupted(run)) /* it gave up because of that; *to is where the run is */
        return KOINE_OK;
    if (status != KOINE_OK)
        return status > 0 ? run->problem.strategy->cross(run, goal, cause) : koine_solver_failed(run);
    count_cut(run, goal, end);
    TRY(koine_scales_step(run));
    if (run->problem.strategy->learns_from_trials)
        koine_scales_accept(run, run->solver->x);
    *to = reach(run, goal);
    return KOINE_OK;
}

/* The first event in (run->time, *to]. *is_done: the step is made again, or the run has got over the event already. */
static KoineStatus find_event(KoineRun *run, double goal, double *to, unsigned *cause, bool *is_event, bool *is_done)
{
    const KoineTimeStrategy *strategy = run->problem.strategy;
    TRY(koine_roots_refresh(run));
    const KoineStatus status = koine_roots_scan(run, to, is_event);
    TRY(status);
    if (status != KOINE_OK) {
        *is_done = true;
        return stop_at_blind_spot(run, goal, cause);
    }
    if (*is_event && strategy->doubt)
        TRY(strategy->doubt(run, *to, is_done));
    if (*is_done)
        return KOINE_OK;
    if (*is_event)
        *is_event = !is_seen_between(run, to);
    if (*is_event && strategy->cross_region)
        return strategy->cross_region(run, goal, cause, is_done);
    if (run->roots.n_held && !*is_event)
        koine_hold_release(run);
    return KOINE_OK;
}

/* One step of the solver, or what an event left over of the last one: *to is how far it is good, and whether an event
 * is there. *is_done: the run has got over it in some other way, or it is made again. */
static KoineStatus make_part(KoineRun *run, double *to, unsigned *cause, bool *is_event, bool *is_done)
{
    const double before = run->time, goal = run->pause.goal;
    TRY(step(run, goal, to, cause));
    *is_done = *to <= run->time || run->time > before; /* not yet at a time of instants, or an Euler step was made */
    return run->roots.n && !*is_done ? find_event(run, goal, to, cause, is_event, is_done) : KOINE_OK;
}

/* The part of a step up to `to` becomes the run's past. */
static KoineStatus take_part(KoineRun *run, double to, bool is_event, unsigned *cause)
{
    if (run->output.next_time <= to)
        TRY(koine_record_grid(run, to, is_event || to >= run->pause.goal));
    if (run->is_over)
        return KOINE_OK;
    if (is_event) {
        run->report->statistics.integration.steps_cut_at_crossings += to < run->solver->time;
        TRY(koine_shorten(run, &to, &is_event));
        if (is_event)
            *cause |= KOINE_AT_ROOTS;
        else
            TRY(koine_record_grid(run, to, false));
    }
    TRY(koine_place(run, to));
    run->time = to;
    run->instant.is_fresh = false;
    koine_keep(run);
    if (!run->problem.strategy->learns_from_trials)
        koine_scales_accept(run, koine_states(run->model));
    TRY(koine_accept(run, cause));
    if (run->roots.is_between) /* the step ends at the event: else the event would wait for a step for ever */
        *cause &= ~(unsigned)KOINE_AT_STEP;
    return KOINE_OK;
}

static KoineStatus advance_once(KoineRun *run, unsigned *cause)
{
    double to = run->pause.part_end;
    bool is_event = run->pause.is_event, is_done = false;
    if (!run->pause.has_part) {
        is_event = false;
        TRY(make_part(run, &to, cause, &is_event, &is_done));
    }
    run->pause.has_part = false;
    if (is_done)
        return KOINE_OK;
    if (koine_pauses_before(run, to, is_event || to >= run->pause.goal))
        return koine_pause_in_part(run, to, is_event);
    return take_part(run, to, is_event, cause);
}

/* Nothing moves: the time goes to the goal at once. */
static KoineStatus jump(KoineRun *run)
{
    const double goal = run->pause.goal;
    run->pause.has_part = false;
    if (koine_pauses_before(run, goal, true))
        return koine_pause_in_part(run, goal, false);
    if (run->output.next_time <= goal)
        TRY(koine_record_grid(run, goal, true));
    if (!run->is_over)
        run->time = *koine_time(run->model) = goal;
    return KOINE_OK;
}

/* The goal is new. *is_done: it is reached already. */
static KoineStatus begin(KoineRun *run, bool *is_done)
{
    const double goal = run->pause.goal;
    TRY(tell_progress(run));
    run->crossing.before_time = NAN;
    run->pause.is_integrating = true;
    if (!run->solver)
        return KOINE_OK;
    if (goal - run->time <= koine_near(goal)) { /* one instant, not two: there is nothing to integrate (S7) */
        run->time = goal;
        *is_done = true;
        return koine_place(run, goal);
    }
    koine_keep(run);
    return KOINE_OK;
}

/* There is still something to integrate, and the run need not wait. */
static bool goes_on(const KoineRun *run, unsigned cause)
{
    return run->time < run->pause.goal && !cause && !run->is_over && !run->pause.has_part &&
           run->time < run->pause.until;
}

KoineStatus koine_advance(KoineRun *run, unsigned *cause)
{
    bool is_done = false;
    *cause = 0;
    if (koine_run_interrupted(run))
        return KOINE_OK;
    if (!run->pause.is_integrating)
        TRY(begin(run, &is_done));
    if (!run->solver)
        TRY(jump(run));
    else if (!is_done)
        do {
            TRY(advance_once(run, cause));
            TRY(tell_progress(run));
            if (run->pause.has_part || koine_run_interrupted(run))
                break;
        } while (goes_on(run, *cause));
    run->pause.is_integrating = run->time < run->pause.goal && !*cause && !run->is_over;
    return KOINE_OK;
}
