/* Classes: variables, objects and their parameters; see translation.h. */
#include "lang/dymola/connections.h"
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

enum { DEEPEST = 200, MOST_OBJECTS = 1000000 };

/* ---- variables ---- */
void dym_declare(Translation *translation, const VarDecl *declared)
{
    uint32_t k;
    if (strcmp(NAME(translation, declared->name), "Time") == 0) {
        REPORT(translation, DIAG_DYM_TIME_DECLARED, declared->name.span, "`Time` must not be declared");
        diag_help(translation->diag, "it is known everywhere");
        return;
    }
    if (map_get(&translation->variables.names, declared->name.name.index, &k)) {
        REPORT(translation, DIAG_DYM_TWICE, declared->name.span, "there are two variables `%s`",
               NAME(translation, declared->name));
        diag_note(translation->diag, translation->variables.all.at[k].name.span, "the first is here");
        return;
    }
    ClassVariable var = { .name = declared->name,
                          .kind = declared->kind,
                          .value = declared->value,
                          .nominal = declared->nominal,
                          .type = dym_new_type(translation) };
    var.var = model_add_variable(translation->model, (InstanceId){ 0 }, var.name.name, REAL_TYPE, var.name.span);
    dym_set_size(translation, var.var, &declared->size);
    map_put(&translation->variables.names, var.name.name.index, translation->variables.all.n);
    map_put(&translation->types.of_variable, var.var.index, var.type);
    vec_push(translation->arena, &translation->variables.all, var);
}

static bool fits_in_braces(Translation *translation, Span where, Extent e)
{
    if (e.rows <= UINT16_MAX && e.columns <= UINT16_MAX)
        return true;
    REPORT(translation, DIAG_DYM_TOO_LARGE, where, "%s cannot have a value for each element",
           dym_extent_text(translation, e));
    diag_help(translation->diag, "at most %d rows can; larger ones have one value for all", UINT16_MAX);
    return false;
}

/* By rows; a vector may be given as a row or as a column. */
static Term matrix_term(Translation *translation, const Value *value, VarId var)
{
    Pool *pool = translation->load->pool;
    const Extent e = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank, rows = value->size.at[0],
                   columns = value->size.at[1];
    if (!(rows == e.rows && columns == e.columns) && !(rank == 1 && rows == 1 && columns == e.rows)) {
        REPORT(translation, DIAG_DYM_SIZE, value->span, "%s is given to %s",
               dym_extent_text(translation, (Extent){ rows, columns }), dym_extent_text(translation, e));
        return term_real(translation->model, 0);
    }
    if (!fits_in_braces(translation, value->span, e))
        return term_real(translation->model, 0);
    const Expr **outer = NEW_ARRAY(translation->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(translation->arena, const Expr *, e.columns);
    for (uint32_t k = 0; k < e.rows; k++) {
        for (uint32_t j = 0; j < e.columns; j++)
            row[j] = expr_real(pool, value->numbers[k * e.columns + j]);
        outer[k] = rank == 1 ? row[0] : expr_array(pool, e.columns, row);
    }
    return term_expr(translation->model, expr_array(pool, e.rows, outer));
}

static Term value_term(Translation *translation, const Value *value, VarId var)
{
    const Type type = model_var(translation->model, var)->type;
    if (value->kind == VALUE_MATRIX)
        return matrix_term(translation, value, var);
    const double number = value->kind == VALUE_NONE ? 0 : value->number;
    return type.kind == TYPE_BOOLEAN ? term_boolean(translation->model, number != 0)
                                     : term_real(translation->model, number);
}

/* Errors are measured with the sizes of what is integrated or solved for. */
static void settle_nominal(Translation *translation, const ClassVariable *var)
{
    const bool is_used = var->kind != KIND_PARAMETER && var->kind != KIND_CONSTANT &&
                         model_var(translation->model, var->var)->type.kind == TYPE_REAL;
    if (var->nominal.kind == VALUE_NONE)
        return;
    if (is_used && var->nominal.number > 0) {
        model_var(translation->model, var->var)->nominal = term_real(translation->model, var->nominal.number);
        return;
    }
    REPORT(translation, DIAG_NOMINAL, var->nominal.span,
           is_used ? "the nominal value of `%s` must be above 0" : "`%s` has no use for a nominal value",
           NAME(translation, var->name));
    diag_help(translation->diag, is_used ? "it is the usual size of the variable, as in x(nominal=1E-9)"
                                         : "variables that are numbers have one");
}

/* Parameters get their values, others their start values; Booleans start as False. */
static void settle(Translation *translation, const ClassVariable *var)
{
    static const uint8_t causalities[] = {
        [KIND_PARAMETER] = CAUSALITY_PARAMETER, [KIND_CONSTANT] = CAUSALITY_LOCAL, [KIND_LOCAL] = CAUSALITY_LOCAL,
        [KIND_TERMINAL] = CAUSALITY_LOCAL,      [KIND_INPUT] = CAUSALITY_INPUT,    [KIND_OUTPUT] = CAUSALITY_OUTPUT
    };
    const Type type = model_var(translation->model, var->var)->type;
    const bool is_given = var->value.kind != VALUE_NONE;
    const Term value = value_term(translation, &var->value, var->var);
    Variable *v = model_var(translation->model, var->var);
    v->causality = causalities[var->kind];
    v->variability = type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    if (var->kind == KIND_PARAMETER || var->kind == KIND_CONSTANT) {
        v->variability = var->kind == KIND_PARAMETER ? VARIABILITY_PARAMETER : VARIABILITY_CONSTANT;
        v->definition = DEFINITION_BINDING;
        v->binding = value;
    } else if (is_given || type.kind == TYPE_BOOLEAN || var->kind == KIND_INPUT) {
        v->start = value;
    }
    settle_nominal(translation, var);
}

/* ---- objects ---- */
static void add_object(Translation *translation, const Submodel *submodel)
{
    uint32_t k;
    if (map_get(&translation->objects.names, submodel->name.name.index, &k)) {
        REPORT(translation, DIAG_DYM_TWICE, submodel->name.span, "there are two objects `%s`",
               NAME(translation, submodel->name));
        diag_note(translation->diag, translation->objects.all.at[k].name.span, "the first is here");
        return;
    }
    Translation *part = dym_lower_class(translation->load, submodel->class, submodel->name.span);
    if (!part)
        return;
    if (translation->model->instances.n + part->model->instances.n > MOST_OBJECTS) {
        REPORT(translation, DIAG_DYM_TOO_LARGE, submodel->name.span, "the model has more than %d objects",
               MOST_OBJECTS);
        diag_help(translation->diag, "objects of objects multiply; check how many each class needs");
        return;
    }
    ClassObject object = {
        .name = submodel->name, .text = submodel, .translation = part, .first_port = translation->model->ports.n
    };
    object.instance = model_compose(translation->model, (InstanceId){ 0 }, submodel->name.name, part->model,
                                    submodel->name.span, &object.first_var);
    for (uint32_t j = 0; j < part->variables.all.n; j++) /* directions are those of the whole model */
        if (part->variables.all.at[j].kind == KIND_INPUT || part->variables.all.at[j].kind == KIND_OUTPUT)
            translation->model->variables.at[object.first_var + part->variables.all.at[j].var.index].causality =
                CAUSALITY_LOCAL;
    map_put(&translation->objects.names, submodel->name.name.index, translation->objects.all.n);
    vec_push(translation->arena, &translation->objects.all, object);
    dym_take_memories(translation, &object);
    dym_take_inits(translation, &object);
}

static const ClassVariable *parameter_at(const Translation *translation, uint32_t place)
{
    for (uint32_t k = 0; k < translation->variables.all.n; k++)
        if (translation->variables.all.at[k].kind == KIND_PARAMETER && place-- == 0)
            return &translation->variables.all.at[k];
    return NULL;
}

static const ClassVariable *parameter_of(Translation *translation, const ClassObject *object, const ParamItem *item,
                                         uint32_t place)
{
    const Translation *part = object->translation;
    uint32_t k;
    const ClassVariable *found = NULL;
    if (name_is_empty(item->name.name))
        found = parameter_at(part, place);
    else if (map_get(&part->variables.names, item->name.name.index, &k) &&
             part->variables.all.at[k].kind != KIND_CONSTANT)
        found = &part->variables.all.at[k];
    if (found)
        return found;
    if (name_is_empty(item->name.name))
        REPORT(translation, DIAG_DYM_PARAMETER, item->value.span, "the class of `%s` has no parameter number %u",
               NAME(translation, object->name), place + 1);
    else
        REPORT(translation, DIAG_DYM_PARAMETER, item->name.span, "the class of `%s` has no parameter `%s`",
               NAME(translation, object->name), NAME(translation, item->name));
    diag_help(translation->diag,
              "what the class declares as `parameter` can be set, and start values of its other variables, by name");
    return NULL;
}

/* An array follows another element by element. */
static Term parameter_term(Translation *translation, VarId var)
{
    Pool *pool = translation->load->pool;
    const Extent e = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank;
    TermBuilder builder = term_builder(translation->model);
    if (rank == 0 || !fits_in_braces(translation, model_var(translation->model, var)->span, e))
        return term_ref(translation->model, ref_now(var));
    const Expr **outer = NEW_ARRAY(translation->arena, const Expr *, e.rows),
               **row = NEW_ARRAY(translation->arena, const Expr *, e.columns);
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
static bool bind_to(Translation *translation, const Value *value, Term *binding, VarId parameter)
{
    const Type type = model_var(translation->model, parameter)->type;
    uint32_t k;
    if (!map_get(&translation->variables.names, value->variable.name.index, &k)) {
        REPORT(translation, DIAG_DYM_UNKNOWN_NAME, value->span, "there is no variable `%s`",
               NAME(translation, value->variable));
        diag_help(translation->diag, "a parameter follows a parameter or constant of the enclosing model");
        return false;
    }
    const Variable *outer = model_var(translation->model, translation->variables.all.at[k].var);
    if (outer->variability > VARIABILITY_PARAMETER || !type_equal(outer->type, type) ||
        !extent_equal(dym_variable_extent(translation, translation->variables.all.at[k].var),
                      dym_variable_extent(translation, parameter))) {
        REPORT(translation, DIAG_DYM_PARAMETER, value->span, "`%s` is no parameter of the same type",
               NAME(translation, value->variable));
        diag_help(translation->diag, "a parameter follows a parameter or constant; else declare it as `terminal`");
        return false;
    }
    *binding = parameter_term(translation, translation->variables.all.at[k].var);
    return true;
}

static void set_parameters(Translation *translation, const ClassObject *object)
{
    for (uint32_t k = 0; k < object->text->params.n; k++) {
        const ParamItem *item = &object->text->params.at[k];
        const ClassVariable *parameter = parameter_of(translation, object, item, k);
        if (!parameter)
            continue;
        const VarId var = { object->first_var + parameter->var.index };
        const Type type = model_var(translation->model, var)->type;
        const bool is_start = parameter->kind != KIND_PARAMETER;
        Term binding;
        if (is_start && item->value.kind == VALUE_VARIABLE) {
            REPORT(translation, DIAG_DYM_PARAMETER, item->value.span, "the start value of `%s` must be a number",
                   NAME(translation, item->name));
            continue;
        }
        if (item->value.kind == VALUE_VARIABLE) {
            if (!bind_to(translation, &item->value, &binding, var))
                continue;
        } else if ((item->value.kind == VALUE_BOOLEAN) != (type.kind == TYPE_BOOLEAN)) {
            REPORT(translation, DIAG_DYM_TYPE, item->value.span, "a number and a Boolean do not fit together");
            continue;
        } else {
            binding = value_term(translation, &item->value, var);
        }
        *(is_start ? &model_var(translation->model, var)->start : &model_var(translation->model, var)->binding) =
            binding;
    }
}

/* ---- classes ---- */
static void collect_chain(Translation *translation, const Class *class)
{
    for (; class; class = class->super)
        vec_push(translation->arena, &translation->chain, class);
    for (uint32_t k = 0; k < translation->chain.n / 2; k++) {
        const Class *last = translation->chain.at[translation->chain.n - 1 - k];
        translation->chain.at[translation->chain.n - 1 - k] = translation->chain.at[k];
        translation->chain.at[k] = last;
    }
}

Translation *dym_new_translation(Load *load, const Class *class)
{
    Translation *translation = NEW(load->arena, Translation);
    *translation = (Translation){ .load = load, .arena = load->arena, .diag = load->diag, .errors = load->errors };
    translation->cuts.main_at = translation->paths.main_at = SPAN_NONE;
    translation->model = model_create(load->pool, load->request->sources, class->name.name, "dymola", class->name.span);
    map_init(&translation->variables.names, load->arena, 16);
    map_init(&translation->cuts.names, load->arena, 16);
    map_init(&translation->paths.names, load->arena, 4);
    map_init(&translation->objects.names, load->arena, 16);
    map_init(&translation->types.of_variable, load->arena, 16);
    map_init(&translation->points.of_port, load->arena, 16);
    map_init(&translation->memories.known, load->arena, 4);
    dym_new_type(translation);
    dym_new_type(translation);
    collect_chain(translation, class);
    return translation;
}

static void lower_body(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        for (uint32_t k = 0; k < translation->chain.at[c]->submodels.n; k++)
            add_object(translation, &translation->chain.at[c]->submodels.at[k]);
        for (uint32_t k = 0; k < translation->chain.at[c]->variables.n; k++)
            dym_declare(translation, &translation->chain.at[c]->variables.at[k]);
    }
    if (*translation->errors)
        return;
    dym_lower_cuts(translation);
    dym_join_wires(translation);
    if (*translation->errors)
        return;
    dym_infer_types(translation);
    for (uint32_t k = 0; k < translation->variables.all.n; k++)
        settle(translation, &translation->variables.all.at[k]);
    for (uint32_t k = 0; k < translation->model->variables.n; k++) { /* variables that a cut took over */
        Variable *v = &translation->model->variables.at[k];
        uint32_t type;
        if (v->owner.index && map_get(&translation->types.of_variable, k, &type))
            v->variability = v->type.kind == TYPE_BOOLEAN ? VARIABILITY_DISCRETE : VARIABILITY_CONTINUOUS;
    }
    for (uint32_t k = 0; k < translation->objects.all.n; k++)
        set_parameters(translation, &translation->objects.all.at[k]);
    dym_find_memories(translation);
    if (*translation->errors)
        return;
    dym_emit_connections(translation);
    dym_lower_equations(translation);
}

Translation *dym_lower_class(Load *load, Class *class, Span wanted_at)
{
    if (class->translation || class->has_failed)
        return class->translation;
    if (load->depth > DEEPEST) {
        REPORT(load, DIAG_DYM_TOO_LARGE, wanted_at, "objects are nested more than %d deep", DEEPEST);
        diag_help(load->diag, "state more in one class");
        return NULL;
    }
    load->depth++;
    const uint32_t before = *load->errors;
    Translation *translation = dym_new_translation(load, class);
    lower_body(translation);
    load->depth--;
    class->has_failed = *load->errors > before;
    class->translation = class->has_failed ? NULL : translation;
    return class->translation;
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
