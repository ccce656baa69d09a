/* One setting and its checks, shared by the reader of files and by the command line. Private. */
#ifndef EXPERIMENT_SETTING_H
#define EXPERIMENT_SETTING_H

#include "experiment/experiment.h"

typedef enum {
    SETTING_TEXT,
    SETTING_WORD,     /* one of a list */
    SETTING_REAL,     /* finite */
    SETTING_POSITIVE, /* finite, above 0 */
    SETTING_SEED,
    SETTING_LIST /* set, variables, plot, ...: more than one value */
} SettingKind;

typedef struct {
    Arena *arena;
    Diag *diag;
    Experiment *experiment;
} SettingContext;

/* False: there is no such key, not yet reported. */
bool setting_find(const char *name, ExperimentKey *key);
SettingKind setting_kind(ExperimentKey key);
const char *setting_example(ExperimentKey key);    /* "stop: 10" */
const char *setting_nearest_key(const char *name); /* NULL: none is near */
/* Takes a scalar for any key that is not a list. False: reported. */
bool setting_take(const SettingContext *context, ExperimentKey key, const char *value, Span span);
/* The value of a key that is not a list. */
void setting_copy(Experiment *to, const Experiment *from, ExperimentKey key);

#endif
