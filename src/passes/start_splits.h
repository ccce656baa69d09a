/* Part of split-arrays: arrays that equations of the start may determine, element by element. */
#ifndef PASSES_START_SPLITS_H
#define PASSES_START_SPLITS_H

#include "passes/pipeline.h"

/* Per variable: it lies between the equations of the start and an array of states without fixed start, or is such an
 * array, and has no more than `most` elements. */
const bool *find_start_splits(const Model *model, uint64_t most, Arena *scratch);
/* Its fixed start is an equation of the start (fix-starts): it is algebraic. */
bool variable_has_start_equation(const Variable *v);

#endif
