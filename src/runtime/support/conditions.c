/* Whether the factors of a system mean anything.
 *
 * A right side by chance has a part that the equations can hardly produce: the solution x is long in the direction that
 * they hardly notice, and its length tells the condition of the matrix. Two errors make it meaningless. If every entry
 * is changed by its rounding, what they do to x changes by as small a part of |A||x|; that may change x by all of its
 * length. And in a long elimination a pivot may be made of nothing but errors: then x does not solve its equations, and
 * what it lacks, computed more exactly, leads as far away. The matrix is singular then, as far as numbers can tell.
 *
 * Lengths are measured with rows and columns divided by their largest numbers, so that units do not matter. Torn
 * systems are looked at with all their rows: what cancels in explicit ones is an error like any other. */
#include "systems.h"
#include <float.h>
#include <math.h>

static const double LARGEST = 1 / (8 * DBL_EPSILON); /* change of x by that of the entries */
static const double LARGE = 1e9;                     /* length of x: the factors are tried */
static const double FAR = 0.25;                      /* of x: the factors have not one digit */

static const double VAGUE = 1e-3; /* of an unknown: rounding that moves it by more decides what it is */

typedef struct {
    const KoineSystem *s;
    const double *entries;
    uint32_t all;
    double *row_size, *column_size; /* largest entries; in columns of rows divided by their size */
    double *x, *y, *low;
} Matrix;

/* 1 or -1 by chance. */
static double sign_of(uint64_t k)
{
    k = (k + 1) * 0x9e3779b97f4a7c15u;
    k = (k ^ k >> 29) * 0xbf58476d1ce4e5b9u;
    return k >> 40 & 1 ? 1 : -1;
}

static void measure(const Matrix *a)
{
    const KoineSystem *s = a->s;
    for (uint32_t j = 0; j < a->all; j++)
        a->row_size[j] = j < s->n ? 0 : 1;
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++)
        a->row_size[s->jacobian.row[e]] = fmax(a->row_size[s->jacobian.row[e]], fabs(a->entries[e]));
    for (uint32_t j = 0; j < a->all; j++)
        a->column_size[j] = j < s->n ? 0 : 1 / a->row_size[j];
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++)
        a->column_size[s->jacobian.column[e]] =
            fmax(a->column_size[s->jacobian.column[e]], fabs(a->entries[e]) / a->row_size[s->jacobian.row[e]]);
}

static double length(const Matrix *a, const double *x)
{
    double most = 0;
    for (uint32_t j = 0; j < a->all; j++) {
        const double size = fabs(x[j]) * a->column_size[j];
        most = size <= most ? most : size; /* also where it is not a number */
    }
    return most;
}

/* |A||x|, with signs by chance. */
static void put_change(const Matrix *a, const double *x, double *to)
{
    const KoineSystem *s = a->s;
    for (uint32_t j = 0; j < a->all; j++)
        to[j] = j < s->n ? 0 : fabs(x[j]);
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++)
        to[s->jacobian.row[e]] += fabs(a->entries[e] * x[s->jacobian.column[e]]);
    for (uint32_t j = 0; j < a->all; j++)
        to[j] *= sign_of(j + a->all);
}

static void put_right_side(const Matrix *a, double *to)
{
    for (uint32_t j = 0; j < a->all; j++)
        to[j] = sign_of(j) * a->row_size[j];
}

/* The right side less A x; errors of the sums are kept and added at the end. */
static void put_defect(const Matrix *a, const double *x, double *to)
{
    const KoineSystem *s = a->s;
    put_right_side(a, to);
    memset(a->low, 0, a->all * sizeof *a->low);
    for (uint32_t e = 0; e < s->jacobian.n_entries + s->n_inner; e++) {
        const bool is_entry = e < s->jacobian.n_entries;
        const uint32_t row = is_entry ? s->jacobian.row[e] : s->n + (e - s->jacobian.n_entries),
                       column = is_entry ? s->jacobian.column[e] : row;
        const double factor = !is_entry || row < s->n ? is_entry ? -a->entries[e] : -1 : a->entries[e];
        const double product = factor * x[column], sum = to[row] + product, part = sum - to[row];
        a->low[row] += fma(factor, x[column], -product) + (to[row] - (sum - part)) + (product - part);
        to[row] = sum;
    }
    for (uint32_t j = 0; j < a->all; j++)
        to[j] += a->low[j];
}

static Matrix matrix_of(Machine *m, const KoineSystem *s, const double *entries)
{
    const uint32_t all = s->n + s->n_inner;
    double *work = m->spaces.workspace->look;
    return (Matrix){ .s = s,
                     .entries = entries,
                     .all = all,
                     .row_size = work,
                     .column_size = work + all,
                     .x = work + 2 * (size_t)all,
                     .y = work + 3 * (size_t)all,
                     .low = work + 4 * (size_t)all };
}

/* The rounding of all that is added up in the rows, at the present values, moves the unknowns by y. */
bool koine_is_certain(Machine *m, const KoineSystem *s, const double *entries, uint32_t *which, double *by)
{
    const Matrix a = matrix_of(m, s, entries);
    for (uint32_t j = 0; j < a.all; j++)
        a.x[j] = m->slots[s->unknowns[j]].r;
    put_change(&a, a.x, a.y);
    for (uint32_t j = 0; j < a.all; j++)
        a.y[j] *= DBL_EPSILON;
    koine_solve_all_factored(m, s, a.y);
    double worst = VAGUE;
    for (uint32_t j = 0; j < a.all; j++) {
        const double scale = fmax(fabs(a.x[j]), j < s->n ? s->nominals[j] : 1), part = fabs(a.y[j]) / scale;
        if (part <= worst)
            continue;
        worst = part;
        *which = j;
        *by = fabs(a.y[j]);
    }
    return worst == VAGUE;
}

double koine_condition(Machine *m, const KoineSystem *s, const double *entries)
{
    const Matrix a = matrix_of(m, s, entries);
    measure(&a);
    put_right_side(&a, a.x);
    koine_solve_all_factored(m, s, a.x);
    const double size = length(&a, a.x);
    if (!isfinite(size) || size < LARGE)
        return size;
    put_change(&a, a.x, a.y);
    koine_solve_all_factored(m, s, a.y);
    if (!(length(&a, a.y) < LARGEST * size))
        return INFINITY;
    put_defect(&a, a.x, a.y);
    koine_solve_all_factored(m, s, a.y);
    return length(&a, a.y) < FAR * size ? size : INFINITY;
}
