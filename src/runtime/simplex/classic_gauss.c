/* The implicit Runge-Kutta method of Gauss with three stages, order 6: the fourth of the classic methods.
 *
 * The stages are found by Newton's method with df/dx at the beginning of the step: iteration with the stages alone
 * would bind the step of a stiff model, which is what an implicit method is there to avoid. Where df/dx is zero it
 * is that iteration. One that does not converge halves the step. Where steps may not be adapted the last iterate
 * counts unless the iteration runs away; so a step over the kink of the document, where it goes round in a circle,
 * gives the document's 2.5. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/simplex/classic_linear.h"

enum { STAGES = KOINE_CLASSIC_STAGES, STAGE = 0, SLOPES = STAGES, RIGHT = 2 * STAGES, N_WORK = 3 * STAGES };
enum { MAX_ITERATIONS = 20 };

static const double SHARE = 1e-4;      /* of the error allowed, for the iteration */
static const double GOOD_ENOUGH = 0.1; /* of the error allowed, where the iteration goes round in a circle */
static const double FINEST = 1e-14;
static const double RUNAWAY = 2; /* last change over the first */

#define ROOT15 3.872983346207417
static const double STAGE_TIME[STAGES] = { 0.5 - ROOT15 / 10, 0.5, 0.5 + ROOT15 / 10 };
static const double INNER[STAGES][STAGES] = {
    { 5.0 / 36, 2.0 / 9 - ROOT15 / 15, 5.0 / 36 - ROOT15 / 30 },
    { 5.0 / 36 + ROOT15 / 24, 2.0 / 9, 5.0 / 36 - ROOT15 / 24 },
    { 5.0 / 36 + ROOT15 / 30, 2.0 / 9 + ROOT15 / 15, 5.0 / 36 },
};
static const double END[STAGES] = { 5.0 / 3, -4.0 / 3, 5.0 / 3 }; /* weights of the method times the inverse of INNER */

/* Stages are increments over x, one after the other from work[STAGE]; so are their slopes and the right side. */
static KoineStatus find_slopes(KoineClassic *classic, const KoineClassicStep *step)
{
    double *point = step->end;
    for (uint32_t s = 0; s < STAGES; s++) {
        for (size_t i = 0; i < classic->n; i++)
            point[i] = step->x[i] + classic->work[STAGE + s][i];
        const KoineStatus status =
            koine_classic_slope(classic, step->time + STAGE_TIME[s] * step->h, point, classic->work[SLOPES + s]);
        if (status != KOINE_OK)
            return status;
    }
    return KOINE_OK;
}

/* One iteration; *change is the largest of the stages, relative. */
static KoineStatus iterate(KoineClassic *classic, const KoineClassicStep *step, double *change)
{
    double *const *const slopes = &classic->work[SLOPES];
    KoineStatus status = find_slopes(classic, step);
    if (status != KOINE_OK)
        return status;
    for (uint32_t s = 0; s < STAGES; s++)
        for (size_t i = 0; i < classic->n; i++) {
            const double sum = INNER[s][0] * slopes[0][i] + INNER[s][1] * slopes[1][i] + INNER[s][2] * slopes[2][i];
            classic->work[RIGHT + s][i] = step->h * sum - classic->work[STAGE + s][i];
        }
    status = koine_classic_linear_solve(classic, classic->work[RIGHT]);
    if (status != KOINE_OK)
        return status;
    *change = 0;
    for (uint32_t s = 0; s < STAGES; s++)
        for (size_t i = 0; i < classic->n; i++) {
            const double d = classic->work[RIGHT + s][i];
            const double size = koine_max(fabs(step->x[i]), koine_classic_floor(classic->base.problem, i));
            classic->work[STAGE + s][i] += d;
            if (fabs(d) > *change * size) {
                *change = fabs(d) / size;
                classic->errors.worst = (uint32_t)i;
            }
        }
    return koine_is_finite(classic->work[RIGHT], STAGES * classic->n) ? KOINE_OK : KOINE_RETRY;
}

static KoineStatus solve_stages(KoineClassic *classic, const KoineClassicStep *step)
{
    const KoineProblem *problem = classic->base.problem;
    const double enough = koine_max(SHARE * problem->control.high_error, FINEST);
    double first = 0, last = 0, change = 0;
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        const KoineStatus status = iterate(classic, step, &change);
        ++koine_classic_linear_of(classic)->iterations;
        if (status != KOINE_OK)
            return status;
        const double rate = k > 0 ? change / last : 1;
        if (change <= enough || (rate < 1 && change * rate <= enough * (1 - rate)))
            return KOINE_OK;
        first = k == 0 ? change : first;
        last = change;
    }
    if (change <= GOOD_ENOUGH * problem->control.high_error) /* it goes round within the error allowed */
        return KOINE_OK;
    classic->is_unsolved = problem->control.error_mode == KOINE_ERROR_ADAPT || change > RUNAWAY * first;
    return classic->is_unsolved ? KOINE_RETRY : KOINE_OK;
}

/* Once more, beginning with stages that do not move. The method does not damp what is fast: where its slope is left
 * over from earlier steps, a large step along it is no guess of anything. */
static KoineStatus solve_from_rest(KoineClassic *classic, const KoineClassicStep *step)
{
    classic->is_unsolved = false;
    for (uint32_t s = 0; s < STAGES; s++)
        memset(classic->work[STAGE + s], 0, classic->n * sizeof(double));
    return solve_stages(classic, step);
}

static KoineStatus gauss_step(KoineClassic *classic, const KoineClassicStep *step)
{
    double *const *const stages = &classic->work[STAGE];
    KoineStatus status = koine_classic_linear_factorise_all(classic, step, INNER);
    if (status != KOINE_OK)
        return status;
    for (uint32_t s = 0; s < STAGES; s++)
        for (size_t i = 0; i < classic->n; i++)
            stages[s][i] = STAGE_TIME[s] * step->h * step->slope[i];
    status = solve_stages(classic, step);
    if (status == KOINE_RETRY)
        status = solve_from_rest(classic, step);
    if (status != KOINE_OK)
        return status;
    for (size_t i = 0; i < classic->n; i++)
        step->end[i] = step->x[i] + (END[0] * stages[0][i] + END[1] * stages[1][i] + END[2] * stages[2][i]);
    return KOINE_OK;
}

static KoineStatus create_system(KoineClassic *classic)
{
    return koine_classic_linear_create(classic, STAGES);
}

static const KoineClassicMethod gauss = { .kind = &koine_solver_simplex_gauss,
                                          .n_work = N_WORK,
                                          .create = create_system,
                                          .destroy = koine_classic_linear_destroy,
                                          .forget = koine_classic_linear_forget,
                                          .step = gauss_step,
                                          .damp = koine_classic_linear_damp,
                                          .visit = koine_classic_linear_visit,
                                          .statistics = koine_classic_linear_statistics };

KOINE_CLASSIC_ROW(gauss, "simplex-gauss",
                  "SIMPLEX method 4: implicit Runge-Kutta of Gauss, order 6, steps halved and doubled; very stable");
#endif
