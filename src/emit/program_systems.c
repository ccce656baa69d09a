/* Systems of equations and tangents: residuals, Jacobians, directional derivatives; see program_parts.h. */
#include "base/bug.h"
#include "emit/program_parts.h"
#include "ir/derive.h"
#include "ir/memo.h"
#include "ir/simplify.h"

/* ---- systems ---- */
typedef struct {
    VEC(Piece) pieces;
    VEC(Span) spans;
} PieceList;

static void add_piece(Layout *l, PieceList *list, Term term, uint32_t slot, Span span)
{
    vec_push(l->arena, &list->pieces, lay_terms(l, 1, &term, &slot));
    vec_push(l->arena, &list->spans, span);
}

typedef struct {
    Layout *l;
    TermBuilder *builder;
    const Block *block; /* its unknowns have no seed: they are what is solved for */
} SeedContext;

static const Expr *seed_of(void *context, const Expr *leaf)
{
    SeedContext *s = context;
    const Ref ref = s->builder->refs.at[leaf->u.leaf];
    if (ref.kind != REF_NOW && ref.kind != REF_DER)
        return NULL;
    const uint32_t slot = (ref.kind == REF_NOW ? s->l->seed : s->l->seed_der)[ref.var.index];
    if (slot == KOINE_NONE)
        return NULL;
    for (uint32_t k = 0; s->block && k < s->block->n_rows; k++)
        if (ref_equal(s->l->schedule->rows.at[s->block->first_row + k].unknown, ref))
            return NULL;
    const Ref seed = { ref.var, ref.kind == REF_NOW ? REF_SEED : REF_SEED_DER };
    return leaf->n_args ? term_element(s->builder, seed, leaf->n_args, leaf->args) : term_leaf(s->builder, seed);
}

static bool has_seed(const Layout *l, Ref ref)
{
    return (ref.kind == REF_NOW && l->seed[ref.var.index] != KOINE_NONE) ||
           (ref.kind == REF_DER && l->seed_der[ref.var.index] != KOINE_NONE);
}

/* The tangent of a term: its total derivative along the seeds. */
static Term derive_term(Layout *l, Term term, const Block *system)
{
    TermBuilder builder = term_builder(l->model);
    SeedContext context = { l, &builder, system };
    const Expr *e = term_import(&builder, term);
    const Expr *d = expr_time_derivative(l->model->pool, e, seed_of, &context);
    REQUIRE(d);
    return term_finish(&builder, d);
}

static const Tangent *find_tangent(const Layout *l, const Expr *shape, uint64_t seeded, uint64_t hash)
{
    uint32_t k;
    if (!map_get(&l->tangent_index, hash, &k))
        return NULL;
    for (; k != KOINE_NONE; k = l->tangents.at[k].next)
        if (l->tangents.at[k].shape == shape && l->tangents.at[k].seeded == seeded)
            return &l->tangents.at[k];
    return NULL;
}

static const Tangent *add_tangent(Layout *l, Term term, uint64_t seeded, uint64_t hash)
{
    const uint32_t n = term.shape->n_leaves;
    TermBuilder builder = term_builder(l->model);
    SeedContext context = { l, &builder, NULL };
    const Expr *e = term_import(&builder, term);
    REQUIRE(e == term.shape); /* canonical: the builder numbers as the shape does */
    Tangent t = { .shape = term.shape, .seeded = seeded, .next = KOINE_NONE };
    t.derivative = expr_time_derivative(l->model->pool, e, seed_of, &context);
    REQUIRE(t.derivative);
    t.n_seeds = builder.refs.n - n;
    for (uint32_t k = 0; k < t.n_seeds; k++)
        for (uint32_t j = 0; j < n; j++)
            if (builder.refs.at[j].var.index == builder.refs.at[n + k].var.index &&
                (builder.refs.at[j].kind == REF_DER) == (builder.refs.at[n + k].kind == REF_SEED_DER) &&
                has_seed(l, builder.refs.at[j]))
                t.leaf_of[k] = (uint8_t)j;
    uint32_t first;
    if (map_get(&l->tangent_index, hash, &first))
        t.next = first;
    vec_push(l->arena, &l->tangents, t);
    map_put(&l->tangent_index, hash, l->tangents.n - 1);
    return &l->tangents.at[l->tangents.n - 1];
}

/* Shapes are differentiated once; an instance only supplies its references. */
static Term tangent_of(Layout *l, Term term, const Block *system)
{
    enum { MOST_LEAVES = 64 };
    Model *m = l->model;
    const uint32_t n = term.shape->n_leaves;
    if (system || term.shape->has_index || n > MOST_LEAVES)
        return derive_term(l, term, system);
    uint64_t seeded = 0;
    for (uint32_t k = 0; k < n; k++)
        seeded |= (uint64_t)has_seed(l, term_refs(m, term)[k]) << k;
    const uint64_t hash = hash_mix(term.shape->id, seeded);
    const Tangent *t = find_tangent(l, term.shape, seeded, hash);
    if (!t)
        t = add_tangent(l, term, seeded, hash);
    Ref refs[2 * MOST_LEAVES];
    if (n)
        memcpy(refs, term_refs(m, term), n * sizeof *refs);
    for (uint32_t k = 0; k < t->n_seeds; k++) {
        const Ref ref = refs[t->leaf_of[k]];
        refs[n + k] = (Ref){ ref.var, ref.kind == REF_DER ? REF_SEED_DER : REF_SEED };
    }
    return term_make(m, t->derivative, refs);
}

/* Least and greatest values of the unknowns as far as they are numbers; NULL: there are none. */
static const double *bounds_of(Layout *l, const Block *b)
{
    double *bounds = NULL;
    for (uint32_t k = 0; k < b->n_rows; k++) {
        const Ref u = l->schedule->rows.at[b->first_row + k].unknown;
        const Variable *v = model_var(l->model, u.var);
        KoineSlot low = { .r = -INFINITY }, high = { .r = INFINITY };
        const bool has_low = v->min.shape && literal_value(v->min.shape, &low);
        const bool has_high = v->max.shape && literal_value(v->max.shape, &high);
        if (u.kind != REF_NOW || !(has_low || has_high))
            continue;
        if (!bounds) {
            bounds = NEW_ARRAY(l->arena, double, 2 * (size_t)b->n_rows);
            for (uint32_t j = 0; j < b->n_rows; j++) {
                bounds[2 * j] = -INFINITY;
                bounds[2 * j + 1] = INFINITY;
            }
        }
        bounds[2 * k] = low.r;
        bounds[2 * k + 1] = high.r;
    }
    return bounds;
}

static void lay_system(Layout *l, uint32_t index)
{
    Model *m = l->model;
    const Schedule *s = l->schedule;
    const Block *b = &s->blocks.at[index];
    const uint32_t n = b->n_rows;
    static const uint8_t kinds[] = { [BLOCK_LINEAR] = KOINE_SYSTEM_LINEAR,
                                     [BLOCK_NEWTON] = KOINE_SYSTEM_NEWTON,
                                     [BLOCK_ITERATE] = KOINE_SYSTEM_ITERATE };
    KoineSystem system = {
        .kind = kinds[b->kind], .n = n, .origin = l->first_origin + index, .tangent_section = KOINE_NONE
    };
    uint32_t *unknowns = NEW_ARRAY(l->arena, uint32_t, n), *residuals = NEW_ARRAY(l->arena, uint32_t, n);
    uint32_t *guesses = NEW_ARRAY(l->arena, uint32_t, n), *cells = NEW_ARRAY(l->arena, uint32_t, n);
    uint32_t *tangents = NEW_ARRAY(l->arena, uint32_t, n), *seeds = NEW_ARRAY(l->arena, uint32_t, n);
    uint32_t *kernels = NEW_ARRAY(l->arena, uint32_t, n), *rows = NEW_ARRAY(l->arena, uint32_t, n);
    uint8_t *types = NEW_ARRAY(l->arena, uint8_t, n);
    double *nominals = NEW_ARRAY(l->arena, double, n);
    uint32_t *starts = NEW_ARRAY(l->arena, uint32_t, n);
    uint8_t *is_given = NEW_ARRAY(l->arena, uint8_t, n);
    const char **names = NEW_ARRAY(l->arena, const char *, n);
    VEC(uint32_t) row_of = { 0 }, column_of = { 0 }, entry_of = { 0 };
    PieceList residual = { 0 }, jacobian = { 0 }, tangent = { 0 };
    Map column;
    map_init(&column, l->arena, n);
    for (uint32_t k = 0; k < n; k++) {
        const Ref u = s->rows.at[b->first_row + k].unknown;
        map_put(&column, (uint64_t)u.kind << 32 | u.var.index, k);
        unknowns[k] = slot_of(l, u);
        residuals[k] = take_slots(l, 1);
        guesses[k] = take_slots(l, 1);
        const Term nominal = model_var(m, u.var)->nominal;
        nominals[k] = nominal.shape && nominal.shape->kind == EXPR_REAL ? nominal.shape->u.real : 1.0;
        const char *path = variable_path(m, u.var, l->arena);
        names[k] = u.kind == REF_DER ? arena_format(l->arena, "der(%s)", path) : path;
        seeds[k] = u.kind == REF_DER ? l->seed_der[u.var.index] : l->seed[u.var.index];
        tangents[k] = l->data.seed_x == KOINE_NONE ? KOINE_NONE : take_slots(l, 1);
        KoineSlot start = { .r = 0 };
        const Term term = model_var(m, u.var)->start;
        types[k] = ref_type(m, u).kind;
        if (types[k] == KOINE_ENUMERATION)
            start.i = 1;
        if (u.kind == REF_NOW && term.shape)
            literal_value(term.shape, &start);
        const KoineConstant guess = { guesses[k], 1, start };
        vec_push(l->arena, &l->constants, guess);
        if (b->kind == BLOCK_NEWTON) {
            const KoineConstant begin = { starts[k] = take_slots(l, 1), 1, start };
            vec_push(l->arena, &l->constants, begin);
            is_given[k] =
                u.kind == REF_NOW && (model_var(m, u.var)->definition == DEFINITION_DER ||
                                      l->is_candidate[u.var.index] || (term.shape && !expr_is_literal(term.shape)));
        }
    }
    if (b->kind == BLOCK_NEWTON) {
        system.starts = starts;
        system.is_given = is_given;
        system.bounds = bounds_of(l, b);
    }
    for (uint32_t k = 0; k < n; k++) {
        const SystemRow *row = &s->rows.at[b->first_row + k];
        const Span span = m->equations.at[row->equation.index].origin.span;
        if (b->kind == BLOCK_ITERATE) {
            const Piece piece = lay_terms(l, 1, &row->rhs, &residuals[k]);
            l->kernels.at[piece.kernel].is_shared = true;
            kernels[k] = piece.kernel;
            rows[k] = piece.row;
        }
        if (!b->is_real) /* nothing to differentiate */
            continue;
        TermBuilder builder = term_builder(m);
        const Expr *e = expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
        const Term whole = term_finish(&builder, expr_simplify(m->pool, e));
        if (b->kind != BLOCK_ITERATE)
            add_piece(l, &residual, whole, residuals[k], span);
        for (uint32_t j = 0; j < whole.shape->n_leaves; j++) {
            uint32_t c;
            const Ref ref = term_refs(m, whole)[j];
            if (!map_get(&column, (uint64_t)ref.kind << 32 | ref.var.index, &c))
                continue;
            const Expr *d = expr_derive(m->pool, whole.shape, expr_leaf(m->pool, j, REAL_TYPE));
            REQUIRE(d);
            const uint32_t slot = take_slots(l, 1);
            add_piece(l, &jacobian, term_make(m, d, term_refs(m, whole)), slot, span);
            vec_push(l->arena, &row_of, k);
            vec_push(l->arena, &column_of, c);
            vec_push(l->arena, &entry_of, slot);
        }
        if (tangents[k] != KOINE_NONE)
            add_piece(l, &tangent, tangent_of(l, whole, b), tangents[k], span);
    }
    system.unknowns = unknowns;
    system.residuals = residuals;
    system.guesses = guesses;
    system.nominals = nominals;
    system.cells = cells;
    system.names = names;
    system.kernels = kernels;
    system.rows = rows;
    system.types = types;
    system.n_entries = entry_of.n;
    system.row = row_of.at;
    system.column = column_of.at;
    system.entry = entry_of.at;
    system.residual_section = lay_section(l, arena_format(l->arena, "residual_%u", l->systems.n), residual.pieces.at,
                                          residual.spans.at, residual.pieces.n);
    system.jacobian_section = lay_section(l, arena_format(l->arena, "jacobian_%u", l->systems.n), jacobian.pieces.at,
                                          jacobian.spans.at, jacobian.pieces.n);
    if (tangent.pieces.n)
        system.tangent_section = lay_section(l, arena_format(l->arena, "tangent_%u", l->systems.n), tangent.pieces.at,
                                             tangent.spans.at, tangent.pieces.n);
    system.tangent_residuals = tangents;
    system.tangent_unknowns = seeds;
    lay_choices(l, b, &system);
    l->system_of[index] = l->systems.n;
    vec_push(l->arena, &l->systems, system);
}

/* Tangent pieces of block `index`, appended to l->pieces. */
void lay_tangent(Layout *l, uint32_t index)
{
    Model *m = l->model;
    const Block *b = &l->schedule->blocks.at[index];
    Ref target = term_refs(m, b->lhs)[b->lhs.shape->u.leaf];
    target.kind = target.kind == REF_DER ? REF_SEED_DER : REF_SEED;
    Ref *refs = NEW_ARRAY(l->arena, Ref, b->lhs.shape->n_leaves);
    memcpy(refs, term_refs(m, b->lhs), b->lhs.shape->n_leaves * sizeof *refs);
    refs[b->lhs.shape->u.leaf] = target;
    const Term rhs = tangent_of(l, b->rhs, NULL);
    lay_assignment(l, term_make(m, b->lhs.shape, refs), rhs, b->domain);
}

void lay_blocks(Layout *l)
{
    const Schedule *s = l->schedule;
    const uint32_t n = s->blocks.n;
    l->first_piece = NEW_ARRAY(l->arena, uint32_t, n + 1);
    l->system_of = NEW_ARRAY(l->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Block *b = &s->blocks.at[k];
        l->first_piece[k] = l->pieces.n;
        l->system_of[k] = KOINE_NONE;
        if (b->kind == BLOCK_ASSIGN)
            lay_assignment(l, b->lhs, b->rhs, b->domain);
        else if (b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON || b->kind == BLOCK_ITERATE)
            lay_system(l, k);
    }
    l->first_piece[n] = l->pieces.n;
}
