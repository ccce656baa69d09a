/* Tangents: derivatives along seeds. Shapes are differentiated once, all their instances share the result. */
#ifndef EMIT_PROGRAM_TANGENTS_H
#define EMIT_PROGRAM_TANGENTS_H

#include "emit/program/kernels.h"

typedef struct { /* derivative of a shape along the seeds of some of its leaves: the same for all its instances */
    const Expr *shape, *derivative; /* leaves of the derivative: those of the shape, then the seeds */
    uint64_t seeded;                /* bits of the leaves that have a seed */
    uint32_t n_seeds;
    uint8_t leaf_of[64];   /* per seed: the leaf it belongs to */
    const Expr *canonical; /* the derivative as a term has it whose references are all different; NULL: none yet */
    uint32_t n_used;
    uint8_t used[24]; /* ... which of the leaves the canonical form has */
    uint32_t next;    /* the next one of equal hash, or KOINE_NONE */
} Tangent;

typedef struct {
    Kernels *ks;
    VEC(Tangent) known;
    Map index;    /* hash -> the first tangent of a chain */
    bool has_all; /* inputs have seeds, too, and what follows from them; else directions in the states are meant */
} Tangents;

Tangents tangents_create(Kernels *ks);
/* The tangent of a term: its total derivative along the seeds. `unknowns`, by ref_key, have none: they are what a
 * system is solved for; NULL: there are no such. */
Term tangent_of(Tangents *ts, Term term, const Map *unknowns);

#endif
