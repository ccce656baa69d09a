/* Models that share values between equations, in all tiers: closed forms; parameters that are changed; branches. What
 * is computed how often is counted by tests/emit/test_share.c. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define MODEL KOINE_SOURCE_DIR "/tests/sim/dymola/shared.dym"

/* x = exp(-a/b*t), and y' = 3*a/b*x gives y = 3*(1 - x). The branches hold to the last bit between recorded values. */
static void check_values(const RunResult *r, double a_over_b)
{
    const uint32_t x = run_column(r, "x"), p = run_column(r, "p"), q = run_column(r, "q");
    expect_near(run_last(r, "x"), exp(-2 * a_over_b), 1e-7);
    expect_near(run_last(r, "y"), 3 * (1 - exp(-2 * a_over_b)), 1e-6);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *row = r->rows[k].values;
        const double root = row[x] > 0.5 ? sqrt(row[x] - 0.5) : 0;
        if (fabs(row[x] - 0.5) < 1e-9) /* the event itself has a row before and one after it */
            continue;
        assert_true(row[q] == 1 + root);
        assert_true(row[p] == row[run_column(r, "a")] * root);
    }
}

static void check_given(const RunResult *r)
{
    check_values(r, 1.5);
}

static void closed_form(void **unused)
{
    (void)unused;
    static const char *const solvers[] = { "auto", "cvode-bdf" };
    for (int k = 0; k < 2; k++)
        run_in_all_tiers(
            (RunRequest){ .path = MODEL, .solver = solvers[k], .stop = 2, .interval = 0.125, .tolerance = 1e-9 },
            check_given);
}

static void set_b(KoineModel *model)
{
    set_value(model, "b", 4);
}

static void check_set(const RunResult *r)
{
    check_values(r, 0.75);
}

static void parameters_set_before_the_run(void **unused)
{
    (void)unused;
    run_in_all_tiers((RunRequest){ .path = MODEL, .stop = 2, .interval = 0.125, .tolerance = 1e-9, .prepare = set_b },
                     check_set);
}

/* a/b is 1.5 up to 1, 0.75 from then on. */
static void check_changed(const RunResult *r)
{
    expect_near(run_last(r, "x"), exp(-1.5 - 0.75), 1e-7);
    expect_near(run_last(r, "y"), 3 * (1 - exp(-1.5 - 0.75)), 1e-6);
}

static void parameters_changed_at_a_pause(void **unused)
{
    (void)unused;
    run_in_all_tiers(
        (RunRequest){ .path = MODEL, .stop = 2, .interval = 0.5, .tolerance = 1e-9, .pause = 1, .between = set_b },
        check_changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),
        cmocka_unit_test(parameters_set_before_the_run),
        cmocka_unit_test(parameters_changed_at_a_pause),
    };
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
