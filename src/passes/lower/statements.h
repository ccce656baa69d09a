/* Statements with arrays in them; see array_statements.c. */
#ifndef PASSES_LOWER_STATEMENTS_H
#define PASSES_LOWER_STATEMENTS_H

#include "passes/pipeline.h"

/* The statements of the function go by elements; false: reported. */
bool function_lower_arrays(Compile *c, Function *function);

#endif
