/* Systems of equations and tangents: residuals, Jacobians, directional derivatives; see layout.h. */
#include "base/bug.h"
#include "emit/program/layout.h"
#include "emit/program/share.h"
#include "ir/derive.h"
#include "ir/memo.h"
#include "ir/simplify.h"

/* ---- systems ---- */
static void add_term(Layout *l, Entries *list, Term term, uint32_t slot, Span span)
{
    add_entry(l, list, lay_terms(l, 1, &term, &slot), KOINE_NONE, span);
}

typedef struct {
    Layout *l;
    TermBuilder *builder;
    const Map *unknowns; /* of a system, by ref_key: they have no seed, they are what is solved for; NULL: none */
} SeedContext;

static uint64_t ref_key(Ref ref)
{
    return (uint64_t)ref.kind << 32 | ref.var.index;
}

static const Expr *seed_of(void *context, const Expr *leaf)
{
    SeedContext *s = context;
    const Ref ref = s->builder->refs.at[leaf->u.leaf];
    if (ref.kind != REF_NOW && ref.kind != REF_DER)
        return NULL;
    const uint32_t slot = (ref.kind == REF_NOW ? s->l->seed : s->l->seed_der)[ref.var.index];
    if (slot == KOINE_NONE)
        return NULL;
    uint32_t ignored;
    if (s->unknowns && map_get(s->unknowns, ref_key(ref), &ignored))
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
static Term derive_term(Layout *l, Term term, const Map *unknowns)
{
    TermBuilder builder = term_builder(l->model);
    SeedContext context = { l, &builder, unknowns };
    const Expr *e = term_import(&builder, term);
    const Expr *d = expr_time_derivative(l->model->pool, e, seed_of, &context);
    REQUIRE(d);
    return term_finish(&builder, d);
}

static Tangent *find_tangent(const Layout *l, const Expr *shape, uint64_t seeded, uint64_t hash)
{
    uint32_t k;
    if (!map_get(&l->tangent_index, hash, &k))
        return NULL;
    for (; k != KOINE_NONE; k = l->tangents.at[k].next)
        if (l->tangents.at[k].shape == shape && l->tangents.at[k].seeded == seeded)
            return &l->tangents.at[k];
    return NULL;
}

static Tangent *add_tangent(Layout *l, Term term, uint64_t seeded, uint64_t hash)
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

/* The derivative with these references. A term has its references once and in the order in which they occur; that order
 * is the same for all instances whose references are all different. */
static Term tangent_term(Model *m, Tangent *t, const Ref *refs, uint32_t n)
{
    enum { FEW = 24 };
    bool are_different = n <= FEW;
    for (uint32_t k = 1; k < n && are_different; k++)
        for (uint32_t j = 0; j < k && are_different; j++)
            are_different = !ref_equal(refs[j], refs[k]);
    if (!are_different)
        return term_make(m, t->derivative, refs);
    if (t->canonical) {
        Ref used[FEW];
        for (uint32_t k = 0; k < t->n_used; k++)
            used[k] = refs[t->used[k]];
        return term_of_canonical(m, t->canonical, used);
    }
    const Term term = term_make(m, t->derivative, refs);
    t->canonical = term.shape;
    t->n_used = term.shape->n_leaves;
    for (uint32_t k = 0; k < t->n_used; k++)
        for (uint32_t j = 0; j < n; j++)
            if (ref_equal(term_refs(m, term)[k], refs[j]))
                t->used[k] = (uint8_t)j;
    return term;
}

/* Shapes are differentiated once; an instance only supplies its references. */
static Term tangent_of(Layout *l, Term term, const Map *unknowns)
{
    enum { MOST_LEAVES = 64 };
    Model *m = l->model;
    const uint32_t n = term.shape->n_leaves;
    if (unknowns || term.shape->has_index || n > MOST_LEAVES)
        return derive_term(l, term, unknowns);
    uint64_t seeded = 0;
    for (uint32_t k = 0; k < n; k++)
        seeded |= (uint64_t)has_seed(l, term_refs(m, term)[k]) << k;
    const uint64_t hash = hash_mix(term.shape->id, seeded);
    Tangent *t = find_tangent(l, term.shape, seeded, hash);
    if (!t)
        t = add_tangent(l, term, seeded, hash);
    Ref refs[2 * MOST_LEAVES];
    if (n)
        memcpy(refs, term_refs(m, term), n * sizeof *refs);
    for (uint32_t k = 0; k < t->n_seeds; k++) {
        const Ref ref = refs[t->leaf_of[k]];
        refs[n + k] = (Ref){ ref.var, ref.kind == REF_DER ? REF_SEED_DER : REF_SEED };
    }
    return tangent_term(m, t, refs, n + t->n_seeds);
}

/* Least and greatest values of the iterated unknowns as far as they are numbers; NULL: there are none. */
static const double *bounds_of(Layout *l, const Block *b)
{
    double *bounds = NULL;
    const uint32_t n = b->n_rows - b->n_inner;
    for (uint32_t k = 0; k < n; k++) {
        const Ref u = l->schedule->rows.at[b->first_row + b->n_inner + k].unknown;
        const Variable *v = model_var(l->model, u.var);
        KoineSlot low = { .r = -INFINITY }, high = { .r = INFINITY };
        const bool has_low = v->min.shape && literal_value(v->min.shape, &low);
        const bool has_high = v->max.shape && literal_value(v->max.shape, &high);
        if (u.kind != REF_NOW || !(has_low || has_high))
            continue;
        if (!bounds) {
            bounds = NEW_ARRAY(l->arena, double, 2 * (size_t)n);
            for (uint32_t j = 0; j < n; j++) {
                bounds[2 * j] = -INFINITY;
                bounds[2 * j + 1] = INFINITY;
            }
        }
        bounds[2 * k] = low.r;
        bounds[2 * k + 1] = high.r;
    }
    return bounds;
}

/* ---- how many matrices a system goes through ---- */
typedef struct {
    Map seen;      /* what entries depend on, by ref_key */
    bool is_moved; /* ... by what changes between events */
    double n;      /* combinations of the values of what changes at events only */
} Matrices;

/* Per variable: it changes between events. */
static bool *find_moving(const Layout *l)
{
    const Schedule *s = l->schedule;
    const Model *m = l->model;
    bool *moves = NEW_ARRAY(l->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const bool is_given = v->definition == DEFINITION_INPUT || v->definition == DEFINITION_FOREIGN;
        moves[k] = v->definition == DEFINITION_DER || (is_given && v->variability == VARIABILITY_CONTINUOUS);
    }
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        if (!b->is_moving)
            continue;
        if (b->kind == BLOCK_ASSIGN)
            moves[term_refs(m, b->lhs)[b->lhs.shape->u.leaf].var.index] = true;
        for (uint32_t j = 0; b->kind != BLOCK_ASSIGN && j < b->n_rows; j++)
            moves[s->rows.at[b->first_row + j].unknown.var.index] = true;
    }
    return moves;
}

static double values_of(const Model *m, Ref ref)
{
    enum { MANY = 1000 };
    const Type type = ref_type(m, ref);
    if (type.kind == TYPE_BOOLEAN)
        return 2;
    return type.kind == TYPE_ENUM ? pool_get_enumeration(m->pool, type.enumeration)->n : MANY;
}

static void count_matrices(Layout *l, Matrices *to, Term term)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        uint32_t ignored;
        if (map_get(&to->seen, ref_key(ref), &ignored))
            continue;
        map_put(&to->seen, ref_key(ref), 0);
        if ((ref.kind != REF_NOW && ref.kind != REF_PRE) || l->moves[ref.var.index])
            to->is_moved = true;
        else if (model_var(m, ref.var)->definition != DEFINITION_BINDING)
            to->n *= values_of(m, ref);
    }
}

/* Sets of factors worth keeping: as many as there are combinations, but not too much memory. */
static uint32_t sets_of(const Layout *l, const Block *b, const Matrices *matrices, uint32_t n_entries)
{
    enum { MOST_SETS = 16, MOST_NUMBERS = 1 << 18 };
    const bool is_kept = b->kind == BLOCK_LINEAR && l->first_origin == 0 && !matrices->is_moved;
    const uint32_t wanted = !is_kept ? 1 : matrices->n < MOST_SETS ? (uint32_t)matrices->n : MOST_SETS;
    const uint32_t most = MOST_NUMBERS / (n_entries + 1);
    return wanted < most ? wanted : most ? most : 1;
}

typedef struct { /* a system under construction; places: see KoineSystem */
    Layout *l;
    const Block *block;
    uint32_t n, n_inner;
    uint32_t *unknowns, *residuals, *guesses, *starts, *tangents, *seeds, *kernels, *rows;
    uint8_t *types, *is_given;
    double *nominals;
    const char **names;
    Map columns; /* unknowns */
    Map inputs;  /* slots that the Jacobian is computed from */
    VEC(uint32_t) row_of, column_of, entry_of, input;
    Entries residual, jacobian, tangent;
    bool has_tangents;
    Matrices matrices;
} SystemLayout;

static void lay_unknown(SystemLayout *y, uint32_t place, Ref u)
{
    Layout *l = y->l;
    const Variable *v = model_var(l->model, u.var);
    map_put(&y->columns, ref_key(u), place);
    y->unknowns[place] = slot_of(l, u);
    const char *path = variable_path(l->model, u.var, l->arena);
    y->names[place] = u.kind == REF_DER ? arena_format(l->arena, "der(%s)", path) : path;
    y->seeds[place] = u.kind == REF_DER ? l->seed_der[u.var.index] : l->seed[u.var.index];
    y->types[place] = ref_type(l->model, u).kind;
    if (place >= y->n) /* explicit: no iteration */
        return;
    y->residuals[place] = take_slots(l, 1);
    y->guesses[place] = take_slots(l, 1);
    y->nominals[place] = v->nominal.shape && v->nominal.shape->kind == EXPR_REAL ? v->nominal.shape->u.real : 1.0;
    KoineSlot start = { .r = 0 };
    if (y->types[place] == KOINE_ENUMERATION)
        start.i = 1;
    if (u.kind == REF_NOW && v->start.shape)
        literal_value(v->start.shape, &start);
    const KoineConstant guess = { y->guesses[place], 1, start };
    vec_push(l->arena, &l->constants, guess);
    if (y->block->kind != BLOCK_NEWTON)
        return;
    const bool is_shared = u.kind == REF_NOW && v->type.rank == 0; /* by the systems of the run and of its start */
    uint32_t *const slot = is_shared ? &l->guess[u.var.index] : &y->starts[place];
    if (!is_shared || *slot == KOINE_NONE) {
        const KoineConstant begin = { *slot = take_slots(l, 1), 1, start };
        vec_push(l->arena, &l->constants, begin);
    }
    y->starts[place] = *slot;
    y->is_given[place] = u.kind == REF_NOW && (v->definition == DEFINITION_DER || l->is_candidate[u.var.index] ||
                                               (v->start.shape && !expr_is_literal(v->start.shape)));
}

/* A number of the Jacobian: a constant, or computed by its section. */
static void lay_entry(SystemLayout *y, uint32_t row, uint32_t column, Term term, Span span)
{
    Layout *l = y->l;
    KoineConstant constant = { take_slots(l, 1), 1, { .r = 0 } };
    vec_push(l->arena, &y->row_of, row);
    vec_push(l->arena, &y->column_of, column);
    vec_push(l->arena, &y->entry_of, constant.slot);
    if (literal_value(term.shape, &constant.value)) {
        vec_push(l->arena, &l->constants, constant);
        return;
    }
    add_term(l, &y->jacobian, term, constant.slot, span);
    count_matrices(l, &y->matrices, term);
    const Piece piece = y->jacobian.at[y->jacobian.n - 1].piece;
    const Kernel *kernel = &l->kernels.at[piece.kernel];
    for (uint32_t k = 0; k < kernel->n_leaves; k++) {
        const uint32_t slot = l->rows.at[piece.row + kernel->n_outputs + k];
        uint32_t ignored;
        if (map_get(&y->inputs, slot, &ignored))
            continue;
        map_put(&y->inputs, slot, 0);
        vec_push(l->arena, &y->input, slot);
    }
}

/* Partial derivatives of `whole` by the unknowns. */
static void lay_derivatives(SystemLayout *y, uint32_t place, Term whole, Span span)
{
    Model *m = y->l->model;
    const ArenaMark mark = arena_mark(y->l->scratch);
    const uint32_t n = whole.shape->n_leaves;
    uint32_t *column = NEW_ARRAY(y->l->scratch, uint32_t, n + 1);
    bool *is_unknown = NEW_ARRAY(y->l->scratch, bool, n + 1);
    for (uint32_t j = 0; j < n; j++)
        is_unknown[j] = map_get(&y->columns, ref_key(term_refs(m, whole)[j]), &column[j]);
    const Gradient gradient = expr_gradient(m->pool, expr_simplify(m->pool, whole.shape), is_unknown, y->l->scratch);
    for (uint32_t j = 0; j < gradient.n; j++) {
        const Partial *partial = &gradient.at[j];
        REQUIRE(partial->derivative);
        if (!expr_is_real(partial->derivative, 0))
            lay_entry(y, place, column[partial->leaf], term_make(m, partial->derivative, term_refs(m, whole)), span);
    }
    arena_reset(y->l->scratch, mark);
}

/* What the row computes: a right side, or what the equation lacks. Absent: there is nothing to differentiate. */
static Term lay_row(SystemLayout *y, uint32_t k)
{
    Layout *l = y->l;
    Model *m = l->model;
    const Block *b = y->block;
    const SystemRow *row = &l->schedule->rows.at[b->first_row + k];
    const uint32_t place = system_place(b, k);
    const Span span = m->equations.at[row->equation.index].origin.span;
    if (k < b->n_inner) {
        add_term(l, &y->residual, row->rhs, y->unknowns[place], span);
        return row->rhs;
    }
    if (b->kind == BLOCK_ITERATE) {
        const Piece piece = lay_terms(l, 1, &row->rhs, &y->residuals[place]);
        l->kernels.at[piece.kernel].is_shared = true;
        y->kernels[place] = piece.kernel;
        y->rows[place] = piece.row;
    }
    if (!b->is_real)
        return TERM_NONE;
    TermBuilder builder = term_builder(m);
    const Expr *e = expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
    const Term whole = term_finish(&builder, expr_simplify(m->pool, e));
    if (b->kind != BLOCK_ITERATE)
        add_term(l, &y->residual, whole, y->residuals[place], span);
    return whole;
}

/* One section after the other, so that rows of one kernel lie side by side and become loops. */
static void lay_rows(SystemLayout *y)
{
    Layout *l = y->l;
    const Block *b = y->block;
    Term *terms = NEW_ARRAY(l->arena, Term, b->n_rows);
    for (uint32_t k = 0; k < b->n_rows; k++)
        terms[k] = lay_row(y, k);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < b->n_rows; k++) {
            const EqId equation = l->schedule->rows.at[b->first_row + k].equation;
            const Span span = l->model->equations.at[equation.index].origin.span;
            const uint32_t place = system_place(b, k);
            if (term_is_absent(terms[k]))
                continue;
            if (pass == 0)
                lay_derivatives(y, place, terms[k], span);
            else if (y->has_tangents)
                add_term(l, &y->tangent, tangent_of(l, terms[k], &y->columns), y->tangents[place], span);
        }
}

/* The sections of a system. What does not depend on its unknowns is computed once before they are looked for: the residuals are
 * computed several times, and the Jacobian has much in common with them. Beyond that it shares nothing with the
 * residuals: it may be computed elsewhere than they were. */
static void lay_sections(SystemLayout *y, KoineSystem *system)
{
    enum { LINEAR = 2, ITERATED = 4 }; /* how often the residuals are computed, roughly */
    Layout *l = y->l;
    Entries prepared = { 0 }, residual = { 0 }, jacobian = { 0 };
    const ShareRequest first = { .repeats = y->block->kind == BLOCK_LINEAR ? LINEAR : ITERATED,
                                 .n_varying = y->n + y->n_inner,
                                 .varying = y->unknowns };
    share_survey(l, 2, (const Entries *const[]){ &y->residual, &y->jacobian });
    const Shared shared = share_entries(l, &first, &y->residual, &residual, &prepared);
    const ShareRequest second = { .after = { 0, shared.base } };
    share_entries(l, &second, &y->jacobian, &jacobian, NULL);
    const uint32_t n = l->systems.n;
    system->prepared_section =
        prepared.n ? lay_section(l, arena_format(l->arena, "prepared_%u", n), &prepared) : KOINE_NONE;
    system->residual_section = lay_section(l, arena_format(l->arena, "residual_%u", n), &residual);
    system->jacobian_section = lay_section(l, arena_format(l->arena, "jacobian_%u", n), &jacobian);
}

static void begin_system(SystemLayout *y)
{
    Layout *l = y->l;
    const Block *b = y->block;
    const uint32_t n = y->n, all = b->n_rows;
    y->unknowns = NEW_ARRAY(l->arena, uint32_t, all);
    y->residuals = NEW_ARRAY(l->arena, uint32_t, n);
    y->guesses = NEW_ARRAY(l->arena, uint32_t, n);
    y->starts = NEW_ARRAY(l->arena, uint32_t, n);
    y->is_given = NEW_ARRAY(l->arena, uint8_t, n);
    y->tangents = NEW_ARRAY(l->arena, uint32_t, all);
    y->seeds = NEW_ARRAY(l->arena, uint32_t, all);
    y->kernels = NEW_ARRAY(l->arena, uint32_t, n);
    y->rows = NEW_ARRAY(l->arena, uint32_t, n);
    y->types = NEW_ARRAY(l->arena, uint8_t, all);
    y->nominals = NEW_ARRAY(l->arena, double, n);
    y->names = NEW_ARRAY(l->arena, const char *, all);
    map_init(&y->columns, l->arena, all);
    map_init(&y->inputs, l->arena, 0);
    y->matrices.n = 1;
    map_init(&y->matrices.seen, l->arena, 0);
    for (uint32_t k = 0; k < all; k++)
        lay_unknown(y, system_place(b, k), l->schedule->rows.at[b->first_row + k].unknown);
    y->has_tangents = l->data.seed_x != KOINE_NONE && b->is_real && y->seeds[0] != KOINE_NONE;
    for (uint32_t k = 0; k < all; k++)
        y->tangents[k] = y->has_tangents ? take_slots(l, 1) : KOINE_NONE;
}

_Static_assert((int)SYSTEM_DENSE_MOST == (int)KOINE_DENSE_MOST, "compiler and machine agree");

static void lay_system(Layout *l, uint32_t index)
{
    static const uint8_t kinds[] = { [BLOCK_LINEAR] = KOINE_SYSTEM_LINEAR,
                                     [BLOCK_NEWTON] = KOINE_SYSTEM_NEWTON,
                                     [BLOCK_ITERATE] = KOINE_SYSTEM_ITERATE };
    const Block *b = &l->schedule->blocks.at[index];
    SystemLayout y = { .l = l, .block = b, .n = b->n_rows - b->n_inner, .n_inner = b->n_inner };
    begin_system(&y);
    lay_rows(&y);
    KoineSystem system = {
        .kind = kinds[b->kind],
        .n = y.n,
        .n_inner = y.n_inner,
        .unknowns = y.unknowns,
        .residuals = y.residuals,
        .guesses = y.guesses,
        .nominals = y.nominals,
        .starts = b->kind == BLOCK_NEWTON ? y.starts : NULL,
        .is_given = y.is_given,
        .bounds = b->kind == BLOCK_NEWTON ? bounds_of(l, b) : NULL,
        .n_entries = y.entry_of.n,
        .row = y.row_of.at,
        .column = y.column_of.at,
        .entry = y.entry_of.at,
        .basis = y.n > KOINE_DENSE_MOST && b->is_real ? take_slots(l, 1 + (uint64_t)y.entry_of.n) : KOINE_NONE,
        .n_inputs = y.input.n,
        .inputs = y.input.at,
        .n_sets = sets_of(l, b, &y.matrices, y.entry_of.n),
        .cells = NEW_ARRAY(l->arena, uint32_t, b->n_rows), /* filled with the event graph */
        .names = y.names,
        .types = y.types,
        .kernels = y.kernels,
        .rows = y.rows,
        .origin = l->first_origin + index,
        .tangent_section = KOINE_NONE, /* laid out with the tangents part */
        .tangent_residuals = y.tangents,
        .tangent_unknowns = y.seeds,
    };
    lay_sections(&y, &system);
    lay_choices(l, b, &system);
    l->system_of[index] = l->systems.n;
    vec_push(l->arena, &l->systems, system);
    vec_push(l->arena, &l->system_tangents, y.tangent);
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
    l->moves = find_moving(l);
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
