/* Where a result comes from: the model and its hash, all settings, the version, the time, as a JSON object that stays
 * with the result. docs/results.md lists the keys. */
#ifndef EXPERIMENT_PROVENANCE_H
#define EXPERIMENT_PROVENANCE_H

#include "base/source.h"
#include "experiment/experiment.h"
#include "experiment/statistics.h"

/* Of all sources the model was read from: 32 hexadecimal digits. */
const char *provenance_hash(const Sources *sources, Arena *arena);
/* The files among them with a hash of each: a JSON object of absolute paths. What is part of the program is no file. */
void provenance_origins(const Sources *sources, Text *text);
/* The settings alone, as a JSON object. */
void provenance_settings(const Experiment *experiment, Text *text);
void provenance_json(const RunRecord *record, const Experiment *experiment, const Sources *sources, Text *text);

#endif
