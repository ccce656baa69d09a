/* What is done with a run while it stands: entries, saving, linear models; see koine.h. */
#include "api/api.h"
#include "experiment/linear.h"
#include <stdio.h>

static bool told(KoineProject *project, const KoineReason *why)
{
    snprintf(project->message, sizeof project->message, "%s", why->text);
    return false;
}

/* An open run, or `why`. */
static ExperimentRun *open_run(const KoineProject *project, KoineReason *why)
{
    if (!project->run.run)
        snprintf(why->text, sizeof why->text, "no run is open");
    return project->run.run;
}

bool koine_enter(KoineProject *project, const char *entry)
{
    KoineReason why = { "" };
    ExperimentRun *run = open_run(project, &why);
    project->message[0] = '\0';
    return (run && experiment_enter(run, entry, &why)) || told(project, &why);
}

const void *koine_save(KoineProject *project, size_t *size)
{
    KoineReason why = { "" };
    ExperimentRun *run = open_run(project, &why);
    KoineSavedRun *saved = run ? experiment_save(run, project->run.saved, &why) : NULL;
    uint64_t n = 0;
    project->message[0] = '\0';
    if (!saved) {
        told(project, &why);
        return NULL;
    }
    project->run.saved = saved;
    koine_saved_note(saved, project->run.memory.result ? project->run.memory.result->n_rows : 0);
    const void *bytes = koine_saved_bytes(saved, &n);
    *size = (size_t)n;
    return bytes;
}

bool koine_restore(KoineProject *project, const void *bytes, size_t size)
{
    KoineReason why = { "" };
    ExperimentRun *run = open_run(project, &why);
    KoineSavedRun *saved = run ? koine_saved_read(bytes, size, &why) : NULL;
    const bool is_restored = saved && experiment_restore(run, saved, &why);
    KoineResult *result = project->run.memory.result;
    project->message[0] = '\0';
    if (is_restored && result && result->n_rows > koine_saved_noted(saved))
        result->n_rows = koine_saved_noted(saved);
    koine_saved_free(saved);
    return is_restored || told(project, &why);
}

const char *koine_linearize_report(KoineProject *project, const char *inputs, const char *outputs)
{
    KoineReason why = { "" };
    ExperimentRun *run = open_run(project, &why);
    project->message[0] = '\0';
    if (!run) {
        told(project, &why);
        return NULL;
    }
    KoineModel *model = (KoineModel *)(uintptr_t)run_model(run); /* only what an evaluation leaves is written */
    if (project->reports)
        arena_destroy(project->reports);
    project->reports = arena_create_like(project->arena);
    Text text = { .arena = project->reports };
    const LinearWanted wanted = { inputs ? linear_names(inputs, project->reports) : NULL,
                                  outputs ? linear_names(outputs, project->reports) : NULL, true };
    switch (linear_tell(model, &wanted, project->run.diag, &text, &why)) {
    case LINEAR_TOLD: return text.at;
    case LINEAR_NAMES:
        project->latest = project->run.diag;
        project_tell_error(project, project->run.diag);
        break;
    case LINEAR_ABSENT:
    case LINEAR_REFUSED: told(project, &why); break;
    }
    return NULL;
}
