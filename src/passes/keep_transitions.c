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
    for (uint32_t k = 0; k < transition->n_actions; k++) {
        const Action *a = &model->actions.at[transition->first_action + k];
        if (!term_is_absent(a->guard))
            visit(context, a->guard);
        if (!term_is_absent(a->message))
            visit(context, a->message);
        for (uint32_t j = 0; j < a->n_args; j++)
            visit(context, model->conditions.at[a->first_arg + j]);
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

/* Each point assigns elements of its own; what acts now defines all elements of an array, each at its own point. */
static bool assigns_by_point(const Model *m, const Transition *t)
{
    bool is_good = true;
    for (uint32_t k = 0; k < t->n_assignments && is_good; k++) {
        const Term target = m->assignments.at[t->first_assignment + k].target;
        is_good = target.shape->n_args > 0 &&
                  (t->effect == EFFECT_NEXT || element_is_own(m, target.shape, term_refs(m, target), t->domain));
    }
    return is_good;
}

/* Texts, and messages that are sent, are made one by one. */
static bool acts_by_point(const Model *m, const Transition *t)
{
    bool is_good = true;
    for (uint32_t k = 0; k < t->n_actions && is_good; k++) {
        const Action *a = &m->actions.at[t->first_action + k];
        is_good = a->kind != ACTION_SEND && term_is_absent(a->message);
        for (uint32_t j = 0; j < a->n_args && is_good; j++)
            is_good = m->conditions.at[a->first_arg + j].shape->type.kind != TYPE_STRING;
    }
    return is_good;
}

/* What acts now may follow from itself through what is computed in the same step: as long as it reads only what is
 * known before, it does not. */
static void look_for_unknowns(void *context, Term term)
{
    Looking *l = context;
    for (uint32_t k = 0; k < term.shape->n_leaves && l->is_good; k++) {
        const Ref ref = term_refs(l->model, term)[k];
        const uint8_t definition = ref.kind == REF_NOW ? model_var(l->model, ref.var)->definition : DEFINITION_INPUT;
        l->is_good = (ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_TIME) &&
                     (definition == DEFINITION_DER || definition == DEFINITION_NEXT || definition == DEFINITION_INPUT ||
                      definition == DEFINITION_BINDING);
    }
}

static bool reads_what_is_known(const Model *m, const Transition *t)
{
    Looking looking = { m, t->domain, true };
    for (uint32_t k = 0; k < t->n_conditions; k++)
        look_for_unknowns(&looking, m->conditions.at[t->first_condition + k]);
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment *a = &m->assignments.at[t->first_assignment + k];
        look_for_unknowns(&looking, a->value);
        if (!term_is_absent(a->guard))
            look_for_unknowns(&looking, a->guard);
    }
    return looking.is_good;
}

static bool may_stay_whole(const Model *m, const Transition *t)
{
    const bool has_edge = t->trigger == TRIGGER_LEVEL || t->trigger == TRIGGER_EDGE;
    if (!t->domain.index || t->form != FORM_SET || !has_edge || t->region.index != ID_NONE || !t->n_conditions ||
        !domain_has_unit_strides(m, t->domain) || !domain_count(m, t->domain) || !assigns_by_point(m, t) ||
        !acts_by_point(m, t) || (t->effect == EFFECT_NOW && !reads_what_is_known(m, t)))
        return false;
    for (uint32_t k = 0; k < t->n_conditions; k++)
        if (!condition_keeps_comparisons(m, m->conditions.at[t->first_condition + k], t->domain))
            return false;
    Looking looking = { m, t->domain, true };
    transition_visit_terms(m, t, look_at, &looking);
    return looking.is_good;
}

/* ---- what must be whole together ---- */
typedef struct {
    const Model *model;
    bool *is_whole;
    uint32_t *first; /* per group, then per variable: 1 + the first transition of it, or that assigns it now */
} Joining;

/* Of two that belong together both are whole, over the same ranges, or none is. */
static bool join(Joining *j, uint32_t place, uint32_t transition)
{
    const Transition *rows = j->model->transitions.at;
    if (!j->first[place])
        j->first[place] = transition + 1;
    const uint32_t other = j->first[place] - 1;
    const bool are_whole = j->is_whole[transition] && j->is_whole[other] &&
                           domains_are_equal(j->model, rows[transition].domain, rows[other].domain);
    if (are_whole || (!j->is_whole[transition] && !j->is_whole[other]))
        return false;
    j->is_whole[transition] = j->is_whole[other] = false;
    return true;
}

bool join_whole_transitions(const Model *model, bool *is_whole, Arena *arena)
{
    Joining j = { model, is_whole, NEW_ARRAY(arena, uint32_t, model->n_groups + model->variables.n + 2) };
    bool any = false, again = true;
    while (again) {
        again = false;
        for (uint32_t k = 0; k < model->transitions.n; k++) {
            const Transition *t = &model->transitions.at[k];
            if (t->group)
                again |= join(&j, t->group, k);
            for (uint32_t i = 0; t->effect == EFFECT_NOW && i < t->n_assignments; i++) {
                const Term target = model->assignments.at[t->first_assignment + i].target;
                const uint32_t var = term_refs(model, target)[target.shape->u.leaf].var.index;
                again |= join(&j, model->n_groups + 1 + var, k);
            }
        }
        any |= again;
    }
    return any;
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
    for (uint32_t k = 0; any && k < model->equations.n; k++)
        if (model->equations.at[k].when) /* its target may be one of them */
            is_whole[model->equations.at[k].when - 1] = false;
    if (any)
        join_whole_transitions(model, is_whole, arena);
    return is_whole;
}
