/* Nonlinear systems by damped Newton iteration with the exact Jacobian.
 *
 * The iteration starts at the last accepted solution, so that repeated trials give the same result. */
#include "systems.h"
#include <math.h>

static const double NEWTON_TOLERANCE = 1e-12; /* of a step, relative to the unknown or its nominal value */
static const double NEWTON_SHRINK = 0.5;      /* damping, when the residual does not fall */
static const double NEWTON_SMALLEST = 1e-4;   /* smallest fraction of a full step */
enum { NEWTON_STEPS = 60 };

static double residual_norm(Machine *k, const KoineSystem *s)
{
    koine_count_system(k, s);
    run_section(k, s->residual_section);
    double sum = 0;
    for (uint32_t j = 0; j < s->n; j++)
        sum += k->m[s->residuals[j]].r * k->m[s->residuals[j]].r;
    return sum;
}

static bool is_small_step(const Machine *k, const KoineSystem *s)
{
    for (uint32_t j = 0; j < s->n; j++) {
        const double size = fabs(k->m[s->unknowns[j]].r);
        if (!(fabs(k->workspace->step[j]) <= NEWTON_TOLERANCE * (size > s->nominals[j] ? size : s->nominals[j])))
            return false;
    }
    return true;
}

KoineStatus koine_solve_newton(Machine *k, const KoineSystem *s)
{
    Workspace *w = k->workspace;
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->unknowns[j]] = k->m[s->guesses[j]];
    double norm = residual_norm(k, s);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        k->statistics.newton_iterations++;
        if (!isfinite(norm))
            return koine_report_system(k, s, "the equations cannot be evaluated at the start of the iteration");
        if (!koine_factor(k, s))
            return koine_report_system(k, s, "the equations are singular at the last iterate");
        for (uint32_t j = 0; j < s->n; j++) {
            w->step[j] = -k->m[s->residuals[j]].r;
            w->before[j] = k->m[s->unknowns[j]].r;
        }
        koine_solve_factored(k, s, w->step);
        const bool is_last = is_small_step(k, s);
        double fraction = 1, next = 0;
        for (;;) { /* damping: the residual must fall */
            for (uint32_t j = 0; j < s->n; j++)
                k->m[s->unknowns[j]].r = w->before[j] + fraction * w->step[j];
            next = residual_norm(k, s);
            if (is_last || (isfinite(next) && next <= norm * (1 - 0.1 * fraction)) || fraction < NEWTON_SMALLEST)
                break;
            fraction *= NEWTON_SHRINK;
        }
        if (is_last && isfinite(next))
            return KOINE_OK;
        norm = next;
        if (norm == 0)
            return KOINE_OK;
    }
    return koine_report_system(k, s, "the iteration for the nonlinear equations did not converge");
}
