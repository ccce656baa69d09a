/* Random numbers: the generator against its published test vectors, distributions against their moments and
 * distribution functions, streams against each other, and a queue against its closed form. Seeds are fixed, so
 * every bound is met or missed for ever; bounds are those of tests at the level of 1 % or 0.1 %, or 4 standard
 * errors. */
#include "assertions.h"
#include "koine/ops.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define SIMPLEX KOINE_SOURCE_DIR "/tests/sim/simplex/"

enum { DRAWS = 4000 };

/* Philox4x32-10: known answers of the authors' library Random123, first two of the four words. */
static void generator_gives_its_published_numbers(void **state)
{
    (void)state;
    assert_true(koine_philox(0, 0, 0) == 0xe169c58d6627e8d5);
    assert_true(koine_philox(UINT64_MAX, UINT64_MAX, UINT64_MAX) == 0x41c83b0e408f276d);
    assert_true(koine_philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) == 0x94fdccebd16cfe09);
    for (int64_t k = 0; k < 1000; k++)
        assert_true(koine_random(7, k) > 0 && koine_random(7, k) < 1);
}

/* 200 streams of neighbouring seeds, positions as draws use them: the mean of chi square over 16 classes is 15 with a
 * standard error of sqrt(30/200). */
static void streams_are_uniform(void **state)
{
    (void)state;
    enum { STREAMS = 200, CLASSES = 16, EACH = 1600 };
    double total = 0;
    for (int64_t s = 0; s < STREAMS; s++) {
        const int64_t key = koine_mix(s, 987);
        double n[CLASSES] = { 0 };
        for (int64_t c = 0; c < EACH; c++)
            n[(int)(koine_random(key, c * 65536) * CLASSES)]++;
        for (int k = 0; k < CLASSES; k++)
            total += (n[k] - EACH / CLASSES) * (n[k] - EACH / CLASSES) / (EACH / CLASSES);
    }
    fail_if(fabs(total / STREAMS - 15) > 4 * sqrt(30.0 / STREAMS), "mean chi square %g", total / STREAMS);
}

static RunResult *run(const char *path, const char *tier, double stop, void (*prepare)(KoineModel *model))
{
    RunResult *r =
        run_model(&(RunRequest){ .path = path, .tier = tier, .stop = stop, .interval = stop, .prepare = prepare });
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
    return r;
}

/* The values of a column, one for each t = 1, 2, ... */
static double *values_of(const RunResult *r, const char *name)
{
    double *values = malloc(DRAWS * sizeof *values);
    uint32_t n = 0;
    const uint32_t column = run_column(r, name);
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].time >= 1 && (k + 1 == r->n_rows || r->rows[k + 1].time > r->rows[k].time) && n < DRAWS)
            values[n++] = r->rows[k].values[column];
    assert_int_equal(n, DRAWS);
    return values;
}

static void assert_moments(const RunResult *r, const char *name, double mean, double variance, double fourth)
{
    double *v = values_of(r, name), sum = 0, squares = 0;
    for (int k = 0; k < DRAWS; k++)
        sum += v[k];
    for (int k = 0; k < DRAWS; k++)
        squares += (v[k] - mean) * (v[k] - mean);
    fail_if(fabs(sum / DRAWS - mean) > 4 * sqrt(variance / DRAWS), "%s: mean %g, expected %g", name, sum / DRAWS, mean);
    fail_if(fabs(squares / DRAWS - variance) > 4 * sqrt((fourth - variance * variance) / DRAWS),
            "%s: variance %g, expected %g", name, squares / DRAWS, variance);
    free(v);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: sqrt(n) D stays below 1.63 with a probability of 99 %. */
static void assert_distribution(const RunResult *r, const char *name, double (*probability)(double))
{
    double *v = values_of(r, name), most = 0;
    qsort(v, DRAWS, sizeof *v, compare);
    for (int k = 0; k < DRAWS; k++) {
        const double p = probability(v[k]);
        most = fmax(most, fmax(fabs(p - (double)k / DRAWS), fabs(p - (double)(k + 1) / DRAWS)));
    }
    fail_if(most * sqrt(DRAWS) > 1.63, "%s: Kolmogorov-Smirnov %g", name, most * sqrt(DRAWS));
    free(v);
}

static double uniform(double x)
{
    return (x - 2) / 3;
}
static double exponential(double x)
{
    return 1 - exp(-x / 3);
}
static double normal(double x)
{
    return 0.5 * erfc(-(x - 10) / 2 / sqrt(2));
}
static double erlang(double x)
{
    const double y = x / 2;
    return 1 - exp(-y) * (1 + y + y * y / 2);
}
static double empirical(double x)
{
    return x < 1 ? 0.25 * x : 0.25 + 0.375 * (x - 1);
}

/* Moments: variance and fourth central moment of each distribution, by its textbook formula. */
static void distributions_are_what_they_say(void **state)
{
    (void)state;
    RunResult *r = run(SIMPLEX "Draws.mdl", "interp", DRAWS, NULL);
    assert_moments(r, "U", 3.5, 0.75, 81.0 / 80);
    assert_moments(r, "E", 3, 9, 9 * 81);
    assert_moments(r, "Z", 10, 4, 3 * 16);
    assert_moments(r, "R", 6, 12, (3 * 9 + 6 * 3) * 16.0);
    assert_moments(r, "V", 1, 1.0 / 6, 1.0 / 15);
    assert_distribution(r, "U", uniform);
    assert_distribution(r, "E", exponential);
    assert_distribution(r, "Z", normal);
    assert_distribution(r, "R", erlang);
    assert_distribution(r, "C", empirical);
    double *d = values_of(r, "D"), n1 = 0, n2 = 0, n7 = 0;
    for (int k = 0; k < DRAWS; k++)
        n1 += d[k] == 1, n2 += d[k] == 2, n7 += d[k] == 7;
    free(d);
    assert_true(n1 + n2 + n7 == DRAWS);
    const double e1 = 0.5 * DRAWS, e2 = 0.3 * DRAWS, e7 = 0.2 * DRAWS; /* chi square, 2 degrees: 13.82 at 0.1 % */
    assert_true((n1 - e1) * (n1 - e1) / e1 + (n2 - e2) * (n2 - e2) / e2 + (n7 - e7) * (n7 - e7) / e7 < 13.82);
    run_free(r);
}

static void set_seed(KoineModel *model)
{
    set_value(model, "seed", 7);
}

static double correlation(const double *a, const double *b, int n, double mean, double variance)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += (a[k] - mean) * (b[k] - mean);
    return sum / n / variance;
}

/* Two instances, two seeds: other numbers, not correlated (4 standard errors). */
static void streams_are_independent(void **state)
{
    (void)state;
    RunResult *r = run(SIMPLEX "TwoDraws.mdl", "interp", DRAWS, NULL);
    RunResult *seeded = run(SIMPLEX "TwoDraws.mdl", "interp", DRAWS, set_seed);
    double *a = values_of(r, "A.U"), *b = values_of(r, "B.U"), *c = values_of(seeded, "A.U");
    assert_true(fabs(correlation(a, b, DRAWS, 3.5, 0.75)) < 4 / sqrt(DRAWS));
    assert_true(fabs(correlation(a, c, DRAWS, 3.5, 0.75)) < 4 / sqrt(DRAWS));
    assert_true(fabs(correlation(a, a + 1, DRAWS - 1, 3.5, 0.75)) < 4 / sqrt(DRAWS)); /* with the number before */
    free(a), free(b), free(c);
    run_free(r);
    run_free(seeded);
}

static void numbers_are_the_same_in_every_tier(void **state)
{
    (void)state;
    RunResult *interp = run(SIMPLEX "TwoDraws.mdl", "interp", 50, set_seed);
    static const char *const tiers[] = { "tcc", "cc" };
    for (int t = 0; t < 2; t++) {
        RunResult *r = run(SIMPLEX "TwoDraws.mdl", tiers[t], 50, set_seed);
        assert_int_equal(r->n_rows, interp->n_rows);
        for (uint32_t k = 0; k < r->n_rows; k++)
            assert_memory_equal(r->rows[k].values, interp->rows[k].values, r->n_columns * sizeof(double));
        run_free(r);
    }
    run_free(interp);
}

/* M/M/1 with r = 1/2: mean number 1; the variance of its mean over the time t is 2 r (1 + r)/(1 - r)^4/t = 24/t for a
 * service of mean 1. Little: mean time in the system 2. */
static void queue_has_its_mean_length(void **state)
{
    (void)state;
    const double t = 20000;
    RunResult *r = run(KOINE_SOURCE_DIR "/examples/single-server/Server.mdl", "interp", t, NULL);
    assert_true(fabs(run_last(r, "MeanN") - 1) < 3 * sqrt(24 / t));
    assert_true(fabs(run_last(r, "Area") / run_last(r, "Served") - 2) < 3 * 2 * sqrt(24 / t));
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_uniform),
        cmocka_unit_test(generator_gives_its_published_numbers),
        cmocka_unit_test(distributions_are_what_they_say),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(numbers_are_the_same_in_every_tier),
        cmocka_unit_test(queue_has_its_mean_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
