/* The calendar: an indexed binary heap of pending time events in the model's block, ordered by (time, late, entry). */
#include "machine.h"

static bool before(const Machine *k, uint32_t a, uint32_t b)
{
    const Entry *x = &k->calendar.entries[a], *y = &k->calendar.entries[b];
    if (x->time != y->time)
        return x->time < y->time;
    return x->late != y->late ? x->late < y->late : a < b;
}

static void put_at(Machine *k, uint32_t place, uint32_t entry)
{
    k->calendar.heap[place] = entry;
    k->calendar.entries[entry].place = place;
}

static void rise(Machine *k, uint32_t place, uint32_t entry)
{
    while (place && before(k, entry, k->calendar.heap[(place - 1) / 2])) {
        put_at(k, place, k->calendar.heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_at(k, place, entry);
}

static void sink(Machine *k, uint32_t place, uint32_t entry)
{
    const uint32_t n = k->instant->n_heap;
    for (uint32_t child; (child = 2 * place + 1) < n; place = child) {
        if (child + 1 < n && before(k, k->calendar.heap[child + 1], k->calendar.heap[child]))
            child++;
        if (!before(k, k->calendar.heap[child], entry))
            break;
        put_at(k, place, k->calendar.heap[child]);
    }
    put_at(k, place, entry);
}

void koine_calendar_put(Machine *k, uint32_t entry, double time, bool late)
{
    Entry *e = &k->calendar.entries[entry];
    if (e->place != KOINE_NONE && e->time == time && e->late == late)
        return;
    const bool is_new = e->place == KOINE_NONE;
    const bool earlier = is_new || time < e->time || (time == e->time && late < e->late);
    e->time = time;
    e->late = late;
    if (is_new)
        e->place = k->instant->n_heap++;
    if (earlier)
        rise(k, e->place, entry);
    else
        sink(k, e->place, entry);
}

void koine_calendar_remove(Machine *k, uint32_t entry)
{
    Entry *e = &k->calendar.entries[entry];
    if (e->place == KOINE_NONE)
        return;
    const uint32_t place = e->place, last = k->calendar.heap[--k->instant->n_heap];
    e->place = KOINE_NONE;
    if (last == entry)
        return;
    if (place && before(k, last, k->calendar.heap[(place - 1) / 2]))
        rise(k, place, last);
    else
        sink(k, place, last);
}

void koine_calendar_at(Machine *k, uint32_t entry, double time, bool late)
{
    if (k->time.rule->serve)
        k->time.rule->serve(k->time.resolution, &time, &late);
    koine_calendar_put(k, entry, time, late);
}
