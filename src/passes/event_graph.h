/* The event graph: what is computed in an event step, and what has to be computed before it. Private to sort-blocks. */
#ifndef PASSES_EVENT_GRAPH_H
#define PASSES_EVENT_GRAPH_H

#include "graph/graph.h"
#include "passes/pipeline.h"

typedef enum { NODE_EQUATION, NODE_RELATION, NODE_STEP, NODE_TRANSITION } NodeKind;
typedef struct {
    uint8_t kind;
    uint32_t object; /* its number among those of its kind in the model */
} EventNode;

typedef struct {
    const EventNode *nodes;
    uint32_t n;
    Incidence reads; /* per node: the nodes that it depends on */
} EventGraph;

/* In the scratch memory of the passes. False: reported. */
bool event_graph_build(Compile *c, EventGraph *graph);
Span event_node_span(const Model *m, EventNode n);

#endif
