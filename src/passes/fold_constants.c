/* fold-constants: every term that has a value is simplified. Shapes are shared, so each is simplified once. */
#include "ir/simplify.h"
#include "ir/walk.h"
#include "passes/pipeline.h"

typedef struct {
    Model *model;
    Simplifier *simplifier;
} Fold;

/* What is assigned to is a place; sizes were evaluated already, and the text form shows what they were made of. */
static bool has_value(const Model *m, const TermPlace *place)
{
    if (place->list == LIST_EQUATIONS && place->role == TERM_LEFT)
        return m->equations.at[place->index].kind == EQUATION_RESIDUAL;
    return place->role != TERM_TARGET && place->role != TERM_EXTENT && place->role != TERM_RANGE;
}

static Term fold(void *context, Term term, const TermPlace *place)
{
    const Fold *f = context;
    if (!has_value(f->model, place))
        return term;
    const Expr *simple = simplifier_run(f->simplifier, term.shape);
    return simple == term.shape ? term : term_make(f->model, simple, f->model->refs.at + term.first_ref);
}

bool fold_constants(Compile *c)
{
    Fold f = { c->model, simplifier_create(c->model->pool, c->scratch) };
    model_rewrite_terms(c->model, ELEMENTS_ALL | ELEMENTS_DROPPED, fold, &f);
    return true;
}
