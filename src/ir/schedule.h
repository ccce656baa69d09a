/* Schedule: what is computed, in which order, for each purpose. It points into a Model.
 *
 * One array of blocks in one topological order, that of the event graph; in integration bits and
 * selectors are constants, so the same order serves both. A part is an increasing list of block
 * numbers. docs/ir.md describes the text form. */
#ifndef IR_SCHEDULE_H
#define IR_SCHEDULE_H

#include "ir/model.h"

typedef enum {
    BLOCK_ASSIGN,    /* lhs := rhs over the domain */
    BLOCK_LINEAR,    /* equations linear in the unknowns */
    BLOCK_NEWTON,    /* equations solved by damped Newton iteration */
    BLOCK_ITERATE,   /* assignments repeated in order until nothing changes: iteration formulas, discrete rings */
    BLOCK_FOREIGN,   /* what a foreign component gives, as far as it depends on the same */
    BLOCK_RELATION,  /* object: relation */
    BLOCK_STEP,      /* object: step function */
    BLOCK_TRANSITION /* object: transition */
} BlockKind;

enum { SYSTEM_DENSE_MOST = 30 }; /* unknowns that are iterated: larger systems are solved sparse */

typedef struct { /* lhs = rhs of a system, and its unknown. Of a torn system: inner rows say unknown := rhs, the others
                    are residuals */
    EqId equation;
    Term lhs, rhs;
    Ref unknown;
} SystemRow;

typedef struct { /* rows of a system: schedule->rows */
    uint32_t first_row, n_rows;
    uint32_t n_inner; /* so many rows at the beginning are explicit, in order; the unknowns of the others are iterated.
                         0: not torn */
} SystemRows;

typedef struct {
    Term lhs, rhs; /* lhs is a single leaf */
    DomainId domain;
    SystemRows solved; /* by solve-small: the system that it and the assignments behind it were made of; or no rows */
    uint32_t check;    /* ... and 1 + parameter that must not be 0, or 0 */
} BlockAssignment;

typedef struct {
    uint8_t kind;   /* BlockKind */
    bool is_moving; /* depends on time, states or continuous inputs: evaluated in integration too */
    bool is_eager;  /* node of the event graph */
    bool is_real;
    EqId equation; /* of a system: that of its first residual; or none */
    uint32_t level;
    uint32_t mixed; /* not 0: blocks of this number decide together at events; they stand together, decisions last */
    union {
        BlockAssignment assign; /* ASSIGN */
        SystemRows system;      /* LINEAR, NEWTON, ITERATE, FOREIGN; n_inner of the first two only */
        uint32_t object;        /* RELATION, STEP, TRANSITION */
    } u;
} Block;

/* The component that the right side is of, or NULL. */
static inline const Function *term_foreign(Term term)
{
    const bool is_foreign = term.shape && term.shape->kind == EXPR_FUNCTION && term.shape->u.function->foreign;
    return is_foreign ? term.shape->u.function : NULL;
}

static inline bool block_is_system(const Block *b)
{
    return b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON || b->kind == BLOCK_ITERATE;
}

static inline bool block_has_rows(const Block *b)
{
    return block_is_system(b) || b->kind == BLOCK_FOREIGN;
}

/* The rows of a system or component; of any other block none. */
static inline SystemRows block_rows(const Block *b)
{
    return block_has_rows(b) ? b->u.system : (SystemRows){ 0 };
}

/* The rows that solve-small made the assignment of; of any other block none. */
static inline SystemRows block_solved(const Block *b)
{
    return b->kind == BLOCK_ASSIGN ? b->u.assign.solved : (SystemRows){ 0 };
}

/* 1 + the parameter that must not be 0 for the assignment; of any other block 0. */
static inline uint32_t block_check(const Block *b)
{
    return b->kind == BLOCK_ASSIGN ? b->u.assign.check : 0;
}

typedef enum {
    PART_PARAMETERS,
    PART_STARTS,
    PART_DERIVATIVES,
    PART_ROOTS,
    PART_OUTPUTS,
    PART_EVENT,
    PART_COUNT
} PartKind;
const char *part_name(PartKind part);

typedef struct { /* which state a derivative depends on: compressed rows over scalar states */
    uint32_t n, n_colours;
    const uint32_t *start, *index, *colour;
} StatePattern;

typedef struct { /* a scalar that derivatives are taken by, or of: an element of a variable, as that is called */
    VarId var;
    uint32_t element;
} PortScalar;

typedef struct { /* compressed rows, with a colouring of the columns */
    uint32_t rows, columns, n_colours;
    const uint32_t *start, *index, *colour;
} PortPattern;

/* Derivatives by inputs and of outputs; it follows from the blocks and is not in the text form. */
typedef struct {
    VEC(PortScalar) inputs, outputs;
    VEC(VarId) bindings;   /* parameters that follow from inputs which are parameters, in order */
    VEC(uint32_t) chain;   /* blocks that do not move, but depend on inputs */
    VEC(uint32_t) blocks;  /* of the outputs part: those that outputs need */
    PortPattern by_input;  /* derivatives of the states */
    PortPattern out_state; /* outputs by states */
    PortPattern out_input; /* outputs by inputs */
    bool is_there;
} Ports;

typedef struct {                      /* what the passes have counted */
    uint32_t index, n_differentiated; /* reduce-index; index 0: it had nothing to do */
    uint32_t n_equations, n_unknowns, n_aliases, n_roots, n_calendar, largest_block;
} ScheduleFigures;

typedef struct Schedule {
    const Model *model;
    Arena *arena;
    VEC(Block) blocks;
    VEC(SystemRow) rows;
    VEC(uint32_t) parts[PART_COUNT];
    VEC(VarId) parameters; /* bindings that are not literals, in dependency order */
    VEC(VarId) starts;     /* start terms that are not literals, in dependency order */
    VEC(VarId) states;     /* in the order of x */
    StatePattern jacobian;
    StatePattern dae_jacobian; /* of the residual form: states, then what is iterated in the systems of the derivatives
                                  part; n 0: none. Follows from the blocks and is not in the text form */
    struct Schedule *initial;  /* blocks of the initial system, in order; NULL: start values are enough */
    bool has_jacobian;
    bool is_whole;    /* the Jacobian by the states would be too full: with all that lies between it is not. As above */
    uint32_t n_mixed; /* highest number `mixed` of a block */
    ScheduleFigures figures;
    Ports ports;
} Schedule;

/* Messages of a run call a block by its number, behind the blocks of the run the assignments and actions of
 * transitions; from here on the blocks of the initial system. */
static inline uint32_t schedule_initial_origin(const Schedule *schedule)
{
    return schedule->blocks.n + schedule->model->assignments.n + schedule->model->actions.n;
}

#endif
