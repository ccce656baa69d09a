/* See instantiate.h. A reduction becomes a chain of operations in the order of its iterations, as evaluate.h says. Long
 * chains are cut: variables hold what is summed so far, so that no expression gets too deep. */
#include "passes/instantiate.h"
#include "base/bug.h"
#include "ir/evaluate.h"
#include "ir/memo.h"
#include "ir/routine.h"

enum { LONGEST_CHAIN = 1000, FEW_KINKS = 8 };

typedef struct {
    Compile *c;
    Model *model;
    TermBuilder builder;
    Point point;
    Span span;
    bool is_index; /* below an index or a bound: numbers are wanted */
    bool is_open;
} Site;

bool point_first(const Model *m, DomainId domain, Point *point)
{
    const Domain *d = &m->domains.at[domain.index];
    *point = POINT_NONE;
    for (uint32_t k = 0; k < d->n; k++) {
        const Iterator *it = &m->iterators.at[d->first + k];
        if (it->count == 0)
            return false;
        point->is_known[k] = true;
        point->value[k] = it->first;
    }
    return true;
}

bool point_next(const Model *m, DomainId domain, Point *point)
{
    const Domain *d = &m->domains.at[domain.index];
    for (uint32_t k = d->n; k-- > 0;) {
        const Iterator *it = &m->iterators.at[d->first + k];
        point->value[k] += it->stride;
        if ((point->value[k] - it->first) / it->stride < it->count)
            return true;
        point->value[k] = it->first;
    }
    return false;
}

DomainId domain_of_array(Model *m, VarId array)
{
    const Variable *v = model_var(m, array);
    const Domain domain = { m->iterators.n, v->type.rank };
    if (domain.n == 0)
        return (DomainId){ 0 };
    for (uint32_t k = 0; k < domain.n; k++) {
        const int64_t extent = m->dims.at[v->first_dim + k].extent;
        const Iterator iterator = { .name = names_text(pool_names(m->pool), arena_format(m->arena, "i%u", k + 1)),
                                    .lo = term_integer(m, 1),
                                    .hi = term_integer(m, extent),
                                    .first = 1,
                                    .stride = 1,
                                    .count = extent };
        vec_push(m->arena, &m->iterators, iterator);
    }
    vec_push(m->arena, &m->domains, domain);
    return (DomainId){ m->domains.n - 1 };
}

static bool is_number(const Expr *e, int64_t *value)
{
    Value v;
    if (e->n_leaves || e->has_index || !expr_evaluate(e, NULL, NULL, &v))
        return false;
    *value = v.i;
    return true;
}

static const Expr *zero_of(Pool *pool, Type type)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return expr_real(pool, 0.0);
    case TYPE_INTEGER: return expr_integer(pool, 0);
    case TYPE_BOOLEAN: return expr_boolean(pool, false);
    case TYPE_ENUM: return expr_enum(pool, type.enumeration, 1);
    case TYPE_STRING:
    case TYPE_OBJECT: break;
    }
    BUG("no zero of this type");
}

static const Expr *at(Site *x, const Expr *e, Memo *memo);

/* An index or a bound: loop variables in it are literals. What is remembered elsewhere may have constants instead. */
static const Expr *number_at(Site *x, const Expr *e, Memo *memo)
{
    const bool before = x->is_index;
    if (before || !x->point.constants)
        return at(x, e, memo);
    Memo own;
    memo_begin(&own, NULL);
    x->is_index = true;
    const Expr *result = at(x, e, &own);
    x->is_index = before;
    memo_end(&own);
    return result;
}

/* ---- leaves ---- */
/* Number of the element, from 0; false: an index is not a number, or outside (reported: *is_bad). */
static bool element_number(Site *x, const Variable *v, const Expr *const *index, int64_t *number, bool *is_bad)
{
    *number = 0;
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const int64_t extent = x->model->dims.at[v->first_dim + k].extent;
        int64_t i;
        if (!is_number(index[k], &i))
            return false;
        if (i < 1 || i > extent) {
            diag_error(x->c->diag, DIAG_INDEX_RANGE, x->span, "index %lld of '%s' is outside 1 to %lld", (long long)i,
                       names_of(pool_names(x->model->pool), v->name), (long long)extent);
            *is_bad = true;
            return false;
        }
        *number = *number * extent + i - 1;
    }
    return true;
}

static const Expr *whole_leaf(Site *x, const Expr *e)
{
    Model *m = x->model;
    const Ref ref = x->builder.refs.at[e->u.leaf];
    if (e->type.rank == 0 || x->point.element == -1)
        return e;
    const Variable *v = model_var(m, ref.var);
    const Expr **index = NEW_ARRAY(x->c->scratch, const Expr *, v->type.rank);
    for (uint32_t k = 0; k < v->type.rank && x->point.element == ELEMENT_IN_RANGE; k++)
        index[k] = expr_iterator(m->pool, k);
    if (x->point.element == ELEMENT_IN_RANGE)
        return term_element(&x->builder, ref, v->type.rank, index);
    if (variable_is_split(m, ref.var))
        return term_leaf(&x->builder, (Ref){ { v->alias.index + (uint32_t)x->point.element }, ref.kind });
    int64_t rest = x->point.element;
    for (uint32_t k = v->type.rank; k-- > 0;) {
        const int64_t extent = m->dims.at[v->first_dim + k].extent;
        index[k] = expr_integer(m->pool, rest % extent + 1);
        rest /= extent;
    }
    return term_element(&x->builder, ref, v->type.rank, index);
}

static const Expr *indexed_leaf(Site *x, const Expr *e, Memo *memo)
{
    Model *m = x->model;
    const Ref ref = x->builder.refs.at[e->u.leaf];
    const Expr **index = NEW_ARRAY(x->c->scratch, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++) {
        int64_t number;
        index[k] = number_at(x, e->args[k], memo);
        if (is_number(index[k], &number))
            index[k] = expr_integer(m->pool, number);
    }
    const Variable *v = model_var(m, ref.var);
    int64_t number;
    bool is_bad = false;
    if (element_number(x, v, index, &number, &is_bad) && variable_is_split(m, ref.var))
        return term_leaf(&x->builder, (Ref){ { v->alias.index + (uint32_t)number }, ref.kind });
    return is_bad ? zero_of(m->pool, e->type) : term_element(&x->builder, ref, e->n_args, index);
}

/* ---- reductions ---- */
static bool moves(const Site *x, const Expr *e)
{
    for (uint32_t k = 0; k < x->builder.refs.n && k < e->n_leaves; k++) {
        const Ref ref = x->builder.refs.at[k];
        if (ref.kind == REF_TIME || ref.kind == REF_DER ||
            (ref.kind == REF_NOW && model_var(x->model, ref.var)->variability == VARIABILITY_CONTINUOUS))
            return true;
    }
    return false;
}

/* A variable that holds the value so far. */
static const Expr *cut_chain(Site *x, const Expr *so_far)
{
    Model *m = x->model;
    const bool is_moving = so_far->type.kind == TYPE_REAL && moves(x, so_far);
    const VarId v = model_add_generated(m, "p", m->variables.n, so_far->type, x->span);
    model_var(m, v)->variability = is_moving ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE;
    const Term rhs = term_make(m, so_far, x->builder.refs.at);
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(v)), rhs, x->span);
    m->equations.at[e.index].origin.made_by = "split-arrays";
    return term_leaf(&x->builder, ref_now(v));
}

static const Expr *empty_reduction(Site *x, const Expr *e)
{
    Pool *pool = x->model->pool;
    const bool is_real = e->type.kind == TYPE_REAL;
    switch ((Op)e->op) {
    case OP_ADD: return zero_of(pool, e->type);
    case OP_MUL: return is_real ? expr_real(pool, 1.0) : expr_integer(pool, 1);
    case OP_AND: return expr_boolean(pool, true);
    case OP_OR: return expr_boolean(pool, false);
    default: break;
    }
    diag_error(x->c->diag, DIAG_EMPTY_RANGE, x->span, "the %s over an empty range has no value",
               e->op == OP_MIN ? "minimum" : "maximum");
    diag_help(x->c->diag, "give the range at least one element");
    return zero_of(pool, e->type);
}

static bool has_iterator(const Expr *e)
{
    if (e->kind == EXPR_ITERATOR)
        return true;
    for (uint32_t k = 0; e->has_index && k < e->n_args; k++)
        if (has_iterator(e->args[k]))
            return true;
    return false;
}

/* Number of iterations; false: the range is not known, or too long (reported). */
static bool range_of(Site *x, const Expr *e, Memo *memo, int64_t *lo, int64_t *step, int64_t *count)
{
    int64_t hi;
    if (e->u.iterator >= POINT_LEVELS || !is_number(number_at(x, e->args[1], memo), lo) ||
        !is_number(number_at(x, e->args[2], memo), step) || !is_number(number_at(x, e->args[3], memo), &hi) ||
        *step == 0) {
        x->is_open = true;
        return false;
    }
    const bool is_empty = *step > 0 ? *lo > hi : *lo < hi;
    const uint64_t reach = *step > 0 ? (uint64_t)hi - (uint64_t)*lo : (uint64_t)*lo - (uint64_t)hi;
    const uint64_t n = is_empty ? 0 : reach / (*step > 0 ? (uint64_t)*step : 0 - (uint64_t)*step) + 1;
    if (n > MOST_ELEMENTS) {
        diag_error(x->c->diag, DIAG_TOO_MANY_ELEMENTS, x->span, "a range of %llu values, which are treated one by one",
                   (unsigned long long)n);
        diag_help(x->c->diag, "at most %d are possible", MOST_ELEMENTS);
        return false;
    }
    *count = (int64_t)n;
    return true;
}

static const Expr *reduction(Site *x, const Expr *e, Memo *memo)
{
    Pool *pool = x->model->pool;
    const uint32_t level = e->u.iterator;
    int64_t lo, step, count;
    if (!range_of(x, e, memo, &lo, &step, &count))
        return zero_of(pool, e->type);
    const bool was_known = x->point.is_known[level];
    const int64_t before = x->point.value[level];
    const Expr *result = NULL;
    /* Each step of a minimum compares what was found so far, once more: short chains keep that small. */
    const bool has_kinks = (e->op == OP_MIN || e->op == OP_MAX) && count > FEW_KINKS && !x->point.is_attribute;
    const int64_t longest = has_kinks ? 1 : LONGEST_CHAIN;
    for (int64_t n = 0; n < count && !diag_errors(x->c->diag) && !x->is_open; n++) {
        x->point.is_known[level] = true;
        x->point.value[level] = lo + n * step;
        Memo inner;
        memo_begin(&inner, NULL);
        const Expr *body = at(x, e->args[0], &inner);
        memo_end(&inner);
        if (result && (n % longest == 0 || expr_too_deep(result, body))) {
            x->is_open |= has_iterator(result) || x->point.is_attribute;
            result = x->is_open ? body : cut_chain(x, result);
        }
        result = result ? expr_binary(pool, (Op)e->op, result, body) : body;
    }
    x->point.is_known[level] = was_known;
    x->point.value[level] = before;
    return result ? result : empty_reduction(x, e);
}

/* ---- all nodes ---- */
static const Expr *loop_value(Site *x, int64_t value)
{
    Model *m = x->model;
    VarId v;
    if (!x->point.constants || x->is_index)
        return expr_integer(m->pool, value);
    if (!map_get(x->point.constants, (uint64_t)value, &v.index)) {
        v = model_add_generated(m, "i", m->variables.n, INTEGER_TYPE, SPAN_NONE);
        Variable *row = model_var(m, v);
        row->definition = DEFINITION_BINDING;
        row->variability = VARIABILITY_CONSTANT;
        row->binding = term_integer(m, value);
        map_put(x->point.constants, (uint64_t)value, v.index);
    }
    return term_leaf(&x->builder, ref_now(v));
}

/* An array in braces: its element with the number of the point. */
static const Expr *element_of_array(Site *x, const Expr *e, Memo *memo)
{
    int64_t below = 1;
    for (const Expr *inner = e->args[0]; inner->kind == EXPR_ARRAY; inner = inner->args[0])
        below *= inner->n_args;
    const int64_t own = x->point.element / below;
    if (own >= e->n_args) {
        diag_error(x->c->diag, DIAG_INDEX_RANGE, x->span, "an array of %u elements where more are needed", e->n_args);
        Type scalar = e->type;
        scalar.rank = 0;
        return zero_of(x->model->pool, scalar);
    }
    const int64_t before = x->point.element;
    x->point.element = before % below;
    const Expr *result = at(x, e->args[own], memo);
    x->point.element = before;
    return result;
}

static const Expr *with_args(Site *x, const Expr *e, const Expr *const *args)
{
    Pool *pool = x->model->pool;
    if (e->type.rank == 0)
        return expr_with_args(pool, e, args);
    if (e->kind == EXPR_IF)
        return expr_if(pool, args[0], args[1], args[2]);
    if (e->kind == EXPR_CALL)
        return e->is_literal ? expr_literal_relation(pool, (Op)e->op, args[0], args[1])
                             : expr_call(pool, (Op)e->op, e->n_args, args);
    return expr_with_args(pool, e, args);
}

static bool has_array_argument(const Expr *e)
{
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->type.rank > 0)
            return true;
    return false;
}

/* A whole array that is an argument: one that is split is the variables that hold it, in braces. */
static const Expr *argument_at(Site *x, const Function *f, uint32_t input, const Expr *e, Memo *memo)
{
    Model *m = x->model;
    if (e->kind != EXPR_LEAF || e->n_args || e->type.rank == 0)
        return at(x, e, memo);
    const Ref ref = x->builder.refs.at[e->u.leaf];
    if (!variable_is_split(m, ref.var))
        return e;
    const uint64_t n = variable_count(m, ref.var);
    const Expr **elements = NEW_ARRAY(x->c->scratch, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        elements[k] = term_leaf(&x->builder, (Ref){ { model_var(m, ref.var)->alias.index + k }, ref.kind });
    return function_field_braces(m->pool, f, input, elements);
}

/* Arguments are whole whatever element is asked for; of the array that a call gives it is the one with this number. */
static const Expr *call_at(Site *x, const Expr *e)
{
    const int64_t element = x->point.element;
    const Expr **args = NEW_ARRAY(x->c->scratch, const Expr *, e->n_args);
    Memo inner;
    memo_begin(&inner, NULL);
    x->point.element = -1;
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = argument_at(x, e->u.function, k, e->args[k], &inner);
    x->point.element = element;
    memo_end(&inner);
    const Expr *result = expr_with_args(x->model->pool, e, args);
    if (e->type.rank == 0 || element < 0)
        return result;
    Type scalar = e->type;
    scalar.rank = 0;
    return expr_function_element(x->model->pool, result, (uint32_t)element, scalar);
}

static const Expr *at(Site *x, const Expr *e, Memo *memo)
{
    enum { FEW = 4 };
    Model *m = x->model;
    uint32_t known;
    if (e->kind == EXPR_LEAF && e->n_args == 0)
        return whole_leaf(x, e);
    if (e->kind == EXPR_ITERATOR)
        return e->u.iterator < POINT_LEVELS && x->point.is_known[e->u.iterator]
                   ? loop_value(x, x->point.value[e->u.iterator])
                   : e;
    if (e->n_args == 0)
        return e;
    if (memo_get(memo, e, &known))
        return pool_node(m->pool, known);
    const Expr *result;
    if (e->kind == EXPR_FUNCTION && (e->type.rank > 0 || has_array_argument(e)))
        return call_at(x, e);
    if (e->kind == EXPR_LEAF) {
        result = indexed_leaf(x, e, memo);
    } else if (e->kind == EXPR_REDUCE) {
        result = reduction(x, e, memo);
    } else if (e->kind == EXPR_ARRAY && x->point.element >= 0) {
        return element_of_array(x, e, memo); /* not the same for every element: not remembered */
    } else {
        const Expr *few[FEW];
        const Expr **args = e->n_args <= FEW ? few : NEW_ARRAY(x->c->scratch, const Expr *, e->n_args);
        for (uint32_t k = 0; k < e->n_args; k++)
            args[k] = at(x, e->args[k], memo);
        result = with_args(x, e, args);
    }
    memo_put(memo, e, result->id);
    return result;
}

Term term_at(Compile *c, Term term, const Point *point, Span span, bool *is_open)
{
    if (term_is_absent(term))
        return term;
    Site x = { .c = c, .model = c->model, .builder = term_builder(c->model), .point = *point, .span = span };
    Memo memo;
    memo_begin(&memo, NULL);
    const Expr *e = at(&x, term_import(&x.builder, term), &memo);
    memo_end(&memo);
    if (is_open)
        *is_open |= x.is_open;
    return term_make(c->model, e, x.builder.refs.at);
}
