/* What a program without compiler says of faults: what stands in its tables; see koine/support.h. */
#include "machine.h"
#include <math.h>
#include <stdio.h>

static const KoineOrigin *origin_of(const KoineModel *model, uint32_t origin)
{
    const KoineSourceText *text = &model->kind->tables->text;
    return origin < text->n_origins ? &text->origins[origin] : NULL;
}

/* Texts of comparisons are the comparisons; others say where something is computed. */
static bool is_comparison(const KoineOrigin *at)
{
    return strncmp(at->text, "in the ", 7) != 0;
}

void koine_tell_place(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where)
{
    const KoineOrigin *at = origin_of(model, origin);
    (void)context;
    *where = (KoineOrigin){ "", "", { 0 } };
    if (at)
        *where = (KoineOrigin){ is_comparison(at) ? at->text : "", at->path, at->place };
}

static void add_place(const KoineTables *tables, const KoinePlace *place, KoineText *to)
{
    if (place->line && place->source < tables->text.n_sources)
        koine_text_add(to, "%s:%u:%u: ", tables->text.sources[place->source], (unsigned)place->line,
                       (unsigned)place->column);
}

/* The first state whose derivative is no number; NULL: there is none. */
static const KoineVariable *lost_state(const KoineModel *model)
{
    const KoineTables *tables = model->kind->tables;
    const double *slopes = (const double *)(const void *)(model->block + tables->dx);
    for (uint32_t k = 0; k < tables->n_x; k++)
        if (!isfinite(slopes[k]))
            return &tables->variables[tables->state_variable[k]];
    return NULL;
}

static bool is_call(const KoineModel *model)
{
    const Machine *m = model->handles;
    return m->program->slots.calls != KOINE_NONE && m->slots[m->program->slots.calls].i != 0;
}

/* What happened, where the machine has not said it. */
static void add_cause(KoineModel *model, const KoineOrigin *at, KoineText *to)
{
    const KoineVariable *state = at || is_call(model) ? NULL : lost_state(model);
    model->fault.cause = is_call(model) ? KOINE_CAUSE_FUNCTION : KOINE_CAUSE_NOT_FINITE;
    if (is_call(model))
        koine_text_add(to, "a function of the model failed");
    else if (state)
        koine_text_add(to, "the derivative of %s has no finite value", state->name);
    else
        koine_text_add(to, at ? "no finite value" : "a derivative has no finite value");
    if (at && at->text[0] && is_comparison(at))
        koine_text_add(to, " (in the comparison %s)", at->text);
    else if (at && at->text[0])
        koine_text_add(to, " (%s)", at->text);
}

void koine_tell_fault(void *context, KoineModel *model, uint32_t origin)
{
    const KoineTables *tables = model->kind->tables;
    const KoineOrigin *at = origin_of(model, origin);
    char room[KOINE_FAULT_TEXT];
    KoineText text = koine_text_in(room, sizeof room);
    (void)context;
    if (at)
        model->fault.place = at->place;
    add_place(tables, &model->fault.place, &text);
    if (model->fault.text[0]) /* the machine said what happened, only the place was missing */
        koine_text_add(&text, "%s", model->fault.text);
    else
        add_cause(model, at, &text);
    if (at)
        koine_text_add(&text, ", component %s", at->path[0] ? at->path : tables->name);
    snprintf(model->fault.text, sizeof model->fault.text, "%s", room);
}
