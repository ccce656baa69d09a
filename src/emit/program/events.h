/* Events: the event graph, what is decided in it and what happens then. The fourth stage of the layout.
 * A cell is a variable (its present value, its value before, its derivative): what nodes read and define. */
#ifndef EMIT_PROGRAM_EVENTS_H
#define EMIT_PROGRAM_EVENTS_H

#include "emit/program/parts.h"

typedef struct { /* what is known of comparisons, step functions and root functions beside KoineDecisions */
    uint32_t n;  /* root functions, those of foreign components last */
    const char *const *comparisons; /* per relation: its text; NULL: it is not laid out */
    const KoineOrigin *origins;     /* per root function: what it is, for messages */
    const uint32_t *states;         /* per root function: see states of KoineRootTable */
    const uint8_t *regions;         /* per root function: it only selects what is integrated */
    KoinePart part;                 /* what the root functions need, complete */
    Entries executed;               /* what that part executes, for the attribution of work */
    Entries fixed;                  /* what that part needs of parameters alone */
} Roots;

typedef struct {                  /* which quantities are states, where that is chosen while the model runs */
    const KoineStateSet *sets;    /* as many as the Model has */
    const KoineGivenStart *given; /* start values that are no state's */
    uint32_t n_given;
} StateSets;

typedef struct {
    KoineEvents data; /* what the machine needs of them */
    Roots roots;
    StateSets sets;
    KoineJumps jumps;
    const KoineStream *streams;
    uint32_t n_streams;
    KoineChecks finite;       /* Real values of the outputs part to look at */
    const char *const *paths; /* per instance: its path; NULL: nothing that happens in a run belongs to it */
} Events;

/* foreigns.c: what the foreign components have in common with the whole */
KoineForeigns lay_foreigns(const Schedule *schedule, const Slots *slots, const Systems *ss, const Events *events,
                           Arena *arena);

Events events_lay(const Schedule *schedule, const Parts *parts, Systems *ss);

#endif
