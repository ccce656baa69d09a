/* A block of a model at a time of its run. */
#ifndef EXPLAIN_INSPECT_RUN_H
#define EXPLAIN_INSPECT_RUN_H

#include "explain/inspect.h"

/* Runs a model up to what->time with its usual settings and describes the block what->block there; a run that fails is
 * described where it failed. False: there is no memory for an instance. */
bool inspect_at(const Inspection *of, const KoineModelKind *kind, InspectedBlock *what, Text *text);

#endif
