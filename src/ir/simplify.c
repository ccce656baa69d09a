/* Simplification from the leaves upwards; see simplify.h for what is allowed.
 *
 * The rules look at one operation whose operands are simplified already and give a simplified result, so
 * each node is visited once. `gather` selects the rules for derivatives. */
#include "ir/simplify.h"
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/routine.h"
#include "ir/simplify_rules.h"
#include "koine/ops.h"

struct Simplifier {
    Rules rules;
    Memo memo; /* node: id of the simplified one */
};

/* Rules may build this many levels above their operands. */
enum { RULE_LEVELS = 8 };

static bool fits(uint32_t n, const Expr *const *args, uint32_t levels)
{
    for (uint32_t k = 0; k < n; k++)
        if (args[k]->depth + levels > EXPR_DEPTH)
            return false;
    return true;
}

/* ---- operations ---- */
static const Expr *power(Rules r, const Expr *a, const Expr *b)
{
    const Expr *one = expr_real(r.pool, 1);
    if (is(a, 1) || is(b, 0))
        return one;
    if (is(b, 1))
        return a;
    if (is(b, 2))
        return simplify_mul(r, a, a);
    if (is(b, 3))
        return simplify_mul(r, simplify_mul(r, a, a), a);
    if (is(b, 4))
        return simplify_mul(r, simplify_mul(r, a, a), simplify_mul(r, a, a));
    if (is(b, -1))
        return simplify_divide(r, one, a);
    if (expr_is_real(b, 0.5))
        return expr_unary(r.pool, OP_SQRT, a);
    return expr_binary(r.pool, OP_POW, a, b);
}

static const Expr *integer_division(Rules r, Op op, const Expr *a, const Expr *b)
{
    if (is(b, 1))
        return op == OP_IDIV ? a : expr_integer(r.pool, 0);
    if (is(b, -1))
        return op == OP_IDIV ? simplify_neg(r, a) : expr_integer(r.pool, 0);
    return expr_binary(r.pool, op, a, b);
}

static const Expr *logic(Rules r, Op op, const Expr *a, const Expr *b)
{
    const bool decides = op == OP_OR; /* the operand that decides alone */
    if (is_boolean(a, decides) || is_boolean(b, decides))
        return expr_boolean(r.pool, decides);
    if (is_boolean(a, !decides) || a == b)
        return b;
    if (is_boolean(b, !decides))
        return a;
    return expr_binary(r.pool, op, a, b);
}

static const Expr *relation(Rules r, Op op, const Expr *a, const Expr *b, bool is_literal)
{
    const bool holds_if_equal = op == OP_LE || op == OP_GE || op == OP_EQ;
    if (a == b)
        return expr_boolean(r.pool, holds_if_equal);
    if (a->kind == EXPR_STRING && b->kind == EXPR_STRING && (op == OP_EQ || op == OP_NE))
        return expr_boolean(r.pool, op == OP_NE); /* equal texts are one node */
    return is_literal ? expr_literal_relation(r.pool, op, a, b) : expr_binary(r.pool, op, a, b);
}

static bool is_whole(const Expr *e)
{
    return is_call(e, OP_REAL) || is_call(e, OP_FLOOR) || is_call(e, OP_CEIL) || is_call(e, OP_TRUNC) ||
           is_call(e, OP_ROUND);
}

static const Expr *absolute(Rules r, const Expr *a)
{
    if (is_call(a, OP_NEG))
        a = a->args[0];
    return is_call(a, OP_ABS) ? a : expr_unary(r.pool, OP_ABS, a);
}

static const Expr *apply_rules(Rules r, Op op, const Expr *const *args, bool is_literal)
{
    const Expr *a = args[0], *b = op_arity(op) == 2 ? args[1] : NULL;
    switch (op) {
    case OP_NEG: return simplify_neg(r, a);
    case OP_ADD: return simplify_add(r, a, b);
    case OP_SUB: return simplify_sub(r, a, b);
    case OP_MUL: return simplify_mul(r, a, b);
    case OP_DIV: return simplify_divide(r, a, b);
    case OP_POW: return power(r, a, b);
    case OP_IDIV:
    case OP_IMOD: return integer_division(r, op, a, b);
    case OP_NOT: return is_call(a, OP_NOT) ? a->args[0] : expr_unary(r.pool, op, a);
    case OP_AND:
    case OP_OR: return logic(r, op, a, b);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE: return relation(r, op, a, b, is_literal);
    case OP_ABS: return absolute(r, a);
    case OP_MIN:
    case OP_MAX:
    case OP_HOMOTOPY: return a == b ? a : expr_binary(r.pool, op, a, b);
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_ROUND: return is_whole(a) ? a : expr_unary(r.pool, op, a);
    default: return expr_call(r.pool, op, op_arity(op), args); /* has no rules */
    }
}

/* The literal that the operation on literals gives, or NULL. */
static const Expr *fold(Rules r, Op op, const Expr *const *args)
{
    Value values[2] = { { 0 }, { 0 } };
    for (uint32_t k = 0; k < op_arity(op); k++) {
        if (!is_value(args[k]))
            return NULL;
        values[k] = literal_value(args[k]);
    }
    if (op == OP_HOMOTOPY || op == OP_RANDOM) /* a draw stays one */
        return NULL;
    const Value value = op_evaluate(op, args[0]->type, values);
    const Type type = op_type(op, args[0]->type);
    if (!value_is_good(type, value))
        return NULL;
    return r.gather && type.kind == TYPE_REAL ? unsigned_zero(r.pool, value.r) : make_literal(r.pool, type, value);
}

/* Result of the rules of each kind of node; NULL if it would be too deep. */
static const Expr *simple_call(Rules r, Op op, const Expr *const *args, bool is_literal)
{
    const uint32_t n = op_arity(op);
    if (!fits(n, args, 1))
        return NULL;
    const Expr *folded = fold(r, op, args);
    if (folded)
        return folded;
    bool is_scalar = true;
    for (uint32_t k = 0; k < n; k++)
        is_scalar &= args[k]->type.rank == 0;
    if (is_scalar && fits(n, args, RULE_LEVELS))
        return apply_rules(r, op, args, is_literal);
    return is_literal ? expr_literal_relation(r.pool, op, args[0], args[1]) : expr_call(r.pool, op, n, args);
}

static const Expr *simple_branch(Rules r, const Expr *const *args)
{
    const Expr *condition = args[0], *then = args[1], *otherwise = args[2];
    if (!fits(3, args, 1))
        return NULL;
    if (is_call(condition, OP_NOT)) {
        condition = condition->args[0];
        then = args[2];
        otherwise = args[1];
    }
    if (then->kind == EXPR_IF && then->args[0] == condition)
        then = then->args[1];
    if (otherwise->kind == EXPR_IF && otherwise->args[0] == condition)
        otherwise = otherwise->args[2];
    if (is_boolean(condition, true) || then == otherwise)
        return then;
    if (is_boolean(condition, false))
        return otherwise;
    if (is_boolean(then, true) && is_boolean(otherwise, false))
        return condition;
    if (is_boolean(then, false) && is_boolean(otherwise, true))
        return expr_unary(r.pool, OP_NOT, condition);
    return expr_if(r.pool, condition, then, otherwise);
}

static bool is_empty_range(const Expr *const *args)
{
    const Expr *lo = args[1], *step = args[2], *hi = args[3];
    if (lo->kind != EXPR_INTEGER || step->kind != EXPR_INTEGER || hi->kind != EXPR_INTEGER)
        return false;
    return step->u.integer > 0 ? lo->u.integer > hi->u.integer : step->u.integer < 0 && lo->u.integer < hi->u.integer;
}

static const Expr *simple_reduction(Rules r, const Expr *like, const Expr *const *args)
{
    if (!fits(4, args, 1))
        return NULL;
    const Op op = (Op)like->op;
    const Expr *body = args[0];
    if (body->type.rank == 0 && op != OP_MIN && op != OP_MAX) {
        const Expr *neutral;
        if (op == OP_AND || op == OP_OR)
            neutral = expr_boolean(r.pool, op == OP_AND);
        else
            neutral = make_number(r.pool, body->type, op == OP_MUL);
        if (body == neutral || is_empty_range(args))
            return neutral;
    }
    return expr_with_args(r.pool, like, args);
}

static const Expr *simple_table(Rules r, const Expr *like, const Expr *const *args)
{
    if (!fits(like->n_args, args, 1))
        return NULL;
    const Expr *argument = args[0];
    if (argument->kind == EXPR_REAL && like->n_args == 1) {
        const double value = koine_lookup(like->u.table->data[like->op], -1, argument->u.real);
        if (isfinite(value))
            return expr_real(r.pool, value);
    }
    return expr_with_args(r.pool, like, args);
}

/* ---- functions ---- */
static const Expr *literal_of(Pool *pool, Type type, Value value)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return expr_real(pool, value.r);
    case TYPE_INTEGER: return expr_integer(pool, value.i);
    case TYPE_BOOLEAN: return expr_boolean(pool, value.i != 0);
    case TYPE_ENUM: return expr_enum(pool, type.enumeration, value.i);
    case TYPE_STRING:
    case TYPE_OBJECT: break;
    }
    BUG("not a value of a function");
}

/* A call with constant arguments that is soon done and does not fail is its value. Nothing of C is executed here. */
static const Expr *simple_function(Rules r, const Expr *e, const Expr *const *args)
{
    enum { FEW = 16, STEPS = 100000 };
    Span ignored;
    Value inputs[FEW], outputs[FEW];
    const Function *f = e->u.function;
    bool is_constant = f && is_model_call(e) && !f->external && f->is_pure && e->type.rank == 0 && e->n_args <= FEW &&
                       !function_obstacle(f, &ignored) && !function_has_texts(f) && function_width(f) <= FEW;
    for (uint32_t k = 0; k < e->n_args && is_constant; k++) {
        is_constant = expr_is_constant(args[k]);
        inputs[k].i = args[k]->u.integer;
        if (args[k]->kind == EXPR_REAL)
            inputs[k].r = args[k]->u.real;
    }
    if (is_constant && routine_evaluate(routine_of(f), inputs, (RoutineLimits){ .steps = STEPS }, outputs, NULL))
        return literal_of(r.pool, e->type, outputs[routine_offset(routine_of(f), e->result) + e->element]);
    return fits(e->n_args, args, 1) ? expr_with_args(r.pool, e, args) : NULL;
}

/* ---- expressions ---- */
static const Expr *run(Simplifier *s, const Expr *e);

static const Expr *simple_node(Rules r, const Expr *e, const Expr *const *args)
{
    switch ((ExprKind)e->kind) {
    case EXPR_CALL:
        if (e->type.rank)
            return fits(e->n_args, args, 1) ? expr_with_args(r.pool, e, args) : NULL;
        return simple_call(r, (Op)e->op, args, e->is_literal);
    case EXPR_TABLE: return simple_table(r, e, args);
    case EXPR_IF: return simple_branch(r, args);
    case EXPR_REDUCE: return simple_reduction(r, e, args);
    case EXPR_FUNCTION: return simple_function(r, e, args);
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_LEAF:
    case EXPR_TEXT:
    case EXPR_ARRAY: return fits(e->n_args, args, 1) ? expr_with_args(r.pool, e, args) : NULL;
    case EXPR_REAL:
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
    case EXPR_STRING:
    case EXPR_ITERATOR: return e;
    }
    BUG("unknown ExprKind");
}

static const Expr *run(Simplifier *s, const Expr *e)
{
    enum { FEW = 4 };
    uint32_t known;
    if (e->n_args == 0)
        return e;
    if (memo_get(&s->memo, e, &known))
        return pool_node(s->rules.pool, known);
    const Expr *few[FEW];
    const Expr **args = e->n_args <= FEW ? few : NEW_ARRAY(memo_arena(&s->memo), const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = run(s, e->args[k]);
    const Expr *simple = simple_node(s->rules, e, args);
    if (!simple)
        simple = e;
    memo_put(&s->memo, e, simple->id);
    return simple;
}

static const Expr *run_once(Rules rules, const Expr *e)
{
    Simplifier s = { .rules = rules };
    memo_begin(&s.memo, NULL);
    const Expr *simple = run(&s, e);
    memo_end(&s.memo);
    return simple;
}

Simplifier *simplifier_create(Pool *pool, Arena *arena)
{
    Simplifier *s = NEW(arena, Simplifier);
    s->rules = (Rules){ pool, false };
    memo_begin(&s->memo, arena);
    return s;
}

const Expr *simplifier_run(Simplifier *simplifier, const Expr *e)
{
    return run(simplifier, e);
}

const Expr *expr_simplify(Pool *pool, const Expr *e)
{
    return run_once((Rules){ pool, false }, e);
}

const Expr *expr_simplify_derivative(Pool *pool, const Expr *e)
{
    return run_once((Rules){ pool, true }, e);
}

Term term_simplify(Model *model, Term term)
{
    if (term_is_absent(term))
        return term;
    const Expr *simple = expr_simplify(model->pool, term.shape);
    if (simple == term.shape)
        return term;
    Ref *refs = NEW_ARRAY(model->arena, Ref, simple->n_leaves); /* model->refs may move */
    if (simple->n_leaves)
        memcpy(refs, term_refs(model, term), simple->n_leaves * sizeof *refs);
    return term_make(model, simple, refs);
}

const Expr *simple_unary(Pool *pool, Op op, const Expr *a)
{
    return a ? simple_call((Rules){ pool, true }, op, &a, false) : NULL;
}

const Expr *simple_binary(Pool *pool, Op op, const Expr *a, const Expr *b)
{
    const Expr *const args[] = { a, b };
    return a && b ? simple_call((Rules){ pool, true }, op, args, false) : NULL;
}

const Expr *simple_if(Pool *pool, const Expr *condition, const Expr *then, const Expr *otherwise)
{
    const Expr *const args[] = { condition, then, otherwise };
    return condition && then && otherwise ? simple_branch((Rules){ pool, true }, args) : NULL;
}

const Expr *simple_reduce(Pool *pool, const Expr *like, const Expr *body)
{
    if (!body)
        return NULL;
    const Expr *const args[] = { body, like->args[1], like->args[2], like->args[3] };
    return simple_reduction((Rules){ pool, true }, like, args);
}
