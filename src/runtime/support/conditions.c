/* How far a dense matrix is from being singular: by elimination with complete pivoting. */
#include "systems.h"
#include <float.h>
#include <math.h>

static const double ROUNDING = 16 * DBL_EPSILON;

/* Rows, then columns, divided by a power of two near their largest number. */
static bool scale(double *a, uint32_t n)
{
    for (int by_columns = 0; by_columns < 2; by_columns++)
        for (uint32_t k = 0; k < n; k++) {
            double most = 0;
            for (uint32_t j = 0; j < n; j++)
                most = fmax(most, fabs(by_columns ? a[j + k * n] : a[k + j * n]));
            if (!(most > 0) || !isfinite(most))
                return false;
            const int power = -ilogb(most);
            for (uint32_t j = 0; j < n; j++) {
                double *entry = by_columns ? &a[j + k * n] : &a[k + j * n];
                *entry = scalbn(*entry, power);
            }
        }
    return true;
}

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

typedef struct {
    double first, last; /* pivots, in absolute value */
    uint32_t rank;
} Elimination;

/* `sizes`: of what was added up in each place. A number that is nothing but the rounding of what cancels is zero; one
 * that is small by itself is not. */
static Elimination eliminate(double *a, double *sizes, uint32_t n)
{
    Elimination e = { 0, 0, 0 };
    for (uint32_t k = 0; k < n * n; k++)
        sizes[k] = fabs(a[k]);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t row = k, column = k;
        for (uint32_t j = k; j < n; j++)
            for (uint32_t i = k; i < n; i++)
                if (fabs(a[i + j * n]) > fabs(a[row + column * n])) {
                    row = i;
                    column = j;
                }
        if (a[row + column * n] == 0)
            break;
        e.last = fabs(a[row + column * n]);
        e.first = k ? e.first : e.last;
        e.rank = k + 1;
        for (uint32_t j = 0; j < n; j++) {
            swap(&a[k + j * n], &a[row + j * n]);
            swap(&sizes[k + j * n], &sizes[row + j * n]);
        }
        for (uint32_t i = 0; i < n; i++) {
            swap(&a[i + k * n], &a[i + column * n]);
            swap(&sizes[i + k * n], &sizes[i + column * n]);
        }
        for (uint32_t i = k + 1; i < n; i++) {
            const double factor = a[i + k * n] / a[k + k * n];
            for (uint32_t j = k + 1; j < n; j++) {
                const double part = factor * a[k + j * n];
                double *sum = &a[i + j * n], *size = &sizes[i + j * n];
                *sum -= part;
                *size = fmax(*size, fabs(factor) * sizes[k + j * n]);
                if (fabs(*sum) <= ROUNDING * *size)
                    *sum = 0;
            }
        }
    }
    return e;
}

double koine_condition(const double *matrix, uint32_t n, double *work)
{
    memcpy(work, matrix, (size_t)n * n * sizeof *work);
    if (!scale(work, n))
        return INFINITY;
    const Elimination e = eliminate(work, work + (size_t)n * n, n);
    return e.rank < n ? INFINITY : n * e.first / e.last;
}
