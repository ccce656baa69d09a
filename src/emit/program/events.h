/* Events: the event graph, what is decided in it and what happens then. The fourth stage of the layout.
 * A cell is a variable (its present value, its value before, its derivative): what nodes read and define. */
#ifndef EMIT_PROGRAM_EVENTS_H
#define EMIT_PROGRAM_EVENTS_H

#include "emit/program/parts.h"

typedef struct { /* nodes in topological order, and the cells between them */
    const KoineNode *nodes;
    uint32_t n_nodes, n_cells;
    const uint32_t *readers_start, *readers; /* per cell: the nodes that read it */
    const uint32_t *moving;                  /* nodes that depend on the time or on states */
    uint32_t n_moving;
    const uint8_t *feeds_dynamics; /* per cell: a change of it asks for a restart of the solver */
    const uint32_t *cell_pre;      /* per cell: index in `pres` of the variable it holds, or KOINE_NONE */
    const KoinePre *pres;          /* variables whose earlier value is read */
    uint32_t n_pres;
} Graph;

typedef struct { /* comparisons and step functions: as many as the Model has */
    const KoineRelation *relations;
    const KoineStep *steps;
    const KoineMixed *mixed;        /* groups that decide together, as many as the schedule has */
    const char *const *comparisons; /* per relation: its text; NULL: it is not laid out */
    uint32_t n_roots, n_calendar;
    const KoineOrigin *roots;       /* per root function: what it is, for messages */
    const uint32_t *root_owner;     /* per root function: relation, or number of relations + step function */
    const uint32_t *root_states;    /* per root function: see KoineTables */
    const uint8_t *root_regions;    /* per root function: it only selects what is integrated */
    const uint32_t *calendar_owner; /* per entry of the calendar: as of root functions */
    KoinePart part;                 /* what the root functions need, complete */
    Entries executed;               /* what that part executes, for the attribution of work */
    Entries fixed;                  /* what that part needs of parameters alone */
} Decisions;

typedef struct { /* transitions and what they do: as many as the Model has */
    const KoineTransition *transitions;
    const KoineNext *nexts;
    const KoineAction *actions;
    uint32_t n_nexts, n_actions;
    uint32_t n_writers;              /* targets of assignments */
    const uint32_t *step_conditions; /* nodes of the conditions that are tested after accepted steps */
    uint32_t n_step_conditions;
} Firings;

typedef struct { /* functions of the time alone, as code for intervals */
    const KoineTimeCode *codes;
    const KoineTimeFunction *functions;
    const uint32_t *sources; /* functions that drive the derivatives */
    uint32_t n_codes, n_functions, n_sources;
    uint32_t n_inputs;   /* of all functions */
    uint32_t most_cells; /* of one code */
} TimeFunctions;

typedef struct {                  /* which quantities are states, where that is chosen while the model runs */
    const KoineStateSet *sets;    /* as many as the Model has */
    const KoineGivenStart *given; /* start values that are no state's */
    uint32_t n_given;
} StateSets;

typedef struct { /* equations that were differentiated and may jump: as many as the Model has */
    const KoineJump *jumps;
    const uint32_t *held; /* slots of what does not jump by itself in them */
    uint32_t n_held;
} Jumps;

typedef struct {
    Graph graph;
    Decisions decisions;
    Firings firings;
    TimeFunctions timed;
    StateSets sets;
    Jumps jumps;
    const KoineDelay *delays; /* as many as the Model has; those whose output moves come first */
    uint32_t n_moving_delays;
    const KoineStream *streams;
    uint32_t n_streams;
    const uint32_t *finite_checks; /* outputs part: pairs of slot and block, Real values to look at */
    uint32_t n_finite_checks;
    const char *const *paths; /* per instance: its path; NULL: nothing that happens in a run belongs to it */
} Events;

Events events_lay(const Schedule *schedule, const Parts *parts, Systems *ss);

#endif
