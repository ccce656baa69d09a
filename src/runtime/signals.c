/* Signals that a model with dead time needs again: sampled in each completed step as densely as a cubic through the
 * samples needs to be as exact as the step itself. */
#include "runtime/run.h"
#include <stdlib.h>

static const double SMALL = 1e-3;                   /* signals below count as this large: 0 has no relative error */
enum { PIECES = 4, DEEPEST = 12, MAX_GROWTH = 40 }; /* samples of a piece; halvings of a step */

KoineStatus koine_signals_create(KoineRun *run)
{
    const size_t n = run->tables->n_signals;
    run->signals.sampled_time = run->time;
    if (n == 0)
        return KOINE_OK;
    const double longest = run->kind->signals.longest_step(run->model);
    if (!(longest > 0))
        return koine_fail_by(run, KOINE_CAUSE_DEAD_TIME, "a dead time is not greater than 0");
    run->problem.max_step = koine_min(run->problem.max_step, longest);
    run->signals.values = malloc((PIECES + 1) * n * sizeof *run->signals.values);
    return run->signals.values ? KOINE_OK : koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %zu signals", n);
}

static KoineStatus sample(KoineRun *run, double time, double *values)
{
    TRY(koine_place(run, time));
    run->solver->placed = NAN; /* the model may have moved its time */
    const KoineStatus status = run->kind->signals.sample(run->model, time, koine_states(run->model), values);
    return status < 0 ? koine_model_failed(run, status, "sampling a delayed signal") : status;
}

static KoineStatus remember(KoineRun *run, double time, const double *values)
{
    KoineStatus status = run->kind->signals.remember(run->model, time, values);
    for (uint32_t k = 0; status == KOINE_GROW && k < MAX_GROWTH; k++) {
        TRY(koine_grow(run));
        status = run->kind->signals.remember(run->model, time, values);
    }
    return status == KOINE_OK ? KOINE_OK : koine_model_failed(run, status, "keeping a delayed signal");
}

/* The middle sample against the cubic through the four others; that is more than seven times the error between
 * neighbours. */
static bool is_dense(const KoineRun *run)
{
    const uint32_t n = run->tables->n_signals;
    for (uint32_t k = 0; k < n; k++) {
        const double *u = run->signals.values + k;
        const double middle = (4 * (u[n] + u[3 * n]) - u[0] - u[4 * n]) / 6;
        const double ends = fmax(fabs(u[0]), fabs(u[4 * n])), scale = fmax(fmax(fabs(u[2 * n]), ends), SMALL);
        if (!(fabs(u[2 * n] - middle) <= run->problem.tolerance * scale))
            return false;
    }
    return true;
}

/* Samples of (from, from + length] behind the one at `from`; RETRY if one cannot be computed. */
static KoineStatus sample_piece(KoineRun *run, double from, double length)
{
    const uint32_t n = run->tables->n_signals;
    KoineStatus status = KOINE_OK;
    for (int j = 1; j <= PIECES && status == KOINE_OK; j++)
        status = sample(run, from + length * j / PIECES, run->signals.values + (size_t)j * n);
    return status;
}

static KoineStatus sample_inside(KoineRun *run, double end)
{
    const uint32_t n = run->tables->n_signals;
    double from = run->signals.sampled_time, length = end - from;
    const double least = ldexp(length, -DEEPEST);
    KoineStatus status = sample(run, from, run->signals.values);
    while (status == KOINE_OK && end - from > 0.5 * least) {
        length = koine_min(length, end - from);
        status = sample_piece(run, from, length);
        if (status == KOINE_OK && length > least && !is_dense(run)) {
            length /= 2;
            continue;
        }
        for (int j = 1; j <= PIECES && status == KOINE_OK; j++)
            TRY(remember(run, from + length * j / PIECES, run->signals.values + (size_t)j * n));
        memcpy(run->signals.values, run->signals.values + (size_t)PIECES * n, n * sizeof *run->signals.values);
        from += length;
        length *= 2;
    }
    return status;
}

KoineStatus koine_signals_sample(KoineRun *run)
{
    const double end = run->time;
    KoineStatus status = KOINE_OK;
    if (run->signals.sampled_time >= run->solver->from &&
        end > run->signals.sampled_time) /* else the step cannot be interpolated */
        TRY(sample_inside(run, end));
    status = sample(run, end, run->signals.values);
    if (status == KOINE_OK)
        TRY(remember(run, end, run->signals.values));
    run->signals.sampled_time = end;
    return status < 0 ? status : koine_place(run, end);
}
