/* The machine for kernels: operands of the block are columns of a row, which holds the positions. */
#include "emit/interp/opcode.h"
#include "emit/interp/routine.h"
#include <string.h>

#define EXECUTE execute_by_row(const uint32_t *code, KoineSlot *m, const uint32_t *row, KoineSlot *registers)
#define SLOT(k) m[row[at[k]]]
#include "emit/interp/execute.inc"
