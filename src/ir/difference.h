/* The derivative of a function of C that declares none, by differences; see difference.c. */
#ifndef IR_DIFFERENCE_H
#define IR_DIFFERENCE_H

#include "ir/model.h"

/* A function with the inputs and outputs of function_derivative, whose results are close to the derivative, and no
 * more. Made once. */
const Function *function_difference(const Function *function);
/* What the function gives is close to a derivative: it is a difference, or made of one. Jacobians may have it: they
 * decide how fast a solution is found, not what it is. Equations must not. */
bool function_is_rough(const Function *derivative);

#endif
