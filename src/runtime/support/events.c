/* Event steps driven by change: an instant works on exactly the nodes that something woke.
 * The order of the functions is that of an instant behind its arrival (arrive.c): step, commit, leave
 * (docs/semantics.md). */
#include "modes.h"
#include "texts.h"
#include "wake.h"
#include <stdio.h>

static const uint32_t DEFAULT_STEPS = 1000; /* event steps at one instant, where the host names no limit */

KoineStatus koine_fault(Machine *m, KoineStatus status, uint32_t origin, const char *text)
{
    KoineModel *model = m->model;
    char why[160];
    const bool is_text = !text && koine_texts_failure(m, why, sizeof why);
    if (is_text)
        text = why;
    model->fault.origin = -1;
    model->fault.variable = -1;
    model->fault.cause = KOINE_CAUSE_NONE;
    model->fault.place = (KoinePlace){ 0 };
    model->fault.block[0] = 0;
    model->fault.time = m->slots[m->program->slots.time].r;
    snprintf(model->fault.text, sizeof model->fault.text, "%s", text ? text : "");
    if (m->program->explain.fault)
        m->program->explain.fault(m->program->explain.context, model, origin);
    if (is_text)
        model->fault.cause = KOINE_CAUSE_NOT_FINITE;
    return status;
}

/* ---- step ---- */
static bool differs(const Machine *m, const KoinePre *pre)
{
    return memcmp(&m->slots[pre->now], &m->slots[pre->pre], pre->n * sizeof(KoineSlot)) != 0;
}

static bool is_settled(Machine *m)
{
    Instant *now = m->instant;
    uint32_t n = 0;
    if (now->n_unsettled == 0)
        return true;
    for (uint32_t j = 0; j < now->n_unsettled; j++) {
        const uint32_t pre = m->writes.unsettled[j];
        if (differs(m, &m->program->events.graph.pres[pre]))
            m->writes.unsettled[n++] = pre;
        else
            m->writes.is_unsettled[pre] = 0;
    }
    now->n_unsettled = n;
    return n == 0;
}

static KoineStatus report_conflict(Machine *m, const KoineNext *first, const KoineNext *second)
{
    char text[256], other[KOINE_FAULT_TEXT], name[128];
    koine_slot_name(m->program->tables, second->variable, second->target, name, sizeof name);
    koine_fault(m, KOINE_CONFLICT, first->origin, "the other assignment");
    snprintf(other, sizeof other, "%.400s", m->model->fault.text);
    snprintf(text, sizeof text, "two events assign '%.100s' in one event step (%s %u)", name,
             koine_control_names.event_step, m->instant->event_step);
    koine_fault(m, KOINE_CONFLICT, second->origin, text);
    KoineText more = koine_text_behind(m->model->fault.text, sizeof m->model->fault.text);
    koine_text_add(&more, "; %s", other);
    return koine_because(m, KOINE_CAUSE_CONFLICT, KOINE_CONFLICT);
}

static KoineStatus buffer_next(Machine *m, uint32_t number)
{
    const KoineNext *next = &m->program->events.firings.nexts[number];
    if (next->kernel != KOINE_NONE)
        run_kernel(m, next->kernel, next->row, 1);
    if (next->guard != KOINE_NONE && !m->slots[next->guard].i)
        return KOINE_OK;
    if (!is_good(&m->slots[next->buffer], next->is_real))
        return koine_fault(m, KOINE_FAILED, next->origin, NULL);
    const KoineStatus status = koine_check_calls(m, KOINE_FAILED, next->origin);
    if (status != KOINE_OK)
        return status;
    if (m->writes.stamps[next->writer] == m->instant->step)
        return report_conflict(m, &m->program->events.firings.nexts[m->writes.writers[next->writer]], next);
    m->writes.stamps[next->writer] = m->instant->step;
    m->writes.writers[next->writer] = number;
    m->writes.pending[m->instant->n_pending++] = number;
    return KOINE_OK;
}

/* The transition and the assignments it left pending, from `first` to `end`. */
static void tell_fired(const Machine *m, const KoineTransition *t, uint32_t first, uint32_t end)
{
    const KoineProgram *p = m->program;
    const KoineHost *host = m->model->host;
    KoineFiring firing = { .where = { "", "", { 0 } }, .variable = -1, .event_step = m->instant->event_step + 1 };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, m->model, t->origin, &firing.where);
    host->fired(host->context, m->model, &firing);
    for (uint32_t j = first; j < end; j++) {
        const KoineNext *next = &p->events.firings.nexts[m->writes.pending[j]];
        if (next->variable == KOINE_NONE)
            continue;
        firing.variable = (int32_t)next->variable;
        firing.element = (uint32_t)(next->target - p->tables->variables[next->variable].now / sizeof(KoineSlot));
        firing.before = m->slots[next->target];
        firing.after = m->slots[next->buffer];
        host->fired(host->context, m->model, &firing);
    }
}

/* What has fired, when all of it could be computed, to those who want to know. */
static void report_fired(Machine *m)
{
    const bool is_heard = m->model->host && m->model->host->fired;
    uint32_t at = 0;
    if (!is_heard && !m->work.counts)
        return;
    for (uint32_t n = bitset_next(&m->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&m->wake.enabled, n + 1)) {
        const KoineTransition *t = &m->program->events.firings.transitions[n];
        const uint32_t first = at;
        if (m->work.counts)
            m->work.counts->transitions[n]++;
        if (!is_heard)
            continue;
        while (at < m->instant->n_pending && m->writes.pending[at] - t->first_next < t->n_next)
            at++;
        tell_fired(m, t, first, at);
    }
}

static KoineStatus evaluate(Machine *m)
{
    const KoineStatus status = koine_evaluate_dirty(m);
    return status == KOINE_OK && m->program->events.delays.n_changing ? koine_follow_delays(m) : status;
}

/* Arguments as they are before the commit; they count if the action is carried out. */
static KoineStatus compute_action(Machine *m, const KoineAction *a)
{
    run_kernel(m, a->kernel, a->row, 1);
    if (a->kind == KOINE_ACTION_SEND)
        return koine_check_message(m, a);
    if (!m->slots[a->guard].i)
        return KOINE_OK;
    for (uint32_t j = 0; j < a->n_args; j++)
        if (a->types[j] != KOINE_REAL && m->slots[a->args[j]].i == INT64_MIN)
            return koine_fault(m, KOINE_FAILED, a->origin, NULL);
    return koine_check_calls(m, KOINE_FAILED, a->origin);
}

static KoineStatus fire(Machine *m)
{
    const KoineProgram *p = m->program;
    KoineStatus status = KOINE_OK;
    uint32_t n_fired = 0;
    m->instant->n_pending = 0;
    for (uint32_t n = bitset_next(&m->wake.enabled, 0); n != UINT32_MAX && status == KOINE_OK;
         n = bitset_next(&m->wake.enabled, n + 1)) {
        const KoineTransition *t = &p->events.firings.transitions[n];
        for (uint32_t j = 0; j < t->n_shared; j++)
            run_kernel(m, t->shared[j].kernel, t->shared[j].row, 1);
        for (uint32_t j = 0; j < t->n_next && status == KOINE_OK; j++)
            status = buffer_next(m, t->first_next + j);
        for (uint32_t j = 0; j < t->n_actions && status == KOINE_OK; j++)
            status = compute_action(m, &p->events.firings.actions[t->first_action + j]);
        n_fired++;
    }
    if (status != KOINE_OK)
        return status;
    m->work.statistics.transitions_fired += n_fired;
    report_fired(m);
    return KOINE_OK;
}

/* Nothing is left to commit. */
static bool is_at_rest(Machine *m)
{
    return bitset_is_empty(&m->wake.enabled) && is_settled(m) && m->instant->n_passing == 0 &&
           !(m->program->foreigns.n && koine_components_want(m));
}

static KoineStatus step(Machine *m, KoineOutcome *outcome)
{
    const KoineModel *model = m->model;
    Instant *now = m->instant;
    outcome->flags = 0;
    KoineStatus status;
    const bool has_modes = m->program->mode.n || m->program->mode.n_excluded;
    while ((status = evaluate(m)) == KOINE_OK && (!has_modes || koine_mode_holds(m)) &&
           (m->spaces.is_entering || is_at_rest(m))) {
        const bool is_entering = m->spaces.is_entering; /* its constraints come before all that fires */
        bool has_jumped = false;
        m->spaces.is_entering = false;
        if (m->spaces.jump_space)
            status = koine_jump(m, &has_jumped);
        if (status != KOINE_OK)
            return status;
        if (!has_jumped && !is_entering && (now->at_stop || !koine_serve_late(m, m->slots[m->program->slots.time].r))) {
            outcome->event_step = now->event_step;
            return KOINE_OK;
        }
    }
    if (has_modes && !koine_mode_holds(m)) {
        outcome->flags = KOINE_MODE_ENDS;
        return KOINE_OK;
    }
    if (status != KOINE_OK)
        return status;
    const uint32_t limit = model->host && model->host->max_steps ? model->host->max_steps : DEFAULT_STEPS;
    if (now->event_step + KOINE_CYCLE_WINDOW >= limit) {
        koine_look_for_cycle(m, limit);
        if (now->event_step >= limit)
            return koine_report_endless(m, limit);
    }
    now->step++;
    status = fire(m);
    outcome->flags = KOINE_COMMIT;
    outcome->event_step = now->event_step;
    return status;
}

KoineStatus koine_machine_step(KoineModel *model, KoineOutcome *outcome)
{
    Machine *m = koine_machine_of(model);
    const KoineStatus status = step(m, outcome);
    return m->program->texts.slot == KOINE_NONE ? status : koine_texts_settle(m, status);
}

/* ---- commit ---- */
KoineStatus koine_machine_commit(KoineModel *model, KoineOutcome *outcome)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    Instant *now = m->instant;
    const uint32_t n_unsettled = now->n_unsettled;
    now->n_unsettled = 0;
    for (uint32_t j = 0; j < n_unsettled; j++) { /* pre(v) := v */
        const KoinePre *pre = &p->events.graph.pres[m->writes.unsettled[j]];
        m->writes.is_unsettled[m->writes.unsettled[j]] = 0;
        if (!pre->is_continuous && differs(m, pre)) /* what reads pre(v) sees another value */
            now->result.is_changed = 1;
        memcpy(&m->slots[pre->pre], &m->slots[pre->now], pre->n * sizeof(KoineSlot));
        wake_readers(m, pre->cell);
        cell_jumped(m, pre->cell);
        now->result.is_restart |= p->events.graph.feeds_dynamics[pre->cell];
    }
    for (uint32_t j = 0; j < now->n_pending; j++) {
        const KoineNext *next = &p->events.firings.nexts[m->writes.pending[j]];
        if (m->slots[next->target].i == m->slots[next->buffer].i)
            continue;
        m->slots[next->target] = m->slots[next->buffer];
        now->result.is_changed = 1;
        now->bend = 0;
        if (next->is_state) {
            now->result.has_states = now->result.is_restart = 1;
            koine_note_set(m, next->target);
        }
        cell_changed(m, next->cell);
    }
    now->n_pending = 0;
    if (p->events.channels.n)
        koine_take_messages(m);
    KoineStatus status = p->events.firings.n_actions ? koine_run_actions(m) : KOINE_OK;
    if (status == KOINE_OK && p->foreigns.n)
        status = koine_commit_components(m);
    if (status != KOINE_OK)
        return status;
    if (p->events.channels.n)
        koine_show_messages(m);
    if (now->is_start && now->event_step == 0) /* they fire once */
        koine_wake_transitions(m, KOINE_TRIGGER_INITIAL);
    if (now->is_step && now->event_step == 0)
        koine_wake_transitions(m, KOINE_TRIGGER_STEP);
    now->event_step++;
    now->is_general = 0;
    outcome->event_step = now->event_step;
    outcome->flags = KOINE_COMMIT;
    return KOINE_OK;
}

/* ---- flips without consequences ---- */
/* Would the node, which reads discrete values only, have another value now? */
static bool is_stale(const Machine *m, const KoineNode *node)
{
    KoineSlot *out = &m->slots[node->output];
    const KoineSlot before = *out;
    run_kernel(m, node->kernel, node->row, 1);
    const bool changed = out->i != before.i;
    *out = before;
    return changed;
}

KoineStatus koine_machine_flip(KoineModel *model, uint32_t root)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    if (root >= p->events.decisions.n_roots) /* of a component: what it does there only it knows */
        return KOINE_ABSENT;
    const uint32_t owner = p->events.decisions.root_owner[root];
    if (owner >= p->events.decisions.n_relations || !p->events.decisions.relations[owner].may_be_quiet)
        return KOINE_ABSENT;
    const KoineRelation *r = &p->events.decisions.relations[owner];
    m->slots[r->bit].i = !m->slots[r->bit].i;
    for (uint32_t j = p->events.graph.readers_start[r->decision.cell];
         j < p->events.graph.readers_start[r->decision.cell + 1]; j++) {
        if (m->work.counts)
            m->work.counts->nodes[p->events.graph.readers[j]]++;
        if (is_stale(m, &p->events.graph.nodes[p->events.graph.readers[j]])) {
            m->slots[r->bit].i = !m->slots[r->bit].i;
            return KOINE_RETRY;
        }
    }
    m->instant->n_widened -= m->bands.widened[root] > 0;
    m->bands.widened[root] = 0;
    return KOINE_OK;
}

/* ---- leave ---- */
KoineStatus koine_machine_leave(KoineModel *model, KoineOutcome *outcome)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    Instant *now = m->instant;
    double next_time = INFINITY;
    if (p->events.delays.n && koine_reserve_points(m) == KOINE_GROW)
        return KOINE_GROW;
    if (p->texts.slot != KOINE_NONE && koine_texts_tidy(m) != KOINE_OK)
        return KOINE_FAILED;
    now = m->instant;
    if (p->foreigns.n) {
        const KoineStatus status = koine_leave_components(m, &next_time);
        if (status != KOINE_OK)
            return status;
    }
    for (uint32_t j = 0; j < now->n_pinned; j++) {
        const uint32_t n = m->pins.numbers[j];
        (n < p->events.decisions.n_relations ? &m->pins.relations[n]
                                             : &m->pins.steps[n - p->events.decisions.n_relations])
            ->state = PIN_FREE;
    }
    now->n_pinned = 0;
    if (now->has_pins)
        memset(m->wake.jumped, 0, (p->events.graph.n_nodes + 63) / 64 * sizeof *m->wake.jumped);
    now->has_inputs = 0;
    koine_consider_upgrade(m);
    if (p->events.decisions.n_roots)
        koine_widen_bands(m);
    const KoineStatus status = p->events.delays.n ? koine_leave_delays(m) : KOINE_OK;
    if (status != KOINE_OK)
        return status;
    outcome->event_step = now->event_step;
    if (now->n_heap && m->calendar.entries[m->calendar.heap[0]].time < next_time)
        next_time = m->calendar.entries[m->calendar.heap[0]].time;
    outcome->next_time = next_time;
    outcome->flags = (now->result.is_changed ? KOINE_CHANGED : 0u) | (now->result.has_states ? KOINE_STATES : 0u) |
                     (now->result.is_restart ? KOINE_RESTART : 0u) |
                     (now->result.has_terminated ? KOINE_TERMINATE : 0u);
    return KOINE_OK;
}

/* ---- entries ---- */
/* A call from outside between two points of a run: an instant of its own, as a runner makes one. */
KoineStatus koine_machine_entry(KoineModel *model, uint32_t entry)
{
    const Machine *m = koine_machine_of(model);
    if (entry >= m->program->tables->callables.n_entries)
        return KOINE_ABSENT;
    const KoineArrival arrival = { .time = m->slots[m->program->slots.time].r,
                                   .cause = KOINE_AT_ENTRY,
                                   .entry = entry };
    KoineOutcome outcome = { .flags = KOINE_COMMIT };
    KoineStatus status = koine_machine_arrive(model, &arrival);
    while (status == KOINE_OK && outcome.flags & KOINE_COMMIT) {
        status = koine_machine_step(model, &outcome);
        if (status == KOINE_OK && outcome.flags & KOINE_COMMIT)
            status = koine_machine_commit(model, &outcome);
    }
    return status == KOINE_OK ? koine_machine_leave(model, &outcome) : status;
}
