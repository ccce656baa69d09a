/* merge-regions: each region gets a selector, a discrete Integer that holds the number of its valid branch (0: none).
 * All equations of one variable become one, a choice by selectors; a derivative without equation in a branch is 0
 * there. Transitions inside a branch fire only while it is selected. */
#include "base/bug.h"
#include "ir/simplify.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    TermBuilder builder;
    uint32_t *by_target, n_by_target; /* equations inside regions, sorted by target */
} Merger;

static const Expr *selected(Merger *g, RegionId region, uint16_t branch)
{
    Pool *pool = g->model->pool;
    const Expr *selector = term_leaf(&g->builder, ref_now(g->model->regions.at[region.index].selector));
    return expr_literal_relation(pool, OP_EQ, selector, expr_integer(pool, branch));
}

/* $r := if c1 then 1 else if c2 then 2 ... else n+1 or 0, and 0 where the region around it is not selected. */
static void define_selector(Merger *g, uint32_t region)
{
    Model *m = g->model;
    Pool *pool = m->pool;
    const Region r = m->regions.at[region];
    const Expr *value = expr_integer(pool, r.has_else ? r.n_conditions + 1 : 0);
    for (uint32_t k = r.n_conditions; k-- > 0;)
        value = expr_if(pool, term_import(&g->builder, m->conditions.at[r.first_condition + k]),
                        expr_integer(pool, k + 1), value);
    if (r.parent.index != ID_NONE)
        value = expr_if(pool, selected(g, r.parent, r.parent_branch), value, expr_integer(pool, 0));
    const Term rhs = term_finish(&g->builder, value);
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(r.selector)), rhs, r.span);
    m->equations.at[e.index].owner = r.owner;
    m->equations.at[e.index].origin.made_by = "merge-regions";
}

/* ---- equations ---- */
static uint32_t depth_of(const Model *m, RegionId region)
{
    uint32_t depth = 0;
    for (; region.index != ID_NONE; region = m->regions.at[region.index].parent)
        depth++;
    return depth;
}

/* The region and branch of equation e at `depth` (0 = outermost); false: e is not that deep. */
static bool path_at(const Model *m, const Equation *e, uint32_t depth, RegionId *region, uint16_t *branch)
{
    uint32_t own = depth_of(m, e->region);
    if (depth >= own)
        return false;
    *region = e->region;
    *branch = e->branch;
    while (--own > depth) {
        *branch = m->regions.at[region->index].parent_branch;
        *region = m->regions.at[region->index].parent;
    }
    return true;
}

static void report_double(Merger *g, const Equation *a, const Equation *b)
{
    const Model *m = g->model;
    const Ref target = term_refs(m, a->lhs)[0];
    diag_error(g->c->diag, DIAG_DOUBLE_DEFINITION, b->origin.span, "%s'%s' has two definitions that hold together",
               target.kind == REF_DER ? "the derivative of " : "", variable_path(m, target.var, g->c->scratch));
    diag_note(g->c->diag, a->origin.span, "the other one is here");
}

/* The value of the target from the n equations `ids`, all valid inside the same branch down to `depth`. */
static const Expr *choose(Merger *g, const uint32_t *ids, uint32_t n, uint32_t depth, Ref target, Span *whole);

static const Expr *missing(Merger *g, Ref target, RegionId region, uint32_t branch, Span place)
{
    Model *m = g->model;
    const Type type = ref_type(m, target);
    if (target.kind == REF_DER || model_var(m, target.var)->is_rate)
        return expr_real(m->pool, 0.0);
    const Region *r = &m->regions.at[region.index];
    diag_error(g->c->diag, DIAG_MISSING_BRANCH, place, "'%s' is not defined in every branch",
               variable_path(m, target.var, g->c->scratch));
    if (branch > r->n_conditions)
        diag_note(g->c->diag, r->span, "it has no definition when none of these conditions holds");
    else
        diag_note(g->c->diag, r->span, "it has no definition in branch %u", branch);
    diag_help(g->c->diag, "define it in that branch too, or add an ELSE branch");
    return expr_leaf(m->pool, 0, type);
}

static const Expr *choose(Merger *g, const uint32_t *ids, uint32_t n, uint32_t depth, Ref target, Span *whole)
{
    Model *m = g->model;
    RegionId region;
    uint16_t branch;
    const Equation *first = &m->equations.at[ids[0]];
    if (!path_at(m, first, depth, &region, &branch)) {
        if (n > 1)
            report_double(g, first, &m->equations.at[ids[1]]);
        *whole = first->origin.span;
        return term_import(&g->builder, first->rhs);
    }
    for (uint32_t k = 1; k < n; k++) {
        RegionId other;
        uint16_t other_branch;
        const Equation *e = &m->equations.at[ids[k]];
        if (!path_at(m, e, depth, &other, &other_branch) || other.index != region.index) {
            report_double(g, first, e);
            return term_import(&g->builder, first->rhs);
        }
    }
    const Region *r = &m->regions.at[region.index];
    const uint32_t n_branches = r->n_conditions + 1;
    uint32_t *inside = NEW_ARRAY(g->c->scratch, uint32_t, n);
    const Expr *value = NULL;
    for (uint32_t b = n_branches; b >= 1; b--) {
        uint32_t n_inside = 0;
        for (uint32_t k = 0; k < n; k++) {
            path_at(m, &m->equations.at[ids[k]], depth, &region, &branch);
            if (branch == b)
                inside[n_inside++] = ids[k];
        }
        const Expr *here = n_inside ? choose(g, inside, n_inside, depth + 1, target, whole)
                                    : missing(g, target, region, b, first->origin.span);
        value = value ? expr_if(m->pool, selected(g, region, (uint16_t)b), here, value) : here;
    }
    return value;
}

static void merge_target(Merger *g, const uint32_t *ids, uint32_t n)
{
    Model *m = g->model;
    const Ref target = term_refs(m, m->equations.at[ids[0]].lhs)[0];
    Span whole = m->equations.at[ids[0]].origin.span;
    const Expr *value = choose(g, ids, n, 0, target, &whole);
    if (diag_errors(g->c->diag))
        return;
    const Term rhs = term_finish(&g->builder, expr_simplify(m->pool, value));
    const Equation first = m->equations.at[ids[0]];
    EquationKind kind = EQUATION_EXPLICIT;
    for (uint32_t k = 0; k < n; k++)
        if (m->equations.at[ids[k]].kind == EQUATION_ITERATION)
            kind = EQUATION_ITERATION;
    const EqId e = model_add_equation(m, kind, first.lhs, rhs, first.origin.span);
    Equation *merged = &m->equations.at[e.index];
    merged->owner = first.owner;
    merged->origin.made_by = "merge-regions";
    merged->origin.parent.index = ids[0];
    merged->when_valid = first.when_valid;
    for (uint32_t k = 0; k < n; k++)
        m->equations.at[ids[k]].kind = EQUATION_DROPPED;
}

/* What always holds, and what holds behind the start only, are merged each for themselves. */
enum { KEYS = 4 }; /* of a variable */

static uint64_t target_key(const Model *m, uint32_t equation)
{
    const Equation *e = &m->equations.at[equation];
    const Ref target = term_refs(m, e->lhs)[0];
    return KEYS * (uint64_t)target.var.index + 2 * (e->when_valid == VALID_NOT_INITIAL) + (target.kind == REF_DER);
}

/* Equations inside regions, grouped by target: a target's list is in the order of the equations. */
static void group_by_target(Merger *g)
{
    const Model *m = g->model;
    uint32_t *head = NEW_ARRAY(g->c->scratch, uint32_t, KEYS * (size_t)m->variables.n + 2);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->equations.n; k++)
        if (equation_is_directed(&m->equations.at[k]) && m->equations.at[k].region.index != ID_NONE)
            head[target_key(m, k) + 1]++, n++;
    for (uint32_t k = 0; k < KEYS * m->variables.n; k++)
        head[k + 1] += head[k];
    g->by_target = NEW_ARRAY(g->c->scratch, uint32_t, n + 1);
    g->n_by_target = n;
    for (uint32_t k = 0; k < m->equations.n; k++)
        if (equation_is_directed(&m->equations.at[k]) && m->equations.at[k].region.index != ID_NONE)
            g->by_target[head[target_key(m, k)]++] = k;
}

static void merge_equations(Merger *g)
{
    group_by_target(g);
    for (uint32_t begin = 0, end; begin < g->n_by_target; begin = end) {
        end = begin + 1;
        while (end < g->n_by_target &&
               target_key(g->model, g->by_target[end]) == target_key(g->model, g->by_target[begin]))
            end++;
        merge_target(g, g->by_target + begin, end - begin);
    }
}

static void guard_transitions(Merger *g)
{
    Model *m = g->model;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        Transition *t = &m->transitions.at[k];
        if (t->region.index == ID_NONE)
            continue;
        for (uint32_t j = 0; j < t->n_conditions; j++) {
            Term *condition = &m->conditions.at[t->first_condition + j];
            const Expr *inside = selected(g, t->region, t->branch);
            const Expr *own = term_import(&g->builder, *condition);
            *condition = term_finish(&g->builder, expr_if(m->pool, inside, own, expr_boolean(m->pool, false)));
        }
    }
}

bool merge_regions(Compile *c)
{
    Model *m = c->model;
    Merger g = { .c = c, .model = m, .builder = term_builder(m) };
    for (uint32_t k = 0; k < m->regions.n; k++)
        m->regions.at[k].selector = model_add_generated(m, "r", k + 1, INTEGER_TYPE, m->regions.at[k].span);
    for (uint32_t k = 0; k < m->regions.n; k++)
        define_selector(&g, k);
    merge_residuals(c);
    if (diag_errors(c->diag))
        return false;
    merge_equations(&g);
    guard_transitions(&g);
    return diag_errors(c->diag) == 0;
}
