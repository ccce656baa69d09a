/* The right-hand sides of bench_emit.c written by hand, compiled on their own with -O2. */
#ifndef TESTS_EMIT_BENCH_EMIT_H
#define TESTS_EMIT_BENCH_EMIT_H

void hand_lorenz(double *m, const unsigned *rows);
void hand_van_der_pol(double *m, const unsigned *rows);
void hand_heat_100(double *m, const unsigned *rows);
void hand_heat_10000(double *m, const unsigned *rows);
void hand_shuffled_100(double *m, const unsigned *rows);
void hand_shuffled_10000(double *m, const unsigned *rows);

#endif
