/* Where the elements of an array are written in different ways; see arrays.h. Elements in braces, and results of calls,
 * go one by one; parts of cat(...) as pieces. */
#include "base/bug.h"
#include "passes/lower/arrays.h"

enum { FEW = 8 }; /* a larger identity(n) is written with a comparison of the loop variables instead */

static void cut(Arrays *x, Cuts *cuts, int64_t at)
{
    vec_push(x->c->scratch, &cuts->at, at);
}

static void cut_all(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    Extents extents;
    int64_t n;
    if (!array_extents(x, e, &extents) || !array_number(extents.at[dim], &n))
        return;
    for (int64_t k = 1; k < n; k++)
        cut(x, cuts, offset + k);
}

/* An index that is a vector. */
static void cut_leaf(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    for (uint32_t k = 0, at = 0; k < e->n_args; k++)
        if (e->args[k]->type.rank && at++ == dim && e->args[k]->kind != EXPR_RANGE)
            array_cuts(x, e->args[k], 0, offset, cuts);
}

static void cut_args(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->type.rank)
            array_cuts(x, e->args[k], dim, offset, cuts);
}

static void cut_each(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    const uint32_t level = e->u.iterator;
    if (dim == 0 || level >= ARRAY_LEVELS)
        return;
    const Expr *before = x->loop[level];
    x->loop[level] = arrays_enter(x, 1, 0);
    if (x->loop[level]) {
        array_cuts(x, e->args[0], dim - 1, offset, cuts);
        arrays_leave(x);
    }
    x->loop[level] = before;
}

static void cut_product(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    const Expr *a = e->args[0], *b = e->args[1];
    if (a->type.rank == 2 && dim == 0)
        array_cuts(x, a, 0, offset, cuts);
    else
        array_cuts(x, b, b->type.rank - 1u, offset, cuts);
}

static void cut_cat(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    const bool is_along = dim == (uint32_t)e->args[0]->u.integer - 1;
    for (uint32_t k = 1; k < e->n_args; k++) {
        Extents own = { 0 };
        if (e->args[k]->type.rank && !array_extents(x, e->args[k], &own))
            return;
        if (dim < own.rank)
            array_cuts(x, e->args[k], dim, offset, cuts);
        int64_t n = 1;
        if (!is_along)
            continue;
        if (dim < own.rank && !array_number(own.at[dim], &n))
            return;
        offset += n;
        cut(x, cuts, offset);
    }
}

/* The dimension of the argument that becomes a vector. */
static uint32_t long_dimension(const Extents *a)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->at[k]->kind != EXPR_INTEGER || a->at[k]->u.integer != 1)
            found = k;
    return found;
}

static void cut_form(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    Extents a = { 0 };
    if (!e->args[0]->type.rank || !array_extents(x, e->args[0], &a))
        return;
    if (e->op == WHOLE_VECTOR)
        dim = long_dimension(&a);
    if (dim < a.rank)
        array_cuts(x, e->args[0], dim, offset, cuts);
}

static void cut_whole(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    Extents own;
    int64_t n;
    switch ((WholeOp)e->op) {
    case WHOLE_PRODUCT: cut_product(x, e, dim, offset, cuts); return;
    case WHOLE_TRANSPOSE: array_cuts(x, e->args[0], 1 - dim, offset, cuts); return;
    case WHOLE_OUTER: array_cuts(x, e->args[dim], 0, offset, cuts); return;
    case WHOLE_SYMMETRIC:
    case WHOLE_CROSS:
    case WHOLE_SKEW:
    case WHOLE_SIZE: cut_all(x, e, dim, offset, cuts); return;
    case WHOLE_IDENTITY:
    case WHOLE_DIAGONAL:
        if (array_extents(x, e, &own) && array_number(own.at[0], &n) && n <= FEW)
            cut_all(x, e, dim, offset, cuts);
        else if (e->op == WHOLE_DIAGONAL)
            array_cuts(x, e->args[0], 0, offset, cuts);
        return;
    case WHOLE_VECTOR:
    case WHOLE_MATRIX: cut_form(x, e, dim, offset, cuts); return;
    case WHOLE_CAT: cut_cat(x, e, dim, offset, cuts); return;
    case WHOLE_ZEROS:
    case WHOLE_ONES:
    case WHOLE_FILL:
    case WHOLE_LINSPACE:
    case WHOLE_SUM:
    case WHOLE_PROD:
    case WHOLE_LEAST:
    case WHOLE_LARGEST:
    case WHOLE_ALL:
    case WHOLE_ANY:
    case WHOLE_SCALAR:
    case WHOLE_COUNT: return;
    }
}

void array_cuts(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts)
{
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: cut_leaf(x, e, dim, offset, cuts); return;
    case EXPR_CALL:
    case EXPR_IF: cut_args(x, e, dim, offset, cuts); return;
    case EXPR_ARRAY:
        if (dim == 0)
            cut_all(x, e, 0, offset, cuts);
        else
            cut_args(x, e, dim - 1, offset, cuts);
        return;
    case EXPR_FUNCTION: cut_all(x, e, dim, offset, cuts); return;
    case EXPR_EACH: cut_each(x, e, dim, offset, cuts); return;
    case EXPR_WHOLE: cut_whole(x, e, dim, offset, cuts); return;
    default: return;
    }
}
