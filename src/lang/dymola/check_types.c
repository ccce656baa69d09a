/* Types are not written: a variable is Boolean if its value or its use says so, else Real. One pass over the class
 * unites the types of what must be equal. */
#include "base/ids.h"
#include "graph/sets.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/translation.h"

uint32_t dym_new_type(Translation *translation)
{
    const uint32_t type = translation->types.sets.n;
    vec_push(translation->arena, &translation->types.sets, type);
    return type;
}

void dym_unify(Translation *translation, uint32_t a, uint32_t b, Span where)
{
    a = sets_root(translation->types.sets.at, a);
    b = sets_root(translation->types.sets.at, b);
    if (a == b)
        return;
    if (a > b) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    if (b == TYPE_NODE_BOOLEAN) {
        REPORT(translation, DIAG_DYM_TYPE, where, "a number and a Boolean do not fit together");
        diag_help(translation->diag,
                  "a variable is Boolean if it starts as True or False, or stands where a condition does");
        return;
    }
    translation->types.sets.at[b] = a;
}

uint32_t dym_type_of(Translation *translation, VarId var)
{
    uint32_t type;
    if (map_get(&translation->types.of_variable, var.index, &type))
        return type;
    return model_var(translation->model, var)->type.kind == TYPE_BOOLEAN ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL;
}

static uint32_t infer(Translation *translation, const Node *node);

static void want(Translation *translation, const Node *node, uint32_t type)
{
    dym_unify(translation, infer(translation, node), type, node->span);
}

static uint32_t infer_operation(Translation *translation, const Node *node)
{
    const bool is_logical = node->op == OP_AND || node->op == OP_OR || node->op == OP_NOT;
    for (uint32_t k = 0; k < node->n_args; k++)
        want(translation, node->args[k], is_logical ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL);
    return is_logical || op_is_relation(node->op) ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL;
}

static uint32_t infer(Translation *translation, const Node *node)
{
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: return TYPE_NODE_REAL;
    case NODE_BOOLEAN: return TYPE_NODE_BOOLEAN;
    case NODE_CALL: return infer_operation(translation, node);
    case NODE_ROW:
    case NODE_MATRIX:
        translation->has_arrays = true;
        for (uint32_t k = 0; k < node->n_args; k++)
            want(translation, node->args[k], TYPE_NODE_REAL);
        return TYPE_NODE_REAL;
    case NODE_TRANSPOSE: translation->has_arrays = true; return infer(translation, node->args[0]);
    case NODE_RANGE: return TYPE_NODE_REAL;
    case NODE_FUNCTION:
        if (dym_is_literal(translation, node)) {
            dym_check_call(translation, node);
            return infer(translation, node->args[node->n_args - 1]);
        }
        if (dym_matrix_function(translation, node))
            translation->has_arrays = true;
        else
            dym_check_call(translation, node);
        for (uint32_t k = 0; k < node->n_args; k++)
            want(translation, node->args[k], TYPE_NODE_REAL);
        return TYPE_NODE_REAL;
    case NODE_IF: {
        want(translation, node->args[0], TYPE_NODE_BOOLEAN);
        const uint32_t type = infer(translation, node->args[1]);
        want(translation, node->args[2], type);
        return type;
    }
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: {
        if (dym_is_time(translation, node))
            return TYPE_NODE_REAL;
        const VarId var = dym_find_variable(translation, node->path, node->n_path);
        if (var_is_none(var))
            return dym_new_type(translation); /* reported: fits everything */
        if (node->kind == NODE_DER || node->kind == NODE_INIT)
            dym_unify(translation, dym_type_of(translation, var), TYPE_NODE_REAL, node->span);
        return dym_type_of(translation, var);
    }
    }
    return TYPE_NODE_REAL;
}

static void infer_equations(Translation *translation, const EquationTexts *equations)
{
    for (uint32_t k = 0; k < equations->n; k++) {
        const uint32_t left = infer(translation, equations->at[k].left);
        dym_unify(translation, left, infer(translation, equations->at[k].right), equations->at[k].span);
        if (translation->has_arrays)
            dym_check_size(translation, &equations->at[k]);
    }
}

/* What is connected has one type: the members of the first of a set and of each other. */
static void infer_connections(Translation *translation)
{
    const Model *model = translation->model;
    for (uint32_t k = 0; k < translation->points.all.n; k++) {
        const Point *point = &translation->points.all.at[k],
                    *first = &translation->points.all.at[translation->points.joined.at[k]];
        if (first == point || first->port == ID_NONE || point->port == ID_NONE)
            continue;
        const Port *a = &model->ports.at[first->port], *b = &model->ports.at[point->port];
        for (uint32_t j = 0; j < a->n_members && j < b->n_members; j++) {
            const VarId x = model->members.at[a->first_member + j].var, y = model->members.at[b->first_member + j].var;
            if (!var_is_none(x) && !var_is_none(y))
                dym_unify(translation, dym_type_of(translation, x), dym_type_of(translation, y), point->joined_at);
        }
    }
}

static void check_through(Translation *translation, const CutItem *item)
{
    uint32_t k;
    if (!item->is_through || name_is_empty(item->name.name) ||
        !map_get(&translation->variables.names, item->name.name.index, &k) ||
        sets_root(translation->types.sets.at, translation->variables.all.at[k].type) != TYPE_NODE_BOOLEAN)
        return;
    REPORT(translation, DIAG_DYM_THROUGH_BOOLEAN, item->name.span, "the through variable `%s` is Boolean",
           NAME(translation, item->name));
    diag_help(translation->diag, "through variables are added up: put it before the `/`");
}

static void check_cut(Translation *translation, const Cut *cut)
{
    for (uint32_t k = 0; k < cut->items.n; k++)
        check_through(translation, &cut->items.at[k]);
    for (uint32_t k = 0; k < cut->parts.n; k++)
        check_cut(translation, cut->parts.at[k]);
}

void dym_check_types(Translation *translation)
{
    for (uint32_t k = 0; k < translation->model->variables.n && !translation->has_arrays; k++)
        translation->has_arrays = translation->model->variables.at[k].type.rank > 0;
    for (uint32_t k = 0; k < translation->variables.all.n; k++) {
        const ClassVariable *var = &translation->variables.all.at[k];
        if (var->value.kind != VALUE_NONE)
            dym_unify(translation, var->type, var->value.kind == VALUE_BOOLEAN ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL,
                      var->value.span);
    }
    for (uint32_t k = 0; k < translation->chain.n; k++) {
        infer_equations(translation, &translation->chain.at[k]->equations);
        for (uint32_t j = 0; j < translation->chain.at[k]->whens.n; j++) {
            Extent extent;
            want(translation, translation->chain.at[k]->whens.at[j]->condition, TYPE_NODE_BOOLEAN);
            if (translation->has_arrays)
                dym_extent(translation, translation->chain.at[k]->whens.at[j]->condition, &extent);
            infer_equations(translation, &translation->chain.at[k]->whens.at[j]->equations);
        }
    }
    infer_connections(translation);
    for (uint32_t k = 0; k < translation->chain.n; k++)
        for (uint32_t j = 0; j < translation->chain.at[k]->cuts.n; j++)
            check_cut(translation, translation->chain.at[k]->cuts.at[j].cut);
    for (uint32_t k = 0; k < translation->model->variables.n; k++) {
        uint32_t type;
        if (map_get(&translation->types.of_variable, k, &type) &&
            sets_root(translation->types.sets.at, type) == TYPE_NODE_BOOLEAN)
            translation->model->variables.at[k].type.kind = TYPE_BOOLEAN;
    }
}
