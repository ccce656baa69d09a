/* Sections of runs, parts of sections; see layout.h. Neighbours of one kernel become one run; a run whose rows
 * advance by constant distances becomes an affine one, which needs no table. */
#include "base/bug.h"
#include "emit/program/layout.h"
#include "emit/program/share.h"

enum { EVEN_FROM = 6 };  /* rows; shorter even stretches of an uneven run are not worth a loop of their own */
enum { MOST_LOOPS = 4 }; /* of one uneven run: code must not grow with the number of instances */

static const char *comment_for(Layout *l, Span span)
{
    enum { MOST_COMMENTS = 20000 }; /* generated C is for reading only while it is small */
    if (span.source == SOURCE_NONE || l->runs.n > MOST_COMMENTS)
        return NULL;
    const char *path = sources_get(l->model->sources, span.source)->path, *base = strrchr(path, '/');
    return arena_format(l->arena, "%s:%u", base ? base + 1 : path, span_begin(l->model->sources, span).line);
}

/* Rows from `row` on that advance evenly, at most n; `strides` by how much. */
static uint32_t even_rows(const Layout *l, uint32_t w, uint32_t row, uint32_t n, int32_t *strides)
{
    const uint32_t *rows = l->rows.at + row;
    if (n < 2)
        return n;
    for (uint32_t k = 0; k < w; k++)
        strides[k] = (int32_t)(rows[w + k] - rows[k]);
    for (uint32_t i = 2; i < n; i++)
        for (uint32_t k = 0; k < w; k++)
            if ((int32_t)(rows[i * w + k] - rows[(i - 1) * w + k]) != strides[k])
                return i;
    return n;
}

static void put_run(Layout *l, uint32_t kernel, uint32_t row, uint32_t n, Span span)
{
    const Run run = { kernel, row, n, comment_for(l, span) };
    if (n > 1)
        l->kernels.at[kernel].is_shared = true;
    vec_push(l->arena, &l->runs, run);
}

/* Rows one by one if they are few, else by a loop over their table. */
static void put_uneven(Layout *l, uint32_t kernel, uint32_t row, uint32_t n, Span span)
{
    const uint32_t w = l->kernels.at[kernel].width;
    if (n >= AFFINE_FROM)
        put_run(l, kernel, row, n, span);
    else
        for (uint32_t k = 0; k < n; k++)
            put_run(l, kernel, row + k * w, 1, span);
}

/* The longest even stretches become loops without a table; what lies between stays as it is. */
static void add_run(Layout *l, Piece piece, Span span)
{
    const Kernel kernel = l->kernels.at[piece.kernel];
    const uint32_t w = kernel.width;
    if (kernel.strides || kernel.has_iterator || piece.n < AFFINE_FROM) {
        put_run(l, piece.kernel, piece.row, piece.n, span);
        return;
    }
    int32_t *strides = NEW_ARRAY(l->arena, int32_t, w);
    uint32_t pending = 0, at = 0, loops = 0;
    while (at < piece.n) {
        const uint32_t even = even_rows(l, w, piece.row + at * w, piece.n - at, strides);
        if (loops < MOST_LOOPS && (even >= EVEN_FROM || (even == piece.n && even >= AFFINE_FROM))) {
            loops++;
            put_uneven(l, piece.kernel, piece.row + pending * w, at - pending, span);
            put_run(l, kernel_for(l, kernel.n_outputs, kernel.outputs, kernel.n_leaves, strides, false, 0),
                    piece.row + at * w, even, span);
            at += even;
            pending = at;
        } else {
            at += even > 1 ? even - 1 : 1; /* the last row may begin the next stretch */
        }
    }
    put_uneven(l, piece.kernel, piece.row + pending * w, piece.n - pending, span);
}

void push_entry(Layout *l, Entries *list, Entry entry)
{
    vec_push(list->arena ? list->arena : l->arena, list, entry);
}

void add_entry(Layout *l, Entries *list, Piece piece, uint32_t block, Span span)
{
    const Entry entry = { .piece = piece, .system = KOINE_NONE, .within = KOINE_NONE, .block = block, .span = span };
    push_entry(l, list, entry);
}

static uint32_t lay_stretch(Layout *l, const char *name, const Entry *entries, uint32_t n)
{
    Section section = { name, l->runs.n, 0 };
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        Piece piece = entries[begin].piece;
        const Kernel *kernel = &l->kernels.at[piece.kernel];
        for (end = begin + 1; end < n && !kernel->strides && entries[end].piece.kernel == piece.kernel &&
                              entries[end].piece.row == piece.row + piece.n * kernel->width;
             end++)
            piece.n += entries[end].piece.n;
        if (piece.n > 1 && piece.n < AFFINE_FROM && !kernel->strides) { /* too short for a loop */
            piece = entries[begin].piece;
            end = begin + 1;
        }
        add_run(l, piece, entries[begin].span);
    }
    section.n_runs = l->runs.n - section.first_run;
    vec_push(l->arena, &l->sections, section);
    return l->sections.n - 1;
}

uint32_t lay_section(Layout *l, const char *name, const Entries *list)
{
    return lay_stretch(l, name, list->at, list->n);
}

/* ---- parts ---- */
static void add_system(Layout *l, Entries *list, uint32_t system, bool is_tangent)
{
    const Entry entry = { .system = system, .is_tangent = is_tangent, .within = KOINE_NONE, .block = KOINE_NONE };
    push_entry(l, list, entry);
}

static void add_pieces(Layout *l, Entries *list, uint32_t first, uint32_t end, uint32_t block, Span span)
{
    for (uint32_t k = first; k < end; k++)
        add_entry(l, list, l->pieces.at[k], block, span);
}

/* A section for each stretch between systems; the first has the name, others the name and a number. */
static KoinePart lay_list(Layout *l, const char *name, const Entries *list)
{
    VEC(KoinePartStep) steps = { 0 };
    for (uint32_t begin = 0, end; begin < list->n; begin = end) {
        const Entry *first = &list->at[begin];
        end = begin + 1;
        if (first->system != KOINE_NONE) {
            const KoinePartStep step = { KOINE_NONE, first->system };
            vec_push(l->arena, &steps, step);
            continue;
        }
        while (end < list->n && list->at[end].system == KOINE_NONE && list->at[end].within == first->within)
            end++;
        if (first->within != KOINE_NONE) {
            l->systems.at[first->within].tangent_section =
                lay_stretch(l, arena_format(l->arena, "tangent_%u", first->within), first, end - begin);
            continue;
        }
        const char *own = steps.n ? arena_format(l->arena, "%s_%u", name, steps.n) : name;
        const KoinePartStep step = { lay_stretch(l, own, first, end - begin), KOINE_NONE };
        vec_push(l->arena, &steps, step);
    }
    return (KoinePart){ steps.n, steps.at };
}

static Span block_span(const Layout *l, const Block *b)
{
    return b->equation.index == ID_NONE ? SPAN_NONE : l->model->equations.at[b->equation.index].origin.span;
}

static void add_block(Layout *l, Entries *list, uint32_t index)
{
    if (l->system_of[index] != KOINE_NONE)
        add_system(l, list, l->system_of[index], false);
    else
        add_pieces(l, list, l->first_piece[index], l->first_piece[index + 1], index,
                   block_span(l, &l->schedule->blocks.at[index]));
}

static Entries list_part(Layout *l, PartKind part, Arena *scratch)
{
    Entries list = { .arena = scratch };
    for (uint32_t k = 0; k < l->schedule->parts[part].n; k++)
        add_block(l, &list, l->schedule->parts[part].at[k]);
    return list;
}

/* What the part executes; `after`: see ShareRequest. */
static Shared share_part(Layout *l, PartKind part, const Entries *list, Shared after)
{
    enum { OFTEN = 2 }; /* enough to save what costs something */
    const ShareRequest request = {
        .after = after, .repeats = OFTEN, .n_fixed = l->n_parameters, .fixed = l->parameters
    };
    return share_entries(l, &request, list, &l->executed[part], l->n_parameters ? &l->fixed : NULL);
}

/* Those of one point are executed once for each colour: what does not depend on the seeds is computed before. */
static void share_tangents(Layout *l, const Entries *list, Shared after, Entries *out, Entries *base)
{
    const Schedule *s = l->schedule;
    const uint32_t by_x = s->jacobian.n_colours, by_all = s->dae_jacobian.n_colours;
    const ShareRequest request = {
        .after = after, .repeats = by_x > by_all ? by_x : by_all, .range = l->data.seed_x, .n_range = l->data.n_x
    };
    if (list->n)
        share_entries(l, &request, list, out, base);
}

static Entries list_tangents(Layout *l, Arena *scratch)
{
    const Schedule *s = l->schedule;
    Entries list = { .arena = scratch };
    for (uint32_t k = 0; (s->has_jacobian || s->is_whole) && k < s->parts[PART_DERIVATIVES].n; k++) {
        const uint32_t index = s->parts[PART_DERIVATIVES].at[k], system = l->system_of[index], first = l->pieces.n;
        if (system == KOINE_NONE) {
            lay_tangent(l, index);
            add_pieces(l, &list, first, l->pieces.n, index, block_span(l, &s->blocks.at[index]));
            continue;
        }
        for (uint32_t j = 0; j < l->system_tangents.at[system].n; j++) {
            Entry entry = l->system_tangents.at[system].at[j];
            entry.within = system;
            push_entry(l, &list, entry);
        }
        add_system(l, &list, system, true);
    }
    return list;
}

/* Values that are computed once: parameters, start values. */
static KoinePart lay_values(Layout *l, const VarId *variables, uint32_t n, bool starts, const char *name)
{
    Entries list = { 0 };
    Model *m = l->model;
    for (uint32_t k = 0; k < n; k++) {
        const Variable *v = model_var(m, variables[k]);
        const Term term = starts ? v->start : v->binding;
        const uint32_t first = l->pieces.n, count = (uint32_t)variable_count(m, variables[k]);
        for (uint32_t j = 0; j < count; j++) { /* one value, or one an element */
            const bool is_array = term.shape->kind == EXPR_ARRAY;
            const Term element = is_array ? term_make(m, expr_array_element(term.shape, j), term_refs(m, term)) : term;
            const uint32_t slot = l->now[variables[k].index] + j;
            vec_push(l->arena, &l->pieces, lay_terms(l, 1, &element, &slot));
        }
        add_pieces(l, &list, first, l->pieces.n, KOINE_NONE, v->span);
    }
    return lay_list(l, name, &list);
}

/* What was divided by when systems were solved by formulas. */
static void list_checks(Layout *l)
{
    VEC(uint32_t) checks = { 0 };
    for (uint32_t k = 0; k < l->schedule->blocks.n; k++) {
        const Block *b = &l->schedule->blocks.at[k];
        if (!b->check)
            continue;
        vec_push(l->arena, &checks, slot_of(l, ref_now((VarId){ b->check - 1 })));
        vec_push(l->arena, &checks, k);
    }
    l->data.regular_checks = checks.at;
    l->data.n_regular_checks = checks.n / 2;
}

void lay_parts(Layout *l)
{
    const Schedule *s = l->schedule;
    Arena *scratch = arena_create_like(l->arena);
    Entries tangents = { .arena = scratch }, slopes = { .arena = scratch };
    list_checks(l);
    l->data.parameters = lay_values(l, s->parameters.at, s->parameters.n, false, "parameters");
    l->data.starts = lay_values(l, s->starts.at, s->starts.n, true, "starts");
    const Entries derivatives = list_part(l, PART_DERIVATIVES, scratch), outputs = list_part(l, PART_OUTPUTS, scratch),
                  along = list_tangents(l, scratch);
    share_survey(l, 3, (const Entries *const[]){ &derivatives, &outputs, &along });
    const Shared before = share_part(l, PART_DERIVATIVES, &derivatives, (Shared){ 0 });
    share_part(l, PART_OUTPUTS, &outputs, before); /* both are executed after the derivatives, at the same point */
    share_tangents(l, &along, before, &tangents, &slopes);
    l->data.derivatives = lay_list(l, "derivatives", &l->executed[PART_DERIVATIVES]);
    l->data.outputs = lay_list(l, "outputs", &l->executed[PART_OUTPUTS]);
    l->data.slopes = lay_list(l, "slopes", &slopes);
    l->data.tangents = lay_list(l, "tangents", &tangents);
    arena_destroy(scratch);
}

void lay_roots(Layout *l, const Entries *operands)
{
    Arena *scratch = arena_create_like(l->arena);
    Entries list = list_part(l, PART_ROOTS, scratch);
    for (uint32_t k = 0; k < operands->n; k++)
        push_entry(l, &list, operands->at[k]);
    share_survey(l, 1, (const Entries *const[]){ &list });
    share_part(l, PART_ROOTS, &list, (Shared){ 0 });
    l->data.roots = lay_list(l, "roots", &l->executed[PART_ROOTS]);
    arena_destroy(scratch);
}

/* What depends on parameters alone is computed with them. */
void lay_fixed(Layout *l)
{
    const KoinePart given = l->data.parameters, more = lay_list(l, "fixed", &l->fixed);
    KoinePartStep *steps = NEW_ARRAY(l->arena, KoinePartStep, given.n + more.n + 1);
    for (uint32_t k = 0; k < given.n + more.n; k++)
        steps[k] = k < given.n ? given.steps[k] : more.steps[k - given.n];
    l->data.parameters = (KoinePart){ given.n + more.n, steps };
}

/* The initial system is a schedule of its own; its blocks are laid out behind the run's. */
void lay_initial(Layout *l)
{
    const Schedule *run = l->schedule;
    if (!run->initial)
        return;
    uint32_t *const first_piece = l->first_piece, *const system_of = l->system_of, seed_x = l->data.seed_x;
    l->schedule = run->initial;
    l->data.seed_x = KOINE_NONE; /* no tangents */
    l->first_origin = run->blocks.n + l->model->assignments.n;
    const uint32_t first_system = l->systems.n;
    lay_blocks(l);
    Entries list = { 0 };
    for (uint32_t k = 0; k < l->schedule->blocks.n; k++)
        add_block(l, &list, k);
    l->data.initial_part = lay_list(l, "initial", &list);
    l->data.n_run_systems = first_system;
    l->schedule = run;
    l->first_piece = first_piece;
    l->system_of = system_of;
    l->data.seed_x = seed_x;
    l->first_origin = 0;
}
