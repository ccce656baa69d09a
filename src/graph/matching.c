#include "graph/matching.h"
#include "base/bug.h"

typedef struct {
    const Incidence *g;
    uint32_t *column_of_row, *row_of_column;
    uint32_t size;       /* pairs so far */
    uint32_t *layer;     /* distance from the unmatched rows; LAYER_NONE: not reached, or closed */
    uint32_t *next;      /* next entry to try of each row */
    uint32_t *queue;     /* of rows; the path while augmenting */
    uint32_t last_layer; /* the layer from which unmatched columns are seen */
    uint64_t work;
} Search;

#define LAYER_NONE UINT32_MAX

/* A forest may make the shortest path shorter again; the bound of Hopcroft and Karp needs phases without one. */
enum { FOREST_PHASES = 32 };

static void match(Search *s, uint32_t row, uint32_t column)
{
    s->column_of_row[row] = column;
    s->row_of_column[column] = row;
}

static void take_initial(Search *s, const uint32_t *initial)
{
    for (uint32_t c = 0; c < s->g->columns; c++)
        s->row_of_column[c] = MATCH_NONE;
    for (uint32_t r = 0; r < s->g->rows; r++) {
        const uint32_t column = initial ? initial[r] : MATCH_NONE;
        s->column_of_row[r] = column;
        if (column == MATCH_NONE)
            continue;
        REQUIRE(column < s->g->columns && s->row_of_column[column] == MATCH_NONE);
        s->row_of_column[column] = r;
        s->size++;
    }
}

static void match_first_fit(Search *s)
{
    const Incidence *g = s->g;
    for (uint32_t r = 0; r < g->rows; r++) {
        for (uint32_t k = g->start[r]; k < g->start[r + 1] && s->column_of_row[r] == MATCH_NONE; k++) {
            s->work++;
            if (s->row_of_column[g->index[k]] == MATCH_NONE) {
                match(s, r, g->index[k]);
                s->size++;
            }
        }
    }
}

/* Breadth first from the unmatched rows; false: no unmatched column is reached, the matching is maximum. */
static bool find_layers(Search *s)
{
    const Incidence *g = s->g;
    uint32_t n_queue = 0;
    s->last_layer = LAYER_NONE;
    s->work += g->rows;
    for (uint32_t r = 0; r < g->rows; r++) {
        const bool is_free = s->column_of_row[r] == MATCH_NONE;
        s->layer[r] = is_free ? 0 : LAYER_NONE;
        if (is_free)
            s->queue[n_queue++] = r;
    }
    for (uint32_t head = 0; head < n_queue; head++) {
        const uint32_t row = s->queue[head], layer = s->layer[row];
        if (s->last_layer != LAYER_NONE && layer > s->last_layer)
            break;
        s->work += g->start[row + 1] - g->start[row];
        for (uint32_t k = g->start[row]; k < g->start[row + 1]; k++) {
            const uint32_t mate = s->row_of_column[g->index[k]];
            if (mate == MATCH_NONE) {
                s->last_layer = layer;
            } else if (s->layer[mate] == LAYER_NONE) {
                s->layer[mate] = layer + 1;
                s->queue[n_queue++] = mate;
            }
        }
    }
    return s->last_layer != LAYER_NONE;
}

/* Each row of the path takes the column by which it was left. */
static void turn_path(Search *s, uint32_t length)
{
    while (length > 0) {
        const uint32_t row = s->queue[--length];
        match(s, row, s->g->index[s->next[row] - 1]);
        s->layer[row] = LAYER_NONE;
    }
    s->size++;
}

/* Depth first from an unmatched row, one layer a step. A row once left or used is closed, so that all calls of a phase
 * together look at every entry at most once. */
static void augment(Search *s, uint32_t root)
{
    const Incidence *g = s->g;
    uint32_t length = 0;
    s->queue[length++] = root;
    while (length > 0) {
        const uint32_t row = s->queue[length - 1];
        if (s->next[row] == g->start[row + 1]) {
            s->layer[row] = LAYER_NONE;
            length--;
            continue;
        }
        s->work++;
        const uint32_t mate = s->row_of_column[g->index[s->next[row]++]];
        if (mate == MATCH_NONE) {
            turn_path(s, length);
            return;
        }
        if (s->layer[mate] == s->layer[row] + 1 && s->layer[mate] <= s->last_layer)
            s->queue[length++] = mate;
    }
}

static void augment_shortest(Search *s)
{
    const Incidence *g = s->g;
    s->work += g->rows;
    memcpy(s->next, g->start, g->rows * sizeof *s->next);
    for (uint32_t r = 0; r < g->rows; r++)
        if (s->column_of_row[r] == MATCH_NONE)
            augment(s, r);
}

/* From the row that has found a free column back to the root; each row takes the column of the row after it. */
static void turn_branch(Search *s, const uint32_t *parent, uint32_t row, uint32_t column)
{
    while (column != MATCH_NONE) {
        const uint32_t before = s->column_of_row[row];
        match(s, row, column);
        column = before;
        row = parent[row];
    }
    s->size++;
}

/* Grows a tree from every unmatched row, all together and breadth first, each row in one tree only; a tree that meets
 * a free column is augmented at once and grows no more. */
static void augment_forest(Search *s)
{
    const Incidence *g = s->g;
    uint32_t *root = s->layer, *parent = s->next; /* their memory, not needed between phases */
    uint32_t n_queue = 0;
    s->work += g->rows;
    for (uint32_t r = 0; r < g->rows; r++) {
        const bool is_free = s->column_of_row[r] == MATCH_NONE;
        root[r] = is_free ? r : MATCH_NONE;
        if (is_free)
            s->queue[n_queue++] = r;
    }
    for (uint32_t head = 0; head < n_queue; head++) {
        const uint32_t row = s->queue[head];
        for (uint32_t k = g->start[row]; k < g->start[row + 1] && s->column_of_row[root[row]] == MATCH_NONE; k++) {
            const uint32_t column = g->index[k], mate = s->row_of_column[column];
            s->work++;
            if (mate == MATCH_NONE) {
                turn_branch(s, parent, row, column);
            } else if (root[mate] == MATCH_NONE) {
                root[mate] = root[row];
                parent[mate] = row;
                s->queue[n_queue++] = mate;
            }
        }
    }
}

uint32_t match_rows_from(const Incidence *g, Arena *arena, const uint32_t *initial, uint32_t *column_of_row,
                         uint32_t *row_of_column, uint64_t *work)
{
    const ArenaMark mark = arena_mark(arena);
    Search s = { .g = g,
                 .column_of_row = column_of_row,
                 .row_of_column = row_of_column,
                 .layer = NEW_ARRAY(arena, uint32_t, g->rows),
                 .next = NEW_ARRAY(arena, uint32_t, g->rows),
                 .queue = NEW_ARRAY(arena, uint32_t, g->rows) };
    take_initial(&s, initial);
    match_first_fit(&s);
    for (uint32_t phase = 0; s.size < g->rows && s.size < g->columns && find_layers(&s); phase++) {
        augment_shortest(&s);
        if (phase < FOREST_PHASES)
            augment_forest(&s);
    }
    if (work)
        *work += s.work;
    arena_reset(arena, mark);
    return s.size;
}

uint32_t match_rows(const Incidence *g, Arena *arena, uint32_t *column_of_row, uint32_t *row_of_column)
{
    return match_rows_from(g, arena, NULL, column_of_row, row_of_column, NULL);
}

Incidence match_dependencies(const Incidence *g, const uint32_t *row_of_column, Arena *arena)
{
    uint32_t *start = NEW_ARRAY(arena, uint32_t, (size_t)g->rows + 1);
    uint32_t *index = NEW_ARRAY(arena, uint32_t, incidence_entries(g));
    uint32_t n = 0;
    for (uint32_t r = 0; r < g->rows; r++) {
        start[r] = n;
        for (uint32_t k = g->start[r]; k < g->start[r + 1]; k++) {
            const uint32_t owner = row_of_column[g->index[k]];
            if (owner != MATCH_NONE && owner != r)
                index[n++] = owner;
        }
    }
    start[g->rows] = n;
    return (Incidence){ g->rows, g->rows, start, index };
}
