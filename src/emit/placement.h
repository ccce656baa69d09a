/* Where each node of a kernel is computed.
 *
 * A node is computed once, in the smallest region that contains all its uses. The kernel itself is
 * region 0; each IF makes two regions, one a side. A node needed by several sides is computed before
 * the IF that separates them (its operations are total, so computing it is always allowed); a node
 * needed by one side only is computed on that side. So nothing is computed twice, nothing is computed
 * in vain unless it is shared, and code stays linear in the number of nodes.
 *
 * Nodes are numbered in post-order: arguments before those who use them. */
#ifndef EMIT_PLACEMENT_H
#define EMIT_PLACEMENT_H

#include "base/ids.h"
#include "base/vec.h"
#include "emit/code.h"

typedef struct {
    const Expr *expr;
    uint32_t uses;             /* as argument or output; 0: not needed after all */
    uint32_t region;           /* where it is computed */
    uint32_t side;             /* EXPR_IF: region of then; side + 1 is that of otherwise */
    uint32_t first, n_prelude; /* EXPR_IF: nodes in placement->prelude that must exist before it branches */
} PlacedNode;

typedef struct {
    uint32_t parent, depth, owner; /* owner: the IF */
} PlacedRegion;

typedef struct {
    Arena *arena;           /* scratch */
    uint32_t *number;       /* expression id -> number + 1 of the node with its value, 0: not in this kernel */
    uint32_t n_numbers;     /* ids that have room there */
    VEC(uint32_t) numbered; /* ids that have one */
    VEC(PlacedNode) nodes;
    VEC(PlacedRegion) regions;
    VEC(uint32_t) prelude;
} Placement;

void placement_init(Placement *placement, const Pool *pool, Arena *arena);
void placement_of(Placement *placement, const Kernel *kernel); /* replaces what was there */

static inline uint32_t placement_number(const Placement *placement, const Expr *e)
{
    return placement->number[e->id] - 1;
}
/* The expression that has the value: homotopy and number pass their first argument on, an IF with equal
 * sides passes that on. */
static inline const Expr *placement_value(const Placement *placement, const Expr *e)
{
    return placement->nodes.at[placement_number(placement, e)].expr;
}

#endif
