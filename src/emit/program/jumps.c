/* Equations that were differentiated and may jump, as the machine wants them; see layout.h. */
#include "base/map.h"
#include "emit/program/layout.h"

static bool is_held(const Model *m, Ref ref)
{
    return ref.kind == REF_DER || (ref.kind == REF_NOW && model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS);
}

/* Of the first variable in it that jumps with it. */
static const char *name_of(Layout *l, const Term *sides)
{
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(l->model, sides[side])[k];
            if (is_held(l->model, ref))
                return variable_path(l->model, ref.var, l->arena);
        }
    return "?";
}

void lay_jumps(Layout *l)
{
    const Model *m = l->model;
    KoineJump *jumps = NEW_ARRAY(l->arena, KoineJump, m->jumps.n + 1);
    VEC(uint32_t) held = { 0 };
    Map seen;
    map_init(&seen, l->arena, 16);
    for (uint32_t k = 0; k < m->jumps.n; k++) {
        const Jump *j = &m->jumps.at[k];
        const Term sides[2] = { j->lhs, j->rhs };
        const uint32_t slots[2] = { take_slots(l, 1), take_slots(l, 1) };
        const Piece piece = lay_terms(l, 2, sides, slots);
        l->kernels.at[piece.kernel].is_shared = true;
        jumps[k] = (KoineJump){ .kernel = piece.kernel,
                                .row = piece.row,
                                .left = slots[0],
                                .right = slots[1],
                                .rate = var_is_none(j->rate) ? KOINE_NONE : l->now[j->rate.index],
                                .name = name_of(l, sides) };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t i = 0; i < sides[side].shape->n_leaves; i++) {
                const Ref ref = term_refs(m, sides[side])[i];
                uint32_t ignored;
                if (!is_held(m, ref) || map_get(&seen, slot_of(l, ref), &ignored))
                    continue;
                map_put(&seen, slot_of(l, ref), 1);
                vec_push(l->arena, &held, slot_of(l, ref));
            }
    }
    l->data.jumps = jumps;
    l->data.n_jumps = m->jumps.n;
    l->data.held = held.at;
    l->data.n_held = held.n;
}
