/* koine view: results and the model behind them in the browser. */
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "study/named.h"
#include "driver/words.h"
#include "experiment/noted.h"
#include "web/browser.h"
#include "web/result.h"
#include "web/view.h"
#include <errno.h>
#include <unistd.h>

enum { PORT_FIRST = 8310 };

typedef struct {
    const Command *command;
    ViewOptions options;
    VEC(const char *) results;
} ViewCall;

static int read_port(ViewCall *call)
{
    long port = PORT_FIRST;
    const int status = command_whole(call->command, "port", "is a number from 0 to 65535", 0, 65535, &port);
    call->options.port = (uint16_t)port;
    call->options.may_move = !command_option(call->command, "port");
    return status;
}

/* An experiment names its model; the model is what can be looked at. */
static int find_model(ViewCall *call, const char *text)
{
    const Command *command = call->command;
    if (call->options.target)
        return usage_error(command, "'%s' is a second model; one is shown with its results", text);
    CompileRequest *request = &call->options.model;
    if (!target_read(command, text, request))
        return EXIT_USAGE;
    if (experiment_is_named(text)) {
        Sources *sources = sources_create(command->arena);
        Diag *diag = diag_create(command->arena, sources);
        Experiment experiment = experiment_none(&compilation_vocabulary);
        const bool is_good = experiment_open(text, sources, command->arena, diag, &experiment);
        print_diagnostics(command, diag);
        if (!is_good)
            return EXIT_MODEL;
        if (!experiment.has[EXPERIMENT_MODEL])
            return usage_error(command, "'%s' names no model", text);
        *request = (CompileRequest){ .profile = experiment.how.profile };
        target_take_options(command, request);
        named_take_model(request, &experiment, command->arena);
        if (!target_find(command, request))
            return EXIT_USAGE;
    }
    call->options.target = text;
    return EXIT_GOOD;
}

/* Without arguments: the newest run of the project whose result is still there. */
static int take_newest(ViewCall *call)
{
    const Command *command = call->command;
    CatalogueRun run;
    if (!noted_newest(catalogue_path(command->arena), &run, command->arena))
        return usage_error(command, "there is no run here yet; name a result or a model: koine view Ball.h5");
    say("run %lld of '%s': %s", (long long)run.id, run.model, run.result);
    vec_push(command->arena, &call->results, run.result);
    return EXIT_GOOD;
}

static int read_arguments(ViewCall *call)
{
    const Command *command = call->command;
    if (command->n_arguments == 0) {
        const int status = take_newest(call);
        if (status != EXIT_GOOD)
            return status;
    }
    for (uint32_t k = 0; k < command->n_arguments; k++) {
        const char *argument = command->arguments[k];
        if (result_is_named(argument)) {
            vec_push(command->arena, &call->results, argument);
        } else {
            const int status = find_model(call, argument);
            if (status != EXIT_GOOD)
                return status;
        }
    }
    call->options.results = call->results.at;
    call->options.n_results = call->results.n;
    return EXIT_GOOD;
}

static int read_layout(ViewCall *call)
{
    const char *path = command_option(call->command, "layout");
    switch (path ? view_read_layout(&call->options, path, call->command->arena) : LAYOUT_GOOD) {
    case LAYOUT_GOOD: return EXIT_GOOD;
    case LAYOUT_UNREADABLE: say("cannot read '%s': %s", path, strerror(errno)); return EXIT_ENVIRONMENT;
    case LAYOUT_OTHER: break;
    }
    say("'%s' is not a layout saved by the viewer", path);
    return EXIT_MODEL;
}

/* Runs that the page starts have the versions that are shown. */
static const char *const *arguments_of_runs(const Command *command)
{
    VEC(const char *) arguments = { 0 };
    for (uint32_t k = 0; k < command->n_given; k++)
        if (strcmp(command->given[k].name, "use") == 0)
            vec_push(command->arena, &arguments, arena_format(command->arena, "--use=%s", command->given[k].value));
    vec_push(command->arena, &arguments, NULL);
    return arguments.at;
}

static int serve(ViewCall *call)
{
    const Command *command = call->command;
    call->options.version = KOINE_VERSION;
    call->options.out_of_memory = out_of_memory;
    call->options.is_walled = true;
    call->options.run_arguments = arguments_of_runs(command);
    volatile const int *stop = interrupt_watch();
    const char *error;
    View *view = view_create(&call->options, command->arena, &error);
    if (!view) {
        say("%s", error);
        return EXIT_ENVIRONMENT;
    }
    uint32_t n_bad = 0;
    for (uint32_t k = 0; k < call->results.n; k++) {
        const char *why = view_result_error(view, k);
        n_bad += why != NULL;
        if (why)
            say("'%s': %s", call->results.at[k], why);
    }
    int status = EXIT_MODEL;
    if (n_bad == 0 || n_bad < call->results.n || call->options.target) {
        printf("%s\n", view_address(view));
        fflush(stdout);
        say("the page is at this address until Ctrl-C");
        const char *forwarder = NULL;
        if (!command_option(command, "no-open") && browser_has_display())
            forwarder = browser_forwarder(view_address(view), command->arena);
        if (forwarder)
            browser_open(forwarder);
        view_begin(view, forwarder);
        view_serve(view, stop);
        status = EXIT_GOOD;
    }
    if (!view_end(view))
        _exit(close_stdout(status));
    view_destroy(view);
    return status;
}

static int run_view(const Command *command)
{
    ViewCall call = { .command = command };
    int status = read_port(&call);
    if (status == EXIT_GOOD)
        status = read_arguments(&call);
    if (status == EXIT_GOOD)
        status = read_layout(&call);
    return status == EXIT_GOOD ? serve(&call) : status;
}

static const Option options[] = {
    { .name = "port", .value = "NUMBER", .help = "where to listen; default the first free one from 8310; 0: any" },
    { .name = "layout", .value = "FILE", .help = "panes and curves as the page saved them" },
    { .name = "no-open", .help = "only print the address; so it is where there is no display" },
    TARGET_USE,
    { 0 },
};

static const Example examples[] = {
    { "koine view", "the newest run of the project." },
    { "koine view Ball.h5", "curves of a result." },
    { "koine view Ball.mdl", "the model: its structure, its parameters, runs of it." },
    { "koine view Ball.mdl before.csv after.csv", "two results, and the equations behind them." },
    { "koine view Ball.csv --no-open --port 9000", "prints the address only, e.g. for a tunnel." },
    { 0 },
};

const Verb verb_view = {
    .name = "view",
    .arguments = "[RESULT...] [FILE[:CLASS]|NAME.exp.yaml]",
    .summary = "look at results and models in the browser",
    .text = "Opens a page in the browser, or prints its address: curves of results, several of them over each other, "
            "the structure of the model and the equation behind a variable, and runs with other parameters. The page "
            "is served by this program to this machine only; the address contains a secret that changes each time. "
            "Ctrl-C ends it; a run that is under way keeps its results.\n\n"
            "Without arguments the newest run of the catalogue is shown (see 'koine help runs'). Results are files "
            "that end in {endings}; anything else is a model.",
    .most = 64,
    .options = options,
    .examples = examples,
    .run = run_view,
};
