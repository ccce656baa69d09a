/* How nodes are made; for expr*.c. */
#ifndef IR_POOL_H
#define IR_POOL_H

#include "ir/expr.h"

/* The node that is equal to `head`, which gives kind, op, type, payload and n_args, with these arguments. */
const Expr *pool_intern(Pool *pool, Expr *head, const Expr *const *args);

#endif
