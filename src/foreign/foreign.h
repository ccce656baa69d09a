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
    volatile const int *const *interrupt; /* **interrupt other than 0 ends it while it does not answer; may be NULL */
} ForeignRequest;

/* NULL: *why, which goes on behind "the component". */
const KoineModelKind *foreign_load(ForeignLibraries *libraries, const ForeignRequest *request, const char **why);
/* In a process of its own only these values of its block are seen here, each at its offset. */
typedef enum { FOREIGN_USE_INPUT, FOREIGN_USE_SET, FOREIGN_USE_OUTPUT, FOREIGN_N_USES } ForeignUse;
void foreign_use(const KoineModelKind *kind, ForeignUse use, uint64_t at);
bool foreign_can_step(const KoineModelKind *kind); /* it has KoineForeignCalls.advance */
/* What is wrong with a kind; NULL: nothing that can be seen. */
const char *foreign_mistake(const KoineModelKind *kind, Arena *arena);

#endif
