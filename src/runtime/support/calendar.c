/* The calendar: an indexed binary heap of pending time events in the model's block, ordered by (time, late, entry). */
#include "machine.h"

static bool before(const Machine *m, uint32_t a, uint32_t b)
{
    const Entry *x = &m->calendar.entries[a], *y = &m->calendar.entries[b];
    if (x->time != y->time)
        return x->time < y->time;
    return x->late != y->late ? x->late < y->late : a < b;
}

static void put_at(Machine *m, uint32_t place, uint32_t entry)
{
    m->calendar.heap[place] = entry;
    m->calendar.entries[entry].place = place;
}

static void rise(Machine *m, uint32_t place, uint32_t entry)
{
    while (place && before(m, entry, m->calendar.heap[(place - 1) / 2])) {
        put_at(m, place, m->calendar.heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_at(m, place, entry);
}

static void sink(Machine *m, uint32_t place, uint32_t entry)
{
    const uint32_t n = m->instant->n_heap;
    for (uint32_t child; (child = 2 * place + 1) < n; place = child) {
        if (child + 1 < n && before(m, m->calendar.heap[child + 1], m->calendar.heap[child]))
            child++;
        if (!before(m, m->calendar.heap[child], entry))
            break;
        put_at(m, place, m->calendar.heap[child]);
    }
    put_at(m, place, entry);
}

void koine_calendar_put(Machine *m, uint32_t entry, double time, bool late)
{
    Entry *e = &m->calendar.entries[entry];
    if (e->place != KOINE_NONE && e->time == time && e->late == late)
        return;
    const bool is_new = e->place == KOINE_NONE;
    const bool earlier = is_new || time < e->time || (time == e->time && late < e->late);
    e->time = time;
    e->late = late;
    if (is_new)
        e->place = m->instant->n_heap++;
    if (earlier)
        rise(m, e->place, entry);
    else
        sink(m, e->place, entry);
}

void koine_calendar_remove(Machine *m, uint32_t entry)
{
    Entry *e = &m->calendar.entries[entry];
    if (e->place == KOINE_NONE)
        return;
    const uint32_t place = e->place, last = m->calendar.heap[--m->instant->n_heap];
    e->place = KOINE_NONE;
    if (last == entry)
        return;
    if (place && before(m, last, m->calendar.heap[(place - 1) / 2]))
        rise(m, place, last);
    else
        sink(m, place, last);
}

void koine_calendar_at(Machine *m, uint32_t entry, double time, bool late)
{
    if (m->time.rule->serve)
        m->time.rule->serve(m->time.resolution, &time, &late);
    koine_calendar_put(m, entry, time, late);
}
