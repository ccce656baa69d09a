/* Arrays in terms, in all tiers. Expected are the operations of the Modelica specification, chapter 10, done here by
 * loops over the recorded values, and a Runge-Kutta method of our own for the states. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/arrays/"

enum { N = 3 };

static double at(const RunResult *r, uint32_t row, const char *name, int i)
{
    char text[64];
    snprintf(text, sizeof text, "%s[%d]", name, i + 1);
    return r->rows[row].values[run_column(r, text)];
}

/* Of a matrix: its elements have names of their own, or numbers in the order of rows. */
static double at2(const RunResult *r, uint32_t row, const char *name, int i, int j)
{
    const int columns = strcmp(name, "c") == 0 || strcmp(name, "t2") == 0 ? 2 : N;
    char text[64];
    snprintf(text, sizeof text, "%s[%d,%d]", name, i + 1, j + 1);
    for (uint32_t k = 0; k < r->n_columns; k++)
        if (strcmp(r->names[k], text) == 0)
            return r->rows[row].values[k];
    return at(r, row, name, i * columns + j);
}

static double scalar(const RunResult *r, uint32_t row, const char *name)
{
    return r->rows[row].values[run_column(r, name)];
}

static const double A[N][N] = { { -1.0, 0.5, 0.0 }, { 0.0, -2.0, 0.25 }, { 0.1, 0.0, -0.5 } };

static void slope(double t, const double *x, double *dx)
{
    for (int i = 0; i < N; i++) {
        dx[i] = sin(t);
        for (int j = 0; j < N; j++)
            dx[i] += A[i][j] * x[j];
    }
}

static void integrate(double *x, double stop)
{
    enum { STEPS = 2000 };
    const double h = stop / STEPS;
    for (int n = 0; n < STEPS; n++) {
        double k[4][N], y[N];
        for (int s = 0; s < 4; s++) {
            const double c = s == 0 ? 0 : s == 3 ? h : h / 2;
            for (int i = 0; i < N; i++)
                y[i] = x[i] + (s ? c * k[s - 1][i] : 0);
            slope(n * h + c, y, k[s]);
        }
        for (int i = 0; i < N; i++)
            x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* B = A*A*A' + skew(x) + 2 I - x y' + diagonal(g) */
static double expected_b(const double *x, const double *y, int i, int j)
{
    static const double g[N] = { 0.5, 1.0, 1.5 };
    const double skew[N][N] = { { 0, -x[2], x[1] }, { x[2], 0, -x[0] }, { -x[1], x[0], 0 } };
    double sum = skew[i][j] + (i == j ? 2 + g[i] : 0) - x[i] * y[j];
    for (int k = 0; k < N; k++)
        for (int l = 0; l < N; l++)
            sum += A[i][l] * A[l][k] * A[j][k];
    return sum;
}

static void check_row(const RunResult *r, uint32_t row)
{
    double x[N], y[N], s = 0.75, u = scalar(r, row, "u");
    for (int i = 0; i < N; i++)
        x[i] = at(r, row, "x", i);
    for (int i = 0; i < N; i++) {
        y[i] = 1;
        for (int j = 0; j < N; j++)
            y[i] += A[j][i] * x[j];
        expect_near(at(r, row, "y", i), y[i], 1e-14);
        expect_near(at2(r, row, "M", 1, i), x[N - 1 - i], 0);
        expect_near(at2(r, row, "M", 0, i), sin(x[i]) * y[i] - x[i] / 2, 1e-14);
        expect_near(at(r, row, "z", i), x[i], 0);
        expect_near(at(r, row, "z", 4 + i), y[i], 1e-14);
        s += x[i] + x[i] * y[i];
    }
    s += fmax(fmax(y[0], y[1]), y[2]);
    expect_near(scalar(r, row, "s"), s, 1e-13);
    for (int i = 0; i < N; i++) {
        expect_near(at(r, row, "w", i), x[(i + 1) % N] * y[(i + 2) % N] - x[(i + 2) % N] * y[(i + 1) % N], 1e-14);
        for (int j = 0; j < N; j++)
            expect_near(at2(r, row, "B", i, j), expected_b(x, y, i, j), 1e-13);
    }
    expect_near(at(r, row, "z", 3), u, 0);
    expect_near(scalar(r, row, "p"), u > 0.5 ? x[1] + x[2] + u + y[0] : x[0] + 2 * x[2], 1e-14);
    expect_near(scalar(r, row, "n"), 9, 0);
}

static void check_products(const RunResult *r)
{
    double x[N] = { 1.0, 1.5, 2.0 };
    expect_done(r);
    for (uint32_t row = 0; row < r->n_rows; row++)
        if (fabs(scalar(r, row, "u") - 0.5) > 1e-6)
            check_row(r, row);
    integrate(x, 2);
    for (int i = 0; i < N; i++)
        expect_near(at(r, r->n_rows - 1, "x", i), x[i], 1e-7);
}

static void test_mls10_products_and_other_operations(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "products.ir", .stop = 2, .interval = 0.25, .tolerance = 1e-9 },
                     check_products);
}

/* x' = -x down to x1 = 0.5 at ln 2, constant then; at t = 0.5 v becomes 2 x; when x3 passes 1 later, nothing is new
 * for v but 2 x once more: x3 = 3 exp(-t) stays above 1. */
static void check_forms(const RunResult *r)
{
    expect_done(r);
    for (int i = 0; i < N; i++) {
        expect_near(run_at(r, i == 0 ? "x[1]" : i == 1 ? "x[2]" : "x[3]", 0.25), (i + 1) * exp(-0.25), 1e-8);
        expect_near(at(r, r->n_rows - 1, "x", i), (i + 1) * 0.5, 1e-8);
        expect_near(at(r, r->n_rows - 1, "v", i), 2 * (i + 1) * exp(-0.5), 1e-8);
        expect_near(at(r, r->n_rows - 1, "d", i), (i + 1) * 0.5, 1e-8);
        expect_near(at2(r, r->n_rows - 1, "t2", i, 0), (i + 1) * 0.5, 1e-8);
        expect_near(at2(r, r->n_rows - 1, "t2", i, 1), (i + 1) * (i + 1) * 0.25, 1e-8);
        expect_near(at2(r, r->n_rows - 1, "q", 0, i), (i + 1) * 0.5, 1e-8);
        expect_near(at2(r, r->n_rows - 1, "q", 1, i), (i + 1) * 1.0, 1e-8);
    }
    static const double k[] = { 1, 4, 6, 4 }; /* {1, 2, 3, 4} with elements 2 and 3 as {1, 2} + {3, 4} */
    for (int i = 0; i < 4; i++)
        expect_near(at(r, r->n_rows - 1, "k", i), k[i], 0);
    expect_near(run_last(r, "se"), 1, 0);           /* sum of none is 0, product of none 1 */
    expect_near(run_last(r, "nn"), sqrt(14), 1e-7); /* v is along x: the cross product vanishes */
    const double w[] = { cos(2) * 1.0 - sin(2) * 1.5, sin(2) * 1.0 + cos(2) * 1.5 };
    for (int i = 0; i < 2; i++)
        expect_near(at(r, r->n_rows - 1, "w", i), w[i], 1e-7);
    expect_near(run_last(r, "ww[1]"), 2 * (cos(2) * 0.5 - sin(2) * 1.0) - w[0], 1e-7);
    expect_near(run_last(r, "ww[2]"), 2 * (sin(2) * 0.5 + cos(2) * 1.0) - w[1], 1e-7);
    expect_near(run_at(r, "a[1]", 0.25), exp(-0.25), 1e-8); /* the first branch: x2 is above 1 */
    expect_near(run_at(r, "a[2]", 0.25), 2 * exp(-0.25), 1e-8);
    expect_near(run_last(r, "f[1]"), 0.5 - 2.5, 1e-7); /* f3 = x3, f2 = x2 + f3, f1 = x1 - f2 */
    expect_near(at2(r, r->n_rows - 1, "c", 0, 0), 1, 0);
    expect_near(at2(r, r->n_rows - 1, "c", 0, 1), 0.5, 1e-8);
    expect_near(at2(r, r->n_rows - 1, "c", 1, 0), 1.0, 1e-8);
    expect_near(at2(r, r->n_rows - 1, "c", 2, 1), 4 * exp(-0.5), 1e-8);
    expect_near(at2(r, r->n_rows - 1, "c", 3, 1), w[1], 1e-7);
    expect_near(run_last(r, "all1"), 0, 0);
    expect_near(run_last(r, "any1"), 1, 0);
}

static void test_mls10_arrays_in_events_branches_and_calls(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "forms.ir", .stop = 2, .interval = 0.25, .tolerance = 1e-9 },
                     check_forms);
}

/* ---- statements ---- */
static void times(const double M[N][N], const double *v, double *result)
{
    for (int i = 0; i < N; i++)
        result[i] = M[i][0] * v[0] + M[i][1] * v[1] + M[i][2] * v[2];
}

/* x = {1, 2, 3} exp(-t); at 0.25, 0.75, 1.25, 1.75: v := A v + x, from the second time on a row of w becomes v; q adds
 * up what v was, and its second element is the sum of the others. */
static void check_procedures(const RunResult *r)
{
    static const double M[N][N] = { { 0.9, 0.1, 0.0 }, { 0.0, 0.8, 0.2 }, { 0.1, 0.0, 0.7 } };
    double v[N] = { 1, 1, 1 }, w[2][N] = { { 0 } }, q[N] = { 0 }, x[N], y[N], z[N];
    expect_done(r);
    for (int k = 1; k <= 4; k++) {
        double product[N];
        for (int i = 0; i < N; i++)
            q[i] += v[i];
        q[1] = q[0] + q[2];
        times(M, v, product);
        for (int i = 0; i < N; i++)
            v[i] = product[i] + (i + 1) * exp(-(0.25 + 0.5 * (k - 1)));
        if (k > 1)
            memcpy(w[k % 2], v, sizeof v);
    }
    double s = 0;
    for (int i = 0; i < N; i++)
        x[i] = (i + 1) * exp(-2.0);
    times(M, x, y); /* the sum of x is below 4: y stays */
    for (int i = 0; i < N; i++) {
        z[i] = y[i];
        for (int j = 0; j <= i; j++)
            z[i] += x[j];
        s += y[i] * z[i];
    }
    for (int i = 0; i < N; i++) {
        expect_near(at(r, r->n_rows - 1, "v", i), v[i], 1e-7);
        expect_near(at(r, r->n_rows - 1, "q", i), q[i], 1e-7);
        expect_near(at(r, r->n_rows - 1, "y", i), y[i], 1e-8);
        expect_near(at(r, r->n_rows - 1, "z", i), z[i], 1e-8);
        for (int j = 0; j < 2; j++)
            expect_near(at2(r, r->n_rows - 1, "w", j, i), w[j][i], 1e-7);
    }
    expect_near(run_last(r, "s"), s + z[2], 1e-8);
    times(M, (const double[]){ 1, 2, 3 }, y); /* at the start it is above 4 */
    expect_near(run_at(r, "y[1]", 0), 2 * y[1], 1e-14);
    expect_near(run_at(r, "y[2]", 0), 2 * y[2], 1e-14);
    expect_near(run_at(r, "y[3]", 0), y[2], 1e-14);
}

static void test_mls11_statements_assign_arrays_and_slices(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "procedures.ir", .stop = 2, .interval = 0.25, .tolerance = 1e-9 },
                     check_procedures);
}

/* At time 2, by the same statements written in Python. */
static void check_functions(const RunResult *r)
{
    static const double x[] = { 2.0657467532467533, 3.612012987012987, 5.0 };
    static const double w[] = { 5.07224025974026, 8.58603896103896, 9.0 };
    expect_done(r);
    for (int i = 0; i < N; i++) {
        expect_near(at(r, r->n_rows - 1, "x", i), x[i], 1e-13);
        expect_near(at(r, r->n_rows - 1, "w", i), w[i], 1e-13);
    }
    expect_near(run_last(r, "r"), 44.98528024329566, 1e-12);
    expect_near(run_last(r, "s"), 743.28125, 1e-10);
    expect_near(run_last(r, "c[1]"), 1907.220703125, 1e-9);
    expect_near(run_last(r, "c[3]"), 232.587890625, 1e-9);
    expect_near(run_last(r, "c[40]"), 1953.73828125, 1e-9);
}

static void test_mls12_functions_compute_with_arrays(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "functions.ir", .stop = 2, .interval = 0.5 }, check_functions);
}

/* Each value by hand: swap(x, y) gives y, x; split cuts four elements in two halves and adds them up. */
static void check_several(const RunResult *r)
{
    static const double w[] = { 3 + 10 * 2 + 1, 8, 1, 2 };
    expect_done(r);
    expect_near(run_last(r, "r"), 1, 1e-15);
    expect_near(run_last(r, "a"), 2, 1e-15);
    expect_near(run_last(r, "k"), 3, 0);
    expect_near(run_last(r, "lo[1]"), 2, 0);
    expect_near(run_last(r, "lo[2]"), 4, 0);
    expect_near(run_last(r, "s"), 13, 0);
    expect_near(run_last(r, "hi[1]"), 6, 0);
    expect_near(run_last(r, "hi[2]"), 4, 0);
    expect_near(run_last(r, "p"), 1.5, 1e-15);
    expect_near(run_last(r, "q"), -0.5, 1e-15);
    expect_near(run_last(r, "t"), sqrt(29), 1e-14);
    for (int i = 0; i < 4; i++) {
        expect_near(at(r, r->n_rows - 1, "w", i), w[i], 0);
        expect_near(at(r, r->n_rows - 1, "z", i), i + 1, 0);
    }
    expect_near(run_at(r, "z[1]", 0.5), 3, 0); /* once: the halves have changed places */
    expect_near(run_at(r, "z[3]", 0.5), 1, 0);
    expect_near(run_at(r, "g", 0.5), 2, 0);
    expect_near(run_last(r, "g"), 3, 0);
    expect_near(run_last(r, "h"), 1, 0);
}

static void test_mls12_several_results_at_once(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "several.ir", .stop = 2, .interval = 0.5 }, check_several);
}

/* At t = 1 m becomes 4: three sums do not fill four elements. Up to there the sizes agree. */
static void test_sizes_are_checked_at_run_time(void **state)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    (void)state;
    for (int k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = MODELS "runtime.ir", .tier = tiers[k], .stop = 2, .interval = 0.5 });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        expect_near(r->report.time, 1, 1e-9);
        assert_non_null(strstr(r->report.text, "runtime.ir:11:5"));
        assert_non_null(strstr(r->report.text, "the sizes of an assignment do not agree: [max(n - 1 + 1, 0)] and ["));
        assert_non_null(strstr(r->report.text, "], 4 and 3 with n = 4, m = 4"));
        expect_near(run_at(r, "s", 0.5), 118, 0); /* {6, 8, 10, 12}*{1.5, 2.5, 3.5, 4.5}, added up by hand */
        run_free(r);
    }
}

/* der(x) is T with two dimensions turned, times t; s is the sum of all elements, added up in Python. */
static void check_loops(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "s"), 120000984, 1e-3);
    expect_near(run_last(r, "one"), 664365, 1e-5);
    expect_near(at(r, r->n_rows - 1, "n", 0), 1, 0);  /* since 0.5 */
    expect_near(at(r, r->n_rows - 1, "n", 1), 2, 0);  /* since 0.6 */
    expect_near(at(r, r->n_rows - 1, "n", 47), 0, 0); /* from 1.1 on */
}

/* p = (1, 2) exp(-t), q = (20, 2; 3, 4) exp(-2 t), where q[1, 1] is not fixed; x = (0.25, 0.5) exp(-t), y = 1 - x. */
static void check_wishes(const RunResult *r)
{
    const double e = exp(-1);
    expect_near(run_last(r, "p[1]"), e, 1e-8);
    expect_near(run_last(r, "p[2]"), 2 * e, 1e-8);
    expect_near(run_last(r, "q[1,1]"), 20 * e * e, 1e-7);
    expect_near(run_last(r, "q[1,2]"), 2 * e * e, 1e-8);
    expect_near(run_last(r, "q[2,1]"), 3 * e * e, 1e-8);
    expect_near(run_last(r, "q[2,2]"), 4 * e * e, 1e-8);
    expect_near(run_last(r, "x[1]"), 0.25 * e, 1e-8);
    expect_near(run_last(r, "x[2]"), 0.5 * e, 1e-8);
    expect_near(run_last(r, "y[1]"), 1 - 0.25 * e, 1e-8);
}

static void test_each_element_is_fixed_or_not(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "wishes.ir", .stop = 1, .interval = 0.5, .tolerance = 1e-9 },
                     check_wishes);
}

static void test_equations_have_up_to_eight_loops(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "loops.ir", .stop = 1, .interval = 0.5 }, check_loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mls10_products_and_other_operations),
        cmocka_unit_test(test_mls10_arrays_in_events_branches_and_calls),
        cmocka_unit_test(test_mls11_statements_assign_arrays_and_slices),
        cmocka_unit_test(test_mls12_functions_compute_with_arrays),
        cmocka_unit_test(test_mls12_several_results_at_once),
        cmocka_unit_test(test_sizes_are_checked_at_run_time),
        cmocka_unit_test(test_equations_have_up_to_eight_loops),
        cmocka_unit_test(test_each_element_is_fixed_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
