#include "graph/pantelides.h"
#include "base/vec.h"
#include "graph/matching.h"

typedef struct {
    const Incidence *g;
    const uint32_t *order;
    Pantelides *result;
    Arena *arena;
    uint32_t *row_of_column;
    uint32_t *row_place, *column_place; /* 1 + place in the lists below; 0: not in them */
    VEC(uint32_t) rows;
    VEC(uint32_t) columns;
    uint64_t work;
} Search;

/* Entry k of the row is the highest derivative of its column. */
static bool is_highest(const Search *s, uint32_t row, uint32_t k)
{
    return s->order[k] + s->result->differentiated[row] == s->result->highest[s->g->index[k]];
}

static void reach_row(Search *s, uint32_t row)
{
    if (s->row_place[row])
        return;
    vec_push(s->arena, &s->rows, row);
    s->row_place[row] = s->rows.n;
}

/* Everything that alternating paths from `from` lead to. */
static void reach(Search *s, const uint32_t *from, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        reach_row(s, from[k]);
    for (uint32_t head = 0; head < s->rows.n; head++) {
        const uint32_t row = s->rows.at[head];
        s->work += 1 + s->g->start[row + 1] - s->g->start[row];
        for (uint32_t k = s->g->start[row]; k < s->g->start[row + 1]; k++) {
            const uint32_t column = s->g->index[k];
            if (s->column_place[column] || !is_highest(s, row, k))
                continue;
            vec_push(s->arena, &s->columns, column);
            s->column_place[column] = s->columns.n;
            if (s->row_of_column[column] != MATCH_NONE)
                reach_row(s, s->row_of_column[column]);
        }
    }
}

static void forget(Search *s)
{
    for (uint32_t k = 0; k < s->rows.n; k++)
        s->row_place[s->rows.at[k]] = 0;
    for (uint32_t k = 0; k < s->columns.n; k++)
        s->column_place[s->columns.at[k]] = 0;
    s->rows.n = s->columns.n = 0;
}

/* A maximum matching of what was reached, starting from the present one. */
static void match_reached(Search *s)
{
    const uint32_t n = s->rows.n;
    VEC(Edge) edges = { 0 };
    uint32_t *mates = NEW_ARRAY(s->arena, uint32_t, n + 1), *back = NEW_ARRAY(s->arena, uint32_t, s->columns.n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = s->rows.at[i], mate = s->result->column_of_row[row];
        mates[i] = mate == MATCH_NONE ? MATCH_NONE : s->column_place[mate] - 1;
        for (uint32_t k = s->g->start[row]; k < s->g->start[row + 1]; k++) {
            const Edge edge = { i, s->column_place[s->g->index[k]] - 1 };
            if (is_highest(s, row, k))
                vec_push(s->arena, &edges, edge);
        }
    }
    const Incidence part = incidence_build(n, s->columns.n, edges.at, edges.n, s->arena);
    match_rows_from(&part, s->arena, mates, mates, back, &s->work);
    for (uint32_t i = 0; i < n; i++)
        s->result->column_of_row[s->rows.at[i]] = mates[i] == MATCH_NONE ? MATCH_NONE : s->columns.at[mates[i]];
    for (uint32_t i = 0; i < s->columns.n; i++)
        s->row_of_column[s->columns.at[i]] = back[i] == MATCH_NONE ? MATCH_NONE : s->rows.at[back[i]];
}

/* What is reached from rows that cannot be matched has one equation too many: all of it is differentiated. */
static bool differentiate_reached(Search *s, uint32_t limit)
{
    for (uint32_t k = 0; k < s->columns.n; k++)
        s->result->highest[s->columns.at[k]]++;
    for (uint32_t k = 0; k < s->rows.n; k++) {
        const uint32_t times = ++s->result->differentiated[s->rows.at[k]];
        if (times > limit)
            return false;
        if (times > s->result->most)
            s->result->most = times;
    }
    return true;
}

Pantelides pantelides(const Incidence *g, const uint32_t *order, const uint32_t *present, uint32_t limit, Arena *arena,
                      uint64_t *work)
{
    Pantelides result = { .is_complete = true,
                          .differentiated = NEW_ARRAY(arena, uint32_t, g->rows + 1),
                          .highest = NEW_ARRAY(arena, uint32_t, g->columns + 1),
                          .column_of_row = NEW_ARRAY(arena, uint32_t, g->rows + 1) };
    Search s = { .g = g,
                 .order = order,
                 .result = &result,
                 .arena = arena,
                 .row_of_column = NEW_ARRAY(arena, uint32_t, g->columns + 1),
                 .row_place = NEW_ARRAY(arena, uint32_t, g->rows + 1),
                 .column_place = NEW_ARRAY(arena, uint32_t, g->columns + 1) };
    uint32_t *unmatched = NEW_ARRAY(arena, uint32_t, g->rows + 1), n = g->rows;
    for (uint32_t k = 0; k < g->columns; k++) {
        s.row_of_column[k] = MATCH_NONE;
        result.highest[k] = present ? present[k] : 0;
    }
    for (uint32_t row = 0; row < g->rows; row++) {
        unmatched[row] = row;
        result.column_of_row[row] = MATCH_NONE;
        for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++)
            if (order[k] > result.highest[g->index[k]])
                result.highest[g->index[k]] = order[k];
    }
    while (n) {
        reach(&s, unmatched, n);
        match_reached(&s);
        uint32_t left = 0;
        for (uint32_t k = 0; k < n; k++)
            if (result.column_of_row[unmatched[k]] == MATCH_NONE)
                unmatched[left++] = unmatched[k];
        n = left;
        forget(&s);
        reach(&s, unmatched, n);
        if (n && !differentiate_reached(&s, limit)) {
            result.is_complete = false;
            break;
        }
        forget(&s);
    }
    if (work)
        *work += s.work;
    return result;
}
