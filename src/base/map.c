#include "base/map.h"

void map_init(Map *map, Arena *arena, uint32_t expected)
{
    uint32_t capacity = 16;
    while (capacity < expected * 2)
        capacity *= 2;
    *map = (Map){ .arena = arena, .capacity = capacity };
    map->keys = NEW_ARRAY(arena, uint64_t, capacity);
    map->values = NEW_ARRAY(arena, uint32_t, capacity);
    map->used = NEW_ARRAY(arena, uint8_t, capacity);
}

static uint32_t slot_of(const Map *map, uint64_t key)
{
    uint32_t slot = (uint32_t)hash_mix(0x51ed270b, key) & (map->capacity - 1);
    while (map->used[slot] && map->keys[slot] != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static void enlarge(Map *map)
{
    const Map old = *map;
    map_init(map, old.arena, old.capacity);
    for (uint32_t k = 0; k < old.capacity; k++)
        if (old.used[k])
            map_put(map, old.keys[k], old.values[k]);
}

void map_put(Map *map, uint64_t key, uint32_t value)
{
    if ((map->n + 1) * 2 > map->capacity)
        enlarge(map);
    const uint32_t slot = slot_of(map, key);
    if (!map->used[slot]) {
        map->used[slot] = 1;
        map->keys[slot] = key;
        map->n++;
    }
    map->values[slot] = value;
}

bool map_get(const Map *map, uint64_t key, uint32_t *value)
{
    const uint32_t slot = slot_of(map, key);
    if (!map->used[slot])
        return false;
    *value = map->values[slot];
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
