/* A run that waits: between two advances the caller sees the values of the time that was asked for.
 *
 * The solver's steps do not end there. The step that contains the time is made and looked at for events, and what lies
 * before the time is recorded; the rest of it waits. The block is set aside, shows the interpolated values meanwhile,
 * and is put back when the run goes on: so it makes no difference whether and where a run waits. */
#include "runtime/run.h"
#include <stdlib.h>

bool koine_pauses_before(const KoineRun *run, double to, bool instant_follows)
{
    return run->pause.until < to && (!instant_follows || run->pause.until < to - koine_near(to));
}

KoineStatus koine_pause_in_part(KoineRun *run, double to, bool is_event)
{
    run->pause.part_end = to;
    run->pause.is_event = is_event;
    run->pause.has_part = true;
    TRY(koine_record_grid(run, run->pause.until, false));
    if (run->is_over) /* interrupted at a point of the output grid */
        run->pause.has_part = false;
    return KOINE_OK;
}

static KoineStatus set_aside(KoineRun *run)
{
    KoinePause *pause = &run->pause;
    const KoineModel *model = run->model;
    if (pause->capacity < model->size) {
        free(pause->block);
        pause->block = malloc(model->size);
        pause->capacity = pause->block ? model->size : 0;
        if (!pause->block)
            return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for a copy of a model of %llu bytes",
                                 (unsigned long long)model->size);
    }
    memcpy(pause->block, model->block, model->size);
    pause->size = model->size;
    pause->placed = run->solver ? run->solver->placed : NAN;
    pause->fault = model->fault;
    return KOINE_OK;
}

KoineStatus koine_pause_show(KoineRun *run)
{
    const double time = run->pause.has_part ? run->pause.until : run->time;
    TRY(set_aside(run));
    run->pause.is_shown = true;
    run->report->time = time;
    if (run->pause.has_part)
        TRY(koine_place(run, time));
    if (!run->pause.has_part || run->output.evaluated_time != time) /* else it was recorded just now */
        koine_evaluate_here(run, time);                             /* what cannot be computed here keeps its value */
    return KOINE_OK;
}

void koine_pause_resume(KoineRun *run)
{
    KoinePause *pause = &run->pause;
    if (!pause->is_shown)
        return;
    memcpy(run->model->block, pause->block, pause->size);
    if (run->solver)
        run->solver->placed = pause->placed;
    run->model->fault = pause->fault;
    pause->is_shown = false;
}

KoineStatus koine_pause_stay(KoineRun *run)
{
    koine_pause_resume(run);
    if (!run->pause.has_part)
        return KOINE_OK;
    run->pause.has_part = false;
    run->time = run->report->time;
    TRY(koine_place(run, run->time));
    koine_keep(run);
    return KOINE_OK;
}

KoineStatus koine_pause_take_part(KoineRun *run, KoineAside *aside)
{
    *aside = (KoineAside){ .time = run->time,
                           .sampled_time = run->signals.sampled_time,
                           .is_event = run->pause.is_event,
                           .report = *run->report };
    koine_pause_resume(run);
    run->time = run->report->time;
    run->pause.has_part = false;
    run->pause.cause = 0;
    TRY(koine_place(run, run->time));
    return koine_accept_quietly(run, &run->pause.cause);
}

/* The copy that was set aside is still there; the block may have grown. */
void koine_pause_leave_part(KoineRun *run, const KoineAside *aside)
{
    KoinePause *pause = &run->pause;
    run->model->size = pause->size;
    pause->is_shown = true;
    koine_pause_resume(run);
    run->time = aside->time;
    run->signals.sampled_time = aside->sampled_time;
    run->is_over = false;
    pause->has_part = true;
    pause->is_event = aside->is_event;
    pause->cause = 0;
    *run->report = aside->report;
    (void)koine_pause_show(run); /* as it was shown before */
}
