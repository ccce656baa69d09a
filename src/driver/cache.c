/* What lies in the caches of compiled code and of checked banks, together; see cache.h. */
#include "driver/cache.h"
#include "bank/store.h"
#include "emit/c/cache.h"
#include "emit/c/compiler.h"
#include "base/walls.h"

bool compiled_cache(CompiledCache *cache, Arena *arena, const char **why)
{
    CacheSummary summary;
    if (!cache_summary(&summary, arena, why))
        return false;
    *cache = (CompiledCache){ summary.path, summary.n_entries, summary.bytes, CACHE_LIMIT, 0, 0 };
    const StoreSummary store = store_summary(arena);
    cache->banks = store.n;
    cache->bank_bytes = store.bytes;
    return true;
}

bool compiled_cache_clear(Arena *arena, const char **why)
{
    store_clear(arena);
    return cache_clear(arena, why);
}

CompilerWalls compiler_walls(Arena *arena)
{
    Compiler compiler;
    const char *why;
    CompilerWalls walls = { .has_landlock = walls_have_landlock(), .has_seccomp = walls_have_seccomp() };
    walls.is_walled = find_compiler(&compiler, arena, &why) && compiler_is_walled(&compiler);
    return walls;
}
