/* Instantaneous equations of the language Dymola, in all tiers; expected values are closed forms. */
#include "run.h"
#include <math.h>
#include <stdlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/dymola/"

static const double PI = 3.14159265358979323846;

/* ---- Boolean equations ---- */
/* a = b and c or v > 0.5, v = sin(t): true from pi/6 to 5 pi/6, which contains the interval [1, 2] of b; again from
 * pi/6 + 2 pi on. w is how long it was true. Between the two, t = 3, nothing is. */
static void check_booleans(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "w", 3), 5 * PI / 6 - PI / 6, 1e-7);
    expect_near(run_at(r, "w", 7), 5 * PI / 6 - PI / 6 + 7 - (2 * PI + PI / 6), 1e-7);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time;
        const bool is_inside = (t > PI / 6 + 1e-6 && t < 5 * PI / 6 - 1e-6) || t > 2 * PI + PI / 6 + 1e-6;
        const bool is_outside = t < PI / 6 - 1e-6 || (t > 5 * PI / 6 + 1e-6 && t < 2 * PI + PI / 6 - 1e-6);
        const double *row = r->rows[k].values;
        assert_true(!is_inside || row[run_column(r, "a")] == 1);
        assert_true(!is_outside || row[run_column(r, "a")] == 0);
        assert_true(row[run_column(r, "c")] == (t < 4) || t == 4); /* a time event has a row on either side */
        /* OT-088: the chain of three has the value of a on both sides of every instant. */
        assert_true(row[run_column(r, "s3.state")] == row[run_column(r, "a")]);
    }
    /* Every edge of a runs through the chain link by link: s3 lags s2 by one step, once for each fall of a. */
    expect_near(run_last(r, "k"), 1, 0);
    /* OT-087: what changes a Boolean is an event: three crossings of 0.5 by a sine of the time, and 1, 2 and 4. */
    assert_int_equal(r->report.statistics.events.state_events, 0);
    assert_int_equal(r->report.statistics.events.time_events, 6);
}

static void test_ot087_ot088_booleans_settle_in_one_instant(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "booleans.dym", .stop = 7, .interval = 0.25, .tolerance = 1e-9 },
                     check_booleans);
}

/* The start is an event: with V = 5 the closed diode (its state starts as False) stays closed, i = 4/20; with V = -5 it
 * opens at once: the first row is what was found, the second, of the same time, what the iteration makes of it. */
static void check_closed(const RunResult *r)
{
    expect_done(r);
    expect_near(r->rows[0].values[run_column(r, "D.i")], 0.2, 1e-12);
    expect_near(r->rows[0].values[run_column(r, "D.Open")], 0, 0);
}

static void check_open(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->n_rows, 3);
    expect_near(r->rows[0].values[run_column(r, "D.i")], -0.3, 1e-12);
    expect_near(r->rows[1].time, 0, 0);
    for (uint32_t k = 1; k < r->n_rows; k++) {
        expect_near(r->rows[k].values[run_column(r, "D.i")], 0, 0);
        expect_near(r->rows[k].values[run_column(r, "D.u")], -6, 1e-12);
        expect_near(r->rows[k].values[run_column(r, "D.Open")], 1, 0);
    }
}

static void reverse_the_source(KoineModel *model)
{
    set_value(model, "V", -5);
}

static void test_ot091_the_start_is_an_event(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "position.dym", .stop = 1, .interval = 1 }, check_closed);
    run_in_all_tiers(
        (RunRequest){ .path = HERE "position.dym", .stop = 1, .interval = 1, .prepare = reverse_the_source },
        check_open);
}

/* ---- when ---- */
/* cos(t) becomes positive at the start, which is an event, and at 3 pi/2 + 2 k pi; negative at pi/2 + 2 k pi. */
static void check_edges(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 0), 1, 0);
    expect_near(run_at(r, "n", 4), 1, 0);
    expect_near(run_at(r, "n", 5), 2, 0);
    expect_near(run_last(r, "n"), 4, 0);
    expect_near(run_last(r, "last"), 11 * PI / 2, 1e-9);
    expect_near(run_last(r, "m"), 3, 0);
}

static void test_ot081_a_when_acts_once_for_each_rise(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "edges.dym", .stop = 20, .interval = 1, .tolerance = 1e-9 },
                     check_edges);
}

/* x = 2 sin(t): y = -1 until x passes 1 at pi/6, 1 until x passes -1 at 7 pi/6, and so on; not when x comes back. */
static void check_hysteresis(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, phase = fmod(t - PI / 6 + 2 * PI, 2 * PI);
        if (fabs(phase - PI) < 1e-6 || phase < 1e-6 || phase > 2 * PI - 1e-6)
            continue;
        expect_near(r->rows[k].values[run_column(r, "h.y")], t > PI / 6 && phase < PI ? 1 : -1, 0);
    }
    expect_near(run_at(r, "s", 2 * PI), -PI / 6 + PI - (2 * PI - 7 * PI / 6), 1e-7);
}

static void test_ot082_hysteresis(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "hysteresis.dym", .stop = 15, .interval = PI / 10, .tolerance = 1e-9 },
                     check_hysteresis);
}

/* x_k = 1 - 0.5^k with x_0 = 0, at 0.05 + 0.1 k; y_k = t_k + x_k, the value of x before, and held: its integral is the
 * sum of y_k*0.1. */
static void check_difference(const RunResult *r)
{
    expect_done(r);
    double sum = 0, t = 0.05;
    for (int k = 0; k < 9; k++, t += 0.1) {
        const double x = 1 - pow(0.5, k);
        expect_near(run_at(r, "x", t), 1 - pow(0.5, k + 1), 1e-15);
        expect_near(run_at(r, "y", t), t + x, 1e-15);
        expect_near(run_at(r, "y", 0.1 * (k + 1)), t + x, 1e-15); /* OT-085: held */
        sum += 0.1 * (t + x);
    }
    expect_near(run_at(r, "s", t), sum, 1e-9);
    expect_near(run_at(r, "y", 0), 0, 0);
    assert_int_equal(r->report.statistics.events.time_events, 10);
    assert_int_equal(r->report.statistics.events.state_events, 0);
}

static void test_ot084_ot085_difference_equation(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "difference.dym", .stop = 1, .interval = 0.1, .tolerance = 1e-9 },
                     check_difference);
}

/* The ball meets the ground with v0 = sqrt(2 g), the k-th time after t0 + 2 v0/g (c + c^2 + ... + c^k). At t = 2 it
 * is on the parabola after the third impact. */
static void check_ball(const RunResult *r)
{
    expect_done(r);
    const double g = 9.81, c = 0.8, v0 = sqrt(2 * g);
    double t = sqrt(2 / g), v = v0, after_third = 0;
    int n = 0;
    for (uint32_t k = 0; k + 1 < r->n_rows && n < 6; k++) {
        const double *before = r->rows[k].values, *after = r->rows[k + 1].values;
        const uint32_t velocity = run_column(r, "Velocity"), count = run_column(r, "n");
        if (after[count] == before[count])
            continue;
        expect_near(r->rows[k].time, t, 1e-9);
        expect_near(before[velocity], -v, 1e-8);
        expect_near(after[velocity], -c * before[velocity], 1e-15);
        v *= c;
        if (++n == 3)
            after_third = v * (2 - t) - g / 2 * (2 - t) * (2 - t);
        t += 2 * v / g;
    }
    assert_int_equal(n, 6);
    expect_near(run_at(r, "Height", 2), after_third, 1e-8);
}

static void test_ot086_bouncing_ball(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "ball.dym", .stop = 3, .interval = 0.5, .tolerance = 1e-10 },
                     check_ball);
}

/* The ball comes to rest after t0 + 2 t0 c/(1 - c), t0 the time of the first fall: bounces become lower than any
 * tolerance and shorter than any step, yet it does not fall through the ground. */
static void test_s16_a_ball_that_comes_to_rest(void **state)
{
    static const char *const solvers[] = { "dopri5", "dop853", "ida", "rk4" };
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        RunResult *r = run_model(
            &(RunRequest){ .path = HERE "ball.dym", .solver = solvers[k], .stop = 10, .interval = 0.5, .step = 0.01 });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, "Zeno: the last 32 events of one kind"));
        assert_non_null(strstr(r->report.text, "\"Height <= 0.0\" of ball"));
        expect_near(strtod(strstr(r->report.text, "accumulate at time ") + 19, NULL), 9 * sqrt(2 / 9.81), 1e-5);
        run_free(r);
    }
}

/* Comparisons that slide again and again are named once, not each time: the brake sticks three times. */
static void test_ot092_what_chatters_is_named_once(void **state)
{
    static const char *const files[] = { HERE "sliding.dym", HERE "../chatter/friction.dym" };
    static const uint32_t names[] = { 2, 1 }, times[] = { 2, 3 };
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = files[k], .stop = 10, .interval = 0.5 });
        uint32_t n = 0;
        expect_done(r);
        for (const char *at = r->output; (at = strstr(at, "chattering:")) != NULL; at++)
            n++;
        assert_int_equal(n, names[k]);
        assert_int_equal(r->report.statistics.events.chatterings, times[k]);
        run_free(r);
    }
}

/* All in the instant at 1: x = 3, y = 7, z = 7, w = 14, k = 14; and nothing twice. */
static void check_between(const RunResult *r)
{
    static const char *const names[] = { "x", "y", "z", "w", "k" };
    static const double values[] = { 3, 7, 7, 14, 14 };
    expect_done(r);
    for (uint32_t j = 0; j < 5; j++)
        expect_near(run_at(r, names[j], 1), values[j], 0);
    expect_near(run_last(r, "y"), 8, 1e-15);
    expect_near(run_last(r, "w"), 14, 0);
    assert_int_equal(r->report.statistics.events.state_events, 0);
}

static void test_ot089_the_whole_model_is_evaluated(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "between.dym", .stop = 2, .interval = 0.5 }, check_between);
}

static void test_ot090_circular_whens(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "circular.dym", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    assert_non_null(strstr(r->messages,
                           "circular.dym:4:3: error KN2113: whether this event occurs depends on what it sets itself"));
    assert_non_null(strstr(r->messages, "circular.dym:5:3: this event takes part in the ring"));
    assert_non_null(strstr(r->messages, "circular.dym:5:21: 'x' takes part in the ring"));
    assert_non_null(strstr(r->messages, "circular.dym:4:21: 'y' takes part in the ring"));
    run_free(r);
}

/* They start at 0.5 and 3.5 and meet at t = 1 in x = 2.5; momentum gives (1*2 + 2*(-1))/3 = 0. s^3 + s = 4*2.5 - 1 has
 * the solution s = 1.920 (checked by inserting). */
static void check_impact(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x1", 0), 0.5, 0);
    expect_near(run_at(r, "x2", 0), 3.5, 0);
    expect_near(run_at(r, "x1", 0.5), 1.5, 1e-12);
    expect_near(run_last(r, "v1"), 0, 1e-15);
    expect_near(run_last(r, "v2"), 0, 1e-15);
    expect_near(run_last(r, "x1"), 2.5, 1e-9);
    const double s = run_last(r, "s");
    expect_near(s * s * s + s, 9, 1e-8);
    expect_near(run_at(r, "s", 0.5), 0, 0);
}

static void test_ot086_init_in_equations(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "impact.dym", .stop = 2, .interval = 0.5, .tolerance = 1e-9 },
                     check_impact);
}

/* The k-th sample is at 0.1 + 0.1 + ..., as the model adds them up, and so is the value that b reads there: u = t + 1.
 * b, c and a act at once, in this order: c = 6 u, a is one sample behind. The sums of 0.1 are k*0.1, rounded once:
 * 11 + 5 - 3 instants until 1, those at 0, 0.5 and 1 being common; that at 0 is the start. */
static void check_sampled(const RunResult *r)
{
    expect_done(r);
    double before = 0;
    for (int k = 0; k < 10; k++) {
        const double t = k * 0.1;
        expect_near(run_at(r, "b.y", t), 3 * (t + 1), 0);
        expect_near(run_at(r, "c.y", t), 2 * (3 * (t + 1)), 0);
        expect_near(run_at(r, "a.y", t), before, 0);
        expect_near(run_at(r, "c.y", t + 0.05), 2 * (3 * (t + 1)), 0);
        before = 2 * (3 * (t + 1));
    }
    expect_near(run_at(r, "slow.y", 0.75), 1.75, 0);
    assert_int_equal(r->report.statistics.events.time_events, 12);
    assert_int_equal(r->report.statistics.events.state_events, 0);
}

static void test_ot079_sample_times_are_met_exactly(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "sampled.dym", .stop = 1, .interval = 0.05 }, check_sampled);
}

/* x_k = A x_(k-1) + 3 b by hand: (3, 6), (6, 9), (8.25, 10.5); y is the difference; w is turned and halved. */
static void check_statespace(const RunResult *r)
{
    static const double x1[] = { 0, 3, 6, 8.25 }, x2[] = { 0, 6, 9, 10.5 };
    expect_done(r);
    for (int k = 0; k <= 3; k++) {
        expect_near(run_at(r, "x[1]", k), x1[k], 0);
        expect_near(run_at(r, "x[2]", k), x2[k], 0);
        expect_near(run_at(r, "y", k), x1[k] - x2[k], 0);
        expect_near(run_at(r, "w[1]", k), pow(-0.5, k), 1e-15);
        expect_near(run_at(r, "w[2]", k), pow(-0.5, k), 1e-15);
    }
}

static void test_ot084_ot086_vectors_in_whens(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "statespace.dym", .stop = 3, .interval = 1 }, check_statespace);
}

/* ---- step events ---- */
/* Steps of 0.25: x is above 1.05 first at 1.25, not at 1.05, and is set back to 0.25; then at 2.25 and 3.25. */
static void check_steps(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 1), 0, 0);
    expect_near(run_at(r, "x", 1), 1, 1e-15);
    expect_near(run_at(r, "n", 1.25), 1, 0);
    expect_near(run_at(r, "x", 1.25), 0.25, 1e-15);
    expect_near(run_at(r, "n", 2), 1, 0);
    expect_near(run_last(r, "n"), 3, 0);
    expect_near(run_last(r, "x"), 1, 1e-15);
    assert_int_equal(r->report.statistics.events.state_events, 0);
    assert_int_equal(r->report.statistics.events.time_events, 0);
}

static void test_ot080_conditions_after_steps(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/ir/after_steps.ir",
                                   .solver = "euler",
                                   .step = 0.25,
                                   .stop = 4,
                                   .interval = 1 },
                     check_steps);
}

/* ---- without events ---- */
/* The if makes no event: the two that there are in [0, 5] rise and fall with the Boolean, which has a when. The
 * integral over [0, pi] is that of the limiter with events, 2*(2 - sqrt(3)) + 2*pi/3, as far as steps across a kink
 * allow. */
static void check_events_off(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.events.time_events, 2);
    expect_near(run_last(r, "n"), 1, 0);
    expect_near(run_at(r, "a", PI), 2 * (2 - sqrt(3.0)) + 2 * PI / 3, 1e-4);
    for (uint32_t k = 0; k < r->n_rows; k++)
        assert_true(fabs(r->rows[k].values[run_column(r, "y")]) <= 1);
    assert_non_null(strstr(r->messages, "limiter_off.dym:7:3: warning KN1325: events are off"));
}

static void test_ot074_events_off(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "limiter_off.dym", .stop = 5, .interval = PI, .tolerance = 1e-7 },
                     check_events_off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot087_ot088_booleans_settle_in_one_instant),
        cmocka_unit_test(test_ot091_the_start_is_an_event),
        cmocka_unit_test(test_ot084_ot086_vectors_in_whens),
        cmocka_unit_test(test_ot080_conditions_after_steps),
        cmocka_unit_test(test_ot074_events_off),
        cmocka_unit_test(test_ot081_a_when_acts_once_for_each_rise),
        cmocka_unit_test(test_ot082_hysteresis),
        cmocka_unit_test(test_ot084_ot085_difference_equation),
        cmocka_unit_test(test_ot086_bouncing_ball),
        cmocka_unit_test(test_s16_a_ball_that_comes_to_rest),
        cmocka_unit_test(test_ot092_what_chatters_is_named_once),
        cmocka_unit_test(test_ot089_the_whole_model_is_evaluated),
        cmocka_unit_test(test_ot090_circular_whens),
        cmocka_unit_test(test_ot086_init_in_equations),
        cmocka_unit_test(test_ot079_sample_times_are_met_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
