/* Evaluation of scalar expressions and the search for the cause of a fault; see evaluate.h. */
#include "ir/evaluate.h"
#include "base/bug.h"
#include "base/vec.h"
#include "ir/external.h"
#include "ir/memo.h"
#include "ir/routine_call.h"
#include "koine/ops.h"

/* Below this depth a node costs less to evaluate again than to look up; a bounded factor. */
enum { DEPTH_WITHOUT_MEMO = 4 };

typedef struct Scope Scope;
struct Scope { /* iterator of a reduction being evaluated; the innermost of a level counts */
    uint32_t level;
    int64_t value;
    const Scope *outer;
};

typedef struct {
    Value value;
    bool is_bad;  /* not good itself, or computed from what is lost */
    bool is_lost; /* from an Integer fault or a function that failed: bad whatever is computed from it */
} Outcome;

typedef struct {
    Outcome outcome;
    uint32_t moment;
} Entry;

typedef struct {
    const Value *leaves;
    const int64_t *iterators;
    const Scope *scope;
    uint32_t moment, last_moment; /* a number for each setting of the iterators in scope */
    Memo memo;                    /* node: index in entries */
    VEC(Entry) entries;
    RoutineCall *call; /* whose expression it is, or NULL */
} Evaluation;

typedef struct {
    int64_t lo, step;
    uint64_t count;
} Range;

/* ---- one operation ---- */
static Value real_value(double r)
{
    return (Value){ .r = r };
}

static Value integer_value(int64_t i)
{
    return (Value){ .i = i };
}

/* The columns of op.def as expressions of a and b, and as values of the type that the result has. */
#define VALUE_PREFIX_1(operator) operator a
#define VALUE_INFIX_2(operator)  a operator b
#define VALUE_CALL_1(function)   function(a)
#define VALUE_CALL_2(function)   function(a, b)
#define VALUE_LIBM_1(function)   function(a)
#define VALUE_LIBM_2(function)   function(a, b)
#define VALUE_WHOLE_1(function)  koine_integer(function(a))
#define VALUE_FIRST_1(none)      a
#define VALUE_FIRST_2(none)      a
#define VALUE_NONE_1(none)       (BUG("not an operation on this type"), 0)
#define VALUE_NONE_2(none)       VALUE_NONE_1(none)

static Value evaluate_real(Op op, double a, double b)
{
#define MAKE_S real_value
#define MAKE_R real_value
#define MAKE_I integer_value
#define MAKE_B integer_value
    switch (op) {
#define OP(name, text, arity, result, takes, course, cost, on_reals, by_real, on_integers, by_integer)                 \
    case OP_##name:                                                                                                    \
        return MAKE_##result(VALUE_##on_reals##_##arity(by_real));
#include "ir/op.def"
#undef OP
    case OP_COUNT: break;
    }
#undef MAKE_S
    BUG("unknown Op");
}

static Value evaluate_integer(Op op, int64_t a, int64_t b)
{
#define MAKE_S integer_value
    switch (op) {
#define OP(name, text, arity, result, takes, course, cost, on_reals, by_real, on_integers, by_integer)                 \
    case OP_##name:                                                                                                    \
        return MAKE_##result(VALUE_##on_integers##_##arity(by_integer));
#include "ir/op.def"
#undef OP
    case OP_COUNT: break;
    }
    BUG("unknown Op");
}

Value op_evaluate(Op op, Type operands, const Value args[])
{
    const bool is_binary = op_arity(op) == 2;
    if (operands.kind == TYPE_REAL)
        return evaluate_real(op, args[0].r, is_binary ? args[1].r : 0);
    return evaluate_integer(op, args[0].i, is_binary ? args[1].i : 0);
}

bool value_is_good(Type type, Value value)
{
    return type.kind == TYPE_REAL ? isfinite(value.r) : value.i != INTEGER_FAULT;
}

/* ---- expressions ---- */
static bool evaluate(Evaluation *ev, const Expr *e, Outcome *out);

/* A bad operand that makes the result bad whatever its value. A Real that is not finite is not such: it shows in
 * the result, or it does not matter. */
static bool is_lasting(const Expr *operand, Outcome outcome)
{
    return outcome.is_lost || (outcome.is_bad && operand->type.rank == 0 &&
                               (operand->type.kind != TYPE_REAL || isfinite(outcome.value.r)));
}

static bool find_iterator(const Evaluation *ev, uint32_t level, Value *value)
{
    for (const Scope *scope = ev->scope; scope; scope = scope->outer)
        if (scope->level == level) {
            value->i = scope->value;
            return true;
        }
    if (ev->iterators)
        value->i = ev->iterators[level];
    return ev->iterators != NULL;
}

/* How many arguments of a call are to be evaluated, given the value of the first. */
static uint32_t needed_args(const Expr *e, Value first)
{
    const bool is_decided = (e->op == OP_AND && !first.i) || (e->op == OP_OR && first.i) || e->op == OP_HOMOTOPY;
    return is_decided ? 1 : e->n_args;
}

static bool evaluate_call(Evaluation *ev, const Expr *e, Outcome *out)
{
    Value args[2] = { { 0 }, { 0 } };
    bool is_lost = false;
    uint32_t n = 1;
    for (uint32_t k = 0; k < n; k++) {
        Outcome operand;
        if (e->args[k]->type.rank > 0 || !evaluate(ev, e->args[k], &operand))
            return false;
        args[k] = operand.value;
        is_lost |= is_lasting(e->args[k], operand);
        if (k == 0)
            n = needed_args(e, operand.value);
    }
    out->value = op_evaluate((Op)e->op, e->args[0]->type, args);
    out->is_lost = is_lost;
    out->is_bad = is_lost || !value_is_good(e->type, out->value);
    return true;
}

static bool evaluate_if(Evaluation *ev, const Expr *e, Outcome *out)
{
    Outcome condition;
    if (!evaluate(ev, e->args[0], &condition) || !evaluate(ev, e->args[condition.value.i ? 1 : 2], out))
        return false;
    out->is_bad |= condition.is_bad;
    out->is_lost |= condition.is_lost;
    return true;
}

static Range make_range(int64_t lo, int64_t step, int64_t hi)
{
    Range range = { lo, step, 0 };
    if (step > 0 && lo <= hi)
        range.count = ((uint64_t)hi - (uint64_t)lo) / (uint64_t)step + 1;
    if (step < 0 && lo >= hi)
        range.count = ((uint64_t)lo - (uint64_t)hi) / (0 - (uint64_t)step) + 1;
    return range;
}

static Value neutral_value(Op op, Type type)
{
    if (op == OP_AND || op == OP_OR)
        return integer_value(op == OP_AND);
    const bool is_real = type.kind == TYPE_REAL;
    if (op == OP_ADD || op == OP_MUL)
        return is_real ? real_value(op == OP_MUL) : integer_value(op == OP_MUL);
    REQUIRE(op == OP_MIN || op == OP_MAX);
    return is_real ? real_value(op == OP_MIN ? INFINITY : -INFINITY) : integer_value(INTEGER_FAULT);
}

/* Evaluates the body with the iterator at iteration k. */
static bool evaluate_body(Evaluation *ev, const Expr *e, Range range, uint64_t k, Scope *scope, Outcome *out)
{
    *scope = (Scope){ e->u.iterator, koine_iadd(range.lo, koine_imul((int64_t)k, range.step)), ev->scope };
    ev->scope = scope;
    ev->moment = ++ev->last_moment;
    const bool is_evaluable = evaluate(ev, e->args[0], out);
    ev->scope = scope->outer;
    return is_evaluable;
}

/* The value after one more iteration; the first of MIN and MAX is taken as it is. */
static Value accumulate(const Expr *e, uint64_t k, Value so_far, Value body)
{
    const bool is_first = k == 0 && (e->op == OP_MIN || e->op == OP_MAX);
    return is_first ? body : op_evaluate((Op)e->op, e->type, (const Value[]){ so_far, body });
}

static bool evaluate_range(Evaluation *ev, const Expr *e, Range *range, bool *is_bad)
{
    Outcome bounds[3];
    *is_bad = false;
    for (uint32_t k = 0; k < 3; k++) {
        if (!evaluate(ev, e->args[k + 1], &bounds[k]))
            return false;
        *is_bad |= bounds[k].is_bad;
    }
    *range = make_range(bounds[0].value.i, bounds[1].value.i, bounds[2].value.i);
    return true;
}

static Value no_value(Type type)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return real_value(NAN);
    case TYPE_INTEGER: return integer_value(INTEGER_FAULT);
    case TYPE_BOOLEAN:
    case TYPE_ENUM:
    case TYPE_STRING:
    case TYPE_OBJECT: return integer_value(0);
    }
    BUG("unknown TypeKind");
}

static bool evaluate_reduce(Evaluation *ev, const Expr *e, Outcome *out)
{
    Range range;
    if (!evaluate_range(ev, e, &range, &out->is_bad))
        return false;
    out->value = neutral_value((Op)e->op, e->type);
    if (range.step == 0 || out->is_bad) {
        *out = (Outcome){ no_value(e->type), true, false };
        return true;
    }
    const uint32_t moment = ev->moment;
    out->is_lost = false;
    for (uint64_t k = 0; k < range.count; k++) {
        Outcome body;
        Scope scope;
        if (!evaluate_body(ev, e, range, k, &scope, &body))
            return false;
        out->is_bad |= is_lasting(e, body);
        out->is_lost |= body.is_lost;
        out->value = accumulate(e, k, out->value, body.value);
    }
    ev->moment = moment;
    out->is_bad |= !value_is_good(e->type, out->value);
    return true;
}

static bool evaluate_table(Evaluation *ev, const Expr *e, Outcome *out)
{
    Outcome argument, interval = { integer_value(-1), false, false };
    if (!evaluate(ev, e->args[0], &argument) || (e->n_args > 1 && !evaluate(ev, e->args[1], &interval)))
        return false;
    out->value = real_value(koine_lookup(e->u.table->data[e->op], interval.value.i, argument.value.r));
    out->is_bad = argument.is_bad || interval.is_bad || !isfinite(out->value.r);
    out->is_lost = argument.is_lost || interval.is_lost;
    return true;
}

/* Values of the arguments; false: some has none. */
static bool evaluate_args(Evaluation *ev, const Expr *e, Value *args, bool *is_lost)
{
    *is_lost = false;
    for (uint32_t k = 0; k < e->n_args; k++) {
        Outcome operand;
        if (!evaluate(ev, e->args[k], &operand))
            return false;
        args[k] = operand.value;
        *is_lost |= is_lasting(e->args[k], operand);
    }
    return true;
}

static bool evaluate_element(Evaluation *ev, const Expr *e, Outcome *out)
{
    Value args[ROUTINE_RANK], *place;
    int64_t index[ROUTINE_RANK];
    bool is_lost;
    if (!evaluate_args(ev, e, args, &is_lost))
        return false;
    for (uint32_t k = 0; k < e->n_args; k++)
        index[k] = args[k].i;
    if (!routine_find_element(ev->call, e->result, index, &place))
        return false;
    out->value = *place;
    out->is_lost = is_lost;
    out->is_bad = is_lost || !value_is_good(e->type, out->value);
    return true;
}

/* Of a call of which all results are known. */
static bool evaluate_part(Evaluation *ev, const Expr *e, Outcome *out)
{
    if (!evaluate(ev, e->args[0], out))
        return false;
    if (e->type.rank > 0) {
        out->value.a += e->element;
        return true;
    }
    out->value = out->value.a[e->element];
    out->is_lost |= !value_is_good(e->type, out->value);
    out->is_bad = out->is_lost;
    return true;
}

/* Of a function with several numbers as results, in expressions that are not written with parts, one of them. */
static bool evaluate_function(Evaluation *ev, const Expr *e, Outcome *out)
{
    enum { FEW = 8 };
    Span ignored;
    const Function *f = e->u.function;
    Value few[FEW], *args = e->n_args <= FEW ? few : NEW_ARRAY(memo_arena(&ev->memo), Value, e->n_args);
    bool is_lost;
    if (is_element(e))
        return evaluate_element(ev, e, out);
    if (is_part(e))
        return evaluate_part(ev, e, out);
    const bool is_evaluable =
        f && f->is_pure && external_is_there(f) && !function_obstacle(f, &ignored) && !function_has_texts(f);
    if (!is_evaluable || !evaluate_args(ev, e, args, &is_lost))
        return false;
    const Routine *routine = routine_of(f);
    const bool is_scalar = e->type.rank == 0 && routine->width == 1;
    Value one, *outputs = is_scalar ? &one : NEW_ARRAY(memo_arena(&ev->memo), Value, routine->width);
    if (!routine_call(ev->call, f, args, outputs))
        return false;
    const uint32_t at = e->result == RESULT_ALL ? 0 : routine_offset(routine, e->result) + e->element;
    if (e->type.rank > 0) {
        is_lost |= !value_is_good(routine->fields[f->n_inputs].type, outputs[0]); /* it has failed */
        *out = (Outcome){ .value.a = outputs + at, .is_lost = is_lost, .is_bad = is_lost };
        return true;
    }
    out->value = outputs[at];
    out->is_lost = is_lost || !value_is_good(e->type, out->value);
    out->is_bad = out->is_lost;
    return true;
}

static uint32_t count_braced(const Expr *e)
{
    uint32_t n = e->kind != EXPR_ARRAY;
    for (uint32_t k = 0; k < e->n_args && e->kind == EXPR_ARRAY; k++)
        n += count_braced(e->args[k]);
    return n;
}

/* Row after row. */
static bool evaluate_braced(Evaluation *ev, const Expr *e, Value **to, Outcome *out)
{
    for (uint32_t k = 0; k < e->n_args; k++) {
        Outcome element;
        if (e->args[k]->kind == EXPR_ARRAY) {
            if (!evaluate_braced(ev, e->args[k], to, out))
                return false;
            continue;
        }
        if (e->args[k]->type.rank > 0 || !evaluate(ev, e->args[k], &element))
            return false;
        *(*to)++ = element.value;
        out->is_lost |= is_lasting(e->args[k], element);
    }
    return true;
}

/* Elements in memory that lives as long as the evaluation. */
static bool evaluate_array(Evaluation *ev, const Expr *e, Outcome *out)
{
    Value *elements = NEW_ARRAY(memo_arena(&ev->memo), Value, count_braced(e));
    *out = (Outcome){ .value.a = elements };
    if (!evaluate_braced(ev, e, &elements, out))
        return false;
    out->is_bad = out->is_lost;
    return true;
}

static bool evaluate_leaf(const Evaluation *ev, const Expr *e, Outcome *out)
{
    if (e->n_args > 0 || e->type.kind == TYPE_STRING || !ev->leaves)
        return false;
    out->value = ev->leaves[e->u.leaf];
    const bool is_in_frame = e->type.rank > 0 && ev->call && !routine_is_pointer(ev->call->routine, e->u.leaf);
    if (is_in_frame)
        out->value.a = &ev->leaves[e->u.leaf];
    return true;
}

static bool evaluate_node(Evaluation *ev, const Expr *e, Outcome *out)
{
    bool is_evaluable = true;
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: out->value.r = e->u.real; break;
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM: out->value.i = e->u.integer; break;
    case EXPR_LEAF: is_evaluable = evaluate_leaf(ev, e, out); break;
    case EXPR_ITERATOR: is_evaluable = find_iterator(ev, e->u.iterator, &out->value); break;
    case EXPR_CALL: return evaluate_call(ev, e, out);
    case EXPR_TABLE: return evaluate_table(ev, e, out);
    case EXPR_IF: return evaluate_if(ev, e, out);
    case EXPR_REDUCE: return evaluate_reduce(ev, e, out);
    case EXPR_FUNCTION: return evaluate_function(ev, e, out);
    case EXPR_ARRAY: return evaluate_array(ev, e, out);
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_TEXT:
    case EXPR_STRING: return false;
    }
    out->is_bad = is_evaluable && e->type.rank == 0 && !value_is_good(e->type, out->value);
    out->is_lost = false;
    return is_evaluable;
}

static bool evaluate(Evaluation *ev, const Expr *e, Outcome *out)
{
    if (e->depth <= DEPTH_WITHOUT_MEMO && (e->kind != EXPR_FUNCTION || e->type.rank == 0))
        return evaluate_node(ev, e, out);
    uint32_t k;
    const bool is_known = memo_get(&ev->memo, e, &k);
    if (is_known && (!e->has_index || ev->entries.at[k].moment == ev->moment)) {
        *out = ev->entries.at[k].outcome;
        return true;
    }
    if (!evaluate_node(ev, e, out))
        return false;
    if (!is_known) {
        k = ev->entries.n;
        vec_push_zero(memo_arena(&ev->memo), &ev->entries);
        memo_put(&ev->memo, e, k);
    }
    ev->entries.at[k] = (Entry){ *out, ev->moment };
    return true;
}

static void evaluation_begin(Evaluation *ev, const Value *leaves, const int64_t *iterators, Arena *arena)
{
    ev->leaves = leaves;
    ev->iterators = iterators;
    ev->scope = NULL;
    ev->moment = ev->last_moment = 0;
    ev->call = NULL;
    ev->entries.at = NULL;
    ev->entries.n = ev->entries.capacity = 0;
    memo_begin(&ev->memo, arena);
}

bool expr_evaluate_any(const Expr *e, const Value *leaves, const int64_t *iterators, Arena *arena, Value *result)
{
    Evaluation ev;
    Outcome outcome;
    evaluation_begin(&ev, leaves, iterators, arena);
    const bool is_evaluable = evaluate(&ev, e, &outcome);
    memo_end(&ev.memo);
    if (is_evaluable)
        *result = outcome.value;
    return is_evaluable;
}

bool expr_evaluate(const Expr *e, const Value *leaves, const int64_t *iterators, Value *result)
{
    return e->type.rank == 0 && expr_evaluate_any(e, leaves, iterators, NULL, result);
}

bool expr_evaluate_in(RoutineCall *call, const Expr *e, Value *result)
{
    Evaluation ev;
    Outcome outcome;
    evaluation_begin(&ev, call->frame, NULL, NULL);
    ev.call = call;
    const bool is_evaluable = evaluate(&ev, e, &outcome);
    memo_end(&ev.memo);
    if (is_evaluable)
        *result = outcome.value;
    return is_evaluable;
}

bool expr_evaluate_array(RoutineCall *call, const Expr *e, Arena *arena, Value *result)
{
    Evaluation ev;
    Outcome outcome;
    evaluation_begin(&ev, call->frame, NULL, arena);
    ev.call = call;
    const bool is_evaluable = evaluate(&ev, e, &outcome);
    memo_end(&ev.memo);
    if (is_evaluable)
        *result = outcome.value;
    return is_evaluable;
}

/* ---- faults ---- */
static void locate(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2]);

/* The first of the arguments `first` to `end` that is bad is where to look. */
static bool locate_in_args(Evaluation *ev, const Expr *e, uint32_t first, uint32_t end, const Expr **where,
                           Value operands[2])
{
    for (uint32_t k = first; k < end; k++) {
        Outcome operand;
        REQUIRE(evaluate(ev, e->args[k], &operand));
        if (operand.is_bad) {
            locate(ev, e->args[k], where, operands);
            return true;
        }
    }
    return false;
}

static void locate_in_call(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    Outcome first;
    REQUIRE(evaluate(ev, e->args[0], &first));
    const uint32_t n = needed_args(e, first.value);
    if (locate_in_args(ev, e, 0, n, where, operands))
        return;
    *where = e;
    for (uint32_t k = 0; k < n; k++) {
        Outcome operand;
        REQUIRE(evaluate(ev, e->args[k], &operand));
        operands[k] = operand.value;
    }
}

static void locate_in_function(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    if (locate_in_args(ev, e, 0, e->n_args, where, operands))
        return;
    *where = e;
    for (uint32_t k = 0; k < e->n_args && k < 2; k++) {
        Outcome operand;
        REQUIRE(evaluate(ev, e->args[k], &operand));
        operands[k] = operand.value;
    }
}

static void locate_in_if(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    Outcome condition;
    REQUIRE(evaluate(ev, e->args[0], &condition));
    const uint32_t chosen = condition.is_bad ? 0 : condition.value.i ? 1 : 2;
    locate(ev, e->args[chosen], where, operands);
}

static void locate_in_reduce(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    if (locate_in_args(ev, e, 1, 4, where, operands))
        return;
    Range range;
    bool is_bad;
    REQUIRE(evaluate_range(ev, e, &range, &is_bad));
    *where = e;
    Value so_far = neutral_value((Op)e->op, e->type);
    for (uint64_t k = 0; k < range.count; k++) {
        Outcome body;
        Scope scope;
        REQUIRE(evaluate_body(ev, e, range, k, &scope, &body));
        if (body.is_bad) {
            ev->scope = &scope; /* as it was; nothing is evaluated after locate */
            locate(ev, e->args[0], where, operands);
            return;
        }
        operands[0] = so_far;
        operands[1] = body.value;
        so_far = accumulate(e, k, so_far, body.value);
        if (!value_is_good(e->type, so_far))
            return;
    }
}

static void locate_in_table(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    if (locate_in_args(ev, e, 0, e->n_args, where, operands))
        return;
    *where = e;
    for (uint32_t k = 0; k < e->n_args; k++) {
        Outcome operand;
        REQUIRE(evaluate(ev, e->args[k], &operand));
        operands[k] = operand.value;
    }
}

/* `e` is bad. */
static void locate(Evaluation *ev, const Expr *e, const Expr **where, Value operands[2])
{
    switch ((ExprKind)e->kind) {
    case EXPR_CALL: locate_in_call(ev, e, where, operands); return;
    case EXPR_TABLE: locate_in_table(ev, e, where, operands); return;
    case EXPR_IF: locate_in_if(ev, e, where, operands); return;
    case EXPR_REDUCE: locate_in_reduce(ev, e, where, operands); return;
    case EXPR_FUNCTION: locate_in_function(ev, e, where, operands); return;
    case EXPR_REAL:
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
    case EXPR_LEAF:
    case EXPR_ITERATOR: {
        Outcome own;
        REQUIRE(evaluate(ev, e, &own));
        *where = e;
        operands[0] = own.value;
        return;
    }
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_ARRAY:
        if (!locate_in_args(ev, e, 0, e->n_args, where, operands))
            *where = e;
        return;
    case EXPR_STRING:
    case EXPR_TEXT: break;
    }
    BUG("has no scalar value");
}

bool expr_fault(const Expr *e, const Value *leaves, const int64_t *iterators, const Expr **where, Value operands[2])
{
    Evaluation ev;
    Outcome outcome;
    evaluation_begin(&ev, leaves, iterators, NULL);
    const bool is_bad = evaluate(&ev, e, &outcome) && outcome.is_bad;
    if (is_bad) {
        operands[0] = operands[1] = integer_value(0);
        locate(&ev, e, where, operands);
    }
    memo_end(&ev.memo);
    return is_bad;
}
