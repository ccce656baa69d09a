/* Building, transposing and sorting, against brute force on small graphs. */
#include "graphs.h"

static void builds_sorted_rows_without_repetition(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 1 };
    for (int round = 0; round < 2000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t rows = random_below(&random, 8), columns = random_below(&random, 8);
        const uint32_t n = rows && columns ? random_below(&random, 30) : 0;
        Edge *edges = NEW_ARRAY(arena, Edge, n);
        bool has[8][8] = { { false } };
        for (uint32_t e = 0; e < n; e++) {
            edges[e] = (Edge){ random_below(&random, rows), random_below(&random, columns) };
            has[edges[e].row][edges[e].column] = true;
        }
        const Incidence g = incidence_build(rows, columns, edges, n, arena);
        incidence_verify(&g);
        const Incidence t = incidence_transpose(&g, arena);
        incidence_verify(&t);
        assert_int_equal(t.rows, columns);
        assert_int_equal(t.columns, rows);
        uint32_t k = 0;
        for (uint32_t r = 0; r < rows; r++) {
            assert_int_equal(g.start[r], k);
            for (uint32_t c = 0; c < columns; c++)
                if (has[r][c])
                    assert_int_equal(g.index[k++], c);
        }
        assert_int_equal(incidence_entries(&g), k);
        k = 0;
        for (uint32_t c = 0; c < columns; c++) {
            assert_int_equal(t.start[c], k);
            for (uint32_t r = 0; r < rows; r++)
                if (has[r][c])
                    assert_int_equal(t.index[k++], r);
        }
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

static void transpose_keeps_repeated_entries(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Rows rows = { .arena = arena };
    row_begin(&rows);
    row_entry(&rows, 1);
    row_entry(&rows, 0);
    row_entry(&rows, 1);
    const Incidence g = rows_end(&rows, 2);
    const Incidence t = incidence_transpose(&g, arena);
    assert_int_equal(t.start[1] - t.start[0], 1);
    assert_int_equal(t.start[2] - t.start[1], 2);
    arena_destroy(arena);
}

static void sort_is_stable_and_complete(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 2 };
    for (int round = 0; round < 300; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = random_below(&random, 200);
        static const uint32_t RANGE[] = { 1, 5, 300, 70000, UINT32_MAX };
        const uint32_t range = RANGE[random_below(&random, 5)];
        uint32_t *key = NEW_ARRAY(arena, uint32_t, n), *nodes = NEW_ARRAY(arena, uint32_t, n);
        uint8_t *seen = NEW_ARRAY(arena, uint8_t, n);
        for (uint32_t k = 0; k < n; k++) {
            key[k] = random_below(&random, range);
            nodes[k] = k;
        }
        sort_by_key(nodes, n, key, arena);
        for (uint32_t k = 0; k < n; k++) {
            assert_false(seen[nodes[k]]);
            seen[nodes[k]] = 1;
            if (k > 0) {
                assert_true(key[nodes[k - 1]] <= key[nodes[k]]);
                assert_true(key[nodes[k - 1]] < key[nodes[k]] || nodes[k - 1] < nodes[k]);
            }
        }
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_sorted_rows_without_repetition),
        cmocka_unit_test(transpose_keeps_repeated_entries),
        cmocka_unit_test(sort_is_stable_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
