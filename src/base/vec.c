/* How an array grows: to at least twice its size, in its arena; see vec.h. */
#include "base/vec.h"
#include "base/bug.h"

void *vec_grow(Arena *arena, void *at, uint32_t *capacity, uint32_t wanted, size_t item_size)
{
    REQUIRE(wanted < UINT32_MAX / 2);
    uint32_t larger = *capacity < 4 ? 4 : *capacity * 2;
    if (larger < wanted)
        larger = wanted;
    if (arena_is_hostile(arena))
        larger = wanted + wanted / 8; /* nearly every push moves the items: stale pointers are found */
    void *grown = arena_grow(arena, at, *capacity * item_size, larger * item_size, 16);
    *capacity = larger;
    return grown;
}
