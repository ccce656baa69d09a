/* Which files a model can be made of, before it is read: for walls around who reads it (base/walls.h).
 *
 * These are its folder, the bank it belongs to, and single files: those of a language in the banks that are imported,
 * through others too, and what the file includes. A folder elsewhere is never opened as a whole because a file names
 * it: `import /` is a line that anyone can write. */
#ifndef BANK_REACH_H
#define BANK_REACH_H

#include "base/vec.h"

typedef enum {
    REACH_FOLDER, /* all that is beneath it */
    REACH_LIST,   /* the names in it */
    REACH_FILE
} ReachKind;
typedef struct {
    const char *path;
    ReachKind kind;
} Reached;
typedef VEC(Reached) Reach;

/* Adds to `reach`; what does not exist or cannot be read is left out. */
void reach_model(const char *path, Arena *arena, Reach *reach);

#endif
