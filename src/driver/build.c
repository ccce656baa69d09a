/* A compiled model, given to a target; see build.h. */
#include "driver/build.h"

static const BuildTarget *target_named(const char *name)
{
    for (uint32_t k = 0; build_target_at(k); k++)
        if (strcmp(build_target_at(k)->name, name) == 0)
            return build_target_at(k);
    return NULL;
}

bool compilation_build(Compilation *c, const char *target, Text *to, const char **why)
{
    const BuildTarget *found = target_named(target);
    *why = NULL;
    if (!compilation_schedule(c))
        return false;
    *why = "no such target";
    return found && found->make(c->program, to, why);
}

bool compilation_makes_folder(const char *target)
{
    const BuildTarget *found = target_named(target);
    return found && found->make_folder;
}

bool compilation_build_folder(Compilation *c, const char *target, FolderFiles *to, const char **why)
{
    *why = NULL;
    return compilation_schedule(c) && target_named(target)->make_folder(c->program, to, why);
}
