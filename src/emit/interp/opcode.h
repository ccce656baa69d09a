/* The instructions of the register machine.
 *
 * Scalar code is a sequence of 32-bit words: the instruction, then its operands (destination first).
 * The first word is the distance of the instruction's label in the machine, so that dispatch is one
 * load and one jump. An operand is a position in the block or a register; which of them is part of
 * the instruction: variant bit k is set when operand k is a register (0: destination). Registers
 * have signed numbers: temporaries 0, 1, ..., constants -1, -2, ....
 *
 * The machine exists twice, for operands of the block given directly (sections) and through a row
 * (kernels). Labels differ; opcodes do not. */
#ifndef EMIT_INTERP_OPCODE_H
#define EMIT_INTERP_OPCODE_H

#include "ir/expr.h"
#include "koine/model.h"
#include "koine/ops.h"

/* A table whose numbers lie at the address that the slot holds. Not inline: the machine has it in 32 places. */
double table_value(const KoineSlot *address, int64_t interval, double argument);

/* Elements of arrays in routines. Place: slot of an address, slot of an index, what is added to it; Place2: two
 * indices, each followed by its factor. */
typedef enum {
#define UNARY(name, member, value)      OPCODE_##name, OPCODE_##name##_LAST = OPCODE_##name + 3,
#define BINARY(name, member, value)     OPCODE_##name, OPCODE_##name##_LAST = OPCODE_##name + 7,
#define TERNARY(name, member, value)    OPCODE_##name, OPCODE_##name##_LAST = OPCODE_##name + 15,
#define QUATERNARY(name, member, value) OPCODE_##name, OPCODE_##name##_LAST = OPCODE_##name + 31,
#include "emit/interp/opcode.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
    OPCODE_SKIP,        /* distance in words from the next instruction */
    OPCODE_SKIP_UNLESS, /* condition, distance */
    OPCODE_SKIP_UNLESS_LAST = OPCODE_SKIP_UNLESS + 1,
    OPCODE_BACK,        /* distance in words back from the next instruction */
    OPCODE_CALL,        /* first register of the results, first register of the arguments, Routine (2 words), slot
                           of the call slots or 0: in a routine, whose slot 0 points to them */
    OPCODE_TEXT,        /* register, first register of the arguments, KoineTextOp, slot of the call slots or 0, site */
    OPCODE_MESSAGE,     /* slot of the text of a check that fails */
    OPCODE_COPY,        /* register with the address of the target, register with that of the source, count */
    OPCODE_FIELD,       /* register, first register of the indices, RoutineField (2 words), site */
    OPCODE_STORE,       /* slot of the value, first slot of the indices, RoutineField (2 words), site */
    OPCODE_STORE_WHOLE, /* slot of the address of the value, RoutineField (2 words), site; 0: nothing is looked at */
    OPCODE_CHECK_REAL,  /* slot, site */
    OPCODE_CHECK_INTEGER, /* slot, site */
    OPCODE_COUNT_STEP,    /* site */
    OPCODE_LOOP,          /* slots of variable and limit, step, site, distance: counts the iterations of a loop, and
                             keeps in the limit how many are left behind the first; jumps if there is none */
    OPCODE_REPEAT,        /* slots of variable and limit, step, distance back */
    OPCODE_LOAD,          /* register, Place: an element */
    OPCODE_LOAD_2,        /* register, Place2 */
    OPCODE_ADD_SCALED,    /* slot, Place, slot of a factor: their product is added */
    OPCODE_ADD_MULTIPLE,  /* slot, Place, a number (2 words) */
    OPCODE_DOT,           /* slot, Place, Place: the product of two elements is added */
    OPCODE_DOT_2,         /* slot, Place2, Place */
    OPCODE_PUT_REAL,      /* slot of the value, Place2, site */
    OPCODE_PUT_INTEGER,   /* the same */
    OPCODE_FAIL,          /* site */
    OPCODE_END,
    OPCODE_COUNT
} Opcode;

/* The first variant of the instruction that does the call `e`; the operands of > and >= are exchanged before. */
Opcode opcode_of(const Expr *e);

/* Runs until END. With code NULL nothing is run; both return the table of label distances. */
const int32_t *execute_direct(const uint32_t *code, KoineSlot *m, KoineSlot *registers);
const int32_t *execute_by_row(const uint32_t *code, KoineSlot *m, const uint32_t *row, KoineSlot *registers);

#endif
