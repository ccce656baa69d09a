/* What an instance of one mode takes over from that of another in the middle of an event step; see modes.h. */
#include "modes.h"
#include "texts.h"

/* ---- what cannot be taken over ---- */
static bool has_same_decisions(const KoineDecisions *a, const KoineDecisions *b)
{
    bool same = a->n_relations == b->n_relations && a->n_steps == b->n_steps && a->n_roots == b->n_roots;
    for (uint32_t j = 0; same && j < a->n_relations + a->n_steps; j++) {
        const KoineDecision *x = koine_decision_of(a, j), *y = koine_decision_of(b, j);
        same = (x->root == KOINE_NONE) == (y->root == KOINE_NONE) && x->is_time == y->is_time &&
               (x->timed == KOINE_NONE) == (y->timed == KOINE_NONE);
    }
    return same;
}

uint32_t koine_mode_root(const KoineDecisions *of, uint32_t root, const KoineDecisions *in)
{
    const uint32_t owner = of->root_owner[root];
    return koine_decision_of(in, owner)->root + (root - koine_decision_of(of, owner)->root);
}

static bool has_same_rows(const KoineTables *a, const KoineTables *b, uint32_t n)
{
    bool same = a->n_variables >= n && b->n_variables >= n;
    for (uint32_t j = 0; same && j < n; j++)
        same =
            a->variables[j].count == b->variables[j].count && strcmp(a->variables[j].name, b->variables[j].name) == 0;
    return same;
}

const char *koine_modes_refusal(const KoineProgram *program)
{
    if (program->foreigns.n)
        return "it has components that Koine does not compute, which would have to begin anew in each mode";
    if (program->events.delays.n)
        return "it has dead times, whose histories are not carried from one mode to another";
    if (program->events.channels.n)
        return "it has channels, whose messages are not carried from one mode to another";
    if (program->objects.n)
        return "it has external objects, which would have to be made anew in each mode";
    if (program->texts.slot != KOINE_NONE)
        return "it has texts, which are not carried from one mode to another";
    return NULL;
}

const char *koine_mode_obstacle(const KoineProgram *from, const KoineProgram *to)
{
    const uint32_t n = from->mode.n_rows;
    if (n != to->mode.n_rows || !has_same_rows(from->tables, to->tables, n))
        return "its variables are not those of the other modes";
    if (!has_same_decisions(&from->events.decisions, &to->events.decisions))
        return "its comparisons are not those of the other modes";
    if (from->slots.n_streams != to->slots.n_streams)
        return "its random streams are not those of the other modes";
    return NULL;
}

/* ---- values ---- */
static KoineSlot seen_value(const KoineVariable *v, KoineSlot value)
{
    if (v->flags & KOINE_VARIABLE_NEGATED && v->type == KOINE_REAL)
        value.r = -value.r;
    else if (v->flags & KOINE_VARIABLE_NEGATED)
        value.i = -value.i;
    return value;
}

void koine_mode_values(const Machine *m, KoineSlot *values)
{
    const KoineTables *tables = m->program->tables;
    const uint32_t n = m->program->mode.n_rows;
    for (uint32_t j = 0; j < n; j++) {
        const KoineVariable *v = &tables->variables[j];
        for (uint32_t i = 0; i < v->count; i++, values++)
            if (v->now != KOINE_NO_OFFSET)
                *values = seen_value(v, m->slots[v->now / sizeof(KoineSlot) + i]);
    }
}

/* A state is taken as it is; what else moves is taken from the left. */
static void carry_variables(const Machine *to, const Machine *from, const KoineSlot *left)
{
    const KoineTables *theirs = from->program->tables, *ours = to->program->tables;
    const uint32_t n = to->program->mode.n_rows;
    const KoineSlot *before = left;
    for (uint32_t j = 0; j < n; before += ours->variables[j++].count) {
        const KoineVariable *a = &theirs->variables[j], *b = &ours->variables[j];
        const bool is_left =
            a->variability == KOINE_VARIABILITY_CONTINUOUS && a->state < 0 && a->causality != KOINE_CAUSALITY_INPUT;
        for (uint32_t i = 0; i < b->count && a->now != KOINE_NO_OFFSET && b->now != KOINE_NO_OFFSET; i++)
            to->slots[b->now / sizeof(KoineSlot) + i] =
                seen_value(b, is_left ? before[i] : seen_value(a, from->slots[a->now / sizeof(KoineSlot) + i]));
    }
}

static void carry_befores(const Machine *to, const Machine *from, const KoineSlot *left)
{
    const KoineTables *theirs = from->program->tables, *ours = to->program->tables;
    const uint32_t n = to->program->mode.n_rows;
    const KoineSlot *before = left;
    for (uint32_t j = 0; j < n; before += ours->variables[j++].count) {
        const KoineVariable *a = &theirs->variables[j], *b = &ours->variables[j];
        for (uint32_t i = 0; i < b->count && b->pre != KOINE_NO_OFFSET; i++)
            to->slots[b->pre / sizeof(KoineSlot) + i] = seen_value(
                b, a->pre == KOINE_NO_OFFSET ? before[i] : seen_value(a, from->slots[a->pre / sizeof(KoineSlot) + i]));
    }
}

/* Generated ones have no rows: they have the same numbers in all modes. */
static void carry_generated(const Machine *to, const Machine *from)
{
    const KoineProgram *a = from->program, *b = to->program;
    for (uint32_t j = 0; j < b->mode.n_carried && j < a->mode.n_carried; j++) {
        const KoineCarried *x = &a->mode.carried[j], *y = &b->mode.carried[j];
        for (uint32_t i = 0; i < y->n; i++) {
            if (x->now != KOINE_NONE && y->now != KOINE_NONE)
                to->slots[y->now + i] = from->slots[x->now + i];
            if (y->pre != KOINE_NONE && (x->pre != KOINE_NONE || x->now != KOINE_NONE))
                to->slots[y->pre + i] = from->slots[(x->pre != KOINE_NONE ? x->pre : x->now) + i];
        }
    }
}

/* ---- what decides ---- */
static void carry_decisions(Machine *to, const Machine *from)
{
    const KoineDecisions *d = &to->program->events.decisions;
    for (uint32_t j = 0; j < d->n_relations; j++) {
        to->slots[d->relations[j].bit] = from->slots[from->program->events.decisions.relations[j].bit];
        to->pins.relations[j] = from->pins.relations[j];
        if (d->relations[j].decision.timed != KOINE_NONE)
            koine_timed_resume(to, j);
    }
    for (uint32_t j = 0; j < d->n_steps; j++) {
        to->slots[d->steps[j].value] = from->slots[from->program->events.decisions.steps[j].value];
        to->pins.steps[j] = from->pins.steps[j];
        if (d->steps[j].decision.timed != KOINE_NONE)
            koine_timed_resume(to, d->n_relations + j);
    }
    memcpy(to->pins.numbers, from->pins.numbers, from->instant->n_pinned * sizeof *to->pins.numbers);
    for (uint32_t j = 0; j < d->n_roots; j++) {
        const uint32_t root = koine_mode_root(d, j, &from->program->events.decisions);
        to->bands.widened[j] = from->bands.widened[root];
        to->bands.held[j] = from->bands.held[root];
    }
}

static void carry_instant(Machine *to, const Machine *from)
{
    const Instant *a = from->instant;
    Instant *b = to->instant;
    b->step = a->step;
    b->event_step = a->event_step;
    b->n_pinned = a->n_pinned;
    b->n_widened = a->n_widened;
    b->n_held = a->n_held;
    b->served = a->served;
    b->result = a->result;
    b->result.is_changed = b->result.is_restart = b->result.has_states = 1;
    b->at_stop = a->at_stop;
    b->is_start = a->is_start;
    b->is_step = a->is_step;
    b->has_pins = a->has_pins;
    b->is_general = a->is_general;
    memcpy(b->recent, a->recent, sizeof b->recent);
}

static void wake_all(Machine *m)
{
    const KoineGraph *graph = &m->program->events.graph;
    for (uint32_t j = 0; j < graph->n_nodes; j++)
        bitset_add(&m->wake.dirty, j);
    for (uint32_t j = 0; j < graph->n_pres; j++) {
        m->writes.is_unsettled[j] = 1;
        m->writes.unsettled[j] = j;
    }
    m->instant->n_unsettled = graph->n_pres;
}

KoineStatus koine_mode_carry(Machine *to, Machine *from, const KoineSlot *left)
{
    const KoineSlots *a = &from->program->slots, *b = &to->program->slots;
    to->slots[b->time] = from->slots[a->time];
    to->slots[b->initial].i = from->slots[a->initial].i;
    if (b->homotopy != KOINE_NONE)
        to->slots[b->homotopy].r = 1;
    if (b->terminal != KOINE_NONE && a->terminal != KOINE_NONE)
        to->slots[b->terminal] = from->slots[a->terminal];
    if (b->seed != KOINE_NONE && a->seed != KOINE_NONE)
        to->slots[b->seed] = from->slots[a->seed];
    koine_take_time(to);
    for (uint32_t j = 0; j < b->n_streams; j++)
        to->slots[b->streams[j].count] = from->slots[a->streams[j].count];
    carry_variables(to, from, left);
    carry_befores(to, from, left);
    carry_generated(to, from);
    if (koine_run_part(to, &to->program->parts.parameters) != KOINE_OK)
        return KOINE_FAILED;
    if (koine_check_formulas(to) != KOINE_OK)
        return KOINE_FAILED;
    carry_instant(to, from);
    carry_decisions(to, from);
    koine_keep_guesses(to);
    koine_forget_solutions(to);
    if (to->spaces.set_space)
        koine_begin_sets(to);
    koine_enter_jumps(to);
    wake_all(to);
    return KOINE_OK;
}
