/* Problems of the literature's test sets with published end values, written in Dymola.
 *
 * Data and reference values: Test Set for IVP Solvers (Mazzia and Magherini, University of Bari, release 2.4), computed
 * there with tolerances of 1e-14 or so unless said otherwise; each value here to all printed digits. An error of a hundred
 * times the tolerance is allowed: what accumulates over the run. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/dae/"

typedef struct {
    const char *name;
    double value;
} EndValue;

typedef struct {
    RunRequest run;
    double error; /* allowed, relative to the larger of the value and `scale` */
    double scale;
    uint32_t n;
    const EndValue *end;
} Problem;

static const Problem *checked;

static void check_end(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < checked->n; k++) {
        const double expected = checked->end[k].value, value = run_last(r, checked->end[k].name);
        const double size = fmax(fabs(expected), checked->scale);
        if (!(fabs(value - expected) <= checked->error * size))
            print_error("%s is %.16g, published %.16g\n", checked->end[k].name, value, expected);
        expect_near(value, expected, checked->error * size);
    }
}

static void run_problem(const Problem *problem)
{
    checked = problem;
    run_in_all_tiers(problem->run, check_end);
}

/* Rates over nine decades, the end at 1e11: y2 has decayed to 1e-13, so the absolute tolerance must be below that. */
static void test_robertson(void **state)
{
    (void)state;
    static const EndValue end[] = { { "y1", 0.2083340149701255e-7 },
                                    { "y2", 0.8333360770334713e-13 },
                                    { "y3", 0.9999999791665050 } };
    run_problem(&(Problem){
        { .path = HERE "robertson.dym", .stop = 1e11, .interval = 1e11, .tolerance = 1e-13 }, 1e-6, 0, 3, end });
}

static void test_akzo_nobel(void **state)
{
    (void)state;
    static const EndValue end[] = { { "y1", 0.1150794920661702 },    { "y2", 0.1203831471567715e-2 },
                                    { "y3", 0.1611562887407974 },    { "y4", 0.3656156421249283e-3 },
                                    { "y5", 0.1708010885264404e-1 }, { "y6", 0.4873531310307455e-2 } };
    run_problem(
        &(Problem){ { .path = HERE "akzo.dym", .stop = 180, .interval = 180, .tolerance = 1e-10 }, 1e-8, 0, 6, end });
}

/* The capacitors carry what the published start values of the nodes say: 0 3 3 6 3 3 6 0 V. */
static void charge_amplifier(KoineModel *model)
{
    set_value(model, "C1.u", -3);
    set_value(model, "C2.u", 3);
    set_value(model, "C3.u", 3);
    set_value(model, "C4.u", 3);
    set_value(model, "C5.u", 6);
}

static void test_transistor_amplifier(void **state)
{
    (void)state;
    static const EndValue end[] = { { "y1", -0.5562145012262709e-2 }, { "y2", 3.006522471903042 },
                                    { "y3", 2.849958788608128 },      { "y4", 2.926422536206241 },
                                    { "y5", 2.704617865010554 },      { "y6", 2.761837778393145 },
                                    { "y7", 4.770927631616772 },      { "y8", 1.236995868091548 } };
    run_problem(&(Problem){
        { .path = HERE "amplifier.dym", .stop = 0.2, .interval = 0.2, .tolerance = 1e-7, .prepare = charge_amplifier },
        1e-5,
        0.1,
        8,
        end });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_robertson),
        cmocka_unit_test(test_akzo_nobel),
        cmocka_unit_test(test_transistor_amplifier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
