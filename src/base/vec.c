#include "base/vec.h"
#include "base/bug.h"

void *vec_grow(Arena *arena, void *at, uint32_t *capacity, uint32_t wanted, size_t item_size)
{
    REQUIRE(wanted < UINT32_MAX / 2);
#ifdef KOINE_HOSTILE
    const uint32_t larger = wanted + wanted / 8; /* nearly every push moves the items: stale pointers are found */
#else
    uint32_t larger = *capacity < 4 ? 4 : *capacity * 2;
    if (larger < wanted)
        larger = wanted;
#endif
    void *grown = arena_grow(arena, at, *capacity * item_size, larger * item_size, 16);
    *capacity = larger;
    return grown;
}
