/* Initial values that a component gives to quantities of its subcomponents. */
#include "lang/simplex/compose_parts.h"

/* An output of one of our high level components, which stands for a quantity of its part. */
static bool is_synonym(const Model *model, VarId above, Term source)
{
    if (term_is_absent(source) || source.shape->kind != EXPR_LEAF || source.shape->n_args ||
        term_refs(model, source)[0].kind != REF_NOW)
        return false;
    const InstanceId owner = model_var(model, above)->owner;
    const InstanceId below = model_var(model, term_refs(model, source)[0].var)->owner;
    return model->instances.at[below.index].parent.index == owner.index &&
           strcmp(model->instances.at[owner.index].language, "simplex") == 0;
}

/* The value given to an output goes to what it stands for. */
static void find_synonyms(Composer *composer)
{
    const Model *model = composer->model;
    map_init(&composer->sources, composer->arena, 64);
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *equation = &model->equations.at[k];
        if (equation->kind != EQUATION_EXPLICIT || equation->lhs.shape->n_args)
            continue;
        const Ref left = term_refs(model, equation->lhs)[0];
        if (left.kind == REF_NOW && is_synonym(model, left.var, equation->rhs))
            map_put(&composer->sources, left.var.index, term_refs(model, equation->rhs)[0].var.index);
    }
    for (uint32_t k = 0; k < model->variables.n; k++)
        if (is_synonym(model, (VarId){ k }, model->variables.at[k].binding))
            map_put(&composer->sources, k, term_refs(model, model->variables.at[k].binding)[0].var.index);
    composer->has_sources = true;
}

static VarId resolve_synonym(Composer *composer, VarId var)
{
    if (!composer->has_sources)
        find_synonyms(composer);
    for (uint32_t steps = 0; steps < composer->model->instances.n; steps++)
        if (!map_get(&composer->sources, var.index, &var.index))
            break;
    return var;
}

static VarId find_initialised(Composer *composer, const Path *path)
{
    if (!name_is_empty(path->sub.name)) {
        const VarId var = mdl_find_in_sub(composer, path);
        return var_is_none(var) || mdl_check_element(composer, path, var) ? var : VAR_NONE;
    }
    const uint32_t at =
        mdl_scope_use(&composer->scope, path->quantity.name, path->span, DIAG_MDL_UNKNOWN_OUTPUT, "input or output");
    const Symbol *symbol = &composer->scope.list.at[at];
    if (symbol->kind == SYMBOL_OUTPUT)
        return composer->output_vars[symbol->object];
    if (symbol->kind == SYMBOL_INPUT)
        return composer->input_vars[symbol->object];
    if (symbol->kind == SYMBOL_SUB) {
        REPORT(composer, DIAG_MDL_UNKNOWN_OUTPUT, path->span, "`%s` is a subcomponent, not a quantity",
               names_of(composer->scope.names, path->quantity.name));
        diag_help(composer->diag, "name one of its quantities: subcomponent.quantity");
    }
    return VAR_NONE;
}

static void set_initial(Model *model, VarId var, const Expr *value)
{
    Variable *variable = model_var(model, var);
    if (variable->variability <= VARIABILITY_PARAMETER) {
        variable->binding = term_expr(model, value);
        return;
    }
    variable->start = term_expr(model, value);
    variable->is_fixed |= variable->definition == DEFINITION_DER || variable->definition == DEFINITION_NEXT;
}

/* A value that is drawn when the run begins. */
static void draw_initial(Composer *composer, const Initial *initial, VarId var)
{
    const Variable *variable = model_var(composer->model, var);
    const bool is_state = variable->definition == DEFINITION_DER || variable->definition == DEFINITION_NEXT;
    Checker checker = { .scope = composer->scope,
                        .pool = composer->pool,
                        .arena = composer->arena,
                        .diag = composer->diag,
                        .errors = composer->errors,
                        .component = composer->component };
    Term value;
    if (!is_state || variable->type.kind != TYPE_REAL || variable->type.rank) {
        REPORT(composer, DIAG_MDL_DRAW, initial->value.span,
               "`%s` is no single REAL state variable: it cannot be drawn", mdl_path_text(composer, &initial->target));
        diag_note(composer->diag, variable->span, "declared here");
        diag_help(composer->diag, "initial values of arrays are drawn where they are declared");
        return;
    }
    if (!mdl_compose_draw(&checker, composer->model, initial->value.node, mdl_path_text(composer, &initial->target),
                          &value))
        return;
    model_var(composer->model, var)->start = value;
    model_var(composer->model, var)->is_fixed = true;
}

void mdl_compose_initial(Composer *composer, uint32_t row)
{
    const Initial *initial = &composer->component->initials.at[row];
    VarId var = find_initialised(composer, &initial->target);
    if (var_is_none(var))
        return;
    var = resolve_synonym(composer, var);
    const uint32_t earlier = initial->target.n_elements ? 0 : composer->initialised[var.index];
    if (earlier) {
        REPORT(composer, DIAG_MDL_INITIALIZED_TWICE, initial->target.span, "`%s` already has an initial value",
               mdl_path_text(composer, &initial->target));
        diag_note(composer->diag, composer->component->initials.at[earlier - 1].target.span, "given here");
        diag_help(composer->diag, "remove one of them; a synonym and what it stands for are one quantity");
        return;
    }
    composer->initialised[var.index] = row + 1;
    if (initial->value.kind == VALUE_EXPRESSION) {
        draw_initial(composer, initial, var);
        return;
    }
    Type type = model_var(composer->model, var)->type;
    type.rank = 0; /* one value for all elements */
    const Expr *value =
        mdl_check_value(&composer->scope, composer->pool, &initial->value, type, initial->target.quantity.name);
    if (value && initial->target.n_elements)
        value = mdl_replace_element(composer, &initial->target, var, value);
    if (value)
        set_initial(composer->model, var, value);
    if (var.index < composer->n_sub_vars && composer->connected[var.index] > composer->component->inputs.n &&
        mdl_is_input(composer->model, var)) {
        diag_warning(composer->diag, DIAG_MDL_NO_EFFECT, initial->target.span,
                     "`%s` is connected: its initial value has no effect", mdl_path_text(composer, &initial->target));
        diag_note(composer->diag, mdl_link_of(composer, composer->connected[var.index] - 1)->to.span, "the connection");
    }
}
