#include "experiment/observe.h"
#include "formats/select.h"
#include <math.h>

const char *observe_path(const ExperimentObserver *observer, Arena *arena)
{
    return observer->output ? observer->output : arena_format(arena, "%s.csv", observer->name);
}

static const char *const *globs_of(const ExperimentGlobs *names, Arena *arena)
{
    const char **const globs = NEW_ARRAY(arena, const char *, names->n + 1);
    for (uint32_t k = 0; k < names->n; k++)
        globs[k] = names->at[k].glob;
    return names->n ? globs : NULL;
}

bool observe_names(const ExperimentGlobs *names, const KoineTables *tables, unsigned flags, Arena *arena, Diag *diag)
{
    const char *const *const globs = globs_of(names, arena);
    Selection selection;
    SelectionMiss miss;
    if (select_columns(tables, globs, names->n, flags, arena, &selection, &miss))
        return true;
    char text[256];
    selection_miss_text(&miss, globs, text, sizeof text);
    diag_error(diag, DIAG_SET_UNKNOWN, names->at[miss.glob].span, "%s", text);
    return false;
}

static bool check_file(const Experiment *experiment, uint32_t k, const char *output, Arena *arena, Diag *diag)
{
    const ExperimentObserver *observer = &experiment->results.observers[k];
    const char *path = observe_path(observer, arena);
    bool is_taken = output && strcmp(path, output) == 0;
    for (uint32_t j = 0; j < k; j++)
        is_taken |= strcmp(path, observe_path(&experiment->results.observers[j], arena)) == 0;
    if (!is_taken)
        return true;
    diag_error(diag, DIAG_OBSERVER, observer->span,
               "the observer '%s' would write over '%s', which has a writer already", observer->name, path);
    diag_help(diag, "give it another 'name' or 'output'");
    return false;
}

bool observe_check(const Experiment *experiment, const KoineTables *tables, const char *output, Arena *arena,
                   Diag *diag)
{
    bool is_good = true;
    for (uint32_t k = 0; k < experiment->results.n_observers; k++) {
        is_good &= observe_names(&experiment->results.observers[k].variables, tables, 0, arena, diag);
        is_good &= check_file(experiment, k, output, arena, diag);
    }
    return is_good;
}

KoineSink *observe_sink(const Experiment *experiment, uint32_t k, bool is_confined, Arena *arena)
{
    const ExperimentObserver *observer = &experiment->results.observers[k];
    const double start = experiment->has[EXPERIMENT_START] ? experiment->begin.start : 0;
    const ObserverOptions options = {
        .kind = observer->kind,
        .path = observe_path(observer, arena),
        .is_confined = is_confined,
        .globs = globs_of(&observer->variables, arena),
        .n_globs = observer->variables.n,
        .from = observer->has_from ? observer->from : start,
        .to = observer->has_to ? observer->to : INFINITY,
        .every = observer->every,
        .width = observer->width,
        .samples = observer->samples,
    };
    return observer_sink(&options, arena);
}
