/* An instant begins: comparisons and step functions that were crossed or whose time has come change and are pinned,
 * what moves is woken; see docs/semantics.md. */
#include "wake.h"
#include <float.h>

static const double MERGE_ULPS = 16; /* calendar entries this close belong to one instant */

/* ---- pins ---- */
static void pin_at(Machine *m, Pin *which, uint32_t number, double at, double slope)
{
    if (which->state == PIN_FREE)
        m->pins.numbers[m->instant->n_pinned++] = number;
    *which = (Pin){ .at = at, .slope = slope, .state = PIN_SET };
}

/* What it is compared with later are the operands it arrived with: known here, or at its first evaluation if nothing
 * has jumped. */
static void pin(Machine *m, Pin *which, uint32_t number)
{
    if (which->state == PIN_FREE)
        m->pins.numbers[m->instant->n_pinned++] = number;
    which->state = PIN_NEW;
}

/* An input jumps unnoticed, and a comparison that is held back is not to be decided by each jump that it does not
 * feel. */
static bool knows_left(const Machine *m, uint32_t root)
{
    return m->instant->has_left && (m->instant->is_general || m->bands.held[root]);
}

static void pin_relation(Machine *m, uint32_t number)
{
    const KoineRelation *r = &m->program->events.decisions.relations[number];
    Pin *p = &m->pins.relations[number];
    if (r->decision.is_time)
        pin_at(m, p, number, m->slots[r->flip].r, m->slots[r->decision.slope].r);
    else if (r->decision.root != KOINE_NONE && knows_left(m, r->decision.root))
        pin_at(m, p, number, m->slots[r->left].r - m->slots[r->right].r, 0);
    else
        pin(m, p, number);
}

static void pin_step(Machine *m, uint32_t step)
{
    const KoineStep *s = &m->program->events.decisions.steps[step];
    Pin *p = &m->pins.steps[step];
    const uint32_t number = m->program->events.decisions.n_relations + step;
    if (s->decision.is_time)
        pin_at(m, p, number, m->slots[s->offset].r, m->slots[s->decision.slope].r);
    else if (s->decision.root != KOINE_NONE && (knows_left(m, s->decision.root) || knows_left(m, s->decision.root + 1)))
        pin_at(m, p, number, m->slots[s->argument].r, 0);
    else
        pin(m, p, number);
}

/* ---- what is served ---- */
static void flip_relation(Machine *m, uint32_t number)
{
    const KoineRelation *r = &m->program->events.decisions.relations[number];
    m->slots[r->bit].i = !m->slots[r->bit].i;
    m->instant->result.is_changed = 1;
    if (!r->is_border)
        m->instant->bend = 0;
    pin_relation(m, number);
    cell_changed(m, r->decision.cell);
    bitset_add(&m->wake.dirty, r->decision.node);
}

static void move_step(Machine *m, uint32_t number, int64_t by)
{
    const KoineStep *s = &m->program->events.decisions.steps[number];
    m->slots[s->value].i += by;
    m->instant->result.is_changed = 1;
    m->instant->bend = 0;
    pin_step(m, number);
    cell_changed(m, s->decision.cell);
    bitset_add(&m->wake.dirty, s->decision.node);
}

static void serve_delay(Machine *m, uint32_t delay)
{
    if (!koine_switch_delay(m, delay))
        return;
    m->instant->result.is_changed = 1;
    cell_changed(m, m->program->events.delays.at[delay].cell);
}

static void serve_entry(Machine *m, uint32_t entry)
{
    m->instant->served = entry < m->program->events.decisions.n_calendar
                             ? m->program->events.decisions.calendar_owner[entry]
                             : KOINE_NONE;
    if (entry >= m->program->events.decisions.n_calendar) {
        serve_delay(m, entry - m->program->events.decisions.n_calendar);
        return;
    }
    const uint32_t owner = m->program->events.decisions.calendar_owner[entry],
                   n = m->program->events.decisions.n_relations;
    const KoineDecision *decision = koine_decision_of(&m->program->events.decisions, owner);
    const bool is_timed = decision->timed != KOINE_NONE;
    koine_calendar_remove(m, entry);
    if (is_timed && koine_timed_is_blind(m, owner)) {
        m->instant->bend = 0;
        bitset_add(&m->wake.dirty, decision->node);
    } else if (owner < n)
        flip_relation(m, owner);
    else if (is_timed)
        move_step(m, owner - n, koine_timed_direction(m, owner - n));
    else
        move_step(m, owner - n, m->slots[decision->slope].r > 0 ? 1 : -1);
}

static double window(double t)
{
    return MERGE_ULPS * DBL_EPSILON * fabs(t);
}

/* Entries whose new value holds at t itself; a late one, too, once its time has passed. */
static void serve_due(Machine *m, double t)
{
    while (m->instant->n_heap) {
        const uint32_t entry = m->calendar.heap[0];
        const Entry *e = &m->calendar.entries[entry];
        if (e->time > t + window(t) || (e->late && e->time >= t - window(t)))
            return;
        if (e->is_open)
            koine_timed_extend(m, entry);
        else
            serve_entry(m, entry);
    }
}

/* What holds only after t: served when the instant has settled, as further steps of it. */
bool koine_serve_late(Machine *m, double t)
{
    bool any = false;
    while (m->instant->n_heap && m->calendar.entries[m->calendar.heap[0]].time <= t + window(t)) {
        const uint32_t entry = m->calendar.heap[0];
        if (m->calendar.entries[entry].is_open) {
            koine_timed_extend(m, entry);
            continue;
        }
        serve_entry(m, entry);
        any = true;
    }
    return any;
}

static void serve_roots(Machine *m, const uint8_t *crossed)
{
    const KoineProgram *p = m->program;
    if (m->time.rule->puts_on_borders)
        koine_put_on_borders(m, crossed);
    for (uint32_t j = 0; j < p->events.decisions.n_roots; j++) {
        if (!crossed[j])
            continue;
        const uint32_t owner = p->events.decisions.root_owner[j], n = p->events.decisions.n_relations;
        koine_count_flip(m, j);
        if (owner < n)
            flip_relation(m, owner);
        else if (!m->instant->result.has_states || !koine_is_inside(m, &p->events.decisions.steps[owner - n]))
            move_step(m, owner - n, j == p->events.decisions.steps[owner - n].decision.root ? -1 : 1);
    }
}

/* A variable that rests on its limit makes no events: its relation stays pinned while it is inside the band. So does
 * one that chatters: it crosses well beyond its border. */
static void pin_widened(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; m->instant->n_widened + m->instant->n_held && j < p->events.decisions.n_roots; j++) {
        if (m->bands.widened[j] == 0 && !m->bands.held[j])
            continue;
        const uint32_t owner = p->events.decisions.root_owner[j], n = p->events.decisions.n_relations;
        if (owner < n)
            pin_relation(m, owner);
        else
            pin_step(m, owner - n);
    }
}

static void take_left_limits(Machine *m)
{
    const KoineProgram *p = m->program;
    bool is_computed = p->foreigns.n > 0;
    if (is_computed) { /* components know the inputs on the left */
        koine_run_part(m, &p->parts.derivatives);
        koine_run_part(m, &p->parts.outputs);
    }
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        if (!pre->is_continuous)
            continue;
        if (!is_computed) { /* with frozen bits: what the equations give on this side */
            koine_run_part(m, &p->parts.derivatives);
            koine_run_part(m, &p->parts.outputs);
            is_computed = true;
        }
        memcpy(&m->slots[pre->pre], &m->slots[pre->now], pre->n * sizeof(KoineSlot));
        wake_readers(m, pre->cell);
        cell_jumped(m, pre->cell);
    }
}

void koine_wake_transitions(Machine *m, KoineTriggerKind trigger)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
        if (p->events.graph.nodes[j].kind == KOINE_NODE_TRANSITION &&
            p->events.firings.transitions[p->events.graph.nodes[j].object].trigger == trigger)
            bitset_add(&m->wake.dirty, j);
}

/* ---- changes from outside ---- */
static const KoineOpen *find_open(const Machine *m, uint32_t row)
{
    uint32_t from = 0, to = m->program->events.n_open;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (m->program->events.open[middle].row == row)
            return &m->program->events.open[middle];
        if (m->program->events.open[middle].row < row)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* Who reads it wakes up if it has another value. False: it is no input or state. */
static bool take_change(Machine *m, const KoineChange *change)
{
    const KoineOpen *open = find_open(m, change->variable);
    const KoineVariable *v = &m->program->tables->variables[change->variable];
    if (!open || change->element >= v->count)
        return false;
    KoineSlot *slot = &m->slots[v->now / sizeof(KoineSlot) + change->element], value = change->value;
    if (v->flags & KOINE_VARIABLE_NEGATED && v->type == KOINE_REAL)
        value.r = -value.r;
    else if (v->flags & KOINE_VARIABLE_NEGATED)
        value.i = -value.i;
    if (slot->i == value.i)
        return true;
    *slot = value;
    m->instant->result.is_changed = 1;
    if (open->is_state) {
        m->instant->result.has_states = m->instant->result.is_restart = 1;
        koine_note_set(m, (uint32_t)(slot - m->slots));
    }
    cell_changed(m, open->cell + (open->has_cells ? change->element : 0));
    return true;
}

static KoineStatus take_changes(Machine *m, const KoineArrival *arrival)
{
    for (uint32_t k = 0; k < arrival->n_changes; k++)
        if (arrival->changes[k].variable >= m->program->tables->n_variables || !take_change(m, &arrival->changes[k]))
            return koine_fault(m, KOINE_FAILED, KOINE_NONE, "only inputs and states can be changed from outside");
    return KOINE_OK;
}

/* It is counted, where somebody asks: then the count differs from the one before for one event step. */
static void count_occasions(Machine *m, const KoineArrival *arrival)
{
    const KoineOccasions *o = &m->program->events.occasions;
    for (uint32_t j = 0; j < o->n; j++) {
        if (!(o->at[j].cause & arrival->cause) ||
            (o->at[j].cause == KOINE_AT_ENTRY && o->at[j].entry != arrival->entry))
            continue;
        m->slots[o->at[j].count].i++;
        cell_changed(m, o->at[j].cell);
    }
}

/* A run goes on where an earlier one stopped. Anything may have been written in between: all is evaluated again, and
 * what still has the operands it had keeps its value, even one that rounding would decide otherwise. */
static void take_up(Machine *m)
{
    const KoineProgram *p = m->program;
    koine_take_time(m);
    m->instant->result.has_terminated = 0;
    for (uint32_t j = 0; j < p->events.decisions.n_relations; j++) {
        const KoineRelation *r = &p->events.decisions.relations[j];
        if (r->decision.timed != KOINE_NONE)
            koine_timed_resume(m, j);
        else if (!is_masked(m, &r->decision))
            pin_at(m, &m->pins.relations[j], j,
                   r->decision.is_time ? m->slots[r->flip].r : m->slots[r->left].r - m->slots[r->right].r,
                   r->decision.is_time ? m->slots[r->decision.slope].r : 0);
    }
    for (uint32_t j = 0; j < p->events.decisions.n_steps; j++) {
        const KoineStep *s = &p->events.decisions.steps[j];
        if (s->decision.timed != KOINE_NONE)
            koine_timed_resume(m, p->events.decisions.n_relations + j);
        else if (!is_masked(m, &s->decision))
            pin_at(m, &m->pins.steps[j], p->events.decisions.n_relations + j,
                   s->decision.is_time ? m->slots[s->offset].r : m->slots[s->argument].r,
                   s->decision.is_time ? m->slots[s->decision.slope].r : 0);
    }
    koine_run_part(m, &p->parts.parameters);
    koine_forget_solutions(m);
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++)
        memcpy(&m->slots[p->events.graph.pres[j].pre], &m->slots[p->events.graph.pres[j].now],
               p->events.graph.pres[j].n * sizeof(KoineSlot));
    for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
        bitset_add(&m->wake.dirty, j);
}

KoineStatus koine_machine_arrive(KoineModel *model, const KoineArrival *arrival)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    Instant *now = m->instant;
    m->slots[p->slots.time].r = arrival->time;
    if (arrival->x && arrival->x != &m->slots[p->slots.x].r && p->slots.n_x)
        memcpy(&m->slots[p->slots.x], arrival->x, p->slots.n_x * sizeof(double));
    now->event_step = 0;
    now->n_pending = 0;
    now->result.is_changed = now->result.is_restart = now->result.has_states = 0;
    now->at_stop = (arrival->cause & KOINE_AT_STOP) != 0;
    now->is_start = (arrival->cause & KOINE_AT_START) != 0;
    now->bend = arrival->cause & ~(unsigned)(KOINE_AT_TIME | KOINE_AT_ROOTS | KOINE_AT_STEP) ? 0 : UINT8_MAX;
    model->fault.text[0] = 0;
    if (p->events.delays.n_moving)
        koine_read_delays(m);
    if (arrival->cause & KOINE_AT_STEP && p->systems.n_sets)
        koine_switch_sets(m);
    now->is_general = (arrival->cause & (KOINE_AT_INPUT | KOINE_AT_CONTINUE | KOINE_AT_TERMINAL)) != 0;
    if (p->slots.terminal != KOINE_NONE)
        m->slots[p->slots.terminal].i = (arrival->cause & KOINE_AT_TERMINAL) != 0;
    now->has_pins = p->events.decisions.n_roots && !now->is_start &&
                    (arrival->cause & (KOINE_AT_ROOTS | KOINE_AT_CONTINUE) || now->n_widened + now->n_held);
    if (!now->is_start)
        take_left_limits(m);
    koine_begin_jumps(m, !(arrival->cause & (KOINE_AT_START | KOINE_AT_CONTINUE)));
    now->has_left = now->has_pins && !(arrival->cause & KOINE_AT_CONTINUE) && (now->n_held || arrival->changes) &&
                    koine_run_part(m, &p->parts.roots) == KOINE_OK;
    const KoineStatus arrived = p->foreigns.n ? koine_arrive_components(m, arrival) : KOINE_OK;
    if (arrived != KOINE_OK)
        return arrived;
    if (arrival->changes && take_changes(m, arrival) != KOINE_OK)
        return KOINE_FAILED;
    pin_widened(m);
    if (arrival->cause & KOINE_AT_CONTINUE) {
        koine_limit_calls(m);
        take_up(m);
        if (koine_check_formulas(m) != KOINE_OK || koine_take_up_delays(m) != KOINE_OK)
            return KOINE_FAILED;
    }
    for (uint32_t j = 0; j < p->events.graph.n_moving; j++)
        bitset_add(&m->wake.dirty, p->events.graph.moving[j]);
    if (arrival->cause & KOINE_AT_INPUT && p->events.delays.n_moving)
        now->result.is_restart = 1; /* signals from outside may bend here: histories, too */
    if (arrival->cause & KOINE_AT_TERMINAL || (arrival->cause & KOINE_AT_INPUT && !arrival->changes))
        for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
            bitset_add(&m->wake.dirty, j);
    if (now->is_start) /* everything else was evaluated by initialise */
        koine_wake_transitions(m, KOINE_TRIGGER_INITIAL);
    if (now->is_start && p->events.occasions.has_initial) /* it was true */
        for (uint32_t j = 0; j < p->events.graph.n_nodes; j++)
            bitset_add(&m->wake.dirty, j);
    count_occasions(m, arrival);
    now->is_step = p->events.firings.n_step_conditions && (arrival->cause & KOINE_AT_STEP);
    if (now->is_step)
        koine_wake_transitions(m, KOINE_TRIGGER_STEP);
    if ((arrival->cause & KOINE_AT_ROOTS) && arrival->crossed)
        serve_roots(m, arrival->crossed);
    if (!now->is_start)
        serve_due(m, arrival->time);
    return KOINE_OK;
}
