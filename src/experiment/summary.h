/* The settings in force, for people. */
#ifndef EXPERIMENT_SUMMARY_H
#define EXPERIMENT_SUMMARY_H

#include "base/text.h"
#include "experiment/control.h"
#include "experiment/statistics.h"

/* A line with times, solver and tier, one with the control parameters, and one for each value that is set. */
void experiment_summary(const Experiment *experiment, const Controls *controls, Text *text);
/* The files that a run wrote, a line each; `what` is said of its results. */
void files_summary(const RunRecord *record, const Experiment *experiment, const char *what, Text *text);

#endif
