/* Variables under `new` have a memory: the text's new(v) is the value of this event step, v itself the value before. */
#ifndef LANG_DYMOLA_MEMORY_H
#define LANG_DYMOLA_MEMORY_H

#include "lang/dymola/objects.h"

typedef struct { /* the first new(var) of a class */
    VarId var;
    Span span;
} MemoryUse;

typedef struct {
    VEC(VarId) all;      /* the variables under new, those of objects too */
    Map known;           /* the same as a set */
    VEC(MemoryUse) uses; /* those that this class is the first to put under new */
} Memories;

bool dym_is_remembered(const Translation *translation, VarId var);
void dym_take_memories(Translation *translation, const ClassObject *object);
/* Finds the uses of `new`; without errors before, sees that the variables can have a memory. */
void dym_check_memories(Translation *translation);
void dym_lower_memories(Translation *translation); /* before equations are lowered */

#endif
