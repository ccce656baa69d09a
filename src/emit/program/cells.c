/* What the nodes of the event graph read and define; see event_layout.h. */
#include "emit/program/event_layout.h"

uint32_t cell_of(const EventLayout *e, Ref ref)
{
    const uint32_t n = e->m->variables.n;
    switch ((RefKind)ref.kind) {
    case REF_NOW: return ref.var.index;
    case REF_DER: return n + ref.var.index;
    case REF_PRE: return e->pre_of[ref.var.index] == KOINE_NONE ? KOINE_NONE : 2 * n + e->pre_of[ref.var.index];
    default: return KOINE_NONE;
    }
}

uint32_t n_cells(const EventLayout *e)
{
    return 2 * e->m->variables.n + e->pres.n + event_calls_count(e->calls);
}

void list_pres(EventLayout *e)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        e->pre_of[k] = KOINE_NONE;
        if (e->ks->slots->pre[k] == KOINE_NONE || variable_is_split(m, (VarId){ k }))
            continue;
        e->pre_of[k] = e->pres.n;
        const KoinePre pre = { .now = e->ks->slots->now[k],
                               .pre = e->ks->slots->pre[k],
                               .n = (uint32_t)variable_count(m, (VarId){ k }),
                               .variable = e->ks->slots->row_of[k],
                               .is_continuous = m->variables.at[k].variability == VARIABILITY_CONTINUOUS,
                               .start =
                                   (uint8_t)(m->variables.at[k].edge == EDGE_START_FALSE + 1     ? KOINE_PRE_FALSE
                                             : m->variables.at[k].edge == EDGE_START_CURRENT + 1 ? KOINE_PRE_CURRENT
                                                                                                 : KOINE_PRE_START) };
        vec_push(e->ks->arena, &e->pres, pre);
    }
    for (uint32_t k = 0; k < e->pres.n; k++)
        e->pres.at[k].cell = 2 * m->variables.n + k;
}

void find_moving(EventLayout *e)
{
    for (uint32_t k = 0; k < e->s->states.n; k++)
        e->moves[e->s->states.at[k].index] = true;
    for (uint32_t k = 0; k < e->m->variables.n; k++)
        e->moves[k] |= (e->m->variables.at[k].definition == DEFINITION_INPUT ||
                        e->m->variables.at[k].definition == DEFINITION_FOREIGN) &&
                       e->m->variables.at[k].variability == VARIABILITY_CONTINUOUS;
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        if (!b->is_moving)
            continue;
        const uint32_t n = b->kind == BLOCK_ASSIGN ? 1 : block_rows(b).n_rows;
        for (uint32_t j = 0; j < n; j++) {
            const Ref ref = b->kind == BLOCK_ASSIGN ? term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]
                                                    : e->s->rows.at[block_rows(b).first_row + j].unknown;
            e->moves[ref.var.index] |= ref.kind == REF_NOW;
        }
    }
}

void read_term(EventLayout *e, Term term, bool *is_moving)
{
    const uint32_t node = e->nodes.n - 1;
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(e->m, term)[k];
        *is_moving |= ref.kind == REF_TIME || ref.kind == REF_DER;
        const Holders holders = ref_holders(e->m, ref);
        for (uint32_t j = 0; j < holders.n; j++) {
            const Ref held = { { holders.first + j }, ref.kind };
            *is_moving |= ref.kind == REF_NOW && e->moves[held.var.index];
            const Read read = { cell_of(e, held), node };
            if (read.cell != KOINE_NONE)
                vec_push(e->ks->arena, &e->reads, read);
        }
    }
}

void read_selector(EventLayout *e, RegionId region)
{
    const uint32_t cell = region.index == ID_NONE ? KOINE_NONE : e->m->regions.at[region.index].selector.index;
    const Read read = { cell, e->nodes.n - 1 };
    if (cell != KOINE_NONE)
        vec_push(e->ks->arena, &e->reads, read);
}

void fill_readers(EventLayout *e)
{
    Kernels *ks = e->ks;
    const uint32_t n = n_cells(e);
    uint32_t *start = NEW_ARRAY(ks->arena, uint32_t, n + 2), *readers = NEW_ARRAY(ks->arena, uint32_t, e->reads.n + 1);
    for (uint32_t k = 0; k < e->reads.n; k++)
        start[e->reads.at[k].cell + 2]++;
    for (uint32_t k = 1; k <= n; k++)
        start[k + 1] += start[k];
    for (uint32_t k = 0; k < e->reads.n; k++) /* start[c + 1] runs from the begin of cell c to its end */
        readers[start[e->reads.at[k].cell + 1]++] = e->reads.at[k].node;
    e->out.data.graph.readers_start = start;
    e->out.data.graph.readers = readers;
    e->out.data.graph.n_cells = n;
}

static void note_feeding(EventLayout *e, Term term, uint8_t *feeds)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(e->m, term)[k];
        const Holders holders = ref_holders(e->m, ref);
        for (uint32_t j = 0; j < holders.n; j++) {
            const VarId v = { holders.first + j };
            const uint32_t cell = cell_of(e, (Ref){ v, ref.kind });
            const bool is_input = model_var(e->m, v)->definition == DEFINITION_INPUT; /* it moves, but it may jump */
            if (cell != KOINE_NONE && (is_input || !(ref.kind == REF_NOW && e->moves[v.index])))
                feeds[cell] = 1;
        }
    }
}

void fill_feeding(EventLayout *e)
{
    Kernels *ks = e->ks;
    uint8_t *feeds = NEW_ARRAY(ks->arena, uint8_t, n_cells(e) + 1);
    for (uint32_t k = 0; k < e->s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &e->s->blocks.at[e->s->parts[PART_DERIVATIVES].at[k]];
        if (b->kind == BLOCK_ASSIGN)
            note_feeding(e, b->u.assign.rhs, feeds);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            note_feeding(e, e->s->rows.at[block_rows(b).first_row + j].lhs, feeds);
            note_feeding(e, e->s->rows.at[block_rows(b).first_row + j].rhs, feeds);
        }
    }
    for (uint32_t k = 0; k < e->s->blocks.n; k++) { /* derivatives that change at events only */
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && !b->is_moving &&
            term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].kind == REF_DER)
            feeds[cell_of(e, term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf])] = 1;
    }
    e->out.data.graph.feeds_dynamics = feeds;
    for (uint32_t k = 0; k < e->firings.nexts.n; k++)
        e->firings.nexts.at[k].feeds_dynamics = feeds[e->firings.nexts.at[k].cell];
    uint32_t *cell_pre = NEW_ARRAY(ks->arena, uint32_t, n_cells(e) + 1);
    for (uint32_t k = 0; k < n_cells(e); k++)
        cell_pre[k] = k < e->m->variables.n ? e->pre_of[k] : KOINE_NONE;
    e->out.data.graph.cell_pre = cell_pre;
}
