/* What can be seen of a kind that is wrong, before it runs; see foreign.h. */
#include "foreign/foreign.h"
#include <string.h>

enum { MOST = 1 << 24 }; /* of anything: more is no number that somebody meant */

bool foreign_can_step(const KoineModelKind *kind)
{
    return kind->size >= offsetof(KoineModelKind, foreign) + sizeof kind->foreign && kind->foreign.advance;
}

static const char *mistake_of_functions(const KoineModelKind *k)
{
    const bool are_there = k->create && k->destroy && k->initialise && k->evaluate && k->accept && k->arrive &&
                           k->step && k->commit && k->leave;
    return are_there ? NULL : "has a table of functions without one that is required";
}

static const char *mistake_of_variable(const KoineTables *t, const KoineVariable *v, Arena *arena)
{
    const uint64_t last = (uint64_t)v->count * sizeof(KoineSlot);
    if (!v->name)
        return "has a variable without name";
    if (v->type > KOINE_STRING || v->variability > KOINE_VARIABILITY_CONTINUOUS ||
        v->causality > KOINE_CAUSALITY_PARAMETER)
        return arena_format(arena, "says something of its variable '%.100s' that means nothing", v->name);
    if ((v->now != KOINE_NO_OFFSET && (v->now > t->block_size || last > t->block_size - v->now)) ||
        (v->set != KOINE_NO_OFFSET && (v->set > t->block_size || last > t->block_size - v->set)))
        return arena_format(arena, "has its variable '%.100s' outside of its block", v->name);
    if ((v->n_dims && (uint64_t)v->first_dim + v->n_dims > t->types.n_dims) || v->count == 0 || v->count > MOST)
        return arena_format(arena, "has a variable '%.100s' of an impossible size", v->name);
    return NULL;
}

static const char *mistake_of_states(const KoineTables *t, Arena *arena)
{
    const uint64_t size = (uint64_t)t->n_x * sizeof(double);
    if (t->n_x && (!t->state_variable || t->x > t->block_size || size > t->block_size - t->x))
        return "has states outside of its block";
    for (uint32_t k = 0; k < t->n_x; k++) {
        const uint32_t row = t->state_variable[k];
        if (row >= t->n_variables || t->variables[row].state < 0 || k < (uint32_t)t->variables[row].state ||
            k - (uint32_t)t->variables[row].state >= t->variables[row].count)
            return arena_format(arena, "does not say which variable its state %u is", k);
    }
    return NULL;
}

const char *foreign_mistake(const KoineModelKind *kind, Arena *arena)
{
    const KoineTables *t = kind->tables;
    if (kind->version != KOINE_MODEL_VERSION)
        return arena_format(arena, "is of version %u of the model interface, not %u", kind->version,
                            KOINE_MODEL_VERSION);
    if (kind->size < offsetof(KoineModelKind, derivatives) || kind->size > MOST)
        return arena_format(arena, "has a table of %u bytes, which is none", kind->size);
    if (mistake_of_functions(kind))
        return mistake_of_functions(kind);
    if (!t || t->n_variables > MOST || t->n_x > MOST || t->roots.n > MOST || (t->n_variables && !t->variables) ||
        (t->types.n_dims && !t->types.dims))
        return "has no tables, or impossible numbers in them";
    const char *why = NULL;
    for (uint32_t k = 0; k < t->n_variables && !why; k++)
        why = mistake_of_variable(t, &t->variables[k], arena);
    if (!why && t->n_signals)
        why = "has dead times of continuous signals, which is not possible yet";
    return why ? why : mistake_of_states(t, arena);
}
