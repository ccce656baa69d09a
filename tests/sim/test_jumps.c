/* Jumps of constrained states: what an event makes of them keeps charge, flux and momentum, whatever the states are. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define JUMPS KOINE_SOURCE_DIR "/tests/sim/jumps/"

/* 10 V over 1 uF in series with 2 and 3 uF: Q = 10 V * 5/6 uF, u1 = Q/1 uF, u2 = Q/5 uF. */
static void check_capacitors(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "C1.u", 0.005), 25.0 / 3, 1e-9);
    expect_near(run_at(r, "C2.u", 0.005), 5.0 / 3, 1e-9);
    expect_near(run_at(r, "C3.u", 0.005), 5.0 / 3, 1e-9);
    expect_near(run_at(r, "C1.u", 0.004), 0, 1e-12);
    expect_near(run_at(r, "La.i", 0.005), 0, 1e-9); /* voltages are finite there */
}

static void test_jumps_charge_is_kept_in_a_ring_of_capacitors(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = JUMPS "capacitors.dym", .stop = 0.01, .interval = 0.001 }, check_capacitors);
    static const char *const solvers[] = { "dop853", "cvode-bdf", "ida", "arkode-dirk", "rk4" };
    for (uint32_t k = 0; k < 5; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = JUMPS "capacitors.dym",
                                                .solver = solvers[k],
                                                .stop = 0.01,
                                                .interval = 0.001,
                                                .step = k == 4 ? 1e-5 : 0 });
        check_capacitors(r);
        run_free(r);
    }
}

/* L1 (i1 - 0) = L2 (i2 - 0), i1 + i2 = 1: 3/4 and 1/4. Then each decays towards its share by R1 = R2: 1/2. With i = i1
 * - i2: L1 i1' + R i1 = L2 i2' + R i2 and i1' = -i2' give 4 i1' = i2 - i1 = 1 - 2 i1. */
static void check_inductors(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "L1.i", 1), 0.75, 1e-9);
    expect_near(run_at(r, "L2.i", 1), 0.25, 1e-9);
    expect_near(run_last(r, "L1.i"), 0.5 + 0.25 * exp(-0.5), 1e-6);
    expect_near(run_last(r, "L2.i"), 0.5 - 0.25 * exp(-0.5), 1e-6);
}

static void test_jumps_flux_is_shared_whatever_the_states_are(void **state)
{
    (void)state;
    static const char *const paths[] = { JUMPS "inductors.dym", JUMPS "inductors_1.dym", JUMPS "inductors_2.dym" };
    for (uint32_t k = 0; k < 3; k++)
        run_in_all_tiers((RunRequest){ .path = paths[k], .stop = 2, .interval = 0.5, .tolerance = 1e-8 },
                         check_inductors);
}

/* L i = 2 Vs after the jump of 1 A. */
static void check_flux(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "flux", 0.5), 0, 0);
    expect_near(run_last(r, "flux"), 2, 1e-9);
    expect_near(run_last(r, "L.u"), 0, 1e-12); /* the impulse is over */
}

static void test_jumps_an_impulse_is_integrated(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = JUMPS "flux.dym", .stop = 2, .interval = 0.5 }, check_flux);
}

/* J1 6 + J2/9 6 = 12 + 6. */
static void check_collision(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "p"), 18, 1e-9);
    expect_near(run_last(r, "w2"), 2, 1e-12);
}

static void test_jumps_momentum_goes_through_a_gear(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = JUMPS "collision.dym", .stop = 2, .interval = 0.5 }, check_collision);
}

static void test_jumps_an_event_that_sets_states_says_what_they_are(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = JUMPS "assigned.dym", .stop = 2, .interval = 0.5 });
    expect_done(r);
    expect_near(run_last(r, "x"), 4, 1e-12);
    expect_near(run_last(r, "y"), 6, 1e-12);
    run_free(r);
}

static void check_beside(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "u1"), 6, 1e-12);
    expect_near(run_last(r, "u2"), 2, 1e-12);
    expect_near(run_last(r, "u3"), 4, 1e-12);
    expect_near(run_last(r, "u4"), 4, 1e-12);
    expect_near(run_last(r, "z"), 6, 1e-12);
}

/* C1 u1 = C2 u2 and u1 + u2 = 8; the event says what u3 is, and with it u4 = 8 - u3. */
static void test_jumps_of_equations_without_what_an_event_sets_take_place(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = JUMPS "beside.ir", .stop = 2, .interval = 0.5 }, check_beside);
}

static void test_jumps_without_unique_answer_end_the_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = JUMPS "nonlinear.dym", .stop = 2, .interval = 0.5 });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    expect_near(r->report.time, 1, 0);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_JUMP);
    fail_if(!strstr(r->report.text, "no unique answer") && !strstr(r->report.text, "cannot be computed"), "%s",
            r->report.text);
    run_free(r);
}

/* q = 4 u + u^2/20: the capacity jumps with the voltage, so equal voltages do not follow from one look at the slopes.
 */
static void test_jumps_along_which_factors_change_end_the_run(void **state)
{
    (void)state;
    static const char *const paths[] = { JUMPS "factors.ir", JUMPS "charge.ir" };
    for (uint32_t k = 0; k < 2; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = paths[k], .stop = 2, .interval = 0.5, .allows_modes = true });
        assert_true(r->is_compiled);
        expect_near(r->report.time, 1, 0);
        assert_int_equal(r->report.fault.cause, KOINE_CAUSE_JUMP);
        fail_if(!strstr(r->report.text, "factors of the derivatives jump with them"), "%s", r->report.text);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jumps_charge_is_kept_in_a_ring_of_capacitors),
        cmocka_unit_test(test_jumps_flux_is_shared_whatever_the_states_are),
        cmocka_unit_test(test_jumps_an_impulse_is_integrated),
        cmocka_unit_test(test_jumps_momentum_goes_through_a_gear),
        cmocka_unit_test(test_jumps_an_event_that_sets_states_says_what_they_are),
        cmocka_unit_test(test_jumps_of_equations_without_what_an_event_sets_take_place),
        cmocka_unit_test(test_jumps_without_unique_answer_end_the_run),
        cmocka_unit_test(test_jumps_along_which_factors_change_end_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
