/* Random numbers, an extension of the language: distributions are called like functions in the assignments of events
 * and in initial values of state variables. Each call has a stream of its own, named after the distribution and the
 * quantity that is assigned; the event that draws from it advances it. See docs/languages/simplex.md. */
#include "base/bug.h"
#include "lang/simplex/lower.h"

typedef enum { DRAW_UNIFORM, DRAW_EXPO, DRAW_NORMAL, DRAW_ERLANG, DRAW_EMPDISC, DRAW_EMPCONT, DRAW_COUNT } Draw;
static const struct {
    const char *name, *form;
    uint8_t arity; /* 0: pairs of numbers, two at least */
} draws[DRAW_COUNT] = {
    [DRAW_UNIFORM] = { "UNIFORM", "UNIFORM (Low, High)", 2 },
    [DRAW_EXPO] = { "EXPO", "EXPO (Mean)", 1 },
    [DRAW_NORMAL] = { "NORMAL", "NORMAL (Mean, Sigma)", 2 },
    [DRAW_ERLANG] = { "ERLANG", "ERLANG (Mean, 3)", 2 },
    [DRAW_EMPDISC] = { "EMPDISC", "EMPDISC (Value1, Weight1, Value2, Weight2, …)", 0 },
    [DRAW_EMPCONT] = { "EMPCONT", "EMPCONT (Value1, 0, Value2, 0.4, Value3, 1)", 0 },
};
enum { POSITIONS = 65536, ERLANG_MOST = 100 }; /* positions of a stream that belong to one draw */

/* ---- checking ---- */
static void report(Checker *checker, Node *node, Span span, const char *what)
{
    REPORT(checker, DIAG_MDL_DRAW, span, "%s", what);
    diag_help(checker->diag, "write x^ := %s; in the body of an event, or give a state this initial value",
              draws[node->u.call.draw].form);
    node->is_bad = true;
}

static bool is_order(const Node *node)
{
    return node->kind == NODE_NUMBER && node->u.number >= 1 && node->u.number <= ERLANG_MOST &&
           node->u.number == (double)(int)node->u.number;
}

/* A number, with or without sign. */
static bool is_number(const Node *node, double *value)
{
    const bool is_negative = node->kind == NODE_UNARY && node->op == OP_NEG;
    const Node *plain = is_negative ? node->u.operand[0] : node;
    *value = plain->kind == NODE_NUMBER ? is_negative ? -plain->u.number : plain->u.number : 0;
    return plain->kind == NODE_NUMBER;
}

/* What must hold: parameter `above` (or the number 1) is at least parameter `below` (or the number). */
typedef struct {
    uint32_t above, below;
    double least;
    const char *rule;
} Rule;
static const uint32_t RULE_ONE = UINT32_MAX - 1; /* stands for the number 1 */
static const uint32_t RULE_SUM = UINT32_MAX - 2; /* stands for the sum of all weights */

/* Rule number k of a distribution with n arguments; false: it has no more. */
static bool rule_of(Draw draw, uint32_t n, uint32_t k, Rule *rule)
{
    *rule = (Rule){ .below = ID_NONE };
    switch (draw) {
    case DRAW_UNIFORM: *rule = (Rule){ 1, 0, 0, "the upper bound is at least the lower one" }; return k == 0;
    case DRAW_EXPO:
    case DRAW_ERLANG: *rule = (Rule){ 0, ID_NONE, 0, "the mean is at least 0" }; return k == 0;
    case DRAW_NORMAL: *rule = (Rule){ 1, ID_NONE, 0, "the standard deviation is at least 0" }; return k == 0;
    case DRAW_EMPDISC:
        *rule = (Rule){ 2 * k + 1, ID_NONE, 0, "a weight is at least 0" };
        if (2 * k == n)
            *rule = (Rule){ RULE_SUM, ID_NONE, 4.9406564584124654e-324, "some weight is above 0" };
        return 2 * k <= n;
    case DRAW_EMPCONT:
        *rule = (Rule){ k + 2, k, 0, k % 2 ? "F ascends" : "the values ascend" };
        if (k == n - 2)
            *rule = (Rule){ 1, ID_NONE, 0, "F begins at 0 or above" };
        else if (k == n - 1)
            *rule = (Rule){ n - 1, ID_NONE, 1, "F ends with 1" };
        else if (k == n)
            *rule = (Rule){ RULE_ONE, n - 1, 0, "F ends with 1" };
        return k <= n;
    case DRAW_COUNT: break;
    }
    BUG("unknown Draw");
}

static bool literal_of(const Node *node, uint32_t which, double *value)
{
    *value = 1;
    if (which == RULE_ONE)
        return true;
    if (which != RULE_SUM)
        return is_number(node->u.call.args[which], value);
    *value = 0;
    for (uint32_t k = 1; k < node->u.call.n; k += 2) {
        double weight;
        if (!is_number(node->u.call.args[k], &weight))
            return false;
        *value += weight;
    }
    return true;
}

/* Parameters that are literals; all others are looked at when a number is drawn. */
static void check_parameters(Checker *checker, Node *node)
{
    Rule rule;
    for (uint32_t k = 0; rule_of((Draw)node->u.call.draw, node->u.call.n, k, &rule); k++) {
        double above, below = rule.least;
        if (!literal_of(node, rule.above, &above) || (rule.below != ID_NONE && !literal_of(node, rule.below, &below)) ||
            above >= below)
            continue;
        const bool is_argument = rule.above < node->u.call.n;
        REPORT(checker, DIAG_MDL_DISTRIBUTION, is_argument ? node->u.call.args[rule.above]->span : node->span,
               "no such distribution: %s", rule.rule);
        diag_help(checker->diag, "the form is %s", draws[node->u.call.draw].form);
        node->is_bad = true;
        return;
    }
}

static uint8_t find_draw(const Names *names, const Node *node)
{
    uint8_t draw = 0;
    while (draw < DRAW_COUNT && strcmp(draws[draw].name, names_of(names, node->u.call.name.name)) != 0)
        draw++;
    return draw;
}

bool mdl_is_draw(const Names *names, const Node *node)
{
    return node->kind == NODE_CALL && find_draw(names, node) < DRAW_COUNT;
}

bool mdl_has_draw(const Names *names, const Node *node)
{
    if (node->kind == NODE_UNARY)
        return mdl_has_draw(names, node->u.operand[0]);
    if (node->kind == NODE_BINARY || node->kind == NODE_COMPARE)
        return mdl_has_draw(names, node->u.operand[0]) || mdl_has_draw(names, node->u.operand[1]);
    for (uint32_t k = 0; node->kind == NODE_CALL && k < node->u.call.n; k++)
        if (mdl_has_draw(names, node->u.call.args[k]))
            return true;
    return mdl_is_draw(names, node);
}

bool mdl_check_draw(Checker *checker, Node *node)
{
    const uint8_t draw = find_draw(checker->scope.names, node);
    if (draw == DRAW_COUNT)
        return false;
    const uint32_t n = node->u.call.n;
    node->u.call.draw = draw;
    node->u.call.symbol = ID_NONE;
    node->type = REAL_TYPE;
    node->course = COURSE_DISCRETE;
    for (uint32_t k = 0; k < n; k++) {
        mdl_check_expression(checker, node->u.call.args[k]);
        node->is_bad |= node->u.call.args[k]->is_bad;
        const uint8_t kind = node->u.call.args[k]->type.kind;
        if (!node->is_bad && kind != TYPE_REAL && kind != TYPE_INTEGER)
            report(checker, node, node->u.call.args[k]->span, "an argument of a distribution is a number");
    }
    if (node->is_bad)
        return true;
    if (!checker->may_draw)
        report(checker, node, node->span,
               "a random number is drawn in the assignments of an event, in conditions of IF there and in initial "
               "values of state variables only");
    else if (checker->is_in_reduction)
        report(checker, node, node->span, "a random number cannot be drawn in SUM, PROD, MIN, MAX, ALL and ANY");
    else if (draws[draw].arity ? n != draws[draw].arity : n < 4 || n % 2 != 0)
        report(checker, node, node->span, "the distribution has other arguments");
    else if (draw == DRAW_ERLANG && !is_order(node->u.call.args[1]))
        report(checker, node, node->u.call.args[1]->span,
               "the order of an Erlang distribution is a number from 1 to 100");
    else
        check_parameters(checker, node);
    if (checker->event)
        checker->event->u.event.has_draw = true;
    return true;
}

/* ---- lowering ---- */
typedef struct {
    Model *model;
    Pool *pool;
    const Expr *key, *count;
} Drawer;

static VarId add_variable(Model *model, const char *prefix, const char *site, Span span)
{
    const NameId name = names_text(pool_names(model->pool), arena_format(model->arena, "$%s.%s", prefix, site));
    const VarId var = model_add_variable(model, (InstanceId){ 0 }, name, INTEGER_TYPE, span);
    model_var(model, var)->is_generated = true;
    return var;
}

/* Several streams of one name are numbered. */
static const char *own_site(const Model *model, const char *base)
{
    const Names *names = pool_names(model->pool);
    const char *site = base;
    uint32_t same = 1;
    for (uint32_t k = 0; k < model->streams.n; k++)
        if (strcmp(names_of(names, model->streams.at[k].name), site) == 0) {
            site = arena_format(model->arena, "%s.%u", base, ++same);
            k = UINT32_MAX; /* again from the first */
        }
    return site;
}

static VarId add_stream(Model *model, const char *site, bool is_counted, Span span)
{
    const VarId key = add_variable(model, "key", site, span),
                count = is_counted ? add_variable(model, "count", site, span) : VAR_NONE;
    model_var(model, key)->variability = VARIABILITY_PARAMETER;
    model_var(model, key)->definition = DEFINITION_BINDING;
    model_var(model, key)->binding = term_integer(model, 0);
    if (is_counted) {
        model_var(model, count)->variability = VARIABILITY_DISCRETE;
        model_var(model, count)->definition = DEFINITION_NEXT;
        model_var(model, count)->is_fixed = true;
        model_var(model, count)->start = term_integer(model, 0);
    }
    const Stream stream = { names_text(pool_names(model->pool), site), { 0 }, key, count, span };
    vec_push(model->arena, &model->streams, stream);
    return key;
}

/* The stream of a call: of an event, or of an initial value, which is drawn once. */
static void name_stream(Drawer *d, Lower *lower, const Node *node)
{
    Model *model = d->model;
    const char *base = arena_format(model->arena, "%s%s.%s", lower->is_start ? "start." : "",
                                    draws[node->u.call.draw].name, names_of(pool_names(model->pool), lower->target));
    for (uint32_t k = 0; k < lower->written.n; k++)
        base = arena_format(model->arena, "%s.%lld", base, (long long)lower->written.at[k]->value);
    const char *site = base;
    if (lower->element && lower->n_of_element++ == 0)
        site = arena_format(model->arena, "%s.%llu", base, (unsigned long long)lower->element);
    else if (lower->element)
        site = arena_format(model->arena, "%s.%llu.%u", base, (unsigned long long)lower->element, lower->n_of_element);
    else
        site = own_site(model, base);
    const VarId key = add_stream(model, site, !lower->is_start, node->span);
    d->key = mdl_lower_own_leaf(lower, ref_now(key));
    if (lower->is_start) {
        d->count = expr_integer(d->pool, 0);
        return;
    }
    const VarId count = model->streams.at[model->streams.n - 1].count;
    vec_push(model->arena, &lower->drawn, count);
    d->count = mdl_lower_own_leaf(lower, ref_now(count));
}

/* The uniform number of position j of this draw. */
static const Expr *uniform(Drawer *d, uint32_t j)
{
    const Expr *first = expr_binary(d->pool, OP_MUL, d->count, expr_integer(d->pool, POSITIONS));
    const Expr *position = expr_binary(d->pool, OP_ADD, first, expr_integer(d->pool, j));
    return expr_binary(d->pool, OP_RANDOM, d->key, position);
}

static const Expr *times(Drawer *d, const Expr *a, const Expr *b)
{
    return expr_binary(d->pool, OP_MUL, a, b);
}

/* mean/order times the sum of `order` exponential numbers of mean 1. */
static const Expr *erlang(Drawer *d, const Expr *mean, uint32_t order)
{
    const Expr *sum = expr_unary(d->pool, OP_LOG, uniform(d, 0));
    for (uint32_t k = 1; k < order; k++)
        sum = expr_binary(d->pool, OP_ADD, sum, expr_unary(d->pool, OP_LOG, uniform(d, k)));
    const Expr *each = order == 1 ? mean : expr_binary(d->pool, OP_DIV, mean, expr_real(d->pool, order));
    return expr_unary(d->pool, OP_NEG, times(d, each, sum));
}

/* Box and Muller: mean + sigma sqrt(-2 ln u0) cos(2 pi u1). */
static const Expr *normal(Drawer *d, const Expr *mean, const Expr *sigma)
{
    const Expr *log = expr_unary(d->pool, OP_LOG, uniform(d, 0));
    const Expr *radius = expr_unary(d->pool, OP_SQRT, times(d, expr_real(d->pool, -2.0), log));
    const Expr *angle = times(d, expr_real(d->pool, 6.283185307179586), uniform(d, 1));
    return expr_binary(d->pool, OP_ADD, mean, times(d, sigma, times(d, radius, expr_unary(d->pool, OP_COS, angle))));
}

/* Values with weights: the first whose sum of weights is above u times all of them. */
static const Expr *discrete(Drawer *d, uint32_t n, const Expr *const *args)
{
    const Expr *all = args[1];
    for (uint32_t k = 3; k < n; k += 2)
        all = expr_binary(d->pool, OP_ADD, all, args[k]);
    const Expr *drawn = times(d, uniform(d, 0), all), *result = args[n - 2];
    for (uint32_t k = n - 2; k >= 2; k -= 2) {
        const Expr *sum = args[1];
        for (uint32_t j = 3; j < k; j += 2)
            sum = expr_binary(d->pool, OP_ADD, sum, args[j]);
        result = expr_if(d->pool, expr_literal_relation(d->pool, OP_LT, drawn, sum), args[k - 2], result);
    }
    return result;
}

/* Values with the probability of not more than them: linear between them. */
static const Expr *continuous(Drawer *d, uint32_t n, const Expr *const *args)
{
    const Expr *u = uniform(d, 0), *result = args[n - 2];
    for (uint32_t k = n - 2; k >= 2; k -= 2) {
        const Expr *low = args[k - 2], *p = args[k - 1];
        const Expr *slope = expr_binary(d->pool, OP_DIV, expr_binary(d->pool, OP_SUB, args[k], low),
                                        expr_binary(d->pool, OP_SUB, args[k + 1], p));
        const Expr *here = expr_binary(d->pool, OP_ADD, low, times(d, slope, expr_binary(d->pool, OP_SUB, u, p)));
        result = expr_if(d->pool, expr_literal_relation(d->pool, OP_LT, u, args[k + 1]), here, result);
    }
    return expr_if(d->pool, expr_literal_relation(d->pool, OP_LT, u, args[1]), args[0], result);
}

static const Expr *parameter(Drawer *d, uint32_t n, const Expr *const *args, uint32_t which, double number)
{
    if (which < n)
        return args[which];
    if (which != RULE_SUM)
        return expr_real(d->pool, which == RULE_ONE ? 1 : number);
    const Expr *sum = args[1];
    for (uint32_t k = 3; k < n; k += 2)
        sum = expr_binary(d->pool, OP_ADD, sum, args[k]);
    return sum;
}

/* The number, or no value where a parameter makes no sense. */
static const Expr *checked(Drawer *d, Draw draw, uint32_t n, const Expr *const *args, const Expr *number)
{
    Rule rule;
    for (uint32_t k = 0; rule_of(draw, n, k, &rule); k++) {
        const Expr *above = parameter(d, n, args, rule.above, 0);
        const Expr *below = parameter(d, n, args, rule.below, rule.least);
        if (expr_is_constant(above) && expr_is_constant(below))
            continue; /* looked at already */
        number = expr_if(d->pool, expr_literal_relation(d->pool, OP_GE, above, below), number,
                         expr_binary(d->pool, OP_AT_LEAST, above, below));
    }
    return number;
}

static const Expr *draw_number(Drawer *d, const Node *node, uint32_t n, const Expr *const *args)
{
    switch ((Draw)node->u.call.draw) {
    case DRAW_UNIFORM:
        return expr_binary(d->pool, OP_ADD, args[0],
                           times(d, expr_binary(d->pool, OP_SUB, args[1], args[0]), uniform(d, 0)));
    case DRAW_EXPO: return erlang(d, args[0], 1);
    case DRAW_ERLANG: return erlang(d, args[0], (uint32_t)node->u.call.args[1]->u.number);
    case DRAW_NORMAL: return normal(d, args[0], args[1]);
    case DRAW_EMPDISC: return discrete(d, n, args);
    case DRAW_EMPCONT: return continuous(d, n, args);
    case DRAW_COUNT: break;
    }
    BUG("unknown Draw");
}

const Expr *mdl_lower_draw(Lower *lower, const Node *node)
{
    Drawer d = { .model = lower->model, .pool = lower->model->pool };
    const uint32_t n = node->u.call.n;
    const Expr **args = NEW_ARRAY(lower->model->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        args[k] = mdl_lower_expression(lower, node->u.call.args[k], true);
    name_stream(&d, lower, node);
    return checked(&d, (Draw)node->u.call.draw, n, args, draw_number(&d, node, n, args));
}

Assignment mdl_count_draw(Lower *lower, VarId count, const Assignment *drawing)
{
    Model *model = lower->model;
    TermBuilder builder = term_builder(model);
    const Expr *one_more =
        expr_binary(model->pool, OP_ADD, term_leaf(&builder, ref_now(count)), expr_integer(model->pool, 1));
    return (Assignment){ .target = term_ref(model, ref_now(count)),
                         .guard = drawing->guard,
                         .value = term_finish(&builder, one_more),
                         .span = drawing->span };
}

bool mdl_compose_draw(Checker *checker, Model *model, Node *node, const char *path, Term *value)
{
    Drawer d = { .model = model, .pool = model->pool, .count = expr_integer(model->pool, 0) };
    checker->may_draw = true;
    if (!mdl_check_draw(checker, node) || node->is_bad)
        return false;
    const uint32_t n = node->u.call.n;
    const Expr **args = NEW_ARRAY(model->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        args[k] = expr_real(d.pool, node->u.call.args[k]->u.number);
    const char *base = arena_format(model->arena, "start.%s.%s", draws[node->u.call.draw].name, path);
    const VarId key = add_stream(model, base, false, node->span); /* a quantity is initialised once */
    TermBuilder builder = term_builder(model);
    d.key = term_leaf(&builder, ref_now(key));
    *value = term_finish(&builder, checked(&d, (Draw)node->u.call.draw, n, args, draw_number(&d, node, n, args)));
    return true;
}
