/* find-joints: comparisons on whose borders the equations of both sides agree.
 *
 * An ideal diode is a curve with a corner: off = s < 0; u = if off then s else 0; i = if off then 0 else s. At s = 0
 * both sides say the same, so a solution that lies there has both values of the comparison, and rounding may decide. A
 * comparison of which that is not known (0 = if u <= 0 and not i > 0 then i else u) has to come out as it was taken.
 *
 * Looked at are comparisons inside of systems (S18) of a variable with something else. The equations that contain the
 * result are evaluated with both values of it at some points where the two are equal. */
#include "ir/evaluate.h"
#include "passes/pipeline.h"
#include <math.h>

enum { PROBES = 8, MOST_CARRIERS = 16 };
static const double SAME = 1e-9;

typedef struct {
    Ref ref;
    bool is_negated;
} Carrier;

typedef struct {
    Compile *c;
    const Model *model;
    uint32_t first, end; /* blocks of the group */
    Carrier carriers[MOST_CARRIERS];
    uint32_t n_carriers;
    Ref variable;   /* that is compared */
    Term other;     /* what it is compared with */
    uint32_t probe; /* number of the point */
    bool bit;
} Finder;

static bool same_ref(Ref a, Ref b)
{
    return a.kind == b.kind && a.var.index == b.var.index;
}

static const Carrier *carrier_of(const Finder *f, Ref ref)
{
    for (uint32_t k = 0; k < f->n_carriers; k++)
        if (same_ref(f->carriers[k].ref, ref))
            return &f->carriers[k];
    return NULL;
}

static bool mentions(const Finder *f, Term term)
{
    for (uint32_t k = 0; !term_is_absent(term) && k < term.shape->n_leaves; k++)
        if (carrier_of(f, term_refs(f->model, term)[k]))
            return true;
    return false;
}

/* ---- who says the same as the bit ---- */
static void add_carrier(Finder *f, Term lhs, Term rhs)
{
    const Expr *e = rhs.shape;
    const bool is_negated = e->kind == EXPR_CALL && e->op == OP_NOT;
    e = is_negated ? e->args[0] : e;
    if (e->kind != EXPR_LEAF || lhs.shape->kind != EXPR_LEAF || f->n_carriers == MOST_CARRIERS)
        return;
    const Carrier *from = carrier_of(f, term_refs(f->model, rhs)[e->u.leaf]);
    const Ref to = term_refs(f->model, lhs)[0];
    if (from && !carrier_of(f, to))
        f->carriers[f->n_carriers++] = (Carrier){ to, from->is_negated != is_negated };
}

static void find_carriers(Finder *f, VarId bit)
{
    f->carriers[0] = (Carrier){ ref_now(bit), false };
    f->n_carriers = 1;
    for (uint32_t before = 0; before < f->n_carriers;) {
        before = f->n_carriers;
        for (uint32_t k = f->first; k < f->end; k++) {
            const Block *b = &f->c->schedule->blocks.at[k];
            if (b->kind == BLOCK_ASSIGN && b->u.assign.domain.index == 0)
                add_carrier(f, b->u.assign.lhs, b->u.assign.rhs);
        }
    }
}

/* ---- values at a point ---- */
static uint64_t scrambled(const Finder *f, Ref ref)
{
    return hash_mix(hash_mix(ref.var.index + 1, ref.kind), f->probe + 1);
}

static bool value_at(const Finder *f, Term term, Value *result)
{
    const uint32_t n = term.shape->n_leaves;
    Value *leaves = NEW_ARRAY(f->c->scratch, Value, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Ref ref = term_refs(f->model, term)[k];
        const Carrier *carrier = carrier_of(f, ref);
        const uint64_t h = scrambled(f, ref);
        if (carrier)
            leaves[k].i = f->bit != carrier->is_negated;
        else if (ref.kind != REF_TIME && ref_type(f->model, ref).kind != TYPE_REAL)
            leaves[k].i = (int64_t)(h & 1);
        else if (!same_ref(ref, f->variable))
            leaves[k].r = 0.25 + (double)(h % 1000003) / 1000003;
        else if (!value_at(f, f->other, &leaves[k]))
            return false;
    }
    return expr_evaluate(term.shape, leaves, NULL, result) && value_is_good(term.shape->type, *result);
}

static bool agrees(Finder *f, Term term)
{
    uint32_t n_seen = 0;
    if (!mentions(f, term))
        return true;
    if (term.shape->type.kind != TYPE_REAL)
        return false;
    for (f->probe = 0; f->probe < PROBES; f->probe++) {
        Value sides[2];
        bool has_value = true;
        for (int k = 0; k < 2 && has_value; k++) {
            f->bit = k;
            has_value = value_at(f, term, &sides[k]);
        }
        if (!has_value)
            continue;
        n_seen++;
        if (!(fabs(sides[0].r - sides[1].r) <= SAME * (1 + fabs(sides[0].r) + fabs(sides[1].r))))
            return false;
    }
    return n_seen > PROBES / 2;
}

/* ---- blocks ---- */
static bool block_agrees(Finder *f, const Block *b)
{
    const Schedule *schedule = f->c->schedule;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
        if (b->u.assign.lhs.shape->kind == EXPR_LEAF && carrier_of(f, term_refs(f->model, b->u.assign.lhs)[0]))
            return true;
        return b->u.assign.domain.index == 0 ? agrees(f, b->u.assign.rhs) : !mentions(f, b->u.assign.rhs);
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
        for (uint32_t k = b->u.system.first_row; k < b->u.system.first_row + b->u.system.n_rows; k++)
            if (!agrees(f, schedule->rows.at[k].lhs) || !agrees(f, schedule->rows.at[k].rhs))
                return false;
        return true;
    case BLOCK_RELATION: {
        const Relation *r = &f->model->relations.at[b->u.object];
        return agrees(f, r->left) && agrees(f, r->right);
    }
    case BLOCK_STEP: return agrees(f, f->model->steps.at[b->u.object].argument);
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN:
    case BLOCK_TRANSITION: break;
    }
    return false;
}

static bool is_alone(const Model *m, Term term, Term other)
{
    if (term.shape->kind != EXPR_LEAF || term.shape->type.kind != TYPE_REAL)
        return false;
    for (uint32_t k = 0; k < other.shape->n_leaves; k++)
        if (same_ref(term_refs(m, other)[k], term_refs(m, term)[0]))
            return false;
    return true;
}

static bool is_joint(Finder *f, const Relation *r)
{
    const bool is_left = is_alone(f->model, r->left, r->right);
    if (r->kind != RELATION_STATE || (!is_left && !is_alone(f->model, r->right, r->left)))
        return false;
    f->variable = term_refs(f->model, is_left ? r->left : r->right)[0];
    f->other = is_left ? r->right : r->left;
    find_carriers(f, r->bit);
    for (uint32_t k = f->first; k < f->end; k++)
        if (!block_agrees(f, &f->c->schedule->blocks.at[k]))
            return false;
    return true;
}

bool find_joints(Compile *c)
{
    Finder f = { .c = c, .model = c->model };
    const Schedule *schedule = c->schedule;
    for (uint32_t k = 0; k < schedule->blocks.n; k = f.end) {
        const uint32_t group = schedule->blocks.at[k].mixed;
        f.first = k;
        for (f.end = k + 1; group && f.end < schedule->blocks.n && schedule->blocks.at[f.end].mixed == group; f.end++)
            continue;
        for (uint32_t j = f.first; group && j < f.end; j++) {
            const ArenaMark mark = arena_mark(c->scratch);
            const Block *b = &schedule->blocks.at[j];
            if (b->kind == BLOCK_RELATION)
                c->model->relations.at[b->u.object].is_joint = is_joint(&f, &c->model->relations.at[b->u.object]);
            arena_reset(c->scratch, mark);
        }
    }
    return true;
}
