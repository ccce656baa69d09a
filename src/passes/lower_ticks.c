/* lower-ticks: a clock is the number of its next tick, and a comparison of the time with the time of that.
 *
 * Tick k is at start + (a + b*k)/d*interval with whole numbers a, b, d: times by multiplication, never by adding up,
 * and those of derived clocks exact fractions of their base. The comparison is affine in the time, so it is an entry of
 * the calendar. It is true for one step: the next one knows that the tick is over. A run that begins later begins with
 * the first tick that is not over. */
#include "base/bug.h"
#include "passes/pipeline.h"

typedef struct {
    Term start, interval; /* absent: 0 and 1 */
    int64_t a, b, d;
} Ticks;

typedef struct {
    Compile *c;
    Model *model;
    VarId *tick; /* per clock: Boolean that is true in its steps; none: not made yet */
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

static bool refuse(Lowering *l, Span span, const char *what)
{
    diag_error(l->c->diag, DIAG_NOT_YET, span, "%s cannot be executed yet", what);
    return false;
}

static bool report(Lowering *l, const Clock *c, const char *what, const char *help)
{
    diag_error(l->c->diag, DIAG_CLOCK, c->span, "%s", what);
    diag_help(l->c->diag, "%s", help);
    return false;
}

static bool find_ticks(Lowering *l, uint32_t clock, uint32_t depth, Ticks *t)
{
    const Model *m = l->model;
    const Clock *c = &m->clocks.at[clock];
    if (depth > m->clocks.n)
        return report(l, c, "this clock is derived from itself", "derive it from a clock that has times of its own");
    switch ((ClockKind)c->kind) {
    case CLOCK_SAMPLE: {
        const Expr *interval = c->interval.shape;
        *t = (Ticks){ .start = c->start, .interval = c->interval, .b = 1, .d = 1 };
        if (!interval)
            return report(l, c, "this clock has no interval", "write for example: interval 0.1");
        if (interval->kind == EXPR_REAL && !(interval->u.real > 0))
            return report(l, c, "the interval of this clock is not positive", "give it one above 0");
        return true;
    }
    case CLOCK_PERIODIC:
        *t = (Ticks){ .b = c->numerator, .d = c->denominator };
        if (c->numerator <= 0 || c->denominator <= 0)
            return report(l, c, "the interval of this clock is not positive", "give it one above 0");
        return true;
    case CLOCK_EVENT: return refuse(l, c->span, "a clock of an event");
    case CLOCK_INFERRED: return refuse(l, c->span, "a clock without times of its own");
    case CLOCK_SUB:
    case CLOCK_SUPER:
    case CLOCK_SHIFT:
    case CLOCK_BACK: break;
    }
    if (c->base == ID_NONE || !find_ticks(l, c->base, depth + 1, t))
        return c->base != ID_NONE ? false : refuse(l, c->span, "a clock without base");
    const int64_t begin = t->a;
    if (c->numerator < 0 || c->denominator <= 0 || (c->numerator == 0 && c->kind < CLOCK_SHIFT))
        return report(l, c, "the factor of this clock is not positive", "give it one above 0");
    if (!derive(t, c))
        return report(l, c, "the times of this clock are no exact fractions", "use smaller numbers");
    reduce(t);
    if (c->kind == CLOCK_BACK && (t->a < 0 || begin < 0))
        return report(l, c, "this clock would begin before the one it is derived from", "shift it back by less");
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
    const Expr *is_less = expr_literal_relation(pool, OP_GE, time_of(pool, &builder, t, less), now);
    const Expr *is_same = expr_literal_relation(pool, OP_GE, time_of(pool, &builder, t, q), now);
    const Expr *first = expr_if(pool, is_less, less, expr_if(pool, is_same, q, more));
    return term_finish(&builder, expr_if(pool, expr_literal_relation(pool, OP_GT, first, zero), first, zero));
}

static void count_ticks(Lowering *l, const Clock *c, VarId tick, VarId count)
{
    Model *m = l->model;
    TermBuilder builder = term_builder(m);
    const Expr *more = expr_binary(m->pool, OP_ADD, term_leaf(&builder, ref_now(count)), expr_integer(m->pool, 1));
    const Assignment next = { .target = term_ref(m, ref_now(count)),
                              .value = term_finish(&builder, more),
                              .span = c->span };
    const Term condition = term_ref(m, ref_now(tick));
    const Transition head = { .trigger = TRIGGER_LEVEL,
                              .effect = EFFECT_NEXT,
                              .form = FORM_SET,
                              .region = REGION_NONE,
                              .owner = c->owner,
                              .origin = { .span = c->span, .made_by = "lower-ticks", .parent = EQ_NONE } };
    model_add_transition(m, &head, 1, &condition, 1, &next, 0, NULL);
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
    const Assertion assertion = { .owner = c->owner,
                                  .condition = term_finish(&builder, is_good),
                                  .message = names_text(pool_names(m->pool), "the interval of a clock is not positive"),
                                  .level = ASSERT_ERROR,
                                  .span = c->span };
    vec_push(m->arena, &m->assertions, assertion);
}

static VarId tick_of(Lowering *l, uint32_t clock)
{
    Model *m = l->model;
    const Clock c = m->clocks.at[clock];
    Ticks t;
    if (!var_is_none(l->tick[clock]) || !find_ticks(l, clock, 0, &t))
        return l->tick[clock];
    const VarId count = add_part(l, &c, clock, "$next %s", INTEGER_TYPE, DEFINITION_NEXT);
    const VarId tick = add_part(l, &c, clock, "$%s", BOOLEAN_TYPE, DEFINITION_NOW);
    const Term first = first_tick(l, &t);
    model_var(m, count)->start = first;
    model_var(m, count)->is_fixed = true;
    TermBuilder builder = term_builder(m);
    const Expr *at = time_of(m->pool, &builder, &t, term_leaf(&builder, ref_now(count)));
    const Expr *is_due = expr_binary(m->pool, OP_GE, term_leaf(&builder, ref_time()), at);
    const EqId made =
        model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(tick)), term_finish(&builder, is_due), c.span);
    m->equations.at[made.index].owner = c.owner;
    m->equations.at[made.index].origin.made_by = "lower-ticks";
    count_ticks(l, &c, tick, count);
    check_interval(l, &c, &t);
    l->tick[clock] = tick;
    return tick;
}

/* tick k, and a further condition, become an edge. */
static void lower_transition(Lowering *l, uint32_t transition)
{
    Model *m = l->model;
    Transition t = m->transitions.at[transition];
    const VarId tick = tick_of(l, t.object);
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

bool lower_ticks(Compile *c)
{
    Model *m = c->model;
    Lowering l = { .c = c, .model = m, .tick = NEW_ARRAY(c->scratch, VarId, m->clocks.n + 1) };
    for (uint32_t k = 0; k < m->clocks.n; k++)
        l.tick[k] = VAR_NONE;
    if (m->clocks.n == 0)
        return true;
    const uint32_t n = m->transitions.n;
    for (uint32_t k = 0; k < n; k++)
        if (m->transitions.at[k].trigger == TRIGGER_TICK)
            lower_transition(&l, k);
    for (uint32_t k = 0; k < m->refs.n && diag_errors(c->diag) == 0; k++)
        if (m->refs.at[k].kind == REF_TICK) {
            const Ref tick = ref_now(tick_of(&l, m->refs.at[k].var.index));
            m->refs.at[k] = tick;
        }
    for (uint32_t k = 0; k < m->clocks.n && diag_errors(c->diag) == 0; k++) {
        Ticks ignored; /* one that nobody reads is checked, too */
        (void)find_ticks(&l, k, 0, &ignored);
    }
    m->clocks.n = 0;
    return diag_errors(c->diag) == 0;
}
