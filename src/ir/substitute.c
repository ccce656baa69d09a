/* Substitution from the root downwards; see substitute.h. */
#include "ir/substitute.h"
#include "base/bug.h"
#include "ir/memo.h"

typedef struct {
    Pool *pool;
    uint32_t oldest; /* smallest id of a node to replace: a node contains only older ones */
    Memo memo;       /* node: id of what it becomes */
} Substitution;

static const Expr *substitute(Substitution *s, const Expr *e)
{
    enum { FEW = 4 };
    uint32_t known;
    if (e->id < s->oldest)
        return e;
    if (memo_get(&s->memo, e, &known))
        return pool_node(s->pool, known);
    const Expr *few[FEW];
    const Expr **const args = e->n_args <= FEW ? few : NEW_ARRAY(memo_arena(&s->memo), const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++) {
        args[k] = substitute(s, e->args[k]);
        if (!args[k])
            return NULL;
        if (args[k] != e->args[k] && expr_too_deep(args[k], NULL))
            return NULL;
    }
    const Expr *result = expr_with_args(s->pool, e, args);
    memo_put(&s->memo, e, result->id);
    return result;
}

const Expr *expr_substitute(Pool *pool, const Expr *e, uint32_t n, const Expr *const *from, const Expr *const *to)
{
    Substitution s = { .pool = pool, .oldest = UINT32_MAX };
    memo_begin(&s.memo, NULL);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t known;
        REQUIRE(type_equal(from[k]->type, to[k]->type));
        if (!memo_get(&s.memo, from[k], &known)) /* given twice: the first counts */
            memo_put(&s.memo, from[k], to[k]->id);
        if (from[k]->id < s.oldest)
            s.oldest = from[k]->id;
    }
    const Expr *result = substitute(&s, e);
    memo_end(&s.memo);
    return result;
}

Term term_substitute(Model *model, Term term, Ref ref, Term replacement)
{
    const Ref *refs = term_refs(model, term);
    const uint32_t n = term.shape->n_leaves, n_more = replacement.shape->n_leaves;
    uint32_t leaf = 0;
    while (leaf < n && !ref_equal(refs[leaf], ref))
        leaf++;
    if (leaf == n)
        return term;
    Ref *all = NEW_ARRAY(model->arena, Ref, n + n_more);
    uint32_t *shifted = NEW_ARRAY(model->arena, uint32_t, n_more);
    memcpy(all, refs, n * sizeof *all);
    for (uint32_t k = 0; k < n_more; k++) {
        all[n + k] = term_refs(model, replacement)[k];
        shifted[k] = n + k;
    }
    const Expr *from = expr_leaf(model->pool, leaf, ref_type(model, ref));
    const Expr *to = expr_renumber(model->pool, replacement.shape, shifted);
    const Expr *shape = expr_substitute(model->pool, term.shape, 1, &from, &to);
    if (!shape)
        return TERM_NONE;
    return shape == term.shape ? term : term_make(model, shape, all);
}
