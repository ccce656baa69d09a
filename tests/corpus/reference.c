/* Where the value of an expression passes a limit: samples of all the run, every extreme that may reach the limit
 * sought by golden section, every change of sign by bisection. Jumps and kinks of the time are samples, just before and
 * behind.
 */
#include "corpus.h"
#include <math.h>
#include <stdlib.h>

struct Curve {
    const Plan *plan;
    const Node *node;
    uint32_t n;
    Wide *t, *z;
    Wide low, high;
};

/* ---- samples ---- */
typedef struct {
    Wide *at;
    uint32_t n, capacity;
} Times;

static void add_time(Times *times, Wide t)
{
    if (times->n == times->capacity) {
        times->capacity = times->capacity ? 2 * times->capacity : 1024;
        times->at = realloc(times->at, times->capacity * sizeof *times->at);
    }
    times->at[times->n++] = t;
}

static void add_jump(const Plan *plan, Times *times, Wide t)
{
    const Wide beside = 1e-16L * (1 + t);
    if (t > beside && t + beside < plan->stop) {
        add_time(times, t - beside);
        add_time(times, t + beside);
    }
}

/* The times at which the remainder jumps: its argument is affine in the time. */
static void add_remainder(const Plan *plan, const Node *node, Times *times)
{
    const Wide b = node_at(plan, node->a, 0), a = node_at(plan, node->a, 1) - b;
    for (Wide k = ceill(b / node->number);; k++) {
        const Wide t = (k * node->number - b) / a;
        if (t >= plan->stop)
            break;
        add_jump(plan, times, t);
    }
}

/* What changes its sign where the expression has a kink. */
static Wide kinked(const Plan *plan, const Node *node, Wide t)
{
    const Wide a = node_at(plan, node->a, t);
    return node->b ? a - node_at(plan, node->b, t) : a;
}

static void add_kinks(const Plan *plan, const Node *node, uint32_t n, Times *times)
{
    Wide from = 0, before = kinked(plan, node, 0);
    for (uint32_t k = 1; k <= n; k++) {
        const Wide to = (Wide)plan->stop * k / n, now = kinked(plan, node, to);
        Wide a = from, b = to;
        for (int round = 0; round < 70 && (now > 0) != (before > 0); round++) {
            const Wide middle = 0.5L * (a + b);
            if ((kinked(plan, node, middle) > 0) == (before > 0))
                a = middle;
            else
                b = middle;
        }
        if ((now > 0) != (before > 0))
            add_time(times, b);
        from = to;
        before = now;
    }
}

/* Where the expression has no slope, as far as its text tells. */
static void add_corners(const Plan *plan, const Node *node, uint32_t n, Times *times)
{
    if (node->kind == NODE_MOD)
        add_remainder(plan, node, times);
    else if (node->kind == NODE_ABS || node->kind == NODE_MIN || node->kind == NODE_MAX)
        add_kinks(plan, node, n, times);
    if (node->a)
        add_corners(plan, node->a, n, times);
    if (node->b)
        add_corners(plan, node->b, n, times);
}

static int compare(const void *a, const void *b)
{
    const Wide x = *(const Wide *)a, y = *(const Wide *)b;
    return (x > y) - (x < y);
}

Curve *curve_make(const Plan *plan, const Node *node, uint32_t n)
{
    Times times = { 0 };
    for (uint32_t k = 0; k <= n; k++)
        add_time(&times, (Wide)plan->stop * k / n);
    add_corners(plan, node, n, &times);
    for (uint32_t k = 0; k < plan->n_motions; k++)
        for (uint32_t j = 1; j < plan->motions[k].n_pieces; j++)
            add_jump(plan, &times, plan->motions[k].pieces[j].from);
    qsort(times.at, times.n, sizeof *times.at, compare);
    Curve *curve = malloc(sizeof *curve);
    *curve = (Curve){ plan, node, times.n, times.at, malloc(times.n * sizeof(Wide)), INFINITY, -INFINITY };
    for (uint32_t k = 0; k < curve->n; k++) {
        curve->z[k] = node_at(plan, node, curve->t[k]);
        curve->low = fminl(curve->low, curve->z[k]);
        curve->high = fmaxl(curve->high, curve->z[k]);
    }
    return curve;
}

void curve_free(Curve *curve)
{
    free(curve->t);
    free(curve->z);
    free(curve);
}

Wide curve_low(const Curve *curve)
{
    return curve->low;
}

Wide curve_high(const Curve *curve)
{
    return curve->high;
}

/* ---- extremes ---- */
/* 1: a maximum, -1: a minimum, 0: neither. */
static int extreme_at(const Curve *curve, uint32_t k)
{
    if (k == 0 || k + 1 >= curve->n)
        return 0;
    const Wide a = curve->z[k - 1], b = curve->z[k], c = curve->z[k + 1];
    return b >= a && b >= c ? 1 : b <= a && b <= c ? -1 : 0;
}

typedef struct {
    Wide t, z;
} Spot;

/* The highest (sign 1) or lowest value about sample k. */
static Spot refine(const Curve *curve, uint32_t k, int sign)
{
    const Wide golden = 0.6180339887498948482L;
    Wide a = curve->t[k - 1], b = curve->t[k + 1];
    Wide p = b - golden * (b - a), q = a + golden * (b - a);
    Wide zp = sign * node_at(curve->plan, curve->node, p), zq = sign * node_at(curve->plan, curve->node, q);
    Spot best = { curve->t[k], sign * curve->z[k] };
    for (int round = 0; round < 80 && b - a > 1e-17L * b; round++) {
        if (zp > best.z)
            best = (Spot){ p, zp };
        if (zq > best.z)
            best = (Spot){ q, zq };
        if (zp > zq) {
            b = q;
            q = p;
            zq = zp;
            p = b - golden * (b - a);
            zp = sign * node_at(curve->plan, curve->node, p);
        } else {
            a = p;
            p = q;
            zp = zq;
            q = a + golden * (b - a);
            zq = sign * node_at(curve->plan, curve->node, q);
        }
    }
    best.z *= sign;
    return best;
}

bool curve_extreme(const Curve *curve, Dice *dice, Wide *value, bool *is_maximum)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < curve->n; k++)
        n += extreme_at(curve, k) != 0;
    if (n == 0)
        return false;
    uint32_t wanted = dice_below(dice, n);
    for (uint32_t k = 0; k < curve->n; k++) {
        const int sign = extreme_at(curve, k);
        if (sign != 0 && wanted-- == 0) {
            *value = refine(curve, k, sign).z;
            *is_maximum = sign > 0;
            return true;
        }
    }
    return false;
}

/* ---- events ---- */
static Wide crossing(const Curve *curve, Wide limit, Spot a, Spot b)
{
    for (int round = 0; round < 200; round++) {
        Wide t = a.t - (a.z - limit) * (b.t - a.t) / (b.z - a.z);
        if (round % 3 == 2 || !(t > a.t && t < b.t))
            t = 0.5L * (a.t + b.t);
        if (!(t > a.t && t < b.t))
            break;
        const Spot c = { t, node_at(curve->plan, curve->node, t) };
        if ((c.z > limit) == (a.z > limit))
            a = c;
        else
            b = c;
        if (b.t - a.t <= 2e-19L * b.t)
            break;
    }
    return b.t;
}

typedef struct {
    const Curve *curve;
    Comparison *comparison;
    Spot last;
    bool is_good;
} Walk;

static void walk_to(Walk *walk, Spot spot)
{
    Comparison *c = walk->comparison;
    const Wide limit = c->limit;
    if ((spot.z > limit) != (walk->last.z > limit)) {
        if (c->n_events == MOST_EVENTS) {
            walk->is_good = false;
            return;
        }
        c->events[c->n_events++] = (Change){ crossing(walk->curve, limit, walk->last, spot), spot.z > limit };
    }
    walk->last = spot;
}

/* Extremes and ends keep away from the limit; an extreme moves by no more than samples about it differ. */
static void keep_away(Walk *walk, Spot spot)
{
    if (fabsl(spot.z - walk->comparison->limit) < allowed(walk->curve->plan, walk->comparison, spot.t))
        walk->is_good = false;
}

bool curve_events(const Curve *curve, Comparison *c)
{
    Walk walk = { curve, c, { curve->t[0], curve->z[0] }, true };
    c->n_events = 0;
    c->at_start = curve->z[0] > c->limit;
    keep_away(&walk, walk.last);
    for (uint32_t k = 1; k < curve->n && walk.is_good; k++) {
        const int sign = extreme_at(curve, k);
        Spot spot = { curve->t[k], curve->z[k] };
        if (sign != 0) {
            const Wide swing =
                fmaxl(fabsl(spot.z - curve->z[k - 1]), fabsl(spot.z - curve->z[k + 1])) + 1e-3L * c->range;
            if (fabsl(spot.z - c->limit) < swing)
                spot = refine(curve, k, sign);
            keep_away(&walk, spot);
        }
        if (spot.t > curve->t[k])
            walk_to(&walk, (Spot){ curve->t[k], curve->z[k] });
        walk_to(&walk, spot);
        if (spot.t < curve->t[k])
            walk_to(&walk, (Spot){ curve->t[k], curve->z[k] });
    }
    keep_away(&walk, walk.last);
    return walk.is_good;
}

/* ---- what may be off ---- */
Wide allowed(const Plan *plan, const Comparison *c, Wide t)
{
    static const Wide tolerance = 1e-6L;
    if (c->of_time)
        return 0.9e-9L * c->range;
    Wide x[MOST_STATES], off = 1000 * tolerance * c->range;
    for (uint32_t k = 0; k < plan->n_motions; k++)
        motion_at(&plan->motions[k], t, x + plan->motions[k].first_state);
    const Wide here = node_value(plan, c->value, t, x);
    for (uint32_t k = 0; k < plan->n_states; k++) {
        const Wide was = x[k], by = (plan->bounces[k] ? 500 : 100) * tolerance * plan->size[k];
        x[k] = was + by;
        const Wide up = fabsl(node_value(plan, c->value, t, x) - here);
        x[k] = was - by;
        off += fmaxl(up, fabsl(node_value(plan, c->value, t, x) - here));
        x[k] = was;
    }
    return off;
}
