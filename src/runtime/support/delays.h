/* Private to the delays: histories, and delays by an amount that changes. */
#ifndef SUPPORT_DELAYS_H
#define SUPPORT_DELAYS_H

#include "machine.h"

enum { DELAY_WINDOW = 4 }; /* points of the interpolation */

static inline DelayPoint *delay_points(const Machine *m, uint32_t delay)
{
    return koine_points(m) + (uint64_t)delay * m->history.delays[delay].capacity;
}

/* The first point of the segment behind the one that is read; n: there is none. */
static inline uint32_t delay_next_segment(const Machine *m, uint32_t delay)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    uint32_t j = s->segment + 1;
    while (j < s->n && !points[j].is_first)
        j++;
    return j;
}

static inline bool delay_is_changing(const Machine *m, uint32_t delay)
{
    return m->program->events.delays.at[delay].since != KOINE_NONE;
}

/* Polynomial through the points around the time, at most DELAY_WINDOW of those from first to before end. */
double koine_delay_between(const DelayPoint *points, uint32_t first, uint32_t end, double time);

/* delays_changing.c */
void koine_read_changing(Machine *m); /* outputs between events */
/* The piece that is read now; what bends where it begins, of all that are passed on the way to it. UINT8_MAX: it is the
 * same. */
uint8_t koine_enter_piece(Machine *m, uint32_t delay);

#endif
