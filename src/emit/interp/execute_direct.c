/* The machine for sections: operands of the block are positions in it. */
#include "emit/interp/opcode.h"
#include "emit/interp/routine.h"
#include <string.h>

#define EXECUTE execute_direct(const uint32_t *code, KoineSlot *m, KoineSlot *registers)
#define SLOT(k) m[at[k]]
#include "emit/interp/execute.inc"
