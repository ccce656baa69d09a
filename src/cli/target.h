/* The model a command line names: FILE, FILE:CLASS, or BANK:CLASS where BANK is a folder. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/command.h"
#include "driver/compile.h"
#include "driver/words.h"
#include "experiment/experiment.h"

typedef struct {
    const char *path;
    const char *class_name;    /* NULL: the one in the file */
    const char *const *wanted; /* variables that are recorded, ended by NULL; NULL: all */
    const char *use;           /* versions of classes, of an experiment; --use wins; NULL: none */
    const char *task;          /* of an experiment; --task wins; NULL: none */
    Span task_span;
    const char *stop_when; /* a condition that ends the run, of the settings */
    Span stop_span;
    const GivenValue *values; /* settings of the run */
    uint32_t n_values;
} Target;

/* Splits at the last colon, unless a file of the whole name exists. */
Target target_split(const char *text, Arena *arena);
/* A folder becomes the file of its class. False: there is no such file or class; said on stderr, with a name like it
 * where there is one. */
bool target_find(const Command *command, Target *target);
/* Values of the option --use, else of target->use, ended by NULL; verbs that read models have the row TARGET_USE. */
const char *const *target_versions(const Command *command, const Target *target);
#define TARGET_USE                                                                                                     \
    {                                                                                                                  \
        .name = "use", .value = "[CLASS=]VERSION", .repeats = true,                                                    \
        .help = "a version of a class in place of the one its bank uses; without CLASS: of all that have it"           \
    }
#define TARGET_TASK                                                                                                    \
    {                                                                                                                  \
        .name = "task", .value = "TASK",                                                                               \
        .help = "what is known and unknown: steady, start steady, or a list of unknown NAME, known NAME=VALUE"         \
    }
/* Options of verbs that analyse models. */
#define TARGET_ANALYSIS                                                                                                \
    { .name = "evaluate-parameters",                                                                                   \
      .help = "parameters become numbers: faster, but they cannot be set; the model may keep some of them" },          \
    {                                                                                                                  \
        .name = "remove-unneeded", .help = "compute only what states, events, outputs and --variables need"            \
    }
#define TARGET_SYSTEMS                                                                                                 \
    {                                                                                                                  \
        .name = "systems", .value = "HOW", .listed = compilation_systems_name,                                         \
        .help = "how systems of equations are solved"                                                                  \
    }
/* The values that an experiment sets are known when the model is analysed. */
void target_take_settings(Target *target, const Experiment *experiment, const Sources *sources, Arena *arena);
CompileRequest target_request(const Command *command, const Target *target);
/* Text to schedule; diagnostics are printed. False: they say why. `profile` may be NULL. */
bool target_compile(const Command *command, const Target *target, const char *profile, Compilation *c);

/* Names of profiles; NULL after the last. */
const char *profile_word(uint32_t k);
/* No profile has this name: said; the status. */
int no_profile(const Command *command, const char *name);

#endif
