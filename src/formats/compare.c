#include "formats/compare.h"
#include <math.h>

static double value_at(const Curve *curve, uint64_t k)
{
    return curve->values[curve->is_constant ? 0 : k];
}

double tube_height(const Curve *reference, double tube, double absolute)
{
    const double OF_LARGEST = 1e-3; /* a small ripple on a large value is not compared more closely than this */
    double smallest = INFINITY, largest = -INFINITY;
    for (uint64_t k = 0; k < (reference->is_constant ? 1 : reference->n); k++) {
        const double value = value_at(reference, k);
        if (!isfinite(value))
            continue;
        smallest = fmin(smallest, value);
        largest = fmax(largest, value);
    }
    if (smallest > largest)
        return absolute;
    return fmax(tube * fmax(largest - smallest, OF_LARGEST * fmax(fabs(smallest), fabs(largest))), absolute);
}

/* Indices of the points in a window that moves to the right, those first that are the largest (or smallest). */
typedef struct {
    uint64_t *at;
    uint64_t first, end;
    double sign;
} Queue;

typedef struct {
    const Curve *curve;
    Queue largest, smallest;
    uint64_t first, end; /* points in the window */
    uint64_t n_gaps;     /* nan among them */
} Window;

static void queue_add(const Curve *curve, Queue *q, uint64_t k)
{
    while (q->end > q->first && q->sign * value_at(curve, q->at[q->end - 1]) <= q->sign * value_at(curve, k))
        q->end--;
    q->at[q->end++] = k;
}

static void queue_drop(Queue *q, uint64_t first)
{
    while (q->first < q->end && q->at[q->first] < first)
        q->first++;
}

/* Points with times from `from` to `to`; neither ever goes back. */
static void move_window(Window *w, double from, double to)
{
    const Curve *c = w->curve;
    for (; w->end < c->n && c->times[w->end] <= to; w->end++) {
        if (isnan(value_at(c, w->end))) {
            w->n_gaps++;
            continue;
        }
        queue_add(c, &w->largest, w->end);
        queue_add(c, &w->smallest, w->end);
    }
    for (; w->first < w->end && c->times[w->first] < from; w->first++)
        w->n_gaps -= isnan(value_at(c, w->first));
    queue_drop(&w->largest, w->first);
    queue_drop(&w->smallest, w->first);
}

/* Between point k - 1 and point k. */
static double interpolate(const Curve *c, uint64_t k, double time)
{
    const double from = c->times[k - 1], to = c->times[k], a = value_at(c, k - 1), b = value_at(c, k);
    return a == b ? a : a + (b - a) * ((time - from) / (to - from));
}

typedef struct {
    double low, high;
    bool has_gap;
} Core;

static void widen(Core *core, double value)
{
    if (isnan(value)) {
        core->has_gap = true;
        return;
    }
    core->low = fmin(core->low, value);
    core->high = fmax(core->high, value);
}

/* The values of the reference from `from` to `to`. */
static Core core_of(Window *w, double from, double to)
{
    const Curve *c = w->curve;
    move_window(w, from, to);
    Core core = { INFINITY, -INFINITY, w->n_gaps > 0 };
    if (w->largest.first < w->largest.end) {
        core.high = value_at(c, w->largest.at[w->largest.first]);
        core.low = value_at(c, w->smallest.at[w->smallest.first]);
    }
    if (w->first > 0 && w->first < c->n && c->times[w->first] > from)
        widen(&core, interpolate(c, w->first, from));
    if (w->end > 0 && w->end < c->n && c->times[w->end - 1] < to)
        widen(&core, interpolate(c, w->end, to));
    return core;
}

static double distance(const Core *core, double value)
{
    if (isnan(value))
        return core->has_gap ? 0 : INFINITY;
    if (core->low > core->high)
        return INFINITY;
    return value > core->high ? value - core->high : value < core->low ? core->low - value : 0;
}

static Window window_on(const Curve *curve, Arena *arena)
{
    Window w = { .curve = curve };
    w.largest = (Queue){ .at = NEW_ARRAY(arena, uint64_t, curve->n), .sign = 1 };
    w.smallest = (Queue){ .at = NEW_ARRAY(arena, uint64_t, curve->n), .sign = -1 };
    return w;
}

static void look(Window *w, double time, double value, double width, Deviation *worst)
{
    const Curve *c = w->curve;
    if (time < c->times[0] - width || time > c->times[c->n - 1] + width)
        return; /* that the curves do not cover the same time is another finding */
    const double from = fmax(time - width, c->times[0]), to = fmin(time + width, c->times[c->n - 1]);
    const Core core = core_of(w, fmin(from, to), fmax(from, to));
    const double d = distance(&core, value);
    if (!(d > worst->deviation))
        return;
    *worst = (Deviation){ worst->height, d, time, value, core.low, core.high };
}

Deviation compare_curves(const Curve *reference, const Curve *other, double width, double height, Arena *arena)
{
    Deviation worst = { .height = height };
    if (reference->n == 0 || other->n == 0)
        return worst;
    worst.time = other->times[0];
    worst.value = value_at(other, 0);
    worst.low = worst.high = value_at(reference, 0);
    Window w = window_on(reference, arena);
    for (uint64_t k = 0; k < other->n; k++)
        look(&w, other->times[k], value_at(other, k), width, &worst);
    w = window_on(reference, arena);
    for (uint64_t k = 0, i = 1; k < reference->n && i < other->n; k++) {
        const double time = reference->times[k];
        while (i < other->n && other->times[i] <= time)
            i++;
        if (i < other->n && other->times[i - 1] < time)
            look(&w, time, interpolate(other, i, time), width, &worst);
    }
    return worst;
}
