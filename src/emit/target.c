/* The table of targets; see target.h. */
#include "emit/target.h"
#include "emit/alone/target.h"

static const BuildTarget *const targets[] = { &c_target };

const BuildTarget *build_target_at(uint32_t k)
{
    return k < sizeof targets / sizeof *targets ? targets[k] : NULL;
}
