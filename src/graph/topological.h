/* Topological order with levels.
 *
 * Row v of the graph lists the nodes that v depends on (rows == columns). The level of a node is
 * the length of the longest chain of dependencies below it: 0 when it depends on nothing. The order
 * is by level, then by the caller's key, then by number; so dependencies always come first and the
 * order does not depend on how entries are arranged in a row. O(nodes + entries).
 * Method: Kahn, Comm. ACM 5 (1962), and a stable radix sort. */
#ifndef GRAPH_TOPOLOGICAL_H
#define GRAPH_TOPOLOGICAL_H

#include "graph/graph.h"

typedef struct {
    uint32_t n_levels;
    uint32_t *level;       /* of every node */
    uint32_t *order;       /* every node once */
    uint32_t *level_start; /* n_levels + 1: level k is order[level_start[k]] ... order[level_start[k + 1] - 1] */
    uint32_t n_cycle;      /* 0: the graph has no cycle */
    uint32_t *cycle;       /* each depends on the next, the last on the first; begins with its smallest node */
} Topological;

/* `key` of every node, or NULL: nodes of a level ascend by number. With a cycle the function returns
 * false and only n_cycle and cycle are set. */
bool topological_order(const Incidence *graph, const uint32_t *key, Arena *arena, Topological *result, uint64_t *work);

#endif
