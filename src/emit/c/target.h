/* The target `c`: generated C as a file. */
#ifndef EMIT_C_TARGET_H
#define EMIT_C_TARGET_H

#include "emit/target.h"

extern const BuildTarget c_target;

#endif
