/* Messages: what transitions send waits in a channel; one message of each channel is up in an event step.
 *
 * A channel is a ring in the block. A commit removes the message that was up, puts what was sent behind those that
 * wait, or before those of lower priority, and shows the next one: its fields hold the values, its head the number. */
#include "wake.h"
#include <stdio.h>

KoineSlot *koine_waiting_message(const Machine *m, const KoineChannel *c, uint32_t k)
{
    const ChannelState *s = &m->channels.states[c - m->program->events.channels.at];
    uint64_t place = (uint64_t)s->first + k;
    place -= place >= c->capacity ? c->capacity : 0;
    return m->channels.numbers + c->first + c->n_fields + place * (c->n_fields + 1);
}

/* ---- showing ---- */
static void set_slot(Machine *m, uint32_t slot, uint32_t cell, KoineSlot value)
{
    if (m->slots[slot].i == value.i)
        return;
    m->slots[slot] = value;
    m->instant->result.is_changed = 1;
    cell_changed(m, cell);
}

static void show(Machine *m, const KoineChannel *c, int64_t number, const KoineSlot *values)
{
    for (uint32_t j = 0; j < c->n_fields; j++)
        set_slot(m, c->fields[j], c->field_cells[j], values[j]);
    set_slot(m, c->head, c->head_cell, (KoineSlot){ .i = number });
}

void koine_show_messages(Machine *m)
{
    const KoineChannels *channels = &m->program->events.channels;
    for (uint32_t j = 0; j < channels->n; j++) {
        const KoineChannel *c = &channels->at[j];
        ChannelState *s = &m->channels.states[j];
        if (s->is_up)
            continue;
        if (s->n) {
            s->is_up = true;
            m->instant->n_passing += !c->keep;
            show(m, c, ++s->number, koine_waiting_message(m, c, 0) + 1);
        } else if (m->slots[c->head].i)
            show(m, c, 0, m->channels.numbers + c->first);
    }
}

/* ---- taking ---- */
void koine_take_messages(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t n = bitset_next(&m->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&m->wake.enabled, n + 1))
        if (p->events.firings.transitions[n].channel != KOINE_NONE)
            m->channels.states[p->events.firings.transitions[n].channel].is_taken = true;
    for (uint32_t j = 0; j < p->events.channels.n; j++) {
        const KoineChannel *c = &p->events.channels.at[j];
        ChannelState *s = &m->channels.states[j];
        if (s->is_up && (s->is_taken || !c->keep)) {
            m->work.statistics.unused_messages += !s->is_taken;
            m->instant->n_passing -= !c->keep;
            s->first = s->first + 1 == c->capacity ? 0 : s->first + 1;
            s->n--;
            s->is_up = false;
        }
        s->is_taken = false;
        s->batch = s->n;
    }
}

/* ---- sending ---- */
static KoineStatus report_full(Machine *m, const KoineChannel *c, uint32_t sender)
{
    char text[256], other[KOINE_FAULT_TEXT] = "";
    if (c->receiver != KOINE_NONE) {
        koine_fault(m, KOINE_FAILED, c->receiver, "here its messages are taken");
        snprintf(other, sizeof other, "%.400s", m->model->fault.text);
    }
    snprintf(text, sizeof text, "the channel '%.100s' is full: %u %s in it%s", c->name, (unsigned)c->capacity,
             c->capacity == 1 ? "message waits" : "messages wait",
             c->receiver == KOINE_NONE ? ", and no transition takes them" : "");
    koine_fault(m, KOINE_FAILED, sender, text);
    KoineText more = koine_text_behind(m->model->fault.text, sizeof m->model->fault.text);
    if (other[0])
        koine_text_add(&more, "; %s", other);
    return koine_because(m, KOINE_CAUSE_CHANNEL, KOINE_FAILED);
}

KoineStatus koine_check_message(Machine *m, const KoineAction *a)
{
    if (!m->slots[a->guard].i)
        return KOINE_OK;
    for (uint32_t j = 0; j < a->n_args; j++)
        if (!is_good(&m->slots[a->args[j]], a->types[j] == KOINE_REAL))
            return koine_fault(m, KOINE_FAILED, a->origin, NULL);
    return koine_check_calls(m, KOINE_FAILED, a->origin);
}

KoineStatus koine_send(Machine *m, const KoineAction *a)
{
    const KoineChannel *c = &m->program->events.channels.at[a->channel];
    ChannelState *s = &m->channels.states[a->channel];
    const size_t size = (c->n_fields + (size_t)1) * sizeof(KoineSlot);
    if (s->n == c->capacity)
        return report_full(m, c, a->origin);
    m->work.statistics.messages++;
    const uint32_t earliest = c->by_priority ? 0 : s->batch;
    uint32_t place = s->n++;
    for (; place > earliest && koine_waiting_message(m, c, place - 1)->i < a->priority; place--)
        memcpy(koine_waiting_message(m, c, place), koine_waiting_message(m, c, place - 1), size);
    KoineSlot *to = koine_waiting_message(m, c, place);
    to[0].i = a->priority;
    for (uint32_t j = 0; j < c->n_fields; j++)
        to[1 + j] = m->slots[a->args[j]];
    if (place == 0)
        s->is_up = false; /* a message that is kept waits behind it */
    return KOINE_OK;
}

/* ---- begin of a run ---- */
/* What the fields show while no message is up: their start values. */
void koine_begin_channels(Machine *m)
{
    const KoineChannels *channels = &m->program->events.channels;
    m->instant->n_passing = 0;
    for (uint32_t j = 0; j < channels->n; j++) {
        const KoineChannel *c = &channels->at[j];
        ChannelState *s = &m->channels.states[j];
        if (!s->is_recalled)
            *s = (ChannelState){ 0 };
        for (uint32_t f = 0; f < c->n_fields; f++)
            m->channels.numbers[c->first + f] = m->slots[c->fields[f]];
        s->is_recalled = false;
        s->is_up = s->n > 0;
        s->number = s->n > 0;
        m->slots[c->head].i = s->number;
        for (uint32_t f = 0; s->n && f < c->n_fields; f++)
            m->slots[c->fields[f]] = koine_waiting_message(m, c, 0)[1 + f];
    }
}
