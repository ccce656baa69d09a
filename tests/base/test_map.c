/* Map against an array of all keys. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/map.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

typedef uint64_t (*KeyOf)(uint64_t k);

static uint64_t key_small(uint64_t k)
{
    return k;
}

static uint64_t key_high(uint64_t k)
{
    return k << 32;
}

static uint64_t key_pair(uint64_t k)
{
    return k % 300 << 32 | k / 300;
}

/* The names of instances: few, and the same in all of them. */
static uint64_t key_named(uint64_t k)
{
    return k / 9 << 32 | (4 + k % 9);
}

static uint64_t key_from_top(uint64_t k)
{
    return UINT64_MAX - k * 65536;
}

static uint64_t key_any(uint64_t k)
{
    return next_random(&k);
}

/* 100,000 operations on 50,000 keys; `reference` holds value + 1. */
static void check_keys(KeyOf key_of)
{
    enum { KEYS = 50000, OPERATIONS = 100000 };
    static uint32_t reference[KEYS];
    memset(reference, 0, sizeof reference);
    Arena *arena = arena_create(NULL);
    Map map;
    map_init(&map, arena, 0);
    uint64_t random = 11;
    uint32_t n = 0;
    for (int operation = 0; operation < OPERATIONS; operation++) {
        const uint64_t k = next_random(&random) % KEYS;
        if (next_random(&random) % 2) {
            const uint32_t value = (uint32_t)next_random(&random) >> 1;
            n += reference[k] == 0;
            reference[k] = value + 1;
            map_put(&map, key_of(k), value);
        }
        uint32_t found = UINT32_MAX;
        const bool has = map_get(&map, key_of(k), &found);
        assert_int_equal(has, reference[k] != 0);
        if (has)
            assert_int_equal(found + 1, reference[k]);
    }
    assert_int_equal(map.n, n);
    for (uint64_t k = 0; k < KEYS; k++) {
        uint32_t found;
        assert_int_equal(map_get(&map, key_of(k), &found), reference[k] != 0);
        if (reference[k])
            assert_int_equal(found + 1, reference[k]);
    }
    arena_destroy(arena);
}

static void agrees_with_array(void **state)
{
    (void)state;
    static const KeyOf KEYS[] = { key_small, key_high, key_pair, key_named, key_from_top, key_any };
    for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
        check_keys(KEYS[k]);
}

/* Regular keys must not pile up: the mean number of steps to a key stays small. */
static void regular_keys_are_spread(void **state)
{
    (void)state;
    static const KeyOf KEYS[] = { key_small, key_high, key_pair, key_named, key_from_top, key_any };
    enum { N = 65536 }; /* half of what is there: no table is fuller */
    for (size_t kind = 0; kind < sizeof KEYS / sizeof *KEYS; kind++) {
        Arena *arena = arena_create(NULL);
        Map map;
        map_init(&map, arena, N);
        for (uint64_t k = 0; k < N; k++)
            map_put(&map, KEYS[kind](k), 0);
        uint64_t run = 0, steps = 0; /* a run of used slots of length m costs at most m (m + 1) / 2 steps */
        for (uint32_t slot = 0; slot < map.capacity; slot++) {
            run = map.entries[slot].is_used ? run + 1 : 0;
            steps += run;
        }
        assert_true(steps <= 15 * (uint64_t)N);
        arena_destroy(arena);
    }
}

static void zero_and_largest_are_keys(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Map map;
    map_init(&map, arena, 4);
    uint32_t found;
    assert_false(map_get(&map, 0, &found));
    map_put(&map, 0, 1);
    map_put(&map, UINT64_MAX, UINT32_MAX);
    assert_true(map_get(&map, 0, &found));
    assert_int_equal(found, 1);
    assert_true(map_get(&map, UINT64_MAX, &found));
    assert_int_equal(found, UINT32_MAX);
    arena_destroy(arena);
}

static void hashes_depend_on_content_and_seed(void **state)
{
    (void)state;
    assert_int_equal(hash_bytes("abc", 3, 0), hash_bytes("abcd", 3, 0));
    assert_int_not_equal(hash_bytes("abc", 3, 0), hash_bytes("abc", 3, 1));
    assert_int_not_equal(hash_bytes("abc", 3, 0), hash_bytes("acb", 3, 0));
    assert_int_not_equal(hash_bytes("", 0, 0), hash_bytes("\0", 1, 0));
}

static void what_is_reserved_is_not_moved(void **state)
{
    (void)state;
    enum { FEW = 100, MANY = 10000 };
    Arena *arena = arena_create(NULL);
    Map map;
    uint32_t value;
    map_init(&map, arena, 0);
    for (uint32_t k = 0; k < FEW; k++)
        map_put(&map, key_pair(k), k);
    map_reserve(&map, MANY);
    const MapEntry *entries = map.entries;
    for (uint32_t k = FEW; k < MANY; k++)
        map_put(&map, key_pair(k), k);
    assert_ptr_equal(map.entries, entries);
    map_reserve(&map, 1);
    assert_ptr_equal(map.entries, entries);
    assert_int_equal(map.n, MANY);
    for (uint32_t k = 0; k < MANY; k++)
        assert_true(map_get(&map, key_pair(k), &value) && value == k);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_array),
        cmocka_unit_test(regular_keys_are_spread),
        cmocka_unit_test(zero_and_largest_are_keys),
        cmocka_unit_test(hashes_depend_on_content_and_seed),
        cmocka_unit_test(what_is_reserved_is_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
