/* solve-whens: an equation that holds in the steps of a transition only becomes an assignment of that transition.
 *
 * What an equation sets is found by matching. Discrete variables are taken before continuous ones, a variable alone on
 * a side before one inside; where that leaves a choice, the equations that always hold decide: they are matched without
 * the variables chosen so far, and only if that fails may they push a choice aside. A variable that is set becomes
 * discrete. An equation that cannot be solved symbolically stays, in the form `if fired then it, else v = pre(v)`.
 *
 * In a group one transition may set what another one sets, too: the first one with equations is matched among all,
 * those behind it set what the group sets already. */
#include "graph/matching.h"
#include "ir/solve.h"
#include "passes/pipeline.h"
#include <string.h>

typedef enum { RANK_DISCRETE, RANK_LEFT, RANK_RIGHT, RANK_INSIDE, RANK_COUNT } Rank;

typedef struct {
    uint32_t row, column; /* equation in `rows`, variable */
    uint8_t rank;
} Choice;

typedef struct {
    Compile *c;
    Model *model;
    bool *is_given;      /* per variable: something with a direction defines it */
    uint32_t *set_by;    /* per variable: the group whose transitions set it, and nothing else; 0: none */
    uint32_t *first_of;  /* per group: 1 + its first transition with rows */
    bool is_later;       /* rows of a transition that is not the first of its group */
    VEC(uint32_t) rows;  /* equations of transitions */
    VEC(uint32_t) later; /* those of transitions behind the first of a group */
    VEC(Choice) choices; /* in the order of rows */
    uint32_t *chosen;    /* per row: variable, or MATCH_NONE */
} Solver;

/* ---- candidates ---- */
static void note_given(Solver *s)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (equation_is_directed(e) && term_refs(m, e->lhs)[e->lhs.shape->u.leaf].kind == REF_NOW)
            s->is_given[term_refs(m, e->lhs)[e->lhs.shape->u.leaf].var.index] = true;
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; j < t->n_assignments; j++) {
            const Term target = m->assignments.at[t->first_assignment + j].target;
            const uint32_t v = term_refs(m, target)[target.shape->u.leaf].var.index;
            if (!s->is_given[v])
                s->set_by[v] = t->group;
            else if (s->set_by[v] != t->group)
                s->set_by[v] = 0;
            s->is_given[v] = true;
        }
    }
}

static bool can_be_set(const Solver *s, Ref ref)
{
    if (ref.kind != REF_NOW || var_is_none(ref.var))
        return false;
    const Variable *v = model_var(s->model, ref.var);
    return v->definition == DEFINITION_NOW && v->type.rank == 0;
}

static bool is_free(const Solver *s, Ref ref)
{
    return can_be_set(s, ref) && !s->is_given[ref.var.index];
}

static bool assigns(const Model *m, const Transition *t, VarId v)
{
    for (uint32_t j = 0; j < t->n_assignments; j++) {
        const Term target = m->assignments.at[t->first_assignment + j].target;
        if (term_refs(m, target)[target.shape->u.leaf].var.index == v.index)
            return true;
    }
    return false;
}

/* Free for an equation of the transition: so is what others of its group set. */
static bool is_free_in(const Solver *s, const Transition *t, Ref ref)
{
    if (!can_be_set(s, ref))
        return false;
    if (t->group && s->set_by[ref.var.index] == t->group)
        return !assigns(s->model, t, ref.var);
    return !s->is_later && !s->is_given[ref.var.index];
}

static void add_choices(Solver *s, uint32_t row)
{
    const Model *m = s->model;
    const Equation *e = &m->equations.at[s->rows.at[row]];
    const Term sides[] = { e->lhs, e->rhs };
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(m, sides[side])[k];
            if (!is_free_in(s, &m->transitions.at[e->when - 1], ref) || model_var(m, ref.var)->clock != e->clock ||
                !type_equal(model_var(m, ref.var)->type, e->lhs.shape->type))
                continue;
            const Rank rank = model_var(m, ref.var)->variability == VARIABILITY_DISCRETE ? RANK_DISCRETE
                              : sides[side].shape->kind != EXPR_LEAF                     ? RANK_INSIDE
                              : side == 0                                                ? RANK_LEFT
                                                                                         : RANK_RIGHT;
            const Choice choice = { row, ref.var.index, (uint8_t)rank };
            vec_push(s->c->scratch, &s->choices, choice);
        }
}

static bool can_be_solved(Solver *s, const Equation *e)
{
    const bool is_array = e->domain.index || e->lhs.shape->type.rank; /* split-arrays has written out the others */
    if (is_array)
        diag_error(s->c->diag, DIAG_NOT_YET, e->origin.span,
                   "an array equation in a transition cannot be executed yet");
    return !is_array;
}

static bool is_row(const Equation *e)
{
    return e->when && e->kind == EQUATION_RESIDUAL;
}

/* Of each group the transition of the lowest rank that has equations without direction. */
static void find_first(Solver *s)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        if (!is_row(&m->equations.at[k]))
            continue;
        const uint32_t when = m->equations.at[k].when;
        const Transition *t = &m->transitions.at[when - 1];
        uint32_t *first = &s->first_of[t->group];
        if (*first == 0 || t->rank < m->transitions.at[*first - 1].rank)
            *first = when;
    }
}

static bool is_of_first(const Solver *s, const Equation *e)
{
    const uint32_t group = s->model->transitions.at[e->when - 1].group;
    return group == 0 || s->first_of[group] == e->when;
}

static void list_rows(Solver *s)
{
    const Model *m = s->model;
    find_first(s);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        if (!is_row(&m->equations.at[k]) || !can_be_solved(s, &m->equations.at[k]))
            continue;
        if (!is_of_first(s, &m->equations.at[k])) {
            vec_push(s->c->scratch, &s->later, k);
            continue;
        }
        vec_push(s->c->scratch, &s->rows, k);
        add_choices(s, s->rows.n - 1);
    }
}

/* ---- matching ---- */
/* Is there a choice that the other equations may know better? */
static bool choose(Solver *s)
{
    Arena *scratch = s->c->scratch;
    const uint32_t n_columns = s->model->variables.n;
    s->chosen = NEW_ARRAY(scratch, uint32_t, s->rows.n + 1);
    uint32_t *row_of = NEW_ARRAY(scratch, uint32_t, n_columns + 1);
    for (uint32_t k = 0; k < s->rows.n; k++)
        s->chosen[k] = MATCH_NONE;
    uint32_t size = 0, rank = 0;
    for (; rank < RANK_COUNT && size < s->rows.n; rank++) {
        VEC(Edge) edges = { 0 };
        for (uint32_t k = 0; k < s->choices.n; k++) {
            const Edge edge = { s->choices.at[k].row, s->choices.at[k].column };
            if (s->choices.at[k].rank <= rank)
                vec_push(scratch, &edges, edge);
        }
        const Incidence g = incidence_build(s->rows.n, n_columns, edges.at, edges.n, scratch);
        size = match_rows_from(&g, scratch, s->chosen, s->chosen, row_of, NULL);
    }
    return size == s->rows.n && rank > RANK_DISCRETE + 1;
}

/* An equation without direction that always holds; of branches the first stands for all. */
static bool always_holds(const Equation *e)
{
    return e->kind == EQUATION_RESIDUAL && !e->when && e->when_valid != VALID_INITIAL_ONLY && !e->domain.index &&
           e->lhs.shape->type.rank == 0 && e->branch <= 1;
}

typedef struct {
    uint32_t n_rows, n_choices; /* added so far */
    VEC(Edge) edges;
} Whole;

static void add_edge(Solver *s, Whole *w, uint32_t column)
{
    const Edge edge = { w->n_rows, column };
    vec_push(s->c->scratch, &w->edges, edge);
}

/* Rows: those of the transitions, then those that always hold. Columns: derivatives behind all variables. */
static void build_whole(Solver *s, Whole *w)
{
    const Model *m = s->model;
    for (; w->n_rows < s->rows.n; w->n_rows++)
        for (; w->n_choices < s->choices.n && s->choices.at[w->n_choices].row == w->n_rows; w->n_choices++)
            add_edge(s, w, s->choices.at[w->n_choices].column);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!always_holds(e))
            continue;
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[side])[j];
                if (is_free(s, ref))
                    add_edge(s, w, ref.var.index);
                else if (ref.kind == REF_DER)
                    add_edge(s, w, m->variables.n + ref.var.index);
            }
        w->n_rows++;
    }
}

/* The edges of the rows from `first` on, without those to taken columns. */
static Incidence open_edges(Solver *s, const Whole *w, uint32_t first, const bool *is_taken)
{
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < w->edges.n; k++)
        if (w->edges.at[k].row >= first && !(is_taken && is_taken[w->edges.at[k].column]))
            vec_push(s->c->scratch, &edges, w->edges.at[k]);
    return incidence_build(w->n_rows, 2 * s->model->variables.n, edges.at, edges.n, s->c->scratch);
}

/* Do the equations that always hold leave the choices alone? Else the two are matched together, and what comes out
 * counts if all fit. If they do not because a when has too many equations, it loses its choice; a model whose other
 * equations do not fit either, as those that have to be differentiated, is left as it is. */
static void reconsider(Solver *s)
{
    Arena *scratch = s->c->scratch;
    const uint32_t n_columns = 2 * s->model->variables.n;
    Whole w = { 0 };
    build_whole(s, &w);
    bool *is_taken = NEW_ARRAY(scratch, bool, n_columns + 1);
    uint32_t *column_of = NEW_ARRAY(scratch, uint32_t, w.n_rows + 1);
    uint32_t *row_of = NEW_ARRAY(scratch, uint32_t, n_columns + 1);
    for (uint32_t k = 0; k < s->rows.n; k++)
        is_taken[s->chosen[k]] = true;
    Incidence g = open_edges(s, &w, s->rows.n, is_taken);
    if (match_rows(&g, scratch, column_of, row_of) == w.n_rows - s->rows.n)
        return;
    for (uint32_t k = 0; k < s->rows.n; k++)
        column_of[k] = s->chosen[k];
    g = open_edges(s, &w, 0, NULL);
    const bool is_whole = match_rows_from(&g, scratch, column_of, column_of, row_of, NULL) == w.n_rows;
    const Incidence others = open_edges(s, &w, s->rows.n, NULL);
    if (!is_whole && match_rows(&others, scratch, column_of, row_of) < w.n_rows - s->rows.n)
        return;
    if (!is_whole)
        match_rows_from(&g, scratch, column_of, column_of, row_of, NULL);
    memcpy(s->chosen, column_of, s->rows.n * sizeof *s->chosen);
}

/* ---- groups ---- */
/* What the first transitions of groups set can be set by the others. */
static void note_groups(Solver *s)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < s->rows.n; k++) {
        const uint32_t v = s->chosen[k], group = m->transitions.at[m->equations.at[s->rows.at[k]].when - 1].group;
        if (v == MATCH_NONE)
            continue;
        s->is_given[v] = true;
        s->set_by[v] = group;
    }
}

/* By transitions. */
static void sort_later(Solver *s)
{
    const Model *m = s->model;
    uint32_t *start = NEW_ARRAY(s->c->scratch, uint32_t, m->transitions.n + 2);
    uint32_t *sorted = NEW_ARRAY(s->c->scratch, uint32_t, s->later.n + 1);
    for (uint32_t k = 0; k < s->later.n; k++)
        start[m->equations.at[s->later.at[k]].when]++;
    for (uint32_t k = 0; k < m->transitions.n; k++)
        start[k + 1] += start[k];
    for (uint32_t k = s->later.n; k-- > 0;)
        sorted[--start[m->equations.at[s->later.at[k]].when]] = s->later.at[k];
    s->later.at = sorted;
}

/* The equations of a transition behind the first of its group, from `first` on; gives the end of them. */
static uint32_t choose_later(Solver *s, uint32_t first)
{
    const Model *m = s->model;
    const uint32_t when = m->equations.at[s->later.at[first]].when;
    Solver own = { .c = s->c, .model = s->model, .is_given = s->is_given, .set_by = s->set_by, .is_later = true };
    uint32_t end = first;
    for (; end < s->later.n && m->equations.at[s->later.at[end]].when == when; end++) {
        vec_push(s->c->scratch, &own.rows, s->later.at[end]);
        add_choices(&own, own.rows.n - 1);
    }
    choose(&own);
    uint32_t *chosen = NEW_ARRAY(s->c->scratch, uint32_t, s->rows.n + own.rows.n + 1);
    memcpy(chosen, s->chosen, s->rows.n * sizeof *chosen);
    memcpy(chosen + s->rows.n, own.chosen, own.rows.n * sizeof *chosen);
    for (uint32_t k = 0; k < own.rows.n; k++)
        vec_push(s->c->scratch, &s->rows, own.rows.at[k]);
    s->chosen = chosen;
    return end;
}

/* ---- solving ---- */
/* v := e in the transition; false: it has no closed form. */
static bool assign(Solver *s, const Equation *e, VarId v, Assignment *out)
{
    Model *m = s->model;
    TermBuilder builder = term_builder(m);
    const Expr *lhs = term_import(&builder, e->lhs), *rhs = term_import(&builder, e->rhs);
    const Expr *leaf = term_leaf(&builder, ref_now(v)), *solution = NULL;
    if (lhs == leaf && !expr_depends_on(rhs, leaf))
        solution = rhs;
    else if (rhs == leaf && !expr_depends_on(lhs, leaf))
        solution = lhs;
    else
        solution = expr_solve(m->pool, lhs, rhs, leaf);
    if (!solution)
        return false;
    *out = (Assignment){ .target = term_ref(m, ref_now(v)),
                         .value = term_make(m, solution, builder.refs.at),
                         .span = e->origin.span };
    return true;
}

/* (if fired then lhs else v) = (if fired then rhs else pre(v)) */
static bool keep(Solver *s, uint32_t equation, VarId v)
{
    Model *m = s->model;
    Equation *e = &m->equations.at[equation];
    if (e->lhs.shape->type.kind != TYPE_REAL) {
        diag_error(s->c->diag, DIAG_UNSOLVABLE_LOOP, e->origin.span,
                   "this equation cannot be solved for '%s', which is not Real", variable_path(m, v, s->c->scratch));
        diag_help(s->c->diag, "write it as v = ... for a quantity that is not Real");
        return false;
    }
    const Ref fired = { { e->when - 1 }, REF_FIRED };
    Term *sides[] = { &e->lhs, &e->rhs };
    for (uint32_t k = 0; k < 2; k++) {
        TermBuilder builder = term_builder(m);
        const Expr *condition = term_leaf(&builder, fired), *own = term_import(&builder, *sides[k]);
        const Expr *held = term_leaf(&builder, k == 0 ? ref_now(v) : ref_pre(v));
        *sides[k] = term_finish(&builder, expr_if(m->pool, condition, expr_no_event(m->pool, own), held));
    }
    e->origin.made_by = "solve-whens";
    return true;
}

/* Assignments of a transition stand together: all move behind the others. */
static void append(Solver *s, uint32_t transition, const Assignment *new, uint32_t n)
{
    Model *m = s->model;
    Transition *t = &m->transitions.at[transition];
    const uint32_t first = m->assignments.n;
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment old = m->assignments.at[t->first_assignment + k];
        vec_push(m->arena, &m->assignments, old);
    }
    for (uint32_t k = 0; k < n; k++)
        vec_push(m->arena, &m->assignments, new[k]);
    t->first_assignment = first;
    t->n_assignments += n;
}

static bool solve_row(Solver *s, uint32_t row, Assignment *out, bool *is_assigned)
{
    Model *m = s->model;
    Equation *e = &m->equations.at[s->rows.at[row]];
    if (s->chosen[row] == MATCH_NONE) {
        diag_error(s->c->diag, DIAG_SINGULAR, e->origin.span, "this equation of an event sets nothing");
        if (m->transitions.at[e->when - 1].group)
            diag_help(s->c->diag, "in a group it sets what the first transition with equations sets, or an assignment");
        else
            diag_help(s->c->diag, "what it contains is given, has an equation of its own, or is set by another event");
        return false;
    }
    const VarId v = { s->chosen[row] };
    Variable *variable = model_var(m, v);
    if (variable->variability == VARIABILITY_CONTINUOUS)
        variable->variability = VARIABILITY_DISCRETE;
    *is_assigned = assign(s, e, v, out);
    if (!*is_assigned && m->transitions.at[e->when - 1].group) {
        diag_error(s->c->diag, DIAG_NOT_YET, e->origin.span,
                   "an equation without closed form in a group of transitions cannot be executed yet");
        diag_help(s->c->diag, "write it as %s = ...", variable_path(m, v, s->c->scratch));
        return false;
    }
    if (!*is_assigned)
        return keep(s, s->rows.at[row], v);
    e = &m->equations.at[s->rows.at[row]];
    e->kind = EQUATION_DROPPED;
    return true;
}

static void solve_rows(Solver *s)
{
    Model *m = s->model;
    uint32_t *count = NEW_ARRAY(s->c->scratch, uint32_t, m->transitions.n + 1);
    Assignment *rows = NEW_ARRAY(s->c->scratch, Assignment, s->rows.n + 1);
    bool *is_assigned = NEW_ARRAY(s->c->scratch, bool, s->rows.n + 1);
    uint32_t *when = NEW_ARRAY(s->c->scratch, uint32_t, s->rows.n + 1);
    for (uint32_t k = 0; k < s->rows.n; k++) {
        when[k] = m->equations.at[s->rows.at[k]].when - 1;
        if (solve_row(s, k, &rows[k], &is_assigned[k]) && is_assigned[k])
            count[when[k]]++;
    }
    uint32_t *next = NEW_ARRAY(s->c->scratch, uint32_t, m->transitions.n + 1), n = 0;
    Assignment *sorted = NEW_ARRAY(s->c->scratch, Assignment, s->rows.n + 1);
    for (uint32_t k = 0; k < m->transitions.n; n += count[k++])
        next[k] = n;
    for (uint32_t k = 0; k < s->rows.n; k++)
        if (is_assigned[k])
            sorted[next[when[k]]++] = rows[k];
    for (uint32_t k = 0; k < m->transitions.n; k++)
        if (count[k])
            append(s, k, sorted + next[k] - count[k], count[k]);
}

/* To whom variables and equations belong has been seen to; the clocks went with lower-ticks but for that. */
static void leave_clocks(Model *m)
{
    for (uint32_t k = 0; m->clocks.n && k < m->variables.n; k++)
        m->variables.at[k].clock = 0;
    for (uint32_t k = 0; m->clocks.n && k < m->equations.n; k++)
        m->equations.at[k].clock = 0;
    m->clocks.n = 0;
}

bool solve_whens(Compile *c)
{
    Model *m = c->model;
    Solver s = { .c = c,
                 .model = m,
                 .is_given = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
                 .set_by = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                 .first_of = NEW_ARRAY(c->scratch, uint32_t, m->n_groups + 1) };
    note_given(&s);
    list_rows(&s);
    leave_clocks(m);
    if (s.rows.n == 0 || diag_errors(c->diag))
        return diag_errors(c->diag) == 0;
    if (choose(&s))
        reconsider(&s);
    note_groups(&s);
    sort_later(&s);
    for (uint32_t k = 0; k < s.later.n;)
        k = choose_later(&s, k);
    solve_rows(&s);
    for (uint32_t k = 0; k < m->equations.n; k++) /* transitions that act now will go; so does what refers to them */
        m->equations.at[k].when = 0;
    return diag_errors(c->diag) == 0;
}
