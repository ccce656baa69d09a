#include "graph/components.h"
#include "base/bug.h"

/* Names of the paper: number[v] is the order of discovery (from 1), low[v] the smallest number known to be reached
 * from v within its component; `open` is the stack of nodes without component, `path` the recursion. */
typedef struct {
    const Incidence *graph;
    uint32_t *number, *low, *next, *open, *path;
    uint32_t n_numbered, n_open;
    uint32_t *component_of, n_components;
    uint64_t work;
} Search;

#define COMPONENT_NONE UINT32_MAX

static void discover(Search *s, uint32_t node)
{
    s->number[node] = s->low[node] = ++s->n_numbered;
    s->next[node] = s->graph->start[node];
    s->open[s->n_open++] = node;
    s->work++;
}

static void close_component(Search *s, uint32_t root)
{
    uint32_t node;
    do {
        node = s->open[--s->n_open];
        s->component_of[node] = s->n_components;
    } while (node != root);
    s->n_components++;
}

static void visit(Search *s, uint32_t root)
{
    uint32_t depth = 0;
    discover(s, root);
    s->path[depth++] = root;
    while (depth > 0) {
        const uint32_t node = s->path[depth - 1];
        if (s->next[node] < s->graph->start[node + 1]) {
            const uint32_t to = s->graph->index[s->next[node]++];
            s->work++;
            if (s->number[to] == 0) {
                discover(s, to);
                s->path[depth++] = to;
            } else if (s->component_of[to] == COMPONENT_NONE && s->number[to] < s->low[node]) {
                s->low[node] = s->number[to];
            }
            continue;
        }
        depth--;
        if (s->low[node] == s->number[node])
            close_component(s, node);
        else if (s->low[node] < s->low[s->path[depth - 1]])
            s->low[s->path[depth - 1]] = s->low[node];
    }
}

Components strong_components(const Incidence *graph, Arena *arena, uint64_t *work)
{
    REQUIRE(graph->rows == graph->columns);
    const uint32_t n = graph->rows;
    Components result = { .start = NEW_ARRAY(arena, uint32_t, (size_t)n + 1),
                          .node = NEW_ARRAY(arena, uint32_t, n),
                          .component_of = NEW_ARRAY(arena, uint32_t, n) };
    const ArenaMark mark = arena_mark(arena);
    Search s = { .graph = graph,
                 .number = NEW_ARRAY(arena, uint32_t, n),
                 .low = NEW_ARRAY(arena, uint32_t, n),
                 .next = NEW_ARRAY(arena, uint32_t, n),
                 .open = NEW_ARRAY(arena, uint32_t, n),
                 .path = NEW_ARRAY(arena, uint32_t, n),
                 .component_of = result.component_of };
    for (uint32_t v = 0; v < n; v++)
        s.component_of[v] = COMPONENT_NONE;
    for (uint32_t v = 0; v < n; v++)
        if (s.number[v] == 0)
            visit(&s, v);

    /* Counting sort by component; nodes are placed ascending. */
    result.n = s.n_components;
    for (uint32_t v = 0; v < n; v++)
        result.start[s.component_of[v] + 1]++;
    for (uint32_t c = 0; c < result.n; c++)
        result.start[c + 1] += result.start[c];
    uint32_t *place = s.next;
    memcpy(place, result.start, result.n * sizeof *place);
    for (uint32_t v = 0; v < n; v++)
        result.node[place[s.component_of[v]]++] = v;

    if (work)
        *work += s.work;
    arena_reset(arena, mark);
    return result;
}
