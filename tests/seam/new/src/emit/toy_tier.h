/* A tier of a few lines, to prove the seam: the interpreter under another name. */
#ifndef EMIT_TOY_TIER_H
#define EMIT_TOY_TIER_H

#include "emit/tiers.h"

Executable *toy_load(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena);

#endif
