/* Comparisons and step functions of the time alone: their changes are entries of the calendar, found by a search that
 * goes no further than it must. An entry is open as long as the search goes on: its time says how far nothing
 * happens. */
#include "relation.h"
#include "text.h"
#include "time_search.h"

enum { MUCH = 1000000 };        /* evaluations without a crossing that are worth a warning */
enum { BUDGET = 10000 };        /* evaluations in one look ahead */
static const double BLIND = 64; /* ulps: more than one instant takes */

static uint32_t function_of(const Machine *k, uint32_t owner)
{
    const uint32_t n = k->program->events.decisions.n_relations;
    return owner < n ? k->program->events.decisions.relations[owner].timed
                     : k->program->events.decisions.steps[owner - n].timed;
}

static uint32_t entry_of(const Machine *k, uint32_t owner)
{
    const uint32_t n = k->program->events.decisions.n_relations;
    return owner < n ? k->program->events.decisions.relations[owner].calendar
                     : k->program->events.decisions.steps[owner - n].calendar;
}

static void put_open(Machine *k, uint32_t entry, double time)
{
    k->calendar.entries[entry].is_open = 1;
    koine_calendar_put(k, entry, time, false);
}

static Watched watched_relation(const Machine *k, const KoineRelation *r)
{
    const bool value = k->m[r->bit].i != 0;
    return (Watched){ .n_borders = 1,
                      .borders = { { value ? 1 : -1, 0, value == r->is_strict } },
                      .is_guarded = r->is_guarded };
}

static Watched watched_step(const Machine *k, const KoineStep *s)
{
    const Interval now = interval_of(s, (double)k->m[s->value].i);
    return (Watched){ .n_borders = 2,
                      .borders = { { 1, -now.lo, !now.lo_in }, { -1, now.hi, !now.hi_in } },
                      .is_guarded = s->is_guarded };
}

static Watched watched_of(const Machine *k, uint32_t owner)
{
    const KoineProgram *p = k->program;
    const KoineTimeFunction *f = &p->events.timed.functions[function_of(k, owner)];
    Watched w = owner < p->events.decisions.n_relations
                    ? watched_relation(k, &p->events.decisions.relations[owner])
                    : watched_step(k, &p->events.decisions.steps[owner - p->events.decisions.n_relations]);
    w.code = &p->events.timed.codes[f->code];
    w.inputs = k->calendar.inputs + f->saved;
    w.cells = k->calendar.cells;
    return w;
}

static void begin(Machine *k, uint32_t owner)
{
    const double now = k->m[k->program->slots.time].r;
    koine_search_begin(&k->calendar.searches[function_of(k, owner)], now);
    put_open(k, entry_of(k, owner), now);
}

/* A change that was found for other inputs says nothing: it is decided by what it reads now. */
bool koine_timed_is_known(Machine *k, uint32_t owner, Pin *p)
{
    const KoineTimeFunction *f = &k->program->events.timed.functions[function_of(k, owner)];
    KoineSlot *saved = k->calendar.inputs + f->saved;
    const size_t size = f->n_in * sizeof *saved;
    for (uint32_t j = 0; j < f->n_pieces; j++)
        run_kernel(k, f->pieces[j].kernel, f->pieces[j].row, 1);
    const bool is_same = k->calendar.searches[function_of(k, owner)].is_begun &&
                         (size == 0 || memcmp(saved, &k->m[f->inputs], size) == 0);
    if (is_same && p->state != PIN_NEW)
        return true;
    if (!is_same && p->state != PIN_FREE)
        p->state = PIN_RELEASED;
    if (size)
        memcpy(saved, &k->m[f->inputs], size);
    begin(k, owner);
    return false;
}

void koine_timed_stop(Machine *k, uint32_t owner)
{
    k->calendar.searches[function_of(k, owner)].is_begun = 0;
    koine_calendar_remove(k, entry_of(k, owner));
}

void koine_timed_resume(Machine *k, uint32_t owner)
{
    if (k->calendar.searches[function_of(k, owner)].is_begun)
        begin(k, owner);
}

void koine_timed_forget(Machine *k)
{
    for (uint32_t j = 0; j < k->program->events.timed.n_functions; j++)
        k->calendar.searches[j] = (TimeSearch){ 0 };
    for (uint32_t j = 0; j < k->program->events.timed.n_sources; j++) {
        k->calendar.ranges[2 * j] = INFINITY;
        k->calendar.ranges[2 * j + 1] = -INFINITY;
    }
    k->instant->has_inputs = 0;
}

bool koine_timed_is_blind(Machine *k, uint32_t owner)
{
    TimeSearch *s = &k->calendar.searches[function_of(k, owner)];
    if (s->is_blind)
        s->is_begun = 0;
    return s->is_blind;
}

int64_t koine_timed_direction(const Machine *k, uint32_t step)
{
    return k->calendar.searches[k->program->events.decisions.steps[step].timed].border == 0 ? -1 : 1;
}

/* The crossing found is served later, and undone by then. */
static bool is_back(const Machine *k, const Watched *w, TimeSearch *s)
{
    double served;
    if (!k->time.rule->postpones(k->time.resolution, s->from, &served) || !koine_search_is_inside(w, served))
        return false;
    s->from = served;
    s->has_crossing = 0;
    return true;
}

static void locate_owner(const Machine *k, uint32_t owner, KoineOrigin *where)
{
    const KoineProgram *p = k->program;
    const uint32_t n = p->events.decisions.n_relations;
    *where = (KoineOrigin){ "", "", { 0 } };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, k->model,
                          owner < n ? p->events.decisions.relations[owner].origin
                                    : p->events.decisions.steps[owner - n].origin,
                          where);
}

KoineStatus koine_machine_last_time_event(KoineModel *model, KoineOrigin *where)
{
    const Machine *k = koine_machine_of(model);
    if (k->instant->served == KOINE_NONE || !k->program->explain.locate)
        return KOINE_RETRY;
    locate_owner(k, k->instant->served, where);
    return KOINE_OK;
}

/* Much was searched and nothing found: said once of each. */
static void warn(Machine *k, uint32_t owner, TimeSearch *s)
{
    const KoineProgram *p = k->program;
    const KoineHost *host = k->model->host;
    KoineOrigin where;
    char room[512];
    s->has_warned = 1;
    if (!host || !host->message)
        return;
    locate_owner(k, owner, &where);
    KoineText text = koine_text_in(room, sizeof room);
    koine_text_add(&text, "a comparison of the time in %s", where.path && where.path[0] ? where.path : p->tables->name);
    if (where.place.line && where.place.source < p->tables->n_sources)
        koine_text_add(&text, " (%s:%u)", p->tables->sources[where.place.source], (unsigned)where.place.line);
    koine_text_add(
        &text,
        " takes long: %llu evaluations found no crossing up to time %.6g, in pieces of about %.3g; a function "
        "that oscillates so fast, or is equal to its limit but for rounding, is searched to the end of the run",
        (unsigned long long)s->work, s->from, s->width);
    host->message(host->context, k->model, KOINE_MESSAGE_WARNING, room);
}

void koine_timed_extend(Machine *k, uint32_t entry)
{
    const uint32_t owner = k->program->events.decisions.calendar_owner[entry];
    const Watched w = watched_of(k, owner);
    TimeSearch *s = &k->calendar.searches[function_of(k, owner)];
    const uint64_t before = s->work;
    if (koine_search_piece(&w, s) != PIECE_CROSSED || is_back(k, &w, s)) {
        put_open(k, entry, s->from);
    } else {
        k->calendar.entries[entry].is_open =
            0; /* whether there is a value beyond is seen when nothing else can happen before */
        koine_calendar_at(k, entry, s->is_blind ? s->from + BLIND * DBL_EPSILON * fabs(s->from) : s->from, false);
    }
    k->work.statistics.time_looks += s->work - before;
    if (s->work > MUCH && !s->has_warned)
        warn(k, owner, s);
}

double koine_machine_look_ahead(KoineModel *model, double until, double *searched)
{
    Machine *k = koine_machine_of(model);
    const uint64_t begun = k->work.statistics.time_looks;
    *searched = until;
    while (k->instant->n_heap) {
        const uint32_t entry = k->calendar.heap[0];
        const Entry *e = &k->calendar.entries[entry];
        if (!e->is_open)
            return e->time;
        if (e->time >= until)
            break;
        if (k->work.statistics.time_looks - begun >= BUDGET) {
            *searched = e->time;
            break;
        }
        koine_timed_extend(k, entry);
    }
    return INFINITY;
}
