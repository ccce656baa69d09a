/* A vector x with a x = 0 for a sparse square matrix of numbers: which columns can change together without a row
 * noticing.
 *
 * The members of x that are not 0 are a least set, because the columns of the pivots are independent. The rows are
 * scaled to 1 first, so units do not matter. Deterministic. Method: elimination with the pivots of Markowitz,
 * Management Science 3 (1957). */
#ifndef GRAPH_NULL_VECTOR_H
#define GRAPH_NULL_VECTOR_H

#include "base/vec.h"
#include <stdbool.h>

typedef struct {
    uint32_t column;
    double value;
} SparseEntry;
typedef VEC(SparseEntry) SparseRow;

/* False: there is none, or it takes too long to tell. */
bool find_null_vector(uint32_t n, const SparseRow *rows, Arena *arena, double *x);

#endif
