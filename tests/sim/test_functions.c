/* Functions end to end, in the text form: docs/semantics.md, Functions. Every model runs in the three tiers, and their
 * results are the same bit for bit. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define IR KOINE_SOURCE_DIR "/tests/sim/ir/"

static const char *const tiers[] = { "interp", "tcc", "cc" };

static RunResult *run(const char *file, const char *tier, const char *solver, double stop)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", IR, file);
    return run_model(&(RunRequest){
        .path = path, .tier = tier, .solver = solver, .stop = stop, .interval = stop / 10, .tolerance = 1e-9 });
}

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.17g, expected %.17g within %g", actual, expected, tolerance);
}

static void assert_same(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    for (uint32_t k = 0; k < a->n_rows; k++)
        for (uint32_t j = 0; j < a->n_columns; j++)
            fail_if(memcmp(&a->rows[k].values[j], &b->rows[k].values[j], sizeof(double)) != 0,
                    "%s at %g: %.17g and %.17g", a->names[j], a->rows[k].time, a->rows[k].values[j],
                    b->rows[k].values[j]);
}

/* The result of the interpreter; the other tiers are compared with it. */
static RunResult *run_everywhere(const char *file, const char *solver, double stop)
{
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        RunResult *r = run(file, tiers[k], solver, stop);
        fail_if(!r->is_compiled, "%s", r->messages);
        fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
        if (first) {
            assert_same(first, r);
            run_free(r);
        } else
            first = r;
    }
    return first;
}

/* Closed forms: x' = -0.01*(4 x - 6), so x = 1.5 - 0.5 exp(-0.04 t); y = sqrt(1 + x^2); r = x^3; fibonacci by hand;
 * root(2) needs 5 steps and one to see it, as Newton's iteration from 2: 1.5, 1.4167, 1.414216, 1.41421356237,
 * equal. */
static void functions_have_their_values(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "cvode-bdf" };
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_everywhere("functions.ir", solvers[k], 10);
        const double x = 1.5 - 0.5 * exp(-0.4);
        assert_near(run_last(r, "c"), 1024, 0);
        assert_near(run_last(r, "x"), x, 1e-7);
        assert_near(run_last(r, "y"), sqrt(1 + x * x), 1e-7);
        assert_near(run_last(r, "r"), x * x * x, 1e-6);
        const double n = run_last(r, "n");
        assert_true(n == 5 || n == 6); /* whether the last two iterates are equal is a matter of rounding */
        assert_near(run_last(r, "m"), n == 5 ? 89 : 144, 0);
        assert_near(run_last(r, "b"), 1, 0);
        assert_near(run_last(r, "s"), 2, 0);
        run_free(r);
    }
}

static void assert_fails(const char *file, double stop, const char *function, const char *what)
{
    for (int k = 0; k < 3; k++) {
        RunResult *r = run(file, tiers[k], "dopri5", stop);
        fail_if(!r->is_compiled, "%s", r->messages);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        fail_if(!strstr(r->report.text, function) || !strstr(r->report.text, what) || !strstr(r->report.text, file),
                "%s: expected '%s' and '%s' in: %s", tiers[k], function, what, r->report.text);
        run_free(r);
    }
}

static void faults_name_function_line_and_call(void **state)
{
    (void)state;
    assert_fails("function_index.ir", 5, "function pick fails at ",
                 "9:5: index outside of its array: a[k] := 1.0 with k = 4");
    assert_fails("function_endless.ir", 1, "function loop fails at ", "8:5: more than 1000000 steps in one call");
    assert_fails("function_deep.ir", 10, "function down fails at ", "calls are nested more than 64 deep");
}

/* The value that is not finite is only used by a function that makes a truth value of it, and by an Integer. */
static void faults_do_not_get_lost_in_truth_values(void **state)
{
    (void)state;
    assert_fails("function_division.ir", 1, "function inverse fails at ",
                 "8:5: division by zero or overflow: y := 1.0/(x - 0.5) with x = 0.5");
}

static void array_arguments_are_refused(void **state)
{
    (void)state;
    RunResult *r = run("function_array.ir", "interp", "dopri5", 1);
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages,
                    "function_array.ir:5:3: error KN2121: function first cannot be executed: it has an array as "
                    "argument or result"),
            "%s", r->messages);
    run_free(r);
}

/* SIMPLEX functions in two instances of a class. X' = -X^2 with X(0) = 1 and 2: X = 1/(1/X(0) + t); Y = sqrt(1 + X^2),
 * P = X^3; 5! = 120; of the numbers 1 to 5 three are odd. */
static void functions_of_simplex_have_their_values(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("../simplex/TwoProcs.mdl", "dopri5", 5);
    const double a = 1.0 / 6, b = 1.0 / 5.5;
    assert_near(run_last(r, "A.X"), a, 1e-7);
    assert_near(run_last(r, "B.X"), b, 1e-7);
    assert_near(run_last(r, "A.Y"), sqrt(1 + a * a), 1e-7);
    assert_near(run_last(r, "B.P"), b * b * b, 1e-7);
    assert_near(run_last(r, "A.F"), 120, 0);
    assert_near(run_last(r, "B.Odd"), 3, 0);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_values),
        cmocka_unit_test(faults_name_function_line_and_call),
        cmocka_unit_test(functions_of_simplex_have_their_values),
        cmocka_unit_test(array_arguments_are_refused),
        cmocka_unit_test(faults_do_not_get_lost_in_truth_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
