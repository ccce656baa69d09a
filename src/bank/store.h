/* Results of earlier work, kept in the folder "store" of the cache: one file a key, with a checksum.
 *
 * Whatever is wrong with a file (absent, damaged, of another build of Koine) means that there is nothing: the work is
 * done again and the file written again. Files appear by rename, so that many processes may share the folder. */
#ifndef BANK_STORE_H
#define BANK_STORE_H

#include "base/arena.h"
#include <stdbool.h>

#define STORE_LIMIT ((uint64_t)64 << 20) /* bytes kept */

/* NULL: there is nothing. The bytes belong to the arena. */
const char *store_read(uint64_t key, size_t *size, Arena *arena);
/* Failure is no harm. Removes what was written longest ago when there is too much. */
void store_write(uint64_t key, const void *data, size_t size, Arena *arena);
typedef struct {
    uint32_t n;
    uint64_t bytes;
} StoreSummary;
StoreSummary store_summary(Arena *arena);
void store_clear(Arena *arena);

#endif
