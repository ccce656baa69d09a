/* Disjoint sets of the numbers 0, 1, ..., which are joined one by one.
 *
 * `parent[k]` leads from k towards the root of its set, which is its own parent; paths are halved while they are
 * followed. The caller says which root stays, so that results do not depend on the order of joining where that matters.
 * Nearly O(1) a call. Method: Tarjan and van Leeuwen, J. ACM 31 (1984). */
#ifndef GRAPH_SETS_H
#define GRAPH_SETS_H

#include "base/arena.h"
#include <stdbool.h>

/* n sets of one number each; room for one more, so that n may be 0. */
uint32_t *sets_create(Arena *arena, uint32_t n);

static inline uint32_t sets_root(uint32_t *parent, uint32_t k)
{
    while (parent[k] != k)
        k = parent[k] = parent[parent[k]];
    return k;
}

/* The set of `other` becomes part of that of `kept`, whose root stays. */
static inline void sets_join(uint32_t *parent, uint32_t kept, uint32_t other)
{
    parent[sets_root(parent, other)] = sets_root(parent, kept);
}

/* One set of both; the smaller root stays, so the root of a set is its smallest number when all are joined so. */
void sets_join_least(uint32_t *parent, uint32_t a, uint32_t b);

/* The root, and whether k has the opposite sign of it; `negated[k]` is the sign of k relative to its parent. */
uint32_t sets_signed_root(uint32_t *parent, bool *negated, uint32_t k, bool *is_opposite);

#endif
