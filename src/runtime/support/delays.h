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

static inline bool delay_is_along(const Machine *m, uint32_t delay)
{
    return m->program->events.delays.at[delay].position != KOINE_NONE;
}

/* What its amount is subtracted from. */
static inline double delay_now(const Machine *m, const KoineDelay *d)
{
    return m->slots[d->position == KOINE_NONE ? m->program->slots.time : d->position].r;
}

/* The last point from low to before end that is not behind the time, or position; low: there is none. */
uint32_t koine_last_not_after(const DelayPoint *points, uint32_t low, uint32_t end, double time);

/* Polynomial through the points around the time, at most DELAY_WINDOW of those from first to before end. */
double koine_delay_between(const DelayPoint *points, uint32_t first, uint32_t end, double time);

/* delays_changing.c */
void koine_read_changing(Machine *m); /* outputs between events */
/* The piece that is read now; what bends where it begins, of all that are passed on the way to it. UINT8_MAX: it is the
 * same. */
uint8_t koine_enter_piece(Machine *m, uint32_t delay);

/* delays_along.c */
uint32_t koine_first_points(const KoineProgram *p);          /* of each delay, in a block that has not grown */
KoineStatus koine_check_profile(Machine *m, uint32_t delay); /* what is said of the start */
KoineSlot koine_first_along(const Machine *m, uint32_t delay, KoineSlot otherwise); /* output at the start */
void koine_begin_along(Machine *m, uint32_t delay, KoineSlot constant);
KoineStatus koine_take_up_along(Machine *m, uint32_t delay); /* with a history of an earlier run */
double koine_read_along(const Machine *m, uint32_t delay);
double koine_leave_along(const Machine *m, uint32_t delay,
                         double at);               /* begin of the next piece, or an earlier border */
bool koine_turn_along(Machine *m, uint32_t delay); /* what goes in goes in at the other end now */
void koine_drop_along(Machine *m, uint32_t delay);
KoineStatus koine_put_along(Machine *m, uint32_t delay, DelayPoint point);
KoineStatus koine_end_along(Machine *m, uint32_t delay, bool bends); /* of an instant: jumps and bends */

#endif
