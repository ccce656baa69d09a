/* Statements with arrays in them; see array_statements.c. */
#ifndef PASSES_LOWER_STATEMENTS_H
#define PASSES_LOWER_STATEMENTS_H

#include "passes/pipeline.h"

/* The statements of the function go by elements; false: reported. */
bool function_lower_arrays(Compile *c, Function *function);

/* size_functions.c: it has sizes that are no numbers; it calls such a one. */
bool function_is_open(const Function *function);
bool function_calls_open(const Function *function);

#endif
