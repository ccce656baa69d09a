#include <stddef.h>

/* y = A x, and the number of products; A lies row after row. */
int c_multiply(const double *a, size_t rows, size_t columns, const double *x, double *y, size_t n)
{
    int count = 0;
    for (size_t i = 0; i < n && i < rows; i++) {
        y[i] = 0;
        for (size_t j = 0; j < columns; j++, count++)
            y[i] += a[i * columns + j] * x[j];
    }
    return count;
}

/* The values of a polynomial with these coefficients at x, and at 2x, 3x and so on. */
void c_series(double x, const double *c, size_t n, int count, double *y)
{
    for (int i = 0; i < count; i++) {
        y[i] = 0;
        for (size_t k = n; k-- > 0;)
            y[i] = y[i] * x * (i + 1) + c[k];
    }
}
