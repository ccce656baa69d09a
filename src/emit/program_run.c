/* Sections of runs, parts of sections; see program_parts.h. Neighbours of one kernel become one run; a run whose rows
 * advance by constant distances becomes an affine one, which needs no table. */
#include "base/bug.h"
#include "emit/program_parts.h"

enum { AFFINE_FROM = 4 }; /* rows; shorter runs are written out */
enum { EVEN_FROM = 6 };   /* rows; shorter even stretches of an uneven run are not worth a loop of their own */
enum { MOST_LOOPS = 4 };  /* of one uneven run: code must not grow with the number of instances */

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

uint32_t lay_section(Layout *l, const char *name, const Piece *pieces, const Span *spans, uint32_t n)
{
    Section section = { name, l->runs.n, 0 };
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        Piece piece = pieces[begin];
        const Kernel *kernel = &l->kernels.at[piece.kernel];
        for (end = begin + 1; end < n && !kernel->strides && pieces[end].kernel == piece.kernel &&
                              pieces[end].row == piece.row + piece.n * kernel->width;
             end++)
            piece.n += pieces[end].n;
        if (piece.n > 1 && piece.n < AFFINE_FROM && !kernel->strides) { /* too short for a loop */
            piece = pieces[begin];
            end = begin + 1;
        }
        add_run(l, piece, spans[begin]);
    }
    section.n_runs = l->runs.n - section.first_run;
    vec_push(l->arena, &l->sections, section);
    return l->sections.n - 1;
}

typedef struct {
    Layout *l;
    const char *name;
    VEC(KoinePartStep) steps;
    VEC(Piece) pieces;
    VEC(Span) spans;
} PartBuilder;

static void close_section(PartBuilder *p)
{
    if (p->pieces.n == 0)
        return;
    const char *name = p->steps.n ? arena_format(p->l->arena, "%s_%u", p->name, p->steps.n) : p->name;
    const KoinePartStep step = { lay_section(p->l, name, p->pieces.at, p->spans.at, p->pieces.n), KOINE_NONE };
    vec_push(p->l->arena, &p->steps, step);
    p->pieces.n = p->spans.n = 0;
}

static void add_system(PartBuilder *p, uint32_t system)
{
    close_section(p);
    const KoinePartStep step = { KOINE_NONE, system };
    vec_push(p->l->arena, &p->steps, step);
}

static void add_pieces(PartBuilder *p, uint32_t first, uint32_t end, Span span)
{
    for (uint32_t k = first; k < end; k++) {
        vec_push(p->l->arena, &p->pieces, p->l->pieces.at[k]);
        vec_push(p->l->arena, &p->spans, span);
    }
}

static KoinePart finish_part(PartBuilder *p)
{
    close_section(p);
    return (KoinePart){ p->steps.n, p->steps.at };
}

static Span block_span(const Layout *l, const Block *b)
{
    return b->equation.index == ID_NONE ? SPAN_NONE : l->model->equations.at[b->equation.index].origin.span;
}

static KoinePart lay_part(Layout *l, PartKind part, const char *name)
{
    PartBuilder p = { .l = l, .name = name };
    for (uint32_t k = 0; k < l->schedule->parts[part].n; k++) {
        const uint32_t index = l->schedule->parts[part].at[k];
        const Block *b = &l->schedule->blocks.at[index];
        if (l->system_of[index] != KOINE_NONE)
            add_system(&p, l->system_of[index]);
        else
            add_pieces(&p, l->first_piece[index], l->first_piece[index + 1], block_span(l, b));
    }
    return finish_part(&p);
}

static KoinePart lay_tangents(Layout *l)
{
    PartBuilder p = { .l = l, .name = "tangents" };
    const Schedule *s = l->schedule;
    if (!s->has_jacobian)
        return (KoinePart){ 0, NULL };
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const uint32_t index = s->parts[PART_DERIVATIVES].at[k];
        if (l->system_of[index] != KOINE_NONE) {
            add_system(&p, l->system_of[index]);
            continue;
        }
        const uint32_t first = l->pieces.n;
        lay_tangent(l, index);
        add_pieces(&p, first, l->pieces.n, block_span(l, &s->blocks.at[index]));
    }
    return finish_part(&p);
}

/* Values that are computed once: parameters, start values. */
static KoinePart lay_values(Layout *l, const VarId *variables, uint32_t n, bool starts, const char *name)
{
    PartBuilder p = { .l = l, .name = name };
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
        add_pieces(&p, first, l->pieces.n, v->span);
    }
    return finish_part(&p);
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
    list_checks(l);
    l->data.parameters = lay_values(l, s->parameters.at, s->parameters.n, false, "parameters");
    l->data.starts = lay_values(l, s->starts.at, s->starts.n, true, "starts");
    l->data.derivatives = lay_part(l, PART_DERIVATIVES, "derivatives");
    l->data.roots = lay_part(l, PART_ROOTS, "roots_base");
    l->data.outputs = lay_part(l, PART_OUTPUTS, "outputs");
    l->data.tangents = lay_tangents(l);
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
    PartBuilder p = { .l = l, .name = "initial" };
    for (uint32_t k = 0; k < l->schedule->blocks.n; k++) {
        if (l->system_of[k] != KOINE_NONE)
            add_system(&p, l->system_of[k]);
        else
            add_pieces(&p, l->first_piece[k], l->first_piece[k + 1], block_span(l, &l->schedule->blocks.at[k]));
    }
    l->data.initial_part = finish_part(&p);
    l->data.n_run_systems = first_system;
    l->schedule = run;
    l->first_piece = first_piece;
    l->system_of = system_of;
    l->data.seed_x = seed_x;
    l->first_origin = 0;
}
