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
    assert_fails("function_endless.ir", 1, "function loop fails at ", "8:5: more than 20000000 steps in one call");
    assert_fails("function_deep.ir", 10, "function down fails at ",
                 "calls are nested too deep: does a recursion not end?");
    assert_fails("function_largest.ir", 1, "function f fails at ",
                 "9:5: overflow of an Integer with x = 9223372036854775805, i = 9223372036854775807");
    assert_fails("function_overflows.ir", 1, "function f fails at ",
                 "9:5: overflow: z := exp(1000.0*z) with x = 1, z = 1");
    assert_fails("function_sizes_differ_in_braces.ir", 1, "function f fails at ",
                 "12:5: the sizes of a product do not agree: [max(k - 1 + 1, 0)] and [2], 1 and 2 with n = 1");
}

/* MLS 12.4.4: what is read, or left as a result, has a value. A comparison would hide that an element has none. */
static void variables_of_functions_have_values_when_they_are_read(void **state)
{
    (void)state;
    assert_fails("function_unread.ir", 1, "function total fails at ", "10:7: y is read before it has a value");
    assert_fails("function_unassigned.ir", 2, "function half fails at ",
                 "3:1: the result n has no value when the function ends with x = 0.5");
    assert_fails("function_hidden.ir", 1, "function largest fails at ", "11:7: a is read before it has a value");
}

/* x[2] = 2 + t; x[1]' = x[1] + 1 up to t = 1, so x[1] = 2 exp(t) - 1; then x[1]' = x[2] + 1. */
static void fields_of_functions_begin_with_their_bindings(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_begins.ir", "dopri5", 1.5);
    const double x = 2 * exp(1) - 1 + 3 * 0.5 + (1.5 * 1.5 - 1) / 2;
    assert_near(run_last(r, "x[1]"), x, 1e-7);
    assert_near(run_last(r, "z[1]"), 7, 0);
    assert_near(run_last(r, "z[2]"), 4.5, 1e-9);
    assert_near(run_last(r, "r[1]"), 7, 0);
    assert_near(run_last(r, "r[2]"), x, 1e-7);
    assert_near(run_last(r, "s"), 2, 0);
    assert_near(run_last(r, "b"), 1, 0);
    run_free(r);
    r = run_everywhere("function_begins_with_arrays.ir", "dopri5", 0.9);
    assert_near(run_last(r, "y"), 13.5, 1e-12);
    assert_near(run_last(r, "z[2]"), 3.6, 1e-12);
    run_free(r);
}

/* x' = -(a + 1)x - 3.001 with a = 3.5, 1.5, 2.5 in the seconds 1, 2, 3; tables are the same in all calls. */
static void arrays_of_numbers_are_data(void **state)
{
    (void)state;
    static const double a[] = { 4.5, 2.5, 3.5 }, lengths[] = { 1, 1, 0.5 };
    RunResult *r = run_everywhere("function_table.ir", "cvode-bdf", 2.5);
    double x = 1;
    for (int k = 0; k < 3; k++)
        x = (x + 3.001 / a[k]) * exp(-a[k] * lengths[k]) - 3.001 / a[k];
    assert_near(run_last(r, "x"), x, 1e-7);
    assert_near(run_last(r, "n"), 2, 0);
    run_free(r);
}

/* |x| = n with n' = -0.1 n^2; y = A x with A = (x, 2 x); p are powers of x[1], s their sum and y[1], n = |A 2 x|. The
 * sum is a recursion over smaller and smaller arrays. */
static void sizes_follow_from_arguments(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_sizes.ir", "cvode-bdf", 2);
    const double n0 = sqrt(14), n = n0 / (1 + 0.2 * n0), x = n / n0;
    assert_near(run_last(r, "y[2]"), 2 * n * n, 1e-6);
    assert_near(run_last(r, "p[4]"), x * x * x * x, 1e-7);
    assert_near(run_last(r, "s"), x + x * x + x * x * x + x * x * x * x + n * n, 1e-6);
    assert_near(run_last(r, "n"), 2 * sqrt(5) * n * n, 1e-5);
    assert_near(run_last(r, "e[1]"), 3 * x, 1e-6);
    assert_near(run_last(r, "e[2]"), 3 * x, 1e-6);
    run_free(r);
}

/* The value that is not finite is only used by a function that makes a truth value of it, and by an Integer. */
static void faults_do_not_get_lost_in_truth_values(void **state)
{
    (void)state;
    assert_fails("function_division.ir", 1, "function inverse fails at ",
                 "8:5: division by zero or overflow: y := 1.0/(x - 0.5) with x = 0.5");
}

static void arguments_and_results_may_be_arrays(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_array.ir", "dopri5", 1);
    assert_near(run_last(r, "x"), 1, 0);
    run_free(r);
}

/* n = |x| with n' = -0.1 n^2, so n = n0/(1 + 0.1 n0 t) with n0 = sqrt(14), b = n x and s = 3 n. One call gives n for
 * the derivatives and b for the outputs. */
static void calls_in_derivatives_and_outputs_are_one(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "cvode-bdf" };
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_everywhere("function_shared.ir", solvers[k], 2);
        const double n0 = sqrt(14), n = n0 / (1 + 0.2 * n0);
        assert_near(run_last(r, "n"), n, 1e-6);
        assert_near(run_last(r, "s"), 3 * n, 3e-6);
        assert_near(run_last(r, "b[2]"), n * 2 * n / n0, 3e-6);
        run_free(r);
    }
}

/* At t = 1 n becomes 4. Of the array that the call gives only the second element changes: who reads it has to know.
 * k counts to n by 2, w = y[2] + k + y[1]. */
static void calls_in_event_steps_wake_those_who_read_them(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_events.ir", "dopri5", 2);
    assert_near(run_at(r, "z", 0.6), 2, 0);
    assert_near(run_at(r, "w", 0.6), 4, 0);
    assert_near(run_last(r, "z"), 8, 0);
    assert_near(run_last(r, "k"), 4, 0);
    assert_near(run_last(r, "w"), 9, 0);
    run_free(r);
}

/* With v = (1 + t/10, 2 + t/10) and the rotation R by q = 0.1 + t: w = R v, d = w1 R11 + w2 R22; x is on the circle
 * x.x = 2 + t and on the line x1 - x2 = d/10, so 2 x1^2 - 2 k x1 + k^2 - 2 - t = 0 with k = d/10; u = (R x).(R v) is
 * x.v. In the event at t = 0 the array z is assigned what calls give: w.x, and the sum of R 0, which is 0. */
static void calls_with_arrays_are_exact(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "cvode-bdf" };
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_everywhere("function_arrays.ir", solvers[k], 4);
        const double q = 4.1, v1 = 1.4, v2 = 2.4, w1 = cos(q) * v1 - sin(q) * v2, w2 = sin(q) * v1 + cos(q) * v2;
        const double d = w1 * cos(q) + w2 * cos(q), l = d / 10, x1 = (2 * l + sqrt(4 * l * l - 8 * (l * l - 6))) / 4;
        assert_near(run_last(r, "R[1,2]"), -sin(q), 1e-8);
        assert_near(run_last(r, "w[2]"), w2, 1e-8);
        assert_near(run_last(r, "t"), w1 + w2, 1e-8);
        assert_near(run_last(r, "d"), d, 1e-8);
        assert_near(run_last(r, "x[1]"), x1, 1e-8);
        assert_near(run_last(r, "x[2]"), x1 - l, 1e-8);
        assert_near(run_last(r, "u"), x1 * v1 + (x1 - l) * v2, 1e-8);
        const double a1 = cos(0.1) - 2 * sin(0.1), a2 = sin(0.1) + 2 * cos(0.1), b = (a1 + a2) * cos(0.1) / 10;
        const double y1 = (2 * b + sqrt(4 * b * b - 8 * (b * b - 2))) / 4;
        assert_near(run_last(r, "z[1]"), a1 * y1 + a2 * (y1 - b), 1e-8);
        assert_near(run_last(r, "z[2]"), 0, 0);
        run_free(r);
    }
}

/* a[i, j] = j t and b = (1, 2, 3, 4), in 3 rounds: s = (1 + 3 + 6) t; d = (3 + 8 + 14) t + 10 t + 3 + 5 + 6;
 * e = (1 + 2 + 5 + 3 + 8 + 14) t; m = 14 t; y = (3*1, 2*2, 3, 0). */
static void sizes_may_change_in_loops(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_moving.ir", "dopri5", 2);
    assert_near(run_last(r, "s"), 20, 0);
    assert_near(run_last(r, "d"), 84, 0);
    assert_near(run_last(r, "e"), 66, 0);
    assert_near(run_last(r, "m"), 28, 0);
    assert_near(run_last(r, "y[1]"), 3, 0);
    assert_near(run_last(r, "y[2]"), 4, 0);
    assert_near(run_last(r, "y[3]"), 3, 0);
    assert_near(run_last(r, "y[4]"), 0, 0);
    run_free(r);
    assert_fails("function_moving_sizes.ir", 2, "function f fails at ",
                 "23:5: the sizes of a product do not agree: [max($i1 - 1 + 1, 0)] and "
                 "[max((if $i1 < 3 then $i1 else 2) - 1 + 1, 0)], 3 and 2 with n = 3");
}

/* b = (2, 4, 6, 8): 2 + 4; 2*4 + 4*6 + 6*8; b*b. */
static void sizes_count_in_branches_that_are_chosen(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_choices.ir", "dopri5", 2);
    assert_near(run_last(r, "s"), 6, 0);
    assert_near(run_last(r, "u"), 80, 0);
    assert_near(run_last(r, "v"), 120, 0);
    run_free(r);
}

/* x = (t, 2t), g gives x1 + 10 x2; r = 6 + 10 t, t = 2 + 30. */
static void braces_around_arrays_have_their_elements(void **state)
{
    (void)state;
    static const char *const names[] = { "z", "w", "v", "u", "s" };
    RunResult *r = run_everywhere("function_braces.ir", "dopri5", 2);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        assert_near(run_last(r, names[k]), 42, 0);
    assert_near(run_last(r, "r"), 26, 0);
    assert_near(run_last(r, "t"), 32, 0);
    run_free(r);
}

/* x' = -|x|/10 x begins at (1, 2, 3): |x| = 1/(1/sqrt(14) + t/10). */
static void states_are_arguments_as_a_whole(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "cvode-bdf" };
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_everywhere("function_states.ir", solvers[k], 2);
        const double norm = 1 / (1 / sqrt(14) + 0.2);
        assert_near(run_last(r, "n"), norm, 1e-7);
        assert_near(run_last(r, "x3"), 3 * norm / sqrt(14), 1e-7);
        assert_near(run_last(r, "b32"), 2 * 3 * norm / sqrt(14) + 2 * norm, 1e-6);
        assert_near(run_last(r, "s"), 2 * norm * 6 * norm / sqrt(14), 1e-6);
        run_free(r);
    }
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

/* x[i] = i t, a[i, j] = i + j t. The sums: i(7 - i) is 56, j - i over i < j is 35, y = (2, 4, 6) t. What is c is added
 * up here. At the stop t = 2. */
static void elements_by_loop_variables(void **state)
{
    (void)state;
    RunResult *r = run_everywhere("function_loops.ir", "dopri5", 2);
    double c = 0;
    for (int i = 1; i <= 2; i++)
        for (int j = 1; j <= 3; j++)
            c += (100 * i + 10 * j + 1) * (100 * (3 - i) + 10 * (4 - j) + 2);
    for (int i = 1; i <= 4; i++)
        c += 0.5 * (i + 3 * 2) + 4 * 2 * (i + 2);
    assert_near(run_last(r, "d"), 56 * 4, 0);
    assert_near(run_last(r, "t"), 35 * 2, 0);
    assert_near(run_last(r, "v[1]"), 4 * (1 + 2) + 8 * (1 + 4) + 12 * (1 + 6), 0);
    assert_near(run_last(r, "v[4]"), 4 * (4 + 2) + 8 * (4 + 4) + 12 * (4 + 6), 0);
    assert_near(run_last(r, "q[1]"), 2, 0);
    assert_near(run_last(r, "q[6]"), 42, 0);
    assert_near(run_last(r, "g"), 5 * 4, 0);
    assert_near(run_last(r, "c"), c, 0);
    assert_near(run_last(r, "n"), 91 + 12, 0);
    assert_near(run_last(r, "w"), 20, 0);
    assert_near(run_last(r, "u[1]"), -2, 0);
    assert_near(run_last(r, "u[2]"), -4, 0);
    run_free(r);
}

/* A sum that is lost in a loop is found behind it; iterations are counted before. */
static void loops_that_fail(void **state)
{
    (void)state;
    assert_fails("function_sum_lost.ir", 1, "function grows fails at ", "10:7: ");
    assert_fails("function_long.ir", 1, "function counts fails at ", "8:5: more than 20000000 steps in one call");
    assert_fails("function_last_number.ir", 1, "function counts fails at ", "as counts(x)");
}

/* u = (1 + t)^2 with both derivatives, r = -sqrt(4 + t) by the inverse. Declared derivatives leave z out in w = t(1 +
 * t), and are seven times as steep in s = 3 t, n = 5 t^2 + 9 and b = sin(t) + cos(t); that of t^2, where k moves, is
 * not used. z' = -z^2. */
static void declared_derivatives_and_inverses_are_used(void **state)
{
    (void)state;
    static const char *const solvers[] = { "dopri5", "cvode-bdf" };
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_everywhere("function_declared.ir", solvers[k], 2);
        assert_near(run_last(r, "u"), 9, 0);
        assert_near(run_last(r, "v"), 6, 0);
        assert_near(run_last(r, "a"), 2, 0);
        assert_near(run_last(r, "r"), -sqrt(6), 1e-15);
        assert_near(run_last(r, "dw"), 3, 0);
        assert_near(run_last(r, "ds"), 7 * 3, 0);
        assert_near(run_last(r, "dk"), 4, 0);
        assert_near(run_last(r, "dn"), 7 * 10 * 2, 0);
        assert_near(run_last(r, "db"), 7 * (cos(2) - sin(2)), 1e-14);
        assert_near(run_last(r, "z"), 1.0 / 3, 1e-6);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_values),
        cmocka_unit_test(faults_name_function_line_and_call),
        cmocka_unit_test(functions_of_simplex_have_their_values),
        cmocka_unit_test(arguments_and_results_may_be_arrays),
        cmocka_unit_test(calls_in_derivatives_and_outputs_are_one),
        cmocka_unit_test(calls_in_event_steps_wake_those_who_read_them),
        cmocka_unit_test(calls_with_arrays_are_exact),
        cmocka_unit_test(sizes_may_change_in_loops),
        cmocka_unit_test(sizes_count_in_branches_that_are_chosen),
        cmocka_unit_test(braces_around_arrays_have_their_elements),
        cmocka_unit_test(states_are_arguments_as_a_whole),
        cmocka_unit_test(faults_do_not_get_lost_in_truth_values),
        cmocka_unit_test(variables_of_functions_have_values_when_they_are_read),
        cmocka_unit_test(fields_of_functions_begin_with_their_bindings),
        cmocka_unit_test(arrays_of_numbers_are_data),
        cmocka_unit_test(sizes_follow_from_arguments),
        cmocka_unit_test(elements_by_loop_variables),
        cmocka_unit_test(loops_that_fail),
        cmocka_unit_test(declared_derivatives_and_inverses_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
