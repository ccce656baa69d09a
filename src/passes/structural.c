/* Values that decide the structure; see structural.h. */
#include "passes/structural.h"
#include "ir/substitute.h"

static bool term_value(Compile *c, Term term, Value *value, uint32_t depth);

/* ---- sizes of variables ---- */
typedef struct {
    VEC(const Expr *) from;
    VEC(const Expr *) to;
} Replaced;

static void find_sizes(Compile *c, Term term, const Expr *e, Replaced *r, uint32_t depth)
{
    if (!e->has_whole)
        return;
    if (e->kind == EXPR_WHOLE && e->op == WHOLE_SIZE && e->n_args == 2 && e->args[0]->kind == EXPR_LEAF &&
        !e->args[0]->n_args && e->args[1]->kind == EXPR_INTEGER) {
        const Variable v = *model_var(c->model, term_refs(c->model, term)[e->args[0]->u.leaf].var);
        const int64_t k = e->args[1]->u.integer;
        Value value;
        if (k < 1 || k > v.type.rank ||
            !term_value(c, c->model->dims.at[v.first_dim + (uint64_t)k - 1].term, &value, depth + 1))
            return;
        vec_push(c->scratch, &r->from, e);
        vec_push(c->scratch, &r->to, expr_integer(c->model->pool, value.i));
        return;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        find_sizes(c, term, e->args[k], r, depth);
}

/* The term with the sizes of variables as numbers. */
static Term with_sizes(Compile *c, Term term, uint32_t depth)
{
    Replaced r = { 0 };
    find_sizes(c, term, term.shape, &r, depth);
    if (!r.from.n)
        return term;
    const Expr *e = expr_substitute(c->model->pool, term.shape, r.from.n, r.from.at, r.to.at);
    return term_make(c->model, e, term_refs(c->model, term));
}

/* ---- values ---- */
static bool leaf_value(Compile *c, Ref ref, Value *value, uint32_t depth)
{
    if (ref.kind != REF_NOW || var_is_none(ref.var))
        return false;
    Variable *v = model_var(c->model, ref.var);
    if (v->variability > VARIABILITY_PARAMETER || term_is_absent(v->binding) || v->is_free || v->type.rank)
        return false;
    if (v->variability == VARIABILITY_PARAMETER)
        v->variability = VARIABILITY_STRUCTURAL;
    return term_value(c, v->binding, value, depth + 1);
}

static bool term_value(Compile *c, Term term, Value *value, uint32_t depth)
{
    enum { DEEPEST = 100, MOST_LEAVES = 64 };
    Value leaves[MOST_LEAVES];
    if (depth > DEEPEST)
        return false;
    if (term.shape->has_whole)
        term = with_sizes(c, term, depth);
    if (term.shape->n_leaves > MOST_LEAVES)
        return false;
    const uint32_t n = term.shape->n_leaves;
    for (uint32_t k = 0; k < n; k++)
        if (!leaf_value(c, c->model->refs.at[term.first_ref + k], &leaves[k], depth))
            return false;
    return expr_evaluate(term.shape, leaves, NULL, value);
}

bool structural_value(Compile *c, Term term, Value *value)
{
    return term_value(c, term, value, 0);
}

bool structural_leaf(Compile *c, Ref ref, Value *value)
{
    return leaf_value(c, ref, value, 0);
}
