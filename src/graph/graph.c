#include "graph/graph.h"
#include "base/bug.h"

/* start[k] holds the count of row k; afterwards the begin of row k, start[n] the sum. */
static void counts_to_starts(uint32_t *start, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t count = start[k];
        start[k] = sum;
        sum += count;
    }
    start[n] = sum;
}

/* Two passes of a counting sort, by column and then by row; an edge equal to the one before it in its row is left
 * out. */
Incidence incidence_build(uint32_t rows, uint32_t columns, const Edge *edges, uint32_t n, Arena *arena)
{
    uint32_t *start = NEW_ARRAY(arena, uint32_t, (size_t)rows + 1);
    uint32_t *index = NEW_ARRAY(arena, uint32_t, n);
    const ArenaMark mark = arena_mark(arena);

    uint32_t *column_start = NEW_ARRAY(arena, uint32_t, (size_t)columns + 1);
    uint32_t *row_of = NEW_ARRAY(arena, uint32_t, n); /* rows of the edges, by column */
    for (uint32_t e = 0; e < n; e++) {
        REQUIRE(edges[e].row < rows && edges[e].column < columns);
        column_start[edges[e].column]++;
    }
    counts_to_starts(column_start, columns);
    for (uint32_t e = 0; e < n; e++)
        row_of[column_start[edges[e].column]++] = edges[e].row; /* now column_start is the end of the column */

    uint32_t *seen = NEW_ARRAY(arena, uint32_t, rows); /* last column seen in the row, plus one */
    for (uint32_t c = 0, k = 0; c < columns; c++)
        for (; k < column_start[c]; k++)
            if (seen[row_of[k]] != c + 1) {
                seen[row_of[k]] = c + 1;
                start[row_of[k]]++;
            }
    counts_to_starts(start, rows);

    uint32_t *next = NEW_ARRAY(arena, uint32_t, rows);
    memcpy(next, start, rows * sizeof *next);
    for (uint32_t c = 0, k = 0; c < columns; c++)
        for (; k < column_start[c]; k++) {
            const uint32_t r = row_of[k];
            if (next[r] == start[r] || index[next[r] - 1] != c)
                index[next[r]++] = c;
        }
    arena_reset(arena, mark);
    return (Incidence){ rows, columns, start, index };
}

Incidence incidence_transpose(const Incidence *g, Arena *arena)
{
    const uint32_t entries = incidence_entries(g);
    uint32_t *start = NEW_ARRAY(arena, uint32_t, (size_t)g->columns + 1);
    uint32_t *index = NEW_ARRAY(arena, uint32_t, entries);
    const ArenaMark mark = arena_mark(arena);

    for (uint32_t k = 0; k < entries; k++)
        start[g->index[k]]++;
    counts_to_starts(start, g->columns);
    uint32_t *next = NEW_ARRAY(arena, uint32_t, g->columns);
    memcpy(next, start, g->columns * sizeof *next);
    for (uint32_t r = 0; r < g->rows; r++)
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++)
            index[next[g->index[k]]++] = r;
    arena_reset(arena, mark);
    return (Incidence){ g->columns, g->rows, start, index };
}

void incidence_verify(const Incidence *g)
{
    REQUIRE(g->start[0] == 0);
    for (uint32_t r = 0; r < g->rows; r++)
        REQUIRE(g->start[r] <= g->start[r + 1]);
    for (uint32_t k = 0; k < incidence_entries(g); k++)
        REQUIRE(g->index[k] < g->columns);
}

void sort_by_key(uint32_t *nodes, uint32_t n, const uint32_t *key, Arena *arena)
{
    enum { BITS = 8, BUCKETS = 1 << BITS };
    const ArenaMark mark = arena_mark(arena);
    uint32_t *sorted = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t shift = 0; shift < 32; shift += BITS) {
        uint32_t begin[BUCKETS + 1] = { 0 };
        for (uint32_t k = 0; k < n; k++)
            begin[key[nodes[k]] >> shift & (BUCKETS - 1)]++;
        if (n && begin[key[nodes[0]] >> shift & (BUCKETS - 1)] == n)
            continue; /* all keys agree in this byte */
        counts_to_starts(begin, BUCKETS);
        for (uint32_t k = 0; k < n; k++)
            sorted[begin[key[nodes[k]] >> shift & (BUCKETS - 1)]++] = nodes[k];
        memcpy(nodes, sorted, n * sizeof *nodes);
    }
    arena_reset(arena, mark);
}
