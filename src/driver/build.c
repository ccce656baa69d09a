/* A compiled model, given to a target; see build.h. */
#include "driver/build.h"
#include "emit/target.h"

bool compilation_build(Compilation *c, const char *target, Text *to, const char **why)
{
    *why = NULL;
    if (!compilation_schedule(c))
        return false;
    for (uint32_t k = 0; build_target_at(k); k++)
        if (strcmp(build_target_at(k)->name, target) == 0)
            return build_target_at(k)->make(c->program, to, why);
    *why = "no such target";
    return false;
}
