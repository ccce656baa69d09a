/* evaluate-parameters: constants, and on demand all parameters but those that are to be kept, become numbers in every
 * term. What was a parameter can no longer be set.
 *
 * On demand also: an equation that determines a variable from numbers alone makes the variable a number everywhere
 * (b = 0 in a = b*(c + d), the potential of a ground), and so on, until no equation does. The variable keeps its place
 * and its value in the results, the equation is dropped. Each equation is looked at once more for each variable of it
 * that became a number. */
#include "graph/graph.h"
#include "ir/memo.h"
#include "ir/simplify.h"
#include "ir/solve.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/pipeline.h"
#include <math.h>

typedef struct {
    Compile *c;
    Model *m;
    Simplifier *simplifier;
    const Expr **value; /* per variable: a literal, an array of literals in braces, or NULL */
    bool *is_reading;   /* per variable: its binding is being evaluated */
    Incidence mentions; /* per variable: the equations that have it as a leaf */
    VEC(uint32_t) queue;
} Evaluator;

/* ---- terms ---- */
static bool literal_number(const Expr *e, int64_t *number)
{
    if (e->kind != EXPR_INTEGER)
        return false;
    *number = e->u.integer;
    return true;
}

/* The element of a value that a leaf means; NULL: only the run knows. */
static const Expr *element_of(const Evaluator *x, VarId var, const Expr *value, const Expr *leaf)
{
    const Variable *v = model_var(x->m, var);
    if (value->kind != EXPR_ARRAY)
        return leaf->type.rank ? NULL : value;
    int64_t number = 0, index;
    for (uint32_t k = 0; k < leaf->n_args; k++) {
        const int64_t extent = x->m->dims.at[v->first_dim + k].extent;
        if (!literal_number(leaf->args[k], &index) || index < 1 || index > extent)
            return NULL;
        number = number * extent + index - 1;
    }
    return leaf->n_args ? expr_array_element(value, (uint64_t)number) : NULL;
}

typedef struct {
    const Evaluator *x;
    Term term;
    Memo seen;
    VEC(const Expr *) from;
    VEC(const Expr *) to;
} Finding;

static void find_leaves(Finding *f, const Expr *e)
{
    uint32_t ignored;
    if (e->n_leaves == 0 || memo_get(&f->seen, e, &ignored))
        return;
    memo_put(&f->seen, e, 0);
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(f->x->m, f->term)[e->u.leaf];
        const Expr *value =
            ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_START ? f->x->value[ref.var.index] : NULL;
        const Expr *literal = value ? element_of(f->x, ref.var, value, e) : NULL;
        if (literal) {
            vec_push(f->x->c->scratch, &f->from, e);
            vec_push(f->x->c->scratch, &f->to, literal);
            return;
        }
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        find_leaves(f, e->args[k]);
}

/* True if the term has changed. */
static bool evaluate(Evaluator *x, Term *term)
{
    bool concerns = false;
    for (uint32_t k = 0; term->shape && k < term->shape->n_leaves && !concerns; k++) {
        const Ref ref = term_refs(x->m, *term)[k];
        concerns = ref.kind <= REF_START && !var_is_none(ref.var) && x->value[ref.var.index];
    }
    if (!concerns)
        return false;
    Finding f = { .x = x, .term = *term };
    memo_begin(&f.seen, NULL);
    find_leaves(&f, term->shape);
    memo_end(&f.seen);
    const Expr *shape = f.from.n ? expr_substitute(x->m->pool, term->shape, f.from.n, f.from.at, f.to.at) : NULL;
    if (!shape)
        return false;
    *term = term_make(x->m, simplifier_run(x->simplifier, shape), term_refs(x->m, *term));
    return true;
}

/* ---- parameters ---- */
static bool is_evaluated(const Evaluator *x, const Variable *v)
{
    if (v->definition != DEFINITION_BINDING || v->is_generated || v->type.kind >= TYPE_STRING ||
        term_is_absent(v->binding))
        return false;
    return v->variability == VARIABILITY_CONSTANT ||
           (x->c->evaluates_parameters && v->variability <= VARIABILITY_PARAMETER && !v->is_kept);
}

/* Values of parameters that the binding names come first. Long chains are followed without recursion. */
static void evaluate_bindings(Evaluator *x)
{
    Model *m = x->m;
    VEC(uint32_t) stack = { 0 };
    for (uint32_t k = 0; k < m->variables.n; k++) {
        if (is_evaluated(x, &m->variables.at[k]))
            vec_push(x->c->scratch, &stack, k);
        while (stack.n) {
            const uint32_t own = stack.at[stack.n - 1], before = stack.n;
            Variable *v = &m->variables.at[own];
            for (uint32_t j = 0; !x->is_reading[own] && j < v->binding.shape->n_leaves; j++) {
                const uint32_t other = term_refs(m, v->binding)[j].var.index;
                if (other != ID_NONE && !x->is_reading[other] && is_evaluated(x, &m->variables.at[other]))
                    vec_push(x->c->scratch, &stack, other);
            }
            x->is_reading[own] = true;
            if (stack.n > before)
                continue;
            (void)vec_pop(&stack);
            Term binding = v->binding;
            evaluate(x, &binding);
            if (binding.shape->n_leaves == 0)
                binding = term_expr(m, simplifier_run(x->simplifier, binding.shape));
            v = &m->variables.at[own];
            v->binding = binding;
            if (expr_is_literal(binding.shape) && !x->value[own]) {
                x->value[own] = binding.shape;
                if (v->variability == VARIABILITY_PARAMETER)
                    v->variability = VARIABILITY_STRUCTURAL;
            }
        }
    }
}

/* ---- variables that are numbers ---- */
/* The one leaf of both sides, if there is one only. */
static bool only_leaf(const Model *m, const Equation *e, Ref *ref)
{
    if (e->lhs.shape->n_leaves + e->rhs.shape->n_leaves == 0 || e->lhs.shape->n_leaves > 1 ||
        e->rhs.shape->n_leaves > 1)
        return false;
    *ref = term_refs(m, e->lhs.shape->n_leaves ? e->lhs : e->rhs)[0];
    return !(e->lhs.shape->n_leaves && e->rhs.shape->n_leaves && !ref_equal(*ref, term_refs(m, e->rhs)[0]));
}

static bool can_be_number(const Model *m, Ref ref)
{
    const Variable *v = ref.kind == REF_NOW ? model_var(m, ref.var) : NULL;
    return v && v->definition == DEFINITION_NOW && v->type.kind == TYPE_REAL && v->type.rank == 0 &&
           v->variability == VARIABILITY_CONTINUOUS && !v->is_fixed && var_is_none(v->alias) &&
           !variable_is_element(m, ref.var);
}

static void make_number(Evaluator *x, uint32_t k)
{
    Model *m = x->m;
    Equation *e = &m->equations.at[k];
    Ref ref;
    if ((e->kind != EQUATION_RESIDUAL && e->kind != EQUATION_EXPLICIT) || e->domain.index ||
        e->region.index != ID_NONE || e->when_valid != VALID_ALWAYS || !only_leaf(m, e, &ref) ||
        !can_be_number(m, ref) || e->lhs.shape->has_index || e->rhs.shape->has_index)
        return;
    const Expr *solution = expr_solve(m->pool, e->lhs.shape, e->rhs.shape, expr_leaf(m->pool, 0, REAL_TYPE));
    solution = solution ? simplifier_run(x->simplifier, solution) : NULL;
    if (!solution || solution->kind != EXPR_REAL || !isfinite(solution->u.real))
        return;
    e->kind = EQUATION_DROPPED;
    const Term binding = term_expr(m, solution);
    Variable *v = model_var(m, ref.var);
    v->definition = DEFINITION_BINDING;
    v->variability = VARIABILITY_CONSTANT;
    v->binding = binding;
    v->start = TERM_NONE;
    x->value[ref.var.index] = solution;
    vec_push(x->c->scratch, &x->queue, ref.var.index);
}

static void look_at(Evaluator *x, uint32_t k)
{
    Equation e = x->m->equations.at[k];
    if (e.kind == EQUATION_DROPPED || e.kind == EQUATION_ALGORITHM)
        return;
    if (e.kind == EQUATION_RESIDUAL)
        evaluate(x, &e.lhs);
    evaluate(x, &e.rhs);
    x->m->equations.at[k].lhs = e.lhs;
    x->m->equations.at[k].rhs = e.rhs;
    if (x->c->evaluates_parameters)
        make_number(x, k);
}

static void list_mentions(Evaluator *x)
{
    const Model *m = x->m;
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; s < 2 && e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM; s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[s])[j];
                const Edge edge = { ref.var.index, k };
                if (ref.kind <= REF_START && !var_is_none(ref.var))
                    vec_push(x->c->scratch, &edges, edge);
            }
    }
    x->mentions = incidence_build(m->variables.n, m->equations.n, edges.at, edges.n, x->c->scratch);
}

static void evaluate_equations(Evaluator *x)
{
    const uint32_t n = x->m->equations.n;
    if (x->c->evaluates_parameters)
        list_mentions(x);
    for (uint32_t k = 0; k < n; k++)
        look_at(x, k);
    while (x->queue.n) {
        const uint32_t v = vec_pop(&x->queue);
        for (uint32_t k = x->mentions.start[v]; k < x->mentions.start[v + 1]; k++)
            look_at(x, x->mentions.index[k]);
    }
}

/* Terms that have a value. What is assigned to and what a delay holds back are places, sizes were evaluated already,
 * and equations have had their turn. */
static Term evaluate_other(void *context, Term term, const TermPlace *place)
{
    if (place->role != TERM_TARGET && place->role != TERM_EXTENT && place->role != TERM_RANGE)
        evaluate(context, &term);
    return term;
}

static bool has_constants(const Evaluator *x)
{
    for (uint32_t k = 0; k < x->m->variables.n; k++)
        if (is_evaluated(x, &x->m->variables.at[k]))
            return true;
    return false;
}

bool evaluate_parameters(Compile *c)
{
    Model *m = c->model;
    Evaluator x = { .c = c, .m = m };
    if (!has_constants(&x) && !c->evaluates_parameters)
        return true;
    x.simplifier = simplifier_create(m->pool, c->scratch);
    x.value = NEW_ARRAY(c->scratch, const Expr *, m->variables.n + 1);
    x.is_reading = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    evaluate_bindings(&x);
    evaluate_equations(&x);
    model_rewrite_terms(m, ELEMENTS_ALL & ~ELEMENTS(LIST_EQUATIONS) & ~ELEMENTS(LIST_DELAYS), evaluate_other, &x);
    return true;
}
