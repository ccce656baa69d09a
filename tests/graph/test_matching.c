/* Size against all matchings of small graphs; counted work on large ones made to be hard. */
#include "graphs.h"
#include "graph/matching.h"

/* Largest number of rows that can be matched, by all sets of used columns; at most 10 columns. */
static uint32_t largest_by_enumeration(const Incidence *g)
{
    bool reached[1 << 10] = { true };
    for (uint32_t r = 0; r < g->rows; r++)
        for (uint32_t set = (1u << g->columns); set-- > 0;)
            for (uint32_t c = 0; reached[set] && c < g->columns; c++)
                if ((row_bits(g, r) >> c & 1) && !(set >> c & 1))
                    reached[set | 1u << c] = true;
    uint32_t best = 0;
    for (uint32_t set = 0; set < 1u << g->columns; set++) {
        uint32_t size = 0;
        for (uint32_t c = 0; c < g->columns; c++)
            size += set >> c & 1;
        if (reached[set] && size > best)
            best = size;
    }
    return best;
}

static void assert_valid(const Incidence *g, const uint32_t *column_of_row, const uint32_t *row_of_column,
                         uint32_t size)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < g->rows; r++) {
        const uint32_t column = column_of_row[r];
        if (column == MATCH_NONE)
            continue;
        n++;
        assert_int_equal(row_of_column[column], r);
        bool is_entry = false;
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++)
            is_entry |= g->index[k] == column;
        assert_true(is_entry);
    }
    assert_int_equal(n, size);
    for (uint32_t c = 0; c < g->columns; c++)
        if (row_of_column[c] != MATCH_NONE)
            assert_int_equal(column_of_row[row_of_column[c]], c);
}

static void small_graphs_have_largest_matching(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 3 };
    for (int round = 0; round < 10000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t rows = random_below(&random, 10), columns = random_below(&random, 10);
        const Incidence g = random_incidence(arena, &random, rows, columns, 5 + random_below(&random, 60));
        uint32_t column_of_row[10], row_of_column[10], again_column[10], again_row[10];
        const ArenaMark before = arena_mark(arena);
        const uint32_t size = match_rows(&g, arena, column_of_row, row_of_column);
        assert_nothing_left(arena, before);
        assert_valid(&g, column_of_row, row_of_column, size);
        assert_int_equal(size, largest_by_enumeration(&g));
        assert_int_equal(match_rows(&g, arena, again_column, again_row), size);
        assert_memory_equal(column_of_row, again_column, rows * sizeof *again_column);
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

static void continues_from_partial_matching(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 4 };
    for (int round = 0; round < 5000; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t rows = random_below(&random, 10), columns = 1 + random_below(&random, 9);
        const Incidence g = random_incidence(arena, &random, rows, columns, 30);
        uint32_t initial[10], column_of_row[10], row_of_column[10];
        uint32_t used = 0;
        for (uint32_t r = 0; r < rows; r++) {
            initial[r] = MATCH_NONE;
            if (g.start[r] == g.start[r + 1] || random_below(&random, 2))
                continue;
            const uint32_t c = g.index[g.start[r] + random_below(&random, g.start[r + 1] - g.start[r])];
            if (!(used >> c & 1))
                initial[r] = c;
            used |= 1u << c;
        }
        const uint32_t size = match_rows_from(&g, arena, initial, column_of_row, row_of_column, NULL);
        assert_valid(&g, column_of_row, row_of_column, size);
        assert_int_equal(size, largest_by_enumeration(&g));
        for (uint32_t r = 0; r < rows; r++)
            if (initial[r] != MATCH_NONE)
                assert_int_not_equal(column_of_row[r], MATCH_NONE);
        /* In place, a maximum matching stays as it is. */
        uint32_t kept[10];
        memcpy(kept, column_of_row, sizeof kept);
        assert_int_equal(match_rows_from(&g, arena, column_of_row, column_of_row, row_of_column, NULL), size);
        assert_memory_equal(kept, column_of_row, rows * sizeof *kept);
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

static void earlier_rows_and_columns_are_preferred(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    static const Edge EDGES[] = { { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 2 }, { 2, 0 }, { 2, 1 }, { 2, 2 }, { 3, 2 } };
    const Incidence g = incidence_build(4, 3, EDGES, 8, arena);
    uint32_t column_of_row[4], row_of_column[3];
    assert_int_equal(match_rows(&g, arena, column_of_row, row_of_column), 3);
    static const uint32_t EXPECTED[] = { 1, 0, 2, MATCH_NONE };
    assert_memory_equal(column_of_row, EXPECTED, sizeof EXPECTED);
    arena_destroy(arena);
}

static void dependencies_follow_the_matching(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    /* x0 = f(); x1 = f(x0); x2 = f(x1, x2, x0) with row r solved for column r. */
    static const Edge EDGES[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 }, { 2, 1 }, { 2, 2 } };
    const Incidence g = incidence_build(3, 3, EDGES, 6, arena);
    static const uint32_t ROW_OF_COLUMN[] = { 0, 1, 2 }, START[] = { 0, 0, 1, 3 }, INDEX[] = { 0, 0, 1 };
    const Incidence d = match_dependencies(&g, ROW_OF_COLUMN, arena);
    assert_int_equal(d.rows, 3);
    assert_int_equal(d.columns, 3);
    assert_memory_equal(d.start, START, sizeof START);
    assert_memory_equal(d.index, INDEX, sizeof INDEX);
    arena_destroy(arena);
}

/* ---- Large graphs ---------------------------------------------------------------------------------------------- */

/* First-fit takes the wrong column in every row; one path through all rows repairs it. */
static Incidence chain(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        if (i + 1 < n)
            row_entry(&rows, i + 1);
        if (i + 1 == n || i > 0)
            row_entry(&rows, i);
        if (i == 0)
            row_entry(&rows, 0);
    }
    return rows_end(&rows, n);
}

/* The same against the order of rows. */
static Incidence chain_backwards(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = n; i-- > 0;) {
        row_begin(&rows);
        if (i > 0)
            row_entry(&rows, i - 1);
        row_entry(&rows, i);
    }
    return rows_end(&rows, n);
}

/* Disjoint chains of lengths 1, 2, 3, ...: shortest paths alone would need a phase for each length. */
static Incidence chains_of_all_lengths(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    uint32_t base = 0;
    for (uint32_t length = 1; base + length <= n; base += length, length++)
        for (uint32_t i = 0; i < length; i++) {
            row_begin(&rows);
            if (i + 1 < length)
                row_entry(&rows, base + i + 1);
            row_entry(&rows, base + i);
        }
    return rows_end(&rows, base);
}

static Incidence ladder(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        if (i + 2 < n)
            row_entry(&rows, i + 2);
        if (i + 1 < n)
            row_entry(&rows, i + 1);
        row_entry(&rows, i);
    }
    return rows_end(&rows, n);
}

/* A spine in which every row also has a tooth that an extra row needs. */
static Incidence comb(Arena *arena, uint32_t n)
{
    const uint32_t half = n / 2;
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < half; i++) {
        row_begin(&rows);
        row_entry(&rows, half + i);
        row_entry(&rows, i);
        row_entry(&rows, (i + 1) % half);
    }
    for (uint32_t i = 0; i < half; i++) {
        row_begin(&rows);
        row_entry(&rows, half + i);
    }
    return rows_end(&rows, 2 * half);
}

/* Every row wants column 0 first. */
static Incidence star(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        row_entry(&rows, 0);
        row_entry(&rows, i);
    }
    return rows_end(&rows, n);
}

/* Singular: only one row can be matched, the others are tried in vain. */
static Incidence star_without_own_columns(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        row_entry(&rows, 0);
    }
    return rows_end(&rows, n);
}

/* A chain without a solution: the last row has a column that all others need. */
static Incidence chain_without_solution(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        if (i + 1 < n)
            row_entry(&rows, i + 1);
        if (i > 0)
            row_entry(&rows, i);
    }
    return rows_end(&rows, n);
}

static Incidence random_three(Arena *arena, uint32_t n)
{
    Random random = { 5 };
    Rows rows = { .arena = arena };
    for (uint32_t i = 0; i < n; i++) {
        row_begin(&rows);
        for (int k = 0; k < 3; k++)
            row_entry(&rows, random_below(&random, n));
    }
    return rows_end(&rows, n);
}

typedef Incidence (*Family)(Arena *arena, uint32_t n);

static uint64_t count_work(Family family, uint32_t n, uint32_t *missing)
{
    Arena *arena = arena_create(NULL);
    const Incidence g = family(arena, n);
    uint32_t *column_of_row = NEW_ARRAY(arena, uint32_t, g.rows),
             *row_of_column = NEW_ARRAY(arena, uint32_t, g.columns);
    uint64_t work = 0;
    const uint32_t size = match_rows_from(&g, arena, NULL, column_of_row, row_of_column, &work);
    assert_valid(&g, column_of_row, row_of_column, size);
    *missing = g.rows - size;
    assert_true(work <= 40 * ((uint64_t)g.rows + incidence_entries(&g)));
    arena_destroy(arena);
    return work;
}

static void work_is_near_linear(void **state)
{
    (void)state;
    static const struct {
        Family family;
        bool is_singular;
    } CASES[] = {
        { chain, false },
        { chain_backwards, false },
        { chains_of_all_lengths, false },
        { ladder, false },
        { comb, false },
        { star, false },
        { chain_without_solution, true },
        { star_without_own_columns, true },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        uint32_t missing;
        const uint64_t small = count_work(CASES[k].family, SIZE_SMALL, &missing);
        const uint64_t large = count_work(CASES[k].family, SIZE_LARGE, &missing);
        assert_int_equal(missing != 0, CASES[k].is_singular);
        assert_linear(small, large);
    }
    uint32_t missing; /* the number of phases varies with the size, so only the bound in count_work holds */
    count_work(random_three, SIZE_SMALL, &missing);
    count_work(random_three, SIZE_LARGE, &missing);
}

static void complete_graph_is_matched_in_one_pass(void **state)
{
    (void)state;
    enum { N = 1000 };
    Arena *arena = arena_create(NULL);
    Rows rows = { .arena = arena };
    for (uint32_t r = 0; r < N; r++) {
        row_begin(&rows);
        for (uint32_t c = 0; c < N; c++)
            row_entry(&rows, c);
    }
    const Incidence g = rows_end(&rows, N);
    uint32_t column_of_row[N], row_of_column[N];
    uint64_t work = 0;
    assert_int_equal(match_rows_from(&g, arena, NULL, column_of_row, row_of_column, &work), N);
    assert_true(work <= N * N);
    for (uint32_t r = 0; r < N; r++)
        assert_int_equal(column_of_row[r], r);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_have_largest_matching),
        cmocka_unit_test(continues_from_partial_matching),
        cmocka_unit_test(earlier_rows_and_columns_are_preferred),
        cmocka_unit_test(dependencies_follow_the_matching),
        cmocka_unit_test(work_is_near_linear),
        cmocka_unit_test(complete_graph_is_matched_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
