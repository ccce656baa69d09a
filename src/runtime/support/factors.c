/* Workspace and linear algebra of algebraic systems.
 *
 * Torn systems: with explicit rows v = c v' + d x and residuals r = a v + b x, x iterated, the Jacobian of the
 * residuals with respect to x alone is b + a D, D = dv/dx from the rows in order (the Schur complement A22 - A21 A11^-1
 * A12; A11 is never inverted). Up to KOINE_DENSE_MOST iterated unknowns it is formed and factored dense; above, the
 * sparse matrix of all rows is factored, which gives the same step without filling anything. Linear systems of that
 * size come whole.
 *
 * A matrix that only branches change goes through the same few values again and again: several sets of factors are kept
 * for it, one for each of the last combinations. What is found is what would be computed, bit by bit. */
#include "sparse.h"
#include "systems.h"
#include <math.h>
#include <stdlib.h>

#ifdef KOINE_WITHOUT_KLU
static const SparseMethod *const sparse = &koine_sparse_own;
#else
static const SparseMethod *const sparse = &koine_sparse_klu;
#endif

#ifdef KOINE_WITHOUT_LAPACK
enum { SMALL = KOINE_DENSE_MOST }; /* all of them */
#else
enum { SMALL = 8 }; /* up to here without LAPACK */
extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivots, double *b, const int *ldb, int *info);
#endif

enum { LOOK = 5 }; /* vectors for looking more closely */
static const double PIVOT_TOLERANCE =
    0.1;                              /* of the largest in its column: the usual 0.001 loses digits in long chains */
static const double BAD_PIVOT = 1e-8; /* of the largest: the condition is looked at */
static const double LEAST_GROWTH = 1e-10; /* reciprocal pivot growth: below, other pivots are chosen */

typedef struct {
    SparseMatrix matrix; /* of all rows */
    uint32_t *position;  /* per entry of the Jacobian: in its values */
    SparsePlan *plan;
} Sparse;

typedef struct {
    bool is_tried, is_good; /* `kept` are the values of the inputs; they gave a regular matrix */
    uint64_t used;          /* when it was last; the least one gives way */
    double condition;       /* 0: it was not looked at */
    KoineSlot *kept;
    double *entries;
    double *matrix; /* dense: n * n, by columns */
    int *pivots;
    double *inner; /* dense: n_inner rows of n: D */
    SparseFactors *factors;
    double *basis; /* sparse: entries that the pivots of `factors` were chosen for */
} FactorSet;

typedef struct Factors {
    FactorSet *sets, *present; /* n_sets of KoineSystem; the one in use */
    uint32_t n_sets;
    uint64_t now;
    uint32_t *columns; /* dense: per explicit row, bits: which of its n can differ from 0 */
    Sparse *sparse;
} Factors;

/* ---- workspace ---- */
static void destroy_sparse(Sparse *a)
{
    if (!a)
        return;
    sparse->forget_plan(a->plan);
    free(a->matrix.start);
    free(a->matrix.index);
    free(a->matrix.values);
    free(a->position);
    free(a);
}

/* Positions of the entries by columns; the diagonal of explicit rows comes first in its column. */
static bool place_entries(Sparse *a, const KoineSystem *s)
{
    const uint32_t all = s->n + s->n_inner;
    SparseMatrix *to = &a->matrix;
    for (uint32_t j = s->n; j < all; j++)
        to->start[j + 1]++;
    for (uint32_t j = 0; j < s->jacobian.n_entries; j++)
        to->start[s->jacobian.column[j] + 1]++;
    for (uint32_t j = 0; j < all; j++)
        to->start[j + 1] += to->start[j];
    int *next = malloc((all + 1) * sizeof *next);
    if (!next)
        return false;
    memcpy(next, to->start, all * sizeof *next);
    for (uint32_t j = s->n; j < all; j++) {
        to->index[next[j]] = (int)j;
        to->values[next[j]++] = 1;
    }
    for (uint32_t j = 0; j < s->jacobian.n_entries; j++) {
        a->position[j] = (uint32_t)next[s->jacobian.column[j]]++;
        to->index[a->position[j]] = (int)s->jacobian.row[j];
    }
    free(next);
    return true;
}

static Sparse *create_sparse(const KoineSystem *s)
{
    const uint32_t all = s->n + s->n_inner, n_values = s->jacobian.n_entries + s->n_inner;
    Sparse *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->matrix = (SparseMatrix){ .n = (int)all,
                                .start = calloc((size_t)all + 1, sizeof *a->matrix.start),
                                .index = malloc((n_values + 1) * sizeof *a->matrix.index),
                                .values = malloc((n_values + 1) * sizeof *a->matrix.values) };
    a->position = malloc((s->jacobian.n_entries + 1) * sizeof *a->position);
    if (a->matrix.start && a->matrix.index && a->matrix.values && a->position && place_entries(a, s))
        a->plan = sparse->plan(&a->matrix, PIVOT_TOLERANCE);
    if (a->plan)
        return a;
    destroy_sparse(a);
    return NULL;
}

static bool create_set(FactorSet *set, const KoineSystem *s)
{
    const size_t n = s->n ? s->n : 1;
    set->kept = malloc((s->jacobian.n_inputs + 1) * sizeof *set->kept);
    set->entries = malloc((s->jacobian.n_entries + 1) * sizeof *set->entries);
    if (s->jacobian.basis != KOINE_NONE) {
        set->basis = malloc((s->jacobian.n_entries + 1) * sizeof *set->basis);
        return set->kept && set->entries && set->basis;
    }
    set->matrix = malloc(n * n * sizeof *set->matrix);
    set->pivots = malloc(n * sizeof *set->pivots);
    set->inner = malloc((n * s->n_inner + 1) * sizeof *set->inner);
    return set->kept && set->entries && set->matrix && set->pivots && set->inner;
}

static bool create_dense(Factors *f, const KoineSystem *s)
{
    f->columns = calloc((size_t)s->n_inner + 1, sizeof *f->columns);
    if (!f->columns)
        return false;
    for (uint32_t j = 0; j < s->jacobian.n_entries && s->jacobian.row[j] >= s->n; j++)
        f->columns[s->jacobian.row[j] - s->n] |=
            s->jacobian.column[j] < s->n ? 1u << s->jacobian.column[j] : f->columns[s->jacobian.column[j] - s->n];
    return true;
}

static bool create_factors(Factors *f, const KoineSystem *s)
{
    f->sets = calloc(s->jacobian.n_sets, sizeof *f->sets);
    if (!f->sets)
        return false;
    f->present = f->sets;
    f->n_sets = s->jacobian.n_sets;
    for (uint32_t k = 0; k < f->n_sets; k++)
        if (!create_set(&f->sets[k], s))
            return false;
    if (s->jacobian.basis == KOINE_NONE)
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
    for (uint32_t k = 0; k < program->systems.n; k++) {
        const KoineSystem *s = &program->systems.at[k];
        n = s->n > n ? s->n : n;
        if (s->kind == KOINE_SYSTEM_NEWTON && s->n > nonlinear)
            nonlinear = s->n;
        all = s->n + s->n_inner > all ? s->n + s->n_inner : all;
    }
    w->step = malloc((n + all) * sizeof *w->step);
    w->look = malloc(LOOK * all * sizeof *w->look);
    w->factors = calloc((size_t)program->systems.n + 1, sizeof *w->factors);
    w->n_factors = w->factors ? program->systems.n : 0;
    bool is_good = w->step && w->factors && w->look;
    for (uint32_t k = 0; k < w->n_factors && is_good; k++) {
        const KoineSystem *s = &program->systems.at[k];
        /* Systems whose coefficients cancel have no entries and are singular; iterations have them for tangents only.
         */
        if (s->kind == KOINE_SYSTEM_FOREIGN)
            continue;
        if (s->kind != KOINE_SYSTEM_ITERATE || s->jacobian.n_entries)
            is_good = create_factors(&w->factors[k], s);
    }
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
        for (uint32_t j = 0; j < f->n_sets; j++) {
            FactorSet *set = &f->sets[j];
            if (f->sparse)
                sparse->forget(f->sparse->plan, set->factors);
            free(set->kept);
            free(set->entries);
            free(set->matrix);
            free(set->pivots);
            free(set->inner);
            free(set->basis);
        }
        free(f->sets);
        free(f->columns);
        destroy_sparse(f->sparse);
    }
    free(w->factors);
    free(w->look);
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
static void fill_dense(const Factors *f, const KoineSystem *s, double *matrix)
{
    FactorSet *set = f->present;
    const size_t n = s->n;
    memset(set->inner, 0, n * s->n_inner * sizeof *set->inner);
    memset(matrix, 0, n * n * sizeof *matrix);
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++) {
        const uint32_t row = s->jacobian.row[e], column = s->jacobian.column[e];
        const bool is_inner = row >= n;
        const size_t step = is_inner ? 1 : n; /* from one column to the next */
        double *to = is_inner ? set->inner + (row - n) * n : matrix + row;
        if (column < n) {
            to[column * step] += set->entries[e];
            continue;
        }
        const double *from = set->inner + (column - n) * n;
        uint32_t j = 0;
        for (uint32_t bits = f->columns[column - n]; bits; bits >>= 1, j++)
            if (bits & 1)
                to[j * step] += set->entries[e] * from[j];
    }
}

/* Is a pivot small against what was added up in its row? Explicit rows come first. */
static bool is_doubtful(Machine *m, const Factors *f, const KoineSystem *s)
{
    const FactorSet *set = f->present;
    double *size = m->spaces.workspace->look;
    uint32_t order[KOINE_DENSE_MOST];
    memset(size, 0, ((size_t)s->n + s->n_inner) * sizeof *size);
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++) {
        const double by = s->jacobian.column[e] < s->n ? 1 : size[s->jacobian.column[e]];
        size[s->jacobian.row[e]] = fmax(size[s->jacobian.row[e]], fabs(set->entries[e]) * by);
    }
    for (uint32_t j = 0; j < s->n; j++)
        order[j] = j;
    for (uint32_t j = 0; j < s->n; j++) {
        const uint32_t other = (uint32_t)set->pivots[j] - (s->n > SMALL), row = order[other];
        order[other] = order[j];
        order[j] = row;
        if (!(fabs(set->matrix[j + (size_t)j * s->n]) > BAD_PIVOT * size[row]))
            return true;
    }
    return false;
}

static bool is_well(Machine *m, const Factors *f, const KoineSystem *s)
{
    const double condition = koine_condition(m, s, f->present->entries);
    f->present->condition = condition;
    if (isfinite(condition))
        m->work.statistics.largest_condition = fmax(m->work.statistics.largest_condition, condition);
    return isfinite(condition);
}

static bool factor_dense(Machine *m, const Factors *f, const KoineSystem *s)
{
    int n = (int)s->n, info = 0;
    fill_dense(f, s, f->present->matrix);
    if (n <= SMALL)
        info = !factor_small(f->present->matrix, n, f->present->pivots);
#ifndef KOINE_WITHOUT_LAPACK
    else
        dgetrf_(&n, &n, f->present->matrix, &n, f->present->pivots, &info);
#endif
    return info == 0 && (!is_doubtful(m, f, s) || is_well(m, f, s));
}

static void solve_dense(const Factors *f, const KoineSystem *s, double *b)
{
    int n = (int)s->n;
    if (n <= SMALL) {
        solve_small(f->present->matrix, n, f->present->pivots, b);
        return;
    }
#ifndef KOINE_WITHOUT_LAPACK
    int one = 1, info = 0;
    dgetrs_("N", &n, &one, f->present->matrix, &n, f->present->pivots, b, &n, &info);
#endif
}

/* ---- sparse ---- */
static void fill_sparse(Sparse *a, const KoineSystem *s, const double *entries)
{
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++)
        a->matrix.values[a->position[e]] = s->jacobian.row[e] < s->n ? entries[e] : -entries[e];
}

/* Chooses pivots for these entries. */
static bool factor_anew(Workspace *w, const Factors *f, const KoineSystem *s, const double *entries)
{
    Sparse *a = f->sparse;
    FactorSet *set = f->present;
    fill_sparse(a, s, entries);
    const SparseStatus status = sparse->factor(a->plan, &a->matrix, &set->factors);
    w->is_out_of_memory = status == SPARSE_NO_MEMORY;
    if (status != SPARSE_GOOD)
        return false;
    memcpy(set->basis, entries, s->jacobian.n_entries * sizeof *entries);
    return true;
}

/* The pivots are those of the block's basis, whatever was factored before: results depend on the block alone. */
static bool has_basis(const Machine *m, const KoineSystem *s, const FactorSet *set)
{
    const KoineSlot *basis = &m->slots[s->jacobian.basis];
    return set->factors && basis[0].i && memcmp(set->basis, basis + 1, s->jacobian.n_entries * sizeof *set->basis) == 0;
}

/* The same by the size of columns, in rows that are divided by their largest number as they were factored. */
static bool is_doubtful_sparse(Machine *m, const Factors *f, const KoineSystem *s)
{
    const SparseMatrix *a = &f->sparse->matrix;
    const SparsePivots p = sparse->pivots(f->sparse->plan, f->present->factors);
    double *size = m->spaces.workspace->look;
    const uint32_t all = s->n + s->n_inner;
    for (uint32_t j = 0; j < all; j++)
        size[p.row[j]] = p.scale[j];
    for (uint32_t j = 0; j < all; j++) {
        const uint32_t column = (uint32_t)p.column[j];
        double most = 0;
        for (int i = a->start[column]; i < a->start[column + 1]; i++)
            most = fmax(most, fabs(a->values[i]) / size[a->index[i]]);
        if (!(fabs(p.pivot[j]) > BAD_PIVOT * most))
            return true;
    }
    return false;
}

static bool is_well_sparse(Machine *m, const Factors *f, const KoineSystem *s)
{
    return !is_doubtful_sparse(m, f, s) || is_well(m, f, s);
}

static bool factor_sparse(Machine *m, const KoineSystem *s, const Factors *f)
{
    Sparse *a = f->sparse;
    FactorSet *set = f->present;
    KoineSlot *basis = &m->slots[s->jacobian.basis];
    if (basis[0].i && !has_basis(m, s, set))
        (void)factor_anew(m->spaces.workspace, f, s, &basis[1].r);
    if (set->factors && basis[0].i) {
        fill_sparse(a, s, set->entries);
        if (sparse->refactor(a->plan, &a->matrix, set->factors, LEAST_GROWTH) && is_well_sparse(m, f, s))
            return true;
    }
    if (!factor_anew(m->spaces.workspace, f, s, set->entries))
        return false;
    basis[0].i = 1;
    memcpy(basis + 1, set->entries, s->jacobian.n_entries * sizeof *set->entries);
    return is_well_sparse(m, f, s);
}

/* ---- both ---- */
static bool is_same_matrix(const Machine *m, const KoineSystem *s, const FactorSet *set)
{
    if (!set->is_tried)
        return false;
    for (uint32_t j = 0; j < s->jacobian.n_inputs; j++)
        if (m->slots[s->jacobian.inputs[j]].i != set->kept[j].i)
            return false;
    return s->jacobian.basis == KOINE_NONE || has_basis(m, s, set);
}

/* Among the sets that are not in use; the one that was not for longest is there if none has the matrix. */
static bool find_set(const Machine *m, const KoineSystem *s, Factors *f)
{
    FactorSet *oldest = f->sets;
    f->present->used = ++f->now;
    for (uint32_t j = 0; j < f->n_sets; j++) {
        FactorSet *set = &f->sets[j];
        if (set != f->present && is_same_matrix(m, s, set)) {
            f->present = set;
            return true;
        }
        oldest = set->used < oldest->used ? set : oldest;
    }
    f->present = oldest;
    return false;
}

bool koine_factor(Machine *m, const KoineSystem *s)
{
    Factors *f = &m->spaces.workspace->factors[s - m->program->systems.at];
    m->spaces.workspace->is_out_of_memory = false;
    if (is_same_matrix(m, s, f->present))
        return f->present->is_good;
    if (f->n_sets > 1 && find_set(m, s, f)) {
        m->work.statistics.factors_found++;
        return f->present->is_good;
    }
    FactorSet *set = f->present;
    run_section(m, s->jacobian.section);
    for (uint32_t j = 0; j < s->jacobian.n_inputs; j++)
        set->kept[j] = m->slots[s->jacobian.inputs[j]];
    for (uint32_t j = 0; j < s->jacobian.n_entries; j++)
        set->entries[j] = m->slots[s->jacobian.entry[j]].r;
    set->is_tried = true;
    set->condition = 0;
    m->work.statistics.system_factorisations++;
    set->is_good = f->sparse ? factor_sparse(m, s, f) : factor_dense(m, f, s);
    return set->is_good;
}

bool koine_is_determined(Machine *m, const KoineSystem *s, uint32_t *which, double *by)
{
    const FactorSet *set = m->spaces.workspace->factors[s - m->program->systems.at].present;
    return set->condition == 0 || koine_is_certain(m, s, set->entries, which, by);
}

static void solve_sparse(const Factors *f, double *b)
{
    sparse->solve(f->sparse->plan, f->present->factors, b);
}

void koine_solve_factored(Machine *m, const KoineSystem *s, double *b)
{
    Workspace *w = m->spaces.workspace;
    const Factors *f = &w->factors[s - m->program->systems.at];
    if (!f->sparse) {
        solve_dense(f, s, b);
        return;
    }
    memcpy(w->all, b, s->n * sizeof *b);
    memset(w->all + s->n, 0, s->n_inner * sizeof *b);
    solve_sparse(f, w->all);
    memcpy(b, w->all, s->n * sizeof *b);
}

void koine_solve_all_factored(Machine *m, const KoineSystem *s, double *b)
{
    const Factors *f = &m->spaces.workspace->factors[s - m->program->systems.at];
    const FactorSet *set = f->present;
    const uint32_t n = s->n;
    if (f->sparse) {
        solve_sparse(f, b);
        return;
    }
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++)
        if (s->jacobian.column[e] >= n)
            b[s->jacobian.row[e]] += s->jacobian.row[e] < n ? -set->entries[e] * b[s->jacobian.column[e]]
                                                            : set->entries[e] * b[s->jacobian.column[e]];
    solve_dense(f, s, b);
    for (uint32_t i = 0; i < s->n_inner; i++) {
        uint32_t j = 0;
        for (uint32_t bits = f->columns[i]; bits; bits >>= 1, j++)
            if (bits & 1)
                b[n + i] += set->inner[(size_t)i * n + j] * b[j];
    }
}
