/* Private to the stage of the events: the event graph under construction. */
#ifndef EMIT_PROGRAM_EVENT_LAYOUT_H
#define EMIT_PROGRAM_EVENT_LAYOUT_H

#include "emit/program/events.h"

typedef struct {
    uint32_t cell, node;
} Read;

typedef struct TimeCodes TimeCodes; /* time.c */

typedef struct { /* comparisons and step functions under construction; see KoineDecisions */
    KoineRelation *relations;
    uint32_t *first_row, n_rows; /* per relation of the Model: its rows, one for each point of its domain */
    KoineStep *steps;
    KoineMixed *mixed;
    uint32_t *mixed_relations, n_mixed_relations; /* relations of all groups */
    const char **comparisons;
    VEC(KoineOrigin) roots;
    VEC(uint32_t) root_owner, calendar_owner;
    Entries root_operands; /* computes both sides of what root functions watch */
    uint32_t n_calendar;
    TimeCodes *time_codes;
    double band; /* relative width of the rounding band */
} DecisionLayout;

typedef struct { /* transitions under construction; see KoineFirings */
    KoineTransition *transitions;
    VEC(KoineNext) nexts;
    VEC(KoineAction) actions;
    Map writers; /* slot of a target -> its number */
    uint32_t n_writers;
} FiringLayout;

typedef struct EventCalls EventCalls; /* event_calls.c */

typedef struct {
    Kernels *ks;
    Systems *ss;
    Model *m;
    const Schedule *s;
    const Parts *parts;
    uint32_t *pre_of;   /* per variable: index in pres, or KOINE_NONE */
    uint32_t *guard_of; /* per variable: the level transition whose only condition it is, or KOINE_NONE */
    bool *moves;        /* per variable: defined by a moving block, or a state */
    VEC(KoineNode) nodes;
    VEC(Read) reads;
    VEC(uint32_t) moving;
    VEC(KoinePre) pres;
    const char **paths; /* see Events */
    EventCalls *calls;
    DecisionLayout decisions;
    FiringLayout firings;
    Events out; /* what is complete */
} EventLayout;

/* events.c */
KoineNode *add_node(EventLayout *e, KoineNodeKind kind, uint32_t origin);
void note_moving(EventLayout *e, bool is_moving);         /* of the last node */
const char *path_of(EventLayout *e, InstanceId instance); /* of one that something in a run is reported of */

/* cells.c */
uint32_t cell_of(const EventLayout *e, Ref ref); /* KOINE_NONE: it is none */
uint32_t n_cells(const EventLayout *e);
void list_pres(EventLayout *e);
void find_moving(EventLayout *e);
/* The last node reads the cells of a term; *is_moving becomes true if one of these moves. */
void read_term(EventLayout *e, Term term, bool *is_moving);
void read_selector(EventLayout *e, RegionId region);
void fill_readers(EventLayout *e);
void fill_feeding(EventLayout *e);

/* event_calls.c */
typedef struct { /* cells */
    uint32_t n;
    const uint32_t *at;
} EventReads;
EventCalls *event_calls_find(EventLayout *e);
uint32_t event_calls_count(const EventCalls *calls); /* nodes, each with a cell behind all others */
/* What the node of an assignment executes, and the cells it reads beside those of its term. Nodes for calls are added
 * before it, where it is the first that needs them. */
Piece event_calls_lay(EventCalls *calls, uint32_t block, Piece piece, EventReads *reads);

/* decisions.c, roots.c */
void add_relation(EventLayout *e, uint32_t index, const Block *b);
void add_step(EventLayout *e, uint32_t index, const Block *b);
void find_quiet(EventLayout *e);
void fill_roots(EventLayout *e);
void add_foreign_roots(EventLayout *e); /* foreigns.c */

/* transitions.c */
void find_guards(EventLayout *e);
void add_transition(EventLayout *e, uint32_t index, const Block *b);
void list_step_conditions(EventLayout *e);

/* time.c: interval code of functions of the time */
TimeCodes *time_codes_create(const Schedule *schedule, Kernels *ks, const bool *moves); /* moves: per variable */
/* A function of the time for both operands, the right one may be absent; what it reads beside the time. KOINE_NONE:
 * they depend on more than the time, on nothing that moves, or on what has no interval form. */
uint32_t lay_time_function(TimeCodes *codes, Term left, Term right, uint32_t *n_inputs, const Term **inputs);
/* With those that drive the derivatives part. */
KoineTimeFunctions time_codes_finish(TimeCodes *codes);

StateSets lay_state_sets(const Schedule *schedule, Systems *ss); /* sets.c */
KoineJumps lay_jumps(Kernels *ks);                               /* jumps.c */

#endif
