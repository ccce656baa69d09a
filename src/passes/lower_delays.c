/* lower-delays: the input of a delay becomes an equation, its amount a parameter; its output is given from outside of
 * the equations, like an input: it depends on nothing of the same instant, so that no loop leads through it. */
#include "passes/pipeline.h"

static VarId add_variable(Compile *c, const Delay *d, const char *what, uint8_t variability)
{
    Model *m = c->model;
    const char *of = names_of(pool_names(m->pool), model_var(m, d->output)->name);
    const NameId name = names_text(pool_names(m->pool), arena_format(m->arena, "$%s.%s", what, of));
    const VarId id = model_add_variable(m, d->owner, name, REAL_TYPE, d->span);
    Variable *v = model_var(m, id);
    v->variability = variability;
    v->is_generated = true;
    return id;
}

bool lower_delays(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->delays.n; k++) {
        Delay *d = &m->delays.at[k];
        const VarId input = add_variable(c, d, "input", model_var(m, d->output)->variability);
        const VarId amount = add_variable(c, d, "amount", VARIABILITY_PARAMETER);
        model_var(m, input)->definition = DEFINITION_NOW;
        model_var(m, amount)->definition = DEFINITION_BINDING;
        model_var(m, amount)->binding = d->amount;
        model_var(m, d->output)->definition = DEFINITION_FOREIGN;
        const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(input)), d->input, d->span);
        m->equations.at[e.index].owner = d->owner;
        m->equations.at[e.index].origin.made_by = "lower-delays";
        d->input = term_ref(m, ref_now(input));
        d->amount = term_ref(m, ref_now(amount));
    }
    return true;
}
