/* Transitions: their conditions, assignments and actions; see event_layout.h. */
#include "emit/program/event_layout.h"
#include "base/bug.h"
#include "ir/routine.h"

typedef struct {            /* an assignment, for all points of the domain */
    Piece piece;            /* its first row */
    uint32_t width;         /* of a row */
    uint32_t guard, buffer; /* slots of the first point; guard KOINE_NONE: always */
    uint32_t target;        /* slot of the array's first element, or of the scalar */
    ElementMap map;
} NextLayout;

static NextLayout lay_next(EventLayout *e, const Assignment *a, DomainId domain)
{
    Kernels *ks = e->ks;
    Model *m = e->m;
    const Ref target = term_refs(m, a->target)[a->target.shape->u.leaf];
    const uint32_t n = (uint32_t)domain_count(m, domain);
    NextLayout next = { .guard = KOINE_NONE, .target = ks->slots->now[target.var.index] };
    REQUIRE(element_map(m, a->target.shape, term_refs(m, a->target), domain, &next.map));
    next.buffer = take_slots(ks, n);
    Term terms[2] = { a->value };
    uint32_t slots[2] = { next.buffer }, n_terms = 1;
    if (!term_is_absent(a->guard)) {
        next.guard = take_slots(ks, n);
        TermBuilder builder = term_builder(m);
        const Expr *guard = term_import(&builder, a->guard), *value = term_import(&builder, a->value);
        const Expr *kept = a->target.shape->n_args ? term_import(&builder, a->target) : term_leaf(&builder, target);
        terms[0] = a->guard;
        terms[1] = term_finish(&builder, expr_if(m->pool, guard, value, kept));
        slots[0] = next.guard;
        slots[1] = next.buffer;
        n_terms = 2;
    }
    next.piece =
        domain.index ? lay_terms_over(ks, n_terms, terms, slots, domain) : lay_terms(ks, n_terms, terms, slots);
    next.width = n_terms + ks->kernels.at[next.piece.kernel].n_leaves;
    return next;
}

static void add_next(EventLayout *e, const NextLayout *layout, uint32_t number, const EventPoint *point)
{
    const Assignment *a = &e->m->assignments.at[number];
    const VarId target = term_refs(e->m, a->target)[a->target.shape->u.leaf].var;
    const uint32_t element = (uint32_t)element_at(&layout->map, point);
    const uint32_t own = has_element_cells(e, target) ? element : 0;
    KoineNext next = { .kernel = layout->piece.kernel,
                       .row = layout->piece.row + point->number * layout->width,
                       .guard = layout->guard == KOINE_NONE ? KOINE_NONE : layout->guard + point->number,
                       .buffer = layout->buffer + point->number,
                       .target = layout->target + element,
                       .cell = cell_of(e, ref_now(target)) + own,
                       .pre = e->pre_of[target.index] == KOINE_NONE ? KOINE_NONE : e->pre_of[target.index] + own,
                       .is_state = model_var(e->m, target)->definition == DEFINITION_DER,
                       .is_real = model_var(e->m, target)->type.kind == TYPE_REAL,
                       .origin = e->s->blocks.n + number,
                       .variable = e->ks->slots->row_of[target.index] };
    if (!map_get(&e->firings.writers, next.target, &next.writer)) {
        next.writer = e->firings.n_writers++;
        map_put(&e->firings.writers, next.target, next.writer);
    }
    vec_push(e->ks->arena, &e->firings.nexts, next);
}

/* Only where the guard holds: a text costs, and may fail. */
static Term guarded(Model *m, Term guard, Term value)
{
    const Type type = value.shape->type;
    if (term_is_absent(guard) || !value.shape->has_call)
        return value;
    TermBuilder builder = term_builder(m);
    const Expr *none = type.kind == TYPE_STRING    ? expr_string(m->pool, (NameId){ 0 })
                       : type.kind == TYPE_REAL    ? expr_real(m->pool, 0)
                       : type.kind == TYPE_INTEGER ? expr_integer(m->pool, 0)
                                                   : NULL;
    const Expr *condition = term_import(&builder, guard), *wanted = term_import(&builder, value);
    return none ? term_finish(&builder, expr_if(m->pool, condition, wanted, none)) : value;
}

typedef struct { /* an action, for all points of the domain */
    Piece piece;
    uint32_t n, *slots; /* of its first row: guard and arguments */
    uint8_t *types;
} ActionLayout;

static ActionLayout lay_action(EventLayout *e, const Action *a, DomainId domain)
{
    Kernels *ks = e->ks;
    Model *m = e->m;
    const bool is_message = !term_is_absent(a->message);
    const uint32_t n = (is_message ? 1 : a->n_args) + 1, n_points = (uint32_t)domain_count(m, domain);
    ActionLayout layout = { .n = n,
                            .slots = NEW_ARRAY(ks->arena, uint32_t, n),
                            .types = NEW_ARRAY(ks->arena, uint8_t, n) };
    Term *terms = NEW_ARRAY(ks->arena, Term, n);
    terms[0] = term_is_absent(a->guard) ? term_boolean(m, true) : a->guard;
    layout.slots[0] = take_slots(ks, n_points);
    for (uint32_t k = 1; k < n; k++) {
        terms[k] = guarded(m, a->guard, is_message ? a->message : m->conditions.at[a->first_arg + k - 1]);
        layout.slots[k] = take_slots(ks, n_points);
        layout.types[k - 1] = terms[k].shape->type.kind;
    }
    layout.piece =
        domain.index ? lay_terms_over(ks, n, terms, layout.slots, domain) : lay_terms(ks, n, terms, layout.slots);
    return layout;
}

static void add_action(EventLayout *e, const ActionLayout *layout, uint32_t number, uint32_t point)
{
    static const uint8_t kinds[] = { [ACTION_DISPLAY] = KOINE_ACTION_DISPLAY,
                                     [ACTION_TERMINATE] = KOINE_ACTION_TERMINATE,
                                     [ACTION_WARNING] = KOINE_ACTION_WARNING,
                                     [ACTION_FAIL] = KOINE_ACTION_FAIL,
                                     [ACTION_SEND] = KOINE_ACTION_SEND };
    Kernels *ks = e->ks;
    const Action *a = &e->m->actions.at[number];
    const uint32_t width = layout->n + ks->kernels.at[layout->piece.kernel].n_leaves;
    uint32_t *slots = NEW_ARRAY(ks->arena, uint32_t, layout->n);
    for (uint32_t k = 0; k < layout->n; k++)
        slots[k] = layout->slots[k] + point;
    const KoineAction action = { .kind = kinds[a->kind],
                                 .format =
                                     term_is_absent(a->message) ? names_of(pool_names(e->m->pool), a->text) : NULL,
                                 .kernel = layout->piece.kernel,
                                 .row = layout->piece.row + point * width,
                                 .guard = slots[0],
                                 .n_args = layout->n - 1,
                                 .args = slots + 1,
                                 .types = layout->types,
                                 .channel = a->channel,
                                 .priority = a->priority,
                                 .origin = e->s->blocks.n + e->m->assignments.n + number };
    vec_push(ks->arena, &e->firings.actions, action);
}

/* ---- calls: once a firing ---- */
/* What the transition executes, in order; false: nothing in it calls a function. */
static bool list_firing(const EventLayout *e, const KoineTransition *t, Entries *list)
{
    Kernels *ks = e->ks;
    bool has_call = false;
    for (uint32_t k = 0; k < t->n_next; k++) {
        const KoineNext *next = &e->firings.nexts.at[t->first_next + k];
        add_entry(ks, list, (Piece){ next->kernel, next->row, 1 }, KOINE_NONE, SPAN_NONE);
    }
    for (uint32_t k = 0; k < t->n_actions; k++) {
        const KoineAction *action = &e->firings.actions.at[t->first_action + k];
        add_entry(ks, list, (Piece){ action->kernel, action->row, 1 }, KOINE_NONE, SPAN_NONE);
    }
    for (uint32_t k = 0; k < list->n && !has_call; k++) {
        const Kernel *kernel = &ks->kernels.at[list->at[k].piece.kernel];
        for (uint32_t j = 0; j < kernel->n_outputs; j++)
            has_call |= kernel->outputs[j]->has_call;
    }
    return has_call;
}

/* The slot that holds the value of an output of the row already, as a result of a call that has been executed;
 * KOINE_NONE: none does. Of what is chosen by the guard, the value that is used. */
static uint32_t known_slot(const Kernels *ks, Piece piece, uint32_t output)
{
    const Kernel *kernel = &ks->kernels.at[piece.kernel];
    const Expr *e = kernel->outputs[output];
    if (output && e->kind == EXPR_IF && e->args[0] == kernel->outputs[0])
        e = e->args[1];
    const bool is_result = is_part(e) && e->args[0]->kind == EXPR_LEAF && e->type.rank == 0;
    return is_result ? ks->rows.at[piece.row + kernel->n_outputs + e->args[0]->u.leaf] + e->element : KOINE_NONE;
}

/* False: nothing is left to be executed for it. */
static bool set_next(KoineNext *next, const Kernels *ks, Piece piece)
{
    const bool has_guard = next->guard != KOINE_NONE;
    const uint32_t guard = has_guard ? known_slot(ks, piece, 0) : KOINE_NONE;
    const uint32_t value = known_slot(ks, piece, has_guard);
    next->kernel = piece.kernel;
    next->row = piece.row;
    if (value == KOINE_NONE || (has_guard && guard == KOINE_NONE))
        return true;
    next->kernel = next->row = KOINE_NONE;
    next->guard = guard;
    next->buffer = value;
    return false;
}

static void set_action(KoineAction *action, Piece piece)
{
    action->kernel = piece.kernel;
    action->row = piece.row;
}

/* A call of which several assignments and actions need results is executed before them. Kernels that are left get a
 * function of their own. */
static void lay_firing(EventLayout *e, KoineTransition *t)
{
    Kernels *ks = e->ks;
    Entries list = { .arena = ks->scratch }, out = { .arena = ks->scratch };
    const Entries *const lists[] = { &list };
    if (list_firing(e, t, &list)) {
        share_survey(e->ss->share, 1, lists);
        share_entries(e->ss->share, &(ShareRequest){ 0 }, &list, &out, NULL);
    } else
        out = list;
    KoinePiece *shared = NEW_ARRAY(ks->arena, KoinePiece, out.n - list.n + 1);
    for (uint32_t k = 0, number = 0; k < out.n; k++) {
        const Piece piece = out.at[k].piece;
        bool is_executed = true;
        if (out.at[k].is_shared)
            shared[t->n_shared++] = (KoinePiece){ piece.kernel, piece.row };
        else if (number++ < t->n_next)
            is_executed = set_next(&e->firings.nexts.at[t->first_next + number - 1], ks, piece);
        else
            set_action(&e->firings.actions.at[t->first_action + number - 1 - t->n_next], piece);
        ks->kernels.at[piece.kernel].is_shared |= is_executed;
    }
    t->shared = shared;
}

/* It fires in every step in which its condition holds. */
static bool fires_by_level(const Transition *t)
{
    return t->trigger == TRIGGER_LEVEL || t->trigger == TRIGGER_MESSAGE;
}

/* The generated variable that is the only condition of a level transition: its node enables the transition itself. */
static uint32_t guard_variable(const EventLayout *e, const Transition *t)
{
    if (!fires_by_level(t) || t->n_conditions != 1)
        return KOINE_NONE;
    const VarId v = term_refs(e->m, e->m->conditions.at[t->first_condition])[0].var;
    return e->guard_of[v.index] != KOINE_NONE ? v.index : KOINE_NONE;
}

/* Whoever asks whether a transition fires reads its condition, too: then it is a value like any other. */
static void drop_guards(EventLayout *e, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(e->m, term)[k];
        if (ref.kind == REF_NOW)
            e->guard_of[ref.var.index] = KOINE_NONE;
    }
}

void find_guards(EventLayout *e)
{
    const Model *m = e->m;
    for (uint32_t k = 0; k < m->variables.n; k++)
        e->guard_of[k] = KOINE_NONE;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        if (!fires_by_level(t) || t->n_conditions != 1)
            continue;
        const Term condition = m->conditions.at[t->first_condition];
        const VarId v = term_refs(m, condition)[0].var;
        if (model_var(m, v)->is_condition && e->ks->slots->pre[v.index] == KOINE_NONE)
            e->guard_of[v.index] = e->firings.first_row[k];
    }
    for (uint32_t k = 0; k < e->s->blocks.n && m->transitions.n; k++)
        if (e->s->blocks.at[k].kind == BLOCK_ASSIGN)
            drop_guards(e, e->s->blocks.at[k].u.assign.rhs);
    for (uint32_t k = 0; k < e->s->rows.n && m->transitions.n; k++) {
        drop_guards(e, e->s->rows.at[k].lhs);
        drop_guards(e, e->s->rows.at[k].rhs);
    }
}

/* The slots of its conditions at a point, and those of their values before. The last node reads them, if the
 * transition has one of its own. */
static void lay_conditions(EventLayout *e, const Transition *t, const EventPoint *point, bool has_node,
                           KoineTransition *out)
{
    Kernels *ks = e->ks;
    const Model *m = e->m;
    uint32_t *conditions = NEW_ARRAY(ks->arena, uint32_t, 2 * t->n_conditions + 1);
    const bool has_edge = t->trigger == TRIGGER_EDGE;
    for (uint32_t k = 0; k < t->n_conditions; k++) { /* those over a range have an element for each point of it */
        const VarId v = term_refs(m, m->conditions.at[t->first_condition + k])[0].var;
        const uint32_t own = has_element_cells(e, v) ? point->number : 0;
        conditions[k] = ks->slots->now[v.index] + own;
        conditions[t->n_conditions + k] = ks->slots->pre[v.index] + own; /* of use for EDGE */
        const Read now = { cell_of(e, ref_now(v)) + own, e->nodes.n - 1 };
        if (has_node)
            vec_push(ks->arena, &e->reads, now);
        if (has_edge)
            vec_push(ks->arena, &e->reads, ((Read){ cell_of(e, ref_pre(v)) + own, e->nodes.n - 1 }));
    }
    out->n_conditions = t->n_conditions;
    out->conditions = conditions;
}

void add_transition(EventLayout *e, uint32_t index, const Block *b)
{
    static const uint8_t triggers[] = { [TRIGGER_LEVEL] = KOINE_TRIGGER_LEVEL,
                                        [TRIGGER_EDGE] = KOINE_TRIGGER_EDGE,
                                        [TRIGGER_INITIAL] = KOINE_TRIGGER_INITIAL,
                                        [TRIGGER_STEP] = KOINE_TRIGGER_STEP,
                                        [TRIGGER_MESSAGE] = KOINE_TRIGGER_LEVEL };
    Kernels *ks = e->ks;
    Model *m = e->m;
    const Transition *t = &m->transitions.at[b->u.object];
    const bool is_merged = t->n_conditions == 1 && guard_variable(e, t) != KOINE_NONE;
    const uint32_t first = e->firings.first_row[b->u.object], n = (uint32_t)domain_count(m, t->domain);
    NextLayout *nexts = NEW_ARRAY(ks->arena, NextLayout, t->n_assignments + 1);
    ActionLayout *actions = NEW_ARRAY(ks->arena, ActionLayout, t->n_actions + 1);
    EventPoint point = event_point(e, t->domain);
    path_of(e, t->owner);
    for (uint32_t k = 0; k < t->n_assignments; k++)
        nexts[k] = lay_next(e, &m->assignments.at[t->first_assignment + k], t->domain);
    for (uint32_t k = 0; k < t->n_actions; k++)
        actions[k] = lay_action(e, &m->actions.at[t->first_action + k], t->domain);
    for (uint32_t row = first; row < first + n; row++, next_event_point(e, &point)) {
        if (!is_merged)
            add_node(e, KOINE_NODE_TRANSITION, index)->object = row;
        KoineTransition *out = &e->firings.transitions[row];
        *out = (KoineTransition){ .trigger = triggers[t->trigger],
                                  .first_next = e->firings.nexts.n,
                                  .first_action = e->firings.actions.n,
                                  .channel = t->trigger == TRIGGER_MESSAGE ? t->object : KOINE_NONE,
                                  .origin = index };
        lay_conditions(e, t, &point, !is_merged, out);
        for (uint32_t k = 0; k < t->n_assignments; k++)
            add_next(e, &nexts[k], t->first_assignment + k, &point);
        out->n_next = t->n_assignments;
        for (uint32_t k = 0; k < t->n_actions; k++)
            add_action(e, &actions[k], t->first_action + k, point.number);
        out->n_actions = t->n_actions;
        lay_firing(e, out);
    }
}

/* The nodes that define the conditions of transitions that are tested after steps. */
void list_step_conditions(EventLayout *e)
{
    const Model *m = e->m;
    VEC(uint32_t) found = { 0 };
    bool *is_tested = NEW_ARRAY(e->ks->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->trigger == TRIGGER_STEP && j < t->n_conditions; j++)
            is_tested[term_refs(m, m->conditions.at[t->first_condition + j])[0].var.index] = true;
    }
    for (uint32_t k = 0; k < e->nodes.n; k++)
        if (e->nodes.at[k].kind == KOINE_NODE_ASSIGN && e->nodes.at[k].cell < m->variables.n &&
            is_tested[e->nodes.at[k].cell])
            vec_push(e->ks->arena, &found, k);
    e->out.data.firings.step_conditions = found.at;
    e->out.data.firings.n_step_conditions = found.n;
}
