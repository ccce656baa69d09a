/* The sizes of states, and the absolute tolerances that follow from them.
 *
 * An error of a state counts relative to its value; near zero that asks for the impossible, so an absolute tolerance
 * is added. It is tolerance*nominal where a nominal value is given, else the absolute tolerance of the run, else a
 * thousandth of the tolerance of the size of the state, which is learnt: its largest value so far. A size is forgotten
 * slowly, as the time grows and down to a millionth, so that a state that has become small for long is followed there.
 *
 * A state that begins at zero has no size yet: a few coarse explicit steps, which nobody else sees, tell one. What is
 * only rounding, as a difference of equal currents, must not be followed with digits it has not: from time to time
 * the rounding of the derivatives is measured, and the absolute tolerance stays above it. */
#ifndef KOINE_RUNTIME_SCALES_H
#define KOINE_RUNTIME_SCALES_H

#include "runtime/solver.h"

struct KoineRun;

typedef struct {
    double *base, *share; /* n_x each: the absolute tolerance is base + share*size; share 0: it was given */
    double *peak, *size;  /* n_x each: largest value so far; size in force */
    double *floor;        /* n_x: no size is smaller: see find_floor */
    double *rounding;     /* n_x: rounding error of the derivatives, as last measured */
    double *work;         /* 5*n_x */
    double *atol;         /* n_x: the absolute tolerances in force, those of the problem */
    uint32_t *group;      /* n_x: states of one kind have one size; */
    uint32_t n_groups;    /* 0: all are different */
    unsigned char *copy;  /* of the block, while the model looks ahead */
    uint64_t copy_size;
    uint32_t n_learnt;         /* states whose size is learnt */
    uint64_t steps, next_look; /* steps so far; when the rounding is measured next */
    bool is_idle;              /* the solver controls no error, or all is given */
} KoineScales;

/* Room, and what is known before the run: nominal values, options, what an earlier run has learnt. */
KoineStatus koine_scales_create(struct KoineRun *run, const KoineSolverKind *kind);
void koine_scales_destroy(struct KoineRun *run);

/* The run goes on from the values in the block: the first instant is over, or an event has restarted the solver. */
KoineStatus koine_scales_restart(struct KoineRun *run);

/* The solver has made a step. */
KoineStatus koine_scales_step(struct KoineRun *run);

/* The run has come to these states: to the end of that step, or to an event that cuts it. What lies behind an event is
 * no size of any state. */
void koine_scales_accept(struct KoineRun *run, const double *x);

/* For a run that is saved. */
void koine_scales_visit(struct KoineRun *run, KoinePieces *pieces);

/* How large state i is: as given, or its largest value so far. */
double koine_scale_of(const struct KoineRun *run, uint32_t i);

/* The solver finds no step short enough. True: the reason may have been a state that never moved before; that is
 * mended, and the solver may begin again. */
bool koine_scales_mend(struct KoineRun *run);

#endif
