/* Equations and expressions. */
#include "lang/dymola/unit.h"

static const FunctionRow functions[] = {
    { "abs", OP_ABS, 1 },       { "arccos", OP_ACOS, 1 }, { "arcsin", OP_ASIN, 1 }, { "arctan", OP_ATAN, 1 },
    { "arctan2", OP_ATAN2, 2 }, { "cos", OP_COS, 1 },     { "cosh", OP_COSH, 1 },   { "exp", OP_EXP, 1 },
    { "int", OP_TRUNC, 1 },     { "ln", OP_LOG, 1 },      { "log10", OP_LOG10, 1 }, { "max", OP_MAX, 2 },
    { "min", OP_MIN, 2 },       { "sign", OP_SIGN, 1 },   { "sin", OP_SIN, 1 },     { "sinh", OP_SINH, 1 },
    { "sqrt", OP_SQRT, 1 },     { "tan", OP_TAN, 1 },     { "tanh", OP_TANH, 1 },
};

const FunctionRow *dym_find_function(Unit *unit, const Node *node)
{
    const char *name = NAME(unit, node->path[0]);
    for (uint32_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (strcmp(functions[k].name, name) != 0)
            continue;
        if (functions[k].arity == node->n_args)
            return &functions[k];
        REPORT(unit, DIAG_DYM_FUNCTION, node->span, "`%s` has %u argument%s, not %u", name, functions[k].arity,
               functions[k].arity == 1 ? "" : "s", node->n_args);
        return NULL;
    }
    REPORT(unit, DIAG_DYM_FUNCTION, node->path[0].span, "there is no function `%s`", name);
    diag_help(unit->diag, "known are abs, arccos, arcsin, arctan, arctan2, cos, cosh, exp, int, ln, log10, max, min, "
                          "sign, sin, sinh, sqrt, tan, tanh");
    return NULL;
}

static const Expr *lower(Unit *unit, TermBuilder *builder, const Node *node);

static const Expr *lower_call(Unit *unit, TermBuilder *builder, const Node *node, Op op)
{
    const Expr *args[2];
    for (uint32_t k = 0; k < node->n_args; k++)
        args[k] = lower(unit, builder, node->args[k]);
    return expr_call(unit->load->pool, op, node->n_args, args);
}

/* A variable under der starts at its value, or at 0 unless something else says where. */
static Ref derivative(Unit *unit, VarId var)
{
    Variable *v = model_var(unit->model, var);
    v->is_fixed = !term_is_absent(v->start);
    return ref_der(var);
}

static const Expr *lower(Unit *unit, TermBuilder *builder, const Node *node)
{
    Pool *pool = unit->load->pool;
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: return expr_real(pool, node->number);
    case NODE_BOOLEAN: return expr_boolean(pool, node->number != 0);
    case NODE_CALL: return lower_call(unit, builder, node, node->op);
    case NODE_FUNCTION: return lower_call(unit, builder, node, dym_find_function(unit, node)->op);
    case NODE_IF: {
        const Expr *condition = lower(unit, builder, node->args[0]), *then = lower(unit, builder, node->args[1]);
        return expr_if(pool, condition, then, lower(unit, builder, node->args[2]));
    }
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: break;
    }
    if (dym_is_time(unit, node))
        return term_leaf(builder, ref_time());
    const VarId var = dym_find_variable(unit, node->path, node->n_path);
    if (node->kind == NODE_DER)
        return term_leaf(builder, derivative(unit, var));
    const bool is_before = node->kind == NODE_VARIABLE && dym_is_remembered(unit, var);
    return term_leaf(builder, is_before ? ref_pre(var) : ref_now(var));
}

static Term lower_term(Unit *unit, const Node *node)
{
    TermBuilder builder = term_builder(unit->model);
    const Expr *shape = lower(unit, &builder, node);
    return term_finish(&builder, shape);
}

/* ---- what cannot be executed yet ---- */
static bool check_node(Unit *unit, const Node *node)
{
    if (node->kind == NODE_INIT) {
        REPORT(unit, DIAG_DYM_NOT_YET, node->span, "`init` is not executed yet");
        return false;
    }
    if (node->kind == NODE_DER) {
        const VarId var = dym_find_variable(unit, node->path, node->n_path);
        if (!var_is_none(var) && model_var(unit->model, var)->variability <= VARIABILITY_PARAMETER) {
            REPORT(unit, DIAG_DYM_DER, node->span, "der of a parameter or constant");
            diag_help(unit->diag, "der takes a variable that changes with time");
            return false;
        }
    }
    for (uint32_t k = 0; k < node->n_args; k++)
        if (!check_node(unit, node->args[k]))
            return false;
    return true;
}

/* A variable that the equation may define. */
static bool is_bare(Unit *unit, const Node *node)
{
    if (node->kind == NODE_VARIABLE && !dym_is_time(unit, node))
        return !dym_is_remembered(unit, dym_find_variable(unit, node->path, node->n_path));
    return node->kind == NODE_NEW;
}

/* An equation between Booleans has a direction: the variable alone on one side is what it defines. */
static void lower_equation(Unit *unit, const EquationText *text)
{
    Model *model = unit->model;
    if (!check_node(unit, text->left) || !check_node(unit, text->right))
        return;
    Term left = lower_term(unit, text->left), right = lower_term(unit, text->right);
    EquationKind kind = EQUATION_RESIDUAL;
    if (left.shape->type.kind == TYPE_BOOLEAN && !(is_bare(unit, text->left) && is_bare(unit, text->right))) {
        kind = EQUATION_EXPLICIT;
        if (!is_bare(unit, text->left)) {
            const Term t = left;
            left = right;
            right = t;
            if (!is_bare(unit, text->right)) {
                REPORT(unit, DIAG_DYM_BOOLEAN_EQUATION, text->span,
                       "this Boolean equation does not say what it defines");
                diag_help(unit->diag, "write the variable alone on one side: a = b and c");
                return;
            }
        }
    }
    model_add_equation(model, kind, left, right, text->span);
}

void dym_lower_equations(Unit *unit)
{
    for (uint32_t c = 0; c < unit->chain.n; c++) {
        const Class *class = unit->chain.at[c];
        for (uint32_t k = 0; k < class->equations.n; k++)
            lower_equation(unit, &class->equations.at[k]);
        for (uint32_t k = 0; k < class->whens.n; k++)
            REPORT(unit, DIAG_DYM_NOT_YET, class->whens.at[k]->span, "`when` is not executed yet");
    }
}
