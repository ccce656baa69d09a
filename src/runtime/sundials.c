/* Shared by the rows built on SUNDIALS; see sundials.h. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/sundials.h"
#include "runtime/vectors.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t MAX_TINY = 50; /* steps in a row that are too short to get on */

static const double BEGIN_STRICTNESS = 10; /* of a multistep method ... */
static const int EASE_AT_ORDER = 4;        /* ... below this order ... */
static const uint32_t EASE_AFTER = 24;     /* ... for so many steps at most: a model may never reach it */

static const double LATE =
    1e-10; /* of what is left of the run: a time that is rounded by more cannot hold short steps */
static const double ROUNDING = 1e3 * DBL_EPSILON; /* times the largest unknown: below it, a zero that was computed */

static double start_of(const KoineProblem *problem, uint32_t j)
{
    return *(const double *)(const void *)(problem->model->block + problem->model->kind->tables->unknowns.at[j]);
}

/* SUNDIALS has no const vectors; tolerances are only read. Those of unknowns w follow the rule for states. */
static N_Vector make_tolerances(const KoineProblem *problem, uint32_t n_w, SUNContext context)
{
    const KoineTables *tables = problem->model->kind->tables;
    if (n_w == 0)
        return N_VMake_Serial(tables->n_x, (double *)(uintptr_t)problem->atol, context);
    const N_Vector atol = N_VNew_Serial(tables->n_x + n_w, context);
    double *values = atol ? N_VGetArrayPointer(atol) : NULL;
    if (values)
        memcpy(values, problem->atol, tables->n_x * sizeof *values);
    double largest = 0;
    for (uint32_t j = 0; j < n_w; j++)
        largest = fmax(largest, fabs(start_of(problem, j)));
    for (uint32_t j = 0; values && j < n_w; j++) {
        const double w = fabs(start_of(problem, j)), rounding = ROUNDING * largest;
        values[tables->n_x + j] = w > rounding && isfinite(w)
                                      ? problem->tolerance * 1e-3 * fmin(fmax(w, 1e-6), 1)
                                      : fmax(problem->tolerance * 1e-3 * tables->unknowns.nominals[j], 0.1 * rounding);
    }
    return atol;
}

KoineStatus koine_sundials_create(const KoineSolverKind *kind, const KoineProblem *problem, uint32_t n_w,
                                  KoineSundials **out)
{
    const uint32_t n = problem->model->kind->tables->n_x + n_w;
    KoineSundials *solver = malloc(sizeof *solver);
    if (!solver)
        return KOINE_FAILED;
    *solver = (KoineSundials){ .base = { .kind = kind, .problem = problem, .placed = NAN },
                               .goal = NAN,
                               .strictness = 1,
                               .trouble.failed_time = NAN };
    if (SUNContext_Create(NULL, &solver->context) == 0) {
        solver->y = N_VNew_Serial(n, solver->context);
        solver->slope = N_VNew_Serial(n, solver->context);
        solver->view = N_VNewEmpty_Serial(n, solver->context);
        solver->atol = make_tolerances(problem, n_w, solver->context);
        solver->whole = n_w ? N_VNew_Serial(n, solver->context) : NULL;
    }
    if (!solver->y || !solver->slope || !solver->view || !solver->atol || (n_w && !solver->whole)) {
        koine_sundials_destroy(solver);
        return KOINE_FAILED;
    }
    const N_Vector vectors[] = { solver->y, solver->slope, solver->view, solver->whole };
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        if (vectors[k])
            koine_vectors_lean(vectors[k]);
    N_VConst(0, solver->y);
    N_VConst(0, solver->slope);
    solver->base.x = N_VGetArrayPointer(solver->y);
    *out = solver;
    return KOINE_OK;
}

void koine_sundials_destroy(KoineSundials *solver)
{
    koine_linear_destroy(&solver->linear);
    if (solver->nonlinear)
        SUNNonlinSolFree(solver->nonlinear);
    const N_Vector vectors[] = { solver->y, solver->slope, solver->view, solver->atol, solver->whole };
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        if (vectors[k])
            N_VDestroy(vectors[k]);
    free(solver->cubic.values);
    if (solver->context)
        SUNContext_Free(&solver->context);
    free(solver);
}

/* Below h_cross a point that cannot be evaluated ends the search for a smaller step (2.3 of the semantics). */
int koine_sundials_tell(KoineSundials *solver, KoineStatus status, double inner)
{
    const double time = solver->origin.at + inner;
    if (status == KOINE_OK)
        return 0;
    if (status < 0) {
        solver->trouble.failure = status;
        return -1;
    }
    solver->trouble.failed_time = time;
    const double usual = solver->largest > 0 ? solver->largest : time - solver->base.time;
    if (time - solver->base.time > koine_crossing_step(solver->base.problem, solver->base.time, usual))
        return 1;
    solver->trouble.is_stuck = true;
    return -1;
}

/* A step that overflowed makes the time no number, and SUNDIALS may try with it for ever. */
bool koine_sundials_goes_on(KoineSundials *solver, double time)
{
    if (koine_interrupted(solver->base.problem))
        solver->trouble.failure = KOINE_FAILED;
    solver->trouble.is_lost = !isfinite(time);
    return solver->trouble.failure >= 0 && !solver->trouble.is_lost;
}

int koine_sundials_slope(double time, N_Vector y, N_Vector slope, void *data)
{
    KoineSundials *solver = data;
    solver->sums.evaluations++;
    if (!koine_sundials_goes_on(solver, time))
        return -1;
    const KoineStatus status = koine_derivatives_at(solver->base.problem->model, solver->origin.at + time,
                                                    N_VGetArrayPointer(y), N_VGetArrayPointer(slope));
    return status == KOINE_OK ? 0 : koine_sundials_tell(solver, status, time);
}

int koine_sundials_jacobian(double time, N_Vector y, N_Vector slope, SUNMatrix matrix, void *data, N_Vector work1,
                            N_Vector work2, N_Vector work3)
{
    KoineSundials *solver = data;
    (void)work1, (void)work2, (void)work3;
    const KoineStatus status = koine_linear_fill(&solver->linear, solver->origin.at + time, N_VGetArrayPointer(y),
                                                 N_VGetArrayPointer(slope), 0, 1, matrix);
    return koine_sundials_tell(solver, status, time);
}

int koine_sundials_weights(N_Vector y, N_Vector weights, void *data)
{
    const KoineSundials *solver = data;
    const KoineProblem *problem = solver->base.problem;
    const size_t n_x = problem->model->kind->tables->n_x, n = (size_t)N_VGetLength(y);
    const double *values = N_VGetArrayPointer(y), *others = N_VGetArrayPointer(solver->atol);
    const double tolerance = problem->tolerance, strictness = solver->strictness, *atol = problem->atol;
    double *w = N_VGetArrayPointer(weights);
    KOINE_INDEPENDENT
    for (size_t i = 0; i < n_x; i++)
        w[i] = strictness / (tolerance * fabs(values[i]) + atol[i]);
    for (size_t i = n_x; i < n; i++)
        w[i] = strictness / (tolerance * fabs(values[i]) + others[i]);
    return 0;
}

void koine_sundials_message(int code, const char *module, const char *function, char *text, void *data)
{
    const KoineSundials *solver = data;
    if (code < 0)
        snprintf(solver->base.problem->text, solver->base.problem->text_size, "%s, %s: %s", module, function, text);
}

void koine_sundials_keep_counts(KoineSundials *solver)
{
    const KoineSundialsCounts counts = solver->read_counts(solver->memory);
    solver->sums.rejected += (uint64_t)(counts.rejected + counts.failed);
    solver->sums.factorisations += (uint64_t)counts.setups;
    solver->sums.iterations += (uint64_t)counts.iterations;
}

void koine_sundials_statistics(const KoineSolver *base, KoineRunStatistics *out)
{
    KoineSundials copy = *(const KoineSundials *)(const void *)base; /* the counters of this one stay as they are */
    koine_sundials_keep_counts(&copy);
    out->integration.steps += copy.sums.steps;
    out->integration.rejected_steps += copy.sums.rejected;
    out->integration.evaluations += copy.sums.evaluations + copy.linear.evaluations;
    out->integration.jacobians += copy.linear.jacobians;
    out->integration.factorisations += copy.sums.factorisations;
    out->integration.nonlinear_iterations += copy.sums.iterations;
}

void koine_sundials_place(KoineSundials *solver, double time, const double *x)
{
    KoineSolver *base = &solver->base;
    if (x) {
        memcpy(N_VGetArrayPointer(solver->y), x, base->problem->model->kind->tables->n_x * sizeof *x);
        solver->largest = 0;
    }
    base->from = base->time = time;
    solver->origin.at = koine_ulp(time) > LATE * (base->problem->stop - time) ? time : 0;
    solver->origin.from = solver->origin.reached = time - solver->origin.at;
    solver->goal = NAN;
    solver->trouble.is_stuck = false;
    solver->trouble.failure = KOINE_OK;
}

void koine_sundials_begin_strictly(KoineSundials *solver)
{
    solver->strictness = BEGIN_STRICTNESS;
    solver->n_begun = 0;
}

void koine_sundials_ease(KoineSundials *solver, int order)
{
    if (solver->strictness > 1 && (order >= EASE_AT_ORDER || ++solver->n_begun >= EASE_AFTER))
        solver->strictness = 1;
}

KoineStatus koine_sundials_failed(KoineSundials *solver)
{
    solver->base.from = solver->base.time;
    if (solver->trouble.failure < 0 || solver->trouble.is_stuck)
        solver->base.problem->text[0] = '\0'; /* the fault of the model says more */
    if (solver->trouble.failure < 0)
        return solver->trouble.failure;
    if (solver->trouble.is_lost)
        snprintf(solver->base.problem->text, solver->base.problem->text_size,
                 "%s: the size of a step cannot be computed: the derivatives are too large or grow too fast",
                 solver->base.kind->name);
    return solver->trouble.is_stuck ? KOINE_RETRY : KOINE_FAILED;
}

/* A step too short to get on: after a failed evaluation the branch may end here, else the solution does. */
static KoineStatus stepped_tiny(KoineSundials *solver, double h, bool has_failed)
{
    const KoineProblem *problem = solver->base.problem;
    if (++solver->trouble.tiny <= MAX_TINY)
        return KOINE_OK;
    if (has_failed)
        return KOINE_RETRY;
    koine_step_vanished(problem);
    snprintf(problem->text, problem->text_size,
             "%s: the step size fell to %.3g: the solution may end here, or the tolerance %.3g is too small",
             solver->base.kind->name, h, problem->tolerance);
    return KOINE_FAILED;
}

double koine_sundials_inside(const KoineSundials *solver, double time)
{
    const KoineEpoch *origin = &solver->origin;
    return origin->at == 0 ? time : koine_min(koine_max(time - origin->at, origin->from), origin->reached);
}

KoineStatus koine_sundials_stepped(KoineSundials *solver, double inner, bool is_at_goal)
{
    KoineSolver *base = &solver->base;
    KoineEpoch *origin = &solver->origin;
    const double reached = is_at_goal ? solver->goal : origin->at + inner;
    origin->from = origin->reached;
    origin->reached = reached == solver->goal ? reached - origin->at : inner;
    if (solver->trouble.failure < 0) /* the fixed point iteration takes it for a reason to try again */
        return koine_sundials_failed(solver);
    const double h = origin->at == 0 ? reached - base->time : origin->reached - origin->from,
                 usual = koine_max(solver->largest, h);
    const bool has_failed = !isnan(solver->trouble.failed_time);
    const double least = has_failed ? koine_crossing_step(base->problem, base->time, usual) : koine_near(inner);
    base->from = base->time;
    base->time = reached;
    solver->largest = usual;
    solver->sums.steps++;
    if (h < least && reached != solver->goal)
        return stepped_tiny(solver, h, has_failed);
    solver->trouble.failed_time = NAN;
    solver->trouble.tiny = 0;
    return KOINE_OK;
}
#endif
