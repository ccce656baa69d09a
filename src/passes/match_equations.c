/* match-equations: every unknown gets the equation that determines it.
 *
 * Unknowns are the NOW variables and the derivatives of the states. An explicit equation determines its left side;
 * equations without direction are matched by Hopcroft and Karp. Array equations stay whole: each determines a range
 * of elements, which together must cover the array. What does not fit is explained by the smallest set.
 *
 * The initial system (c->is_initial) has the states without fixed start as further unknowns and the initial equations
 * as further rows; an explicit equation may then determine something else than its left side. States that no equation
 * determines keep their start values. */
#include "base/bug.h"
#include "graph/dulmage.h"
#include "graph/matching.h"
#include "ir/element.h"
#include "passes/cover.h"
#include "passes/roles.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    Compile *c;
    Model *model;
    uint32_t *unknown_now, *unknown_der; /* per variable: index in c->unknowns, or ID_NONE */
    uint32_t *owner;                     /* per unknown: 1 + equation (scalar), 0: none yet */
    uint64_t *covered;                   /* per unknown: elements that have an equation (arrays) */
    VEC(Covered) parts;                  /* of arrays, as ranges of elements */
} Matcher;

static const char *unknown_text(Matcher *t, Ref ref)
{
    const char *path = variable_path(t->model, ref.var, t->c->scratch);
    return ref.kind == REF_DER ? arena_format(t->c->scratch, "der(%s)", path) : path;
}

/* Discrete variables with a memory that some initial equation names, and arrays that some give (keep_starts.h). */
static const bool *find_named_at_start(const Matcher *t)
{
    const Model *m = t->model;
    bool *is_named = NEW_ARRAY(t->c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_DROPPED || e->when_valid != VALID_INITIAL_ONLY)
            continue;
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[side])[j];
                if (ref.kind == REF_NOW && model_var(m, ref.var)->type.rank)
                    is_named[ref.var.index] |= e->kind == EQUATION_EXPLICIT && side == 0;
                else if (ref.kind == REF_NOW && model_var(m, ref.var)->definition == DEFINITION_NEXT)
                    is_named[ref.var.index] = true;
            }
    }
    return is_named;
}

/* Initial system: states, and discrete variables, that are free to take a value. Listed last: they are matched only
 * where nothing else can be. */
static void list_free_states(Matcher *t)
{
    const Model *m = t->model;
    Compile *c = t->c;
    const bool *is_named = find_named_at_start(t);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const bool is_memory =
            v->definition == DEFINITION_DER || (v->definition == DEFINITION_NEXT && (is_named[k] || v->is_free));
        if (!is_memory || !var_is_none(v->alias) || v->is_fixed || (v->type.rank && !is_named[k]))
            continue;
        t->unknown_now[k] = c->unknowns.n;
        vec_push(c->arena, &c->unknowns, ref_now((VarId){ k }));
    }
}

static void list_unknowns(Matcher *t)
{
    const Model *m = t->model;
    Compile *c = t->c;
    bool *is_bit = NEW_ARRAY(c->scratch, bool, m->variables.n);
    for (uint32_t k = 0; k < m->relations.n; k++)
        is_bit[m->relations.at[k].bit.index] = true;
    for (uint32_t k = 0; k < m->steps.n; k++)
        is_bit[m->steps.at[k].value.index] = true;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        t->unknown_now[k] = t->unknown_der[k] = ID_NONE;
        if (!var_is_none(v->alias) || is_bit[k])
            continue;
        if (v->definition == DEFINITION_NOW) {
            t->unknown_now[k] = c->unknowns.n;
            vec_push(c->arena, &c->unknowns, ref_now((VarId){ k }));
        } else if (v->definition == DEFINITION_DER) {
            t->unknown_der[k] = c->unknowns.n;
            vec_push(c->arena, &c->unknowns, ref_der((VarId){ k }));
        }
    }
    if (c->is_initial)
        list_free_states(t);
    t->owner = NEW_ARRAY(c->scratch, uint32_t, c->unknowns.n + 1);
    t->covered = NEW_ARRAY(c->scratch, uint64_t, c->unknowns.n + 1);
}

static uint32_t unknown_of(const Matcher *t, Ref ref)
{
    if (var_is_none(ref.var))
        return ID_NONE;
    return ref.kind == REF_NOW   ? t->unknown_now[ref.var.index]
           : ref.kind == REF_DER ? t->unknown_der[ref.var.index]
                                 : ID_NONE;
}

static void report_two(Matcher *t, Ref ref, uint32_t a, uint32_t b)
{
    diag_error(t->c->diag, DIAG_DOUBLE_DEFINITION, t->model->equations.at[b].origin.span, "'%s' has two definitions",
               unknown_text(t, ref));
    diag_note(t->c->diag, t->model->equations.at[a].origin.span, "the other one is here");
}

/* Gives equation k the unknown on its left side. False: it is no unknown, or taken. */
static bool assign_left(Matcher *t, uint32_t k)
{
    Model *m = t->model;
    const Equation *e = &m->equations.at[k];
    const Ref ref = term_refs(m, e->lhs)[e->lhs.shape->u.leaf];
    const uint32_t u = unknown_of(t, ref);
    if (u == ID_NONE)
        return false;
    const Variable *v = model_var(m, ref.var);
    if (v->type.rank == 0) {
        if (t->owner[u])
            return false;
        t->owner[u] = k + 1;
    } else {
        ElementMap map;
        int64_t lo, hi;
        if (!element_map(m, e->lhs.shape, term_refs(m, e->lhs), e->domain, &map))
            return false;
        element_range(m, &map, e->domain, &lo, &hi);
        const int64_t count = (int64_t)variable_count(m, ref.var);
        if (domain_count(m, e->domain) && (lo < 0 || hi >= count)) {
            diag_error(t->c->diag, DIAG_INDEX_RANGE, e->origin.span, "element %lld of '%s', which has %lld",
                       (long long)(lo < 0 ? lo + 1 : hi + 1), unknown_text(t, ref), (long long)count);
            return true;
        }
        Covered part = { u, k, lo, hi, true };
        uint64_t n = domain_count(m, e->domain);
        if (e->lhs.shape->n_args == 0) {
            n = (uint64_t)count;
            part = (Covered){ u, k, 0, count - 1, true };
        } else {
            part.is_dense =
                (uint64_t)(hi - lo + 1) == n && (m->domains.at[e->domain.index].n <= 1 ||
                                                 element_is_own(m, e->lhs.shape, term_refs(m, e->lhs), e->domain));
        }
        if (n)
            vec_push(t->c->scratch, &t->parts, part);
        t->covered[u] += n;
        t->owner[u] = k + 1;
    }
    t->c->matched[k] = u;
    return true;
}

static bool is_unknown_leaf(const Matcher *t, Term term)
{
    return term.shape->kind == EXPR_LEAF && unknown_of(t, term_refs(t->model, term)[term.shape->u.leaf]) != ID_NONE;
}

static bool takes_part(const Compile *c, const Equation *e)
{
    return e->kind != EQUATION_DROPPED && e->when_valid != (c->is_initial ? VALID_NOT_INITIAL : VALID_INITIAL_ONLY);
}

/* Over a range, or with elements of arrays that are no scalars among its unknowns; arrays of states are given. */
static bool is_array_equation(const Matcher *t, const Equation *e)
{
    const Term sides[] = { e->lhs, e->rhs };
    bool is_one = e->domain.index != 0;
    for (uint32_t side = 0; side < 2 && !is_one; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(t->model, sides[side])[k];
            is_one |= unknown_of(t, ref) != ID_NONE && model_var(t->model, ref.var)->type.rank &&
                      (ref.kind == REF_DER || model_var(t->model, ref.var)->definition == DEFINITION_NOW);
        }
    return is_one;
}

/* An explicit equation of the initial system, or of a task, that may determine any of its Real unknowns. */
static bool is_reversible(const Matcher *t, const Equation *e)
{
    return (t->c->is_initial || t->model->has_task) && e->kind == EQUATION_EXPLICIT &&
           e->lhs.shape->type.kind == TYPE_REAL && e->lhs.shape->type.rank == 0 && !e->lhs.shape->has_index &&
           !is_array_equation(t, e);
}

/* Explicit equations, and those without direction that are written v = e over an array. */
static void match_explicit(Matcher *t)
{
    Model *m = t->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        Equation *e = &m->equations.at[k];
        t->c->matched[k] = ID_NONE;
        if (!takes_part(t->c, e) || is_reversible(t, e))
            continue;
        if (equation_is_directed(e)) {
            const Ref ref = term_refs(m, e->lhs)[e->lhs.shape->u.leaf];
            const uint32_t u = unknown_of(t, ref);
            if (!assign_left(t, k) && u != ID_NONE && t->owner[u])
                report_two(t, ref, t->owner[u] - 1, k);
            else if (u == ID_NONE) {
                diag_error(t->c->diag, DIAG_DOUBLE_DEFINITION, e->origin.span,
                           "'%s' cannot be defined by an equation: it is given", unknown_text(t, ref));
            }
        } else if (e->kind == EQUATION_RESIDUAL && is_array_equation(t, e)) {
            if (!is_unknown_leaf(t, e->lhs) && is_unknown_leaf(t, e->rhs)) {
                const Term left = e->lhs;
                e->lhs = e->rhs;
                e->rhs = left;
            }
            if (!is_unknown_leaf(t, e->lhs) || !assign_left(t, k)) {
                diag_error(t->c->diag, DIAG_NOT_YET, e->origin.span,
                           "an array equation that is not written as v[i] = ... cannot be solved yet");
            }
        }
    }
}

/* Every state needs a derivative; one that no equation mentions does not move. */
static void complete_states(Matcher *t, const bool *in_residual)
{
    Model *m = t->model;
    Compile *c = t->c;
    for (uint32_t u = 0; u < c->unknowns.n; u++) {
        const Ref ref = c->unknowns.at[u];
        if (ref.kind != REF_DER || t->owner[u] || in_residual[u] || model_var(m, ref.var)->type.rank)
            continue;
        const EqId e =
            model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref), term_real(m, 0.0), model_var(m, ref.var)->span);
        m->equations.at[e.index].owner = model_var(m, ref.var)->owner;
        m->equations.at[e.index].origin.made_by = "match-equations";
        t->owner[u] = e.index + 1;
    }
}

/* ---- equations without direction ---- */
#define LEFT_OUT (MATCH_NONE - 1)
typedef VEC(Edge) EdgeList;
typedef struct {
    VEC(uint32_t) rows;    /* equations */
    uint32_t n_firm;       /* of these; the others may be left out */
    VEC(uint32_t) columns; /* unknowns */
    uint32_t *column_of;   /* per unknown, ID_NONE: not free */
    Incidence g;
} Residuals;

/* A fixed start of what is no state (reduce-index): holds if something can follow it. */
static bool is_optional(const Equation *e)
{
    return e->when_valid == VALID_INITIAL_ONLY && e->origin.made_by && strcmp(e->origin.made_by, "reduce-index") == 0;
}

static void add_row(Matcher *t, Residuals *r, uint32_t k, EdgeList *edges)
{
    Model *m = t->model;
    const Equation *e = &m->equations.at[k];
    const Term sides[] = { e->lhs, e->rhs };
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
            const uint32_t u = unknown_of(t, term_refs(m, sides[side])[j]);
            if (u == ID_NONE || r->column_of[u] == ID_NONE)
                continue;
            const Edge edge = { r->rows.n, r->column_of[u] };
            vec_push(t->c->scratch, edges, edge);
        }
    vec_push(t->c->scratch, &r->rows, k);
}

/* Optional ones come last. */
static void collect(Matcher *t, Residuals *r)
{
    Model *m = t->model;
    Compile *c = t->c;
    r->column_of = NEW_ARRAY(c->scratch, uint32_t, c->unknowns.n + 1);
    for (uint32_t u = 0; u < c->unknowns.n; u++) {
        r->column_of[u] = ID_NONE;
        if (!t->owner[u] && model_var(m, c->unknowns.at[u].var)->type.rank == 0) {
            r->column_of[u] = r->columns.n;
            vec_push(c->scratch, &r->columns, u);
        }
    }
    EdgeList edges = { 0 };
    VEC(uint32_t) optional = { 0 };
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if ((e->kind != EQUATION_RESIDUAL && !is_reversible(t, e)) || c->matched[k] != ID_NONE || !takes_part(c, e))
            continue;
        if (is_optional(e))
            vec_push(c->scratch, &optional, k);
        else
            add_row(t, r, k, &edges);
    }
    r->n_firm = r->rows.n;
    for (uint32_t k = 0; k < optional.n; k++)
        add_row(t, r, optional.at[k], &edges);
    r->g = incidence_build(r->rows.n, r->columns.n, edges.at, edges.n, c->scratch);
}

static const Ref *refs_of(const Matcher *t, const Residuals *r, const SubSystem *s)
{
    Ref *refs = NEW_ARRAY(t->c->scratch, Ref, s->n_columns + 1);
    for (uint32_t k = 0; k < s->n_columns; k++)
        refs[k] = t->c->unknowns.at[r->columns.at[s->columns[k]]];
    return refs;
}

/* Initial system: states in these equations whose start values are fixed; as many as there are. */
static uint32_t note_fixed(const Matcher *t, const Residuals *r, const SubSystem *s, uint32_t most)
{
    const Model *m = t->model;
    uint32_t n = 0;
    bool *is_told = NEW_ARRAY(t->c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < s->n_rows; k++) {
        const Equation *e = &m->equations.at[r->rows.at[s->rows[k]]];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[side])[j];
                if (ref.kind != REF_NOW || is_told[ref.var.index] || !model_var(m, ref.var)->is_fixed ||
                    model_var(m, ref.var)->definition != DEFINITION_DER)
                    continue;
                is_told[ref.var.index] = true;
                if (n++ < most)
                    diag_note(t->c->diag, model_var(m, ref.var)->span, "the start value of '%s' is fixed",
                              variable_path(m, ref.var, t->c->scratch));
            }
    }
    return n;
}

static void advise_on_start(const Matcher *t, const Residuals *r, const SubSystem *s)
{
    enum { MOST = 8 };
    if (note_fixed(t, r, s, MOST))
        diag_help(t->c->diag, "remove one of these initial equations, or let one of these start values be free");
    else
        diag_help(t->c->diag, "remove one of these initial equations");
}

/* All of it, for programs. */
static void blame(const Matcher *t, const Residuals *r, const SubSystem *s)
{
    for (uint32_t k = 0; k < s->n_rows; k++)
        blame_equation(t->c, r->rows.at[s->rows[k]]);
    for (uint32_t k = 0; k < s->n_columns; k++)
        blame_unknown(t->c, t->c->unknowns.at[r->columns.at[s->columns[k]]]);
}

static const uint32_t *equations_of(const Matcher *t, const Residuals *r, const SubSystem *s)
{
    uint32_t *equations = NEW_ARRAY(t->c->scratch, uint32_t, s->n_rows + 1);
    for (uint32_t k = 0; k < s->n_rows; k++)
        equations[k] = r->rows.at[s->rows[k]];
    return equations;
}

/* ---- which of the unknowns that are too many was forgotten ---- */
typedef struct {
    uint32_t column, n_equations; /* n_equations: how many contain the unknown */
    bool is_own;                  /* declared in the model itself, not in one of its objects */
} Suspect;

static int by_suspicion(const void *a, const void *b)
{
    const Suspect *x = a, *y = b;
    if (x->n_equations != y->n_equations)
        return x->n_equations < y->n_equations ? -1 : 1;
    return x->is_own != y->is_own ? (x->is_own ? -1 : 1) : (x->column > y->column) - (x->column < y->column);
}

/* What stands in the fewest equations is the likeliest: a source that nobody gave a value stands in one. */
static const Suspect *suspects_of(const Matcher *t, const Residuals *r, const Incidence *transposed, const SubSystem *s)
{
    Suspect *suspects = NEW_ARRAY(t->c->scratch, Suspect, s->n_columns + 1);
    for (uint32_t k = 0; k < s->n_columns; k++) {
        const uint32_t column = s->columns[k];
        const Variable *v = model_var(t->model, t->c->unknowns.at[r->columns.at[column]].var);
        const bool is_derivative = t->c->unknowns.at[r->columns.at[column]].kind == REF_DER; /* stands in one anyway */
        const uint32_t n = is_derivative ? UINT32_MAX : transposed->start[column + 1] - transposed->start[column];
        suspects[k] = (Suspect){ column, n, v->owner.index == 0 };
    }
    qsort(suspects, s->n_columns, sizeof *suspects, by_suspicion);
    return suspects;
}

static void explain_undetermined(Matcher *t, const Residuals *r, const Incidence *transposed, const SubSystem *s)
{
    enum { MOST_ROWS = 8 };
    const Model *m = t->model;
    Compile *c = t->c;
    const Suspect *suspects = suspects_of(t, r, transposed, s);
    const Ref first = c->unknowns.at[r->columns.at[suspects[0].column]];
    const bool is_alone = suspects[0].n_equations == 1;
    diag_error(c->diag, DIAG_SINGULAR, model_var(m, first.var)->span,
               "too few equations%s: %u unknowns have only %u equation%s%s%s%s", c->is_initial ? " at the start" : "",
               s->n_columns, s->n_rows, s->n_rows == 1 ? "" : "s", is_alone ? "; '" : "",
               is_alone ? unknown_text(t, first) : "", is_alone ? "' stands in one equation only" : "");
    blame(t, r, s);
    for (uint32_t j = 0; j < s->n_columns && j < MOST_ROWS; j++) {
        const Ref ref = c->unknowns.at[r->columns.at[suspects[j].column]];
        if (j || model_var(m, ref.var)->owner.index != 0)
            diag_note(c->diag, model_var(m, ref.var)->span, "unknown '%s'", unknown_text(t, ref));
    }
    for (uint32_t j = 0; j < s->n_rows && j < MOST_ROWS; j++)
        note_equation(c, r->rows.at[s->rows[j]], "determines one of them");
    diag_help(c->diag, "%s", advice_for_undetermined(c, refs_of(t, r, s), s->n_columns));
}

/* The state whose derivative this variable of a task stands for, if the task says that it rests; else NULL. */
static const char *rests(const Matcher *t, uint32_t rate)
{
    const Variable *v = &t->model->variables.at[rate];
    if (!v->is_rate || v->definition != DEFINITION_INPUT)
        return NULL;
    const char *name = variable_path(t->model, (VarId){ rate }, t->c->scratch); /* der(NAME) */
    return arena_format(t->c->scratch, "%.*s", (int)strlen(name) - 5, name + 4);
}

/* A column without rows. Where a task lets all states rest, one on which nothing depends has no value to rest at: the
 * others can be named. */
static void advise_on_undefined(const Matcher *t, const Residuals *r, const uint32_t *row_of_column, const char *path)
{
    enum { MOST_NAMES = 8 };
    Compile *c = t->c;
    const char *names = "";
    uint32_t n = 0;
    bool is_at_rest = false;
    for (uint32_t k = 0; t->model->has_task && k < t->model->variables.n; k++) {
        const char *state = rests(t, k);
        if (!state)
            continue;
        bool has_value = true;
        for (uint32_t j = 0; j < r->columns.n && has_value; j++)
            has_value = row_of_column[j] != MATCH_NONE ||
                        strcmp(variable_path(t->model, c->unknowns.at[r->columns.at[j]].var, c->scratch), state) != 0;
        is_at_rest |= strcmp(state, path) == 0;
        if (has_value && n++ < MOST_NAMES)
            names = arena_format(c->scratch, "%s%s%s", names, names[0] ? ", start steady " : "", state);
    }
    if (c->is_initial && !n)
        diag_help(c->diag, "add an initial equation that determines it, or give it a value instead of `free`");
    else if (is_at_rest && n)
        diag_help(c->diag,
                  "nothing tells the value at which it rests; let only those rest that have one, for example: --task "
                  "\"start steady %s\"%s",
                  names, n > MOST_NAMES ? " and so on" : "");
    else
        diag_help(c->diag, "%s",
                  is_at_rest ? "nothing tells the value at which it rests" : "add an equation that determines it");
}

static void explain(Matcher *t, const Residuals *r, const uint32_t *column_of_row, const uint32_t *row_of_column)
{
    enum { MOST_ROWS = 8 };
    Model *m = t->model;
    Compile *c = t->c;
    const Incidence transposed = incidence_transpose(&r->g, c->scratch);
    for (uint32_t k = 0; k < r->rows.n; k++) {
        if (column_of_row[k] != MATCH_NONE)
            continue;
        const SubSystem s = explain_unmatched_row(&r->g, row_of_column, k, c->scratch);
        uint32_t first = ID_NONE, second = r->rows.at[k];
        const bool has_equal = find_equal_equations(m, equations_of(t, r, &s), s.n_rows, &first, &second);
        diag_error(c->diag, DIAG_SINGULAR, m->equations.at[second].origin.span,
                   "%stoo many equations%s: %u equation%s for %u unknown%s",
                   has_equal ? "this equation stands twice: " : "", c->is_initial ? " at the start" : "", s.n_rows,
                   s.n_rows == 1 ? "" : "s", s.n_columns, s.n_columns == 1 ? "" : "s");
        blame(t, r, &s);
        if (has_equal)
            note_equation(c, first, "says the same");
        for (uint32_t j = 0; j < s.n_rows && j < MOST_ROWS; j++) /* the place above does not tell the object */
            if (has_equal ? r->rows.at[s.rows[j]] != first && r->rows.at[s.rows[j]] != second
                          : s.rows[j] != k || m->equations.at[r->rows.at[k]].owner.index != 0)
                note_equation(c, r->rows.at[s.rows[j]], "belongs to them");
        for (uint32_t j = 0; j < s.n_columns && j < MOST_ROWS; j++)
            diag_note(c->diag, model_var(m, c->unknowns.at[r->columns.at[s.columns[j]]].var)->span, "unknown '%s'",
                      unknown_text(t, c->unknowns.at[r->columns.at[s.columns[j]]]));
        if (c->is_initial)
            advise_on_start(t, r, &s);
        else
            diag_help(c->diag, "%s", advice_for_overdetermined(c, refs_of(t, r, &s), s.n_columns));
    }
    for (uint32_t k = 0; k < r->columns.n; k++) {
        if (row_of_column[k] != MATCH_NONE)
            continue;
        const Ref ref = c->unknowns.at[r->columns.at[k]];
        const SubSystem s = explain_unmatched_column(&transposed, column_of_row, k, c->scratch);
        if (s.n_rows == 0) {
            diag_error(c->diag, DIAG_NO_DEFINITION, model_var(m, ref.var)->span, "'%s' has no definition",
                       unknown_text(t, ref));
            blame_unknown(c, ref);
            advise_on_undefined(t, r, row_of_column, unknown_text(t, ref));
            continue;
        }
        explain_undetermined(t, r, &transposed, &s);
    }
}

static void check_arrays(Matcher *t)
{
    const Model *m = t->model;
    const Compile *c = t->c;
    for (uint32_t u = 0; u < c->unknowns.n; u++) {
        const Ref ref = c->unknowns.at[u];
        const Variable *v = model_var(m, ref.var);
        if (v->type.rank == 0)
            continue;
        const uint64_t count = variable_count(m, ref.var);
        if (t->covered[u] == count)
            continue;
        diag_error(c->diag, t->covered[u] < count ? DIAG_NO_DEFINITION : DIAG_DOUBLE_DEFINITION, v->span,
                   "'%s' has %llu elements, but %llu are defined", unknown_text(t, ref), (unsigned long long)count,
                   (unsigned long long)t->covered[u]);
    }
}

/* An explicit equation determines its left side unless something else has to give way. */
static void prefer_left_sides(Matcher *t, const Residuals *r, uint32_t *column_of_row)
{
    for (uint32_t k = 0; k < r->rows.n; k++) {
        const Equation *e = &t->model->equations.at[r->rows.at[k]];
        column_of_row[k] = MATCH_NONE;
        if (e->kind != EQUATION_EXPLICIT)
            continue;
        const uint32_t u = unknown_of(t, term_refs(t->model, e->lhs)[0]);
        column_of_row[k] = u == ID_NONE ? MATCH_NONE : r->column_of[u];
    }
}

/* A state of the initial system, which can keep its start value. */
static bool can_be_kept(const Matcher *t, const Residuals *r, uint32_t column)
{
    const Ref ref = t->c->unknowns.at[r->columns.at[column]];
    const Definition definition = model_var(t->model, ref.var)->definition;
    return ref.kind == REF_NOW && (definition == DEFINITION_DER || definition == DEFINITION_NEXT) &&
           !model_var(t->model, ref.var)->is_free;
}

typedef struct {
    const Incidence *rows_of; /* per column */
    uint32_t *column_of_row, *row_of_column;
    uint32_t *queue, *from; /* columns; per column: the one that wants its row, ID_NONE: not met */
} Exchange;

/* The column takes a row of another one, which takes one of a third, and so on to one that can be kept. */
static void exchange(const Matcher *t, const Residuals *r, const Exchange *x, uint32_t column)
{
    uint32_t head = 0, tail = 0, last = MATCH_NONE;
    x->queue[tail++] = column;
    while (head < tail && last == MATCH_NONE) {
        const uint32_t wants = x->queue[head++];
        for (uint32_t k = x->rows_of->start[wants]; k < x->rows_of->start[wants + 1] && last == MATCH_NONE; k++) {
            const uint32_t has = x->column_of_row[x->rows_of->index[k]];
            if (has == MATCH_NONE || has == column || x->from[has] != ID_NONE)
                continue;
            x->from[has] = wants;
            x->queue[tail++] = has;
            if (can_be_kept(t, r, has))
                last = has;
        }
    }
    uint32_t row = last == MATCH_NONE ? MATCH_NONE : x->row_of_column[last];
    for (uint32_t has = last; has != MATCH_NONE && has != column; has = x->from[has]) {
        const uint32_t next = x->row_of_column[x->from[has]];
        x->row_of_column[x->from[has]] = row;
        x->column_of_row[row] = x->from[has];
        row = next;
    }
    if (last != MATCH_NONE)
        x->row_of_column[last] = MATCH_NONE;
    for (uint32_t k = 0; k < tail; k++)
        x->from[x->queue[k]] = ID_NONE;
}

/* Of several matchings that are as large, one that leaves over what can keep its start value. */
static void leave_over_states(Matcher *t, const Residuals *r, uint32_t *column_of_row, uint32_t *row_of_column)
{
    Arena *arena = t->c->scratch;
    const Incidence rows_of = incidence_transpose(&r->g, arena);
    const uint32_t n = r->columns.n;
    const Exchange x = { &rows_of, column_of_row, row_of_column, NEW_ARRAY(arena, uint32_t, n + 1),
                         NEW_ARRAY(arena, uint32_t, n + 1) };
    memset(x.from, 0xff, n * sizeof *x.from);
    for (uint32_t k = 0; k < n; k++)
        if (row_of_column[k] == MATCH_NONE && !can_be_kept(t, r, k))
            exchange(t, r, &x, k);
}

/* States that the initial equations do not determine: known, at their start values. */
static uint32_t keep_start_values(Matcher *t, const Residuals *r, uint32_t *row_of_column)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < r->columns.n; k++) {
        if (row_of_column[k] != MATCH_NONE || !can_be_kept(t, r, k))
            continue;
        row_of_column[k] = 0; /* taken: explain leaves it alone */
        kept++;
    }
    return kept;
}

/* Optional equations for which there is no unknown; how many. */
static uint32_t leave_out(Matcher *t, const Residuals *r, uint32_t *column_of_row)
{
    uint32_t n = 0;
    for (uint32_t k = r->n_firm; k < r->rows.n; k++)
        if (column_of_row[k] == MATCH_NONE) {
            t->model->equations.at[r->rows.at[k]].kind = EQUATION_DROPPED;
            column_of_row[k] = LEFT_OUT;
            n++;
        }
    return n;
}

bool match_equations(Compile *c)
{
    Model *m = c->model;
    Matcher t = { .c = c,
                  .model = m,
                  .unknown_now = NEW_ARRAY(c->scratch, uint32_t, m->variables.n),
                  .unknown_der = NEW_ARRAY(c->scratch, uint32_t, m->variables.n) };
    list_unknowns(&t);
    c->matched = NEW_ARRAY(c->arena, uint32_t, (size_t)m->equations.n + c->unknowns.n + 1);
    match_explicit(&t);
    bool *in_residual = NEW_ARRAY(c->scratch, bool, c->unknowns.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if ((e->kind != EQUATION_RESIDUAL && !is_reversible(&t, e)) || !takes_part(c, e))
            continue;
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; j < sides[side].shape->n_leaves; j++) {
                const uint32_t u = unknown_of(&t, term_refs(m, sides[side])[j]);
                if (u != ID_NONE)
                    in_residual[u] = true;
            }
    }
    const uint32_t n_before = m->equations.n;
    if (!c->is_initial)
        complete_states(&t, in_residual);
    for (uint32_t k = n_before; k < m->equations.n; k++) {
        const Ref ref = term_refs(m, m->equations.at[k].lhs)[0];
        c->matched[k] = t.unknown_der[ref.var.index];
    }
    check_cover(c, t.parts.at, t.parts.n);
    check_arrays(&t);
    Residuals r = { 0 };
    collect(&t, &r);
    uint32_t *column_of_row = NEW_ARRAY(c->scratch, uint32_t, r.rows.n + 1);
    uint32_t *row_of_column = NEW_ARRAY(c->scratch, uint32_t, r.columns.n + 1);
    prefer_left_sides(&t, &r, column_of_row);
    if (r.n_firm < r.rows.n) { /* what is matched stays matched */
        const Incidence firm = { r.n_firm, r.g.columns, r.g.start, r.g.index };
        match_rows_from(&firm, c->scratch, column_of_row, column_of_row, row_of_column, NULL);
    }
    const uint32_t size = match_rows_from(&r.g, c->scratch, column_of_row, column_of_row, row_of_column, NULL);
    if (c->is_initial)
        leave_over_states(&t, &r, column_of_row, row_of_column);
    const uint32_t kept = c->is_initial ? keep_start_values(&t, &r, row_of_column) : 0;
    const uint32_t left_out = leave_out(&t, &r, column_of_row);
    if (size + left_out < r.rows.n || size + kept < r.columns.n)
        explain(&t, &r, column_of_row, row_of_column);
    for (uint32_t k = 0; k < r.rows.n; k++)
        if (column_of_row[k] != MATCH_NONE && column_of_row[k] != LEFT_OUT)
            c->matched[r.rows.at[k]] = r.columns.at[column_of_row[k]];
    return diag_errors(c->diag) == 0;
}
