/* What to run, how, and what to keep: the settings of one experiment.
 *
 * Settings come from a language's annotation, from a *.exp.yaml file and from the command line; each
 * fills an Experiment and experiment_merge lets the later one win, setting by setting. What was not
 * given stays not given: the runner knows its defaults. docs/experiments.md is the manual. */
#ifndef EXPERIMENT_EXPERIMENT_H
#define EXPERIMENT_EXPERIMENT_H

#include "base/diag.h"
#include "base/vocabulary.h"
#include "formats/observer.h"

typedef enum {
    EXPERIMENT_MODEL,
    EXPERIMENT_START,
    EXPERIMENT_STOP,
    EXPERIMENT_STOP_WHEN,
    EXPERIMENT_INTERVAL,
    EXPERIMENT_TOLERANCE,
    EXPERIMENT_ABSOLUTE_TOLERANCE,
    EXPERIMENT_SOLVER,
    EXPERIMENT_TIER,
    EXPERIMENT_STEP,
    EXPERIMENT_MAX_STEP,
    EXPERIMENT_OUTPUT,
    EXPERIMENT_PROFILE,
    EXPERIMENT_USE,
    EXPERIMENT_TASK,
    EXPERIMENT_SEED,
    EXPERIMENT_START_FROM,
    EXPERIMENT_START_FROM_TIME,
    EXPERIMENT_INPUTS,
    EXPERIMENT_PROTOCOL,
    EXPERIMENT_EVENT_ROWS,
    EXPERIMENT_CONTROL,
    EXPERIMENT_NOMINAL,
    EXPERIMENT_OBSERVERS,
    EXPERIMENT_PHASES,
    EXPERIMENT_SET,
    EXPERIMENT_VARIABLES,
    EXPERIMENT_PLOT,
    EXPERIMENT_KEYS
} ExperimentKey;

/* A parameter, start value or control parameter; the value as written, its type is the variable's. */
typedef struct {
    const char *name, *value;
    Span span; /* of the name; SPAN_NONE from the command line */
} Setting;

typedef struct {
    const char *glob; /* see formats/select.h */
    Span span;
} ExperimentGlob;

typedef struct {
    const ExperimentGlob *at;
    uint32_t n;
} ExperimentGlobs;

typedef struct {
    const char *title; /* "": none */
    ExperimentGlobs variables;
} ExperimentPane;

typedef struct {
    const char *name, *output; /* output: NULL stands for NAME.csv */
    Span span;
    ObserverKind kind;
    ExperimentGlobs variables;
    bool has_from, has_to;
    double from, to, every, width;
    uint32_t samples;
} ExperimentObserver;

/* Settings of `set`, `control` or `nominal`; each name once. */
typedef struct {
    const Setting *at;
    uint32_t n;
} SettingList;

/* What a part of a run can have of its own, and what the whole run has where no phase says otherwise. */
typedef struct {
    double stop, tolerance, step, max_step;
    const char *solver;
    SettingList settings, controls; /* EXPERIMENT_SET, EXPERIMENT_CONTROL */
} ExperimentPart;

/* A part of the run. What it sets holds from its begin on. */
typedef struct {
    bool has[EXPERIMENT_KEYS];   /* which settings of the part were given; all but the last phase have STOP */
    Span spans[EXPERIMENT_KEYS]; /* where; SPAN_NONE from the command line */
    ExperimentPart part;
    Span span; /* of the phase */
} ExperimentPhase;

/* How the text of the model becomes a program. */
typedef struct {
    const char *profile;
    const char *use;       /* versions of classes, separated by commas: VERSION or CLASS=VERSION */
    const char *task;      /* what is known and unknown */
    const char *stop_when; /* a condition that ends the run */
    const char *tier;
} ExperimentModel;

/* Where the run begins, and what reaches the model from outside. */
typedef struct {
    double start;
    const char *start_from; /* an earlier result */
    double start_from_time;
    const char *inputs; /* a file of signals */
    uint64_t seed;
} ExperimentBegin;

/* How large errors of states may be, beside the relative tolerance of each part. */
typedef struct {
    double absolute_tolerance;
    SettingList nominals; /* EXPERIMENT_NOMINAL */
} ExperimentErrors;

/* What is kept of the run, and what is shown. */
typedef struct {
    const char *output, *protocol;
    double interval;
    const char *event_rows;              /* on, off */
    ExperimentGlobs variables;           /* EXPERIMENT_VARIABLES */
    const ExperimentObserver *observers; /* EXPERIMENT_OBSERVERS */
    uint32_t n_observers;
    const ExperimentPane *panes; /* EXPERIMENT_PLOT */
    uint32_t n_panes;
} ExperimentResults;

typedef struct {
    bool has[EXPERIMENT_KEYS];   /* which settings were given */
    Span spans[EXPERIMENT_KEYS]; /* where; SPAN_NONE from the command line */
    const Vocabulary *words;     /* that settings choose from; NULL: there are no profiles, and any text is a tier */
    const char *model;           /* file or file:class; from a file relative to the current folder already */
    ExperimentModel how;
    ExperimentBegin begin;
    ExperimentPart part;
    ExperimentErrors errors;
    ExperimentResults results;
    const ExperimentPhase *phases; /* EXPERIMENT_PHASES; in the order of time */
    uint32_t n_phases;
} Experiment;

Experiment experiment_none(const Vocabulary *words); /* that settings choose from; may be NULL */
/* What the phase gives, and nothing else. */
Experiment experiment_of_phase(const ExperimentPhase *phase);

/* Reads a file, or a source that is there already; *experiment knows its words. False: reported; what was good is
 * filled in. */
bool experiment_open(const char *path, Sources *sources, Arena *arena, Diag *diag, Experiment *experiment);
bool experiment_read(uint32_t source, const Sources *sources, Arena *arena, Diag *diag, Experiment *experiment);

#define EXPERIMENT_END ".exp.yaml"
bool experiment_is_named(const char *path); /* ... so */
/* Ball.exp.yaml for Ball.mdl: the one that a run of the model uses; NULL: there is none. */
const char *experiment_beside(const char *path, Arena *arena);

/* A setting as the command line gives it: experiment_give(&e, "stop", "10", ...); lists are separated by
 * commas; for "set", "control" and "nominal" the value is NAME=VALUE and repetition adds. False: reported. */
bool experiment_give(Experiment *experiment, const char *key, const char *value, Arena *arena, Diag *diag);

/* `over` wins where it has something; `set` is merged name by name, lists are replaced. */
Experiment experiment_merge(const Experiment *base, const Experiment *over, Arena *arena);

/* The same for a file and what is given beside it. `nominal(x)` among the settings of each is a nominal value: it is
 * put there before, so that what is given wins however it is written. */
Experiment experiment_given(const Experiment *file, const Experiment *given, Arena *arena);

/* What only the merged settings can show: stop before start. False: reported. */
bool experiment_check(const Experiment *experiment, Diag *diag);

/* The profiles that a setting can name; NULL: none. */
ProfileAt *experiment_profiles(const Experiment *experiment);

const char *experiment_key_name(ExperimentKey key); /* "max-step" */

#endif
