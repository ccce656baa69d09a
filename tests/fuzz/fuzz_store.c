/* Any bytes as a native result: refused or read, and what was read can be used. Checksums are not looked at: they would
 * stop every change of a byte (tests/formats/test_store.c changes bytes with them). */
#define _GNU_SOURCE /* memfd_create */
#include "formats/store_read.h"
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
    const int file = memfd_create("fuzz", 0);
    if (file >= 0 && write(file, data, size) != (ssize_t)size) {
        close(file);
        return -1;
    }
    return file;
}

static void use(Store *store)
{
    enum { MOST = 200 };
    const StoreInfo *const info = store_info(store);
    double values[MOST];
    uint64_t rows[MOST];
    StoreBucket buckets[20];
    const uint64_t n = info->n_rows < MOST ? info->n_rows : MOST;
    for (uint32_t k = 0; k < info->n_variables && k < 50; k++) {
        store_values(store, k, 0, n, values);
        store_values(store, k, info->n_rows - n, n, values);
        store_find(store, info->variables[k].name);
    }
    if (info->n_rows > 100000)
        return; /* a picture looks at all of them */
    store_buckets(store, info->n_variables - 1, -1, 10, 20, buckets);
    store_events(store, 0, 5, MOST, rows);
    store_refresh(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int file = file_of(data, size);
    if (file < 0)
        return 0;
    Arena *const arena = arena_create(NULL);
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    Store *const store = store_open_unchecked(file, arena, diag); /* closes the file */
    if ((store == NULL) != (diag_errors(diag) > 0))
        __builtin_trap(); /* NULL means: reported */
    if (store) {
        use(store);
        store_close(store);
    }
    arena_destroy(arena);
    return 0;
}
