/* lower-pulses: a pulse has its default, or for exactly one step what a transition put there.
 *
 * A transition that acts next counts how often it was put there, beside the value: the pulse is up while that number
 * differs from the one before. One that acts now gives its value in the steps in which it fires. The equations of a
 * pulse define its default; without any it is the start value. */
#include "passes/pipeline.h"

typedef struct {
    VarId count, value, otherwise; /* none: not needed */
} Parts;

typedef struct {
    Compile *c;
    Model *model;
    Parts *parts; /* per variable that was there before */
} Lowering;

static VarId add_part(Lowering *l, VarId pulse, const char *format, Type type, Definition definition)
{
    Model *m = l->model;
    const Variable v = *model_var(m, pulse);
    Names *names = pool_names(m->pool);
    const NameId name = names_text(names, arena_format(l->c->scratch, format, names_of(names, v.name)));
    const VarId part = model_add_variable(m, v.owner, name, type, v.span);
    Variable *made = model_var(m, part);
    made->variability = v.variability;
    made->definition = (uint8_t)definition;
    made->is_generated = true;
    made->origin = pulse;
    if (type_equal(type, v.type))
        made->start = v.start;
    return part;
}

static VarId target_of(const Model *m, Term term)
{
    return term_refs(m, term)[term.shape->u.leaf].var;
}

static bool is_pulse(const Model *m, VarId var)
{
    return model_var(m, var)->definition == DEFINITION_PULSE;
}

/* Its equations, in branches or not, define the default instead. */
static void move_equations(Lowering *l)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_EXPLICIT || e->lhs.shape->n_args || !is_pulse(m, target_of(m, e->lhs)))
            continue;
        const VarId pulse = target_of(m, e->lhs);
        Parts *parts = &l->parts[pulse.index];
        if (var_is_none(parts->otherwise))
            parts->otherwise = add_part(l, pulse, "$default %s", model_var(m, pulse)->type, DEFINITION_NOW);
        m->equations.at[k].lhs = term_ref(m, ref_now(parts->otherwise));
    }
}

/* next(v) := e becomes next(value) := e, next(count) := count + 1. */
static void count_assignments(Lowering *l, uint32_t transition)
{
    Model *m = l->model;
    const Transition t = m->transitions.at[transition];
    VEC(Assignment) made = { 0 };
    for (uint32_t k = 0; k < t.n_assignments; k++) {
        Assignment a = m->assignments.at[t.first_assignment + k];
        const VarId pulse = target_of(m, a.target);
        if (is_pulse(m, pulse)) {
            Parts *parts = &l->parts[pulse.index];
            if (var_is_none(parts->count)) {
                parts->count = add_part(l, pulse, "$count %s", INTEGER_TYPE, DEFINITION_NEXT);
                parts->value = add_part(l, pulse, "$next %s", model_var(m, pulse)->type, DEFINITION_NEXT);
            }
            TermBuilder builder = term_builder(m);
            const Expr *count = term_leaf(&builder, ref_now(parts->count));
            const Expr *more = expr_binary(m->pool, OP_ADD, count, expr_integer(m->pool, 1));
            const Assignment up = { .target = term_ref(m, ref_now(parts->count)),
                                    .guard = a.guard,
                                    .value = term_finish(&builder, more),
                                    .span = a.span };
            vec_push(l->c->scratch, &made, up);
            a.target = term_ref(m, ref_now(parts->value));
        }
        vec_push(l->c->scratch, &made, a);
    }
    if (made.n == t.n_assignments)
        return;
    m->transitions.at[transition].first_assignment = m->assignments.n;
    m->transitions.at[transition].n_assignments = made.n;
    for (uint32_t k = 0; k < made.n; k++)
        vec_push(m->arena, &m->assignments, made.at[k]);
}

/* Of the value without transitions that act now: what was put there, or the default. */
static const Expr *value_of(Lowering *l, TermBuilder *builder, VarId pulse)
{
    Pool *pool = l->model->pool;
    const Parts *parts = &l->parts[pulse.index];
    const Variable *v = model_var(l->model, pulse);
    const Expr *otherwise;
    if (!var_is_none(parts->otherwise))
        otherwise = term_leaf(builder, ref_now(parts->otherwise));
    else if (!term_is_absent(v->start))
        otherwise = term_import(builder, v->start);
    else
        otherwise = v->type.kind == TYPE_REAL      ? expr_real(pool, 0)
                    : v->type.kind == TYPE_INTEGER ? expr_integer(pool, 0)
                    : v->type.kind == TYPE_BOOLEAN ? expr_boolean(pool, false)
                                                   : expr_enum(pool, v->type.enumeration, 1);
    if (var_is_none(parts->count))
        return otherwise;
    const Expr *up =
        expr_binary(pool, OP_NE, term_leaf(builder, ref_now(parts->count)), term_leaf(builder, ref_pre(parts->count)));
    return expr_if(pool, up, term_leaf(builder, ref_now(parts->value)), otherwise);
}

/* if fired(t) then e else ..., for each transition that acts now; its assignment goes. */
static const Expr *add_firings(Lowering *l, TermBuilder *builder, VarId pulse, const Expr *value)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->effect == EFFECT_NOW && j < t->n_assignments; j++) {
            Assignment *row = &m->assignments.at[t->first_assignment + j];
            if (target_of(m, row->target).index != pulse.index)
                continue;
            const Assignment a = *row;
            const Expr *fires = term_leaf(builder, (Ref){ { k }, REF_FIRED });
            if (!term_is_absent(a.guard))
                fires = expr_binary(m->pool, OP_AND, fires, expr_no_event(m->pool, term_import(builder, a.guard)));
            value = expr_if(m->pool, fires, expr_no_event(m->pool, term_import(builder, a.value)), value);
            *row = m->assignments.at[t->first_assignment + --t->n_assignments];
            j--;
        }
    }
    return value;
}

static void define(Lowering *l, VarId pulse)
{
    Model *m = l->model;
    TermBuilder builder = term_builder(m);
    const Expr *value = add_firings(l, &builder, pulse, value_of(l, &builder, pulse));
    const Span span = model_var(m, pulse)->span;
    const EqId made =
        model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(pulse)), term_finish(&builder, value), span);
    m->equations.at[made.index].owner = model_var(m, pulse)->owner;
    m->equations.at[made.index].origin.made_by = "lower-pulses";
}

static void refuse_arrays(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (v->definition == DEFINITION_PULSE && v->type.rank)
            diag_error(c->diag, DIAG_NOT_YET, v->span, "an array of pulses cannot be executed yet");
    }
}

bool lower_pulses(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->variables.n;
    if (!c->has_pulses)
        return true;
    refuse_arrays(c);
    if (diag_errors(c->diag))
        return false;
    Lowering l = { .c = c, .model = m, .parts = NEW_ARRAY(c->scratch, Parts, n + 1) };
    for (uint32_t k = 0; k < n; k++)
        l.parts[k] = (Parts){ VAR_NONE, VAR_NONE, VAR_NONE };
    move_equations(&l);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (m->transitions.at[k].effect == EFFECT_NEXT)
            count_assignments(&l, k);
    for (uint32_t k = 0; k < n; k++)
        if (m->variables.at[k].definition == DEFINITION_PULSE)
            define(&l, (VarId){ k });
    for (uint32_t k = 0; k < n; k++)
        if (m->variables.at[k].definition == DEFINITION_PULSE)
            m->variables.at[k].definition = DEFINITION_NOW;
    return true;
}
