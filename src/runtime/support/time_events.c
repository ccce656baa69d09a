/* Comparisons and step functions of the time alone: their changes are entries of the calendar, found by a search that
 * goes no further than it must. An entry is open as long as the search goes on: its time says how far nothing
 * happens. */
#include "relation.h"
#include "text.h"
#include "time_search.h"

enum { MUCH = 1000000 };        /* evaluations without a crossing that are worth a warning */
enum { BUDGET = 10000 };        /* evaluations in one look ahead */
static const double BLIND = 64; /* ulps: more than one instant takes */

static uint32_t function_of(const Machine *m, uint32_t owner)
{
    return koine_decision_of(&m->program->events.decisions, owner)->timed;
}

static uint32_t entry_of(const Machine *m, uint32_t owner)
{
    return koine_decision_of(&m->program->events.decisions, owner)->calendar;
}

static void put_open(Machine *m, uint32_t entry, double time)
{
    m->calendar.entries[entry].is_open = 1;
    koine_calendar_put(m, entry, time, false);
}

static Watched watched_relation(const Machine *m, const KoineRelation *r)
{
    const bool value = m->slots[r->bit].i != 0;
    return (Watched){ .n_borders = 1,
                      .borders = { { value ? 1 : -1, 0, value == r->is_strict } },
                      .is_guarded = r->decision.is_guarded };
}

static Watched watched_step(const Machine *m, const KoineStep *s)
{
    const Interval now = interval_of(s, (double)m->slots[s->value].i);
    return (Watched){ .n_borders = 2,
                      .borders = { { 1, -now.lo, !now.lo_in }, { -1, now.hi, !now.hi_in } },
                      .is_guarded = s->decision.is_guarded };
}

static Watched watched_of(const Machine *m, uint32_t owner)
{
    const KoineProgram *p = m->program;
    const KoineTimeFunction *f = &p->events.timed.functions[function_of(m, owner)];
    Watched w = owner < p->events.decisions.n_relations
                    ? watched_relation(m, &p->events.decisions.relations[owner])
                    : watched_step(m, &p->events.decisions.steps[owner - p->events.decisions.n_relations]);
    w.code = &p->events.timed.codes[f->code];
    w.inputs = m->calendar.inputs + f->saved;
    w.cells = m->calendar.cells;
    return w;
}

static void begin(Machine *m, uint32_t owner)
{
    const double now = m->slots[m->program->slots.time].r;
    koine_search_begin(&m->calendar.searches[function_of(m, owner)], now);
    put_open(m, entry_of(m, owner), now);
}

/* A change that was found for other inputs says nothing: it is decided by what it reads now. */
bool koine_timed_is_known(Machine *m, uint32_t owner, Pin *p)
{
    const KoineTimeFunction *f = &m->program->events.timed.functions[function_of(m, owner)];
    KoineSlot *saved = m->calendar.inputs + f->saved;
    const size_t size = f->n_in * sizeof *saved;
    for (uint32_t j = 0; j < f->n_pieces; j++)
        run_kernel(m, f->pieces[j].kernel, f->pieces[j].row, 1);
    const bool is_same = m->calendar.searches[function_of(m, owner)].is_begun &&
                         (size == 0 || memcmp(saved, &m->slots[f->inputs], size) == 0);
    if (is_same && p->state != PIN_NEW)
        return true;
    if (!is_same && p->state != PIN_FREE)
        p->state = PIN_RELEASED;
    if (size)
        memcpy(saved, &m->slots[f->inputs], size);
    begin(m, owner);
    return false;
}

void koine_timed_stop(Machine *m, uint32_t owner)
{
    m->calendar.searches[function_of(m, owner)].is_begun = 0;
    koine_calendar_remove(m, entry_of(m, owner));
}

void koine_timed_resume(Machine *m, uint32_t owner)
{
    if (m->calendar.searches[function_of(m, owner)].is_begun)
        begin(m, owner);
}

void koine_timed_forget(Machine *m)
{
    for (uint32_t j = 0; j < m->program->events.timed.n_functions; j++)
        m->calendar.searches[j] = (TimeSearch){ 0 };
    for (uint32_t j = 0; j < m->program->events.timed.n_sources; j++) {
        m->calendar.ranges[2 * j] = INFINITY;
        m->calendar.ranges[2 * j + 1] = -INFINITY;
    }
    m->instant->has_inputs = 0;
}

bool koine_timed_is_blind(Machine *m, uint32_t owner)
{
    TimeSearch *s = &m->calendar.searches[function_of(m, owner)];
    if (s->is_blind)
        s->is_begun = 0;
    return s->is_blind;
}

int64_t koine_timed_direction(const Machine *m, uint32_t step)
{
    return m->calendar.searches[m->program->events.decisions.steps[step].decision.timed].border == 0 ? -1 : 1;
}

/* The crossing found is served later, and undone by then. */
static bool is_back(const Machine *m, const Watched *w, TimeSearch *s)
{
    double served;
    if (!m->time.rule->postpones(m->time.resolution, s->from, &served) || !koine_search_is_inside(w, served))
        return false;
    s->from = served;
    s->has_crossing = 0;
    return true;
}

static void locate_owner(const Machine *m, uint32_t owner, KoineOrigin *where)
{
    const KoineProgram *p = m->program;
    *where = (KoineOrigin){ "", "", { 0 } };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, m->model, koine_decision_of(&p->events.decisions, owner)->origin, where);
}

KoineStatus koine_machine_last_time_event(KoineModel *model, KoineOrigin *where)
{
    const Machine *m = koine_machine_of(model);
    if (m->instant->served == KOINE_NONE || !m->program->explain.locate)
        return KOINE_RETRY;
    locate_owner(m, m->instant->served, where);
    return KOINE_OK;
}

/* Much was searched and nothing found: said once of each. */
static void warn(Machine *m, uint32_t owner, TimeSearch *s)
{
    const KoineProgram *p = m->program;
    const KoineHost *host = m->model->host;
    KoineOrigin where;
    char room[512];
    s->has_warned = 1;
    if (!host || !host->message)
        return;
    locate_owner(m, owner, &where);
    KoineText text = koine_text_in(room, sizeof room);
    koine_text_add(&text, "a comparison of the time in %s", where.path && where.path[0] ? where.path : p->tables->name);
    if (where.place.line && where.place.source < p->tables->text.n_sources)
        koine_text_add(&text, " (%s:%u)", p->tables->text.sources[where.place.source], (unsigned)where.place.line);
    koine_text_add(
        &text,
        " takes long: %llu evaluations found no crossing up to time %.6g, in pieces of about %.3g; a function "
        "that oscillates so fast, or is equal to its limit but for rounding, is searched to the end of the run",
        (unsigned long long)s->work, s->from, s->width);
    host->message(host->context, m->model, KOINE_MESSAGE_WARNING, room);
}

void koine_timed_extend(Machine *m, uint32_t entry)
{
    const uint32_t owner = m->program->events.decisions.calendar_owner[entry];
    const Watched w = watched_of(m, owner);
    TimeSearch *s = &m->calendar.searches[function_of(m, owner)];
    const uint64_t before = s->work;
    if (koine_search_piece(&w, s) != PIECE_CROSSED || is_back(m, &w, s)) {
        put_open(m, entry, s->from);
    } else {
        m->calendar.entries[entry].is_open =
            0; /* whether there is a value beyond is seen when nothing else can happen before */
        koine_calendar_at(m, entry, s->is_blind ? s->from + BLIND * DBL_EPSILON * fabs(s->from) : s->from, false);
    }
    m->work.statistics.time_looks += s->work - before;
    if (s->work > MUCH && !s->has_warned)
        warn(m, owner, s);
}

double koine_machine_look_ahead(KoineModel *model, double until, double *searched)
{
    Machine *m = koine_machine_of(model);
    const uint64_t begun = m->work.statistics.time_looks;
    *searched = until;
    while (m->instant->n_heap) {
        const uint32_t entry = m->calendar.heap[0];
        const Entry *e = &m->calendar.entries[entry];
        if (!e->is_open)
            return e->time;
        if (e->time >= until)
            break;
        if (m->work.statistics.time_looks - begun >= BUDGET) {
            *searched = e->time;
            break;
        }
        koine_timed_extend(m, entry);
    }
    return INFINITY;
}
