/* Where an origin stands in the user's text; see explain.h. */
#include "base/text.h"
#include "emit/program/explain.h"
#include <string.h>

const Block *origin_block(const Explainer *of, uint32_t origin, const Schedule **schedule)
{
    const uint32_t n = of->schedule->blocks.n, first = schedule_initial_origin(of->schedule);
    *schedule = origin < n ? of->schedule : of->schedule->initial;
    if (origin < n)
        return &of->schedule->blocks.at[origin];
    return origin < first ? NULL : &of->schedule->initial->blocks.at[origin - first];
}

static bool is_in_force(const Explainer *of, RegionId region, uint16_t branch, const KoineSlot *m)
{
    for (; region.index != ID_NONE; branch = of->model->regions.at[region.index].parent_branch,
                                    region = of->model->regions.at[region.index].parent) {
        const VarId selector = of->model->regions.at[region.index].selector;
        if (var_is_none(selector) || of->slots->now[selector.index] == KOINE_NONE ||
            m[of->slots->now[selector.index]].i != branch)
            return false;
    }
    return true;
}

/* Equations of the branches of a region are one in the schedule: the place is that of the branch in force. */
static Span equation_span(const Explainer *of, EqId equation, const KoineSlot *m)
{
    const Model *model = of->model;
    const Equation *merged = &model->equations.at[equation.index];
    if (merged->origin.made_by && strcmp(merged->origin.made_by, "merge-regions") == 0) {
        const Ref target = term_refs(model, merged->lhs)[0];
        for (uint32_t k = 0; k < model->equations.n; k++) {
            const Equation *e = &model->equations.at[k];
            if (e->kind != EQUATION_DROPPED || e->region.index == ID_NONE || !e->lhs.shape)
                continue;
            const Ref own = term_refs(model, e->lhs)[0];
            const VarId alias = own.kind == target.kind ? model_var(model, own.var)->alias : VAR_NONE;
            const uint32_t holder = var_is_none(alias) ? own.var.index : alias.index;
            if (own.kind == target.kind && holder == target.var.index && is_in_force(of, e->region, e->branch, m))
                return e->origin.span;
        }
    }
    return merged->origin.span;
}

OriginEffect origin_effect(const Explainer *of, uint32_t origin, Arena *arena)
{
    const Model *m = of->model;
    const uint32_t number = origin - of->schedule->blocks.n;
    if (number < m->assignments.n) {
        const Assignment *a = &m->assignments.at[number];
        return (OriginEffect){ .what = arena
                                           ? arena_format(arena, "the assignment to %s", term_text(m, a->target, arena))
                                           : "",
                               .span = a->span,
                               .guard = a->guard,
                               .values = &a->value,
                               .n_values = 1 };
    }
    const Action *a = &m->actions.at[number - m->assignments.n];
    return (OriginEffect){ .what = a->kind == ACTION_SEND ? "what is sent" : "what is said",
                           .span = a->span,
                           .guard = a->guard,
                           .values = !term_is_absent(a->message) ? &a->message
                                     : a->n_args                 ? &m->conditions.at[a->first_arg]
                                                                 : NULL,
                           .n_values = term_is_absent(a->message) ? a->n_args : 1 };
}

Span origin_span(const Explainer *of, uint32_t origin, const KoineSlot *values)
{
    const Model *m = of->model;
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    if (!b)
        return origin_effect(of, origin, NULL).span;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN: return equation_span(of, b->equation, values);
    case BLOCK_RELATION: return m->relations.at[b->u.object].origin.span;
    case BLOCK_STEP: return m->steps.at[b->u.object].origin.span;
    case BLOCK_TRANSITION: return m->transitions.at[b->u.object].origin.span;
    }
    return SPAN_NONE;
}

InstanceId origin_owner(const Explainer *of, uint32_t origin)
{
    const Model *m = of->model;
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    if (!b) {
        const uint32_t number = origin - of->schedule->blocks.n, action = number - m->assignments.n;
        for (uint32_t k = 0; k < m->transitions.n; k++) {
            const Transition *t = &m->transitions.at[k];
            if (number < m->assignments.n ? number - t->first_assignment < t->n_assignments
                                          : action - t->first_action < t->n_actions)
                return t->owner;
        }
        return (InstanceId){ 0 };
    }
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN: return m->equations.at[b->equation.index].owner;
    case BLOCK_RELATION: return m->relations.at[b->u.object].owner;
    case BLOCK_STEP: return m->steps.at[b->u.object].owner;
    case BLOCK_TRANSITION: return m->transitions.at[b->u.object].owner;
    }
    return (InstanceId){ 0 };
}

KoineOrigin origin_at(const Model *m, const char *path, Span span)
{
    KoineOrigin where = { .text = "", .path = path ? path : "" };
    if (span.source == SOURCE_NONE)
        return where;
    const LineColumn at = span_begin(m->sources, span);
    where.place = (KoinePlace){ span.source, at.line, at.column };
    return where;
}

void locate_origin(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where)
{
    const Explainer *of = context;
    const Schedule *schedule;
    *where = (KoineOrigin){ .text = "", .path = "" };
    if (origin == KOINE_NONE)
        return;
    const Span span = origin_span(of, origin, (const KoineSlot *)(const void *)model->block);
    *where = origin_at(of->model, of->paths[origin_owner(of, origin).index], span);
    const Block *b = origin_block(of, origin, &schedule);
    if (b && b->kind == BLOCK_RELATION && of->comparisons[b->u.object])
        where->text = of->comparisons[b->u.object];
}

void add_place(const Explainer *of, Text *to, Span span)
{
    if (span.source == SOURCE_NONE)
        return;
    const LineColumn at = span_begin(of->model->sources, span);
    text_format(to, "%s:%u:%u", sources_get(of->model->sources, span.source)->path, at.line, at.column);
}
