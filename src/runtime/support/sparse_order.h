/* Private to runtime/support: in which order the columns of a sparse matrix are eliminated, so that little is filled.
 */
#ifndef SUPPORT_SPARSE_ORDER_H
#define SUPPORT_SPARSE_ORDER_H

#include "sparse.h"

/* By the structure alone, whatever rows become pivots; order: n columns. False: no memory. */
bool koine_sparse_order(const SparseMatrix *a, int *order);

#endif
