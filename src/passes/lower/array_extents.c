/* How large arrays are; see arrays.h. */
#include "base/bug.h"
#include "base/text.h"
#include "ir/simplify.h"
#include "passes/lower/arrays.h"
#include <stdarg.h>

/* ---- loops and messages ---- */
void arrays_begin(Arrays *x, Compile *c, Model *model, DomainId domain, Span span)
{
    const Domain *d = &model->domains.at[domain.index];
    *x = (Arrays){ .c = c, .model = model, .pool = model->pool, .builder = term_builder(model), .span = span };
    for (uint32_t k = 0; k < d->n && !x->has_failed; k++) {
        const Iterator *i = &model->iterators.at[d->first + k];
        const int64_t last = i->first + (i->count - 1) * i->stride;
        const bool is_known = i->count > 0;
        x->loop[k] = arrays_enter(x, is_known ? (i->stride > 0 ? i->first : last) : 1,
                                  is_known ? (i->stride > 0 ? last : i->first) : 0);
    }
}

const Expr *arrays_enter(Arrays *x, int64_t lo, int64_t hi)
{
    if (x->n_levels == ARRAY_LEVELS) {
        arrays_fail(x, DIAG_NESTED_TOO_DEEP, "more than %d ranges in each other", ARRAY_LEVELS);
        return NULL;
    }
    x->lo[x->n_levels] = lo;
    x->hi[x->n_levels] = hi;
    return expr_iterator(x->pool, x->n_levels++);
}

void arrays_leave(Arrays *x)
{
    x->n_levels--;
}

void arrays_fail(Arrays *x, DiagCode code, const char *format, ...)
{
    va_list args;
    if (x->has_failed)
        return;
    x->has_failed = true;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(x->c->diag, code, x->span, "%s", text);
}

/* ---- numbers ---- */
bool array_number(const Expr *e, int64_t *value)
{
    *value = e->u.integer;
    return e->kind == EXPR_INTEGER;
}

typedef struct {
    int64_t constant, factor[ARRAY_LEVELS];
} Affine;

static bool is_constant(const Affine *a)
{
    for (uint32_t k = 0; k < ARRAY_LEVELS; k++)
        if (a->factor[k])
            return false;
    return true;
}

/* What it is in the loop variables; numbers that large are no indices. */
static bool affine(const Expr *e, Affine *out)
{
    enum { LARGEST = 1 << 30 };
    Affine a, b = { 0 };
    *out = (Affine){ 0 };
    if (e->kind == EXPR_INTEGER) {
        out->constant = e->u.integer;
        return e->u.integer > -LARGEST && e->u.integer < LARGEST;
    }
    if (e->kind == EXPR_ITERATOR && e->u.iterator < ARRAY_LEVELS) {
        out->factor[e->u.iterator] = 1;
        return true;
    }
    if (e->kind != EXPR_CALL || !affine(e->args[0], &a) || (e->n_args == 2 && !affine(e->args[1], &b)))
        return false;
    int64_t by_a = 1, by_b = e->op == OP_SUB ? -1 : 1;
    if (e->op == OP_NEG)
        by_a = -1;
    else if (e->op == OP_MUL && is_constant(&a)) {
        by_a = 0;
        by_b = a.constant;
    } else if (e->op == OP_MUL && is_constant(&b)) {
        by_a = b.constant;
        by_b = 0;
    } else if (e->op != OP_ADD && e->op != OP_SUB)
        return false;
    out->constant = by_a * a.constant + by_b * b.constant;
    bool is_small = out->constant > -LARGEST && out->constant < LARGEST;
    for (uint32_t k = 0; k < ARRAY_LEVELS; k++) {
        out->factor[k] = by_a * a.factor[k] + by_b * b.factor[k];
        is_small &= out->factor[k] > -LARGEST && out->factor[k] < LARGEST;
    }
    return is_small;
}

bool array_bounds(const Arrays *x, const Expr *e, int64_t *lo, int64_t *hi)
{
    Affine a;
    if (!affine(e, &a))
        return false;
    *lo = *hi = a.constant;
    for (uint32_t k = 0; k < ARRAY_LEVELS; k++) {
        if (!a.factor[k])
            continue;
        if (k >= x->n_levels || x->lo[k] > x->hi[k])
            return false;
        *lo += a.factor[k] * (a.factor[k] > 0 ? x->lo[k] : x->hi[k]);
        *hi += a.factor[k] * (a.factor[k] > 0 ? x->hi[k] : x->lo[k]);
    }
    return true;
}

const Expr *array_index(Arrays *x, const Expr *a, const Expr *factor, const Expr *b)
{
    int64_t one, begin;
    const Expr *product = array_number(factor, &one) && one == 1 ? a : expr_binary(x->pool, OP_MUL, a, factor);
    if (array_number(b, &begin) && begin == 0)
        return expr_simplify(x->pool, product);
    if (b->kind == EXPR_INTEGER && begin < 0 && begin > INT64_MIN)
        return expr_simplify(x->pool, expr_binary(x->pool, OP_SUB, product, expr_integer(x->pool, -begin)));
    return expr_simplify(x->pool, expr_binary(x->pool, OP_ADD, product, b));
}

static const Expr *integer_at(Arrays *x, const Expr *e)
{
    const Expr *at = array_element(x, e, NULL);
    return at ? expr_simplify(x->pool, at) : NULL;
}

const Expr *array_count(Arrays *x, const Expr *const *range)
{
    const Expr *lo = integer_at(x, range[0]), *step = integer_at(x, range[1]), *hi = integer_at(x, range[2]);
    int64_t by;
    Affine a, b;
    if (!lo || !step || !hi)
        return NULL;
    if (array_number(step, &by) && by == 0) {
        arrays_fail(x, DIAG_SIZE_NEGATIVE, "the step of a range is 0");
        return NULL;
    }
    if (step->kind == EXPR_INTEGER && affine(lo, &a) && affine(hi, &b)) {
        bool is_constant_width = true;
        for (uint32_t k = 0; k < ARRAY_LEVELS; k++)
            is_constant_width &= a.factor[k] == b.factor[k];
        const int64_t width = b.constant - a.constant;
        if (is_constant_width)
            return expr_integer(x->pool, (by > 0) == (width >= 0) || width == 0 ? width / by + 1 : 0);
    }
    if (!x->is_function) {
        arrays_fail(x, DIAG_SIZE_NOT_CONSTANT, "the size of a range must be known before the run");
        diag_help(x->c->diag, "its begin, step and end may be literals, constants and parameters with values");
        return NULL;
    }
    const Expr *width = expr_binary(x->pool, OP_ADD, expr_binary(x->pool, OP_SUB, hi, lo), step);
    const Expr *count = expr_binary(x->pool, OP_IDIV, width, step); /* it is rounded toward 0 */
    return expr_simplify(x->pool, expr_binary(x->pool, OP_MAX, count, expr_integer(x->pool, 0)));
}

/* ---- agreement ---- */
static const char *extents_text(const Arrays *x, const Extents *e)
{
    Text text = { .arena = x->c->scratch };
    text_add(&text, "[");
    for (uint32_t k = 0; k < e->rank; k++) {
        text_add(&text, k ? ", " : "");
        if (e->at[k]->kind == EXPR_INTEGER)
            text_format(&text, "%lld", (long long)e->at[k]->u.integer);
        else
            text_add(&text, expr_text(x->model, e->at[k], x->builder.refs.at, x->c->scratch));
    }
    text_add(&text, "]");
    return text.at;
}

bool arrays_agree(Arrays *x, const Extents *a, const Extents *b, const char *what)
{
    bool agree = a->rank == b->rank;
    for (uint32_t k = 0; k < a->rank && agree; k++)
        agree = a->at[k] == b->at[k] || a->at[k]->kind != EXPR_INTEGER || b->at[k]->kind != EXPR_INTEGER;
    if (!agree) {
        arrays_fail(x, DIAG_ARRAY_SIZES, "the sizes of %s do not agree: %s and %s", what, extents_text(x, a),
                    extents_text(x, b));
        diag_help(x->c->diag, "arrays that are added, compared or assigned as a whole have the same sizes");
    }
    for (uint32_t k = 0; k < a->rank && agree && x->check; k++)
        if (a->at[k] != b->at[k])
            x->check(x, a->at[k], b->at[k],
                     arena_format(x->c->scratch, "the sizes of %s do not agree: %s and %s", what, extents_text(x, a),
                                  extents_text(x, b)));
    return agree;
}

/* ---- extents of each kind ---- */
static bool extents_of_variable(Arrays *x, const Expr *leaf, Extents *out)
{
    const Ref ref = x->builder.refs.at[leaf->u.leaf];
    if (!ref_is_of_variable(ref))
        return true;
    const Variable *v = model_var(x->model, ref.var);
    out->rank = v->type.rank;
    if (v->type.rank > ARRAY_RANK) {
        arrays_fail(x, DIAG_NOT_YET, "an operation on an array of more than %d dimensions cannot be executed yet",
                    ARRAY_RANK);
        return false;
    }
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Dim *dim = &x->model->dims.at[v->first_dim + k];
        if (dim->extent >= 0)
            out->at[k] = expr_integer(x->pool, dim->extent);
        else if (dim->term.shape && dim->term.shape->kind == EXPR_INTEGER)
            out->at[k] = dim->term.shape;
        else {
            const Expr *whole = expr_leaf(x->pool, leaf->u.leaf, v->type);
            const Expr *const args[] = { whole, expr_integer(x->pool, (int64_t)k + 1) };
            out->at[k] = expr_whole(x->pool, WHOLE_SIZE, 2, args);
        }
    }
    return true;
}

/* Literal bounds of a slice lie in the array. */
static bool check_slice(Arrays *x, const Expr *leaf, const Expr *range, const Expr *extent)
{
    int64_t lo, hi, step, last;
    const Expr *count = array_count(x, range->args);
    if (!count)
        return false;
    if (extent->kind != EXPR_INTEGER || count->kind != EXPR_INTEGER || count->u.integer == 0 ||
        !array_number(integer_at(x, range->args[0]), &lo) || !array_number(integer_at(x, range->args[1]), &step))
        return true;
    last = lo + (count->u.integer - 1) * step;
    hi = last > lo ? last : lo;
    lo = last < lo ? last : lo;
    if (lo >= 1 && hi <= extent->u.integer)
        return true;
    const Ref ref = x->builder.refs.at[leaf->u.leaf];
    arrays_fail(x, DIAG_INDEX_RANGE, "index %lld of '%s' is outside 1 to %lld", (long long)(lo < 1 ? lo : hi),
                variable_path(x->model, ref.var, x->c->scratch), (long long)extent->u.integer);
    return false;
}

static bool extents_of_leaf(Arrays *x, const Expr *e, Extents *out)
{
    Extents all = { 0 };
    if (!extents_of_variable(x, e, &all))
        return false;
    if (e->n_args == 0) {
        *out = all;
        return true;
    }
    for (uint32_t k = 0; k < e->n_args; k++) {
        const Expr *index = e->args[k];
        Extents own;
        if (index->type.rank == 0)
            continue;
        if (index->kind == EXPR_RANGE && index->n_args == 0) {
            out->at[out->rank++] = all.at[k];
            continue;
        }
        if ((index->kind == EXPR_RANGE && !check_slice(x, e, index, all.at[k])) || !array_extents(x, index, &own))
            return false;
        out->at[out->rank++] = own.at[0];
    }
    return true;
}

/* Of those that are arrays all have one size. */
static bool extents_of_some(Arrays *x, uint32_t n, const Expr *const *args, const char *what, Extents *out)
{
    for (uint32_t k = 0; k < n; k++) {
        Extents own;
        if (args[k]->type.rank == 0)
            continue;
        if (!array_extents(x, args[k], &own) || (out->rank && !arrays_agree(x, out, &own, what)))
            return false;
        if (!out->rank || out->at[0]->kind != EXPR_INTEGER)
            *out = own;
    }
    return true;
}

static bool push_front(Arrays *x, const Expr *extent, Extents *out)
{
    if (!extent || out->rank == ARRAY_RANK) {
        arrays_fail(x, DIAG_NOT_YET, "an array of more than %d dimensions cannot be executed yet", ARRAY_RANK);
        return false;
    }
    memmove(out->at + 1, out->at, out->rank * sizeof *out->at);
    out->at[0] = extent;
    out->rank++;
    return true;
}

static bool extents_of_braces(Arrays *x, const Expr *e, Extents *out)
{
    if (e->type.rank > 1 && !extents_of_some(x, e->n_args, e->args, "rows in braces", out))
        return false;
    return push_front(x, expr_integer(x->pool, e->n_args), out);
}

static bool extents_of_each(Arrays *x, const Expr *e, Extents *out)
{
    const uint32_t level = e->u.iterator;
    const Expr *count = array_count(x, e->args + 1);
    if (!count)
        return false;
    if (level >= ARRAY_LEVELS) {
        arrays_fail(x, DIAG_NESTED_TOO_DEEP, "more than %d ranges in each other", ARRAY_LEVELS);
        return false;
    }
    const Expr *before = x->loop[level];
    x->loop[level] = arrays_enter(x, 1, 0);
    const bool is_good = x->loop[level] && (e->type.rank == 1 || array_extents(x, e->args[0], out));
    if (x->loop[level])
        arrays_leave(x);
    x->loop[level] = before;
    return is_good && push_front(x, count, out);
}

static bool extents_of_call(Arrays *x, const Expr *e, Extents *out)
{
    const Model *body = e->u.function->body;
    const Variable *v = &body->variables.at[e->u.function->n_inputs + e->result];
    if (v->type.rank > ARRAY_RANK)
        return push_front(x, NULL, out);
    out->rank = v->type.rank;
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Expr *extent = body->dims.at[v->first_dim + k].term.shape;
        if (!extent || extent->kind != EXPR_INTEGER) {
            arrays_fail(x, DIAG_NOT_YET, "a result whose size depends on arguments cannot be executed yet");
            return false;
        }
        out->at[k] = extent;
    }
    return true;
}

/* ---- operations ---- */
static bool extents_of_product(Arrays *x, const Extents *a, const Extents *b, Extents *out)
{
    const Extents inner_a = { 1, { a->at[a->rank - 1] } }, inner_b = { 1, { b->at[0] } };
    if (inner_a.at[0] != inner_b.at[0] && inner_a.at[0]->kind == EXPR_INTEGER && inner_b.at[0]->kind == EXPR_INTEGER)
        return arrays_agree(x, a, b, "the operands of a product") && arrays_agree(x, &inner_a, &inner_b, "a product");
    if (!arrays_agree(x, &inner_a, &inner_b, "a product"))
        return false;
    for (uint32_t k = 0; k + 1 < a->rank; k++)
        out->at[out->rank++] = a->at[k];
    for (uint32_t k = 1; k < b->rank; k++)
        out->at[out->rank++] = b->at[k];
    return true;
}

static bool want_extent(Arrays *x, const Expr *extent, int64_t wanted, const char *what)
{
    const Extents is = { 1, { extent } }, must = { 1, { expr_integer(x->pool, wanted) } };
    return arrays_agree(x, &is, &must, what);
}

/* The sizes that are arguments k, k + 1 ... */
static bool extents_of_sizes(Arrays *x, const Expr *e, uint32_t k, Extents *out)
{
    for (; k < e->n_args; k++) {
        const Expr *size = integer_at(x, e->args[k]);
        int64_t n;
        if (!size)
            return false;
        if (array_number(size, &n) && n < 0) {
            arrays_fail(x, DIAG_SIZE_NEGATIVE, "the size %lld of an array is negative", (long long)n);
            return false;
        }
        if (size->kind != EXPR_INTEGER && !x->is_function) {
            arrays_fail(x, DIAG_SIZE_NOT_CONSTANT, "the size of an array must be known before the run");
            diag_help(x->c->diag, "use a literal, a constant or a parameter with a value");
            return false;
        }
        out->at[out->rank++] = size;
    }
    return true;
}

/* All but one dimension are 1. */
static bool extents_of_vector(Arrays *x, const Extents *a, Extents *out)
{
    out->rank = 1;
    out->at[0] = expr_integer(x->pool, 1);
    uint32_t n_long = 0;
    for (uint32_t k = 0; k < a->rank; k++) {
        if (a->at[k]->kind == EXPR_INTEGER && a->at[k]->u.integer == 1)
            continue;
        out->at[0] = a->at[k];
        n_long++;
    }
    if (n_long > 1)
        arrays_fail(x, DIAG_ARRAY_SIZES, "vector of an array of the size %s: only one dimension may be other than 1",
                    extents_text(x, a));
    return n_long <= 1;
}

static bool extents_of_matrix(Arrays *x, const Extents *a, Extents *out)
{
    const Expr *one = expr_integer(x->pool, 1);
    *out = (Extents){ 2, { a->rank > 0 ? a->at[0] : one, a->rank > 1 ? a->at[1] : one } };
    for (uint32_t k = 2; k < a->rank; k++)
        if (!want_extent(x, a->at[k], 1, "the further dimensions of matrix(...)"))
            return false;
    return true;
}

static bool extents_of_cat(Arrays *x, const Expr *e, Extents *out)
{
    const uint32_t along = (uint32_t)e->args[0]->u.integer - 1, rank = e->type.rank;
    for (uint32_t k = 1; k < e->n_args; k++) {
        Extents own = { 0 };
        if (e->args[k]->type.rank && !array_extents(x, e->args[k], &own))
            return false;
        while (own.rank < rank)
            own.at[own.rank++] = expr_integer(x->pool, 1);
        if (k == 1) {
            *out = own;
            continue;
        }
        const Expr *sum = array_index(x, out->at[along], expr_integer(x->pool, 1), own.at[along]);
        own.at[along] = out->at[along];
        if (!arrays_agree(x, out, &own, "the arguments of cat"))
            return false;
        out->at[along] = sum;
    }
    return true;
}

static bool extents_of_whole(Arrays *x, const Expr *e, Extents *out)
{
    Extents a = { 0 }, b = { 0 };
    const Expr *const *args = e->args;
    switch ((WholeOp)e->op) {
    case WHOLE_IDENTITY:
        if (!extents_of_sizes(x, e, 0, out))
            return false;
        out->at[out->rank++] = out->at[0];
        return true;
    case WHOLE_ZEROS:
    case WHOLE_ONES: return extents_of_sizes(x, e, 0, out);
    case WHOLE_FILL: return extents_of_sizes(x, e, 1, out);
    case WHOLE_LINSPACE: return extents_of_sizes(x, e, 2, out);
    case WHOLE_CAT: return extents_of_cat(x, e, out);
    default: break;
    }
    if ((args[0]->type.rank && !array_extents(x, args[0], &a)) ||
        (e->n_args > 1 && args[1]->type.rank && !array_extents(x, args[1], &b)))
        return false;
    switch ((WholeOp)e->op) {
    case WHOLE_PRODUCT: return extents_of_product(x, &a, &b, out);
    case WHOLE_TRANSPOSE: *out = (Extents){ 2, { a.at[1], a.at[0] } }; return true;
    case WHOLE_SYMMETRIC: {
        const Extents rows = { 1, { a.at[0] } }, columns = { 1, { a.at[1] } };
        *out = a;
        return arrays_agree(x, &rows, &columns, "the matrix of symmetric(...)");
    }
    case WHOLE_CROSS:
        *out = (Extents){ 1, { expr_integer(x->pool, 3) } };
        return arrays_agree(x, &a, &b, "the vectors of cross(...)") && want_extent(x, a.at[0], 3, "cross(...)");
    case WHOLE_SKEW:
        *out = (Extents){ 2, { expr_integer(x->pool, 3), expr_integer(x->pool, 3) } };
        return want_extent(x, a.at[0], 3, "skew(...)");
    case WHOLE_DIAGONAL: *out = (Extents){ 2, { a.at[0], a.at[0] } }; return true;
    case WHOLE_OUTER: *out = (Extents){ 2, { a.at[0], b.at[0] } }; return true;
    case WHOLE_SIZE: *out = (Extents){ e->n_args == 1, { expr_integer(x->pool, a.rank) } }; return true;
    case WHOLE_VECTOR: return extents_of_vector(x, &a, out);
    case WHOLE_MATRIX: return extents_of_matrix(x, &a, out);
    default: return true; /* a scalar */
    }
}

bool array_extents(Arrays *x, const Expr *e, Extents *out)
{
    *out = (Extents){ 0 };
    if (e->type.rank == 0)
        return true;
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: return extents_of_leaf(x, e, out);
    case EXPR_CALL: return extents_of_some(x, e->n_args, e->args, op_text((Op)e->op), out);
    case EXPR_IF: return extents_of_some(x, 2, e->args + 1, "the branches of if", out);
    case EXPR_ARRAY: return extents_of_braces(x, e, out);
    case EXPR_FUNCTION: return extents_of_call(x, e, out);
    case EXPR_RANGE: out->rank = 1; return (out->at[0] = array_count(x, e->args)) != NULL;
    case EXPR_EACH: return extents_of_each(x, e, out);
    case EXPR_WHOLE: return extents_of_whole(x, e, out);
    default: BUG("no array");
    }
}
