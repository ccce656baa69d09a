/* See choose_splits.h. */
#include "passes/choose_splits.h"
#include "graph/components.h"
#include "graph/sets.h"
#include "ir/element.h"
#include "ir/walk.h"
#include "passes/instantiate.h"
#include "passes/keep_comparisons.h"
#include "passes/keep_starts.h"
#include "passes/keep_transitions.h"
#include "passes/start_splits.h"

typedef struct {
    Compile *c;
    Model *model;
    Splits *splits;
    const bool *is_read;  /* per variable: something reads its derivative */
    const bool *is_start; /* per equation: it gives elements their values at the start, directly */
    bool *has_reason;     /* per equation: it cannot stay whole, whatever the others do */
    Incidence mentions;   /* per variable: the array equations that have it as a leaf */
    VEC(uint32_t) queue;  /* variables whose equations are to be looked at again */
    uint32_t *parent;     /* sets of arrays that equations v = w make equal */
    uint32_t *n_anchors;  /* per class: members that have a value of their own */
    uint64_t *n_elements; /* per class, then per derivative: elements that have an equation */
    bool *is_acausal;     /* ... and some of these equations have no direction */
} Chooser;

static Ref leaf_of(const Model *m, Term side)
{
    return term_refs(m, side)[side.shape->u.leaf];
}

/* ---- what an equation is ---- */
static bool ref_is_unknown(const Model *m, Ref ref)
{
    const uint8_t definition = ref.kind > REF_START ? DEFINITION_NONE : model_var(m, ref.var)->definition;
    return (ref.kind == REF_NOW && definition == DEFINITION_NOW) ||
           (ref.kind == REF_DER && definition == DEFINITION_DER);
}

static bool is_unknown(const Model *m, Term side)
{
    return side.shape->kind == EXPR_LEAF && ref_is_unknown(m, leaf_of(m, side));
}

static bool ref_is_unknown_array(const Model *m, Ref ref)
{
    return ref_is_unknown(m, ref) && model_var(m, ref.var)->type.rank > 0;
}

/* Unknowns among the leaves, each once; of both sides. */
typedef struct {
    uint32_t n, n_arrays;
} Unknowns;

static Unknowns count_unknowns(const Model *m, const Equation *e)
{
    Unknowns found = { 0, 0 };
    const Term sides[] = { e->lhs, e->rhs };
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t k = 0; k < sides[s].shape->n_leaves; k++) {
            const Ref ref = term_refs(m, sides[s])[k];
            found.n += ref_is_unknown(m, ref);
            found.n_arrays += ref_is_unknown_array(m, ref);
        }
    return found;
}

static bool takes_part(const Equation *e)
{
    return e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM;
}

/* By elements, or as arguments. */
static bool reads_arrays(const Expr *e)
{
    return e->has_index || e->has_call;
}

static bool is_array_equation(const Model *m, const Equation *e)
{
    if (!takes_part(e))
        return false;
    return e->domain.index || e->lhs.shape->type.rank ||
           (equation_is_directed(e) && model_var(m, leaf_of(m, e->lhs).var)->type.rank) ||
           (e->kind == EQUATION_RESIDUAL && (reads_arrays(e->lhs.shape) || reads_arrays(e->rhs.shape)) &&
            count_unknowns(m, e).n_arrays);
}

/* v = w between whole arrays, which eliminate-aliases will remove. */
static bool is_alias(const Model *m, const Equation *e)
{
    const Expr *left = e->lhs.shape, *right = e->rhs.shape;
    return e->kind == EQUATION_RESIDUAL && e->region.index == ID_NONE && !e->when && e->when_valid == VALID_ALWAYS &&
           e->domain.index == 0 && left->kind == EXPR_LEAF && right->kind == EXPR_LEAF && left->type.rank &&
           right->type.rank && leaf_of(m, e->lhs).kind == REF_NOW && leaf_of(m, e->rhs).kind == REF_NOW;
}

/* The side that is an unknown; only of equations for which one is. */
static Term target_side(const Model *m, const Equation *e)
{
    return equation_is_directed(e) || is_unknown(m, e->lhs) ? e->lhs : e->rhs;
}

/* ---- reasons of an equation of its own ---- */
static bool is_moving(const Model *m, const Expr *e, const Ref *refs)
{
    if (e->kind == EXPR_LEAF) {
        const Ref ref = refs[e->u.leaf];
        return ref.kind == REF_TIME || ref.kind == REF_DER ||
               ((ref.kind == REF_NOW || ref.kind == REF_LAST) &&
                model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS);
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        if (is_moving(m, e->args[k], refs))
            return true;
    return false;
}

/* A comparison or a function with steps or kinks that can change between events. */
static bool has_events(const Model *m, const Expr *e, const Ref *refs)
{
    if (e->n_leaves == 0)
        return false;
    const bool is_one = (!e->is_literal && expr_is_corner(e)) ||
                        (e->kind == EXPR_TABLE && table_has_kinks((TableMethod)e->u.table->method));
    if ((is_one || (e->kind == EXPR_REDUCE && (e->op == OP_MIN || e->op == OP_MAX))) && is_moving(m, e, refs))
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_events(m, e->args[k], refs))
            return true;
    return false;
}

static bool has_open_reduction(Chooser *x, const Equation *e)
{
    bool is_open = false;
    const Point point = { .element = -1, .is_attribute = true };
    if (e->domain.index)
        term_at(x->c, e->rhs, &point, e->origin.span, &is_open);
    return is_open;
}

bool expr_has_reduction(const Expr *e)
{
    if (e->kind == EXPR_REDUCE)
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (expr_has_reduction(e->args[k]))
            return true;
    return false;
}

bool model_has_arrays(const Model *m)
{
    for (uint32_t k = 0; m->dims.n && k < m->variables.n; k++)
        if (m->variables.at[k].type.rank)
            return true;
    for (uint32_t k = 0; k < m->domains.n; k++)
        if (m->domains.at[k].n)
            return true;
    for (uint32_t k = 0; k < pool_count(m->pool); k++)
        if (pool_node(m->pool, k)->kind == EXPR_REDUCE || pool_node(m->pool, k)->has_whole)
            return true;
    return false;
}

/* Without direction: what it determines is not for sure the array on one of its sides. */
static bool is_undecided(const Model *m, const Equation *e)
{
    if (e->kind != EQUATION_RESIDUAL)
        return false;
    if (!is_unknown(m, e->lhs) && !is_unknown(m, e->rhs))
        return true;
    if (model_var(m, leaf_of(m, target_side(m, e)).var)->type.rank == 0)
        return true;
    return e->domain.index == 0 && e->lhs.shape->type.rank == 0 && count_unknowns(m, e).n > 1;
}

static bool has_braces(const Expr *e)
{
    for (uint32_t k = 0; k < e->n_args && e->type.rank; k++)
        if (has_braces(e->args[k]))
            return true;
    return e->kind == EXPR_ARRAY;
}

static bool keeps_comparisons(const Chooser *x, const Equation *e)
{
    return !x->c->splits_comparisons && equation_keeps_comparisons(x->model, e, x->is_read);
}

static bool has_reason(Chooser *x, const Equation *e, bool is_start)
{
    const Model *m = x->model;
    if (has_braces(e->lhs.shape) || has_braces(e->rhs.shape))
        return true;
    if (e->region.index != ID_NONE || e->when || (e->when_valid == VALID_INITIAL_ONLY && !is_start) ||
        e->kind == EQUATION_ITERATION || is_undecided(m, e))
        return true;
    return (!keeps_comparisons(x, e) && has_events(m, e->rhs.shape, term_refs(m, e->rhs))) ||
           has_events(m, e->lhs.shape, term_refs(m, e->lhs)) ||
           (expr_has_reduction(e->rhs.shape) && has_open_reduction(x, e));
}

/* ---- splitting ---- */
static void split_variable(Chooser *x, VarId v, bool is_free)
{
    if (model_var(x->model, v)->type.rank == 0)
        return;
    if (!x->splits->is_split[v.index]) {
        x->splits->is_split[v.index] = true;
        x->splits->is_free[v.index] = is_free;
        vec_push(x->c->scratch, &x->queue, v.index);
    }
    x->splits->is_free[v.index] &= is_free;
}

static void split_unknowns(Chooser *x, Term term)
{
    const Model *m = x->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        const uint8_t definition = ref.kind > REF_START ? DEFINITION_NONE : model_var(m, ref.var)->definition;
        if (definition == DEFINITION_NOW || definition == DEFINITION_DER)
            split_variable(x, ref.var, true);
    }
}

static bool reads_split(const Chooser *x, Term term, bool only_unknowns)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(x->model, term)[k];
        if (ref.kind <= REF_START && x->splits->is_split[ref.var.index] &&
            (!only_unknowns || ref_is_unknown(x->model, ref)))
            return true;
    }
    return false;
}

/* An equation is written out if it has a reason of its own, if it defines something that is split, or if it is
 * evaluated in events only or compares and reads something that is split: one changed element shall not cost the
 * others, nor wake their comparisons. One
 * without direction is written out if any of its unknowns is split. */
static bool is_to_write_out(const Chooser *x, uint32_t k)
{
    const Model *m = x->model;
    const Equation *e = &m->equations.at[k];
    if (x->has_reason[k])
        return true;
    if (e->kind == EQUATION_RESIDUAL && (reads_split(x, e->lhs, true) || reads_split(x, e->rhs, true)))
        return true;
    const Ref target = leaf_of(m, target_side(m, e));
    if (has_events(m, e->rhs.shape, term_refs(m, e->rhs)) && reads_split(x, e->rhs, false))
        return true;
    return x->splits->is_split[target.var.index] ||
           (model_var(m, target.var)->variability <= VARIABILITY_DISCRETE && reads_split(x, e->rhs, false));
}

static void look_at(Chooser *x, uint32_t k)
{
    const Equation *e = &x->model->equations.at[k];
    if (x->splits->is_written_out[k] || !is_array_equation(x->model, e) || !is_to_write_out(x, k))
        return;
    x->splits->is_written_out[k] = true;
    if (equation_is_directed(e)) {
        split_variable(x, leaf_of(x->model, e->lhs).var, false);
    } else {
        split_unknowns(x, e->lhs);
        split_unknowns(x, e->rhs);
    }
}

static void split_targets(Chooser *x, const Transition *t)
{
    const Model *m = x->model;
    for (uint32_t j = 0; j < t->n_assignments; j++)
        split_variable(x, leaf_of(m, m->assignments.at[t->first_assignment + j].target).var, false);
}

typedef struct {
    const Chooser *chooser;
    bool any;
} SplitLook;

static void look_for_split(void *context, Term term)
{
    SplitLook *look = context;
    look->any = look->any || reads_split(look->chooser, term, false);
}

/* A transition that mentions what is split is written out. */
static void spread_to_transitions(Chooser *x)
{
    const Model *m = x->model;
    bool any = false;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        SplitLook look = { x, false };
        if (x->splits->stays_whole[k])
            transition_visit_terms(m, &m->transitions.at[k], look_for_split, &look);
        if (!look.any)
            continue;
        x->splits->stays_whole[k] = false;
        any = true;
    }
    if (any)
        join_whole_transitions(m, x->splits->stays_whole, x->c->scratch);
    for (uint32_t k = 0; any && k < m->transitions.n; k++)
        if (!x->splits->stays_whole[k])
            split_targets(x, &m->transitions.at[k]);
}

/* What was split asks for more, until nothing does. */
static void spread(Chooser *x)
{
    do {
        while (x->queue.n) {
            const uint32_t v = vec_pop(&x->queue);
            for (uint32_t k = x->mentions.start[v]; k < x->mentions.start[v + 1]; k++)
                look_at(x, x->mentions.index[k]);
        }
        spread_to_transitions(x);
    } while (x->queue.n);
}

static void list_mentions(Chooser *x)
{
    const Model *m = x->model;
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!is_array_equation(m, e))
            continue;
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[s])[j];
                if (ref.kind > REF_START || model_var(m, ref.var)->type.rank == 0)
                    continue;
                const Edge edge = { ref.var.index, k };
                vec_push(x->c->scratch, &edges, edge);
            }
    }
    x->mentions = incidence_build(m->variables.n, m->equations.n, edges.at, edges.n, x->c->scratch);
}

/* ---- is every element defined once? ---- */
static void join_aliases(Chooser *x)
{
    const Model *m = x->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!takes_part(e) || !is_alias(m, e))
            continue;
        const uint32_t a = leaf_of(m, e->lhs).var.index;
        sets_join_least(x->parent, a, leaf_of(m, e->rhs).var.index);
        x->is_acausal[sets_root(x->parent, a)] = true;
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        x->n_anchors[sets_root(x->parent, k)] +=
            m->variables.at[k].definition != DEFINITION_NOW && m->variables.at[k].definition != DEFINITION_NONE;
}

static uint32_t counter_of(Chooser *x, Ref ref)
{
    return ref.kind == REF_DER ? x->model->variables.n + ref.var.index : sets_root(x->parent, ref.var.index);
}

static void count_definitions(Chooser *x)
{
    const Model *m = x->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!is_array_equation(m, e) || x->has_reason[k] || x->is_start[k] || is_alias(m, e))
            continue;
        const Term target = target_side(m, e);
        const uint32_t counter = counter_of(x, leaf_of(m, target));
        x->n_elements[counter] +=
            target.shape->n_args ? domain_count(m, e->domain) : variable_count(m, leaf_of(m, target).var);
        x->is_acausal[counter] |= e->kind == EQUATION_RESIDUAL;
    }
}

static void split_miscounted(Chooser *x)
{
    const Model *m = x->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const uint32_t own = sets_root(x->parent, k), rate = m->variables.n + k;
        if (v->type.rank == 0 || (v->definition != DEFINITION_NOW && v->definition != DEFINITION_DER))
            continue;
        const uint64_t count = variable_count(m, (VarId){ k });
        const bool is_wrong = x->n_anchors[own] > 1 || x->n_elements[own] != (x->n_anchors[own] ? 0 : count);
        if ((x->is_acausal[own] && is_wrong) ||
            (v->definition == DEFINITION_DER && x->is_acausal[rate] && x->n_elements[rate] != count))
            split_variable(x, (VarId){ k }, true);
    }
}

/* ---- rings of array equations ---- */
typedef struct { /* elements lo .. hi are defined by the equation; a list by `next` */
    uint32_t equation, next;
    int64_t lo, hi;
} Defined;

typedef struct {
    Chooser *x;
    uint32_t *first; /* per variable, NOW in even, DER in odd places: 1 + Defined */
    VEC(Defined) defined;
    VEC(Edge) edges;
} Rings;

static void elements_of(const Model *m, const Expr *leaf, const Ref *refs, DomainId domain, int64_t *lo, int64_t *hi)
{
    ElementMap map;
    *lo = 0;
    *hi = (int64_t)variable_count(m, refs[leaf->u.leaf].var) - 1;
    if (leaf->n_args && element_map(m, leaf, refs, domain, &map))
        element_range(m, &map, domain, lo, hi);
}

static uint32_t *definers(const Rings *r, Ref ref)
{
    return &r->first[2 * (size_t)ref.var.index + (ref.kind == REF_DER)];
}

static void note_reads(Rings *r, uint32_t equation, const Expr *e, Term term, DomainId domain)
{
    const Model *m = r->x->model;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(m, term)[e->u.leaf];
        if (ref.kind == REF_NOW || ref.kind == REF_DER) {
            int64_t lo, hi;
            elements_of(m, e, term_refs(m, term), domain, &lo, &hi);
            for (uint32_t k = *definers(r, ref); k; k = r->defined.at[k - 1].next)
                if (r->defined.at[k - 1].lo <= hi && lo <= r->defined.at[k - 1].hi) {
                    const Edge edge = { equation, r->defined.at[k - 1].equation };
                    vec_push(r->x->c->scratch, &r->edges, edge);
                }
        }
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        note_reads(r, equation, e->args[k], term, domain);
}

static void note_definition(Rings *r, uint32_t k)
{
    const Model *m = r->x->model;
    const Equation *e = &m->equations.at[k];
    if (!takes_part(e) || (!is_unknown(m, e->lhs) && !is_unknown(m, e->rhs)))
        return;
    const Term side = target_side(m, e);
    const Ref ref = leaf_of(m, side);
    Defined row = { .equation = k, .next = *definers(r, ref) };
    elements_of(m, side.shape, term_refs(m, side), e->domain, &row.lo, &row.hi);
    vec_push(r->x->c->scratch, &r->defined, row);
    *definers(r, ref) = r->defined.n;
}

static void split_rings(Chooser *x)
{
    const Model *m = x->model;
    Arena *scratch = x->c->scratch;
    const uint32_t n = m->equations.n;
    Rings r = { .x = x, .first = NEW_ARRAY(scratch, uint32_t, 2 * (size_t)m->variables.n + 2) };
    for (uint32_t k = 0; k < n; k++)
        note_definition(&r, k);
    for (uint32_t k = 0; k < n; k++) {
        const Equation *e = &m->equations.at[k];
        if (takes_part(e) && e->rhs.shape)
            note_reads(&r, k, is_unknown(m, e->lhs) ? e->rhs.shape : e->lhs.shape,
                       is_unknown(m, e->lhs) ? e->rhs : e->lhs, e->domain);
    }
    const Incidence g = incidence_build(n, n, r.edges.at, r.edges.n, scratch);
    const Components components = strong_components(&g, scratch, NULL);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t own = components.component_of[k];
        bool is_ring = components.start[own + 1] - components.start[own] > 1;
        for (uint32_t j = g.start[k]; j < g.start[k + 1]; j++)
            is_ring |= g.index[j] == k;
        x->has_reason[k] |= is_ring;
        if (is_ring)
            look_at(x, k);
    }
}

/* ---- arrays that something reads as a whole ---- */
/* Leaves that do not become single elements keep the array together. */
static void keep_in(Chooser *x, const Expr *e, Term term, bool is_whole)
{
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(x->model, term)[e->u.leaf];
        bool is_single = e->n_args || is_whole;
        for (uint32_t k = 0; k < e->n_args; k++)
            is_single &= e->args[k]->n_leaves == 0;
        if (ref.kind <= REF_START && !is_single)
            x->splits->is_free[ref.var.index] = false;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        keep_in(x, e->args[k], term, is_whole && e->kind != EXPR_FUNCTION);
}

static void keep_term(Chooser *x, Term term, bool is_whole)
{
    if (term.shape)
        keep_in(x, term.shape, term, is_whole);
}

/* An equation that stays whole reads its arrays over a range. */
static void keep_equation(Chooser *x, uint32_t k)
{
    const Equation *e = &x->model->equations.at[k];
    const Term sides[] = { e->lhs, e->rhs };
    for (uint32_t s = 0; s < 2; s++) {
        if (x->splits->is_written_out[k] || e->domain.index == 0)
            keep_term(x, sides[s], x->splits->is_written_out[k]);
        for (uint32_t j = 0; !x->splits->is_written_out[k] && e->domain.index && j < sides[s].shape->n_leaves; j++)
            if (term_refs(x->model, sides[s])[j].kind <= REF_START)
                x->splits->is_free[term_refs(x->model, sides[s])[j].var.index] = false;
    }
}

/* Sizes and bounds read parameters only, the input of a delay is a scalar variable. */
static void keep_other(void *context, Term term, const TermPlace *place)
{
    (void)place;
    keep_term(context, term, false);
}

static void keep_together(Chooser *x)
{
    const Model *m = x->model;
    for (uint32_t k = 0; k < m->equations.n; k++)
        if (takes_part(&m->equations.at[k]))
            keep_equation(x, k);
    model_visit_terms(m, ELEMENTS_ALL & ~ELEMENTS(LIST_EQUATIONS), keep_other, x);
}

/* Those that are told of element by element, and those that equations of the start may determine. */
static void split_told(Chooser *x)
{
    const Model *m = x->model;
    const bool *is_of_start = find_start_splits(m, x->is_start, MOST_ELEMENTS, x->c->scratch);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (v->fixed.shape || v->wishes.shape || variable_has_start_equation(v) || v->is_free || is_of_start[k])
            split_variable(x, (VarId){ k }, true);
    }
}

/* Written out, an equation of the start is one among others. */
static void open_starts(Chooser *x)
{
    for (uint32_t k = 0; k < x->model->equations.n; k++)
        if (x->is_start[k] && x->splits->is_written_out[k])
            x->model->equations.at[k].kind = EQUATION_RESIDUAL;
}

bool choose_splits(Compile *c, Splits *splits)
{
    Model *m = c->model;
    Arena *scratch = c->scratch;
    const uint32_t n = m->equations.n, n_variables = m->variables.n;
    *splits = (Splits){ NEW_ARRAY(scratch, bool, n_variables + 1), NEW_ARRAY(scratch, bool, n_variables + 1),
                        NEW_ARRAY(scratch, bool, n + 1), find_whole_transitions(m, scratch) };
    if (c->splits_comparisons)
        splits->stays_whole = NEW_ARRAY(scratch, bool, m->transitions.n + 1);
    Chooser x = { .c = c,
                  .model = m,
                  .splits = splits,
                  .is_read = find_read_derivatives(m, scratch),
                  .is_start = find_direct_starts(c),
                  .has_reason = NEW_ARRAY(scratch, bool, n + 1),
                  .parent = sets_create(scratch, n_variables),
                  .n_anchors = NEW_ARRAY(scratch, uint32_t, n_variables + 1),
                  .n_elements = NEW_ARRAY(scratch, uint64_t, 2 * (size_t)n_variables + 1),
                  .is_acausal = NEW_ARRAY(scratch, bool, 2 * (size_t)n_variables + 1) };
    bool any = false;
    for (uint32_t k = 0; k < n; k++)
        if (is_array_equation(m, &m->equations.at[k])) {
            const Equation e = m->equations.at[k]; /* looking for reductions adds terms */
            x.has_reason[k] = has_reason(&x, &e, x.is_start[k]);
            any = true;
        }
    if (diag_errors(c->diag))
        return false;
    list_mentions(&x);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (!splits->stays_whole[k])
            split_targets(&x, &m->transitions.at[k]);
    split_told(&x);
    if (!any) {
        spread(&x);
        return true;
    }
    for (uint32_t k = 0; k < n; k++)
        if (x.has_reason[k])
            look_at(&x, k);
    join_aliases(&x);
    count_definitions(&x);
    split_miscounted(&x);
    spread(&x);
    split_rings(&x);
    spread(&x);
    keep_together(&x);
    open_starts(&x);
    return true;
}
