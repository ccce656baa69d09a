/* A model for a seed: motions, expressions of the time and of states, and limits of which half are close to an
 * extreme. */
#include "corpus.h"
#include <math.h>
#include <string.h>

static const Node *number(Plan *p, double x)
{
    return node_make(p, NODE_NUMBER, short_number(x), 0, NULL, NULL);
}

static const Node *one(Plan *p, NodeKind kind, const Node *a)
{
    return node_make(p, kind, 0, 0, a, NULL);
}

static const Node *two(Plan *p, NodeKind kind, const Node *a, const Node *b)
{
    return node_make(p, kind, 0, 0, a, b);
}

static const Node *affine(Plan *p, double slope, const Node *x, double shift)
{
    return two(p, NODE_ADD, two(p, NODE_MUL, number(p, slope), x), number(p, shift));
}

static const Node *now(Plan *p)
{
    return node_make(p, NODE_TIME, 0, 0, NULL, NULL);
}

/* ---- functions of the time ---- */
/* rad per unit of time. */
static double frequency(Plan *p)
{
    return dice_scale(&p->dice, 3 / p->stop, fmin(60, 600 / p->stop));
}

static const Node *angle(Plan *p)
{
    return affine(p, frequency(p), now(p), dice_between(&p->dice, 0, 6));
}

static const Node *sine(Plan *p)
{
    return one(p, dice_chance(&p->dice, 0.5) ? NODE_SIN : NODE_COS, angle(p));
}

static const Node *polynomial(Plan *p)
{
    const uint32_t n = 2 + dice_below(&p->dice, 3);
    const Node *product = number(p, dice_between(&p->dice, 1, 10));
    for (uint32_t k = 0; k < n; k++)
        product = two(p, NODE_MUL, product, affine(p, 1 / p->stop, now(p), -dice_between(&p->dice, -0.1, 1.1)));
    return product;
}

static const Node *remainder_of_time(Plan *p, double period)
{
    const double slope = dice_scale(&p->dice, 2 * period / p->stop, 20 * period / p->stop);
    return node_make(p, NODE_MOD, period, 0, affine(p, slope, now(p), dice_between(&p->dice, 0, period)), NULL);
}

static const Node *table_of_time(Plan *p)
{
    Knots *table = &p->table;
    if (table->n == 0) {
        table->n = 4 + dice_below(&p->dice, MOST_POINTS - 3);
        for (uint32_t k = 0; k < table->n; k++) {
            table->x[k] = short_number(k == 0 ? 0 : table->x[k - 1] + dice_between(&p->dice, 0.3, 2));
            table->y[k] = short_number(dice_between(&p->dice, -2, 2));
        }
    }
    const double end = table->x[table->n - 1]; /* arguments stay inside of the table */
    const Node *argument = dice_chance(&p->dice, 0.5)
                               ? affine(p, 1, remainder_of_time(p, short_number(0.998 * end)), 0.001 * end)
                               : affine(p, 0.499 * end, sine(p), 0.5 * end);
    return node_make(p, NODE_TABLE, 0, 0, argument, NULL);
}

static void make_function(Plan *p)
{
    const Node *u = one(p, NODE_ARGUMENT, NULL), *w = one(p, NODE_LOCAL, NULL);
    const double a = dice_between(&p->dice, 0.5, 4), b = dice_between(&p->dice, -1, 1);
    switch (dice_below(&p->dice, p->is_dymola ? 2 : 3)) {
    case 0:
        p->function.kind = FUNCTION_PLAIN;
        p->function.first = one(p, NODE_SIN, affine(p, a, u, b));
        p->function.second = two(p, NODE_ADD, one(p, NODE_SQUARE, w), two(p, NODE_MUL, number(p, b), w));
        break;
    case 1: /* a kink */
        p->function.kind = FUNCTION_BRANCH;
        p->function.first = two(p, NODE_MAX, u, number(p, b));
        p->function.second = two(p, NODE_ADD, w, two(p, NODE_MUL, number(p, 0.3 * a), u));
        break;
    default:
        p->function.kind = FUNCTION_LOOP;
        p->function.first = two(p, NODE_MUL, u, two(p, NODE_MUL, u, u));
        p->function.second = two(p, NODE_ADD, w, two(p, NODE_MUL, number(p, -a), u));
    }
}

static const Node *call_of(Plan *p, const Node *argument)
{
    if (p->function.kind == FUNCTION_NONE)
        make_function(p);
    return one(p, NODE_CALL, argument);
}

static const Node *element(Plan *p)
{
    if (!p->array.is_used) {
        p->array.is_used = true;
        p->array.is_sine = !p->is_dymola && dice_chance(&p->dice, 0.5);
        for (int k = 0; k < N_ELEMENTS; k++) {
            p->array.slope[k] = short_number(frequency(p));
            p->array.shift[k] = short_number(dice_between(&p->dice, 0, 6));
        }
    }
    const Node *own = node_make(p, NODE_ELEMENT, 0, dice_below(&p->dice, N_ELEMENTS), NULL, NULL);
    return p->array.is_sine ? own : one(p, NODE_SIN, own);
}

static const Node *time_atom(Plan *p)
{
    Dice *d = &p->dice;
    switch (dice_below(d, 12)) {
    case 0: return two(p, NODE_MUL, number(p, dice_between(d, 0.3, 2)), sine(p));
    case 1: return two(p, NODE_MUL, sine(p), sine(p));
    case 2: return two(p, NODE_ADD, sine(p), two(p, NODE_MUL, number(p, dice_between(d, 0.3, 2)), sine(p)));
    case 3: { /* narrow pulses */
        const double k = dice_scale(d, 2, 60);
        return one(p, NODE_EXP, affine(p, k, sine(p), -k));
    }
    case 4:
        return two(p, NODE_MUL, one(p, NODE_EXP, affine(p, -dice_between(d, 0.5, 3) / p->stop, now(p), 0.2)), sine(p));
    case 5: return one(p, NODE_ABS, sine(p));
    case 6: return remainder_of_time(p, short_number(dice_between(d, 0.5, 2)));
    case 7: return polynomial(p);
    case 8: return p->is_dymola ? two(p, NODE_MAX, sine(p), sine(p)) : table_of_time(p);
    case 9: return call_of(p, dice_chance(d, 0.5) ? sine(p) : affine(p, 2 / p->stop, now(p), -0.5));
    case 10: return element(p);
    default: return two(p, dice_chance(d, 0.5) ? NODE_MIN : NODE_MAX, sine(p), polynomial(p));
    }
}

static const Node *joined(Plan *p, const Node *a, const Node *b)
{
    return two(p, dice_chance(&p->dice, 0.6) ? NODE_ADD : NODE_MUL, a, b);
}

static const Node *time_function(Plan *p)
{
    const Node *value = time_atom(p);
    for (uint32_t k = dice_below(&p->dice, 3); k > 0; k--)
        value = joined(p, value, time_atom(p));
    return value;
}

/* ---- functions of states ---- */
static const Node *state(Plan *p, uint32_t *k)
{
    *k = dice_below(&p->dice, p->n_states);
    return node_make(p, NODE_STATE, 0, *k, NULL, NULL);
}

/* A sine of a state, of up to 60 rad per unit of time. */
static const Node *wave(Plan *p)
{
    uint32_t k;
    const Node *x = state(p, &k);
    const double fastest = fmin(60, 300 / p->stop), speed = fmax((double)p->speed[k], 1e-3);
    const double slope = dice_scale(&p->dice, 0.05, 1) * fastest / speed;
    return one(p, dice_chance(&p->dice, 0.5) ? NODE_SIN : NODE_COS, affine(p, slope, x, dice_between(&p->dice, 0, 6)));
}

static const Node *unit_state(Plan *p)
{
    uint32_t k;
    const Node *x = state(p, &k);
    return two(p, NODE_MUL, number(p, 1 / fmax((double)p->size[k], 1e-3)), x);
}

static const Node *state_atom(Plan *p)
{
    switch (dice_below(&p->dice, 10)) {
    case 0: return unit_state(p);
    case 1: return two(p, NODE_MUL, unit_state(p), unit_state(p));
    case 2: return one(p, NODE_SQUARE, unit_state(p));
    case 3: return one(p, NODE_EXP, two(p, NODE_MUL, number(p, dice_between(&p->dice, -3, 3)), unit_state(p)));
    case 4: return one(p, NODE_ABS, unit_state(p));
    case 5: return two(p, NODE_MUL, unit_state(p), sine(p));
    case 6: return call_of(p, unit_state(p));
    case 7: return two(p, NODE_MUL, wave(p), wave(p));
    default: return wave(p);
    }
}

static const Node *state_function(Plan *p)
{
    const Node *value = state_atom(p);
    if (dice_chance(&p->dice, 0.4))
        value = joined(p, value, state_atom(p));
    if (dice_chance(&p->dice, 0.25))
        value = joined(p, value, sine(p));
    return value;
}

/* ---- motions ---- */
static void choose_motion(Plan *p, Motion *m)
{
    Dice *d = &p->dice;
    const double stop = p->stop;
    m->kind = (MotionKind)dice_below(d, N_MOTION_KINDS);
    m->start[0] = dice_between(d, -2, 2);
    m->start[1] = dice_between(d, -2, 2);
    m->level[0] = dice_between(d, -2, 2);
    m->level[1] = dice_between(d, -2, 2);
    m->p[0] = dice_scale(d, 0.5, 10) / stop;
    m->n_states = m->kind == MOTION_WHEEL || m->kind == MOTION_FALL || m->kind == MOTION_BALL ? 2 : 1;
    m->drive = (Drive)dice_below(d, 3);
    m->factor = dice_between(d, 0.3, 1);
    m->offset = dice_between(d, -0.5, 0.5);
    switch (m->kind) {
    case MOTION_WHEEL:
        m->p[0] = dice_between(d, -1.5, 0) / stop;
        m->level[0] = dice_scale(d, 3, 40) / stop;
        m->level[1] = dice_scale(d, 3, 40) / stop;
        break;
    case MOTION_FALL:
        m->start[1] /= stop;
        m->level[0] *= 3 / stop / stop;
        m->level[1] *= 3 / stop / stop;
        break;
    case MOTION_PHASE:
        m->level[0] = dice_scale(d, 0.1, 1) * fmin(60, 300 / stop);
        m->level[1] = dice_scale(d, 0.1, 1) * fmin(60, 300 / stop);
        break;
    case MOTION_SWEEP:
        m->level[0] = dice_between(d, 0, 20) / stop;
        m->level[1] = dice_between(d, 0, 20) / stop;
        m->p[0] = dice_between(d, 10, 100) / stop / stop;
        break;
    case MOTION_LOGISTIC:
        m->start[0] = dice_scale(d, 0.01, 0.5);
        m->level[0] = dice_scale(d, 3, 20) / stop;
        m->level[1] = dice_scale(d, 3, 20) / stop;
        m->drive = m->drive == DRIVE_JUMP ? DRIVE_NONE : m->drive;
        break;
    case MOTION_DRIVEN:
        m->p[0] = dice_scale(d, 3, 60) / stop;
        m->p[1] = dice_between(d, 0, 6);
        m->level[0] *= m->p[0];
        m->level[1] *= m->p[0];
        break;
    case MOTION_STIFF:
        m->p[0] = dice_scale(d, 10, 2000) / stop;
        m->drive = DRIVE_NONE;
        break;
    case MOTION_RELAX:
        m->p[0] = dice_scale(d, 4, 40) / stop;
        m->level[0] = dice_between(d, -3, -1.5);
        m->level[1] = dice_between(d, 1.5, 3);
        m->p[1] = dice_between(d, 0.3, 1);
        m->p[2] = dice_between(d, -1, -0.3);
        m->start[0] = dice_between(d, -0.3, 0.3);
        m->drive = DRIVE_NONE;
        break;
    case MOTION_BALL: /* up to 20 bounces */
        m->start[0] = dice_between(d, 0.3, 1);
        m->start[1] = dice_between(d, 0, 1) / stop;
        m->p[0] = dice_scale(d, 5, 400) / stop / stop;
        m->p[1] = dice_between(d, 0.9, 1);
        m->drive = DRIVE_NONE;
        break;
    default: break;
    }
    for (int k = 0; k < 3; k++)
        m->p[k] = short_number(m->p[k]);
    for (int k = 0; k < 2; k++) {
        m->start[k] = short_number(m->start[k]);
        m->level[k] = short_number(m->level[k]);
    }
    m->factor = short_number(m->factor);
    m->offset = short_number(m->offset);
}

/* The largest values and derivatives; differences over jumps are left out. */
static void measure(Plan *p)
{
    enum { SAMPLES = 1000 };
    Wide before[MOST_STATES] = { 0 }, x[MOST_STATES];
    memset(p->size, 0, sizeof p->size);
    memset(p->speed, 0, sizeof p->speed);
    for (uint32_t j = 0; j <= SAMPLES; j++) {
        for (uint32_t k = 0; k < p->n_motions; k++)
            motion_at(&p->motions[k], (Wide)p->stop * j / SAMPLES, x + p->motions[k].first_state);
        for (uint32_t k = 0; k < p->n_states; k++) {
            const Wide speed = fabsl(x[k] - before[k]) * SAMPLES / p->stop;
            p->size[k] = fmaxl(p->size[k], fabsl(x[k]));
            if (j > 0 && speed < 50 * p->size[k] / p->stop * 20)
                p->speed[k] = fmaxl(p->speed[k], speed);
            before[k] = x[k];
        }
    }
}

static bool make_motions(Plan *p)
{
    const bool has_driver = p->n_comparisons > 0;
    p->n_motions = 1 + dice_below(&p->dice, MOST_MOTIONS);
    for (uint32_t k = 0; k < p->n_motions; k++) {
        Motion *m = &p->motions[k];
        choose_motion(p, m);
        if (!has_driver)
            m->drive = DRIVE_NONE;
        if (m->drive == DRIVE_JUMP && p->comparisons[0].at_start)
            m->drive = DRIVE_SWITCH;
        m->first_state = p->n_states;
        for (uint32_t j = 0; j < m->n_states; j++)
            p->bounces[p->n_states++] = m->kind == MOTION_BALL;
        if (!motion_make(p, m))
            return false;
    }
    measure(p);
    return true;
}

/* ---- comparisons ---- */
static double close_limit(Plan *p, const Comparison *c, const Curve *curve)
{
    Wide value;
    bool is_maximum;
    if (!curve_extreme(curve, &p->dice, &value, &is_maximum))
        return NAN;
    const Wide least = c->of_time ? 1e-9L * c->range : 1.5e-3L * c->range;
    const Wide distance = dice_chance(&p->dice, 0.5) ? least * (Wide)dice_between(&p->dice, 1, 3)
                                                     : least * (Wide)dice_scale(&p->dice, 1, c->of_time ? 1e6 : 20);
    return (double)(value + (dice_chance(&p->dice, 0.5) ? distance : -distance));
}

static bool same_events(const Comparison *a, const Comparison *b)
{
    if (a->n_events != b->n_events)
        return false;
    for (uint32_t k = 0; k < a->n_events; k++)
        if (fabsl(a->events[k].time - b->events[k].time) > 1e-9L)
            return false;
    return true;
}

/* The limit of a comparison whose value is known. The events are found twice, from different samples. */
static bool choose_limit(Plan *p, Comparison *c)
{
    static Comparison other;
    const uint32_t n = 6000;
    Curve *curve = curve_make(p, c->value, n), *finer = curve_make(p, c->value, n * 17 / 7);
    const Wide low = curve_low(curve), high = curve_high(curve);
    bool is_found = false;
    c->range = high - low;
    for (int attempt = 0; attempt < 20 && !is_found && c->range > 1e-3L; attempt++) {
        c->is_close = dice_chance(&p->dice, 0.6);
        const double between = dice_between(&p->dice, 0.02, 0.98);
        c->limit = c->is_close ? close_limit(p, c, curve) : (double)(low + (high - low) * (Wide)between);
        if (!(fabs(c->limit) <= 1e6))
            continue;
        other = *c;
        is_found = curve_events(curve, c) && curve_events(finer, &other) && same_events(c, &other);
        p->n_dropped += !is_found;
    }
    curve_free(curve);
    curve_free(finer);
    return is_found;
}

static bool make_comparison(Plan *p, bool of_time)
{
    Comparison *c = &p->comparisons[p->n_comparisons];
    for (int attempt = 0; attempt < 5; attempt++) {
        *c = (Comparison){ .of_time = of_time, .value = of_time ? time_function(p) : state_function(p) };
        if (choose_limit(p, c)) {
            p->n_comparisons++;
            return true;
        }
        if (p->n_nodes > MOST_NODES / 2)
            return false;
    }
    return false;
}

bool plan_make(Plan *p, uint64_t seed)
{
    *p = (Plan){ .seed = seed, .dice = { seed * UINT64_C(0x2545f4914f6cdd1d) + 1 } };
    for (int k = 0; k < 4; k++)
        dice_below(&p->dice, 2);
    p->is_dymola = dice_chance(&p->dice, 0.5);
    p->stop = short_number(dice_scale(&p->dice, 1, 40));
    const bool has_time = dice_chance(&p->dice, 0.6), has_states = !has_time || dice_chance(&p->dice, 0.7);
    if (has_time && !make_comparison(p, true))
        return false;
    if (has_time && !has_states && dice_chance(&p->dice, 0.5) && !make_comparison(p, true))
        return false;
    if (!has_states)
        return true;
    if (!make_motions(p) || !make_comparison(p, false))
        return false;
    return !dice_chance(&p->dice, 0.4) || make_comparison(p, false);
}
