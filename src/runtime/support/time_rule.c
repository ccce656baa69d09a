/* Continuous time, and the choice between it and other notions of time. */
#include "time_rule.h"

static bool postpones(double resolution, double time, double *served)
{
    (void)resolution, (void)time, (void)served;
    return false;
}

const KoineTimeRule koine_rule_continuous = { .postpones = postpones, .puts_on_borders = true };

const KoineTimeRule *koine_time_rule(double resolution)
{
    return resolution > 0 ? &koine_rule_on_grid : &koine_rule_continuous;
}
