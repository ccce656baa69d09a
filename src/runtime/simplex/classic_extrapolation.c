/* Extrapolation after Gragg, Bulirsch and Stoer: the fifth of the classic methods.
 *
 * The modified midpoint rule with 2, 4, 6 inner steps has an error in even powers of the inner step; three values
 * extrapolated to zero give order 6. A fourth with 8 inner steps gives order 8, the better value. */
#include "runtime/simplex/classic.h"

enum { COLUMNS = 3, ROWS = COLUMNS + 1, AHEAD = ROWS, BEHIND, INNER, N_WORK };
static const uint32_t INNER_STEPS[ROWS] = { 2, 4, 6, 8 };

/* The value of the midpoint rule with so many inner steps, in work[AHEAD]. */
static KoineStatus midpoint(KoineClassic *classic, const KoineClassicStep *step, uint32_t inner)
{
    double *ahead = classic->work[AHEAD], *behind = classic->work[BEHIND];
    double *slope = classic->work[INNER];
    const double h = step->h / inner;
    memcpy(behind, step->x, classic->n * sizeof *behind);
    for (size_t i = 0; i < classic->n; i++)
        ahead[i] = step->x[i] + h * step->slope[i];
    for (uint32_t k = 1; k < inner; k++) {
        const KoineStatus status = koine_classic_slope(classic, step->time + k * h, ahead, slope);
        if (status != KOINE_OK)
            return status;
        for (size_t i = 0; i < classic->n; i++)
            behind[i] += 2 * h * slope[i];
        double *next = behind;
        behind = ahead;
        ahead = next;
    }
    classic->work[AHEAD] = ahead;
    classic->work[BEHIND] = behind;
    return KOINE_OK;
}

/* work[0..row] is a row of the triangle of Aitken and Neville; the last one is the best. */
static void extrapolate(KoineClassic *classic, uint32_t row)
{
    double share[ROWS] = { 0 };
    for (uint32_t k = 1; k <= row; k++) {
        const double ratio = (double)INNER_STEPS[row] / INNER_STEPS[row - k];
        share[k] = 1 / (ratio * ratio - 1);
    }
    for (size_t i = 0; i < classic->n; i++) {
        double value = classic->work[AHEAD][i];
        for (uint32_t k = 0; k < row; k++) {
            const double above = classic->work[k][i];
            classic->work[k][i] = value;
            value += (value - above) * share[k + 1];
        }
        classic->work[row][i] = value;
    }
}

static KoineStatus bulirsch_stoer_step(KoineClassic *classic, const KoineClassicStep *step)
{
    const uint32_t rows = step->better ? ROWS : COLUMNS;
    for (uint32_t row = 0; row < rows; row++) {
        const KoineStatus status = midpoint(classic, step, INNER_STEPS[row]);
        if (status != KOINE_OK)
            return status;
        extrapolate(classic, row);
        if (row == COLUMNS - 1)
            memcpy(step->end, classic->work[row], classic->n * sizeof *step->end);
    }
    if (step->better)
        memcpy(step->better, classic->work[COLUMNS], classic->n * sizeof *step->better);
    return KOINE_OK;
}

static const KoineClassicMethod bulirsch_stoer = {
    .kind = &koine_solver_simplex_bulirsch_stoer, .n_work = N_WORK, .has_estimate = true, .step = bulirsch_stoer_step
};

KOINE_CLASSIC_ROW(bulirsch_stoer, "simplex-bulirsch-stoer",
                  "SIMPLEX method 5: extrapolation after Bulirsch and Stoer, order 6, steps halved and doubled");
