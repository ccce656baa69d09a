/* lower-functions: statements of functions with arrays in them are said by elements.
 *
 * y := A*x becomes a loop over the elements of y, or one statement for each of a few; a sum becomes a loop that adds to
 * a local variable, in front of the statement that needs it. What is assigned is computed before it is assigned: where
 * the target is read, its elements go to a local array first. A call that gives an array inside an expression has a
 * local array, too. Whole arrays that are copied, handed over or given by a call are left as they are. */
#include "base/bug.h"
#include "ir/routine.h"
#include "passes/instantiate.h"
#include "passes/lower/array_checks.h"
#include "passes/lower/arrays.h"
#include "passes/lower/statements.h"

enum {
    FEW = 16, /* elements and terms that are written out */
};

typedef struct {
    uint32_t first, last;
} List;

typedef struct {
    Compile *c;
    Function *function;
    Model *body;
    List *list;        /* that statements are added to */
    uint32_t n_levels; /* loops around them */
    Span span;
    bool has_failed;
    SizeChecks checks;
} Lowering;

/* ---- building ---- */
static uint32_t add_statement(Lowering *l, const Statement *s)
{
    Statement one = *s;
    one.next = 0;
    vec_push(l->body->arena, &l->body->statements, one);
    const uint32_t number = l->body->statements.n - 1;
    if (l->list->last)
        l->body->statements.at[l->list->last].next = number;
    else
        l->list->first = number;
    l->list->last = number;
    return number;
}

static void add_assignment(Lowering *l, Term target, Term value)
{
    const Statement s = { .kind = STATEMENT_ASSIGN, .target = target, .value = value, .span = l->span };
    add_statement(l, &s);
}

static VarId add_local(Lowering *l, Type type, const Extents *extents)
{
    Model *body = l->body;
    Names *names = pool_names(body->pool);
    const NameId name = names_text(names, arena_format(l->c->scratch, "$a%u", body->variables.n + 1));
    const uint32_t rank = extents ? extents->rank : 0;
    type.rank = (uint8_t)rank;
    const VarId v = model_add_variable(body, (InstanceId){ 0 }, name, type, l->span);
    Term dims[ARRAY_RANK];
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = term_expr(body, extents->at[k]);
    model_set_dims(body, v, rank, dims);
    l->function->n_locals++;
    return v;
}

/* A loop; statements are added to it until end_loop. */
typedef struct {
    List list, *outer;
    uint32_t statement;
} Inner;

static void begin_block(Lowering *l, const Statement *s, Inner *block)
{
    block->statement = s ? add_statement(l, s) : 0;
    block->outer = l->list;
    block->list = (List){ 0, 0 };
    l->list = &block->list;
}

static uint32_t end_block(Lowering *l, Inner *block)
{
    l->list = block->outer;
    return block->list.first;
}

static void begin_loop(Lowering *l, Term lo, Term step, Term hi, Inner *block)
{
    const Iterator i = { .lo = lo, .step = step, .hi = hi };
    const Statement s = { .kind = STATEMENT_FOR, .domain = model_add_domain(l->body, 1, &i), .span = l->span };
    begin_block(l, &s, block);
    l->n_levels++;
}

static void end_loop(Lowering *l, Inner *block)
{
    l->n_levels--;
    const uint32_t inner = end_block(l, block);
    l->body->statements.at[block->statement].inner = inner;
}

static Term made(Lowering *l, const Arrays *x, const Expr *e)
{
    return term_make(l->body, e, x->builder.refs.at);
}

/* ---- sums become loops ---- */
static bool has_reduction(const Expr *e)
{
    bool found = e->kind == EXPR_REDUCE;
    for (uint32_t k = 0; e->has_index && k < e->n_args && !found; k++)
        found = has_reduction(e->args[k]);
    return found;
}

static const Expr *hoist(Lowering *l, Arrays *x, const Expr *e);

/* What a sum of no terms is; NULL: it has no value. */
static const Expr *neutral(Pool *pool, const Expr *e)
{
    const bool is_real = e->type.kind == TYPE_REAL;
    switch ((Op)e->op) {
    case OP_ADD: return is_real ? expr_real(pool, 0) : expr_integer(pool, 0);
    case OP_MUL: return is_real ? expr_real(pool, 1) : expr_integer(pool, 1);
    case OP_AND: return expr_boolean(pool, true);
    case OP_OR: return expr_boolean(pool, false);
    default: return NULL;
    }
}

static void assert_equal(Lowering *l, const Arrays *x, const Expr *a, const Expr *b, const char *text)
{
    const Statement s = { .kind = STATEMENT_ASSERT,
                          .value = made(l, x, expr_literal_relation(x->pool, OP_EQ, a, b)),
                          .text = names_text(pool_names(x->pool), text),
                          .span = l->span };
    add_statement(l, &s);
}

static void check_in_loop(Lowering *l, const Arrays *x, const Expr *loop)
{
    for (uint32_t k = 0; k < l->checks.n_in_loops; k++) {
        LoopCheck *check = &l->checks.in_loops[k];
        if (check->loop == loop) {
            assert_equal(l, x, check->a, check->b, check->text);
            check->is_said = true;
        }
    }
}

/* s := 0; for k in lo:hi: s := s + body. A minimum begins with the first value. */
static const Expr *hoist_reduction(Lowering *l, Arrays *x, const Expr *e)
{
    const Expr *lo = hoist(l, x, e->args[1]), *step = hoist(l, x, e->args[2]), *hi = hoist(l, x, e->args[3]);
    const VarId sum = add_local(l, e->type, NULL);
    const Expr *leaf = term_leaf(&x->builder, ref_now(sum)), *begin = neutral(l->body->pool, e);
    const Term target = term_ref(l->body, ref_now(sum));
    Inner block;
    if (!begin) {
        Inner first; /* a loop over the first value alone */
        begin_loop(l, made(l, x, lo), TERM_NONE, made(l, x, lo), &first);
        check_in_loop(l, x, e);
        begin = hoist(l, x, e->args[0]);
        add_assignment(l, target, made(l, x, begin));
        end_loop(l, &first);
    } else {
        add_assignment(l, target, made(l, x, begin));
    }
    begin_loop(l, made(l, x, lo), made(l, x, step), made(l, x, hi), &block);
    check_in_loop(l, x, e);
    const Expr *body = hoist(l, x, e->args[0]);
    add_assignment(l, target, made(l, x, expr_binary(l->body->pool, (Op)e->op, leaf, body)));
    end_loop(l, &block);
    return leaf;
}

/* A branch is only evaluated where it is chosen. */
static const Expr *hoist_if(Lowering *l, Arrays *x, const Expr *e)
{
    const Expr *condition = hoist(l, x, e->args[0]);
    const VarId v = add_local(l, e->type, NULL);
    const Statement s = { .kind = STATEMENT_IF, .value = made(l, x, condition), .span = l->span };
    const uint32_t number = add_statement(l, &s);
    for (uint32_t k = 1; k < 3; k++) {
        Inner block;
        begin_block(l, NULL, &block);
        const Expr *value = hoist(l, x, e->args[k]);
        add_assignment(l, term_ref(l->body, ref_now(v)), made(l, x, value));
        const uint32_t first = end_block(l, &block);
        if (k == 1)
            l->body->statements.at[number].inner = first;
        else
            l->body->statements.at[number].otherwise = first;
    }
    return term_leaf(&x->builder, ref_now(v));
}

/* The expression without sums over ranges: their loops stand in front of the statement. */
static const Expr *hoist(Lowering *l, Arrays *x, const Expr *e)
{
    if (!has_reduction(e))
        return e;
    if (e->kind == EXPR_REDUCE)
        return hoist_reduction(l, x, e);
    if (e->kind == EXPR_IF && (has_reduction(e->args[1]) || has_reduction(e->args[2])))
        return hoist_if(l, x, e);
    const Expr **args = NEW_ARRAY(l->c->scratch, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = hoist(l, x, e->args[k]);
    return expr_with_args(l->body->pool, e, args);
}

/* ---- terms ---- */
static bool needs(const Expr *e)
{
    return e->has_whole || has_reduction(e) || (e->kind == EXPR_IF && e->type.rank > 0);
}

/* A local array that has these elements; it is assigned in front of the statement. */
static void assign_array(Lowering *l, Arrays *x, const Expr *target, const Expr *value);

static const Expr *hold(Lowering *l, Arrays *x, const Expr *e)
{
    Extents extents;
    int64_t n;
    if (!array_extents(x, e, &extents))
        return e;
    for (uint32_t k = 0; k < extents.rank; k++)
        if (!array_number(extents.at[k], &n) || n < 1)
            return e;
    const Expr *leaf = term_leaf(&x->builder, ref_now(add_local(l, e->type, &extents)));
    assign_array(l, x, leaf, e);
    return leaf;
}

static bool is_to_hold(const Expr *of, const Expr *arg)
{
    if (arg->type.rank == 0 || of->kind == EXPR_REDUCE || of->kind == EXPR_EACH)
        return false;
    if (of->kind == EXPR_FUNCTION)
        return needs(arg);
    return arg->kind == EXPR_FUNCTION || (of->kind == EXPR_WHOLE && of->op == WHOLE_PRODUCT && array_is_costly(arg));
}

/* Arrays that calls give or take, and costly operands of products, have a local array each. What stands in a loop of
 * the expression is left where it is. */
static const Expr *name_arrays(Lowering *l, Arrays *x, const Expr *e)
{
    if (!e->has_call && !e->has_whole)
        return e;
    const uint32_t first = e->kind == EXPR_REDUCE || e->kind == EXPR_EACH;
    const Expr **args = NEW_ARRAY(l->c->scratch, const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++) {
        args[k] = k < first ? e->args[k] : name_arrays(l, x, e->args[k]);
        if (is_to_hold(e, args[k]))
            args[k] = hold(l, x, args[k]);
    }
    return expr_with_args(l->body->pool, e, args);
}

static bool is_in_scope(const Lowering *l, const Expr *e)
{
    if (e->kind == EXPR_ITERATOR)
        return e->u.iterator < l->n_levels;
    for (uint32_t k = 0; e->has_index && k < e->n_args; k++)
        if (!is_in_scope(l, e->args[k]))
            return false;
    return !has_reduction(e);
}

static void fail_in_loop(Arrays *x)
{
    arrays_fail(x, DIAG_NOT_YET, "an array whose size changes in a loop of the expression cannot be executed yet");
}

static void check_sizes(Arrays *x, const Expr *a, const Expr *b, const char *text)
{
    Lowering *l = x->context;
    if (is_in_scope(l, a) && is_in_scope(l, b)) {
        if (!checks_know(&l->checks, a, b))
            assert_equal(l, x, a, b, text);
    } else if (has_reduction(a) || has_reduction(b) || !checks_add(&l->checks, a, b, text)) {
        fail_in_loop(x);
    }
}

static void own_checks(Arrays *x, const Expr *loop)
{
    Lowering *l = x->context;
    checks_own(&l->checks, loop);
}

static void end_checks(Lowering *l)
{
    Arrays x;
    if (!l->has_failed && !checks_are_said(&l->checks)) {
        arrays_begin(&x, l->c, l->body, (DomainId){ 0 }, l->span);
        fail_in_loop(&x);
        l->has_failed = true;
    }
    l->checks.n_in_loops = 0;
}

static void begin_term(Lowering *l, Arrays *x)
{
    arrays_begin(x, l->c, l->body, (DomainId){ 0 }, l->span);
    x->is_function = true;
    x->few = FEW;
    x->check = check_sizes;
    x->looped = own_checks;
    x->context = l;
    for (uint32_t k = 0; k < l->n_levels && k < ARRAY_LEVELS; k++)
        x->loop[k] = arrays_enter(x, 1, 0);
    l->has_failed |= x->has_failed;
}

/* The scalar term without arrays and sums. */
static Term lower_scalar(Lowering *l, Term term)
{
    Arrays x;
    if (term_is_absent(term) || !needs(term.shape))
        return term;
    begin_term(l, &x);
    const Expr *named = name_arrays(l, &x, term_import(&x.builder, term));
    const Expr *e = x.has_failed ? NULL : array_element(&x, named, NULL);
    e = e ? hoist(l, &x, e) : NULL;
    l->has_failed |= !e;
    return e ? made(l, &x, e) : term;
}

/* ---- arrays ---- */
typedef struct {
    Lowering *l;
    Arrays *x;
    const Expr *target, *value;
    const Extents *extents;
    const Expr *index[ARRAY_RANK];
    bool is_written_out;
} Elements;

static void assign_from(Elements *s, uint32_t dim)
{
    Lowering *l = s->l;
    Arrays *x = s->x;
    int64_t n;
    if (dim == s->extents->rank) {
        const Expr *target = array_element(x, s->target, s->index);
        const Expr *value = target ? array_element(x, s->value, s->index) : NULL;
        if (value) {
            const Expr *place = hoist(l, x, target), *said = hoist(l, x, value);
            add_assignment(l, made(l, x, place), made(l, x, said));
        }
        return;
    }
    const bool is_number = array_number(s->extents->at[dim], &n);
    if (s->is_written_out) {
        for (int64_t k = 1; k <= n && !x->has_failed; k++) {
            s->index[dim] = expr_integer(x->pool, k);
            assign_from(s, dim + 1);
        }
        return;
    }
    Inner block;
    const uint32_t before = x->n_levels;
    begin_loop(l, term_integer(l->body, 1), TERM_NONE, made(l, x, s->extents->at[dim]), &block);
    s->index[dim] = arrays_enter(x, 1, is_number ? n : 0);
    if (s->index[dim])
        assign_from(s, dim + 1);
    x->n_levels = before;
    end_loop(l, &block);
}

/* Few elements are written out, so that what is known of each remains known. */
static bool are_few(const Extents *extents)
{
    int64_t n, all = 1;
    for (uint32_t k = 0; k < extents->rank; k++) {
        if (!array_number(extents->at[k], &n) || n > FEW)
            return false;
        all *= n;
    }
    return all <= FEW;
}

static bool is_plain(const Expr *e)
{
    return !needs(e) && (e->kind == EXPR_LEAF || e->kind == EXPR_FUNCTION || e->kind == EXPR_ARRAY);
}

static void assign_array(Lowering *l, Arrays *x, const Expr *target, const Expr *value)
{
    Extents extents, given;
    if (!array_extents(x, target, &extents) || !array_extents(x, value, &given) ||
        !arrays_agree(x, &extents, &given, "an assignment")) {
        l->has_failed = true;
        return;
    }
    value = name_arrays(l, x, value);
    if (value->kind == EXPR_FUNCTION && target->n_args)
        value = hold(l, x, value);
    if (is_plain(value) && target->n_args == 0) {
        add_assignment(l, made(l, x, target), made(l, x, value));
        return;
    }
    Elements s = { .l = l, .x = x, .target = target, .value = value, .extents = &extents };
    s.is_written_out = are_few(&extents);
    assign_from(&s, 0);
    l->has_failed |= x->has_failed;
}

static bool reads(const Arrays *x, const Expr *e, VarId v)
{
    if (e->kind == EXPR_LEAF && x->builder.refs.at[e->u.leaf].var.index == v.index)
        return true;
    const uint32_t first = e->kind == EXPR_WHOLE && e->op == WHOLE_SIZE; /* which does not read its array */
    for (uint32_t k = first; k < e->n_args && e->n_leaves; k++)
        if (reads(x, e->args[k], v))
            return true;
    return false;
}

/* A part of a local array that holds what the target shall get. The array is as large as the target may be. */
static const Expr *hold_like(Lowering *l, Arrays *x, const Expr *target, const Expr *value)
{
    Extents own, all, largest = { .rank = target->type.rank };
    const Expr *index[ARRAY_RANK];
    const Expr *whole = expr_leaf(x->pool, target->u.leaf, ref_type(l->body, x->builder.refs.at[target->u.leaf]));
    if (!array_extents(x, target, &own) || !array_extents(x, whole, &all))
        return value;
    for (uint32_t k = 0, d = 0; d < all.rank; d++) {
        if (target->n_args && !target->args[d]->type.rank)
            continue;
        const bool is_known = own.at[k]->kind == EXPR_INTEGER;
        largest.at[k] = is_known ? own.at[k] : all.at[d];
        index[k] = is_known ? expr_all(x->pool)
                            : expr_range(x->pool, expr_integer(x->pool, 1), expr_integer(x->pool, 1), own.at[k]);
        if (largest.at[k++]->kind != EXPR_INTEGER) {
            arrays_fail(x, DIAG_NOT_YET,
                        "an assignment of an array to itself whose size is not known before the run "
                        "cannot be executed yet");
            return value;
        }
    }
    const Expr *part = term_element(&x->builder, ref_now(add_local(l, value->type, &largest)), largest.rank, index);
    assign_array(l, x, part, value);
    return part;
}

static void lower_assignment(Lowering *l, const Statement *s);

/* v := if c then a else b as a statement: sizes in a branch are compared only where it is chosen. */
static void lower_choice(Lowering *l, const Statement *s)
{
    TermBuilder builder = term_builder(l->body);
    const Expr *e = term_import(&builder, s->value);
    const Statement choice = { .kind = STATEMENT_IF,
                               .value = lower_scalar(l, term_make(l->body, e->args[0], builder.refs.at)),
                               .span = l->span };
    const uint32_t number = add_statement(l, &choice), n_in_front = l->checks.n_in_front;
    for (uint32_t k = 1; k < 3; k++) {
        Inner block;
        Statement one = *s;
        one.value = term_make(l->body, e->args[k], builder.refs.at);
        begin_block(l, NULL, &block);
        lower_assignment(l, &one);
        const uint32_t first = end_block(l, &block);
        l->checks.n_in_front = n_in_front;
        *(k == 1 ? &l->body->statements.at[number].inner : &l->body->statements.at[number].otherwise) = first;
    }
}

static void lower_assignment(Lowering *l, const Statement *s)
{
    if (!needs(s->target.shape) && !needs(s->value.shape)) {
        add_statement(l, s);
        return;
    }
    if (s->target.shape->type.rank == 0 && s->value.shape->kind == EXPR_IF) {
        lower_choice(l, s);
        return;
    }
    if (s->target.shape->type.rank == 0) {
        const Term value = lower_scalar(l, s->value), target = lower_scalar(l, s->target);
        add_assignment(l, target, value);
        return;
    }
    Arrays x;
    begin_term(l, &x);
    const Expr *target = term_import(&x.builder, s->target), *value = term_import(&x.builder, s->value);
    if (reads(&x, value, x.builder.refs.at[target->u.leaf].var))
        value = hold_like(l, &x, target, value);
    if (!x.has_failed)
        assign_array(l, &x, target, value);
    l->has_failed |= x.has_failed;
}

/* What an assignment takes of a call has a local variable first: the targets may be arguments. */
static Term held_result(Lowering *l, Term value)
{
    Arrays x;
    Extents extents;
    begin_term(l, &x);
    const Expr *call = name_arrays(l, &x, term_import(&x.builder, value));
    if (x.has_failed || !array_extents(&x, call, &extents)) {
        l->has_failed = true;
        return value;
    }
    const Expr *leaf = term_leaf(&x.builder, ref_now(add_local(l, call->type, &extents)));
    if (call->type.rank) {
        assign_array(l, &x, leaf, call);
    } else {
        const Expr *said = array_element(&x, call, NULL);
        l->has_failed |= !said;
        if (said)
            add_assignment(l, made(l, &x, leaf), made(l, &x, hoist(l, &x, said)));
    }
    return made(l, &x, leaf);
}

static void lower_together(Lowering *l, uint32_t first)
{
    uint32_t n = 0;
    for (uint32_t k = first; k; k = l->body->statements.at[k].next)
        n++;
    Term *values = NEW_ARRAY(l->c->scratch, Term, n + 1);
    n = 0;
    for (uint32_t k = first; k && !l->has_failed; k = l->body->statements.at[k].next) {
        const Term value = l->body->statements.at[k].value;
        const bool is_result = value.shape->kind == EXPR_FUNCTION;
        values[n++] = is_result ? held_result(l, value) : value;
    }
    n = 0;
    for (uint32_t k = first; k && !l->has_failed; k = l->body->statements.at[k].next) {
        Statement s = l->body->statements.at[k];
        s.value = values[n++];
        lower_assignment(l, &s);
    }
}

/* ---- statements ---- */
static uint32_t lower_list(Lowering *l, uint32_t first);

static void lower_inner(Lowering *l, uint32_t number, const Statement *s, uint32_t n_loops)
{
    l->n_levels += n_loops;
    const uint32_t inner = lower_list(l, s->inner);
    l->n_levels -= n_loops;
    const uint32_t otherwise = lower_list(l, s->otherwise);
    l->body->statements.at[number].inner = inner;
    l->body->statements.at[number].otherwise = otherwise;
}

/* while c do: the condition with sums in it is computed in the loop, which is left where it does not hold. */
static void lower_while(Lowering *l, const Statement *s)
{
    Pool *pool = l->body->pool;
    if (!needs(s->value.shape)) {
        lower_inner(l, add_statement(l, s), s, 0);
        return;
    }
    Inner loop, leave;
    Statement one = *s;
    one.value = term_boolean(l->body, true);
    begin_block(l, &one, &loop);
    const Term condition = lower_scalar(l, s->value);
    TermBuilder builder = term_builder(l->body);
    const Expr *is_over = expr_unary(pool, OP_NOT, term_import(&builder, condition));
    const Statement test = { .kind = STATEMENT_IF, .value = term_finish(&builder, is_over), .span = s->span };
    begin_block(l, &test, &leave);
    add_statement(l, &(Statement){ .kind = STATEMENT_BREAK, .span = s->span });
    const uint32_t inner_of_if = end_block(l, &leave);
    l->body->statements.at[leave.statement].inner = inner_of_if;
    const uint32_t body = lower_list(l, s->inner);
    l->body->statements.at[l->list->last].next = body;
    const uint32_t inner = end_block(l, &loop);
    l->body->statements.at[loop.statement].inner = inner;
    l->body->statements.at[loop.statement].otherwise = 0;
}

static void lower_for(Lowering *l, const Statement *s)
{
    const Domain domain = l->body->domains.at[s->domain.index];
    const uint32_t n_levels = l->n_levels;
    for (uint32_t k = 0; k < domain.n; k++) {
        const Iterator i = l->body->iterators.at[domain.first + k];
        const Term lo = lower_scalar(l, i.lo), step = lower_scalar(l, i.step), hi = lower_scalar(l, i.hi);
        Iterator *row = &l->body->iterators.at[domain.first + k];
        row->lo = lo;
        row->step = step;
        row->hi = hi;
    }
    l->n_levels = n_levels;
    lower_inner(l, add_statement(l, s), s, domain.n);
}

static uint32_t lower_list(Lowering *l, uint32_t first)
{
    Inner block;
    begin_block(l, NULL, &block);
    for (uint32_t k = first; k && !l->has_failed; k = l->body->statements.at[k].next) {
        Statement s = l->body->statements.at[k];
        l->span = s.span;
        l->checks.n_in_front = 0;
        switch ((StatementKind)s.kind) {
        case STATEMENT_ASSIGN: lower_assignment(l, &s); break;
        case STATEMENT_FOR: lower_for(l, &s); break;
        case STATEMENT_WHILE: lower_while(l, &s); break;
        case STATEMENT_IF:
        case STATEMENT_ASSERT:
            s.value = lower_scalar(l, s.value);
            lower_inner(l, add_statement(l, &s), &s, 0);
            break;
        case STATEMENT_TOGETHER: lower_together(l, s.inner); break;
        case STATEMENT_BREAK:
        case STATEMENT_RETURN: add_statement(l, &s); break;
        case STATEMENT_SEND: BUG("a function that sends");
        }
        end_checks(l);
    }
    return end_block(l, &block);
}

/* ---- functions ---- */
static bool begins_with_arrays(const Variable *v)
{
    return !term_is_absent(v->binding) && needs(v->binding.shape);
}

static bool has_arrays(const Function *f)
{
    const Model *body = f->body;
    for (uint32_t k = 1; k < body->statements.n; k++) {
        const Statement *s = &body->statements.at[k];
        if (s->kind == STATEMENT_TOGETHER || (s->target.shape && needs(s->target.shape)) ||
            (s->value.shape && needs(s->value.shape)))
            return true;
    }
    for (uint32_t k = 0; k < body->iterators.n; k++) {
        const Iterator *i = &body->iterators.at[k];
        if (needs(i->lo.shape) || needs(i->hi.shape) || (i->step.shape && needs(i->step.shape)))
            return true;
    }
    for (uint32_t k = f->n_inputs; k < function_fields(f); k++)
        if (begins_with_arrays(&body->variables.at[k]))
            return true;
    return false;
}

/* From the first output or local on that begins with an operation on arrays, bindings are statements. */
static void say_beginnings(Function *f)
{
    Model *body = f->body;
    bool is_said = false;
    uint32_t first = 0, last = 0;
    for (uint32_t k = f->n_inputs; k < function_fields(f); k++) {
        Variable *v = &body->variables.at[k];
        const Term value = v->binding;
        is_said |= begins_with_arrays(v);
        if (!is_said || term_is_absent(value) || expr_is_constant(value.shape) ||
            value.shape->type.rank != v->type.rank)
            continue;
        const Statement s = {
            .kind = STATEMENT_ASSIGN, .target = term_ref(body, ref_now((VarId){ k })), .value = value, .span = v->span
        };
        v->binding = TERM_NONE;
        vec_push(body->arena, &body->statements, s);
        *(last ? &body->statements.at[last].next : &first) = body->statements.n - 1;
        last = body->statements.n - 1;
    }
    if (!last)
        return;
    body->statements.at[last].next = f->first;
    f->first = first;
}

bool function_lower_arrays(Compile *c, Function *f)
{
    if (f->external || !has_arrays(f))
        return true;
    Lowering l = { .c = c, .function = f, .body = f->body, .span = f->span };
    say_beginnings(f);
    const uint32_t n_before = f->body->statements.n;
    f->first = lower_list(&l, f->first);
    for (uint32_t k = 1; k < n_before; k++)
        f->body->statements.at[k] = (Statement){ .kind = STATEMENT_RETURN, .span = f->body->statements.at[k].span };
    return !l.has_failed;
}

bool lower_functions(Compile *c)
{
    bool is_good = true;
    for (uint32_t k = 0; k < c->model->functions.n; k++)
        if (!function_is_open(c->model->functions.at[k]) && !function_calls_open(c->model->functions.at[k]))
            is_good &= function_lower_arrays(c, c->model->functions.at[k]);
    return is_good && diag_errors(c->diag) == 0;
}
