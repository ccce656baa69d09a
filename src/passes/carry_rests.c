/* carry-rests: times that are sums stay sums. A variable that a time comparison reads and an event moves on by v + e,
 * as in `new(Tnext) = Tnext + Tsample`, loses half a unit in the last place each time; after a thousand additions two
 * rates of one base would no longer meet. So what rounding takes away is kept in a hidden variable beside it and added
 * the next time (Kahan's compensated sum): the value is the sum of the increments, rounded once. Increments that are
 * short binary numbers need none of this: their sums are exact. */
#include "passes/pipeline.h"

typedef struct {
    Model *model;
    bool *is_time;     /* per variable: a time comparison or step function of the time reads it */
    uint32_t *rest;    /* per variable: 1 + the variable of what rounding takes away, or 0 */
    uint32_t n_before; /* variables before this pass */
    TermBuilder builder;
    const Expr *target; /* of the assignment that is looked at: a leaf, perhaps an element over a range */
} Rests;

static void mark(Rests *r, Term term)
{
    if (!term.shape)
        return;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(r->model, term)[k];
        if (ref.kind == REF_NOW || ref.kind == REF_PRE)
            r->is_time[ref.var.index] = true;
    }
}

static void mark_times(Rests *r)
{
    const Model *m = r->model;
    for (uint32_t k = 0; k < m->relations.n; k++)
        if (m->relations.at[k].kind == RELATION_TIME)
            mark(r, m->relations.at[k].flip);
    for (uint32_t k = 0; k < m->steps.n; k++)
        if (m->steps.at[k].kind == RELATION_TIME)
            mark(r, m->steps.at[k].offset);
}

/* ---- sums ---- */
static bool is_of(const Rests *r, const Expr *e, VarId var)
{
    if (e->kind != EXPR_LEAF || e->n_args != r->target->n_args)
        return false;
    for (uint32_t k = 0; k < e->n_args; k++) /* loop variables and numbers: equal indices are one node */
        if (e->args[k] != r->target->args[k])
            return false;
    const Ref ref = r->builder.refs.at[e->u.leaf];
    return (ref.kind == REF_NOW || ref.kind == REF_PRE) && ref.var.index == var.index;
}

/* Multiples of 2^-20 add up without rounding for as long as anybody counts. */
static bool is_exact(const Expr *e)
{
    const double scaled = e->kind == EXPR_REAL ? e->u.real * 0x1p20 : 0.5;
    return scaled > -0x1p40 && scaled < 0x1p40 && scaled == (double)(int64_t)scaled;
}

/* Where v stands in v + e or e + v, as number of the operand; 2: it is no such sum. */
static uint32_t place_in_sum(const Rests *r, const Expr *e, VarId var)
{
    if (e->kind != EXPR_CALL || e->op != OP_ADD)
        return 2;
    return is_of(r, e->args[0], var) ? 0 : is_of(r, e->args[1], var) ? 1 : 2;
}

static bool has_rounded_sum(const Rests *r, const Expr *e, VarId var)
{
    if (e->kind == EXPR_IF)
        return has_rounded_sum(r, e->args[1], var) || has_rounded_sum(r, e->args[2], var);
    const uint32_t place = place_in_sum(r, e, var);
    return place < 2 && !is_exact(e->args[1 - place]);
}

/* The element of the rest that belongs to the target. */
static const Expr *rest_of(Rests *r, VarId var, uint8_t kind)
{
    const Ref rest = { { r->rest[var.index] - 1 }, kind };
    return r->target->n_args ? term_element(&r->builder, rest, r->target->n_args, r->target->args)
                             : term_leaf(&r->builder, rest);
}

/* The value with the rest added first: v + (rest + e); and what that rounding takes away, (rest + e) - ((v + (rest +
 * e)) - v). */
typedef struct {
    const Expr *value, *rest;
} Sum;

static Sum carry(Rests *r, const Expr *e, VarId var)
{
    Pool *pool = r->model->pool;
    if (e->kind == EXPR_IF) {
        const Sum yes = carry(r, e->args[1], var), no = carry(r, e->args[2], var);
        return (Sum){ expr_if(pool, e->args[0], yes.value, no.value), expr_if(pool, e->args[0], yes.rest, no.rest) };
    }
    if (is_of(r, e, var))
        return (Sum){ e, rest_of(r, var, r->builder.refs.at[e->u.leaf].kind) };
    const uint32_t place = place_in_sum(r, e, var);
    if (place == 2)
        return (Sum){ e, expr_real(pool, 0.0) };
    const Expr *v = e->args[place];
    const Expr *old = rest_of(r, var, r->builder.refs.at[v->u.leaf].kind);
    const Expr *more = expr_binary(pool, OP_ADD, old, e->args[1 - place]);
    const Expr *sum = expr_binary(pool, OP_ADD, v, more);
    return (Sum){ sum, expr_binary(pool, OP_SUB, more, expr_binary(pool, OP_SUB, sum, v)) };
}

/* ---- transitions ---- */
static VarId target_of(const Rests *r, const Assignment *a)
{
    const VarId var = term_refs(r->model, a->target)[0].var;
    const bool is_real = a->target.shape->kind == EXPR_LEAF && a->target.shape->n_leaves == 1 &&
                         var.index < r->n_before && a->target.shape->type.kind == TYPE_REAL &&
                         a->target.shape->type.rank == 0;
    return is_real && r->model->variables.at[var.index].definition != DEFINITION_DER ? var : VAR_NONE;
}

/* Gives the targets of rounded sums that are times their rests. */
static void add_rests(Rests *r, const Transition *t)
{
    Model *m = r->model;
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment a = m->assignments.at[t->first_assignment + k];
        const VarId var = target_of(r, &a);
        if (var_is_none(var) || !r->is_time[var.index] || r->rest[var.index])
            continue;
        r->target = a.target.shape;
        if (has_rounded_sum(r, term_import(&r->builder, a.value), var)) {
            const VarId rest = model_add_generated(m, "rest", m->variables.n - r->n_before + 1, REAL_TYPE, a.span);
            model_var(m, rest)->definition = model_var(m, var)->definition;
            model_var(m, rest)->type.rank = model_var(m, var)->type.rank;
            model_var(m, rest)->first_dim = model_var(m, var)->first_dim;
            model_var(m, rest)->start = term_real(m, 0.0);
            r->rest[var.index] = rest.index + 1;
        }
        term_finish(&r->builder, expr_real(m->pool, 0.0));
    }
}

/* The assignment of the rest that belongs to assignment `a`, whose value now has the rest in it. */
static Assignment carried(Rests *r, Assignment *a, VarId var)
{
    Model *m = r->model;
    const Ref rest = ref_now((VarId){ r->rest[var.index] - 1 });
    r->target = a->target.shape;
    const Sum sum = carry(r, term_import(&r->builder, a->value), var);
    Assignment second = *a;
    second.target = term_make(m, a->target.shape, &rest);
    second.value = term_make(m, sum.rest, r->builder.refs.at);
    a->value = term_finish(&r->builder, sum.value);
    return second;
}

static void carry_in_transition(Rests *r, Transition *t)
{
    Model *m = r->model;
    bool any = false;
    for (uint32_t k = 0; k < t->n_assignments && !any; k++) {
        const VarId var = target_of(r, &m->assignments.at[t->first_assignment + k]);
        any = !var_is_none(var) && r->rest[var.index];
    }
    if (!any)
        return;
    const uint32_t first = m->assignments.n;
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        Assignment a = m->assignments.at[t->first_assignment + k];
        const VarId var = target_of(r, &a);
        const bool has_rest = !var_is_none(var) && r->rest[var.index];
        const Assignment second = has_rest ? carried(r, &a, var) : a;
        vec_push(m->arena, &m->assignments, a);
        if (has_rest)
            vec_push(m->arena, &m->assignments, second);
    }
    t->first_assignment = first;
    t->n_assignments = m->assignments.n - first;
}

bool carry_rests(Compile *c)
{
    Model *m = c->model;
    Rests r = { .model = m, .n_before = m->variables.n, .builder = term_builder(m) };
    r.is_time = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    r.rest = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1);
    mark_times(&r);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        add_rests(&r, &m->transitions.at[k]);
    for (uint32_t k = 0; k < m->transitions.n && m->variables.n > r.n_before; k++)
        carry_in_transition(&r, &m->transitions.at[k]);
    return true;
}
