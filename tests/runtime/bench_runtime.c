/* Times of the runtime against hand-written C on CVODE, as ratios of one run of this program. Not a test.
 * Usage: bench_runtime [part ...], parts: steps precision ball overhead stiff discrete large */
#include "koine/simulate.h"
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- Problems: right sides that both sides share --- */

typedef void (*Slope)(double t, const double *x, double *dx);
typedef struct {
    const char *name;
    uint32_t n;
    Slope slope;
    double start[6], stop;
    bool is_ball;
    double reference[6];
} Problem;

static void lorenz(double t, const double *x, double *dx)
{
    (void)t;
    dx[0] = 10 * (x[1] - x[0]);
    dx[1] = x[0] * (28 - x[2]) - x[1];
    dx[2] = x[0] * x[1] - 8.0 / 3.0 * x[2];
}

static void arenstorf(double t, const double *x, double *dx)
{
    const double mu = 0.012277471, nu = 1 - mu;
    const double a = (x[0] + mu) * (x[0] + mu) + x[1] * x[1], b = (x[0] - nu) * (x[0] - nu) + x[1] * x[1];
    const double d1 = a * sqrt(a), d2 = b * sqrt(b);
    (void)t;
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = x[0] + 2 * x[3] - nu * (x[0] + mu) / d1 - mu * (x[0] - nu) / d2;
    dx[3] = x[1] - 2 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
}

static const double DRAG = 0.1, KEEP = 0.8;
static void ball(double t, const double *x, double *dx) /* with drag: not a polynomial */
{
    (void)t;
    dx[0] = x[1];
    dx[1] = -9.81 - DRAG * x[1] * fabs(x[1]);
}

static void van_der_pol(double t, const double *x, double *dx)
{
    (void)t;
    dx[0] = x[1];
    dx[1] = 1000 * (1 - x[0] * x[0]) * x[1] - x[0];
}

enum { CELLS = 100 };
static void heat(double t, const double *x, double *dx)
{
    const double c = (CELLS + 1.0) * (CELLS + 1.0);
    (void)t;
    dx[0] = c * (x[1] - 2 * x[0]);
    for (int i = 1; i < CELLS - 1; ++i)
        dx[i] = c * (x[i - 1] - 2 * x[i] + x[i + 1]);
    dx[CELLS - 1] = c * (x[CELLS - 2] - 2 * x[CELLS - 1] + 1);
}

/* --- The model side: hand-written C behind model.h --- */

typedef struct {
    double time, x[CELLS], dx[CELLS];
    double band, next, count; /* of the ball: see m_commit */
    int64_t cause, pending;
} Block;

typedef struct {
    KoineModelKind kind;
    const Problem *problem;
} Kind;

static KoineTables tables;
static Kind kind;

static Block *block_of(const KoineModel *m)
{
    return (Block *)(void *)m->block;
}

static KoineStatus m_create(const KoineModelKind *k, const KoineHost *host, KoineModel **out)
{
    KoineModel *const m = calloc(1, sizeof *m);
    m->kind = k;
    m->host = host;
    m->size = (sizeof(Block) + 63) / 64 * 64;
    m->block = aligned_alloc(64, m->size);
    memset(m->block, 0, m->size);
    *out = m;
    return KOINE_OK;
}

static void m_destroy(KoineModel *m)
{
    free(m->block);
    free(m);
}

static KoineStatus m_initialise(KoineModel *m, double time)
{
    Block *const b = block_of(m);
    const Problem *const p = ((const Kind *)(const void *)m->kind)->problem;
    memset(b, 0, sizeof *b);
    b->time = time;
    b->next = INFINITY;
    if (p && p->n <= 6)
        memcpy(b->x, p->start, p->n * sizeof *b->x);
    return KOINE_OK;
}

#define DERIVATIVES(f)                                                                                                 \
    static KoineStatus m_##f(KoineModel *m)                                                                            \
    {                                                                                                                  \
        Block *const b = block_of(m);                                                                                  \
        f(b->time, b->x, b->dx);                                                                                       \
        return KOINE_OK;                                                                                               \
    }
DERIVATIVES(lorenz)
DERIVATIVES(arenstorf)
DERIVATIVES(ball)
DERIVATIVES(van_der_pol)
DERIVATIVES(heat)

static KoineStatus m_evaluate(KoineModel *m, const KoineEvaluation *at)
{
    Block *const b = block_of(m);
    b->time = at->time;
    if (at->x != b->x && at->x)
        memcpy(b->x, at->x, m->kind->tables->n_x * sizeof *b->x);
    if (at->want & KOINE_WANT_ROOTS)
        at->roots[0] = b->x[0] + b->band;
    if (at->want & KOINE_WANT_DER) {
        m->kind->derivatives(m);
        if (at->der != b->dx)
            memcpy(at->der, b->dx, m->kind->tables->n_x * sizeof *b->x);
    }
    return KOINE_OK;
}

static KoineStatus m_accept(KoineModel *m, double time, const double *x, KoineOutcome *outcome)
{
    Block *const b = block_of(m);
    (void)time, (void)outcome;
    if (b->band > 0 && x[0] > b->band)
        b->band = 0;
    return KOINE_OK;
}

static KoineStatus m_arrive(KoineModel *m, const KoineArrival *arrival)
{
    Block *const b = block_of(m);
    b->time = arrival->time;
    b->cause = arrival->cause;
    b->pending = (arrival->cause & (KOINE_AT_ROOTS | KOINE_AT_TIME)) != 0;
    return KOINE_OK;
}

static KoineStatus m_step(KoineModel *m, KoineOutcome *outcome)
{
    outcome->flags = block_of(m)->pending ? KOINE_COMMIT : 0;
    return KOINE_OK;
}

static KoineStatus m_commit(KoineModel *m, KoineOutcome *outcome)
{
    Block *const b = block_of(m);
    b->pending = 0;
    b->count += 1;
    outcome->event_step = 1;
    if (b->cause & KOINE_AT_ROOTS) {
        b->band = 2 * fabs(b->x[0]) + 1e-15;
        b->x[1] = -KEEP * b->x[1];
    }
    return KOINE_OK;
}

static KoineStatus m_leave(KoineModel *m, KoineOutcome *outcome)
{
    const Block *const b = block_of(m);
    outcome->flags = b->cause & KOINE_AT_ROOTS ? KOINE_CHANGED | KOINE_RESTART | KOINE_STATES : KOINE_CHANGED;
    outcome->next_time = b->next;
    return KOINE_OK;
}

static KoineStatus m_leave_ticking(KoineModel *m, KoineOutcome *outcome)
{
    outcome->flags = KOINE_CHANGED;
    outcome->next_time = 1e-3 * (block_of(m)->count + 1);
    return KOINE_OK;
}

static KoineStatus m_leave_quiet(KoineModel *m, KoineOutcome *outcome)
{
    (void)m;
    outcome->flags = 0;
    outcome->next_time = INFINITY;
    return KOINE_OK;
}

/* Dense or tridiagonal exact Jacobians. */
static KoineStatus m_jacobian(KoineModel *m, const KoineEvaluation *at, int by, double cj, double *v)
{
    const Problem *const p = ((const Kind *)(const void *)m->kind)->problem;
    const double *const x = at->x;
    (void)by, (void)cj;
    if (p->slope == van_der_pol) {
        v[0] = 0, v[1] = 1, v[2] = -2000 * x[0] * x[1] - 1, v[3] = 1000 * (1 - x[0] * x[0]);
    } else if (p->slope == lorenz) {
        const double j[9] = { -10, 10, 0, 28 - x[2], -1, -x[0], x[1], x[0], -8.0 / 3.0 };
        memcpy(v, j, sizeof j);
    } else {
        const double c = (CELLS + 1.0) * (CELLS + 1.0);
        for (int i = 0, k = 0; i < CELLS; ++i)
            for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < CELLS; ++j)
                v[k++] = i == j ? -2 * c : c;
    }
    return KOINE_OK;
}

static uint32_t pattern_start[CELLS + 1], pattern_index[3 * CELLS];

static void make_kind(const Problem *p, KoineStatus (*derivatives)(KoineModel *), bool has_jacobian)
{
    static const KoineOrigin roots[1] = { { "x > 0", "", { 0 } } };
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->n; ++i) {
        pattern_start[i] = k;
        for (uint32_t j = 0; j < p->n; ++j)
            if (p->n < 6 || (j + 1 >= i && j <= i + 1))
                pattern_index[k++] = j;
    }
    pattern_start[p->n] = k;
    tables = (KoineTables){ .name = p->name,
                            .x = offsetof(Block, x),
                            .dx = offsetof(Block, dx),
                            .time = offsetof(Block, time),
                            .n_x = p->n,
                            .roots.n = p->is_ball,
                            .roots.at = roots,
                            .block_size = sizeof(Block) };
    if (has_jacobian)
        tables.patterns.jacobian = (KoinePattern){ p->n, p->n, pattern_start, pattern_index, NULL, 0 };
    kind = (Kind){ .kind = { .version = KOINE_MODEL_VERSION,
                             .size = sizeof(KoineModelKind),
                             .tables = &tables,
                             .create = m_create,
                             .destroy = m_destroy,
                             .initialise = m_initialise,
                             .evaluate = m_evaluate,
                             .accept = m_accept,
                             .arrive = m_arrive,
                             .step = m_step,
                             .commit = m_commit,
                             .leave = p->is_ball ? m_leave : m_leave_quiet,
                             .derivatives = derivatives,
                             .partial.jacobian = has_jacobian ? m_jacobian : NULL },
                   .problem = p };
    if (p->is_ball)
        kind.kind.leave = m_leave;
}

typedef struct {
    double seconds, error;
    KoineRunStatistics statistics;
} Result;

static double error_of(const Problem *p, const double *x)
{
    double e = 0;
    for (uint32_t i = 0; i < p->n && i < 6; ++i)
        e = fmax(e, fabs(x[i] - p->reference[i]));
    return e;
}

/* Best of some runs, each repeated to last a while. */
static Result run_koine(const Problem *p, const char *solver, double tolerance, double *x)
{
    Result best = { .seconds = INFINITY };
    int repeat = 1;
    for (int trial = 0; trial < 7; ++trial) {
        KoineRunReport report;
        const double begun = now();
        for (int k = 0; k < repeat; ++k) {
            KoineModel *m;
            m_create(&kind.kind, NULL, &m);
            koine_simulate(m, &(KoineRunOptions){ .stop = p->stop, .tolerance = tolerance, .solver = solver }, &report);
            if (report.end != KOINE_RUN_DONE) {
                printf("!! %s\n", report.text);
                exit(1);
            }
            best.error = error_of(p, block_of(m)->x);
            if (x)
                memcpy(x, block_of(m)->x, p->n * sizeof *x);
            m_destroy(m);
        }
        const double seconds = (now() - begun) / repeat;
        best.seconds = fmin(best.seconds, seconds);
        best.statistics = report.statistics;
        repeat = (int)fmin(2000, 1 + 0.02 / seconds);
    }
    return best;
}

/* --- Hand-written C on CVODE --- */

static const Problem *plain_problem;
static long plain_evaluations;

static int plain_slope(double t, N_Vector y, N_Vector dy, void *data)
{
    (void)data;
    ++plain_evaluations;
    plain_problem->slope(t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return 0;
}

static int plain_root(double t, N_Vector y, double *z, void *data)
{
    (void)t, (void)data;
    z[0] = N_VGetArrayPointer(y)[0];
    return 0;
}

static int plain_jacobian(double t, N_Vector y, N_Vector fy, SUNMatrix J, void *data, N_Vector a, N_Vector b,
                          N_Vector c)
{
    const double *const x = N_VGetArrayPointer(y);
    (void)t, (void)fy, (void)data, (void)a, (void)b, (void)c;
    if (plain_problem->slope == van_der_pol) {
        SM_ELEMENT_D(J, 0, 1) = 1;
        SM_ELEMENT_D(J, 1, 0) = -2000 * x[0] * x[1] - 1;
        SM_ELEMENT_D(J, 1, 1) = 1000 * (1 - x[0] * x[0]);
    } else if (plain_problem->slope == lorenz) {
        const double j[9] = { -10, 10, 0, 28 - x[2], -1, -x[0], x[1], x[0], -8.0 / 3.0 };
        for (int i = 0; i < 9; ++i)
            SM_ELEMENT_D(J, i / 3, i % 3) = j[i];
    } else {
        const double k = (CELLS + 1.0) * (CELLS + 1.0);
        double *const v = SM_DATA_S(J);
        sunindextype *const start = SM_INDEXPTRS_S(J), *const index = SM_INDEXVALS_S(J);
        sunindextype at = 0;
        for (int i = 0; i < CELLS; ++i) {
            start[i] = at;
            for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < CELLS; ++j) {
                index[at] = j;
                v[at++] = i == j ? -2 * k : k;
            }
        }
        start[CELLS] = at;
    }
    return 0;
}

static void plain_once(const Problem *p, int method, double tolerance, bool has_jacobian, double *x, long *steps)
{
    SUNContext context;
    SUNContext_Create(NULL, &context);
    N_Vector y = N_VNew_Serial(p->n, context), atol = N_VNew_Serial(p->n, context);
    double *const data = N_VGetArrayPointer(y);
    memset(data, 0, p->n * sizeof *data);
    if (p->n <= 6)
        memcpy(data, p->start, p->n * sizeof *data);
    for (uint32_t i = 0; i < p->n; ++i)
        N_VGetArrayPointer(atol)[i] = tolerance * 1e-3 * (data[i] != 0 ? fmin(fmax(fabs(data[i]), 1e-6), 1) : 1);
    void *memory = CVodeCreate(method, context);
    CVodeInit(memory, plain_slope, 0, y);
    CVodeSVtolerances(memory, tolerance, atol);
    CVodeSetMaxNumSteps(memory, 10000000);
    SUNMatrix A = NULL;
    SUNLinearSolver L = NULL;
    SUNNonlinearSolver N = NULL;
    if (method == CV_ADAMS) {
        N = SUNNonlinSol_FixedPoint(y, 0, context);
        CVodeSetNonlinearSolver(memory, N);
    } else {
        const bool is_sparse = p->n > 6;
        A = is_sparse ? SUNSparseMatrix(p->n, p->n, 3 * p->n, CSR_MAT, context) : SUNDenseMatrix(p->n, p->n, context);
        L = is_sparse ? SUNLinSol_KLU(y, A, context) : SUNLinSol_Dense(y, A, context);
        CVodeSetLinearSolver(memory, L, A);
        if (has_jacobian || is_sparse)
            CVodeSetJacFn(memory, plain_jacobian);
    }
    if (p->is_ball) {
        CVodeRootInit(memory, 1, plain_root);
        CVodeSetRootDirection(memory, (int[]){ -1 });
    }
    CVodeSetStopTime(memory, p->stop);
    double t = 0;
    long more = 0;
    while (t < p->stop) {
        const int flag = CVode(memory, p->stop, y, &t, CV_NORMAL);
        if (flag < 0)
            break;
        if (flag == CV_ROOT_RETURN) {
            long n = 0;
            CVodeGetNumSteps(memory, &n);
            more += n;
            data[1] = -KEEP * data[1];
            CVodeReInit(memory, t, y);
            CVodeSetStopTime(memory, p->stop);
        }
    }
    CVodeGetNumSteps(memory, steps);
    *steps += more;
    memcpy(x, data, p->n * sizeof *x);
    CVodeFree(&memory);
    N_VDestroy(y);
    N_VDestroy(atol);
    if (A)
        SUNMatDestroy(A);
    if (L)
        SUNLinSolFree(L);
    if (N)
        SUNNonlinSolFree(N);
    SUNContext_Free(&context);
}

static Result run_plain(const Problem *p, int method, double tolerance, bool has_jacobian)
{
    Result best = { .seconds = INFINITY };
    double x[CELLS];
    int repeat = 1;
    plain_problem = p;
    for (int trial = 0; trial < 7; ++trial) {
        long steps = 0;
        const double begun = now();
        plain_evaluations = 0;
        for (int k = 0; k < repeat; ++k)
            plain_once(p, method, tolerance, has_jacobian, x, &steps);
        const double seconds = (now() - begun) / repeat;
        best.seconds = fmin(best.seconds, seconds);
        best.statistics.integration.steps = (uint64_t)steps;
        best.statistics.integration.evaluations = (uint64_t)plain_evaluations / (uint64_t)repeat;
        repeat = (int)fmin(2000, 1 + 0.02 / seconds);
    }
    best.error = error_of(p, x);
    return best;
}

/* --- Parts --- */

static Problem lorenz_problem = { "lorenz", 3, lorenz, { 1, 1, 1 }, 10, false, { 0 } };
static Problem arenstorf_problem = {
    "arenstorf", 4,    arenstorf, { 0.994, 0, 0, -2.00158510637908252240537862224 }, 17.0652165601579625588917206249,
    false,       { 0 }
};
static Problem ball_problem = { "ball", 2, ball, { 1, 0 }, 3, true, { 0 } };
static Problem van_der_pol_problem = { "van der pol", 2, van_der_pol, { 2, 0 }, 2000, false, { 0 } };
static Problem heat_problem = { "heat", CELLS, heat, { 0 }, 1, false, { 0 } };

static void part_steps(void)
{
    make_kind(&lorenz_problem, m_lorenz, false);
    lorenz_problem.stop = 1000;
    const char *const names[] = { "dopri5", "dop853", "auto" };
    for (int k = 0; k < 3; ++k) {
        const Result r = run_koine(&lorenz_problem, names[k], 1e-6, NULL);
        printf("lorenz %-8s %8llu steps %8.1f ns per step, %6.2f ns per evaluation\n", names[k],
               (unsigned long long)r.statistics.integration.steps,
               1e9 * r.seconds / (double)r.statistics.integration.steps,
               1e9 * r.seconds / (double)r.statistics.integration.evaluations);
    }
    lorenz_problem.stop = 10;
}

/* Time at equal error, by interpolation in the logarithms. */
static double time_at(const Result *r, int n, double error)
{
    for (int k = 0; k + 1 < n; ++k)
        if (r[k].error >= error && r[k + 1].error < error) {
            const double s = log(error / r[k].error) / log(r[k + 1].error / r[k].error);
            return r[k].seconds * pow(r[k + 1].seconds / r[k].seconds, s);
        }
    return NAN;
}

static void part_precision(void)
{
    static const struct {
        Problem *problem;
        KoineStatus (*derivatives)(KoineModel *);
    } rows[] = { { &lorenz_problem, m_lorenz }, { &arenstorf_problem, m_arenstorf }, { &ball_problem, m_ball } };
    enum { TOLERANCES = 10 };
    for (int k = 0; k < 3; ++k) {
        Problem *const p = rows[k].problem;
        make_kind(p, rows[k].derivatives, false);
        run_koine(p, "dop853", 1e-13, p->reference);
        if (p == &arenstorf_problem)
            memcpy(p->reference, p->start, sizeof p->reference); /* the orbit is periodic */
        Result r[5][TOLERANCES];
        for (int i = 0; i < TOLERANCES; ++i) {
            const double tolerance = pow(10, -4 - i);
            r[0][i] = run_koine(p, "dopri5", tolerance, NULL);
            r[1][i] = run_koine(p, "dop853", tolerance, NULL);
            r[2][i] = run_koine(p, "auto", tolerance, NULL);
            r[3][i] = run_plain(p, CV_ADAMS, tolerance, false);
            r[4][i] = run_plain(p, CV_BDF, tolerance, false);
            printf("%-10s %g  error/us/steps ", p->name, tolerance);
            for (int s = 0; s < 5; ++s)
                printf(" | %.1e %8.1f %6llu", r[s][i].error, 1e6 * r[s][i].seconds,
                       (unsigned long long)r[s][i].statistics.integration.steps);
            printf("\n");
        }
        for (double error = 1e-5; error > 1e-11; error *= 0.1) {
            const double best = fmin(time_at(r[3], TOLERANCES, error), time_at(r[4], TOLERANCES, error));
            printf("%-10s at error %.0e: dopri5 %.3f  dop853 %.3f  auto %.3f of the better CVODE\n", p->name, error,
                   time_at(r[0], TOLERANCES, error) / best, time_at(r[1], TOLERANCES, error) / best,
                   time_at(r[2], TOLERANCES, error) / best);
        }
    }
}

enum { TRIALS = 9 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void part_overhead(void)
{
    static const struct {
        Problem *problem;
        KoineStatus (*derivatives)(KoineModel *);
        int method;
        const char *solver;
    } rows[] = { { &lorenz_problem, m_lorenz, CV_BDF, "cvode-bdf" },
                 { &lorenz_problem, m_lorenz, CV_ADAMS, "cvode-adams" },
                 { &van_der_pol_problem, m_van_der_pol, CV_BDF, "cvode-bdf" },
                 { &heat_problem, m_heat, CV_BDF, "cvode-bdf" } };
    for (int k = 0; k < 4; ++k) {
        make_kind(rows[k].problem, rows[k].derivatives, true);
        const double stop = rows[k].problem->stop;
        if (rows[k].problem == &lorenz_problem)
            rows[k].problem->stop = 100;
        Result a = { .seconds = INFINITY }, b = a;
        double ratios[TRIALS];
        for (int trial = 0; trial < TRIALS; ++trial) { /* in turn, so that both meet the same disturbances */
            const Result ours = run_koine(rows[k].problem, rows[k].solver, 1e-6, NULL);
            const Result plain = run_plain(rows[k].problem, rows[k].method, 1e-6, true);
            ratios[trial] = ours.seconds / plain.seconds;
            a = ours.seconds < a.seconds ? ours : a;
            b = plain.seconds < b.seconds ? plain : b;
        }
        qsort(ratios, TRIALS, sizeof ratios[0], compare);
        printf("%-12s %-12s ours %9.1f us %llu steps %llu f, plain %9.1f us %llu steps %llu f, ratio of the best %.3f, "
               "ratios %.3f median, %.3f to %.3f\n",
               rows[k].problem->name, rows[k].solver, 1e6 * a.seconds,
               (unsigned long long)a.statistics.integration.steps,
               (unsigned long long)a.statistics.integration.evaluations, 1e6 * b.seconds,
               (unsigned long long)b.statistics.integration.steps,
               (unsigned long long)b.statistics.integration.evaluations, a.seconds / b.seconds, ratios[TRIALS / 2],
               ratios[0], ratios[TRIALS - 1]);
        rows[k].problem->stop = stop;
    }
}

static void part_stiff(void)
{
    for (int k = 0; k < 2; ++k) {
        Problem *const p = k ? &heat_problem : &van_der_pol_problem;
        make_kind(p, k ? m_heat : m_van_der_pol, true);
        for (double tolerance = 1e-4; tolerance > 1e-9; tolerance *= 0.01) {
            Result a = { .seconds = INFINITY }, c = a;
            for (int trial = 0; trial < TRIALS; ++trial) {
                const Result automatic = run_koine(p, "auto", tolerance, NULL);
                const Result bdf = run_koine(p, "cvode-bdf", tolerance, NULL);
                a = automatic.seconds < a.seconds ? automatic : a;
                c = bdf.seconds < c.seconds ? bdf : c;
            }
            printf("%-12s tol %g auto %8.1f us %llu steps, cvode-bdf %8.1f us %llu steps, ratio of the best %.3f; %s\n",
                   p->name, tolerance, 1e6 * a.seconds, (unsigned long long)a.statistics.integration.steps,
                   1e6 * c.seconds, (unsigned long long)c.statistics.integration.steps, a.seconds / c.seconds,
                   a.statistics.choice);
        }
    }
}

static void part_discrete(void)
{
    static const Problem none = { "ticks", 0, NULL, { 0 }, 10000, false, { 0 } };
    make_kind(&none, NULL, false);
    kind.kind.leave = m_leave_ticking;
    tables.capabilities = KOINE_IS_AUTONOMOUS;
    const Result r = run_koine(&none, NULL, 0, NULL);
    printf("discrete: %llu event steps, %.1f ns per instant with one event step each\n",
           (unsigned long long)r.statistics.events.event_steps,
           1e9 * r.seconds / (double)r.statistics.events.event_steps);
}

/* --- A million states: a long chain x_i' = x_{i-1} - 2 x_i + x_{i+1}, pattern known, Jacobian by colours --- */

static uint32_t large_n = 1000000;

static KoineStatus l_create(const KoineModelKind *k, const KoineHost *host, KoineModel **out)
{
    KoineModel *const m = calloc(1, sizeof *m);
    m->kind = k;
    m->host = host;
    m->size = k->tables->block_size;
    m->block = aligned_alloc(64, m->size);
    memset(m->block, 0, m->size);
    *out = m;
    return KOINE_OK;
}

static KoineStatus l_initialise(KoineModel *m, double time)
{
    (void)time;
    double *const x = (double *)(void *)(m->block + m->kind->tables->x);
    for (uint32_t i = 0; i < large_n; ++i)
        x[i] = sin(1e-3 * i);
    return KOINE_OK;
}

static KoineStatus l_derivatives(KoineModel *m)
{
    const double *const x = (const double *)(const void *)(m->block + m->kind->tables->x);
    double *const dx = (double *)(void *)(m->block + m->kind->tables->dx);
    dx[0] = x[1] - 2 * x[0];
    for (uint32_t i = 1; i + 1 < large_n; ++i)
        dx[i] = x[i - 1] - 2 * x[i] + x[i + 1];
    dx[large_n - 1] = x[large_n - 2] - 2 * x[large_n - 1];
    return KOINE_OK;
}

static KoineStatus l_accept(KoineModel *m, double time, const double *x, KoineOutcome *outcome)
{
    (void)m, (void)time, (void)x, (void)outcome;
    return KOINE_OK;
}

static KoineStatus l_arrive(KoineModel *m, const KoineArrival *arrival)
{
    (void)m, (void)arrival;
    return KOINE_OK;
}

static KoineStatus l_step(KoineModel *m, KoineOutcome *outcome)
{
    (void)m;
    outcome->flags = 0;
    return KOINE_OK;
}

static KoineStatus l_evaluate(KoineModel *m, const KoineEvaluation *at)
{
    (void)at;
    return m->kind->derivatives(m);
}

static long peak_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void part_large(void)
{
    const char *const names[] = { "euler", "dopri5", "dop853", "auto", "cvode-adams", "cvode-bdf" };
    uint32_t *const start = malloc((large_n + 1) * sizeof *start), *const index = malloc(3 * large_n * sizeof *index);
    uint32_t k = 0;
    for (uint32_t i = 0; i < large_n; ++i) {
        start[i] = k;
        for (uint32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < large_n; ++j)
            index[k++] = j;
    }
    start[large_n] = k;
    const KoineTables large = { .name = "chain",
                                .block_size = 64 + 16 * (uint64_t)large_n,
                                .x = 64,
                                .dx = 64 + 8 * (uint64_t)large_n,
                                .n_x = large_n,
                                .patterns.jacobian = { large_n, large_n, start, index, NULL, 0 } };
    const KoineModelKind chain = { .version = KOINE_MODEL_VERSION,
                                   .size = sizeof chain,
                                   .tables = &large,
                                   .create = l_create,
                                   .destroy = m_destroy,
                                   .initialise = l_initialise,
                                   .evaluate = l_evaluate,
                                   .accept = l_accept,
                                   .arrive = l_arrive,
                                   .step = l_step,
                                   .commit = l_step,
                                   .leave = m_leave_quiet,
                                   .derivatives = l_derivatives };
    for (int i = 0; i < 6; ++i) {
        KoineModel *m;
        KoineRunReport report;
        chain.create(&chain, NULL, &m);
        const double begun = now();
        koine_simulate(m, &(KoineRunOptions){ .stop = 2, .step = 0.1, .solver = names[i] }, &report);
        printf("%u states, %-12s %6.2f s, %4llu steps, %4llu evaluations, peak %ld MB %s\n", (unsigned)large_n,
               names[i], now() - begun, (unsigned long long)report.statistics.integration.steps,
               (unsigned long long)report.statistics.integration.evaluations, peak_megabytes(), report.text);
        m_destroy(m);
    }
    free(start);
    free(index);
}

static void part_ball(void)
{
    make_kind(&ball_problem, m_ball, false);
    run_koine(&ball_problem, "dop853", 1e-13, ball_problem.reference);
    const Result r = run_koine(&ball_problem, "dopri5", 1e-8, NULL);
    printf("ball dopri5 1e-8: %.1f us, %llu steps, %llu evaluations, %llu of roots, %llu events\n", 1e6 * r.seconds,
           (unsigned long long)r.statistics.integration.steps, (unsigned long long)r.statistics.integration.evaluations,
           (unsigned long long)r.statistics.integration.root_evaluations,
           (unsigned long long)r.statistics.events.state_events);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*part)(void);
    } parts[] = { { "steps", part_steps },       { "precision", part_precision }, { "ball", part_ball },
                  { "overhead", part_overhead }, { "stiff", part_stiff },         { "discrete", part_discrete },
                  { "large", part_large } };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k) {
        bool is_wanted = argc == 1;
        for (int i = 1; i < argc; ++i)
            is_wanted = is_wanted || strcmp(argv[i], parts[k].name) == 0;
        if (is_wanted)
            parts[k].part();
    }
    return 0;
}
