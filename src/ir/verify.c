/* The rules of Model that a user can break, and the order of all checks; see verify.h.
 *
 * A variable whose definition no one has decided yet (DEFINITION_NONE) is left alone by the rules
 * about definitions: the pass that decides is followed by another verification. */
#include "ir/verify.h"
#include "base/bug.h"
#include "ir/verify_checks.h"

static const Variable *var_of(const Verifier *v, uint32_t index)
{
    return &v->model->variables.at[index];
}

/* ---- single variables: V2, M4 ---- */
static void verify_variable(Verifier *v, uint32_t index)
{
    const Variable *var = var_of(v, index);
    const bool is_continuous = var->variability == VARIABILITY_CONTINUOUS;
    if (is_continuous && var->type.kind != TYPE_REAL) {
        REPORT(v, DIAG_MODEL_CONTINUOUS_TYPE, var->span, "%s is continuous but not Real",
               verify_variable_text(v, (VarId){ index }));
        diag_help(v->diag, "make it discrete, or a Real");
    }
    if (var->definition == DEFINITION_DER && (var->type.kind != TYPE_REAL || !is_continuous)) {
        REPORT(v, DIAG_MODEL_STATE_NOT_REAL, var->span, "%s is a state but not a continuous Real",
               verify_variable_text(v, (VarId){ index }));
        diag_help(v->diag, "a quantity with a derivative is Real and continuous");
    }
    if ((var->definition == DEFINITION_NEXT || var->definition == DEFINITION_PULSE) &&
        var->variability != VARIABILITY_DISCRETE) {
        REPORT(v, DIAG_MODEL_NEXT_NOT_DISCRETE, var->span, "%s changes at steps only but is not discrete",
               verify_variable_text(v, (VarId){ index }));
        diag_help(v->diag, "make it discrete, or define it by a derivative or an equation");
    }
}

/* ---- terms: V3, V4, V5, V9 ---- */
typedef struct {
    Verifier *v;
    const TermPlace *place;
    const Ref *refs;
    Map *seen;
} RuleWalk;

static Variability ref_variability(const Verifier *v, Ref ref, bool allows_start)
{
    switch ((RefKind)ref.kind) {
    case REF_NOW: return (Variability)var_of(v, ref.var.index)->variability;
    case REF_START: return allows_start ? VARIABILITY_PARAMETER : VARIABILITY_DISCRETE;
    case REF_IS_ROOT:
    case REF_ROOTED: return VARIABILITY_STRUCTURAL;
    case REF_PRE:
    case REF_INITIAL:
    case REF_TERMINAL:
    case REF_FIRED:
    case REF_TICK:
    case REF_INTERVAL:
    case REF_LAST: return VARIABILITY_DISCRETE;
    case REF_DER:
    case REF_TIME:
    case REF_SEED:
    case REF_SEED_DER:
    case REF_INFLOW:
    case REF_PASSING: return VARIABILITY_CONTINUOUS;
    }
    BUG("unknown RefKind");
}

/* What a task gives a variable is what it begins with. */
static bool is_start(const TermPlace *place)
{
    return place->role == TERM_START || place->list == LIST_TASKS;
}

/* The most variable a term of this place may be. */
static Variability allowed_variability(const Verifier *v, const TermPlace *place)
{
    switch ((TermRole)place->role) {
    case TERM_BINDING: {
        const Variability own = (Variability)var_of(v, place->index)->variability;
        return own <= VARIABILITY_PARAMETER ? own : VARIABILITY_CONTINUOUS;
    }
    case TERM_START:
    case TERM_NOMINAL:
    case TERM_MIN:
    case TERM_MAX:
    case TERM_EXTENT:
    case TERM_INDEX:
    case TERM_RANGE: return VARIABILITY_PARAMETER;
    case TERM_LEFT:
    case TERM_RIGHT:
    case TERM_CONDITION:
    case TERM_TARGET:
    case TERM_GUARD:
    case TERM_ARGUMENT:
    case TERM_COURSE:
    case TERM_ENTRY:
    case TERM_INPUT:
    case TERM_PERIOD: return VARIABILITY_CONTINUOUS;
    case TERM_VALUE: return is_start(place) ? VARIABILITY_PARAMETER : VARIABILITY_CONTINUOUS;
    }
    BUG("unknown TermRole");
}

static const char *place_noun(const TermPlace *place)
{
    if (is_start(place))
        return "a start value";
    switch (place->role) {
    case TERM_BINDING: return "the value of a parameter";
    case TERM_EXTENT: return "a dimension";
    case TERM_RANGE: return "the range of a loop";
    case TERM_INDEX: return "the index of a port";
    default: return "a bound or nominal value";
    }
}

static const char *ref_text(const Verifier *v, Ref ref)
{
    return ref.kind <= REF_START  ? verify_variable_text(v, ref.var)
           : ref.kind == REF_TIME ? "time"
                                  : "a phase or an event";
}

/* By a pass: shown or not, its name says so. */
static bool is_made(const Verifier *v, uint32_t variable)
{
    const Variable *made = var_of(v, variable);
    return made->is_generated || names_of(pool_names(v->model->pool), made->name)[0] == '$';
}

static void verify_variability(Verifier *v, Ref ref, const TermPlace *place)
{
    static const char *const words[] = { "constant", "structural", "a parameter", "discrete", "continuous" };
    const Variability allowed = allowed_variability(v, place);
    const Variability is = ref_variability(v, ref, is_start(place));
    if (is <= allowed)
        return;
    /* What a pass makes may begin with a value of the time at which the run begins. */
    if (ref.kind == REF_TIME && place->role == TERM_START && is_made(v, place->index))
        return;
    /* Structural is decided by a pass: a parameter may yet become it. */
    if (allowed == VARIABILITY_STRUCTURAL && is == VARIABILITY_PARAMETER)
        return;
    REPORT(v, DIAG_MODEL_TERM_VARIABILITY, place->span, "%s depends on %s, which is %s", place_noun(place),
           ref_text(v, ref), words[is]);
    if (ref.kind <= REF_START)
        verify_note_declaration(v, ref.var);
    diag_help(v->diag, "use constants and parameters only, or an equation instead");
}

/* v = pre(v) or v := pre(v): the hold that a language writes down or means. */
static bool is_hold(const Model *model, const Equation *e)
{
    if (e->kind == EQUATION_ALGORITHM || e->lhs.shape->kind != EXPR_LEAF || e->rhs.shape->kind != EXPR_LEAF)
        return false;
    const Ref a = term_refs(model, e->lhs)[0], b = term_refs(model, e->rhs)[0];
    return a.var.index == b.var.index && a.kind == REF_NOW && b.kind == REF_PRE;
}

static bool allows_pre(const Verifier *v, const TermPlace *place)
{
    const Model *model = v->model;
    if (place->list == LIST_ASSIGNMENTS || place->list == LIST_ACTIONS)
        return true;
    if (place->list == LIST_STATEMENTS) /* of a transition or a function, not of an algorithm */
        return place->element != LIST_EQUATIONS;
    if (place->list != LIST_EQUATIONS)
        return false;
    const Equation *e = &model->equations.at[place->index];
    if (e->origin.made_by) /* of a transition, or of one to which a clock belongs */
        return true;
    if (e->when_valid == VALID_INITIAL_ONLY || e->when || e->clock || is_hold(model, e))
        return true;
    const bool has_target = e->lhs.shape->kind == EXPR_LEAF && e->lhs.shape->n_leaves > 0;
    const Ref target = has_target ? term_refs(model, e->lhs)[e->lhs.shape->u.leaf] : (Ref){ VAR_NONE, REF_TIME };
    return target.kind == REF_NOW && var_of(v, target.var.index)->definition == DEFINITION_CLOCKED;
}

static void verify_derivative(Verifier *v, VarId var, const TermPlace *place)
{
    const Variable *row = var_of(v, var.index);
    if (row->type.kind == TYPE_REAL && row->variability == VARIABILITY_CONTINUOUS)
        return;
    REPORT(v, DIAG_MODEL_DERIVATIVE_OPERAND, place->span, "%s has a derivative but is no continuous Real",
           verify_variable_text(v, var));
    verify_note_declaration(v, var);
    diag_help(v->diag, "only continuous Reals have derivatives");
}

static void verify_pre(Verifier *v, VarId var, const TermPlace *place)
{
    const Variable *row = var_of(v, var.index);
    if (row->variability != VARIABILITY_CONTINUOUS || row->definition == DEFINITION_NONE || allows_pre(v, place))
        return;
    REPORT(v, DIAG_MODEL_PRE_OF_CONTINUOUS, place->span, "pre(%s) of a continuous variable stands here",
           verify_variable_text(v, var));
    verify_note_declaration(v, var);
    diag_help(v->diag, "between steps a continuous variable has no earlier value: use it in a transition body");
}

static void verify_ref(Verifier *v, Ref ref, const TermPlace *place)
{
    verify_variability(v, ref, place);
    if (ref.kind == REF_DER)
        verify_derivative(v, ref.var, place);
    else if (ref.kind == REF_PRE)
        verify_pre(v, ref.var, place);
}

static bool has_continuous_leaf(const RuleWalk *w, const Expr *e)
{
    if (e->kind == EXPR_LEAF) {
        const Ref ref = w->refs[e->u.leaf];
        if (ref.kind == REF_TIME || ref.kind == REF_DER)
            return true;
        if (ref.kind == REF_NOW && var_of(w->v, ref.var.index)->variability == VARIABILITY_CONTINUOUS &&
            var_of(w->v, ref.var.index)->definition != DEFINITION_NONE)
            return true;
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        if (has_continuous_leaf(w, e->args[k]))
            return true;
    return false;
}

static bool is_literal_place(const RuleWalk *w)
{
    const Model *model = w->v->model;
    switch (w->place->list) {
    case LIST_EQUATIONS:
        return model->equations.at[w->place->index].when_valid == VALID_INITIAL_ONLY ||
               model->equations.at[w->place->index].when;
    case LIST_STATEMENTS: return w->place->element != LIST_EQUATIONS;
    case LIST_REGIONS:
    case LIST_TRANSITIONS:
    case LIST_ASSERTIONS: return false;
    default: return true;
    }
}

static void verify_equality(RuleWalk *w, const Expr *e)
{
    const bool is_equality = e->kind == EXPR_CALL && (e->op == OP_EQ || e->op == OP_NE) && !e->is_literal &&
                             e->args[0]->type.kind == TYPE_REAL;
    if (!is_equality || is_literal_place(w) ||
        !(has_continuous_leaf(w, e->args[0]) || has_continuous_leaf(w, e->args[1])))
        return;
    REPORT(w->v, DIAG_MODEL_EQUALITY_OF_REALS, w->place->span, "continuous Reals are compared with %s",
           op_text((Op)e->op));
    diag_help(w->v->diag, "use <= or >=, or noEvent(...) where the exact comparison is meant");
}

/* Literal indices against extents that are known. */
static void verify_index(RuleWalk *w, const Expr *e)
{
    const Model *model = w->v->model;
    const Ref ref = w->refs[e->u.leaf];
    const Variable *var = var_of(w->v, ref.var.index);
    for (uint32_t k = 0; k < e->n_args; k++) {
        const int64_t extent = model->dims.at[var->first_dim + k].extent;
        if (e->args[k]->kind != EXPR_INTEGER || extent < 0)
            continue;
        const int64_t index = e->args[k]->u.integer;
        if (index >= 1 && index <= extent)
            continue;
        REPORT(w->v, DIAG_MODEL_INDEX_RANGE, w->place->span, "index %lld of %s is outside 1 to %lld", (long long)index,
               verify_variable_text(w->v, ref.var), (long long)extent);
        verify_note_declaration(w->v, ref.var);
        diag_help(w->v->diag, "indices count from 1 to the extent of the dimension");
    }
}

static void walk_rules(RuleWalk *w, const Expr *e)
{
    uint32_t ignored;
    if (e->n_leaves == 0)
        return;
    if (w->seen) {
        if (map_get(w->seen, e->id, &ignored))
            return;
        map_put(w->seen, e->id, 1);
    }
    if (e->kind == EXPR_LEAF && e->n_args)
        verify_index(w, e);
    verify_equality(w, e);
    for (uint32_t k = 0; k < e->n_args; k++)
        walk_rules(w, e->args[k]);
}

static void verify_term(void *context, Term term, const TermPlace *place)
{
    enum { SMALL_DEPTH = 12 };
    Verifier *v = context;
    const Ref *refs = term_refs(v->model, term);
    verify_calls(v, term, place);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (!term.shape->has_whole || expr_reads_value(term.shape, k))
            verify_ref(v, refs[k], place);
    if (term.shape->n_leaves == 0 || verify_shape(v, term.shape)->is_plain)
        return;
    RuleWalk walk = { .v = v, .place = place, .refs = refs };
    Map seen;
    if (term.shape->depth > SMALL_DEPTH) {
        map_init(&seen, v->arena, 64);
        walk.seen = &seen;
    }
    walk_rules(&walk, term.shape);
}

/* ---- transitions: V7, V8, V11 ---- */
typedef struct {
    Verifier *v;
    Span *now, *next; /* per variable: where it is defined now, assigned next */
    bool *is_now, *is_next;
} Effects;

static VarId target_var(const Model *model, Term term)
{
    return term_refs(model, term)[term.shape->u.leaf].var;
}

static void now_and_next(Effects *e, VarId var)
{
    const char *name = verify_variable_text(e->v, var);
    REPORT(e->v, DIAG_MODEL_NOW_AND_NEXT, e->next[var.index], "%s is assigned at the next step but defined now", name);
    diag_note(e->v->diag, e->now[var.index], "it is defined now here");
    diag_help(e->v->diag, "decide for one: an equation or a transition that acts now, or assignments with next()");
}

static void note_effect(Effects *e, VarId var, Effect effect, Span span)
{
    bool *is = effect == EFFECT_NOW ? e->is_now : e->is_next;
    Span *where = effect == EFFECT_NOW ? e->now : e->next;
    const Variable *row = var_of(e->v, var.index);
    if (row->variability <= VARIABILITY_PARAMETER) {
        REPORT(e->v, DIAG_MODEL_PARAMETER_ASSIGNED, span, "%s does not change, but is assigned",
               verify_variable_text(e->v, var));
        verify_note_declaration(e->v, var);
        diag_help(e->v->diag, "make it a variable, or remove the assignment");
        return;
    }
    if (effect == EFFECT_NOW && row->definition == DEFINITION_DER) {
        REPORT(e->v, DIAG_MODEL_STATE_ASSIGNED_NOW, span, "the state %s is assigned now",
               verify_variable_text(e->v, var));
        verify_note_declaration(e->v, var);
        diag_help(e->v->diag, "a state is set for the next step: next(%s) := ...", verify_variable_text(e->v, var));
        return;
    }
    if (is[var.index])
        return;
    is[var.index] = true;
    where[var.index] = span;
    if (e->is_now[var.index] && e->is_next[var.index] && row->definition != DEFINITION_PULSE)
        now_and_next(e, var);
}

static void note_statements(Effects *e, uint32_t first, Effect effect, Span span)
{
    const Model *model = e->v->model;
    for (uint32_t k = first; k; k = model->statements.at[k].next) {
        const Statement *s = &model->statements.at[k];
        if (s->kind == STATEMENT_ASSIGN)
            note_effect(e, target_var(model, s->target), effect, s->span.source == SOURCE_NONE ? span : s->span);
        note_statements(e, s->inner, effect, span);
        note_statements(e, s->otherwise, effect, span);
    }
}

static bool same_term(const Model *model, Term a, Term b)
{
    if (a.shape != b.shape)
        return false;
    for (uint32_t k = 0; a.shape && k < a.shape->n_leaves; k++)
        if (!ref_equal(term_refs(model, a)[k], term_refs(model, b)[k]))
            return false;
    return true;
}

/* V11: one target, one guard path. */
static void verify_twice(Verifier *v, const Transition *t)
{
    const Model *model = v->model;
    Map seen; /* variable: last assignment + 1 */
    uint32_t earlier;
    if (t->n_assignments < 2)
        return;
    map_init(&seen, v->arena, t->n_assignments);
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment *a = &model->assignments.at[t->first_assignment + k];
        uint64_t key = target_var(model, a->target).index;
        key = hash_mix(key, a->target.shape->id);
        for (uint32_t i = 0; i < a->target.shape->n_leaves; i++)
            key = hash_mix(key, term_refs(model, a->target)[i].var.index);
        key = hash_mix(key, a->guard.shape ? a->guard.shape->id : ID_NONE);
        if (!map_get(&seen, key, &earlier)) {
            map_put(&seen, key, k);
            continue;
        }
        const Assignment *first = &model->assignments.at[t->first_assignment + earlier];
        if (!same_term(model, first->target, a->target) || !same_term(model, first->guard, a->guard))
            continue;
        REPORT(v, DIAG_MODEL_ASSIGNED_TWICE, a->span, "%s is assigned twice in one transition",
               verify_variable_text(v, target_var(model, a->target)));
        diag_note(v->diag, first->span, "the other assignment is here");
        diag_help(v->diag, "remove one, or give them guards that exclude each other");
    }
}

/* V8: the condition of a transition that acts now does not read what it assigns. */
static void verify_condition(Verifier *v, const Transition *t)
{
    const Model *model = v->model;
    Map targets;
    uint32_t ignored;
    if (t->effect != EFFECT_NOW || t->n_assignments == 0)
        return;
    map_init(&targets, v->arena, t->n_assignments);
    for (uint32_t k = 0; k < t->n_assignments; k++)
        map_put(&targets, target_var(model, model->assignments.at[t->first_assignment + k].target).index, k);
    for (uint32_t c = 0; c < t->n_conditions; c++) {
        const Term term = model->conditions.at[t->first_condition + c];
        for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
            const Ref ref = term_refs(model, term)[k];
            if (ref.kind != REF_NOW || !map_get(&targets, ref.var.index, &ignored))
                continue;
            REPORT(v, DIAG_MODEL_CONDITION_ON_TARGET, t->origin.span,
                   "the condition depends on %s, which is assigned here", verify_variable_text(v, ref.var));
            diag_note(v->diag, model->assignments.at[t->first_assignment + ignored].span, "it is assigned here");
            diag_help(v->diag, "use pre(%s) in the condition, or assign it for the next step",
                      verify_variable_text(v, ref.var));
        }
    }
}

static void note_equations(Effects *e)
{
    const Model *model = e->v->model;
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *eq = &model->equations.at[k];
        if (eq->when_valid == VALID_INITIAL_ONLY)
            continue;
        if (eq->kind == EQUATION_ALGORITHM) {
            note_statements(e, eq->body, EFFECT_NOW, eq->origin.span);
        } else if (eq->kind == EQUATION_EXPLICIT || eq->kind == EQUATION_ITERATION) {
            const Ref ref = term_refs(model, eq->lhs)[eq->lhs.shape->u.leaf];
            if (ref.kind == REF_NOW)
                note_effect(e, ref.var, EFFECT_NOW, eq->origin.span);
        }
    }
}

static void verify_transitions(Verifier *v)
{
    const Model *model = v->model;
    const uint32_t n = model->variables.n;
    Effects e = { .v = v,
                  .now = NEW_ARRAY(v->arena, Span, n),
                  .next = NEW_ARRAY(v->arena, Span, n),
                  .is_now = NEW_ARRAY(v->arena, bool, n),
                  .is_next = NEW_ARRAY(v->arena, bool, n) };
    note_equations(&e);
    for (uint32_t k = 0; k < model->transitions.n; k++) {
        const Transition *t = &model->transitions.at[k];
        if (t->trigger == TRIGGER_LEVEL && t->effect == EFFECT_NOW) {
            REPORT(v, DIAG_MODEL_LEVEL_NOW, t->origin.span,
                   "a transition that fires while its condition holds acts now");
            diag_help(v->diag, "use next(v) := ... in it, or an edge as its trigger");
        }
        for (uint32_t a = 0; a < t->n_assignments; a++) {
            const Assignment *assignment = &model->assignments.at[t->first_assignment + a];
            note_effect(&e, target_var(model, assignment->target), (Effect)t->effect, assignment->span);
        }
        note_statements(&e, t->body, (Effect)t->effect, t->origin.span);
        verify_twice(v, t);
        verify_condition(v, t);
    }
}

bool model_verify(const Model *model, Diag *diag)
{
    Verifier v = { .model = model, .diag = diag, .arena = arena_create(NULL), .is_good = true };
    if (verify_ids(&v)) {
        for (uint32_t k = 0; k < model->variables.n; k++)
            verify_variable(&v, k);
        for (uint32_t k = 0; k < model->variables.n; k++)
            verify_object(&v, &model->variables.at[k]);
        model_visit_terms(model, ELEMENTS_ALL, verify_term, &v);
        verify_results(&v);
        verify_definitions(&v);
        verify_balance(&v);
        verify_transitions(&v);
        verify_connections(&v);
        verify_channels(&v);
        verify_elements(&v);
        verify_ports(&v);
    }
    arena_destroy(v.arena);
    return v.is_good;
}
