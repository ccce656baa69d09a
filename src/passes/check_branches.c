/* check-branches: equations with branches must determine their unknowns whatever is chosen (C9).
 *
 * For every system with if-expressions the choices they depend on are found: Boolean variables, bits of comparisons,
 * selectors of regions. For each combination of them the equations are matched with the unknowns again, as far as the
 * chosen branches contain them. A combination in which they do not fit together is reported with what it leaves open:
 * a warning, since the run may never come there; an error where no combination is left, and where an equation alone
 * has to give a value that one of its branches does not contain.
 *
 * Diodes decide by the solution itself. They cannot stay in a combination whose equations contradict each other, as
 * that of two diodes that short a capacitor: there only combinations count whose equations can be met. */
#include "base/map.h"
#include "base/text.h"
#include "graph/dulmage.h"
#include "graph/elimination.h"
#include "graph/matching.h"
#include "ir/evaluate.h"
#include "ir/memo.h"
#include "ir/solve.h"
#include "passes/check_branches.h"
#include "passes/roles.h"
#include <math.h>

enum { MOST_COMBINATIONS = 1 << 12, MOST_NAMED = 6 };
static const uint64_t MOST_WORK = 1u << 24; /* entries of rows looked at for one system */

/* ---- choices ---- */
static uint64_t node_key(const Model *m, Term term, const Expr *e)
{
    uint64_t h = hash_mix(e->id, 1);
    for (uint32_t k = 0; k < e->n_leaves; k++)
        h = hash_mix(h, ref_key(term_refs(m, term)[k]));
    return h | (uint64_t)1 << 63;
}

static bool is_selector_test(const Model *m, Term term, const Expr *e, Ref *selector)
{
    if (e->kind != EXPR_CALL || e->op != OP_EQ || e->args[0]->kind != EXPR_LEAF || e->args[1]->kind != EXPR_INTEGER)
        return false;
    *selector = term_refs(m, term)[e->args[0]->u.leaf];
    return selector->kind == REF_NOW && ref_type(m, *selector).kind == TYPE_INTEGER &&
           model_var(m, selector->var)->is_generated;
}

static bool is_fixed_ref(const Model *m, Ref ref)
{
    return ref.kind == REF_NOW && model_var(m, ref.var)->variability <= VARIABILITY_PARAMETER;
}

static Choice *choice_for(Checker *k, uint64_t key)
{
    uint32_t number;
    if (map_get(&k->choices, key, &number))
        return &k->choice[number];
    k->has_more |= k->n_choices == MOST_CHOICES;
    if (k->n_choices == MOST_CHOICES)
        return NULL;
    map_put(&k->choices, key, k->n_choices);
    Choice *choice = &k->choice[k->n_choices++];
    *choice = (Choice){ .ref = { VAR_NONE, REF_NOW }, .value = OPEN };
    return choice;
}

/* Of a state set: the machine sees to it that the choices fit together. */
static bool is_state_choice(const Model *m, Term term, const Expr *e)
{
    if (e->kind != EXPR_CALL || e->op != OP_EQ || e->args[0]->kind != EXPR_LEAF)
        return false;
    const Ref ref = term_refs(m, term)[e->args[0]->u.leaf];
    return ref.kind == REF_NOW && ref_type(m, ref).kind == TYPE_INTEGER &&
           model_var(m, ref.var)->definition == DEFINITION_FOREIGN;
}

/* What the condition `e` depends on. */
static void find_choices(Checker *k, Term term, const Expr *e)
{
    const Model *m = k->model;
    Ref selector;
    if (e->n_leaves == 0 || is_state_choice(m, term, e))
        return;
    if (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT)) {
        for (uint32_t j = 0; j < e->n_args; j++)
            find_choices(k, term, e->args[j]);
        return;
    }
    if (is_selector_test(m, term, e, &selector)) {
        Choice *choice = choice_for(k, ref_key(selector));
        const Region *region = region_of(m, selector.var);
        if (choice) {
            choice->ref = selector;
            choice->n = region ? region->n_conditions + region->has_else : 2; /* at least 1 */
        }
        return;
    }
    const bool is_leaf = e->kind == EXPR_LEAF && e->n_args == 0;
    const Ref ref = is_leaf ? term_refs(m, term)[e->u.leaf] : (Ref){ VAR_NONE, REF_NOW };
    Choice *choice = choice_for(k, is_leaf ? ref_key(ref) : node_key(m, term, e));
    if (!choice)
        return;
    choice->ref = ref;
    choice->node = e;
    choice->term = term;
    choice->n = 2;
    choice->is_fixed = true;
    for (uint32_t j = 0; j < term.shape->n_leaves; j++)
        if (e->kind == EXPR_LEAF ? j == e->u.leaf : expr_uses_leaf(e, j))
            choice->is_fixed &= is_fixed_ref(m, term_refs(m, term)[j]);
}

static bool visit_branches(Checker *k, Term term, const Expr *e, Memo *seen)
{
    uint32_t known;
    if (e->n_leaves == 0 || e->n_args == 0)
        return false;
    if (memo_get(seen, e, &known))
        return known;
    bool any = e->kind == EXPR_IF;
    if (any)
        find_choices(k, term, e->args[0]);
    for (uint32_t j = 0; j < e->n_args; j++)
        any |= visit_branches(k, term, e->args[j], seen);
    memo_put(seen, e, any);
    return any;
}

static bool find_branches(Checker *k, Term term)
{
    Memo seen;
    memo_begin(&seen, NULL);
    const bool any = visit_branches(k, term, term.shape, &seen);
    memo_end(&seen);
    return any;
}

/* ---- the equations of a combination ---- */
static int32_t value_of(const Checker *k, Term term, const Expr *e)
{
    const Model *m = k->model;
    uint32_t number;
    Ref selector;
    if (e->kind == EXPR_BOOLEAN)
        return e->u.integer != 0;
    if (e->kind == EXPR_CALL && e->op == OP_NOT) {
        const int32_t a = value_of(k, term, e->args[0]);
        return a == OPEN ? OPEN : !a;
    }
    if (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR)) {
        const int32_t a = value_of(k, term, e->args[0]), b = value_of(k, term, e->args[1]);
        const int32_t decides = e->op == OP_OR;
        return a == decides || b == decides ? decides : a == OPEN || b == OPEN ? OPEN : !decides;
    }
    if (is_selector_test(m, term, e, &selector)) {
        if (!map_get(&k->choices, ref_key(selector), &number) || k->choice[number].value == OPEN)
            return OPEN;
        return k->choice[number].value + 1 == e->args[1]->u.integer;
    }
    const bool is_leaf = e->kind == EXPR_LEAF && e->n_args == 0;
    const uint64_t key = is_leaf ? ref_key(term_refs(m, term)[e->u.leaf]) : node_key(m, term, e);
    return map_get(&k->choices, key, &number) ? k->choice[number].value : OPEN;
}

/* Zero as the branches are chosen. */
static bool is_zero(const Checker *k, Term term, const Expr *e)
{
    if (expr_is_real(e, 0.0))
        return true;
    if (e->kind == EXPR_IF) {
        const int32_t value = value_of(k, term, e->args[0]);
        return (value == 0 || is_zero(k, term, e->args[1])) && (value == 1 || is_zero(k, term, e->args[2]));
    }
    if (e->kind != EXPR_CALL)
        return false;
    if (e->op == OP_MUL)
        return is_zero(k, term, e->args[0]) || is_zero(k, term, e->args[1]);
    return (e->op == OP_NEG || e->op == OP_DIV) && is_zero(k, term, e->args[0]);
}

static void add_unknown(Checker *k, uint32_t row, Ref ref)
{
    Edge edge = { row, 0 };
    if (map_get(&k->columns, ref_key(ref), &edge.column))
        vec_push(k->c->scratch, &k->edges, edge);
}

static void add_chosen(Checker *k, uint32_t row, Term term, const Expr *e)
{
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF)
        add_unknown(k, row, term_refs(k->model, term)[e->u.leaf]);
    if (e->kind == EXPR_IF) {
        const int32_t value = value_of(k, term, e->args[0]);
        if (value != 0)
            add_chosen(k, row, term, e->args[1]);
        if (value != 1)
            add_chosen(k, row, term, e->args[2]);
        return;
    }
    if (e->kind == EXPR_CALL && e->op == OP_MUL && is_zero(k, term, e))
        return;
    for (uint32_t j = 0; j < e->n_args; j++)
        add_chosen(k, row, term, e->args[j]);
}

static void add_varied(Checker *k)
{
    for (uint32_t j = 0; j < k->varied.n; j++) {
        const SystemRow *row = &k->rows[k->varied.at[j]];
        add_chosen(k, k->varied.at[j], row->lhs, row->lhs.shape);
        add_chosen(k, k->varied.at[j], row->rhs, row->rhs.shape);
    }
}

/* Whether the equations of the present combination determine all unknowns; k->g and the matching stay. */
static bool is_regular(Checker *k)
{
    const uint32_t n = k->block->u.system.n_rows;
    Arena *scratch = k->c->scratch;
    arena_reset(scratch, k->mark);
    k->edges.n = k->n_fixed;
    add_varied(k);
    k->g = incidence_build(n, n, k->edges.at, k->edges.n, scratch);
    return match_rows(&k->g, scratch, k->column_of_row, k->row_of_column) == n;
}

/* ---- choices that depend on the solution ---- */
static void list_definitions(Checker *k)
{
    const Compile *c = k->c;
    k->definition = NEW_ARRAY(c->scratch, uint32_t, c->model->variables.n + 1);
    for (uint32_t j = 0; j < c->model->equations.n; j++) {
        if (c->model->equations.at[j].kind == EQUATION_DROPPED || c->matched[j] == ID_NONE)
            continue;
        const Ref ref = c->unknowns.at[c->matched[j]];
        if (ref.kind == REF_NOW)
            k->definition[ref.var.index] = j + 1;
    }
}

typedef struct {
    VarId at[256];
    uint32_t n;
} Search;

static bool add_reads(const Checker *k, Search *search, Term term)
{
    for (uint32_t j = 0; term.shape && j < term.shape->n_leaves; j++) {
        const Ref ref = term_refs(k->model, term)[j];
        uint32_t column;
        bool is_new = (ref.kind == REF_NOW || ref.kind == REF_PRE) && search->n < 256;
        if (map_get(&k->columns, ref_key(ref), &column))
            return true;
        for (uint32_t i = 0; i < search->n && is_new; i++)
            is_new = search->at[i].index != ref.var.index;
        if (is_new)
            search->at[search->n++] = ref.var;
    }
    return false;
}

/* Whether what decides it, now or one event step before, depends on an unknown of the system. */
static bool depends_on_solution(const Checker *k, const Choice *choice)
{
    Search search = { .n = 1 };
    if (var_is_none(choice->ref.var))
        return add_reads(k, &search, choice->term);
    search.at[0] = choice->ref.var;
    for (uint32_t j = 0; j < search.n; j++) {
        const Relation *relation = relation_of(k->model, search.at[j]);
        const uint32_t equation = k->definition[search.at[j].index];
        if (relation && (add_reads(k, &search, relation->left) || add_reads(k, &search, relation->right)))
            return true;
        if (!relation && equation && add_reads(k, &search, k->model->equations.at[equation - 1].rhs))
            return true;
    }
    return false;
}

/* ---- whether the equations can be met ---- */
/* Anything for what is not known: what holds for it holds nearly always. */
static double some_number(Ref ref)
{
    const uint64_t h = hash_mix(hash_mix(ref_key(ref), 0x2545f4914f6cdd1du), 12345);
    return 0.5 + (double)(h >> 11) / 9007199254740992.0;
}

static Value value_for(const Checker *k, Ref ref)
{
    const Model *m = k->model;
    uint32_t number, column;
    Value value = { .r = 0 };
    if (map_get(&k->columns, ref_key(ref), &column))
        return value;
    if (ref.kind != REF_TIME && ref_type(m, ref).kind != TYPE_REAL) {
        const bool is_choice = map_get(&k->choices, ref_key(ref), &number);
        const int64_t chosen = is_choice ? k->choice[number].value : 0;
        value.i = is_choice && ref_type(m, ref).kind == TYPE_INTEGER ? chosen + 1 : chosen == OPEN ? 0 : chosen;
        return value;
    }
    value.r = some_number(ref); /* parameters, too: what is singular for all values is looked for */
    return value;
}

/* lhs - rhs with all unknowns 0, and what each unknown adds. False: it has no value. */
static bool fill_side(const Checker *k, Term term, double sign, double *row)
{
    const uint32_t n = k->block->u.system.n_rows, n_leaves = term.shape->n_leaves;
    Value *leaves = NEW_ARRAY(k->c->scratch, Value, n_leaves + 1), result;
    for (uint32_t j = 0; j < n_leaves; j++)
        leaves[j] = value_for(k, term_refs(k->model, term)[j]);
    if (!expr_evaluate(term.shape, leaves, NULL, &result) || !isfinite(result.r))
        return false;
    const double rest = result.r;
    row[n] += sign * rest;
    for (uint32_t j = 0; j < n_leaves; j++) {
        uint32_t column;
        if (!map_get(&k->columns, ref_key(term_refs(k->model, term)[j]), &column))
            continue;
        leaves[j].r = 1;
        if (!expr_evaluate(term.shape, leaves, NULL, &result) || !isfinite(result.r))
            return false;
        row[column] += sign * (result.r - rest);
        leaves[j].r = 0;
    }
    return true;
}

/* The equations of the present combination with numbers for all that is known. False: they have no values. */
static bool fill_matrix(const Checker *k, double *a)
{
    const uint32_t w = k->block->u.system.n_rows + 1;
    for (uint32_t j = 0; j + 1 < w; j++)
        if (!fill_side(k, k->rows[j].lhs, 1, a + (size_t)j * w) || !fill_side(k, k->rows[j].rhs, -1, a + (size_t)j * w))
            return false;
    return true;
}

/* What the structure does not show: terms that cancel whatever their values are, as potentials of a part that nothing
 * ties to ground. */
static bool is_numeric(const Checker *k, uint32_t n_combinations)
{
    enum { LARGEST = 60 };
    const uint64_t n = k->block->u.system.n_rows;
    return k->block->kind == BLOCK_LINEAR && n > 1 && n <= LARGEST && n_combinations * n * n * n <= 4 * MOST_WORK;
}

/* Whether the run can be in the present combination and has no solution, or several, there. */
static bool is_dangerous(Checker *k)
{
    const uint32_t n = k->block->u.system.n_rows;
    const bool is_singular = !is_regular(k);
    double *a = k->has_numbers ? NEW_ARRAY(k->c->scratch, double, (size_t)n *(n + 1)) : NULL;
    if (!a || !fill_matrix(k, a))
        return is_singular;
    const Elimination e = eliminate(n, a, k->c->scratch);
    return (is_singular || e.rank < n) && (!k->decides_itself || e.can_be_met);
}

/* ---- reports ---- */
static const char *comparison_text(const Checker *k, VarId bit)
{
    const Relation *r = relation_of(k->model, bit);
    return r ? arena_format(k->c->scratch, "`%s`", relation_text(k->model, r, k->c->scratch)) : NULL;
}

static const char *choice_text(const Checker *k, const Choice *choice)
{
    const Model *m = k->model;
    Arena *scratch = k->c->scratch;
    if (var_is_none(choice->ref.var))
        return arena_format(scratch, "`%s` is %s",
                            term_text(m, term_make(k->model, choice->node, term_refs(m, choice->term)), scratch),
                            choice->value ? "true" : "false");
    if (ref_type(m, choice->ref).kind == TYPE_INTEGER) {
        const Region *region = region_of(m, choice->ref.var);
        const uint32_t line =
            region && region->span.source != SOURCE_NONE ? span_begin(m->sources, region->span).line : 0;
        return arena_format(scratch, "branch %d of line %u is chosen", choice->value + 1, line);
    }
    const char *relation = comparison_text(k, choice->ref.var);
    return arena_format(scratch, "%s is %s", relation ? relation : variable_path(m, choice->ref.var, scratch),
                        choice->value ? "true" : "false");
}

/* d1.Open is true, d2.Open is true and ... */
static const char *combination_text(const Checker *k)
{
    Text text = { .arena = k->c->scratch };
    uint32_t n = 0, total = 0;
    for (uint32_t j = 0; j < k->n_choices; j++)
        total += k->choice[j].value != OPEN;
    for (uint32_t j = 0; j < k->n_choices && n < 2 * MOST_NAMED; j++) {
        if (k->choice[j].value == OPEN)
            continue;
        text_add(&text, n == 0 ? "" : n + 1 == total ? " and " : ", ");
        text_add(&text, choice_text(k, &k->choice[j]));
        n++;
    }
    if (n < total)
        text_format(&text, " and %u more", total - n);
    text_add(&text, "");
    return text.at;
}

static const char *unknown_text(const Checker *k, uint32_t column)
{
    const Ref ref = k->rows[column].unknown;
    const char *path = variable_path(k->model, ref.var, k->c->scratch);
    return arena_format(k->c->scratch, ref.kind == REF_DER ? "the derivative of '%s'" : "'%s'", path);
}

static Span row_span(const Checker *k, uint32_t row)
{
    return k->model->equations.at[k->rows[row].equation.index].origin.span;
}

/* Choices that do not matter for it are opened. */
static void generalise(Checker *k)
{
    if (is_regular(k)) /* singular by its numbers: all choices count */
        return;
    for (uint32_t j = 0; j < k->n_choices; j++) {
        const int32_t value = k->choice[j].value;
        k->choice[j].value = OPEN;
        if (is_regular(k))
            k->choice[j].value = value;
    }
    (void)is_regular(k);
}

static bool is_all_fixed(const Checker *k)
{
    for (uint32_t j = 0; j < k->n_choices; j++)
        if (k->choice[j].value != OPEN && !k->choice[j].is_fixed)
            return false;
    return true;
}

/* The equation stands in a class; the object is what the user can change. */
static void note_object(const Checker *k, EqId equation)
{
    const InstanceId owner = k->model->equations.at[equation.index].owner;
    const Instance *object = &k->model->instances.at[owner.index];
    if (owner.index && object->span.source != SOURCE_NONE)
        diag_note(k->c->diag, object->span, "in '%s'", instance_path(k->model, owner, k->c->scratch));
}

static void report_alone(Checker *k)
{
    diag_error(k->c->diag, DIAG_BRANCH_WITHOUT_UNKNOWN, row_span(k, 0),
               "%s cannot be computed when %s: this equation does not contain it then", unknown_text(k, 0),
               combination_text(k));
    blame_equation(k->c, k->rows[0].equation.index);
    blame_unknown(k->c, k->rows[0].unknown);
    diag_note(k->c->diag, model_var(k->model, k->rows[0].unknown.var)->span,
              "nothing else determines it: all other quantities of the equation are known before");
    note_object(k, k->rows[0].equation);
    if (branches_have_modes(k))
        diag_note(k->c->diag, SPAN_NONE, "'koine run' can execute it: with a Schedule for each mode");
    if (k->model->has_task) {
        diag_help(k->c->diag,
                  "a task is solved for all branches at once; --task \"start steady\" looks for the steady state of a "
                  "model with limits and switches, from its start values");
        return;
    }
    diag_help(k->c->diag,
              "a branch can neither set a state nor leave one without its equation. In a circuit an ideal switch can "
              "neither short a capacitor or a voltage source nor interrupt an inductor or a current source: give it a "
              "resistor in series or in parallel; in mechanics let the branch relate accelerations, and `init` the "
              "speeds");
}

static void report_system(Checker *k, uint32_t n_singular, uint32_t n_tried, bool is_all)
{
    Diag *diag = k->c->diag;
    const uint32_t n = k->block->u.system.n_rows;
    bool *is_open = NEW_ARRAY(k->c->scratch, bool, n + 1);
    uint32_t n_open = 0, n_dependent = 0;
    const Dulmage parts = dulmage_decompose(&k->g, k->column_of_row, k->row_of_column, k->c->scratch, NULL);
    const SubSystem *under = &parts.part[DULMAGE_UNDER], *over = &parts.part[DULMAGE_OVER];
    if (under->n_columns) {
        for (uint32_t j = 0; j < under->n_columns; j++)
            is_open[under->columns[j]] = true;
        n_dependent = over->n_rows;
    } else {
        double *a = NEW_ARRAY(k->c->scratch, double, (size_t)n *(n + 1));
        (void)fill_matrix(k, a);
        const Elimination e = eliminate(n, a, k->c->scratch);
        list_open_columns(&e, is_open);
    }
    const Span span = row_span(k, n_dependent ? over->rows[0] : k->varied.at[0]);
    Text names = { .arena = k->c->scratch };
    for (uint32_t j = 0; j < n; j++)
        if (is_open[j] && n_open++ < MOST_NAMED)
            text_format(&names, "%s%s", n_open > 1 ? ", " : "", unknown_text(k, j));
    if (n_open > MOST_NAMED)
        text_format(&names, " and %u more", n_open - MOST_NAMED);
    text_add(&names, "");
    if (is_all)
        diag_error(diag, DIAG_SINGULAR_BRANCHES, span,
                   "in no combination of their branches do these equations determine all unknowns: when %s, they leave "
                   "%s open",
                   combination_text(k), names.at);
    else
        diag_warning(diag, DIAG_SINGULAR_BRANCHES, span, "when %s, these equations do not determine %s",
                     combination_text(k), names.at);
    for (uint32_t j = 0; j < n; j++)
        blame_equation(k->c, k->rows[j].equation.index);
    for (uint32_t j = 0; j < n; j++)
        if (is_open[j])
            blame_unknown(k->c, k->rows[j].unknown);
    note_object(k, k->rows[k->varied.at[0]].equation);
    for (uint32_t j = 0; j < n_dependent && j < MOST_NAMED; j++)
        diag_note(diag, row_span(k, over->rows[j]), "one of %u equations that are not independent then", n_dependent);
    if (n_singular > 1)
        diag_note(diag, span, "%u of %u combinations are like this%s", n_singular, n_tried,
                  k->has_more ? "; not all were looked at" : "");
    diag_help(
        diag, "a run that comes there %s; a large resistor to ground, or a small one in series, determines them always",
        k->c->modes.excluded_end.n && !is_all ? "tries a Schedule of its own, and ends with an error if there is none"
                                              : "ends with an error");
}

/* ---- combinations ---- */
static void begin(Checker *k)
{
    Arena *scratch = k->c->scratch;
    const uint32_t n = k->block->u.system.n_rows;
    map_init(&k->columns, scratch, n);
    map_init(&k->choices, scratch, 16);
    k->n_choices = 0;
    k->has_more = false;
    memset(&k->varied, 0, sizeof k->varied);
    memset(&k->edges, 0, sizeof k->edges);
    for (uint32_t j = 0; j < n; j++)
        map_put(&k->columns, ref_key(k->rows[j].unknown), j);
    for (uint32_t j = 0; j < n; j++) {
        const bool left = find_branches(k, k->rows[j].lhs), right = find_branches(k, k->rows[j].rhs);
        if (left || right)
            vec_push(scratch, &k->varied, j);
    }
}

/* Counts up; false: the first combination again. */
static bool next_combination(Checker *k, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        if (++k->choice[j].value < (int32_t)k->choice[j].n)
            return true;
        k->choice[j].value = 0;
    }
    return false;
}

/* As many choices as can be combined; the others stay open. */
static uint32_t combined_choices(Checker *k)
{
    uint64_t combinations = 1;
    const uint64_t work = (uint64_t)k->edges.n + k->block->u.system.n_rows;
    uint32_t n = 0;
    while (n < k->n_choices) {
        combinations *= k->choice[n].n;
        if (combinations > MOST_COMBINATIONS || combinations * work > MOST_WORK)
            break;
        k->choice[n++].value = 0;
    }
    k->has_more |= n < k->n_choices;
    return n;
}

/* The edges of rows without branches, and room for those of the others, which are fewer the more is decided. */
static void list_edges(Checker *k)
{
    Arena *scratch = k->c->scratch;
    for (uint32_t j = 0, next = 0; j < k->block->u.system.n_rows; j++) {
        if (next < k->varied.n && k->varied.at[next] == j) {
            next++;
            continue;
        }
        const Term sides[] = { k->rows[j].lhs, k->rows[j].rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t i = 0; i < sides[side].shape->n_leaves; i++)
                add_unknown(k, j, term_refs(k->model, sides[side])[i]);
    }
    k->n_fixed = k->edges.n;
    add_varied(k);
    k->column_of_row = NEW_ARRAY(scratch, uint32_t, k->block->u.system.n_rows + 1);
    k->row_of_column = NEW_ARRAY(scratch, uint32_t, k->block->u.system.n_rows + 1);
    k->mark = arena_mark(scratch);
}

static void try_combinations(Checker *k)
{
    const uint32_t n = combined_choices(k);
    uint32_t n_combinations = 1;
    for (uint32_t j = 0; j < n; j++)
        n_combinations *= k->choice[j].n;
    k->has_numbers = n == k->n_choices && is_numeric(k, n_combinations);
    k->decides_itself = k->block->u.system.n_rows > 1;
    k->decides_some = k->block->u.system.n_rows == 1;
    for (uint32_t j = 0; j < k->n_choices && k->block->u.system.n_rows > 1; j++) {
        const bool depends = depends_on_solution(k, &k->choice[j]);
        k->decides_itself &= depends;
        k->decides_some |= depends;
    }
    int32_t first[MOST_CHOICES];
    uint32_t n_tried = 0, n_singular = 0;
    do {
        n_tried++;
        if (!is_dangerous(k))
            continue;
        branches_exclude(k);
        if (n_singular++)
            continue;
        for (uint32_t j = 0; j < k->n_choices; j++)
            first[j] = k->choice[j].value;
    } while (next_combination(k, n));
    if (n_singular == 0)
        return;
    for (uint32_t j = 0; j < k->n_choices; j++)
        k->choice[j].value = first[j];
    generalise(k);
    const bool is_alone = k->block->u.system.n_rows == 1 && !is_all_fixed(k),
               is_all = n_singular == n_tried && !k->has_more;
    if ((is_alone || is_all) && branches_ask(k))
        return;
    if (is_alone)
        report_alone(k);
    else
        report_system(k, n_singular, n_tried, is_all);
}

static void check_block(Checker *k, const Block *block)
{
    const ArenaMark start = arena_mark(k->c->scratch);
    k->block = block;
    k->rows = k->c->schedule->rows.at + block->u.system.first_row;
    begin(k);
    if (k->varied.n) {
        list_edges(k);
        try_combinations(k);
    }
    arena_reset(k->c->scratch, start);
}

bool check_branches(Compile *c)
{
    Checker *k = NEW(c->scratch, Checker);
    k->c = c;
    k->model = c->model;
    list_definitions(k);
    for (uint32_t j = 0; j < c->schedule->blocks.n; j++) {
        const Block *block = &c->schedule->blocks.at[j];
        if (block->kind == BLOCK_LINEAR || block->kind == BLOCK_NEWTON)
            check_block(k, block);
    }
    return diag_errors(c->diag) == 0 && c->modes.asked.n == 0;
}
