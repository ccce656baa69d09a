/* Hash map from 64-bit keys to 32-bit values, open addressing, in an arena. Iteration order is
 * never used for anything that reaches a result. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct { /* together: a look costs one line of cache */
    uint64_t key;
    uint32_t value, is_used;
} MapEntry;

typedef struct {
    Arena *arena;
    MapEntry *entries;
    uint32_t n, capacity;
} Map;

void map_init(Map *map, Arena *arena, uint32_t expected);
void map_reserve(Map *map, uint32_t expected);        /* so many keys need no larger table later */
void map_put(Map *map, uint64_t key, uint32_t value); /* replaces */
bool map_get(const Map *map, uint64_t key, uint32_t *value);
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

#endif
