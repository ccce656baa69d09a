/* decide-regions: the conditions of structural regions are known before the run; what stands in the branches that are
 * not chosen goes, what stands in the chosen one stands where the region stood. */
#include "ir/walk.h"
#include "passes/structural.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t *chosen; /* per structural region: the branch from 1, 0: none */
} Deciding;

static bool is_structural(const Model *m, uint32_t region)
{
    return m->regions.at[region].kind == REGION_STRUCTURAL;
}

static bool decide(Deciding *d, uint32_t region)
{
    const Region *r = &d->model->regions.at[region];
    for (uint32_t k = 0; k < r->n_conditions; k++) {
        Value value;
        if (!structural_value(d->c, d->model->conditions.at[r->first_condition + k], &value)) {
            diag_error(d->c->diag, DIAG_STRUCTURE, r->span,
                       "condition %u of a structural region is not known before the run", k + 1);
            diag_help(d->c->diag, "use constants and parameters with values, or make the region causal or acausal");
            return false;
        }
        if (value.i) {
            d->chosen[region] = k + 1;
            return true;
        }
    }
    d->chosen[region] = r->has_else ? r->n_conditions + 1 : 0;
    return true;
}

/* Where the element stands when structural regions are gone; false: it goes. */
static bool lift(const Deciding *d, RegionId *region, uint16_t *branch)
{
    const Model *m = d->model;
    RegionId above = *region;
    uint16_t in = *branch;
    bool is_lifting = true;
    while (above.index != ID_NONE) {
        const Region *r = &m->regions.at[above.index];
        if (is_structural(m, above.index) && d->chosen[above.index] != in)
            return false;
        is_lifting = is_lifting && is_structural(m, above.index);
        above = r->parent;
        in = r->parent_branch;
        if (is_lifting) {
            *region = above;
            *branch = in;
        }
    }
    return true;
}

/* It stays where others name it, and does nothing. */
static void silence(Model *m, Transition *t)
{
    const Term never = term_boolean(m, false);
    t->trigger = TRIGGER_EDGE;
    t->edge_start = EDGE_START_CURRENT;
    t->form = FORM_SET;
    t->first_condition = model_add_terms(m, 1, &never);
    t->n_conditions = 1;
    t->n_assignments = t->n_actions = t->body = t->object = 0;
    t->region = REGION_NONE;
    t->branch = 0;
}

static void move_elements(Deciding *d)
{
    Model *m = d->model;
    for (uint32_t k = 0; k < m->equations.n; k++)
        if (!lift(d, &m->equations.at[k].region, &m->equations.at[k].branch)) {
            m->equations.at[k].kind = EQUATION_DROPPED;
            m->equations.at[k].region = REGION_NONE;
        }
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        Transition t = m->transitions.at[k];
        if (!lift(d, &t.region, &t.branch))
            silence(m, &t);
        m->transitions.at[k] = t;
    }
}

/* The others close ranks. */
static void drop_regions(Deciding *d)
{
    Model *m = d->model;
    uint32_t *to = NEW_ARRAY(d->c->scratch, uint32_t, m->regions.n), n = 0;
    bool *goes = NEW_ARRAY(d->c->scratch, bool, m->regions.n);
    for (uint32_t k = 0; k < m->regions.n; k++) {
        Region *r = &m->regions.at[k];
        RegionId parent = r->parent;
        uint16_t branch = r->parent_branch;
        goes[k] = is_structural(m, k) || !lift(d, &parent, &branch);
        to[k] = goes[k] ? ID_NONE : n++;
    }
    for (uint32_t k = 0; k < m->regions.n; k++)
        if (!goes[k])
            lift(d, &m->regions.at[k].parent, &m->regions.at[k].parent_branch);
    model_renumber(m, LIST_REGIONS, to);
    n = 0;
    for (uint32_t k = 0; k < m->regions.n; k++)
        if (!goes[k])
            m->regions.at[n++] = m->regions.at[k];
    m->regions.n = n;
}

bool decide_regions(Compile *c)
{
    Model *m = c->model;
    bool any = false, is_good = true;
    for (uint32_t k = 0; k < m->regions.n; k++)
        any |= is_structural(m, k);
    if (!any)
        return true;
    Deciding d = { .c = c, .model = m, .chosen = NEW_ARRAY(c->scratch, uint32_t, m->regions.n) };
    for (uint32_t k = 0; k < m->regions.n; k++)
        if (is_structural(m, k))
            is_good &= decide(&d, k);
    if (!is_good)
        return false;
    move_elements(&d);
    drop_regions(&d);
    decide_definitions(c);
    return true;
}
