/* The machine: a KoineModelKind made of a program and the code of a tier; see koine/support.h. */
#include "machine.h"
#include "time_search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* ---- layout of the block: named slots, then what the machine remembers ---- */
enum {
    AT_INSTANT,
    AT_RELATION_PINS,
    AT_STEP_PINS,
    AT_PINNED,
    AT_WIDENED,
    AT_HELD,
    AT_NOISE,
    AT_FLIPS,
    AT_ENTRIES,
    AT_HEAP,
    AT_DIRTY,                              /* BITSET_LEVELS of them */
    AT_ENABLED = AT_DIRTY + BITSET_LEVELS, /* likewise */
    AT_JUMPED = AT_ENABLED + BITSET_LEVELS,
    AT_STAMPS,
    AT_WRITERS,
    AT_PENDING,
    AT_UNSETTLED,
    AT_IS_UNSETTLED,
    AT_ROUND,
    AT_SOLVED,
    AT_SEARCHES,
    AT_TIME_INPUTS,
    AT_RANGES,
    AT_DELAYS,
    AT_POINTS, /* last: it is what grows */
    AT_COUNT
};

static uint64_t reserve(uint64_t *size, uint64_t bytes)
{
    const uint64_t at = (*size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *size = at + bytes;
    return at;
}

static void lay_out(MachineKind *kind)
{
    const KoineProgram *p = kind->program;
    uint64_t size = (uint64_t)p->slots.n * sizeof(KoineSlot), *at = kind->offsets;
    at[AT_INSTANT] = reserve(&size, sizeof(Instant));
    at[AT_RELATION_PINS] = reserve(&size, p->events.decisions.n_relations * sizeof(Pin));
    at[AT_STEP_PINS] = reserve(&size, p->events.decisions.n_steps * sizeof(Pin));
    at[AT_PINNED] =
        reserve(&size, ((uint64_t)p->events.decisions.n_relations + p->events.decisions.n_steps) * sizeof(uint32_t));
    at[AT_WIDENED] = reserve(&size, p->events.decisions.n_roots * sizeof(double));
    at[AT_HELD] = reserve(&size, p->events.decisions.n_roots);
    at[AT_NOISE] = reserve(&size, p->systems.n_run ? p->events.decisions.n_roots * sizeof(double) : 0);
    at[AT_FLIPS] = reserve(&size, p->systems.n_run ? p->events.decisions.n_roots : 0);
    at[AT_ENTRIES] = reserve(&size, ((uint64_t)p->events.decisions.n_calendar + p->events.delays.n) * sizeof(Entry));
    at[AT_HEAP] = reserve(&size, ((uint64_t)p->events.decisions.n_calendar + p->events.delays.n) * sizeof(uint32_t));
    for (int k = 0; k < BITSET_LEVELS; k++) {
        at[AT_DIRTY + k] = reserve(&size, bitset_words(p->events.graph.n_nodes, k) * sizeof(uint64_t));
        at[AT_ENABLED + k] = reserve(&size, bitset_words(p->events.firings.n_transitions, k) * sizeof(uint64_t));
    }
    at[AT_JUMPED] =
        reserve(&size, p->events.decisions.n_roots ? (p->events.graph.n_nodes + 63) / 64 * sizeof(uint64_t) : 0);
    at[AT_STAMPS] = reserve(&size, p->events.firings.n_writers * sizeof(uint64_t));
    at[AT_WRITERS] = reserve(&size, p->events.firings.n_writers * sizeof(uint32_t));
    at[AT_PENDING] = reserve(&size, p->events.firings.n_nexts * sizeof(uint32_t));
    at[AT_UNSETTLED] = reserve(&size, p->events.graph.n_pres * sizeof(uint32_t));
    at[AT_IS_UNSETTLED] = reserve(&size, p->events.graph.n_pres);
    at[AT_SOLVED] = reserve(&size, p->systems.n_run);
    at[AT_ROUND] = reserve(&size, p->events.decisions.n_mixed ? 3 * (uint64_t)p->events.decisions.n_relations : 0);
    at[AT_SEARCHES] = reserve(&size, p->events.timed.n_functions * sizeof(TimeSearch));
    at[AT_RANGES] = reserve(&size, 2 * p->events.timed.n_sources * sizeof(double));
    at[AT_TIME_INPUTS] = reserve(&size, p->events.timed.n_inputs * sizeof(KoineSlot));
    at[AT_DELAYS] = reserve(&size, p->events.delays.n * sizeof(DelayState));
    at[AT_POINTS] = reserve(&size, (uint64_t)p->events.delays.n * KOINE_FIRST_POINTS * sizeof(DelayPoint));
    kind->size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void point_into(Machine *k, unsigned char *block, const uint64_t *at)
{
    k->wake.dirty.top = bitset_top(k->program->events.graph.n_nodes);
    k->wake.enabled.top = bitset_top(k->program->events.firings.n_transitions);
    k->block = block;
    k->m = (KoineSlot *)(void *)block;
    k->instant = (Instant *)(void *)(block + at[AT_INSTANT]);
    k->pins.relations = (Pin *)(void *)(block + at[AT_RELATION_PINS]);
    k->pins.steps = (Pin *)(void *)(block + at[AT_STEP_PINS]);
    k->pins.numbers = (uint32_t *)(void *)(block + at[AT_PINNED]);
    k->bands.widened = (double *)(void *)(block + at[AT_WIDENED]);
    k->bands.held = block + at[AT_HELD];
    k->bands.noise = k->program->systems.n_run ? (double *)(void *)(block + at[AT_NOISE]) : NULL;
    k->bands.flips = block + at[AT_FLIPS];
    k->calendar.entries = (Entry *)(void *)(block + at[AT_ENTRIES]);
    k->calendar.heap = (uint32_t *)(void *)(block + at[AT_HEAP]);
    for (int j = 0; j < BITSET_LEVELS; j++) {
        k->wake.dirty.level[j] = (uint64_t *)(void *)(block + at[AT_DIRTY + j]);
        k->wake.enabled.level[j] = (uint64_t *)(void *)(block + at[AT_ENABLED + j]);
    }
    k->wake.jumped = k->program->events.decisions.n_roots ? (uint64_t *)(void *)(block + at[AT_JUMPED]) : NULL;
    k->writes.stamps = (uint64_t *)(void *)(block + at[AT_STAMPS]);
    k->writes.writers = (uint32_t *)(void *)(block + at[AT_WRITERS]);
    k->writes.pending = (uint32_t *)(void *)(block + at[AT_PENDING]);
    k->writes.unsettled = (uint32_t *)(void *)(block + at[AT_UNSETTLED]);
    k->writes.is_unsettled = block + at[AT_IS_UNSETTLED];
    k->round.start = block + at[AT_ROUND];
    k->round.value = k->round.start + k->program->events.decisions.n_relations;
    k->spaces.is_solved = block + at[AT_SOLVED];
    k->round.best = k->round.value + k->program->events.decisions.n_relations;
    k->calendar.searches = (TimeSearch *)(void *)(block + at[AT_SEARCHES]);
    k->calendar.ranges = (double *)(void *)(block + at[AT_RANGES]);
    k->calendar.inputs = (KoineSlot *)(void *)(block + at[AT_TIME_INPUTS]);
    k->history.delays = (DelayState *)(void *)(block + at[AT_DELAYS]);
    k->history.points = (DelayPoint *)(void *)(block + at[AT_POINTS]);
}

void koine_machine_moved(KoineModel *model)
{
    Machine *k = model->handles;
    point_into(k, model->block, k->kind->offsets);
}

/* ---- create, destroy ---- */
static void machine_destroy(KoineModel *model)
{
    if (!model)
        return;
    Machine *k = model->handles;
    if (k) {
        koine_workspace_destroy(k->spaces.workspace);
        koine_set_space_destroy(k->spaces.set_space);
        free(k->spaces.residual_work);
        free(k->calendar.cells);
        free(k->spaces.jump_space);
        free(k->work.counts);
    }
    free(k);
    free(model->block);
    free(model);
}

/* All counters in one piece of memory. */
static KoineCounts *create_counts(const KoineProgram *p)
{
    const size_t n = (size_t)p->events.graph.n_nodes + p->events.firings.n_transitions + p->systems.n;
    KoineCounts *counts = calloc(1, sizeof *counts + n * sizeof(uint64_t));
    if (!counts)
        return NULL;
    counts->nodes = (uint64_t *)(void *)(counts + 1);
    counts->transitions = counts->nodes + p->events.graph.n_nodes;
    counts->systems = counts->transitions + p->events.firings.n_transitions;
    return counts;
}

void koine_take_time(Machine *k)
{
    const double resolution = k->model->host ? k->model->host->resolution : 0;
    k->time = (MachineTime){ koine_time_rule(resolution), resolution };
}

static KoineStatus machine_create(const KoineModelKind *base, const KoineHost *host, KoineModel **out)
{
    const MachineKind *kind = (const MachineKind *)(const void *)base;
    const KoineProgram *p = kind->program;
    const bool is_counting = host && host->wants_work, has_sets = p->systems.n_sets || p->slots.n_given_starts;
    KoineModel *model = calloc(1, sizeof *model);
    if (!model)
        return KOINE_FAILED;
    Machine *k = model->handles = calloc(1, sizeof *k);
    model->block = aligned_alloc(ALIGNMENT, kind->size);
    if (k) {
        k->spaces.workspace = koine_workspace_create(p);
        k->spaces.set_space = has_sets ? koine_set_space_create(p) : NULL;
        k->spaces.residual_work =
            malloc((p->slots.n_x + 3 * (size_t)kind->tables.n_w + 1) * sizeof *k->spaces.residual_work);
        k->calendar.cells = malloc((p->events.timed.most_cells + (size_t)1) * sizeof *k->calendar.cells);
        k->work.counts = is_counting ? create_counts(p) : NULL;
        k->spaces.jump_space = p->systems.jumps.n ? koine_jumps_create(p) : NULL;
    }
    if (!k || !model->block || !k->spaces.workspace || !k->spaces.residual_work || !k->calendar.cells ||
        (has_sets && !k->spaces.set_space) || (is_counting && !k->work.counts) ||
        (p->systems.jumps.n && !k->spaces.jump_space)) {
        machine_destroy(model);
        return KOINE_FAILED;
    }
    memset(model->block, 0, kind->size);
    model->kind = is_counting ? &kind->counting : base;
    model->size = kind->size;
    model->host = host;
    model->fault.origin = model->fault.variable = -1;
    k->rows = p->parts.rows;
    k->program = p;
    k->code = kind->code;
    k->model = model;
    k->kind = kind;
    koine_take_time(k);
    point_into(k, model->block, kind->offsets);
    for (uint32_t j = 0; j < p->slots.n_constants; j++)
        for (uint32_t i = 0; i < p->slots.constants[j].n; i++)
            k->m[p->slots.constants[j].slot + i] = p->slots.constants[j].value;
    if (p->slots.seed != KOINE_NONE && host)
        k->m[p->slots.seed].i = (int64_t)host->seed;
    for (uint32_t j = 0; j < p->events.decisions.n_calendar + p->events.delays.n; j++)
        k->calendar.entries[j].place = KOINE_NONE;
    k->instant->served = KOINE_NONE;
    koine_timed_forget(k);
    *out = model;
    return KOINE_OK;
}

/* ---- parts ---- */
KoineStatus koine_failed_call(Machine *k, KoineStatus status, uint32_t origin)
{
    const KoineProgram *p = k->program;
    const bool matters = !p->explain.matters || p->explain.matters(p->explain.context, k->model, origin);
    if (matters)
        koine_fault(k, status, origin, NULL);
    k->m[p->slots.calls].i = 0;
    return matters ? status : KOINE_OK;
}

static void count_part(Machine *k, const KoinePart *part)
{
    const KoineProgram *p = k->program;
    k->work.counts->derivatives += part == &p->parts.derivatives;
    k->work.counts->roots += part == &p->parts.roots;
    k->work.counts->outputs += part == &p->parts.outputs;
}

static inline KoineStatus run_steps(Machine *k, const KoinePart *part)
{
    for (uint32_t j = 0; j < part->n; j++) {
        if (part->steps[j].system == KOINE_NONE) {
            run_section(k, part->steps[j].section);
        } else {
            const KoineStatus status = koine_solve_system(k, part->steps[j].system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return koine_check_calls(k, KOINE_RETRY, KOINE_NONE);
}

KoineStatus koine_run_part(Machine *k, const KoinePart *part)
{
    if (k->work.counts)
        count_part(k, part);
    return run_steps(k, part);
}

KoineStatus koine_run_tangents(Machine *k)
{
    const KoinePart *part = &k->program->parts.tangents;
    for (uint32_t j = 0; j < part->n; j++) {
        if (part->steps[j].system == KOINE_NONE) {
            run_section(k, part->steps[j].section);
        } else {
            const KoineStatus status = koine_solve_tangent(k, part->steps[j].system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return KOINE_OK;
}

/* ---- interface ---- */
static uint64_t hash_bits(const Machine *k)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < k->program->events.decisions.n_relations; j++)
        h = (h ^ (uint64_t)k->m[k->program->events.decisions.relations[j].bit].i) * 0x100000001b3u;
    for (uint32_t j = 0; j < k->program->events.decisions.n_steps; j++)
        h = (h ^ (uint64_t)k->m[k->program->events.decisions.steps[j].value].i) * 0x100000001b3u;
    return h;
}

/* ---- homotopy: the initial system from a simplified one ---- */
static void set_initial_guesses(Machine *k, bool to_starts)
{
    for (uint32_t n = k->program->systems.n_run; n < k->program->systems.n; n++) {
        const KoineSystem *s = &k->program->systems.at[n];
        for (uint32_t j = 0; s->starts && j < s->n; j++)
            k->m[s->guesses[j]] = k->m[to_starts ? s->starts[j] : s->unknowns[j]];
    }
}

/* In steps that become smaller where they fail. */
static KoineStatus follow_homotopy(Machine *k)
{
    static const double FIRST = 0.25, SMALLEST = 1e-4;
    KoineSlot *const p = &k->m[k->program->slots.homotopy];
    double reached = 0, step = FIRST;
    p->r = 0;
    KoineStatus status = koine_run_part(k, &k->program->parts.initial);
    k->spaces.is_searching = false;
    while (status == KOINE_OK && reached < 1) {
        set_initial_guesses(k, false);
        for (; step >= SMALLEST; step /= 2) {
            p->r = reached + step < 1 ? reached + step : 1;
            status = koine_run_part(k, &k->program->parts.initial);
            if (status <= 0)
                break;
        }
        reached = p->r;
        step *= 2;
    }
    k->spaces.is_searching = true;
    p->r = 1;
    k->work.statistics.solved_by_homotopy += status == KOINE_OK;
    return status;
}

/* As it is; then by way of the simplified expressions of the model; then by all that may help. */
static KoineStatus run_initial_part(Machine *k)
{
    const KoineProgram *p = k->program;
    if (p->slots.homotopy == KOINE_NONE)
        return koine_run_part(k, &p->parts.initial);
    k->spaces.is_searching = false;
    KoineStatus status = koine_run_part(k, &p->parts.initial);
    k->spaces.is_searching = true;
    if (status > 0)
        status = follow_homotopy(k);
    if (status > 0) {
        set_initial_guesses(k, true);
        status = koine_run_part(k, &p->parts.initial);
    }
    return status;
}

/* Everything once, from the start values; with initial equations alternately with the initial system until no
 * comparison changes any more. */
static KoineStatus solve_initial(Machine *k)
{
    enum { MOST_ROUNDS = 50 };
    const KoineProgram *p = k->program;
    KoineStatus status = KOINE_OK;
    k->m[p->slots.initial].i = 1;
    if (p->parts.initial.n)
        koine_evaluate_all(k); /* bits from the start values; what cannot be computed yet does not count */
    k->spaces.is_searching = true;
    if (p->parts.initial.n == 0)
        status = koine_evaluate_all(k);
    for (int round = 0; p->parts.initial.n && status == KOINE_OK; round++) {
        const uint64_t before = hash_bits(k);
        status = run_initial_part(k);
        if (status == KOINE_OK) {
            koine_keep_guesses(k);
            status = koine_evaluate_all(k);
        }
        if (status == KOINE_OK && hash_bits(k) == before)
            break;
        if (round == MOST_ROUNDS)
            status = koine_because(
                k, KOINE_CAUSE_INITIAL,
                koine_fault(k, KOINE_FAILED, KOINE_NONE, "the comparisons in the initial equations do not settle"));
    }
    k->spaces.is_searching = false;
    k->m[p->slots.initial].i = 0;
    return status > 0 ? KOINE_FAILED : status;
}

/* What was given wins over what the model computes. */
static void take_given_starts(Machine *k)
{
    const KoineProgram *p = k->program;
    for (uint32_t j = 0; j < p->slots.n_computed_starts; j++) {
        const KoineComputedStart *s = &p->slots.computed_starts[j];
        for (uint32_t i = 0; i < s->n; i++)
            if (k->m[s->given + i].i != KOINE_NOT_GIVEN)
                k->m[s->slot + i] = k->m[s->given + i];
    }
}

static KoineStatus machine_initialise(KoineModel *model, double time)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    k->m[p->slots.time].r = time;
    koine_take_time(k);
    model->fault.text[0] = 0;
    k->instant->served = KOINE_NONE;
    koine_timed_forget(k);
    if (p->slots.calls != KOINE_NONE)
        k->m[p->slots.calls].i = 0;
    const KoineStatus parameters = koine_run_part(k, &p->parts.parameters),
                      starts = koine_run_part(k, &p->parts.starts);
    if (parameters != KOINE_OK || starts != KOINE_OK)
        return KOINE_FAILED;
    take_given_starts(k);
    if (koine_check_formulas(k) != KOINE_OK)
        return KOINE_FAILED;
    koine_begin_guesses(k);
    if (k->spaces.set_space)
        koine_begin_sets(k);
    for (uint32_t j = 0; j < p->events.graph.n_pres; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        memcpy(&k->m[pre->pre], &k->m[pre->now], pre->n * sizeof(KoineSlot));
    }
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        if (!isfinite(k->m[p->slots.x + j].r)) {
            const KoineVariable *v = &p->tables->variables[p->tables->state_variable[j]];
            snprintf(model->fault.text, sizeof model->fault.text, "the start value of '%s' is not finite", v->name);
            model->fault.time = time;
            model->fault.place = v->place;
            return koine_because(k, KOINE_CAUSE_START_VALUE, KOINE_FAILED);
        }
    KoineStatus status = solve_initial(k);
    if (status == KOINE_OK && k->spaces.set_space)
        status = koine_settle_sets(k);
    if (status == KOINE_OK)
        status = koine_begin_delays(k);
    for (uint32_t j = 0; j < p->events.graph.n_pres && status == KOINE_OK; j++) {
        const KoinePre *pre = &p->events.graph.pres[j];
        if (pre->start == KOINE_PRE_CURRENT)
            memcpy(&k->m[pre->pre], &k->m[pre->now], pre->n * sizeof(KoineSlot));
        else if (pre->start == KOINE_PRE_FALSE)
            memset(&k->m[pre->pre], 0, pre->n * sizeof(KoineSlot));
    }
    return status;
}

static void set_point(Machine *k, double time, const double *x)
{
    const KoineProgram *p = k->program;
    k->m[p->slots.time].r = time;
    if (x && x != &k->m[p->slots.x].r && p->slots.n_x)
        memcpy(&k->m[p->slots.x], x, p->slots.n_x * sizeof *x);
    if (p->events.delays.n_moving)
        koine_read_delays(k);
}

static bool all_finite(const double *values, uint32_t n)
{
    double sum = 0; /* 0*v is 0 for finite v and NaN for all others */
    for (uint32_t j = 0; j < n; j++)
        sum += 0 * values[j];
    return sum == 0;
}

static KoineStatus check_outputs(Machine *k)
{
    const KoineProgram *p = k->program;
    for (uint32_t j = 0; j < p->parts.finite.n; j++)
        if (!isfinite(k->m[p->parts.finite.at[2 * j]].r))
            return koine_fault(k, KOINE_RETRY, p->parts.finite.at[2 * j + 1], NULL);
    return KOINE_OK;
}

static KoineStatus machine_evaluate(KoineModel *model, const KoineEvaluation *at)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    KoineStatus status = KOINE_OK;
    set_point(k, at->time, at->x);
    model->fault.text[0] = 0;
    if (at->want & KOINE_WANT_RESIDUAL)
        return koine_residual(k, at);
    if (at->want & KOINE_WANT_ROOTS) {
        status = koine_run_part(k, &p->parts.roots);
        if (status == KOINE_OK && at->root_sizes)
            koine_root_sizes(k, at->root_sizes);
        if (status == KOINE_OK)
            status = koine_root_functions(k, at->roots);
    }
    if (status == KOINE_OK && (at->want & (KOINE_WANT_DER | KOINE_WANT_OUTPUTS))) {
        status = koine_run_part(k, &p->parts.derivatives);
        k->work.evaluations++;
        const double *dx = &k->m[p->slots.dx].r;
        if (status == KOINE_OK && !all_finite(dx, p->slots.n_x))
            status = koine_fault(k, KOINE_RETRY, KOINE_NONE, NULL);
        if (at->der && at->der != dx && p->slots.n_x)
            memcpy(at->der, dx, p->slots.n_x * sizeof *dx);
    }
    if (status == KOINE_OK && (at->want & KOINE_WANT_OUTPUTS)) {
        status = koine_run_part(k, &p->parts.outputs);
        if (status == KOINE_OK)
            status = check_outputs(k);
        if (status == KOINE_OK && p->slots.n_x == 0) /* points are all the steps there are */
            koine_keep_guesses(k);
    }
    return status;
}

void koine_consider_upgrade(Machine *k)
{
    if (!k->code->upgrade)
        return;
    const uint64_t operations = k->work.evaluations * k->program->parts.work + 8 * k->work.statistics.node_evaluations;
    if (operations < k->code->upgrade_at)
        return;
    const KoineCode *better = k->code->upgrade(k->code->upgrade_context);
    if (better)
        k->code = better;
}

static KoineStatus machine_derivatives(KoineModel *model)
{
    Machine *k = koine_machine_of(model);
    k->work.evaluations++;
    if (k->program->events.delays.n_moving)
        koine_read_delays(k);
    if (k->work.counts)
        count_part(k, &k->program->parts.derivatives);
    return k->code->derivatives ? k->code->derivatives(model) : run_steps(k, &k->program->parts.derivatives);
}

static KoineStatus machine_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    outcome->flags = 0;
    koine_consider_upgrade(k);
    if (p->systems.n_run == 0 && k->instant->n_widened == 0 && p->systems.n_sets == 0 &&
        p->events.firings.n_step_conditions == 0)
        return KOINE_OK;
    set_point(k, time, x);
    if (p->systems.n_run || p->systems.n_sets || p->events.firings.n_step_conditions) {
        koine_run_part(k, &p->parts.derivatives);
        koine_run_part(k, &p->parts.roots);
        koine_keep_guesses(k);
        koine_measure_noise(k);
    }
    if (p->systems.n_sets) {
        bool wants_switch;
        const KoineStatus status = koine_look_at_sets(k, &wants_switch);
        if (status != KOINE_OK)
            return status;
        outcome->flags |= wants_switch ? KOINE_COMMIT : 0;
    }
    if (p->events.firings.n_step_conditions) {
        koine_run_part(k, &p->parts.outputs);
        outcome->flags |= koine_wants_step(k) ? KOINE_COMMIT : 0;
    }
    koine_narrow_bands(k);
    return KOINE_OK;
}

static KoineStatus whole_jacobian(Machine *k, double *values)
{
    const KoineProgram *p = k->program;
    const uint32_t n = p->tables->whole_jacobian.start[p->tables->whole_jacobian.rows];
    const KoineStatus status = koine_run_part(k, &p->parts.derivatives);
    if (status != KOINE_OK)
        return status;
    run_section(k, p->parts.whole.section);
    for (uint32_t j = 0; j < n; j++)
        values[j] =
            p->parts.whole.entries[j] == KOINE_NONE ? p->parts.whole.constants[j] : k->m[p->parts.whole.entries[j]].r;
    return KOINE_OK;
}

static KoineStatus machine_jacobian(KoineModel *model, const KoineEvaluation *at, int by, double cj, double *values)
{
    Machine *k = koine_machine_of(model);
    const Colours *colours = &k->kind->by_x;
    const KoineProgram *p = k->program;
    (void)cj;
    const bool is_there = (by == KOINE_BY_X && colours->start) || (by == KOINE_BY_DAE && k->kind->by_dae.start) ||
                          (by == KOINE_BY_WHOLE && p->parts.whole.section != KOINE_NONE);
    if (!is_there)
        return KOINE_ABSENT;
    set_point(k, at->time, at->x);
    if (by == KOINE_BY_DAE)
        return koine_residual_jacobian(k, at, values);
    if (by == KOINE_BY_WHOLE)
        return whole_jacobian(k, values);
    KoineStatus status = koine_run_part(k, &p->parts.derivatives);
    if (status == KOINE_OK)
        status = koine_run_part(k, &p->parts.slopes);
    for (uint32_t c = 0; c < colours->n && status == KOINE_OK; c++) {
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++)
            k->m[p->slots.seed_x + colours->column[j]].r = 1;
        status = koine_run_tangents(k);
        for (uint32_t j = colours->start[c]; j < colours->start[c + 1]; j++)
            values[colours->entry[j]] = k->m[p->slots.seed_dx + colours->row[j]].r;
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++)
            k->m[p->slots.seed_x + colours->column[j]].r = 0;
    }
    if (status == KOINE_OK && !all_finite(values, p->tables->jacobian.start[p->tables->jacobian.rows]))
        status = koine_fault(k, KOINE_RETRY, KOINE_NONE, NULL);
    return status;
}

static KoineStatus machine_directional(KoineModel *model, const KoineEvaluation *at, int by, const double *seed,
                                       double *result)
{
    Machine *k = koine_machine_of(model);
    const KoineProgram *p = k->program;
    if (by != KOINE_BY_X)
        return KOINE_ABSENT;
    set_point(k, at->time, at->x);
    KoineStatus status = koine_run_part(k, &p->parts.derivatives);
    memcpy(&k->m[p->slots.seed_x], seed, p->slots.n_x * sizeof *seed);
    if (status == KOINE_OK)
        status = koine_run_part(k, &p->parts.slopes);
    if (status == KOINE_OK)
        status = koine_run_tangents(k);
    memcpy(result, &k->m[p->slots.seed_dx], p->slots.n_x * sizeof *result);
    memset(&k->m[p->slots.seed_x], 0, p->slots.n_x * sizeof *seed);
    return status;
}

static void machine_statistics(const KoineModel *model, KoineModelStatistics *out)
{
    *out = ((const Machine *)model->handles)->work.statistics;
}

static void machine_work(const KoineModel *model, void (*visit)(void *context, const KoineWork *work), void *context)
{
    const Machine *k = model->handles;
    if (k->work.counts && k->program->explain.attribute)
        k->program->explain.attribute(k->program->explain.context, k->work.counts, visit, context);
}

/* ---- the kind ---- */
/* False: no memory. */
static bool sort_by_colour(const KoinePattern *j, Colours *out)
{
    const uint32_t n = j->rows, entries = j->start[n], colours = j->n_colours;
    uint32_t *all = calloc((size_t)2 * (colours + 2) + 2 * (size_t)entries + n + 1, sizeof *all);
    if (!all)
        return false;
    out->n = colours;
    out->start = all;
    out->column_start = out->start + colours + 2;
    out->entry = out->column_start + colours + 2;
    out->row = out->entry + entries;
    out->column = out->row + entries;
    for (uint32_t k = 0; k < entries; k++)
        out->start[j->colour[j->index[k]] + 2]++;
    for (uint32_t k = 0; k < n; k++)
        out->column_start[j->colour[k] + 2]++;
    for (uint32_t k = 1; k <= colours; k++) {
        out->start[k + 1] += out->start[k];
        out->column_start[k + 1] += out->column_start[k];
    }
    for (uint32_t row = 0; row < n; row++)
        for (uint32_t k = j->start[row]; k < j->start[row + 1]; k++) {
            const uint32_t place = out->start[j->colour[j->index[k]] + 1]++;
            out->entry[place] = k;
            out->row[place] = row;
        }
    for (uint32_t k = 0; k < n; k++)
        out->column[out->column_start[j->colour[k] + 1]++] = k;
    return true;
}

KoineModelKind *koine_machine_kind(const KoineProgram *program, const KoineCode *code)
{
    MachineKind *kind = calloc(1, sizeof *kind);
    if (!kind)
        return NULL;
    kind->program = program;
    kind->code = code;
    lay_out(kind);
    kind->tables = *program->tables;
    kind->tables.block_size = kind->size;
    if (!koine_list_unknowns(kind)) {
        free(kind);
        return NULL;
    }
    kind->kind =
        (KoineModelKind){ .version = KOINE_MODEL_VERSION,
                          .size = sizeof kind->kind,
                          .tables = &kind->tables,
                          .create = machine_create,
                          .destroy = machine_destroy,
                          .initialise = machine_initialise,
                          .evaluate = machine_evaluate,
                          .accept = machine_accept,
                          .arrive = koine_machine_arrive,
                          .step = koine_machine_step,
                          .commit = koine_machine_commit,
                          .leave = koine_machine_leave,
                          .derivatives = code->derivatives && !code->upgrade && !program->events.delays.n_moving
                                             ? code->derivatives
                                             : machine_derivatives,
                          .statistics = machine_statistics,
                          .flip = koine_machine_flip,
                          .hold = koine_machine_hold,
                          .last_time_event = koine_machine_last_time_event,
                          .work = machine_work,
                          .memory = koine_machine_memory,
                          .recall = koine_machine_recall };
    if (program->events.timed.n_sources)
        kind->kind.extremes = koine_machine_extremes;
    if (program->events.timed.n_functions > program->events.timed.n_sources)
        kind->kind.look_ahead = koine_machine_look_ahead;
    if (program->events.delays.n_moving) {
        kind->kind.longest_step = koine_machine_longest_step;
        kind->kind.sample = koine_machine_sample;
        kind->kind.remember = koine_machine_remember;
    }
    if (program->slots.seed_x != KOINE_NONE) {
        kind->kind.jacobian = machine_jacobian;
        kind->kind.directional = machine_directional;
        if ((kind->tables.jacobian.rows && !sort_by_colour(&kind->tables.jacobian, &kind->by_x)) ||
            (kind->tables.dae_jacobian.rows && !sort_by_colour(&kind->tables.dae_jacobian, &kind->by_dae))) {
            koine_machine_free(&kind->kind);
            return NULL;
        }
    }
    kind->counting = kind->kind;
    kind->counting.derivatives = machine_derivatives;
    return &kind->kind;
}

void koine_machine_free(KoineModelKind *base)
{
    MachineKind *kind = (MachineKind *)(void *)base;
    if (!kind)
        return;
    free(kind->by_x.start);
    free(kind->by_dae.start);
    free(kind->w);
    free(kind->w_nominal);
    free(kind);
}

void koine_slot_name(const KoineTables *tables, uint32_t row, uint32_t slot, char *to, size_t size)
{
    enum { MOST_DIMS = 8, LONGEST = 60 };
    KoineText text = koine_text_in(to, size);
    if (row == KOINE_NONE) {
        koine_text_add(&text, "a variable");
        return;
    }
    const KoineVariable *v = &tables->variables[row];
    uint32_t index[MOST_DIMS], number = slot - (uint32_t)(v->now / sizeof(KoineSlot));
    koine_text_add(&text, "%.*s", LONGEST, v->name);
    if (v->n_dims > MOST_DIMS)
        return;
    for (uint32_t k = v->n_dims; k-- > 0;) {
        const uint32_t extent = tables->dims[v->first_dim + k];
        index[k] = number % extent + 1;
        number /= extent;
    }
    for (uint32_t k = 0; k < v->n_dims; k++)
        koine_text_add(&text, "%c%u%s", k ? ',' : '[', index[k], k + 1 == v->n_dims ? "]" : "");
}
