/* Elements of arrays in connections, output equivalences and initial values; see compose.h. */
#include "lang/simplex/compose_parts.h"
#include "lang/simplex/lower.h"

int64_t mdl_extent(const Model *model, const Variable *variable, uint32_t k)
{
    const Term term = model->dims.at[variable->first_dim + k].term;
    return term.shape && term.shape->kind == EXPR_INTEGER ? term.shape->u.integer : 0;
}

static uint64_t count_of(const Model *model, const Variable *variable)
{
    uint64_t count = 1;
    for (uint32_t k = 0; k < variable->type.rank; k++)
        count *= (uint64_t)mdl_extent(model, variable, k);
    return count;
}

/* Whether the path names an element that is there, or no element; false: reported. */
bool mdl_check_element(Composer *composer, const Path *path, VarId var)
{
    const Variable *variable = model_var(composer->model, var);
    if (path->n_elements == 0)
        return true;
    if (path->n_elements != variable->type.rank) {
        REPORT(composer, DIAG_MDL_INDEX_COUNT, path->span, "`%s` has %u dimensions, not %u",
               names_of(composer->scope.names, path->quantity.name), variable->type.rank, path->n_elements);
        diag_note(composer->diag, variable->span, "declared here");
        return false;
    }
    for (uint32_t k = 0; k < path->n_elements; k++)
        if (path->element_number[k] < 1 || path->element_number[k] > mdl_extent(composer->model, variable, k)) {
            REPORT(composer, DIAG_MDL_INDEX_RANGE, path->element[k]->span, "index %lld of `%s` is outside 1 to %lld",
                   (long long)path->element_number[k], names_of(composer->scope.names, path->quantity.name),
                   (long long)mdl_extent(composer->model, variable, k));
            return false;
        }
    return true;
}

Type mdl_path_type(const Composer *composer, const Path *path, VarId var)
{
    Type type = model_var(composer->model, var)->type;
    if (path->n_elements)
        type.rank = 0;
    return type;
}

/* Row-major, from 0. */
uint64_t mdl_element_number(const Composer *composer, const Path *path, VarId var)
{
    const Variable *variable = model_var(composer->model, var);
    uint64_t number = 0;
    for (uint32_t k = 0; k < path->n_elements; k++)
        number = number * (uint64_t)mdl_extent(composer->model, variable, k) + (uint64_t)path->element_number[k] - 1;
    return number;
}

const Expr *mdl_element_expr(Composer *composer, TermBuilder *builder, VarId var, uint64_t number)
{
    const Variable *variable = model_var(composer->model, var);
    const uint32_t rank = variable->type.rank;
    const Expr **index = NEW_ARRAY(composer->arena, const Expr *, rank);
    for (uint32_t k = rank; k-- > 0;) {
        const uint64_t extent = (uint64_t)mdl_extent(composer->model, variable, k);
        index[k] = expr_integer(composer->pool, (int64_t)(number % extent) + 1);
        number /= extent;
    }
    return term_element(builder, ref_now(var), rank, index);
}

Filled *mdl_filled_array(Composer *composer, VarId var)
{
    for (uint32_t k = 0; k < composer->filled.n; k++)
        if (composer->filled.at[k].var.index == var.index)
            return &composer->filled.at[k];
    const uint64_t count = count_of(composer->model, model_var(composer->model, var));
    const Filled filled = { var, count, NEW_ARRAY(composer->arena, uint32_t, count) };
    vec_push(composer->arena, &composer->filled, filled);
    return &composer->filled.at[composer->filled.n - 1];
}

void mdl_define(Composer *composer, VarId var, Term left, Term right, Span span)
{
    Model *model = composer->model;
    const EqId id = model_add_equation(model, EQUATION_EXPLICIT, left, right, span);
    model->equations.at[id.index].owner = model_var(model, var)->owner;
    model_var(model, var)->definition = DEFINITION_NOW;
}

/* Elements that nobody connects keep their initial value. */
void mdl_fill_elements(Composer *composer)
{
    Model *model = composer->model;
    for (uint32_t k = 0; k < composer->filled.n; k++) {
        const Filled *filled = &composer->filled.at[k];
        const Variable variable = *model_var(model, filled->var);
        Type type = variable.type;
        type.rank = 0;
        for (uint64_t number = 0; number < filled->count; number++) {
            if (filled->rows[number])
                continue;
            const Expr *start = variable.start.shape ? expr_array_element(variable.start.shape, number)
                                                     : mdl_default_value(model->pool, type);
            TermBuilder builder = term_builder(model);
            const Term left = term_finish(&builder, mdl_element_expr(composer, &builder, filled->var, number));
            mdl_define(composer, filled->var, left, term_expr(model, start), variable.span);
        }
    }
}

/* The values of all elements, with another one for this. NULL: reported. */
const Expr *mdl_replace_element(Composer *composer, const Path *path, VarId var, const Expr *value)
{
    const Variable *variable = model_var(composer->model, var);
    const Term before = variable->variability <= VARIABILITY_PARAMETER ? variable->binding : variable->start;
    const uint64_t n = count_of(composer->model, variable), number = mdl_element_number(composer, path, var);
    Type type = variable->type;
    type.rank = 0;
    if (n > UINT16_MAX) {
        REPORT(composer, DIAG_MDL_TOO_MANY, path->span, "`%s` has too many elements for values of their own",
               names_of(composer->scope.names, path->quantity.name));
        diag_help(composer->diag, "at most %u elements have values of their own", UINT16_MAX);
        return NULL;
    }
    const Expr **row = NEW_ARRAY(composer->arena, const Expr *, n);
    for (uint64_t k = 0; k < n; k++)
        row[k] = k == number    ? value
                 : before.shape ? expr_array_element(before.shape, k)
                                : mdl_default_value(composer->pool, type);
    uint64_t left = n;
    for (uint32_t k = variable->type.rank; k-- > 0;) {
        const uint32_t extent = (uint32_t)mdl_extent(composer->model, variable, k);
        left /= extent;
        for (uint64_t j = 0; j < left; j++)
            row[j] = expr_array(composer->pool, extent, row + j * extent);
    }
    return row[0];
}
