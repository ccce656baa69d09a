/* Continuous time, and the choice between it and other notions of time. */
#include "time_rule.h"

static void serve(double resolution, double *time, bool *is_late)
{
    (void)resolution, (void)time, (void)is_late;
}

static bool has_passed(double resolution, double time, bool is_late, double now)
{
    (void)resolution;
    return is_late ? now > time : now >= time;
}

static bool postpones(double resolution, double time, double *served)
{
    (void)resolution, (void)time, (void)served;
    return false;
}

const KoineTimeRule koine_rule_continuous = {
    .serve = serve, .has_passed = has_passed, .postpones = postpones, .puts_on_borders = true
};

const KoineTimeRule *koine_time_rule(double resolution)
{
    return resolution > 0 ? &koine_rule_on_grid : &koine_rule_continuous;
}
