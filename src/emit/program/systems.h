/* Systems: the blocks of a schedule as pieces of kernels, and those that are solved as systems of equations. */
#ifndef EMIT_PROGRAM_SYSTEMS_H
#define EMIT_PROGRAM_SYSTEMS_H

#include "emit/program/share.h"
#include "emit/program/tangents.h"

struct Systems {
    Kernels *ks;
    Share *share; /* common subexpressions of what is laid out */
    Tangents tangents;
    const Schedule *schedule;     /* the one whose blocks are laid out: that of the run, then that of its start */
    uint32_t first_origin;        /* origin of its first block: see explain.h */
    bool has_seeds;               /* tangents are wanted of it */
    const bool *moves;            /* per variable: it changes between events */
    const bool *is_candidate;     /* per variable: of a state set */
    uint32_t *guess;              /* per variable: slot where a search for it begins, or KOINE_NONE */
    VEC(KoineSystem) systems;     /* of the run, then of its start */
    VEC(Entries) tangent_entries; /* per system: what the section of its tangent computes */
    VEC(Entries) port_entries;    /* the same for directions in inputs, too, if these are wanted */
};

typedef struct {           /* the blocks of a schedule */
    uint32_t *first_piece; /* per block, and one more: its first piece */
    uint32_t *system_of;   /* per block: the system that it is, or KOINE_NONE */
} Blocks;

Systems *systems_create(const Schedule *schedule, Kernels *ks);
Blocks lay_blocks(Systems *ss, const Schedule *schedule, uint32_t first_origin, bool has_seeds);
uint32_t lay_foreign_system(Systems *ss, uint32_t index); /* foreigns.c: a block; the number of the system */
/* choices.c: exact_section and choices of a system that has branches */
void lay_choices(Systems *ss, const Block *b, KoineSystem *system);

/* Rows of a block in the places of its KoineSystem: residuals first, explicit rows behind them. */
static inline uint32_t system_place(const Block *b, uint32_t row)
{
    return row < b->u.system.n_inner ? b->u.system.n_rows - b->u.system.n_inner + row : row - b->u.system.n_inner;
}

#endif
