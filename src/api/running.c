/* Runs: see koine.h. */
#include "api/api.h"
#include "driver/words.h"
#include "experiment/complete.h"
#include "experiment/failure.h"
#include "explain/figures.h"
#include "explain/report.h"
#include "explain/structure.h"
#include "study/told.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)KOINE_END_OPTIONS == (int)KOINE_RUN_OPTIONS, "the ends of runs have the same numbers");

void koine_listen(KoineProject *project, const KoineListener *listener)
{
    project->listener = listener ? *listener : (KoineListener){ 0 };
}

void koine_interrupt(KoineProject *project)
{
    project->interrupt = 1;
}

/* ---- What the run tells ----------------------------------------------------------------------------------------- */

static void on_message(void *context, int level, const char *text)
{
    const KoineProject *project = context;
    if (project->listener.message)
        project->listener.message(project->listener.context, level, text);
}

static void on_progress(void *context, double time)
{
    const KoineProject *project = context;
    if (project->listener.progress)
        project->listener.progress(project->listener.context, time);
}

static KoineSink *on_ready(void *context, const ExperimentRun *run)
{
    KoineProject *project = context;
    (void)run;
    return &project->run.memory.sink;
}

static const char **keep_texts(KoineProject *project, KoineModel *model)
{
    const KoineTables *tables = model->kind->tables;
    VEC(const char *) texts = { 0 };
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *v = &tables->variables[k];
        for (uint32_t j = 0; v->type == KOINE_STRING && j < v->count; j++) {
            KoineSlot slot = { .i = 0 };
            size_t n;
            if (v->now != KOINE_NO_OFFSET)
                memcpy(&slot, model->block + v->now + j * sizeof slot, sizeof slot);
            const char *text = model->kind->texts.get(model, slot, &n);
            vec_push(project->run.arena, &texts, arena_text(project->run.arena, text, n));
        }
    }
    return texts.at;
}

/* The values at the end outlive the instance. */
static void on_ended(void *context, const ExperimentRun *run, KoineModel *model)
{
    KoineProject *project = context;
    (void)run;
    project->run.last = *model;
    project->run.last.block = arena_alloc(project->run.arena, model->size, 64);
    memcpy(project->run.last.block, model->block, model->size);
    project->run.texts = keep_texts(project, model);
}

/* ---- Begin, step, end ------------------------------------------------------------------------------------------- */

void project_end_run(KoineProject *project)
{
    ApiRun *run = &project->run;
    if (!run->run)
        return;
    experiment_close(run->run);
    run->record = *run_record(run->run);
    run->run = NULL;
    snprintf(project->message, sizeof project->message, "%s", run->record.run.text);
}

void project_forget_run(KoineProject *project)
{
    ApiRun *run = &project->run;
    project_end_run(project);
    koine_result_free(run->memory.result);
    series_done(run->start.series);
    koine_saved_free(run->saved);
    if (run->arena)
        arena_destroy(run->arena);
    if (project->latest == run->diag)
        project->latest = NULL;
    *run = (ApiRun){ 0 };
}

/* The settings of the experiment, then those of koine_set. */
static bool gather(KoineProject *project)
{
    ApiRun *run = &project->run;
    bool is_good = project_settings(project, run->arena, run->diag, &run->experiment);
    for (uint32_t k = 0; k < project->settings.n; k++) {
        const Setting *s = &project->settings.at[k];
        Experiment more = experiment_none(&compilation_vocabulary);
        is_good &=
            experiment_give(&more, "set", arena_format(run->arena, "%s=%s", s->name, s->value), run->arena, run->diag);
        run->experiment = experiment_merge(&run->experiment, &more, run->arena);
    }
    return is_good && experiment_complete(&run->experiment, &run->start, run->arena, run->diag);
}

static void describe(KoineProject *project)
{
    ApiRun *run = &project->run;
    run->request = (RunRequest){
        .experiment = &run->experiment,
        .start = &run->start,
        .kind = project->kind,
        .about = { .output = run->experiment.has[EXPERIMENT_OUTPUT] ? run->experiment.results.output : NULL },
    };
    run_told(&run->request, project->c, project->how.tier);
    run->caller = (RunCaller){ .context = project,
                               .interrupt = &project->interrupt,
                               .ready = on_ready,
                               .ended = on_ended,
                               .message = on_message,
                               .progress = on_progress };
}

static bool open_run(KoineProject *project)
{
    ApiRun *run = &project->run;
    const ExperimentGlobs *variables = &run->experiment.results.variables;
    const char **const globs = NEW_ARRAY(run->arena, const char *, variables->n + 1);
    for (uint32_t k = 0; k < variables->n; k++)
        globs[k] = variables->at[k].glob;
    memory_sink(&run->memory, variables->n ? globs : NULL, variables->n, run->arena);
    run->memory.sink.skips_events =
        run->experiment.results.event_rows && strcmp(run->experiment.results.event_rows, "off") == 0;
    describe(project);
    const RunMade made = experiment_open_run(&run->request, &run->caller, run->arena, run->diag, &run->run);
    if (made == RUN_MADE)
        return true;
    run->run = NULL;
    project_tell_error(project, run->diag);
    if (made == RUN_NO_MEMORY)
        snprintf(project->message, sizeof project->message, "there is no memory for an instance");
    return false;
}

bool koine_begin(KoineProject *project)
{
    ApiRun *run = &project->run;
    project_forget_run(project);
    project->interrupt = 0;
    if (!project_compile(project))
        return false;
    run->arena = arena_create_like(project->arena);
    run->diag = diag_create(run->arena, project->c->sources);
    run->record.run.end = KOINE_RUN_OPTIONS;
    run->record.run.time = NAN;
    project->latest = run->diag;
    project->message[0] = '\0';
    if (!gather(project)) {
        project_tell_error(project, run->diag);
        return false;
    }
    return open_run(project) && (experiment_advance(run->run, -INFINITY), true);
}

bool koine_step(KoineProject *project, double to)
{
    return project->run.run && experiment_advance(project->run.run, to);
}

KoineEnd koine_end(KoineProject *project)
{
    project_end_run(project);
    return (KoineEnd)project->run.record.run.end;
}

KoineEnd koine_run(KoineProject *project)
{
    if (!koine_begin(project))
        return KOINE_END_OPTIONS;
    koine_step(project, INFINITY);
    return koine_end(project);
}

double koine_reached(const KoineProject *project)
{
    const ApiRun *run = &project->run;
    return !run->arena ? NAN : run->run ? run_record(run->run)->run.time : run->record.run.time;
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

/* Those of the compiler, and those of the run behind them, as one array. */
static void add_diagnostics(KoineProject *project, Text *text)
{
    const char *first = diag_json(project->c->diag, project->reports);
    const char *second = project->run.diag ? diag_json(project->run.diag, project->reports) : "[]";
    const size_t n = strlen(first);
    const bool has_both = strchr(first, '{') && strchr(second, '{');
    if (!strchr(second, '{'))
        text_add(text, first);
    else if (!has_both)
        text_add(text, second);
    else
        text_format(text, "%.*s,%s", (int)(strrchr(first, ']') - first), n ? first : "", strchr(second, '[') + 1);
}

const char *koine_report(KoineProject *project, KoineReport report)
{
    if (project->reports)
        arena_destroy(project->reports);
    project->reports = arena_create_like(project->arena);
    Text text = { .arena = project->reports };
    const Compilation *c = project->c;
    switch (report) {
    case KOINE_REPORT_DIAGNOSTICS: add_diagnostics(project, &text); break;
    case KOINE_REPORT_STRUCTURE:
        if (c->schedule) {
            const CompileReport figures = compile_report(c->schedule, c->program, c->arena);
            report_structure(c->schedule, (ReportStyle){ .is_json = true, .index = (uint32_t)figures.index }, &text);
        }
        break;
    case KOINE_REPORT_COMPONENTS:
        if (c->model)
            structure_text(c->model, UINT32_MAX, &text);
        break;
    case KOINE_REPORT_STATISTICS:
        if (project->run.arena)
            statistics_json(project->run.run ? run_record(project->run.run) : &project->run.record, &text);
        break;
    }
    return text.n ? text.at : NULL;
}
