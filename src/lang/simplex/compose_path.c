/* Paths: the quantities of subcomponents that connections, synonyms and initial values name. */
#include "lang/simplex/compose_parts.h"

static void report_unknown(Composer *composer, const Path *path, const Class *class)
{
    const char *name = names_of(composer->scope.names, path->quantity.name);
    REPORT(composer, DIAG_MDL_UNKNOWN_QUANTITY, path->quantity.span, "`%s` has no quantity `%s`",
           names_of(composer->scope.names, path->sub.name), name);
    if (!mdl_is_worth_searching(composer->diag))
        return;
    Nearest nearest = mdl_nearest_to(name);
    for (uint32_t k = 0; k < class->part->variables.n; k++) {
        const Variable *variable = &class->part->variables.at[k];
        if (variable->owner.index == 0 && !variable->is_generated)
            mdl_nearest_offer(&nearest, names_of(composer->scope.names, variable->name));
    }
    mdl_nearest_help(&nearest, composer->diag,
                     "paths are one level deep: an output of a subcomponent's parts needs an OUTPUT "
                     "EQUIVALENCE there");
}

/* Which member of an array of subcomponents; false: reported. */
static bool find_element(Composer *composer, const Path *path, const Sizes *sizes, uint64_t *number)
{
    const char *name = names_of(composer->scope.names, path->sub.name);
    *number = 0;
    if (path->n != sizes->n) {
        if (sizes->n == 0)
            REPORT(composer, DIAG_MDL_INDEX_COUNT, path->sub.span, "`%s` is no array and has no elements", name);
        else
            REPORT(composer, DIAG_MDL_INDEX_COUNT, path->sub.span, "`%s` has %u dimension%s, not %u", name, sizes->n,
                   sizes->n == 1 ? "" : "s", path->n);
        diag_help(composer->diag, sizes->n ? "name one member, as in %s[1]" : "write %s alone", name);
        return false;
    }
    for (uint32_t k = 0; k < path->n; k++) {
        if (path->number[k] < 1 || path->number[k] > sizes->extent[k]) {
            REPORT(composer, DIAG_MDL_INDEX_RANGE, path->index[k]->span, "index %lld of `%s` is outside 1 to %lld",
                   (long long)path->number[k], name, (long long)sizes->extent[k]);
            return false;
        }
        *number = *number * (uint64_t)sizes->extent[k] + (uint64_t)path->number[k] - 1;
    }
    return true;
}

/* The variable of sub.quantity. */
VarId mdl_find_in_sub(Composer *composer, const Path *path)
{
    const uint32_t at =
        mdl_scope_use(&composer->scope, path->sub.name, path->sub.span, DIAG_MDL_UNKNOWN_SUBCOMPONENT, "subcomponent");
    const Symbol *symbol = &composer->scope.list.at[at];
    if (symbol->kind == SYMBOL_UNKNOWN)
        return VAR_NONE;
    if (symbol->kind != SYMBOL_SUB) {
        REPORT(composer, DIAG_MDL_UNKNOWN_SUBCOMPONENT, path->sub.span, "`%s` is not a subcomponent",
               names_of(composer->scope.names, path->sub.name));
        diag_note(composer->diag, symbol->name.span, "declared here");
        return VAR_NONE;
    }
    const Sub *sub = &composer->subs[symbol->object];
    const Class *class = &composer->classes.at[sub->class];
    uint64_t number;
    if (!class->part || !find_element(composer, path, &composer->component->subs.at[symbol->object].sizes, &number))
        return VAR_NONE;
    uint32_t index;
    if (!mdl_map_get_name(&class->quantities, composer->scope.names, composer->arena, path->quantity.name, &index)) {
        report_unknown(composer, path, class);
        return VAR_NONE;
    }
    const Variable *variable = &class->part->variables.at[index];
    if (!name_equal(variable->name, path->quantity.name))
        mdl_report_spelling(&composer->scope, path->quantity.span, (Ident){ variable->name, variable->span });
    return (VarId){ sub->first_var + (uint32_t)number * class->part->variables.n + index };
}

bool mdl_is_input(const Model *model, VarId var)
{
    const Variable *variable = model_var(model, var);
    return variable->definition == DEFINITION_INPUT || variable->causality == CAUSALITY_INPUT;
}

const char *mdl_path_text(Composer *composer, const Path *path)
{
    const char *quantity = names_of(composer->scope.names, path->quantity.name);
    for (uint32_t k = 0; k < path->n_elements; k++)
        quantity = arena_format(composer->arena, "%s%c%lld%s", quantity, k ? ',' : '[',
                                (long long)path->element_number[k], k + 1 == path->n_elements ? "]" : "");
    if (name_is_empty(path->sub.name))
        return quantity;
    const char *sub = names_of(composer->scope.names, path->sub.name);
    for (uint32_t k = 0; k < path->n; k++)
        sub = arena_format(composer->arena, "%s%c%lld%s", sub, k ? ',' : '[', (long long)path->number[k],
                           k + 1 == path->n ? "]" : "");
    return arena_format(composer->arena, "%s.%s", sub, quantity);
}

/* A sensor of a subcomponent, or none: reported. */
VarId mdl_find_sensor(Composer *composer, const Path *path)
{
    const VarId var = mdl_find_in_sub(composer, path);
    if (var_is_none(var) || mdl_is_input(composer->model, var))
        return var_is_none(var) || mdl_check_element(composer, path, var) ? var : VAR_NONE;
    REPORT(composer, DIAG_MDL_NOT_AN_INPUT, path->span, "`%s` is not a sensor or input", mdl_path_text(composer, path));
    diag_note(composer->diag, model_var(composer->model, var)->span, "declared here");
    diag_help(composer->diag, "an arrow points from an output to a sensor");
    return VAR_NONE;
}

/* A constant, state or dependent of a subcomponent, or none: reported. */
VarId mdl_find_output(Composer *composer, const Path *path)
{
    const VarId var = mdl_find_in_sub(composer, path);
    if (var_is_none(var) || !mdl_is_input(composer->model, var))
        return var_is_none(var) || mdl_check_element(composer, path, var) ? var : VAR_NONE;
    REPORT(composer, DIAG_MDL_NOT_AN_OUTPUT, path->span, "`%s` is a sensor, not an output",
           mdl_path_text(composer, path));
    diag_note(composer->diag, model_var(composer->model, var)->span, "declared here");
    diag_help(composer->diag, "outputs are constants, state variables and dependent variables");
    return VAR_NONE;
}
