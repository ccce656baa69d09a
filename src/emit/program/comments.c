/* See comments.h. Of all that use a kernel the first one is named. */
#include "emit/program/comments.h"
#include "ir/print.h"

enum { MOST_COMMENTS = 2000, LONGEST = 96 }; /* generated C is for reading only while it is small */

typedef struct {
    const Model *model;
    Kernels *ks;
    uint32_t n; /* comments made */
} Commenting;

static bool wants_comment(const Commenting *c, uint32_t kernel)
{
    return c->n < MOST_COMMENTS && !c->ks->kernels.at[kernel].comment;
}

/* "Ball.mdl:29: der(V) := G", long texts cut. */
static void comment(Commenting *c, uint32_t kernel, const char *text, Span span)
{
    Arena *arena = c->ks->arena;
    const char *place = place_text(c->model, span, arena);
    char *whole = arena_format(arena, "%s%s%s", place ? place : "", place ? ": " : "", text);
    if (strlen(whole) > LONGEST)
        memcpy(whole + LONGEST - 3, "...", 4);
    c->ks->kernels.at[kernel].comment = whole;
    c->n++;
}

static Span block_span(const Model *m, const Block *b)
{
    return b->equation.index == ID_NONE ? SPAN_NONE : m->equations.at[b->equation.index].origin.span;
}

static void comment_blocks(Commenting *c, const Schedule *s, const Blocks *blocks)
{
    for (uint32_t k = 0; k < s->blocks.n && c->n < MOST_COMMENTS; k++) {
        const Block *b = &s->blocks.at[k];
        for (uint32_t j = blocks->first_piece[k]; b->kind == BLOCK_ASSIGN && j < blocks->first_piece[k + 1]; j++) {
            const uint32_t kernel = c->ks->pieces.at[j].kernel;
            if (!wants_comment(c, kernel))
                continue;
            Text text = { .arena = c->ks->scratch };
            term_print(c->model, b->u.assign.lhs, b->u.assign.domain, &text);
            text_add(&text, " := ");
            term_print(c->model, b->u.assign.rhs, b->u.assign.domain, &text);
            comment(c, kernel, text.at, block_span(c->model, b));
        }
    }
}

static void comment_decisions(Commenting *c, const Events *events)
{
    const Model *m = c->model;
    const KoineDecisions *decisions = &events->data.decisions;
    const char *const *comparisons = events->roots.comparisons;
    uint32_t row = 0;
    for (uint32_t k = 0; k < m->relations.n; k++) {
        const uint32_t n = (uint32_t)domain_count(m, m->relations.at[k].domain);
        if (n && comparisons[k] && wants_comment(c, decisions->relations[row].decision.kernel))
            comment(c, decisions->relations[row].decision.kernel, comparisons[k], m->relations.at[k].origin.span);
        row += n;
    }
    for (uint32_t k = 0; k < m->steps.n; k++) {
        const StepFunction *f = &m->steps.at[k];
        if (wants_comment(c, decisions->steps[k].decision.kernel))
            comment(c, decisions->steps[k].decision.kernel,
                    arena_format(c->ks->scratch, "step of %s", term_text(m, f->argument, c->ks->scratch)),
                    f->origin.span);
    }
}

static void comment_firings(Commenting *c, const KoineFirings *firings, uint32_t first_origin)
{
    const Model *m = c->model;
    Arena *scratch = c->ks->scratch;
    for (uint32_t k = 0; k < firings->n_nexts; k++) {
        const Assignment *a = &m->assignments.at[firings->nexts[k].origin - first_origin];
        if (firings->nexts[k].kernel != KOINE_NONE && wants_comment(c, firings->nexts[k].kernel))
            comment(c, firings->nexts[k].kernel,
                    arena_format(scratch, "next(%s) := %s", term_text(m, a->target, scratch),
                                 term_text(m, a->value, scratch)),
                    a->span);
    }
}

void comment_kernels(const Schedule *schedule, const Parts *parts, const Events *events, Kernels *ks)
{
    Commenting c = { .model = schedule->model, .ks = ks };
    comment_blocks(&c, schedule, &parts->blocks);
    comment_decisions(&c, events);
    comment_firings(&c, &events->data.firings, schedule->blocks.n);
}
