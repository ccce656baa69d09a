/* IDA: BDF of variable order.
 *
 * A model whose derivatives need algebraic systems is integrated in its residual form: the unknowns w of the systems
 * are unknowns of IDA, which solves for them together with the states, F = (f(t, x, w) - x', r(t, x, w)). They take
 * part in its Newton iteration and not in its error test. Others are integrated as F = f(t, x) - x'. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/sundials.h"
#include <ida/ida.h>

static const int MAX_FAILURES = 40;

static const KoineTables *tables_of(const KoineSundials *solver)
{
    return solver->base.problem->model->kind->tables;
}

static int residual(double time, N_Vector y, N_Vector slope, N_Vector out, void *data)
{
    KoineSundials *solver = data;
    if (tables_of(solver)->unknowns.n) {
        solver->sums.evaluations++;
        if (!koine_sundials_goes_on(solver, time))
            return -1;
        return koine_sundials_tell(solver,
                                   koine_residual_at(solver->base.problem->model, solver->origin.at + time,
                                                     N_VGetArrayPointer(y), N_VGetArrayPointer(slope),
                                                     N_VGetArrayPointer(out)),
                                   time);
    }
    const int status = koine_sundials_slope(time, y, out, data);
    if (status == 0)
        N_VLinearSum(1, out, -1, slope, out);
    return status;
}

/* dF/dy + cj*dF/dy'. The residual at the point gives f and r, which difference quotients need. */
static int jacobian(double time, double cj, N_Vector y, N_Vector slope, N_Vector residual_here, SUNMatrix matrix,
                    void *data, N_Vector work1, N_Vector work2, N_Vector work3)
{
    KoineSundials *solver = data;
    (void)work2, (void)work3;
    N_VScale(1, residual_here, work1);
    for (uint32_t i = 0; i < tables_of(solver)->n_x; i++)
        N_VGetArrayPointer(work1)[i] += N_VGetArrayPointer(slope)[i];
    const KoineStatus status = koine_linear_fill(&solver->linear, solver->origin.at + time, N_VGetArrayPointer(y),
                                                 N_VGetArrayPointer(work1), -cj, 1, matrix);
    return koine_sundials_tell(solver, status, time);
}

static void destroy(KoineSolver *base)
{
    KoineSundials *solver = koine_sundials_of(base);
    if (solver->memory)
        IDAFree(&solver->memory);
    koine_sundials_destroy(solver);
}

/* Which unknowns are states; the others stay out of the error test. `slope` serves as the vector. */
static bool name_unknowns(KoineSundials *solver)
{
    const KoineTables *tables = tables_of(solver);
    if (tables->unknowns.n == 0)
        return true;
    for (uint32_t i = 0; i < tables->n_x + tables->unknowns.n; i++)
        N_VGetArrayPointer(solver->slope)[i] = i < tables->n_x;
    const bool is_good =
        IDASetId(solver->memory, solver->slope) == IDA_SUCCESS && IDASetSuppressAlg(solver->memory, 1) == IDA_SUCCESS;
    N_VConst(0, solver->slope);
    return is_good;
}

static bool set_up(KoineSundials *solver)
{
    const KoineProblem *problem = solver->base.problem;
    KoineLinear *linear = &solver->linear;
    solver->memory = IDACreate(solver->context);
    if (!solver->memory || IDASetErrHandlerFn(solver->memory, koine_sundials_message, solver) != IDA_SUCCESS ||
        IDAInit(solver->memory, residual, problem->start, solver->y, solver->slope) != IDA_SUCCESS ||
        IDAWFtolerances(solver->memory, koine_sundials_weights) != IDA_SUCCESS ||
        IDASetUserData(solver->memory, solver) != IDA_SUCCESS ||
        IDASetMaxConvFails(solver->memory, MAX_FAILURES) != IDA_SUCCESS ||
        IDASetMaxErrTestFails(solver->memory, MAX_FAILURES) != IDA_SUCCESS || !name_unknowns(solver))
        return false;
    if (!isinf(problem->max_step) && IDASetMaxStep(solver->memory, problem->max_step) != IDA_SUCCESS)
        return false;
    const int by = tables_of(solver)->unknowns.n ? KOINE_BY_DAE : KOINE_BY_X;
    return koine_linear_create(linear, problem, by, N_VGetArrayPointer(solver->atol), solver->y, solver->context) ==
               KOINE_OK &&
           IDASetLinearSolver(solver->memory, linear->solver, linear->matrix) == IDA_SUCCESS &&
           (!linear->matrix || IDASetJacFn(solver->memory, jacobian) == IDA_SUCCESS);
}

static KoineSundialsCounts read_counts(void *memory)
{
    KoineSundialsCounts counts = { 0 };
    IDAGetNumErrTestFails(memory, &counts.rejected);
    IDAGetNumStepSolveFails(memory, &counts.failed);
    IDAGetNumLinSolvSetups(memory, &counts.setups);
    IDAGetNumNonlinSolvIters(memory, &counts.iterations);
    return counts;
}

static KoineStatus create(const KoineProblem *problem, KoineSolver **out)
{
    KoineSundials *solver;
    TRY(koine_sundials_create(&koine_solver_ida, problem, problem->model->kind->tables->unknowns.n, &solver));
    solver->read_counts = read_counts;
    if (!set_up(solver)) {
        destroy(&solver->base);
        return KOINE_FAILED;
    }
    *out = &solver->base;
    return KOINE_OK;
}

static KoineStatus restart(KoineSolver *base, double time, const double *x)
{
    KoineSundials *solver = koine_sundials_of(base);
    koine_sundials_place(solver, time, x);
    solver->is_fresh = true;
    return KOINE_OK;
}

/* Slope and w at the start belong to the state: F = 0 from the beginning. */
static KoineStatus begin(KoineSundials *solver)
{
    const KoineTables *tables = tables_of(solver);
    const KoineStatus status = koine_derivatives_at(solver->base.problem->model, solver->base.time, solver->base.x,
                                                    N_VGetArrayPointer(solver->slope));
    solver->sums.evaluations++;
    if (status != KOINE_OK)
        return status;
    for (uint32_t j = 0; j < tables->unknowns.n; j++) {
        N_VGetArrayPointer(solver->y)[tables->n_x + j] =
            *(const double *)(const void *)(solver->base.problem->model->block + tables->unknowns.at[j]);
        N_VGetArrayPointer(solver->slope)[tables->n_x + j] = 0;
    }
    solver->is_fresh = false;
    koine_sundials_begin_strictly(solver);
    koine_sundials_keep_counts(solver);
    return IDAReInit(solver->memory, solver->origin.reached, solver->y, solver->slope) == IDA_SUCCESS ? KOINE_OK
                                                                                                      : KOINE_FAILED;
}

static KoineStatus advance(KoineSolver *base, double goal)
{
    KoineSundials *solver = koine_sundials_of(base);
    double reached = solver->origin.reached;
    int order = 0;
    base->placed = NAN;
    if (solver->is_fresh) {
        const KoineStatus status = begin(solver);
        if (status != KOINE_OK)
            return status;
    }
    if (goal != solver->goal) {
        IDASetStopTime(solver->memory, goal - solver->origin.at);
        solver->goal = goal;
    }
    const int flag =
        IDASolve(solver->memory, goal - solver->origin.at, &reached, solver->y, solver->slope, IDA_ONE_STEP);
    if (flag < 0)
        return koine_sundials_failed(solver);
    IDAGetLastOrder(solver->memory, &order);
    koine_sundials_ease(solver, order);
    const KoineStatus status = koine_sundials_stepped(solver, reached, flag == IDA_TSTOP_RETURN);
    if (flag == IDA_TSTOP_RETURN)
        solver->goal = NAN; /* IDA has forgotten it */
    return status;
}

static KoineStatus interpolate(KoineSolver *base, double time, double *x)
{
    KoineSundials *solver = koine_sundials_of(base);
    const KoineTables *tables = tables_of(solver);
    N_VSetArrayPointer(tables->unknowns.n ? N_VGetArrayPointer(solver->whole) : x, solver->view);
    if (IDAGetDky(solver->memory, koine_sundials_inside(solver, time), 0, solver->view) != IDA_SUCCESS)
        return KOINE_FAILED;
    if (tables->unknowns.n)
        memcpy(x, N_VGetArrayPointer(solver->whole), tables->n_x * sizeof *x);
    return KOINE_OK;
}

const KoineSolverKind koine_solver_ida = {
    .name = "ida",
    .description = "IDA, BDF of variable order; algebraic systems are solved along",
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .statistics = koine_sundials_statistics,
};
#endif
