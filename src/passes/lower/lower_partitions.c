/* lower-partitions: equations of a clock hold in the steps of its ticks.
 *
 * Each clock that has equations gets a transition that acts now: `v := e` becomes an assignment of it, an equation
 * without direction one that holds when it fires, an algorithm a procedure. Its variables are discrete and keep their
 * values from tick to tick, so `pre(v)` is the value at the tick before, and the start value at the first one.
 *
 * Differential equations of a clock are solved by one step of its method from tick to tick (inline integration): der(x)
 * becomes an unknown d, and x follows from the value and the slope at the tick before. At the first tick the step has
 * length 0. Methods with stages have a copy of all equations of the clock for each of them, in which x has the value of
 * the stage, and what comes from elsewhere the mean of its values at the two ticks, where the stage lies between them.
 */
#include "base/bug.h"
#include "ir/walk.h"
#include "passes/instantiate.h"

enum { MOST_STAGES = 3 };

/* How x follows: x = pre(x) + h*(sum of weight * slope)/divisor; slope 0 is that of the tick before, then come those of
 * the stages, last that of this tick. */
typedef struct {
    uint32_t n_stages;
    bool is_half[MOST_STAGES]; /* the stage lies in the middle */
    double stage[MOST_STAGES]; /* x there = pre(x) + this*h*slope of the stage before */
    double weight[MOST_STAGES + 2];
} Method;

static const Method methods[] = {
    [METHOD_EXPLICIT_EULER] = { .weight = { 1 } },
    [METHOD_EXPLICIT_MIDPOINT] = { 1, { true }, { 0.5 }, { 0, 1 } },
    [METHOD_EXPLICIT_RUNGE_KUTTA] = { 3,
                                      { true, true, false },
                                      { 0.5, 0.5, 1 },
                                      { 1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6 } },
    [METHOD_IMPLICIT_EULER] = { .weight = { 0, 1 } },
    [METHOD_IMPLICIT_TRAPEZOID] = { .weight = { 0.5, 0.5 } },
};

/* What stands for a variable or reference in a stage. */
typedef struct {
    Ref ref;
    VarId half; /* the mean */
} Mean;

typedef struct {
    Compile *c;
    Model *model;
    uint32_t clock;       /* 1 + its number */
    uint32_t n_variables; /* without those that are made for it */
    uint32_t n_equations;
    VarId length; /* of the step: 0 at the first tick */
    VarId *slope; /* per variable: der(x); none */
    VarId *copy;  /* of the stage that is made; none */
    VarId *slope_copy;
    VEC(Mean) means;
} Partition;

/* ---- messages ---- */
static void report(Compile *c, Span span, const char *what, const char *help)
{
    diag_error(c->diag, DIAG_CLOCK, span, "%s", what);
    diag_help(c->diag, "%s", help);
}

static void refuse(Compile *c, Span span, const char *what)
{
    diag_error(c->diag, DIAG_NOT_YET, span, "%s cannot be executed yet", what);
}

static Ref target_of(const Model *m, Term term)
{
    return term_refs(m, term)[term.shape->u.leaf];
}

static void check_equation(Compile *c, const Equation *e)
{
    const Model *m = c->model;
    const bool is_directed = equation_is_directed(e);
    const uint32_t of = is_directed ? model_var(m, target_of(m, e->lhs).var)->clock : e->clock;
    if (of != e->clock && e->when_valid != VALID_INITIAL_ONLY)
        report(c, e->origin.span, "this equation and the variable it defines do not belong to one clock",
               "end both with the same `clock k1`, or leave it out in both");
    if (!e->clock)
        return;
    if (e->region.index != ID_NONE)
        refuse(c, e->origin.span, "an equation of a clock in a branch");
    else if (e->when_valid != VALID_ALWAYS || e->when || e->kind == EQUATION_ITERATION)
        report(c, e->origin.span, "this equation of a clock holds at other times, too",
               "an equation of a clock has no `initial`, `running`, `when` or `~`");
}

typedef struct {
    Compile *c;
} DerivativeCheck;

/* der(x) of a variable of a clock stands in equations of that clock only. */
static void check_derivatives(void *context, Term term, const TermPlace *place)
{
    Compile *c = ((DerivativeCheck *)context)->c;
    const Model *m = c->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind != REF_DER || !model_var(m, ref.var)->clock)
            continue;
        if (place->list != LIST_EQUATIONS || m->equations.at[place->index].clock != model_var(m, ref.var)->clock)
            report(c, place->span, "the derivative of a variable of a clock stands outside of its equations",
                   "give it a name in an equation of the clock, and read that");
    }
}

/* ---- building ---- */
static VarId add_variable(Partition *p, VarId like, const char *format)
{
    Model *m = p->model;
    const Variable v = *model_var(m, like);
    Names *names = pool_names(m->pool);
    const NameId name = names_text(names, arena_format(p->c->scratch, format, names_of(names, v.name)));
    const VarId made = model_add_variable(m, v.owner, name, v.type, v.span);
    Variable *row = model_var(m, made);
    row->first_dim = v.first_dim;
    row->variability = VARIABILITY_DISCRETE;
    row->definition = DEFINITION_CLOCKED;
    row->clock = p->clock;
    row->is_generated = true;
    if (!v.type.rank) /* arrays: an element of one names its array there */
        row->origin = like;
    return made;
}

/* A variable of the clock itself. */
static VarId add_own(Partition *p, const char *name, Type type)
{
    Model *m = p->model;
    const Clock c = m->clocks.at[p->clock - 1];
    const char *full = arena_format(p->c->scratch, "$%s %u", name, p->clock);
    const VarId made = model_add_variable(m, c.owner, names_text(pool_names(m->pool), full), type, c.span);
    Variable *row = model_var(m, made);
    row->variability = VARIABILITY_DISCRETE;
    row->definition = DEFINITION_CLOCKED;
    row->clock = p->clock;
    row->is_generated = true;
    return made;
}

static const Expr *leaf(TermBuilder *builder, Ref ref)
{
    const Expr *index[UINT8_MAX];
    const uint32_t rank = ref.kind == REF_TIME || ref.kind == REF_INTERVAL ? 0 : ref_type(builder->model, ref).rank;
    for (uint32_t k = 0; k < rank; k++)
        index[k] = expr_iterator(builder->model->pool, k);
    return rank ? term_element(builder, ref, rank, index) : term_leaf(builder, ref);
}

/* v[i] := value, which is made of the elements. */
static void define(Partition *p, VarId v, TermBuilder *builder, const Expr *value)
{
    Model *m = p->model;
    const Term rhs = term_finish(builder, value);
    const DomainId domain = domain_of_array(m, v);
    const Term lhs = term_finish(builder, leaf(builder, ref_now(v)));
    const EqId made = model_add_equation(m, EQUATION_EXPLICIT, lhs, rhs, model_var(m, v)->span);
    Equation *e = &m->equations.at[made.index];
    e->domain = domain;
    e->clock = p->clock;
    e->owner = model_var(m, v)->owner;
    e->origin.made_by = "lower-partitions";
}

/* ---- methods ---- */
static bool is_own(const Partition *p, Ref ref)
{
    return ref.kind <= REF_START && ref.var.index < p->n_variables && model_var(p->model, ref.var)->clock == p->clock;
}

/* The mean of what is read at this tick and at the one before. */
static VarId mean_of(Partition *p, Ref ref)
{
    Model *m = p->model;
    for (uint32_t k = 0; k < p->means.n; k++)
        if (ref_equal(p->means.at[k].ref, ref))
            return p->means.at[k].half;
    TermBuilder builder = term_builder(m);
    VarId here, half;
    if (ref.kind == REF_TIME)
        here = add_own(p, "time", REAL_TYPE);
    else
        here = add_variable(p, ref.var, ref.kind == REF_PRE ? "$sampled %s" : "$read %s");
    define(p, here, &builder, leaf(&builder, ref));
    half = add_variable(p, here, "%s half");
    const Expr *sum = expr_binary(m->pool, OP_ADD, leaf(&builder, ref_now(here)), leaf(&builder, ref_pre(here)));
    define(p, half, &builder, expr_binary(m->pool, OP_MUL, expr_real(m->pool, 0.5), sum));
    const Mean mean = { ref, half };
    vec_push(p->c->scratch, &p->means, mean);
    return half;
}

static Ref ref_in_stage(Partition *p, Ref ref, bool is_half)
{
    if (is_own(p, ref)) {
        if (ref.kind == REF_NOW)
            return ref_now(p->copy[ref.var.index]);
        return ref.kind == REF_DER ? ref_now(p->slope_copy[ref.var.index]) : ref;
    }
    if (!is_half || (ref.kind != REF_NOW && ref.kind != REF_PRE && ref.kind != REF_TIME))
        return ref;
    if (ref.kind != REF_TIME && (model_var(p->model, ref.var)->type.kind != TYPE_REAL ||
                                 model_var(p->model, ref.var)->variability <= VARIABILITY_PARAMETER))
        return ref;
    return ref_now(mean_of(p, ref));
}

/* The term with other references; stage: of the stage, else der(x) is its unknown. */
static Term replace(Partition *p, Term term, bool is_stage, bool is_half)
{
    Model *m = p->model;
    if (term_is_absent(term) || term.shape->n_leaves == 0)
        return term;
    Ref *refs = NEW_ARRAY(p->c->scratch, Ref, term.shape->n_leaves);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        refs[k] = is_stage                                ? ref_in_stage(p, ref, is_half)
                  : ref.kind == REF_DER && is_own(p, ref) ? ref_now(p->slope[ref.var.index])
                                                          : ref;
    }
    return term_make(m, term.shape, refs);
}

/* The time since the tick before; at the first one there is none: x keeps its start value. */
static void define_length(Partition *p)
{
    Model *m = p->model;
    const VarId begun = add_own(p, "begun", BOOLEAN_TYPE);
    model_var(m, begun)->is_generated = false; /* who goes on from an earlier run knows by its row that it has not */
    model_var(m, begun)->is_protected = true;
    p->length = add_own(p, "length", REAL_TYPE);
    TermBuilder builder = term_builder(m);
    define(p, begun, &builder, expr_boolean(m->pool, true));
    const Expr *is_later = term_leaf(&builder, ref_pre(begun));
    const Expr *interval = term_leaf(&builder, (Ref){ { p->clock - 1 }, REF_INTERVAL });
    define(p, p->length, &builder, expr_if(m->pool, is_later, interval, expr_real(m->pool, 0)));
}

/* x := pre(x) + h*(sum of factors * slopes) */
static void step(Partition *p, VarId to, VarId x, uint32_t n, const double *factor, const Ref *slope)
{
    Model *m = p->model;
    TermBuilder builder = term_builder(m);
    const Expr *sum = NULL;
    for (uint32_t k = 0; k < n; k++) {
        if (factor[k] == 0)
            continue;
        const Expr *part = leaf(&builder, slope[k]);
        if (factor[k] != 1)
            part = expr_binary(m->pool, OP_MUL, expr_real(m->pool, factor[k]), part);
        sum = sum ? expr_binary(m->pool, OP_ADD, sum, part) : part;
    }
    REQUIRE(sum);
    const Expr *length = term_leaf(&builder, ref_now(p->length));
    const Expr *before = leaf(&builder, ref_pre(x));
    define(p, to, &builder, expr_binary(m->pool, OP_ADD, before, expr_binary(m->pool, OP_MUL, length, sum)));
}

static void make_stage(Partition *p, const Method *method, uint32_t stage, VarId *const *slopes)
{
    Model *m = p->model;
    for (uint32_t k = 0; k < p->n_variables; k++) {
        if (m->variables.at[k].clock != p->clock)
            continue;
        const VarId x = { k };
        p->copy[k] = add_variable(p, x, arena_format(p->c->scratch, "$stage%u %%s", stage + 1));
        if (var_is_none(p->slope[k]))
            continue;
        p->slope_copy[k] = slopes[stage + 1][k] =
            add_variable(p, x, arena_format(p->c->scratch, "$slope%u %%s", stage + 1));
        const Ref slope = stage ? ref_now(slopes[stage][k]) : ref_pre(p->slope[k]);
        step(p, p->copy[k], x, 1, &method->stage[stage], &slope);
    }
    for (uint32_t k = 0; k < p->n_equations; k++) {
        const Equation e = m->equations.at[k];
        if (e.clock != p->clock || e.kind == EQUATION_DROPPED)
            continue;
        if (e.kind == EQUATION_ALGORITHM) {
            refuse(p->c, e.origin.span, "an algorithm of a clock whose method has stages");
            continue;
        }
        Equation made = e;
        made.lhs = replace(p, e.lhs, true, method->is_half[stage]);
        made.rhs = replace(p, e.rhs, true, method->is_half[stage]);
        made.name = names_text(pool_names(m->pool), "");
        made.origin.made_by = "lower-partitions";
        made.origin.parent.index = k;
        vec_push(m->arena, &m->equations, made);
    }
}

/* Each x that has a derivative in an equation of the clock gets an unknown for it. */
static bool find_slopes(Partition *p)
{
    Model *m = p->model;
    bool any = false;
    for (uint32_t k = 0; k < p->n_equations; k++) {
        const Equation e = m->equations.at[k];
        const Term sides[] = { e.lhs, e.rhs };
        for (uint32_t side = 0; side < 2 && e.clock == p->clock; side++)
            for (uint32_t j = 0; sides[side].shape && j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[side])[j];
                if (ref.kind != REF_DER || !is_own(p, ref) || !var_is_none(p->slope[ref.var.index]))
                    continue;
                any = true;
                p->slope[ref.var.index] = add_variable(p, ref.var, "$der %s");
            }
    }
    return any;
}

static void discretise(Partition *p)
{
    Model *m = p->model;
    const Clock clock = m->clocks.at[p->clock - 1];
    VarId *slopes[MOST_STAGES + 1];
    if (!find_slopes(p))
        return;
    if (clock.method == METHOD_NONE) {
        report(p->c, clock.span, "differential equations belong to this clock, which has no method",
               "write for example: method ImplicitEuler");
        return;
    }
    const Method *method = &methods[clock.method];
    define_length(p);
    for (uint32_t stage = 0; stage < method->n_stages; stage++) {
        slopes[stage + 1] = NEW_ARRAY(p->c->scratch, VarId, p->n_variables + 1);
        make_stage(p, method, stage, slopes);
    }
    for (uint32_t k = 0; k < p->n_variables; k++) {
        Ref slope[MOST_STAGES + 2];
        if (var_is_none(p->slope[k]))
            continue;
        slope[0] = ref_pre(p->slope[k]);
        for (uint32_t stage = 1; stage <= method->n_stages; stage++)
            slope[stage] = ref_now(slopes[stage][k]);
        slope[method->n_stages + 1] = ref_now(p->slope[k]);
        step(p, (VarId){ k }, (VarId){ k }, method->n_stages + 2, method->weight, slope);
    }
    for (uint32_t k = 0; k < p->n_equations; k++)
        if (m->equations.at[k].clock == p->clock) {
            const Equation e = m->equations.at[k];
            const Term lhs = replace(p, e.lhs, false, false), rhs = replace(p, e.rhs, false, false);
            m->equations.at[k].lhs = lhs;
            m->equations.at[k].rhs = rhs;
        }
}

static void discretise_clock(Compile *c, uint32_t clock, uint32_t n_equations)
{
    const uint32_t n = c->model->variables.n;
    Partition p = { .c = c,
                    .model = c->model,
                    .clock = clock + 1,
                    .n_variables = n,
                    .n_equations = n_equations,
                    .slope = NEW_ARRAY(c->scratch, VarId, n + 1),
                    .copy = NEW_ARRAY(c->scratch, VarId, n + 1),
                    .slope_copy = NEW_ARRAY(c->scratch, VarId, n + 1) };
    for (uint32_t k = 0; k < n; k++)
        p.slope[k] = p.copy[k] = p.slope_copy[k] = VAR_NONE;
    discretise(&p);
}

/* ---- equations become transitions ---- */
static Transition head_of(const Model *m, uint32_t clock, const Equation *e)
{
    return (Transition){
        .trigger = TRIGGER_TICK,
        .effect = EFFECT_NOW,
        .form = e ? FORM_PROCEDURE : FORM_SET,
        .object = clock,
        .body = e ? e->body : 0,
        .domain = e ? e->domain : (DomainId){ 0 },
        .region = REGION_NONE,
        .owner = e ? e->owner : m->clocks.at[clock].owner,
        .name = e ? e->name : names_text(pool_names(m->pool), ""),
        .origin = e ? e->origin
                    : (Origin){ .span = m->clocks.at[clock].span, .made_by = "lower-partitions", .parent = EQ_NONE }
    };
}

/* One transition for all assignments, then one for each algorithm. */
static void lower_clock(Compile *c, uint32_t clock)
{
    Model *m = c->model;
    VEC(Assignment) set = { 0 };
    bool any = false;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        Equation *e = &m->equations.at[k];
        if (e->clock != clock + 1 || e->kind == EQUATION_DROPPED)
            continue;
        any = true;
        if (e->kind == EQUATION_EXPLICIT && !e->domain.index && e->lhs.shape->type.rank == 0) {
            const Assignment row = { .target = e->lhs, .value = e->rhs, .span = e->origin.span };
            vec_push(c->scratch, &set, row);
            e->kind = EQUATION_DROPPED;
        } else if (e->kind == EQUATION_EXPLICIT) {
            e->kind = EQUATION_RESIDUAL;
        }
    }
    if (!any)
        return;
    const Transition head = head_of(m, clock, NULL);
    const TransitionId made = model_add_transition(m, &head, 0, NULL, set.n, set.at, 0, NULL);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        Equation *e = &m->equations.at[k];
        if (e->clock != clock + 1 || e->kind == EQUATION_DROPPED)
            continue;
        if (e->kind == EQUATION_RESIDUAL) {
            e->when = made.index + 1;
            continue;
        }
        const Transition procedure = head_of(m, clock, e);
        e->kind = EQUATION_DROPPED;
        e->body = 0;
        model_add_transition(m, &procedure, 0, NULL, 0, NULL, 0, NULL);
    }
}

static bool is_needed(Compile *c)
{
    const Model *m = c->model;
    bool any = false;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        any |= v->clock != 0;
        c->has_pulses |= v->definition == DEFINITION_PULSE;
        if (v->definition == DEFINITION_CLOCKED && !v->clock) {
            any = true;
            report(c, v->span, "this variable is computed at ticks, but of no clock", "write for example: clock k1");
        }
    }
    for (uint32_t k = 0; k < m->equations.n && m->clocks.n && !any; k++)
        any = m->equations.at[k].clock != 0;
    return any;
}

/* From here on they are discrete variables like others. */
static void define_variables(Model *m)
{
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        if (!v->clock)
            continue;
        v->variability = VARIABILITY_DISCRETE;
        v->definition = DEFINITION_NOW;
    }
}

bool lower_partitions(Compile *c)
{
    Model *m = c->model;
    if (!is_needed(c))
        return true;
    const uint32_t n = m->equations.n;
    for (uint32_t k = 0; k < n; k++)
        check_equation(c, &m->equations.at[k]);
    model_visit_terms(m, ELEMENTS_ALL, check_derivatives, &(DerivativeCheck){ c });
    for (uint32_t k = 0; k < m->clocks.n && diag_errors(c->diag) == 0; k++)
        discretise_clock(c, k, n);
    for (uint32_t k = 0; k < m->clocks.n && diag_errors(c->diag) == 0; k++)
        lower_clock(c, k);
    define_variables(m);
    return diag_errors(c->diag) == 0;
}
