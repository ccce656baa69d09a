/* Names of variables: own ones, those of objects, those of cuts that took their variables over. */
#include "lang/dymola/unit.h"

bool dym_is_time(const Unit *unit, const Node *node)
{
    return node->kind == NODE_VARIABLE && node->n_path == 1 && strcmp(NAME(unit, node->path[0]), "Time") == 0;
}

static VarId unknown(Unit *unit, const Ident *path, uint32_t n, const char *what)
{
    REPORT(unit, DIAG_DYM_UNKNOWN_NAME, path[n].span, "there is no %s `%s`", what, NAME(unit, path[n]));
    diag_help(unit->diag, "every variable is declared, or stands in a cut; only Time is known without");
    return VAR_NONE;
}

/* Of the unit's Model; variables of the class itself, not of objects. */
static bool find_own(const Unit *unit, Ident name, const UnitVar **found)
{
    uint32_t k;
    if (!map_get(&unit->var_names, name.name.index, &k))
        return false;
    *found = &unit->vars.at[k];
    return true;
}

static bool find_in_cut(const Unit *unit, const Ident *path, VarId *var)
{
    uint32_t k, member;
    if (!map_get(&unit->cut_names, path[0].name.index, &k) || !unit->cuts.at[k].has_members ||
        !map_get(&unit->cuts.at[k].members, path[1].name.index, &member))
        return false;
    *var = (VarId){ member };
    return true;
}

VarId dym_find_variable(Unit *unit, const Ident *path, uint32_t n)
{
    const Unit *in = unit;
    uint32_t first_var = 0;
    for (uint32_t k = 0;; k++) {
        const UnitVar *own;
        uint32_t index;
        VarId var;
        if (k + 1 == n) {
            if (!find_own(in, path[k], &own))
                return unknown(unit, path, k, "variable");
            if (in != unit && unit->load->is_strict && own->kind == KIND_LOCAL)
                REPORT(unit, DIAG_DYM_ACCESS, path[k].span, "`%s` is local to its class", NAME(unit, path[k]));
            return (VarId){ first_var + own->var.index };
        }
        if (k + 2 == n && find_in_cut(in, path + k, &var))
            return (VarId){ first_var + var.index };
        if (!map_get(&in->object_names, path[k].name.index, &index))
            return unknown(unit, path, k, "object");
        first_var += in->objects.at[index].first_var;
        in = in->objects.at[index].unit;
    }
}
