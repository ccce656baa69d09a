/* Variable structure: equations with branches, comparisons that decide about their own sides, ideal switches and
 * diodes, in all tiers. Expected values are closed forms. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define IR     KOINE_SOURCE_DIR "/tests/sim/ir/"
#define DYMOLA KOINE_SOURCE_DIR "/tests/sim/dymola/"

/* ---- the rectifier of one diode, by its closed forms ----
 * Source A sin(w t) with Ri, ideal diode, C parallel to RL. Conducting: uC' = -a uC + b sin(w t); else uC' = -uC/(RL
 * C). It begins to conduct when A sin(w t) > uC and ends when the current (A sin(w t) - uC)/Ri is 0. */
static const double A = 10, W = 314, RI = 20, RL = 500, CC = 1e-4;

/* In the half wave that t0 lies in, the source as a positive voltage. */
static double rising(double t0, double u0, double t)
{
    const double sign = sin(W * (t0 + 1e-9)) > 0 ? 1 : -1;
    const double a = 1 / (RI * CC) + 1 / (RL * CC), b = sign * A / (RI * CC), q = a * a + W * W;
    const double p = b * (a * sin(W * t) - W * cos(W * t)) / q, p0 = b * (a * sin(W * t0) - W * cos(W * t0)) / q;
    return p + (u0 - p0) * exp(-a * (t - t0));
}

static double falling(double t0, double u0, double t)
{
    return u0 * exp(-(t - t0) / (RL * CC));
}

/* Voltage at time t; `full` waves: the bridge conducts in both half waves. `switches` times of changes, at most 64. */
static double rectified(double t, bool full, double *switches, uint32_t *n)
{
    double t0 = 0, u0 = 0;
    bool conducts = true;
    *n = 0;
    for (;;) {
        double lo = t0, hi = t0;
        const double sign_wanted = conducts ? -1 : 1; /* of source - uC, at the next change */
        for (hi = t0 + 1e-7;; lo = hi, hi += 1e-6) {
            const double s = full ? fabs(A * sin(W * hi)) : A * sin(W * hi);
            const double u = conducts ? rising(t0, u0, hi) : falling(t0, u0, hi);
            if (hi >= t || (s - u) * sign_wanted > 0)
                break;
        }
        if (hi >= t)
            return conducts ? rising(t0, u0, t) : falling(t0, u0, t);
        for (int k = 0; k < 60; k++) {
            const double middle = (lo + hi) / 2, s = full ? fabs(A * sin(W * middle)) : A * sin(W * middle);
            const double u = conducts ? rising(t0, u0, middle) : falling(t0, u0, middle);
            if ((s - u) * sign_wanted > 0)
                hi = middle;
            else
                lo = middle;
        }
        u0 = conducts ? rising(t0, u0, hi) : falling(t0, u0, hi);
        t0 = hi;
        conducts = !conducts;
        if (*n < 64)
            switches[(*n)++] = t0;
    }
}

/* Times at which the column changes its value, at most 64. */
static uint32_t changes_of(const RunResult *r, const char *name, double *times)
{
    const uint32_t column = run_column(r, name);
    uint32_t n = 0;
    for (uint32_t k = 1; k < r->n_rows && n < 64; k++)
        if (r->rows[k].values[column] != r->rows[k - 1].values[column])
            times[n++] = r->rows[k].time;
    return n;
}

static void check_half_wave(const RunResult *r)
{
    double switches[64], times[64];
    uint32_t n;
    expect_done(r);
    for (int k = 1; k <= 20; k++)
        expect_near(run_at(r, "uC", 0.0025 * k), rectified(0.0025 * k, false, switches, &n), 2e-7);
    assert_int_equal(n, 5); /* until 0.05: off, on, off, on, off; and on at the start */
    assert_int_equal(r->report.statistics.events.state_events, 6);
    assert_int_equal(changes_of(r, "Open", times), 1 + n);
    for (uint32_t k = 0; k < n; k++)
        expect_near(times[k + 1], switches[k], 1e-9);
    for (uint32_t k = 0; k < r->n_rows; k++) /* one of the two is 0, exactly */
        assert_true(r->rows[k].values[run_column(r, "i")] == 0 || r->rows[k].values[run_column(r, "u")] == 0);
    assert_int_equal(r->report.statistics.model.mixed_combinations, 0); /* the equations lead there by themselves */
}

static void test_s18_a_diode_that_decides_now(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "diode_now.ir", .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 },
                     check_half_wave);
}

/* Four diodes, eight comparisons, one system of equations; Rb = 1 MOhm moves the voltage by less than 1e-4 V. */
static void check_bridge(const RunResult *r)
{
    double switches[64];
    uint32_t n;
    expect_done(r);
    for (int k = 1; k <= 20; k++)
        expect_near(run_at(r, "uC", 0.0025 * k), rectified(0.0025 * k, true, switches, &n), 2e-4);
    assert_int_equal(n, 9);
    static const char *const pairs[][2] = { { "i1", "u1" }, { "i2", "u2" }, { "i3", "u3" }, { "i4", "u4" } };
    for (uint32_t k = 0; k < r->n_rows; k++)
        for (uint32_t j = 0; j < 4; j++) {
            const double i = r->rows[k].values[run_column(r, pairs[j][0])];
            const double u = r->rows[k].values[run_column(r, pairs[j][1])];
            assert_true((i == 0 && u <= 1e-12) || (u == 0 && i >= -1e-12));
        }
}

static void test_s18_a_bridge_that_decides_now(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "bridge_now.ir", .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 },
                     check_bridge);
}

/* y = x while y > 1, else 2 x: for x between 1/2 and 1 neither is true. */
static void test_s18_no_combination_fits(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = IR "ring.ir", .stop = 2, .interval = 0.1 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text,
                           "ring.ir:8:1: no combination of the comparisons fits the equations: `y > 1.0` "
                           "(ring.ir:8); T gives F, F gives T"));
    expect_near(r->report.time, 0.5, 1e-9);
    run_free(r);
}

/* Eighteen of them with long names: the message is cut, not the memory behind it. */
static void test_s18_a_long_list_of_comparisons_is_cut(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = DYMOLA "misfits.dym", .stop = 2, .interval = 0.1 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "no combination of the comparisons fits the equations"));
    assert_non_null(strstr(r->report.text, "`aRatherLongNameOfAnUnknown0 > 1.0` (misfits.dym:8)"));
    assert_non_null(strstr(r->report.text, " and 11 more;"));
    assert_true(strlen(r->report.text) < sizeof r->report.text);
    expect_near(r->report.time, 0.5005, 1e-9); /* (1 + 0.001) y = 2 x passes y = 1 there */
    run_free(r);
}

/* y = 2 x while y > 1, else x: between 1/2 and 1 both are true, and y stays where it was. Up: y jumps from 1 to 2 at
 * x = 1; down: from 1 to 1/2 at x = 1/2. x = 2 t until t = 1, then 3 - t. */
static void check_two_solutions(const RunResult *r)
{
    double times[64];
    expect_done(r);
    assert_int_equal(changes_of(r, "p", times), 2);
    expect_near(times[0], 0.5, 1e-9);
    expect_near(times[1], 2.5, 1e-9);
    expect_near(run_at(r, "y", 0.375), 0.75, 1e-9);
    expect_near(run_at(r, "y", 2.25), 1.5, 1e-9);
    expect_near(run_last(r, "y"), 0, 1e-9);
}

static void test_s18_of_two_solutions_the_nearer_one(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "two_solutions.ir", .stop = 3, .interval = 0.125, .tolerance = 1e-9 },
                     check_two_solutions);
}

/* Two comparisons that chase each other from FF (FF, TF, TT, FT, FF) but hold together at one combination only by
 * trying: see the file. */
static void check_search(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "a", 0), 5, 1e-12);
    assert_true(r->report.statistics.model.mixed_combinations > 0);
}

static void test_s18_combinations_are_tried_one_by_one(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "search.ir", .stop = 1, .interval = 1 }, check_search);
}

/* y = x + floor(y)/2: 1 step up at x = 1, where y goes on from 1 to 1.5. */
static void check_floor_ring(const RunResult *r)
{
    double times[64];
    expect_done(r);
    assert_int_equal(changes_of(r, "n", times), 1);
    expect_near(times[0], 0.75, 1e-12);
    expect_near(run_at(r, "y", 0.5), 0.75, 1e-12);
    expect_near(run_last(r, "y"), 1.75, 1e-12);
}

static void test_s18_step_functions_in_a_ring(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "floor_ring.ir", .stop = 1, .interval = 0.25 }, check_floor_ring);
    RunResult *r = run_model(&(RunRequest){ .path = IR "floor_endless.ir", .stop = 1, .interval = 0.25 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text,
                    "floor_endless.ir:9:1: step functions and equations that depend on each other do not "
                    "settle within 200 rounds"),
            "%s", r->report.text);
    run_free(r);
}

/* ---- equations without direction in branches ---- */
/* Three pieces: x' = -x down to 1/2 (short: u = 0, i = x), x' = -1/2 down to 1/4 (constant current), then x' = -2 x
 * (u = -i/2: i = 2 x). x = i + u. */
static void check_pieces(const RunResult *r)
{
    double times[64];
    expect_done(r);
    const double t1 = log(2.0), t2 = t1 + 0.5;
    assert_int_equal(changes_of(r, "mode", times), 2);
    expect_near(times[0], t1, 1e-8);
    expect_near(times[1], t2, 1e-8);
    expect_near(run_at(r, "x", 0.5), exp(-0.5), 1e-8);
    expect_near(run_at(r, "x", 1.0), 0.5 - 0.5 * (1 - t1), 1e-8);
    expect_near(run_at(r, "x", 2.0), 0.25 * exp(-2 * (2 - t2)), 1e-8);
    expect_near(run_at(r, "u", 0.5), 0, 0); /* what a branch says alone is exact */
}

static void test_ot095_equations_in_branches(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "branches.ir", .stop = 2, .interval = 0.5, .tolerance = 1e-10 },
                     check_pieces);
}

/* Solved for its unknown in every branch, linear or not: no system is left. x' = 1, from 0. */
static void check_solved(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.linear_solves + r->report.statistics.model.newton_iterations, 0);
    expect_near(run_at(r, "i", 0.5), 0, 0);
    expect_near(run_at(r, "i", 2), 2.0 / 20, 1e-12);
    expect_near(run_at(r, "w", 0.5), log(3.0), 1e-15);
    expect_near(run_at(r, "w", 2), -0.25, 1e-15);
}

static void test_ot095_solved_in_every_branch(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "solved.ir", .stop = 2, .interval = 0.5, .tolerance = 1e-10 },
                     check_solved);
}

static void expect_refused(const char *path, const char *message)
{
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages, message), "expected '%s' in:\n%s", message, r->messages);
    run_free(r);
}

static void test_ot096_switch_parallel_to_a_capacitor(void **state)
{
    (void)state;
    expect_refused(
        DYMOLA "switch_capacitor.dym",
        "error KN2180: 'Sw.i' cannot be computed when Sw.Open is false: this equation does not contain it then");
    expect_refused(DYMOLA "switch_capacitor.dym", "an ideal switch can neither short a capacitor");
    expect_refused(DYMOLA "switch_capacitor.dym", "switch_capacitor.dym:5:21: in 'Sw'");
}

static void test_ot096_switch_in_series_with_an_inductor(void **state)
{
    (void)state;
    expect_refused(
        DYMOLA "switch_inductor.dym",
        "error KN2180: 'Sw.u' cannot be computed when Sw.Open is true: this equation does not contain it then");
}

/* The bridge without the resistor to ground: with all diodes open, nothing ties its output to anything. */
static void test_ot097_a_singular_combination_is_named(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = IR "bridge_floating.ir", .stop = 0.05, .interval = 0.01 });
    assert_true(r->is_compiled);
    fail_if(!strstr(r->messages,
                    "bridge_floating.ir:28:1: warning KN2181: when o1 is true, o2 is true, o3 is true and o4 is "
                    "true, these equations do not determine 'u1', 'V4', 'u2', 'V3'"),
            "%s", r->messages);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "no combination of the comparisons fits the equations"));
    run_free(r);
    r = run_model(&(RunRequest){ .path = IR "bridge_now.ir", .stop = 0.001, .interval = 0.001 });
    expect_done(r);
    assert_null(strstr(r->messages, "warning")); /* two diodes that would short the capacitor are no reason for one */
    run_free(r);
}

/* Two ideal switches in series, moved by time: with both open the node between them floats. The warning says so, and
 * the run that comes there says which position it was. */
static void test_ot097_a_singular_position_ends_the_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = IR "two_switches.ir", .stop = 3, .interval = 0.5 });
    assert_true(r->is_compiled);
    fail_if(!strstr(r->messages,
                    "warning KN2181: when s1 is true and s2 is true, these equations do not determine 'u1', 'u2', 'v'"),
            "%s", r->messages);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    expect_near(r->report.time, 2, 1e-12);
    fail_if(!strstr(r->report.text, "the linear equations have no unique solution with s1 = true, s2 = true"), "%s",
            r->report.text);
    run_free(r);
}

/* ---- diodes of the library: the state before the event step decides which equation holds ---- */
static void check_rectifier(const RunResult *r)
{
    double switches[64], times[64];
    uint32_t n;
    expect_done(r);
    for (int k = 1; k <= 20; k++)
        expect_near(run_at(r, "C.u", 0.0025 * k), rectified(0.0025 * k, false, switches, &n), 2e-7);
    assert_int_equal(r->report.statistics.events.state_events, 6);
    assert_int_equal(changes_of(r, "D.Open", times), 1 + n);
    for (uint32_t k = 0; k < n; k++)
        expect_near(times[k + 1], switches[k], 1e-9);
    for (uint32_t k = 0; k < r->n_rows; k++)
        assert_true(r->rows[k].values[run_column(r, "D.i")] == 0 || r->rows[k].values[run_column(r, "D.u")] == 0);
    assert_true(r->report.statistics.events.by_event_steps[koine_bucket(3)] ==
                0); /* at most two steps: they confirm at once */
}

static void test_ot098_the_rectifier(void **state)
{
    (void)state;
    static const char *const paths[] = { DYMOLA "rectifier_boolean.dym", DYMOLA "rectifier_automaton.dym",
                                         DYMOLA "rectifier_hysteresis.dym" };
    for (uint32_t k = 0; k < 3; k++)
        run_in_all_tiers((RunRequest){ .path = paths[k], .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 },
                         check_rectifier);
}

/* When it opens, the current has come down to 0: source and load meet there, not later. Between them lies the voltage
 * at Ri, so with current the source is above the load. */
static void check_opening(const RunResult *r)
{
    uint32_t n = 0;
    expect_done(r);
    for (uint32_t k = 1; k < r->n_rows; k++) {
        const double *before = r->rows[k - 1].values, *now = r->rows[k].values;
        const double source = now[run_column(r, "U0.V0")], load = now[run_column(r, "RL.u")];
        if (now[run_column(r, "D.Open")] == 0)
            assert_true(source >= load - 1e-9);
        else
            assert_true(source <= load + 1e-9);
        if (now[run_column(r, "D.Open")] == 0 || before[run_column(r, "D.Open")] != 0)
            continue;
        n++;
        expect_near(before[run_column(r, "D.i")], 0, 1e-12);
        expect_near(source, load, 1e-9);
        assert_true(source > 8); /* behind the peak of the source: the capacitor is charged through Ri */
    }
    assert_int_equal(n, 3);
}

static void test_ot099_the_diode_opens_when_its_current_ends(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = DYMOLA "rectifier_hysteresis.dym", .stop = 0.05, .interval = 1e-4, .tolerance = 1e-9 },
        check_opening);
}

static void check_automata(const RunResult *r)
{
    double times[64];
    static const double pi = 3.14159265358979323846;
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        assert_true(r->rows[k].values[run_column(r, "same2")] == 1);
        assert_true(r->rows[k].values[run_column(r, "same3")] == 1);
        assert_true(r->rows[k].values[run_column(r, "one")] == 1);
    }
    assert_int_equal(changes_of(r, "d2.Open", times), 4);
    for (uint32_t k = 0; k < 4; k++)
        expect_near(times[k], k * pi, 1e-9);
}

static void test_ot100_automata_as_equations(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = DYMOLA "automata.dym", .stop = 10, .interval = 0.5, .every_event_step = true },
        check_automata);
}

/* u > 0 with u/R = 0: the diode of two states opens and closes for ever, the one of three stays closed. */
static void test_ot101_a_current_that_underflows(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = DYMOLA "underflow_hysteresis.dym", .stop = 2, .interval = 1 });
    expect_done(r);
    expect_near(run_last(r, "D.Open"), 0, 0);
    expect_near(run_last(r, "D.Close"), 1, 0);
    expect_near(run_last(r, "D.i"), 0, 0);
    run_free(r);
}

/* OT-092: the message names what changes, its line, the comparison and the period. */
static void test_ot092_endless_switching_is_named(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = DYMOLA "underflow_automaton.dym", .stop = 2, .interval = 1 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    expect_near(r->report.time, 1, 0);
    static const char *const parts[] = {
        "the events at this time do not come to rest: more than 1000 event steps (MaxTkt). Now 'D.Open'",
        "'D.Open' goes from true to false",
        "comparisons that switch to and fro: `D.u <= 0.0` (el.lib:", "the states repeat every 2 steps", "component D"
    };
    for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++)
        fail_if(!strstr(r->report.text, parts[k]), "expected '%s' in: %s", parts[k], r->report.text);
    run_free(r);
    r = run_model(&(RunRequest){ .path = DYMOLA "underflow_automaton.dym", .stop = 2, .interval = 1, .max_steps = 50 });
    assert_non_null(strstr(r->report.text, "more than 50 event steps"));
    run_free(r);
}

static void check_dymola_bridge(const RunResult *r)
{
    double switches[64];
    uint32_t n;
    expect_done(r);
    assert_null(strstr(r->messages, "warning"));
    for (int k = 1; k <= 20; k++)
        expect_near(run_at(r, "C.u", 0.0025 * k), rectified(0.0025 * k, true, switches, &n), 2e-4);
    static const char *const pairs[][2] = {
        { "d1.i", "d1.u" }, { "d2.i", "d2.u" }, { "d3.i", "d3.u" }, { "d4.i", "d4.u" }
    };
    for (uint32_t k = 0; k < r->n_rows; k++)
        for (uint32_t j = 0; j < 4; j++)
            assert_true(r->rows[k].values[run_column(r, pairs[j][0])] == 0 ||
                        r->rows[k].values[run_column(r, pairs[j][1])] == 0);
}

static void test_ot102_the_bridge(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DYMOLA "bridge.dym", .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 },
                     check_dymola_bridge);
    /* Without Rb nothing says where the load is while all are open; one of them closes without current and says it. */
    RunResult *r = run_model(
        &(RunRequest){ .path = DYMOLA "bridge_floating.dym", .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 });
    fail_if(!strstr(r->messages,
                    "warning KN2181: when d1.Open is true, d2.Open is true, d3.Open is true and d4.Open is true, "
                    "these equations do not determine 'C.Va', 'C.Vb', 'd1.u', 'd1.s', 'd2.u', 'd2.s' and 4 more"),
            "%s", r->messages);
    expect_done(r);
    for (int k = 1; k <= 20; k++) {
        double switches[64];
        uint32_t n;
        expect_near(run_at(r, "C.u", 0.0025 * k), rectified(0.0025 * k, true, switches, &n), 2e-7);
    }
    run_free(r);
}

/* ---- comparisons that are exactly at their border ---- */
static void down(KoineModel *model)
{
    set_value(model, "d", -1);
}

/* x = 1 + d t from HighLimit = 1 on, exactly: not above the limit at the start. Up: y stays 1, one event when x leaves
 * the band; down: y = x, none. a is the integral of y. */
static void test_ot075_ot076_a_limiter_that_begins_at_its_limit(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "dop853", "cvode-bdf", "cvode-adams", "rk4" };
    for (uint32_t k = 0; k < 5; k++) {
        RunRequest request = { .path = DYMOLA "limiter_start.dym",
                               .solver = solvers[k],
                               .stop = 1,
                               .interval = 0.25,
                               .step = 0.25,
                               .tolerance = 1e-9 };
        RunResult *r = run_model(&request);
        expect_done(r);
        expect_near(run_at(r, "l.y", 0), 1, 0);
        expect_near(run_last(r, "l.y"), 1, 0);
        expect_near(run_last(r, "a"), 1, 1e-8);
        assert_int_equal(r->report.statistics.events.state_events, 1);
        run_free(r);
        request.prepare = down;
        r = run_model(&request);
        expect_done(r);
        expect_near(run_at(r, "l.y", 0.25), 0.75, 1e-8);
        expect_near(run_last(r, "a"), 0.5, 1e-8);
        assert_int_equal(r->report.statistics.events.state_events, 0);
        run_free(r);
    }
}

static void one_event_there(KoineModel *model)
{
    set_value(model, "Tevent", 1);
}

static void beyond(KoineModel *model)
{
    set_value(model, "e", 1e-4);
}

/* x = (1 + e)(2 t - t^2) touches 1 at t = 1: y = x all the way, a(2) = 4/3; also if a time event falls on that point.
 * With e = 1e-4 it is beyond for 2*sqrt(e/(1 + e)) s, which cuts 4/3 e^1.5/sqrt(1 + e) off the area. */
static void test_ot077_touching_the_limit_and_going_back(void **state)
{
    (void)state;
    RunRequest request = { .path = DYMOLA "limiter_touch.dym", .stop = 2, .interval = 0.25, .tolerance = 1e-10 };
    void (*const prepare[])(KoineModel *) = { NULL, one_event_there, beyond };
    for (uint32_t k = 0; k < 3; k++) {
        const double e = k == 2 ? 1e-4 : 0;
        request.prepare = prepare[k];
        RunResult *r = run_model(&request);
        expect_done(r);
        expect_near(run_last(r, "a"), (1 + e) * 4 / 3 - 4.0 / 3 * e * sqrt(e) / sqrt(1 + e), 1e-9);
        expect_near(run_last(r, "l.y"), 0, 1e-8);
        assert_true(r->report.statistics.events.state_events == 0 || r->report.statistics.events.state_events == 2);
        run_free(r);
    }
}

/* x rises from 0; at 1 an event sets it to -2, in the moment in which it passes the limit. y is -1 behind it, and x
 * between the limits from t = 2 on: a(3.5) = 1/2 - 1 - 3/8. */
static void check_simultaneous(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "l.y", 0.5), 0.5, 1e-9);
    expect_near(run_at(r, "l.y", 1.5), -1, 0);
    expect_near(run_at(r, "n", 1.5), 1, 0);
    expect_near(run_at(r, "high", 1.5), 0, 0);
    expect_near(run_at(r, "l.y", 3), 0, 1e-9);
    expect_near(run_last(r, "a"), -0.875, 1e-9);
}

static void test_ot078_simultaneous_events_in_any_order_of_the_text(void **state)
{
    (void)state;
    static const char *const paths[] = { DYMOLA "simultaneous_1.dym", DYMOLA "simultaneous_2.dym",
                                         DYMOLA "simultaneous_3.dym" };
    RunResult *results[3];
    for (uint32_t k = 0; k < 3; k++) {
        run_in_all_tiers((RunRequest){ .path = paths[k], .stop = 3.5, .interval = 0.5, .tolerance = 1e-9 },
                         check_simultaneous);
        results[k] = run_model(&(RunRequest){ .path = paths[k], .stop = 3.5, .interval = 0.5, .tolerance = 1e-9 });
    }
    for (uint32_t k = 1; k < 3; k++) {
        assert_int_equal(results[k]->n_rows, results[0]->n_rows);
        for (uint32_t j = 0; j < results[0]->n_rows; j++) {
            assert_true(results[k]->rows[j].time == results[0]->rows[j].time);
            assert_memory_equal(results[k]->rows[j].values, results[0]->rows[j].values,
                                results[0]->n_columns * sizeof(double));
        }
        run_free(results[k]);
    }
    run_free(results[0]);
}

/* In three periods no diode switches more often than twice a period, and each switching is two events: it closes, and
 * then its current is seen to flow. 16.7230642 by a Runge-Kutta method of 400,000 equal steps for the voltage alone,
 * with the current through Rb in every other half of a period. */
static void test_ot102_rounding_makes_no_events(void **state)
{
    static const char *const solvers[] = { "dopri5", "dop853", "cvode-bdf", "ida" };
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = DYMOLA "supply.dym", .solver = solvers[k], .stop = 0.06, .interval = 0.01, .tolerance = 1e-8 });
        expect_done(r);
        expect_near(run_last(r, "y"), 16.7230642, 2e-6);
        assert_in_range(r->report.statistics.events.state_events, 12, 48);
        run_free(r);
    }
}

/* ---- chattering ---- */
/* x slides along 0 from 0.3 to 0.8, then falls with -2: it is located as usual again. y' is the mean of 1 and -1/2
 * while it slides (Filippov): y = 0.3 + (t - 0.3)/4, which passes 0.4 at 0.7: other events are met meanwhile. */
static void check_slide(const RunResult *r)
{
    double times[64];
    expect_done(r);
    expect_near(run_at(r, "y", 0.5), 0.3 + 0.2 / 4, 1e-4);
    expect_near(run_at(r, "y", 0.8), 0.3 + 0.5 / 4, 1e-4);
    expect_near(run_at(r, "x", 0.8), 0, 1e-4);
    expect_near(run_last(r, "x"), -0.4, 3e-4);
    expect_near(run_last(r, "y"), 0.425 - 0.1, 3e-4);
    assert_int_equal(changes_of(r, "late", times), 1);
    expect_near(times[0], 0.7, 1e-3);
    assert_int_equal(r->report.statistics.events.chatterings, 1);
    assert_in_range(r->report.statistics.events.chattering_events, 4000, 42000); /* 0.25/width: 6e-5, 6e-6 */
    assert_non_null(r->output);
    static const char *const parts[] = { "chattering: 32 state events between 0.3", " and 0.3000000000",
                                         "\"x > 0.0\" of slide (", "slide.ir:7)",
                                         "From here on it changes only when its sides are up to 6e-0" };
    for (uint32_t k = 0; k < 5; k++)
        fail_if(!strstr(r->output, parts[k]), "expected '%s' in: %s", parts[k], r->output);
    assert_null(strstr(strstr(r->output, "chattering") + 1, "chattering")); /* once */
}

static void test_ot092_chattering_is_warned_of_and_passed(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "slide.ir", .stop = 1, .interval = 0.05 }, check_slide);
    RunResult *r = run_model(
        &(RunRequest){ .path = IR "slide.ir", .solver = "cvode-bdf", .stop = 1, .interval = 0.05, .tolerance = 1e-8 });
    check_slide(r);
    run_free(r);
}

/* Not chattering, but 2500 events in a hundred thousandth of the run: one warning, nothing is held back. */
static void test_ot092_very_many_events_are_warned_of(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = IR "dense.ir", .stop = 1, .interval = 0.5 });
    expect_done(r);
    assert_int_equal(r->report.statistics.events.state_events, 2500);
    assert_int_equal(r->report.statistics.events.chatterings, 1);
    assert_int_equal(r->report.statistics.events.chattering_events, 0);
    assert_non_null(r->output);
    assert_non_null(strstr(r->output, "1000 state events between 2e-09 and 3.99800"));
    assert_non_null(strstr(r->output, "dense.ir:7)"));
    assert_non_null(strstr(r->output, "dense.ir:10)"));
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s18_a_diode_that_decides_now),
        cmocka_unit_test(test_s18_a_bridge_that_decides_now),
        cmocka_unit_test(test_s18_no_combination_fits),
        cmocka_unit_test(test_s18_a_long_list_of_comparisons_is_cut),
        cmocka_unit_test(test_s18_of_two_solutions_the_nearer_one),
        cmocka_unit_test(test_s18_combinations_are_tried_one_by_one),
        cmocka_unit_test(test_s18_step_functions_in_a_ring),
        cmocka_unit_test(test_ot095_equations_in_branches),
        cmocka_unit_test(test_ot095_solved_in_every_branch),
        cmocka_unit_test(test_ot096_switch_parallel_to_a_capacitor),
        cmocka_unit_test(test_ot096_switch_in_series_with_an_inductor),
        cmocka_unit_test(test_ot097_a_singular_combination_is_named),
        cmocka_unit_test(test_ot097_a_singular_position_ends_the_run),
        cmocka_unit_test(test_ot098_the_rectifier),
        cmocka_unit_test(test_ot099_the_diode_opens_when_its_current_ends),
        cmocka_unit_test(test_ot100_automata_as_equations),
        cmocka_unit_test(test_ot101_a_current_that_underflows),
        cmocka_unit_test(test_ot092_endless_switching_is_named),
        cmocka_unit_test(test_ot102_the_bridge),
        cmocka_unit_test(test_ot102_rounding_makes_no_events),
        cmocka_unit_test(test_ot075_ot076_a_limiter_that_begins_at_its_limit),
        cmocka_unit_test(test_ot077_touching_the_limit_and_going_back),
        cmocka_unit_test(test_ot078_simultaneous_events_in_any_order_of_the_text),
        cmocka_unit_test(test_ot092_chattering_is_warned_of_and_passed),
        cmocka_unit_test(test_ot092_very_many_events_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
