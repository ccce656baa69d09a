/* A run is changed from outside while it waits: inputs and states get other values, entries are called; see simulate.h.
 *
 * What the solver's step holds behind the time where the run waits is not lost: the instant is served there, and the
 * rest of the step goes on being used, unless the instant makes the solver begin anew. */
#include "runtime/run.h"
#include <stdarg.h>
#include <stdio.h>

static bool refuse(KoineReason *why, const char *format, ...)
{
    va_list list;
    if (!why)
        return false;
    va_start(list, format);
    vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
    return false;
}

static KoineSlot slot_of(const KoineRun *run, const KoineChange *change)
{
    const KoineVariable *v = &run->tables->variables[change->variable];
    KoineSlot slot;
    memcpy(&slot, run->model->block + v->now + change->element * sizeof slot, sizeof slot);
    if (v->flags & KOINE_VARIABLE_NEGATED && v->type == KOINE_REAL)
        slot.r = -slot.r;
    else if (v->flags & KOINE_VARIABLE_NEGATED)
        slot.i = -slot.i;
    return slot;
}

static bool is_value(const KoineTables *tables, const KoineVariable *v, KoineSlot value)
{
    switch ((KoineType)v->type) {
    case KOINE_REAL: return isfinite(value.r);
    case KOINE_INTEGER: return true;
    case KOINE_BOOLEAN: return value.i == 0 || value.i == 1;
    case KOINE_ENUMERATION: return value.i >= 1 && value.i <= tables->types.enumerations[v->enumeration].n;
    case KOINE_STRING: return false;
    }
    return false;
}

static bool check(const KoineRun *run, const KoineChange *change, KoineReason *why)
{
    const KoineTables *tables = run->tables;
    if (change->variable >= tables->n_variables)
        return refuse(why, "the model has no variable %u", (unsigned)change->variable);
    const KoineVariable *v = &tables->variables[change->variable];
    if ((v->state < 0 && v->causality != KOINE_CAUSALITY_INPUT) || v->now == KOINE_NO_OFFSET)
        return refuse(why, "'%.100s' is neither an input nor a state: it cannot be changed while the run is open",
                      v->name);
    if (change->element >= v->count)
        return refuse(why, "'%.100s' has %u elements, there is no element %u", v->name, (unsigned)v->count,
                      (unsigned)change->element + 1);
    return is_value(tables, v, change->value) || refuse(why, "that is no value of '%.100s'", v->name);
}

static bool is_state(const KoineRun *run, const KoineChange *change)
{
    return run->tables->variables[change->variable].state >= 0;
}

/* The run goes to the time where it waits. A solver whose interpolant is less exact than its steps makes the step anew
 * if it is to begin there anyway. */
static KoineStatus go_there(KoineRun *run, bool begins_anew)
{
    const double to = run->report->time;
    unsigned cause = 0;
    koine_pause_resume(run);
    if (run->pause.has_part) {
        double end = to;
        bool is_event = false;
        run->pause.has_part = false;
        if (begins_anew && run->solver)
            TRY(koine_shorten(run, &end, &is_event));
        TRY(koine_place(run, to));
        run->time = to;
        run->instant.is_fresh = false;
        koine_keep(run);
        if (run->solver)
            TRY(koine_accept(run, &cause));
    }
    run->pause.cause |= cause;
    return KOINE_OK;
}

static KoineStatus serve(KoineRun *run, unsigned cause, bool begins_anew)
{
    TRY(go_there(run, begins_anew));
    cause |= run->pause.cause;
    run->pause.cause = 0;
    run->crossing.before_time = NAN;
    return run->is_over ? KOINE_OK : koine_serve(run, cause);
}

/* The instant, and then the run waits again. */
static bool make_instant(KoineRun *run, unsigned cause, bool begins_anew)
{
    KoineStatus status = serve(run, cause, begins_anew);
    run->pause.outside = (KoineOutside){ 0 };
    if (status >= 0 && !run->is_over)
        status = koine_pause_show(run);
    if (status >= 0 && !run->is_over)
        return true;
    koine_finish(run, status);
    return false;
}

bool koine_run_change(KoineRun *run, const KoineChange *changes, uint32_t n, KoineReason *why)
{
    bool begins_anew = false, any = false;
    if (run->is_over)
        return refuse(why, "the run has ended: nothing can be changed any more");
    for (uint32_t k = 0; k < n; k++)
        if (!check(run, &changes[k], why))
            return false;
    for (uint32_t k = 0; k < n; k++) {
        const bool differs = slot_of(run, &changes[k]).i != changes[k].value.i;
        any |= differs;
        begins_anew |= differs && is_state(run, &changes[k]);
    }
    if (!any)
        return true;
    run->pause.outside = (KoineOutside){ .changes = changes, .n_changes = n };
    return make_instant(run, KOINE_AT_INPUT, begins_anew) ||
           refuse(why, "%.250s", run->report->text[0] ? run->report->text : "the model has ended the run");
}

bool koine_run_enter(KoineRun *run, uint32_t k, KoineReason *why)
{
    if (run->is_over)
        return refuse(why, "the run has ended: nothing can be called any more");
    if (k >= run->tables->callables.n_entries)
        return refuse(why, "the model has %u entries, there is no entry %u", (unsigned)run->tables->callables.n_entries,
                      (unsigned)k);
    run->pause.outside = (KoineOutside){ .entry = k };
    return make_instant(run, KOINE_AT_ENTRY, false) ||
           refuse(why, "%.250s", run->report->text[0] ? run->report->text : "the model has ended the run");
}
