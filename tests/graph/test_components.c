/* Strong components against the closure of reachability; long chains and cycles. */
#include "graphs.h"
#include "graph/components.h"

static void small_graphs_agree_with_closure(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 6 };
    for (int round = 0; round < 10000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = random_below(&random, 12);
        const Incidence g = random_incidence(arena, &random, n, n, random_below(&random, 35));
        uint32_t reach[32];
        close_reachability(&g, reach);
        const Components found = strong_components(&g, arena, NULL);
        assert_int_equal(found.start[0], 0);
        assert_int_equal(found.start[found.n], n);
        for (uint32_t c = 0; c < found.n; c++) {
            assert_true(found.start[c] < found.start[c + 1]);
            for (uint32_t k = found.start[c]; k < found.start[c + 1]; k++) {
                assert_int_equal(found.component_of[found.node[k]], c);
                assert_true(k == found.start[c] || found.node[k - 1] < found.node[k]);
            }
        }
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) {
                const bool a_to_b = reach[a] >> b & 1, b_to_a = reach[b] >> a & 1;
                const bool are_one = found.component_of[a] == found.component_of[b];
                assert_int_equal(are_one, a == b || (a_to_b && b_to_a));
                if (a_to_b && !are_one) /* a depends on b */
                    assert_true(found.component_of[b] < found.component_of[a]);
            }
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

typedef enum { CHAIN_UP, CHAIN_DOWN, CYCLE, LADDER, STAR, STAR_BACK, PAIRS } Shape;

static Incidence build(Arena *arena, Shape shape, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t v = 0; v < n; v++) {
        row_begin(&rows);
        switch (shape) {
        case CHAIN_UP:
            if (v + 1 < n)
                row_entry(&rows, v + 1);
            break;
        case CHAIN_DOWN:
            if (v > 0)
                row_entry(&rows, v - 1);
            break;
        case CYCLE: row_entry(&rows, (v + 1) % n); break;
        case LADDER: /* every node leads on by one and back by two: all strongly connected but the first ones */
            if (v + 1 < n)
                row_entry(&rows, v + 1);
            if (v >= 2)
                row_entry(&rows, v - 2);
            break;
        case STAR:
            for (uint32_t k = 1; v == 0 && k < n; k++)
                row_entry(&rows, k);
            break;
        case STAR_BACK: row_entry(&rows, 0); break;
        case PAIRS: /* 0 <-> 1 -> 2 <-> 3 -> ... */
            row_entry(&rows, v ^ 1);
            if (v % 2 && v + 1 < n)
                row_entry(&rows, v + 1);
            break;
        }
    }
    return rows_end(&rows, n);
}

static void work_is_one_look_at_each_node_and_entry(void **state)
{
    (void)state;
    static const uint32_t COMPONENTS[] = {
        [CHAIN_UP] = SIZE_LARGE,  [CHAIN_DOWN] = SIZE_LARGE, [CYCLE] = 1, [LADDER] = 1, [STAR] = SIZE_LARGE,
        [STAR_BACK] = SIZE_LARGE, [PAIRS] = SIZE_LARGE / 2,
    };
    for (Shape shape = CHAIN_UP; shape <= PAIRS; shape++) {
        Arena *arena = arena_create(NULL);
        const Incidence g = build(arena, shape, SIZE_LARGE);
        uint64_t work = 0;
        const Components found = strong_components(&g, arena, &work);
        assert_int_equal(found.n, COMPONENTS[shape]);
        assert_int_equal(work, (uint64_t)g.rows + incidence_entries(&g));
        if (shape == CHAIN_UP)
            assert_int_equal(found.component_of[0], SIZE_LARGE - 1);
        if (shape == PAIRS)
            assert_int_equal(found.node[0], SIZE_LARGE - 2);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_agree_with_closure),
        cmocka_unit_test(work_is_one_look_at_each_node_and_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
