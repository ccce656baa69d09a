/* evaluate-sizes: dimensions and iteration domains become numbers. Structural terms may use constants and
 * structural parameters; these are marked structural, so that changing them at run time is refused. */
#include "base/bug.h"
#include "base/text.h"
#include "ir/compose.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/choose_splits.h"
#include "passes/pipeline.h"
#include "passes/structural.h"

static bool integer_value(Compile *c, Term term, Span span, const char *what, int64_t *value)
{
    Value v;
    if (term.shape->type.kind != TYPE_INTEGER || !structural_value(c, term, &v)) {
        diag_error(c->diag, DIAG_SIZE_NOT_CONSTANT, span, "%s must be an Integer known before the run", what);
        diag_help(c->diag, "use a literal, a constant or a parameter with a value");
        return false;
    }
    *value = v.i;
    return true;
}

static bool size_iterator(Compile *c, Iterator *it, Span span)
{
    int64_t lo, hi, step = 1;
    if (!integer_value(c, it->lo, span, "the begin of a range", &lo) ||
        !integer_value(c, it->hi, span, "the end of a range", &hi))
        return false;
    if (!term_is_absent(it->step) && !integer_value(c, it->step, span, "the step of a range", &step))
        return false;
    if (step == 0) {
        diag_error(c->diag, DIAG_SIZE_NEGATIVE, span, "the step of a range is 0");
        return false;
    }
    it->first = lo;
    it->stride = step;
    it->count = step > 0 ? (hi >= lo ? (hi - lo) / step + 1 : 0) : (lo >= hi ? (lo - hi) / -step + 1 : 0);
    return true;
}

/* The outermost array of instances that the variable belongs to, or none. */
static InstanceId array_above(const Model *m, const Variable *v)
{
    InstanceId array = { ID_NONE };
    for (InstanceId i = v->owner; i.index != ID_NONE; i = m->instances.at[i.index].parent)
        if (m->instances.at[i.index].rank)
            array = i;
    return array;
}

static bool size_variable(Compile *c, Variable *v)
{
    static const uint64_t LARGEST = (uint64_t)1 << 28; /* elements of one array: 2 GiB of slots */
    const Model *m = c->model;
    const InstanceId array = array_above(m, v);
    uint64_t count = 1;
    for (uint32_t k = 0; k < v->type.rank; k++) {
        Dim *dim = &c->model->dims.at[v->first_dim + k];
        const bool is_of_instances = array.index != ID_NONE && k < instance_rank(m, v->owner);
        const Span span = is_of_instances ? m->instances.at[array.index].span : v->span;
        int64_t extent;
        if (!integer_value(c, dim->term, span, "a dimension", &extent))
            return false;
        if (extent < 0 || (uint64_t)extent > LARGEST || (count *= (uint64_t)extent) > LARGEST) {
            const char *name =
                is_of_instances ? instance_path(m, array, c->scratch) : names_of(pool_names(m->pool), v->name);
            diag_error(c->diag, DIAG_SIZE_NEGATIVE, span, "the size %lld of '%s' is negative or too large",
                       (long long)extent, name);
            return false;
        }
        dim->extent = extent;
    }
    return true;
}

/* Of an array of instances one mistake is told. */
static bool size_variables(Compile *c)
{
    const Model *m = c->model;
    InstanceId wrong = { ID_NONE };
    bool good = true;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        const InstanceId array = v->type.rank ? array_above(m, v) : (InstanceId){ ID_NONE };
        if (v->type.rank == 0 || (array.index != ID_NONE && array.index == wrong.index) || size_variable(c, v))
            continue;
        good = false;
        wrong = array;
    }
    return good;
}

/* ---- index expressions: structural parameters in them become numbers ---- */
typedef struct {
    Compile *c;
    Term term;
    Span span;
    VEC(const Expr *) from;
    VEC(const Expr *) to;
    bool is_attribute; /* of a variable: only sizes are wanted, which are needed before the run */
} Indices;

static void note_sizes(Indices *x, const Expr *e, bool is_index)
{
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF && is_index && e->n_args == 0) {
        Value value;
        for (uint32_t k = 0; k < x->from.n; k++)
            if (x->from.at[k] == e)
                return;
        if (!type_equal(e->type, INTEGER_TYPE) ||
            !structural_leaf(x->c, x->c->model->refs.at[x->term.first_ref + e->u.leaf], &value))
            return; /* whoever needs the index says what is wrong with it */
        vec_push(x->c->scratch, &x->from, e);
        vec_push(x->c->scratch, &x->to, expr_integer(x->c->model->pool, value.i));
        return;
    }
    /* bindings and starts are computed whenever parameters are set: an index in them may stay a parameter */
    for (uint32_t k = 0; k < e->n_args; k++)
        note_sizes(x, e->args[k], is_index || (expr_takes_size(e, k) && !(e->kind == EXPR_LEAF && x->is_attribute)));
}

static Term settle_indices(void *context, Term term, const TermPlace *place)
{
    Compile *c = context;
    Model *m = c->model;
    const bool is_index = place->role == TERM_INDEX, is_attribute = place->element == LIST_VARIABLES;
    if (term.shape->n_leaves == 0 || place->role == TERM_RANGE || place->role == TERM_EXTENT ||
        (is_attribute && !term.shape->has_whole) ||
        !(is_index || term.shape->has_index || expr_has_reduction(term.shape)))
        return term;
    Indices x = { .c = c, .term = term, .span = place->span, .is_attribute = is_attribute };
    note_sizes(&x, term.shape, is_index);
    if (x.from.n == 0)
        return term;
    const Expr *settled = expr_substitute(m->pool, term.shape, x.from.n, x.from.at, x.to.at);
    return term_make(m, expr_simplify(m->pool, settled), m->refs.at + term.first_ref);
}

static bool size_domain(Compile *c, DomainId id, Span span)
{
    const Domain domain = c->model->domains.at[id.index];
    bool good = true;
    for (uint32_t k = 0; k < domain.n; k++)
        good &= size_iterator(c, &c->model->iterators.at[domain.first + k], span);
    return good;
}

bool evaluate_sizes(Compile *c)
{
    Model *m = c->model;
    bool good = size_variables(c);
    for (uint32_t k = 0; k < m->equations.n; k++)
        good &= size_domain(c, m->equations.at[k].domain, m->equations.at[k].origin.span);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        good &= size_domain(c, m->transitions.at[k].domain, m->transitions.at[k].origin.span);
    for (uint32_t k = 0; k < m->assertions.n; k++)
        good &= size_domain(c, m->assertions.at[k].domain, m->assertions.at[k].span);
    for (uint32_t k = 0; k < m->connections.n; k++)
        good &= size_domain(c, m->connections.at[k].domain, m->connections.at[k].span);
    if (!model_has_arrays(m))
        return good;
    model_rewrite_terms(m,
                        ELEMENTS(LIST_EQUATIONS) | ELEMENTS_DROPPED | ELEMENTS(LIST_REGIONS) |
                            ELEMENTS(LIST_TRANSITIONS) | ELEMENTS(LIST_CONNECTIONS) | ELEMENTS(LIST_VARIABLES) |
                            ELEMENTS(LIST_ASSERTIONS),
                        settle_indices, c);
    return good;
}
