/* lower-triggers: a transition of the start, of the steps of the integrator or of an entry becomes an edge where it
 * acts now, where others ask whether it fires, or where the machine knows no such trigger.
 *
 * The machine counts how often a run has begun, a step was accepted, an entry was called. In the first event step of
 * the instant that belongs to it, and in no other, the count differs from the one before: that is a condition like any
 * other. A transition of the start that acts now fires while the initial system is solved instead, by `initial`. */
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    bool *is_read; /* per transition: something asks whether it fires */
} Lowering;

/* ---- occasions ---- */
static VarId count_of(Lowering *l, OccasionKind kind, const Transition *t)
{
    static const char *const names[] = {
        [OCCASION_START] = "$starts", [OCCASION_STEP] = "$steps", [OCCASION_ENTRY] = "$entry %u"
    };
    Model *m = l->model;
    const uint32_t entry = kind == OCCASION_ENTRY ? t->object : 0;
    for (uint32_t k = 0; k < m->occasions.n; k++)
        if (m->occasions.at[k].kind == kind && m->occasions.at[k].entry == entry)
            return m->occasions.at[k].count;
    const char *name = names[kind];
    if (kind == OCCASION_ENTRY)
        name = arena_format(l->c->scratch, "$entry %u", entry);
    const VarId count =
        model_add_variable(m, (InstanceId){ 0 }, names_text(pool_names(m->pool), name), INTEGER_TYPE, t->origin.span);
    Variable *v = model_var(m, count);
    v->variability = VARIABILITY_DISCRETE;
    v->definition = DEFINITION_FOREIGN;
    v->is_generated = true;
    const Occasion occasion = { .name = t->name,
                                .owner = t->owner,
                                .kind = (uint8_t)kind,
                                .entry = entry,
                                .count = count,
                                .span = t->origin.span };
    vec_push(m->arena, &m->occasions, occasion);
    return count;
}

static const Expr *is_now(Lowering *l, TermBuilder *builder, VarId count)
{
    return expr_binary(l->model->pool, OP_NE, term_leaf(builder, ref_now(count)), term_leaf(builder, ref_pre(count)));
}

/* ---- conditions ---- */
/* `first`, and all conditions of the transition, which are looked at when it happens only; NULL: nothing. */
static const Expr *with_guards(Lowering *l, TermBuilder *builder, const Transition *t, const Expr *first)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        const Expr *guard = expr_no_event(m->pool, term_import(builder, m->conditions.at[t->first_condition + k]));
        first = first ? expr_binary(m->pool, OP_AND, first, guard) : guard;
    }
    return first;
}

static void set_condition(Lowering *l, Transition *t, TermBuilder *builder, const Expr *condition)
{
    const Term term = term_finish(builder, condition);
    t->first_condition = model_add_terms(l->model, 1, &term);
    t->n_conditions = 1;
}

static void become_edge(Lowering *l, Transition *t, TermBuilder *builder, const Expr *first)
{
    set_condition(l, t, builder, with_guards(l, builder, t, first));
    t->trigger = TRIGGER_EDGE;
    t->edge_start = EDGE_START_FALSE;
    t->object = 0;
}

static bool is_initial_leaf(const Model *m, Term term)
{
    return term.shape->kind == EXPR_LEAF && term_refs(m, term)[0].kind == REF_INITIAL;
}

/* What it says is said in the first instant, by a transition of its own: it fires before that itself. */
static void move_actions(Lowering *l, Transition *t)
{
    if (t->effect != EFFECT_NOW || t->n_actions == 0)
        return;
    Transition said = *t;
    TermBuilder builder = term_builder(l->model);
    const Expr *starts = is_now(l, &builder, count_of(l, OCCASION_START, t));
    said.effect = EFFECT_NEXT;
    said.n_assignments = 0;
    said.name = (NameId){ 0 };
    if (t->trigger == TRIGGER_EDGE) /* `initial` is one of its conditions, the others stay with it */
        said.n_conditions = 0;
    else
        t->n_actions = 0;
    become_edge(l, &said, &builder, starts);
    vec_push(l->model->arena, &l->model->transitions, said);
}

/* `initial` as a condition of an edge: one that acts next fires in the first instant. */
static void lower_initial_conditions(Lowering *l, Transition *t)
{
    Model *m = l->model;
    bool any = false;
    VEC(Term) conditions = { 0 };
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        Term term = m->conditions.at[t->first_condition + k];
        if (is_initial_leaf(m, term)) {
            any = true;
            TermBuilder builder = term_builder(m);
            if (t->effect == EFFECT_NEXT)
                term = term_finish(&builder, is_now(l, &builder, count_of(l, OCCASION_START, t)));
        }
        vec_push(l->c->scratch, &conditions, term);
    }
    if (!any)
        return;
    move_actions(l, t);
    t->first_condition = model_add_terms(m, conditions.n, conditions.at);
}

/* ---- triggers ---- */
static void lower_start(Lowering *l, Transition *t)
{
    TermBuilder builder = term_builder(l->model);
    const Expr *first = t->effect == EFFECT_NOW ? term_leaf(&builder, (Ref){ VAR_NONE, REF_INITIAL })
                                                : is_now(l, &builder, count_of(l, OCCASION_START, t));
    move_actions(l, t);
    become_edge(l, t, &builder, first);
}

/* The conditions are tested after each step; where they hold there is an instant, and in it an edge. */
static void lower_step(Lowering *l, Transition *t, bool is_edge)
{
    TermBuilder builder = term_builder(l->model);
    const Expr *guards = with_guards(l, &builder, t, NULL);
    Transition asks = *t;
    set_condition(l, &asks, &builder, guards ? guards : expr_boolean(l->model->pool, true));
    if (!is_edge) {
        *t = asks;
        return;
    }
    asks.effect = EFFECT_NEXT;
    asks.n_assignments = asks.n_actions = asks.group = 0;
    asks.name = (NameId){ 0 };
    vec_push(l->model->arena, &l->model->transitions, asks);
    become_edge(l, t, &builder, is_now(l, &builder, count_of(l, OCCASION_STEP, t)));
}

static void lower_entry(Lowering *l, Transition *t)
{
    TermBuilder builder = term_builder(l->model);
    become_edge(l, t, &builder, is_now(l, &builder, count_of(l, OCCASION_ENTRY, t)));
}

static void lower_transition(Lowering *l, uint32_t index)
{
    Transition t = l->model->transitions.at[index];
    const bool is_edge = t.effect == EFFECT_NOW || l->is_read[index] || t.group;
    switch ((Trigger)t.trigger) {
    case TRIGGER_EDGE: lower_initial_conditions(l, &t); break;
    case TRIGGER_INITIAL:
        if (is_edge || t.n_conditions || t.region.index != ID_NONE)
            lower_start(l, &t);
        break;
    case TRIGGER_STEP:
        if (is_edge || t.n_conditions != 1)
            lower_step(l, &t, is_edge);
        break;
    case TRIGGER_ENTRY: lower_entry(l, &t); break;
    case TRIGGER_LEVEL:
    case TRIGGER_TICK:
    case TRIGGER_MESSAGE:
    case TRIGGER_TERMINAL: break;
    }
    l->model->transitions.at[index] = t;
}

bool lower_triggers(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->transitions.n;
    Lowering l = { .c = c, .model = m, .is_read = NEW_ARRAY(c->scratch, bool, n + 1) };
    for (uint32_t k = 0; k < m->refs.n && model_may_have(m, REF_FIRED); k++)
        if (m->refs.at[k].kind == REF_FIRED)
            l.is_read[m->refs.at[k].var.index] = true;
    for (uint32_t k = 0; k < n; k++)
        lower_transition(&l, k);
    return true;
}
