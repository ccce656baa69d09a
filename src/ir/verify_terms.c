/* The walk over all terms of a Model; see verify_terms.h. */
#include "ir/verify_terms.h"

typedef struct {
    Verifier *v;
    VisitTerm visit;
    TermPlace place;
    uint32_t n_visited; /* statements: a list that bites its tail ends */
} TermWalk;

static void visit(TermWalk *w, Term term)
{
    if (!term_is_absent(term))
        w->visit(w->v, term, &w->place);
}

static void visit_domain(TermWalk *w, DomainId domain)
{
    const Model *model = w->v->model;
    const uint8_t kind = w->place.kind;
    w->place.kind = PLACE_RANGE;
    for (uint32_t k = 0; k < model->domains.at[domain.index].n; k++) {
        const Iterator *i = &model->iterators.at[model->domains.at[domain.index].first + k];
        visit(w, i->lo);
        visit(w, i->step);
        visit(w, i->hi);
        w->place.n_loops++;
    }
    w->place.kind = kind;
}

static void visit_statements(TermWalk *w, uint32_t first)
{
    const Model *model = w->v->model;
    for (uint32_t k = first; k && ++w->n_visited <= model->statements.n; k = model->statements.at[k].next) {
        const Statement *s = &model->statements.at[k];
        const uint32_t n_loops = w->place.n_loops;
        const Span span = w->place.span;
        if (s->span.source != SOURCE_NONE)
            w->place.span = s->span;
        visit(w, s->target);
        visit(w, s->value);
        if (s->kind == STATEMENT_FOR)
            visit_domain(w, s->domain);
        visit_statements(w, s->inner);
        w->place.n_loops = n_loops;
        visit_statements(w, s->otherwise);
        w->place.span = span;
    }
}

static void visit_body(TermWalk *w, uint32_t first)
{
    w->n_visited = 0;
    visit_statements(w, first);
}

static void visit_variables(TermWalk *w)
{
    const Model *model = w->v->model;
    for (uint32_t k = 0; k < model->variables.n; k++) {
        const Variable *var = &model->variables.at[k];
        w->place = (TermPlace){ .kind = PLACE_BINDING, .index = k, .span = var->span };
        visit(w, var->binding);
        w->place.kind = PLACE_START;
        visit(w, var->start);
        w->place.kind = PLACE_ATTRIBUTE;
        visit(w, var->nominal);
        visit(w, var->min);
        visit(w, var->max);
        w->place.kind = PLACE_DIM;
        for (uint32_t d = 0; d < var->type.rank; d++)
            visit(w, model->dims.at[var->first_dim + d].term);
    }
}

static void visit_equations(TermWalk *w)
{
    const Model *model = w->v->model;
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        if (e->kind == EQUATION_DROPPED)
            continue;
        w->place = (TermPlace){ .kind = PLACE_EQUATION, .index = k, .span = e->origin.span };
        visit_domain(w, e->domain);
        if (e->kind == EQUATION_ALGORITHM) {
            w->place.kind = PLACE_STATEMENT;
            visit_body(w, e->body);
        } else {
            visit(w, e->lhs);
            visit(w, e->rhs);
        }
    }
    for (uint32_t k = 0; k < model->regions.n; k++) {
        const Region *r = &model->regions.at[k];
        w->place = (TermPlace){ .kind = PLACE_CONDITION, .index = ID_NONE, .span = r->span };
        for (uint32_t c = 0; c < r->n_conditions; c++)
            visit(w, model->conditions.at[r->first_condition + c]);
    }
}

static void visit_transitions(TermWalk *w)
{
    const Model *model = w->v->model;
    for (uint32_t k = 0; k < model->transitions.n; k++) {
        const Transition *t = &model->transitions.at[k];
        w->place = (TermPlace){ .kind = PLACE_CONDITION, .index = k, .span = t->origin.span };
        visit_domain(w, t->domain);
        for (uint32_t c = 0; c < t->n_conditions; c++)
            visit(w, model->conditions.at[t->first_condition + c]);
        w->place.kind = PLACE_BODY;
        for (uint32_t a = 0; a < t->n_assignments; a++) {
            const Assignment *assignment = &model->assignments.at[t->first_assignment + a];
            w->place.span = assignment->span;
            visit(w, assignment->target);
            visit(w, assignment->guard);
            visit(w, assignment->value);
        }
        for (uint32_t a = 0; a < t->n_actions; a++) {
            const Action *action = &model->actions.at[t->first_action + a];
            w->place.span = action->span;
            visit(w, action->guard);
            for (uint32_t i = 0; i < action->n_args; i++)
                visit(w, model->conditions.at[action->first_arg + i]);
        }
        w->place.span = t->origin.span;
        visit_body(w, t->body);
    }
}

static void visit_others(TermWalk *w)
{
    const Model *model = w->v->model;
    for (uint32_t k = 0; k < model->relations.n; k++) {
        const Relation *r = &model->relations.at[k];
        w->place = (TermPlace){ .kind = PLACE_RELATION, .index = k, .span = r->origin.span };
        visit(w, r->left);
        visit(w, r->right);
        visit(w, r->slope);
        visit(w, r->flip);
    }
    for (uint32_t k = 0; k < model->steps.n; k++) {
        const StepFunction *s = &model->steps.at[k];
        w->place = (TermPlace){ .kind = PLACE_RELATION, .index = k, .span = s->origin.span };
        visit(w, s->argument);
        visit(w, s->slope);
        visit(w, s->offset);
    }
    for (uint32_t k = 0; k < model->state_sets.n; k++) {
        const StateSet *s = &model->state_sets.at[k];
        w->place = (TermPlace){ .kind = PLACE_RELATION, .index = k, .span = s->span };
        for (uint32_t j = 0; j < s->n_entries; j++)
            visit(w, s->entry[j]);
    }
    for (uint32_t k = 0; k < model->clocks.n; k++) {
        w->place = (TermPlace){ .kind = PLACE_TIMED, .index = k, .span = model->clocks.at[k].span };
        visit(w, model->clocks.at[k].start);
        visit(w, model->clocks.at[k].interval);
    }
    for (uint32_t k = 0; k < model->delays.n; k++) {
        w->place = (TermPlace){ .kind = PLACE_TIMED, .index = k, .span = model->delays.at[k].span };
        visit(w, model->delays.at[k].input);
        visit(w, model->delays.at[k].amount);
        visit(w, model->delays.at[k].max);
    }
    if (w->v->function) {
        w->place = (TermPlace){ .kind = PLACE_FUNCTION, .span = w->v->function->span };
        visit_body(w, w->v->function->first);
    }
    for (uint32_t k = 0; k < model->assertions.n; k++) {
        w->place = (TermPlace){ .kind = PLACE_ASSERTION, .index = k, .span = model->assertions.at[k].span };
        visit(w, model->assertions.at[k].condition);
    }
    for (uint32_t k = 0; k < model->tasks.n; k++) {
        w->place = (TermPlace){ .kind = PLACE_START,
                                .index = model->tasks.at[k].ref.var.index,
                                .span = model->tasks.at[k].span };
        visit(w, model->tasks.at[k].value);
    }
}

void verify_each_term(Verifier *v, VisitTerm visit_term)
{
    TermWalk walk = { .v = v, .visit = visit_term };
    visit_variables(&walk);
    visit_equations(&walk);
    visit_transitions(&walk);
    visit_others(&walk);
}
