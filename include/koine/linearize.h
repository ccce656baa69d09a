/* A model near the point where it stands: dx' = A dx + B du, dy = C dx + D du, with the eigenvalues of A.
 *
 * Exact: no differences are taken. What events have set is held: comparisons keep their side, discrete variables their
 * value. The model was compiled with derivatives by inputs and of outputs (tables->ports), and stands where a run has
 * brought it: after koine_run_close, or between two advances, with the inputs in the block. */
#ifndef KOINE_LINEARIZE_H
#define KOINE_LINEARIZE_H

#include "koine/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_states, n_inputs, n_outputs; /* states in the order of x, the others in that of tables->ports */
    KoinePort *states;                      /* what they are */
    double time;
    double *x, *u, *y;     /* the point */
    double *a, *b, *c, *d; /* row after row */
    double *eigenvalues;   /* n_states pairs of real and imaginary part, ascending; NULL: they were not asked for */
    void *work;
} KoineLinearModel;

/* Room for the linear model of a kind. NULL: `why` says that there is no memory, or that the kind has no derivatives.
 */
KOINE_API KoineLinearModel *koine_linear_model_create(const KoineModelKind *kind, bool wants_eigenvalues,
                                                      KoineReason *why);
KOINE_API void koine_linear_model_free(KoineLinearModel *linear);

/* Fills it at the point in the block of `model`. Not KOINE_OK: a comparison is on its border, where the derivatives on
 * both sides are different ones; the equations are singular here; the model cannot be evaluated. `why` says which. May
 * be called any number of times, and allocates nothing. */
KOINE_API KoineStatus koine_linearize(KoineModel *model, KoineLinearModel *linear, KoineReason *why);

#ifdef __cplusplus
}
#endif

#endif
