#include "graph/topological.h"
#include "base/bug.h"

/* Removes nodes whose dependencies are all removed; missing[v] counts those that are not. Returns how many could be
 * removed and sets the level of each. */
static uint32_t remove_ready(const Incidence *graph, uint32_t *missing, uint32_t *level, Arena *arena, uint64_t *work)
{
    const uint32_t n = graph->rows;
    const Incidence users = incidence_transpose(graph, arena);
    uint32_t *queue = NEW_ARRAY(arena, uint32_t, n);
    uint32_t n_queue = 0;
    for (uint32_t v = 0; v < n; v++) {
        missing[v] = graph->start[v + 1] - graph->start[v];
        if (missing[v] == 0)
            queue[n_queue++] = v;
    }
    for (uint32_t head = 0; head < n_queue; head++) {
        const uint32_t v = queue[head];
        *work += 1 + users.start[v + 1] - users.start[v];
        for (uint32_t k = users.start[v]; k < users.start[v + 1]; k++) {
            const uint32_t user = users.index[k];
            if (level[user] < level[v] + 1)
                level[user] = level[v] + 1;
            if (--missing[user] == 0)
                queue[n_queue++] = user;
        }
    }
    return n_queue;
}

static void sort_by_level(Topological *result, uint32_t n, const uint32_t *key, Arena *arena)
{
    for (uint32_t v = 0; v < n; v++) {
        result->order[v] = v;
        if (result->level[v] >= result->n_levels)
            result->n_levels = result->level[v] + 1;
    }
    if (key)
        sort_by_key(result->order, n, key, arena);
    sort_by_key(result->order, n, result->level, arena);
    for (uint32_t v = 0; v < n; v++)
        result->level_start[result->level[v] + 1]++;
    for (uint32_t k = 0; k < result->n_levels; k++)
        result->level_start[k + 1] += result->level_start[k];
}

/* A node that could not be removed depends on another such node: following the first one must come back. */
static void follow_cycle(const Incidence *graph, const uint32_t *missing, Topological *result, Arena *arena,
                         uint64_t *work)
{
    uint32_t *walk = NEW_ARRAY(arena, uint32_t, graph->rows);
    uint32_t *place = NEW_ARRAY(arena, uint32_t, graph->rows); /* in the walk, from 1 */
    uint32_t n_walk = 0, v = 0;
    while (missing[v] == 0)
        v++;
    while (place[v] == 0) {
        walk[n_walk++] = v;
        place[v] = n_walk;
        uint32_t k = graph->start[v];
        while (missing[graph->index[k]] == 0)
            k++;
        *work += 1 + k - graph->start[v];
        v = graph->index[k];
    }
    const uint32_t begin = place[v] - 1, length = n_walk - begin;
    uint32_t smallest = 0;
    for (uint32_t k = 1; k < length; k++)
        if (walk[begin + k] < walk[begin + smallest])
            smallest = k;
    result->n_cycle = length;
    for (uint32_t k = 0; k < length; k++)
        result->cycle[k] = walk[begin + (smallest + k) % length];
}

bool topological_order(const Incidence *graph, const uint32_t *key, Arena *arena, Topological *result, uint64_t *work)
{
    REQUIRE(graph->rows == graph->columns);
    const uint32_t n = graph->rows;
    *result = (Topological){ .level = NEW_ARRAY(arena, uint32_t, n),
                             .order = NEW_ARRAY(arena, uint32_t, n),
                             .level_start = NEW_ARRAY(arena, uint32_t, (size_t)n + 1) };
    uint64_t counted = 0;
    const ArenaMark mark = arena_mark(arena);
    uint32_t *missing = NEW_ARRAY(arena, uint32_t, n);
    const bool is_acyclic = remove_ready(graph, missing, result->level, arena, &counted) == n;
    if (is_acyclic) {
        sort_by_level(result, n, key, arena);
    } else {
        *result = (Topological){ .cycle = result->order };
        follow_cycle(graph, missing, result, arena, &counted);
    }
    if (work)
        *work += counted;
    arena_reset(arena, mark);
    return is_acyclic;
}
