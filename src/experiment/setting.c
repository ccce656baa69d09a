#include "experiment/setting.h"
#include "base/bug.h"
#include "base/names.h"
#include "base/text.h"
#include "koine/simulate.h"
#include <math.h>

typedef struct {
    const char *name;
    SettingKind kind;
    size_t field; /* in Experiment; lists: 0 */
    const char *example;
} Row;

static const Row rows[EXPERIMENT_KEYS] = {
    [EXPERIMENT_MODEL] = { "model", SETTING_TEXT, offsetof(Experiment, model), "model: ball.mo:BouncingBall" },
    [EXPERIMENT_START] = { "start", SETTING_REAL, offsetof(Experiment, begin.start), "start: 0" },
    [EXPERIMENT_STOP] = { "stop", SETTING_REAL, offsetof(Experiment, part.stop), "stop: 10" },
    [EXPERIMENT_INTERVAL] = { "interval", SETTING_POSITIVE, offsetof(Experiment, results.interval), "interval: 0.1" },
    [EXPERIMENT_TOLERANCE] = { "tolerance", SETTING_POSITIVE, offsetof(Experiment, part.tolerance), "tolerance: 1e-6" },
    [EXPERIMENT_ABSOLUTE_TOLERANCE] = { "absolute-tolerance", SETTING_POSITIVE,
                                        offsetof(Experiment, errors.absolute_tolerance), "absolute-tolerance: 1e-12" },
    [EXPERIMENT_SOLVER] = { "solver", SETTING_TEXT, offsetof(Experiment, part.solver), "solver: auto" },
    [EXPERIMENT_TIER] = { "tier", SETTING_WORD, offsetof(Experiment, how.tier), "tier: auto" },
    [EXPERIMENT_STEP] = { "step", SETTING_POSITIVE, offsetof(Experiment, part.step), "step: 0.001" },
    [EXPERIMENT_MAX_STEP] = { "max-step", SETTING_POSITIVE, offsetof(Experiment, part.max_step), "max-step: 0.1" },
    [EXPERIMENT_OUTPUT] = { "output", SETTING_TEXT, offsetof(Experiment, results.output), "output: result.csv" },
    [EXPERIMENT_PROFILE] = { "profile", SETTING_WORD, offsetof(Experiment, how.profile), "profile: simplex" },
    [EXPERIMENT_USE] = { "use", SETTING_TEXT, offsetof(Experiment, how.use), "use: Delay" },
    [EXPERIMENT_TASK] = { "task", SETTING_TEXT, offsetof(Experiment, how.task), "task: start steady" },
    [EXPERIMENT_STOP_WHEN] = { "stop-when", SETTING_TEXT, offsetof(Experiment, how.stop_when), "stop-when: h < 0.1" },
    [EXPERIMENT_SEED] = { "seed", SETTING_SEED, offsetof(Experiment, begin.seed), "seed: 42" },
    [EXPERIMENT_START_FROM] = { "start-from", SETTING_TEXT, offsetof(Experiment, begin.start_from),
                                "start-from: old.csv" },
    [EXPERIMENT_START_FROM_TIME] = { "start-from-time", SETTING_REAL, offsetof(Experiment, begin.start_from_time),
                                     "start-from-time: 5" },
    [EXPERIMENT_INPUTS] = { "inputs", SETTING_TEXT, offsetof(Experiment, begin.inputs), "inputs: drive.csv" },
    [EXPERIMENT_PROTOCOL] = { "protocol", SETTING_TEXT, offsetof(Experiment, results.protocol),
                              "protocol: ball.protocol" },
    [EXPERIMENT_EVENT_ROWS] = { "event-rows", SETTING_WORD, offsetof(Experiment, results.event_rows),
                                "event-rows: off" },
    [EXPERIMENT_CONTROL] = { "control", SETTING_LIST, 0, "control: { TScal: 1e-3 }" },
    [EXPERIMENT_NOMINAL] = { "nominal", SETTING_LIST, 0, "nominal: { x: 1e-9 }" },
    [EXPERIMENT_OBSERVERS] = { "observers", SETTING_LIST, 0,
                               "observers: [{ name: slow, variables: [x], every: 0.5 }]" },
    [EXPERIMENT_PHASES] = { "phases", SETTING_LIST, 0, "phases: [{ until: 5 }, { set: { mass: 3 } }]" },
    [EXPERIMENT_SET] = { "set", SETTING_LIST, 0, "set: { mass: 2.5 }" },
    [EXPERIMENT_VARIABLES] = { "variables", SETTING_LIST, 0, "variables: [x, \"body.*\"]" },
    [EXPERIMENT_PLOT] = { "plot", SETTING_LIST, 0, "plot: [x, v]" },
};

static const char *switch_word(uint32_t k)
{
    static const char *const words[] = { "on", "off", NULL };
    return words[k];
}

const char *experiment_key_name(ExperimentKey key)
{
    return rows[key].name;
}

SettingKind setting_kind(ExperimentKey key)
{
    return rows[key].kind;
}

const char *setting_example(ExperimentKey key)
{
    return rows[key].example;
}

bool setting_find(const char *name, ExperimentKey *key)
{
    for (int k = 0; k < EXPERIMENT_KEYS; k++) {
        if (strcmp(rows[k].name, name) == 0) {
            *key = (ExperimentKey)k;
            return true;
        }
    }
    return false;
}

const char *setting_nearest_key(const char *name)
{
    uint32_t best = 4;
    const char *nearest = NULL;
    for (int k = 0; k < EXPERIMENT_KEYS; k++) {
        const uint32_t distance = edit_distance(name, rows[k].name, best);
        if (distance < best && distance < strlen(rows[k].name)) {
            best = distance;
            nearest = rows[k].name;
        }
    }
    return nearest;
}

static bool wrong(const SettingContext *context, DiagCode code, ExperimentKey key, const char *value, Span span,
                  const char *wanted)
{
    diag_error(context->diag, code, span, "'%s' must be %s, not '%.60s'", rows[key].name, wanted, value);
    diag_help(context->diag, "write for example: %s", rows[key].example);
    return false;
}

static bool take_real(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    double real;
    const char *end = value + strlen(value);
    if (value == end || text_to_real(value, end, &real) != end)
        return wrong(context, DIAG_EXPERIMENT_TYPE, key, value, span, "a number");
    if (!isfinite(real))
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "finite");
    if (rows[key].kind == SETTING_POSITIVE && !(real > 0))
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "above 0");
    if (key == EXPERIMENT_TOLERANCE && real >= 1)
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "below 1, it is relative");
    if (key == EXPERIMENT_TOLERANCE && real < KOINE_LEAST_TOLERANCE)
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "at least 1e-14, numbers have 16 digits");
    memcpy((char *)context->experiment + rows[key].field, &real, sizeof real);
    return true;
}

static bool take_seed(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    uint64_t seed = 0;
    const char *at = value;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (seed > (UINT64_MAX - digit) / 10)
            return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "below 2^64");
        seed = seed * 10 + digit;
    }
    if (*at || at == value)
        return wrong(context, DIAG_EXPERIMENT_TYPE, key, value, span, "a whole number from 0 on");
    context->experiment->begin.seed = seed;
    return true;
}

static bool take_profile(const SettingContext *context, const char *value, Span span)
{
    Experiment *experiment = context->experiment;
    const Profile *profile = profile_find(experiment_profiles(experiment), value);
    if (profile) {
        experiment->how.profile = profile->name;
        return true;
    }
    const char *names = profile_names(experiment_profiles(experiment), ", ", " or ", context->arena);
    return wrong(context, DIAG_EXPERIMENT_VALUE, EXPERIMENT_PROFILE, value, span,
                 arena_format(context->arena, "the name of a profile: %s", names));
}

static bool take_text(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    if (value[0] == 0)
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, "a text that is not empty");
    const char *copy = arena_text(context->arena, value, strlen(value));
    memcpy((char *)context->experiment + rows[key].field, &copy, sizeof copy);
    return true;
}

static bool take_word(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    if (key == EXPERIMENT_PROFILE)
        return take_profile(context, value, span);
    const Vocabulary *known = context->experiment->words;
    if (key == EXPERIMENT_TIER && !known)
        return take_text(context, key, value, span);
    WordAt *words = key == EXPERIMENT_TIER ? known->tiers : switch_word;
    const char *word = word_among(words, value);
    if (!word)
        return wrong(context, DIAG_EXPERIMENT_VALUE, key, value, span, words_listed(words, " or ", context->arena));
    memcpy((char *)context->experiment + rows[key].field, &word, sizeof word);
    return true;
}

static bool take_by_kind(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    switch (rows[key].kind) {
    case SETTING_TEXT: return take_text(context, key, value, span);
    case SETTING_WORD: return take_word(context, key, value, span);
    case SETTING_REAL:
    case SETTING_POSITIVE: return take_real(context, key, value, span);
    case SETTING_SEED: return take_seed(context, key, value, span);
    case SETTING_LIST: break;
    }
    BUG("a list is no scalar");
}

bool setting_take(const SettingContext *context, ExperimentKey key, const char *value, Span span)
{
    if (!take_by_kind(context, key, value, span))
        return false;
    context->experiment->has[key] = true;
    context->experiment->spans[key] = span;
    return true;
}

void setting_copy(Experiment *to, const Experiment *from, ExperimentKey key)
{
    static const size_t sizes[] = { [SETTING_TEXT] = sizeof(const char *),
                                    [SETTING_WORD] = sizeof(const char *),
                                    [SETTING_REAL] = sizeof(double),
                                    [SETTING_POSITIVE] = sizeof(double),
                                    [SETTING_SEED] = sizeof(uint64_t) };
    REQUIRE(rows[key].kind != SETTING_LIST);
    const size_t field = rows[key].field;
    memcpy((char *)to + field, (const char *)from + field, sizes[rows[key].kind]);
}
