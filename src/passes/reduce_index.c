/* reduce-index: equations between states (two capacitors in parallel, a pendulum's rod) are differentiated until the
 * highest derivatives can be computed (Pantelides); as many derivatives become unknowns of their own as equations were
 * added (dummy derivatives), so that the constraints themselves hold, too, and the rest are states.
 *
 * Models that do not need it are looked at once and left alone. */
#include "passes/reduce_index.h"
#include "passes/roles.h"
#include "base/bug.h"
#include "graph/dulmage.h"
#include "graph/matching.h"
#include "graph/sets.h"

enum { MOST_DIFFERENTIATIONS = 32, MOST_NOTES = 8 };

static bool takes_part(const Equation *e)
{
    return e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM && e->when_valid != VALID_INITIAL_ONLY &&
           e->lhs.shape->type.kind == TYPE_REAL;
}

/* An equation that match-equations may solve for anything in it. */
static bool is_open(const Equation *e)
{
    return e->kind == EQUATION_RESIDUAL && e->domain.index == 0 && !e->lhs.shape->has_index && !e->rhs.shape->has_index;
}

static Ref left_ref(const Model *m, const Equation *e)
{
    return term_refs(m, e->lhs)[e->lhs.shape->u.leaf];
}

/* ---- is there anything to do? ---- */
static void number_unknowns(const Model *m, uint32_t *now, uint32_t *der, uint32_t *n)
{
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        now[k] = der[k] = ID_NONE;
        if (!var_is_none(v->alias) || v->type.rank || v->type.kind != TYPE_REAL)
            continue;
        if (v->definition == DEFINITION_NOW)
            now[k] = (*n)++;
        else if (v->definition == DEFINITION_DER)
            der[k] = (*n)++;
    }
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_DROPPED || e->when_valid == VALID_INITIAL_ONLY || !equation_is_directed(e))
            continue;
        const Ref ref = left_ref(m, e);
        if (!var_is_none(ref.var))
            (ref.kind == REF_DER ? der : now)[ref.var.index] = ID_NONE; /* determined */
    }
}

/* Every equation without direction finds an unknown, states being known. */
static bool is_index_one(Compile *c)
{
    const Model *m = c->model;
    uint32_t *now = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
             *der = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1), n_columns = 0, n_rows = 0;
    number_unknowns(m, now, der, &n_columns);
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!takes_part(e) || !is_open(e))
            continue;
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[side])[j];
                if (ref.kind != REF_NOW && ref.kind != REF_DER)
                    continue;
                const Edge edge = { n_rows, (ref.kind == REF_DER ? der : now)[ref.var.index] };
                if (edge.column != ID_NONE)
                    vec_push(c->scratch, &edges, edge);
            }
        n_rows++;
    }
    if (n_rows == 0)
        return true;
    const Incidence g = incidence_build(n_rows, n_columns, edges.at, edges.n, c->scratch);
    uint32_t *column_of_row = NEW_ARRAY(c->scratch, uint32_t, n_rows + 1),
             *row_of_column = NEW_ARRAY(c->scratch, uint32_t, n_columns + 1);
    return match_rows(&g, c->scratch, column_of_row, row_of_column) == n_rows;
}

/* ---- quantities ---- */
static bool has_quantity(const Variable *v)
{
    return var_is_none(v->alias) && v->type.rank == 0 && v->type.kind == TYPE_REAL &&
           v->variability == VARIABILITY_CONTINUOUS &&
           (v->definition == DEFINITION_NOW || v->definition == DEFINITION_DER);
}

/* der(x) = v, in either direction. */
static bool is_link(const Reduction *r, const Equation *e, uint32_t *x, uint32_t *v)
{
    const Model *m = r->model;
    if (!takes_part(e) || e->domain.index || e->lhs.shape->kind != EXPR_LEAF || e->rhs.shape->kind != EXPR_LEAF ||
        e->lhs.shape->n_args || e->rhs.shape->n_args || e->kind == EQUATION_ITERATION)
        return false;
    Ref a = term_refs(m, e->lhs)[0], b = term_refs(m, e->rhs)[0];
    if (a.kind == REF_NOW) {
        const Ref t = a;
        a = b;
        b = t;
    }
    if (a.kind != REF_DER || b.kind != REF_NOW || !has_quantity(model_var(m, a.var)) ||
        !has_quantity(model_var(m, b.var)))
        return false;
    *x = a.var.index;
    *v = b.var.index;
    return true;
}

static void link_variables(Reduction *r)
{
    Model *m = r->model;
    Arena *scratch = r->c->scratch;
    uint32_t *parent = sets_create(scratch, m->variables.n);
    bool *follows = NEW_ARRAY(scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++)
        r->chains.follower[k] = r->chains.link[k] = r->chains.quantity[k] = ID_NONE;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        uint32_t x, v;
        if (!is_link(r, &m->equations.at[k], &x, &v) || r->chains.follower[x] != ID_NONE || follows[v] ||
            sets_root(parent, x) == sets_root(parent, v)) /* der(x) = x is no chain */
            continue;
        r->chains.follower[x] = v;
        r->chains.link[x] = k;
        follows[v] = true;
        sets_join(parent, x, v);
    }
    r->quantities.head = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1);
    r->quantities.present = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        if (!has_quantity(&m->variables.at[k]) || follows[k])
            continue;
        r->quantities.head[r->quantities.n] = k;
        uint32_t order = 0, last = k;
        for (uint32_t v = k; v != ID_NONE; v = r->chains.follower[v], order++) {
            r->chains.quantity[v] = r->quantities.n;
            r->chains.order[v] = order;
            last = v;
        }
        r->quantities.present[r->quantities.n++] = order - (m->variables.at[last].definition != DEFINITION_DER);
    }
}

/* ---- rows ---- */
static bool is_a_link(const Reduction *r, uint32_t equation)
{
    uint32_t x, v;
    return is_link(r, &r->model->equations.at[equation], &x, &v) && r->chains.link[x] == equation;
}

typedef VEC(Edge) EdgeList;

static void list_leaves(Reduction *r, Term term, EdgeList *edges, uint32_t **orders, uint32_t *capacity)
{
    for (uint32_t j = 0; j < term.shape->n_leaves; j++) {
        Edge edge = { .row = r->rows.n };
        uint32_t order;
        if (!quantity_of(r, term_refs(r->model, term)[j], &edge.column, &order))
            continue;
        vec_push(r->c->scratch, edges, edge);
        if (edges->n > *capacity) {
            const uint32_t larger = *capacity ? 2 * *capacity : 1024;
            *orders = arena_grow(r->c->scratch, *orders, *capacity * sizeof **orders, larger * sizeof **orders,
                                 sizeof **orders);
            *capacity = larger;
        }
        (*orders)[edges->n - 1] = order;
    }
}

/* Compressed rows with the orders beside them; entries stay as they are met, equal ones too. */
static void pack_rows(Reduction *r, const EdgeList *edges, const uint32_t *orders)
{
    uint32_t *start = NEW_ARRAY(r->c->scratch, uint32_t, r->rows.n + 1),
             *index = NEW_ARRAY(r->c->scratch, uint32_t, edges->n + 1);
    for (uint32_t k = 0; k < edges->n; k++) {
        start[edges->at[k].row + 1]++;
        index[k] = edges->at[k].column;
    }
    for (uint32_t k = 0; k < r->rows.n; k++)
        start[k + 1] += start[k];
    r->rows.incidence = (Incidence){ r->rows.n, r->quantities.n, start, index };
    r->rows.order = NEW_ARRAY(r->c->scratch, uint32_t, edges->n + 1);
    if (edges->n)
        memcpy(r->rows.order, orders, edges->n * sizeof *orders);
}

static void list_rows(Reduction *r)
{
    Model *m = r->model;
    Arena *scratch = r->c->scratch;
    EdgeList edges = { 0 };
    uint32_t *orders = NULL, capacity = 0;
    r->rows.equation = NEW_ARRAY(scratch, uint32_t, m->equations.n + 1);
    r->rows.is_rigid = NEW_ARRAY(scratch, bool, m->equations.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!takes_part(e) || e->domain.index || is_a_link(r, k))
            continue;
        const bool is_rigid = e->kind == EQUATION_ITERATION || e->lhs.shape->has_index ||
                              (e->kind == EQUATION_EXPLICIT && e->rhs.shape->has_index);
        if (is_rigid || e->kind == EQUATION_EXPLICIT) {
            uint32_t quantity, order;
            if (e->lhs.shape->kind != EXPR_LEAF || !quantity_of(r, left_ref(m, e), &quantity, &order))
                continue; /* determines an array or something discrete */
        }
        list_leaves(r, e->lhs, &edges, &orders, &capacity);
        if (!is_rigid)
            list_leaves(r, e->rhs, &edges, &orders, &capacity);
        r->rows.is_rigid[r->rows.n] = is_rigid;
        r->rows.equation[r->rows.n++] = k;
    }
    pack_rows(r, &edges, orders);
}

/* ---- systems that no differentiation makes solvable ---- */
static const char *quantity_text(const Reduction *r, uint32_t quantity)
{
    return variable_path(r->model, (VarId){ r->quantities.head[quantity] }, r->c->scratch);
}

static void explain_row(Reduction *r, const uint32_t *row_of_column, uint32_t row)
{
    const Model *m = r->model;
    Diag *diag = r->c->diag;
    const SubSystem s = explain_unmatched_row(&r->rows.incidence, row_of_column, row, r->c->scratch);
    uint32_t *equations = NEW_ARRAY(r->c->scratch, uint32_t, s.n_rows + 1), first, second;
    for (uint32_t j = 0; j < s.n_rows; j++)
        equations[j] = r->rows.equation[s.rows[j]];
    const bool has_equal = find_equal_equations(m, equations, s.n_rows, &first, &second);
    diag_error(diag, DIAG_SINGULAR, m->equations.at[has_equal ? second : r->rows.equation[row]].origin.span,
               "%stoo many equations: %u equation%s for %u unknown%s, also when differentiated",
               has_equal ? "this equation stands twice: " : "", s.n_rows, s.n_rows == 1 ? "" : "s", s.n_columns,
               s.n_columns == 1 ? "" : "s");
    if (has_equal)
        note_equation(r->c, first, "says the same");
    for (uint32_t j = 0; j < s.n_rows; j++)
        blame_equation(r->c, r->rows.equation[s.rows[j]]);
    for (uint32_t j = 0; j < s.n_columns; j++)
        blame_unknown(r->c, ref_now((VarId){ r->quantities.head[s.columns[j]] }));
    for (uint32_t j = 0; j < s.n_rows && j < MOST_NOTES; j++)
        if (has_equal ? r->rows.equation[s.rows[j]] != first && r->rows.equation[s.rows[j]] != second
                      : s.rows[j] != row)
            note_equation(r->c, r->rows.equation[s.rows[j]], "belongs to them");
    for (uint32_t j = 0; j < s.n_columns && j < MOST_NOTES; j++)
        diag_note(diag, m->variables.at[r->quantities.head[s.columns[j]]].span, "unknown '%s', and its derivatives",
                  quantity_text(r, s.columns[j]));
    diag_help(diag, "remove one of these equations, or make one of their known quantities unknown");
}

/* False: equations contradict each other whatever is differentiated. Such a system is explained here if it has
 * constraints between states besides; else by match-equations, *is_plain. */
static bool is_regular(Reduction *r, bool *is_plain)
{
    Arena *scratch = r->c->scratch;
    uint32_t *column_of_row = NEW_ARRAY(scratch, uint32_t, r->rows.n + 1),
             *row_of_column = NEW_ARRAY(scratch, uint32_t, r->quantities.n + 1);
    const uint32_t size = match_rows(&r->rows.incidence, scratch, column_of_row, row_of_column);
    if (size == r->rows.n)
        return true;
    const Pantelides first = pantelides(&r->rows.incidence, r->rows.order, r->quantities.present, 0, scratch, NULL);
    uint32_t unmatched = 0;
    for (uint32_t k = 0; k < r->rows.n; k++)
        unmatched += first.column_of_row[k] == MATCH_NONE;
    *is_plain = unmatched == r->rows.n - size;
    for (uint32_t k = 0; k < r->rows.n && !*is_plain; k++)
        if (column_of_row[k] == MATCH_NONE)
            explain_row(r, row_of_column, k);
    return false;
}

/* ---- the pass ---- */
static bool check_rigid(Reduction *r)
{
    bool good = true;
    for (uint32_t k = 0; k < r->rows.n; k++) {
        if (!r->rows.is_rigid[k] || r->p.differentiated[k] == 0)
            continue;
        good = false;
        diag_error(r->c->diag, DIAG_NOT_DIFFERENTIABLE, r->model->equations.at[r->rows.equation[k]].origin.span,
                   "this equation must be differentiated, because states depend on each other, but it is an iteration "
                   "formula or has elements of an array");
        diag_help(r->c->diag, "write it as an equation between scalar quantities");
    }
    return good;
}

/* A state that is wanted, but has no derivative anywhere. */
static void check_wishes(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (v->select != SELECT_ALWAYS || v->definition != DEFINITION_NOW || !var_is_none(v->alias))
            continue;
        diag_warning(c->diag, DIAG_STATE_NO_EFFECT, v->span, "'%s' shall be a state, but nothing needs its derivative",
                     variable_path(m, (VarId){ k }, c->scratch));
        diag_help(c->diag, "the wish has no effect; name a variable under der, or one that is bound to such variables");
    }
}

static bool reduce(Compile *c)
{
    Model *m = c->model;
    const size_t n = m->variables.n + 1u;
    Reduction r = { .c = c,
                    .model = m,
                    .chains.quantity = NEW_ARRAY(c->scratch, uint32_t, n),
                    .chains.order = NEW_ARRAY(c->scratch, uint32_t, n),
                    .chains.follower = NEW_ARRAY(c->scratch, uint32_t, n),
                    .chains.link = NEW_ARRAY(c->scratch, uint32_t, n) };
    link_variables(&r);
    list_rows(&r);
    bool is_plain = false;
    if (!is_regular(&r, &is_plain))
        return is_plain;
    r.p = pantelides(&r.rows.incidence, r.rows.order, r.quantities.present, MOST_DIFFERENTIATIONS, c->scratch, NULL);
    if (!r.p.is_complete) {
        diag_error(c->diag, DIAG_INDEX_LIMIT, m->span,
                   "some equation would have to be differentiated more than %d times", MOST_DIFFERENTIATIONS);
        diag_help(c->diag, "long chains of derivatives are prescribed: state fewer of them");
        return false;
    }
    if (r.p.most == 0)
        return true;
    if (!check_rigid(&r) || !select_states(&r) || !write_reduced(&r))
        return false;
    return !r.is_again || reduce(c);
}

bool reduce_index(Compile *c)
{
    if (!is_index_one(c) && !reduce(c))
        return false;
    check_wishes(c);
    return true;
}
