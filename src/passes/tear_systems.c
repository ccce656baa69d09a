/* tear-systems: of each system of equations only a few unknowns are iterated; the others follow explicitly.
 *
 * An equation may be solved for an unknown if it is linear in it with a coefficient that cannot vanish in a run: a
 * number, an expression of parameters that is not zero, a product of such. What can be zero, as the position of a
 * switch, is never divided by. Systems that decide together with comparisons stay whole: with all pivots to choose
 * from, zeros come out as zeros. The choice is made on integers, see graph/tearing.h. */
#include "base/bug.h"
#include "base/map.h"
#include "graph/tearing.h"
#include "ir/derive.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "ir/solve.h"
#include "passes/known_values.h"
#include "passes/pipeline.h"
#include <math.h>

/* How much explicit rows may magnify errors: of rounding, 12 digits are left; of an iteration, which ends at some
 * 1e-12,
 * 10. A system that becomes much smaller may magnify a hundred times more; mechanisms seem to do so by their
 * rotations. */
static const double MOST_GROWTH[] = { [BLOCK_LINEAR] = 1e4, [BLOCK_NEWTON] = 100 };
static const double MORE_OF_FEW = 100;
static const double EXTREME = 1e30; /* coefficient: products of a few overflow or vanish; the system stays whole */
static const uint32_t FEW = 8;      /* such a system has so many times fewer unknowns */

typedef struct {
    const Expr *residual;
    const bool *is_unknown; /* per leaf */
    Gradient gradient;
} KnownGradient;

typedef struct {
    Compile *c;
    Model *model;
    KnownValues known;
    Map gradient_of; /* residual and unknowns: number in gradients */
    VEC(KnownGradient) gradients;
    uint32_t *wish;   /* per variable: 1 + the variable that the user wants torn and that it holds, or 0 */
    bool *is_granted; /* per variable that the user wants torn */
    uint32_t n_wishes;
} Passage;

typedef struct { /* a system under consideration */
    Block *block;
    SystemRow *rows;
    Map columns;
    VEC(uint32_t) start, index;
    VEC(uint8_t) solvable;
    VEC(double) magnitude;
    VEC(uint32_t) column_of;    /* of the row being read, per leaf: which unknown it is, */
    VEC(bool) is_unknown;       /* ... if it is one */
    uint8_t *is_good;           /* per unknown: good to iterate, as a start value is given; or wanted first */
    uint8_t *is_torn, *is_kept; /* per unknown, per row: wishes of the user; NULL: there are none */
    uint32_t n_wishes;
    bool has_array;  /* some row reads elements of an array that only the run knows */
    bool is_extreme; /* some coefficient is */
} System;

enum { MOST_LEAVES = 64 }; /* of what is evaluated */

/* ---- magnitudes: of coefficients at the start, for judging how errors grow ---- */
static Value guessed_leaf(Passage *p, Ref ref)
{
    const Type type = ref_type(p->model, ref);
    double value = known_parameter(&p->known, ref);
    if (isnan(value) && ref.kind != REF_DER && !var_is_none(ref.var)) {
        const Term start = model_var(p->model, ref.var)->start;
        if (!term_is_absent(start) && start.shape->kind == EXPR_REAL)
            value = start.shape->u.real;
        else if (!term_is_absent(start) && start.shape->type.kind == TYPE_REAL)
            value = known_value(&p->known, start.shape, term_refs(p->model, start));
    }
    if (!isfinite(value) || value == 0)
        value = 1; /* something in general position */
    return type.kind == TYPE_REAL ? (Value){ .r = value } : (Value){ .i = (int64_t)value };
}

/* 1 if nothing is known. */
static double magnitude_of(Passage *p, const Expr *e, const Ref *refs)
{
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
    if (e->kind == EXPR_CALL && e->op == OP_DIV && isfinite(known_value(&p->known, e->args[1], refs)))
        return never_zero(p, e->args[0], refs, budget);
    if (e->kind == EXPR_CALL && e->op == OP_MUL && !isfinite(known_value(&p->known, e, refs)))
        return never_zero(p, e->args[0], refs, budget) && never_zero(p, e->args[1], refs, budget);
    const double value = known_value(&p->known, e, refs);
    return isfinite(value) && value != 0;
}

/* Partial derivatives by the unknowns, and which are coefficients. Equal rows have equal ones, if they have the same
 * unknowns. */
static Gradient coefficients_of(Passage *p, const Expr *residual, const bool *is_unknown, uint32_t n)
{
    Arena *scratch = p->c->scratch;
    uint32_t known;
    const uint64_t key = hash_mix(residual->id, hash_bytes(is_unknown, n * sizeof *is_unknown, 0));
    if (map_get(&p->gradient_of, key, &known)) {
        const KnownGradient *k = &p->gradients.at[known];
        if (k->residual == residual && memcmp(k->is_unknown, is_unknown, n * sizeof *is_unknown) == 0)
            return k->gradient;
    }
    bool *copy = NEW_ARRAY(scratch, bool, n + 1);
    memcpy(copy, is_unknown, n * sizeof *copy);
    const KnownGradient found = { residual, copy, expr_gradient(p->model->pool, residual, copy, scratch) };
    map_put(&p->gradient_of, key, p->gradients.n);
    vec_push(scratch, &p->gradients, found);
    return found.gradient;
}

/* ---- a system as a graph ---- */
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

/* An unknown of a row and its coefficient. */
static void add_entry(Passage *p, System *s, uint32_t column, const Partial *partial, const Ref *refs)
{
    Arena *scratch = p->c->scratch;
    uint32_t budget = 32;
    const Expr *coefficient = partial->derivative;
    if (coefficient && expr_is_real(coefficient, 0))
        return;                                               /* it cancels */
    if (coefficient && coefficient->n_leaves > MOST_LEAVES) { /* of a long sum; perhaps it has few of its own */
        const Term own = term_make(p->model, coefficient, refs);
        coefficient = own.shape;
        refs = term_refs(p->model, own);
    }
    const double size = magnitude_of(p, coefficient, refs);
    const bool is_solvable = partial->is_linear && never_zero(p, coefficient, refs, &budget);
    const bool is_plain = is_solvable && (expr_is_real(coefficient, 1) || expr_is_real(coefficient, -1));
    vec_push(scratch, &s->index, column);
    vec_push(scratch, &s->solvable, is_plain ? TEARING_PLAIN : is_solvable);
    vec_push(scratch, &s->magnitude, size);
    s->is_extreme |= !(size < EXTREME && size > 1 / EXTREME);
}

static void add_row(Passage *p, System *s, uint32_t row)
{
    Arena *scratch = p->c->scratch;
    const Expr *lhs, *rhs;
    const TermBuilder builder = open_row(p, &s->rows[row], &lhs, &rhs);
    const Expr *residual = expr_binary(p->model->pool, OP_SUB, lhs, rhs);
    const uint32_t n = builder.refs.n;
    vec_push(scratch, &s->start, s->index.n);
    vec_reserve(scratch, &s->column_of, n);
    vec_reserve(scratch, &s->is_unknown, n);
    for (uint32_t k = 0; k < n; k++) {
        s->has_array |= reads_element(p, s, builder.refs.at[k]);
        s->is_unknown.at[k] = map_get(&s->columns, ref_key(builder.refs.at[k]), &s->column_of.at[k]);
    }
    const Gradient gradient = coefficients_of(p, residual, s->is_unknown.at, n);
    for (uint32_t k = 0; k < gradient.n; k++)
        add_entry(p, s, s->column_of.at[gradient.at[k].leaf], &gradient.at[k], builder.refs.at);
}

static TearingProblem read_system(Passage *p, System *s)
{
    const uint32_t n = s->block->u.system.n_rows;
    map_init(&s->columns, p->c->scratch, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&s->columns, ref_key(s->rows[k].unknown), k);
    s->is_good = NEW_ARRAY(p->c->scratch, uint8_t, n);
    for (uint32_t k = 0; k < n; k++) {
        const Ref unknown = s->rows[k].unknown;
        s->is_good[k] = unknown.kind == REF_DER
                            ? s->block->kind == BLOCK_LINEAR
                            : unknown.kind == REF_NOW && !term_is_absent(model_var(p->model, unknown.var)->start);
    }
    for (uint32_t k = 0; k < n; k++)
        add_row(p, s, k);
    vec_push(p->c->scratch, &s->start, s->index.n);
    const Incidence rows = { n, n, s->start.at, s->index.at };
    return (TearingProblem){ .rows = rows,
                             .solvable = s->solvable.at,
                             .is_preferred = s->is_good,
                             .magnitude = s->magnitude.at,
                             .most_growth = MORE_OF_FEW * MOST_GROWTH[s->block->kind] };
}

/* ---- what the user wants ---- */
static VarId holder_of(const Model *m, VarId var)
{
    const Variable *v = model_var(m, var);
    return var_is_none(v->alias) || variable_is_split(m, var) ? var : v->alias;
}

static void list_wishes(Passage *p)
{
    const Model *m = p->model;
    p->wish = NEW_ARRAY(p->c->scratch, uint32_t, m->variables.n + 1);
    p->is_granted = NEW_ARRAY(p->c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        if (!m->variables.at[k].is_torn || variable_is_split(m, (VarId){ k }))
            continue;
        p->wish[holder_of(m, (VarId){ k }).index] = k + 1;
        p->n_wishes++;
    }
}

/* A side of the row is `var`, or an element of it, alone. */
static bool is_alone(const Passage *p, Term side, VarId var)
{
    const Holders holders = ref_holders(p->model, ref_now(var));
    if (side.shape->kind != EXPR_LEAF)
        return false;
    const Ref ref = term_refs(p->model, side)[side.shape->u.leaf];
    return ref.kind == REF_NOW && ref.var.index >= holders.first && ref.var.index < holders.first + holders.n;
}

static bool occurs(const Passage *p, Term side, VarId var)
{
    const Holders holders = ref_holders(p->model, ref_now(var));
    for (uint32_t k = 0; k < side.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, side)[k];
        if (ref.kind == REF_NOW && ref.var.index >= holders.first && ref.var.index < holders.first + holders.n)
            return true;
    }
    return false;
}

/* The equations of `var`: those that have it alone on the left, or else on the right, or else the only one that it is
 * in. */
static bool keep_rows(const Passage *p, System *s, VarId var)
{
    const uint32_t n = s->block->u.system.n_rows;
    uint32_t n_found = 0, last = 0;
    for (uint32_t side = 0; side < 2 && n_found == 0; side++)
        for (uint32_t k = 0; k < n; k++)
            if (is_alone(p, side ? s->rows[k].rhs : s->rows[k].lhs, var)) {
                s->is_kept[k] = true;
                n_found++;
            }
    if (n_found)
        return true;
    for (uint32_t k = 0; k < n; k++)
        if (occurs(p, s->rows[k].lhs, var) || occurs(p, s->rows[k].rhs, var)) {
            last = k;
            n_found++;
        }
    s->is_kept[last] |= n_found == 1;
    return n_found == 1;
}

/* An unknown with a guess from outside is iterated, so that the guess counts; if others have to be, too, they are. */
static bool read_guesses(Passage *p, System *s)
{
    const uint32_t n = s->block->u.system.n_rows;
    for (uint32_t k = 0; k < n && s->block->kind == BLOCK_NEWTON; k++) {
        const Ref unknown = s->rows[k].unknown;
        if (unknown.kind != REF_NOW || !model_var(p->model, unknown.var)->is_guessed)
            continue;
        if (!s->is_torn)
            s->is_torn = NEW_ARRAY(p->c->scratch, uint8_t, n);
        s->is_torn[k] = true;
    }
    return s->is_torn != NULL;
}

static bool read_wishes(Passage *p, System *s)
{
    Compile *c = p->c;
    const uint32_t n = s->block->u.system.n_rows;
    for (uint32_t k = 0; k < n; k++) {
        const Ref unknown = s->rows[k].unknown;
        const uint32_t wish = p->wish[unknown.var.index];
        if (!wish || unknown.kind != REF_NOW)
            continue;
        if (!s->is_torn) {
            s->is_torn = NEW_ARRAY(c->scratch, uint8_t, n);
            s->is_kept = NEW_ARRAY(c->scratch, uint8_t, n);
        }
        const Variable *v = &p->model->variables.at[wish - 1];
        s->is_torn[k] = true;
        s->n_wishes++;
        p->is_granted[wish - 1] = true;
        if (var_is_none(v->residual))
            continue;
        const VarId residual = holder_of(p->model, v->residual);
        if (keep_rows(p, s, residual))
            continue;
        diag_error(c->diag, DIAG_TEAR_RESIDUAL, v->span, "'%s' does not name an equation of the system that '%s' is in",
                   variable_path(p->model, v->residual, c->scratch),
                   variable_path(p->model, (VarId){ wish - 1 }, c->scratch));
        diag_note(c->diag, p->model->equations.at[s->rows[0].equation.index].origin.span,
                  "the system has %u equations, this is one of them", n);
        diag_help(c->diag, "name a variable that stands alone on a side of the equation, or only in it");
        return false;
    }
    return true;
}

/* More had to be torn than the user wants: what is left does not follow explicitly. */
static void report_inadmissible(Passage *p, const System *s, const Tearing *found)
{
    enum { MOST = 6 };
    Compile *c = p->c;
    const uint32_t n = s->block->u.system.n_rows, n_torn = n - found->n_inner;
    uint32_t n_named = 0;
    const Ref *first = NULL;
    for (uint32_t k = 0; k < n && !first; k++)
        if (s->is_torn[k])
            first = &s->rows[k].unknown;
    diag_error(c->diag, DIAG_TEAR_NOT_ENOUGH, model_var(p->model, first->var)->span,
               "with %u of %u unknowns torn the others cannot be computed one after the other: %u have to be torn",
               s->n_wishes, n, n_torn);
    for (uint32_t k = found->n_inner; k < n && n_named < MOST; k++) {
        if (s->is_torn[found->column[k]])
            continue;
        const Ref unknown = s->rows[found->column[k]].unknown;
        diag_note(c->diag, model_var(p->model, unknown.var)->span, "'%s%s%s' would have to be torn, too",
                  unknown.kind == REF_DER ? "der(" : "", variable_path(p->model, unknown.var, c->scratch),
                  unknown.kind == REF_DER ? ")" : "");
        n_named++;
    }
    diag_help(c->diag, "an equation is solved for an unknown only where it is linear in it, with a coefficient that is "
                       "never zero; tear more or other variables, or none");
}

/* Wishes for what is no unknown of a system. */
static void report_idle_wishes(Passage *p)
{
    Compile *c = p->c;
    for (uint32_t k = 0; k < p->model->variables.n && !c->is_initial; k++) {
        const Variable *v = &p->model->variables.at[k];
        if (!v->is_torn || p->is_granted[k] || variable_is_split(p->model, (VarId){ k }))
            continue;
        const char *path = variable_path(p->model, (VarId){ k }, c->scratch);
        const Variable *holder = model_var(p->model, holder_of(p->model, (VarId){ k }));
        if (holder->definition == DEFINITION_NOW && holder->type.kind == TYPE_REAL) {
            diag_warning(c->diag, DIAG_TEAR_IDLE, v->span,
                         "'%s' needs no tearing: no system of equations has it as unknown", path);
            diag_help(c->diag, "leave the directive out");
            continue;
        }
        diag_error(c->diag, DIAG_TEAR_KNOWN, v->span, "'%s' cannot be torn: it is not computed from equations", path);
        diag_help(c->diag,
                  "only unknowns of a system can be iterated: no parameters, states, inputs, discrete variables");
    }
}

/* A linear system that stays large is solved as a whole: sparse, with pivots, at the same cost. */
static Tearing choose(Passage *p, System *s)
{
    TearingProblem problem = read_system(p, s);
    const uint32_t n = s->block->u.system.n_rows;
    if (s->has_array || s->is_extreme)
        return (Tearing){ 0 };
    if (p->n_wishes && !read_wishes(p, s))
        return (Tearing){ 0 };
    if (!s->is_torn && read_guesses(p, s)) {
        problem.is_torn = s->is_torn;
        return tear_system(&problem, p->c->scratch, NULL);
    }
    if (s->is_torn) {
        problem.is_torn = s->is_torn;
        problem.is_kept = s->is_kept;
        problem.most_growth = 0;
    }
    Tearing found = tear_system(&problem, p->c->scratch, NULL);
    if (s->is_torn) {
        if (n - found.n_inner > s->n_wishes && !p->c->is_initial)
            report_inadmissible(p, s, &found);
        return found;
    }
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
    const uint32_t n = s->block->u.system.n_rows;
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
    s->block->u.system.n_inner = found->n_inner;
    s->block->equation = s->rows[found->n_inner].equation;
}

bool tear_systems(Compile *c)
{
    Schedule *schedule = c->schedule;
    if (c->systems == SYSTEMS_WHOLE)
        return true;
    Passage p = { .c = c, .model = c->model, .known = known_values(c->model, c->scratch) };
    map_init(&p.gradient_of, c->scratch, 0);
    list_wishes(&p);
    for (uint32_t k = 0; k < schedule->blocks.n; k++) {
        Block *b = &schedule->blocks.at[k];
        if ((b->kind != BLOCK_LINEAR && b->kind != BLOCK_NEWTON) || b->u.system.n_rows < 2 || b->mixed)
            continue;
        System s = { .block = b, .rows = schedule->rows.at + b->u.system.first_row };
        const Tearing found = choose(&p, &s);
        if (found.n_inner)
            reorder(&p, &s, &found);
    }
    if (p.n_wishes)
        report_idle_wishes(&p);
    return diag_errors(c->diag) == 0;
}
