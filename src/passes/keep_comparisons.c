/* See keep_comparisons.h. */
#include "passes/keep_comparisons.h"
#include "base/bug.h"
#include "ir/element.h"
#include "ir/walk.h"

/* ---- derivatives that are read ---- */
typedef struct {
    const Model *model;
    bool *is_read;
} Reading;

static void note_reads(void *context, Term term, const TermPlace *place)
{
    const Reading *r = context;
    const Model *m = r->model;
    const bool is_defined = place->list == LIST_EQUATIONS && place->role == TERM_LEFT &&
                            equation_is_directed(&m->equations.at[place->index]);
    for (uint32_t k = 0; k < term.shape->n_leaves && !is_defined; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind == REF_DER)
            r->is_read[ref.var.index] = true;
    }
}

const bool *find_read_derivatives(const Model *model, Arena *arena)
{
    Reading r = { model, NEW_ARRAY(arena, bool, model->variables.n + 1) };
    model_visit_terms(model, ELEMENTS_ALL, note_reads, &r);
    return r.is_read;
}

/* ---- what an equation compares ---- */
typedef struct {
    const Model *model;
    DomainId domain;
    const Ref *refs;
    bool is_condition; /* of a transition */
} Looking;

static bool is_state_array(const Looking *l, const Expr *leaf)
{
    const Ref ref = l->refs[leaf->u.leaf];
    const Variable *v = ref.kind == REF_NOW ? model_var(l->model, ref.var) : NULL;
    return v && v->type.rank && v->definition == DEFINITION_DER;
}

static bool changes(const Expr *e)
{
    return (e->kind == EXPR_CALL && !e->is_literal && expr_is_corner(e)) || e->kind == EXPR_TABLE;
}

/* What changes in one of its elements at events would wake the comparisons of all points. What transitions assign for
 * the next step is not: its elements change one by one, or it is split. */
static bool wakes_all(const Looking *l, const Expr *leaf)
{
    const Ref ref = l->refs[leaf->u.leaf];
    if (ref_type(l->model, ref).rank == 0 || l->is_condition)
        return false;
    const Variable *v = model_var(l->model, ref.var);
    return ref.kind != REF_NOW || (v->variability == VARIABILITY_DISCRETE && v->definition != DEFINITION_NEXT);
}

/* Every leaf is a scalar, or an element at each point of the range that moves or is constant; *has_state becomes true
 * if one is a state's. */
static bool is_by_point(const Looking *l, const Expr *e, bool *has_state)
{
    ElementMap map;
    if (e->kind == EXPR_FUNCTION || e->kind == EXPR_REDUCE || changes(e))
        return false;
    if (e->kind == EXPR_LEAF) {
        const bool is_whole = e->type.rank && l->domain.index;
        *has_state |= is_state_array(l, e);
        return !is_whole && !wakes_all(l, e) && element_map(l->model, e, l->refs, l->domain, &map);
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_by_point(l, e->args[k], has_state))
            return false;
    return true;
}

/* It is another comparison at each point of the range. */
static bool is_of_points(const Looking *l, const Expr *e)
{
    if (l->domain.index == 0)
        return e->args[0]->type.rank > 0;
    bool any = e->kind == EXPR_ITERATOR;
    for (uint32_t k = 0; k < e->n_args && !any; k++)
        any = e->args[k]->kind == EXPR_ITERATOR || (e->args[k]->n_args && is_of_points(l, e->args[k]));
    return any;
}

/* A root is computed beyond its border by rules that want to know what is compared: see find_events.c. */
static bool is_root(const Expr *e)
{
    return e->kind == EXPR_CALL && (e->op == OP_SQRT || e->op == OP_POW);
}

static bool is_moving(const Looking *l, const Expr *e)
{
    if (e->kind == EXPR_LEAF) {
        const Ref ref = l->refs[e->u.leaf];
        return ref.kind == REF_TIME || ref.kind == REF_DER || ref.kind == REF_LAST ||
               (ref.kind == REF_NOW && model_var(l->model, ref.var)->variability == VARIABILITY_CONTINUOUS);
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        if (is_moving(l, e->args[k]))
            return true;
    return false;
}

enum { NOT_AFFINE = 3 };

/* The power of the time in what is otherwise known between events; find-events finds its slope. */
static int power_of_time(const Looking *l, const Expr *e)
{
    if (!is_moving(l, e))
        return 0;
    if (e->kind == EXPR_LEAF)
        return l->refs[e->u.leaf].kind == REF_TIME ? 1 : NOT_AFFINE;
    if (e->kind != EXPR_CALL || e->n_args > 2)
        return NOT_AFFINE;
    const int left = power_of_time(l, e->args[0]), right = e->n_args > 1 ? power_of_time(l, e->args[1]) : 0;
    switch ((Op)e->op) {
    case OP_NEG: return left;
    case OP_ADD:
    case OP_SUB: return left > right ? left : right;
    case OP_MUL: return left + right > 1 ? NOT_AFFINE : left + right;
    case OP_DIV: return right ? NOT_AFFINE : left;
    default: return NOT_AFFINE;
    }
}

/* Another entry of the calendar at each point. */
static bool is_calendar(const Looking *l, const Expr *e)
{
    const int left = power_of_time(l, e->args[0]), right = power_of_time(l, e->args[1]);
    return l->is_condition && left + right == 1;
}

static bool is_kept_change(const Looking *l, const Expr *e)
{
    const Op op = (Op)e->op;
    const bool compares = op == OP_GT || op == OP_GE || op == OP_LT || op == OP_LE || op == OP_ABS || op == OP_MIN ||
                          op == OP_MAX || op == OP_SIGN;
    bool has_state = false;
    if (e->kind == EXPR_TABLE || !compares || e->args[0]->type.kind != TYPE_REAL || !is_of_points(l, e))
        return false;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_by_point(l, e->args[k], &has_state))
            return false;
    return has_state || (op_is_relation(op) && is_calendar(l, e));
}

/* In the condition of a transition what is the same at all points is one comparison of scalars, and what only events
 * change is none. */
static bool is_plain_change(const Looking *l, const Expr *e)
{
    return l->is_condition && (!is_of_points(l, e) || !is_moving(l, e));
}

static bool is_kept(const Looking *l, const Expr *e)
{
    if (is_root(e) || e->kind == EXPR_REDUCE || e->kind == EXPR_FUNCTION || e->kind == EXPR_ARRAY)
        return false;
    if (changes(e) && !is_plain_change(l, e) && !is_kept_change(l, e))
        return false;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_kept(l, e->args[k]))
            return false;
    return true;
}

bool domain_has_unit_strides(const Model *m, DomainId domain)
{
    const Domain *d = &m->domains.at[domain.index];
    for (uint32_t k = 0; k < d->n; k++)
        if (m->iterators.at[d->first + k].stride != 1)
            return false;
    return d->n <= ELEMENT_LEVELS;
}

bool equation_keeps_comparisons(const Model *model, const Equation *equation, const bool *is_read)
{
    const Looking l = { model, equation->domain, term_refs(model, equation->rhs), false };
    if (equation->kind != EQUATION_EXPLICIT || !domain_has_unit_strides(model, equation->domain))
        return false;
    const Ref target = term_refs(model, equation->lhs)[equation->lhs.shape->u.leaf];
    return target.kind == REF_DER && !is_read[target.var.index] && model_var(model, target.var)->type.rank &&
           is_kept(&l, equation->rhs.shape);
}

bool condition_keeps_comparisons(const Model *model, Term condition, DomainId domain)
{
    const Looking l = { model, domain, term_refs(model, condition), true };
    return is_kept(&l, condition.shape);
}

/* ---- bits ---- */
void give_points(Model *model, VarId variable, DomainId domain)
{
    const Domain d = model->domains.at[domain.index];
    if (d.n == 0)
        return;
    model_var(model, variable)->type.rank = (uint8_t)d.n;
    model_var(model, variable)->first_dim = model->dims.n;
    for (uint32_t k = 0; k < d.n; k++) {
        const int64_t extent = model->iterators.at[d.first + k].count;
        const Dim dim = { .term = { expr_integer(model->pool, extent), 0 }, .extent = extent };
        vec_push(model->arena, &model->dims, dim);
    }
}

bool domains_are_equal(const Model *model, DomainId a, DomainId b)
{
    const Domain *one = &model->domains.at[a.index], *other = &model->domains.at[b.index];
    bool is_same = one->n == other->n;
    for (uint32_t k = 0; k < one->n && is_same; k++) {
        const Iterator *i = &model->iterators.at[one->first + k], *j = &model->iterators.at[other->first + k];
        is_same = i->first == j->first && i->stride == j->stride && i->count == j->count;
    }
    return is_same;
}

const Expr *ref_at_point(TermBuilder *builder, Ref ref, DomainId domain)
{
    Model *m = builder->model;
    const Expr *index[ELEMENT_LEVELS];
    const Domain d = m->domains.at[domain.index];
    if (d.n == 0)
        return term_leaf(builder, ref);
    REQUIRE(d.n <= ELEMENT_LEVELS);
    for (uint32_t k = 0; k < d.n; k++) {
        const Iterator *i = &m->iterators.at[d.first + k];
        REQUIRE(i->stride == 1);
        index[k] = expr_iterator(m->pool, k);
        if (i->first != 1)
            index[k] = expr_binary(m->pool, OP_SUB, index[k], expr_integer(m->pool, i->first - 1));
    }
    return term_element(builder, ref, d.n, index);
}
