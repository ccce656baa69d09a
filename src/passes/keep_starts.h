/* Which equations of the start stay whole over a range: those that give elements of an array of states, or of discrete
 * variables with a memory, directly. */
#ifndef PASSES_KEEP_STARTS_H
#define PASSES_KEEP_STARTS_H

#include "passes/pipeline.h"

/* Per equation: it is v[i] := e, e reads only what is known before the start is solved, and equations of this kind give
 * every element of v. So no other equation can determine v at the start. They get their direction. */
const bool *find_direct_starts(Compile *c);

#endif
