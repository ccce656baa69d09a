/* lower-homotopy: homotopy(actual, simplified) is the actual expression in the run. At the start it is blended,
 * simplified + p*(actual - simplified), with a parameter p that is 1 unless the initial system cannot be solved: then
 * it goes from 0 to 1. An equation with a homotopy becomes two, one for the run and one for the start. */
#include "ir/memo.h"
#include "ir/simplify.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    Memo *has;       /* expression -> whether there is a homotopy in it */
    Memo memo;       /* expression -> what it becomes */
    bool is_blended; /* else: the actual expression */
    const Expr *leaf;
} Lowering;

static bool has_homotopy(const Expr *e, Memo *memo)
{
    uint32_t known;
    if (e->n_args == 0)
        return false;
    if (memo_get(memo, e, &known))
        return known;
    bool has = e->kind == EXPR_CALL && e->op == OP_HOMOTOPY;
    for (uint32_t k = 0; k < e->n_args && !has; k++)
        has = has_homotopy(e->args[k], memo);
    memo_put(memo, e, has);
    return has;
}

static const Expr *lower(Lowering *w, const Expr *e);

static const Expr *lower_new(Lowering *w, const Expr *e)
{
    Pool *pool = w->model->pool;
    if (e->kind == EXPR_CALL && e->op == OP_HOMOTOPY) {
        const Expr *actual = lower(w, e->args[0]);
        if (!w->is_blended)
            return actual;
        const Expr *simplified = lower(w, e->args[1]);
        const Expr *way = expr_binary(pool, OP_MUL, w->leaf, expr_binary(pool, OP_SUB, actual, simplified));
        return expr_binary(pool, OP_ADD, simplified, way);
    }
    const Expr **args = NEW_ARRAY(w->c->scratch, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = lower(w, e->args[k]);
    return expr_with_args(pool, e, args);
}

static const Expr *lower(Lowering *w, const Expr *e)
{
    uint32_t known;
    if (!has_homotopy(e, w->has))
        return e;
    if (memo_get(&w->memo, e, &known))
        return pool_node(w->model->pool, known);
    const Expr *result = lower_new(w, e);
    memo_put(&w->memo, e, result->id);
    return result;
}

static Term lower_term(Compile *c, Memo *has, Term term, bool is_blended)
{
    Model *m = c->model;
    if (!has_homotopy(term.shape, has))
        return term;
    TermBuilder builder = term_builder(m);
    Lowering w = { .c = c, .model = m, .has = has, .is_blended = is_blended };
    const Expr *shape = term_import(&builder, term);
    w.leaf = is_blended ? term_leaf(&builder, ref_now(m->homotopy)) : NULL;
    memo_begin(&w.memo, NULL);
    const Expr *result = expr_simplify(m->pool, lower(&w, shape));
    memo_end(&w.memo);
    return term_finish(&builder, result);
}

static void add_parameter(Model *m)
{
    const NameId name = names_text(pool_names(m->pool), "$homotopy");
    m->homotopy = model_add_variable(m, (InstanceId){ 0 }, name, REAL_TYPE, m->span);
    const Term one = term_real(m, 1);
    Variable *v = model_var(m, m->homotopy);
    v->variability = VARIABILITY_PARAMETER;
    v->definition = DEFINITION_BINDING;
    v->binding = one;
    v->is_generated = true;
}

bool lower_homotopy(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->equations.n;
    Memo has;
    memo_begin(&has, NULL);
    for (uint32_t k = 0; k < n; k++) {
        const Equation e = m->equations.at[k];
        if (e.kind == EQUATION_DROPPED || !e.lhs.shape || !e.rhs.shape ||
            !(has_homotopy(e.lhs.shape, &has) || has_homotopy(e.rhs.shape, &has)))
            continue;
        if (var_is_none(m->homotopy))
            add_parameter(m);
        if (e.when_valid != VALID_NOT_INITIAL) {
            Equation at_start = e;
            at_start.lhs = lower_term(c, &has, e.lhs, true);
            at_start.rhs = lower_term(c, &has, e.rhs, true);
            at_start.when_valid = VALID_INITIAL_ONLY;
            at_start.origin.made_by = "lower-homotopy";
            if (e.when_valid == VALID_INITIAL_ONLY) {
                m->equations.at[k] = at_start;
                continue;
            }
            vec_push(m->arena, &m->equations, at_start);
        }
        const Term left = lower_term(c, &has, e.lhs, false), right = lower_term(c, &has, e.rhs, false);
        m->equations.at[k].lhs = left;
        m->equations.at[k].rhs = right;
        m->equations.at[k].when_valid = VALID_NOT_INITIAL;
    }
    memo_end(&has);
    return true;
}
