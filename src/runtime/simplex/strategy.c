/* The time grid: every instant, step and point lies at a whole multiple of the resolution. */
#include "runtime/simplex/grid.h"
#include <stdlib.h>

/* --- Times --- */

/* Which grid point a time becomes. */
static double point_of(double resolution, double time, KoineSnap to)
{
    switch (to) {
    case KOINE_SNAP_UNTIL: return koine_grid_until(resolution, time);
    case KOINE_SNAP_FROM: return koine_grid_from(resolution, time);
    case KOINE_SNAP_NEAREST: break;
    }
    return koine_grid_nearest(resolution, time);
}

/* What never happens is at no grid point. */
static double snap(const KoineProblem *problem, double time, KoineSnap to)
{
    const double resolution = problem->control.resolution;
    return time < INFINITY ? koine_grid_time(resolution, point_of(resolution, time, to)) : time;
}

static double share_of(const KoineProblem *problem, double left, double right, double share)
{
    const double h = right - left, time = snap(problem, left + share * h, KOINE_SNAP_NEAREST);
    const double low = left + problem->control.resolution, high = right - problem->control.resolution;
    return (koine_min(koine_max(time, low), high) - left) / h;
}

/* At a grid point; steps shorter than a cell end inside it, but not beyond the next grid point. */
static double step_end(const KoineProblem *problem, double time, double step)
{
    const double resolution = problem->control.resolution;
    const double next = koine_grid_time(resolution, koine_grid_after(resolution, time));
    if (step >= resolution)
        return koine_max(next, koine_grid_time(resolution, koine_grid_until(resolution, time + step)));
    return time + step < next - koine_near(next) ? time + step : next;
}

/* --- Steps --- */

/* Solvers that never pass a goal end their steps at output times, too, and begin anew with their first step after every
 * instant. */
static bool is_led(const KoineSolverKind *kind)
{
    return kind->never_passes || kind->stops_at_points;
}

/* The state may be out of reach later: a step can end inside a cell. */
static KoineStatus begin_step(KoineRun *run, double goal, unsigned *cause)
{
    (void)goal, (void)cause;
    return koine_roots_refresh(run);
}

/* --- Begin and end --- */

static KoineStatus create(KoineRun *run)
{
    const size_t n = run->tables->n_x;
    KoineGridState *state = malloc(sizeof *state + n * sizeof *state->here);
    if (!state)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %zu states", n);
    *state = (KoineGridState){ .here = (double *)(void *)(state + 1) };
    run->strategy_state = state;
    return KOINE_OK;
}

static void destroy(KoineRun *run)
{
    free(run->strategy_state);
}

static void visit(KoineRun *run, KoinePieces *pieces)
{
    koine_piece_numbers(pieces, koine_grid_state(run)->here, run->tables->n_x);
    KOINE_PIECE(pieces, koine_grid_state(run)->has_region);
}

static void settle(KoineRun *run)
{
    const size_t n = run->tables->n_x;
    if (n && run->solver->time > run->time) {
        memcpy(koine_states(run->model), koine_grid_state(run)->here, n * sizeof(double));
        *koine_time(run->model) = run->time;
    } else {
        koine_place(run, run->time);
    }
}

/* Instants are at least one cell apart, so that no chain of them stands still: nothing is watched. */
const KoineTimeStrategy koine_time_on_grid = {
    .learns_from_trials = true,
    .keeps_left = true,
    .meets_points = true,
    .snap = snap,
    .share = share_of,
    .step_end = step_end,
    .ends_at_points = is_led,
    .restarts = is_led,
    .memory = { create, destroy, visit },
    .keep = koine_grid_keep,
    .begin_step = begin_step,
    .locate = koine_grid_search,
    .cross_region = koine_grid_cross_region,
    .cross = koine_grid_cross,
    .settle = settle,
};
