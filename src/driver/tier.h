/* Tiers: executables of one Program, loaded when first wanted. `auto` begins interpreted and moves to compiled code
 * when the work done pays for the compiler; the decision counts work, never time. All tiers give the same bits, so a
 * run does not notice. */
#ifndef DRIVER_TIER_H
#define DRIVER_TIER_H

#include "emit/program.h"

enum { TIER_COUNT = 3 };
typedef struct {
    Executable *loaded[TIER_COUNT]; /* by Tier */
    KoineModelKind *kinds[TIER_COUNT];
    KoineModelKind *automatic_kind;
    KoineCode automatic[TIER_COUNT]; /* what `auto` runs: the tier's code and how to go on */
    Tier present;                    /* of `auto` */
    const Program *program;
    Arena *arena;
    volatile const int *interrupt; /* ends a compiler at work; NULL: nothing does */
    char note[512];
} Tiers;

const KoineModelKind *tiers_kind(Tiers *tiers, const Program *program, const char *tier, const char **why,
                                 Arena *arena);
const char *tiers_note(const Tiers *tiers);
void tiers_release(Tiers *tiers);

#endif
