/* Kernels to machine code of the interpreter.
 *
 * Three forms from the same expressions: scalar code with positions of the block as operands
 * (sections), scalar code with columns of a row as operands (kernels), and vector code, which does
 * each instruction for a chunk of elements. */
#ifndef EMIT_INTERP_ASSEMBLE_H
#define EMIT_INTERP_ASSEMBLE_H

#include "base/map.h"
#include "emit/interp/opcode.h"
#include "emit/placement.h"

/* How a leaf or output moves from element to element of a run. */
typedef enum {
    COLUMN_UNIFORM, /* not at all: leaves only */
    COLUMN_UNIT,    /* by one */
    COLUMN_STRIDED, /* by the kernel's stride */
    COLUMN_TABLE    /* as the rows say */
} ColumnKind;

/* Instructions of vector code: an Opcode, or one of these. Words: instruction, destination, sources.
 * An operand is a vector register or, with COLUMN_BIT, a unit column of the block itself. */
enum {
    VECTOR_LOAD = OPCODE_COUNT, /* destination, column */
    VECTOR_STORE,               /* column, source */
    VECTOR_ITERATOR,            /* destination */
    VECTOR_TABLE,               /* destination, argument, interval, constant that holds the address */
    VECTOR_SKIP_NONE,           /* condition, distance: no element is true */
    VECTOR_SKIP_ALL,            /* condition, distance: every element is true */
    VECTOR_END
};
#define COLUMN_BIT    0x80000000u
#define SEARCHED_WORD UINT32_MAX /* VECTOR_TABLE: no interval is given */

typedef struct {
    bool is_register; /* else position, column */
    int32_t index;
} Operand;

typedef struct {
    const uint32_t *words;
    const KoineSlot *constants; /* constant register -1 - k is constants[n_constants - 1 - k] */
    uint32_t n_constants, n_registers;
} MachineCode;

typedef struct {  /* vector code: what does not change over a run is computed once before it */
    Operand from; /* register of the prologue, or column */
    uint32_t to;  /* vector register */
} Broadcast;
typedef struct {
    MachineCode prologue, body; /* prologue: scalar, by row */
    Broadcast *broadcasts;
    uint32_t n_broadcasts;
} VectorCode;

typedef struct LoadedRoutine LoadedRoutine; /* see routine.h */
struct Routine;

typedef struct Assembler Assembler;
/* `keep` lives as long as the code: tables are copied to it. routines: those of the code, in its order; calls refer to
 * them. */
Assembler *assembler_create(Arena *scratch, const Placement *placement, Arena *keep, const Code *code,
                            const LoadedRoutine *routines);

/* The kernel at work reads elements by an index that is known only at run time: there is no vector code for that. */
bool assembler_has_elements(const Assembler *assembler);

/* Sections: begin, any number of kernels, end. columns: position of each output and leaf. */
void assemble_begin(Assembler *assembler);
void assemble_direct(Assembler *assembler, const Kernel *kernel, const uint32_t *columns, int64_t iterator);
uint32_t assembled_constants(const Assembler *assembler);
/* In sections of routines also single instructions without variants; operands are slots. */
uint32_t assembled_words(const Assembler *assembler);
void assemble_raw(Assembler *assembler, Opcode opcode, uint32_t n, const uint32_t *operands);
void assemble_patch(Assembler *assembler, uint32_t word, uint32_t value);
/* Whose step the next kernel is, and the site of it; NULL: no routine's. */
void assemble_site(Assembler *assembler, const struct Routine *routine, uint32_t site);
MachineCode assemble_end(Assembler *assembler, Arena *arena);

/* Kernels. An iterator is expected in register 0. */
MachineCode assemble_by_row(Assembler *assembler, const Kernel *kernel, Arena *arena);
VectorCode assemble_vector(Assembler *assembler, const Kernel *kernel, const uint8_t *column_kinds, Arena *arena);

#endif
