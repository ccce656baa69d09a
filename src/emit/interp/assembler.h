/* What the assembler knows of the code that it makes. Private to assemble.c, which says how it works. */
#ifndef EMIT_INTERP_ASSEMBLER_H
#define EMIT_INTERP_ASSEMBLER_H

#include "emit/interp/assemble.h"
#include "ir/routine.h"

typedef enum { FORM_DIRECT, FORM_BY_ROW, FORM_VECTOR } CodeForm;

typedef struct { /* tables that the code reads, copied to where the code lives */
    Map numbers; /* number of the table*TABLE_ORDERS + order: index in copies */
    VEC(const double *) copies;
} TableCopies;

typedef struct {            /* whose step is assembled */
    const Routine *routine; /* or NULL */
    uint32_t number;        /* site in it */
} Site;

typedef struct {
    VEC(KoineSlot) values;
    Map numbers; /* bits -> index */
} Constants;

typedef struct {
    uint32_t n;
    VEC(uint32_t) free;
} Registers;

typedef struct { /* of the kernel at work, per node */
    VEC(Operand) place;
    VEC(uint8_t) is_done;     /* its place holds the value */
    VEC(uint8_t) is_uniform;  /* vector: the same for all elements */
    VEC(uint8_t) is_frontier; /* vector: uniform, and used by what is not */
    VEC(uint32_t) remaining;  /* uses still to come */
} NodeStates;

struct Assembler {
    Arena *arena, *keep;
    const Placement *placement;
    const Code *code;
    const LoadedRoutine *routines;
    TableCopies tables;
    Site site;
    CodeForm form;
    const int32_t *distances; /* scalar forms: opcode -> first word */
    VEC(uint32_t) words;
    Constants constants;
    Registers registers;
    /* the kernel at work */
    const Kernel *kernel;
    const uint32_t *columns;     /* direct: positions; else NULL: the column itself */
    const uint8_t *column_kinds; /* vector */
    Operand iterator;            /* scalar forms */
    NodeStates nodes;
    VEC(Broadcast) broadcasts;
};

#endif
