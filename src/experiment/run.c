#include "experiment/run.h"
#include "experiment/note.h"
#include "experiment/phases.h"
#include "experiment/run_files.h"
#include "experiment/set.h"
#include <math.h>
#include <time.h>

struct ExperimentRun {
    const RunRequest *request;
    const RunCaller *caller;
    Arena *arena;
    Diag *diag;
    Controls controls;
    Phases phases;
    KoineHost host;
    RunFiles files;
    double *nominals, *scales; /* of the states: see KoineRunOptions */
    Note note;
    double begun; /* on the wall clock */
    RunRecord record;
    RunRecord before; /* the record when the run began, for the one that leaves it */
};

const RunRecord *run_record(const ExperimentRun *run)
{
    return &run->record;
}

void run_say_tier(ExperimentRun *run, const char *note)
{
    run->record.tier_note = note;
}

const Controls *run_controls(const ExperimentRun *run)
{
    return &run->controls;
}

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void hold(const ExperimentRun *run, bool is_held)
{
    if (run->caller->hold)
        run->caller->hold(run->caller->context, is_held);
}

/* ---- What the model says ---------------------------------------------------------------------------------------- */

static void on_message(void *context, const KoineModel *model, int level, const char *text)
{
    const ExperimentRun *const run = context;
    hold(run, true);
    if (run->files.protocol)
        protocol_message(run->files.protocol, model, level, text);
    if (run->caller->message)
        run->caller->message(run->caller->context, level, text);
    hold(run, false);
}

static void on_fired(void *context, const KoineModel *model, const KoineFiring *firing)
{
    const ExperimentRun *const run = context;
    hold(run, true);
    protocol_fired(run->files.protocol, model, firing);
    hold(run, false);
}

static void on_stepped(void *context, const KoineModel *model, const KoineIntegrationStep *step)
{
    const ExperimentRun *const run = context;
    hold(run, true);
    protocol_step(run->files.protocol, model, step);
    hold(run, false);
}

static void on_progress(void *context, double time)
{
    const ExperimentRun *const run = context;
    hold(run, true);
    run->caller->progress(run->caller->context, time);
    hold(run, false);
}

static void on_recording(void *context, KoineRecording what, double time)
{
    const ExperimentRun *const run = context;
    run->caller->recording(run->caller->context, what, time);
}

/* ---- Settings that must fit the model --------------------------------------------------------------------------- */

/* With a time grid the run ends at one of its points. */
static void tell_rounding(const ExperimentRun *run)
{
    const Experiment *const e = run->request->experiment;
    const double resolution = run->phases.n ? run->phases.at[run->phases.n - 1].options.control.resolution : 0;
    const double end = resolution > 0 ? resolution * round(e->stop / resolution) : e->stop;
    if (fabs(end - e->stop) > 1e-9 * fabs(e->stop))
        diag_warning(run->diag, DIAG_STOP_ROUNDED, e->spans[EXPERIMENT_STOP],
                     "the stop time %.9g does not lie on the time grid of TScal %.9g: the run ends at %.9g", e->stop,
                     resolution, end);
}

/* All that is wrong is reported. */
static bool check_settings(ExperimentRun *run)
{
    const RunRequest *const request = run->request;
    Experiment *const e = request->experiment;
    const KoineTables *const tables = request->kind->tables;
    run->host =
        (KoineHost){ .context = run, .seed = e->seed, .message = on_message, .wants_work = request->wants_work };
    bool is_good = phases_prepare(e, &run->host, tables, run->arena, run->diag, &run->controls, &run->phases);
    is_good &= files_select(&run->files, tables);
    if (is_good) {
        files_choose_protocol(&run->files, &run->controls);
        for (uint32_t k = 0; k < run->phases.n && files_protocol_depth(&run->files, &run->controls) > 0; k++)
            run->phases.at[k].host.fired = on_fired;
        tell_rounding(run);
    }
    is_good &= files_read_inputs(&run->files, tables);
    return files_check(&run->files, tables) && is_good;
}

/* The instance gets its start values; those of later phases are looked at. */
static bool set_start(ExperimentRun *run, KoineModel *model)
{
    const Experiment *const e = run->request->experiment;
    const StartState *const start = run->request->start;
    const KoineTables *const tables = model->kind->tables;
    const bool has_start = start && start->series;
    bool is_good = !has_start || start_write(start, e, model, run->arena, run->diag);
    run->nominals = NEW_ARRAY(run->arena, double, tables->n_x + 1);
    run->scales = NEW_ARRAY(run->arena, double, 2 * (size_t)tables->n_x + 1);
    is_good &= set_nominals(tables, e->nominals, e->n_nominals, run->nominals, run->arena, run->diag);
    if (has_start && is_good)
        start_scales(start, tables, run->arena, run->scales);
    for (uint32_t k = 0; k < run->phases.n; k++)
        is_good &= set_values(model, k == 0 ? SET_START : SET_CHECK, run->phases.at[k].settings,
                              run->phases.at[k].n_settings, run->arena, run->diag);
    return is_good;
}

/* ---- The run ---------------------------------------------------------------------------------------------------- */

static KoineRunOptions options_of(ExperimentRun *run, const Phase *phase)
{
    const RunCaller *const caller = run->caller;
    KoineRunOptions options = phase->options;
    options.n_sinks = run->files.sinks.n;
    options.nominals = run->nominals;
    options.scales = run->scales;
    options.stop_at_chattering = run->request->stops_at_chattering;
    options.listener = (KoineRunListener){
        .context = run,
        .interrupt = caller->interrupt,
        .progress = caller->progress ? on_progress : NULL,
        .stepped = run->files.protocol && protocol_wants_steps(run->files.protocol) ? on_stepped : NULL,
        .recording = caller->recording ? on_recording : NULL,
    };
    return options;
}

/* One phase after the other, until the end or until something ends the run. */
static void run_phases(ExperimentRun *run, KoineModel *model, PhaseSinks *sinks)
{
    KoineRunReport *const report = &run->record.run;
    KoineRunStatistics sum = { 0 };
    for (uint32_t k = 0; k < run->phases.n; k++) {
        const Phase *const phase = &run->phases.at[k];
        KoineRunOptions options = options_of(run, phase);
        run->host = phase->host;
        hold(run, true);
        const bool is_set =
            k == 0 || set_values(model, SET_NOW, phase->settings, phase->n_settings, run->arena, run->diag);
        hold(run, false);
        if (!is_set)
            return;
        options.sinks = phase_sinks_of(sinks, k == 0, k + 1 == run->phases.n, &options);
        koine_simulate(model, &options, report);
        statistics_add(&sum, &report->statistics);
        report->statistics = sum;
        if (report->end != KOINE_RUN_DONE)
            break;
    }
    hold(run, true);
    phase_sinks_end(sinks, model);
    hold(run, false);
}

static void note(ExperimentRun *run)
{
    const NoteOf of = { .tags = run->request->tags,
                        .record = &run->record,
                        .experiment = run->request->experiment,
                        .sources = run->request->sources };
    const char *const problem = of.tags ? note_begin(&run->note, &of, run->diag, run->arena) : NULL;
    if (problem && run->caller->notice)
        run->caller->notice(run->caller->context, problem);
}

static void simulate(ExperimentRun *run, KoineModel *model)
{
    const RunCaller *const caller = run->caller;
    run->record.start = run->phases.at[0].options.start;
    run->record.stop = run->request->experiment->stop;
    run->record.protocol = run->files.protocol_path;
    KoineSink *const more = caller->ready ? caller->ready(caller->context, run) : NULL;
    files_open(&run->files, &run->record, run->phases.n > 1);
    if (more)
        files_add_sink(&run->files, more);
    note(run);
    PhaseSinks *const sinks = phase_sinks(run->files.sinks.at, run->files.sinks.n, run->arena);
    run->before = run->record;
    run->begun = wall_clock();
    if (caller->begins)
        caller->begins(caller->context, run);
    KoineModel *const driven = run->files.drive ? drive_model(run->files.drive, model) : model;
    run_phases(run, driven, sinks);
    if (caller->computed)
        caller->computed(caller->context, run);
    model->block = driven->block; /* it may have grown */
    model->size = driven->size;
    run->record.run_seconds = wall_clock() - run->begun;
    files_close(&run->files, model, &run->record, run->arena);
    if (caller->ended)
        caller->ended(caller->context, run, model);
    note_end(&run->note, &run->record);
}

RunRecord *run_leave(ExperimentRun *run, double time, uint64_t points, Arena *arena)
{
    RunRecord *const record = NEW(arena, RunRecord);
    KoineRunReport *const report = &record->run;
    *record = run->before;
    *report = (KoineRunReport){ .end = KOINE_RUN_INTERRUPTED, .time = points ? time : record->start };
    report->statistics.events.points = points;
    snprintf(report->text, sizeof report->text, "interrupted at time %.17g", report->time);
    record->run_seconds = wall_clock() - run->begun;
    record->tier_note = "left while it computed, steps and events are not counted";
    for (uint32_t k = 0; k < run->files.sinks.n; k++) {
        KoineSink *const sink = run->files.sinks.at[k];
        if (!sink->end || sink->end(sink, NULL) >= 0)
            continue;
        report->end = KOINE_RUN_SINK;
        memcpy(report->text, sink->error, sizeof sink->error);
    }
    files_close(&run->files, NULL, record, arena);
    note_end(&run->note, record);
    return record;
}

RunMade experiment_run(const RunRequest *request, const RunCaller *caller, Arena *arena, Diag *diag)
{
    ExperimentRun *const run = NEW(arena, ExperimentRun);
    *run =
        (ExperimentRun){ .request = request, .caller = caller, .arena = arena, .diag = diag, .record = request->about };
    run->files = (RunFiles){ .request = request, .arena = arena, .diag = diag };
    if (!check_settings(run))
        return RUN_REFUSED;
    const KoineModelKind *const kind = request->kind;
    KoineModel *model = NULL;
    if (kind->create(kind, &run->host, &model) < 0 || !model)
        return RUN_NO_MEMORY;
    const bool is_good = set_start(run, model);
    if (is_good)
        simulate(run, model);
    kind->destroy(model);
    return is_good ? RUN_MADE : RUN_REFUSED;
}
