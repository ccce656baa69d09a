/* Symbolic derivatives: exact, and simplified by the rules of expr_simplify_derivative.
 *
 * Real expressions only: what is Integer or Boolean is constant between events, its derivative 0. Piecewise
 * operations are derived branch by branch. An `if` keeps its condition as it is: its relations are the same nodes as
 * in the original and so become the same events and bits (expr_no_event makes them literal). Relations that the
 * derivative adds are literal: abs (0 counts as positive), min and max (where equal: the first), pow with variable
 * exponent (the part of the exponent is 0 where the base is not positive). sign, floor, ceil, trunc, round: 0.
 * A sum is derived by its body, the bounds being constant. homotopy: by both arguments. A function: by calling its
 * derivative, see derive_function.c; for a function of C that declares none, a difference (difference.h).
 *
 * NULL: the derivative is not defined or not to be had. These are Strings, products, minima and maxima over a range,
 * and functions without derivative, if something in them varies; whole arrays in an operation; a derivative that passes
 * EXPR_DEPTH.
 *
 * Linear in the number of nodes, however they are shared. */
#ifndef IR_DERIVE_H
#define IR_DERIVE_H

#include "ir/expr.h"

/* Partial derivative by one leaf node. Another element of the same array is another node and counts as constant,
 * also where its index could have the same value: x[i] does not depend on x[1]. */
const Expr *expr_derive(Pool *pool, const Expr *e, const Expr *leaf);

/* All partial derivatives at once. Those of a sum of n terms cost n log n together, one after the other they cost n
 * each. is_wanted says which scalar leaves of type Real count (n_leaves entries). The expression is taken as it is: it
 * is not simplified before, so that is_linear says what expr_linear would; on a simplified one the derivatives are
 * those of expr_derive. In the order of leaves; what does not occur has no entry. `arena` is for the result and for the
 * work. */
typedef struct {
    const Expr *derivative; /* NULL: there is none */
    uint32_t leaf;
    bool is_linear; /* expr_linear finds a coefficient, and the derivative is it */
} Partial;
typedef struct {
    uint32_t n;
    const Partial *at;
} Gradient;
Gradient expr_gradient(Pool *pool, const Expr *e, const bool *is_wanted, Arena *arena);

/* Total derivative by the chain rule. The callback gives the derivative of a leaf node of type Real (NULL: zero),
 * of the leaf's type; it is asked once for each node. Index expressions are simplified. */
typedef const Expr *(*LeafDerivative)(void *context, const Expr *leaf);
const Expr *expr_time_derivative(Pool *pool, const Expr *e, LeafDerivative leaf_derivative, void *context);
/* The same; NULL also where it is only to be had by differences (difference.h), which all others take. */
const Expr *expr_exact_time_derivative(Pool *pool, const Expr *e, LeafDerivative leaf_derivative, void *context);

#endif
