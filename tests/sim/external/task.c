/* Two components of a task, each with memory of its own: a source that gives a sine at each step of 0.1 s, and a
 * battery that is charged by it. Behind the value each gives which of all calls it was. */
#include <math.h>
static int calls, steps;
static double charge;
double sine_connect(void)
{
    calls = steps = 0;
    return 0;
}
double battery_connect(void)
{
    return charge = 1;
}
void sine_update(double *y)
{
    y[0] = sin(0.1 * ++steps);
    y[1] = ++calls;
}
void battery_update(double u, double *q)
{
    q[0] = charge += 0.1 * u;
    q[1] = ++calls;
}
