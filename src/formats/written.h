/* Which text files Koine wrote: they do not show it themselves.
 *
 * A table in the user's own state folder ($XDG_STATE_HOME/koine, else ~/.local/state/koine) keeps for each the path,
 * the size and a checksum of the first bytes. Without such a folder nothing is known. */
#ifndef FORMATS_WRITTEN_H
#define FORMATS_WRITTEN_H

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITTEN_HEAD = 4096 };   /* bytes at most that the checksum is of */
#define WRITTEN_OPEN UINT64_MAX /* the size of a file that is still being written */

typedef struct {
    uint64_t n, hash;
} WrittenHead;
WrittenHead written_head(const void *bytes, size_t n); /* of the first bytes of a file, or more than those */
/* What is about to take the place of the file at `path`, or to begin it: a run that is killed then leaves a file that
 * is known. A head of 0 bytes: it has come. */
void written_announce(const char *path, WrittenHead head);
/* Failing is no failure of the run. */
void written_note(const char *path, WrittenHead head, uint64_t size);
const char *written_folder(Arena *arena); /* the state folder; NULL: there is none */
/* The open file is as Koine left it, or as far as it came. */
/* False with errno 0: it is not; else it cannot be found out. */
bool written_is_ours(const char *path, int file);

#endif
