/* Subcomponents, connections, synonyms and initial values; see compose.h. */
#include "lang/simplex/compose_parts.h"
#include "base/bug.h"
#include "base/text.h"
#include "base/unit.h"
#include "lang/simplex/check.h"
#include "lang/simplex/lower.h"

/* ---- subcomponents ---- */
static uint32_t find_class(Composer *composer, const Ident *name)
{
    uint32_t at;
    if (map_get(&composer->class_by_name, name->name.index, &at))
        return at;
    Class class = { .part = composer->resolver->find(composer->resolver, names_of(composer->scope.names, name->name),
                                                     name->span, composer->diag) };
    *composer->errors += class.part == NULL;
    if (class.part && class.part->functions.n && class.part->variables.n == 0 && class.part->instances.n == 1) {
        REPORT(composer, DIAG_MDL_PROCEDURE, name->span, "`%s` is a function, not a component",
               names_of(composer->scope.names, name->name));
        diag_help(composer->diag, "a basic component uses it: LOCAL DEFINITIONS FUNCTION %s",
                  names_of(composer->scope.names, name->name));
    }
    map_init(&class.quantities, composer->arena, 16);
    for (uint32_t k = 0; class.part && k < class.part->variables.n; k++) {
        const Variable *variable = &class.part->variables.at[k];
        if (variable->owner.index == 0 && !variable->is_generated && !variable->is_protected)
            mdl_map_put_name(&class.quantities, composer->scope.names, composer->arena, variable->name, k);
    }
    at = composer->classes.n;
    map_put(&composer->class_by_name, name->name.index, at);
    vec_push(composer->arena, &composer->classes, class);
    return at;
}

/* Room for all parts at once: growing step by step would touch several times the memory. A few short texts that
 * contain each other twice are enough for any number of parts, so there is a limit. */
static bool reserve_parts(Composer *composer)
{
    const uint64_t most = 20000000, most_instances = 1000000; /* a component takes about as much as ten other parts */
    const Component *component = composer->component;
    Model *model = composer->model;
    uint64_t refs = 2 * (uint64_t)component->equivalences.n;
    uint64_t variables = component->inputs.n + (uint64_t)component->equivalences.n;
    uint64_t equations = component->equivalences.n, instances = 1;
    uint64_t connections = component->inputs.n + (uint64_t)component->connections.n, occurrences = 0;
    for (uint32_t k = 0; k < component->subs.n; k++) {
        const Model *part = composer->classes.at[composer->subs[k].class].part;
        const uint64_t count = component->subs.at[k].sizes.count;
        if (!part)
            continue;
        refs += count * part->refs.n;
        variables += count * part->variables.n;
        equations += count * part->equations.n;
        instances += count * part->instances.n;
        connections += count * part->connections.n;
        occurrences += count * part->occurrences.n;
    }
    const uint64_t all = refs + variables + equations + instances + connections + occurrences;
    if (instances > most_instances) {
        REPORT(composer, DIAG_MDL_TOO_MANY, component->name.span, "`%s` would have %llu components",
               names_of(composer->scope.names, component->name.name), (unsigned long long)instances);
        diag_help(composer->diag, "components within components are at most %llu together",
                  (unsigned long long)most_instances);
        return false;
    }
    if (all > most) {
        REPORT(composer, DIAG_MDL_TOO_MANY, component->name.span, "`%s` would have %llu parts",
               names_of(composer->scope.names, component->name.name), (unsigned long long)all);
        diag_help(composer->diag, "components, quantities, equations and connections are at most %llu together",
                  (unsigned long long)most);
        return false;
    }
    vec_reserve(model->arena, &model->refs, (uint32_t)refs);
    vec_reserve(model->arena, &model->variables, (uint32_t)variables);
    vec_reserve(model->arena, &model->equations, (uint32_t)equations);
    vec_reserve(model->arena, &model->instances, (uint32_t)instances);
    vec_reserve(model->arena, &model->connections, (uint32_t)connections);
    vec_reserve(model->arena, &model->occurrences, (uint32_t)occurrences);
    return true;
}

static bool compose_subs(Composer *composer)
{
    const Component *component = composer->component;
    composer->subs = NEW_ARRAY(composer->arena, Sub, component->subs.n);
    for (uint32_t k = 0; k < component->subs.n; k++) {
        SubDecl *declared = &composer->component->subs.at[k];
        mdl_check_sizes(&composer->scope, composer->pool, component, &declared->sizes);
        mdl_scope_declare(&composer->scope, (Symbol){ .kind = SYMBOL_SUB, .object = k, .name = declared->name });
        composer->subs[k].class = find_class(composer, &declared->class_name);
    }
    if (!reserve_parts(composer))
        return false;
    for (uint32_t k = 0; k < component->subs.n; k++) {
        const SubDecl *declared = &component->subs.at[k];
        Sub *sub = &composer->subs[k];
        const Model *part = composer->classes.at[sub->class].part;
        for (uint64_t j = 0; part && j < declared->sizes.count; j++) {
            uint32_t first_var;
            NameId name = declared->name.name;
            if (declared->sizes.n)
                name = names_text(
                    composer->scope.names,
                    mdl_element_text(composer->arena, names_of(composer->scope.names, name), &declared->sizes, j));
            model_compose(composer->model, (InstanceId){ 0 }, name, part, declared->name.span, &first_var);
            if (j == 0)
                sub->first_var = first_var; /* the others follow */
        }
    }
    return true;
}

/* All parts of a model count the time in one unit. */
static void check_time_units(Composer *composer)
{
    const Component *component = composer->component;
    const Names *names = composer->scope.names;
    uint32_t first = ID_NONE;
    for (uint32_t k = 0; k < component->subs.n; k++) {
        const Model *part = composer->classes.at[composer->subs[k].class].part;
        Unit a, b;
        UnitFault fault;
        if (!part || name_is_empty(part->time_unit))
            continue;
        const char *own = names_of(names, part->time_unit);
        const char *other = names_of(names, composer->model->time_unit);
        if (first == ID_NONE) {
            first = k;
            composer->model->time_unit = part->time_unit;
        } else if (unit_parse(own, strlen(own), &a, &fault) == UNIT_GOOD &&
                   unit_parse(other, strlen(other), &b, &fault) == UNIT_GOOD && !unit_is_same(&a, &b)) {
            REPORT(composer, DIAG_MDL_TIME_UNIT, component->subs.at[k].name.span,
                   "`%s` counts the time in %s, `%s` in %s", names_of(names, component->subs.at[k].name.name), own,
                   names_of(names, component->subs.at[first].name.name), other);
            diag_note(composer->diag, component->subs.at[first].name.span, "the other one");
            diag_help(composer->diag,
                      "all parts of a model have one time: declare T [%s] in its class and convert the "
                      "rates there; without T [...] it is in s",
                      other);
            return;
        }
    }
}

/* ---- paths ---- */
static void report_unknown(Composer *composer, const Path *path, const Class *class)
{
    const char *name = names_of(composer->scope.names, path->quantity.name);
    REPORT(composer, DIAG_MDL_UNKNOWN_QUANTITY, path->quantity.span, "`%s` has no quantity `%s`",
           names_of(composer->scope.names, path->sub.name), name);
    if (!mdl_is_worth_searching(composer->diag))
        return;
    Nearest nearest = mdl_nearest_to(name);
    for (uint32_t k = 0; k < class->part->variables.n; k++) {
        const Variable *variable = &class->part->variables.at[k];
        if (variable->owner.index == 0 && !variable->is_generated)
            mdl_nearest_offer(&nearest, names_of(composer->scope.names, variable->name));
    }
    mdl_nearest_help(&nearest, composer->diag,
                     "paths are one level deep: an output of a subcomponent's parts needs an OUTPUT "
                     "EQUIVALENCE there");
}

/* Which member of an array of subcomponents; false: reported. */
static bool find_element(Composer *composer, const Path *path, const Sizes *sizes, uint64_t *number)
{
    const char *name = names_of(composer->scope.names, path->sub.name);
    *number = 0;
    if (path->n != sizes->n) {
        if (sizes->n == 0)
            REPORT(composer, DIAG_MDL_INDEX_COUNT, path->sub.span, "`%s` is no array and has no elements", name);
        else
            REPORT(composer, DIAG_MDL_INDEX_COUNT, path->sub.span, "`%s` has %u dimension%s, not %u", name, sizes->n,
                   sizes->n == 1 ? "" : "s", path->n);
        diag_help(composer->diag, sizes->n ? "name one member, as in %s[1]" : "write %s alone", name);
        return false;
    }
    for (uint32_t k = 0; k < path->n; k++) {
        if (path->number[k] < 1 || path->number[k] > sizes->extent[k]) {
            REPORT(composer, DIAG_MDL_INDEX_RANGE, path->index[k]->span, "index %lld of `%s` is outside 1 to %lld",
                   (long long)path->number[k], name, (long long)sizes->extent[k]);
            return false;
        }
        *number = *number * (uint64_t)sizes->extent[k] + (uint64_t)path->number[k] - 1;
    }
    return true;
}

/* The variable of sub.quantity, or none: reported. */
static VarId find_in_sub(Composer *composer, const Path *path)
{
    const uint32_t at =
        mdl_scope_use(&composer->scope, path->sub.name, path->sub.span, DIAG_MDL_UNKNOWN_SUBCOMPONENT, "subcomponent");
    const Symbol *symbol = &composer->scope.list.at[at];
    if (symbol->kind == SYMBOL_UNKNOWN)
        return VAR_NONE;
    if (symbol->kind != SYMBOL_SUB) {
        REPORT(composer, DIAG_MDL_UNKNOWN_SUBCOMPONENT, path->sub.span, "`%s` is not a subcomponent",
               names_of(composer->scope.names, path->sub.name));
        diag_note(composer->diag, symbol->name.span, "declared here");
        return VAR_NONE;
    }
    const Sub *sub = &composer->subs[symbol->object];
    const Class *class = &composer->classes.at[sub->class];
    uint64_t number;
    if (!class->part || !find_element(composer, path, &composer->component->subs.at[symbol->object].sizes, &number))
        return VAR_NONE;
    uint32_t index;
    if (!mdl_map_get_name(&class->quantities, composer->scope.names, composer->arena, path->quantity.name, &index)) {
        report_unknown(composer, path, class);
        return VAR_NONE;
    }
    const Variable *variable = &class->part->variables.at[index];
    if (!name_equal(variable->name, path->quantity.name))
        mdl_report_spelling(&composer->scope, path->quantity.span, (Ident){ variable->name, variable->span });
    return (VarId){ sub->first_var + (uint32_t)number * class->part->variables.n + index };
}

static bool is_input(const Model *model, VarId var)
{
    const Variable *variable = model_var(model, var);
    return variable->definition == DEFINITION_INPUT || variable->causality == CAUSALITY_INPUT;
}

static const char *path_text(Composer *composer, const Path *path)
{
    const char *quantity = names_of(composer->scope.names, path->quantity.name);
    for (uint32_t k = 0; k < path->n_elements; k++)
        quantity = arena_format(composer->arena, "%s%c%lld%s", quantity, k ? ',' : '[',
                                (long long)path->element_number[k], k + 1 == path->n_elements ? "]" : "");
    if (name_is_empty(path->sub.name))
        return quantity;
    const char *sub = names_of(composer->scope.names, path->sub.name);
    for (uint32_t k = 0; k < path->n; k++)
        sub = arena_format(composer->arena, "%s%c%lld%s", sub, k ? ',' : '[', (long long)path->number[k],
                           k + 1 == path->n ? "]" : "");
    return arena_format(composer->arena, "%s.%s", sub, quantity);
}

/* A sensor of a subcomponent, or none: reported. */
static VarId find_sensor(Composer *composer, const Path *path)
{
    const VarId var = find_in_sub(composer, path);
    if (var_is_none(var) || is_input(composer->model, var))
        return var_is_none(var) || mdl_check_element(composer, path, var) ? var : VAR_NONE;
    REPORT(composer, DIAG_MDL_NOT_AN_INPUT, path->span, "`%s` is not a sensor or input", path_text(composer, path));
    diag_note(composer->diag, model_var(composer->model, var)->span, "declared here");
    diag_help(composer->diag, "an arrow points from an output to a sensor");
    return VAR_NONE;
}

/* A constant, state or dependent of a subcomponent, or none: reported. */
static VarId find_output(Composer *composer, const Path *path)
{
    const VarId var = find_in_sub(composer, path);
    if (var_is_none(var) || !is_input(composer->model, var))
        return var_is_none(var) || mdl_check_element(composer, path, var) ? var : VAR_NONE;
    REPORT(composer, DIAG_MDL_NOT_AN_OUTPUT, path->span, "`%s` is a sensor, not an output", path_text(composer, path));
    diag_note(composer->diag, model_var(composer->model, var)->span, "declared here");
    diag_help(composer->diag, "outputs are constants, state variables and dependent variables");
    return VAR_NONE;
}

/* ---- connections ---- */
/* Rows of input connections, then of component connections. */
static const Link *link_of(const Composer *composer, uint32_t row)
{
    const Component *component = composer->component;
    return row < component->inputs.n ? &component->inputs.at[row]
                                     : &component->connections.at[row - component->inputs.n];
}

/* Each sensor takes one connection. */
static bool take_sensor(Composer *composer, VarId sensor, uint32_t row)
{
    const Path *path = &link_of(composer, row)->to;
    uint32_t *taken = path->n_elements
                          ? &mdl_filled_array(composer, sensor)->rows[mdl_element_number(composer, path, sensor)]
                          : &composer->connected[sensor.index];
    uint32_t earlier = composer->connected[sensor.index] ? composer->connected[sensor.index] : *taken;
    for (uint32_t k = 0; !path->n_elements && k < composer->filled.n && !earlier; k++)
        for (uint64_t j = 0; composer->filled.at[k].var.index == sensor.index && j < composer->filled.at[k].count; j++)
            earlier = composer->filled.at[k].rows[j] ? composer->filled.at[k].rows[j] : earlier;
    if (earlier) {
        REPORT(composer, DIAG_MDL_CONNECTED_TWICE, path->span, "`%s` is already connected", path_text(composer, path));
        diag_note(composer->diag, link_of(composer, earlier - 1)->to.span, "here");
        diag_help(composer->diag, "a sensor reads one quantity; combine several in a component of their own");
        return false;
    }
    *taken = row + 1;
    return true;
}

static bool is_continuous(const Variable *variable)
{
    return variable->variability == VARIABILITY_CONTINUOUS;
}

static void declare_input(Composer *composer, const Link *link, VarId sensor, uint32_t row)
{
    Model *model = composer->model;
    Variable like = *model_var(model, sensor);
    like.type = mdl_path_type(composer, &link->to, sensor);
    const Ident *name = &link->from.quantity;
    mdl_scope_declare(&composer->scope, (Symbol){ .kind = SYMBOL_INPUT, .object = row, .name = *name });
    if (like.type.rank > 0) {
        REPORT(composer, DIAG_MDL_CONNECTION_SET, link->to.span, "`%s` is an array", path_text(composer, &link->to));
        diag_help(composer->diag, "an input is a single quantity: connect it with the elements, as in %s[1]",
                  path_text(composer, &link->to));
        return;
    }
    const VarId var = model_add_variable(model, (InstanceId){ 0 }, name->name, like.type, name->span);
    Variable *variable = model_var(model, var);
    variable->variability = like.variability;
    variable->unit = like.unit;
    variable->definition = DEFINITION_INPUT;
    variable->causality = CAUSALITY_INPUT;
    variable->start = term_expr(model, mdl_default_value(model->pool, like.type));
    composer->input_vars[row] = var;
}

/* All sensors of one input have its value set and time course. */
static bool agrees(Composer *composer, const Link *link, VarId input, VarId sensor)
{
    const Variable *a = model_var(composer->model, input), *b = model_var(composer->model, sensor);
    if (type_equal(a->type, mdl_path_type(composer, &link->to, sensor)) && is_continuous(a) == is_continuous(b))
        return true;
    REPORT(composer, DIAG_MDL_INPUT_LIST, link->to.span, "`%s` differs from what `%s` is connected to already",
           path_text(composer, &link->to), path_text(composer, &link->from));
    diag_note(composer->diag, b->span, "this is %s%s", is_continuous(b) ? "continuous, " : "discrete, ",
              mdl_set_text(composer->pool, b->type, composer->arena));
    diag_help(composer->diag, "all members have one value set and one time course");
    return false;
}

static bool unit_of(const Composer *composer, const Variable *variable, Unit *unit)
{
    const Names *names = composer->scope.names;
    UnitFault fault;
    return !name_is_empty(variable->unit) &&
           unit_parse(names_of(names, variable->unit), names_length(names, variable->unit), unit, &fault) == UNIT_GOOD;
}

/* Whether the connection converts; what cannot be converted is told, and connected as it is. */
static bool converts(Composer *composer, const Link *link, const Variable *from, const Variable *to)
{
    Unit a, b;
    if (name_equal(from->unit, to->unit) || !unit_of(composer, from, &a) || !unit_of(composer, to, &b) ||
        unit_is_same(&a, &b))
        return false;
    const bool is_possible = unit_has_same_dimension(&a, &b);
    const bool is_array = to->type.rank > 0 && link->to.n_elements == 0;
    if (is_possible && is_array) {
        REPORT(composer, DIAG_MDL_CONNECTION_SET, link->to.span,
               "`%s` is in %s, but `%s` in %s: arrays are not converted", path_text(composer, &link->to),
               names_of(composer->scope.names, to->unit), path_text(composer, &link->from),
               names_of(composer->scope.names, from->unit));
        diag_help(composer->diag, "connect them element by element in a FOR, or declare one unit");
        return false;
    }
    if (is_possible && from->type.kind == TYPE_REAL)
        return true;
    diag_warning(composer->diag, DIAG_MDL_CONNECTION_UNIT, link->to.span, "`%s` is in %s, but `%s` in %s",
                 path_text(composer, &link->to), names_of(composer->scope.names, to->unit),
                 path_text(composer, &link->from), names_of(composer->scope.names, from->unit));
    diag_note(composer->diag, to->span, "the sensor");
    diag_note(composer->diag, from->span, "the output");
    diag_help(composer->diag, is_possible
                                  ? "an INTEGER is not converted: declare both as REAL, or in one unit"
                                  : "these are different kinds of quantities; the number is passed on as it is");
    return false;
}

/* to := from, where one of them is an element. */
static void join_element(Composer *composer, const Link *link, VarId from, VarId to, bool is_converting)
{
    Model *model = composer->model;
    TermBuilder left = term_builder(model), right = term_builder(model);
    const Expr *value = link->from.n_elements
                            ? mdl_element_expr(composer, &right, from, mdl_element_number(composer, &link->from, from))
                            : term_leaf(&right, ref_now(from));
    Unit a, b;
    if (is_converting && unit_of(composer, model_var(model, from), &a) && unit_of(composer, model_var(model, to), &b)) {
        double factor, offset;
        unit_convert(&a, &b, &factor, &offset);
        value = expr_binary(model->pool, OP_MUL, expr_real(model->pool, factor), value);
        value = expr_binary(model->pool, OP_ADD, value, expr_real(model->pool, offset));
    }
    const Expr *target = link->to.n_elements
                             ? mdl_element_expr(composer, &left, to, mdl_element_number(composer, &link->to, to))
                             : term_leaf(&left, ref_now(to));
    const Term right_side = term_finish(&right, value);
    mdl_define(composer, to, term_finish(&left, target), right_side, link->to.span);
}

static void join(Composer *composer, const Link *link, VarId from, VarId to)
{
    Model *model = composer->model;
    const bool is_converting = converts(composer, link, model_var(model, from), model_var(model, to));
    if (link->from.n_elements || link->to.n_elements) {
        join_element(composer, link, from, to, is_converting);
        return;
    }
    model_connect(model, from, to, link->to.span);
    model->connections.at[model->connections.n - 1].is_converting = is_converting;
}

/* V --> B.V declares the input V, which takes its properties from the sensor. */
static void compose_input(Composer *composer, uint32_t row)
{
    const Link *link = &composer->component->inputs.at[row];
    const VarId sensor = find_sensor(composer, &link->to);
    composer->input_vars[row] = VAR_NONE;
    if (var_is_none(sensor))
        return;
    const bool is_free = take_sensor(composer, sensor, row);
    const uint32_t at = mdl_scope_find(&composer->scope, link->from.quantity.name, link->from.span);
    if (at == ID_NONE || composer->scope.list.at[at].kind != SYMBOL_INPUT) {
        declare_input(composer, link, sensor, row);
    } else {
        composer->input_vars[row] = composer->input_vars[composer->scope.list.at[at].object];
        if (var_is_none(composer->input_vars[row]) || !agrees(composer, link, composer->input_vars[row], sensor))
            return;
    }
    if (is_free && !var_is_none(composer->input_vars[row]))
        join(composer, link, composer->input_vars[row], sensor);
}

/* R := B.Y is a variable of the type of Y with the equation R := Y; of a constant it is a constant. */
static VarId add_output(Composer *composer, const Equivalence *equivalence, VarId source)
{
    Model *model = composer->model;
    Variable like = *model_var(model, source);
    like.type = mdl_path_type(composer, &equivalence->source, source);
    const Span span = span_join(equivalence->name.span, equivalence->source.span);
    const VarId var =
        model_add_variable(model, (InstanceId){ 0 }, equivalence->name.name, like.type, equivalence->name.span);
    Variable *variable = model_var(model, var);
    variable->variability = like.variability;
    variable->unit = like.unit;
    TermBuilder builder = term_builder(model);
    const Path *path = &equivalence->source;
    const Expr *element = path->n_elements
                              ? mdl_element_expr(composer, &builder, source, mdl_element_number(composer, path, source))
                              : NULL;
    const Term value = element ? term_finish(&builder, element) : term_ref(model, ref_now(source));
    variable = model_var(model, var);
    if (like.variability <= VARIABILITY_PARAMETER) {
        variable->definition = DEFINITION_BINDING;
        variable->binding = value;
        variable->is_synonym = !element;
        return var;
    }
    variable->definition = DEFINITION_NOW;
    variable->causality = CAUSALITY_OUTPUT;
    model_add_equation(model, EQUATION_EXPLICIT, term_ref(model, ref_now(var)), value, span);
    return var;
}

static void compose_output(Composer *composer, uint32_t row)
{
    const Equivalence *equivalence = &composer->component->equivalences.at[row];
    const VarId source = find_output(composer, &equivalence->source);
    composer->output_vars[row] = source;
    const bool is_new = mdl_scope_declare(&composer->scope,
                                          (Symbol){ .kind = SYMBOL_OUTPUT, .object = row, .name = equivalence->name });
    if (var_is_none(source) || !is_new)
        return;
    if (mdl_path_type(composer, &equivalence->source, source).rank > 0) {
        REPORT(composer, DIAG_MDL_CONNECTION_SET, equivalence->source.span, "`%s` is an array",
               path_text(composer, &equivalence->source));
        diag_help(composer->diag, "an output is a single quantity: name an element, as in %s[1]",
                  path_text(composer, &equivalence->source));
        return;
    }
    if (equivalence->source.n_elements) {
        composer->output_vars[row] = add_output(composer, equivalence, source);
        return;
    }
    const uint32_t earlier = composer->published[source.index];
    if (earlier) {
        REPORT(composer, DIAG_MDL_OUTPUT_TWICE, equivalence->source.span, "`%s` already has a synonym",
               path_text(composer, &equivalence->source));
        diag_note(composer->diag, composer->component->equivalences.at[earlier - 1].name.span, "this one");
        diag_help(composer->diag, "use that name");
        return;
    }
    composer->published[source.index] = row + 1;
    add_output(composer, equivalence, source);
}

/* `name`, declared by an output equivalence, or `sub.quantity`. */
static VarId find_source(Composer *composer, const Path *path)
{
    if (!name_is_empty(path->sub.name))
        return find_output(composer, path);
    const uint32_t at =
        mdl_scope_use(&composer->scope, path->quantity.name, path->span, DIAG_MDL_UNKNOWN_OUTPUT, "output");
    const Symbol *symbol = &composer->scope.list.at[at];
    if (symbol->kind == SYMBOL_OUTPUT)
        return composer->output_vars[symbol->object];
    if (symbol->kind == SYMBOL_UNKNOWN)
        return VAR_NONE;
    REPORT(composer, DIAG_MDL_UNKNOWN_OUTPUT, path->span, "`%s` is not an output",
           names_of(composer->scope.names, path->quantity.name));
    diag_note(composer->diag, symbol->name.span, "declared here");
    diag_help(composer->diag, symbol->kind == SYMBOL_INPUT ? "an input is connected under INPUT CONNECTIONS"
                                                           : "name one of its quantities");
    return VAR_NONE;
}

/* "REAL", "an ARRAY [3] of REAL", "the set `Colour` (red, green)" */
static const char *shape_text(Composer *composer, const Variable *variable, Type type)
{
    Type scalar = type;
    scalar.rank = 0;
    Text text = { .arena = composer->arena };
    for (uint32_t k = 0; k < type.rank; k++)
        text_format(&text, "%s%lld%s", k ? ", " : "an ARRAY [", (long long)mdl_extent(composer->model, variable, k),
                    k + 1 == type.rank ? "] of " : "");
    text_add(&text, mdl_set_text(composer->pool, scalar, composer->arena));
    if (type.kind != TYPE_ENUM)
        return text.at;
    const Enumeration *set = pool_get_enumeration(composer->pool, type.enumeration);
    for (uint32_t k = 0; k < set->n; k++)
        text_format(&text, "%s%s", k ? set->is_ordered ? " < " : ", " : " (",
                    names_of(composer->scope.names, set->values[k]));
    text_char(&text, ')');
    return text.at;
}

static bool check_connection(Composer *composer, const Link *link, VarId source, VarId sensor)
{
    const Variable *from = model_var(composer->model, source), *to = model_var(composer->model, sensor);
    const Type a = mdl_path_type(composer, &link->from, source), b = mdl_path_type(composer, &link->to, sensor);
    bool fits = type_equal(a, b);
    for (uint32_t k = 0; fits && k < a.rank; k++)
        fits = mdl_extent(composer->model, from, k) == mdl_extent(composer->model, to, k);
    if (!fits) {
        REPORT(composer, DIAG_MDL_CONNECTION_SET, link->to.span, "`%s` is of %s, but `%s` of %s",
               path_text(composer, &link->to), shape_text(composer, to, b), path_text(composer, &link->from),
               shape_text(composer, from, a));
        diag_note(composer->diag, to->span, "the sensor");
        diag_note(composer->diag, from->span, "the output");
        diag_help(composer->diag,
                  "both must have the same value set (of the same name, values and order) and, if they are "
                  "arrays, the same sizes; elements are connected as in %s[1]",
                  path_text(composer, &link->to));
        return false;
    }
    if (is_continuous(from) && !is_continuous(to)) {
        REPORT(composer, DIAG_MDL_CONNECTION_COURSE, link->to.span,
               "the discrete sensor `%s` cannot read the continuous `%s`", path_text(composer, &link->to),
               path_text(composer, &link->from));
        diag_note(composer->diag, to->span, "the sensor");
        diag_help(composer->diag, "declare the sensor under CONTINUOUS; such a sensor reads discrete quantities too");
        return false;
    }
    return true;
}

static void compose_connections(Composer *composer)
{
    VarId source = VAR_NONE;
    for (uint32_t k = 0; k < composer->component->connections.n; k++) {
        const Link *link = &composer->component->connections.at[k];
        if (!link->is_repeated)
            source = find_source(composer, &link->from);
        const VarId sensor = find_sensor(composer, &link->to);
        if (var_is_none(sensor) || !take_sensor(composer, sensor, composer->component->inputs.n + k) ||
            var_is_none(source))
            continue;
        if (check_connection(composer, link, source, sensor))
            join(composer, link, source, sensor);
    }
}

/* ---- initial values ---- */
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
        const VarId var = find_in_sub(composer, path);
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
               "`%s` is no single REAL state variable: it cannot be drawn", path_text(composer, &initial->target));
        diag_note(composer->diag, variable->span, "declared here");
        diag_help(composer->diag, "initial values of arrays are drawn where they are declared");
        return;
    }
    if (!mdl_compose_draw(&checker, composer->model, initial->value.node, path_text(composer, &initial->target),
                          &value))
        return;
    model_var(composer->model, var)->start = value;
    model_var(composer->model, var)->is_fixed = true;
}

static void compose_initial(Composer *composer, uint32_t row)
{
    const Initial *initial = &composer->component->initials.at[row];
    VarId var = find_initialised(composer, &initial->target);
    if (var_is_none(var))
        return;
    var = resolve_synonym(composer, var);
    const uint32_t earlier = initial->target.n_elements ? 0 : composer->initialised[var.index];
    if (earlier) {
        REPORT(composer, DIAG_MDL_INITIALIZED_TWICE, initial->target.span, "`%s` already has an initial value",
               path_text(composer, &initial->target));
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
        is_input(composer->model, var)) {
        diag_warning(composer->diag, DIAG_MDL_NO_EFFECT, initial->target.span,
                     "`%s` is connected: its initial value has no effect", path_text(composer, &initial->target));
        diag_note(composer->diag, link_of(composer, composer->connected[var.index] - 1)->to.span, "the connection");
    }
}

static void compose_parts(Composer *composer)
{
    const Component *component = composer->component;
    mdl_check_dimensions(&composer->scope, composer->component);
    if (!mdl_write_out_links(&composer->scope, composer->component) || !compose_subs(composer))
        return;
    check_time_units(composer);
    composer->input_vars = NEW_ARRAY(composer->arena, VarId, component->inputs.n);
    composer->n_sub_vars = composer->model->variables.n;
    composer->connected = NEW_ARRAY(composer->arena, uint32_t, composer->model->variables.n);
    composer->published = NEW_ARRAY(composer->arena, uint32_t, composer->model->variables.n);
    for (uint32_t k = 0; k < component->inputs.n; k++)
        compose_input(composer, k);
    for (uint32_t k = 0; k < component->equivalences.n; k++)
        compose_output(composer, k);
    compose_connections(composer);
    composer->initialised = NEW_ARRAY(composer->arena, uint32_t, composer->model->variables.n);
    for (uint32_t k = 0; k < component->initials.n; k++)
        compose_initial(composer, k);
    mdl_fill_elements(composer);
}

Model *mdl_compose_high(Component *component, const LoadRequest *request, Scope scope)
{
    Arena *arena = scope.arena;
    REQUIRE(request->resolver);
    Composer composer = { .component = component,
                          .model = model_create(request->pool, request->sources, component->name.name, "simplex",
                                                component->span),
                          .pool = request->pool,
                          .arena = arena,
                          .diag = scope.diag,
                          .errors = scope.errors,
                          .scope = scope,
                          .resolver = request->resolver,
                          .output_vars = NEW_ARRAY(arena, VarId, component->equivalences.n) };
    map_init(&composer.class_by_name, arena, 16);
    compose_parts(&composer);
    return *composer.errors == 0 ? composer.model : NULL;
}
