/* Nonlinear systems: what is solved, how, in all tiers, and how failures are explained. Models are written here, as
 * text of the common representation; expected values are closed forms, or the equations themselves. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];

/* The lines of a model between head and end, in a file; `path` names it. */
static void write_model(const char *lines)
{
    snprintf(path, sizeof path, "/tmp/koine-newton-%d.ir", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "koine-ir 1\nmodel m\n%send m\n", lines);
    fclose(file);
}

static RunResult *solve(const char *lines)
{
    write_model(lines);
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 0 });
    unlink(path);
    return r;
}

static void expect_solution(const char *lines, const char *name, double value, double tolerance)
{
    RunResult *r = solve(lines);
    expect_done(r);
    expect_near(run_last(r, name), value, tolerance);
    run_free(r);
}

/* The failure, without the place at its beginning and the time at its end. */
static void expect_failed(const char *lines, const char *text)
{
    RunResult *r = solve(lines);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text, text), "%s", r->report.text);
    run_free(r);
}

/* ---- OT-058: Newton with Broyden's updates inside the right side ---- */
#define OT058                                                                                                          \
    "var x Real continuous der start 1.0 fixed\n"                                                                      \
    "var a Real continuous now start 1.0\nvar b Real continuous now\n"                                                 \
    "var c Real continuous now\nvar d Real continuous now\n"                                                           \
    "eq e1 a + 0.2*exp(b) = x\neq e2 b + 0.3*sin(c) = a*x\neq e3 c + 0.1*d*d*d = b\neq e4 d + 0.2*cos(a) = c\n"        \
    "eq e5 der(x) = -d - x\n"

static void check_updates(const RunResult *r)
{
    expect_done(r);
    const KoineModelStatistics *done = &r->report.statistics.model;
    assert_true(done->newton_updates > done->newton_iterations); /* more steps by updates than by Jacobians */
    assert_true(done->newton_iterations < 2 * r->report.statistics.integration.evaluations);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values;
        const double x = v[run_column(r, "x")], a = v[run_column(r, "a")], b = v[run_column(r, "b")],
                     c = v[run_column(r, "c")], d = v[run_column(r, "d")];
        expect_near(a + 0.2 * exp(b), x, 1e-11);
        expect_near(b + 0.3 * sin(c), a * x, 1e-11);
        expect_near(c + 0.1 * d * d * d, b, 1e-11);
        expect_near(d + 0.2 * cos(a), c, 1e-11);
    }
}

static void test_ot058_newton_with_updates_in_the_right_side(void **state)
{
    (void)state;
    write_model(OT058);
    run_in_all_tiers(
        (RunRequest){
            .path = path, .stop = 2, .interval = 0.1, .tolerance = 1e-8, .solver = "dopri5", .systems = "whole" },
        check_updates);
    unlink(path);
}

/* C7: a run that wants less gets less. */
static void test_c7_tolerance_follows_the_run(void **state)
{
    (void)state;
    uint64_t work[2];
    for (int k = 0; k < 2; k++) {
        write_model(OT058);
        RunResult *r = run_model(&(RunRequest){ .path = path,
                                                .stop = 2,
                                                .interval = 0.1,
                                                .tolerance = k ? 1e-9 : 1e-5,
                                                .solver = "rk4",
                                                .step = 0.01,
                                                .systems = "whole" });
        expect_done(r);
        work[k] = r->report.statistics.model.newton_updates + r->report.statistics.model.newton_iterations;
        run_free(r);
        unlink(path);
    }
    assert_true(work[0] < work[1]);
}

/* ---- what a full step would miss ---- */
/* log(w) + w = 0 has the solution 0.5671432904097838, Lambert's W(1); the first full step from 5 leads to a negative
 * w. */
static void test_a_trial_without_value_shortens_the_step(void **state)
{
    (void)state;
    expect_solution("var w Real continuous now start 5.0\neq e1 log(w) + w = 0.0\n", "w", 0.5671432904097838, 1e-14);
}

/* atan(z) = 0.5: full steps from 10 run away. The sine keeps it from being solved by symbols; checked by bisection. */
static void test_full_steps_that_run_away(void **state)
{
    (void)state;
    double low = 0, high = 1;
    for (int k = 0; k < 100; k++) {
        const double z = 0.5 * (low + high);
        *(atan(z) + 0.01 * sin(z) < 0.5 ? &low : &high) = z;
    }
    expect_solution("var z Real continuous now start 10.0\neq e1 atan(z) + 0.01*sin(z) = 0.5\n", "z", low, 1e-14);
}

/* Badly scaled (Powell): 1.0981593296997323e-5 and 9.106146739866961, the values of the literature. */
static void test_badly_scaled_equations(void **state)
{
    (void)state;
    RunResult *r = solve("var a Real continuous now start 0.0\nvar b Real continuous now start 1.0\n"
                         "eq e1 10000.0*a*b = 1.0\neq e2 exp(-a) + exp(-b) = 1.0001\n");
    expect_done(r);
    expect_near(run_last(r, "a"), 1.0981593e-5, 1e-11);
    expect_near(run_last(r, "b"), 9.1061467, 1e-6);
    run_free(r);
}

/* Powell's singular function: the Jacobian has rank 2 at the solution 0. */
static void test_singular_at_the_solution(void **state)
{
    (void)state;
    RunResult *r = solve("var a Real continuous now start 3.0\nvar b Real continuous now start -1.0\n"
                         "var c Real continuous now start 0.0\nvar d Real continuous now start 1.0\n"
                         "eq e1 a + 10.0*b = 0.0\neq e2 sqrt(5.0)*(c - d) = 0.0\n"
                         "eq e3 (b - 2.0*c)*(b - 2.0*c) = 0.0\neq e4 (a - d)*(a - d) = 0.0\n");
    expect_done(r);
    expect_near(run_last(r, "a"), 0, 1e-7);
    expect_near(run_last(r, "d"), 0, 1e-7);
    run_free(r);
    expect_solution("var y Real continuous now start 3.0\neq e1 y*y - 2.0*y + 1.0 = 0.0\n", "y", 1, 1e-6);
}

static void test_two_solutions_the_start_value_decides(void **state)
{
    (void)state;
    expect_solution("var y Real continuous now start 1.0\neq e1 y*y = 4.0\n", "y", 2, 1e-15);
    expect_solution("var y Real continuous now start -1.0\neq e1 y*y = 4.0\n", "y", -2, 1e-15);
}

/* (y + 1)(y - 2)(y - 5): from 3.5 the first step leads far below 0, to -1; a variable that is never negative stays. */
#define CUBIC "eq e1 y*y*y - 6.0*y*y + 3.0*y + 10.0 = 0.0\n"
static void test_bounds_are_hints(void **state)
{
    (void)state;
    expect_solution("var y Real continuous now start 3.99\n" CUBIC, "y", 5, 1e-13);
    expect_solution("var y Real continuous now start 3.5\n" CUBIC, "y", -1, 1e-14);
    expect_solution("var y Real continuous now start 3.5 min 0.0\n" CUBIC, "y", 2, 1e-14);
    expect_solution("var y Real continuous now start 3.0 max 1.0\neq e1 y*y = 4.0\n", "y", 2,
                    1e-15); /* no more than hints */
}

/* ---- what else is tried ---- */
/* Where all unknowns are 0 the Jacobian of y^2 = 4 is 0; Newton's method for y^3 - 2y + 2 jumps between 0 and 1. */
static void test_search_beside_the_start_values(void **state)
{
    (void)state;
    expect_solution("var y Real continuous now\neq e1 y*y = 4.0\n", "y", 2, 1e-15);
    expect_solution("var y Real continuous now start 0.0\neq e1 y*y*y - 2.0*y + 2.0 = 0.0\n", "y", -1.7692923542386314,
                    1e-14);
}

/* Found among random systems; there is a solution near 1.34, 1.14: the equations are checked. */
static void check_kinsol(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.solved_by_kinsol, 1);
    const double a = run_last(r, "a"), b = run_last(r, "b");
    expect_near(1.862 * atan(a) + 0.146 * sin(b), 1.7962004571830743, 1e-12);
    expect_near(-0.839 * sin(a) * a - 1.417 * (b * b * b) * a, -3.5315835508591826, 1e-12);
}

static void test_search_by_kinsol(void **state)
{
    (void)state;
    write_model("var a Real continuous now start 4.166110526454919\n"
                "var b Real continuous now start -0.585546948177524\n"
                "eq e0 1.862*atan(a) + 0.146*sin(b) = 1.7962004571830743\n"
                "eq e1 -0.839*sin(a)*a - 1.417*(b*b*b)*a = -3.5315835508591826\n");
    run_in_all_tiers((RunRequest){ .path = path, .stop = 0 }, check_kinsol);
    unlink(path);
}

/* Freudenstein and Roth: a descent from (0.5, -2) ends in a valley at (11.41, -0.8968) that is no solution; (5, 4)
 * is. */
static void check_homotopy(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.solved_by_homotopy, 1);
    expect_near(run_last(r, "a"), 5, 1e-12);
    expect_near(run_last(r, "b"), 4, 1e-12);
}

static void test_search_by_homotopy(void **state)
{
    (void)state;
    write_model("var a Real continuous now start 0.5\nvar b Real continuous now start -2.0\n"
                "eq e1 -13.0 + a + ((5.0 - b)*b - 2.0)*b = 0.0\neq e2 -29.0 + a + ((b + 1.0)*b - 14.0)*b = 0.0\n");
    run_in_all_tiers((RunRequest){ .path = path, .stop = 0 }, check_homotopy);
    unlink(path);
}

/* The simplified equation y + 2 = 0 leads to the solution of y^3 - 2y + 2 = 0, which Newton's method misses from 0: it
 * jumps between 0 and 1. In the run the actual equation holds: y(t)^3 - 2 y + 2 = -t. */
static void check_operator(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.solved_by_homotopy, 1);
    expect_near(run_at(r, "y", 0), -1.7692923542386314, 1e-12);
    const double y = run_last(r, "y");
    expect_near(y * y * y - 2 * y + 2, -1, 1e-9);
    expect_near(run_last(r, "x"), 1, 1e-9);
}

static void test_m2_homotopy_from_a_simplified_equation(void **state)
{
    (void)state;
    write_model("var y Real continuous now start 0.0\nvar x Real continuous der start 0.0 fixed\n"
                "eq e1 homotopy(y*y*y - 2.0*y + 2.0, y + 2.0) = -x\neq e2 der(x) = 1.0\n");
    run_in_all_tiers((RunRequest){ .path = path, .stop = 1, .interval = 0.5 }, check_operator);
    unlink(path);
}

/* ---- random systems ---- */
static uint32_t seed = 1;
static double next_random(double low, double high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * (seed >> 8) / 16777216.0;
}

/* c0 y + c1 sin(y) + c2 y^3 = c3 with c0 > |c1|: one solution, checked by bisection; from far away. */
static void test_random_equations_against_bisection(void **state)
{
    (void)state;
    enum { EQUATIONS = 200 };
    static char text[EQUATIONS * 200];
    double expected[EQUATIONS];
    size_t n = 0;
    for (int k = 0; k < EQUATIONS; k++) {
        const double c1 = next_random(-2, 2), c0 = fabs(c1) + next_random(0.01, 1), c2 = next_random(0.1, 2),
                     c3 = next_random(-50, 50);
        double low = -100, high = 100;
        for (int j = 0; j < 200; j++) {
            const double y = 0.5 * (low + high);
            *(c0 * y + c1 * sin(y) + c2 * y * y * y < c3 ? &low : &high) = y;
        }
        expected[k] = low;
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "var y%d Real continuous now start %.17g\neq e%d %.17g*y%d + %.17g*sin(y%d) + "
                              "%.17g*y%d*y%d*y%d = %.17g + 0.0\n",
                              k, next_random(-30, 30), k, c0, k, c1, k, c2, k, k, k, c3);
    }
    RunResult *r = solve(text);
    expect_done(r);
    for (int k = 0; k < EQUATIONS; k++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", k);
        expect_near(run_last(r, name), expected[k], 1e-12 * fmax(1, fabs(expected[k])));
    }
    run_free(r);
}

/* A ring of n unknowns, strictly dominant diagonals: one solution, which was chosen before. */
static void test_random_systems_with_known_solutions(void **state)
{
    (void)state;
    enum { LARGEST = 12 };
    for (int n = 2; n <= LARGEST; n++) {
        static char text[LARGEST * 300];
        double x[LARGEST];
        size_t at = 0;
        for (int k = 0; k < n; k++)
            x[k] = next_random(-2, 2);
        for (int k = 0; k < n; k++) {
            const double c = next_random(2.1, 4), a = next_random(-1, 1), b = next_random(-1, 1);
            const int next = (k + 1) % n;
            const double right = c * x[k] + x[k] * x[k] * x[k] + a * sin(x[next]) + b * atan(x[(k + n - 1) % n]);
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "var v%d Real continuous now start %.17g\neq e%d %.17g*v%d + v%d*v%d*v%d + "
                                   "%.17g*sin(v%d) + %.17g*atan(v%d) = %.17g\n",
                                   k, next_random(-20, 20), k, c, k, k, k, k, a, next, b, (k + n - 1) % n, right);
        }
        RunResult *r = solve(text);
        expect_done(r);
        for (int k = 0; k < n; k++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", k);
            expect_near(run_last(r, name), x[k], 1e-12);
        }
        run_free(r);
    }
}

/* ---- failures ---- */
static void test_no_value_is_explained(void **state)
{
    (void)state;
    expect_failed("var y Real continuous now start 1.0\neq e1 sqrt(-1.0 - y*y) + y*y*y = 0.0\n",
                  ":4:1: square root of a negative number: sqrt(-1.0 - y*y) with y = 1, component m; the iteration of "
                  "1 nonlinear equation begins there: another start value may help (at time 0)");
}

static void test_no_solution_is_explained(void **state)
{
    (void)state;
    expect_failed("var y Real continuous now start 0.5\neq e1 y*y*y*y + y*y + 1.0 = 0.0\n",
                  ": y*y*y*y + y*y + 1.0 = 0.0 differ by 1; start values nearer to a solution may help, if there is "
                  "one (at time 0)");
}

/* exp(-y) + exp(-2 y) = 0 holds at infinity only. */
static void test_solution_at_infinity_is_explained(void **state)
{
    (void)state;
    expect_failed("var y Real continuous now start 1.0\neq e1 exp(-y) + exp(-2.0*y) = 0.0\n",
                  "the iteration for the nonlinear equations did not converge; last values: y = 60.5594988");
    expect_failed("var y Real continuous now start 1.0\neq e1 exp(-y) + exp(-2.0*y) = 0.0\n",
                  "y moves most, the next step would be 1; the sides of ");
}

/* Of the two that differ, the worse equation is named; both unknowns are shown. */
static void test_the_worst_equation_is_named(void **state)
{
    (void)state;
    expect_failed("var a Real continuous now start 1.0\nvar b Real continuous now start 1.0\n"
                  "eq e1 a*a + b*b = -1.0\neq e2 a - b*b*b = 0.25\n",
                  ": a*a + b*b = -1.0 differ by ");
}

/* k = 1 makes the equations say the same thing on their left sides; for other k they are regular. */
static void test_singular_by_its_values_is_explained(void **state)
{
    (void)state;
    const char *lines = "param k Real = 1.0\nvar x Real continuous now\nvar y Real continuous now\n"
                        "var z Real continuous now\n"
                        "eq e1 x + k*y + z = 1.0\neq e2 k*x + y + k*z = 2.0\neq e3 z + x*k = 0.5*y\n";
    expect_failed(lines, "the linear equations have no unique solution");
    expect_failed(lines, "not determined: ");
    expect_failed(lines, "; depend on each other: the equations ");
}

/* The slope at the start value is 1e12: the first step is shorter than any tolerance, and solves nothing. */
static void test_a_first_step_that_changes_nothing_is_no_solution(void **state)
{
    (void)state;
    expect_solution("var q Real continuous now\neq e q + 0.1*atan(1e13*q) = 4.0\n", "q", 4 - 0.05 * 3.141592653589793,
                    1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot058_newton_with_updates_in_the_right_side),
        cmocka_unit_test(test_c7_tolerance_follows_the_run),
        cmocka_unit_test(test_a_trial_without_value_shortens_the_step),
        cmocka_unit_test(test_full_steps_that_run_away),
        cmocka_unit_test(test_badly_scaled_equations),
        cmocka_unit_test(test_singular_at_the_solution),
        cmocka_unit_test(test_two_solutions_the_start_value_decides),
        cmocka_unit_test(test_bounds_are_hints),
        cmocka_unit_test(test_search_beside_the_start_values),
        cmocka_unit_test(test_search_by_kinsol),
        cmocka_unit_test(test_search_by_homotopy),
        cmocka_unit_test(test_m2_homotopy_from_a_simplified_equation),
        cmocka_unit_test(test_random_equations_against_bisection),
        cmocka_unit_test(test_random_systems_with_known_solutions),
        cmocka_unit_test(test_no_value_is_explained),
        cmocka_unit_test(test_no_solution_is_explained),
        cmocka_unit_test(test_solution_at_infinity_is_explained),
        cmocka_unit_test(test_the_worst_equation_is_named),
        cmocka_unit_test(test_singular_by_its_values_is_explained),
        cmocka_unit_test(test_a_first_step_that_changes_nothing_is_no_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
