/* Types are not written: a variable is Boolean if its value or its use says so, else Real. One pass over the class
 * unites the types of what must be equal. */
#include "base/ids.h"
#include "graph/sets.h"
#include "lang/dymola/unit.h"

uint32_t dym_new_type(Unit *unit)
{
    const uint32_t type = unit->types.n;
    vec_push(unit->arena, &unit->types, type);
    return type;
}

void dym_unify(Unit *unit, uint32_t a, uint32_t b, Span where)
{
    a = sets_root(unit->types.at, a);
    b = sets_root(unit->types.at, b);
    if (a == b)
        return;
    if (a > b) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    if (b == TYPE_NODE_BOOLEAN) {
        REPORT(unit, DIAG_DYM_TYPE, where, "a number and a Boolean do not fit together");
        diag_help(unit->diag, "a variable is Boolean if it starts as True or False, or stands where a condition does");
        return;
    }
    unit->types.at[b] = a;
}

uint32_t dym_type_of(Unit *unit, VarId var)
{
    uint32_t type;
    if (map_get(&unit->var_types, var.index, &type))
        return type;
    return model_var(unit->model, var)->type.kind == TYPE_BOOLEAN ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL;
}

static uint32_t infer(Unit *unit, const Node *node);

static void want(Unit *unit, const Node *node, uint32_t type)
{
    dym_unify(unit, infer(unit, node), type, node->span);
}

static uint32_t infer_operation(Unit *unit, const Node *node)
{
    const bool is_logical = node->op == OP_AND || node->op == OP_OR || node->op == OP_NOT;
    for (uint32_t k = 0; k < node->n_args; k++)
        want(unit, node->args[k], is_logical ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL);
    return is_logical || op_is_relation(node->op) ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL;
}

static uint32_t infer(Unit *unit, const Node *node)
{
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: return TYPE_NODE_REAL;
    case NODE_BOOLEAN: return TYPE_NODE_BOOLEAN;
    case NODE_CALL: return infer_operation(unit, node);
    case NODE_ROW:
    case NODE_MATRIX:
        unit->has_arrays = true;
        for (uint32_t k = 0; k < node->n_args; k++)
            want(unit, node->args[k], TYPE_NODE_REAL);
        return TYPE_NODE_REAL;
    case NODE_TRANSPOSE: unit->has_arrays = true; return infer(unit, node->args[0]);
    case NODE_RANGE: return TYPE_NODE_REAL;
    case NODE_FUNCTION:
        if (dym_is_literal(unit, node)) {
            dym_check_call(unit, node);
            return infer(unit, node->args[node->n_args - 1]);
        }
        if (dym_matrix_function(unit, node))
            unit->has_arrays = true;
        else
            dym_check_call(unit, node);
        for (uint32_t k = 0; k < node->n_args; k++)
            want(unit, node->args[k], TYPE_NODE_REAL);
        return TYPE_NODE_REAL;
    case NODE_IF: {
        want(unit, node->args[0], TYPE_NODE_BOOLEAN);
        const uint32_t type = infer(unit, node->args[1]);
        want(unit, node->args[2], type);
        return type;
    }
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: {
        if (dym_is_time(unit, node))
            return TYPE_NODE_REAL;
        const VarId var = dym_find_variable(unit, node->path, node->n_path);
        if (var_is_none(var))
            return dym_new_type(unit); /* reported: fits everything */
        if (node->kind == NODE_DER || node->kind == NODE_INIT)
            dym_unify(unit, dym_type_of(unit, var), TYPE_NODE_REAL, node->span);
        return dym_type_of(unit, var);
    }
    }
    return TYPE_NODE_REAL;
}

static void infer_equations(Unit *unit, const EquationTexts *equations)
{
    for (uint32_t k = 0; k < equations->n; k++) {
        const uint32_t left = infer(unit, equations->at[k].left);
        dym_unify(unit, left, infer(unit, equations->at[k].right), equations->at[k].span);
        if (unit->has_arrays)
            dym_check_size(unit, &equations->at[k]);
    }
}

/* What is connected has one type: the members of the first of a set and of each other. */
static void infer_connections(Unit *unit)
{
    const Model *model = unit->model;
    for (uint32_t k = 0; k < unit->points.n; k++) {
        const Point *point = &unit->points.at[k], *first = &unit->points.at[unit->joined.at[k]];
        if (first == point || first->port == ID_NONE || point->port == ID_NONE)
            continue;
        const Port *a = &model->ports.at[first->port], *b = &model->ports.at[point->port];
        for (uint32_t j = 0; j < a->n_members && j < b->n_members; j++) {
            const VarId x = model->members.at[a->first_member + j].var, y = model->members.at[b->first_member + j].var;
            if (!var_is_none(x) && !var_is_none(y))
                dym_unify(unit, dym_type_of(unit, x), dym_type_of(unit, y), point->joined_at);
        }
    }
}

static void check_through(Unit *unit, const CutItem *item)
{
    uint32_t k;
    if (!item->is_through || name_is_empty(item->name.name) || !map_get(&unit->var_names, item->name.name.index, &k) ||
        sets_root(unit->types.at, unit->vars.at[k].type) != TYPE_NODE_BOOLEAN)
        return;
    REPORT(unit, DIAG_DYM_THROUGH_BOOLEAN, item->name.span, "the through variable `%s` is Boolean",
           NAME(unit, item->name));
    diag_help(unit->diag, "through variables are added up: put it before the `/`");
}

static void check_cut(Unit *unit, const Cut *cut)
{
    for (uint32_t k = 0; k < cut->items.n; k++)
        check_through(unit, &cut->items.at[k]);
    for (uint32_t k = 0; k < cut->parts.n; k++)
        check_cut(unit, cut->parts.at[k]);
}

void dym_infer_types(Unit *unit)
{
    for (uint32_t k = 0; k < unit->model->variables.n && !unit->has_arrays; k++)
        unit->has_arrays = unit->model->variables.at[k].type.rank > 0;
    for (uint32_t k = 0; k < unit->vars.n; k++) {
        const UnitVar *var = &unit->vars.at[k];
        if (var->value.kind != VALUE_NONE)
            dym_unify(unit, var->type, var->value.kind == VALUE_BOOLEAN ? TYPE_NODE_BOOLEAN : TYPE_NODE_REAL,
                      var->value.span);
    }
    for (uint32_t k = 0; k < unit->chain.n; k++) {
        infer_equations(unit, &unit->chain.at[k]->equations);
        for (uint32_t j = 0; j < unit->chain.at[k]->whens.n; j++) {
            Extent extent;
            want(unit, unit->chain.at[k]->whens.at[j]->condition, TYPE_NODE_BOOLEAN);
            if (unit->has_arrays)
                dym_extent(unit, unit->chain.at[k]->whens.at[j]->condition, &extent);
            infer_equations(unit, &unit->chain.at[k]->whens.at[j]->equations);
        }
    }
    infer_connections(unit);
    for (uint32_t k = 0; k < unit->chain.n; k++)
        for (uint32_t j = 0; j < unit->chain.at[k]->cuts.n; j++)
            check_cut(unit, unit->chain.at[k]->cuts.at[j].cut);
    for (uint32_t k = 0; k < unit->model->variables.n; k++) {
        uint32_t type;
        if (map_get(&unit->var_types, k, &type) && sets_root(unit->types.at, type) == TYPE_NODE_BOOLEAN)
            unit->model->variables.at[k].type.kind = TYPE_BOOLEAN;
    }
}
