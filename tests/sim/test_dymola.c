/* Circuits written in Dymola, in all tiers; expected values are closed forms. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/dymola/"

static void set_220(KoineModel *model)
{
    set_value(model, "u", 220);
}

/* u = 220: y1 = 220 (1 - exp(-t/1e-4)), y2 = 11 (1 - exp(-t/7.5e-5)): R1 C = 1e-4, L/R2 = 7.5e-5. */
static void check_circuit(const RunResult *r)
{
    expect_done(r);
    for (double t = 1e-4; t < 4.5e-4; t += 1e-4) {
        expect_near(run_at(r, "y1", t), 220 * (1 - exp(-t / 1e-4)), 220 * 1e-7);
        expect_near(run_at(r, "y2", t), 11 * (1 - exp(-t / 7.5e-5)), 11 * 1e-7);
    }
    const double y1 = run_last(r, "y1"), y2 = run_last(r, "y2");
    expect_near(run_last(r, "R1.i"), (220 - y1) / 100, 1e-12); /* solved for i ... */
    expect_near(run_last(r, "R2.u"), 20 * y2, 1e-9);           /* ... and for u: OT-051 */
    expect_near(run_last(r, "U0.i"), -(run_last(r, "R1.i") + y2), 1e-12);
}

static void test_ot043_ot051_the_circuit_of_the_document(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/examples/circuit-dymola/circuit.dym",
                                   .stop = 4e-4,
                                   .interval = 1e-4,
                                   .tolerance = 1e-9,
                                   .prepare = set_220 },
                     check_circuit);
}

/* A divider: the node between two resistors is a linear block. The capacitor charges from 1 V to 10*2/3 V through
 * R1 // R2 = 2/3 Ohm, C = 1.5 F: time constant 1 s. */
static void check_divider(const RunResult *r)
{
    expect_done(r);
    for (double t = 0.5; t < 2.1; t += 0.5)
        expect_near(run_at(r, "C.u", t), 20.0 / 3 + (1 - 20.0 / 3) * exp(-t), 1e-7);
    expect_near(run_last(r, "R1.i"), run_last(r, "R2.i") + run_last(r, "C.i"), 1e-12);
}

static void test_ot036_ot037_divider_in_any_form(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "divider.dym", .stop = 2, .interval = 0.5, .tolerance = 1e-9 },
                     check_divider);
}

/* Three resistors in series across 6 V: no states, one linear block; 1, 2 and 3 V. */
static void check_series(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "A.u"), 1, 1e-12);
    expect_near(run_last(r, "B.u"), 2, 1e-12);
    expect_near(run_last(r, "D.u"), 3, 1e-12);
    expect_near(run_last(r, "V.i"), -1, 1e-12);
}

static void test_ot056_a_linear_block(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "series.dym", .stop = 1, .interval = 1 }, check_series);
}

/* x = 2 sin(t) passes 1 or -1 seven times until 10 (spec 5.6): at asin(1/2) + ..., none of them twice. The integral of
 * y over the half wave [0, pi] is 2*(2 - sqrt(3)) + 2*pi/3. */
static void check_limiter(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.events.time_events, 7); /* of the time alone: no root functions */
    assert_int_equal(r->report.statistics.events.state_events, 0);
    const double pi = 3.14159265358979323846;
    expect_near(run_at(r, "a", pi), 2 * (2 - sqrt(3.0)) + 2 * pi / 3, 1e-7);
    for (uint32_t k = 0; k < r->n_rows; k++)
        assert_true(fabs(r->rows[k].values[run_column(r, "l.y")]) <= 1 + 1e-9);
}

static void test_ot073_the_limiter_has_seven_events(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    run_in_all_tiers((RunRequest){ .path = HERE "limiter.dym", .stop = 10, .interval = pi, .tolerance = 1e-9 },
                     check_limiter);
}

/* Closed, the capacitor stands at 10*500/520 V; open, it discharges with R2 C = 0.5 ms. The four times are met
 * exactly. */
static void check_switched(const RunResult *r)
{
    static const double times[] = { 0.0120, 0.0144, 0.0180, 0.0228 };
    expect_done(r);
    assert_int_equal(r->report.statistics.events.time_events, 4);
    assert_int_equal(r->report.statistics.events.state_events, 0);
    for (uint32_t j = 0; j < 4; j++)
        expect_near(run_at(r, "Sw.OpenSw", times[j]), j % 2, 0);
    const uint32_t position = run_column(r, "Sw.OpenSw");
    uint32_t n = 0;
    for (uint32_t k = 1; k < r->n_rows; k++) /* it changes at these times, not near them, and at no others */
        if (r->rows[k].values[position] != r->rows[k - 1].values[position]) {
            assert_true(n < 4);
            expect_near(r->rows[k - 1].time, times[n], 0);
            expect_near(r->rows[k].time, times[n++], 0);
        }
    assert_int_equal(n, 4);
    const double full = 10.0 * 500 / 520;
    expect_near(run_at(r, "y", 0.0114), 0, 1e-12);
    expect_near(run_at(r, "y", 0.0144), full, 1e-7);
    expect_near(run_at(r, "y", 0.0150), full * exp(-0.0006 / 0.0005), 1e-7);
    expect_near(run_at(r, "y", 0.0180), full * exp(-0.0036 / 0.0005), 1e-7);
    expect_near(run_at(r, "y", 0.0240), full * exp(-0.0012 / 0.0005), 1e-7);
}

/* OT-055: the linear block of four is solved by formulas: no system is left, R1.u = -(1 - OpenSw)*(Va - C.Va)/(OpenSw/R
 * - (1 - OpenSw)), and the others follow from it. The determinant is 1/20 of the document's -20 and 1: -1 (closed),
 * 1/20. */
static void check_formulas(const RunResult *r)
{
    check_switched(r);
    assert_int_equal(r->report.statistics.model.linear_solves, 0);
    expect_near(run_at(r, "R1.i", 0.0114), 0, 0);
    expect_near(run_at(r, "R1.u", 0.0114), 0, 0);
    expect_near(run_at(r, "Sw.u", 0.0114), 10 - run_at(r, "y", 0.0114), 1e-14);
    expect_near(run_at(r, "R1.i", 0.0138), (10 - run_at(r, "y", 0.0138)) / 20, 1e-14);
    expect_near(run_at(r, "Sw.u", 0.0138), 0, 1e-14);
}

static void test_ot055_the_switched_circuit_by_formulas(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = HERE "switched.dym", .systems = "symbolic", .stop = 0.03, .interval = 0.0006, .tolerance = 1e-9 },
        check_formulas);
}

static void test_ot079_ot093_ot094_the_switched_circuit(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "switched.dym", .stop = 0.03, .interval = 0.0006, .tolerance = 1e-9 },
                     check_switched);
}

/* Without ground the potentials have no reference, and both nodes say the same of the currents. */
static void test_ot046_missing_ground(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "floating.dym", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    assert_non_null(strstr(r->messages, "floating.dym:5:11: error KN2107: 'R.i' and 'V.i' are balanced twice: what is "
                                        "connected here hangs on nothing else"));
    assert_non_null(strstr(r->messages, "help: potentials have a value only against a reference: connect one of these "
                                        "nodes to it, in a circuit to a Ground"));
    run_free(r);
}

static void test_ot015_inclusion(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "inclusion.dym", .stop = 1, .interval = 1 });
    expect_done(r);
    expect_near(run_last(r, "inner.x"), 3, 0);
    run_free(r);
    r = run_model(&(RunRequest){ .path = HERE "cycle.dym", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    assert_non_null(strstr(r->messages, "error KN1302: the file `cycle.dym` includes itself"));
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot043_ot051_the_circuit_of_the_document),
        cmocka_unit_test(test_ot036_ot037_divider_in_any_form),
        cmocka_unit_test(test_ot056_a_linear_block),
        cmocka_unit_test(test_ot073_the_limiter_has_seven_events),
        cmocka_unit_test(test_ot055_the_switched_circuit_by_formulas),
        cmocka_unit_test(test_ot079_ot093_ot094_the_switched_circuit),
        cmocka_unit_test(test_ot046_missing_ground),
        cmocka_unit_test(test_ot015_inclusion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
