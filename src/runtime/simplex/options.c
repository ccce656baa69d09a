/* The options of the time grid and of the classic methods: whether they make sense, and their defaults. */
#include "runtime/run.h"

static const double LOW_SHARE = 0.1; /* of high_error */
static const uint32_t DEFAULT_MAX_CROSSING = 200;
static const double COUNTED_POINTS = 2147483647;     /* grid points in 32 bits, as counted in SIMPLEX */
static const double ROUNDED_POINTS = 70368744177664; /* 2^46: beyond it rounding is more than a quarter of a cell */

static double positive_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* The model serves its calendar on the grid that its host names: the run must have the same. */
static double resolution_of(const KoineRun *run)
{
    const double given = run->options->control.resolution;
    return given != 0 ? given : run->model->host ? run->model->host->resolution : 0;
}

/* The largest time: 32 bits count grid points in SIMPLEX, unless another end is given. With more than 46 bits rounding
 * would be larger than a quarter of a cell. */
static KoineStatus check_grid(KoineRun *run)
{
    const KoineRunOptions *options = run->options;
    const double resolution = resolution_of(run);
    if (!(resolution >= 0) || !isfinite(resolution) || !(options->control.max_time >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS, "resolution %g, max_time %g: none of them may be negative",
                          resolution, options->control.max_time);
    if (run->model->host && run->model->host->resolution != resolution)
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "the run has the time resolution %g, the model was created with %g: they must be the same",
                          resolution, run->model->host->resolution);
    const double most = positive_or(options->control.max_time, resolution > 0 ? COUNTED_POINTS * resolution : INFINITY);
    const double limit = resolution > 0 ? fmin(most, ROUNDED_POINTS * resolution) : most;
    if (options->start < -limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the start time %g lies beyond minus the largest time %g",
                          options->start, limit);
    if (options->stop > limit)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the stop time %.12g lies beyond the largest time %.12g (TMax%s)",
                          options->stop, limit,
                          most == options->control.max_time ? "" : ": 2147483647 times the resolution TScal");
    return KOINE_OK;
}

static KoineStatus check_error_control(KoineRun *run)
{
    const KoineTimeControl *control = &run->options->control;
    if (!(control->first_step >= 0) || !(control->high_error >= 0) || !(control->low_error >= 0))
        return koine_fail(run, KOINE_RUN_OPTIONS,
                          "first step %g, high error %g, low error %g: none of them may be negative",
                          control->first_step, control->high_error, control->low_error);
    const double high = positive_or(control->high_error, positive_or(run->options->tolerance, KOINE_USUAL_TOLERANCE));
    if (control->low_error > high)
        return koine_fail(run, KOINE_RUN_OPTIONS, "the low error %g lies above the high error %g", control->low_error,
                          high);
    if (control->error_mode < KOINE_ERROR_ADAPT || control->error_mode > KOINE_ERROR_NONE)
        return koine_fail(run, KOINE_RUN_OPTIONS, "there is no error mode %d", control->error_mode);
    return KOINE_OK;
}

KoineStatus koine_time_choose(KoineRun *run)
{
    TRY(check_error_control(run));
    TRY(check_grid(run));
    run->problem.control = run->options->control;
    run->problem.control.resolution = resolution_of(run);
    run->problem.strategy = koine_time_strategy(run->problem.control.resolution);
    return KOINE_OK;
}

void koine_time_complete(KoineProblem *problem)
{
    KoineTimeControl *control = &problem->control;
    control->first_step = positive_or(control->first_step, problem->step);
    control->high_error = positive_or(control->high_error, problem->tolerance);
    control->low_error = positive_or(control->low_error, LOW_SHARE * control->high_error);
    control->max_crossing = control->max_crossing ? control->max_crossing : DEFAULT_MAX_CROSSING;
}
