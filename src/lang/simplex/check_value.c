/* Initial values must lie in the value set: spec 2.3 and 2.10. */
#include "base/bug.h"
#include "lang/simplex/check.h"
#include <math.h>

static const double INTEGER_LARGEST = 2e9;

static const Expr *find_enum_value(Scope *scope, Pool *pool, const Value *value, Type type)
{
    const Enumeration *enumeration = pool_get_enumeration(pool, type.enumeration);
    const NameId folded = mdl_fold_name(scope->names, scope->arena, value->name);
    for (uint32_t k = 0; k < enumeration->n; k++) {
        if (!name_equal(mdl_fold_name(scope->names, scope->arena, enumeration->values[k]), folded))
            continue;
        if (!name_equal(enumeration->values[k], value->name))
            mdl_report_spelling(scope, value->span, (Ident){ enumeration->values[k], SPAN_NONE });
        return expr_enum(pool, type.enumeration, k + 1);
    }
    return NULL;
}

static const Expr *find_value(Scope *scope, Pool *pool, const Value *value, Type type)
{
    const bool is_number = value->kind == VALUE_NUMBER;
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return is_number ? expr_real(pool, value->number) : NULL;
    case TYPE_INTEGER:
        if (!is_number || floor(value->number) != value->number || fabs(value->number) > INTEGER_LARGEST)
            return NULL;
        return expr_integer(pool, (int64_t)value->number);
    case TYPE_BOOLEAN: return value->kind == VALUE_LOGICAL ? expr_boolean(pool, value->truth) : NULL;
    case TYPE_ENUM: return value->kind == VALUE_NAME ? find_enum_value(scope, pool, value, type) : NULL;
    case TYPE_STRING:
    case TYPE_OBJECT: return NULL;
    }
    BUG("unknown TypeKind");
}

static void help_enum(Scope *scope, const Pool *pool, const Value *value, Type type)
{
    const Enumeration *enumeration = pool_get_enumeration(pool, type.enumeration);
    const char *first = names_of(scope->names, enumeration->values[0]);
    const char *last = names_of(scope->names, enumeration->values[enumeration->n - 1]);
    Nearest nearest = mdl_nearest_to(value->kind == VALUE_NAME ? names_of(scope->names, value->name) : "");
    if (value->kind == VALUE_NAME && mdl_is_worth_searching(scope->diag))
        for (uint32_t k = 0; k < enumeration->n; k++)
            mdl_nearest_offer(&nearest, names_of(scope->names, enumeration->values[k]));
    mdl_nearest_help(&nearest, scope->diag, arena_format(scope->arena, "its values go from `%s` to `%s`", first, last));
}

const Expr *mdl_check_value(Scope *scope, Pool *pool, const Value *value, Type type, NameId name)
{
    const Expr *found = find_value(scope, pool, value, type);
    if (found)
        return found;
    if (type.kind == TYPE_INTEGER && value->kind == VALUE_NUMBER && floor(value->number) == value->number) {
        REPORT(scope, DIAG_NUMBER_RANGE, value->span, "this number is too large for the INTEGER `%s`",
               names_of(scope->names, name));
        diag_help(scope->diag, "INTEGER goes from -2E+9 to 2E+9");
        return NULL;
    }
    REPORT(scope, DIAG_MDL_VALUE_NOT_IN_SET, value->span, "this is no value of `%s`, which is of %s",
           names_of(scope->names, name), mdl_set_text(pool, type, scope->arena));
    if (type.kind == TYPE_ENUM)
        help_enum(scope, pool, value, type);
    else
        diag_help(scope->diag, "%s",
                  type.kind == TYPE_REAL      ? "write a number"
                  : type.kind == TYPE_INTEGER ? "write a number without fraction"
                  : type.kind == TYPE_BOOLEAN ? "write TRUE or FALSE"
                                              : "it cannot be initialised here");
    return NULL;
}
