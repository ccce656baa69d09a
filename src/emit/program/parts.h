/* Parts: what each purpose of a run executes, in which order. The third stage of the layout. */
#ifndef EMIT_PROGRAM_PARTS_H
#define EMIT_PROGRAM_PARTS_H

#include "emit/program/systems.h"

typedef struct { /* the Jacobian of every equation of the derivatives part by what stands in it */
    KoineWhole entries;
    KoinePattern pattern;
} WholeJacobian;

typedef struct {
    Blocks blocks;         /* of the run's schedule */
    KoinePart parameters;  /* bindings that are not literals, in the order in which they need each other */
    KoinePart starts;      /* start values that are not literals */
    KoinePart initial;     /* the initial system, if it is more than start values */
    KoinePart derivatives; /* time and states -> derivatives */
    KoinePart outputs;     /* the rest of what is recorded */
    KoinePart slopes;      /* what tangents need at a point, whatever the seeds are */
    KoinePart tangents;    /* seeds of the states -> tangents of their derivatives */
    WholeJacobian whole;
    KoinePorts ports;             /* derivatives by inputs and of outputs */
    Entries executed[PART_COUNT]; /* what the parts derivatives and outputs execute, for the attribution of work */
    Entries fixed;                /* what these need of parameters alone: see lay_fixed */
    KoineChecks regular;          /* values that are 0 where a system solved by formulas is singular */
    uint32_t n_run_systems;       /* systems behind these belong to the initial part */
} Parts;

Parts parts_lay(const Schedule *schedule, Systems *ss);
/* The root part: what the operands of comparisons need, then these; what it executes, and what it needs of parameters
 * alone. Laid out with the events, which say what the operands are. */
KoinePart lay_roots(Systems *ss, const Schedule *schedule, const Blocks *blocks, const Entries *operands,
                    Entries *executed, Entries *fixed);
/* The part of the parameters, and behind it what the other parts need of them alone: of the parts here, and `more`. */
KoinePart lay_fixed(Kernels *ks, const Parts *parts, const Entries *more);
/* ports.c: tangents, executed after these parts */
KoinePorts lay_ports(Systems *ss, const Blocks *blocks, Shared derivatives, Shared outputs);
/* Tangent pieces of block `index`, appended to ss->ks->pieces. */
void lay_tangent(Systems *ss, uint32_t index);
Span span_of_block(Systems *ss, const Block *b);
void push_system(Systems *ss, Entries *list, uint32_t system, bool is_tangent);
/* whole.c */
WholeJacobian lay_whole(Systems *ss);

#endif
