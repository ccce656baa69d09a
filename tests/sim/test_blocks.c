/* The libraries block.lib and el.lib, in all tiers.
 *
 * Linear blocks are compared with their transfer functions: what a table of coefficients says of the step response is
 * integrated here, in another form than the library's (observer form) and by a classical Runge-Kutta method of 20,000
 * steps, whose error is far below the tolerance. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/dymola/"
enum { MOST = 5, STEPS = 20000 };

typedef struct { /* (b[n] s^n + ... + b[0])/(a[n] s^n + ... + a[0]) */
    const char *name;
    int n;
    double b[MOST + 1], a[MOST + 1];
} Transfer;

/* x[k]' = x[k - 1] + beta[k] u - alpha[k] y, y = x[n - 1] + d u, for u = 1. */
static void slope(const Transfer *f, const double *x, double *dx)
{
    const double y = x[f->n - 1] + f->b[f->n] / f->a[f->n];
    for (int k = 0; k < f->n; k++)
        dx[k] = (k ? x[k - 1] : 0) + (f->b[k] - f->a[k] * y) / f->a[f->n];
}

static double step_response(const Transfer *f, double t)
{
    double x[MOST] = { 0 }, k1[MOST], k2[MOST], k3[MOST], k4[MOST], z[MOST];
    const double h = t / STEPS;
    if (f->n == 0)
        return f->b[0] / f->a[0];
    for (int step = 0; step < STEPS; step++) {
        slope(f, x, k1);
        for (int k = 0; k < f->n; k++)
            z[k] = x[k] + h / 2 * k1[k];
        slope(f, z, k2);
        for (int k = 0; k < f->n; k++)
            z[k] = x[k] + h / 2 * k2[k];
        slope(f, z, k3);
        for (int k = 0; k < f->n; k++)
            z[k] = x[k] + h * k3[k];
        slope(f, z, k4);
        for (int k = 0; k < f->n; k++)
            x[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
    }
    return x[f->n - 1] + f->b[f->n] / f->a[f->n];
}

static const Transfer table[] = {
    { "p.y", 0, { 3 }, { 1 } },
    { "pt1.y", 1, { 2 }, { 1, 0.5 } },
    { "pt2.y", 2, { 2 }, { 1, 2 * 0.4 / 3, 1.0 / 9 } },
    { "dt1.y", 1, { 0, 2 }, { 1, 0.25 } },
    { "i1.y", 1, { 1.5 }, { 0, 1 } },
    { "i2.y", 2, { 0.5 }, { 0, 0, 1 } },
    { "pi.y", 1, { 2, 2 * 0.4 }, { 0, 0.4 } },
    { "pid.y", 2, { 1.5, 1.5 * 0.7, 1.5 * 0.7 * 0.4 }, { 0, 0.7, 0.7 * 0.4 / 8 } },
    { "leadlag.y", 1, { 2, 2 * 0.3 }, { 1, 0.8 } },
    { "c1.y", 1, { 3, 0.5 }, { 1, 2 } },
    { "c2.y", 2, { 3, -1, 0.25 }, { 2, 1, 0.5 } },
    { "c3.y", 3, { 1, 2, 0, 0.5 }, { 1, 3, 3, 1 } },
    { "c4.y", 4, { 2, -1, 0.3, 0.2, 0.1 }, { 1, 4, 6, 4, 1 } },
    { "c5.y", 5, { 2, -1, 0.4, 0.3, 0.2, 0.1 }, { 1, 5, 10, 10, 5, 1 } },
    { "pz.y", 1, { 2 * 3, 2 }, { 1.5, 1 } },
    { "pz2.y", 2, { 1.5 * 5, 1.5 * 2, 1.5 }, { 9.25, 1, 1 } },
};

static void check_blocks(const RunResult *r)
{
    expect_done(r);
    for (double t = 0.5; t < 2.1; t += 0.5) {
        for (size_t k = 0; k < sizeof table / sizeof *table; k++)
            expect_near(run_at(r, table[k].name, t), step_response(&table[k], t), 2e-7);
        const double a = run_at(r, "pt1.y", t), b = run_at(r, "i1.y", t);
        expect_near(run_at(r, "s2.y", t), a - b, 1e-12);
        expect_near(run_at(r, "s2k.y", t), 3 * a + 0.5 * b, 1e-12);
        expect_near(run_at(r, "s3.y", t), 2 + a - b, 1e-12);
        expect_near(run_at(r, "s4.y", t), a + b - 2, 1e-12);
        expect_near(run_at(r, "m2.y", t), 2 * a * b, 1e-12);
        expect_near(run_at(r, "m3.y", t), a * a * b, 1e-12);
    }
}

static void set_step(KoineModel *model)
{
    set_value(model, "u", 1);
}

static void test_ot154_ot160_blocks_follow_their_transfer_functions(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = HERE "blocks.dym", .stop = 2, .interval = 0.5, .tolerance = 1e-10, .prepare = set_step },
        check_blocks);
}

/* The loop of spec 5.18: F = G/(1 + G M) with G = 50 (1 + 0.02 s)/((1 + 0.005 s)(1 + 0.2 s + 0.012 s^2)),
 * M = 1/(1 + 0.002 s); multiplied out. Its end value is 50/51. */
static void check_loop(const RunResult *r)
{
    static const Transfer loop = { "y",
                                   4,
                                   { 50, 50 * 0.022, 50 * 0.02 * 0.002 },
                                   { 51, 0.207 + 1.0, 0.012 + 0.2 * 0.007 + 1e-5, 0.012 * 0.007 + 0.2e-5, 0.012e-5 } };
    expect_done(r);
    for (double t = 0.05; t < 0.21; t += 0.05)
        expect_near(run_at(r, "y", t), step_response(&loop, t), 1e-6);
    expect_near(run_last(r, "y"), 50.0 / 51, 1e-6);
}

static void set_w(KoineModel *model)
{
    set_value(model, "w", 1);
}

static void test_ot155_the_control_loop(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/examples/control-loop/ControlLoop.dym",
                                   .stop = 2,
                                   .interval = 0.05,
                                   .tolerance = 1e-9,
                                   .prepare = set_w },
                     check_loop);
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* u = sin(t). PIDbound with wide bounds is the PID; at its bounds its integral part winds up without Tw. */
static void check_limits(const RunResult *r)
{
    expect_done(r);
    double most_wound = 0, most_bound = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values, u = sin(r->rows[k].time);
        expect_near(v[run_column(r, "b.y")], clamp(u, -0.5, 0.5), 1e-9);
        expect_near(v[run_column(r, "l.y")], clamp(u, -0.25, 0.75), 1e-9);
        expect_near(v[run_column(r, "d.y")], u - clamp(u, -0.5, 0.5), 1e-9);
        expect_near(v[run_column(r, "free.y")], v[run_column(r, "pid.y")], 1e-6);
        assert_true(fabs(v[run_column(r, "wound.y")]) <= 1.5 + 1e-9);
        assert_true(fabs(v[run_column(r, "bound.y")]) <= 1.5 + 1e-9);
        most_wound = fmax(most_wound, fabs(v[run_column(r, "wound.x1")]));
        most_bound = fmax(most_bound, fabs(v[run_column(r, "bound.x1")]));
    }
    assert_true(most_wound > 3.9); /* the integral of sin(t)/0.5 over half a period is 4 */
    assert_true(most_bound < 1.5);
}

static void test_ot158_ot159_limits(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "limits.dym", .stop = 7, .interval = 0.1, .tolerance = 1e-8 },
                     check_limits);
}

/* y = 2 is held: (3 - 1/4) x + u/4 = 2 and 2 x' = u - x give 2 x' = 8 - 12 x, so u goes from 8 to 2/3. */
static void check_inverse(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 1.1; t += 0.25) {
        const double u = 8 - 11 * (2.0 / 3) * (1 - exp(-6 * t));
        expect_near(run_at(r, "c.u", t), u, 1e-6);
        expect_near(run_at(r, "gain.u", t), u / 4, 1e-6);
    }
}

static void test_blocks_have_no_direction(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "inverse.dym", .stop = 1, .interval = 0.25, .tolerance = 1e-9 },
                     check_inverse);
}

/* The circuit is k (ri - z)/(1 + 2 D s/w + s^2/w^2) (spec 5.19); the rotor is so heavy that it stays at rest. */
static void check_motor(const RunResult *r)
{
    static const Transfer motor = { "", 2, { 1.1616 * (2 - 0.094) }, { 1, 2 * 0.6 / 4590, 1.0 / 4590 / 4590 } };
    expect_done(r);
    for (double t = 2e-4; t < 2.1e-3; t += 2e-4)
        expect_near(run_at(r, "torque", t), step_response(&motor, t), 1e-6);
    /* power that the machine takes is power that it gives; the Hall sensor shows the current */
    expect_near(run_last(r, "mot.emf.u") * run_last(r, "mot.emf.i"), -run_last(r, "mot.emf.t") * run_last(r, "r.qd"),
                1e-12);
    expect_near(run_last(r, "mot.hall.Vm"), run_last(r, "mot.Ra.i"), 1e-12);
    expect_near(run_last(r, "torque"), 1.1616 * run_last(r, "mot.Ra.i"), 1e-12);
}

static void set_ri(KoineModel *model)
{
    set_value(model, "ri", 2);
}

static void test_ot104_ot164_the_motor_of_the_document(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/examples/motor-dymola/motor.dym",
                                   .stop = 2e-3,
                                   .interval = 2e-4,
                                   .tolerance = 1e-9,
                                   .prepare = set_ri },
                     check_motor);
}

/* 2 V: the integrator gives -2 t/(R C) = -2 t, the low pass -4 (1 - exp(-5 t)). */
static void check_opamp(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 1.1; t += 0.25) {
        expect_near(run_at(r, "y1", t), -2 * t, 1e-7);
        expect_near(run_at(r, "y2", t), -4 * (1 - exp(-5 * t)), 1e-7);
    }
}

static void test_ot104_amplifiers(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/examples/active-filter/filters.dym",
                                   .stop = 1,
                                   .interval = 0.25,
                                   .tolerance = 1e-9 },
                     check_opamp);
}

/* an y[k] = bn u[k] + ... + b0 u[k-n] - a(n-1) y[k-1] - ... - a0 y[k-n], the transfer function in z by its
 * definition. */
static double difference(const Transfer *f, const double *u, int k)
{
    enum { MOST_SAMPLES = 16 };
    double y[MOST_SAMPLES] = { 0 };
    for (int j = 0; j <= k; j++) {
        for (int i = 0; i <= f->n && i <= j; i++)
            y[j] += f->b[f->n - i] * u[j - i] - (i ? f->a[f->n - i] * y[j - i] : 0);
        y[j] /= f->a[f->n];
    }
    return y[k];
}

static const Transfer sampled[] = {
    { "p.y", 0, { 2 }, { 1 } },
    { "i.y", 1, { 2 * 0.25 }, { -1, 1 } },
    { "pi.y", 1, { 2 * (0.5 - 1), 2 }, { -1, 1 } },
    { "c1.y", 1, { 3, 0.5 }, { -1, 2 } },
    { "c2.y", 2, { 3, -1, 0.25 }, { 0.2, -0.9, 1 } },
    { "c3.y", 3, { 1, 2, 0, 0.5 }, { -0.1, 0.2, -0.5, 1 } },
    { "c4.y", 4, { 2, -1, 0.3, 0.2, 0.1 }, { 0.1, -0.1, 0.2, -0.5, 2 } },
    { "c5.y", 5, { 2, -1, 0.4, 0.3, 0.2, 0.1 }, { 0.2, 0.1, -0.1, 0.2, -0.5, 2 } },
};

/* u = 1 + t, taken every 0.25 s. The block behind c1 sees its output of the same instant. Between samples all is
 * held. */
static void check_sampled(const RunResult *r)
{
    static const Transfer second = { "second.y", 1, { 1 }, { -0.5, 1 } };
    double u[9], y[9];
    expect_done(r);
    for (int k = 0; k <= 8; k++)
        u[k] = 1 + 0.25 * k;
    for (int k = 0; k <= 8; k++) {
        for (size_t j = 0; j < sizeof sampled / sizeof *sampled; j++) {
            expect_near(run_at(r, sampled[j].name, 0.25 * k), difference(&sampled[j], u, k), 1e-12);
            if (k < 8)
                expect_near(run_at(r, sampled[j].name, 0.25 * k + 0.125), difference(&sampled[j], u, k), 1e-12);
        }
        y[k] = difference(&sampled[3], u, k);
        expect_near(run_at(r, "second.y", 0.25 * k), difference(&second, y, k), 1e-12);
    }
    double integral = 0, before = 0; /* the bounded controller, step by step */
    for (int k = 0; k <= 8; k++) {
        const double wanted = 0.5 * (integral + u[k] + 0.1 / 0.25 * (u[k] - before)), bounded = fmin(wanted, 1.2);
        expect_near(run_at(r, "pid.y", 0.25 * k), bounded, 1e-12);
        integral += 0.25 / 0.5 * u[k] + 0.25 * 2 * (bounded - wanted);
        before = u[k];
    }
    assert_int_equal(r->report.statistics.events.state_events, 0);
}

static void test_ot156_ot157_sampled_blocks(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "sampled_blocks.dym", .stop = 2, .interval = 0.125 }, check_sampled);
}

/* Two rows of one time with different values: both sides of an event, at exactly these times. */
static void expect_jumps(const RunResult *r, const char *name, uint32_t n, const double *times)
{
    const uint32_t column = run_column(r, name);
    uint32_t seen = 0;
    for (uint32_t k = 1; k < r->n_rows; k++)
        if (r->rows[k].time == r->rows[k - 1].time &&
            fabs(r->rows[k].values[column] - r->rows[k - 1].values[column]) > 1e-9) {
            assert_true(seen < n);
            expect_near(r->rows[k].time, times[seen++], 1e-15);
        }
    assert_int_equal(seen, n);
}

/* Behind each event the signals are what their definitions say; all events are known in advance. */
static void check_signals(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.events.state_events, 0);
    for (double t = 0.0125; t < 2; t += 0.025) { /* none of the jumps */
        const double phase = fmod(t, 0.5), late = fmod(t - 0.3 + 10, 0.5);
        expect_near(run_at(r, "p.y", t), phase < 0.1 ? 3 : 0, 1e-12);
        expect_near(run_at(r, "q.y", t), t < 0.3 ? 0 : late < 0.25 ? 2 : -2, 1e-12);
        expect_near(run_at(r, "s.y", t), 4 * fmod(t, 0.25), 1e-9);
        expect_near(run_at(r, "late.y", t), t > 0.7 && fmod(t - 0.7, 0.5) < 0.1 ? 3 : 0, 1e-12);
        expect_near(run_at(r, "saw.y", t), t < 0.4 ? 0 : 8 * fmod(t - 0.4, 0.25), 1e-9);
    }
    expect_jumps(r, "p.y", 8, (const double[]){ 0.1, 0.5, 0.6, 1, 1.1, 1.5, 1.6, 2 });
    expect_jumps(r, "late.y", 6, (const double[]){ 0.7, 0.8, 1.2, 1.3, 1.7, 1.8 });
    expect_jumps(r, "q.y", 7, (const double[]){ 0.3, 0.55, 0.8, 1.05, 1.3, 1.55, 1.8 });
    expect_jumps(r, "s.y", 8, (const double[]){ 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2 });
    expect_jumps(r, "saw.y", 6, (const double[]){ 0.65, 0.9, 1.15, 1.4, 1.65, 1.9 });
}

static void test_ot161_periodic_signals(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "signals.dym", .stop = 2, .interval = 0.0125 }, check_signals);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ot154_ot160_blocks_follow_their_transfer_functions),
                                        cmocka_unit_test(test_ot155_the_control_loop),
                                        cmocka_unit_test(test_ot156_ot157_sampled_blocks),
                                        cmocka_unit_test(test_ot161_periodic_signals),
                                        cmocka_unit_test(test_ot158_ot159_limits),
                                        cmocka_unit_test(test_blocks_have_no_direction),
                                        cmocka_unit_test(test_ot104_ot164_the_motor_of_the_document),
                                        cmocka_unit_test(test_ot104_amplifiers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
