#include "passes/roles.h"

typedef struct {
    uint32_t potentials, flows; /* unknowns that are such, or hold the value of one */
} Roles;

static Roles count_roles(const Compile *c, const Ref *unknowns, uint32_t n)
{
    const Model *m = c->model;
    bool *is_potential = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
         *is_flow = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->members.n; k++) {
        const PortMember *member = &m->members.at[k];
        if (var_is_none(member->var))
            continue;
        const VarId alias = model_var(m, member->var)->alias, holder = var_is_none(alias) ? member->var : alias;
        if (member->role == ROLE_POTENTIAL)
            is_potential[holder.index] = true;
        else if (member->role == ROLE_FLOW)
            is_flow[holder.index] = true;
    }
    Roles roles = { 0 };
    for (uint32_t k = 0; k < n; k++) {
        roles.potentials += is_potential[unknowns[k].var.index] && !is_flow[unknowns[k].var.index];
        roles.flows += is_flow[unknowns[k].var.index];
    }
    return roles;
}

bool are_flows(const Compile *c, const Ref *unknowns, uint32_t n)
{
    return count_roles(c, unknowns, n).flows == n;
}

void note_equation(const Compile *c, uint32_t equation, const char *what)
{
    const Equation *e = &c->model->equations.at[equation];
    const char *path = instance_path(c->model, e->owner, c->scratch);
    if (path && *path)
        diag_note(c->diag, e->origin.span, "this equation of '%s' %s", path, what);
    else
        diag_note(c->diag, e->origin.span, "this equation %s", what);
}

void blame_equation(const Compile *c, uint32_t equation)
{
    const Equation *e = &c->model->equations.at[equation];
    const bool has_text = !term_is_absent(e->lhs) && !term_is_absent(e->rhs);
    diag_equation(c->diag, e->origin.span,
                  has_text ? arena_format(c->scratch, "%s = %s", term_text(c->model, e->lhs, c->scratch),
                                          term_text(c->model, e->rhs, c->scratch))
                           : "");
}

void blame_unknown(const Compile *c, Ref unknown)
{
    const char *path = variable_path(c->model, unknown.var, c->scratch);
    diag_variable(c->diag, model_var(c->model, unknown.var)->span,
                  unknown.kind == REF_DER ? arena_format(c->scratch, "der(%s)", path) : path);
}

const char *advice_for_undetermined(const Compile *c, const Ref *unknowns, uint32_t n)
{
    const Roles roles = count_roles(c, unknowns, n);
    if (roles.potentials && !roles.flows)
        return "potentials have a value only against a reference: connect one of them to it, in a circuit to a Ground; "
               "between two current sources in series a way for the difference is missing";
    if (roles.flows && !roles.potentials)
        return "nothing says how flows divide between ideal connections, as voltage sources in parallel: give one of "
               "them a resistance";
    return "add an equation for one of these unknowns, or give one of them a value";
}

const char *advice_for_overdetermined(const Compile *c, const Ref *unknowns, uint32_t n)
{
    const Roles roles = count_roles(c, unknowns, n);
    if (roles.potentials && !roles.flows)
        return "the difference of two potentials is given twice, as by voltage sources in parallel, or a source "
               "between two "
               "Grounds: remove one, or put a resistance in series";
    if (roles.flows && !roles.potentials)
        return "a flow is given twice, as by current sources in series: remove one, or give the difference another way";
    return "remove one of these equations, or make one of their known quantities unknown";
}
