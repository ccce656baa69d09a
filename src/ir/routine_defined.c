/* Fields that are read, or left as results, before they have a value.
 *
 * A field begins with its binding; without one it has no value, which is NaN, or INTEGER_FAULT. The steps are followed
 * with what is assigned on all ways that lead to them. Where a field may be read without a value, a step in front looks
 * at it; so does one for outputs wherever the function ends. Elements of arrays are looked at where a comparison would
 * hide that they have no value: else what is computed from them is not finite, which is found anyway. */
#include "base/bug.h"
#include "ir/routine_make.h"

typedef struct {
    Maker *m;
    bool *is_set; /* per field, where the steps at work begin */
} Look;

static uint32_t n_outputs_end(const Maker *m)
{
    return m->function->n_inputs + m->function->n_outputs;
}

/* ---- what holds if an expression meets no field without value ---- */
static uint32_t field_of_slot(const Maker *m, uint32_t slot)
{
    for (uint32_t k = 0; k < m->fields.n; k++)
        if (m->fields.at[k].first == slot)
            return k;
    BUG("a slot without field");
}

static const Expr *both(Look *l, const Expr *a, const Expr *b)
{
    return a && b ? expr_if(l->m->pool, a, b, expr_boolean(l->m->pool, false)) : a ? a : b;
}

static const Expr *has_value(Look *l, const Expr *e)
{
    Pool *pool = l->m->pool;
    if (e->type.kind == TYPE_REAL)
        return expr_literal_relation(pool, OP_EQ, expr_binary(pool, OP_SUB, e, e), expr_real(pool, 0));
    const Expr *number = e->type.kind == TYPE_INTEGER ? e : expr_unary(pool, OP_NUMBER, e);
    return expr_literal_relation(pool, OP_NE, number, expr_integer(pool, INTEGER_FAULT));
}

/* NULL: it has them all. is_hidden: a comparison is above. */
static const Expr *condition_of(Look *l, const Expr *e, bool is_hidden)
{
    if (e->kind == EXPR_LEAF) {
        const uint32_t field = field_of_slot(l->m, e->u.leaf);
        return l->is_set[field] || e->type.rank > 0 ? NULL : has_value(l, e);
    }
    const bool is_choice = e->kind == EXPR_IF;
    const bool is_and = e->kind == EXPR_CALL && e->op == OP_AND, is_or = e->kind == EXPR_CALL && e->op == OP_OR;
    is_hidden |= e->type.kind == TYPE_BOOLEAN || (e->kind == EXPR_CALL && (e->op == OP_MIN || e->op == OP_MAX));
    const Expr *result = NULL;
    if (is_choice || is_and || is_or) {
        Pool *pool = l->m->pool;
        const Expr *yes = expr_boolean(pool, true), *first = condition_of(l, e->args[0], true);
        const Expr *then = is_or ? NULL : condition_of(l, e->args[1], is_hidden);
        const Expr *otherwise = is_choice ? condition_of(l, e->args[2], is_hidden)
                                : is_or   ? condition_of(l, e->args[1], is_hidden)
                                          : NULL;
        return then || otherwise
                   ? both(l, first, expr_if(pool, e->args[0], then ? then : yes, otherwise ? otherwise : yes))
                   : first;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        result = both(l, result, condition_of(l, e->args[k], is_hidden));
    if (is_element(e) && !l->is_set[e->result] && is_hidden)
        result = both(l, result, has_value(l, e));
    return result;
}

/* ---- steps in front ---- */
typedef struct {
    uint32_t first, last;
} Chain;

static void append(Look *l, Chain *chain, uint32_t step)
{
    l->m->steps.at[step].looks = true;
    if (chain->last)
        l->m->steps.at[chain->last].next = step;
    else
        chain->first = step;
    chain->last = step;
}

/* All elements of an array are looked at when it is assigned to itself. */
static void look_at_all(Look *l, Chain *chain, uint32_t field)
{
    const uint32_t step = maker_add_step(l->m, STATEMENT_ASSIGN, maker_leaf(l->m, field));
    l->m->steps.at[step].field = field;
    append(l, chain, step);
}

static void look_at_arrays(Look *l, Chain *chain, const Expr *e)
{
    if (e->kind == EXPR_LEAF && e->type.rank > 0 && !l->is_set[field_of_slot(l->m, e->u.leaf)])
        look_at_all(l, chain, field_of_slot(l->m, e->u.leaf));
    for (uint32_t k = 0; k < e->n_args; k++)
        look_at_arrays(l, chain, e->args[k]);
}

static void look_at(Look *l, Chain *chain, const Expr *e, bool is_condition)
{
    const Expr *condition = condition_of(l, e, is_condition);
    look_at_arrays(l, chain, e);
    if (!condition)
        return;
    const uint32_t step = maker_add_step(l->m, STATEMENT_ASSERT, condition);
    append(l, chain, step);
}

/* The function ends here: its outputs have values. */
static void look_at_outputs(Look *l, Chain *chain)
{
    for (uint32_t k = l->m->function->n_inputs; k < n_outputs_end(l->m); k++) {
        if (l->is_set[k])
            continue;
        if (l->m->fields.at[k].rank > 0) {
            look_at_all(l, chain, k);
        } else {
            const uint32_t step = maker_add_step(l->m, STATEMENT_ASSERT, has_value(l, maker_leaf(l->m, k)));
            append(l, chain, step);
        }
        l->m->steps.at[chain->last].field = k;
        l->m->steps.at[chain->last].ends = true;
    }
}

/* ---- what is assigned ---- */
static bool *copy_of(const Look *l)
{
    bool *copy = NEW_ARRAY(l->m->body->arena, bool, l->m->fields.n);
    memcpy(copy, l->is_set, l->m->fields.n * sizeof *copy);
    return copy;
}

/* What follows is not reached: nothing in it is without value. */
static void leave(Look *l)
{
    for (uint32_t k = 0; k < l->m->fields.n; k++)
        l->is_set[k] = true;
}

static bool has_way_out(const Model *body, uint32_t at)
{
    for (; at; at = body->statements.at[at].next) {
        const Statement *s = &body->statements.at[at];
        if (s->kind == STATEMENT_BREAK || s->kind == STATEMENT_RETURN || has_way_out(body, s->inner) ||
            has_way_out(body, s->otherwise))
            return true;
    }
    return false;
}

static bool goes_over_all(const Model *body, const Domain *domain, const Statement *s, const Variable *v)
{
    uint64_t levels = 0;
    for (uint32_t k = 0; k < s->target.shape->n_args; k++) {
        const Expr *index = s->target.shape->args[k];
        if (index->kind != EXPR_ITERATOR || index->u.iterator >= domain->n || levels >> index->u.iterator & 1)
            return false;
        const Iterator *i = &body->iterators.at[domain->first + index->u.iterator];
        const Expr *extent = body->dims.at[v->first_dim + k].term.shape, *lo = i->lo.shape, *hi = i->hi.shape;
        const bool is_all = lo->kind == EXPR_INTEGER && lo->u.integer == 1 && !i->step.shape && hi == extent &&
                            hi->kind == EXPR_INTEGER;
        levels |= 1ull << index->u.iterator;
        if (!is_all)
            return false;
    }
    return true;
}

/* A loop that assigns each element of an array. */
static void set_by_loop(Look *l, uint32_t statement)
{
    const Model *body = l->m->body;
    const Statement *loop = &body->statements.at[statement];
    const Domain *domain = &body->domains.at[loop->domain.index];
    if (loop->kind != STATEMENT_FOR || domain->n > 60 || has_way_out(body, loop->inner))
        return;
    for (uint32_t k = loop->inner; k; k = body->statements.at[k].next) {
        const Statement *s = &body->statements.at[k];
        if (s->kind != STATEMENT_ASSIGN || s->target.shape->n_args == 0)
            continue;
        const uint32_t field = term_refs(body, s->target)[s->target.shape->u.leaf].var.index;
        if (goes_over_all(body, domain, s, &body->variables.at[field]))
            l->is_set[field] = true;
    }
}

static uint32_t look_at_list(Look *l, uint32_t first);

static void look_into(Look *l, uint32_t step)
{
    const RoutineStep s = l->m->steps.at[step];
    bool *before = copy_of(l), *after;
    switch ((StatementKind)s.kind) {
    case STATEMENT_ASSIGN: l->is_set[s.field] |= l->m->fields.at[s.field].rank == 0 || !s.index[0]; return;
    case STATEMENT_IF: {
        const uint32_t inner = look_at_list(l, s.inner);
        after = l->is_set;
        l->is_set = before;
        const uint32_t otherwise = look_at_list(l, s.otherwise);
        for (uint32_t k = 0; k < l->m->fields.n; k++)
            l->is_set[k] &= after[k];
        l->m->steps.at[step].inner = inner;
        l->m->steps.at[step].otherwise = otherwise;
        return;
    }
    case STATEMENT_WHILE: {
        const uint32_t inner = look_at_list(l, s.inner);
        l->m->steps.at[step].inner = inner;
        l->is_set = before;
        set_by_loop(l, s.statement);
        return;
    }
    case STATEMENT_BREAK:
    case STATEMENT_RETURN: leave(l); return;
    case STATEMENT_ASSERT:
    case STATEMENT_SEND:
    case STATEMENT_TOGETHER:
    case STATEMENT_FOR: return;
    }
}

static uint32_t look_at_list(Look *l, uint32_t first)
{
    uint32_t last = 0;
    for (uint32_t k = first, next; k; k = next) {
        const RoutineStep s = l->m->steps.at[k];
        Chain front = { 0, 0 };
        next = s.next;
        l->m->statement = s.statement;
        l->m->span = s.span;
        for (uint32_t j = 0; j < ROUTINE_RANK && s.index[j]; j++)
            look_at(l, &front, s.index[j], true);
        if (s.value)
            look_at(l, &front, s.value, s.kind != STATEMENT_ASSIGN);
        if (s.kind == STATEMENT_RETURN)
            look_at_outputs(l, &front);
        look_into(l, k);
        if (front.last)
            l->m->steps.at[front.last].next = k;
        if (front.first && last)
            l->m->steps.at[last].next = front.first;
        else if (front.first)
            first = front.first;
        last = k;
    }
    return first;
}

uint32_t routine_look_at_fields(Maker *m, uint32_t first)
{
    const Function *f = m->function;
    Look l = { m, NEW_ARRAY(m->body->arena, bool, m->fields.n + 1) };
    for (uint32_t k = 0; k < m->fields.n; k++) /* loops begin with an assignment of what they add */
        l.is_set[k] = k < f->n_inputs || k >= function_fields(f) || m->fields.at[k].type.kind == TYPE_STRING ||
                      !term_is_absent(m->body->variables.at[k].binding);
    first = look_at_list(&l, first);
    Chain end = { 0, 0 };
    m->span = f->span;
    m->statement = 0;
    look_at_outputs(&l, &end);
    uint32_t last = first;
    while (last && m->steps.at[last].next)
        last = m->steps.at[last].next;
    if (last)
        m->steps.at[last].next = end.first;
    return last ? first : end.first;
}
