/* The settings in force: what a run that is started from the page would use if nothing is changed there. They are read
 * each time they are asked for, as the run itself does. */
#include "driver/words.h"
#include "experiment/complete.h"
#include "study/named.h"
#include "web/session.h"
#include <strings.h>

const char *experiment_in_force(const View *view, Arena *arena)
{
    if (!view->options.target || !view->options.model.path)
        return NULL;
    return experiment_is_named(view->options.target) ? view->options.target
                                                     : experiment_beside(view->options.model.path, arena);
}

Experiment settings_in_force(const View *view, Arena *arena)
{
    const char *path = experiment_in_force(view, arena);
    Experiment experiment = experiment_none(&compilation_vocabulary);
    if (!path)
        return experiment;
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    CompileRequest named = { 0 };
    if (!experiment_open(path, sources, arena, diag, &experiment))
        return experiment_none(&compilation_vocabulary);
    if (experiment.has[EXPERIMENT_MODEL])
        named_split(&named, experiment.model, arena);
    if (named.path && !source_is_same(view->options.model.path, named.path))
        return experiment_none(&compilation_vocabulary);
    experiment_stop_with_phases(&experiment);
    return experiment;
}

static void add_number(Text *to, const char *key, bool is_given, double value)
{
    text_format(to, "\"%s\": ", key);
    if (is_given)
        json_real(to, value);
    else
        text_add(to, "null");
    text_add(to, ", ");
}

void add_settings(const Experiment *e, Text *to)
{
    text_add(to, "{ ");
    add_number(to, "stop", e->has[EXPERIMENT_STOP], e->part.stop);
    add_number(to, "interval", e->has[EXPERIMENT_INTERVAL], e->results.interval);
    add_number(to, "tolerance", e->has[EXPERIMENT_TOLERANCE] || !e->has[EXPERIMENT_PROFILE],
               e->has[EXPERIMENT_TOLERANCE] ? e->part.tolerance : 1e-6);
    text_add(to, "\"solver\": ");
    if (e->has[EXPERIMENT_SOLVER] || !e->has[EXPERIMENT_PROFILE])
        text_json(to, e->has[EXPERIMENT_SOLVER] ? e->part.solver : "auto");
    else
        text_add(to, "null");
    text_add(to, " }");
}

const char *setting_of(const Experiment *e, const char *name, bool *is_part)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    *is_part = false;
    for (uint32_t k = 0; k < e->part.settings.n; k++) {
        const Setting *s = &e->part.settings.at[k];
        if (strcasecmp(s->name, name) == 0 && (!found || strcmp(s->name, name) == 0))
            found = s->value;
        *is_part |= strncasecmp(s->name, name, length) == 0 && s->name[length] == '[';
    }
    return *is_part ? NULL : found;
}
