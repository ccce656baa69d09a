/* What was computed for the nodes of one walk: a table from nodes to 32-bit values.
 *
 * A walk over an expression must look at each node once, however often it is shared. Small
 * expressions need no memory beyond the Memo itself, so a walker may have one as a local variable.
 *
 *     Memo memo;
 *     memo_begin(&memo, NULL);
 *     ...
 *     memo_end(&memo);                                                                            */
#ifndef IR_MEMO_H
#define IR_MEMO_H

#include "base/arena.h"
#include "ir/expr.h"

enum { MEMO_FIRST = 64 }; /* slots without allocation, a power of two */

typedef struct {
    uint32_t key; /* id of the node + 1; 0: free */
    uint32_t value;
} MemoSlot;

typedef struct {
    Arena *arena;    /* given, or created on first need */
    bool owns_arena; /* ... and destroyed by memo_end */
    uint32_t n, capacity;
    MemoSlot *slots;
    MemoSlot first[MEMO_FIRST];
} Memo;

void memo_begin(Memo *memo, Arena *arena); /* the Memo must not be moved; arena NULL: one of its own */
void memo_end(Memo *memo);
bool memo_get(const Memo *memo, const Expr *node, uint32_t *value);
void memo_put(Memo *memo, const Expr *node, uint32_t value); /* replaces */
Arena *memo_arena(Memo *memo);                               /* lives until memo_end */

#endif
