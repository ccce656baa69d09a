#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_why(const Compilation *c, Figure *figure)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    diag_print(c->diag, file, (DiagStyle){ 0 });
    fclose(file);
    text[strcspn(text, "\n")] = 0;
    no_figure(figure, "%s", text);
    free(text);
}

bool subject_open(Subject *subject, const char *path, const char *tier, Figure *figure)
{
    const char *why = NULL;
    *subject = (Subject){ .compilation = compilation_create(NULL) };
    if (!compilation_load(subject->compilation, &(CompileRequest){ .path = path, .external.allows_all = true }) ||
        !compilation_schedule(subject->compilation)) {
        say_why(subject->compilation, figure);
    } else {
        subject->kind = compilation_kind(subject->compilation, tier, &why);
        if (!subject->kind)
            no_figure(figure, "%s: %s", tier, why);
    }
    if (!subject->kind)
        subject_close(subject);
    return subject->kind != NULL;
}

void subject_close(Subject *subject)
{
    compilation_destroy(subject->compilation);
    *subject = (Subject){ 0 };
}

const KoineVariable *subject_variable(const Subject *subject, const char *name)
{
    const KoineTables *t = subject->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (strcmp(t->variables[k].name, name) == 0)
            return &t->variables[k];
    return NULL;
}

uint32_t subject_state(const Subject *subject, const char *name)
{
    const KoineVariable *v = subject_variable(subject, name);
    return v && v->state >= 0 ? (uint32_t)v->state : UINT32_MAX;
}

static double *slot(const KoineModel *model, uint64_t offset)
{
    return &((KoineSlot *)(void *)(model->block + offset))->r;
}

bool subject_run(const Subject *subject, SubjectRun *run)
{
    const KoineHost host = { .max_steps = run->max_steps };
    KoineModel *model;
    KoineRunReport report;
    if (subject->kind->create(subject->kind, &host, &model) != KOINE_OK)
        return false;
    for (uint32_t k = 0; run->start && k < run->n; k++)
        *slot(model, subject_variable(subject, run->names[k])->set) = run->start[k];
    const KoineRunOptions options = {
        .stop = run->stop, .interval = run->stop, .tolerance = run->tolerance, .solver = run->solver
    };
    const KoineRunEnd end = koine_simulate(model, &options, &report);
    for (uint32_t k = 0; run->end && k < run->n; k++)
        run->end[k] = *slot(model, run->names ? subject_variable(subject, run->names[k])->now
                                              : subject->kind->tables->x + k * sizeof(KoineSlot));
    subject->kind->destroy(model);
    run->counts = report.statistics;
    snprintf(run->text, sizeof run->text, "%.*s", (int)sizeof run->text - 1, report.text);
    return end == KOINE_RUN_DONE;
}

KoineModel *subject_start(const Subject *subject)
{
    static const KoineHost host = { 0 };
    const KoineModelKind *kind = subject->kind;
    KoineModel *model;
    KoineOutcome outcome = { 0 };
    if (kind->create(kind, &host, &model) != KOINE_OK)
        return NULL;
    const double *x = (const double *)(const void *)(model->block + kind->tables->x);
    KoineStatus status = kind->initialise(model, 0);
    if (status == KOINE_OK)
        status = kind->arrive(model, &(KoineArrival){ .x = x, .cause = KOINE_AT_START });
    while (status == KOINE_OK) {
        status = kind->step(model, &outcome);
        if (status != KOINE_OK || !(outcome.flags & KOINE_COMMIT))
            break;
        status = kind->commit(model, &outcome);
    }
    if (status == KOINE_OK)
        status = kind->leave(model, &outcome);
    if (status == KOINE_OK)
        return model;
    kind->destroy(model);
    return NULL;
}
