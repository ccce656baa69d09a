/* The statements are executed with expressions in place of values. An if without return leaves variables that choose;
 * one with a return splits the way to the end of the function, which is why the steps are counted. A loop over numbers
 * is written out. */
#include "ir/inline.h"
#include "ir/memo.h"
#include "ir/simplify.h"

enum { MOST_STEPS = 200, MOST_NODES = 2000, MOST_WRITTEN = 5000, MOST_LOOPS = 4, MOST_NUMBER = 1000000 };

typedef struct { /* of a call and of all calls in it */
    Pool *pool;
    Arena *arena; /* scratch */
    uint32_t steps;
    bool keeps_literals; /* comparisons that are literal in the function are no events */
    bool has_corners, is_recursive;
} Work;

typedef struct Frame Frame;
struct Frame {
    Work *work;
    const Function *function;
    uint32_t result; /* variable */
    const Frame *caller;
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
static const Expr *replace(const Frame *frame, Memo *memo, const Expr *e, const Expr *const *leaves);

static const Expr *replace_node(const Frame *frame, Memo *memo, const Expr *e, const Expr *const *leaves)
{
    Work *work = frame->work;
    if (e->kind == EXPR_LEAF)
        return e->n_args == 0 ? leaves[e->u.leaf] : NULL;
    if (e->kind == EXPR_ITERATOR)
        return e->u.iterator < frame->n_loops ? frame->loops[e->u.iterator] : NULL;
    const Expr **args = NEW_ARRAY(work->arena, const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++) {
        args[k] = replace(frame, memo, e->args[k], leaves);
        if (!args[k] || expr_too_deep(args[k], NULL))
            return NULL;
    }
    work->has_corners |= e->kind == EXPR_TABLE || expr_is_corner(e);
    const bool is_relation = e->kind == EXPR_CALL && op_is_relation(e->op);
    if (is_relation && !(work->keeps_literals && e->is_literal)) /* literal in the function, an event here */
        return expr_binary(work->pool, e->op, args[0], args[1]);
    const Expr *inner = e->kind == EXPR_FUNCTION ? run_call(work, frame, e->u.function, e->result, args) : NULL;
    return inner ? inner : expr_with_args(work->pool, e, args);
}

static const Expr *replace(const Frame *frame, Memo *memo, const Expr *e, const Expr *const *leaves)
{
    uint32_t known;
    if (memo_get(memo, e, &known))
        return pool_node(frame->work->pool, known);
    const Expr *result = replace_node(frame, memo, e, leaves);
    if (result)
        memo_put(memo, e, result->id);
    return result;
}

static const Expr *value_of(const Frame *frame, Term term, const Expr *const *variables)
{
    const uint32_t n = term.shape->n_leaves;
    const Expr **leaves = NEW_ARRAY(frame->work->arena, const Expr *, n + 1u);
    for (uint32_t k = 0; k < n; k++) {
        const Ref ref = term_refs(frame->function->body, term)[k];
        if (ref.kind != REF_NOW)
            return NULL;
        leaves[k] = variables[ref.var.index]; /* NULL: it may have no value */
        if (!leaves[k])
            return NULL;
    }
    Memo memo;
    memo_begin(&memo, frame->work->arena);
    const Expr *value = replace(frame, &memo, term.shape, leaves);
    memo_end(&memo);
    return value;
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

static const Expr **copy_of(const Frame *frame, const Expr *const *variables)
{
    const uint32_t n = frame->function->body->variables.n;
    const Expr **copy = NEW_ARRAY(frame->work->arena, const Expr *, n + 1u);
    memcpy(copy, variables, n * sizeof *copy);
    return copy;
}

static bool run_list(const Frame *frame, uint32_t at, const Expr **variables);

/* The number that a bound of a loop is; false: it is none. */
static bool bound_of(const Frame *frame, Term term, const Expr *const *variables, int64_t *number)
{
    const Expr *value = term.shape ? value_of(frame, term, variables) : expr_integer(frame->work->pool, 1);
    value = value ? expr_simplify(frame->work->pool, value) : NULL;
    if (!value || value->kind != EXPR_INTEGER)
        return false;
    *number = value->u.integer;
    return true;
}

/* A loop over the last ranges of a domain, those before it having their values. */
static bool run_loop(const Frame *frame, const Statement *s, uint32_t range, const Expr **variables)
{
    const Model *body = frame->function->body;
    const Domain domain = body->domains.at[s->domain.index];
    if (range == domain.n)
        return run_list(frame, s->inner, variables);
    const Iterator *i = &body->iterators.at[domain.first + range];
    int64_t lo, step, hi;
    if (frame->n_loops == MOST_LOOPS || !bound_of(frame, i->lo, variables, &lo) ||
        !bound_of(frame, i->step, variables, &step) || !bound_of(frame, i->hi, variables, &hi) || step == 0 ||
        lo < -MOST_NUMBER || lo > MOST_NUMBER || hi < -MOST_NUMBER || hi > MOST_NUMBER)
        return false;
    for (int64_t value = lo; step > 0 ? value <= hi : value >= hi; value += step) {
        Frame inner = *frame;
        inner.loops[inner.n_loops++] = expr_integer(frame->work->pool, value);
        if (++frame->work->steps > MOST_STEPS || !run_loop(&inner, s, range + 1, variables))
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
static bool run_plain(const Frame *frame, const Statement *s, const Expr **variables)
{
    const Model *body = frame->function->body;
    if (s->kind == STATEMENT_FOR)
        return !has_break(body, s->inner) && !has_return(body, s->inner) && run_loop(frame, s, 0, variables);
    if (s->kind != STATEMENT_ASSIGN && s->kind != STATEMENT_IF)
        return false;
    const Expr *value = value_of(frame, s->value, variables);
    if (!value)
        return false;
    if (s->kind == STATEMENT_ASSIGN) {
        if (s->target.shape->kind != EXPR_LEAF || s->target.shape->n_args)
            return false;
        variables[term_refs(body, s->target)[s->target.shape->u.leaf].var.index] = value;
        return true;
    }
    const Expr **chosen = copy_of(frame, variables), **others = copy_of(frame, variables);
    if (!run_list(frame, s->inner, chosen) || !run_list(frame, s->otherwise, others))
        return false;
    for (uint32_t k = 0; k < body->variables.n; k++) {
        if (!chosen[k] || !others[k]) {
            variables[k] = NULL;
            continue;
        }
        if (expr_too_deep(chosen[k], others[k]) || expr_too_deep(value, NULL))
            return false;
        variables[k] = chosen[k] == others[k] ? chosen[k] : expr_if(frame->work->pool, value, chosen[k], others[k]);
    }
    return true;
}

static bool run_list(const Frame *frame, uint32_t at, const Expr **variables)
{
    for (; at; at = frame->function->body->statements.at[at].next)
        if (++frame->work->steps > MOST_STEPS ||
            !run_plain(frame, &frame->function->body->statements.at[at], variables))
            return false;
    return true;
}

/* The value that is returned, from this statement on. */
static const Expr *run(const Frame *frame, uint32_t at, const Expr **variables, const Way *way)
{
    const Model *body = frame->function->body;
    for (;;) {
        while (at == 0 && way) {
            at = way->next;
            way = way->outer;
        }
        const Statement *s = &body->statements.at[at];
        if (at == 0 || s->kind == STATEMENT_RETURN)
            return variables[frame->result];
        if (++frame->work->steps > MOST_STEPS)
            return NULL;
        if (s->kind == STATEMENT_IF && (has_return(body, s->inner) || has_return(body, s->otherwise))) {
            const Way rest = { s->next, way };
            const Expr *condition = value_of(frame, s->value, variables);
            const Expr *a = condition ? run(frame, s->inner, copy_of(frame, variables), &rest) : NULL;
            const Expr *b = a ? run(frame, s->otherwise, copy_of(frame, variables), &rest) : NULL;
            if (!b || expr_too_deep(a, b) || expr_too_deep(condition, NULL))
                return NULL;
            return expr_if(frame->work->pool, condition, a, b);
        }
        if (!run_plain(frame, s, variables))
            return NULL;
        at = s->next;
    }
}

static const Expr *run_call(Work *work, const Frame *caller, const Function *function, uint32_t result,
                            const Expr *const *args)
{
    const Model *body = function->body;
    const Frame frame = { .work = work, .function = function, .result = function->n_inputs + result, .caller = caller };
    for (const Frame *f = caller; f; f = f->caller)
        if (f->function == function) {
            work->is_recursive = true;
            return NULL;
        }
    if (function->external || !function->is_pure || result >= function->n_outputs)
        return NULL;
    const Expr **variables = NEW_ARRAY(work->arena, const Expr *, body->variables.n + 1u);
    for (uint32_t k = 0; k < body->variables.n; k++) {
        const Variable *v = &body->variables.at[k];
        const bool has_begin = k >= function->n_inputs && !term_is_absent(v->binding);
        variables[k] = k < function->n_inputs ? args[k] : has_begin ? value_of(&frame, v->binding, variables) : NULL;
        if (v->type.rank || (variables[k] ? !type_equal(variables[k]->type, v->type) : has_begin))
            return NULL;
    }
    return run(&frame, function->first, variables, NULL);
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

const Expr *function_expand(Pool *pool, const Function *function, uint32_t result, const Expr *const *args)
{
    Work work = { .pool = pool, .arena = arena_create_like(pool_arena(pool)), .keeps_literals = true };
    const Expr *value = expand(&work, function, result, args);
    arena_destroy(work.arena);
    return value;
}
