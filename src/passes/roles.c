#include "passes/roles.h"
#include <string.h>

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

/* ---- advice in the words of the connector ---- */
typedef enum { DOMAIN_ANY, DOMAIN_ELECTRICAL, DOMAIN_MECHANICAL, DOMAIN_THERMAL, DOMAIN_FLUID, DOMAINS } PhysicalDomain;

/* What the flows of cuts are called, by convention: i, Q, q; t, f, F, M. */
static PhysicalDomain domain_of_flow(const char *name)
{
    switch (name[0]) {
    case 'i':
    case 'I': return DOMAIN_ELECTRICAL;
    case 'Q': return DOMAIN_THERMAL;
    case 'q': return DOMAIN_FLUID;
    case 't':
    case 'f':
    case 'F':
    case 'M': return DOMAIN_MECHANICAL;
    default: return DOMAIN_ANY;
    }
}

/* ... and the potentials, where the flow is used from outside. */
static PhysicalDomain domain_of_potential(const char *name)
{
    switch (name[0]) {
    case 'V':
    case 'U': return DOMAIN_ELECTRICAL;
    case 'T': return DOMAIN_THERMAL;
    case 'p': return strncmp(name, "phi", 3) == 0 ? DOMAIN_MECHANICAL : DOMAIN_FLUID;
    case 'w':
    case 'q':
    case 'x':
    case 'v':
    case 's': return DOMAIN_MECHANICAL;
    default: return DOMAIN_ANY;
    }
}

static PhysicalDomain domain_of_port(const Model *m, const Port *port)
{
    PhysicalDomain domain = DOMAIN_ANY;
    for (uint32_t k = port->n_members; k-- > 0 && domain == DOMAIN_ANY;) { /* flows come last */
        const PortMember *member = &m->members.at[port->first_member + k];
        if (var_is_none(member->var))
            continue;
        const char *name = names_of(pool_names(m->pool), model_var(m, member->var)->name);
        domain = member->role == ROLE_FLOW ? domain_of_flow(name) : domain_of_potential(name);
    }
    return domain;
}

/* That of the ports which the unknowns stand in; ANY if they differ. */
static PhysicalDomain domain_of(const Compile *c, const Ref *unknowns, uint32_t n)
{
    const Model *m = c->model;
    PhysicalDomain domain = DOMAIN_ANY;
    bool *is_unknown = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < n; k++)
        is_unknown[unknowns[k].var.index] = true;
    for (uint32_t k = 0; k < m->ports.n; k++)
        for (uint32_t j = 0; j < m->ports.at[k].n_members; j++) {
            const VarId var = m->members.at[m->ports.at[k].first_member + j].var;
            if (var_is_none(var))
                continue;
            const VarId alias = model_var(m, var)->alias;
            const PhysicalDomain own = domain_of_port(m, &m->ports.at[k]);
            if (!is_unknown[var_is_none(alias) ? var.index : alias.index] || own == DOMAIN_ANY)
                continue;
            if (domain != DOMAIN_ANY && domain != own)
                return DOMAIN_ANY;
            domain = own;
        }
    return domain;
}

const char *advice_for_undetermined(const Compile *c, const Ref *unknowns, uint32_t n)
{
    static const char *const potentials[DOMAINS] = {
        [DOMAIN_ANY] =
            "potentials have a value only against a reference: connect one of them to it, or give it a value",
        [DOMAIN_ELECTRICAL] =
            "potentials have a value only against a reference: connect one of them to it, in a circuit to a Ground; "
            "between two current sources in series a way for the difference is missing",
        [DOMAIN_MECHANICAL] =
            "positions and speeds have a value only against a reference: fix one of them, or connect it "
            "to something that does not move",
        [DOMAIN_THERMAL] =
            "temperatures have a value only against a reference: connect one of them to a given temperature "
            "or to a heat capacity",
        [DOMAIN_FLUID] =
            "pressures have a value only against a reference: connect one of them to a given pressure or to a "
            "tank",
    };
    static const char *const flows[DOMAINS] = {
        [DOMAIN_ANY] = "nothing says how flows divide between ideal connections: give one of them a resistance",
        [DOMAIN_ELECTRICAL] =
            "nothing says how flows divide between ideal connections, as voltage sources in parallel: "
            "give one of them a resistance",
        [DOMAIN_MECHANICAL] =
            "nothing says how forces and torques divide between rigid connections: give one of them an "
            "elasticity, or write the missing balance of forces or torques",
        [DOMAIN_THERMAL] = "nothing says how heat divides between ideal connections: give one of them a conductance",
        [DOMAIN_FLUID] = "nothing says how the stream divides between ideal connections: give one of them a resistance",
    };
    const Roles roles = count_roles(c, unknowns, n);
    const PhysicalDomain domain = domain_of(c, unknowns, n);
    if (roles.potentials && !roles.flows)
        return potentials[domain];
    if (roles.flows && !roles.potentials)
        return flows[domain];
    return "add an equation for one of these unknowns, or give one of them a value";
}

const char *advice_for_overdetermined(const Compile *c, const Ref *unknowns, uint32_t n)
{
    static const char *const potentials[DOMAINS] = {
        [DOMAIN_ANY] = "the difference of two potentials is given twice: remove one of these equations",
        [DOMAIN_ELECTRICAL] =
            "the difference of two potentials is given twice, as by voltage sources in parallel, or a "
            "source between two Grounds: remove one, or put a resistance in series",
        [DOMAIN_MECHANICAL] =
            "a motion is given twice, as by two drives on one shaft: remove one, or put a spring between "
            "them",
        [DOMAIN_THERMAL] = "a temperature is given twice: remove one, or put a conductance between them",
        [DOMAIN_FLUID] = "a pressure is given twice: remove one, or put a resistance between them",
    };
    static const char *const flows[DOMAINS] = {
        [DOMAIN_ANY] = "a flow is given twice: remove one, or give the difference another way",
        [DOMAIN_ELECTRICAL] =
            "a flow is given twice, as by current sources in series: remove one, or give the difference another way",
        [DOMAIN_MECHANICAL] = "a force or torque is given twice: remove one, or let a mass be between them",
        [DOMAIN_THERMAL] = "a heat flow is given twice: remove one, or let a heat capacity be between them",
        [DOMAIN_FLUID] = "a stream is given twice: remove one, or let a tank be between them",
    };
    const Roles roles = count_roles(c, unknowns, n);
    const PhysicalDomain domain = domain_of(c, unknowns, n);
    if (roles.potentials && !roles.flows)
        return potentials[domain];
    if (roles.flows && !roles.potentials)
        return flows[domain];
    return "remove one of these equations, or make one of their known quantities unknown";
}

static bool is_same_term(const Model *m, Term a, Term b)
{
    if (a.shape != b.shape)
        return false;
    for (uint32_t k = 0; a.shape && k < a.shape->n_leaves; k++)
        if (!ref_equal(term_refs(m, a)[k], term_refs(m, b)[k]))
            return false;
    return true;
}

bool find_equal_equations(const Model *m, const uint32_t *equations, uint32_t n, uint32_t *first, uint32_t *second)
{
    enum { MOST = 2000 }; /* each is compared with each */
    for (uint32_t k = 1; k < n && n <= MOST; k++)
        for (uint32_t j = 0; j < k; j++) {
            const Equation *a = &m->equations.at[equations[j]], *b = &m->equations.at[equations[k]];
            const bool is_later = a->origin.span.begin < b->origin.span.begin;
            if ((!is_same_term(m, a->lhs, b->lhs) || !is_same_term(m, a->rhs, b->rhs)) &&
                (!is_same_term(m, a->lhs, b->rhs) || !is_same_term(m, a->rhs, b->lhs)))
                continue;
            *first = equations[is_later ? j : k];
            *second = equations[is_later ? k : j];
            return true;
        }
    return false;
}

const Region *region_of(const Model *m, VarId selector)
{
    uint32_t lo = 0, hi = m->regions.n; /* selectors ascend */
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (m->regions.at[middle].selector.index < selector.index)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < m->regions.n && m->regions.at[lo].selector.index == selector.index ? &m->regions.at[lo] : NULL;
}

const Relation *relation_of(const Model *m, VarId bit)
{
    uint32_t lo = 0, hi = m->relations.n; /* bits ascend */
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (m->relations.at[middle].bit.index < bit.index)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < m->relations.n && m->relations.at[lo].bit.index == bit.index ? &m->relations.at[lo] : NULL;
}
