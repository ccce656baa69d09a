/* Delays by an amount that changes.
 *
 * The amount follows from the equations, maybe from the states, and may be 0: then the output is the input as it is.
 * What lies behind the last accepted point is read from a polynomial through that one, some before it and the present
 * value of the input. So the equations are evaluated, the outputs read, and that again until these stay. Amounts that
 * depend on each other's outputs need some rounds; an output of amount 0 that its own input depends on may never stay.
 *
 * Between events one smooth piece of the history is read, as for other delays. That time - amount leaves it, forwards
 * or backwards, is an event: the model compares it with `since` and `until`, which are written here. */
#include "delays.h"
#include "wake.h"
#include <float.h>
#include <stdio.h>

static const double NO_TIME = 1e30; /* no piece begins before, or behind */
enum { MOST_ROUNDS = 100 };

static double amount_of(const Machine *m, const KoineDelay *d)
{
    return m->slots[d->amount].r;
}

/* Rounding may take it a little out of its range. */
static bool is_possible(const Machine *m, const KoineDelay *d)
{
    const double amount = amount_of(m, d), max = m->slots[d->max].r, slack = 1e-9 * max;
    return amount >= -slack && amount <= max + slack;
}

/* ---- pieces ---- */
static uint32_t piece_before(const DelayPoint *points, uint32_t piece)
{
    do
        piece--;
    while (piece && !points[piece].is_first);
    return piece;
}

/* Where a step is made again its end is an event a little before the border: by rounding, or by what the interpolant
 * that it was found on differs from the step. */
static double nearness(const Machine *m, const KoineDelay *d)
{
    return 64 * DBL_EPSILON * fabs(delay_now(m, d)) + 1e-8 * m->slots[d->max].r;
}

static void set_border(Machine *m, uint32_t slot, uint32_t cell, double time)
{
    if (m->slots[slot].r == time)
        return;
    m->slots[slot].r = time;
    cell_changed(m, cell);
}

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

uint8_t koine_enter_piece(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    const double then = delay_now(m, d) - amount_of(m, d) + nearness(m, d);
    uint8_t bend = UINT8_MAX;
    for (uint32_t next; !s->is_back && (next = delay_next_segment(m, delay)) < s->n && then >= points[next].time;) {
        s->segment = next;
        bend = least(bend, points[next].bend);
    }
    for (; !s->is_back && s->segment && then < points[s->segment].time - nearness(m, d);
         s->segment = piece_before(points, s->segment))
        bend = least(bend, points[s->segment].bend);
    s->end = delay_next_segment(m, delay);
    const bool is_along = delay_is_along(m, delay);
    const double until = s->end < s->n ? points[s->end].time : NO_TIME;
    set_border(m, d->since, d->since_cell, s->segment && !is_along ? points[s->segment].time : -NO_TIME);
    set_border(m, d->until, d->until_cell, is_along ? koine_leave_along(m, delay, until) : until);
    return bend;
}

/* ---- reading ---- */
/* Behind the last point: with the input as it is now. */
static double read_newest(const Machine *m, const KoineDelay *d, uint32_t delay, double then)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    DelayPoint window[DELAY_WINDOW];
    uint32_t n = 0, from = s->n > DELAY_WINDOW - 1 ? s->n - (DELAY_WINDOW - 1) : 0;
    for (from = from > s->segment ? from : s->segment; from < s->n; from++)
        window[n++] = points[from];
    window[n++] = (DelayPoint){ .time = m->slots[m->program->slots.time].r, .value = m->slots[d->input] };
    return koine_delay_between(window, 0, n, then);
}

static KoineSlot read_one(const Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const DelayState *s = &m->history.delays[delay];
    if (delay_is_along(m, delay))
        return (KoineSlot){ .r = koine_read_along(m, delay) };
    const DelayPoint *points = delay_points(m, delay), *last = &points[s->end - 1];
    const double then = delay_now(m, d) - amount_of(m, d);
    if (then >= m->slots[m->program->slots.time].r)
        return m->slots[d->input];
    if (delay >= m->program->events.delays.n_moving || s->segment + 1 > s->end || then <= points[s->segment].time)
        return points[s->segment].value;
    if (then <= last->time)
        return (KoineSlot){ .r = koine_delay_between(points, s->segment, s->end, then) };
    return s->end == s->n ? (KoineSlot){ .r = read_newest(m, d, delay, then) } : last->value;
}

/* Digits that rounding leaves do not count. */
static bool is_other(const KoineDelay *d, KoineSlot a, KoineSlot b)
{
    if (!d->is_real || a.i == b.i)
        return a.i != b.i;
    return !(fabs(a.r - b.r) <= 8 * DBL_EPSILON * (fabs(a.r) + fabs(b.r)));
}

static void complain(Machine *m, uint32_t delay, bool is_loop)
{
    m->history.complaint = delay + 1;
    m->history.is_loop = is_loop;
}

void koine_read_changing(Machine *m)
{
    const KoineProgram *p = m->program;
    m->history.complaint = 0;
    for (uint32_t round = 0;; round++) {
        uint32_t open = KOINE_NONE;
        koine_run_part(m, &p->parts.derivatives);
        koine_run_part(m, &p->parts.outputs);
        for (uint32_t j = 0; j < p->events.delays.n_moving; j++) {
            const KoineDelay *d = &p->events.delays.at[j];
            if (!delay_is_changing(m, j))
                continue;
            if (!is_possible(m, d))
                complain(m, j, false);
            const KoineSlot value = read_one(m, j);
            open = is_other(d, m->slots[d->output], value) ? j : open;
            m->slots[d->output] = value;
        }
        if (open == KOINE_NONE)
            return;
        if (round == MOST_ROUNDS) {
            complain(m, open, true);
            return;
        }
    }
}

KoineStatus koine_check_delays(Machine *m, KoineStatus status)
{
    if (!m->history.complaint)
        return KOINE_OK;
    const KoineDelay *d = &m->program->events.delays.at[m->history.complaint - 1];
    char text[320];
    if (m->history.is_loop)
        snprintf(text, sizeof text,
                 "'%.120s' depends on itself while it is delayed by %.12g, and its value is not found", d->name,
                 amount_of(m, d));
    else
        snprintf(text, sizeof text,
                 "the dead time of '%.120s' is %.12g: it must lie between 0 and its largest amount, %.12g", d->name,
                 amount_of(m, d), m->slots[d->max].r);
    koine_fault(m, status, KOINE_NONE, text);
    if (d->variable != KOINE_NONE)
        m->model->fault.place = m->program->tables->variables[d->variable].place;
    return koine_because(m, KOINE_CAUSE_DEAD_TIME, status);
}

/* ---- events ---- */
static bool follow(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    if (!is_possible(m, d))
        complain(m, delay, false);
    const bool has_turned = delay_is_along(m, delay) && koine_turn_along(m, delay);
    uint8_t bend = koine_enter_piece(m, delay);
    if (has_turned)
        bend = 0;
    const bool has_moved = bend < UINT8_MAX;
    const KoineSlot value = read_one(m, delay);
    const bool is_changed = is_other(d, m->slots[d->output], value);
    if (has_moved && delay < m->program->events.delays.n_moving)
        m->instant->result.is_restart = 1;
    m->instant->bend = least(m->instant->bend, bend);
    if (is_changed) {
        m->slots[d->output] = value;
        m->instant->result.is_changed = 1;
        cell_changed(m, d->cell);
    }
    return is_changed || has_moved;
}

bool koine_wants_pieces(Machine *m)
{
    bool any = false;
    for (uint32_t j = 0; j < m->program->events.delays.n && !any; j++) {
        const KoineDelay *d = &m->program->events.delays.at[j];
        if (!delay_is_changing(m, j))
            continue;
        const double then = delay_now(m, d) - amount_of(m, d), near = 4 * nearness(m, d);
        any = then < m->slots[d->since].r - near || then >= m->slots[d->until].r + near;
    }
    return any;
}

KoineStatus koine_follow_delays(Machine *m)
{
    const KoineDelays *delays = &m->program->events.delays;
    m->history.complaint = 0;
    for (uint32_t round = 0;; round++) {
        uint32_t open = KOINE_NONE;
        koine_run_part(m, &m->program->parts.derivatives);
        koine_run_part(m, &m->program->parts.outputs);
        for (uint32_t j = 0; j < delays->n; j++)
            if (delay_is_changing(m, j) && follow(m, j))
                open = j;
        if (round == MOST_ROUNDS && open != KOINE_NONE)
            complain(m, open, true);
        KoineStatus status = koine_check_delays(m, KOINE_FAILED);
        if (status == KOINE_OK && !bitset_is_empty(&m->wake.dirty))
            status = koine_evaluate_dirty(m);
        if (status != KOINE_OK || open == KOINE_NONE)
            return status;
    }
}
