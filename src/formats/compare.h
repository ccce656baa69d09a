/* Two curves compared by a tube, as the tools for results of Modelica models do.
 *
 * The tube is the reference with a rectangle moved along it: at time t it reaches from the smallest to the largest
 * value that the reference has from t - width to t + width, and `height` further on both sides. So a jump that comes a
 * little early or late stays inside. The other curve is looked at in its own points and, between them, at the times of
 * the reference. Points are joined by straight lines, two points of one time are a jump. nan agrees with nan. */
#ifndef FORMATS_COMPARE_H
#define FORMATS_COMPARE_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    const double *times, *values;
    uint64_t n;
    bool is_constant; /* values has a single number */
} Curve;

typedef struct {
    double height;    /* half of the tube's, in units of the value */
    double deviation; /* largest distance from the values the reference has around; beyond height: the curves differ */
    double time;      /* where it is */
    double value, low, high; /* there: the value, and those of the reference */
} Deviation;

/* The tube's height for a reference: `tube` times its range, or times a thousandth of its largest value where that is
 * more; at least `absolute`. */
double tube_height(const Curve *reference, double tube, double absolute);
/* `arena` is used for scratch. */
Deviation compare_curves(const Curve *reference, const Curve *other, double width, double height, Arena *arena);

#endif
