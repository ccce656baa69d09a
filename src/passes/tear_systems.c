/* tear-systems: of each system of equations only a few unknowns are iterated; the others follow explicitly.
 *
 * An equation may be solved for an unknown if it is linear in it with a coefficient that cannot vanish in a run: a number, an
 * expression of parameters that is not zero, a product of such. What can be zero, as the position of a switch, is never
 * divided by. Systems that decide together with comparisons stay whole: with all pivots to choose from, zeros come out
 * as zeros. The choice is made on integers, see graph/tearing.h. */
#include "base/bug.h"
#include "base/map.h"
#include "graph/tearing.h"
#include "ir/derive.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "ir/solve.h"
#include "passes/pipeline.h"
#include <math.h>

/* How much explicit rows may magnify errors: of rounding, 12 digits are left; of an iteration, which ends at some 1e-12,
 * 10. A system that becomes much smaller may magnify a hundred times more; mechanisms seem to do so by their rotations. */
static const double MOST_GROWTH[] = { [BLOCK_LINEAR] = 1e4, [BLOCK_NEWTON] = 100 };
static const double MORE_OF_FEW = 100;
static const double EXTREME = 1e30; /* coefficient: products of a few overflow or vanish; the system stays whole */
static const uint32_t FEW = 8;      /* such a system has so many times fewer unknowns */

typedef struct {
    Compile *c;
    Model *model;
    double *value;    /* per variable: of a parameter; NAN: none */
    bool *has_value;  /* per variable: it was looked for */
    Map coefficients; /* of residual and leaf, see coefficient_of */
} Passage;

typedef struct { /* a system under consideration */
    Block *block;
    SystemRow *rows;
    Map columns;
    VEC(uint32_t) start, index;
    VEC(uint8_t) solvable;
    VEC(double) magnitude;
    uint8_t *has_start; /* per unknown: a start value is given, so it is a good one to iterate */
    bool has_array;     /* some row reads elements of an array that only the run knows */
    bool is_extreme;    /* some coefficient is */
} System;

/* ---- coefficients ---- */
static double parameter_value(Passage *p, Ref ref, uint32_t depth);

/* NAN: it has no value before the run. */
static double known_value(Passage *p, const Expr *e, const Ref *refs, uint32_t depth)
{
    enum { DEEPEST = 100, MOST_LEAVES = 64 };
    Value leaves[MOST_LEAVES], value;
    if (depth > DEEPEST || e->n_leaves > MOST_LEAVES || e->type.kind != TYPE_REAL || e->type.rank || e->has_call)
        return NAN;
    for (uint32_t k = 0; k < e->n_leaves; k++) {
        leaves[k].r = 0;
        if (!expr_uses_leaf(e, k))
            continue;
        const double known = parameter_value(p, refs[k], depth);
        if (isnan(known))
            return NAN;
        if (ref_type(p->model, refs[k]).kind == TYPE_REAL)
            leaves[k].r = known;
        else
            leaves[k].i = (int64_t)known;
    }
    return expr_evaluate(e, leaves, NULL, &value) ? value.r : NAN;
}

static double parameter_value(Passage *p, Ref ref, uint32_t depth)
{
    if (ref.kind != REF_NOW || var_is_none(ref.var))
        return NAN;
    const uint32_t k = ref.var.index;
    const Variable *v = model_var(p->model, ref.var);
    if (p->has_value[k])
        return p->value[k];
    p->has_value[k] = true;
    p->value[k] = NAN; /* also for a ring */
    if (v->definition != DEFINITION_BINDING || term_is_absent(v->binding) || v->type.rank)
        return NAN;
    const Expr *e = v->binding.shape;
    double value = NAN;
    if (e->kind == EXPR_INTEGER || e->kind == EXPR_ENUM)
        value = (double)e->u.integer;
    else if (e->kind == EXPR_BOOLEAN)
        value = (double)e->u.integer;
    else
        value = known_value(p, e, term_refs(p->model, v->binding), depth + 1);
    return p->value[k] = value;
}

/* ---- magnitudes: of coefficients at the start, for judging how errors grow ---- */
static Value guessed_leaf(Passage *p, Ref ref)
{
    const Type type = ref_type(p->model, ref);
    double value = parameter_value(p, ref, 0);
    if (isnan(value) && ref.kind != REF_DER && !var_is_none(ref.var)) {
        const Term start = model_var(p->model, ref.var)->start;
        if (!term_is_absent(start) && start.shape->kind == EXPR_REAL)
            value = start.shape->u.real;
        else if (!term_is_absent(start) && start.shape->type.kind == TYPE_REAL)
            value = known_value(p, start.shape, term_refs(p->model, start), 0);
    }
    if (!isfinite(value) || value == 0)
        value = 1; /* something in general position */
    return type.kind == TYPE_REAL ? (Value){ .r = value } : (Value){ .i = (int64_t)value };
}

/* 1 if nothing is known. */
static double magnitude_of(Passage *p, const Expr *e, const Ref *refs)
{
    enum { MOST_LEAVES = 64 };
    Value leaves[MOST_LEAVES], value;
    if (!e || e->n_leaves > MOST_LEAVES || e->has_call || e->has_index)
        return 1;
    for (uint32_t k = 0; k < e->n_leaves; k++)
        leaves[k] = guessed_leaf(p, refs[k]);
    if (!expr_evaluate(e, leaves, NULL, &value) || !isfinite(value.r) || value.r == 0)
        return 1;
    return fabs(value.r);
}

/* Whatever the variables in it are. `budget` bounds the search in shared nodes. */
static bool never_zero(Passage *p, const Expr *e, const Ref *refs, uint32_t *budget)
{
    if (*budget == 0)
        return false;
    --*budget;
    if (e->kind == EXPR_IF)
        return never_zero(p, e->args[1], refs, budget) && never_zero(p, e->args[2], refs, budget);
    if (e->kind == EXPR_CALL && e->op == OP_EXP)
        return true;
    if (e->kind == EXPR_CALL && e->op == OP_NEG)
        return never_zero(p, e->args[0], refs, budget);
    if (e->kind == EXPR_CALL && e->op == OP_DIV && isfinite(known_value(p, e->args[1], refs, 0)))
        return never_zero(p, e->args[0], refs, budget);
    if (e->kind == EXPR_CALL && e->op == OP_MUL && !isfinite(known_value(p, e, refs, 0)))
        return never_zero(p, e->args[0], refs, budget) && never_zero(p, e->args[1], refs, budget);
    const double value = known_value(p, e, refs, 0);
    return isfinite(value) && value != 0;
}

/* The partial derivative; whether it is a coefficient. Equal rows have equal ones. */
static const Expr *coefficient_of(Passage *p, const Expr *residual, uint32_t leaf, bool *is_linear)
{
    Pool *pool = p->model->pool;
    const uint64_t key = (uint64_t)residual->id << 32 | leaf;
    uint32_t known;
    if (!map_get(&p->coefficients, key, &known)) {
        const Expr *coefficient = NULL, *rest, *x = expr_leaf(pool, leaf, REAL_TYPE);
        *is_linear = expr_linear(pool, residual, x, &coefficient, &rest);
        if (!*is_linear)
            coefficient = expr_derive(pool, residual, x);
        known = coefficient ? 2 * coefficient->id + *is_linear + 1 : 0;
        map_put(&p->coefficients, key, known);
    }
    *is_linear = known && (known - 1) % 2;
    return known ? pool_node(pool, (known - 1) / 2) : NULL;
}

/* ---- a system as a graph ---- */
static uint64_t ref_key(Ref ref)
{
    return (uint64_t)ref.kind << 32 | ref.var.index;
}

static TermBuilder open_row(Passage *p, const SystemRow *row, const Expr **lhs, const Expr **rhs)
{
    TermBuilder builder = term_builder(p->model);
    *lhs = term_import(&builder, row->lhs);
    *rhs = term_import(&builder, row->rhs);
    return builder;
}

/* An array of which an unknown is an element, chosen at run time. */
static bool reads_element(const Passage *p, const System *s, Ref ref)
{
    uint32_t ignored;
    if (var_is_none(ref.var) || !variable_is_split(p->model, ref.var))
        return false;
    const Holders holders = ref_holders(p->model, ref);
    for (uint32_t k = 0; k < holders.n; k++)
        if (map_get(&s->columns, ref_key((Ref){ { holders.first + k }, ref.kind }), &ignored))
            return true;
    return false;
}

static void add_row(Passage *p, System *s, uint32_t row)
{
    Arena *scratch = p->c->scratch;
    const Expr *lhs, *rhs;
    const TermBuilder builder = open_row(p, &s->rows[row], &lhs, &rhs);
    const Expr *residual = expr_binary(p->model->pool, OP_SUB, lhs, rhs);
    vec_push(scratch, &s->start, s->index.n);
    for (uint32_t k = 0; k < builder.refs.n; k++) {
        uint32_t column, budget = 32;
        s->has_array |= reads_element(p, s, builder.refs.at[k]);
        if (!map_get(&s->columns, ref_key(builder.refs.at[k]), &column))
            continue;
        bool is_linear;
        const Expr *coefficient = coefficient_of(p, residual, k, &is_linear);
        if (coefficient && expr_is_real(coefficient, 0))
            continue; /* it cancels */
        vec_push(scratch, &s->index, column);
        vec_push(scratch, &s->solvable, is_linear && never_zero(p, coefficient, builder.refs.at, &budget));
        vec_push(scratch, &s->magnitude, magnitude_of(p, coefficient, builder.refs.at));
        const double size = s->magnitude.at[s->magnitude.n - 1];
        s->is_extreme |= !(size < EXTREME && size > 1 / EXTREME);
    }
}

static TearingProblem read_system(Passage *p, System *s)
{
    const uint32_t n = s->block->n_rows;
    map_init(&s->columns, p->c->scratch, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&s->columns, ref_key(s->rows[k].unknown), k);
    s->has_start = NEW_ARRAY(p->c->scratch, uint8_t, n);
    for (uint32_t k = 0; k < n; k++) {
        const Ref unknown = s->rows[k].unknown;
        s->has_start[k] = unknown.kind == REF_NOW && !term_is_absent(model_var(p->model, unknown.var)->start);
    }
    for (uint32_t k = 0; k < n; k++)
        add_row(p, s, k);
    vec_push(p->c->scratch, &s->start, s->index.n);
    const Incidence rows = { n, n, s->start.at, s->index.at };
    return (TearingProblem){ .rows = rows,
                             .solvable = s->solvable.at,
                             .is_preferred = s->has_start,
                             .magnitude = s->magnitude.at,
                             .most_growth = MORE_OF_FEW * MOST_GROWTH[s->block->kind] };
}

/* A linear system that stays large is solved as a whole: sparse, with pivots, at the same cost. */
static Tearing choose(Passage *p, System *s)
{
    TearingProblem problem = read_system(p, s);
    const uint32_t n = s->block->n_rows;
    if (s->has_array || s->is_extreme)
        return (Tearing){ 0 };
    Tearing found = tear_system(&problem, p->c->scratch, NULL);
    const double most = MOST_GROWTH[s->block->kind];
    if (found.n_cut || (found.growth > most && (n - found.n_inner) * FEW > n)) {
        problem.most_growth = most;
        found = tear_system(&problem, p->c->scratch, NULL);
    }
    if (s->block->kind == BLOCK_LINEAR && n - found.n_inner > SYSTEM_DENSE_MOST)
        found.n_inner = 0;
    return found;
}

/* ---- rows in the new order ---- */
static SystemRow explicit_row(Passage *p, const SystemRow *from, Ref unknown)
{
    Model *m = p->model;
    const Expr *lhs, *rhs;
    TermBuilder builder = open_row(p, from, &lhs, &rhs);
    const Expr *leaf = term_leaf(&builder, unknown);
    const Expr *solution = expr_solve(m->pool, lhs, rhs, leaf);
    if (!solution) { /* linear all the same */
        const Expr *coefficient, *rest;
        REQUIRE(expr_linear(m->pool, expr_binary(m->pool, OP_SUB, rhs, lhs), leaf, &coefficient, &rest));
        solution = expr_binary(m->pool, OP_DIV, rest, expr_unary(m->pool, OP_NEG, coefficient));
    }
    return (SystemRow){ .equation = from->equation,
                        .lhs = term_ref(m, unknown),
                        .rhs = term_make(m, expr_simplify(m->pool, solution), builder.refs.at),
                        .unknown = unknown };
}

static void reorder(Passage *p, System *s, const Tearing *found)
{
    const uint32_t n = s->block->n_rows;
    SystemRow *before = NEW_ARRAY(p->c->scratch, SystemRow, n);
    memcpy(before, s->rows, n * sizeof *before);
    for (uint32_t k = 0; k < n; k++) {
        const SystemRow *row = &before[found->row[k]];
        const Ref unknown = before[found->column[k]].unknown;
        if (k < found->n_inner) {
            s->rows[k] = explicit_row(p, row, unknown);
        } else {
            s->rows[k] = *row;
            s->rows[k].unknown = unknown;
        }
    }
    s->block->n_inner = found->n_inner;
    s->block->equation = s->rows[found->n_inner].equation;
}

bool tear_systems(Compile *c)
{
    Schedule *schedule = c->schedule;
    const uint32_t n = c->model->variables.n;
    if (c->systems == SYSTEMS_WHOLE)
        return true;
    Passage p = { .c = c,
                  .model = c->model,
                  .value = NEW_ARRAY(c->scratch, double, n + 1),
                  .has_value = NEW_ARRAY(c->scratch, bool, n + 1) };
    map_init(&p.coefficients, c->scratch, 0);
    for (uint32_t k = 0; k < schedule->blocks.n; k++) {
        Block *b = &schedule->blocks.at[k];
        if ((b->kind != BLOCK_LINEAR && b->kind != BLOCK_NEWTON) || b->n_rows < 2 || b->mixed)
            continue;
        System s = { .block = b, .rows = schedule->rows.at + b->first_row };
        const Tearing found = choose(&p, &s);
        if (found.n_inner)
            reorder(&p, &s, &found);
    }
    return true;
}
