/* Right-hand sides by hand: what goes into CVODE and what is timed alone are the same lines. */
#ifndef BENCH_HAND_SLOPES_H
#define BENCH_HAND_SLOPES_H

#include <math.h>
#include <stdint.h>

/* ---- Lorenz ---- */
typedef struct {
    double sigma, rho, beta;
} Lorenz;
static const Lorenz lorenz = { 10, 28, 8.0 / 3 };

static inline int lorenz_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    const Lorenz *p = parameters;
    dx[0] = p->sigma * (x[1] - x[0]);
    dx[1] = x[0] * (p->rho - x[2]) - x[1];
    dx[2] = x[0] * x[1] - p->beta * x[2];
    return 0;
}

/* ---- Van der Pol ---- */
typedef struct {
    double mu;
} VanDerPol;
static const VanDerPol van_der_pol = { 1000 };

static inline int van_der_pol_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    const VanDerPol *p = parameters;
    dx[0] = x[1];
    dx[1] = p->mu * (1 - x[0] * x[0]) * x[1] - x[0];
    return 0;
}

/* ---- Arenstorf ---- */
typedef struct {
    double mu;
} Arenstorf;
static const Arenstorf arenstorf = { 0.012277471 };

static inline int arenstorf_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    const double mu = ((const Arenstorf *)parameters)->mu, nu = 1 - mu;
    const double earth = x[0] + mu, moon = x[0] - nu;
    const double r1 = earth * earth + x[1] * x[1], r2 = moon * moon + x[1] * x[1];
    const double d1 = r1 * sqrt(r1), d2 = r2 * sqrt(r2);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = x[0] + 2 * x[3] - nu * earth / d1 - mu * moon / d2;
    dx[3] = x[1] - 2 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
    return 0;
}

/* ---- Ball ---- */
typedef struct {
    double g, restitution;
} Ball;
static const Ball ball = { 9.81, 0.999 };

static inline int ball_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    dx[0] = x[1];
    dx[1] = -((const Ball *)parameters)->g;
    return 0;
}

/* ---- Double pendulum ---- */
typedef struct {
    double m1, m2, l1, l2, g;
} Pendulums;
static const Pendulums pendulums = { 1, 0.5, 1, 0.8, 9.81 };

/* Each function once. */
static inline int pendulums_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    const Pendulums *p = parameters;
    const double a = x[0], b = x[1], u = x[2], v = x[3];
    const double sine = sin(a - b), cosine = cos(a - b);
    const double divisor = 2 * p->m1 + p->m2 - p->m2 * cos(2 * a - 2 * b);
    dx[0] = u;
    dx[1] = v;
    dx[2] = (-p->g * (2 * p->m1 + p->m2) * sin(a) - p->m2 * p->g * sin(a - 2 * b) -
             2 * sine * p->m2 * (v * v * p->l2 + u * u * p->l1 * cosine)) /
            (p->l1 * divisor);
    dx[3] = 2 * sine *
            (u * u * p->l1 * (p->m1 + p->m2) + p->g * (p->m1 + p->m2) * cos(a) + v * v * p->l2 * p->m2 * cosine) /
            (p->l2 * divisor);
    return 0;
}

/* ---- 100 bodies that turn: R to the world, w in the body ---- */
enum { BODIES = 100 };
typedef struct {
    double inertia[3], gravity[3], friction;
} Bodies;
static const Bodies bodies = { { 1, 2, 3 }, { 0, 0, -9.81 }, 0.1 };

static inline int bodies_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    const Bodies *p = parameters;
    for (int b = 0; b < BODIES; b++) {
        const double *r = x + 9 * b, *w = x + 9 * BODIES + 3 * b;
        double *dr = dx + 9 * b, *dw = dx + 9 * BODIES + 3 * b, torque[3];
        for (int i = 0; i < 3; i++) {
            dr[3 * i] = r[3 * i + 1] * w[2] - r[3 * i + 2] * w[1];
            dr[3 * i + 1] = r[3 * i + 2] * w[0] - r[3 * i] * w[2];
            dr[3 * i + 2] = r[3 * i] * w[1] - r[3 * i + 1] * w[0];
            torque[i] = r[i] * p->gravity[0] + r[3 + i] * p->gravity[1] + r[6 + i] * p->gravity[2] - p->friction * w[i];
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            dw[i] = (torque[i] - (w[j] * (p->inertia[k] * w[k]) - w[k] * (p->inertia[j] * w[j]))) / p->inertia[i];
        }
    }
    return 0;
}

/* ---- Arm of six links ---- */
typedef struct {
    double weight, friction, inertia;
} Arm;
static const Arm arm = { 9.81, 0.5, 2 };

/* Each cosine once, and each sum from the one behind it. */
static inline int arm_slopes(double t, const double *x, double *dx, const void *parameters)
{
    enum { LINKS = 6 };
    (void)t;
    const Arm *p = parameters;
    double cosine[LINKS], angle = 0, load = 0;
    for (int k = 0; k < LINKS; k++) {
        dx[k] = x[LINKS + k];
        cosine[k] = cos(angle += x[k]);
    }
    for (int k = LINKS; k-- > 0;) {
        load += (LINKS - k) * cosine[k];
        dx[LINKS + k] = (-p->friction * x[LINKS + k] - p->weight * load) / p->inertia;
    }
    return 0;
}

/* ---- Heat line ---- */
typedef struct {
    uint32_t n;
    double k, left, right;
} Heat;
static const Heat heat_100 = { 100, 1e4, 1, 0 }, heat_10000 = { 10000, 1e4, 1, 0 };

static inline int heat_slopes(double t, const double *restrict u, double *restrict du, const void *parameters)
{
    (void)t;
    const Heat *p = parameters;
    const uint32_t n = p->n;
    const double k = p->k;
    du[0] = k * (p->left - 2 * u[0] + u[1]);
    for (uint32_t i = 1; i + 1 < n; i++)
        du[i] = k * (u[i - 1] - 2 * u[i] + u[i + 1]);
    du[n - 1] = k * (u[n - 2] - 2 * u[n - 1] + p->right);
    return 0;
}

/* A sum over 100 states in a function of its own. */
static inline double weighted(const double *x)
{
    double s = 0, m = 0;
    for (int i = 0; i < 100; i++) {
        s += x[i] * x[i];
        m += 0.01 * x[i];
    }
    return 0.001 * s + 0.5 * m;
}

static inline int weighted_slopes(double t, const double *restrict x, double *restrict dx, const void *parameters)
{
    (void)t, (void)parameters;
    const double s = weighted(x);
    for (int i = 0; i < 100; i++)
        dx[i] = -s * x[i];
    return 0;
}

/* ---- The line as components: every cell has a conductivity of its own ---- */
typedef struct {
    uint32_t n;
    double left, right;
    double k[10000];
} Line;
static inline void line_fill(Line *line, uint32_t cells)
{
    line->n = cells;
    line->left = 1;
    for (uint32_t i = 0; i < cells; i++)
        line->k[i] = 1e4;
}

static inline int line_slopes(double t, const double *restrict u, double *restrict du, const void *parameters)
{
    const Line *p = parameters;
    const uint32_t n = p->n;
    const double *k = p->k;
    (void)t;
    du[0] = k[0] * (p->left - 2 * u[0] + u[1]);
    for (uint32_t i = 1; i + 1 < n; i++)
        du[i] = k[i] * (u[i - 1] - 2 * u[i] + u[i + 1]);
    du[n - 1] = k[n - 1] * (u[n - 2] - 2 * u[n - 1] + p->right);
    return 0;
}

#endif
