/* Disjoint sets against the closure of what was joined, with roots and signs. */
#include "graphs.h"
#include "graph/sets.h"

enum { MOST = 24 };

/* The same sets by relabelling: label[k] is the smallest number of the set of k, sign[k] its sign relative to that. */
static void relabel(uint32_t n, uint32_t *label, bool *sign, uint32_t a, uint32_t b, bool is_opposite)
{
    const uint32_t from = label[a] > label[b] ? label[a] : label[b], to = label[a] > label[b] ? label[b] : label[a];
    const bool turn = sign[a] ^ sign[b] ^ is_opposite;
    for (uint32_t k = 0; k < n; k++)
        if (label[k] == from) {
            label[k] = to;
            sign[k] ^= turn;
        }
}

static void joined_sets_are_the_closure(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 3 };
    for (int round = 0; round < 2000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = 1 + random_below(&random, MOST);
        uint32_t *least = sets_create(arena, n), *kept = sets_create(arena, n), label[MOST];
        bool sign[MOST] = { false };
        for (uint32_t k = 0; k < n; k++)
            label[k] = k;
        for (uint32_t joins = random_below(&random, MOST); joins > 0; joins--) {
            const uint32_t a = random_below(&random, n), b = random_below(&random, n);
            const uint32_t root = sets_root(kept, a);
            sets_join_least(least, a, b);
            sets_join(kept, a, b);
            assert_int_equal(sets_root(kept, b), root);
            relabel(n, label, sign, a, b, false);
        }
        for (uint32_t k = 0; k < n; k++) {
            assert_int_equal(sets_root(least, k), label[k]);
            for (uint32_t j = 0; j < n; j++)
                assert_int_equal(sets_root(kept, k) == sets_root(kept, j), label[k] == label[j]);
        }
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

static void signs_are_products_along_the_path(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 4 };
    for (int round = 0; round < 2000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = 1 + random_below(&random, MOST);
        uint32_t *parent = sets_create(arena, n), label[MOST];
        bool negated[MOST + 1] = { false }, sign[MOST] = { false };
        for (uint32_t k = 0; k < n; k++)
            label[k] = k;
        for (uint32_t joins = random_below(&random, MOST); joins > 0; joins--) {
            const uint32_t a = random_below(&random, n), b = random_below(&random, n);
            const bool is_opposite = random_below(&random, 2);
            bool sign_a, sign_b;
            const uint32_t root_a = sets_signed_root(parent, negated, a, &sign_a),
                           root_b = sets_signed_root(parent, negated, b, &sign_b);
            if (root_a == root_b)
                continue;
            parent[root_b] = root_a;
            negated[root_b] = sign_a ^ sign_b ^ is_opposite;
            relabel(n, label, sign, a, b, is_opposite);
        }
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < n; j++)
                if (label[k] == label[j]) {
                    bool sign_k, sign_j;
                    assert_int_equal(sets_signed_root(parent, negated, k, &sign_k),
                                     sets_signed_root(parent, negated, j, &sign_j));
                    assert_int_equal(sign_k ^ sign_j, sign[k] ^ sign[j]);
                }
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(joined_sets_are_the_closure),
                                        cmocka_unit_test(signs_are_products_along_the_path) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
