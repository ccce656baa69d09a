/* Texts are made in event steps only: what moves between events is no text, unless a transition, a message or a clock
 * asks for it. */
#include "ir/routine.h"
#include "ir/walk.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    const Model *model;
    const Ref *refs;
    Span span;
    bool is_reported;
} Check;

static bool moves(const Model *m, Ref ref)
{
    if (ref.kind == REF_TIME || ref.kind == REF_DER || ref.kind == REF_LAST)
        return true;
    return ref.kind == REF_NOW && model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS;
}

/* A leaf that moves, and is not behind a comparison, which changes at events; none: ID_NONE. */
static uint32_t moving_leaf(const Check *x, const Expr *e)
{
    if (e->n_leaves == 0 || (e->kind == EXPR_CALL && op_is_relation((Op)e->op)))
        return ID_NONE;
    if (e->kind == EXPR_LEAF && moves(x->model, x->refs[e->u.leaf]))
        return e->u.leaf;
    uint32_t found = ID_NONE;
    for (uint32_t k = 0; k < e->n_args && found == ID_NONE; k++)
        found = moving_leaf(x, e->args[k]);
    return found;
}

static void check(Check *x, const Expr *e)
{
    const bool is_text = e->kind == EXPR_TEXT || (e->kind == EXPR_FUNCTION && e->type.kind == TYPE_STRING);
    const uint32_t leaf = is_text && !x->is_reported ? moving_leaf(x, e) : ID_NONE;
    if (leaf != ID_NONE) {
        x->is_reported = true;
        diag_error(x->c->diag, DIAG_MOVING_TEXT, x->span, "a text of %s, which changes between events",
                   expr_text(x->model, expr_leaf(x->model->pool, 0, ref_type(x->model, x->refs[leaf])), x->refs + leaf,
                             x->c->scratch));
        diag_help(x->c->diag, "make it in a transition, in a message, or of a value that a clock takes");
    }
    for (uint32_t k = 0; k < e->n_args && e->has_call && !x->is_reported; k++)
        check(x, e->args[k]);
}

static void check_term(void *context, Term term, const TermPlace *place)
{
    Check *x = context;
    const bool is_equation = place->element == LIST_EQUATIONS && place->list == LIST_EQUATIONS;
    if (!term.shape->has_call || !(is_equation || place->element == LIST_REGIONS))
        return;
    if (is_equation) {
        const Equation *e = &x->model->equations.at[place->index];
        if (e->when || e->clock || e->when_valid == VALID_INITIAL_ONLY)
            return;
    }
    x->refs = term_refs(x->model, term);
    x->span = place->span;
    x->is_reported = false;
    check(x, term.shape);
}

void check_texts(Compile *c)
{
    Check x = { .c = c, .model = c->model };
    model_visit_terms(c->model, ELEMENTS(LIST_EQUATIONS) | ELEMENTS(LIST_REGIONS), check_term, &x);
}
