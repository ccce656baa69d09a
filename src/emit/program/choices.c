/* Systems whose equations have branches: what they depend on, for messages, and what a branch says exactly; see
 * systems.h. */
#include "emit/program/systems.h"
#include "ir/simplify.h"

typedef struct {
    Systems *ss;
    const Block *block;
    TermBuilder builder;
    Map columns; /* of the unknowns */
} Choices;

static bool is_unknown(const Choices *c, const Expr *e)
{
    uint32_t ignored;
    if (e->kind != EXPR_LEAF || e->n_args)
        return false;
    const Ref ref = c->builder.refs.at[e->u.leaf];
    return map_get(&c->columns, (uint64_t)ref.kind << 32 | ref.var.index, &ignored);
}

static bool has_unknown(const Choices *c, const Expr *e)
{
    if (e->n_leaves == 0)
        return false;
    if (is_unknown(c, e))
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_unknown(c, e->args[k]))
            return true;
    return false;
}

/* ---- exact values ---- */
/* Branches of `e` that are nothing but an unknown, each once. */
static void collect_alone(Choices *c, const Expr *e, const Expr **found, uint32_t *n)
{
    enum { MOST = 16 };
    if (e->kind == EXPR_IF) {
        collect_alone(c, e->args[1], found, n);
        collect_alone(c, e->args[2], found, n);
        return;
    }
    if (e->kind == EXPR_CALL && e->op == OP_NEG)
        e = e->args[0];
    if (!is_unknown(c, e) || *n == MOST)
        return;
    for (uint32_t k = 0; k < *n; k++)
        if (found[k] == e)
            return;
    found[(*n)++] = e;
}

/* `value` where the chosen branch of `e` is the unknown and nothing else; elsewhere the unknown as it is. */
static const Expr *exact_value(Choices *c, const Expr *e, const Expr *unknown, const Expr *value)
{
    Pool *pool = c->ss->ks->model->pool;
    if (e->kind == EXPR_IF)
        return simple_if(pool, e->args[0], exact_value(c, e->args[1], unknown, value),
                         exact_value(c, e->args[2], unknown, value));
    if (e == unknown)
        return value;
    if (e->kind == EXPR_CALL && e->op == OP_NEG && e->args[0] == unknown)
        return simple_unary(pool, OP_NEG, value);
    return unknown;
}

/* What the chosen branch of `e` says without any unknown; elsewhere the unknown as it is. */
static const Expr *given_value(Choices *c, const Expr *e, const Expr *unknown)
{
    if (e->kind == EXPR_IF)
        return simple_if(c->ss->ks->model->pool, e->args[0], given_value(c, e->args[1], unknown),
                         given_value(c, e->args[2], unknown));
    return has_unknown(c, e) ? unknown : e;
}

static void add_exact_value(Choices *c, const SystemRow *row, Entries *exact, const Expr *unknown, const Expr *value)
{
    Systems *ss = c->ss;
    if (!value || value == unknown)
        return;
    const Term term = term_make(ss->ks->model, value, c->builder.refs.at);
    const uint32_t slot = slot_of(ss->ks->slots, c->builder.refs.at[unknown->u.leaf]);
    add_entry(ss->ks, exact, lay_terms(ss->ks, 1, &term, &slot), KOINE_NONE,
              ss->ks->model->equations.at[row->equation.index].origin.span);
}

static void add_exact(Choices *c, const SystemRow *row, Entries *exact)
{
    enum { MOST = 16 };
    const Term sides[2] = { row->lhs, row->rhs };
    for (uint32_t k = 0; k < 2; k++) {
        if (sides[k].shape->kind != EXPR_IF)
            continue;
        c->builder.refs.n = 0;
        const Expr *choice = term_import(&c->builder, sides[k]), *value = term_import(&c->builder, sides[1 - k]);
        const Expr *found[MOST];
        uint32_t n = 0;
        if (is_unknown(c, value))
            add_exact_value(c, row, exact, value, given_value(c, choice, value));
        if (has_unknown(c, value))
            continue;
        collect_alone(c, choice, found, &n);
        for (uint32_t j = 0; j < n; j++)
            add_exact_value(c, row, exact, found[j], exact_value(c, choice, found[j], value));
    }
}

/* ---- what the branches depend on ---- */
/* Bits and selectors were made in the order of what they belong to. */
static const Relation *relation_of_bit(const Model *m, VarId bit)
{
    uint32_t lo = 0, hi = m->relations.n;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (m->relations.at[middle].bit.index < bit.index)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < m->relations.n && m->relations.at[lo].bit.index == bit.index ? &m->relations.at[lo] : NULL;
}

static const Region *region_of_selector(const Model *m, VarId selector)
{
    uint32_t lo = 0, hi = m->regions.n;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (m->regions.at[middle].selector.index < selector.index)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < m->regions.n && m->regions.at[lo].selector.index == selector.index ? &m->regions.at[lo] : NULL;
}

static const char *choice_name(const Systems *ss, Ref ref)
{
    const Model *m = ss->ks->model;
    const Relation *relation = relation_of_bit(m, ref.var);
    const Region *region = region_of_selector(m, ref.var);
    if (relation)
        return arena_format(ss->ks->arena, "`%s`", relation_text(m, relation, ss->ks->arena));
    if (region && region->span.source != SOURCE_NONE)
        return arena_format(ss->ks->arena, "branch of line %u", span_begin(m->sources, region->span).line);
    return variable_path(m, ref.var, ss->ks->arena);
}

typedef struct {
    VEC(Ref) refs;
    Map seen;
} Conditions;

static void collect_leaves(const Model *m, Term term, const Expr *e, Arena *arena, Conditions *found)
{
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(m, term)[e->u.leaf];
        uint32_t ignored;
        const uint64_t key = (uint64_t)ref.kind << 32 | ref.var.index;
        const bool is_discrete = (ref.kind == REF_NOW || ref.kind == REF_PRE) && ref_type(m, ref).kind != TYPE_REAL;
        if (is_discrete && !map_get(&found->seen, key, &ignored)) {
            map_put(&found->seen, key, 0);
            vec_push(arena, &found->refs, ref);
        }
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->n_leaves)
            collect_leaves(m, term, e->args[k], arena, found);
}

static void collect_conditions(const Model *m, Term term, const Expr *e, Arena *arena, Conditions *found)
{
    if (e->kind == EXPR_IF && e->args[0]->n_leaves)
        collect_leaves(m, term, e->args[0], arena, found);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->n_leaves)
            collect_conditions(m, term, e->args[k], arena, found);
}

void lay_choices(Systems *ss, const Block *b, KoineSystem *system)
{
    enum { MOST_NAMED = 64 };
    Model *m = ss->ks->model;
    Conditions found = { 0 };
    Entries exact = { 0 };
    Choices c = { .ss = ss, .block = b, .builder = term_builder(m) };
    map_init(&found.seen, ss->ks->arena, 8);
    map_init(&c.columns, ss->ks->arena, b->u.system.n_rows);
    system->exact_section = KOINE_NONE;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        const SystemRow *row = &ss->schedule->rows.at[b->u.system.first_row + k];
        map_put(&c.columns, (uint64_t)row->unknown.kind << 32 | row->unknown.var.index, k);
        collect_conditions(m, row->lhs, row->lhs.shape, ss->ks->arena, &found);
        collect_conditions(m, row->rhs, row->rhs.shape, ss->ks->arena, &found);
    }
    if (found.refs.n == 0)
        return;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++)
        add_exact(&c, &ss->schedule->rows.at[b->u.system.first_row + k], &exact);
    if (exact.n)
        system->exact_section = lay_section(ss->ks, arena_format(ss->ks->arena, "exact_%u", ss->systems.n), &exact);
    const uint32_t n = found.refs.n < MOST_NAMED ? found.refs.n : MOST_NAMED;
    KoineChoice *choices = NEW_ARRAY(ss->ks->arena, KoineChoice, n);
    for (uint32_t k = 0; k < n; k++)
        choices[k] =
            (KoineChoice){ slot_of(ss->ks->slots, found.refs.at[k]), ref_type(m, found.refs.at[k]).kind == TYPE_BOOLEAN,
                           choice_name(ss, found.refs.at[k]) };
    system->choices = choices;
    system->n_choices = n;
}
