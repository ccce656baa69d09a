/* Workspace and linear algebra of algebraic systems.
 *
 * Torn systems: with explicit rows v = c v' + d x and residuals r = a v + b x, x iterated, the Jacobian of the residuals
 * with respect to x alone is b + a D, D = dv/dx from the rows in order (the Schur complement A22 - A21 A11^-1 A12; A11 is
 * never inverted). Up to KOINE_DENSE_MOST iterated unknowns it is formed and factored dense; above, the sparse matrix of
 * all rows is factored, which gives the same step without filling anything. Linear systems of that size come whole. */
#include "systems.h"
#include <klu.h>
#include <math.h>
#include <stdlib.h>

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivots, double *b, const int *ldb, int *info);

enum { SMALL = 8 }; /* up to here without LAPACK */
static const double PIVOT_TOLERANCE =
    0.1;                              /* of the largest in its column: the usual 0.001 loses digits in long chains */
static const double BAD_PIVOT = 1e-8; /* of the largest: the condition is looked at */
static const double LEAST_GROWTH = 1e-10; /* reciprocal pivot growth: below, other pivots are chosen */

typedef struct { /* compressed columns of the matrix of all rows */
    int *start, *index;
    double *values;
    uint32_t *position; /* per entry of the Jacobian: in values */
    double *basis;      /* entries that the pivots of `numeric` were chosen for */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
} Sparse;

typedef struct Factors {
    bool is_tried, is_good; /* `kept` are the values of the inputs; they gave a regular matrix */
    KoineSlot *kept;
    double *entries;
    double *matrix; /* dense: n * n, by columns */
    int *pivots;
    double *inner;     /* dense: n_inner rows of n: D */
    uint32_t *columns; /* dense: per explicit row, bits: which of its n can differ from 0 */
    Sparse *sparse;
} Factors;

/* ---- workspace ---- */
static void destroy_sparse(Sparse *a)
{
    if (!a)
        return;
    klu_free_numeric(&a->numeric, &a->common);
    klu_free_symbolic(&a->symbolic, &a->common);
    free(a->start);
    free(a->index);
    free(a->values);
    free(a->position);
    free(a->basis);
    free(a);
}

/* Positions of the entries by columns; the diagonal of explicit rows comes first in its column. */
static bool place_entries(Sparse *a, const KoineSystem *s)
{
    const uint32_t all = s->n + s->n_inner;
    for (uint32_t j = s->n; j < all; j++)
        a->start[j + 1]++;
    for (uint32_t j = 0; j < s->n_entries; j++)
        a->start[s->column[j] + 1]++;
    for (uint32_t j = 0; j < all; j++)
        a->start[j + 1] += a->start[j];
    int *next = malloc((all + 1) * sizeof *next);
    if (!next)
        return false;
    memcpy(next, a->start, all * sizeof *next);
    for (uint32_t j = s->n; j < all; j++) {
        a->index[next[j]] = (int)j;
        a->values[next[j]++] = 1;
    }
    for (uint32_t j = 0; j < s->n_entries; j++) {
        a->position[j] = (uint32_t)next[s->column[j]]++;
        a->index[a->position[j]] = (int)s->row[j];
    }
    free(next);
    return true;
}

static Sparse *create_sparse(const KoineSystem *s)
{
    const uint32_t all = s->n + s->n_inner, n_values = s->n_entries + s->n_inner;
    Sparse *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    klu_defaults(&a->common);
    a->common.tol = PIVOT_TOLERANCE;
    a->start = calloc((size_t)all + 1, sizeof *a->start);
    a->index = malloc((n_values + 1) * sizeof *a->index);
    a->values = malloc((n_values + 1) * sizeof *a->values);
    a->position = malloc((s->n_entries + 1) * sizeof *a->position);
    a->basis = malloc((s->n_entries + 1) * sizeof *a->basis);
    if (a->start && a->index && a->values && a->position && a->basis && place_entries(a, s))
        a->symbolic = klu_analyze((int)all, a->start, a->index, &a->common);
    if (a->symbolic || a->common.status == KLU_SINGULAR) /* singular by structure: every factorisation will say so */
        return a;
    destroy_sparse(a);
    return NULL;
}

static bool create_dense(Factors *f, const KoineSystem *s)
{
    const size_t n = s->n ? s->n : 1;
    f->matrix = malloc(n * n * sizeof *f->matrix);
    f->pivots = malloc(n * sizeof *f->pivots);
    f->inner = malloc((n * s->n_inner + 1) * sizeof *f->inner);
    f->columns = calloc((size_t)s->n_inner + 1, sizeof *f->columns);
    if (!f->matrix || !f->pivots || !f->inner || !f->columns)
        return false;
    for (uint32_t j = 0; j < s->n_entries && s->row[j] >= s->n; j++)
        f->columns[s->row[j] - s->n] |= s->column[j] < s->n ? 1u << s->column[j] : f->columns[s->column[j] - s->n];
    return true;
}

static bool create_factors(Factors *f, const KoineSystem *s)
{
    f->kept = malloc((s->n_inputs + 1) * sizeof *f->kept);
    f->entries = malloc((s->n_entries + 1) * sizeof *f->entries);
    if (!f->kept || !f->entries)
        return false;
    if (s->basis == KOINE_NONE)
        return create_dense(f, s);
    f->sparse = create_sparse(s);
    return f->sparse != NULL;
}

Workspace *koine_workspace_create(const KoineProgram *program)
{
    Workspace *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t n = 1, all = 1;
    uint32_t nonlinear = 0;
    for (uint32_t k = 0; k < program->n_systems; k++) {
        const KoineSystem *s = &program->systems[k];
        n = s->n > n ? s->n : n;
        if (s->kind == KOINE_SYSTEM_NEWTON && s->n > nonlinear)
            nonlinear = s->n;
        all = s->n + s->n_inner > all ? s->n + s->n_inner : all;
    }
    w->step = malloc((n + all) * sizeof *w->step);
    w->matrix = malloc(3 * (size_t)KOINE_DENSE_MOST * KOINE_DENSE_MOST * sizeof *w->matrix);
    w->factors = calloc((size_t)program->n_systems + 1, sizeof *w->factors);
    w->n_factors = w->factors ? program->n_systems : 0;
    bool is_good = w->step && w->factors && w->matrix;
    for (uint32_t k = 0; k < w->n_factors && is_good; k++)
        if (program->systems[k].n_entries)
            is_good = create_factors(&w->factors[k], &program->systems[k]);
    if (nonlinear) {
        w->newton = koine_newton_create(nonlinear);
        w->kinsol = koine_kinsol_create(nonlinear);
        is_good = is_good && w->newton && w->kinsol;
    }
    if (!is_good) {
        koine_workspace_destroy(w);
        return NULL;
    }
    w->all = w->step + n;
    return w;
}

void koine_workspace_destroy(Workspace *w)
{
    if (!w)
        return;
    koine_newton_destroy(w->newton);
    koine_kinsol_destroy(w->kinsol);
    for (uint32_t k = 0; k < w->n_factors; k++) {
        Factors *f = &w->factors[k];
        free(f->kept);
        free(f->entries);
        free(f->matrix);
        free(f->pivots);
        free(f->inner);
        free(f->columns);
        destroy_sparse(f->sparse);
    }
    free(w->factors);
    free(w->matrix);
    free(w->step);
    free(w);
}

/* ---- dense: columns, partial pivoting ---- */
static bool factor_small(double *a, int n, int *pivots)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[best + k * n]))
                best = i;
        pivots[k] = best;
        if (a[best + k * n] == 0 || isnan(a[best + k * n]))
            return false;
        for (int j = 0; best != k && j < n; j++) {
            const double t = a[k + j * n];
            a[k + j * n] = a[best + j * n];
            a[best + j * n] = t;
        }
        for (int i = k + 1; i < n; i++)
            a[i + k * n] /= a[k + k * n];
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n; i++)
                a[i + j * n] -= a[i + k * n] * a[k + j * n];
    }
    return true;
}

static void solve_small(const double *a, int n, const int *pivots, double *b)
{
    for (int k = 0; k < n; k++) {
        const double t = b[k];
        b[k] = b[pivots[k]];
        b[pivots[k]] = t;
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            b[i] -= a[i + k * n] * b[k];
    for (int k = n; k-- > 0;) {
        b[k] /= a[k + k * n];
        for (int i = 0; i < k; i++)
            b[i] -= a[i + k * n] * b[k];
    }
}

/* D row by row, then b + a D. */
static void fill_dense(Factors *f, const KoineSystem *s, double *matrix)
{
    const size_t n = s->n;
    memset(f->inner, 0, n * s->n_inner * sizeof *f->inner);
    memset(matrix, 0, n * n * sizeof *matrix);
    for (uint32_t e = 0; e < s->n_entries; e++) {
        const uint32_t row = s->row[e], column = s->column[e];
        const bool is_inner = row >= n;
        const size_t step = is_inner ? 1 : n; /* from one column to the next */
        double *to = is_inner ? f->inner + (row - n) * n : matrix + row;
        if (column < n) {
            to[column * step] += f->entries[e];
            continue;
        }
        const double *from = f->inner + (column - n) * n;
        uint32_t j = 0;
        for (uint32_t bits = f->columns[column - n]; bits; bits >>= 1, j++)
            if (bits & 1)
                to[j * step] += f->entries[e] * from[j];
    }
}

/* By the pivots, and only if they look bad by a second elimination. */
static bool is_well(Machine *k, Factors *f, const KoineSystem *s)
{
    double least = INFINITY, most = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        const double pivot = fabs(f->matrix[j + (size_t)j * s->n]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    if (least > BAD_PIVOT * most)
        return true;
    double *matrix = k->workspace->matrix, *work = matrix + (size_t)s->n * s->n;
    fill_dense(f, s, matrix);
    const double condition = koine_condition(matrix, s->n, work);
    if (isfinite(condition))
        k->statistics.largest_condition = fmax(k->statistics.largest_condition, condition);
    return isfinite(condition);
}

static bool factor_dense(Machine *k, Factors *f, const KoineSystem *s)
{
    int n = (int)s->n, info = 0;
    fill_dense(f, s, f->matrix);
    if (n <= SMALL)
        info = !factor_small(f->matrix, n, f->pivots);
    else
        dgetrf_(&n, &n, f->matrix, &n, f->pivots, &info);
    return info == 0 && is_well(k, f, s);
}

static void solve_dense(const Factors *f, const KoineSystem *s, double *b)
{
    int n = (int)s->n, one = 1, info = 0;
    if (n <= SMALL)
        solve_small(f->matrix, n, f->pivots, b);
    else
        dgetrs_("N", &n, &one, f->matrix, &n, f->pivots, b, &n, &info);
}

/* ---- sparse ---- */
static void fill_sparse(Sparse *a, const KoineSystem *s, const double *entries)
{
    for (uint32_t e = 0; e < s->n_entries; e++)
        a->values[a->position[e]] = s->row[e] < s->n ? entries[e] : -entries[e];
}

/* Chooses pivots for these entries. */
static bool factor_anew(Workspace *w, Sparse *a, const KoineSystem *s, const double *entries)
{
    klu_free_numeric(&a->numeric, &a->common);
    if (!a->symbolic)
        return false;
    fill_sparse(a, s, entries);
    a->numeric = klu_factor(a->start, a->index, a->values, a->symbolic, &a->common);
    w->is_out_of_memory = a->common.status == KLU_OUT_OF_MEMORY;
    if (a->numeric && a->common.status == KLU_OK) {
        memcpy(a->basis, entries, s->n_entries * sizeof *entries);
        return true;
    }
    klu_free_numeric(&a->numeric, &a->common);
    return false;
}

/* The pivots are those of the block's basis, whatever was factored before: results depend on the block alone. */
static bool has_basis(const Machine *k, const KoineSystem *s, const Sparse *a)
{
    const KoineSlot *basis = &k->m[s->basis];
    return a->numeric && basis[0].i && memcmp(a->basis, basis + 1, s->n_entries * sizeof *a->basis) == 0;
}

static bool factor_sparse(Machine *k, const KoineSystem *s, Factors *f)
{
    Sparse *a = f->sparse;
    KoineSlot *basis = &k->m[s->basis];
    if (basis[0].i && !has_basis(k, s, a))
        (void)factor_anew(k->workspace, a, s, &basis[1].r);
    if (a->numeric && basis[0].i) {
        fill_sparse(a, s, f->entries);
        if (klu_refactor(a->start, a->index, a->values, a->symbolic, a->numeric, &a->common) &&
            a->common.status == KLU_OK &&
            klu_rgrowth(a->start, a->index, a->values, a->symbolic, a->numeric, &a->common) &&
            a->common.rgrowth > LEAST_GROWTH)
            return true;
    }
    if (!factor_anew(k->workspace, a, s, f->entries))
        return false;
    basis[0].i = 1;
    memcpy(basis + 1, f->entries, s->n_entries * sizeof *f->entries);
    return true;
}

/* ---- both ---- */
static bool is_same_matrix(const Machine *k, const KoineSystem *s, const Factors *f)
{
    if (!f->is_tried)
        return false;
    for (uint32_t j = 0; j < s->n_inputs; j++)
        if (k->m[s->inputs[j]].i != f->kept[j].i)
            return false;
    return !f->sparse || has_basis(k, s, f->sparse);
}

bool koine_factor(Machine *k, const KoineSystem *s)
{
    Factors *f = &k->workspace->factors[s - k->program->systems];
    k->workspace->is_out_of_memory = false;
    if (is_same_matrix(k, s, f))
        return f->is_good;
    run_section(k, s->jacobian_section);
    for (uint32_t j = 0; j < s->n_inputs; j++)
        f->kept[j] = k->m[s->inputs[j]];
    for (uint32_t j = 0; j < s->n_entries; j++)
        f->entries[j] = k->m[s->entry[j]].r;
    f->is_tried = true;
    k->statistics.factorizations++;
    f->is_good = f->sparse ? factor_sparse(k, s, f) : factor_dense(k, f, s);
    return f->is_good;
}

void koine_solve_factored(Machine *k, const KoineSystem *s, double *b)
{
    Workspace *w = k->workspace;
    const Factors *f = &w->factors[s - k->program->systems];
    if (!f->sparse) {
        solve_dense(f, s, b);
        return;
    }
    memcpy(w->all, b, s->n * sizeof *b);
    memset(w->all + s->n, 0, s->n_inner * sizeof *b);
    klu_solve(f->sparse->symbolic, f->sparse->numeric, (int)(s->n + s->n_inner), 1, w->all, &f->sparse->common);
    memcpy(b, w->all, s->n * sizeof *b);
}

void koine_solve_all_factored(Machine *k, const KoineSystem *s, double *b)
{
    const Factors *f = &k->workspace->factors[s - k->program->systems];
    const uint32_t n = s->n;
    if (f->sparse) {
        klu_solve(f->sparse->symbolic, f->sparse->numeric, (int)(n + s->n_inner), 1, b, &f->sparse->common);
        return;
    }
    for (uint32_t e = 0; e < s->n_entries; e++)
        if (s->column[e] >= n)
            b[s->row[e]] += s->row[e] < n ? -f->entries[e] * b[s->column[e]] : f->entries[e] * b[s->column[e]];
    solve_dense(f, s, b);
    for (uint32_t i = 0; i < s->n_inner; i++) {
        uint32_t j = 0;
        for (uint32_t bits = f->columns[i]; bits; bits >>= 1, j++)
            if (bits & 1)
                b[n + i] += f->inner[(size_t)i * n + j] * b[j];
    }
}
