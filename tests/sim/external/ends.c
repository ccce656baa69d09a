#include <stdlib.h>

double c_exits(double x)
{
    if (x > 0.5)
        exit(0);
    return x;
}

double c_crashes(double x)
{
    volatile int *nowhere = NULL;
    return x > 0.5 ? *nowhere : x;
}
