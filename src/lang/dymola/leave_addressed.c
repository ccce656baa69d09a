/* Cuts that equations of other objects address instead of connecting them. */
#include "lang/dymola/translation.h"

/* Variables that equations of other objects name; `is_set`: alone on the left side. */
static void find_addressed(const Model *model, bool *is_named, bool *is_set)
{
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++) {
                const Ref ref = term_refs(model, sides[s])[j];
                if (var_is_none(ref.var) || model_var(model, ref.var)->owner.index == e->owner.index)
                    continue;
                is_named[ref.var.index] = true;
                is_set[ref.var.index] |= s == 0 && sides[s].shape->kind == EXPR_LEAF;
            }
    }
}

static bool sets_potential(const Model *model, const Port *port, const bool *is_set)
{
    for (uint32_t k = 0; k < port->n_members; k++) {
        const PortMember *member = &model->members.at[port->first_member + k];
        if (member->role == ROLE_POTENTIAL && !var_is_none(member->var) && is_set[member->var.index])
            return true;
    }
    return false;
}

void dym_leave_addressed(Model *model, Arena *arena)
{
    bool *is_named = NEW_ARRAY(arena, bool, model->variables.n + 1),
         *is_set = NEW_ARRAY(arena, bool, model->variables.n + 1),
         *connected = NEW_ARRAY(arena, bool, model->ports.n + 1);
    find_addressed(model, is_named, is_set);
    for (uint32_t k = 0; k < model->connections.n; k++)
        connected[model->connections.at[k].port_a] = connected[model->connections.at[k].port_b] = true;
    for (uint32_t k = 0; k < model->ports.n; k++) {
        const Port *port = &model->ports.at[k];
        const bool is_driven = !connected[k] && sets_potential(model, port, is_set);
        for (uint32_t j = 0; !connected[k] && j < port->n_members; j++) {
            PortMember *member = &model->members.at[port->first_member + j];
            if (member->role == ROLE_FLOW && !var_is_none(member->var) && (is_driven || is_named[member->var.index]))
                member->var = VAR_NONE;
        }
    }
}
