/* Names of slots as C identifiers: "Integ.Z" becomes Integ_Z, "der(Y)" der_Y, "int" int_. Equal
 * results are told apart by the slot. Only slots asked for get one. */
#ifndef EMIT_C_IDENTIFIERS_H
#define EMIT_C_IDENTIFIERS_H

#include "emit/code.h"

typedef struct {
    const Code *code;
    Arena *arena;
    Names *taken, *sections;
    const char **of_slot; /* n_slots; NULL: not asked for yet */
    uint32_t n_used;
} Identifiers;

void identifiers_init(Identifiers *identifiers, const Code *code, Arena *arena);
const char *identifier_of(Identifiers *identifiers, uint32_t slot); /* NULL: the slot has no name */

#endif
