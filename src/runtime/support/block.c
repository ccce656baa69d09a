/* The block of an instance: named slots, then what the machine remembers; where each piece lies, and pointers to it. */
#include "delays.h"
#include "texts.h"
#include "time_search.h"

static uint64_t reserve(uint64_t *size, uint64_t bytes)
{
    const uint64_t at = (*size + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
    *size = at + bytes;
    return at;
}

void koine_lay_out(MachineKind *kind)
{
    const KoineProgram *p = kind->program;
    uint64_t size = (uint64_t)p->slots.n * sizeof(KoineSlot), *at = kind->offsets;
    at[AT_INSTANT] = reserve(&size, sizeof(Instant));
    at[AT_RELATION_PINS] = reserve(&size, p->events.decisions.n_relations * sizeof(Pin));
    at[AT_STEP_PINS] = reserve(&size, p->events.decisions.n_steps * sizeof(Pin));
    at[AT_PINNED] =
        reserve(&size, ((uint64_t)p->events.decisions.n_relations + p->events.decisions.n_steps) * sizeof(uint32_t));
    at[AT_WIDENED] = reserve(&size, p->events.decisions.n_roots * sizeof(double));
    at[AT_HELD] = reserve(&size, p->events.decisions.n_roots);
    at[AT_NOISE] = reserve(&size, p->systems.n_run ? p->events.decisions.n_roots * sizeof(double) : 0);
    at[AT_FLIPS] = reserve(&size, p->systems.n_run ? p->events.decisions.n_roots : 0);
    at[AT_ENTRIES] = reserve(&size, ((uint64_t)p->events.decisions.n_calendar + p->events.delays.n) * sizeof(Entry));
    at[AT_HEAP] = reserve(&size, ((uint64_t)p->events.decisions.n_calendar + p->events.delays.n) * sizeof(uint32_t));
    for (int k = 0; k < BITSET_LEVELS; k++) {
        at[AT_DIRTY + k] = reserve(&size, bitset_words(p->events.graph.n_nodes, k) * sizeof(uint64_t));
        at[AT_ENABLED + k] = reserve(&size, bitset_words(p->events.firings.n_transitions, k) * sizeof(uint64_t));
    }
    at[AT_JUMPED] =
        reserve(&size, p->events.decisions.n_roots ? (p->events.graph.n_nodes + 63) / 64 * sizeof(uint64_t) : 0);
    at[AT_STAMPS] = reserve(&size, p->events.firings.n_writers * sizeof(uint64_t));
    at[AT_WRITERS] = reserve(&size, p->events.firings.n_writers * sizeof(uint32_t));
    at[AT_PENDING] = reserve(&size, p->events.firings.n_nexts * sizeof(uint32_t));
    at[AT_UNSETTLED] = reserve(&size, p->events.graph.n_pres * sizeof(uint32_t));
    at[AT_IS_UNSETTLED] = reserve(&size, p->events.graph.n_pres);
    at[AT_SOLVED] = reserve(&size, p->systems.n_run);
    at[AT_ROUND] = reserve(&size, p->events.decisions.n_mixed ? 3 * (uint64_t)p->events.decisions.n_relations : 0);
    at[AT_SEARCHES] = reserve(&size, p->events.timed.n_functions * sizeof(TimeSearch));
    at[AT_RANGES] = reserve(&size, 2 * p->events.timed.n_sources * sizeof(double));
    at[AT_TIME_INPUTS] = reserve(&size, p->events.timed.n_inputs * sizeof(KoineSlot));
    at[AT_CHANNELS] = reserve(&size, p->events.channels.n * sizeof(ChannelState));
    at[AT_MESSAGES] = reserve(&size, p->events.channels.n_numbers * sizeof(KoineSlot));
    at[AT_DELAYS] = reserve(&size, p->events.delays.n * sizeof(DelayState));
    at[AT_TEXTS] = reserve(&size, koine_texts_size(p));
    at[AT_POINTS] = reserve(&size, (uint64_t)p->events.delays.n * koine_first_points(p) * sizeof(DelayPoint));
    kind->size = (size + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
}

void koine_point_into(Machine *m, unsigned char *block, const uint64_t *at)
{
    m->wake.dirty.top = bitset_top(m->program->events.graph.n_nodes);
    m->wake.enabled.top = bitset_top(m->program->events.firings.n_transitions);
    m->block = block;
    m->slots = (KoineSlot *)(void *)block;
    m->instant = (Instant *)(void *)(block + at[AT_INSTANT]);
    m->pins.relations = (Pin *)(void *)(block + at[AT_RELATION_PINS]);
    m->pins.steps = (Pin *)(void *)(block + at[AT_STEP_PINS]);
    m->pins.numbers = (uint32_t *)(void *)(block + at[AT_PINNED]);
    m->bands.widened = (double *)(void *)(block + at[AT_WIDENED]);
    m->bands.held = block + at[AT_HELD];
    m->bands.noise = m->program->systems.n_run ? (double *)(void *)(block + at[AT_NOISE]) : NULL;
    m->bands.flips = block + at[AT_FLIPS];
    m->calendar.entries = (Entry *)(void *)(block + at[AT_ENTRIES]);
    m->calendar.heap = (uint32_t *)(void *)(block + at[AT_HEAP]);
    for (int j = 0; j < BITSET_LEVELS; j++) {
        m->wake.dirty.level[j] = (uint64_t *)(void *)(block + at[AT_DIRTY + j]);
        m->wake.enabled.level[j] = (uint64_t *)(void *)(block + at[AT_ENABLED + j]);
    }
    m->wake.jumped = m->program->events.decisions.n_roots ? (uint64_t *)(void *)(block + at[AT_JUMPED]) : NULL;
    m->writes.stamps = (uint64_t *)(void *)(block + at[AT_STAMPS]);
    m->writes.writers = (uint32_t *)(void *)(block + at[AT_WRITERS]);
    m->writes.pending = (uint32_t *)(void *)(block + at[AT_PENDING]);
    m->writes.unsettled = (uint32_t *)(void *)(block + at[AT_UNSETTLED]);
    m->writes.is_unsettled = block + at[AT_IS_UNSETTLED];
    m->round.start = block + at[AT_ROUND];
    m->round.value = m->round.start + m->program->events.decisions.n_relations;
    m->spaces.is_solved = block + at[AT_SOLVED];
    m->round.best = m->round.value + m->program->events.decisions.n_relations;
    m->calendar.searches = (TimeSearch *)(void *)(block + at[AT_SEARCHES]);
    m->calendar.ranges = (double *)(void *)(block + at[AT_RANGES]);
    m->calendar.inputs = (KoineSlot *)(void *)(block + at[AT_TIME_INPUTS]);
    m->channels.states = (ChannelState *)(void *)(block + at[AT_CHANNELS]);
    m->channels.numbers = (KoineSlot *)(void *)(block + at[AT_MESSAGES]);
    m->history.delays = (DelayState *)(void *)(block + at[AT_DELAYS]);
}

void koine_machine_moved(KoineModel *model)
{
    Machine *m = model->handles;
    koine_point_into(m, model->block, m->kind->offsets);
}

/* Behind the texts, which may have grown. */
DelayPoint *koine_points(const Machine *m)
{
    return (DelayPoint *)(void *)(m->block + m->kind->offsets[AT_POINTS] + koine_texts_growth(m));
}
