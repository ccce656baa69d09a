/* Part of split-arrays: which arrays become scalars, and which equations are written out for every element.
 *
 * Split are the targets of transitions that keep_transitions.h does not keep whole, and what is defined in a branch, by
 * a comparison that can change between events, by an initial equation that keep_starts.h does not keep whole, or by
 * itself (x[i] from x[i - 1]). An equation
 * without direction stays whole if it is written v = e over a range, and the equations of this kind, together with
 * those that set single elements to something known, define every element of v once. Otherwise all arrays among its
 * unknowns are split, and with them every equation without direction that has them as unknowns: those equations are
 * matched one by one. */
#ifndef PASSES_CHOOSE_SPLITS_H
#define PASSES_CHOOSE_SPLITS_H

#include "passes/pipeline.h"

typedef struct {
    bool *is_split;       /* per variable */
    bool *is_free;        /* per variable: its elements need not lie side by side */
    bool *is_written_out; /* per equation */
    bool *stays_whole;    /* per transition over a range */
} Splits;

bool choose_splits(Compile *c, Splits *splits); /* false: already reported */
bool expr_has_reduction(const Expr *e);
/* Whether there are arrays, ranges or reductions at all. */
bool model_has_arrays(const Model *model);

#endif
