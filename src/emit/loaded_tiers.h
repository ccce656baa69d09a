/* Tiers of one Program, loaded when first wanted. `auto` begins interpreted and moves to compiled code when the work
 * done pays for the compiler; the decision counts work, never time. All tiers give the same bits, so a run does not
 * notice. */
#ifndef EMIT_LOADED_TIERS_H
#define EMIT_LOADED_TIERS_H

#include "emit/program.h"

typedef struct {
    struct LoadedTier *rows; /* one for each row of emit/tiers.h */
    KoineModelKind *automatic_kind;
    uint32_t present; /* the row that `auto` runs now */
    const Program *program;
    Arena *arena;
    volatile const int *interrupt; /* ends a compiler at work; NULL: nothing does */
    char note[512];
} Tiers;

void tiers_init(Tiers *tiers, Arena *arena);
/* `tier` is the name of a row, or "auto". NULL: *why says why not. */
const KoineModelKind *tiers_kind(Tiers *tiers, const Program *program, const char *tier, const char **why,
                                 Arena *arena);
const char *tiers_note(const Tiers *tiers);
void tiers_release(Tiers *tiers);

#endif
