/* Functions of a Code: which there are, and numbers for the places in them where something may fail. */
#ifndef EMIT_ROUTINES_H
#define EMIT_ROUTINES_H

#include "base/vec.h"
#include "emit/code.h"
#include "ir/routine.h"

/* The routines that the kernels call, and those that they call, in the order of first use; marks the kernels. */
void find_routines(Code *code, Kernel *kernels, Arena *arena);
/* Makes the routine of every function that some expression of the pool calls: from then on they are only read. */
void make_routines(const Pool *pool);

/* A site is a number for (routine, step) in the upper bits and the kind of fault in the lower four. Step 0 is the
 * routine as a whole. */
enum { SITE_KIND_BITS = 4 };
static inline uint32_t routine_site(uint32_t first_site, uint32_t step)
{
    return (first_site + step) << SITE_KIND_BITS;
}
uint32_t routine_first_site(const Code *code, uint32_t routine);
/* The step of a site, and its routine; NULL: no such site. */
const RoutineStep *routine_at_site(const Code *code, uint32_t site, const Routine **routine);
uint32_t routine_number(const Code *code, const Function *function);

/* Those of a run: in its slots of calls. */
static inline RoutineLimits routine_limits(const KoineSlot *call)
{
    return (RoutineLimits){ (uint32_t)(ROUTINE_STEPS + call[CALL_MORE_STEPS].i), (int32_t)call[CALL_MORE_BESIDE].i };
}

static inline KoineSlot routine_no_value(Type type)
{
    KoineSlot none = { .i = INTEGER_FAULT };
    if (type.kind == TYPE_REAL)
        none.i = 0x7ff8000000000000; /* NaN */
    return none;
}

#endif
