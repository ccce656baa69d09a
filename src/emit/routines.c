/* See routines.h. */
#include "emit/routines.h"
#include "base/bug.h"
#include "base/map.h"
#include "koine/support.h"

_Static_assert((int)CALL_MORE_STEPS == (int)CALL_NOTED + (int)KOINE_CALLS_MORE_STEPS &&
                   (int)CALL_MORE_BESIDE == (int)CALL_NOTED + (int)KOINE_CALLS_MORE_BESIDE,
               "where the limits are");
_Static_assert((int)ROUTINE_STEPS == (int)KOINE_CALLS_STEPS && (int)ROUTINE_ROOM == (int)KOINE_CALLS_ROOM &&
                   (int)ROUTINE_BESIDE == (int)KOINE_CALLS_BESIDE,
               "what is usual");

typedef struct {
    Arena *arena;
    VEC(const Routine *) routines;
    Map seen; /* addresses of expressions: those of bodies and of kernels may be of two pools */
} Search;

static void find_in(Search *s, const Expr *e)
{
    uint32_t ignored;
    if (!e->has_call || map_get(&s->seen, (uint64_t)(uintptr_t)e, &ignored))
        return;
    map_put(&s->seen, (uint64_t)(uintptr_t)e, 1);
    for (uint32_t k = 0; k < e->n_args; k++)
        find_in(s, e->args[k]);
    if (!is_model_call(e))
        return;
    const Routine *routine = routine_of(e->u.function);
    for (uint32_t k = 0; k < s->routines.n; k++)
        if (s->routines.at[k] == routine)
            return;
    vec_push(s->arena, &s->routines, routine);
}

void find_routines(Code *code, Kernel *kernels, Arena *arena)
{
    Search s = { .arena = arena };
    map_init(&s.seen, arena, 0);
    for (uint32_t k = 0; k < code->n_kernels; k++)
        for (uint32_t j = 0; j < kernels[k].n_outputs; j++)
            if (kernels[k].outputs[j]->has_call) {
                kernels[k].has_calls = true;
                find_in(&s, kernels[k].outputs[j]);
            }
    for (uint32_t k = 0; k < s.routines.n; k++) { /* grows while it is read */
        const Routine *r = s.routines.at[k];
        for (uint32_t j = 1; j < r->n_steps; j++) {
            if (r->steps[j].value)
                find_in(&s, r->steps[j].value);
            if (r->steps[j].message)
                find_in(&s, r->steps[j].message);
            for (uint32_t i = 0; i < ROUTINE_RANK && r->steps[j].index[i]; i++)
                find_in(&s, r->steps[j].index[i]);
        }
    }
    code->routines = s.routines.at;
    code->n_routines = s.routines.n;
}

void make_routines(const Pool *pool)
{
    Span ignored;
    for (uint32_t k = 0; k < pool_count(pool); k++) { /* grows while it is read */
        const Expr *e = pool_node(pool, k);
        /* of a function with open sizes only copies are called */
        if (is_model_call(e) && !function_obstacle(e->u.function, &ignored))
            (void)routine_of(e->u.function);
    }
}

uint32_t routine_first_site(const Code *code, uint32_t routine)
{
    uint32_t first = 1;
    for (uint32_t k = 0; k < routine; k++)
        first += code->routines[k]->n_steps;
    return first;
}

const RoutineStep *routine_at_site(const Code *code, uint32_t site, const Routine **routine)
{
    uint32_t number = site >> SITE_KIND_BITS;
    for (uint32_t k = 0; k < code->n_routines && number; k++) {
        *routine = code->routines[k];
        if (number - 1 < (*routine)->n_steps)
            return &(*routine)->steps[number - 1];
        number -= (*routine)->n_steps;
    }
    return NULL;
}

uint32_t routine_number(const Code *code, const Function *function)
{
    for (uint32_t k = 0; k < code->n_routines; k++)
        if (code->routines[k]->function == function)
            return k;
    BUG("a function that nobody calls");
}
