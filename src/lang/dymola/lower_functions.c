/* Functions of the text: statements on scalars, executed in their order. They become functions of the Model; a call is
 * one value to the passes, with exact derivatives. Comparisons in them are no events. */
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/translation.h"

const FunctionText *dym_find_user_function(const Load *load, const Node *node)
{
    uint32_t k;
    if (!load->all || !map_get(&load->all->functions.names, node->path[0].name.index, &k) ||
        k >= load->n_functions_ready)
        return NULL;
    return load->all->functions.all.at[k];
}

/* The same function for all classes that call it. */
static void list_function(Model *model, Function *function)
{
    for (uint32_t k = 0; k < model->functions.n; k++)
        if (model->functions.at[k] == function)
            return;
    vec_push(model->arena, &model->functions, function);
}

const Expr *dym_lower_user_call(Translation *translation, TermBuilder *builder, const Node *node,
                                const FunctionText *function)
{
    const Expr **args = NEW_ARRAY(translation->arena, const Expr *, node->n_args);
    for (uint32_t k = 0; k < node->n_args; k++)
        args[k] = dym_lower_scalar(translation, builder, node->args[k]);
    list_function(translation->model, function->made);
    return expr_function(translation->load->pool, function->made, 0, REAL_TYPE, node->n_args, args);
}

static void add_statement(Translation *translation, FunctionText *function, const EquationText *text, uint32_t *last)
{
    Model *m = translation->model;
    if (!dym_check_statement(translation, function, text))
        return;
    const VarId target = dym_find_variable(translation, text->left->path, 1);
    TermBuilder builder = term_builder(m);
    const Expr *value = expr_no_event(translation->load->pool, dym_lower_scalar(translation, &builder, text->right));
    Statement statement = { .kind = STATEMENT_ASSIGN, .span = text->span };
    statement.value = term_finish(&builder, value);
    statement.target = term_ref(m, ref_now(target));
    if (m->statements.n == 0) {
        const Statement unused = { 0 };
        vec_push(m->arena, &m->statements, unused);
    }
    vec_push(m->arena, &m->statements, statement);
    if (*last)
        m->statements.at[*last].next = m->statements.n - 1;
    else
        function->made->first = m->statements.n - 1;
    *last = m->statements.n - 1;
}

static void lower_function(Load *load, FunctionText *function)
{
    const Class *class = function->class;
    Translation *translation = dym_new_translation(load, class);
    for (uint32_t k = 0; k < class->variables.n; k++)
        dym_declare(translation, &class->variables.at[k]);
    dym_check_function(translation, function);
    if (*translation->errors)
        return;
    dym_check_types(translation);
    dym_check_function_types(translation, function);
    if (*translation->errors)
        return;
    function->made = NEW(load->arena, Function);
    *function->made = (Function){ .name = class->name.name,
                                  .number = pool_count_function(load->pool),
                                  .body = translation->model,
                                  .n_inputs = function->n_inputs,
                                  .n_outputs = 1,
                                  .n_locals = class->variables.n - function->n_inputs - 1,
                                  .is_pure = true,
                                  .span = class->name.span };
    function_begin_with_zero(function->made, function->n_inputs);
    uint32_t last = 0;
    for (uint32_t k = 0; k < class->equations.n; k++)
        add_statement(translation, function, &class->equations.at[k], &last);
}

void dym_lower_functions(Load *load)
{
    for (uint32_t k = 0; k < load->all->functions.all.n; k++) {
        lower_function(load, load->all->functions.all.at[k]);
        load->n_functions_ready = k + 1;
    }
}
