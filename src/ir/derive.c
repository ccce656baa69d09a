/* Derivatives by the chain rule, node by node; see derive.h.
 *
 * Inside, a derivative that is zero is the literal 0 whatever the rank, and NULL says that there is none; the
 * builders simple_... hand NULL on. */
#include "ir/derive.h"
#include "ir/declared.h"
#include "ir/derive_function.h"
#include "ir/difference.h"
#include "base/bug.h"
#include "base/vec.h"
#include "ir/memo.h"
#include "ir/routine.h"
#include "ir/simplify.h"
#include <string.h>

static const double LN_10 = 2.302585092994045684;

typedef struct {
    Pool *pool;
    const Expr *zero, *one, *two;
    LeafDerivative leaf_derivative;
    void *context;
    uint32_t first_leaf; /* leaves with smaller numbers have derivative 0 */
    bool is_exact;       /* differences do not count */
    Memo memo;           /* node: id of its derivative */
} Derivation;

static const Expr *derive(Derivation *d, const Expr *e);

/* ---- shorthands ---- */
static const Expr *neg(Derivation *d, const Expr *a)
{
    return simple_unary(d->pool, OP_NEG, a);
}

static const Expr *add(Derivation *d, const Expr *a, const Expr *b)
{
    return simple_binary(d->pool, OP_ADD, a, b);
}

static const Expr *sub(Derivation *d, const Expr *a, const Expr *b)
{
    return simple_binary(d->pool, OP_SUB, a, b);
}

static const Expr *mul(Derivation *d, const Expr *a, const Expr *b)
{
    return simple_binary(d->pool, OP_MUL, a, b);
}

static const Expr *divide(Derivation *d, const Expr *a, const Expr *b)
{
    return simple_binary(d->pool, OP_DIV, a, b);
}

static const Expr *choose(Derivation *d, Op relation, const Expr *a, const Expr *b, const Expr *then,
                          const Expr *otherwise)
{
    return simple_if(d->pool, expr_literal_relation(d->pool, relation, a, b), then, otherwise);
}

/* ---- operations ---- */
/* (a/b)' = (a' - (a/b)*b')/b; the quotient is there already. */
static const Expr *derive_quotient(Derivation *d, const Expr *e, const Expr *da, const Expr *db)
{
    return divide(d, sub(d, da, mul(d, e, db)), e->args[1]);
}

static const Expr *derive_power(Derivation *d, const Expr *e, const Expr *da, const Expr *db)
{
    const Expr *a = e->args[0], *b = e->args[1];
    const Expr *by_base = d->zero, *by_exponent = d->zero;
    if (da != d->zero)
        by_base = mul(d, mul(d, b, simple_binary(d->pool, OP_POW, a, sub(d, b, d->one))), da);
    if (db != d->zero)
        by_exponent = choose(d, OP_GT, a, d->zero, mul(d, mul(d, e, simple_unary(d->pool, OP_LOG, a)), db), d->zero);
    return add(d, by_base, by_exponent);
}

static const Expr *derive_product(Derivation *d, const Expr *e, const Expr *da, const Expr *db)
{
    const Expr *a = e->args[0], *b = e->args[1];
    if (a == b)
        return mul(d, mul(d, d->two, a), da);
    return add(d, mul(d, da, b), mul(d, a, db));
}

static const Expr *derive_atan2(Derivation *d, const Expr *e, const Expr *da, const Expr *db)
{
    const Expr *a = e->args[0], *b = e->args[1];
    return divide(d, sub(d, mul(d, b, da), mul(d, a, db)), add(d, mul(d, a, a), mul(d, b, b)));
}

/* sqrt(1 - a*a) without cancellation where a is near 1 or -1. */
static const Expr *arc_root(Derivation *d, const Expr *a)
{
    return simple_unary(d->pool, OP_SQRT, mul(d, sub(d, d->one, a), add(d, d->one, a)));
}

/* Derivative of an operation some argument of which varies: da, db are the derivatives of the arguments. */
static const Expr *derive_operation(Derivation *d, const Expr *e, const Expr *da, const Expr *db)
{
    Pool *pool = d->pool;
    const Expr *a = e->args[0], *b = e->n_args > 1 ? e->args[1] : NULL;
    const OpCourse course = op_course((Op)e->op);
    if (course == COURSE_STEP || course == COURSE_STILL)
        return d->zero;
    switch ((Op)e->op) {
    case OP_NEG: return neg(d, da);
    case OP_ADD: return add(d, da, db);
    case OP_SUB: return sub(d, da, db);
    case OP_MUL: return derive_product(d, e, da, db);
    case OP_DIV: return derive_quotient(d, e, da, db);
    case OP_POW: return derive_power(d, e, da, db);
    case OP_ABS: return choose(d, OP_GE, a, d->zero, da, neg(d, da));
    case OP_MIN: return choose(d, OP_LT, b, a, db, da);
    case OP_MAX: return choose(d, OP_GT, b, a, db, da);
    case OP_SQRT: return divide(d, da, mul(d, d->two, e));
    case OP_EXP: return mul(d, e, da);
    case OP_LOG: return divide(d, da, a);
    case OP_LOG10: return divide(d, da, mul(d, expr_real(pool, LN_10), a));
    case OP_SIN: return mul(d, simple_unary(pool, OP_COS, a), da);
    case OP_COS: return neg(d, mul(d, simple_unary(pool, OP_SIN, a), da));
    case OP_TAN: return mul(d, add(d, d->one, mul(d, e, e)), da);
    case OP_ASIN: return divide(d, da, arc_root(d, a));
    case OP_ACOS: return neg(d, divide(d, da, arc_root(d, a)));
    case OP_ATAN: return divide(d, da, add(d, d->one, mul(d, a, a)));
    case OP_ATAN2: return derive_atan2(d, e, da, db);
    case OP_SINH: return mul(d, simple_unary(pool, OP_COSH, a), da);
    case OP_COSH: return mul(d, simple_unary(pool, OP_SINH, a), da);
    case OP_TANH: return mul(d, sub(d, d->one, mul(d, e, e)), da);
    case OP_AT_LEAST: return da;
    case OP_HOMOTOPY: return simple_binary(pool, OP_HOMOTOPY, da, db);
    default: break;
    }
    BUG("an operation without derivative");
}

/* ---- nodes ---- */
static const Expr *derive_call(Derivation *d, const Expr *e)
{
    const Expr *da = derive(d, e->args[0]);
    const Expr *db = da && e->n_args > 1 ? derive(d, e->args[1]) : d->zero;
    if (!da || !db)
        return NULL;
    if (da == d->zero && db == d->zero)
        return d->zero;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->type.rank > 0)
            return NULL;
    return derive_operation(d, e, da, db);
}

/* The derivative in a place where its rank matters. */
/* Zeros in the form of a field of a function; NULL: too many. */
static const Expr *zeros_of_field(Derivation *d, const Function *f, uint32_t field)
{
    const uint64_t n = function_field_count(f, field);
    if (n == 0 || n > UINT16_MAX)
        return NULL;
    const Expr **const zeros = NEW_ARRAY(memo_arena(&d->memo), const Expr *, n);
    for (uint64_t k = 0; k < n; k++)
        zeros[k] = d->zero;
    return function_field_braces(d->pool, f, field, zeros);
}

static const Expr *of_rank(Derivation *d, const Expr *e, const Expr *de)
{
    if (!de || de->type.rank == e->type.rank)
        return de;
    REQUIRE(de == d->zero);
    if (e->kind == EXPR_FUNCTION && e->result != RESULT_ALL)
        return zeros_of_field(d, e->u.function, e->u.function->n_inputs + e->result);
    if (e->kind != EXPR_ARRAY)
        return NULL; /* how many zeros is not known here */
    const Expr **const zeros = NEW_ARRAY(memo_arena(&d->memo), const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++) {
        zeros[k] = of_rank(d, e->args[k], d->zero);
        if (!zeros[k])
            return NULL;
    }
    return expr_array(d->pool, e->n_args, zeros);
}

static const Expr *derive_if(Derivation *d, const Expr *e)
{
    const Expr *then = derive(d, e->args[1]);
    const Expr *otherwise = then ? derive(d, e->args[2]) : NULL;
    if (then == d->zero && otherwise == d->zero)
        return d->zero;
    return simple_if(d->pool, e->args[0], of_rank(d, e->args[1], then), of_rank(d, e->args[2], otherwise));
}

static const Expr *derive_reduce(Derivation *d, const Expr *e)
{
    const Expr *body = derive(d, e->args[0]);
    if (body == d->zero)
        return d->zero;
    return e->op == OP_ADD && body && body->type.rank == 0 ? simple_reduce(d->pool, e, body) : NULL;
}

static const Expr *derive_array(Derivation *d, const Expr *e)
{
    const Expr **const elements = NEW_ARRAY(memo_arena(&d->memo), const Expr *, e->n_args);
    bool varies = false;
    for (uint32_t k = 0; k < e->n_args; k++) {
        elements[k] = derive(d, e->args[k]);
        if (!elements[k])
            return NULL;
        varies |= elements[k] != d->zero;
    }
    if (!varies)
        return d->zero;
    for (uint32_t k = 0; k < e->n_args; k++) {
        elements[k] = of_rank(d, e->args[k], elements[k]);
        if (!elements[k])
            return NULL;
    }
    return expr_array(d->pool, e->n_args, elements);
}

static const Expr *derive_table(Derivation *d, const Expr *e)
{
    const Expr *da = derive(d, e->args[0]);
    if (!da || da == d->zero || e->op >= table_degree((TableMethod)e->u.table->method))
        return da ? d->zero : NULL;
    const Expr *const slope =
        expr_table(d->pool, e->u.table, e->op + 1u, e->args[0], e->n_args > 1 ? e->args[1] : NULL);
    return simple_binary(d->pool, OP_MUL, slope, da);
}

/* Zeros for an array that is an input of the function. */
static const Expr *of_input(Derivation *d, const Function *f, uint32_t input, const Expr *derivative)
{
    if (!f || f->body->variables.at[input].type.rank == 0 || derivative != d->zero)
        return derivative;
    return zeros_of_field(d, f, input);
}

/* Of each argument, NULL where it is not Real. False: some argument has none. */
static bool derive_args(Derivation *d, const Expr *e, const Expr **tangents, bool *varies)
{
    for (uint32_t k = 0; k < e->n_args; k++) {
        if (e->args[k]->type.kind != TYPE_REAL)
            continue;
        tangents[k] = derive(d, e->args[k]);
        if (!tangents[k])
            return false;
        *varies |= tangents[k] != d->zero;
        tangents[k] = of_input(d, e->u.function, k, tangents[k]);
        if (!tangents[k])
            return false;
    }
    return true;
}

/* A function that computes tangents of results from arguments and their tangents, and these. NULL: there is none. */
static const Function *find_derivative(Derivation *d, const Expr *e, const Expr *const *tangents, const Expr **args,
                                       uint32_t *n)
{
    const Function *f = e->u.function, *derivative = declared_derivative(memo_arena(&d->memo), e, tangents, args, n);
    if (derivative)
        return derivative;
    derivative = function_derivative(f);
    if (!derivative && f->external && f->is_pure)
        derivative = function_difference(f);
    if (derivative && d->is_exact && derivative->is_rough)
        return NULL;
    *n = e->n_args;
    memcpy(args, e->args, e->n_args * sizeof *args);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (tangents[k])
            args[(*n)++] = tangents[k];
    return derivative;
}

/* f(a, b): der(f)(a, b, a', b'). */
static const Expr *derive_function(Derivation *d, const Expr *e)
{
    const Expr **tangents = NEW_ARRAY(memo_arena(&d->memo), const Expr *, e->n_args + 1u);
    const Expr **args = NEW_ARRAY(memo_arena(&d->memo), const Expr *, 2u * e->n_args + 1u);
    const Function *f = e->u.function;
    uint32_t n = 0, result = 0;
    bool varies = false;
    if (!derive_args(d, e, tangents, &varies))
        return NULL;
    if (!varies)
        return d->zero;
    const Function *derivative = f ? find_derivative(d, e, tangents, args, &n) : NULL;
    if (!derivative || n > UINT16_MAX)
        return NULL;
    for (uint32_t k = 0; k < e->result && e->result != RESULT_ALL; k++)
        result += f->body->variables.at[f->n_inputs + k].type.kind == TYPE_REAL;
    for (uint32_t k = 0; k < n; k++)
        if (args[k]->depth >= EXPR_DEPTH)
            return NULL;
    if (e->result == RESULT_ALL) /* all of them are Reals */
        return expr_function(d->pool, derivative, RESULT_ALL, e->type, n, args);
    const Expr *call = expr_function(d->pool, derivative, result, e->type, n, args);
    return expr_function_element(d->pool, call, e->element, e->type);
}

static const Expr *derive_node(Derivation *d, const Expr *e)
{
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: {
        const Expr *derivative = d->leaf_derivative(d->context, e);
        REQUIRE(!derivative || derivative == d->zero || type_equal(derivative->type, e->type));
        return derivative ? derivative : d->zero;
    }
    case EXPR_CALL: return derive_call(d, e);
    case EXPR_TABLE: return derive_table(d, e);
    case EXPR_IF: return derive_if(d, e);
    case EXPR_REDUCE: return derive_reduce(d, e);
    case EXPR_ARRAY: return derive_array(d, e);
    case EXPR_FUNCTION: return derive_function(d, e);
    case EXPR_REAL:
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
    case EXPR_STRING:
    case EXPR_TEXT:
    case EXPR_ITERATOR: return d->zero;
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE: break; /* lower-arrays has left none */
    }
    BUG("unknown ExprKind");
}

static const Expr *derive(Derivation *d, const Expr *e)
{
    uint32_t known;
    if (e->type.kind != TYPE_REAL || e->n_leaves <= d->first_leaf)
        return d->zero;
    if (memo_get(&d->memo, e, &known))
        return pool_node(d->pool, known);
    const Expr *derivative = derive_node(d, e);
    if (derivative)
        memo_put(&d->memo, e, derivative->id);
    return derivative;
}

static void begin(Derivation *d, Pool *pool, LeafDerivative leaf_derivative, void *context, uint32_t first_leaf,
                  Arena *arena)
{
    d->pool = pool;
    d->zero = expr_real(pool, 0);
    d->one = expr_real(pool, 1);
    d->two = expr_real(pool, 2);
    d->leaf_derivative = leaf_derivative;
    d->context = context;
    d->first_leaf = first_leaf;
    d->is_exact = false;
    memo_begin(&d->memo, arena);
}

/* A node without derivative makes the whole have none, at once: nothing is asked again, so NULL needs no memo. */
static const Expr *derive_all(Derivation *d, const Expr *e)
{
    const Expr *simple = expr_simplify(d->pool, e);
    const Expr *derivative = e->type.kind == TYPE_STRING ? NULL : derive(d, simple);
    if (derivative && e->type.kind == TYPE_REAL)
        derivative = of_rank(d, simple, derivative);
    memo_end(&d->memo);
    return derivative;
}

static const Expr *unit_derivative(void *context, const Expr *leaf)
{
    const Expr *const *const by = context; /* the leaf and the literal 1 */
    return leaf == by[0] ? by[1] : NULL;
}

/* ---- all leaves at once: lists of partial derivatives, from the leaves upwards ---- */
typedef struct {
    uint32_t begin, n; /* in partials */
} List;

typedef struct {
    Derivation d; /* its memo: node: number of its list */
    const bool *is_wanted;
    Arena *arena;
    VEC(Partial) partials;
    VEC(List) lists;
} GradientWalk;

/* An operation through which a leaf stays linear: parts are those of the arguments, NULL where the leaf does not
 * occur. */
static bool stays_linear(const Expr *e, const Partial *const *parts)
{
    for (uint32_t k = 0; k < e->n_args; k++)
        if (parts[k] && !parts[k]->is_linear)
            return false;
    if (e->type.kind != TYPE_REAL || e->type.rank)
        return false;
    if (e->kind == EXPR_IF)
        return !parts[0];
    if (e->kind == EXPR_REDUCE)
        return e->op == OP_ADD && parts[0] && !parts[1] && !parts[2] && !parts[3];
    if (e->kind != EXPR_CALL)
        return false;
    switch (e->op) {
    case OP_NEG:
    case OP_ADD:
    case OP_SUB:
    case OP_HOMOTOPY: return true;
    case OP_MUL: return !parts[0] || !parts[1];
    case OP_DIV: return !parts[1];
    default: return false;
    }
}

/* By one leaf: what the rules for a node make of the derivatives of its arguments. */
static const Expr *derive_by_parts(GradientWalk *g, const Expr *e, const Partial *const *parts, uint32_t leaf)
{
    const Expr *zero = g->d.zero;
    if (e->type.kind != TYPE_REAL || e->kind == EXPR_LEAF)
        return zero;
    if (e->kind != EXPR_CALL && !(e->kind == EXPR_IF && e->type.rank == 0)) { /* few have such nodes */
        const Expr *const by[] = { expr_leaf(g->d.pool, leaf, REAL_TYPE), g->d.one };
        Derivation single;
        begin(&single, g->d.pool, unit_derivative, (void *)by, leaf, g->arena);
        const Expr *derivative = derive(&single, e);
        memo_end(&single.memo);
        return derivative;
    }
    const uint32_t first = e->kind == EXPR_IF;
    const Expr *da = parts[first] ? parts[first]->derivative : zero;
    const Expr *db = e->n_args > first + 1 && parts[first + 1] ? parts[first + 1]->derivative : zero;
    if (!da || !db)
        return NULL;
    if (da == zero && db == zero)
        return zero;
    if (e->kind == EXPR_IF)
        return simple_if(g->d.pool, e->args[0], da, db);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->type.rank > 0)
            return NULL;
    if (db == zero && (e->op == OP_ADD || e->op == OP_SUB))
        return da;
    if (da == zero && e->op == OP_ADD)
        return db;
    return derive_operation(&g->d, e, da, db);
}

static List gradient_of(GradientWalk *g, const Expr *e);

/* The lists of the arguments, leaf by leaf. */
static List merge_lists(GradientWalk *g, const Expr *e)
{
    enum { FEW = 4 };
    List few[FEW];
    const Partial *few_parts[FEW];
    const bool is_small = e->n_args <= FEW;
    List *lists = is_small ? few : NEW_ARRAY(g->arena, List, e->n_args);
    const Partial **const parts = is_small ? few_parts : NEW_ARRAY(g->arena, const Partial *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        lists[k] = gradient_of(g, e->args[k]);
    List merged = { g->partials.n, 0 };
    while (true) {
        uint32_t leaf = UINT32_MAX, total = 0;
        for (uint32_t k = 0; k < e->n_args; k++) {
            total += lists[k].n;
            if (lists[k].n && g->partials.at[lists[k].begin].leaf < leaf)
                leaf = g->partials.at[lists[k].begin].leaf;
        }
        if (total == 0)
            break;
        for (uint32_t k = 0; k < e->n_args; k++) {
            const bool has = lists[k].n && g->partials.at[lists[k].begin].leaf == leaf;
            parts[k] = has ? &g->partials.at[lists[k].begin] : NULL;
            lists[k].begin += has;
            lists[k].n -= has;
        }
        const Expr *derivative = derive_by_parts(g, e, parts, leaf);
        const Partial partial = { derivative, leaf, derivative && stays_linear(e, parts) };
        vec_push(g->arena, &g->partials, partial);
        merged.n++;
    }
    return merged;
}

static List gradient_of(GradientWalk *g, const Expr *e)
{
    uint32_t known;
    if (e->n_leaves == 0)
        return (List){ 0, 0 };
    if (e->n_args == 0) {
        const Partial partial = { g->d.one, e->u.leaf, true };
        const bool is_wanted = g->is_wanted[e->u.leaf] && e->type.kind == TYPE_REAL && e->type.rank == 0;
        if (is_wanted)
            vec_push(g->arena, &g->partials, partial);
        return (List){ g->partials.n - is_wanted, is_wanted };
    }
    if (memo_get(&g->d.memo, e, &known))
        return g->lists.at[known];
    const List list = merge_lists(g, e);
    memo_put(&g->d.memo, e, g->lists.n);
    vec_push(g->arena, &g->lists, list);
    return list;
}

/* ---- public ---- */
Gradient expr_gradient(Pool *pool, const Expr *e, const bool *is_wanted, Arena *arena)
{
    GradientWalk g = { .is_wanted = is_wanted, .arena = arena };
    begin(&g.d, pool, NULL, NULL, 0, arena);
    const List list = gradient_of(&g, e);
    memo_end(&g.d.memo);
    return (Gradient){ list.n, list.n ? g.partials.at + list.begin : NULL };
}

const Expr *expr_derive(Pool *pool, const Expr *e, const Expr *leaf)
{
    REQUIRE(leaf->kind == EXPR_LEAF);
    if (leaf->type.rank > 0)
        return NULL;
    const Expr *by[] = { expr_simplify(pool, leaf), expr_real(pool, 1) }; /* as it is in the simplified expression */
    Derivation d;
    begin(&d, pool, unit_derivative, by, leaf->u.leaf, NULL);
    return derive_all(&d, e);
}

const Expr *expr_time_derivative(Pool *pool, const Expr *e, LeafDerivative leaf_derivative, void *context)
{
    Derivation d;
    begin(&d, pool, leaf_derivative, context, 0, NULL);
    return derive_all(&d, e);
}

const Expr *expr_exact_time_derivative(Pool *pool, const Expr *e, LeafDerivative leaf_derivative, void *context)
{
    Derivation d;
    begin(&d, pool, leaf_derivative, context, 0, NULL);
    d.is_exact = true;
    return derive_all(&d, e);
}
