#include "hand.h"
#include "hand_slopes.h"
#include "reference.h"
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

/* ---- Lorenz ---- */
static int lorenz_callback(double t, N_Vector y, N_Vector dy, void *data)
{
    return lorenz_slopes(t, NV_DATA_S(y), NV_DATA_S(dy), data);
}

static int lorenz_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix j, void *data, N_Vector a, N_Vector b,
                           N_Vector c)
{
    const Lorenz *p = data;
    const double *x = NV_DATA_S(y);
    double *m = SM_DATA_D(j); /* by columns */
    (void)t, (void)dy, (void)a, (void)b, (void)c;
    m[0] = -p->sigma;
    m[1] = p->rho - x[2];
    m[2] = x[1];
    m[3] = p->sigma;
    m[4] = -1;
    m[5] = x[0];
    m[6] = 0;
    m[7] = -x[0];
    m[8] = -p->beta;
    return 0;
}

static void lorenz_exact(const long double *x, long double *dx)
{
    dx[0] = lorenz.sigma * (x[1] - x[0]);
    dx[1] = x[0] * (lorenz.rho - x[2]) - x[1];
    dx[2] = x[0] * x[1] - lorenz.beta * x[2];
}

static void lorenz_reference(const double *start, double stop, double *x)
{
    reference_solve(3, lorenz_exact, start, stop, x);
}

const Hand hand_lorenz = { .name = "lorenz",
                           .file = "Lorenz.mdl",
                           .n = 3,
                           .names = (const char *const[]){ "X", "Y", "Z" },
                           .start = (const double[]){ 1, 1, 1 },
                           .stop = 10,
                           .parameters = &lorenz,
                           .callback = lorenz_callback,
                           .jacobian = lorenz_jacobian,
                           .reference = lorenz_reference };

/* ---- Van der Pol ---- */
static int van_der_pol_callback(double t, N_Vector y, N_Vector dy, void *data)
{
    return van_der_pol_slopes(t, NV_DATA_S(y), NV_DATA_S(dy), data);
}

static int van_der_pol_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix j, void *data, N_Vector a, N_Vector b,
                                N_Vector c)
{
    const VanDerPol *p = data;
    const double *x = NV_DATA_S(y);
    double *m = SM_DATA_D(j);
    (void)t, (void)dy, (void)a, (void)b, (void)c;
    m[0] = 0;
    m[1] = -2 * p->mu * x[0] * x[1] - 1;
    m[2] = 1;
    m[3] = p->mu * (1 - x[0] * x[0]);
    return 0;
}

static void van_der_pol_exact(const long double *x, long double *dx)
{
    dx[0] = x[1];
    dx[1] = van_der_pol.mu * (1 - x[0] * x[0]) * x[1] - x[0];
}

static void van_der_pol_reference(const double *start, double stop, double *x)
{
    reference_solve(2, van_der_pol_exact, start, stop, x);
}

const Hand hand_van_der_pol = { .name = "vanderpol",
                                .file = "VanDerPol.mdl",
                                .n = 2,
                                .names = (const char *const[]){ "X", "V" },
                                .start = (const double[]){ 2, 0 },
                                .stop = 2000,
                                .parameters = &van_der_pol,
                                .callback = van_der_pol_callback,
                                .jacobian = van_der_pol_jacobian,
                                .is_stiff = true,
                                .reference = van_der_pol_reference };

/* ---- Arenstorf ---- */
static int arenstorf_callback(double t, N_Vector y, N_Vector dy, void *data)
{
    return arenstorf_slopes(t, NV_DATA_S(y), NV_DATA_S(dy), data);
}

static int arenstorf_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix j, void *data, N_Vector a, N_Vector b,
                              N_Vector c)
{
    const double mu = ((const Arenstorf *)data)->mu, nu = 1 - mu;
    const double *x = NV_DATA_S(y);
    double *m = SM_DATA_D(j);
    (void)t, (void)dy, (void)a, (void)b, (void)c;
    const double earth = x[0] + mu, moon = x[0] - nu;
    const double r1 = earth * earth + x[1] * x[1], r2 = moon * moon + x[1] * x[1];
    const double d1 = nu / (r1 * sqrt(r1)), d2 = mu / (r2 * sqrt(r2));
    const double e1 = 3 * d1 / r1, e2 = 3 * d2 / r2;
    memset(m, 0, 16 * sizeof *m);
    m[2] = 1 - d1 - d2 + e1 * earth * earth + e2 * moon * moon;
    m[3] = (e1 * earth + e2 * moon) * x[1];
    m[6] = m[3];
    m[7] = 1 - d1 - d2 + (e1 + e2) * x[1] * x[1];
    m[8] = 1;
    m[11] = -2;
    m[13] = 1;
    m[14] = 2;
    return 0;
}

static void arenstorf_exact(const long double *x, long double *dx)
{
    const long double mu = arenstorf.mu, nu = 1 - arenstorf.mu;
    const long double earth = x[0] + mu, moon = x[0] - nu;
    const long double r1 = earth * earth + x[1] * x[1], r2 = moon * moon + x[1] * x[1];
    const long double d1 = r1 * sqrtl(r1), d2 = r2 * sqrtl(r2);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = x[0] + 2 * x[3] - nu * earth / d1 - mu * moon / d2;
    dx[3] = x[1] - 2 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
}

static void arenstorf_reference(const double *start, double stop, double *x)
{
    reference_solve(4, arenstorf_exact, start, stop, x);
}

const Hand hand_arenstorf = { .name = "arenstorf",
                              .file = "Arenstorf.mdl",
                              .n = 4,
                              .names = (const char *const[]){ "X", "Y", "Vx", "Vy" },
                              .start = (const double[]){ 0.994, 0, 0, -2.00158510637908252240537862224 },
                              .stop = 17.0652165601579625588917206249,
                              .parameters = &arenstorf,
                              .callback = arenstorf_callback,
                              .jacobian = arenstorf_jacobian,
                              .reference = arenstorf_reference };

/* ---- Ball: the stop lies in the flight after the thousandth bounce ---- */
static int ball_callback(double t, N_Vector y, N_Vector dy, void *data)
{
    return ball_slopes(t, NV_DATA_S(y), NV_DATA_S(dy), data);
}

static int ball_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix j, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    double *m = SM_DATA_D(j);
    (void)t, (void)y, (void)dy, (void)data, (void)a, (void)b, (void)c;
    m[0] = m[1] = m[3] = 0;
    m[2] = 1;
    return 0;
}

static int ball_root(double t, N_Vector y, double *out, void *data)
{
    (void)t, (void)data;
    out[0] = NV_DATA_S(y)[0];
    return 0;
}

static void ball_event(double *x, const void *parameters)
{
    x[1] *= -((const Ball *)parameters)->restitution;
}

static void ball_reference(const double *start, double stop, double *x)
{
    const long double g = ball.g, r = ball.restitution;
    long double height = start[0], v = start[1], t = 0;
    for (;;) {
        const long double flight = (v + sqrtl(v * v + 2 * g * height)) / g;
        if (t + flight > stop)
            break;
        t += flight;
        v = -r * (v - g * flight);
        height = 0;
    }
    const long double rest = stop - t;
    x[0] = (double)(height + v * rest - g / 2 * rest * rest);
    x[1] = (double)(v - g * rest);
}

const Hand hand_ball = { .name = "ball",
                         .file = "Ball.mdl",
                         .n = 2,
                         .names = (const char *const[]){ "X", "V" },
                         .start = (const double[]){ 1, 0 },
                         .stop = 570.7,
                         .parameters = &ball,
                         .callback = ball_callback,
                         .jacobian = ball_jacobian,
                         .root = ball_root,
                         .event = ball_event,
                         .reference = ball_reference };

/* ---- Heat line ---- */
static int heat_callback(double t, N_Vector y, N_Vector dy, void *data)
{
    return heat_slopes(t, NV_DATA_S(y), NV_DATA_S(dy), data);
}

static int heat_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix j, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    const Heat *p = data;
    sunindextype *start = SM_INDEXPTRS_S(j), *row = SM_INDEXVALS_S(j), at = 0;
    double *m = SM_DATA_S(j);
    (void)t, (void)y, (void)dy, (void)a, (void)b, (void)c;
    for (uint32_t i = 0; i < p->n; i++) {
        start[i] = at;
        if (i > 0) {
            row[at] = i - 1;
            m[at++] = p->k;
        }
        row[at] = i;
        m[at++] = -2 * p->k;
        if (i + 1 < p->n) {
            row[at] = i + 1;
            m[at++] = p->k;
        }
    }
    start[p->n] = at;
    return 0;
}

/* The steady state, and the modes that lead from 0 to it. */
static void heat_reference(const double *start, double stop, double *x)
{
    const uint32_t n = heat_100.n;
    const long double angle = acosl(-1) / (n + 1);
    (void)start;
    for (uint32_t i = 1; i <= n; i++) {
        long double sum = 1 - (long double)i / (n + 1);
        for (uint32_t mode = 1; mode <= n; mode++) {
            long double share = 0;
            for (uint32_t j = 1; j <= n; j++)
                share += (1 - (long double)j / (n + 1)) * sinl(mode * j * angle);
            sum -=
                2 * share / (n + 1) * sinl(mode * i * angle) * expl(-2 * heat_100.k * (1 - cosl(mode * angle)) * stop);
        }
        x[i - 1] = (double)sum;
    }
}

const Hand hand_heat_100 = { .name = "heat100",
                             .file = "heat100.ir",
                             .n = 100,
                             .stop = 0.1,
                             .parameters = &heat_100,
                             .callback = heat_callback,
                             .jacobian = heat_jacobian,
                             .n_entries = 298,
                             .is_stiff = true,
                             .reference = heat_reference };
const Hand hand_heat_10000 = { .name = "heat10000",
                               .file = "heat10000.ir",
                               .n = 10000,
                               .stop = 0.1,
                               .parameters = &heat_10000,
                               .callback = heat_callback,
                               .jacobian = heat_jacobian,
                               .n_entries = 29998,
                               .is_stiff = true };

/* ---- CVODE ---- */
typedef struct {
    SUNContext context;
    void *memory;
    N_Vector y, atol;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
} Session;

static bool set_up_newton(const Hand *hand, Session *s)
{
    if (hand->n_entries) {
        s->matrix = SUNSparseMatrix(hand->n, hand->n, hand->n_entries, CSC_MAT, s->context);
        s->linear = SUNLinSol_KLU(s->y, s->matrix, s->context);
    } else {
        s->matrix = SUNDenseMatrix(hand->n, hand->n, s->context);
        s->linear = SUNLinSol_Dense(s->y, s->matrix, s->context);
    }
    return CVodeSetLinearSolver(s->memory, s->linear, s->matrix) == CV_SUCCESS &&
           CVodeSetJacFn(s->memory, hand->jacobian) == CV_SUCCESS;
}

static bool set_up(const Hand *hand, const HandRun *run, Session *s)
{
    const double *start = run->start ? run->start : hand->start;
    int falling = -1;
    if (SUNContext_Create(NULL, &s->context) != 0)
        return false;
    s->y = N_VNew_Serial(hand->n, s->context);
    s->atol = N_VNew_Serial(hand->n, s->context);
    for (uint32_t k = 0; k < hand->n; k++) {
        const double x = start ? start[k] : 0;
        NV_DATA_S(s->y)[k] = x;
        NV_DATA_S(s->atol)[k] = run->tolerance * 1e-3 * (x == 0 ? 1 : fmin(fmax(fabs(x), 1e-6), 1));
    }
    s->memory = CVodeCreate(run->method, s->context);
    if (!s->memory || CVodeInit(s->memory, hand->callback, 0, s->y) != CV_SUCCESS ||
        CVodeSVtolerances(s->memory, run->tolerance, s->atol) != CV_SUCCESS ||
        CVodeSetUserData(s->memory, (void *)(uintptr_t)hand->parameters) != CV_SUCCESS ||
        CVodeSetMaxNumSteps(s->memory, 100000000) != CV_SUCCESS || CVodeSetStopTime(s->memory, run->stop) != CV_SUCCESS)
        return false;
    if (hand->root && (CVodeRootInit(s->memory, 1, hand->root) != CV_SUCCESS ||
                       CVodeSetRootDirection(s->memory, &falling) != CV_SUCCESS))
        return false;
    if (run->method == CV_BDF)
        return set_up_newton(hand, s);
    s->nonlinear = SUNNonlinSol_FixedPoint(s->y, 0, s->context);
    return CVodeSetNonlinearSolver(s->memory, s->nonlinear) == CV_SUCCESS;
}

static bool integrate(const Hand *hand, HandRun *run, Session *s)
{
    double t = 0;
    for (;;) {
        const int flag = CVode(s->memory, run->stop, s->y, &t, CV_NORMAL);
        long steps = 0;
        if (flag < 0)
            return false;
        if (flag != CV_ROOT_RETURN) {
            CVodeGetNumSteps(s->memory, &steps);
            run->steps += steps;
            return true;
        }
        CVodeGetNumSteps(s->memory, &steps);
        run->steps += steps;
        run->events++;
        hand->event(NV_DATA_S(s->y), hand->parameters);
        if (CVodeReInit(s->memory, t, s->y) != CV_SUCCESS || CVodeSetStopTime(s->memory, run->stop) != CV_SUCCESS)
            return false;
    }
}

bool hand_run(const Hand *hand, HandRun *run)
{
    Session s = { 0 };
    run->steps = 0;
    run->events = 0;
    const bool is_done = set_up(hand, run, &s) && integrate(hand, run, &s);
    if (run->end)
        memcpy(run->end, NV_DATA_S(s.y), hand->n * sizeof *run->end);
    CVodeFree(&s.memory);
    if (s.linear)
        SUNLinSolFree(s.linear);
    if (s.matrix)
        SUNMatDestroy(s.matrix);
    if (s.nonlinear)
        SUNNonlinSolFree(s.nonlinear);
    N_VDestroy(s.y);
    N_VDestroy(s.atol);
    SUNContext_Free(&s.context);
    return is_done;
}
