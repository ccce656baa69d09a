/* Evaluating the nodes of the event graph: exactly those that something woke, in topological order. */
#include "koine/ops.h"
#include "texts.h"
#include "wake.h"

static const double LARGEST_VALUE = 9e18; /* of a step function: what an Integer holds, nearly */
enum { MANY_STEPS = 16 };                 /* of an instant; what still changes then may do so for ever */

/* It has jumped, or was moved: decided anew from now on, also when it comes back. */
static inline void release(Pin *which)
{
    if (which->state == PIN_SET)
        which->state = PIN_RELEASED;
}

/* ---- relations ---- */
static bool literal_value(const KoineRelation *r, double left, double right)
{
    return r->is_strict ? left > right : left >= right;
}

static bool time_value(const Machine *m, const KoineRelation *r, double slope, double flip, double t)
{
    const bool is_late = slope > 0 ? r->is_strict : !r->is_strict;
    if (isfinite(flip) && (slope > 0 || slope < 0))
        return koine_has_passed(m->time.rule, m->time.resolution, flip, is_late, t) == (slope > 0);
    if (slope > 0)
        return r->is_strict ? t > flip : t >= flip;
    if (slope < 0)
        return r->is_strict ? t < flip : t <= flip;
    return isnan(flip) ? !r->is_strict : flip < 0; /* constant: the division by the slope gave an infinity */
}

static void schedule_flip(Machine *m, const KoineRelation *r, bool value, double slope, double flip)
{
    const bool later = slope > 0 ? true : slope < 0 ? false : value;
    if (value == later || !isfinite(flip)) {
        koine_calendar_remove(m, r->decision.calendar);
        return;
    }
    koine_calendar_at(m, r->decision.calendar, flip, later ? r->is_strict : !r->is_strict);
}

static bool value_of_time_relation(Machine *m, const KoineRelation *r, Pin *p)
{
    const double slope = m->slots[r->decision.slope].r, flip = m->slots[r->flip].r;
    bool value;
    if (p->state == PIN_SET && p->at == flip && p->slope == slope)
        value = m->slots[r->bit].i;
    else
        value = time_value(m, r, slope, flip, m->slots[m->program->slots.time].r);
    schedule_flip(m, r, value, slope, flip);
    return value;
}

static bool value_of_state_relation(Machine *m, const KoineRelation *r, Pin *p)
{
    const double left = m->slots[r->left].r, right = m->slots[r->right].r, g = left - right;
    const bool is_pinned = p->state != PIN_FREE && p->state != PIN_RELEASED && r->decision.root != KOINE_NONE &&
                           r->decision.mixed == KOINE_NONE;
    if (is_pinned && koine_is_noise(m, r->decision.root, g))
        return m->slots[r->bit].i;
    if (is_pinned && !m->bands.held[r->decision.root] && has_jumped(m, r->decision.node))
        p->state = PIN_RELEASED;
    if (p->state == PIN_NEW) {
        p->state = PIN_SET;
        p->at = g;
    }
    if (p->state == PIN_SET && fabs(g - p->at) <= r->decision.band * (fabs(left) + fabs(right)) &&
        r->decision.mixed == KOINE_NONE)
        return m->slots[r->bit].i;
    release(p);
    return literal_value(r, left, right);
}

/* From the operands as they are; false: they have no value. */
static inline bool decide(Machine *m, uint32_t relation, bool *value)
{
    const KoineRelation *r = &m->program->events.decisions.relations[relation];
    Pin *p = &m->pins.relations[relation];
    *value = m->slots[r->bit].i;
    run_kernel(m, r->decision.kernel, r->decision.row, 1);
    if (is_masked(m, &r->decision)) {
        if (r->decision.is_time)
            koine_calendar_remove(m, r->decision.calendar);
        if (r->decision.timed != KOINE_NONE)
            koine_timed_stop(m, relation);
        return true;
    }
    if (r->decision.timed != KOINE_NONE && koine_timed_is_known(m, relation, p))
        return true;
    if (!r->decision.is_time && (isnan(m->slots[r->left].r) || isnan(m->slots[r->right].r)))
        return r->decision.is_guarded;
    *value = r->decision.is_time ? value_of_time_relation(m, r, p) : value_of_state_relation(m, r, p);
    return true;
}

static inline void set_bit(Machine *m, const KoineRelation *r, bool value)
{
    if (m->slots[r->bit].i == value)
        return;
    m->slots[r->bit].i = value;
    m->instant->result.is_changed = 1;
    cell_changed(m, r->decision.cell);
    if (m->instant->event_step > MANY_STEPS)
        koine_note_restless(m, r);
}

static KoineStatus evaluate_relation(Machine *m, const KoineNode *node)
{
    const KoineRelation *r = &m->program->events.decisions.relations[node->object];
    bool value;
    if (r->decision.mixed != KOINE_NONE)
        return koine_decide_together(m, node);
    if (!decide(m, node->object, &value))
        return koine_fault(m, KOINE_FAILED, node->origin, NULL);
    set_bit(m, r, value);
    return KOINE_OK;
}

bool koine_decide(Machine *m, uint32_t relation, bool *value)
{
    return decide(m, relation, value);
}

void koine_set_bit(Machine *m, const KoineRelation *r, bool value)
{
    set_bit(m, r, value);
}

/* ---- step functions ---- */
static double step_value(const KoineStep *s, double argument)
{
    switch ((KoineStepOp)s->op) {
    case KOINE_STEP_FLOOR: return floor(argument);
    case KOINE_STEP_CEIL: return ceil(argument);
    case KOINE_STEP_TRUNC: return trunc(argument);
    case KOINE_STEP_ROUND: return round(argument);
    case KOINE_STEP_INTERVAL: return (double)koine_interval(s->table, argument);
    }
    return argument;
}

/* When a step function of time leaves its present value, and whether it keeps it at that time itself. */
static double edge_time(const KoineStep *s, int64_t value, double slope, double offset, bool *late)
{
    const Interval now = interval_of(s, (double)value);
    *late = slope > 0 ? now.hi_in : now.lo_in;
    return ((slope > 0 ? now.hi : now.lo) - offset) / slope;
}

static int64_t value_of_step(Machine *m, const KoineStep *s, Pin *p)
{
    const double slope = s->decision.is_time ? m->slots[s->decision.slope].r : 0;
    const double key = s->decision.is_time ? m->slots[s->offset].r : m->slots[s->argument].r;
    const double argument = s->decision.is_time ? slope * m->slots[m->program->slots.time].r + key : key;
    if (p->state != PIN_FREE && s->decision.root != KOINE_NONE && !m->bands.held[s->decision.root] &&
        !m->bands.held[s->decision.root + 1] && has_jumped(m, s->decision.node))
        p->state = PIN_RELEASED;
    if (p->state == PIN_NEW) {
        p->state = PIN_SET;
        p->at = key;
        p->slope = slope;
    }
    const double width = s->decision.is_time ? 0 : band_of(s->decision.band, argument, 0);
    if (p->state == PIN_SET && fabs(key - p->at) <= width && slope == p->slope)
        return m->slots[s->value].i;
    release(p);
    const double value = step_value(s, argument);
    if (!(fabs(value) < LARGEST_VALUE))
        return 0;
    if (s->decision.is_time && slope != 0 && m->time.rule->decides_edges) {
        bool late;
        const double edge = edge_time(s, (int64_t)value, slope, key, &late);
        if (koine_has_passed(m->time.rule, m->time.resolution, edge, late, m->slots[m->program->slots.time].r))
            return (int64_t)value + (slope > 0 ? 1 : -1);
    }
    return (int64_t)value;
}

static void schedule_step(Machine *m, const KoineStep *s, int64_t value)
{
    const double slope = m->slots[s->decision.slope].r, offset = m->slots[s->offset].r;
    bool late;
    const double time = edge_time(s, value, slope, offset, &late);
    if (slope == 0 || !isfinite(slope) || !isfinite(time)) {
        koine_calendar_remove(m, s->decision.calendar);
        return;
    }
    koine_calendar_at(m, s->decision.calendar, time, late);
}

static KoineStatus evaluate_step(Machine *m, const KoineNode *node)
{
    const KoineStep *s = &m->program->events.decisions.steps[node->object];
    run_kernel(m, s->decision.kernel, s->decision.row, 1);
    const uint32_t owner = m->program->events.decisions.n_relations + node->object;
    Pin *p = &m->pins.steps[node->object];
    if (is_masked(m, &s->decision)) {
        if (s->decision.is_time)
            koine_calendar_remove(m, s->decision.calendar);
        if (s->decision.timed != KOINE_NONE)
            koine_timed_stop(m, owner);
        return KOINE_OK;
    }
    if (s->decision.timed != KOINE_NONE && koine_timed_is_known(m, owner, p))
        return KOINE_OK;
    if (!s->decision.is_time && !isfinite(m->slots[s->argument].r))
        return s->decision.is_guarded ? KOINE_OK : koine_fault(m, KOINE_FAILED, node->origin, NULL);
    const int64_t value = value_of_step(m, s, p);
    if (s->decision.is_time)
        schedule_step(m, s, value);
    if (m->slots[s->value].i == value)
        return KOINE_OK;
    m->slots[s->value].i = value;
    m->instant->result.is_changed = 1;
    cell_changed(m, s->decision.cell);
    return s->decision.mixed == KOINE_NONE ? KOINE_OK : koine_count_round(m, s->decision.mixed);
}

/* ---- assignments, systems, transitions ---- */
static KoineStatus evaluate_scalar(Machine *m, const KoineNode *node)
{
    KoineSlot *out = &m->slots[node->output];
    const KoineSlot before = *out;
    run_kernel(m, node->kernel, node->row, 1);
    const bool changed = out->i != before.i;
    if (changed && !is_good(out, node->is_real)) {
        const KoineStatus status = koine_fault(m, KOINE_FAILED, node->origin, NULL);
        *out = before;
        return status;
    }
    if (changed)
        cell_moved(m, node->cell);
    pass_jump_on(m, node, node->cell, changed);
    return KOINE_OK;
}

static KoineStatus evaluate_array(Machine *m, const KoineNode *node)
{
    /* Elements are not compared one by one: an array counts as changed when it is computed. */
    run_kernel(m, node->kernel, node->row, node->n);
    for (uint32_t j = 0; j < node->object; j++)
        if (!is_good(&m->slots[node->output + j * node->stride], node->is_real))
            return koine_fault(m, KOINE_FAILED, node->origin, NULL);
    cell_moved(m, node->cell);
    pass_jump_on(m, node, node->cell, !m->instant->is_general);
    return KOINE_OK;
}

/* Results of different types: those that read them look at them. */
static void evaluate_call(Machine *m, const KoineNode *node)
{
    run_kernel(m, node->kernel, node->row, 1);
    cell_moved(m, node->cell);
    pass_jump_on(m, node, node->cell, !m->instant->is_general);
}

static KoineStatus evaluate_system(Machine *m, const KoineNode *node)
{
    const KoineSystem *s = &m->program->systems.at[node->object];
    if (s->kind == KOINE_SYSTEM_FOREIGN)
        return koine_step_component(m, node);
    const bool was_searching = m->spaces.is_searching;
    m->spaces.is_searching |= m->slots[m->program->slots.initial].i == 0;
    const KoineStatus status = koine_solve_system(m, node->object);
    m->spaces.is_searching = was_searching;
    if (status != KOINE_OK)
        return status < 0 ? status : KOINE_FAILED;
    for (uint32_t j = 0; j < s->n; j++) {
        const bool is_same = s->kind == KOINE_SYSTEM_ITERATE && m->slots[s->guesses[j]].i == m->slots[s->unknowns[j]].i;
        m->slots[s->guesses[j]] = m->slots[s->unknowns[j]];
        if (!is_same)
            cell_moved(m, s->cells[j]);
        pass_jump_on(m, node, s->cells[j], !is_same && !m->instant->is_general);
    }
    for (uint32_t j = 0; j < s->n_inner; j++) {
        cell_moved(m, s->cells[s->n + j]);
        pass_jump_on(m, node, s->cells[s->n + j], !m->instant->is_general);
    }
    return KOINE_OK;
}

static void evaluate_transition(Machine *m, const KoineNode *node)
{
    const KoineTransition *t = &m->program->events.firings.transitions[node->object];
    bool is_enabled = t->trigger == KOINE_TRIGGER_INITIAL && m->instant->is_start && m->instant->event_step == 0;
    const bool may_fire = t->trigger != KOINE_TRIGGER_STEP || (m->instant->is_step && m->instant->event_step == 0);
    const uint32_t *before = t->conditions + t->n_conditions;
    for (uint32_t j = 0; j < t->n_conditions && !is_enabled && may_fire; j++)
        is_enabled = m->slots[t->conditions[j]].i && (t->trigger != KOINE_TRIGGER_EDGE || !m->slots[before[j]].i);
    if (is_enabled)
        bitset_add(&m->wake.enabled, node->object);
    else
        bitset_remove(&m->wake.enabled, node->object);
}

/* A condition that nothing but its transition reads. */
static inline KoineStatus evaluate_guard(Machine *m, const KoineNode *node)
{
    const int64_t before = m->slots[node->output].i;
    run_kernel(m, node->kernel, node->row, 1);
    const int64_t after = m->slots[node->output].i;
    if (after == before)
        return KOINE_OK;
    if (after == INT64_MIN)
        return koine_fault(m, KOINE_FAILED, node->origin, NULL);
    if (after)
        bitset_add(&m->wake.enabled, node->object);
    else
        bitset_remove(&m->wake.enabled, node->object);
    return KOINE_OK;
}

static inline KoineStatus evaluate_node(Machine *m, const KoineNode *node)
{
    switch ((KoineNodeKind)node->kind) {
    case KOINE_NODE_ASSIGN: return node->object == 1 ? evaluate_scalar(m, node) : evaluate_array(m, node);
    case KOINE_NODE_CALL: evaluate_call(m, node); return KOINE_OK;
    case KOINE_NODE_SYSTEM: return evaluate_system(m, node);
    case KOINE_NODE_RELATION: return evaluate_relation(m, node);
    case KOINE_NODE_STEP: return evaluate_step(m, node);
    case KOINE_NODE_TRANSITION: evaluate_transition(m, node); return KOINE_OK;
    case KOINE_NODE_GUARD: return evaluate_guard(m, node);
    }
    return KOINE_FAILED;
}

KoineStatus koine_evaluate_node(Machine *m, const KoineNode *node)
{
    return evaluate_node(m, node);
}

KoineStatus koine_evaluate_dirty(Machine *m)
{
    const bool may_fail_inside = m->program->slots.calls != KOINE_NONE || m->program->texts.slot != KOINE_NONE;
    m->round.group = KOINE_NONE;
    while (!bitset_is_empty(&m->wake.dirty)) {
        const uint32_t n = bitset_take(&m->wake.dirty);
        m->work.statistics.node_evaluations++;
        if (m->work.counts)
            m->work.counts->nodes[n]++;
        KoineStatus status = evaluate_node(m, &m->program->events.graph.nodes[n]);
        if (status == KOINE_OK && may_fail_inside)
            status = koine_check_calls(m, KOINE_FAILED, m->program->events.graph.nodes[n].origin);
        if (status != KOINE_OK && m->program->events.decisions.n_mixed)
            status = koine_rescue(m, n, status);
        if (status != KOINE_OK)
            return status;
    }
    return KOINE_OK;
}

KoineStatus koine_evaluate_all(Machine *m)
{
    for (uint32_t j = 0; j < m->program->events.graph.n_nodes; j++)
        bitset_add(&m->wake.dirty, j);
    return koine_evaluate_dirty(m);
}

/* Is there a transition that fires after this step? What the conditions were stays: the instant evaluates them. */
bool koine_wants_step(Machine *m)
{
    const KoineProgram *p = m->program;
    bool any = false;
    for (uint32_t j = 0; j < p->events.firings.n_step_conditions; j++) {
        const KoineNode *node = &p->events.graph.nodes[p->events.firings.step_conditions[j]];
        const KoineSlot before = m->slots[node->output];
        run_kernel(m, node->kernel, node->row, 1);
        any |= m->slots[node->output].i == 1;
        m->slots[node->output] = before;
    }
    return any;
}

void koine_wake_readers(Machine *m, uint32_t cell)
{
    wake_readers(m, cell);
}

void koine_mark_readers(Machine *m, uint32_t cell)
{
    const uint32_t *start = m->program->events.graph.readers_start;
    for (uint32_t j = start[cell]; j < start[cell + 1]; j++) {
        const uint32_t node = m->program->events.graph.readers[j];
        m->wake.jumped[node >> 6] |= (uint64_t)1 << (node & 63);
        bitset_add(&m->wake.dirty, node);
    }
}
