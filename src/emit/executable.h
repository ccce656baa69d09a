/* What the tiers share: the layout of an Executable. Private to emit. */
#ifndef EMIT_EXECUTABLE_H
#define EMIT_EXECUTABLE_H

#include "emit/code.h"

struct Executable {
    KoineCode code;
    Arena *arena;                           /* owns all plain memory, this struct included */
    void *handle;                           /* what unload needs: a shared object, a libtcc state */
    void (*unload)(Executable *executable); /* NULL: the arena is all */
};

Executable *executable_create(const char *tier);

#endif
