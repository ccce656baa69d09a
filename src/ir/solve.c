/* Linear forms from the leaves upwards, solving by peeling from the root downwards; see solve.h. */
#include "ir/solve.h"
#include "base/bug.h"
#include "base/ids.h"
#include "ir/declared.h"
#include "ir/memo.h"
#include "ir/simplify.h"

/* Below this depth a node is searched again rather than looked up; a bounded factor. */
enum { DEPTH_WITHOUT_MEMO = 4 };

/* ---- dependence ---- */
typedef struct {
    const Expr *leaf;
    Memo memo; /* node: whether the leaf occurs in it */
} Search;

/* By number of leaves and by age (a node contains only older ones) most nodes are excluded at once. */
static bool is_excluded(const Expr *e, const Expr *leaf)
{
    return e->n_leaves <= leaf->u.leaf || e->id < leaf->id;
}

static bool occurs(Search *s, const Expr *e)
{
    uint32_t known;
    if (e == s->leaf)
        return true;
    if (e->n_args == 0 || is_excluded(e, s->leaf))
        return false;
    const bool use_memo = e->depth > DEPTH_WITHOUT_MEMO;
    if (use_memo && memo_get(&s->memo, e, &known))
        return known;
    bool found = false;
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = occurs(s, e->args[k]);
    if (use_memo)
        memo_put(&s->memo, e, found);
    return found;
}

bool expr_depends_on(const Expr *e, const Expr *leaf)
{
    REQUIRE(leaf->kind == EXPR_LEAF);
    Search s;
    s.leaf = leaf;
    memo_begin(&s.memo, NULL);
    const bool found = occurs(&s, e);
    memo_end(&s.memo);
    return found;
}

static bool is_used(const Expr *e, uint32_t leaf, Memo *seen)
{
    uint32_t known;
    if (e->n_leaves <= leaf)
        return false;
    if (e->n_leaves == leaf + 1 || (e->kind == EXPR_LEAF && e->u.leaf == leaf))
        return true;
    const bool use_memo = e->depth > DEPTH_WITHOUT_MEMO;
    if (use_memo && memo_get(seen, e, &known))
        return false; /* else the search had ended there */
    for (uint32_t k = 0; k < e->n_args; k++)
        if (is_used(e->args[k], leaf, seen))
            return true;
    if (use_memo)
        memo_put(seen, e, 0);
    return false;
}

bool expr_uses_leaf(const Expr *e, uint32_t leaf)
{
    Memo seen;
    memo_begin(&seen, NULL);
    const bool found = is_used(e, leaf, &seen);
    memo_end(&seen);
    return found;
}

/* ---- linear forms ---- */
typedef struct {
    const Expr *coefficient; /* NULL: the leaf does not occur */
    const Expr *rest;
} LinearForm;

typedef struct {
    Pool *pool;
    const Expr *leaf;
    Memo coefficients, rests; /* node: ids; ID_NONE for no coefficient */
} Linear;

static bool find_form(Linear *l, const Expr *e, LinearForm *form);

static const Expr *number(Pool *pool, Type type, int value)
{
    return type.kind == TYPE_REAL ? expr_real(pool, value) : expr_integer(pool, value);
}

static const Expr *coefficient_of(Linear *l, const Expr *e, LinearForm form)
{
    return form.coefficient ? form.coefficient : number(l->pool, e->type, 0);
}

static bool is_linear_op(Op op)
{
    return op == OP_NEG || op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV || op == OP_HOMOTOPY;
}

/* Some argument of the call depends on the leaf. */
static bool combine_call(Linear *l, const Expr *e, const LinearForm args[2], LinearForm *form)
{
    Pool *pool = l->pool;
    const Op op = (Op)e->op;
    if (!is_linear_op(op))
        return false;
    if (op == OP_NEG) {
        *form = (LinearForm){ simple_unary(pool, op, args[0].coefficient), simple_unary(pool, op, args[0].rest) };
        return true;
    }
    if (op == OP_MUL || op == OP_DIV) {
        const bool is_first = args[0].coefficient != NULL;
        if (args[is_first ? 1 : 0].coefficient || (op == OP_DIV && !is_first))
            return false;
        const Expr *a = e->args[0], *b = e->args[1];
        form->coefficient = is_first ? simple_binary(pool, op, args[0].coefficient, b)
                                     : simple_binary(pool, op, a, args[1].coefficient);
        form->rest = is_first ? simple_binary(pool, op, args[0].rest, b) : simple_binary(pool, op, a, args[1].rest);
        return true;
    }
    form->coefficient =
        simple_binary(pool, op, coefficient_of(l, e->args[0], args[0]), coefficient_of(l, e->args[1], args[1]));
    form->rest = simple_binary(pool, op, args[0].rest, args[1].rest);
    return true;
}

static bool has_iterator(const Expr *e, uint32_t level)
{
    if (e->kind == EXPR_ITERATOR && e->u.iterator == level)
        return true;
    for (uint32_t k = 0; e->has_index && k < e->n_args; k++)
        if (has_iterator(e->args[k], level))
            return true;
    return false;
}

static bool combine(Linear *l, const Expr *e, const LinearForm *args, LinearForm *form)
{
    Pool *pool = l->pool;
    switch ((ExprKind)e->kind) {
    case EXPR_CALL: return combine_call(l, e, args, form);
    case EXPR_IF:
        if (args[0].coefficient)
            return false;
        form->coefficient =
            simple_if(pool, e->args[0], coefficient_of(l, e->args[1], args[1]), coefficient_of(l, e->args[2], args[2]));
        form->rest = simple_if(pool, e->args[0], args[1].rest, args[2].rest);
        return true;
    case EXPR_REDUCE:
        if (e->op != OP_ADD || args[1].coefficient || args[2].coefficient || args[3].coefficient)
            return false;
        if (has_iterator(l->leaf, e->u.iterator))
            return false; /* another element in each iteration */
        form->coefficient = simple_reduce(pool, e, args[0].coefficient);
        form->rest = simple_reduce(pool, e, args[0].rest);
        return true;
    case EXPR_LEAF:
    case EXPR_ARRAY:
    case EXPR_FUNCTION:
    case EXPR_TABLE:
    case EXPR_REAL:
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
    case EXPR_STRING:
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_TEXT:
    case EXPR_ITERATOR: return false;
    }
    BUG("unknown ExprKind");
}

static bool find_form_of_node(Linear *l, const Expr *e, LinearForm *form)
{
    enum { FEW = 4 };
    LinearForm few[FEW];
    LinearForm *args = e->n_args <= FEW ? few : NEW_ARRAY(memo_arena(&l->rests), LinearForm, e->n_args);
    bool is_dependent = false;
    for (uint32_t k = 0; k < e->n_args; k++) {
        if (!find_form(l, e->args[k], &args[k]))
            return false;
        is_dependent |= args[k].coefficient != NULL;
    }
    if (!is_dependent) {
        *form = (LinearForm){ NULL, e };
        return true;
    }
    const bool is_scalar_number = (e->type.kind == TYPE_REAL || e->type.kind == TYPE_INTEGER) && e->type.rank == 0;
    return is_scalar_number && combine(l, e, args, form) && form->coefficient && form->rest;
}

/* False: not linear; then it is not for the whole, and no node is asked again. */
static bool find_form(Linear *l, const Expr *e, LinearForm *form)
{
    uint32_t coefficient, rest;
    if (e == l->leaf) {
        *form = (LinearForm){ number(l->pool, e->type, 1), number(l->pool, e->type, 0) };
        return true;
    }
    if (e->n_args == 0 || is_excluded(e, l->leaf)) {
        *form = (LinearForm){ NULL, e };
        return true;
    }
    if (memo_get(&l->coefficients, e, &coefficient) && memo_get(&l->rests, e, &rest)) {
        form->coefficient = coefficient == ID_NONE ? NULL : pool_node(l->pool, coefficient);
        form->rest = pool_node(l->pool, rest);
        return true;
    }
    if (!find_form_of_node(l, e, form))
        return false;
    memo_put(&l->coefficients, e, form->coefficient ? form->coefficient->id : ID_NONE);
    memo_put(&l->rests, e, form->rest->id);
    return true;
}

bool expr_linear(Pool *pool, const Expr *e, const Expr *leaf, const Expr **coefficient, const Expr **rest)
{
    REQUIRE(leaf->kind == EXPR_LEAF);
    const bool is_number = e->type.kind == TYPE_REAL || e->type.kind == TYPE_INTEGER;
    if (!is_number || e->type.rank > 0)
        return false;
    Linear l = { .pool = pool, .leaf = leaf };
    memo_begin(&l.coefficients, NULL);
    memo_begin(&l.rests, NULL);
    LinearForm form;
    const bool is_linear = find_form(&l, e, &form);
    if (is_linear) {
        *coefficient = coefficient_of(&l, e, form);
        *rest = form.rest;
    }
    memo_end(&l.coefficients);
    memo_end(&l.rests);
    return is_linear;
}

/* ---- degree in many leaves ---- */
typedef enum { DEGREE_ZERO, DEGREE_ONE, DEGREE_MORE } Degree;

typedef struct {
    const bool *is_unknown;
    Memo memo; /* node: its degree */
} DegreeWalk;

static Degree degree_of(DegreeWalk *w, const Expr *e);

static Degree degree_of_call(const Expr *e, const Degree *args, Degree highest)
{
    if (is_linear_op((Op)e->op) && e->type.kind == TYPE_REAL) {
        if (e->op == OP_MUL)
            return args[0] && args[1] ? DEGREE_MORE : highest;
        if (e->op == OP_DIV)
            return args[1] ? DEGREE_MORE : args[0];
        return highest;
    }
    return highest ? DEGREE_MORE : DEGREE_ZERO;
}

static Degree degree_of_node(DegreeWalk *w, const Expr *e)
{
    enum { FEW = 4 };
    Degree args[FEW], highest = DEGREE_ZERO;
    for (uint32_t k = 0; k < e->n_args; k++) {
        const Degree degree = degree_of(w, e->args[k]);
        if (degree > highest)
            highest = degree;
        if (k < FEW)
            args[k] = degree;
    }
    if (highest == DEGREE_ZERO)
        return e->kind == EXPR_LEAF && w->is_unknown[e->u.leaf] ? DEGREE_ONE : DEGREE_ZERO;
    if (e->type.rank)
        return DEGREE_MORE;
    if (e->kind == EXPR_CALL)
        return degree_of_call(e, args, highest);
    if (e->kind == EXPR_IF)
        return args[0] || e->type.kind != TYPE_REAL ? DEGREE_MORE : highest;
    if (e->kind == EXPR_REDUCE && e->op == OP_ADD)
        return args[1] || args[2] || args[3] ? DEGREE_MORE : args[0];
    return DEGREE_MORE;
}

static Degree degree_of(DegreeWalk *w, const Expr *e)
{
    uint32_t known;
    if (e->n_leaves == 0)
        return DEGREE_ZERO;
    if (e->n_args == 0)
        return w->is_unknown[e->u.leaf] ? DEGREE_ONE : DEGREE_ZERO;
    const bool use_memo = e->depth > DEPTH_WITHOUT_MEMO;
    if (use_memo && memo_get(&w->memo, e, &known))
        return (Degree)known;
    const Degree degree = degree_of_node(w, e);
    if (use_memo)
        memo_put(&w->memo, e, degree);
    return degree;
}

bool expr_is_linear_in(const Expr *e, const bool *is_unknown)
{
    DegreeWalk w;
    w.is_unknown = is_unknown;
    memo_begin(&w.memo, NULL);
    const bool is_linear = degree_of(&w, e) != DEGREE_MORE;
    memo_end(&w.memo);
    return is_linear;
}

/* ---- solving ---- */
typedef struct { /* side = numerator/denominator; the leaf is in side only */
    Pool *pool;
    Search search;
    const Expr *side, *numerator, *denominator; /* denominator NULL: 1 */
} Solver;

static bool is_call(const Expr *e, Op op)
{
    return e->kind == EXPR_CALL && e->op == op;
}

static bool is_zero(const Expr *e)
{
    return expr_is_real(e, 0) || (e->kind == EXPR_INTEGER && e->u.integer == 0);
}

/* Zero by its structure, at least in one branch. */
static bool may_be_zero(const Expr *e)
{
    if (is_zero(e))
        return true;
    if (e->kind == EXPR_IF)
        return may_be_zero(e->args[1]) || may_be_zero(e->args[2]);
    if (is_call(e, OP_NEG) || is_call(e, OP_DIV))
        return may_be_zero(e->args[0]);
    if (is_call(e, OP_MUL) || is_call(e, OP_HOMOTOPY))
        return may_be_zero(e->args[0]) || may_be_zero(e->args[1]);
    return false;
}

static bool looks_negative(const Expr *e)
{
    if (is_call(e, OP_MUL))
        e = e->args[0];
    return is_call(e, OP_NEG) || (e->kind == EXPR_REAL && e->u.real < 0) ||
           (e->kind == EXPR_INTEGER && e->u.integer < 0);
}

/* The solution of coefficient*x = value. */
static const Expr *quotient(Pool *pool, const Expr *value, const Expr *coefficient)
{
    if (!value || !coefficient || may_be_zero(coefficient))
        return NULL;
    if (looks_negative(coefficient)) {
        coefficient = simple_unary(pool, OP_NEG, coefficient);
        value = simple_unary(pool, OP_NEG, value);
    }
    if (!value || !coefficient)
        return NULL;
    if (value->type.kind == TYPE_REAL)
        return simple_binary(pool, OP_DIV, value, coefficient);
    return coefficient->kind == EXPR_INTEGER && coefficient->u.integer == 1 ? value : NULL;
}

/* The right side as one expression; NULL if too deep. */
static const Expr *right_side(const Solver *s)
{
    return s->denominator ? quotient(s->pool, s->numerator, s->denominator) : s->numerator;
}

static const Expr *solve_linear(Solver *s)
{
    const Expr *coefficient, *rest;
    const Expr *right = right_side(s);
    if (!right || !expr_linear(s->pool, s->side, s->search.leaf, &coefficient, &rest))
        return NULL;
    return quotient(s->pool, simple_binary(s->pool, OP_SUB, right, rest), coefficient);
}

/* Takes the factor to the other side. */
static bool peel_factor(Solver *s, const Expr *factor)
{
    if (may_be_zero(factor) || factor->type.kind != TYPE_REAL)
        return false;
    s->denominator = s->denominator ? simple_binary(s->pool, OP_MUL, s->denominator, factor) : factor;
    return s->denominator != NULL;
}

static bool peel_divisor(Solver *s, const Expr *divisor)
{
    s->numerator = simple_binary(s->pool, OP_MUL, s->numerator, divisor);
    return s->numerator != NULL;
}

/* The right side with one operation more. */
static bool move(Solver *s, const Expr *right)
{
    s->numerator = right;
    s->denominator = NULL;
    return right != NULL;
}

/* Takes a function away that is declared to have an inverse. */
static bool peel_function(Solver *s, uint32_t k)
{
    const Expr *e = s->side, *right = right_side(s);
    s->side = e->args[k];
    return move(s, right && right->depth < EXPR_DEPTH ? declared_inverse(s->pool, e, k, right) : NULL);
}

/* Takes the operation at the root of the side away; only argument k contains the leaf. False: no way. */
static bool peel(Solver *s, uint32_t k)
{
    Pool *pool = s->pool;
    const Expr *e = s->side, *other = e->n_args == 2 ? e->args[1 - k] : NULL;
    s->side = e->args[k];
    switch ((Op)e->op) {
    case OP_NEG: s->numerator = simple_unary(pool, OP_NEG, s->numerator); return s->numerator != NULL;
    case OP_MUL: return peel_factor(s, other);
    case OP_DIV:
        if (k == 0)
            return peel_divisor(s, other);
        if (other->kind != EXPR_REAL || other->u.real == 0)
            return false;
        return move(s, simple_binary(pool, OP_DIV, other, right_side(s)));
    case OP_ADD: return move(s, simple_binary(pool, OP_SUB, right_side(s), other));
    case OP_SUB:
        if (k == 0)
            return move(s, simple_binary(pool, OP_ADD, right_side(s), other));
        return move(s, simple_binary(pool, OP_SUB, other, right_side(s)));
    case OP_EXP: return move(s, simple_unary(pool, OP_LOG, right_side(s)));
    case OP_LOG: return move(s, simple_unary(pool, OP_EXP, right_side(s)));
    case OP_LOG10: return move(s, simple_binary(pool, OP_POW, expr_real(pool, 10), right_side(s)));
    case OP_NOT: return move(s, simple_unary(pool, OP_NOT, s->numerator));
    default: return false; /* has no inverse that is worth it */
    }
}

static const Expr *solve_side(Solver *s);

/* An `if` whose condition does not depend on the leaf: each branch for itself. */
static const Expr *solve_branches(const Solver *s)
{
    const Expr *e = s->side, *right = right_side(s), *solution[2];
    Solver branch = { .pool = s->pool };
    branch.search.leaf = s->search.leaf;
    for (uint32_t k = 0; k < 2; k++) {
        memo_begin(&branch.search.memo, NULL);
        const bool is_inside =
            occurs(&branch.search, e->args[1 + k]) && !(k == 0 && occurs(&branch.search, e->args[0]));
        branch.side = e->args[1 + k];
        branch.numerator = right;
        branch.denominator = NULL;
        solution[k] = right && is_inside ? solve_side(&branch) : NULL;
        memo_end(&branch.search.memo);
        if (!solution[k])
            return NULL;
    }
    return simple_if(s->pool, e->args[0], solution[0], solution[1]);
}

static const Expr *solve_side(Solver *s)
{
    while (s->side != s->search.leaf) {
        const Expr *e = s->side;
        if (e->type.rank > 0)
            return NULL;
        /* i1 + i2 + i3 = 0 for i1 is -(i2 + i3), as a whole. */
        if (!s->denominator && is_zero(s->numerator) && (is_call(e, OP_ADD) || is_call(e, OP_SUB))) {
            const Expr *solution = solve_linear(s);
            if (solution)
                return solution;
        }
        uint32_t n = 0, k = 0;
        for (uint32_t j = 0; j < e->n_args; j++)
            if (occurs(&s->search, e->args[j])) {
                k = j;
                n++;
            }
        const bool is_peelable = e->kind == EXPR_CALL && n == 1 && !is_call(e, OP_HOMOTOPY) &&
                                 !(is_call(e, OP_MUL) && e->type.kind == TYPE_INTEGER);
        if (e->kind == EXPR_FUNCTION && n == 1) {
            if (!peel_function(s, k))
                return NULL;
            continue;
        }
        if (!is_peelable) {
            const Expr *solution = e->kind == EXPR_IF ? solve_branches(s) : NULL;
            return solution ? solution : solve_linear(s);
        }
        if (!peel(s, k))
            return NULL;
    }
    return right_side(s);
}

/* The leaf is on both sides: it must be linear. */
static const Expr *solve_both(Pool *pool, const Expr *lhs, const Expr *rhs, const Expr *leaf)
{
    const Expr *coefficients[2], *rests[2];
    if (!expr_linear(pool, lhs, leaf, &coefficients[0], &rests[0]) ||
        !expr_linear(pool, rhs, leaf, &coefficients[1], &rests[1]))
        return NULL;
    return quotient(pool, simple_binary(pool, OP_SUB, rests[1], rests[0]),
                    simple_binary(pool, OP_SUB, coefficients[0], coefficients[1]));
}

const Expr *expr_solve(Pool *pool, const Expr *lhs, const Expr *rhs, const Expr *leaf)
{
    REQUIRE(leaf->kind == EXPR_LEAF);
    REQUIRE(type_equal(lhs->type, rhs->type));
    Solver s = { .pool = pool };
    s.search.leaf = leaf;
    memo_begin(&s.search.memo, NULL);
    const bool is_left = occurs(&s.search, lhs), is_right = occurs(&s.search, rhs);
    const Expr *solution = NULL;
    if (is_left && is_right) {
        solution = solve_both(pool, lhs, rhs, leaf);
    } else if (is_left || is_right) {
        s.side = is_left ? lhs : rhs;
        s.numerator = is_left ? rhs : lhs;
        solution = solve_side(&s);
    }
    memo_end(&s.search.memo);
    return solution;
}
