/* Combinations of branches that get a Schedule of their own; see check_branches.h. */
#include "passes/check_branches.h"

enum { MOST_EXCLUDED = 64 };

/* Whether the choices of the present combination can be fixed: then the model has a Schedule for each mode. */
bool branches_have_modes(const Checker *k)
{
    bool has = !k->model->has_task;
    uint32_t n = 0;
    for (uint32_t j = 0; j < k->n_choices && has; j++)
        if (k->choice[j].value != OPEN && ++n)
            has = !var_is_none(k->choice[j].ref.var) && k->choice[j].ref.kind == REF_NOW;
    return has && n;
}

bool branches_ask(Checker *k)
{
    if (!k->c->modes.may_ask || !branches_have_modes(k))
        return false;
    for (uint32_t j = 0; j < k->n_choices; j++)
        if (k->choice[j].value != OPEN)
            vec_push(k->c->arena, &k->c->modes.asked, k->choice[j].ref.var);
    return true;
}

/* The present combination has a Schedule of its own, if one can be made. */
void branches_exclude(Checker *k)
{
    ModeChoices *modes = &k->c->modes;
    if (!modes->may_ask || k->has_more || k->decides_some || modes->excluded_end.n == MOST_EXCLUDED ||
        !branches_have_modes(k))
        return;
    for (uint32_t j = 0; j < k->n_choices; j++) {
        const Choice *choice = &k->choice[j];
        const bool is_selector = ref_type(k->model, choice->ref).kind == TYPE_INTEGER;
        const FixedChoice fixed = { choice->ref.var, choice->value + is_selector };
        vec_push(k->c->arena, &modes->excluded, fixed);
    }
    vec_push(k->c->arena, &modes->excluded_end, modes->excluded.n);
}
