/* The operations of expressions whose meaning is not that of one C operator or one libm call.
 *
 * The constant folder, the interpreter and generated C all use these, so that they agree in every
 * bit. An Integer operation without result (division by zero, overflow) gives
 * KOINE_INTEGER_FAULT; a Real one gives a value that is not finite. Whoever stores the result
 * looks for these and reports the fault. */
#ifndef KOINE_OPS_H
#define KOINE_OPS_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KOINE_INTEGER_FAULT INT64_MIN

/* Sums, differences and products of Integers that leave the 64 bits have no result, and neither has what is computed
 * from an operand without value. */
static inline int64_t koine_iadd(int64_t a, int64_t b)
{
    const int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);
    const int lost = ((a ^ sum) & (b ^ sum)) < 0;
    return lost || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : sum;
}
static inline int64_t koine_isub(int64_t a, int64_t b)
{
    const int64_t rest = (int64_t)((uint64_t)a - (uint64_t)b);
    const int lost = ((a ^ b) & (a ^ rest)) < 0;
    return lost || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : rest;
}
static inline int64_t koine_imul(int64_t a, int64_t b)
{
    const int64_t product = (int64_t)((uint64_t)a * (uint64_t)b);
    if (a == (int32_t)a && b == (int32_t)b)
        return product;
    if (a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)
        return KOINE_INTEGER_FAULT;
    return a == 0 || (product != KOINE_INTEGER_FAULT && product / a == b) ? product : KOINE_INTEGER_FAULT;
}
static inline int64_t koine_ineg(int64_t a)
{
    return (int64_t)(0u - (uint64_t)a);
}
static inline int64_t koine_idiv(int64_t a, int64_t b) /* rounded toward 0 */
{
    if (b == 0 || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)
        return KOINE_INTEGER_FAULT;
    return b == -1 ? -a : a / b;
}
static inline int64_t koine_imod(int64_t a, int64_t b) /* sign of a */
{
    if (b == 0 || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)
        return KOINE_INTEGER_FAULT;
    return b == -1 ? 0 : a % b;
}
static inline int64_t koine_narrow(int64_t a) /* integers of a language that ends them at 2E+9 */
{
    return a >= -2000000000 && a <= 2000000000 ? a : KOINE_INTEGER_FAULT;
}
static inline double koine_real(int64_t a)
{
    return a == KOINE_INTEGER_FAULT ? 0.0 / 0.0 : (double)a;
}
static inline int64_t koine_integer(double whole) /* of a whole number */
{
    return whole >= -9223372036854775807.0 && whole < 9223372036854775807.0 ? (int64_t)whole : KOINE_INTEGER_FAULT;
}
static inline uint64_t koine_philox(uint64_t key, uint64_t counter,
                                    uint64_t upper) /* Philox4x32-10: its first two words */
{
    uint64_t c0 = counter & 0xffffffffu, c1 = counter >> 32, c2 = upper & 0xffffffffu, c3 = upper >> 32;
    uint64_t k0 = key & 0xffffffffu, k1 = key >> 32;
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = c0 * 0xd2511f53u, p1 = c2 * 0xcd9e8d57u;
        c0 = (p1 >> 32) ^ c1 ^ k0;
        c1 = p1 & 0xffffffffu;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c3 = p0 & 0xffffffffu;
        k0 = (k0 + 0x9e3779b9u) & 0xffffffffu;
        k1 = (k1 + 0xbb67ae85u) & 0xffffffffu;
    }
    return c1 << 32 | c0;
}
static inline int64_t koine_mix(int64_t a, int64_t b) /* a key made of two numbers, not negative */
{
    return (int64_t)(koine_philox((uint64_t)a, (uint64_t)b, 0) >> 1);
}
static inline double koine_random(int64_t key, int64_t position) /* uniform in the open interval 0 to 1 */
{
    return ((double)(int64_t)(koine_philox((uint64_t)key, (uint64_t)position, 0) >> 12) + 0.5) * 0x1p-52;
}
static inline double koine_at_least(double a, double least)
{
    return a >= least ? a : 0.0 / 0.0;
}
static inline double koine_rmin(double a, double b)
{
    return b < a ? b : a;
}
static inline double koine_rmax(double a, double b)
{
    return b > a ? b : a;
}
static inline int64_t koine_imin(int64_t a, int64_t b) /* a fault is the least of all */
{
    return b < a ? b : a;
}
static inline int64_t koine_imax(int64_t a, int64_t b)
{
    const int64_t larger = b > a ? b : a;
    return a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : larger;
}
static inline double koine_rsign(double a)
{
    return a > 0 ? 1.0 : a < 0 ? -1.0 : a;
}
static inline int64_t koine_isign(int64_t a)
{
    return a == KOINE_INTEGER_FAULT ? a : a > 0 ? 1 : a < 0 ? -1 : 0;
}
static inline int64_t koine_iabs(int64_t a)
{
    return a < 0 ? koine_ineg(a) : a;
}
/* Tables: piecewise polynomials of n points x, as numbers: n; if there is no value outside, the width of the rounding
 * that is forgiven there, else 0; the points; then for each of the n + 1 intervals (0 before the first point, n behind
 * the last) the place it is developed at and four coefficients. The last point belongs to the interval before it, and
 * what rounding put outside to the interval beside. */
static inline int64_t koine_interval(const double *t, double a)
{
    const double *x = t + 2;
    int64_t low = 0, high = (int64_t)t[0];
    if (a >= x[high - 1] && a <= x[high - 1] + t[1])
        return high - 1;
    if (a < x[0] && a >= x[0] - t[1])
        return 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (x[middle] <= a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
static inline double koine_lookup(const double *t, int64_t interval, double a) /* interval < 0: the one of a */
{
    const int64_t n = (int64_t)t[0], k = interval < 0 ? koine_interval(t, a) : interval < n ? interval : n;
    const double *row = t + 2 + n + 5 * k;
    const double u = a - row[0];
    return t[1] != 0 && (k == 0 || k == n) ? 0.0 / (a - a) : row[1] + u * (row[2] + u * (row[3] + u * row[4]));
}

#ifdef __cplusplus
}
#endif

#endif
