/* The table of function.def and what composed functions are made of; see function.h. */
#include "lang/simplex/function.h"
#include "base/ascii.h"
#include "base/bug.h"
#include "ir/evaluate.h"
#include <string.h>

enum { GOES_SAME, GOES_STEP };

static const FunctionRow rows[FUNCTION_COUNT] = {
#define FUNCTION(name, arity, from, to, course, op)                                                                    \
    { #name, arity, TYPE_##from, TYPE_##to, GOES_##course == GOES_STEP, OP_##op },
#include "lang/simplex/function.def"
#undef FUNCTION
};

const FunctionRow *mdl_function_row(FunctionId function)
{
    return &rows[function];
}

bool mdl_function_find(const char *name, FunctionId *function)
{
    enum { LONGEST = 6 };
    char capitals[LONGEST + 1] = { 0 };
    for (uint32_t k = 0; name[k]; k++) {
        if (k == LONGEST)
            return false;
        capitals[k] = capital_letter(name[k]);
    }
    uint32_t low = 0, high = FUNCTION_COUNT;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const int order = strcmp(capitals, rows[middle].name);
        if (order == 0) {
            *function = middle;
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static const Expr *positive(Pool *pool, const Expr *x, bool is_literal, const Expr *zero)
{
    return is_literal ? expr_literal_relation(pool, OP_GE, x, zero) : expr_binary(pool, OP_GE, x, zero);
}

/* x - y*quotient, the quotient being x/y rounded by `rounding`. */
static const Expr *remainder_of(Pool *pool, Op rounding, const Expr *x, const Expr *y)
{
    const Expr *quotient = expr_unary(pool, rounding, expr_binary(pool, OP_DIV, x, y));
    return expr_binary(pool, OP_SUB, x, expr_binary(pool, OP_MUL, y, quotient));
}

/* Argument order: x before y in the result too, so that leaves keep the order of the source. */
static const Expr *build_composed(Pool *pool, FunctionId function, const Expr *x, const Expr *y, bool is_literal)
{
    static const double PI = 3.14159265358979323846;
    switch (function) {
    case FUNCTION_SQE: return expr_binary(pool, OP_MUL, x, x);
    case FUNCTION_ROOT: return expr_binary(pool, OP_POW, x, expr_binary(pool, OP_DIV, expr_real(pool, 1), y));
    case FUNCTION_LOG: return expr_binary(pool, OP_DIV, expr_unary(pool, OP_LOG, x), expr_unary(pool, OP_LOG, y));
    case FUNCTION_MOD: return remainder_of(pool, OP_TRUNC, x, y);
    case FUNCTION_MOD2: return remainder_of(pool, OP_FLOOR, x, y);
    case FUNCTION_DIV: return expr_unary(pool, OP_TRUNC, expr_binary(pool, OP_DIV, x, y));
    case FUNCTION_DIV2: return expr_unary(pool, OP_FLOOR, expr_binary(pool, OP_DIV, x, y));
    case FUNCTION_ATAN2: { /* arctan(x/y), and pi more for y < 0 */
        const Expr *is_positive = positive(pool, y, is_literal, expr_real(pool, 0));
        const Expr *more = expr_if(pool, is_positive, expr_real(pool, 0), expr_real(pool, PI));
        return expr_binary(pool, OP_ADD, expr_unary(pool, OP_ATAN, expr_binary(pool, OP_DIV, x, y)), more);
    }
    case FUNCTION_SIGN: /* never 0 */
        return expr_if(pool, positive(pool, x, is_literal, expr_real(pool, 0)), expr_real(pool, 1),
                       expr_real(pool, -1));
    case FUNCTION_ISIGN:
        return expr_if(pool, positive(pool, x, is_literal, expr_integer(pool, 0)), expr_integer(pool, 1),
                       expr_integer(pool, -1));
    default: BUG("not a composed function");
    }
}

const Expr *mdl_function_build(Pool *pool, FunctionId function, const Expr *const *args, bool is_literal)
{
    const FunctionRow *row = &rows[function];
    if (row->op != OP_COUNT)
        return expr_call(pool, row->op, row->arity, args);
    return build_composed(pool, function, args[0], row->arity > 1 ? args[1] : NULL, is_literal);
}

double mdl_real_operation(Op op, double a, double b)
{
    return op_evaluate(op, REAL_TYPE, (const Value[]){ { .r = a }, { .r = b } }).r;
}
