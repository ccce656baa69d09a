/* What all terms of one shape have in common, for the checks of a Model: shapes are shared by many, and most have
 * nothing but the types of their leaves to be checked. */
#include "ir/memo.h"
#include "ir/verify_checks.h"

typedef struct {
    Type *types;
    uint32_t n_leaves, n_found;
    Memo seen;
} PlainWalk;

static bool is_plain(PlainWalk *w, const Expr *e)
{
    uint32_t ignored;
    const bool is_leaf = e->kind == EXPR_LEAF;
    const bool compares = e->kind == EXPR_CALL && (e->op == OP_EQ || e->op == OP_NE);
    if (e->kind == EXPR_FUNCTION || e->kind == EXPR_ITERATOR || e->kind == EXPR_REDUCE || compares ||
        (is_leaf && (e->n_args || e->u.leaf >= w->n_leaves)))
        return false;
    if (memo_get(&w->seen, e, &ignored))
        return true;
    memo_put(&w->seen, e, 1);
    if (is_leaf) { /* a node of its own for each type that it is used with */
        w->types[e->u.leaf] = e->type;
        w->n_found++;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_plain(w, e->args[k]))
            return false;
    return true;
}

const ShapeFacts *verify_shape(Verifier *v, const Expr *shape)
{
    if (shape->id >= v->n_facts) {
        const ShapeFacts *before = v->facts;
        const uint32_t n = v->n_facts;
        v->n_facts = pool_count(v->model->pool) > shape->id ? pool_count(v->model->pool) : shape->id + 1;
        v->facts = NEW_ARRAY(v->arena, ShapeFacts, v->n_facts);
        if (n)
            memcpy(v->facts, before, n * sizeof *before);
    }
    ShapeFacts *facts = &v->facts[shape->id];
    if (facts->is_known)
        return facts;
    PlainWalk walk = { .types = NEW_ARRAY(v->arena, Type, shape->n_leaves + 1), .n_leaves = shape->n_leaves };
    memo_begin(&walk.seen, NULL);
    facts->is_plain = is_plain(&walk, shape) && walk.n_found == shape->n_leaves;
    memo_end(&walk.seen);
    facts->types = walk.types;
    facts->is_known = true;
    return facts;
}

bool verify_is_plain(Verifier *v, const Expr *shape, const Ref *refs)
{
    if (shape->n_leaves == 0 && shape->n_args == 0) /* a literal, mostly */
        return !shape->has_index && shape->kind != EXPR_FUNCTION;
    const ShapeFacts *facts = verify_shape(v, shape);
    if (!facts->is_plain)
        return false;
    for (uint32_t k = 0; k < shape->n_leaves; k++)
        if (!type_equal(ref_type(v->model, refs[k]), facts->types[k]))
            return false;
    return true;
}
