/* The table of tiers: the ways to execute Code. A new tier is a file that loads Code, and one row in tiers.c.
 *
 * All tiers give the same bits. `auto` is no tier: it begins in the first row and climbs to later ones while a run goes
 * on (loaded_tiers.c). */
#ifndef EMIT_TIERS_H
#define EMIT_TIERS_H

#include "emit/code.h"

#define TIER_NEVER UINT64_MAX

typedef struct {
    const char *name;
    const char *title; /* how it executes, for help texts: "at once" */
    /* NULL: *why says in one line why not, in `why_arena`. It is given up when *interrupt becomes non-zero; interrupt
     * may be NULL. */
    Executable *(*load)(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena);
    uint64_t pays_at;      /* `auto` moves here after so many operations of a run; TIER_NEVER: it does not */
    bool is_slow_in_loops; /* `auto` passes over it where a model is mostly loops over many elements */
} Tier;

/* Row k; NULL after the last one. */
const Tier *tier_at(uint32_t k);
uint32_t tier_count(void);

#endif
