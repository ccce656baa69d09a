/* Colours are valid, equal to those of the plain greedy method, and known for known patterns. */
#include "graphs.h"
#include "graph/colouring.h"

static void assert_valid(const Incidence *g, const uint32_t *colour, uint32_t n_colours)
{
    Arena *arena = arena_create(NULL);
    uint32_t *user = NEW_ARRAY(arena, uint32_t, n_colours); /* row and column of the last use, plus one */
    uint32_t *column = NEW_ARRAY(arena, uint32_t, n_colours);
    uint8_t *is_used = NEW_ARRAY(arena, uint8_t, n_colours);
    for (uint32_t r = 0; r < g->rows; r++)
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++) {
            const uint32_t c = g->index[k];
            assert_true(colour[c] < n_colours);
            assert_true(user[colour[c]] != r + 1 || column[colour[c]] == c);
            user[colour[c]] = r + 1;
            column[colour[c]] = c;
        }
    for (uint32_t c = 0; c < g->columns; c++)
        is_used[colour[c]] = 1;
    for (uint32_t k = 0; k < n_colours; k++)
        assert_true(is_used[k]);
    arena_destroy(arena);
}

static bool share_row(const Incidence *g, uint32_t a, uint32_t b)
{
    for (uint32_t r = 0; r < g->rows; r++) {
        bool has_a = false, has_b = false;
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++) {
            has_a |= g->index[k] == a;
            has_b |= g->index[k] == b;
        }
        if (has_a && has_b)
            return true;
    }
    return false;
}

static void colour_plainly(const Incidence *g, uint32_t *colour)
{
    for (uint32_t c = 0; c < g->columns; c++) {
        uint64_t used[4] = { 0 };
        for (uint32_t b = 0; b < c; b++)
            if (share_row(g, b, c))
                used[colour[b] / 64] |= (uint64_t)1 << colour[b] % 64;
        colour[c] = 0;
        while (used[colour[c] / 64] >> colour[c] % 64 & 1)
            colour[c]++;
    }
}

static void agrees_with_plain_greedy(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 10 };
    for (int round = 0; round < 1500; round++) {
        const ArenaMark mark = arena_mark(arena);
        const bool is_wide = round % 10 == 0; /* rows of more than 32 entries among short ones */
        const uint32_t rows = random_below(&random, 12), columns = random_below(&random, is_wide ? 80 : 12);
        const Incidence g =
            random_incidence(arena, &random, rows, columns, 1 + random_below(&random, is_wide ? 90 : 40));
        uint32_t found[80], plain[80];
        const ArenaMark before = arena_mark(arena);
        const uint32_t n = colour_columns(&g, COLOUR_NATURAL, arena, found, NULL);
        assert_nothing_left(arena, before);
        assert_valid(&g, found, n);
        colour_plainly(&g, plain);
        assert_memory_equal(found, plain, columns * sizeof *plain);
        assert_valid(&g, found, colour_columns(&g, COLOUR_LARGEST_FIRST, arena, found, NULL));
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

typedef enum { DIAGONAL, TRIDIAGONAL, ARROW, DENSE_COLUMN, BLOCKS, INTERLEAVED } Pattern;
enum { BLOCK = 40 };

/* Two rows that use even and odd colours (a third one sees to it), and as many columns again that have both rows. */
static Incidence interleave(Arena *arena, uint32_t n)
{
    Rows rows = { .arena = arena };
    for (uint32_t parity = 0; parity < 2; parity++) {
        row_begin(&rows);
        for (uint32_t c = 0; c < n; c++)
            if (c >= n / 2 || c % 2 == parity)
                row_entry(&rows, c);
    }
    row_begin(&rows);
    for (uint32_t c = 0; c < n / 2; c++)
        row_entry(&rows, c);
    return rows_end(&rows, n);
}

static Incidence build(Arena *arena, Pattern pattern, uint32_t n)
{
    if (pattern == INTERLEAVED)
        return interleave(arena, n);
    Rows rows = { .arena = arena };
    for (uint32_t r = 0; r < n; r++) {
        row_begin(&rows);
        switch (pattern) {
        case INTERLEAVED:
        case DIAGONAL: break;
        case TRIDIAGONAL:
            if (r > 0)
                row_entry(&rows, r - 1);
            if (r + 1 < n)
                row_entry(&rows, r + 1);
            break;
        case ARROW: /* dense row and dense column */
            for (uint32_t c = 1; r == 0 && c < n; c++)
                row_entry(&rows, c);
            if (r > 0)
                row_entry(&rows, 0);
            break;
        case DENSE_COLUMN:
            if (r > 0)
                row_entry(&rows, 0);
            break;
        case BLOCKS:
            for (uint32_t c = r / BLOCK * BLOCK; c < n && c < (r / BLOCK + 1) * BLOCK; c++)
                if (c != r)
                    row_entry(&rows, c);
            break;
        }
        row_entry(&rows, r);
    }
    return rows_end(&rows, n);
}

static void known_patterns_have_known_counts(void **state)
{
    (void)state;
    static const struct {
        Pattern pattern;
        uint32_t n, colours;
    } CASES[] = {
        { DIAGONAL, 50, 1 },      { TRIDIAGONAL, 50, 3 }, { TRIDIAGONAL, 2, 2 },
        { ARROW, 50, 50 },        { ARROW, 10, 10 },      { DENSE_COLUMN, 50, 2 },
        { BLOCKS, BLOCK, BLOCK }, { BLOCKS, 7, 7 },       { BLOCKS, 400, BLOCK },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
        for (ColourOrder order = COLOUR_NATURAL; order <= COLOUR_LARGEST_FIRST; order++) {
            Arena *arena = arena_create(NULL);
            const Incidence g = build(arena, CASES[k].pattern, CASES[k].n);
            uint32_t colour[400];
            assert_int_equal(colour_columns(&g, order, arena, colour, NULL), CASES[k].colours);
            assert_valid(&g, colour, CASES[k].colours);
            arena_destroy(arena);
        }
}

static void largest_first_saves_colours_where_natural_order_is_bad(void **state)
{
    (void)state;
    /* The crown: column 2i meets every odd column but 2i + 1, one row for each pair; in natural order each pair takes
     * a colour of its own. A heavy pair in front gives largest-first the better start. */
    Arena *arena = arena_create(NULL);
    Rows rows = { .arena = arena };
    enum { N = 8 };
    for (uint32_t a = 0; a < N; a += 2)
        for (uint32_t b = 1; b < N; b += 2)
            if (b != a + 1) {
                row_begin(&rows);
                row_entry(&rows, a);
                row_entry(&rows, b);
                if (a == 0) { /* makes even columns heavier than odd ones */
                    row_begin(&rows);
                    row_entry(&rows, a);
                }
            }
    for (uint32_t a = 0; a < N; a += 2)
        for (int k = 0; k < 3; k++) {
            row_begin(&rows);
            row_entry(&rows, a);
        }
    const Incidence g = rows_end(&rows, N);
    uint32_t colour[N];
    assert_int_equal(colour_columns(&g, COLOUR_NATURAL, arena, colour, NULL), N / 2);
    assert_int_equal(colour_columns(&g, COLOUR_LARGEST_FIRST, arena, colour, NULL), 2);
    assert_valid(&g, colour, 2);
    arena_destroy(arena);
}

/* Empty columns take colour 0, so that the number of colours is that of the colours in use. */
static void empty_patterns(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Rows none = { .arena = arena }, empty = { .arena = arena };
    const Incidence nothing = rows_end(&none, 0);
    uint32_t colour[3];
    assert_int_equal(colour_columns(&nothing, COLOUR_NATURAL, arena, colour, NULL), 0);
    row_begin(&empty);
    const Incidence columns_only = rows_end(&empty, 3);
    assert_int_equal(colour_columns(&columns_only, COLOUR_LARGEST_FIRST, arena, colour, NULL), 1);
    assert_int_equal(colour[2], 0);
    arena_destroy(arena);
}

static void work_is_near_linear(void **state)
{
    (void)state;
    static const struct {
        Pattern pattern;
        uint32_t small; /* columns */
    } CASES[] = { { TRIDIAGONAL, SIZE_SMALL },
                  { ARROW, SIZE_SMALL },
                  { DENSE_COLUMN, SIZE_SMALL },
                  { BLOCKS, SIZE_SMALL / 50 },
                  { INTERLEAVED, SIZE_SMALL / 10 } };
    for (size_t p = 0; p < sizeof CASES / sizeof *CASES; p++) {
        uint64_t work[2] = { 0 };
        for (int size = 0; size < 2; size++) {
            const uint32_t n = CASES[p].small * (size ? 10 : 1);
            Arena *arena = arena_create(NULL);
            const Incidence g = build(arena, CASES[p].pattern, n);
            uint32_t *colour = NEW_ARRAY(arena, uint32_t, n);
            const uint32_t n_colours = colour_columns(&g, COLOUR_NATURAL, arena, colour, &work[size]);
            assert_valid(&g, colour, n_colours);
            assert_true(work[size] <= 200 * (uint64_t)incidence_entries(&g));
            arena_destroy(arena);
        }
        assert_linear(work[0], work[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_plain_greedy),
        cmocka_unit_test(known_patterns_have_known_counts),
        cmocka_unit_test(largest_first_saves_colours_where_natural_order_is_bad),
        cmocka_unit_test(empty_patterns),
        cmocka_unit_test(work_is_near_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
