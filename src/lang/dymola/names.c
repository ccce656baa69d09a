/* Names of variables: own ones, those of objects, those of cuts that took their variables over. */
#include "lang/dymola/translation.h"

bool dym_is_time(const Translation *translation, const Node *node)
{
    return node->kind == NODE_VARIABLE && node->n_path == 1 && strcmp(NAME(translation, node->path[0]), "Time") == 0;
}

static VarId unknown(Translation *translation, const Ident *path, uint32_t n, const char *what)
{
    REPORT(translation, DIAG_DYM_UNKNOWN_NAME, path[n].span, "there is no %s `%s`", what, NAME(translation, path[n]));
    diag_help(translation->diag, "every variable is declared, or stands in a cut; only Time is known without");
    return VAR_NONE;
}

/* Finds a variable of the class itself, not of its objects. */
static bool find_own(const Translation *translation, Ident name, const ClassVariable **found)
{
    uint32_t k;
    if (!map_get(&translation->variables.names, name.name.index, &k))
        return false;
    *found = &translation->variables.all.at[k];
    return true;
}

static bool find_in_cut(const Translation *translation, const Ident *path, VarId *var)
{
    uint32_t k, member;
    if (!map_get(&translation->cuts.names, path[0].name.index, &k) || !translation->cuts.all.at[k].has_members ||
        !map_get(&translation->cuts.all.at[k].members, path[1].name.index, &member))
        return false;
    *var = (VarId){ member };
    return true;
}

VarId dym_find_variable(Translation *translation, const Ident *path, uint32_t n)
{
    const Translation *in = translation;
    uint32_t first_var = 0;
    for (uint32_t k = 0;; k++) {
        const ClassVariable *own;
        uint32_t index;
        VarId var;
        if (k + 1 == n) {
            if (!find_own(in, path[k], &own))
                return unknown(translation, path, k, "variable");
            if (in != translation && translation->load->is_strict && own->kind == KIND_LOCAL)
                REPORT(translation, DIAG_DYM_ACCESS, path[k].span, "`%s` is local to its class",
                       NAME(translation, path[k]));
            return (VarId){ first_var + own->var.index };
        }
        if (k + 2 == n && find_in_cut(in, path + k, &var))
            return (VarId){ first_var + var.index };
        if (!map_get(&in->objects.names, path[k].name.index, &index))
            return unknown(translation, path, k, "object");
        first_var += in->objects.all.at[index].first_var;
        in = in->objects.all.at[index].translation;
    }
}
