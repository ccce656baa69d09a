/* A look at a run while it goes on: the recorded points in a file of fixed size that another process maps.
 *
 * When the file is full every second point is given up and from then on every second one is left out, again and again:
 * the whole run is there, coarser and coarser, in constant memory. It is a preview; the result itself is another
 * sink's. */
#ifndef FORMATS_LIVE_H
#define FORMATS_LIVE_H

#include "base/arena.h"
#include "koine/simulate.h"

#define LIVE_ENDING ".live"

/* A sink that lives in the arena. That the file cannot be written does not end the run. `globs` as for CSV. */
KoineSink *live_sink(const char *path, const char *const *globs, uint32_t n_globs, Arena *arena);

typedef struct {
    const char *name, *unit, *comment;
    bool is_discrete;
} LiveColumn;

typedef struct LiveFile LiveFile;
/* NULL: *error says why. The handle lives in the arena. */
LiveFile *live_open(const char *path, Arena *arena, const char **error);
void live_close(LiveFile *file);
uint32_t live_columns(const LiveFile *file); /* the first one is the time */
LiveColumn live_column(const LiveFile *file, uint32_t column);
/* Takes a copy of what is there now; the number of points. */
uint64_t live_refresh(LiveFile *file);
void live_read(const LiveFile *file, uint32_t column, uint64_t first, uint64_t n, double *to); /* of that copy */

#endif
