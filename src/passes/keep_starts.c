/* See keep_starts.h. */
#include "passes/keep_starts.h"
#include "ir/element.h"

typedef struct {
    const Model *model;
    uint64_t *n_given; /* per variable: elements that have such an equation */
    bool *is_open;     /* per variable: another equation without direction may need it by elements */
} Starts;

static bool is_leaf(Term term)
{
    return term.shape->kind == EXPR_LEAF;
}

static Ref leaf_of(const Model *m, Term term)
{
    return term_refs(m, term)[term.shape->u.leaf];
}

/* An array whose values at the start are free. */
static bool is_free_array(const Model *m, Ref ref)
{
    if (ref.kind != REF_NOW)
        return false;
    const Variable *v = model_var(m, ref.var);
    return v->type.rank > 0 && v->type.kind != TYPE_STRING && !v->is_free && !v->is_fixed && term_is_absent(v->fixed) &&
           term_is_absent(v->wishes) && (v->definition == DEFINITION_DER || v->definition == DEFINITION_NEXT);
}

/* Known before the initial system is solved. */
static bool is_known(const Model *m, Ref ref)
{
    if (ref.kind == REF_TIME || ref.kind == REF_START)
        return true;
    if (ref.kind != REF_NOW)
        return false;
    const Variable *v = model_var(m, ref.var);
    return v->definition == DEFINITION_BINDING || v->definition == DEFINITION_INPUT ||
           (v->definition == DEFINITION_NEXT && v->is_fixed && term_is_absent(v->fixed));
}

static bool is_known_term(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (!is_known(m, term_refs(m, term)[k]))
            return false;
    return true;
}

static bool gives(const Model *m, const Equation *e, Term target, Term value)
{
    if (!is_leaf(target) || !is_free_array(m, leaf_of(m, target)) || target.shape->type.rank ||
        !type_equal(target.shape->type, value.shape->type))
        return false;
    return element_is_inside(m, target.shape, term_refs(m, target), e->domain) && is_known_term(m, value);
}

static bool takes_part(const Equation *e)
{
    return e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM;
}

/* The side that gives elements of an array, if one does. */
static const Term *target_of(const Model *m, const Equation *e)
{
    if (e->when_valid != VALID_INITIAL_ONLY || e->region.index != ID_NONE || e->when || e->clock)
        return NULL;
    if (e->kind != EQUATION_RESIDUAL) /* assignments are residuals at the start: lower-procedures */
        return NULL;
    if (gives(m, e, e->lhs, e->rhs))
        return &e->lhs;
    return gives(m, e, e->rhs, e->lhs) ? &e->rhs : NULL;
}

/* A constraint may make elements of a state follow others. Over a range it splits its arrays itself. */
static void note_open(Starts *s, const Equation *e)
{
    const Model *m = s->model;
    if (!takes_part(e) || equation_is_directed(e) || e->when_valid == VALID_INITIAL_ONLY || e->domain.index)
        return;
    const Term sides[] = { e->lhs, e->rhs };
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(m, sides[side])[k];
            if (ref.kind == REF_NOW && !var_is_none(ref.var))
                s->is_open[ref.var.index] = true;
        }
}

static bool is_direct(const Starts *s, const Term *target)
{
    if (!target)
        return false;
    const VarId v = leaf_of(s->model, *target).var;
    return !s->is_open[v.index] && s->n_given[v.index] == variable_count(s->model, v);
}

const bool *find_direct_starts(Compile *c)
{
    Model *m = c->model;
    bool *found = NEW_ARRAY(c->scratch, bool, m->equations.n + 1);
    Starts s = { m, NEW_ARRAY(c->scratch, uint64_t, m->variables.n + 1),
                 NEW_ARRAY(c->scratch, bool, m->variables.n + 1) };
    if (m->has_task)
        return found;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        const Term *target = target_of(m, e);
        note_open(&s, e);
        if (target)
            s.n_given[leaf_of(m, *target).var.index] += domain_count(m, e->domain);
    }
    for (uint32_t k = 0; k < m->equations.n; k++) {
        Equation *e = &m->equations.at[k];
        const Term *target = target_of(m, e);
        found[k] = is_direct(&s, target);
        if (!found[k])
            continue;
        if (target == &e->rhs) {
            const Term left = e->lhs;
            e->lhs = e->rhs;
            e->rhs = left;
        }
        e->kind = EQUATION_EXPLICIT;
    }
    return found;
}
