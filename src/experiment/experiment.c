#include "experiment/experiment.h"
#include "base/bug.h"
#include "base/text.h"
#include "base/vec.h"
#include "experiment/setting.h"
#include "formats/select.h"

Experiment experiment_none(const Vocabulary *words)
{
    Experiment none = { .words = words };
    for (int k = 0; k < EXPERIMENT_KEYS; k++)
        none.spans[k] = SPAN_NONE;
    return none;
}

ProfileAt *experiment_profiles(const Experiment *experiment)
{
    return experiment->words ? experiment->words->profiles : NULL;
}

/* NAME=VALUE; the first "=" decides. */
static bool give_assignment(const SettingContext *context, ExperimentKey key, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    const char *end = equals;
    while (end && end > assignment && end[-1] == ' ')
        end--;
    if (!equals || end == assignment || equals[1] == 0) {
        diag_error(context->diag, DIAG_EXPERIMENT_TYPE, SPAN_NONE, "'%s' must be NAME=VALUE, not '%.60s'",
                   experiment_key_name(key), assignment);
        diag_help(context->diag, "write for example: --%s",
                  key == EXPERIMENT_SET       ? "set mass=2.5"
                  : key == EXPERIMENT_CONTROL ? "control TScal=1e-3"
                                              : "nominal x=1e-9");
        return false;
    }
    const char *value = equals + 1;
    while (*value == ' ')
        value++;
    const Setting setting = { arena_text(context->arena, assignment, (size_t)(end - assignment)),
                              arena_text(context->arena, value, strlen(value)), SPAN_NONE };
    Experiment one = experiment_none(NULL);
    one.has[key] = true;
    one.part.settings = one.part.controls = one.errors.nominals = (SettingList){ &setting, 1 };
    *context->experiment = experiment_merge(context->experiment, &one, context->arena);
    return true;
}

static bool give_globs(const SettingContext *context, ExperimentKey key, const char *list)
{
    const char *const *globs;
    const uint32_t n = globs_split(list, context->arena, &globs);
    if (n == 0) {
        diag_error(context->diag, DIAG_EXPERIMENT_VALUE, SPAN_NONE, "'%s' has no names", experiment_key_name(key));
        return false;
    }
    ExperimentGlob *copies = NEW_ARRAY(context->arena, ExperimentGlob, n);
    for (uint32_t i = 0; i < n; i++)
        copies[i] = (ExperimentGlob){ globs[i], SPAN_NONE };
    Experiment *experiment = context->experiment;
    experiment->has[key] = true;
    experiment->spans[key] = SPAN_NONE;
    if (key == EXPERIMENT_VARIABLES) {
        experiment->results.variables = (ExperimentGlobs){ copies, n };
        return true;
    }
    ExperimentPane *pane = NEW(context->arena, ExperimentPane);
    *pane = (ExperimentPane){ "", { copies, n } };
    experiment->results.panes = pane;
    experiment->results.n_panes = 1;
    return true;
}

bool experiment_give(Experiment *experiment, const char *key, const char *value, Arena *arena, Diag *diag)
{
    const SettingContext context = { arena, diag, experiment };
    ExperimentKey found;
    if (!setting_find(key, &found)) {
        diag_error(diag, DIAG_EXPERIMENT_KEY, SPAN_NONE, "there is no setting '%.60s'", key);
        if (setting_nearest_key(key))
            diag_help(diag, "did you mean '%s'?", setting_nearest_key(key));
        return false;
    }
    if (found == EXPERIMENT_SET || found == EXPERIMENT_CONTROL || found == EXPERIMENT_NOMINAL)
        return give_assignment(&context, found, value);
    if (found == EXPERIMENT_OBSERVERS || found == EXPERIMENT_PHASES) {
        diag_error(diag, DIAG_EXPERIMENT_TYPE, SPAN_NONE, "'%s' can only stand in an experiment file", key);
        return false;
    }
    if (setting_kind(found) == SETTING_LIST)
        return give_globs(&context, found, value);
    return setting_take(&context, found, value, SPAN_NONE);
}

/* Name by name: `over` wins. */
static SettingList merge_settings(const SettingList *base, const SettingList *over, Arena *arena)
{
    VEC(Setting) all = { 0 };
    for (uint32_t i = 0; i < base->n; i++)
        vec_push(arena, &all, base->at[i]);
    for (uint32_t i = 0; i < over->n; i++) {
        uint32_t k = 0;
        while (k < all.n && strcmp(all.at[k].name, over->at[i].name) != 0)
            k++;
        if (k < all.n)
            all.at[k] = over->at[i];
        else
            vec_push(arena, &all, over->at[i]);
    }
    return (SettingList){ all.at, all.n };
}

static void take_nominals(Experiment *experiment, Arena *arena)
{
    static const char begin[] = "nominal(";
    enum { BEGIN = sizeof begin - 1 };
    VEC(Setting) others = { 0 }, nominals = { 0 };
    for (uint32_t k = 0; k < experiment->part.settings.n; k++) {
        Setting setting = experiment->part.settings.at[k];
        const size_t n = strlen(setting.name);
        if (n <= BEGIN + 1 || strncmp(setting.name, begin, BEGIN) != 0 || setting.name[n - 1] != ')') {
            vec_push(arena, &others, setting);
            continue;
        }
        setting.name = arena_text(arena, setting.name + BEGIN, n - BEGIN - 1);
        vec_push(arena, &nominals, setting);
    }
    if (nominals.n == 0)
        return;
    experiment->part.settings = (SettingList){ others.at, others.n };
    experiment->has[EXPERIMENT_NOMINAL] = true;
    experiment->errors.nominals =
        merge_settings(&experiment->errors.nominals, &(SettingList){ nominals.at, nominals.n }, arena);
}

static void merge_list(Experiment *merged, const Experiment *over, ExperimentKey key, Arena *arena)
{
    ExperimentResults *results = &merged->results;
    switch (key) {
    case EXPERIMENT_SET:
        merged->part.settings = merge_settings(&merged->part.settings, &over->part.settings, arena);
        break;
    case EXPERIMENT_CONTROL:
        merged->part.controls = merge_settings(&merged->part.controls, &over->part.controls, arena);
        break;
    case EXPERIMENT_NOMINAL:
        merged->errors.nominals = merge_settings(&merged->errors.nominals, &over->errors.nominals, arena);
        break;
    case EXPERIMENT_OBSERVERS:
        results->observers = over->results.observers;
        results->n_observers = over->results.n_observers;
        break;
    case EXPERIMENT_PHASES: merged->phases = over->phases, merged->n_phases = over->n_phases; break;
    case EXPERIMENT_VARIABLES: results->variables = over->results.variables; break;
    case EXPERIMENT_PLOT: results->panes = over->results.panes, results->n_panes = over->results.n_panes; break;
    default: BUG("a setting of one value is no list");
    }
}

Experiment experiment_merge(const Experiment *base, const Experiment *over, Arena *arena)
{
    Experiment merged = *base;
    for (int k = 0; k < EXPERIMENT_KEYS; k++) {
        const ExperimentKey key = (ExperimentKey)k;
        if (!over->has[key])
            continue;
        merged.has[key] = true;
        merged.spans[key] = over->spans[key];
        if (setting_kind(key) == SETTING_LIST)
            merge_list(&merged, over, key, arena);
        else
            setting_copy(&merged, over, key);
    }
    return merged;
}

Experiment experiment_of_phase(const ExperimentPhase *phase)
{
    Experiment own = experiment_none(NULL);
    memcpy(own.has, phase->has, sizeof own.has);
    memcpy(own.spans, phase->spans, sizeof own.spans);
    own.part = phase->part;
    return own;
}

Experiment experiment_given(const Experiment *file, const Experiment *given, Arena *arena)
{
    Experiment base = *file, over = *given;
    take_nominals(&base, arena);
    take_nominals(&over, arena);
    return experiment_merge(&base, &over, arena);
}

bool experiment_check(const Experiment *experiment, Diag *diag)
{
    const double start = experiment->has[EXPERIMENT_START] ? experiment->begin.start : 0;
    if (!experiment->has[EXPERIMENT_STOP] || experiment->part.stop >= start)
        return true;
    const Span stop = experiment->spans[EXPERIMENT_STOP], begin = experiment->spans[EXPERIMENT_START];
    char stop_text[REAL_TEXT_SIZE], start_text[REAL_TEXT_SIZE];
    const int n_stop = (int)real_to_text(experiment->part.stop, stop_text),
              n_start = (int)real_to_text(start, start_text);
    diag_error(diag, DIAG_EXPERIMENT_VALUE, stop, "the stop time %.*s lies before the start time %.*s", n_stop,
               stop_text, n_start, start_text);
    if (begin.source != SOURCE_NONE)
        diag_note(diag, begin, "the start time is given here");
    return false;
}
