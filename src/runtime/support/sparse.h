/* Private to runtime/support: factors of sparse matrices, by KLU or by a method of our own.
 *
 * A plan is made of the structure once: in which order the columns are taken. Factors choose pivots, columns in that
 * order, and keep them for matrices of the same structure. Both methods are there in equal form; factors.c uses the one
 * that this runtime was built with. */
#ifndef SUPPORT_SPARSE_H
#define SUPPORT_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct { /* compressed columns */
    int n;
    int *start, *index;
    double *values;
} SparseMatrix;

typedef struct SparsePlan SparsePlan;
typedef struct SparseFactors SparseFactors;

typedef enum { SPARSE_GOOD, SPARSE_SINGULAR, SPARSE_NO_MEMORY } SparseStatus;

typedef struct { /* n each: the k-th pivot stands in row[k] and column[k]; rows were divided by scale[k] before */
    const double *pivot, *scale;
    const int *row, *column;
} SparsePivots;

typedef struct SparseMethod {
    /* A pivot is at least `tolerance` of the largest in its column, the diagonal where it is. NULL: no memory. */
    SparsePlan *(*plan)(const SparseMatrix *a, double tolerance);
    void (*forget_plan)(SparsePlan *plan);
    /* Chooses pivots. What was in *factors is gone; NULL unless the status is GOOD. */
    SparseStatus (*factor)(SparsePlan *plan, const SparseMatrix *a, SparseFactors **factors);
    /* The same pivots for other values. False: a pivot is 0, or so small that the reciprocal growth of the columns is
     * not above `least_growth`. */
    bool (*refactor)(SparsePlan *plan, const SparseMatrix *a, SparseFactors *factors, double least_growth);
    void (*solve)(SparsePlan *plan, SparseFactors *factors, double *b); /* in place */
    SparsePivots (*pivots)(const SparsePlan *plan, const SparseFactors *factors);
    void (*forget)(SparsePlan *plan, SparseFactors *factors); /* NULL: nothing */
} SparseMethod;

#ifndef KOINE_WITHOUT_KLU
extern const SparseMethod koine_sparse_klu;
#endif
extern const SparseMethod koine_sparse_own;

#endif
