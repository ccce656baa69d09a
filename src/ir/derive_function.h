/* Derivatives of functions; see derive_function.c. */
#ifndef IR_DERIVE_FUNCTION_H
#define IR_DERIVE_FUNCTION_H

#include "ir/model.h"

/* The function that computes the tangents; made once. NULL: there is none. */
const Function *function_derivative(const Function *function);

#endif
