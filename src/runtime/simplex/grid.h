/* The time grid as a strategy of the kernel: what its files share. */
#ifndef KOINE_SIMPLEX_GRID_H
#define KOINE_SIMPLEX_GRID_H

#include "runtime/run.h"
#include "runtime/simplex/points.h"

typedef struct {
    double *here;    /* n_x: the state at run->time, which a step that ends inside a cell puts out of reach */
    bool has_region; /* of the event found: some root that only selects what is integrated has crossed */
} KoineGridState;

static inline KoineGridState *koine_grid_state(const KoineRun *run)
{
    return run->strategy_state;
}

/* Keeps the state in the block, which is that of run->time. */
void koine_grid_keep(KoineRun *run);

/* Some root has crossed in (from, *to], or cannot be computed at *to (is_blind): *to becomes the first grid point where
 * one has, roots.left the one before. The rest as for koine_roots_scan. */
KoineStatus koine_grid_search(KoineRun *run, double from, double *to, bool is_blind);

/* From the grid point run->time an explicit Euler step of one cell, over what cannot be evaluated or is not smooth;
 * further ones, not beyond `goal`, while nothing can be computed. Adds KOINE_AT_ROOTS to *cause if some relation has
 * changed behind it. roots.lo holds the root functions at run->time. */
KoineStatus koine_grid_cross(KoineRun *run, double goal, unsigned *cause);

/* If the event found is a discontinuity: to the last grid point before it with the method, then across. */
KoineStatus koine_grid_cross_region(KoineRun *run, double goal, unsigned *cause, bool *is_crossed);

#endif
