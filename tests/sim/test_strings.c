/* Texts: parameters, discrete variables, operations, functions; in all tiers. Expected texts were written by hand, and
 * those of numbers with the printf of a shell. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/strings/"

static void expect_text(const RunResult *r, const char *name, double time, const char *expected)
{
    assert_string_equal(run_text_at(r, name, time), expected);
}

/* x = t crosses 0.5, but not 1.5 by then. */
static void check_texts(const RunResult *r)
{
    expect_done(r);
    expect_text(r, "title", 0, "pump [m/s]");
    expect_text(r, "label", 0.25, "pump [m/s]: off 000 idle");
    expect_text(r, "state", 0.25, "idle");
    expect_text(r, "state", 1, "at  0.500|idle  |");
    expect_text(r, "before", 1, "at  0.500|idle  |");
    expect_text(r, "label", 1, "pump [m/s]: on 001 at  0.500|idle  |");
    expect_text(r, "first", 1, "pump");
    expect_near(run_at(r, "length", 0.25), 24, 0);
    expect_near(run_at(r, "length", 1), 36, 0);
    expect_near(run_at(r, "changed", 0.25), 0, 0);
    expect_near(run_at(r, "changed", 1), 1, 0);
    expect_near(run_at(r, "later", 0.25), 0, 0); /* "off" is before "on" */
    expect_near(run_at(r, "later", 1), 1, 0);
    assert_string_equal(r->output, "pump [m/s]: off 000 idle -> 0, idle    |");
}

static void test_m1_texts_are_computed_in_event_steps(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "texts.ir", .stop = 1.25, .interval = 0.25 }, check_texts);
}

/* x' = -x/2 to t = 1, then x' = -x. */
static void check_functions(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 0), 4, 0);
    expect_text(r, "longest", 0, "quick");
    expect_text(r, "stars", 0.5, "*-");
    expect_text(r, "stars", 1.5, "*-*-*-*-");
    expect_near(run_last(r, "x"), exp(-1.5), 1e-6);
}

static void test_m1_functions_take_and_give_texts(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "functions.ir", .stop = 2, .interval = 0.5 }, check_functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m1_texts_are_computed_in_event_steps),
        cmocka_unit_test(test_m1_functions_take_and_give_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
