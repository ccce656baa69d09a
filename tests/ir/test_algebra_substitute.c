/* Substitution: outermost first, what was put in is left alone, linear on shared expressions; terms. */
#include "test_algebra_random.h"
#include "ir/substitute.h"

static void test_nodes(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const x = real_leaf(m, 0), *const y = real_leaf(m, 1), *const z = real_leaf(m, 2);
    const Expr *const xy = two(m, OP_ADD, x, y), *const e = two(m, OP_MUL, xy, x);

    /* The outer node x + y goes as a whole; x elsewhere becomes y. */
    const Expr *const from[] = { x, xy }, *const to[] = { y, z };
    assert_ptr_equal(expr_substitute(pool, e, 2, from, to), two(m, OP_MUL, z, y));

    /* What was put in is not looked into: swapping works. */
    const Expr *const swap_from[] = { x, y }, *const swap_to[] = { y, x };
    assert_ptr_equal(expr_substitute(pool, e, 2, swap_from, swap_to), two(m, OP_MUL, two(m, OP_ADD, y, x), y));
    const Expr *const grown = two(m, OP_ADD, x, number(m, 1));
    assert_ptr_equal(expr_substitute(pool, x, 1, &x, &grown), grown);

    assert_ptr_equal(expr_substitute(pool, e, 1, &z, &x), e);
    assert_ptr_equal(expr_substitute(pool, e, 0, NULL, NULL), e);
    maker_destroy(m);
}

/* Every kind of node keeps what it carries. */
static void test_kinds(void **state)
{
    (void)state;
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    Pool *const pool = m->pool;
    const Expr *const k = expr_leaf(pool, 4, INTEGER_TYPE), *const three = whole(m, 3),
                      *const i = expr_iterator(pool, 0);
    const Expr *const before[] = { expr_element(pool, 0, REAL_TYPE, 1, &k), one(m, OP_REAL, k) };
    const Expr *const after[] = { expr_element(pool, 0, REAL_TYPE, 1, &three), one(m, OP_REAL, three) };
    const Expr *const *const sides[] = { before, after };
    const Expr *whole_expr[2];
    for (uint32_t s = 0; s < 2; s++) {
        const Expr *const a = sides[s][0], *const b = sides[s][1], *const index = s ? three : k;
        const Expr *const many[] = { a, b, a, b, a, b, number(m, 1) };
        const Expr *const relation = expr_literal_relation(pool, OP_LT, a, b);
        const Expr *const sum =
            expr_reduce(pool, OP_ADD, 0, two(m, OP_MUL, a, one(m, OP_REAL, i)), whole(m, 1), whole(m, 1), index);
        const Expr *const call = expr_function(pool, NULL, 2, REAL_TYPE, 7, many);
        whole_expr[s] = expr_if(pool, relation, sum, call);
    }
    assert_ptr_equal(expr_substitute(pool, whole_expr[0], 1, &k, &three), whole_expr[1]);
    maker_destroy(m);
}

/* The value of e with to for from is that of e where from has the value of to. */
static void test_random_values(void **state)
{
    (void)state;
    uint32_t n_compared = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = make_real(&m, 3 + random_below(&m, 60));
        m.n_old = 0;
        const Expr *const to = make_real(&m, 10), *const from = real_leaf(&m, random_below(&m, N_REAL));
        const Expr *const result = expr_substitute(m.pool, e, 1, &from, &to);
        Value leaves[N_LEAVES], value, expected;
        make_leaves(&m, leaves);
        assert_true(expr_evaluate(to, leaves, NULL, &value));
        assert_true(expr_evaluate(result, leaves, NULL, &expected));
        leaves[from->u.leaf] = value;
        assert_true(expr_evaluate(e, leaves, NULL, &value));
        if (isfinite(value.r)) {
            n_compared++;
            assert_true(value.r == expected.r);
        }
        maker_destroy(&m);
    }
    assert_true(n_compared > 2000);
}

static void test_sharing_is_linear(void **state)
{
    (void)state;
    enum { LEVELS = 60 };
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0), *const y = real_leaf(&m, 1);
    const Expr *e = x, *expected = y;
    for (uint32_t k = 0; k < LEVELS; k++) {
        e = two(&m, OP_MUL, e, e);
        expected = two(&m, OP_MUL, expected, expected);
    }
    const uint32_t before = pool_count(m.pool);
    assert_ptr_equal(expr_substitute(m.pool, e, 1, &x, &y), expected);
    assert_int_equal(pool_count(m.pool), before);
    maker_destroy(&m);
}

static void test_depth_limit(void **state)
{
    (void)state;
    Maker m = maker_create(1, WITH_ALL);
    const Expr *const x = real_leaf(&m, 0);
    const Expr *e = x;
    while (e->depth < EXPR_DEPTH)
        e = one(&m, OP_SIN, e);
    const Expr *const y = real_leaf(&m, 1), *const deeper = one(&m, OP_COS, y);
    assert_int_equal(expr_substitute(m.pool, e, 1, &x, &y)->depth, EXPR_DEPTH);
    assert_null(expr_substitute(m.pool, e, 1, &x, &deeper));
    assert_null(expr_substitute(m.pool, two(&m, OP_MUL, e->args[0], e->args[0]), 1, &x, &deeper));
    maker_destroy(&m);
}

static void test_terms(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Names *const names = names_create(arena);
    Pool *const pool = pool_create(arena, names);
    Model *const model = model_create(pool, sources_create(arena), names_text(names, "M"), "ir", SPAN_NONE);
    const InstanceId top = { 0 };
    const VarId a = model_add_variable(model, top, names_text(names, "a"), REAL_TYPE, SPAN_NONE);
    const VarId b = model_add_variable(model, top, names_text(names, "b"), REAL_TYPE, SPAN_NONE);
    const VarId c = model_add_variable(model, top, names_text(names, "c"), REAL_TYPE, SPAN_NONE);
    TermBuilder builder = term_builder(model);
    const Expr *const product =
        expr_binary(pool, OP_MUL, term_leaf(&builder, ref_now(a)), term_leaf(&builder, ref_now(b)));
    const Term term = term_finish(&builder, product); /* a*b */
    const Expr *const sum = expr_binary(pool, OP_ADD, term_leaf(&builder, ref_now(b)), term_leaf(&builder, ref_now(c)));
    const Term replacement = term_finish(&builder, sum); /* b + c */

    const Term result = term_substitute(model, term, ref_now(a), replacement); /* (b + c)*b */
    const Expr *const x = expr_leaf(pool, 0, REAL_TYPE), *const y = expr_leaf(pool, 1, REAL_TYPE);
    assert_ptr_equal(result.shape, expr_binary(pool, OP_MUL, expr_binary(pool, OP_ADD, x, y), x));
    assert_true(ref_equal(term_refs(model, result)[0], ref_now(b)));
    assert_true(ref_equal(term_refs(model, result)[1], ref_now(c)));

    /* The replacement may contain what is replaced; other references to the variable stay. */
    const Term self = term_substitute(model, term, ref_now(b), replacement); /* a*(b + c) */
    assert_ptr_equal(self.shape,
                     expr_binary(pool, OP_MUL, x, expr_binary(pool, OP_ADD, y, expr_leaf(pool, 2, REAL_TYPE))));
    const Term same = term_substitute(model, term, ref_pre(a), replacement);
    assert_true(same.shape == term.shape && same.first_ref == term.first_ref);
    const Term constant = term_substitute(model, term, ref_now(a), term_real(model, 2));
    assert_ptr_equal(constant.shape, expr_binary(pool, OP_MUL, expr_real(pool, 2), x));
    assert_true(ref_equal(term_refs(model, constant)[0], ref_now(b)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_random_values), cmocka_unit_test(test_sharing_is_linear),
        cmocka_unit_test(test_depth_limit),   cmocka_unit_test(test_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
