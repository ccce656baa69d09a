/* Running a model up to a time to look at a block there; see inspect_run.h. */
#include "explain/inspect_run.h"
#include "koine/simulate.h"
#include <stdlib.h>
#include <string.h>

static void be_silent(void *context, const KoineModel *model, int level, const char *text)
{
    (void)context, (void)model, (void)level, (void)text;
}

/* Everything once more at the end of the run: it may not have been needed there. False: it has no value. */
static bool evaluate(const KoineModelKind *kind, KoineModel *model)
{
    const KoineTables *tables = kind->tables;
    double *x = malloc((tables->n_x + 1) * sizeof *x), *der = malloc((tables->n_x + 1) * sizeof *der);
    bool is_good = false;
    if (x && der) {
        memcpy(x, model->block + tables->x, tables->n_x * sizeof *x);
        const KoineEvaluation at = { .time = *(const double *)(const void *)(model->block + tables->time),
                                     .x = x,
                                     .want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS,
                                     .der = der };
        is_good = kind->evaluate(model, &at) == KOINE_OK;
    }
    free(x);
    free(der);
    return is_good;
}

bool inspect_at(const Inspection *of, const KoineModelKind *kind, InspectedBlock *what, Text *text)
{
    const double time = what->time;
    Trace trace = { .arena = text->arena, .system = inspect_system(of, what->block, what->is_initial) };
    const KoineHost host = {
        .context = &trace, .tolerance = KOINE_USUAL_TOLERANCE, .message = be_silent, .iterated = trace_iterated
    };
    KoineModel *model = NULL;
    if (kind->create(kind, &host, &model) < 0 || !model)
        return false;
    const KoineRunOptions options = { .stop = time };
    KoineRunReport report = { 0 };
    koine_simulate(model, &options, &report);
    const bool has_failed = report.end == KOINE_RUN_FAILED;
    what->model = model;
    what->trace = &trace;
    what->time = has_failed ? report.time : time;
    what->failure = has_failed ? report.text : NULL;
    if (!what->failure && !evaluate(kind, model))
        what->failure = model->fault.text;
    inspect_block(of, what, text);
    what->model = NULL;
    what->trace = NULL;
    what->failure = NULL;
    kind->destroy(model);
    return true;
}
