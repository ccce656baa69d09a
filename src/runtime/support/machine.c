/* The machine: a KoineModelKind made of a program and the code of a tier; see koine/support.h. */
#include "objects.h"
#include "texts.h"
#include "time_search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- create, destroy ---- */
static void machine_destroy(KoineModel *model)
{
    if (!model)
        return;
    Machine *m = model->handles;
    if (m) {
        koine_components_destroy(m);
        koine_objects_destroy(m->spaces.store);
        koine_workspace_destroy(m->spaces.workspace);
        koine_set_space_destroy(m->spaces.set_space);
        free(m->spaces.residual_work);
        free(m->spaces.partials);
        free(m->calendar.cells);
        free(m->spaces.jump_space);
        free(m->work.counts);
    }
    free(m);
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

void koine_take_time(Machine *m)
{
    const double resolution = m->model->host ? m->model->host->resolution : 0;
    m->time = (MachineTime){ koine_time_rule(resolution), resolution };
}

static KoineStatus machine_create(const KoineModelKind *base, const KoineHost *host, KoineModel **out)
{
    const MachineKind *kind = (const MachineKind *)(const void *)base;
    const KoineProgram *p = kind->program;
    const bool is_counting = host && host->wants_work, has_sets = p->systems.n_sets || p->slots.n_given_starts;
    KoineModel *model = calloc(1, sizeof *model);
    if (!model)
        return KOINE_FAILED;
    Machine *m = model->handles = calloc(1, sizeof *m);
    model->block = aligned_alloc(KOINE_ALIGNMENT, kind->size);
    if (m) {
        m->spaces.workspace = koine_workspace_create(p);
        m->spaces.set_space = has_sets ? koine_set_space_create(p) : NULL;
        m->spaces.residual_work =
            malloc((p->slots.n_x + 3 * (size_t)kind->tables.unknowns.n + 1) * sizeof *m->spaces.residual_work);
        m->spaces.partials = malloc(koine_partial_space(kind) * sizeof *m->spaces.partials);
        m->calendar.cells = malloc((p->events.timed.most_cells + (size_t)1) * sizeof *m->calendar.cells);
        m->work.counts = is_counting ? create_counts(p) : NULL;
        m->spaces.jump_space = p->systems.jumps.n ? koine_jumps_create(p) : NULL;
        m->spaces.store = p->objects.slot != KOINE_NONE ? koine_objects_create(p->objects.n) : NULL;
    }
    if (!m || !model->block || !m->spaces.workspace || !m->spaces.residual_work || !m->calendar.cells ||
        !m->spaces.partials || (has_sets && !m->spaces.set_space) || (is_counting && !m->work.counts) ||
        (p->systems.jumps.n && !m->spaces.jump_space) || (p->objects.slot != KOINE_NONE && !m->spaces.store)) {
        machine_destroy(model);
        return KOINE_FAILED;
    }
    memset(model->block, 0, kind->size);
    model->kind = is_counting ? &kind->counting : base;
    model->size = kind->size;
    model->host = host;
    model->fault.origin = model->fault.variable = -1;
    m->rows = p->parts.rows;
    m->program = p;
    m->code = kind->code;
    m->model = model;
    m->kind = kind;
    if (!koine_components_create(m)) {
        machine_destroy(model);
        return KOINE_FAILED;
    }
    koine_take_time(m);
    koine_point_into(m, model->block, kind->offsets);
    for (uint32_t j = 0; j < p->slots.n_constants; j++)
        for (uint32_t i = 0; i < p->slots.constants[j].n; i++)
            m->slots[p->slots.constants[j].slot + i] = p->slots.constants[j].value;
    koine_texts_begin(m);
    if (p->slots.seed != KOINE_NONE && host)
        m->slots[p->slots.seed].i = (int64_t)host->seed;
    for (uint32_t j = 0; j < p->events.decisions.n_calendar + p->events.delays.n; j++)
        m->calendar.entries[j].place = KOINE_NONE;
    m->instant->served = KOINE_NONE;
    koine_timed_forget(m);
    *out = model;
    return KOINE_OK;
}

/* ---- parts ---- */
KoineStatus koine_failed_call(Machine *m, KoineStatus status, uint32_t origin)
{
    const KoineProgram *p = m->program;
    const bool matters = !p->explain.matters || p->explain.matters(p->explain.context, m->model, origin);
    if (matters)
        koine_fault(m, status, origin, NULL);
    m->slots[p->slots.calls].i = 0;
    return matters ? status : KOINE_OK;
}

static void count_part(Machine *m, const KoinePart *part)
{
    const KoineProgram *p = m->program;
    m->work.counts->derivatives += part == &p->parts.derivatives;
    m->work.counts->roots += part == &p->parts.roots;
    m->work.counts->outputs += part == &p->parts.outputs;
}

static inline KoineStatus run_steps(Machine *m, const KoinePart *part)
{
    for (uint32_t j = 0; j < part->n; j++) {
        if (part->steps[j].system == KOINE_NONE) {
            run_section(m, part->steps[j].section);
        } else {
            const KoineStatus status = koine_solve_system(m, part->steps[j].system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return koine_check_calls(m, KOINE_RETRY, KOINE_NONE);
}

KoineStatus koine_run_part(Machine *m, const KoinePart *part)
{
    if (m->work.counts)
        count_part(m, part);
    return run_steps(m, part);
}

/* ---- interface ---- */
void koine_set_point(Machine *m, double time, const double *x)
{
    const KoineProgram *p = m->program;
    m->slots[p->slots.time].r = time;
    if (x && x != &m->slots[p->slots.x].r && p->slots.n_x)
        memcpy(&m->slots[p->slots.x], x, p->slots.n_x * sizeof *x);
    if (p->events.delays.n_moving)
        koine_read_delays(m);
}

static bool all_finite(const double *values, uint32_t n)
{
    double sum = 0; /* 0*v is 0 for finite v and NaN for all others */
    for (uint32_t j = 0; j < n; j++)
        sum += 0 * values[j];
    return sum == 0;
}

static KoineStatus check_outputs(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->parts.finite.n; j++)
        if (!isfinite(m->slots[p->parts.finite.at[2 * j]].r))
            return koine_fault(m, KOINE_RETRY, p->parts.finite.at[2 * j + 1], NULL);
    return KOINE_OK;
}

static KoineStatus machine_evaluate(KoineModel *model, const KoineEvaluation *at)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    KoineStatus status = KOINE_OK;
    model->fault.text[0] = 0;
    koine_set_point(m, at->time, at->x);
    if (m->history.complaint)
        return koine_check_delays(m, KOINE_RETRY);
    if (at->want & KOINE_WANT_RESIDUAL)
        return koine_residual(m, at);
    if (at->want & KOINE_WANT_ROOTS) {
        status = koine_run_part(m, &p->parts.roots);
        if (status == KOINE_OK && at->root_sizes)
            koine_root_sizes(m, at->root_sizes);
        if (status == KOINE_OK)
            status = koine_root_functions(m, at->roots);
        if (status == KOINE_OK && p->foreigns.n_roots)
            status = koine_component_roots(m, at->roots, at->root_sizes);
    }
    if (status == KOINE_OK && (at->want & (KOINE_WANT_DER | KOINE_WANT_OUTPUTS))) {
        status = koine_run_part(m, &p->parts.derivatives);
        m->work.evaluations++;
        const double *dx = &m->slots[p->slots.dx].r;
        if (status == KOINE_OK && !all_finite(dx, p->slots.n_x))
            status = koine_fault(m, KOINE_RETRY, KOINE_NONE, NULL);
        if (at->der && at->der != dx && p->slots.n_x)
            memcpy(at->der, dx, p->slots.n_x * sizeof *dx);
    }
    if (status == KOINE_OK && (at->want & KOINE_WANT_OUTPUTS)) {
        status = koine_run_part(m, &p->parts.outputs);
        if (status == KOINE_OK)
            status = check_outputs(m);
        if (status == KOINE_OK && p->slots.n_x == 0) /* points are all the steps there are */
            koine_keep_guesses(m);
    }
    return status;
}

void koine_consider_upgrade(Machine *m)
{
    if (!m->code->upgrade)
        return;
    const uint64_t operations = m->work.evaluations * m->program->parts.work + 8 * m->work.statistics.node_evaluations;
    if (operations < m->code->upgrade_at)
        return;
    const KoineCode *better = m->code->upgrade(m->code->upgrade_context);
    if (better)
        m->code = better;
}

static KoineStatus machine_derivatives(KoineModel *model)
{
    Machine *m = koine_machine_of(model);
    m->work.evaluations++;
    if (m->program->events.delays.n_moving)
        koine_read_delays(m);
    if (m->history.complaint)
        return koine_check_delays(m, KOINE_RETRY);
    if (m->work.counts)
        count_part(m, &m->program->parts.derivatives);
    return m->code->derivatives ? m->code->derivatives(model) : run_steps(m, &m->program->parts.derivatives);
}

static KoineStatus machine_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    outcome->flags = 0;
    koine_consider_upgrade(m);
    koine_texts_sweep(m);
    if (p->systems.n_run == 0 && m->instant->n_widened == 0 && p->systems.n_sets == 0 &&
        p->events.firings.n_step_conditions == 0 && p->events.delays.n_changing == 0 && p->foreigns.n == 0)
        return KOINE_OK;
    koine_set_point(m, time, x);
    if (p->systems.n_run || p->systems.n_sets || p->events.firings.n_step_conditions) {
        koine_run_part(m, &p->parts.derivatives);
        koine_run_part(m, &p->parts.roots);
        koine_keep_guesses(m);
        koine_measure_noise(m);
    }
    if (p->foreigns.n) {
        bool wants_instant;
        koine_run_part(m, &p->parts.outputs);
        const KoineStatus status = koine_accept_components(m, &wants_instant);
        if (status != KOINE_OK)
            return status;
        outcome->flags |= wants_instant ? KOINE_COMMIT : 0;
    }
    if (p->systems.n_sets) {
        bool wants_switch;
        const KoineStatus status = koine_look_at_sets(m, &wants_switch);
        if (status != KOINE_OK)
            return status;
        outcome->flags |= wants_switch ? KOINE_COMMIT : 0;
    }
    if (p->events.firings.n_step_conditions) {
        koine_run_part(m, &p->parts.outputs);
        outcome->flags |= koine_wants_step(m) ? KOINE_COMMIT : 0;
    }
    if (p->events.delays.n_changing)
        outcome->flags |= koine_wants_pieces(m) ? KOINE_COMMIT : 0;
    koine_narrow_bands(m);
    return KOINE_OK;
}

static void machine_statistics(const KoineModel *model, KoineModelStatistics *out)
{
    *out = ((const Machine *)model->handles)->work.statistics;
}

static void machine_work(const KoineModel *model, void (*visit)(void *context, const KoineWork *work), void *context)
{
    const Machine *m = model->handles;
    if (m->work.counts && m->program->explain.attribute)
        m->program->explain.attribute(m->program->explain.context, m->work.counts, visit, context);
}

/* ---- the kind ---- */
/* Without a look at what else is to be done: nothing is counted, delayed, exchanged or outside of the block. */
static bool is_called_directly(const KoineProgram *program, const KoineCode *code)
{
    return code->derivatives && !code->upgrade && !program->events.delays.n_moving &&
           program->objects.slot == KOINE_NONE;
}

KoineModelKind *koine_machine_kind(const KoineProgram *program, const KoineCode *code)
{
    MachineKind *kind = calloc(1, sizeof *kind);
    if (!kind)
        return NULL;
    kind->program = program;
    kind->code = code;
    koine_lay_out(kind);
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
                          .initialise = koine_machine_initialise,
                          .evaluate = machine_evaluate,
                          .accept = machine_accept,
                          .arrive = koine_machine_arrive,
                          .step = koine_machine_step,
                          .commit = koine_machine_commit,
                          .leave = koine_machine_leave,
                          .derivatives = is_called_directly(program, code) ? code->derivatives : machine_derivatives,
                          .counts = { machine_statistics, machine_work },
                          .crossings = { koine_machine_flip, koine_machine_hold },
                          .time = { .last_event = koine_machine_last_time_event },
                          .memory = { koine_machine_memory, koine_machine_recall },
                          .texts = { koine_machine_text, koine_machine_put_text } };
    if (program->tables->callables.n_entries)
        kind->kind.foreign.entry = koine_machine_entry;
    if (program->events.timed.n_sources)
        kind->kind.time.extremes = koine_machine_extremes;
    if (program->events.timed.n_functions > program->events.timed.n_sources)
        kind->kind.time.look_ahead = koine_machine_look_ahead;
    if (program->events.delays.n_moving) {
        kind->kind.signals =
            (KoineSignalCalls){ koine_machine_longest_step, koine_machine_sample, koine_machine_remember };
    }
    if (!koine_partial_begin(kind)) {
        koine_machine_free(&kind->kind);
        return NULL;
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
    koine_partial_end(kind);
    free(kind->w);
    free(kind->w_nominal);
    free(kind);
}

/* Empty brackets in a name take the first indices, those that are left follow: c[2].x[3] of "c[].x". */
static void add_element(KoineText *text, const char *name, uint32_t n, const uint32_t *index)
{
    enum { LONGEST = 60 };
    uint32_t done = 0;
    for (size_t k = 0; name[k] && k < LONGEST; k++) {
        const bool is_place = k && (name[k] == ',' || name[k] == ']') && (name[k - 1] == '[' || name[k - 1] == ',');
        if (is_place && done < n)
            koine_text_add(text, "%u", index[done++]);
        koine_text_add(text, "%c", name[k]);
    }
    for (uint32_t k = done; k < n; k++)
        koine_text_add(text, "%c%u%s", k > done ? ',' : '[', index[k], k + 1 == n ? "]" : "");
}

void koine_slot_name(const KoineTables *tables, uint32_t row, uint32_t slot, char *to, size_t size)
{
    enum { MOST_DIMS = 8 };
    KoineText text = koine_text_in(to, size);
    if (row == KOINE_NONE) {
        koine_text_add(&text, "a variable");
        return;
    }
    const KoineVariable *v = &tables->variables[row];
    uint32_t index[MOST_DIMS], number = slot - (uint32_t)(v->now / sizeof(KoineSlot));
    const uint32_t n = v->n_dims <= MOST_DIMS ? v->n_dims : 0;
    for (uint32_t k = n; k-- > 0;) {
        const uint32_t extent = tables->types.dims[v->first_dim + k];
        index[k] = number % extent + 1;
        number /= extent;
    }
    add_element(&text, v->name, n, index);
}
