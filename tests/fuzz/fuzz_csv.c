/* Any bytes as a CSV file: refused or read, and what was read can be used. */
#include "formats/csv.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *const arena = arena_create(NULL);
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    const Series *const series = csv_read("fuzz.csv", (const char *)data, size, arena, diag);
    double sum = 0;
    for (uint32_t c = 0; series && c < series->n_columns; c++)
        for (uint64_t r = 0; r < series->n_rows; r++)
            sum += series_value(&series->columns[c], r);
    volatile double used = sum;
    (void)used;
    if ((series == NULL) != (diag_errors(diag) > 0))
        __builtin_trap(); /* NULL means: reported */
    arena_destroy(arena);
    return 0;
}
