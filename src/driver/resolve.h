/* Finding classes: the table of languages, and the resolver that gives a class by name in whatever language.
 * A class CLASS is looked for as CLASS.<extension> in the folder of the file that asks for it. */
#ifndef DRIVER_RESOLVE_H
#define DRIVER_RESOLVE_H

#include "ir/language.h"

typedef struct {
    Pool *pool;
    Sources *sources;
    const Language *const *languages; /* besides the built-in ones; may be NULL */
    const char *profile;
} ResolveRequest;

/* NULL: already reported. */
Model *resolve_file(const ResolveRequest *request, const char *path, const char *class_name, Diag *diag);
const char *resolve_language_name(uint32_t k);

#endif
