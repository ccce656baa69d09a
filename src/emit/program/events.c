/* The event graph as tables: nodes, cells and their readers, relations, steps, transitions; see layout.h.
 * A cell is a variable (its present value, its value before, its derivative): what nodes read and define. */
#include "base/bug.h"
#include "emit/program/layout.h"

typedef struct {
    uint32_t cell, node;
} Read;

typedef struct {
    Layout *l;
    Model *m;
    const Schedule *s;
    uint32_t *pre_of;   /* per variable: index in pres, or KOINE_NONE */
    uint32_t *guard_of; /* per variable: the level transition whose only condition it is, or KOINE_NONE */
    bool *moves;        /* per variable: defined by a moving block, or a state */
    VEC(KoineNode) nodes;
    VEC(Read) reads; /* (cell, node) */
    VEC(uint32_t) moving;
    KoineRelation *relations;
    KoineStep *steps;
    KoineTransition *transitions;
    KoineMixed *mixed;
    uint32_t *mixed_relations, n_mixed_relations;
    VEC(KoineNext) nexts;
    VEC(KoineAction) actions;
    VEC(KoinePre) pres;
    VEC(KoineOrigin) roots;
    VEC(uint32_t) root_owner, calendar_owner;
    Entries root_operands;
    Map writers;
    uint32_t n_writers;
    uint32_t n_calendar;
    TimeCodes *time_codes;
    double band;
} Events;

/* ---- cells ---- */
static uint32_t cell_of(const Events *e, Ref ref)
{
    const uint32_t n = e->m->variables.n;
    switch ((RefKind)ref.kind) {
    case REF_NOW: return ref.var.index;
    case REF_DER: return n + ref.var.index;
    case REF_PRE: return e->pre_of[ref.var.index] == KOINE_NONE ? KOINE_NONE : 2 * n + e->pre_of[ref.var.index];
    default: return KOINE_NONE;
    }
}

static uint32_t n_cells(const Events *e)
{
    return 2 * e->m->variables.n + e->pres.n;
}

static void list_pres(Events *e)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        e->pre_of[k] = KOINE_NONE;
        if (e->l->pre[k] == KOINE_NONE || variable_is_split(m, (VarId){ k }))
            continue;
        e->pre_of[k] = e->pres.n;
        const KoinePre pre = { .now = e->l->now[k],
                               .pre = e->l->pre[k],
                               .n = (uint32_t)variable_count(m, (VarId){ k }),
                               .variable = e->l->row_of[k],
                               .is_continuous = m->variables.at[k].variability == VARIABILITY_CONTINUOUS,
                               .start =
                                   (uint8_t)(m->variables.at[k].edge == EDGE_START_FALSE + 1     ? KOINE_PRE_FALSE
                                             : m->variables.at[k].edge == EDGE_START_CURRENT + 1 ? KOINE_PRE_CURRENT
                                                                                                 : KOINE_PRE_START) };
        vec_push(e->l->arena, &e->pres, pre);
    }
    for (uint32_t k = 0; k < e->pres.n; k++)
        e->pres.at[k].cell = 2 * m->variables.n + k;
}

static void find_moving(Events *e)
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
        const uint32_t n = b->kind == BLOCK_ASSIGN ? 1 : b->n_rows;
        for (uint32_t j = 0; j < n; j++) {
            const Ref ref = b->kind == BLOCK_ASSIGN ? term_refs(e->m, b->lhs)[b->lhs.shape->u.leaf]
                                                    : e->s->rows.at[b->first_row + j].unknown;
            e->moves[ref.var.index] |= ref.kind == REF_NOW;
        }
    }
}

/* ---- reads ---- */
static void read_term(Events *e, Term term, bool *is_moving)
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
                vec_push(e->l->arena, &e->reads, read);
        }
    }
}

static void read_selector(Events *e, RegionId region)
{
    const uint32_t cell = region.index == ID_NONE ? KOINE_NONE : e->m->regions.at[region.index].selector.index;
    const Read read = { cell, e->nodes.n - 1 };
    if (cell != KOINE_NONE)
        vec_push(e->l->arena, &e->reads, read);
}

static uint32_t selector_slot(const Events *e, RegionId region)
{
    return region.index == ID_NONE ? KOINE_NONE : e->l->now[e->m->regions.at[region.index].selector.index];
}

/* The term where the region's branch is selected, else 0: nothing is evaluated in a branch that is not chosen. */
static Term masked(Events *e, Term term, RegionId region, uint16_t branch)
{
    Model *m = e->m;
    if (region.index == ID_NONE)
        return term;
    TermBuilder builder = term_builder(m);
    const Expr *selector = term_leaf(&builder, ref_now(m->regions.at[region.index].selector));
    const Expr *inside = expr_literal_relation(m->pool, OP_EQ, selector, expr_integer(m->pool, branch));
    const Expr *own = term_import(&builder, term);
    return term_finish(&builder, expr_if(m->pool, inside, own, expr_real(m->pool, 0.0)));
}

static KoinePlace place_of(const Events *e, Span span)
{
    if (span.source == SOURCE_NONE)
        return (KoinePlace){ 0, 0, 0 };
    const LineColumn at = span_begin(e->m->sources, span);
    return (KoinePlace){ span.source, at.line, at.column };
}

/* The path of an instance that something in a run is reported of. */
static const char *path_of(Events *e, InstanceId instance)
{
    const char **path = &e->l->paths[instance.index];
    if (!*path)
        *path = instance_path(e->m, instance, e->l->arena);
    return *path;
}

static void add_root(Events *e, uint32_t owner, const char *text, InstanceId instance, Span span)
{
    vec_push(e->l->arena, &e->root_owner, owner);
    const KoineOrigin origin = { text, path_of(e, instance), place_of(e, span) };
    vec_push(e->l->arena, &e->roots, origin);
}

/* ---- nodes by kind ---- */
static KoineNode *add_node(Events *e, KoineNodeKind kind, uint32_t origin)
{
    const KoineNode node = { .kind = (uint8_t)kind, .origin = origin, .cell = KOINE_NONE, .variable = KOINE_NONE };
    vec_push(e->l->arena, &e->nodes, node);
    return &e->nodes.at[e->nodes.n - 1];
}

static void note_moving(Events *e, bool is_moving)
{
    e->nodes.at[e->nodes.n - 1].is_moving = is_moving;
    if (is_moving)
        vec_push(e->l->arena, &e->moving, e->nodes.n - 1);
}

static void add_assignment(Events *e, uint32_t index, const Block *b)
{
    const Ref target = term_refs(e->m, b->lhs)[b->lhs.shape->u.leaf];
    for (uint32_t k = e->l->first_piece[index]; k < e->l->first_piece[index + 1]; k++) {
        const Piece piece = e->l->pieces.at[k];
        const Kernel *kernel = &e->l->kernels.at[piece.kernel];
        e->l->kernels.at[piece.kernel].is_shared = true;
        const uint32_t guarded = e->guard_of[target.var.index];
        KoineNode *node = add_node(e, guarded == KOINE_NONE ? KOINE_NODE_ASSIGN : KOINE_NODE_GUARD, index);
        node->object = guarded;
        node->is_real = b->is_real;
        node->kernel = piece.kernel;
        node->row = piece.row;
        node->n = piece.n;
        node->output = e->l->rows.at[piece.row];
        node->stride = kernel->strides ? (uint32_t)kernel->strides[0] : 1;
        node->cell = cell_of(e, target);
        node->variable = e->l->row_of[target.var.index];
        bool is_moving = b->is_moving;
        read_term(e, b->rhs, &is_moving);
        note_moving(e, is_moving);
    }
}

static void add_system(Events *e, uint32_t index, const Block *b)
{
    KoineNode *node = add_node(e, KOINE_NODE_SYSTEM, index);
    node->object = e->l->system_of[index];
    uint32_t *cells = (uint32_t *)e->l->systems.at[node->object].cells; /* filled here, constant afterwards */
    bool is_moving = b->is_moving;
    Map own;
    map_init(&own, e->l->arena, b->n_rows);
    for (uint32_t k = 0; k < b->n_rows; k++) {
        const SystemRow *row = &e->s->rows.at[b->first_row + k];
        cells[system_place(b, k)] = cell_of(e, row->unknown);
        map_put(&own, (uint64_t)row->unknown.kind << 32 | row->unknown.var.index, k);
    }
    for (uint32_t k = 0; k < b->n_rows; k++) {
        const SystemRow *row = &e->s->rows.at[b->first_row + k];
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
                        vec_push(e->l->arena, &e->reads, read);
                }
            }
    }
    note_moving(e, is_moving);
}

/* The operands of a comparison or step function as a function of the time: then it has an entry in the calendar and no
 * root function, and is looked at again only when something that it reads beside the time changes. */
static uint32_t add_timed(Events *e, const Block *b, uint32_t owner, Term left, Term right)
{
    uint32_t n;
    const Term *inputs;
    const uint32_t timed = b->mixed ? KOINE_NONE : lay_time_function(e->time_codes, left, right, &n, &inputs);
    if (timed == KOINE_NONE)
        return KOINE_NONE;
    bool is_moving = false;
    for (uint32_t k = 0; k < n; k++)
        read_term(e, inputs[k], &is_moving);
    e->n_calendar++;
    vec_push(e->l->arena, &e->calendar_owner, owner);
    return timed;
}

/* Slot of the state that `side` is, if `other` is constant between events. */
static uint32_t state_compared(const Events *e, Term side, Term other)
{
    const Model *m = e->m;
    if (term_is_absent(side) || side.shape->kind != EXPR_LEAF || side.shape->n_args)
        return KOINE_NONE;
    const Ref ref = term_refs(m, side)[0];
    if (ref.kind != REF_NOW || model_var(m, ref.var)->definition != DEFINITION_DER || model_var(m, ref.var)->type.rank)
        return KOINE_NONE;
    for (uint32_t k = 0; k < other.shape->n_leaves; k++) {
        const Ref leaf = term_refs(m, other)[k];
        if (leaf.kind != REF_NOW || model_var(m, leaf.var)->variability > VARIABILITY_DISCRETE)
            return KOINE_NONE;
    }
    return e->l->now[ref.var.index];
}

static void add_relation(Events *e, uint32_t index, const Block *b)
{
    Layout *l = e->l;
    const Relation *r = &e->m->relations.at[b->object];
    KoineNode *node = add_node(e, KOINE_NODE_RELATION, index);
    node->object = b->object;
    node->cell = r->bit.index;
    KoineRelation *out = &e->relations[b->object];
    *out = (KoineRelation){ .is_strict = r->is_strict,
                            .is_guarded = r->is_guarded,
                            .is_joint = r->is_joint,
                            .is_time = r->kind == RELATION_TIME,
                            .bit = l->now[r->bit.index],
                            .cell = r->bit.index,
                            .state = state_compared(e, r->left, r->right),
                            .selector = selector_slot(e, r->region),
                            .branch = r->branch,
                            .root = KOINE_NONE,
                            .calendar = KOINE_NONE,
                            .timed = KOINE_NONE,
                            .node = e->nodes.n - 1,
                            .mixed = b->mixed ? b->mixed - 1 : KOINE_NONE,
                            .band = e->band,
                            .origin = index };
    const uint32_t slots[2] = { take_slots(l, 1), take_slots(l, 1) };
    bool is_moving = false;
    path_of(e, r->owner);
    l->comparisons[b->object] = relation_text(e->m, r, l->arena);
    if (out->state == KOINE_NONE)
        out->state = state_compared(e, r->right, r->left);
    if (out->is_time) {
        const Term terms[] = { masked(e, r->slope, r->region, r->branch), masked(e, r->flip, r->region, r->branch) };
        const Piece piece = lay_terms(l, 2, terms, slots);
        out->kernel = piece.kernel;
        out->row = piece.row;
        out->slope = slots[0];
        out->flip = slots[1];
        out->calendar = e->n_calendar++;
        vec_push(l->arena, &e->calendar_owner, b->object);
        read_term(e, r->slope, &is_moving);
        read_term(e, r->flip, &is_moving);
    } else {
        const Term terms[] = { masked(e, r->left, r->region, r->branch), masked(e, r->right, r->region, r->branch) };
        const Piece piece = lay_terms(l, 2, terms, slots);
        out->kernel = piece.kernel;
        out->row = piece.row;
        out->left = slots[0];
        out->right = slots[1];
        out->timed = add_timed(e, b, b->object, r->left, r->right);
    }
    if (out->timed != KOINE_NONE) {
        out->calendar = e->n_calendar - 1;
    } else if (!out->is_time) {
        out->root = e->roots.n;
        add_root(e, b->object, l->comparisons[b->object], r->owner, r->origin.span);
        add_entry(l, &e->root_operands, (Piece){ out->kernel, out->row, 1 }, index, r->origin.span);
        read_term(e, r->left, &is_moving);
        read_term(e, r->right, &is_moving);
        is_moving = true; /* a root function watches it: look again at every instant */
    }
    l->kernels.at[out->kernel].is_shared = true;
    read_selector(e, r->region);
    note_moving(e, is_moving);
}

static void add_step(Events *e, uint32_t index, const Block *b)
{
    Layout *l = e->l;
    const StepFunction *f = &e->m->steps.at[b->object];
    KoineNode *node = add_node(e, KOINE_NODE_STEP, index);
    node->object = b->object;
    node->cell = f->value.index;
    KoineStep *out = &e->steps[b->object];
    *out = (KoineStep){ .op = f->op,
                        .table = f->table ? f->table->data[0] : NULL,
                        .is_guarded = f->is_guarded,
                        .is_time = f->kind == RELATION_TIME,
                        .value = l->now[f->value.index],
                        .cell = f->value.index,
                        .selector = selector_slot(e, f->region),
                        .branch = f->branch,
                        .root = KOINE_NONE,
                        .calendar = KOINE_NONE,
                        .timed = KOINE_NONE,
                        .node = e->nodes.n - 1,
                        .mixed = b->mixed ? b->mixed - 1 : KOINE_NONE,
                        .band = e->band,
                        .origin = index };
    bool is_moving = false;
    const uint32_t slots[2] = { take_slots(l, 1), take_slots(l, 1) };
    path_of(e, f->owner);
    Piece piece;
    if (out->is_time) {
        const Term terms[] = { masked(e, f->slope, f->region, f->branch), masked(e, f->offset, f->region, f->branch) };
        piece = lay_terms(l, 2, terms, slots);
        out->slope = slots[0];
        out->offset = slots[1];
        out->calendar = e->n_calendar++;
        vec_push(l->arena, &e->calendar_owner, e->m->relations.n + b->object);
        read_term(e, f->slope, &is_moving);
        read_term(e, f->offset, &is_moving);
    } else {
        const Term term = masked(e, f->argument, f->region, f->branch);
        piece = lay_terms(l, 1, &term, slots);
        out->argument = slots[0];
        out->timed = add_timed(e, b, e->m->relations.n + b->object, f->argument, TERM_NONE);
    }
    if (out->timed != KOINE_NONE) {
        out->calendar = e->n_calendar - 1;
    } else if (!out->is_time) {
        out->root = e->roots.n;
        const char *text = term_text(e->m, f->argument, l->arena);
        const uint32_t owner = e->m->relations.n + b->object;
        add_root(e, owner, arena_format(l->arena, "step of %s downwards", text), f->owner, f->origin.span);
        add_root(e, owner, arena_format(l->arena, "step of %s upwards", text), f->owner, f->origin.span);
        add_entry(l, &e->root_operands, piece, index, f->origin.span);
        read_term(e, f->argument, &is_moving);
        is_moving = true;
    }
    out->kernel = piece.kernel;
    out->row = piece.row;
    l->kernels.at[out->kernel].is_shared = true;
    read_selector(e, f->region);
    note_moving(e, is_moving);
}

static void add_next(Events *e, const Assignment *a, uint32_t number)
{
    Layout *l = e->l;
    Model *m = e->m;
    const Ref target = term_refs(m, a->target)[a->target.shape->u.leaf];
    ElementMap map;
    REQUIRE(element_map(m, a->target.shape, term_refs(m, a->target), (DomainId){ 0 }, &map));
    const uint32_t slot = (uint32_t)(l->now[target.var.index] + map.base);
    KoineNext next = { .guard = KOINE_NONE,
                       .buffer = take_slots(l, 1),
                       .target = slot,
                       .cell = target.var.index,
                       .pre = e->pre_of[target.var.index],
                       .is_state = model_var(m, target.var)->definition == DEFINITION_DER,
                       .is_real = model_var(m, target.var)->type.kind == TYPE_REAL,
                       .origin = e->s->blocks.n + number,
                       .variable = l->row_of[target.var.index] };
    if (!map_get(&e->writers, slot, &next.writer)) {
        next.writer = e->n_writers++;
        map_put(&e->writers, slot, next.writer);
    }
    Piece piece;
    if (term_is_absent(a->guard)) {
        piece = lay_terms(l, 1, &a->value, &next.buffer);
    } else {
        next.guard = take_slots(l, 1);
        TermBuilder builder = term_builder(m);
        const Expr *guard = term_import(&builder, a->guard), *value = term_import(&builder, a->value);
        const Expr *kept = a->target.shape->n_args ? term_import(&builder, a->target) : term_leaf(&builder, target);
        const Term terms[] = { a->guard, term_finish(&builder, expr_if(m->pool, guard, value, kept)) };
        const uint32_t slots[] = { next.guard, next.buffer };
        piece = lay_terms(l, 2, terms, slots);
    }
    next.kernel = piece.kernel;
    next.row = piece.row;
    l->kernels.at[piece.kernel].is_shared = true;
    vec_push(l->arena, &e->nexts, next);
}

static void add_action(Events *e, const Action *a)
{
    static const uint8_t kinds[] = { [ACTION_DISPLAY] = KOINE_ACTION_DISPLAY,
                                     [ACTION_TERMINATE] = KOINE_ACTION_TERMINATE,
                                     [ACTION_WARNING] = KOINE_ACTION_WARNING };
    Layout *l = e->l;
    Model *m = e->m;
    const uint32_t n = a->n_args + 1;
    Term *terms = NEW_ARRAY(l->arena, Term, n);
    uint32_t *slots = NEW_ARRAY(l->arena, uint32_t, n);
    uint8_t *types = NEW_ARRAY(l->arena, uint8_t, n);
    terms[0] = term_is_absent(a->guard) ? term_boolean(m, true) : a->guard;
    slots[0] = take_slots(l, 1);
    for (uint32_t k = 1; k < n; k++) {
        terms[k] = m->conditions.at[a->first_arg + k - 1];
        slots[k] = take_slots(l, 1);
        types[k - 1] = terms[k].shape->type.kind;
    }
    const Piece piece = lay_terms(l, n, terms, slots);
    l->kernels.at[piece.kernel].is_shared = true;
    const KoineAction action = { .kind = kinds[a->kind],
                                 .format = names_of(pool_names(m->pool), a->text),
                                 .kernel = piece.kernel,
                                 .row = piece.row,
                                 .guard = slots[0],
                                 .n_args = a->n_args,
                                 .args = slots + 1,
                                 .types = types };
    vec_push(l->arena, &e->actions, action);
}

/* The generated variable that is the only condition of a level transition: its node enables the transition itself. */
static uint32_t guard_variable(const Events *e, const Transition *t)
{
    if (t->trigger != TRIGGER_LEVEL || t->n_conditions != 1)
        return KOINE_NONE;
    const VarId v = term_refs(e->m, e->m->conditions.at[t->first_condition])[0].var;
    return e->guard_of[v.index] != KOINE_NONE ? v.index : KOINE_NONE;
}

static void find_guards(Events *e)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < m->variables.n; k++)
        e->guard_of[k] = KOINE_NONE;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        if (t->trigger != TRIGGER_LEVEL || t->n_conditions != 1)
            continue;
        const Term condition = m->conditions.at[t->first_condition];
        const VarId v = term_refs(m, condition)[0].var;
        if (model_var(m, v)->is_condition && e->l->pre[v.index] == KOINE_NONE)
            e->guard_of[v.index] = k;
    }
}

static void add_transition(Events *e, uint32_t index, const Block *b)
{
    static const uint8_t triggers[] = { [TRIGGER_LEVEL] = KOINE_TRIGGER_LEVEL,
                                        [TRIGGER_EDGE] = KOINE_TRIGGER_EDGE,
                                        [TRIGGER_INITIAL] = KOINE_TRIGGER_INITIAL,
                                        [TRIGGER_STEP] = KOINE_TRIGGER_STEP };
    Layout *l = e->l;
    Model *m = e->m;
    const Transition *t = &m->transitions.at[b->object];
    const bool is_merged = t->n_conditions == 1 && guard_variable(e, t) != KOINE_NONE;
    path_of(e, t->owner);
    if (!is_merged)
        add_node(e, KOINE_NODE_TRANSITION, index)->object = b->object;
    uint32_t *conditions = NEW_ARRAY(l->arena, uint32_t, t->n_conditions + 1);
    uint32_t *before = NEW_ARRAY(l->arena, uint32_t, t->n_conditions + 1);
    bool is_moving = false;
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        const Term condition = m->conditions.at[t->first_condition + k];
        const VarId v = term_refs(m, condition)[0].var;
        conditions[k] = l->now[v.index];
        before[k] = t->trigger == TRIGGER_EDGE ? l->pre[v.index] : KOINE_NONE;
        if (!is_merged)
            read_term(e, condition, &is_moving);
        const Read read = { cell_of(e, ref_pre(v)), e->nodes.n - 1 };
        if (t->trigger == TRIGGER_EDGE)
            vec_push(l->arena, &e->reads, read);
    }
    KoineTransition *out = &e->transitions[b->object];
    *out = (KoineTransition){ .trigger = triggers[t->trigger],
                              .n_conditions = t->n_conditions,
                              .conditions = conditions,
                              .before = before,
                              .first_next = e->nexts.n,
                              .first_action = e->actions.n,
                              .origin = index };
    for (uint32_t k = 0; k < t->n_assignments; k++)
        add_next(e, &m->assignments.at[t->first_assignment + k], t->first_assignment + k);
    out->n_next = e->nexts.n - out->first_next;
    for (uint32_t k = 0; k < t->n_actions; k++)
        add_action(e, &m->actions.at[t->first_action + k]);
    out->n_actions = e->actions.n - out->first_action;
}

/* The block has the nodes from `first_node` on. Blocks of a group stand together, so do its nodes. */
static void note_mixed(Events *e, const Block *b, uint32_t first_node)
{
    KoineMixed *g = &e->mixed[b->mixed - 1];
    if (g->n_nodes == 0) {
        g->first_node = first_node;
        g->relations = e->mixed_relations + e->n_mixed_relations;
    }
    g->n_nodes = e->nodes.n - g->first_node;
    if (b->kind == BLOCK_RELATION) {
        e->mixed_relations[e->n_mixed_relations++] = b->object;
        g->n_relations++;
    }
    g->n_steps += b->kind == BLOCK_STEP;
}

static void add_block(Events *e, uint32_t index)
{
    const Block *b = &e->s->blocks.at[index];
    const uint32_t first_node = e->nodes.n;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: add_assignment(e, index, b); break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE: add_system(e, index, b); break;
    case BLOCK_RELATION: add_relation(e, index, b); break;
    case BLOCK_STEP: add_step(e, index, b); break;
    case BLOCK_TRANSITION: add_transition(e, index, b); break;
    }
    if (b->mixed)
        note_mixed(e, b, first_node);
}

/* The nodes that define the conditions of transitions that are tested after steps. */
static void list_step_conditions(Events *e)
{
    const Model *m = e->m;
    VEC(uint32_t) found = { 0 };
    bool *is_tested = NEW_ARRAY(e->l->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->trigger == TRIGGER_STEP && j < t->n_conditions; j++)
            is_tested[term_refs(m, m->conditions.at[t->first_condition + j])[0].var.index] = true;
    }
    for (uint32_t k = 0; k < e->nodes.n; k++)
        if (e->nodes.at[k].kind == KOINE_NODE_ASSIGN && e->nodes.at[k].cell < m->variables.n &&
            is_tested[e->nodes.at[k].cell])
            vec_push(e->l->arena, &found, k);
    e->l->data.step_conditions = found.at;
    e->l->data.n_step_conditions = found.n;
}

/* ---- tables ---- */
static void fill_readers(Events *e)
{
    Layout *l = e->l;
    const uint32_t n = n_cells(e);
    uint32_t *start = NEW_ARRAY(l->arena, uint32_t, n + 2), *readers = NEW_ARRAY(l->arena, uint32_t, e->reads.n + 1);
    for (uint32_t k = 0; k < e->reads.n; k++)
        start[e->reads.at[k].cell + 2]++;
    for (uint32_t k = 1; k <= n; k++)
        start[k + 1] += start[k];
    for (uint32_t k = 0; k < e->reads.n; k++) /* start[c + 1] runs from the begin of cell c to its end */
        readers[start[e->reads.at[k].cell + 1]++] = e->reads.at[k].node;
    l->data.readers_start = start;
    l->data.readers = readers;
    l->data.n_cells = n;
}

static void note_feeding(Events *e, Term term, uint8_t *feeds)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(e->m, term)[k];
        const Holders holders = ref_holders(e->m, ref);
        for (uint32_t j = 0; j < holders.n; j++) {
            const uint32_t cell = cell_of(e, (Ref){ { holders.first + j }, ref.kind });
            if (cell != KOINE_NONE && !(ref.kind == REF_NOW && e->moves[holders.first + j]))
                feeds[cell] = 1;
        }
    }
}

static void fill_feeding(Events *e)
{
    Layout *l = e->l;
    uint8_t *feeds = NEW_ARRAY(l->arena, uint8_t, n_cells(e) + 1);
    for (uint32_t k = 0; k < e->s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &e->s->blocks.at[e->s->parts[PART_DERIVATIVES].at[k]];
        note_feeding(e, b->rhs, feeds);
        for (uint32_t j = 0; b->kind != BLOCK_ASSIGN && j < b->n_rows; j++) {
            note_feeding(e, e->s->rows.at[b->first_row + j].lhs, feeds);
            note_feeding(e, e->s->rows.at[b->first_row + j].rhs, feeds);
        }
    }
    for (uint32_t k = 0; k < e->s->blocks.n; k++) { /* derivatives that change at events only */
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && !b->is_moving && term_refs(e->m, b->lhs)[b->lhs.shape->u.leaf].kind == REF_DER)
            feeds[cell_of(e, term_refs(e->m, b->lhs)[b->lhs.shape->u.leaf])] = 1;
    }
    l->data.feeds_dynamics = feeds;
    for (uint32_t k = 0; k < e->nexts.n; k++)
        e->nexts.at[k].feeds_dynamics = feeds[e->nexts.at[k].cell];
    uint32_t *cell_pre = NEW_ARRAY(l->arena, uint32_t, n_cells(e) + 1);
    for (uint32_t k = 0; k < n_cells(e); k++)
        cell_pre[k] = k < e->m->variables.n ? e->pre_of[k] : KOINE_NONE;
    l->data.cell_pre = cell_pre;
}

/* ---- flips that can be without consequences ---- */
static void mark(const Model *m, Term term, bool *is_loud)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++)
        if (term_refs(m, term)[k].kind == REF_NOW)
            is_loud[term_refs(m, term)[k].var.index] = true;
}

/* A bit is loud if more than discrete scalar nodes of the event graph read it: what moves, systems, other relations. */
static void mark_loud(const Events *e, bool *is_loud)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < e->s->blocks.n; k++) {
        const Block *b = &e->s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && (b->is_moving || !b->is_eager || b->domain.index))
            mark(m, b->rhs, is_loud);
        for (uint32_t j = 0; j < b->n_rows; j++) {
            mark(m, e->s->rows.at[b->first_row + j].lhs, is_loud);
            mark(m, e->s->rows.at[b->first_row + j].rhs, is_loud);
        }
    }
    for (uint32_t k = 0; k < m->relations.n; k++) {
        const Relation *r = &m->relations.at[k];
        const Term terms[] = { r->left, r->right, r->slope, r->flip };
        for (uint32_t j = 0; j < 4; j++)
            mark(m, terms[j], is_loud);
    }
    for (uint32_t k = 0; k < m->steps.n; k++) {
        const StepFunction *f = &m->steps.at[k];
        const Term terms[] = { f->argument, f->slope, f->offset };
        for (uint32_t j = 0; j < 3; j++)
            mark(m, terms[j], is_loud);
    }
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        mark(m, m->assignments.at[k].guard, is_loud);
        mark(m, m->assignments.at[k].value, is_loud);
    }
}

static void find_quiet(Events *e)
{
    bool *is_loud = NEW_ARRAY(e->l->arena, bool, e->m->variables.n + 1);
    mark_loud(e, is_loud);
    for (uint32_t k = 0; k < e->m->relations.n; k++) {
        KoineRelation *r = &e->relations[k];
        bool is_quiet = r->root != KOINE_NONE && !is_loud[r->cell] && e->pre_of[r->cell] == KOINE_NONE;
        for (uint32_t j = e->l->data.readers_start[r->cell]; is_quiet && j < e->l->data.readers_start[r->cell + 1];
             j++) {
            const KoineNode *node = &e->nodes.at[e->l->data.readers[j]];
            is_quiet = (node->kind == KOINE_NODE_ASSIGN || node->kind == KOINE_NODE_GUARD) && node->n == 1;
        }
        r->may_be_quiet = is_quiet;
    }
}

enum { REACHES_TRANSITION = 1, REACHES_DYNAMICS = 2 };

/* Whether a change of what the node defines can reach a transition, or the derivatives, without another relation or
 * step function between. `below` says so of the cells that later nodes define,
 * `below_system` of systems. */
static uint8_t reached_from(const Events *e, uint32_t cell, const uint8_t *below, const uint8_t *below_system)
{
    const KoineProgram *p = &e->l->data;
    uint8_t found = (uint8_t)(below[cell] | (p->feeds_dynamics[cell] ? REACHES_DYNAMICS : 0));
    if (p->cell_pre[cell] != KOINE_NONE) /* its earlier value is read: by whom is not followed */
        found |= REACHES_TRANSITION;
    for (uint32_t k = p->readers_start[cell]; k < p->readers_start[cell + 1]; k++) {
        const KoineNode *reader = &e->nodes.at[p->readers[k]];
        if (reader->kind == KOINE_NODE_TRANSITION || reader->kind == KOINE_NODE_GUARD)
            found |= REACHES_TRANSITION;
        else if (reader->kind == KOINE_NODE_ASSIGN && reader->cell != KOINE_NONE)
            found |= below[reader->cell];
        if (reader->kind == KOINE_NODE_SYSTEM)
            found |= below_system[reader->object];
    }
    return found;
}

/* Relations that only select what is integrated: on a time grid these are crossed in a way of their own. */
static void fill_root_regions(Events *e)
{
    Layout *l = e->l;
    uint8_t *below = NEW_ARRAY(l->arena, uint8_t, n_cells(e) + 1),
            *below_system = NEW_ARRAY(l->arena, uint8_t, l->systems.n + 1),
            *regions = NEW_ARRAY(l->arena, uint8_t, e->roots.n + 1);
    for (uint32_t k = e->nodes.n; k-- > 0;) {
        const KoineNode *node = &e->nodes.at[k];
        if (node->kind == KOINE_NODE_SYSTEM) {
            const KoineSystem *system = &l->systems.at[node->object];
            for (uint32_t j = 0; j < system->n + system->n_inner; j++) {
                below[system->cells[j]] = reached_from(e, system->cells[j], below, below_system);
                below_system[node->object] |= below[system->cells[j]];
            }
        } else if (node->cell != KOINE_NONE) {
            below[node->cell] = reached_from(e, node->cell, below, below_system);
        }
    }
    for (uint32_t k = 0; k < e->roots.n; k++) {
        const uint32_t owner = e->root_owner.at[k], n = e->m->relations.n;
        regions[k] = below[owner < n ? e->relations[owner].cell : e->steps[owner - n].cell] == REACHES_DYNAMICS;
    }
    l->tables.root_regions = regions;
}

/* Comparisons of a state with what is constant between events: between the ends of a step they move as it does. */
static void fill_root_states(Events *e)
{
    Layout *l = e->l;
    uint32_t *states = NEW_ARRAY(l->arena, uint32_t, e->roots.n + 1);
    for (uint32_t k = 0; k < e->roots.n; k++) {
        const uint32_t owner = e->root_owner.at[k];
        const uint32_t slot = owner < e->m->relations.n ? e->relations[owner].state : KOINE_NONE;
        const bool is_state = slot != KOINE_NONE && slot >= l->data.x && slot - l->data.x < l->data.n_x;
        states[k] = is_state ? 1 + slot - l->data.x : 0;
    }
    l->tables.root_states = states;
}

static void fill_roots(Events *e)
{
    Layout *l = e->l;
    l->data.n_roots = e->roots.n;
    l->tables.roots = e->roots.at;
    fill_root_states(e);
    if (e->roots.n) /* functions of the time alone need nothing here */
        lay_roots(l, &e->root_operands);
}

static void fill_checks(Events *e)
{
    Layout *l = e->l;
    VEC(uint32_t) checks = { 0 };
    for (uint32_t k = 0; k < e->s->parts[PART_OUTPUTS].n; k++) {
        const uint32_t index = e->s->parts[PART_OUTPUTS].at[k];
        if (!e->s->blocks.at[index].is_real)
            continue;
        for (uint32_t j = l->first_piece[index]; j < l->first_piece[index + 1]; j++) {
            const Piece piece = l->pieces.at[j];
            const Kernel *kernel = &l->kernels.at[piece.kernel];
            for (uint32_t i = 0; i < piece.n; i++) {
                vec_push(l->arena, &checks,
                         l->rows.at[piece.row] + i * (kernel->strides ? (uint32_t)kernel->strides[0] : 0));
                vec_push(l->arena, &checks, index);
            }
        }
    }
    l->data.finite_checks = checks.at;
    l->data.n_finite_checks = checks.n / 2;
}

/* Those whose output moves come first. */
static void fill_delays(Events *e)
{
    Layout *l = e->l;
    const Model *m = e->m;
    KoineDelay *rows = NEW_ARRAY(l->arena, KoineDelay, m->delays.n + 1);
    for (int moving = 1; moving >= 0; moving--) {
        for (uint32_t k = 0; k < m->delays.n; k++) {
            const Delay *d = &m->delays.at[k];
            if (e->moves[d->output.index] != (moving == 1))
                continue;
            rows[l->data.n_delays++] = (KoineDelay){ .output = slot_of(l, ref_now(d->output)),
                                                     .input = slot_of(l, term_refs(m, d->input)[0]),
                                                     .amount = slot_of(l, term_refs(m, d->amount)[0]),
                                                     .cell = cell_of(e, ref_now(d->output)),
                                                     .has_start = !term_is_absent(model_var(m, d->output)->start),
                                                     .name = variable_path(m, d->output, l->arena) };
        }
        if (moving)
            l->data.n_moving_delays = l->tables.n_signals = l->data.n_delays;
    }
    l->data.delays = rows;
}

static void fill_streams(Layout *l)
{
    const Model *m = l->model;
    KoineStream *rows = NEW_ARRAY(l->arena, KoineStream, m->streams.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->streams.n; k++) {
        const Stream *s = &m->streams.at[k];
        if (var_is_none(s->count))
            continue; /* drawn from once, at the start */
        rows[n++] = (KoineStream){ slot_of(l, ref_now(s->count)), variable_path(m, s->count, l->arena) };
    }
    l->data.streams = rows;
    l->data.n_streams = n;
}

void lay_events(Layout *l)
{
    const uint32_t n = l->model->variables.n + 1;
    Events e = { .l = l,
                 .m = l->model,
                 .s = l->schedule,
                 .pre_of = NEW_ARRAY(l->arena, uint32_t, n),
                 .guard_of = NEW_ARRAY(l->arena, uint32_t, n),
                 .moves = NEW_ARRAY(l->arena, bool, n),
                 .relations = NEW_ARRAY(l->arena, KoineRelation, l->model->relations.n + 1),
                 .steps = NEW_ARRAY(l->arena, KoineStep, l->model->steps.n + 1),
                 .transitions = NEW_ARRAY(l->arena, KoineTransition, l->model->transitions.n + 1),
                 .mixed = NEW_ARRAY(l->arena, KoineMixed, l->schedule->n_mixed + 1),
                 .mixed_relations = NEW_ARRAY(l->arena, uint32_t, l->model->relations.n + 1),
                 .band = 16 * 2.220446049250313e-16 };
    l->paths = NEW_ARRAY(l->arena, const char *, l->model->instances.n + 1);
    l->comparisons = NEW_ARRAY(l->arena, const char *, l->model->relations.n + 1);
    e.time_codes = time_codes_create(l, e.moves);
    map_init(&e.writers, l->arena, 64);
    for (uint32_t k = 0; k < l->schedule->parts[PART_ROOTS].n; k++) { /* operands are as exact as the iteration */
        const BlockKind kind = l->schedule->blocks.at[l->schedule->parts[PART_ROOTS].at[k]].kind;
        if (kind == BLOCK_NEWTON || kind == BLOCK_ITERATE)
            e.band = 1e-9;
    }
    list_pres(&e);
    find_guards(&e);
    find_moving(&e);
    for (uint32_t k = 0; k < l->schedule->parts[PART_EVENT].n; k++)
        add_block(&e, l->schedule->parts[PART_EVENT].at[k]);
    list_step_conditions(&e);
    fill_readers(&e);
    find_quiet(&e);
    fill_feeding(&e);
    fill_roots(&e);
    fill_root_regions(&e);
    fill_checks(&e);
    fill_delays(&e);
    fill_streams(l);
    l->data.nodes = e.nodes.at;
    l->data.n_nodes = e.nodes.n;
    l->data.moving = e.moving.at;
    l->data.n_moving = e.moving.n;
    l->data.relations = e.relations;
    l->data.n_relations = l->model->relations.n;
    l->data.steps = e.steps;
    l->data.n_steps = l->model->steps.n;
    l->data.transitions = e.transitions;
    l->data.n_transitions = l->model->transitions.n;
    l->data.nexts = e.nexts.at;
    l->data.n_nexts = e.nexts.n;
    l->data.actions = e.actions.at;
    l->data.n_actions = e.actions.n;
    l->data.pres = e.pres.at;
    l->data.n_pres = e.pres.n;
    l->data.systems = l->systems.at;
    l->data.n_systems = l->systems.n;
    l->data.mixed = e.mixed;
    l->data.n_mixed = l->schedule->n_mixed;
    l->data.n_calendar = e.n_calendar;
    lay_sources(e.time_codes);
    time_codes_finish(e.time_codes);
    l->data.calendar_owner = e.calendar_owner.at;
    l->data.root_owner = e.root_owner.at;
    l->data.n_writers = e.n_writers;
    l->data.explain = explain_fault;
    l->data.matters = fault_matters;
    l->data.locate = locate_origin;
    l->data.describe = describe_row;
    l->data.blame = blame_system;
    l->data.attribute = attribute_work;
    l->data.explain_context = l;
}
