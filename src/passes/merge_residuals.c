/* Part of merge-regions: equations without direction inside branches, those that always hold, those of the start and
 * those behind it each for themselves. Every branch has as many as the others; they are
 * paired, one of each branch, and become one equation each: those with the same left side `v = if r = 1 then a else b`,
 * others `0 = if r = 1 then left - right else ...`. Equations that say the same left side are paired first, so that the
 * unknown keeps an equation of its own where it has one in every branch; the rest in the order of the text. */
#include "base/map.h"
#include "ir/simplify.h"
#include "passes/pipeline.h"

typedef struct Row Row;
struct Row { /* one equation of the result: a leaf is an equation, else a region with a row for each of its branches */
    uint32_t equation, region;
    uint32_t n_branches;
    Row **branches;
};
typedef VEC(Row *) Rows;

typedef struct {
    Compile *c;
    Model *model;
    Validity valid;                     /* of the equations at work */
    bool *is_acausal;                   /* per region: some equation without direction is in it or below */
    uint32_t *first_equation;           /* per region: 1 + first equation of a chain, in their order */
    uint32_t *next_equation;            /* per equation */
    uint32_t *first_child, *next_child; /* per region */
} Merger;

/* ---- the tree ---- */
static void list_members(Merger *g)
{
    const Model *m = g->model;
    for (uint32_t k = m->equations.n; k-- > 0;) {
        const Equation *e = &m->equations.at[k];
        if (e->region.index == ID_NONE || e->kind == EQUATION_DROPPED || e->when_valid != g->valid)
            continue;
        g->next_equation[k] = g->first_equation[e->region.index];
        g->first_equation[e->region.index] = k + 1;
        for (RegionId r = e->region; e->kind == EQUATION_RESIDUAL && r.index != ID_NONE;
             r = m->regions.at[r.index].parent)
            g->is_acausal[r.index] = true;
    }
    for (uint32_t k = m->regions.n; k-- > 0;) {
        const RegionId parent = m->regions.at[k].parent;
        if (parent.index == ID_NONE)
            continue;
        g->next_child[k] = g->first_child[parent.index];
        g->first_child[parent.index] = k + 1;
    }
}

/* The left side of all equations of the row, if it is one variable: its key, else 0. */
static uint64_t key_of(const Merger *g, const Row *row)
{
    const Model *m = g->model;
    if (row->branches == NULL) {
        const Term lhs = m->equations.at[row->equation].lhs;
        if (lhs.shape->kind != EXPR_LEAF || lhs.shape->n_args)
            return 0;
        const Ref ref = term_refs(m, lhs)[0];
        return (uint64_t)(ref.kind + 1) << 32 | ref.var.index;
    }
    const uint64_t key = key_of(g, row->branches[0]);
    for (uint32_t k = 1; k < row->n_branches && key; k++)
        if (key_of(g, row->branches[k]) != key)
            return 0;
    return key;
}

static Row *new_row(Merger *g, uint32_t equation, uint32_t region, uint32_t n_branches)
{
    Row *row = NEW(g->c->scratch, Row);
    *row = (Row){ equation, region, n_branches, n_branches ? NEW_ARRAY(g->c->scratch, Row *, n_branches) : NULL };
    return row;
}

/* Puts each of `rows` into the slot of a row of the first branch. */
static void pair(Merger *g, Rows *first, const Rows *rows, uint32_t branch)
{
    Map place;
    bool *is_used = NEW_ARRAY(g->c->scratch, bool, rows->n + 1);
    map_init(&place, g->c->scratch, rows->n);
    for (uint32_t k = rows->n; k-- > 0;) {
        const uint64_t key = key_of(g, rows->at[k]);
        if (key)
            map_put(&place, key, k);
    }
    for (uint32_t k = 0; k < first->n; k++) {
        const uint64_t key = key_of(g, first->at[k]->branches[0]);
        uint32_t other;
        if (!key || !map_get(&place, key, &other) || is_used[other])
            continue;
        first->at[k]->branches[branch] = rows->at[other];
        is_used[other] = true;
    }
    for (uint32_t k = 0, next = 0; k < first->n; k++) {
        if (first->at[k]->branches[branch])
            continue;
        while (is_used[next])
            next++;
        is_used[next] = true;
        first->at[k]->branches[branch] = rows->at[next];
    }
}

static Rows rows_of_region(Merger *g, uint32_t region);

static Rows rows_of_branch(Merger *g, uint32_t region, uint32_t branch)
{
    const Model *m = g->model;
    Rows rows = { 0 };
    for (uint32_t k = g->first_equation[region]; k; k = g->next_equation[k - 1])
        if (m->equations.at[k - 1].branch == branch)
            vec_push(g->c->scratch, &rows, new_row(g, k - 1, ID_NONE, 0));
    for (uint32_t k = g->first_child[region]; k; k = g->next_child[k - 1]) {
        if (m->regions.at[k - 1].parent_branch != branch)
            continue;
        const Rows inner = rows_of_region(g, k - 1);
        for (uint32_t j = 0; j < inner.n; j++)
            vec_push(g->c->scratch, &rows, inner.at[j]);
    }
    return rows;
}

static Rows rows_of_region(Merger *g, uint32_t region)
{
    const Region *r = &g->model->regions.at[region];
    const uint32_t n_branches = r->n_conditions + 1; /* the last: else, also a missing one */
    Rows rows = { 0 };
    const Rows first = rows_of_branch(g, region, 1);
    for (uint32_t k = 0; k < first.n; k++) {
        Row *row = new_row(g, ID_NONE, region, n_branches);
        row->branches[0] = first.at[k];
        vec_push(g->c->scratch, &rows, row);
    }
    for (uint32_t branch = 2; branch <= n_branches; branch++) {
        const Rows others = rows_of_branch(g, region, branch);
        if (others.n == rows.n) {
            pair(g, &rows, &others, branch - 1);
            continue;
        }
        diag_error(g->c->diag, DIAG_UNBALANCED_BRANCHES, r->span, "branch 1 has %u equation%s, branch %u has %u",
                   rows.n, rows.n == 1 ? "" : "s", branch, others.n);
        if (branch > r->n_conditions && !r->has_else)
            diag_note(g->c->diag, r->span, "branch %u is what holds when no condition does: there is no else", branch);
        diag_help(g->c->diag, "write as many equations in every branch");
        rows.n = 0;
        break;
    }
    return rows;
}

/* ---- equations ---- */
static const Expr *choice_of(Merger *g, TermBuilder *builder, const Row *row, bool same_left)
{
    Pool *pool = g->model->pool;
    if (row->branches == NULL) {
        Equation *e = &g->model->equations.at[row->equation];
        e->kind = EQUATION_DROPPED;
        const Expr *right = term_import(builder, e->rhs);
        return same_left ? right : expr_binary(pool, OP_SUB, term_import(builder, e->lhs), right);
    }
    const Expr *selector = term_leaf(builder, ref_now(g->model->regions.at[row->region].selector));
    const Expr *value = choice_of(g, builder, row->branches[row->n_branches - 1], same_left);
    for (uint32_t k = row->n_branches - 1; k-- > 0;)
        value = expr_if(pool, expr_literal_relation(pool, OP_EQ, selector, expr_integer(pool, k + 1)),
                        choice_of(g, builder, row->branches[k], same_left), value);
    return value;
}

static uint32_t first_leaf(const Row *row)
{
    while (row->branches)
        row = row->branches[0];
    return row->equation;
}

/* The first equation of the row between quantities that are not Real; ID_NONE: there is none. */
static uint32_t leaf_without_difference(const Merger *g, const Row *row)
{
    const Model *m = g->model;
    if (row->branches == NULL)
        return m->equations.at[row->equation].lhs.shape->type.kind == TYPE_REAL ? ID_NONE : row->equation;
    uint32_t found = ID_NONE;
    for (uint32_t k = 0; k < row->n_branches && found == ID_NONE; k++)
        found = leaf_without_difference(g, row->branches[k]);
    return found;
}

static void add_equation(Merger *g, const Row *row)
{
    Model *m = g->model;
    const uint32_t first = first_leaf(row);
    const bool same_left = key_of(g, row) != 0;
    const Equation model_equation = m->equations.at[first];
    const uint32_t odd = same_left ? ID_NONE : leaf_without_difference(g, row);
    if (odd != ID_NONE) {
        diag_error(g->c->diag, DIAG_UNBALANCED_BRANCHES, m->equations.at[odd].origin.span,
                   "this equation has no counterpart in another branch: what is not Real needs v = ... in all of them");
        diag_help(g->c->diag, "define the same variable in every branch");
        return;
    }
    TermBuilder builder = term_builder(m);
    const Expr *value = expr_simplify(m->pool, choice_of(g, &builder, row, same_left));
    const Term rhs = term_finish(&builder, value);
    const EqId e = model_add_equation(m, EQUATION_RESIDUAL, same_left ? model_equation.lhs : term_real(m, 0.0), rhs,
                                      model_equation.origin.span);
    Equation *merged = &m->equations.at[e.index];
    merged->owner = model_equation.owner;
    merged->origin.made_by = "merge-regions";
    merged->origin.parent.index = first;
    merged->when_valid = (uint8_t)g->valid;
}

static void merge_valid(Compile *c, Validity valid)
{
    Model *m = c->model;
    const uint32_t n = m->regions.n;
    Merger g = { .c = c,
                 .model = m,
                 .valid = valid,
                 .is_acausal = NEW_ARRAY(c->scratch, bool, n + 1),
                 .first_equation = NEW_ARRAY(c->scratch, uint32_t, n + 1),
                 .next_equation = NEW_ARRAY(c->scratch, uint32_t, m->equations.n + 1),
                 .first_child = NEW_ARRAY(c->scratch, uint32_t, n + 1),
                 .next_child = NEW_ARRAY(c->scratch, uint32_t, n + 1) };
    list_members(&g);
    for (uint32_t k = 0; k < n; k++) {
        if (!g.is_acausal[k] || m->regions.at[k].parent.index != ID_NONE)
            continue;
        const Rows rows = rows_of_region(&g, k);
        for (uint32_t j = 0; j < rows.n && diag_errors(c->diag) == 0; j++)
            add_equation(&g, rows.at[j]);
    }
}

void merge_residuals(Compile *c)
{
    merge_valid(c, VALID_ALWAYS);
    merge_valid(c, VALID_INITIAL_ONLY);
    merge_valid(c, VALID_NOT_INITIAL);
}
