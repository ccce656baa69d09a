/* Executables: loaded code of any tier; see code.h. */
#include "emit/executable.h"

Executable *executable_create(const char *tier)
{
    Arena *arena = arena_create(NULL);
    Executable *executable = NEW(arena, Executable);
    executable->arena = arena;
    executable->code.tier = tier;
    return executable;
}

const KoineCode *executable_code(const Executable *executable)
{
    return &executable->code;
}

void executable_destroy(Executable *executable)
{
    if (!executable)
        return;
    if (executable->unload)
        executable->unload(executable);
    arena_destroy(executable->arena);
}
