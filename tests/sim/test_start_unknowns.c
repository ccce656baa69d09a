/* What the start determines beside states: fixed starts of algebraic variables, free parameters; in all tiers, values
 * by hand. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STARTS KOINE_SOURCE_DIR "/tests/sim/starts/"

static void at_start(const RunResult *r, const char *name, double value)
{
    expect_near(run_at(r, name, 0), value, 1e-9 * fmax(1, fabs(value)));
}

static void refused(const char *file, const char *const *texts)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", STARTS, file);
    RunResult *r = run_model(&(RunRequest){ .path = path, .tier = "interp", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    for (; *texts; texts++)
        if (!strstr(r->messages, *texts))
            fail_msg("'%s' is not said in:\n%s", *texts, r->messages);
    run_free(r);
}

/* y = 2x + 1 is 5, w = -u is p = 3, q = a*a is {1, 4, 9}, r[2] = 4 b[2] is 2; b[1] keeps its guess 7. */
static void check_fixed(const RunResult *r)
{
    expect_done(r);
    at_start(r, "x", 2);
    at_start(r, "u", -3);
    at_start(r, "a[1]", 1);
    at_start(r, "a[2]", 2);
    at_start(r, "a[3]", 3);
    at_start(r, "b[1]", 7);
    at_start(r, "b[2]", 0.5);
    expect_near(run_last(r, "y"), 1 + 4 * exp(-1), 1e-6);
    expect_near(run_last(r, "q[3]"), 9 * exp(-2), 1e-5);
}

static void test_fixed_starts_of_algebraic_variables(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "fixed.ir", .stop = 1, .interval = 1 }, check_fixed);
}

/* y = -x, both fixed: the same is said twice. */
static void check_same(const RunResult *r)
{
    expect_done(r);
    at_start(r, "x", 1);
}

static void test_fixed_starts_that_agree_are_one(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "same.ir", .stop = 1, .interval = 1 }, check_same);
}

static void test_too_many_fixed_starts_are_told(void **state)
{
    (void)state;
    refused("too_many.ir", (const char *[]){ "too_many.ir:4:1: error KN2112: too many equations at the start",
                                             "the start value of 'x' is fixed", NULL });
    refused("contradiction.ir", (const char *[]){ "contradiction.ir:4:1: error KN2112: too many equations at the start",
                                                  "the start value of 'x' is fixed", NULL });
}

/* At rest m g = k x: k = 2*10/0.5. What is computed from it is, too. */
static void check_spring(const RunResult *r)
{
    expect_done(r);
    at_start(r, "k", 40);
    at_start(r, "f", sqrt(20));
    at_start(r, "half[2]", sqrt(20) / 2);
    at_start(r, "pair[2]", 80);
    at_start(r, "e", 40 + sqrt(20) / 2);
    expect_near(run_last(r, "k"), run_at(r, "k", 0), 0);
    expect_near(run_last(r, "x"), 0.5, 1e-9);
}

static void test_a_free_parameter_follows_from_rest(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "spring.ir", .stop = 1, .interval = 1 }, check_spring);
}

/* x' = -x is -8 at first, so x = 8 = 2 x0; c[i]^2 x = 8 i^2; 6 dead = 12; d begins at n = 4 and n is added when
 * x = 4. */
static void check_several(const RunResult *r)
{
    expect_done(r);
    at_start(r, "x0", 4);
    at_start(r, "c[1]", 1);
    at_start(r, "c[2]", 2);
    at_start(r, "c[3]", 3);
    at_start(r, "dead", 2);
    at_start(r, "z[3]", 6);
    at_start(r, "b", 1);
    at_start(r, "q", 3);
    at_start(r, "d", 4);
    expect_near(run_last(r, "d"), 8, 0);
    expect_near(run_last(r, "y[2]"), 32 * exp(-1), 1e-5);
}

static void test_free_parameters_of_all_kinds_and_arrays(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "several.ir", .stop = 1, .interval = 1 }, check_several);
}

/* l = 1 from where it hangs; F l^2 = -g y at rest; the energy stays g y. */
static void check_pendulum(const RunResult *r)
{
    expect_done(r);
    at_start(r, "l", 1);
    at_start(r, "x", 0.6);
    at_start(r, "y", -0.8);
    at_start(r, "F", 9.81 * 0.8);
    const double x = run_last(r, "x"), y = run_last(r, "y"), vx = run_last(r, "vx"), vy = run_last(r, "vy");
    expect_near(x * x + y * y, 1, 1e-9);
    expect_near((vx * vx + vy * vy) / 2 + 9.81 * y, -9.81 * 0.8, 1e-4);
}

static void test_a_free_parameter_in_a_constraint(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "pendulum.ir", .stop = 1, .interval = 1 }, check_pendulum);
}

/* y = k x is 5 where x is 2; before events k is what it is. */
static void check_gain(const RunResult *r)
{
    expect_done(r);
    at_start(r, "k", 2.5);
    expect_near(run_last(r, "x"), 2 * exp(-2.5), 1e-6);
    expect_near(run_last(r, "u"), 2.5, 0);
    expect_near(run_last(r, "old"), 2.5, 0);
}

static void test_a_fixed_start_determines_a_free_parameter(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "gain.ir", .stop = 1, .interval = 1 }, check_gain);
}

static void check_before(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "u"), 3, 0);
}

static void test_pre_of_what_the_start_determines(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = STARTS "before.ir", .stop = 1, .interval = 1 }, check_before);
}

static void test_free_parameters_without_a_value_are_told(void **state)
{
    (void)state;
    refused("nothing.ir", (const char *[]){ "nothing.ir:3:1: error KN2110: 'k' has no definition",
                                            "add an initial equation that determines it", NULL });
    refused("undetermined.ir",
            (const char *[]){ "undetermined.ir:3:1: error KN2112: too few equations at the start: 2 unknowns",
                              "unknown 'l'", NULL });
    refused("more.ir", (const char *[]){ "error KN2112: too many equations at the start: 3 equations for 2 unknowns",
                                         "unknown 'k'", NULL });
}

static void test_what_must_be_known_before_does_not_depend_on_free_parameters(void **state)
{
    (void)state;
    refused("sizes.ir", (const char *[]){ "sizes.ir:5:1: error KN2101", NULL });
    refused("bounds.ir",
            (const char *[]){ "bounds.ir:4:1: error KN2005: a bound depends on 'k', which the start determines",
                              "bounds.ir:7:1: error KN2005: a nominal value depends on 'k'",
                              "bounds.ir:11:1: error KN2005: a delay depends on 'k'", NULL });
    refused("errors/no_parameter.ir",
            (const char *[]){ "no_parameter.ir:3:1: error KN1010: only parameters and discrete variables", NULL });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fixed_starts_of_algebraic_variables),
                                        cmocka_unit_test(test_fixed_starts_that_agree_are_one),
                                        cmocka_unit_test(test_too_many_fixed_starts_are_told),
                                        cmocka_unit_test(test_a_free_parameter_follows_from_rest),
                                        cmocka_unit_test(test_free_parameters_of_all_kinds_and_arrays),
                                        cmocka_unit_test(test_a_free_parameter_in_a_constraint),
                                        cmocka_unit_test(test_a_fixed_start_determines_a_free_parameter),
                                        cmocka_unit_test(test_pre_of_what_the_start_determines),
                                        cmocka_unit_test(test_free_parameters_without_a_value_are_told),
                                        cmocka_unit_test(
                                            test_what_must_be_known_before_does_not_depend_on_free_parameters) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
