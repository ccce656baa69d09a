/* What a run needs beyond what was given: an experiment is completed and looked at as a whole. */
#ifndef EXPERIMENT_COMPLETE_H
#define EXPERIMENT_COMPLETE_H

#include "experiment/start.h"

/* The start state is read where `start-from` names one. Without a start time the run begins at that state; without a
 * stop time it ends with the last phase, or at its start where the task is a steady state. False: solver, times or
 * start state cannot be; reported. */
bool experiment_complete(Experiment *experiment, StartState *start, Arena *arena, Diag *diag);
/* Of that, the stop time that the last phase says. */
void experiment_stop_with_phases(Experiment *experiment);
/* The whole for a run that leads to a point and keeps nothing: to the time `at`, or to its start where that is NULL,
 * which is a steady state where `is_steady`. */
bool experiment_lead(Experiment *experiment, const char *at, bool is_steady, StartState *start, Arena *arena,
                     Diag *diag);

#endif
