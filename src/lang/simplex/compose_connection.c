/* Connections: sensors that become inputs or read outputs, and the synonyms of outputs. */
#include "base/text.h"
#include "base/unit.h"
#include "lang/simplex/compose_parts.h"
#include "lang/simplex/lower.h"

/* Rows of input connections, then of component connections. */
const Link *mdl_link_of(const Composer *composer, uint32_t row)
{
    const Component *component = composer->component;
    return row < component->inputs.n ? &component->inputs.at[row]
                                     : &component->connections.at[row - component->inputs.n];
}

/* Each sensor takes one connection. */
static bool take_sensor(Composer *composer, VarId sensor, uint32_t row)
{
    const Path *path = &mdl_link_of(composer, row)->to;
    uint32_t *taken = path->n_elements
                          ? &mdl_filled_array(composer, sensor)->rows[mdl_element_number(composer, path, sensor)]
                          : &composer->connected[sensor.index];
    uint32_t earlier = composer->connected[sensor.index] ? composer->connected[sensor.index] : *taken;
    for (uint32_t k = 0; !path->n_elements && k < composer->filled.n && !earlier; k++)
        for (uint64_t j = 0; composer->filled.at[k].var.index == sensor.index && j < composer->filled.at[k].count; j++)
            earlier = composer->filled.at[k].rows[j] ? composer->filled.at[k].rows[j] : earlier;
    if (earlier) {
        REPORT(composer, DIAG_MDL_CONNECTED_TWICE, path->span, "`%s` is already connected",
               mdl_path_text(composer, path));
        diag_note(composer->diag, mdl_link_of(composer, earlier - 1)->to.span, "here");
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
        REPORT(composer, DIAG_MDL_CONNECTION_SET, link->to.span, "`%s` is an array",
               mdl_path_text(composer, &link->to));
        diag_help(composer->diag, "an input is a single quantity: connect it with the elements, as in %s[1]",
                  mdl_path_text(composer, &link->to));
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
           mdl_path_text(composer, &link->to), mdl_path_text(composer, &link->from));
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
               "`%s` is in %s, but `%s` in %s: arrays are not converted", mdl_path_text(composer, &link->to),
               names_of(composer->scope.names, to->unit), mdl_path_text(composer, &link->from),
               names_of(composer->scope.names, from->unit));
        diag_help(composer->diag, "connect them element by element in a FOR, or declare one unit");
        return false;
    }
    if (is_possible && from->type.kind == TYPE_REAL)
        return true;
    diag_warning(composer->diag, DIAG_MDL_CONNECTION_UNIT, link->to.span, "`%s` is in %s, but `%s` in %s",
                 mdl_path_text(composer, &link->to), names_of(composer->scope.names, to->unit),
                 mdl_path_text(composer, &link->from), names_of(composer->scope.names, from->unit));
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

/* ---- inputs and outputs of the component ---- */
/* V --> B.V declares the input V, which takes its properties from the sensor. */
void mdl_compose_input(Composer *composer, uint32_t row)
{
    const Link *link = &composer->component->inputs.at[row];
    const VarId sensor = mdl_find_sensor(composer, &link->to);
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

void mdl_compose_output(Composer *composer, uint32_t row)
{
    const Equivalence *equivalence = &composer->component->equivalences.at[row];
    const VarId source = mdl_find_output(composer, &equivalence->source);
    composer->output_vars[row] = source;
    const bool is_new = mdl_scope_declare(&composer->scope,
                                          (Symbol){ .kind = SYMBOL_OUTPUT, .object = row, .name = equivalence->name });
    if (var_is_none(source) || !is_new)
        return;
    if (mdl_path_type(composer, &equivalence->source, source).rank > 0) {
        REPORT(composer, DIAG_MDL_CONNECTION_SET, equivalence->source.span, "`%s` is an array",
               mdl_path_text(composer, &equivalence->source));
        diag_help(composer->diag, "an output is a single quantity: name an element, as in %s[1]",
                  mdl_path_text(composer, &equivalence->source));
        return;
    }
    if (equivalence->source.n_elements) {
        composer->output_vars[row] = add_output(composer, equivalence, source);
        return;
    }
    const uint32_t earlier = composer->published[source.index];
    if (earlier) {
        REPORT(composer, DIAG_MDL_OUTPUT_TWICE, equivalence->source.span, "`%s` already has a synonym",
               mdl_path_text(composer, &equivalence->source));
        diag_note(composer->diag, composer->component->equivalences.at[earlier - 1].name.span, "this one");
        diag_help(composer->diag, "use that name");
        return;
    }
    composer->published[source.index] = row + 1;
    add_output(composer, equivalence, source);
}

/* ---- connections of subcomponents ---- */
/* `name`, declared by an output equivalence, or `sub.quantity`. */
static VarId find_source(Composer *composer, const Path *path)
{
    if (!name_is_empty(path->sub.name))
        return mdl_find_output(composer, path);
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
               mdl_path_text(composer, &link->to), shape_text(composer, to, b), mdl_path_text(composer, &link->from),
               shape_text(composer, from, a));
        diag_note(composer->diag, to->span, "the sensor");
        diag_note(composer->diag, from->span, "the output");
        diag_help(composer->diag,
                  "both must have the same value set (of the same name, values and order) and, if they are "
                  "arrays, the same sizes; elements are connected as in %s[1]",
                  mdl_path_text(composer, &link->to));
        return false;
    }
    if (is_continuous(from) && !is_continuous(to)) {
        REPORT(composer, DIAG_MDL_CONNECTION_COURSE, link->to.span,
               "the discrete sensor `%s` cannot read the continuous `%s`", mdl_path_text(composer, &link->to),
               mdl_path_text(composer, &link->from));
        diag_note(composer->diag, to->span, "the sensor");
        diag_help(composer->diag, "declare the sensor under CONTINUOUS; such a sensor reads discrete quantities too");
        return false;
    }
    return true;
}

void mdl_compose_connections(Composer *composer)
{
    VarId source = VAR_NONE;
    for (uint32_t k = 0; k < composer->component->connections.n; k++) {
        const Link *link = &composer->component->connections.at[k];
        if (!link->is_repeated)
            source = find_source(composer, &link->from);
        const VarId sensor = mdl_find_sensor(composer, &link->to);
        if (var_is_none(sensor) || !take_sensor(composer, sensor, composer->component->inputs.n + k) ||
            var_is_none(source))
            continue;
        if (check_connection(composer, link, source, sensor))
            join(composer, link, source, sensor);
    }
}
