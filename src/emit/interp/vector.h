/* Vector programs: a kernel over many elements, a chunk at a time. */
#ifndef EMIT_INTERP_VECTOR_H
#define EMIT_INTERP_VECTOR_H

#include "emit/interp/assemble.h"

enum {
    FRAME_SLOTS = 8192, /* registers of a call lie on the stack: 64 KiB */
    CHUNK = 128,        /* elements an instruction handles; a register is 1 KiB and a few fit the first-level cache */
    CHUNK_LEAST = 8     /* below it element by element is as good */
};

typedef struct {
    VectorCode code;
    const uint8_t *kinds;   /* width */
    const int32_t *strides; /* width; NULL: by table */
    uint32_t width, row_words, chunk;
    int32_t iterator_stride;
} VectorProgram;

/* NULL: too many registers for the frame, or calls of functions. */
const VectorProgram *vector_program(Assembler *assembler, const Kernel *kernel, const uint8_t *kinds, Arena *arena);
/* For runs known at load: which columns advance by one within each chunk; NULL: none or no table. */
const uint8_t *vector_regularity(const VectorProgram *program, const uint32_t *row, uint32_t n, Arena *arena);
/* frame: FRAME_SLOTS registers; regularity: as above or NULL. */
void vector_run(const VectorProgram *program, KoineSlot *m, const uint32_t *row, uint32_t n, const uint8_t *regularity,
                KoineSlot *frame);

#endif
