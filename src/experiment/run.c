#include "experiment/run.h"
#include "experiment/leave.h"
#include "experiment/note.h"
#include "experiment/phases.h"
#include "experiment/run_files.h"
#include "experiment/set.h"
#include "base/vec.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

typedef VEC(KoineChange) KoineChanges;

typedef struct { /* how far it is */
    KoineModel *model;
    KoineModel *driven; /* the model with its inputs driven, or itself */
    PhaseSinks *sinks;
    uint32_t phase;
    KoineRun *inner; /* of the phase; NULL: there is nothing more to run */
    KoineRunOptions options;
    KoineRunStatistics sum; /* of the parts before */
    bool is_abandoned;      /* values of a phase could not be set */
} RunWay;

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
    Leave leave;
    Arena *left_arena; /* of the thread that leaves the run; NULL: it may not be left now */
    RunWay way;
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

double run_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void hold(ExperimentRun *run, bool is_held)
{
    if (run->left_arena)
        (is_held ? leave_hold : leave_release)(&run->leave);
}

/* ---- What the model says ---------------------------------------------------------------------------------------- */

static void on_message(void *context, const KoineModel *model, int level, const char *text)
{
    ExperimentRun *run = context;
    hold(run, true);
    if (run->files.protocol)
        protocol_message(run->files.protocol, model, level, text);
    if (run->caller->message)
        run->caller->message(run->caller->context, level, text);
    hold(run, false);
}

static void on_fired(void *context, const KoineModel *model, const KoineFiring *firing)
{
    ExperimentRun *run = context;
    hold(run, true);
    protocol_fired(run->files.protocol, model, firing);
    hold(run, false);
}

static void on_stepped(void *context, const KoineModel *model, const KoineIntegrationStep *step)
{
    ExperimentRun *run = context;
    hold(run, true);
    protocol_step(run->files.protocol, model, step);
    hold(run, false);
}

static void on_progress(void *context, double time)
{
    ExperimentRun *run = context;
    hold(run, true);
    run->caller->progress(run->caller->context, time);
    hold(run, false);
}

static void on_recording(void *context, KoineRecording what, double time)
{
    ExperimentRun *run = context;
    leave_recording(&run->leave, what, time);
}

/* ---- Settings that must fit the model --------------------------------------------------------------------------- */

/* With a time grid the run ends at one of its points. */
static void tell_rounding(const ExperimentRun *run)
{
    const Experiment *e = run->request->experiment;
    const double resolution = run->phases.n ? run->phases.at[run->phases.n - 1].options.control.resolution : 0;
    const double end = resolution > 0 ? resolution * round(e->part.stop / resolution) : e->part.stop;
    if (fabs(end - e->part.stop) > 1e-9 * fabs(e->part.stop))
        diag_warning(run->diag, DIAG_STOP_ROUNDED, e->spans[EXPERIMENT_STOP],
                     "the stop time %.9g does not lie on the time grid of TScal %.9g: the run ends at %.9g",
                     e->part.stop, resolution, end);
}

/* All that is wrong is reported. */
static bool check_settings(ExperimentRun *run)
{
    const RunRequest *request = run->request;
    Experiment *e = request->experiment;
    const KoineTables *tables = request->kind->tables;
    run->host =
        (KoineHost){ .context = run, .seed = e->begin.seed, .message = on_message, .wants_work = request->wants_work };
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
    const Experiment *e = run->request->experiment;
    const StartState *start = run->request->start;
    const KoineTables *tables = model->kind->tables;
    const bool has_start = start && start->series;
    bool is_good = !has_start || start_write(start, e, model, run->arena, run->diag);
    run->nominals = NEW_ARRAY(run->arena, double, tables->n_x + 1);
    run->scales = NEW_ARRAY(run->arena, double, 2 * (size_t)tables->n_x + 1);
    is_good &= set_nominals(tables, e->errors.nominals.at, e->errors.nominals.n, run->nominals, run->arena, run->diag);
    if (has_start && is_good)
        start_scales(start, tables, run->arena, run->scales);
    for (uint32_t k = 0; k < run->phases.n; k++)
        is_good &= set_values(model, k == 0 ? SET_START : SET_CHECK, run->phases.at[k].settings.at,
                              run->phases.at[k].settings.n, run->arena, run->diag);
    return is_good;
}

/* ---- The run ---------------------------------------------------------------------------------------------------- */

static KoineRunOptions options_of(ExperimentRun *run, const Phase *phase)
{
    const RunCaller *caller = run->caller;
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
        .recording = caller->left ? on_recording : NULL,
    };
    return options;
}

/* Opens the run of a phase, or of what is left of it when something was set. */
static void open_part(ExperimentRun *run, bool is_first)
{
    RunWay *way = &run->way;
    way->options.sinks = phase_sinks_of(way->sinks, is_first, way->phase + 1 == run->phases.n, &way->options);
    way->inner = koine_run_open(way->driven, &way->options, &run->record.run);
}

static void close_part(ExperimentRun *run)
{
    RunWay *way = &run->way;
    koine_run_close(way->inner);
    way->inner = NULL;
    statistics_add(&way->sum, &run->record.run.statistics);
    run->record.run.statistics = way->sum;
}

static void begin_phase(ExperimentRun *run, uint32_t k)
{
    RunWay *way = &run->way;
    const Phase *phase = &run->phases.at[k];
    way->phase = k;
    way->options = options_of(run, phase);
    run->host = phase->host;
    hold(run, true);
    way->is_abandoned =
        k > 0 && !set_values(way->driven, SET_NOW, phase->settings.at, phase->settings.n, run->arena, run->diag);
    hold(run, false);
    if (!way->is_abandoned)
        open_part(run, k == 0);
}

bool experiment_advance(ExperimentRun *run, double to)
{
    RunWay *way = &run->way;
    while (way->inner) {
        if (koine_run_advance(way->inner, to))
            return true;
        close_part(run);
        if (run->record.run.end == KOINE_RUN_DONE && way->phase + 1 < run->phases.n)
            begin_phase(run, way->phase + 1);
    }
    return false;
}

/* ---- Changes where the run stands ---- */

/* What differs between the block and a copy of it, as changes of inputs and states. False: something else differs. */
static bool list_changes(const KoineModel *model, const KoineModel *other, Arena *arena, KoineChanges *changes)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t row = 0; row < t->n_variables; row++) {
        const KoineVariable *v = &t->variables[row];
        for (uint32_t k = 0; v->now != KOINE_NO_OFFSET && k < v->count; k++) {
            KoineSlot before, after;
            memcpy(&before, model->block + v->now + k * sizeof before, sizeof before);
            memcpy(&after, other->block + v->now + k * sizeof after, sizeof after);
            if (before.i == after.i || v->flags & KOINE_VARIABLE_ALIAS)
                continue;
            if (v->state < 0 && v->causality != KOINE_CAUSALITY_INPUT)
                return false;
            if (v->flags & KOINE_VARIABLE_NEGATED)
                return false;
            const KoineChange change = { row, k, after };
            vec_push(arena, changes, change);
        }
    }
    return true;
}

/* Inputs and states change while the run goes on. False: there is more to change, and nothing was. */
static bool change(ExperimentRun *run, const Setting *settings, uint32_t n)
{
    KoineModel *model = run->way.driven, copy = *model;
    Arena *scratch = arena_create_like(run->arena);
    KoineChanges changes = { 0 };
    copy.block = arena_alloc(scratch, model->size, 64);
    memcpy(copy.block, model->block, model->size);
    const bool is_made = set_values(&copy, SET_NOW, settings, n, scratch, run->diag) &&
                         list_changes(model, &copy, scratch, &changes) &&
                         koine_run_change(run->way.inner, changes.at, changes.n, NULL);
    arena_destroy(scratch);
    return is_made;
}

bool experiment_set(ExperimentRun *run, const Setting *settings, uint32_t n)
{
    RunWay *way = &run->way;
    if (!way->inner)
        return true;
    if (!set_values(way->driven, SET_CHECK, settings, n, run->arena, run->diag))
        return false;
    if (change(run, settings, n))
        return true;
    phase_sinks_of(way->sinks, false, false, &way->options);
    close_part(run);
    const bool is_set = set_values(way->driven, SET_NOW, settings, n, run->arena, run->diag);
    way->options.is_continued = true;
    open_part(run, false);
    return is_set;
}

static bool refuse(KoineReason *why, const char *text)
{
    snprintf(why->text, sizeof why->text, "%s", text);
    return false;
}

bool experiment_enter(ExperimentRun *run, const char *entry, KoineReason *why)
{
    const KoineTables *t = run->request->kind->tables;
    if (!run->way.inner)
        return refuse(why, "no run is open");
    for (uint32_t k = 0; k < t->callables.n_entries; k++)
        if (strcmp(t->callables.entries[k].name, entry) == 0)
            return koine_run_enter(run->way.inner, k, why);
    return refuse(why, "the model has no entry of this name");
}

/* Of files nothing can be taken back. */
static bool can_be_saved(const ExperimentRun *run, KoineReason *why)
{
    if (!run->way.inner)
        return refuse(why, "no run is open: it cannot be saved, and nothing can be taken up in it");
    if (run->phases.n > 1)
        return refuse(why, "a run in phases cannot be saved");
    if (run->record.output || run->request->experiment->results.n_observers)
        return refuse(why, "a run whose results go to files cannot be saved");
    return true;
}

KoineSavedRun *experiment_save(ExperimentRun *run, KoineSavedRun *again, KoineReason *why)
{
    return can_be_saved(run, why) ? koine_run_save(run->way.inner, again, why) : NULL;
}

bool experiment_restore(ExperimentRun *run, const KoineSavedRun *saved, KoineReason *why)
{
    return can_be_saved(run, why) && koine_run_restore(run->way.inner, saved, why) != KOINE_RESTORED_NOT;
}

const KoineModel *run_model(const ExperimentRun *run)
{
    return run->way.driven;
}

static void note(ExperimentRun *run)
{
    const NoteOf of = { .tags = run->request->tags,
                        .record = &run->record,
                        .experiment = run->request->experiment,
                        .sources = run->request->sources };
    const char *problem = of.tags ? note_begin(&run->note, &of, run->diag, run->arena) : NULL;
    if (problem && run->caller->notice)
        run->caller->notice(run->caller->context, problem);
}

/* Called by the thread that watches while nothing is held: the results are closed with the points that were recorded.
 * The model, and what it remembers, is not asked. */
static void close_behind(void *context)
{
    ExperimentRun *run = context;
    Arena *arena = run->left_arena;
    const uint64_t points = run->leave.points;
    RunRecord *record = NEW(arena, RunRecord);
    KoineRunReport *report = &record->run;
    *record = run->before;
    *report = (KoineRunReport){ .end = KOINE_RUN_INTERRUPTED, .time = points ? run->leave.time : record->start };
    report->statistics.events.points = points;
    snprintf(report->text, sizeof report->text, "interrupted at time %.17g", report->time);
    record->run_seconds = run_clock() - run->begun;
    record->tier_note = "left while it computed, steps and events are not counted";
    for (uint32_t k = 0; k < run->files.sinks.n; k++) {
        KoineSink *sink = run->files.sinks.at[k];
        if (!sink->end || sink->end(sink, NULL) >= 0)
            continue;
        report->end = KOINE_RUN_SINK;
        memcpy(report->text, sink->error, sizeof sink->error);
    }
    files_close(&run->files, NULL, record, arena);
    note_end(&run->note, record);
    run->caller->left(run->caller->context, record, arena);
}

static void begin(ExperimentRun *run, KoineModel *model, bool is_stepped)
{
    const RunCaller *caller = run->caller;
    RunWay *way = &run->way;
    run->record.start = run->phases.at[0].options.start;
    run->record.stop = run->request->experiment->part.stop;
    run->record.protocol = run->files.protocol_path;
    KoineSink *more = caller->ready ? caller->ready(caller->context, run) : NULL;
    files_open(&run->files, &run->record, run->phases.n > 1);
    if (more)
        files_add_sink(&run->files, more);
    note(run);
    way->sinks = phase_sinks(run->files.sinks.at, run->files.sinks.n, run->arena);
    if (is_stepped)
        phase_sinks_cut_anywhere(way->sinks);
    run->before = run->record;
    run->begun = run_clock();
    if (caller->left) {
        run->left_arena = arena_create_like(run->arena);
        leave_begin(&run->leave, &(LeaveCaller){ .context = run, .close = close_behind, .tell = caller->tell });
    }
    way->driven = run->files.drive ? drive_model(run->files.drive, model) : model;
    begin_phase(run, 0);
    if (run->request->start && run->request->start->series && run->way.inner)
        start_compare(run->request->start, run->request->experiment, run->way.driven, run->arena, run->diag);
}

void experiment_close(ExperimentRun *run)
{
    const RunCaller *caller = run->caller;
    RunWay *way = &run->way;
    KoineModel *model = way->model;
    if (way->inner)
        close_part(run);
    if (!way->is_abandoned) {
        hold(run, true);
        phase_sinks_end(way->sinks, way->driven);
        hold(run, false);
    }
    if (run->left_arena) {
        leave_end(&run->leave);
        arena_destroy(run->left_arena);
        run->left_arena = NULL;
    }
    if (caller->computed)
        caller->computed(caller->context, run);
    model->block = way->driven->block; /* it may have grown */
    model->size = way->driven->size;
    run->record.run_seconds = run_clock() - run->begun;
    files_close(&run->files, model, &run->record, run->arena);
    if (caller->ended)
        caller->ended(caller->context, run, model);
    note_end(&run->note, &run->record);
    run->request->kind->destroy(model);
    way->model = NULL;
}

static RunMade open_run(const RunRequest *request, const RunCaller *caller, bool is_stepped, Arena *arena, Diag *diag,
                        ExperimentRun **opened)
{
    ExperimentRun *run = *opened = NEW(arena, ExperimentRun);
    *run =
        (ExperimentRun){ .request = request, .caller = caller, .arena = arena, .diag = diag, .record = request->about };
    run->files = (RunFiles){ .request = request, .arena = arena, .diag = diag };
    if (!check_settings(run))
        return RUN_REFUSED;
    const KoineModelKind *kind = request->kind;
    KoineModel *model = NULL;
    if (kind->create(kind, &run->host, &model) < 0 || !model)
        return RUN_NO_MEMORY;
    if (!set_start(run, model)) {
        kind->destroy(model);
        return RUN_REFUSED;
    }
    run->way.model = model;
    begin(run, model, is_stepped);
    return RUN_MADE;
}

RunMade experiment_open_run(const RunRequest *request, const RunCaller *caller, Arena *arena, Diag *diag,
                            ExperimentRun **opened)
{
    return open_run(request, caller, true, arena, diag, opened);
}

RunMade experiment_run(const RunRequest *request, const RunCaller *caller, Arena *arena, Diag *diag)
{
    ExperimentRun *run;
    const RunMade made = open_run(request, caller, false, arena, diag, &run);
    if (made == RUN_MADE) {
        experiment_advance(run, INFINITY);
        experiment_close(run);
    }
    return made;
}
