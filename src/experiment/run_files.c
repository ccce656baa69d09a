#include "experiment/run_files.h"
#include "experiment/observe.h"
#include "experiment/provenance.h"
#include "formats/live.h"
#include "formats/select.h"
#include "formats/writing.h"
#include <math.h>

/* ---- Names ------------------------------------------------------------------------------------------------------ */

/* "slow" for runs/slow.exp.yaml. */
static const char *experiment_name(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = text_ends_with(name, ".exp.yaml") ? name + strlen(name) - strlen(".exp.yaml") : NULL;
    return end && end > name ? arena_text(arena, name, (size_t)(end - name)) : NULL;
}

/* Names of the tables of observers begin with that of the result, unless that is the name of the class. */
static void name_observers(const RunRequest *request, Arena *arena)
{
    Experiment *e = request->experiment;
    const char *output = request->about.output;
    const char *slash = strrchr(output, '/'), *name = slash ? slash + 1 : output;
    const char *dot = strrchr(name, '.');
    const char *stem = arena_text(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
    if (strcmp(stem, request->about.model) == 0 || strcmp(output, "-") == 0 || e->results.n_observers == 0)
        return;
    ExperimentObserver *own = NEW_ARRAY(arena, ExperimentObserver, e->results.n_observers);
    memcpy(own, e->results.observers, e->results.n_observers * sizeof *own);
    for (uint32_t k = 0; k < e->results.n_observers; k++)
        if (!own[k].output)
            own[k].output = arena_format(arena, "%s.%s.csv", stem, own[k].name);
    e->results.observers = own;
}

bool run_choose_output(RunRequest *request, Arena *arena)
{
    const Experiment *e = request->experiment;
    RunRecord *about = &request->about;
    const char *base = about->experiment ? experiment_name(about->experiment, arena) : NULL;
    about->output = e->has[EXPERIMENT_OUTPUT]
                        ? e->results.output
                        : arena_format(arena, "%s.csv", writing_name(base ? base : about->model, arena));
    if (e->has[EXPERIMENT_OUTPUT] && !result_format_to_write(about->output))
        return false;
    name_observers(request, arena);
    return true;
}

static const ResultFormat *format_of(const RunFiles *files)
{
    const char *output = files->request->about.output;
    const ResultFormat *format = output ? result_format_to_write(output) : NULL;
    return format ? format : result_format_at(0); /* the device of that name is gone, or there is no file */
}

bool files_select(RunFiles *files, const KoineTables *tables)
{
    const ExperimentGlobs *wanted = &files->request->experiment->results.variables;
    const char **const all = NEW_ARRAY(files->arena, const char *, wanted->n + 1);
    for (uint32_t k = 0; k < wanted->n; k++)
        all[k] = wanted->at[k].glob;
    files->globs = wanted->n ? all : NULL;
    Selection selection;
    SelectionMiss miss;
    const unsigned holds = format_of(files)->holds;
    const unsigned flags =
        (holds & RESULT_HOLDS_PARAMETERS ? SELECT_PARAMETERS : 0u) | (holds & RESULT_HOLDS_TEXTS ? SELECT_TEXTS : 0u);
    if (!wanted->n || select_columns(tables, all, wanted->n, flags, files->arena, &selection, &miss))
        return true;
    char text[256];
    selection_miss_text(&miss, all, text, sizeof text);
    diag_error(files->diag, DIAG_SET_UNKNOWN, wanted->at[miss.glob].span, "%s", text);
    return false;
}

bool files_read_inputs(RunFiles *files, const KoineTables *tables)
{
    const Experiment *e = files->request->experiment;
    if (!e->has[EXPERIMENT_INPUTS])
        return true;
    const Series *series = series_signals(e->begin.inputs, files->arena, files->diag);
    if (series)
        files->drive =
            drive_create(series, tables, e->begin.inputs, e->spans[EXPERIMENT_INPUTS], files->arena, files->diag);
    series_done(series);
    return files->drive != NULL;
}

/* ---- The protocol ----------------------------------------------------------------------------------------------- */

static double control_or(const Controls *controls, ControlParameter parameter, double otherwise)
{
    const Control *control = &controls->at[parameter];
    return control->is_given && !control->is_profile ? control->value : otherwise;
}

double files_protocol_depth(const RunFiles *files, const Controls *controls)
{
    return control_or(controls, CONTROL_PRTDEPTH, files->request->experiment->results.protocol ? 1 : -1);
}

/* The setting does not stand on the command line: a model or an experiment decides where the file lies. */
static bool is_confined(const RunFiles *files, ExperimentKey key)
{
    const Experiment *e = files->request->experiment;
    return !files->request->may_write_anywhere && (!e->has[key] || e->spans[key].source != SOURCE_NONE);
}

/* The profile's depth of 0 alone asks for nothing. */
void files_choose_protocol(RunFiles *files, const Controls *controls)
{
    const Experiment *e = files->request->experiment;
    const double depth = files_protocol_depth(files, controls);
    if (depth < 0 || (depth == 0 && !e->results.protocol))
        return;
    files->protocol_path = e->results.protocol ? e->results.protocol
                                               : arena_format(files->arena, "%s.protocol",
                                                              writing_name(files->request->about.model, files->arena));
    const ProtocolOptions options = { .path = files->protocol_path,
                                      .is_confined = is_confined(files, EXPERIMENT_PROTOCOL),
                                      .depth = (int)depth,
                                      .from = control_or(controls, CONTROL_TPRTBEG, -INFINITY),
                                      .to = control_or(controls, CONTROL_TPRTEND, INFINITY) };
    files->protocol = protocol_create(&options, files->arena);
}

/* ---- Places ----------------------------------------------------------------------------------------------------- */

static bool check_place(const RunFiles *files, const char *path, const char *option, ExperimentKey key, Span span)
{
    const char *refusal = is_confined(files, key) ? writing_refusal(path) : NULL;
    if (!refusal)
        return true;
    diag_error(files->diag, refusal == writing_unknown ? DIAG_FILE_UNREADABLE : DIAG_WRITING, span,
               "'%s' is not written: %s", path, refusal);
    diag_help(files->diag, "if you want that, say so: %s, or --write-anywhere", option);
    return false;
}

/* Where files lie that the command line does not name. */
static bool check_places(const RunFiles *files)
{
    const Experiment *e = files->request->experiment;
    const char *output = files->request->about.output;
    bool is_good = !output || check_place(files, output, "--output", EXPERIMENT_OUTPUT, e->spans[EXPERIMENT_OUTPUT]);
    if (files->protocol)
        is_good &=
            check_place(files, files->protocol_path, "--protocol", EXPERIMENT_PROTOCOL, e->spans[EXPERIMENT_PROTOCOL]);
    for (uint32_t k = 0; k < e->results.n_observers; k++)
        is_good &= check_place(files, observe_path(&e->results.observers[k], files->arena), "name another file",
                               EXPERIMENT_OBSERVERS, e->results.observers[k].span);
    return is_good;
}

bool files_check(const RunFiles *files, const KoineTables *tables)
{
    const Experiment *e = files->request->experiment;
    bool is_good = true;
    for (uint32_t k = 0; k < e->results.n_panes; k++)
        is_good &= observe_names(&e->results.panes[k].variables, tables, SELECT_PARAMETERS, files->arena, files->diag);
    is_good &= check_places(files);
    return observe_check(e, tables, files->request->about.output, files->arena, files->diag) && is_good;
}

/* ---- Sinks ------------------------------------------------------------------------------------------------------ */

static bool skips_events(const RunFiles *files)
{
    const char *rows = files->request->experiment->results.event_rows;
    return rows && strcmp(rows, "off") == 0;
}

void files_add_sink(RunFiles *files, KoineSink *sink)
{
    vec_push(files->arena, &files->sinks, sink);
}

static KoineSink *create_sink(const RunFiles *files, const RunRecord *record, bool has_phases)
{
    const Experiment *e = files->request->experiment;
    const ResultFormat *format = format_of(files);
    Text begin = { .arena = files->arena };
    if (format->holds & RESULT_HOLDS_RUN)
        provenance_json(record, e, files->request->sources, &begin);
    const ResultOptions options = { .path = record->output,
                                    .is_confined = is_confined(files, EXPERIMENT_OUTPUT),
                                    .globs = files->globs,
                                    .n_globs = files->globs ? e->results.variables.n : 0,
                                    .has_phases = has_phases,
                                    .begin = begin.at };
    KoineSink *sink = format->sink(&options, files->arena);
    sink->skips_events = skips_events(files);
    return sink;
}

void files_open(RunFiles *files, const RunRecord *record, bool has_phases)
{
    const Experiment *e = files->request->experiment;
    if (record->output)
        files_add_sink(files, create_sink(files, record, has_phases));
    for (uint32_t k = 0; k < e->results.n_observers; k++)
        files_add_sink(files, observe_sink(e, k, is_confined(files, EXPERIMENT_OBSERVERS), files->arena));
    if (files->protocol)
        files_add_sink(files, protocol_sink(files->protocol));
    if (files->request->live)
        files_add_sink(files, live_sink(files->request->live, files->globs, files->globs ? e->results.variables.n : 0,
                                        files->arena));
}

static void fail_writing(KoineRunReport *report, const char *error)
{
    if (report->end == KOINE_RUN_SINK)
        return;
    report->end = KOINE_RUN_SINK;
    snprintf(report->text, sizeof report->text, "%s", error);
}

void files_close(const RunFiles *files, KoineModel *model, RunRecord *record, Arena *arena)
{
    const ResultFormat *format = format_of(files);
    KoineSink *sink = record->output ? files->sinks.at[0] : NULL;
    Text end = { .arena = arena };
    if (format->holds & RESULT_HOLDS_RUN) {
        statistics_json(record, &end);
        if (model)
            start_note_memory(model, record->run.time, &end);
    }
    if (sink && format->finish && !format->finish(sink, end.at))
        fail_writing(&record->run, sink->error);
    /* The protocol has the last word of the run, and a disk may refuse that too. */
    if (files->protocol && !protocol_close(files->protocol, &record->run))
        fail_writing(&record->run, protocol_sink(files->protocol)->error);
}
