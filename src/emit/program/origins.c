/* What every origin stands for, as a table: for a program that leaves Koine without its Model. See explain.h. */
#include "emit/program/explain.h"
#include <string.h>

static const char *describe_block(const Explainer *of, const Block *b, Arena *arena)
{
    const Model *m = of->model;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: return arena_format(arena, "in the equation of %s", term_text(m, b->u.assign.lhs, arena));
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE: return "in the equations that are solved together";
    case BLOCK_RELATION:
        return of->comparisons[b->u.object] ? of->comparisons[b->u.object] : "in the operands of a comparison";
    case BLOCK_STEP: return "in the argument of a step function";
    case BLOCK_FOREIGN: return "in what a foreign component gives";
    case BLOCK_TRANSITION: break;
    }
    return "";
}

static const char *describe(const Explainer *of, uint32_t origin, Arena *arena)
{
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    if (b)
        return describe_block(of, b, arena);
    return arena_format(arena, "in %s", origin_effect(of, origin, arena).what);
}

const KoineOrigin *list_origins(const Explainer *of, Arena *arena, uint32_t *n)
{
    const Model *m = of->model;
    *n = schedule_initial_origin(of->schedule) + (of->schedule->initial ? of->schedule->initial->blocks.n : 0);
    KoineOrigin *origins = NEW_ARRAY(arena, KoineOrigin, *n + 1);
    const KoineSlot *values = NEW_ARRAY(arena, KoineSlot, of->code->n_slots + 1); /* no branch is in force */
    const char **paths = NEW_ARRAY(arena, const char *, m->instances.n + 1);
    for (uint32_t k = 0; k < *n; k++) {
        const InstanceId owner = origin_owner(of, k);
        if (!paths[owner.index])
            paths[owner.index] = instance_path(m, owner, arena);
        origins[k] = origin_at(m, paths[owner.index], origin_span(of, k, values));
        origins[k].text = describe(of, k, arena);
    }
    return origins;
}
