/* Functions in the interpreter: their code, and the instructions that only they have.
 *
 * A routine runs on the machine for sections with its frame in place of the block. Slot 0 of a frame is the address
 * of the call slots (ir/routine.h); behind the routine's own slots lie one for conditions and values and those for
 * indices, and the address of the frame. The instructions below return false when the code that contains them is to be
 * left. */
#ifndef EMIT_INTERP_ROUTINE_H
#define EMIT_INTERP_ROUTINE_H

#include "emit/interp/assemble.h"
#include "ir/routine.h"

enum { LOAD_OPERANDS = 7 };

struct LoadedRoutine {
    MachineCode code;
    const Routine *routine;
    uint32_t n_frame; /* slots, without registers */
    uint32_t site;    /* of the call as such */
};

bool interp_call(const uint32_t *at, KoineSlot *m, const KoineSlot *args, KoineSlot *to);
int64_t interp_text(const uint32_t *at, KoineSlot *m, const KoineSlot *args);
void interp_message(KoineSlot *frame, KoineSlot text);
bool interp_element(const uint32_t *at, KoineSlot *m, const KoineSlot *index, KoineSlot *to);
bool interp_store(const uint32_t *at, KoineSlot *m);
bool interp_store_whole(const uint32_t *at, KoineSlot *m);
typedef enum { TRIPS_NONE, TRIPS_SOME, TRIPS_FAIL } Trips;
Trips interp_trips(KoineSlot *frame, const uint32_t *at);
/* The instruction that loads an element into a register, if there is one for it: *n operands. */
Opcode element_load(const Routine *routine, const Expr *e, uint32_t to, uint32_t *operands, uint32_t *n);
bool interp_count(KoineSlot *frame, uint32_t site);
void interp_fail(KoineSlot *frame, uint32_t site);

/* Makes the code of all routines. `routines` has their places already: code refers to them. */
void assemble_routines(Assembler *assembler, Placement *placement, const Code *code, LoadedRoutine *routines,
                       Arena *arena);

#endif
