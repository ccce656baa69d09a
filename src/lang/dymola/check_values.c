/* Values fit the variables that they are given to. */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"
#include "lang/dymola/values.h"

/* Whether all elements of an array can be given one by one. */
static bool check_braces(Translation *translation, Span where, VarId var)
{
    const Extent e = dym_variable_extent(translation, var);
    if (e.rows <= UINT16_MAX && e.columns <= UINT16_MAX)
        return true;
    REPORT(translation, DIAG_DYM_TOO_LARGE, where, "%s cannot have a value for each element",
           dym_extent_text(translation, e));
    diag_help(translation->diag, "at most %d rows can; larger ones have one value for all", UINT16_MAX);
    return false;
}

/* A vector may be given as a row or as a column. */
bool dym_check_value(Translation *translation, const Value *value, VarId var)
{
    const Extent e = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank, rows = value->size.at[0],
                   columns = value->size.at[1];
    if (value->kind != VALUE_MATRIX)
        return true;
    if (rank == 0 && rows == 1 && columns == 1) {
        REPORT(translation, DIAG_DYM_SIZE, value->span, "a value in brackets is given to a single number");
        diag_help(translation->diag, "write the number without brackets");
        return false;
    }
    if (!(rows == e.rows && columns == e.columns) && !(rank == 1 && rows == 1 && columns == e.rows)) {
        REPORT(translation, DIAG_DYM_SIZE, value->span, "%s is given to %s",
               dym_extent_text(translation, (Extent){ rows, columns }), dym_extent_text(translation, e));
        return false;
    }
    return check_braces(translation, value->span, var);
}

bool dym_check_nominal(Translation *translation, const ClassVariable *var)
{
    const bool is_used = var->kind != KIND_PARAMETER && var->kind != KIND_CONSTANT &&
                         model_var(translation->model, var->var)->type.kind == TYPE_REAL;
    if (var->nominal.kind == VALUE_NONE || (is_used && var->nominal.number > 0))
        return true;
    REPORT(translation, DIAG_NOMINAL, var->nominal.span,
           is_used ? "the nominal value of `%s` must be above 0" : "`%s` has no use for a nominal value",
           NAME(translation, var->name));
    diag_help(translation->diag, is_used ? "it is the usual size of the variable, as in x(nominal=1E-9)"
                                         : "variables that are numbers have one");
    return false;
}

/* ---- parameters of objects ---- */
static const ClassVariable *parameter_at(const Translation *translation, uint32_t place)
{
    for (uint32_t k = 0; k < translation->variables.all.n; k++)
        if (translation->variables.all.at[k].kind == KIND_PARAMETER && place-- == 0)
            return &translation->variables.all.at[k];
    return NULL;
}

static const ClassVariable *find_parameter(Translation *translation, const ClassObject *object, const ParamItem *item,
                                           uint32_t place)
{
    const Translation *part = object->translation;
    uint32_t k;
    const ClassVariable *found = NULL;
    if (name_is_empty(item->name.name))
        found = parameter_at(part, place);
    else if (map_get(&part->variables.names, item->name.name.index, &k) &&
             part->variables.all.at[k].kind != KIND_CONSTANT)
        found = &part->variables.all.at[k];
    if (found)
        return found;
    if (name_is_empty(item->name.name))
        REPORT(translation, DIAG_DYM_PARAMETER, item->value.span, "the class of `%s` has no parameter number %u",
               NAME(translation, object->name), place + 1);
    else
        REPORT(translation, DIAG_DYM_PARAMETER, item->name.span, "the class of `%s` has no parameter `%s`",
               NAME(translation, object->name), NAME(translation, item->name));
    diag_help(translation->diag,
              "what the class declares as `parameter` can be set, and start values of its other variables, by name");
    return NULL;
}

/* The object's parameter follows a parameter of the enclosing model. */
static bool check_binding(Translation *translation, const Value *value, VarId parameter)
{
    const Type type = model_var(translation->model, parameter)->type;
    uint32_t k;
    if (!map_get(&translation->variables.names, value->variable.name.index, &k)) {
        REPORT(translation, DIAG_DYM_UNKNOWN_NAME, value->span, "there is no variable `%s`",
               NAME(translation, value->variable));
        diag_help(translation->diag, "a parameter follows a parameter or constant of the enclosing model");
        return false;
    }
    const Variable *outer = model_var(translation->model, translation->variables.all.at[k].var);
    if (outer->variability > VARIABILITY_PARAMETER || !type_equal(outer->type, type) ||
        !extent_equal(dym_variable_extent(translation, translation->variables.all.at[k].var),
                      dym_variable_extent(translation, parameter))) {
        REPORT(translation, DIAG_DYM_PARAMETER, value->span, "`%s` is no parameter of the same type",
               NAME(translation, value->variable));
        diag_help(translation->diag, "a parameter follows a parameter or constant; else declare it as `terminal`");
        return false;
    }
    return outer->type.rank == 0 || check_braces(translation, outer->span, translation->variables.all.at[k].var);
}

static bool check_item(Translation *translation, const ParamItem *item, bool is_start, VarId var)
{
    if (is_start && item->value.kind == VALUE_VARIABLE) {
        REPORT(translation, DIAG_DYM_PARAMETER, item->value.span, "the start value of `%s` must be a number",
               NAME(translation, item->name));
        return false;
    }
    if (item->value.kind == VALUE_VARIABLE)
        return check_binding(translation, &item->value, var);
    if ((item->value.kind == VALUE_BOOLEAN) != (model_var(translation->model, var)->type.kind == TYPE_BOOLEAN)) {
        REPORT(translation, DIAG_DYM_TYPE, item->value.span, "a number and a Boolean do not fit together");
        return false;
    }
    return dym_check_value(translation, &item->value, var);
}

const ClassVariable *dym_check_parameter(Translation *translation, const ClassObject *object, uint32_t item)
{
    const ParamItem *text = &object->text->params.at[item];
    const ClassVariable *parameter = find_parameter(translation, object, text, item);
    if (!parameter)
        return NULL;
    const VarId var = { object->first_var + parameter->var.index };
    return check_item(translation, text, parameter->kind != KIND_PARAMETER, var) ? parameter : NULL;
}
