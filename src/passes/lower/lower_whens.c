/* lower-whens: every condition of a transition becomes a Boolean variable, so that edges are seen in v and pre(v);
 * transitions of effect NOW become equations v := if fired then e else pre(v). Only NEXT transitions are left. */
#include "base/bug.h"
#include "passes/keep_comparisons.h"

typedef struct {
    Compile *c;
    Model *model;
    TermBuilder builder;
    VarId *fired;      /* per transition: its generated `fired` variable, or none */
    bool *is_starting; /* per transition: it acts now, and may fire while the initial system is solved */
    bool *is_initial;  /* per condition of a transition: it asks whether that is so */
} Lowering;

static void define(Lowering *l, Term lhs, Term rhs, const Transition *t, Span span)
{
    Model *m = l->model;
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, lhs, rhs, span);
    m->equations.at[e.index].owner = t->owner;
    m->equations.at[e.index].domain = t->domain;
    m->equations.at[e.index].origin.made_by = "lower-whens";
}

/* The variable, over a range its element at each point of it. */
static Term at_point(Lowering *l, VarId variable, DomainId domain)
{
    TermBuilder builder = term_builder(l->model);
    const Expr *leaf = ref_at_point(&builder, ref_now(variable), domain);
    return term_finish(&builder, leaf);
}

static bool is_plain_variable(Lowering *l, Term condition, DomainId domain)
{
    if (condition.shape->kind != EXPR_LEAF || (domain.index == 0 && condition.shape->n_args))
        return false;
    const Ref ref = term_refs(l->model, condition)[condition.shape->u.leaf];
    if (domain.index == 0 || !ref_is_of_variable(ref))
        return domain.index == 0;
    return variable_count(l->model, ref.var) == domain_count(l->model, domain) &&
           model_var(l->model, ref.var)->type.rank == l->model->domains.at[domain.index].n &&
           at_point(l, ref.var, domain).shape == condition.shape;
}

/* A variable that is the condition of another edge, too, has one value before the start: not another one for this. */
static bool differs_at_start(const Model *m, const Transition *t, Term condition)
{
    const uint8_t edge = model_var(m, term_refs(m, condition)[0].var)->edge;
    return t->trigger == TRIGGER_EDGE && edge && edge != t->edge_start + 1;
}

static bool reads_initial(const Model *m, Term condition)
{
    bool found = false;
    for (uint32_t k = 0; k < condition.shape->n_leaves && !found; k++)
        found = term_refs(m, condition)[k].kind == REF_INITIAL;
    return found;
}

static void name_conditions(Lowering *l, uint32_t k)
{
    Model *m = l->model;
    const Transition t = m->transitions.at[k];
    for (uint32_t j = 0; j < t.n_conditions; j++) {
        const Term condition = m->conditions.at[t.first_condition + j];
        if (t.trigger != TRIGGER_STEP && is_plain_variable(l, condition, t.domain) &&
            term_refs(m, condition)[0].kind == REF_NOW && !differs_at_start(m, &t, condition))
            continue;
        const VarId g = model_add_generated(m, "g", t.first_condition + j + 1, BOOLEAN_TYPE, t.origin.span);
        model_var(m, g)->is_condition = true;
        give_points(m, g, t.domain);
        l->is_initial[t.first_condition + j] = reads_initial(m, condition);
        l->is_starting[k] |= t.effect == EFFECT_NOW && l->is_initial[t.first_condition + j];
        if (is_plain_variable(l, condition, t.domain) && reads_initial(m, condition)) /* it rises before the start */
            model_var(m, g)->edge = EDGE_START_FALSE + 1;
        const Term name = at_point(l, g, t.domain);
        define(l, name, condition, &t, t.origin.span);
        m->conditions.at[t.first_condition + j] = name;
    }
}

/* Before the start an edge condition was what it is at the start, or false. */
static void note_edges(Lowering *l, const Transition *t)
{
    Model *m = l->model;
    for (uint32_t j = 0; t->trigger == TRIGGER_EDGE && j < t->n_conditions; j++) {
        Variable *v = model_var(m, term_refs(m, m->conditions.at[t->first_condition + j])[0].var);
        if (!v->edge || !v->is_condition)
            v->edge = (uint8_t)(t->edge_start + 1);
    }
}

/* A condition has risen; without an edge: it holds. What it is at the start it was before, too, so it does not rise
 * while the initial system is solved. */
static const Expr *fires(Lowering *l, const Transition *t)
{
    Model *m = l->model;
    const Expr *any = NULL;
    for (uint32_t j = 0; j < t->n_conditions; j++) {
        const VarId v = term_refs(m, m->conditions.at[t->first_condition + j])[0].var;
        const Expr *edge = ref_at_point(&l->builder, ref_now(v), t->domain);
        if (t->trigger == TRIGGER_EDGE)
            edge = expr_binary(m->pool, OP_AND, edge,
                               expr_unary(m->pool, OP_NOT, ref_at_point(&l->builder, ref_pre(v), t->domain)));
        if (t->trigger == TRIGGER_EDGE && t->edge_start == EDGE_START_CURRENT && !l->is_initial[t->first_condition + j])
            edge = expr_binary(m->pool, OP_AND, edge,
                               expr_unary(m->pool, OP_NOT, term_leaf(&l->builder, (Ref){ VAR_NONE, REF_INITIAL })));
        any = any ? expr_binary(m->pool, OP_OR, any, edge) : edge;
    }
    return any ? any : expr_boolean(m->pool, false);
}

/* Whether the transition fires, at the point that is looked at. */
static const Expr *fired_at_point(Lowering *l, uint32_t transition)
{
    return ref_at_point(&l->builder, ref_now(l->fired[transition]), l->model->transitions.at[transition].domain);
}

/* fired := some condition has risen or holds, and no transition of the same group with lower rank fired. */
static void define_fired(Lowering *l, uint32_t k)
{
    Model *m = l->model;
    const Transition t = m->transitions.at[k];
    const Expr *value = fires(l, &t);
    for (uint32_t j = 0; t.group && j < m->transitions.n; j++)
        if (m->transitions.at[j].group == t.group && m->transitions.at[j].rank < t.rank)
            value = expr_binary(m->pool, OP_AND, value, expr_unary(m->pool, OP_NOT, fired_at_point(l, j)));
    const Term rhs = term_finish(&l->builder, value);
    define(l, at_point(l, l->fired[k], t.domain), rhs, &t, t.origin.span);
}

/* All NOW assignments to one variable, which lie in one group, become one equation. */
static void define_targets(Lowering *l)
{
    Model *m = l->model;
    uint32_t *last = NEW_ARRAY(l->c->scratch, uint32_t, m->variables.n);         /* per variable: 1 + last assignment */
    uint32_t *before = NEW_ARRAY(l->c->scratch, uint32_t, m->assignments.n + 1); /* chain */
    uint32_t *of = NEW_ARRAY(l->c->scratch, uint32_t, m->assignments.n + 1);     /* transition of an assignment */
    VEC(VarId) targets = { 0 };
    for (uint32_t k = m->transitions.n; k-- > 0;) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = t->n_assignments; t->effect == EFFECT_NOW && j-- > 0;) {
            const uint32_t a = t->first_assignment + j;
            const VarId v = term_refs(m, m->assignments.at[a].target)[0].var;
            if (!last[v.index])
                vec_push(l->c->scratch, &targets, v);
            before[a] = last[v.index];
            of[a] = k;
            last[v.index] = a + 1;
        }
    }
    for (uint32_t n = 0; n < targets.n; n++) {
        const VarId v = targets.at[n];
        const Expr *value = ref_at_point(&l->builder, ref_pre(v), m->transitions.at[of[last[v.index] - 1]].domain);
        Transition t = { 0 };
        Span span = { 0 };
        bool is_starting = false;
        for (uint32_t a = last[v.index]; a; a = before[a - 1]) {
            const Assignment *assignment = &m->assignments.at[a - 1];
            t = m->transitions.at[of[a - 1]];
            is_starting |= l->is_starting[of[a - 1]];
            span = a == last[v.index] ? assignment->span : t.origin.span; /* the only one, or all */
            const Expr *fired = fired_at_point(l, of[a - 1]);
            if (!term_is_absent(assignment->guard))
                fired = expr_binary(m->pool, OP_AND, fired, term_import(&l->builder, assignment->guard));
            value = expr_if(m->pool, fired, term_import(&l->builder, assignment->value), value);
        }
        model_var(m, v)->definition = DEFINITION_NOW;
        if (is_starting && !model_var(m, v)->edge) /* what it got before the start is what it holds then */
            model_var(m, v)->edge = EDGE_START_CURRENT + 1;
        const Term rhs = term_finish(&l->builder, value);
        define(l, at_point(l, v, t.domain), rhs, &t, span);
    }
}

/* v := if fired(t) then e else pre(v), and t fires before the start: what v got then is what it holds, too. */
static void note_holds(Lowering *l)
{
    Model *m = l->model;
    if (!model_may_have(m, REF_INITIAL) && !model_may_have(m, REF_FIRED))
        return;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_EXPLICIT || e->lhs.shape->kind != EXPR_LEAF)
            continue;
        const Ref target = term_refs(m, e->lhs)[0];
        bool is_starting = false, is_held = false;
        for (uint32_t j = 0; j < e->rhs.shape->n_leaves; j++) {
            const Ref ref = term_refs(m, e->rhs)[j];
            is_starting |= ref.kind == REF_INITIAL || (ref.kind == REF_FIRED && l->is_starting[ref.var.index]);
            is_held |= ref.kind == REF_PRE && ref.var.index == target.var.index;
        }
        if (is_starting && is_held && !model_var(m, target.var)->edge)
            model_var(m, target.var)->edge = EDGE_START_CURRENT + 1;
    }
}

/* fired(t) in terms becomes the generated variable. */
static void replace_fired(Lowering *l)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < m->refs.n && model_may_have(m, REF_FIRED); k++)
        if (m->refs.at[k].kind == REF_FIRED) {
            const VarId v = l->fired[m->refs.at[k].var.index];
            REQUIRE(!var_is_none(v));
            m->refs.at[k] = ref_now(v);
        }
}

/* What a NOW transition assigns is defined by equations; what it says is said when it fires. */
static void drop_now_transitions(Model *m)
{
    uint32_t n = 0;
    if (m->transitions.n == 0)
        return;
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (m->transitions.at[k].effect == EFFECT_NEXT)
            m->transitions.at[n++] = m->transitions.at[k];
    m->transitions.n = n;
    for (uint32_t k = 0; k < m->equations.n; k++) /* solve-whens has dropped them: the numbers mean others now */
        m->equations.at[k].when = 0;
}

static void keep_actions(Model *m)
{
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        Transition *t = &m->transitions.at[k];
        if (t->effect != EFFECT_NOW || (t->n_actions == 0 && t->trigger != TRIGGER_MESSAGE)) /* which it takes */
            continue;
        t->effect = EFFECT_NEXT;
        t->n_assignments = 0;
    }
}

bool lower_whens(Compile *c)
{
    Model *m = c->model;
    Lowering l = {
        .c = c, .model = m, .builder = term_builder(m), .fired = NEW_ARRAY(c->scratch, VarId, m->transitions.n)
    };
    l.is_starting = NEW_ARRAY(c->scratch, bool, m->transitions.n + 1);
    l.is_initial = NEW_ARRAY(c->scratch, bool, m->conditions.n + 1);
    bool *is_read = NEW_ARRAY(c->scratch, bool, m->transitions.n);
    for (uint32_t k = 0; k < m->refs.n && model_may_have(m, REF_FIRED); k++)
        if (m->refs.at[k].kind == REF_FIRED)
            is_read[m->refs.at[k].var.index] = true;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        name_conditions(&l, k);
        note_edges(&l, &m->transitions.at[k]);
        const Transition *t = &m->transitions.at[k];
        l.fired[k] = VAR_NONE;
        const bool has_condition =
            t->trigger == TRIGGER_EDGE || t->trigger == TRIGGER_LEVEL || t->trigger == TRIGGER_MESSAGE;
        if (has_condition && (t->effect == EFFECT_NOW || is_read[k] || t->group))
            l.fired[k] = model_add_generated(m, "f", k + 1, BOOLEAN_TYPE, t->origin.span);
        if (!var_is_none(l.fired[k]))
            give_points(m, l.fired[k], t->domain);
    }
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (!var_is_none(l.fired[k]))
            define_fired(&l, k);
    define_targets(&l);
    note_holds(&l);
    replace_fired(&l);
    keep_actions(m);
    /* A transition of a group fires by its `fired` variable, which is up for one step only if it is an edge. */
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        Transition *t = &m->transitions.at[k];
        if (t->effect == EFFECT_NEXT && t->group && !var_is_none(l.fired[k])) {
            const Term fired = at_point(&l, l.fired[k], t->domain);
            t->first_condition = model_add_terms(m, 1, &fired);
            t->n_conditions = 1;
            if (t->trigger != TRIGGER_MESSAGE)
                t->trigger = TRIGGER_LEVEL;
        }
    }
    drop_now_transitions(m);
    return true;
}
