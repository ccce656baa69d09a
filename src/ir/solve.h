/* Dependence on a leaf, linear forms, and solving one equation for one unknown. A leaf is a node here, as in
 * derive.h. */
#ifndef IR_SOLVE_H
#define IR_SOLVE_H

#include "ir/expr.h"

/* The node occurs, also inside index expressions. Linear in the number of nodes, however they are shared. */
bool expr_depends_on(const Expr *e, const Expr *leaf);
/* The leaf number occurs, with whatever index. */
bool expr_uses_leaf(const Expr *e, uint32_t leaf);

/* e == coefficient*leaf + rest, neither of which contains the leaf. Looks through -, +, *, /, if, homotopy and sums
 * over a range; false if the leaf stands anywhere else, or in two factors. Real, or Integer with -, +, * only. The
 * coefficient is 0 if the leaf does not occur; it may vanish at run time. */
bool expr_linear(Pool *pool, const Expr *e, const Expr *leaf, const Expr **coefficient, const Expr **rest);

/* Linear in all leaves that is_unknown names (n_leaves entries) together: none of their coefficients contains one of
 * them. One walk, whatever their number. */
bool expr_is_linear_in(const Expr *e, const bool *is_unknown);

/* The solution of lhs = rhs for the leaf, or NULL. Found if the equation is linear in the leaf, or becomes so when
 * invertible operations are peeled off: exp, log, log10, not, a/x with a literal a. Only what has one solution wherever
 * the original has one; where it has none (exp(x) = -1) the result is not finite, as a fault should be. So no sqrt(x) =
 * c: c*c would be accepted for negative c; no trigonometric functions, even powers, abs. An `if` whose condition does
 * not contain the leaf is solved branch by branch. Integers: only if the coefficient is 1 or -1. NULL if the
 * coefficient is 0, also in one branch of an `if`; that a coefficient may vanish at run time is left to the caller (see
 * expr_linear). What the user wrote is kept, only the new operations are simplified: u = R*i for i gives u/R. */
const Expr *expr_solve(Pool *pool, const Expr *lhs, const Expr *rhs, const Expr *leaf);

#endif
