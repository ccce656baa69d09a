/* Derivatives: the rules, all operations against differences of high order, cost on shared expressions. */
#include "assertions.h"
#include "test_algebra_random.h"
#include "ir/derive.h"
#include "ir/simplify.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct {
    const Expr *e, *expected;
} Row;

static void assert_derivative(Maker *m, const Expr *e, const Expr *leaf, const Expr *expected)
{
    const Expr *const derivative = expr_derive(m->pool, e, leaf);
    assertion_made();
    if (derivative == expected)
        return;
    print_expr(e);
    printf(" gives ");
    if (derivative)
        print_expr(derivative);
    printf(" instead of ");
    if (expected)
        print_expr(expected);
    fail_msg(" ");
}

/* By x0, as a person would write them. */
static void test_rules(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0), *const y = real_leaf(m, 1), *const zero = number(m, 0);
    const Expr *const xx = two(m, OP_MUL, x, x), *const c1 = number(m, 1), *const c2 = number(m, 2);
    const Expr *const p = expr_leaf(pool, 6, BOOLEAN_TYPE), *const i = expr_iterator(pool, 0);
    const Expr *const tan_x = one(m, OP_TAN, x), *const tanh_x = one(m, OP_TANH, x);
    const Expr *const root = one(m, OP_SQRT, two(m, OP_MUL, two(m, OP_SUB, c1, x), two(m, OP_ADD, x, c1)));
    const Expr *const relation = two(m, OP_GT, x, y);
    const Expr *const body = two(m, OP_MUL, one(m, OP_REAL, i), x);
    const Row rows[] = {
        { x, c1 },
        { y, zero },
        { number(m, 3), zero },
        { one(m, OP_NEG, x), number(m, -1) },
        { two(m, OP_ADD, x, y), c1 },
        { two(m, OP_SUB, y, x), number(m, -1) },
        { two(m, OP_MUL, x, y), y },
        { xx, two(m, OP_MUL, c2, x) },
        { two(m, OP_DIV, x, y), two(m, OP_DIV, c1, y) },
        { two(m, OP_DIV, c1, x), two(m, OP_DIV, number(m, -1), xx) },
        { two(m, OP_POW, x, number(m, 3)), two(m, OP_MUL, number(m, 3), xx) },
        { two(m, OP_POW, x, number(m, 5)), two(m, OP_MUL, number(m, 5), two(m, OP_MUL, xx, xx)) },
        { two(m, OP_POW, x, y), two(m, OP_MUL, y, two(m, OP_POW, x, two(m, OP_SUB, y, c1))) },
        { one(m, OP_SQRT, x), two(m, OP_DIV, number(m, 0.5), one(m, OP_SQRT, x)) },
        { one(m, OP_EXP, two(m, OP_MUL, c2, x)), two(m, OP_MUL, c2, one(m, OP_EXP, two(m, OP_MUL, c2, x))) },
        { one(m, OP_LOG, x), two(m, OP_DIV, c1, x) },
        { one(m, OP_SIN, x), one(m, OP_COS, x) },
        { one(m, OP_COS, x), one(m, OP_NEG, one(m, OP_SIN, x)) },
        { tan_x, two(m, OP_ADD, two(m, OP_MUL, tan_x, tan_x), c1) },
        { one(m, OP_ASIN, x), two(m, OP_DIV, c1, root) },
        { one(m, OP_ACOS, x), two(m, OP_DIV, number(m, -1), root) },
        { one(m, OP_ATAN, x), two(m, OP_DIV, c1, two(m, OP_ADD, xx, c1)) },
        { one(m, OP_SINH, x), one(m, OP_COSH, x) },
        { one(m, OP_COSH, x), one(m, OP_SINH, x) },
        { tanh_x, two(m, OP_SUB, c1, two(m, OP_MUL, tanh_x, tanh_x)) },
        { one(m, OP_ABS, x), expr_if(pool, expr_literal_relation(pool, OP_GE, x, zero), c1, number(m, -1)) },
        { two(m, OP_MIN, x, y), expr_if(pool, expr_literal_relation(pool, OP_LT, y, x), zero, c1) },
        { two(m, OP_MAX, x, y), expr_if(pool, expr_literal_relation(pool, OP_GT, y, x), zero, c1) },
        { one(m, OP_FLOOR, x), zero },
        { one(m, OP_SIGN, x), zero },
        { one(m, OP_REAL, one(m, OP_IROUND, x)), zero },
        { one(m, OP_IROUND, x), zero },
        { relation, zero },
        { expr_if(pool, p, xx, y), expr_if(pool, p, two(m, OP_MUL, c2, x), zero) },
        { expr_if(pool, relation, x, y), expr_if(pool, relation, c1, zero) }, /* the same event */
        { expr_if(pool, relation, two(m, OP_ADD, x, y), x), c1 },
        { two(m, OP_HOMOTOPY, xx, x), two(m, OP_HOMOTOPY, two(m, OP_MUL, c2, x), c1) },
        { expr_reduce(pool, OP_ADD, 0, body, whole(m, 1), whole(m, 1), whole(m, 5)),
          expr_reduce(pool, OP_ADD, 0, one(m, OP_REAL, i), whole(m, 1), whole(m, 1), whole(m, 5)) },
        { expr_reduce(pool, OP_MUL, 0, body, whole(m, 1), whole(m, 1), whole(m, 5)), NULL },
        { expr_reduce(pool, OP_MUL, 0, y, whole(m, 1), whole(m, 1), whole(m, 5)), zero },
        { expr_function(pool, NULL, 0, REAL_TYPE, 1, &x), NULL },
        { expr_function(pool, NULL, 0, REAL_TYPE, 1, &y), zero },
        { expr_string(pool, names_text(pool_names(pool), "text")), NULL },
    };
    for (uint32_t k = 0; k < LENGTH(rows); k++)
        assert_derivative(m, rows[k].e, x, rows[k].expected);
    maker_destroy(m);
}

/* Leaves are nodes: x[1] and x[i] are different ones, and so are elements of arrays. */
static void test_elements(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Type vector = { TYPE_REAL, 1, 0 };
    const Expr *const i = expr_iterator(pool, 0), *const first = whole(m, 1);
    const Expr *const sum = two(m, OP_ADD, i, two(m, OP_SUB, whole(m, 3), whole(m, 2))), /* i + (3 - 2) */
        *const next = two(m, OP_ADD, i, whole(m, 1));
    const Expr *const x_i = expr_element(pool, 0, REAL_TYPE, 1, &i), *const x_1 =
                                                                         expr_element(pool, 0, REAL_TYPE, 1, &first);
    const Expr *const x_sum = expr_element(pool, 0, REAL_TYPE, 1, &sum), *const x_next =
                                                                             expr_element(pool, 0, REAL_TYPE, 1, &next);
    const Expr *const e = two(m, OP_MUL, x_i, x_1);
    assert_derivative(m, e, x_i, x_1);
    assert_derivative(m, e, x_1, x_i);
    assert_derivative(m, two(m, OP_MUL, x_sum, x_i), x_sum, x_i);
    assert_derivative(m, two(m, OP_MUL, x_sum, x_i), x_next, x_i);
    assert_derivative(m, e, expr_leaf(pool, 1, REAL_TYPE), number(m, 0));
    assert_derivative(m, e, expr_leaf(pool, 0, vector), NULL);
    const Expr *const elements[] = { x_i, x_1, number(m, 3) }, *const expected[] = { number(m, 0), number(m, 1),
                                                                                     number(m, 0) };
    assert_derivative(m, expr_array(pool, 3, elements), x_1, expr_array(pool, 3, expected));
    const Expr *const zeros[] = { number(m, 0), number(m, 0), number(m, 0) };
    assert_derivative(m, expr_array(pool, 3, elements), expr_leaf(pool, 1, REAL_TYPE), expr_array(pool, 3, zeros));
    maker_destroy(m);
}

typedef struct {
    Maker *m;
    uint32_t n_asked;
} Seeds;

/* Leaf k has the derivative leaf k + 10; leaf 1 is constant. */
static const Expr *seed_of(void *context, const Expr *leaf)
{
    Seeds *const seeds = context;
    seeds->n_asked++;
    return leaf->u.leaf == 1 ? NULL : expr_leaf(seeds->m->pool, leaf->u.leaf + 10, leaf->type);
}

static void test_total_derivative(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    Seeds seeds = { m, 0 };
    const Expr *const x = real_leaf(m, 0), *const y = real_leaf(m, 1), *const z = real_leaf(m, 2);
    const Expr *const dx = real_leaf(m, 10), *const dz = real_leaf(m, 12);
    const Expr *const e = two(m, OP_ADD, two(m, OP_MUL, x, z), two(m, OP_MUL, y, x));
    const Expr *const dxz = two(m, OP_ADD, two(m, OP_MUL, dx, z), two(m, OP_MUL, x, dz));
    assert_ptr_equal(expr_time_derivative(pool, e, seed_of, &seeds), two(m, OP_ADD, dxz, two(m, OP_MUL, y, dx)));
    assert_int_equal(seeds.n_asked, 3);
    assert_ptr_equal(expr_time_derivative(pool, one(m, OP_SIN, x), seed_of, &seeds),
                     two(m, OP_MUL, one(m, OP_COS, x), dx));
    /* x*x + y*y = 1: the first step of index reduction. */
    const Expr *const circle = two(m, OP_ADD, two(m, OP_MUL, x, x), two(m, OP_MUL, z, z));
    assert_ptr_equal(expr_time_derivative(pool, circle, seed_of, &seeds),
                     two(m, OP_ADD, two(m, OP_MUL, number(m, 2), two(m, OP_MUL, x, dx)),
                         two(m, OP_MUL, number(m, 2), two(m, OP_MUL, z, dz))));
    const Type vector = { TYPE_REAL, 1, 0 };
    assert_ptr_equal(expr_time_derivative(pool, expr_leaf(pool, 0, vector), seed_of, &seeds),
                     expr_leaf(pool, 10, vector));
    maker_destroy(m);
}

/* Central difference of order 6 by Real leaf k, in long double. */
static long double difference(const Expr *e, const Value *leaves, uint32_t k, long double h, bool *is_bad)
{
    static const long double weights[] = { 3.0L / 4, -3.0L / 20, 1.0L / 60 };
    long double sum = 0;
    for (int j = 1; j <= 3; j++)
        for (int side = -1; side <= 1; side += 2) {
            Reference r = make_reference(leaves, NULL);
            r.reals[k] += side * j * h;
            sum += side * weights[j - 1] * reference(&r, e);
            *is_bad |= r.is_bad || r.has_many_steps || r.is_zero_atan2;
        }
    return sum / h;
}

/* Difference of order 4 from one side: just at a kink the two sides tell. */
static long double one_sided(const Expr *e, const Value *leaves, uint32_t k, long double h)
{
    static const long double weights[] = { -25.0L / 12, 4, -3, 4.0L / 3, -1.0L / 4 };
    long double sum = 0;
    for (int j = 0; j <= 4; j++) {
        Reference r = make_reference(leaves, NULL);
        r.reals[k] += j * h;
        sum += weights[j] * reference(&r, e);
    }
    return sum / h;
}

typedef struct {
    uint32_t compared, nonzero, left_out, none;
} Counts;

/* Tolerance 1e-7 relative to 1 + |derivative|, where two step sizes agree that well and rounding, of the derivative
 * and of the differences, matters less. Where it is not so, a kink or a singularity is near: left out. */
static void compare_with_differences(Maker *m, const Expr *e, const Value *leaves, uint32_t k, Counts *counts)
{
    const Expr *const derivative = expr_derive(m->pool, e, real_leaf(m, k));
    if (!derivative) {
        counts->none++;
        return;
    }
    Reference r = make_reference(leaves, NULL);
    const double value = (double)reference(&r, derivative);
    reference(&r, e);
    bool is_bad = r.is_bad || r.is_tie; /* bad: sqrt(u) where u and u' are 0, and the like */
    const double coarse = (double)difference(e, leaves, k, 2e-3L, &is_bad);
    const double fine = (double)difference(e, leaves, k, 1e-3L, &is_bad);
    const double jump = (double)(one_sided(e, leaves, k, 1e-4L) - one_sided(e, leaves, k, -1e-4L));
    /* Rounding of the differences: 1e-19 instead of the 1e-15 of the spread, divided by the step. */
    const double spread = rounding_spread(derivative, leaves, 1) + 0.1 * rounding_spread(e, leaves, 1);
    const double tolerance = 1e-7 * (1 + fabs(fine));
    if (is_bad || !(fabs(coarse - fine) < 0.1 * tolerance) || !(fabs(jump) < tolerance) ||
        !(spread < 0.1 * tolerance)) {
        counts->left_out++;
        return;
    }
    counts->compared++;
    counts->nonzero += fabs(fine) > tolerance;
    if (!(fabs(value - fine) <= tolerance)) {
        print_expr(e);
        printf("\nby x%u: ", k);
        print_expr(derivative);
        fail_msg(" : %.17g, differences %.17g", value, fine);
    }
}

static void test_random_against_differences(void **state)
{
    (void)state;
    Counts counts = { 0 };
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = make_real(&m, 3 + random_below(&m, 40));
        Value leaves[N_LEAVES];
        make_leaves(&m, leaves);
        for (uint32_t k = 0; k < N_REAL; k++)
            compare_with_differences(&m, e, leaves, k, &counts);
        maker_destroy(&m);
    }
    fail_if(counts.compared < 10000 || counts.nonzero < 1500 || counts.none > 2000,
            "compared %u, nonzero %u, left out %u, none %u", counts.compared, counts.nonzero, counts.left_out,
            counts.none);
}

/* Each Real operation by each of its arguments, at fixed points where it is smooth. */
static void test_every_operation(void **state)
{
    (void)state;
    static const double points[][2] = { { 0.3, 0.8 }, { 0.7, -0.4 }, { 0.05, 2.5 }, { 0.9, 0.1 } };
    Maker m = maker_create(1, WITH_ALL);
    for (Op op = 0; op < OP_COUNT; op++) {
        const bool is_real = !op_is_relation(op) && op != OP_IDIV && op != OP_IMOD && op != OP_NARROW &&
                             op != OP_AT_LEAST && op != OP_REAL && op != OP_NUMBER && op != OP_NOT && op != OP_AND &&
                             op != OP_OR && op != OP_ELEMENT && op != OP_MIX && op != OP_RANDOM;
        if (!is_real)
            continue;
        const Expr *const args[] = { real_leaf(&m, 0), real_leaf(&m, 1) };
        const Expr *const e = expr_call(m.pool, op, op_arity(op), args);
        for (uint32_t k = 0; k < op_arity(op); k++)
            for (uint32_t j = 0; j < LENGTH(points); j++) {
                Value leaves[N_LEAVES] = { { .r = points[j][0] }, { .r = points[j][1] } }, value;
                bool is_bad = false;
                const double expected = (double)difference(e, leaves, k, 1e-3L, &is_bad);
                const Expr *const derivative = expr_derive(m.pool, e, args[k]);
                assert_non_null(derivative);
                assert_true(expr_evaluate(derivative, leaves, NULL, &value));
                assert_false(is_bad);
                fail_if(!(fabs(value.r - expected) <= 1e-9 * (1 + fabs(expected))),
                        "%s by argument %u: %.17g, differences %.17g", op_text(op), k, value.r, expected);
            }
    }
    maker_destroy(&m);
}

static void test_sharing_is_linear(void **state)
{
    (void)state;
    enum { LEVELS = 60 };
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0);
    const Expr *e = x;
    for (uint32_t k = 0; k < LEVELS; k++)
        e = two(&m, OP_MUL, e, e);
    uint32_t before = pool_count(m.pool);
    const Expr *const derivative = expr_derive(m.pool, e, x);
    assert_true(pool_count(m.pool) - before <= 8 * LEVELS);
    assert_true(count_nodes(&m, derivative) <= 4 * LEVELS);
    Value value;
    assert_true(expr_evaluate(derivative, &(Value){ .r = 1 }, NULL, &value));
    assert_true(value.r == 0x1p60);

    e = x;
    for (uint32_t k = 0; k < LEVELS; k++)
        e = two(&m, OP_DIV, one(&m, OP_SIN, e), two(&m, OP_ADD, e, one(&m, OP_EXP, e)));
    before = pool_count(m.pool);
    assert_non_null(expr_derive(m.pool, e, x));
    assert_true(pool_count(m.pool) - before <= 20 * LEVELS);

    /* No derivative, found at once and not 2^60 times. */
    e = expr_function(m.pool, NULL, 0, REAL_TYPE, 1, &x);
    for (uint32_t k = 0; k < LEVELS; k++)
        e = expr_if(m.pool, two(&m, OP_GT, e, x), two(&m, OP_MUL, e, e), e);
    assert_null(expr_derive(m.pool, e, x));
    maker_destroy(&m);
}

/* A derivative that would be too deep is refused. */
static void test_depth_limit(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0);
    const Expr *e = x;
    while (e->depth < EXPR_DEPTH)
        e = two(&m, OP_ADD, e, real_leaf(&m, 1));
    assert_ptr_equal(expr_derive(m.pool, e, x), number(&m, 1));
    e = x;
    while (e->depth < EXPR_DEPTH)
        e = one(&m, OP_SIN, e);
    const Expr *const chain = expr_derive(m.pool, e, x);
    assert_true(chain == NULL || chain->depth <= EXPR_DEPTH);
    e = x;
    while (e->depth + 1 < EXPR_DEPTH)
        e = two(&m, OP_MUL, two(&m, OP_ADD, e, real_leaf(&m, 1)), x);
    const Expr *const product = expr_derive(m.pool, e, x);
    assert_true(product == NULL || product->depth <= EXPR_DEPTH);
    maker_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_total_derivative),
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_random_against_differences),
        cmocka_unit_test(test_sharing_is_linear),
        cmocka_unit_test(test_depth_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
