/* Event steps driven by change: what lowers an instant to work on exactly the nodes that something woke.
 * The order of the functions is that of an instant: arrive, step, commit, leave (docs/semantics.md). */
#include "koine/ops.h"
#include "machine.h"
#include "relation.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

static const double MERGE_ULPS = 16; /* calendar entries this close belong to one instant */
static const uint32_t DEFAULT_STEPS = 1000;
enum { MANY_STEPS = 16 }; /* of an instant; what still changes then may do so for ever */

KoineStatus koine_fault(Machine *k, KoineStatus status, uint32_t origin, const char *text)
{
    KoineModel *model = k->model;
    model->fault.origin = -1;
    model->fault.variable = -1;
    model->fault.cause = KOINE_CAUSE_NONE;
    model->fault.place = (KoinePlace){ 0 };
    model->fault.block[0] = 0;
    model->fault.time = k->m[k->program->slots.time].r;
    snprintf(model->fault.text, sizeof model->fault.text, "%s", text ? text : "");
    if (k->program->explain.fault)
        k->program->explain.fault(k->program->explain.context, model, origin);
    return status;
}

/* ---- waking ---- */
static inline void wake_readers(const Machine *k, uint32_t cell)
{
    const uint32_t *start = k->program->events.graph.readers_start;
    for (uint32_t j = start[cell]; j < start[cell + 1]; j++)
        bitset_add(&k->wake.dirty, k->program->events.graph.readers[j]);
}

/* ---- jumps ---- */
/* What a node computes from others may have jumped in this instant: not because the time has come here, but because a
 * bit, a discrete value or a delayed signal that it depends on has changed. Nobody asks while nothing is pinned. */
static inline bool has_jumped(const Machine *k, uint32_t node)
{
    return k->instant->has_pins && k->wake.jumped[node >> 6] >> (node & 63) & 1;
}

/* Readers wake up even if the value is what it was: on another branch rounding may have made it so. */
static void mark_readers(Machine *k, uint32_t cell)
{
    const uint32_t *start = k->program->events.graph.readers_start;
    for (uint32_t j = start[cell]; j < start[cell + 1]; j++) {
        const uint32_t node = k->program->events.graph.readers[j];
        k->wake.jumped[node >> 6] |= (uint64_t)1 << (node & 63);
        bitset_add(&k->wake.dirty, node);
    }
}

static inline void cell_jumped(Machine *k, uint32_t cell)
{
    if (k->instant->has_pins)
        mark_readers(k, cell);
}

/* What the node defines has jumped if it has itself, or if it does not move by itself and has `changed`. */
static inline void pass_jump_on(Machine *k, const KoineNode *node, uint32_t cell, bool changed)
{
    if (k->instant->has_pins &&
        (has_jumped(k, (uint32_t)(node - k->program->events.graph.nodes)) || (changed && !node->is_moving)))
        cell_jumped(k, cell);
}

/* Something has another value: readers wake up, pre(v) may differ, the dynamics may have changed. */
static inline void cell_moved(Machine *k, uint32_t cell)
{
    const KoineProgram *p = k->program;
    wake_readers(k, cell);
    k->instant->is_restart |= p->events.graph.feeds_dynamics[cell];
    const uint32_t pre = p->events.graph.cell_pre[cell];
    if (pre != KOINE_NONE && !k->writes.is_unsettled[pre]) {
        k->writes.is_unsettled[pre] = 1;
        k->writes.unsettled[k->instant->n_unsettled++] = pre;
    }
}

static inline void cell_changed(Machine *k, uint32_t cell)
{
    cell_moved(k, cell);
    cell_jumped(k, cell);
}

/* ---- pins ---- */
static void pin_at(Machine *k, Pin *which, uint32_t number, double at, double slope)
{
    if (which->state == PIN_FREE)
        k->pins.numbers[k->instant->n_pinned++] = number;
    *which = (Pin){ .at = at, .slope = slope, .state = PIN_SET };
}

/* What it is compared with later are the operands it arrived with: known here, or at its first evaluation if nothing
 * has jumped. */
static void pin(Machine *k, Pin *which, uint32_t number)
{
    if (which->state == PIN_FREE)
        k->pins.numbers[k->instant->n_pinned++] = number;
    which->state = PIN_NEW;
}

/* An input jumps unnoticed, and a comparison that is held back is not to be decided by each jump that it does not
 * feel. */
static bool knows_left(const Machine *k, uint32_t root)
{
    return k->instant->has_left && (k->instant->is_general || k->bands.held[root]);
}

static void pin_relation(Machine *k, uint32_t number)
{
    const KoineRelation *r = &k->program->events.decisions.relations[number];
    Pin *p = &k->pins.relations[number];
    if (r->is_time)
        pin_at(k, p, number, k->m[r->flip].r, k->m[r->slope].r);
    else if (r->root != KOINE_NONE && knows_left(k, r->root))
        pin_at(k, p, number, k->m[r->left].r - k->m[r->right].r, 0);
    else
        pin(k, p, number);
}

static void pin_step(Machine *k, uint32_t step)
{
    const KoineStep *s = &k->program->events.decisions.steps[step];
    Pin *p = &k->pins.steps[step];
    const uint32_t number = k->program->events.decisions.n_relations + step;
    if (s->is_time)
        pin_at(k, p, number, k->m[s->offset].r, k->m[s->slope].r);
    else if (s->root != KOINE_NONE && (knows_left(k, s->root) || knows_left(k, s->root + 1)))
        pin_at(k, p, number, k->m[s->argument].r, 0);
    else
        pin(k, p, number);
}

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

static bool time_value(const Machine *k, const KoineRelation *r, double slope, double flip, double t)
{
    const bool is_late = slope > 0 ? r->is_strict : !r->is_strict;
    if (isfinite(flip) && (slope > 0 || slope < 0))
        return koine_has_passed(k->time.rule, k->time.resolution, flip, is_late, t) == (slope > 0);
    if (slope > 0)
        return r->is_strict ? t > flip : t >= flip;
    if (slope < 0)
        return r->is_strict ? t < flip : t <= flip;
    return isnan(flip) ? !r->is_strict : flip < 0; /* constant: the division by the slope gave an infinity */
}

static void schedule_flip(Machine *k, const KoineRelation *r, bool value, double slope, double flip)
{
    const bool later = slope > 0 ? true : slope < 0 ? false : value;
    if (value == later || !isfinite(flip)) {
        koine_calendar_remove(k, r->calendar);
        return;
    }
    koine_calendar_at(k, r->calendar, flip, later ? r->is_strict : !r->is_strict);
}

static bool value_of_time_relation(Machine *k, const KoineRelation *r, Pin *p)
{
    const double slope = k->m[r->slope].r, flip = k->m[r->flip].r;
    bool value;
    if (p->state == PIN_SET && p->at == flip && p->slope == slope)
        value = k->m[r->bit].i;
    else
        value = time_value(k, r, slope, flip, k->m[k->program->slots.time].r);
    schedule_flip(k, r, value, slope, flip);
    return value;
}

static bool value_of_state_relation(Machine *k, const KoineRelation *r, Pin *p)
{
    const double left = k->m[r->left].r, right = k->m[r->right].r, g = left - right;
    const bool is_pinned =
        p->state != PIN_FREE && p->state != PIN_RELEASED && r->root != KOINE_NONE && r->mixed == KOINE_NONE;
    if (is_pinned && koine_is_noise(k, r->root, g))
        return k->m[r->bit].i;
    if (is_pinned && !k->bands.held[r->root] && has_jumped(k, r->node))
        p->state = PIN_RELEASED;
    if (p->state == PIN_NEW) {
        p->state = PIN_SET;
        p->at = g;
    }
    if (p->state == PIN_SET && fabs(g - p->at) <= r->band * (fabs(left) + fabs(right)) && r->mixed == KOINE_NONE)
        return k->m[r->bit].i;
    release(p);
    return literal_value(r, left, right);
}

/* From the operands as they are; false: they have no value. */
static inline bool decide(Machine *k, uint32_t relation, bool *value)
{
    const KoineRelation *r = &k->program->events.decisions.relations[relation];
    Pin *p = &k->pins.relations[relation];
    *value = k->m[r->bit].i;
    run_kernel(k, r->kernel, r->row, 1);
    if (is_masked(k, r->selector, r->branch)) {
        if (r->is_time)
            koine_calendar_remove(k, r->calendar);
        if (r->timed != KOINE_NONE)
            koine_timed_stop(k, relation);
        return true;
    }
    if (r->timed != KOINE_NONE && koine_timed_is_known(k, relation, p))
        return true;
    if (!r->is_time && (isnan(k->m[r->left].r) || isnan(k->m[r->right].r)))
        return r->is_guarded;
    *value = r->is_time ? value_of_time_relation(k, r, p) : value_of_state_relation(k, r, p);
    return true;
}

static inline void set_bit(Machine *k, const KoineRelation *r, bool value)
{
    if (k->m[r->bit].i == value)
        return;
    k->m[r->bit].i = value;
    k->instant->is_changed = 1;
    cell_changed(k, r->cell);
    if (k->instant->event_step > MANY_STEPS)
        koine_note_restless(k, r);
}

static KoineStatus evaluate_relation(Machine *k, const KoineNode *node)
{
    const KoineRelation *r = &k->program->events.decisions.relations[node->object];
    bool value;
    if (r->mixed != KOINE_NONE)
        return koine_decide_together(k, node);
    if (!decide(k, node->object, &value))
        return koine_fault(k, KOINE_FAILED, node->origin, NULL);
    set_bit(k, r, value);
    return KOINE_OK;
}

bool koine_decide(Machine *k, uint32_t relation, bool *value)
{
    return decide(k, relation, value);
}

void koine_set_bit(Machine *k, const KoineRelation *r, bool value)
{
    set_bit(k, r, value);
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

static int64_t value_of_step(Machine *k, const KoineStep *s, Pin *p)
{
    const double slope = s->is_time ? k->m[s->slope].r : 0;
    const double key = s->is_time ? k->m[s->offset].r : k->m[s->argument].r;
    const double argument = s->is_time ? slope * k->m[k->program->slots.time].r + key : key;
    if (p->state != PIN_FREE && s->root != KOINE_NONE && !k->bands.held[s->root] && !k->bands.held[s->root + 1] &&
        has_jumped(k, s->node))
        p->state = PIN_RELEASED;
    if (p->state == PIN_NEW) {
        p->state = PIN_SET;
        p->at = key;
        p->slope = slope;
    }
    const double width = s->is_time ? 0 : band_of(s->band, argument, 0);
    if (p->state == PIN_SET && fabs(key - p->at) <= width && slope == p->slope)
        return k->m[s->value].i;
    release(p);
    const double value = step_value(s, argument);
    if (!(fabs(value) < 9e18))
        return 0;
    if (s->is_time && slope != 0 && k->time.rule->decides_edges) {
        bool late;
        const double edge = edge_time(s, (int64_t)value, slope, key, &late);
        if (koine_has_passed(k->time.rule, k->time.resolution, edge, late, k->m[k->program->slots.time].r))
            return (int64_t)value + (slope > 0 ? 1 : -1);
    }
    return (int64_t)value;
}

static void schedule_step(Machine *k, const KoineStep *s, int64_t value)
{
    const double slope = k->m[s->slope].r, offset = k->m[s->offset].r;
    bool late;
    const double time = edge_time(s, value, slope, offset, &late);
    if (slope == 0 || !isfinite(slope) || !isfinite(time)) {
        koine_calendar_remove(k, s->calendar);
        return;
    }
    koine_calendar_at(k, s->calendar, time, late);
}

static KoineStatus evaluate_step(Machine *k, const KoineNode *node)
{
    const KoineStep *s = &k->program->events.decisions.steps[node->object];
    run_kernel(k, s->kernel, s->row, 1);
    const uint32_t owner = k->program->events.decisions.n_relations + node->object;
    Pin *p = &k->pins.steps[node->object];
    if (is_masked(k, s->selector, s->branch)) {
        if (s->is_time)
            koine_calendar_remove(k, s->calendar);
        if (s->timed != KOINE_NONE)
            koine_timed_stop(k, owner);
        return KOINE_OK;
    }
    if (s->timed != KOINE_NONE && koine_timed_is_known(k, owner, p))
        return KOINE_OK;
    if (!s->is_time && !isfinite(k->m[s->argument].r))
        return s->is_guarded ? KOINE_OK : koine_fault(k, KOINE_FAILED, node->origin, NULL);
    const int64_t value = value_of_step(k, s, p);
    if (s->is_time)
        schedule_step(k, s, value);
    if (k->m[s->value].i == value)
        return KOINE_OK;
    k->m[s->value].i = value;
    k->instant->is_changed = 1;
    cell_changed(k, s->cell);
    return s->mixed == KOINE_NONE ? KOINE_OK : koine_count_round(k, s->mixed);
}

/* ---- assignments, systems, transitions ---- */
static bool is_good(const KoineSlot *slot, bool is_real)
{
    return is_real ? isfinite(slot->r) : slot->i != INT64_MIN;
}

static KoineStatus evaluate_scalar(Machine *k, const KoineNode *node)
{
    KoineSlot *out = &k->m[node->output];
    const KoineSlot before = *out;
    run_kernel(k, node->kernel, node->row, 1);
    const bool changed = out->i != before.i;
    if (changed && !is_good(out, node->is_real)) {
        const KoineStatus status = koine_fault(k, KOINE_FAILED, node->origin, NULL);
        *out = before;
        return status;
    }
    if (changed)
        cell_moved(k, node->cell);
    pass_jump_on(k, node, node->cell, changed);
    return KOINE_OK;
}

static KoineStatus evaluate_array(Machine *k, const KoineNode *node)
{
    /* Elements are not compared one by one: an array counts as changed when it is computed. */
    run_kernel(k, node->kernel, node->row, node->n);
    for (uint32_t j = 0; j < node->n; j++)
        if (!is_good(&k->m[node->output + j * node->stride], node->is_real))
            return koine_fault(k, KOINE_FAILED, node->origin, NULL);
    cell_moved(k, node->cell);
    pass_jump_on(k, node, node->cell, !k->instant->is_general);
    return KOINE_OK;
}

static KoineStatus evaluate_system(Machine *k, const KoineNode *node)
{
    const KoineSystem *s = &k->program->systems.at[node->object];
    const bool was_searching = k->spaces.is_searching;
    k->spaces.is_searching |= k->m[k->program->slots.initial].i == 0;
    const KoineStatus status = koine_solve_system(k, node->object);
    k->spaces.is_searching = was_searching;
    if (status != KOINE_OK)
        return status < 0 ? status : KOINE_FAILED;
    for (uint32_t j = 0; j < s->n; j++) {
        const bool is_same = s->kind == KOINE_SYSTEM_ITERATE && k->m[s->guesses[j]].i == k->m[s->unknowns[j]].i;
        k->m[s->guesses[j]] = k->m[s->unknowns[j]];
        if (!is_same)
            cell_moved(k, s->cells[j]);
        pass_jump_on(k, node, s->cells[j], !is_same && !k->instant->is_general);
    }
    for (uint32_t j = 0; j < s->n_inner; j++) {
        cell_moved(k, s->cells[s->n + j]);
        pass_jump_on(k, node, s->cells[s->n + j], !k->instant->is_general);
    }
    return KOINE_OK;
}

static void evaluate_transition(Machine *k, const KoineNode *node)
{
    const KoineTransition *t = &k->program->events.firings.transitions[node->object];
    bool is_enabled = t->trigger == KOINE_TRIGGER_INITIAL && k->instant->is_start && k->instant->event_step == 0;
    const bool may_fire = t->trigger != KOINE_TRIGGER_STEP || (k->instant->is_step && k->instant->event_step == 0);
    for (uint32_t j = 0; j < t->n_conditions && !is_enabled && may_fire; j++)
        is_enabled = k->m[t->conditions[j]].i && (t->trigger != KOINE_TRIGGER_EDGE || !k->m[t->before[j]].i);
    if (is_enabled)
        bitset_add(&k->wake.enabled, node->object);
    else
        bitset_remove(&k->wake.enabled, node->object);
}

/* A condition that nothing but its transition reads. */
static inline KoineStatus evaluate_guard(Machine *k, const KoineNode *node)
{
    const int64_t before = k->m[node->output].i;
    run_kernel(k, node->kernel, node->row, 1);
    const int64_t after = k->m[node->output].i;
    if (after == before)
        return KOINE_OK;
    if (after == INT64_MIN)
        return koine_fault(k, KOINE_FAILED, node->origin, NULL);
    if (after)
        bitset_add(&k->wake.enabled, node->object);
    else
        bitset_remove(&k->wake.enabled, node->object);
    return KOINE_OK;
}

static inline KoineStatus evaluate_node(Machine *k, const KoineNode *node)
{
    switch ((KoineNodeKind)node->kind) {
    case KOINE_NODE_ASSIGN: return node->n == 1 ? evaluate_scalar(k, node) : evaluate_array(k, node);
    case KOINE_NODE_SYSTEM: return evaluate_system(k, node);
    case KOINE_NODE_RELATION: return evaluate_relation(k, node);
    case KOINE_NODE_STEP: return evaluate_step(k, node);
    case KOINE_NODE_TRANSITION: evaluate_transition(k, node); return KOINE_OK;
    case KOINE_NODE_GUARD: return evaluate_guard(k, node);
    }
    return KOINE_FAILED;
}

KoineStatus koine_evaluate_node(Machine *k, const KoineNode *node)
{
    return evaluate_node(k, node);
}

static KoineStatus evaluate_dirty(Machine *k)
{
    k->round.group = KOINE_NONE;
    while (!bitset_is_empty(&k->wake.dirty)) {
        const uint32_t n = bitset_take(&k->wake.dirty);
        k->work.statistics.node_evaluations++;
        if (k->work.counts)
            k->work.counts->nodes[n]++;
        KoineStatus status = evaluate_node(k, &k->program->events.graph.nodes[n]);
        if (status == KOINE_OK)
            status = koine_check_calls(k, KOINE_FAILED, k->program->events.graph.nodes[n].origin);
        if (status != KOINE_OK && k->program->events.decisions.n_mixed)
            status = koine_rescue(k, n, status);
        if (status != KOINE_OK)
            return status;
    }
    return KOINE_OK;
}

KoineStatus koine_evaluate_all(Machine *k)
{
    for (uint32_t j = 0; j < k->program->events.graph.n_nodes; j++)
        bitset_add(&k->wake.dirty, j);
    return evaluate_dirty(k);
}

/* Is there a transition that fires after this step? What the conditions were stays: the instant evaluates them. */
bool koine_wants_step(Machine *k)
{
    const KoineProgram *p = k->program;
    bool any = false;
    for (uint32_t j = 0; j < p->events.firings.n_step_conditions; j++) {
        const KoineNode *node = &p->events.graph.nodes[p->events.firings.step_conditions[j]];
        const KoineSlot before = k->m[node->output];
        run_kernel(k, node->kernel, node->row, 1);
        any |= k->m[node->output].i == 1;
        k->m[node->output] = before;
    }
    return any;
}

/* ---- arrive ---- */
static void flip_relation(Machine *k, uint32_t number)
{
    const KoineRelation *r = &k->program->events.decisions.relations[number];
    k->m[r->bit].i = !k->m[r->bit].i;
    k->instant->is_changed = 1;
    pin_relation(k, number);
    cell_changed(k, r->cell);
    bitset_add(&k->wake.dirty, r->node);
}

static void move_step(Machine *k, uint32_t number, int64_t by)
{
    const KoineStep *s = &k->program->events.decisions.steps[number];
    k->m[s->value].i += by;
    k->instant->is_changed = 1;
    pin_step(k, number);
    cell_changed(k, s->cell);
    bitset_add(&k->wake.dirty, s->node);
}

static void serve_delay(Machine *k, uint32_t delay)
{
    if (!koine_switch_delay(k, delay))
        return;
    k->instant->is_changed = 1;
    cell_changed(k, k->program->events.delays.at[delay].cell);
}

static void serve_entry(Machine *k, uint32_t entry)
{
    k->instant->served = entry < k->program->events.decisions.n_calendar
                             ? k->program->events.decisions.calendar_owner[entry]
                             : KOINE_NONE;
    if (entry >= k->program->events.decisions.n_calendar) {
        serve_delay(k, entry - k->program->events.decisions.n_calendar);
        return;
    }
    const uint32_t owner = k->program->events.decisions.calendar_owner[entry],
                   n = k->program->events.decisions.n_relations;
    const bool is_timed = (owner < n ? k->program->events.decisions.relations[owner].timed
                                     : k->program->events.decisions.steps[owner - n].timed) != KOINE_NONE;
    koine_calendar_remove(k, entry);
    k->instant->bend = 0;
    if (is_timed && koine_timed_is_blind(k, owner))
        bitset_add(&k->wake.dirty, owner < n ? k->program->events.decisions.relations[owner].node
                                             : k->program->events.decisions.steps[owner - n].node);
    else if (owner < n)
        flip_relation(k, owner);
    else if (is_timed)
        move_step(k, owner - n, koine_timed_direction(k, owner - n));
    else
        move_step(k, owner - n, k->m[k->program->events.decisions.steps[owner - n].slope].r > 0 ? 1 : -1);
}

static double window(double t)
{
    return MERGE_ULPS * DBL_EPSILON * fabs(t);
}

/* Entries whose new value holds at t itself; a late one, too, once its time has passed. */
static void serve_due(Machine *k, double t)
{
    while (k->instant->n_heap) {
        const uint32_t entry = k->calendar.heap[0];
        const Entry *e = &k->calendar.entries[entry];
        if (e->time > t + window(t) || (e->late && e->time >= t - window(t)))
            return;
        if (e->is_open)
            koine_timed_extend(k, entry);
        else
            serve_entry(k, entry);
    }
}

/* What holds only after t: served when the instant has settled, as further steps of it. */
static bool serve_late(Machine *k, double t)
{
    bool any = false;
    while (k->instant->n_heap && k->calendar.entries[k->calendar.heap[0]].time <= t + window(t)) {
        const uint32_t entry = k->calendar.heap[0];
        if (k->calendar.entries[entry].is_open) {
            koine_timed_extend(k, entry);
            continue;
        }
        serve_entry(k, entry);
        any = true;
    }
    return any;
}

static void serve_roots(Machine *k, const uint8_t *crossed)
{
    const KoineProgram *p = k->program;
    if (k->time.rule->puts_on_borders)
        koine_put_on_borders(k, crossed);
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        if (!crossed[j])
            continue;
        const uint32_t owner = p->events.decisions.root_owner[j], n = p->events.decisions.n_relations;
        koine_count_flip(k, j);
        if (owner < n)
            flip_relation(k, owner);
        else if (!k->instant->has_states || !koine_is_inside(k, &p->events.decisions.steps[owner - n]))
            move_step(k, owner - n, j == p->events.decisions.steps[owner - n].root ? -1 : 1);
    }
}

/* A variable that rests on its limit makes no events: its relation stays pinned while it is inside the band. So does
 * one that chatters: it crosses well beyond its border. */
static void pin_widened(Machine *k)
{
    const KoineProgram *p = k->program;
    for (uint32_t j = 0; k->instant->n_widened + k->instant->n_held && j < p->events.decisions.n_roots; j++) {
        if (k->bands.widened[j] == 0 && !k->bands.held[j])
            continue;
        const uint32_t owner = p->events.decisions.root_owner[j], n = p->events.decisions.n_relations;
        if (owner < n)
            pin_relation(k, owner);
        else
            pin_step(k, owner - n);
    }
}

static void take_left_limits(Machine *k)
{
    const KoineProgram *p = k->program;
    bool is_computed = false;
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        if (!pre->is_continuous)
            continue;
        if (!is_computed) { /* with frozen bits: what the equations give on this side */
            koine_run_part(k, &p->parts.derivatives);
            koine_run_part(k, &p->parts.outputs);
            is_computed = true;
        }
        memcpy(&k->m[pre->pre], &k->m[pre->now], pre->n * sizeof(KoineSlot));
        wake_readers(k, pre->cell);
        cell_jumped(k, pre->cell);
    }
}

static void wake_transitions(Machine *k, KoineTriggerKind trigger)
{
    const KoineProgram *p = k->program;
    for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
        if (p->events.graph.nodes[j].kind == KOINE_NODE_TRANSITION &&
            p->events.firings.transitions[p->events.graph.nodes[j].object].trigger == trigger)
            bitset_add(&k->wake.dirty, j);
}

/* A run goes on where an earlier one stopped. Anything may have been written in between: all is evaluated again, and
 * what still has the operands it had keeps its value, even one that rounding would decide otherwise. */
static void take_up(Machine *k)
{
    const KoineProgram *p = k->program;
    koine_take_time(k);
    k->instant->has_terminated = 0;
    for (uint32_t j = 0; j < p->events.decisions.n_relations; j++) {
        const KoineRelation *r = &p->events.decisions.relations[j];
        if (r->timed != KOINE_NONE)
            koine_timed_resume(k, j);
        else if (!is_masked(k, r->selector, r->branch))
            pin_at(k, &k->pins.relations[j], j, r->is_time ? k->m[r->flip].r : k->m[r->left].r - k->m[r->right].r,
                   r->is_time ? k->m[r->slope].r : 0);
    }
    for (uint32_t j = 0; j < p->events.decisions.n_steps; j++) {
        const KoineStep *s = &p->events.decisions.steps[j];
        if (s->timed != KOINE_NONE)
            koine_timed_resume(k, p->events.decisions.n_relations + j);
        else if (!is_masked(k, s->selector, s->branch))
            pin_at(k, &k->pins.steps[j], p->events.decisions.n_relations + j,
                   s->is_time ? k->m[s->offset].r : k->m[s->argument].r, s->is_time ? k->m[s->slope].r : 0);
    }
    koine_run_part(k, &p->parts.parameters);
    koine_forget_solutions(k);
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++)
        memcpy(&k->m[p->events.graph.pres[j].pre], &k->m[p->events.graph.pres[j].now],
               p->events.graph.pres[j].n * sizeof(KoineSlot));
    for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
        bitset_add(&k->wake.dirty, j);
}

void koine_wake_readers(Machine *k, uint32_t cell)
{
    wake_readers(k, cell);
}

KoineStatus koine_machine_arrive(KoineModel *model, const KoineArrival *arrival)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    Instant *now = k->instant;
    k->m[p->slots.time].r = arrival->time;
    if (arrival->x && arrival->x != &k->m[p->slots.x].r && p->slots.n_x)
        memcpy(&k->m[p->slots.x], arrival->x, p->slots.n_x * sizeof(double));
    now->event_step = 0;
    now->n_pending = 0;
    now->is_changed = now->is_restart = now->has_states = 0;
    now->at_stop = (arrival->cause & KOINE_AT_STOP) != 0;
    now->is_start = (arrival->cause & KOINE_AT_START) != 0;
    now->bend = arrival->cause & ~(unsigned)KOINE_AT_TIME ? 0 : UINT8_MAX;
    model->fault.text[0] = 0;
    if (p->events.delays.n_moving)
        koine_read_delays(k);
    if (arrival->cause & KOINE_AT_STEP && p->systems.n_sets)
        koine_switch_sets(k);
    now->is_general = (arrival->cause & (KOINE_AT_INPUT | KOINE_AT_CONTINUE)) != 0;
    now->has_pins = p->events.decisions.n_roots && !now->is_start &&
                    (arrival->cause & (KOINE_AT_ROOTS | KOINE_AT_CONTINUE) || now->n_widened + now->n_held);
    if (!now->is_start)
        take_left_limits(k);
    koine_begin_jumps(k, !(arrival->cause & (KOINE_AT_START | KOINE_AT_CONTINUE)));
    now->has_left = now->has_pins && !(arrival->cause & KOINE_AT_CONTINUE) && (now->n_held || arrival->take_inputs) &&
                    koine_run_part(k, &p->parts.roots) == KOINE_OK;
    if (arrival->take_inputs)
        arrival->take_inputs(arrival->inputs);
    pin_widened(k);
    if (arrival->cause & KOINE_AT_CONTINUE) {
        take_up(k);
        if (koine_check_formulas(k) != KOINE_OK || koine_take_up_delays(k) != KOINE_OK)
            return KOINE_FAILED;
    }
    for (uint32_t j = 0; j < p->events.graph.n_moving; j++)
        bitset_add(&k->wake.dirty, p->events.graph.moving[j]);
    if (arrival->cause & KOINE_AT_INPUT && p->events.delays.n_moving)
        now->is_restart = 1; /* signals from outside may bend here: histories, too */
    if (arrival->cause & KOINE_AT_INPUT)
        for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
            bitset_add(&k->wake.dirty, j);
    if (now->is_start) /* everything else was evaluated by initialise */
        wake_transitions(k, KOINE_TRIGGER_INITIAL);
    now->is_step = p->events.firings.n_step_conditions && (arrival->cause & KOINE_AT_STEP);
    if (now->is_step)
        wake_transitions(k, KOINE_TRIGGER_STEP);
    if ((arrival->cause & KOINE_AT_ROOTS) && arrival->crossed)
        serve_roots(k, arrival->crossed);
    if (!now->is_start)
        serve_due(k, arrival->time);
    return KOINE_OK;
}

/* ---- step ---- */
static bool differs(const Machine *k, const KoinePre *pre)
{
    return memcmp(&k->m[pre->now], &k->m[pre->pre], pre->n * sizeof(KoineSlot)) != 0;
}

static bool is_settled(Machine *k)
{
    Instant *now = k->instant;
    uint32_t n = 0;
    if (now->n_unsettled == 0)
        return true;
    for (uint32_t j = 0; j < now->n_unsettled; j++) {
        const uint32_t pre = k->writes.unsettled[j];
        if (differs(k, &k->program->events.graph.pres[pre]))
            k->writes.unsettled[n++] = pre;
        else
            k->writes.is_unsettled[pre] = 0;
    }
    now->n_unsettled = n;
    return n == 0;
}

static KoineStatus report_conflict(Machine *k, const KoineNext *first, const KoineNext *second)
{
    char text[256], other[KOINE_FAULT_TEXT], name[128];
    koine_slot_name(k->program->tables, second->variable, second->target, name, sizeof name);
    koine_fault(k, KOINE_CONFLICT, first->origin, "the other assignment");
    snprintf(other, sizeof other, "%.400s", k->model->fault.text);
    snprintf(text, sizeof text, "two events assign '%.100s' in one event step (%s %u)", name,
             koine_control_names.event_step, k->instant->event_step);
    koine_fault(k, KOINE_CONFLICT, second->origin, text);
    KoineText more = koine_text_behind(k->model->fault.text, sizeof k->model->fault.text);
    koine_text_add(&more, "; %s", other);
    return koine_because(k, KOINE_CAUSE_CONFLICT, KOINE_CONFLICT);
}

static KoineStatus buffer_next(Machine *k, uint32_t number)
{
    const KoineNext *next = &k->program->events.firings.nexts[number];
    run_kernel(k, next->kernel, next->row, 1);
    if (next->guard != KOINE_NONE && !k->m[next->guard].i)
        return KOINE_OK;
    if (!is_good(&k->m[next->buffer], next->is_real))
        return koine_fault(k, KOINE_FAILED, next->origin, NULL);
    const KoineStatus status = koine_check_calls(k, KOINE_FAILED, next->origin);
    if (status != KOINE_OK)
        return status;
    if (k->writes.stamps[next->writer] == k->instant->step)
        return report_conflict(k, &k->program->events.firings.nexts[k->writes.writers[next->writer]], next);
    k->writes.stamps[next->writer] = k->instant->step;
    k->writes.writers[next->writer] = number;
    k->writes.pending[k->instant->n_pending++] = number;
    return KOINE_OK;
}

/* The transition and the assignments it left pending from `first` on. */
static void tell_fired(const Machine *k, const KoineTransition *t, uint32_t first)
{
    const KoineProgram *p = k->program;
    const KoineHost *host = k->model->host;
    KoineFiring firing = { .where = { "", "", { 0 } }, .variable = -1, .event_step = k->instant->event_step + 1 };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, k->model, t->origin, &firing.where);
    host->fired(host->context, k->model, &firing);
    for (uint32_t j = first; j < k->instant->n_pending; j++) {
        const KoineNext *next = &p->events.firings.nexts[k->writes.pending[j]];
        if (next->variable == KOINE_NONE)
            continue;
        firing.variable = (int32_t)next->variable;
        firing.element = (uint32_t)(next->target - p->tables->variables[next->variable].now / sizeof(KoineSlot));
        firing.before = k->m[next->target];
        firing.after = k->m[next->buffer];
        host->fired(host->context, k->model, &firing);
    }
}

static KoineStatus fire(Machine *k)
{
    const KoineProgram *p = k->program;
    const bool is_heard = k->model->host && k->model->host->fired;
    for (uint32_t n = bitset_next(&k->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&k->wake.enabled, n + 1)) {
        const KoineTransition *t = &p->events.firings.transitions[n];
        k->work.statistics.transitions_fired++;
        if (k->work.counts)
            k->work.counts->transitions[n]++;
        const uint32_t first = k->instant->n_pending;
        for (uint32_t j = 0; j < t->n_next; j++) {
            const KoineStatus status = buffer_next(k, t->first_next + j);
            if (status != KOINE_OK)
                return status;
        }
        if (is_heard)
            tell_fired(k, t, first);
        for (uint32_t j = 0; j < t->n_actions; j++) /* arguments as they are before the commit */
            run_kernel(k, p->events.firings.actions[t->first_action + j].kernel,
                       p->events.firings.actions[t->first_action + j].row, 1);
    }
    return KOINE_OK;
}

KoineStatus koine_machine_step(KoineModel *model, KoineOutcome *outcome)
{
    Machine *k = koine_machine_of(model);
    Instant *now = k->instant;
    outcome->flags = 0;
    KoineStatus status = evaluate_dirty(k);
    while (status == KOINE_OK && bitset_is_empty(&k->wake.enabled) && is_settled(k)) {
        bool has_jumped = false;
        if (k->spaces.jump_space)
            status = koine_jump(k, &has_jumped);
        if (status != KOINE_OK)
            return status;
        if (has_jumped) {
            status = evaluate_dirty(k);
            continue;
        }
        if (now->at_stop || !serve_late(k, k->m[k->program->slots.time].r)) {
            outcome->event_step = now->event_step;
            return KOINE_OK;
        }
        status = evaluate_dirty(k);
    }
    if (status != KOINE_OK)
        return status;
    const uint32_t limit = model->host && model->host->max_steps ? model->host->max_steps : DEFAULT_STEPS;
    if (now->event_step + KOINE_CYCLE_WINDOW >= limit) {
        koine_look_for_cycle(k, limit);
        if (now->event_step >= limit)
            return koine_report_endless(k, limit);
    }
    now->step++;
    status = fire(k);
    outcome->flags = KOINE_COMMIT;
    outcome->event_step = now->event_step;
    return status;
}

/* ---- commit ---- */
KoineStatus koine_machine_commit(KoineModel *model, KoineOutcome *outcome)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    Instant *now = k->instant;
    const uint32_t n_unsettled = now->n_unsettled;
    now->n_unsettled = 0;
    for (uint32_t j = 0; j < n_unsettled; j++) { /* pre(v) := v */
        const KoinePre *pre = &p->events.graph.pres[k->writes.unsettled[j]];
        k->writes.is_unsettled[k->writes.unsettled[j]] = 0;
        if (!pre->is_continuous && differs(k, pre)) /* what reads pre(v) sees another value */
            now->is_changed = 1;
        memcpy(&k->m[pre->pre], &k->m[pre->now], pre->n * sizeof(KoineSlot));
        wake_readers(k, pre->cell);
        cell_jumped(k, pre->cell);
        now->is_restart |= p->events.graph.feeds_dynamics[pre->cell];
    }
    for (uint32_t j = 0; j < now->n_pending; j++) {
        const KoineNext *next = &p->events.firings.nexts[k->writes.pending[j]];
        if (k->m[next->target].i == k->m[next->buffer].i)
            continue;
        k->m[next->target] = k->m[next->buffer];
        now->is_changed = 1;
        if (next->is_state) {
            now->has_states = now->is_restart = 1;
            koine_disarm_jumps(k);
        }
        cell_changed(k, next->cell);
    }
    now->n_pending = 0;
    if (p->events.firings.n_actions)
        koine_run_actions(k);
    if (now->is_start && now->event_step == 0) /* they fire once */
        wake_transitions(k, KOINE_TRIGGER_INITIAL);
    if (now->is_step && now->event_step == 0)
        wake_transitions(k, KOINE_TRIGGER_STEP);
    now->event_step++;
    now->is_general = 0;
    outcome->event_step = now->event_step;
    outcome->flags = KOINE_COMMIT;
    return KOINE_OK;
}

/* ---- flips without consequences ---- */
/* Would the node, which reads discrete values only, have another value now? */
static bool is_stale(const Machine *k, const KoineNode *node)
{
    KoineSlot *out = &k->m[node->output];
    const KoineSlot before = *out;
    run_kernel(k, node->kernel, node->row, 1);
    const bool changed = out->i != before.i;
    *out = before;
    return changed;
}

KoineStatus koine_machine_flip(KoineModel *model, uint32_t root)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    const uint32_t owner = p->events.decisions.root_owner[root];
    if (owner >= p->events.decisions.n_relations || !p->events.decisions.relations[owner].may_be_quiet)
        return KOINE_ABSENT;
    const KoineRelation *r = &p->events.decisions.relations[owner];
    k->m[r->bit].i = !k->m[r->bit].i;
    for (uint32_t j = p->events.graph.readers_start[r->cell]; j < p->events.graph.readers_start[r->cell + 1]; j++) {
        if (k->work.counts)
            k->work.counts->nodes[p->events.graph.readers[j]]++;
        if (is_stale(k, &p->events.graph.nodes[p->events.graph.readers[j]])) {
            k->m[r->bit].i = !k->m[r->bit].i;
            return KOINE_RETRY;
        }
    }
    k->instant->n_widened -= k->bands.widened[root] > 0;
    k->bands.widened[root] = 0;
    return KOINE_OK;
}

/* ---- leave ---- */
KoineStatus koine_machine_leave(KoineModel *model, KoineOutcome *outcome)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    Instant *now = k->instant;
    if (p->events.delays.n && koine_reserve_points(k) == KOINE_GROW)
        return KOINE_GROW;
    for (uint32_t j = 0; j < now->n_pinned; j++) {
        const uint32_t n = k->pins.numbers[j];
        (n < p->events.decisions.n_relations ? &k->pins.relations[n]
                                             : &k->pins.steps[n - p->events.decisions.n_relations])
            ->state = PIN_FREE;
    }
    now->n_pinned = 0;
    if (now->has_pins)
        memset(k->wake.jumped, 0, (p->events.graph.n_nodes + 63) / 64 * sizeof *k->wake.jumped);
    now->has_inputs = 0;
    koine_consider_upgrade(k);
    if (p->events.decisions.n_roots)
        koine_widen_bands(k);
    if (p->events.delays.n)
        koine_leave_delays(k);
    outcome->event_step = now->event_step;
    outcome->flags = (now->is_changed ? KOINE_CHANGED : 0u) | (now->has_states ? KOINE_STATES : 0u) |
                     (now->is_restart ? KOINE_RESTART : 0u) | (now->has_terminated ? KOINE_TERMINATE : 0u);
    outcome->next_time = now->n_heap ? k->calendar.entries[k->calendar.heap[0]].time : INFINITY;
    return KOINE_OK;
}
