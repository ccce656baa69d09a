/* Arrays in events, branches, sums and initial equations, from the Model on: every model runs in all three tiers, with
 * equal bits. Expected values: traces by hand and closed forms, given beside the assertion. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/arrays/"

static void assert_near(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static void assert_same_run(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t k = 0; k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[k].time, &b->rows[k].time, sizeof(double));
        assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
    }
}

/* The run of the interpreter; the other tiers gave the same bits. */
static RunResult *run(const char *name, double stop, double interval)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    char path[512];
    snprintf(path, sizeof path, "%s%s", MODELS, name);
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        RunResult *r = run_model(
            &(RunRequest){ .path = path, .tier = tiers[k], .stop = stop, .interval = interval, .every_takt = true });
        if (!r->is_compiled)
            fail_msg("%s", r->messages);
        if (r->report.end != KOINE_RUN_DONE)
            fail_msg("%s", r->report.text);
        if (!first) {
            first = r;
            continue;
        }
        assert_same_run(first, r);
        run_free(r);
    }
    return first;
}

static double value_in_row(const RunResult *r, uint32_t row, const char *name)
{
    return r->rows[row].values[run_column(r, name)];
}

/* Phase k exchanges neighbours (i, i + 1) with i of the parity of k, all at once. */
static void test_events_over_a_range_exchange_elements(void **state)
{
    static const int trace[5][4] = { { 4, 3, 2, 1 }, { 4, 2, 3, 1 }, { 2, 4, 1, 3 }, { 2, 1, 4, 3 }, { 1, 2, 3, 4 } };
    (void)state;
    RunResult *r = run("sort.ir", 1, 1);
    bool seen[5] = { false };
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const int phase = (int)value_in_row(r, k, "phase");
        assert_in_range(phase, 0, 4);
        seen[phase] = true;
        for (int i = 0; i < 4; i++) {
            char name[8];
            snprintf(name, sizeof name, "x[%d]", i + 1);
            assert_int_equal((int)value_in_row(r, k, name), trace[phase][i]);
        }
    }
    for (int k = 0; k < 5; k++)
        assert_true(seen[k]);
    run_free(r);
}

/* Tank i is emptied at 1/i, 2/i, ...: h[i] is the fraction of i*t, n[i] its whole part. */
static void test_events_and_comparisons_of_elements(void **state)
{
    (void)state;
    RunResult *r = run("tanks.ir", 1.75, 0.25);
    const double t = 1.75;
    double total = 0, largest = 0;
    int upto = 0;
    for (int i = 1; i <= 3; i++) {
        char name[16];
        const double h = i * t - floor(i * t);
        snprintf(name, sizeof name, "h[%d]", i);
        assert_near(run_last(r, name), h, 1e-9);
        snprintf(name, sizeof name, "y[%d]", i);
        assert_near(run_last(r, name), h > 0.5 ? 0.5 : h, 1e-9);
        snprintf(name, sizeof name, "upto[%d]", i);
        assert_near(run_last(r, name), upto += (int)floor(i * t), 0);
        for (int j = 1; j <= 2; j++) { /* the loop variable of the outer range is a value, too */
            snprintf(name, sizeof name, "m[%d]", 2 * (i - 1) + j); /* the harness counts by rows */
            assert_near(run_last(r, name), 10 * i + j + h, 1e-9);
        }
        total += h;
        largest = fmax(largest, h);
    }
    assert_near(run_last(r, "total"), total, 1e-9);
    assert_near(run_last(r, "largest"), largest, 1e-9);
    run_free(r);
}

static void test_initial_equations_over_a_range(void **state)
{
    (void)state;
    RunResult *r = run("begin.ir", 2, 1);
    for (int i = 1; i <= 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "x[%d]", i);
        assert_near(run_at(r, name, 0), 1 - i, 1e-12);
        assert_near(run_last(r, name), 1 - i * exp(-2.0), 1e-6);
    }
    run_free(r);
}

static void test_a_sum_of_many_terms(void **state)
{
    (void)state;
    RunResult *r = run("long.ir", 1, 1);
    assert_near(run_last(r, "s"), 12502500, 1e-3);
    run_free(r);
}

static void test_a_conflict_names_the_element(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = MODELS "conflict.ir", .stop = 1, .interval = 1 });
    assert_int_not_equal(r->report.end, KOINE_RUN_DONE);
    if (!strstr(r->report.text, "two events assign 'x[3]' in one event step"))
        fail_msg("%s", r->report.text);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_over_a_range_exchange_elements),
        cmocka_unit_test(test_events_and_comparisons_of_elements),
        cmocka_unit_test(test_initial_equations_over_a_range),
        cmocka_unit_test(test_a_sum_of_many_terms),
        cmocka_unit_test(test_a_conflict_names_the_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
