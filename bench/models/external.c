#include "external_drag.h"

double c_drag(double v, double k)
{
    return external_drag(v, k);
}
