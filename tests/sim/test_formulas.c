/* Small linear systems solved by formulas: where, with which values, and what is said where the parameters make them
 * singular. Values are compared with those of the whole system, solved numerically with pivots, and with closed
 * forms. */
#include "assertions.h"
#include "explain/figures.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define DYMOLA KOINE_SOURCE_DIR "/tests/sim/dymola/"

static char root[64], path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/koine-small-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(path, sizeof path, "%s/m.ir", root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(root);
}

static const char *write_model(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "koine-ir 1\nmodel m\n%send m\n", text);
    fclose(f);
    return path;
}

static CompileReport report_of(const char *file, const char *systems)
{
    Compilation *c = compilation_create(NULL);
    fail_if(!compilation_load(c, &(CompileRequest){ .path = file, .systems = systems }) || !compilation_schedule(c),
            "%s", diag_json(c->diag, c->arena));
    const CompileReport report = compile_report(c->schedule, c->program, c->arena);
    compilation_destroy(c);
    return report;
}

static void expect_formulas(const char *file, uint64_t formulas, uint64_t numeric)
{
    const CompileReport report = report_of(file, NULL);
    assert_int_equal(report.formula_systems, formulas);
    assert_int_equal(report.linear_systems, numeric);
    assert_int_equal(report_of(file, "torn").linear_systems, formulas + numeric);
    assert_int_equal(report_of(file, "torn").formula_systems, 0);
}

/* One to three unknowns after tearing: x' = A y(x) with y from full matrices of parameters, diagonally dominant. */
static const char *three_sizes(void)
{
    char text[4000] = "var x Real continuous der start 1.0 fixed\nvar z Real continuous der start 0.5 fixed\n";
    int n = (int)strlen(text);
    for (int size = 2; size <= 4; size++)
        for (int i = 0; i < size; i++) {
            n += snprintf(text + n, sizeof text - (size_t)n, "var y%d%d Real continuous now\neq e%d%d ", size, i, size,
                          i);
            for (int k = 0; k < size; k++)
                n +=
                    snprintf(text + n, sizeof text - (size_t)n, "%sp%d%d%d*y%d%d", k ? " + " : "", size, i, k, size, k);
            n += snprintf(text + n, sizeof text - (size_t)n, " = %s\n", i % 2 ? "z" : "x - 0.3*z");
            for (int k = 0; k < size; k++)
                n += snprintf(text + n, sizeof text - (size_t)n, "param p%d%d%d Real = %g\n", size, i, k,
                              i == k ? 4 + 0.5 * k : 0.4 * (i + 1) - 0.7 * (k + 1) + 0.05);
        }
    snprintf(text + n, sizeof text - (size_t)n,
             "eq a der(x) = -y20 - 0.5*y31 - y43\neq b der(z) = 0.1*y21 - y30 - y32 + y40 - 0.2*y41 + y42\n");
    return write_model(text);
}

static RunResult *whole;

static void check_same(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.linear_solves, 0);
    static const char *const names[] = { "x", "z", "y20", "y21", "y30", "y31", "y32", "y40", "y41", "y42", "y43" };
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int j = 0; j <= 4; j++)
            expect_near(run_at(r, names[k], 0.5 * j), run_at(whole, names[k], 0.5 * j), 1e-12);
}

static void change_parameters(KoineModel *model)
{
    set_value(model, "p200", 7);
    set_value(model, "p301", -1.25);
    set_value(model, "p422", 0.5);
}

/* With an explicit method of fixed step both ways make the same steps. */
static void test_ot055_one_to_three_unknowns(void **state)
{
    (void)state;
    expect_formulas(three_sizes(), 3, 0);
    for (int k = 0; k < 2; k++) {
        RunRequest request = { .path = path,
                               .solver = "rk4",
                               .step = 0.05,
                               .stop = 2,
                               .interval = 0.5,
                               .systems = "whole",
                               .prepare = k ? change_parameters : NULL };
        whole = run_model(&request);
        expect_done(whole);
        assert_true(whole->report.statistics.model.linear_solves > 0);
        request.systems = NULL;
        run_in_all_tiers(request, check_same);
        run_free(whole);
    }
}

/* A denominator that moves and is never 0: m1 + m2 sin(x)^2. p = 1/(0.5 + 2 sin(x)^2), q = 2 sin(x)^2 p. */
static void check_moving(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.linear_solves, 0);
    for (int j = 0; j <= 4; j++) {
        const double s = sin(run_at(r, "x", 0.25 * j)), p = 1 / (0.5 + 2 * s * s);
        expect_near(run_at(r, "p", 0.25 * j), p, 1e-14);
        expect_near(run_at(r, "q", 0.25 * j), 2 * s * s * p, 1e-14);
    }
}

static void test_ot055_a_denominator_that_is_never_zero(void **state)
{
    (void)state;
    write_model("param m1 Real = 0.5\nparam m2 Real = 2.0\nvar x Real continuous der start 0.0 fixed\n"
                "var p Real continuous now\nvar q Real continuous now\neq a der(x) = p\n"
                "eq b q = m2*sin(x)*sin(x)*p\neq c m1*p = 1.0 - q\n");
    expect_formulas(path, 1, 0);
    run_in_all_tiers((RunRequest){ .path = path, .stop = 1, .interval = 0.25, .tolerance = 1e-8 }, check_moving);
}

/* Numeric where the position of a switch would be divided by, a variable that may pass 0, or parameters that cancel. */
static void test_ot055_what_may_vanish_stays_numeric(void **state)
{
    (void)state;
    expect_formulas(DYMOLA "switched.dym", 0, 1);
    expect_formulas(write_model("var x Real continuous der start 1.0 fixed\nvar a Real continuous now\n"
                                "var b Real continuous now\neq e1 der(x) = a\neq e2 a + b = 1.0\neq e3 a = x*b\n"),
                    0, 1);
    expect_formulas(write_model("param r Real = 0.1\nparam s Real = 0.3\nvar x Real continuous der start 1.0 fixed\n"
                                "var a Real continuous now\nvar b Real continuous now\neq e1 der(x) = a\n"
                                "eq e2 b = x + 3.0*r*a\neq e3 b = 1.0 + s*a\n"),
                    0, 1);
}

/* ---- parameters that make it singular ---- */
static void expect_failure(void (*prepare)(KoineModel *model), const char *systems, const char *text)
{
    RunResult *r =
        run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 1, .systems = systems, .prepare = prepare });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_int_equal(r->n_rows, 0);
    fail_if(!strstr(r->report.text, text), "%s", r->report.text);
    run_free(r);
}

static void opposite_capacitors(KoineModel *model)
{
    set_value(model, "C2", -2);
}

static void test_ot055_singular_by_parameters(void **state)
{
    (void)state;
    write_model("param C1 Real = 2.0\nparam C2 Real = 3.0\nvar x Real continuous der start 1.0 fixed\n"
                "var i1 Real continuous now\nvar i2 Real continuous now\nvar d Real continuous now\n"
                "eq e1 der(x) := d\neq e2 i1 = C1*d\neq e3 i2 = C2*d\neq e4 i1 + i2 = x\n");
    expect_formulas(path, 1, 0);
    expect_failure(opposite_capacitors, NULL,
                   "m.ir:10:1: with these parameters the linear equations have no unique solution, component m; not "
                   "determined: i2, i1, d; depend on each other: the equations ");
    expect_failure(opposite_capacitors, "torn", "the linear equations have no unique solution");
}

/* ---- parameters that are changed on the way ---- */
static void other_capacitor(KoineModel *model)
{
    set_value(model, "C2", -1);
    set_value(model, "J", 3);
}

/* x' = x/(C1 + C2), which is 5, then 1; a = x/(C1 + J/m/m), with a divisor that is a parameter of its own. */
static void check_changed(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.linear_solves, 0);
    expect_near(run_at(r, "x", 2), exp(0.2) * exp(1), 1e-7);
    expect_near(run_at(r, "d", 2), run_at(r, "x", 2), 1e-12);
    expect_near(run_at(r, "a", 2), run_at(r, "x", 2) / 2.75, 1e-12);
}

static void test_ot055_parameters_of_a_continued_run(void **state)
{
    (void)state;
    write_model("param C1 Real = 2.0\nparam C2 Real = 3.0\nparam J Real = 8.0\nparam m Real = 2.0\n"
                "var x Real continuous der start 1.0 fixed\nvar i1 Real continuous now\nvar i2 Real continuous now\n"
                "var d Real continuous now\nvar a Real continuous now\nvar t Real continuous now\n"
                "eq e1 der(x) := d\neq e2 i1 = C1*d\neq e3 i2 = C2*d\neq e4 i1 + i2 = x\n"
                "eq e5 t = J*a/m/m\neq e6 C1*a = x - t\n");
    expect_formulas(path, 2, 0);
    RunRequest request = {
        .path = path, .stop = 2, .interval = 0.5, .tolerance = 1e-9, .pause = 1, .between = other_capacitor
    };
    run_in_all_tiers(request, check_changed);
    request.between = opposite_capacitors;
    RunResult *r = run_model(&request);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text, "with these parameters the linear equations have no unique solution"), "%s",
            r->report.text);
    expect_near(r->report.time, 1, 1e-12);
    run_free(r);
}

/* Singular up to rounding: 0.1 + 0.2 - 0.3 is 5.6e-17. */
static void cancelling(KoineModel *model)
{
    set_value(model, "c", -0.3);
}

static void test_ot055_singular_but_for_rounding(void **state)
{
    (void)state;
    write_model("param a Real = 0.1\nparam b Real = 0.2\nparam c Real = 0.3\n"
                "var x Real continuous der start 1.0 fixed\nvar u Real continuous now\nvar v Real continuous now\n"
                "eq e1 der(x) := u\neq e2 v = (a + b)*u\neq e3 v + c*u = x\n");
    expect_formulas(path, 1, 0);
    expect_failure(cancelling, NULL, "with these parameters the linear equations have no unique solution");
}

static void no_gear(KoineModel *model)
{
    set_value(model, "i", 0);
}

static void check_without_gear(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "a1"), 0, 1e-12); /* a1 = i a2 */
}

/* An explicit row divides by the parameter, the system as a whole does not need to. */
static void test_ot055_a_parameter_that_is_divided_by(void **state)
{
    (void)state;
    RunRequest request = { .path = DYMOLA "drive.dym", .stop = 1, .interval = 1, .prepare = no_gear };
    RunResult *r = run_model(&request);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text,
                    "drive.dym:8:3: these linear equations are solved by formulas that divide by parameters; "
                    "with these values it is a division by 0: --systems whole does without"),
            "%s", r->report.text);
    run_free(r);
    request.systems = "whole";
    run_in_all_tiers(request, check_without_gear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot055_one_to_three_unknowns),
        cmocka_unit_test(test_ot055_a_denominator_that_is_never_zero),
        cmocka_unit_test(test_ot055_what_may_vanish_stays_numeric),
        cmocka_unit_test(test_ot055_singular_by_parameters),
        cmocka_unit_test(test_ot055_parameters_of_a_continued_run),
        cmocka_unit_test(test_ot055_singular_but_for_rounding),
        cmocka_unit_test(test_ot055_a_parameter_that_is_divided_by),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
