/* What the start determines beside states: fixed starts of algebraic variables, in all tiers, values by hand. */
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fixed_starts_of_algebraic_variables),
                                        cmocka_unit_test(test_fixed_starts_that_agree_are_one),
                                        cmocka_unit_test(test_too_many_fixed_starts_are_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
