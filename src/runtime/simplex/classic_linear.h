/* The linear systems of the implicit ones of the classic methods: one block a stage, all with the same df/dx. */
#ifndef KOINE_SIMPLEX_CLASSIC_LINEAR_H
#define KOINE_SIMPLEX_CLASSIC_LINEAR_H

#include "runtime/simplex/classic.h"
#include "runtime/linear.h"

enum { KOINE_CLASSIC_STAGES = 3 };

typedef struct {
    SUNContext context;
    KoineLinear linear; /* df/dx, and the matrix of one stage */
    uint32_t stages;
    SUNMatrix matrix;       /* of all stages together; NULL: there is but one */
    SUNLinearSolver solver; /* of `matrix` */
    N_Vector one, all;      /* look at somebody else's numbers: of one stage, of all */
    double *point;          /* where df/dx was evaluated, at `time` */
    double time;            /* NAN: nowhere */
    bool has_by_time;       /* the method knows df/dt there, too */
    double inverse;         /* one stage: 1/scale of the factors */
    double *lack;           /* one stage: what the first solution lacks */
    uint64_t factorisations, iterations;
} KoineClassicLinear;

/* In classic->extra. On failure what was made stays for destroy. */
KoineStatus koine_classic_linear_create(KoineClassic *classic, uint32_t stages);
void koine_classic_linear_destroy(KoineClassic *classic);
void koine_classic_linear_forget(KoineClassic *classic);
/* KLU keeps the pivots of its first matrix, which cannot be taken out: sparse methods begin anew. */
bool koine_classic_linear_visit(KoineClassic *classic, KoinePieces *pieces);
void koine_classic_linear_statistics(const KoineClassic *classic, KoineRunStatistics *out);

/* Factorise 1/scale*I - df/dx at the beginning of a step (one stage). RETRY: that cannot be done. */
KoineStatus koine_classic_linear_factorise(KoineClassic *classic, const KoineClassicStep *step, double scale);

/* Factorise I - h*(weights x df/dx), weights of the inner stages by row (all stages). */
KoineStatus koine_classic_linear_factorise_all(KoineClassic *classic, const KoineClassicStep *step,
                                               const double weights[KOINE_CLASSIC_STAGES][KOINE_CLASSIC_STAGES]);

/* vector := solution with `vector` on the right side; of one stage or all, as factorised. That of one stage is right in
 * every row for itself, however small its numbers are beside the others: nothing corrects it afterwards. */
KoineStatus koine_classic_linear_solve(KoineClassic *classic, double *vector);

/* step->end := x + (1/h*I - df/dx)^-1 * slope: a step of the implicit Euler method, as far as the model is linear. */
KoineStatus koine_classic_linear_damp(KoineClassic *classic, const KoineClassicStep *step);

static inline KoineClassicLinear *koine_classic_linear_of(const KoineClassic *classic)
{
    return classic->extra;
}

#endif
