/* build-jacobian: which derivative depends on which state, element by element, and a colouring of the columns.
 *
 * Sets of states are carried along the derivatives part in its order; a system passes the union of its rows to all
 * its unknowns. In the residual form the unknowns that are iterated are columns like the states, and the residuals rows
 * of their own. Too full a result (many states that all depend on each other) is left out. Where the equations are
 * scalar, the whole Jacobian takes its place, see docs/decisions/0020; else the solver works without. */
#include "base/bug.h"
#include "graph/colouring.h"
#include "ir/element.h"
#include "passes/pipeline.h"
#include <stdlib.h>

static const uint64_t MOST_ENTRIES = 24u << 20; /* 96 MiB of indices */
static const uint64_t FEW_ENTRIES = 100000;     /* never too full: factored at once */
static const uint64_t ENTRIES_OF_ONE = 32;      /* per state and quantity between: more is too full */
static const uint64_t MOST_STATES = 300000;     /* beyond, a colouring costs more than it can bring at start */

typedef struct {
    uint64_t begin;
    uint32_t n;
} Set;

typedef struct {
    Compile *c;
    Model *model;
    Schedule *schedule;
    uint32_t *first_state;   /* per variable: index of its first element in x, or ID_NONE */
    uint32_t *first_element; /* per variable: its first element in `sets`, or ID_NONE */
    Set *sets;               /* of algebraic elements */
    Set *rows;               /* per state: its derivative's */
    uint32_t *pool;          /* entries of all sets */
    uint64_t n_pool, capacity, most;
    uint32_t n_columns;    /* states, in the residual form also unknowns of systems */
    bool is_dae;           /* residual form */
    uint32_t *mark, stamp; /* per column: already in the set being built */
    uint32_t *work;        /* the set being built */
    uint32_t n_work;
    bool is_too_large;
} Builder;

static void add_state(Builder *b, uint32_t state)
{
    if (b->mark[state] == b->stamp)
        return;
    b->mark[state] = b->stamp;
    b->work[b->n_work++] = state;
}

static void add_set(Builder *b, Set set)
{
    for (uint32_t k = 0; k < set.n; k++)
        add_state(b, b->pool[set.begin + k]);
}

static void add_element(Builder *b, Ref ref, int64_t element)
{
    uint32_t v = ref.var.index;
    const bool is_known = b->first_state[v] != ID_NONE || b->first_element[v] != ID_NONE;
    if (!is_known && variable_is_split(b->model, ref.var)) {
        v = model_var(b->model, ref.var)->alias.index + (uint32_t)element;
        element = 0;
    }
    if (ref.kind == REF_DER)
        add_set(b, b->rows[b->first_state[v] + element]);
    else if (b->first_state[v] != ID_NONE)
        add_state(b, b->first_state[v] + (uint32_t)element);
    else if (b->first_element[v] != ID_NONE)
        add_set(b, b->sets[b->first_element[v] + element]);
}

/* What one reference, at iteration j of the domain, contributes. */
static void add_leaves(Builder *b, const Expr *e, Term term, DomainId domain, const int64_t *j)
{
    Model *m = b->model;
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(m, term)[e->u.leaf];
        ElementMap map;
        if (ref.kind != REF_NOW && ref.kind != REF_DER)
            return;
        if (e->type.rank == 0 && element_map(m, e, term_refs(m, term), domain, &map)) {
            int64_t element = map.base;
            for (uint32_t k = 0; k < ELEMENT_LEVELS; k++)
                element += map.step[k] * j[k];
            add_element(b, ref, element);
        } else { /* an array as argument, or an index that only the run knows and may mean any element */
            for (uint64_t k = 0; k < variable_count(m, ref.var); k++)
                add_element(b, ref, (int64_t)k);
        }
        return;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        add_leaves(b, e->args[k], term, domain, j);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Most sets have a few members. */
static void sort_numbers(uint32_t *numbers, uint32_t n)
{
    enum { FEW = 12 };
    if (n > FEW) {
        qsort(numbers, n, sizeof *numbers, compare_numbers);
        return;
    }
    for (uint32_t k = 1; k < n; k++) {
        const uint32_t number = numbers[k];
        uint32_t j = k;
        for (; j > 0 && numbers[j - 1] > number; j--)
            numbers[j] = numbers[j - 1];
        numbers[j] = number;
    }
}

static void begin_set(Builder *b)
{
    b->stamp++;
    b->n_work = 0;
}

static Set end_set(Builder *b)
{
    if (b->n_pool + b->n_work > b->most) {
        b->is_too_large = true;
        return (Set){ 0, 0 };
    }
    if (b->n_pool + b->n_work > b->capacity) {
        uint64_t larger = b->capacity ? b->capacity * 2 : 1024;
        while (larger < b->n_pool + b->n_work)
            larger *= 2;
        b->pool = arena_grow(b->c->scratch, b->pool, b->capacity * sizeof *b->pool, larger * sizeof *b->pool, 16);
        b->capacity = larger;
    }
    sort_numbers(b->work, b->n_work);
    if (b->n_work)
        memcpy(b->pool + b->n_pool, b->work, b->n_work * sizeof *b->work);
    const Set set = { b->n_pool, b->n_work };
    b->n_pool += b->n_work;
    return set;
}

static void put_set(Builder *b, Ref ref, int64_t element, Set set)
{
    if (ref.kind == REF_DER)
        b->rows[b->first_state[ref.var.index] + element] = set;
    else
        b->sets[b->first_element[ref.var.index] + element] = set;
}

/* All elements of an array at once: those of another one, or what a call gives, which depend on all that it reads. */
static void carry_whole(Builder *b, const Block *block, Ref target)
{
    const Term value = block->u.assign.rhs;
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    for (uint64_t k = 0; k < variable_count(b->model, target.var) && !b->is_too_large; k++) {
        begin_set(b);
        if (value.shape->kind != EXPR_LEAF)
            add_leaves(b, value.shape, value, (DomainId){ 0 }, j);
        else if (term_refs(b->model, value)[0].kind == REF_NOW || term_refs(b->model, value)[0].kind == REF_DER)
            add_element(b, term_refs(b->model, value)[0], (int64_t)k);
        put_set(b, target, (int64_t)k, end_set(b));
    }
}

static void carry_assignment(Builder *b, const Block *block)
{
    Model *m = b->model;
    const Ref ref = term_refs(m, block->u.assign.lhs)[block->u.assign.lhs.shape->u.leaf];
    const Domain *d = &m->domains.at[block->u.assign.domain.index];
    ElementMap target;
    REQUIRE(
        element_map(m, block->u.assign.lhs.shape, term_refs(m, block->u.assign.lhs), block->u.assign.domain, &target) &&
        d->n <= ELEMENT_LEVELS);
    const uint64_t count = domain_count(m, block->u.assign.domain);
    int64_t j[ELEMENT_LEVELS] = { 0 };
    if (block->u.assign.lhs.shape->type.rank > 0) {
        carry_whole(b, block, ref);
        return;
    }
    for (uint64_t n = 0; n < count && !b->is_too_large; n++) {
        int64_t element = target.base;
        for (uint32_t k = 0; k < d->n; k++)
            element += target.step[k] * j[k];
        begin_set(b);
        add_leaves(b, block->u.assign.rhs.shape, block->u.assign.rhs, block->u.assign.domain, j);
        put_set(b, ref, element, end_set(b));
        for (uint32_t k = d->n; k-- > 0;) { /* next iteration, innermost first */
            if (++j[k] < m->iterators.at[d->first + k].count)
                break;
            j[k] = 0;
        }
    }
}

/* Residual form: unknowns are columns, explicit rows as assignments, a row of the pattern for each residual. */
static void carry_residuals(Builder *b, const Block *block)
{
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    const SystemRow *rows = &b->schedule->rows.at[block_rows(block).first_row];
    uint32_t column = b->n_columns;
    for (uint32_t k = block_rows(block).n_inner; k < block_rows(block).n_rows; k++) {
        begin_set(b);
        add_state(b, b->n_columns++);
        put_set(b, rows[k].unknown, 0, end_set(b));
    }
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        begin_set(b);
        add_leaves(b, rows[k].rhs.shape, rows[k].rhs, (DomainId){ 0 }, j);
        if (k < block_rows(block).n_inner) {
            put_set(b, rows[k].unknown, 0, end_set(b));
        } else {
            add_leaves(b, rows[k].lhs.shape, rows[k].lhs, (DomainId){ 0 }, j);
            b->rows[column++] = end_set(b);
        }
    }
}

static void carry_system(Builder *b, const Block *block)
{
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    begin_set(b);
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        const SystemRow *row = &b->schedule->rows.at[block_rows(block).first_row + k];
        put_set(b, row->unknown, 0, (Set){ 0, 0 }); /* unknowns of the system itself add nothing */
    }
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        const SystemRow *row = &b->schedule->rows.at[block_rows(block).first_row + k];
        add_leaves(b, row->lhs.shape, row->lhs, (DomainId){ 0 }, j);
        add_leaves(b, row->rhs.shape, row->rhs, (DomainId){ 0 }, j);
    }
    const Set set = end_set(b);
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++)
        put_set(b, b->schedule->rows.at[block_rows(block).first_row + k].unknown, 0, set);
}

static bool number_elements(Builder *b, uint32_t *n_states, uint32_t *n_elements)
{
    Model *m = b->model;
    uint64_t states = 0, elements = 0;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        b->first_state[k] = b->first_element[k] = ID_NONE;
        const Variable *v = &m->variables.at[k];
        if (!var_is_none(v->alias))
            continue;
        if (v->definition == DEFINITION_DER) {
            b->first_state[k] = (uint32_t)states;
            states += variable_count(m, (VarId){ k });
        } else if (v->definition == DEFINITION_NOW) {
            b->first_element[k] = (uint32_t)elements;
            elements += variable_count(m, (VarId){ k });
        }
        if (states > MOST_STATES || elements > UINT32_MAX / 2)
            return false;
    }
    *n_states = (uint32_t)states;
    *n_elements = (uint32_t)elements;
    return true;
}

static bool is_system(const Block *block)
{
    return block->kind == BLOCK_LINEAR || block->kind == BLOCK_NEWTON;
}

/* The pattern of all rows; false: too large. */
static bool carry(Builder *b, uint32_t n_states, uint32_t n_elements, uint32_t n_w, StatePattern *pattern)
{
    Arena *arena = b->c->arena, *scratch = b->c->scratch;
    const Schedule *s = b->schedule;
    const uint32_t n = n_states + n_w;
    b->is_dae = n_w > 0;
    b->n_columns = n_states;
    b->n_pool = 0;
    b->stamp = 0;
    b->sets = NEW_ARRAY(scratch, Set, n_elements + 1);
    b->rows = NEW_ARRAY(scratch, Set, n + 1);
    b->mark = NEW_ARRAY(scratch, uint32_t, n + 1);
    b->work = NEW_ARRAY(scratch, uint32_t, n + 1);
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
static bool can_be_whole(const Builder *b)
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
    Model *m = c->model;
    Schedule *s = c->schedule;
    Builder b = { .c = c,
                  .model = m,
                  .schedule = s,
                  .first_state = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                  .first_element = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1) };
    uint32_t n_states, n_elements, n_w = 0;
    if (s->states.n == 0 || !number_elements(&b, &n_states, &n_elements))
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
