/* Integration up to the next event (2.3 of the semantics). */
#include "runtime/run.h"

static const uint32_t QUIET_EVENTS = 4; /* time events without restart, after which steps pass over them */
static const uint32_t PROGRESS = 256;   /* steps between two calls of progress */

KoineStatus koine_place(KoineRun *run, double time)
{
    KoineSolver *const solver = run->solver;
    if (solver && solver->placed == time)
        return KOINE_OK;
    if (solver && run->tables->n_x) {
        double *const x = koine_states(run->model);
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
    if (run->roots.left != run->before_time)
        return koine_place(run, run->roots.left);
    memcpy(koine_states(run->model), run->before, run->tables->n_x * sizeof *run->before);
    *koine_time(run->model) = run->before_time;
    run->solver->placed = NAN;
    return KOINE_OK;
}

bool koine_run_interrupted(KoineRun *run)
{
    if (!run->options->interrupt || !*run->options->interrupt)
        return false;
    run->report->end = KOINE_RUN_INTERRUPTED;
    run->is_over = true;
    return true;
}

static void tell_progress(KoineRun *run)
{
    if (--run->countdown > 0)
        return;
    run->countdown = PROGRESS;
    if (run->options->progress)
        run->options->progress(run->options->progress_context, run->time);
}

/* --- Crossing a point that cannot be evaluated --- */

enum { FAULT_TRIES = 8 }; /* tenfold steps beyond the last good point */

/* Evaluate just beyond the last good point by the checked way, so that the fault names what failed. */
static KoineStatus name_fault(KoineRun *run, double h)
{
    const size_t n = run->tables->n_x;
    double *const x = run->crossing;
    const double *const slope = run->before + n;
    KoineEvaluation at = { .x = x, .want = KOINE_WANT_DER, .der = run->crossing + n };
    KoineStatus status = KOINE_OK;
    for (int k = 0; k < FAULT_TRIES && status == KOINE_OK;
         ++k, h *= 10) { /* a fixed step may have stopped short of it */
        at.time = run->solver->time + h;
        for (size_t i = 0; i < n; ++i)
            x[i] = run->solver->x[i] + h * slope[i];
        status = run->kind->evaluate(run->model, &at);
    }
    return koine_true_fault(run);
}

/* One Euler step to time t. OK: nothing has happened yet; `slope` is the one to go on with. *is_event: some relation
 * has ended the branch; the solver stands at the new state. */
static KoineStatus cross_once(KoineRun *run, double t, double h, double *slope, bool *is_event)
{
    KoineSolver *const solver = run->solver;
    const size_t n = run->tables->n_x;
    double *const x = run->crossing, *const trial = run->crossing + n;
    for (size_t i = 0; i < n; ++i)
        x[i] += h * slope[i];
    memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = t;
    TRY(koine_roots_evaluate(run, run->roots.hi));
    if (koine_roots_crossed(&run->roots, run->roots.hi)) {
        koine_roots_flag(run, run->roots.hi);
        run->roots.left = run->before_time;
        run->time = t;
        *is_event = true;
        TRY(solver->kind->restart(solver, t, x));
        return koine_place(run, t);
    }
    const KoineStatus status = koine_derivatives_at(run->model, t, x, trial);
    if (status < 0)
        return koine_solver_failed(run);
    if (status == KOINE_OK) { /* the branch can still be computed here */
        memcpy(slope, trial, n * sizeof *slope);
        memcpy(run->before, x, n * sizeof *x);
        run->before_time = t;
    }
    return KOINE_OK;
}

/* Nothing succeeds beyond the solver's time although its step is down to h_cross: the branch in force ends here.
 * Explicit Euler steps look for the relation that ends it (D8). */
static KoineStatus cross(KoineRun *run, double goal, unsigned *cause)
{
    if (koine_has_grid(run))
        return koine_grid_cross(run, goal, cause);
    const KoineSolver *const solver = run->solver;
    const size_t n = run->tables->n_x;
    const double from = solver->time, h = koine_crossing_step(&run->problem, from, INFINITY);
    if (n == 0)
        return koine_true_fault(run);
    double *const slope = run->before + n;
    bool is_event = false;
    memcpy(run->crossing, solver->x, n * sizeof *slope);
    memcpy(run->before, solver->x, n * sizeof *slope);
    run->before_time = from;
    const KoineStatus status = koine_derivatives_at(run->model, from, run->before, slope);
    if (status < 0)
        return koine_solver_failed(run);
    if (status != KOINE_OK) /* not even here: there is no way on */
        memset(slope, 0, n * sizeof *slope);
    for (uint32_t k = 1; status == KOINE_OK && k <= run->max_crossing && run->roots.n && !is_event; ++k)
        TRY(cross_once(run, from + k * h, h, slope, &is_event));
    if (is_event) {
        *cause |= KOINE_AT_ROOTS;
        return KOINE_OK;
    }
    return name_fault(run, h);
}

/* --- Turning back at once --- */

static const double FIRST_LOOK = 0.5; /* h_cross behind an instant */

/* What has just crossed its border may go back at once and come again before a step ends: a ball that bounces lower and
 * lower. Neither the ends of a step nor an interpolant of limited accuracy show that, the slope does. */
static KoineStatus turn_back(KoineRun *run, double goal, unsigned *cause)
{
    KoineSolver *const solver = run->solver;
    const size_t n = run->tables->n_x;
    const double from = run->time, h = FIRST_LOOK * koine_crossing_step(&run->problem, from, INFINITY);
    double *const x = run->crossing, *const slope = run->crossing + n;
    bool is_event = false;
    if (n == 0 || solver->time != from || from + h >= goal || from + h >= run->grid_time)
        return KOINE_OK;
    const KoineStatus status = koine_derivatives_at(run->model, from, solver->x, slope);
    if (status < 0)
        return koine_solver_failed(run);
    for (size_t i = 0; i < n; ++i)
        x[i] = solver->x[i] + h * slope[i];
    memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = from + h;
    solver->placed = NAN;
    if (status == KOINE_OK)
        TRY(koine_roots_look(run, &is_event));
    if (!is_event)
        return koine_place(run, from);
    memcpy(run->before, solver->x, n * sizeof *x);
    run->before_time = from;
    run->time = from + h;
    *cause |= KOINE_AT_ROOTS;
    TRY(solver->kind->restart(solver, run->time, x));
    return koine_place(run, run->time);
}

/* --- The steps --- */

/* Where the solver has to stop. Time events that never disturb it are passed over and served by interpolation. With
 * a time grid, steps that do not pass events end at output times too. */
static double limit(const KoineRun *run, double goal)
{
    const KoineSolverKind *const kind = run->solver->kind;
    if ((kind->stops_at_points || (kind->never_passes && koine_has_grid(run))) && run->grid_time > run->time &&
        run->grid_time < goal - koine_near(goal))
        return run->grid_time;
    return run->quiet >= QUIET_EVENTS && !kind->never_passes && !run->tables->n_signals ? run->stop : goal;
}

/* A solver that finds no step short enough begins again: with other tolerances where these can be mended, or once with
 * the ones it has, because what it remembers of the steps before may be what misleads it. */
static KoineStatus advance_or_mend(KoineRun *run, double end)
{
    KoineSolver *const solver = run->solver;
    const KoineStatus status = solver->kind->advance(solver, end);
    if (status >= 0 || !run->problem.text[0] || run->tables->n_x == 0 || koine_run_interrupted(run))
        return status;
    if (!koine_scales_mend(run) && run->renewed_time == solver->time)
        return status;
    run->renewed_time = solver->time;
    run->problem.text[0] = '\0';
    memcpy(run->crossing, solver->x, run->tables->n_x * sizeof *run->crossing);
    TRY(solver->kind->restart(solver, solver->time, run->crossing));
    return solver->kind->advance(solver, end);
}

/* A solver step, made again with a shorter one where it has passed over a pulse. */
static KoineStatus advance_solver(KoineRun *run, double goal, double *end)
{
    bool is_undone;
    do {
        *end = limit(run, goal);
        if (run->pulse - run->solver->time > koine_near(run->pulse) && run->pulse < *end)
            *end = run->pulse;
        const KoineStatus status = advance_or_mend(run, *end);
        if (status != KOINE_OK)
            return status;
        if (!run->has_sources)
            return KOINE_OK;
        TRY(koine_pulses_check(run, &is_undone));
    } while (is_undone);
    return KOINE_OK;
}

/* How far the last step takes the run: on a time grid, to grid points. */
static double reach(const KoineRun *run, double goal)
{
    return koine_snap(run, koine_min(run->solver->time, goal));
}

static const uint32_t MOST_DELAYS = 8; /* of one event */

/* A step was made again and ends at the event. Its last digits are others: what has not crossed there yet is found again
 * from there on, because a model that decides by its values would take the event back. */
static KoineStatus look_again(KoineRun *run, bool *is_event)
{
    KoineRoots *const roots = &run->roots;
    const KoineStatus status = koine_roots_evaluate_at(run, run->solver->time, roots->mid);
    TRY(status);
    if (status != KOINE_OK)
        return KOINE_OK;
    bool is_any = false;
    for (uint32_t k = 0; k < roots->n; ++k)
        is_any |= roots->crossed[k] && roots->mid[k] <= 0;
    *is_event = is_any || run->n_delays >= MOST_DELAYS;
    run->n_delays = *is_event ? 0 : run->n_delays + 1;
    for (uint32_t k = 0; k < roots->n && is_any; ++k)
        roots->crossed[k] &= roots->mid[k] <= 0;
    if (*is_event)
        return KOINE_OK;
    memcpy(roots->lo, roots->mid, roots->n * sizeof *roots->lo); /* behind another step rounding may have crossed */
    roots->time = run->solver->time;
    koine_scan_lose_slopes(run);
    return KOINE_OK;
}

/* The step ends at the event with the accuracy of the method, not of the interpolant. */
static KoineStatus shorten(KoineRun *run, double to, bool *is_event)
{
    KoineSolver *const solver = run->solver;
    if (!solver->kind->shorten || to == solver->time)
        return KOINE_OK;
    TRY(koine_place(run, to));
    memcpy(run->crossing, koine_states(run->model), run->tables->n_x * sizeof *run->crossing);
    KoineStatus status = solver->kind->shorten(solver, to);
    if (status > 0) /* it cannot be evaluated on the way: keep the interpolated state */
        status = solver->kind->restart(solver, to, run->crossing);
    else if (status == KOINE_OK && *is_event && !koine_has_grid(run) && !solver->kind->has_fixed_steps)
        return look_again(run, is_event);
    return status < 0 ? koine_solver_failed(run) : KOINE_OK;
}

/* A root function has no value beyond roots.left: go there, then on as from any point that cannot be evaluated. */
static KoineStatus stop_at_blind_spot(KoineRun *run, double goal, unsigned *cause)
{
    const double to = run->roots.left;
    TRY(koine_record_grid(run, to, false));
    TRY(koine_place(run, to));
    memcpy(run->crossing, koine_states(run->model), run->tables->n_x * sizeof *run->crossing);
    TRY(run->solver->kind->restart(run->solver, to, run->crossing));
    run->time = to;
    koine_keep_here(run);
    return cross(run, goal, cause);
}

/* Two events in one step: the model must see an accepted point between them, where it takes its hysteresis bands
 * back (S5). Then *to is that point, and the second event is looked for again. */
static bool is_seen_between(KoineRun *run, double *to)
{
    const double between = koine_snap(run, koine_min(run->time + 0.5 * (*to - run->time), run->roots.left));
    if (!run->is_fresh || *to - run->time < 64 * koine_ulp(*to) || between <= run->time)
        return false;
    *to = between;
    run->roots.time = NAN;
    run->roots.is_between = true;
    return true;
}

static void count_cut(KoineRun *run, double goal, double end)
{
    KoineRunStatistics *const statistics = &run->report->statistics;
    if (run->solver->time != end)
        return;
    if (end == run->next_time)
        ++statistics->cut_at_times;
    else if (end < goal)
        ++statistics->cut_at_outputs;
}

/* One solver step, unless an event left over some of the last one. */
static KoineStatus step(KoineRun *run, double goal, double *to, unsigned *cause)
{
    *to = reach(run, goal);
    if (*to > run->time)
        return KOINE_OK;
    /* On a time grid the state may be out of reach later: a step can end inside a cell. After an instant it is known
     * exactly only here: behind the step, rounding could put a comparison at its border on the wrong side for good. */
    if (koine_has_grid(run) || run->is_fresh)
        TRY(koine_roots_refresh(run));
    if (run->is_fresh && run->was_crossing && !koine_has_grid(run)) {
        TRY(turn_back(run, goal, cause));
        if (*cause)
            return KOINE_OK;
    }
    double end;
    const KoineStatus status = advance_solver(run, goal, &end);
    if (status < 0 && koine_run_interrupted(run)) /* it gave up because of that; *to is where the run is */
        return KOINE_OK;
    if (status != KOINE_OK)
        return status > 0 ? cross(run, goal, cause) : koine_solver_failed(run);
    count_cut(run, goal, end);
    TRY(koine_scales_step(run));
    *to = reach(run, goal);
    return KOINE_OK;
}

/* The discontinuity lies in the cell that begins at roots.left. */
static KoineStatus cross_region(KoineRun *run, double goal, unsigned *cause)
{
    const double left = run->roots.left;
    ++run->report->statistics.cut_at_regions;
    if (left > run->time) {
        TRY(koine_record_grid(run, left, false));
        bool is_event = false;
        TRY(shorten(run, left, &is_event));
        TRY(koine_place(run, left));
        run->time = left;
        run->is_fresh = false;
        TRY(koine_accept(run, cause));
        koine_keep_here(run);
    }
    return koine_grid_cross(run, goal, cause);
}

static KoineStatus advance_once(KoineRun *run, double goal, unsigned *cause)
{
    const double before = run->time;
    double to;
    TRY(step(run, goal, &to, cause));
    if (to <= run->time || run->time > before) /* inside a cell of the time grid, or an Euler step was made */
        return KOINE_OK;
    bool is_event = false;
    if (run->roots.n) {
        TRY(koine_roots_refresh(run));
        const KoineStatus status = koine_roots_scan(run, &to, &is_event);
        TRY(status);
        if (status != KOINE_OK)
            return stop_at_blind_spot(run, goal, cause);
        bool is_undone = false;
        if (is_event)
            TRY(koine_doubt(run, to, &is_undone));
        if (is_undone)
            return KOINE_OK;
        if (is_event)
            is_event = !is_seen_between(run, &to);
        if (is_event && run->roots.has_region)
            return cross_region(run, goal, cause);
        if (run->roots.n_held && !is_event)
            koine_hold_release(run);
    }
    if (run->grid_time <= to)
        TRY(koine_record_grid(run, to, is_event || to >= goal));
    if (run->is_over)
        return KOINE_OK;
    if (is_event) {
        run->report->statistics.cut_at_crossings += to < run->solver->time;
        TRY(shorten(run, to, &is_event));
        if (is_event)
            *cause |= KOINE_AT_ROOTS;
        else
            TRY(koine_record_grid(run, to, false));
    }
    TRY(koine_place(run, to));
    run->time = to;
    run->is_fresh = false;
    koine_keep_here(run);
    return koine_accept(run, cause);
}

KoineStatus koine_advance(KoineRun *run, double goal, unsigned *cause)
{
    *cause = 0;
    if (koine_run_interrupted(run))
        return KOINE_OK;
    tell_progress(run);
    run->before_time = NAN;
    if (!run->solver) {
        if (run->grid_time <= goal)
            TRY(koine_record_grid(run, goal, true));
        if (run->is_over)
            return KOINE_OK;
        run->time = *koine_time(run->model) = goal;
        return KOINE_OK;
    }
    if (goal - run->time <= koine_near(goal)) { /* one instant, not two: there is nothing to integrate (S7) */
        run->time = goal;
        return koine_place(run, goal);
    }
    koine_keep_here(run);
    while (run->time < goal && !*cause && !run->is_over) {
        TRY(advance_once(run, goal, cause));
        tell_progress(run);
        if (koine_run_interrupted(run))
            break;
    }
    return KOINE_OK;
}
