#include "driver/cache.h"
#include "emit/c/cache.h"

bool compiled_cache(CompiledCache *cache, Arena *arena, const char **why)
{
    CacheSummary summary;
    if (!cache_summary(&summary, arena, why))
        return false;
    *cache = (CompiledCache){ summary.path, summary.n_entries, summary.bytes, CACHE_LIMIT };
    return true;
}

bool compiled_cache_clear(Arena *arena, const char **why)
{
    return cache_clear(arena, why);
}
