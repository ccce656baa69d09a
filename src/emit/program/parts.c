/* What each purpose executes, in which order; see parts.h. */
#include "emit/program/parts.h"

void push_system(Systems *ss, Entries *list, uint32_t system, bool is_tangent)
{
    const Entry entry = { .system = system, .is_tangent = is_tangent, .within = KOINE_NONE, .block = KOINE_NONE };
    push_entry(ss->ks, list, entry);
}

Span span_of_block(Systems *ss, const Block *b)
{
    return b->equation.index == ID_NONE ? SPAN_NONE : ss->ks->model->equations.at[b->equation.index].origin.span;
}

static void add_block(Systems *ss, const Schedule *s, const Blocks *blocks, Entries *list, uint32_t index)
{
    if (blocks->system_of[index] != KOINE_NONE)
        push_system(ss, list, blocks->system_of[index], false);
    else
        add_pieces(ss->ks, list, blocks->first_piece[index], blocks->first_piece[index + 1], index,
                   span_of_block(ss, &s->blocks.at[index]));
}

static Entries list_part(Systems *ss, const Schedule *s, const Blocks *blocks, PartKind part, Arena *scratch)
{
    Entries list = { .arena = scratch };
    for (uint32_t k = 0; k < s->parts[part].n; k++)
        add_block(ss, s, blocks, &list, s->parts[part].at[k]);
    return list;
}

/* What a part executes, into `out`; what it needs of parameters alone, into `fixed`. */
static Shared share_part(Systems *ss, const Entries *list, Shared after, Entries *out, Entries *fixed)
{
    enum { OFTEN = 2 }; /* enough to save what costs something */
    const Slots *slots = ss->ks->slots;
    const ShareRequest request = {
        .after = after, .repeats = OFTEN, .n_fixed = slots->parameters.n, .fixed = slots->parameters.first
    };
    return share_entries(ss->share, &request, list, out, slots->parameters.n ? fixed : NULL);
}

/* Those of one point are executed once for each colour: what does not depend on the seeds is computed before. */
static void share_tangents(Systems *ss, const Entries *list, Shared after, Entries *out, Entries *base)
{
    const Schedule *s = ss->schedule;
    const uint32_t by_x = s->jacobian.n_colours, by_all = s->dae_jacobian.n_colours;
    const ShareRequest request = { .after = after,
                                   .repeats = by_x > by_all ? by_x : by_all,
                                   .range = ss->ks->slots->seed_x,
                                   .n_range = ss->ks->slots->n_x };
    if (list->n)
        share_entries(ss->share, &request, list, out, base);
}

void lay_tangent(Systems *ss, uint32_t index)
{
    Model *m = ss->ks->model;
    const Block *b = &ss->schedule->blocks.at[index];
    Ref target = term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
    target.kind = target.kind == REF_DER ? REF_SEED_DER : REF_SEED;
    Ref *refs = NEW_ARRAY(ss->ks->arena, Ref, b->u.assign.lhs.shape->n_leaves);
    memcpy(refs, term_refs(m, b->u.assign.lhs), b->u.assign.lhs.shape->n_leaves * sizeof *refs);
    refs[b->u.assign.lhs.shape->u.leaf] = target;
    const Term rhs = tangent_of(&ss->tangents, b->u.assign.rhs, NULL);
    lay_assignment(ss->ks, term_make(m, b->u.assign.lhs.shape, refs), rhs, b->u.assign.domain);
}

static Entries list_tangents(Systems *ss, const Blocks *blocks, Arena *scratch)
{
    const Schedule *s = ss->schedule;
    Entries list = { .arena = scratch };
    for (uint32_t k = 0; (s->has_jacobian || s->is_whole) && k < s->parts[PART_DERIVATIVES].n; k++) {
        const uint32_t index = s->parts[PART_DERIVATIVES].at[k], system = blocks->system_of[index],
                       first = ss->ks->pieces.n;
        if (system == KOINE_NONE) {
            lay_tangent(ss, index);
            add_pieces(ss->ks, &list, first, ss->ks->pieces.n, index, span_of_block(ss, &s->blocks.at[index]));
            continue;
        }
        for (uint32_t j = 0; j < ss->tangent_entries.at[system].n; j++) {
            Entry entry = ss->tangent_entries.at[system].at[j];
            entry.within = system;
            push_entry(ss->ks, &list, entry);
        }
        push_system(ss, &list, system, true);
    }
    return list;
}

/* Values that are computed once: parameters, start values. */
static KoinePart lay_values(Systems *ss, const VarId *variables, uint32_t n, bool starts, const char *name)
{
    Entries list = { 0 };
    Model *m = ss->ks->model;
    for (uint32_t k = 0; k < n; k++) {
        const Variable *v = model_var(m, variables[k]);
        const Term term = starts ? v->start : v->binding;
        const uint32_t first = ss->ks->pieces.n, count = (uint32_t)variable_count(m, variables[k]);
        for (uint32_t j = 0; j < count; j++) { /* one value, or one an element */
            const bool is_array = term.shape->kind == EXPR_ARRAY;
            const Term element = is_array ? term_make(m, expr_array_element(term.shape, j), term_refs(m, term)) : term;
            const uint32_t slot = ss->ks->slots->now[variables[k].index] + j;
            vec_push(ss->ks->arena, &ss->ks->pieces, lay_terms(ss->ks, 1, &element, &slot));
        }
        add_pieces(ss->ks, &list, first, ss->ks->pieces.n, KOINE_NONE, v->span);
    }
    return lay_part(ss->ks, ss->systems.at, name, &list);
}

/* What was divided by when systems were solved by formulas. */
static void list_checks(Systems *ss, Parts *parts)
{
    VEC(uint32_t) checks = { 0 };
    for (uint32_t k = 0; k < ss->schedule->blocks.n; k++) {
        const Block *b = &ss->schedule->blocks.at[k];
        if (!block_check(b))
            continue;
        vec_push(ss->ks->arena, &checks, slot_of(ss->ks->slots, ref_now((VarId){ block_check(b) - 1 })));
        vec_push(ss->ks->arena, &checks, k);
    }
    parts->regular = (KoineChecks){ checks.n / 2, checks.at };
}

static void lay_run(Systems *ss, const Schedule *s, Parts *parts)
{
    Arena *scratch = arena_create_like(ss->ks->arena);
    Entries tangents = { .arena = scratch }, slopes = { .arena = scratch };
    list_checks(ss, parts);
    parts->parameters = lay_values(ss, s->parameters.at, s->parameters.n, false, "parameters");
    parts->starts = lay_values(ss, s->starts.at, s->starts.n, true, "starts");
    const Entries derivatives = list_part(ss, s, &parts->blocks, PART_DERIVATIVES, scratch),
                  outputs = list_part(ss, s, &parts->blocks, PART_OUTPUTS, scratch),
                  along = list_tangents(ss, &parts->blocks, scratch);
    share_survey(ss->share, 3, (const Entries *const[]){ &derivatives, &outputs, &along });
    const Shared before =
        share_part(ss, &derivatives, (Shared){ 0 }, &parts->executed[PART_DERIVATIVES], &parts->fixed);
    /* both are executed after the derivatives, at the same point */
    const Shared beside = share_part(ss, &outputs, before, &parts->executed[PART_OUTPUTS], &parts->fixed);
    share_tangents(ss, &along, before, &tangents, &slopes);
    KoineSystem *systems = ss->systems.at;
    parts->derivatives = lay_part(ss->ks, systems, "derivatives", &parts->executed[PART_DERIVATIVES]);
    parts->outputs = lay_part(ss->ks, systems, "outputs", &parts->executed[PART_OUTPUTS]);
    parts->slopes = lay_part(ss->ks, systems, "slopes", &slopes);
    parts->tangents = lay_part(ss->ks, systems, "tangents", &tangents);
    parts->ports = lay_ports(ss, &parts->blocks, before, beside);
    arena_destroy(scratch);
}

/* The initial system is a schedule of its own; its blocks are laid out behind the run's, without tangents. */
static KoinePart lay_initial(Systems *ss, const Schedule *run)
{
    const Schedule *initial = run->initial;
    if (!initial)
        return (KoinePart){ 0, NULL };
    const Blocks blocks = lay_blocks(ss, initial, schedule_initial_origin(run), false);
    Entries list = { 0 };
    for (uint32_t k = 0; k < initial->blocks.n; k++)
        add_block(ss, initial, &blocks, &list, k);
    return lay_part(ss->ks, ss->systems.at, "initial", &list);
}

Parts parts_lay(const Schedule *schedule, Systems *ss)
{
    Parts parts = { .blocks = lay_blocks(ss, schedule, 0, ss->ks->slots->seed_x != KOINE_NONE) };
    lay_run(ss, schedule, &parts);
    parts.whole = lay_whole(ss);
    parts.n_run_systems = ss->systems.n;
    parts.initial = lay_initial(ss, schedule);
    return parts;
}

KoinePart lay_roots(Systems *ss, const Schedule *schedule, const Blocks *blocks, const Entries *operands,
                    Entries *executed, Entries *fixed)
{
    Arena *scratch = arena_create_like(ss->ks->arena);
    Entries list = list_part(ss, schedule, blocks, PART_ROOTS, scratch);
    for (uint32_t k = 0; k < operands->n; k++)
        push_entry(ss->ks, &list, operands->at[k]);
    share_survey(ss->share, 1, (const Entries *const[]){ &list });
    share_part(ss, &list, (Shared){ 0 }, executed, fixed);
    const KoinePart part = lay_part(ss->ks, ss->systems.at, "roots", executed);
    arena_destroy(scratch);
    return part;
}

KoinePart lay_fixed(Kernels *ks, const Parts *parts, const Entries *more)
{
    Entries list = { 0 };
    for (uint32_t k = 0; k < parts->fixed.n + more->n; k++)
        push_entry(ks, &list, k < parts->fixed.n ? parts->fixed.at[k] : more->at[k - parts->fixed.n]);
    const KoinePart given = parts->parameters, fixed = lay_part(ks, NULL, "fixed", &list);
    KoinePartStep *steps = NEW_ARRAY(ks->arena, KoinePartStep, given.n + fixed.n + 1);
    for (uint32_t k = 0; k < given.n + fixed.n; k++)
        steps[k] = k < given.n ? given.steps[k] : fixed.steps[k - given.n];
    return (KoinePart){ given.n + fixed.n, steps };
}
