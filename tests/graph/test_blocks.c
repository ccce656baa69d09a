/* Block lower triangular form: matching and strong components together. */
#include "graphs.h"
#include "graph/components.h"
#include "graph/matching.h"

typedef struct {
    uint32_t *column_of_row, *row_of_column;
    uint64_t work;
    Components blocks;
} Triangular;

static bool triangular(const Incidence *g, Arena *arena, Triangular *t)
{
    t->column_of_row = NEW_ARRAY(arena, uint32_t, g->rows + 1);
    t->row_of_column = NEW_ARRAY(arena, uint32_t, g->rows + 1);
    t->work = 0;
    if (match_rows_from(g, arena, NULL, t->column_of_row, t->row_of_column, &t->work) < g->rows)
        return false;
    const Incidence rows = match_dependencies(g, t->row_of_column, arena);
    t->blocks = strong_components(&rows, arena, NULL);
    return true;
}

/* The document's example (2.3): f1(x1, x3), f2(x2), f3(x1, x2); (2.4) has the order f2 x2, f3 x1, f1 x3. */
static void test_ot048_three_equations(void **state)
{
    (void)state;
    static const Edge edges[] = { { 0, 0 }, { 0, 2 }, { 1, 1 }, { 2, 0 }, { 2, 1 } };
    static const uint32_t rows[] = { 1, 2, 0 }, columns[] = { 1, 0, 2 };
    Arena *arena = arena_create(NULL);
    const Incidence g = incidence_build(3, 3, edges, 5, arena);
    Triangular t;
    assert_true(triangular(&g, arena, &t));
    assert_int_equal(t.blocks.n, 3);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(t.blocks.node[k], rows[k]);
        assert_int_equal(t.column_of_row[rows[k]], columns[k]);
    }
    arena_destroy(arena);
}

/* The same equations with their unknowns in another order: another matching is found. */
static Incidence reversed(const Incidence *g, Arena *arena)
{
    Rows built = { .arena = arena };
    for (uint32_t r = 0; r < g->rows; r++) {
        row_begin(&built);
        for (uint32_t k = g->start[r + 1]; k-- > g->start[r];)
            row_entry(&built, g->index[k]);
    }
    return rows_end(&built, g->columns);
}

/* Minimal blocks are unique but for their order (Duff, Erisman, Reid): whatever matching is found, they hold the same
 * equations and unknowns. They are strong components by an independent closure, and nothing stands above them. */
static void test_ot049_minimal_blocks(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 49 };
    int n_regular = 0, n_other = 0;
    for (int round = 0; round < 4000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = 1 + random_below(&random, 12);
        const Incidence g = random_incidence(arena, &random, n, n, 10 + random_below(&random, 40));
        const Incidence other = reversed(&g, arena);
        Triangular a, b;
        const bool is_regular = triangular(&g, arena, &a);
        assert_int_equal(is_regular, triangular(&other, arena, &b));
        if (is_regular) {
            n_regular++;
            uint32_t reach[32];
            const Incidence rows = match_dependencies(&g, a.row_of_column, arena);
            close_reachability(&rows, reach);
            for (uint32_t i = 0; i < n; i++) {
                n_other += a.column_of_row[i] != b.column_of_row[i];
                for (uint32_t j = 0; j < n; j++) {
                    const bool are_one = a.blocks.component_of[i] == a.blocks.component_of[j];
                    assert_int_equal(are_one, i == j || ((reach[i] >> j & 1) && (reach[j] >> i & 1)));
                    assert_int_equal(are_one, b.blocks.component_of[i] == b.blocks.component_of[j]);
                    const uint32_t ri = a.row_of_column[i], rj = a.row_of_column[j];
                    const uint32_t si = b.row_of_column[i], sj = b.row_of_column[j];
                    assert_int_equal(a.blocks.component_of[ri] == a.blocks.component_of[rj],
                                     b.blocks.component_of[si] == b.blocks.component_of[sj]);
                }
                for (uint32_t k = g.start[i]; k < g.start[i + 1]; k++) /* lower triangular */
                    assert_true(a.blocks.component_of[a.row_of_column[g.index[k]]] <= a.blocks.component_of[i]);
            }
        }
        arena_reset(arena, mark);
    }
    assert_true(n_regular > 500 && n_other > 500); /* the comparison was not with itself */
    arena_destroy(arena);
}

/* 20,000 equations of four unknowns with a hidden solution: a bounded number of looks at each entry. The time is a row
 * of koine-bench (engine/random20k). */
static void test_ot050_twenty_thousand_equations(void **state)
{
    (void)state;
    enum { N = 20000, PER_ROW = 4 };
    Arena *arena = arena_create(NULL);
    Random random = { 50 };
    Rows built = { .arena = arena };
    uint32_t *place = NEW_ARRAY(arena, uint32_t, N);
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t j = random_below(&random, k + 1);
        place[k] = place[j];
        place[j] = k;
    }
    for (uint32_t k = 0; k < N; k++) {
        row_begin(&built);
        for (uint32_t j = 1; j < PER_ROW; j++)
            row_entry(&built, random_below(&random, N));
        row_entry(&built, place[k]);
    }
    const Incidence g = rows_end(&built, N);
    Triangular t;
    assert_true(triangular(&g, arena, &t));
    assert_true(t.work < 40 * incidence_entries(&g));
    for (uint32_t r = 0; r < N; r++)
        for (uint32_t k = g.start[r]; k < g.start[r + 1]; k++)
            assert_true(t.blocks.component_of[t.row_of_column[g.index[k]]] <= t.blocks.component_of[r]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot048_three_equations),
        cmocka_unit_test(test_ot049_minimal_blocks),
        cmocka_unit_test(test_ot050_twenty_thousand_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
