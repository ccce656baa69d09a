/* Laying out a Schedule in stages, each of which reads the results of those before it; see program.h. */
#include "emit/program.h"
#include "emit/program/comments.h"
#include "emit/program/explain.h"
#include "emit/program/guid.h"
#include "emit/program/tables.h"
#include "emit/routines.h"
#include "ir/external.h"

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
    enum {
        LOOP_FROM = 4,
        SYSTEM_WORK = 50
    }; /* the second: operations per unknown of a system that is solved, a guess */
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
            work += SYSTEM_WORK * ((uint64_t)ss->systems.at[step.system].n + ss->systems.at[step.system].n_inner);
    }
    return work;
}

/* ---- joining the stages ---- */
static KoineSlots join_slots(const Model *m, const Slots *slots, const Kernels *ks, const Events *events)
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
    return (KoineSlots){ .n = ks->n_slots,
                         .time = slots->time,
                         .initial = slots->phases.initial,
                         .terminal = slots->phases.terminal,
                         .x = slots->x,
                         .dx = slots->dx,
                         .n_x = slots->n_x,
                         .seed_x = slots->seed_x,
                         .seed_dx = slots->seed_dx,
                         .seed = var_is_none(m->seed) ? KOINE_NONE : slots->now[m->seed.index],
                         .homotopy = var_is_none(m->homotopy) ? KOINE_NONE : slots->now[m->homotopy.index],
                         .calls = slots->calls == KOINE_NONE ? KOINE_NONE : slots->calls + CALL_NOTED,
                         .constants = ks->constants.at,
                         .n_constants = ks->constants.n,
                         .streams = events->streams,
                         .n_streams = events->n_streams,
                         .given_starts = events->sets.given,
                         .n_given_starts = events->sets.n_given,
                         .computed_starts = starts.at,
                         .n_computed_starts = starts.n };
}

/* What makes them says how many there are. */
static KoineObjects join_objects(const Model *m, const Kernels *ks)
{
    const Slots *slots = ks->slots;
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (v->type.kind == TYPE_OBJECT && v->binding.shape->kind == EXPR_FUNCTION &&
            v->binding.shape->u.function->external->object > n)
            n = v->binding.shape->u.function->external->object;
    }
    return (KoineObjects){ n || ks->literals->is_used ? slots->calls + CALL_OBJECTS : KOINE_NONE, n };
}

static KoineLiterals join_texts(const Kernels *ks)
{
    return (KoineLiterals){ ks->literals->is_used ? ks->slots->calls + CALL_TEXTS : KOINE_NONE, ks->literals->texts.n,
                            ks->literals->texts.at };
}

static KoineParts join_parts(KoinePart parameters, const Parts *parts, const Systems *ss, const Events *events)
{
    KoineParts to = { .parameters = parameters,
                      .starts = parts->starts,
                      .initial = parts->initial,
                      .derivatives = parts->derivatives,
                      .roots = events->roots.part,
                      .outputs = parts->outputs,
                      .slopes = parts->slopes,
                      .tangents = parts->tangents,
                      .whole = parts->whole.entries,
                      .ports = parts->ports,
                      .finite = events->finite,
                      .rows = ss->ks->rows.at,
                      .n_rows = ss->ks->rows.n };
    to.work = count_work(ss->ks, ss, &parts->derivatives, &to.loop_work);
    return to;
}

static KoineSystems join_systems(const Model *m, const Parts *parts, const Systems *ss, const Events *events)
{
    return (KoineSystems){ .at = ss->systems.at,
                           .n = ss->systems.n,
                           .n_run = parts->n_run_systems,
                           .regular = parts->regular,
                           .sets = events->sets.sets,
                           .n_sets = m->state_sets.n,
                           .jumps = events->jumps };
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
                                      .comparisons = events->roots.comparisons,
                                      .system_of = parts->blocks.system_of,
                                      .executed = { [PART_DERIVATIVES] = parts->executed[PART_DERIVATIVES],
                                                    [PART_OUTPUTS] = parts->executed[PART_OUTPUTS],
                                                    [PART_ROOTS] = events->roots.executed },
                                      .arena = arena };
    program->data.explain = (KoineExplain){ .context = &program->explainer,
                                            .fault = explain_fault,
                                            .matters = fault_matters,
                                            .locate = locate_origin,
                                            .describe = describe_row,
                                            .blame = blame_system,
                                            .attribute = attribute_work };
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
                  .literals = ks->literals,
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
    const KoinePart parameters = lay_fixed(kernels, &parts, &events.roots.fixed);
    share_destroy(systems->share);
    program->tables = tables_fill(schedule, slots, systems, &parts, &events, arena);
    comment_kernels(schedule, &parts, &events, kernels);
    program->code = code_of(schedule, kernels, &parts.derivatives);
    program->data = (KoineProgram){ .tables = &program->tables,
                                    .slots = join_slots(schedule->model, slots, kernels, &events),
                                    .texts = join_texts(kernels),
                                    .objects = join_objects(schedule->model, kernels),
                                    .parts = join_parts(parameters, &parts, systems, &events),
                                    .events = events.data,
                                    .systems = join_systems(schedule->model, &parts, systems, &events),
                                    .foreigns = lay_foreigns(schedule, slots, systems, &events, arena) };
    join_explanations(program, schedule, &parts, &events, arena);
    program->tables.guid = guid_of(&program->data, &program->code, schedule->model, arena);
    arena_destroy(kernels->scratch);
    return program;
}

/* Generated variables have no rows, but some value before. */
static KoineCarried *list_carried(const Program *program, uint32_t n_variables, uint32_t *n, Arena *arena)
{
    const Model *m = program->explainer.model;
    KoineCarried *at = NEW_ARRAY(arena, KoineCarried, n_variables + 1);
    for (uint32_t k = 0; k < n_variables; k++) {
        const VarId var = { k };
        if (m->variables.at[k].is_generated && !variable_is_split(m, var) &&
            m->variables.at[k].type.kind != TYPE_STRING)
            at[(*n)++] =
                var_is_none(m->variables.at[k].alias)
                    ? (KoineCarried){ program->slots.now[k], program->slots.pre[k], (uint32_t)variable_count(m, var) }
                    : (KoineCarried){ KOINE_NONE, KOINE_NONE, 0 };
    }
    return at;
}

KoinePort program_port(const Program *program, VarId var)
{
    const Model *m = program->explainer.model;
    const uint32_t row = program->slots.row_of[var.index];
    uint32_t element = 0;
    if (variable_is_element(m, var))
        element = var.index - model_var(m, model_var(m, var)->origin)->alias.index;
    return (KoinePort){ row, element };
}

static KoineFixedChoice *fixed_choices(const Program *program, const ProgramChoice *choices, uint32_t n, Arena *arena)
{
    KoineFixedChoice *at = NEW_ARRAY(arena, KoineFixedChoice, n + 1);
    for (uint32_t k = 0; k < n; k++)
        at[k] =
            (KoineFixedChoice){ slot_of(&program->slots, ref_now(choices[k].var)), choices[k].value, choices[k].name };
    return at;
}

void program_exclude(Program *program, const ProgramChoice *choices, uint32_t n, Arena *arena)
{
    KoineMode *mode = &program->data.mode;
    KoineExcluded *all = NEW_ARRAY(arena, KoineExcluded, mode->n_excluded + 1);
    if (mode->n_excluded)
        memcpy(all, mode->excluded, mode->n_excluded * sizeof *all);
    all[mode->n_excluded++] = (KoineExcluded){ n, fixed_choices(program, choices, n, arena) };
    mode->excluded = all;
}

void program_is_mode(Program *program, const ProgramChoice *choices, uint32_t n, uint32_t n_variables, Arena *arena)
{
    uint32_t n_carried = 0;
    const KoineCarried *carried = list_carried(program, n_variables, &n_carried, arena);
    const KoineFixedChoice *at = fixed_choices(program, choices, n, arena);
    uint32_t n_rows = 0;
    while (n_rows < program->slots.n_rows && program->slots.variable_of[n_rows] < n_variables)
        n_rows++;
    uint64_t number = 0; /* in whatever order they were found */
    for (uint32_t k = 0; k < n; k++)
        number += hash_mix(hash_mix(0, choices[k].var.index + 1u), (uint64_t)choices[k].value);
    program->data.mode = (KoineMode){
        .number = number ? number : 1, .n = n, .n_carried = n_carried, .n_rows = n_rows, .at = at, .carried = carried
    };
}

const KoineProgram *program_data(const Program *program)
{
    return &program->data;
}

const Code *program_code(const Program *program)
{
    return &program->code;
}

const KoineOrigin *program_origins(const Program *program, Arena *arena, uint32_t *n)
{
    return list_origins(&program->explainer, arena, n);
}

uint32_t program_slot(const Program *program, Ref ref)
{
    const bool has_slot = ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_DER || ref.kind == REF_TIME;
    return has_slot ? slot_of(&program->slots, ref) : KOINE_NONE;
}
