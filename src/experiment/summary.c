#include "experiment/summary.h"
#include "experiment/observe.h"

static void add_number(Text *text, const Experiment *e, ExperimentKey key, double value, const char *otherwise)
{
    if (!e->has[key] && !otherwise)
        return;
    text_format(text, "%s%s ", text->n ? ", " : "", experiment_key_name(key));
    if (e->has[key])
        text_real(text, value);
    else
        text_add(text, otherwise);
}

static void add_controls(const Controls *controls, Text *to)
{
    Text text = { .arena = to->arena };
    for (int k = 0; k < CONTROL_PARAMETERS; k++) {
        const Control *control = &controls->at[k];
        if (!control->is_given)
            continue;
        text_format(&text, "%s%s ", text.n ? ", " : "", control_name((ControlParameter)k));
        text_real(&text, control->value);
    }
    if (text.n)
        text_format(to, "  %s\n", text.at);
}

void experiment_summary(const Experiment *e, const Controls *controls, Text *to)
{
    Arena *arena = to->arena;
    Text text = { .arena = arena };
    add_number(&text, e, EXPERIMENT_START, e->begin.start, "0");
    add_number(&text, e, EXPERIMENT_STOP, e->part.stop, "");
    add_number(&text, e, EXPERIMENT_INTERVAL, e->results.interval, "(stop - start)/500");
    add_number(&text, e, EXPERIMENT_TOLERANCE, e->part.tolerance, "1e-06");
    add_number(&text, e, EXPERIMENT_ABSOLUTE_TOLERANCE, e->errors.absolute_tolerance, NULL);
    add_number(&text, e, EXPERIMENT_STEP, e->part.step, NULL);
    add_number(&text, e, EXPERIMENT_MAX_STEP, e->part.max_step, NULL);
    const Control *method = &controls->at[CONTROL_INTMETH];
    text_format(&text, ", solver %s, tier %s",
                e->part.solver     ? e->part.solver
                : method->is_given ? "by IntMeth"
                                   : "auto",
                e->how.tier ? e->how.tier : "auto");
    if (e->has[EXPERIMENT_USE])
        text_format(&text, ", versions %s", e->how.use);
    if (e->has[EXPERIMENT_STOP_WHEN])
        text_format(&text, ", stop when %s", e->how.stop_when);
    if (e->has[EXPERIMENT_TASK])
        text_format(&text, ", task %s", e->how.task);
    if (e->has[EXPERIMENT_PROFILE])
        text_format(&text, ", profile %s", e->how.profile);
    if (e->has[EXPERIMENT_SEED])
        text_format(&text, ", seed %llu", (unsigned long long)e->begin.seed);
    text_format(to, "  %s\n", text_shown(text.at, arena));
    add_controls(controls, to);
    for (uint32_t k = 0; k < e->errors.nominals.n; k++)
        text_format(to, "  nominal of %s: %s%s\n", e->errors.nominals.at[k].name, e->errors.nominals.at[k].value,
                    e->errors.nominals.at[k].span.source == SOURCE_NONE ? "" : " (experiment)");
    for (uint32_t k = 0; k < e->part.settings.n; k++)
        text_format(to, "  %s = %s%s\n", text_shown(e->part.settings.at[k].name, arena),
                    text_shown(e->part.settings.at[k].value, arena),
                    e->part.settings.at[k].span.source == SOURCE_NONE ? "" : " (experiment)");
}

void files_summary(const RunRecord *record, const Experiment *experiment, const char *what, Text *text)
{
    Arena *arena = text->arena;
    const ExperimentResults *results = &experiment->results;
    if (record->run.statistics.events.points == 0) { /* whatever lies there is of another run */
        text_add(text, "no results\n");
        return;
    }
    text_add(text, "");
    if (strcmp(record->output, "-") != 0)
        text_format(text, "%s: %s\n", what, text_shown(record->output, arena));
    if (record->protocol)
        text_format(text, "protocol: %s\n", text_shown(record->protocol, arena));
    for (uint32_t k = 0; k < results->n_observers; k++)
        text_format(text, "observer %s: %s\n", text_shown(results->observers[k].name, arena),
                    text_shown(observe_path(&results->observers[k], arena), arena));
}
