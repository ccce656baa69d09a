/* Pulses of sources while the states rest: the error estimate of a step sees what its stages see, and a narrow pulse
 * lies between them. At the extremes of the sources the interpolant is compared with the right-hand side; where they
 * differ, a step ends there, so that its stages stand on the pulse. */
#include "runtime/run.h"

enum { MOST_EXTREMES = 64 };
static const double SHORTEST = 1.0 / 50; /* of the step: the least width of a pulse that is reckoned with */
static const double BESIDE = 1e-3;       /* of the step: a pulse this close to an end is seen there */
static const double SHARE = 1.0 / 8;     /* of the difference times the width: the error a pulse makes, roughly */
static const double ALLOWED = 30;        /* tolerances */
static const double STENCIL = 1e-3;      /* of the step: for the slope of the interpolant */

static bool controls_error(const KoineRun *run)
{
    return !run->solver->kind->has_fixed_steps && run->problem.control.error_mode == KOINE_ERROR_ADAPT;
}

void koine_pulses_begin(KoineRun *run)
{
    run->repeats.has_sources = run->kind->size >= sizeof(KoineModelKind) && run->kind->time.extremes &&
                               run->tables->n_x && run->problem.strategy->looks_between && controls_error(run);
}

/* How far the interpolant is from the solution of the equations at `time`, in tolerances. */
static KoineStatus defect(KoineRun *run, double time, double width, double *out)
{
    KoineSolver *solver = run->solver;
    const size_t n = run->tables->n_x;
    const double to_end = koine_min(time - solver->from, solver->time - time);
    const double d = koine_min(STENCIL * (solver->time - solver->from), to_end), before = time - d, behind = time + d;
    double *x = run->crossing.x, *f = run->crossing.x + n, *a = run->crossing.before, *b = run->crossing.before + n;
    *out = 0;
    if (solver->kind->interpolate(solver, before, a) != KOINE_OK ||
        solver->kind->interpolate(solver, behind, b) != KOINE_OK ||
        solver->kind->interpolate(solver, time, x) != KOINE_OK)
        return koine_solver_failed(run);
    const KoineStatus status = koine_derivatives_at(run->model, time, x, f);
    solver->placed = NAN;
    if (status != KOINE_OK)
        return status < 0 ? koine_solver_failed(run) : KOINE_OK;
    for (size_t i = 0; i < n; i++) {
        const double scale = run->problem.atol[i] + run->problem.tolerance * fabs(x[i]);
        *out = koine_max(*out, SHARE * width * fabs((b[i] - a[i]) / (behind - before) - f[i]) / scale);
    }
    return KOINE_OK;
}

/* Back to the beginning of the step. */
static KoineStatus undo(KoineRun *run, bool *is_undone)
{
    KoineSolver *solver = run->solver;
    if (solver->kind->interpolate(solver, solver->from, run->crossing.x) != KOINE_OK ||
        solver->kind->restart(solver, solver->from, run->crossing.x) < 0)
        return koine_solver_failed(run);
    *is_undone = true;
    run->report->statistics.integration.pulses++;
    return KOINE_OK;
}

/* The slope at `time`, an end of the step, against what the step has made of it, in tolerances. */
static KoineStatus defect_at_end(KoineRun *run, double time, double *out)
{
    KoineSolver *solver = run->solver;
    const size_t n = run->tables->n_x;
    const double h = solver->time - solver->from;
    double *x = run->crossing.x, *f = run->crossing.x + n, *begin = run->crossing.before;
    *out = 0;
    if (solver->kind->interpolate(solver, solver->from, begin) != KOINE_OK)
        return koine_solver_failed(run);
    memcpy(x, time == solver->from ? begin : solver->x, n * sizeof *x);
    const KoineStatus status = koine_derivatives_at(run->model, time, x, f);
    solver->placed = NAN;
    if (status != KOINE_OK)
        return status < 0 ? koine_solver_failed(run) : KOINE_OK;
    for (size_t i = 0; i < n; i++) {
        const double scale = run->problem.atol[i] + run->problem.tolerance * fabs(x[i]);
        const double mean = (solver->x[i] - begin[i]) / h;
        *out = koine_max(*out, SHARE * SHORTEST * h * fabs(mean - f[i]) / scale);
    }
    return KOINE_OK;
}

/* The stages of some methods do not stand on the ends of a step, where a pulse may lie: then half the step, until they
 * are on its flank. */
static KoineStatus check_ends(KoineRun *run, bool *is_undone)
{
    KoineSolver *solver = run->solver;
    const double from = solver->from, to = solver->time;
    double error = 0;
    if (run->repeats.pulse == from || run->repeats.pulse == to)
        TRY(defect_at_end(run, run->repeats.pulse, &error));
    if (!(error > ALLOWED) || to - from <= 64 * koine_ulp(to))
        return KOINE_OK;
    TRY(undo(run, is_undone));
    solver->kind->limit(solver, 0.5 * (to - from));
    return KOINE_OK;
}

KoineStatus koine_pulses_check(KoineRun *run, bool *is_undone)
{
    KoineSolver *solver = run->solver;
    const double from = solver->from, h = solver->time - from;
    double times[MOST_EXTREMES];
    *is_undone = false;
    if (h <= 64 * koine_ulp(solver->time))
        return KOINE_OK;
    if (solver->kind->limit)
        TRY(check_ends(run, is_undone));
    if (*is_undone)
        return KOINE_OK;
    const uint32_t n = run->kind->time.extremes(run->model, from, solver->time, times, MOST_EXTREMES);
    const double width = koine_max(h / (n ? n : 1), SHORTEST * h);
    for (uint32_t k = 0; k < n; k++) {
        double error;
        if (koine_min(times[k] - from, solver->time - times[k]) < BESIDE * h)
            continue; /* the quotient there would be rounding, and the step made again of no length */
        TRY(defect(run, times[k], width, &error));
        if (!(error > ALLOWED))
            continue;
        run->repeats.pulse = times[k];
        return undo(run, is_undone);
    }
    return KOINE_OK;
}
