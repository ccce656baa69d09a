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

/* Nothing but an event where time - amount leaves the piece. */
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
        const Expr *then =
            expr_binary(m->pool, OP_SUB, term_leaf(&builder, ref_time()), term_leaf(&builder, ref_now(amount)));
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
    const VarId amount = add_variable(c, d, "amount", VARIABILITY_CONTINUOUS, d->amount.shape->type);
    model_var(m, amount)->definition = DEFINITION_NOW;
    const Term lhs = term_ref(m, ref_now(amount));
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, lhs, d->amount, d->span);
    m->equations.at[e.index].owner = d->owner;
    m->equations.at[e.index].origin.made_by = "lower-delays";
    d->max = parameter_of(c, d, "max", d->max);
    d->since = add_border(c, d, "since");
    d->until = add_border(c, d, "until");
    watch_borders(c, d, amount);
    return lhs;
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
        define_input(c, &d, input);
        d.amount = lower_amount(c, &d);
        d.input = term_ref(m, ref_now(input));
        m->delays.at[k] = d;
    }
    return diag_errors(c->diag) == 0;
}
