#include "koine_external.h"

void c_weigh(const double *x, size_t n, const int *weight, size_t n_weights, int flag, int mode, double *sum,
             int *count, int *odd, int *other, double *table)
{
    double s = 0;
    for (size_t k = 0; k < n; k++)
        s += x[k] * weight[k % n_weights];
    *sum = s;
    *count = (int)n + flag;
    *odd = 7;
    *other = mode == 1 ? 2 : 1;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            table[3 * i + j] = 10 * i + j + s;
    if (s > 100)
        koine_fail("the sum is too large");
}
