/* Root functions and their bands (S5): positive while a relation or step function keeps its value. */
#include "relation.h"
#include <float.h>

static double relation_margin(const Machine *m, const KoineRelation *r) /* s*g: positive inside the present side */
{
    const double g = m->slots[r->left].r - m->slots[r->right].r;
    return m->slots[r->bit].i ? g : -g;
}

static inline double margin_of(const Machine *m, uint32_t root, double *exact, double *band)
{
    const KoineProgram *p = m->program;
    const uint32_t owner = p->events.decisions.root_owner[root];
    if (owner < p->events.decisions.n_relations) {
        const KoineRelation *r = &p->events.decisions.relations[owner];
        *exact = m->slots[r->bit].i == !r->is_strict ? TINY : 0; /* g = 0 belongs to the present side */
        *band = band_of(r->decision.band, m->slots[r->left].r, m->slots[r->right].r);
        const double margin = relation_margin(m, r);
        return is_masked(m, &r->decision) || (r->decision.is_guarded && isnan(margin)) ? INFINITY : margin;
    }
    const KoineStep *s = &p->events.decisions.steps[owner - p->events.decisions.n_relations];
    const double argument = m->slots[s->argument].r;
    const Interval now = interval_of(s, (double)m->slots[s->value].i);
    const bool is_low = root == s->decision.root;
    *exact = (is_low ? now.lo_in : now.hi_in) ? TINY : 0;
    *band = band_of(s->decision.band, argument, is_low ? now.lo : now.hi);
    if (is_masked(m, &s->decision) || (s->decision.is_guarded && isnan(argument)))
        return INFINITY;
    return is_low ? argument - now.lo : now.hi - argument;
}

KoineStatus koine_root_functions(Machine *m, double *roots)
{
    bool is_good = true;
    for (uint32_t j = 0; j < m->program->events.decisions.n_roots; j++) {
        double exact, band;
        const double margin = margin_of(m, j, &exact, &band);
        roots[j] = margin == INFINITY ? 1 : margin + (m->bands.widened[j] > 0 ? m->bands.widened[j] : exact);
        is_good &= !isnan(roots[j]);
    }
    return is_good ? KOINE_OK : koine_fault(m, KOINE_RETRY, KOINE_NONE, NULL);
}

/* Where systems are solved operands that vanish are rounding of others: then the largest that they ever were counts. */
void koine_root_sizes(const Machine *m, double *sizes)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        const uint32_t owner = p->events.decisions.root_owner[j];
        const bool is_relation = owner < p->events.decisions.n_relations;
        const double relative = koine_decision_of(&p->events.decisions, owner)->band;
        sizes[j] = is_relation
                       ? fmax(fabs(m->slots[p->events.decisions.relations[owner].left].r),
                              fabs(m->slots[p->events.decisions.relations[owner].right].r))
                       : fabs(m->slots[p->events.decisions.steps[owner - p->events.decisions.n_relations].argument].r);
        if (m->bands.noise)
            sizes[j] = fmax(sizes[j], m->bands.noise[j] / relative);
    }
}

/* What a system of equations leaves of a quantity that vanishes, as the current of a diode that carries none, is
 * rounding of what it was computed from. The largest operands tell how much; crossings to and fro that never go beyond
 * that mean nothing. */
enum { MEANINGLESS = 3 }; /* crossings */

void koine_count_flip(Machine *m, uint32_t root)
{
    if (m->bands.noise && m->bands.flips[root] < MEANINGLESS)
        m->bands.flips[root]++;
}

bool koine_is_noise(const Machine *m, uint32_t root, double g)
{
    return m->bands.noise && m->bands.flips[root] == MEANINGLESS && fabs(g) <= m->bands.noise[root];
}

void koine_measure_noise(Machine *m)
{
    for (uint32_t j = 0; m->bands.noise && j < m->program->events.decisions.n_roots; j++) {
        double exact, band;
        const double margin = margin_of(m, j, &exact, &band);
        if (margin == INFINITY)
            continue;
        m->bands.noise[j] = fmax(m->bands.noise[j], band);
        if (fabs(margin) > m->bands.noise[j])
            m->bands.flips[j] = 0;
    }
}

/* ---- leaving an instant ---- */
static const double CLOSE = 64;                     /* bands: rounding of operands behind a restart of the solver */
static const double NEARBY = 1e7;                   /* bands: further away no rounding of states matters */
static const double DISPLACEMENT = 8 * DBL_EPSILON; /* relative, of states: what a restart may change */
static const double MARGIN = 4;

static bool has_close_root(const Machine *m)
{
    for (uint32_t j = 0; j < m->program->events.decisions.n_roots; j++) {
        double exact, band;
        if (margin_of(m, j, &exact, &band) <= NEARBY * band)
            return true;
    }
    return false;
}

/* Of a steep function of states rounding is steep, too: how much it is shows with states that differ by rounding. The
 * margins of these are left in `widened`; false: they cannot be computed. */
static bool displace(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        m->slots[p->slots.x + j].r +=
            (j * 0x9e3779b9u & 0x80000000u ? DISPLACEMENT : -DISPLACEMENT) * m->slots[p->slots.x + j].r;
    const bool is_good = koine_run_part(m, &p->parts.roots) == KOINE_OK;
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        double exact, band;
        m->bands.widened[j] = margin_of(m, j, &exact, &band);
    }
    return is_good;
}

/* On leaving an instant with a relation on the wrong side of its border, or too close to it, by rounding: its border
 * moves outwards. Behind a crossing a solver begins anew, and what it computes there differs by rounding of the states:
 * a comparison of them would cross to and fro. */
void koine_widen_bands(Machine *m)
{
    const KoineProgram *p = m->program;
    Instant *now = m->instant;
    const bool is_measured = !m->bands.noise && p->slots.n_x && has_close_root(m);
    bool is_displaced = false;
    if (is_measured) {
        double *states = m->spaces.residual_work;
        memcpy(states, &m->slots[p->slots.x], p->slots.n_x * sizeof *states);
        is_displaced = displace(m);
        memcpy(&m->slots[p->slots.x], states, p->slots.n_x * sizeof *states);
        koine_run_part(m, &p->parts.roots);
    }
    now->n_widened = 0;
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        double exact, band;
        const double margin = margin_of(m, j, &exact, &band);
        const double steep = is_displaced ? MARGIN * fabs(m->bands.widened[j] - margin) : 0;
        const double noise = m->bands.noise && m->bands.flips[j] == MEANINGLESS ? m->bands.noise[j] : 0;
        const double close = m->bands.noise ? noise : fmax(CLOSE * band, steep < INFINITY ? steep : 0);
        m->bands.widened[j] = margin <= close && !m->bands.held[j] ? 2 * fabs(margin) + fmax(band, close) : 0;
        now->n_widened += m->bands.widened[j] > 0;
    }
}

/* After an accepted step: a border goes back once the relation has left its widened band. */
void koine_narrow_bands(Machine *m)
{
    Instant *now = m->instant;
    if (now->n_widened == 0)
        return;
    koine_run_part(m, &m->program->parts.roots);
    for (uint32_t j = 0; j < m->program->events.decisions.n_roots; j++) {
        double exact, band;
        if (m->bands.widened[j] > 0 && margin_of(m, j, &exact, &band) > m->bands.widened[j]) {
            m->bands.widened[j] = 0;
            now->n_widened--;
        }
    }
}

void koine_machine_hold(KoineModel *model, uint32_t root, uint8_t is_held)
{
    Machine *m = koine_machine_of(model);
    m->instant->n_held += is_held;
    m->instant->n_held -= m->bands.held[root];
    m->bands.held[root] = is_held;
    m->instant->n_widened -= is_held && m->bands.widened[root] > 0;
    if (is_held)
        m->bands.widened[root] = 0;
}
