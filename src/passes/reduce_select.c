/* Which derivatives become unknowns of their own (dummy derivatives); see reduce_index.c.
 *
 * The constraint Jacobian has a row for each differentiated equation and a column for each quantity whose highest
 * derivative stands in one; as many columns as rows are taken so that they are regular, first for the equations that
 * are differentiated most. Its entries are the partial derivatives of the equations as written (differentiating does
 * not change them). It falls apart into components; in each
 *   - a quantity that stands in one equation only, with a constant factor, is taken for it;
 *   - if all factors are constant the rest is decided by elimination, unwanted quantities first;
 *   - if there are as many quantities as equations all of them are taken;
 *   - else the choice depends on values, and the quantities become candidates of a state set.
 * What is not taken stays a state. Quantities that shall be states are never taken; where factors vary the set watches
 * that the others follow from them. */
#include "base/bug.h"
#include "base/map.h"
#include "graph/matching.h"
#include "graph/sets.h"
#include "ir/derive.h"
#include "ir/evaluate.h"
#include "ir/simplify.h"
#include "passes/known_values.h"
#include "passes/reduce_index.h"
#include <math.h>
#include <stdlib.h>

static const double RANK_TOLERANCE = 1e-11; /* of what is left of a column, relative to what it was */

typedef enum { ENTRY_CONSTANT, ENTRY_VARIES } EntryKind;
typedef struct {
    uint32_t row, column; /* row of the reduction, quantity */
    uint8_t kind;
    double value; /* constant: with the present values of parameters */
    Term term;
} Entry;

typedef struct {
    Reduction *r;
    Map parameter_values; /* variable -> index in values */
    VEC(double) values;
    VEC(Entry) entries;
    uint32_t *row_entries, *column_start, *column_entries; /* row k: entries row_entries[k] .. [k + 1] */
    bool *is_row_done;
    bool *is_assigned; /* per quantity: events assign it */
    uint32_t *live;    /* per quantity: entries in rows that are not done */
    const Expr **sum;  /* per quantity: partial derivative of the row in work, or NULL */
} Selector;

/* ---- values of parameters ---- */
static bool constant_value(Selector *s, Term term, uint32_t depth, double *value);

static bool parameter_value(Selector *s, VarId var, uint32_t depth, double *value)
{
    const Variable *v = model_var(s->r->model, var);
    uint32_t known;
    if (v->definition != DEFINITION_BINDING || v->type.rank || !v->binding.shape || depth == 0)
        return false;
    if (!map_get(&s->parameter_values, var.index, &known)) {
        double computed = NAN;
        constant_value(s, v->binding, depth - 1, &computed);
        known = s->values.n;
        vec_push(s->r->c->scratch, &s->values, computed);
        map_put(&s->parameter_values, var.index, known);
    }
    *value = s->values.at[known];
    return isfinite(*value);
}

/* Numbers and parameters; all Real. */
static bool constant_value(Selector *s, Term term, uint32_t depth, double *value)
{
    const uint32_t n = term.shape->n_leaves;
    Value *leaves = NEW_ARRAY(s->r->c->scratch, Value, n + 1), result;
    for (uint32_t k = 0; k < n; k++) {
        const Ref ref = term_refs(s->r->model, term)[k];
        double v;
        if (ref.kind != REF_NOW || ref_type(s->r->model, ref).kind != TYPE_REAL ||
            !parameter_value(s, ref.var, depth, &v))
            return false;
        leaves[k].r = v;
    }
    if (term.shape->type.kind != TYPE_REAL || term.shape->has_index ||
        !expr_evaluate(term.shape, leaves, NULL, &result) || !isfinite(result.r))
        return false;
    *value = result.r;
    return true;
}

/* ---- entries ---- */
/* Partial derivatives of equation `row` by the quantities in the orders that count, each of which may stand in it as v
 * and as der(x): into s->sum, per quantity. */
static bool derive_row(Selector *s, uint32_t row, TermBuilder *builder)
{
    Reduction *r = s->r;
    Model *m = r->model;
    Arena *scratch = r->c->scratch;
    const Equation *e = &m->equations.at[r->rows.equation[row]];
    const Expr *left = term_import(builder, e->lhs), *right = term_import(builder, e->rhs);
    const Expr *whole = expr_simplify(m->pool, expr_binary(m->pool, OP_SUB, left, right));
    const uint32_t n = builder->refs.n;
    bool *is_wanted = NEW_ARRAY(scratch, bool, n + 1);
    uint32_t *quantity = NEW_ARRAY(scratch, uint32_t, n + 1), order;
    for (uint32_t k = 0; k < n; k++)
        is_wanted[k] = quantity_of(r, builder->refs.at[k], &quantity[k], &order) &&
                       order + r->p.differentiated[row] == r->p.highest[quantity[k]];
    const Gradient gradient = expr_gradient(m->pool, whole, is_wanted, scratch);
    for (uint32_t k = 0; k < gradient.n; k++) {
        const Partial *partial = &gradient.at[k];
        if (!partial->derivative) {
            diag_error(r->c->diag, DIAG_NOT_DIFFERENTIABLE, e->origin.span,
                       "this equation must be differentiated, because states depend on each other, but it has no "
                       "derivative by '%s'",
                       variable_path(m, builder->refs.at[partial->leaf].var, scratch));
            return false;
        }
        const Expr **sum = &s->sum[quantity[partial->leaf]];
        *sum = *sum ? expr_binary(m->pool, OP_ADD, *sum, partial->derivative) : partial->derivative;
    }
    return true;
}

static void add_entry(Selector *s, uint32_t row, uint32_t quantity, const Ref *refs)
{
    enum { DEEPEST = 50 };
    Model *m = s->r->model;
    if (!s->sum[quantity])
        return;
    Entry entry = { .row = row, .column = quantity, .kind = ENTRY_VARIES };
    const Expr *sum = expr_simplify_derivative(m->pool, s->sum[quantity]);
    s->sum[quantity] = NULL; /* of the next row; and this one once */
    if (expr_is_real(sum, 0))
        return;
    entry.term = term_make(m, sum, refs);
    if (constant_value(s, entry.term, DEEPEST, &entry.value))
        entry.kind = ENTRY_CONSTANT;
    vec_push(s->r->c->scratch, &s->entries, entry);
}

static bool list_entries(Selector *s)
{
    Reduction *r = s->r;
    s->sum = NEW_ARRAY(r->c->scratch, const Expr *, r->quantities.n + 1);
    for (uint32_t row = 0; row < r->rows.n; row++) {
        TermBuilder builder = term_builder(r->model);
        s->row_entries[row] = s->entries.n;
        if (r->p.differentiated[row] == 0)
            continue;
        if (!derive_row(s, row, &builder))
            return false;
        for (uint32_t k = r->rows.incidence.start[row]; k < r->rows.incidence.start[row + 1]; k++)
            add_entry(s, row, r->rows.incidence.index[k], builder.refs.at);
    }
    s->row_entries[r->rows.n] = s->entries.n;
    s->column_start = NEW_ARRAY(r->c->scratch, uint32_t, r->quantities.n + 2);
    s->column_entries = NEW_ARRAY(r->c->scratch, uint32_t, s->entries.n + 1);
    for (uint32_t k = 0; k < s->entries.n; k++)
        s->column_start[s->entries.at[k].column + 2]++;
    for (uint32_t k = 0; k < r->quantities.n; k++)
        s->column_start[k + 2] += s->column_start[k + 1];
    for (uint32_t k = 0; k < s->entries.n; k++)
        s->column_entries[s->column_start[s->entries.at[k].column + 1]++] = k;
    return true;
}

/* ---- wishes ---- */
/* The strongest wish for any of its derivatives; what was no state before is better none now. */
static uint32_t wish_of(const Reduction *r, uint32_t quantity)
{
    uint32_t wish = SELECT_NEVER;
    for (uint32_t v = r->quantities.head[quantity]; v != ID_NONE; v = r->chains.follower[v])
        if (r->model->variables.at[v].select > wish)
            wish = r->model->variables.at[v].select;
    if (wish == SELECT_DEFAULT && r->model->variables.at[r->quantities.head[quantity]].definition == DEFINITION_NOW)
        wish = SELECT_AVOID;
    return wish;
}

static bool has_fixed(const Reduction *r, uint32_t quantity)
{
    for (uint32_t v = r->quantities.head[quantity]; v != ID_NONE; v = r->chains.follower[v])
        if (r->model->variables.at[v].is_fixed)
            return true;
    return false;
}

typedef struct {
    uint32_t column, wish, is_kept, degree; /* is_kept: assigned at events, or with a fixed start */
} Candidate;

/* Whom to take first: unwanted ones, then those that stand in few equations, then the last. */
static int compare_candidates(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    if (x->is_kept != y->is_kept)
        return x->is_kept < y->is_kept ? -1 : 1;
    if (x->degree != y->degree)
        return x->degree < y->degree ? -1 : 1;
    return x->column > y->column ? -1 : x->column < y->column;
}

/* ---- taking ---- */
static void take(Selector *s, uint32_t row, uint32_t column)
{
    s->r->quantities.demoted[column] = s->r->p.differentiated[row];
    s->is_row_done[row] = true;
    for (uint32_t k = s->row_entries[row]; k < s->row_entries[row + 1]; k++)
        s->live[s->entries.at[k].column]--;
}

/* The quantity stands in one equation only, with a constant factor: nothing else is affected. */
static bool may_take_alone(const Selector *s, uint32_t column, uint32_t *row)
{
    const Reduction *r = s->r;
    if (s->live[column] != 1 || r->quantities.demoted[column] || wish_of(r, column) > SELECT_DEFAULT ||
        s->is_assigned[column])
        return false;
    for (uint32_t k = s->column_start[column]; k < s->column_start[column + 1]; k++) {
        const Entry *e = &s->entries.at[s->column_entries[k]];
        *row = e->row;
        if (!s->is_row_done[e->row])
            return e->kind == ENTRY_CONSTANT && e->value != 0;
    }
    return false;
}

/* ---- components ---- */
typedef struct {
    uint32_t n_rows, n_columns;
    uint32_t *rows;
    Candidate *columns;
    bool is_constant;
} Component;

/* Rows that are not done and quantities that are not taken, by connection. */
static Component *find_components(Selector *s, uint32_t *n)
{
    Reduction *r = s->r;
    Arena *scratch = r->c->scratch;
    uint32_t *parent = sets_create(scratch, r->rows.n + r->quantities.n),
             *number = NEW_ARRAY(scratch, uint32_t, r->rows.n + r->quantities.n + 1);
    for (uint32_t k = 0; k < s->entries.n; k++) {
        const Entry *e = &s->entries.at[k];
        if (!s->is_row_done[e->row] && !r->quantities.demoted[e->column])
            sets_join(parent, r->rows.n + e->column, e->row);
    }
    *n = 0;
    for (uint32_t k = 0; k < r->rows.n; k++)
        if (r->p.differentiated[k] && !s->is_row_done[k] && !number[sets_root(parent, k)])
            number[sets_root(parent, k)] = ++*n;
    Component *all = NEW_ARRAY(scratch, Component, *n + 1);
    for (uint32_t pass = 0; pass < 2; pass++) { /* count, then fill */
        for (uint32_t k = 0; k < *n && pass; k++) {
            all[k].rows = NEW_ARRAY(scratch, uint32_t, all[k].n_rows + 1);
            all[k].columns = NEW_ARRAY(scratch, Candidate, all[k].n_columns + 1);
            all[k].n_rows = all[k].n_columns = 0;
            all[k].is_constant = true;
        }
        for (uint32_t k = 0; k < r->rows.n; k++) {
            const uint32_t c = number[sets_root(parent, k)];
            if (!c || !r->p.differentiated[k] || s->is_row_done[k])
                continue;
            if (pass)
                all[c - 1].rows[all[c - 1].n_rows] = k;
            all[c - 1].n_rows++;
            for (uint32_t j = s->row_entries[k]; j < s->row_entries[k + 1] && pass; j++)
                all[c - 1].is_constant &= s->entries.at[j].kind == ENTRY_CONSTANT;
        }
        for (uint32_t k = 0; k < r->quantities.n; k++) {
            const uint32_t c = number[sets_root(parent, r->rows.n + k)];
            if (!c || r->quantities.demoted[k] || !s->live[k])
                continue;
            if (pass)
                all[c - 1].columns[all[c - 1].n_columns] =
                    (Candidate){ k, wish_of(r, k), s->is_assigned[k] || has_fixed(r, k), s->live[k] };
            all[c - 1].n_columns++;
        }
    }
    return all;
}

/* ---- constant factors: elimination column by column, each with the columns before it that concern it ---- */
typedef struct {
    uint32_t row;
    double value;
} Factor;

typedef struct {
    Selector *s;
    uint32_t *pivot_of_row; /* per row of the reduction: 1 + number of the pivot */
    VEC(Factor) factors;    /* below the pivots */
    VEC(uint32_t) first;    /* per pivot: its factors begin here */
    double *work;           /* per row */
    bool *is_in;
    VEC(uint32_t) touched; /* rows */
    VEC(uint32_t) heap;    /* pivots still to be applied, least first */
} Elimination;

static void heap_push(Elimination *e, uint32_t pivot)
{
    vec_push(e->s->r->c->scratch, &e->heap, pivot);
    uint32_t k = e->heap.n - 1;
    for (; k && e->heap.at[(k - 1) / 2] > pivot; k = (k - 1) / 2)
        e->heap.at[k] = e->heap.at[(k - 1) / 2];
    e->heap.at[k] = pivot;
}

static uint32_t heap_pop(Elimination *e)
{
    const uint32_t least = e->heap.at[0], last = e->heap.at[--e->heap.n];
    uint32_t k = 0;
    for (;;) {
        uint32_t child = 2 * k + 1;
        if (child >= e->heap.n)
            break;
        child += child + 1 < e->heap.n && e->heap.at[child + 1] < e->heap.at[child];
        if (e->heap.at[child] >= last)
            break;
        e->heap.at[k] = e->heap.at[child];
        k = child;
    }
    if (e->heap.n)
        e->heap.at[k] = last;
    return least;
}

static void touch(Elimination *e, uint32_t row, double value)
{
    if (!e->is_in[row]) {
        e->is_in[row] = true;
        e->work[row] = 0;
        vec_push(e->s->r->c->scratch, &e->touched, row);
        if (e->pivot_of_row[row])
            heap_push(e, e->pivot_of_row[row] - 1);
    }
    e->work[row] += value;
}

/* What is left of the column when the pivots so far are eliminated; the size it had. */
static double reduce_column(Elimination *e, uint32_t column, const uint32_t *pivot_row)
{
    const Selector *s = e->s;
    double size = 0;
    for (uint32_t k = s->column_start[column]; k < s->column_start[column + 1]; k++) {
        const Entry *entry = &s->entries.at[s->column_entries[k]];
        if (s->is_row_done[entry->row] && !e->pivot_of_row[entry->row])
            continue;
        touch(e, entry->row, entry->value);
        size = fmax(size, fabs(entry->value));
    }
    while (e->heap.n) {
        const uint32_t pivot = heap_pop(e);
        const double value = e->work[pivot_row[pivot]];
        for (uint32_t k = e->first.at[pivot]; value != 0 && k < e->first.at[pivot + 1]; k++)
            touch(e, e->factors.at[k].row, -value * e->factors.at[k].value);
    }
    return size;
}

static void forget_column(Elimination *e)
{
    for (uint32_t k = 0; k < e->touched.n; k++)
        e->is_in[e->touched.at[k]] = false;
    e->touched.n = 0;
}

/* The column becomes the pivot of the row where most is left of it, among those of this depth; false: nothing is. */
static bool try_column(Elimination *e, uint32_t column, uint32_t depth, uint32_t *pivot_row)
{
    Reduction *r = e->s->r;
    const double size = reduce_column(e, column, pivot_row);
    uint32_t best = ID_NONE;
    for (uint32_t k = 0; k < e->touched.n; k++) {
        const uint32_t row = e->touched.at[k];
        if (!e->pivot_of_row[row] && r->p.differentiated[row] == depth && fabs(e->work[row]) > RANK_TOLERANCE * size &&
            (best == ID_NONE || fabs(e->work[row]) > fabs(e->work[best])))
            best = row;
    }
    if (best != ID_NONE) {
        const uint32_t pivot = e->first.n - 1;
        for (uint32_t k = 0; k < e->touched.n; k++) {
            const uint32_t row = e->touched.at[k];
            const Factor factor = { row, e->work[row] / e->work[best] };
            if (row != best && !e->pivot_of_row[row] && fabs(e->work[row]) > RANK_TOLERANCE * size)
                vec_push(r->c->scratch, &e->factors, factor);
        }
        pivot_row[pivot] = best;
        e->pivot_of_row[best] = pivot + 1;
        vec_push(r->c->scratch, &e->first, e->factors.n);
    }
    forget_column(e);
    return best != ID_NONE;
}

/* A parameter of this equation that is 0 with the values of the text; NULL: there is none. */
static const char *zero_parameter(const Selector *s, const Equation *e)
{
    Model *m = s->r->model;
    KnownValues known = known_values(m, s->r->c->scratch);
    const Term sides[] = { e->lhs, e->rhs };
    for (int side = 0; side < 2; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(m, sides[side])[k];
            if (ref.kind == REF_NOW && !var_is_none(ref.var) && ref_type(m, ref).kind == TYPE_REAL &&
                known_parameter(&known, ref) == 0)
                return variable_path(m, ref.var, s->r->c->scratch);
        }
    return NULL;
}

/* The structure has a place for it, its value is 0. */
static void report_zero(Selector *s, const Equation *e, const char *parameter)
{
    Diag *diag = s->r->c->diag;
    diag_error(diag, DIAG_DEPENDENT_CONSTRAINTS, e->origin.span,
               "with '%s' = 0 this constraint does not determine what it seems to determine", parameter);
    diag_help(diag,
              "parameters may change, so the model is analysed as if '%s' were not 0; --evaluate-parameters "
              "analyses it with the values as they are",
              parameter);
}

static void report_dependent(Selector *s, const Elimination *e, const Component *c)
{
    const Model *m = s->r->model;
    Diag *diag = s->r->c->diag;
    uint32_t notes = 0;
    for (uint32_t k = 0; k < c->n_rows; k++) {
        if (e->pivot_of_row[c->rows[k]])
            continue;
        const Equation *equation = &m->equations.at[s->r->rows.equation[c->rows[k]]];
        const char *parameter = zero_parameter(s, equation);
        if (parameter) {
            report_zero(s, equation, parameter);
            return;
        }
        diag_error(diag, DIAG_DEPENDENT_CONSTRAINTS, equation->origin.span,
                   "this constraint says nothing new about the states: it follows from others, or contradicts them");
        for (uint32_t j = 0; j < c->n_rows && notes < 8; j++)
            if (e->pivot_of_row[c->rows[j]] && ++notes)
                diag_note(diag, m->equations.at[s->r->rows.equation[c->rows[j]]].origin.span,
                          "another constraint of these states");
        diag_help(diag, "remove one of these equations");
        return;
    }
}

/* A wish that cannot be granted. */
static void report_always(Selector *s, const Component *c)
{
    const Reduction *r = s->r;
    const Model *m = r->model;
    Diag *diag = r->c->diag;
    uint32_t wanted = 0;
    for (uint32_t k = 0; k < c->n_columns; k++)
        wanted += c->columns[k].wish == SELECT_ALWAYS;
    diag_error(diag, DIAG_STATE_WISH, m->equations.at[r->rows.equation[c->rows[0]]].origin.span,
               "%u of these quantities shall be states, but %u equation%s between %u of them leave%s room for %u",
               wanted, c->n_rows, c->n_rows == 1 ? "" : "s", c->n_columns, c->n_rows == 1 ? "s" : "",
               c->n_columns - c->n_rows);
    for (uint32_t k = 0, notes = 0; k < c->n_columns && notes < 8; k++)
        if (c->columns[k].wish == SELECT_ALWAYS && ++notes)
            diag_note(diag, m->variables.at[r->quantities.head[c->columns[k].column]].span, "'%s' shall be a state",
                      variable_path(m, (VarId){ r->quantities.head[c->columns[k].column] }, r->c->scratch));
    diag_help(diag, "take back the wish for one of them");
}

static bool eliminate(Selector *s, Elimination *e, Component *c)
{
    Reduction *r = s->r;
    uint32_t *pivot_row = NEW_ARRAY(r->c->scratch, uint32_t, c->n_rows + 1),
             *taken = NEW_ARRAY(r->c->scratch, uint32_t, c->n_rows + 1), n = 0, deepest = 0;
    bool is_good = true, *is_taken = NEW_ARRAY(r->c->scratch, bool, c->n_columns + 1);
    for (uint32_t k = 0; k < c->n_rows; k++)
        deepest = r->p.differentiated[c->rows[k]] > deepest ? r->p.differentiated[c->rows[k]] : deepest;
    qsort(c->columns, c->n_columns, sizeof *c->columns, compare_candidates);
    e->factors.n = e->first.n = 0;
    vec_push(r->c->scratch, &e->first, 0);
    for (uint32_t depth = deepest, wanted = 0; depth; depth--) {
        for (uint32_t k = 0; k < c->n_rows; k++)
            wanted += r->p.differentiated[c->rows[k]] == depth;
        for (uint32_t k = 0; k < c->n_columns && n < wanted; k++) {
            if (is_taken[k] || r->p.highest[c->columns[k].column] < depth ||
                !try_column(e, c->columns[k].column, depth, pivot_row))
                continue;
            is_taken[k] = true;
            is_good &= c->columns[k].wish < SELECT_ALWAYS;
            taken[n++] = c->columns[k].column;
        }
    }
    if (n < c->n_rows)
        report_dependent(s, e, c);
    else if (!is_good)
        report_always(s, c);
    for (uint32_t k = 0; k < n; k++)
        take(s, pivot_row[k], taken[k]);
    for (uint32_t k = 0; k < n; k++)
        e->pivot_of_row[pivot_row[k]] = 0;
    return n == c->n_rows && is_good;
}

/* ---- factors that vary ---- */
/* All quantities but those that shall be states are taken, if they are as many as the equations. */
static bool take_all(Selector *s, const Component *c, bool *is_done)
{
    Reduction *r = s->r;
    Arena *scratch = r->c->scratch;
    uint32_t n = 0, *column_of_row = NEW_ARRAY(scratch, uint32_t, c->n_rows + 1),
             *row_of_column = NEW_ARRAY(scratch, uint32_t, c->n_columns + 1);
    Map place;
    map_init(&place, scratch, c->n_columns);
    for (uint32_t k = 0; k < c->n_columns; k++)
        if (c->columns[k].wish < SELECT_ALWAYS)
            map_put(&place, c->columns[k].column, n++);
    if (n > c->n_rows)
        return true;
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < c->n_rows; k++)
        for (uint32_t j = s->row_entries[c->rows[k]]; j < s->row_entries[c->rows[k] + 1]; j++) {
            Edge edge = { .row = k };
            if (map_get(&place, s->entries.at[j].column, &edge.column))
                vec_push(scratch, &edges, edge);
        }
    const Incidence g = incidence_build(c->n_rows, n, edges.at, edges.n, scratch);
    *is_done = true;
    if (match_rows(&g, scratch, column_of_row, row_of_column) < c->n_rows) {
        report_always(s, c);
        return false;
    }
    for (uint32_t k = 0, at = 0; k < c->n_columns; k++)
        if (c->columns[k].wish < SELECT_ALWAYS)
            take(s, c->rows[row_of_column[at++]], c->columns[k].column);
    return true;
}

/* Wishes that leave a choice: the weight of the column decides. Those that leave none: how much better another choice
 * has to be before the run ends. */
static double weight_of(uint32_t wish)
{
    static const double weights[] = {
        [SELECT_NEVER] = 1000, [SELECT_AVOID] = 10, [SELECT_DEFAULT] = 1, [SELECT_PREFER] = 0.1, [SELECT_ALWAYS] = 0.05
    };
    return weights[wish];
}

static int compare_depths(const void *a, const void *b)
{
    const SetRow *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows and columns of the component as those of a state set. */
static SetPlan plan_set(Selector *s, const Component *c)
{
    Reduction *r = s->r;
    Arena *scratch = r->c->scratch;
    SetPlan plan = { .rows = NEW_ARRAY(scratch, SetRow, c->n_rows + 1),
                     .columns = NEW_ARRAY(scratch, uint32_t, c->n_columns + 1),
                     .is_given = NEW_ARRAY(scratch, bool, c->n_columns + 1),
                     .weights = NEW_ARRAY(scratch, double, c->n_columns + 1) };
    Map place;
    map_init(&place, scratch, c->n_columns);
    for (uint32_t k = 0; k < c->n_columns; k++) {
        map_put(&place, c->columns[k].column, plan.n_columns);
        plan.is_given[plan.n_columns] = c->columns[k].wish == SELECT_ALWAYS;
        plan.weights[plan.n_columns] = weight_of(c->columns[k].wish);
        plan.columns[plan.n_columns++] = c->columns[k].column;
    }
    for (uint32_t k = 0; k < c->n_rows; k++)
        plan.rows[plan.n_rows++] = (SetRow){ c->rows[k], r->p.differentiated[c->rows[k]] };
    qsort(plan.rows, plan.n_rows, sizeof *plan.rows, compare_depths);
    plan.n_levels = plan.rows[0].depth;
    for (uint32_t k = 0; k < plan.n_rows; k++)
        for (uint32_t j = s->row_entries[plan.rows[k].row]; j < s->row_entries[plan.rows[k].row + 1]; j++) {
            SetEntry entry = { .row = k, .term = s->entries.at[j].term };
            if (map_get(&place, s->entries.at[j].column, &entry.column))
                vec_push(scratch, &plan.entries, entry);
        }
    return plan;
}

/* The quantities, but those that shall be states, become candidates of a state set. */
static void choose_by_values(Selector *s, const Component *c)
{
    Reduction *r = s->r;
    const SetPlan plan = plan_set(s, c);
    for (uint32_t k = 0; k < plan.n_columns; k++) {
        const uint32_t column = plan.columns[k], highest = r->p.highest[column];
        if (plan.is_given[k])
            continue;
        r->quantities.set[column] = r->plans.n;
        r->quantities.demoted[column] = highest < plan.n_levels ? highest : plan.n_levels;
    }
    vec_push(r->c->scratch, &r->plans, plan);
}

/* All quantities but those that shall be states were taken: a set without choice watches that they can be. */
static void watch_given(Selector *s, const Component *c)
{
    const SetPlan plan = plan_set(s, c);
    for (uint32_t k = 0; k < plan.n_columns; k++)
        if (plan.is_given[k]) {
            vec_push(s->r->c->scratch, &s->r->plans, plan);
            return;
        }
}

static void mark_assigned(Selector *s)
{
    const Reduction *r = s->r;
    const Model *m = r->model;
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        const Ref ref = term_refs(m, m->assignments.at[k].target)[m->assignments.at[k].target.shape->u.leaf];
        if (r->chains.quantity[ref.var.index] != ID_NONE)
            s->is_assigned[r->chains.quantity[ref.var.index]] = true;
    }
}

static bool choose(Selector *s)
{
    Reduction *r = s->r;
    uint32_t n;
    Component *all = find_components(s, &n);
    VEC(uint32_t) alone = { 0 }; /* quantities that may stand in one equation only */
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < all[k].n_columns && !all[k].is_constant; j++)
            vec_push(r->c->scratch, &alone, all[k].columns[j].column);
    for (uint32_t k = 0, row; k < alone.n; k++)
        if (may_take_alone(s, alone.at[k], &row)) {
            take(s, row, alone.at[k]);
            for (uint32_t j = s->row_entries[row]; j < s->row_entries[row + 1]; j++)
                if (s->live[s->entries.at[j].column] == 1)
                    vec_push(r->c->scratch, &alone, s->entries.at[j].column);
        }
    all = find_components(s, &n);
    Elimination e = { .s = s,
                      .pivot_of_row = NEW_ARRAY(r->c->scratch, uint32_t, r->rows.n + 1),
                      .work = NEW_ARRAY(r->c->scratch, double, r->rows.n + 1),
                      .is_in = NEW_ARRAY(r->c->scratch, bool, r->rows.n + 1) };
    bool good = true;
    for (uint32_t k = 0; k < n; k++) {
        bool is_done = false;
        if (all[k].is_constant)
            good &= eliminate(s, &e, &all[k]);
        else if (!take_all(s, &all[k], &is_done))
            good = false;
        else if (is_done)
            watch_given(s, &all[k]);
        else
            choose_by_values(s, &all[k]);
    }
    return good;
}

bool select_states(Reduction *r)
{
    Arena *scratch = r->c->scratch;
    Selector s = { .r = r,
                   .row_entries = NEW_ARRAY(scratch, uint32_t, r->rows.n + 1),
                   .is_row_done = NEW_ARRAY(scratch, bool, r->rows.n + 1),
                   .is_assigned = NEW_ARRAY(scratch, bool, r->quantities.n + 1),
                   .live = NEW_ARRAY(scratch, uint32_t, r->quantities.n + 1) };
    map_init(&s.parameter_values, scratch, 16);
    r->quantities.demoted = NEW_ARRAY(scratch, uint32_t, r->quantities.n + 1);
    r->quantities.set = NEW_ARRAY(scratch, uint32_t, r->quantities.n + 1);
    for (uint32_t k = 0; k < r->quantities.n; k++)
        r->quantities.set[k] = ID_NONE;
    if (!list_entries(&s))
        return false;
    for (uint32_t k = 0; k < s.entries.n; k++)
        s.live[s.entries.at[k].column]++;
    mark_assigned(&s);
    return choose(&s);
}
