/* The composition in its order, and the subcomponents; see compose.h. */
#include "base/bug.h"
#include "base/unit.h"
#include "lang/simplex/compose_parts.h"

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
        mdl_compose_input(composer, k);
    for (uint32_t k = 0; k < component->equivalences.n; k++)
        mdl_compose_output(composer, k);
    mdl_compose_connections(composer);
    composer->initialised = NEW_ARRAY(composer->arena, uint32_t, composer->model->variables.n);
    for (uint32_t k = 0; k < component->initials.n; k++)
        mdl_compose_initial(composer, k);
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
