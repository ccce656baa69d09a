/* Right-hand sides that the time alone drives while the states rest: no solver that controls its error passes over the
 * pulses of its sources. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SIMPLEX KOINE_SOURCE_DIR "/tests/sim/simplex/time/"
#define DYMOLA  KOINE_SOURCE_DIR "/tests/sim/dymola/"

static const double PI = 3.14159265358979323846;
static const char *const SOLVERS[] = {
    "auto",
    "dopri5",
    "dop853",
    "cvode-bdf",
    "cvode-adams",
    "ida",
    "arkode-erk",
    "arkode-dirk",
    "simplex-rk4",
    "simplex-fehlberg",
    "simplex-gauss",
    "simplex-bulirsch-stoer",
    "simplex-rosenbrock",
};
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

static void with_all(RunRequest request, void (*check)(const RunResult *result))
{
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        request.solver = SOLVERS[k];
        RunResult *r = run_model(&request);
        check(r);
        run_free(r);
    }
}

/* A bridge of exponential diodes at 50 Hz charges a capacitor twice a period, between which nothing happens. Reference:
 * the classic Runge-Kutta method with steps of 1e-5 s and Newton's for the two nodes, in a program of its own. */
static const double VOLTAGES[] = { 16.970460485, 17.013166420, 17.015396542, 17.017128982, 17.018855414 };

static void check_bridge(const RunResult *r, double tolerance)
{
    expect_done(r);
    for (int k = 0; k < 5; k++)
        expect_near(run_at(r, "C.u", 0.02 * (k + 1)), VOLTAGES[k], tolerance);
}
static void check_bridge_roughly(const RunResult *r)
{
    check_bridge(r, 5e-3);
}
static void check_bridge_exactly(const RunResult *r)
{
    check_bridge(r, 5e-4);
}

static void test_s9_a_bridge_of_smooth_diodes(void **state)
{
    (void)state;
    with_all((RunRequest){ .path = DYMOLA "smooth_bridge.dym", .stop = 0.1, .interval = 0.0002, .tolerance = 1e-6 },
             check_bridge_roughly);
    run_in_all_tiers(
        (RunRequest){ .path = DYMOLA "smooth_bridge.dym", .stop = 0.1, .interval = 0.0002, .tolerance = 1e-6 },
        check_bridge_exactly);
}

/* x: 10 pulses of pi*exp(-3000)*I0(3000) each, by the asymptotic series of the Bessel function I0; y: one of
 * 1e-4*sqrt(pi) at 7, which decays since. The widths are 2e-2 and 2e-4 of 30. */
static void check_pulses(const RunResult *r)
{
    expect_done(r);
    const double a = 3000, one = PI / sqrt(2 * PI * a) * (1 + 1 / (8 * a) + 9 / (128 * a * a));
    expect_near(run_last(r, "x"), 10 * one, 1e-4);
    expect_near(run_last(r, "y"), 1e-4 * sqrt(PI) * exp(-0.001 * 23), 1e-7);
}

static void test_s9_narrow_pulses(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DYMOLA "pulses.dym", .stop = 30, .interval = 3, .tolerance = 1e-6 },
                     check_pulses);
    with_all((RunRequest){ .path = DYMOLA "pulses.dym", .stop = 30, .interval = 3, .tolerance = 1e-6 }, check_pulses);
}

/* The integral of exp(-((T - 5)/0.01)^2) is 0.01*sqrt(pi). sin 300 T > 0.999 rises 478 times up to 10, the first time
 * at asin(0.999)/300. */
static void check_pulse(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "X"), 0.01 * sqrt(PI), 2e-6);
    expect_near(run_last(r, "N"), 1, 0);
    uint32_t n = 0;
    for (int k = 0; k < 1000; k++)
        n += (asin(0.999) + 2 * PI * k) / 300 < 10;
    expect_near(run_last(r, "M"), n, 0);
}

static void test_s9_a_pulse_between_events(void **state)
{
    (void)state;
    with_all((RunRequest){ .path = SIMPLEX "Pulse.mdl", .stop = 10, .interval = 1 }, check_pulse);
}

/* What the steps see anyway costs little: of 1000 s with hundreds of extremes hardly a step is made again. */
static void check_forced(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "z"), (sin(1000) - cos(1000)) / 2, 1e-5);
    assert_true(r->report.statistics.integration.pulses * 100 < r->report.statistics.integration.steps);
}

static void test_s9_smooth_sources_cost_little(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = DYMOLA "forced.dym", .stop = 1000, .interval = 100, .tolerance = 1e-6 });
    check_forced(r);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_s9_a_bridge_of_smooth_diodes),
                                        cmocka_unit_test(test_s9_narrow_pulses),
                                        cmocka_unit_test(test_s9_a_pulse_between_events),
                                        cmocka_unit_test(test_s9_smooth_sources_cost_little) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
