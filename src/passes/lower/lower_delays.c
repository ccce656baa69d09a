/* lower-delays: the input of a delay becomes an equation, its amount a parameter; its output is given from outside of
 * the equations, like an input: it depends on nothing of the same instant, so that no loop leads through it. An array
 * is delayed element by element. */
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

bool lower_delays(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->delays.n; k++) {
        const Delay d = m->delays.at[k];
        const Variable y = *model_var(m, d.output);
        const VarId input = add_variable(c, &d, "input", y.variability, y.type);
        const VarId amount = add_variable(c, &d, "amount", VARIABILITY_PARAMETER, d.amount.shape->type);
        model_var(m, input)->definition = DEFINITION_NOW;
        model_var(m, amount)->definition = DEFINITION_BINDING;
        model_var(m, amount)->binding = d.amount;
        model_var(m, d.output)->definition = DEFINITION_FOREIGN;
        define_input(c, &d, input);
        const Term input_term = term_ref(m, ref_now(input)), amount_term = term_ref(m, ref_now(amount));
        m->delays.at[k].input = input_term;
        m->delays.at[k].amount = amount_term;
    }
    return true;
}
