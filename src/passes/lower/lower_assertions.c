/* lower-assertions: an assertion is a transition that fires when its condition does not hold.
 *
 * Its comparisons are events, so a violation is found when it begins, whatever steps a solver makes; a trial of the
 * solver beyond it reports nothing. It fires at the start, too, and a warning once each time that it begins. Where
 * nothing watches the condition (noEvent, a function of what moves) it is looked at after each accepted step. */
#include "base/text.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    const Assertion *assertion;
    uint32_t number;
} Lowering;

static bool moves(const Model *m, Ref ref)
{
    if (ref.kind == REF_TIME || ref.kind == REF_DER || ref.kind == REF_LAST)
        return true;
    return ref.kind == REF_NOW && model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS;
}

static bool is_silent_shape(const Expr *e)
{
    bool found = e->kind == EXPR_FUNCTION || (e->kind == EXPR_CALL && op_is_relation((Op)e->op) && e->is_literal);
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = is_silent_shape(e->args[k]);
    return found;
}

/* Nothing tells when it changes between events. */
static bool is_silent(const Model *m, Term condition)
{
    bool any = false;
    for (uint32_t k = 0; k < condition.shape->n_leaves && !any; k++)
        any = moves(m, term_refs(m, condition)[k]);
    return any && is_silent_shape(condition.shape);
}

/* Whether it is told already: over a range, of the point that the loop variables name. */
static const Expr *said_here(const Lowering *l, TermBuilder *builder, VarId said)
{
    Pool *pool = l->model->pool;
    const Domain *d = &l->model->domains.at[l->assertion->domain.index];
    const Expr *index[UINT8_MAX];
    for (uint32_t k = 0; k < d->n; k++) {
        const Iterator *i = &l->model->iterators.at[d->first + k];
        const Expr *from_0 = expr_binary(pool, OP_SUB, expr_iterator(pool, k), expr_integer(pool, i->first));
        index[k] = expr_binary(pool, OP_ADD, expr_binary(pool, OP_IDIV, from_0, expr_integer(pool, i->stride)),
                               expr_integer(pool, 1));
    }
    return d->n ? term_element(builder, ref_now(said), d->n, index) : term_leaf(builder, ref_now(said));
}

static Term violated(Lowering *l, VarId said, bool is_said)
{
    Model *m = l->model;
    TermBuilder builder = term_builder(m);
    const Expr *e = expr_unary(m->pool, OP_NOT, term_import(&builder, l->assertion->condition));
    if (!var_is_none(said)) {
        const Expr *known = said_here(l, &builder, said);
        e = is_said ? expr_binary(m->pool, OP_AND, term_import(&builder, l->assertion->condition), known)
                    : expr_binary(m->pool, OP_AND, e, expr_unary(m->pool, OP_NOT, known));
    }
    return term_finish(&builder, e);
}

static VarId add_said(Lowering *l)
{
    Model *m = l->model;
    const Assertion *a = l->assertion;
    Names *names = pool_names(m->pool);
    const char *own = names_of(names, a->name);
    const char *name = *own ? own : arena_format(l->c->scratch, "assertion %u", l->number + 1);
    const VarId said = model_add_variable(m, a->owner, names_text(names, arena_format(l->c->scratch, "$said %s", name)),
                                          BOOLEAN_TYPE, a->span);
    Variable *v = model_var(m, said);
    v->variability = VARIABILITY_DISCRETE;
    v->definition = DEFINITION_NEXT;
    v->is_fixed = v->is_generated = true;
    v->start = term_boolean(m, false);
    const Domain *d = &m->domains.at[a->domain.index];
    v->type.rank = (uint8_t)d->n;
    v->first_dim = m->dims.n;
    for (uint32_t k = 0; k < d->n; k++) {
        const int64_t count = m->iterators.at[d->first + k].count;
        const Dim dim = { term_integer(m, count), count };
        vec_push(m->arena, &m->dims, dim);
    }
    return said;
}

/* Texts of assertions are no formats. */
static NameId without_format(const Lowering *l, NameId text)
{
    Names *names = pool_names(l->model->pool);
    Text plain = { .arena = l->c->scratch };
    text_add(&plain, "");
    for (const char *at = names_of(names, text); *at; at++) {
        text_char(&plain, *at);
        if (*at == '%')
            text_char(&plain, '%');
    }
    return names_add(names, plain.at, plain.n);
}

static Term both(Lowering *l, Term a, Term b, bool is_negated)
{
    Model *m = l->model;
    TermBuilder builder = term_builder(m);
    const Expr *second = term_import(&builder, b);
    if (is_negated)
        second = expr_unary(m->pool, OP_NOT, second);
    return term_finish(&builder,
                       term_is_absent(a) ? second : expr_binary(m->pool, OP_AND, term_import(&builder, a), second));
}

/* What is told: an error, a warning, or one of them as a parameter says. */
static uint32_t list_actions(Lowering *l, Term guard, Action actions[2])
{
    const Assertion *a = l->assertion;
    Action action = { .kind = a->level == ASSERT_ERROR ? ACTION_FAIL : ACTION_WARNING,
                      .guard = guard,
                      .span = a->span };
    if (a->message.shape->kind == EXPR_STRING)
        action.text = without_format(l, a->message.shape->u.text);
    else
        action.message = a->message;
    actions[0] = actions[1] = action;
    if (term_is_absent(a->warns))
        return 1;
    actions[0].guard = both(l, guard, a->warns, true);
    actions[1].guard = both(l, guard, a->warns, false);
    actions[1].kind = ACTION_WARNING;
    return 2;
}

/* condition absent: at the start, where `guard` holds. said: becomes `value`; none: nothing is remembered. */
static void add_transition(Lowering *l, Trigger trigger, Term condition, Term guard, VarId said, bool value)
{
    Model *m = l->model;
    const Assertion *a = l->assertion;
    const Transition head = { .trigger = (uint8_t)trigger,
                              .effect = EFFECT_NEXT,
                              .form = FORM_SET,
                              .edge_start = EDGE_START_FALSE,
                              .domain = a->domain,
                              .region = a->region,
                              .branch = a->branch,
                              .owner = a->owner,
                              .origin = { .span = a->span, .made_by = "lower-assertions", .parent = EQ_NONE } };
    const bool tells = var_is_none(said) || value;
    Action actions[2];
    const uint32_t n_actions = tells ? list_actions(l, guard, actions) : 0;
    TermBuilder builder = term_builder(m);
    const Term target = var_is_none(said) ? TERM_NONE : term_finish(&builder, said_here(l, &builder, said));
    const Assignment remember = { .target = target, .guard = guard, .value = term_boolean(m, value), .span = a->span };
    model_add_transition(m, &head, !term_is_absent(condition), &condition, !var_is_none(said), &remember, n_actions,
                         actions);
}

static void lower(Lowering *l)
{
    const Assertion *a = l->assertion;
    const bool is_error = a->level == ASSERT_ERROR && term_is_absent(a->warns),
               is_quiet = is_silent(l->model, a->condition);
    if (is_error || !is_quiet)
        add_transition(l, TRIGGER_EDGE, violated(l, VAR_NONE, false), TERM_NONE, VAR_NONE, false);
    if (is_error && is_quiet)
        add_transition(l, TRIGGER_STEP, violated(l, VAR_NONE, false), TERM_NONE, VAR_NONE, false);
    if (is_error || !is_quiet)
        return;
    const VarId said = add_said(l);
    add_transition(l, TRIGGER_INITIAL, TERM_NONE, violated(l, VAR_NONE, false), said, true);
    add_transition(l, TRIGGER_STEP, violated(l, said, false), TERM_NONE, said, true);
    add_transition(l, TRIGGER_STEP, violated(l, said, true), TERM_NONE, said, false);
}

bool lower_assertions(Compile *c)
{
    Model *m = c->model;
    for (uint32_t k = 0; k < m->assertions.n; k++) {
        const Assertion a = m->assertions.at[k];
        lower(&(Lowering){ c, m, &a, k });
    }
    m->assertions.n = 0;
    return true;
}
