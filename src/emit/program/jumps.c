/* Equations that were differentiated and may jump, as the machine wants them; see event_layout.h. */
#include "emit/program/event_layout.h"

static bool is_held(const Model *m, Ref ref)
{
    return ref.kind == REF_DER || (ref.kind == REF_NOW && model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS);
}

/* Of the first variable in it that jumps with it. */
static const char *name_of(Kernels *ks, const Term *sides)
{
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = 0; k < sides[side].shape->n_leaves; k++) {
            const Ref ref = term_refs(ks->model, sides[side])[k];
            if (is_held(ks->model, ref))
                return variable_path(ks->model, ref.var, ks->arena);
        }
    return "?";
}

KoineJumps lay_jumps(Kernels *ks)
{
    const Model *m = ks->model;
    KoineJump *jumps = NEW_ARRAY(ks->arena, KoineJump, m->jumps.n + 1);
    VEC(uint32_t) held = { 0 };
    Map seen;
    map_init(&seen, ks->arena, 16);
    for (uint32_t k = 0; k < m->jumps.n; k++) {
        const Jump *j = &m->jumps.at[k];
        const Term sides[2] = { j->lhs, j->rhs };
        const uint32_t slots[2] = { take_slots(ks, 1), take_slots(ks, 1) };
        const Piece piece = lay_terms(ks, 2, sides, slots);
        ks->kernels.at[piece.kernel].is_shared = true;
        jumps[k] = (KoineJump){ .kernel = piece.kernel,
                                .row = piece.row,
                                .left = slots[0],
                                .right = slots[1],
                                .rate = var_is_none(j->rate) ? KOINE_NONE : ks->slots->now[j->rate.index],
                                .name = name_of(ks, sides) };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t i = 0; i < sides[side].shape->n_leaves; i++) {
                const Ref ref = term_refs(m, sides[side])[i];
                uint32_t ignored;
                if (!is_held(m, ref) || map_get(&seen, slot_of(ks->slots, ref), &ignored))
                    continue;
                map_put(&seen, slot_of(ks->slots, ref), 1);
                vec_push(ks->arena, &held, slot_of(ks->slots, ref));
            }
    }
    return (KoineJumps){ .n = m->jumps.n, .n_held = held.n, .at = jumps, .held = held.at };
}
