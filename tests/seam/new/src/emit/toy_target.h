/* A target of a few lines, to prove the seam: the name of the model and how large it is. */
#ifndef EMIT_TOY_TARGET_H
#define EMIT_TOY_TARGET_H

#include "emit/target.h"

extern const BuildTarget toy_target;

#endif
