/* Strong components of a directed graph, dependencies first.
 *
 * Row v of the graph lists the nodes that v depends on (rows == columns). A component is numbered
 * after all components it depends on; nodes ascend within a component. O(nodes + entries).
 * Method: Tarjan, SIAM J. Comput. 1 (1972), with an explicit stack. */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include "graph/graph.h"

typedef struct {
    uint32_t n;             /* number of components */
    uint32_t *start;        /* n + 1: component c has node[start[c]] ... node[start[c + 1] - 1] */
    uint32_t *node;         /* every node once, by component */
    uint32_t *component_of; /* of every node */
} Components;

Components strong_components(const Incidence *graph, Arena *arena, uint64_t *work);

#endif
