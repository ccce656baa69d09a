/* The one-step methods of ARKODE: explicit and diagonally implicit Runge-Kutta of order 4.
 *
 * Their interpolant is of lower order than the step, so a step with an event in it is repeated up to the event. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/sundials.h"
#include <arkode/arkode_arkstep.h>

static const int MAX_FAILURES = 40;
static const double SAME_SIZE = 1e-6; /* step sizes that differ by less have the same factors */

static void destroy(KoineSolver *base)
{
    KoineSundials *solver = koine_sundials_of(base);
    if (solver->memory)
        ARKStepFree(&solver->memory);
    koine_sundials_destroy(solver);
}

static bool set_up(KoineSundials *solver, bool is_implicit)
{
    const KoineProblem *problem = solver->base.problem;
    const ARKRhsFn slope = koine_sundials_slope;
    solver->memory = ARKStepCreate(is_implicit ? NULL : slope, is_implicit ? slope : NULL, problem->start, solver->y,
                                   solver->context);
    if (!solver->memory || ARKStepSetErrHandlerFn(solver->memory, koine_sundials_message, solver) != ARK_SUCCESS ||
        ARKStepWFtolerances(solver->memory, koine_sundials_weights) != ARK_SUCCESS ||
        ARKStepSetUserData(solver->memory, solver) != ARK_SUCCESS ||
        ARKStepSetMaxConvFails(solver->memory, MAX_FAILURES) != ARK_SUCCESS ||
        ARKStepSetMaxErrTestFails(solver->memory, MAX_FAILURES) != ARK_SUCCESS)
        return false;
    if (!isinf(problem->max_step) && ARKStepSetMaxStep(solver->memory, problem->max_step) != ARK_SUCCESS)
        return false;
    if (!is_implicit)
        return true;
    /* ARKODE 5.4 takes its Newton iteration for converged too early when the step size has changed a little and the
     * factors are those of the size before: errors of a thousand tolerances on x'' = -x and on x' = cos(t). So these
     * are made anew for every other size; an extrapolating predictor, and slopes deduced from the stages, help as
     * well. */
    if (ARKStepSetDeltaGammaMax(solver->memory, SAME_SIZE) != ARK_SUCCESS ||
        ARKStepSetPredictorMethod(solver->memory, 1) != ARK_SUCCESS ||
        ARKStepSetDeduceImplicitRhs(solver->memory, SUNTRUE) != ARK_SUCCESS)
        return false;
    KoineLinear *linear = &solver->linear;
    return koine_linear_create(linear, problem, KOINE_BY_X, problem->atol, solver->y, solver->context) == KOINE_OK &&
           ARKStepSetLinearSolver(solver->memory, linear->solver, linear->matrix) == ARK_SUCCESS &&
           (!linear->matrix || ARKStepSetJacFn(solver->memory, koine_sundials_jacobian) == ARK_SUCCESS);
}

static KoineSundialsCounts read_counts(void *memory)
{
    KoineSundialsCounts counts = { 0 };
    ARKStepGetNumErrTestFails(memory, &counts.rejected);
    ARKStepGetNumStepSolveFails(memory, &counts.failed);
    ARKStepGetNumLinSolvSetups(memory, &counts.setups);
    ARKStepGetNumNonlinSolvIters(memory, &counts.iterations);
    return counts;
}

static KoineStatus create(const KoineSolverKind *kind, bool is_implicit, const KoineProblem *problem, KoineSolver **out)
{
    KoineSundials *solver;
    TRY(koine_sundials_create(kind, problem, 0, &solver));
    solver->read_counts = read_counts;
    if (!set_up(solver, is_implicit)) {
        destroy(&solver->base);
        return KOINE_FAILED;
    }
    *out = &solver->base;
    return KOINE_OK;
}

static KoineStatus begin_at(KoineSundials *solver, double time, const double *x)
{
    const bool is_implicit = solver->base.kind == &koine_solver_arkode_dirk;
    const ARKRhsFn slope = koine_sundials_slope;
    koine_sundials_keep_counts(solver);
    koine_sundials_place(solver, time, x);
    const int flag = ARKStepReInit(solver->memory, is_implicit ? NULL : slope, is_implicit ? slope : NULL,
                                   solver->origin.reached, solver->y);
    return flag == ARK_SUCCESS ? KOINE_OK : KOINE_FAILED;
}

static KoineStatus restart(KoineSolver *base, double time, const double *x)
{
    return begin_at(koine_sundials_of(base), time, x);
}

/* ARKODE gives up where the end of a good step cannot be evaluated: begin again with a quarter of it. */
static bool can_retreat(KoineSundials *solver)
{
    const double h = 0.25 * (solver->trouble.failed_time - solver->base.time);
    if (solver->trouble.failure < 0 || solver->trouble.is_stuck || !(h > 0))
        return false;
    const double least = koine_crossing_step(solver->base.problem, solver->base.time, fmax(solver->largest, h));
    solver->trouble.is_stuck = h < least;
    return !solver->trouble.is_stuck && begin_at(solver, solver->base.time, NULL) == KOINE_OK &&
           ARKStepSetInitStep(solver->memory, h) == ARK_SUCCESS;
}

static KoineStatus step(KoineSundials *solver, double goal)
{
    KoineSolver *base = &solver->base;
    base->placed = NAN;
    N_VScale(1, solver->y, solver->slope); /* where the step begins, for a repetition */
    for (;;) {
        double reached = solver->origin.reached;
        if (goal != solver->goal) {
            ARKStepSetStopTime(solver->memory, goal - solver->origin.at);
            solver->goal = goal;
        }
        const int flag = ARKStepEvolve(solver->memory, goal - solver->origin.at, solver->y, &reached, ARK_ONE_STEP);
        if (flag >= 0) {
            const KoineStatus status = koine_sundials_stepped(solver, reached, flag == ARK_TSTOP_RETURN);
            if (flag == ARK_TSTOP_RETURN)
                solver->goal = NAN; /* ARKODE has forgotten it */
            return status;
        }
        N_VScale(1, solver->slope, solver->y);
        if (!can_retreat(solver))
            return koine_sundials_failed(solver);
        base->problem->text[0] = '\0';
    }
}

static KoineStatus advance(KoineSolver *base, double goal)
{
    return step(koine_sundials_of(base), goal);
}

/* Fresh from the beginning of the step, in as many steps as it takes. */
static KoineStatus shorten(KoineSolver *base, double time)
{
    KoineSundials *solver = koine_sundials_of(base);
    const double h = time - base->from;
    N_VScale(1, solver->slope, solver->y);
    TRY(begin_at(solver, base->from, NULL));
    ARKStepSetInitStep(solver->memory, h);
    KoineStatus status = KOINE_OK;
    while (status == KOINE_OK && base->time < time)
        status = step(solver, time);
    return status;
}

static KoineStatus interpolate(KoineSolver *base, double time, double *x)
{
    KoineSundials *solver = koine_sundials_of(base);
    N_VSetArrayPointer(x, solver->view);
    return ARKStepGetDky(solver->memory, koine_sundials_inside(solver, time), 0, solver->view) == ARK_SUCCESS
               ? KOINE_OK
               : KOINE_FAILED;
}

static KoineStatus create_erk(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_arkode_erk, false, problem, solver);
}

static KoineStatus create_dirk(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_arkode_dirk, true, problem, solver);
}

const KoineSolverKind koine_solver_arkode_erk = {
    .name = "arkode-erk",
    .description = "ARKODE, explicit Runge-Kutta of order 4",
    .never_passes = true,
    .create = create_erk,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .shorten = shorten,
    .statistics = koine_sundials_statistics,
};

const KoineSolverKind koine_solver_arkode_dirk = {
    .name = "arkode-dirk",
    .description = "ARKODE, diagonally implicit Runge-Kutta of order 4; for stiff models with many events",
    .never_passes = true,
    .create = create_dirk,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .shorten = shorten,
    .statistics = koine_sundials_statistics,
};
#endif
