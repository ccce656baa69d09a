/* koine run: simulates a model. Settings are gathered, the model is compiled, values are set, the run goes to its
 * sinks, and what happened is said. */
#include "base/vec.h"
#include "experiment/failure.h"
#include "experiment/hot.h"
#include "cli/leave.h"
#include "cli/note.h"
#include "experiment/observe.h"
#include "experiment/phases.h"
#include "experiment/provenance.h"
#include "formats/result_file.h"
#include "experiment/set.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "experiment/statistics.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "experiment/control.h"
#include "experiment/drive.h"
#include "formats/csv.h"
#include "formats/live.h"
#include "formats/mat.h"
#include "formats/protocol.h"
#include "formats/select.h"
#include "formats/writing.h"
#include <errno.h>
#include <math.h>
#include <time.h>

typedef struct {
    const Command *command;
    Compilation *c;
    Arena *arena; /* of the compilation */
    Diag *diag;
    RunSettings settings;
    Controls controls;
    const char *protocol_path;
    Protocol *protocol; /* NULL: none is asked for */
    Drive *drive;       /* signals for the inputs; NULL: none */
    KoineHost host;
    Phases phases;
    double *nominals, *scales; /* of the states: see KoineRunOptions */
    const char *output;
    ResultForm form;
    bool is_quiet;
    FILE *model_output; /* what the model prints */
    Progress progress;
    Show *show; /* NULL: no plot */
    FILE *show_to;
    Leave *leave; /* what the results are held by */
    RunRecord record;
} Run;

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_diagnostics(const Run *run)
{
    diag_print(run->diag, stderr, (DiagStyle){ .colour = run->command->colour_err });
}

/* ---- Where the results go --------------------------------------------------------------------------------------- */

static bool skips_events(const Run *run)
{
    const char *const rows = run->settings.experiment.event_rows;
    return rows && strcmp(rows, "off") == 0;
}

/* "slow" for runs/slow.exp.yaml. */
static const char *experiment_name(const char *path, Arena *arena)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const char *const end = text_ends_with(name, ".exp.yaml") ? name + strlen(name) - strlen(".exp.yaml") : NULL;
    return end && end > name ? arena_text(arena, name, (size_t)(end - name)) : NULL;
}

/* Names of the tables of observers begin with that of the result, unless that is the name of the class. */
static void name_observers(Run *run)
{
    Experiment *const e = &run->settings.experiment;
    const char *const slash = strrchr(run->output, '/'), *const name = slash ? slash + 1 : run->output;
    const char *const dot = strrchr(name, '.');
    const char *const stem = arena_text(run->arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
    if (strcmp(stem, run->record.model) == 0 || strcmp(run->output, "-") == 0 || e->n_observers == 0)
        return;
    ExperimentObserver *const own = NEW_ARRAY(run->arena, ExperimentObserver, e->n_observers);
    memcpy(own, e->observers, e->n_observers * sizeof *own);
    for (uint32_t k = 0; k < e->n_observers; k++)
        if (!own[k].output)
            own[k].output = arena_format(run->arena, "%s.%s.csv", stem, own[k].name);
    e->observers = own;
}

static int choose_output(Run *run)
{
    const Experiment *const e = &run->settings.experiment;
    if (!e->has[EXPERIMENT_OUTPUT]) {
        const char *const path = run->settings.experiment_path;
        const char *const base = path ? experiment_name(path, run->arena) : NULL;
        run->output = arena_format(run->arena, "%s.csv", writing_name(base ? base : run->record.model, run->arena));
        return EXIT_GOOD;
    }
    run->output = e->output;
    if (result_file_form(run->output, &run->form))
        return EXIT_GOOD;
    return usage_error(run->command,
                       "the form of the results follows from the ending of the file, .csv, .mat or .h5; '%s' has none",
                       run->output);
}

/* The setting does not stand on the command line: a model or an experiment decides where the file lies. */
static bool is_confined(const Run *run, ExperimentKey key)
{
    const Experiment *const e = &run->settings.experiment;
    return !command_option(run->command, "write-anywhere") && (!e->has[key] || e->spans[key].source != SOURCE_NONE);
}

static bool output_is_stdout(const Run *run)
{
    return strcmp(run->output, "-") == 0;
}

/* The names of --variables, checked before a file is touched. */
static bool select_variables(Run *run, const KoineTables *tables, const char *const **globs)
{
    const ExperimentGlobs *const wanted = &run->settings.experiment.variables;
    const char **const all = NEW_ARRAY(run->arena, const char *, wanted->n + 1);
    for (uint32_t k = 0; k < wanted->n; k++)
        all[k] = wanted->at[k].glob;
    *globs = wanted->n ? all : NULL;
    Selection selection;
    SelectionMiss miss;
    const unsigned flags = run->form == RESULT_CSV ? 0 : SELECT_PARAMETERS;
    if (!wanted->n || select_columns(tables, all, wanted->n, flags, run->arena, &selection, &miss))
        return true;
    char text[256];
    selection_miss_text(&miss, all, text, sizeof text);
    diag_error(run->diag, DIAG_SET_UNKNOWN, wanted->at[miss.glob].span, "%s", text);
    return false;
}

static KoineSink *create_sink(const Run *run, const char *const *globs)
{
    Text begin = { .arena = run->arena };
    if (run->form == RESULT_STORE)
        provenance_json(&run->record, &run->settings.experiment, compilation_sources(run->c), &begin);
    const ResultOptions options = { .form = run->form,
                                    .path = run->output,
                                    .is_confined = is_confined(run, EXPERIMENT_OUTPUT),
                                    .globs = globs,
                                    .n_globs = globs ? run->settings.experiment.variables.n : 0,
                                    .has_phases = run->phases.n > 1,
                                    .begin = begin.at };
    return result_file_sink(&options, run->arena);
}

/* The statistics go into a native result too, and what the model remembers, if it can be asked; what could not be written
 * is a failure of the run. */
static void close_sink(Run *run, KoineModel *model, KoineSink *sink)
{
    Text end = { .arena = run->arena };
    if (run->form == RESULT_STORE) {
        statistics_json(&run->record, &end);
        if (model)
            start_note_memory(model, run->record.run.time, &end);
    }
    KoineRunReport *const report = &run->record.run;
    if (result_file_finish(run->form, sink, end.at) || report->end == KOINE_RUN_SINK)
        return;
    report->end = KOINE_RUN_SINK;
    snprintf(report->text, sizeof report->text, "%s", sink->error);
}

/* It has the last word of the run, and a disk may refuse that too. */
static void close_protocol(Run *run)
{
    KoineRunReport *const report = &run->record.run;
    if (protocol_close(run->protocol, report) || report->end == KOINE_RUN_SINK)
        return;
    report->end = KOINE_RUN_SINK;
    snprintf(report->text, sizeof report->text, "%s", protocol_sink(run->protocol)->error);
}

/* ---- The plot at the end ---------------------------------------------------------------------------------------- */

static void choose_plot(Run *run)
{
    const Experiment *const e = &run->settings.experiment;
    const bool is_asked = command_option(run->command, "plot");
    const bool has_terminal = terminal_is(stdout) || terminal_is(stderr);
    if (command_option(run->command, "no-plot") || !(is_asked || (e->n_panes && has_terminal && !run->is_quiet)))
        return;
    run->show = show_create(e->panes, e->n_panes, run->arena);
    run->show_to = output_is_stdout(run) || (!is_asked && !terminal_is(stdout)) ? stderr : stdout;
}

static void draw_plot(const Run *run)
{
    if (run->show)
        show_draw(run->show, run->show_to,
                  run->show_to == stdout ? run->command->colour_out : run->command->colour_err);
}

/* ---- What the model says ---------------------------------------------------------------------------------------- */

static void on_message(void *context, const KoineModel *model, int level, const char *text)
{
    Run *const run = context;
    leave_hold(run->leave);
    progress_clear(&run->progress);
    if (run->protocol)
        protocol_message(run->protocol, model, level, text);
    if (level == KOINE_MESSAGE_OUTPUT)
        fputs(text, run->model_output);
    else
        fprintf(stderr, "%s: %s%s", level == KOINE_MESSAGE_WARNING ? "warning" : "error", text,
                text_ends_with(text, "\n") ? "" : "\n");
    leave_release(run->leave);
}

static void on_fired(void *context, const KoineModel *model, const KoineFiring *firing)
{
    const Run *const run = context;
    leave_hold(run->leave);
    protocol_fired(run->protocol, model, firing);
    leave_release(run->leave);
}

static void on_stepped(void *context, const KoineModel *model, const KoineIntegrationStep *step)
{
    const Run *const run = context;
    leave_hold(run->leave);
    protocol_step(run->protocol, model, step);
    leave_release(run->leave);
}

static void on_progress(void *context, double time)
{
    Run *const run = context;
    leave_hold(run->leave);
    progress_show(&run->progress, time);
    leave_release(run->leave);
}

/* ---- The run ---------------------------------------------------------------------------------------------------- */

static void say_how_it_ended(Run *run, const KoineTables *tables)
{
    const KoineRunReport *const report = &run->record.run;
    switch (report->end) {
    case KOINE_RUN_DONE: break;
    case KOINE_RUN_TERMINATED:
        if (!run->is_quiet)
            say("the model ended the run at time %g%s%s", report->time, report->text[0] ? ": " : "", report->text);
        break;
    case KOINE_RUN_INTERRUPTED:
        say("interrupted at time %g of %g", report->time, run->record.stop);
        if (!output_is_stdout(run))
            fprintf(stderr, "  help: go on with --start-from %s and another --output\n", run->output);
        break;
    case KOINE_RUN_FAILED:
        failure_tell(run->diag, compilation_sources(run->c), tables, report, run->record.file);
        print_diagnostics(run);
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

static int write_text(const char *path, const Text *text)
{
    FILE *const file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    const bool is_written = file && fwrite(text->at, 1, text->n, file) == text->n;
    const int error = errno;
    const bool is_closed = !file || file == stdout || fclose(file) == 0;
    if (is_written && is_closed)
        return EXIT_GOOD;
    say("cannot write '%s': %s", path, strerror(is_written ? errno : error));
    return EXIT_ENVIRONMENT;
}

static int write_statistics(const Run *run)
{
    const char *const path = command_option(run->command, "stats");
    if (!path)
        return EXIT_GOOD;
    Text text = { .arena = run->arena };
    (text_ends_with(path, ".txt") ? statistics_table : statistics_json)(&run->record, &text);
    return write_text(path, &text);
}

static int write_hot(const Run *run, const KoineModel *model)
{
    enum { MOST_SHOWN = 20 };
    const char *const path = command_option(run->command, "hot");
    if (!path)
        return EXIT_GOOD;
    Text text = { .arena = run->arena };
    const Hot hot = hot_collect(model, compilation_sources(run->c), run->arena);
    if (text_ends_with(path, ".json"))
        hot_json(&hot, &text);
    else
        hot_table(&hot, strcmp(path, "-") == 0 ? MOST_SHOWN : UINT32_MAX, &text);
    return write_text(path, &text);
}

static void say_files(const Run *run, const char *what)
{
    if (run->record.run.statistics.points == 0) { /* whatever lies there is of another run */
        fprintf(stderr, "no results\n");
        return;
    }
    if (!output_is_stdout(run))
        fprintf(stderr, "%s: %s\n", what, text_shown(run->output, run->arena));
    const Experiment *const e = &run->settings.experiment;
    if (run->protocol)
        fprintf(stderr, "protocol: %s\n", text_shown(run->protocol_path, run->arena));
    for (uint32_t k = 0; k < e->n_observers; k++)
        fprintf(stderr, "observer %s: %s\n", text_shown(e->observers[k].name, run->arena),
                text_shown(observe_path(&e->observers[k], run->arena), run->arena));
}

/* `model`: NULL if it is still at work. */
static int report_run(Run *run, const KoineModel *model)
{
    const KoineRunEnd end = run->record.run.end;
    say_how_it_ended(run, model ? model->kind->tables : NULL);
    if (end == KOINE_RUN_OPTIONS)
        return EXIT_USAGE;
    if (!run->is_quiet && model) {
        Text text = { .arena = run->arena };
        statistics_text(&run->record, &text);
        fputs(text.at, stderr);
    } else if (!run->is_quiet) {
        fprintf(stderr, "%s: %llu points; %s\n", text_shown(run->record.model, run->arena),
                (unsigned long long)run->record.run.statistics.points, run->record.tier_note);
    }
    draw_plot(run);
    if (!run->is_quiet && end != KOINE_RUN_SINK)
        say_files(run, end == KOINE_RUN_DONE || end == KOINE_RUN_TERMINATED ? "results" : "results so far");
    const int statistics = write_statistics(run), hot = model ? write_hot(run, model) : EXIT_GOOD;
    const int status = status_of(&run->record.run);
    return status != EXIT_GOOD ? status : statistics != EXIT_GOOD ? statistics : hot;
}

/* One phase after the other, until the end or until something ends the run. */
static bool run_phases(Run *run, KoineModel *model, PhaseSinks *sinks, uint32_t n_sinks)
{
    KoineRunReport *const report = &run->record.run;
    for (uint32_t k = 0; k < run->phases.n; k++) {
        const Phase *const phase = &run->phases.at[k];
        KoineRunOptions options = phase->options;
        const KoineRunStatistics before = report->statistics;
        run->host = phase->host;
        leave_hold(run->leave);
        const bool is_set =
            k == 0 || set_values(model, SET_NOW, phase->settings, phase->n_settings, run->arena, run->diag);
        leave_release(run->leave);
        if (!is_set)
            return false;
        options.sinks = phase_sinks_of(sinks, k == 0, k + 1 == run->phases.n, &options);
        options.n_sinks = n_sinks;
        options.nominals = run->nominals;
        options.scales = run->scales;
        options.interrupt = interrupt_watch();
        options.stop_at_chattering = command_option(run->command, "stop-at-chattering") != NULL;
        options.progress = on_progress;
        options.progress_context = run;
        options.recording = leave_recording;
        options.recording_context = run->leave;
        if (run->protocol && protocol_wants_steps(run->protocol)) {
            options.stepped = on_stepped;
            options.stepped_context = run;
        }
        koine_simulate(model, &options, report);
        if (k > 0)
            phases_add(&report->statistics, &before);
        if (report->end != KOINE_RUN_DONE)
            break;
    }
    leave_hold(run->leave);
    phase_sinks_end(sinks, model);
    leave_release(run->leave);
    return true;
}

/* A run that does not notice that it was told to end: what of it others may touch while it computes. */
typedef struct {
    Run run; /* as it was before it began, with an arena of its own */
    KoineSink *const *sinks;
    uint32_t n_sinks;
    Note *note;
    double begun;
} Behind;

/* Called by the thread that watches. What was recorded is kept; the model, and what it remembers, is not asked. */
static int close_behind(void *context)
{
    Behind *const behind = context;
    Run *const run = &behind->run;
    KoineRunReport *const report = &run->record.run;
    *report = (KoineRunReport){ .end = KOINE_RUN_INTERRUPTED, .time = run->leave->time };
    report->statistics.points = run->leave->points;
    if (report->statistics.points == 0)
        report->time = run->record.start;
    snprintf(report->text, sizeof report->text, "interrupted at time %.17g", report->time);
    run->record.run_seconds = wall_clock() - behind->begun;
    run->record.tier_note = "left while it computed, steps and events are not counted";
    progress_clear(&run->progress);
    for (uint32_t k = 0; k < behind->n_sinks; k++) {
        KoineSink *const sink = behind->sinks[k];
        if (!sink->end || sink->end(sink, NULL) >= 0)
            continue;
        report->end = KOINE_RUN_SINK;
        memcpy(report->text, sink->error, sizeof sink->error);
    }
    close_sink(run, NULL, behind->sinks[0]);
    if (run->protocol)
        close_protocol(run);
    const int status = report_run(run, NULL);
    note_end(behind->note, &run->record);
    return close_stdout(status);
}

static int simulate(Run *run, KoineModel *model, const char *const *globs)
{
    VEC(KoineSink *) sinks = { 0 };
    vec_push(run->arena, &sinks, create_sink(run, globs));
    sinks.at[0]->skips_events = skips_events(run);
    for (uint32_t k = 0; k < run->settings.experiment.n_observers; k++)
        vec_push(run->arena, &sinks,
                 observe_sink(&run->settings.experiment, k, is_confined(run, EXPERIMENT_OBSERVERS), run->arena));
    if (run->protocol)
        vec_push(run->arena, &sinks, protocol_sink(run->protocol));
    const char *const live = command_option(run->command, "live");
    if (live)
        vec_push(run->arena, &sinks,
                 live_sink(live, globs, globs ? run->settings.experiment.variables.n : 0, run->arena));
    if (run->show) {
        show_sink(run->show)->skips_events = skips_events(run);
        vec_push(run->arena, &sinks, show_sink(run->show));
    }
    const KoineRunOptions *const first = &run->phases.at[0].options;
    run->record.start = first->start;
    run->record.stop = run->settings.experiment.stop;
    run->progress = progress_begin(run->record.start, run->record.stop,
                                   command_option(run->command, "progress") ? PROGRESS_LINES
                                   : run->is_quiet                          ? PROGRESS_NONE
                                                                            : PROGRESS_BAR);
    Note *const note = note_begin(run->command, &run->record, &run->settings.experiment, compilation_sources(run->c),
                                  run->diag, run->arena);
    compilation_interrupt(run->c, interrupt_watch());
    Leave leave;
    run->leave = &leave;
    Behind *const behind = NEW(run->arena, Behind);
    *behind = (Behind){ .run = *run, .sinks = sinks.at, .n_sinks = sinks.n, .note = note };
    behind->run.arena = arena_create_like(run->arena);
    const double begun = behind->begun = wall_clock();
    leave_begin(&leave, close_behind, behind);
    KoineModel *const driven = run->drive ? drive_model(run->drive, model) : model;
    run_phases(run, driven, phase_sinks(sinks.at, sinks.n, run->arena), sinks.n);
    leave_end(&leave);
    arena_destroy(behind->run.arena);
    model->block = driven->block; /* it may have grown */
    model->size = driven->size;
    run->record.run_seconds = wall_clock() - begun;
    run->record.tier_note = compilation_tier_note(run->c);
    progress_clear(&run->progress);
    close_sink(run, model, sinks.at[0]);
    if (run->protocol)
        close_protocol(run);
    const int status = report_run(run, model);
    note_end(note, &run->record);
    print_diagnostics(run);
    return status;
}

/* From here on the model exists; its destruction is the caller's. */
static int run_model(Run *run, KoineModel *model)
{
    const Experiment *const e = &run->settings.experiment;
    const StartState *const start = &run->settings.start;
    const KoineTables *const tables = model->kind->tables;
    bool is_good = !start->series || start_write(start, e, model, run->arena, run->diag);
    run->nominals = NEW_ARRAY(run->arena, double, tables->n_x + 1);
    run->scales = NEW_ARRAY(run->arena, double, 2 * (size_t)tables->n_x + 1);
    is_good &= set_nominals(tables, e->nominals, e->n_nominals, run->nominals, run->arena, run->diag);
    if (start->series && is_good)
        start_scales(start, tables, run->arena, run->scales);
    for (uint32_t k = 0; k < run->phases.n; k++)
        is_good &= set_values(model, k == 0 ? SET_START : SET_CHECK, run->phases.at[k].settings,
                              run->phases.at[k].n_settings, run->arena, run->diag);
    if (!is_good) {
        print_diagnostics(run);
        return settings_error_status(&run->settings);
    }
    const char *const *globs;
    select_variables(run, model->kind->tables, &globs);
    print_diagnostics(run);
    choose_plot(run);
    if (!run->is_quiet)
        settings_say(&run->settings, &run->controls, run->arena);
    return simulate(run, model, globs);
}

static bool read_inputs(Run *run, const KoineTables *tables)
{
    const Experiment *const e = &run->settings.experiment;
    const Series *const series = series_signals(e->inputs, run->arena, run->diag);
    if (series)
        run->drive = drive_create(series, tables, e->inputs, e->spans[EXPERIMENT_INPUTS], run->arena, run->diag);
    series_done(series);
    return run->drive != NULL;
}

static double control_or(const Run *run, ControlParameter parameter, double otherwise)
{
    const Control *const control = &run->controls.at[parameter];
    return control->is_given && !control->is_profile ? control->value : otherwise;
}

/* Asked for by name or by a depth; the profile's depth of 0 alone asks for nothing. */
static void choose_protocol(Run *run)
{
    const Experiment *const e = &run->settings.experiment;
    const double depth = control_or(run, CONTROL_PRTDEPTH, e->protocol ? 1 : -1);
    if (depth < 0 || (depth == 0 && !e->protocol))
        return;
    const ProtocolOptions options = { .path = e->protocol ? e->protocol
                                                          : arena_format(run->arena, "%s.protocol",
                                                                         writing_name(run->record.model, run->arena)),
                                      .is_confined = is_confined(run, EXPERIMENT_PROTOCOL),
                                      .depth = (int)depth,
                                      .from = control_or(run, CONTROL_TPRTBEG, -INFINITY),
                                      .to = control_or(run, CONTROL_TPRTEND, INFINITY) };
    run->protocol_path = options.path;
    run->protocol = protocol_create(&options, run->arena);
    for (uint32_t k = 0; k < run->phases.n && depth > 0; k++)
        run->phases.at[k].host.fired = on_fired;
}

static bool check_place(Run *run, const char *path, const char *option, bool is_confined, Span span)
{
    const char *const refusal = is_confined ? writing_refusal(path) : NULL;
    if (!refusal)
        return true;
    diag_error(run->diag, refusal == writing_unknown ? DIAG_FILE_UNREADABLE : DIAG_WRITING, span,
               "'%s' is not written: %s", path, refusal);
    diag_help(run->diag, "if you want that, say so: %s, or --write-anywhere", option);
    return false;
}

/* Where files lie that the command line does not name. */
static bool check_places(Run *run)
{
    const Experiment *const e = &run->settings.experiment;
    bool is_good =
        check_place(run, run->output, "--output", is_confined(run, EXPERIMENT_OUTPUT), e->spans[EXPERIMENT_OUTPUT]);
    if (run->protocol)
        is_good &= check_place(run, run->protocol_path, "--protocol", is_confined(run, EXPERIMENT_PROTOCOL),
                               e->spans[EXPERIMENT_PROTOCOL]);
    for (uint32_t k = 0; k < e->n_observers; k++)
        is_good &= check_place(run, observe_path(&e->observers[k], run->arena), "name another file",
                               is_confined(run, EXPERIMENT_OBSERVERS), e->observers[k].span);
    return is_good;
}

/* With a time grid the run ends at one of its points. */
static void tell_rounding(const Run *run)
{
    const Experiment *const e = &run->settings.experiment;
    const double resolution = run->phases.n ? run->phases.at[run->phases.n - 1].options.resolution : 0;
    const double end = resolution > 0 ? resolution * round(e->stop / resolution) : e->stop;
    if (fabs(end - e->stop) > 1e-9 * fabs(e->stop))
        diag_warning(run->diag, DIAG_STOP_ROUNDED, e->spans[EXPERIMENT_STOP],
                     "the stop time %.9g does not lie on the time grid of TScal %.9g: the run ends at %.9g", e->stop,
                     resolution, end);
}

/* What can be wrong with the settings now that the model is known; all of it is reported. */
static bool check_settings(Run *run, const KoineTables *tables)
{
    Experiment *const e = &run->settings.experiment;
    const char *const *globs;
    run->host = (KoineHost){ .context = run,
                             .seed = e->seed,
                             .message = on_message,
                             .wants_work = command_option(run->command, "hot") != NULL };
    bool is_good = phases_prepare(e, &run->host, tables, run->arena, run->diag, &run->controls, &run->phases);
    is_good &= select_variables(run, tables, &globs);
    if (is_good) {
        choose_protocol(run);
        tell_rounding(run);
    }
    if (e->has[EXPERIMENT_INPUTS])
        is_good &= read_inputs(run, tables);
    for (uint32_t k = 0; k < e->n_panes; k++)
        is_good &= observe_names(&e->panes[k].variables, tables, SELECT_PARAMETERS, run->arena, run->diag);
    is_good &= check_places(run);
    return observe_check(e, tables, run->output, run->arena, run->diag) && is_good;
}

static int run_kind(Run *run, const KoineModelKind *kind)
{
    if (!check_settings(run, kind->tables)) {
        print_diagnostics(run);
        return error_status(run->diag, settings_error_status(&run->settings));
    }
    KoineModel *model = NULL;
    if (kind->create(kind, &run->host, &model) < 0 || !model) {
        say("there is not enough memory for an instance of '%s'", run->record.model);
        return EXIT_ENVIRONMENT;
    }
    const int status = run_model(run, model);
    kind->destroy(model);
    return status;
}

static const char *const *wanted_variables(const Run *run)
{
    const ExperimentGlobs *const wanted = &run->settings.experiment.variables;
    const char **const all = NEW_ARRAY(run->arena, const char *, wanted->n + 1);
    for (uint32_t k = 0; k < wanted->n; k++)
        all[k] = wanted->at[k].glob;
    return all;
}

static int compile_and_run(Run *run)
{
    const double begun = wall_clock();
    run->settings.target.wanted = wanted_variables(run);
    target_take_settings(&run->settings.target, &run->settings.experiment, compilation_sources(run->c), run->arena);
    if (!target_compile(run->command, &run->settings.target, run->settings.experiment.profile, run->c))
        return error_status(run->diag, EXIT_MODEL);
    const char *why;
    run->record.tier = run->settings.experiment.tier ? run->settings.experiment.tier : "auto";
    const KoineModelKind *const kind = compilation_kind(run->c, run->record.tier, &why);
    if (!kind) {
        say("the tier '%s' cannot be used: %s", run->record.tier, why);
        return EXIT_ENVIRONMENT;
    }
    run->record.compile_seconds = wall_clock() - begun;
    const CompileReport report = compilation_report(run->c);
    run->record.model = report.model;
    run->record.language = report.language;
    run->record.compiler_bytes = report.bytes;
    run->record.file = run->settings.target.path;
    run->record.experiment = run->settings.experiment_path;
    const int status = choose_output(run);
    if (status != EXIT_GOOD)
        return status;
    name_observers(run);
    run->record.output = run->output;
    run->model_output = output_is_stdout(run) ? stderr : stdout;
    return run_kind(run, kind);
}

static int run_run(const Command *command)
{
    Run run = { .command = command, .is_quiet = command_option(command, "quiet") };
    if (command_option(command, "stop-with-input") && !interrupt_with_input())
        return say("there is no thread to watch the standard input"), EXIT_ENVIRONMENT;
    run.c = compilation_create(out_of_memory);
    run.arena = compilation_arena(run.c);
    run.diag = compilation_diag(run.c);
    const char *tags;
    int status = note_tags(command, &tags) ? settings_gather(command, run.c, &run.settings) : EXIT_USAGE;
    if (status == EXIT_GOOD)
        status = compile_and_run(&run);
    series_done(run.settings.start.series);
    compilation_destroy(run.c);
    return status;
}

static const char *tier_word(uint32_t k)
{
    static const char *const words[] = { "auto", "interp", "tcc", "cc", NULL };
    return words[k];
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
      .word = tier_word,
      .help = "how the model is executed: interp (at once), tcc or cc (compiled); default auto" },
    { .name = "set",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "a parameter, start value, guess or control parameter; x[2]=3 or x={1, 3} for arrays; nominal(x)=1e-9 "
              "is a nominal value; may be repeated" },
    { .name = "control",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "a control parameter, also where the model has a quantity of that name; may be repeated" },
    { .name = "profile", .value = "NAME", .help = "behave like the original: dymola, simplex" },
    { .name = "start-from",
      .value = "FILE",
      .help = "start values from the end of an earlier result, .csv, .mat or .h5" },
    { .name = "start-from-time", .value = "TIME", .help = "take them from what that result holds at a time" },
    { .name = "inputs",
      .value = "FILE",
      .help = "signals for open inputs, a .csv, .mat or .h5 with a column for each" },
    { .name = "seed", .value = "NUMBER", .help = "of random numbers; default 0" },
    { .name = "variables", .value = "GLOB,...", .help = "what is recorded; default everything visible that changes" },
    { .name = "output",
      .value = "FILE",
      .help = "FILE.csv, FILE.mat, FILE.h5 (native: compressed, with units, for large results and 'koine view'), or - "
              "for CSV on the standard output" },
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
