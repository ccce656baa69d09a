/* Segments: the parts into which a model falls when it is executed piece by piece from outside (C10).
 *
 * Each block is reached by some inputs and reaches some outputs; blocks of equal sets form a segment, and the segments
 * never depend on each other in a ring. What a state or a discrete variable holds from before reaches nothing. Inputs
 * and outputs are those of schedule->ports, by their numbers; arrays count as a whole where blocks read them as a
 * whole. */
#ifndef IR_SEGMENTS_H
#define IR_SEGMENTS_H

#include "ir/schedule.h"

typedef enum {
    SEGMENT_INITIAL,
    SEGMENT_STATE,      /* no input reaches it: its outputs can be computed first */
    SEGMENT_ALGEBRAIC,  /* outputs depend on inputs */
    SEGMENT_DERIVATIVE, /* it reaches no output, but derivatives */
    SEGMENT_ROOTS,      /* it reaches comparisons alone */
    SEGMENT_EVENT       /* it reaches only what events do */
} SegmentKind;
const char *segment_kind_name(SegmentKind kind);

typedef struct {
    SegmentKind kind;
    uint32_t n_inputs, n_outputs, n_blocks, n_after;
    const uint32_t *inputs, *outputs, *blocks;
    const uint32_t *after; /* segments that are executed before, as it reads what they compute */
} Segment;

typedef struct {
    uint32_t n;
    const Segment *at;
    /* per output: the inputs that reach it, while the model runs and when it is initialised; ended by UINT32_MAX */
    const uint32_t *const *run, *const *initial;
} Segments;

/* n 0: there are no ports, or too many of them. */
Segments segments_find(const Schedule *schedule, Arena *arena);

#endif
