/* Sparse structure on integers: which column occurs in which row.
 *
 * An Incidence is a bipartite graph (rows: equations, columns: unknowns) in compressed rows: row r
 * has the columns index[start[r]] ... index[start[r + 1] - 1]. A directed graph is an Incidence
 * with rows == columns: row v lists the nodes that v depends on. Every algorithm of this folder
 * accepts unsorted rows and repeated entries, is deterministic, iterative (no recursion), takes its
 * workspace from the arena and gives it back before it returns. It looks at rows and at entries in
 * the order given, so the caller's order decides between equally good answers.
 *
 * `work`, where a function has it, may be NULL; otherwise the number of nodes and entries looked at
 * is added to it. It shows slopes without a clock. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    uint32_t rows, columns;
    const uint32_t *start; /* rows + 1 */
    const uint32_t *index; /* start[rows] entries, each < columns */
} Incidence;

typedef struct {
    uint32_t row, column;
} Edge;

/* From edges in any order: columns ascend within a row, repeated edges become one. O(rows + columns + n). */
Incidence incidence_build(uint32_t rows, uint32_t columns, const Edge *edges, uint32_t n, Arena *arena);
/* Rows become columns; entries of the result ascend within a row. O(rows + columns + entries). */
Incidence incidence_transpose(const Incidence *g, Arena *arena);
/* Aborts as a BUG when starts descend or an entry is outside; for tests and debug builds. */
void incidence_verify(const Incidence *g);

static inline uint32_t incidence_entries(const Incidence *g)
{
    return g->start[g->rows];
}

/* Sorts nodes[0 .. n-1] by key[node], equal keys keep their order. O(n), least significant byte first. */
void sort_by_key(uint32_t *nodes, uint32_t n, const uint32_t *key, Arena *arena);

#endif
