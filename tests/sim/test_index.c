/* Constraints between states: index reduction, dummy derivatives, state selection. Expected values are closed forms;
 * each model runs in all tiers. */
#include "explain/figures.h"
#include "run.h"
#include "ir/read.h"
#include "passes/pipeline.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/index/"

/* ---- reports ---- */
static CompileReport figures_of(const char *path)
{
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = path };
    assert_true(compilation_load(c, &request) && compilation_schedule(c));
    const CompileReport report = compile_report(c->schedule, c->program, c->arena);
    compilation_destroy(c);
    return report;
}

static void expect_index(const char *path, uint64_t index, uint64_t states)
{
    const CompileReport r = figures_of(path);
    assert_int_equal(r.index, index);
    assert_int_equal(r.states, states);
}

static void expect_figures(const char *path, uint64_t index, uint64_t differentiated, uint64_t states)
{
    expect_index(path, index, states);
    assert_int_equal(figures_of(path).differentiated_equations, differentiated);
}

/* Index by the definition of the document (3.8): 0 without algebraic unknowns, 1 if no equation must be differentiated,
 * else one more than the most often differentiated one. */
static void test_ot066_the_index_is_reported(void **state)
{
    (void)state;
    expect_figures(HERE "decay.dym", 0, 0, 1);
    expect_figures(HERE "../dymola/divider.dym", 1, 0, 1);
    expect_figures(HERE "capacitors.dym", 2, 1, 1);
    expect_figures(HERE "path.dym", 3, 2, 0);
}

/* ---- spec 5.3: u0 = R i + u1, i = C1 u1' + C2 u2', u2 = u1 ---- */
static void check_capacitors(const RunResult *r)
{
    expect_done(r);
    for (double t = 1e-4; t < 1e-3; t += 1e-4) {
        const double u = 10 - 8 * exp(-t / 4e-4), i = (10 - u) / 100;
        expect_near(run_at(r, "u1", t), u, 1e-7);
        expect_near(run_at(r, "u2", t), run_at(r, "u1", t), 0);
        expect_near(run_at(r, "der(u1)", t), i / 4e-6, 1e-4); /* du1 = i/(C1 + C2); 1e4 V/s */
        expect_near(run_at(r, "der(u2)", t), run_at(r, "der(u1)", t), 1e-9);
    }
}

static void test_ot063_ot064_two_parallel_capacitors(void **state)
{
    (void)state;
    expect_figures(HERE "capacitors.dym", 2, 1, 1);
    run_in_all_tiers((RunRequest){ .path = HERE "capacitors.dym", .stop = 1e-3, .interval = 1e-4, .tolerance = 1e-9 },
                     check_capacitors);
}

/* C1 parallel to C2 and C3 in series (1 uF): time constant 100 Ohm * 2 uF; C2 and C3 take half of the voltage each. */
static void check_objects(const RunResult *r)
{
    expect_done(r);
    for (double t = 1e-4; t < 1e-3; t += 1e-4) {
        const double u = 10 * (1 - exp(-t / 2e-4));
        expect_near(run_at(r, "C1.u", t), u, 1e-7);
        expect_near(run_at(r, "C2.u", t), u / 2, 1e-7);
        expect_near(run_at(r, "C1.u", t) - run_at(r, "C2.u", t), run_at(r, "C3.u", t), 1e-14);
        expect_near(run_at(r, "C2.i", t), run_at(r, "C3.i", t), 1e-15);
    }
}

static void test_ot064_a_ring_of_capacitors(void **state)
{
    (void)state;
    expect_index(HERE "objects.dym", 2, 2);
    run_in_all_tiers((RunRequest){ .path = HERE "objects.dym", .stop = 1e-3, .interval = 1e-4, .tolerance = 1e-9 },
                     check_objects);
}

/* The capacitor takes C V0' = 0.03 cos(10 t); 0.4 i' + 2 i = 1 + 3 sin(10 t). */
static void check_source(const RunResult *r)
{
    expect_done(r);
    for (double t = 0.1; t < 1; t += 0.1) {
        const double i = 0.5 * (1 - exp(-5 * t)) + 0.15 * (2 * sin(10 * t) - 4 * cos(10 * t) + 4 * exp(-5 * t));
        expect_near(run_at(r, "C.u", t), 3 * sin(10 * t) + 1, 1e-14);
        expect_near(run_at(r, "C.i", t), 0.03 * cos(10 * t), 1e-14);
        expect_near(run_at(r, "L1.i", t), i, 1e-7);
        expect_near(run_at(r, "L2.i", t), run_at(r, "L1.i", t), 0);
    }
}

static void test_ot064_capacitor_at_a_source_inductors_in_a_cut_set(void **state)
{
    (void)state;
    expect_index(HERE "source.dym", 2, 1);
    run_in_all_tiers((RunRequest){ .path = HERE "source.dym", .stop = 1, .interval = 0.1, .tolerance = 1e-9 },
                     check_source);
}

/* w1 solves w^3 + 2 w = 2 sin t, so (3 w^2 + 2) w' = 2 cos t; w2 = x1' - w1 with x1 = 2 sin t - w1. */
static void check_constraints(const RunResult *r)
{
    expect_done(r);
    for (double t = 0.25; t < 6.1; t += 0.25) {
        const double w = run_at(r, "w1", t), dw = 2 * cos(t) / (3 * w * w + 2);
        expect_near(w * w * w + 2 * w, 2 * sin(t), 1e-11);
        expect_near(run_at(r, "x1", t), 2 * sin(t) - w, 1e-11);
        expect_near(run_at(r, "w2", t), 2 * cos(t) - dw - w, 1e-10);
    }
}

static void test_ot065_two_equations_differentiated_once(void **state)
{
    (void)state;
    expect_figures(HERE "constraints.dym", 2, 2, 1);
    run_in_all_tiers((RunRequest){ .path = HERE "constraints.dym", .stop = 6, .interval = 0.25, .tolerance = 1e-9 },
                     check_constraints);
}

/* s = sin t + t^2, m = 2, c = 3: F = 2 (2 - sin t) + 3 s. No state is left. */
static void check_path(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 3.1; t += 0.5) {
        expect_near(run_at(r, "v", t), cos(t) + 2 * t, 1e-14);
        expect_near(run_at(r, "F", t), 2 * (2 - sin(t)) + 3 * (sin(t) + t * t), 1e-13);
    }
}

static void test_ot064_inverse_dynamics_along_a_path(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "path.dym", .stop = 3, .interval = 0.5 }, check_path);
}

/* ---- a pendulum with an angle: x = L sin(phi), y = -L cos(phi) hold to rounding, the energy to the tolerance ---- */
static void check_angle(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 10.1; t += 0.5) {
        const double x = run_at(r, "x", t), y = run_at(r, "y", t), vx = run_at(r, "vx", t), vy = run_at(r, "vy", t);
        expect_near(x * x + y * y, 1, 1e-14);
        expect_near(x * vx + y * vy, 0, 1e-13);
        expect_near(run_at(r, "E", t), -9.81 * cos(1), 1e-6);
    }
}

static void test_ot070_a_pendulum_with_an_angle(void **state)
{
    (void)state;
    expect_figures(HERE "angle.dym", 3, 4, 2);
    run_in_all_tiers((RunRequest){ .path = HERE "angle.dym", .stop = 10, .interval = 0.5, .tolerance = 1e-10 },
                     check_angle);
}

/* ---- states that are chosen while the model runs ---- */
/* Complete elliptic integral of the first kind, by the arithmetic-geometric mean. */
static double elliptic(double k)
{
    double a = 1, b = sqrt(1 - k * k);
    for (int n = 0; n < 8; n++) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 1.57079632679489662 / a;
}

static double swing_period(void) /* amplitude 90 degrees */
{
    return 4 * sqrt(1 / 9.81) * elliptic(sqrt(0.5));
}

static double loop_period(void) /* 7 m/s at the lowest point */
{
    return 4.0 / 7 * elliptic(sqrt(4 * 9.81 / 49));
}

/* At all points; the energy relative to that of the lift, or to the kinetic one at the lowest point. */
static void expect_pendulum(const RunResult *r, double energy, double scale)
{
    const uint32_t c = run_column(r, "c"), e = run_column(r, "E");
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        assert_true(fabs(r->rows[k].values[c]) < 1e-8);
        assert_true(fabs(r->rows[k].values[e] - energy) < 1e-4 * scale);
    }
}

/* Released horizontally: at odd quarters of the period it is at the bottom, at even halves back. */
static void check_swing(const RunResult *r)
{
    expect_pendulum(r, 0, 9.81);
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (k % 2)
            expect_near(r->rows[k].values[run_column(r, "x")], 0, 2e-5 * (1 + r->rows[k].time));
        else
            expect_near(fabs(r->rows[k].values[run_column(r, "x")]), 1, 1e-6);
}

static void test_ot070_the_pendulum_swings(void **state)
{
    (void)state;
    const CompileReport f = figures_of(HERE "pendulum.dym");
    assert_int_equal(f.index, 3);
    assert_int_equal(f.differentiated_equations, 2);
    assert_int_equal(f.state_sets, 1);
    assert_int_equal(f.states, 2);
    run_in_all_tiers((RunRequest){ .path = HERE "pendulum.dym",
                                   .stop = 8 * swing_period(),
                                   .interval = swing_period() / 4,
                                   .tolerance = 1e-8 },
                     check_swing);
}

/* A comparison of candidates: half of each period on the right, two crossings a period. */
static void check_halves(const RunResult *r)
{
    expect_pendulum(r, 0, 9.81);
    assert_int_equal(r->report.statistics.events.state_events, 8);
    for (int k = 1; k <= 4; k++)
        expect_near(run_at(r, "n", k * swing_period()), k * swing_period() / 2, 1e-6);
}

static void test_ot070_events_of_chosen_states(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = HERE "halves.dym", .stop = 4 * swing_period(), .interval = swing_period(), .tolerance = 1e-9 },
        check_halves);
}

/* Once around in a period: y = -1 there, y = 1 half way; never slower than the energy says at the top. */
static void check_loop(const RunResult *r)
{
    const double energy = 24.5 - 9.81;
    expect_pendulum(r, energy, 24.5);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "y")], k % 2 ? 1 : -1, 1e-6);
}

static void test_ot070_the_pendulum_loops(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = HERE "looping.dym", .stop = 20 * loop_period(), .interval = loop_period() / 2, .tolerance = 1e-8 },
        check_loop);
}

static void check_swinging(const RunResult *r)
{
    expect_pendulum(r, 0, 9.81);
}

static void check_looping(const RunResult *r)
{
    expect_pendulum(r, 24.5 - 9.81, 24.5);
}

/* A thousand seconds, every quadrant some thousand times; the phase is right to the end. */
static void test_ot070_a_thousand_seconds(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    const double stop = 20;
#else
    const double stop = 1000;
#endif
    run_in_all_tiers((RunRequest){ .path = HERE "pendulum.dym", .stop = stop, .interval = 0.1, .tolerance = 1e-8 },
                     check_swinging);
    run_in_all_tiers((RunRequest){ .path = HERE "looping.dym", .stop = stop, .interval = 0.1, .tolerance = 1e-8 },
                     check_looping);
}

/* The same motion whatever method steps: multistep methods restart when the choice changes. */
static void test_ot070_all_kinds_of_methods(void **state)
{
    static const char *const solvers[] = { "dopri5", "cvode-bdf", "cvode-adams", "ida", "rk4" };
    (void)state;
    for (uint32_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = HERE "pendulum.dym",
                                                .solver = solvers[k],
                                                .stop = 2 * swing_period(),
                                                .interval = swing_period() / 4,
                                                .step = 1e-3,
                                                .tolerance = 1e-8 });
        check_swing(r);
        run_free(r);
    }
}

/* Stopped in the middle and continued: the choices are kept in the block. */
static void test_ot070_a_continued_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "looping.dym",
                                            .stop = 4 * loop_period(),
                                            .pause = 1.3 * loop_period(),
                                            .interval = loop_period() / 2,
                                            .tolerance = 1e-8 });
    expect_pendulum(r, 24.5 - 9.81, 24.5);
    expect_near(run_last(r, "y"), -1, 1e-6);
    run_free(r);
}

/* Two chained rods against the same motion in angles, which has no constraints. */
static void test_ot070_the_double_pendulum(void **state)
{
    static const char *const names[] = { "x1", "y1", "x2", "y2" };
    (void)state;
    RunRequest request = { .path = HERE "double.dym", .stop = 3, .interval = 0.25, .tolerance = 1e-10 };
    RunResult *r = run_model(&request);
    request.path = HERE "angles.dym";
    RunResult *expected = run_model(&request);
    expect_done(r);
    expect_done(expected);
    for (double t = 0; t < 3.1; t += 0.25) {
        for (uint32_t k = 0; k < 4; k++)
            expect_near(run_at(r, names[k], t), run_at(expected, names[k], t), 1e-6);
        expect_near(run_at(r, "c1", t), 0, 1e-11);
        expect_near(run_at(r, "c2", t), 0, 1e-11);
    }
    run_free(r);
    run_free(expected);
}

/* A loop of three bars without moment: the crank turns round and round, the kinetic energy stays 0.5*(8^2 + ...). */
static void check_fourbar(const RunResult *r)
{
    expect_done(r);
    const double energy = pow(run_at(r, "wa", 0), 2) + pow(run_at(r, "wb", 0), 2) + pow(run_at(r, "wc", 0), 2);
    expect_near(run_at(r, "wa", 0), 8, 1e-12);
    for (double t = 0; t < 5.1; t += 0.5) {
        expect_near(run_at(r, "k1", t), 0, 1e-11);
        expect_near(run_at(r, "k2", t), 0, 1e-11);
        expect_near(pow(run_at(r, "wa", t), 2) + pow(run_at(r, "wb", t), 2) + pow(run_at(r, "wc", t), 2), energy,
                    1e-6 * energy);
    }
    assert_true(run_last(r, "a") > 30); /* several turns */
}

static void test_ot070_a_closed_loop_of_bars(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "fourbar.dym", .stop = 5, .interval = 0.5, .tolerance = 1e-9 },
                     check_fourbar);
}

/* No force but those of the constraints: once around in pi seconds, one radian forward for each two around. */
static void check_helix(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 10.1; t += 0.5) {
        expect_near(run_at(r, "x", t), cos(2 * t), 1e-6);
        expect_near(run_at(r, "y", t), sin(2 * t), 1e-6);
        expect_near(run_at(r, "z", t), t, 1e-6);
        for (uint32_t j = 0; j < 3; j++) {
            static const char *const names[] = { "c1", "c2", "c3" };
            expect_near(run_at(r, names[j], t), 0, 1e-11);
        }
    }
}

static void test_ot070_constraints_of_places_and_of_speeds(void **state)
{
    (void)state;
    const CompileReport f = figures_of(HERE "helix.dym");
    assert_int_equal(f.index, 3);
    assert_int_equal(f.differentiated_equations, 3);
    assert_int_equal(f.states, 3); /* two places, one speed */
    run_in_all_tiers((RunRequest){ .path = HERE "helix.dym", .stop = 10, .interval = 0.5, .tolerance = 1e-9 },
                     check_helix);
}

/* ---- random systems: q(x)' = B q(x) + C' l, C q(x) = 0, against z' = N' B N z with N an orthonormal basis of the
 * null space of C ---- */
enum { LARGEST = 5 };
typedef struct {
    uint32_t n, m; /* quantities, constraints */
    double b[LARGEST][LARGEST], c[LARGEST][LARGEST], basis[LARGEST][LARGEST];
    bool is_linear; /* q(x) = x, else x + x^3/10 */
    double x[LARGEST];
} System;

static double random_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Rows of c, then of the basis, made orthonormal by Gram and Schmidt. */
static void make_basis(System *s, uint64_t *random)
{
    double rows[LARGEST][LARGEST];
    for (uint32_t k = 0; k < s->n; k++) {
        double *row = rows[k], size = 0;
        for (int again = 0; size < 0.1; again++) {
            for (uint32_t j = 0; j < s->n; j++)
                row[j] = k < s->m && again == 0 ? s->c[k][j] : random_number(random);
            if (k < s->m)
                memcpy(s->c[k], row, sizeof rows[k]);
            for (int twice = 0; twice < 2; twice++)
                for (uint32_t i = 0; i < k; i++) {
                    const double part = dot(row, rows[i], s->n);
                    for (uint32_t j = 0; j < s->n; j++)
                        row[j] -= part * rows[i][j];
                }
            size = sqrt(dot(row, row, s->n));
        }
        for (uint32_t j = 0; j < s->n; j++)
            row[j] /= size;
        if (k >= s->m)
            memcpy(s->basis[k - s->m], row, sizeof rows[k]);
    }
}

static System random_system(uint64_t *random, bool is_linear)
{
    System s = { .is_linear = is_linear };
    s.n = 2 + (uint32_t)((random_number(random) + 1) * 2);
    s.m = 1 + (uint32_t)((random_number(random) + 1) * 0.5 * (s.n - 1));
    for (uint32_t k = 0; k < s.n; k++)
        for (uint32_t j = 0; j < s.n; j++) {
            s.b[k][j] = random_number(random);
            s.c[k][j] = random_number(random);
        }
    make_basis(&s, random);
    return s;
}

static void write_system(const System *s, const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "model random\n  local");
    for (uint32_t k = 0; k < s->n; k++)
        fprintf(file, " x%u=%.17g, q%u,", k, s->x[k], k);
    for (uint32_t k = 0; k < s->m; k++)
        fprintf(file, " l%u%s", k, k + 1 < s->m ? "," : "\n");
    for (uint32_t k = 0; k < s->n; k++) {
        fprintf(file, "  q%u = x%u\n", k, k);
        if (s->is_linear)
            fprintf(file, "  der(x%u) = 0", k);
        else
            fprintf(file, "  (1 + 0.3*x%u*x%u)*der(x%u) = 0", k, k, k);
        for (uint32_t j = 0; j < s->n; j++)
            fprintf(file, s->is_linear ? " + (%.17g)*x%u" : " + (%.17g)*(x%u + 0.1*x%u*x%u*x%u)", s->b[k][j], j, j, j,
                    j);
        for (uint32_t j = 0; j < s->m; j++)
            fprintf(file, " + (%.17g)*l%u", s->c[j][k], j);
        fprintf(file, "\n");
    }
    for (uint32_t k = 0; k < s->m; k++) {
        fprintf(file, "  0 = 0");
        for (uint32_t j = 0; j < s->n; j++)
            fprintf(file, s->is_linear ? " + (%.17g)*x%u" : " + (%.17g)*(x%u + 0.1*x%u*x%u*x%u)", s->c[k][j], j, j, j,
                    j);
        fprintf(file, "\n");
    }
    fprintf(file, "end\n");
    fclose(file);
}

/* z' = N' B N z by the classical method with small steps; q = N z. */
static void integrate(const System *s, double *z, double stop)
{
    enum { STEPS = 2000 };
    const uint32_t n = s->n - s->m;
    double a[LARGEST][LARGEST];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            a[i][j] = 0;
            for (uint32_t k = 0; k < s->n; k++)
                a[i][j] += s->basis[i][k] * dot(s->b[k], s->basis[j], s->n);
        }
    const double h = stop / STEPS;
    for (int step = 0; step < STEPS; step++) {
        double term[LARGEST], sum[LARGEST]; /* Taylor's series of exp(h a) z to the fourth order */
        memcpy(term, z, n * sizeof *z);
        memcpy(sum, z, n * sizeof *z);
        for (int order = 1; order <= 4; order++) {
            double next[LARGEST];
            for (uint32_t i = 0; i < n; i++)
                next[i] = h / order * dot(a[i], term, n);
            memcpy(term, next, n * sizeof *z);
            for (uint32_t i = 0; i < n; i++)
                sum[i] += term[i];
        }
        memcpy(z, sum, n * sizeof *z);
    }
}

static double from_q(const System *s, double q)
{
    double x = q;
    for (int k = 0; !s->is_linear && k < 60; k++)
        x -= (x + 0.1 * x * x * x - q) / (1 + 0.3 * x * x);
    return x;
}

static void check_random(bool is_linear, uint64_t seed)
{
    char path[] = "/tmp/koine-index-XXXXXX", file[64];
    uint64_t random = seed;
    assert_non_null(mkdtemp(path));
    snprintf(file, sizeof file, "%s/random.dym", path);
    for (uint32_t round = 0; round < 12; round++) {
        System s = random_system(&random, is_linear);
        double z[LARGEST];
        for (uint32_t k = 0; k < s.n - s.m; k++)
            z[k] = 1 + random_number(&random);
        for (uint32_t k = 0; k < s.n; k++) {
            double q = 0;
            for (uint32_t j = 0; j < s.n - s.m; j++)
                q += s.basis[j][k] * z[j];
            s.x[k] = from_q(&s, q);
        }
        write_system(&s, file);
        RunResult *r = run_model(&(RunRequest){ .path = file, .stop = 2, .interval = 2, .tolerance = 1e-10 });
        expect_done(r);
        assert_null(r->output); /* no start value contradicts another */
        integrate(&s, z, 2);
        for (uint32_t k = 0; k < s.n; k++) {
            char name[16];
            double q = 0;
            for (uint32_t j = 0; j < s.n - s.m; j++)
                q += s.basis[j][k] * z[j];
            snprintf(name, sizeof name, "q%u", k);
            expect_near(run_last(r, name), from_q(&s, q), 1e-7);
        }
        run_free(r);
    }
    unlink(file);
    rmdir(path);
}

static void test_ot068_random_linear_constraints(void **state)
{
    (void)state;
    check_random(true, 1);
}

static void test_ot068_random_constraints_with_chosen_states(void **state)
{
    (void)state;
    check_random(false, 2);
}

/* ---- wishes and start values ---- */
static void expect_state(const KoineModel *model, const char *name, bool is_state)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (strcmp(t->variables[k].name, name) == 0) {
            assert_int_equal(t->variables[k].state >= 0, is_state);
            return;
        }
    fail_msg("no variable %s", name);
}

static void expect_u2(KoineModel *model)
{
    expect_state(model, "u1", false);
    expect_state(model, "u2", true);
}

static void test_ot068_the_state_that_is_named(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = HERE "named.dym", .stop = 1e-3, .interval = 1e-4, .tolerance = 1e-9, .prepare = expect_u2 },
        check_capacitors);
}

static void expect_x_and_vx(KoineModel *model)
{
    expect_state(model, "x", true);
    expect_state(model, "vx", true);
    expect_state(model, "y", false);
    expect_state(model, "vy", false);
}

/* Amplitude a = 0.01: the period is 2 pi sqrt(L/g) (1 + a^2/16 + ...), to 1e-9. */
static void check_small(const RunResult *r)
{
    expect_done(r);
    const double period = 6.28318530717958648 / sqrt(9.81) * (1 + 1e-4 / 16);
    expect_near(run_at(r, "x", 10 * period), 0.01, 1e-8);
    expect_near(run_at(r, "x", 10.5 * period), -0.01, 1e-8);
}

static void test_ot068_named_states_of_a_pendulum(void **state)
{
    (void)state;
    const double period = 6.28318530717958648 / sqrt(9.81) * (1 + 1e-4 / 16);
    assert_int_equal(figures_of(HERE "small.dym").state_sets, 0);
    run_in_all_tiers((RunRequest){ .path = HERE "small.dym",
                                   .stop = 11 * period,
                                   .interval = period / 2,
                                   .tolerance = 1e-11,
                                   .prepare = expect_x_and_vx },
                     check_small);
}

/* All equations hold at the start, the differentiated ones too; what was given holds: y = 0.8, vy = -x vx/y = -0.75. */
static void check_start(const RunResult *r)
{
    expect_done(r);
    assert_null(r->output);
    expect_near(run_at(r, "x", 0), 0.6, 0);
    expect_near(run_at(r, "vx", 0), 1, 0);
    expect_near(fabs(run_at(r, "y", 0)), 0.8, 1e-12);
    expect_near(fabs(run_at(r, "vy", 0)), 0.75, 1e-12);
    for (uint32_t k = 0; k < r->n_rows; k++)
        for (uint32_t j = 0; j < 3; j++) {
            static const char *const names[] = { "c0", "c1", "c2" };
            expect_near(r->rows[k].values[run_column(r, names[j])], 0, 1e-11);
        }
}

static void test_ot069_consistent_start_values(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "start.dym", .stop = 1, .interval = 0.25, .tolerance = 1e-9 },
                     check_start);
}

/* 2 V and 5 V at one voltage: the first is taken, the other is named. */
static void test_ot069_a_start_value_that_contradicts(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = HERE "contradiction.dym", .stop = 1e-3, .interval = 1e-4, .tolerance = 1e-9 });
    check_capacitors(r);
    assert_string_equal(r->output, "the start value 5 given for 'u2' contradicts the constraints and the other start "
                                   "values: it begins at 2");
    run_free(r);
}

/* By Runge-Kutta steps of 0.5 us for two voltages and two currents, the potentials written down by hand. */
static void check_hidden(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "C1.u"), -1.349011581483, 1e-9);
    expect_near(run_last(r, "C2.u"), -0.130803981358, 1e-9);
    expect_near(run_last(r, "C3.u"), 1.349011581483 + 0.130803981358, 1e-9);
    expect_near(run_last(r, "L1.i"), 0.317739432092, 1e-9);
    expect_near(run_last(r, "L2.i"), 0.064084273857, 1e-9);
    expect_near(run_last(r, "L3.i"), 0.253655158235, 1e-9);
}

/* The same with steps of 0.5 us for two currents and the star that is equivalent to the resistors. */
static void check_delta(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "L1.i"), 1.113100326366, 1e-9);
    expect_near(run_last(r, "L2.i"), -0.770500350741, 1e-9);
    expect_near(run_last(r, "L3.i"), -0.342599975625, 1e-9);
    expect_near(run_last(r, "R12.i"), 0.813383613430, 1e-9);
}

static void test_ot063_constraints_that_sums_of_equations_hide(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "hidden.dym", .stop = 0.01, .interval = 0.01, .tolerance = 1e-10 },
                     check_hidden);
    run_in_all_tiers((RunRequest){ .path = HERE "delta.dym", .stop = 0.05, .interval = 0.05, .tolerance = 1e-10 },
                     check_delta);
}

static void set_second(KoineModel *model)
{
    set_value(model, "y", 0.3);
}

/* The same where the text says nothing and the value is set before the run: the bar is 1 long, x begins at 0.8. */
static void test_ot069_a_value_that_was_set_and_contradicts(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = HERE "unsaid.dym", .stop = 0.1, .interval = 0.1, .prepare = set_second });
    expect_done(r);
    assert_string_equal(r->output, "the start value 0.3 given for 'y' contradicts the constraints and the other start "
                                   "values: it begins at 0.6");
    run_free(r);
}

/* A fault in an equation that nobody wrote names the one it was made of. */
static void test_ot064_a_fault_in_a_derivative(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "root.dym", .stop = 1, .interval = 1 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "root.dym:6:"));
    assert_non_null(strstr(r->report.text, "in the derivative of this equation, for F"));
    run_free(r);
}

/* ---- size ---- */
static char *write_text(const char *name, void (*write)(FILE *file, uint32_t n), uint32_t n)
{
    char *path = malloc(64);
    snprintf(path, 64, "/tmp/koine-index-%ld-%s", (long)getpid(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write(file, n);
    fclose(file);
    return path;
}

/* n capacitors at one voltage; the currents are added one by one. */
static void write_bank(FILE *file, uint32_t n)
{
    fprintf(file, "koine-ir 1\nmodel bank\nvar V, I Real continuous now\n");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(file, "var u%u Real continuous der\nvar i%u, s%u Real continuous now\n", k, k, k);
        fprintf(file, "eq a%u u%u = V\neq b%u 1e-6*der(u%u) = i%u\n", k, k, k, k, k);
        if (k)
            fprintf(file, "eq c%u s%u = s%u + i%u\n", k, k, k - 1, k);
    }
    fprintf(file, "eq c0 s0 = i0\neq d s%u = I\neq r 10.0 = 100.0*I + V\nend bank\n", n - 1);
}

static void test_ot064_a_bank_of_a_thousand_capacitors(void **state)
{
    (void)state;
    char *path = write_text("bank.ir", write_bank, 1000);
    expect_figures(path, 2, 999, 1);
    unlink(path);
    free(path);
}

/* x = sin(cos(sin(... y ...))), n deep, differentiated twice. */
static void write_deep(FILE *file, uint32_t n)
{
    fprintf(file, "koine-ir 1\nmodel deep\nvar x, y, v, w Real continuous der\nvar F Real continuous now\n"
                  "eq e1 der(x) = v\neq e2 der(v) = F\neq e3 der(y) = w\neq e4 der(w) = -y\neq e5 x = ");
    for (uint32_t k = 0; k < n; k++)
        fprintf(file, k % 2 ? "cos(" : "sin(");
    fprintf(file, "y");
    for (uint32_t k = 0; k < n; k++)
        fprintf(file, ")");
    fprintf(file, "\nend deep\n");
}

static uint64_t nodes_of(uint32_t depth)
{
    char *path = write_text("deep.ir", write_deep, depth);
    Arena *arena = arena_create(NULL);
    Pool *pool = pool_create(arena, names_create(arena));
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    uint32_t source;
    assert_int_equal(sources_open(sources, path, &source), SOURCE_OK);
    Compile c = { .model = model_read(pool, sources, source, diag), .arena = arena, .diag = diag };
    assert_true(c.model && run_pipeline(&c, NULL, NULL));
    assert_int_equal(c.schedule->figures.index, 3);
    const uint64_t nodes = pool_count(pool);
    arena_destroy(arena);
    unlink(path);
    free(path);
    return nodes;
}

/* Written out, the second derivative of n nested functions has about n^2 factors; shared, it grows with n. */
static void test_ot067_derivatives_do_not_blow_up(void **state)
{
    (void)state;
    const uint64_t few = nodes_of(50), many = nodes_of(400);
    assert_true(many < 8 * few + few);
    assert_true(many < 400 * 40);
}

/* Runge and Kutta with 200,000 steps for the angle, th'' = -sin(th), from asin(0.6): r = (sin(th), -cos(th)). */
static void check_array_pendulum(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "r[1]", 1), 0.355773744097, 1e-7);
    expect_near(run_at(r, "r[2]", 1), -0.934572117609, 1e-7);
    expect_near(run_at(r, "y", 0.4), run_at(r, "r[1]", 0.4), 0);
    expect_near(run_last(r, "r[1]"), -0.236771148739, 1e-7);
    expect_near(run_last(r, "y"), -0.971565449738, 1e-7);
    expect_near(run_last(r, "v[1]"), 0.585773761341 * -0.971565449738, 1e-7);
}

static void check_array_line(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = cos(sqrt(2) * r->rows[k].time);
        expect_near(r->rows[k].values[run_column(r, "r[1]")], x, 1e-7);
        expect_near(r->rows[k].values[run_column(r, "r[2]")], (-1 - x) / 2, 1e-7);
        expect_near(r->rows[k].values[run_column(r, "f")], 2, 1e-9);
    }
    expect_near(run_last(r, "y"), run_last(r, "r[2]"), 0);
}

static void test_elements_of_an_array_may_be_states_in_part(void **state)
{
    (void)state;
    expect_index(HERE "array_line.ir", 3, 2);
    run_in_all_tiers((RunRequest){ .path = HERE "array_pendulum.ir", .stop = 2, .interval = 0.2, .tolerance = 1e-10 },
                     check_array_pendulum);
    run_in_all_tiers((RunRequest){ .path = HERE "array_line.ir", .stop = 2, .interval = 0.2, .tolerance = 1e-10 },
                     check_array_line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_an_array_may_be_states_in_part),
        cmocka_unit_test(test_ot066_the_index_is_reported),
        cmocka_unit_test(test_ot063_ot064_two_parallel_capacitors),
        cmocka_unit_test(test_ot064_a_ring_of_capacitors),
        cmocka_unit_test(test_ot064_capacitor_at_a_source_inductors_in_a_cut_set),
        cmocka_unit_test(test_ot065_two_equations_differentiated_once),
        cmocka_unit_test(test_ot064_inverse_dynamics_along_a_path),
        cmocka_unit_test(test_ot070_a_pendulum_with_an_angle),
        cmocka_unit_test(test_ot070_the_pendulum_swings),
        cmocka_unit_test(test_ot070_events_of_chosen_states),
        cmocka_unit_test(test_ot070_the_pendulum_loops),
        cmocka_unit_test(test_ot070_a_thousand_seconds),
        cmocka_unit_test(test_ot070_all_kinds_of_methods),
        cmocka_unit_test(test_ot070_a_continued_run),
        cmocka_unit_test(test_ot070_the_double_pendulum),
        cmocka_unit_test(test_ot070_a_closed_loop_of_bars),
        cmocka_unit_test(test_ot070_constraints_of_places_and_of_speeds),
        cmocka_unit_test(test_ot068_the_state_that_is_named),
        cmocka_unit_test(test_ot068_named_states_of_a_pendulum),
        cmocka_unit_test(test_ot069_consistent_start_values),
        cmocka_unit_test(test_ot063_constraints_that_sums_of_equations_hide),
        cmocka_unit_test(test_ot069_a_start_value_that_contradicts),
        cmocka_unit_test(test_ot069_a_value_that_was_set_and_contradicts),
        cmocka_unit_test(test_ot064_a_fault_in_a_derivative),
        cmocka_unit_test(test_ot064_a_bank_of_a_thousand_capacitors),
        cmocka_unit_test(test_ot067_derivatives_do_not_blow_up),
        cmocka_unit_test(test_ot068_random_linear_constraints),
        cmocka_unit_test(test_ot068_random_constraints_with_chosen_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
