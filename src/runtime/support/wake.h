/* Private to runtime/support: a cell has another value; who reads it wakes up. */
#ifndef SUPPORT_WAKE_H
#define SUPPORT_WAKE_H

#include "machine.h"
#include "relation.h"
#include <math.h>

static inline void wake_readers(const Machine *m, uint32_t cell)
{
    const uint32_t *start = m->program->events.graph.readers_start;
    for (uint32_t j = start[cell]; j < start[cell + 1]; j++)
        bitset_add(&m->wake.dirty, m->program->events.graph.readers[j]);
}

/* ---- jumps ---- */
/* What a node computes from others may have jumped in this instant: not because the time has come here, but because a
 * bit, a discrete value or a delayed signal that it depends on has changed. Nobody asks while nothing is pinned. */
static inline bool has_jumped(const Machine *m, uint32_t node)
{
    return m->instant->has_pins && m->wake.jumped[node >> 6] >> (node & 63) & 1;
}

/* Readers wake up even if the value is what it was: on another branch rounding may have made it so. */
void koine_mark_readers(Machine *m, uint32_t cell); /* nodes.c */
static inline void cell_jumped(Machine *m, uint32_t cell)
{
    if (m->instant->has_pins)
        koine_mark_readers(m, cell);
}

/* What the node defines has jumped if it has itself, or if it does not move by itself and has `changed`. */
static inline void pass_jump_on(Machine *m, const KoineNode *node, uint32_t cell, bool changed)
{
    if (m->instant->has_pins &&
        (has_jumped(m, (uint32_t)(node - m->program->events.graph.nodes)) || (changed && !node->is_moving)))
        cell_jumped(m, cell);
}

/* Something has another value: readers wake up, pre(v) may differ, the dynamics may have changed. */
static inline void cell_moved(Machine *m, uint32_t cell)
{
    const KoineProgram *p = m->program;
    wake_readers(m, cell);
    m->instant->result.is_restart |= p->events.graph.feeds_dynamics[cell];
    const uint32_t pre = p->events.graph.cell_pre[cell];
    if (pre != KOINE_NONE && !m->writes.is_unsettled[pre]) {
        m->writes.is_unsettled[pre] = 1;
        m->writes.unsettled[m->instant->n_unsettled++] = pre;
    }
}

static inline void cell_changed(Machine *m, uint32_t cell)
{
    cell_moved(m, cell);
    cell_jumped(m, cell);
}

/* Whether a value can be gone on with: a number that is one. */
static inline bool is_good(const KoineSlot *slot, bool is_real)
{
    return is_real ? isfinite(slot->r) : slot->i != INT64_MIN;
}

#endif
