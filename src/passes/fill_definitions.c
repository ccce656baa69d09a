/* fill-definitions: where a front end left it open, how a variable gets its value: a state if its derivative occurs or
 * a transition reinitialises it as continuous, next if a transition assigns it at commit, given if it is an input, else
 * by an equation. Where that depends on what is in structural regions, decide-regions asks once more. */
#include "base/bug.h"
#include "ir/walk.h"
#include "passes/structural.h"

typedef struct {
    const Model *m;
    bool *has_derivative, *is_next; /* per variable */
    bool only_sure;                 /* without what is in structural regions */
} Uses;

static bool is_in_structural(const Model *m, RegionId region)
{
    for (; region.index != ID_NONE; region = m->regions.at[region.index].parent)
        if (m->regions.at[region.index].kind == REGION_STRUCTURAL)
            return true;
    return false;
}

static RegionId region_of(const Model *m, const TermPlace *place)
{
    return place->element == LIST_EQUATIONS     ? m->equations.at[place->index].region
           : place->element == LIST_TRANSITIONS ? m->transitions.at[place->index].region
                                                : REGION_NONE;
}

static void note_derivatives(void *context, Term term, const TermPlace *place)
{
    const Uses *u = context;
    bool any = false;
    for (uint32_t k = 0; k < term.shape->n_leaves && !any; k++)
        any = term_refs(u->m, term)[k].kind == REF_DER;
    if (!any || (u->only_sure && is_in_structural(u->m, region_of(u->m, place))))
        return;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (term_refs(u->m, term)[k].kind == REF_DER)
            u->has_derivative[term_refs(u->m, term)[k].var.index] = true;
}

static void note_next(const Uses *u)
{
    const Model *m = u->m;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        if (u->only_sure && is_in_structural(m, t->region))
            continue;
        for (uint32_t j = 0; t->effect == EFFECT_NEXT && j < t->n_assignments; j++) {
            const Term target = m->assignments.at[t->first_assignment + j].target;
            u->is_next[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
        }
    }
}

static Definition definition_of(const Variable *v, bool has_derivative, bool is_next)
{
    if (v->variability <= VARIABILITY_PARAMETER)
        return DEFINITION_BINDING;
    if (has_derivative)
        return DEFINITION_DER;
    if (is_next)
        return v->variability == VARIABILITY_CONTINUOUS ? DEFINITION_DER : DEFINITION_NEXT;
    return v->causality == CAUSALITY_INPUT ? DEFINITION_INPUT : DEFINITION_NOW;
}

/* What the passes before have said by other elements. */
static void require_lowered(const Model *m)
{
    for (uint32_t k = 0; k < m->equations.n; k++)
        REQUIRE(m->equations.at[k].kind != EQUATION_ALGORITHM);
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        REQUIRE(t->form == FORM_SET && t->trigger != TRIGGER_TICK && t->trigger != TRIGGER_TERMINAL &&
                t->trigger != TRIGGER_ENTRY);
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        REQUIRE(m->variables.at[k].definition != DEFINITION_CLOCKED);
}

typedef enum { USES_ALL, USES_LEFT, USES_SURE } UsesKind;

/* ALL: of every term that was ever made; LEFT: that is there; SURE: whatever structural regions choose. */
static Uses find_uses(Compile *c, UsesKind kind)
{
    Model *m = c->model;
    Uses u = { .m = m,
               .has_derivative = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
               .is_next = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
               .only_sure = kind == USES_SURE };
    if (kind != USES_ALL)
        model_visit_terms(m, ELEMENTS_ALL, note_derivatives, &u);
    for (uint32_t k = 0; kind == USES_ALL && k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_DER)
            u.has_derivative[m->refs.at[k].var.index] = true;
    note_next(&u);
    return u;
}

static void fill_open(Model *m, const Uses *u, const Uses *may)
{
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        const bool is_sure = u->has_derivative[k] == may->has_derivative[k] && u->is_next[k] == may->is_next[k];
        if (v->definition == DEFINITION_NONE && is_sure)
            v->definition = (uint8_t)definition_of(v, u->has_derivative[k], u->is_next[k]);
    }
}

void decide_definitions(Compile *c)
{
    const Uses left = find_uses(c, USES_LEFT);
    fill_open(c->model, &left, &left);
}

bool fill_definitions(Compile *c)
{
    const Model *m = c->model;
    bool any = false;
    require_lowered(m);
    for (uint32_t k = 0; k < m->regions.n && !any; k++)
        any = m->regions.at[k].kind == REGION_STRUCTURAL;
    const Uses all = find_uses(c, USES_ALL), sure = any ? find_uses(c, USES_SURE) : all;
    fill_open(c->model, &sure, &all);
    number_streams(c);
    check_texts(c);
    check_functions(c);
    return diag_errors(c->diag) == 0;
}
