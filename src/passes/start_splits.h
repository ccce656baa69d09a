/* Part of split-arrays: arrays that equations of the start may determine, element by element. */
#ifndef PASSES_START_SPLITS_H
#define PASSES_START_SPLITS_H

#include "passes/pipeline.h"

/* Per variable: it lies between the equations of the start and an array of states without fixed start or a free
 * parameter, or is such an array, and has no more than `most` elements. Those equations that are direct (keep_starts.h)
 * determine nothing else than the arrays they give, and nothing else determines these. */
const bool *find_start_splits(const Model *model, const bool *is_direct, uint64_t most, Arena *scratch);
/* Its fixed start is an equation of the start (fix-starts): it is algebraic. */
bool variable_has_start_equation(const Variable *v);

#endif
