/* See compile.h. The order of work stands in compilation_load and compilation_schedule. */
#include "driver/compile.h"
#include "base/bug.h"
#include "driver/explore.h"
#include "driver/given.h"
#include "driver/hints.h"
#include "driver/inspect.h"
#include "driver/languages.h"
#include "driver/report.h"
#include "driver/resolve.h"
#include "driver/starts.h"
#include "driver/stop.h"
#include "driver/structure.h"
#include "driver/symbols.h"
#include "driver/task.h"
#include "driver/tier.h"
#include "emit/c/print.h"
#include "emit/program.h"
#include "formats/select.h"
#include "ir/print.h"
#include "ir/print_schedule.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

struct Compilation {
    Arena *arena;
    Names *names;
    Sources *sources;
    Diag *diag;
    Pool *pool;
    Model *model;
    uint8_t systems; /* SystemsChoice */
    Compile passes;
    bool evaluate_parameters, remove_unneeded;
    const CompileValue *values;
    uint32_t n_values;
    const char *const *wanted;
    Program *program;
    Tiers tiers;
    void (*watch)(void *context, const char *pass); /* may be NULL */
    void *watch_context;
};

Compilation *compilation_create(OutOfMemory out_of_memory)
{
    Arena *arena = arena_create(out_of_memory);
    Compilation *c = NEW(arena, Compilation);
    c->arena = arena;
    c->names = names_create(arena);
    c->sources = sources_create(arena);
    c->diag = diag_create(arena, c->sources);
    c->pool = pool_create(arena, c->names);
    return c;
}

void compilation_destroy(Compilation *c)
{
    if (!c)
        return;
    tiers_release(&c->tiers);
    arena_destroy(c->arena);
}

Arena *compilation_arena(const Compilation *c)
{
    return c->arena;
}

Sources *compilation_sources(const Compilation *c)
{
    return c->sources;
}

Diag *compilation_diag(const Compilation *c)
{
    return c->diag;
}

static const char *const systems_names[] = {
    [SYSTEMS_AUTO] = "auto", [SYSTEMS_TORN] = "torn", [SYSTEMS_WHOLE] = "whole", [SYSTEMS_SYMBOLIC] = "symbolic"
};

const char *compilation_systems_name(uint32_t k)
{
    return k < sizeof systems_names / sizeof *systems_names ? systems_names[k] : NULL;
}

bool compilation_load(Compilation *c, const CompileRequest *request)
{
    for (uint32_t k = 0; request->systems && compilation_systems_name(k); k++)
        if (strcmp(request->systems, systems_names[k]) == 0)
            c->systems = (uint8_t)k;
    c->evaluate_parameters = request->evaluate_parameters;
    c->remove_unneeded = request->remove_unneeded;
    c->wanted = request->wanted;
    c->values = request->values;
    c->n_values = request->n_values;
    const ResolveRequest r = { c->pool, c->sources, request->languages, request->profile, request->versions };
    c->model = resolve_file(&r, request->path, request->class_name, c->diag);
    if (!c->model || diag_errors(c->diag) || !model_verify(c->model, c->diag))
        return false;
    Arena *scratch = arena_create_like(c->arena);
    give_values(c->model, request->values, request->n_values, scratch);
    arena_destroy(scratch);
    if (request->stop_when && !stop_read(c->model, c->sources, request->stop_when, request->stop_span, c->diag))
        return false;
    return !request->task || task_read(c->model, request->task, request->task_span, c->diag);
}

void compilation_watch(Compilation *c, void (*after)(void *context, const char *pass), void *context)
{
    c->watch = after;
    c->watch_context = context;
}

typedef struct {
    const Compilation *compilation;
    const char *after;
} StopAfter;

static bool stop_after(void *context, const Compile *compile, const Pass *pass)
{
    const StopAfter *stop = context;
    if (stop->compilation->watch)
        stop->compilation->watch(stop->compilation->watch_context, pass->name);
#ifndef NDEBUG
    if (!model_verify(compile->model, compile->diag))
        return false; /* a user's mistake that shows only now, or one of ours: reported either way */
#else
    (void)compile;
#endif
    return !stop->after || strcmp(stop->after, pass->name) != 0;
}

/* `x` and `x[2]` both ask for the array x, whether it is one variable or one an element. */
static bool matches_wanted(void *context, const Model *model, VarId var)
{
    Compilation *c = context;
    const char *path = variable_path(model, var, c->arena);
    const size_t length = strlen(path);
    const char *array = arena_text(c->arena, path, strcspn(path, "["));
    for (uint32_t k = 0; c->wanted[k]; k++) {
        const char *glob = c->wanted[k];
        if (glob_matches(glob, path) || glob_matches(glob, array) ||
            (strncmp(glob, path, length) == 0 && glob[length] == '['))
            return true;
    }
    return false;
}

static bool run_passes(Compilation *c, const char *after)
{
    StopAfter stop = { c, after };
    if (c->watch)
        c->watch(c->watch_context, NULL);
    c->passes = (Compile){ .model = c->model,
                           .arena = c->arena,
                           .diag = c->diag,
                           .systems = c->systems,
                           .evaluates_parameters = c->evaluate_parameters,
                           .removes_unneeded = c->remove_unneeded,
                           .wants = c->wanted ? matches_wanted : NULL,
                           .wants_context = c };
    return run_pipeline(&c->passes, stop_after, &stop) && diag_errors(c->diag) == 0;
}

bool compilation_schedule(Compilation *c)
{
    if (!run_passes(c, NULL))
        return false;
    c->program = program_create(c->passes.schedule, c->arena);
    return true;
}

bool compilation_dump(Compilation *c, const char *after, DumpForm form, Text *to)
{
    const bool everything = form == DUMP_SCHEDULE || form == DUMP_C;
    if (!everything && after && strcmp(after, "load") == 0) {
        model_print(c->model, to, (PrintOptions){ .shapes = form == DUMP_SHAPES });
        return true;
    }
    if (!run_passes(c, everything ? NULL : after))
        return false;
    if (form == DUMP_C) {
        c->program = program_create(c->passes.schedule, c->arena);
        const Text text = print_c(program_code(c->program), c->arena);
        text_bytes(to, text.at, text.n);
        return true;
    }
    if (form == DUMP_SCHEDULE)
        schedule_print(c->passes.schedule, to);
    else
        model_print(c->model, to, (PrintOptions){ .shapes = form == DUMP_SHAPES });
    return true;
}

void compilation_structure_text(const Compilation *c, uint32_t depth, Text *to)
{
    structure_text(c->model, depth, to);
}

bool compilation_structure_svg(const Compilation *c, uint32_t depth, uint32_t most, uint32_t *n, Text *to)
{
    DiagramBox *box = structure_diagram(c->model, depth, n, c->arena);
    if (*n > most)
        return false;
    diagram_layout(box, c->arena);
    *to = diagram_svg(box, c->arena);
    return true;
}

void compilation_list(const Compilation *c, ListKind kind, bool is_json, Text *to)
{
    static void (*const lists[][2])(const Model *, Text *) = {
        [LIST_SYMBOLS] = { symbols_text, symbols_json },
        [LIST_CLASSES] = { classes_text, classes_json },
        [LIST_HINTS] = { hints_text, hints_json },
    };
    lists[kind][is_json](c->model, to);
}

void compilation_listing(const Compilation *c, const char *path, bool has_numbers, bool has_no_messages, Text *to)
{
    uint32_t source;
    const Language *language = language_of(NULL, path);
    const ListingStyle style = { has_numbers, has_no_messages, language && language->has_message_lines };
    if (sources_open(c->sources, path, &source) == SOURCE_OK)
        listing(c->sources, source, c->diag, style, to);
}

bool compilation_explore(const Compilation *c, ExploreKind kind, const ExploreRequest *request, Text *to)
{
    const Schedule *const schedule = c->passes.schedule;
    switch (kind) {
    case EXPLORE_COMPONENTS: explore_components(c->model, to); break;
    case EXPLORE_VARIABLE: return explore_variable(schedule, request->name, to);
    case EXPLORE_BLOCKS: explore_blocks(schedule, request->first, request->most, to); break;
    case EXPLORE_INCIDENCE: explore_incidence(schedule, request->most, to); break;
    }
    return true;
}

const char *compilation_pass_name(uint32_t k)
{
    return k < pipeline_count() ? pipeline[k].name : NULL;
}

const char *compilation_pass_purpose(uint32_t k)
{
    return k < pipeline_count() ? pipeline[k].purpose : NULL;
}

/* An unknown that is no derivative: with one the index is at least 1. */
static bool is_algebraic(const Variable *v)
{
    return v->definition == DEFINITION_NOW && v->variability == VARIABILITY_CONTINUOUS && var_is_none(v->alias) &&
           !v->is_generated;
}

CompileReport compilation_report(const Compilation *c)
{
    const Model *m = c->model;
    const Schedule *s = c->passes.schedule;
    CompileReport r = { .model = names_of(c->names, m->name),
                        .language = m->language,
                        .equations = s->n_equations,
                        .aliases = s->n_aliases,
                        .blocks = s->blocks.n,
                        .largest_block = s->largest_block,
                        .root_functions = s->n_roots,
                        .time_events = s->n_calendar,
                        .transitions = m->transitions.n,
                        .regions = m->regions.n,
                        .instances = m->instances.n,
                        .index = s->index,
                        .differentiated_equations = s->n_differentiated,
                        .dummy_derivatives = s->n_differentiated, /* one for each equation that was added */
                        .bytes = arena_bytes(c->arena) };
    for (uint32_t k = 0; k < m->variables.n; k++) {
        r.variables += !m->variables.at[k].is_generated;
        r.parameters += m->variables.at[k].definition == DEFINITION_BINDING && !m->variables.at[k].is_generated;
        r.index |= is_algebraic(&m->variables.at[k]) && s->index == 0;
    }
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        r.state_sets += state_set_is_chosen(&m->state_sets.at[k]);
    for (uint32_t k = 0; k < s->states.n; k++)
        r.states += variable_count(m, s->states.at[k]);
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        const bool is_system = b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON;
        const uint32_t torn = is_system ? b->n_rows - b->n_inner : b->n_solved - b->n_solved_inner;
        r.largest_torn = torn > r.largest_torn ? torn : r.largest_torn;
        r.formula_systems += b->n_solved > 0;
        r.linear_systems += s->blocks.at[k].kind == BLOCK_LINEAR;
        r.nonlinear_systems += s->blocks.at[k].kind == BLOCK_NEWTON || s->blocks.at[k].kind == BLOCK_ITERATE;
    }
    if (s->has_jacobian) {
        r.jacobian_entries = s->jacobian.start[s->jacobian.n];
        r.jacobian_colours = s->jacobian.n_colours;
    }
    if (c->program)
        r.kernels = program_code(c->program)->n_kernels;
    return r;
}

void compilation_structure(const Compilation *c, bool has_all_blocks, bool is_json, Text *to)
{
    const CompileReport report = compilation_report(c);
    report_structure(c->passes.schedule, (ReportStyle){ has_all_blocks, is_json, (uint32_t)report.index }, to);
}

static Inspection inspection(const Compilation *c, bool is_json)
{
    const Span span = c->model->span;
    return (Inspection){ .schedule = c->passes.schedule,
                         .program = c->program,
                         .file = span.source == SOURCE_NONE ? "" : sources_get(c->sources, span.source)->path,
                         .is_json = is_json };
}

void compilation_list_starts(const Compilation *c, bool is_json, Text *to)
{
    list_starts(c->passes.schedule, c->values, c->n_values, is_json, to);
}

void compilation_list_blocks(const Compilation *c, bool is_complete, bool is_json, Text *to)
{
    const Inspection of = inspection(c, is_json);
    inspect_list(&of, is_complete, to);
}

bool compilation_inspected(const Compilation *c, const char *name, Inspected *inspected)
{
    const Inspection of = inspection(c, false);
    if (!inspect_find(&of, name, &inspected->block, &inspected->is_initial))
        return false;
    Trace *trace = NEW(c->arena, Trace);
    trace->arena = c->arena;
    trace->system = inspect_system(&of, inspected->block, inspected->is_initial);
    inspected->trace = trace;
    inspected->iterated = trace_iterated;
    return true;
}

void compilation_inspect(const Compilation *c, const Inspected *inspected, const KoineModel *model, double time,
                         const char *failure, bool is_json, Text *to)
{
    const Inspection of = inspection(c, is_json);
    const InspectedBlock what = { .block = inspected->block,
                                  .is_initial = inspected->is_initial,
                                  .model = model,
                                  .time = time,
                                  .failure = failure,
                                  .trace = inspected->trace };
    inspect_block(&of, &what, to);
}

const KoineModelKind *compilation_kind(Compilation *c, const char *tier, const char **why)
{
    return tiers_kind(&c->tiers, c->program, tier, why, c->arena);
}

void compilation_interrupt(Compilation *c, volatile const int *interrupt)
{
    c->tiers.interrupt = interrupt;
}

const char *compilation_tier_note(const Compilation *c)
{
    return tiers_note(&c->tiers);
}

const char *compilation_language_name(uint32_t k)
{
    const Language *language = language_at(NULL, k);
    return language ? language->name : NULL;
}
