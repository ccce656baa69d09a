/* Dead time: what a signal was, kept in the block, and read a fixed time later.
 *
 * The history of a delay is a list of points in segments. A segment begins where the signal jumps or bends; nothing is
 * interpolated across that. The output stays in one segment between events and goes on to the next one at an event of
 * its own, exactly the dead time after the segment has begun: solvers see one smooth branch up to the event. Discrete
 * signals have segments of one point. */
#include "delays.h"
#include <math.h>
#include <stdio.h>

/* Bends of a higher derivative are smooth enough; where the amount changes, each of them would be an event that bends
 * all other histories. */
enum { LAST_BEND = 5, LAST_CHANGING_BEND = 1, LAST_ALONG_BEND = 2 };

uint32_t koine_last_not_after(const DelayPoint *points, uint32_t low, uint32_t end, double time)
{
    while (end - low > 1) {
        const uint32_t middle = low + (end - low) / 2;
        if (points[middle].time <= time)
            low = middle;
        else
            end = middle;
    }
    return low;
}

double koine_delay_between(const DelayPoint *points, uint32_t first, uint32_t end, double time)
{
    const uint32_t n = end - first < DELAY_WINDOW ? end - first : DELAY_WINDOW;
    const uint32_t at = koine_last_not_after(points, first, end, time);
    uint32_t from = at > first ? at - 1 : first;
    if (from + n > end)
        from = end - n;
    double sum = 0;
    for (uint32_t i = from; i < from + n; i++) {
        double weight = 1;
        for (uint32_t j = from; j < from + n; j++)
            if (j != i)
                weight *= (time - points[j].time) / (points[i].time - points[j].time);
        sum += weight * points[i].value.r;
    }
    return sum;
}

static double value_at(const Machine *m, uint32_t delay, double time)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    const double then = time - m->slots[m->program->events.delays.at[delay].amount].r;
    if (s->segment + 1 >= s->end || then <= points[s->segment].time)
        return points[s->segment].value.r;
    if (then >= points[s->end - 1].time)
        return points[s->end - 1].value.r;
    return koine_delay_between(points, s->segment, s->end, then);
}

void koine_read_delays(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.delays.n_moving; j++)
        if (!delay_is_changing(m, j))
            m->slots[p->events.delays.at[j].output].r = value_at(m, j, m->slots[p->slots.time].r);
    if (p->events.delays.n_changing)
        koine_read_changing(m);
}

/* ---- switching to the next segment ---- */
static void schedule(Machine *m, uint32_t delay)
{
    if (delay_is_changing(m, delay)) {
        koine_enter_piece(m, delay);
        return;
    }
    const uint32_t entry = m->program->events.decisions.n_calendar + delay, next = delay_next_segment(m, delay);
    m->history.delays[delay].end = next;
    if (next < m->history.delays[delay].n)
        koine_calendar_at(m, entry,
                          delay_points(m, delay)[next].time + m->slots[m->program->events.delays.at[delay].amount].r,
                          false);
    else
        koine_calendar_remove(m, entry);
}

bool koine_switch_delay(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    const KoineSlot before = m->slots[d->output];
    s->segment = delay_next_segment(m, delay);
    const DelayPoint *first = &delay_points(m, delay)[s->segment];
    schedule(m, delay);
    m->slots[d->output] = first->value;
    if (delay < m->program->events.delays.n_moving)
        m->slots[d->output].r = value_at(m, delay, m->slots[m->program->slots.time].r);
    if (first->bend < m->instant->bend)
        m->instant->bend = first->bend;
    if (delay < m->program->events.delays.n_moving)
        m->instant->result.is_restart = 1;
    return memcmp(&before, &m->slots[d->output], sizeof before) != 0;
}

/* ---- writing ---- */
/* Points that nothing reads any more make room. */
static void drop_old(Machine *m, uint32_t delay)
{
    if (delay_is_along(m, delay)) {
        koine_drop_along(m, delay);
        return;
    }
    DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    const bool is_changing = delay_is_changing(m, delay);
    const double then = m->slots[m->program->slots.time].r - m->slots[m->program->events.delays.at[delay].max].r;
    const uint32_t first = is_changing ? 0 : s->segment, end = is_changing ? s->n : s->end;
    const uint32_t at = koine_last_not_after(points, first, end, then);
    const uint32_t n = at > first + DELAY_WINDOW ? at - DELAY_WINDOW : first;
    if (n < s->capacity / 2)
        return;
    memmove(points, points + n, (s->n - n) * sizeof *points);
    s->n -= n;
    s->end -= n;
    s->segment = s->segment > n ? s->segment - n : 0;
}

/* The runner has made the block larger: each delay has a larger part of it. */
void koine_spread_points(Machine *m)
{
    const KoineProgram *p = m->program;
    const uint64_t bytes = m->model->size - (uint64_t)((unsigned char *)koine_points(m) - m->block);
    const uint64_t most = bytes / sizeof(DelayPoint) / p->events.delays.n;
    const uint32_t capacity = most < UINT32_MAX / 2 ? (uint32_t)most : UINT32_MAX / 2;
    if (capacity <= m->history.delays[0].capacity)
        return;
    for (uint32_t j = p->events.delays.n; j-- > 0;) {
        memmove(koine_points(m) + (uint64_t)j * capacity, delay_points(m, j),
                m->history.delays[j].n * sizeof(DelayPoint));
        m->history.delays[j].capacity = capacity;
    }
}

KoineStatus koine_reserve_points(Machine *m)
{
    enum { SPARE = 4 }; /* more than one instant needs */
    if (m->program->events.delays.n == 0)
        return KOINE_OK;
    koine_spread_points(m);
    for (uint32_t j = 0; j < m->program->events.delays.n; j++) {
        if (m->history.delays[j].n + SPARE > m->history.delays[j].capacity)
            drop_old(m, j);
        if (m->history.delays[j].n + SPARE > m->history.delays[j].capacity)
            return KOINE_GROW;
    }
    return KOINE_OK;
}

/* Between points that are closer than this share of the dead time, rounding of the values would become slopes. */
static const double CLOSEST = 1e-8;

/* The point takes the place of the last one, which is too close to it. */
static bool replaces_last(const Machine *m, uint32_t delay, const DelayPoint *point)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *last = &delay_points(m, delay)[s->n - 1];
    return s->n > 1 && !last->is_first && !point->is_first &&
           point->time - last->time < CLOSEST * m->slots[m->program->events.delays.at[delay].max].r;
}

static void append(Machine *m, uint32_t delay, DelayPoint point)
{
    DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    if (!point.is_first && s->n && points[s->n - 1].time >= point.time)
        return;
    if (replaces_last(m, delay, &point)) {
        points[s->n - 1] = point;
        return;
    }
    points[s->n++] = point;
    if (!point.is_first && s->end + 1 == s->n)
        s->end = s->n;
    if (point.is_first && s->end + 1 == s->n)
        schedule(m, delay);
}

KoineStatus koine_machine_sample(KoineModel *model, double time, const double *x, double *inputs)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    const KoineEvaluation at = { .time = time, .x = x, .want = KOINE_WANT_OUTPUTS };
    const KoineStatus status = model->kind->evaluate(model, &at);
    for (uint32_t j = 0; j < p->events.delays.n_moving; j++)
        inputs[j] = m->slots[p->events.delays.at[j].input].r;
    for (uint32_t j = 0, to = p->events.delays.n_moving; j < p->events.delays.n_moving; j++)
        if (delay_is_along(m, j))
            inputs[to++] = m->slots[p->events.delays.at[j].position].r;
    return status;
}

KoineStatus koine_machine_remember(KoineModel *model, double time, const double *inputs)
{
    Machine *m = koine_machine_of(model);
    KoineStatus status = koine_reserve_points(m);
    const double *positions = inputs + m->program->events.delays.n_moving;
    for (uint32_t j = 0; j < m->program->events.delays.n_moving && status == KOINE_OK; j++) {
        DelayPoint point = { .time = time, .entered = time, .value = { .r = inputs[j] } };
        if (!delay_is_along(m, j)) {
            append(m, j, point);
            continue;
        }
        point.time = *positions++;
        status = koine_put_along(m, j, point);
    }
    return status;
}

static bool differ(const KoineDelay *d, KoineSlot a, KoineSlot b)
{
    return d->is_real ? a.r != b.r : a.i != b.i;
}

KoineStatus koine_leave_delays(Machine *m)
{
    const KoineProgram *p = m->program;
    const double time = m->slots[p->slots.time].r;
    if (p->events.delays.n_moving) {
        koine_run_part(m, &p->parts.derivatives);
        koine_run_part(m, &p->parts.outputs);
    }
    KoineStatus status = KOINE_OK;
    for (uint32_t j = 0; j < p->events.delays.n && status == KOINE_OK; j++) {
        const bool is_bent = m->instant->result.is_restart || m->instant->is_start;
        if (delay_is_along(m, j)) {
            status = koine_end_along(m, j, is_bent && m->instant->bend < LAST_ALONG_BEND);
            koine_enter_piece(m, j);
            continue;
        }
        const DelayState *s = &m->history.delays[j];
        DelayPoint point = { .time = time, .value = m->slots[p->events.delays.at[j].input] };
        const bool jumps = differ(&p->events.delays.at[j], delay_points(m, j)[s->n - 1].value, point.value);
        const bool bends = j < p->events.delays.n_moving && is_bent &&
                           m->instant->bend < (delay_is_changing(m, j) ? LAST_CHANGING_BEND : LAST_BEND);
        point.is_first = jumps || bends;
        point.bend = jumps ? 0 : (uint8_t)(m->instant->bend + 1);
        if (point.is_first || j < p->events.delays.n_moving)
            append(m, j, point);
        if (delay_is_changing(m, j))
            koine_enter_piece(m, j);
    }
    return status == KOINE_OK && p->events.delays.n_changing ? koine_evaluate_dirty(m) : status; /* pieces are left */
}

/* ---- begin of a run ---- */
static KoineStatus check_amounts(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        const double amount = m->slots[p->events.delays.at[j].amount].r;
        const KoineStatus status = delay_is_along(m, j) ? koine_check_profile(m, j) : KOINE_OK;
        if (status != KOINE_OK)
            return status;
        if (delay_is_changing(m, j) || (amount > 0 && isfinite(amount)))
            continue;
        char text[256];
        snprintf(text, sizeof text, "the dead time of '%.120s' is %g: it must be greater than 0",
                 p->events.delays.at[j].name, amount);
        return koine_because(m, KOINE_CAUSE_DEAD_TIME, koine_fault(m, KOINE_FAILED, KOINE_NONE, text));
    }
    return KOINE_OK;
}

/* Without initial value a delay gives what its input is at the start; that may come from other delays. */
static KoineStatus settle(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t round = 0; round <= p->events.delays.n; round++) {
        uint32_t open = KOINE_NONE;
        koine_run_part(m, &p->parts.derivatives);
        koine_run_part(m, &p->parts.outputs);
        for (uint32_t j = 0; j < p->events.delays.n; j++) {
            const KoineDelay *d = &p->events.delays.at[j];
            const KoineSlot otherwise = m->slots[d->has_start ? d->output : d->input];
            const KoineSlot first = delay_is_along(m, j) ? koine_first_along(m, j, otherwise) : otherwise;
            if (!differ(d, m->slots[d->output], first))
                continue;
            m->slots[d->output] = first;
            open = j;
        }
        if (open == KOINE_NONE)
            return KOINE_OK;
        if (round == p->events.delays.n) {
            char text[256];
            snprintf(text, sizeof text,
                     "'%.120s' depends on its own value before the start: give its DELAY an initial value",
                     p->events.delays.at[open].name);
            return koine_because(m, KOINE_CAUSE_DEAD_TIME, koine_fault(m, KOINE_FAILED, KOINE_NONE, text));
        }
        const KoineStatus status = koine_evaluate_all(m);
        if (status != KOINE_OK)
            return status;
    }
    return KOINE_OK;
}

/* The run begins with histories of an earlier one. */
static KoineStatus begin_with_history(Machine *m)
{
    const KoineProgram *p = m->program;
    m->history.is_recalled = false;
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        DelayState *s = &m->history.delays[j];
        if (delay_is_along(m, j)) {
            const KoineStatus status = koine_take_up_along(m, j);
            if (status != KOINE_OK)
                return status;
            koine_enter_piece(m, j);
            m->slots[p->events.delays.at[j].output].r = koine_read_along(m, j);
            continue;
        }
        if (s->n == 0) { /* it is new */
            delay_points(m, j)[0] = (DelayPoint){ .time = m->slots[p->slots.time].r,
                                                  .value = m->slots[p->events.delays.at[j].output],
                                                  .is_first = 1 };
            *s = (DelayState){ .n = 1, .end = 1, .capacity = s->capacity };
        }
        schedule(m, j);
        m->slots[p->events.delays.at[j].output] = delay_points(m, j)[s->segment].value;
        if (j < p->events.delays.n_moving)
            m->slots[p->events.delays.at[j].output].r = value_at(m, j, m->slots[p->slots.time].r);
    }
    koine_run_part(m, &p->parts.derivatives);
    koine_run_part(m, &p->parts.outputs);
    return koine_evaluate_all(m);
}

KoineStatus koine_begin_delays(Machine *m)
{
    const KoineProgram *p = m->program;
    if (p->events.delays.n == 0)
        return KOINE_OK;
    KoineStatus status = check_amounts(m);
    if (status == KOINE_OK && m->history.is_recalled)
        return begin_with_history(m);
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        DelayState *s = &m->history.delays[j];
        s->capacity = s->capacity ? s->capacity : koine_first_points(p);
        delay_points(m, j)[0].value = m->slots[p->events.delays.at[j].output]; /* the start value, if there is one */
    }
    if (status == KOINE_OK)
        status = settle(m);
    for (uint32_t j = 0; j < p->events.delays.n && status == KOINE_OK; j++) {
        DelayState *s = &m->history.delays[j];
        const KoineDelay *d = &p->events.delays.at[j];
        koine_calendar_remove(m, p->events.decisions.n_calendar + j);
        if (delay_is_along(m, j)) {
            koine_begin_along(m, j, d->has_start ? delay_points(m, j)[0].value : m->slots[d->input]);
            continue;
        }
        *s = (DelayState){ .n = 1, .end = 1, .capacity = s->capacity };
        delay_points(m, j)[0] = (DelayPoint){ .time = m->slots[p->slots.time].r,
                                              .value = m->slots[p->events.delays.at[j].output],
                                              .is_first = 1 };
    }
    return status;
}

KoineStatus koine_take_up_delays(Machine *m)
{
    KoineStatus status = check_amounts(m);
    for (uint32_t j = 0; j < m->program->events.delays.n; j++) { /* parameters may be others now */
        if (status == KOINE_OK && delay_is_along(m, j))
            status = koine_take_up_along(m, j);
        schedule(m, j);
    }
    return status;
}

double koine_machine_longest_step(KoineModel *model)
{
    enum { PIECES = 4 }; /* of the largest amount: what is read may lie in the step that is made */
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    double shortest = INFINITY;
    koine_run_part(m, &p->parts.parameters);
    for (uint32_t j = 0; j < p->events.delays.n_moving; j++)
        if (!delay_is_along(m, j)) /* there borders end the steps */
            shortest = fmin(shortest, delay_is_changing(m, j) ? m->slots[p->events.delays.at[j].max].r / PIECES
                                                              : m->slots[p->events.delays.at[j].amount].r);
    return shortest / 2;
}
