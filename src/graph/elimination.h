/* Linear equations a x = b with numbers, of which some may be left over and some unknowns left open.
 *
 * Gauss and Jordan with the largest pivot of all: what remains of the matrix says how the unknowns of the pivots depend
 * on the open ones. A number that is small against the largest of the matrix counts as 0. O(n^3). Deterministic. */
#ifndef GRAPH_ELIMINATION_H
#define GRAPH_ELIMINATION_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    uint32_t n, rank;
    bool can_be_met;        /* the rows that are left over have no right side */
    uint32_t *row, *column; /* of each pivot */
    const double *matrix;   /* what remains */
} Elimination;

/* n rows of n coefficients and the right side, which are changed. */
Elimination eliminate(uint32_t n, double *a, Arena *arena);
/* is_open[j]: nothing determines unknown j, or it depends on such unknowns. */
void list_open_columns(const Elimination *e, bool *is_open);

#endif
