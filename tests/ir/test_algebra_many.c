/* Many leaves at once: gradients, degrees and terms of long sums, as a node with many objects has them. What they cost
 * is counted in nodes and bytes, and grows with n log n. */
#include "test_algebra_random.h"
#include "ir/derive.h"
#include "ir/model.h"
#include "ir/simplify.h"
#include "ir/solve.h"

static const bool ALL_REAL[N_LEAVES] = { true, true, true, true };

static const Partial *partial_of(const Gradient *gradient, uint32_t leaf)
{
    for (uint32_t k = 0; k < gradient->n; k++)
        if (gradient->at[k].leaf == leaf)
            return &gradient->at[k];
    return NULL;
}

/* Node by node the same as the derivatives one after the other. */
static void test_gradient_is_all_derivatives(void **state)
{
    (void)state;
    uint32_t n_compared = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = expr_simplify(m.pool, make_real(&m, 3 + random_below(&m, 40)));
        const Gradient gradient = expr_gradient(m.pool, e, ALL_REAL, m.arena);
        for (uint32_t k = 0; k < N_REAL; k++) {
            const Partial *const partial = partial_of(&gradient, k);
            const Expr *const derivative = expr_derive(m.pool, e, real_leaf(&m, k));
            if (partial ? partial->derivative != derivative : !derivative || !expr_is_real(derivative, 0)) {
                print_expr(e);
                fail_msg(" by x%u, seed %llu", k, (unsigned long long)seed);
            }
            n_compared += partial != NULL;
        }
        for (uint32_t k = 1; k < gradient.n; k++)
            assert_true(gradient.at[k - 1].leaf < gradient.at[k].leaf);
        maker_destroy(&m);
    }
    assert_true(n_compared > 4000);
}

static void test_gradient_knows_what_is_linear(void **state)
{
    (void)state;
    uint32_t n_linear = 0, n_other = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        Maker m = maker_create(seed, WITH_ALL);
        const Expr *const e = make_real(&m, 3 + random_below(&m, 12)), *coefficient, *rest;
        const Gradient gradient = expr_gradient(m.pool, e, ALL_REAL, m.arena);
        for (uint32_t k = 0; k < gradient.n; k++) {
            const Partial *const partial = &gradient.at[k];
            const bool is_linear = expr_linear(m.pool, e, real_leaf(&m, partial->leaf), &coefficient, &rest);
            assert_int_equal(partial->is_linear, is_linear);
            if (is_linear)
                assert_ptr_equal(partial->derivative, coefficient);
            n_linear += is_linear;
            n_other += !is_linear;
        }
        maker_destroy(&m);
    }
    assert_true(n_linear > 500 && n_other > 500);
}

/* In x0 and x1 together. */
static void test_degree_in_many_leaves(void **state)
{
    (void)state;
    static const bool is_unknown[N_LEAVES] = { true, true };
    Maker maker = maker_create(1, WITH_ALL), *const m = &maker;
    const Expr *const x = real_leaf(m, 0), *const y = real_leaf(m, 1), *const p = real_leaf(m, 2);
    const Expr *const b = expr_leaf(m->pool, 6, BOOLEAN_TYPE);
    const Expr *const linear[] = {
        p,
        one(m, OP_SIN, p),
        two(m, OP_ADD, x, two(m, OP_MUL, p, y)),
        two(m, OP_SUB, two(m, OP_DIV, x, p), two(m, OP_MUL, two(m, OP_MUL, p, p), one(m, OP_NEG, y))),
        expr_if(m->pool, b, x, two(m, OP_MUL, p, y)),
        two(m, OP_HOMOTOPY, x, y),
    };
    const Expr *const other[] = {
        two(m, OP_MUL, x, y),
        two(m, OP_DIV, p, x),
        two(m, OP_ADD, x, one(m, OP_SIN, y)),
        one(m, OP_FLOOR, x), /* constant in between, and still not linear */
        expr_if(m->pool, expr_literal_relation(m->pool, OP_GT, x, p), p, number(m, 1)),
        two(m, OP_MUL, expr_if(m->pool, b, x, p), expr_if(m->pool, b, y, p)),
    };
    for (size_t k = 0; k < sizeof linear / sizeof *linear; k++)
        assert_true(expr_is_linear_in(linear[k], is_unknown));
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        assert_false(expr_is_linear_in(other[k], is_unknown));
    maker_destroy(m);
    for (uint64_t seed = 1; seed <= 4000; seed++) { /* what is linear has coefficients without unknowns */
        Maker r = maker_create(seed, WITH_ALL);
        const Expr *const e = expr_simplify(r.pool, make_real(&r, 3 + random_below(&r, 12)));
        for (uint32_t k = 0; k < 2 && expr_is_linear_in(e, is_unknown); k++) {
            const Expr *const d = expr_derive(r.pool, e, real_leaf(&r, k));
            assert_true(d && !expr_uses_leaf(d, 0) && !expr_uses_leaf(d, 1));
        }
        maker_destroy(&r);
    }
}

/* p0*x0 + p1*x1 + ...: even leaves are unknowns. */
static const Expr *star(Maker *m, uint32_t first, uint32_t n)
{
    if (n == 1)
        return two(m, OP_MUL, expr_leaf(m->pool, 2 * first + 1, REAL_TYPE), expr_leaf(m->pool, 2 * first, REAL_TYPE));
    return two(m, OP_ADD, star(m, first, n / 2), star(m, first + n / 2, n - n / 2));
}

static void test_star_costs_n_log_n(void **state)
{
    (void)state;
    for (uint32_t n = 1024, levels = 10; n <= 16384; n *= 4, levels += 2) {
        Maker m = maker_create(1, WITH_ALL);
        const Expr *const e = star(&m, 0, n);
        bool *is_unknown = NEW_ARRAY(m.arena, bool, 2 * (size_t)n);
        for (uint32_t k = 0; k < n; k++)
            is_unknown[2 * k] = true;
        assert_true(expr_is_linear_in(e, is_unknown));
        const uint32_t before = pool_count(m.pool);
        Arena *scratch = arena_create(NULL);
        const Gradient gradient = expr_gradient(m.pool, e, is_unknown, scratch);
        assert_int_equal(gradient.n, n);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(gradient.at[k].is_linear && gradient.at[k].leaf == 2 * k);
            assert_ptr_equal(gradient.at[k].derivative, expr_leaf(m.pool, 2 * k + 1, REAL_TYPE));
        }
        assert_true(pool_count(m.pool) - before <= 8);
        assert_true(arena_bytes(scratch) <= 1000000 + 100 * (size_t)n * levels);
        arena_destroy(scratch);
        maker_destroy(&m);
    }
}

/* The coefficients of a long sum as terms: each costs what it is, not what the sum is. */
static void test_terms_of_a_long_sum_cost_what_they_are(void **state)
{
    (void)state;
    enum { N = 20000 };
    Maker m = maker_create(1, WITH_ALL);
    Names *const names = pool_names(m.pool);
    Model *const model = model_create(m.pool, sources_create(m.arena), names_text(names, "M"), "ir", SPAN_NONE);
    TermBuilder builder = term_builder(model);
    for (uint32_t k = 0; k < N; k++) {
        char name[16];
        snprintf(name, sizeof name, "v%u", k);
        const VarId v = model_add_variable(model, (InstanceId){ 0 }, names_text(names, name), REAL_TYPE, SPAN_NONE);
        assert_int_equal(term_leaf(&builder, ref_now(v))->u.leaf, k);
    }
    for (uint32_t k = 0; k < N; k += 7) /* the same reference, the same leaf */
        assert_int_equal(term_leaf(&builder, ref_now((VarId){ k }))->u.leaf, k);
    const uint32_t refs = model->refs.n;
    const size_t bytes = arena_bytes(m.arena);
    const Expr *const expected = two(&m, OP_MUL, real_leaf(&m, 0), one(&m, OP_SIN, real_leaf(&m, 1)));
    for (uint32_t k = 0; k + 1 < N; k++) {
        const Expr *const e =
            two(&m, OP_MUL, expr_leaf(m.pool, k + 1, REAL_TYPE), one(&m, OP_SIN, expr_leaf(m.pool, k, REAL_TYPE)));
        const Term term = term_make(model, e, builder.refs.at);
        assert_ptr_equal(term.shape, expected);
        assert_int_equal(term_refs(model, term)[0].var.index, k + 1);
        assert_int_equal(term_refs(model, term)[1].var.index, k);
    }
    assert_int_equal(model->refs.n - refs, 2 * (N - 1));
    assert_true(arena_bytes(m.arena) - bytes <= 2000 * (size_t)N);
    maker_destroy(&m);
}

/* References that are the same become one leaf, also where there are many. */
static void test_large_terms_are_canonical(void **state)
{
    (void)state;
    enum { N = 100 };
    Maker m = maker_create(1, WITH_ALL);
    Names *const names = pool_names(m.pool);
    Model *const model = model_create(m.pool, sources_create(m.arena), names_text(names, "M"), "ir", SPAN_NONE);
    const VarId a = model_add_variable(model, (InstanceId){ 0 }, names_text(names, "a"), REAL_TYPE, SPAN_NONE);
    const VarId b = model_add_variable(model, (InstanceId){ 0 }, names_text(names, "b"), REAL_TYPE, SPAN_NONE);
    Ref refs[N];
    const Expr *many = expr_leaf(m.pool, N - 1, REAL_TYPE), *few = real_leaf(&m, 0);
    refs[N - 1] = ref_now(a);
    for (uint32_t k = N - 1; k-- > 0;) {
        refs[k] = ref_now(k % 3 ? a : b);
        many = two(&m, OP_SUB, many, expr_leaf(m.pool, k, REAL_TYPE));
        few = two(&m, OP_SUB, few, real_leaf(&m, k % 3 ? 0 : 1));
    }
    const Term term = term_make(model, many, refs);
    assert_ptr_equal(term.shape, few);
    assert_int_equal(term.shape->n_leaves, 2);
    assert_true(ref_equal(term_refs(model, term)[0], ref_now(a)) && ref_equal(term_refs(model, term)[1], ref_now(b)));
    maker_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_all_derivatives),
        cmocka_unit_test(test_gradient_knows_what_is_linear),
        cmocka_unit_test(test_degree_in_many_leaves),
        cmocka_unit_test(test_star_costs_n_log_n),
        cmocka_unit_test(test_terms_of_a_long_sum_cost_what_they_are),
        cmocka_unit_test(test_large_terms_are_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
