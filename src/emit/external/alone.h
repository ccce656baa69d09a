/* Functions of C of a model that stands alone: `externals.c` and `externals.cmake` beside its equations. */
#ifndef EMIT_EXTERNAL_ALONE_H
#define EMIT_EXTERNAL_ALONE_H

#include "base/text.h"
#include "emit/code.h"

/* A file that a function names and that is not there; NULL: all are. */
const char *alone_externals_missing(const Code *code, Arena *arena);
/* The entries, and the function koine_alone_externals, which fills the places of the equations. */
Text alone_externals(const Code *code, Arena *arena);
/* The C files, folders and libraries that belong to it, for CMake. */
Text alone_externals_cmake(const Code *code, Arena *arena);

#endif
