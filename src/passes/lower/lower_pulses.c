/* lower-pulses: a pulse has its default, or for exactly one step what a transition put there.
 *
 * A transition that acts next counts how often it was put there, beside the value: the pulse is up while that number
 * differs from the one before. One that acts now gives its value in the steps in which it fires; for an array, of which
 * each element has its own steps, it counts, too. The equations of a pulse define its default; without any it is the
 * start value. */
#include "base/bug.h"
#include "passes/instantiate.h"

typedef struct {
    VarId count, value;         /* what acts next counts and puts there; none: not needed */
    VarId now_count, now_value; /* of an array: what acts now */
    VarId otherwise;
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
    if (v.type.rank)
        made->first_dim = v.first_dim;
    if (type_equal(type, v.type))
        made->start = v.start;
    return part;
}

static Type count_type(const Variable *v)
{
    Type type = INTEGER_TYPE;
    type.rank = v->type.rank;
    return type;
}

static VarId target_of(const Model *m, Term term)
{
    return term_refs(m, term)[term.shape->u.leaf].var;
}

static bool is_pulse(const Model *m, VarId var)
{
    return model_var(m, var)->definition == DEFINITION_PULSE;
}

/* What `ref` is of the element that `target` names: of a scalar all of it. Each element has steps of its own, and
 * lower-arrays has made assignments of them. */
static const Expr *same_element(TermBuilder *builder, Term target, Ref ref)
{
    REQUIRE(target.shape->n_args > 0 || target.shape->type.rank == 0);
    const Expr *index[UINT8_MAX];
    const uint32_t n = target.shape->n_args;
    for (uint32_t k = 0; k < n; k++)
        index[k] = term_import(builder, (Term){ target.shape->args[k], target.first_ref });
    return n ? term_element(builder, ref, n, index) : term_leaf(builder, ref);
}

static Term same_place(Model *m, Term target, VarId var)
{
    TermBuilder builder = term_builder(m);
    return term_finish(&builder, same_element(&builder, target, ref_now(var)));
}

/* Its equations, in branches or not, define the default instead. */
static void move_equations(Lowering *l)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_EXPLICIT || !is_pulse(m, target_of(m, e->lhs)))
            continue;
        const VarId pulse = target_of(m, e->lhs);
        Parts *parts = &l->parts[pulse.index];
        if (var_is_none(parts->otherwise))
            parts->otherwise = add_part(l, pulse, "$default %s", model_var(m, pulse)->type, DEFINITION_NOW);
        m->equations.at[k].lhs = same_place(m, e->lhs, parts->otherwise);
    }
}

/* The count and the value that the assignments of this effect write. */
static void want_parts(Lowering *l, VarId pulse, Effect effect, VarId *count, VarId *value)
{
    const Variable v = *model_var(l->model, pulse);
    Parts *parts = &l->parts[pulse.index];
    const bool is_next = effect == EFFECT_NEXT;
    VarId *own_count = is_next ? &parts->count : &parts->now_count;
    VarId *own_value = is_next ? &parts->value : &parts->now_value;
    if (var_is_none(*own_count)) {
        const Definition definition = is_next ? DEFINITION_NEXT : DEFINITION_NOW;
        *own_count = add_part(l, pulse, is_next ? "$count %s" : "$count now %s", count_type(&v), definition);
        *own_value = add_part(l, pulse, is_next ? "$next %s" : "$now %s", v.type, definition);
    }
    *count = *own_count;
    *value = *own_value;
}

/* One more than the count is, or was before the step. */
static Assignment count_up(Lowering *l, const Assignment *a, VarId count, Effect effect)
{
    Model *m = l->model;
    TermBuilder builder = term_builder(m);
    const Ref before = effect == EFFECT_NEXT ? ref_now(count) : ref_pre(count);
    const Expr *more =
        expr_binary(m->pool, OP_ADD, same_element(&builder, a->target, before), expr_integer(m->pool, 1));
    return (Assignment){ .target = same_place(m, a->target, count),
                         .guard = a->guard,
                         .value = term_finish(&builder, more),
                         .span = a->span };
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
        if (is_pulse(m, pulse) && (t.effect == EFFECT_NEXT || model_var(m, pulse)->type.rank)) {
            VarId count, value;
            want_parts(l, pulse, (Effect)t.effect, &count, &value);
            const Assignment up = count_up(l, &a, count, (Effect)t.effect);
            vec_push(l->c->scratch, &made, up);
            a.target = same_place(m, a.target, value);
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

static const Expr *zero_of(Pool *pool, Type type)
{
    return type.kind == TYPE_REAL      ? expr_real(pool, 0)
           : type.kind == TYPE_INTEGER ? expr_integer(pool, 0)
           : type.kind == TYPE_BOOLEAN ? expr_boolean(pool, false)
           : type.kind == TYPE_STRING  ? expr_string(pool, names_text(pool_names(pool), ""))
                                       : expr_enum(pool, type.enumeration, 1);
}

/* The default of the element that `place` names. */
static const Expr *default_of(Lowering *l, TermBuilder *builder, VarId pulse, Term place)
{
    Pool *pool = l->model->pool;
    const Parts *parts = &l->parts[pulse.index];
    const Variable *v = model_var(l->model, pulse);
    if (!var_is_none(parts->otherwise))
        return same_element(builder, place, ref_now(parts->otherwise));
    if (term_is_absent(v->start))
        return zero_of(pool, v->type);
    if (v->start.shape->kind != EXPR_ARRAY)
        return term_import(builder, v->start);
    const VarId values = add_part(l, pulse, "$default %s", v->type, DEFINITION_BINDING);
    Variable *made = model_var(l->model, values);
    made->variability = VARIABILITY_PARAMETER;
    made->binding = made->start;
    made->start = TERM_NONE;
    return same_element(builder, place, ref_now(values));
}

static const Expr *if_counted(Lowering *l, TermBuilder *builder, Term place, VarId count, VarId value,
                              const Expr *otherwise)
{
    Pool *pool = l->model->pool;
    if (var_is_none(count))
        return otherwise;
    const Expr *up = expr_binary(pool, OP_NE, same_element(builder, place, ref_now(count)),
                                 same_element(builder, place, ref_pre(count)));
    return expr_if(pool, up, same_element(builder, place, ref_now(value)), otherwise);
}

/* What was put there, or the default; of a scalar without transitions that act now. */
static const Expr *value_of(Lowering *l, TermBuilder *builder, VarId pulse, Term place)
{
    const Expr *value = default_of(l, builder, pulse, place);
    const Parts *parts = &l->parts[pulse.index];
    value = if_counted(l, builder, place, parts->count, parts->value, value);
    return if_counted(l, builder, place, parts->now_count, parts->now_value, value);
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
    const Variable v = *model_var(m, pulse);
    const Expr *index[UINT8_MAX];
    for (uint32_t k = 0; k < v.type.rank; k++)
        index[k] = expr_iterator(m->pool, k);
    TermBuilder builder = term_builder(m);
    Term place = term_ref(m, ref_now(pulse));
    if (v.type.rank)
        place = term_finish(&builder, term_element(&builder, ref_now(pulse), v.type.rank, index));
    const Expr *value = add_firings(l, &builder, pulse, value_of(l, &builder, pulse, place));
    const DomainId domain = domain_of_array(m, pulse);
    const EqId made = model_add_equation(m, EQUATION_EXPLICIT, place, term_finish(&builder, value), v.span);
    m->equations.at[made.index].domain = domain;
    m->equations.at[made.index].owner = v.owner;
    m->equations.at[made.index].origin.made_by = "lower-pulses";
}

bool lower_pulses(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->variables.n;
    if (!c->has_pulses)
        return true;
    Lowering l = { .c = c, .model = m, .parts = NEW_ARRAY(c->scratch, Parts, n + 1) };
    for (uint32_t k = 0; k < n; k++)
        l.parts[k] = (Parts){ VAR_NONE, VAR_NONE, VAR_NONE, VAR_NONE, VAR_NONE };
    move_equations(&l);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        count_assignments(&l, k);
    for (uint32_t k = 0; k < n; k++)
        if (m->variables.at[k].definition == DEFINITION_PULSE)
            define(&l, (VarId){ k });
    for (uint32_t k = 0; k < n; k++)
        if (m->variables.at[k].definition == DEFINITION_PULSE)
            m->variables.at[k].definition = DEFINITION_NOW;
    return true;
}
