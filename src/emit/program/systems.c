/* Laying out systems: residuals, Jacobians, directional derivatives; see systems.h. */
#include "emit/program/systems.h"
#include "base/bug.h"
#include "ir/derive.h"
#include "ir/simplify.h"

/* ---- systems ---- */
static void add_term(Systems *ss, Entries *list, Term term, uint32_t slot, Span span)
{
    add_entry(ss->ks, list, lay_terms(ss->ks, 1, &term, &slot), KOINE_NONE, span);
}

/* Least and greatest values of the iterated unknowns as far as they are numbers; NULL: there are none. */
static const double *bounds_of(Systems *ss, const Block *b)
{
    double *bounds = NULL;
    const uint32_t n = b->u.system.n_rows - b->u.system.n_inner;
    for (uint32_t k = 0; k < n; k++) {
        const Ref u = ss->schedule->rows.at[b->u.system.first_row + b->u.system.n_inner + k].unknown;
        const Variable *v = model_var(ss->ks->model, u.var);
        KoineSlot low = { .r = -INFINITY }, high = { .r = INFINITY };
        const bool has_low = v->min.shape && literal_value(v->min.shape, &low);
        const bool has_high = v->max.shape && literal_value(v->max.shape, &high);
        if (u.kind != REF_NOW || !(has_low || has_high))
            continue;
        if (!bounds) {
            bounds = NEW_ARRAY(ss->ks->arena, double, 2 * (size_t)n);
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
static bool *find_moving(const Systems *ss)
{
    const Schedule *s = ss->schedule;
    const Model *m = ss->ks->model;
    bool *moves = NEW_ARRAY(ss->ks->arena, bool, m->variables.n + 1);
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
            moves[term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].var.index] = true;
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++)
            moves[s->rows.at[block_rows(b).first_row + j].unknown.var.index] = true;
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

static void count_matrices(Systems *ss, Matrices *to, Term term)
{
    const Model *m = ss->ks->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        uint32_t ignored;
        if (map_get(&to->seen, ref_key(ref), &ignored))
            continue;
        map_put(&to->seen, ref_key(ref), 0);
        if ((ref.kind != REF_NOW && ref.kind != REF_PRE) || ss->moves[ref.var.index])
            to->is_moved = true;
        else if (model_var(m, ref.var)->definition != DEFINITION_BINDING)
            to->n *= values_of(m, ref);
    }
}

/* Sets of factors worth keeping: as many as there are combinations, but not too much memory. */
static uint32_t sets_of(const Systems *ss, const Block *b, const Matrices *matrices, uint32_t n_entries)
{
    enum { MOST_SETS = 16, MOST_NUMBERS = 1 << 18 };
    const bool is_kept = b->kind == BLOCK_LINEAR && ss->first_origin == 0 && !matrices->is_moved;
    const uint32_t wanted = !is_kept ? 1 : matrices->n < MOST_SETS ? (uint32_t)matrices->n : MOST_SETS;
    const uint32_t most = MOST_NUMBERS / (n_entries + 1);
    return wanted < most ? wanted : most ? most : 1;
}

typedef struct {                               /* its Jacobian under construction */
    VEC(uint32_t) row_of, column_of, entry_of; /* per number: its row, column and slot */
    VEC(uint32_t) input;                       /* slots that it is computed from */
    Map inputs;                                /* the same */
    Entries section;
    Matrices matrices;
} JacobianLayout;

typedef struct { /* a system under construction; places: see KoineSystem */
    Systems *ss;
    const Block *block;
    uint32_t n, n_inner;
    uint32_t *unknowns, *residuals, *guesses, *starts, *tangents, *seeds, *kernels, *rows;
    uint8_t *types, *is_given;
    double *nominals;
    const char **names;
    Map columns; /* unknowns */
    JacobianLayout jacobian;
    Entries residual, along[2]; /* tangents: along the states, and along inputs, too */
} SystemLayout;

static void lay_unknown(SystemLayout *y, uint32_t place, Ref u)
{
    Systems *ss = y->ss;
    const Variable *v = model_var(ss->ks->model, u.var);
    map_put(&y->columns, ref_key(u), place);
    y->unknowns[place] = slot_of(ss->ks->slots, u);
    const char *path = variable_path(ss->ks->model, u.var, ss->ks->arena);
    y->names[place] = u.kind == REF_DER ? arena_format(ss->ks->arena, "der(%s)", path) : path;
    y->seeds[place] = u.kind == REF_DER ? ss->ks->slots->seed_der[u.var.index] : ss->ks->slots->seed[u.var.index];
    y->types[place] = ref_type(ss->ks->model, u).kind;
    if (place >= y->n) /* explicit: no iteration */
        return;
    y->residuals[place] = take_slots(ss->ks, 1);
    y->guesses[place] = take_slots(ss->ks, 1);
    y->nominals[place] = v->nominal.shape && v->nominal.shape->kind == EXPR_REAL ? v->nominal.shape->u.real : 1.0;
    KoineSlot start = { .r = 0 };
    if (y->types[place] == KOINE_ENUMERATION)
        start.i = 1;
    if (u.kind == REF_NOW && v->start.shape)
        constant_value(ss->ks, v->start.shape, &start);
    const KoineConstant guess = { y->guesses[place], 1, start };
    vec_push(ss->ks->arena, &ss->ks->constants, guess);
    if (y->block->kind != BLOCK_NEWTON)
        return;
    const bool is_shared = u.kind == REF_NOW && v->type.rank == 0; /* by the systems of the run and of its start */
    uint32_t *slot = is_shared ? &ss->guess[u.var.index] : &y->starts[place];
    if (!is_shared || *slot == KOINE_NONE) {
        const KoineConstant begin = { *slot = take_slots(ss->ks, 1), 1, start };
        vec_push(ss->ks->arena, &ss->ks->constants, begin);
    }
    y->starts[place] = *slot;
    y->is_given[place] = u.kind == REF_NOW && (v->definition == DEFINITION_DER || ss->is_candidate[u.var.index] ||
                                               (v->start.shape && !expr_is_literal(v->start.shape)));
}

/* A number of the Jacobian: a constant, or computed by its section. */
static void lay_entry(SystemLayout *y, uint32_t row, uint32_t column, Term term, Span span)
{
    Systems *ss = y->ss;
    KoineConstant constant = { take_slots(ss->ks, 1), 1, { .r = 0 } };
    vec_push(ss->ks->arena, &y->jacobian.row_of, row);
    vec_push(ss->ks->arena, &y->jacobian.column_of, column);
    vec_push(ss->ks->arena, &y->jacobian.entry_of, constant.slot);
    if (literal_value(term.shape, &constant.value)) {
        vec_push(ss->ks->arena, &ss->ks->constants, constant);
        return;
    }
    add_term(ss, &y->jacobian.section, term, constant.slot, span);
    count_matrices(ss, &y->jacobian.matrices, term);
    const Piece piece = y->jacobian.section.at[y->jacobian.section.n - 1].piece;
    const Kernel *kernel = &ss->ks->kernels.at[piece.kernel];
    for (uint32_t k = 0; k < kernel->n_leaves; k++) {
        const uint32_t slot = ss->ks->rows.at[piece.row + kernel->n_outputs + k];
        uint32_t ignored;
        if (map_get(&y->jacobian.inputs, slot, &ignored))
            continue;
        map_put(&y->jacobian.inputs, slot, 0);
        vec_push(ss->ks->arena, &y->jacobian.input, slot);
    }
}

/* Partial derivatives of `whole` by the unknowns. */
static void lay_derivatives(SystemLayout *y, uint32_t place, Term whole, Span span)
{
    Model *m = y->ss->ks->model;
    const ArenaMark mark = arena_mark(y->ss->ks->scratch);
    const uint32_t n = whole.shape->n_leaves;
    uint32_t *column = NEW_ARRAY(y->ss->ks->scratch, uint32_t, n + 1);
    bool *is_unknown = NEW_ARRAY(y->ss->ks->scratch, bool, n + 1);
    for (uint32_t j = 0; j < n; j++)
        is_unknown[j] = map_get(&y->columns, ref_key(term_refs(m, whole)[j]), &column[j]);
    const Gradient gradient =
        expr_gradient(m->pool, expr_simplify(m->pool, whole.shape), is_unknown, y->ss->ks->scratch);
    for (uint32_t j = 0; j < gradient.n; j++) {
        const Partial *partial = &gradient.at[j];
        REQUIRE(partial->derivative);
        if (!expr_is_real(partial->derivative, 0))
            lay_entry(y, place, column[partial->leaf], term_make(m, partial->derivative, term_refs(m, whole)), span);
    }
    arena_reset(y->ss->ks->scratch, mark);
}

/* What the row computes: a right side, or what the equation lacks. Absent: there is nothing to differentiate. */
static Term lay_row(SystemLayout *y, uint32_t k)
{
    Systems *ss = y->ss;
    Model *m = ss->ks->model;
    const Block *b = y->block;
    const SystemRow *row = &ss->schedule->rows.at[b->u.system.first_row + k];
    const uint32_t place = system_place(b, k);
    const Span span = m->equations.at[row->equation.index].origin.span;
    if (k < b->u.system.n_inner) {
        add_term(ss, &y->residual, row->rhs, y->unknowns[place], span);
        return row->rhs;
    }
    if (b->kind == BLOCK_ITERATE) {
        const Piece piece = lay_terms(ss->ks, 1, &row->rhs, &y->residuals[place]);
        ss->ks->kernels.at[piece.kernel].is_shared = true;
        y->kernels[place] = piece.kernel;
        y->rows[place] = piece.row;
    }
    if (!b->is_real)
        return TERM_NONE;
    TermBuilder builder = term_builder(m);
    const Expr *e = expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
    const Term whole = term_finish(&builder, expr_simplify(m->pool, e));
    if (b->kind != BLOCK_ITERATE)
        add_term(ss, &y->residual, whole, y->residuals[place], span);
    return whole;
}

/* One section after the other, so that rows of one kernel lie side by side and become loops. */
static void lay_rows(SystemLayout *y)
{
    Systems *ss = y->ss;
    const Block *b = y->block;
    Term *terms = NEW_ARRAY(ss->ks->arena, Term, b->u.system.n_rows);
    for (uint32_t k = 0; k < b->u.system.n_rows; k++)
        terms[k] = lay_row(y, k);
    const uint32_t n_passes = ss->schedule->ports.is_there ? 3 : 2;
    for (uint32_t pass = 0; pass < n_passes; pass++) {
        ss->tangents.has_all = pass == 2;
        for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
            const EqId equation = ss->schedule->rows.at[b->u.system.first_row + k].equation;
            const Span span = ss->ks->model->equations.at[equation.index].origin.span;
            const uint32_t place = system_place(b, k);
            if (term_is_absent(terms[k]))
                continue;
            if (pass == 0)
                lay_derivatives(y, place, terms[k], span);
            else if (y->tangents[place] != KOINE_NONE)
                add_term(ss, &y->along[pass - 1], tangent_of(&ss->tangents, terms[k], &y->columns), y->tangents[place],
                         span);
        }
    }
    ss->tangents.has_all = false;
}

/* The sections of a system. What does not depend on its unknowns is computed once before they are looked for: the
 * residuals are computed several times, and the Jacobian has much in common with them. Beyond that it shares nothing
 * with the residuals: it may be computed elsewhere than they were. */
static void lay_sections(SystemLayout *y, KoineSystem *system)
{
    enum { LINEAR = 2, ITERATED = 4 }; /* how often the residuals are computed, roughly */
    Systems *ss = y->ss;
    Entries prepared = { 0 }, residual = { 0 }, jacobian = { 0 };
    const ShareRequest first = { .repeats = y->block->kind == BLOCK_LINEAR ? LINEAR : ITERATED,
                                 .n_varying = y->n + y->n_inner,
                                 .varying = y->unknowns };
    share_survey(ss->share, 2, (const Entries *const[]){ &y->residual, &y->jacobian.section });
    const Shared shared = share_entries(ss->share, &first, &y->residual, &residual, &prepared);
    const ShareRequest second = { .after = { 0, shared.base } };
    share_entries(ss->share, &second, &y->jacobian.section, &jacobian, NULL);
    const uint32_t n = ss->systems.n;
    system->prepared_section =
        prepared.n ? lay_section(ss->ks, arena_format(ss->ks->arena, "prepared_%u", n), &prepared) : KOINE_NONE;
    system->residual_section = lay_section(ss->ks, arena_format(ss->ks->arena, "residual_%u", n), &residual);
    system->jacobian.section = lay_section(ss->ks, arena_format(ss->ks->arena, "jacobian_%u", n), &jacobian);
}

static void begin_system(SystemLayout *y)
{
    Systems *ss = y->ss;
    const Block *b = y->block;
    const uint32_t n = y->n, all = b->u.system.n_rows;
    y->unknowns = NEW_ARRAY(ss->ks->arena, uint32_t, all);
    y->residuals = NEW_ARRAY(ss->ks->arena, uint32_t, n);
    y->guesses = NEW_ARRAY(ss->ks->arena, uint32_t, n);
    y->starts = NEW_ARRAY(ss->ks->arena, uint32_t, n);
    y->is_given = NEW_ARRAY(ss->ks->arena, uint8_t, n);
    y->tangents = NEW_ARRAY(ss->ks->arena, uint32_t, all);
    y->seeds = NEW_ARRAY(ss->ks->arena, uint32_t, all);
    y->kernels = NEW_ARRAY(ss->ks->arena, uint32_t, n);
    y->rows = NEW_ARRAY(ss->ks->arena, uint32_t, n);
    y->types = NEW_ARRAY(ss->ks->arena, uint8_t, all);
    y->nominals = NEW_ARRAY(ss->ks->arena, double, n);
    y->names = NEW_ARRAY(ss->ks->arena, const char *, all);
    map_init(&y->columns, ss->ks->arena, all);
    map_init(&y->jacobian.inputs, ss->ks->arena, 0);
    y->jacobian.matrices.n = 1;
    map_init(&y->jacobian.matrices.seen, ss->ks->arena, 0);
    for (uint32_t k = 0; k < all; k++)
        lay_unknown(y, system_place(b, k), ss->schedule->rows.at[b->u.system.first_row + k].unknown);
    const bool has_tangents = ss->has_seeds && b->is_real && y->seeds[0] != KOINE_NONE;
    for (uint32_t k = 0; k < all; k++)
        y->tangents[k] = has_tangents ? take_slots(ss->ks, 1) : KOINE_NONE;
}

_Static_assert((int)SYSTEM_DENSE_MOST == (int)KOINE_DENSE_MOST, "compiler and machine agree");

/* The cells of the event graph that its unknowns are: see events.c. */
static const uint32_t *cells_of(const Systems *ss, const Block *b)
{
    uint32_t *cells = NEW_ARRAY(ss->ks->arena, uint32_t, b->u.system.n_rows);
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        const Ref u = ss->schedule->rows.at[b->u.system.first_row + k].unknown;
        cells[system_place(b, k)] = u.kind == REF_DER ? ss->ks->model->variables.n + u.var.index : u.var.index;
    }
    return cells;
}

/* All but the section. */
static KoineSystemJacobian jacobian_of(Systems *ss, const SystemLayout *y)
{
    const uint32_t n = y->jacobian.entry_of.n;
    return (KoineSystemJacobian){
        .n_entries = n,
        .row = y->jacobian.row_of.at,
        .column = y->jacobian.column_of.at,
        .entry = y->jacobian.entry_of.at,
        .basis = y->n > KOINE_DENSE_MOST && y->block->is_real ? take_slots(ss->ks, 1 + (uint64_t)n) : KOINE_NONE,
        .n_inputs = y->jacobian.input.n,
        .inputs = y->jacobian.input.at,
        .n_sets = sets_of(ss, y->block, &y->jacobian.matrices, n),
    };
}

/* The number of the system. */
static uint32_t lay_system(Systems *ss, uint32_t index)
{
    static const uint8_t kinds[] = { [BLOCK_LINEAR] = KOINE_SYSTEM_LINEAR,
                                     [BLOCK_NEWTON] = KOINE_SYSTEM_NEWTON,
                                     [BLOCK_ITERATE] = KOINE_SYSTEM_ITERATE };
    const Block *b = &ss->schedule->blocks.at[index];
    SystemLayout y = {
        .ss = ss, .block = b, .n = b->u.system.n_rows - b->u.system.n_inner, .n_inner = b->u.system.n_inner
    };
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
        .cells = cells_of(ss, b),
        .names = y.names,
        .types = y.types,
        .jacobian = jacobian_of(ss, &y),
        .tangent = { .section = KOINE_NONE, /* laid out with the tangents part */
                     .residuals = y.tangents,
                     .unknowns = y.seeds },
        .origin = ss->first_origin + index,
    };
    if (b->kind == BLOCK_NEWTON)
        system.u.newton = (KoineNewtonSystem){ y.starts, y.is_given, bounds_of(ss, b) };
    if (b->kind == BLOCK_ITERATE)
        system.u.iterate = (KoineIteratedSystem){ y.kernels, y.rows };
    lay_sections(&y, &system);
    lay_choices(ss, b, &system);
    vec_push(ss->ks->arena, &ss->systems, system);
    vec_push(ss->ks->arena, &ss->tangent_entries, y.along[0]);
    vec_push(ss->ks->arena, &ss->port_entries, y.along[1]);
    return ss->systems.n - 1;
}

Systems *systems_create(const Schedule *schedule, Kernels *ks)
{
    const uint32_t n = schedule->model->variables.n + 1;
    Systems *ss = NEW(ks->arena, Systems);
    *ss = (Systems){ .ks = ks,
                     .share = share_create(ks, ss),
                     .tangents = tangents_create(ks),
                     .is_candidate = find_candidates(ks->model, ks->arena),
                     .guess = NEW_ARRAY(ks->arena, uint32_t, n) };
    memset(ss->guess, 0xff, n * sizeof *ss->guess);
    return ss;
}

Blocks lay_blocks(Systems *ss, const Schedule *schedule, uint32_t first_origin, bool has_seeds)
{
    const uint32_t n = schedule->blocks.n;
    Blocks out = { NEW_ARRAY(ss->ks->arena, uint32_t, n + 1), NEW_ARRAY(ss->ks->arena, uint32_t, n + 1) };
    ss->schedule = schedule;
    ss->first_origin = first_origin;
    ss->has_seeds = has_seeds;
    ss->moves = find_moving(ss);
    for (uint32_t k = 0; k < n; k++) {
        const Block *b = &schedule->blocks.at[k];
        out.first_piece[k] = ss->ks->pieces.n;
        out.system_of[k] = KOINE_NONE;
        if (b->kind == BLOCK_ASSIGN)
            lay_assignment(ss->ks, b->u.assign.lhs, b->u.assign.rhs, b->u.assign.domain);
        else if (b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON || b->kind == BLOCK_ITERATE)
            out.system_of[k] = lay_system(ss, k);
        else if (b->kind == BLOCK_FOREIGN)
            out.system_of[k] = lay_foreign_system(ss, k);
    }
    out.first_piece[n] = ss->ks->pieces.n;
    return out;
}
