#include "ir/dependence.h"
#include "ir/derive.h"
#include "ir/memo.h"
#include <math.h>

static const double ROUNDING = 1e-10; /* of what was there: smaller is zero */

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

uint32_t row_derivatives(Model *m, const SystemRow *row, const Map *columns, Value (*value)(void *context, Ref ref),
                         void *context, Arena *arena, double *to, uint32_t *used)
{
    TermBuilder builder = term_builder(m);
    const Expr *e = expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
    Value *leaves = NEW_ARRAY(arena, Value, builder.refs.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < builder.refs.n; k++)
        leaves[k] = value(context, builder.refs.at[k]);
    for (uint32_t k = 0; k < builder.refs.n; k++) {
        uint32_t column;
        Value result = { .r = NAN };
        if (!map_get(columns, key_of(builder.refs.at[k]), &column))
            continue;
        const Expr *d = e->has_index ? NULL : expr_derive(m->pool, e, expr_leaf(m->pool, k, REAL_TYPE));
        if (!d || !expr_evaluate(d, leaves, NULL, &result))
            result.r = NAN;
        to[column] += result.r;
        used[n++] = column;
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

/* A vector x with a*x = 0, by elimination with full pivoting; a is by rows, and lost. False: there is none. The members of x
 * that are not 0 are a least set, because the columns of the pivots are independent. */
static bool null_vector(uint32_t n, double *a, uint32_t *order, double *x)
{
    for (uint32_t k = 0; k < n; k++) {
        double largest = 0; /* rows of very different size, as conductances and voltages */
        for (uint32_t j = 0; j < n; j++)
            largest = fmax(largest, fabs(a[k * n + j]));
        for (uint32_t j = 0; j < n && largest > 0; j++)
            a[k * n + j] /= largest;
        order[k] = k;
    }
    uint32_t rank = 0;
    for (; rank < n; rank++) {
        uint32_t row = rank, column = rank;
        for (uint32_t i = rank; i < n; i++)
            for (uint32_t j = rank; j < n; j++)
                if (fabs(a[i * n + j]) > fabs(a[row * n + column])) {
                    row = i;
                    column = j;
                }
        if (!(fabs(a[row * n + column]) > ROUNDING))
            break;
        for (uint32_t j = 0; j < n; j++) {
            const double t = a[rank * n + j];
            a[rank * n + j] = a[row * n + j];
            a[row * n + j] = t;
        }
        for (uint32_t i = 0; i < n; i++) {
            const double t = a[i * n + rank];
            a[i * n + rank] = a[i * n + column];
            a[i * n + column] = t;
        }
        const uint32_t t = order[rank];
        order[rank] = order[column];
        order[column] = t;
        for (uint32_t i = rank + 1; i < n; i++) {
            const double factor = a[i * n + rank] / a[rank * n + rank];
            for (uint32_t j = rank; factor != 0 && j < n; j++)
                a[i * n + j] -= factor * a[rank * n + j];
        }
    }
    if (rank == n)
        return false;
    for (uint32_t k = 0; k < n; k++)
        x[order[k]] = 0;
    x[order[rank]] = 1;
    for (uint32_t i = rank; i-- > 0;) {
        double sum = a[i * n + rank];
        for (uint32_t j = i + 1; j < rank; j++)
            sum += a[i * n + j] * x[order[j]];
        x[order[i]] = fabs(sum) > ROUNDING ? -sum / a[i * n + i] : 0;
    }
    return true;
}

static uint32_t list_members(const double *x, uint32_t n, Arena *arena, uint32_t **list)
{
    uint32_t count = 0;
    *list = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        if (fabs(x[k]) > ROUNDING)
            (*list)[count++] = k;
    return count;
}

bool find_dependence(Model *model, const SystemRow *rows, uint32_t n, bool is_general,
                     Value (*value)(void *context, Ref ref), void *context, Arena *arena, Dependence *found)
{
    if (n == 0 || n > DEPENDENCE_MOST)
        return false;
    double *a = NEW_ARRAY(arena, double, (size_t)n *n), *b = NEW_ARRAY(arena, double, (size_t)n *n);
    double *x = NEW_ARRAY(arena, double, n);
    uint32_t *order = NEW_ARRAY(arena, uint32_t, n);
    Map columns;
    map_init(&columns, arena, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&columns, key_of(rows[k].unknown), k);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_plain(&rows[k], is_general))
            return false;
        const uint32_t n_used =
            row_derivatives(model, &rows[k], &columns, value, context, arena, a + (size_t)k * n, order);
        for (uint32_t j = 0; j < n_used; j++)
            if (!isfinite(a[(size_t)k * n + order[j]]))
                return false;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];
    if (!null_vector(n, a, order, x))
        return false;
    found->n_unknowns = list_members(x, n, arena, &found->unknowns);
    if (!null_vector(n, b, order, x))
        return false;
    found->n_equations = list_members(x, n, arena, &found->equations);
    return true;
}
