/* The target `c`: generated C as a file, and as a folder with everything that executes it. */
#ifndef EMIT_ALONE_TARGET_H
#define EMIT_ALONE_TARGET_H

#include "emit/target.h"

extern const BuildTarget c_target;

#endif
