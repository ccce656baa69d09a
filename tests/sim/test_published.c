/* Problems with published results, with every solver that controls its error (stiff ones with those for stiff models).
 *
 * End values of HIRES, OREGO and pollution: Mazzia, Magherini, Test Set for Initial Value Problem Solvers, release 2.4.
 * ARGESIM comparisons C1 (lithium clusters), C5 (two states), C7 (constrained pendulum): the values known of them. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/published/"

static const char *const all[] = {
    "auto",
    "dopri5",
    "dop853",
    "cvode-bdf",
    "cvode-adams",
    "ida",
    "arkode-erk",
    "arkode-dirk",
    "simplex-fehlberg",
    "simplex-rk4",
    "simplex-bulirsch-stoer",
    "simplex-gauss",
    "simplex-rosenbrock",
};
static const char *const stiff[] = { "auto",          "cvode-bdf", "ida", "arkode-dirk", "simplex-rosenbrock",
                                     "simplex-gauss", NULL };
static const char *const stiff_and_fine[] = { "auto", "cvode-bdf", "ida", "simplex-gauss", NULL };

static RunResult *run(const char *path, const char *solver, double stop, double tolerance)
{
    RunResult *const r = run_model(&(RunRequest){ .path = path,
                                                  .tier = "interp",
                                                  .solver = solver,
                                                  .stop = stop,
                                                  .interval = stop / 10,
                                                  .tolerance = tolerance });
    if (!r->is_compiled || r->report.end != KOINE_RUN_DONE)
        fail_msg("%s with %s at %g: %s", path, solver, tolerance, r->is_compiled ? r->report.text : r->messages);
    return r;
}

static void expect_within(double actual, double expected, double most, const char *what, const char *solver)
{
    if (!(fabs(actual - expected) <= most))
        fail_msg("%s with %s: %.12g, expected %.12g within %g", what, solver, actual, expected, most);
}

/* Every state, relative to its own value: 1,000 tolerances. */
static void expect_ends(const char *path, double stop, const double *ends, int n, const char *const *solvers,
                        double tolerance)
{
    for (; *solvers; solvers++) {
        RunResult *const r = run(path, *solvers, stop, tolerance);
        for (int k = 0; k < n; k++) {
            char name[16];
            snprintf(name, sizeof name, "Y%d", k + 1);
            expect_within(run_last(r, name), ends[k], 1000 * tolerance * ends[k], name, *solvers);
        }
        run_free(r);
    }
}

static void test_hires(void **state)
{
    static const double ends[] = { 0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
                                   0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
                                   0.2849998395185769e-2, 0.2850001604814231e-2 };
    (void)state;
    expect_ends(MODELS "Hires.mdl", 321.8122, ends, 8, stiff, 1e-6);
    expect_ends(MODELS "Hires.mdl", 321.8122, ends, 8, stiff_and_fine, 1e-9);
}

static void test_orego(void **state)
{
    static const double ends[] = { 0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3 };
    (void)state;
    expect_ends(MODELS "Orego.mdl", 360, ends, 3, stiff, 1e-6);
    expect_ends(MODELS "Orego.mdl", 360, ends, 3, stiff_and_fine, 1e-9);
}

/* Values from 0.3 down to 4e-18, which is found with the same relative error. */
static void test_pollution(void **state)
{
    static const double ends[] = { 0.5646255480022769e-1,  0.1342484130422339,    0.4139734331099427e-8,
                                   0.5523140207484359e-2,  0.2018977262302196e-6, 0.1464541863493966e-6,
                                   0.7784249118997964e-1,  0.3245075353396018,    0.7494013383880406e-2,
                                   0.1622293157301561e-7,  0.1135863833257075e-7, 0.2230505975721359e-2,
                                   0.2087162882798630e-3,  0.1396921016840158e-4, 0.8964884856898295e-2,
                                   0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3,
                                   0.1772146513969984e-5,  0.5682943292316392e-4 };
    static const char *const most[] = { "auto", "cvode-bdf", "ida", "arkode-dirk", "simplex-gauss", NULL };
    (void)state;
    expect_ends(MODELS "Pollution.mdl", 60, ends, 20, most, 1e-6);
    expect_ends(MODELS "Pollution.mdl", 60, ends, 20, stiff_and_fine, 1e-9);
}

static void test_lithium_clusters(void **state)
{
    (void)state;
    for (int k = 0; stiff[k]; k++) {
        RunResult *const r = run(MODELS "Lithium.mdl", stiff[k], 20, 1e-6);
        expect_within(run_at(r, "R", 10), 163.429869, 0.163, "R(10)", stiff[k]);
        expect_within(run_last(r, "R"), 61.872208, 0.062, "R(20)", stiff[k]);
        run_free(r);
    }
}

/* The switches lie at 1.108306167771131, 2.129685355154714, 3.054152906995719, 4.075532094379302, 4.999999646220308; the
 * last one is closer to the end than a tolerance of 1e-6 can tell. */
static void test_two_states(void **state)
{
    static const double switches[] = { 1.108306167771131, 2.129685355154714, 3.054152906995719, 4.075532094379302 };
    (void)state;
    for (int k = 0; stiff[k]; k++) {
        for (int j = 0; j < 4; j++) {
            RunResult *const r = run(MODELS "TwoState.mdl", stiff[k], switches[j] + 0.1, 1e-6);
            assert_int_equal((int)run_last(r, "N"), j + 1);
            expect_within(run_last(r, "Last"), switches[j], 1e-3, "switch", stiff[k]);
            run_free(r);
        }
        RunResult *const fine = run(MODELS "TwoState.mdl", stiff[k], 5, 1e-10);
        assert_int_equal((int)run_last(fine, "N"), 5);
        expect_within(run_last(fine, "Last"), 4.999999646220308, 1e-7, "last switch", stiff[k]);
        run_free(fine);
    }
}

static void test_constrained_pendulum(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-10; tolerance *= 1e-3) {
            RunResult *const r = run(MODELS "Pin.mdl", all[k], 10, tolerance);
            assert_int_equal((int)run_last(r, "N"), 8);
            expect_within(run_last(r, "Last"), 6.720384168, 1000 * tolerance, "last switch", all[k]);
            run_free(r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hires),      cmocka_unit_test(test_orego),
        cmocka_unit_test(test_pollution),  cmocka_unit_test(test_lithium_clusters),
        cmocka_unit_test(test_two_states), cmocka_unit_test(test_constrained_pendulum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
