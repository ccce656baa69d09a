/* Sums, products and quotients, simplified as they are written or, for derivatives, with their literals gathered; see
 * simplify.h for what is allowed. */
#include "ir/simplify_rules.h"
#include <math.h>

/* ---- sums and products, as written ---- */
static const Expr *gather_sum(Rules r, const Expr *a, int sign, const Expr *b);
static const Expr *gather_product(Rules r, const Expr *a, const Expr *b);
static const Expr *gather_quotient(Rules r, const Expr *a, const Expr *b);
static const Expr *attach_factor(Rules r, double factor, const Expr *core);

const Expr *simplify_neg(Rules r, const Expr *a)
{
    if (is_number(a))
        return negated_literal(r.pool, a);
    if (is_call(a, OP_NEG))
        return a->args[0];
    if (is_call(a, OP_SUB))
        return simplify_sub(r, a->args[1], a->args[0]);
    if (r.gather && (is_call(a, OP_MUL) || is_call(a, OP_DIV)) && a->args[0]->kind == EXPR_REAL)
        return attach_factor(r, -a->args[0]->u.real,
                             is_call(a, OP_MUL) ? a->args[1] : simplify_divide(r, expr_real(r.pool, 1), a->args[1]));
    return expr_unary(r.pool, OP_NEG, a);
}

const Expr *simplify_add(Rules r, const Expr *a, const Expr *b)
{
    if (is(a, 0))
        return b;
    if (is(b, 0))
        return a;
    if (r.gather && a->type.kind == TYPE_REAL)
        return gather_sum(r, a, +1, b);
    if (is_call(b, OP_NEG))
        return simplify_sub(r, a, b->args[0]);
    if (is_call(a, OP_NEG))
        return simplify_sub(r, b, a->args[0]);
    if (is_negative(b))
        return simplify_sub(r, a, negated_literal(r.pool, b));
    if (is_negative(a))
        return simplify_sub(r, b, negated_literal(r.pool, a));
    return expr_binary(r.pool, OP_ADD, a, b);
}

const Expr *simplify_sub(Rules r, const Expr *a, const Expr *b)
{
    if (is(b, 0))
        return a;
    if (is(a, 0))
        return simplify_neg(r, b);
    if (a == b)
        return make_number(r.pool, a->type, 0);
    if (r.gather && a->type.kind == TYPE_REAL)
        return gather_sum(r, a, -1, b);
    if (is_call(b, OP_NEG))
        return simplify_add(r, a, b->args[0]);
    if (is_negative(b))
        return simplify_add(r, a, negated_literal(r.pool, b));
    return expr_binary(r.pool, OP_SUB, a, b);
}

const Expr *simplify_mul(Rules r, const Expr *a, const Expr *b)
{
    if (is(a, 0) || is(b, 0))
        return make_number(r.pool, a->type, 0);
    if (is(a, 1))
        return b;
    if (is(b, 1))
        return a;
    if (is(a, -1))
        return simplify_neg(r, b);
    if (is(b, -1))
        return simplify_neg(r, a);
    if (r.gather && a->type.kind == TYPE_REAL)
        return gather_product(r, a, b);
    if (is_call(a, OP_NEG))
        return is_number(b) ? simplify_mul(r, a->args[0], negated_literal(r.pool, b))
                            : simplify_neg(r, simplify_mul(r, a->args[0], b));
    if (is_call(b, OP_NEG))
        return is_number(a) ? simplify_mul(r, negated_literal(r.pool, a), b->args[0])
                            : simplify_neg(r, simplify_mul(r, a, b->args[0]));
    return expr_binary(r.pool, OP_MUL, a, b);
}

/* 1/b if that is exact and normal: then x/b and x*(1/b) are the same in every bit. */
static bool exact_reciprocal(const Expr *b, double *reciprocal)
{
    int exponent;
    if (b->kind != EXPR_REAL || fabs(frexp(b->u.real, &exponent)) != 0.5)
        return false;
    *reciprocal = 1 / b->u.real;
    return isnormal(*reciprocal);
}

const Expr *simplify_divide(Rules r, const Expr *a, const Expr *b)
{
    double reciprocal;
    if (is(b, 1))
        return a;
    if (is(b, -1))
        return simplify_neg(r, a);
    if (exact_reciprocal(b, &reciprocal))
        return simplify_mul(r, a, expr_real(r.pool, reciprocal));
    if (r.gather)
        return is(a, 0) ? a : gather_quotient(r, a, b);
    if (is_call(a, OP_NEG))
        return simplify_neg(r, simplify_divide(r, a->args[0], b));
    if (is_call(b, OP_NEG))
        return is_number(a) ? simplify_divide(r, negated_literal(r.pool, a), b->args[0])
                            : simplify_neg(r, simplify_divide(r, a, b->args[0]));
    return expr_binary(r.pool, OP_DIV, a, b);
}

/* ---- sums and products of derivatives: literals gathered ---- */
typedef struct { /* sign*core + constant */
    int sign;
    const Expr *core; /* NULL: none */
    double constant;
} Sum;

typedef struct { /* factor*core */
    double factor;
    const Expr *core; /* NULL: none */
} Product;

static Product as_product(Rules r, const Expr *e)
{
    if (is_number(e))
        return (Product){ e->u.real, NULL };
    if (is_call(e, OP_NEG)) {
        Product product = as_product(r, e->args[0]);
        product.factor = -product.factor;
        return product;
    }
    if (is_call(e, OP_MUL) && is_number(e->args[0]))
        return (Product){ e->args[0]->u.real, e->args[1] };
    if (is_call(e, OP_DIV) && is_number(e->args[0]))
        return (Product){ e->args[0]->u.real, expr_binary(r.pool, OP_DIV, expr_real(r.pool, 1), e->args[1]) };
    return (Product){ 1, e };
}

static bool is_reciprocal(const Expr *e)
{
    return is_call(e, OP_DIV) && is(e->args[0], 1);
}

static const Expr *attach_factor(Rules r, double factor, const Expr *core)
{
    if (!core || factor == 0)
        return unsigned_zero(r.pool, factor);
    if (factor == 1)
        return core;
    if (is_reciprocal(core))
        return expr_binary(r.pool, OP_DIV, expr_real(r.pool, factor), core->args[1]);
    if (factor == -1)
        return simplify_neg((Rules){ r.pool, false }, core); /* no literal to change in core */
    return expr_binary(r.pool, OP_MUL, expr_real(r.pool, factor), core);
}

/* The literal part must neither overflow nor vanish. */
static bool is_usable(double factor)
{
    return isnormal(factor);
}

static const Expr *gather_product(Rules r, const Expr *a, const Expr *b)
{
    const Product x = as_product(r, a), y = as_product(r, b);
    const double factor = x.factor * y.factor;
    if (!is_usable(factor))
        return expr_binary(r.pool, OP_MUL, a, b);
    if (!x.core || !y.core)
        return attach_factor(r, factor, x.core ? x.core : y.core);
    const Expr *core;
    if (is_reciprocal(x.core) && is_reciprocal(y.core))
        core = simplify_divide(r, expr_real(r.pool, 1), simplify_mul(r, x.core->args[1], y.core->args[1]));
    else if (is_reciprocal(x.core))
        core = simplify_divide(r, y.core, x.core->args[1]);
    else if (is_reciprocal(y.core))
        core = simplify_divide(r, x.core, y.core->args[1]);
    else
        return attach_factor(r, factor, expr_binary(r.pool, OP_MUL, x.core, y.core));
    return simplify_mul(r, expr_real(r.pool, factor), core);
}

static const Expr *gather_quotient(Rules r, const Expr *a, const Expr *b)
{
    const Product x = as_product(r, a), y = as_product(r, b);
    const double factor = x.factor / y.factor;
    const bool is_exact = is_usable(factor) && fma(factor, y.factor, -x.factor) == 0;
    const bool is_wanted = !x.core || fabs(x.factor) != 1 || fabs(y.factor) == 1; /* x/(3*y), x/3 stay */
    if (!is_exact || !is_wanted) {
        if (x.core && x.factor == -1)
            return simplify_neg(r, simplify_divide(r, x.core, b));
        return expr_binary(r.pool, OP_DIV, a, b);
    }
    const Expr *one = expr_real(r.pool, 1);
    const Expr *core;
    if (!y.core)
        return attach_factor(r, factor, x.core);
    if (is_reciprocal(y.core))
        core = simplify_mul(r, x.core ? x.core : one, y.core->args[1]);
    else if (x.core && is_reciprocal(x.core))
        core = simplify_divide(r, one, simplify_mul(r, x.core->args[1], y.core));
    else
        return attach_factor(r, factor, expr_binary(r.pool, OP_DIV, x.core ? x.core : one, y.core));
    return simplify_mul(r, expr_real(r.pool, factor), core);
}

static Sum as_sum(Rules r, const Expr *e)
{
    if (is_number(e))
        return (Sum){ 0, NULL, e->u.real };
    if (is_call(e, OP_ADD) && is_number(e->args[1]))
        return (Sum){ +1, e->args[0], e->args[1]->u.real };
    if (is_call(e, OP_SUB) && is_number(e->args[1]))
        return (Sum){ +1, e->args[0], -e->args[1]->u.real };
    if (is_call(e, OP_SUB) && is_number(e->args[0]))
        return (Sum){ -1, e->args[1], e->args[0]->u.real };
    if (is_call(e, OP_NEG)) {
        const Sum sum = as_sum(r, e->args[0]);
        return (Sum){ -sum.sign, sum.core, -sum.constant };
    }
    const Product product = as_product(r, e);
    if (product.factor < 0)
        return (Sum){ -1, attach_factor(r, -product.factor, product.core), 0 };
    return (Sum){ +1, e, 0 };
}

/* The sum or difference of two cores; like terms are joined. */
static Sum join_cores(Rules r, Sum x, Sum y)
{
    if (!x.core || !y.core)
        return x.core ? x : y;
    const Product p = as_product(r, x.core), q = as_product(r, y.core);
    if (p.core == q.core) {
        const double factor = x.sign * p.factor + y.sign * q.factor;
        if (factor == 0)
            return (Sum){ 0, NULL, 0 };
        if (is_usable(factor))
            return (Sum){ factor < 0 ? -1 : +1, attach_factor(r, fabs(factor), p.core), 0 };
    }
    if (x.sign == y.sign)
        return (Sum){ x.sign, expr_binary(r.pool, OP_ADD, x.core, y.core), 0 };
    const bool is_first_positive = x.sign > 0;
    return (Sum){ +1,
                  expr_binary(r.pool, OP_SUB, is_first_positive ? x.core : y.core, is_first_positive ? y.core : x.core),
                  0 };
}

/* a + sign*b. */
static const Expr *gather_sum(Rules r, const Expr *a, int sign, const Expr *b)
{
    Sum x = as_sum(r, a), y = as_sum(r, b);
    const double constant = x.constant + sign * y.constant;
    if (!isfinite(constant))
        return expr_binary(r.pool, sign > 0 ? OP_ADD : OP_SUB, a, b);
    y.sign *= sign;
    const Sum sum = join_cores(r, x, y);
    if (!sum.core)
        return unsigned_zero(r.pool, constant);
    if (constant == 0)
        return sum.sign > 0 ? sum.core : simplify_neg(r, sum.core);
    if (sum.sign < 0)
        return expr_binary(r.pool, OP_SUB, expr_real(r.pool, constant), sum.core);
    return expr_binary(r.pool, constant > 0 ? OP_ADD : OP_SUB, sum.core, expr_real(r.pool, fabs(constant)));
}
