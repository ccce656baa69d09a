/* Independence of the elements of a run; see runs.h. */
#include "emit/runs.h"

RunCheck run_check_create(const Code *code, Arena *arena)
{
    return (RunCheck){ code, NEW_ARRAY(arena, uint32_t, code->n_slots) };
}

bool run_is_independent(RunCheck *check, uint32_t number)
{
    const Run *run = &check->code->runs[number];
    const Kernel *kernel = &check->code->kernels[run->kernel];
    const uint32_t *row = check->code->rows + run->row;
    if (kernel->has_calls) /* they share the slots of calls */
        return false;
    for (uint32_t i = 0; i < run->n; i++)
        for (uint32_t k = 0; k < kernel->n_outputs; k++)
            check->written_by[run_position(kernel, row, i, k)] = number + 1;
    for (uint32_t i = 0; i < run->n; i++)
        for (uint32_t k = kernel->n_outputs; k < kernel->width; k++)
            if (check->written_by[run_position(kernel, row, i, k)] == number + 1)
                return false;
    return true;
}
