#include "cli/settings.h"
#include "study/named.h"
#include "study/told.h"
#include "driver/words.h"
#include "experiment/complete.h"
#include "experiment/summary.h"
#include <errno.h>
#include <sys/stat.h>

static int print_errors(const Command *command, Compilation *c, int status)
{
    print_diagnostics(command, c->diag);
    return diag_errors(c->diag) ? error_status(c->diag, status) : EXIT_GOOD;
}

/* The options that are settings of an experiment have the same names, but for lists of names that a verb asks for. */
static bool is_setting(const Command *command, ExperimentKey key)
{
    const Option *option = option_find(command, experiment_key_name(key));
    return key != EXPERIMENT_PLOT && !(key == EXPERIMENT_INPUTS && option && strcmp(option->value, "FILE") != 0);
}

static int read_options(const Command *command, Compilation *c, Experiment *experiment)
{
    for (uint32_t k = 0; k < command->n_given; k++) {
        const Given *given = &command->given[k];
        for (int key = 0; key < EXPERIMENT_KEYS; key++)
            if (is_setting(command, (ExperimentKey)key) &&
                strcmp(given->name, experiment_key_name((ExperimentKey)key)) == 0)
                experiment_give(experiment, given->name, given->value, c->arena, c->diag);
    }
    return print_errors(command, c, EXIT_USAGE);
}

/* The experiment named on the command line: it names its model. */
static int open_experiment(const Command *command, Compilation *c, RunSettings *settings, Experiment *from_file)
{
    const char *path = command->arguments[0];
    CompileRequest file = { .path = path };
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
    target_take_options(command, &settings->request);
    named_take_model(&settings->request, from_file, c->arena);
    struct stat state;
    const bool is_there = stat(settings->request.path, &state) == 0, is_folder = is_there && S_ISDIR(state.st_mode);
    if (!is_there && errno == ENOENT) {
        diag_error(c->diag, DIAG_FILE_MISSING, from_file->spans[EXPERIMENT_MODEL], "'%s' does not exist",
                   settings->request.path);
        diag_help(c->diag, "the model is sought from the folder of the experiment on");
        return print_errors(command, c, EXIT_MODEL);
    }
    return !is_folder || target_find(command, &settings->request) ? EXIT_GOOD : EXIT_MODEL;
}

static int open_beside(const Command *command, Compilation *c, RunSettings *settings, Experiment *from_file)
{
    CompileRequest *request = &settings->request;
    const char *model;
    if (!target_read(command, command->arguments[0], request))
        return EXIT_USAGE;
    const char *beside = experiment_beside(request->path, c->arena);
    switch (named_take_beside(request, c->sources, c->arena, c->diag, from_file, &model)) {
    case BESIDE_NONE: break;
    case BESIDE_TAKEN: settings->experiment_path = beside; break;
    case BESIDE_OTHER: say("'%s' is an experiment with '%s' and is not used", beside, model); break;
    case BESIDE_WRONG: return print_errors(command, c, EXIT_MODEL);
    }
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
    settings->experiment = experiment_given(&from_file, &from_options, c->arena);
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

void settings_finish(RunSettings *settings, Compilation *c)
{
    named_take_experiment(&settings->request, &settings->experiment, c->sources, "command line", c->arena);
}

int settings_compile(const Command *command, Compilation *c, RunSettings *settings, RunRequest *request)
{
    const char *why, *tier = settings->experiment.how.tier;
    settings_finish(settings, c);
    if (!target_compile(command, &settings->request, c))
        return error_status(c->diag, EXIT_MODEL);
    if (run_told_kind(request, c, tier, &why))
        return EXIT_GOOD;
    if (diag_errors(c->diag)) {
        print_diagnostics(command, c->diag);
        return EXIT_MODEL;
    }
    say("the tier '%s' cannot be used: %s", tier ? tier : "auto", why);
    return EXIT_ENVIRONMENT;
}

int settings_error_status(const RunSettings *settings)
{
    return settings->is_from_file ? EXIT_MODEL : EXIT_USAGE;
}

void settings_say(const RunSettings *settings, const Controls *controls, Arena *arena)
{
    Text text = { .arena = arena };
    experiment_summary(&settings->experiment, controls, &text);
    fprintf(stderr, "%s%s%s\n%s", text_shown(settings->request.path, arena), settings->experiment_path ? " with " : "",
            settings->experiment_path ? text_shown(settings->experiment_path, arena) : "", text.at);
}
