/* A result read back, played to a sink as if a model computed it: so every form can be written from every other. */
#ifndef FORMATS_REPLAY_H
#define FORMATS_REPLAY_H

#include "formats/series.h"
#include "koine/simulate.h"

/* All columns are variables: what does not change is a parameter, what native files know of types, units and events
 * stays; in other files two rows of one time are the two sides of an event. False: sink->error says why. */
bool replay(const Series *series, KoineSink *sink, Arena *arena);

#endif
