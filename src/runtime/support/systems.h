/* Private to runtime/support: what the methods for algebraic systems share. */
#ifndef SUPPORT_SYSTEMS_H
#define SUPPORT_SYSTEMS_H

#include "machine.h"

enum { KOINE_UPDATES = 6 }; /* of one set of factors */

typedef struct {            /* of Newton's method; vectors as long as the largest system */
    double *scale, *weight; /* of each unknown; one over its square */
    double *before, *step, *next;
    double *kept[KOINE_UPDATES + 1];
    double *first, *base, *along, *way; /* of searches */
    double *all;
    uint32_t vague; /* NEWTON_VAGUE: this unknown */
    double vague_by;
    uint8_t route;  /* KOINE_WAY_...: for those who watch */
    bool is_silent; /* nobody is told about this iteration */
} Newton;
typedef struct Kinsol Kinsol;

struct Workspace {
    double *step;            /* unknowns of the largest system */
    double *all;             /* likewise, with the explicit unknowns */
    double *look;            /* five times as many as `all`: for looking at a matrix more closely */
    struct Factors *factors; /* per system */
    uint32_t n_factors;
    bool is_out_of_memory; /* the last factorisation failed for it */
    Newton *newton;        /* NULL: there are no nonlinear systems */
    Kinsol *kinsol;
};

/* factors.c: the Jacobian at the present unknowns, filled and factored; factors are kept as long as what they were
 * computed from keeps its values, wherever the block has been since. False: singular. */
bool koine_factor(Machine *m, const KoineSystem *s);
/* With these factors, in place: unknowns that are iterated, where explicit rows have no error. */
void koine_solve_factored(Machine *m, const KoineSystem *s, double *b);
/* All unknowns, n + n_inner. */
void koine_solve_all_factored(Machine *m, const KoineSystem *s, double *b);

/* conditions.c: estimated condition number of the matrix of all rows, from its present factors. Infinite: singular, as
 * far as can be told from rounded numbers. */
double koine_condition(Machine *m, const KoineSystem *s, const double *entries);

/* Whether the present values are more than rounding: false: that alone moves this unknown by so much. The second one
 * looks only where the factors looked doubtful. */
bool koine_is_certain(Machine *m, const KoineSystem *s, const double *entries, uint32_t *which, double *by);
bool koine_is_determined(Machine *m, const KoineSystem *s, uint32_t *which, double *by); /* factors.c */

/* newton.c */
typedef enum {
    NEWTON_CONVERGED,
    NEWTON_NO_VALUE, /* the equations have no value where it begins */
    NEWTON_SINGULAR,
    NEWTON_VAGUE, /* it converged, but rounding decides where */
    NEWTON_STUCK, /* no step helps */
    NEWTON_SLOW   /* too many steps */
} NewtonEnd;
Newton *koine_newton_create(uint32_t n);
void koine_newton_destroy(Newton *newton);
KoineStatus koine_solve_newton(Machine *m, const KoineSystem *s);
/* From the present unknowns. Afterwards the residuals are those of the unknowns. */
NewtonEnd koine_newton(Machine *m, const KoineSystem *s);
void koine_newton_from(Machine *m, const KoineSystem *s, const uint32_t *slots); /* the unknowns take these values */
double koine_newton_tolerance(const Machine *m);
bool koine_residuals(Machine *m, const KoineSystem *s); /* false: not all are finite */
/* With the present factors and residuals; scale: of steps from here; product: of two steps in that scale. */
void koine_newton_step(Machine *m, const KoineSystem *s, double *step);
void koine_newton_scale(Machine *m, const KoineSystem *s);
double koine_newton_product(const Machine *m, const KoineSystem *s, const double *a, const double *b);

/* search.c: everything else that is known to help, in a fixed order; false: none did. */
bool koine_search(Machine *m, const KoineSystem *s);

/* kinsol.c: line search from the present unknowns; wherever it ends they are left. */
Kinsol *koine_kinsol_create(uint32_t n);
void koine_kinsol_destroy(Kinsol *kinsol);
void koine_kinsol(Machine *m, const KoineSystem *s);

/* iterate.c */
KoineStatus koine_solve_by_iteration(Machine *m, const KoineSystem *s);

/* systems.c: a fault that says what happened, and the last values. */
KoineStatus koine_report_system(Machine *m, const KoineSystem *s, const char *what);
KoineStatus koine_report_newton(Machine *m, const KoineSystem *s, NewtonEnd end);
static inline void koine_count_system(const Machine *m, const KoineSystem *s)
{
    if (m->work.counts)
        m->work.counts->systems[s - m->program->systems.at]++;
}

#endif
