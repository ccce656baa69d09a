/* The statements are executed with expressions in place of values. An if without return leaves variables that choose;
 * one with a return splits the way to the end of the function, which is why the steps are counted. A loop over numbers
 * is written out, and small local arrays are so many variables where their indices are numbers. */
#include "ir/inline.h"
#include "ir/memo.h"
#include "ir/routine.h"
#include "ir/simplify.h"

enum {
    MOST_STEPS = 200,
    MOST_ELEMENTS = 256,
    MOST_NODES = 2000,
    MOST_WRITTEN = 5000,
    MOST_LOOPS = 4,
    MOST_NUMBER = 1000000
};

typedef struct { /* of a call and of all calls in it */
    Pool *pool;
    Arena *arena; /* scratch */
    uint32_t steps;
    bool keeps_literals; /* comparisons that are literal in the function are no events */
    bool has_arrays;     /* local arrays are written out */
    bool has_corners, is_recursive;
} Work;

typedef struct Frame Frame;
struct Frame {
    Work *work;
    const Function *function;
    uint32_t result; /* variable */
    const Frame *caller;
    const uint32_t *first; /* per variable: the place of its value, or of its first element; then their number */
    uint32_t n_loops;
    const Expr *loops[MOST_LOOPS]; /* values of loop variables, outermost first */
};

typedef struct Way Way;
struct Way { /* what follows when a list of statements has ended */
    uint32_t next;
    const Way *outer;
};

static const Expr *run_call(Work *work, const Frame *caller, const Function *function, uint32_t result,
                            const Expr *const *args);

/* ---- values ---- */
typedef struct { /* of a term: what its leaves are */
    const Frame *frame;
    Memo memo;
    const Ref *refs;
    const Expr *const *places; /* NULL: it may have no value */
} Reading;

static const Expr *replace(Reading *r, const Expr *e);

/* Where the value of a scalar, or of an element with known indices, lies; ID_NONE: that is not known. */
static uint32_t place_of(Reading *r, const Expr *leaf)
{
    const Model *body = r->frame->function->body;
    const Ref ref = r->refs[leaf->u.leaf];
    if (ref.kind != REF_NOW || body->variables.at[ref.var.index].type.rank != leaf->n_args)
        return ID_NONE;
    uint64_t at = 0;
    for (uint32_t k = 0; k < leaf->n_args; k++) {
        const Expr *index = replace(r, leaf->args[k]);
        index = index ? expr_simplify(r->frame->work->pool, index) : NULL;
        const Dim *dim = &body->dims.at[body->variables.at[ref.var.index].first_dim + k];
        const int64_t extent = dim->term.shape->u.integer;
        if (!index || index->kind != EXPR_INTEGER || index->u.integer < 1 || index->u.integer > extent)
            return ID_NONE;
        at = at * (uint64_t)extent + (uint64_t)index->u.integer - 1;
    }
    return r->frame->first[ref.var.index] + (uint32_t)at;
}

static const Expr *replace_node(Reading *r, const Expr *e)
{
    Work *work = r->frame->work;
    if (e->kind == EXPR_LEAF) {
        const uint32_t place = place_of(r, e);
        return place == ID_NONE ? NULL : r->places[place];
    }
    if (e->kind == EXPR_ITERATOR)
        return e->u.iterator < r->frame->n_loops ? r->frame->loops[e->u.iterator] : NULL;
    const Expr **args = NEW_ARRAY(work->arena, const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++) {
        args[k] = replace(r, e->args[k]);
        if (!args[k] || expr_too_deep(args[k], NULL))
            return NULL;
    }
    work->has_corners |= e->kind == EXPR_TABLE || expr_is_corner(e);
    const bool is_relation = e->kind == EXPR_CALL && op_is_relation(e->op);
    if (is_relation && !(work->keeps_literals && e->is_literal)) /* literal in the function, an event here */
        return expr_binary(work->pool, e->op, args[0], args[1]);
    const Expr *inner = e->kind == EXPR_FUNCTION ? run_call(work, r->frame, e->u.function, e->result, args) : NULL;
    return inner ? inner : expr_with_args(work->pool, e, args);
}

static const Expr *replace(Reading *r, const Expr *e)
{
    uint32_t known;
    if (memo_get(&r->memo, e, &known))
        return pool_node(r->frame->work->pool, known);
    const Expr *result = replace_node(r, e);
    if (result)
        memo_put(&r->memo, e, result->id);
    return result;
}

static const Expr *value_of(const Frame *frame, Term term, const Expr *const *places)
{
    Reading r = { .frame = frame, .refs = term_refs(frame->function->body, term), .places = places };
    memo_begin(&r.memo, frame->work->arena);
    const Expr *value = replace(&r, term.shape);
    memo_end(&r.memo);
    return value;
}

static uint32_t target_of(const Frame *frame, Term target, const Expr *const *places)
{
    Reading r = { .frame = frame, .refs = term_refs(frame->function->body, target), .places = places };
    memo_begin(&r.memo, frame->work->arena);
    const uint32_t place = target.shape->kind == EXPR_LEAF ? place_of(&r, target.shape) : ID_NONE;
    memo_end(&r.memo);
    return place;
}

/* ---- statements ---- */
static bool has_return(const Model *body, uint32_t at)
{
    for (; at; at = body->statements.at[at].next) {
        const Statement *s = &body->statements.at[at];
        if (s->kind == STATEMENT_RETURN || has_return(body, s->inner) || has_return(body, s->otherwise))
            return true;
    }
    return false;
}

static uint32_t count_places(const Frame *frame)
{
    return frame->first[frame->function->body->variables.n];
}

static const Expr **copy_of(const Frame *frame, const Expr *const *places)
{
    const uint32_t n = count_places(frame);
    const Expr **copy = NEW_ARRAY(frame->work->arena, const Expr *, n + 1u);
    memcpy(copy, places, n * sizeof *copy);
    return copy;
}

static bool run_list(const Frame *frame, uint32_t at, const Expr **places);

/* The number that a bound of a loop is; false: it is none. */
static bool bound_of(const Frame *frame, Term term, const Expr *const *places, int64_t *number)
{
    const Expr *value = term.shape ? value_of(frame, term, places) : expr_integer(frame->work->pool, 1);
    value = value ? expr_simplify(frame->work->pool, value) : NULL;
    if (!value || value->kind != EXPR_INTEGER)
        return false;
    *number = value->u.integer;
    return true;
}

/* A loop over the last ranges of a domain, those before it having their values. */
static bool run_loop(const Frame *frame, const Statement *s, uint32_t range, const Expr **places)
{
    const Model *body = frame->function->body;
    const Domain domain = body->domains.at[s->domain.index];
    if (range == domain.n)
        return run_list(frame, s->inner, places);
    const Iterator *i = &body->iterators.at[domain.first + range];
    int64_t lo, step, hi;
    if (frame->n_loops == MOST_LOOPS || !bound_of(frame, i->lo, places, &lo) ||
        !bound_of(frame, i->step, places, &step) || !bound_of(frame, i->hi, places, &hi) || step == 0 ||
        lo < -MOST_NUMBER || lo > MOST_NUMBER || hi < -MOST_NUMBER || hi > MOST_NUMBER)
        return false;
    for (int64_t value = lo; step > 0 ? value <= hi : value >= hi; value += step) {
        Frame inner = *frame;
        inner.loops[inner.n_loops++] = expr_integer(frame->work->pool, value);
        if (++frame->work->steps > MOST_STEPS || !run_loop(&inner, s, range + 1, places))
            return false;
    }
    return true;
}

static bool has_break(const Model *body, uint32_t at)
{
    for (; at; at = body->statements.at[at].next) {
        const Statement *s = &body->statements.at[at];
        if (s->kind == STATEMENT_BREAK || has_break(body, s->inner) || has_break(body, s->otherwise))
            return true;
    }
    return false;
}

/* An assignment, a loop, or an if without return. */
static bool run_plain(const Frame *frame, const Statement *s, const Expr **places)
{
    const Model *body = frame->function->body;
    if (s->kind == STATEMENT_FOR)
        return !has_break(body, s->inner) && !has_return(body, s->inner) && run_loop(frame, s, 0, places);
    if (s->kind != STATEMENT_ASSIGN && s->kind != STATEMENT_IF)
        return false;
    const Expr *value = value_of(frame, s->value, places);
    if (!value)
        return false;
    if (s->kind == STATEMENT_ASSIGN) {
        const uint32_t place = target_of(frame, s->target, places);
        if (place != ID_NONE)
            places[place] = value;
        return place != ID_NONE;
    }
    const Expr **chosen = copy_of(frame, places), **others = copy_of(frame, places);
    if (!run_list(frame, s->inner, chosen) || !run_list(frame, s->otherwise, others))
        return false;
    for (uint32_t k = 0; k < count_places(frame); k++) {
        if (!chosen[k] || !others[k]) {
            places[k] = NULL;
            continue;
        }
        if (expr_too_deep(chosen[k], others[k]) || expr_too_deep(value, NULL))
            return false;
        places[k] = chosen[k] == others[k] ? chosen[k] : expr_if(frame->work->pool, value, chosen[k], others[k]);
    }
    return true;
}

static bool run_list(const Frame *frame, uint32_t at, const Expr **places)
{
    for (; at; at = frame->function->body->statements.at[at].next)
        if (++frame->work->steps > MOST_STEPS || !run_plain(frame, &frame->function->body->statements.at[at], places))
            return false;
    return true;
}

/* The value that is returned, from this statement on. */
static const Expr *run(const Frame *frame, uint32_t at, const Expr **places, const Way *way)
{
    const Model *body = frame->function->body;
    for (;;) {
        while (at == 0 && way) {
            at = way->next;
            way = way->outer;
        }
        const Statement *s = &body->statements.at[at];
        if (at == 0 || s->kind == STATEMENT_RETURN)
            return places[frame->first[frame->result]];
        if (++frame->work->steps > MOST_STEPS)
            return NULL;
        if (s->kind == STATEMENT_IF && (has_return(body, s->inner) || has_return(body, s->otherwise))) {
            const Way rest = { s->next, way };
            const Expr *condition = value_of(frame, s->value, places);
            const Expr *a = condition ? run(frame, s->inner, copy_of(frame, places), &rest) : NULL;
            const Expr *b = a ? run(frame, s->otherwise, copy_of(frame, places), &rest) : NULL;
            if (!b || expr_too_deep(a, b) || expr_too_deep(condition, NULL))
                return NULL;
            return expr_if(frame->work->pool, condition, a, b);
        }
        if (!run_plain(frame, s, places))
            return NULL;
        at = s->next;
    }
}

/* Local arrays have a place for each element; NULL: there are too many, or other arrays. */
static const uint32_t *find_places(Work *work, const Function *f)
{
    const Model *body = f->body;
    uint64_t n_elements = 0;
    uint32_t *first = NEW_ARRAY(work->arena, uint32_t, body->variables.n + 2u);
    for (uint32_t k = 0; k < body->variables.n; k++) {
        const Variable *v = &body->variables.at[k];
        const uint64_t n = v->type.rank ? function_field_count(f, k) : 1;
        if (v->type.rank && (!work->has_arrays || k < f->n_inputs + f->n_outputs))
            return NULL;
        n_elements += v->type.rank ? n : 0;
        if (n == 0 || n > MOST_ELEMENTS || n_elements > MOST_ELEMENTS)
            return NULL;
        first[k + 1] = first[k] + (uint32_t)n;
    }
    return first;
}

/* The binding of a local variable, or of an output: of an array it holds for every element. */
static bool begin_with(const Frame *frame, uint32_t variable, const Expr **places)
{
    const Variable *v = &frame->function->body->variables.at[variable];
    Type type = v->type;
    type.rank = 0;
    if (term_is_absent(v->binding))
        return true;
    const Expr *begin = value_of(frame, v->binding, places);
    for (uint32_t at = frame->first[variable]; begin && at < frame->first[variable + 1]; at++)
        places[at] = begin;
    return begin && type_equal(begin->type, type);
}

static const Expr *run_call(Work *work, const Frame *caller, const Function *function, uint32_t result,
                            const Expr *const *args)
{
    const Model *body = function->body;
    const Frame frame = { .work = work,
                          .function = function,
                          .result = function->n_inputs + result,
                          .caller = caller,
                          .first = find_places(work, function) };
    for (const Frame *f = caller; f; f = f->caller)
        if (f->function == function) {
            work->is_recursive = true;
            return NULL;
        }
    if (!frame.first || function->external || !function->is_pure || result >= function->n_outputs)
        return NULL;
    const Expr **places = NEW_ARRAY(work->arena, const Expr *, count_places(&frame) + 1u);
    for (uint32_t k = 0; k < body->variables.n; k++)
        if (k < function->n_inputs)
            places[frame.first[k]] = args[k];
        else if (!begin_with(&frame, k, places))
            return NULL;
    for (uint32_t k = 0; k < function->n_inputs; k++)
        if (!type_equal(args[k]->type, body->variables.at[k].type))
            return NULL;
    return run(&frame, function->first, places, NULL);
}

/* Nodes of the expression as it is written, where what is shared stands several times; at most MOST_WRITTEN + 1. */
static uint32_t written_size(Memo *memo, const Expr *e)
{
    uint32_t size = 1;
    if (e->n_args == 0 || memo_get(memo, e, &size))
        return size;
    for (uint32_t k = 0; k < e->n_args && size <= MOST_WRITTEN; k++)
        size += written_size(memo, e->args[k]);
    size = size > MOST_WRITTEN ? MOST_WRITTEN + 1 : size;
    memo_put(memo, e, size);
    return size;
}

/* The value, unless it is too large to be read, or to be written: equations are texts in messages, too. */
static const Expr *expand(Work *work, const Function *function, uint32_t result, const Expr *const *args)
{
    const uint32_t before = pool_count(work->pool);
    const Expr *value = run_call(work, NULL, function, result, args);
    if (!value || pool_count(work->pool) - before >= MOST_NODES)
        return NULL;
    Memo memo;
    memo_begin(&memo, NULL);
    const bool is_small = written_size(&memo, value) <= MOST_WRITTEN;
    memo_end(&memo);
    return is_small ? value : NULL;
}

const Expr *function_inline(Pool *pool, const Function *function, uint32_t result, const Expr *const *args)
{
    Work work = { .pool = pool, .arena = arena_create_like(pool_arena(pool)) };
    const Expr *value = expand(&work, function, result, args);
    arena_destroy(work.arena);
    return work.has_corners && !work.is_recursive ? value : NULL;
}

const Expr *function_expand(Pool *pool, const Function *function, uint32_t result, const Expr *const *args,
                            bool with_arrays)
{
    Work work = {
        .pool = pool, .arena = arena_create_like(pool_arena(pool)), .keeps_literals = true, .has_arrays = with_arrays
    };
    const Expr *value = expand(&work, function, result, args);
    arena_destroy(work.arena);
    return value;
}
