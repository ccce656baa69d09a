/* V17: functions that are not pure are called where each call is executed once, and in an order that the text says: as
 * the whole value of a statement in a transition that acts next, or in another such function; or as the whole value of
 * an assignment, or of an argument of an action, of such a transition, where equal calls of one body are one. */
#include "ir/external.h"
#include "ir/verify_checks.h"

static const Function *find_impure(const Expr *e, bool is_whole)
{
    const Function *found =
        e->kind == EXPR_FUNCTION && e->u.function && !e->u.function->is_pure && !is_whole ? e->u.function : NULL;
    for (uint32_t k = 0; k < e->n_args && e->has_call && !found; k++)
        found = find_impure(e->args[k], false);
    return found;
}

static bool is_impure_call(Term term)
{
    return term.shape && term.shape->kind == EXPR_FUNCTION && !term.shape->u.function->is_pure;
}

static bool is_term(Term a, Term b)
{
    return a.shape == b.shape && a.first_ref == b.first_ref;
}

/* What is computed once when the transition fires: values, or the guard beside them. */
static bool is_told_once(const Verifier *v, const TermPlace *place, Term term)
{
    const Model *m = v->model;
    const Transition *t = &m->transitions.at[place->index];
    for (uint32_t k = 0; k < t->n_actions; k++) {
        const Action *a = &m->actions.at[t->first_action + k];
        const bool is_guarded = !term_is_absent(a->guard), is_decided = is_guarded && is_impure_call(a->guard);
        for (uint32_t j = 0; j < a->n_args; j++) {
            const Term value = m->conditions.at[a->first_arg + j];
            if ((is_term(value, term) && (!is_guarded || is_decided)) ||
                (is_decided && is_term(a->guard, term) && is_impure_call(value)))
                return true;
        }
    }
    return false;
}

static bool is_assigned_once(const Verifier *v, const TermPlace *place, Term term)
{
    const Model *m = v->model;
    const Transition *t = &m->transitions.at[place->index];
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment *a = &m->assignments.at[t->first_assignment + k];
        const bool is_value = is_term(a->value, term), is_guard = is_term(a->guard, term);
        if ((is_value && (term_is_absent(a->guard) || is_impure_call(a->guard))) ||
            (is_guard && is_impure_call(a->value)))
            return true;
    }
    return false;
}

/* What makes an object is executed once, when the run begins. */
static bool is_making(const Verifier *v, const TermPlace *place, Term term)
{
    return place->list == LIST_VARIABLES && place->role == TERM_BINDING && term.shape->kind == EXPR_FUNCTION &&
           function_is_constructor(term.shape->u.function) &&
           v->model->variables.at[place->index].type.kind == TYPE_OBJECT;
}

static bool may_be_impure(const Verifier *v, const TermPlace *place, Term term)
{
    if (v->function)
        return !v->function->is_pure && place->role == TERM_VALUE;
    if (is_making(v, place, term))
        return true;
    if ((is_impure_call(term) && function_is_constructor(term.shape->u.function)) ||
        place->element != LIST_TRANSITIONS || v->model->transitions.at[place->index].effect != EFFECT_NEXT)
        return false;
    if (place->list == LIST_STATEMENTS)
        return place->role == TERM_VALUE;
    return (place->list == LIST_ASSIGNMENTS && is_assigned_once(v, place, term)) ||
           (place->list == LIST_ACTIONS && is_told_once(v, place, term));
}

void verify_calls(Verifier *v, Term term, const TermPlace *place)
{
    if (!term.shape->has_call)
        return;
    const Function *f = find_impure(term.shape, may_be_impure(v, place, term));
    if (!f)
        return;
    REPORT(v, DIAG_IMPURE_CALL, place->span, "function %s is not pure, and here it may be called several times, or not",
           names_of(pool_names(v->model->pool), f->name));
    diag_help(v->diag,
              v->function ? "say that this function is impure, too, and call it in a statement of its own: y := %s(...)"
                          : "call it in a transition that acts next, in a statement of its own: y := %s(...)",
              names_of(pool_names(v->model->pool), f->name));
}

/* The results of a call are assignments with a call each, so that of one that is not pure only one may be taken. */
void verify_results(Verifier *v)
{
    const Model *m = v->model;
    for (uint32_t k = 1; k < m->statements.n; k++) {
        const Statement *s = &m->statements.at[k], *first = &m->statements.at[s->inner];
        if (s->kind != STATEMENT_TOGETHER || first->next == 0 || !is_impure_call(first->value))
            continue;
        REPORT(v, DIAG_IMPURE_CALL, s->span,
               "function %s is not pure, and would be called once for each of these results",
               names_of(pool_names(m->pool), first->value.shape->u.function->name));
        diag_help(v->diag, "take one result; let the function give the others as elements of an array");
    }
}
