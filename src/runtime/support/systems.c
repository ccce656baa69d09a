/* Algebraic systems: linear ones by LU, iteration formulas by substitution, others by damped Newton iteration with the
 * exact Jacobian.
 *
 * An iteration starts at the last accepted solution, so that repeated trials give the same result. */
#include "machine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivots, double *b, const int *ldb, int *info);

static const double NEWTON_TOLERANCE = 1e-12; /* of a step, relative to the unknown or its nominal value */
static const double NEWTON_SHRINK = 0.5;      /* damping, when the residual does not fall */
static const double ITERATION_TOLERANCE = 1e-10;
static const double ITERATION_FLOOR = 1e-4; /* of the tolerance: for values that tend to zero */
static const uint32_t ITERATION_CYCLES = 50;
static const double NEWTON_SMALLEST = 1e-4; /* smallest fraction of a full step */
enum { NEWTON_STEPS = 60, SMALL = 8 };

struct Workspace {
    uint32_t n; /* largest system */
    double *matrix, *step, *before, *trial;
    int *pivots;
};

Workspace *koine_workspace_create(const KoineProgram *program)
{
    Workspace *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    for (uint32_t k = 0; k < program->n_systems; k++)
        if (program->systems[k].n > w->n)
            w->n = program->systems[k].n;
    const size_t n = w->n ? w->n : 1;
    w->matrix = malloc(n * n * sizeof *w->matrix);
    w->step = malloc(3 * n * sizeof *w->step);
    w->pivots = malloc(n * sizeof *w->pivots);
    if (!w->matrix || !w->step || !w->pivots) {
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
static bool factor(Machine *k, const KoineSystem *s)
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

static void solve(Machine *k, const KoineSystem *s, double *b)
{
    Workspace *w = k->workspace;
    int n = (int)s->n, one = 1, info = 0;
    if (n <= SMALL)
        solve_small(w->matrix, n, w->pivots, b);
    else
        dgetrs_("N", &n, &one, w->matrix, &n, w->pivots, b, &n, &info);
}

/* ---- messages ---- */
static KoineStatus report(Machine *k, const KoineSystem *s, const char *what)
{
    char text[600];
    int n = snprintf(text, sizeof text, "%s;", what);
    for (uint32_t j = 0; j < s->n && j < 6 && n < 520; j++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %.60s = ", j ? "," : " last values:", s->names[j]);
        n += s->types[j] == KOINE_REAL
                 ? snprintf(text + n, sizeof text - (size_t)n, "%.9g", k->m[s->unknowns[j]].r)
                 : snprintf(text + n, sizeof text - (size_t)n, "%lld", (long long)k->m[s->unknowns[j]].i);
    }
    koine_fault(k, KOINE_RETRY, s->origin, text);
    return KOINE_RETRY;
}

/* ---- solving ---- */
static inline void count_system(const Machine *k, const KoineSystem *s)
{
    if (k->counts)
        k->counts->systems[s - k->program->systems]++;
}

static double residual_norm(Machine *k, const KoineSystem *s)
{
    count_system(k, s);
    run_section(k, s->residual_section);
    double sum = 0;
    for (uint32_t j = 0; j < s->n; j++)
        sum += k->m[s->residuals[j]].r * k->m[s->residuals[j]].r;
    return sum;
}

static KoineStatus solve_linear(Machine *k, const KoineSystem *s)
{
    Workspace *w = k->workspace;
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->unknowns[j]].r = 0;
    count_system(k, s);
    run_section(k, s->residual_section);
    k->statistics.linear_solves++;
    if (!factor(k, s))
        return report(k, s, "the linear equations have no unique solution");
    for (uint32_t j = 0; j < s->n; j++)
        w->step[j] = -k->m[s->residuals[j]].r;
    solve(k, s, w->step);
    for (uint32_t j = 0; j < s->n; j++) {
        if (!isfinite(w->step[j]))
            return report(k, s, "the linear equations have no finite solution");
        k->m[s->unknowns[j]].r = w->step[j];
    }
    return KOINE_OK;
}

static bool is_small_step(const Machine *k, const KoineSystem *s)
{
    for (uint32_t j = 0; j < s->n; j++) {
        const double size = fabs(k->m[s->unknowns[j]].r);
        if (!(fabs(k->workspace->step[j]) <= NEWTON_TOLERANCE * (size > s->nominals[j] ? size : s->nominals[j])))
            return false;
    }
    return true;
}

static KoineStatus solve_newton(Machine *k, const KoineSystem *s)
{
    Workspace *w = k->workspace;
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->unknowns[j]] = k->m[s->guesses[j]];
    double norm = residual_norm(k, s);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        k->statistics.newton_iterations++;
        if (!isfinite(norm))
            return report(k, s, "the equations cannot be evaluated at the start of the iteration");
        if (!factor(k, s))
            return report(k, s, "the equations are singular at the last iterate");
        for (uint32_t j = 0; j < s->n; j++) {
            w->step[j] = -k->m[s->residuals[j]].r;
            w->before[j] = k->m[s->unknowns[j]].r;
        }
        solve(k, s, w->step);
        const bool is_last = is_small_step(k, s);
        double fraction = 1, next = 0;
        for (;;) { /* damping: the residual must fall */
            for (uint32_t j = 0; j < s->n; j++)
                k->m[s->unknowns[j]].r = w->before[j] + fraction * w->step[j];
            next = residual_norm(k, s);
            if (is_last || (isfinite(next) && next <= norm * (1 - 0.1 * fraction)) || fraction < NEWTON_SMALLEST)
                break;
            fraction *= NEWTON_SHRINK;
        }
        if (is_last && isfinite(next))
            return KOINE_OK;
        norm = next;
        if (norm == 0)
            return KOINE_OK;
    }
    return report(k, s, "the iteration for the nonlinear equations did not converge");
}

/* ---- iteration formulas ---- */
static bool is_settled(const KoineSystem *s, uint32_t j, double tolerance, KoineSlot before, KoineSlot now,
                       double largest)
{
    if (s->types[j] != KOINE_REAL)
        return before.i == now.i;
    const double scale = largest < s->nominals[j] ? largest : s->nominals[j];
    return fabs(now.r - before.r) <= tolerance * (fabs(now.r) + ITERATION_FLOOR * scale);
}

static void count_cycles(Machine *k, uint32_t cycles)
{
    k->statistics.iterations++;
    k->statistics.cycles += cycles;
    if (cycles > k->statistics.most_cycles)
        k->statistics.most_cycles = cycles;
}

/* The assignments in their order, again and again, from the last solution; the first time from the start values. */
static KoineStatus solve_by_iteration(Machine *k, const KoineSystem *s)
{
    const KoineHost *host = k->model->host;
    const uint32_t most = host && host->max_cycles ? host->max_cycles : ITERATION_CYCLES;
    const double tolerance = host && host->iteration_tolerance > 0 ? host->iteration_tolerance : ITERATION_TOLERANCE;
    double *largest = k->workspace->step;
    for (uint32_t j = 0; j < s->n; j++) {
        k->m[s->unknowns[j]] = k->m[s->guesses[j]];
        largest[j] = 0;
    }
    for (uint32_t cycle = 1; cycle <= most; cycle++) {
        bool all_settled = true;
        count_system(k, s);
        for (uint32_t j = 0; j < s->n; j++) {
            const KoineSlot before = k->m[s->unknowns[j]];
            run_kernel(k, s->kernels[j], s->rows[j], 1);
            const KoineSlot now = k->m[s->residuals[j]];
            if (s->types[j] == KOINE_REAL ? !isfinite(now.r) : now.i == INT64_MIN)
                return koine_fault(k, KOINE_RETRY, s->origin, NULL);
            if (fabs(before.r) > largest[j])
                largest[j] = fabs(before.r);
            all_settled &= is_settled(s, j, tolerance, before, now, largest[j]);
            k->m[s->unknowns[j]] = now;
        }
        if (all_settled) {
            count_cycles(k, cycle);
            return KOINE_OK;
        }
    }
    count_cycles(k, most);
    char text[120];
    snprintf(text, sizeof text, "the iteration does not settle within %u cycles (MaxCyc)", most);
    return report(k, s, text);
}

KoineStatus koine_solve_system(Machine *k, uint32_t system)
{
    const KoineSystem *s = &k->program->systems[system];
    KoineModelStatistics *done = &k->statistics;
    const uint64_t before = done->newton_iterations + done->cycles;
    const KoineStatus status = s->kind == KOINE_SYSTEM_LINEAR    ? solve_linear(k, s)
                               : s->kind == KOINE_SYSTEM_ITERATE ? solve_by_iteration(k, s)
                                                                 : solve_newton(k, s);
    if (s->kind != KOINE_SYSTEM_LINEAR)
        done->by_cycles[koine_bucket(done->newton_iterations + done->cycles - before)]++;
    return status;
}

/* Jacobian * tangent of the unknowns = - tangent of the residuals. */
KoineStatus koine_solve_tangent(Machine *k, uint32_t system)
{
    const KoineSystem *s = &k->program->systems[system];
    Workspace *w = k->workspace;
    run_section(k, s->tangent_section);
    if (!factor(k, s))
        return KOINE_RETRY;
    for (uint32_t j = 0; j < s->n; j++)
        w->step[j] = -k->m[s->tangent_residuals[j]].r;
    solve(k, s, w->step);
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->tangent_unknowns[j]].r = w->step[j];
    return KOINE_OK;
}

void koine_keep_guesses(Machine *k)
{
    for (uint32_t n = 0; n < k->program->n_run_systems; n++) {
        const KoineSystem *s = &k->program->systems[n];
        for (uint32_t j = 0; j < s->n; j++)
            if (s->types[j] != KOINE_REAL || isfinite(k->m[s->unknowns[j]].r))
                k->m[s->guesses[j]] = k->m[s->unknowns[j]];
    }
}
