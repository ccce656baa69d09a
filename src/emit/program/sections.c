/* Lists of entries as sections of runs; see kernels.h. Neighbours of one kernel become one run; a run whose rows
 * advance by constant distances becomes an affine one, which needs no table. */
#include "emit/program/kernels.h"

enum { EVEN_FROM = 6 };  /* rows; shorter even stretches of an uneven run are not worth a loop of their own */
enum { MOST_LOOPS = 4 }; /* of one uneven run: code must not grow with the number of instances */

const char *place_text(const Model *m, Span span, Arena *arena)
{
    if (span.source == SOURCE_NONE)
        return NULL;
    const char *path = sources_get(m->sources, span.source)->path, *base = strrchr(path, '/');
    return arena_format(arena, "%s:%u", base ? base + 1 : path, span_begin(m->sources, span).line);
}

static const char *comment_for(const Kernels *ks, Span span)
{
    enum { MOST_COMMENTS = 20000 }; /* generated C is for reading only while it is small */
    return ks->runs.n > MOST_COMMENTS ? NULL : place_text(ks->model, span, ks->arena);
}

/* Rows from `row` on that advance evenly, at most n; `strides` by how much. */
static uint32_t even_rows(const Kernels *ks, uint32_t w, uint32_t row, uint32_t n, int32_t *strides)
{
    const uint32_t *rows = ks->rows.at + row;
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

static void put_run(Kernels *ks, uint32_t kernel, uint32_t row, uint32_t n, Span span)
{
    const Run run = { kernel, row, n, comment_for(ks, span) };
    if (n > 1)
        ks->kernels.at[kernel].is_shared = true;
    vec_push(ks->arena, &ks->runs, run);
}

/* Rows one by one if they are few, else by a loop over their table. */
static void put_uneven(Kernels *ks, uint32_t kernel, uint32_t row, uint32_t n, Span span)
{
    const uint32_t w = ks->kernels.at[kernel].width;
    if (n >= AFFINE_FROM)
        put_run(ks, kernel, row, n, span);
    else
        for (uint32_t k = 0; k < n; k++)
            put_run(ks, kernel, row + k * w, 1, span);
}

/* The longest even stretches become loops without a table; what lies between stays as it is. */
static void add_run(Kernels *ks, Piece piece, Span span)
{
    const Kernel kernel = ks->kernels.at[piece.kernel];
    const uint32_t w = kernel.width;
    if (kernel.strides || kernel.has_iterator || piece.n < AFFINE_FROM) {
        put_run(ks, piece.kernel, piece.row, piece.n, span);
        return;
    }
    int32_t *strides = NEW_ARRAY(ks->arena, int32_t, w);
    uint32_t pending = 0, at = 0, loops = 0;
    while (at < piece.n) {
        const uint32_t even = even_rows(ks, w, piece.row + at * w, piece.n - at, strides);
        if (loops < MOST_LOOPS && (even >= EVEN_FROM || (even == piece.n && even >= AFFINE_FROM))) {
            loops++;
            put_uneven(ks, piece.kernel, piece.row + pending * w, at - pending, span);
            put_run(ks, kernel_for(ks, kernel.n_outputs, kernel.outputs, kernel.n_leaves, strides, NULL),
                    piece.row + at * w, even, span);
            at += even;
            pending = at;
        } else {
            at += even > 1 ? even - 1 : 1; /* the last row may begin the next stretch */
        }
    }
    put_uneven(ks, piece.kernel, piece.row + pending * w, piece.n - pending, span);
}

void push_entry(Kernels *ks, Entries *list, Entry entry)
{
    vec_push(list->arena ? list->arena : ks->arena, list, entry);
}

void add_entry(Kernels *ks, Entries *list, Piece piece, uint32_t block, Span span)
{
    const Entry entry = { .piece = piece, .system = KOINE_NONE, .within = KOINE_NONE, .block = block, .span = span };
    push_entry(ks, list, entry);
}

static uint32_t lay_stretch(Kernels *ks, const char *name, const Entry *entries, uint32_t n)
{
    Section section = { name, ks->runs.n, 0 };
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        Piece piece = entries[begin].piece;
        const Kernel *kernel = &ks->kernels.at[piece.kernel];
        for (end = begin + 1; end < n && !kernel->strides && entries[end].piece.kernel == piece.kernel &&
                              entries[end].piece.row == piece.row + piece.n * kernel->width;
             end++)
            piece.n += entries[end].piece.n;
        if (piece.n > 1 && piece.n < AFFINE_FROM && !kernel->strides) { /* too short for a loop */
            piece = entries[begin].piece;
            end = begin + 1;
        }
        add_run(ks, piece, entries[begin].span);
    }
    section.n_runs = ks->runs.n - section.first_run;
    vec_push(ks->arena, &ks->sections, section);
    return ks->sections.n - 1;
}

uint32_t lay_section(Kernels *ks, const char *name, const Entries *list)
{
    return lay_stretch(ks, name, list->at, list->n);
}

void add_pieces(Kernels *ks, Entries *list, uint32_t first, uint32_t end, uint32_t block, Span span)
{
    for (uint32_t k = first; k < end; k++)
        add_entry(ks, list, ks->pieces.at[k], block, span);
}

KoinePart lay_part(Kernels *ks, KoineSystem *systems, const char *name, const Entries *list)
{
    VEC(KoinePartStep) steps = { 0 };
    for (uint32_t begin = 0, end; begin < list->n; begin = end) {
        const Entry *first = &list->at[begin];
        end = begin + 1;
        if (first->system != KOINE_NONE) {
            const KoinePartStep step = { KOINE_NONE, first->system };
            vec_push(ks->arena, &steps, step);
            continue;
        }
        while (end < list->n && list->at[end].system == KOINE_NONE && list->at[end].within == first->within)
            end++;
        if (systems && first->within != KOINE_NONE) {
            systems[first->within].tangent.section =
                lay_stretch(ks, arena_format(ks->arena, "tangent_%u", first->within), first, end - begin);
            continue;
        }
        const char *own = steps.n ? arena_format(ks->arena, "%s_%u", name, steps.n) : name;
        const KoinePartStep step = { lay_stretch(ks, own, first, end - begin), KOINE_NONE };
        vec_push(ks->arena, &steps, step);
    }
    return (KoinePart){ steps.n, steps.at };
}
