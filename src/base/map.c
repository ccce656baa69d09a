/* Hash map with open addressing; see map.h. */
#include "base/map.h"

void map_init(Map *map, Arena *arena, uint32_t expected)
{
    uint32_t capacity = 16;
    while (capacity < expected * 2)
        capacity *= 2;
    *map = (Map){ .arena = arena, .capacity = capacity };
    map->entries = NEW_ARRAY(arena, MapEntry, capacity);
}

/* Keys that differ in the last two bits only lie side by side: the variables of an instance, say, of which several
 * are looked up in turn. The groups are spread by both halves of the key: pairs of two numbers that count up together
 * would else lie on a lattice and meet in long rows. */
static inline MapEntry *entry_of(const Map *map, uint64_t key)
{
    const uint64_t product = (key >> 2) * 0x9e3779b97f4a7c15u;
    const uint64_t group = (product ^ product >> 32) * 0xff51afd7ed558ccdu >> 32;
    uint32_t slot = (uint32_t)(group << 2 | (key & 3)) & (map->capacity - 1);
    while (map->entries[slot].is_used && map->entries[slot].key != key)
        slot = (slot + 1) & (map->capacity - 1);
    return &map->entries[slot];
}

void map_reserve(Map *map, uint32_t expected)
{
    const Map old = *map;
    if (expected <= old.capacity / 2)
        return;
    map_init(map, old.arena, expected);
    for (uint32_t k = 0; k < old.capacity; k++)
        if (old.entries[k].is_used)
            map_put(map, old.entries[k].key, old.entries[k].value);
}

void map_put(Map *map, uint64_t key, uint32_t value)
{
    if ((map->n + 1) * 2 > map->capacity)
        map_reserve(map, map->capacity);
    MapEntry *entry = entry_of(map, key);
    map->n += !entry->is_used;
    *entry = (MapEntry){ key, value, 1 };
}

bool map_get(const Map *map, uint64_t key, uint32_t *value)
{
    const MapEntry *entry = entry_of(map, key);
    if (!entry->is_used)
        return false;
    *value = entry->value;
    return true;
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *byte = data;
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (size_t k = 0; k < size; k++)
        h = (h ^ byte[k]) * 0x100000001b3u;
    return h ^ (h >> 29);
}
