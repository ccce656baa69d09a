/* The observers of an experiment as sinks of the run. */
#ifndef EXPERIMENT_OBSERVE_H
#define EXPERIMENT_OBSERVE_H

#include "experiment/experiment.h"
#include "koine/simulate.h"

/* Whether the variables exist and every file has one writer, before a file is touched. False: reported, all of it. */
bool observe_check(const Experiment *experiment, const KoineTables *tables, const char *output, Arena *arena,
                   Diag *diag);
KoineSink *observe_sink(const Experiment *experiment, uint32_t observer, bool is_confined, Arena *arena);
const char *observe_path(const ExperimentObserver *observer, Arena *arena);

/* Whether names of an observer or of a plot match something. False: reported. */
bool observe_names(const ExperimentGlobs *names, const KoineTables *tables, unsigned flags, Arena *arena, Diag *diag);

#endif
