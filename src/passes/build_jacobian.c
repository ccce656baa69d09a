/* build-jacobian: which derivative depends on which state, element by element, and a colouring of the columns.
 *
 * Sets of states are carried along the derivatives part in its order (carry.h). In the residual form the unknowns that
 * are iterated are columns like the states, and the residuals rows of their own. Too full a result (many states that
 * all depend on each other) is left out. Where the equations are scalar, the whole Jacobian takes its place, see
 * docs/decisions/0020; else the solver works without. */
#include "graph/colouring.h"
#include "passes/carry.h"

static const uint64_t MOST_ENTRIES = 24u << 20; /* 96 MiB of indices */
static const uint64_t FEW_ENTRIES = 100000;     /* never too full: factored at once */
static const uint64_t ENTRIES_OF_ONE = 32;      /* per state and quantity between: more is too full */

/* Residual form: unknowns are columns, explicit rows as assignments, a row of the pattern for each residual. */
static void carry_residuals(Carry *b, const Block *block)
{
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    const SystemRow *rows = &b->schedule->rows.at[block_rows(block).first_row];
    uint32_t column = b->n_columns;
    for (uint32_t k = block_rows(block).n_inner; k < block_rows(block).n_rows; k++) {
        carry_begin(b);
        carry_add(b, b->n_columns++);
        carry_put(b, rows[k].unknown, 0, carry_end(b));
    }
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        carry_begin(b);
        carry_leaves(b, rows[k].rhs.shape, rows[k].rhs, (DomainId){ 0 }, j);
        if (k < block_rows(block).n_inner) {
            carry_put(b, rows[k].unknown, 0, carry_end(b));
        } else {
            carry_leaves(b, rows[k].lhs.shape, rows[k].lhs, (DomainId){ 0 }, j);
            b->rows[column++] = carry_end(b);
        }
    }
}

static bool is_system(const Block *block)
{
    return block->kind == BLOCK_LINEAR || block->kind == BLOCK_NEWTON;
}

/* The pattern of all rows; false: too large. */
static bool carry(Carry *b, uint32_t n_states, uint32_t n_elements, uint32_t n_w, StatePattern *pattern)
{
    Arena *arena = b->c->arena, *scratch = b->c->scratch;
    const Schedule *s = b->schedule;
    const uint32_t n = n_states + n_w;
    b->is_dae = n_w > 0;
    b->n_columns = n_states;
    carry_room(b, n, n, n_elements);
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n && !b->is_too_large; k++) {
        const Block *block = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        if (block->kind == BLOCK_ASSIGN)
            carry_assignment(b, block);
        else if (b->is_dae && is_system(block))
            carry_residuals(b, block);
        else
            carry_system(b, block);
    }
    if (b->is_too_large)
        return false;
    uint32_t *start = NEW_ARRAY(arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        start[k + 1] = start[k] + b->rows[k].n;
    uint32_t *index = NEW_ARRAY(arena, uint32_t, start[n] + 1);
    for (uint32_t k = 0; k < n; k++)
        if (b->rows[k].n)
            memcpy(index + start[k], b->pool + b->rows[k].begin, b->rows[k].n * sizeof *index);
    uint32_t *colour = NEW_ARRAY(arena, uint32_t, n + 1);
    const Incidence g = { n, n, start, index };
    const uint32_t n_colours = colour_columns(&g, COLOUR_NATURAL, scratch, colour, NULL);
    *pattern = (StatePattern){ n, n_colours, start, index, colour };
    return true;
}

/* Every equation can be derived by itself: by scalars, without iterations. */
static bool can_be_whole(const Carry *b)
{
    const Schedule *s = b->schedule;
    for (uint32_t k = 0; k < s->states.n; k++)
        if (model_var(b->model, s->states.at[k])->type.rank)
            return false;
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *block = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        if (block->kind == BLOCK_ASSIGN) {
            if (block->u.assign.domain.index || block->u.assign.lhs.shape->n_args ||
                block->u.assign.lhs.shape->type.rank || block->u.assign.rhs.shape->has_index)
                return false;
            continue;
        }
        if (!is_system(block) || !block->is_real)
            return false;
        for (uint32_t j = 0; j < block_rows(block).n_rows; j++) {
            const SystemRow *row = &s->rows.at[block_rows(block).first_row + j];
            if (row->lhs.shape->has_index || row->rhs.shape->has_index)
                return false;
        }
    }
    return true;
}

bool build_jacobian(Compile *c)
{
    Schedule *s = c->schedule;
    Carry b = carry_create(c);
    uint32_t n_states, n_elements, n_w = 0;
    if (s->states.n == 0 || !carry_number(&b, &n_states, &n_elements))
        return true;
    const bool may_be_whole = can_be_whole(&b);
    b.most = may_be_whole ? FEW_ENTRIES + ENTRIES_OF_ONE * ((uint64_t)n_states + n_elements) : MOST_ENTRIES;
    s->has_jacobian = carry(&b, n_states, n_elements, 0, &s->jacobian);
    s->is_whole = !s->has_jacobian && may_be_whole;
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *block = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        n_w += is_system(block) ? block_rows(block).n_rows - block_rows(block).n_inner : 0;
    }
    b.is_too_large = false;
    b.most = MOST_ENTRIES;
    if ((s->has_jacobian || s->is_whole) && n_w)
        carry(&b, n_states, n_elements, n_w, &s->dae_jacobian);
    return true;
}
