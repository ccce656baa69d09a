/* Replacing parts of expressions. */
#ifndef IR_SUBSTITUTE_H
#define IR_SUBSTITUTE_H

#include "ir/model.h"

/* Every node from[k] becomes to[k] (of the same type), the outermost first; what was put in is not looked into.
 * Nothing is simplified. Linear in the number of nodes, however they are shared. NULL if the result passes
 * EXPR_DEPTH. */
const Expr *expr_substitute(Pool *pool, const Expr *e, uint32_t n, const Expr *const *from, const Expr *const *to);

/* The un-indexed leaf `ref` of the term becomes the replacement (of the same type); elements ref[...] stay.
 * Absent if the result passes EXPR_DEPTH. */
Term term_substitute(Model *model, Term term, Ref ref, Term replacement);

#endif
