/* lower-arrays: terms with arrays in them are said by elements.
 *
 * An equation between arrays becomes one over the range of its elements, or a few of them where parts are written in
 * different ways: cat(a, b) has two parts, elements in braces are parts of their own. Products, sums and the like
 * become reductions. A costly array of which each element is needed more than once, like the matrix B*C in A*(B*C),
 * gets a variable. Assignments of transitions go element by element, and so do start values and parameters, in braces.
 * Statements are left to array_statements.c. Sizes are known here; those that do not agree are errors. */
#include "base/bug.h"
#include "ir/routine.h"
#include "ir/walk.h"
#include "passes/choose_splits.h"
#include "passes/instantiate.h"
#include "passes/lower/arrays.h"
#include <stdlib.h>

typedef struct {
    Compile *c;
    Model *model;
    uint32_t number; /* of the equation at work */
    Map held;        /* expressions of it: the variable that holds them */
} Lowering;

/* ---- variables that hold an array ---- */
static bool moves(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind == REF_TIME || ref.kind == REF_DER || ref.kind == REF_LAST ||
            (ref.kind == REF_NOW && model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS))
            return true;
    }
    return false;
}

/* The variable has a dimension for each loop of the equation, then those of the array. */
static bool hold_extents(Arrays *x, Domain domain, const Expr *e, int64_t *extents)
{
    Extents own;
    if (!array_extents(x, e, &own) || domain.n + own.rank > ARRAY_RANK)
        return false;
    for (uint32_t k = 0; k < domain.n; k++) {
        const Iterator *i = &x->model->iterators.at[domain.first + k];
        extents[k] = i->count;
        if (i->stride != 1 || i->count < 1)
            return false;
    }
    for (uint32_t k = 0; k < own.rank; k++)
        if (!array_number(own.at[k], &extents[domain.n + k]) || extents[domain.n + k] < 1)
            return false;
    return true;
}

static VarId add_held(Arrays *x, Term term, uint32_t rank, const int64_t *extents)
{
    Model *m = x->model;
    Type type = term.shape->type;
    type.rank = (uint8_t)rank;
    const VarId v = model_add_generated(m, "h", m->variables.n, type, x->span);
    Term dims[ARRAY_RANK];
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = term_integer(m, extents[k]);
    model_set_dims(m, v, rank, dims);
    for (uint32_t k = 0; k < rank; k++)
        m->dims.at[model_var(m, v)->first_dim + k].extent = extents[k];
    const bool is_moving = type.kind == TYPE_REAL && moves(m, term);
    model_var(m, v)->variability = is_moving ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE;
    return v;
}

/* The part of it that belongs to the point of the equation's loops. */
static const Expr *held_part(Arrays *x, TermBuilder *builder, VarId v, Domain domain, uint32_t rank)
{
    const Expr *index[ARRAY_RANK];
    if (domain.n == 0)
        return term_leaf(builder, ref_now(v));
    for (uint32_t k = 0; k < rank; k++)
        index[k] = k >= domain.n
                       ? expr_all(x->pool)
                       : array_index(x, expr_iterator(x->pool, k), expr_integer(x->pool, 1),
                                     expr_integer(x->pool, 1 - x->model->iterators.at[domain.first + k].first));
    return term_element(builder, ref_now(v), rank, index);
}

static const Expr *hold(Arrays *x, const Expr *e)
{
    Lowering *l = x->context;
    Model *m = l->model;
    const Equation of = m->equations.at[l->number];
    const Domain domain = m->domains.at[of.domain.index];
    int64_t extents[ARRAY_RANK];
    VarId v;
    if (of.region.index != ID_NONE || of.when || of.clock || of.when_valid != VALID_ALWAYS ||
        of.kind == EQUATION_ITERATION || e->type.kind == TYPE_STRING || !hold_extents(x, domain, e, extents))
        return NULL;
    const uint32_t rank = domain.n + e->type.rank;
    if (!map_get(&l->held, e->id, &v.index)) {
        const Term value = term_make(m, e, x->builder.refs.at);
        v = add_held(x, value, rank, extents);
        map_put(&l->held, e->id, v.index);
        TermBuilder builder = term_builder(m);
        const Term place = term_finish(&builder, held_part(x, &builder, v, domain, rank));
        const EqId made = model_add_equation(m, EQUATION_EXPLICIT, place, value, of.origin.span);
        Equation *row = &m->equations.at[made.index];
        row->domain = of.domain;
        row->owner = of.owner;
        row->origin.made_by = "lower-arrays";
        row->origin.parent.index = l->number;
    }
    return held_part(x, &x->builder, v, domain, rank);
}

/* ---- equations ---- */
typedef struct {
    VEC(int64_t) ends; /* of the pieces of a dimension, ascending */
} Pieces;

typedef struct {
    Lowering *lowering;
    Arrays *x;
    const Expr *lhs, *rhs;
    uint32_t rank, n_made;
    Pieces pieces[ARRAY_RANK];
    const Expr *index[ARRAY_RANK];
    int64_t from[ARRAY_RANK], to[ARRAY_RANK]; /* of the box at work */
} Boxes;

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void find_pieces(Boxes *b, uint32_t dim, int64_t extent)
{
    Cuts cuts = { 0 };
    Arena *scratch = b->lowering->c->scratch;
    array_cuts(b->x, b->lhs, dim, 0, &cuts);
    array_cuts(b->x, b->rhs, dim, 0, &cuts);
    if (cuts.at.n)
        qsort(cuts.at.at, cuts.at.n, sizeof *cuts.at.at, by_size);
    int64_t last = 0;
    for (uint32_t k = 0; k < cuts.at.n; k++)
        if (cuts.at.at[k] > last && cuts.at.at[k] < extent) {
            last = cuts.at.at[k];
            vec_push(scratch, &b->pieces[dim].ends, last);
        }
    if (extent > 0)
        vec_push(scratch, &b->pieces[dim].ends, extent);
}

/* The loops of the equation, and one for each dimension of the box. */
static DomainId domain_of_box(const Boxes *b, DomainId of)
{
    Model *m = b->lowering->model;
    const Domain outer = m->domains.at[of.index];
    Domain domain = { m->iterators.n, outer.n };
    for (uint32_t k = 0; k < outer.n; k++) {
        const Iterator copy = m->iterators.at[outer.first + k];
        vec_push(m->arena, &m->iterators, copy);
    }
    for (uint32_t k = 0; k < b->rank; k++) {
        if (b->from[k] == b->to[k])
            continue;
        const char *name = arena_format(m->arena, "i%u", ++domain.n);
        const Iterator i = { .name = names_text(pool_names(m->pool), name),
                             .lo = term_integer(m, b->from[k]),
                             .hi = term_integer(m, b->to[k]),
                             .first = b->from[k],
                             .stride = 1,
                             .count = b->to[k] - b->from[k] + 1 };
        vec_push(m->arena, &m->iterators, i);
    }
    if (domain.n == outer.n)
        return of;
    vec_push(m->arena, &m->domains, domain);
    return (DomainId){ m->domains.n - 1 };
}

static void add_box(Boxes *b)
{
    Lowering *l = b->lowering;
    Model *m = l->model;
    Arrays *x = b->x;
    const uint32_t n_outer = x->n_levels;
    for (uint32_t k = 0; k < b->rank; k++)
        b->index[k] =
            b->from[k] == b->to[k] ? expr_integer(x->pool, b->from[k]) : arrays_enter(x, b->from[k], b->to[k]);
    const Expr *lhs = x->has_failed ? NULL : array_element(x, b->lhs, b->index);
    const Expr *rhs = lhs ? array_element(x, b->rhs, b->index) : NULL;
    x->n_levels = n_outer;
    if (!rhs)
        return;
    Equation one = m->equations.at[l->number];
    one.lhs = term_make(m, lhs, x->builder.refs.at);
    one.rhs = term_make(m, rhs, x->builder.refs.at);
    one.domain = domain_of_box(b, one.domain);
    one.name = (NameId){ 0 };
    one.origin.made_by = "lower-arrays";
    one.origin.parent.index = l->number;
    vec_push(m->arena, &m->equations, one);
    b->n_made++;
}

static void add_boxes(Boxes *b, uint32_t dim)
{
    if (dim == b->rank) {
        add_box(b);
        return;
    }
    for (uint32_t k = 0; k < b->pieces[dim].ends.n && !b->x->has_failed; k++) {
        b->from[dim] = k ? b->pieces[dim].ends.at[k - 1] + 1 : 1;
        b->to[dim] = b->pieces[dim].ends.at[k];
        add_boxes(b, dim + 1);
    }
}

static bool count_boxes(const Boxes *b)
{
    uint64_t n = 1;
    for (uint32_t k = 0; k < b->rank; k++) {
        n *= b->pieces[k].ends.n;
        if (n > MOST_ELEMENTS)
            return false;
    }
    return true;
}

/* One box takes the place of the equation, several stand behind the others. */
static void write_boxes(Boxes *b)
{
    Lowering *l = b->lowering;
    Model *m = l->model;
    if (!count_boxes(b)) {
        arrays_fail(b->x, DIAG_TOO_MANY_ELEMENTS, "an array of too many elements, which are treated one by one");
        return;
    }
    const uint32_t number = l->number;
    add_boxes(b, 0);
    Equation *row = &m->equations.at[number];
    if (b->n_made == 1 && !b->x->has_failed) {
        const Equation one = m->equations.at[m->equations.n - 1];
        row->lhs = one.lhs;
        row->rhs = one.rhs;
        row->domain = one.domain;
        m->equations.n--;
    } else if (!b->x->has_failed)
        row->kind = EQUATION_DROPPED;
}

static bool is_whole_leaf(const Expr *e)
{
    return e->kind == EXPR_LEAF && e->n_args == 0 && e->type.rank > 0;
}

/* y = f(x) stays whole; only its arguments are said by elements. */
static void lower_call(Lowering *l, Arrays *x, const Expr *rhs)
{
    const Expr *call = array_call(x, rhs);
    if (call)
        l->model->equations.at[l->number].rhs = term_make(l->model, call, x->builder.refs.at);
}

static void lower_equation(Compile *c, uint32_t number)
{
    Model *m = c->model;
    const Equation e = m->equations.at[number];
    if (e.kind == EQUATION_DROPPED || e.kind == EQUATION_ALGORITHM)
        return;
    const bool is_array = e.lhs.shape->type.rank > 0;
    if (!is_array && !e.lhs.shape->has_whole && !e.rhs.shape->has_whole)
        return;
    Lowering l = { .c = c, .model = m, .number = number };
    Arrays x;
    Extents left, right;
    arrays_begin(&x, c, m, e.domain, e.origin.span);
    map_init(&l.held, c->scratch, 4);
    x.hold = hold;
    x.context = &l;
    Boxes b = { .lowering = &l, .x = &x, .rank = e.lhs.shape->type.rank };
    b.lhs = term_import(&x.builder, e.lhs);
    b.rhs = term_import(&x.builder, e.rhs);
    if (!array_extents(&x, b.lhs, &left) || !array_extents(&x, b.rhs, &right) ||
        !arrays_agree(&x, &left, &right, "the sides of an equation"))
        return;
    const bool has_whole = b.lhs->has_whole || b.rhs->has_whole;
    if (is_whole_leaf(b.lhs) && b.rhs->kind == EXPR_FUNCTION) {
        lower_call(&l, &x, b.rhs);
    } else if (has_whole) {
        for (uint32_t k = 0; k < b.rank; k++)
            find_pieces(&b, k, left.at[k]->u.integer);
        write_boxes(&b);
    }
}

/* ---- transitions ---- */
typedef struct {
    Compile *c;
    const Assignment *of;
    Arrays *x;
    const Expr *target, *value;
    const Expr *index[ARRAY_RANK];
} Elements;

static void assign_elements(Elements *l, const Extents *extents, uint32_t dim)
{
    Model *m = l->c->model;
    if (dim == extents->rank) {
        const Expr *target = array_element(l->x, l->target, l->index);
        const Expr *value = target ? array_element(l->x, l->value, l->index) : NULL;
        Assignment one = *l->of;
        if (!value)
            return;
        one.target = term_make(m, target, l->x->builder.refs.at);
        one.value = term_make(m, value, l->x->builder.refs.at);
        vec_push(m->arena, &m->assignments, one);
        return;
    }
    for (int64_t k = 1; k <= extents->at[dim]->u.integer && !l->x->has_failed; k++) {
        l->index[dim] = expr_integer(m->pool, k);
        assign_elements(l, extents, dim + 1);
    }
}

static void lower_assignment(Compile *c, const Assignment *a, DomainId domain)
{
    Arrays x;
    Extents left, right;
    arrays_begin(&x, c, c->model, domain, a->span);
    Elements l = { .c = c, .of = a, .x = &x };
    l.target = term_import(&x.builder, a->target);
    l.value = term_import(&x.builder, a->value);
    if (array_extents(&x, l.target, &left) && array_extents(&x, l.value, &right) &&
        arrays_agree(&x, &left, &right, "an assignment"))
        assign_elements(&l, &left, 0);
}

/* Those of arrays become assignments of their elements. */
static void lower_transition(Compile *c, uint32_t number)
{
    Model *m = c->model;
    const Transition t = m->transitions.at[number];
    bool has_array = false;
    for (uint32_t k = 0; k < t.n_assignments; k++)
        has_array |= m->assignments.at[t.first_assignment + k].target.shape->type.rank > 0;
    if (!has_array)
        return;
    const uint32_t first = m->assignments.n;
    for (uint32_t k = 0; k < t.n_assignments; k++) {
        const Assignment a = m->assignments.at[t.first_assignment + k];
        if (a.target.shape->type.rank)
            lower_assignment(c, &a, t.domain);
        else
            vec_push(m->arena, &m->assignments, a);
    }
    m->transitions.at[number].first_assignment = first;
    m->transitions.at[number].n_assignments = m->assignments.n - first;
}

/* ---- all other terms ---- */
/* The value of a parameter without elements, which nobody reads. */
static Term nothing(Model *m, Type type)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return term_real(m, 0);
    case TYPE_INTEGER: return term_integer(m, 0);
    case TYPE_BOOLEAN: return term_boolean(m, false);
    case TYPE_ENUM: return term_expr(m, expr_enum(m->pool, type.enumeration, 1));
    case TYPE_STRING: return term_expr(m, expr_string(m->pool, names_text(pool_names(m->pool), "")));
    case TYPE_OBJECT: break;
    }
    BUG("unknown TypeKind");
}

/* What an array is given: for each element its value, for all of them one, or none if there are no elements. */
static Term lower_attribute(Arrays *x, const Expr *e, const TermPlace *place)
{
    Model *m = x->model;
    const Variable *v = model_var(m, (VarId){ place->index });
    Extents own, of = { v->type.rank, { 0 } };
    uint64_t n = 1;
    if (!array_extents(x, e, &own))
        return TERM_NONE;
    for (uint32_t k = 0; k < of.rank && of.rank <= ARRAY_RANK; k++)
        of.at[k] = expr_integer(x->pool, m->dims.at[v->first_dim + k].extent);
    if (!arrays_agree(x, &of, &own,
                      arena_format(x->c->scratch, "'%s' and what it is given", names_of(pool_names(m->pool), v->name))))
        return TERM_NONE;
    if (e->kind == EXPR_ARRAY && !e->has_whole) /* as it shall be */
        return term_make(m, e, x->builder.refs.at);
    for (uint32_t k = 0; k < of.rank; k++)
        n *= (uint64_t)of.at[k]->u.integer;
    if (n == 0)
        return place->role == TERM_BINDING ? nothing(m, e->type) : TERM_NONE;
    if (e->kind == EXPR_WHOLE && (e->op == WHOLE_FILL || e->op == WHOLE_ZEROS || e->op == WHOLE_ONES)) {
        const Expr *index[ARRAY_RANK] = { 0 };
        return term_make(m, array_element(x, e, index), x->builder.refs.at);
    }
    const Expr *braces = array_braces(x, e);
    return braces ? term_make(m, braces, x->builder.refs.at) : TERM_NONE;
}

/* A variable is given the whole of another one, or values in braces. */
static bool is_given_array(Term term, const TermPlace *place)
{
    return place->element == LIST_VARIABLES && term.shape->type.rank;
}

static Term settle(void *context, Term term, const TermPlace *place)
{
    Compile *c = context;
    Model *m = c->model;
    Arrays x;
    if ((!term.shape->has_whole && !is_given_array(term, place)) || place->list == LIST_STATEMENTS ||
        diag_errors(c->diag))
        return term;
    arrays_begin(&x, c, m, (DomainId){ 0 }, place->span);
    for (uint32_t k = 0; k < place->n_loops && k < ARRAY_LEVELS; k++)
        x.loop[k] = arrays_enter(&x, 1, 0);
    const Expr *e = term_import(&x.builder, term);
    Term result = term;
    if (e->type.rank && place->element == LIST_VARIABLES) {
        result = lower_attribute(&x, e, place);
    } else {
        const Expr *said = e->type.rank ? array_braces(&x, e) : array_element(&x, e, NULL);
        if (said)
            result = term_make(m, said, x.builder.refs.at);
    }
    return x.has_failed ? term : result;
}

bool lower_arrays(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->equations.n && !diag_errors(c->diag); k++)
        lower_equation(c, k);
    for (uint32_t k = 0; k < m->transitions.n && !diag_errors(c->diag); k++)
        lower_transition(c, k);
    if (model_has_arrays(m) && !diag_errors(c->diag))
        model_rewrite_terms(m, ELEMENTS_ALL, settle, c);
    return diag_errors(c->diag) == 0;
}
