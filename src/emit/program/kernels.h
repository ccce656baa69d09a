/* Kernels: the second stage of the layout, which all later ones build on. Equal shapes become one kernel, each use of
 * it a row of slots; lists of uses become runs and sections. What is computed on the way gets slots behind those of the
 * variables. emit/code.h says what kernels, rows, runs and sections are. */
#ifndef EMIT_PROGRAM_KERNELS_H
#define EMIT_PROGRAM_KERNELS_H

#include "base/map.h"
#include "emit/code.h"
#include "emit/program/slots.h"
#include "emit/texts.h"
#include "ir/element.h"
#include <math.h>

/* n rows of a kernel, the first one at `row`: how a block, or one outer iteration of it, is executed */
typedef struct {
    uint32_t kernel, row, n;
} Piece;

typedef struct { /* one item of a list that is executed in order */
    Piece piece;
    uint32_t system; /* the system that is solved here, there is no piece then; KOINE_NONE: none */
    bool is_tangent; /* ... its tangent is */
    bool is_shared;  /* it computes what several others need: it was added to what the block says */
    uint32_t within; /* the system whose tangent section it belongs to; KOINE_NONE: to none */
    uint32_t block;  /* the block that it comes from, or KOINE_NONE */
    Span span;
} Entry;

typedef struct {
    Entry *at;
    uint32_t n, capacity;
    Arena *arena; /* where it grows; NULL: in the program's */
} Entries;

enum { AFFINE_FROM = 4 }; /* so many rows of one kernel become a loop; shorter runs are written out */

typedef struct {
    Model *model; /* the schedule's, overlaid with the terms that the layout makes */
    const Slots *slots;
    const Literals *literals;
    Arena *arena;
    Arena *scratch;               /* lives as long as the layout is made */
    uint32_t n_slots;             /* of the variables and of what was taken since */
    VEC(KoineConstant) constants; /* what slots hold when an instance is created, where that is not 0 */
    uint32_t no_real, no_integer; /* slots that hold no value; 0: not needed yet */
    VEC(uint32_t) rows;
    VEC(Kernel) kernels;
    VEC(Run) runs;
    VEC(Section) sections;
    VEC(Piece) pieces;          /* of blocks, in the order in which they were laid out */
    VEC(uint32_t) shared_slots; /* of common subexpressions, in order */
    Map index;                  /* hash of a kernel -> the first one of a chain */
    VEC(uint32_t) next;         /* per kernel: the next one of its chain, or KOINE_NONE */
} Kernels;

Kernels *kernels_create(const Schedule *schedule, const Slots *slots, Arena *arena);
uint32_t take_slots(Kernels *ks, uint64_t n);
/* The value of a literal, also of a text; false: it is none, nothing is written. */
bool constant_value(const Kernels *ks, const Expr *e, KoineSlot *value);
void add_constant(Kernels *ks, uint32_t slot, uint32_t n, KoineSlot value);

uint32_t kernel_for(Kernels *ks, uint32_t n_outputs, const Expr *const *outputs, uint32_t n_leaves,
                    const int32_t *strides, const int32_t *iterator_stride);
/* Slots that a row writes for an output: more than one of an array that a call gives. */
uint32_t output_values(const Kernel *kernel, uint32_t output);
/* The number of the row's first entry. */
uint32_t put_row(Kernels *ks, const uint32_t *row, uint32_t n);
/* flatten.c: the kernel and row that compute `terms` into `slots`, in the scalar domain. */
Piece lay_terms(Kernels *ks, uint32_t n, const Term *terms, const uint32_t *slots);
/* The same for each point of a domain, in its order: rows that follow each other, and `slots` of the first point,
 * behind which those of the others lie. */
Piece lay_terms_over(Kernels *ks, uint32_t n, const Term *terms, const uint32_t *slots, DomainId domain);
/* flatten.c: the pieces of lhs := rhs over a domain, appended to ks->pieces. */
void lay_assignment(Kernels *ks, Term lhs, Term rhs, DomainId domain);

/* sections.c: lists of entries, and sections of them */
void push_entry(Kernels *ks, Entries *list, Entry entry);
void add_entry(Kernels *ks, Entries *list, Piece piece, uint32_t block, Span span);
void add_pieces(Kernels *ks, Entries *list, uint32_t first, uint32_t end, uint32_t block, Span span);
/* "Ball.mdl:29"; NULL: there is no such place. */
const char *place_text(const Model *m, Span span, Arena *arena);
uint32_t lay_section(Kernels *ks, const char *name, const Entries *list);
/* A part of one section for each stretch between systems: the first has the name, others the name and a number.
 * `systems` get the sections of their tangents; NULL: these become sections of the part. */
KoinePart lay_part(Kernels *ks, KoineSystem *systems, const char *name, const Entries *list);

#endif
