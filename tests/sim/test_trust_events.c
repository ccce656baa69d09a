/* No event is missed between two steps: comparisons of functions of time and of states that move faster than the solver
 * steps, with every solver that controls its error and any output interval. */
#include "run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/trust/"

static const char *const SOLVERS[] = { "auto",        "dopri5", "dop853",     "cvode-bdf",
                                       "cvode-adams", "ida",    "arkode-erk", "arkode-dirk" };
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

static RunResult *run_with(const char *file, const char *solver, double stop, double interval)
{
    RunResult *r = run_model(&(RunRequest){
        .path = file, .tier = "interp", .solver = solver, .stop = stop, .interval = interval, .tolerance = 1e-6 });
    expect_done(r);
    return r;
}

/* Day holds while sin(2 pi (T - 6)/24) > 0.2: a day has 24 (1/2 - asin(0.2)/pi) hours of it, the 30 days 313.852. Not
 * in a single row may Day contradict its only equation; an event has a row on either side, at the border itself. */
static void check_sun(const char *solver, double interval)
{
    RunResult *r = run_with(HERE "Sun.mdl", solver, 720, interval);
    expect_near(run_last(r, "Hours"), 30 * 24 * (0.5 - asin(0.2) / 3.14159265358979323846), 1e-6);
    const uint32_t day = run_column(r, "Day"), elevation = run_column(r, "Elev");
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double margin = r->rows[k].values[elevation] - 0.2;
        assert_true(fabs(margin) < 1e-12 || r->rows[k].values[day] == (margin > 0));
    }
    assert_int_equal(r->report.statistics.events.state_events + r->report.statistics.events.time_events, 60);
    run_free(r);
}

static void test_a_row_never_contradicts_a_comparison(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        for (double interval = 0.1; interval < 800; interval *= 20)
            check_sun(SOLVERS[k], interval);
}

static void expect_count(const char *file, const char *solver, double stop, double interval, const char *name, double n)
{
    RunResult *r = run_with(file, solver, stop, interval);
    expect_near(run_last(r, name), n, 0);
    run_free(r);
}

/* S > 0.5 begins at asin(0.5) + 2 pi k: 16 times before 100, 1592 times before 10,000. */
static void test_sx048_a_sine_of_time_beside_a_slow_state(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        expect_count(HERE "SinX.mdl", SOLVERS[k], 100, 0.2, "N", 16);
        expect_count(HERE "SinX.mdl", SOLVERS[k], 100, 100, "N", 16);
    }
    expect_count(HERE "SinX.mdl", "auto", 10000, 33, "N", 1592);
}

static void test_sx048_a_sine_of_time_alone(void **state)
{
    (void)state;
    for (double interval = 0.3; interval < 10000; interval *= 30)
        expect_count(HERE "SinT.mdl", "auto", 10000, interval, "N", 1592);
}

/* Phi(60) = 100 (60 - 2 (1 - exp(-30))) = 5800: one mark at the start and one for each of 5800/(2 pi) = 923.1 turns. */
static void test_marks_on_a_shaft_that_turns_faster_than_steps(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        expect_count(HERE "Shaft.mdl", SOLVERS[k], 60, 0.12, "N", 924);
        expect_count(HERE "Shaft.mdl", SOLVERS[k], 60, 20, "N", 924);
    }
}

/* 314*2/(2 pi) = 99.95 periods, the last of which reaches 0.5. */
static void test_a_fast_sine_beside_a_slow_decay(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        expect_count(HERE "timesine.dym", SOLVERS[k], 2, 0.004, "n", 100);
        expect_count(HERE "timesine.dym", SOLVERS[k], 2, 2, "n", 100);
    }
}

static void light_load(KoineModel *model)
{
    set_value(model, "RL.R", 50000);
}

/* While the diode blocks nothing but the source moves. 9.871 V: the same model with steps of at most 0.001, which is a
 * twentieth of a period. In 99.95 periods it opens 100 times, behind each maximum, and closes 99 times: at the start,
 * without voltage and current, it is closed. */
static void test_a_rectifier_with_a_light_load(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = HERE "rectifier.dym",
                                                .solver = SOLVERS[k],
                                                .stop = 2,
                                                .interval = 0.01,
                                                .tolerance = 1e-6,
                                                .prepare = light_load });
        expect_done(r);
        expect_near(run_last(r, "C.u"), 9.8709, 2e-4);
        assert_int_equal(r->report.statistics.events.state_events, 199);
        run_free(r);
    }
}

/* Two blocks with Coulomb friction under a growing force: time stepping after Moreau, of order
 * 1, gives 3.02068 with steps of 1e-4, RK4 with such steps 3.020803. */
static void test_friction_breaks_away_at_every_tolerance(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        for (double tolerance = 1e-6; tolerance > 5e-11; tolerance *= 0.01) {
            RunResult *r = run_model(&(RunRequest){ .path = HERE "friction.dym",
                                                    .solver = SOLVERS[k],
                                                    .stop = 12,
                                                    .interval = 0.1,
                                                    .tolerance = tolerance });
            expect_done(r);
            expect_near(run_last(r, "xB"), 3.020803, 1e-4);
            run_free(r);
        }
}

/* 199.24776 V: with steps of at most 1e-4 and a tolerance of 1e-8, dopri5 and cvode-bdf agree to 1e-5. */
static void test_a_voltage_doubler(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_with(HERE "doubler.dym", SOLVERS[k], 1, 0.05);
        expect_near(-run_last(r, "c1.u"), 199.24776, 2e-3);
        run_free(r);
    }
}

/* A ball with the coefficient 0.7: bounces accumulate at sqrt(2/9.81)*(1 + 2*0.7/0.3) = 2.558634. No solver lets it
 * fall through the floor when bounces have become lower than its tolerance. */
static void test_s16_no_solver_loses_a_ball(void **state)
{
    (void)state;
    static const double tolerances[] = { 1e-4, 1e-6, 1e-9 };
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        for (uint32_t j = 0; j < 3; j++) {
            RunResult *r = run_model(&(RunRequest){ .path = HERE "rest.dym",
                                                    .tier = "interp",
                                                    .solver = SOLVERS[k],
                                                    .stop = 5,
                                                    .interval = 0.1,
                                                    .tolerance = tolerances[j] });
            assert_int_equal(r->report.end, KOINE_RUN_FAILED);
            assert_non_null(strstr(r->report.text, "Zeno"));
            expect_near(r->report.time, sqrt(2 / 9.81) * (1 + 2 * 0.7 / 0.3), 5e-3);
            expect_near(run_last(r, "h"), 0, 1e-9);
            run_free(r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_never_contradicts_a_comparison),
        cmocka_unit_test(test_sx048_a_sine_of_time_beside_a_slow_state),
        cmocka_unit_test(test_sx048_a_sine_of_time_alone),
        cmocka_unit_test(test_marks_on_a_shaft_that_turns_faster_than_steps),
        cmocka_unit_test(test_a_fast_sine_beside_a_slow_decay),
        cmocka_unit_test(test_a_rectifier_with_a_light_load),
        cmocka_unit_test(test_friction_breaks_away_at_every_tolerance),
        cmocka_unit_test(test_a_voltage_doubler),
        cmocka_unit_test(test_s16_no_solver_loses_a_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
