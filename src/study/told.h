/* What a run is told of the model that was compiled for it. */
#ifndef STUDY_TOLD_H
#define STUDY_TOLD_H

#include "driver/compile.h"
#include "experiment/run.h"

/* Sources, file, model, language and tier, NULL being "auto"; the rest of the request stays. */
void run_told(RunRequest *request, const Compilation *c, const char *tier);
/* The same with the kind, which the compilation makes. False: *why, or the diagnostics where they have errors. */
bool run_told_kind(RunRequest *request, Compilation *c, const char *tier, const char **why);

#endif
