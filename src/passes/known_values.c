/* Values of parameters, and intervals of expressions; see known_values.h. */
#include "passes/known_values.h"
#include "ir/evaluate.h"
#include "ir/solve.h"
#include <math.h>

static const double ROUNDING = 1e-13; /* of the operands of a sum: what is left of them may be an error */

KnownValues known_values(Model *model, Arena *scratch)
{
    return (KnownValues){ .model = model,
                          .value = NEW_ARRAY(scratch, double, model->variables.n + 1),
                          .has_value = NEW_ARRAY(scratch, bool, model->variables.n + 1) };
}

/* ---- values ---- */
static double parameter_value(KnownValues *known, Ref ref, uint32_t depth);

static double value_of(KnownValues *known, const Expr *e, const Ref *refs, uint32_t depth)
{
    enum { DEEPEST = 100, MOST_LEAVES = 64 };
    Value leaves[MOST_LEAVES], value;
    if (depth > DEEPEST || e->n_leaves > MOST_LEAVES || e->type.kind != TYPE_REAL || e->type.rank || e->has_call)
        return NAN;
    for (uint32_t k = 0; k < e->n_leaves; k++) {
        leaves[k].r = 0;
        if (!expr_uses_leaf(e, k))
            continue;
        const double found = parameter_value(known, refs[k], depth);
        if (isnan(found))
            return NAN;
        if (ref_type(known->model, refs[k]).kind == TYPE_REAL)
            leaves[k].r = found;
        else
            leaves[k].i = (int64_t)found;
    }
    return expr_evaluate(e, leaves, NULL, &value) ? value.r : NAN;
}

static double parameter_value(KnownValues *known, Ref ref, uint32_t depth)
{
    if (ref.kind != REF_NOW || var_is_none(ref.var))
        return NAN;
    const uint32_t k = ref.var.index;
    const Variable *v = model_var(known->model, ref.var);
    if (known->has_value[k])
        return known->value[k];
    known->has_value[k] = true;
    known->value[k] = NAN; /* also for a ring */
    if (v->definition != DEFINITION_BINDING || term_is_absent(v->binding) || v->type.rank)
        return NAN;
    const Expr *e = v->binding.shape;
    double value = NAN;
    if (e->kind == EXPR_INTEGER || e->kind == EXPR_ENUM)
        value = (double)e->u.integer;
    else if (e->kind == EXPR_BOOLEAN)
        value = (double)e->u.integer;
    else
        value = value_of(known, e, term_refs(known->model, v->binding), depth + 1);
    return known->value[k] = value;
}

double known_parameter(KnownValues *known, Ref ref)
{
    return parameter_value(known, ref, 0);
}

double known_value(KnownValues *known, const Expr *e, const Ref *refs)
{
    return value_of(known, e, refs, 0);
}

/* ---- bounds ---- */
static const Bounds ANYTHING = { -INFINITY, INFINITY };

static Bounds exactly(double value)
{
    return isfinite(value) ? (Bounds){ value, value } : ANYTHING;
}

static double largest(Bounds b)
{
    return fmax(fabs(b.low), fabs(b.high));
}

static Bounds sum(Bounds a, Bounds b)
{
    Bounds s = { a.low + b.low, a.high + b.high };
    const double error = ROUNDING * fmax(largest(a), largest(b));
    if (isfinite(error) && s.low <= error && s.high >= -error) /* nothing but an error may be left */
        s = (Bounds){ fmin(s.low, 0), fmax(s.high, 0) };
    return s;
}

static Bounds negative(Bounds b)
{
    return (Bounds){ -b.high, -b.low };
}

static double times(double a, double b) /* a bound that is 0 is 0 of anything */
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static Bounds product(Bounds a, Bounds b)
{
    const double p[4] = { times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high) };
    return (Bounds){ fmin(fmin(p[0], p[1]), fmin(p[2], p[3])), fmax(fmax(p[0], p[1]), fmax(p[2], p[3])) };
}

static Bounds quotient(Bounds a, Bounds b)
{
    if (bounds_have_zero(b))
        return ANYTHING;
    return product(a, (Bounds){ 1 / b.high, 1 / b.low });
}

static Bounds magnitude(Bounds b)
{
    return bounds_have_zero(b) ? (Bounds){ 0, largest(b) } : b.low > 0 ? b : negative(b);
}

enum { MOST_FACTORS = 16 };
/* False: there are too many. */
static bool list_factors(const Expr *e, const Expr **factors, uint32_t *n)
{
    if (e->kind == EXPR_CALL && e->op == OP_MUL)
        return list_factors(e->args[0], factors, n) && list_factors(e->args[1], factors, n);
    if (*n == MOST_FACTORS)
        return false;
    factors[(*n)++] = e;
    return true;
}

/* Factors that stand there twice are squares, which are not negative. */
static Bounds bounds_of_product(KnownValues *known, const Expr *e, const Ref *refs, uint32_t *budget)
{
    const Expr *factors[MOST_FACTORS];
    uint32_t n = 0;
    Bounds b = { 1, 1 };
    if (!list_factors(e, factors, &n))
        return ANYTHING;
    for (uint32_t k = 0; k < n; k++) {
        if (!factors[k])
            continue;
        Bounds factor = known_bounds(known, factors[k], refs, budget);
        for (uint32_t j = k + 1; j < n; j++)
            if (factors[j] == factors[k]) {
                factor = product(magnitude(factor), magnitude(factor));
                factors[j] = NULL;
                break;
            }
        b = product(b, factor);
    }
    return b;
}

static Bounds bounds_of_call(KnownValues *known, const Expr *e, const Ref *refs, uint32_t *budget)
{
    if (e->op == OP_MUL)
        return bounds_of_product(known, e, refs, budget);
    const Bounds a = known_bounds(known, e->args[0], refs, budget);
    switch ((Op)e->op) {
    case OP_NEG: return negative(a);
    case OP_ADD: return sum(a, known_bounds(known, e->args[1], refs, budget));
    case OP_SUB: return sum(a, negative(known_bounds(known, e->args[1], refs, budget)));
    case OP_DIV: return quotient(a, known_bounds(known, e->args[1], refs, budget));
    case OP_ABS: return magnitude(a);
    case OP_SQRT: return a.low >= 0 ? (Bounds){ sqrt(a.low), sqrt(a.high) } : (Bounds){ 0, INFINITY };
    case OP_SIN:
    case OP_COS: return (Bounds){ -1, 1 };
    default: return ANYTHING;
    }
}

Bounds known_bounds(KnownValues *known, const Expr *e, const Ref *refs, uint32_t *budget)
{
    if (*budget == 0 || e->type.kind != TYPE_REAL || e->type.rank)
        return ANYTHING;
    --*budget;
    if (e->kind == EXPR_REAL)
        return exactly(e->u.real);
    if (e->kind == EXPR_LEAF && e->n_args == 0)
        return exactly(known_parameter(known, refs[e->u.leaf]));
    return e->kind == EXPR_CALL ? bounds_of_call(known, e, refs, budget) : ANYTHING;
}
