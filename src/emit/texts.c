/* See texts.h. */
#include "emit/texts.h"
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/routine.h"

_Static_assert((int)CALL_TEXTS == (int)KOINE_TEXT_PLACE, "where the texts are");

bool model_has_texts(const Model *m)
{
    bool any = false;
    for (uint32_t k = 0; k < m->variables.n && !any; k++)
        any = m->variables.at[k].type.kind == TYPE_STRING;
    for (uint32_t k = 0; k < m->conditions.n && !any; k++)
        any = m->conditions.at[k].shape && m->conditions.at[k].shape->type.kind == TYPE_STRING;
    for (uint32_t k = 0; k < m->functions.n && !any; k++)
        for (uint32_t j = 0; j < m->functions.at[k]->body->variables.n && !any; j++)
            any = m->functions.at[k]->body->variables.at[j].type.kind == TYPE_STRING;
    for (uint32_t k = 0; k < pool_count(m->pool) && !any; k++)
        any = pool_node(m->pool, k)->kind == EXPR_TEXT;
    return any;
}

const Literals *literals_list(const Model *model, Arena *arena)
{
    const Pool *pool = model->pool;
    Literals *l = NEW(arena, Literals);
    l->is_used = model_has_texts(model);
    l->names = pool_names(pool);
    map_init(&l->numbers, arena, 0);
    for (uint32_t k = 0; k < pool_count(pool) && l->is_used; k++) {
        const Expr *e = pool_node(pool, k);
        if (e->kind != EXPR_STRING || name_is_empty(e->u.text))
            continue;
        map_put(&l->numbers, e->u.text.index, l->texts.n);
        vec_push(arena, &l->texts, names_of(l->names, e->u.text));
    }
    return l;
}

int64_t literal_number(const Literals *literals, NameId text)
{
    uint32_t place;
    if (name_is_empty(text))
        return 0;
    if (!map_get(&literals->numbers, text.index, &place))
        BUG("a text that no expression of the model has");
    return KOINE_TEXT_TAG + place + 1;
}

KoineTextOp text_operation(const Expr *e)
{
    switch ((TextOp)e->op) {
    case TEXT_CONCAT: return KOINE_TEXT_CONCAT;
    case TEXT_COMPARE: return KOINE_TEXT_COMPARE;
    case TEXT_LENGTH: return KOINE_TEXT_LENGTH;
    case TEXT_SUBSTRING: return KOINE_TEXT_SUBSTRING;
    case TEXT_FORMAT:
        return e->args[0]->type.kind == TYPE_REAL      ? KOINE_TEXT_FORMAT_REAL
               : e->args[0]->type.kind == TYPE_INTEGER ? KOINE_TEXT_FORMAT_INTEGER
                                                       : KOINE_TEXT_FORMAT_TEXT;
    case TEXT_OPS: break;
    }
    BUG("unknown TextOp");
}

static const Expr *make_lazy(Pool *pool, const Expr *e, Memo *memo)
{
    uint32_t known;
    if (!e->has_call)
        return e;
    if (memo_get(memo, e, &known))
        return pool_node(pool, known);
    const Expr **args = NEW_ARRAY(memo_arena(memo), const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = make_lazy(pool, e->args[k], memo);
    const Expr *made = e;
    if (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR) && expr_has_texts(e->args[1])) {
        const Expr *decided = expr_boolean(pool, e->op == OP_OR);
        made = e->op == OP_AND ? expr_if(pool, args[0], args[1], decided) : expr_if(pool, args[0], decided, args[1]);
    } else if (e->n_args)
        made = expr_with_args(pool, e, args);
    memo_put(memo, e, made->id);
    return made;
}

const Expr *texts_lazy(Pool *pool, const Expr *e)
{
    Memo memo;
    if (!e->has_call || !expr_has_texts(e))
        return e;
    memo_begin(&memo, NULL);
    const Expr *made = make_lazy(pool, e, &memo);
    memo_end(&memo);
    return made;
}
