/* Sparse factors: both methods against a dense elimination, with pivots that are chosen and pivots that are kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "assertions.h"
#include "runtime/support/sparse.h"
#include "runtime/support/sparse_order.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60 };
static const double TOLERANCE = 0.1, GROWTH = 1e-10;

static uint64_t state = 1;
static double random_real(void) /* -1 to 1 */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 11) / 4503599627370496.0 - 1;
}

typedef struct {
    int start[MOST + 1], index[MOST * MOST];
    double values[MOST * MOST], dense[MOST][MOST];
    SparseMatrix matrix;
} Sample;

/* A permutation that is not the identity makes it regular, with zeros on the diagonal; `fill` of all other places have
 * a value. Rows are of sizes from 1e-6 to 1e6. */
static void make(Sample *s, int n, double fill)
{
    int to = 0;
    s->matrix = (SparseMatrix){ n, s->start, s->index, s->values };
    memset(s->dense, 0, sizeof s->dense);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i == (j * 7 + 3) % n || (i != j && fabs(random_real()) < fill))
                s->dense[i][j] = (random_real() + (i == (j * 7 + 3) % n ? 3 : 0)) * pow(10, i % 13 - 6);
    for (int j = 0; j < n; j++) {
        s->start[j] = to;
        for (int i = 0; i < n; i++)
            if (s->dense[i][j] != 0) {
                s->index[to] = i;
                s->values[to++] = s->dense[i][j];
            }
    }
    s->start[n] = to;
}

/* Largest |A x - b| over what its row adds up. */
static double rest(const Sample *s, const double *x, const double *b)
{
    double most = 0;
    for (int i = 0; i < s->matrix.n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < s->matrix.n; j++) {
            sum += s->dense[i][j] * x[j];
            size += fabs(s->dense[i][j] * x[j]);
        }
        most = fmax(most, fabs(sum) / size);
    }
    return most;
}

static void check_method(const SparseMethod *method)
{
    static Sample s, other;
    state = 1;
    for (int n = 8; n < MOST; n += 7)
        for (int trial = 0; trial < 20; trial++) {
            double b[MOST], x[MOST], again[MOST];
            SparseFactors *factors = NULL;
            make(&s, n, 0.02 * trial);
            SparsePlan *plan = method->plan(&s.matrix, TOLERANCE);
            assert_non_null(plan);
            assert_int_equal(method->factor(plan, &s.matrix, &factors), SPARSE_GOOD);
            for (int i = 0; i < n; i++)
                x[i] = b[i] = random_real();
            method->solve(plan, factors, x);
            fail_if(rest(&s, x, b) > 1e-11, "n %d, trial %d: %g", n, trial, rest(&s, x, b));
            /* kept pivots and equal values: equal bits */
            assert_true(method->refactor(plan, &s.matrix, factors, GROWTH));
            memcpy(again, b, sizeof b);
            method->solve(plan, factors, again);
            assert_memory_equal(again, x, (size_t)n * sizeof *x);
            /* other values with these pivots */
            other = s;
            other.matrix = (SparseMatrix){ n, other.start, other.index, other.values };
            for (int j = 0; j < n; j++)
                for (int p = other.start[j]; p < other.start[j + 1]; p++)
                    other.dense[other.index[p]][j] = other.values[p] *= 1 + 0.1 * random_real();
            assert_true(method->refactor(plan, &other.matrix, factors, GROWTH));
            memcpy(again, b, sizeof b);
            method->solve(plan, factors, again);
            fail_if(rest(&other, again, b) > 1e-9, "n %d, trial %d: %g", n, trial, rest(&other, again, b));
            const SparsePivots pivots = method->pivots(plan, factors);
            for (int k = 0; k < n; k++)
                assert_true(pivots.pivot[k] != 0 && pivots.scale[k] > 0);
            method->forget(plan, factors);
            method->forget_plan(plan);
        }
}

static void test_solutions(void **unused)
{
    (void)unused;
    check_method(&koine_sparse_klu);
    check_method(&koine_sparse_own);
}

/* A matrix without solution: by its structure, by its values, and with pivots that were chosen for other values. */
static void check_singular(const SparseMethod *method)
{
    int start[] = { 0, 2, 4, 5 }, index[] = { 0, 1, 0, 1, 2 };
    double values[] = { 1, 2, 2, 4, 1 };
    const SparseMatrix a = { 3, start, index, values };
    SparseFactors *factors = NULL;
    SparsePlan *plan = method->plan(&a, TOLERANCE);
    assert_non_null(plan);
    assert_int_equal(method->factor(plan, &a, &factors), SPARSE_SINGULAR);
    assert_null(factors);
    values[3] = 5;
    assert_int_equal(method->factor(plan, &a, &factors), SPARSE_GOOD);
    values[3] = 4;
    assert_false(method->refactor(plan, &a, factors, GROWTH));
    values[3] = NAN;
    assert_int_equal(method->factor(plan, &a, &factors), SPARSE_SINGULAR);
    assert_null(factors);
    method->forget_plan(plan);
    int hollow_start[] = { 0, 1, 2, 2 }, hollow_index[] = { 0, 1 };
    double hollow_values[] = { 1, 1 };
    const SparseMatrix hollow = { 3, hollow_start, hollow_index, hollow_values };
    plan = method->plan(&hollow, TOLERANCE);
    assert_non_null(plan);
    assert_int_equal(method->factor(plan, &hollow, &factors), SPARSE_SINGULAR);
    method->forget_plan(plan);
}

static void test_singular(void **unused)
{
    (void)unused;
    check_singular(&koine_sparse_own);
}

/* A grid of 40 by 40 cells, each with its neighbours: every column is taken once, and the solution is right. */
static void test_order(void **unused)
{
    enum { WIDE = 40, N = WIDE * WIDE };
    static int start[N + 1], index[5 * N], order[N], seen[N];
    static double values[5 * N], b[N], x[N];
    (void)unused;
    int to = 0;
    for (int j = 0; j < N; j++) {
        const int near[] = { j, j - WIDE, j + WIDE, j % WIDE ? j - 1 : -1, j % WIDE < WIDE - 1 ? j + 1 : -1 };
        start[j] = to;
        for (int k = 0; k < 5; k++)
            if (near[k] >= 0 && near[k] < N) {
                index[to] = near[k];
                values[to++] = k ? -1 : 4.5;
            }
    }
    start[N] = to;
    const SparseMatrix a = { N, start, index, values };
    assert_true(koine_sparse_order(&a, order));
    for (int k = 0; k < N; k++)
        seen[order[k]]++;
    for (int k = 0; k < N; k++)
        assert_int_equal(seen[k], 1);
    SparseFactors *factors = NULL;
    SparsePlan *plan = koine_sparse_own.plan(&a, TOLERANCE);
    assert_int_equal(koine_sparse_own.factor(plan, &a, &factors), SPARSE_GOOD);
    for (int i = 0; i < N; i++)
        x[i] = b[i] = sin(i);
    koine_sparse_own.solve(plan, factors, x);
    for (int j = 0; j < N; j++)
        for (int p = start[j]; p < start[j + 1]; p++)
            b[index[p]] -= values[p] * x[j];
    for (int i = 0; i < N; i++)
        fail_if(fabs(b[i]) > 1e-13, "row %d lacks %g", i, b[i]);
    koine_sparse_own.forget(plan, factors);
    koine_sparse_own.forget_plan(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_solutions), cmocka_unit_test(test_singular),
                                        cmocka_unit_test(test_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
