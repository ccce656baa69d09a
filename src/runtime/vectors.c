/* The vector operations that SUNDIALS spends most of its time in, for one call less or several, and without its search
 * for special cases in front of a loop over two or three numbers. Each gives the bits of the operation it replaces: the
 * products and sums are the same, in the same order. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/vectors.h"
#include <nvector/nvector_serial.h>

/* z := a*x + b*y; any of them may be the same vector. */
static void linear_sum(double a, N_Vector left, double b, N_Vector right, N_Vector out)
{
    const sunindextype n = NV_LENGTH_S(out);
    const double *x = NV_DATA_S(left), *y = NV_DATA_S(right);
    double *z = NV_DATA_S(out);
    if (a == 1 && b == 1) {
        KOINE_INDEPENDENT
        for (sunindextype i = 0; i < n; i++)
            z[i] = x[i] + y[i];
    } else if (fabs(a) == 1 || fabs(b) == 1 || fabs(a) != fabs(b)) {
        KOINE_INDEPENDENT
        for (sunindextype i = 0; i < n; i++)
            z[i] = a * x[i] + b * y[i];
    } else { /* SUNDIALS takes the common factor out */
        const double sign = a == b ? 1 : -1;
        KOINE_INDEPENDENT
        for (sunindextype i = 0; i < n; i++)
            z[i] = a * (x[i] + sign * y[i]);
    }
}

static void scale(double factor, N_Vector in, N_Vector out)
{
    const sunindextype n = NV_LENGTH_S(out);
    const double *x = NV_DATA_S(in);
    double *z = NV_DATA_S(out);
    KOINE_INDEPENDENT
    for (sunindextype i = 0; i < n; i++)
        z[i] = factor * x[i];
}

static void add_product(sunindextype n, double factor, const double *x, const double *y, double *z)
{
    KOINE_INDEPENDENT
    for (sunindextype i = 0; i < n; i++)
        z[i] = factor * x[i] + y[i];
}

/* out[k] := factors[k]*left + right[k] */
static int scale_add_multi(int count, double *factors, N_Vector left, N_Vector *right, N_Vector *out)
{
    for (int k = 0; k < count; k++)
        add_product(NV_LENGTH_S(left), factors[k], NV_DATA_S(left), NV_DATA_S(right[k]), NV_DATA_S(out[k]));
    return 0;
}

/* out := the sum of factors[k]*terms[k] */
static int linear_combination(int count, double *factors, N_Vector *terms, N_Vector out)
{
    scale(factors[0], terms[0], out);
    for (int k = 1; k < count; k++)
        add_product(NV_LENGTH_S(out), factors[k], NV_DATA_S(terms[k]), NV_DATA_S(out), NV_DATA_S(out));
    return 0;
}

/* out[k] := factors[k]*in[k] */
static int scale_vectors(int count, double *factors, N_Vector *in, N_Vector *out)
{
    for (int k = 0; k < count; k++)
        scale(factors[k], in[k], out[k]);
    return 0;
}

static double weighted_norm(N_Vector values, N_Vector weights)
{
    const sunindextype n = NV_LENGTH_S(values);
    const double *x = NV_DATA_S(values), *w = NV_DATA_S(weights);
    double sum = 0;
    for (sunindextype i = 0; i < n; i++) {
        const double product = x[i] * w[i];
        sum += product * product;
    }
    return sqrt(sum / (double)n);
}

void koine_vectors_lean(N_Vector vector)
{
    vector->ops->nvlinearsum = linear_sum;
    vector->ops->nvscale = scale;
    vector->ops->nvwrmsnorm = weighted_norm;
    vector->ops->nvscaleaddmulti = scale_add_multi;
    vector->ops->nvlinearcombination = linear_combination;
    vector->ops->nvscalevectorarray = scale_vectors;
}
#endif
