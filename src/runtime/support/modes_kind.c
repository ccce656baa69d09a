/* The tables of a kind that is made of modes: rows with places of their own, states of all modes; see modes.h. */
#include "modes.h"
#include <stdlib.h>

static uint64_t aligned(uint64_t at)
{
    return (at + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
}

/* Rows with a place each for their values, and one for start values where these are given elsewhere. */
static bool lay_rows(ModesKind *kind, const KoineTables *first)
{
    const uint32_t n = kind->modes->n_rows;
    uint64_t at = kind->values;
    kind->variables = calloc(n + (size_t)1, sizeof *kind->variables);
    if (!kind->variables)
        return false;
    for (uint32_t j = 0; j < n; j++) {
        KoineVariable *v = &kind->variables[j];
        *v = first->variables[j];
        v->now = at;
        /* where it is shown nothing is going on, so what only events change is what it was before */
        v->pre = v->pre == KOINE_NO_OFFSET || v->variability != KOINE_VARIABILITY_DISCRETE ? KOINE_NO_OFFSET : at;
        v->flags &= (uint8_t) ~(KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_NEGATED);
        v->state = -1;
        at += v->count * sizeof(KoineSlot);
    }
    kind->n_values = (uint32_t)((at - kind->values) / sizeof(KoineSlot));
    for (uint32_t j = 0; j < n; j++) {
        const KoineVariable *inner = &first->variables[j];
        KoineVariable *v = &kind->variables[j];
        if (inner->flags & KOINE_VARIABLE_ALIAS || inner->set == KOINE_NO_OFFSET) {
            v->set = KOINE_NO_OFFSET;
            v->flags &= (uint8_t)~KOINE_VARIABLE_SETTABLE;
        } else if (inner->set == inner->now) {
            v->set = v->now;
        } else {
            v->set = at;
            at += v->count * sizeof(KoineSlot);
        }
    }
    kind->inner = aligned(at);
    return true;
}

static bool lay_states(ModesKind *kind)
{
    const KoineModes *modes = kind->modes;
    kind->state_variable = calloc(modes->n_x + (size_t)1, sizeof *kind->state_variable);
    if (!kind->state_variable)
        return false;
    for (uint32_t k = 0; k < modes->n_x; k++) {
        kind->state_variable[k] = modes->states[k].variable;
        if (modes->states[k].element == 0)
            kind->variables[modes->states[k].variable].state = (int32_t)k;
    }
    return true;
}

KoineModelKind *koine_modes_kind(const KoineModes *modes)
{
    const KoineTables *first = modes->first->tables;
    ModesKind *kind = calloc(1, sizeof *kind);
    if (!kind)
        return NULL;
    const uint64_t x = KOINE_ALIGNMENT, dx = x + aligned(modes->n_x * sizeof(double));
    kind->modes = modes;
    kind->values = dx + aligned(modes->n_x * sizeof(double));
    if (!lay_rows(kind, first) || !lay_states(kind)) {
        koine_modes_free(&kind->kind);
        return NULL;
    }
    kind->tables = *first;
    kind->tables.x = x;
    kind->tables.dx = dx;
    kind->tables.time = sizeof(uint64_t); /* behind the number of the mode */
    kind->tables.block_size = kind->inner + first->block_size;
    kind->tables.capabilities = (first->capabilities & (KOINE_HAS_TERMINAL | KOINE_CAN_SNAPSHOT | KOINE_CAN_ROLLBACK)) |
                                KOINE_NEEDS_STEP_EVENTS;
    kind->tables.n_variables = modes->n_rows;
    kind->tables.variables = kind->variables;
    kind->tables.n_x = modes->n_x;
    kind->tables.state_variable = kind->state_variable;
    kind->tables.roots.states = NULL;
    kind->tables.unknowns = (KoineUnknowns){ 0 };
    kind->tables.patterns = (KoinePatterns){ 0 };
    kind->tables.ports = (KoinePortTable){ 0 };
    kind->tables.callables.n_segments = 0;
    kind->kind.tables = &kind->tables;
    koine_modes_calls(&kind->kind);
    return &kind->kind;
}

void koine_modes_free(KoineModelKind *base)
{
    ModesKind *kind = (ModesKind *)(void *)base;
    if (!kind)
        return;
    free(kind->variables);
    free(kind->state_variable);
    free(kind);
}
