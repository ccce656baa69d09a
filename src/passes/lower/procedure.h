/* A procedure, or an algorithm, on its way to a function; shared by lower_procedures.c and procedure_function.c. */
#ifndef PASSES_PROCEDURE_H
#define PASSES_PROCEDURE_H

#include "passes/pipeline.h"

typedef struct {
    Ref ref;
    uint32_t field; /* variable of the function; of a target the output, of an array the local one */
} Field;

typedef struct { /* an array in the function */
    Ref ref;
    uint32_t n;                   /* elements */
    uint32_t local;               /* variable of the function */
    uint32_t first_in, first_out; /* first of n variables; ID_NONE: it gets all its values here, it is only read */
    uint32_t flags, first_flag;   /* local array that says what was assigned, and n outputs; ID_NONE: nobody asks */
} Array;

typedef struct {
    Ref ref;               /* REF_NOW of the variable */
    Span span;             /* of its last assignment */
    bool is_open;          /* it may be read, or left, before it is assigned: it begins with a value from outside */
    bool is_missed;        /* it may be left unassigned */
    bool is_set;           /* on all ways that lead to the statement at work */
    uint32_t output, flag; /* of the function, the first of an array; flag ID_NONE: it is always assigned */
} Target;

/* What is sent: by one statement; or, if loops send, by all into one channel with one priority, in the order in which
 * they do it. So many fit at once as the channel holds, with one more the run ends: no more are kept. */
typedef struct {
    uint32_t action; /* of the first statement */
    bool is_queue;
    uint32_t n;             /* messages at most */
    uint32_t flags, values; /* of the function, the first of n and of n times the fields */
    uint32_t count, rooms;  /* of a queue: local variables: how many were sent; an array for each field */
} Sent;

typedef struct {
    Compile *c;
    Model *model;
    uint32_t n_levels; /* loop variables of the equation or transition */
    uint32_t n_loops;  /* loops around the statement at work */
    bool is_algorithm, is_next;
    Function *made;
    VEC(Target) targets;
    VEC(Ref) reads;    /* all but reads of targets */
    VEC(Field) fields; /* inputs in the order of `reads`, loop variables, begins of open targets */
    VEC(Array) arrays; /* those of `reads`, then those of `targets` */
    VEC(Sent) sent;
    uint32_t first_level, first_begin, first_output;
    bool has_failed;
} Procedure;

/* The target that this is; NULL: it is none. */
Target *procedure_target(Procedure *p, Ref ref);
/* Elements of a variable, 1 of a scalar; 0: its size is no number yet, or too large. */
uint32_t procedure_count(const Model *m, Ref ref);
/* ---- messages (procedure_sends.c) ---- */
void procedure_find_sends(Procedure *p, uint32_t body);
void procedure_add_sent(Procedure *p);  /* outputs, behind all others */
void procedure_add_rooms(Procedure *p); /* local variables */
/* What the statement becomes. */
void procedure_send(Procedure *p, const Statement *s, uint32_t *first, uint32_t *last);
void procedure_empty_rooms(Procedure *p, uint32_t *first, uint32_t *last); /* where the statements end */

/* ---- the function (procedure_function.c) ---- */
uint32_t procedure_field(Procedure *p, const char *name, Type type);
/* The term over the fields of the function. Comparisons behind fired(t) decide at events only. */
Term procedure_term(Procedure *p, Term term, bool is_literal);
uint32_t procedure_add_statement(Procedure *p, const Statement *s, uint32_t *first, uint32_t *last);
void procedure_assign(Procedure *p, uint32_t field, Term value, Span span, uint32_t *first, uint32_t *last);
/* Element k, from 0, of a local array, as it lies in the order of rows. */
Term procedure_element(Procedure *p, uint32_t local, uint32_t k);
/* Fills the function `made`: fields, and the statements from `body` on. */
void procedure_make(Procedure *p, uint32_t body);

#endif
