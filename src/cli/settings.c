#include "cli/settings.h"
#include "driver/words.h"
#include "koine/simulate.h"
#include <errno.h>
#include <sys/stat.h>

static const double MOST_POINTS = 1e10; /* of the output grid: 80 GB for each variable */

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
    settings->target.use = from_file->use;
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
    settings->target.use = from_file->use;
    settings->experiment_path = beside;
    return EXIT_GOOD;
}

static bool is_solver(const char *name)
{
    for (uint32_t k = 0; koine_solver_name(k); k++)
        if (strcmp(koine_solver_name(k), name) == 0)
            return true;
    return false;
}

static void check_solver(const Experiment *e, Compilation *c)
{
    if (!e->solver || is_solver(e->solver))
        return;
    Text list = { .arena = c->arena };
    for (uint32_t k = 0; koine_solver_name(k); k++)
        text_format(&list, "%s%s", k ? ", " : "", koine_solver_name(k));
    diag_error(c->diag, DIAG_EXPERIMENT_VALUE, e->spans[EXPERIMENT_SOLVER], "there is no solver '%s'", e->solver);
    diag_help(c->diag, "one of: %s", list.at);
}

/* The last phase may say when the run stops. */
static void stop_with_phases(Experiment *e)
{
    const Experiment *const last = e->n_phases ? &e->phases[e->n_phases - 1].experiment : NULL;
    if (e->has[EXPERIMENT_STOP] || !last || !last->has[EXPERIMENT_STOP])
        return;
    e->has[EXPERIMENT_STOP] = true;
    e->spans[EXPERIMENT_STOP] = last->spans[EXPERIMENT_STOP];
    e->stop = last->stop;
}

/* A steady state is one point, unless a stop time is given. */
static void stop_with_task(Experiment *e)
{
    if (e->has[EXPERIMENT_STOP] || !e->has[EXPERIMENT_TASK] || strncmp(e->task, "steady", 6) != 0)
        return;
    e->has[EXPERIMENT_STOP] = true;
    e->stop = e->has[EXPERIMENT_START] ? e->start : 0;
}

static void check_times(const Experiment *e, Compilation *c)
{
    Diag *const diag = c->diag;
    if (!e->has[EXPERIMENT_STOP]) {
        diag_error(diag, DIAG_NO_STOP, SPAN_NONE, "there is no stop time");
        diag_help(diag, "give one with --stop, or 'stop:' in an experiment file beside the model");
        return;
    }
    if (!experiment_check(e, diag))
        return;
    const double span = e->stop - (e->has[EXPERIMENT_START] ? e->start : 0);
    if (!(span - span == 0)) {
        diag_error(diag, DIAG_EXPERIMENT_VALUE, e->spans[EXPERIMENT_STOP],
                   "from the start to the stop time is further than numbers reach");
    } else if (e->has[EXPERIMENT_INTERVAL] && span / e->interval > MOST_POINTS) {
        diag_error(diag, DIAG_TOO_MANY_POINTS, e->spans[EXPERIMENT_INTERVAL],
                   "the interval would give %.3g points; at most %g are possible", span / e->interval, MOST_POINTS);
        diag_help(diag, "choose a larger interval or an earlier stop");
    }
}

/* Without a start time the run goes on at the time of the earlier result. */
static void read_start(RunSettings *settings, Compilation *c)
{
    Experiment *const e = &settings->experiment;
    Diag *const diag = c->diag;
    if (!e->has[EXPERIMENT_START_FROM]) {
        if (e->has[EXPERIMENT_START_FROM_TIME])
            diag_error(diag, DIAG_START_STATE, e->spans[EXPERIMENT_START_FROM_TIME],
                       "'start-from-time' needs 'start-from', the result that it means");
        return;
    }
    if (!start_read(e, c->arena, diag, &settings->start) || e->has[EXPERIMENT_START])
        return;
    e->has[EXPERIMENT_START] = true;
    e->spans[EXPERIMENT_START] = e->spans[EXPERIMENT_START_FROM];
    e->start = settings->start.time;
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
    settings->target.task = settings->experiment.task;
    settings->target.task_span = settings->experiment.spans[EXPERIMENT_TASK];
    settings->target.stop_when = settings->experiment.stop_when;
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
    check_solver(&settings->experiment, c);
    for (uint32_t k = 0; k < settings->experiment.n_phases; k++)
        check_solver(&settings->experiment.phases[k].experiment, c);
    read_start(settings, c);
    stop_with_phases(&settings->experiment);
    stop_with_task(&settings->experiment);
    check_times(&settings->experiment, c);
    return print_errors(command, c, settings_error_status(settings));
}

int settings_error_status(const RunSettings *settings)
{
    return settings->is_from_file ? EXIT_MODEL : EXIT_USAGE;
}

static void add_number(Text *text, const Experiment *e, ExperimentKey key, double value, const char *otherwise)
{
    if (!e->has[key] && !otherwise)
        return;
    text_format(text, "%s%s ", text->n ? ", " : "", experiment_key_name(key));
    if (e->has[key])
        text_real(text, value);
    else
        text_add(text, otherwise);
}

static void say_controls(const Controls *controls, Arena *arena)
{
    Text text = { .arena = arena };
    for (int k = 0; k < CONTROL_PARAMETERS; k++) {
        const Control *const control = &controls->at[k];
        if (!control->is_given)
            continue;
        text_format(&text, "%s%s ", text.n ? ", " : "", control_name((ControlParameter)k));
        text_real(&text, control->value);
    }
    if (text.n)
        fprintf(stderr, "  %s\n", text.at);
}

void settings_say(const RunSettings *settings, const Controls *controls, Arena *arena)
{
    const Experiment *const e = &settings->experiment;
    Text text = { .arena = arena };
    add_number(&text, e, EXPERIMENT_START, e->start, "0");
    add_number(&text, e, EXPERIMENT_STOP, e->stop, "");
    add_number(&text, e, EXPERIMENT_INTERVAL, e->interval, "(stop - start)/500");
    add_number(&text, e, EXPERIMENT_TOLERANCE, e->tolerance, "1e-06");
    add_number(&text, e, EXPERIMENT_ABSOLUTE_TOLERANCE, e->absolute_tolerance, NULL);
    add_number(&text, e, EXPERIMENT_STEP, e->step, NULL);
    add_number(&text, e, EXPERIMENT_MAX_STEP, e->max_step, NULL);
    const Control *const method = &controls->at[CONTROL_INTMETH];
    text_format(&text, ", solver %s, tier %s",
                e->solver          ? e->solver
                : method->is_given ? "by IntMeth"
                                   : "auto",
                e->tier ? e->tier : "auto");
    if (e->has[EXPERIMENT_USE])
        text_format(&text, ", versions %s", e->use);
    if (e->has[EXPERIMENT_STOP_WHEN])
        text_format(&text, ", stop when %s", e->stop_when);
    if (e->has[EXPERIMENT_TASK])
        text_format(&text, ", task %s", e->task);
    if (e->has[EXPERIMENT_PROFILE])
        text_format(&text, ", profile %s", e->profile);
    if (e->has[EXPERIMENT_SEED])
        text_format(&text, ", seed %llu", (unsigned long long)e->seed);
    fprintf(stderr, "%s%s%s\n  %s\n", text_shown(settings->target.path, arena),
            settings->experiment_path ? " with " : "",
            settings->experiment_path ? text_shown(settings->experiment_path, arena) : "", text_shown(text.at, arena));
    say_controls(controls, arena);
    for (uint32_t k = 0; k < e->n_nominals; k++)
        fprintf(stderr, "  nominal of %s: %s%s\n", e->nominals[k].name, e->nominals[k].value,
                e->nominals[k].span.source == SOURCE_NONE ? "" : " (experiment)");
    for (uint32_t k = 0; k < e->n_settings; k++)
        fprintf(stderr, "  %s = %s%s\n", text_shown(e->settings[k].name, arena),
                text_shown(e->settings[k].value, arena),
                e->settings[k].span.source == SOURCE_NONE ? "" : " (experiment)");
}
