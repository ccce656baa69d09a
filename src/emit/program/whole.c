/* The whole Jacobian: not of the derivatives by the states alone, but of every equation of the derivatives part by what
 * stands in it. Columns are the states and then what the equations define, in their order; rows likewise. Where all
 * states depend on each other through few quantities, as at a node with many objects, it is as sparse as the equations
 * are, while the derivatives by the states would be a full matrix. docs/decisions/0020 says more. */
#include "base/bug.h"
#include "emit/program/parts.h"
#include "ir/derive.h"
#include "ir/simplify.h"

typedef struct {
    Systems *ss;
    uint32_t *now, *der; /* per variable: its column, the column of its derivative; or KOINE_NONE */
    uint32_t n;          /* columns */
    VEC(uint32_t) start, index, entry;
    VEC(double) constant;
    Entries section;
} Whole;

static uint32_t column_of(const Whole *w, Ref ref)
{
    if (ref.kind == REF_NOW)
        return w->now[ref.var.index];
    return ref.kind == REF_DER ? w->der[ref.var.index] : KOINE_NONE;
}

static void add_column(Whole *w, Ref ref)
{
    (ref.kind == REF_DER ? w->der : w->now)[ref.var.index] = w->n++;
}

static void number_columns(Whole *w)
{
    const Schedule *s = w->ss->schedule;
    for (uint32_t k = 0; k < w->ss->ks->model->variables.n; k++)
        w->now[k] = w->der[k] = KOINE_NONE;
    for (uint32_t k = 0; k < s->states.n; k++)
        add_column(w, ref_now(s->states.at[k]));
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        if (!block_is_system(b))
            add_column(w, term_refs(w->ss->ks->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]);
        for (uint32_t j = 0; block_is_system(b) && j < b->u.system.n_rows; j++)
            add_column(w, s->rows.at[b->u.system.first_row + j].unknown);
    }
}

static void put_entry(Whole *w, uint32_t column, uint32_t slot, double constant)
{
    Arena *arena = w->ss->ks->arena;
    vec_push(arena, &w->index, column);
    vec_push(arena, &w->entry, slot);
    vec_push(arena, &w->constant, constant);
}

/* Partial derivatives of a term by all columns. */
static void put_derivatives(Whole *w, Term term, Span span)
{
    Kernels *ks = w->ss->ks;
    Model *m = ks->model;
    const uint32_t n = term.shape->n_leaves;
    const ArenaMark mark = arena_mark(ks->scratch);
    bool *is_wanted = NEW_ARRAY(ks->scratch, bool, n + 1);
    for (uint32_t k = 0; k < n; k++)
        is_wanted[k] = column_of(w, term_refs(m, term)[k]) != KOINE_NONE;
    const Gradient gradient = expr_gradient(m->pool, expr_simplify(m->pool, term.shape), is_wanted, ks->scratch);
    for (uint32_t k = 0; k < gradient.n; k++) {
        const Partial *partial = &gradient.at[k];
        const uint32_t column = column_of(w, term_refs(m, term)[partial->leaf]);
        KoineSlot constant = { .r = 0 };
        REQUIRE(partial->derivative);
        if (literal_value(partial->derivative, &constant)) {
            if (constant.r != 0)
                put_entry(w, column, KOINE_NONE, constant.r);
            continue;
        }
        const Term derivative = term_make(m, partial->derivative, term_refs(m, term));
        const uint32_t slot = take_slots(ks, 1);
        put_entry(w, column, slot, 0);
        add_entry(ks, &w->section, lay_terms(ks, 1, &derivative, &slot), KOINE_NONE, span);
    }
    arena_reset(ks->scratch, mark);
}

/* 0 = term - v. */
static void put_explicit(Whole *w, Ref ref, Term term, Span span)
{
    put_entry(w, column_of(w, ref), KOINE_NONE, -1);
    put_derivatives(w, term, span);
    vec_push(w->ss->ks->arena, &w->start, w->index.n);
}

static void put_system(Whole *w, const Block *b)
{
    Model *m = w->ss->ks->model;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        const SystemRow *row = &w->ss->schedule->rows.at[b->u.system.first_row + k];
        const Span span = m->equations.at[row->equation.index].origin.span;
        if (k < b->u.system.n_inner) {
            put_explicit(w, row->unknown, row->rhs, span);
            continue;
        }
        TermBuilder builder = term_builder(m);
        const Expr *e = expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
        put_derivatives(w, term_finish(&builder, expr_simplify(m->pool, e)), span);
        vec_push(w->ss->ks->arena, &w->start, w->index.n);
    }
}

WholeJacobian lay_whole(Systems *ss)
{
    const Schedule *s = ss->schedule;
    Kernels *ks = ss->ks;
    const uint32_t n = ks->model->variables.n + 1;
    const ShareRequest alone = { .repeats = 0 };
    Entries shared = { 0 };
    if (!s->is_whole)
        return (WholeJacobian){ .entries.section = KOINE_NONE };
    Whole w = { .ss = ss, .now = NEW_ARRAY(ks->arena, uint32_t, n), .der = NEW_ARRAY(ks->arena, uint32_t, n) };
    number_columns(&w);
    vec_push(ks->arena, &w.start, 0);
    for (uint32_t k = 0; k < s->states.n; k++) { /* how a state changes is a column */
        if (w.der[s->states.at[k].index] != KOINE_NONE)
            put_entry(&w, w.der[s->states.at[k].index], KOINE_NONE, 1);
        vec_push(ks->arena, &w.start, w.index.n);
    }
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        if (block_is_system(b))
            put_system(&w, b);
        else
            put_explicit(&w, term_refs(ks->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf], b->u.assign.rhs,
                         ks->model->equations.at[b->equation.index].origin.span);
    }
    REQUIRE(w.start.n == w.n + 1);
    share_survey(ss->share, 1, (const Entries *const[]){ &w.section });
    share_entries(ss->share, &alone, &w.section, &shared, NULL);
    return (WholeJacobian){ .entries = { .section = lay_section(ks, "whole_jacobian", &shared),
                                         .entries = w.entry.at,
                                         .constants = w.constant.at },
                            .pattern = { .rows = w.n, .columns = w.n, .start = w.start.at, .index = w.index.at } };
}
