/* Texts of runs that end early: what, where, at what time. */
#include "runtime/run.h"
#include <stdarg.h>
#include <stdio.h>

const char *koine_place_text(const KoineTables *tables, const KoinePlace *place, char *text, size_t size)
{
    text[0] = '\0';
    if (place->line > 0 && place->source < tables->text.n_sources)
        snprintf(text, size, "%s:%u", tables->text.sources[place->source], (unsigned)place->line);
    return text;
}

const char *koine_origin_text(const KoineRun *run, const KoineOrigin *origin, char *text, size_t size)
{
    char place[256];
    koine_place_text(run->tables, &origin->place, place, sizeof place);
    const bool has_text = origin->text && origin->text[0];
    snprintf(text, size, "%s%s%s of %s%s%s%s", has_text ? "\"" : "", has_text ? origin->text : "a function of the time",
             has_text ? "\"" : "", origin->path && origin->path[0] ? origin->path : run->tables->name,
             place[0] ? " (" : "", place, place[0] ? ")" : "");
    return text;
}

const char *koine_root_text(const KoineRun *run, uint32_t root, char *text, size_t size)
{
    text[0] = '\0';
    return run->tables->roots.at ? koine_origin_text(run, &run->tables->roots.at[root], text, size) : text;
}

static void finish(KoineRun *run, KoineRunEnd end)
{
    run->report->end = end;
    run->report->time = run->time;
    run->is_over = true;
}

/* What gives up because the run was told to end has not failed. */
static KoineStatus fail(KoineRun *run, KoineRunEnd end, const char *format, va_list arguments)
{
    if (end == KOINE_RUN_FAILED && koine_run_interrupted(run))
        return KOINE_FAILED;
    KoineText text = koine_text_in(run->report->text, sizeof run->report->text);
    koine_text_list(&text, format, arguments);
    if (end != KOINE_RUN_OPTIONS)
        koine_text_add(&text, " (at time %.17g)", run->time);
    finish(run, end);
    return KOINE_FAILED;
}

KoineStatus koine_fail(KoineRun *run, KoineRunEnd end, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const KoineStatus status = fail(run, end, format, arguments);
    va_end(arguments);
    return status;
}

KoineStatus koine_fail_by(KoineRun *run, int32_t cause, const char *format, ...)
{
    run->report->fault.cause = cause;
    va_list arguments;
    va_start(arguments, format);
    const KoineStatus status = fail(run, KOINE_RUN_FAILED, format, arguments);
    va_end(arguments);
    return status;
}

static const char *meaning(KoineStatus status)
{
    switch (status) {
    case KOINE_RETRY: return "values cannot be computed";
    case KOINE_GROW: return "the model asks for more memory than there is";
    case KOINE_LIMIT: return "a limit was exceeded";
    case KOINE_CONFLICT: return "two transitions assign one variable in one event step";
    case KOINE_ABSENT: return "the model does not support this";
    default: return "the model failed";
    }
}

KoineStatus koine_model_failed(KoineRun *run, KoineStatus status, const char *doing)
{
    const KoineFault *fault = &run->model->fault;
    const KoineTables *tables = run->tables;
    char where[512] = "", place[256];
    run->report->fault = *fault;
    if (fault->origin >= 0 && (uint32_t)fault->origin < tables->text.n_origins) {
        const KoineOrigin *origin = &tables->text.origins[fault->origin];
        koine_place_text(tables, &origin->place, place, sizeof place);
        snprintf(where, sizeof where, "%s%s%s%s%s%s%s", origin->text ? " in \"" : "", origin->text ? origin->text : "",
                 origin->text ? "\"" : "", origin->path && origin->path[0] ? " of " : "",
                 origin->path ? origin->path : "", place[0] ? ", " : "", place);
    }
    const char *variable = fault->variable >= 0 && (uint32_t)fault->variable < tables->n_variables
                               ? tables->variables[fault->variable].name
                               : NULL;
    return koine_fail(run, KOINE_RUN_FAILED, "%s: %s%s%s%s%s", doing, fault->text[0] ? fault->text : meaning(status),
                      variable ? ", computing " : "", variable ? variable : "", where[0] ? "," : "", where);
}

KoineStatus koine_solver_failed(KoineRun *run)
{
    if (run->problem.text[0])
        return koine_fail_by(run, run->solver_fault.cause ? run->solver_fault.cause : KOINE_CAUSE_SOLVER, "%s",
                             run->problem.text);
    return koine_model_failed(run, KOINE_FAILED, "integration");
}

KoineStatus koine_true_fault(KoineRun *run)
{
    if (run->model->fault.text[0])
        return koine_model_failed(run, KOINE_RETRY, "integration");
    return koine_fail_by(run, KOINE_CAUSE_STEP_SIZE,
                         "integration: the derivatives cannot be computed beyond this point, and no event condition "
                         "changes there");
}
