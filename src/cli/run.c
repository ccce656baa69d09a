/* koine run: simulates a model. Settings are gathered, the model is compiled, the run is made (experiment/run.h), and
 * what happened is said. */
#include "cli/outside.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "experiment/catalogue.h"
#include "experiment/failure.h"
#include "experiment/hot.h"
#include "experiment/run.h"
#include "experiment/show.h"
#include "experiment/summary.h"
#include "driver/stop.h"
#include "driver/words.h"
#include "formats/result_file.h"
#include <unistd.h>

typedef struct {
    const Command *command;
    Compilation *c;
    Arena *arena; /* of the compilation */
    Diag *diag;
    RunSettings settings;
    RunRequest request;
    bool is_quiet;
    FILE *model_output; /* what the model prints */
    Progress progress;
    Show *show; /* NULL: no plot */
    FILE *show_to;
    int status;
} Run;

static bool is_stdout(const char *output)
{
    return strcmp(output, "-") == 0;
}

/* ---- The plot at the end ---------------------------------------------------------------------------------------- */

static KoineSink *choose_plot(Run *run)
{
    const Experiment *e = &run->settings.experiment;
    const bool is_asked = command_option(run->command, "plot");
    const bool has_terminal = terminal_is(stdout) || terminal_is(stderr);
    if (command_option(run->command, "no-plot") ||
        !(is_asked || (e->results.n_panes && has_terminal && !run->is_quiet)))
        return NULL;
    run->show = show_create(e->results.panes, e->results.n_panes, run->arena);
    run->show_to = is_stdout(run->request.about.output) || (!is_asked && !terminal_is(stdout)) ? stderr : stdout;
    KoineSink *sink = show_sink(run->show);
    sink->skips_events = e->results.event_rows && strcmp(e->results.event_rows, "off") == 0;
    return sink;
}

static void draw_plot(const Run *run)
{
    uint32_t n = 0;
    const PlotPane *panes = run->show ? show_panes(run->show, &n) : NULL;
    const bool colour = run->show_to == stdout ? run->command->colour_out : run->command->colour_err;
    if (panes)
        draw_panes(panes, n, NULL, run->show_to, colour, run->arena);
}

/* ---- What is said while it runs --------------------------------------------------------------------------------- */

static void on_message(void *context, int level, const char *text)
{
    Run *run = context;
    fputs(progress_removed(&run->progress), stderr);
    if (level == KOINE_MESSAGE_OUTPUT)
        fputs(text, run->model_output);
    else
        print_message(level, text);
}

static void on_notice(void *context, const char *text)
{
    const Run *run = context;
    if (!run->is_quiet)
        say("%s", text);
}

static void on_progress(void *context, double time)
{
    Run *run = context;
    fputs(progress_at(&run->progress, time), stderr);
}

/* ---- What is said at the end ------------------------------------------------------------------------------------ */

static void say_how_it_ended(const Run *run, const RunRecord *record, const KoineTables *tables)
{
    const KoineRunReport *report = &record->run;
    switch (report->end) {
    case KOINE_RUN_DONE: break;
    case KOINE_RUN_TERMINATED:
        if (run->is_quiet)
            break;
        if (stop_is_place(tables, &report->fault.place))
            say("the run ended at time %g, where %s (stop-when)", report->time, run->settings.experiment.how.stop_when);
        else
            say("the model ended the run at time %g", report->time);
        break;
    case KOINE_RUN_INTERRUPTED:
        say("interrupted at time %g of %g", report->time, record->stop);
        if (!is_stdout(record->output))
            fprintf(stderr, "  help: go on with --start-from %s and another --output\n", record->output);
        break;
    case KOINE_RUN_FAILED:
        failure_tell(run->diag, run->c->sources, tables, report, record->file);
        print_diagnostics(run->command, run->diag);
        break;
    case KOINE_RUN_SINK:
    case KOINE_RUN_OPTIONS: say("%s", report->text); break;
    }
}

static int status_of(const KoineRunReport *report)
{
    if (report->end == KOINE_RUN_FAILED && report->fault.cause == KOINE_CAUSE_MEMORY)
        return EXIT_ENVIRONMENT;
    switch (report->end) {
    case KOINE_RUN_DONE:
    case KOINE_RUN_TERMINATED: return EXIT_GOOD;
    case KOINE_RUN_INTERRUPTED: return EXIT_INTERRUPTED;
    case KOINE_RUN_FAILED: return EXIT_RUN;
    case KOINE_RUN_SINK: return EXIT_ENVIRONMENT;
    case KOINE_RUN_OPTIONS: return EXIT_USAGE;
    }
    return EXIT_RUN;
}

static int write_statistics(const Run *run, const RunRecord *record, Arena *arena)
{
    const char *path = command_option(run->command, "stats");
    if (!path)
        return EXIT_GOOD;
    Text text = { .arena = arena };
    (text_ends_with(path, ".txt") ? statistics_table : statistics_json)(record, &text);
    return write_text(path, &text);
}

static int write_hot(const Run *run, const KoineModel *model)
{
    enum { MOST_SHOWN = 20 };
    const char *path = command_option(run->command, "hot");
    if (!path)
        return EXIT_GOOD;
    Text text = { .arena = run->arena };
    const Hot hot = hot_collect(model, run->c->sources, run->arena);
    if (text_ends_with(path, ".json"))
        hot_json(&hot, &text);
    else
        hot_table(&hot, strcmp(path, "-") == 0 ? MOST_SHOWN : UINT32_MAX, &text);
    return write_text(path, &text);
}

/* `model`: NULL if it is still at work. */
static int report_run(const Run *run, const RunRecord *record, const KoineModel *model, Arena *arena)
{
    const KoineRunEnd end = record->run.end;
    say_how_it_ended(run, record, model ? model->kind->tables : NULL);
    if (end == KOINE_RUN_OPTIONS)
        return EXIT_USAGE;
    Text text = { .arena = arena }, files = { .arena = arena };
    if (!run->is_quiet && model) {
        statistics_text(record, &text);
        fputs(text.at, stderr);
    } else if (!run->is_quiet) {
        fprintf(stderr, "%s: %llu points; %s\n", text_shown(record->model, arena),
                (unsigned long long)record->run.statistics.events.points, record->tier_note);
    }
    draw_plot(run);
    if (!run->is_quiet && end != KOINE_RUN_SINK) {
        const bool is_whole = end == KOINE_RUN_DONE || end == KOINE_RUN_TERMINATED;
        files_summary(record, &run->settings.experiment, is_whole ? "results" : "results so far", &files);
        fputs(files.at, stderr);
    }
    const int statistics = write_statistics(run, record, arena), hot = model ? write_hot(run, model) : EXIT_GOOD;
    const int status = status_of(&record->run);
    return status != EXIT_GOOD ? status : statistics != EXIT_GOOD ? statistics : hot;
}

/* ---- The run ---------------------------------------------------------------------------------------------------- */

static KoineSink *on_ready(void *context, const ExperimentRun *made)
{
    Run *run = context;
    const RunRecord *record = run_record(made);
    print_diagnostics(run->command, run->diag);
    KoineSink *plot = choose_plot(run);
    if (!run->is_quiet)
        settings_say(&run->settings, run_controls(made), run->arena);
    run->progress = progress_begin(record->start, record->stop,
                                   terminal_progress(command_option(run->command, "progress") ? PROGRESS_LINES
                                                     : run->is_quiet                          ? PROGRESS_NONE
                                                                                              : PROGRESS_BAR));
    return plot;
}

static void on_computed(void *context, ExperimentRun *made)
{
    Run *run = context;
    run_say_tier(made, compilation_tier_note(run->c));
    fputs(progress_removed(&run->progress), stderr);
}

static void on_ended(void *context, const ExperimentRun *made, KoineModel *model)
{
    Run *run = context;
    run->status = report_run(run, run_record(made), model, run->arena);
}

/* The model is still at work in another thread. */
static void on_left(void *context, const RunRecord *record, Arena *arena)
{
    Run *run = context;
    fputs(progress_removed(&run->progress), stderr);
    _exit(close_stdout(report_run(run, record, NULL, arena)));
}

static int make_run(Run *run)
{
    const RunCaller caller = { .context = run,
                               .interrupt = interrupt_watch(),
                               .ready = on_ready,
                               .computed = on_computed,
                               .ended = on_ended,
                               .message = on_message,
                               .notice = on_notice,
                               .progress = on_progress,
                               .tell = interrupt_tell,
                               .left = on_left };
    compilation_interrupt(run->c, caller.interrupt);
    const RunMade made = experiment_run(&run->request, &caller, run->arena, run->diag);
    print_diagnostics(run->command, run->diag);
    switch (made) {
    case RUN_MADE: return run->status;
    case RUN_REFUSED: return error_status(run->diag, settings_error_status(&run->settings));
    case RUN_NO_MEMORY: break;
    }
    say("there is not enough memory for an instance of '%s'", run->request.about.model);
    return EXIT_ENVIRONMENT;
}

/* Tags of --tag, separated by commas. False: one cannot be a tag; said. */
static bool read_tags(const Command *command, const char **tags)
{
    Text list = { .arena = command->arena };
    for (uint32_t k = 0; k < command->n_given; k++) {
        if (strcmp(command->given[k].name, "tag") != 0)
            continue;
        if (!catalogue_is_tag(command->given[k].value)) {
            usage_error(command, "a tag has neither blanks nor commas, and is not empty: '%s'",
                        command->given[k].value);
            return false;
        }
        text_format(&list, "%s%s", list.n ? "," : "", command->given[k].value);
    }
    *tags = list.n ? list.at : "";
    return true;
}

/* What is asked for beside the experiment; the model and the tier come later. */
static bool begin_request(Run *run)
{
    const Command *command = run->command;
    RunRequest *request = &run->request;
    *request = (RunRequest){ .experiment = &run->settings.experiment,
                             .start = &run->settings.start,
                             .live = command_option(command, "live"),
                             .may_write_anywhere = command_option(command, "write-anywhere"),
                             .wants_work = command_option(command, "hot"),
                             .stops_at_chattering = command_option(command, "stop-at-chattering") };
    const bool is_good = read_tags(command, &request->tags);
    if (command_option(command, "no-catalogue"))
        request->tags = NULL;
    return is_good;
}

static int compile_and_run(Run *run)
{
    const double begun = run_clock();
    RunRecord *about = &run->request.about;
    run->settings.request.allows_modes = true;
    const int compiled = settings_compile(run->command, run->c, &run->settings, &run->request);
    if (compiled != EXIT_GOOD)
        return compiled;
    about->compile_seconds = run_clock() - begun;
    about->experiment = run->settings.experiment_path;
    if (!run_choose_output(&run->request, run->arena))
        return usage_error(run->command,
                           "the form of the results follows from the ending of the file, %s; '%s' has none",
                           words_listed(result_ending, " or ", run->arena), about->output);
    run->model_output = is_stdout(about->output) ? stderr : stdout;
    outside_begin(compilation_external_symbols(run->c));
    const int status = make_run(run);
    outside_end();
    return status;
}

static int run_run(const Command *command)
{
    Run run = { .command = command, .is_quiet = command_option(command, "quiet") };
    if (command_option(command, "stop-with-input") && !interrupt_with_input())
        return say("--stop-with-input: no thread could be started that watches the standard input"), EXIT_ENVIRONMENT;
    run.c = compilation_create(out_of_memory);
    run.arena = run.c->arena;
    run.diag = run.c->diag;
    int status = begin_request(&run) ? settings_gather(command, run.c, &run.settings) : EXIT_USAGE;
    if (status == EXIT_GOOD)
        status = compile_and_run(&run);
    series_done(run.settings.start.series);
    compilation_destroy(run.c);
    return status;
}

static const Option options[] = {
    { .name = "start", .value = "TIME", .help = "begin of the simulated time; default 0" },
    { .name = "stop", .value = "TIME", .help = "end of the simulated time" },
    { .name = "stop-when",
      .value = "CONDITION",
      .help = "end the run where this becomes true, such as 'h < 0.1 and time > 5'" },
    { .name = "interval", .value = "TIME", .help = "distance of recorded points; default a 500th of the run" },
    { .name = "tolerance", .value = "NUMBER", .help = "relative error allowed, from 1e-14 to 1; default 1e-6" },
    { .name = "absolute-tolerance",
      .value = "NUMBER",
      .help = "absolute error allowed for states without nominal value; default learnt from their size" },
    { .name = "nominal",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "usual size of a state: its error is relative down to there; may be repeated" },
    { .name = "solver",
      .value = "NAME",
      .word = koine_solver_name,
      .help = "integration method, see 'koine help solvers'; default auto" },
    { .name = "step",
      .value = "TIME",
      .help = "step of fixed-step solvers, first step of simplex-...; default the interval" },
    { .name = "max-step", .value = "TIME", .help = "largest step of the other solvers" },
    { .name = "event-rows", .value = "on|off", .help = "off: no rows at events between the points of the output grid" },
    { .name = "tier",
      .value = "NAME",
      .word = compilation_tier_word,
      .help = "how the model is executed: {tiers}; default auto, which moves on while the run does" },
    { .name = "set",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "a parameter, start value, guess or control parameter; x[2]=3 or x={1, 3} for arrays; nominal(x)=1e-9 "
              "is a nominal value; may be repeated" },
    { .name = "control",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "a control parameter, also where the model has a quantity of that name; may be repeated" },
    { .name = "profile", .value = "NAME", .listed = profile_word, .help = "follow the rules of an original system" },
    { .name = "start-from", .value = "FILE", .help = "start values from the end of an earlier result, {endings}" },
    { .name = "start-from-time", .value = "TIME", .help = "take them from what that result holds at a time" },
    { .name = "inputs", .value = "FILE", .help = "signals for open inputs, a {endings} with a column for each" },
    { .name = "seed", .value = "NUMBER", .help = "of random numbers; default 0" },
    { .name = "variables", .value = "GLOB,...", .help = "what is recorded; default everything visible that changes" },
    { .name = "output", .value = "FILE", .help = "{formats}, or - for CSV on the standard output" },
    { .name = "protocol",
      .value = "FILE",
      .help = "write what happened; more by --set PrtDepth=2, less by TPrtBeg, TPrtEnd" },
    { .name = "write-anywhere",
      .help = "files that the experiment names may lie outside of the current folder and replace any file" },
    { .name = "stats",
      .value = "FILE",
      .help = "write statistics: FILE.txt as a table, else as JSON; - for the standard output" },
    { .name = "hot",
      .value = "FILE",
      .help = "write where the work was done, by line and component: FILE.json, else as a table; - for the most "
              "expensive on the standard output. Executions are exact; work = executions x operations of the "
              "expression, an estimate" },
    { .name = "live",
      .value = "FILE.live",
      .help = "keep a preview of the run in a file of fixed size, for 'koine view' while it goes on" },
    { .name = "stop-with-input",
      .help = "end the run in order when the standard input ends: for programs that start it and may die" },
    { .name = "tag", .value = "WORD", .repeats = true, .help = "note the run under this word, see 'koine help runs'" },
    { .name = "no-catalogue", .help = "do not note the run in .koine/runs.sqlite" },
    { .name = "stop-at-chattering",
      .help = "end the run when a comparison switches to and fro without end; without it there is a warning" },
    { .name = "progress", .help = "say on the standard error how far the time is, a line for each tenth of the run" },
    { .name = "plot", .help = "draw the result in the terminal, also where there is none" },
    { .name = "no-plot", .help = "draw nothing" },
    TARGET_TASK,
    TARGET_ANALYSIS,
    TARGET_USE,
    TARGET_SYSTEMS,
    TARGET_EXTERNAL,
    { .name = "quiet", .help = "say nothing unless something is wrong" },
    { 0 },
};

static const Example examples[] = {
    { "koine run Ball.mdl --stop 6", "simulates six seconds, writes Ball.csv." },
    { "koine run Ball.mdl --set D=1 --set Y=2 --output soft.mat", "with other values, into a MATLAB file." },
    { "koine run Ball.exp.yaml --plot", "runs an experiment and draws the result." },
    { "koine run Ball.mdl --stop 6 --output - --variables Y,Vy | head", "results as a stream." },
    { 0 },
};

const Verb verb_run = {
    .name = "run",
    .arguments = "FILE[:CLASS]|NAME.exp.yaml",
    .summary = "simulate a model",
    .text = "Compiles the model, simulates it and writes the results. Settings come from the experiment file that "
            "stands beside the model (Ball.exp.yaml for Ball.mdl) and from the command line, which wins; what was "
            "used is said. Without --output the results are written to CLASS.csv in the current folder, "
            "with an experiment NAME.exp.yaml to NAME.csv.\n\n"
            "Ctrl-C or Ctrl-\\ ends a run in order and keeps its results, the last point being the state it was in: "
            "--start-from goes on from there. A second one ends the program at once.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_run,
};
