#include <math.h>

double c_drag(double v, double k)
{
    return -k * v * fabs(v);
}
