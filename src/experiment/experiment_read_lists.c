/* Observers and phases of an experiment file. */
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"
#include "experiment/reader.h"
#include <math.h>

/* ---- observers ---- */

typedef enum {
    KEY_NAME,
    KEY_KIND,
    KEY_VARIABLES,
    KEY_FROM,
    KEY_TO,
    KEY_EVERY,
    KEY_WIDTH,
    KEY_SAMPLES,
    KEY_OUTPUT,
    OBSERVER_KEYS
} ObserverKey;

static const struct {
    const char *name, *variant; /* variant: as the document of SIMPLEX-II calls it */
} OBSERVER_NAMES[OBSERVER_KEYS] = {
    [KEY_NAME] = { "name", NULL },           [KEY_KIND] = { "kind", NULL },
    [KEY_VARIABLES] = { "variables", NULL }, [KEY_FROM] = { "from", "TRecBeg" },
    [KEY_TO] = { "to", "TRecEnd" },          [KEY_EVERY] = { "every", "DTSample" },
    [KEY_WIDTH] = { "width", "Width" },      [KEY_SAMPLES] = { "samples", "NSample" },
    [KEY_OUTPUT] = { "output", NULL },
};

static const char *const KINDS[] = {
    [OBSERVER_SAMPLED] = "sampled",
    [OBSERVER_ON_CHANGE] = "on-change",
    [OBSERVER_COMPRESSED_CONTINUOUS] = "compressed-continuous",
    [OBSERVER_COMPRESSED_DISCRETE] = "compressed-discrete",
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

typedef struct {
    Reader *reader;
    ExperimentObserver observer;
    bool has[OBSERVER_KEYS];
    Span spans[OBSERVER_KEYS];
} ObserverReader;

static bool find_observer_key(const char *name, ObserverKey *key)
{
    for (int k = 0; k < OBSERVER_KEYS; k++) {
        const char *variant = OBSERVER_NAMES[k].variant;
        if (strcmp(OBSERVER_NAMES[k].name, name) == 0 || (variant && strcmp(variant, name) == 0)) {
            *key = (ObserverKey)k;
            return true;
        }
    }
    return false;
}

/* For "did you mean"; "" where nothing is near. */
static const char *nearest_of(const char *name, const char *const *words, uint32_t n)
{
    uint32_t best = 4;
    const char *nearest = "";
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t distance = edit_distance(name, words[k], best);
        if (distance < best && distance < strlen(words[k])) {
            best = distance;
            nearest = words[k];
        }
    }
    return nearest;
}

static void unknown_key(Reader *reader, Node key, const char *whole, const char *const *words, uint32_t n)
{
    diag_error(reader->context.diag, DIAG_EXPERIMENT_KEY, key.span, "%s has no setting '%.60s'", whole, key.text);
    reader->has_errors = true;
    const char *nearest = nearest_of(key.text, words, n);
    if (nearest[0])
        diag_help(reader->context.diag, "did you mean '%s'?", nearest);
    else {
        Text list = { .arena = reader->context.arena };
        for (uint32_t k = 0; k < n; k++)
            text_format(&list, "%s%s", k ? ", " : "", words[k]);
        diag_help(reader->context.diag, "it has: %s", list.at);
    }
}

static void wrong_value(ObserverReader *o, ObserverKey key, Node value, const char *wanted)
{
    diag_error(o->reader->context.diag, DIAG_EXPERIMENT_VALUE, value.span, "'%s' of an observer must be %s",
               OBSERVER_NAMES[key].name, wanted);
    o->reader->has_errors = true;
}

static bool read_number(Node value, double *to)
{
    const char *end = value.text + strlen(value.text);
    return value.is_plain && value.text != end && text_to_real(value.text, end, to) == end && isfinite(*to);
}

static void take_number(ObserverReader *o, ObserverKey key, Node value)
{
    ExperimentObserver *observer = &o->observer;
    double number;
    if (!read_number(value, &number)) {
        wrong_value(o, key, value, "a number");
    } else if (key == KEY_FROM) {
        observer->from = number;
        observer->has_from = true;
    } else if (key == KEY_TO) {
        observer->to = number;
        observer->has_to = true;
    } else if (!(number > 0)) {
        wrong_value(o, key, value, "above 0");
    } else if (key == KEY_EVERY) {
        observer->every = number;
    } else if (key == KEY_WIDTH) {
        observer->width = number;
    } else if (number > 1e9 || number != floor(number)) {
        wrong_value(o, key, value, "a whole number from 1 to 1e9");
    } else {
        observer->samples = (uint32_t)number;
    }
}

/* It becomes the name of a file. */
static bool is_file_name(const char *name)
{
    return name[0] && name[0] != '.' && name[0] != '-' && !strchr(name, '/');
}

static void take_kind(ObserverReader *o, Node value)
{
    for (uint32_t k = 0; k < N_KINDS; k++)
        if (strcmp(value.text, KINDS[k]) == 0) {
            o->observer.kind = (ObserverKind)k;
            return;
        }
    wrong_value(o, KEY_KIND, value, "sampled, on-change, compressed-continuous or compressed-discrete");
    const char *nearest = nearest_of(value.text, KINDS, N_KINDS);
    if (nearest[0])
        diag_help(o->reader->context.diag, "did you mean '%s'?", nearest);
}

static void read_observer_value(ObserverReader *o, ObserverKey key, Node value)
{
    if (key == KEY_VARIABLES) {
        o->observer.variables = setting_globs(o->reader, EXPERIMENT_VARIABLES, value);
    } else if (value.kind != NODE_SCALAR || node_is_empty(value)) {
        wrong_value(o, key, value, "a single value");
        setting_skip(o->reader, value);
    } else if (key == KEY_KIND) {
        take_kind(o, value);
    } else if (key == KEY_OUTPUT) {
        o->observer.output = value.text;
    } else if (key != KEY_NAME) {
        take_number(o, key, value);
    } else if (is_file_name(value.text)) {
        o->observer.name = value.text;
    } else {
        wrong_value(o, key, value, "a name for a file, without '/'");
    }
}

static void need(ObserverReader *o, ObserverKey key)
{
    if (o->has[key])
        return;
    diag_error(o->reader->context.diag, DIAG_OBSERVER, o->observer.span, "an observer of the kind %s needs '%s'",
               KINDS[o->observer.kind], OBSERVER_NAMES[key].name);
    o->reader->has_errors = true;
}

static void refuse(ObserverReader *o, ObserverKey key)
{
    if (!o->has[key])
        return;
    diag_error(o->reader->context.diag, DIAG_OBSERVER, o->spans[key],
               "'%s' means nothing for an observer of the kind %s", OBSERVER_NAMES[key].name, KINDS[o->observer.kind]);
    o->reader->has_errors = true;
}

static void check_observer(ObserverReader *o)
{
    ExperimentObserver *observer = &o->observer;
    if (!o->has[KEY_KIND])
        observer->kind = o->has[KEY_SAMPLES] ? OBSERVER_COMPRESSED_CONTINUOUS
                         : o->has[KEY_WIDTH] ? OBSERVER_COMPRESSED_DISCRETE
                         : o->has[KEY_EVERY] ? OBSERVER_SAMPLED
                                             : OBSERVER_ON_CHANGE;
    const bool is_sampled = observer->kind == OBSERVER_SAMPLED || observer->kind == OBSERVER_COMPRESSED_CONTINUOUS;
    (is_sampled ? need : refuse)(o, KEY_EVERY);
    (observer->kind == OBSERVER_COMPRESSED_CONTINUOUS ? need : refuse)(o, KEY_SAMPLES);
    (observer->kind == OBSERVER_COMPRESSED_DISCRETE ? need : refuse)(o, KEY_WIDTH);
    if (observer->has_from && observer->has_to && observer->to < observer->from) {
        diag_error(o->reader->context.diag, DIAG_OBSERVER, o->spans[KEY_TO],
                   "the observer ends at %.9g, before it begins at %.9g", observer->to, observer->from);
        o->reader->has_errors = true;
    }
}

typedef VEC(ExperimentObserver) Observers;

/* Two observers in one file would write over each other. */
static void check_name(Reader *reader, const Observers *observers, const ExperimentObserver *observer)
{
    for (uint32_t k = 0; k < observers->n; k++)
        if (strcmp(observers->at[k].name, observer->name) == 0) {
            setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, observer->span, "two observers have the name '%s'",
                           observer->name);
            diag_note(reader->context.diag, observers->at[k].span, "the first one");
        }
}

static void read_observer(Reader *reader, Node node, Observers *observers)
{
    ObserverReader o = { .reader = reader, .observer = { .span = node.span } };
    const char *words[OBSERVER_KEYS];
    for (int k = 0; k < OBSERVER_KEYS; k++)
        words[k] = OBSERVER_NAMES[k].name;
    const bool had_errors = reader->has_errors;
    reader->has_errors = false;
    for (Node key = setting_next(reader); key.kind != NODE_MAP_END && key.kind != NODE_BAD;
         key = setting_next(reader)) {
        ObserverKey found;
        if (key.kind == NODE_SCALAR && find_observer_key(key.text, &found)) {
            const Node value = setting_next(reader);
            if (o.has[found])
                setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, key.span, "'%s' is given twice in one observer",
                               key.text);
            o.has[found] = true;
            o.spans[found] = key.span;
            read_observer_value(&o, found, value);
            continue;
        }
        if (key.kind == NODE_SCALAR)
            unknown_key(reader, key, "an observer", words, OBSERVER_KEYS);
        else
            setting_report_kind(reader, EXPERIMENT_OBSERVERS, key, "a list of pairs");
        setting_skip(reader, setting_next(reader));
    }
    if (!o.observer.name)
        o.observer.name = arena_format(reader->context.arena, "observer%u", observers->n + 1);
    if (!reader->has_errors)
        check_observer(&o);
    check_name(reader, observers, &o.observer);
    reader->has_errors |= had_errors;
    vec_push(reader->context.arena, observers, o.observer);
}

void setting_observers(Reader *reader, Node node)
{
    Observers observers = { 0 };
    if (node.kind != NODE_LIST) {
        setting_report_kind(reader, EXPERIMENT_OBSERVERS, node, "a list");
        return;
    }
    for (node = setting_next(reader); node.kind != NODE_LIST_END && node.kind != NODE_BAD;
         node = setting_next(reader)) {
        if (node.kind == NODE_MAP)
            read_observer(reader, node, &observers);
        else
            setting_report_kind(reader, EXPERIMENT_OBSERVERS, node, "a list of observers");
    }
    reader->context.experiment->results.observers = observers.at;
    reader->context.experiment->results.n_observers = observers.n;
}

/* ---- phases ---- */

/* What a phase may change; its `until` is the stop time of that part of the run. */
static const ExperimentKey PHASE_KEYS[] = { EXPERIMENT_STOP,    EXPERIMENT_SET,       EXPERIMENT_CONTROL,
                                            EXPERIMENT_SOLVER,  EXPERIMENT_TOLERANCE, EXPERIMENT_STEP,
                                            EXPERIMENT_MAX_STEP };
enum { N_PHASE_KEYS = sizeof PHASE_KEYS / sizeof *PHASE_KEYS };

static const char *phase_key_name(uint32_t k)
{
    return PHASE_KEYS[k] == EXPERIMENT_STOP ? "until" : experiment_key_name(PHASE_KEYS[k]);
}

static void read_phase_setting(Reader *reader, Node key)
{
    const char *words[N_PHASE_KEYS];
    for (uint32_t k = 0; k < N_PHASE_KEYS; k++) {
        words[k] = phase_key_name(k);
        if (strcmp(words[k], key.text) != 0)
            continue;
        if (reader->context.experiment->has[PHASE_KEYS[k]])
            setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, key.span, "'%s' is given twice in one phase", key.text);
        setting_value(reader, PHASE_KEYS[k], key.span);
        return;
    }
    unknown_key(reader, key, "a phase", words, N_PHASE_KEYS);
    setting_skip(reader, setting_next(reader));
}

typedef VEC(ExperimentPhase) Phases;

static void read_phase(Reader *reader, Node node, Phases *phases)
{
    Experiment *whole = reader->context.experiment;
    Experiment own = experiment_none(NULL);
    reader->context.experiment = &own;
    for (Node key = setting_next(reader); key.kind != NODE_MAP_END && key.kind != NODE_BAD;
         key = setting_next(reader)) {
        if (key.kind == NODE_SCALAR) {
            read_phase_setting(reader, key);
        } else {
            setting_report_kind(reader, EXPERIMENT_PHASES, key, "a list of pairs");
            setting_skip(reader, setting_next(reader));
        }
    }
    reader->context.experiment = whole;
    ExperimentPhase phase = { .part = own.part, .span = node.span };
    memcpy(phase.has, own.has, sizeof phase.has);
    memcpy(phase.spans, own.spans, sizeof phase.spans);
    vec_push(reader->context.arena, phases, phase);
}

void setting_phases(Reader *reader, Node node)
{
    Phases phases = { 0 };
    if (node.kind != NODE_LIST) {
        setting_report_kind(reader, EXPERIMENT_PHASES, node, "a list");
        return;
    }
    for (node = setting_next(reader); node.kind != NODE_LIST_END && node.kind != NODE_BAD;
         node = setting_next(reader)) {
        if (node.kind == NODE_MAP)
            read_phase(reader, node, &phases);
        else
            setting_report_kind(reader, EXPERIMENT_PHASES, node, "a list of phases");
    }
    for (uint32_t k = 0; k < phases.n; k++) {
        const ExperimentPhase *phase = &phases.at[k], *before = k ? phase - 1 : NULL;
        if (!phase->has[EXPERIMENT_STOP] && k + 1 < phases.n)
            setting_report(reader, DIAG_PHASE, phase->span, "a phase that is not the last needs '%s'", "until");
        else if (before && phase->has[EXPERIMENT_STOP] && before->has[EXPERIMENT_STOP] &&
                 phase->part.stop <= before->part.stop)
            setting_report(reader, DIAG_PHASE, phase->spans[EXPERIMENT_STOP],
                           "a phase must end after the one before; '%s' does not rise", "until");
    }
    reader->context.experiment->phases = phases.at;
    reader->context.experiment->n_phases = phases.n;
}
