/* The order of columns for sparse factors of our own; see sparse_order.h.
 *
 * Rows that share a column are joined when it is eliminated: what is left of them is one set of columns, whichever row
 * becomes the pivot. So sets of columns stand for rows, at first one a row. The column taken next is the one whose sets
 * have the fewest columns in them, counted without looking for those that are in several of them. */
#include "sparse_order.h"
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, WIDE = 10, WIDE_AT_LEAST = 16 };

typedef struct {
    int n;
    int **columns, *size;                  /* per set: its columns; NULL: it is gone */
    int **sets, *n_sets;                   /* per column: the sets that it is in */
    int *all_sets;                         /* room for the lists of sets */
    int *first, *previous, *next, *degree; /* lists of columns by degree */
    int *stamp;                            /* per column: the last set that it was put into */
} Order;

static void take_out(Order *o, int column)
{
    const int before = o->previous[column], behind = o->next[column];
    if (before == NOBODY)
        o->first[o->degree[column]] = behind;
    else
        o->next[before] = behind;
    if (behind != NOBODY)
        o->previous[behind] = before;
}

static void put_in(Order *o, int column)
{
    long degree = 0;
    for (int k = 0; k < o->n_sets[column]; k++)
        degree += o->size[o->sets[column][k]] - 1;
    o->degree[column] = degree < o->n ? (int)degree : o->n;
    const int behind = o->first[o->degree[column]];
    o->previous[column] = NOBODY;
    o->next[column] = behind;
    if (behind != NOBODY)
        o->previous[behind] = column;
    o->first[o->degree[column]] = column;
}

/* The sets of the first n rows. Rows with very many columns say nothing about which comes first. */
static bool fill_sets(Order *o, const SparseMatrix *a)
{
    int most = WIDE_AT_LEAST;
    while ((long)most * most < (long)WIDE * WIDE * o->n)
        most *= 2;
    for (int p = 0; p < a->start[a->n]; p++)
        o->size[a->index[p]]++;
    for (int row = 0; row < o->n; row++) {
        if (o->size[row] <= most && !(o->columns[row] = malloc(((size_t)o->size[row] + 1) * sizeof(int))))
            return false;
        o->size[row] = 0;
    }
    int *sets = o->all_sets;
    for (int column = 0; column < o->n; column++) {
        o->sets[column] = sets;
        sets += a->start[column + 1] - a->start[column];
        for (int p = a->start[column]; p < a->start[column + 1]; p++) {
            const int row = a->index[p];
            if (!o->columns[row])
                continue;
            o->columns[row][o->size[row]++] = column;
            o->sets[column][o->n_sets[column]++] = row;
        }
    }
    return true;
}

/* All columns of the sets of `column` but itself, as a set of its own. False: no memory. */
static bool join_sets(Order *o, int column, int joined)
{
    size_t most = 1;
    for (int k = 0; k < o->n_sets[column]; k++)
        most += (size_t)o->size[o->sets[column][k]];
    int *to = o->columns[joined] = malloc(most * sizeof *to);
    if (!to)
        return false;
    o->stamp[column] = joined;
    for (int k = 0; k < o->n_sets[column]; k++) {
        const int set = o->sets[column][k];
        for (int j = 0; j < o->size[set]; j++)
            if (o->stamp[o->columns[set][j]] != joined) {
                o->stamp[o->columns[set][j]] = joined;
                to[o->size[joined]++] = o->columns[set][j];
            }
        free(o->columns[set]);
        o->columns[set] = NULL;
    }
    return true;
}

/* The columns of a new set forget those that it was made of. */
static void tell_columns(Order *o, int joined)
{
    for (int j = 0; j < o->size[joined]; j++) {
        const int column = o->columns[joined][j];
        int n = 0;
        take_out(o, column);
        for (int k = 0; k < o->n_sets[column]; k++)
            if (o->columns[o->sets[column][k]])
                o->sets[column][n++] = o->sets[column][k];
        o->sets[column][n++] = joined;
        o->n_sets[column] = n;
    }
    for (int j = 0; j < o->size[joined]; j++)
        put_in(o, o->columns[joined][j]);
}

static bool eliminate_all(Order *o, int *order)
{
    int least = 0;
    for (int k = 0; k <= o->n; k++)
        o->first[k] = NOBODY;
    for (int column = o->n; column-- > 0;)
        put_in(o, column);
    for (int k = 0; k < o->n; k++) {
        for (least = 0; o->first[least] == NOBODY;)
            least++;
        order[k] = o->first[least];
        take_out(o, order[k]);
        if (o->n_sets[order[k]] == 0)
            continue;
        if (!join_sets(o, order[k], o->n + k))
            return false;
        tell_columns(o, o->n + k);
    }
    return true;
}

bool koine_sparse_order(const SparseMatrix *a, int *order)
{
    const size_t n = (size_t)a->n;
    Order o = { .n = a->n };
    int *room = malloc((7 * n + 2 + (size_t)a->start[a->n]) * sizeof *room);
    o.columns = calloc(2 * n + 1, sizeof *o.columns);
    o.size = calloc(2 * n + 1, sizeof *o.size);
    o.sets = malloc((n + 1) * sizeof *o.sets);
    bool is_good = room && o.columns && o.size && o.sets;
    if (is_good) {
        o.first = room;
        o.previous = o.first + n + 1;
        o.next = o.previous + n;
        o.degree = o.next + n;
        o.stamp = o.degree + n;
        o.n_sets = o.stamp + n;
        o.all_sets = o.n_sets + n;
        memset(o.stamp, 0xff, n * sizeof *o.stamp);
        memset(o.n_sets, 0, n * sizeof *o.n_sets);
        is_good = fill_sets(&o, a) && eliminate_all(&o, order);
    }
    for (size_t k = 0; o.columns && k < 2 * n; k++)
        free(o.columns[k]);
    free(room);
    free(o.columns);
    free(o.size);
    free(o.sets);
    return is_good;
}
