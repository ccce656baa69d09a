/* Random and regular graphs for the tests of this folder. */
#ifndef TESTS_GRAPHS_H
#define TESTS_GRAPHS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/vec.h"
#include "graph/graph.h"

typedef struct {
    uint64_t state;
} Random;

/* Splitmix: Steele, Lea and Flood, OOPSLA 2014. */
static inline uint32_t random_below(Random *random, uint32_t n)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % n);
}

typedef struct {
    Arena *arena;
    VEC(uint32_t) start;
    VEC(uint32_t) index;
} Rows;

/* Doubled here: hostile memory grows vectors by one item, too slow for a million. */
#define ROWS_PUSH(rows, vec, item)                                                                                     \
    do {                                                                                                               \
        if ((vec)->n == (vec)->capacity)                                                                               \
            vec_reserve((rows)->arena, (vec), 2 * (vec)->n + 16);                                                      \
        (vec)->at[(vec)->n++] = (item);                                                                                \
    } while (0)

/* Rows one after the other, entries in the order given: row_begin, row_entry ..., row_begin, ... */
static inline void row_begin(Rows *rows)
{
    ROWS_PUSH(rows, &rows->start, rows->index.n);
}

static inline void row_entry(Rows *rows, uint32_t column)
{
    ROWS_PUSH(rows, &rows->index, column);
}

static inline Incidence rows_end(Rows *rows, uint32_t columns)
{
    const uint32_t n = rows->start.n;
    ROWS_PUSH(rows, &rows->start, rows->index.n);
    vec_reserve(rows->arena, &rows->index, 1);
    const Incidence g = { n, columns, rows->start.at, rows->index.at };
    incidence_verify(&g);
    return g;
}

/* Each entry with a chance of `percent`, then shuffled within its row; some entries twice. */
static inline Incidence random_incidence(Arena *arena, Random *random, uint32_t rows, uint32_t columns,
                                         uint32_t percent)
{
    Rows built = { .arena = arena };
    for (uint32_t r = 0; r < rows; r++) {
        row_begin(&built);
        const uint32_t begin = built.index.n;
        for (uint32_t c = 0; c < columns; c++)
            if (random_below(random, 100) < percent) {
                row_entry(&built, c);
                if (random_below(random, 10) == 0)
                    row_entry(&built, c);
            }
        for (uint32_t k = built.index.n; k > begin + 1; k--) {
            const uint32_t other = begin + random_below(random, k - begin);
            const uint32_t held = built.index.at[k - 1];
            built.index.at[k - 1] = built.index.at[other];
            built.index.at[other] = held;
        }
    }
    return rows_end(&built, columns);
}

/* Columns of a row as bits; for at most 32 columns. */
static inline uint32_t row_bits(const Incidence *g, uint32_t row)
{
    uint32_t bits = 0;
    for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++)
        bits |= 1u << g->index[k];
    return bits;
}

/* reach[a] has bit b when a path of at least one edge leads from a to b; at most 32 nodes. */
static inline void close_reachability(const Incidence *g, uint32_t reach[32])
{
    for (uint32_t v = 0; v < g->rows; v++)
        reach[v] = row_bits(g, v);
    for (uint32_t via = 0; via < g->rows; via++)
        for (uint32_t v = 0; v < g->rows; v++)
            if (reach[v] >> via & 1)
                reach[v] |= reach[via];
}

static inline void assert_nothing_left(const Arena *arena, ArenaMark before)
{
    const ArenaMark after = arena_mark(arena);
    assert_ptr_equal(before.chunk, after.chunk);
    assert_int_equal(before.used, after.used);
}

/* Ten times the size may cost at most a little more than ten times the work. */
static inline void assert_linear(uint64_t work, uint64_t work_of_ten_times)
{
    assert_true(work > 0);
    assert_true(work_of_ten_times <= 12 * work);
}

enum { SIZE_SMALL = 100000, SIZE_LARGE = 1000000 };

#endif
