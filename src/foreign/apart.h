/* Components in processes of their own, as kinds of this one. Private to this folder. */
#ifndef FOREIGN_APART_H
#define FOREIGN_APART_H

#include "base/vec.h"
#include "foreign/foreign.h"

typedef struct {
    KoineModelKind kind; /* first member */
    ForeignRequest request;
    uint64_t fingerprint; /* of the tables */
    Arena *arena;
    VEC(uint64_t) uses[FOREIGN_N_USES];
} ApartKind;

extern const KoineModelKind foreign_apart_functions; /* of all of them */

/* Asks a process what the kind is; NULL: *why. */
ApartKind *foreign_apart_load(Arena *arena, const ForeignRequest *request, const char **why);

#endif
