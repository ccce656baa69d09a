#include "study/named.h"
#include "bank/bank.h"
#include "base/names.h"
#include <dirent.h>
#include <unistd.h>

void named_split(CompileRequest *request, const char *text, Arena *arena)
{
    const char *colon = strrchr(text, ':');
    request->path = text;
    if (!colon || colon == text || !colon[1] || strchr(colon, '/') || access(text, F_OK) == 0)
        return;
    request->path = arena_text(arena, text, (size_t)(colon - text));
    if (!request->class_name)
        request->class_name = colon + 1;
}

bool named_find_in_bank(CompileRequest *request, Arena *arena, Sources *sources, Diag *diag)
{
    const BanksRequest banks = { .sources = sources, .versions = request->versions };
    BankHit hit = { 0 };
    if (!bank_find_entry(banks_create(&banks, arena), request->path, request->class_name, &hit, diag) ||
        diag_errors(diag) > 0)
        return false;
    request->path = hit.path;
    request->class_name = hit.class_name;
    return true;
}

const char *named_nearest_file(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    const size_t folder_size = slash ? (size_t)(slash - path) + 1 : 0;
    DIR *folder = opendir(slash ? arena_text(arena, path, folder_size) : ".");
    if (!folder)
        return NULL;
    uint32_t best = 4;
    const char *nearest = NULL;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const uint32_t distance = edit_distance(path + folder_size, entry->d_name, best);
        if (distance < best && distance < strlen(entry->d_name)) {
            best = distance;
            nearest = arena_format(arena, "%.*s%s", (int)folder_size, path, entry->d_name);
        }
    }
    closedir(folder);
    return nearest;
}

const char *const *named_versions(const char *list, Arena *arena)
{
    VEC(const char *) versions = { 0 };
    for (const char *at = list ? list : ""; *at;) {
        at += strspn(at, ", ");
        const size_t length = strcspn(at, ", ");
        if (length)
            vec_push(arena, &versions, arena_text(arena, at, length));
        at += length;
    }
    vec_push(arena, &versions, NULL);
    return versions.at;
}

static void take_versions(CompileRequest *request, const Experiment *experiment, Arena *arena)
{
    if (!request->versions)
        request->versions = named_versions(experiment->how.use, arena);
}

void named_take_model(CompileRequest *request, const Experiment *experiment, Arena *arena)
{
    take_versions(request, experiment, arena);
    named_split(request, experiment->model, arena);
}

Beside named_take_beside(CompileRequest *request, Sources *sources, Arena *arena, Diag *diag, Experiment *experiment,
                         const char **model)
{
    const char *beside = experiment_beside(request->path, arena);
    CompileRequest theirs = { .class_name = request->class_name };
    if (!beside)
        return BESIDE_NONE;
    if (!experiment_open(beside, sources, arena, diag, experiment))
        return BESIDE_WRONG;
    if (experiment->has[EXPERIMENT_MODEL]) {
        named_split(&theirs, experiment->model, arena);
        *model = theirs.path;
        if (!source_is_same(theirs.path, request->path)) {
            *experiment = experiment_none(experiment->words);
            return BESIDE_OTHER;
        }
    }
    request->class_name = theirs.class_name;
    take_versions(request, experiment, arena);
    return BESIDE_TAKEN;
}

static const char *place_of(Span span, const Sources *sources, const char *otherwise, Arena *arena)
{
    if (!sources || span.source == SOURCE_NONE)
        return otherwise;
    return arena_format(arena, "%s:%u", sources_get(sources, span.source)->path, span_begin(sources, span).line);
}

static const char *const *globs_of(const ExperimentGlobs *globs, Arena *arena)
{
    const char **const all = NEW_ARRAY(arena, const char *, globs->n + 1);
    for (uint32_t k = 0; k < globs->n; k++)
        all[k] = globs->at[k].glob;
    return all;
}

void named_take_experiment(CompileRequest *request, const Experiment *experiment, const Sources *sources,
                           const char *place, Arena *arena)
{
    const ExperimentModel *how = &experiment->how;
    const uint32_t n = experiment->part.settings.n, n_all = n + experiment->errors.nominals.n;
    GivenValue *values = NEW_ARRAY(arena, GivenValue, n_all + 1);
    for (uint32_t k = 0; k < n_all; k++) {
        const Setting *const setting =
            k < n ? &experiment->part.settings.at[k] : &experiment->errors.nominals.at[k - n];
        values[k] = (GivenValue){ .name = setting->name,
                                  .value = setting->value,
                                  .is_nominal = k >= n,
                                  .place = place_of(setting->span, sources, place, arena) };
    }
    request->values = values;
    request->n_values = n_all;
    request->profile = how->profile;
    request->wanted = globs_of(&experiment->results.variables, arena);
    request->task = how->task;
    request->task_span = how->task ? experiment->spans[EXPERIMENT_TASK] : SPAN_NONE;
    request->stop_when = how->stop_when;
    request->stop_span = how->stop_when ? experiment->spans[EXPERIMENT_STOP_WHEN] : SPAN_NONE;
}
