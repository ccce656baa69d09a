/* Private to runtime/support: what the methods for algebraic systems share. */
#ifndef SUPPORT_SYSTEMS_H
#define SUPPORT_SYSTEMS_H

#include "machine.h"

struct Workspace {
    uint32_t n; /* largest system */
    double *matrix, *step, *before, *trial;
    int *pivots;
};

/* factors.c: fills and factors the Jacobian at the present unknowns; solves with the factors, in place. */
bool koine_factor(Machine *k, const KoineSystem *s);
void koine_solve_factored(Machine *k, const KoineSystem *s, double *b);

/* newton.c, iterate.c */
KoineStatus koine_solve_newton(Machine *k, const KoineSystem *s);
KoineStatus koine_solve_by_iteration(Machine *k, const KoineSystem *s);

/* systems.c: a fault that says what happened, and the last values. */
KoineStatus koine_report_system(Machine *k, const KoineSystem *s, const char *what);
static inline void koine_count_system(const Machine *k, const KoineSystem *s)
{
    if (k->counts)
        k->counts->systems[s - k->program->systems]++;
}

#endif
