/* last(v), the value at the last accepted step: with every solver, in all tiers, values by hand. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/last/"

/* MP-041: T = last(T) + 1 with start -1 counts 0, 1, 2 ..., whatever the stages of the method: at the end it is the
 * number of steps. x = exp(t); its increments over the steps add up. v[i] = 3 + i*t. */
static void check_counter(const RunResult *r)
{
    expect_done(r);
    const double steps = (double)r->report.statistics.integration.steps;
    expect_near(run_at(r, "T", 0), 0, 0);
    expect_near(run_last(r, "T"), steps, 0);
    expect_near(run_last(r, "n"), steps, 0);
    expect_near(run_last(r, "grown"), steps, 0);
    expect_near(run_last(r, "inc"), run_last(r, "x") - 1, 1e-12);
    expect_near(run_last(r, "dx"), 0, 0); /* the step is over */
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values;
        assert_true(v[run_column(r, "dv")] > -1e-12 && v[run_column(r, "dx")] >= 0);
    }
}

static void test_mp041_an_auxiliary_counts_the_steps_of_every_solver(void **state)
{
    static const char *const solvers[] = { "euler",       "heun",       "rk4",          "dopri5",
                                           "dop853",      "cvode-bdf",  "cvode-adams",  "ida",
                                           "arkode-dirk", "arkode-erk", "simplex-euler" };
    (void)state;
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = MODELS "counter.ir", .stop = 1, .interval = 0.5, .step = 0.125, .solver = solvers[k] });
        check_counter(r);
        run_free(r);
    }
    run_in_all_tiers((RunRequest){ .path = MODELS "counter.ir", .stop = 1, .interval = 0.5 }, check_counter);
}

/* Steps of 0.125 with x' = -a*last(x), where last(x) is x at the begin of the step: x shrinks by 1 - 0.125*a with each.
 * It is set back to 1 three times. */
static void check_lag(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows && r->rows[k].time < 1.125; k++) {
        const double *v = r->rows[k].values;
        expect_near(v[run_column(r, "one.x")], pow(0.875, round(r->rows[k].time / 0.125)), 1e-12);
        expect_near(v[run_column(r, "two.x")], pow(0.75, round(r->rows[k].time / 0.125)), 1e-12);
    }
    assert_int_equal(r->report.statistics.events.state_events, 3);
    expect_near(run_last(r, "b"), 1, 0);
}

static void test_m3_last_in_equations_branches_and_transitions(void **state)
{
    (void)state;
    RunRequest request = { .path = MODELS "lag.ir", .stop = 4, .interval = 1, .solver = "rk4", .step = 0.125 };
    run_in_all_tiers(request, check_lag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mp041_an_auxiliary_counts_the_steps_of_every_solver),
        cmocka_unit_test(test_m3_last_in_equations_branches_and_transitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
