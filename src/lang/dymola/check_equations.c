/* What equations may say, once names, types and sizes are known. */
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/matrix.h"
#include "lang/dymola/translation.h"

enum {
    MOST_WORK = 10000000 /* products of elements that one product of matrices may have */
};

static bool check_node(Translation *translation, const Node *node)
{
    if (node->kind == NODE_DER) {
        const VarId var = dym_find_variable(translation, node->path, node->n_path);
        if (!var_is_none(var) && model_var(translation->model, var)->variability <= VARIABILITY_PARAMETER) {
            REPORT(translation, DIAG_DYM_DER, node->span, "der of a parameter or constant");
            diag_help(translation->diag, "der takes a variable that changes with time");
            return false;
        }
    }
    for (uint32_t k = 0; k < node->n_args; k++)
        if (!check_node(translation, node->args[k]))
            return false;
    return true;
}

/* ---- sizes of what is written out ---- */
/* Every product below can be written out. */
static bool is_small(Translation *translation, const Node *node)
{
    for (uint32_t k = 0; k < node->n_args && node->kind >= NODE_CALL; k++)
        if (!is_small(translation, node->args[k]))
            return false;
    if (node->kind != NODE_CALL || node->op != OP_MUL)
        return true;
    const Extent a = dym_extent_of(translation, node->args[0]), b = dym_extent_of(translation, node->args[1]);
    if ((uint64_t)a.rows * b.columns <= MOST_WORK / a.columns)
        return true;
    REPORT(translation, DIAG_DYM_TOO_LARGE, node->span, "a product of matrices that is too large to be written out");
    diag_help(translation->diag, "give it a variable of its own");
    return false;
}

/* Products in a node whose elements have a common formula, or that is a scalar, can be written out where they must. */
static bool check_products(Translation *translation, const Node *node)
{
    if (node->kind < NODE_CALL || !translation->has_arrays)
        return true;
    const bool is_written_out = node->kind == NODE_MATRIX || node->kind == NODE_FUNCTION ||
                                (node->kind == NODE_CALL && !dym_is_regular(translation, node));
    if (is_written_out && extent_is_scalar(dym_extent_of(translation, node)) && dym_is_from_matrix(translation, node))
        return is_small(translation, node);
    bool is_good = true;
    for (uint32_t k = 0; k < node->n_args; k++)
        is_good = check_products(translation, node->args[k]) && is_good;
    return is_good;
}

static bool check_both_products(Translation *translation, const EquationText *text)
{
    const bool is_left_good = check_products(translation, text->left);
    return check_products(translation, text->right) && is_left_good;
}

static bool check_array_equation(Translation *translation, const EquationText *text)
{
    if (dym_is_regular(translation, text->left) && dym_is_regular(translation, text->right))
        return check_both_products(translation, text);
    const Extent a = dym_extent_of(translation, text->left), b = dym_extent_of(translation, text->right),
                 e = extent_is_scalar(a) ? b : a;
    if (e.rows * e.columns <= MOST_MADE)
        return is_small(translation, text->left) && is_small(translation, text->right);
    REPORT(translation, DIAG_DYM_TOO_LARGE, text->span, "an equation of more than %d elements, which are written out",
           MOST_MADE);
    diag_help(translation->diag, "without [ ], skew and the like it can be as large as its vectors");
    return false;
}

/* ---- directions ---- */
/* A variable that the equation may define. */
bool dym_is_bare(Translation *translation, const Node *node)
{
    if (node->kind == NODE_VARIABLE && !dym_is_time(translation, node))
        return !dym_is_remembered(translation, dym_find_variable(translation, node->path, node->n_path));
    return node->kind == NODE_NEW;
}

static bool is_boolean(Translation *translation, const Node *node)
{
    switch ((NodeKind)node->kind) {
    case NODE_BOOLEAN: return true;
    case NODE_CALL: return op_is_relation(node->op) || node->op == OP_AND || node->op == OP_OR || node->op == OP_NOT;
    case NODE_IF: return is_boolean(translation, node->args[1]);
    case NODE_FUNCTION:
        return dym_is_literal(translation, node) && is_boolean(translation, node->args[node->n_args - 1]);
    case NODE_VARIABLE:
    case NODE_NEW:
        return !dym_is_time(translation, node) &&
               model_var(translation->model, dym_find_variable(translation, node->path, node->n_path))->type.kind ==
                   TYPE_BOOLEAN;
    default: return false;
    }
}

static bool check_direction(Translation *translation, const EquationText *text)
{
    if (!is_boolean(translation, text->left) || dym_is_bare(translation, text->left) ||
        dym_is_bare(translation, text->right))
        return true;
    REPORT(translation, DIAG_DYM_BOOLEAN_EQUATION, text->span, "this Boolean equation does not say what it defines");
    diag_help(translation->diag, "write the variable alone on one side: a = b and c");
    return false;
}

/* ---- equations ---- */
bool dym_is_of_arrays(Translation *translation, const EquationText *text)
{
    Extent a, b;
    return translation->has_arrays && dym_extent(translation, text->left, &a) &&
           dym_extent(translation, text->right, &b) && !(extent_is_scalar(a) && extent_is_scalar(b));
}

bool dym_check_expression(Translation *translation, const Node *node)
{
    return check_node(translation, node) && check_products(translation, node);
}

bool dym_check_equation(Translation *translation, const EquationText *text)
{
    if (!check_node(translation, text->left) || !check_node(translation, text->right))
        return false;
    if (dym_is_of_arrays(translation, text))
        return check_array_equation(translation, text);
    const bool is_good = check_both_products(translation, text);
    return check_direction(translation, text) && is_good;
}

/* ---- when and init ---- */
bool dym_check_condition(Translation *translation, const Node *condition)
{
    if (!check_node(translation, condition))
        return false;
    if (!dym_has_init(condition))
        return dym_check_expression(translation, condition);
    REPORT(translation, DIAG_DYM_INIT, condition->span, "init in the condition of a when");
    diag_help(translation->diag, "compare the variable itself");
    return false;
}

void dym_check_inits(Translation *translation)
{
    const Model *m = translation->model;
    bool *is_state = NEW_ARRAY(translation->arena, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_DER)
            is_state[m->refs.at[k].var.index] = true;
    for (uint32_t k = 0; k < translation->inits.n; k++) {
        const InitUse use = translation->inits.at[k];
        if (is_state[use.var.index])
            continue;
        REPORT(translation, DIAG_DYM_INIT, use.span, "init of a variable that is not under der");
        diag_help(translation->diag, "what changes at events only is set by new(v) = ..., or by v = ... in a when");
    }
}
