/* Maximum matching of rows (equations) to columns (unknowns).
 *
 * A first-fit pass matches each row with its first free column; what remains is augmented in
 * phases: along shortest disjoint paths, which bounds the number of phases, then along the branches
 * of a forest, which in practice makes it small. Rows are tried in ascending order and columns in the
 * order of the row, so earlier ones are preferred. O((rows + entries) * sqrt(rows)) at worst; usually
 * a few phases of O(rows + entries). Method: Hopcroft and Karp, SIAM J. Comput. 2 (1973); the forest
 * as in Azad, Buluc and Pothen, IEEE Trans. Parallel Distrib. Syst. 28 (2017). */
#ifndef GRAPH_MATCHING_H
#define GRAPH_MATCHING_H

#include "graph/graph.h"

#define MATCH_NONE UINT32_MAX

/* Fills column_of_row[rows] and row_of_column[columns], MATCH_NONE where unmatched; returns the size. */
uint32_t match_rows(const Incidence *g, Arena *arena, uint32_t *column_of_row, uint32_t *row_of_column);

/* The same, starting from a partial matching: initial[rows] holds a column or MATCH_NONE (NULL: no
 * matching yet; it may be the array column_of_row itself). A row matched in `initial` stays matched,
 * perhaps to another column. */
uint32_t match_rows_from(const Incidence *g, Arena *arena, const uint32_t *initial, uint32_t *column_of_row,
                         uint32_t *row_of_column, uint64_t *work);

/* The directed graph of a matching: row r depends on the rows that are matched to its other columns.
 * Its strong components are the blocks of the block lower triangular form. O(rows + entries). */
Incidence match_dependencies(const Incidence *g, const uint32_t *row_of_column, Arena *arena);

#endif
