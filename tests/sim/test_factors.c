/* Factors of matrices that only branches change: each combination is factored once, whatever the order in which they
 * come, and what is found has the bits of what would be computed. */
#include "assertions.h"
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define DYMOLA KOINE_SOURCE_DIR "/tests/sim/dymola/"
enum { MOST_SETS = 16 }; /* as the machine keeps them */

static char path[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(path, "/tmp/koine-factors-XXXXXX");
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    unlink(path);
    strcat(path, ".ir");
    return file < 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static uint64_t seed = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

/* A ring of n equations; the first n_switches of them have one coefficient or another, very different one. */
static void write_ring(uint32_t n, uint32_t n_switches, const char *factor)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "koine-ir 1\nmodel m\nvar x Real continuous der start 0.5 fixed\nparam p Real = 2.0\n");
    for (uint32_t k = 0; k < n_switches; k++)
        fprintf(f,
                "var b%u Boolean discrete next start false fixed\ntrans t%u level next set when x > 1e9 :\n  next(b%u) "
                ":= true\nend t%u\n",
                k, k, k, k);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t far = (7 * k + 3) % n;
        fprintf(f, "var y%u Real continuous now\neq q%u ", k, k);
        if (k < n_switches)
            fprintf(f, "(if b%u then %u.0 else 0.001*p)*y%u", k, 3 + k, k);
        else
            fprintf(f, "3.0*%s*y%u", factor, k);
        fprintf(f, " + p*y%u + 0.7*y%u = x + %u.0\n", (k + 1) % n, far, k);
    }
    fprintf(f, "eq e der(x) = y0 - y%u\nend m\n", n - 1);
    fclose(f);
}

typedef struct {
    Compilation *c;
    const KoineModelKind *kind;
    KoineModel *model;
} Running;

static KoineModel *create(const KoineModelKind *kind)
{
    static const KoineHost host = { 0 };
    KoineModel *model = NULL;
    assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
    return model;
}

static Running instantiate(const char *systems)
{
    Running r = { .c = compilation_create(NULL) };
    const char *why;
    fail_if(!compilation_load(r.c, &(CompileRequest){ .path = path, .systems = systems }) || !compilation_schedule(r.c),
            "%s", diag_json(r.c->diag, r.c->arena));
    r.kind = compilation_kind(r.c, "interp", &why);
    r.model = create(r.kind);
    assert_int_equal(r.kind->initialise(r.model, 0), KOINE_OK);
    return r;
}

static void evaluate(const KoineModelKind *kind, KoineModel *model, double x, double out[2])
{
    const KoineEvaluation at = { .time = 0, .x = &x, .want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS, .der = out };
    assert_int_equal(kind->evaluate(model, &at), KOINE_OK);
    assert_int_equal(kind->partial.jacobian(model, &at, KOINE_BY_X, 0, out + 1), KOINE_OK);
}

static KoineModelStatistics statistics(const Running *r)
{
    KoineModelStatistics counts;
    r->kind->counts.statistics(r->model, &counts);
    return counts;
}

static void put_switches(const Running *r, uint32_t n_switches, uint32_t bits)
{
    const KoineTables *tables = r->kind->tables;
    for (uint32_t k = 0; k < tables->n_variables; k++)
        for (uint32_t j = 0; j < n_switches; j++)
            if (tables->variables[k].name[0] == 'b' && tables->variables[k].name[1] == (char)('0' + j))
                ((KoineSlot *)(void *)(r->model->block + tables->variables[k].now))->i = bits >> j & 1;
}

/* Combinations in a random order; after each the same is computed by an instance that has nothing but the block. */
static void go_through(uint32_t n, uint32_t n_switches, const char *systems)
{
    enum { STEPS = 120 };
    bool is_seen[64] = { false };
    uint32_t n_seen = 0, n_changes = 0, before = UINT32_MAX;
    write_ring(n, n_switches, "p");
    Running r = instantiate(systems);
    assert_int_equal(statistics(&r).system_factorisations, 0); /* nothing needs it at the start */
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t bits = below(1u << n_switches);
        double own[2], other[2];
        put_switches(&r, n_switches, bits);
        KoineModel *fresh = create(r.kind);
        assert_int_equal(fresh->size, r.model->size);
        memcpy(fresh->block, r.model->block, fresh->size);
        evaluate(r.kind, r.model, 0.1 * step, own);
        evaluate(r.kind, fresh, 0.1 * step, other);
        assert_memory_equal(own, other, sizeof own);
        r.kind->destroy(fresh);
        n_seen += !is_seen[bits];
        is_seen[bits] = true;
        n_changes += bits != before;
        before = bits;
    }
    const KoineModelStatistics counts = statistics(&r);
    assert_int_equal(counts.system_factorisations + counts.factors_found, n_changes);
    if (n_seen <= MOST_SETS)
        assert_int_equal(counts.system_factorisations, n_seen);
    assert_true(counts.factors_found > 0);
    r.kind->destroy(r.model);
    compilation_destroy(r.c);
}

static void test_ot093_each_combination_is_factored_once(void **state)
{
    (void)state;
    go_through(8, 3, "torn");
    go_through(8, 3, "whole");
    go_through(24, 2, "whole");
}

/* More combinations than sets: those that were not used for longest give way. */
static void test_ot093_many_combinations(void **state)
{
    (void)state;
    go_through(8, 6, "whole");
}

/* Sparse, with pivots that do not suit the next combination. */
static void sparse(uint32_t n_switches)
{
    enum { STEPS = 60 };
    write_ring(60, n_switches, "p");
    Running r = instantiate("whole");
    for (uint32_t step = 0; step < STEPS; step++) {
        double own[2], other[2];
        put_switches(&r, n_switches, below(1u << n_switches));
        KoineModel *fresh = create(r.kind);
        memcpy(fresh->block, r.model->block, fresh->size);
        evaluate(r.kind, r.model, 0.1 * step, own);
        evaluate(r.kind, fresh, 0.1 * step, other);
        assert_memory_equal(own, other, sizeof own);
        r.kind->destroy(fresh);
    }
    assert_true(statistics(&r).factors_found > STEPS / 3);
    r.kind->destroy(r.model);
    compilation_destroy(r.c);
}

static void test_ot093_sparse_matrices(void **state)
{
    (void)state;
    sparse(2);
    sparse(3);
}

/* A state is in the matrix, too: nothing can be found again. */
static void test_ot093_moving_matrices_are_not_kept(void **state)
{
    (void)state;
    write_ring(8, 2, "(p + x)");
    Running r = instantiate("whole");
    for (uint32_t step = 0; step < 8; step++) {
        double out[2];
        put_switches(&r, 2, step % 4);
        evaluate(r.kind, r.model, 0.1 * step, out);
    }
    assert_int_equal(statistics(&r).factors_found, 0);
    assert_true(statistics(&r).system_factorisations >= 8);
    r.kind->destroy(r.model);
    compilation_destroy(r.c);
}

/* The bridge of four ideal diodes switches between a few of its 16 positions. */
static void check_bridge(const RunResult *r)
{
    expect_done(r);
    const KoineModelStatistics *counts = &r->report.statistics.model;
    assert_true(counts->system_factorisations <= 16);
    assert_true(counts->factors_found > counts->system_factorisations);
}

static void test_ot102_the_bridge_factors_each_position_once(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DYMOLA "bridge.dym", .stop = 0.05, .interval = 0.0025, .tolerance = 1e-9 },
                     check_bridge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot093_each_combination_is_factored_once),
        cmocka_unit_test(test_ot093_many_combinations),
        cmocka_unit_test(test_ot093_sparse_matrices),
        cmocka_unit_test(test_ot093_moving_matrices_are_not_kept),
        cmocka_unit_test(test_ot102_the_bridge_factors_each_position_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
