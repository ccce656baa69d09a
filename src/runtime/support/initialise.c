/* Before the first instant: parameters, start values, the initial system. */
#include "objects.h"
#include "texts.h"
#include <math.h>
#include <stdio.h>

static uint64_t hash_bits(const Machine *m)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < m->program->events.decisions.n_relations; j++)
        h = (h ^ (uint64_t)m->slots[m->program->events.decisions.relations[j].bit].i) * 0x100000001b3u;
    for (uint32_t j = 0; j < m->program->events.decisions.n_steps; j++)
        h = (h ^ (uint64_t)m->slots[m->program->events.decisions.steps[j].value].i) * 0x100000001b3u;
    return h;
}

/* ---- homotopy: the initial system from a simplified one ---- */
static void set_initial_guesses(Machine *m, bool to_starts)
{
    for (uint32_t n = m->program->systems.n_run; n < m->program->systems.n; n++) {
        const KoineSystem *s = &m->program->systems.at[n];
        for (uint32_t j = 0; s->kind == KOINE_SYSTEM_NEWTON && j < s->n; j++)
            m->slots[s->guesses[j]] = m->slots[to_starts ? s->u.newton.starts[j] : s->unknowns[j]];
    }
}

/* In steps that become smaller where they fail. */
static KoineStatus follow_homotopy(Machine *m)
{
    static const double FIRST = 0.25, SMALLEST = 1e-4;
    KoineSlot *p = &m->slots[m->program->slots.homotopy];
    double reached = 0, step = FIRST;
    p->r = 0;
    KoineStatus status = koine_run_part(m, &m->program->parts.initial);
    m->spaces.is_searching = false;
    while (status == KOINE_OK && reached < 1) {
        set_initial_guesses(m, false);
        for (; step >= SMALLEST; step /= 2) {
            p->r = reached + step < 1 ? reached + step : 1;
            status = koine_run_part(m, &m->program->parts.initial);
            if (status <= 0)
                break;
        }
        reached = p->r;
        step *= 2;
    }
    m->spaces.is_searching = true;
    p->r = 1;
    m->work.statistics.solved_by_homotopy += status == KOINE_OK;
    return status;
}

/* As it is; then by way of the simplified expressions of the model; then by all that may help. */
static KoineStatus run_initial_part(Machine *m)
{
    const KoineProgram *p = m->program;
    if (p->slots.homotopy == KOINE_NONE)
        return koine_run_part(m, &p->parts.initial);
    m->spaces.is_searching = false;
    KoineStatus status = koine_run_part(m, &p->parts.initial);
    m->spaces.is_searching = true;
    if (status > 0)
        status = follow_homotopy(m);
    if (status > 0) {
        set_initial_guesses(m, true);
        status = koine_run_part(m, &p->parts.initial);
    }
    return status;
}

/* Everything once, from the start values; with initial equations alternately with the initial system until no
 * comparison changes any more. */
static KoineStatus solve_initial(Machine *m)
{
    enum { MOST_ROUNDS = 50 };
    const KoineProgram *p = m->program;
    KoineStatus status = KOINE_OK;
    m->slots[p->slots.initial].i = 1;
    if (p->parts.initial.n)
        koine_evaluate_all(m); /* bits from the start values; what cannot be computed yet does not count */
    m->spaces.is_searching = true;
    if (p->parts.initial.n == 0)
        status = koine_evaluate_all(m);
    for (int round = 0; p->parts.initial.n && status == KOINE_OK; round++) {
        const uint64_t before = hash_bits(m);
        status = run_initial_part(m);
        if (status == KOINE_OK) {
            koine_keep_guesses(m);
            status = koine_evaluate_all(m);
        }
        if (status == KOINE_OK && hash_bits(m) == before)
            break;
        if (round == MOST_ROUNDS)
            status = koine_because(
                m, KOINE_CAUSE_INITIAL,
                koine_fault(m, KOINE_FAILED, KOINE_NONE, "the comparisons in the initial equations do not settle"));
    }
    m->spaces.is_searching = false;
    m->slots[p->slots.initial].i = 0;
    return status > 0 ? KOINE_FAILED : status;
}

/* What was given wins over what the model computes. */
static void take_given_starts(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->slots.n_computed_starts; j++) {
        const KoineComputedStart *s = &p->slots.computed_starts[j];
        for (uint32_t i = 0; i < s->n; i++)
            if (m->slots[s->given + i].i != KOINE_NOT_GIVEN)
                m->slots[s->slot + i] = m->slots[s->given + i];
    }
}

/* No parameter or start value lacks a text. */
static bool has_all_texts(Machine *m)
{
    const KoineTables *tables = m->program->tables;
    char why[160];
    if (!koine_texts_failure(m, why, sizeof why))
        return true;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *v = &tables->variables[k];
        const KoineSlot *slot = &m->slots[v->now / sizeof *slot];
        for (uint32_t j = 0; j < v->count && v->type != KOINE_REAL && v->now != KOINE_NO_OFFSET; j++)
            if (slot[j].i == INT64_MIN) {
                koine_fault(m, KOINE_FAILED, KOINE_NONE, why);
                m->model->fault.place = v->place;
                m->model->fault.variable = (int32_t)k;
                KoineText text = koine_text_behind(m->model->fault.text, sizeof m->model->fault.text);
                koine_text_add(&text, ", computing '%s'", v->name);
                return false;
            }
    }
    return true;
}

void koine_limit_calls(Machine *m)
{
    enum { OWN = 16 }; /* variables of a function, about */
    const KoineHost *host = m->model->host;
    KoineSlot *calls = m->slots + m->program->slots.calls;
    if (m->program->slots.calls == KOINE_NONE || !host)
        return;
    calls[KOINE_CALLS_MORE_STEPS].i = host->max_iterations ? (int64_t)host->max_iterations - KOINE_CALLS_STEPS : 0;
    calls[KOINE_CALLS_MORE_BESIDE].i =
        host->max_calls ? KOINE_CALLS_ROOM / (int64_t)host->max_calls - OWN - KOINE_CALLS_BESIDE : 0;
}

static KoineStatus initialise(KoineModel *model, double time)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    m->slots[p->slots.time].r = time;
    koine_take_time(m);
    model->fault.text[0] = 0;
    m->instant->served = KOINE_NONE;
    koine_timed_forget(m);
    if (p->slots.calls != KOINE_NONE)
        m->slots[p->slots.calls].i = 0;
    koine_limit_calls(m);
    const KoineStatus parameters = koine_run_part(m, &p->parts.parameters),
                      starts = koine_run_part(m, &p->parts.starts);
    if (parameters != KOINE_OK || starts != KOINE_OK || !has_all_texts(m))
        return KOINE_FAILED;
    take_given_starts(m);
    if (koine_check_formulas(m) != KOINE_OK)
        return KOINE_FAILED;
    koine_begin_channels(m);
    if (p->foreigns.n) {
        const KoineStatus begun = koine_begin_components(m);
        if (begun != KOINE_OK)
            return begun;
    }
    koine_begin_guesses(m);
    if (m->spaces.set_space)
        koine_begin_sets(m);
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        memcpy(&m->slots[pre->pre], &m->slots[pre->now], pre->n * sizeof(KoineSlot));
    }
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        if (!isfinite(m->slots[p->slots.x + j].r)) {
            const KoineVariable *v = &p->tables->variables[p->tables->state_variable[j]];
            snprintf(model->fault.text, sizeof model->fault.text, "the start value of '%s' is not finite", v->name);
            model->fault.time = time;
            model->fault.place = v->place;
            return koine_because(m, KOINE_CAUSE_START_VALUE, KOINE_FAILED);
        }
    KoineStatus status = solve_initial(m);
    if (status == KOINE_OK && m->spaces.set_space)
        status = koine_settle_sets(m);
    if (status == KOINE_OK)
        status = koine_begin_delays(m);
    for (uint32_t j = 0; j < p->events.graph.n_pres && status == KOINE_OK; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        const bool is_current =
            pre->is_continuous || pre->start == KOINE_PRE_CURRENT; /* nothing lies before the start */
        if (!is_current && pre->start == KOINE_PRE_START)
            continue;
        if (is_current)
            memcpy(&m->slots[pre->pre], &m->slots[pre->now], pre->n * sizeof(KoineSlot));
        else
            memset(&m->slots[pre->pre], 0, pre->n * sizeof(KoineSlot));
        koine_wake_readers(m, pre->cell); /* what was enabled by the value before may not be so any more */
    }
    return status;
}

KoineStatus koine_machine_initialise(KoineModel *model, double time)
{
    Machine *m = koine_machine_of(model);
    koine_objects_end(m->spaces.store); /* of an earlier start */
    return koine_texts_settle(m, initialise(model, time));
}
