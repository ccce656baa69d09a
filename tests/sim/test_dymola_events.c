/* Instantaneous equations of the language Dymola, in all tiers; expected values are closed forms. */
#include "run.h"
#include <math.h>
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
    /* OT-087: what changes a Boolean is an event: three crossings of 0.5, and 1, 2 and 4 of the calendar. */
    assert_int_equal(r->report.statistics.state_events, 3);
    assert_int_equal(r->report.statistics.time_events, 3);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot087_ot088_booleans_settle_in_one_instant),
        cmocka_unit_test(test_ot091_the_start_is_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
