/* solve-small: small linear systems become assignments.
 *
 * The explicit rows of a torn system, put into its residuals, leave one to three equations A x + b = 0, whose solution
 * can be written down; the other unknowns follow by their explicit rows, which are the shared parts of the solution. No
 * pivots are chosen then, so it is done only where what is divided by cannot vanish in a run:
 *   - one unknown is left: its coefficient contains no branch, and stays away from 0 whatever the variables are; or
 *   - two or three: all coefficients are made of parameters, and the matrix is regular with the values these have in
 * the text. The inverse is computed once, when the parameters are known: elements of it are parameters, too. Positions
 * of switches are never divided by: such systems stay numeric, with all pivots to choose from, and zeros come out as
 * zeros. A user may set other parameters: what is divided by is looked at before a run begins. `--systems symbolic`
 * writes down formulas for all systems of one unknown, whatever is divided by. */
#include "base/map.h"
#include "ir/simplify.h"
#include "ir/solve.h"
#include "ir/substitute.h"
#include "passes/known_values.h"
#include "passes/pipeline.h"
#include <math.h>

enum { MOST_UNKNOWNS = 3, MOST_ROWS = 16, MOST_OPERATIONS = 400 };
enum { MOST_INLINE = 2 }; /* operations of what is divided by; longer ones are parameters of their own */
static const double LEAST_REGULAR = 1e-6; /* determinant by the sum of its terms' magnitudes */

/* What equal systems have in common: expressions over the leaves of their rows, in order of first use. */
typedef struct {
    const uint32_t *key;
    uint32_t n_key, next; /* next: of equal hash, or ID_NONE */
    uint32_t n;           /* unknowns that are left; 0: there is no formula */
    const Expr *matrix[MOST_UNKNOWNS][MOST_UNKNOWNS], *rest[MOST_UNKNOWNS];
} System;

typedef struct {     /* of one block */
    uint32_t system; /* 1 + its number, or 0: the block stays */
    uint32_t check;
    Term solution[MOST_UNKNOWNS];
} Solved;

typedef struct {
    Compile *c;
    Model *model;
    Pool *pool;
    KnownValues known;
    VEC(System) systems;
    Map by_key;
    TermBuilder builder; /* of the present block */
    uint32_t n_checked;  /* systems with parameters of their own */
} Passage;

/* ---- what equal systems share ---- */
static bool reads_unknown(Passage *p, const Expr *e, const SystemRow *rows, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (expr_depends_on(e, term_leaf(&p->builder, rows[k].unknown)))
            return true;
    return false;
}

/* Row `row` of A and b; false: it has not that form. */
static bool read_residual(Passage *p, System *s, uint32_t row, const Expr *residual, const SystemRow *rows,
                          uint32_t n_rows)
{
    const uint32_t n_inner = n_rows - s->n;
    for (uint32_t k = n_inner; k-- > 0 && residual;) {
        const Expr *from = term_leaf(&p->builder, rows[k].unknown), *to = term_import(&p->builder, rows[k].rhs);
        residual = expr_substitute(p->pool, residual, 1, &from, &to);
    }
    for (uint32_t k = 0; k < s->n && residual; k++) {
        const Expr *coefficient, *rest;
        if (!expr_linear(p->pool, residual, term_leaf(&p->builder, rows[n_inner + k].unknown), &coefficient, &rest))
            return false;
        s->matrix[row][k] = expr_simplify(p->pool, coefficient);
        if (reads_unknown(p, s->matrix[row][k], rows, n_rows))
            return false;
        residual = rest;
    }
    s->rest[row] = residual ? expr_simplify(p->pool, residual) : NULL;
    return residual && !reads_unknown(p, s->rest[row], rows, n_rows);
}

static void read_system(Passage *p, System *s, const SystemRow *rows, uint32_t n_rows)
{
    const uint32_t n_inner = n_rows - s->n;
    for (uint32_t k = 0; k < s->n; k++) {
        const SystemRow *row = &rows[n_inner + k];
        const Expr *residual =
            expr_binary(p->pool, OP_SUB, term_import(&p->builder, row->lhs), term_import(&p->builder, row->rhs));
        if (read_residual(p, s, k, residual, rows, n_rows))
            continue;
        s->n = 0;
    }
}

/* Equal rows of equal leaves have equal numbers once they are imported one after the other. */
static uint32_t find_system(Passage *p, const Block *b, const SystemRow *rows)
{
    uint32_t ids[3 * MOST_ROWS + 1], n = 0, found;
    ids[n++] = b->u.system.n_inner;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        ids[n++] = term_import(&p->builder, rows[k].lhs)->id;
        ids[n++] = term_import(&p->builder, rows[k].rhs)->id;
        ids[n++] = term_leaf(&p->builder, rows[k].unknown)->u.leaf;
    }
    const uint64_t hash = hash_bytes(ids, n * sizeof *ids, 0);
    if (!map_get(&p->by_key, hash, &found))
        found = ID_NONE;
    const uint32_t first = found;
    for (; found != ID_NONE; found = p->systems.at[found].next)
        if (p->systems.at[found].n_key == n && memcmp(p->systems.at[found].key, ids, n * sizeof *ids) == 0)
            return found;
    uint32_t *key = NEW_ARRAY(p->c->scratch, uint32_t, n);
    memcpy(key, ids, n * sizeof *ids);
    System s = { .key = key, .n_key = n, .next = first, .n = b->u.system.n_rows - b->u.system.n_inner };
    read_system(p, &s, rows, b->u.system.n_rows);
    vec_push(p->c->scratch, &p->systems, s);
    map_put(&p->by_key, hash, p->systems.n - 1);
    return p->systems.n - 1;
}

/* ---- looking at coefficients ---- */
static uint32_t operations(const Expr *e, uint32_t most)
{
    uint32_t n = e->kind == EXPR_LEAF || e->n_args == 0 ? 0 : e->kind == EXPR_CALL && e->op == OP_DIV ? 2 : 1;
    for (uint32_t k = 0; k < e->n_args && n < most; k++)
        n += operations(e->args[k], most - n);
    return n;
}

/* No branch, nothing discrete. */
static bool is_smooth(const Expr *e)
{
    if (e->type.kind != TYPE_REAL || e->type.rank || e->has_index || e->has_call || e->kind == EXPR_IF)
        return false;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_smooth(e->args[k]))
            return false;
    return true;
}

static bool is_parameter(const Passage *p, const Expr *e)
{
    for (uint32_t k = 0; k < e->n_leaves; k++) {
        const Ref ref = p->builder.refs.at[k];
        if (expr_uses_leaf(e, k) &&
            (ref.kind != REF_NOW || model_var(p->model, ref.var)->definition != DEFINITION_BINDING))
            return false;
    }
    return true;
}

/* The same with all that is added taken positive: what rounding errors are compared with. */
static const Expr *magnitude(Pool *pool, const Expr *e)
{
    if (e->kind == EXPR_CALL && e->op == OP_NEG)
        return magnitude(pool, e->args[0]);
    if (e->kind == EXPR_CALL && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL))
        return simple_binary(pool, e->op == OP_MUL ? OP_MUL : OP_ADD, magnitude(pool, e->args[0]),
                             magnitude(pool, e->args[1]));
    if (e->kind == EXPR_CALL && e->op == OP_DIV)
        return simple_binary(pool, OP_DIV, magnitude(pool, e->args[0]), simple_unary(pool, OP_ABS, e->args[1]));
    return simple_unary(pool, OP_ABS, e);
}

/* ---- formulas ---- */
/* A hidden parameter of this value, computed when the parameters are known. */
static VarId make_parameter(Passage *p, const char *what, uint32_t number, const Expr *e, Span span)
{
    const VarId made = model_add_generated(p->model, what, number, REAL_TYPE, span);
    const Term binding = term_make(p->model, e, p->builder.refs.at);
    Variable *v = model_var(p->model, made);
    v->variability = VARIABILITY_PARAMETER;
    v->definition = DEFINITION_BINDING;
    v->binding = binding;
    return made;
}

static const Expr *as_parameter(Passage *p, const char *what, uint32_t number, const Expr *e, Span span)
{
    if (operations(e, MOST_INLINE + 1) <= MOST_INLINE)
        return e;
    return term_leaf(&p->builder, ref_now(make_parameter(p, what, number, e, span)));
}

/* The number 1 + parameter that must not be 0; 0: nothing has to be looked at. */
static uint32_t make_check(Passage *p, const Expr *determinant, Span span)
{
    if (expr_is_constant(determinant))
        return 0;
    const Expr *ratio = simple_binary(p->pool, OP_DIV, determinant, magnitude(p->pool, determinant));
    return ratio ? 1 + make_parameter(p, "regular", p->n_checked, ratio, span).index : 0;
}

static bool is_negative(const Expr *e)
{
    return (e->kind == EXPR_CALL && e->op == OP_NEG) || (e->kind == EXPR_REAL && e->u.real < 0);
}

/* -rest/coefficient, with the fewest signs. */
static const Expr *quotient(Pool *pool, const Expr *rest, const Expr *coefficient)
{
    const Expr *opposite = expr_simplify(pool, expr_unary(pool, OP_NEG, rest));
    if (!is_negative(coefficient) && (!is_negative(opposite) || expr_is_constant(coefficient)))
        return expr_simplify(pool, expr_binary(pool, OP_DIV, opposite, coefficient));
    return expr_simplify(pool,
                         expr_binary(pool, OP_DIV, rest, expr_simplify(pool, expr_unary(pool, OP_NEG, coefficient))));
}

static bool solve_one(Passage *p, const System *s, Span span, Solved *to)
{
    uint32_t budget = 200;
    const Expr *coefficient = s->matrix[0][0];
    if (expr_is_real(coefficient, 0) || operations(s->rest[0], MOST_OPERATIONS) >= MOST_OPERATIONS)
        return false;
    if (p->c->systems != SYSTEMS_SYMBOLIC) {
        if (!is_smooth(coefficient) ||
            bounds_have_zero(known_bounds(&p->known, coefficient, p->builder.refs.at, &budget)))
            return false;
        if (is_parameter(p, coefficient)) {
            p->n_checked++;
            to->check = make_check(p, coefficient, span);
            coefficient = as_parameter(p, "divisor", p->n_checked, coefficient, span);
        }
    }
    const Expr *e = quotient(p->pool, s->rest[0], coefficient);
    to->solution[0] = term_make(p->model, e, p->builder.refs.at);
    return true;
}

/* The minor of row i and column k of an n by n matrix, n being 2 or 3; with is_permanent of magnitudes, all added. */
static const Expr *minor_of(Pool *pool, const System *s, uint32_t i, uint32_t k, bool is_permanent)
{
    const Expr *a[2][2];
    for (uint32_t r = 0, row = 0; r < s->n; r++)
        for (uint32_t q = 0, column = 0; r != i && q < s->n; q++) {
            if (q == k)
                continue;
            a[row][column] = is_permanent ? simple_unary(pool, OP_ABS, s->matrix[r][q]) : s->matrix[r][q];
            if (++column == s->n - 1)
                row++;
        }
    if (s->n == 2)
        return a[0][0];
    return simple_binary(pool, is_permanent ? OP_ADD : OP_SUB, simple_binary(pool, OP_MUL, a[0][0], a[1][1]),
                         simple_binary(pool, OP_MUL, a[0][1], a[1][0]));
}

/* By the first row. */
static const Expr *determinant_of(Pool *pool, const System *s, bool is_permanent)
{
    const Expr *sum = expr_real(pool, 0);
    for (uint32_t k = 0; k < s->n && sum; k++) {
        const Expr *element = is_permanent ? simple_unary(pool, OP_ABS, s->matrix[0][k]) : s->matrix[0][k];
        const Expr *product = simple_binary(pool, OP_MUL, element, minor_of(pool, s, 0, k, is_permanent));
        sum = simple_binary(pool, k % 2 && !is_permanent ? OP_SUB : OP_ADD, sum, product);
    }
    return sum;
}

static bool has_plain_matrix(const Passage *p, const System *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        n += operations(s->rest[i], MOST_OPERATIONS);
        for (uint32_t k = 0; k < s->n; k++)
            if (!is_smooth(s->matrix[i][k]) || !is_parameter(p, s->matrix[i][k]))
                return false;
    }
    return n < MOST_OPERATIONS;
}

/* x = -A^-1 b. */
static bool solve_some(Passage *p, const System *s, Span span, Solved *to)
{
    Pool *pool = p->pool;
    if (!has_plain_matrix(p, s))
        return false;
    const Expr *determinant = determinant_of(pool, s, false), *size = determinant_of(pool, s, true);
    const Expr *ratio = simple_binary(pool, OP_DIV, determinant, size);
    if (!ratio || !(fabs(known_value(&p->known, ratio, p->builder.refs.at)) > LEAST_REGULAR))
        return false;
    const char *inverse = arena_format(p->c->scratch, "inverse%u_", ++p->n_checked);
    to->check = expr_is_constant(ratio) ? 0 : 1 + make_parameter(p, "regular", p->n_checked, ratio, span).index;
    determinant = as_parameter(p, "determinant", p->n_checked, determinant, span);
    for (uint32_t i = 0; i < s->n; i++) {
        const Expr *sum = expr_real(pool, 0);
        for (uint32_t k = 0; k < s->n && sum; k++) {
            const Expr *element = simple_binary(pool, OP_DIV, minor_of(pool, s, k, i, false), determinant);
            if (element && !expr_is_real(element, 0))
                element = as_parameter(p, inverse, 10 * (i + 1) + k + 1, element, span);
            sum = simple_binary(pool, (i + k) % 2 ? OP_ADD : OP_SUB, sum,
                                simple_binary(pool, OP_MUL, element, s->rest[k]));
        }
        if (!sum)
            return false;
        to->solution[i] = term_make(p->model, sum, p->builder.refs.at);
    }
    return true;
}

static bool is_small(const Passage *p, const Block *b, const SystemRow *rows)
{
    const uint32_t most = p->c->is_initial ? 1 : MOST_UNKNOWNS; /* its parameters are listed already */
    if (b->kind != BLOCK_LINEAR || b->mixed || b->u.system.n_rows - b->u.system.n_inner > most ||
        b->u.system.n_rows > MOST_ROWS)
        return false;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++)
        if (model_var(p->model, rows[k].unknown.var)->variability != VARIABILITY_CONTINUOUS)
            return false; /* values that are held between events are found together */
    return true;
}

static Solved solve(Passage *p, const Block *b)
{
    Solved solved = { 0 };
    const SystemRow *rows = p->c->schedule->rows.at + b->u.system.first_row;
    if (!is_small(p, b, rows))
        return solved;
    p->builder.refs.n = 0;
    const uint32_t system = find_system(p, b, rows);
    const System s = p->systems.at[system];
    const Span span = p->model->equations.at[b->equation.index].origin.span;
    if (s.n && (s.n == 1 ? solve_one(p, &s, span, &solved) : solve_some(p, &s, span, &solved)))
        solved.system = system + 1;
    return solved;
}

/* ---- blocks ---- */
static Block assignment(const Block *system, EqId equation, Term lhs, Term rhs)
{
    return (Block){ .kind = BLOCK_ASSIGN,
                    .is_moving = system->is_moving,
                    .is_eager = system->is_eager,
                    .level = system->level,
                    .u.assign.lhs = lhs,
                    .u.assign.rhs = rhs,
                    .equation = equation,
                    .is_real = true };
}

/* Equal systems of one level stand together, formula by formula, so that each is one kernel over all of them. */
static void add_assignments(Passage *p, const Block *blocks, const Solved *solved, uint32_t n)
{
    Schedule *s = p->c->schedule;
    const uint32_t n_inner = blocks[0].u.system.n_inner, n_left = blocks[0].u.system.n_rows - n_inner;
    for (uint32_t row = 0; row < n_left; row++)
        for (uint32_t k = 0; k < n; k++) {
            const SystemRow *own = &s->rows.at[blocks[k].u.system.first_row + n_inner + row];
            Block b = assignment(&blocks[k], own->equation, term_ref(p->model, own->unknown), solved[k].solution[row]);
            if (row == 0) { /* it stands for the system */
                b.u.assign.solved = blocks[k].u.system;
                b.u.assign.check = solved[k].check;
            }
            vec_push(p->c->arena, &s->blocks, b);
        }
    for (uint32_t row = 0; row < n_inner; row++)
        for (uint32_t k = 0; k < n; k++) {
            const SystemRow *own = &s->rows.at[blocks[k].u.system.first_row + row];
            vec_push(p->c->arena, &s->blocks, assignment(&blocks[k], own->equation, own->lhs, own->rhs));
        }
}

bool solve_small(Compile *c)
{
    Schedule *s = c->schedule;
    const bool is_wanted = c->systems == SYSTEMS_SYMBOLIC || (c->systems == SYSTEMS_AUTO && !c->is_initial);
    if (!is_wanted) /* what is solved once needs no formula */
        return true;
    Passage p = { .c = c,
                  .model = c->model,
                  .pool = c->model->pool,
                  .known = known_values(c->model, c->scratch),
                  .builder = term_builder(c->model) };
    map_init(&p.by_key, c->scratch, 0);
    const uint32_t n = s->blocks.n;
    Block *before = NEW_ARRAY(c->scratch, Block, n + 1);
    Solved *solved = NEW_ARRAY(c->scratch, Solved, n + 1);
    uint32_t first = n; /* that is solved: the blocks before it stay */
    for (uint32_t k = 0; k < n; k++) {
        solved[k] = solve(&p, &s->blocks.at[k]);
        if (solved[k].system && first == n)
            first = k;
    }
    if (first == n)
        return true;
    memcpy(before + first, s->blocks.at + first, (n - first) * sizeof *before);
    s->blocks.n = first;
    for (uint32_t k = first, end; k < n; k = end) {
        end = k + 1;
        if (!solved[k].system) {
            vec_push(c->arena, &s->blocks, before[k]);
            continue;
        }
        while (end < n && solved[end].system == solved[k].system && before[end].level == before[k].level)
            end++;
        add_assignments(&p, before + k, solved + k, end - k);
    }
    return true;
}
