/* Interval code that is being made: what time.c and time_calls.c share. */
#ifndef EMIT_PROGRAM_TIME_H
#define EMIT_PROGRAM_TIME_H

#include "emit/program/event_layout.h"
#include "ir/memo.h"
#include "ir/routine.h"

typedef struct { /* the call of a function that is being written out */
    const Routine *routine;
    uint32_t *registers; /* per slot of its frame: what holds it; KOINE_NONE: what has no interval form */
    Memo known;          /* expressions of the statement at work -> register */
    uint32_t depth;      /* of calls */
} TimeCall;

typedef struct { /* the function being made */
    TimeCodes *c;
    TermBuilder builder;
    Memo registers; /* expressions in the builder's numbering -> register */
    Memo moving;    /* likewise -> 1 or 0 */
    Memo timed;     /* likewise; only while sources are looked for */
    uint32_t depth;
    TimeCall *call; /* NULL: at work outside of functions */
    VEC(KoineTimeInstruction) instructions;
    VEC(double) numbers;
    VEC(const double *) tables;
    VEC(Term) inputs;
} Coder;

Arena *coder_scratch(const Coder *d);
uint32_t coder_put(Coder *d, KoineTimeOp op, uint32_t a, uint32_t b, uint32_t c);
uint32_t coder_put_number(Coder *d, double value);
bool coder_knows(const Coder *d, uint32_t number, double *value); /* the register holds a number */
/* The register that holds the expression, of the call at work if there is one; KOINE_NONE: it has no interval form. */
uint32_t coder_expr(Coder *d, const Expr *e);

/* time_calls.c: a call of a function, or an element of an array in one. */
uint32_t coder_function(Coder *d, const Expr *e);

#endif
