/* Column colouring of a sparse pattern, for compressed Jacobians.
 *
 * Two columns that share a row get different colours; columns of one colour can be evaluated
 * together. Greedy: each column takes the smallest colour that no row of it has used. At least as many
 * colours as the longest row has entries are needed. For each long row the free colours are found
 * through a chain with path compression, so a full row costs its length, not the square of it; where
 * the rows of a column use interleaved colours, the search for a gap ends after some rounds and the
 * column takes a colour above them. O(columns + entries), at worst times a logarithm (path
 * compression). Method: Curtis, Powell and Reid, J. Inst. Math. Appl. 13 (1974); Coleman and More, SIAM J.
 * Numer. Anal. 20 (1983). */
#ifndef GRAPH_COLOURING_H
#define GRAPH_COLOURING_H

#include "graph/graph.h"

typedef enum {
    COLOUR_NATURAL,      /* columns in ascending order: best for bands */
    COLOUR_LARGEST_FIRST /* columns with most entries in their rows first, equal ones ascending */
} ColourOrder;

/* Fills colour_of_column[columns] and returns the number of colours; an empty column has colour 0. */
uint32_t colour_columns(const Incidence *pattern, ColourOrder order, Arena *arena, uint32_t *colour_of_column,
                        uint64_t *work);

#endif
