/* Part of match-equations: no element of an array has two equations. With the count of elements right, none is missing
 * then either. */
#ifndef PASSES_COVER_H
#define PASSES_COVER_H

#include "passes/pipeline.h"

typedef struct { /* elements from lo to hi of an unknown are determined by an equation; `is_dense`: each once */
    uint32_t unknown, equation;
    int64_t lo, hi;
    bool is_dense;
} Covered;

/* Tells of the first element of each unknown that has two. The parts are put in order. */
void check_cover(Compile *c, Covered *parts, uint32_t n);

#endif
