/* Classes: variables, objects and their parameters; see unit.h. */
#include "lang/dymola/unit.h"

enum { DEEPEST = 200, MOST_OBJECTS = 1000000 };

/* ---- variables ---- */
void dym_declare(Unit *unit, const VarDecl *declared)
{
    uint32_t k;
    if (strcmp(NAME(unit, declared->name), "Time") == 0) {
        REPORT(unit, DIAG_DYM_TIME_DECLARED, declared->name.span, "`Time` must not be declared");
        diag_help(unit->diag, "it is known everywhere");
        return;
    }
    if (map_get(&unit->var_names, declared->name.name.index, &k)) {
        REPORT(unit, DIAG_DYM_TWICE, declared->name.span, "there are two variables `%s`", NAME(unit, declared->name));
        diag_note(unit->diag, unit->vars.at[k].name.span, "the first is here");
        return;
    }
    UnitVar var = { .name = declared->name,
                    .kind = declared->kind,
                    .value = declared->value,
                    .nominal = declared->nominal,
                    .type = dym_new_type(unit) };
    var.var = model_add_variable(unit->model, (InstanceId){ 0 }, var.name.name, REAL_TYPE, var.name.span);
    dym_set_size(unit, var.var, &declared->size);
    map_put(&unit->var_names, var.name.name.index, unit->vars.n);
    map_put(&unit->var_types, var.var.index, var.type);
    vec_push(unit->arena, &unit->vars, var);
}

static bool fits_in_braces(Unit *unit, Span where, Extent e)
{
    if (e.rows <= UINT16_MAX && e.columns <= UINT16_MAX)
        return true;
    REPORT(unit, DIAG_DYM_TOO_LARGE, where, "%s cannot have a value for each element", dym_extent_text(unit, e));
    diag_help(unit->diag, "at most %d rows can; larger ones have one value for all", UINT16_MAX);
    return false;
}

/* By rows; a vector may be given as a row or as a column. */
static Term matrix_term(Unit *unit, const Value *value, VarId var)
{
    Pool *pool = unit->load->pool;
    const Extent e = dym_variable_extent(unit, var);
    const uint32_t rank = model_var(unit->model, var)->type.rank, rows = value->size.at[0], columns = value->size.at[1];
    if (!(rows == e.rows && columns == e.columns) && !(rank == 1 && rows == 1 && columns == e.rows)) {
        REPORT(unit, DIAG_DYM_SIZE, value->span, "%s is given to %s", dym_extent_text(unit, (Extent){ rows, columns }),
               dym_extent_text(unit, e));
        return term_real(unit->model, 0);
    }
    if (!fits_in_braces(unit, value->span, e))
        return term_real(unit->model, 0);
    const Expr **outer = NEW_ARRAY(unit->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(unit->arena, const Expr *, e.columns);
    for (uint32_t k = 0; k < e.rows; k++) {
        for (uint32_t j = 0; j < e.columns; j++)
            row[j] = expr_real(pool, value->numbers[k * e.columns + j]);
        outer[k] = rank == 1 ? row[0] : expr_array(pool, e.columns, row);
    }
    return term_expr(unit->model, expr_array(pool, e.rows, outer));
}

static Term value_term(Unit *unit, const Value *value, VarId var)
{
    const Type type = model_var(unit->model, var)->type;
    if (value->kind == VALUE_MATRIX)
        return matrix_term(unit, value, var);
    const double number = value->kind == VALUE_NONE ? 0 : value->number;
    return type.kind == TYPE_BOOLEAN ? term_boolean(unit->model, number != 0) : term_real(unit->model, number);
}

/* Errors are measured with the sizes of what is integrated or solved for. */
static void settle_nominal(Unit *unit, const UnitVar *var)
{
    const bool is_used = var->kind != KIND_PARAMETER && var->kind != KIND_CONSTANT &&
                         model_var(unit->model, var->var)->type.kind == TYPE_REAL;
    if (var->nominal.kind == VALUE_NONE)
        return;
    if (is_used && var->nominal.number > 0) {
        model_var(unit->model, var->var)->nominal = term_real(unit->model, var->nominal.number);
        return;
    }
    REPORT(unit, DIAG_NOMINAL, var->nominal.span,
           is_used ? "the nominal value of `%s` must be above 0" : "`%s` has no use for a nominal value",
           NAME(unit, var->name));
    diag_help(unit->diag, is_used ? "it is the usual size of the variable, as in x(nominal=1E-9)"
                                  : "variables that are numbers have one");
}

/* Parameters get their values, others their start values; Booleans start as False. */
static void settle(Unit *unit, const UnitVar *var)
{
    static const uint8_t causalities[] = {
        [KIND_PARAMETER] = CAUSALITY_PARAMETER, [KIND_CONSTANT] = CAUSALITY_LOCAL, [KIND_LOCAL] = CAUSALITY_LOCAL,
        [KIND_TERMINAL] = CAUSALITY_LOCAL,      [KIND_INPUT] = CAUSALITY_INPUT,    [KIND_OUTPUT] = CAUSALITY_OUTPUT
    };
    const Type type = model_var(unit->model, var->var)->type;
    const bool is_given = var->value.kind != VALUE_NONE;
    const Term value = value_term(unit, &var->value, var->var);
    Variable *v = model_var(unit->model, var->var);
    v->causality = causalities[var->kind];
    v->variability = type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    if (var->kind == KIND_PARAMETER || var->kind == KIND_CONSTANT) {
        v->variability = var->kind == KIND_PARAMETER ? VARIABILITY_PARAMETER : VARIABILITY_CONSTANT;
        v->definition = DEFINITION_BINDING;
        v->binding = value;
    } else if (is_given || type.kind == TYPE_BOOLEAN || var->kind == KIND_INPUT) {
        v->start = value;
    }
    settle_nominal(unit, var);
}

/* ---- objects ---- */
static void add_object(Unit *unit, const Submodel *submodel)
{
    uint32_t k;
    if (map_get(&unit->object_names, submodel->name.name.index, &k)) {
        REPORT(unit, DIAG_DYM_TWICE, submodel->name.span, "there are two objects `%s`", NAME(unit, submodel->name));
        diag_note(unit->diag, unit->objects.at[k].name.span, "the first is here");
        return;
    }
    Unit *part = dym_lower_class(unit->load, submodel->class, submodel->name.span);
    if (!part)
        return;
    if (unit->model->instances.n + part->model->instances.n > MOST_OBJECTS) {
        REPORT(unit, DIAG_DYM_TOO_LARGE, submodel->name.span, "the model has more than %d objects", MOST_OBJECTS);
        diag_help(unit->diag, "objects of objects multiply; check how many each class needs");
        return;
    }
    UnitObject object = { .name = submodel->name, .text = submodel, .unit = part, .first_port = unit->model->ports.n };
    object.instance = model_compose(unit->model, (InstanceId){ 0 }, submodel->name.name, part->model,
                                    submodel->name.span, &object.first_var);
    for (uint32_t j = 0; j < part->vars.n; j++) /* directions are those of the whole model */
        if (part->vars.at[j].kind == KIND_INPUT || part->vars.at[j].kind == KIND_OUTPUT)
            unit->model->variables.at[object.first_var + part->vars.at[j].var.index].causality = CAUSALITY_LOCAL;
    map_put(&unit->object_names, submodel->name.name.index, unit->objects.n);
    vec_push(unit->arena, &unit->objects, object);
    dym_take_memories(unit, &object);
    dym_take_inits(unit, &object);
}

static const UnitVar *parameter_at(const Unit *unit, uint32_t place)
{
    for (uint32_t k = 0; k < unit->vars.n; k++)
        if (unit->vars.at[k].kind == KIND_PARAMETER && place-- == 0)
            return &unit->vars.at[k];
    return NULL;
}

static const UnitVar *parameter_of(Unit *unit, const UnitObject *object, const ParamItem *item, uint32_t place)
{
    const Unit *part = object->unit;
    uint32_t k;
    const UnitVar *found = NULL;
    if (name_is_empty(item->name.name))
        found = parameter_at(part, place);
    else if (map_get(&part->var_names, item->name.name.index, &k) && part->vars.at[k].kind != KIND_CONSTANT)
        found = &part->vars.at[k];
    if (found)
        return found;
    if (name_is_empty(item->name.name))
        REPORT(unit, DIAG_DYM_PARAMETER, item->value.span, "the class of `%s` has no parameter number %u",
               NAME(unit, object->name), place + 1);
    else
        REPORT(unit, DIAG_DYM_PARAMETER, item->name.span, "the class of `%s` has no parameter `%s`",
               NAME(unit, object->name), NAME(unit, item->name));
    diag_help(unit->diag,
              "what the class declares as `parameter` can be set, and start values of its other variables, by name");
    return NULL;
}

/* An array follows another element by element. */
static Term parameter_term(Unit *unit, VarId var)
{
    Pool *pool = unit->load->pool;
    const Extent e = dym_variable_extent(unit, var);
    const uint32_t rank = model_var(unit->model, var)->type.rank;
    TermBuilder builder = term_builder(unit->model);
    if (rank == 0 || !fits_in_braces(unit, model_var(unit->model, var)->span, e))
        return term_ref(unit->model, ref_now(var));
    const Expr **outer = NEW_ARRAY(unit->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(unit->arena, const Expr *, e.columns);
    for (uint32_t k = 0; k < e.rows; k++) {
        for (uint32_t j = 0; j < e.columns; j++) {
            const Expr *const index[] = { expr_integer(pool, k + 1), expr_integer(pool, j + 1) };
            row[j] = term_element(&builder, ref_now(var), rank, index);
        }
        outer[k] = rank == 1 ? row[0] : expr_array(pool, e.columns, row);
    }
    return term_finish(&builder, expr_array(pool, e.rows, outer));
}

/* A parameter of the enclosing model, which the object's follows. */
static bool bind_to(Unit *unit, const Value *value, Term *binding, VarId parameter)
{
    const Type type = model_var(unit->model, parameter)->type;
    uint32_t k;
    if (!map_get(&unit->var_names, value->variable.name.index, &k)) {
        REPORT(unit, DIAG_DYM_UNKNOWN_NAME, value->span, "there is no variable `%s`", NAME(unit, value->variable));
        diag_help(unit->diag, "a parameter follows a parameter or constant of the enclosing model");
        return false;
    }
    const Variable *outer = model_var(unit->model, unit->vars.at[k].var);
    if (outer->variability > VARIABILITY_PARAMETER || !type_equal(outer->type, type) ||
        !extent_equal(dym_variable_extent(unit, unit->vars.at[k].var), dym_variable_extent(unit, parameter))) {
        REPORT(unit, DIAG_DYM_PARAMETER, value->span, "`%s` is no parameter of the same type",
               NAME(unit, value->variable));
        diag_help(unit->diag, "a parameter follows a parameter or constant; else declare it as `terminal`");
        return false;
    }
    *binding = parameter_term(unit, unit->vars.at[k].var);
    return true;
}

static void set_parameters(Unit *unit, const UnitObject *object)
{
    for (uint32_t k = 0; k < object->text->params.n; k++) {
        const ParamItem *item = &object->text->params.at[k];
        const UnitVar *parameter = parameter_of(unit, object, item, k);
        if (!parameter)
            continue;
        const VarId var = { object->first_var + parameter->var.index };
        const Type type = model_var(unit->model, var)->type;
        const bool is_start = parameter->kind != KIND_PARAMETER;
        Term binding;
        if (is_start && item->value.kind == VALUE_VARIABLE) {
            REPORT(unit, DIAG_DYM_PARAMETER, item->value.span, "the start value of `%s` must be a number",
                   NAME(unit, item->name));
            continue;
        }
        if (item->value.kind == VALUE_VARIABLE) {
            if (!bind_to(unit, &item->value, &binding, var))
                continue;
        } else if ((item->value.kind == VALUE_BOOLEAN) != (type.kind == TYPE_BOOLEAN)) {
            REPORT(unit, DIAG_DYM_TYPE, item->value.span, "a number and a Boolean do not fit together");
            continue;
        } else {
            binding = value_term(unit, &item->value, var);
        }
        *(is_start ? &model_var(unit->model, var)->start : &model_var(unit->model, var)->binding) = binding;
    }
}

/* ---- classes ---- */
static void collect_chain(Unit *unit, const Class *class)
{
    for (; class; class = class->super)
        vec_push(unit->arena, &unit->chain, class);
    for (uint32_t k = 0; k < unit->chain.n / 2; k++) {
        const Class *last = unit->chain.at[unit->chain.n - 1 - k];
        unit->chain.at[unit->chain.n - 1 - k] = unit->chain.at[k];
        unit->chain.at[k] = last;
    }
}

Unit *dym_new_unit(Load *load, const Class *class)
{
    Unit *unit = NEW(load->arena, Unit);
    *unit = (Unit){ .load = load, .arena = load->arena, .diag = load->diag, .errors = load->errors };
    unit->main_cut_at = unit->main_path_at = SPAN_NONE;
    unit->model = model_create(load->pool, load->request->sources, class->name.name, "dymola", class->name.span);
    map_init(&unit->var_names, load->arena, 16);
    map_init(&unit->cut_names, load->arena, 16);
    map_init(&unit->path_names, load->arena, 4);
    map_init(&unit->object_names, load->arena, 16);
    map_init(&unit->var_types, load->arena, 16);
    map_init(&unit->port_points, load->arena, 16);
    map_init(&unit->remembered, load->arena, 4);
    dym_new_type(unit);
    dym_new_type(unit);
    collect_chain(unit, class);
    return unit;
}

static void lower_body(Unit *unit)
{
    for (uint32_t c = 0; c < unit->chain.n; c++) {
        for (uint32_t k = 0; k < unit->chain.at[c]->submodels.n; k++)
            add_object(unit, &unit->chain.at[c]->submodels.at[k]);
        for (uint32_t k = 0; k < unit->chain.at[c]->variables.n; k++)
            dym_declare(unit, &unit->chain.at[c]->variables.at[k]);
    }
    if (*unit->errors)
        return;
    dym_lower_cuts(unit);
    dym_join_wires(unit);
    if (*unit->errors)
        return;
    dym_infer_types(unit);
    for (uint32_t k = 0; k < unit->vars.n; k++)
        settle(unit, &unit->vars.at[k]);
    for (uint32_t k = 0; k < unit->model->variables.n; k++) { /* variables that a cut took over */
        Variable *v = &unit->model->variables.at[k];
        uint32_t type;
        if (v->owner.index && map_get(&unit->var_types, k, &type))
            v->variability = v->type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    }
    for (uint32_t k = 0; k < unit->objects.n; k++)
        set_parameters(unit, &unit->objects.at[k]);
    dym_find_memories(unit);
    if (*unit->errors)
        return;
    dym_emit_connections(unit);
    dym_lower_equations(unit);
}

Unit *dym_lower_class(Load *load, Class *class, Span wanted_at)
{
    if (class->unit || class->has_failed)
        return class->unit;
    if (load->depth > DEEPEST) {
        REPORT(load, DIAG_DYM_TOO_LARGE, wanted_at, "objects are nested more than %d deep", DEEPEST);
        diag_help(load->diag, "state more in one class");
        return NULL;
    }
    load->depth++;
    const uint32_t before = *load->errors;
    Unit *unit = dym_new_unit(load, class);
    lower_body(unit);
    load->depth--;
    class->has_failed = *load->errors > before;
    class->unit = class->has_failed ? NULL : unit;
    return class->unit;
}

/* Variables that equations of other objects name; `is_set`: alone on the left side. */
static void find_addressed(const Model *model, bool *is_named, bool *is_set)
{
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++) {
                const Ref ref = term_refs(model, sides[s])[j];
                if (var_is_none(ref.var) || model_var(model, ref.var)->owner.index == e->owner.index)
                    continue;
                is_named[ref.var.index] = true;
                is_set[ref.var.index] |= s == 0 && sides[s].shape->kind == EXPR_LEAF;
            }
    }
}

static bool sets_potential(const Model *model, const Port *port, const bool *is_set)
{
    for (uint32_t k = 0; k < port->n_members; k++) {
        const PortMember *member = &model->members.at[port->first_member + k];
        if (member->role == ROLE_POTENTIAL && !var_is_none(member->var) && is_set[member->var.index])
            return true;
    }
    return false;
}

void dym_leave_addressed(Model *model, Arena *arena)
{
    bool *is_named = NEW_ARRAY(arena, bool, model->variables.n + 1),
         *is_set = NEW_ARRAY(arena, bool, model->variables.n + 1),
         *connected = NEW_ARRAY(arena, bool, model->ports.n + 1);
    find_addressed(model, is_named, is_set);
    for (uint32_t k = 0; k < model->connections.n; k++)
        connected[model->connections.at[k].port_a] = connected[model->connections.at[k].port_b] = true;
    for (uint32_t k = 0; k < model->ports.n; k++) {
        const Port *port = &model->ports.at[k];
        const bool is_driven = !connected[k] && sets_potential(model, port, is_set);
        for (uint32_t j = 0; !connected[k] && j < port->n_members; j++) {
            PortMember *member = &model->members.at[port->first_member + j];
            if (member->role == ROLE_FLOW && !var_is_none(member->var) && (is_driven || is_named[member->var.index]))
                member->var = VAR_NONE;
        }
    }
}
