/* Iteration formulas, rings of dependents, and functions outside their domain, in every tier. Expected values are
 * closed forms; COS(y) = y has the solution 0.7390851332151607 and COS(y) + 1 = y the solution 1.2834287417457700 (both
 * by Newton's method with 30 digits). */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ITERATION KOINE_SOURCE_DIR "/tests/sim/simplex/iteration/"
#define DOMAIN    KOINE_SOURCE_DIR "/tests/sim/simplex/domain/"
static const char *const tiers[] = { "interp", "tcc", "cc" };

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.17g, expected %.17g within %g", actual, expected, tolerance);
}

/* message NULL: the run must reach its end, else it fails with this in its text. */
static void in_all_tiers(RunRequest request, const char *message, void (*check)(const RunResult *r))
{
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        request.tier = tiers[k];
        RunResult *r = run_model(&request);
        fail_if(!r->is_compiled, "%s", r->messages);
        fail_if(message ? !strstr(r->report.text, message) : r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
        if (check)
            check(r);
        if (!first) {
            first = r;
            continue;
        }
        assert_int_equal(first->n_rows, r->n_rows);
        for (uint32_t j = 0; j < r->n_rows; j++)
            assert_memory_equal(first->rows[j].values, r->rows[j].values, r->n_columns * sizeof(double));
        run_free(r);
    }
    run_free(first);
}

/* ---- static relations ---- */
static void no_event(KoineModel *model)
{
    set_value(model, "n", 1);
}

static void check_sorted(const RunResult *r)
{
    assert_near(run_last(r, "y1"), 3, 0);
    assert_near(run_last(r, "y2"), 15, 0);
    assert_near(run_last(r, "y3"), 18, 0);
}

/* Spec 5.3: z1 changes from 1 to 2. Sorted, y1, y2 and y3 are evaluated once each; the fourth evaluation is that of the
 * event's condition. (The document's 9 and 4 are for repetition in the order of the text, without and with marks.) */
static void test_sx066_three_evaluations(void **state)
{
    (void)state;
    uint64_t evaluations[2];
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = ITERATION "Statisch.mdl", .stop = 1, .interval = 1, .prepare = k ? no_event : NULL });
        assert_int_equal(r->report.end, KOINE_RUN_DONE);
        evaluations[k] = r->report.statistics.model.node_evaluations;
        run_free(r);
    }
    assert_int_equal(evaluations[0] - evaluations[1], 3 + 1);
    in_all_tiers((RunRequest){ .path = ITERATION "Statisch.mdl", .stop = 1, .interval = 1 }, NULL, check_sorted);
}

/* ---- iteration formulas ---- */
static void check_root(const RunResult *r)
{
    assert_near(run_at(r, "w", 0), sqrt(2), 1e-15);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = r->rows[k].values[run_column(r, "x")], y = r->rows[k].values[run_column(r, "y")];
        const double t = r->rows[k].time;
        assert_near(y, sqrt(x), 1e-10 * sqrt(x));
        assert_near(x, (1 + t / 2) * (1 + t / 2), 1e-8 * x);
    }
    const KoineModelStatistics *s = &r->report.statistics.model;
    assert_true(s->iterations > 10 && s->iteration_cycles > s->iterations && s->most_cycles >= 5 &&
                s->most_cycles < 10);
}

static void test_sx067_square_root(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = ITERATION "Wurzel.mdl", .stop = 5, .interval = 0.5, .tolerance = 1e-10 }, NULL,
                 check_root);
    in_all_tiers((RunRequest){ .path = ITERATION "Wurzel.mdl",
                               .stop = 5,
                               .interval = 0.5,
                               .tolerance = 1e-11,
                               .solver = "cvode-bdf" }, /* with the derivative of the iterated value */
                 NULL, check_root);
}

static void check_ring(const RunResult *r)
{
    assert_near(run_at(r, "y", 0), 0.7390851332151607, 1e-9);
    assert_near(run_at(r, "a", 0), 0.7390851332151607, 1e-9);
    assert_near(run_last(r, "y"), 1.2834287417457700, 1e-9);
    assert_near(run_at(r, "k", 0), 0, 0);
    assert_near(run_last(r, "k"), 0, 0); /* IDIV (0 + 1, 2) */
}

static void test_sx067_rings_with_a_formula(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = ITERATION "Ring.mdl", .stop = 2, .interval = 1 }, NULL, check_ring);
}

/* h is halved in each cycle, from 1: 2^-47 = 7.1E-15 is the first change below Eps*1E-4 = 1E-14. */
static void check_zero(const RunResult *r)
{
    assert_near(run_at(r, "h", 0), 0, 1e-14);
    assert_true(r->report.statistics.model.most_cycles <= 50);
}

static void test_sx069_a_series_that_tends_to_zero_ends(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = ITERATION "Ring.mdl", .stop = 2, .interval = 1 }, NULL, check_zero);
}

/* ---- rings that do not settle ---- */
static void check_endless(const RunResult *r)
{
    assert_near(r->report.fault.time, 2, 0);
}

static void test_sx068_too_many_cycles(void **state)
{
    (void)state;
    in_all_tiers(
        (RunRequest){ .path = ITERATION "Endlos.mdl", .stop = 5, .interval = 1 },
        "Endlos.mdl:6:3: the iteration does not settle within 50 cycles (MaxCyc); last values: y = 7.50599938e+14, "
        "component Endlos (at time 2)",
        check_endless);
    in_all_tiers((RunRequest){ .path = ITERATION "Nicht.mdl", .stop = 5, .interval = 1 },
                 "Nicht.mdl:5:3: the iteration does not settle within 50 cycles (MaxCyc); last values: a = false, "
                 "component Nicht (at time 0)",
                 NULL);
}

/* Set at 0, kept at 1, reset at 2, kept at 3, set at 4. */
static void check_latch(const RunResult *r)
{
    static const double q[] = { 1, 1, 0, 0, 1 };
    for (int k = 0; k < 5; k++) {
        assert_near(run_at(r, "Q", k), q[k], 0);
        assert_near(run_at(r, "P", k), !q[k], 0);
    }
}

static void test_sx068_a_latch_settles(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = ITERATION "Nor.mdl", .stop = 5, .interval = 1 }, NULL, check_latch);
}

/* ---- functions outside their domain ---- */
static int chosen;
static void choose(KoineModel *model)
{
    set_value(model, "was", chosen);
}

static void test_sx059_functions_name_their_argument(void **state)
{
    (void)state;
    static const char *const messages[] = {
        ":17:5: logarithm of a number that is not positive: log(0.0) (in the assignment to s), component Fehler (at "
        "time 1)",
        ":7:17: square root of a negative number: sqrt(a) with a = -2 (in the equation of y), component Fehler (at "
        "time 0)",
        ":8:20: square root of a negative number: sqrt(a) with a = -1 (in the equation of y), component Fehler (at "
        "time 0)",
        ":9:20: logarithm of a number that is not positive: log(a) with a = 0 (in the equation of y), component Fehler "
        "(at time 0)",
        ":10:20: division by zero or overflow: 1.0/(a - 1.0) with a = 1 (in the equation of y), component Fehler (at "
        "time 0)",
        ":11:20: argument outside -1 .. 1: asin(a) with a = 2 (in the equation of y), component Fehler (at time 0)",
        ":12:20: overflow: exp(300.0*a) with a = 3 (in the equation of y), component Fehler (at time 0)",
        ":13:20: argument outside -1 .. 1: acos(a) with a = 4 (in the equation of y), component Fehler (at time 0)",
    };
    for (chosen = 0; chosen < 8; chosen++)
        in_all_tiers((RunRequest){ .path = DOMAIN "Fehler.mdl", .stop = 2, .interval = 1, .prepare = choose },
                     messages[chosen], NULL);
}

/* x = 1 - t leaves the domain of SQRT behind t = 1; the path is that of the instance. */
static void test_sx059_the_instance_and_the_time(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = DOMAIN "Paar.mdl", .stop = 2, .interval = 0.25 },
                 "Wurzeln.mdl:6:3: square root of a negative number: sqrt(Links.x) with Links.x = -0.2", NULL);
    in_all_tiers((RunRequest){ .path = DOMAIN "Paar.mdl", .stop = 2, .interval = 0.25 },
                 "(in the equation of Links.y), component Links (at time 1.25)", NULL);
}

/* y' falls to x = 0, where the region ends: with y = SQRT x the way takes 2 - 2 ln 2, then x falls as 1. */
static void check_safe(const RunResult *r)
{
    const double end = 2 - 2 * log(2);
    assert_near(run_last(r, "x"), end - 2, 1e-5);
    assert_near(run_last(r, "y"), 0, 0);
}

static void test_sx059_a_region_is_no_error(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = DOMAIN "Sicher.mdl", .stop = 2, .interval = 0.25, .tolerance = 1e-8 }, NULL,
                 check_safe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx066_three_evaluations),
        cmocka_unit_test(test_sx067_square_root),
        cmocka_unit_test(test_sx067_rings_with_a_formula),
        cmocka_unit_test(test_sx069_a_series_that_tends_to_zero_ends),
        cmocka_unit_test(test_sx068_too_many_cycles),
        cmocka_unit_test(test_sx068_a_latch_settles),
        cmocka_unit_test(test_sx059_functions_name_their_argument),
        cmocka_unit_test(test_sx059_the_instance_and_the_time),
        cmocka_unit_test(test_sx059_a_region_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
