#include "experiment/experiment.h"
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
    const char *const equals = strchr(assignment, '=');
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
    one.settings = one.controls = one.nominals = &setting;
    one.n_settings = one.n_controls = one.n_nominals = 1;
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
    ExperimentGlob *const copies = NEW_ARRAY(context->arena, ExperimentGlob, n);
    for (uint32_t i = 0; i < n; i++)
        copies[i] = (ExperimentGlob){ globs[i], SPAN_NONE };
    Experiment *const experiment = context->experiment;
    experiment->has[key] = true;
    experiment->spans[key] = SPAN_NONE;
    if (key == EXPERIMENT_VARIABLES) {
        experiment->variables = (ExperimentGlobs){ copies, n };
        return true;
    }
    ExperimentPane *const pane = NEW(context->arena, ExperimentPane);
    *pane = (ExperimentPane){ "", { copies, n } };
    experiment->panes = pane;
    experiment->n_panes = 1;
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
static void merge_settings(const Setting **settings, uint32_t *n, const Setting *over, uint32_t n_over, Arena *arena)
{
    VEC(Setting) all = { 0 };
    for (uint32_t i = 0; i < *n; i++)
        vec_push(arena, &all, (*settings)[i]);
    for (uint32_t i = 0; i < n_over; i++) {
        uint32_t k = 0;
        while (k < all.n && strcmp(all.at[k].name, over[i].name) != 0)
            k++;
        if (k < all.n)
            all.at[k] = over[i];
        else
            vec_push(arena, &all, over[i]);
    }
    *settings = all.at;
    *n = all.n;
}

void experiment_take_nominals(Experiment *experiment, Arena *arena)
{
    static const char begin[] = "nominal(";
    enum { BEGIN = sizeof begin - 1 };
    VEC(Setting) others = { 0 }, nominals = { 0 };
    for (uint32_t k = 0; k < experiment->n_settings; k++) {
        Setting setting = experiment->settings[k];
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
    experiment->settings = others.at;
    experiment->n_settings = others.n;
    experiment->has[EXPERIMENT_NOMINAL] = true;
    merge_settings(&experiment->nominals, &experiment->n_nominals, nominals.at, nominals.n, arena);
}

Experiment experiment_merge(const Experiment *base, const Experiment *over, Arena *arena)
{
    Experiment merged = *base;
    for (int k = 0; k < EXPERIMENT_KEYS; k++) {
        if (!over->has[k])
            continue;
        merged.has[k] = true;
        merged.spans[k] = over->spans[k];
        switch ((ExperimentKey)k) {
        case EXPERIMENT_MODEL: merged.model = over->model; break;
        case EXPERIMENT_START: merged.start = over->start; break;
        case EXPERIMENT_STOP: merged.stop = over->stop; break;
        case EXPERIMENT_INTERVAL: merged.interval = over->interval; break;
        case EXPERIMENT_TOLERANCE: merged.tolerance = over->tolerance; break;
        case EXPERIMENT_ABSOLUTE_TOLERANCE: merged.absolute_tolerance = over->absolute_tolerance; break;
        case EXPERIMENT_SOLVER: merged.solver = over->solver; break;
        case EXPERIMENT_TIER: merged.tier = over->tier; break;
        case EXPERIMENT_STEP: merged.step = over->step; break;
        case EXPERIMENT_MAX_STEP: merged.max_step = over->max_step; break;
        case EXPERIMENT_OUTPUT: merged.output = over->output; break;
        case EXPERIMENT_SEED: merged.seed = over->seed; break;
        case EXPERIMENT_PROFILE: merged.profile = over->profile; break;
        case EXPERIMENT_USE: merged.use = over->use; break;
        case EXPERIMENT_TASK: merged.task = over->task; break;
        case EXPERIMENT_STOP_WHEN: merged.stop_when = over->stop_when; break;
        case EXPERIMENT_START_FROM: merged.start_from = over->start_from; break;
        case EXPERIMENT_START_FROM_TIME: merged.start_from_time = over->start_from_time; break;
        case EXPERIMENT_INPUTS: merged.inputs = over->inputs; break;
        case EXPERIMENT_PROTOCOL: merged.protocol = over->protocol; break;
        case EXPERIMENT_EVENT_ROWS: merged.event_rows = over->event_rows; break;
        case EXPERIMENT_CONTROL:
            merge_settings(&merged.controls, &merged.n_controls, over->controls, over->n_controls, arena);
            break;
        case EXPERIMENT_NOMINAL:
            merge_settings(&merged.nominals, &merged.n_nominals, over->nominals, over->n_nominals, arena);
            break;
        case EXPERIMENT_OBSERVERS: merged.observers = over->observers, merged.n_observers = over->n_observers; break;
        case EXPERIMENT_PHASES: merged.phases = over->phases, merged.n_phases = over->n_phases; break;
        case EXPERIMENT_SET:
            merge_settings(&merged.settings, &merged.n_settings, over->settings, over->n_settings, arena);
            break;
        case EXPERIMENT_VARIABLES: merged.variables = over->variables; break;
        case EXPERIMENT_PLOT: merged.panes = over->panes, merged.n_panes = over->n_panes; break;
        case EXPERIMENT_KEYS: break;
        }
    }
    return merged;
}

bool experiment_check(const Experiment *experiment, Diag *diag)
{
    const double start = experiment->has[EXPERIMENT_START] ? experiment->start : 0;
    if (!experiment->has[EXPERIMENT_STOP] || experiment->stop >= start)
        return true;
    const Span stop = experiment->spans[EXPERIMENT_STOP], begin = experiment->spans[EXPERIMENT_START];
    char stop_text[REAL_TEXT_SIZE], start_text[REAL_TEXT_SIZE];
    const int n_stop = (int)real_to_text(experiment->stop, stop_text), n_start = (int)real_to_text(start, start_text);
    diag_error(diag, DIAG_EXPERIMENT_VALUE, stop, "the stop time %.*s lies before the start time %.*s", n_stop,
               stop_text, n_start, start_text);
    if (begin.source != SOURCE_NONE)
        diag_note(diag, begin, "the start time is given here");
    return false;
}
