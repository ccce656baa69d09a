/* The time grid R: every instant lies at k*R, k a whole number (S1).
 *
 * Times are made from k, never by adding, so that nothing drifts. k is a double here, exact up to 2^53. */
#ifndef KOINE_SIMPLEX_POINTS_H
#define KOINE_SIMPLEX_POINTS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Quotients this close to a whole number are whole: as close as times of one instant (S7). 0.3/0.1 is 3. */
static inline bool koine_grid_is_whole(double quotient, double whole)
{
    return fabs(quotient - whole) <= 16 * DBL_EPSILON * fmax(fabs(whole), 1);
}

/* The time of grid point k. A resolution that is one over a whole number to rounding is meant so: with 0.001 the
 * third point is 0.003, the number a model's text says. */
static inline double koine_grid_time(double resolution, double k)
{
    const double cells = round(1 / resolution);
    return cells >= 1 && fabs(1 / resolution - cells) <= DBL_EPSILON * cells ? k / cells : k * resolution;
}

static inline double koine_grid_nearest(double resolution, double time)
{
    return round(time / resolution);
}

/* The first grid point not before `time`. */
static inline double koine_grid_from(double resolution, double time)
{
    const double quotient = time / resolution, whole = round(quotient);
    return koine_grid_is_whole(quotient, whole) ? whole : ceil(quotient);
}

/* The last grid point not behind `time`. */
static inline double koine_grid_until(double resolution, double time)
{
    const double quotient = time / resolution, whole = round(quotient);
    return koine_grid_is_whole(quotient, whole) ? whole : floor(quotient);
}

/* The first grid point behind `time`. */
static inline double koine_grid_after(double resolution, double time)
{
    return koine_grid_until(resolution, time) + 1;
}

#endif
