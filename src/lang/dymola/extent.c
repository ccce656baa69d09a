/* Rows and columns of variables, and the functions that make matrices; see extent.h. */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

Extent dym_variable_extent(const Translation *translation, VarId var)
{
    const Model *m = translation->model;
    const Variable *v = model_var(m, var);
    Extent e = { 1, 1 };
    uint32_t *const sizes[] = { &e.rows, &e.columns };
    for (uint32_t k = 0; k < v->type.rank; k++)
        *sizes[k] = (uint32_t)m->dims.at[v->first_dim + k].term.shape->u.integer;
    return e;
}

void dym_set_size(Translation *translation, VarId var, const Size *size)
{
    Term dims[DIMS_MOST];
    for (uint32_t k = 0; k < size->n; k++)
        dims[k] = term_integer(translation->model, size->at[k]);
    if (size->n)
        model_set_dims(translation->model, var, size->n, dims);
}

void dym_copy_size(Translation *translation, VarId from, VarId to)
{
    const Variable v = *model_var(translation->model, from);
    Term dims[DIMS_MOST];
    for (uint32_t k = 0; k < v.type.rank; k++)
        dims[k] = translation->model->dims.at[v.first_dim + k].term;
    if (v.type.rank)
        model_set_dims(translation->model, to, v.type.rank, dims);
}

const char *dym_extent_text(Translation *translation, Extent e)
{
    return extent_is_scalar(e) ? "a scalar"
           : e.columns == 1    ? arena_format(translation->arena, "a vector of %u", e.rows)
                               : arena_format(translation->arena, "a matrix of %u x %u", e.rows, e.columns);
}

MatrixFunction dym_matrix_function(const Translation *translation, const Node *node)
{
    static const char *const names[] = { "", "cross", "diag", "eye", "skew", "zero" };
    for (uint32_t k = 1; node->kind == NODE_FUNCTION && k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], NAME(translation, node->path[0])) == 0)
            return (MatrixFunction)k;
    return MATRIX_NONE;
}
