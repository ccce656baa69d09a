/* Continuous time: instants may lie anywhere, and crossings are located to rounding. */
#include "runtime/run.h"

/* --- Crossing a point that cannot be evaluated --- */

enum { FAULT_TRIES = 8 }; /* tenfold steps beyond the last good point */

/* Evaluate just beyond the last good point by the checked way, so that the fault names what failed. */
static KoineStatus name_fault(KoineRun *run, double h)
{
    const size_t n = run->tables->n_x;
    double *x = run->crossing.x;
    const double *slope = run->crossing.before + n;
    KoineEvaluation at = { .x = x, .want = KOINE_WANT_DER, .der = run->crossing.x + n };
    KoineStatus status = KOINE_OK;
    for (int k = 0; k < FAULT_TRIES && status == KOINE_OK;
         ++k, h *= 10) { /* a fixed step may have stopped short of it */
        at.time = run->solver->time + h;
        for (size_t i = 0; i < n; i++)
            x[i] = run->solver->x[i] + h * slope[i];
        status = run->kind->evaluate(run->model, &at);
    }
    return koine_true_fault(run);
}

/* One Euler step to time t. OK: nothing has happened yet; `slope` is the one to go on with. *is_event: some relation
 * has ended the branch; the solver stands at the new state. */
static KoineStatus cross_once(KoineRun *run, double t, double h, double *slope, bool *is_event)
{
    KoineSolver *solver = run->solver;
    const size_t n = run->tables->n_x;
    double *x = run->crossing.x, *trial = run->crossing.x + n;
    for (size_t i = 0; i < n; i++)
        x[i] += h * slope[i];
    memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = t;
    TRY(koine_roots_evaluate(run, run->roots.hi));
    if (koine_roots_crossed(&run->roots, run->roots.hi)) {
        koine_roots_flag(run, run->roots.hi);
        run->roots.left = run->crossing.before_time;
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
        memcpy(run->crossing.before, x, n * sizeof *x);
        run->crossing.before_time = t;
    }
    return KOINE_OK;
}

/* Nothing succeeds beyond the solver's time although its step is down to h_cross: the branch in force ends here.
 * Explicit Euler steps look for the relation that ends it (D8). */
static KoineStatus cross(KoineRun *run, double goal, unsigned *cause)
{
    (void)goal;
    const KoineSolver *solver = run->solver;
    const size_t n = run->tables->n_x;
    const double from = solver->time, h = koine_crossing_step(&run->problem, from, INFINITY);
    if (n == 0)
        return koine_true_fault(run);
    double *slope = run->crossing.before + n;
    bool is_event = false;
    memcpy(run->crossing.x, solver->x, n * sizeof *slope);
    memcpy(run->crossing.before, solver->x, n * sizeof *slope);
    run->crossing.before_time = from;
    const KoineStatus status = koine_derivatives_at(run->model, from, run->crossing.before, slope);
    if (status < 0)
        return koine_solver_failed(run);
    if (status != KOINE_OK) /* not even here: there is no way on */
        memset(slope, 0, n * sizeof *slope);
    for (uint32_t k = 1; status == KOINE_OK && k <= run->problem.control.max_crossing && run->roots.n && !is_event; k++)
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
    KoineSolver *solver = run->solver;
    const size_t n = run->tables->n_x;
    const double from = run->time, h = FIRST_LOOK * koine_crossing_step(&run->problem, from, INFINITY);
    double *x = run->crossing.x, *slope = run->crossing.x + n;
    bool is_event = false;
    if (n == 0 || solver->time != from || from + h >= goal || from + h >= run->output.next_time)
        return KOINE_OK;
    const KoineStatus status = koine_derivatives_at(run->model, from, solver->x, slope);
    if (status < 0)
        return koine_solver_failed(run);
    for (size_t i = 0; i < n; i++)
        x[i] = solver->x[i] + h * slope[i];
    memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = from + h;
    solver->placed = NAN;
    if (status == KOINE_OK)
        TRY(koine_roots_look(run, &is_event));
    if (!is_event)
        return koine_place(run, from);
    memcpy(run->crossing.before, solver->x, n * sizeof *x);
    run->crossing.before_time = from;
    run->time = from + h;
    *cause |= KOINE_AT_ROOTS;
    TRY(solver->kind->restart(solver, run->time, x));
    return koine_place(run, run->time);
}

/* After an instant the state is known exactly only here: behind the step, rounding could put a comparison at its border
 * on the wrong side for good. */
static KoineStatus begin_step(KoineRun *run, double goal, unsigned *cause)
{
    if (!run->instant.is_fresh)
        return KOINE_OK;
    TRY(koine_roots_refresh(run));
    return run->instant.was_crossing ? turn_back(run, goal, cause) : KOINE_OK;
}

/* --- Events --- */

static const uint32_t MOST_DELAYS = 8; /* of one event */

/* A step was made again and ends where the event was found. Its last digits are others. What has not crossed there yet
 * is found again from there on, because a model that decides by its values would take the event back. */
static KoineStatus delay(KoineRun *run, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    *is_event = run->repeats.n_delays >= MOST_DELAYS;
    run->repeats.n_delays = *is_event ? 0 : run->repeats.n_delays + 1;
    if (*is_event)
        return KOINE_OK;
    memcpy(roots->lo, roots->mid, roots->n * sizeof *roots->lo); /* behind another step rounding may have crossed */
    roots->time = run->solver->time;
    koine_scan_lose_slopes(run);
    return KOINE_OK;
}

/* What has crossed there did so a little earlier: a state beyond its border may have no values. The interpolant of the
 * step that was made again meets the end of that step, so it is good there. Where a row lies between, or no value, the
 * interpolated state of the step before stays, which run->crossing holds. */
static KoineStatus go_back(KoineRun *run, double *to)
{
    KoineRoots *roots = &run->roots;
    const double from = koine_max(run->solver->from, run->time);
    double earlier = *to;
    memcpy(roots->hi, roots->mid, roots->n * sizeof *roots->hi);
    KoineStatus status = from < *to ? koine_roots_evaluate_at(run, from, roots->lo) : KOINE_RETRY;
    if (status == KOINE_OK && !koine_roots_crossed(roots, roots->hi)) /* it began there: it stays as it is */
        return KOINE_OK;
    if (status == KOINE_OK)
        status = koine_roots_locate(run, from, &earlier, false);
    TRY(status);
    if (status == KOINE_OK && !(earlier <= run->output.evaluated_time)) {
        *to = earlier;
        TRY(koine_place(run, earlier));
        memcpy(run->crossing.x, koine_states(run->model), run->tables->n_x * sizeof *run->crossing.x);
    }
    return koine_begin_at_event(run, *to);
}

static KoineStatus look_again(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    if (run->solver->kind->has_fixed_steps)
        return KOINE_OK;
    const KoineStatus status = koine_roots_evaluate_at(run, run->solver->time, roots->mid);
    TRY(status);
    if (status != KOINE_OK)
        return koine_begin_at_event(run, *to);
    bool is_any = false;
    for (uint32_t k = 0; k < roots->n; k++)
        is_any |= roots->crossed[k] && roots->mid[k] <= 0;
    if (!is_any)
        return delay(run, is_event);
    run->repeats.n_delays = 0;
    for (uint32_t k = 0; k < roots->n; k++)
        roots->crossed[k] &= roots->mid[k] <= 0;
    return go_back(run, to);
}

/* --- Steps and ends --- */

static const double STEP_ROUNDING = 1e-9; /* of a step: a time that lies so close before its end is its end */

/* Steps end at start + k*step. */
static double step_end(const KoineProblem *problem, double time, double step)
{
    const double k = floor((time + koine_near(time) - problem->start) / step + STEP_ROUNDING) + 1;
    return problem->start + k * step;
}

static bool ends_at_points(const KoineSolverKind *kind)
{
    return kind->stops_at_points;
}

static bool restarts(const KoineSolverKind *kind)
{
    (void)kind;
    return false;
}

static void settle(KoineRun *run)
{
    koine_place(run, run->time);
}

const KoineTimeStrategy koine_time_continuous = {
    .looks_between = true,
    .step_end = step_end,
    .ends_at_points = ends_at_points,
    .restarts = restarts,
    .begin_step = begin_step,
    .locate = koine_roots_narrow,
    .doubt = koine_doubt,
    .confirm = look_again,
    .cross = cross,
    .watch = koine_watch,
    .settle = settle,
};

const KoineTimeStrategy *koine_time_strategy(double resolution)
{
    return resolution > 0 ? &koine_time_on_grid : &koine_time_continuous;
}
