/* Foreign components as files: the KoineModelKind in a library, looked at before anybody relies on it.
 *
 * Loading a library executes code of it: whoever calls this has the user's word that it may be. */
#ifndef FOREIGN_FOREIGN_H
#define FOREIGN_FOREIGN_H

#include "base/arena.h"
#include "koine/model.h"

typedef struct ForeignLibraries ForeignLibraries;

ForeignLibraries *foreign_libraries_create(Arena *arena);
void foreign_libraries_release(ForeignLibraries *libraries); /* their kinds are gone then; NULL is allowed */

typedef struct {
    const char *file, *symbol; /* symbol: of a KoineModelKind; with () behind it, of a function that gives one */
    bool is_apart;             /* in a process of its own */
    double limit;              /* seconds until an answer then; 0: 10 */
} ForeignRequest;

/* NULL: *why, which goes on behind "the component". */
const KoineModelKind *foreign_load(ForeignLibraries *libraries, const ForeignRequest *request, const char **why);
/* What is wrong with a kind; NULL: nothing that can be seen. */
const char *foreign_mistake(const KoineModelKind *kind, Arena *arena);

#endif
