/* Sources: the largest parts of the right-hand sides that depend on the time alone. While the states rest nothing but
 * these moves the derivatives, and where that dependence is monotone the derivatives are extreme where a source is. */
#include "interval.h"
#include "machine.h"

enum { MOST_LOOKS = 4000 };        /* of one source in one step */
static const double SMALL = 0.02;  /* of the range of a source: what varies less is not divided further */
static const double SHORT = 1e-9;  /* of the step, likewise */
static const double BESIDE = 1e-3; /* of the step: what lies nearer to an end is seen there */

typedef struct {
    const KoineTimeCode *code;
    const KoineSlot *inputs;
    Cell *cells;
    uint32_t looks;
} Source;

static const Cell *look(Source *s, double from, double to)
{
    koine_time_evaluate(s->code, s->inputs, (Range){ from, to }, s->cells);
    s->looks++;
    return &s->cells[s->code->left];
}

static double slope_at(Source *s, double time)
{
    const Range slope = look(s, time, time)->slope;
    const double middle = 0.5 * slope.lo + 0.5 * slope.hi;
    return isfinite(middle) ? middle : 0;
}

static bool may_turn(const Cell *cell)
{
    return cell->slope.lo < 0 && cell->slope.hi > 0;
}

/* Keeps `times` in order. */
static void insert(double *times, uint32_t *n, uint32_t most, double time)
{
    if (*n == most)
        return;
    uint32_t k = (*n)++;
    for (; k > 0 && times[k - 1] > time; k--)
        times[k] = times[k - 1];
    times[k] = time;
}

static void find_extremes(Source *s, double from, double to, double range, double *times, uint32_t *n, uint32_t most)
{
    double t = from, w = to - from;
    while (t < to && s->looks < MOST_LOOKS && *n < most) {
        w = fmin(w, to - t);
        const Cell c = *look(s, t, t + w);
        const bool is_small = c.value.hi - c.value.lo <= SMALL * range || w <= SHORT * (to - from);
        if (may_turn(&c) && !is_small) {
            w *= 0.5;
            continue;
        }
        const double a = may_turn(&c) ? slope_at(s, t) : 0, b = may_turn(&c) ? slope_at(s, t + w) : 0;
        if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
            const double at = t + w * (a / (a - b));
            if (at - from > BESIDE * (to - from) && to - at > BESIDE * (to - from))
                insert(times, n, most, at);
        }
        t += w;
        w *= 2;
    }
}

static void refresh_inputs(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.timed.n_sources; j++) {
        const KoineTimeFunction *f = &p->events.timed.functions[p->events.timed.sources[j]];
        for (uint32_t i = 0; i < f->n_pieces; i++)
            run_kernel(m, f->pieces[i].kernel, f->pieces[i].row, 1);
    }
    m->instant->has_inputs = 1;
}

uint32_t koine_machine_extremes(KoineModel *model, double from, double to, double *times, uint32_t most)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    uint32_t n = 0;
    if (!m->instant->has_inputs)
        refresh_inputs(m);
    for (uint32_t j = 0; j < p->events.timed.n_sources; j++) {
        const KoineTimeFunction *f = &p->events.timed.functions[p->events.timed.sources[j]];
        Source s = { &p->events.timed.codes[f->code], &m->slots[f->inputs], m->calendar.cells, 0 };
        const Cell whole = *look(&s, from, to);
        double *range = m->calendar.ranges + 2 * j; /* least and greatest value so far */
        if (range_size(whole.value) <= DBL_MAX) {
            range[0] = fmin(range[0], whole.value.lo);
            range[1] = fmax(range[1], whole.value.hi);
        }
        if (may_turn(&whole))
            find_extremes(&s, from, to, range[1] - range[0], times, &n, most);
    }
    return n;
}
