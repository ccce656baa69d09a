/* The shared object with the functions of a model: compiled, or found in the cache; see object.c. */
#ifndef EMIT_EXTERNAL_OBJECT_H
#define EMIT_EXTERNAL_OBJECT_H

#include "emit/external/wrapper.h"

/* What dlopen gave; NULL: *why. */
void *external_object(const ExternalSet *set, volatile const int *interrupt, const char **why);

#endif
