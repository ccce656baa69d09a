/* lower-ticks: a clock is the number of its next tick, and a comparison of the time with the time of that.
 *
 * Tick k is at start + (a + b*k)/d*interval with whole numbers a, b, d: times by multiplication, never by adding up,
 * and those of derived clocks exact fractions of their base. The comparison is affine in the time, so it is an entry of
 * the calendar. It is true for one step: the next one knows that the tick is over. A run that begins later begins with
 * the first tick that is not over.
 *
 * Where the interval changes, the time of the next tick is that of the last one and the interval read there; with a
 * rational interval it is a whole number of units, so it is exact. A clock of an event ticks where its condition
 * becomes true. The ticks of these two kinds are counted, and clocks derived from them are every b-th from number a on.
 *
 * Clocks with equal ticks share what is made for the first of them, so many of one rate cost as much as one.
 */
#include "base/bug.h"
#include "ir/walk.h"
#include "passes/pipeline.h"
#include <math.h>

typedef struct {
    Term start, interval; /* absent: 0 and 1 */
    int64_t a, b, d;
    uint32_t root; /* clock whose ticks are counted: every b-th from number a on; ID_NONE: times are known */
} Ticks;

typedef struct {    /* of a clock; none: not made yet */
    VarId tick;     /* Boolean that is true in its steps */
    VarId count;    /* of its ticks before this step */
    VarId interval; /* between the last two ticks */
} Parts;

typedef struct {
    Compile *c;
    Model *model;
    Parts *parts;     /* per clock */
    Map equal;        /* hash of ticks -> 1 + the last clock with it that has parts */
    uint32_t *before; /* per clock: 1 + the one before it in such a chain */
    bool
        has_partitions; /* equations belong to clocks: no clock ticks before the start is known, what is sampled then */
    VarId begun;        /* it is known; none: not made yet */
    VarId passed;       /* Real parameter; none: not made yet */
} Lowering;

/* ---- times ---- */
static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static void reduce(Ticks *t)
{
    const int64_t by = common_divisor(common_divisor(t->a, t->b), t->d);
    t->a /= by;
    t->b /= by;
    t->d /= by;
}

/* *n *= by; false: too large for exact fractions. */
static bool scale(int64_t *n, int64_t by)
{
    static const int64_t MOST = (int64_t)1 << 53;
    return !__builtin_mul_overflow(*n, by, n) && *n <= MOST && *n >= -MOST;
}

/* shift by n/m of the interval: (a*m + n*b)/(d*m), b*m/(d*m) */
static bool shift(Ticks *t, int64_t n, int64_t m)
{
    int64_t by = t->b;
    if (!scale(&t->a, m) || !scale(&by, n) || !scale(&t->b, m) || !scale(&t->d, m))
        return false;
    return !__builtin_add_overflow(t->a, by, &t->a);
}

static bool derive(Ticks *t, const Clock *c)
{
    switch ((ClockKind)c->kind) {
    case CLOCK_SUB: return scale(&t->b, c->numerator);
    case CLOCK_SUPER: return scale(&t->a, c->numerator) && scale(&t->d, c->numerator);
    case CLOCK_SHIFT: return shift(t, c->numerator, c->denominator);
    case CLOCK_BACK: return shift(t, -c->numerator, c->denominator);
    default: BUG("a clock of its own");
    }
}

static bool report(Lowering *l, const Clock *c, const char *what, const char *help)
{
    diag_error(l->c->diag, DIAG_CLOCK, c->span, "%s", what);
    diag_help(l->c->diag, "%s", help);
    return false;
}

/* It reads something that is no parameter. */
static bool is_changing(const Model *m, Term term)
{
    bool changes = false;
    for (uint32_t k = 0; !term_is_absent(term) && k < term.shape->n_leaves && !changes; k++) {
        const Ref ref = term_refs(m, term)[k];
        changes = ref.kind != REF_NOW || model_var(m, ref.var)->variability > VARIABILITY_PARAMETER;
    }
    return changes;
}

static bool find_sample_ticks(Lowering *l, const Clock *c, Ticks *t)
{
    const Expr *interval = c->interval.shape;
    t->start = c->start;
    t->interval = c->interval;
    if (!interval)
        return report(l, c, "this clock has no interval", "write for example: interval 0.1");
    if (interval->kind == EXPR_REAL && !(interval->u.real > 0))
        return report(l, c, "the interval of this clock is not positive", "give it one above 0");
    return true;
}

static bool find_periodic_ticks(Lowering *l, const Clock *c, Ticks *t)
{
    Model *m = l->model;
    const Expr *factor = c->interval.shape;
    t->start = c->start;
    t->b = c->numerator;
    t->d = c->denominator;
    if (c->numerator <= 0 || c->denominator <= 0 || (factor && factor->kind == EXPR_INTEGER && factor->u.integer <= 0))
        return report(l, c, "the interval of this clock is not positive", "give it one above 0");
    bool fits = scale(&t->b, 1) && scale(&t->d, 1);
    if (factor && factor->kind == EXPR_INTEGER)
        fits = fits && scale(&t->b, factor->u.integer);
    else if (factor && t->root == ID_NONE) {
        TermBuilder builder = term_builder(m);
        const Expr *real = expr_unary(m->pool, OP_REAL, term_import(&builder, c->interval));
        t->interval = term_finish(&builder, real);
    }
    if (!fits)
        return report(l, c, "the times of this clock are no exact fractions", "use smaller numbers");
    reduce(t);
    return true;
}

/* Of a clock of its own. */
static bool find_own_ticks(Lowering *l, uint32_t clock, Ticks *t)
{
    const Clock *c = &l->model->clocks.at[clock];
    const bool is_counted = c->kind == CLOCK_EVENT || is_changing(l->model, c->interval);
    *t = (Ticks){ .b = 1, .d = 1, .root = is_counted ? clock : ID_NONE };
    if ((c->kind == CLOCK_EVENT) == term_is_absent(c->condition))
        return report(l, c, "a clock of an event, and no other, has a condition",
                      "write for example: event when x > 1.0");
    if (c->kind == CLOCK_EVENT && !term_is_absent(c->start))
        return report(l, c, "a clock of an event has no start", "leave it out");
    const bool is_good = c->kind == CLOCK_SAMPLE     ? find_sample_ticks(l, c, t)
                         : c->kind == CLOCK_PERIODIC ? find_periodic_ticks(l, c, t)
                                                     : true;
    if (is_counted && is_good)
        t->a = 0, t->b = t->d = 1;
    return is_good;
}

static bool find_ticks(Lowering *l, uint32_t clock, uint32_t depth, Ticks *t)
{
    const Clock *c = &l->model->clocks.at[clock];
    if (depth > l->model->clocks.n)
        return report(l, c, "this clock is derived from itself", "derive it from a clock that has times of its own");
    if (c->kind == CLOCK_INFERRED)
        return report(l, c, "this clock is left open", "say when it ticks, or of which clock it is derived");
    if (c->kind < CLOCK_INFERRED)
        return find_own_ticks(l, clock, t);
    if (c->base == ID_NONE)
        return report(l, c, "this clock is derived from none", "name the clock that it is derived from");
    if (!term_is_absent(c->start) || !term_is_absent(c->interval) || !term_is_absent(c->condition))
        return report(l, c, "a clock that is derived has no start, interval or condition of its own", "leave it out");
    if (!find_ticks(l, c->base, depth + 1, t))
        return false;
    const int64_t begin = t->a;
    if (c->numerator < 0 || c->denominator <= 0 || (c->numerator == 0 && c->kind < CLOCK_SHIFT))
        return report(l, c, "the factor of this clock is not positive", "give it one above 0");
    if (!derive(t, c))
        return report(l, c, "the times of this clock are no exact fractions", "use smaller numbers");
    reduce(t);
    if (c->kind == CLOCK_BACK && (t->a < 0 || begin < 0))
        return report(l, c, "this clock would begin before the one it is derived from", "shift it back by less");
    if (t->root != ID_NONE && t->d != 1)
        return report(l, c, "this clock would tick between those of a clock whose times are not known before",
                      "take every n-th of its ticks by sub, and shift by whole numbers");
    return true;
}

/* ---- the Model ---- */
static VarId add_part(Lowering *l, const Clock *c, uint32_t number, const char *format, Type type,
                      Definition definition)
{
    Model *m = l->model;
    Names *names = pool_names(m->pool);
    const char *own = names_of(names, c->name);
    const char *name = *own ? own : arena_format(l->c->scratch, "clock %u", number + 1);
    const VarId part =
        model_add_variable(m, c->owner, names_text(names, arena_format(l->c->scratch, format, name)), type, c->span);
    Variable *made = model_var(m, part);
    made->variability = VARIABILITY_DISCRETE;
    made->definition = (uint8_t)definition;
    made->is_generated = true;
    return part;
}

/* What no result shows and cannot be computed again: who goes on from an earlier run knows it by its row. */
static void remember(Model *m, VarId part)
{
    model_var(m, part)->is_generated = false;
    model_var(m, part)->is_protected = true;
}

/* The time of tick `k`. */
static const Expr *time_of(Pool *pool, TermBuilder *builder, const Ticks *t, const Expr *k)
{
    const Expr *n = t->b == 1 ? k : expr_binary(pool, OP_MUL, expr_integer(pool, t->b), k);
    if (t->a)
        n = expr_binary(pool, OP_ADD, expr_integer(pool, t->a), n);
    const Expr *at = expr_unary(pool, OP_REAL, n);
    if (t->d != 1)
        at = expr_binary(pool, OP_DIV, at, expr_real(pool, (double)t->d));
    if (!term_is_absent(t->interval))
        at = expr_binary(pool, OP_MUL, at, term_import(builder, t->interval));
    return term_is_absent(t->start) ? at : expr_binary(pool, OP_ADD, term_import(builder, t->start), at);
}

/* Ticks up to here were executed by a run that this one goes on from: whoever starts it so says that by the name. */
static VarId passed(Lowering *l)
{
    Model *m = l->model;
    if (!var_is_none(l->passed))
        return l->passed;
    const NameId name = names_text(pool_names(m->pool), "$passed");
    l->passed = model_add_variable(m, (InstanceId){ 0 }, name, REAL_TYPE, m->span);
    Variable *made = model_var(m, l->passed);
    made->variability = VARIABILITY_PARAMETER;
    made->definition = DEFINITION_BINDING;
    made->is_protected = made->is_kept = true;
    made->binding = term_real(m, -INFINITY);
    return l->passed;
}

/* Tick `k` is not over when the run begins. */
static const Expr *is_ahead(Lowering *l, TermBuilder *builder, const Ticks *t, const Expr *k)
{
    Pool *pool = l->model->pool;
    const Expr *at = time_of(pool, builder, t, k), *now = term_leaf(builder, ref_time());
    const Expr *over = term_leaf(builder, ref_now(passed(l)));
    return expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_GE, at, now),
                       expr_literal_relation(pool, OP_GT, at, over));
}

/* The first tick that is not over when the run begins: the quotient, rounded up, or one beside it. */
static Term first_tick(Lowering *l, const Ticks *t)
{
    Pool *pool = l->model->pool;
    TermBuilder builder = term_builder(l->model);
    const Expr *now = term_leaf(&builder, ref_time()), *q = now;
    if (!term_is_absent(t->start))
        q = expr_binary(pool, OP_SUB, q, term_import(&builder, t->start));
    if (!term_is_absent(t->interval))
        q = expr_binary(pool, OP_DIV, q, term_import(&builder, t->interval));
    q = expr_binary(pool, OP_MUL, q, expr_real(pool, (double)t->d));
    q = expr_binary(pool, OP_SUB, q, expr_real(pool, (double)t->a));
    q = expr_unary(pool, OP_ICEIL, expr_binary(pool, OP_DIV, q, expr_real(pool, (double)t->b)));
    const Expr *one = expr_integer(pool, 1), *zero = expr_integer(pool, 0);
    const Expr *less = expr_binary(pool, OP_SUB, q, one), *more = expr_binary(pool, OP_ADD, q, one);
    const Expr *is_less = is_ahead(l, &builder, t, less), *is_same = is_ahead(l, &builder, t, q);
    const Expr *first = expr_if(pool, is_less, less, expr_if(pool, is_same, q, more));
    return term_finish(&builder, expr_if(pool, expr_literal_relation(pool, OP_GT, first, zero), first, zero));
}

/* next(v) := value in the step of a tick; there the run ends if `fault` holds. */
static void add_transition(Lowering *l, const Clock *c, VarId tick, VarId v, Term value, Term fault)
{
    Model *m = l->model;
    const Assignment next = { .target = term_ref(m, ref_now(v)), .value = value, .span = c->span };
    const Action fail = { .kind = ACTION_FAIL,
                          .guard = fault,
                          .text = names_text(pool_names(m->pool), "the interval of a clock is not positive"),
                          .channel = ID_NONE,
                          .span = c->span };
    const Term condition = term_ref(m, ref_now(tick));
    const Transition head = { .trigger = TRIGGER_LEVEL,
                              .effect = EFFECT_NEXT,
                              .form = FORM_SET,
                              .region = REGION_NONE,
                              .owner = c->owner,
                              .origin = { .span = c->span, .made_by = "lower-ticks", .parent = EQ_NONE } };
    model_add_transition(m, &head, 1, &condition, 1, &next, !term_is_absent(fault), &fail);
}

static Term sum_of(Model *m, VarId v, Term summand)
{
    TermBuilder builder = term_builder(m);
    const Expr *before = term_leaf(&builder, ref_now(v));
    return term_finish(&builder, expr_binary(m->pool, OP_ADD, before, term_import(&builder, summand)));
}

static void count_ticks(Lowering *l, const Clock *c, VarId tick, VarId count)
{
    add_transition(l, c, tick, count, sum_of(l->model, count, term_integer(l->model, 1)), TERM_NONE);
}

/* v := value */
static void define(Lowering *l, const Clock *c, VarId v, TermBuilder *builder, const Expr *value)
{
    Model *m = l->model;
    const Term rhs = term_finish(builder, value);
    const EqId made = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(v)), rhs, c->span);
    m->equations.at[made.index].owner = c->owner;
    m->equations.at[made.index].origin.made_by = "lower-ticks";
}

/* False in the first step of all, in which everything begins. */
static VarId begun(Lowering *l, const Clock *c)
{
    Model *m = l->model;
    if (!var_is_none(l->begun))
        return l->begun;
    const NameId name = names_text(pool_names(m->pool), "$begun");
    const VarId v = model_add_variable(m, (InstanceId){ 0 }, name, BOOLEAN_TYPE, c->span);
    Variable *made = model_var(m, v);
    made->variability = VARIABILITY_DISCRETE;
    made->definition = DEFINITION_NEXT;
    made->is_generated = made->is_fixed = true;
    made->start = term_boolean(m, false);
    l->begun = v;
    const VarId open = add_part(l, c, 0, "$open %s", BOOLEAN_TYPE, DEFINITION_NOW);
    TermBuilder builder = term_builder(m);
    define(l, c, open, &builder, expr_unary(m->pool, OP_NOT, term_leaf(&builder, ref_now(v))));
    add_transition(l, c, open, v, term_boolean(m, true), TERM_NONE);
    return v;
}

static void define_tick(Lowering *l, const Clock *c, VarId tick, TermBuilder *builder, const Expr *at)
{
    Pool *pool = l->model->pool;
    const Expr *is_due = expr_binary(pool, OP_GE, term_leaf(builder, ref_time()), at);
    if (l->has_partitions)
        is_due = expr_binary(pool, OP_AND, is_due, term_leaf(builder, ref_now(begun(l, c))));
    define(l, c, tick, builder, is_due);
}

/* An interval that is no number yet may be anything. */
static void check_interval(Lowering *l, const Clock *c, const Ticks *t)
{
    Model *m = l->model;
    if (term_is_absent(t->interval) || t->interval.shape->kind == EXPR_REAL)
        return;
    TermBuilder builder = term_builder(m);
    const Expr *interval = term_import(&builder, t->interval);
    const Expr *is_good = expr_literal_relation(m->pool, OP_GT, interval, expr_real(m->pool, 0));
    const NameId text = names_text(pool_names(m->pool), "the interval of a clock is not positive");
    const Assertion assertion = { .owner = c->owner,
                                  .condition = term_finish(&builder, is_good),
                                  .message = term_expr(m, expr_string(m->pool, text)),
                                  .level = ASSERT_ERROR,
                                  .region = REGION_NONE,
                                  .span = c->span };
    vec_push(m->arena, &m->assertions, assertion);
}

static void make_known_tick(Lowering *l, const Clock *c, uint32_t clock, const Ticks *t, VarId tick)
{
    Model *m = l->model;
    const VarId count = add_part(l, c, clock, "$next %s", INTEGER_TYPE, DEFINITION_NEXT);
    const Term first = first_tick(l, t);
    model_var(m, count)->start = first;
    model_var(m, count)->is_fixed = true;
    TermBuilder builder = term_builder(m);
    const Expr *at = time_of(m->pool, &builder, t, term_leaf(&builder, ref_now(count)));
    define_tick(l, c, tick, &builder, at);
    count_ticks(l, c, tick, count);
    check_interval(l, c, t);
}

/* ---- clocks whose ticks are counted ---- */
static Parts *parts_of(Lowering *l, uint32_t clock);

static VarId count_of(Lowering *l, uint32_t clock)
{
    const Clock c = l->model->clocks.at[clock];
    const VarId tick = parts_of(l, clock)->tick;
    if (var_is_none(tick) || !var_is_none(l->parts[clock].count))
        return l->parts[clock].count;
    const VarId count = add_part(l, &c, clock, "$count %s", INTEGER_TYPE, DEFINITION_NEXT);
    model_var(l->model, count)->start = term_integer(l->model, 0);
    model_var(l->model, count)->is_fixed = true;
    remember(l->model, count);
    count_ticks(l, &c, tick, count);
    l->parts[clock].count = count;
    return count;
}

/* The transition fires where the condition becomes true. */
static void make_event_tick(Lowering *l, const Clock *c, VarId tick)
{
    Model *m = l->model;
    const Transition head = { .trigger = TRIGGER_EDGE,
                              .effect = EFFECT_NOW,
                              .form = FORM_SET,
                              .edge_start = EDGE_START_CURRENT,
                              .region = REGION_NONE,
                              .owner = c->owner,
                              .origin = { .span = c->span, .made_by = "lower-ticks", .parent = EQ_NONE } };
    const TransitionId fires = model_add_transition(m, &head, 1, &c->condition, 0, NULL, 0, NULL);
    TermBuilder builder = term_builder(m);
    define(l, c, tick, &builder, term_leaf(&builder, (Ref){ { fires.index }, REF_FIRED }));
}

/* not interval > 0 */
static Term fault_of(Model *m, Term interval)
{
    TermBuilder builder = term_builder(m);
    const Expr *e = term_import(&builder, interval);
    const Expr *zero = e->type.kind == TYPE_REAL ? expr_real(m->pool, 0) : expr_integer(m->pool, 0);
    return term_finish(&builder, expr_unary(m->pool, OP_NOT, expr_literal_relation(m->pool, OP_GT, e, zero)));
}

/* The run begins with a tick, or waits for the start. */
static Term first_time(Model *m, const Clock *c)
{
    TermBuilder builder = term_builder(m);
    const Expr *now = term_leaf(&builder, ref_time());
    if (term_is_absent(c->start))
        return term_finish(&builder, now);
    const Expr *start = term_import(&builder, c->start);
    return term_finish(&builder, expr_if(m->pool, expr_literal_relation(m->pool, OP_GT, start, now), start, now));
}

/* The time of the next tick is that of this one and the interval; a rational one is counted in units. */
static void make_changing_tick(Lowering *l, const Clock *c, uint32_t clock, VarId tick)
{
    Model *m = l->model;
    const bool is_rational = c->kind == CLOCK_PERIODIC;
    const VarId next = add_part(l, c, clock, "$next %s", is_rational ? INTEGER_TYPE : REAL_TYPE, DEFINITION_NEXT);
    Ticks units = { .start = c->start, .b = c->numerator, .d = c->denominator, .root = ID_NONE };
    const Term first = is_rational ? first_tick(l, &units) : first_time(m, c);
    model_var(m, next)->start = first;
    model_var(m, next)->is_fixed = true;
    remember(m, next);
    TermBuilder builder = term_builder(m);
    const Expr *at = term_leaf(&builder, ref_now(next));
    if (is_rational)
        at = time_of(m->pool, &builder, &units, at);
    define_tick(l, c, tick, &builder, at);
    add_transition(l, c, tick, next, sum_of(m, next, c->interval), fault_of(m, c->interval));
}

/* Every b-th tick of the root, from number a on. */
static void make_counted_tick(Lowering *l, const Clock *c, const Ticks *t, VarId tick)
{
    Model *m = l->model;
    Pool *pool = m->pool;
    TermBuilder builder = term_builder(m);
    const VarId of = parts_of(l, t->root)->tick;
    const Expr *count = term_leaf(&builder, ref_now(count_of(l, t->root))), *a = expr_integer(pool, t->a);
    const Expr *rest = expr_binary(pool, OP_IMOD, expr_binary(pool, OP_SUB, count, a), expr_integer(pool, t->b));
    const Expr *is_one = expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_GE, count, a),
                                     expr_literal_relation(pool, OP_EQ, rest, expr_integer(pool, 0)));
    define(l, c, tick, &builder, expr_binary(pool, OP_AND, term_leaf(&builder, ref_now(of)), is_one));
}

/* ---- clocks with equal ticks ---- */
static bool same_term(const Model *m, Term a, Term b)
{
    bool same = a.shape == b.shape;
    for (uint32_t k = 0; same && a.shape && k < a.shape->n_leaves; k++)
        same = ref_equal(term_refs(m, a)[k], term_refs(m, b)[k]);
    return same;
}

static uint64_t hash_ticks(const Ticks *t)
{
    const uint64_t numbers[] = {
        (uintptr_t)t->start.shape, (uintptr_t)t->interval.shape, (uint64_t)t->a, (uint64_t)t->b, (uint64_t)t->d, t->root
    };
    return hash_bytes(numbers, sizeof numbers, 0);
}

/* A clock that ticks as this one does and has parts already; ID_NONE: there is none, and this one is such a clock now.
 */
static uint32_t find_equal(Lowering *l, uint32_t clock, const Ticks *t)
{
    uint32_t last = 0;
    const uint64_t key = hash_ticks(t);
    map_get(&l->equal, key, &last);
    for (uint32_t k = last; k; k = l->before[k - 1]) {
        Ticks other;
        if (find_ticks(l, k - 1, 0, &other) && other.a == t->a && other.b == t->b && other.d == t->d &&
            other.root == t->root && same_term(l->model, other.start, t->start) &&
            same_term(l->model, other.interval, t->interval))
            return k - 1;
    }
    l->before[clock] = last;
    map_put(&l->equal, key, clock + 1);
    return ID_NONE;
}

/* Those of the clock, with its tick. */
static Parts *parts_of(Lowering *l, uint32_t clock)
{
    Parts *parts = &l->parts[clock];
    const Clock c = l->model->clocks.at[clock];
    Ticks t;
    if (!var_is_none(parts->tick) || diag_errors(l->c->diag) || !find_ticks(l, clock, 0, &t))
        return parts;
    if (t.root != ID_NONE && t.root != clock && var_is_none(count_of(l, t.root)))
        return parts;
    const uint32_t equal = find_equal(l, clock, &t);
    if (equal != ID_NONE) {
        parts->tick = l->parts[equal].tick;
        return parts;
    }
    parts->tick = add_part(l, &c, clock, "$%s", BOOLEAN_TYPE, DEFINITION_NOW);
    if (t.root == ID_NONE)
        make_known_tick(l, &c, clock, &t, parts->tick);
    else if (t.root != clock)
        make_counted_tick(l, &c, &t, parts->tick);
    else if (c.kind == CLOCK_EVENT)
        make_event_tick(l, &c, parts->tick);
    else
        make_changing_tick(l, &c, clock, parts->tick);
    return parts;
}

/* ---- interval(k) ---- */
/* b/d*interval */
static VarId make_known_interval(Lowering *l, const Clock *c, uint32_t clock, const Ticks *t)
{
    Model *m = l->model;
    const VarId v = add_part(l, c, clock, "$interval %s", REAL_TYPE, DEFINITION_BINDING);
    TermBuilder builder = term_builder(m);
    const Expr *value = expr_real(m->pool, (double)t->b / (double)t->d);
    if (!term_is_absent(t->interval))
        value = expr_binary(m->pool, OP_MUL, value, term_import(&builder, t->interval));
    model_var(m, v)->variability = VARIABILITY_PARAMETER;
    model_var(m, v)->binding = term_finish(&builder, value);
    return v;
}

/* What it is at the first tick: as the clock says. */
static const Expr *first_interval(Model *m, TermBuilder *builder, const Ticks *t)
{
    const Clock *root = &m->clocks.at[t->root];
    if (term_is_absent(root->interval))
        return expr_real(m->pool, 0);
    const Expr *e = term_import(builder, root->interval);
    double factor = (double)t->b;
    if (root->kind == CLOCK_PERIODIC) {
        e = expr_unary(m->pool, OP_REAL, e);
        factor *= (double)root->numerator / (double)root->denominator;
    }
    return factor == 1 ? e : expr_binary(m->pool, OP_MUL, expr_real(m->pool, factor), e);
}

/* The time since the tick before, in the step of a tick; it is held. */
static VarId make_measured_interval(Lowering *l, const Clock *c, uint32_t clock, const Ticks *t)
{
    Model *m = l->model;
    const VarId count = count_of(l, clock), tick = l->parts[clock].tick;
    const VarId last = add_part(l, c, clock, "$last %s", REAL_TYPE, DEFINITION_NEXT);
    const VarId v = add_part(l, c, clock, "$interval %s", REAL_TYPE, DEFINITION_NOW);
    model_var(m, last)->start = term_real(m, 0);
    model_var(m, last)->is_fixed = true;
    add_transition(l, c, tick, last, term_ref(m, ref_time()), TERM_NONE);
    TermBuilder builder = term_builder(m);
    const Expr *now = term_leaf(&builder, ref_time());
    const Expr *since = expr_binary(m->pool, OP_SUB, now, term_leaf(&builder, ref_now(last)));
    const Expr *is_first =
        expr_literal_relation(m->pool, OP_EQ, term_leaf(&builder, ref_now(count)), expr_integer(m->pool, 0));
    const Expr *value = expr_if(m->pool, is_first, first_interval(m, &builder, t), since);
    const Assignment row = { .target = term_ref(m, ref_now(v)),
                             .value = term_finish(&builder, value),
                             .span = c->span };
    const Term condition = term_ref(m, ref_now(tick));
    const Transition head = { .trigger = TRIGGER_EDGE,
                              .effect = EFFECT_NOW,
                              .form = FORM_SET,
                              .edge_start = EDGE_START_FALSE,
                              .region = REGION_NONE,
                              .owner = c->owner,
                              .origin = { .span = c->span, .made_by = "lower-ticks", .parent = EQ_NONE } };
    model_add_transition(m, &head, 1, &condition, 1, &row, 0, NULL);
    return v;
}

static VarId interval_of(Lowering *l, uint32_t clock)
{
    const Clock c = l->model->clocks.at[clock];
    Ticks t;
    if (!var_is_none(l->parts[clock].interval) || !find_ticks(l, clock, 0, &t))
        return l->parts[clock].interval;
    const VarId v =
        t.root == ID_NONE ? make_known_interval(l, &c, clock, &t) : make_measured_interval(l, &c, clock, &t);
    l->parts[clock].interval = v;
    return v;
}

/* ---- readers ---- */
/* tick k, and a further condition, become an edge. */
static void lower_transition(Lowering *l, uint32_t transition)
{
    Model *m = l->model;
    Transition t = m->transitions.at[transition];
    const VarId tick = parts_of(l, t.object)->tick;
    if (var_is_none(tick))
        return;
    TermBuilder builder = term_builder(m);
    const Expr *fires = term_leaf(&builder, ref_now(tick));
    for (uint32_t k = 0; k < t.n_conditions; k++)
        fires = expr_binary(m->pool, OP_AND, fires,
                            expr_no_event(m->pool, term_import(&builder, m->conditions.at[t.first_condition + k])));
    const Term condition = term_finish(&builder, fires);
    t.first_condition = model_add_terms(m, 1, &condition);
    t.n_conditions = 1;
    t.trigger = TRIGGER_EDGE;
    t.edge_start = EDGE_START_FALSE;
    t.object = 0;
    m->transitions.at[transition] = t;
}

static bool has_partitions(const Model *m)
{
    bool any = false;
    for (uint32_t k = 0; k < m->variables.n && !any; k++)
        any = m->variables.at[k].clock != 0;
    for (uint32_t k = 0; k < m->equations.n && !any; k++)
        any = m->equations.at[k].clock != 0;
    return any;
}

/* What belongs to a clock says so until solve-whens: until then clocks have names, but no times any more. */
static void leave_clocks(Lowering *l)
{
    Model *m = l->model;
    if (!l->has_partitions)
        m->clocks.n = 0;
    for (uint32_t k = 0; k < m->clocks.n; k++)
        m->clocks.at[k].condition = m->clocks.at[k].start = m->clocks.at[k].interval = TERM_NONE;
}

/* Two clocks that tick alike are one variable: a term that read both reads it once. */
static Term merge_equal(void *context, Term term, const TermPlace *place)
{
    Model *m = context;
    const Ref *refs = term_refs(m, term);
    bool has_equal = false;
    (void)place;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        for (uint32_t j = 0; j < k && refs[k].kind == REF_NOW; j++)
            has_equal |= ref_equal(refs[k], refs[j]);
    return has_equal ? term_make(m, term.shape, refs) : term;
}

bool lower_ticks(Compile *c)
{
    Model *m = c->model;
    Lowering l = { .c = c,
                   .model = m,
                   .parts = NEW_ARRAY(c->scratch, Parts, m->clocks.n + 1),
                   .before = NEW_ARRAY(c->scratch, uint32_t, m->clocks.n + 1),
                   .has_partitions = m->clocks.n && has_partitions(m),
                   .begun = VAR_NONE,
                   .passed = VAR_NONE };
    for (uint32_t k = 0; k < m->clocks.n; k++)
        l.parts[k] = (Parts){ VAR_NONE, VAR_NONE, VAR_NONE };
    if (m->clocks.n == 0)
        return true;
    map_init(&l.equal, c->scratch, m->clocks.n);
    for (uint32_t k = 0; k < m->clocks.n; k++) {
        Ticks ignored; /* one that nobody reads is checked, too */
        if (diag_errors(c->diag) == 0)
            (void)find_ticks(&l, k, 0, &ignored);
    }
    const uint32_t n = m->transitions.n;
    for (uint32_t k = 0; k < n && diag_errors(c->diag) == 0; k++)
        if (m->transitions.at[k].trigger == TRIGGER_TICK)
            lower_transition(&l, k);
    for (uint32_t k = 0; k < m->refs.n && diag_errors(c->diag) == 0; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind != REF_TICK && ref.kind != REF_INTERVAL)
            continue;
        const VarId by = ref.kind == REF_TICK ? parts_of(&l, ref.var.index)->tick : interval_of(&l, ref.var.index);
        m->refs.at[k] = ref_now(by);
    }
    leave_clocks(&l);
    model_rewrite_terms(m, ELEMENTS_ALL, merge_equal, m);
    return diag_errors(c->diag) == 0;
}
