/* fold-constants: every term is simplified. Shapes are shared, so each is simplified once. */
#include "ir/simplify.h"
#include "passes/pipeline.h"

typedef struct {
    Model *model;
    Simplifier *simplifier;
} Fold;

static void fold(Fold *f, Term *term)
{
    if (!term->shape)
        return;
    const Expr *simple = simplifier_run(f->simplifier, term->shape);
    if (simple != term->shape)
        *term = term_make(f->model, simple, f->model->refs.at + term->first_ref);
}

bool fold_constants(Compile *c)
{
    Model *m = c->model;
    Fold f = { m, simplifier_create(m->pool, c->scratch) };
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        fold(&f, &v->binding);
        fold(&f, &v->start);
        fold(&f, &v->nominal);
        fold(&f, &v->min);
        fold(&f, &v->max);
    }
    for (uint32_t k = 0; k < m->equations.n; k++) {
        if (m->equations.at[k].kind == EQUATION_RESIDUAL)
            fold(&f, &m->equations.at[k].lhs);
        fold(&f, &m->equations.at[k].rhs);
    }
    for (uint32_t k = 0; k < m->conditions.n; k++)
        fold(&f, &m->conditions.at[k]);
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        fold(&f, &m->assignments.at[k].guard);
        fold(&f, &m->assignments.at[k].value);
    }
    for (uint32_t k = 0; k < m->actions.n; k++)
        fold(&f, &m->actions.at[k].guard);
    return true;
}
