/* The value of a scalar expression.
 *
 * Computed in double arithmetic and by libm and koine/ops.h, node by node as written: the same bits
 * as generated C gives. `if` evaluates the chosen branch only, `and` and `or` stop when decided.
 * A reduction starts from 0 (ADD), 1 (MUL), true (AND), false (OR) and goes through its iterations
 * in order; MIN and MAX start with the first iteration and have no value without one (an infinite
 * Real, INTEGER_FAULT); a step of 0 has none either (NaN, INTEGER_FAULT, false). homotopy gives its
 * first argument. A function is executed as routine.h says. A shared node is evaluated once. */
#ifndef IR_EVALUATE_H
#define IR_EVALUATE_H

#include "ir/expr.h"

typedef union Value Value;
union Value {
    double r;       /* Real */
    int64_t i;      /* Integer, Boolean (0 or 1), enumeration (from 1) */
    const Value *a; /* array: the elements, in the order of rows */
};

/* leaves: by leaf number, Real or not as the leaf's type says; iterators: by level. Either may be NULL if
 * there is none. False if the expression has no scalar value here: indexed or array leaf, String, array,
 * function that cannot be executed. Only what is evaluated matters: the branch not chosen may contain anything. */
bool expr_evaluate(const Expr *e, const Value *leaves, const int64_t *iterators, Value *result);

/* The same of an array, too, which lies where a leaf says, or in the arena. */
bool expr_evaluate_any(const Expr *e, const Value *leaves, const int64_t *iterators, Arena *arena, Value *result);

/* One operation on values. `operands` is the type of the arguments (of the first, as they agree). */
Value op_evaluate(Op op, Type operands, const Value args[]);

/* Finite, or not INTEGER_FAULT. */
bool value_is_good(Type type, Value value);

/* Why `e` has no good value: the first sub-expression that has none although its operands do, and their
 * values (of the first two operands; of a function: of its first two arguments; of a leaf, a literal: its own value; of
 * a reduction: the value so far and that of the body). What does not reach the result is not blamed: 1/x with x = 0 is
 * good in atan(1/x). But an Integer fault is never made good by what is computed from it. False if `e` has a good
 * value, or none at all. */
bool expr_fault(const Expr *e, const Value *leaves, const int64_t *iterators, const Expr **where, Value operands[2]);

#endif
