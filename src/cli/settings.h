/* The settings of a run: the model and its experiment, gathered from the file beside the model and the command line. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "experiment/start.h"
#include "cli/target.h"
#include "experiment/run.h"

typedef struct {
    CompileRequest request;      /* of the model; the experiment comes in with named_take_experiment */
    const char *experiment_path; /* NULL: none was used */
    Experiment experiment;       /* merged: the command line wins */
    StartState start;            /* of `start-from` */
    bool is_from_file;           /* every setting is: a wrong one is not the command line's fault */
} RunSettings;

/* Not EXIT_GOOD: said on stderr; the status. settings_read: without looking at what only a run needs. */
int settings_read(const Command *command, Compilation *c, RunSettings *settings);
int settings_gather(const Command *command, Compilation *c, RunSettings *settings);
/* The experiment says how the model is to be compiled. */
void settings_finish(RunSettings *settings, Compilation *c);
/* The model is compiled as the experiment wants it, and the request of a run gets it and its kind. */
int settings_compile(const Command *command, Compilation *c, RunSettings *settings, RunRequest *request);
/* What will be used, in a line or two on stderr. */
void settings_say(const RunSettings *settings, const Controls *controls, Arena *arena);
/* Status for a setting that turns out to be wrong later. */
int settings_error_status(const RunSettings *settings);

#endif
