/* V16: what is sent fits the fields of its channel, and only the channel gives these their values. */
#include "ir/verify_checks.h"

enum { MOST_NUMBERS = 1 << 24 }; /* that a channel holds */

static void refuse(Verifier *v, Span span, const char *what, const char *help)
{
    REPORT(v, DIAG_MODEL_CHANNEL, span, "%s", what);
    diag_help(v->diag, "%s", help);
}

static void verify_capacity(Verifier *v, const Channel *c)
{
    if (c->capacity == 0)
        refuse(v, c->span, "a channel that holds no message", "its capacity is at least 1");
    if ((uint64_t)c->capacity * (c->n_fields + 1) > MOST_NUMBERS)
        refuse(v, c->span, "a channel that is too large",
               "the capacity times the number of fields and one is at most 16777216");
}

static void verify_field(Verifier *v, const Channel *c, VarId field, bool *is_field)
{
    const Variable *var = model_var(v->model, field);
    const Definition wanted = var_is_none(c->head) ? DEFINITION_PULSE : DEFINITION_FOREIGN;
    if (var->definition != wanted || var->variability != VARIABILITY_DISCRETE || var->type.rank) {
        REPORT(v, DIAG_MODEL_CHANNEL, c->span, "%s cannot show what a channel offers", verify_variable_text(v, field));
        verify_note_declaration(v, field);
        diag_help(v->diag, "declare it as a discrete pulse without dimensions");
    } else if (is_field[field.index]) {
        REPORT(v, DIAG_MODEL_CHANNEL, c->span, "%s is a field twice", verify_variable_text(v, field));
        diag_help(v->diag, "each field of each channel is a variable of its own");
    }
    is_field[field.index] = true;
}

static void verify_send(Verifier *v, const Action *a)
{
    const Model *m = v->model;
    const Channel *c = &m->channels.at[a->channel];
    if (a->n_args != c->n_fields) {
        REPORT(v, DIAG_MODEL_CHANNEL, a->span, "%u values are sent into a channel of %u fields", a->n_args,
               c->n_fields);
        diag_note(v->diag, c->span, "the channel is declared here");
        diag_help(v->diag, "send one value for each field, in their order");
        return;
    }
    for (uint32_t k = 0; k < a->n_args; k++) {
        const Variable *field = model_var(m, m->fields.at[c->first_field + k]);
        if (type_equal(m->conditions.at[a->first_arg + k].shape->type, field->type))
            continue;
        REPORT(v, DIAG_MODEL_CHANNEL, a->span, "value %u that is sent has another type than the field %s", k + 1,
               verify_variable_text(v, m->fields.at[c->first_field + k]));
        diag_note(v->diag, field->span, "the field is declared here");
        diag_help(v->diag,
                  "real(n) makes a Real of an Integer, number(b) an Integer of a Boolean; 2.0 is a Real, 2 is not");
    }
}

/* A target of an equation, an assignment or a statement. */
static void verify_target(Verifier *v, Term target, Span span, const bool *is_field)
{
    const Ref ref = term_refs(v->model, target)[target.shape->u.leaf];
    if (ref.kind != REF_NOW || !is_field[ref.var.index])
        return;
    REPORT(v, DIAG_MODEL_CHANNEL, span, "%s is a field of a channel and is given here, too",
           verify_variable_text(v, ref.var));
    diag_help(v->diag, "a field shows the message that is up; read it, and assign another variable");
}

/* Equations hold always; what has a clock is executed at its ticks. */
static void verify_no_send(Verifier *v, uint32_t first)
{
    for (uint32_t k = first; k; k = v->model->statements.at[k].next) {
        const Statement *s = &v->model->statements.at[k];
        if (s->kind == STATEMENT_SEND)
            refuse(v, s->span, "a message is sent by an algorithm that holds always",
                   "send it in the procedure of a transition, or in an algorithm of a clock");
        verify_no_send(v, s->inner);
        verify_no_send(v, s->otherwise);
    }
}

void verify_channels(Verifier *v)
{
    const Model *m = v->model;
    if (m->channels.n == 0)
        return;
    bool *is_field = NEW_ARRAY(v->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->channels.n; k++) {
        const Channel *c = &m->channels.at[k];
        verify_capacity(v, c);
        for (uint32_t f = 0; f < c->n_fields; f++)
            verify_field(v, c, m->fields.at[c->first_field + f], is_field);
    }
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION)
            verify_target(v, e->lhs, e->origin.span, is_field);
        if (e->kind == EQUATION_ALGORITHM && !e->clock)
            verify_no_send(v, e->body);
    }
    for (uint32_t k = 0; k < m->assignments.n; k++)
        verify_target(v, m->assignments.at[k].target, m->assignments.at[k].span, is_field);
    for (uint32_t k = 1; k < m->statements.n; k++)
        if (m->statements.at[k].kind == STATEMENT_ASSIGN)
            verify_target(v, m->statements.at[k].target, m->statements.at[k].span, is_field);
    for (uint32_t k = 0; k < m->actions.n; k++)
        if (m->actions.at[k].kind == ACTION_SEND)
            verify_send(v, &m->actions.at[k]);
}
