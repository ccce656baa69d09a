/* States that an event stops where the domain of the model ends: at the end of a table, at the root of 0. */
#include "relation.h"

static const double SMALL = 1e-3;           /* values below count as this one: 0 has no relative error */
static const double LEAST_TOLERANCE = 1e-6; /* crossings are located with their own accuracy, whatever the solver's */

/* Does everything that moves have a value here? */
static bool has_values(Machine *m)
{
    const KoineProgram *p = m->program;
    if (koine_run_part(m, &p->parts.derivatives) != KOINE_OK || koine_run_part(m, &p->parts.outputs) != KOINE_OK)
        return false;
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        if (!isfinite(m->slots[p->slots.dx + j].r))
            return false;
    for (uint32_t j = 0; j < p->parts.finite.n; j++)
        if (!isfinite(m->slots[p->parts.finite.at[2 * j]].r))
            return false;
    return true;
}

/* Does some table end at a border that was crossed? */
static bool leaves_a_table(const Machine *m, const uint8_t *crossed)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        const uint32_t owner = p->events.decisions.root_owner[j];
        if (!crossed[j] || owner < p->events.decisions.n_relations)
            continue;
        const KoineStep *s = &p->events.decisions.steps[owner - p->events.decisions.n_relations];
        const int64_t next = m->slots[s->value].i + (j == s->decision.root ? -1 : 1);
        if (s->op == KOINE_STEP_INTERVAL && (next <= 0 || next >= (int64_t)s->table[0]))
            return true;
    }
    return false;
}

bool koine_is_inside(const Machine *m, const KoineStep *s)
{
    run_kernel(m, s->decision.kernel, s->decision.row, 1);
    const double argument = m->slots[s->argument].r;
    const Interval now = interval_of(s, (double)m->slots[s->value].i);
    return s->op == KOINE_STEP_INTERVAL && (argument > now.lo || (now.lo_in && argument == now.lo)) &&
           (argument < now.hi || (now.hi_in && argument == now.hi));
}

/* The place of a crossing is known as well as the solver knows it. A state that has come to a border beyond which
 * the model has no value (the end of a table, the root of a level) may lie there by that much: it is put on its
 * border. */
void koine_put_on_borders(Machine *m, const uint8_t *crossed)
{
    const KoineProgram *p = m->program;
    const double tolerance = m->model->host ? fmax(m->model->host->tolerance, LEAST_TOLERANCE) : LEAST_TOLERANCE;
    bool is_known_bad = false;
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        const uint32_t owner = p->events.decisions.root_owner[j];
        if (!crossed[j] || owner >= p->events.decisions.n_relations ||
            p->events.decisions.relations[owner].state == KOINE_NONE)
            continue;
        if (!is_known_bad && !leaves_a_table(m, crossed) && has_values(m))
            return;
        is_known_bad = true;
        const KoineRelation *r = &p->events.decisions.relations[owner];
        double *state = &m->slots[r->state].r;
        run_kernel(m, r->decision.kernel, r->decision.row, 1);
        const double other = m->slots[r->left].r == *state ? m->slots[r->right].r : m->slots[r->left].r;
        if (fabs(*state - other) > tolerance * (SMALL + fabs(other)))
            continue;
        *state = other;
        m->instant->result.has_states = m->instant->result.is_restart = m->instant->result.is_changed = 1;
    }
    m->model->fault.text[0] = 0;
}
