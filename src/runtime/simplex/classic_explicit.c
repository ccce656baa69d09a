/* The explicit ones of the classic methods: Euler, Runge and Kutta, Fehlberg.
 *
 * The document calls its third method one of order 5/6, but the value that it prints for a step over a kink, 2.248,
 * is that of Fehlberg's pair 4(5), going on with order 4. That pair it is here. */
#include "runtime/simplex/classic.h"

enum { MAX_STAGES = 6 };

typedef struct {
    uint32_t stages;
    double time[MAX_STAGES], inner[MAX_STAGES][MAX_STAGES - 1];
    double end[MAX_STAGES], better[MAX_STAGES];
} Tableau;

static const Tableau euler_tableau = { .stages = 1, .end = { 1 } };

static const Tableau rk4_tableau = {
    .stages = 4,
    .time = { 0, 0.5, 0.5, 1 },
    .inner = { { 0 }, { 0.5 }, { 0, 0.5 }, { 0, 0, 1 } },
    .end = { 1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6 },
};

/* Fehlberg, Computing 6 (1970), 61-71, formula 2. */
static const Tableau fehlberg_tableau = {
    .stages = 6,
    .time = { 0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1, 1.0 / 2 },
    .inner = { { 0 },
               { 1.0 / 4 },
               { 3.0 / 32, 9.0 / 32 },
               { 1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197 },
               { 439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104 },
               { -8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40 } },
    .end = { 25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0 },
    .better = { 16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55 },
};

/* to := x + h * sum of weight[j]*slopes[j], j < n_slopes; slopes[0] is the one at the beginning. */
static void combine(const KoineClassic *classic, const KoineClassicStep *step, const double *weight, uint32_t n_slopes,
                    double *to)
{
    const double *x = step->x;
    for (size_t i = 0; i < classic->n; i++) {
        double sum = weight[0] * step->slope[i];
        for (uint32_t j = 1; j < n_slopes; j++)
            sum += weight[j] * classic->work[j][i];
        to[i] = x[i] + step->h * sum;
    }
}

static KoineStatus explicit_step(KoineClassic *classic, const Tableau *tableau, const KoineClassicStep *step)
{
    double *point = classic->work[0];
    for (uint32_t k = 1; k < tableau->stages; k++) {
        combine(classic, step, tableau->inner[k], k, point);
        const KoineStatus status =
            koine_classic_slope(classic, step->time + tableau->time[k] * step->h, point, classic->work[k]);
        if (status != KOINE_OK)
            return status;
    }
    combine(classic, step, tableau->end, tableau->stages, step->end);
    if (step->better)
        combine(classic, step, tableau->better, tableau->stages, step->better);
    return KOINE_OK;
}

static KoineStatus euler_step(KoineClassic *classic, const KoineClassicStep *step)
{
    return explicit_step(classic, &euler_tableau, step);
}

static KoineStatus rk4_step(KoineClassic *classic, const KoineClassicStep *step)
{
    return explicit_step(classic, &rk4_tableau, step);
}

static KoineStatus fehlberg_step(KoineClassic *classic, const KoineClassicStep *step)
{
    return explicit_step(classic, &fehlberg_tableau, step);
}

static const KoineClassicMethod euler = { .kind = &koine_solver_simplex_euler, .n_work = 1, .step = euler_step };
static const KoineClassicMethod rk4 = { .kind = &koine_solver_simplex_rk4, .n_work = 4, .step = rk4_step };
static const KoineClassicMethod fehlberg = {
    .kind = &koine_solver_simplex_fehlberg, .n_work = 6, .has_estimate = true, .step = fehlberg_step
};

KOINE_CLASSIC_ROW(euler, "simplex-euler", "SIMPLEX method 1: explicit Euler, order 1, steps halved and doubled");
KOINE_CLASSIC_ROW(rk4, "simplex-rk4", "SIMPLEX method 2: classical Runge-Kutta, order 4, steps halved and doubled");
KOINE_CLASSIC_ROW(fehlberg, "simplex-fehlberg",
                  "SIMPLEX method 3: Runge-Kutta-Fehlberg 4(5), steps halved and doubled; the default of SIMPLEX");
