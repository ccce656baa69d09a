/* Private to runtime/support: foreign components of an instance. */
#ifndef SUPPORT_COMPONENTS_H
#define SUPPORT_COMPONENTS_H

#include "machine.h"

typedef struct {
    unsigned cause;  /* why the instant began for it; until its first commit */
    bool is_open;    /* the instant has begun for it */
    bool is_stepped; /* its values are those of this event step */
    bool wants_commit;
    bool wants_instant; /* after an accepted step */
    bool is_start;      /* the instant is that of the start */
    bool takes_inputs;  /* at the end of the instant: those of its next step */
} ComponentInstant;

typedef struct Component {
    const KoineForeign *foreign;
    KoineModel *model;
    KoineHost host;
    double *x, *der, *base; /* states that it was told last; derivatives; of a tangent, what it gave before */
    double *roots, *sizes;
    uint8_t *crossed;
    KoineChange *changes; /* of inputs: room for all */
    KoineSlot *left;      /* its inputs in the event step before */
    double time;          /* that it was told last */
    double next_time;     /* of its next time event */
    unsigned known;       /* KOINE_WANT_...: evaluated where it was told to be */
    uint32_t n_begins;    /* of its initial calculation, in this start */
    uint32_t n_commits;   /* in all */
    uint64_t n_steps;     /* of its own, in this run */
    double start;         /* where these began */
    ComponentInstant now;
} Component;

/* A value in its block. */
static inline KoineSlot *place_in(const Component *c, uint64_t at)
{
    return (KoineSlot *)(void *)(c->model->block + at);
}

static inline KoineSlot output_of(const Component *c, uint32_t number)
{
    const KoineForeignLink *link = &c->foreign->outputs.at[number];
    KoineSlot value = *place_in(c, link->at);
    if (!link->is_negated)
        return value;
    if (link->type == KOINE_REAL)
        value.r = -value.r;
    else
        value.i = link->type == KOINE_BOOLEAN ? !value.i : -value.i;
    return value;
}

KoineStatus koine_component_fault(Machine *m, const Component *c, KoineStatus status, const char *text);
/* At the end of the first instant: whether its outputs depend on no more inputs than is said. */
KoineStatus koine_component_probe(Machine *m, Component *c);

#endif
