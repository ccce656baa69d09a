#include "koine_external.h"
static int calls, last;
int c_next(double x)
{
    calls++;
    if (x > 7.4)
        koine_fail("the sensor is dead");
    return calls;
}
void c_both(int a, int *b, double *c)
{
    calls++;
    *b = 100 * calls + a;
    *c = 0.5 * calls;
}
