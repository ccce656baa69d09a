/* The options of the time grid and of the classic methods: whether they make sense. */
#include "runtime/run.h"

static double positive_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* The model serves its calendar on the grid that its host names: the run must have the same. */
static double resolution_of(const KoineRun *run)
{
    return run->options->resolution != 0 ? run->options->resolution
           : run->model->host            ? run->model->host->resolution
                                         : 0;
}

/* The largest time: 32 bits count grid points in SIMPLEX, unless another end is given. With more than 46 bits rounding
 * would be larger than a quarter of a cell. */
static KoineStatus check_grid(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    const double resolution = resolution_of(run);
    if (!(resolution >= 0) || !isfinite(resolution) || !(options->max_time >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS, "resolution %g, max_time %g: none of them may be negative",
                          resolution, options->max_time);
    if (run->model->host && run->model->host->resolution != resolution)
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "the run has the time resolution %g, the model was created with %g: they must be the same",
                          resolution, run->model->host->resolution);
    const double most = positive_or(options->max_time, resolution > 0 ? 2147483647.0 * resolution : INFINITY);
    const double limit = resolution > 0 ? fmin(most, 70368744177664.0 * resolution) : most;
    if (options->start < -limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the start time %g lies beyond minus the largest time %g",
                          options->start, limit);
    if (options->stop > limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the stop time %.12g lies beyond the largest time %.12g (TMax%s)",
                          options->stop, limit,
                          most == options->max_time ? "" : ": 2147483647 times the resolution TScal");
    return KOINE_OK;
}

static KoineStatus check_error_control(KoineRun *run)
{
    const KoineRunOptions *const options = run->options;
    if (!(options->first_step >= 0) || !(options->high_error >= 0) || !(options->low_error >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "first step %g, high error %g, low error %g: none of them may be negative",
                          options->first_step, options->high_error, options->low_error);
    const double high = positive_or(options->high_error, positive_or(options->tolerance, KOINE_USUAL_TOLERANCE));
    if (options->low_error > high)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the low error %g lies above the high error %g", options->low_error,
                          high);
    if (options->error_mode < KOINE_ERROR_ADAPT || options->error_mode > KOINE_ERROR_NONE)
        return koine_fail(run, KOINE_RUN_OPTIONS, "there is no error mode %d", options->error_mode);
    return KOINE_OK;
}

KoineStatus koine_time_choose(KoineRun *run)
{
    TRY(check_error_control(run));
    TRY(check_grid(run));
    run->problem.resolution = resolution_of(run);
    run->problem.strategy = koine_time_strategy(run->problem.resolution);
    return KOINE_OK;
}
