/* size-functions: sizes of arguments become numbers in the functions that are called with them.
 *
 * A function with open sizes (`x Real[:]`), or with sizes that depend on those of its inputs or on the value of an
 * Integer input, is copied for each combination of them that it is called with. What is in the copy is known then, so
 * the calls in its statements are treated alike; a recursion over smaller and smaller arrays is a copy for each size.
 * Arguments of all calls have the sizes of their inputs, else both are told. */
#include "base/text.h"
#include "ir/declared.h"
#include "ir/external.h"
#include "ir/routine.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/lower/arrays.h"
#include "passes/lower/statements.h"
#include "passes/structural.h"

enum { MOST_COPIES = 1000, UNKNOWN = -1 };

typedef struct { /* a copy, and the sizes and numbers it is for */
    const Function *of;
    uint32_t n;
    const int64_t *key;
    Function *made;
} Copy;

typedef struct {
    Compile *c;
    VEC(Copy) copies;
    bool has_failed;
} Sizing;

/* ---- which functions ---- */
bool function_is_open(const Function *f)
{
    for (uint32_t k = 0; k < f->body->dims.n; k++)
        if (f->body->dims.at[k].term.shape->kind != EXPR_INTEGER)
            return true;
    return false;
}

static bool calls_open(const Expr *e)
{
    bool found = is_model_call(e) && function_is_open(e->u.function);
    for (uint32_t k = 0; e->has_call && k < e->n_args && !found; k++)
        found = calls_open(e->args[k]);
    return found;
}

static void look_for_open(void *context, Term term, const TermPlace *place)
{
    bool *found = context;
    (void)place;
    *found |= term.shape->has_call && calls_open(term.shape);
}

bool function_calls_open(const Function *f)
{
    bool found = false;
    function_visit_terms(f, look_for_open, &found);
    return found;
}

/* ---- copies ---- */
static const char *sizes_text(Sizing *s, uint32_t n, const int64_t *sizes)
{
    Text text = { .arena = s->c->scratch };
    text_char(&text, '[');
    for (uint32_t k = 0; k < n; k++)
        text_format(&text, "%s%lld", k ? ", " : "", (long long)sizes[k]);
    text_char(&text, ']');
    return text.at;
}

static void fail(Sizing *s, Span span, const char *text, const char *help)
{
    if (!s->has_failed) {
        diag_error(s->c->diag, DIAG_ARRAY_SIZES, span, "%s", text);
        diag_help(s->c->diag, "%s", help);
    }
    s->has_failed = true;
}

/* The extent as a number, where the sizes of inputs and some of their values are known; UNKNOWN. */
static int64_t extent_of(const Function *f, Term term, const int64_t *values)
{
    Model *body = f->body;
    const Expr *from[ARRAY_RANK + 64], *to[ARRAY_RANK + 64];
    uint32_t n = 0;
    if (term.shape->kind == EXPR_RANGE)
        return UNKNOWN;
    for (uint32_t k = 0; k < term.shape->n_leaves && n < 32; k++) {
        const uint32_t field = term_refs(body, term)[k].var.index;
        const Variable *v = &body->variables.at[field];
        const Expr *leaf = expr_leaf(body->pool, k, v->type);
        if (v->type.rank == 0 && field < f->n_inputs && values[field] != UNKNOWN) {
            from[n] = leaf;
            to[n++] = expr_integer(body->pool, values[field]);
        }
        for (uint32_t d = 0; d < v->type.rank && d < ARRAY_RANK; d++) {
            const Expr *extent = body->dims.at[v->first_dim + d].term.shape;
            const Expr *const args[] = { leaf, expr_integer(body->pool, (int64_t)d + 1) };
            if (extent->kind != EXPR_INTEGER)
                continue;
            from[n] = expr_whole(body->pool, WHOLE_SIZE, 2, args);
            to[n++] = extent;
        }
    }
    const Expr *e = n ? expr_substitute(body->pool, term.shape, n, from, to) : term.shape;
    e = e && !e->has_whole ? expr_simplify(body->pool, e) : NULL;
    return e && e->kind == EXPR_INTEGER && e->u.integer >= 1 ? e->u.integer : UNKNOWN;
}

/* Sizes of inputs are those of the arguments; all others follow. */
static void set_sizes(Sizing *s, Function *f, const int64_t *sizes, const int64_t *values, Span span)
{
    Model *body = f->body;
    const Names *names = pool_names(body->pool);
    for (uint32_t k = 0; k < body->variables.n && !s->has_failed; k++) {
        const Variable *v = &body->variables.at[k];
        int64_t own[ARRAY_RANK];
        bool agrees = true;
        for (uint32_t d = 0; d < v->type.rank; d++) {
            Dim *dim = &body->dims.at[v->first_dim + d];
            own[d] = extent_of(f, dim->term, values);
            if (k < f->n_inputs) {
                const int64_t given = *sizes++;
                agrees &= own[d] == UNKNOWN || own[d] == given;
                own[d] = own[d] == UNKNOWN ? given : own[d];
            }
            if (own[d] == UNKNOWN)
                fail(s, v->span,
                     arena_format(s->c->scratch, "the size of %s in function %s is not known before the run",
                                  names_of(names, v->name), names_of(names, f->name)),
                     "sizes follow from those of arguments, and from Integer arguments that are numbers");
            dim->term = term_integer(body, own[d] == UNKNOWN ? 1 : own[d]);
            dim->extent = own[d];
        }
        if (!agrees)
            fail(s, span,
                 arena_format(s->c->scratch, "argument %u of %s has the sizes %s, but its input %s has %s", k + 1,
                              names_of(names, f->name), sizes_text(s, v->type.rank, sizes - v->type.rank),
                              names_of(names, v->name), sizes_text(s, v->type.rank, own)),
                 "give an array of the size that the function declares");
    }
}

static Function *copy_for(Sizing *s, const Function *of, uint32_t n_sizes, const int64_t *key, Span span)
{
    const uint32_t n = n_sizes + of->n_inputs;
    for (uint32_t k = 0; k < s->copies.n; k++)
        if (s->copies.at[k].of == of && memcmp(s->copies.at[k].key, key, n * sizeof *key) == 0)
            return s->copies.at[k].made;
    if (s->copies.n == MOST_COPIES) {
        fail(s, of->span, "functions are called with more than 1000 combinations of sizes: does a recursion not end?",
             "let the array that is handed on become smaller, and end with the smallest");
        return NULL;
    }
    Function *made = function_copy(s->c->model, of);
    if (of->external) { /* the C function is the same, but not what is handed over */
        made->external = NEW(s->c->model->arena, External);
        *made->external = *of->external;
    }
    const Copy copy = { of, n, key, made };
    vec_push(s->c->scratch, &s->copies, copy);
    set_sizes(s, made, key, key + n_sizes, span);
    return made;
}

/* ---- calls ---- */
/* Whether a size of the function, or of its derivatives, reads this input as a number. */
static bool is_size(const Function *f, uint32_t input)
{
    for (uint32_t k = 0; k < f->body->dims.n; k++) {
        const Term term = f->body->dims.at[k].term;
        for (uint32_t j = 0; j < term.shape->n_leaves; j++)
            if (term_refs(f->body, term)[j].var.index == input)
                return f->body->variables.at[input].type.rank == 0;
    }
    bool found = false;
    for (uint32_t k = 0; f->declared && k < f->declared->derivatives.n && !found; k++)
        found = is_size(f->declared->derivatives.at[k].by, input);
    return found;
}

static bool add_extents(Sizing *s, Arrays *x, const Expr *arg, int64_t *sizes, uint32_t *n)
{
    Extents extents;
    if (!array_extents(x, arg, &extents)) {
        s->has_failed = true;
        return false;
    }
    for (uint32_t d = 0; d < extents.rank; d++) {
        const Expr *e = expr_simplify(x->pool, extents.at[d]);
        if (!array_number(e, &sizes[*n])) {
            fail(s, x->span, "the size of an argument is not known before the run",
                 "bounds of slices that are arguments are numbers, parameters or sizes");
            return false;
        }
        (*n)++;
    }
    return true;
}

/* The number that an argument is, also as a parameter that is fixed then; UNKNOWN. */
static int64_t number_of(Sizing *s, Arrays *x, const Expr *arg)
{
    const Expr *e = expr_simplify(x->pool, arg);
    Value value;
    if (e->kind == EXPR_INTEGER)
        return e->u.integer;
    const bool is_known = x->model == s->c->model && !e->has_whole && e->type.kind == TYPE_INTEGER &&
                          structural_value(s->c, term_make(x->model, e, x->builder.refs.at), &value);
    return is_known ? value.i : UNKNOWN;
}

static const Expr *size_call(Sizing *s, Arrays *x, const Expr *e)
{
    const Function *f = e->u.function;
    uint32_t n = 0, room = f->n_inputs;
    for (uint32_t k = 0; k < f->n_inputs; k++)
        room += f->body->variables.at[k].type.rank;
    int64_t *key = NEW_ARRAY(s->c->scratch, int64_t, room + 1u);
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (e->args[k]->type.rank && !add_extents(s, x, e->args[k], key, &n))
            return e;
    for (uint32_t k = 0; k < f->n_inputs; k++)
        key[n + k] = is_size(f, k) ? number_of(s, x, e->args[k]) : UNKNOWN;
    if (function_is_open(f)) {
        const Function *made = copy_for(s, f, n, key, x->span);
        if (!made || s->has_failed)
            return e;
        const Expr *call = expr_function(x->pool, made, e->result, e->type, e->n_args, e->args);
        return e->element ? expr_function_element(x->pool, call, e->element, e->type) : call;
    }
    for (uint32_t k = 0, at = 0; k < f->n_inputs; k++) {
        const Variable *v = &f->body->variables.at[k];
        int64_t own[ARRAY_RANK];
        bool agrees = true;
        for (uint32_t d = 0; d < v->type.rank && d < ARRAY_RANK; d++) {
            const Expr *extent = f->body->dims.at[v->first_dim + d].term.shape;
            own[d] = extent->kind == EXPR_INTEGER ? extent->u.integer : key[at + d];
            agrees &= own[d] == key[at + d];
        }
        const Names *names = pool_names(x->pool);
        if (!agrees)
            fail(s, x->span,
                 arena_format(s->c->scratch, "argument %u of %s has the sizes %s, but its input %s has %s", k + 1,
                              names_of(names, f->name), sizes_text(s, v->type.rank, key + at), names_of(names, v->name),
                              sizes_text(s, v->type.rank, own)),
                 "give an array of the size that the function declares");
        at += v->type.rank;
    }
    return e;
}

/* size(x, 1) as a number; else itself. */
static const Expr *size_of(Arrays *x, const Expr *e)
{
    const Expr *leaf = e->n_args == 2 ? e->args[0] : NULL;
    if (!leaf || leaf->kind != EXPR_LEAF || leaf->n_args || e->args[1]->kind != EXPR_INTEGER)
        return e;
    const Variable *v = model_var(x->model, x->builder.refs.at[leaf->u.leaf].var);
    const int64_t d = e->args[1]->u.integer;
    const Dim *dim = d >= 1 && d <= v->type.rank ? &x->model->dims.at[v->first_dim + (uint64_t)d - 1] : NULL;
    return dim && dim->extent >= 0 ? expr_integer(x->pool, dim->extent) : e;
}

static const Expr *size_calls(Sizing *s, Arrays *x, const Expr *e)
{
    if ((!e->has_call && !e->has_whole) || e->n_args == 0)
        return e;
    if (e->kind == EXPR_WHOLE && e->op == WHOLE_SIZE)
        return size_of(x, e);
    if (e->kind == EXPR_IF) { /* what is never chosen need not have sizes */
        const Expr *condition = size_calls(s, x, e->args[0]);
        condition = condition->has_whole ? condition : expr_simplify(x->pool, condition);
        if (condition->kind == EXPR_BOOLEAN)
            return size_calls(s, x, e->args[condition->u.integer ? 1 : 2]);
    }
    const Expr **args = NEW_ARRAY(s->c->scratch, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = size_calls(s, x, e->args[k]);
    const Expr *result = expr_with_args(x->pool, e, args);
    bool has_array = false;
    for (uint32_t k = 0; k < e->n_args; k++)
        has_array |= args[k]->type.rank > 0;
    if (s->has_failed || !is_model_call(e) || (!has_array && !function_is_open(e->u.function)))
        return result;
    return size_call(s, x, result);
}

static Term size_term(Sizing *s, Model *m, Term term, Span span, bool is_function)
{
    if (!term.shape || (!term.shape->has_call && !(is_function && term.shape->has_whole)) || s->has_failed)
        return term;
    Arrays x;
    arrays_begin(&x, s->c, m, (DomainId){ 0 }, span);
    x.is_function = is_function;
    for (uint32_t k = 0; k < ARRAY_LEVELS; k++)
        x.loop[k] = arrays_enter(&x, 1, 0);
    const Expr *before = term_import(&x.builder, term), *e = size_calls(s, &x, before);
    return e == before ? term : term_make(m, e, x.builder.refs.at);
}

static Term rewrite(void *context, Term term, const TermPlace *place)
{
    Sizing *s = context;
    return size_term(s, s->c->model, term, place->span, false);
}

/* ---- functions ---- */
/* Statements that sizes rule out are left out. */
static void size_statements(Sizing *s, Model *body, uint32_t first)
{
    for (uint32_t k = first; k && !s->has_failed; k = body->statements.at[k].next) {
        const Statement own = body->statements.at[k];
        Term value = size_term(s, body, own.value, own.span, true);
        const Term target = size_term(s, body, own.target, own.span, true);
        const bool is_choice = own.kind == STATEMENT_IF && !value.shape->has_whole;
        const Expr *condition = is_choice ? expr_simplify(body->pool, value.shape) : NULL;
        const bool is_known = condition && condition->kind == EXPR_BOOLEAN;
        if (is_known)
            value = term_expr(body, condition);
        Statement *row = &body->statements.at[k];
        row->value = value;
        row->target = target;
        if (is_known && condition->u.integer)
            row->otherwise = 0;
        else if (is_known)
            row->inner = 0;
        size_statements(s, body, body->statements.at[k].inner);
        size_statements(s, body, body->statements.at[k].otherwise);
    }
}

static void size_function(Sizing *s, Function *f)
{
    Model *body = f->body;
    size_statements(s, body, f->first);
    for (uint32_t k = 0; k < body->iterators.n; k++) {
        const Term lo = size_term(s, body, body->iterators.at[k].lo, f->span, true);
        const Term step = size_term(s, body, body->iterators.at[k].step, f->span, true);
        const Term hi = size_term(s, body, body->iterators.at[k].hi, f->span, true);
        body->iterators.at[k].lo = lo;
        body->iterators.at[k].step = step;
        body->iterators.at[k].hi = hi;
    }
    for (uint32_t k = 0; k < body->variables.n; k++) {
        const Term begin = size_term(s, body, body->variables.at[k].binding, body->variables.at[k].span, true);
        body->variables.at[k].binding = begin;
    }
}

/* The sizes of an input, which are numbers by now. */
static void add_sizes(const Function *f, uint32_t input, int64_t *key, uint32_t *n)
{
    const Variable *v = &f->body->variables.at[input];
    for (uint32_t d = 0; d < v->type.rank; d++)
        key[(*n)++] = f->body->dims.at[v->first_dim + d].term.shape->u.integer;
}

static const int64_t *values_for(const Sizing *s, const Function *f)
{
    for (uint32_t k = 0; k < s->copies.n; k++)
        if (s->copies.at[k].made == f)
            return s->copies.at[k].key + s->copies.at[k].n - f->n_inputs;
    return NULL;
}

/* The function that the sizes of these inputs of `f` make of `by`; inputs: for each input of `by`. */
static Function *size_other(Sizing *s, const Function *f, Function *by, const uint32_t *inputs, Span span)
{
    uint32_t n = 0, room = 2 * by->n_inputs;
    for (uint32_t k = 0; k < by->n_inputs; k++)
        room += by->body->variables.at[k].type.rank;
    int64_t *key = NEW_ARRAY(s->c->scratch, int64_t, room);
    const int64_t *values = values_for(s, f);
    for (uint32_t k = 0; k < by->n_inputs; k++)
        add_sizes(f, inputs[k], key, &n);
    for (uint32_t k = 0; k < by->n_inputs; k++)
        key[n + k] = values && inputs[k] < f->n_inputs && is_size(by, k) ? values[inputs[k]] : UNKNOWN;
    Function *made = function_is_open(by) ? copy_for(s, by, n, key, span) : by;
    return made && !s->has_failed ? made : by;
}

/* Derivatives and inverses get the sizes of the function. */
static void size_declared(Sizing *s, Function *f)
{
    const Declared *all = f->declared;
    if (!all || (all->derivatives.n == 0 && all->inverses.n == 0))
        return;
    Declared *own = NEW(s->c->model->arena, Declared);
    own->base = all->base;
    own->in_base = all->in_base;
    f->declared = own;
    for (uint32_t k = 0; k < all->derivatives.n; k++) {
        DeclaredDerivative d = all->derivatives.at[k];
        uint32_t *inputs = NEW_ARRAY(s->c->scratch, uint32_t, d.by->n_inputs + 2u * f->n_inputs);
        for (uint32_t j = 0; j < f->n_inputs; j++)
            inputs[j] = j;
        declared_moving(f, &d, inputs + f->n_inputs);
        d.by = size_other(s, f, d.by, inputs, d.span);
        declare_derivative(f, &d);
    }
    for (uint32_t k = 0; k < all->inverses.n; k++) {
        DeclaredInverse i = all->inverses.at[k];
        i.by = size_other(s, f, i.by, i.args, i.span);
        declare_inverse(f, &i);
    }
}

bool size_functions(Compile *c)
{
    Sizing s = { .c = c };
    Model *m = c->model;
    uint32_t n = 0;
    if (m->functions.n == 0)
        return true;
    model_rewrite_terms(m, ELEMENTS_ALL, rewrite, &s);
    for (uint32_t k = 0; k < m->functions.n && !s.has_failed; k++) { /* grows while it is read */
        Function *f = m->functions.at[k];
        const bool is_later = function_calls_open(f);
        if (function_is_open(f))
            continue;
        size_declared(&s, f);
        if (f->external)
            continue;
        bool is_copy = false;
        for (uint32_t j = 0; j < s.copies.n && !is_copy; j++)
            is_copy = s.copies.at[j].made == f;
        size_function(&s, f);
        if ((is_copy || is_later) && !s.has_failed)
            s.has_failed = !function_lower_arrays(c, f);
    }
    for (uint32_t k = 0; k < m->functions.n; k++) /* of open ones only copies are called */
        if (!function_is_open(m->functions.at[k]))
            m->functions.at[n++] = m->functions.at[k];
    m->functions.n = n;
    return !s.has_failed && diag_errors(c->diag) == 0;
}
