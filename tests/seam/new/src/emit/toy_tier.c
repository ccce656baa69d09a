#include "emit/toy_tier.h"
#include "emit/executable.h"

Executable *toy_load(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena)
{
    (void)interrupt;
    Executable *const executable = interp_load(code, why, why_arena);
    if (executable)
        executable->code.tier = "toy";
    return executable;
}
