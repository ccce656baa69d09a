/* koine report: what is known of runs and their curves in one file. */
#include "base/vec.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "explain/structure.h"
#include "web/report.h"

typedef struct {
    const Command *command;
    ReportOptions options;
    VEC(ReportRun) runs;
    VEC(const char *) panes;
    Compilation *compilation;
    Text diagram;
} ReportCall;

/* The model as it is now; one with mistakes is in the report with them. */
static int load_model(ReportCall *call, const char *text)
{
    enum { BOXES_MOST = 200 };
    const Command *command = call->command;
    if (call->compilation)
        return usage_error(command, "'%s' is a second model; a report has one", text);
    CompileRequest request;
    if (!target_read(command, text, &request))
        return EXIT_USAGE;
    call->compilation = compilation_create(out_of_memory);
    uint32_t n;
    if (compilation_load(call->compilation, &request)) {
        if (structure_svg(call->compilation->model, 1, BOXES_MOST, call->compilation->arena, &n, &call->diagram))
            call->options.diagram = &call->diagram;
        compilation_schedule(call->compilation);
    }
    call->options.compilation = call->compilation;
    call->options.model = request.path;
    return EXIT_GOOD;
}

static int open_result(ReportCall *call, const char *path)
{
    const char *error = "";
    bool is_unreadable = false;
    const Result *result = result_try(path, call->command->arena, &error, &is_unreadable);
    if (!result) {
        say("%s", error);
        return is_unreadable ? EXIT_ENVIRONMENT : EXIT_MODEL;
    }
    vec_push(call->command->arena, &call->runs, ((ReportRun){ path, result }));
    return EXIT_GOOD;
}

static int read_arguments(ReportCall *call)
{
    const Command *command = call->command;
    for (uint32_t k = 0; k < command->n_arguments; k++) {
        const char *argument = command->arguments[k];
        const int status = result_is_named(argument) ? open_result(call, argument) : load_model(call, argument);
        if (status != EXIT_GOOD)
            return status;
    }
    if (call->runs.n == 0)
        return usage_error(command, "a report is about a result: koine report Ball.h5");
    for (uint32_t k = 0; k < command->n_given; k++)
        if (strcmp(command->given[k].name, "variables") == 0)
            vec_push(command->arena, &call->panes, command->given[k].value);
    return EXIT_GOOD;
}

static int write_report(const Command *command, const Text *html)
{
    const char *given = command_option(command, "output"), *path = given ? given : "report.html";
    const int status = write_text(path, html);
    if (status == EXIT_GOOD && strcmp(path, "-") != 0)
        fprintf(stderr, "report: %s\n", path);
    return status;
}

static int make_report(ReportCall *call)
{
    const Command *command = call->command;
    const char *title = command_option(command, "title");
    call->options.version = KOINE_VERSION;
    call->options.title = title ? title : call->runs.at[0].path;
    call->options.runs = call->runs.at;
    call->options.n_runs = call->runs.n;
    call->options.panes = call->panes.at;
    call->options.n_panes = call->panes.n;
    Text html = { .arena = command->arena };
    const char *error = "";
    if (report_html(&call->options, &html, &error))
        return write_report(command, &html);
    return usage_error(command, "%s", error);
}

static int run_report(const Command *command)
{
    ReportCall call = { .command = command };
    int status = read_arguments(&call);
    if (status == EXIT_GOOD)
        status = make_report(&call);
    for (uint32_t k = 0; k < call.runs.n; k++)
        result_close((Result *)call.runs.at[k].result);
    compilation_destroy(call.compilation);
    return status;
}

static const Option options[] = {
    { .name = "output", .value = "FILE.html", .help = "where to; default report.html; - for the standard output" },
    { .name = "variables",
      .value = "GLOB,...",
      .repeats = true,
      .help = "what is drawn; each occurrence is a picture of its own; default a few that change" },
    { .name = "title", .value = "TEXT", .help = "of the report; default the first result" },
    TARGET_USE,
    { 0 },
};

static const Example examples[] = {
    { "koine report Ball.h5", "writes report.html." },
    { "koine report before.h5 after.h5 --variables Y,Y_Treppe --variables Vy", "two runs, two pictures." },
    { "koine report Ball.h5 Ball.mdl --output ball.html", "with the text and the diagram of the model." },
    { 0 },
};

const Verb verb_report = {
    .name = "report",
    .arguments = "RESULT... [FILE[:CLASS]]",
    .summary = "put results, parameters and curves into one HTML file",
    .text = "Writes a file that needs no other and no network: curves that can be zoomed, parameters, settings and "
            "statistics of the runs, and the model where it is given. Results are files that end in {endings}; "
            "those in .h5 know their parameters, settings and statistics.",
    .least = 1,
    .most = 64,
    .options = options,
    .examples = examples,
    .run = run_report,
};
