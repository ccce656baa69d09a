/* Disjoint sets; see sets.h. */
#include "graph/sets.h"

uint32_t *sets_create(Arena *arena, uint32_t n)
{
    uint32_t *parent = NEW_ARRAY(arena, uint32_t, (size_t)n + 1);
    for (uint32_t k = 0; k <= n; k++)
        parent[k] = k;
    return parent;
}

void sets_join_least(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = sets_root(parent, a);
    b = sets_root(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

uint32_t sets_signed_root(uint32_t *parent, bool *negated, uint32_t k, bool *is_opposite)
{
    uint32_t root = k;
    bool sign = false;
    while (parent[root] != root) {
        sign ^= negated[root];
        root = parent[root];
    }
    *is_opposite = sign;
    while (parent[k] != root) { /* compress the path */
        const uint32_t next = parent[k];
        const bool own = negated[k];
        parent[k] = root;
        negated[k] = sign;
        sign ^= own;
        k = next;
    }
    return root;
}
