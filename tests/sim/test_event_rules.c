/* Rules that models of the corpus (tests/corpus) found broken, each with a small model of its own. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/events/"

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
    "simplex-gauss",
    "simplex-bulirsch-stoer",
    "simplex-rosenbrock",
    "simplex-euler",
};
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

/* With all but the last n solvers. */
static void with_solvers(uint32_t n, RunRequest request, void (*check)(const RunResult *r, const RunRequest *request))
{
    for (uint32_t k = 0; k + n < N_SOLVERS; k++) {
        request.solver = SOLVERS[k];
        request.tolerance = 1e-6;
        RunResult *r = run_model(&request);
        expect_done(r);
        check(r, &request);
        run_free(r);
    }
}

/* Up to x = 1.8 - 1.3 exp(-0.0137 t) the phase passes asin(s) and pi - asin(s), beside whole turns. */
static void check_steep(const RunResult *r, const RunRequest *request)
{
    const double limit = asin(-0.1237), from = 942 * 0.5;
    const double to = 942 * (1.8 - 1.3 * exp(-0.0137 * request->stop));
    double n = sin(from) > sin(limit);
    for (int k = 70; k < 160; k++)
        n += (2 * PI * k + limit > from && 2 * PI * k + limit < to) +
             (2 * PI * k + PI - limit > from && 2 * PI * k + PI - limit < to);
    expect_near(run_last(r, "N"), n, 0);
}

/* Behind a crossing the solver begins anew, and the state differs by a rounding; a steep function of it by a
 * thousand. */
static void test_s5_rounding_behind_a_crossing_makes_no_events(void **state)
{
    static const double intervals[] = { 0.5, 1.7, 3.8, 38 };
    (void)state;
    for (int k = 0; k < 4; k++)
        with_solvers(1, (RunRequest){ .path = MODELS "Steep.mdl", .stop = 38, .interval = intervals[k] }, check_steep);
}

/* Four times for 1e-7 (but the rounding of the remainder). */
static void check_blip(const RunResult *r, const RunRequest *request)
{
    (void)request;
    expect_near(run_last(r, "Q"), 4e-7, 1e-14);
}

static void test_s9_a_state_that_first_moves_just_before_an_event(void **state)
{
    (void)state;
    with_solvers(0, (RunRequest){ .path = MODELS "Blip.mdl", .stop = 3.5, .interval = 3.5 }, check_blip);
}

/* Its amplitude is 1.8; errors of steps add up over 60 periods. */
static void check_alias(const RunResult *r, const RunRequest *request)
{
    const double right = -24.2103 / 13.4325 * (sin(13.4325 * request->stop + 0.238668) - sin(0.238668));
    expect_near(run_last(r, "X"), right, 1000 * 1e-6 * 1.8);
}

static void test_s8_a_first_step_of_many_periods_of_a_source(void **state)
{
    static const double stops[] = { 10, 20, 25, 28.1107, 30 };
    (void)state;
    for (int k = 0; k < 5; k++)
        with_solvers(1, (RunRequest){ .path = MODELS "Alias.mdl", .stop = stops[k], .interval = stops[k] },
                     check_alias);
}

/* Within 100 tolerances of the largest value at every point of the output. */
static void check_integral(const RunResult *r, const RunRequest *request)
{
    const uint32_t x = run_column(r, "X");
    (void)request;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double swing = sin(3.67668 * r->rows[k].time + 5.11128) - sin(5.11128);
        expect_near(r->rows[k].values[x], -1.44792 - 0.996937 / 3.67668 * swing, 100 * 1e-6 * 1.97);
    }
}

static void test_s8_an_integral_of_the_time(void **state)
{
    (void)state;
    with_solvers(1, (RunRequest){ .path = MODELS "Integral.mdl", .stop = 14.4375, .interval = 0.01 }, check_integral);
    with_solvers(1, (RunRequest){ .path = MODELS "Integral.mdl", .stop = 14.4375, .interval = 2 }, check_integral);
}

/* The bounces in closed form, samples of the limit every 1e-6 between them. */
static double passes_of_a_ball(double stop)
{
    double x = 0.493196, v = 0.398662, from = 0, n = 0;
    bool was = false;
    while (from < stop) {
        const double g = 66.771, bounce = (v + sqrt(v * v + 2 * g * x)) / g, end = fmin(from + bounce, stop);
        for (double t = from; t < end; t += 1e-6) {
            const double s = t - from, h = 2.0229 * (x + s * (v - 0.5 * g * s));
            const bool is = (h * h + exp(-1.95273 * h)) * sin(13.6711 * t + 4.5432) > 0.8195032006742733;
            n += is && !was;
            was = is;
        }
        v = 0.959667 * (g * bounce - v);
        x = 0;
        from += bounce;
    }
    return n;
}

static void check_beyond(const RunResult *r, const RunRequest *request)
{
    expect_near(run_last(r, "n"), passes_of_a_ball(request->stop), 0);
}

/* What a step sees behind an event does not count as the rounding of what lies before it. */
static void test_s8_values_beyond_an_event_are_no_measure(void **state)
{
    (void)state;
    with_solvers(1, (RunRequest){ .path = MODELS "beyond.dym", .stop = 2.40324, .interval = 2.40324 }, check_beyond);
}

/* div, mod, rem and integer of what moves jump where they do, at events. */
static void check_event_functions(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = r->rows[k].values[run_column(r, "x")];
        const double edge = fabs(x / 0.75 - round(x / 0.75)), other = fabs(x - round(x));
        if (edge < 1e-6 || other < 1e-6) /* on either side of an event */
            continue;
        expect_near(r->rows[k].values[run_column(r, "div_")], trunc(x / 0.75), 0);
        expect_near(r->rows[k].values[run_column(r, "mod_")], x - floor(x / 0.75) * 0.75, 1e-12);
        expect_near(r->rows[k].values[run_column(r, "rem_")], x - trunc(x / 0.75) * 0.75, 1e-12);
        expect_near(r->rows[k].values[run_column(r, "integer_")], floor(x), 0);
    }
    /* -1.5, -0.75, 0, 0.75, 1.5, 2.25 and -2, -1, 1, 2; below 0 trunc changes just behind a multiple, floor at it */
    assert_in_range(r->report.statistics.events.state_events, 10, 12);
    expect_near(run_last(r, "jumps"), 2, 0); /* 10 + integer is 8, 11: 2 modulo 3 from -2 and from 1 on */
}

static void test_functions_that_jump_are_events(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "event_functions.ir", .stop = 4.5, .interval = 0.01 },
                     check_event_functions);
}

/* Cubes and squares of what is above the corners. Only that of order 0 makes an event. */
static void check_smooth(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "a"), 1.5 * 1.5 * 1.5 / 3, 1e-7);
    expect_near(run_last(r, "b"), 1.3 * 1.3 / 2, 1e-7);
    expect_near(run_last(r, "c"), pow(1.1, 4) / 4, 1e-7);
    assert_int_equal(r->report.statistics.events.state_events + r->report.statistics.events.time_events, 1);
}

static void test_smooth_of_an_order_makes_no_events(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "smooth.ir", .stop = 2, .interval = 0.5, .tolerance = 1e-9 },
                     check_smooth);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_functions_that_jump_are_events),
                                        cmocka_unit_test(test_smooth_of_an_order_makes_no_events),
                                        cmocka_unit_test(test_s5_rounding_behind_a_crossing_makes_no_events),
                                        cmocka_unit_test(test_s9_a_state_that_first_moves_just_before_an_event),
                                        cmocka_unit_test(test_s8_a_first_step_of_many_periods_of_a_source),
                                        cmocka_unit_test(test_s8_an_integral_of_the_time),
                                        cmocka_unit_test(test_s8_values_beyond_an_event_are_no_measure) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
