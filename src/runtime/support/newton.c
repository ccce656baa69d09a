/* Nonlinear systems: damped Newton iteration with the exact Jacobian, and Broyden's updates where they do.
 *
 * Steps are measured relative to the unknown or its nominal value, and a step is good if the next one, computed with
 * the same Jacobian, is shorter: so neither the units of the equations nor how they are multiplied matter. A full step
 * that made the next one much shorter is followed by steps that update the factors instead of computing new ones. A
 * trial that has no value (the root of a negative number) makes the step shorter. Bounds of variables are hints: steps
 * stop short of them as long as that is not in the way.
 *
 * The iteration starts at the last accepted solution, so that repeated trials give the same result. What else is tried
 * where a system is solved for the first time, at events and at the start of a run stands in search.c. */
#include "systems.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double USUAL = 1e-12;                    /* tolerance, if the run tells none */
static const double FINEST = 1e-13, COARSEST = 1e-10; /* in between: a fraction of the integrator's */
static const double OF_INTEGRATOR = 1e-4;
static const double ROUNDED = 1e-9;      /* steps this short that do not get shorter are rounding */
static const double ROUNDED_FLAT = 1e-7; /* ... also where the Jacobian is singular at the solution */
static const double SMALLEST = 1e-5;     /* fraction of a full step */
static const double GOOD_RATE = 0.25;    /* of two steps: the Jacobian is good enough to be updated */
static const double POOR_RATE = 0.5;     /* it has to be computed anew */
static const double NEAR_BOUND = 0.9;    /* of the way to a bound */
enum { UPDATED_FROM = 4 };               /* unknowns; below, a Jacobian is as cheap as an update */
enum { MOST_STEPS = 60, VECTORS = 9 + KOINE_UPDATES + 1 };

Newton *koine_newton_create(uint32_t n)
{
    Newton *w = calloc(1, sizeof *w);
    double *all = malloc((size_t)VECTORS * (n + 1) * sizeof *all);
    if (!w || !all) {
        free(w);
        free(all);
        return NULL;
    }
    double **const vectors[] = { &w->scale, &w->weight, &w->before, &w->step, &w->next,
                                 &w->first, &w->base,   &w->along,  &w->way };
    w->all = all;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++, all += n + 1)
        *vectors[k] = all;
    for (size_t k = 0; k <= KOINE_UPDATES; k++, all += n + 1)
        w->kept[k] = all;
    return w;
}

void koine_newton_destroy(Newton *w)
{
    if (!w)
        return;
    free(w->all);
    free(w);
}

double koine_newton_tolerance(const Machine *m)
{
    const KoineHost *host = m->model->host;
    if (!host || !(host->tolerance > 0))
        return USUAL;
    const double own = OF_INTEGRATOR * host->tolerance;
    return own < FINEST ? FINEST : own > COARSEST ? COARSEST : own;
}

bool koine_residuals(Machine *m, const KoineSystem *s)
{
    koine_count_system(m, s);
    run_section(m, s->residual_section);
    double sum = 0; /* 0*v is 0 for finite v and NaN for all others */
    for (uint32_t j = 0; j < s->n; j++)
        sum += 0 * m->slots[s->residuals[j]].r;
    return sum == 0;
}

void koine_newton_step(Machine *m, const KoineSystem *s, double *step)
{
    for (uint32_t j = 0; j < s->n; j++)
        step[j] = -m->slots[s->residuals[j]].r;
    koine_solve_factored(m, s, step);
}

void koine_newton_scale(Machine *m, const KoineSystem *s)
{
    Newton *w = m->spaces.workspace->newton;
    for (uint32_t j = 0; j < s->n; j++) {
        const double size = fabs(m->slots[s->unknowns[j]].r), scale = size > s->nominals[j] ? size : s->nominals[j];
        w->scale[j] = scale;
        w->weight[j] = 1 / (scale * scale);
    }
}

double koine_newton_product(const Machine *m, const KoineSystem *s, const double *a, const double *b)
{
    const double *weight = m->spaces.workspace->newton->weight;
    double sum = 0;
    for (uint32_t j = 0; j < s->n; j++)
        sum += a[j] * b[j] * weight[j];
    return sum;
}

static double norm_of(const Machine *m, const KoineSystem *s, const double *a)
{
    return sqrt(koine_newton_product(m, s, a, a));
}

static void go(Machine *m, const KoineSystem *s, const double *from, double fraction, const double *step)
{
    for (uint32_t j = 0; j < s->n; j++)
        m->slots[s->unknowns[j]].r = from[j] + fraction * step[j];
}

/* The last step, known to be within the tolerance: it is taken unless that makes no difference. */
static void take_last(Machine *m, const KoineSystem *s, const double *step, double length)
{
    Newton *w = m->spaces.workspace->newton;
    if (length <= (m->spaces.is_searching ? DBL_EPSILON : FINEST))
        return;
    for (uint32_t j = 0; j < s->n; j++)
        w->before[j] = m->slots[s->unknowns[j]].r;
    go(m, s, w->before, 1, step);
    if (koine_residuals(m, s))
        return;
    go(m, s, w->before, 0, step);
    koine_residuals(m, s);
}

/* Broyden's updates of the factors: from a full step kept[0] and the step `next` that the same factors give at its end.
 * True: converged. The unknowns stay where the residuals were computed last. */
static bool update(Machine *m, const KoineSystem *s, double tolerance)
{
    Newton *w = m->spaces.workspace->newton;
    double squares[KOINE_UPDATES + 1];
    memcpy(w->kept[0], w->step, s->n * sizeof *w->step);
    squares[0] = koine_newton_product(m, s, w->step, w->step);
    for (uint32_t j = 0;; j++) {
        for (uint32_t i = 0; i < j; i++) {
            const double part = koine_newton_product(m, s, w->next, w->kept[i]) / squares[i];
            for (uint32_t n = 0; n < s->n; n++)
                w->next[n] += part * w->kept[i + 1][n];
        }
        const double part = koine_newton_product(m, s, w->next, w->kept[j]) / squares[j];
        if (!(koine_newton_product(m, s, w->next, w->next) < POOR_RATE * POOR_RATE * squares[j]))
            return false;
        for (uint32_t n = 0; n < s->n; n++)
            w->next[n] /= 1 - part;
        const double square = koine_newton_product(m, s, w->next, w->next);
        if (sqrt(square) <= tolerance) {
            take_last(m, s, w->next, sqrt(square));
            return true;
        }
        if (j == KOINE_UPDATES)
            return false;
        memcpy(w->kept[j + 1], w->next, s->n * sizeof *w->next);
        squares[j + 1] = square;
        for (uint32_t n = 0; n < s->n; n++)
            w->before[n] = m->slots[s->unknowns[n]].r;
        go(m, s, w->before, 1, w->next);
        m->work.statistics.newton_updates++;
        if (!koine_residuals(m, s)) {
            go(m, s, w->before, 0, w->next);
            koine_residuals(m, s);
            return false;
        }
        koine_newton_step(m, s, w->next);
    }
}

/* As far as the bounds allow; all of it where they allow next to nothing. */
static double within_bounds(const KoineSystem *s, const double *from, const double *step, double fraction)
{
    double allowed = fraction;
    for (uint32_t j = 0; s->u.newton.bounds && j < s->n; j++) {
        const double low = s->u.newton.bounds[2 * j], high = s->u.newton.bounds[2 * j + 1],
                     to = from[j] + allowed * step[j];
        if (from[j] >= low && to < low)
            allowed = NEAR_BOUND * (low - from[j]) / step[j];
        else if (from[j] <= high && to > high)
            allowed = NEAR_BOUND * (high - from[j]) / step[j];
    }
    return allowed < 0.01 * fraction ? fraction : allowed;
}

/* From `before` along `step` until the next step is shorter; the fraction taken, 0: none helps. */
static double damp(Machine *m, const KoineSystem *s, double fraction, double length, double *next_length)
{
    Newton *w = m->spaces.workspace->newton;
    while (fraction >= SMALLEST) {
        go(m, s, w->before, fraction, w->step);
        double shorter = fraction / 2;
        if (koine_residuals(m, s)) {
            koine_newton_step(m, s, w->next);
            *next_length = norm_of(m, s, w->next);
            if (*next_length <= (1 - fraction / 4) * length)
                return fraction;
            if (length <= ROUNDED)
                break;
            double bend = 0; /* how far the next step is from what it would be if the equations were linear */
            for (uint32_t j = 0; j < s->n; j++) {
                const double off = w->next[j] - (1 - fraction) * w->step[j];
                bend += off * off * w->weight[j];
            }
            const double fit = 0.5 * fraction * fraction * length / sqrt(bend);
            if (fit < shorter)
                shorter = fit > fraction / 10 ? fit : fraction / 10;
        }
        fraction = shorter;
    }
    go(m, s, w->before, 0, w->step);
    koine_residuals(m, s);
    return 0;
}

/* The fraction that the bend seen in the last step makes likely. */
static double predict(const Machine *m, const KoineSystem *s, double last, double last_length, double length)
{
    const Newton *w = m->spaces.workspace->newton;
    double off = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        const double d = w->next[j] - w->step[j];
        off += d * d * w->weight[j];
    }
    const double fit = last * last_length * norm_of(m, s, w->next) / (sqrt(off) * length);
    return !(fit < 1) ? 1 : fit > 10 * SMALLEST ? fit : 10 * SMALLEST;
}

static void tell(Machine *m, const KoineSystem *s, uint32_t step, double fraction, double length)
{
    const KoineHost *host = m->model->host;
    const Newton *w = m->spaces.workspace->newton;
    if (!host || !host->iterated || w->is_silent)
        return;
    KoineIterate iterate = { .origin = s->origin, .step = step, .way = w->route };
    if (step) {
        iterate.fraction = fraction;
        iterate.length = length;
    }
    for (uint32_t j = 0; j < s->n; j++)
        if (fabs(m->slots[s->residuals[j]].r) > iterate.residual)
            iterate.residual = fabs(m->slots[s->residuals[j]].r);
    host->iterated(host->context, m->model, &iterate);
}

static double largest_residual(const Machine *m, const KoineSystem *s)
{
    double largest = 0;
    for (uint32_t j = 0; j < s->n; j++)
        if (!(fabs(m->slots[s->residuals[j]].r) <= largest))
            largest = fabs(m->slots[s->residuals[j]].r);
    return largest;
}

/* The residuals are small beside what they would be if the unknowns were a little different; where nobody can tell,
 * too.
 */
static bool are_residuals_small(Machine *m, const KoineSystem *s)
{
    static const double MOVE = 1e-3, SMALL = 1e-6;
    Newton *w = m->spaces.workspace->newton;
    const double here = largest_residual(m, s);
    double change = 0;
    bool has_value = false;
    for (uint32_t j = 0; j < s->n; j++) {
        w->before[j] = m->slots[s->unknowns[j]].r;
        w->next[j] = m->slots[s->residuals[j]].r;
    }
    for (int side = 1; side >= -1 && !has_value; side -= 2) {
        for (uint32_t j = 0; j < s->n; j++)
            m->slots[s->unknowns[j]].r = w->before[j] + side * MOVE * fmax(1, fabs(w->before[j]));
        has_value = koine_residuals(m, s);
    }
    for (uint32_t j = 0; j < s->n && has_value; j++)
        change = fmax(change, fabs(m->slots[s->residuals[j]].r - w->next[j]));
    go(m, s, w->before, 0, w->step);
    koine_residuals(m, s);
    return !has_value || here <= SMALL * change;
}

/* Solved for the first time in a run there is no solution to follow. At the start of one, `is_searching` says it
 * all. */
static bool is_first(const Machine *m, const KoineSystem *s)
{
    const size_t n = (size_t)(s - m->program->systems.at);
    return n < m->program->systems.n_run && !m->spaces.is_solved[n] && m->slots[m->program->slots.initial].i == 0;
}

/* Where no solution is known, steps may be short because the slopes are steep, as those of a root at 0: such a step
 * changes nothing, and nothing is solved. */
static bool is_solved(Machine *m, const KoineSystem *s)
{
    return !(m->spaces.is_searching || is_first(m, s)) || are_residuals_small(m, s);
}

static NewtonEnd end_with(Machine *m, const KoineSystem *s, double length)
{
    const double before = largest_residual(m, s);
    take_last(m, s, m->spaces.workspace->newton->step, length);
    return largest_residual(m, s) <= before / 2 || is_solved(m, s) ? NEWTON_CONVERGED : NEWTON_STUCK;
}

static NewtonEnd iterate(Machine *m, const KoineSystem *s)
{
    Newton *w = m->spaces.workspace->newton;
    const double tolerance = koine_newton_tolerance(m);
    double fraction = 1, length = 0, next_length = 0;
    if (!koine_residuals(m, s))
        return NEWTON_NO_VALUE;
    for (int step = 0; step < MOST_STEPS; step++) {
        bool is_zero = true;
        for (uint32_t j = 0; j < s->n; j++) {
            is_zero &= m->slots[s->residuals[j]].r == 0;
            w->before[j] = m->slots[s->unknowns[j]].r;
        }
        tell(m, s, (uint32_t)step, fraction, length);
        /* Residuals are also 0 all over a flat stretch, as where exp(-y) is rounded to 0; a search that comes to one
         * finds a singular Jacobian there and has not converged. */
        if (is_zero)
            return step == 0 || koine_factor(m, s) ? NEWTON_CONVERGED : NEWTON_SINGULAR;
        m->work.statistics.newton_iterations++;
        if (!koine_factor(m, s))
            return NEWTON_SINGULAR;
        const double last_length = length;
        koine_newton_scale(m, s);
        koine_newton_step(m, s, w->step);
        length = norm_of(m, s, w->step);
        if (!isfinite(length))
            return NEWTON_SINGULAR;
        if (length <= tolerance)
            return end_with(m, s, length);
        fraction = step && fraction < 1 ? predict(m, s, fraction, last_length, length) : 1;
        if (s->u.newton.bounds)
            fraction = within_bounds(s, w->before, w->step, fraction);
        fraction = damp(m, s, fraction, length, &next_length);
        if (fraction == 0)
            return length <= ROUNDED_FLAT && is_solved(m, s) ? NEWTON_CONVERGED : NEWTON_STUCK;
        if (fraction < 1)
            continue;
        if (s->n >= UPDATED_FROM && next_length < GOOD_RATE * length && update(m, s, tolerance))
            return NEWTON_CONVERGED;
        if (s->n < UPDATED_FROM && next_length <= tolerance) {
            take_last(m, s, w->next, next_length);
            return NEWTON_CONVERGED;
        }
    }
    return NEWTON_SLOW;
}

NewtonEnd koine_newton(Machine *m, const KoineSystem *s)
{
    Newton *w = m->spaces.workspace->newton;
    const NewtonEnd end = iterate(m, s);
    return end == NEWTON_CONVERGED && !koine_is_determined(m, s, &w->vague, &w->vague_by) ? NEWTON_VAGUE : end;
}

void koine_newton_from(Machine *m, const KoineSystem *s, const uint32_t *slots)
{
    for (uint32_t j = 0; j < s->n; j++)
        m->slots[s->unknowns[j]] = m->slots[slots[j]];
}

/* The first solution is followed from now on, also if the step that leads away from it is never accepted. */
static void begin_following(Machine *m, const KoineSystem *s)
{
    m->spaces.is_solved[s - m->program->systems.at] = 1;
    for (uint32_t j = 0; j < s->n; j++)
        m->slots[s->guesses[j]] = m->slots[s->unknowns[j]];
}

static NewtonEnd solve_or_search(Machine *m, const KoineSystem *s)
{
    m->spaces.workspace->newton->route = KOINE_WAY_LAST;
    koine_newton_from(m, s, s->guesses);
    NewtonEnd end = koine_newton(m, s);
    if (end == NEWTON_CONVERGED || !m->spaces.is_searching)
        return end;
    if (koine_search(m, s))
        return NEWTON_CONVERGED;
    m->spaces.workspace->newton->is_silent = true; /* the message is about the first attempt */
    koine_newton_from(m, s, s->guesses);
    end = koine_newton(m, s);
    m->spaces.workspace->newton->is_silent = false;
    return end;
}

KoineStatus koine_solve_newton(Machine *m, const KoineSystem *s)
{
    const bool was_searching = m->spaces.is_searching, first = is_first(m, s);
    m->spaces.is_searching |= first;
    const NewtonEnd end = solve_or_search(m, s);
    if (end == NEWTON_CONVERGED && first)
        begin_following(m, s);
    const KoineStatus status = end == NEWTON_CONVERGED ? KOINE_OK : koine_report_newton(m, s, end);
    m->spaces.is_searching = was_searching;
    return status;
}
