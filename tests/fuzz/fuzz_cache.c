/* Any bytes as a compiled model in the cache: sound only if they are what was sealed. The first byte says whether they
 * are the file or changes of a sealed one. */
#define _GNU_SOURCE /* memmem */
#include "choices.h"
#include "emit/c/cache.h"
#include "place.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16, SEAL = 24 };

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static size_t read_whole(const char *path, uint8_t *to)
{
    FILE *const file = fopen(path, "rb");
    check(file != NULL, "the file is gone");
    const size_t n = fread(to, 1, MOST, file);
    fclose(file);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t sealed[MOST], changed[MOST];
    Choices c = { data, data + size };
    const char *const path = place_path("object.so");
    const uint32_t way = choose(&c, 3);
    const size_t n_body = (size_t)(c.end - c.at);
    place_write(path, c.at, n_body);
    const bool was_sound = cache_is_sound(path);
    if (n_body == 0 || n_body > MOST - SEAL || way == 0)
        return 0;
    const bool has_seal_inside = memmem(c.at, n_body, "KOINESO1", 8) != NULL; /* cut there, it may be whole */
    check(cache_seal(path) && cache_is_sound(path), "a seal does not hold");
    const size_t n = read_whole(path, sealed);
    check(n == n_body + SEAL && memcmp(sealed, c.at, n_body) == 0, "sealing changes the object");
    check(!was_sound || n_body > SEAL, "sound without a body");
    memcpy(changed, sealed, n);
    size_t n_changed = n;
    for (uint32_t changes = 1 + choose(&c, 3); changes > 0; changes--)
        if (way == 1)
            changed[choose(&c, (uint32_t)n)] ^= (uint8_t)choose_byte(&c);
        else
            n_changed = choose(&c, (uint32_t)n_changed + 1);
    place_write(path, changed, n_changed);
    const bool is_same = n_changed == n && memcmp(changed, sealed, n) == 0;
    check(cache_is_sound(path) == is_same || has_seal_inside, "a changed object is sound");
    return 0;
}
