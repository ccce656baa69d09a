/* Functions of statements as expressions, so that their comparisons and kinks are seen where they are called. */
#ifndef IR_INLINE_H
#define IR_INLINE_H

#include "ir/model.h"

/* The value of a call as an expression of its arguments, whose relations are events; NULL: nothing would be won (it has
 * neither comparisons nor kinks), or it cannot be had: loops, recursion, too many ways through it. */
const Expr *function_inline(Pool *pool, const Function *function, uint32_t result, const Expr *const *args);
/* The same whatever is won by it. Comparisons that are literal in the function stay so. `with_arrays`: also where it
 * has small local arrays, whose elements are written out. */
const Expr *function_expand(Pool *pool, const Function *function, uint32_t result, const Expr *const *args,
                            bool with_arrays);

#endif
