#include "graph/dulmage.h"
#include "graph/matching.h"
#include "base/bug.h"

/* Alternating search: from a row to all its columns, from a column to its mate. Written for rows; columns are searched
 * by giving the transposed incidence. */
typedef struct {
    const Incidence *g;
    const uint32_t *row_of_column;
    uint8_t *row_seen, *column_seen;
    uint32_t *queue; /* rows */
    uint32_t n_rows, n_columns;
    uint64_t work;
} Search;

static Search search_begin(const Incidence *g, const uint32_t *row_of_column, Arena *arena)
{
    return (Search){ .g = g,
                     .row_of_column = row_of_column,
                     .row_seen = NEW_ARRAY(arena, uint8_t, g->rows),
                     .column_seen = NEW_ARRAY(arena, uint8_t, g->columns),
                     .queue = NEW_ARRAY(arena, uint32_t, g->rows) };
}

static void see_row(Search *s, uint32_t row)
{
    if (s->row_seen[row])
        return; /* only from a start that is matched; explain_unmatched_row then finds the counts wrong */
    s->row_seen[row] = 1;
    s->queue[s->n_rows++] = row;
}

static void search_on(Search *s)
{
    for (uint32_t head = 0; head < s->n_rows; head++) {
        const uint32_t row = s->queue[head];
        s->work += 1 + s->g->start[row + 1] - s->g->start[row];
        for (uint32_t k = s->g->start[row]; k < s->g->start[row + 1]; k++) {
            const uint32_t column = s->g->index[k];
            if (s->column_seen[column])
                continue;
            s->column_seen[column] = 1;
            s->n_columns++;
            if (s->row_of_column[column] == MATCH_NONE)
                BUG("an augmenting path: the matching is not a maximum one");
            see_row(s, s->row_of_column[column]);
        }
    }
}

static void search_from_unmatched(Search *s, const uint32_t *column_of_row)
{
    for (uint32_t r = 0; r < s->g->rows; r++)
        if (column_of_row[r] == MATCH_NONE)
            see_row(s, r);
    search_on(s);
    s->work += s->g->rows;
}

typedef struct {
    uint32_t *list[3], count[3];
} Parts;

/* Sets part_of[n] and splits `all` into the ascending lists of the three parts. */
static void split(uint32_t n, const uint8_t *over, const uint8_t *under, uint8_t *part_of, uint32_t *all, Parts *parts)
{
    for (uint32_t k = 0; k < n; k++) {
        REQUIRE(!(over[k] && under[k]));
        part_of[k] = over[k] ? DULMAGE_OVER : under[k] ? DULMAGE_UNDER : DULMAGE_SQUARE;
        parts->count[part_of[k]]++;
    }
    for (int part = 0; part < 3; part++) {
        parts->list[part] = all;
        all += parts->count[part];
    }
    uint32_t filled[3] = { 0 };
    for (uint32_t k = 0; k < n; k++)
        parts->list[part_of[k]][filled[part_of[k]]++] = k;
}

Dulmage dulmage_decompose(const Incidence *g, const uint32_t *column_of_row, const uint32_t *row_of_column,
                          Arena *arena, uint64_t *work)
{
    Dulmage result = { .row_part = NEW_ARRAY(arena, uint8_t, g->rows),
                       .column_part = NEW_ARRAY(arena, uint8_t, g->columns) };
    uint32_t *rows = NEW_ARRAY(arena, uint32_t, g->rows);
    uint32_t *columns = NEW_ARRAY(arena, uint32_t, g->columns);
    const ArenaMark mark = arena_mark(arena);

    Search over = search_begin(g, row_of_column, arena);
    search_from_unmatched(&over, column_of_row);
    const Incidence transposed = incidence_transpose(g, arena);
    Search under = search_begin(&transposed, column_of_row, arena);
    search_from_unmatched(&under, row_of_column);

    Parts of_rows = { .count = { 0 } }, of_columns = { .count = { 0 } };
    split(g->rows, over.row_seen, under.column_seen, result.row_part, rows, &of_rows);
    split(g->columns, over.column_seen, under.row_seen, result.column_part, columns, &of_columns);
    for (int part = 0; part < 3; part++)
        result.part[part] =
            (SubSystem){ of_rows.count[part], of_columns.count[part], of_rows.list[part], of_columns.list[part] };
    REQUIRE(of_rows.count[DULMAGE_SQUARE] == of_columns.count[DULMAGE_SQUARE]);
    if (work)
        *work += over.work + under.work;
    arena_reset(arena, mark);
    return result;
}

static void list_seen(const uint8_t *seen, uint32_t n, uint32_t *list)
{
    for (uint32_t k = 0; k < n; k++)
        if (seen[k])
            *list++ = k;
}

/* Searched twice: first for the size, then for the lists, so that only the result stays in the arena. */
SubSystem explain_unmatched_row(const Incidence *g, const uint32_t *row_of_column, uint32_t row, Arena *arena)
{
    ArenaMark mark = arena_mark(arena);
    Search s = search_begin(g, row_of_column, arena);
    see_row(&s, row);
    search_on(&s);
    const SubSystem result = { s.n_rows, s.n_columns, NULL, NULL };
    REQUIRE(result.n_rows == result.n_columns + 1);
    arena_reset(arena, mark);

    uint32_t *rows = NEW_ARRAY(arena, uint32_t, result.n_rows);
    uint32_t *columns = NEW_ARRAY(arena, uint32_t, result.n_columns);
    mark = arena_mark(arena);
    s = search_begin(g, row_of_column, arena);
    see_row(&s, row);
    search_on(&s);
    list_seen(s.row_seen, g->rows, rows);
    list_seen(s.column_seen, g->columns, columns);
    arena_reset(arena, mark);
    return (SubSystem){ result.n_rows, result.n_columns, rows, columns };
}

SubSystem explain_unmatched_column(const Incidence *transposed, const uint32_t *column_of_row, uint32_t column,
                                   Arena *arena)
{
    const SubSystem found = explain_unmatched_row(transposed, column_of_row, column, arena);
    return (SubSystem){ found.n_columns, found.n_rows, found.columns, found.rows };
}
