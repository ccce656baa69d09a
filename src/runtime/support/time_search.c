/* Search for crossings of functions of the time; see time_search.h. */
#include "time_search.h"

static const double BAND = 8;          /* ulps of the larger operand */
static const double SHORTEST = 16;     /* ulps of the time */
static const double LEAST_TIME = 1e-9; /* times below count as this one: 0 has no ulp */
static const double LAST_TIME = 1e300; /* nothing is looked for beyond */
enum { PATIENCE = 32 };                /* doubtful pieces in a row, then they become twice as long */

typedef struct {
    Range x, slope; /* of the difference of the operands */
    double band;
    bool is_partial;
} Look;

static double distance_to_0(Range a)
{
    return range_has(a, 0) || range_is_empty(a) ? 0 : fmin(fabs(a.lo), fabs(a.hi));
}

static Look look(const Watched *w, double from, double to)
{
    koine_time_evaluate(w->code, w->inputs, (Range){ from, to }, w->cells);
    const Cell *left = &w->cells[w->code->left];
    Look out = { left->value, left->slope, BAND * DBL_EPSILON * distance_to_0(left->value), left->is_partial };
    if (w->code->right != KOINE_NONE) {
        const Cell *right = &w->cells[w->code->right];
        const bool is_equal = cells_are_same(left, right);
        out.x = is_equal ? (Range){ 0, 0 } : range_sub(left->value, right->value);
        out.slope = is_equal ? (Range){ 0, 0 } : range_sub(left->slope, right->slope);
        out.band = fmax(out.band, BAND * DBL_EPSILON * distance_to_0(right->value));
        out.is_partial |= right->is_partial;
    }
    if (out.is_partial || range_is_empty(out.slope))
        out.slope = ALL_NUMBERS;
    return out;
}

/* What the border makes of it: positive on this side. */
static Look beside(const Border *b, const Look *look)
{
    Look out = *look;
    out.x = b->sign < 0 ? range_neg(look->x) : look->x;
    out.slope = b->sign < 0 ? range_neg(look->slope) : look->slope;
    if (b->offset != 0) {
        out.x = range_add(out.x, (Range){ b->offset, b->offset });
        out.band = fmax(out.band, BAND * DBL_EPSILON * fabs(b->offset));
    }
    return out;
}

static double middle(Range a)
{
    const double m = 0.5 * a.lo + 0.5 * a.hi;
    return isnan(m) ? 0 : m;
}

/* At a point. */
static bool has_left(const Watched *w, const Border *b, const Look *point)
{
    if (range_is_empty(point->x))
        return !w->is_guarded;
    return beside(b, point).x.hi < -beside(b, point).band;
}

bool koine_search_is_inside(const Watched *w, double time)
{
    const Look point = look(w, time, time);
    bool all = !range_is_empty(point.x) || w->is_guarded;
    for (uint32_t k = 0; k < w->n_borders && !range_is_empty(point.x); k++)
        all &= beside(&w->borders[k], &point).x.lo > beside(&w->borders[k], &point).band;
    return all;
}

/* ---- one piece ---- */
typedef struct {
    double from, to;
    Look all;
    Look at_from, at_middle, at_end;
    uint8_t is_known; /* of these three, as bits 1, 2, 4 */
    uint32_t n_looks;
} Piece;

static const Look *point_of(const Watched *w, Piece *p, int which)
{
    Look *out = which == 1 ? &p->at_from : which == 2 ? &p->at_middle : &p->at_end;
    if (!(p->is_known & which)) {
        const double t = which == 1 ? p->from : which == 2 ? 0.5 * p->from + 0.5 * p->to : p->to;
        *out = look(w, t, t);
        p->is_known |= (uint8_t)which;
        p->n_looks++;
    }
    return out;
}

/* A lower bound of the border's function on the piece that is good enough; points are looked at as they are needed. */
static bool is_proved(const Watched *w, const Border *b, Piece *p)
{
    const Look all = beside(b, &p->all);
    if (range_is_empty(all.x))
        return w->is_guarded;
    if (all.is_partial && !w->is_guarded)
        return false;
    if (all.x.lo >= -all.band)
        return true;
    if (!(fabs(all.slope.lo) <= DBL_MAX) && !(fabs(all.slope.hi) <= DBL_MAX))
        return false;
    const Look mid = beside(b, point_of(w, p, 2));
    const double width = p->to - p->from, noise = mid.x.hi - mid.x.lo, least = -all.band - 2 * noise;
    if (!(noise <= DBL_MAX))
        return false;
    if (all.x.lo >= least || mid.x.lo - 0.5 * width * range_size(all.slope) >= least)
        return true;
    return beside(b, point_of(w, p, 1)).x.lo + width * fmin(all.slope.lo, 0) >= least ||
           beside(b, point_of(w, p, 4)).x.lo - width * fmax(all.slope.hi, 0) >= least;
}

/* Falls all the way: there is one crossing at most, and the end tells. */
static bool is_falling(const Border *b, const Piece *p)
{
    return beside(b, &p->all).slope.hi <= 0 && !p->all.is_partial;
}

static bool is_beyond(const Watched *w, const Border *b, const Look *point)
{
    if (range_is_empty(point->x))
        return !w->is_guarded;
    const double x = middle(beside(b, point).x);
    return x < 0 || (x == 0 && b->zero_crosses);
}

/* Where no rounding can put it back on its side, if that is not far: what the model computes there agrees. */
static double beyond_rounding(const Watched *w, const Border *b, double t, TimeSearch *s)
{
    for (double ulps = 0; ulps <= 16; ulps = ulps > 0 ? 2 * ulps : 1) {
        const double later = t + ulps * DBL_EPSILON * fabs(t);
        const Look point = look(w, later, later);
        s->work++;
        if (range_is_empty(point.x) || beside(b, &point).x.hi < 0)
            return later;
    }
    return t;
}

/* The first time found at which the border is crossed; at `from` it is not, at `to` it is. */
static double locate(const Watched *w, const Border *b, double from, double to, TimeSearch *s)
{
    Look point = look(w, from, from);
    double t = from;
    s->work++;
    if (is_beyond(w, b, &point))
        return from;
    for (int k = 0; k < 200; k++) {
        const double ulp = DBL_EPSILON * fmax(fabs(from), fabs(to)), width = to - from;
        if (width <= ulp)
            break;
        const Look own = beside(b, &point);
        const double step = -middle(own.x) / middle(own.slope);
        double next = t + step; /* a step of Newton, that goes a little too far: from both sides the ends come near */
        next += copysign(fmin(2 * ulp, 0.25 * width), t == from ? 1 : -1);
        if (!(next > from + 0.5 * ulp && next < to - 0.5 * ulp) || k % 4 == 3)
            next = from + 0.5 * width;
        if (!(next > from && next < to))
            break;
        point = look(w, next, next);
        s->work++;
        t = next;
        if (is_beyond(w, b, &point))
            to = next;
        else
            from = next;
    }
    return beyond_rounding(w, b, to, s);
}

static PieceKind crossed(const Watched *w, TimeSearch *s, const Piece *p, uint32_t border)
{
    s->from = locate(w, &w->borders[border], p->from, p->to, s);
    s->is_blind = range_is_empty(look(w, s->from, s->from).x);
    s->border = (uint8_t)border;
    s->has_crossing = 1;
    s->doubts = 0;
    return PIECE_CROSSED;
}

static double shortest(const TimeSearch *s)
{
    const double least = SHORTEST * DBL_EPSILON * fmax(fabs(s->from), LEAST_TIME);
    const uint32_t doublings = s->doubts / PATIENCE;
    return least * ldexp(1, doublings < 1000 ? (int)doublings : 1000);
}

/* -1: nothing can be said; n_borders: no border is crossed; else the one that is. */
static int judge(const Watched *w, Piece *p)
{
    int found = (int)w->n_borders;
    for (uint32_t k = 0; k < w->n_borders; k++) {
        const Border *b = &w->borders[k];
        if (is_proved(w, b, p))
            continue;
        if (!is_falling(b, p))
            return -1;
        if (has_left(w, b, point_of(w, p, 4)))
            found = (int)k;
    }
    return found;
}

static int judge_shortest(const Watched *w, Piece *p)
{
    for (uint32_t k = 0; k < w->n_borders; k++)
        if (has_left(w, &w->borders[k], point_of(w, p, 4)))
            return (int)k;
    return (int)w->n_borders;
}

void koine_search_begin(TimeSearch *s, double at)
{
    s->from = at;
    s->width = s->width > 0 ? s->width : 1;
    s->work = 0;
    s->doubts = 0;
    s->is_begun = 1;
    s->has_crossing = 0;
}

PieceKind koine_search_piece(const Watched *w, TimeSearch *s)
{
    const double least = shortest(s);
    bool is_divided = false;
    for (;;) {
        const bool is_shortest = s->width <= least;
        Piece p = { .from = s->from, .to = s->from + (is_shortest ? least : s->width) };
        if (!(p.to < LAST_TIME)) {
            s->from = INFINITY;
            return PIECE_PROVED;
        }
        p.all = look(w, p.from, p.to);
        p.n_looks = 1;
        int found = judge(w, &p);
        const bool is_doubtful = found < 0 && is_shortest;
        if (is_doubtful)
            found = judge_shortest(w, &p);
        s->work += p.n_looks;
        if (found >= 0 && found < (int)w->n_borders)
            return crossed(w, s, &p, (uint32_t)found);
        if (found >= 0) {
            s->from = p.to;
            s->width = is_divided ? p.to - p.from : 2 * (p.to - p.from);
            s->doubts = is_doubtful ? s->doubts + 1 : 0;
            return is_doubtful ? PIECE_DOUBTFUL : PIECE_PROVED;
        }
        s->width *= 0.5;
        is_divided = true;
    }
}
