/* See carry.h. */
#include "passes/carry.h"
#include "base/bug.h"
#include <stdlib.h>

enum { CARRY_MOST_STATES = 300000 }; /* beyond, a colouring costs more than it can bring at start */

void carry_add(Carry *b, uint32_t state)
{
    if (b->mark[state] == b->stamp)
        return;
    b->mark[state] = b->stamp;
    b->work[b->n_work++] = state;
}

static void add_set(Carry *b, ColumnSet set)
{
    for (uint32_t k = 0; k < set.n; k++)
        carry_add(b, b->pool[set.begin + k]);
}

void carry_element(Carry *b, Ref ref, int64_t element)
{
    uint32_t v = ref.var.index;
    const bool is_known = b->first_state[v] != ID_NONE || b->first_element[v] != ID_NONE;
    if (!is_known && variable_is_split(b->model, ref.var)) {
        v = model_var(b->model, ref.var)->alias.index + (uint32_t)element;
        element = 0;
    }
    if (ref.kind == REF_DER)
        add_set(b, b->rows[b->first_state[v] + element]);
    else if (b->first_input && b->first_input[v] != ID_NONE)
        carry_add(b, b->first_input[v] + (uint32_t)element);
    else if (b->first_state[v] != ID_NONE)
        carry_add(b, b->first_state[v] + (uint32_t)element);
    else if (b->first_element[v] != ID_NONE)
        add_set(b, b->sets[b->first_element[v] + element]);
}

/* What one reference, at iteration j of the domain, contributes. */
void carry_leaves(Carry *b, const Expr *e, Term term, DomainId domain, const int64_t *j)
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
            carry_element(b, ref, element);
        } else { /* an array as argument, or an index that only the run knows and may mean any element */
            for (uint64_t k = 0; k < variable_count(m, ref.var); k++)
                carry_element(b, ref, (int64_t)k);
        }
        return;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        carry_leaves(b, e->args[k], term, domain, j);
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

void carry_begin(Carry *b)
{
    b->stamp++;
    b->n_work = 0;
}

ColumnSet carry_end(Carry *b)
{
    if (b->n_pool + b->n_work > b->most) {
        b->is_too_large = true;
        return (ColumnSet){ 0, 0 };
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
    const ColumnSet set = { b->n_pool, b->n_work };
    b->n_pool += b->n_work;
    return set;
}

void carry_put(Carry *b, Ref ref, int64_t element, ColumnSet set)
{
    if (ref.kind == REF_DER)
        b->rows[b->first_state[ref.var.index] + element] = set;
    else
        b->sets[b->first_element[ref.var.index] + element] = set;
}

/* All elements of an array at once: those of another one, or what a call gives, which depend on all that it reads. */
static void carry_whole(Carry *b, const Block *block, Ref target)
{
    const Term value = block->u.assign.rhs;
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    for (uint64_t k = 0; k < variable_count(b->model, target.var) && !b->is_too_large; k++) {
        carry_begin(b);
        if (value.shape->kind != EXPR_LEAF)
            carry_leaves(b, value.shape, value, (DomainId){ 0 }, j);
        else if (term_refs(b->model, value)[0].kind == REF_NOW || term_refs(b->model, value)[0].kind == REF_DER)
            carry_element(b, term_refs(b->model, value)[0], (int64_t)k);
        carry_put(b, target, (int64_t)k, carry_end(b));
    }
}

void carry_assignment(Carry *b, const Block *block)
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
        carry_begin(b);
        carry_leaves(b, block->u.assign.rhs.shape, block->u.assign.rhs, block->u.assign.domain, j);
        carry_put(b, ref, element, carry_end(b));
        for (uint32_t k = d->n; k-- > 0;) { /* next iteration, innermost first */
            if (++j[k] < m->iterators.at[d->first + k].count)
                break;
            j[k] = 0;
        }
    }
}

void carry_system(Carry *b, const Block *block)
{
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    carry_begin(b);
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        const SystemRow *row = &b->schedule->rows.at[block_rows(block).first_row + k];
        carry_put(b, row->unknown, 0, (ColumnSet){ 0, 0 }); /* unknowns of the system itself add nothing */
    }
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++) {
        const SystemRow *row = &b->schedule->rows.at[block_rows(block).first_row + k];
        carry_leaves(b, row->lhs.shape, row->lhs, (DomainId){ 0 }, j);
        carry_leaves(b, row->rhs.shape, row->rhs, (DomainId){ 0 }, j);
    }
    const ColumnSet set = carry_end(b);
    for (uint32_t k = 0; k < block_rows(block).n_rows; k++)
        carry_put(b, b->schedule->rows.at[block_rows(block).first_row + k].unknown, 0, set);
}

bool carry_number(Carry *b, uint32_t *n_states, uint32_t *n_elements)
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
        if (states > CARRY_MOST_STATES || elements > UINT32_MAX / 2)
            return false;
    }
    *n_states = (uint32_t)states;
    *n_elements = (uint32_t)elements;
    return true;
}

void carry_room(Carry *b, uint32_t n_rows, uint32_t n_columns, uint32_t n_elements)
{
    b->n_pool = 0;
    b->stamp = 0;
    b->sets = NEW_ARRAY(b->c->scratch, ColumnSet, n_elements + 1);
    b->rows = NEW_ARRAY(b->c->scratch, ColumnSet, n_rows + 1);
    b->mark = NEW_ARRAY(b->c->scratch, uint32_t, n_columns + 1);
    b->work = NEW_ARRAY(b->c->scratch, uint32_t, n_columns + 1);
}

Carry carry_create(Compile *c)
{
    const uint32_t n = c->model->variables.n + 1;
    return (Carry){ .c = c,
                    .model = c->model,
                    .schedule = c->schedule,
                    .first_state = NEW_ARRAY(c->scratch, uint32_t, n),
                    .first_element = NEW_ARRAY(c->scratch, uint32_t, n) };
}
