/* Ids, types and trees: what only a mistake of Koine can break. See verify.h. */
#include "base/bug.h"
#include "ir/print.h"
#include "ir/routine.h"
#include "ir/verify_checks.h"
#include <stdarg.h>

void verify_broken(Verifier *v, Span span, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const bool has_place = v->model->sources && span.source < sources_count(v->model->sources);
    diag_error(v->diag, DIAG_MODEL_BROKEN, has_place ? span : SPAN_NONE, "verify: %s", message);
    diag_help(v->diag, "this is a mistake of Koine, not of the model: please report it");
    v->is_good = false;
}

const char *verify_variable_text(const Verifier *v, VarId var)
{
    return variable_path(v->model, var, v->arena);
}

void verify_note_declaration(Verifier *v, VarId var)
{
    diag_note(v->diag, v->model->variables.at[var.index].span, "%s is declared here", verify_variable_text(v, var));
}

/* ---- terms ---- */
typedef struct {
    Verifier *v;
    const Ref *refs;
    const TermPlace *place;
    Map *seen;            /* of large shapes, which may share parts */
    VEC(uint32_t) levels; /* of the reductions around */
} ShapeWalk;

static bool check_ref(Verifier *v, Ref ref, Span span)
{
    switch ((RefKind)ref.kind) {
    case REF_NOW:
    case REF_PRE:
    case REF_DER:
    case REF_LAST:
    case REF_START:
    case REF_SEED:
    case REF_SEED_DER:
    case REF_INFLOW:
    case REF_PASSING: return in_range(v, ref.var.index, v->model->variables.n, "a reference to variable", span);
    case REF_IS_ROOT:
    case REF_ROOTED: return in_range(v, ref.var.index, v->model->ports.n, "a reference to port", span);
    case REF_TIME:
    case REF_INITIAL:
    case REF_TERMINAL: return true;
    case REF_FIRED: return in_range(v, ref.var.index, v->model->transitions.n, "a reference to transition", span);
    case REF_TICK:
    case REF_INTERVAL: return in_range(v, ref.var.index, v->model->clocks.n, "a reference to clock", span);
    }
    verify_broken(v, span, "a reference of kind %u", ref.kind);
    return false;
}

static void check_leaf(ShapeWalk *w, const Expr *e)
{
    Type type = ref_type(w->v->model, w->refs[e->u.leaf]);
    if (e->n_args && type.rank != e->n_args) {
        verify_broken(w->v, w->place->span, "leaf %u has %u indices for rank %u", e->u.leaf, e->n_args, type.rank);
        return;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        type.rank = (uint8_t)((k ? type.rank : 0) + e->args[k]->type.rank);
    if (!type_equal(type, e->type))
        verify_broken(w->v, w->place->span, "leaf %u has another type than what it refers to", e->u.leaf);
}

static void check_iterator(ShapeWalk *w, const Expr *e)
{
    if (e->u.iterator < w->place->n_loops)
        return;
    for (uint32_t k = 0; k < w->levels.n; k++)
        if (w->levels.at[k] == e->u.iterator)
            return;
    verify_broken(w->v, w->place->span, "loop variable %u outside its loop", e->u.iterator);
}

/* The type is that of the output, or of an element of it. */
static bool check_result(const Function *f, const Expr *e)
{
    Type type = f->body->variables.at[f->n_inputs + e->result].type;
    if (type_equal(type, e->type))
        return e->element == 0;
    const bool is_element = type.rank > 0 && e->type.rank == 0;
    type.rank = 0;
    return is_element && type_equal(type, e->type) && e->element < function_field_count(f, f->n_inputs + e->result);
}

static void check_call(ShapeWalk *w, const Expr *e)
{
    const Function *f = e->u.function;
    bool is_good = f && e->n_args == f->n_inputs;
    if (is_good && e->result == RESULT_ALL)
        is_good = e->type.rank == 1;
    else if (is_good)
        is_good = e->result < f->n_outputs && check_result(f, e);
    for (uint32_t k = 0; is_good && k < e->n_args; k++)
        is_good = type_equal(e->args[k]->type, f->body->variables.at[k].type);
    if (!is_good)
        verify_broken(w->v, w->place->span, "a call with %u arguments for output %u of function %s", e->n_args,
                      e->result, f ? names_of(pool_names(w->v->model->pool), f->name) : "(none)");
}

static void walk_shape(ShapeWalk *w, const Expr *e)
{
    uint32_t ignored;
    if (e->n_leaves == 0 && !e->has_index && e->kind != EXPR_FUNCTION && e->n_args == 0)
        return;
    if (w->seen && w->levels.n == 0) {
        if (map_get(w->seen, e->id, &ignored))
            return;
        map_put(w->seen, e->id, 1);
    }
    if (e->kind == EXPR_LEAF)
        check_leaf(w, e);
    else if (e->kind == EXPR_ITERATOR)
        check_iterator(w, e);
    else if (e->kind == EXPR_FUNCTION)
        check_call(w, e);
    for (uint32_t k = 0; k < e->n_args; k++) {
        const bool is_body = (e->kind == EXPR_REDUCE || e->kind == EXPR_EACH) && k == 0;
        if (is_body)
            vec_push(w->v->arena, &w->levels, e->u.iterator);
        walk_shape(w, e->args[k]);
        if (is_body)
            w->levels.n--;
    }
}

static void check_term(void *context, Term term, const TermPlace *place)
{
    enum { SMALL_DEPTH = 12 };
    Verifier *v = context;
    const uint32_t n = term.shape->n_leaves;
    if (!slice_in_range(v, term.first_ref, n, v->model->refs.n, "references", place->span))
        return;
    const Ref *refs = term_refs(v->model, term);
    for (uint32_t k = 0; k < n; k++)
        if (!check_ref(v, refs[k], place->span))
            return;
    if (verify_is_plain(v, term.shape, refs))
        return;
    ShapeWalk walk = { .v = v, .refs = refs, .place = place };
    Map seen;
    if (term.shape->depth > SMALL_DEPTH) {
        map_init(&seen, v->arena, 64);
        walk.seen = &seen;
    }
    walk_shape(&walk, term.shape);
}

static void want_type(Verifier *v, Term term, Type type, const char *what, Span span)
{
    if (!term_is_absent(term) && !type_equal(term.shape->type, type))
        verify_broken(v, span, "%s has the wrong type", what);
}

static void want_terms(Verifier *v, uint32_t first, uint32_t n, Type type, const char *what, Span span)
{
    if (!slice_in_range(v, first, n, v->model->conditions.n, what, span))
        return;
    for (uint32_t k = 0; k < n; k++) {
        if (term_is_absent(v->model->conditions.at[first + k]))
            verify_broken(v, span, "%s %u is absent", what, k + 1);
        want_type(v, v->model->conditions.at[first + k], type, what, span);
    }
}

/* ---- rows ---- */
static void check_owner(Verifier *v, InstanceId owner, Span span)
{
    in_range(v, owner.index, v->model->instances.n, "owner", span);
    check_span(v, span, "an element");
}

static void check_optional(Verifier *v, uint32_t index, uint32_t n, const char *what, Span span)
{
    if (index != ID_NONE)
        in_range(v, index, n, what, span);
}

/* V13: the tree is a tree, rooted in instance 0, parents before children. */
static void check_instances(Verifier *v)
{
    const Model *model = v->model;
    if (model->instances.n == 0 || model->instances.at[0].parent.index != ID_NONE)
        verify_broken(v, model->span, "instance 0 is not the top");
    for (uint32_t k = 1; k < model->instances.n; k++) {
        const Instance *instance = &model->instances.at[k];
        if (instance->parent.index >= k)
            verify_broken(v, instance->span, "instance %u has the parent %u", k, instance->parent.index);
        check_span(v, instance->span, "an instance");
    }
}

/* Bounds hold for a Real or Integer array as a whole or for each element. */
static void check_attribute(Verifier *v, const Variable *var, Term term, const char *what)
{
    Type scalar = var->type;
    scalar.rank = 0;
    if (!term_is_absent(term) && !type_equal(term.shape->type, scalar) && !type_equal(term.shape->type, var->type))
        verify_broken(v, var->span, "%s of variable %s has another type", what,
                      names_of(pool_names(v->model->pool), var->name));
}

static void check_variable(Verifier *v, uint32_t index)
{
    const Model *model = v->model;
    const Variable *var = &model->variables.at[index];
    check_owner(v, var->owner, var->span);
    check_value(v, var->variability, VARIABILITY_CONTINUOUS + 1, "a variability", var->span);
    check_value(v, var->definition, DEFINITION_FOREIGN + 1, "a definition", var->span);
    check_value(v, var->causality, CAUSALITY_PORT + 1, "a causality", var->span);
    check_value(v, var->select, SELECT_ALWAYS + 1, "a state selection", var->span);
    check_value(v, var->type.kind, TYPE_OBJECT + 1, "a type", var->span);
    if (var->type.kind == TYPE_ENUM || var->type.kind == TYPE_OBJECT)
        check_value(v, var->type.enumeration, pool_n_enumerations(model->pool), "an enumeration", var->span);
    check_optional(v, var->origin.index, model->variables.n, "origin", var->span);
    check_optional(v, var->residual.index, model->variables.n, "residual", var->span);
    check_optional(v, var->alias.index, model->variables.n, "alias", var->span);
    if (var->alias.index == index)
        verify_broken(v, var->span, "variable %u is its own alias", index);
    if (var->clock)
        in_range(v, var->clock - 1, model->clocks.n, "clock", var->span);
    slice_in_range(v, var->first_dim, var->type.rank, model->dims.n, "dimensions", var->span);
    check_attribute(v, var, var->binding, "the binding");
    check_attribute(v, var, var->start, "the start value");
    check_attribute(v, var, var->nominal, "the nominal value");
    check_attribute(v, var, var->min, "the least value");
    check_attribute(v, var, var->max, "the largest value");
    const Term each[] = { var->fixed, var->wishes };
    const TypeKind kinds[] = { TYPE_BOOLEAN, TYPE_INTEGER };
    for (uint32_t k = 0; k < 2; k++)
        if (each[k].shape &&
            (var->type.rank == 0 || each[k].shape->type.rank != var->type.rank || each[k].shape->type.kind != kinds[k]))
            verify_broken(v, var->span, "what is said of each element of variable %s has another type",
                          names_of(pool_names(v->model->pool), var->name));
}

/* Following `next` ends, wherever one begins. Gives the first row that leads into a ring, or n. */
static uint32_t find_ring(const Verifier *v, const uint32_t *next, uint32_t n)
{
    uint8_t *state = NEW_ARRAY(v->arena, uint8_t, n); /* 1: on the way, 2: good */
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = k;
        for (; at != ID_NONE && state[at] == 0; at = next[at])
            state[at] = 1;
        if (at != ID_NONE && state[at] == 1)
            return k;
        for (at = k; at != ID_NONE && state[at] == 1; at = next[at])
            state[at] = 2;
    }
    return n;
}

static void check_alias_rings(Verifier *v)
{
    const Model *model = v->model;
    uint32_t *next = NEW_ARRAY(v->arena, uint32_t, model->variables.n);
    for (uint32_t k = 0; k < model->variables.n; k++)
        next[k] = model->variables.at[k].alias.index;
    const uint32_t k = find_ring(v, next, model->variables.n);
    if (k < model->variables.n)
        verify_broken(v, model->variables.at[k].span, "aliases of variable %u form a ring", k);
}

static void check_variables(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->variables.n; k++)
        check_variable(v, k);
    for (uint32_t k = 0; k < model->dims.n; k++)
        if (!v->function || model->dims.at[k].term.shape->kind != EXPR_RANGE)
            want_type(v, model->dims.at[k].term, INTEGER_TYPE, "a dimension", SPAN_NONE);
    if (v->is_good)
        check_alias_rings(v);
}

static void check_domains(Verifier *v)
{
    const Model *model = v->model;
    if (model->domains.n == 0 || model->domains.at[0].n != 0)
        verify_broken(v, model->span, "domain 0 is not the scalar one");
    for (uint32_t k = 0; k < model->domains.n; k++)
        slice_in_range(v, model->domains.at[k].first, model->domains.at[k].n, model->iterators.n, "iterators",
                       SPAN_NONE);
    for (uint32_t k = 0; k < model->iterators.n; k++) {
        const Iterator *i = &model->iterators.at[k];
        if (term_is_absent(i->lo) || term_is_absent(i->hi))
            verify_broken(v, SPAN_NONE, "iterator %u has no range", k);
        want_type(v, i->lo, INTEGER_TYPE, "the begin of a range", SPAN_NONE);
        want_type(v, i->step, INTEGER_TYPE, "the step of a range", SPAN_NONE);
        want_type(v, i->hi, INTEGER_TYPE, "the end of a range", SPAN_NONE);
    }
}

static void check_region_ref(Verifier *v, RegionId region, uint32_t branch, Span span)
{
    if (region.index == ID_NONE || !in_range(v, region.index, v->model->regions.n, "region", span))
        return;
    const Region *r = &v->model->regions.at[region.index];
    if (branch < 1 || branch > r->n_conditions + r->has_else)
        verify_broken(v, span, "branch %u of a region with %u", branch, r->n_conditions + r->has_else);
}

static void check_origin(Verifier *v, const Origin *origin)
{
    check_span(v, origin->span, "an element");
    check_optional(v, origin->parent.index, v->model->equations.n, "parent equation", origin->span);
    slice_in_range(v, origin->first_occurrence, origin->n_occurrences, v->model->occurrences.n, "occurrences",
                   origin->span);
}

static bool is_variable_ref(Ref ref)
{
    return ref.kind <= REF_START || ref.kind == REF_SEED || ref.kind == REF_SEED_DER;
}

static void want_target(Verifier *v, Term target, Term value, const char *what, Span span)
{
    if (term_is_absent(target) || term_is_absent(value) || target.shape->kind != EXPR_LEAF ||
        target.first_ref + target.shape->u.leaf >= v->model->refs.n ||
        !is_variable_ref(term_refs(v->model, target)[target.shape->u.leaf]))
        verify_broken(v, span, "%s is no variable", what);
    else if (!type_equal(target.shape->type, value.shape->type))
        verify_broken(v, span, "%s has another type than its value", what);
}

static void check_equation(Verifier *v, const Equation *e)
{
    const Span span = e->origin.span;
    check_owner(v, e->owner, span);
    check_origin(v, &e->origin);
    check_value(v, e->kind, EQUATION_DROPPED + 1, "an equation kind", span);
    check_value(v, e->when_valid, VALID_NOT_INITIAL + 1, "a validity", span);
    in_range(v, e->domain.index, v->model->domains.n, "domain", span);
    check_region_ref(v, e->region, e->branch, span);
    if (e->clock)
        in_range(v, e->clock - 1, v->model->clocks.n, "clock", span);
    if (e->when && in_range(v, e->when - 1, v->model->transitions.n, "transition", span)) {
        const Transition *t = &v->model->transitions.at[e->when - 1];
        if ((e->kind != EQUATION_RESIDUAL && e->kind != EQUATION_DROPPED) || e->when_valid != VALID_ALWAYS ||
            t->effect != EFFECT_NOW || t->form != FORM_SET)
            verify_broken(v, span, "an equation of a transition that does not set equations now");
    }
    switch ((EquationKind)e->kind) {
    case EQUATION_RESIDUAL:
        if (term_is_absent(e->lhs) || term_is_absent(e->rhs))
            verify_broken(v, span, "an equation without sides");
        else if (!type_equal(e->lhs.shape->type, e->rhs.shape->type))
            verify_broken(v, span, "the sides of an equation have different types");
        return;
    case EQUATION_EXPLICIT:
    case EQUATION_ITERATION: want_target(v, e->lhs, e->rhs, "the left side of an explicit equation", span); return;
    case EQUATION_ALGORITHM: in_range(v, e->body, v->model->statements.n, "statement", span); return;
    case EQUATION_DROPPED: return;
    }
}

/* Parents before children is not demanded, but climbing must end. */
static void check_region_rings(Verifier *v)
{
    const Model *model = v->model;
    uint32_t *next = NEW_ARRAY(v->arena, uint32_t, model->regions.n);
    for (uint32_t k = 0; k < model->regions.n; k++)
        next[k] = model->regions.at[k].parent.index;
    const uint32_t k = find_ring(v, next, model->regions.n);
    if (k < model->regions.n)
        verify_broken(v, model->regions.at[k].span, "region %u lies in itself", k);
}

static void check_regions(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->regions.n; k++) {
        const Region *r = &model->regions.at[k];
        check_owner(v, r->owner, r->span);
        check_value(v, r->kind, REGION_STRUCTURAL + 1, "a region kind", r->span);
        check_region_ref(v, r->parent, r->parent_branch, r->span);
        check_optional(v, r->selector.index, model->variables.n, "selector", r->span);
        want_terms(v, r->first_condition, r->n_conditions, BOOLEAN_TYPE, "conditions", r->span);
    }
    if (v->is_good)
        check_region_rings(v);
}

static void check_action(Verifier *v, const Action *a)
{
    check_value(v, a->kind, ACTION_FAIL + 1, "an action kind", a->span);
    want_type(v, a->guard, BOOLEAN_TYPE, "a guard", a->span);
    want_type(v, a->message, STRING_TYPE, "the text of an action", a->span);
    slice_in_range(v, a->first_arg, a->n_args, v->model->conditions.n, "arguments", a->span);
    if (a->kind == ACTION_SEND)
        in_range(v, a->channel, v->model->channels.n, "channel", a->span);
}

static void check_transition(Verifier *v, const Transition *t)
{
    const Model *model = v->model;
    const Span span = t->origin.span;
    check_owner(v, t->owner, span);
    check_origin(v, &t->origin);
    check_value(v, t->trigger, TRIGGER_ENTRY + 1, "a trigger", span);
    check_value(v, t->effect, EFFECT_NEXT + 1, "an effect", span);
    check_value(v, t->form, FORM_PROCEDURE + 1, "a form", span);
    check_value(v, t->edge_start, EDGE_START_FALSE + 1, "an edge start", span);
    check_value(v, t->group, model->n_groups + 1, "a group", span);
    in_range(v, t->domain.index, model->domains.n, "domain", span);
    in_range(v, t->body, model->statements.n, "statement", span);
    check_region_ref(v, t->region, t->branch, span);
    want_terms(v, t->first_condition, t->n_conditions, BOOLEAN_TYPE, "conditions", span);
    if (t->trigger == TRIGGER_TICK)
        in_range(v, t->object, model->clocks.n, "clock", span);
    if (t->trigger == TRIGGER_MESSAGE)
        in_range(v, t->object, model->channels.n, "channel", span);
    if ((t->trigger == TRIGGER_LEVEL && t->n_conditions != 1) || (t->trigger == TRIGGER_EDGE && t->n_conditions == 0))
        verify_broken(v, span, "a transition with %u conditions", t->n_conditions);
    if (slice_in_range(v, t->first_assignment, t->n_assignments, model->assignments.n, "assignments", span))
        for (uint32_t k = 0; k < t->n_assignments; k++) {
            const Assignment *a = &model->assignments.at[t->first_assignment + k];
            want_target(v, a->target, a->value, "the target of an assignment", a->span);
            want_type(v, a->guard, BOOLEAN_TYPE, "a guard", a->span);
            check_span(v, a->span, "an assignment");
        }
    if (slice_in_range(v, t->first_action, t->n_actions, model->actions.n, "actions", span))
        for (uint32_t k = 0; k < t->n_actions; k++)
            check_action(v, &model->actions.at[t->first_action + k]);
}

static bool is_candidate(const StateSet *s, uint32_t level, VarId var)
{
    for (uint32_t k = 0; k < s->n_columns; k++)
        if (s->height[k] > level && s->candidate[level * s->n_columns + k].index == var.index)
            return true;
    return false;
}

/* The machine relies on the number that the choice begins with. */
static void check_choice(Verifier *v, const StateSet *s, uint32_t level, uint32_t at)
{
    const Model *model = v->model;
    if (var_is_none(s->choice[at])) {
        if (in_range(v, s->state[at].index, model->variables.n, "state", s->span) &&
            (!is_candidate(s, level, s->state[at]) || model_var(model, s->state[at])->definition != DEFINITION_DER))
            verify_broken(v, s->span, "state %u of a state set, which has no choice", at + 1);
        return;
    }
    if (!in_range(v, s->state[at].index, model->variables.n, "state", s->span) ||
        !in_range(v, s->choice[at].index, model->variables.n, "choice", s->span))
        return;
    const Variable *choice = model_var(model, s->choice[at]);
    const Expr *start = choice->start.shape;
    const int64_t number = start && start->kind == EXPR_INTEGER ? start->u.integer : 0;
    if (choice->definition != DEFINITION_FOREIGN || number < 1 || number > s->n_columns ||
        s->height[number - 1] <= level || model_var(model, s->state[at])->definition != DEFINITION_DER)
        verify_broken(v, s->span, "state %u of a state set, or its choice", at + 1);
}

/* On each level as many states as candidates that no row of that depth takes. */
static void check_state_sets(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->state_sets.n; k++) {
        const StateSet *s = &model->state_sets.at[k];
        uint32_t at = 0;
        for (uint32_t level = 0; level < s->n_levels; level++) {
            uint32_t candidates = 0, rows = 0;
            for (uint32_t j = 0; j < s->n_columns; j++) {
                candidates += s->height[j] > level;
                if (s->height[j] > level)
                    in_range(v, s->candidate[level * s->n_columns + j].index, model->variables.n, "candidate", s->span);
            }
            for (uint32_t j = 0; j < s->n_rows; j++)
                rows += s->depth[j] > level;
            if (candidates != rows + s->n_states[level])
                verify_broken(v, s->span, "level %u of state set %u: %u candidates, %u rows, %u states", level + 1,
                              k + 1, candidates, rows, s->n_states[level]);
            for (uint32_t j = 0; j < s->n_states[level]; j++, at++)
                check_choice(v, s, level, at);
        }
        for (uint32_t j = 0; j < s->n_rows; j++)
            if (s->depth[j] > s->n_levels || (j && s->depth[j] > s->depth[j - 1]))
                verify_broken(v, s->span, "row %u of state set %u", j + 1, k + 1);
        for (uint32_t j = 0; j < s->n_columns; j++)
            if (s->height[j] > s->n_levels)
                verify_broken(v, s->span, "column %u of state set %u", j + 1, k + 1);
    }
}

static void check_relations(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->relations.n; k++) {
        const Relation *r = &model->relations.at[k];
        const Span span = r->origin.span;
        check_origin(v, &r->origin);
        check_value(v, r->kind, RELATION_LITERAL + 1, "a relation kind", span);
        check_region_ref(v, r->region, r->branch, span);
        check_optional(v, r->bit.index, model->variables.n, "bit", span);
        in_range(v, r->domain.index, model->domains.n, "domain", span);
        if (term_is_absent(r->left) || term_is_absent(r->right) ||
            !type_equal(r->left.shape->type, r->right.shape->type))
            verify_broken(v, span, "the operands of relation %u", k + 1);
        if (r->kind == RELATION_TIME && (term_is_absent(r->slope) || term_is_absent(r->flip)))
            verify_broken(v, span, "time relation %u without slope or flip time", k + 1);
    }
    for (uint32_t k = 0; k < model->steps.n; k++) {
        const StepFunction *s = &model->steps.at[k];
        const Span span = s->origin.span;
        check_origin(v, &s->origin);
        check_value(v, s->op, STEP_INTERVAL + 1, "a step operation", span);
        if ((s->op == STEP_INTERVAL) != (s->table != NULL))
            verify_broken(v, span, "step function %u and its table", k + 1);
        check_value(v, s->kind, RELATION_LITERAL + 1, "a relation kind", span);
        check_region_ref(v, s->region, s->branch, span);
        check_optional(v, s->value.index, model->variables.n, "value", span);
        if (term_is_absent(s->argument))
            verify_broken(v, span, "step function %u without an argument", k + 1);
        if (s->kind == RELATION_TIME && (term_is_absent(s->slope) || term_is_absent(s->offset)))
            verify_broken(v, span, "time step function %u without slope or offset", k + 1);
    }
}

static void check_timed(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->channels.n; k++) {
        const Channel *c = &model->channels.at[k];
        check_owner(v, c->owner, c->span);
        slice_in_range(v, c->first_field, c->n_fields, model->fields.n, "fields", c->span);
        if (!var_is_none(c->head))
            in_range(v, c->head.index, model->variables.n, "variable", c->span);
    }
    for (uint32_t k = 0; k < model->clocks.n; k++) {
        const Clock *c = &model->clocks.at[k];
        check_owner(v, c->owner, c->span);
        check_value(v, c->kind, CLOCK_BACK + 1, "a clock kind", c->span);
        check_value(v, c->method, METHOD_IMPLICIT_TRAPEZOID + 1, "a method", c->span);
        if (c->kind >= CLOCK_SUB)
            in_range(v, c->base, model->clocks.n, "base clock", c->span);
        if ((c->kind == CLOCK_PERIODIC || c->kind >= CLOCK_SUB) && c->denominator == 0)
            verify_broken(v, c->span, "clock %u divides by zero", k);
        want_type(v, c->start, REAL_TYPE, "the start of a clock", c->span);
        want_type(v, c->condition, BOOLEAN_TYPE, "the condition of a clock", c->span);
        want_type(v, c->interval, c->kind == CLOCK_PERIODIC ? INTEGER_TYPE : REAL_TYPE, "the interval of a clock",
                  c->span);
    }
    for (uint32_t k = 0; k < model->delays.n; k++) {
        const Delay *d = &model->delays.at[k];
        check_owner(v, d->owner, d->span);
        in_range(v, d->output.index, model->variables.n, "delayed variable", d->span);
        if (term_is_absent(d->input) || term_is_absent(d->amount))
            verify_broken(v, d->span, "a delay without input or amount");
        else if (d->output.index < model->variables.n)
            want_type(v, d->input, model_var(model, d->output)->type, "the input of a delay", d->span);
        want_type(v, d->amount, REAL_TYPE, "the amount of a delay", d->span);
        verify_along(v, d);
    }
    for (uint32_t k = 0; k < model->streams.n; k++) {
        const Stream *s = &model->streams.at[k];
        check_owner(v, s->owner, s->span);
        check_optional(v, s->key.index, model->variables.n, "key", s->span);
        check_optional(v, s->count.index, model->variables.n, "count", s->span);
    }
    for (uint32_t k = 0; k < model->assertions.n; k++) {
        const Assertion *a = &model->assertions.at[k];
        check_owner(v, a->owner, a->span);
        if (term_is_absent(a->condition))
            verify_broken(v, a->span, "an assertion without a condition");
        want_type(v, a->condition, BOOLEAN_TYPE, "the condition of an assertion", a->span);
        if (term_is_absent(a->message))
            verify_broken(v, a->span, "an assertion without a text");
        want_type(v, a->message, STRING_TYPE, "the text of an assertion", a->span);
        want_type(v, a->warns, BOOLEAN_TYPE, "the level of an assertion", a->span);
        check_value(v, a->level, ASSERT_WARNING + 1, "a level", a->span);
        in_range(v, a->domain.index, model->domains.n, "domain", a->span);
        check_region_ref(v, a->region, a->branch, a->span);
    }
    for (uint32_t k = 0; k < model->tasks.n; k++) {
        const Task *task = &model->tasks.at[k];
        check_value(v, task->kind, TASK_REST + 1, "a kind of task", task->span);
        in_range(v, task->ref.var.index, model->variables.n, "variable of a task", task->span);
    }
}

static void check_statements(Verifier *v)
{
    const Model *model = v->model;
    if (model->statements.n == 0)
        verify_broken(v, model->span, "statement 0 is missing");
    for (uint32_t k = 1; k < model->statements.n; k++) {
        const Statement *s = &model->statements.at[k];
        check_value(v, s->kind, STATEMENT_SEND + 1, "a statement kind", s->span);
        in_range(v, s->domain.index, model->domains.n, "domain", s->span);
        in_range(v, s->inner, model->statements.n, "statement", s->span);
        in_range(v, s->otherwise, model->statements.n, "statement", s->span);
        in_range(v, s->next, model->statements.n, "statement", s->span);
        if (s->kind == STATEMENT_ASSIGN)
            want_target(v, s->target, s->value, "the target of a statement", s->span);
        if (s->kind == STATEMENT_IF || s->kind == STATEMENT_WHILE || s->kind == STATEMENT_ASSERT)
            want_type(v, s->value, BOOLEAN_TYPE, "the condition of a statement", s->span);
        if (s->kind == STATEMENT_SEND && in_range(v, s->action - 1, model->actions.n, "action", s->span))
            check_action(v, &model->actions.at[s->action - 1]);
    }
}

static void check_function(Verifier *v, const Function *f)
{
    check_span(v, f->span, "a function");
    if (!f->body || function_fields(f) != f->body->variables.n)
        verify_broken(v, f->span, "a function with %u fields", function_fields(f));
    else if (in_range(v, f->first, f->body->statements.n, "statement", f->span)) {
        Verifier own = { .model = f->body, .function = f, .diag = v->diag, .arena = v->arena, .is_good = true };
        v->is_good &= verify_ids(&own) && verify_function(&own);
    }
}

static void check_structure(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->fields.n; k++)
        in_range(v, model->fields.at[k].index, model->variables.n, "field", SPAN_NONE);
    for (uint32_t k = 0; k < model->functions.n; k++)
        check_function(v, model->functions.at[k]);
    for (uint32_t k = 0; k < model->members.n; k++) {
        if (!var_is_none(model->members.at[k].var))
            in_range(v, model->members.at[k].var.index, model->variables.n, "member", SPAN_NONE);
        if (model->members.at[k].port)
            in_range(v, model->members.at[k].port - 1, model->ports.n, "port in a port", SPAN_NONE);
        check_value(v, model->members.at[k].role, ROLE_PORT + 1, "a role", SPAN_NONE);
    }
    for (uint32_t k = 0; k < model->ports.n; k++) {
        const Port *p = &model->ports.at[k];
        check_owner(v, p->owner, p->span);
        slice_in_range(v, p->first_member, p->n_members, model->members.n, "members", p->span);
    }
    for (uint32_t k = 0; k < model->connections.n; k++) {
        const Connection *c = &model->connections.at[k];
        check_span(v, c->span, "a connection");
        if (c->is_acausal) {
            in_range(v, c->port_a, model->ports.n, "port", c->span);
            in_range(v, c->port_b, model->ports.n, "port", c->span);
            in_range(v, c->domain.index, model->domains.n, "domain", c->span);
            slice_in_range(v, c->index_a.first, c->index_a.n, model->conditions.n, "indices", c->span);
            slice_in_range(v, c->index_b.first, c->index_b.n, model->conditions.n, "indices", c->span);
        } else {
            in_range(v, c->from.index, model->variables.n, "connected variable", c->span);
            in_range(v, c->to.index, model->variables.n, "connected variable", c->span);
        }
    }
    for (uint32_t k = 0; k < model->anchors.n; k++) {
        const Anchor *a = &model->anchors.at[k];
        check_span(v, a->span, "a root or branch");
        check_value(v, a->kind, ANCHOR_BRANCH + 1, "a kind of root", a->span);
        in_range(v, a->port_a, model->ports.n, "port", a->span);
        if (a->kind == ANCHOR_BRANCH)
            in_range(v, a->port_b, model->ports.n, "port", a->span);
    }
}

bool verify_ids(Verifier *v)
{
    const Model *model = v->model;
    check_instances(v);
    check_statements(v);
    check_domains(v);
    check_variables(v);
    for (uint32_t k = 0; k < model->equations.n; k++)
        check_equation(v, &model->equations.at[k]);
    check_regions(v);
    for (uint32_t k = 0; k < model->transitions.n; k++)
        check_transition(v, &model->transitions.at[k]);
    check_relations(v);
    check_state_sets(v);
    check_timed(v);
    verify_foreigns(v);
    check_structure(v);
    if (v->is_good && v->function) /* the walk follows ids */
        function_visit_terms(v->function, check_term, v);
    else if (v->is_good)
        model_visit_terms(model, ELEMENTS_ALL, check_term, v);
    return v->is_good;
}
