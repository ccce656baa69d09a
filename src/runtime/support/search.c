/* What is tried where Newton's method fails at an event, at the start of a run, or wherever a system is solved for the
 * first time in a run, in this order:
 *
 *   start values; start values that are a little apart from each other (many Jacobians are singular where all unknowns
 *   are 0); the line search of KINSOL from the last solution, from the start values; homotopy from the start values,
 *   from the last solution; points farther from the start values.
 *
 * In integration nothing is tried: a smaller step is nearer to the solution that is being followed than another
 * solution. A point found here is a solution only if Newton's method, begun there, converges. Everything is
 * deterministic. */
#include "systems.h"
#include <math.h>

static const double NEAR = 0.1, FAR[] = { 1, 3, 10, 0.3 }; /* from the start values, in scales */

static bool is_solved(Machine *m, const KoineSystem *s, uint64_t *count)
{
    if (koine_newton(m, s) != NEWTON_CONVERGED || !koine_factor(m, s))
        return false;
    ++*count;
    return true;
}

static bool differ(const Machine *m, const KoineSystem *s)
{
    for (uint32_t j = 0; j < s->n; j++)
        if (m->slots[s->guesses[j]].r != m->slots[s->u.newton.starts[j]].r)
            return true;
    return false;
}

/* Apart from each other by irregular parts of their scales, to both sides; the first upwards. */
static void spread(Machine *m, const KoineSystem *s, double size)
{
    double part = 0.5;
    for (uint32_t j = 0; j < s->n; j++) {
        part += 0.6180339887498949;
        part -= part >= 1;
        m->slots[s->unknowns[j]].r += size * (1 - 2 * part) * m->spaces.workspace->newton->scale[j];
    }
}

static bool search_nearby(Machine *m, const KoineSystem *s, double distance)
{
    for (int sign = 1; sign >= -1; sign -= 2) {
        koine_newton_from(m, s, s->u.newton.starts);
        koine_newton_scale(m, s);
        spread(m, s, sign * distance);
        m->spaces.workspace->newton->route = KOINE_WAY_BESIDE;
        if (is_solved(m, s, &m->work.statistics.solved_from_start))
            return true;
    }
    return false;
}

static bool search_by_kinsol(Machine *m, const KoineSystem *s, const uint32_t *from)
{
    koine_newton_from(m, s, from);
    koine_kinsol(m, s);
    m->spaces.workspace->newton->route = KOINE_WAY_KINSOL;
    return is_solved(m, s, &m->work.statistics.solved_by_kinsol);
}

/* ---- homotopy: F(x) = (1 - p) F(x0), from p = 0, where x0 is the solution, to p = 1 ----
 * The curve is followed by its length, so that it may turn back on its way. Corrections are orthogonal to it. */
static const double FIRST_LENGTH = 0.1, SHORTEST = 1e-6, LONGEST = 10;
static const double FARTHEST = 1e12; /* in scales: it does not come back from there */
static const double ON_CURVE = 1e-6;
enum { MOST_POINTS = 400, MOST_CORRECTIONS = 6 };

typedef struct {
    Machine *machine;
    const KoineSystem *s;
    Newton *w;
    double p;         /* at the present point */
    double direction; /* of p along the curve; `along` is that of the unknowns */
    double length;    /* of the next step */
    bool is_done;     /* the unknowns are a solution */
} Curve;

/* What is left of the equations at p; the residuals of the unknowns are known. */
static void deviation(const Curve *c, double p, double *to)
{
    for (uint32_t j = 0; j < c->s->n; j++)
        to[j] = c->machine->slots[c->s->residuals[j]].r - (1 - p) * c->w->first[j];
}

/* Direction of the curve at the present point, going on as before. False: the Jacobian is singular. */
static bool find_direction(Curve *c)
{
    Newton *w = c->w;
    const uint32_t n = c->s->n;
    if (!koine_factor(c->machine, c->s))
        return false;
    for (uint32_t j = 0; j < n; j++)
        w->way[j] = -w->first[j];
    koine_solve_factored(c->machine, c->s, w->way);
    const double size = sqrt(1 + koine_newton_product(c->machine, c->s, w->way, w->way));
    if (!isfinite(size))
        return false;
    const double forwards = koine_newton_product(c->machine, c->s, w->way, w->along) + c->direction;
    const double sign = forwards < 0 ? -1 : 1;
    for (uint32_t j = 0; j < n; j++)
        w->along[j] = sign * w->way[j] / size;
    c->direction = sign / size;
    return true;
}

/* Back to the curve, orthogonally to its last direction. */
static bool correct(Curve *c, double *p)
{
    Newton *w = c->w;
    const uint32_t n = c->s->n;
    for (int step = 0; step < MOST_CORRECTIONS; step++) {
        if (!koine_residuals(c->machine, c->s) || !koine_factor(c->machine, c->s))
            return false;
        deviation(c, *p, w->next);
        for (uint32_t j = 0; j < n; j++) {
            w->next[j] = -w->next[j];
            w->way[j] = -w->first[j];
        }
        koine_solve_factored(c->machine, c->s, w->next);
        koine_solve_factored(c->machine, c->s, w->way);
        const double slope = koine_newton_product(c->machine, c->s, w->along, w->way) + c->direction;
        const double change = -koine_newton_product(c->machine, c->s, w->along, w->next) / slope;
        double square = change * change;
        for (uint32_t j = 0; j < n; j++) {
            const double d = w->next[j] + change * w->way[j];
            c->machine->slots[c->s->unknowns[j]].r += d;
            square += d * d * w->weight[j];
        }
        *p += change;
        if (!isfinite(square) || square > c->length * c->length)
            return false;
        if (square <= ON_CURVE * ON_CURVE)
            return koine_residuals(c->machine, c->s);
    }
    return false;
}

/* One point further. False: the curve cannot be followed. */
static bool follow(Curve *c)
{
    Newton *w = c->w;
    const uint32_t n = c->s->n;
    for (uint32_t j = 0; j < n; j++)
        w->before[j] = c->machine->slots[c->s->unknowns[j]].r;
    for (; c->length >= SHORTEST; c->length /= 2) {
        double p = c->p + c->length * c->direction;
        for (uint32_t j = 0; j < n; j++)
            c->machine->slots[c->s->unknowns[j]].r = w->before[j] + c->length * w->along[j];
        if (p >= 1) { /* beyond the end: a point on it */
            const double part = (1 - c->p) / (p - c->p);
            for (uint32_t j = 0; j < n; j++)
                c->machine->slots[c->s->unknowns[j]].r = w->before[j] + part * c->length * w->along[j];
            memcpy(w->base, w->before, n * sizeof *w->base);
            if (is_solved(c->machine, c->s, &c->machine->work.statistics.solved_by_homotopy)) {
                c->is_done = true;
                return true;
            }
            memcpy(w->before, w->base, n * sizeof *w->base);
            continue;
        }
        if (correct(c, &p) && p < 1) {
            c->p = p;
            c->length = c->length * 2 < LONGEST ? c->length * 2 : LONGEST;
            return true;
        }
    }
    return false;
}

static bool search_by_homotopy(Machine *m, const KoineSystem *s, const uint32_t *from)
{
    Curve c = { .machine = m, .s = s, .w = m->spaces.workspace->newton, .direction = 1, .length = FIRST_LENGTH };
    koine_newton_from(m, s, from);
    c.w->route = KOINE_WAY_HOMOTOPY;
    if (!koine_residuals(m, s))
        return false;
    for (uint32_t j = 0; j < s->n; j++) {
        c.w->first[j] = m->slots[s->residuals[j]].r;
        c.w->along[j] = 0;
    }
    koine_newton_scale(m, s);
    for (int point = 0; point < MOST_POINTS && !c.is_done; point++) {
        if (!find_direction(&c) || !follow(&c))
            return false;
        koine_newton_scale(m, s);
        for (uint32_t j = 0; j < s->n; j++)
            if (!(fabs(m->slots[s->unknowns[j]].r) < FARTHEST * s->nominals[j]))
                return false;
    }
    return c.is_done;
}

bool koine_search(Machine *m, const KoineSystem *s)
{
    const bool has_two = differ(m, s);
    if (has_two) {
        m->spaces.workspace->newton->route = KOINE_WAY_START;
        koine_newton_from(m, s, s->u.newton.starts);
        if (is_solved(m, s, &m->work.statistics.solved_from_start))
            return true;
    }
    if (search_nearby(m, s, NEAR) || search_by_kinsol(m, s, s->guesses) ||
        (has_two && search_by_kinsol(m, s, s->u.newton.starts)) || search_by_homotopy(m, s, s->u.newton.starts) ||
        (has_two && search_by_homotopy(m, s, s->guesses)))
        return true;
    for (size_t n = 0; n < sizeof FAR / sizeof *FAR; n++)
        if (search_nearby(m, s, FAR[n]))
            return true;
    return false;
}
