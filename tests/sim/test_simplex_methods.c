/* The six integration methods of SIMPLEX on models in MDL, in every tier. Expected values: closed forms, and the
 * document's table of the RC circuit. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/simplex/methods/"
#define RUNS   KOINE_SOURCE_DIR "/tests/sim/simplex/runs/"

enum { METHODS = 6, TIERS = 3 };
static const char *const methods[METHODS] = { "simplex-euler",          "simplex-rk4",
                                              "simplex-fehlberg",       "simplex-gauss",
                                              "simplex-bulirsch-stoer", "simplex-rosenbrock" };
static const char *const tiers[TIERS] = { "interp", "tcc", "cc" };

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static RunResult *run(const char *path, int method, double tolerance, double stop, double interval)
{
    RunResult *r = run_model(&(RunRequest){ .path = path,
                                            .solver = methods[method],
                                            .tolerance = tolerance,
                                            .step = 0.01,
                                            .stop = stop,
                                            .interval = interval });
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s: %s", methods[method], r->report.text);
    return r;
}

/* The document, L1043: t [s], u [V], uR [V], uC [V], i [mA]; two decimals, currents from 9 mA on with one. */
static const double table[][5] = {
    { 0, 9.40, 9.40, 0.00, 20.00 },     { 0.025, 9.43, 8.94, 0.49, 19.00 }, { 0.05, 9.46, 8.51, 0.95, 18.10 },
    { 0.075, 9.48, 8.09, 1.39, 17.20 }, { 0.1, 9.51, 7.70, 1.81, 16.40 },   { 0.2, 9.60, 6.30, 3.30, 13.40 },
    { 0.3, 9.67, 5.16, 4.51, 11.00 },   { 0.4, 9.73, 4.22, 5.51, 9.00 },    { 0.5, 9.78, 3.46, 6.32, 7.36 },
    { 0.6, 9.82, 2.83, 6.99, 6.02 },    { 0.7, 9.85, 2.32, 7.53, 4.93 },    { 0.8, 9.88, 1.90, 7.98, 4.04 },
    { 0.9, 9.90, 1.55, 8.35, 3.31 },    { 1.0, 9.92, 1.27, 8.65, 2.71 },
};

static void compare_with_table(const RunResult *r, int method)
{
    const double error = method == 0 ? 2e-3 : 1e-6; /* of the method; the rest is rounding of the table */
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        const double t = table[k][0], digit = table[k][4] < 9 ? 0.01 : 0.1;
        assert_near(run_at(r, "u", t), table[k][1], 0.005 + error);
        assert_near(run_at(r, "uR", t), table[k][2], 0.005 + error);
        assert_near(run_at(r, "uC", t), table[k][3], 0.005 + error);
        assert_near(1e3 * run_at(r, "i", t), table[k][4], 0.5 * digit + 10 * error);
        assert_near(run_at(r, "uC", t), 10 * (1 - exp(-2 * t)), error);
    }
}

static void test_sx075_sx083_rc_circuit(void **state)
{
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        const double tolerance = method == 0 ? 1e-7 : 1e-8;
        RunResult *r = run(MODELS "RCuC.mdl", method, tolerance, 1, 0.025);
        compare_with_table(r, method);
        run_free(r);
        r = run(MODELS "RCqC.mdl", method, tolerance, 1, 0.025);
        compare_with_table(r, method);
        run_free(r);
    }
}

static void test_sx082_time_inside_a_step(void **state)
{
    (void)state;
    RunResult *r = run(MODELS "Rampe.mdl", 1, 1e-6, 3, 0.3);
    for (int k = 0; k <= 10; k++)
        assert_near(run_at(r, "z", 0.3 * k), 0.5 * 0.3 * k * 0.3 * k, 1e-14);
    run_free(r);
}

/* x = exp(-d t)*(cos w t + d/w sin w t), d = k/(2m) = 0.2, w^2 = D/m - d^2 = 8.96 */
static void test_sx084_damped_oscillator(void **state)
{
    const double d = 0.2, w = sqrt(8.96);
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        const double tolerance = method == 0 ? 1e-6 : 1e-8;
        RunResult *r = run(MODELS "Schwing.mdl", method, tolerance, 5, 0.5);
        for (int k = 0; k <= 10; k++) {
            const double t = 0.5 * k;
            assert_near(run_at(r, "x", t), exp(-d * t) * (cos(w * t) + d / w * sin(w * t)), method == 0 ? 1e-2 : 1e-6);
        }
        run_free(r);
    }
}

/* d*X - b*ln X + c*Y - a*ln Y keeps its value along every solution. */
static void test_sx084_lotka_volterra(void **state)
{
    const double at_start = 0.25 * 6 - log(6) + 0.5 * 2 - 1.5 * log(2);
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        const double tolerance = method == 0 ? 1e-6 : 1e-8;
        RunResult *r = run(MODELS "Beute.mdl", method, tolerance, 15, 0.5);
        for (int k = 0; k <= 30; k++) {
            const double x = run_at(r, "X", 0.5 * k), y = run_at(r, "Y", 0.5 * k);
            assert_near(0.25 * x - log(x) + 0.5 * y - 1.5 * log(y), at_start, method == 0 ? 3e-2 : 2e-6);
        }
        run_free(r);
    }
}

/* Exact Jacobians from the compiled model; closed forms exp(-t), exp(-2t). */
static void test_sx078_stiff_model(void **state)
{
    static const int implicit[] = { 3, 5 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        RunResult *r = run(MODELS "Steif.mdl", implicit[k], 1e-6, 4, 1);
        assert_near(run_last(r, "x"), exp(-4.0), 1e-5);
        assert_near(run_last(r, "y"), exp(-8.0), 1e-5);
        assert_true(r->report.statistics.integration.steps < 400);
        assert_true(r->report.statistics.integration.jacobians > 0);
        run_free(r);
    }
}

/* Events found inside the steps of every method: the models and values of test_simplex_runs.c. */
static void test_sx075_events_by_every_method(void **state)
{
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        RunResult *r = run(RUNS "Kreuz.mdl", method, 1e-6, 9, 9);
        assert_near(run_last(r, "kurz"), 1, 0);
        assert_near(run_last(r, "nahe"), 1, 0);
        assert_near(run_last(r, "erst"), 1, 0);
        assert_near(run_last(r, "zweit"), 2, 0);
        run_free(r);
        r = run(RUNS "Sprung.mdl", method, 1e-6, 5, 0.25);
        assert_near(run_last(r, "n"), 4, 0);
        assert_near(run_last(r, "x"), 2, 1e-8);
        run_free(r);
    }
}

/* The same bits in every tier. */
static void test_tiers_agree_with_every_method(void **state)
{
    (void)state;
    for (int tier = 1; tier < TIERS; tier++)
        for (int method = 0; method < METHODS; method++) {
            RunRequest request = {
                .path = MODELS "Beute.mdl", .solver = methods[method], .tolerance = 1e-4, .stop = 5, .interval = 0.5
            };
            RunResult *a = run_model(&request);
            request.tier = tiers[tier];
            RunResult *b = run_model(&request);
            assert_int_equal(a->n_rows, b->n_rows);
            assert_int_equal(a->n_columns, b->n_columns);
            for (uint32_t k = 0; k < a->n_rows; k++)
                assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
            assert_int_equal(a->report.statistics.integration.steps, b->report.statistics.integration.steps);
            run_free(a);
            run_free(b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx075_sx083_rc_circuit),
        cmocka_unit_test(test_sx082_time_inside_a_step),
        cmocka_unit_test(test_sx084_damped_oscillator),
        cmocka_unit_test(test_sx084_lotka_volterra),
        cmocka_unit_test(test_sx078_stiff_model),
        cmocka_unit_test(test_sx075_events_by_every_method),
        cmocka_unit_test(test_tiers_agree_with_every_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
