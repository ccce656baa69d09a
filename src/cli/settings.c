#include "cli/settings.h"
#include "driver/words.h"
#include "experiment/complete.h"
#include "experiment/summary.h"
#include <errno.h>
#include <sys/stat.h>

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static int print_errors(const Command *command, Compilation *c, int status)
{
    diag_print(c->diag, stderr, (DiagStyle){ .colour = command->colour_err });
    return diag_errors(c->diag) ? error_status(c->diag, status) : EXIT_GOOD;
}

/* The options that are settings of an experiment have the same names. */
static int read_options(const Command *command, Compilation *c, Experiment *experiment)
{
    for (uint32_t k = 0; k < command->n_given; k++) {
        const Given *const given = &command->given[k];
        for (int key = 0; key < EXPERIMENT_KEYS; key++)
            if (key != EXPERIMENT_PLOT && strcmp(given->name, experiment_key_name((ExperimentKey)key)) == 0)
                experiment_give(experiment, given->name, given->value, c->arena, c->diag);
    }
    return print_errors(command, c, EXIT_USAGE);
}

/* The experiment named on the command line: it names its model. */
static int open_experiment(const Command *command, Compilation *c, RunSettings *settings, Experiment *from_file)
{
    const char *const path = command->arguments[0];
    Target file = { .path = path };
    if (!target_find(command, &file))
        return EXIT_USAGE;
    settings->experiment_path = path;
    if (!experiment_open(path, c->sources, c->arena, c->diag, from_file))
        return print_errors(command, c, EXIT_MODEL);
    if (!from_file->has[EXPERIMENT_MODEL]) {
        say("%s: the experiment names no model", path);
        fprintf(stderr, "  help: write for example 'model: Ball.mdl' into it\n");
        return EXIT_MODEL;
    }
    settings->target = target_split(from_file->model, c->arena);
    settings->target.use = from_file->how.use;
    struct stat state;
    const bool is_there = stat(settings->target.path, &state) == 0, is_folder = is_there && S_ISDIR(state.st_mode);
    if (!is_there && errno == ENOENT) {
        diag_error(c->diag, DIAG_FILE_MISSING, from_file->spans[EXPERIMENT_MODEL], "'%s' does not exist",
                   settings->target.path);
        diag_help(c->diag, "the model is sought from the folder of the experiment on");
        return print_errors(command, c, EXIT_MODEL);
    }
    return !is_folder || target_find(command, &settings->target) ? EXIT_GOOD : EXIT_MODEL;
}

/* The experiment beside the model, unless it is one for another model. */
static int open_beside(const Command *command, Compilation *c, RunSettings *settings, Experiment *from_file)
{
    settings->target = target_split(command->arguments[0], c->arena);
    if (!target_find(command, &settings->target))
        return EXIT_USAGE;
    const char *const beside = experiment_beside(settings->target.path, c->arena);
    if (!beside)
        return EXIT_GOOD;
    if (!experiment_open(beside, c->sources, c->arena, c->diag, from_file))
        return print_errors(command, c, EXIT_MODEL);
    if (from_file->has[EXPERIMENT_MODEL]) {
        const Target theirs = target_split(from_file->model, c->arena);
        if (!is_same_file(theirs.path, settings->target.path)) {
            say("'%s' is an experiment with '%s' and is not used", beside, theirs.path);
            *from_file = experiment_none(&compilation_vocabulary);
            return EXIT_GOOD;
        }
        if (!settings->target.class_name)
            settings->target.class_name = theirs.class_name;
    }
    settings->target.use = from_file->how.use;
    settings->experiment_path = beside;
    return EXIT_GOOD;
}

int settings_read(const Command *command, Compilation *c, RunSettings *settings)
{
    Experiment from_file = experiment_none(&compilation_vocabulary),
               from_options = experiment_none(&compilation_vocabulary);
    *settings = (RunSettings){ .experiment = experiment_none(&compilation_vocabulary) };
    int status = read_options(command, c, &from_options);
    if (status != EXIT_GOOD)
        return status;
    status = experiment_is_named(command->arguments[0]) ? open_experiment(command, c, settings, &from_file)
                                                        : open_beside(command, c, settings, &from_file);
    if (status != EXIT_GOOD)
        return status;
    experiment_take_nominals(&from_file, c->arena); /* apart: what options say wins */
    experiment_take_nominals(&from_options, c->arena);
    settings->experiment = experiment_merge(&from_file, &from_options, c->arena);
    settings->target.task = settings->experiment.how.task;
    settings->target.task_span = settings->experiment.spans[EXPERIMENT_TASK];
    settings->target.stop_when = settings->experiment.how.stop_when;
    settings->target.stop_span = settings->experiment.spans[EXPERIMENT_STOP_WHEN];
    settings->is_from_file = settings->experiment_path != NULL;
    for (int key = 0; key < EXPERIMENT_KEYS; key++)
        settings->is_from_file &= !from_options.has[key];
    return EXIT_GOOD;
}

int settings_gather(const Command *command, Compilation *c, RunSettings *settings)
{
    const int status = settings_read(command, c, settings);
    if (status != EXIT_GOOD)
        return status;
    experiment_complete(&settings->experiment, &settings->start, c->arena, c->diag);
    return print_errors(command, c, settings_error_status(settings));
}

int settings_error_status(const RunSettings *settings)
{
    return settings->is_from_file ? EXIT_MODEL : EXIT_USAGE;
}

void settings_say(const RunSettings *settings, const Controls *controls, Arena *arena)
{
    Text text = { .arena = arena };
    experiment_summary(&settings->experiment, controls, &text);
    fprintf(stderr, "%s%s%s\n%s", text_shown(settings->target.path, arena), settings->experiment_path ? " with " : "",
            settings->experiment_path ? text_shown(settings->experiment_path, arena) : "", text.at);
}
