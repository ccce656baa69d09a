/* Routine: a function made ready to be executed.
 *
 * Fields, loop variables and the bounds of loops lie in a frame of slots; slot 0 belongs to the tier. Expressions
 * have the frame's slots as leaves and no iterators. `for` has become assignments and `while`. An element of an array
 * is a call of routine_element with the field in `op` and the indices as arguments. What `and` and `or` need not
 * evaluate, and may fail, is behind `if`.
 *
 * What a routine does is the same in every tier (docs/semantics.md, Functions): every value that is assigned is looked
 * at; one that is not finite, an index outside its array, a failed check, more than ROUTINE_STEPS iterations and calls
 * in one call from outside, or calls nested deeper than ROUTINE_DEPTH end the function without value: NaN, or
 * INTEGER_FAULT for everything that is not Real. */
#ifndef IR_ROUTINE_H
#define IR_ROUTINE_H

#include "ir/evaluate.h"
#include "ir/model.h"

enum {
    ROUTINE_RANK = 4,        /* dimensions of a local array */
    ROUTINE_SLOTS = 4096,    /* of a frame */
    ROUTINE_DEPTH = 64,      /* of calls */
    ROUTINE_STEPS = 1000000, /* iterations and calls in one call from outside */
    ROUTINE_CALL_SLOTS = 4   /* what a call shares with the calls in it, see RoutineCallSlot */
};

/* Slots of the block for the call from outside that is executed: the site of the fault in it (0: none), the depth
 * of calls, iterations and calls so far; and the first site since someone looked. */
typedef enum { CALL_FAULT, CALL_DEPTH, CALL_STEPS, CALL_NOTED } RoutineCallSlot;

typedef struct {
    NameId name;
    Type type; /* of an element */
    uint32_t first, count, rank;
    uint32_t extents[ROUTINE_RANK];
} RoutineField;

typedef struct {
    uint8_t kind; /* StatementKind, but not FOR */
    uint32_t field;
    const Expr *value;               /* ASSIGN, IF, WHILE, ASSERT */
    const Expr *index[ROUTINE_RANK]; /* ASSIGN to an element */
    uint32_t inner, otherwise, next; /* 0: none */
    NameId text;
    Span span;
    uint32_t statement; /* it was made of */
} RoutineStep;

typedef struct Routine {
    const Function *function;
    uint32_t n_fields, n_slots, n_steps, first; /* step 0 is unused */
    const RoutineField *fields;                 /* inputs, outputs, locals, loops */
    const RoutineStep *steps;
} Routine;

extern const Function routine_element;
static inline bool is_element(const Expr *e)
{
    return e->kind == EXPR_FUNCTION && e->u.function == &routine_element;
}

/* The routine of a function that has no obstacle; made once. */
const Routine *routine_of(const Function *function);
/* Why a function cannot be executed, and where it says so; NULL: it can. */
const char *function_obstacle(const Function *function, Span *where);

/* ---- evaluation ---- */
typedef enum {
    ROUTINE_NO_FAULT,
    ROUTINE_NOT_FINITE,
    ROUTINE_INDEX,
    ROUTINE_CHECK,
    ROUTINE_ENDLESS,
    ROUTINE_TOO_DEEP
} RoutineFaultKind;
typedef struct {
    uint8_t kind; /* RoutineFaultKind */
    const Routine *routine;
    const RoutineStep *step;
    Value frame[ROUTINE_SLOTS]; /* when it happened */
} RoutineFault;

/* Outputs of a call, one for each; those of a failed one have no value. At most `steps` iterations and calls; false:
 * failed. fault: filled if it is given and the call failed. */
bool routine_evaluate(const Routine *routine, const Value *inputs, uint32_t steps, Value *outputs, RoutineFault *fault);

#endif
