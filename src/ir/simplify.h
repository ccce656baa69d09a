/* Simplification: an expression of the same value that costs less.
 *
 * expr_simplify folds constants and applies identities that hold for all finite operands in IEEE arithmetic;
 * nothing is reassociated or distributed. So the value stays the same in every bit, with these exceptions:
 *   - the sign of a zero: x + 0, 0 - x, 0*x, x - x, -(a - b) (visible only in atan2(0, negative));
 *   - pow with exponent 2, 3, 4, -1, 0.5 becomes products, 1/x, sqrt: at most a few units in the last place;
 *   - what is not finite or INTEGER_FAULT may get lost where it does not matter: 0*x is 0, x - x is 0, equal
 *     branches make the condition irrelevant, whatever x and the condition are. (0/x stays: at x = 0 a fault.)
 * Nothing is folded to a value that is not finite or to INTEGER_FAULT: such a fault stays for run time, with its place.
 * homotopy is not folded. Relations on Reals are not negated: strictness survives.
 *
 * expr_simplify_derivative goes further, for expressions that no user wrote: literals next to each other in sums
 * and products are gathered, like terms (2*x + x) joined, 0/x is 0, so results may differ by rounding.
 *
 * Linear in the number of nodes, however they are shared. A node whose simplified form would pass EXPR_DEPTH stays
 * as it is. Simplifying twice gives the same node. */
#ifndef IR_SIMPLIFY_H
#define IR_SIMPLIFY_H

#include "ir/model.h"

const Expr *expr_simplify(Pool *pool, const Expr *e);
const Expr *expr_simplify_derivative(Pool *pool, const Expr *e);
Term term_simplify(Model *model, Term term); /* leaves that vanish are dropped; absent stays absent */

/* Remembers what it has simplified, for passes that meet the same shapes again and again. */
typedef struct Simplifier Simplifier;
Simplifier *simplifier_create(Pool *pool, Arena *arena); /* lives in arena; rules of expr_simplify */
const Expr *simplifier_run(Simplifier *simplifier, const Expr *e);

/* The operation on operands that are simplified already, by the rules for derivatives: for building expressions.
 * NULL if an operand is NULL or the result would pass EXPR_DEPTH. */
const Expr *simple_unary(Pool *pool, Op op, const Expr *a);
const Expr *simple_binary(Pool *pool, Op op, const Expr *a, const Expr *b);
const Expr *simple_if(Pool *pool, const Expr *condition, const Expr *then, const Expr *otherwise);
const Expr *simple_reduce(Pool *pool, const Expr *like, const Expr *body); /* the reduction `like` with this body */

#endif
