/* Short rows forbid the colours of their columns one by one. Long rows keep for each used colour the next one to try,
 * joined by path compression (as in Tarjan's disjoint sets), keyed by row and colour. */
#include "graph/colouring.h"
#include "base/map.h"

static const uint32_t LONG_ROW = 32;    /* entries; shorter rows are scanned faster than looked up */
static const uint32_t ROUNDS_MOST = 64; /* through the rows of a column, before the search for a gap is given up */

typedef struct {
    const Incidence *rows, *columns;
    uint32_t *colour; /* COLOUR_NONE: not yet */
    uint32_t *taken;  /* by colour: the last column (plus one) that found it in a short row */
    uint32_t *top;    /* by row: all colours from here on are unused; long rows only */
    Map next;         /* long row and used colour: a later colour, all between them used */
    uint64_t work;
} Colouring;

#define COLOUR_NONE UINT32_MAX

static uint32_t length_of(const Incidence *g, uint32_t row)
{
    return g->start[row + 1] - g->start[row];
}

static uint64_t key_of(uint32_t row, uint32_t colour)
{
    return (uint64_t)row << 32 | colour;
}

/* Smallest colour from `colour` on that the long row has not used. */
static uint32_t next_free(Colouring *c, uint32_t row, uint32_t colour)
{
    uint32_t found = colour, after;
    while (map_get(&c->next, key_of(row, found), &after)) {
        found = after;
        c->work++;
    }
    for (uint32_t k = colour; map_get(&c->next, key_of(row, k), &after) && after != found; k = after)
        map_put(&c->next, key_of(row, k), found);
    return found;
}

static void mark_short_rows(Colouring *c, uint32_t column)
{
    for (uint32_t k = c->columns->start[column]; k < c->columns->start[column + 1]; k++) {
        const uint32_t row = c->columns->index[k];
        c->work++;
        if (length_of(c->rows, row) >= LONG_ROW)
            continue;
        c->work += length_of(c->rows, row);
        for (uint32_t m = c->rows->start[row]; m < c->rows->start[row + 1]; m++)
            if (c->colour[c->rows->index[m]] != COLOUR_NONE)
                c->taken[c->colour[c->rows->index[m]]] = column + 1;
    }
}

static uint32_t skip_taken(Colouring *c, uint32_t column, uint32_t colour)
{
    while (c->taken[colour] == column + 1) {
        colour++;
        c->work++;
    }
    return colour;
}

/* A colour above all that the long rows have used. */
static uint32_t colour_on_top(Colouring *c, uint32_t column)
{
    uint32_t colour = 0;
    for (uint32_t k = c->columns->start[column]; k < c->columns->start[column + 1]; k++)
        if (c->top[c->columns->index[k]] > colour)
            colour = c->top[c->columns->index[k]];
    return skip_taken(c, column, colour);
}

static uint32_t smallest_colour(Colouring *c, uint32_t column)
{
    uint32_t colour = 0;
    for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
        const uint32_t before = colour;
        colour = skip_taken(c, column, colour);
        for (uint32_t k = c->columns->start[column]; k < c->columns->start[column + 1]; k++) {
            const uint32_t row = c->columns->index[k];
            c->work++;
            if (length_of(c->rows, row) >= LONG_ROW)
                colour = next_free(c, row, colour);
        }
        if (colour == before)
            return colour;
    }
    return colour_on_top(c, column);
}

static void use_colour(Colouring *c, uint32_t column, uint32_t colour)
{
    c->colour[column] = colour;
    for (uint32_t k = c->columns->start[column]; k < c->columns->start[column + 1]; k++) {
        const uint32_t row = c->columns->index[k];
        if (length_of(c->rows, row) < LONG_ROW)
            continue;
        map_put(&c->next, key_of(row, colour), colour + 1);
        if (c->top[row] <= colour)
            c->top[row] = colour + 1;
    }
}

static uint32_t *columns_in_order(const Incidence *rows, const Incidence *columns, ColourOrder order, Arena *arena)
{
    const uint32_t n = columns->rows;
    uint32_t *list = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t j = 0; j < n; j++)
        list[j] = j;
    if (order == COLOUR_LARGEST_FIRST) {
        uint32_t *key = NEW_ARRAY(arena, uint32_t, n); /* descending: counted from the top */
        for (uint32_t j = 0; j < n; j++) {
            key[j] = UINT32_MAX;
            for (uint32_t k = columns->start[j]; k < columns->start[j + 1]; k++)
                key[j] -= length_of(rows, columns->index[k]);
        }
        sort_by_key(list, n, key, arena);
    }
    return list;
}

static uint32_t entries_of_long_rows(const Incidence *g)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < g->rows; r++)
        if (length_of(g, r) >= LONG_ROW)
            n += length_of(g, r);
    return n;
}

uint32_t colour_columns(const Incidence *pattern, ColourOrder order, Arena *arena, uint32_t *colour_of_column,
                        uint64_t *work)
{
    const uint32_t n = pattern->columns;
    const ArenaMark mark = arena_mark(arena);
    const Incidence columns = incidence_transpose(pattern, arena);
    Colouring c = { .rows = pattern,
                    .columns = &columns,
                    .colour = colour_of_column,
                    .taken = NEW_ARRAY(arena, uint32_t, (size_t)n + 1),
                    .top = NEW_ARRAY(arena, uint32_t, pattern->rows) };
    map_init(&c.next, arena, entries_of_long_rows(pattern));
    for (uint32_t j = 0; j < n; j++)
        colour_of_column[j] = COLOUR_NONE;

    const uint32_t *list = columns_in_order(pattern, &columns, order, arena);
    uint32_t n_colours = 0;
    for (uint32_t k = 0; k < n; k++) {
        mark_short_rows(&c, list[k]);
        const uint32_t colour = smallest_colour(&c, list[k]);
        use_colour(&c, list[k], colour);
        if (colour >= n_colours)
            n_colours = colour + 1;
    }
    if (work)
        *work += c.work;
    arena_reset(arena, mark);
    return n_colours;
}
