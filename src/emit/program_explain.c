/* Explaining a fault: the equation, its place, the innermost operation that failed and its operands. */
#include "base/text.h"
#include "emit/program_parts.h"
#include "ir/evaluate.h"
#include <stdio.h>

/* The block an origin stands for, and the schedule it belongs to; NULL: an assignment of a transition. */
static const Block *block_of(const Layout *l, uint32_t origin, const Schedule **schedule)
{
    const uint32_t n = l->schedule->blocks.n, n_assignments = l->model->assignments.n;
    *schedule = origin < n ? l->schedule : l->schedule->initial;
    if (origin < n)
        return &l->schedule->blocks.at[origin];
    return origin < n + n_assignments ? NULL : &l->schedule->initial->blocks.at[origin - n - n_assignments];
}

static Span span_of(const Layout *l, uint32_t origin)
{
    const Model *m = l->model;
    const Schedule *schedule;
    const Block *b = block_of(l, origin, &schedule);
    if (!b)
        return m->assignments.at[origin - l->schedule->blocks.n].span;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
    case BLOCK_LINEAR:
    case BLOCK_NEWTON: return m->equations.at[b->equation.index].origin.span;
    case BLOCK_RELATION: return m->relations.at[b->object].origin.span;
    case BLOCK_STEP: return m->steps.at[b->object].origin.span;
    case BLOCK_TRANSITION: return m->transitions.at[b->object].origin.span;
    }
    return SPAN_NONE;
}

static const char *what_failed(const Expr *where)
{
    if (where->kind != EXPR_CALL)
        return "no finite value";
    switch ((Op)where->op) {
    case OP_DIV:
    case OP_IDIV:
    case OP_IMOD: return "division by zero or overflow";
    case OP_SQRT: return "square root of a negative number";
    case OP_LOG:
    case OP_LOG10: return "logarithm of a number that is not positive";
    case OP_ASIN:
    case OP_ACOS: return "argument outside -1 .. 1";
    case OP_POW: return "power that is not defined or too large";
    case OP_EXP: return "overflow";
    default: return "no finite value";
    }
}

static void add_operands(const Layout *l, Text *to, const Expr *where, Term term, const Value *leaves)
{
    enum { MOST = 6 };
    uint32_t shown = 0;
    for (uint32_t k = 0; k < term.shape->n_leaves && shown < MOST; k++) {
        bool used = false;
        for (uint32_t j = 0; j < where->n_args && !used; j++)
            used = where->n_leaves > k; /* every leaf below is shown, in order of number */
        if (!used)
            continue;
        const Ref ref = term_refs(l->model, term)[k];
        const Expr *leaf = expr_leaf(l->model->pool, 0, ref_type(l->model, ref));
        text_add(to, shown++ ? ", " : " with ");
        text_add(to, term_text(l->model, term_make(l->model, leaf, &ref), to->arena));
        text_add(to, " = ");
        if (leaf->type.kind == TYPE_REAL)
            text_real(to, leaves[k].r);
        else
            text_integer(to, leaves[k].i);
    }
}

/* False: the term has a value. */
static bool explain_term(const Layout *l, Term term, const KoineSlot *m, Text *to)
{
    enum { MOST_LEAVES = 256 };
    Value leaves[MOST_LEAVES], operands[2];
    if (!term.shape || term.shape->has_index || term.shape->n_leaves > MOST_LEAVES)
        return false;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        leaves[k].i = m[slot_of(l, term_refs(l->model, term)[k])].i;
    const Expr *where;
    if (!expr_fault(term.shape, leaves, NULL, &where, operands))
        return false;
    text_format(to, "%s: %s", what_failed(where),
                term_text(l->model, term_make(l->model, where, term_refs(l->model, term)), to->arena));
    add_operands(l, to, where, term, leaves);
    return true;
}

static void explain_origin(const Layout *l, uint32_t origin, const KoineSlot *m, Text *to)
{
    const Model *model = l->model;
    const Schedule *schedule;
    const Block *b = block_of(l, origin, &schedule);
    if (!b) {
        const Assignment *a = &model->assignments.at[origin - l->schedule->blocks.n];
        if (!explain_term(l, a->guard, m, to) && !explain_term(l, a->value, m, to))
            text_add(to, "no finite value");
        return;
    }
    bool found = false;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: found = explain_term(l, b->rhs, m, to); break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
        for (uint32_t k = 0; k < b->n_rows && !found; k++) {
            const SystemRow *row = &schedule->rows.at[b->first_row + k];
            found = explain_term(l, row->lhs, m, to) || explain_term(l, row->rhs, m, to);
        }
        break;
    case BLOCK_RELATION: {
        const Relation *r = &model->relations.at[b->object];
        found = explain_term(l, r->left, m, to) || explain_term(l, r->right, m, to);
        break;
    }
    case BLOCK_STEP: found = explain_term(l, model->steps.at[b->object].argument, m, to); break;
    case BLOCK_TRANSITION: break;
    }
    if (!found)
        text_add(to, "no finite value");
    if (b->kind == BLOCK_ASSIGN)
        text_format(to, " (in the equation of %s)", term_text(model, b->lhs, to->arena));
}

/* The first moving block without finite value: evaluation failed somewhere in a part. */
static uint32_t find_origin(const Layout *l, const KoineSlot *m, Text *scratch)
{
    for (uint32_t k = 0; k < l->schedule->blocks.n; k++) {
        const Block *b = &l->schedule->blocks.at[k];
        const size_t before = scratch->n;
        bool found = false;
        if (b->kind == BLOCK_ASSIGN && b->is_moving)
            found = explain_term(l, b->rhs, m, scratch);
        for (uint32_t j = 0; (b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON) && j < b->n_rows && !found; j++) {
            const SystemRow *row = &l->schedule->rows.at[b->first_row + j];
            found = explain_term(l, row->lhs, m, scratch) || explain_term(l, row->rhs, m, scratch);
        }
        scratch->n = before;
        if (found)
            return k;
    }
    return KOINE_NONE;
}

void explain_fault(void *context, KoineModel *model, uint32_t origin)
{
    const Layout *l = context;
    Arena *scratch = arena_create_like(l->arena);
    Text text = { .arena = scratch };
    const KoineSlot *m = (const KoineSlot *)(const void *)model->block;
    if (origin == KOINE_NONE)
        origin = find_origin(l, m, &text);
    const Span span = origin == KOINE_NONE ? SPAN_NONE : span_of(l, origin);
    if (span.source != SOURCE_NONE) {
        const LineColumn at = span_begin(l->model->sources, span);
        text_format(&text, "%s:%u:%u: ", sources_get(l->model->sources, span.source)->path, at.line, at.column);
    }
    if (model->fault.text[0]) /* the machine said what happened, only the place was missing */
        text_add(&text, model->fault.text);
    else if (origin == KOINE_NONE)
        text_add(&text, "a derivative has no finite value");
    else
        explain_origin(l, origin, m, &text);
    snprintf(model->fault.text, sizeof model->fault.text, "%s", text.at ? text.at : "");
    arena_destroy(scratch);
}
