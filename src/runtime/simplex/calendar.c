/* The calendar of a model on the time grid: what happens between two grid points is served at the second one, and what
 * happens just behind a grid point at the next one, so that nothing is late. */
#include "runtime/simplex/points.h"
#include "runtime/support/time_rule.h"

static double point_of(double resolution, double time, bool is_late)
{
    return is_late ? koine_grid_after(resolution, time) : koine_grid_from(resolution, time);
}

static void serve(double resolution, double *time, bool *is_late)
{
    *time = koine_grid_time(resolution, point_of(resolution, *time, *is_late));
    *is_late = false;
}

static bool has_passed(double resolution, double time, bool is_late, double now)
{
    return koine_grid_nearest(resolution, now) >= point_of(resolution, time, is_late);
}

static bool postpones(double resolution, double time, double *served)
{
    *served = koine_grid_time(resolution, koine_grid_from(resolution, time));
    return true;
}

/* At an edge itself the argument of a step function may be rounded below it; a state is beyond its border by up to a
 * cell. */
const KoineTimeRule koine_rule_on_grid = {
    .serve = serve, .has_passed = has_passed, .postpones = postpones, .decides_edges = true
};
