/* What each element of an array is; see arrays.h. The sums of a product are reductions over its inner dimension; where
 * the elements along it are written in different ways, they are written out. */
#include "base/bug.h"
#include "ir/routine.h"
#include "ir/simplify.h"
#include "passes/lower/arrays.h"

static const Expr *integer(Arrays *x, int64_t value)
{
    return expr_integer(x->pool, value);
}

static const Expr *number_of(Arrays *x, Type type, int64_t value)
{
    return type.kind == TYPE_REAL ? expr_real(x->pool, (double)value) : integer(x, value);
}

static const Expr *is_equal(Arrays *x, const Expr *a, const Expr *b)
{
    return expr_simplify(x->pool, expr_literal_relation(x->pool, OP_EQ, a, b));
}

/* `then` where the condition holds; a condition that is known decides at once. */
static const Expr *choose(Arrays *x, const Expr *condition, const Expr *then, const Expr *otherwise)
{
    if (!then || !otherwise)
        return NULL;
    if (condition->kind == EXPR_BOOLEAN)
        return condition->u.integer ? then : otherwise;
    return expr_if(x->pool, condition, then, otherwise);
}

static const Expr *binary(Arrays *x, Op op, const Expr *a, const Expr *b)
{
    if (!a || !b)
        return NULL;
    if (!expr_too_deep(a, b))
        return expr_binary(x->pool, op, a, b);
    arrays_fail(x, DIAG_NESTED_TOO_DEEP, "an expression of arrays is nested deeper than %d levels", EXPR_DEPTH);
    return NULL;
}

/* ---- leaves ---- */
static const Expr *leaf_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    Type scalar = e->type;
    if (e->n_args == 0 && e->type.rank == 0)
        return e;
    const uint32_t n = e->n_args ? e->n_args : e->type.rank;
    const Expr **own = NEW_ARRAY(x->c->scratch, const Expr *, n);
    uint32_t used = 0;
    scalar.rank = 0;
    for (uint32_t k = 0; k < n; k++) {
        const Expr *arg = e->n_args ? e->args[k] : NULL;
        if (!arg || (arg->kind == EXPR_RANGE && arg->n_args == 0))
            own[k] = index[used++];
        else if (arg->type.rank)
            own[k] = array_element(x, arg, &index[used++]);
        else
            own[k] = array_element(x, arg, NULL);
        if (!own[k])
            return NULL;
    }
    return expr_element(x->pool, e->u.leaf, scalar, n, own);
}

/* ---- loops ---- */
/* The number 0, or a product with it. */
static bool is_zero(const Expr *e)
{
    if (e->kind == EXPR_CALL && e->op == OP_MUL)
        return is_zero(e->args[0]) || is_zero(e->args[1]);
    return expr_is_real(e, 0) || (e->kind == EXPR_INTEGER && e->u.integer == 0);
}

typedef const Expr *(*BodyAt)(Arrays *x, const void *context, const Expr *index);

static const Expr *empty_value(Arrays *x, Op op, Type type)
{
    switch (op) {
    case OP_ADD: return number_of(x, type, 0);
    case OP_MUL: return number_of(x, type, 1);
    case OP_AND: return expr_boolean(x->pool, true);
    case OP_OR: return expr_boolean(x->pool, false);
    default: break;
    }
    arrays_fail(x, DIAG_EMPTY_RANGE, "the %s of an empty array has no value", op == OP_MIN ? "minimum" : "maximum");
    diag_help(x->c->diag, "give the array at least one element");
    return NULL;
}

typedef struct {
    Op op;
    Type type;     /* of an element */
    const Expr *n; /* over the numbers 1 to n */
    bool is_flat;  /* it is written out */
} Reduction;

/* The terms one after the other. What is known to be 0 is left out of sums: zeros of skew(v), of identity(n), of the
 * braces of a rotation. */
static const Expr *write_out(Arrays *x, const Reduction *r, int64_t count, BodyAt body, const void *context)
{
    const Expr *result = NULL, *zero = NULL;
    for (int64_t k = 1; k <= count; k++) {
        const Expr *term = body(x, context, integer(x, k));
        if (!term)
            return NULL;
        if (r->op == OP_ADD && is_zero(term))
            zero = number_of(x, r->type, 0);
        else
            result = result ? binary(x, r->op, result, term) : term;
    }
    return result ? result : zero;
}

static const Expr *looped(Arrays *x, const Expr *loop)
{
    if (x->looped)
        x->looped(x, loop);
    return loop;
}

static const Expr *reduce(Arrays *x, const Reduction *r, BodyAt body, const void *context)
{
    int64_t count = -1;
    if (array_number(r->n, &count) && count == 0)
        return empty_value(x, r->op, r->type);
    if (r->n->kind == EXPR_INTEGER && (r->is_flat || count == 1 || count <= x->few))
        return write_out(x, r, count, body, context);
    const Expr *k = arrays_enter(x, 1, count);
    if (!k)
        return NULL;
    x->n_inner++;
    const Expr *of = body(x, context, k);
    x->n_inner--;
    arrays_leave(x);
    return of ? looped(x, expr_reduce(x->pool, r->op, k->u.iterator, of, integer(x, 1), integer(x, 1), r->n)) : NULL;
}

/* A loop of the source: sum(for i in ...). */
static const Expr *reduction_at(Arrays *x, const Expr *e)
{
    const uint32_t level = e->u.iterator;
    const Expr *lo = array_element(x, e->args[1], NULL), *step = array_element(x, e->args[2], NULL),
               *hi = array_element(x, e->args[3], NULL);
    int64_t first = 1, last = 0;
    if (!lo || !step || !hi)
        return NULL;
    if (lo->kind == EXPR_INTEGER && hi->kind == EXPR_INTEGER) {
        first = lo->u.integer < hi->u.integer ? lo->u.integer : hi->u.integer;
        last = lo->u.integer < hi->u.integer ? hi->u.integer : lo->u.integer;
    }
    const Expr *k = level < ARRAY_LEVELS ? arrays_enter(x, first, last) : NULL;
    if (!k) {
        arrays_fail(x, DIAG_NESTED_TOO_DEEP, "more than %d ranges in each other", ARRAY_LEVELS);
        return NULL;
    }
    const Expr *before = x->loop[level];
    x->loop[level] = k;
    x->n_inner++;
    const Expr *body = array_element(x, e->args[0], NULL);
    x->n_inner--;
    x->loop[level] = before;
    arrays_leave(x);
    return body ? looped(x, expr_reduce(x->pool, (Op)e->op, k->u.iterator, body, lo, step, hi)) : NULL;
}

/* Element i of lo:hi step s, counted from 1. */
static const Expr *value_in_range(Arrays *x, const Expr *const *range, const Expr *i)
{
    const Expr *lo = array_element(x, range[0], NULL), *step = array_element(x, range[1], NULL);
    if (!lo || !step)
        return NULL;
    const Expr *begin = expr_simplify(x->pool, expr_binary(x->pool, OP_SUB, lo, step));
    return array_index(x, i, step, begin);
}

static const Expr *each_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const uint32_t level = e->u.iterator;
    const Expr *value = level < ARRAY_LEVELS ? value_in_range(x, e->args + 1, index[0]) : NULL;
    if (!value)
        return NULL;
    const Expr *before = x->loop[level];
    x->loop[level] = value;
    x->n_inner++;
    const Expr *body = array_element(x, e->args[0], index + 1);
    x->n_inner--;
    x->loop[level] = before;
    return body;
}

/* ---- sums over whole arrays ---- */
typedef struct {
    const Expr *e;
    const Extents *extents;
    const Expr **index;
    uint32_t dim; /* that the loop at work is over */
    Op op;
} Total;

static bool has_cuts(Arrays *x, const Expr *e, uint32_t dim)
{
    Cuts cuts = { 0 };
    array_cuts(x, e, dim, 0, &cuts);
    return cuts.at.n > 0;
}

static const Expr *total_from(Arrays *x, const Total *total);

static const Expr *body_of_total(Arrays *x, const void *context, const Expr *index)
{
    Total total = *(const Total *)context;
    total.index[total.dim++] = index;
    return total_from(x, &total);
}

static const Expr *total_from(Arrays *x, const Total *total)
{
    if (total->dim == total->extents->rank)
        return array_element(x, total->e, total->index);
    Type scalar = total->e->type;
    scalar.rank = 0;
    const Reduction r = { total->op, scalar, total->extents->at[total->dim], has_cuts(x, total->e, total->dim) };
    return reduce(x, &r, body_of_total, total);
}

static const Expr *total_of(Arrays *x, const Expr *e, Op op)
{
    Extents extents;
    const Expr *index[ARRAY_RANK];
    if (!array_extents(x, e, &extents))
        return NULL;
    const Total total = { .e = e, .extents = &extents, .index = index, .op = op };
    return total_from(x, &total);
}

/* ---- products ---- */
typedef struct {
    const Expr *a, *b;
    const Expr *row, *column; /* NULL: the operand is a vector */
} Product;

static const Expr *body_of_product(Arrays *x, const void *context, const Expr *k)
{
    const Product *p = context;
    const Expr *const at_a[] = { p->row ? p->row : k, k }, *const at_b[] = { k, p->column };
    const Expr *a = array_element(x, p->a, at_a);
    return a ? binary(x, OP_MUL, a, array_element(x, p->b, at_b)) : NULL;
}

/* What an element of it costs, in additions; arrays that cost little are computed wherever they are used. */
static uint32_t cost_of(const Expr *e)
{
    enum { MUCH = 100 };
    uint32_t cost = 0;
    if (e->kind == EXPR_FUNCTION || (e->kind == EXPR_WHOLE && e->op == WHOLE_PRODUCT) || e->kind == EXPR_REDUCE)
        return MUCH;
    if (e->kind == EXPR_LEAF || e->kind == EXPR_ARRAY)
        return 0;
    if (e->kind == EXPR_CALL)
        cost = op_cost((Op)e->op);
    for (uint32_t k = 0; k < e->n_args && cost < MUCH; k++)
        cost += cost_of(e->args[k]);
    return cost;
}

bool array_is_costly(const Expr *e)
{
    enum { LITTLE = 4 };
    return e->type.rank && cost_of(e) > LITTLE;
}

static const Expr *held(Arrays *x, const Expr *e)
{
    const bool is_to_hold = x->hold && x->n_inner == 0 && array_is_costly(e);
    const Expr *variable = is_to_hold ? x->hold(x, e) : NULL;
    return variable ? variable : e;
}

static const Expr *product_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *a = held(x, e->args[0]), *b = held(x, e->args[1]);
    const bool has_row = a->type.rank == 2, has_column = b->type.rank == 2;
    const Product product = { a, b, has_row ? index[0] : NULL, has_column ? index[has_row] : NULL };
    Extents left, right;
    Type scalar = e->type;
    scalar.rank = 0;
    if (x->has_failed || !array_extents(x, a, &left) || !array_extents(x, b, &right))
        return NULL;
    const Extents inner_a = { 1, { left.at[left.rank - 1] } }, inner_b = { 1, { right.at[0] } };
    if (!arrays_agree(x, &inner_a, &inner_b, "a product"))
        return NULL;
    const bool is_flat = has_cuts(x, a, a->type.rank - 1u) || has_cuts(x, b, 0);
    return reduce(x, &(Reduction){ OP_ADD, scalar, left.at[left.rank - 1], is_flat }, body_of_product, &product);
}

static const Expr *of_vector(Arrays *x, const Expr *e, const Expr *index)
{
    return array_element(x, e, &index);
}

/* a[i + 1]*b[i + 2] - a[i + 2]*b[i + 1], counted in a ring of three. */
static const Expr *cross_at(Arrays *x, const Expr *e, const Expr *i)
{
    const Expr *next[2];
    for (int64_t k = 0; k < 2; k++) {
        const Expr *sum = array_index(x, i, integer(x, 1), integer(x, k));
        const Expr *rest = expr_binary(x->pool, OP_IMOD, sum, integer(x, 3));
        next[k] = expr_simplify(x->pool, expr_binary(x->pool, OP_ADD, rest, integer(x, 1)));
    }
    const Expr *plus = binary(x, OP_MUL, of_vector(x, e->args[0], next[0]), of_vector(x, e->args[1], next[1]));
    const Expr *minus = binary(x, OP_MUL, of_vector(x, e->args[0], next[1]), of_vector(x, e->args[1], next[0]));
    return binary(x, OP_SUB, plus, minus);
}

/* {{0, -a3, a2}, {a3, 0, -a1}, {-a2, a1, 0}}; the indices are numbers, or it is chosen among all. */
static const Expr *skew_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    static const int8_t places[3][3] = { { 0, -3, 2 }, { 3, 0, -1 }, { -2, 1, 0 } };
    Type scalar = e->type;
    scalar.rank = 0;
    const Expr *result = number_of(x, scalar, 0);
    for (int64_t k = 0; k < 9 && result; k++) {
        const int8_t place = places[k / 3][k % 3];
        const Expr *row = is_equal(x, index[0], integer(x, k / 3 + 1));
        const Expr *column = is_equal(x, index[1], integer(x, k % 3 + 1));
        const Expr *is_here = expr_simplify(x->pool, expr_binary(x->pool, OP_AND, row, column));
        if (place == 0 || (is_here->kind == EXPR_BOOLEAN && !is_here->u.integer))
            continue;
        const Expr *value = of_vector(x, e->args[0], integer(x, place < 0 ? -place : place));
        if (value && place < 0)
            value = expr_unary(x->pool, OP_NEG, value);
        result = choose(x, is_here, value, result);
    }
    return result;
}

/* ---- forms ---- */
static const Expr *vector_at(Arrays *x, const Expr *e, const Expr *i)
{
    const Expr *index[ARRAY_RANK];
    Extents a;
    if (!array_extents(x, e->args[0], &a))
        return NULL;
    for (uint32_t k = a.rank; k-- > 0;) {
        const bool is_long = a.at[k]->kind != EXPR_INTEGER || a.at[k]->u.integer != 1;
        index[k] = is_long ? i : integer(x, 1);
    }
    return array_element(x, e->args[0], index);
}

static const Expr *matrix_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *own[ARRAY_RANK] = { index[0], index[1] };
    for (uint32_t k = 2; k < ARRAY_RANK; k++)
        own[k] = integer(x, 1);
    return array_element(x, e->args[0], own);
}

static const Expr *scalar_of(Arrays *x, const Expr *e)
{
    const Expr *index[ARRAY_RANK];
    Extents a = { 0 };
    if (e->args[0]->type.rank && !array_extents(x, e->args[0], &a))
        return NULL;
    for (uint32_t k = 0; k < a.rank; k++) {
        const Extents is = { 1, { a.at[k] } }, one = { 1, { integer(x, 1) } };
        index[k] = integer(x, 1);
        if (!arrays_agree(x, &is, &one, "scalar(...)"))
            return NULL;
    }
    return array_element(x, e->args[0], index);
}

/* The part in which the index lies; where that is not known, each is chosen by a comparison. */
static const Expr *cat_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const uint32_t along = (uint32_t)e->args[0]->u.integer - 1, rank = e->type.rank;
    const Expr *offset = integer(x, 0), *own[ARRAY_RANK], *result = NULL;
    int64_t lo = 1, hi = 0, begin, extent;
    const bool is_known = array_bounds(x, index[along], &lo, &hi);
    VEC(const Expr *) values = { 0 };
    VEC(const Expr *) ends = { 0 };
    for (uint32_t k = 0; k < rank; k++)
        own[k] = index[k];
    for (uint32_t k = 1; k < e->n_args; k++) {
        Extents part = { 0 };
        if (e->args[k]->type.rank && !array_extents(x, e->args[k], &part))
            return NULL;
        const Expr *size = along < part.rank ? part.at[along] : integer(x, 1);
        const Expr *end = array_index(x, offset, integer(x, 1), size);
        const bool is_number = array_number(offset, &begin) && array_number(size, &extent);
        const bool is_outside = is_number && (extent == 0 || (is_known && (hi <= begin || lo > begin + extent)));
        if (!is_outside) {
            own[along] = expr_simplify(x->pool, expr_binary(x->pool, OP_SUB, index[along], offset));
            const Expr *value = array_element(x, e->args[k], own);
            if (!value)
                return NULL;
            vec_push(x->c->scratch, &values, value);
            vec_push(x->c->scratch, &ends, end);
        }
        offset = end;
    }
    for (uint32_t k = values.n; k-- > 0;)
        result = result
                     ? choose(x, expr_literal_relation(x->pool, OP_LE, index[along], ends.at[k]), values.at[k], result)
                     : values.at[k];
    return result;
}

static const Expr *linspace_at(Arrays *x, const Expr *e, const Expr *i)
{
    Extents own;
    int64_t n;
    const Expr *first = array_element(x, e->args[0], NULL), *last = array_element(x, e->args[1], NULL);
    if (!first || !last || !array_extents(x, e, &own))
        return NULL;
    if (array_number(own.at[0], &n) && n < 2) {
        arrays_fail(x, DIAG_SIZE_NEGATIVE, "linspace with %lld points: it has at least 2", (long long)n);
        return NULL;
    }
    const Expr *one = integer(x, 1);
    const Expr *steps = expr_to_real(x->pool, expr_simplify(x->pool, expr_binary(x->pool, OP_SUB, own.at[0], one)));
    const Expr *passed = expr_to_real(x->pool, expr_simplify(x->pool, expr_binary(x->pool, OP_SUB, i, one)));
    const Expr *way = binary(x, OP_MUL, expr_binary(x->pool, OP_SUB, last, first), passed);
    return way ? binary(x, OP_ADD, first, binary(x, OP_DIV, way, steps)) : NULL;
}

/* The size of dimension i. */
static const Expr *size_at(Arrays *x, const Expr *e, const Expr *i)
{
    Extents a;
    int64_t k;
    if (!array_extents(x, e->args[0], &a))
        return NULL;
    i = expr_simplify(x->pool, i);
    if (array_number(i, &k) && k >= 1 && k <= (int64_t)a.rank)
        return a.at[k - 1];
    if (i->kind == EXPR_INTEGER) {
        arrays_fail(x, DIAG_INDEX_RANGE, "size(..., %lld) of an array with %u dimension%s", (long long)k, a.rank,
                    a.rank == 1 ? "" : "s");
        return NULL;
    }
    const Expr *result = a.at[a.rank - 1];
    for (uint32_t d = a.rank - 1; d-- > 0;)
        result = choose(x, is_equal(x, i, integer(x, (int64_t)d + 1)), a.at[d], result);
    return result;
}

static const Expr *on_diagonal(Arrays *x, const Expr *const *index, const Expr *value)
{
    return value ? choose(x, is_equal(x, index[0], index[1]), value, number_of(x, value->type, 0)) : NULL;
}

static const Expr *whole_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *const *args = e->args;
    switch ((WholeOp)e->op) {
    case WHOLE_PRODUCT: return product_at(x, e, index);
    case WHOLE_TRANSPOSE: return array_element(x, args[0], (const Expr *const[]){ index[1], index[0] });
    case WHOLE_SYMMETRIC: {
        const Expr *below = expr_simplify(x->pool, expr_literal_relation(x->pool, OP_GT, index[0], index[1]));
        const Expr *turned = array_element(x, args[0], (const Expr *const[]){ index[1], index[0] });
        return choose(x, below, turned, array_element(x, args[0], index));
    }
    case WHOLE_CROSS: return cross_at(x, e, index[0]);
    case WHOLE_SKEW: return skew_at(x, e, index);
    case WHOLE_DIAGONAL: return on_diagonal(x, index, of_vector(x, args[0], index[0]));
    case WHOLE_OUTER: return binary(x, OP_MUL, of_vector(x, args[0], index[0]), of_vector(x, args[1], index[1]));
    case WHOLE_IDENTITY: return on_diagonal(x, index, integer(x, 1));
    case WHOLE_ZEROS: return integer(x, 0);
    case WHOLE_ONES: return integer(x, 1);
    case WHOLE_FILL: return array_element(x, args[0], NULL);
    case WHOLE_LINSPACE: return linspace_at(x, e, index[0]);
    case WHOLE_SUM: return total_of(x, args[0], OP_ADD);
    case WHOLE_PROD: return total_of(x, args[0], OP_MUL);
    case WHOLE_LEAST: return total_of(x, args[0], OP_MIN);
    case WHOLE_LARGEST: return total_of(x, args[0], OP_MAX);
    case WHOLE_ALL: return total_of(x, args[0], OP_AND);
    case WHOLE_ANY: return total_of(x, args[0], OP_OR);
    case WHOLE_SIZE: {
        const Expr *i = e->n_args == 1 ? index[0] : array_element(x, args[1], NULL);
        return i ? size_at(x, e, i) : NULL;
    }
    case WHOLE_VECTOR: return args[0]->type.rank ? vector_at(x, e, index[0]) : array_element(x, args[0], NULL);
    case WHOLE_MATRIX: return matrix_at(x, e, index);
    case WHOLE_SCALAR: return scalar_of(x, e);
    case WHOLE_CAT: return cat_at(x, e, index);
    case WHOLE_COUNT: break;
    }
    BUG("unknown operation on arrays");
}

/* ---- all nodes ---- */
static const Expr *braces_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    int64_t k;
    if (array_number(index[0], &k)) {
        REQUIRE(k >= 1 && k <= e->n_args);
        return array_element(x, e->args[k - 1], index + 1);
    }
    const Expr *result = array_element(x, e->args[e->n_args - 1], index + 1);
    for (uint32_t j = e->n_args - 1u; j-- > 0 && result;)
        result = choose(x, is_equal(x, index[0], integer(x, (int64_t)j + 1)), array_element(x, e->args[j], index + 1),
                        result);
    return result;
}

static const Expr *call_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *args[2];
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!(args[k] = array_element(x, e->args[k], e->args[k]->type.rank ? index : NULL)))
            return NULL;
    if (e->op == OP_REAL)
        return expr_to_real(x->pool, args[0]);
    return e->is_literal ? expr_literal_relation(x->pool, (Op)e->op, args[0], args[1])
                         : expr_call(x->pool, (Op)e->op, e->n_args, args);
}

static const Expr *if_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *condition = array_element(x, e->args[0], NULL), *then = array_element(x, e->args[1], index),
               *otherwise = array_element(x, e->args[2], index);
    return condition && then && otherwise ? expr_if(x->pool, condition, then, otherwise) : NULL;
}

const Expr *array_call(Arrays *x, const Expr *e)
{
    const Function *f = e->u.function;
    const Expr **args = NEW_ARRAY(x->c->scratch, const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++) {
        const Expr *arg = e->args[k];
        const bool is_whole = arg->kind == EXPR_LEAF && !arg->n_args;
        args[k] = arg->type.rank == 0 ? array_element(x, arg, NULL) : is_whole ? arg : array_braces(x, arg);
        if (!args[k])
            return NULL;
        const uint64_t wanted = arg->type.rank ? function_field_count(f, k) : 0;
        Extents own, must = { f->body->variables.at[k].type.rank, { 0 } };
        if (!wanted || must.rank > ARRAY_RANK)
            continue;
        for (uint32_t d = 0; d < must.rank; d++)
            must.at[d] = f->body->dims.at[f->body->variables.at[k].first_dim + d].term.shape;
        if (!array_extents(x, arg, &own) || !arrays_agree(x, &own, &must,
                                                          arena_format(x->c->scratch, "argument %u of %s and its input",
                                                                       k + 1, names_of(pool_names(x->pool), f->name))))
            return NULL;
    }
    return expr_with_args(x->pool, e, args);
}

/* An element of what a call gives has a number in the order of rows. */
static const Expr *result_at(Arrays *x, const Expr *e, const Expr *const *index)
{
    const Expr *call = array_call(x, e);
    Extents own;
    int64_t number = 0, i, n;
    if (!call || e->type.rank == 0)
        return call;
    if (!array_extents(x, e, &own))
        return NULL;
    for (uint32_t k = 0; k < own.rank; k++) {
        if (!array_number(index[k], &i) || !array_number(own.at[k], &n)) {
            arrays_fail(x, DIAG_NOT_YET,
                        "an array that a function gives inside such an expression cannot be executed "
                        "yet: give it a name");
            return NULL;
        }
        number = number * n + i - 1;
    }
    Type scalar = e->type;
    scalar.rank = 0;
    return expr_function_element(x->pool, call, (uint32_t)number, scalar);
}

/* Of a table, or an operation on texts: all arguments are scalars. */
static const Expr *args_at(Arrays *x, const Expr *e)
{
    const Expr *args[3];
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!(args[k] = array_element(x, e->args[k], NULL)))
            return NULL;
    return expr_with_args(x->pool, e, args);
}

const Expr *array_element(Arrays *x, const Expr *e, const Expr *const *index)
{
    if (x->has_failed)
        return NULL;
    if (!e->has_whole && !e->has_index && e->type.rank == 0 && !e->has_call)
        return e;
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: return leaf_at(x, e, index);
    case EXPR_ITERATOR: return e->u.iterator < ARRAY_LEVELS && x->loop[e->u.iterator] ? x->loop[e->u.iterator] : e;
    case EXPR_CALL: return call_at(x, e, index);
    case EXPR_TABLE:
    case EXPR_TEXT: return args_at(x, e);
    case EXPR_IF: return if_at(x, e, index);
    case EXPR_REDUCE: return reduction_at(x, e);
    case EXPR_ARRAY: return braces_at(x, e, index);
    case EXPR_FUNCTION: return result_at(x, e, index);
    case EXPR_RANGE: return value_in_range(x, e->args, index[0]);
    case EXPR_EACH: return each_at(x, e, index);
    case EXPR_WHOLE: return whole_at(x, e, index);
    case EXPR_REAL:
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
    case EXPR_STRING: return e;
    }
    BUG("unknown ExprKind");
}

/* Rows of rows, from dimension `dim` on. */
static const Expr *braces_from(Arrays *x, const Expr *e, const Extents *extents, uint32_t dim, const Expr **index)
{
    enum { MOST = UINT16_MAX - 1 };
    int64_t n;
    if (dim == extents->rank)
        return array_element(x, e, index);
    if (!array_number(extents->at[dim], &n) || n < 1 || n > MOST) {
        arrays_fail(x, DIAG_TOO_MANY_ELEMENTS,
                    "an array without elements, or with more than %d, cannot be written here", MOST);
        diag_help(x->c->diag, "give it a name: a variable with an equation of its own");
        return NULL;
    }
    const Expr **row = NEW_ARRAY(x->c->scratch, const Expr *, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        index[dim] = integer(x, k + 1);
        if (!(row[k] = braces_from(x, e, extents, dim + 1, index)))
            return NULL;
    }
    return expr_array(x->pool, (uint32_t)n, row);
}

const Expr *array_braces(Arrays *x, const Expr *e)
{
    Extents extents;
    const Expr *index[ARRAY_RANK];
    return array_extents(x, e, &extents) ? braces_from(x, e, &extents, 0, index) : NULL;
}
