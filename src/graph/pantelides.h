/* How often each equation of a differential-algebraic system must be differentiated until the highest derivatives can
 * be matched with equations.
 *
 * Rows are equations, columns are quantities with all their derivatives; `order` of an entry is the highest derivative
 * of the quantity in the equation. The result is the least one, and does not depend on the order of rows. Every round
 * matches what can be matched (matching.h) and differentiates all equations that are reached from an unmatched one: the
 * minimally singular sets of that round, all at once. A round looks at what it reaches only; there are about as many
 * rounds as the largest number of differentiations. Ends for every system in which the rows can be matched with the
 * columns when orders are disregarded; for others never, so `limit` bounds the number of differentiations of a row.
 * Method: Pantelides, SIAM J. Sci. Stat. Comput. 9 (1988); Pryce, BIT 41 (2001). */
#ifndef GRAPH_PANTELIDES_H
#define GRAPH_PANTELIDES_H

#include "graph/graph.h"

typedef struct {
    bool is_complete;         /* every row is matched with the highest derivative of a column */
    uint32_t *differentiated; /* per row: how often */
    uint32_t *highest;        /* per column: its highest derivative in the differentiated system */
    uint32_t *column_of_row;  /* MATCH_NONE: none */
    uint32_t most;            /* largest number of differentiations */
} Pantelides;

/* order[k] belongs to g->index[k]; repeated entries of a row count with their highest order. `present` (may be NULL):
 * per column a derivative that is wanted though perhaps no row has it. */
Pantelides pantelides(const Incidence *g, const uint32_t *order, const uint32_t *present, uint32_t limit, Arena *arena,
                      uint64_t *work);

#endif
