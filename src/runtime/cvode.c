/* The multistep methods of CVODE: BDF with Newton iteration, Adams with functional iteration. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/sundials.h"
#include "runtime/cvode.h"
#include <cvode/cvode.h>
#include <stdlib.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

static const int MAX_FAILURES = 40; /* of the corrector in one step, each quarters it: enough to reach h_cross */

static void destroy(KoineSolver *base)
{
    KoineSundials *solver = koine_sundials_of(base);
    if (solver->memory)
        CVodeFree(&solver->memory);
    koine_sundials_destroy(solver);
}

static bool set_up(KoineSundials *solver, int method)
{
    const KoineProblem *problem = solver->base.problem;
    solver->memory = CVodeCreate(method, solver->context);
    if (!solver->memory || CVodeSetErrHandlerFn(solver->memory, koine_sundials_message, solver) != CV_SUCCESS ||
        CVodeInit(solver->memory, koine_sundials_slope, problem->start, solver->y) != CV_SUCCESS ||
        CVodeWFtolerances(solver->memory, koine_sundials_weights) != CV_SUCCESS ||
        CVodeSetUserData(solver->memory, solver) != CV_SUCCESS ||
        CVodeSetMaxConvFails(solver->memory, MAX_FAILURES) != CV_SUCCESS ||
        CVodeSetMaxErrTestFails(solver->memory, MAX_FAILURES) != CV_SUCCESS)
        return false;
    return isinf(problem->max_step) || CVodeSetMaxStep(solver->memory, problem->max_step) == CV_SUCCESS;
}

/* CVLsLinSysFn: I - gamma*J, where CVODE cannot add the identity itself: not all unknowns are states. */
static int whole_matrix(double time, N_Vector y, N_Vector slope, SUNMatrix matrix, int is_good, int *is_new,
                        double gamma, void *data, N_Vector work1, N_Vector work2, N_Vector work3)
{
    KoineSundials *solver = data;
    (void)work1, (void)work2, (void)work3;
    KoineStatus status = KOINE_OK;
    if (!is_good)
        status = koine_linear_evaluate(&solver->linear, solver->origin.at + time, N_VGetArrayPointer(y),
                                       N_VGetArrayPointer(slope));
    *is_new = !is_good;
    if (status == KOINE_OK)
        koine_linear_put(&solver->linear, 1, -gamma, matrix);
    return koine_sundials_tell(solver, status, time);
}

static bool set_up_corrector(KoineSundials *solver, int method)
{
    if (method == CV_ADAMS) {
        solver->nonlinear = SUNNonlinSol_FixedPoint(solver->y, 0, solver->context);
        return solver->nonlinear && CVodeSetNonlinearSolver(solver->memory, solver->nonlinear) == CV_SUCCESS;
    }
    KoineLinear *linear = &solver->linear;
    const KoineModelKind *kind = solver->base.problem->model->kind;
    const bool is_whole =
        kind->tables->patterns.whole_jacobian.start && kind->partial.jacobian && kind->partial.directional;
    if (koine_linear_create(linear, solver->base.problem, is_whole ? KOINE_BY_WHOLE : KOINE_BY_X,
                            solver->base.problem->atol, solver->y, solver->context) != KOINE_OK ||
        CVodeSetLinearSolver(solver->memory, linear->solver, linear->matrix) != CV_SUCCESS)
        return false;
    if (is_whole)
        return CVodeSetLinSysFn(solver->memory, whole_matrix) == CV_SUCCESS;
    return !linear->matrix || CVodeSetJacFn(solver->memory, koine_sundials_jacobian) == CV_SUCCESS;
}

static KoineSundialsCounts read_counts(void *memory)
{
    KoineSundialsCounts counts = { 0 };
    CVodeGetNumErrTestFails(memory, &counts.rejected);
    CVodeGetNumStepSolveFails(memory, &counts.failed);
    CVodeGetNumLinSolvSetups(memory, &counts.setups);
    CVodeGetNumNonlinSolvIters(memory, &counts.iterations);
    return counts;
}

static KoineStatus create(const KoineSolverKind *kind, int method, const KoineProblem *problem, KoineSolver **out)
{
    KoineSundials *solver;
    TRY(koine_sundials_create(kind, problem, 0, &solver));
    solver->read_counts = read_counts;
    solver->cubic.values = calloc(4 * (size_t)problem->model->kind->tables->n_x + 1, sizeof *solver->cubic.values);
    if (!solver->cubic.values || !set_up(solver, method) || !set_up_corrector(solver, method)) {
        destroy(&solver->base);
        return KOINE_FAILED;
    }
    *out = &solver->base;
    return KOINE_OK;
}

static KoineStatus restart(KoineSolver *base, double time, const double *x)
{
    KoineSundials *solver = koine_sundials_of(base);
    koine_sundials_keep_counts(solver);
    koine_sundials_place(solver, time, x);
    koine_sundials_begin_strictly(solver);
    return CVodeReInit(solver->memory, solver->origin.reached, solver->y) == CV_SUCCESS ? KOINE_OK : KOINE_FAILED;
}

/* --- Steps of order 1 --- */

/* Before a step: it may be of order 1 if it is the first, or if the last one was. */
static void keep_begin(KoineSundials *solver)
{
    KoineCubic *cubic = &solver->cubic;
    cubic->is_possible |= solver->base.from == solver->base.time; /* after a restart */
    if (cubic->is_possible)
        memcpy(cubic->values, solver->base.x, solver->base.problem->model->kind->tables->n_x * sizeof *cubic->values);
}

static void look_at_order(KoineSundials *solver)
{
    int order = 0;
    CVodeGetLastOrder(solver->memory, &order);
    koine_sundials_ease(solver, order);
    solver->cubic.is_possible = solver->cubic.is_possible && order == 1;
    solver->cubic.is_known = solver->cubic.is_used = false;
}

static void cubic_at(const KoineSundials *solver, double time, double *x)
{
    const KoineSolver *base = &solver->base;
    const size_t n = base->problem->model->kind->tables->n_x;
    const double *v = solver->cubic.values, h = base->time - base->from;
    koine_hermite(n, (time - base->from) / h, h, (const double *const[]){ v, base->x },
                  (const double *const[]){ v + n, v + 2 * n }, x);
}

/* In the middle of the step the cubic differs by no more than the error that the step may have. */
static bool agrees_with_step(KoineSundials *solver)
{
    const KoineSolver *base = &solver->base;
    const KoineProblem *problem = base->problem;
    const size_t n = problem->model->kind->tables->n_x;
    double *x = solver->cubic.values + 3 * n, middle = base->from + 0.5 * (base->time - base->from);
    cubic_at(solver, middle, x);
    N_VSetArrayPointer(N_VGetArrayPointer(solver->slope), solver->view);
    if (CVodeGetDky(solver->memory, koine_sundials_inside(solver, middle), 0, solver->view) != CV_SUCCESS)
        return false;
    const double *y = N_VGetArrayPointer(solver->slope);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= problem->tolerance * fabs(y[i]) + problem->atol[i]))
            return false;
    return true;
}

static bool is_cubic(KoineSundials *solver)
{
    KoineCubic *cubic = &solver->cubic;
    KoineSolver *base = &solver->base;
    const size_t n = base->problem->model->kind->tables->n_x;
    if (!cubic->is_possible || cubic->is_known || !(base->time > base->from))
        return cubic->is_possible && cubic->is_used;
    cubic->is_known = true;
    base->placed = NAN;
    solver->sums.evaluations += 2;
    cubic->is_used =
        koine_derivatives_at(base->problem->model, base->from, cubic->values, cubic->values + n) == KOINE_OK &&
        koine_derivatives_at(base->problem->model, base->time, base->x, cubic->values + 2 * n) == KOINE_OK &&
        agrees_with_step(solver);
    return cubic->is_used;
}

static KoineStatus advance(KoineSolver *base, double goal)
{
    KoineSundials *solver = koine_sundials_of(base);
    double reached = solver->origin.reached;
    keep_begin(solver);
    if (goal != solver->goal) {
        CVodeSetStopTime(solver->memory, goal - solver->origin.at);
        solver->goal = goal;
    }
    base->placed = NAN;
    const int flag = CVode(solver->memory, goal - solver->origin.at, solver->y, &reached, CV_ONE_STEP);
    if (flag < 0)
        return koine_sundials_failed(solver);
    look_at_order(solver);
    const KoineStatus status = koine_sundials_stepped(solver, reached, flag == CV_TSTOP_RETURN);
    if (flag == CV_TSTOP_RETURN)
        solver->goal = NAN; /* CVODE has forgotten it */
    return status;
}

static KoineStatus interpolate(KoineSolver *base, double time, double *x)
{
    KoineSundials *solver = koine_sundials_of(base);
    if (is_cubic(solver)) {
        cubic_at(solver, time, x);
        return KOINE_OK;
    }
    N_VSetArrayPointer(x, solver->view);
    return CVodeGetDky(solver->memory, koine_sundials_inside(solver, time), 0, solver->view) == CV_SUCCESS
               ? KOINE_OK
               : KOINE_FAILED;
}

double koine_cvode_norm(const KoineSolver *solver)
{
    return ((const KoineSundials *)(const void *)solver)->linear.norm;
}

static KoineStatus create_bdf(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_cvode_bdf, CV_BDF, problem, solver);
}

static KoineStatus create_adams(const KoineProblem *problem, KoineSolver **solver)
{
    return create(&koine_solver_cvode_adams, CV_ADAMS, problem, solver);
}

const KoineSolverKind koine_solver_cvode_bdf = {
    .name = "cvode-bdf",
    .description = "CVODE, BDF of variable order 1 to 5 with Newton iteration; for stiff models",
    .create = create_bdf,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .statistics = koine_sundials_statistics,
};

const KoineSolverKind koine_solver_cvode_adams = {
    .name = "cvode-adams",
    .description = "CVODE, Adams methods of variable order 1 to 12; for non-stiff models that are costly to evaluate",
    .create = create_adams,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .statistics = koine_sundials_statistics,
};
#endif
