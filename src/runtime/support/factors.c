/* Workspace and linear algebra of algebraic systems. */
#include "systems.h"
#include <math.h>
#include <stdlib.h>

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivots, double *b, const int *ldb, int *info);

enum { SMALL = 8 }; /* up to here without LAPACK */

Workspace *koine_workspace_create(const KoineProgram *program)
{
    Workspace *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    uint32_t nonlinear = 0;
    for (uint32_t k = 0; k < program->n_systems; k++) {
        const KoineSystem *s = &program->systems[k];
        if (s->n > w->n)
            w->n = s->n;
        if (s->kind == KOINE_SYSTEM_NEWTON && s->n > nonlinear)
            nonlinear = s->n;
    }
    const size_t n = w->n ? w->n : 1;
    w->matrix = malloc(n * n * sizeof *w->matrix);
    w->step = malloc(3 * n * sizeof *w->step);
    w->pivots = malloc(n * sizeof *w->pivots);
    if (nonlinear) {
        w->newton = koine_newton_create(nonlinear);
        w->kinsol = koine_kinsol_create(nonlinear);
    }
    if (!w->matrix || !w->step || !w->pivots || (nonlinear && (!w->newton || !w->kinsol))) {
        koine_workspace_destroy(w);
        return NULL;
    }
    w->before = w->step + n;
    w->trial = w->step + 2 * n;
    return w;
}

void koine_workspace_destroy(Workspace *w)
{
    if (!w)
        return;
    koine_newton_destroy(w->newton);
    koine_kinsol_destroy(w->kinsol);
    free(w->matrix);
    free(w->step);
    free(w->pivots);
    free(w);
}

/* ---- linear algebra: columns, partial pivoting ---- */
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

/* Fills and factors the Jacobian at the present unknowns. */
bool koine_factor(Machine *k, const KoineSystem *s)
{
    Workspace *w = k->workspace;
    int n = (int)s->n, info = 0;
    run_section(k, s->jacobian_section);
    memset(w->matrix, 0, (size_t)n * (size_t)n * sizeof *w->matrix);
    for (uint32_t j = 0; j < s->n_entries; j++)
        w->matrix[s->row[j] + (size_t)s->column[j] * s->n] += k->m[s->entry[j]].r;
    if (n <= SMALL)
        return factor_small(w->matrix, n, w->pivots);
    dgetrf_(&n, &n, w->matrix, &n, w->pivots, &info);
    return info == 0;
}

void koine_solve_factored(Machine *k, const KoineSystem *s, double *b)
{
    Workspace *w = k->workspace;
    int n = (int)s->n, one = 1, info = 0;
    if (n <= SMALL)
        solve_small(w->matrix, n, w->pivots, b);
    else
        dgetrs_("N", &n, &one, w->matrix, &n, w->pivots, b, &n, &info);
}
