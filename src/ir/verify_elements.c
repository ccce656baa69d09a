/* V18 and V19: elements have the parts without which they say nothing, and not more ranges than can be counted. */
#include "ir/verify_checks.h"

enum { MOST_RANGES = 8 };

static void verify_ranges(Verifier *v, DomainId domain, const char *what, Span span)
{
    const uint32_t n = v->model->domains.at[domain.index].n;
    if (n <= MOST_RANGES)
        return;
    REPORT(v, DIAG_MODEL_RANGES, span, "%s has %u ranges, which are more than %d", what, n, MOST_RANGES);
    diag_help(v->diag, "write one loop over two of them: for k in 1:M*N, with i = idiv(k - 1, N) + 1 and "
                       "j = imod(k - 1, N) + 1");
}

static void verify_all_ranges(Verifier *v)
{
    const Model *m = v->model;
    for (uint32_t k = 0; k < m->equations.n; k++)
        verify_ranges(v, m->equations.at[k].domain, "an equation", m->equations.at[k].origin.span);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        verify_ranges(v, m->transitions.at[k].domain, "a transition", m->transitions.at[k].origin.span);
    for (uint32_t k = 0; k < m->assertions.n; k++)
        verify_ranges(v, m->assertions.at[k].domain, "an assertion", m->assertions.at[k].span);
    for (uint32_t k = 0; k < m->connections.n; k++)
        if (m->connections.at[k].is_acausal)
            verify_ranges(v, m->connections.at[k].domain, "a connection", m->connections.at[k].span);
}

static void verify_streams(Verifier *v)
{
    for (uint32_t k = 0; k < v->model->streams.n; k++) {
        const Stream *s = &v->model->streams.at[k];
        if (!var_is_none(s->key))
            continue;
        REPORT(v, DIAG_MODEL_INCOMPLETE, s->span, "a random stream without key, so that nothing can be drawn from it");
        diag_help(v->diag, "declare an Integer parameter, for example k, and write `key k`; draws are random(k, ...)");
    }
}

static void note_choices(const StateSet *s, bool *is_given)
{
    for (uint32_t level = 0, at = 0; level < s->n_levels; level++)
        for (uint32_t k = 0; k < s->n_states[level]; k++, at++)
            if (!var_is_none(s->choice[at]))
                is_given[s->choice[at].index] = true;
}

void verify_along(Verifier *v, const Delay *d)
{
    const bool is_along = !term_is_absent(d->position), turns = !term_is_absent(d->back);
    if (turns != !term_is_absent(d->forward) || var_is_none(d->points) != var_is_none(d->values) ||
        (!is_along && (turns || !var_is_none(d->points))))
        verify_broken(v, d->span, "half of what a delay along a position needs");
    if ((is_along && !type_equal(d->position.shape->type, REAL_TYPE)) ||
        (turns && !type_equal(d->back.shape->type, REAL_TYPE)) ||
        (turns && !term_is_absent(d->forward) && !type_equal(d->forward.shape->type, BOOLEAN_TYPE)))
        verify_broken(v, d->span, "what belongs to a position has the wrong type");
    if (!var_is_none(d->points))
        in_range(v, d->points.index, v->model->variables.n, "points", d->span);
    if (!var_is_none(d->values))
        in_range(v, d->values.index, v->model->variables.n, "values", d->span);
}

/* What is given from outside of the equations: by a component, a delay, a channel, or by what a pass has made. */
static void verify_given(Verifier *v)
{
    const Model *m = v->model;
    bool *is_given = NEW_ARRAY(v->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->foreign_ports.n; k++)
        is_given[m->foreign_ports.at[k].var.index] |= m->foreign_ports.at[k].role == FOREIGN_OUT;
    for (uint32_t k = 0; k < m->delays.n; k++)
        is_given[m->delays.at[k].output.index] = true;
    for (uint32_t k = 0; k < m->fields.n; k++)
        is_given[m->fields.at[k].index] = true;
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        note_choices(&m->state_sets.at[k], is_given);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *var = &m->variables.at[k];
        if (var->definition != DEFINITION_FOREIGN || var->is_generated || !var_is_none(var->origin) || is_given[k])
            continue;
        REPORT(v, DIAG_MODEL_INCOMPLETE, var->span, "%s is foreign, but no component gives it a value",
               verify_variable_text(v, (VarId){ k }));
        diag_help(v->diag, "name it among the outputs (`out`) of a foreign component, or remove the word `foreign`");
    }
}

void verify_elements(Verifier *v)
{
    verify_all_ranges(v);
    verify_streams(v);
    verify_given(v);
}
