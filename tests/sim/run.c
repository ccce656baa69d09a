#include "assertions.h"
#include "base/text.h"
#include "formats/select.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct {
    KoineSink sink; /* first member */
    RunResult *result;
    bool keeps_last; /* of the rows, only the last */
} Recorder;

/* The number of a text among those that were met so far. */
static double text_value(RunResult *r, const KoineModel *model, KoineSlot slot)
{
    size_t n;
    const char *text = model->kind->texts.get((KoineModel *)(uintptr_t)model, slot, &n);
    uint32_t k = 0;
    while (k < r->n_texts && strcmp(r->texts[k], text) != 0)
        k++;
    if (k == r->n_texts) {
        r->texts = realloc(r->texts, ++r->n_texts * sizeof *r->texts);
        r->texts[k] = strdup(text);
    }
    return k;
}

static double slot_value(RunResult *r, const KoineModel *model, const KoineVariable *v, uint32_t element)
{
    const KoineSlot *slot = (const KoineSlot *)(const void *)(model->block + v->now) + element;
    if (v->type == KOINE_STRING)
        return text_value(r, model, *slot);
    const double value = v->type == KOINE_REAL ? slot->r : (double)slot->i;
    return v->flags & KOINE_VARIABLE_NEGATED ? -value : value;
}

/* Elements are numbered in the order of rows; of arrays of instances they are called as in results. */
static char *name_element(const KoineTables *t, uint32_t row, uint32_t element)
{
    const KoineVariable *v = &t->variables[row];
    if (strstr(v->name, "[]") || strstr(v->name, "[,")) {
        Arena *arena = arena_create(NULL);
        Text name = { .arena = arena };
        column_name(t, &(Column){ row, element, 0 }, &name);
        char *copy = strdup(name.at);
        arena_destroy(arena);
        return copy;
    }
    char text[512];
    snprintf(text, sizeof text, v->n_dims ? "%s[%u]" : "%s", v->name, element + 1);
    return strdup(text);
}

static KoineStatus begin(KoineSink *sink, const KoineModel *model)
{
    RunResult *r = ((Recorder *)(void *)sink)->result;
    const KoineTables *t = model->kind->tables;
    if (r->names) /* continued */
        return KOINE_OK;
    for (uint32_t k = 0; k < t->n_variables; k++)
        r->n_columns += t->variables[k].count;
    r->names = calloc(r->n_columns + 1, sizeof *r->names);
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->n_variables; k++)
        for (uint32_t j = 0; j < t->variables[k].count; j++)
            r->names[n++] = name_element(t, k, j);
    return KOINE_OK;
}

static KoineStatus point(KoineSink *sink, const KoineModel *model, const KoinePoint *at)
{
    RunResult *r = ((Recorder *)(void *)sink)->result;
    const KoineTables *t = model->kind->tables;
    if (r->n_rows && ((Recorder *)(void *)sink)->keeps_last)
        free(r->rows[--r->n_rows].values);
    if (r->n_rows == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->rows = realloc(r->rows, r->capacity * sizeof *r->rows);
    }
    RunRow *row = &r->rows[r->n_rows++];
    *row = (RunRow){ at->time, at->event_step, at->kind, malloc((r->n_columns + 1) * sizeof(double)) };
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->n_variables; k++)
        for (uint32_t j = 0; j < t->variables[k].count; j++)
            row->values[n++] = slot_value(r, model, &t->variables[k], j);
    return KOINE_OK;
}

static KoineStatus end(KoineSink *sink, const KoineModel *model)
{
    (void)sink;
    (void)model;
    return KOINE_OK;
}

static void keep_message(void *context, const KoineModel *model, int level, const char *text)
{
    RunResult *r = context;
    (void)model;
    (void)level;
    const size_t before = r->output ? strlen(r->output) : 0;
    r->output = realloc(r->output, before + strlen(text) + 1);
    memcpy(r->output + before, text, strlen(text) + 1);
}

static char *diagnostics_text(Compilation *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    diag_print(c->diag, file, (DiagStyle){ 0 });
    fclose(file);
    return text;
}

/* What the run is becomes bytes, of which another instance is made; false: the run has ended. */
static KoineRun *change_hands(KoineRun *run, KoineModel **model, const KoineRunOptions *options, RunResult *r)
{
    const KoineModelKind *kind = (*model)->kind;
    const KoineHost *host = (*model)->host;
    KoineReason why = { "" };
    KoineRestored restored = KOINE_RESTORED_EXACTLY;
    uint64_t size;
    KoineSavedRun *const first = koine_run_save(run, NULL, &why);
    if (!first)
        return run;
    const void *const bytes = koine_saved_bytes(first, &size);
    KoineSavedRun *const saved = koine_saved_read(bytes, size, &why);
    if (!saved)
        fail_msg("saved bytes are not read: %s", why.text);
    koine_saved_free(first);
    const uint32_t n_rows = r->n_rows;
    koine_run_close(run);
    while (r->n_rows > n_rows) /* the point of an interrupted run */
        free(r->rows[--r->n_rows].values);
    kind->destroy(*model);
    if (kind->create(kind, host, model) != KOINE_OK)
        fail_msg("there is no instance");
    run = koine_run_reopen(*model, options, &r->report, saved, &restored);
    r->is_anew = restored != KOINE_RESTORED_EXACTLY;
    koine_saved_free(saved);
    return run;
}

static void advance(KoineModel **model, const KoineRunOptions *options, const RunRequest *request, RunResult *r)
{
    const uint32_t n = request->n_pieces;
    KoineRun *run = koine_run_open(*model, options, &r->report);
    for (uint32_t k = 1; run && k <= n; k++) {
        if (!koine_run_advance(run, options->start + (options->stop - options->start) * k / n))
            break;
        if (request->changes_hands && k == (n + 1) / 2)
            run = change_hands(run, model, options, r);
    }
    koine_run_close(run);
}

static void simulate(RunResult *r, const KoineModelKind *kind, const RunRequest *request)
{
    const KoineHost host = {
        .context = r,
        .max_steps = request->max_steps,
        .resolution = request->resolution,
        .tolerance = request->tolerance ? request->tolerance : 1e-9,
        .message = keep_message,
    };
    KoineModel *model;
    if (kind->create(kind, &host, &model) != KOINE_OK)
        fail_msg("there is no instance"); /* that a run came about proves nothing and is not counted */
    if (request->prepare)
        request->prepare(model);
    Recorder recorder = {
        { .wants_event_steps = request->every_event_step, .begin = begin, .point = point, .end = end },
        r,
        request->keeps_last
    };
    KoineSink *sinks[] = { &recorder.sink };
    KoineRunOptions options = { .start = request->start,
                                .stop = request->pause > 0 ? request->pause : request->stop,
                                .control = { .resolution = request->resolution,
                                             .max_time = request->max_time,
                                             .max_crossing = request->max_crossing },
                                .interval = request->interval,
                                .tolerance = request->tolerance ? request->tolerance : 1e-9,
                                .step = request->step,
                                .solver = request->solver,
                                .max_steps = request->max_steps,
                                .sinks = sinks,
                                .n_sinks = 1 };
    if (request->n_pieces)
        advance(&model, &options, request, r);
    else
        koine_simulate(model, &options, &r->report);
    if (request->pause > 0 && r->report.end == KOINE_RUN_DONE) {
        r->n_before = r->n_rows;
        if (request->between)
            request->between(model);
        options.stop = request->stop;
        options.is_continued = true;
        koine_simulate(model, &options, &r->report);
    }
    kind->destroy(model);
}

RunResult *run_model(const RunRequest *request)
{
    RunResult *r = calloc(1, sizeof *r);
    Compilation *c = compilation_create(NULL);
    const CompileRequest compile = { .path = request->path,
                                     .allows_modes = request->allows_modes,
                                     .systems = request->systems,
                                     .split_comparisons = request->split_comparisons,
                                     .evaluate_parameters = request->evaluate_parameters,
                                     .remove_unneeded = request->remove_unneeded,
                                     .languages = request->languages,
                                     .task = request->task,
                                     .external = request->external,
                                     .task_span = SPAN_NONE };
    if (compilation_load(c, &compile) && compilation_schedule(c)) {
        const char *why = NULL;
        const KoineModelKind *kind = compilation_kind(c, request->tier ? request->tier : "interp", &why);
        if (!kind && diag_errors(c->diag) == 0)
            fail_msg("tier %s: %s", request->tier, why);
        r->is_compiled = kind != NULL;
        if (kind)
            simulate(r, kind, request);
        snprintf(r->note, sizeof r->note, "%s", compilation_tier_note(c));
    }
    r->messages = diagnostics_text(c);
    compilation_destroy(c);
    return r;
}

void run_free(RunResult *r)
{
    for (uint32_t k = 0; k < r->n_columns; k++)
        free(r->names[k]);
    for (uint32_t k = 0; k < r->n_rows; k++)
        free(r->rows[k].values);
    for (uint32_t k = 0; k < r->n_texts; k++)
        free(r->texts[k]);
    free(r->texts);
    free(r->names);
    free(r->rows);
    free(r->messages);
    free(r->output);
    free(r);
}

uint32_t run_column(const RunResult *r, const char *name)
{
    if (!r->is_compiled)
        fail_msg("%s", r->messages);
    for (uint32_t k = 0; k < r->n_columns; k++)
        if (strcmp(r->names[k], name) == 0)
            return k;
    fail_msg("no column %s (%s)", name, r->report.text);
    return 0;
}

double run_at(const RunResult *r, const char *name, double time)
{
    const uint32_t column = run_column(r, name);
    for (uint32_t k = r->n_rows; k-- > 0;)
        if (fabs(r->rows[k].time - time) <= 1e-12 * fabs(time))
            return r->rows[k].values[column];
    fail_msg("no row at %g; the run ended at %g: %s", time, r->report.time, r->report.text);
    return 0;
}

const char *run_text_at(const RunResult *r, const char *name, double time)
{
    const double number = run_at(r, name, time);
    return number >= 0 && number < r->n_texts ? r->texts[(uint32_t)number] : "";
}

double run_last(const RunResult *r, const char *name)
{
    const uint32_t column = run_column(r, name);
    if (r->n_rows == 0)
        fail_msg("no row was recorded");
    return r->rows[r->n_rows - 1].values[column];
}

static const KoineVariable *variable_named(const KoineModel *model, const char *name)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (strcmp(t->variables[k].name, name) == 0)
            return &t->variables[k];
    fail_msg("no variable %s", name);
    return NULL;
}

void set_value(KoineModel *model, const char *name, double value)
{
    const KoineVariable *v = variable_named(model, name);
    if (v->set == KOINE_NO_OFFSET)
        fail_msg("%s cannot be set", name);
    KoineSlot *slot = (KoineSlot *)(void *)(model->block + v->set);
    if (v->type == KOINE_REAL)
        slot->r = value;
    else
        slot->i = (int64_t)value;
}

double value_of(const KoineModel *model, const char *name)
{
    return slot_value(NULL, model, variable_named(model, name), 0); /* no String */
}

/* ---- comparing ---- */
void expect_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

void expect_done(const RunResult *r)
{
    if (!r->is_compiled)
        fail_msg("%s", r->messages);
    if (r->report.end != KOINE_RUN_DONE)
        fail_msg("%s", r->report.text);
}

static void expect_equal_bits(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t k = 0; k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[k].time, &b->rows[k].time, sizeof(double));
        assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
    }
}

void run_in_all_tiers(RunRequest request, void (*check)(const RunResult *r))
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        request.tier = tiers[k];
        RunResult *r = run_model(&request);
        expect_done(r);
        check(r);
        if (first)
            expect_equal_bits(first, r);
        if (first)
            run_free(r);
        else
            first = r;
    }
    run_free(first);
}
