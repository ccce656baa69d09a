/* The folder of compiled models: $XDG_CACHE_HOME/koine, else $HOME/.cache/koine.
 *
 * An entry is a pair of files named by a hash of everything that decides what is in it: KEY.so and
 * KEY.c, the text it came from. A shared object ends with a seal (size and checksum), so that a
 * damaged one is found before it is loaded. Entries appear by rename, so that many processes may
 * share the folder. It belongs to the user alone: a folder that others own or may write to is
 * refused, since what is in it gets executed. */
#ifndef EMIT_C_CACHE_H
#define EMIT_C_CACHE_H

#include "base/arena.h"
#include <stdbool.h>

#define CACHE_LIMIT ((uint64_t)256 << 20) /* bytes kept */
#define CACHE_WORK  "koine-"              /* folders with this prefix belong to builds under way */

typedef struct {
    const char *path;
    uint32_t n_entries; /* shared objects */
    uint64_t bytes;     /* of all files */
} CacheSummary;

/* The folder, made if need be. NULL: cannot be used; *why says so in one line. */
const char *cache_path(Arena *arena, const char **why);
bool cache_summary(CacheSummary *summary, Arena *arena, const char **why);
bool cache_clear(Arena *arena, const char **why); /* removes all entries */

/* Removes entries, least recently used first, until at most `limit` bytes are left; `keep` (a key) stays. */
void cache_trim(const char *path, uint64_t limit, const char *keep, Arena *arena);
void cache_touch(const char *file); /* used now */
/* Appends the seal. false: cannot write. */
bool cache_seal(const char *file);
bool cache_is_sound(const char *file); /* exists, ours, and the seal fits */

#endif
