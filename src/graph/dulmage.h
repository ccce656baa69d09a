/* Coarse Dulmage-Mendelsohn decomposition: which part of a system has too many equations, which
 * part too few, and which is square and solvable.
 *
 * Over-determined: reached by alternating paths from unmatched rows; it has more rows than columns.
 * Under-determined: reached from unmatched columns; it has more columns than rows. Square: the rest,
 * perfectly matched. The parts do not depend on which maximum matching is given. O(rows + columns +
 * entries). Method: Dulmage and Mendelsohn, Canad. J. Math. 10 (1958); Pothen and Fan, ACM Trans.
 * Math. Softw. 16 (1990). */
#ifndef GRAPH_DULMAGE_H
#define GRAPH_DULMAGE_H

#include "graph/graph.h"

/* Rows and columns, both ascending. */
typedef struct {
    uint32_t n_rows, n_columns;
    uint32_t *rows, *columns;
} SubSystem;

typedef enum { DULMAGE_SQUARE, DULMAGE_OVER, DULMAGE_UNDER } DulmagePart;

typedef struct {
    SubSystem part[3];               /* by DulmagePart */
    uint8_t *row_part, *column_part; /* DulmagePart of every row and column */
} Dulmage;

/* The matching must be a maximum one (match_rows); anything else that shows is a BUG. */
Dulmage dulmage_decompose(const Incidence *g, const uint32_t *column_of_row, const uint32_t *row_of_column,
                          Arena *arena, uint64_t *work);

/* Why this row (column) is unmatched: the unique smallest set of rows that holds it, no other
 * unmatched row, and uses fewer columns than it has rows: exactly one fewer, and removing any one of
 * the rows repairs it. For a column with rows and columns exchanged: any one of the columns may be
 * given a value. O(rows + columns + entries of the set). `transposed` is incidence_transpose(g). */
SubSystem explain_unmatched_row(const Incidence *g, const uint32_t *row_of_column, uint32_t row, Arena *arena);
SubSystem explain_unmatched_column(const Incidence *transposed, const uint32_t *column_of_row, uint32_t column,
                                   Arena *arena);

#endif
