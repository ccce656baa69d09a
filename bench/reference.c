/* Gragg, Bulirsch and Stoer; after Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.9.
 * Fixed number of columns, step by the difference of the last two. */
#include "reference.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, MAX_STATES = 100 };
static const long double TOLERANCE = 1e-18L;

typedef struct {
    uint32_t n;
    void (*slopes)(const long double *x, long double *dx);
    long double table[COLUMNS][MAX_STATES];
} Extrapolation;

/* Modified midpoint rule with `parts` substeps over h. */
static void midpoint(const Extrapolation *e, const long double *x, long double h, uint32_t parts, long double *out)
{
    long double before[MAX_STATES], now[MAX_STATES], slope[MAX_STATES];
    const long double small = h / parts;
    e->slopes(x, slope);
    for (uint32_t i = 0; i < e->n; i++) {
        before[i] = x[i];
        now[i] = x[i] + small * slope[i];
    }
    for (uint32_t k = 1; k < parts; k++) {
        e->slopes(now, slope);
        for (uint32_t i = 0; i < e->n; i++) {
            const long double next = before[i] + 2 * small * slope[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
    memcpy(out, now, e->n * sizeof *out);
}

/* One step from x into table[0]; the relative error of the last column but one. */
static long double step(Extrapolation *e, const long double *x, long double h)
{
    long double error = 0;
    for (uint32_t j = 0; j < COLUMNS; j++) {
        midpoint(e, x, h, 2 * (j + 1), e->table[j]);
        for (uint32_t k = j; k-- > 0;) { /* table[k] becomes T(j, j-k) */
            const long double ratio = (long double)(j + 1) / (k + 1), factor = 1 / (ratio * ratio - 1);
            for (uint32_t i = 0; i < e->n; i++) {
                const long double correction = (e->table[k + 1][i] - e->table[k][i]) * factor;
                if (j == COLUMNS - 1 && k == 0)
                    error = fmaxl(error, fabsl(correction) / (fabsl(e->table[k + 1][i]) + 1e-3L));
                e->table[k][i] = e->table[k + 1][i] + correction;
            }
        }
    }
    return error;
}

void reference_solve(uint32_t n, void (*slopes)(const long double *x, long double *dx), const double *start,
                     double stop, double *end)
{
    Extrapolation *e = malloc(sizeof *e);
    long double x[MAX_STATES], t = 0, h = 1e-4L;
    *e = (Extrapolation){ .n = n, .slopes = slopes };
    for (uint32_t i = 0; i < n; i++)
        x[i] = start ? start[i] : 0;
    while (t < stop) {
        const long double used = fminl(h, stop - t), error = step(e, x, used) / TOLERANCE;
        if (error <= 1) {
            memcpy(x, e->table[0], n * sizeof *x);
            t = used < h ? stop : t + used;
        }
        /* not a number: the step was far too large */
        const long double factor = isfinite((double)error) ? 0.9L * powl(fmaxl(error, 1e-10L), -1.0L / 15) : 0.1L;
        h = used * fminl(fmaxl(factor, 0.1L), 4);
    }
    for (uint32_t i = 0; i < n; i++)
        end[i] = (double)x[i];
    free(e);
}
