/* Whether the files that a model was read from are still what they were: what a result says about them, against what
 * is there now. */
#ifndef WEB_ORIGIN_H
#define WEB_ORIGIN_H

#include "base/source.h"

typedef struct RunOrigin RunOrigin;

/* From the `begin` of a result (docs/results.md, key `origins`). NULL: it does not tell. */
RunOrigin *origin_create(const char *begin, Arena *arena);
/* Of a model that was read just now. NULL: it has no files. */
RunOrigin *origin_of_sources(const Sources *sources, Arena *arena);
/* Looks at the files, and into those whose time or size is another one than before. True: origin_changes is new. */
bool origin_look(RunOrigin *origin);
/* Names of the files that were changed or are gone, separated by commas; NULL: none. */
const char *origin_changes(const RunOrigin *origin);

#endif
