/* What follows from the whole graph for comparisons: which flips may change nothing, which root functions only select
 * what is integrated, what these need; see event_layout.h. */
#include "emit/program/event_layout.h"
#include "ir/walk.h"

static void mark(const Model *m, Term term, bool *is_loud)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++)
        if (term_refs(m, term)[k].kind == REF_NOW)
            is_loud[term_refs(m, term)[k].var.index] = true;
}

typedef struct {
    const Model *model;
    bool *is_loud;
} Marking;

/* Conditions and actions are nodes of the event graph themselves. */
static void mark_place(void *context, Term term, const TermPlace *place)
{
    const Marking *marking = context;
    if (place->role != TERM_CONDITION && place->role != TERM_TARGET && place->list != LIST_ACTIONS)
        mark(marking->model, term, marking->is_loud);
}

static bool is_by_element(const EventLayout *e, const Block *b)
{
    return has_cells(e, term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]);
}

/* A bit is loud if more than discrete scalar nodes of the event graph read it: what moves, systems, other relations. */
static void mark_loud(const EventLayout *e, bool *is_loud)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN &&
            (b->is_moving || !b->is_eager || (b->u.assign.domain.index && !is_by_element(e, b))))
            mark(m, b->u.assign.rhs, is_loud);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            mark(m, e->s->rows.at[block_rows(b).first_row + j].lhs, is_loud);
            mark(m, e->s->rows.at[block_rows(b).first_row + j].rhs, is_loud);
        }
    }
    Marking marking = { m, is_loud };
    model_visit_terms(m, ELEMENTS(LIST_RELATIONS) | ELEMENTS(LIST_STEPS) | ELEMENTS(LIST_TRANSITIONS), mark_place,
                      &marking);
}

static void find_quiet_row(EventLayout *e, KoineRelation *r)
{
    const KoineGraph *graph = &e->out.data.graph;
    bool is_quiet = r->decision.root != KOINE_NONE;
    for (uint32_t j = graph->readers_start[r->decision.cell];
         is_quiet && j < graph->readers_start[r->decision.cell + 1]; j++) {
        const KoineNode *node = &e->nodes.at[graph->readers[j]];
        is_quiet = node->kind == KOINE_NODE_GUARD || (node->kind == KOINE_NODE_ASSIGN && node->object == 1);
    }
    r->may_be_quiet = is_quiet;
}

void find_quiet(EventLayout *e)
{
    bool *is_loud = NEW_ARRAY(e->ks->arena, bool, e->m->variables.n + 1);
    mark_loud(e, is_loud);
    for (uint32_t k = 0; k < e->m->relations.n; k++) {
        const Relation *r = &e->m->relations.at[k];
        const uint32_t n = (uint32_t)domain_count(e->m, r->domain);
        for (uint32_t j = 0; j < n && !is_loud[r->bit.index] && e->pre_of[r->bit.index] == KOINE_NONE; j++)
            find_quiet_row(e, &e->decisions.relations[e->decisions.first_row[k] + j]);
    }
}

enum { REACHES_TRANSITION = 1, REACHES_DYNAMICS = 2 };

/* Whether a change of what the node defines can reach a transition, or the derivatives, without another relation or
 * step function between. `below` says so of the cells that later nodes define,
 * `below_system` of systems. */
static uint8_t reached_from(const EventLayout *e, uint32_t cell, const uint8_t *below, const uint8_t *below_system)
{
    const KoineGraph *p = &e->out.data.graph;
    uint8_t found = (uint8_t)(below[cell] | (p->feeds_dynamics[cell] ? REACHES_DYNAMICS : 0));
    if (p->cell_pre[cell] != KOINE_NONE) /* its earlier value is read: by whom is not followed */
        found |= REACHES_TRANSITION;
    for (uint32_t k = p->readers_start[cell]; k < p->readers_start[cell + 1]; k++) {
        const KoineNode *reader = &e->nodes.at[p->readers[k]];
        if (reader->kind == KOINE_NODE_TRANSITION || reader->kind == KOINE_NODE_GUARD)
            found |= REACHES_TRANSITION;
        else if ((reader->kind == KOINE_NODE_ASSIGN || reader->kind == KOINE_NODE_CALL) && reader->cell != KOINE_NONE)
            found |= below[reader->cell];
        if (reader->kind == KOINE_NODE_SYSTEM)
            found |= below_system[reader->object];
    }
    return found;
}

/* Relations that only select what is integrated: on a time grid these are crossed in a way of their own. */
static void fill_root_regions(EventLayout *e)
{
    Kernels *ks = e->ks;
    uint8_t *below = NEW_ARRAY(ks->arena, uint8_t, n_cells(e) + 1),
            *below_system = NEW_ARRAY(ks->arena, uint8_t, e->ss->systems.n + 1),
            *regions = NEW_ARRAY(ks->arena, uint8_t, e->decisions.roots.n + 1);
    for (uint32_t k = e->nodes.n; k-- > 0;) {
        const KoineNode *node = &e->nodes.at[k];
        if (node->kind == KOINE_NODE_SYSTEM) {
            const KoineSystem *system = &e->ss->systems.at[node->object];
            for (uint32_t j = 0; j < system->n + system->n_inner; j++) {
                below[system->cells[j]] = reached_from(e, system->cells[j], below, below_system);
                below_system[node->object] |= below[system->cells[j]];
            }
        } else if (node->cell != KOINE_NONE) {
            below[node->cell] = reached_from(e, node->cell, below, below_system);
        }
    }
    for (uint32_t k = 0; k < e->decisions.root_owner.n; k++) {
        const uint32_t owner = e->decisions.root_owner.at[k], n = e->decisions.n_rows;
        regions[k] = below[owner < n ? e->decisions.relations[owner].decision.cell
                                     : e->decisions.steps[owner - n].decision.cell] == REACHES_DYNAMICS;
    }
    e->out.roots.regions = regions;
}

/* Comparisons of a state with what is constant between events: between the ends of a step they move as it does. */
static void fill_root_states(EventLayout *e)
{
    Kernels *ks = e->ks;
    uint32_t *states = NEW_ARRAY(ks->arena, uint32_t, e->decisions.roots.n + 1);
    for (uint32_t k = 0; k < e->decisions.root_owner.n; k++) {
        const uint32_t owner = e->decisions.root_owner.at[k];
        const uint32_t slot = owner < e->decisions.n_rows ? e->decisions.relations[owner].state : KOINE_NONE;
        const bool is_state = slot != KOINE_NONE && slot >= ks->slots->x && slot - ks->slots->x < ks->slots->n_x;
        states[k] = is_state ? 1 + slot - ks->slots->x : 0;
    }
    e->out.roots.states = states;
}

void fill_roots(EventLayout *e)
{
    Roots *out = &e->out.roots;
    add_foreign_roots(e);
    out->n = e->decisions.roots.n;
    out->origins = e->decisions.roots.at;
    fill_root_states(e);
    if (e->decisions.roots.n) /* functions of the time alone need nothing here */
        out->part = lay_roots(e->ss, e->s, &e->parts->blocks, &e->decisions.root_operands, &out->executed, &out->fixed);
    fill_root_regions(e);
}
