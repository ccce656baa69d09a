/* Sets of columns of a Jacobian, carried through the blocks of a schedule: on which states, inputs or unknowns each
 * element of a variable depends. A system passes the union of its rows to all its unknowns. Part of build-jacobian and
 * build-ports. */
#ifndef PASSES_CARRY_H
#define PASSES_CARRY_H

#include "ir/element.h"
#include "passes/pipeline.h"

typedef struct {
    uint64_t begin;
    uint32_t n;
} ColumnSet;

typedef struct {
    Compile *c;
    Model *model;
    Schedule *schedule;
    uint32_t *first_state;   /* per variable: index of its first element in x, or ID_NONE */
    uint32_t *first_element; /* per variable: its first element in `sets`, or ID_NONE */
    uint32_t *first_input; /* per variable: the column of its first element, or ID_NONE; NULL: inputs are no columns */
    ColumnSet *sets;       /* of algebraic elements */
    ColumnSet *rows;       /* per state: its derivative's */
    uint32_t *pool;        /* entries of all sets */
    uint64_t n_pool, capacity, most;
    uint32_t n_columns;    /* states, in the residual form also unknowns of systems */
    bool is_dae;           /* residual form */
    uint32_t *mark, stamp; /* per column: already in the set being built */
    uint32_t *work;        /* the set being built */
    uint32_t n_work;
    bool is_too_large;
} Carry;

Carry carry_create(Compile *c);
/* Every element gets its place. False: there are too many. */
bool carry_number(Carry *b, uint32_t *n_states, uint32_t *n_elements);
/* Room for the sets; they are empty. */
void carry_room(Carry *b, uint32_t n_rows, uint32_t n_columns, uint32_t n_elements);

/* One set: begun, filled with columns and with what terms read, ended, and put where it belongs. */
void carry_begin(Carry *b);
void carry_add(Carry *b, uint32_t column);
void carry_element(Carry *b, Ref ref, int64_t element); /* what this element depends on */
void carry_leaves(Carry *b, const Expr *e, Term term, DomainId domain, const int64_t *j); /* at iteration j */
ColumnSet carry_end(Carry *b);
void carry_put(Carry *b, Ref ref, int64_t element, ColumnSet set);

/* What the block defines gets its sets. */
void carry_assignment(Carry *b, const Block *block);
void carry_system(Carry *b, const Block *block);

#endif
