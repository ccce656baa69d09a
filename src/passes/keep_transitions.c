/* See keep_transitions.h. */
#include "passes/keep_transitions.h"
#include "ir/element.h"
#include "passes/choose_splits.h"
#include "passes/keep_comparisons.h"

void transition_visit_terms(const Model *model, const Transition *transition, void (*visit)(void *context, Term term),
                            void *context)
{
    for (uint32_t k = 0; k < transition->n_conditions; k++)
        visit(context, model->conditions.at[transition->first_condition + k]);
    for (uint32_t k = 0; k < transition->n_assignments; k++) {
        const Assignment *a = &model->assignments.at[transition->first_assignment + k];
        visit(context, a->target);
        visit(context, a->value);
        if (!term_is_absent(a->guard))
            visit(context, a->guard);
    }
}

typedef struct {
    const Model *model;
    DomainId domain;
    bool is_good;
} Looking;

/* Every element is known at each point of the range; nothing is called. */
static bool is_by_element(const Looking *l, const Expr *e, const Ref *refs)
{
    if (e->kind == EXPR_FUNCTION || e->kind == EXPR_REDUCE || e->kind == EXPR_ARRAY || e->has_call)
        return false;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = refs[e->u.leaf];
        if (ref.kind == REF_FIRED || ref.kind == REF_INITIAL || e->type.rank)
            return false;
        return element_is_inside(l->model, e, refs, l->domain);
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_by_element(l, e->args[k], refs))
            return false;
    return true;
}

static void look_at(void *context, Term term)
{
    Looking *l = context;
    l->is_good = l->is_good && is_by_element(l, term.shape, term_refs(l->model, term));
}

/* All assignments are to elements of arrays that keep their value until the next step, another one at each point. */
static bool assigns_by_point(const Model *m, const Transition *t)
{
    bool is_good = t->n_assignments > 0;
    for (uint32_t k = 0; k < t->n_assignments && is_good; k++) {
        const Term target = m->assignments.at[t->first_assignment + k].target;
        is_good = target.shape->n_args > 0;
    }
    return is_good;
}

static bool may_stay_whole(const Model *m, const Transition *t)
{
    const bool has_edge = t->trigger == TRIGGER_LEVEL || t->trigger == TRIGGER_EDGE;
    if (!t->domain.index || t->effect != EFFECT_NEXT || t->form != FORM_SET || !has_edge || t->group || t->n_actions ||
        t->region.index != ID_NONE || !t->n_conditions || !domain_has_unit_strides(m, t->domain) ||
        !domain_count(m, t->domain) || !assigns_by_point(m, t))
        return false;
    for (uint32_t k = 0; k < t->n_conditions; k++)
        if (!condition_keeps_comparisons(m, m->conditions.at[t->first_condition + k], t->domain))
            return false;
    Looking looking = { m, t->domain, true };
    transition_visit_terms(m, t, look_at, &looking);
    return looking.is_good;
}

bool *find_whole_transitions(const Model *model, Arena *arena)
{
    bool *is_whole = NEW_ARRAY(arena, bool, model->transitions.n + 1);
    bool any = false;
    for (uint32_t k = 0; k < model->transitions.n; k++)
        any |= is_whole[k] = may_stay_whole(model, &model->transitions.at[k]);
    for (uint32_t k = 0; any && k < model->refs.n && model_may_have(model, REF_FIRED); k++)
        if (model->refs.at[k].kind == REF_FIRED) /* whether any point of it fires is asked of its elements */
            is_whole[model->refs.at[k].var.index] = false;
    return is_whole;
}
