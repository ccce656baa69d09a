/* Sampling: times are the start and a whole number of intervals, also where the model adds them up, so that two rates
 * of one base meet in one instant however long a run is. Expected values are counts: by hand. */
#include "assertions.h"
#include "run.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/"

static double units_apart(double a, double b)
{
    return fabs(a - b) / (DBL_EPSILON * fmax(fabs(a), fabs(b)));
}

/* ---- the arithmetic, for 10^9 samples ---- */
/* The library's: a product of the number of the sample. Every one of the last million of 10^9, and one in 1009 of
 * all. */
static void test_products_of_two_rates_meet_for_1e9_samples(void **state)
{
    (void)state;
    static const double fast[] = { 0.001, 0.1, 1.0 / 3, 1e-6, 0.7 }, begin[] = { 0, 3.3 };
    double worst = 0;
    for (int r = 0; r < 5; r++)
        for (int s = 0; s < 2; s++)
            for (int64_t k = 1; k <= 1000000000 / 5; k += k < 199800000 ? 1009 : 1) {
                const double slow = 5 * fast[r];
                worst = fmax(worst, units_apart(begin[s] + (double)(5 * k) * fast[r], begin[s] + (double)k * slow));
            }
    assert_true(worst > 0 && worst <= 4);
}

/* What carry-rests makes of v + e. */
static void add(volatile double *v, volatile double *rest, double e)
{
    volatile const double more = *rest + e, old = *v;
    *v = old + more;
    *rest = more - (*v - old);
}

/* From sample `first` on, where the value is the product, a million additions are at most a unit away from the product;
 * what is lost in each is half a unit of the increment, and the increments of 10^9 samples together are the time:
 * so is the loss of all of them at most a unit of the time. */
static void test_sums_of_increments_are_products_for_1e9_samples(void **state)
{
    (void)state;
    static const double increments[] = { 0.001, 0.005, 0.1, 1.0 / 3 };
    static const int64_t first[] = { 0, 1000, 123456789, 999000000 };
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 4; f++) {
            double v = (double)first[f] * increments[i], rest = fma((double)first[f], increments[i], -v), plain = v;
            for (int64_t k = first[f] + 1; k <= first[f] + 1000000; k++) {
                add(&v, &rest, increments[i]);
                plain += increments[i];
                fail_if(units_apart(v, (double)k * increments[i]) > 1, "sample %lld of %g: %.17g", (long long)k,
                        increments[i], v);
            }
            assert_true(units_apart(plain, v) > 16); /* what the rest is for */
        }
}

/* ---- runs ---- */
static void expect_counts(RunRequest request, const char *fast, const char *slow, double n)
{
    RunResult *r = run_model(&request);
    expect_done(r);
    expect_near(run_last(r, fast), 5 * n + 1, 0);
    expect_near(run_last(r, slow), n + 1, 0);
    assert_int_equal(r->report.statistics.events.time_events,
                     5 * n); /* the slow samples have no instants of their own */
    run_free(r);
}

static void test_two_rates_that_are_sums_meet_for_1e6_samples(void **state)
{
    (void)state;
    expect_counts((RunRequest){ .path = HERE "dymola/two_rates_by_sums.dym",
                                .tier = "tcc",
                                .stop = 1000,
                                .interval = 1000,
                                .keeps_last = true },
                  "a", "b", 200000);
}

static void check_sums(const RunResult *r)
{
    expect_near(run_last(r, "a"), 5001, 0);
    expect_near(run_last(r, "b"), 1001, 0);
    expect_near(run_last(r, "apart"), 0, 0);
    expect_near(run_last(r, "t1"), 5001 * 0.001, 0); /* the sum rounded once is the product rounded once */
    assert_int_equal(r->report.statistics.events.time_events, 5000);
}

static void test_sums_are_the_same_in_all_tiers(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "dymola/two_rates_by_sums.dym", .stop = 5, .interval = 5 }, check_sums);
}

static void test_sums_of_a_component_meet(void **state)
{
    (void)state;
    expect_counts((RunRequest){ .path = HERE "simplex/Rates.mdl", .stop = 20, .interval = 20, .keeps_last = true }, "A",
                  "B", 4000);
}

/* The fast block has the slow one's value in each row, until 20 s; the last sample of both is that at 20. */
static void check_blocks(const RunResult *r)
{
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "diff")], 0, 0);
    expect_near(run_last(r, "slow.y"), r->report.time, 0);
    expect_near(run_last(r, "fast.N"), 20001, 0);
    expect_near(run_last(r, "slow.N"), 4001, 0);
    assert_int_equal(r->report.statistics.events.time_events, 20000);
}

static void test_blocks_of_two_rates_meet(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "dymola/two_rates_of_blocks.dym", .stop = 20, .interval = 20 },
                     check_blocks);
}

/* From 3.3 to 4.3 s: samples at 3.3 + k*0.001 and 3.3 + k*0.005, the first ones at the start. */
static void test_sampling_begins_at_the_start(void **state)
{
    (void)state;
    RunResult *r = run_model(
        &(RunRequest){ .path = HERE "dymola/two_rates_of_blocks.dym", .start = 3.3, .stop = 4.3005, .interval = 0.1 });
    expect_done(r);
    expect_near(r->rows[0].values[run_column(r, "fast.y")], 3.3, 0);
    expect_near(run_last(r, "fast.N"), 1001, 0);
    expect_near(run_last(r, "slow.N"), 201, 0);
    expect_near(run_last(r, "slow.y"), 4.3, 1e-14);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "diff")], 0, 0);
    run_free(r);
}

/* t = k*0.1 for 1000 events, the last of them at 100 - 0.1; the next is set to 50 s behind it, from there on it is
 * sums. */
static void test_a_time_set_anew_begins_a_new_sum(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = HERE "dymola/sum_in_a_branch.dym", .stop = 250.05, .interval = 250.05 });
    expect_done(r);
    expect_near(run_at(r, "n", 100), 1001, 0); /* 0, 0.1, ..., 100 */
    expect_near(run_at(r, "t", 100), 150, 0);
    expect_near(run_last(r, "n"), 1001 + 1001, 0); /* 150, 150.1, ..., 250 */
    expect_near(run_last(r, "t"), 150 + 1001 * 0.1, DBL_EPSILON * 250);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_of_two_rates_meet_for_1e9_samples),
        cmocka_unit_test(test_sums_of_increments_are_products_for_1e9_samples),
        cmocka_unit_test(test_two_rates_that_are_sums_meet_for_1e6_samples),
        cmocka_unit_test(test_sums_are_the_same_in_all_tiers),
        cmocka_unit_test(test_sums_of_a_component_meet),
        cmocka_unit_test(test_blocks_of_two_rates_meet),
        cmocka_unit_test(test_sampling_begins_at_the_start),
        cmocka_unit_test(test_a_time_set_anew_begins_a_new_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
