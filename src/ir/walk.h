/* The walk over all terms of a Model, and over all ids, whatever elements they belong to. What treats all elements
 * alike uses it and need not be changed for a new kind of element: its terms and ids are told in fields.c and, if it
 * has parts, visited in walk.c. */
#ifndef IR_WALK_H
#define IR_WALK_H

#include "ir/model.h"

typedef enum {
    LIST_VARIABLES,
    LIST_DIMS,
    LIST_ITERATORS,
    LIST_DOMAINS,
    LIST_EQUATIONS,
    LIST_REGIONS,
    LIST_CONDITIONS,
    LIST_TRANSITIONS,
    LIST_ASSIGNMENTS,
    LIST_ACTIONS,
    LIST_RELATIONS,
    LIST_STEPS,
    LIST_STATE_SETS,
    LIST_JUMPS,
    LIST_CHANNELS,
    LIST_OCCASIONS,
    LIST_CLOCKS,
    LIST_DELAYS,
    LIST_FOREIGNS,
    LIST_FOREIGN_PORTS,
    LIST_FOREIGN_PATHS,
    LIST_STREAMS,
    LIST_FIELDS,
    LIST_STATEMENTS,
    LIST_ASSERTIONS,
    LIST_TASKS,
    LIST_INSTANCES,
    LIST_PORTS,
    LIST_MEMBERS,
    LIST_CONNECTIONS,
    LIST_ANCHORS,
    LIST_OCCURRENCES,
    LIST_COUNT
} ModelList;

/* What a term is to the row that holds it. */
typedef enum {
    TERM_BINDING,
    TERM_START,
    TERM_NOMINAL,
    TERM_MIN,
    TERM_MAX,
    TERM_EXTENT, /* of a dimension */
    TERM_RANGE,  /* begin, step or end of an iterator */
    TERM_LEFT,   /* a side of an equation, an operand of a relation */
    TERM_RIGHT,
    TERM_CONDITION, /* of a region, a transition, an assertion; an argument of an action */
    TERM_TARGET,    /* the place that is assigned to */
    TERM_GUARD,
    TERM_VALUE,    /* what is assigned or, in a task, given; in statements conditions, too */
    TERM_ARGUMENT, /* of a step function */
    TERM_COURSE,   /* slope, offset or time of what stands in the calendar */
    TERM_ENTRY,    /* of the Jacobian of a state set */
    TERM_INPUT,    /* of a delay */
    TERM_PERIOD,   /* amount and bound of a delay, start and interval of a clock */
    TERM_INDEX     /* of an element of an array of ports */
} TermRole;

typedef struct {
    uint8_t element;  /* ModelList: what it belongs to; LIST_COUNT: the function whose body the model is */
    uint8_t list;     /* ModelList: the element or the part of it that has the term; never LIST_CONDITIONS: these are
                         terms of regions, transitions, actions and connections */
    uint8_t role;     /* TermRole */
    uint32_t index;   /* of the element */
    uint32_t n_loops; /* loops around it */
    Span span;        /* of the part if it has one, else of the element */
} TermPlace;

/* Elements that are visited; those that are left out cost nothing. */
typedef uint64_t ElementSet;
#define ELEMENTS(list)   ((ElementSet)1 << (list))
#define ELEMENTS_ALL     (ELEMENTS(LIST_COUNT) - 1)
#define ELEMENTS_DROPPED ELEMENTS(LIST_COUNT) /* with LIST_EQUATIONS: those that were dropped, too */

/* Each term of each element, parts where they are used: dimensions with their variable, ranges before what they are
 * the ranges of, conditions, assignments and actions with their transition. Absent terms are left out. */
typedef void (*VisitTerm)(void *context, Term term, const TermPlace *place);
void model_visit_terms(const Model *model, ElementSet elements, VisitTerm visit, void *context);
/* Of its body: fields, then statements. */
void function_visit_terms(const Function *function, VisitTerm visit, void *context);

/* The same, and the result takes the place of the term. A part that several elements share is rewritten for each of
 * them. What the function adds to the model is not visited. */
typedef Term (*RewriteTerm)(void *context, Term term, const TermPlace *place);
void model_rewrite_terms(Model *model, ElementSet elements, RewriteTerm rewrite, void *context);

/* Rows of a list have changed places: every id of it, in all elements and references, becomes to[id]. For variables,
 * equations, regions and transitions. */
void model_renumber(Model *model, ModelList list, const uint32_t *to);

#endif
