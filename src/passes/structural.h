/* What terms are worth before the run, where the structure of the model depends on it: constants and parameters with
 * values. These parameters become structural, so that changing them at run time is refused. */
#ifndef PASSES_STRUCTURAL_H
#define PASSES_STRUCTURAL_H

#include "ir/evaluate.h"
#include "passes/pipeline.h"

/* False: it reads what is not known before the run. */
bool structural_value(Compile *c, Term term, Value *value);
bool structural_leaf(Compile *c, Ref ref, Value *value);
/* How variables get their values that fill-definitions has left open, once structural regions are decided. */
void decide_definitions(Compile *c);

#endif
