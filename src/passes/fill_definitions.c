/* fill-definitions: where a front end left it open, how a variable gets its value: a state if its derivative occurs or
 * a transition reinitialises it as continuous, next if a transition assigns it at commit, given if it is an input, else
 * by an equation. */
#include "base/bug.h"
#include "passes/pipeline.h"

static void note_derivatives(const Model *m, bool *has_derivative)
{
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_DER)
            has_derivative[m->refs.at[k].var.index] = true;
}

static void note_next(const Model *m, bool *is_next)
{
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->effect == EFFECT_NEXT && j < t->n_assignments; j++) {
            const Term target = m->assignments.at[t->first_assignment + j].target;
            is_next[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
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

bool fill_definitions(Compile *c)
{
    Model *m = c->model;
    require_lowered(m);
    bool *has_derivative = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    bool *is_next = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    note_derivatives(m, has_derivative);
    note_next(m, is_next);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (m->variables.at[k].definition == DEFINITION_NONE)
            m->variables.at[k].definition = (uint8_t)definition_of(&m->variables.at[k], has_derivative[k], is_next[k]);
    number_streams(c);
    check_texts(c);
    check_functions(c);
    return diag_errors(c->diag) == 0;
}
