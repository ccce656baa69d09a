/* Events that the model itself contradicts. A step that is longer than the motion in it, as that of a ball which hardly
 * leaves the floor, may show a crossing where the derivatives say that the root function rises: it lies within the
 * tolerance, but what the event makes of it is wrong for good, because the ball would be turned downwards. Such a step
 * is made again with half its length. */
#include "runtime/run.h"

static const double SHARE = 1e-3;       /* of the way to the crossing: how far the derivatives are followed */
static const uint32_t MOST_DOUBTS = 40; /* halvings of one step */

/* Some root function that has crossed at `to` rises there, by the derivatives of the model. */
static KoineStatus is_rising(KoineRun *run, double to, bool *is)
{
    const size_t n = run->tables->n_x;
    KoineRoots *roots = &run->roots;
    double *x = run->crossing.x, *slope = run->crossing.x + n;
    const double h = SHARE * (to - run->solver->from);
    *is = false;
    TRY(koine_place(run, to));
    KoineStatus status = koine_roots_evaluate(run, roots->hi);
    TRY(status);
    memcpy(x, koine_states(run->model), n * sizeof *x);
    run->solver->placed = NAN;
    if (status != KOINE_OK || koine_derivatives_at(run->model, to, x, slope) != KOINE_OK)
        return KOINE_OK;
    for (size_t i = 0; i < n; i++)
        x[i] += h * slope[i];
    memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = to + h;
    status = koine_roots_evaluate(run, roots->mid);
    TRY(status);
    for (uint32_t k = 0; status == KOINE_OK && k < roots->n && !*is; k++)
        *is = roots->crossed[k] && roots->mid[k] > 0 && roots->hi[k] <= 0;
    return KOINE_OK;
}

KoineStatus koine_doubt(KoineRun *run, double to, bool *is_undone)
{
    KoineSolver *solver = run->solver;
    const double from = solver->from;
    *is_undone = false;
    if (run->tables->n_x == 0 || solver->kind->has_fixed_steps || run->time != from || run->roots.n_held ||
        to - from < 64 * koine_ulp(to) || run->repeats.n_doubts >= MOST_DOUBTS)
        return KOINE_OK;
    TRY(is_rising(run, to, is_undone));
    if (!*is_undone) {
        run->repeats.n_doubts = 0;
        return koine_place(run, to);
    }
    if (solver->kind->interpolate(solver, from, run->crossing.x) != KOINE_OK ||
        solver->kind->restart(solver, from, run->crossing.x) < 0)
        return koine_solver_failed(run);
    run->repeats.pulse = from + 0.5 * (to - from);
    run->roots.time = NAN;
    run->repeats.n_doubts++;
    return koine_place(run, from);
}
