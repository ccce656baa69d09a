/* An instant that does not come to rest (S15): what changes in every step, by which events and comparisons, and the
 * period if the states repeat. */
#include "texts.h"

enum { LONGEST = KOINE_CYCLE_WINDOW - 1, MOST_SHOWN = 6 };

void koine_put_root(KoineText *text, const KoineTables *tables, uint32_t root)
{
    const KoineOrigin *origin = &tables->roots.at[root];
    const bool is_known = origin->place.line && origin->place.source < tables->text.n_sources;
    const char *path = is_known ? tables->text.sources[origin->place.source] : "", *base = strrchr(path, '/');
    if (!is_known)
        koine_text_add(text, "`%.80s`", origin->text);
    else
        koine_text_add(text, "`%.80s` (%.40s:%u)", origin->text, base ? base + 1 : path, origin->place.line);
}

void koine_put_value(KoineText *text, uint8_t type, KoineSlot value)
{
    if (type == KOINE_REAL)
        koine_text_add(text, "%.9g", value.r);
    else if (type == KOINE_BOOLEAN)
        koine_text_add(text, "%s", value.i ? "true" : "false");
    else
        koine_text_add(text, "%lld", (long long)value.i);
}

/* ---- the message ---- */
typedef struct {
    KoineText text;
    uint32_t shown, origin;
} Message;

static void put_value(const Machine *m, KoineText *text, uint8_t type, KoineSlot value)
{
    uint32_t n;
    if (type == KOINE_STRING)
        koine_text_add(text, "\"%.40s\"", koine_texts_get(m, value.i, &n));
    else
        koine_put_value(text, type, value);
}

static void add_change(const Machine *m, Message *message, uint32_t variable, uint32_t slot, KoineSlot from,
                       KoineSlot to)
{
    char name[64];
    const uint8_t type = m->program->tables->variables[variable].type;
    if (message->shown >= MOST_SHOWN || message->text.n > 480)
        return;
    koine_slot_name(m->program->tables, variable, slot, name, sizeof name);
    koine_text_add(&message->text, "%s '%s' goes from ", message->shown++ ? "," : " Now", name);
    put_value(m, &message->text, type, from);
    koine_text_add(&message->text, " to ");
    put_value(m, &message->text, type, to);
}

static void add_transitions(const Machine *m, Message *message)
{
    const KoineProgram *p = m->program;
    for (uint32_t t = bitset_next(&m->wake.enabled, 0); t != UINT32_MAX; t = bitset_next(&m->wake.enabled, t + 1)) {
        const KoineTransition *transition = &p->events.firings.transitions[t];
        message->origin = message->origin == KOINE_NONE ? transition->origin : message->origin;
        for (uint32_t j = 0; j < transition->n_next; j++) {
            const KoineNext *next = &p->events.firings.nexts[transition->first_next + j];
            if (next->variable == KOINE_NONE)
                continue;
            run_kernel(m, next->kernel, next->row, 1);
            add_change(m, message, next->variable, next->target, m->slots[next->target], m->slots[next->buffer]);
        }
    }
}

/* Quantities whose value before is read: v differs from pre(v) again and again. */
static void add_unsettled(const Machine *m, Message *message)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < m->instant->n_unsettled; j++) {
        const KoinePre *pre = &p->events.graph.pres[m->writes.unsettled[j]];
        for (uint32_t i = 0; i < p->events.graph.n_nodes && message->origin == KOINE_NONE; i++)
            if (p->events.graph.nodes[i].kind == KOINE_NODE_ASSIGN && p->events.graph.nodes[i].output == pre->now)
                message->origin = p->events.graph.nodes[i].origin;
        for (uint32_t i = 0; i < pre->n && pre->variable != KOINE_NONE; i++)
            if (m->slots[pre->now + i].i != m->slots[pre->pre + i].i)
                add_change(m, message, pre->variable, pre->now + i, m->slots[pre->pre + i], m->slots[pre->now + i]);
    }
}

KoineStatus koine_report_endless(Machine *m, uint32_t limit)
{
    char room[800];
    Message message = { .text = koine_text_in(room, sizeof room), .origin = KOINE_NONE };
    KoineText *text = &message.text;
    koine_text_add(text, "the events at this time do not come to rest: more than %u event steps (%s).", limit,
                   koine_control_names.max_event_steps);
    add_transitions(m, &message);
    add_unsettled(m, &message);
    for (uint32_t j = 0; j < m->restless.n && text->n < 600; j++) {
        const uint32_t root = m->program->events.decisions.relations[m->restless.at[j]].decision.root;
        koine_text_add(text, "%s", j ? ", " : "; comparisons that switch to and fro: ");
        koine_put_root(text, m->program->tables, root);
    }
    if (m->instant->recent[0])
        koine_text_add(text, "; the states repeat every %llu steps", (unsigned long long)m->instant->recent[0]);
    return koine_because(m, KOINE_CAUSE_EVENT_STEPS, koine_fault(m, KOINE_LIMIT, message.origin, room));
}

/* ---- the period ---- */
static uint64_t hash_state(const Machine *m)
{
    const KoineProgram *p = m->program;
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < p->events.firings.n_nexts; j++)
        h = (h ^ (uint64_t)m->slots[p->events.firings.nexts[j].target].i) * 0x100000001b3u;
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++)
        for (uint32_t i = 0; i < p->events.graph.pres[j].n && !p->events.graph.pres[j].is_continuous; i++)
            h = (h ^ (uint64_t)m->slots[p->events.graph.pres[j].pre + i].i) * 0x100000001b3u;
    return h ^ (h >> 31);
}

void koine_look_for_cycle(Machine *m, uint32_t limit)
{
    Instant *now = m->instant;
    if (now->event_step + LONGEST + 1 == limit || now->event_step == 0) { /* or the limit is smaller than the window */
        memset(now->recent, 0, sizeof now->recent);
        m->restless.n = 0;
    }
    const uint64_t h = hash_state(m);
    const uint32_t n = now->event_step + LONGEST + 1 - limit; /* 0 .. LONGEST + 1, at the limit itself */
    for (uint32_t j = n < LONGEST ? n : LONGEST; j >= 1 && !now->recent[0]; j--)
        if (now->recent[j] == h)
            now->recent[0] = n + 1 - j;
    if (n < LONGEST)
        now->recent[n + 1] = h;
}

void koine_note_restless(Machine *m, const KoineRelation *r)
{
    const uint32_t number = (uint32_t)(r - m->program->events.decisions.relations);
    if (r->decision.root == KOINE_NONE || m->restless.n == KOINE_RESTLESS)
        return;
    for (uint32_t j = 0; j < m->restless.n; j++)
        if (m->restless.at[j] == number)
            return;
    m->restless.at[m->restless.n++] = number;
}
