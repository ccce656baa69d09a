/* Slots: where every variable of a Model lives in the block of a running model. The first stage of the layout.
 *
 * States lie side by side, so do their derivatives; continuous variables follow, then discrete ones, parameters, values
 * before an event, and tangents. What later stages need beside variables lies behind: see kernels_take. */
#ifndef EMIT_PROGRAM_SLOTS_H
#define EMIT_PROGRAM_SLOTS_H

#include "ir/schedule.h"
#include "koine/support.h"

typedef struct { /* flags of the run: at its start; in its last instant, KOINE_NONE: nobody reads that */
    uint32_t initial, terminal;
    bool has_initial; /* somebody reads it */
} Phases;

typedef struct {
    uint32_t first, n;
} SlotRange;

typedef struct {     /* derivatives by inputs and of outputs, see Ports of ir/schedule.h */
    SlotRange seeds; /* all tangents */
    uint32_t *input; /* per input: its tangent, or KOINE_NONE */
    bool *is_outer;  /* per variable: its tangent is 0 where directions in the states alone are meant */
} PortSlots;

typedef struct {
    uint32_t n;    /* slots taken by variables: the next free one */
    uint32_t time; /* of the simulation */
    Phases phases;
    uint32_t calls;            /* the first of ROUTINE_CALL_SLOTS, or KOINE_NONE: no function is called */
    uint32_t x, dx, n_x;       /* states and their derivatives */
    uint32_t seed_x, seed_dx;  /* tangents of these, or KOINE_NONE: there are none */
    SlotRange parameters;      /* parameters and constants */
    uint32_t *now, *der, *pre; /* per variable: its value, derivative, value before; or KOINE_NONE */
    uint32_t *seed, *seed_der; /* per variable: its tangent, that of its derivative; or KOINE_NONE */
    PortSlots ports;
    uint32_t *given;       /* per variable: where a start value that replaces the computed one is put, or 0: nowhere */
    uint32_t *row_of;      /* per variable: its row in the tables, or KOINE_NONE: it has none */
    uint32_t n_rows;       /* rows of variables; those of derivatives stand behind them */
    uint32_t *variable_of; /* per row: its variable */
} Slots;

Slots slots_place(const Schedule *schedule, Arena *arena);
uint32_t slot_of(const Slots *slots, Ref ref);
/* The value of a literal; false: it is none, nothing is written. */
bool literal_value(const Expr *e, KoineSlot *value);
/* Whether the value of a variable, as it stands in the Model, may be replaced before a run; `count`: its elements. */
bool variable_is_settable(const Model *model, const bool *is_candidate, uint32_t index, uint64_t count);
/* Per variable: it is a candidate of a state set, so that its start value is used. */
bool *find_candidates(const Model *model, Arena *arena);
/* Per variable: an equation of the start gives it its fixed start (fix-starts). */
bool *find_fixed_by_equations(const Model *model, Arena *arena);

#endif
