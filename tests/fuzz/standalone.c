/* Runs a fuzz target without libFuzzer: COPIES FOLDER...: each file of the folders, then so many changed copies of
 * them, the same ones every time. Without seeds the copies begin with nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 16, MOST_SEEDS = 512, MOST_CHANGES = 8 };

typedef struct {
    uint8_t *data;
    size_t size;
} Seed;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) /* xorshift */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t random_below(size_t n)
{
    return n ? (size_t)(random_next() % n) : 0;
}

static void read_folder(const char *folder, Seed *seeds, size_t *n)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int k = 0; k < count; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        FILE *const file = entries[k]->d_name[0] == '.' || *n == MOST_SEEDS ? NULL : fopen(path, "rb");
        if (file) {
            Seed seed = { malloc(LARGEST), 0 };
            seed.size = seed.data ? fread(seed.data, 1, LARGEST, file) : 0;
            seeds[(*n)++] = seed;
            fclose(file);
        }
        free(entries[k]);
    }
    if (count >= 0)
        free(entries);
}

static void change(uint8_t *data, size_t *size, const Seed *other)
{
    const size_t at = random_below(*size + 1);
    switch (random_below(5)) {
    case 0: /* another byte */
        if (at < *size)
            data[at] = (uint8_t)random_next();
        break;
    case 1: /* one bit */
        if (at < *size)
            data[at] ^= (uint8_t)(1u << random_below(8));
        break;
    case 2: { /* without a piece */
        const size_t n = random_below(*size - at + 1);
        memmove(data + at, data + at + n, *size - at - n);
        *size -= n;
        break;
    }
    case 3: { /* with a piece of another seed */
        const size_t from = random_below(other->size), room = LARGEST - *size;
        size_t n = random_below(other->size - from + 1);
        n = n < room ? n : room;
        memmove(data + at + n, data + at, *size - at);
        if (n > 0)
            memcpy(data + at, other->data + from, n);
        *size += n;
        break;
    }
    default: *size = at; break; /* cut off */
    }
}

static void run(const uint8_t *data, size_t size)
{
    uint8_t *const exact = malloc(size ? size : 1); /* an overrun must be seen */
    if (!exact)
        return;
    if (size > 0)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    static Seed seeds[MOST_SEEDS + 1];
    static uint8_t nothing[1];
    size_t n = 0;
    const int copies = argc > 1 ? atoi(argv[1]) : 0;
    for (int k = 2; k < argc; k++)
        read_folder(argv[k], seeds, &n);
    for (size_t k = 0; k < n; k++)
        run(seeds[k].data, seeds[k].size);
    if (n == 0)
        seeds[n++] = (Seed){ nothing, 0 };
    uint8_t *const copy = malloc(LARGEST);
    for (int k = 0; copy && k < copies; k++) {
        const Seed *const seed = &seeds[random_below(n)];
        size_t size = seed->size;
        if (size > 0)
            memcpy(copy, seed->data, size);
        for (size_t changes = 1 + random_below(MOST_CHANGES); changes > 0; changes--)
            change(copy, &size, &seeds[random_below(n)]);
        run(copy, size);
    }
    free(copy);
    for (size_t k = 0; k < n; k++)
        if (seeds[k].data != nothing)
            free(seeds[k].data);
    printf("%zu seeds, %d copies\n", n, copies);
    return 0;
}
