/* Levels against longest paths, cycles against reachability; independence of the arrangement. */
#include "graphs.h"
#include "graph/topological.h"

/* Longest chain below each node of an acyclic graph, by repeated relaxation. */
static void find_levels(const Incidence *g, uint32_t *level)
{
    memset(level, 0, g->rows * sizeof *level);
    for (uint32_t round = 0; round < g->rows; round++)
        for (uint32_t v = 0; v < g->rows; v++)
            for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++)
                if (level[v] < level[g->index[k]] + 1)
                    level[v] = level[g->index[k]] + 1;
}

static bool has_edge(const Incidence *g, uint32_t from, uint32_t to)
{
    for (uint32_t k = g->start[from]; k < g->start[from + 1]; k++)
        if (g->index[k] == to)
            return true;
    return false;
}

static void assert_cycle(const Incidence *g, const Topological *found)
{
    assert_true(found->n_cycle > 0);
    uint32_t seen = 0;
    for (uint32_t k = 0; k < found->n_cycle; k++) {
        assert_true(has_edge(g, found->cycle[k], found->cycle[(k + 1) % found->n_cycle]));
        assert_true(found->cycle[0] <= found->cycle[k]);
        assert_false(seen >> found->cycle[k] & 1);
        seen |= 1u << found->cycle[k];
    }
}

static void assert_order(const Incidence *g, const uint32_t *key, const Topological *found)
{
    const uint32_t n = g->rows;
    uint32_t level[12], seen = 0, n_levels = 0;
    find_levels(g, level);
    assert_int_equal(found->n_cycle, 0);
    for (uint32_t v = 0; v < n; v++) {
        assert_int_equal(found->level[v], level[v]);
        n_levels = level[v] >= n_levels ? level[v] + 1 : n_levels;
        seen |= 1u << found->order[v];
    }
    assert_int_equal(seen, (1u << n) - 1);
    assert_int_equal(found->n_levels, n_levels);
    assert_int_equal(found->level_start[n_levels], n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t v = found->order[k];
        assert_true(found->level_start[level[v]] <= k && k < found->level_start[level[v] + 1]);
        if (k == 0 || level[found->order[k - 1]] < level[v])
            continue;
        const uint32_t before = found->order[k - 1];
        assert_true(key[before] < key[v] || (key[before] == key[v] && before < v));
    }
}

static void small_graphs_are_ordered_or_show_a_cycle(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 7 };
    uint32_t n_cyclic = 0;
    for (int round = 0; round < 10000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = random_below(&random, 12);
        const Incidence g = random_incidence(arena, &random, n, n, random_below(&random, 20));
        uint32_t reach[32], key[12];
        bool is_cyclic = false;
        close_reachability(&g, reach);
        for (uint32_t v = 0; v < n; v++) {
            is_cyclic |= reach[v] >> v & 1;
            key[v] = random_below(&random, 4) * 1000000;
        }
        Topological found;
        assert_int_equal(topological_order(&g, key, arena, &found, NULL), !is_cyclic);
        n_cyclic += is_cyclic;
        if (is_cyclic) {
            assert_cycle(&g, &found);
        } else {
            assert_order(&g, key, &found);
            static const uint32_t EQUAL[12] = { 0 };
            assert_true(topological_order(&g, NULL, arena, &found, NULL));
            assert_order(&g, EQUAL, &found);
        }
        arena_reset(arena, mark);
    }
    assert_in_range(n_cyclic, 1000, 9000);
    arena_destroy(arena);
}

static void a_node_that_depends_on_itself_is_a_cycle(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    static const Edge EDGES[] = { { 0, 1 }, { 1, 2 }, { 2, 2 } };
    const Incidence g = incidence_build(3, 3, EDGES, 3, arena);
    Topological found;
    assert_false(topological_order(&g, NULL, arena, &found, NULL));
    assert_int_equal(found.n_cycle, 1);
    assert_int_equal(found.cycle[0], 2);
    arena_destroy(arena);
}

static Incidence chain(Arena *arena, uint32_t n, bool is_closed)
{
    Rows rows = { .arena = arena };
    for (uint32_t v = 0; v < n; v++) {
        row_begin(&rows);
        if (v + 1 < n || is_closed)
            row_entry(&rows, (v + 1) % n);
    }
    return rows_end(&rows, n);
}

static void long_chain_is_linear(void **state)
{
    (void)state;
    uint64_t work[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        const uint32_t n = k ? SIZE_LARGE : SIZE_SMALL;
        Arena *arena = arena_create(NULL);
        const Incidence g = chain(arena, n, false);
        Topological found;
        assert_true(topological_order(&g, NULL, arena, &found, &work[k]));
        assert_int_equal(found.n_levels, n);
        assert_int_equal(found.level[0], n - 1);
        assert_int_equal(found.order[0], n - 1);
        arena_destroy(arena);
    }
    assert_linear(work[0], work[1]);
}

static void long_cycle_is_found(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    const Incidence g = chain(arena, SIZE_LARGE, true);
    Topological found;
    uint64_t work = 0;
    assert_false(topological_order(&g, NULL, arena, &found, &work));
    assert_int_equal(found.n_cycle, SIZE_LARGE);
    for (uint32_t k = 0; k < SIZE_LARGE; k++)
        assert_int_equal(found.cycle[k], k);
    assert_true(work <= 4 * (uint64_t)SIZE_LARGE);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_are_ordered_or_show_a_cycle),
        cmocka_unit_test(a_node_that_depends_on_itself_is_a_cycle),
        cmocka_unit_test(long_chain_is_linear),
        cmocka_unit_test(long_cycle_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
