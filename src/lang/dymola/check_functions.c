/* Calls of functions, and the bodies of those of the text. */
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/translation.h"
#include <math.h>

/* ---- calls ---- */
/* smooth(p, e): p is a number. */
static bool check_literal(Translation *translation, const Node *node, const char *name, uint32_t n_args)
{
    if (node->n_args != n_args) {
        REPORT(translation, DIAG_DYM_FUNCTION, node->span, "`%s` has %u argument%s, not %u", name, n_args,
               n_args == 1 ? "" : "s", node->n_args);
        return false;
    }
    const Node *order = node->args[0];
    if (n_args == 1 || (order->kind == NODE_NUMBER && order->number >= 0 && order->number == floor(order->number)))
        return true;
    REPORT(translation, DIAG_DYM_FUNCTION, order->span,
           "`smooth` wants a whole number here: how often is it differentiable");
    diag_help(translation->diag, "smooth(1, if x > 0 then x*x else 0) has a continuous first derivative");
    return false;
}

bool dym_check_call(Translation *translation, const Node *node)
{
    if (dym_is_literal(translation, node)) {
        const char *name = NAME(translation, node->path[0]);
        return check_literal(translation, node, name, name[0] == 'n' ? 1 : 2);
    }
    const FunctionText *function = dym_find_user_function(translation->load, node);
    if (!function)
        return dym_find_function(translation, node) != NULL;
    if (function->n_inputs == node->n_args)
        return true;
    REPORT(translation, DIAG_DYM_FUNCTION, node->span, "`%s` has %u argument%s, not %u",
           NAME(translation, node->path[0]), function->n_inputs, function->n_inputs == 1 ? "" : "s", node->n_args);
    diag_note(translation->diag, function->class->name.span, "it is defined here");
    return false;
}

/* ---- bodies ---- */
/* What equations may say and statements may not. */
static bool check_value(Translation *translation, const Node *node)
{
    const bool is_operator = node->kind == NODE_DER || node->kind == NODE_NEW || node->kind == NODE_INIT;
    if (is_operator || dym_is_time(translation, node)) {
        REPORT(translation, DIAG_DYM_FUNCTION_BODY, node->span, "a function knows its arguments only");
        diag_help(translation->diag, "give it Time, or the value of a derivative, as an argument");
        return false;
    }
    for (uint32_t k = 0; k < node->n_args; k++)
        if (!check_value(translation, node->args[k]))
            return false;
    return true;
}

bool dym_check_statement(Translation *translation, const FunctionText *function, const EquationText *text)
{
    Extent e;
    if (text->left->kind != NODE_VARIABLE || text->left->n_path != 1 || text->left->n_args) {
        REPORT(translation, DIAG_DYM_FUNCTION_BODY, text->left->span, "a statement assigns a value to a variable");
        diag_help(translation->diag, "write the variable alone on the left: y = x*x");
        return false;
    }
    const VarId target = dym_find_variable(translation, text->left->path, 1);
    if (var_is_none(target) || !check_value(translation, text->right) || !dym_extent(translation, text->right, &e))
        return false;
    if (target.index < function->n_inputs) {
        REPORT(translation, DIAG_DYM_FUNCTION_BODY, text->left->span, "an argument is not assigned to");
        diag_help(translation->diag, "declare a variable of its own with `local`");
        return false;
    }
    return dym_check_expression(translation, text->right);
}

static bool is_assigned(const FunctionText *function)
{
    for (uint32_t k = 0; k < function->class->equations.n; k++) {
        const Node *left = function->class->equations.at[k].left;
        if (left->kind == NODE_VARIABLE && left->n_path == 1 &&
            name_equal(left->path[0].name, function->class->name.name))
            return true;
    }
    return false;
}

void dym_check_function(Translation *translation, const FunctionText *function)
{
    const Class *class = function->class;
    for (uint32_t k = 0; k < class->variables.n; k++)
        if (class->variables.at[k].size.n) {
            REPORT(translation, DIAG_DYM_FUNCTION_BODY, class->variables.at[k].name.span,
                   "functions have scalars only");
            diag_help(translation->diag, "give it the elements as arguments");
        }
    if (!is_assigned(function)) {
        REPORT(translation, DIAG_DYM_FUNCTION_BODY, class->name.span, "the function gives no value");
        diag_help(translation->diag, "a statement assigns it to the name of the function: %s = ...",
                  NAME(translation, class->name));
    }
}

void dym_check_function_types(Translation *translation, const FunctionText *function)
{
    for (uint32_t k = 0; k <= function->n_inputs && !*translation->errors; k++)
        if (model_var(translation->model, translation->variables.all.at[k].var)->type.kind != TYPE_REAL)
            REPORT(translation, DIAG_DYM_TYPE, translation->variables.all.at[k].name.span,
                   "arguments and value of a function are numbers");
}
