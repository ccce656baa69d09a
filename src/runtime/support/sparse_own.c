/* Sparse factors by a left-looking method of our own; see sparse.h.
 *
 * One column after the other: where its entries of L and U stand follows from a search in the columns of L that were
 * made before (J. R. Gilbert, T. Peierls, "Sparse partial pivoting in time proportional to arithmetic operations",
 * 1988). Then it is eliminated by them in rising order, so that the same pivots give the same bits for equal values,
 * whether they were chosen or kept. */
#include "sparse.h"
#include "sparse_order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct SparsePlan {
    int n;
    double tolerance;
    int *order; /* of the columns */
    double *x;  /* the column at work, by rows; zeros between uses */
    int *found; /* what it has entries in: pivots from the begin, rows from the end */
    int *stack, *place, *mark;
};

typedef struct { /* compressed columns */
    int *start, *index;
    double *values;
    int capacity;
} Triangle;

struct SparseFactors {
    int n;
    Triangle lower;        /* rows of the matrix; the diagonal, 1, is left out */
    Triangle upper;        /* numbers of pivots, rising; the diagonal is in `pivot` */
    double *pivot, *scale; /* by number of the pivot, as SparsePivots has them */
    double *size;          /* by row: the largest number in it */
    int *row, *number;     /* row of each pivot; pivot of each row, -1: none yet */
};

/* ---- plans ---- */
static void forget_plan(SparsePlan *plan)
{
    if (!plan)
        return;
    free(plan->order);
    free(plan->x);
    free(plan);
}

static SparsePlan *make_plan(const SparseMatrix *a, double tolerance)
{
    const size_t n = (size_t)a->n;
    SparsePlan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->n = a->n;
    plan->tolerance = tolerance;
    plan->x = calloc(n + 1, sizeof *plan->x);
    plan->order = malloc((5 * n + 1) * sizeof *plan->order);
    if (!plan->x || !plan->order || !koine_sparse_order(a, plan->order)) {
        forget_plan(plan);
        return NULL;
    }
    plan->found = plan->order + n;
    plan->stack = plan->found + n;
    plan->place = plan->stack + n;
    plan->mark = plan->place + n;
    return plan;
}

/* ---- factors ---- */
static void forget(SparsePlan *plan, SparseFactors *f)
{
    (void)plan;
    if (!f)
        return;
    free(f->lower.start);
    free(f->lower.index);
    free(f->lower.values);
    free(f->upper.start);
    free(f->upper.index);
    free(f->upper.values);
    free(f->pivot);
    free(f->row);
    free(f);
}

/* Room for n entries behind the first `used`. */
static bool reserve(Triangle *t, int used, int n)
{
    if (t->index && used + n <= t->capacity)
        return true;
    const int capacity = 2 * used + n;
    int *index = realloc(t->index, ((size_t)capacity + 1) * sizeof *index);
    t->index = index ? index : t->index;
    double *values = index ? realloc(t->values, ((size_t)capacity + 1) * sizeof *values) : NULL;
    t->values = values ? values : t->values;
    t->capacity = values ? capacity : t->capacity;
    return values;
}

static SparseFactors *make_factors(const SparseMatrix *a)
{
    const size_t n = (size_t)a->n;
    SparseFactors *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->n = a->n;
    f->lower.start = calloc(n + 1, sizeof *f->lower.start);
    f->upper.start = calloc(n + 1, sizeof *f->upper.start);
    f->pivot = malloc((3 * n + 1) * sizeof *f->pivot);
    f->row = malloc((2 * n + 1) * sizeof *f->row);
    if (f->lower.start && f->upper.start && f->pivot && f->row && reserve(&f->lower, 0, a->start[a->n]) &&
        reserve(&f->upper, 0, a->start[a->n])) {
        f->scale = f->pivot + n;
        f->size = f->scale + n;
        f->number = f->row + n;
        memset(f->number, 0xff, n * sizeof *f->number);
        return f;
    }
    forget(NULL, f);
    return NULL;
}

/* False: a row has nothing in it but zeros, or what is no number. */
static bool find_sizes(SparseFactors *f, const SparseMatrix *a)
{
    bool is_good = true;
    memset(f->size, 0, (size_t)f->n * sizeof *f->size);
    for (int p = 0; p < a->start[a->n]; p++) {
        is_good = is_good && isfinite(a->values[p]);
        f->size[a->index[p]] = fmax(f->size[a->index[p]], fabs(a->values[p]));
    }
    for (int row = 0; row < f->n; row++)
        is_good = is_good && f->size[row] > 0;
    return is_good;
}

static void scatter(const SparsePlan *plan, const SparseFactors *f, const SparseMatrix *a, int column)
{
    for (int p = a->start[column]; p < a->start[column + 1]; p++)
        plan->x[a->index[p]] += a->values[p] / f->size[a->index[p]];
}

/* The rows that are reached from `row` through columns of L; `found` grows from both sides. */
static void search(const SparsePlan *plan, const SparseFactors *f, int column, int row, int found[2])
{
    int depth = 0;
    plan->mark[row] = column;
    plan->stack[0] = row;
    plan->place[0] = f->number[row] < 0 ? 0 : f->lower.start[f->number[row]];
    while (depth >= 0) {
        const int number = f->number[plan->stack[depth]];
        if (number < 0 || plan->place[depth] == f->lower.start[number + 1]) {
            if (number < 0)
                plan->found[--found[1]] = plan->stack[depth];
            else
                plan->found[found[0]++] = number;
            depth--;
            continue;
        }
        const int next = f->lower.index[plan->place[depth]++];
        if (plan->mark[next] == column)
            continue;
        plan->mark[next] = column;
        plan->stack[++depth] = next;
        plan->place[depth] = f->number[next] < 0 ? 0 : f->lower.start[f->number[next]];
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* x := x - u L, for one entry u of the column, which is returned. */
static double eliminate(const SparsePlan *plan, const SparseFactors *f, int number)
{
    const double u = plan->x[f->row[number]];
    plan->x[f->row[number]] = 0;
    for (int p = f->lower.start[number]; p < f->lower.start[number + 1]; p++)
        plan->x[f->lower.index[p]] -= f->lower.values[p] * u;
    return u;
}

/* The diagonal where it is large enough, else the largest; -1: all are 0, or one is no number. */
static int choose_row(const SparsePlan *plan, int column, int first)
{
    double largest = 0;
    int best = -1;
    bool has_diagonal = false;
    for (int k = first; k < plan->n; k++) {
        const double size = fabs(plan->x[plan->found[k]]);
        if (!isfinite(size))
            return -1;
        has_diagonal |= plan->found[k] == column;
        if (size > largest) {
            largest = size;
            best = plan->found[k];
        }
    }
    return best >= 0 && has_diagonal && fabs(plan->x[column]) >= plan->tolerance * largest ? column : best;
}

/* What is below the pivot of column k becomes its column of L, and x is zeros again. */
static void end_column(const SparsePlan *plan, SparseFactors *f, int k)
{
    for (int p = f->lower.start[k]; p < f->lower.start[k + 1]; p++) {
        f->lower.values[p] = plan->x[f->lower.index[p]] / f->pivot[k];
        plan->x[f->lower.index[p]] = 0;
    }
}

static SparseStatus factor_column(const SparsePlan *plan, SparseFactors *f, const SparseMatrix *a, int k)
{
    const int column = plan->order[k];
    int found[2] = { 0, plan->n }, to = f->upper.start[k];
    for (int p = a->start[column]; p < a->start[column + 1]; p++)
        if (plan->mark[a->index[p]] != column)
            search(plan, f, column, a->index[p], found);
    const int below = plan->n - found[1];
    if (!reserve(&f->upper, to, found[0]) || !reserve(&f->lower, f->lower.start[k], below))
        return SPARSE_NO_MEMORY;
    qsort(plan->found, (size_t)found[0], sizeof *plan->found, by_number);
    scatter(plan, f, a, column);
    for (int j = 0; j < found[0]; j++, to++) {
        f->upper.index[to] = plan->found[j];
        f->upper.values[to] = eliminate(plan, f, plan->found[j]);
    }
    f->upper.start[k + 1] = to;
    const int row = choose_row(plan, column, found[1]);
    if (row < 0)
        return SPARSE_SINGULAR;
    f->row[k] = row;
    f->number[row] = k;
    f->scale[k] = f->size[row];
    f->pivot[k] = plan->x[row];
    plan->x[row] = 0;
    to = f->lower.start[k];
    for (int j = found[1]; j < plan->n; j++)
        if (plan->found[j] != row)
            f->lower.index[to++] = plan->found[j];
    f->lower.start[k + 1] = to;
    end_column(plan, f, k);
    return SPARSE_GOOD;
}

static SparseStatus factor(SparsePlan *plan, const SparseMatrix *a, SparseFactors **factors)
{
    forget(plan, *factors);
    SparseFactors *f = make_factors(a);
    SparseStatus status = !f ? SPARSE_NO_MEMORY : find_sizes(f, a) ? SPARSE_GOOD : SPARSE_SINGULAR;
    memset(plan->mark, 0xff, (size_t)plan->n * sizeof *plan->mark);
    for (int k = 0; k < plan->n && status == SPARSE_GOOD; k++)
        status = factor_column(plan, f, a, k);
    *factors = status == SPARSE_GOOD ? f : NULL;
    if (status != SPARSE_GOOD) {
        memset(plan->x, 0, (size_t)plan->n * sizeof *plan->x);
        forget(plan, f);
    }
    return status;
}

/* Largest number of a column of the matrix, as it was divided. */
static double column_size(const SparseFactors *f, const SparseMatrix *a, int column)
{
    double most = 0;
    for (int p = a->start[column]; p < a->start[column + 1]; p++)
        most = fmax(most, fabs(a->values[p]) / f->size[a->index[p]]);
    return most;
}

static bool refactor(SparsePlan *plan, const SparseMatrix *a, SparseFactors *f, double least_growth)
{
    bool is_good = find_sizes(f, a);
    for (int k = 0; k < plan->n && is_good; k++) {
        double most = 0;
        scatter(plan, f, a, plan->order[k]);
        for (int p = f->upper.start[k]; p < f->upper.start[k + 1]; p++) {
            f->upper.values[p] = eliminate(plan, f, f->upper.index[p]);
            most = fmax(most, fabs(f->upper.values[p]));
        }
        f->scale[k] = f->size[f->row[k]];
        f->pivot[k] = plan->x[f->row[k]];
        plan->x[f->row[k]] = 0;
        most = fmax(most, fabs(f->pivot[k]));
        is_good = f->pivot[k] != 0 && isfinite(f->pivot[k]) && column_size(f, a, plan->order[k]) > least_growth * most;
        end_column(plan, f, k);
    }
    return is_good;
}

static void solve(SparsePlan *plan, SparseFactors *f, double *b)
{
    double *x = plan->x;
    for (int row = 0; row < f->n; row++)
        x[row] = b[row] / f->size[row];
    for (int k = 0; k < f->n; k++) {
        const double value = x[f->row[k]];
        for (int p = f->lower.start[k]; p < f->lower.start[k + 1]; p++)
            x[f->lower.index[p]] -= f->lower.values[p] * value;
    }
    for (int k = f->n; k-- > 0;) {
        const double value = x[f->row[k]] / f->pivot[k];
        b[plan->order[k]] = value;
        for (int p = f->upper.start[k]; p < f->upper.start[k + 1]; p++)
            x[f->row[f->upper.index[p]]] -= f->upper.values[p] * value;
    }
    memset(x, 0, (size_t)f->n * sizeof *x);
}

static SparsePivots pivots(const SparsePlan *plan, const SparseFactors *f)
{
    return (SparsePivots){ f->pivot, f->scale, f->row, plan->order };
}

const SparseMethod koine_sparse_own = { make_plan, forget_plan, factor, refactor, solve, pivots, forget };
