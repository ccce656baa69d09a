/* Values become bindings of parameters and start values of other variables. */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"
#include "lang/dymola/values.h"

/* The values of a matrix, by rows. */
static Term matrix_term(Translation *translation, const Value *value, VarId var)
{
    Pool *pool = translation->load->pool;
    const Extent e = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank;
    const Expr **outer = NEW_ARRAY(translation->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(translation->arena, const Expr *, e.columns);
    for (uint32_t k = 0; k < e.rows; k++) {
        for (uint32_t j = 0; j < e.columns; j++)
            row[j] = expr_real(pool, value->numbers[k * e.columns + j]);
        outer[k] = rank == 1 ? row[0] : expr_array(pool, e.columns, row);
    }
    return term_expr(translation->model, expr_array(pool, e.rows, outer));
}

static Term value_term(Translation *translation, const Value *value, VarId var)
{
    const Type type = model_var(translation->model, var)->type;
    if (value->kind == VALUE_MATRIX)
        return matrix_term(translation, value, var);
    const double number = value->kind == VALUE_NONE ? 0 : value->number;
    return type.kind == TYPE_BOOLEAN ? term_boolean(translation->model, number != 0)
                                     : term_real(translation->model, number);
}

/* Parameters get their values, others their start values; Booleans start as False. */
static void settle(Translation *translation, const ClassVariable *var)
{
    static const uint8_t causalities[] = {
        [KIND_PARAMETER] = CAUSALITY_PARAMETER, [KIND_CONSTANT] = CAUSALITY_LOCAL, [KIND_LOCAL] = CAUSALITY_LOCAL,
        [KIND_TERMINAL] = CAUSALITY_LOCAL,      [KIND_INPUT] = CAUSALITY_INPUT,    [KIND_OUTPUT] = CAUSALITY_OUTPUT
    };
    const Type type = model_var(translation->model, var->var)->type;
    const bool is_given = var->value.kind != VALUE_NONE;
    const bool fits = dym_check_value(translation, &var->value, var->var);
    const Term value = fits ? value_term(translation, &var->value, var->var) : term_real(translation->model, 0);
    Variable *v = model_var(translation->model, var->var);
    v->causality = causalities[var->kind];
    v->variability = type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    if (var->kind == KIND_PARAMETER || var->kind == KIND_CONSTANT) {
        v->variability = var->kind == KIND_PARAMETER ? VARIABILITY_PARAMETER : VARIABILITY_CONSTANT;
        v->definition = DEFINITION_BINDING;
        v->binding = value;
    } else if (is_given || type.kind == TYPE_BOOLEAN || var->kind == KIND_INPUT) {
        v->start = value;
    }
    if (dym_check_nominal(translation, var) && var->nominal.kind != VALUE_NONE)
        model_var(translation->model, var->var)->nominal = term_real(translation->model, var->nominal.number);
}

/* Variables that a cut took over have no values. */
static void settle_taken(Translation *translation)
{
    for (uint32_t k = 0; k < translation->model->variables.n; k++) {
        Variable *v = &translation->model->variables.at[k];
        uint32_t type;
        if (v->owner.index && map_get(&translation->types.of_variable, k, &type))
            v->variability = v->type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    }
}

void dym_lower_values(Translation *translation)
{
    for (uint32_t k = 0; k < translation->variables.all.n; k++)
        settle(translation, &translation->variables.all.at[k]);
    settle_taken(translation);
}

/* ---- parameters of objects ---- */
/* An array follows another element by element. */
static Term parameter_term(Translation *translation, VarId var)
{
    Pool *pool = translation->load->pool;
    const Extent e = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank;
    TermBuilder builder = term_builder(translation->model);
    if (rank == 0)
        return term_ref(translation->model, ref_now(var));
    const Expr **outer = NEW_ARRAY(translation->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(translation->arena, const Expr *, e.columns);
    for (uint32_t k = 0; k < e.rows; k++) {
        for (uint32_t j = 0; j < e.columns; j++) {
            const Expr *const index[] = { expr_integer(pool, k + 1), expr_integer(pool, j + 1) };
            row[j] = term_element(&builder, ref_now(var), rank, index);
        }
        outer[k] = rank == 1 ? row[0] : expr_array(pool, e.columns, row);
    }
    return term_finish(&builder, expr_array(pool, e.rows, outer));
}

static Term binding_term(Translation *translation, const Value *value, VarId var)
{
    uint32_t k;
    if (value->kind == VALUE_VARIABLE && map_get(&translation->variables.names, value->variable.name.index, &k))
        return parameter_term(translation, translation->variables.all.at[k].var);
    return value_term(translation, value, var);
}

static void set_parameters(Translation *translation, const ClassObject *object)
{
    for (uint32_t k = 0; k < object->text->params.n; k++) {
        const ClassVariable *parameter = dym_check_parameter(translation, object, k);
        if (!parameter)
            continue;
        const VarId var = { object->first_var + parameter->var.index };
        const Term binding = binding_term(translation, &object->text->params.at[k].value, var);
        Variable *v = model_var(translation->model, var);
        *(parameter->kind == KIND_PARAMETER ? &v->binding : &v->start) = binding;
    }
}

void dym_lower_parameters(Translation *translation)
{
    for (uint32_t k = 0; k < translation->objects.all.n; k++)
        set_parameters(translation, &translation->objects.all.at[k]);
}
