/* Tabular functions in runs, in every tier. Values of the cubic tables: spec 5.7, and worked out by hand in the
 * comments of tests/ir/test_table.c; the others are closed forms. Heating: spec 5.10. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TABLES KOINE_SOURCE_DIR "/tests/sim/simplex/tables/"
static const char *const tiers[] = { "interp", "tcc", "cc" };

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static void assert_equal_bits(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t k = 0; k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[k].time, &b->rows[k].time, sizeof(double));
        assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
    }
}

/* message NULL: the run must reach its end, else it fails with this at the end of its text. */
static void in_all_tiers(RunRequest request, const char *message, void (*check)(const RunResult *r))
{
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        request.tier = tiers[k];
        RunResult *r = run_model(&request);
        fail_if(!r->is_compiled, "%s", r->messages);
        fail_if(message && !strstr(r->report.text, message), "%s", r->report.text);
        fail_if(!message && r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
        check(r);
        if (first) {
            assert_equal_bits(first, r);
            run_free(r);
        } else
            first = r;
    }
    run_free(first);
}

/* ---- values ---- */
static void check_linear(const RunResult *r)
{
    assert_near(run_last(r, "vor"), 70, 1e-12);
    assert_near(run_last(r, "vol"), 0.25, 1e-12);
    for (uint32_t k = 0; k < r->n_rows; k++) { /* 10 x lies in -20 .. 20 */
        const double x = r->rows[k].values[run_column(r, "x")], l = r->rows[k].values[run_column(r, "l")];
        assert_near(l, x < 0 ? 60 - 10 * x : 60 - 5 * x, 1e-9);
    }
}

static void test_sx060_linear_tables(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Werte.mdl", .stop = 4, .interval = 0.05 }, NULL, check_linear);
}

static void check_bessel(const RunResult *r)
{
    static const double points[][2] = { { 0.25, 0.09375 }, { 0.75, 0.5625 }, { 1.25, 1.5625 }, { 0.1, 0.042 } };
    for (uint32_t k = 0; k < 4; k++) {
        assert_near(run_at(r, "b", 2 + points[k][0]), points[k][1], 1e-12);
        assert_near(run_at(r, "b", 2 - points[k][0]), -points[k][1], 1e-12); /* odd */
    }
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = r->rows[k].values[run_column(r, "x")];
        assert_near(r->rows[k].values[run_column(r, "b5")], x * x, 1e-12);
    }
}

static void test_sx061_bessel_tables(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Werte.mdl", .stop = 4, .interval = 0.05 }, NULL, check_bessel);
}

static void check_spline(const RunResult *r)
{
    static const double points[][2] = {
        { 0.25, 0.0853365 }, { 0.75, 0.5564904 }, { 1.25, 1.5637019 }, { 0.1, 0.0296923 }
    };
    for (uint32_t k = 0; k < 4; k++) {
        assert_near(run_at(r, "s", 2 + points[k][0]), points[k][1], 5.1e-8);
        assert_near(run_at(r, "s", 2 - points[k][0]), -points[k][1], 5.1e-8);
    }
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = r->rows[k].values[run_column(r, "x")];
        assert_near(r->rows[k].values[run_column(r, "s5")], x * x, 1e-12);
    }
}

static void test_sx062_spline_tables(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Werte.mdl", .stop = 4, .interval = 0.05 }, NULL, check_spline);
}

/* ---- events ---- */
/* x: 1 until t = 1; x' = x until 2 at 1 + ln 2; x' = 2 behind it. z: 0 until 1, 3(t-1)^2/2 until 2, then 1.5 + 3(t-2).
 * The points 1 and 2 of f are state events, those of g time events: both solutions are exact but for the tolerance. */
static void check_kinks(const RunResult *r)
{
    const double middle = 1 + log(2);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time;
        assert_near(r->rows[k].values[run_column(r, "x")],
                    t < 1        ? t
                    : t < middle ? exp(t - 1)
                                 : 2 + 2 * (t - middle),
                    1e-8);
        assert_near(r->rows[k].values[run_column(r, "z")],
                    t < 1   ? 0
                    : t < 2 ? 1.5 * (t - 1) * (t - 1)
                            : 1.5 + 3 * (t - 2),
                    1e-8);
    }
    assert_int_equal(r->report.statistics.events.state_events, 2);
    assert_int_equal(r->report.statistics.events.time_events, 2);
}

static void test_sx060_points_of_linear_tables_are_events(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Knick.mdl", .stop = 4, .interval = 0.25, .tolerance = 1e-10 }, NULL,
                 check_kinks);
}

/* The same by a method that uses the exact Jacobian (its derivatives: test_expressions in tests/ir/test_table.c). */
static void test_sx060_tables_with_a_stiff_solver(void **state)
{
    (void)state;
    in_all_tiers(
        (RunRequest){
            .path = TABLES "Knick.mdl", .stop = 4, .interval = 0.25, .tolerance = 1e-11, .solver = "cvode-bdf" },
        NULL, check_kinks);
}

/* ---- outside ---- */
static void check_up(const RunResult *r)
{
    assert_near(r->report.fault.time, 2.5, 1e-9);
    assert_near(run_last(r, "y"), 2, 1e-9); /* results so far are kept */
}

static void check_down(const RunResult *r)
{
    assert_near(r->report.fault.time, 2, 1e-6);
}

static void check_event(const RunResult *r)
{
    assert_near(r->report.fault.time, 4, 0);
    assert_near(run_last(r, "s"), 7, 1e-12); /* f(0.5) + f(1.5) + f(2.5) = 1 + 2 + 4 */
    assert_near(run_last(r, "y"), 5, 1e-12); /* f(3): the last point belongs to the table */
}

static void test_sx063_argument_outside(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Zuweit.mdl", .stop = 4, .interval = 0.25 },
                 " of the table f lies outside 0 .. 5: table(f, 2.0*x) with x = 2.5", check_up);
    in_all_tiers((RunRequest){ .path = TABLES "Zufrueh.mdl", .stop = 4, .interval = 0.25 },
                 " of the table Glatt lies outside -1 .. 5: table(Glatt, x) with x = -1.0", check_down);
    in_all_tiers((RunRequest){ .path = TABLES "Ereignis.mdl", .stop = 5, .interval = 1 },
                 "Ereignis.mdl:12:5: the argument 3.5 of the table f lies outside 0 .. 3: table(f, time - 0.5) with "
                 "time = 4 (in the assignment to s)",
                 check_event);
}

static void check_switch(const RunResult *r)
{
    assert_near(run_at(r, "y", 0.25), 2.5, 1e-9);
    assert_near(run_last(r, "y"), 7, 0);
}

/* x passes 1 at t = 0.5: trials behind it leave the table, but the region changes there, and that is no error. */
static void test_sx063_regions_keep_arguments_inside(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "Schalter.mdl", .stop = 4, .interval = 0.25 }, NULL, check_switch);
}

/* ---- heating ---- */
static void check_heating(const RunResult *r)
{
    assert_near(run_at(r, "Zimmer.TRaum", 60), -3.331587, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 60), -0.443910, 1e-6);
    assert_near(run_at(r, "Zimmer.TAblauf", 60), -1.887749, 1e-6);
    assert_near(run_at(r, "Zimmer.TRaum", 300), -8.436165, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 300), -5.645657, 1e-6);
    assert_near(run_at(r, "Zimmer.TRaum", 600), -9.637257, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 600), -8.277589, 1e-6);
    assert_near(run_last(r, "Zimmer.TRaum"), -9.897030, 1e-6);
    assert_near(run_last(r, "Zimmer.THeizk"), -8.970304, 1e-6);
    assert_near(run_last(r, "Zimmer.TAblauf"), -9.433667, 1e-6);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        assert_near(r->rows[k].values[run_column(r, "Regler.IVol")], 0.001, 1e-15);
        assert_near(r->rows[k].values[run_column(r, "Regler.TVorlauf")], 70, 1e-12);
    }
}

static void test_sx158_heating(void **state)
{
    (void)state;
    in_all_tiers(
        (RunRequest){
            .path = KOINE_SOURCE_DIR "/examples/heating/Heizung.mdl", .stop = 3600, .interval = 60, .tolerance = 1e-9 },
        NULL, check_heating);
}

static void check_corrected(const RunResult *r)
{
    assert_near(run_at(r, "Zimmer.TRaum", 60), 27.284021, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 60), 93.391616, 1.2e-6); /* dopri5 and dop853: 93.3916171159 */
    assert_near(run_at(r, "Zimmer.TRaum", 300), 49.166034, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 300), 53.615790, 1e-6);
    assert_near(run_at(r, "Zimmer.TRaum", 600), 42.784805, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 600), 45.489964, 1e-6);
    assert_near(run_at(r, "Zimmer.TRaum", 1800), 24.966042, 1e-6);
    assert_near(run_at(r, "Zimmer.THeizk", 1800), 28.985337, 1e-6);
    assert_near(run_at(r, "Zimmer.TAblauf", 1800), 26.975689, 1e-6);
    assert_near(run_at(r, "Regler.IVol", 1800), 3.39582e-6, 5e-12);
    assert_near(run_last(r, "Zimmer.TRaum"), 24.922897, 1e-6);
    assert_near(run_last(r, "Zimmer.THeizk"), 28.803219, 1e-6);
    assert_near(run_last(r, "Zimmer.TAblauf"), 26.863058, 1e-6);
    assert_near(run_last(r, "Regler.IVol"), 7.71031e-6, 5e-12);
}

/* The valve closes: all three inner points of its table are passed. The steady state is that of the equations. */
static void test_sx159_heating_corrected(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = TABLES "heating/Heizung.mdl", .stop = 7200, .interval = 60, .tolerance = 1e-10 },
                 NULL, check_corrected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx060_linear_tables),
        cmocka_unit_test(test_sx061_bessel_tables),
        cmocka_unit_test(test_sx062_spline_tables),
        cmocka_unit_test(test_sx060_points_of_linear_tables_are_events),
        cmocka_unit_test(test_sx060_tables_with_a_stiff_solver),
        cmocka_unit_test(test_sx063_argument_outside),
        cmocka_unit_test(test_sx063_regions_keep_arguments_inside),
        cmocka_unit_test(test_sx158_heating),
        cmocka_unit_test(test_sx159_heating_corrected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
