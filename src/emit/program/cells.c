/* What the nodes of the event graph read and define; see event_layout.h. */
#include "emit/program/event_layout.h"

uint32_t cell_of(const EventLayout *e, Ref ref)
{
    const uint32_t n = e->m->variables.n;
    switch ((RefKind)ref.kind) {
    case REF_NOW: return has_element_cells(e, ref.var) ? e->elements.first[ref.var.index] : ref.var.index;
    case REF_DER: return has_cells(e, ref) ? e->elements.first_der[ref.var.index] : n + ref.var.index;
    case REF_PRE:
        return e->pre_of[ref.var.index] == KOINE_NONE ? KOINE_NONE : 2 * n + e->elements.n + e->pre_of[ref.var.index];
    default: return KOINE_NONE;
    }
}

uint32_t n_cells(const EventLayout *e)
{
    return 2 * e->m->variables.n + e->elements.n + e->pres.n + event_calls_count(e->calls);
}

/* ---- arrays with a cell for each element ---- */
static void give_cells(EventLayout *e, Ref ref)
{
    const Model *m = e->m;
    if (has_cells(e, ref) || model_var(m, ref.var)->type.rank == 0 || variable_is_split(m, ref.var))
        return;
    (ref.kind == REF_DER ? e->elements.first_der : e->elements.first)[ref.var.index] =
        2 * m->variables.n + e->elements.n;
    e->elements.n += (uint32_t)variable_count(m, ref.var);
}

static bool reads_element_cells(const EventLayout *e, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        if (has_cells(e, term_refs(e->m, term)[k]))
            return true;
    }
    return false;
}

/* Is the assignment one to an element at each point of a range, or to one element? */
static bool is_of_elements(const Block *b)
{
    return b->kind == BLOCK_ASSIGN && b->u.assign.lhs.shape->n_args > 0;
}

/* Whether the target is a discrete array, or derivatives that only events change. */
static bool changes_at_events(const EventLayout *e, const Block *b, Ref target)
{
    return target.kind == REF_NOW ? model_var(e->m, target.var)->variability == VARIABILITY_DISCRETE
                                  : target.kind == REF_DER && !b->is_moving;
}

/* What is computed from such elements, and discrete too, changes one by one. */
static void spread_cells(EventLayout *e)
{
    const Model *m = e->m;
    bool *is_whole = NEW_ARRAY(e->ks->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && !is_of_elements(b))
            is_whole[term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].var.index] = true;
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++)
            is_whole[e->s->rows.at[block_rows(b).first_row + j].unknown.var.index] = true;
    }
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        if (!is_of_elements(b))
            continue;
        const Ref target = term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
        if (changes_at_events(e, b, target) && !is_whole[target.var.index] && reads_element_cells(e, b->u.assign.rhs))
            give_cells(e, target);
    }
}

/* Arrays that equations of transitions over ranges define. */
static bool give_cells_to_whens(EventLayout *e)
{
    bool any = false;
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        const char *made_by = is_of_elements(b) ? e->m->equations.at[b->equation.index].origin.made_by : NULL;
        if (!made_by || strcmp(made_by, "lower-whens") != 0)
            continue;
        give_cells(e, term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]);
        any = true;
    }
    return any;
}

void find_element_cells(EventLayout *e)
{
    const Model *m = e->m;
    bool any = false;
    for (uint32_t k = 0; k < m->variables.n; k++)
        e->elements.first[k] = e->elements.first_der[k] = KOINE_NONE;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        any |= t->domain.index != 0;
        for (uint32_t j = 0; t->domain.index && j < t->n_assignments; j++) {
            const Term target = m->assignments.at[t->first_assignment + j].target;
            give_cells(e, term_refs(m, target)[target.shape->u.leaf]);
        }
        for (uint32_t j = 0; t->domain.index && j < t->n_conditions; j++)
            give_cells(e, term_refs(m, m->conditions.at[t->first_condition + j])[0]);
    }
    any |= give_cells_to_whens(e);
    for (uint32_t k = 0; any && k < m->relations.n; k++)
        if (m->relations.at[k].domain.index)
            give_cells(e, ref_now(m->relations.at[k].bit));
    if (any)
        spread_cells(e);
}

EventPoint event_point(const EventLayout *e, DomainId domain)
{
    return (EventPoint){ .domain = &e->m->domains.at[domain.index] };
}

void next_event_point(const EventLayout *e, EventPoint *point)
{
    point->number++;
    for (uint32_t k = point->domain->n; k-- > 0; point->j[k] = 0)
        if (++point->j[k] < e->m->iterators.at[point->domain->first + k].count)
            return;
}

int64_t element_at(const ElementMap *map, const EventPoint *point)
{
    int64_t element = map->base;
    for (uint32_t k = 0; k < point->domain->n; k++)
        element += map->step[k] * point->j[k];
    return element;
}

/* What the value before is when the run begins. Nothing lies before a value that the start has determined. */
static uint8_t start_of_pre(const Variable *v)
{
    if (v->edge == EDGE_START_FALSE + 1)
        return KOINE_PRE_FALSE;
    const bool may_be_solved = v->definition == DEFINITION_NEXT && !v->is_fixed;
    return v->edge == EDGE_START_CURRENT + 1 || may_be_solved ? KOINE_PRE_CURRENT : KOINE_PRE_START;
}

void list_pres(EventLayout *e)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        e->pre_of[k] = KOINE_NONE;
        if (e->ks->slots->pre[k] == KOINE_NONE || variable_is_split(m, (VarId){ k }))
            continue;
        e->pre_of[k] = e->pres.n;
        const uint32_t n = (uint32_t)variable_count(m, (VarId){ k });
        const bool is_by_element = has_element_cells(e, (VarId){ k });
        const KoinePre pre = { .now = e->ks->slots->now[k],
                               .pre = e->ks->slots->pre[k],
                               .n = is_by_element ? 1 : n,
                               .variable = e->ks->slots->row_of[k],
                               .is_continuous = m->variables.at[k].variability == VARIABILITY_CONTINUOUS,
                               .start = start_of_pre(&m->variables.at[k]) };
        for (uint32_t j = 0; j < (is_by_element ? n : 1); j++) {
            vec_push(e->ks->arena, &e->pres, pre);
            e->pres.at[e->pres.n - 1].now += j;
            e->pres.at[e->pres.n - 1].pre += j;
        }
    }
    for (uint32_t k = 0; k < e->pres.n; k++)
        e->pres.at[k].cell = 2 * m->variables.n + e->elements.n + k;
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

/* Cells that the variable has for what the reference means, side by side. */
static uint32_t cells_side_by_side(const EventLayout *e, Ref ref)
{
    return has_cells(e, ref) ? (uint32_t)variable_count(e->m, ref.var) : 1;
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
            const uint32_t first = cell_of(e, held), n = first == KOINE_NONE ? 0 : cells_side_by_side(e, held);
            for (uint32_t i = 0; i < n; i++)
                vec_push(e->ks->arena, &e->reads, ((Read){ first + i, node }));
        }
    }
}

static void add_point_read(EventLayout *e, PointReads *reads, PointRead read)
{
    if (read.cell == KOINE_NONE)
        return;
    for (uint32_t k = 0; k < reads->at.n; k++) {
        const PointRead *other = &reads->at.at[k];
        if (other->cell == read.cell && other->n == read.n && other->is_by_point == read.is_by_point &&
            memcmp(&other->map, &read.map, sizeof read.map) == 0)
            return;
    }
    vec_push(e->ks->arena, &reads->at, read);
}

static void list_leaves(EventLayout *e, PointReads *reads, const Expr *shape, Term term, DomainId domain)
{
    for (uint32_t k = 0; k < shape->n_args && shape->n_leaves; k++)
        list_leaves(e, reads, shape->args[k], term, domain);
    if (shape->kind != EXPR_LEAF)
        return;
    const Ref ref = term_refs(e->m, term)[shape->u.leaf];
    const Holders holders = ref_holders(e->m, ref);
    reads->is_moving |= ref.kind == REF_TIME || ref.kind == REF_DER;
    for (uint32_t j = 0; j < holders.n; j++) {
        const Ref held = { { holders.first + j }, ref.kind };
        PointRead read = { .cell = cell_of(e, held), .n = cells_side_by_side(e, held) };
        read.is_moving = ref.kind == REF_NOW && e->moves[held.var.index];
        reads->is_moving |= read.is_moving;
        read.is_by_point = holders.n == 1 && has_cells(e, held) && shape->n_args &&
                           element_map(e->m, shape, term_refs(e->m, term), domain, &read.map);
        if (!read.is_by_point)
            read.map = (ElementMap){ 0 };
        add_point_read(e, reads, read);
    }
}

void list_point_reads(EventLayout *e, PointReads *reads, Term term, DomainId domain)
{
    if (term.shape)
        list_leaves(e, reads, term.shape, term, domain);
}

void read_at_point(EventLayout *e, const PointReads *reads, const EventPoint *point)
{
    const uint32_t node = e->nodes.n - 1;
    for (uint32_t k = 0; k < reads->at.n; k++) {
        const PointRead *read = &reads->at.at[k];
        const uint32_t first = read->cell + (read->is_by_point ? (uint32_t)element_at(&read->map, point) : 0);
        for (uint32_t j = 0; j < (read->is_by_point ? 1 : read->n); j++)
            vec_push(e->ks->arena, &e->reads, ((Read){ first + j, node }));
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

typedef void (*VisitCell)(EventLayout *e, uint32_t cell, void *context);

/* The cells that the list says, at all points of the domain. */
static void visit_cells(EventLayout *e, const PointReads *reads, DomainId domain, VisitCell visit, void *context)
{
    EventPoint point = event_point(e, domain);
    for (uint64_t count = reads->at.n ? domain_count(e->m, domain) : 0; count > 0; count--) {
        for (uint32_t k = 0; k < reads->at.n; k++) {
            const PointRead *read = &reads->at.at[k];
            const uint32_t cell = read->cell + (read->is_by_point ? (uint32_t)element_at(&read->map, &point) : 0);
            for (uint32_t j = 0; !read->is_moving && j < (read->is_by_point ? 1 : read->n); j++)
                visit(e, cell + j, context);
        }
        next_event_point(e, &point);
    }
}

static void mark_feeding(EventLayout *e, uint32_t cell, void *context)
{
    uint8_t *feeds = context;
    feeds[cell] |= cell >= 2 * e->m->variables.n;
}

static void mark_cell(EventLayout *e, uint32_t cell, void *context)
{
    uint8_t *feeds = context;
    (void)e;
    feeds[cell] = 1;
}

static void note_all_feeding(EventLayout *e, Term term, DomainId domain, uint8_t *feeds)
{
    PointReads reads = { 0 };
    list_point_reads(e, &reads, term, domain);
    visit_cells(e, &reads, domain, mark_cell, feeds);
}

/* Which elements with cells of their own feed the dynamics: a change of the others asks for no restart. */
static void note_feeding(EventLayout *e, Term term, DomainId domain, uint8_t *feeds)
{
    PointReads reads = { 0 };
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(e->m, term)[k];
        const Holders holders = ref_holders(e->m, ref);
        for (uint32_t j = 0; j < holders.n; j++) {
            const VarId v = { holders.first + j };
            const uint32_t cell = cell_of(e, (Ref){ v, ref.kind });
            const bool is_input = model_var(e->m, v)->definition == DEFINITION_INPUT; /* it moves, but it may jump */
            if (cell != KOINE_NONE && !has_cells(e, (Ref){ v, ref.kind }) &&
                (is_input || !(ref.kind == REF_NOW && e->moves[v.index])))
                feeds[cell] = 1;
        }
    }
    if (e->elements.n)
        list_point_reads(e, &reads, term, domain);
    visit_cells(e, &reads, domain, mark_feeding, feeds);
}

void fill_feeding(EventLayout *e)
{
    Kernels *ks = e->ks;
    uint8_t *feeds = NEW_ARRAY(ks->arena, uint8_t, n_cells(e) + 1);
    const DomainId scalar = { 0 };
    for (uint32_t k = 0; k < e->s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &e->s->blocks.at[e->s->parts[PART_DERIVATIVES].at[k]];
        if (b->kind == BLOCK_ASSIGN)
            note_feeding(e, b->u.assign.rhs, b->u.assign.domain, feeds);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            note_feeding(e, e->s->rows.at[block_rows(b).first_row + j].lhs, scalar, feeds);
            note_feeding(e, e->s->rows.at[block_rows(b).first_row + j].rhs, scalar, feeds);
        }
    }
    for (uint32_t k = 0; k < e->s->blocks.n; k++) { /* derivatives that change at events only */
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && !b->is_moving &&
            term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].kind == REF_DER)
            note_all_feeding(e, b->u.assign.lhs, b->u.assign.domain, feeds);
    }
    e->out.data.graph.feeds_dynamics = feeds;
    for (uint32_t k = 0; k < e->firings.nexts.n; k++)
        e->firings.nexts.at[k].feeds_dynamics = feeds[e->firings.nexts.at[k].cell];
    uint32_t *cell_pre = NEW_ARRAY(ks->arena, uint32_t, n_cells(e) + 1);
    for (uint32_t k = 0; k < n_cells(e); k++)
        cell_pre[k] = KOINE_NONE;
    for (uint32_t k = 0; k < e->m->variables.n; k++)
        for (uint32_t j = 0; e->pre_of[k] != KOINE_NONE && j < cells_side_by_side(e, ref_now((VarId){ k })); j++)
            cell_pre[cell_of(e, ref_now((VarId){ k })) + j] = e->pre_of[k] + j;
    e->out.data.graph.cell_pre = cell_pre;
}
