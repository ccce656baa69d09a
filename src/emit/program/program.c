/* Laying out a Schedule in stages, each of which reads the results of those before it; see program.h. */
#include "emit/program.h"
#include "emit/program/comments.h"
#include "emit/program/explain.h"
#include "emit/program/tables.h"
#include "emit/routines.h"

struct Program {
    KoineProgram data;
    Code code;
    KoineTables tables;
    Slots slots;
    Explainer explainer;
};

static const char *const *fill_slot_names(const Kernels *ks)
{
    const Slots *slots = ks->slots;
    enum { MOST_NAMED = 50000 }; /* names are for people; larger models use tables, not names */
    const char **names = NEW_ARRAY(ks->arena, const char *, ks->n_slots + 1);
    if (ks->n_slots > MOST_NAMED)
        return names;
    const Model *m = ks->model;
    names[slots->time] = "time";
    for (uint32_t k = 0; k < ks->shared_slots.n; k++)
        names[ks->shared_slots.at[k]] = arena_format(ks->arena, "shared.%u", k + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const char *path = variable_path(m, (VarId){ k }, ks->arena);
        if (!var_is_none(m->variables.at[k].alias) || m->variables.at[k].type.rank)
            continue;
        if (slots->now[k] != KOINE_NONE)
            names[slots->now[k]] = path;
        if (slots->der[k] != KOINE_NONE)
            names[slots->der[k]] = arena_format(ks->arena, "der(%s)", path);
        if (slots->pre[k] != KOINE_NONE)
            names[slots->pre[k]] = arena_format(ks->arena, "pre(%s)", path);
        if (slots->seed[k] != KOINE_NONE)
            names[slots->seed[k]] = arena_format(ks->arena, "seed(%s)", path);
        if (slots->seed_der[k] != KOINE_NONE)
            names[slots->seed_der[k]] = arena_format(ks->arena, "seed(der(%s))", path);
    }
    return names;
}

/* Nodes of the expressions in the derivatives part, each element counted. */
static uint64_t count_work(const Kernels *ks, const Systems *ss, const KoinePart *part, uint64_t *in_loops)
{
    enum { LOOP_FROM = 4 };
    uint64_t work = 1;
    for (uint32_t k = 0; k < part->n; k++) {
        const KoinePartStep step = part->steps[k];
        const Section *section = step.section == KOINE_NONE ? NULL : &ks->sections.at[step.section];
        for (uint32_t j = 0; section && j < section->n_runs; j++) {
            const Run *run = &ks->runs.at[section->first_run + j];
            const Kernel *kernel = &ks->kernels.at[run->kernel];
            const uint64_t own = (uint64_t)run->n * (kernel->width + kernel->outputs[0]->depth);
            work += own;
            *in_loops += run->n >= LOOP_FROM ? own : 0;
        }
        if (!section)
            work += 50 * ((uint64_t)ss->systems.at[step.system].n + ss->systems.at[step.system].n_inner);
    }
    return work;
}

/* ---- joining the stages ---- */
static void join_slots(KoineProgram *to, const Model *m, const Slots *slots, const Kernels *ks)
{
    VEC(KoineComputedStart) starts = { 0 };
    uint32_t last = 0; /* they were taken in the order of the rows */
    for (uint32_t k = 0; k < slots->n_rows; k++) {
        const VarId own = { slots->variable_of[k] }, alias = model_var(m, own)->alias;
        const uint32_t index = var_is_none(alias) ? own.index : alias.index;
        if (slots->given[index] <= last)
            continue;
        const KoineComputedStart start = { slots->now[index], last = slots->given[index],
                                           (uint32_t)variable_count(m, own) };
        vec_push(ks->arena, &starts, start);
    }
    to->n_slots = ks->n_slots;
    to->time = slots->time;
    to->initial = slots->initial;
    to->x = slots->x;
    to->dx = slots->dx;
    to->n_x = slots->n_x;
    to->seed_x = slots->seed_x;
    to->seed_dx = slots->seed_dx;
    to->seed = var_is_none(m->seed) ? KOINE_NONE : slots->now[m->seed.index];
    to->homotopy = var_is_none(m->homotopy) ? KOINE_NONE : slots->now[m->homotopy.index];
    to->calls = slots->calls == KOINE_NONE ? KOINE_NONE : slots->calls + CALL_NOTED;
    to->rows = ks->rows.at;
    to->n_rows = ks->rows.n;
    to->constants = ks->constants.at;
    to->n_constants = ks->constants.n;
    to->computed_starts = starts.at;
    to->n_computed_starts = starts.n;
}

static void join_parts(KoineProgram *to, const Parts *parts, const Systems *ss)
{
    to->work = count_work(ss->ks, ss, &parts->derivatives, &to->loop_work);
    to->starts = parts->starts;
    to->initial_part = parts->initial;
    to->derivatives = parts->derivatives;
    to->outputs = parts->outputs;
    to->slopes = parts->slopes;
    to->tangents = parts->tangents;
    to->whole_section = parts->whole.section;
    to->whole_entries = parts->whole.entries;
    to->whole_constants = parts->whole.constants;
    to->regular_checks = parts->regular_checks;
    to->n_regular_checks = parts->n_regular_checks;
    to->systems = ss->systems.at;
    to->n_systems = ss->systems.n;
    to->n_run_systems = parts->n_run_systems;
}

static void join_graph(KoineProgram *to, const Graph *graph, const Firings *firings)
{
    to->nodes = graph->nodes;
    to->n_nodes = graph->n_nodes;
    to->n_cells = graph->n_cells;
    to->readers_start = graph->readers_start;
    to->readers = graph->readers;
    to->moving = graph->moving;
    to->n_moving = graph->n_moving;
    to->feeds_dynamics = graph->feeds_dynamics;
    to->cell_pre = graph->cell_pre;
    to->pres = graph->pres;
    to->n_pres = graph->n_pres;
    to->transitions = firings->transitions;
    to->nexts = firings->nexts;
    to->n_nexts = firings->n_nexts;
    to->actions = firings->actions;
    to->n_actions = firings->n_actions;
    to->n_writers = firings->n_writers;
    to->step_conditions = firings->step_conditions;
    to->n_step_conditions = firings->n_step_conditions;
}

static void join_decisions(KoineProgram *to, const Decisions *decisions, const TimeFunctions *timed)
{
    to->roots = decisions->part;
    to->relations = decisions->relations;
    to->steps = decisions->steps;
    to->mixed = decisions->mixed;
    to->n_roots = decisions->n_roots;
    to->root_owner = decisions->root_owner;
    to->n_calendar = decisions->n_calendar;
    to->calendar_owner = decisions->calendar_owner;
    to->time_codes = timed->codes;
    to->n_time_codes = timed->n_codes;
    to->time_functions = timed->functions;
    to->n_time_functions = timed->n_functions;
    to->n_time_inputs = timed->n_inputs;
    to->sources = timed->sources;
    to->n_sources = timed->n_sources;
    to->most_cells = timed->most_cells;
}

static void join_events(KoineProgram *to, const Schedule *schedule, const Events *events)
{
    const Model *m = schedule->model;
    join_graph(to, &events->graph, &events->firings);
    join_decisions(to, &events->decisions, &events->timed);
    to->n_relations = m->relations.n;
    to->n_steps = m->steps.n;
    to->n_mixed = schedule->n_mixed;
    to->n_transitions = m->transitions.n;
    to->state_sets = events->sets.sets;
    to->n_state_sets = m->state_sets.n;
    to->given_starts = events->sets.given;
    to->n_given_starts = events->sets.n_given;
    to->jumps = events->jumps.jumps;
    to->n_jumps = m->jumps.n;
    to->held = events->jumps.held;
    to->n_held = events->jumps.n_held;
    to->delays = events->delays;
    to->n_delays = m->delays.n;
    to->n_moving_delays = events->n_moving_delays;
    to->streams = events->streams;
    to->n_streams = events->n_streams;
    to->finite_checks = events->finite_checks;
    to->n_finite_checks = events->n_finite_checks;
}

static void join_explanations(Program *program, const Schedule *schedule, const Parts *parts, const Events *events,
                              const Arena *arena)
{
    program->explainer = (Explainer){ .schedule = schedule,
                                      .model = schedule->model,
                                      .slots = &program->slots,
                                      .code = &program->code,
                                      .program = &program->data,
                                      .paths = events->paths,
                                      .comparisons = events->decisions.comparisons,
                                      .system_of = parts->blocks.system_of,
                                      .executed = { [PART_DERIVATIVES] = parts->executed[PART_DERIVATIVES],
                                                    [PART_OUTPUTS] = parts->executed[PART_OUTPUTS],
                                                    [PART_ROOTS] = events->decisions.executed },
                                      .arena = arena };
    program->data.explain = explain_fault;
    program->data.matters = fault_matters;
    program->data.locate = locate_origin;
    program->data.describe = describe_row;
    program->data.blame = blame_system;
    program->data.attribute = attribute_work;
    program->data.explain_context = &program->explainer;
}

static Code code_of(const Schedule *schedule, const Kernels *ks, const KoinePart *derivatives)
{
    const Model *m = schedule->model;
    Code code = { .pool = ks->model->pool,
                  .model_name = names_of(pool_names(m->pool), m->name),
                  .n_kernels = ks->kernels.n,
                  .n_runs = ks->runs.n,
                  .n_sections = ks->sections.n,
                  .n_rows = ks->rows.n,
                  .n_slots = ks->n_slots,
                  .kernels = ks->kernels.at,
                  .runs = ks->runs.at,
                  .sections = ks->sections.at,
                  .rows = ks->rows.at,
                  .slot_names = fill_slot_names(ks),
                  .calls = ks->slots->calls,
                  .derivatives_section = KOINE_NONE };
    if (m->functions.n) { /* faults are explained with them while models run: nothing is made then */
        make_routines(m->pool);
        make_routines(ks->model->pool);
    }
    find_routines(&code, ks->kernels.at, ks->arena);
    if (code.n_routines == 0 && derivatives->n == 1 && derivatives->steps[0].system == KOINE_NONE)
        code.derivatives_section = derivatives->steps[0].section;
    return code;
}

Program *program_create(const Schedule *schedule, Arena *arena)
{
    Program *program = NEW(arena, Program);
    const Slots *slots = &program->slots;
    program->slots = slots_place(schedule, arena);
    Kernels *kernels = kernels_create(schedule, slots, arena);
    Systems *systems = systems_create(schedule, kernels);
    const Parts parts = parts_lay(schedule, systems);
    const Events events = events_lay(schedule, &parts, systems);
    program->data.parameters = lay_fixed(kernels, &parts, &events.decisions.fixed);
    program->tables = tables_fill(schedule, slots, systems, &parts, &events, arena);
    comment_kernels(schedule, &parts, &events, kernels);
    program->code = code_of(schedule, kernels, &parts.derivatives);
    program->data.tables = &program->tables;
    join_slots(&program->data, schedule->model, slots, kernels);
    join_parts(&program->data, &parts, systems);
    join_events(&program->data, schedule, &events);
    join_explanations(program, schedule, &parts, &events, arena);
    share_destroy(systems->share);
    arena_destroy(kernels->scratch);
    return program;
}

const KoineProgram *program_data(const Program *program)
{
    return &program->data;
}

const Code *program_code(const Program *program)
{
    return &program->code;
}

uint32_t program_slot(const Program *program, Ref ref)
{
    const bool has_slot = ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_DER || ref.kind == REF_TIME;
    return has_slot ? slot_of(&program->slots, ref) : KOINE_NONE;
}
