#include "experiment/phases.h"
#include "base/vec.h"
#include <float.h>
#include <math.h>

static const double DEFAULT_POINTS = 500;

/* ---- Settings --------------------------------------------------------------------------------------------------- */

static bool check_time(const Experiment *whole, const ExperimentPhase *phase, Diag *diag)
{
    const double start = whole->has[EXPERIMENT_START] ? whole->begin.start : 0;
    if (phase->part.stop > start && phase->part.stop <= whole->part.stop)
        return true;
    diag_error(diag, DIAG_PHASE, phase->spans[EXPERIMENT_STOP],
               "a phase ends at %.9g, which is not between the start %.9g and the stop %.9g", phase->part.stop, start,
               whole->part.stop);
    return false;
}

static bool add_phase(Experiment *merged, double until, const Phase *before, const KoineHost *host,
                      const Controls *controls, Diag *diag, Phase *phase)
{
    *phase = (Phase){ .host = *host };
    const bool is_good = control_apply(merged, controls, &phase->host, &phase->options, diag);
    if (before && before->host.resolution != phase->host.resolution) {
        diag_error(diag, DIAG_PHASE, SPAN_NONE, "TScal cannot change from phase to phase: it is %g, then %g",
                   before->host.resolution, phase->host.resolution);
        return false;
    }
    phase->options.stop = until;
    phase->options.is_continued = before != NULL;
    phase->settings = merged->part.settings;
    return is_good;
}

bool phases_prepare(Experiment *experiment, const KoineHost *host, const KoineTables *tables, Arena *arena, Diag *diag,
                    Controls *controls, Phases *phases)
{
    VEC(Phase) all = { 0 };
    Experiment merged = *experiment;
    Controls now;
    Phase phase;
    bool is_good = true;
    double reached = -INFINITY;
    for (uint32_t k = 0; k <= experiment->n_phases; k++) {
        const bool is_rest = k == experiment->n_phases; /* what the phases leave of the run, or all of it */
        if (is_rest && reached >= experiment->part.stop)
            break;
        if (k > 0) /* what was set is set */
            merged.part.settings = (SettingList){ 0 };
        double until = experiment->part.stop;
        if (!is_rest) {
            const ExperimentPhase *own = &experiment->phases[k];
            Experiment changes = experiment_of_phase(own);
            changes.has[EXPERIMENT_STOP] = false;
            merged = experiment_merge(&merged, &changes, arena);
            if (own->has[EXPERIMENT_STOP])
                is_good &= check_time(experiment, own, diag);
            until = own->has[EXPERIMENT_STOP] ? own->part.stop : experiment->part.stop;
        }
        is_good &= control_gather(&merged, tables, arena, diag, &now);
        is_good = is_good && add_phase(&merged, until, all.n ? &all.at[all.n - 1] : NULL, host, &now, diag, &phase);
        if (!is_good)
            return false;
        if (k == 0)
            *controls = now;
        vec_push(arena, &all, phase);
        reached = until;
    }
    const double start = all.at[0].options.start; /* one output grid for all of them */
    for (uint32_t k = 0; k + 1 < all.n; k++)
        all.at[k].options.goes_on = true;
    for (uint32_t k = 0; k < all.n; k++)
        if (all.n > 1 && !(all.at[k].options.interval > 0))
            all.at[k].options.interval = (experiment->part.stop - start) / DEFAULT_POINTS;
    *phases = (Phases){ all.at, all.n };
    experiment->part.settings = all.at[0].settings;
    return true;
}

/* ---- Sinks ------------------------------------------------------------------------------------------------------ */

typedef struct {
    KoineSink sink; /* first: the sink is this */
    KoineSink *inner;
    PhaseSinks *all;
    KoinePoint stop; /* the end of the last phase waits ... */
    KoineModel then; /* ... with the block of that time */
    bool has_stop;
    bool has_event; /* at the end of the last phase: the next one begins with a row */
} PhaseSink;

struct PhaseSinks {
    Arena *arena;
    PhaseSink *at;
    KoineSink **pointers;
    KoineSink *const *inner;
    uint32_t n;
    bool is_first, is_last, is_cut_anywhere;
    double start, stop, interval; /* of the phase */
};

static KoineStatus forwarded(PhaseSink *s, KoineStatus status)
{
    s->sink.next_time = s->inner->next_time;
    s->sink.has_own_grid = s->inner->has_own_grid;
    if (status < 0)
        memcpy(s->sink.error, s->inner->error, sizeof s->sink.error);
    return status;
}

static KoineStatus phase_begin(KoineSink *sink, const KoineModel *model)
{
    PhaseSink *s = (PhaseSink *)(void *)sink;
    return s->all->is_first && s->inner->begin ? forwarded(s, s->inner->begin(s->inner, model)) : KOINE_OK;
}

/* Times this close are one instant; as the runtime has it. */
static double near_time(double time)
{
    return 16 * DBL_EPSILON * fabs(time);
}

/* A point of the output grid, or one that the sink itself has asked for. */
static bool is_wanted(const PhaseSink *s, double time)
{
    const double near = near_time(time);
    if (s->inner->has_own_grid)
        return s->inner->next_time <= time + near;
    const double n = round((time - s->all->start) / s->all->interval);
    return fabs(s->all->start + n * s->all->interval - time) <= near;
}

static void keep(PhaseSink *s, const KoineModel *model, const KoinePoint *point)
{
    unsigned char *block = arena_alloc(s->all->arena, model->size, 64);
    memcpy(block, model->block, model->size);
    s->then = *model;
    s->then.block = block;
    s->stop = *point;
    s->stop.kind = KOINE_POINT_LEFT;
    s->has_stop = true;
}

/* The end of the phase before is of interest if something else happens at its time. */
static KoineStatus flush_before(PhaseSink *s, double time)
{
    const bool is_seen = s->has_stop && time <= s->stop.time && !s->inner->skips_events;
    s->has_stop = false;
    if (!is_seen)
        return KOINE_OK;
    return forwarded(s, s->inner->point(s->inner, &s->then, &s->stop));
}

static bool has_changed(const PhaseSink *s, const KoineModel *model)
{
    const KoineTables *tables = model->kind->tables;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *variable = &tables->variables[k];
        if (variable->now != KOINE_NO_OFFSET && memcmp(model->block + variable->now, s->then.block + variable->now,
                                                       sizeof(KoineSlot) * (size_t)variable->count) != 0)
            return true;
    }
    return false;
}

/* An event at the end of a phase off the output grid, where no rows at events are wanted: what comes of it is seen when
 * the next phase begins. */
static bool waits_for_next(const PhaseSink *s, const KoinePoint *point)
{
    if (point->kind == KOINE_POINT_START || point->kind == KOINE_POINT_GRID || point->kind == KOINE_POINT_STOP)
        return false;
    return s->inner->skips_events && !s->all->is_last && point->time >= s->all->stop - near_time(point->time) &&
           !is_wanted(s, point->time);
}

static KoineStatus phase_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    PhaseSink *s = (PhaseSink *)(void *)sink;
    KoinePoint seen = *point;
    if (waits_for_next(s, point)) {
        s->has_event = true;
        return KOINE_OK;
    }
    if (point->kind == KOINE_POINT_STOP && !s->all->is_last) {
        keep(s, model, point);
        if (!is_wanted(s, point->time))
            return KOINE_OK;
        s->has_stop = false; /* written now; the copy tells what changes */
        seen.kind = s->inner->has_own_grid ? KOINE_POINT_LEFT : KOINE_POINT_GRID;
    } else if (point->kind == KOINE_POINT_START && !s->all->is_first) {
        const bool has_event = s->has_event;
        s->has_event = false;
        if (!has_event && !has_changed(s, model))
            return KOINE_OK;
        if (point->event_step > 0)
            seen.kind = KOINE_POINT_RIGHT;
    }
    const KoineStatus status = flush_before(s, seen.time);
    if (s->then.block && seen.time == s->stop.time && s->then.size == model->size)
        memcpy(s->then.block, model->block, model->size); /* events at the border: they are seen */
    return status < 0 ? status : forwarded(s, s->inner->point(s->inner, model, &seen));
}

static KoineStatus phase_end(KoineSink *sink, const KoineModel *model)
{
    PhaseSink *s = (PhaseSink *)(void *)sink;
    return s->all->is_last && s->inner->end ? forwarded(s, s->inner->end(s->inner, model)) : KOINE_OK;
}

PhaseSinks *phase_sinks(KoineSink *const *sinks, uint32_t n, Arena *arena)
{
    PhaseSinks *all = NEW(arena, PhaseSinks);
    *all = (PhaseSinks){ .arena = arena, .inner = sinks, .n = n };
    all->at = NEW_ARRAY(arena, PhaseSink, n);
    all->pointers = NEW_ARRAY(arena, KoineSink *, n);
    for (uint32_t k = 0; k < n; k++) {
        all->at[k] = (PhaseSink){ .inner = sinks[k], .all = all };
        all->at[k].sink = (KoineSink){ .wants_event_steps = sinks[k]->wants_event_steps,
                                       .has_own_grid = sinks[k]->has_own_grid,
                                       .skips_events = sinks[k]->skips_events,
                                       .begin = phase_begin,
                                       .point = phase_point,
                                       .end = phase_end };
        all->pointers[k] = &all->at[k].sink;
    }
    return all;
}

KoineSink *const *phase_sinks_of(PhaseSinks *sinks, bool is_first, bool is_last, const KoineRunOptions *options)
{
    sinks->is_first = is_first;
    sinks->is_last = is_last;
    sinks->start = options->start;
    sinks->stop = options->stop;
    sinks->interval = options->interval;
    return is_first && is_last && !sinks->is_cut_anywhere ? sinks->inner : sinks->pointers;
}

void phase_sinks_cut_anywhere(PhaseSinks *sinks)
{
    sinks->is_cut_anywhere = true;
}

void phase_sinks_end(PhaseSinks *sinks, const KoineModel *model)
{
    if (sinks->is_last)
        return;
    for (uint32_t k = 0; k < sinks->n; k++)
        if (sinks->at[k].inner->end)
            sinks->at[k].inner->end(sinks->at[k].inner, model);
}
