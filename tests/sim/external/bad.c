#define _GNU_SOURCE
#include "koine_external.h"
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>

double c_rounds(double x)
{
    fesetround(FE_UPWARD);
    return x;
}

double c_traps(double x)
{
    feenableexcept(FE_DIVBYZERO);
    return x;
}

double c_speaks(double x)
{
    setlocale(LC_ALL, "C.UTF-8");
    return x;
}

double c_catches(double x)
{
    signal(SIGINT, SIG_IGN);
    return x;
}

double c_refuses(double x)
{
    if (x > 1.5)
        koine_fail("the argument is above 1.5");
    return x;
}

double c_nothing(double x)
{
    return x > 1.5 ? NAN : x;
}

int c_level(double x)
{
    return x > 1.5 ? 3 : 1;
}

int c_counts(int n)
{
    return n;
}
