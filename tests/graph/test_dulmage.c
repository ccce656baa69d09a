/* The decomposition by its definition: a row belongs to the over-determined part when some maximum
 * matching does without it; the columns are those of these rows. Columns likewise. */
#include "graphs.h"
#include "graph/dulmage.h"
#include "graph/matching.h"

enum { MOST = 9 };

/* Largest matching of the rows and columns given as bits, by enumeration of used columns. */
static uint32_t largest(const Incidence *g, uint32_t rows, uint32_t columns)
{
    bool reached[1 << MOST] = { true };
    uint32_t best = 0;
    for (uint32_t r = 0; r < g->rows; r++) {
        if (!(rows >> r & 1))
            continue;
        const uint32_t bits = row_bits(g, r) & columns;
        for (uint32_t set = 1u << g->columns; set-- > 0;)
            for (uint32_t c = 0; reached[set] && c < g->columns; c++)
                if (bits >> c & 1 & ~(set >> c))
                    reached[set | 1u << c] = true;
    }
    for (uint32_t set = 0; set < 1u << g->columns; set++) {
        const uint32_t size = (uint32_t)__builtin_popcount(set);
        best = reached[set] && size > best ? size : best;
    }
    return best;
}

static void assert_lists_agree(const Dulmage *found, uint32_t rows, uint32_t columns)
{
    uint32_t n_rows = 0, n_columns = 0;
    for (int part = 0; part < 3; part++) {
        const SubSystem *list = &found->part[part];
        for (uint32_t k = 0; k < list->n_rows; k++) {
            assert_int_equal(found->row_part[list->rows[k]], part);
            assert_true(k == 0 || list->rows[k - 1] < list->rows[k]);
        }
        for (uint32_t k = 0; k < list->n_columns; k++) {
            assert_int_equal(found->column_part[list->columns[k]], part);
            assert_true(k == 0 || list->columns[k - 1] < list->columns[k]);
        }
        n_rows += list->n_rows;
        n_columns += list->n_columns;
    }
    assert_int_equal(n_rows, rows);
    assert_int_equal(n_columns, columns);
}

static void small_graphs_agree_with_definition(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 8 };
    for (int round = 0; round < 3000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t rows = random_below(&random, MOST + 1), columns = random_below(&random, MOST + 1);
        const Incidence g = random_incidence(arena, &random, rows, columns, 5 + random_below(&random, 40));
        const Incidence t = incidence_transpose(&g, arena);
        uint32_t column_of_row[MOST], row_of_column[MOST];
        match_rows(&g, arena, column_of_row, row_of_column);
        const Dulmage found = dulmage_decompose(&g, column_of_row, row_of_column, arena, NULL);
        assert_lists_agree(&found, rows, columns);

        const uint32_t all_rows = (1u << rows) - 1, all_columns = (1u << columns) - 1;
        const uint32_t size = largest(&g, all_rows, all_columns);
        uint32_t over_rows = 0, over_columns = 0, under_rows = 0, under_columns = 0;
        for (uint32_t r = 0; r < rows; r++)
            if (largest(&g, all_rows & ~(1u << r), all_columns) == size) {
                over_rows |= 1u << r;
                over_columns |= row_bits(&g, r);
            }
        for (uint32_t c = 0; c < columns; c++)
            if (largest(&g, all_rows, all_columns & ~(1u << c)) == size) {
                under_columns |= 1u << c;
                under_rows |= row_bits(&t, c);
            }
        for (uint32_t r = 0; r < rows; r++)
            assert_int_equal(found.row_part[r], over_rows >> r & 1    ? DULMAGE_OVER
                                                : under_rows >> r & 1 ? DULMAGE_UNDER
                                                                      : DULMAGE_SQUARE);
        for (uint32_t c = 0; c < columns; c++)
            assert_int_equal(found.column_part[c], over_columns >> c & 1    ? DULMAGE_OVER
                                                   : under_columns >> c & 1 ? DULMAGE_UNDER
                                                                            : DULMAGE_SQUARE);
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

static uint32_t bits_of(const uint32_t *list, uint32_t n)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < n; k++)
        bits |= 1u << list[k];
    return bits;
}

/* `row` is unmatched; every deficient set with it and no other unmatched row must contain the one found. */
static void assert_smallest(const Incidence *g, uint32_t row, uint32_t unmatched, SubSystem found)
{
    const uint32_t found_rows = bits_of(found.rows, found.n_rows);
    assert_int_equal(found.n_rows, found.n_columns + 1);
    assert_true(found_rows >> row & 1);
    bool is_listed = false;
    for (uint32_t set = 0; set < 1u << g->rows; set++) {
        if (!(set >> row & 1) || (set & unmatched) != 1u << row)
            continue;
        uint32_t columns = 0;
        for (uint32_t r = 0; r < g->rows; r++)
            if (set >> r & 1)
                columns |= row_bits(g, r);
        if (__builtin_popcount(columns) >= __builtin_popcount(set))
            continue;
        assert_int_equal(set & found_rows, found_rows);
        if (set == found_rows) {
            is_listed = true;
            assert_int_equal(columns, bits_of(found.columns, found.n_columns));
        }
    }
    assert_true(is_listed);
}

static void explanation_is_the_smallest_set(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 9 };
    uint32_t n_explained = 0;
    for (int round = 0; round < 3000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t rows = random_below(&random, MOST + 1), columns = random_below(&random, MOST + 1);
        const Incidence g = random_incidence(arena, &random, rows, columns, 5 + random_below(&random, 40));
        const Incidence t = incidence_transpose(&g, arena);
        uint32_t column_of_row[MOST], row_of_column[MOST], free_rows = 0, free_columns = 0;
        match_rows(&g, arena, column_of_row, row_of_column);
        for (uint32_t r = 0; r < rows; r++)
            free_rows |= (uint32_t)(column_of_row[r] == MATCH_NONE) << r;
        for (uint32_t c = 0; c < columns; c++)
            free_columns |= (uint32_t)(row_of_column[c] == MATCH_NONE) << c;
        for (uint32_t r = 0; r < rows; r++)
            if (free_rows >> r & 1) {
                assert_smallest(&g, r, free_rows, explain_unmatched_row(&g, row_of_column, r, arena));
                n_explained++;
            }
        for (uint32_t c = 0; c < columns; c++)
            if (free_columns >> c & 1) {
                const SubSystem found = explain_unmatched_column(&t, column_of_row, c, arena);
                const SubSystem turned = { found.n_columns, found.n_rows, found.columns, found.rows };
                assert_smallest(&t, c, free_columns, turned);
            }
        arena_reset(arena, mark);
    }
    assert_true(n_explained > 1000);
    arena_destroy(arena);
}

static void over_and_under_determined_parts_are_separated(void **state)
{
    (void)state;
    /* x0 = 1, x0 = 2 (too many); x1 + x2 = 0 (too few); x3 = x0 (square). */
    static const Edge EDGES[] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 2, 2 }, { 3, 3 }, { 3, 0 } };
    Arena *arena = arena_create(NULL);
    const Incidence g = incidence_build(4, 4, EDGES, 6, arena);
    uint32_t column_of_row[4], row_of_column[4];
    assert_int_equal(match_rows(&g, arena, column_of_row, row_of_column), 3);
    const Dulmage found = dulmage_decompose(&g, column_of_row, row_of_column, arena, NULL);
    static const uint8_t ROWS[] = { DULMAGE_OVER, DULMAGE_OVER, DULMAGE_UNDER, DULMAGE_SQUARE };
    static const uint8_t COLUMNS[] = { DULMAGE_OVER, DULMAGE_UNDER, DULMAGE_UNDER, DULMAGE_SQUARE };
    assert_memory_equal(found.row_part, ROWS, sizeof ROWS);
    assert_memory_equal(found.column_part, COLUMNS, sizeof COLUMNS);
    arena_destroy(arena);
}

static void singular_chain_is_linear(void **state)
{
    (void)state;
    uint64_t work[2] = { 0 };
    for (int size = 0; size < 2; size++) {
        const uint32_t n = size ? SIZE_LARGE : SIZE_SMALL;
        Arena *arena = arena_create(NULL);
        Rows rows = { .arena = arena };
        for (uint32_t i = 0; i <= n; i++) { /* row i has columns i - 1 and i; one row too many */
            row_begin(&rows);
            if (i > 0)
                row_entry(&rows, i - 1);
            if (i < n)
                row_entry(&rows, i);
        }
        const Incidence g = rows_end(&rows, n);
        uint32_t *column_of_row = NEW_ARRAY(arena, uint32_t, g.rows), *row_of_column = NEW_ARRAY(arena, uint32_t, n);
        assert_int_equal(match_rows(&g, arena, column_of_row, row_of_column), n);
        const Dulmage found = dulmage_decompose(&g, column_of_row, row_of_column, arena, &work[size]);
        assert_int_equal(found.part[DULMAGE_OVER].n_rows, n + 1);
        assert_int_equal(found.part[DULMAGE_OVER].n_columns, n);
        const SubSystem why = explain_unmatched_row(&g, row_of_column, n, arena);
        assert_int_equal(why.n_rows, n + 1);
        arena_destroy(arena);
    }
    assert_linear(work[0], work[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_agree_with_definition),
        cmocka_unit_test(explanation_is_the_smallest_set),
        cmocka_unit_test(over_and_under_determined_parts_are_separated),
        cmocka_unit_test(singular_chain_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
