/* Dependence, linear forms, solutions as a person writes them, residuals of random equations. */
#include "assertions.h"
#include "test_algebra_random.h"
#include "ir/solve.h"
#include "ir/substitute.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void test_dependence(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0), *const y = real_leaf(m, 1), *const z = real_leaf(m, 2);
    const Expr *const k = expr_leaf(pool, 4, INTEGER_TYPE), *const first = whole(m, 1);
    const Expr *const a_k = expr_element(pool, 5, REAL_TYPE, 1, &k), *const a_1 =
                                                                         expr_element(pool, 5, REAL_TYPE, 1, &first);
    const Expr *const e = two(m, OP_ADD, two(m, OP_MUL, x, z), a_k);
    assert_true(expr_depends_on(e, x));
    assert_false(expr_depends_on(e, y));
    assert_true(expr_depends_on(e, k)); /* in an index */
    assert_true(expr_depends_on(e, a_k));
    assert_false(expr_depends_on(e, a_1)); /* another node */
    assert_true(expr_uses_leaf(e, 0));
    assert_false(expr_uses_leaf(e, 1));
    assert_false(expr_uses_leaf(e, 3));
    assert_true(expr_uses_leaf(e, 4));
    assert_true(expr_uses_leaf(e, 5));
    assert_false(expr_uses_leaf(e, 6));
    maker_destroy(m);
}

static void assert_linear(Maker *m, const Expr *e, const Expr *leaf, const Expr *coefficient, const Expr *rest)
{
    const Expr *c, *r;
    if (!expr_linear(m->pool, e, leaf, &c, &r)) {
        print_expr(e);
        fail_msg(" is linear");
    }
    assertion_made();
    if (c != coefficient || r != rest) {
        print_expr(c);
        printf(" and ");
        print_expr(r);
        fail_msg(" are wrong");
    }
}

static void test_linear_forms(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0), *const a = real_leaf(m, 1), *const b = real_leaf(m, 2);
    const Expr *const p = expr_leaf(pool, 6, BOOLEAN_TYPE), *const k = expr_leaf(pool, 4, INTEGER_TYPE);
    const Expr *const c0 = number(m, 0), *const c1 = number(m, 1), *const ax = two(m, OP_MUL, a, x);
    const Expr *const i = expr_iterator(pool, 0), *const x_i = expr_element(pool, 3, REAL_TYPE, 1, &i);
    assert_linear(m, x, x, c1, c0);
    assert_linear(m, a, x, c0, a);
    assert_linear(m, ax, x, a, c0);
    assert_linear(m, two(m, OP_ADD, ax, b), x, a, b);
    assert_linear(m, two(m, OP_SUB, b, ax), x, one(m, OP_NEG, a), b);
    assert_linear(m, two(m, OP_DIV, two(m, OP_ADD, x, b), a), x, two(m, OP_DIV, c1, a), two(m, OP_DIV, b, a));
    assert_linear(m, two(m, OP_ADD, ax, x), x, two(m, OP_ADD, a, c1), c0);
    assert_linear(m, two(m, OP_SUB, x, x), x, c0, c0);
    assert_linear(m, expr_if(pool, p, ax, b), x, expr_if(pool, p, a, c0), expr_if(pool, p, c0, b));
    assert_linear(m, two(m, OP_ADD, k, whole(m, 3)), k, whole(m, 1), whole(m, 3));
    const Expr *const sum =
        expr_reduce(pool, OP_ADD, 0, two(m, OP_MUL, one(m, OP_REAL, i), x), whole(m, 1), whole(m, 1), whole(m, 5));
    assert_linear(m, sum, x, expr_reduce(pool, OP_ADD, 0, one(m, OP_REAL, i), whole(m, 1), whole(m, 1), whole(m, 5)),
                  c0);

    const Expr *const not_linear[] = {
        two(m, OP_MUL, x, x),
        two(m, OP_DIV, a, x),
        one(m, OP_SIN, x),
        expr_if(pool, two(m, OP_GT, x, c0), x, a),
        expr_function(pool, NULL, 0, REAL_TYPE, 1, &x),
        two(m, OP_MUL, two(m, OP_ADD, x, a), two(m, OP_SUB, x, a)),
        expr_reduce(pool, OP_MUL, 0, x, whole(m, 1), whole(m, 1), whole(m, 2)),
    };
    const Expr *c, *r;
    for (uint32_t j = 0; j < LENGTH(not_linear); j++)
        assert_false(expr_linear(pool, not_linear[j], x, &c, &r));
    assert_false(expr_linear(pool, one(m, OP_REAL, k), k, &c, &r));
    assert_false(expr_linear(pool, expr_if(pool, p, x, a), p, &c, &r));
    assert_linear(m, ax, k, c0, ax);
    /* The sum of all x[i] is not a multiple of one x[i]. */
    const Expr *const all = expr_reduce(pool, OP_ADD, 0, x_i, whole(m, 1), whole(m, 1), whole(m, 5));
    assert_false(expr_linear(pool, all, x_i, &c, &r));
    assert_linear(m, two(m, OP_MUL, a, x_i), x_i, a, c0);
    maker_destroy(m);
}

typedef struct {
    const Expr *lhs, *rhs, *expected; /* for x; NULL: none */
} Row;

static void test_solutions(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0), *const a = real_leaf(m, 1), *const b = real_leaf(m, 2),
                      *const c = real_leaf(m, 3);
    const Expr *const p = expr_leaf(pool, 6, BOOLEAN_TYPE), *const zero = number(m, 0);
    const Expr *const ax = two(m, OP_MUL, a, x), *const ab = two(m, OP_MUL, a, b);
    const Row rows[] = {
        { x, a, a },
        { a, x, a },
        { a, two(m, OP_MUL, b, x), two(m, OP_DIV, a, b) }, /* u = R*i */
        { two(m, OP_MUL, x, b), a, two(m, OP_DIV, a, b) }, /* C*der = i */
        { two(m, OP_SUB, a, x), b, two(m, OP_SUB, a, b) }, /* a - x = b */
        { two(m, OP_SUB, x, a), b, two(m, OP_ADD, b, a) },
        { two(m, OP_ADD, x, a), b, two(m, OP_SUB, b, a) },
        { two(m, OP_ADD, a, x), zero, one(m, OP_NEG, a) },
        { two(m, OP_ADD, two(m, OP_ADD, x, a), b), zero, one(m, OP_NEG, two(m, OP_ADD, a, b)) },
        { two(m, OP_ADD, two(m, OP_ADD, a, x), b), zero, one(m, OP_NEG, two(m, OP_ADD, a, b)) },
        { two(m, OP_SUB, a, x), zero, a },
        { zero, two(m, OP_SUB, ax, b), two(m, OP_DIV, b, a) },
        { zero, two(m, OP_SUB, b, ax), two(m, OP_DIV, b, a) },
        { one(m, OP_NEG, x), a, one(m, OP_NEG, a) },
        { two(m, OP_DIV, x, a), b, two(m, OP_MUL, b, a) },
        { two(m, OP_MUL, a, two(m, OP_MUL, b, x)), c, two(m, OP_DIV, c, ab) },
        { two(m, OP_DIV, ax, b), c, two(m, OP_DIV, two(m, OP_MUL, c, b), a) },
        { two(m, OP_ADD, ax, b), c, two(m, OP_DIV, two(m, OP_SUB, c, b), a) },
        { two(m, OP_SUB, b, ax), c, two(m, OP_DIV, two(m, OP_SUB, b, c), a) },
        { two(m, OP_MUL, a, two(m, OP_SUB, x, b)), c, two(m, OP_ADD, two(m, OP_DIV, c, a), b) },
        { two(m, OP_MUL, number(m, 2), x), a, two(m, OP_MUL, number(m, 0.5), a) },
        { two(m, OP_MUL, number(m, 3), x), a, two(m, OP_DIV, a, number(m, 3)) },
        { x, two(m, OP_ADD, ax, b), two(m, OP_DIV, b, two(m, OP_SUB, number(m, 1), a)) }, /* on both sides */
        { two(m, OP_ADD, x, a), two(m, OP_SUB, b, x), two(m, OP_MUL, number(m, 0.5), two(m, OP_SUB, b, a)) },
        { two(m, OP_ADD, ax, two(m, OP_MUL, b, x)), c, two(m, OP_DIV, c, two(m, OP_ADD, a, b)) },
        { ax, zero, zero },
        { one(m, OP_EXP, x), a, one(m, OP_LOG, a) },
        { one(m, OP_LOG, x), a, one(m, OP_EXP, a) },
        { one(m, OP_LOG10, x), a, two(m, OP_POW, number(m, 10), a) },
        { two(m, OP_SUB, one(m, OP_EXP, ax), b), zero, two(m, OP_DIV, one(m, OP_LOG, b), a) },
        { two(m, OP_DIV, number(m, 1), x), a, two(m, OP_DIV, number(m, 1), a) },
        { expr_if(pool, p, ax, two(m, OP_MUL, b, x)), c, expr_if(pool, p, two(m, OP_DIV, c, a), two(m, OP_DIV, c, b)) },
        { expr_if(pool, p, two(m, OP_ADD, x, a), two(m, OP_ADD, x, b)), c,
          expr_if(pool, p, two(m, OP_SUB, c, a), two(m, OP_SUB, c, b)) },
        /* none, or more than one, or not known */
        { a, b, NULL },
        { x, x, NULL },
        { two(m, OP_SUB, x, x), a, NULL },
        { two(m, OP_MUL, zero, x), a, NULL },
        { expr_if(pool, p, x, a), b, NULL },
        { two(m, OP_MUL, expr_if(pool, p, a, zero), x), b, NULL },
        { two(m, OP_MUL, x, x), a, NULL },
        { two(m, OP_DIV, a, x), b, NULL },
        { one(m, OP_SQRT, x), a, NULL },
        { one(m, OP_SIN, x), a, NULL },
        { one(m, OP_ATAN, x), a, NULL },
        { one(m, OP_ABS, x), a, NULL },
        { two(m, OP_POW, x, number(m, 2)), a, NULL },
        { one(m, OP_EXP, x), x, NULL },
    };
    for (uint32_t k = 0; k < LENGTH(rows); k++) {
        const Expr *const solution = expr_solve(pool, rows[k].lhs, rows[k].rhs, x);
        assertion_made();
        if (solution != rows[k].expected) {
            print_expr(rows[k].lhs);
            printf(" = ");
            print_expr(rows[k].rhs);
            printf(" gives ");
            if (solution)
                print_expr(solution);
            fail_msg(" in row %u", k);
        }
    }
    maker_destroy(m);
}

static void test_other_types(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const p = expr_leaf(pool, 6, BOOLEAN_TYPE), *const q = expr_leaf(pool, 7, BOOLEAN_TYPE);
    const Expr *const k = expr_leaf(pool, 4, INTEGER_TYPE), *const n = expr_leaf(pool, 5, INTEGER_TYPE);
    assert_ptr_equal(expr_solve(pool, p, one(m, OP_NOT, q), q), one(m, OP_NOT, p));
    assert_ptr_equal(expr_solve(pool, p, one(m, OP_NOT, q), p), one(m, OP_NOT, q));
    assert_null(expr_solve(pool, p, two(m, OP_AND, p, q), q));
    assert_ptr_equal(expr_solve(pool, two(m, OP_ADD, k, whole(m, 1)), n, k), two(m, OP_SUB, n, whole(m, 1)));
    assert_ptr_equal(expr_solve(pool, two(m, OP_SUB, n, k), whole(m, 2), k), two(m, OP_SUB, n, whole(m, 2)));
    assert_null(expr_solve(pool, two(m, OP_MUL, k, whole(m, 2)), n, k));
    assert_ptr_equal(expr_solve(pool, two(m, OP_MUL, k, whole(m, -1)), n, k), one(m, OP_NEG, n));
    const Type vector = { TYPE_REAL, 1, 0 };
    const Expr *const v = expr_leaf(pool, 0, vector), *const w = expr_leaf(pool, 1, vector);
    assert_ptr_equal(expr_solve(pool, v, w, v), w);
    assert_null(expr_solve(pool, two(m, OP_ADD, v, v), w, v));
    maker_destroy(m);
}

/* A random expression that contains x (leaf 0) only where it can be solved for. */
static const Expr *make_solvable(Maker *m, uint32_t size)
{
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0);
    if (size == 0)
        return x;
    const Expr *const e = make_solvable(m, size - 1);
    const Expr *coefficient = two(m, OP_ADD, real_leaf(m, 1 + random_below(m, 3)), number(m, 4)); /* within 1 and 7 */
    switch (random_below(m, 10)) {
    case 0: return two(m, OP_ADD, e, coefficient);
    case 1: return two(m, OP_SUB, coefficient, e);
    case 2: return two(m, OP_MUL, e, coefficient);
    case 3: return two(m, OP_MUL, coefficient, e);
    case 4: return two(m, OP_DIV, e, coefficient);
    case 5: return one(m, OP_NEG, e);
    case 6: return two(m, OP_ADD, two(m, OP_MUL, number(m, 3), e), e);
    case 7: return two(m, OP_SUB, e, two(m, OP_MUL, e, coefficient)); /* its coefficient may vanish, rarely */
    case 8:
        return expr_if(pool, expr_leaf(pool, 6, BOOLEAN_TYPE), two(m, OP_ADD, e, coefficient),
                       two(m, OP_MUL, e, number(m, -2)));
    }
    return two(m, OP_SUB, e, number(m, 1 + random_below(m, 3)));
}

static double value_of(const Expr *e, const Value *leaves)
{
    Value value;
    assert_true(expr_evaluate(e, leaves, NULL, &value));
    return value.r;
}

/* Put back, the solution makes both sides equal, as far as rounding allows. */
static void test_random_residuals(void **state)
{
    (void)state;
    uint32_t n_compared = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        Maker m = maker_create(seed, WITH_POWER | WITH_KINKS);
        const Expr *lhs = make_solvable(&m, 1 + random_below(&m, 6)), *rhs = real_leaf(&m, 1);
        if (random_below(&m, 3) == 0)
            rhs = two(&m, OP_ADD, rhs, two(&m, OP_MUL, number(&m, 0.37), real_leaf(&m, 0)));
        else if (random_below(&m, 3) == 0)
            lhs = one(&m, random_below(&m, 2) ? OP_EXP : OP_LOG, lhs);
        if (random_below(&m, 2)) {
            const Expr *const swapped = lhs;
            lhs = rhs;
            rhs = swapped;
        }
        const Expr *const solution = expr_solve(m.pool, lhs, rhs, real_leaf(&m, 0));
        assert_non_null(solution);
        assert_false(expr_depends_on(solution, real_leaf(&m, 0)));
        Value leaves[N_LEAVES];
        make_leaves(&m, leaves);
        leaves[0].r = value_of(solution, leaves);
        const double left = value_of(lhs, leaves), right = value_of(rhs, leaves);
        if (isfinite(leaves[0].r) && fabs(leaves[0].r) < 1e6 && fabs(left) < 1e6) {
            const double spread = rounding_spread(lhs, leaves, seed) + rounding_spread(rhs, leaves, seed);
            const double shift = rounding_spread(solution, leaves, seed) / (1e-15 + fabs(leaves[0].r)); /* relative */
            n_compared += shift < 1e-12;
            if (shift < 1e-12 && !(fabs(left - right) <= 1e-9 * (1 + fabs(left) + fabs(leaves[0].r)) + 1e4 * spread)) {
                print_expr(lhs);
                printf(" = ");
                print_expr(rhs);
                printf("\n");
                print_expr(solution);
                fail_msg(" seed %u: %.17g and %.17g", (unsigned)seed, left, right);
            }
        }
        maker_destroy(&m);
    }
    fail_if(n_compared < 2500, "compared %u", n_compared);
}

/* The linear form of arbitrary expressions has their value. */
static bool check_linear_form(Maker *m, const Expr *e, const Expr *x, const Value *leaves)
{
    const Expr *coefficient, *rest;
    if (!expr_depends_on(e, x) || !expr_linear(m->pool, e, x, &coefficient, &rest))
        return false;
    assert_false(expr_depends_on(coefficient, x));
    assert_false(expr_depends_on(rest, x));
    Reference r = make_reference(leaves, NULL);
    reference(&r, e);
    const double spread = rounding_spread(e, leaves, 1), value = value_of(e, leaves);
    const double parts[] = { value_of(coefficient, leaves) * leaves[x->u.leaf].r, value_of(rest, leaves) };
    const double scale = fabs(parts[0]) + fabs(parts[1]);
    if (r.is_bad || !isfinite(spread))
        return false;
    if (!(fabs(value - (parts[0] + parts[1])) <= 1e-11 * scale + 100 * spread)) {
        print_expr(e);
        fail_msg(" by x%u: %.17g, form %.17g", x->u.leaf, value, parts[0] + parts[1]);
    }
    return true;
}

static void test_random_linear_forms(void **state)
{
    (void)state;
    uint32_t n_compared = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = make_real(&m, 3 + random_below(&m, 20));
        Value leaves[N_LEAVES];
        make_leaves(&m, leaves);
        for (uint32_t k = 0; k < N_REAL; k++)
            n_compared += check_linear_form(&m, e, real_leaf(&m, k), leaves);
        maker_destroy(&m);
    }
    fail_if(n_compared < 1000, "compared %u", n_compared);
}

static void test_sharing_is_linear(void **state)
{
    (void)state;
    enum { LEVELS = 60 };
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0), *const y = real_leaf(&m, 1), *const last = real_leaf(&m, 3);
    const Expr *e = two(&m, OP_ADD, x, last), *product = two(&m, OP_MUL, x, last);
    const Expr *const stranger = expr_element(m.pool, 2, REAL_TYPE, 1, (const Expr *const[]){ whole(&m, 1) });
    for (uint32_t k = 0; k < LEVELS; k++) {
        e = two(&m, OP_SUB, two(&m, OP_ADD, e, two(&m, OP_MUL, y, e)), e);
        product = two(&m, OP_MUL, product, product);
    }
    assert_false(expr_depends_on(e, stranger));
    assert_false(expr_depends_on(product, stranger));
    assert_false(expr_uses_leaf(e, 2));
    const uint32_t before = pool_count(m.pool);
    const Expr *coefficient, *rest;
    assert_true(expr_linear(m.pool, e, x, &coefficient, &rest));
    assert_true(pool_count(m.pool) - before <= 20 * LEVELS);
    assert_false(expr_linear(m.pool, product, x, &coefficient, &rest));
    assert_non_null(expr_solve(m.pool, e, y, x));
    assert_null(expr_solve(m.pool, product, y, x));
    maker_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dependence),        cmocka_unit_test(test_linear_forms),
        cmocka_unit_test(test_solutions),         cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_random_residuals),  cmocka_unit_test(test_random_linear_forms),
        cmocka_unit_test(test_sharing_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
