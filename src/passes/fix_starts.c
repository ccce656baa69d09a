/* fix-starts: a fixed start of what is no state is an equation of the start.
 *
 * States and what events assign begin at their fixed starts without one. An algebraic variable does if the unknowns of
 * the start, as states without fixed start, follow it: `y = start`, beside the initial equations of the model. One that
 * shares the place of a state has the state's start (eliminate-aliases); where both are fixed and differ, the equation
 * says so, and match-equations tells that there are too many. */
#include "ir/simplify.h"
#include "passes/start_splits.h"

static bool same_term(const Model *m, Term a, Term b)
{
    if (a.shape != b.shape)
        return false;
    for (uint32_t k = 0; a.shape && k < a.shape->n_leaves; k++)
        if (!ref_equal(term_refs(m, a)[k], term_refs(m, b)[k]))
            return false;
    return true;
}

/* The start, of the variable that holds its value; 0 where none is given. */
static Term start_of(Model *m, const Variable *v)
{
    if (term_is_absent(v->start))
        return term_real(m, 0);
    if (!v->is_negated)
        return v->start;
    TermBuilder builder = term_builder(m);
    const Expr *start = term_import(&builder, v->start);
    return term_finish(&builder, expr_simplify(m->pool, expr_unary(m->pool, OP_NEG, start)));
}

bool fix_starts(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable v = m->variables.at[k];
        if (!variable_has_start_equation(&v))
            continue;
        m->variables.at[k].is_fixed = false;
        m->variables.at[k].fixed = TERM_NONE;
        if (v.type.rank) /* its elements are variables of their own */
            continue;
        const VarId holder = var_is_none(v.alias) ? (VarId){ k } : v.alias;
        const Variable root = *model_var(m, holder);
        const Term start = start_of(m, &v);
        if (root.definition == DEFINITION_DER && root.is_fixed && same_term(m, start, start_of(m, &root)))
            continue;
        const EqId made = model_add_equation(m, EQUATION_RESIDUAL, term_ref(m, ref_now(holder)), start, v.span);
        Equation *e = &m->equations.at[made.index];
        e->when_valid = VALID_INITIAL_ONLY;
        e->owner = v.owner;
        e->origin.made_by = "fix-starts";
    }
    return true;
}
