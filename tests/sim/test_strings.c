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

/* x' = 10 exp(-t), from 5: each evaluation makes texts, far more than have room. */
static void check_moving(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "x"), 15 - 10 * exp(-4), 1e-6);
}

static void test_texts_inside_functions_of_what_moves(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "moving.ir", .stop = 4, .solver = "rk4", .step = 1e-3 },
                     check_moving);
    run_in_all_tiers((RunRequest){ .path = MODELS "moving.ir", .stop = 4, .solver = "cvode-bdf" }, check_moving);
}

static void check_chain(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 0), 100000, 0);
    expect_near(run_at(r, "m", 0), 100000, 0);
    expect_near(run_at(r, "m", 1), 140000, 0);
}

static void test_what_is_on_the_way_to_a_text_needs_no_room(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "chain.ir", .stop = 1, .interval = 0.5 }, check_chain);
}

static void test_m1_functions_take_and_give_texts(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "functions.ir", .stop = 2, .interval = 0.5 }, check_functions);
}

/* Text of the fault, in every tier. */
static void expect_fault(const char *path, double stop, const char *text)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 3; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = path, .tier = tiers[k], .stop = stop, .interval = 0.5 });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        if (!strstr(r->report.text, text))
            fail_msg("%s: '%s' instead of '%s'", tiers[k], r->report.text, text);
        run_free(r);
    }
}

static void test_bad_texts_end_the_run(void **state)
{
    (void)state;
    expect_fault(MODELS "too_long.ir", 2, "a text of 1000000000 bytes is longer than 1048576");
    expect_fault(MODELS "characters.ir", 2, "characters 2 to 5 of a text that has 2");
    expect_fault(MODELS "restless.ir", 1, "'s' goes from \"a\" to \"b\"");
    expect_fault(MODELS "format.ir", 2, "a format that does not suit what it is for");
}

/* x = exp(t) reaches 2 at ln 2; the steps become smaller until there is none left. */
static void test_a_check_that_fails_in_every_trial_tells_its_text(void **state)
{
    (void)state;
    expect_fault(MODELS "mode.ir", 2, "mode 'half' is for x below 2, not 2.0");
}

/* "ab" doubled 18 times is 524,288 characters: the block grows, and what nobody holds is given up. */
static void check_grown(const RunResult *r)
{
    expect_done(r);
    const char *text = run_text_at(r, "s", 1.75);
    assert_int_equal(strlen(text), 524288);
    assert_memory_equal(text + 524280, "abababab", 8);
    expect_text(r, "s", 2, "");
}

static void test_the_table_of_texts_grows(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "grow.ir", .stop = 2, .interval = 0.25 }, check_grown);
}

/* x[i] = i*t passes 2 at 2/i; a3 begins to hold false at 2.5/3, a2 does before its branch is left. */
static void check_assertions(const RunResult *r)
{
    expect_done(r);
    const char *second = strstr(r->output, "x[3] = 2.000 is 100% too large (at time 0.666667)");
    assert_true(strstr(r->output, "never looked at in this branch: 0 (at time 0)") == r->output);
    assert_true(second && strstr(second, "branch %d (at time 0.833333)"));
    assert_true(strstr(r->output, "x[2] = 2.000 is 100% too large (at time 1)") != NULL);
    assert_null(strstr(r->output, "x[1]"));
}

static uint32_t count(const char *text, const char *part)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* x[i] = i*t, with steps of 0.25: 5t passes 2 before 0.5 and, from 1.1 on, before 1.6; 3t before 0.75; t never. Sums
 * are 2t, 3t and 4t: they pass 3.1 before 1.75, 1.25 and 1. */
static void check_quiet(const RunResult *r)
{
    expect_done(r);
    const char *const once[] = { "x[5] is large (at time 0.5)", "x[3] is large (at time 0.75)", "sum 22 (at time 1)",
                                 "sum 12 (at time 1.",          "sum 21 (at time 1.",           "sum 11 (at time 1." };
    for (uint32_t k = 0; k < sizeof once / sizeof *once; k++)
        assert_int_equal(count(r->output, once[k]), 1);
    assert_int_equal(count(r->output, "at time"), 7);
    assert_int_equal(count(r->output, "x[5] is large"), 2);
}

static void test_m11_quiet_warnings_over_ranges_are_told_once_each(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "quiet.ir", .stop = 1.9, .interval = 0.5, .solver = "euler", .step = 0.25 },
        check_quiet);
}

static void test_m11_assertions_over_ranges_in_branches_and_with_levels(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "assertions.ir", .stop = 1.5, .interval = 0.5 }, check_assertions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m1_texts_are_computed_in_event_steps),
        cmocka_unit_test(test_m1_functions_take_and_give_texts),
        cmocka_unit_test(test_texts_inside_functions_of_what_moves),
        cmocka_unit_test(test_what_is_on_the_way_to_a_text_needs_no_room),
        cmocka_unit_test(test_bad_texts_end_the_run),
        cmocka_unit_test(test_a_check_that_fails_in_every_trial_tells_its_text),
        cmocka_unit_test(test_the_table_of_texts_grows),
        cmocka_unit_test(test_m11_assertions_over_ranges_in_branches_and_with_levels),
        cmocka_unit_test(test_m11_quiet_warnings_over_ranges_are_told_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
