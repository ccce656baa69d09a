#include "experiment/provenance.h"
#include "base/map.h"
#include <stdlib.h>
#include <time.h>

const char *provenance_hash(const Sources *sources, Arena *arena)
{
    uint64_t high = 0, low = 0x9e3779b97f4a7c15u;
    for (uint32_t k = 0; k < sources_count(sources); k++) {
        const Source *source = sources_get(sources, k);
        high = hash_bytes(source->text, source->size, high);
        low = hash_bytes(source->text, source->size, low);
    }
    return arena_format(arena, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
}

void provenance_origins(const Sources *sources, Text *text)
{
    bool is_first = true;
    text_char(text, '{');
    for (uint32_t k = 0; k < sources_count(sources); k++) {
        const Source *source = sources_get(sources, k);
        char *path = realpath(source->path, NULL);
        if (!path)
            continue;
        text_add(text, is_first ? "" : ", ");
        text_json(text, path);
        text_format(text, ": \"%s\"", source_hash(source, text->arena));
        free(path);
        is_first = false;
    }
    text_char(text, '}');
}

static void add_name(Text *text, const char *key)
{
    text_add(text, text->at[text->n - 1] == '{' ? "" : ", ");
    text_json(text, key);
    text_add(text, ": ");
}

static void add_text(Text *text, const char *key, const char *value)
{
    add_name(text, key);
    if (value)
        text_json(text, value);
    else
        text_add(text, "null");
}

static void add_real(Text *text, const char *key, double value)
{
    add_name(text, key);
    if (value - value == 0)
        text_real(text, value);
    else
        text_add(text, "null");
}

static void add_pairs(Text *text, const char *key, const SettingList *settings)
{
    if (settings->n == 0)
        return;
    add_name(text, key);
    text_char(text, '{');
    for (uint32_t k = 0; k < settings->n; k++)
        add_text(text, settings->at[k].name, settings->at[k].value);
    text_char(text, '}');
}

static void add_given(const Experiment *e, Text *text)
{
    const struct {
        ExperimentKey key;
        double value;
    } reals[] = { { EXPERIMENT_START, e->begin.start },
                  { EXPERIMENT_STOP, e->part.stop },
                  { EXPERIMENT_INTERVAL, e->results.interval },
                  { EXPERIMENT_TOLERANCE, e->part.tolerance },
                  { EXPERIMENT_ABSOLUTE_TOLERANCE, e->errors.absolute_tolerance },
                  { EXPERIMENT_STEP, e->part.step },
                  { EXPERIMENT_MAX_STEP, e->part.max_step },
                  { EXPERIMENT_START_FROM_TIME, e->begin.start_from_time },
                  { EXPERIMENT_SEED, (double)e->begin.seed } };
    const struct {
        ExperimentKey key;
        const char *value;
    } texts[] = { { EXPERIMENT_SOLVER, e->part.solver },
                  { EXPERIMENT_TIER, e->how.tier },
                  { EXPERIMENT_PROFILE, e->how.profile },
                  { EXPERIMENT_USE, e->how.use },
                  { EXPERIMENT_START_FROM, e->begin.start_from },
                  { EXPERIMENT_INPUTS, e->begin.inputs },
                  { EXPERIMENT_EVENT_ROWS, e->results.event_rows },
                  { EXPERIMENT_STOP_WHEN, e->how.stop_when } };
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        if (e->has[reals[k].key])
            add_real(text, experiment_key_name(reals[k].key), reals[k].value);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        if (e->has[texts[k].key])
            add_text(text, experiment_key_name(texts[k].key), texts[k].value);
    add_pairs(text, experiment_key_name(EXPERIMENT_CONTROL), &e->part.controls);
    add_pairs(text, experiment_key_name(EXPERIMENT_NOMINAL), &e->errors.nominals);
    add_pairs(text, experiment_key_name(EXPERIMENT_SET), &e->part.settings);
}

void provenance_settings(const Experiment *e, Text *text)
{
    text_char(text, '{');
    add_given(e, text);
    if (e->n_phases) {
        add_name(text, experiment_key_name(EXPERIMENT_PHASES));
        for (uint32_t k = 0; k < e->n_phases; k++) {
            text_add(text, k ? ", {" : "[{");
            const Experiment own = experiment_of_phase(&e->phases[k]);
            add_given(&own, text);
            text_char(text, '}');
        }
        text_char(text, ']');
    }
    text_char(text, '}');
}

void provenance_json(const RunRecord *record, const Experiment *experiment, const Sources *sources, Text *text)
{
    char now[32] = "";
    const time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_char(text, '{');
    add_text(text, "format", "koine-result");
    add_text(text, "koine", KOINE_VERSION);
    add_text(text, "created", now);
    add_text(text, "model", record->model);
    add_text(text, "language", record->language);
    add_text(text, "file", record->file);
    add_text(text, "experiment", record->experiment);
    add_text(text, "hash", provenance_hash(sources, text->arena));
    add_name(text, "sources");
    for (uint32_t k = 0; k < sources_count(sources); k++) {
        text_add(text, k ? ", " : "[");
        text_json(text, sources_get(sources, k)->path);
    }
    text_add(text, sources_count(sources) ? "]" : "[]");
    add_name(text, "origins");
    provenance_origins(sources, text);
    add_name(text, "settings");
    provenance_settings(experiment, text);
    text_add(text, "}\n");
}
