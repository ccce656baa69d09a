/* Fixed steps: Euler, Heun, the classical Runge-Kutta method.
 *
 * Steps end on the grid start + k*step, k an integer, and where the driver's goal cuts them; after an event the
 * first step is the short one back to the grid. With a time grid R a step begins anew wherever the last one was cut.
 * A step that cannot be evaluated is cut to a quarter until it
 * can, so that models leave the domain of a branch with these methods as with the others. Between the ends the
 * cubic Hermite interpolant serves; a step with an event in it is repeated up to the event. */
#include "runtime/strategy.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct FixedSolver {
    KoineSolver base;
    size_t n;
    double *y, *y_old;         /* at time and from */
    double *slope, *slope_old; /* there */
    double *stage[2];          /* slopes of inner stages, sums of them */
    double usual;              /* step */
    bool has_slope;
    uint64_t steps, rejected, evaluations;
} FixedSolver;

typedef KoineStatus (*Formula)(FixedSolver *fixed, double t, double h);

static FixedSolver *fixed_of(KoineSolver *solver)
{
    return (FixedSolver *)(void *)solver;
}

static KoineStatus slope_at(FixedSolver *fixed, double time, const double *x, double *slope)
{
    fixed->evaluations++;
    fixed->base.placed = NAN;
    return koine_derivatives_at(fixed->base.problem->model, time, x, slope);
}

/* to := from + h*slope */
static void move(const FixedSolver *fixed, double h, const double *slope, double *to)
{
    const double *from = fixed->y_old;
    KOINE_INDEPENDENT
    for (size_t i = 0; i < fixed->n; i++)
        to[i] = from[i] + h * slope[i];
}

static KoineStatus euler(FixedSolver *fixed, double t, double h)
{
    (void)t;
    move(fixed, h, fixed->slope_old, fixed->y);
    return KOINE_OK;
}

static KoineStatus heun(FixedSolver *fixed, double t, double h)
{
    double *end = fixed->stage[0];
    move(fixed, h, fixed->slope_old, fixed->y);
    const KoineStatus status = slope_at(fixed, t + h, fixed->y, end);
    for (size_t i = 0; i < fixed->n; i++)
        end[i] = 0.5 * (fixed->slope_old[i] + end[i]);
    move(fixed, h, end, fixed->y);
    return status;
}

static KoineStatus rk4(FixedSolver *fixed, double t, double h)
{
    static const double at[3] = { 0.5, 0.5, 1 }, weight[3] = { 2, 2, 1 };
    double *k = fixed->stage[0], *sum = fixed->stage[1];
    memcpy(k, fixed->slope_old, fixed->n * sizeof *k);
    memcpy(sum, fixed->slope_old, fixed->n * sizeof *k);
    for (int stage = 0; stage < 3; stage++) {
        move(fixed, at[stage] * h, k, fixed->y);
        const KoineStatus status = slope_at(fixed, t + at[stage] * h, fixed->y, k);
        if (status != KOINE_OK)
            return status;
        for (size_t i = 0; i < fixed->n; i++)
            sum[i] += weight[stage] * k[i];
    }
    move(fixed, h / 6, sum, fixed->y);
    return KOINE_OK;
}

static KoineStatus create(const KoineSolverKind *kind, const KoineProblem *problem, KoineSolver **solver)
{
    const size_t n = problem->model->kind->tables->n_x;
    FixedSolver *fixed = malloc(sizeof *fixed + 6 * n * sizeof(double));
    if (!fixed)
        return KOINE_FAILED;
    double *vectors = (double *)(void *)(fixed + 1);
    *fixed = (FixedSolver){
        .base = { .kind = kind, .problem = problem, .placed = NAN, .x = vectors },
        .n = n,
        .y = vectors,
        .y_old = vectors + n,
        .slope = vectors + 2 * n,
        .slope_old = vectors + 3 * n,
        .stage = { vectors + 4 * n, vectors + 5 * n },
        .usual = fmin(problem->step, problem->max_step),
    };
    *solver = &fixed->base;
    return KOINE_OK;
}

static void destroy(KoineSolver *solver)
{
    free(solver);
}

static KoineStatus restart(KoineSolver *solver, double time, const double *x)
{
    FixedSolver *fixed = fixed_of(solver);
    memcpy(fixed->y, x, fixed->n * sizeof *x);
    solver->from = solver->time = time;
    solver->x = fixed->y;
    fixed->has_slope = false;
    return KOINE_OK;
}

static void swap(FixedSolver *fixed)
{
    double *y = fixed->y, *slope = fixed->slope;
    fixed->y = fixed->y_old;
    fixed->slope = fixed->slope_old;
    fixed->y_old = y;
    fixed->slope_old = slope;
}

static double next_grid_time(const FixedSolver *fixed)
{
    const KoineProblem *problem = fixed->base.problem;
    return problem->strategy->step_end(problem, fixed->base.time, fixed->usual);
}

static KoineStatus slope_at_end(FixedSolver *fixed)
{
    if (fixed->has_slope)
        return KOINE_OK;
    const KoineStatus status = slope_at(fixed, fixed->base.time, fixed->y, fixed->slope);
    fixed->has_slope = status == KOINE_OK;
    return status;
}

/* From (from, y_old) to `end`; y and time are the new point. */
static KoineStatus step_to(FixedSolver *fixed, Formula formula, double end)
{
    const double from = fixed->base.from;
    const double least = koine_crossing_step(fixed->base.problem, from, fixed->usual);
    double h = end - from;
    for (;;) {
        const KoineStatus status = formula(fixed, from, h);
        TRY(status);
        if (status == KOINE_OK && koine_is_finite(fixed->y, fixed->n))
            break;
        fixed->rejected++;
        h *= 0.25;
        end = from + h;
        if (koine_interrupted(fixed->base.problem))
            return KOINE_FAILED;
        if (!(h > 0) || h < least)
            return KOINE_RETRY;
    }
    fixed->base.time = end;
    fixed->base.x = fixed->y;
    fixed->has_slope = false;
    return KOINE_OK;
}

static KoineStatus advance(KoineSolver *solver, Formula formula, double goal)
{
    FixedSolver *fixed = fixed_of(solver);
    KoineStatus status = slope_at_end(fixed);
    if (status != KOINE_OK)
        return status;
    const double grid = next_grid_time(fixed), start = solver->time;
    if (!(grid > start) || fixed->usual < koine_ulp(start)) {
        snprintf(solver->problem->text, solver->problem->text_size, "%s: a step of %.3g does not move the time %.17g",
                 solver->kind->name, solver->problem->step, start);
        return KOINE_FAILED;
    }
    swap(fixed);
    solver->from = start;
    status = step_to(fixed, formula, grid > goal - koine_near(goal) ? goal : grid);
    if (status == KOINE_OK) {
        fixed->steps++;
        return KOINE_OK;
    }
    swap(fixed);
    solver->x = fixed->y;
    solver->time = start;
    return status;
}

static KoineStatus shorten(KoineSolver *solver, Formula formula, double time)
{
    FixedSolver *fixed = fixed_of(solver);
    for (;;) {
        KoineStatus status = step_to(fixed, formula, time);
        if (status != KOINE_OK || solver->time == time)
            return status;
        if (koine_interrupted(solver->problem))
            return KOINE_FAILED;
        status = slope_at_end(fixed); /* the step had to be cut: go on from where it ends */
        if (status != KOINE_OK)
            return status;
        swap(fixed);
        solver->from = solver->time;
    }
}

static KoineStatus interpolate(KoineSolver *solver, double time, double *x)
{
    FixedSolver *fixed = fixed_of(solver);
    const KoineStatus status = slope_at_end(fixed);
    TRY(status);
    const double h = solver->time - solver->from, s = (time - solver->from) / h;
    if (status == KOINE_OK) {
        koine_hermite(fixed->n, s, h, (const double *const[2]){ fixed->y_old, fixed->y },
                      (const double *const[2]){ fixed->slope_old, fixed->slope }, x);
        return KOINE_OK;
    }
    for (size_t i = 0; i < fixed->n; i++) /* the end of the step lies outside of the branch: a straight line */
        x[i] = fixed->y_old[i] + s * (fixed->y[i] - fixed->y_old[i]);
    return KOINE_OK;
}

static bool visit(KoineSolver *solver, KoinePieces *pieces)
{
    FixedSolver *fixed = fixed_of(solver);
    KOINE_PIECE(pieces, fixed->has_slope);
    koine_piece_numbers(pieces, fixed->y, fixed->n);
    if (fixed->has_slope)
        koine_piece_numbers(pieces, fixed->slope, fixed->n);
    if (solver->time > solver->from) {
        koine_piece_numbers(pieces, fixed->y_old, fixed->n);
        koine_piece_numbers(pieces, fixed->slope_old, fixed->n);
    }
    KOINE_PIECE(pieces, fixed->steps);
    KOINE_PIECE(pieces, fixed->rejected);
    KOINE_PIECE(pieces, fixed->evaluations);
    solver->x = fixed->y;
    return true;
}

static void statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    const FixedSolver *fixed = (const FixedSolver *)(const void *)solver;
    out->integration.steps += fixed->steps;
    out->integration.rejected_steps += fixed->rejected;
    out->integration.evaluations += fixed->evaluations;
}

/* --- Rows --- */

static KoineStatus create_euler(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_euler, problem, solver);
}

static KoineStatus advance_euler(KoineSolver *solver, double goal)
{
    return advance(solver, euler, goal);
}

static KoineStatus shorten_euler(KoineSolver *solver, double time)
{
    return shorten(solver, euler, time);
}

static KoineStatus create_heun(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_heun, problem, solver);
}

static KoineStatus advance_heun(KoineSolver *solver, double goal)
{
    return advance(solver, heun, goal);
}

static KoineStatus shorten_heun(KoineSolver *solver, double time)
{
    return shorten(solver, heun, time);
}

static KoineStatus create_rk4(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_rk4, problem, solver);
}

static KoineStatus advance_rk4(KoineSolver *solver, double goal)
{
    return advance(solver, rk4, goal);
}

static KoineStatus shorten_rk4(KoineSolver *solver, double time)
{
    return shorten(solver, rk4, time);
}

#define FIXED_ROW(method, text)                                                                                        \
    const KoineSolverKind koine_solver_##method = {                                                                    \
        .name = #method,                                                                                               \
        .description = text,                                                                                           \
        .never_passes = true,                                                                                          \
        .has_fixed_steps = true,                                                                                       \
        .create = create_##method,                                                                                     \
        .destroy = destroy,                                                                                            \
        .restart = restart,                                                                                            \
        .advance = advance_##method,                                                                                   \
        .interpolate = interpolate,                                                                                    \
        .shorten = shorten_##method,                                                                                   \
        .visit = visit,                                                                                                \
        .statistics = statistics,                                                                                      \
    }
FIXED_ROW(euler, "explicit Euler method with fixed steps, order 1");
FIXED_ROW(heun, "Heun's method with fixed steps, order 2");
FIXED_ROW(rk4, "classical Runge-Kutta method with fixed steps, order 4");
