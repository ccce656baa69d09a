/* find-events: every comparison that can change between events becomes a relation with a bit of its own; functions
 * with steps become step functions, functions with kinks become a choice by a relation. A relation that is affine in
 * time with coefficients that change only at events is a calendar entry; all others are root functions.
 *
 * Bodies of transitions are evaluated in event steps only: their comparisons stay literal. */
#include "base/bug.h"
#include "base/map.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "passes/keep_comparisons.h"
#include <math.h>

enum { MOST_GUARDS = 8 };
typedef struct {
    Compile *c;
    Model *model;
    Map relations;       /* hash -> first relation of a chain */
    VEC(uint32_t) next;  /* chain of relations with equal hash */
    uint8_t *has_events; /* per node id: 0 unknown, 1 no, 2 yes */
    uint32_t n_known;
    uint32_t *definition; /* per variable: 1 + its only explicit scalar equation outside regions, or 0; else 1 + one
                           * without direction that has it alone on the left: it holds whatever it is solved for */
    uint8_t *affine;      /* per variable: 0 unknown, 1 affine in time, 2 not, 3 being computed */
    uint32_t n_variables;
    Simplifier *simplifier;
    /* the term being rewritten */
    TermBuilder builder;
    RegionId region;
    uint16_t branch;
    DomainId domain; /* of the equation: each point of it has bits of its own; the first one with these ranges */
    Map domains;     /* hash of the ranges -> the first domain with them */
    InstanceId owner;
    Origin origin;
    bool is_guarded;                 /* inside a branch, or behind another condition */
    const Expr *guards[MOST_GUARDS]; /* of the branches around: literally, when they are not chosen */
    uint32_t n_guards;
} Finder;

static bool is_event(const Expr *e)
{
    const bool is_table = e->kind == EXPR_TABLE && e->n_args == 1;
    return is_table ? table_has_kinks((TableMethod)e->u.table->method) : !e->is_literal && expr_is_corner(e);
}

static bool shape_has_events(Finder *f, const Expr *e)
{
    if (e->id < f->n_known && f->has_events[e->id])
        return f->has_events[e->id] == 2;
    bool any = is_event(e);
    for (uint32_t k = 0; k < e->n_args && !any; k++)
        any = shape_has_events(f, e->args[k]);
    if (e->id < f->n_known)
        f->has_events[e->id] = any ? 2 : 1;
    return any;
}

static bool ref_is_moving(const Model *m, Ref ref)
{
    if (ref.kind == REF_TIME)
        return true;
    if (ref.kind == REF_DER)
        return true;
    return (ref.kind == REF_NOW || ref.kind == REF_LAST) &&
           model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS;
}

/* `e` is numbered by the builder. */
static bool is_moving(const Finder *f, const Expr *e)
{
    if (e->n_leaves == 0)
        return false;
    if (e->kind == EXPR_LEAF)
        return ref_is_moving(f->model, f->builder.refs.at[e->u.leaf]);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (is_moving(f, e->args[k]))
            return true;
    return false;
}

/* ---- affine in time ---- */
typedef struct {
    bool ok;
    const Expr *slope, *offset; /* slope NULL: zero */
} Affine;
static const Affine NOT_AFFINE = { false, NULL, NULL };

static const Expr *add(Finder *f, Op op, const Expr *a, const Expr *b)
{
    Pool *pool = f->model->pool;
    if (!a && !b)
        return NULL;
    if (!b)
        return a;
    if (!a)
        return op == OP_SUB ? expr_unary(pool, OP_NEG, b) : b;
    return expr_binary(pool, op, a, b);
}

static Affine affine_of(Finder *f, const Expr *e, uint32_t depth);

static Affine affine_leaf(Finder *f, const Expr *e, uint32_t depth)
{
    const Ref ref = f->builder.refs.at[e->u.leaf];
    if (ref.kind == REF_TIME)
        return (Affine){ true, expr_real(f->model->pool, 1.0), expr_real(f->model->pool, 0.0) };
    if (!ref_is_moving(f->model, ref))
        return (Affine){ true, NULL, e };
    if (ref.kind != REF_NOW || ref.var.index >= f->n_variables || !f->definition[ref.var.index] || e->n_args ||
        f->affine[ref.var.index] >= 2)
        return NOT_AFFINE;
    uint8_t *known = &f->affine[ref.var.index];
    const Equation *equation = &f->model->equations.at[f->definition[ref.var.index] - 1];
    *known = 3;
    const Affine result = affine_of(f, term_import(&f->builder, equation->rhs), depth + 1);
    *known = result.ok ? 1 : 2;
    return result;
}

static Affine affine_call(Finder *f, const Expr *e, uint32_t depth)
{
    Pool *pool = f->model->pool;
    const Affine a = affine_of(f, e->args[0], depth);
    if (!a.ok)
        return NOT_AFFINE;
    if (e->op == OP_NEG)
        return (Affine){ true, a.slope ? expr_unary(pool, OP_NEG, a.slope) : NULL, expr_unary(pool, OP_NEG, a.offset) };
    if (e->n_args != 2)
        return NOT_AFFINE;
    const Affine b = affine_of(f, e->args[1], depth);
    if (!b.ok)
        return NOT_AFFINE;
    switch ((Op)e->op) {
    case OP_ADD:
    case OP_SUB:
        return (Affine){ true, add(f, (Op)e->op, a.slope, b.slope), expr_binary(pool, (Op)e->op, a.offset, b.offset) };
    case OP_MUL:
        if (a.slope && b.slope)
            return NOT_AFFINE;
        if (a.slope)
            return (Affine){ true, expr_binary(pool, OP_MUL, a.slope, b.offset),
                             expr_binary(pool, OP_MUL, a.offset, b.offset) };
        return (Affine){ true, b.slope ? expr_binary(pool, OP_MUL, a.offset, b.slope) : NULL,
                         expr_binary(pool, OP_MUL, a.offset, b.offset) };
    case OP_DIV:
        if (b.slope)
            return NOT_AFFINE;
        return (Affine){ true, a.slope ? expr_binary(pool, OP_DIV, a.slope, b.offset) : NULL,
                         expr_binary(pool, OP_DIV, a.offset, b.offset) };
    default: return NOT_AFFINE;
    }
}

static Affine affine_of(Finder *f, const Expr *e, uint32_t depth)
{
    enum { DEEPEST = 60 };
    if (e->type.kind != TYPE_REAL || depth > DEEPEST)
        return NOT_AFFINE;
    if (!is_moving(f, e))
        return (Affine){ true, NULL, e };
    if (e->kind == EXPR_LEAF)
        return affine_leaf(f, e, depth);
    if (e->kind == EXPR_CALL && !expr_is_corner(e))
        return affine_call(f, e, depth + 1);
    return NOT_AFFINE;
}

/* ---- relations ---- */
static bool same_term(const Model *m, Term a, Term b)
{
    if (a.shape != b.shape)
        return false;
    for (uint32_t k = 0; k < a.shape->n_leaves; k++)
        if (!ref_equal(term_refs(m, a)[k], term_refs(m, b)[k]))
            return false;
    return true;
}

static uint64_t hash_term(const Model *m, Term t, uint64_t h)
{
    h = hash_mix(h, t.shape->id);
    for (uint32_t k = 0; k < t.shape->n_leaves; k++)
        h = hash_mix(h, (uint64_t)term_refs(m, t)[k].kind << 32 | term_refs(m, t)[k].var.index);
    return h;
}

/* A term from an expression in the builder's numbering; the builder is kept. */
static Term take(Finder *f, const Expr *e)
{
    return term_make(f->model, simplifier_run(f->simplifier, e), f->builder.refs.at);
}

static void classify(Finder *f, Relation *r, const Expr *left, const Expr *right)
{
    Pool *pool = f->model->pool;
    const Affine a = affine_of(f, left, 0), b = affine_of(f, right, 0);
    r->kind = RELATION_STATE;
    if (!a.ok || !b.ok)
        return;
    const Expr *slope = add(f, OP_SUB, a.slope, b.slope);
    if (!slope)
        return;
    slope = simplifier_run(f->simplifier, slope);
    if (expr_is_real(slope, 0.0))
        return;
    r->kind = RELATION_TIME;
    r->slope = take(f, slope);
    /* The usual case, time against a discrete value, needs no arithmetic: the flip time is that value. */
    if (a.slope && !b.slope && expr_is_real(simplifier_run(f->simplifier, a.slope), 1.0) &&
        expr_is_real(simplifier_run(f->simplifier, a.offset), 0.0))
        r->flip = take(f, b.offset);
    else if (b.slope && !a.slope && expr_is_real(simplifier_run(f->simplifier, b.slope), 1.0) &&
             expr_is_real(simplifier_run(f->simplifier, b.offset), 0.0))
        r->flip = take(f, a.offset);
    else
        r->flip = take(f, expr_binary(pool, OP_DIV, expr_binary(pool, OP_SUB, b.offset, a.offset), slope));
}

static uint64_t hash_relation(const Finder *f, Term left, Term right, bool is_strict)
{
    const uint64_t place =
        hash_mix(f->domain.index, (uint64_t)is_strict << 48 | (uint64_t)f->branch << 32 | f->region.index);
    return hash_term(f->model, right, hash_term(f->model, left, place));
}

/* The bit of a relation that is already there, or VAR_NONE. */
static VarId find_relation(const Finder *f, Term left, Term right, bool is_strict)
{
    const Model *m = f->model;
    uint32_t first;
    const bool found = map_get(&f->relations, hash_relation(f, left, right, is_strict), &first);
    for (uint32_t k = found ? first : ID_NONE; k != ID_NONE; k = f->next.at[k]) {
        Relation *other = &m->relations.at[k];
        if (other->is_strict == is_strict && other->region.index == f->region.index && other->branch == f->branch &&
            other->domain.index == f->domain.index && same_term(m, other->left, left) &&
            same_term(m, other->right, right)) {
            other->is_guarded &= f->is_guarded;
            return other->bit;
        }
    }
    return VAR_NONE;
}

static VarId add_relation(Finder *f, Relation r, const Expr *left, const Expr *right)
{
    Model *m = f->model;
    const uint64_t hash = hash_relation(f, r.left, r.right, r.is_strict);
    uint32_t first;
    const bool found = map_get(&f->relations, hash, &first);
    classify(f, &r, left, right);
    r.bit = model_add_generated(m, "k", m->relations.n + 1, BOOLEAN_TYPE, f->origin.span);
    give_points(m, r.bit, f->domain);
    vec_push(m->arena, &m->relations, r);
    vec_push(f->c->scratch, &f->next, found ? first : ID_NONE);
    map_put(&f->relations, hash, m->relations.n - 1);
    return r.bit;
}

static bool uses_loops(const Expr *e)
{
    bool any = e->kind == EXPR_ITERATOR;
    for (uint32_t k = 0; k < e->n_args && e->has_index && !any; k++)
        any = uses_loops(e->args[k]);
    return any;
}

/* x <= c is the contrary of x > c: they are one relation, so that a crossing decides both. */
static const Expr *bit_of(Finder *f, const Expr *left, const Expr *right, bool is_strict)
{
    const Relation r = { .left = take(f, left),
                         .right = take(f, right),
                         .is_strict = is_strict,
                         .is_guarded = f->is_guarded,
                         .region = f->region,
                         .branch = f->branch,
                         .domain = f->domain,
                         .owner = f->owner,
                         .origin = f->origin };
    VarId v = find_relation(f, r.left, r.right, is_strict);
    if (var_is_none(v)) {
        v = find_relation(f, r.right, r.left, !is_strict);
        if (!var_is_none(v))
            return expr_unary(f->model->pool, OP_NOT, ref_at_point(&f->builder, ref_now(v), f->domain));
        v = add_relation(f, r, left, right);
    }
    return ref_at_point(&f->builder, ref_now(v), f->domain);
}

/* What is the same at all points of a range is one comparison. */
static const Expr *bit(Finder *f, const Expr *left, const Expr *right, bool is_strict)
{
    const DomainId domain = f->domain;
    if (!uses_loops(left) && !uses_loops(right))
        f->domain = (DomainId){ 0 };
    const Expr *found = bit_of(f, left, right, is_strict);
    f->domain = domain;
    return found;
}

static const Expr *rewrite_relation(Finder *f, const Expr *e)
{
    const Expr *a = e->args[0], *b = e->args[1];
    switch ((Op)e->op) {
    case OP_GT: return bit(f, a, b, true);
    case OP_GE: return bit(f, a, b, false);
    case OP_LT: return bit(f, b, a, true);
    case OP_LE: return bit(f, b, a, false);
    default: break;
    }
    diag_error(f->c->diag, DIAG_EQUALITY_OF_REALS, f->origin.span,
               "continuous quantities cannot be compared for equality: %s",
               term_text(f->model, take(f, e), f->c->scratch));
    diag_help(f->c->diag, "compare with < or >= and let the event make its own condition false");
    return e;
}

/* The frozen Integer value of a step function of `argument`. */
static const Expr *step_value(Finder *f, StepOp op, const Table *table, const Expr *argument)
{
    Model *m = f->model;
    StepFunction s = { .op = (uint8_t)op,
                       .table = table,
                       .kind = RELATION_STATE,
                       .is_guarded = f->is_guarded,
                       .region = f->region,
                       .branch = f->branch,
                       .owner = f->owner,
                       .origin = f->origin };
    s.argument = take(f, argument);
    for (uint32_t k = 0; k < m->steps.n; k++) { /* the same one twice in one equation is common: X/2 - floor(X/2) */
        StepFunction *other = &m->steps.at[m->steps.n - 1 - k];
        if (k >= 8)
            break;
        if (other->op == s.op && other->table == s.table && other->region.index == s.region.index &&
            other->branch == s.branch && same_term(m, other->argument, s.argument)) {
            other->is_guarded &= f->is_guarded;
            return term_leaf(&f->builder, ref_now(other->value));
        }
    }
    const Affine a = affine_of(f, argument, 0);
    if (a.ok && a.slope) {
        s.kind = RELATION_TIME;
        s.slope = take(f, a.slope);
        s.offset = take(f, a.offset);
    }
    s.value = model_add_generated(m, "s", m->steps.n + 1, INTEGER_TYPE, f->origin.span);
    vec_push(m->arena, &m->steps, s);
    return term_leaf(&f->builder, ref_now(s.value));
}

static const Expr *rewrite_step(Finder *f, const Expr *e)
{
    static const uint8_t ops[] = { STEP_FLOOR, STEP_CEIL, STEP_TRUNC, STEP_ROUND };
    const bool is_integer = e->op >= OP_IFLOOR;
    const StepOp op = ops[is_integer ? e->op - OP_IFLOOR : e->op - OP_FLOOR];
    const Expr *value = step_value(f, op, NULL, e->args[0]);
    return is_integer ? value : expr_unary(f->model->pool, OP_REAL, value);
}

/* Inside a step of the integrator the table is the polynomial of one interval: its points are events. */
static const Expr *rewrite_table(Finder *f, const Expr *e)
{
    const Expr *interval = step_value(f, STEP_INTERVAL, e->u.table, e->args[0]);
    return expr_table(f->model->pool, e->u.table, e->op, e->args[0], interval);
}

static const Expr *rewrite_kink(Finder *f, const Expr *e)
{
    Pool *pool = f->model->pool;
    const Expr *a = e->args[0], *zero = expr_real(pool, 0.0);
    switch ((Op)e->op) {
    case OP_ABS: return expr_if(pool, bit(f, a, zero, false), a, expr_unary(pool, OP_NEG, a));
    case OP_MIN: return expr_if(pool, bit(f, a, e->args[1], true), e->args[1], a);
    case OP_MAX: return expr_if(pool, bit(f, e->args[1], a, true), e->args[1], a);
    case OP_SIGN:
        return expr_if(pool, bit(f, a, zero, true), expr_real(pool, 1.0),
                       expr_if(pool, bit(f, zero, a, true), expr_real(pool, -1.0), zero));
    default: BUG("no kink");
    }
}

/* ---- angles ---- */
static const double PI = 3.14159265358979323846;

/* atan2(y, x) jumps by 2 pi where y passes 0 with x < 0. The bit says on which side of the cut it is: false for x < 0
 * and y < 0, which has another border where x passes 0 with y < 0, so that none lies where an angle is small. Beyond
 * the cut, as far as the bit is frozen, the value goes on. */
static const Expr *rewrite_angle(Finder *f, const Expr *e)
{
    Pool *pool = f->model->pool;
    const Expr *y = e->args[0], *x = e->args[1], *zero = expr_real(pool, 0.0), *turn = expr_real(pool, 2 * PI);
    const Expr *larger = expr_if(pool, expr_literal_relation(pool, OP_GT, x, y), x, y);
    const Expr *is_below =
        expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_LT, y, zero),
                    expr_literal_relation(pool, OP_GT, y, x)); /* beyond the cut, not the other border */
    const Expr *is_above = expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_LT, x, zero),
                                       expr_literal_relation(pool, OP_GT, e, zero));
    return expr_if(pool, bit(f, larger, zero, false), expr_if(pool, is_below, expr_binary(pool, OP_ADD, e, turn), e),
                   expr_if(pool, is_above, expr_binary(pool, OP_SUB, e, turn), e));
}

/* atan(x/y) jumps by pi where y passes 0. As far as the bit of y >= 0 is frozen it goes on beyond that. */
static const Expr *rewrite_quotient_angle(Finder *f, const Expr *e)
{
    Pool *pool = f->model->pool;
    const Expr *x = e->args[0]->args[0], *y = e->args[0]->args[1], *zero = expr_real(pool, 0.0);
    if (!is_moving(f, y))
        return e;
    const Expr *half =
        expr_if(pool, expr_literal_relation(pool, OP_GE, x, zero), expr_real(pool, PI), expr_real(pool, -PI));
    const Expr *is_above = expr_literal_relation(pool, OP_GE, y, zero);
    return expr_if(pool, bit(f, y, zero, false), expr_if(pool, is_above, e, expr_binary(pool, OP_ADD, e, half)),
                   expr_if(pool, is_above, expr_binary(pool, OP_SUB, e, half), e));
}

/* ---- branches that have no value beyond their borders ----
 * In q = if h > 0 then sqrt(h) else -sqrt(-h) the bit of h > 0 is frozen in a step, and pinned where h was found to be
 * 0 to rounding: the branch is computed where it has no value. Just beyond its border it goes on with the value it has
 * there. Where the comparison says literally that the branch is to be taken, nothing is changed: what has no value
 * there is an error. */
static bool is_root(const Expr *e)
{
    return e->kind == EXPR_CALL &&
           (e->op == OP_SQRT || (e->op == OP_POW && e->args[1]->kind == EXPR_REAL && e->args[1]->u.real > 0));
}

static bool has_root(const Expr *e, uint32_t depth)
{
    if (is_root(e))
        return true;
    for (uint32_t k = 0; k < e->n_args && depth < 16; k++)
        if (has_root(e->args[k], depth + 1))
            return true;
    return false;
}

static const Expr *any_of(Pool *pool, const Expr *a, const Expr *b)
{
    return a ? expr_binary(pool, OP_OR, a, b) : b;
}

/* `e` is a root, rewritten; `before` what it was. */
static const Expr *extend_root(Finder *f, const Expr *e, const Expr *before)
{
    Pool *pool = f->model->pool;
    const Expr *zero = expr_real(pool, 0.0), *beyond = NULL;
    for (uint32_t k = 0; k < f->n_guards; k++)
        beyond = any_of(pool, beyond, f->guards[k]);
    if (e->args[0] != before->args[0]) /* sqrt(abs(h)): the bit is inside */
        beyond = any_of(pool, beyond, expr_literal_relation(pool, OP_GE, expr_no_event(pool, before->args[0]), zero));
    if (!beyond)
        return e;
    const Expr *at_border = expr_literal_relation(pool, OP_GE, e->args[0], zero);
    const Expr *none = expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_LE, e->args[0], zero),
                                   expr_binary(pool, OP_OR, at_border, beyond));
    return expr_if(pool, none, zero, e);
}

/* ---- roots that go through their border ----
 * if h > 0 then sqrt(h) else -sqrt(-h) and sign(h)*sqrt(abs(h)) are continuous, with an infinite slope at 0: what comes
 * to rest there does so in a finite time, and would cross 0 by rounding for ever. Where both sides are the same at the
 * border, found by evaluating them at some points of it, the comparison decides nothing but which formula is the right
 * one: it is literal, and no event. */
enum { PROBES = 6 };
static const double ROOT_OF_SAME = 1e-6; /* of numbers around 1, where rounding is 1e-16 */

static double probe_value(Ref ref, uint32_t probe)
{
    return 0.25 + (double)(hash_mix(hash_mix(ref.var.index + 1, ref.kind), probe + 1) % 1000003) / 1000003;
}

static bool real_at(const Expr *e, const Value *leaves, double *value)
{
    Value result;
    if (e->type.kind != TYPE_REAL || !expr_evaluate(e, leaves, NULL, &result) || !isfinite(result.r))
        return false;
    *value = result.r;
    return true;
}

/* Moves one of the leaves so that `difference` is 0 there. */
static bool go_to_border(const Finder *f, const Expr *difference, Value *leaves)
{
    for (uint32_t k = 0; k < f->builder.refs.n; k++) {
        const double from = leaves[k].r;
        double a, b, c;
        if (!ref_is_moving(f->model, f->builder.refs.at[k]) || !real_at(difference, leaves, &a))
            continue;
        leaves[k].r = from + 1;
        if (real_at(difference, leaves, &b) && a != b) {
            leaves[k].r = from - a / (b - a);
            if (real_at(difference, leaves, &c) && fabs(c) <= 1e-12 * (fabs(a) + fabs(b))) {
                if (c != 0 && from - a / (b - a) != 0)
                    leaves[k].r -= c / (b - a);
                return true;
            }
        }
        leaves[k].r = from;
    }
    return false;
}

/* Are `one` and `other` (NULL: 0) the same wherever `difference` is 0? */
static bool meet(const Finder *f, const Expr *difference, const Expr *one, const Expr *other)
{
    Value *leaves = NEW_ARRAY(f->c->scratch, Value, f->builder.refs.n + 1);
    uint32_t n_seen = 0;
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        for (uint32_t k = 0; k < f->builder.refs.n; k++) {
            const Ref ref = f->builder.refs.at[k];
            const bool is_real = ref.kind == REF_TIME || ref_type(f->model, ref).kind == TYPE_REAL;
            if (is_real)
                leaves[k].r = probe_value(ref, probe);
            else
                leaves[k].i = 1;
        }
        double a, b = 0;
        if (!go_to_border(f, difference, leaves))
            return false;
        if (!real_at(one, leaves, &a) || (other && !real_at(other, leaves, &b)))
            continue; /* the root of a negative number that is rounding */
        if (!(fabs(a - b) <= ROOT_OF_SAME))
            return false;
        n_seen++;
    }
    return n_seen >= PROBES / 2;
}

static bool passes_its_border(const Finder *f, const Expr *e)
{
    Pool *pool = f->model->pool;
    if (e->kind == EXPR_IF && e->args[0]->kind == EXPR_CALL && op_is_relation((Op)e->args[0]->op) &&
        e->args[0]->args[0]->type.kind == TYPE_REAL && (has_root(e->args[1], 0) || has_root(e->args[2], 0)))
        return meet(f, expr_binary(pool, OP_SUB, e->args[0]->args[0], e->args[0]->args[1]),
                    expr_no_event(pool, e->args[1]), expr_no_event(pool, e->args[2]));
    if (e->kind != EXPR_CALL || e->op != OP_MUL)
        return false;
    for (uint32_t k = 0; k < 2; k++)
        if (e->args[k]->kind == EXPR_CALL && e->args[k]->op == OP_SIGN && has_root(e->args[1 - k], 0))
            return meet(f, e->args[k]->args[0], expr_no_event(pool, e->args[1 - k]), NULL);
    return false;
}

static void begin_branch(Finder *f, const Expr *condition, bool is_then)
{
    Pool *pool = f->model->pool;
    const Expr *literal = expr_no_event(pool, condition);
    if (f->n_guards < MOST_GUARDS)
        f->guards[f->n_guards++] = is_then ? expr_unary(pool, OP_NOT, literal) : literal;
}

static const Expr *rewrite(Finder *f, const Expr *e)
{
    if (e->n_args == 0 || (!shape_has_events(f, e) && (f->n_guards == 0 || !has_root(e, 0))))
        return e;
    if (passes_its_border(f, e))
        return expr_no_event(f->model->pool, e);
    const Expr *few[8];
    const Expr **args = e->n_args <= 8 ? few : NEW_ARRAY(f->c->scratch, const Expr *, e->n_args);
    const bool before = f->is_guarded;
    const bool is_choice =
        e->kind == EXPR_IF || (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR)); /* the first decides */
    const bool is_branched = e->kind == EXPR_IF && shape_has_events(f, e->args[0]);
    const uint32_t n_guards = f->n_guards;
    const Expr *original = e;
    for (uint32_t k = 0; k < e->n_args; k++) {
        f->is_guarded = before || (is_choice && k > 0);
        if (is_branched && k > 0)
            begin_branch(f, e->args[0], k == 1);
        args[k] = rewrite(f, e->args[k]);
        f->n_guards = n_guards;
    }
    f->is_guarded = before;
    e = expr_with_args(f->model->pool, e, args);
    if (is_root(e))
        return extend_root(f, e, original);
    if (!is_event(e) || !is_moving(f, e))
        return e;
    if (e->kind == EXPR_TABLE)
        return rewrite_table(f, e);
    if (op_is_relation((Op)e->op))
        return rewrite_relation(f, e);
    if (e->op == OP_ATAN2)
        return rewrite_angle(f, e);
    if (e->op == OP_ATAN)
        return rewrite_quotient_angle(f, e);
    return e->op >= OP_FLOOR ? rewrite_step(f, e) : rewrite_kink(f, e);
}

static void rewrite_term(Finder *f, Term *term, RegionId region, uint16_t branch, Origin origin)
{
    if (!term->shape || !shape_has_events(f, term->shape))
        return;
    f->region = region;
    f->branch = branch;
    f->origin = origin;
    f->builder.refs.n = 0;
    const Expr *e = rewrite(f, term_import(&f->builder, *term));
    *term = take(f, e);
}

/* Comparisons that are equal at equal points are one, whatever equations and transitions they stand in. */
static DomainId first_domain(Finder *f, DomainId domain)
{
    const Model *m = f->model;
    const Domain *d = &m->domains.at[domain.index];
    uint64_t hash = d->n;
    uint32_t first;
    for (uint32_t k = 0; k < d->n; k++) {
        const Iterator *i = &m->iterators.at[d->first + k];
        hash = hash_mix(hash_mix(hash, (uint64_t)i->first), hash_mix((uint64_t)i->stride, (uint64_t)i->count));
    }
    if (!map_get(&f->domains, hash, &first)) {
        map_put(&f->domains, hash, domain.index);
        return domain;
    }
    return domains_are_equal(m, domain, (DomainId){ first }) ? (DomainId){ first } : domain;
}

/* v = e, always. */
static bool is_plain_residual(const Model *m, const Equation *e)
{
    return e->kind == EQUATION_RESIDUAL && e->region.index == ID_NONE && !e->domain.index &&
           e->when_valid == VALID_ALWAYS && e->lhs.shape->kind == EXPR_LEAF && e->lhs.shape->n_args == 0 &&
           e->lhs.shape->type.rank == 0 && term_refs(m, e->lhs)[0].kind == REF_NOW;
}

static void find_definitions(Finder *f)
{
    const Model *m = f->model;
    uint32_t *residual = NEW_ARRAY(f->c->scratch, uint32_t, f->n_variables + 1);
    for (uint32_t k = m->equations.n; k-- > 0;)
        if (is_plain_residual(m, &m->equations.at[k]))
            residual[term_refs(m, m->equations.at[k].lhs)[0].var.index] = k + 1;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_EXPLICIT || e->lhs.shape->n_args)
            continue;
        const Ref target = term_refs(m, e->lhs)[0];
        if (target.kind != REF_NOW)
            continue;
        if (e->region.index != ID_NONE || e->domain.index || f->definition[target.var.index])
            f->affine[target.var.index] = 2;
        f->definition[target.var.index] = k + 1;
    }
    for (uint32_t k = 0; k < f->n_variables; k++)
        if (!f->definition[k])
            f->definition[k] = residual[k];
}

bool find_events(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->variables.n, n_nodes = pool_count(m->pool);
    Finder f = { .c = c,
                 .model = m,
                 .n_variables = n,
                 .n_known = n_nodes,
                 .builder = term_builder(m),
                 .has_events = NEW_ARRAY(c->scratch, uint8_t, n_nodes),
                 .definition = NEW_ARRAY(c->scratch, uint32_t, n),
                 .affine = NEW_ARRAY(c->scratch, uint8_t, n),
                 .simplifier = simplifier_create(m->pool, c->scratch) };
    map_init(&f.relations, c->scratch, 64);
    map_init(&f.domains, c->scratch, 16);
    find_definitions(&f);
    for (uint32_t k = 0; k < m->regions.n; k++) {
        const Region r = m->regions.at[k];
        for (uint32_t j = 0; j < r.n_conditions; j++) {
            f.owner = r.owner;
            f.is_guarded = j > 0; /* ELSIF: looked at only when those before do not hold */
            rewrite_term(&f, &m->conditions.at[r.first_condition + j], r.parent, r.parent_branch,
                         (Origin){ .span = r.span, .parent = EQ_NONE });
        }
        f.is_guarded = false;
    }
    for (uint32_t k = 0; k < m->equations.n; k++) {
        Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_DROPPED)
            continue;
        f.owner = e->owner;
        f.domain = first_domain(&f, e->domain);
        if (e->kind == EQUATION_RESIDUAL)
            rewrite_term(&f, &e->lhs, e->region, e->branch, e->origin);
        rewrite_term(&f, &e->rhs, e->region, e->branch, e->origin);
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition t = m->transitions.at[k];
        f.owner = t.owner;
        f.domain = first_domain(&f, t.domain);
        for (uint32_t j = 0; t.trigger != TRIGGER_STEP && j < t.n_conditions; j++) /* those are never located */
            rewrite_term(&f, &m->conditions.at[t.first_condition + j], t.region, t.branch, t.origin);
    }
    return diag_errors(c->diag) == 0;
}
