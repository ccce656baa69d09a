/* Private to the stage of the events: the event graph under construction. */
#ifndef EMIT_PROGRAM_EVENT_LAYOUT_H
#define EMIT_PROGRAM_EVENT_LAYOUT_H

#include "emit/program/events.h"

typedef struct {
    uint32_t cell, node;
} Read;

typedef struct TimeCodes TimeCodes; /* time.c */

typedef struct { /* arrays whose elements change one by one at events: each element has a cell of its own */
    uint32_t *first, *first_der; /* per variable: the cell of its first element, of its derivative, or KOINE_NONE */
    uint32_t n;                  /* cells of this kind */
} ElementCells;

typedef struct { /* a point of a domain */
    const Domain *domain;
    int64_t j[ELEMENT_LEVELS]; /* per loop: which value, from 0 */
    uint32_t number;           /* of the point, from 0 */
} EventPoint;

typedef struct { /* cells that something over a domain reads: n of them from `cell` on, or one at each point */
    uint32_t cell, n;
    bool is_by_point, is_moving;
    ElementMap map; /* is_by_point: which one behind `cell` */
} PointRead;
typedef struct {
    VEC(PointRead) at;
    bool is_moving; /* one of them moves */
} PointReads;

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
    uint32_t *first_row, n_rows; /* per transition of the Model: its rows, one for each point of its domain */
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
    uint32_t *pre_of;   /* per variable: index in pres, of an array with cells for its elements the first; or NONE */
    uint32_t *guard_of; /* per variable: row of the level transition whose only condition it is, or KOINE_NONE */
    ElementCells elements;
    bool *moves; /* per variable: defined by a moving block, or a state */
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
uint32_t cell_of(const EventLayout *e, Ref ref); /* KOINE_NONE: it is none; of an array with several the first */
static inline bool has_element_cells(const EventLayout *e, VarId v)
{
    return e->elements.first[v.index] != KOINE_NONE;
}
/* The same for what the reference reads. */
static inline bool has_cells(const EventLayout *e, Ref ref)
{
    return ref.kind == REF_DER ? e->elements.first_der[ref.var.index] != KOINE_NONE
                               : (ref.kind == REF_NOW || ref.kind == REF_PRE) && has_element_cells(e, ref.var);
}
void find_element_cells(EventLayout *e);
EventPoint event_point(const EventLayout *e, DomainId domain);
void next_event_point(const EventLayout *e, EventPoint *point);
int64_t element_at(const ElementMap *map, const EventPoint *point);
/* What a term over the domain reads is added to the list; the last node reads it at a point. */
void list_point_reads(EventLayout *e, PointReads *reads, Term term, DomainId domain);
void read_at_point(EventLayout *e, const PointReads *reads, const EventPoint *point);
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
