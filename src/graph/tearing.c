/* See tearing.h. The number of open rows of an unknown column never changes: a row is closed when nothing in it is
 * unknown. So only the gains move, at most three times a row, in an indexed heap. */
#include "graph/tearing.h"
#include "base/bug.h"
#include <math.h>
#include <string.h>

enum { LEVELS = 64 }; /* of growth: powers of two */
enum { ROW_OPEN, ROW_USED, ROW_RESIDUAL };
static const uint32_t NOWHERE = UINT32_MAX;
static const uint32_t FORCED = UINT32_MAX; /* gain of a column that no row can compute */

/* Unknown columns, the best one first. */
typedef struct {
    uint32_t *at, *place, n; /* place: of each column, or NOWHERE */
} Heap;

/* Rows that can compute their last unknown column: lists by the growth of this column, each first come first served. */
typedef struct {
    uint32_t *entry, *next; /* per row: the entry of the column, and the row behind it in its list */
    double *growth;         /* per row: of the column */
    uint32_t first[LEVELS], last[LEVELS];
    uint32_t level; /* none below it is filled */
} WaitingRows;

typedef struct {
    const TearingProblem *p;
    Incidence columns;
    uint32_t n;
    uint32_t *unknown;  /* per row: unknown columns */
    uint8_t *state;     /* per row */
    uint8_t *is_known;  /* per column */
    uint32_t *solvable; /* per column: open rows that could compute it */
    uint32_t *gain;     /* per column: rows that it would leave with one column, which they can compute */
    double *growth;     /* per column */
    double *size;       /* per entry: magnitude, balanced; NULL: 1 */
    Heap heap;
    WaitingRows waiting;
    bool is_cooling; /* the limit of growth was met: what is known near it is large too, so begin anew */
    Tearing result;
    uint64_t work;
} Tearer;

/* ---- heap of unknown columns, best first ---- */
static bool is_better(const Tearer *t, uint32_t a, uint32_t b)
{
    if (t->gain[a] != t->gain[b])
        return t->gain[a] > t->gain[b];
    const uint8_t *preferred = t->p->is_preferred;
    if (preferred && preferred[a] != preferred[b])
        return preferred[a];
    const uint32_t rows_a = t->columns.start[a + 1] - t->columns.start[a];
    const uint32_t rows_b = t->columns.start[b + 1] - t->columns.start[b];
    return rows_a != rows_b ? rows_a > rows_b : a < b;
}

static void put(Tearer *t, uint32_t place, uint32_t column)
{
    t->heap.at[place] = column;
    t->heap.place[column] = place;
}

static void sift(Tearer *t, uint32_t column)
{
    uint32_t at = t->heap.place[column];
    for (; at && is_better(t, column, t->heap.at[(at - 1) / 2]); at = (at - 1) / 2, t->work++)
        put(t, at, t->heap.at[(at - 1) / 2]);
    for (;; t->work++) {
        uint32_t child = 2 * at + 1;
        if (child >= t->heap.n)
            break;
        if (child + 1 < t->heap.n && is_better(t, t->heap.at[child + 1], t->heap.at[child]))
            child++;
        if (!is_better(t, t->heap.at[child], column))
            break;
        put(t, at, t->heap.at[child]);
        at = child;
    }
    put(t, at, column);
}

static void take_out(Tearer *t, uint32_t column)
{
    const uint32_t at = t->heap.place[column], last = t->heap.at[--t->heap.n];
    t->heap.place[column] = NOWHERE;
    if (last == column)
        return;
    put(t, at, last);
    sift(t, last);
}

static void change_gain(Tearer *t, uint32_t column, int by)
{
    if (t->is_known[column] || t->gain[column] == FORCED)
        return;
    t->gain[column] += (uint32_t)by;
    sift(t, column);
}

/* ---- rows ---- */
static bool may_use(const Tearer *t, uint32_t row)
{
    return !(t->p->is_kept && t->p->is_kept[row]);
}

/* The row has two unknown columns: knowing one would give the other. Or it had: by = -1. */
static void count_pair(Tearer *t, uint32_t row, int by)
{
    const Incidence *g = &t->p->rows;
    uint32_t entry[2], n = 0;
    if (!may_use(t, row))
        return;
    for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++, t->work++)
        if (!t->is_known[g->index[k]] && n < 2)
            entry[n++] = k;
    for (uint32_t k = 0; k < n; k++)
        if (n == 2 && t->p->solvable[entry[1 - k]])
            change_gain(t, g->index[entry[k]], by);
}

static double growth_in(Tearer *t, uint32_t row, uint32_t entry)
{
    const Incidence *g = &t->p->rows;
    const double *size = t->size;
    double sum = 0;
    for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++, t->work++)
        if (k != entry)
            sum += (size ? size[k] : 1) * t->growth[g->index[k]];
    sum /= size ? size[entry] : 1;
    return sum > 1 ? sum : 1;
}

/* The row has one unknown column: it waits to compute it, if it can. */
static void enqueue(Tearer *t, uint32_t row)
{
    const Incidence *g = &t->p->rows;
    uint32_t entry = g->start[row];
    for (; t->is_known[g->index[entry]]; entry++)
        t->work++;
    if (!t->p->solvable[entry] || !may_use(t, row))
        return; /* another row has to compute the column */
    const double growth = growth_in(t, row, entry);
    const uint32_t level = growth < 0x1p63 ? (uint32_t)ilogb(growth) : LEVELS - 1;
    t->waiting.entry[row] = entry;
    t->waiting.growth[row] = growth;
    if (t->p->solvable[entry] == TEARING_PLAIN && t->waiting.first[level] != NOWHERE) {
        t->waiting.next[row] = t->waiting.first[level];
        t->waiting.first[level] = row;
    } else {
        t->waiting.next[row] = NOWHERE;
        if (t->waiting.first[level] == NOWHERE)
            t->waiting.first[level] = row;
        else
            t->waiting.next[t->waiting.last[level]] = row;
        t->waiting.last[level] = row;
    }
    t->waiting.level = level < t->waiting.level ? level : t->waiting.level;
}

static uint32_t dequeue(Tearer *t)
{
    for (; t->waiting.level < LEVELS; t->waiting.level++) {
        const uint32_t row = t->waiting.first[t->waiting.level];
        if (row == NOWHERE)
            continue;
        t->waiting.first[t->waiting.level] = t->waiting.next[row];
        return row;
    }
    return NOWHERE;
}

/* `column` becomes known; rows are told. */
static void know(Tearer *t, uint32_t column)
{
    for (uint32_t k = t->columns.start[column]; k < t->columns.start[column + 1]; k++, t->work++) {
        const uint32_t row = t->columns.index[k];
        if (t->state[row] == ROW_OPEN && t->unknown[row] == 2)
            count_pair(t, row, -1);
    }
    t->is_known[column] = true;
    if (t->heap.place[column] != NOWHERE)
        take_out(t, column);
    for (uint32_t k = t->columns.start[column]; k < t->columns.start[column + 1]; k++, t->work++) {
        const uint32_t row = t->columns.index[k];
        t->unknown[row]--;
        if (t->state[row] != ROW_OPEN)
            continue;
        if (t->unknown[row] == 2)
            count_pair(t, row, 1);
        else if (t->unknown[row] == 1)
            enqueue(t, row);
        else if (t->unknown[row] == 0)
            t->state[row] = ROW_RESIDUAL;
    }
}

static void tear(Tearer *t, uint32_t column)
{
    t->growth[column] = 1;
    know(t, column);
}

static void take_row(Tearer *t, uint32_t row)
{
    const uint32_t column = t->p->rows.index[t->waiting.entry[row]];
    const double growth = t->waiting.growth[row], most = t->p->most_growth;
    if (t->state[row] != ROW_OPEN)
        return; /* another row has computed the column */
    t->is_cooling = most > 0 && !(growth <= (t->is_cooling ? sqrt(most) : most));
    if (t->is_cooling) {
        t->result.n_cut++;
        tear(t, column);
        return;
    }
    t->state[row] = ROW_USED;
    t->growth[column] = growth;
    t->result.growth = growth > t->result.growth ? growth : t->result.growth;
    t->result.row[t->result.n_inner] = row;
    t->result.column[t->result.n_inner++] = column;
    know(t, column);
}

/* Magnitudes without the units: rows and columns scaled so that the mean logarithm of each is zero, nearly. */
static void balance(Tearer *t, Arena *arena)
{
    enum { SWEEPS = 8 };
    const Incidence *g = &t->p->rows;
    double *row = NEW_ARRAY(arena, double, t->n + 1), *column = NEW_ARRAY(arena, double, t->n + 1);
    double *sum = NEW_ARRAY(arena, double, t->n + 1);
    t->size = NEW_ARRAY(arena, double, incidence_entries(g) + 1);
    for (uint32_t k = 0; k < incidence_entries(g); k++)
        t->size[k] = t->p->magnitude[k] > 0 ? log(t->p->magnitude[k]) : 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        memset(sum, 0, t->n * sizeof *sum);
        for (uint32_t r = 0; r < t->n; r++) {
            const uint32_t n = g->start[r + 1] - g->start[r];
            double mean = 0;
            for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++)
                mean += t->size[k] + column[g->index[k]];
            row[r] = n ? -mean / n : 0;
            for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++)
                sum[g->index[k]] += t->size[k] + row[r];
        }
        for (uint32_t c = 0; c < t->n; c++) {
            const uint32_t n = t->columns.start[c + 1] - t->columns.start[c];
            column[c] = n ? -sum[c] / n : 0;
        }
    }
    for (uint32_t r = 0; r < t->n; r++)
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++)
            t->size[k] = exp(t->size[k] + row[r] + column[g->index[k]]);
}

static void begin(Tearer *t)
{
    const Incidence *g = &t->p->rows;
    for (uint32_t row = 0; row < t->n; row++) {
        t->unknown[row] = g->start[row + 1] - g->start[row];
        for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++)
            t->solvable[g->index[k]] += t->p->solvable[k] && may_use(t, row);
    }
    for (uint32_t column = 0; column < t->n; column++) {
        t->heap.place[column] = column;
        t->heap.at[column] = column;
        t->growth[column] = 1;
        if (t->solvable[column] == 0)
            t->gain[column] = FORCED;
    }
    t->heap.n = t->n;
    for (uint32_t k = t->n; k-- > 0;)
        sift(t, t->heap.at[k]);
    for (uint32_t row = 0; row < t->n; row++) {
        if (t->unknown[row] == 2)
            count_pair(t, row, 1);
        else if (t->unknown[row] == 1)
            enqueue(t, row);
        else if (t->unknown[row] == 0)
            t->state[row] = ROW_RESIDUAL;
    }
}

/* Behind the pairs: residual rows and torn columns. */
static void finish(Tearer *t)
{
    uint8_t *is_inner = t->is_known; /* all are known now */
    uint32_t at = t->result.n_inner;
    for (uint32_t k = 0; k < t->result.n_inner; k++)
        is_inner[t->result.column[k]] = false;
    for (uint32_t k = 0; k < t->n; k++)
        if (is_inner[k])
            t->result.column[at++] = k;
    REQUIRE(at == t->n);
    at = t->result.n_inner;
    for (uint32_t k = 0; k < t->n; k++)
        if (t->state[k] != ROW_USED)
            t->result.row[at++] = k;
    REQUIRE(at == t->n);
}

Tearing tear_system(const TearingProblem *problem, Arena *arena, uint64_t *work)
{
    const uint32_t n = problem->rows.rows;
    REQUIRE(problem->rows.columns == n);
    Tearer t = { .p = problem, .n = n };
    t.result.row = NEW_ARRAY(arena, uint32_t, n + 1);
    t.result.column = NEW_ARRAY(arena, uint32_t, n + 1);
    const ArenaMark mark = arena_mark(arena);
    t.columns = incidence_transpose(&problem->rows, arena);
    t.unknown = NEW_ARRAY(arena, uint32_t, n + 1);
    t.state = NEW_ARRAY(arena, uint8_t, n + 1);
    t.is_known = NEW_ARRAY(arena, uint8_t, n + 1);
    t.solvable = NEW_ARRAY(arena, uint32_t, n + 1);
    t.gain = NEW_ARRAY(arena, uint32_t, n + 1);
    t.growth = NEW_ARRAY(arena, double, n + 1);
    t.heap.at = NEW_ARRAY(arena, uint32_t, n + 1);
    t.heap.place = NEW_ARRAY(arena, uint32_t, n + 1);
    t.waiting.entry = NEW_ARRAY(arena, uint32_t, n + 1);
    t.waiting.next = NEW_ARRAY(arena, uint32_t, n + 1);
    t.waiting.growth = NEW_ARRAY(arena, double, n + 1);
    for (t.waiting.level = LEVELS; t.waiting.level-- > 0;)
        t.waiting.first[t.waiting.level] = NOWHERE;
    t.waiting.level = LEVELS;
    if (problem->magnitude && problem->most_growth > 0)
        balance(&t, arena);
    begin(&t);
    for (uint32_t column = 0; problem->is_torn && column < n; column++)
        if (problem->is_torn[column])
            tear(&t, column);
    for (;;) {
        const uint32_t row = dequeue(&t);
        if (row != NOWHERE)
            take_row(&t, row);
        else if (t.heap.n)
            tear(&t, t.heap.at[0]);
        else
            break;
    }
    finish(&t);
    if (work)
        *work += t.work + incidence_entries(&problem->rows) + n;
    arena_reset(arena, mark);
    return t.result;
}
