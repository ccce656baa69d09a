/* What a run touches. */
#ifndef EMIT_RUNS_H
#define EMIT_RUNS_H

#include "emit/code.h"

static inline uint32_t kernel_row_words(const Kernel *kernel)
{
    return kernel->width + kernel->has_iterator;
}
/* Slot of a column (outputs, then leaves) for an element of a run whose first row is `row`. */
static inline uint32_t run_position(const Kernel *kernel, const uint32_t *row, uint32_t element, uint32_t column)
{
    return kernel->strides ? row[column] + element * (uint32_t)kernel->strides[column]
                           : row[(size_t)element * kernel_row_words(kernel) + column];
}
static inline int64_t run_iterator(const Kernel *kernel, const uint32_t *row, uint32_t element)
{
    if (kernel->strides)
        return (int32_t)row[kernel->width] + (int64_t)element * kernel->iterator_stride;
    return (int32_t)row[(size_t)element * kernel_row_words(kernel) + kernel->width];
}

/* Finds runs whose elements do not read what others of the run write: only these may be done in any
 * order. The rest (an array equation whose elements follow from each other) goes element by element. */
typedef struct {
    const Code *code;
    uint32_t *written_by; /* per slot: number of the last run asked about that writes it, + 1 */
} RunCheck;

RunCheck run_check_create(const Code *code, Arena *arena);
bool run_is_independent(RunCheck *check, uint32_t run);

#endif
