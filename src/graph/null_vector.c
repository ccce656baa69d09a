/* See null_vector.h. The next pivot stands in the column with the fewest rows, in the shortest of those rows where it
 * is not much smaller than the others. What is left of numbers that cancel is zero, and no entry any more: a column
 * without entries has no equation left. */
#include "graph/null_vector.h"
#include <math.h>

static const double ROUNDING = 1e-10; /* of what was there: smaller is zero */
static const double NOTHING = 1e-7;   /* of what is added up, behind a long elimination */

typedef struct {
    uint32_t n;
    Arena *arena;
    SparseRow *rows;
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
static Elimination begin_elimination(uint32_t n, const SparseRow *rows, Arena *arena)
{
    Elimination e = { .n = n, .arena = arena };
    e.rows = NEW_ARRAY(arena, SparseRow, n);
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
            const SparseEntry cell = { rows[k].at[j].column, rows[k].at[j].value / largest };
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

static const SparseEntry *find_cell(const SparseRow *row, uint32_t column)
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
        const SparseEntry *cell = e->is_used[row] ? NULL : find_cell(&e->rows[row], column);
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
static void add_row(Elimination *e, uint32_t row, const SparseRow *by, double factor, uint32_t column)
{
    SparseRow *to = &e->rows[row];
    e->work += to->n + by->n;
    for (uint32_t k = 0; k < to->n; k++)
        e->place[to->at[k].column] = k + 1;
    for (uint32_t k = 0; k < by->n; k++) {
        const SparseEntry part = { by->at[k].column, factor * by->at[k].value };
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
    const SparseRow by = e->rows[row];
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
        const SparseEntry *cell = e->is_used[other] ? NULL : find_cell(&e->rows[other], column);
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
static bool is_null(uint32_t n, const SparseRow *rows, const double *x)
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

bool find_null_vector(uint32_t n, const SparseRow *rows, Arena *arena, double *x)
{
    Elimination e = begin_elimination(n, rows, arena);
    const uint32_t left = eliminate(&e);

    if (left == UINT32_MAX)
        return false;
    memset(x, 0, n * sizeof *x);
    x[left] = 1;
    for (uint32_t k = e.rank; k-- > 0;) {
        const SparseRow *row = &e.rows[e.order[k]];
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
