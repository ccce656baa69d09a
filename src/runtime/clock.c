/* The solver of models that have no states but root functions which move with time.
 *
 * It only moves the time, by max_step or, if none is given, by the output interval (problem->step): the steps
 * in which root functions are looked at; scan.c looks into them. */
#include "runtime/solver.h"
#include <stdlib.h>

typedef struct {
    KoineSolver base;
    uint64_t steps;
} ClockSolver;

static KoineStatus create(const KoineProblem *problem, KoineSolver **solver)
{
    ClockSolver *clock = malloc(sizeof *clock);
    if (!clock)
        return KOINE_FAILED;
    *clock = (ClockSolver){ .base = { .kind = &koine_solver_clock, .problem = problem, .placed = NAN } };
    *solver = &clock->base;
    return KOINE_OK;
}

static void destroy(KoineSolver *solver)
{
    free(solver);
}

static KoineStatus restart(KoineSolver *solver, double time, const double *x)
{
    (void)x;
    solver->from = solver->time = time;
    return KOINE_OK;
}

static KoineStatus advance(KoineSolver *solver, double goal)
{
    const double end = solver->time + fmin(solver->problem->step, solver->problem->max_step);
    solver->from = solver->time;
    solver->time = end > goal - koine_near(goal) ? goal : end;
    ++((ClockSolver *)(void *)solver)->steps;
    return KOINE_OK;
}

static KoineStatus interpolate(KoineSolver *solver, double time, double *x)
{
    (void)solver, (void)time, (void)x;
    return KOINE_OK;
}

static bool visit(KoineSolver *solver, KoinePieces *pieces)
{
    KOINE_PIECE(pieces, ((ClockSolver *)(void *)solver)->steps);
    return true;
}

static void statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    out->integration.steps += ((const ClockSolver *)(const void *)solver)->steps;
}

const KoineSolverKind koine_solver_clock = {
    .name = "clock",
    .description = "no states: moves the time only",
    .has_fixed_steps = true,
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .visit = visit,
    .statistics = statistics,
};
