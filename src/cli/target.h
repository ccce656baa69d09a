/* The model that a command line names: FILE, FILE:CLASS, or BANK:CLASS where BANK is a folder. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/command.h"
#include "driver/compile.h"
#include "driver/words.h"

/* The model that `text` names, as options of the verb want it compiled. False: there is no such file or class; said on
 * stderr, with a name like it where there is one. */
bool target_read(const Command *command, const char *text, CompileRequest *request);
/* The same for a model that is named already: a folder becomes the file of its class. */
bool target_find(const Command *command, CompileRequest *request);
/* What options of the verb say of the compilation. */
void target_take_options(const Command *command, CompileRequest *request);
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
#define TARGET_EXTERNAL                                                                                                \
    { .name = "allow-external",                                                                                        \
      .help = "functions of C that the model names may be compiled and executed, see 'koine help trust'" },            \
    {                                                                                                                  \
        .name = "external", .value = "FILE", .repeats = true,                                                          \
        .help = "this C file, library, or model with C texts may be compiled and executed; may be repeated"            \
    }
#define TARGET_SYSTEMS                                                                                                 \
    {                                                                                                                  \
        .name = "systems", .value = "HOW", .listed = compilation_systems_name,                                         \
        .help = "how systems of equations are solved"                                                                  \
    }
/* Those of verbs that compile a model and do not run it. */
#define TARGET_COMPILED TARGET_TASK, TARGET_ANALYSIS, TARGET_USE, TARGET_EXTERNAL, TARGET_SYSTEMS
/* The model of the first argument is found, and `act` called with a compilation that is nobody else's. The status. */
int target_act(const Command *command, int (*act)(const Command *command, Compilation *c, CompileRequest *request));
/* Text to schedule; diagnostics are printed. False: they say why. */
bool target_compile(const Command *command, const CompileRequest *request, Compilation *c);

/* Names of profiles; NULL after the last. */
const char *profile_word(uint32_t k);
/* No profile has this name: said; the status. */
int no_profile(const Command *command, const char *name);

#endif
