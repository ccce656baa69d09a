/* Functions of C of a compiled model: whether they may be executed, and their loading.
 *
 * They are code with all rights of the user, so the user's word is needed, for each function: a switch, the files by
 * name, or a folder that is trusted. Nothing that a model, an experiment or a bank says counts. */
#ifndef DRIVER_EXTERNAL_H
#define DRIVER_EXTERNAL_H

#include "driver/compile.h"

/* Loads the functions that the program calls. False: the diagnostics say which may not be executed, and what that would
 * be, or what is missing. */
bool compilation_load_externals(Compilation *c);
/* Symbols of those that are loaded: "c_drag, erf"; NULL: there are none. */
const char *compilation_external_symbols(const Compilation *c);

#endif
