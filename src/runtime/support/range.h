/* Private to runtime/support: arithmetic of ranges, rounded outwards.
 *
 * Every bound is moved outwards by at least the error of the operation that made it, by arithmetic alone: no rounding
 * mode is changed. A range with NAN has no value in it. [-INFINITY, INFINITY] says nothing. */
#ifndef SUPPORT_RANGE_H
#define SUPPORT_RANGE_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

typedef struct {
    double lo, hi;
} Range;

static const Range ALL_NUMBERS = { -INFINITY, INFINITY }, NO_NUMBER = { NAN, NAN };

/* `ulps` below x, at least: one is the error of the four operations and of sqrt, libm needs more. */
static inline double range_below(double x, double ulps)
{
    if (!(fabs(x) <= DBL_MAX))
        return x == INFINITY ? DBL_MAX : x;
    return x - (fabs(x) * (ulps * DBL_EPSILON) + (fabs(x) < 1e-280 && x != 0 ? 1e-300 : 0));
}

static inline double range_above(double x, double ulps)
{
    return -range_below(-x, ulps);
}

static inline Range range_wide(double lo, double hi, double ulps)
{
    return (Range){ range_below(lo, ulps), range_above(hi, ulps) };
}

static inline bool range_is_empty(Range a)
{
    return isnan(a.lo) || isnan(a.hi);
}

static inline bool range_has(Range a, double x)
{
    return a.lo <= x && x <= a.hi;
}

static inline bool range_is(Range a, double x)
{
    return a.lo == x && a.hi == x;
}

static inline double range_size(Range a) /* of its largest number */
{
    return fmax(fabs(a.lo), fabs(a.hi));
}

static inline Range range_hull(Range a, Range b)
{
    return range_is_empty(a)   ? b
           : range_is_empty(b) ? a
                               : (Range){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
}

static inline Range range_neg(Range a)
{
    return (Range){ -a.hi, -a.lo };
}

/* Infinite bounds of opposite sign meet: nothing is known. */
static inline Range range_sum(double lo, double hi)
{
    return isnan(lo) || isnan(hi) ? ALL_NUMBERS : range_wide(lo, hi, 1);
}

static inline Range range_add(Range a, Range b)
{
    if (range_is_empty(a) || range_is_empty(b))
        return NO_NUMBER;
    if (range_is(b, 0))
        return a;
    if (range_is(a, 0))
        return b;
    return range_sum(a.lo + b.lo, a.hi + b.hi);
}

static inline Range range_sub(Range a, Range b)
{
    return range_add(a, range_neg(b));
}

/* 0 times a bound that is infinite is 0: the bound itself is never reached. */
static inline double range_product(double a, double b)
{
    const double p = a * b;
    return a == 0 || b == 0 ? 0 : p == 0 ? copysign(DBL_MIN, a) * copysign(1, b) : p;
}

static inline Range range_mul(Range a, Range b)
{
    if (range_is_empty(a) || range_is_empty(b))
        return NO_NUMBER;
    if (range_is(a, 0) || range_is(b, 0))
        return (Range){ 0, 0 };
    if (range_is(a, 1))
        return b;
    if (range_is(b, 1))
        return a;
    const double p[4] = { range_product(a.lo, b.lo), range_product(a.lo, b.hi), range_product(a.hi, b.lo),
                          range_product(a.hi, b.hi) };
    double lo = p[0], hi = p[0];
    for (int k = 1; k < 4; k++) {
        lo = p[k] < lo ? p[k] : lo;
        hi = p[k] > hi ? p[k] : hi;
    }
    return range_wide(lo < 0 && lo >= -DBL_MIN ? -2 * DBL_MIN : lo, hi, 1);
}

static inline Range range_square(Range a)
{
    if (range_is_empty(a))
        return a;
    const double far = range_size(a), near = range_has(a, 0) ? 0 : fmin(fabs(a.lo), fabs(a.hi));
    return (Range){ fmax(0, range_below(near * near, 1)), range_above(range_product(far, far), 1) };
}

/* Of a divisor without 0. */
static inline Range range_div(Range a, Range b)
{
    if (range_is_empty(a) || range_is_empty(b))
        return NO_NUMBER;
    if (range_has(b, 0))
        return ALL_NUMBERS;
    if (range_is(a, 0))
        return a;
    const double q[4] = { a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi };
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < 4; k++) {
        if (isnan(q[k]))
            return ALL_NUMBERS;
        lo = q[k] < lo ? q[k] : lo;
        hi = q[k] > hi ? q[k] : hi;
    }
    /* what is too small for a number, and is not 0, may have become 0 */
    return range_wide(lo == 0 && a.lo != 0 ? -DBL_MIN : lo, hi == 0 && a.hi != 0 ? DBL_MIN : hi, 1);
}

#endif
