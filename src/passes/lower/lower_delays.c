/* lower-delays: the input of a delay becomes an equation, its amount a parameter; its output is given from outside of
 * the equations, like an input: it depends on nothing of the same instant, so that no loop leads through it. An array
 * is delayed element by element.
 *
 * An amount that changes is an equation, too. What is read then lies in a smooth piece of the input's history, of which
 * the machine tells begin and end: that time - amount passes one of them is an event. */
#include "passes/instantiate.h"

/* A variable beside the output; like it in its type if it has one for each element. */
static VarId add_variable(Compile *c, const Delay *d, const char *what, uint8_t variability, Type type)
{
    Model *m = c->model;
    const Variable y = *model_var(m, d->output);
    const char *of = names_of(pool_names(m->pool), y.name);
    const NameId name = names_text(pool_names(m->pool), arena_format(m->arena, "$%s.%s", what, of));
    const VarId id = model_add_variable(m, d->owner, name, type, d->span);
    Variable *v = model_var(m, id);
    if (type.rank)
        v->first_dim = y.first_dim;
    v->variability = variability;
    v->is_generated = true;
    return id;
}

/* A whole array is read element by element. */
static void define_input(Compile *c, const Delay *d, VarId input)
{
    Model *m = c->model;
    const Variable v = *model_var(m, input);
    const bool is_whole = v.type.rank && d->input.shape->kind == EXPR_LEAF;
    const Expr *index[UINT8_MAX];
    for (uint32_t k = 0; is_whole && k < v.type.rank; k++)
        index[k] = expr_iterator(m->pool, k);
    TermBuilder builder = term_builder(m);
    Term lhs = term_ref(m, ref_now(input)), rhs = d->input;
    if (is_whole) {
        lhs = term_finish(&builder, term_element(&builder, ref_now(input), v.type.rank, index));
        rhs = term_finish(&builder, term_element(&builder, term_refs(m, rhs)[0], v.type.rank, index));
    }
    const DomainId domain = is_whole ? domain_of_array(m, input) : (DomainId){ 0 };
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, lhs, rhs, d->span);
    m->equations.at[e.index].domain = domain;
    m->equations.at[e.index].owner = d->owner;
    m->equations.at[e.index].origin.made_by = "lower-delays";
}

/* The amount is a parameter: what it reads, too. */
static bool is_fixed(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind != REF_NOW || model_var(m, ref.var)->variability > VARIABILITY_PARAMETER)
            return false;
    }
    return true;
}

static Term parameter_of(Compile *c, const Delay *d, const char *what, Term value)
{
    const VarId v = add_variable(c, d, what, VARIABILITY_PARAMETER, value.shape->type);
    model_var(c->model, v)->definition = DEFINITION_BINDING;
    model_var(c->model, v)->binding = value;
    return term_ref(c->model, ref_now(v));
}

static VarId add_border(Compile *c, const Delay *d, const char *what)
{
    Type type = REAL_TYPE;
    type.rank = model_var(c->model, d->output)->type.rank;
    const VarId v = add_variable(c, d, what, VARIABILITY_DISCRETE, type);
    model_var(c->model, v)->definition = DEFINITION_FOREIGN;
    return v;
}

/* Nothing but an event where time - amount, or position - amount, leaves the piece. */
static void watch_borders(Compile *c, const Delay *d, VarId amount)
{
    Model *m = c->model;
    const Variable v = *model_var(m, d->output);
    const Expr *index[UINT8_MAX];
    for (uint32_t k = 0; k < v.type.rank; k++)
        index[k] = expr_iterator(m->pool, k);
    Term conditions[2];
    for (int k = 0; k < 2; k++) {
        TermBuilder builder = term_builder(m);
        const Ref border = ref_now(k ? d->until : d->since);
        const Ref now = term_is_absent(d->position) ? ref_time() : term_refs(m, d->position)[0];
        const Expr *then = expr_binary(m->pool, OP_SUB, term_leaf(&builder, now), term_leaf(&builder, ref_now(amount)));
        const Expr *at = v.type.rank ? term_element(&builder, border, v.type.rank, index) : term_leaf(&builder, border);
        conditions[k] = term_finish(&builder, expr_binary(m->pool, k ? OP_GE : OP_LT, then, at));
    }
    const Transition head = { .trigger = TRIGGER_EDGE,
                              .effect = EFFECT_NEXT,
                              .domain = domain_of_array(m, d->output),
                              .region = REGION_NONE,
                              .owner = d->owner,
                              .origin = { .span = d->span, .made_by = "lower-delays", .parent = EQ_NONE } };
    model_add_transition(m, &head, 2, conditions, 0, NULL, 0, NULL);
}

static Term equation_of(Compile *c, const Delay *d, const char *what, Term value)
{
    Model *m = c->model;
    const bool is_real = value.shape->type.kind == TYPE_REAL;
    const VarId v =
        add_variable(c, d, what, is_real ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE, value.shape->type);
    model_var(m, v)->definition = DEFINITION_NOW;
    const Term lhs = term_ref(m, ref_now(v));
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, lhs, value, d->span);
    m->equations.at[e.index].owner = d->owner;
    m->equations.at[e.index].origin.made_by = "lower-delays";
    return lhs;
}

static Term lower_amount(Compile *c, Delay *d)
{
    Model *m = c->model;
    if (is_fixed(m, d->amount))
        return parameter_of(c, d, "amount", d->amount);
    if (term_is_absent(d->max)) {
        diag_error(c->diag, DIAG_DELAY_MAX, d->span, "the amount of this delay changes, and it has no bound");
        diag_help(c->diag, "write the largest amount behind it: max 2.0");
        return d->amount;
    }
    const Term lhs = equation_of(c, d, "amount", d->amount);
    d->max = parameter_of(c, d, "max", d->max);
    d->since = add_border(c, d, "since");
    d->until = add_border(c, d, "until");
    watch_borders(c, d, term_refs(m, lhs)[0].var);
    return lhs;
}

/* ---- along a position ---- */
static bool is_profile(const Model *m, VarId v)
{
    const Variable *p = model_var(m, v);
    return p->type.kind == TYPE_REAL && p->type.rank == 1 && p->variability <= VARIABILITY_PARAMETER;
}

static const char *along_obstacle(const Model *m, const Delay *d)
{
    const Variable *y = model_var(m, d->output);
    if (y->type.kind != TYPE_REAL || y->type.rank || y->variability != VARIABILITY_CONTINUOUS)
        return "what is delayed along a position is one continuous Real";
    if (!is_fixed(m, d->amount) || !term_is_absent(d->max))
        return "a length along a position is a parameter, and has no max";
    if (var_is_none(d->points))
        return NULL;
    if (!is_profile(m, d->points) || !is_profile(m, d->values))
        return "points and values at the start are arrays of Real parameters with one dimension";
    if (variable_count(m, d->points) != variable_count(m, d->values))
        return "there are not as many values at the start as points";
    return variable_count(m, d->points) < 2 ? "the points at the start are at least 0 and 1" : NULL;
}

/* One input: what goes in at the end where the flow comes in. */
static Term one_input(Compile *c, const Delay *d)
{
    TermBuilder builder = term_builder(c->model);
    const Expr *forward = term_import(&builder, d->forward), *near = term_import(&builder, d->input);
    const Expr *far = term_import(&builder, d->back);
    return term_finish(&builder, expr_if(c->model->pool, forward, near, far));
}

static void lower_along(Compile *c, Delay *d)
{
    const char *obstacle = along_obstacle(c->model, d);
    if (obstacle) {
        diag_error(c->diag, DIAG_DELAY_ALONG, d->span, "%s", obstacle);
        diag_help(c->diag, "write for instance: delay d1 y of u by 1.0 along x, with x and y continuous");
        return;
    }
    d->amount = parameter_of(c, d, "amount", d->amount);
    d->position = equation_of(c, d, "position", d->position);
    if (!term_is_absent(d->back)) {
        d->forward = equation_of(c, d, "forward", d->forward);
        d->input = one_input(c, d);
    }
    d->since = add_border(c, d, "since");
    d->until = add_border(c, d, "until");
    watch_borders(c, d, term_refs(c->model, d->amount)[0].var);
}

bool lower_delays(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->delays.n; k++) {
        Delay d = m->delays.at[k];
        const Variable y = *model_var(m, d.output);
        const VarId input = add_variable(c, &d, "input", y.variability, y.type);
        model_var(m, input)->definition = DEFINITION_NOW;
        model_var(m, d.output)->definition = DEFINITION_FOREIGN;
        if (!term_is_absent(d.position))
            lower_along(c, &d);
        define_input(c, &d, input);
        if (term_is_absent(d.position))
            d.amount = lower_amount(c, &d);
        d.input = term_ref(m, ref_now(input));
        if (!term_is_absent(d.back))
            d.back = d.input;
        m->delays.at[k] = d;
    }
    return diag_errors(c->diag) == 0;
}
