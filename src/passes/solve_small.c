/* solve-small: on demand, small linear systems become assignments.
 *
 * A linear system of which one unknown is left to iterate after tearing has a closed solution: the explicit rows put into
 * its residual give coefficient*unknown + rest = 0. The unknown is computed from that, the others follow by their explicit
 * rows, which are the shared parts of the solution. There is no pivot to choose: where the coefficient vanishes at run
 * time the value is not finite, which the run reports. */
#include "ir/simplify.h"
#include "ir/solve.h"
#include "ir/substitute.h"
#include "passes/pipeline.h"

enum { MOST_ROWS = 8 }; /* of a system: larger ones give long expressions */

static Block assignment(const Block *system, EqId equation, Term lhs, Term rhs)
{
    return (Block){ .kind = BLOCK_ASSIGN,
                    .is_moving = system->is_moving,
                    .is_eager = system->is_eager,
                    .level = system->level,
                    .lhs = lhs,
                    .rhs = rhs,
                    .equation = equation,
                    .is_real = true };
}

/* The solution for the unknown of the last row; absent: there is none in closed form. */
static Term solve_last(Model *m, const SystemRow *rows, uint32_t n)
{
    const SystemRow *last = &rows[n - 1];
    TermBuilder builder = term_builder(m);
    const Expr *residual =
        expr_binary(m->pool, OP_SUB, term_import(&builder, last->lhs), term_import(&builder, last->rhs));
    for (uint32_t k = n - 1; k-- > 0 && residual;) {
        const Expr *from = term_leaf(&builder, rows[k].unknown), *to = term_import(&builder, rows[k].rhs);
        residual = expr_substitute(m->pool, residual, 1, &from, &to);
    }
    const Expr *coefficient, *rest;
    if (!residual || !expr_linear(m->pool, residual, term_leaf(&builder, last->unknown), &coefficient, &rest) ||
        expr_is_real(coefficient, 0))
        return TERM_NONE;
    const Expr *solution = expr_binary(m->pool, OP_DIV, rest, expr_unary(m->pool, OP_NEG, coefficient));
    return term_make(m, expr_simplify(m->pool, solution), builder.refs.at);
}

static bool is_small(const Block *b)
{
    return b->kind == BLOCK_LINEAR && !b->mixed && b->n_rows - b->n_inner == 1 && b->n_rows <= MOST_ROWS;
}

bool solve_small(Compile *c)
{
    Schedule *s = c->schedule;
    if (c->systems != SYSTEMS_SYMBOLIC)
        return true;
    const uint32_t n = s->blocks.n;
    const Block *before = s->blocks.at;
    s->blocks.at = NULL;
    s->blocks.n = s->blocks.capacity = 0;
    vec_reserve(c->arena, &s->blocks, n);
    for (uint32_t k = 0; k < n; k++) {
        const Block *b = &before[k];
        const SystemRow *rows = s->rows.at + b->first_row;
        const Term solution = is_small(b) ? solve_last(c->model, rows, b->n_rows) : TERM_NONE;
        if (term_is_absent(solution)) {
            vec_push(c->arena, &s->blocks, *b);
            continue;
        }
        const SystemRow *last = &rows[b->n_rows - 1];
        vec_push(c->arena, &s->blocks, assignment(b, last->equation, term_ref(c->model, last->unknown), solution));
        for (uint32_t j = 0; j < b->n_inner; j++)
            vec_push(c->arena, &s->blocks, assignment(b, rows[j].equation, rows[j].lhs, rows[j].rhs));
    }
    return true;
}
