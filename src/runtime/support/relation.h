/* Private to runtime/support: what event steps and root functions share about relations and step functions. */
#ifndef SUPPORT_RELATION_H
#define SUPPORT_RELATION_H

#include "machine.h"
#include <math.h>

#define TINY 1e-30 /* keeps z > 0 where an exact zero belongs to the present side */

static inline bool is_masked(const Machine *m, const KoineDecision *d)
{
    return d->selector != KOINE_NONE && m->slots[d->selector].i != d->branch;
}

static inline double band_of(double relative, double left, double right)
{
    return relative * (fabs(left) + fabs(right)) + TINY;
}

typedef struct {
    double lo, hi;     /* the argument's range for the present value */
    bool lo_in, hi_in; /* the edge itself belongs to it */
} Interval;

/* Interval v of a table; see koine_interval. */
static inline Interval table_interval(const double *table, double v)
{
    const double n = table[0], width = table[1], *x = table + 2;
    return (Interval){ .lo = v > 0 ? x[(int64_t)v - 1] - (v == 1 ? width : 0) + (v == n ? width : 0) : -INFINITY,
                       .hi = v < n ? x[(int64_t)v] + (v == n - 1 ? width : 0) - (v == 0 ? width : 0) : INFINITY,
                       .lo_in = v > 0 && v < n,
                       .hi_in = v == n - 1 };
}

static inline Interval interval_of(const KoineStep *s, double v)
{
    switch ((KoineStepOp)s->op) {
    case KOINE_STEP_FLOOR: return (Interval){ v, v + 1, true, false };
    case KOINE_STEP_CEIL: return (Interval){ v - 1, v, false, true };
    case KOINE_STEP_TRUNC:
        return v > 0   ? (Interval){ v, v + 1, true, false }
               : v < 0 ? (Interval){ v - 1, v, false, true }
                       : (Interval){ -1, 1, false, false };
    case KOINE_STEP_ROUND:
        return v > 0   ? (Interval){ v - 0.5, v + 0.5, true, false }
               : v < 0 ? (Interval){ v - 0.5, v + 0.5, false, true }
                       : (Interval){ -0.5, 0.5, false, false };
    case KOINE_STEP_INTERVAL: return table_interval(s->table, v);
    }
    return (Interval){ v, v, true, true };
}

#endif
