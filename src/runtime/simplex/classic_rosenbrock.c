/* Rosenbrock and Wanner, order 4, with the coefficients GRK4A of Kaps and Rentrop: the sixth of the classic methods.
 *
 * Four linear systems with one matrix make a step, no iteration; A-stable for angles up to 89 degrees. Written with
 * U = (I/(gamma*h) - J)^-1 (...), which saves products with J: Hairer and Wanner, Solving Ordinary Differential
 * Equations II, IV.7. With J = 0 a step over the kink of the document gives its 2.261. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/simplex/classic_linear.h"

enum { STAGES = 4, POINT = STAGES, SLOPE, BY_TIME, N_WORK };

static const double TIME_SHARE = 1e-4; /* of the step, for df/dt: inside of it, whatever the time */
static const double GAMMA = 0.395;
static const double STAGE_TIME[STAGES] = { 0, 0.438, 0.87, 0.87 };
static const double INNER[STAGES][STAGES - 1] = {
    { 0 },
    { 1.108860759493671 },
    { 2.377085261983360, 0.1850114988899692 },
    { 2.377085261983360, 0.1850114988899692, 0 },
};
static const double COUPLING[STAGES][STAGES - 1] = {
    { 0 },
    { -4.920188402397641 },
    { 1.055588686048583, 3.351817267668938 },
    { 3.846869007049313, 3.427109241268180, -2.162408848753263 },
};
static const double BY_TIME_WEIGHT[STAGES] = { 0.395, -0.3726723954840920, 0.06629196544571492, 0.4340946962568634 };
static const double END[STAGES] = { 1.845683240405840, 0.1369796894360503, 0.7129097783291559, 0.6329113924050632 };

/* work[BY_TIME] := df/dt from the slopes after d and 2*d. */
static KoineStatus by_time_within(KoineClassic *classic, const KoineClassicStep *step, double d)
{
    double *slope = classic->work[BY_TIME], *further = classic->work[SLOPE];
    d = step->time + d - step->time; /* as it is in fact */
    KoineStatus status = koine_classic_slope(classic, step->time + d, step->x, slope);
    if (status == KOINE_OK)
        status = koine_classic_slope(classic, step->time + 2 * d, step->x, further);
    for (size_t i = 0; status == KOINE_OK && i < classic->n; i++) {
        const double first = slope[i] - step->slope[i], second = further[i] - step->slope[i];
        slope[i] = (4 * first - second) / (2 * d);
    }
    return status;
}

/* df/dt by a difference quotient, to the side where there is a value. It has the rounding of the derivatives, many
 * times. So it is that of the whole step wherever in it a value is asked for: else values inside it, which are those of
 * shorter steps, would make a saw of a smooth line. */
static KoineStatus by_time(KoineClassic *classic, const KoineClassicStep *step)
{
    const KoineSolver *base = &classic->base;
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    if (system->has_by_time)
        return KOINE_OK;
    const double whole = step->time == base->from ? koine_max(step->h, base->time - base->from) : step->h;
    const double d = koine_max(TIME_SHARE * whole, koine_near(step->time));
    KoineStatus status = by_time_within(classic, step, d);
    if (status == KOINE_RETRY)
        status = by_time_within(classic, step, -d);
    system->has_by_time = status == KOINE_OK;
    return status;
}

/* work[k] := U of stage k, with the slope at its point. */
static KoineStatus stage(KoineClassic *classic, const KoineClassicStep *step, uint32_t k, const double *slope)
{
    double *u = classic->work[k];
    const double *change = classic->work[BY_TIME];
    for (size_t i = 0; i < classic->n; i++) {
        double sum = slope[i] + step->h * BY_TIME_WEIGHT[k] * change[i];
        for (uint32_t j = 0; j < k; j++)
            sum += COUPLING[k][j] / step->h * classic->work[j][i];
        u[i] = sum;
    }
    return koine_classic_linear_solve(classic, u);
}

/* to := x + sum of weight[j]*U[j] */
static void combine(const KoineClassic *classic, const KoineClassicStep *step, const double *weight, uint32_t n,
                    double *to)
{
    for (size_t i = 0; i < classic->n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += weight[j] * classic->work[j][i];
        to[i] = step->x[i] + sum;
    }
}

static KoineStatus rosenbrock_step(KoineClassic *classic, const KoineClassicStep *step)
{
    const double *slope = step->slope;
    KoineStatus status = koine_classic_linear_factorise(classic, step, GAMMA * step->h);
    if (status == KOINE_OK)
        status = by_time(classic, step);
    for (uint32_t k = 0; k < STAGES && status == KOINE_OK; k++) {
        if (k == 1 || k == 2) { /* the last stage stands where the third does */
            combine(classic, step, INNER[k], k, classic->work[POINT]);
            slope = classic->work[SLOPE];
            status = koine_classic_slope(classic, step->time + STAGE_TIME[k] * step->h, classic->work[POINT],
                                         classic->work[SLOPE]);
        }
        if (status == KOINE_OK)
            status = stage(classic, step, k, slope);
    }
    if (status == KOINE_OK)
        combine(classic, step, END, STAGES, step->end);
    return status;
}

/* df/dt, too, is that of the whole step. */
static bool visit(KoineClassic *classic, KoinePieces *pieces)
{
    const bool is_whole = koine_classic_linear_visit(classic, pieces);
    if (koine_classic_linear_of(classic)->has_by_time)
        koine_piece_numbers(pieces, classic->work[BY_TIME], classic->n);
    return is_whole;
}

static KoineStatus create_system(KoineClassic *classic)
{
    return koine_classic_linear_create(classic, 1);
}

static const KoineClassicMethod rosenbrock = { .kind = &koine_solver_simplex_rosenbrock,
                                               .n_work = N_WORK,
                                               .create = create_system,
                                               .destroy = koine_classic_linear_destroy,
                                               .forget = koine_classic_linear_forget,
                                               .step = rosenbrock_step,
                                               .damp = koine_classic_linear_damp,
                                               .visit = visit,
                                               .statistics = koine_classic_linear_statistics };

KOINE_CLASSIC_ROW(
    rosenbrock, "simplex-rosenbrock",
    "SIMPLEX method 6: Rosenbrock-Wanner, order 4, steps halved and doubled; for stiff models at modest tolerances");
#endif
