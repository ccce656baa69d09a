/* Delays along a position: transport over a length, forwards and back.
 *
 * What went in moves with the position. Its points stand in the history by their own place: the position when they came
 * by the near end. So the profile is what lies from position - length to position, in ascending order. While the flow
 * goes forwards points are put behind the last one, and what is read lies at position - length; while it goes back they
 * are put before the first one, there, and the output is the input. Where the flow turns, what has left is cut off.
 *
 * Each point knows when it went in. What lies between is read by that time: places lie as close as you like where the
 * flow comes to rest, times do not. */
#include "delays.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

static const double CLOSEST = 1e-8;     /* part of the length: points closer than this are one */
static const double SLACK = 1e-6;       /* part of the length: a position that goes the wrong way by rounding */
static const double NEXT_BORDER = 0.25; /* part of the length: so far goes a step at most */
static const double NO_BORDER = 1e30;

static double length_of(const Machine *m, const KoineDelay *d)
{
    return m->slots[d->amount].r;
}

static bool is_back_now(const Machine *m, const KoineDelay *d)
{
    return d->forward != KOINE_NONE && !m->slots[d->forward].i;
}

static KoineStatus refuse(Machine *m, const KoineDelay *d, const char *what)
{
    char text[320];
    snprintf(text, sizeof text, "'%.120s' is delayed along %.12g: %s", d->name, delay_now(m, d), what);
    koine_fault(m, KOINE_FAILED, KOINE_NONE, text);
    if (d->variable != KOINE_NONE)
        m->model->fault.place = m->program->tables->variables[d->variable].place;
    return koine_because(m, KOINE_CAUSE_DEAD_TIME, KOINE_FAILED);
}

/* ---- between points ---- */
typedef struct {
    double entered, value;
} Material;

/* Of a polynomial by the time they went in. */
static Material at_time(const DelayPoint *points, uint32_t n, double time, double *position)
{
    Material sum = { .entered = time };
    *position = 0;
    for (uint32_t i = 0; i < n; i++) {
        double weight = 1;
        for (uint32_t j = 0; j < n; j++)
            if (j != i)
                weight *= (time - points[j].entered) / (points[i].entered - points[j].entered);
        sum.value += weight * points[i].value.r;
        *position += weight * points[i].time;
    }
    return sum;
}

/* Secants, and the middle each third time: what went in between points[at] and the next one. */
static Material find_material(const DelayPoint *points, uint32_t n, uint32_t at, double position)
{
    enum { MOST = 120 };
    DelayPoint low = points[at], high = points[at + 1];
    Material found = { low.entered, low.value.r };
    const double enough = 2 * DBL_EPSILON * (fabs(low.time) + fabs(high.time));
    for (int k = 0; k < MOST && position > low.time; k++) {
        const double span = high.entered - low.entered;
        const double share = k % 3 == 2 ? 0.5 : (position - low.time) / (high.time - low.time);
        const double time = low.entered + share * span;
        double reached;
        found = at_time(points, n, time, &reached);
        if (fabs(reached - position) <= enough || fabs(span) <= 2 * DBL_EPSILON * fabs(time))
            break;
        DelayPoint *end = reached < position ? &low : &high;
        end->entered = time;
        end->time = reached;
    }
    return found;
}

/* What is at a position of the smooth piece of the points from first to before end. */
static Material material_at(const DelayPoint *points, uint32_t first, uint32_t end, double position)
{
    const uint32_t at = koine_last_not_after(points, first, end, position);
    if (at + 1 >= end)
        return (Material){ points[end - 1].entered, points[end - 1].value.r };
    if (position <= points[at].time)
        return (Material){ points[at].entered, points[at].value.r };
    const uint32_t n = end - first < DELAY_WINDOW ? end - first : DELAY_WINDOW;
    uint32_t from = at > first ? at - 1 : first;
    if (from + n > end)
        from = end - n;
    return find_material(points + from, n, at - from, position);
}

/* The step is longer than all that lies in the profile: up to the input as it is now. */
static double read_newest(const Machine *m, const KoineDelay *d, uint32_t delay, double then)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    DelayPoint window[DELAY_WINDOW];
    uint32_t n = 0, from = s->n > DELAY_WINDOW - 1 ? s->n - (DELAY_WINDOW - 1) : 0;
    for (from = from > s->segment ? from : s->segment; from < s->n; from++)
        window[n++] = points[from];
    window[n++] = (DelayPoint){ .time = delay_now(m, d),
                                .entered = m->slots[m->program->slots.time].r,
                                .value = m->slots[d->input] };
    return material_at(window, 0, n, then).value;
}

double koine_read_along(const Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    const double then = delay_now(m, d) - length_of(m, d);
    if (s->is_back)
        return m->slots[d->input].r;
    if (then <= points[s->segment].time)
        return points[s->segment].value.r;
    if (then <= points[s->end - 1].time)
        return material_at(points, s->segment, s->end, then).value;
    return s->end == s->n ? read_newest(m, d, delay, then) : points[s->end - 1].value.r;
}

double koine_leave_along(const Machine *m, uint32_t delay, double at)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const double length = length_of(m, d), border = delay_now(m, d) - length + NEXT_BORDER * length;
    return m->history.delays[delay].is_back ? NO_BORDER : fmin(at, border);
}

/* ---- the list of points ---- */
static void insert(Machine *m, uint32_t delay, uint32_t at, DelayPoint point)
{
    DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    memmove(points + at + 1, points + at, (s->n - at) * sizeof *points);
    points[at] = point;
    s->n++;
}

static void drop_first(Machine *m, uint32_t delay, uint32_t n)
{
    DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    memmove(points, points + n, (s->n - n) * sizeof *points);
    s->n -= n;
    s->end = s->end > n ? s->end - n : 0;
    s->segment = s->segment > n ? s->segment - n : 0;
    points[0].is_first = 1;
}

static uint32_t begin_of(const DelayPoint *points, uint32_t at)
{
    while (at && !points[at].is_first)
        at--;
    return at;
}

static uint32_t end_of(const DelayPoint *points, uint32_t at, uint32_t n)
{
    do
        at++;
    while (at < n && !points[at].is_first);
    return at;
}

/* What came by the near end is gone: above the position. */
static void cut_above(Machine *m, uint32_t delay, double position)
{
    DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    uint32_t n = s->n;
    while (n > 1 && points[n - 1].time >= position)
        n--;
    if (n == s->n || points[n - 1].time >= position)
        return;
    if (points[n].is_first) {
        s->n = n;
        return;
    }
    const Material there = material_at(points, begin_of(points, n - 1), end_of(points, n - 1, s->n), position);
    s->n = n;
    insert(m, delay, n, (DelayPoint){ .time = position, .entered = there.entered, .value = { .r = there.value } });
}

/* What came by the far end is gone: below the position. */
static void cut_below(Machine *m, uint32_t delay, double position)
{
    const DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    if (points[0].time >= position)
        return;
    const uint32_t at = koine_last_not_after(points, 0, s->n, position), end = end_of(points, at, s->n);
    if (at + 1 < end) {
        const Material there = material_at(points, begin_of(points, at), end, position);
        points[at].entered = there.entered;
        points[at].value.r = there.value;
    }
    points[at].time = position;
    drop_first(m, delay, at);
}

bool koine_turn_along(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    const double position = delay_now(m, d);
    if (s->is_back == is_back_now(m, d))
        return false;
    s->is_back = !s->is_back;
    if (s->is_back)
        cut_below(m, delay, position - length_of(m, d));
    else
        cut_above(m, delay, position);
    s->segment = 0;
    s->end = end_of(delay_points(m, delay), 0, s->n);
    return true;
}

void koine_drop_along(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    const double position = delay_now(m, d);
    if (s->is_back) {
        const uint32_t at = koine_last_not_after(points, 0, s->n, position);
        s->n = s->n - at > DELAY_WINDOW ? at + DELAY_WINDOW : s->n;
        return;
    }
    const uint32_t at = koine_last_not_after(points, 0, s->n, position - length_of(m, d));
    const uint32_t n = at > DELAY_WINDOW ? at - DELAY_WINDOW : 0;
    if (n >= s->capacity / 2)
        drop_first(m, delay, n);
}

/* ---- writing ---- */
static DelayPoint *inlet_of(const Machine *m, uint32_t delay)
{
    const DelayState *s = &m->history.delays[delay];
    return &delay_points(m, delay)[s->is_back ? 0 : s->n - 1];
}

/* No other point of its piece. */
static bool is_alone(const Machine *m, uint32_t delay)
{
    const DelayState *s = &m->history.delays[delay];
    const DelayPoint *points = delay_points(m, delay);
    return s->is_back ? s->n > 1 && points[1].is_first : s->n > 1 && points[s->n - 1].is_first;
}

static void put_behind(Machine *m, uint32_t delay, DelayPoint point)
{
    DelayState *s = &m->history.delays[delay];
    const bool is_read = !point.is_first && s->end == s->n;
    insert(m, delay, s->n, point);
    if (is_read)
        s->end = s->n;
}

/* The first point is always the first of a piece: that of the bend is the one behind it. */
static void put_before(Machine *m, uint32_t delay, DelayPoint point)
{
    DelayPoint *first = delay_points(m, delay);
    first->is_first = point.is_first;
    first->bend = point.bend;
    point.is_first = 1;
    insert(m, delay, 0, point);
}

/* The point stands where another piece begins, and nothing has moved since. */
static void replace_alone(Machine *m, uint32_t delay, DelayPoint point)
{
    DelayPoint *inlet = inlet_of(m, delay), *border = m->history.delays[delay].is_back ? inlet + 1 : inlet;
    if (inlet->value.r != point.value.r)
        border->bend = 0;
    inlet->value = point.value;
    inlet->entered = point.entered;
}

KoineStatus koine_put_along(Machine *m, uint32_t delay, DelayPoint point)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const bool is_back = m->history.delays[delay].is_back;
    const double length = length_of(m, d);
    DelayPoint *inlet = inlet_of(m, delay);
    if (is_back)
        point.time -= length;
    const double way = is_back ? inlet->time - point.time : point.time - inlet->time;
    if (!(way >= -SLACK * length))
        return refuse(m, d,
                      d->forward == KOINE_NONE ? "the position goes back, and nothing is said of what goes in then"
                                               : "the position moves against the direction that is said");
    if (!point.is_first && point.entered == inlet->entered)
        return KOINE_OK;
    const bool is_close = way <= CLOSEST * length;
    if (way <= 0)
        point.time = inlet->time;
    const bool is_border = is_alone(m, delay);
    if (way <= 0 && is_border) {
        replace_alone(m, delay, point);
        return KOINE_OK;
    }
    if (way <= 0 && !point.is_first) { /* it rests, and what is at the end becomes another */
        point.is_first = 1;
        point.bend = point.value.r != inlet->value.r ? 0 : 1;
    }
    if (is_close && !point.is_first && !is_border) {
        point.is_first = inlet->is_first;
        point.bend = inlet->bend;
        *inlet = point;
    } else if (is_back)
        put_before(m, delay, point);
    else
        put_behind(m, delay, point);
    return KOINE_OK;
}

KoineStatus koine_end_along(Machine *m, uint32_t delay, bool bends)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const DelayPoint *inlet = inlet_of(m, delay);
    DelayPoint point = { .time = delay_now(m, d),
                         .entered = m->slots[m->program->slots.time].r,
                         .value = m->slots[d->input] };
    const double end = m->history.delays[delay].is_back ? point.time - length_of(m, d) : point.time;
    if (inlet->entered == point.entered && !(fabs(end - inlet->time) <= SLACK * length_of(m, d)))
        return refuse(m, d, "the position jumps");
    const bool jumps = inlet->value.r != point.value.r;
    point.is_first = jumps || bends;
    point.bend = jumps ? 0 : (uint8_t)(m->instant->bend + 1);
    return koine_put_along(m, delay, point);
}

/* ---- begin of a run ---- */
uint32_t koine_first_points(const KoineProgram *p)
{
    uint32_t n = KOINE_FIRST_POINTS;
    for (uint32_t j = 0; j < p->events.delays.n; j++)
        if (2 * p->events.delays.at[j].n_points + KOINE_FIRST_POINTS / 2 > n)
            n = 2 * p->events.delays.at[j].n_points + KOINE_FIRST_POINTS / 2;
    return n;
}

static double profile_at(const Machine *m, const KoineDelay *d, uint32_t k)
{
    return m->slots[d->profile[k]].r;
}

KoineStatus koine_check_profile(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    const uint32_t n = d->n_points;
    if (!(length_of(m, d) > 0 && isfinite(length_of(m, d))))
        return refuse(m, d, "the length must be greater than 0");
    if (n == 0)
        return KOINE_OK;
    bool is_good = profile_at(m, d, 0) == 0 && profile_at(m, d, n - 1) == 1;
    for (uint32_t k = 1; k < n; k++)
        is_good &= profile_at(m, d, k) > profile_at(m, d, k - 1);
    return is_good ? KOINE_OK : refuse(m, d, "the points at the start must ascend from 0 to 1");
}

KoineSlot koine_first_along(const Machine *m, uint32_t delay, KoineSlot otherwise)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    if (is_back_now(m, d))
        return m->slots[d->input];
    return d->n_points ? m->slots[d->profile[2 * d->n_points - 1]] : otherwise;
}

void koine_begin_along(Machine *m, uint32_t delay, KoineSlot constant)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    DelayPoint *points = delay_points(m, delay);
    const uint32_t n = d->n_points, n_pieces = n ? n - 1 : 1;
    const double position = delay_now(m, d);
    for (uint32_t k = 0; k < 2 * n_pieces; k++) { /* from the far end; each piece is a straight line */
        const uint32_t at = n_pieces - (k + 1) / 2;
        const double share = n ? profile_at(m, d, at) : at;
        const double place = position - share * length_of(m, d);
        points[k] = (DelayPoint){ .time = place,
                                  .entered = place,
                                  .value = n ? m->slots[d->profile[n + at]] : constant,
                                  .is_first = k % 2 == 0,
                                  .bend = 1 };
    }
    *s = (DelayState){ .n = 2 * n_pieces, .end = 2, .capacity = s->capacity, .is_back = is_back_now(m, d) };
}

KoineStatus koine_take_up_along(Machine *m, uint32_t delay)
{
    const KoineDelay *d = &m->program->events.delays.at[delay];
    DelayState *s = &m->history.delays[delay];
    if (s->n == 0) { /* it is new */
        koine_begin_along(m, delay, m->slots[d->has_start ? d->output : d->input]);
        return KOINE_OK;
    }
    const double position = delay_now(m, d), length = length_of(m, d);
    s->is_back = is_back_now(m, d);
    if (s->is_back)
        cut_below(m, delay, position - length);
    else
        cut_above(m, delay, position);
    const DelayPoint *points = delay_points(m, delay);
    if (!(points[0].time <= position - length + SLACK * length && points[s->n - 1].time >= position - SLACK * length))
        return refuse(m, d, "the profile that an earlier run has left has another position or length");
    if (s->segment >= s->n || !points[s->segment].is_first)
        s->segment = 0;
    s->end = end_of(points, s->segment, s->n);
    return KOINE_OK;
}
