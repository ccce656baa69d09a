/* See chatter.h. Backwards from the sides of a comparison to the states they depend on, and from the derivatives of
 * these to the comparisons these depend on. Bits and states end the way; what transitions assign takes effect at events
 * only. */
#include "explain/chatter.h"

enum { MOST_VISITS = 20000000 }; /* of all comparisons together */

typedef struct {
    const Schedule *schedule;
    const Model *model;
    uint32_t *now, *der;           /* per variable: 1 + block that computes it, or 0 */
    uint32_t *seen_now, *seen_der; /* per variable: round in which it was met */
    uint32_t round;
    uint64_t visits;
    VEC(Ref) waiting;
    Arena *arena;
} Walk;

static void define(Walk *w, Ref ref, uint32_t block)
{
    (ref.kind == REF_DER ? w->der : w->now)[ref.var.index] = block + 1;
}

static void list_definitions(Walk *w)
{
    const Schedule *s = w->schedule;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN)
            define(w, term_refs(w->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf], k);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++)
            define(w, s->rows.at[block_rows(b).first_row + j].unknown, k);
    }
}

static void meet(Walk *w, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(w->model, term)[k];
        if (ref.kind != REF_NOW && ref.kind != REF_DER)
            continue;
        const Holders holders = ref_holders(w->model, ref);
        for (uint32_t j = 0; j < holders.n; j++) {
            const Ref own = { { holders.first + j }, ref.kind };
            uint32_t *seen = &(ref.kind == REF_DER ? w->seen_der : w->seen_now)[own.var.index];
            w->visits++;
            if (*seen == w->round)
                continue;
            *seen = w->round;
            vec_push(w->arena, &w->waiting, own);
        }
    }
}

/* Everything that the terms waiting depend on in one moment. */
static void walk_back(Walk *w)
{
    const Schedule *s = w->schedule;
    for (uint32_t k = 0; k < w->waiting.n && w->visits < MOST_VISITS; k++) {
        const Ref ref = w->waiting.at[k];
        const uint32_t block = (ref.kind == REF_DER ? w->der : w->now)[ref.var.index];
        if (!block)
            continue;
        const Block *b = &s->blocks.at[block - 1];
        if (b->kind == BLOCK_ASSIGN)
            meet(w, b->u.assign.rhs);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            meet(w, s->rows.at[block_rows(b).first_row + j].lhs);
            meet(w, s->rows.at[block_rows(b).first_row + j].rhs);
        }
    }
}

static bool is_state(const Walk *w, Ref ref)
{
    return ref.kind == REF_NOW && model_var(w->model, ref.var)->definition == DEFINITION_DER;
}

/* The bit is met on the way back from the derivatives of the states. */
static bool are_moved_by(Walk *w, const Ref *states, uint32_t n, VarId bit)
{
    w->round++;
    w->waiting.n = 0;
    for (uint32_t k = 0; k < n; k++) {
        const Ref slope = { states[k].var, REF_DER };
        w->seen_der[slope.var.index] = w->round;
        vec_push(w->arena, &w->waiting, slope);
    }
    walk_back(w);
    return w->seen_now[bit.index] == w->round;
}

static ChatterOf look_at(Walk *w, const Relation *r)
{
    ChatterOf found = { CHATTER_NO, ref_now(VAR_NONE) };
    VEC(Ref) states = { 0 };
    if (r->kind != RELATION_STATE)
        return found;
    w->round++;
    w->waiting.n = 0;
    meet(w, r->left);
    meet(w, r->right);
    walk_back(w);
    for (uint32_t k = 0; k < w->waiting.n; k++)
        if (is_state(w, w->waiting.at[k]))
            vec_push(w->arena, &states, w->waiting.at[k]);
    if (are_moved_by(w, states.at, states.n, r->bit))
        found = (ChatterOf){ CHATTER_POSSIBLE, states.at[0] };
    for (uint32_t k = 0; found.verdict == CHATTER_POSSIBLE && k < states.n; k++)
        if (are_moved_by(w, &states.at[k], 1, r->bit)) {
            found.through = states.at[k];
            break;
        }
    if (found.verdict == CHATTER_NO && w->visits >= MOST_VISITS)
        found.verdict = CHATTER_UNKNOWN;
    return found;
}

ChatterOf *find_chatter(const Schedule *schedule, Arena *arena)
{
    const Model *m = schedule->model;
    const uint32_t n = m->variables.n;
    ChatterOf *found = NEW_ARRAY(arena, ChatterOf, m->relations.n + 1);
    Arena *scratch = arena_create_like(arena);
    Walk w = { .schedule = schedule,
               .model = m,
               .now = NEW_ARRAY(scratch, uint32_t, n + 1),
               .der = NEW_ARRAY(scratch, uint32_t, n + 1),
               .seen_now = NEW_ARRAY(scratch, uint32_t, n + 1),
               .seen_der = NEW_ARRAY(scratch, uint32_t, n + 1),
               .arena = scratch };
    list_definitions(&w);
    for (uint32_t k = 0; k < m->relations.n; k++)
        found[k] = look_at(&w, &m->relations.at[k]);
    arena_destroy(scratch);
    return found;
}
