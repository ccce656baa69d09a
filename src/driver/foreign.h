/* Foreign components of a model: whether they may be executed, what they are, and whether they fit. */
#ifndef DRIVER_FOREIGN_H
#define DRIVER_FOREIGN_H

#include "driver/compile.h"

/* Loads them, and puts into the model what their tables say: states, root functions, which output depends on which
 * input. False: the diagnostics say what may not be executed, is not there or does not fit. */
bool compilation_load_foreigns(Compilation *c);

#endif
