/* Replaces an older file by one whose begin is known to be on the disk.
 *
 * The new file is begun beside the older one, without a name where the system allows that, else as NAME.koine-new, and
 * takes its name when its first part has been written: until then the older one is as it was. Private to formats. */
#ifndef FORMATS_REPLACE_H
#define FORMATS_REPLACE_H

#include <limits.h>
#include <stdbool.h>

typedef struct {
    int folder, older, file; /* descriptors, or -1 */
    char name[NAME_MAX + 1], begun[NAME_MAX + 1];
    bool is_unnamed; /* the new one has no name yet: whatever happens, nothing is left of it */
} Replacement;

/* `older` is open at `path` and locked by us. False: it cannot be replaced so (a link, a folder that may not be
 * written) and is written in place. */
bool replace_begin(Replacement *replacement, const char *path, int older);
/* The older file goes and is closed; the new one is the caller's. False: errno, and it was given up. */
bool replace_finish(Replacement *replacement);
/* The new one goes and is closed; the older one is as it was, and the caller's. */
void replace_give_up(Replacement *replacement);

#endif
