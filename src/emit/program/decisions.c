/* Comparisons and step functions: their nodes, root functions and entries of the calendar; see event_layout.h. */
#include "emit/program/event_layout.h"
#include "base/text.h"

/* The number of a step function's operation is copied into the tables: both sides must count alike. */
_Static_assert((int)STEP_FLOOR == (int)KOINE_STEP_FLOOR && (int)STEP_CEIL == (int)KOINE_STEP_CEIL &&
                   (int)STEP_TRUNC == (int)KOINE_STEP_TRUNC && (int)STEP_ROUND == (int)KOINE_STEP_ROUND &&
                   (int)STEP_INTERVAL == (int)KOINE_STEP_INTERVAL,
               "StepOp is not KoineStepOp");

static uint32_t selector_slot(const EventLayout *e, RegionId region)
{
    return region.index == ID_NONE ? KOINE_NONE : e->ks->slots->now[e->m->regions.at[region.index].selector.index];
}

/* The term where the region's branch is selected, else 0: nothing is evaluated in a branch that is not chosen. */
static Term masked(EventLayout *e, Term term, RegionId region, uint16_t branch)
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

static KoinePlace place_of(const EventLayout *e, Span span)
{
    if (span.source == SOURCE_NONE)
        return (KoinePlace){ 0, 0, 0 };
    const LineColumn at = span_begin(e->m->sources, span);
    return (KoinePlace){ span.source, at.line, at.column };
}

static void add_root(EventLayout *e, uint32_t owner, const char *text, InstanceId instance, Span span)
{
    vec_push(e->ks->arena, &e->decisions.root_owner, owner);
    const KoineOrigin origin = { text, path_of(e, instance), place_of(e, span) };
    vec_push(e->ks->arena, &e->decisions.roots, origin);
}

/* The operands of a comparison or step function as a function of the time: then it has an entry in the calendar and no
 * root function, and is looked at again only when something that it reads beside the time changes. */
static uint32_t add_timed(EventLayout *e, const Block *b, uint32_t owner, Term left, Term right)
{
    uint32_t n;
    const Term *inputs;
    const uint32_t timed = b->mixed ? KOINE_NONE : lay_time_function(e->decisions.time_codes, left, right, &n, &inputs);
    if (timed == KOINE_NONE)
        return KOINE_NONE;
    bool is_moving = false;
    for (uint32_t k = 0; k < n; k++)
        read_term(e, inputs[k], &is_moving);
    e->decisions.n_calendar++;
    vec_push(e->ks->arena, &e->decisions.calendar_owner, owner);
    return timed;
}

/* Slot of the state that `side` is, if `other` is constant between events. */
static uint32_t state_compared(const EventLayout *e, Term side, Term other)
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
    return e->ks->slots->now[ref.var.index];
}

/* Of the last node: what decides the variable `decided`; found by nothing yet. */
static KoineDecision begin_decision(const EventLayout *e, uint32_t index, const Block *b, VarId decided,
                                    RegionId region, int32_t branch)
{
    return (KoineDecision){ .cell = decided.index,
                            .node = e->nodes.n - 1,
                            .selector = selector_slot(e, region),
                            .branch = branch,
                            .root = KOINE_NONE,
                            .calendar = KOINE_NONE,
                            .timed = KOINE_NONE,
                            .mixed = b->mixed ? b->mixed - 1 : KOINE_NONE,
                            .band = e->decisions.band,
                            .origin = index };
}

/* It compares with the begin or end of a piece that a delay reads. */
static bool is_border(const EventLayout *e, Term term)
{
    const Model *m = e->m;
    bool found = false;
    for (uint32_t j = 0; j < m->delays.n; j++)
        for (uint32_t k = 0; term.shape && k < term.shape->n_leaves && !var_is_none(m->delays.at[j].since); k++) {
            const Holders since = ref_holders(m, ref_now(m->delays.at[j].since));
            const Holders until = ref_holders(m, ref_now(m->delays.at[j].until));
            const uint32_t var = term_refs(m, term)[k].var.index;
            found |= var - since.first < since.n || var - until.first < until.n;
        }
    return found;
}

/* ---- relations over a domain ---- */
/* state_compared at a point, for an element of a state. */
static uint32_t element_compared(const EventLayout *e, Term side, Term other, DomainId domain, const EventPoint *p)
{
    const Model *m = e->m;
    ElementMap map;
    if (side.shape->kind != EXPR_LEAF || !element_map(m, side.shape, term_refs(m, side), domain, &map))
        return KOINE_NONE;
    const Ref ref = term_refs(m, side)[0];
    if (ref.kind != REF_NOW || model_var(m, ref.var)->definition != DEFINITION_DER)
        return KOINE_NONE;
    for (uint32_t k = 0; k < other.shape->n_leaves; k++) {
        const Ref leaf = term_refs(m, other)[k];
        if (leaf.kind != REF_NOW || model_var(m, leaf.var)->variability > VARIABILITY_DISCRETE)
            return KOINE_NONE;
    }
    const Holders holders = ref_holders(m, ref);
    return e->ks->slots->now[holders.first] + (uint32_t)element_at(&map, p);
}

/* "x[i] > 1.0, i = 5" */
static const char *text_at(const EventLayout *e, const char *text, const EventPoint *p)
{
    const Model *m = e->m;
    Text at = { .arena = e->ks->arena };
    text_add(&at, text);
    for (uint32_t k = 0; k < p->domain->n; k++) {
        const Iterator *i = &m->iterators.at[p->domain->first + k];
        const char *name = names_of(pool_names(m->pool), i->name);
        if (*name)
            text_format(&at, ", %s = ", name);
        else
            text_format(&at, ", i%u = ", k + 1);
        text_format(&at, "%lld", (long long)(i->first + p->j[k] * i->stride));
    }
    return at.at;
}

typedef struct { /* a relation over a domain */
    const Relation *relation;
    uint32_t slots[2]; /* of the first point: the operands, or slope and time of the flip */
    Piece piece;
    uint32_t width; /* of a row of the piece */
    PointReads reads;
    EventPoint point;
} RelationLayout;

static RelationLayout lay_relation(EventLayout *e, const Relation *r)
{
    Kernels *ks = e->ks;
    const bool is_time = r->kind == RELATION_TIME;
    const uint32_t n = (uint32_t)domain_count(e->m, r->domain);
    const Term terms[] = { is_time ? r->slope : r->left, is_time ? r->flip : r->right };
    RelationLayout layout = { .relation = r, .point = event_point(e, r->domain) };
    layout.slots[0] = take_slots(ks, n);
    layout.slots[1] = take_slots(ks, n);
    layout.piece = lay_terms_over(ks, 2, terms, layout.slots, r->domain);
    layout.width = 2 + ks->kernels.at[layout.piece.kernel].n_leaves;
    ks->kernels.at[layout.piece.kernel].is_shared = true;
    list_point_reads(e, &layout.reads, terms[0], r->domain);
    list_point_reads(e, &layout.reads, terms[1], r->domain);
    return layout;
}

/* Where the relation of a point is found: in the calendar, or by a root function of the operands. */
static void watch_point(EventLayout *e, uint32_t index, const RelationLayout *layout, uint32_t row, const char *text)
{
    const Relation *r = layout->relation;
    const uint32_t k = layout->point.number;
    KoineRelation *out = &e->decisions.relations[row];
    if (r->kind == RELATION_TIME) {
        out->decision.is_time = true;
        out->decision.slope = layout->slots[0] + k;
        out->flip = layout->slots[1] + k;
        out->decision.calendar = e->decisions.n_calendar++;
        vec_push(e->ks->arena, &e->decisions.calendar_owner, row);
        out->state = KOINE_NONE;
        return;
    }
    out->left = layout->slots[0] + k;
    out->right = layout->slots[1] + k;
    out->state = element_compared(e, r->left, r->right, r->domain, &layout->point);
    if (out->state == KOINE_NONE)
        out->state = element_compared(e, r->right, r->left, r->domain, &layout->point);
    out->decision.root = e->decisions.roots.n;
    add_root(e, row, text_at(e, text, &layout->point), r->owner, r->origin.span);
    add_entry(e->ks, &e->decisions.root_operands, (Piece){ layout->piece.kernel, out->decision.row, 1 }, index,
              r->origin.span);
}

/* A row for each point. Unless transitions over ranges give every bit a cell of its own, all write and define one, the
 * array of their bits. */
static void add_relations(EventLayout *e, uint32_t index, const Block *b)
{
    const Relation *r = &e->m->relations.at[b->u.object];
    const uint32_t n = (uint32_t)domain_count(e->m, r->domain), first = e->decisions.first_row[b->u.object];
    RelationLayout layout = lay_relation(e, r);
    const char *text = relation_text(e->m, r, e->ks->arena);
    path_of(e, r->owner);
    e->decisions.comparisons[b->u.object] = text;
    for (uint32_t k = 0; k < n; k++, next_event_point(e, &layout.point)) {
        KoineNode *node = add_node(e, KOINE_NODE_RELATION, index);
        node->object = first + k;
        node->cell = cell_of(e, ref_now(r->bit)) + (has_element_cells(e, r->bit) ? k : 0);
        KoineRelation *out = &e->decisions.relations[first + k];
        *out = (KoineRelation){ .decision = begin_decision(e, index, b, r->bit, r->region, r->branch),
                                .is_strict = r->is_strict,
                                .bit = e->ks->slots->now[r->bit.index] + k };
        out->decision.cell = node->cell;
        out->decision.is_guarded = r->is_guarded;
        out->decision.kernel = layout.piece.kernel;
        out->decision.row = layout.piece.row + k * layout.width;
        watch_point(e, index, &layout, first + k, text);
        read_at_point(e, &layout.reads, &layout.point);
        note_moving(e, r->kind == RELATION_STATE || layout.reads.is_moving);
    }
}

void add_relation(EventLayout *e, uint32_t index, const Block *b)
{
    Kernels *ks = e->ks;
    const Relation *r = &e->m->relations.at[b->u.object];
    const uint32_t row = e->decisions.first_row[b->u.object];
    if (r->domain.index) {
        add_relations(e, index, b);
        return;
    }
    KoineNode *node = add_node(e, KOINE_NODE_RELATION, index);
    node->object = row;
    node->cell = r->bit.index;
    KoineRelation *out = &e->decisions.relations[row];
    KoineDecision *decision = &out->decision;
    *out = (KoineRelation){ .decision = begin_decision(e, index, b, r->bit, r->region, r->branch),
                            .is_strict = r->is_strict,
                            .is_joint = r->is_joint,
                            .is_border = is_border(e, r->left) || is_border(e, r->right),
                            .bit = ks->slots->now[r->bit.index],
                            .state = state_compared(e, r->left, r->right) };
    decision->is_time = r->kind == RELATION_TIME;
    decision->is_guarded = r->is_guarded;
    const uint32_t slots[2] = { take_slots(ks, 1), take_slots(ks, 1) };
    bool is_moving = false;
    path_of(e, r->owner);
    e->decisions.comparisons[b->u.object] = relation_text(e->m, r, ks->arena);
    if (out->state == KOINE_NONE)
        out->state = state_compared(e, r->right, r->left);
    if (decision->is_time) {
        const Term terms[] = { masked(e, r->slope, r->region, r->branch), masked(e, r->flip, r->region, r->branch) };
        const Piece piece = lay_terms(ks, 2, terms, slots);
        decision->kernel = piece.kernel;
        decision->row = piece.row;
        decision->slope = slots[0];
        out->flip = slots[1];
        decision->calendar = e->decisions.n_calendar++;
        vec_push(ks->arena, &e->decisions.calendar_owner, row);
        read_term(e, r->slope, &is_moving);
        read_term(e, r->flip, &is_moving);
    } else {
        const Term terms[] = { masked(e, r->left, r->region, r->branch), masked(e, r->right, r->region, r->branch) };
        const Piece piece = lay_terms(ks, 2, terms, slots);
        decision->kernel = piece.kernel;
        decision->row = piece.row;
        out->left = slots[0];
        out->right = slots[1];
        decision->timed = add_timed(e, b, row, r->left, r->right);
    }
    if (decision->timed != KOINE_NONE) {
        decision->calendar = e->decisions.n_calendar - 1;
    } else if (!decision->is_time) {
        decision->root = e->decisions.roots.n;
        add_root(e, row, e->decisions.comparisons[b->u.object], r->owner, r->origin.span);
        add_entry(ks, &e->decisions.root_operands, (Piece){ decision->kernel, decision->row, 1 }, index,
                  r->origin.span);
        read_term(e, r->left, &is_moving);
        read_term(e, r->right, &is_moving);
        is_moving = true; /* a root function watches it: look again at every instant */
    }
    ks->kernels.at[decision->kernel].is_shared = true;
    read_selector(e, r->region);
    note_moving(e, is_moving);
}

void add_step(EventLayout *e, uint32_t index, const Block *b)
{
    Kernels *ks = e->ks;
    const StepFunction *f = &e->m->steps.at[b->u.object];
    KoineNode *node = add_node(e, KOINE_NODE_STEP, index);
    node->object = b->u.object;
    node->cell = f->value.index;
    KoineStep *out = &e->decisions.steps[b->u.object];
    KoineDecision *decision = &out->decision;
    *out = (KoineStep){ .decision = begin_decision(e, index, b, f->value, f->region, f->branch),
                        .op = f->op,
                        .table = f->table ? f->table->data[0] : NULL,
                        .value = ks->slots->now[f->value.index] };
    decision->is_time = f->kind == RELATION_TIME;
    decision->is_guarded = f->is_guarded;
    bool is_moving = false;
    const uint32_t slots[2] = { take_slots(ks, 1), take_slots(ks, 1) };
    path_of(e, f->owner);
    Piece piece;
    if (decision->is_time) {
        const Term terms[] = { masked(e, f->slope, f->region, f->branch), masked(e, f->offset, f->region, f->branch) };
        piece = lay_terms(ks, 2, terms, slots);
        decision->slope = slots[0];
        out->offset = slots[1];
        decision->calendar = e->decisions.n_calendar++;
        vec_push(ks->arena, &e->decisions.calendar_owner, e->decisions.n_rows + b->u.object);
        read_term(e, f->slope, &is_moving);
        read_term(e, f->offset, &is_moving);
    } else {
        const Term term = masked(e, f->argument, f->region, f->branch);
        piece = lay_terms(ks, 1, &term, slots);
        out->argument = slots[0];
        decision->timed = add_timed(e, b, e->decisions.n_rows + b->u.object, f->argument, TERM_NONE);
    }
    if (decision->timed != KOINE_NONE) {
        decision->calendar = e->decisions.n_calendar - 1;
    } else if (!decision->is_time) {
        decision->root = e->decisions.roots.n;
        const char *text = term_text(e->m, f->argument, ks->arena);
        const uint32_t owner = e->decisions.n_rows + b->u.object;
        add_root(e, owner, arena_format(ks->arena, "step of %s downwards", text), f->owner, f->origin.span);
        add_root(e, owner, arena_format(ks->arena, "step of %s upwards", text), f->owner, f->origin.span);
        add_entry(ks, &e->decisions.root_operands, piece, index, f->origin.span);
        read_term(e, f->argument, &is_moving);
        is_moving = true;
    }
    decision->kernel = piece.kernel;
    decision->row = piece.row;
    ks->kernels.at[decision->kernel].is_shared = true;
    read_selector(e, f->region);
    note_moving(e, is_moving);
}
