/* Values against libm and C arithmetic, bit by bit; random expressions against the reference; faults. */
#include "test_algebra_random.h"
#include "koine/ops.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const double reals[] = { 0,   -0.0, 1,    -1,    0.5,    -0.5,    1.5, -1.5,    2.5,  -2.5,   3,
                                0.1, -0.7, 1e-9, 1e300, 0x1p63, -0x1p63, 710, -1e-310, 1e10, 1234.5, M_PI };
static const int64_t integers[] = { 0, 1, -1, 2, -2, 7, -7, 3, 1000000007, INT64_MAX, -INT64_MAX };

static double sign_of(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}

static double negative(double a)
{
    return -a;
}

static void assert_same_bits(double actual, double expected)
{
    uint64_t a, b;
    memcpy(&a, &actual, sizeof a);
    memcpy(&b, &expected, sizeof b);
    if (a != b && !(isnan(actual) && isnan(expected)))
        fail_msg("%.17g instead of %.17g", actual, expected);
}

static double real_result(const Expr *e, double a, double b)
{
    Value result;
    assert_true(expr_evaluate(e, (const Value[]){ { .r = a }, { .r = b } }, NULL, &result));
    return result.r;
}

static int64_t integer_result(const Expr *e, Value a, Value b)
{
    Value result;
    assert_true(expr_evaluate(e, (const Value[]){ a, b }, NULL, &result));
    return result.i;
}

static void test_real_functions(void **state)
{
    (void)state;
    static const struct {
        Op op;
        double (*function)(double);
    } rows[] = {
        { OP_NEG, negative }, { OP_ABS, fabs },    { OP_SIGN, sign_of }, { OP_FLOOR, floor }, { OP_CEIL, ceil },
        { OP_TRUNC, trunc },  { OP_ROUND, round }, { OP_SQRT, sqrt },    { OP_EXP, exp },     { OP_LOG, log },
        { OP_LOG10, log10 },  { OP_SIN, sin },     { OP_COS, cos },      { OP_TAN, tan },     { OP_ASIN, asin },
        { OP_ACOS, acos },    { OP_ATAN, atan },   { OP_SINH, sinh },    { OP_COSH, cosh },   { OP_TANH, tanh },
    };
    Maker m = maker_create(1, WITH_ALL);
    for (uint32_t r = 0; r < LENGTH(rows); r++)
        for (uint32_t k = 0; k < LENGTH(reals); k++)
            assert_same_bits(real_result(one(&m, rows[r].op, real_leaf(&m, 0)), reals[k], 0),
                             rows[r].function(reals[k]));
    maker_destroy(&m);
}

static double expected_real(Op op, double a, double b)
{
    switch ((int)op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_POW: return pow(a, b);
    case OP_ATAN2: return atan2(a, b);
    case OP_MIN: return b < a ? b : a;
    case OP_MAX: return b > a ? b : a;
    }
    return a; /* homotopy */
}

static void test_real_operations(void **state)
{
    (void)state;
    static const Op ops[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_ATAN2, OP_MIN, OP_MAX, OP_HOMOTOPY };
    Maker m = maker_create(1, WITH_ALL);
    for (uint32_t r = 0; r < LENGTH(ops); r++)
        for (uint32_t j = 0; j < LENGTH(reals); j++)
            for (uint32_t k = 0; k < LENGTH(reals); k++)
                assert_same_bits(real_result(two(&m, ops[r], real_leaf(&m, 0), real_leaf(&m, 1)), reals[j], reals[k]),
                                 expected_real(ops[r], reals[j], reals[k]));
    maker_destroy(&m);
}

static bool expected_relation(Op op, int order)
{
    switch ((int)op) {
    case OP_LT: return order < 0;
    case OP_LE: return order <= 0;
    case OP_GT: return order > 0;
    case OP_GE: return order >= 0;
    case OP_EQ: return order == 0;
    }
    return order != 0;
}

static void test_relations(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    for (Op op = OP_LT; op <= OP_NE; op++) {
        const Expr *const on_reals = two(&m, op, real_leaf(&m, 0), real_leaf(&m, 1));
        for (uint32_t j = 0; j < LENGTH(reals); j++)
            for (uint32_t k = 0; k < LENGTH(reals); k++)
                assert_int_equal(integer_result(on_reals, (Value){ .r = reals[j] }, (Value){ .r = reals[k] }),
                                 expected_relation(op, (reals[j] > reals[k]) - (reals[j] < reals[k])));
        const Expr *const on_integers =
            two(&m, op, expr_leaf(m.pool, 0, INTEGER_TYPE), expr_leaf(m.pool, 1, INTEGER_TYPE));
        for (uint32_t j = 0; j < LENGTH(integers); j++)
            for (uint32_t k = 0; k < LENGTH(integers); k++)
                assert_int_equal(integer_result(on_integers, (Value){ .i = integers[j] }, (Value){ .i = integers[k] }),
                                 expected_relation(op, (integers[j] > integers[k]) - (integers[j] < integers[k])));
        const Expr *const on_booleans =
            two(&m, op, expr_leaf(m.pool, 0, BOOLEAN_TYPE), expr_leaf(m.pool, 1, BOOLEAN_TYPE));
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                assert_int_equal(integer_result(on_booleans, (Value){ .i = j }, (Value){ .i = k }),
                                 expected_relation(op, j - k));
        /* Nothing is less than, equal to or greater than what is not a number. */
        assert_int_equal(integer_result(on_reals, (Value){ .r = NAN }, (Value){ .r = 1 }), op == OP_NE);
    }
    maker_destroy(&m);
}

__extension__ typedef __int128 Wide;

static int64_t expected_64(Wide exact)
{
    return exact > INT64_MAX || exact <= INT64_MIN ? INTEGER_FAULT : (int64_t)exact;
}

static int64_t expected_integer(Op op, int64_t a, int64_t b)
{
    switch ((int)op) {
    case OP_ADD: return expected_64((Wide)a + b);
    case OP_SUB: return expected_64((Wide)a - b);
    case OP_MUL: return expected_64((Wide)a * b);
    case OP_IDIV: return b == 0 ? INTEGER_FAULT : a / b;
    case OP_IMOD: return b == 0 ? INTEGER_FAULT : a % b;
    case OP_MIN: return a < b ? a : b;
    }
    return a > b ? a : b; /* max */
}

static void test_integer_operations(void **state)
{
    (void)state;
    static const Op ops[] = { OP_ADD, OP_SUB, OP_MUL, OP_IDIV, OP_IMOD, OP_MIN, OP_MAX };
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const a = expr_leaf(m.pool, 0, INTEGER_TYPE), *const b = expr_leaf(m.pool, 1, INTEGER_TYPE);
    const Value none = { .i = 0 };
    for (uint32_t j = 0; j < LENGTH(integers); j++) {
        const Value value = { .i = integers[j] };
        for (uint32_t r = 0; r < LENGTH(ops); r++)
            for (uint32_t k = 0; k < LENGTH(integers); k++)
                assert_int_equal(integer_result(two(&m, ops[r], a, b), value, (Value){ .i = integers[k] }),
                                 expected_integer(ops[r], integers[j], integers[k]));
        assert_int_equal(integer_result(one(&m, OP_NEG, a), value, none), -value.i);
        assert_int_equal(integer_result(one(&m, OP_ABS, a), value, none), value.i < 0 ? -value.i : value.i);
        assert_int_equal(integer_result(one(&m, OP_SIGN, a), value, none), (value.i > 0) - (value.i < 0));
        Value real;
        assert_true(expr_evaluate(one(&m, OP_REAL, a), &value, NULL, &real));
        assert_same_bits(real.r, (double)value.i);
    }
    maker_destroy(&m);
}

static void test_conversions(void **state)
{
    (void)state;
    static const struct {
        double x;
        int64_t floor, ceil, trunc, round;
    } rows[] = { { 2.5, 2, 3, 2, 3 },
                 { -2.5, -3, -2, -2, -3 },
                 { 0.4, 0, 1, 0, 0 },
                 { -0.0, 0, 0, 0, 0 },
                 { 1e10, 10000000000, 10000000000, 10000000000, 10000000000 },
                 { 0x1p63, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT },
                 { -1e300, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT },
                 { NAN, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT },
                 { INFINITY, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT, INTEGER_FAULT } };
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0);
    const Value none = { .i = 0 };
    for (uint32_t k = 0; k < LENGTH(rows); k++) {
        const Value value = { .r = rows[k].x };
        assert_true(integer_result(one(&m, OP_IFLOOR, x), value, none) == rows[k].floor);
        assert_true(integer_result(one(&m, OP_ICEIL, x), value, none) == rows[k].ceil);
        assert_true(integer_result(one(&m, OP_ITRUNC, x), value, none) == rows[k].trunc);
        assert_true(integer_result(one(&m, OP_IROUND, x), value, none) == rows[k].round);
    }
    const NameId names[] = { names_text(pool_names(m.pool), "red"), names_text(pool_names(m.pool), "blue") };
    const uint32_t colours =
        pool_enumeration(m.pool, &(Enumeration){ .name = names[0], .is_ordered = true, .n = 2, .values = names });
    assert_int_equal(integer_result(one(&m, OP_NUMBER, expr_enum(m.pool, colours, 2)), none, none), 2);
    assert_int_equal(integer_result(one(&m, OP_NUMBER, truth(&m, true)), none, none), 1);
    maker_destroy(&m);
}

static void test_logic(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const a = expr_leaf(m.pool, 0, BOOLEAN_TYPE), *const b = expr_leaf(m.pool, 1, BOOLEAN_TYPE);
    for (int64_t j = 0; j < 2; j++)
        for (int64_t k = 0; k < 2; k++) {
            const Value p = { .i = j }, q = { .i = k };
            assert_int_equal(integer_result(two(&m, OP_AND, a, b), p, q), j && k);
            assert_int_equal(integer_result(two(&m, OP_OR, a, b), p, q), j || k);
            assert_int_equal(integer_result(one(&m, OP_NOT, a), p, q), !j);
        }
    maker_destroy(&m);
}

/* Only the chosen branch has to be there. */
static void test_branches_are_lazy(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const index = whole(&m, 1), *const element = expr_element(m.pool, 1, REAL_TYPE, 1, &index);
    const Expr *const positive = two(&m, OP_GT, real_leaf(&m, 0), number(&m, 0));
    const Expr *const e = expr_if(m.pool, positive, number(&m, 7), element);
    Value result;
    assert_true(expr_evaluate(e, &(Value){ .r = 1 }, NULL, &result));
    assert_true(result.r == 7);
    assert_false(expr_evaluate(e, &(Value){ .r = -1 }, NULL, &result));
    const Expr *const strange = two(&m, OP_GT, element, number(&m, 0));
    assert_true(expr_evaluate(two(&m, OP_OR, positive, strange), &(Value){ .r = 1 }, NULL, &result));
    assert_false(expr_evaluate(two(&m, OP_AND, positive, strange), &(Value){ .r = 1 }, NULL, &result));
    maker_destroy(&m);
}

static void test_not_evaluable(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0), *const index = whole(&m, 1);
    const Type vector = { TYPE_REAL, 1, 0 };
    const Expr *const cases[] = { expr_element(m.pool, 0, REAL_TYPE, 1, &index),
                                  expr_string(m.pool, names_text(pool_names(m.pool), "text")),
                                  expr_function(m.pool, NULL, 0, REAL_TYPE, 1, &x),
                                  expr_array(m.pool, 1, &x),
                                  expr_leaf(m.pool, 0, vector),
                                  two(&m, OP_ADD, expr_leaf(m.pool, 0, vector), expr_leaf(m.pool, 0, vector)),
                                  expr_iterator(m.pool, 0) };
    for (uint32_t k = 0; k < LENGTH(cases); k++) {
        Value result;
        assert_false(expr_evaluate(cases[k], &(Value){ .r = 1 }, NULL, &result));
    }
    maker_destroy(&m);
}

static void test_reductions(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const i = expr_iterator(m.pool, 1), *const outer = expr_iterator(m.pool, 0);
    const Expr *const body = two(&m, OP_ADD, two(&m, OP_MUL, i, i), outer); /* i*i + outer */
    static const struct {
        Op op;
        int64_t lo, step, hi, expected;
    } rows[] = {
        { OP_ADD, 1, 1, 4, 70 },
        { OP_ADD, 4, -1, 1, 70 },
        { OP_ADD, 1, 2, 4, 30 },
        { OP_ADD, 2, 1, 1, 0 },
        { OP_MUL, 1, 1, 2, 11 * 14 },
        { OP_MUL, 2, 1, 1, 1 },
        { OP_MIN, -2, 1, 3, 10 },
        { OP_MAX, -2, 1, 3, 19 },
        { OP_MIN, 2, 1, 1, INTEGER_FAULT },
        { OP_ADD, 1, 0, 3, INTEGER_FAULT },
    };
    const int64_t iterators[] = { 10 };
    Value result;
    for (uint32_t k = 0; k < LENGTH(rows); k++) {
        const Expr *const e = expr_reduce(m.pool, rows[k].op, 1, body, whole(&m, rows[k].lo), whole(&m, rows[k].step),
                                          whole(&m, rows[k].hi));
        assert_true(expr_evaluate(e, NULL, iterators, &result));
        assert_true(result.i == rows[k].expected);
    }
    const Expr *const small = two(&m, OP_LT, i, whole(&m, 3));
    const Expr *const all = expr_reduce(m.pool, OP_AND, 1, small, whole(&m, 1), whole(&m, 1), whole(&m, 3));
    const Expr *const any = expr_reduce(m.pool, OP_OR, 1, small, whole(&m, 1), whole(&m, 1), whole(&m, 3));
    assert_true(expr_evaluate(all, NULL, NULL, &result) && result.i == 0);
    assert_true(expr_evaluate(any, NULL, NULL, &result) && result.i == 1);
    maker_destroy(&m);
}

/* Double and long double agree unless rounding matters; the spread says how much it does. */
static void test_random_against_reference(void **state)
{
    (void)state;
    uint32_t n_compared = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = make_real(&m, 5 + random_below(&m, 60));
        Value leaves[N_LEAVES], result;
        make_leaves(&m, leaves);
        Reference r = make_reference(leaves, NULL);
        const long double expected = reference(&r, e);
        assert_true(expr_evaluate(e, leaves, NULL, &result));
        const double tolerance = 100 * rounding_spread(e, leaves, seed) + 1e-13 * fabs((double)expected);
        if (!r.is_bad && !r.is_zero_atan2 && tolerance < 1e-6 * (1 + fabs((double)expected))) {
            n_compared++;
            if (!(fabs((double)(result.r - expected)) <= tolerance)) {
                print_expr(e);
                fail_msg(" seed %u: %.17g instead of %.17g", (unsigned)seed, result.r, (double)expected);
            }
        }
        maker_destroy(&m);
    }
    assert_true(n_compared > 2000);
}

/* x0, x1 = x0*x0, ...: a tree of 2^61 nodes; and the same inside a sum. */
static void test_sharing_is_linear(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *e = real_leaf(&m, 0);
    for (uint32_t k = 0; k < 60; k++)
        e = two(&m, OP_MUL, e, e);
    Value result;
    assert_true(expr_evaluate(e, &(Value){ .r = -1 }, NULL, &result));
    assert_true(result.r == 1);
    const Expr *body = one(&m, OP_REAL, expr_iterator(m.pool, 0));
    for (uint32_t k = 0; k < 60; k++)
        body = two(&m, OP_SUB, two(&m, OP_ADD, body, body), body);
    const Expr *const sum = expr_reduce(m.pool, OP_ADD, 0, body, whole(&m, 1), whole(&m, 1), whole(&m, 100));
    assert_true(expr_evaluate(sum, NULL, NULL, &result));
    assert_true(result.r == 5050);
    maker_destroy(&m);
}

/* ---- faults ---- */
static void assert_fault(const Expr *e, const Value *leaves, const Expr *expected, double a, double b)
{
    const Expr *where = NULL;
    Value operands[2];
    assert_true(expr_fault(e, leaves, NULL, &where, operands));
    assert_ptr_equal(where, expected);
    assert_true(operands[0].r == a);
    assert_true(operands[1].r == b);
}

static void test_fault_is_the_innermost(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0), *const y = real_leaf(&m, 1);
    const Expr *const inverse = two(&m, OP_DIV, number(&m, 1), x), *const root = one(&m, OP_SQRT, y);
    const Value zero[] = { { .r = 0 }, { .r = 4 } }, negative_root[] = { { .r = 1 }, { .r = -4 } },
                good[] = { { .r = 1 }, { .r = 4 } }, both[] = { { .r = 0 }, { .r = -4 } };
    const Expr *const e = one(&m, OP_SIN, two(&m, OP_ADD, two(&m, OP_MUL, inverse, number(&m, 3)), root));
    assert_fault(e, zero, inverse, 1, 0);
    assert_fault(e, negative_root, root, -4, 0);
    assert_fault(e, both, inverse, 1, 0); /* the first in order */
    const Expr *where;
    Value operands[2];
    assert_false(expr_fault(e, good, NULL, &where, operands));

    /* 1/0 does not reach the result: log(-2) is to blame. */
    const Expr *const large = two(&m, OP_GT, inverse, number(&m, 3));
    const Expr *const guarded = expr_if(m.pool, large, number(&m, -2), number(&m, 5));
    assert_fault(one(&m, OP_LOG, guarded), zero, one(&m, OP_LOG, guarded), -2, 0);
    assert_false(expr_fault(one(&m, OP_ATAN, inverse), zero, NULL, &where, operands));

    /* A value that came in broken. */
    const Value broken[] = { { .r = INFINITY }, { .r = 1 } };
    assert_fault(two(&m, OP_ADD, x, y), broken, x, INFINITY, 0);
    maker_destroy(&m);
}

/* Wrapping arithmetic hides INTEGER_FAULT, the search must not. */
static void test_integer_fault_lasts(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const k = expr_leaf(m.pool, 0, INTEGER_TYPE);
    const Expr *const quotient = two(&m, OP_IDIV, whole(&m, 7), k);
    const Expr *const e = two(&m, OP_MUL, one(&m, OP_REAL, two(&m, OP_ADD, quotient, whole(&m, 1))), number(&m, 2));
    const Expr *const condition = expr_if(m.pool, two(&m, OP_GT, quotient, whole(&m, 0)), e, number(&m, 1));
    const Expr *where;
    Value operands[2];
    assert_true(expr_fault(e, &(Value){ .i = 0 }, NULL, &where, operands));
    assert_ptr_equal(where, quotient);
    assert_true(operands[0].i == 7 && operands[1].i == 0);
    assert_true(expr_fault(condition, &(Value){ .i = 0 }, NULL, &where, operands));
    assert_ptr_equal(where, quotient);
    assert_false(expr_fault(condition, &(Value){ .i = 2 }, NULL, &where, operands));

    const Expr *const conversion = one(&m, OP_IROUND, real_leaf(&m, 0));
    assert_true(expr_fault(conversion, &(Value){ .r = 1e30 }, NULL, &where, operands));
    assert_ptr_equal(where, conversion);
    assert_true(operands[0].r == 1e30);
    maker_destroy(&m);
}

static void test_fault_in_a_reduction(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const i = one(&m, OP_REAL, expr_iterator(m.pool, 0));
    const Expr *const distance = two(&m, OP_SUB, i, real_leaf(&m, 0));
    const Expr *const inverse = two(&m, OP_DIV, number(&m, 1), distance);
    const Expr *const sum = expr_reduce(m.pool, OP_ADD, 0, inverse, whole(&m, 1), whole(&m, 1), whole(&m, 5));
    const Value leaves[] = { { .r = 3 }, { .r = 0 } };
    assert_fault(sum, leaves, inverse, 1, 0);
    const Expr *const large = two(&m, OP_MUL, i, number(&m, 1e308));
    const Expr *const overflow = expr_reduce(m.pool, OP_ADD, 0, large, whole(&m, 1), whole(&m, 1), whole(&m, 2));
    const Expr *where;
    Value operands[2];
    assert_true(expr_fault(overflow, NULL, NULL, &where, operands));
    assert_ptr_equal(where, overflow->args[0]); /* 2e308 */
    const Expr *const constant =
        expr_reduce(m.pool, OP_ADD, 0, number(&m, 1e308), whole(&m, 1), whole(&m, 1), whole(&m, 2));
    assert_fault(constant, NULL, constant, 1e308, 1e308);
    maker_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_functions),      cmocka_unit_test(test_real_operations),
        cmocka_unit_test(test_relations),           cmocka_unit_test(test_integer_operations),
        cmocka_unit_test(test_conversions),         cmocka_unit_test(test_logic),
        cmocka_unit_test(test_branches_are_lazy),   cmocka_unit_test(test_not_evaluable),
        cmocka_unit_test(test_reductions),          cmocka_unit_test(test_random_against_reference),
        cmocka_unit_test(test_sharing_is_linear),   cmocka_unit_test(test_fault_is_the_innermost),
        cmocka_unit_test(test_integer_fault_lasts), cmocka_unit_test(test_fault_in_a_reduction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
