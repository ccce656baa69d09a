/* fix-modes: in a mode of a model whose branches change its structure some choices are fixed. Their values take the
 * place of selectors, bits and Booleans in all equations of Reals, so that only the equations of the mode remain. What
 * decides about choices stays as it is: it says when the mode ends.
 *
 * A state whose derivative stands nowhere any more is an ordinary unknown of the mode. */
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    bool *has_derivative;
} Fixing;

static Term value_term(const Fixing *f, const FixedChoice *choice)
{
    Model *m = f->model;
    const bool is_boolean = model_var(m, choice->var)->type.kind == TYPE_BOOLEAN;
    return term_make(m, is_boolean ? expr_boolean(m->pool, choice->value != 0) : expr_integer(m->pool, choice->value),
                     NULL);
}

static Term with_values(const Fixing *f, Term term)
{
    const Compile *c = f->c;
    Term now = term;
    for (uint32_t k = 0; k < c->modes.n_fixed; k++) {
        const Ref ref = ref_now(c->modes.fixed[k].var);
        for (uint32_t j = 0; j < now.shape->n_leaves; j++)
            if (ref_equal(term_refs(f->model, now)[j], ref)) {
                now = term_substitute(f->model, now, ref, value_term(f, &c->modes.fixed[k]));
                break;
            }
    }
    return now.shape == term.shape ? term : term_simplify(f->model, now);
}

static void fix_equations(const Fixing *f)
{
    Model *m = f->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        if (m->equations.at[k].kind == EQUATION_DROPPED || m->equations.at[k].kind == EQUATION_ALGORITHM ||
            m->equations.at[k].lhs.shape->type.kind != TYPE_REAL)
            continue;
        const Term lhs = m->equations.at[k].lhs;
        const Term rhs = with_values(f, m->equations.at[k].rhs);
        if (m->equations.at[k].kind == EQUATION_RESIDUAL)
            m->equations.at[k].lhs = with_values(f, lhs);
        m->equations.at[k].rhs = rhs;
    }
}

/* ---- states that end ---- */
static void note_derivatives(void *context, Term term, const TermPlace *place)
{
    const Fixing *f = context;
    (void)place;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (term_refs(f->model, term)[k].kind == REF_DER)
            f->has_derivative[term_refs(f->model, term)[k].var.index] = true;
}

static void end_states(Fixing *f)
{
    Model *m = f->model;
    f->has_derivative = NEW_ARRAY(f->c->scratch, bool, m->variables.n + 1);
    model_visit_terms(m, ELEMENTS_ALL, note_derivatives, f);
    for (uint32_t k = 0; k < m->assignments.n; k++) { /* an event sets it: it stays a state */
        const Term target = m->assignments.at[k].target;
        f->has_derivative[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
    }
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        if (v->definition != DEFINITION_DER || v->type.rank || f->has_derivative[k] || !var_is_none(v->alias))
            continue;
        v->definition = DEFINITION_NOW;
        v->is_fixed = false;
        v->select = SELECT_DEFAULT;
    }
}

bool fix_modes(Compile *c)
{
    Fixing f = { .c = c, .model = c->model };
    if (!c->modes.is_mode)
        return true;
    c->modes.n_variables = c->model->variables.n;
    for (uint32_t k = 0; k < c->model->variables.n; k++)
        if (c->model->variables.at[k].definition == DEFINITION_DER && var_is_none(c->model->variables.at[k].alias))
            vec_push(c->arena, &c->modes.states, (VarId){ k });
    fix_equations(&f);
    end_states(&f);
    return true;
}
