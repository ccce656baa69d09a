/* The cache of compiled models and checked banks, for commands and reports; emit/c/cache.h and store.h keep it. */
#ifndef DRIVER_CACHE_H
#define DRIVER_CACHE_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    const char *path;
    uint32_t entries;
    uint64_t bytes, limit; /* held, and kept at most */
    uint32_t banks;        /* of which the results of checks are kept */
    uint64_t bank_bytes;
} CompiledCache;

/* False: the cache cannot be used; *why says so in one line. */
bool compiled_cache(CompiledCache *cache, Arena *arena, const char **why);
/* What stands around the compiler of the tier cc. */
typedef struct {
    bool has_landlock, has_seccomp; /* of this system */
    bool is_walled;                 /* they are used: it is the system's own `cc` */
} CompilerWalls;
CompilerWalls compiler_walls(Arena *arena);

bool compiled_cache_clear(Arena *arena, const char **why);

#endif
