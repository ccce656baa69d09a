/* find-constraints: equations that hide a relation between states.
 *
 * Three capacitors in a ring: u1 = Va - Vb, u2 = Vb - Vc, u3 = Vc - Va. Each equation seems to determine a potential,
 * but their sum u1 + u2 + u3 = 0 contains none. By their structure alone, as reduce-index looks at them, that cannot be
 * seen. Equations that are sums of unknowns with numbers as factors, and of anything known, are eliminated; where
 * nothing but known quantities is left of one, a state among them, that takes its place.
 *
 * Before that the same is done with derivatives alone: of der(x) + der(y) = -x, der(x) + der(y) = -y their difference
 * 0 = y - x takes the place of one, whatever else stands in them.
 *
 * Unknowns that occur in only one such equation cannot be eliminated: their equations are set aside first, which leaves
 * nothing of most models. */
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "passes/pipeline.h"
#include <math.h>

enum { MOST_NODES = 64 };             /* of an equation */
static const uint64_t MOST = 1 << 24; /* operations; then the rest stays as it is */

typedef struct {
    uint32_t at; /* column, or row */
    double factor;
} Part;
typedef VEC(Part) Parts;

typedef struct {
    uint32_t equation;
    Parts parts;   /* its unknowns */
    Parts made_of; /* rows, once it is eliminated */
    bool is_set_aside;
} Row;

typedef struct {
    Compile *c;
    Model *model;
    Simplifier *simplifier;
    bool by_derivatives; /* they alone are eliminated */
    VEC(Row) rows;
    uint32_t *count;   /* per variable: rows it occurs in */
    uint32_t *row_sum; /* per variable: exclusive or of them: the row, where there is one */
    uint32_t *pivot;   /* per variable: 1 + the row that is solved for it */
    uint64_t work;
} Finder;

/* A row that is being eliminated: values, and where they are not zero. */
typedef struct {
    double *value;
    bool *is_listed;
    VEC(uint32_t) list;
} Vector;

/* ---- rows ---- */
static bool is_unknown(const Model *m, Ref ref)
{
    return ref.kind == REF_DER || (ref.kind == REF_NOW && model_var(m, ref.var)->definition == DEFINITION_NOW);
}

static bool is_eliminated(const Finder *f, Ref ref)
{
    return f->by_derivatives ? ref.kind == REF_DER : is_unknown(f->model, ref);
}

/* Nothing that is eliminated, and no derivative of a state, below. */
static bool is_known(const Finder *f, const Expr *e, const Ref *refs, uint32_t *budget)
{
    if (*budget == 0)
        return false;
    --*budget;
    if (e->kind == EXPR_LEAF && (e->type.rank || is_eliminated(f, refs[e->u.leaf])))
        return false;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_known(f, e->args[k], refs, budget))
            return false;
    return true;
}

static void add_part(Finder *f, Row *row, uint32_t column, double factor)
{
    const Part part = { column, factor };
    for (uint32_t k = 0; k < row->parts.n; k++)
        if (row->parts.at[k].at == column) {
            row->parts.at[k].factor += factor;
            return;
        }
    vec_push(f->c->scratch, &row->parts, part);
}

/* Adds factor*e to the row; false: it is no such sum. */
static bool add_sum(Finder *f, Row *row, const Expr *e, const Ref *refs, double factor, uint32_t *budget)
{
    if (*budget == 0)
        return false;
    --*budget;
    if (e->kind == EXPR_LEAF && e->n_args == 0 && e->type.rank == 0 && e->type.kind == TYPE_REAL) {
        const Ref ref = refs[e->u.leaf];
        if (ref.kind == REF_DER && !f->by_derivatives)
            return false;
        if (is_eliminated(f, ref))
            add_part(f, row, ref.var.index, factor);
        return true;
    }
    if (e->kind == EXPR_CALL && (e->op == OP_ADD || e->op == OP_SUB))
        return add_sum(f, row, e->args[0], refs, factor, budget) &&
               add_sum(f, row, e->args[1], refs, e->op == OP_SUB ? -factor : factor, budget);
    if (e->kind == EXPR_CALL && e->op == OP_NEG)
        return add_sum(f, row, e->args[0], refs, -factor, budget);
    if (e->kind == EXPR_CALL && e->op == OP_MUL && e->args[0]->kind == EXPR_REAL)
        return add_sum(f, row, e->args[1], refs, factor * e->args[0]->u.real, budget);
    return is_known(f, e, refs, budget);
}

static void add_row(Finder *f, uint32_t equation)
{
    const Model *m = f->model;
    const Equation *e = &m->equations.at[equation];
    Row row = { .equation = equation };
    uint32_t budget = MOST_NODES;
    if (e->kind != EQUATION_RESIDUAL || e->when_valid != VALID_ALWAYS || e->region.index != ID_NONE || e->when ||
        e->domain.index != 0 || !add_sum(f, &row, e->rhs.shape, term_refs(m, e->rhs), 1, &budget) ||
        !add_sum(f, &row, e->lhs.shape, term_refs(m, e->lhs), -1, &budget) || row.parts.n == 0)
        return;
    for (uint32_t k = 0; k < row.parts.n; k++) {
        f->count[row.parts.at[k].at]++;
        f->row_sum[row.parts.at[k].at] ^= f->rows.n;
    }
    vec_push(f->c->scratch, &f->rows, row);
}

/* Rows with an unknown that no other row has cannot take part. */
static void set_aside(Finder *f)
{
    VEC(uint32_t) single = { 0 };
    for (uint32_t k = 0; k < f->model->variables.n; k++)
        if (f->count[k] == 1)
            vec_push(f->c->scratch, &single, k);
    while (single.n) {
        const uint32_t column = single.at[--single.n], index = f->row_sum[column];
        if (f->count[column] != 1) /* its row was set aside meanwhile */
            continue;
        Row *row = &f->rows.at[index];
        row->is_set_aside = true;
        for (uint32_t k = 0; k < row->parts.n; k++) {
            const uint32_t other = row->parts.at[k].at;
            f->row_sum[other] ^= index;
            if (--f->count[other] == 1)
                vec_push(f->c->scratch, &single, other);
        }
    }
}

/* ---- elimination ---- */
static void put(Finder *f, Vector *v, uint32_t at, double value)
{
    f->work++;
    v->value[at] += value;
    if (fabs(v->value[at]) < 1e-9) /* factors are small whole numbers as a rule */
        v->value[at] = 0;
    if (!v->is_listed[at]) {
        v->is_listed[at] = true;
        vec_push(f->c->scratch, &v->list, at);
    }
}

static void put_all(Finder *f, Vector *v, const Parts *parts, double factor)
{
    for (uint32_t k = 0; k < parts->n; k++)
        put(f, v, parts->at[k].at, factor * parts->at[k].factor);
}

static Parts take_all(Finder *f, Vector *v)
{
    Parts parts = { 0 };
    for (uint32_t k = 0; k < v->list.n; k++) {
        const Part part = { v->list.at[k], v->value[v->list.at[k]] };
        if (part.factor != 0)
            vec_push(f->c->scratch, &parts, part);
        v->value[part.at] = 0;
        v->is_listed[part.at] = false;
    }
    v->list.n = 0;
    return parts;
}

/* The column that an earlier row is solved for, the earliest first; ID_NONE: there is none. */
static uint32_t next_pivot(Finder *f, const Vector *v)
{
    uint32_t best = ID_NONE;
    for (uint32_t k = 0; k < v->list.n; k++) {
        const uint32_t column = v->list.at[k];
        if (v->value[column] != 0 && f->pivot[column] && (best == ID_NONE || f->pivot[column] < f->pivot[best]))
            best = column;
    }
    f->work += v->list.n;
    return best;
}

static double factor_of(const Row *row, uint32_t column)
{
    for (uint32_t k = 0; k < row->parts.n; k++)
        if (row->parts.at[k].at == column)
            return row->parts.at[k].factor;
    return 0;
}

static void eliminate(Finder *f, uint32_t index, Vector *unknowns, Vector *rows)
{
    Row *row = &f->rows.at[index];
    put_all(f, unknowns, &row->parts, 1);
    put(f, rows, index, 1);
    for (uint32_t column; (column = next_pivot(f, unknowns)) != ID_NONE;) {
        const Row *by = &f->rows.at[f->pivot[column] - 1];
        const double factor = -unknowns->value[column] / factor_of(by, column);
        put_all(f, unknowns, &by->parts, factor);
        put_all(f, rows, &by->made_of, factor);
        unknowns->value[column] = 0;
    }
    row->parts = take_all(f, unknowns);
    row->made_of = take_all(f, rows);
    if (row->parts.n)
        f->pivot[row->parts.at[0].at] = index + 1;
}

/* ---- what is left ---- */
/* The side of an equation without its unknowns. */
static Term known_part(Finder *f, Term side)
{
    Model *m = f->model;
    const uint32_t n = side.shape->n_leaves;
    const Expr **from = NEW_ARRAY(f->c->scratch, const Expr *, n + 1),
               **to = NEW_ARRAY(f->c->scratch, const Expr *, n + 1);
    uint32_t n_unknown = 0;
    for (uint32_t k = 0; k < n; k++)
        if (is_eliminated(f, term_refs(m, side)[k])) {
            from[n_unknown] = expr_leaf(m->pool, k, REAL_TYPE);
            to[n_unknown++] = expr_real(m->pool, 0);
        }
    const Expr *shape = n_unknown ? expr_substitute(m->pool, side.shape, n_unknown, from, to) : side.shape;
    return term_make(m, simplifier_run(f->simplifier, shape), term_refs(m, side));
}

/* Without derivatives it may as well be an equation of others. */
static bool has_state(const Finder *f, Term term)
{
    const Model *m = f->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind == REF_NOW && !var_is_none(ref.var) &&
            (model_var(m, ref.var)->definition == DEFINITION_DER ||
             (f->by_derivatives && model_var(m, ref.var)->definition == DEFINITION_NOW)))
            return true;
    }
    return false;
}

/* Fewer unknowns than equations: that is seen by the structure, and explained better with the equations as they are. */
static bool is_overdetermined(Finder *f, const Row *row)
{
    const Model *m = f->model;
    uint32_t n_unknowns = 0;
    for (uint32_t k = 0; k < row->made_of.n; k++) {
        const Equation *e = &m->equations.at[f->rows.at[row->made_of.at[k].at].equation];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t j = 0; j < 2; j++)
            for (uint32_t i = 0; i < sides[j].shape->n_leaves; i++) {
                const Ref ref = term_refs(m, sides[j])[i];
                uint32_t *seen = &f->count[ref.var.index + (ref.kind == REF_DER ? m->variables.n : 0)];
                if (!is_unknown(m, ref) || *seen == row->equation + 1)
                    continue;
                *seen = row->equation + 1; /* nothing is counted any more */
                n_unknowns++;
            }
    }
    return n_unknowns < row->made_of.n;
}

/* 0 = sum of factor*(rhs - lhs), of which only known quantities are left. */
static void replace(Finder *f, const Row *row)
{
    Model *m = f->model;
    TermBuilder builder = term_builder(m);
    const Expr *sum = expr_real(m->pool, 0);
    for (uint32_t k = 0; k < row->made_of.n; k++) {
        const Equation e = m->equations.at[f->rows.at[row->made_of.at[k].at].equation];
        const Expr *right = term_import(&builder, known_part(f, e.rhs)),
                   *left = term_import(&builder, known_part(f, e.lhs));
        const Expr *one = expr_binary(m->pool, OP_SUB, right, left);
        sum = expr_binary(m->pool, OP_ADD, sum,
                          expr_binary(m->pool, OP_MUL, expr_real(m->pool, row->made_of.at[k].factor), one));
    }
    const Term term = term_finish(&builder, simplifier_run(f->simplifier, sum));
    if (!has_state(f, term)) /* redundant, or a contradiction: explained later */
        return;
    Equation *e = &m->equations.at[row->equation];
    e->lhs = term_real(m, 0);
    e->rhs = term;
}

static void find(Compile *c, bool by_derivatives)
{
    Model *m = c->model;
    const uint32_t n = m->variables.n;
    Finder f = {
        .c = c, .model = m, .simplifier = simplifier_create(m->pool, c->scratch), .by_derivatives = by_derivatives
    };
    f.count = NEW_ARRAY(c->scratch, uint32_t, 2 * n + 1);
    f.row_sum = NEW_ARRAY(c->scratch, uint32_t, n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++)
        add_row(&f, k);
    set_aside(&f);
    uint32_t left = 0;
    for (uint32_t k = 0; k < f.rows.n; k++)
        left += !f.rows.at[k].is_set_aside;
    if (left < 2)
        return;
    memset(f.count, 0, 2 * n * sizeof *f.count);
    f.pivot = NEW_ARRAY(c->scratch, uint32_t, n + 1);
    Vector unknowns = { NEW_ARRAY(c->scratch, double, n + 1), NEW_ARRAY(c->scratch, bool, n + 1), { 0 } };
    Vector rows = { NEW_ARRAY(c->scratch, double, f.rows.n), NEW_ARRAY(c->scratch, bool, f.rows.n), { 0 } };
    for (uint32_t k = 0; k < f.rows.n && f.work < MOST; k++) {
        if (f.rows.at[k].is_set_aside)
            continue;
        eliminate(&f, k, &unknowns, &rows);
        if (f.rows.at[k].parts.n == 0 && !is_overdetermined(&f, &f.rows.at[k]))
            replace(&f, &f.rows.at[k]);
    }
}

bool find_constraints(Compile *c)
{
    find(c, true);
    find(c, false);
    return true;
}
