/* The event graph as tables; see events.h. */
#include "emit/program/event_layout.h"
#include "base/bug.h"
#include <float.h>

/* The path of an instance that something in a run is reported of. */
const char *path_of(EventLayout *e, InstanceId instance)
{
    const char **path = &e->paths[instance.index];
    if (!*path)
        *path = instance_path(e->m, instance, e->ks->arena);
    return *path;
}

KoineNode *add_node(EventLayout *e, KoineNodeKind kind, uint32_t origin)
{
    const KoineNode node = { .kind = (uint8_t)kind, .origin = origin, .cell = KOINE_NONE, .variable = KOINE_NONE };
    vec_push(e->ks->arena, &e->nodes, node);
    return &e->nodes.at[e->nodes.n - 1];
}

void note_moving(EventLayout *e, bool is_moving)
{
    e->nodes.at[e->nodes.n - 1].is_moving = is_moving;
    if (is_moving)
        vec_push(e->ks->arena, &e->moving, e->nodes.n - 1);
}

/* `guarded`: row of the transition whose condition it is, or KOINE_NONE. */
static void fill_assignment(EventLayout *e, KoineNode *node, const Block *b, Piece piece, uint32_t guarded)
{
    const Kernel *kernel = &e->ks->kernels.at[piece.kernel];
    const VarId target = term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].var;
    node->object = guarded == KOINE_NONE ? piece.n * output_values(kernel, 0) : guarded;
    node->is_real = b->is_real;
    node->kernel = piece.kernel;
    node->row = piece.row;
    node->n = piece.n;
    node->output = e->ks->rows.at[piece.row];
    node->stride = kernel->strides ? (uint32_t)kernel->strides[0] : 1;
    node->variable = e->ks->slots->row_of[target.index];
}

static void add_assignment(EventLayout *e, uint32_t index, const Block *b)
{
    const Ref target = term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
    for (uint32_t k = e->parts->blocks.first_piece[index]; k < e->parts->blocks.first_piece[index + 1]; k++) {
        EventReads calls;
        const Piece piece = event_calls_lay(e->calls, index, e->ks->pieces.at[k], &calls);
        e->ks->kernels.at[piece.kernel].is_shared = true;
        const uint32_t guarded = e->guard_of[target.var.index];
        KoineNode *node = add_node(e, guarded == KOINE_NONE ? KOINE_NODE_ASSIGN : KOINE_NODE_GUARD, index);
        fill_assignment(e, node, b, piece, guarded);
        node->cell = cell_of(e, target);
        bool is_moving = b->is_moving;
        read_term(e, b->u.assign.rhs, &is_moving);
        for (uint32_t j = 0; j < calls.n; j++)
            vec_push(e->ks->arena, &e->reads, ((Read){ calls.at[j], e->nodes.n - 1 }));
        note_moving(e, is_moving);
    }
}

/* Row j of a piece as a row of its own. */
static Piece row_of_piece(Kernels *ks, Piece piece, uint32_t j)
{
    const Kernel *kernel = &ks->kernels.at[piece.kernel];
    const uint32_t width = kernel->n_outputs + kernel->n_leaves;
    uint32_t few[32];
    uint32_t *row = width < 32 ? few : NEW_ARRAY(ks->arena, uint32_t, width + 1);
    if (piece.n == 1)
        return piece;
    for (uint32_t k = 0; k < width; k++)
        row[k] = ks->rows.at[piece.row + k] + j * (uint32_t)kernel->strides[k];
    if (kernel->has_iterator)
        row[width] = ks->rows.at[piece.row + width] + j * (uint32_t)kernel->iterator_stride;
    return (Piece){ piece.kernel, put_row(ks, row, width + kernel->has_iterator), 1 };
}

/* A node for each point of the range: its element has a cell of its own. */
static void add_assignments(EventLayout *e, uint32_t index, const Block *b)
{
    const Ref target = term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
    const uint32_t first = slot_of(e->ks->slots, target), guarded = e->guard_of[target.var.index];
    PointReads reads = { 0 };
    list_point_reads(e, &reads, b->u.assign.rhs, b->u.assign.domain);
    EventPoint point = event_point(e, b->u.assign.domain);
    for (uint32_t k = e->parts->blocks.first_piece[index]; k < e->parts->blocks.first_piece[index + 1]; k++) {
        const Piece piece = e->ks->pieces.at[k];
        e->ks->kernels.at[piece.kernel].is_shared = true;
        for (uint32_t j = 0; j < piece.n; j++) {
            KoineNode *node = add_node(e, guarded == KOINE_NONE ? KOINE_NODE_ASSIGN : KOINE_NODE_GUARD, index);
            const Piece row = row_of_piece(e->ks, piece, j);
            const uint32_t element = e->ks->rows.at[row.row] - first;
            fill_assignment(e, node, b, row, guarded == KOINE_NONE ? KOINE_NONE : guarded + element);
            node->cell = cell_of(e, target) + element;
            read_at_point(e, &reads, &point);
            note_moving(e, b->is_moving || reads.is_moving);
            next_event_point(e, &point);
        }
    }
}

static void add_system(EventLayout *e, uint32_t index, const Block *b)
{
    KoineNode *node = add_node(e, KOINE_NODE_SYSTEM, index);
    node->object = e->parts->blocks.system_of[index];
    bool is_moving = b->is_moving;
    Map own;
    map_init(&own, e->ks->arena, b->u.system.n_rows);
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        const SystemRow *row = &e->s->rows.at[b->u.system.first_row + k];
        map_put(&own, (uint64_t)row->unknown.kind << 32 | row->unknown.var.index, k);
    }
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        const SystemRow *row = &e->s->rows.at[b->u.system.first_row + k];
        const Term sides[] = { row->lhs, row->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(e->m, sides[side])[j];
                uint32_t ignored;
                const bool is_own = map_get(&own, (uint64_t)ref.kind << 32 | ref.var.index, &ignored);
                const Holders holders = is_own ? (Holders){ 0, 0 } : ref_holders(e->m, ref);
                is_moving |= ref.kind == REF_TIME || (ref.kind == REF_DER && !is_own);
                for (uint32_t i = 0; i < holders.n; i++) {
                    is_moving |= ref.kind == REF_NOW && e->moves[holders.first + i];
                    const Read read = { cell_of(e, (Ref){ { holders.first + i }, ref.kind }), e->nodes.n - 1 };
                    if (read.cell != KOINE_NONE)
                        vec_push(e->ks->arena, &e->reads, read);
                }
            }
    }
    note_moving(e, is_moving);
}

/* The block has the nodes from `first_node` on. Blocks of a group stand together, so do its nodes. */
static void note_mixed(EventLayout *e, const Block *b, uint32_t first_node)
{
    KoineMixed *g = &e->decisions.mixed[b->mixed - 1];
    if (g->n_nodes == 0) {
        g->first_node = first_node;
        g->relations = e->decisions.mixed_relations + e->decisions.n_mixed_relations;
    }
    g->n_nodes = e->nodes.n - g->first_node;
    if (b->kind == BLOCK_RELATION) {
        REQUIRE(e->m->relations.at[b->u.object].domain.index == 0); /* no part of a ring: keep_comparisons.h */
        e->decisions.mixed_relations[e->decisions.n_mixed_relations++] = e->decisions.first_row[b->u.object];
        g->n_relations++;
    }
    g->n_steps += b->kind == BLOCK_STEP;
}

static void add_block(EventLayout *e, uint32_t index)
{
    const Block *b = &e->s->blocks.at[index];
    const uint32_t first_node = e->nodes.n;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: {
        const Ref target = term_refs(e->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
        if (has_cells(e, target))
            add_assignments(e, index, b);
        else
            add_assignment(e, index, b);
        break;
    }
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN: add_system(e, index, b); break;
    case BLOCK_RELATION: add_relation(e, index, b); break;
    case BLOCK_STEP: add_step(e, index, b); break;
    case BLOCK_TRANSITION: add_transition(e, index, b); break;
    }
    if (b->mixed)
        note_mixed(e, b, first_node);
}

static void fill_checks(EventLayout *e)
{
    Kernels *ks = e->ks;
    VEC(uint32_t) checks = { 0 };
    for (uint32_t k = 0; k < e->s->parts[PART_OUTPUTS].n; k++) {
        const uint32_t index = e->s->parts[PART_OUTPUTS].at[k];
        if (!e->s->blocks.at[index].is_real)
            continue;
        for (uint32_t j = e->parts->blocks.first_piece[index]; j < e->parts->blocks.first_piece[index + 1]; j++) {
            const Piece piece = ks->pieces.at[j];
            const Kernel *kernel = &ks->kernels.at[piece.kernel];
            for (uint32_t i = 0; i < piece.n * output_values(kernel, 0); i++) {
                vec_push(ks->arena, &checks,
                         ks->rows.at[piece.row] + i * (kernel->strides ? (uint32_t)kernel->strides[0] : 1));
                vec_push(ks->arena, &checks, index);
            }
        }
    }
    e->out.finite = (KoineChecks){ checks.n / 2, checks.at };
}

/* Entries by their numbers: the row of one. */
static uint32_t entry_row(const Model *m, uint32_t entry)
{
    uint32_t row = 0;
    for (uint32_t k = 0; k < m->occasions.n; k++)
        row += m->occasions.at[k].kind == OCCASION_ENTRY && m->occasions.at[k].entry < entry;
    return row;
}

/* Element k of a variable, or all of a scalar: its slot; the elements of a split array are variables. */
static uint32_t element_slot(EventLayout *e, Ref ref, uint32_t k)
{
    const Holders holders = ref_holders(e->m, ref);
    if (holders.n > 1)
        return slot_of(e->ks->slots, ref_now((VarId){ holders.first + k }));
    return slot_of(e->ks->slots, ref) + (ref_type(e->m, ref).rank ? k : 0);
}

static uint32_t element_cell(EventLayout *e, VarId var, uint32_t k)
{
    if (var_is_none(var))
        return KOINE_NONE;
    const Holders holders = ref_holders(e->m, ref_now(var));
    return cell_of(e, ref_now(holders.n > 1 ? (VarId){ holders.first + k } : var));
}

/* Slots of the points at the start, then of their values. */
static const uint32_t *profile_of(EventLayout *e, const Delay *d)
{
    if (var_is_none(d->points))
        return NULL;
    const uint32_t n = (uint32_t)variable_count(e->m, d->points);
    uint32_t *slots = NEW_ARRAY(e->ks->arena, uint32_t, 2 * n);
    for (uint32_t k = 0; k < n; k++) {
        slots[k] = element_slot(e, ref_now(d->points), k);
        slots[n + k] = element_slot(e, ref_now(d->values), k);
    }
    return slots;
}

static KoineDelay delay_of(EventLayout *e, const Delay *d, uint32_t k)
{
    const Model *m = e->m;
    const Variable *y = model_var(m, d->output);
    const Holders holders = ref_holders(m, ref_now(d->output));
    const VarId held = holders.n > 1 ? (VarId){ holders.first + k } : d->output;
    const char *name = variable_path(m, held, e->ks->arena);
    if (holders.n == 1 && y->type.rank)
        name = arena_format(e->ks->arena, "%s[%u]", name, k + 1);
    return (KoineDelay){
        .output = element_slot(e, ref_now(d->output), k),
        .input = element_slot(e, term_refs(m, d->input)[0], k),
        .amount = element_slot(e, term_refs(m, d->amount)[0], k),
        .cell = cell_of(e, ref_now(held)),
        .max = element_slot(e, term_refs(m, term_is_absent(d->max) ? d->amount : d->max)[0], k),
        .since = var_is_none(d->since) ? KOINE_NONE : element_slot(e, ref_now(d->since), k),
        .until = var_is_none(d->since) ? KOINE_NONE : element_slot(e, ref_now(d->until), k),
        .since_cell = element_cell(e, d->since, k),
        .until_cell = element_cell(e, d->until, k),
        .position = term_is_absent(d->position) ? KOINE_NONE : element_slot(e, term_refs(m, d->position)[0], 0),
        .forward = term_is_absent(d->forward) ? KOINE_NONE : element_slot(e, term_refs(m, d->forward)[0], 0),
        .n_points = var_is_none(d->points) ? 0 : (uint32_t)variable_count(m, d->points),
        .profile = profile_of(e, d),
        .variable = e->ks->slots->row_of[held.index],
        .has_start = !term_is_absent(y->start),
        .is_real = y->type.kind == TYPE_REAL,
        .name = name
    };
}

/* Those whose output moves come first. */
static void fill_delays(EventLayout *e)
{
    const Model *m = e->m;
    VEC(KoineDelay) rows = { 0 };
    for (int moving = 1; moving >= 0; moving--) {
        for (uint32_t k = 0; k < m->delays.n; k++) {
            const Delay *d = &m->delays.at[k];
            const Holders holders = ref_holders(m, ref_now(d->output));
            if (e->moves[holders.first] != (moving == 1))
                continue;
            for (uint32_t j = 0; j < variable_count(m, d->output); j++) {
                const KoineDelay row = delay_of(e, d, j);
                e->out.data.delays.n_changing += row.since != KOINE_NONE;
                e->out.data.delays.n_along += row.position != KOINE_NONE;
                vec_push(e->ks->arena, &rows, row);
            }
        }
        if (moving)
            e->out.data.delays.n_moving = rows.n;
    }
    e->out.data.delays.at = rows.at;
    e->out.data.delays.n = rows.n;
}

static void fill_occasions(EventLayout *e)
{
    static const uint32_t causes[] = {
        [OCCASION_START] = KOINE_AT_START, [OCCASION_STEP] = KOINE_AT_STEP, [OCCASION_ENTRY] = KOINE_AT_ENTRY
    };
    const Model *m = e->m;
    KoineOccasion *rows = NEW_ARRAY(e->ks->arena, KoineOccasion, m->occasions.n + 1);
    for (uint32_t k = 0; k < m->occasions.n; k++) {
        const Occasion *o = &m->occasions.at[k];
        rows[k] = (KoineOccasion){ .cause = causes[o->kind],
                                   .entry = o->kind == OCCASION_ENTRY ? entry_row(m, o->entry) : 0,
                                   .count = slot_of(e->ks->slots, ref_now(o->count)),
                                   .cell = cell_of(e, ref_now(o->count)) };
    }
    e->out.data.occasions = (KoineOccasions){ m->occasions.n, e->ks->slots->phases.has_initial, rows };
}

/* Inputs and states; an array only if all of its elements are. */
static void fill_open(EventLayout *e)
{
    const Model *m = e->m;
    VEC(KoineOpen) rows = { 0 };
    for (uint32_t k = 0; k < e->ks->slots->n_rows; k++) {
        const uint32_t own = e->ks->slots->variable_of[k];
        const bool is_split = variable_is_split(m, (VarId){ own });
        const VarId alias = m->variables.at[own].alias, holder = var_is_none(alias) ? (VarId){ own } : alias;
        const Definition definition = (Definition)model_var(m, holder)->definition;
        bool is_open = (definition == DEFINITION_INPUT || definition == DEFINITION_DER) &&
                       m->variables.at[own].type.kind != TYPE_STRING;
        for (uint64_t j = 1; is_split && j < variable_count(m, (VarId){ own }); j++)
            is_open &= model_var(m, (VarId){ holder.index + (uint32_t)j })->definition == definition;
        const KoineOpen row = { k, cell_of(e, ref_now(holder)), is_split || has_element_cells(e, holder),
                                definition == DEFINITION_DER };
        if (is_open)
            vec_push(e->ks->arena, &rows, row);
    }
    e->out.data.open = rows.at;
    e->out.data.n_open = rows.n;
}

static const char *channel_name(EventLayout *e, uint32_t number)
{
    const Channel *c = &e->m->channels.at[number];
    const char *path = path_of(e, c->owner), *name = names_of(pool_names(e->m->pool), c->name);
    if (name_is_empty(c->name))
        name = arena_format(e->ks->arena, "$q%u", number + 1);
    return path[0] ? arena_format(e->ks->arena, "%s.%s", path, name) : name;
}

static void fill_channels(EventLayout *e)
{
    Kernels *ks = e->ks;
    const Model *m = e->m;
    KoineChannel *rows = NEW_ARRAY(ks->arena, KoineChannel, m->channels.n + 1);
    uint32_t n_numbers = 0;
    for (uint32_t k = 0; k < m->channels.n; k++) {
        const Channel *c = &m->channels.at[k];
        uint32_t *fields = NEW_ARRAY(ks->arena, uint32_t, c->n_fields + 1);
        uint32_t *cells = NEW_ARRAY(ks->arena, uint32_t, c->n_fields + 1);
        for (uint32_t f = 0; f < c->n_fields; f++) {
            const Ref field = ref_now(m->fields.at[c->first_field + f]);
            fields[f] = slot_of(ks->slots, field);
            cells[f] = cell_of(e, field);
        }
        rows[k] = (KoineChannel){ .capacity = c->capacity,
                                  .n_fields = c->n_fields,
                                  .fields = fields,
                                  .field_cells = cells,
                                  .head = slot_of(ks->slots, ref_now(c->head)),
                                  .head_cell = cell_of(e, ref_now(c->head)),
                                  .first = n_numbers,
                                  .by_priority = c->by_priority,
                                  .keep = c->keep,
                                  .name = channel_name(e, k),
                                  .receiver = KOINE_NONE };
        n_numbers += c->n_fields + c->capacity * (c->n_fields + 1);
    }
    for (uint32_t k = e->firings.n_rows; k-- > 0;)
        if (e->firings.transitions[k].channel != KOINE_NONE)
            rows[e->firings.transitions[k].channel].receiver = e->firings.transitions[k].origin;
    e->out.data.channels = (KoineChannels){ m->channels.n, n_numbers, rows };
}

static void fill_streams(EventLayout *e)
{
    Kernels *ks = e->ks;
    const Model *m = ks->model;
    KoineStream *rows = NEW_ARRAY(ks->arena, KoineStream, m->streams.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->streams.n; k++) {
        const Stream *s = &m->streams.at[k];
        if (var_is_none(s->count))
            continue; /* drawn from once, at the start */
        rows[n++] = (KoineStream){ slot_of(ks->slots, ref_now(s->count)), variable_path(m, s->count, ks->arena) };
    }
    e->out.streams = rows;
    e->out.n_streams = n;
}

/* Relative widths of rounding bands: operands are as exact as what they are computed by, an iteration or formulas. */
static const double ITERATED_BAND = 1e-9, COMPUTED_BAND = 16 * DBL_EPSILON;

static double band_of(const Schedule *s)
{
    for (uint32_t k = 0; k < s->parts[PART_ROOTS].n; k++) {
        const BlockKind kind = s->blocks.at[s->parts[PART_ROOTS].at[k]].kind;
        if (kind == BLOCK_NEWTON || kind == BLOCK_ITERATE)
            return ITERATED_BAND;
    }
    return COMPUTED_BAND;
}

static EventLayout begin(const Schedule *s, const Parts *parts, Systems *ss)
{
    Kernels *ks = ss->ks;
    const Model *m = ks->model;
    const uint32_t n = m->variables.n + 1;
    EventLayout e = { .ks = ks,
                      .ss = ss,
                      .m = ks->model,
                      .s = s,
                      .parts = parts,
                      .pre_of = NEW_ARRAY(ks->arena, uint32_t, n),
                      .guard_of = NEW_ARRAY(ks->arena, uint32_t, n),
                      .elements = { NEW_ARRAY(ks->arena, uint32_t, n), NEW_ARRAY(ks->arena, uint32_t, n), 0 },
                      .moves = NEW_ARRAY(ks->arena, bool, n),
                      .paths = NEW_ARRAY(ks->arena, const char *, m->instances.n + 1) };
    uint32_t *first_row = NEW_ARRAY(ks->arena, uint32_t, m->relations.n + 1), n_rows = 0;
    for (uint32_t k = 0; k < m->relations.n; k++) {
        first_row[k] = n_rows;
        n_rows += (uint32_t)domain_count(m, m->relations.at[k].domain);
    }
    e.decisions = (DecisionLayout){ .relations = NEW_ARRAY(ks->arena, KoineRelation, n_rows + 1),
                                    .first_row = first_row,
                                    .n_rows = n_rows,
                                    .steps = NEW_ARRAY(ks->arena, KoineStep, m->steps.n + 1),
                                    .mixed = NEW_ARRAY(ks->arena, KoineMixed, s->n_mixed + 1),
                                    .mixed_relations = NEW_ARRAY(ks->arena, uint32_t, m->relations.n + 1),
                                    .comparisons = NEW_ARRAY(ks->arena, const char *, m->relations.n + 1),
                                    .time_codes = time_codes_create(s, ks, e.moves),
                                    .band = band_of(s) };
    e.firings.first_row = NEW_ARRAY(ks->arena, uint32_t, m->transitions.n + 1);
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        e.firings.first_row[k] = e.firings.n_rows;
        e.firings.n_rows += (uint32_t)domain_count(m, m->transitions.at[k].domain);
    }
    e.firings.transitions = NEW_ARRAY(ks->arena, KoineTransition, e.firings.n_rows + 1);
    map_init(&e.firings.writers, ks->arena, 64);
    return e;
}

static void finish(EventLayout *e)
{
    KoineGraph *graph = &e->out.data.graph;
    graph->nodes = e->nodes.at;
    graph->n_nodes = e->nodes.n;
    graph->moving = e->moving.at;
    graph->n_moving = e->moving.n;
    graph->pres = e->pres.at;
    graph->n_pres = e->pres.n;
    e->out.data.decisions = (KoineDecisions){ .relations = e->decisions.relations,
                                              .n_relations = e->decisions.n_rows,
                                              .steps = e->decisions.steps,
                                              .n_steps = e->m->steps.n,
                                              .mixed = e->decisions.mixed,
                                              .n_mixed = e->s->n_mixed,
                                              .root_owner = e->decisions.root_owner.at,
                                              .n_roots = e->decisions.root_owner.n,
                                              .calendar_owner = e->decisions.calendar_owner.at,
                                              .n_calendar = e->decisions.n_calendar };
    KoineFirings *firings = &e->out.data.firings;
    firings->transitions = e->firings.transitions;
    firings->n_transitions = e->firings.n_rows;
    firings->nexts = e->firings.nexts.at;
    firings->n_nexts = e->firings.nexts.n;
    firings->actions = e->firings.actions.at;
    firings->n_actions = e->firings.actions.n;
    firings->n_writers = e->firings.n_writers;
    e->out.roots.comparisons = e->decisions.comparisons;
    e->out.paths = e->paths;
    e->out.data.timed = time_codes_finish(e->decisions.time_codes);
}

Events events_lay(const Schedule *schedule, const Parts *parts, Systems *ss)
{
    const StateSets sets = lay_state_sets(schedule, ss);
    const KoineJumps jumps = lay_jumps(ss->ks);
    EventLayout e = begin(schedule, parts, ss);
    find_element_cells(&e);
    list_pres(&e);
    find_guards(&e);
    find_moving(&e);
    e.calls = event_calls_find(&e);
    for (uint32_t k = 0; k < schedule->parts[PART_EVENT].n; k++)
        add_block(&e, schedule->parts[PART_EVENT].at[k]);
    list_step_conditions(&e);
    fill_readers(&e);
    find_quiet(&e);
    fill_feeding(&e);
    fill_roots(&e);
    fill_checks(&e);
    fill_delays(&e);
    fill_streams(&e);
    fill_occasions(&e);
    fill_open(&e);
    fill_channels(&e);
    e.out.sets = sets;
    e.out.jumps = jumps;
    finish(&e);
    return e.out;
}
