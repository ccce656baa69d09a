/* Values that decide the structure; see structural.h. */
#include "passes/structural.h"

static bool term_value(Compile *c, Term term, Value *value, uint32_t depth);

static bool leaf_value(Compile *c, Ref ref, Value *value, uint32_t depth)
{
    if (ref.kind != REF_NOW || var_is_none(ref.var))
        return false;
    Variable *v = model_var(c->model, ref.var);
    if (v->variability > VARIABILITY_PARAMETER || term_is_absent(v->binding) || v->type.rank)
        return false;
    if (v->variability == VARIABILITY_PARAMETER)
        v->variability = VARIABILITY_STRUCTURAL;
    return term_value(c, v->binding, value, depth + 1);
}

static bool term_value(Compile *c, Term term, Value *value, uint32_t depth)
{
    enum { DEEPEST = 100, MOST_LEAVES = 64 };
    Value leaves[MOST_LEAVES];
    if (depth > DEEPEST || term.shape->n_leaves > MOST_LEAVES)
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
