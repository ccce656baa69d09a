#include "ir/dependence.h"
#include "ir/derive.h"
#include "ir/memo.h"
#include "ir/simplify.h"
#include <math.h>

static const double ROUNDING = 1e-10; /* of what was there: smaller is zero */
static const double NOTHING = 1e-7;   /* of what is added up, behind a long elimination */

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
    const Expr *left = term_import(&builder, row->lhs), *right = term_import(&builder, row->rhs);
    const Expr *e = expr_simplify(m->pool, expr_binary(m->pool, OP_SUB, left, right));
    const uint32_t n_leaves = builder.refs.n;
    Value *leaves = NEW_ARRAY(arena, Value, n_leaves + 1);
    bool *is_wanted = NEW_ARRAY(arena, bool, n_leaves + 1);
    uint32_t *column = NEW_ARRAY(arena, uint32_t, n_leaves + 1), n = 0;
    for (uint32_t k = 0; k < n_leaves; k++) {
        leaves[k] = value(context, builder.refs.at[k]);
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

/* ---- a vector x with a*x = 0 ----
 * By elimination of sparse rows. The next pivot stands in the column with the fewest rows, in the shortest of those
 * rows where it is not much smaller than the others. What is left of numbers that cancel is zero, and no entry any
 * more: a column without entries has no equation left. */
typedef struct {
    uint32_t column;
    double value;
} Cell;
typedef VEC(Cell) Cells;

typedef struct {
    uint32_t n;
    Arena *arena;
    Cells *rows;
    VEC(uint32_t) * columns;          /* rows that have, or had, an entry */
    uint32_t *count;                  /* per column: rows that have one, of those not used yet */
    uint32_t *head, *next, *previous; /* columns by count, linked; UINT32_MAX: none */
    uint32_t *place;                  /* per column: 1 + where the row in hand has it */
    bool *is_used;                    /* rows */
    uint32_t *order, *pivot;          /* rows in the order of their use, and the columns they were used for */
    uint32_t rank;
    uint64_t work;
} Elimination;

static void unlink_column(Elimination *e, uint32_t column)
{
    const uint32_t next = e->next[column], previous = e->previous[column];
    if (previous == UINT32_MAX)
        e->head[e->count[column]] = next;
    else
        e->next[previous] = next;
    if (next != UINT32_MAX)
        e->previous[next] = previous;
}

static void link_column(Elimination *e, uint32_t column, uint32_t count)
{
    e->count[column] = count;
    e->previous[column] = UINT32_MAX;
    e->next[column] = e->head[count];
    if (e->head[count] != UINT32_MAX)
        e->previous[e->head[count]] = column;
    e->head[count] = column;
}

static void count_column(Elimination *e, uint32_t column, int by)
{
    unlink_column(e, column);
    link_column(e, column, e->count[column] + (uint32_t)by);
}

/* Rows divided by their largest number: conductances and voltages are of very different size. */
static Elimination begin_elimination(uint32_t n, const Cells *rows, Arena *arena)
{
    Elimination e = { .n = n, .arena = arena };
    e.rows = NEW_ARRAY(arena, Cells, n);
    e.columns = arena_alloc(arena, n * sizeof *e.columns, _Alignof(uint32_t *));
    memset(e.columns, 0, n * sizeof *e.columns);
    uint32_t **const lists[] = { &e.count, &e.head, &e.next, &e.previous, &e.place, &e.order, &e.pivot };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        *lists[k] = NEW_ARRAY(arena, uint32_t, n + 1);
    e.is_used = NEW_ARRAY(arena, bool, n);
    for (uint32_t k = 0; k < n; k++) {
        double largest = 0;
        for (uint32_t j = 0; j < rows[k].n; j++)
            largest = fmax(largest, fabs(rows[k].at[j].value));
        for (uint32_t j = 0; j < rows[k].n; j++) {
            const Cell cell = { rows[k].at[j].column, rows[k].at[j].value / largest };
            if (cell.value == 0 || largest == 0)
                continue;
            vec_push(arena, &e.rows[k], cell);
            vec_push(arena, &e.columns[cell.column], k);
        }
    }
    for (uint32_t k = 0; k <= n; k++)
        e.head[k] = UINT32_MAX;
    for (uint32_t k = n; k-- > 0;)
        link_column(&e, k, e.columns[k].n);
    return e;
}

static const Cell *find_cell(const Cells *row, uint32_t column)
{
    for (uint32_t k = 0; k < row->n; k++)
        if (row->at[k].column == column)
            return &row->at[k];
    return NULL;
}

/* Keeps those rows of a column that have an entry and were not used; the row to use, UINT32_MAX: none. */
static uint32_t choose_row(Elimination *e, uint32_t column)
{
    const double NEARLY = 0.1; /* of the largest */
    double largest = 0;
    uint32_t n = 0, best = UINT32_MAX;
    for (uint32_t k = 0; k < e->columns[column].n; k++) {
        const uint32_t row = e->columns[column].at[k];
        const Cell *cell = e->is_used[row] ? NULL : find_cell(&e->rows[row], column);
        e->work += e->rows[row].n;
        if (!cell)
            continue;
        e->columns[column].at[n++] = row;
        largest = fmax(largest, fabs(cell->value));
    }
    e->columns[column].n = n;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t row = e->columns[column].at[k];
        if (fabs(find_cell(&e->rows[row], column)->value) >= NEARLY * largest &&
            (best == UINT32_MAX || e->rows[row].n < e->rows[best].n ||
             (e->rows[row].n == e->rows[best].n && row < best)))
            best = row;
    }
    return best;
}

/* row += factor * by; what cancels goes. */
static void add_row(Elimination *e, uint32_t row, const Cells *by, double factor, uint32_t column)
{
    Cells *to = &e->rows[row];
    e->work += to->n + by->n;
    for (uint32_t k = 0; k < to->n; k++)
        e->place[to->at[k].column] = k + 1;
    for (uint32_t k = 0; k < by->n; k++) {
        const Cell part = { by->at[k].column, factor * by->at[k].value };
        const uint32_t place = e->place[part.column];
        if (place == 0) {
            vec_push(e->arena, to, part);
            vec_push(e->arena, &e->columns[part.column], row);
            count_column(e, part.column, 1);
            continue;
        }
        double *sum = &to->at[place - 1].value;
        const double size = fmax(fabs(*sum), fabs(part.value));
        *sum += part.value;
        if (fabs(*sum) <= ROUNDING * size || part.column == column)
            *sum = 0;
    }
    uint32_t n = 0;
    for (uint32_t k = 0; k < to->n; k++) {
        e->place[to->at[k].column] = 0;
        if (to->at[k].value != 0)
            to->at[n++] = to->at[k];
        else if (to->at[k].column != column)
            count_column(e, to->at[k].column, -1);
    }
    to->n = n;
}

static void use_row(Elimination *e, uint32_t row, uint32_t column)
{
    const Cells by = e->rows[row];
    const double pivot = find_cell(&by, column)->value;
    e->is_used[row] = true;
    e->order[e->rank] = row;
    e->pivot[e->rank++] = column;
    unlink_column(e, column);
    for (uint32_t k = 0; k < by.n; k++)
        if (by.at[k].column != column)
            count_column(e, by.at[k].column, -1);
    for (uint32_t k = 0; k < e->columns[column].n; k++) {
        const uint32_t other = e->columns[column].at[k]; /* one may stand there twice */
        const Cell *cell = e->is_used[other] ? NULL : find_cell(&e->rows[other], column);
        if (cell)
            add_row(e, other, &by, -cell->value / pivot, column);
    }
}

/* The first column that no row is left for; UINT32_MAX: there is none, or it takes too long to tell. */
static uint32_t eliminate(Elimination *e)
{
    const uint64_t most = 5000000 + (uint64_t)200 * e->n; /* networks without any order fill up */
    while (e->rank < e->n && e->work < most && e->head[0] == UINT32_MAX) {
        uint32_t least = 1;
        while (e->head[least] == UINT32_MAX)
            least++;
        const uint32_t column = e->head[least], row = choose_row(e, column);
        if (row == UINT32_MAX)
            return UINT32_MAX;
        use_row(e, row, column);
    }
    return e->head[0];
}

/* Is a*x nothing but rounding? */
static bool is_null(uint32_t n, const Cells *rows, const double *x)
{
    for (uint32_t k = 0; k < n; k++) {
        double sum = 0, size = 0, largest = 0;
        for (uint32_t j = 0; j < rows[k].n; j++) {
            const double value = fabs(rows[k].at[j].value);
            sum += rows[k].at[j].value * x[rows[k].at[j].column];
            size = fmax(size, value * fabs(x[rows[k].at[j].column]));
            largest = fmax(largest, value);
        }
        if (!(fabs(sum) <= NOTHING * fmax(size, ROUNDING * largest)))
            return false;
    }
    return true;
}

/* False: there is none, or it cannot be told. The members of x that are not 0 are a least set, because the columns of
 * the pivots are independent. */
static bool null_vector(uint32_t n, const Cells *rows, Arena *arena, double *x)
{
    Elimination e = begin_elimination(n, rows, arena);
    const uint32_t left = eliminate(&e);

    if (left == UINT32_MAX)
        return false;
    memset(x, 0, n * sizeof *x);
    x[left] = 1;
    for (uint32_t k = e.rank; k-- > 0;) {
        const Cells *row = &e.rows[e.order[k]];
        double sum = 0, size = 0, pivot = 1;
        for (uint32_t j = 0; j < row->n; j++) {
            const double part = row->at[j].value * x[row->at[j].column];
            if (row->at[j].column == e.pivot[k])
                pivot = row->at[j].value;
            sum += part;
            size = fmax(size, fabs(part));
        }
        x[e.pivot[k]] = fabs(sum) > ROUNDING * size ? -sum / pivot : 0;
    }
    return is_null(n, rows, x);
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
static bool fill_rows(Model *model, const SystemRow *rows, uint32_t n, bool is_general,
                      Value (*value)(void *context, Ref ref), void *context, Arena *arena, Cells *to, Cells *transposed)
{
    double *line = NEW_ARRAY(arena, double, n);
    uint32_t *used = NEW_ARRAY(arena, uint32_t, n);
    Map columns;
    map_init(&columns, arena, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&columns, key_of(rows[k].unknown), k);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_plain(&rows[k], is_general))
            return false;
        const uint32_t n_used = row_derivatives(model, &rows[k], &columns, value, context, arena, line, used);
        for (uint32_t j = 0; j < n_used; j++) {
            const Cell cell = { used[j], line[used[j]] }, other = { k, line[used[j]] };
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

bool find_dependence(Model *model, const SystemRow *rows, uint32_t n, bool is_general,
                     Value (*value)(void *context, Ref ref), void *context, Arena *arena, Dependence *found)
{
    if (n == 0 || n > DEPENDENCE_MOST)
        return false;
    Cells *a = NEW_ARRAY(arena, Cells, n), *b = NEW_ARRAY(arena, Cells, n);
    double *x = NEW_ARRAY(arena, double, n);
    if (!fill_rows(model, rows, n, is_general, value, context, arena, a, b) || !null_vector(n, a, arena, x))
        return false;
    found->n_unknowns = list_members(x, n, arena, &found->unknowns);
    if (!null_vector(n, b, arena, x))
        return false;
    found->n_equations = list_members(x, n, arena, &found->equations);
    return true;
}
