/* Routine: a function made ready to be executed.
 *
 * Fields, loop variables and the bounds of loops lie in a frame of slots; slot 0 belongs to the tier. Expressions
 * have the frame's slots as leaves and no iterators. `for` has become assignments and `while`. An element of an array
 * is a call of routine_element with the field in `result` and the indices as arguments. What `and` and `or` need not
 * evaluate, and may fail, is behind `if`.
 *
 * An array is its elements side by side, in the order of rows. An array that is an input stays where the caller has it:
 * its slot holds the address, and that of a local array of numbers that is never assigned. All outputs of a function in
 * a row are what a call gives: a function with more than one number as result is called by a node whose result is
 * RESULT_ALL, and a result of it is a call of routine_part with that node as argument, the number of its first element
 * in `element` and of its elements in `result`. expr_parts writes calls so.
 *
 * What loops tell before they begin need not be looked at in each iteration: see routine_loops.c.
 *
 * What a routine does is the same in every tier (docs/semantics.md, Functions): every value that is assigned is looked
 * at; one that is not finite, an index outside its array, a failed check, more than ROUTINE_STEPS iterations and calls
 * in one call from outside, or calls nested so deep that they take ROUTINE_ROOM end the function without value: NaN, or
 * INTEGER_FAULT for everything that is not Real. */
#ifndef IR_ROUTINE_H
#define IR_ROUTINE_H

#include "ir/evaluate.h"
#include "ir/model.h"

enum {
    ROUTINE_RANK = 8,         /* dimensions of an array */
    ROUTINE_SLOTS = 1 << 17,  /* of a frame */
    ROUTINE_ROOM = 1 << 18,   /* slots of all calls that are nested, see routine_room */
    ROUTINE_BESIDE = 1024,    /* slots of each call beside its own, unless a run says otherwise */
    ROUTINE_STEPS = 20000000, /* iterations and calls in one call from outside, unless a run says otherwise */
    ROUTINE_FOLDED = 1000000, /* ... that is computed when the model is made */
    ROUTINE_CALL_SLOTS = 10   /* what a call shares with the calls in it, see RoutineCallSlot */
};

/* Slots of the block for the call from outside that is executed: the site of the fault in it (0: none), the room that
 * calls take, iterations and calls so far; the first site since someone looked; how often functions of C were called;
 * where the texts of the block are; the text of the check that failed; which store has the external objects; by how
 * much a run differs from ROUTINE_STEPS and from ROUTINE_BESIDE. */
typedef enum {
    CALL_FAULT,
    CALL_ROOM,
    CALL_STEPS,
    CALL_NOTED,
    CALL_OUTSIDE,
    CALL_TEXTS,
    CALL_MESSAGE,
    CALL_OBJECTS,
    CALL_MORE_STEPS,
    CALL_MORE_BESIDE
} RoutineCallSlot;
/* Which calls of C are watched: one watches all that it may do, which takes longer than most functions. */
static inline bool external_is_due(int64_t count)
{
    return (count & (count - 1)) == 0 || (count & 65535) == 0;
}

typedef struct {
    NameId name;
    Type type; /* of an element */
    uint32_t first, count, rank;
    bool is_pointer; /* an array that is an input, or `data`: slot `first` holds its address */
    const Value
        *data; /* elements of a local array of numbers that is never assigned, shared by all calls; NULL: none */
    uint32_t extents[ROUTINE_RANK];
    Value begin;     /* of outputs and locals, of each element; no value where nothing else is said */
    bool has_bounds; /* the variable of a loop, which lies there: */
    int32_t lo, hi;
} RoutineField;

/* What is known of a loop before it begins: how often it is passed. Its iterations are counted there at once. */
typedef struct {
    uint32_t variable, limit; /* fields */
    int32_t by;
    uint32_t n_late;
    const uint32_t *late; /* steps in it whose fields are looked at behind the loop, see routine_loops.c */
} RoutineLoop;

typedef struct {
    uint8_t kind; /* StatementKind, but not FOR */
    uint32_t field;
    const Expr *value;               /* ASSIGN, IF, WHILE, ASSERT */
    const Expr *index[ROUTINE_RANK]; /* ASSIGN to an element; of an array without: `value` is all of it */
    uint32_t inner, otherwise, next; /* 0: none */
    NameId text;                     /* ASSERT: what is told, or */
    const Expr *message;             /* ... a String, computed where the check fails; NULL: the text */
    Span span;
    uint32_t statement; /* it was made of */
    bool looks;         /* fails if a field has no value that is read here, or left as a result: `ends`, then `field` */
    bool ends;
    bool is_inside;          /* ASSIGN to an element that is proved to be there */
    bool is_late;            /* ASSIGN: what it assigns is looked at behind a loop */
    bool is_raw;             /* ASSIGN: all results of a call, which are looked at where they are taken */
    bool is_advance;         /* ASSIGN: what `loop` of the loop around it says */
    const RoutineLoop *loop; /* WHILE; NULL: nothing is known */
} RoutineStep;

typedef struct Routine {
    const Function *function;
    uint32_t n_fields, n_slots, n_steps, first; /* step 0 is unused */
    uint32_t width;                             /* that of the function */
    bool has_texts;                             /* it, or what it calls, works with texts: only tiers can */
    const RoutineField *fields;                 /* inputs, outputs, locals, loops */
    const RoutineStep *steps;
} Routine;

#define RESULT_ALL UINT32_MAX

extern const Function routine_element, routine_part;
static inline bool is_element(const Expr *e)
{
    return e->kind == EXPR_FUNCTION && e->u.function == &routine_element;
}
static inline bool is_part(const Expr *e)
{
    return e->kind == EXPR_FUNCTION && e->u.function == &routine_part;
}
/* It is proved that there is this element: nothing fails. */
static inline bool is_inside_element(const Expr *e)
{
    return is_element(e) && e->element > 0;
}
/* It calls a function of the model. */
static inline bool is_model_call(const Expr *e)
{
    return e->kind == EXPR_FUNCTION && !is_element(e) && !is_part(e);
}
/* Assigns a whole array. */
static inline bool is_whole_assignment(const RoutineField *field, const RoutineStep *step)
{
    return field->rank > 0 && !step->index[0];
}

/* Whether a slot of the frame holds the address of an array. */
bool function_has_data(const Function *function, uint32_t field); /* RoutineField.data */
bool routine_is_pointer(const Routine *routine, uint32_t slot);
/* The number of the first element of an output, in a row of all outputs. */
uint32_t routine_offset(const Routine *routine, uint32_t output);
/* Elements of a field of a function; 0: its size is no number. */
uint64_t function_field_count(const Function *function, uint32_t field);
/* An array in braces with the dimensions of a field; elements in the order of rows. */
const Expr *function_field_braces(Pool *pool, const Function *function, uint32_t field, const Expr *const *elements);
/* Numbers that it gives: of all outputs, with their elements. */
uint32_t function_width(const Function *function);
/* Elements of an array that a call in this form gives. */
uint32_t expr_extent(const Expr *call);
/* The expression with its calls as tiers evaluate them. */
const Expr *expr_parts(Pool *pool, const Expr *e);

/* Where an element lies in its array: at `first` plus factors times what slots hold. */
typedef struct {
    int64_t first;
    uint32_t n;
    struct {
        uint32_t slot;
        int32_t factor;
    } terms[ROUTINE_RANK];
} RoutinePlace;
/* Of an element that is inside. */
RoutinePlace routine_place(const Routine *routine, uint32_t field, const Expr *const *index);
/* It may fail by itself: it calls, works with texts, or has an element that may not be there. */
bool routine_may_fail(const Expr *e);

/* What a call takes of ROUTINE_ROOM while it lasts: so the depth of calls has a limit, whatever their fields are. */
static inline uint32_t routine_room(const Routine *routine, int64_t more_beside)
{
    return routine->n_slots + (uint32_t)(ROUTINE_BESIDE + more_beside);
}
/* The routine of a function that has no obstacle; made once. */
const Routine *routine_of(const Function *function);
bool expr_has_texts(const Expr *e);                /* it is, or computes, something of a text */
bool function_has_texts(const Function *function); /* it, or what it calls, works with texts */
/* Why a function cannot be executed, and where it says so; NULL: it can. */
const char *function_obstacle(const Function *function, Span *where);

/* ---- evaluation ---- */
typedef enum {
    ROUTINE_NO_FAULT,
    ROUTINE_NOT_FINITE,
    ROUTINE_INDEX,
    ROUTINE_CHECK,
    ROUTINE_ENDLESS,
    ROUTINE_TOO_DEEP,
    ROUTINE_NO_INT,    /* C: an argument is no int, or a result no value of its enumeration */
    ROUTINE_REFUSED,   /* C: it called koine_fail */
    ROUTINE_ROUNDED,   /* C: it left another mode of arithmetic behind, */
    ROUTINE_LOCALE,    /* ... another locale, */
    ROUTINE_SIGNALS,   /* ... or other ways to handle signals */
    ROUTINE_NO_OBJECT, /* C: a constructor that gives none, or an object that is not there */
    ROUTINE_NO_TEXT,   /* C: NULL for a text, */
    ROUTINE_LONG_TEXT, /* ... one that is too long, */
    ROUTINE_NO_UTF8    /* ... or bytes that are no characters */
} RoutineFaultKind;
typedef struct {
    uint8_t kind; /* RoutineFaultKind */
    const Routine *routine;
    const RoutineStep *step;
    Arena *arena;   /* given */
    Value *frame;   /* when it happened */
    uint32_t steps; /* that there might have been */
} RoutineFault;

typedef struct {
    uint32_t steps;      /* iterations and calls, at most */
    int32_t more_beside; /* see routine_room */
} RoutineLimits;
/* Outputs of a call, routine->width of them; those of a failed one have no value. Arrays are inputs by their addresses.
 * False: failed. fault: filled if it is given and the call failed. */
bool routine_evaluate(const Routine *routine, const Value *inputs, RoutineLimits limits, Value *outputs,
                      RoutineFault *fault);

#endif
