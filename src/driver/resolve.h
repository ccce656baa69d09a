/* Finding classes: the resolver that gives a class by name in whatever language. The bank of the file that asks
 * for the class says where the class lies (bank.h). */
#ifndef DRIVER_RESOLVE_H
#define DRIVER_RESOLVE_H

#include "ir/language.h"

typedef struct {
    Pool *pool;
    Sources *sources;
    const Language *const *languages; /* besides the built-in ones; may be NULL */
    const char *profile;
    const char *const *versions; /* as in bank.h; may be NULL */
} ResolveRequest;

/* NULL: already reported. */
Model *resolve_file(const ResolveRequest *request, const char *path, const char *class_name, Diag *diag);

#endif
