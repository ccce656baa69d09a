/* Tearing: which unknowns of a square system are iterated, so that all others follow one after the other.
 *
 * Row r may be used to compute column c if the entry is solvable. The result orders some pairs (row, column) so that
 * each row has, besides its own column, only columns of earlier pairs and torn columns. The other rows are residuals,
 * as many as there are torn columns.
 *
 * Method: a row with one unknown column left computes it, those first that magnify errors least (to a factor of two),
 * of these the plain ones. When there is none, the column is torn that makes most rows computable, then a preferred
 * one, then the one in most rows, then the first; a column that no row can compute is torn anyway (heuristic of the
 * kind of Carpanzano and Cellier; the least set is NP-complete). O(entries + rows log rows).
 *
 * A long chain of explicit computations multiplies errors. Each column carries a bound of how much a torn column is
 * magnified in it, from the magnitudes of the coefficients with units taken out; one that exceeds most_growth is torn
 * instead. */
#ifndef GRAPH_TEARING_H
#define GRAPH_TEARING_H

#include "graph/graph.h"

enum { TEARING_PLAIN = 2 };
typedef struct {
    Incidence rows;              /* square; no repeated entries */
    const uint8_t *solvable;     /* per entry; TEARING_PLAIN: with less arithmetic than others */
    const double *magnitude;     /* per entry: of its coefficient, > 0 where solvable; NULL: 1 */
    const uint8_t *is_torn;      /* per column: torn in any case; NULL: none */
    const uint8_t *is_kept;      /* per row: a residual in any case; NULL: none */
    const uint8_t *is_preferred; /* per column: torn rather than others that make as many rows computable; NULL: none */
    double most_growth;          /* 0: no limit */
} TearingProblem;

typedef struct {
    uint32_t n_inner; /* pairs in order; behind them residual rows and torn columns, each ascending */
    uint32_t *row, *column;
    uint32_t n_cut; /* columns torn because of their growth */
    double growth;  /* the largest of the others */
} Tearing;

Tearing tear_system(const TearingProblem *problem, Arena *arena, uint64_t *work);

#endif
