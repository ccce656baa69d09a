/* lower-free: parameters that the start determines (`free`) become discrete variables with a memory that nothing
 * assigns: unknowns of the initial system, constant behind it.
 *
 * Parameters whose bindings depend on them become discrete variables with an equation. A start value that depends on
 * them is an equation of the start if it is fixed; otherwise the search for it begins where that for the parameters
 * does. Sizes, ranges, bounds and nominal values must be known before. */
#include "graph/graph.h"
#include "ir/walk.h"
#include "passes/instantiate.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t n;         /* variables that were there before */
    bool *is_unknown;   /* per such variable: free, or computed from what is */
    Incidence bindings; /* per variable: parameters whose bindings name it */
} Lowering;

static bool is_parameter(const Variable *v)
{
    return v->variability == VARIABILITY_PARAMETER || v->variability == VARIABILITY_STRUCTURAL;
}

static void list_bindings(Lowering *l)
{
    const Model *m = l->model;
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < l->n; k++) {
        const Variable *v = &m->variables.at[k];
        for (uint32_t j = 0; is_parameter(v) && v->binding.shape && j < v->binding.shape->n_leaves; j++) {
            const Ref ref = term_refs(m, v->binding)[j];
            const Edge edge = { ref.var.index, k };
            if (ref.kind == REF_NOW)
                vec_push(l->c->scratch, &edges, edge);
        }
    }
    l->bindings = incidence_build(l->n, l->n, edges.at, edges.n, l->c->scratch);
}

static void spread(Lowering *l)
{
    VEC(uint32_t) queue = { 0 };
    for (uint32_t k = 0; k < l->n; k++)
        if (l->is_unknown[k])
            vec_push(l->c->scratch, &queue, k);
    while (queue.n) {
        const uint32_t k = vec_pop(&queue);
        for (uint32_t j = l->bindings.start[k]; j < l->bindings.start[k + 1]; j++) {
            const uint32_t reader = l->bindings.index[j];
            if (!l->is_unknown[reader])
                vec_push(l->c->scratch, &queue, reader);
            l->is_unknown[reader] = true;
        }
    }
}

/* A variable that it depends on and that the start determines, or none. */
static VarId unknown_in(const Lowering *l, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(l->model, term)[k];
        if ((ref.kind == REF_NOW || ref.kind == REF_START) && ref.var.index < l->n && l->is_unknown[ref.var.index])
            return ref.var;
    }
    return VAR_NONE;
}

static void refuse(Lowering *l, const char *what, VarId on, Span span)
{
    Diag *diag = l->c->diag;
    diag_error(diag, DIAG_MODEL_TERM_VARIABILITY, span, "%s depends on '%s', which the start determines", what,
               variable_path(l->model, on, l->c->scratch));
    diag_note(diag, model_var(l->model, on)->span, "declared here");
    diag_help(diag, "use constants and parameters that are not free");
}

static void check_term(void *context, Term term, const TermPlace *place)
{
    Lowering *l = context;
    const char *what = place->role == TERM_NOMINAL                                   ? "a nominal value"
                       : place->role == TERM_MIN || place->role == TERM_MAX          ? "a bound"
                       : place->role == TERM_EXTENT                                  ? "a dimension"
                       : place->role == TERM_RANGE                                   ? "a range"
                       : place->role == TERM_INDEX                                   ? "the index of a port"
                       : place->element == LIST_DELAYS && place->role == TERM_PERIOD ? "a delay"
                       : place->element == LIST_CLOCKS                               ? "a clock"
                                                                                     : NULL;
    const VarId on = what ? unknown_in(l, term) : VAR_NONE;
    if (!var_is_none(on))
        refuse(l, what, on, place->span);
}

/* They do not change: what they were before an event is what they are. */
static void forget_before(Lowering *l)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < m->refs.n; k++) {
        Ref *ref = &m->refs.at[k];
        if ((ref->kind == REF_PRE || ref->kind == REF_LAST) && l->is_unknown[ref->var.index])
            ref->kind = REF_NOW;
    }
}

/* The term with the start values of parameters that the start determines. */
static Term at_guess(const Lowering *l, Term term)
{
    const uint32_t n = term.shape->n_leaves;
    Ref *refs = NEW_ARRAY(l->c->scratch, Ref, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        refs[k] = term_refs(l->model, term)[k];
        if (refs[k].kind == REF_NOW && l->is_unknown[refs[k].var.index])
            refs[k].kind = REF_START;
    }
    return term_make(l->model, term.shape, refs);
}

/* var = value, of an array for each element. */
static void equate(Lowering *l, EquationKind kind, VarId var, Term value, Validity valid)
{
    Model *m = l->model;
    const Variable v = *model_var(m, var);
    Term left = term_ref(m, ref_now(var));
    DomainId domain = { 0 };
    if (v.type.rank && value.shape->type.rank == 0) {
        const Expr *index[UINT8_MAX];
        for (uint32_t k = 0; k < v.type.rank; k++)
            index[k] = expr_iterator(m->pool, k);
        TermBuilder builder = term_builder(m);
        left = term_finish(&builder, term_element(&builder, ref_now(var), v.type.rank, index));
        domain = domain_of_array(m, var);
    } else if (v.type.rank) {
        left = term_make(m, expr_leaf(m->pool, 0, v.type), (Ref[]){ ref_now(var) });
    }
    const EqId made = model_add_equation(m, kind, left, value, v.span);
    Equation *e = &m->equations.at[made.index];
    e->owner = v.owner;
    e->domain = domain;
    e->when_valid = (uint8_t)valid;
    e->origin.made_by = "lower-free";
}

static void lower_parameter(Lowering *l, VarId var)
{
    Model *m = l->model;
    const Term binding = model_var(m, var)->binding;
    const bool is_free = model_var(m, var)->is_free;
    if (model_var(m, var)->type.kind == TYPE_OBJECT || model_var(m, var)->type.kind == TYPE_STRING) {
        refuse(l, "a text or an external object", unknown_in(l, binding), model_var(m, var)->span);
        return;
    }
    if (!is_free) {
        equate(l, EQUATION_EXPLICIT, var, binding, VALID_ALWAYS);
        const Term start = at_guess(l, binding);
        model_var(m, var)->start = start;
    } else if (!term_is_absent(binding)) {
        equate(l, EQUATION_RESIDUAL, var, binding, VALID_INITIAL_ONLY);
    }
    Variable *v = model_var(m, var);
    v->binding = TERM_NONE;
    v->variability = VARIABILITY_DISCRETE;
    v->definition = is_free ? DEFINITION_NEXT : DEFINITION_NOW;
    v->causality = CAUSALITY_LOCAL;
    v->is_synonym = v->is_kept = false;
}

/* Its start value depends on what the start determines. */
static void lower_start(Lowering *l, VarId var)
{
    Model *m = l->model;
    const Variable v = *model_var(m, var);
    const VarId on = unknown_in(l, v.start);
    if (var_is_none(on))
        return;
    const bool is_memory = v.variability == VARIABILITY_DISCRETE && v.definition == DEFINITION_NEXT;
    if ((v.variability == VARIABILITY_DISCRETE && !is_memory) || v.fixed.shape) {
        refuse(l, "a start value", on, v.span);
        return;
    }
    if (v.is_fixed || is_memory)
        equate(l, EQUATION_RESIDUAL, var, v.start, VALID_INITIAL_ONLY);
    const Term start = at_guess(l, v.start);
    model_var(m, var)->start = start;
    model_var(m, var)->is_fixed = false;
}

bool lower_free(Compile *c)
{
    Model *m = c->model;
    Lowering l = { .c = c, .model = m, .n = m->variables.n };
    l.is_unknown = NEW_ARRAY(c->scratch, bool, l.n + 1);
    bool any = false;
    for (uint32_t k = 0; k < l.n; k++)
        any |= l.is_unknown[k] = m->variables.at[k].is_free && is_parameter(&m->variables.at[k]);
    if (!any)
        return true;
    list_bindings(&l);
    spread(&l);
    model_visit_terms(m, ELEMENTS_ALL, check_term, &l);
    if (diag_errors(c->diag))
        return false;
    forget_before(&l);
    for (uint32_t k = 0; k < l.n; k++)
        if (l.is_unknown[k])
            lower_parameter(&l, (VarId){ k });
        else
            lower_start(&l, (VarId){ k });
    return diag_errors(c->diag) == 0;
}
