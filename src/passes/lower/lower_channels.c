/* lower-channels: the machine keeps the messages of a channel and shows the one that is up in the fields; the
 * transitions of its messages fire while one is up.
 *
 * What the machine writes are the fields and the number of the message that is up, 0 if none is. The transitions stay
 * those of messages, because the machine has to know which message was taken; they have one condition each, and fire in
 * every step in which it holds. A message of a channel that keeps them stays up until one of them fires: then what they
 * ask beside it may change, so comparisons in it are events. */
#include "passes/pipeline.h"

static VarId add_head(Model *m, const Channel *c, uint32_t number)
{
    const VarId head = model_add_generated(m, "message", number + 1, INTEGER_TYPE, c->span);
    model_var(m, head)->definition = DEFINITION_FOREIGN;
    return head;
}

static void lower_channel(Model *m, uint32_t number)
{
    const Channel c = m->channels.at[number];
    for (uint32_t k = 0; k < c.n_fields; k++)
        model_var(m, m->fields.at[c.first_field + k])->definition = DEFINITION_FOREIGN;
    const VarId head = add_head(m, &c, number);
    m->channels.at[number].head = head;
}

/* A message is up, and all the conditions of the transition hold. */
static void lower_transition(Model *m, Transition *t)
{
    const Channel *c = &m->channels.at[t->object];
    TermBuilder builder = term_builder(m);
    const Expr *head = term_leaf(&builder, ref_now(c->head));
    const Expr *condition = expr_binary(m->pool, OP_NE, head, expr_integer(m->pool, 0));
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        const Expr *guard = term_import(&builder, m->conditions.at[t->first_condition + k]);
        condition = expr_binary(m->pool, OP_AND, condition, c->keep ? guard : expr_no_event(m->pool, guard));
    }
    const Term term = term_finish(&builder, condition);
    t->first_condition = model_add_terms(m, 1, &term);
    t->n_conditions = 1;
}

bool lower_channels(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->channels.n; k++)
        lower_channel(m, k);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (m->transitions.at[k].trigger == TRIGGER_MESSAGE)
            lower_transition(m, &m->transitions.at[k]);
    return true;
}
