/* Dormand and Prince 5(4) with the fourth-order interpolant of Shampine; see pair.h.
 *
 * Coefficients: Dormand, Prince, J. Comp. Appl. Math. 6 (1980); interpolant and the test of stiffness as in
 * Hairer, Norsett, Wanner I, II.6 and Hairer, Wanner II, IV.2. Slopes k[0] .. k[6] are k1 .. k7 of the book. */
#include "runtime/embedded.h"

static KoineStatus at(KoineEmbedded *pair, double *clock, double time)
{
    *clock = time;
    return pair->derivatives(pair->base.problem->model);
}

/* Evaluates at the trial state, stores the slope and writes the next trial state: y + h*(weight*slope + the others).
 * The slope comes last, so that the sum of the others need not wait for it. */
#define STAGE(time, k, weight, others)                                                                                 \
    if ((status = at(pair, clock, time)) != KOINE_OK)                                                                  \
        return status;                                                                                                 \
    KOINE_INDEPENDENT                                                                                                  \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        x[i] = y[i] + h * (others) + h * (weight)*dx[i];                                                               \
        k[i] = dx[i];                                                                                                  \
    }

KOINE_FOR_EACH_SIZE KoineStatus trial_of(size_t n, KoineEmbedded *pair, double h, double *error2)
{
    KoineModel *model = pair->base.problem->model;
    const double t = pair->base.time, *y = pair->y_old, *dx = koine_slopes(model), *k1 = pair->k[0];
    double *x = koine_states(model), *clock = koine_time(model);
    double *k2 = pair->k[1], *k3 = pair->k[2], *k4 = pair->k[3], *k5 = pair->k[4], *k6 = pair->k[5], *k7 = pair->k[6],
           *y_new = pair->y;
    const double *atol = pair->base.problem->atol, tolerance = pair->base.problem->tolerance;
    KoineStatus status;

    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] + h * (1.0 / 5.0 * k1[i]);
    STAGE(t + 0.2 * h, k2, 9.0 / 40.0, 3.0 / 40.0 * k1[i])
    STAGE(t + 0.3 * h, k3, 32.0 / 9.0, 44.0 / 45.0 * k1[i] - 56.0 / 15.0 * k2[i])
    STAGE(t + 0.8 * h, k4, -212.0 / 729.0,
          19372.0 / 6561.0 * k1[i] - 25360.0 / 2187.0 * k2[i] + 64448.0 / 6561.0 * k3[i])
    STAGE(t + 8.0 / 9.0 * h, k5, -5103.0 / 18656.0,
          9017.0 / 3168.0 * k1[i] - 355.0 / 33.0 * k2[i] + 46732.0 / 5247.0 * k3[i] + 49.0 / 176.0 * k4[i])
    STAGE(t + h, k6, 11.0 / 84.0,
          35.0 / 384.0 * k1[i] + 500.0 / 1113.0 * k3[i] + 125.0 / 192.0 * k4[i] - 2187.0 / 6784.0 * k5[i])
    if ((status = at(pair, clock, t + h)) != KOINE_OK)
        return status;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        k7[i] = dx[i];
        y_new[i] = x[i];
        const double e = h * (71.0 / 57600.0 * k1[i] - 71.0 / 16695.0 * k3[i] + 71.0 / 1920.0 * k4[i] -
                              17253.0 / 339200.0 * k5[i] + 22.0 / 525.0 * k6[i] - 1.0 / 40.0 * k7[i]);
        const double a = fabs(y[i]), b = fabs(x[i]);
        const double w = e / (atol[i] + tolerance * (a > b ? a : b));
        sum += w * w;
    }
    *error2 = sum / (double)n;
    return KOINE_OK;
}

static KoineStatus trial(KoineEmbedded *pair, double h, double *error2)
{
    return KOINE_BY_SIZE(trial_of, pair->n, pair, h, error2);
}

/* Behind a corner a slope may begin as a root does, sqrt(t) or t^0.3: its derivative is infinite there, and the error
 * of a step that begins at it is 20 to 50 times the estimate. The parabola through the slopes at 0.2, 0.3 and 0.8 of
 * the step misses that of its beginning then by a good part of what it changes by in the step. Six hundredths of that
 * are the error. */
static bool has_cusp(const KoineEmbedded *pair, double h)
{
    static const double SHARE = 0.15, MOST = 50; /* of the change; of the tolerance */
    const double *const *const k = (const double *const *)pair->k;
    const double *atol = pair->base.problem->atol, tolerance = pair->base.problem->tolerance;
    for (size_t i = 0; i < pair->n; i++) {
        const double a = k[0][i], miss = fabs(a - (4 * k[1][i] - 3.2 * k[2][i] + 0.2 * k[3][i]));
        const double change =
            koine_max(koine_max(fabs(k[1][i] - a), fabs(k[2][i] - a)), koine_max(fabs(k[3][i] - a), fabs(k[6][i] - a)));
        if (miss > SHARE * change && h * miss > MOST * (atol[i] + tolerance * fabs(pair->y[i])))
            return true;
    }
    return false;
}

static KoineStatus prepare(KoineEmbedded *pair)
{
    const size_t n = pair->n;
    const double h = pair->last, *a = pair->y_old, *b = pair->y;
    const double *const *const k = (const double *const *)pair->k;
    double *r = pair->interpolant.coefficients;
    for (size_t i = 0; i < n; i++) {
        const double change = b[i] - a[i], bend = h * k[0][i] - change;
        r[i] = change;
        r[n + i] = bend;
        r[2 * n + i] = change - h * k[6][i] - bend;
        r[3 * n + i] = h * (-12715105075.0 / 11282082432.0 * k[0][i] + 87487479700.0 / 32700410799.0 * k[2][i] -
                            10690763975.0 / 1880347072.0 * k[3][i] + 701980252875.0 / 199316789632.0 * k[4][i] -
                            1453857185.0 / 822651844.0 * k[5][i] + 69997945.0 / 29380423.0 * k[6][i]);
    }
    return KOINE_OK;
}

KOINE_FOR_EACH_SIZE void interpolate_of(size_t n, const KoineEmbedded *pair, double s, double *x)
{
    const double r = 1 - s, *a = pair->y_old, *d = pair->interpolant.coefficients;
    for (size_t i = 0; i < n; i++)
        x[i] = a[i] + s * (d[i] + r * (d[n + i] + s * (d[2 * n + i] + r * d[3 * n + i])));
}

static void interpolate(const KoineEmbedded *pair, double s, double *x)
{
    KOINE_BY_SIZE(interpolate_of, pair->n, pair, s, x);
}

/* The interpolant is the sum of s, s*r, s^2*r, s^2*r^2 and so on, where r = 1-s, times the coefficients; these are the
 * Bernstein values of each. */
static void polynomial(const KoineEmbedded *pair, size_t i, double *values)
{
    const size_t n = pair->n;
    const double a = pair->y_old[i], *d = pair->interpolant.coefficients;
    values[0] = a;
    values[1] = a + 1.0 / 4.0 * d[i] + 1.0 / 4.0 * d[n + i];
    values[2] = a + 1.0 / 2.0 * d[i] + 1.0 / 3.0 * d[n + i] + 1.0 / 6.0 * d[2 * n + i] + 1.0 / 6.0 * d[3 * n + i];
    values[3] = a + 3.0 / 4.0 * d[i] + 1.0 / 4.0 * d[n + i] + 1.0 / 4.0 * d[2 * n + i];
    values[4] = a + d[i];
}

/* Stages 6 and 7 stand at the same time: the change of the slope between them shows the largest eigenvalue. */
KOINE_FOR_EACH_SIZE double stiffness_of(size_t n, const KoineEmbedded *pair)
{
    const double *const *const k = (const double *const *)pair->k;
    double slopes = 0, states = 0;
    for (size_t i = 0; i < n; i++) {
        const double dk = k[6][i] - k[5][i];
        const double dy = (35.0 / 384.0 - 9017.0 / 3168.0) * k[0][i] + 355.0 / 33.0 * k[1][i] +
                          (500.0 / 1113.0 - 46732.0 / 5247.0) * k[2][i] + (125.0 / 192.0 - 49.0 / 176.0) * k[3][i] +
                          (5103.0 / 18656.0 - 2187.0 / 6784.0) * k[4][i] + 11.0 / 84.0 * k[5][i];
        const double w = koine_embedded_weight(pair, i);
        slopes += w * dk * (w * dk);
        states += w * dy * (w * dy);
    }
    return states > 0 ? sqrt(slopes / states) : 0; /* dy lacks the factor h, so the quotient is h*lambda already */
}

static double stiffness(const KoineEmbedded *pair)
{
    return KOINE_BY_SIZE(stiffness_of, pair->n, pair);
}

const KoineEmbeddedMethod koine_dopri5 = {
    .kind = &koine_solver_dopri5,
    .n_slopes = 7,
    .last = 6,
    .n_dense = 4,
    .stages = 6,
    .exponent = 1.0 / 5.0,
    .beta = 0.04,
    .min_factor = 0.2,
    .max_factor = 10,
    .stable = 3.25,
    .trial = trial,
    .prepare = prepare,
    .interpolate = interpolate,
    .polynomial = polynomial,
    .stiffness = stiffness,
    .has_cusp = has_cusp,
};
