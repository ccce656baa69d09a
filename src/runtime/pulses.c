/* Pulses of sources while the states rest: the error estimate of a step sees what its stages see, and a narrow pulse lies
 * between them. At the extremes of the sources the interpolant is compared with the right-hand side; where they differ, a
 * step ends there, so that its stages stand on the pulse. */
#include "runtime/run.h"

enum { MOST_EXTREMES = 64 };
static const double SHORTEST = 1.0 / 50; /* of the step: the least width of a pulse that is reckoned with */
static const double SHARE = 1.0 / 8;     /* of the difference times the width: the error a pulse makes, roughly */
static const double ALLOWED = 30;        /* tolerances */
static const double STENCIL = 1e-3;      /* of the step: for the slope of the interpolant */

static bool controls_error(const KoineSolverKind *kind)
{
    return kind == &koine_solver_auto || kind == &koine_solver_dopri5 || kind == &koine_solver_dop853 ||
           kind == &koine_solver_cvode_bdf || kind == &koine_solver_cvode_adams || kind == &koine_solver_ida ||
           kind == &koine_solver_arkode_erk || kind == &koine_solver_arkode_dirk;
}

static bool has_sources(const KoineRun *run)
{
    return run->kind->size >= sizeof(KoineModelKind) && run->kind->extremes && run->tables->n_x &&
           !koine_has_grid(run) && controls_error(run->solver->kind);
}

/* How far the interpolant is from the solution of the equations at `time`, in tolerances. */
static KoineStatus defect(KoineRun *run, double time, double width, double *out)
{
    KoineSolver *const solver = run->solver;
    const size_t n = run->tables->n_x;
    const double to_end = koine_min(time - solver->from, solver->time - time);
    const double d = koine_min(STENCIL * (solver->time - solver->from), to_end), before = time - d, behind = time + d;
    double *const x = run->crossing, *const f = run->crossing + n, *const a = run->before, *const b = run->before + n;
    *out = 0;
    if (solver->kind->interpolate(solver, before, a) != KOINE_OK ||
        solver->kind->interpolate(solver, behind, b) != KOINE_OK ||
        solver->kind->interpolate(solver, time, x) != KOINE_OK)
        return koine_solver_failed(run);
    const KoineStatus status = koine_derivatives_at(run->model, time, x, f);
    solver->placed = NAN;
    if (status != KOINE_OK)
        return status < 0 ? koine_solver_failed(run) : KOINE_OK;
    for (size_t i = 0; i < n; ++i) {
        const double scale = run->problem.atol[i] + run->problem.tolerance * fabs(x[i]);
        *out = koine_max(*out, SHARE * width * fabs((b[i] - a[i]) / (behind - before) - f[i]) / scale);
    }
    return KOINE_OK;
}

KoineStatus koine_pulses_check(KoineRun *run, bool *is_undone)
{
    KoineSolver *const solver = run->solver;
    const double from = solver->from, h = solver->time - from;
    double times[MOST_EXTREMES];
    *is_undone = false;
    if (!has_sources(run) || h <= 64 * koine_ulp(solver->time))
        return KOINE_OK;
    const uint32_t n = run->kind->extremes(run->model, from, solver->time, times, MOST_EXTREMES);
    const double width = koine_max(h / (n ? n : 1), SHORTEST * h);
    for (uint32_t k = 0; k < n; ++k) {
        double error;
        TRY(defect(run, times[k], width, &error));
        if (!(error > ALLOWED))
            continue;
        if (solver->kind->interpolate(solver, from, run->crossing) != KOINE_OK ||
            solver->kind->restart(solver, from, run->crossing) < 0)
            return koine_solver_failed(run);
        run->pulse = times[k];
        *is_undone = true;
        ++run->report->statistics.pulses;
        return KOINE_OK;
    }
    return KOINE_OK;
}
