/* What users of SIMPLEX call the counts and limits of a run; messages of every run name them so. */
#include "runtime/support/time_rule.h"

const KoineControlNames koine_control_names = { .event_step = "Takt",
                                                .max_event_steps = "MaxTkt",
                                                .max_cycles = "MaxCyc" };
