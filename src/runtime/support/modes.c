/* A kind made of the kinds of modes; see koine/modes.h.
 *
 * The block of an instance: which mode it is in, time, states and slopes of all modes, a copy of the values of all
 * rows, and behind them the block of the instance of the present mode, so that a copy of the block is a copy of the
 * whole. A place of the states that the present mode does not use has the slope 0. */
#include "modes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SWITCHES = 100 }; /* in one instant */

static KoineStatus fail(KoineModel *model, KoineCause cause, const char *text)
{
    model->fault = (KoineFault){ .origin = -1, .variable = -1, .cause = cause };
    memcpy(&model->fault.time, model->block + model->kind->tables->time, sizeof(double));
    snprintf(model->fault.text, sizeof model->fault.text, "%s", text);
    return KOINE_FAILED;
}

static KoineStatus told(KoineModel *model, const Mode *mode, KoineStatus status)
{
    if (status == KOINE_OK || status == KOINE_GROW)
        return status;
    model->fault = mode->model->fault;
    model->fault.origin = -1; /* of the tables of the mode */
    return status;
}

/* ---- values to and fro ---- */
static void show_values(KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    Modal *modal = model->handles;
    koine_mode_values(machine_of(mode), modal->shown);
    memcpy(model->block + kind->values, modal->shown, kind->n_values * sizeof(KoineSlot));
}

static void show_states(KoineModel *model, const Mode *mode)
{
    const KoineTables *tables = mode->model->kind->tables;
    const double *x = (const double *)(const void *)(mode->model->block + tables->x);
    for (uint32_t k = 0; k < tables->n_x; k++)
        states_in(model)[mode->place[k]] = x[k];
}

static const double *gather(const KoineModel *model, const Mode *mode, const double *x)
{
    const uint32_t n = mode->model->kind->tables->n_x;
    for (uint32_t k = 0; k < n; k++)
        mode->x[k] = (x ? x : states_in(model))[mode->place[k]];
    return mode->x;
}

static void write_value(const Mode *mode, uint32_t row, uint32_t element, KoineSlot value, bool is_start)
{
    const KoineVariable *v = &mode->model->kind->tables->variables[row];
    const uint64_t at = is_start ? v->set : v->now;
    if (at == KOINE_NO_OFFSET)
        return;
    if (v->flags & KOINE_VARIABLE_NEGATED && v->type == KOINE_REAL)
        value.r = -value.r;
    else if (v->flags & KOINE_VARIABLE_NEGATED)
        value.i = -value.i;
    memcpy(mode->model->block + at + element * sizeof value, &value, sizeof value);
}

/* Inputs are written from outside whenever somebody likes. */
static void take_inputs(const KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    for (uint32_t j = 0; j < kind->tables.n_variables; j++) {
        const KoineVariable *v = &kind->variables[j];
        for (uint32_t i = 0; v->causality == KOINE_CAUSALITY_INPUT && i < v->count; i++) {
            KoineSlot value;
            memcpy(&value, model->block + v->now + i * sizeof value, sizeof value);
            write_value(mode, j, i, value, false);
        }
    }
}

/* It is not computed from others. */
static bool is_open(const KoineVariable *v)
{
    return v->state >= 0 || v->variability <= KOINE_VARIABILITY_DISCRETE || v->causality == KOINE_CAUSALITY_INPUT;
}

/* What was written since the values were shown. */
static KoineStatus take_written(KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    const Modal *modal = model->handles;
    const KoineTables *tables = mode->model->kind->tables;
    const KoineSlot *now = (const KoineSlot *)(const void *)(model->block + kind->values), *shown = modal->shown;
    for (uint32_t j = 0; j < kind->tables.n_variables; j++)
        for (uint32_t i = 0; i < kind->variables[j].count; i++, now++, shown++) {
            if (now->i == shown->i)
                continue;
            if (!is_open(&tables->variables[j])) {
                char text[KOINE_FAULT_TEXT];
                snprintf(text, sizeof text, "'%.200s' cannot be set here: it follows from others in the present mode",
                         kind->variables[j].name);
                return fail(model, KOINE_CAUSE_MODE, text);
            }
            write_value(mode, j, i, *now, false);
        }
    const double *x = (const double *)(const void *)(mode->model->block + tables->x);
    for (uint32_t k = 0; k < tables->n_x; k++)
        states_in(model)[mode->place[k]] = x[k];
    return KOINE_OK;
}

/* ---- changing the mode ---- */
static KoineStatus refuse(KoineModel *model, const Mode *mode, const char *why)
{
    const KoineMode *now = &machine_of(mode)->program->mode;
    char room[KOINE_FAULT_TEXT];
    KoineText text = koine_text_in(room, sizeof room);
    for (uint32_t k = 0; k < now->n; k++) {
        const int64_t value = machine_of(mode)->slots[now->at[k].slot].i;
        if (value != now->at[k].value)
            koine_text_add(&text, "%s%.200s has become %lld", text.n ? ", " : "", now->at[k].name, (long long)value);
    }
    koine_text_add(&text, "%s%.600s", text.n ? ": " : "", why);
    return fail(model, KOINE_CAUSE_MODE, room);
}

/* The instance for the values that `mode` has come to. */
static Mode *find_mode(KoineModel *model, Mode *mode, KoineStatus *status)
{
    const ModesKind *kind = kind_of(model);
    Modal *modal = model->handles;
    char why[512] = "";
    const KoineModelKind *inner = kind->modes->find(kind->modes->context, mode->model, why, sizeof why);
    *status = KOINE_OK;
    if (!inner) {
        *status = refuse(model, mode, why);
        return NULL;
    }
    for (Mode *known = modal->all; known; known = known->next)
        if (known->model->kind->tables == inner->tables) {
            kind->modes->release(kind->modes->context, inner);
            return known;
        }
    Mode *made = koine_mode_create(model, inner);
    if (!made)
        *status =
            refuse(model, mode, "there is no memory for this mode, or it has more states than all variables under der");
    return made;
}

/* A combination that is excluded has no Schedule of its own: what comes of it is seen with the equations as they are.
 * False: it is not that. */
static bool be_lost(const Mode *mode)
{
    Machine *m = machine_of(mode);
    m->spaces.is_lost = koine_choices_are(m, m->program->mode.at, m->program->mode.n);
    return m->spaces.is_lost;
}

/* The present mode has ended within an event step. */
static KoineStatus change_mode(KoineModel *model)
{
    Modal *modal = model->handles;
    Mode *from = koine_mode_present(model);
    KoineStatus status;
    if (++modal->n_switches > MOST_SWITCHES)
        return refuse(model, from, "modes follow each other at one time without end");
    Mode *to = find_mode(model, from, &status);
    if (!to)
        return be_lost(from) ? KOINE_OK : status;
    if (to->obstacle)
        return refuse(model, from, to->obstacle);
    if (to != from && to->last_step == modal->n_steps)
        return refuse(model, from, "no mode fits: each leads to another one, back to the first");
    const uint64_t size = from->model->size;
    unsigned char *old =
        aligned_alloc(KOINE_ALIGNMENT, (size + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT);
    if (!old)
        return fail(model, KOINE_CAUSE_MEMORY, "no memory for another mode");
    memcpy(old, from->model->block, size);
    if (modal->n_switches > 1) /* the values of the mode between are what it has come to */
        koine_mode_values(machine_of(from), modal->left);
    if (!koine_mode_put(model, to)) {
        free(old);
        return fail(model, KOINE_CAUSE_MEMORY, "no memory for another mode");
    }
    from->model->block = old;
    status = koine_mode_carry(machine_of(to), machine_of(from), modal->left);
    from->model->block = from->pristine;
    free(old);
    return told(model, to, status);
}

/* ---- the interface ---- */
static void modes_destroy(KoineModel *model)
{
    Modal *modal = model ? model->handles : NULL;
    if (!model)
        return;
    while (modal && modal->all) {
        Mode *next = modal->all->next;
        koine_mode_destroy(kind_of(model), modal->all);
        modal->all = next;
    }
    if (modal)
        free(modal->left);
    free(modal);
    free(model->block);
    free(model);
}

/* Rows have the values that the first mode is created with. */
static void show_starts(KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    show_values(model, mode);
    for (uint32_t j = 0; j < kind->tables.n_variables; j++) {
        const KoineVariable *v = &kind->variables[j], *inner = &mode->model->kind->tables->variables[j];
        if (v->set != KOINE_NO_OFFSET && v->set != v->now)
            memcpy(model->block + v->set, mode->model->block + inner->set, v->count * sizeof(KoineSlot));
    }
}

static KoineStatus modes_create(const KoineModelKind *base, const KoineHost *host, KoineModel **out)
{
    const ModesKind *kind = (const ModesKind *)(const void *)base;
    KoineModel *model = calloc(1, sizeof *model);
    if (!model)
        return KOINE_FAILED;
    Modal *modal = model->handles = calloc(1, sizeof *modal);
    model->kind = base;
    model->host = host;
    if (modal)
        modal->is_counting = host && host->wants_work;
    model->size = kind->tables.block_size;
    model->block = aligned_alloc(KOINE_ALIGNMENT, model->size);
    model->fault.origin = model->fault.variable = -1;
    if (modal)
        modal->left = calloc(2 * (size_t)kind->n_values + 1, sizeof *modal->left);
    if (!modal || !model->block || !modal->left) {
        modes_destroy(model);
        return KOINE_FAILED;
    }
    modal->shown = modal->left + kind->n_values;
    memset(model->block, 0, model->size);
    const KoineModelKind *first = kind->modes->again(kind->modes->context, 0);
    Mode *mode = modal->first = koine_mode_create(model, first);
    if (!mode || !koine_mode_put(model, mode)) {
        modes_destroy(model);
        return KOINE_FAILED;
    }
    show_starts(model, mode);
    *out = model;
    return KOINE_OK;
}

/* What only events change and nobody may set was written where a run goes on from an earlier one. */
static void give_remembered(const KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    const Modal *modal = model->handles;
    const KoineSlot *now = (const KoineSlot *)(const void *)(model->block + kind->values), *shown = modal->shown;
    for (uint32_t j = 0; j < kind->tables.n_variables; j++) {
        const KoineVariable *v = &kind->variables[j];
        const bool is_closed = v->flags & KOINE_VARIABLE_SETTABLE || v->causality == KOINE_CAUSALITY_INPUT;
        for (uint32_t i = 0; i < v->count; i++, now++, shown++)
            if (now->i != shown->i && v->variability == KOINE_VARIABILITY_DISCRETE && !is_closed)
                write_value(mode, j, i, *now, false);
    }
}

/* Start values and parameters as they were written, into an instance that begins. */
static KoineStatus give_starts(KoineModel *model, const Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    const Modal *modal = model->handles;
    const KoineTables *tables = mode->model->kind->tables, *first = kind->modes->first->tables;
    for (uint32_t j = 0; j < kind->tables.n_variables; j++) {
        const KoineVariable *v = &kind->variables[j];
        if (v->set == KOINE_NO_OFFSET)
            continue;
        const size_t size = v->count * sizeof(KoineSlot);
        const unsigned char *given = model->block + v->set;
        if (tables->variables[j].set != KOINE_NO_OFFSET) {
            memcpy(mode->model->block + tables->variables[j].set, given, size);
        } else if (memcmp(given, modal->first->pristine + first->variables[j].set, size) != 0) {
            char text[KOINE_FAULT_TEXT];
            snprintf(text, sizeof text,
                     "the start value of '%.200s' cannot be set: it follows from others in the mode in which the model "
                     "begins",
                     v->name);
            return fail(model, KOINE_CAUSE_MODE, text);
        }
    }
    return KOINE_OK;
}

static KoineStatus modes_initialise(KoineModel *model, double time)
{
    enum { MOST_TRIES = 50 };
    Modal *modal = model->handles;
    Mode *mode = koine_mode_present(model);
    for (int k = 0; k < MOST_TRIES; k++) {
        KoineStatus status = KOINE_OK;
        if (!koine_mode_put(model, mode))
            return fail(model, KOINE_CAUSE_MEMORY, "no memory for another mode");
        status = give_starts(model, mode);
        if (status != KOINE_OK)
            return status;
        take_inputs(model, mode);
        give_remembered(model, mode);
        status = mode->model->kind->initialise(mode->model, time);
        memcpy(model->block + model->kind->tables->time, &time, sizeof time);
        if (koine_mode_holds(machine_of(mode))) {
            modal->n_switches = 0;
            if (status == KOINE_OK) {
                show_values(model, mode);
                show_states(model, mode);
            }
            return told(model, mode, status);
        }
        Mode *other = find_mode(model, mode, &status);
        if (!other && !be_lost(mode))
            return status;
        mode = other ? other : mode;
        if (mode->obstacle)
            return refuse(model, modal->present, mode->obstacle);
    }
    return refuse(model, mode, "no mode is found in which the model can begin");
}

static KoineStatus is_unknown(KoineModel *model)
{
    return fail(model, KOINE_CAUSE_MODE, "the run goes on in a mode that no run of this process has been in");
}

static KoineStatus modes_evaluate(KoineModel *model, const KoineEvaluation *at)
{
    Mode *mode = koine_mode_present(model);
    if (!mode)
        return is_unknown(model);
    if (at->want & KOINE_WANT_RESIDUAL)
        return KOINE_ABSENT;
    KoineEvaluation inner = *at;
    const uint32_t n = mode->model->kind->tables->n_x;
    take_inputs(model, mode);
    inner.x = gather(model, mode, at->x);
    inner.der = at->der ? mode->der : NULL;
    inner.roots = mode->roots;
    inner.root_sizes = at->root_sizes ? mode->sizes : NULL;
    for (uint32_t k = 0; inner.root_sizes && k < model->kind->tables->roots.n; k++)
        mode->sizes[mode->root[k]] = at->root_sizes[k];
    const KoineStatus status = told(model, mode, mode->model->kind->evaluate(mode->model, &inner));
    memcpy(model->block + model->kind->tables->time, &at->time, sizeof at->time);
    if (at->der && status == KOINE_OK) {
        memset(at->der, 0, model->kind->tables->n_x * sizeof *at->der);
        for (uint32_t k = 0; k < n; k++)
            at->der[mode->place[k]] = mode->der[k];
    }
    for (uint32_t k = 0; at->want & KOINE_WANT_ROOTS && status == KOINE_OK && k < model->kind->tables->roots.n; k++) {
        at->roots[k] = mode->roots[mode->root[k]];
        if (at->root_sizes)
            at->root_sizes[k] = mode->sizes[mode->root[k]];
    }
    if (at->want & KOINE_WANT_OUTPUTS && status == KOINE_OK)
        show_values(model, mode);
    return status;
}

static KoineStatus modes_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    Mode *mode = koine_mode_present(model);
    if (!mode)
        return is_unknown(model);
    take_inputs(model, mode);
    return told(model, mode, mode->model->kind->accept(mode->model, time, gather(model, mode, x), outcome));
}

/* What moves has a value on the left of the event, with the bits as they were. */
static void take_left(KoineModel *model, const Mode *mode, const KoineArrival *arrival)
{
    Modal *modal = model->handles;
    const KoineEvaluation at = { .time = arrival->time, .x = mode->x, .want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS };
    if (!(arrival->cause & (KOINE_AT_START | KOINE_AT_CONTINUE)))
        (void)mode->model->kind->evaluate(mode->model, &at); /* what has no value keeps the one it had */
    koine_mode_values(machine_of(mode), modal->left);
}

static KoineStatus modes_arrive(KoineModel *model, const KoineArrival *arrival)
{
    Modal *modal = model->handles;
    Mode *mode = koine_mode_present(model);
    if (!mode)
        return is_unknown(model);
    KoineArrival inner = *arrival;
    const KoineStatus written = arrival->cause & KOINE_AT_CONTINUE ? take_written(model, mode) : KOINE_OK;
    if (written != KOINE_OK)
        return written;
    inner.x = gather(model, mode, arrival->cause & KOINE_AT_CONTINUE ? NULL : arrival->x);
    for (uint32_t k = 0; arrival->crossed && k < model->kind->tables->roots.n; k++)
        mode->crossed[mode->root[k]] = arrival->crossed[k];
    inner.crossed = arrival->crossed ? mode->crossed : NULL;
    modal->n_switches = 0;
    machine_of(mode)->spaces.is_lost = false;
    take_left(model, mode, arrival);
    if (!arrival->changes)
        take_inputs(model, mode);
    memcpy(model->block + model->kind->tables->time, &arrival->time, sizeof arrival->time);
    return told(model, mode, mode->model->kind->arrive(mode->model, &inner));
}

static KoineStatus modes_step(KoineModel *model, KoineOutcome *outcome)
{
    Modal *modal = model->handles;
    modal->n_steps++;
    for (;;) {
        Mode *mode = koine_mode_present(model);
        mode->last_step = modal->n_steps;
        KoineStatus status = told(model, mode, mode->model->kind->step(mode->model, outcome));
        if (status != KOINE_OK || !(outcome->flags & KOINE_MODE_ENDS))
            return status;
        status = change_mode(model);
        if (status != KOINE_OK)
            return status;
    }
}

static KoineStatus modes_commit(KoineModel *model, KoineOutcome *outcome)
{
    Mode *mode = koine_mode_present(model);
    return told(model, mode, mode->model->kind->commit(mode->model, outcome));
}

static KoineStatus modes_leave(KoineModel *model, KoineOutcome *outcome)
{
    const Modal *modal = model->handles;
    Mode *mode = koine_mode_present(model);
    const KoineStatus status = told(model, mode, mode->model->kind->leave(mode->model, outcome));
    if (status != KOINE_OK)
        return status;
    if (modal->n_switches)
        outcome->flags |= KOINE_CHANGED | KOINE_STATES | KOINE_RESTART;
    show_states(model, mode);
    show_values(model, mode);
    return status;
}

static KoineStatus modes_flip(KoineModel *model, uint32_t root)
{
    Mode *mode = koine_mode_present(model);
    if (!mode)
        return KOINE_ABSENT;
    return told(model, mode, mode->model->kind->crossings.flip(mode->model, mode->root[root]));
}

static void modes_hold(KoineModel *model, uint32_t root, uint8_t is_held)
{
    Mode *mode = koine_mode_present(model);
    if (mode)
        mode->model->kind->crossings.hold(mode->model, mode->root[root], is_held);
}

static double modes_look_ahead(KoineModel *model, double until, double *searched)
{
    Mode *mode = koine_mode_present(model);
    *searched = until;
    if (!mode)
        return INFINITY;
    if (mode->model->kind->time.look_ahead)
        return mode->model->kind->time.look_ahead(mode->model, until, searched);
    const Machine *m = machine_of(mode);
    return m->instant->n_heap ? m->calendar.entries[m->calendar.heap[0]].time : INFINITY;
}

static uint32_t modes_extremes(KoineModel *model, double from, double to, double *times, uint32_t most)
{
    Mode *mode = koine_mode_present(model);
    return mode && mode->model->kind->time.extremes
               ? mode->model->kind->time.extremes(mode->model, from, to, times, most)
               : 0;
}

static KoineStatus modes_last_event(KoineModel *model, KoineOrigin *where)
{
    Mode *mode = koine_mode_present(model);
    return mode->model->kind->time.last_event(mode->model, where);
}

static uint64_t modes_store(KoineModel *model, KoineSlot *to, uint64_t n_words)
{
    Mode *mode = koine_mode_present(model);
    return mode->model->kind->memory.store(mode->model, to, n_words);
}

static KoineStatus modes_recall(KoineModel *model, const KoineSlot *from, uint64_t n_words)
{
    Mode *mode = koine_mode_present(model);
    return told(model, mode, mode->model->kind->memory.recall(mode->model, from, n_words));
}

static void modes_work(const KoineModel *model, void (*visit)(void *context, const KoineWork *work), void *context)
{
    const Modal *modal = model->handles;
    for (const Mode *mode = modal->all; mode; mode = mode->next)
        mode->model->kind->counts.work(mode->model, visit, context);
}

void koine_modes_calls(KoineModelKind *kind)
{
    *kind = (KoineModelKind){ .version = KOINE_MODEL_VERSION,
                              .size = sizeof *kind,
                              .tables = kind->tables,
                              .create = modes_create,
                              .destroy = modes_destroy,
                              .initialise = modes_initialise,
                              .evaluate = modes_evaluate,
                              .accept = modes_accept,
                              .arrive = modes_arrive,
                              .step = modes_step,
                              .commit = modes_commit,
                              .leave = modes_leave,
                              .counts = { koine_modes_statistics, modes_work },
                              .crossings = { modes_flip, modes_hold },
                              .time = { modes_look_ahead, modes_last_event, modes_extremes },
                              .memory = { modes_store, modes_recall } };
}
