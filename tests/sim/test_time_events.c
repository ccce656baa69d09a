/* Comparisons of functions of the time are located on these functions: the same events with every solver, every output
 * interval and every tier. */
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
static const char *const SOLVERS[] = { "auto",       "dopri5",      "dop853", "cvode-bdf",        "cvode-adams",  "ida",
                                       "arkode-erk", "arkode-dirk", "rk4",    "simplex-fehlberg", "simplex-gauss" };
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

static void with_all(RunRequest request, double finer, double coarser, void (*check)(const RunResult *result))
{
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        for (int j = 0; j < 2; j++) {
            request.solver = SOLVERS[k];
            request.interval = j ? finer : coarser;
            RunResult *r = run_model(&request);
            check(r);
            run_free(r);
        }
}

/* Up at pi/6 + 2 k pi, down at (2 k + 1) pi: 8 times up to 50, 160 up to 1000. */
static void check_8(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "N"), 8, 0);
}
static void check_160(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "N"), 160, 0);
}
static void check_1592(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "N"), 1592, 0);
}

static void test_s6_a_sine_without_states(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "SinT.mdl", .stop = 1000, .interval = 2 }, check_160);
    RunResult *r = run_model(&(RunRequest){ .path = SIMPLEX "SinT.mdl", .stop = 10000, .interval = 5000 });
    check_1592(r);
    run_free(r);
}

static void test_s6_a_sine_beside_a_slow_state(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "SinX.mdl", .stop = 50, .interval = 0.1 }, check_8);
    with_all((RunRequest){ .path = SIMPLEX "SinX.mdl", .stop = 50 }, 0.05, 25, check_8);
}

/* Hours: sin > 0.2 for pi - 2 asin 0.2 of every period, 30 times. No row contradicts the equation of Day. The
 * temperature: the exact solution piece by piece. */
static void check_sun(const RunResult *r)
{
    expect_done(r);
    const double rise = 6 + asin(0.2) * 12 / PI, day = (PI - 2 * asin(0.2)) * 12 / PI;
    double temperature = 10;
    for (int k = 0; k < 30; k++) {
        temperature = 10 + (temperature - 10) * exp(-(k ? 24 - day : rise) / 200);
        temperature = 60 + (temperature - 60) * exp(-day / 200);
    }
    temperature = 10 + (temperature - 10) * exp(-(24 - rise - day) / 200);
    expect_near(run_last(r, "Hours"), 30 * day, 1e-5);
    expect_near(run_last(r, "Temp"), temperature, 5e-4);
    const uint32_t elevation = run_column(r, "Elev"), shines = run_column(r, "Day");
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (fabs(r->rows[k].values[elevation] - 0.2) > 1e-12)
            assert_true((r->rows[k].values[elevation] > 0.2) == (r->rows[k].values[shines] != 0));
}

static void test_s6_the_sun_shines_every_day(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "Sun.mdl", .stop = 720, .interval = 1.44 }, check_sun);
    with_all((RunRequest){ .path = SIMPLEX "Sun.mdl", .stop = 720 }, 0.7, 360, check_sun);
}

/* On a time grid every event lies on it: a day is 10.461 or 10.462 long, the 30 of them equal. */
static void check_sun_on_grid(const RunResult *r)
{
    expect_done(r);
    const double day = (PI - 2 * asin(0.2)) * 12 / PI;
    expect_near(run_last(r, "Hours"), 30 * day, 30 * 0.001);
}

static void test_s6_on_a_time_grid(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "Sun.mdl", .stop = 720, .interval = 1.44, .resolution = 0.001 },
                     check_sun_on_grid);
}

/* 314 t = pi/6 + 2 k pi: 100 times up to 2 s. x = exp(-t/100). */
static void check_timesine(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), 100, 0);
    expect_near(run_last(r, "x"), exp(-0.02), 1e-6);
}

static void test_s6_fifty_times_a_second(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DYMOLA "timesine.dym", .stop = 2, .interval = 0.004 }, check_timesine);
    with_all((RunRequest){ .path = DYMOLA "timesine.dym", .stop = 2 }, 0.01, 2, check_timesine);
}

/* A table of MOD(T, 24): frost below 0 once a night, 100 nights. */
static void check_nights(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "Nights"), 100, 0);
}

static void test_s6_a_table_of_the_time_of_day(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "Day.mdl", .stop = 2400, .interval = 100 }, check_nights);
}

/* sin t > 0.5: 4 times up to 20, at pi/6 + 2 k pi. Then sin 10 t > 1 - 1e-9: at pi/20 + 2 k pi/10 from 20 on 32 times
 * up to 40 (the first at 20.263). Then sin 1000 t > 1 + 1e-12: never. Up is false at 20: sin t was negative at 19. */
static void check_change(const RunResult *r)
{
    expect_done(r);
    uint32_t n = 0;
    for (int k = 0; k < 100; k++) {
        n += PI / 6 + 2 * PI * k < 20;
        n += PI / 20 + PI / 5 * k > 20 && PI / 20 + PI / 5 * k < 40;
    }
    expect_near(run_last(r, "N"), n, 0);
}

static void test_s6_the_search_begins_anew_when_operands_change(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "Change.mdl", .stop = 60, .interval = 60 }, check_change);
}

/* A run that is continued goes on with the events that were to come. */
static void test_s6_a_continued_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = SIMPLEX "SinX.mdl", .stop = 50, .interval = 1, .pause = 20 });
    check_8(r);
    run_free(r);
}

/* sin 1e6 t + cos 1e6 t is never above 1.5, which takes a proof for every third of a period: the run gets through, and
 * says what takes so long. */
static void test_s6_a_long_search_is_named(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = SIMPLEX "Fast.mdl", .stop = 0.3, .interval = 0.1 });
    expect_done(r);
    expect_near(run_last(r, "N"), 0, 0);
    assert_non_null(r->output);
    assert_non_null(strstr(r->output, "Fast.mdl:7) takes long"));
    assert_null(strstr(strstr(r->output, "takes long") + 1, "takes long"));
    run_free(r);
}

/* On a grid the run stops for the search at grid points. */
static void test_s6_a_long_search_on_a_time_grid(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = SIMPLEX "Fast.mdl", .stop = 0.02, .interval = 0.01, .resolution = 1e-7 });
    expect_done(r);
    expect_near(run_last(r, "N"), 0, 0);
    run_free(r);
}

/* Functions and elements of arrays are functions of the time, too: no event depends on steps or output points. In 10
 * units of time: the crossing at phase p of sin(w t) comes floor((10 w - p)/2 pi) + 1 times. */
static int passages(double omega, double phase)
{
    return (int)floor((10 * omega - phase) / (2 * PI)) + 1;
}
static void check_calls(const RunResult *r)
{
    expect_done(r);
    const double quarter = PI / 4;
    expect_near(run_last(r, "N1"), passages(50, quarter) + passages(50, PI + quarter), 0);
    expect_near(run_last(r, "N2"), passages(60, PI / 6), 0);
    expect_near(run_last(r, "N3"), passages(80, asin(0.5 * (sqrt(1 + 0.4 * 1.49999) - 1) / 0.2)), 0);
    expect_near(run_last(r, "N4"), passages(70, asin(0.999) - 2 + 2 * PI), 0);
    expect_near(run_last(r, "N5"), passages(23, 2 * PI - acos(0.99)) + 1, 0);
    expect_near((double)r->report.statistics.integration.root_evaluations, 0, 0);
}
static void check_timecalls(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), passages(60, asin(0.5 * (cbrt(3.37499) + 0.5))), 0);
    expect_near(run_last(r, "k"), passages(70, asin(0.999)), 0);
}

static void test_s6_functions_and_elements_of_arrays(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = SIMPLEX "Calls.mdl", .stop = 10, .interval = 10 }, check_calls);
    run_in_all_tiers((RunRequest){ .path = DYMOLA "timecalls.dym", .stop = 10, .interval = 10 }, check_timecalls);
    with_all((RunRequest){ .path = DYMOLA "timecalls.dym", .stop = 10 }, 0.1, 5, check_timecalls);
}

/* round(sin t) < |t| holds up to the last number before 0, and from the first one behind it to pi/6, where the sine
 * is 1/2. Between the number before 0 and 0 there is nothing to integrate. */
static void check_zero(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "R"), 1 + PI / 6, 1e-9);
    expect_near(run_last(r, "B"), 0, 0);
}

static void test_s7_an_event_less_than_rounding_before_0(void **state)
{
    (void)state;
    const RunRequest request = { .path = SIMPLEX "Zero.mdl", .start = -1, .stop = 0.9, .interval = 0.1 };
    run_in_all_tiers(request, check_zero);
    with_all(request, 0.01, 1, check_zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_s6_a_sine_without_states),
                                        cmocka_unit_test(test_s6_functions_and_elements_of_arrays),
                                        cmocka_unit_test(test_s6_a_sine_beside_a_slow_state),
                                        cmocka_unit_test(test_s6_the_sun_shines_every_day),
                                        cmocka_unit_test(test_s6_on_a_time_grid),
                                        cmocka_unit_test(test_s6_fifty_times_a_second),
                                        cmocka_unit_test(test_s6_a_table_of_the_time_of_day),
                                        cmocka_unit_test(test_s6_the_search_begins_anew_when_operands_change),
                                        cmocka_unit_test(test_s6_a_continued_run),
                                        cmocka_unit_test(test_s6_a_long_search_is_named),
                                        cmocka_unit_test(test_s6_a_long_search_on_a_time_grid),
                                        cmocka_unit_test(test_s7_an_event_less_than_rounding_before_0) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
