/* Solutions to more digits than any solver delivers: extrapolation of order 16 in long double. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include <stdint.h>

void reference_solve(uint32_t n, void (*slopes)(const long double *x, long double *dx), const double *start,
                     double stop, double *end);

#endif
