/* lower-terminal: a transition of the end is an edge of `terminal`, which becomes true when the run has come to its
 * end. */
#include "passes/pipeline.h"

static void lower(Model *m, uint32_t transition)
{
    Transition t = m->transitions.at[transition];
    TermBuilder builder = term_builder(m);
    const Expr *fires = term_leaf(&builder, (Ref){ VAR_NONE, REF_TERMINAL });
    for (uint32_t k = 0; k < t.n_conditions; k++)
        fires = expr_binary(m->pool, OP_AND, fires,
                            expr_no_event(m->pool, term_import(&builder, m->conditions.at[t.first_condition + k])));
    const Term condition = term_finish(&builder, fires);
    t.first_condition = model_add_terms(m, 1, &condition);
    t.n_conditions = 1;
    t.trigger = TRIGGER_EDGE;
    t.edge_start = EDGE_START_FALSE;
    m->transitions.at[transition] = t;
}

bool lower_terminal(Compile *c)
{
    for (uint32_t k = 0; k < c->model->transitions.n; k++)
        if (c->model->transitions.at[k].trigger == TRIGGER_TERMINAL)
            lower(c->model, k);
    return true;
}
