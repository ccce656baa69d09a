/* What a model calls in C, and the right-hand side by hand, too: a scalar function of the usual size. */
#include <math.h>

static double external_drag(double v, double k)
{
    const double speed = fabs(v);
    return -k * v * speed * (1 + 0.2 * exp(-speed) + 0.1 * sqrt(1 + v * v));
}
