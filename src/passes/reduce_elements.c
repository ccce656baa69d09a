/* Elements of an array lie side by side, as others read it as a whole; so either all of them are states or none. Where
 * reduce-index wants it otherwise they become copies: the quantities are variables of their own. */
#include "passes/reduce_index.h"

/* An element that is a state, and shall be none, or the other way round. */
static bool is_unlike(const Reduction *r, uint32_t variable, bool is_integrated)
{
    const Model *m = r->model;
    return variable_is_element(m, (VarId){ variable }) &&
           (m->variables.at[variable].definition == DEFINITION_DER) != is_integrated;
}

static bool *find_unlike(const Reduction *r, bool *any)
{
    bool *is_wanted = NEW_ARRAY(r->c->scratch, bool, r->model->variables.n + 1);
    for (uint32_t k = 0; k < r->quantities.n; k++) {
        if (!is_touched(r, k))
            continue;
        for (uint32_t order = 0; order <= r->p.highest[k]; order++) {
            const uint32_t own = variable_of_order(r, k, order);
            if (own == ID_NONE || !is_unlike(r, own, is_state(r, k, order)))
                continue;
            is_wanted[r->model->variables.at[own].origin.index] = true;
            *any = true;
        }
    }
    return is_wanted;
}

/* The quantity that the element stands for from here on. */
static VarId add_quantity(Model *m, VarId element, Arena *scratch)
{
    Names *names = pool_names(m->pool);
    const Variable e = *model_var(m, element);
    const NameId name = names_text(names, arena_format(scratch, "$%s", names_of(names, e.name)));
    const VarId made = model_add_variable(m, e.owner, name, e.type, e.span);
    Variable *row = model_var(m, made);
    *row = e;
    row->name = name;
    row->is_protected = row->is_generated = false; /* a run that starts from a result needs it */
    row->causality = CAUSALITY_LOCAL;
    row->origin = VAR_NONE;
    Variable *copy = model_var(m, element);
    copy->definition = DEFINITION_NOW;
    copy->select = SELECT_DEFAULT;
    copy->is_fixed = copy->is_torn = false;
    return made;
}

bool copy_elements(Reduction *r)
{
    Model *m = r->model;
    const uint32_t n = m->variables.n, n_refs = m->refs.n;
    bool any = false;
    const bool *is_wanted = find_unlike(r, &any);
    if (!any)
        return false;
    VarId *quantity = NEW_ARRAY(r->c->scratch, VarId, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const VarId element = { k };
        const bool is_copy = variable_is_element(m, element) && is_wanted[m->variables.at[k].origin.index];
        quantity[k] = is_copy ? add_quantity(m, element, r->c->scratch) : VAR_NONE;
    }
    for (uint32_t k = 0; k < n_refs; k++) {
        Ref *ref = &m->refs.at[k];
        if (ref->var.index < n && !var_is_none(quantity[ref->var.index]))
            ref->var = quantity[ref->var.index];
    }
    for (uint32_t k = 0; k < n; k++) {
        if (var_is_none(quantity[k]))
            continue;
        const Variable v = m->variables.at[k];
        const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now((VarId){ k })),
                                          term_ref(m, ref_now(quantity[k])), v.span);
        m->equations.at[e.index].owner = v.owner;
        m->equations.at[e.index].origin.made_by = "reduce-index";
    }
    return true;
}
