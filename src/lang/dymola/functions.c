/* Functions that the language knows. */
#include "lang/dymola/parser.h"
#include "lang/dymola/functions.h"
#include <math.h>

static const FunctionRow functions[] = {
    { "abs", OP_ABS, 1 },       { "arccos", OP_ACOS, 1 }, { "arcsin", OP_ASIN, 1 }, { "arctan", OP_ATAN, 1 },
    { "arctan2", OP_ATAN2, 2 }, { "cos", OP_COS, 1 },     { "cosh", OP_COSH, 1 },   { "exp", OP_EXP, 1 },
    { "int", OP_TRUNC, 1 },     { "ln", OP_LOG, 1 },      { "log10", OP_LOG10, 1 }, { "max", OP_MAX, 2 },
    { "min", OP_MIN, 2 },       { "sign", OP_SIGN, 1 },   { "sin", OP_SIN, 1 },     { "sinh", OP_SINH, 1 },
    { "sqrt", OP_SQRT, 1 },     { "tan", OP_TAN, 1 },     { "tanh", OP_TANH, 1 },
};

static const FunctionRow *find(const char *name)
{
    for (uint32_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, name) == 0)
            return &functions[k];
    return NULL;
}

bool dym_is_literal(const Translation *translation, const Node *node)
{
    const char *name = node->kind == NODE_FUNCTION ? NAME(translation, node->path[0]) : "";
    return strcmp(name, "noEvent") == 0 || strcmp(name, "smooth") == 0;
}

bool dym_is_function_name(const char *name)
{
    static const char *const operators[] = { "der", "new",  "init", "cross",   "diag",
                                             "eye", "skew", "zero", "noEvent", "smooth" };
    for (uint32_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (strcmp(operators[k], name) == 0)
            return true;
    return find(name) != NULL;
}

const FunctionRow *dym_find_function(Translation *translation, const Node *node)
{
    const char *name = NAME(translation, node->path[0]);
    const FunctionRow *row = find(name);
    if (row && row->arity == node->n_args)
        return row;
    uint32_t k;
    if (map_get(&translation->load->all->functions.names, node->path[0].name.index, &k)) {
        REPORT(translation, DIAG_DYM_FUNCTION, node->path[0].span, "the function `%s` is defined later", name);
        diag_note(translation->diag, translation->load->all->functions.all.at[k]->class->name.span, "here");
        diag_help(translation->diag, "a function calls those that stand before it");
        return NULL;
    }
    if (row) {
        REPORT(translation, DIAG_DYM_FUNCTION, node->span, "`%s` has %u argument%s, not %u", name, row->arity,
               row->arity == 1 ? "" : "s", node->n_args);
        return NULL;
    }
    REPORT(translation, DIAG_DYM_FUNCTION, node->path[0].span, "there is no function `%s`", name);
    diag_help(translation->diag,
              "known are abs, arccos, arcsin, arctan, arctan2, cos, cosh, exp, int, ln, log10, max, min, "
              "sign, sin, sinh, sqrt, tan, tanh; a vector is declared with its size: %s(3)",
              name);
    return NULL;
}
