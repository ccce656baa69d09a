/* Whether what executes models works on this machine: each tier is tried on a model of two lines. */
#ifndef STUDY_TRIAL_H
#define STUDY_TRIAL_H

#include "base/arena.h"

#define TRIAL_WORKS "works"
/* TRIAL_WORKS, or why the tier does not. */
const char *trial_of_tier(const char *tier, OutOfMemory out_of_memory, Arena *arena);
/* The first line of `cc --version`; NULL: there is no C compiler. */
const char *trial_compiler(Arena *arena);

#endif
