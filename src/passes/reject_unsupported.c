/* reject-unsupported: the Model can say more than this version executes; what it cannot is refused by name. */
#include "ir/element.h"
#include "ir/routine.h"
#include "passes/pipeline.h"

static void refuse(Compile *c, Span span, const char *what)
{
    diag_error(c->diag, DIAG_NOT_YET, span, "%s cannot be executed yet", what);
}

static void check_equations(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_ALGORITHM)
            refuse(c, e->origin.span, "an algorithm");
        if (m->domains.at[e->domain.index].n > ELEMENT_LEVELS)
            refuse(c, e->origin.span, "an equation over more than eight ranges");
    }
}

static void check_transitions(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        if (t->trigger != TRIGGER_LEVEL && t->trigger != TRIGGER_EDGE && t->trigger != TRIGGER_INITIAL &&
            t->trigger != TRIGGER_STEP && t->trigger != TRIGGER_MESSAGE)
            refuse(c, t->origin.span, "a clocked transition");
        if (t->form == FORM_PROCEDURE)
            refuse(c, t->origin.span, "a procedure in a transition");
        if (m->domains.at[t->domain.index].n > ELEMENT_LEVELS)
            refuse(c, t->origin.span, "a transition over more than eight ranges");
    }
}

static void check_delays(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->delays.n; k++) {
        const Delay *d = &m->delays.at[k];
        if (model_var(m, d->output)->type.kind == TYPE_STRING)
            refuse(c, d->span, "a delay of a text");
    }
}

static void check_function(Compile *c, const Function *f)
{
    Span where;
    const char *obstacle = function_obstacle(f, &where);
    if (obstacle)
        diag_error(c->diag, DIAG_FUNCTION_FORM, where, "function %s cannot be executed: it has %s",
                   names_of(pool_names(c->model->pool), f->name), obstacle);
}

static bool is_field(const Model *m, uint32_t variable)
{
    bool found = false;
    for (uint32_t k = 0; k < m->fields.n && !found; k++)
        found = m->fields.at[k].index == variable;
    return found;
}

/* By a foreign component. */
static bool is_given(const Model *m, uint32_t var)
{
    for (uint32_t k = 0; k < m->foreign_ports.n; k++)
        if (m->foreign_ports.at[k].role == FOREIGN_OUT && m->foreign_ports.at[k].var.index == var)
            return true;
    return false;
}

bool reject_unsupported(Compile *c)
{
    const Model *m = c->model;
    check_equations(c);
    check_transitions(c);
    check_delays(c);
    for (uint32_t k = 0; k < m->streams.n; k++)
        if (var_is_none(m->streams.at[k].key))
            refuse(c, m->streams.at[k].span, "a random stream without key");
    for (uint32_t k = 0; k < m->functions.n; k++)
        check_function(c, m->functions.at[k]);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (m->variables.at[k].definition == DEFINITION_CLOCKED ||
            (m->variables.at[k].definition == DEFINITION_FOREIGN && !m->variables.at[k].is_generated &&
             !is_field(m, k) && !is_given(m, k)))
            refuse(c, m->variables.at[k].span, "a variable of this kind");
    return diag_errors(c->diag) == 0;
}
