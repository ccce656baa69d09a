/* Least sets of unknowns and equations that depend on each other, found by elimination; see dependence.h. */
#include "ir/dependence.h"
#include "graph/null_vector.h"
#include "ir/derive.h"
#include "ir/memo.h"
#include "ir/simplify.h"
#include <math.h>

static const double ROUNDING = 1e-10; /* of the largest member: smaller ones are zero */

static uint64_t key_of(Ref ref)
{
    return (uint64_t)ref.kind << 32 | ref.var.index;
}

static bool find_choice(const Expr *e, Memo *memo)
{
    uint32_t known;
    if (e->n_args == 0)
        return false;
    if (memo_get(memo, e, &known))
        return known;
    bool has = e->kind == EXPR_IF;
    for (uint32_t k = 0; k < e->n_args && !has; k++)
        has = find_choice(e->args[k], memo);
    memo_put(memo, e, has);
    return has;
}

static bool has_choice(const Expr *e)
{
    Memo memo;
    memo_begin(&memo, NULL);
    const bool has = find_choice(e, &memo);
    memo_end(&memo);
    return has;
}

uint32_t row_derivatives(const ValueSource *source, const SystemRow *row, const Map *columns, Arena *arena, double *to,
                         uint32_t *used)
{
    Model *m = source->model;
    TermBuilder builder = term_builder(m);
    const Expr *left = term_import(&builder, row->lhs), *right = term_import(&builder, row->rhs);
    const Expr *e = expr_simplify(m->pool, expr_binary(m->pool, OP_SUB, left, right));
    const uint32_t n_leaves = builder.refs.n;
    Value *leaves = NEW_ARRAY(arena, Value, n_leaves + 1);
    bool *is_wanted = NEW_ARRAY(arena, bool, n_leaves + 1);
    uint32_t *column = NEW_ARRAY(arena, uint32_t, n_leaves + 1), n = 0;
    for (uint32_t k = 0; k < n_leaves; k++) {
        leaves[k] = source->value(source->context, builder.refs.at[k]);
        is_wanted[k] = map_get(columns, key_of(builder.refs.at[k]), &column[k]);
        if (is_wanted[k] && e->has_index) {
            to[column[k]] = NAN;
            used[n++] = column[k];
        }
    }
    if (e->has_index)
        return n;
    const Gradient gradient = expr_gradient(m->pool, e, is_wanted, arena);
    for (uint32_t k = 0; k < gradient.n; k++) {
        const Partial *partial = &gradient.at[k];
        Value result = { .r = NAN };
        if (!partial->derivative || !expr_evaluate(partial->derivative, leaves, NULL, &result))
            result.r = NAN;
        to[column[partial->leaf]] += result.r;
        used[n++] = column[partial->leaf];
    }
    return n;
}

/* Whether the derivatives of a row can be looked at; in general also: they do not depend on a choice. */
static bool is_plain(const SystemRow *row, bool is_general)
{
    const Expr *const sides[] = { row->lhs.shape, row->rhs.shape };
    for (int k = 0; k < 2; k++)
        if (sides[k]->has_index || sides[k]->has_call || (is_general && has_choice(sides[k])))
            return false;
    return true;
}

static uint32_t list_members(const double *x, uint32_t n, Arena *arena, uint32_t **list)
{
    uint32_t count = 0;
    double most = 0;
    *list = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    for (uint32_t k = 0; k < n; k++)
        if (fabs(x[k]) > ROUNDING * most)
            (*list)[count++] = k;
    return count;
}

/* The derivatives of all rows; false: they cannot be looked at. */
static bool fill_rows(const ValueSource *source, const SystemRow *rows, uint32_t n, Arena *arena, SparseRow *to,
                      SparseRow *transposed)
{
    double *line = NEW_ARRAY(arena, double, n);
    uint32_t *used = NEW_ARRAY(arena, uint32_t, n);
    Map columns;
    map_init(&columns, arena, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&columns, key_of(rows[k].unknown), k);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_plain(&rows[k], source->is_general))
            return false;
        const uint32_t n_used = row_derivatives(source, &rows[k], &columns, arena, line, used);
        for (uint32_t j = 0; j < n_used; j++) {
            const SparseEntry cell = { used[j], line[used[j]] }, other = { k, line[used[j]] };
            line[used[j]] = 0;
            if (!isfinite(cell.value))
                return false;
            if (cell.value == 0) /* or it was put there already */
                continue;
            vec_push(arena, &to[k], cell);
            vec_push(arena, &transposed[cell.column], other);
        }
    }
    return true;
}

bool find_dependence(const ValueSource *source, const SystemRow *rows, uint32_t n, Arena *arena, Dependence *found)
{
    if (n == 0 || n > DEPENDENCE_MOST)
        return false;
    SparseRow *a = NEW_ARRAY(arena, SparseRow, n), *b = NEW_ARRAY(arena, SparseRow, n);
    double *x = NEW_ARRAY(arena, double, n);
    if (!fill_rows(source, rows, n, arena, a, b) || !find_null_vector(n, a, arena, x))
        return false;
    found->n_unknowns = list_members(x, n, arena, &found->unknowns);
    if (!find_null_vector(n, b, arena, x))
        return false;
    found->n_equations = list_members(x, n, arena, &found->equations);
    return true;
}
