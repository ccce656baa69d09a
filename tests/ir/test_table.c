/* Tables: coefficients of the methods, what holds outside, derivatives, folding. Expected values are worked out by
 * hand. */
#include "assertions.h"
#include "ir/derive.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "koine/ops.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static Arena *arena;
static Pool *pool;

static int begin(void **state)
{
    (void)state;
    arena = arena_create(NULL);
    pool = pool_create(arena, names_create(arena));
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.17g, expected %.17g within %g", actual, expected, tolerance);
}

static const Table *make(TableMethod method, TableOutside outside, uint32_t n, const double *x, const double *y)
{
    const Table table = { .method = (uint8_t)method, .outside = (uint8_t)outside, .n = n, .x = x, .y = y };
    return pool_table(pool, &table);
}

/* Value of a derivative through an expression, which computes its coefficients. */
static double value(const Table *table, uint32_t order, double at)
{
    Value leaf = { .r = at }, result;
    const Expr *e = expr_table(pool, table, order, expr_leaf(pool, 0, REAL_TYPE), NULL);
    assert_true(expr_evaluate(e, &leaf, NULL, &result));
    return result.r;
}

static const double px[] = { -1.5, -1, -0.5, 0, 0.5, 1, 1.5 };
static const double py[] = { -2.25, -1, -0.25, 0, 0.25, 1, 2.25 };

/* x|x| at steps of 1/2. Slopes by parabolas: 1/2 at 0 (rises 1/2 and 1/2), 1 at 1/2 (1/2 and 3/2), 2 at 1, 3 at 3/2. On
 * [0, 1/2] with u = x: u/2 - u^2 + 2u^3, which is 3/32 at 1/4; on the others x^2. */
static void test_sx061_bessel(void **state)
{
    (void)state;
    const Table *t = make(TABLE_BESSEL, OUTSIDE_ERROR, 7, px, py);
    assert_near(value(t, 0, 0.25), 0.09375, 1e-15);
    assert_near(value(t, 0, -0.25), -0.09375, 1e-15);
    assert_near(value(t, 0, 0.75), 0.5625, 1e-15);
    assert_near(value(t, 0, 1.25), 1.5625, 1e-15);
    assert_near(value(t, 0, 0.1), 0.05 - 0.01 + 0.002, 1e-15);
    assert_near(value(t, 1, 0), 0.5, 1e-15);
    assert_near(value(t, 1, 1.5), 3, 1e-15);
    assert_near(value(t, 2, 0.25), -2 + 12 * 0.25, 1e-15);
    assert_near(value(t, 3, 0.25), 12, 1e-15);
}

/* The same points. Odd, ends 3: slopes d0 at 0, d1, d2 with d1 + 4 d0 + d1' = 6 and d1' = d1 by symmetry (even slopes):
 * 4 d0 + 2 d1 = 3*(1/2 + 1/2) = 3, d0 + 4 d1 + d2 = 6, d1 + 4 d2 + 3 = 12: d0 = 9/26, d1 = 21/26, d2 = 51/26... and the
 * value at 1/4 is (y0 + y1)/2 + h/8*(d0 - d1) = 1/8 + (d0 - d1)/16. */
static void test_sx062_spline(void **state)
{
    (void)state;
    const Table *t = make(TABLE_SPLINE, OUTSIDE_ERROR, 7, px, py);
    const double d0 = value(t, 1, 0), d1 = value(t, 1, 0.5), d2 = value(t, 1, 1);
    assert_near(4 * d0 + 2 * d1, 3, 1e-14);
    assert_near(d0 + 4 * d1 + d2, 6, 1e-14);
    assert_near(d1 + 4 * d2, 9, 1e-14);
    assert_near(value(t, 0, 0.25), 0.125 + (d0 - d1) / 16, 1e-14);
    assert_near(value(t, 0, 0.25), 0.0853365, 5.1e-8);
    assert_near(value(t, 0, 0.75), 0.5564904, 5.1e-8);
    assert_near(value(t, 0, 1.25), 1.5637019, 5.1e-8);
    assert_near(value(t, 0, 0.1), 0.0296923, 5.1e-8);
    for (uint32_t k = 1; k + 1 < 7; k++) { /* the second derivative is continuous */
        const double left = value(t, 2, nextafter(px[k], -2)), right = value(t, 2, px[k]);
        assert_near(left, right, 1e-12);
    }
    const double x5[] = { -2, -1, 0, 1, 2 }, y5[] = { 4, 1, 0, 1, 4 };
    const Table *square = make(TABLE_SPLINE, OUTSIDE_ERROR, 5, x5, y5);
    for (int k = -20; k <= 20; k++)
        assert_near(value(square, 0, k / 10.0), k * k / 100.0, 1e-14);
}

/* Akima's slopes keep straight parts straight: rises 0, 0, 1, 1 give slope 0, 0, 1/2, 1, 1. */
static void test_akima(void **state)
{
    (void)state;
    const double x[] = { 0, 1, 2, 3, 4 }, y[] = { 0, 0, 0, 1, 2 };
    const Table *t = make(TABLE_AKIMA, OUTSIDE_ERROR, 5, x, y);
    assert_near(value(t, 0, 0.5), 0, 0);
    assert_near(value(t, 0, 3.5), 1.5, 0);
    assert_near(value(t, 1, 2), 0.5, 1e-15);
}

/* Every method, on points that are not evenly spaced: passes the points, derivatives are those of the values. */
static void test_sx060_all_methods_interpolate(void **state)
{
    (void)state;
    const double x[] = { -2, -0.5, 0, 3, 3.25, 10 }, y[] = { 1, -4, 0.5, 8, 7, 7.5 };
    for (TableMethod method = TABLE_LINEAR; method <= TABLE_AKIMA; method++) {
        const Table *t = make(method, OUTSIDE_EXTRAPOLATE, 6, x, y);
        for (uint32_t k = 0; k < 6; k++)
            assert_near(value(t, 0, x[k]), y[k], 1e-14);
        for (double at = -4.03; at < 12; at += 0.1)
            for (uint32_t order = 0; order < 2; order++) {
                const double h = 1e-5, slope = (value(t, order, at + h) - value(t, order, at - h)) / (2 * h);
                assert_near(value(t, order + 1, at), slope, 1e-5 * (1 + fabs(slope)));
            }
    }
}

static void test_outside(void **state)
{
    (void)state;
    const double x[] = { 0, 1, 2 }, y[] = { 0, 1, 4 };
    const Table *error = make(TABLE_LINEAR, OUTSIDE_ERROR, 3, x, y), *hold = make(TABLE_BESSEL, OUTSIDE_HOLD, 3, x, y);
    const Table *on = make(TABLE_BESSEL, OUTSIDE_EXTRAPOLATE, 3, x, y);
    const Table *steps = make(TABLE_CONSTANT, OUTSIDE_HOLD, 3, x, y);
    assert_true(isnan(value(error, 0, -1e-9)) && isnan(value(error, 0, 2 + 1e-9)));
    assert_true(isnan(value(error, 1, 3)) && isnan(value(error, 0, NAN)) && isnan(value(hold, 0, NAN)));
    assert_near(value(error, 0, 2), 4, 0);
    assert_near(value(error, 0, nextafter(2, 3)), 4, 1e-14); /* what rounding puts outside is at the end */
    assert_near(value(error, 0, -1e-300), 0, 1e-15);
    assert_near(value(hold, 0, -5), 0, 0);
    assert_near(value(hold, 0, 5), 4, 0);
    assert_near(value(hold, 1, 5), 0, 0);
    assert_near(value(on, 0, -3), 9, 1e-12); /* the parabola goes on */
    assert_near(value(on, 0, 5), 25, 1e-12);
    assert_near(value(steps, 0, 1), 1, 0);
    assert_near(value(steps, 0, 1.999), 1, 0);
    assert_near(value(steps, 0, 2.001), 4, 0);
}

/* A frozen interval is one polynomial, also beyond its ends; a wild number gives no value, and nothing else. */
static void test_frozen_interval(void **state)
{
    (void)state;
    const double x[] = { 0, 1, 2 }, y[] = { 0, 1, 4 };
    const Table *t = make(TABLE_LINEAR, OUTSIDE_ERROR, 3, x, y);
    assert_non_null(expr_table(pool, t, 0, expr_real(pool, 0), NULL)); /* computes the coefficients */
    assert_near(koine_lookup(t->data[0], 1, 1.5), 1.5, 0);
    assert_near(koine_lookup(t->data[0], 2, 0.5), -0.5, 0);
    assert_true(isnan(koine_lookup(t->data[0], 1000000, 0.5)));
    assert_near(koine_lookup(t->data[0], INT64_MIN, 0.5), 0.5, 0);
    assert_int_equal(koine_interval(t->data[0], -1), 0);
    assert_int_equal(koine_interval(t->data[0], 0), 1);
    assert_int_equal(koine_interval(t->data[0], 1), 2);
    assert_int_equal(koine_interval(t->data[0], 2), 2);
    assert_int_equal(koine_interval(t->data[0], 2.5), 3);
}

/* Equal tables are one; literals are folded, but not outside; the derivative of f(x^2) is f'(x^2)*2x. */
static void test_expressions(void **state)
{
    (void)state;
    const double x[] = { 0, 1, 2 }, y[] = { 0, 1, 4 }, z[] = { 0, 1, 5 };
    const Table *t = make(TABLE_SPLINE, OUTSIDE_ERROR, 3, x, y);
    assert_ptr_equal(t, make(TABLE_SPLINE, OUTSIDE_ERROR, 3, x, y));
    assert_ptr_not_equal(t, make(TABLE_SPLINE, OUTSIDE_HOLD, 3, x, y));
    assert_ptr_not_equal(t, make(TABLE_SPLINE, OUTSIDE_ERROR, 3, x, z));
    const Expr *literal = expr_simplify(pool, expr_table(pool, t, 0, expr_real(pool, 1.5), NULL));
    assert_true(expr_is_real(literal, 2.25));
    const Expr *outside = expr_table(pool, t, 0, expr_real(pool, 9), NULL);
    assert_ptr_equal(expr_simplify(pool, outside), outside);

    const Expr *leaf = expr_leaf(pool, 0, REAL_TYPE), *square = expr_binary(pool, OP_MUL, leaf, leaf);
    const Expr *derivative = expr_derive(pool, expr_table(pool, t, 0, square, NULL), leaf);
    const Value at = { .r = 1.25 };
    Value result;
    assert_true(expr_evaluate(derivative, &at, NULL, &result));
    assert_near(result.r, 4 * 1.25 * 1.25 * 1.25, 1e-12); /* x^4 */
    const Expr *kinked = expr_table(pool, make(TABLE_LINEAR, OUTSIDE_ERROR, 3, x, y), 1, leaf, NULL);
    assert_true(expr_is_real(expr_derive(pool, kinked, leaf), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx061_bessel), cmocka_unit_test(test_sx062_spline),
        cmocka_unit_test(test_akima),        cmocka_unit_test(test_sx060_all_methods_interpolate),
        cmocka_unit_test(test_outside),      cmocka_unit_test(test_frozen_interval),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
