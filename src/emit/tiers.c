/* The table of tiers; see tiers.h. */
#include "emit/tiers.h"

static Executable *load_interp(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena)
{
    (void)interrupt;
    return interp_load(code, why, why_arena);
}

#ifndef KOINE_WITHOUT_TCC /* the shared library: see cmake/install.cmake */
static Executable *load_tcc(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena)
{
    (void)interrupt;
    return tcc_load(code, why, why_arena);
}
#endif

/* An interpreted operation costs about a nanosecond more than a compiled one; tcc needs some ten milliseconds, cc some
 * tenths of a second. The interpreter's loops over many elements are vectorised and faster than what tcc makes of
 * them. */
static const Tier tiers[] = {
    /* name      title                  load           pays at      slow in loops */
    { "interp", "at once", load_interp, 0, false },
#ifndef KOINE_WITHOUT_TCC
    { "tcc", "compiled quickly", load_tcc, 30000000, true },
#endif
    { "cc", "compiled by the C compiler", cc_load_until, 600000000, false },
};
enum { N_TIERS = sizeof tiers / sizeof *tiers };

const Tier *tier_at(uint32_t k)
{
    return k < N_TIERS ? &tiers[k] : NULL;
}

uint32_t tier_count(void)
{
    return N_TIERS;
}
