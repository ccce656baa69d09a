/* See compile.h. The order of work stands in compilation_load and compilation_schedule. */
#include "driver/compile.h"
#include "base/bug.h"
#include "driver/modes.h"
#include "driver/resolve.h"
#include "driver/stop.h"
#include "ir/task_text.h"
#include "emit/loaded_tiers.h"
#include "driver/words.h"
#include "emit/external/external.h"
#include "foreign/foreign.h"
#include "formats/select.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

struct CompilationTiers {
    Tiers all;
};

static Compilation *create_in(Arena *arena)
{
    Compilation *c = NEW(arena, Compilation);
    c->arena = arena;
    c->names = names_create(arena);
    c->sources = sources_create(arena);
    c->diag = diag_create(arena, c->sources);
    c->pool = pool_create(arena, c->names);
    c->tiers = NEW(arena, struct CompilationTiers);
    tiers_init(&c->tiers->all, arena);
    return c;
}

Compilation *compilation_create(OutOfMemory out_of_memory)
{
    return create_in(arena_create(out_of_memory));
}

Compilation *compilation_create_like(const Compilation *c)
{
    Compilation *like = create_in(arena_create_like(c->arena));
    like->interrupt = like->tiers->all.interrupt = c->interrupt;
    return like;
}

void compilation_destroy(Compilation *c)
{
    if (!c)
        return;
    compilation_release_modes(c);
    tiers_release(&c->tiers->all);
    externals_release(c->externals);
    foreign_libraries_release(c->foreigns);
    arena_destroy(c->arena);
}

static Outside outside_of(const Compilation *c)
{
    return (Outside){ c->arena, c->names, c->sources, c->diag, c->request.external };
}

static bool load_components(Compilation *c)
{
    if (c->model->foreigns.n == 0 || c->foreigns)
        return true;
    const Outside outside = outside_of(c);
    c->foreigns = foreign_libraries_create(c->arena);
    return outside_components(&outside, c->model, c->foreigns, &c->interrupt);
}

bool compilation_load(Compilation *c, const CompileRequest *request)
{
    c->request = *request;
    const ResolveRequest r = { c->pool, c->sources, request->languages, request->profile, request->versions };
    c->model = resolve_file(&r, request->path, request->class_name, c->diag);
    if (!c->model || diag_errors(c->diag) || !model_verify(c->model, c->diag) || !load_components(c))
        return false;
    Arena *scratch = arena_create_like(c->arena);
    give_values(c->model, request->values, request->n_values, scratch);
    arena_destroy(scratch);
    if (request->stop_when && !stop_read(c->model, c->sources, request->stop_when, request->stop_span, c->diag))
        return false;
    return !request->task || task_read(c->model, request->task, request->task_span, c->diag);
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
static bool matches(Compilation *c, const Model *model, VarId var, const char *const *names)
{
    const char *path = variable_path(model, var, c->arena);
    const size_t length = strlen(path);
    const char *array = arena_text(c->arena, path, strcspn(path, "["));
    for (uint32_t k = 0; names[k]; k++) {
        const char *glob = names[k];
        if (glob_matches(glob, path) || glob_matches(glob, array) ||
            (strncmp(glob, path, length) == 0 && glob[length] == '['))
            return true;
    }
    return false;
}

static bool matches_wanted(void *context, const Model *model, VarId var)
{
    Compilation *c = context;
    return matches(c, model, var, c->request.wanted);
}

static bool matches_parameter(void *context, const Model *model, VarId var)
{
    Compilation *c = context;
    return matches(c, model, var, c->request.derivatives.parameters);
}

static bool matches_variable(void *context, const Model *model, VarId var)
{
    Compilation *c = context;
    return matches(c, model, var, c->request.derivatives.variables);
}

Compile compilation_passes(Compilation *c)
{
    return (Compile){ .model = c->model,
                      .arena = c->arena,
                      .diag = c->diag,
                      .systems = systems_choice(c->request.systems),
                      .splits_comparisons = c->request.split_comparisons,
                      .evaluates_parameters = c->request.evaluate_parameters,
                      .removes_unneeded = c->request.remove_unneeded,
                      .wants = c->request.wanted ? matches_wanted : NULL,
                      .wants_context = c,
                      .ports = { .is_wanted = c->request.derivatives.is_wanted,
                                 .is_input = c->request.derivatives.parameters ? matches_parameter : NULL,
                                 .is_output = c->request.derivatives.variables ? matches_variable : NULL,
                                 .context = c } };
}

bool compilation_run_passes(Compilation *c, const char *after)
{
    StopAfter stop = { c, after };
    if (c->watch)
        c->watch(c->watch_context, NULL);
    Compile passes = compilation_passes(c);
    passes.modes.may_ask = c->request.allows_modes;
    const bool is_good = run_pipeline(&passes, stop_after, &stop) && diag_errors(c->diag) == 0;
    c->schedule = passes.schedule;
    if (passes.modes.asked.n && diag_errors(c->diag) == 0)
        return compilation_begin_modes(c, passes.modes.asked.at, passes.modes.asked.n);
    return is_good && (passes.modes.excluded_end.n == 0 || after || compilation_begin_modes(c, NULL, 0));
}

bool compilation_schedule(Compilation *c)
{
    if (!compilation_run_passes(c, NULL))
        return false;
    if (!c->modes)
        c->program = program_create(c->schedule, c->arena);
    return true;
}

const KoineModelKind *compilation_kind(Compilation *c, const char *tier, const char **why)
{
    const Outside outside = outside_of(c);
    if (c->modes)
        return compilation_modes_kind(c, tier, why);
    *why = "functions of C are missing, or may not be executed";
    return (c->externals || outside_functions(&outside, c->program, c->interrupt, &c->externals))
               ? tiers_kind(&c->tiers->all, c->program, tier, why, c->arena)
               : NULL;
}

const char *compilation_external_symbols(const Compilation *c)
{
    return c->externals ? outside_symbols(c->program, c->names, c->arena) : NULL;
}

void compilation_interrupt(Compilation *c, volatile const int *interrupt)
{
    c->tiers->all.interrupt = c->interrupt = interrupt;
    compilation_interrupt_modes(c);
}

const char *compilation_tier_note(const Compilation *c)
{
    return c->modes ? compilation_modes_note(c) : tiers_note(&c->tiers->all);
}
