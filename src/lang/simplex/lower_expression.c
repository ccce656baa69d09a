/* Expressions: every INTEGER operand of a REAL expression becomes REAL before it is used (spec 2.4). */
#include "base/bug.h"
#include "lang/simplex/function.h"
#include "lang/simplex/lower.h"
#include "lang/simplex/procedure.h"

void mdl_lower_begin(Lower *lower)
{
    lower->refs.n = 0;
    lower->stamp++;
}

static const Expr *leaf(Lower *lower, uint32_t slot, Ref ref)
{
    if (lower->stamps[slot] != lower->stamp) {
        lower->stamps[slot] = lower->stamp;
        lower->leaves[slot] = lower->refs.n;
        vec_push(lower->model->arena, &lower->refs, ref);
    }
    return expr_leaf(lower->model->pool, lower->leaves[slot], ref_type(lower->model, ref));
}

const Expr *mdl_lower_own_leaf(Lower *lower, Ref ref)
{
    vec_push(lower->model->arena, &lower->refs, ref);
    return expr_leaf(lower->model->pool, lower->refs.n - 1, ref_type(lower->model, ref));
}

static const Expr *lower_name(Lower *lower, const Node *node)
{
    const Symbol *symbol = &lower->checker->scope.list.at[node->u.name.symbol];
    if (symbol->kind == SYMBOL_VALUE)
        return expr_enum(lower->model->pool, node->type.enumeration, symbol->number);
    REQUIRE(symbol->kind == SYMBOL_QUANTITY);
    const Quantity *quantity = &lower->checker->component->quantities.at[symbol->object];
    return mdl_lower_element(lower, quantity, symbol->object, ref_now(quantity->var), node->u.name.n,
                             node->u.name.index);
}

static const Expr *lower_index(Lower *lower, const Node *node)
{
    Pool *pool = lower->model->pool;
    const bool was_traced = lower->is_traced; /* an index is no place of its own */
    lower->is_traced = false;
    const Expr *index = mdl_lower_expression(lower, node, false);
    lower->is_traced = was_traced;
    if (index->kind == EXPR_ENUM)
        return expr_integer(pool, index->u.integer);
    return index->type.kind == TYPE_ENUM ? expr_unary(pool, OP_NUMBER, index) : index;
}

const Expr *mdl_lower_element(Lower *lower, const Quantity *quantity, uint32_t object, Ref ref, uint32_t n,
                              Node *const *index)
{
    if (n == 0)
        return leaf(lower, object, ref);
    const Expr **args = NEW_ARRAY(lower->model->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        args[k] = lower_index(lower, index[k]);
    return expr_element(lower->model->pool, leaf(lower, object, ref)->u.leaf, quantity->type, n, args);
}

static const Expr *lower_loop(Lower *lower, const Loop *loop)
{
    Pool *pool = lower->model->pool;
    if (loop->is_symbolic)
        return expr_iterator(pool, loop->level);
    REQUIRE(loop->is_known);
    return loop->type.kind == TYPE_ENUM ? expr_enum(pool, loop->type.enumeration, loop->value)
                                        : expr_integer(pool, loop->value);
}

/* Over values of a set, or where it is nested too deep: written out here. Else the Model has reductions. */
static const Expr *lower_reduction(Lower *lower, const Node *node, bool wants_real)
{
    enum { DEEPEST = 12, LONGEST = 1000 };
    Pool *pool = lower->model->pool;
    Checker *checker = lower->checker;
    Loop *loop = node->u.reduce.loop;
    const bool is_real = wants_real && node->type.kind != TYPE_BOOLEAN;
    const bool was_traced = lower->is_traced;
    const Loops none = { 0 };
    const Expr *result = NULL;
    lower->is_traced = false;
    if (loop->type.kind == TYPE_ENUM || lower->n_levels >= DEEPEST) {
        uint32_t n = 0;
        for (bool more = mdl_loop_begin(&checker->scope, checker->component, &none, loop); more && n < LONGEST;
             more = mdl_loop_next(loop), n++) {
            const Expr *body = mdl_lower_expression(lower, node->u.reduce.body, is_real);
            result = result ? expr_binary(pool, node->op, result, body) : body;
        }
        loop->is_known = false;
    }
    if (!result) {
        const Expr *lo = mdl_lower_expression(lower, loop->from, false);
        const Expr *hi = mdl_lower_expression(lower, loop->to, false);
        const Expr *step = loop->by ? mdl_lower_expression(lower, loop->by, false) : expr_integer(pool, 1);
        loop->is_symbolic = true;
        loop->level = lower->n_levels++;
        const Expr *body = mdl_lower_expression(lower, node->u.reduce.body, is_real);
        lower->n_levels--;
        loop->is_symbolic = false;
        result = expr_reduce(pool, node->op, loop->level, body, lo, step, hi);
    }
    lower->is_traced = was_traced;
    return result;
}

static const Expr *lower_number(Lower *lower, const Node *node, bool wants_real)
{
    Pool *pool = lower->model->pool;
    return wants_real || node->type.kind == TYPE_REAL ? expr_real(pool, node->u.number)
                                                      : expr_integer(pool, (int64_t)node->u.number);
}

static const Expr *lower_comparison(Lower *lower, const Node *node)
{
    const Node *left = node->u.operand[0], *right = node->u.operand[1];
    const bool is_real = left->type.kind == TYPE_REAL || right->type.kind == TYPE_REAL;
    const Expr *a = mdl_lower_expression(lower, left, is_real);
    const Expr *b = mdl_lower_expression(lower, right, is_real);
    return lower->is_in_event ? expr_literal_relation(lower->model->pool, node->op, a, b)
                              : expr_binary(lower->model->pool, node->op, a, b);
}

/* The original's INTEGERs end at 2E+9: so do those of the profile. */
static const Expr *narrow(const Lower *lower, const Expr *e)
{
    const bool is_limited = lower->checker->scope.is_strict && e->is_checked;
    return is_limited ? expr_unary(lower->model->pool, OP_NARROW, e) : e;
}

static const Expr *lower_call(Lower *lower, const Node *node, bool wants_real)
{
    enum { MOST = 2 };
    if (node->u.call.function == ID_NONE && node->u.call.symbol == ID_NONE)
        return mdl_lower_draw(lower, node);
    if (node->u.call.function == ID_NONE) {
        const Symbol *symbol = &lower->checker->scope.list.at[node->u.call.symbol];
        if (symbol->kind == SYMBOL_FUNCTION) {
            const Procedure *procedure = lower->checker->component->procedures.at[symbol->object];
            const Expr *call = mdl_lower_procedure_call(lower, node, procedure);
            return wants_real ? expr_to_real(lower->model->pool, call) : call;
        }
        REQUIRE(symbol->kind == SYMBOL_TABLE);
        const Expr *argument = mdl_lower_expression(lower, node->u.call.args[0], true);
        return expr_table(lower->model->pool, lower->tables.at[symbol->object], 0, argument, NULL);
    }
    REQUIRE(node->u.call.function != ID_NONE && node->u.call.n <= MOST);
    const bool takes_real = mdl_function_row(node->u.call.function)->from == TYPE_REAL;
    const Expr *args[MOST];
    for (uint32_t k = 0; k < node->u.call.n; k++)
        args[k] = mdl_lower_expression(lower, node->u.call.args[k], takes_real);
    const Expr *call =
        narrow(lower, mdl_function_build(lower->model->pool, node->u.call.function, args, lower->is_in_event));
    return wants_real ? expr_to_real(lower->model->pool, call) : call;
}

static const Expr *lower_operation(Lower *lower, const Node *node, bool wants_real)
{
    const bool is_real = wants_real || node->type.kind == TYPE_REAL;
    const Expr *a = mdl_lower_expression(lower, node->u.operand[0], is_real);
    if (node->kind == NODE_UNARY)
        return narrow(lower, expr_unary(lower->model->pool, node->op, a));
    const Expr *b = mdl_lower_expression(lower, node->u.operand[1], is_real);
    return narrow(lower, expr_binary(lower->model->pool, node->op, a, b));
}

static const Expr *lower_node(Lower *lower, const Node *node, bool wants_real)
{
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: return lower_number(lower, node, wants_real);
    case NODE_LOGICAL: return expr_boolean(lower->model->pool, node->u.truth);
    case NODE_NAME: {
        const Expr *name = lower_name(lower, node);
        return wants_real ? expr_to_real(lower->model->pool, name) : name;
    }
    case NODE_TIME: return leaf(lower, lower->checker->component->quantities.n, ref_time());
    case NODE_UNARY:
    case NODE_BINARY: return lower_operation(lower, node, wants_real && node->type.kind != TYPE_BOOLEAN);
    case NODE_COMPARE: return lower_comparison(lower, node);
    case NODE_CALL: return lower_call(lower, node, wants_real);
    case NODE_REDUCE: return lower_reduction(lower, node, wants_real);
    case NODE_LOOP: {
        const Expr *value = lower_loop(lower, node->u.loop);
        return wants_real ? expr_to_real(lower->model->pool, value) : value;
    }
    }
    BUG("unknown NodeKind");
}

const Expr *mdl_lower_expression(Lower *lower, const Node *node, bool wants_real)
{
    Model *model = lower->model;
    if (!lower->is_traced)
        return lower_node(lower, node, wants_real);
    const uint32_t row = model->occurrences.n;
    vec_push_zero(model->arena, &model->occurrences);
    const Expr *expr = lower_node(lower, node, wants_real);
    model->occurrences.at[row] = (Occurrence){ node->span, expr, model->occurrences.n - row - 1 };
    return expr;
}

Term mdl_lower_term(Lower *lower, const Node *node, bool wants_real)
{
    mdl_lower_begin(lower);
    const Expr *shape = mdl_lower_expression(lower, node, wants_real); /* first: it fills the references */
    return term_make(lower->model, shape, lower->refs.at);
}

Term mdl_lower_traced(Lower *lower, const Node *node, bool wants_real, Origin *origin)
{
    origin->first_occurrence = lower->model->occurrences.n;
    lower->is_traced = true;
    const Term term = mdl_lower_term(lower, node, wants_real);
    lower->is_traced = false;
    origin->n_occurrences = lower->model->occurrences.n - origin->first_occurrence;
    return term;
}
