/* Constraints between states: index reduction, dummy derivatives, state selection. Expected values are closed forms; each
 * model runs in all tiers. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/index/"

/* ---- reports ---- */
static CompileReport figures_of(const char *path)
{
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = path };
    assert_true(compilation_load(c, &request) && compilation_schedule(c));
    const CompileReport report = compilation_report(c);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot066_the_index_is_reported),
        cmocka_unit_test(test_ot063_ot064_two_parallel_capacitors),
        cmocka_unit_test(test_ot064_a_ring_of_capacitors),
        cmocka_unit_test(test_ot064_capacitor_at_a_source_inductors_in_a_cut_set),
        cmocka_unit_test(test_ot065_two_equations_differentiated_once),
        cmocka_unit_test(test_ot064_inverse_dynamics_along_a_path),
        cmocka_unit_test(test_ot070_a_pendulum_with_an_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
