/* Variable structure: equations with branches, comparisons that decide about their own sides, ideal switches and
 * diodes, in all tiers. Expected values are closed forms. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define IR KOINE_SOURCE_DIR "/tests/sim/ir/"

/* ---- the rectifier of one diode, by its closed forms ----
 * Source A sin(w t) with Ri, ideal diode, C parallel to RL. Conducting: uC' = -a uC + b sin(w t); else uC' = -uC/(RL C).
 * It begins to conduct when A sin(w t) > uC and ends when the current (A sin(w t) - uC)/Ri is 0. */
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
    assert_int_equal(r->report.statistics.state_events, 6);
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

/* Two comparisons that chase each other from FF (FF, TF, TT, FT, FF) but hold together at one combination only by trying:
 * see the file. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s18_a_diode_that_decides_now),
        cmocka_unit_test(test_s18_a_bridge_that_decides_now),
        cmocka_unit_test(test_s18_no_combination_fits),
        cmocka_unit_test(test_s18_of_two_solutions_the_nearer_one),
        cmocka_unit_test(test_s18_combinations_are_tried_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
