/* Opening and compiling: see koine.h. */
#include "api/api.h"
#include "study/named.h"
#include "driver/words.h"
#include "experiment/linear.h"
#include "experiment/set.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *koine_version(void)
{
    return KOINE_VERSION;
}

static const char *copy(KoineProject *project, const char *text)
{
    return text ? arena_text(project->arena, text, strlen(text)) : NULL;
}

void project_tell_error(KoineProject *project, const Diag *diag)
{
    DiagItem item;
    project->message[0] = '\0';
    for (uint32_t k = 0; diag_item(diag, k, &item); k++)
        if (item.level == DIAG_ERROR) {
            snprintf(project->message, sizeof project->message, "%s", item.at.message);
            return;
        }
}

/* ---- Settings --------------------------------------------------------------------------------------------------- */

bool project_settings(const KoineProject *project, Arena *arena, Diag *diag, Experiment *experiment)
{
    Experiment from_file = experiment_none(&compilation_vocabulary), given = experiment_none(&compilation_vocabulary);
    bool is_good = !experiment_is_named(project->file) ||
                   experiment_open(project->file, project->c->sources, arena, diag, &from_file);
    for (uint32_t k = 0; k < project->given.n; k++)
        is_good &= experiment_give(&given, project->given.at[k].key, project->given.at[k].value, arena, diag);
    *experiment = experiment_given(&from_file, &given, arena);
    return is_good;
}

/* ---- Compiling -------------------------------------------------------------------------------------------------- */

static void forget_model(KoineProject *project)
{
    project_forget_run(project);
    if (project->idle)
        project->kind->destroy(project->idle);
    compilation_destroy(project->c);
    project->idle = NULL;
    project->kind = NULL;
    project->c = NULL;
    project->latest = NULL;
}

static bool load(KoineProject *project, const Experiment *e)
{
    Compilation *c = project->c;
    const bool has_model = e->has[EXPERIMENT_MODEL] && experiment_is_named(project->file);
    CompileRequest request = { .class_name = project->how.class_name,
                               .allows_modes = true,
                               .versions = named_versions(e->how.use, c->arena),
                               .external = { .allows_all = project->how.allow_external } };
    if (project->how.derivatives) {
        const char *const *names = linear_names(project->how.derivatives, c->arena);
        request.derivatives = (DerivativeRequest){ true, names, names };
    }
    named_split(&request, has_model ? e->model : project->file, c->arena);
    named_take_experiment(&request, e, NULL, "settings", c->arena);
    if (project->how.text)
        sources_add_text(c->sources, request.path, project->how.text, project->how.size);
    compilation_interrupt(c, &project->interrupt);
    return compilation_load(c, &request) && compilation_schedule(c);
}

bool project_compile(KoineProject *project)
{
    static const KoineHost host = { 0 };
    const char *why = NULL;
    Experiment experiment;
    if (!project->is_stale)
        return project->kind != NULL;
    forget_model(project);
    project->is_stale = false;
    project->c = compilation_create(project->how.out_of_memory);
    if (project_settings(project, project->c->arena, project->c->diag, &experiment) && load(project, &experiment)) {
        const char *tier = project->how.tier ? project->how.tier : experiment.how.tier;
        project->kind = compilation_kind(project->c, tier ? tier : "auto", &why);
        if (project->kind && project->kind->create(project->kind, &host, &project->idle) < 0) {
            project->kind = NULL;
            why = "there is no memory for an instance";
        }
    }
    if (project->kind)
        set_values(project->idle, SET_START, project->settings.at, project->settings.n, project->c->arena,
                   diag_create(project->c->arena, project->c->sources));
    project_tell_error(project, project->c->diag);
    if (!project->kind && why)
        snprintf(project->message, sizeof project->message, "%s", why);
    return project->kind != NULL;
}

KoineProject *koine_open(const char *file, const KoineOpening *opening)
{
    const KoineOpening none = { 0 }, *how = opening ? opening : &none;
    Arena *arena = arena_create(how->out_of_memory);
    KoineProject *project = NEW(arena, KoineProject);
    project->arena = arena;
    project->how = *how;
    project->file = copy(project, file);
    project->how.class_name = copy(project, how->class_name);
    project->how.tier = copy(project, how->tier);
    project->how.derivatives = copy(project, how->derivatives);
    project->how.text = how->text ? arena_text(arena, how->text, how->size) : NULL;
    project->is_stale = true;
    project_compile(project);
    return project;
}

void koine_close(KoineProject *project)
{
    if (!project)
        return;
    project_end_run(project);
    forget_model(project);
    if (project->reports)
        arena_destroy(project->reports);
    arena_destroy(project->arena);
}

bool koine_is_ready(const KoineProject *project)
{
    return project->kind != NULL;
}

const char *koine_message(const KoineProject *project)
{
    return project->message;
}

/* ---- Diagnostics ------------------------------------------------------------------------------------------------ */

/* Those of the compiler, then those of the run. */
static bool find_item(const KoineProject *project, uint32_t k, DiagItem *item)
{
    DiagItem other;
    uint32_t n = 0;
    if (diag_item(project->c->diag, k, item))
        return true;
    while (diag_item(project->c->diag, n, &other))
        n++;
    return project->latest && diag_item(project->latest, k - n, item);
}

bool koine_diagnostic(const KoineProject *project, uint32_t k, KoineDiagnostic *diagnostic)
{
    const Sources *sources = project->c->sources;
    DiagItem item;
    if (!find_item(project, k, &item))
        return false;
    const Span span = item.at.span;
    const bool has_place = span.source != SOURCE_NONE;
    const LineColumn begin = span_begin(sources, span), end = span_end(sources, span);
    *diagnostic = (KoineDiagnostic){ .level = item.level == DIAG_ERROR     ? KOINE_LEVEL_ERROR
                                              : item.level == DIAG_WARNING ? KOINE_LEVEL_WARNING
                                                                           : KOINE_LEVEL_NOTE,
                                     .code = item.code,
                                     .message = item.at.message,
                                     .help = item.help,
                                     .file = has_place ? sources_get(sources, span.source)->path : NULL,
                                     .line = has_place ? begin.line : 0,
                                     .column = has_place ? begin.column : 0,
                                     .end_line = has_place ? end.line : 0,
                                     .end_column = has_place ? end.column : 0 };
    return true;
}

/* ---- What is given ---------------------------------------------------------------------------------------------- */

static bool is_list(const char *key)
{
    return strcmp(key, "set") == 0 || strcmp(key, "nominal") == 0 || strcmp(key, "control") == 0;
}

static bool concerns_analysis(const char *key)
{
    static const char *const keys[] = { "set", "nominal", "task", "stop-when", "profile", "use", "tier" };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcmp(key, keys[k]) == 0)
            return true;
    return false;
}

void koine_give(KoineProject *project, const char *key, const char *value)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < project->given.n; k++)
        if (strcmp(project->given.at[k].key, key) != 0 || (value && is_list(key)))
            project->given.at[n++] = project->given.at[k];
    project->given.n = n;
    if (value)
        vec_push(project->arena, &project->given, ((GivenSetting){ copy(project, key), copy(project, value) }));
    project->is_stale |= concerns_analysis(key);
}
