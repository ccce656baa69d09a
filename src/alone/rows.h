/* The results of a model that stands alone as CSV, in the form that `koine run` writes. */
#ifndef ALONE_ROWS_H
#define ALONE_ROWS_H

#include "base/arena.h"
#include "koine/simulate.h"

/* A sink that lives in the arena; `path` "-" is the standard output. What a full disk has cut off ends with a whole
 * line. `variables`: names and patterns separated by commas; NULL: everything visible that changes. */
KoineSink *rows_sink(const char *path, const char *variables, Arena *arena);

#endif
