/* Building Models; see model.h. */
#include "ir/model.h"
#include "base/bug.h"

Model *model_create(Pool *pool, Sources *sources, NameId name, const char *language, Span span)
{
    Arena *arena = pool_arena(pool);
    Model *model = NEW(arena, Model);
    *model = (Model){ .pool = pool,
                      .arena = arena,
                      .sources = sources,
                      .name = name,
                      .language = language,
                      .span = span,
                      .seed = VAR_NONE,
                      .homotopy = VAR_NONE };
    vec_reserve(arena, &model->refs, 1); /* term_refs of a term without leaves is a pointer all the same */
    const Domain scalar = { 0, 0 };
    vec_push(arena, &model->domains, scalar);
    vec_push_zero(arena, &model->statements); /* statement 0 is none */
    const Instance top = { .class_name = name, .parent = { ID_NONE }, .language = language, .span = span };
    vec_push(arena, &model->instances, top);
    return model;
}

Model *model_overlay(const Model *base, Arena *arena)
{
    Model *model = NEW(arena, Model);
    *model = *base;
    model->arena = arena;
    model->pool = pool_overlay(base->pool, arena);
    model->refs.capacity = 0; /* borrowed: see term.c */
    model->work = (TermWork){ 0 };
    return model;
}

VarId model_add_variable(Model *model, InstanceId owner, NameId name, Type type, Span span)
{
    const Variable variable = { .name = name,
                                .owner = owner,
                                .span = span,
                                .type = type,
                                .variability = type.kind == TYPE_REAL ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE,
                                .select = SELECT_DEFAULT,
                                .residual = VAR_NONE,
                                .origin = VAR_NONE,
                                .alias = VAR_NONE };
    vec_push(model->arena, &model->variables, variable);
    return (VarId){ model->variables.n - 1 };
}

VarId model_add_generated(Model *model, const char *prefix, uint32_t number, Type type, Span span)
{
    char text[32], digits[12];
    size_t n = 0, n_digits = 0;
    text[n++] = '$';
    for (; *prefix; prefix++)
        text[n++] = *prefix;
    do
        digits[n_digits++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n_digits)
        text[n++] = digits[--n_digits];
    Names *names = pool_names(model->pool);
    for (NameId taken; n + 1 < sizeof text && names_find(names, text, n, &taken);)
        text[n++] = 'x'; /* somebody's own name: ours gives way */
    const VarId v = model_add_variable(model, (InstanceId){ 0 }, names_add(names, text, n), type, span);
    Variable *variable = model_var(model, v);
    variable->definition = DEFINITION_NOW;
    variable->variability = VARIABILITY_DISCRETE;
    variable->is_generated = variable->is_protected = true;
    return v;
}

Variable *model_var(const Model *model, VarId var)
{
    return &model->variables.at[var.index];
}

void model_set_dims(Model *model, VarId var, uint32_t n, const Term *extents)
{
    Variable *variable = model_var(model, var);
    variable->type.rank = (uint8_t)n;
    variable->first_dim = model->dims.n;
    for (uint32_t k = 0; k < n; k++) {
        const Dim dim = { extents[k], -1 };
        vec_push(model->arena, &model->dims, dim);
    }
}

EqId model_add_equation(Model *model, EquationKind kind, Term lhs, Term rhs, Span span)
{
    const Equation equation = { .kind = (uint8_t)kind,
                                .lhs = lhs,
                                .rhs = rhs,
                                .region = REGION_NONE,
                                .origin = { .span = span, .parent = EQ_NONE } };
    vec_push(model->arena, &model->equations, equation);
    return (EqId){ model->equations.n - 1 };
}

uint32_t model_add_terms(Model *model, uint32_t n, const Term *terms)
{
    const uint32_t first = model->conditions.n;
    for (uint32_t k = 0; k < n; k++)
        vec_push(model->arena, &model->conditions, terms[k]);
    return first;
}

RegionId model_add_region(Model *model, RegionKind kind, RegionId parent, uint16_t parent_branch, uint32_t n_conditions,
                          const Term *conditions, bool has_else, Span span)
{
    const Region region = { .parent = parent,
                            .parent_branch = parent_branch,
                            .kind = (uint8_t)kind,
                            .has_else = has_else,
                            .first_condition = model_add_terms(model, n_conditions, conditions),
                            .n_conditions = n_conditions,
                            .selector = VAR_NONE,
                            .span = span };
    vec_push(model->arena, &model->regions, region);
    return (RegionId){ model->regions.n - 1 };
}

TransitionId model_add_transition(Model *model, const Transition *head, uint32_t n_conditions, const Term *conditions,
                                  uint32_t n_assignments, const Assignment *assignments, uint32_t n_actions,
                                  const Action *actions)
{
    Transition transition = *head;
    transition.first_condition = model_add_terms(model, n_conditions, conditions);
    transition.n_conditions = n_conditions;
    transition.first_assignment = model->assignments.n;
    transition.n_assignments = n_assignments;
    for (uint32_t k = 0; k < n_assignments; k++)
        vec_push(model->arena, &model->assignments, assignments[k]);
    transition.first_action = model->actions.n;
    transition.n_actions = n_actions;
    for (uint32_t k = 0; k < n_actions; k++)
        vec_push(model->arena, &model->actions, actions[k]);
    vec_push(model->arena, &model->transitions, transition);
    return (TransitionId){ model->transitions.n - 1 };
}

DomainId model_add_domain(Model *model, uint32_t n, const Iterator *iterators)
{
    if (n == 0)
        return (DomainId){ 0 };
    const Domain domain = { model->iterators.n, n };
    for (uint32_t k = 0; k < n; k++) {
        Iterator iterator = iterators[k];
        iterator.count = -1;
        vec_push(model->arena, &model->iterators, iterator);
    }
    vec_push(model->arena, &model->domains, domain);
    return (DomainId){ model->domains.n - 1 };
}

void model_connect(Model *model, VarId from, VarId to, Span span)
{
    const Connection connection = { .from = from, .to = to, .span = span };
    vec_push(model->arena, &model->connections, connection);
}

/* ---- functions ---- */
Function *model_add_function(Model *model, NameId name, Span span)
{
    Function *function = NEW(model->arena, Function);
    function->name = name;
    function->number = pool_count_function(model->pool);
    function->body = model_create(model->pool, model->sources, name, model->language, span);
    function->is_pure = true;
    function->span = span;
    vec_push(model->arena, &model->functions, function);
    return function;
}

/* ---- composition ---- */
typedef struct {
    uint32_t var, ref, equation, region, condition, domain, iterator, dim, assignment, action, transition, clock,
        channel, field, statement, port, member, occurrence, instance, group;
} Offsets;

static Offsets offsets_of(const Model *into)
{
    return (Offsets){ .var = into->variables.n,
                      .ref = into->refs.n,
                      .equation = into->equations.n,
                      .region = into->regions.n,
                      .condition = into->conditions.n,
                      .domain = into->domains.n - 1, /* both have the scalar domain */
                      .iterator = into->iterators.n,
                      .dim = into->dims.n,
                      .assignment = into->assignments.n,
                      .action = into->actions.n,
                      .transition = into->transitions.n,
                      .clock = into->clocks.n,
                      .channel = into->channels.n,
                      .field = into->fields.n,
                      .statement = into->statements.n - 1,
                      .port = into->ports.n,
                      .member = into->members.n,
                      .occurrence = into->occurrences.n,
                      .instance = into->instances.n,
                      .group = into->n_groups };
}

static uint32_t shifted(uint32_t index, uint32_t by)
{
    return index == ID_NONE ? ID_NONE : index + by;
}

static Term shift_term(Term term, const Offsets *by)
{
    if (term.shape && term.shape->n_leaves)
        term.first_ref += by->ref;
    return term;
}

static Origin shift_origin(Origin origin, const Offsets *by)
{
    origin.parent.index = shifted(origin.parent.index, by->equation);
    origin.first_occurrence += by->occurrence;
    return origin;
}

static DomainId shift_domain(DomainId domain, const Offsets *by)
{
    return domain.index ? (DomainId){ domain.index + by->domain } : domain;
}

static uint32_t shift_statement(uint32_t statement, const Offsets *by)
{
    return statement ? statement + by->statement : 0;
}

static void append_refs(Model *into, const Model *part, const Offsets *by)
{
    vec_reserve(into->arena, &into->refs, into->refs.n + part->refs.n);
    for (uint32_t k = 0; k < part->refs.n; k++) {
        Ref ref = part->refs.at[k];
        if (ref.kind == REF_FIRED)
            ref.var.index += by->transition;
        else if (ref.kind == REF_TICK)
            ref.var.index += by->clock;
        else
            ref.var.index = shifted(ref.var.index, by->var);
        into->refs.at[into->refs.n++] = ref;
    }
}

/* Instance 0 of the part becomes the new instance; the others keep their parents. */
static InstanceId append_instances(Model *into, InstanceId owner, NameId name, const Model *part, Span span,
                                   const Offsets *by)
{
    for (uint32_t k = 0; k < part->instances.n; k++) {
        Instance instance = part->instances.at[k];
        if (k == 0) {
            instance.parent = owner;
            instance.name = name;
            instance.span = span;
        } else {
            instance.parent.index += by->instance;
        }
        vec_push(into->arena, &into->instances, instance);
    }
    return (InstanceId){ by->instance };
}

static void append_variables(Model *into, const Model *part, const Offsets *by)
{
    vec_reserve(into->arena, &into->variables, into->variables.n + part->variables.n);
    for (uint32_t k = 0; k < part->variables.n; k++) {
        Variable v = part->variables.at[k];
        v.owner.index += by->instance;
        v.first_dim += by->dim;
        v.binding = shift_term(v.binding, by);
        v.start = shift_term(v.start, by);
        v.nominal = shift_term(v.nominal, by);
        v.min = shift_term(v.min, by);
        v.max = shift_term(v.max, by);
        v.residual.index = shifted(v.residual.index, by->var);
        v.origin.index = shifted(v.origin.index, by->var);
        v.alias.index = shifted(v.alias.index, by->var);
        into->variables.at[into->variables.n++] = v;
    }
    for (uint32_t k = 0; k < part->dims.n; k++) {
        Dim dim = part->dims.at[k];
        dim.term = shift_term(dim.term, by);
        vec_push(into->arena, &into->dims, dim);
    }
    for (uint32_t k = 0; k < part->iterators.n; k++) {
        Iterator iterator = part->iterators.at[k];
        iterator.lo = shift_term(iterator.lo, by);
        iterator.step = shift_term(iterator.step, by);
        iterator.hi = shift_term(iterator.hi, by);
        vec_push(into->arena, &into->iterators, iterator);
    }
    for (uint32_t k = 1; k < part->domains.n; k++) {
        Domain domain = part->domains.at[k];
        domain.first += by->iterator;
        vec_push(into->arena, &into->domains, domain);
    }
}

static void append_equations(Model *into, const Model *part, const Offsets *by)
{
    vec_reserve(into->arena, &into->equations, into->equations.n + part->equations.n);
    for (uint32_t k = 0; k < part->equations.n; k++) {
        Equation e = part->equations.at[k];
        e.lhs = shift_term(e.lhs, by);
        e.rhs = shift_term(e.rhs, by);
        e.body = shift_statement(e.body, by);
        e.domain = shift_domain(e.domain, by);
        e.region.index = shifted(e.region.index, by->region);
        e.when += e.when ? by->transition : 0;
        e.owner.index += by->instance;
        e.origin = shift_origin(e.origin, by);
        into->equations.at[into->equations.n++] = e;
    }
    for (uint32_t k = 0; k < part->conditions.n; k++)
        vec_push(into->arena, &into->conditions, shift_term(part->conditions.at[k], by));
    for (uint32_t k = 0; k < part->regions.n; k++) {
        Region region = part->regions.at[k];
        region.parent.index = shifted(region.parent.index, by->region);
        region.first_condition += by->condition;
        region.selector.index = shifted(region.selector.index, by->var);
        region.owner.index += by->instance;
        vec_push(into->arena, &into->regions, region);
    }
    for (uint32_t k = 0; k < part->occurrences.n; k++)
        vec_push(into->arena, &into->occurrences, part->occurrences.at[k]);
}

static void append_transitions(Model *into, const Model *part, const Offsets *by)
{
    for (uint32_t k = 0; k < part->transitions.n; k++) {
        Transition t = part->transitions.at[k];
        t.group = t.group ? t.group + by->group : 0;
        t.first_condition += by->condition;
        t.first_assignment += by->assignment;
        t.first_action += by->action;
        t.body = shift_statement(t.body, by);
        if (t.trigger == TRIGGER_TICK)
            t.object += by->clock;
        if (t.trigger == TRIGGER_MESSAGE)
            t.object += by->channel;
        t.domain = shift_domain(t.domain, by);
        t.region.index = shifted(t.region.index, by->region);
        t.owner.index += by->instance;
        t.origin = shift_origin(t.origin, by);
        vec_push(into->arena, &into->transitions, t);
    }
    for (uint32_t k = 0; k < part->assignments.n; k++) {
        Assignment a = part->assignments.at[k];
        a.target = shift_term(a.target, by);
        a.guard = shift_term(a.guard, by);
        a.value = shift_term(a.value, by);
        vec_push(into->arena, &into->assignments, a);
    }
    for (uint32_t k = 0; k < part->actions.n; k++) {
        Action action = part->actions.at[k];
        action.guard = shift_term(action.guard, by);
        action.first_arg += by->condition;
        action.channel += by->channel;
        vec_push(into->arena, &into->actions, action);
    }
    into->n_groups += part->n_groups;
}

static void append_timed(Model *into, const Model *part, const Offsets *by)
{
    for (uint32_t k = 0; k < part->channels.n; k++) {
        Channel channel = part->channels.at[k];
        channel.owner.index += by->instance;
        channel.first_field += by->field;
        vec_push(into->arena, &into->channels, channel);
    }
    for (uint32_t k = 0; k < part->clocks.n; k++) {
        Clock clock = part->clocks.at[k];
        clock.owner.index += by->instance;
        clock.start = shift_term(clock.start, by);
        clock.interval = shift_term(clock.interval, by);
        clock.base = shifted(clock.base, by->clock);
        vec_push(into->arena, &into->clocks, clock);
    }
    for (uint32_t k = 0; k < part->delays.n; k++) {
        Delay delay = part->delays.at[k];
        delay.owner.index += by->instance;
        delay.output.index += by->var;
        delay.input = shift_term(delay.input, by);
        delay.amount = shift_term(delay.amount, by);
        delay.max = shift_term(delay.max, by);
        vec_push(into->arena, &into->delays, delay);
    }
    for (uint32_t k = 0; k < part->streams.n; k++) {
        Stream stream = part->streams.at[k];
        stream.owner.index += by->instance;
        stream.key.index = shifted(stream.key.index, by->var);
        stream.count.index = shifted(stream.count.index, by->var);
        vec_push(into->arena, &into->streams, stream);
    }
    for (uint32_t k = 0; k < part->assertions.n; k++) {
        Assertion assertion = part->assertions.at[k];
        assertion.owner.index += by->instance;
        assertion.condition = shift_term(assertion.condition, by);
        vec_push(into->arena, &into->assertions, assertion);
    }
    for (uint32_t k = 0; k < part->tasks.n; k++) {
        Task task = part->tasks.at[k];
        task.ref.var.index += by->var;
        task.value = shift_term(task.value, by);
        vec_push(into->arena, &into->tasks, task);
    }
}

/* Instances of a class share its functions: each is listed once. */
static void list_function(Model *into, Function *function)
{
    for (uint32_t k = 0; k < into->functions.n; k++)
        if (into->functions.at[k] == function)
            return;
    vec_push(into->arena, &into->functions, function);
}

static void append_structure(Model *into, const Model *part, const Offsets *by)
{
    for (uint32_t k = 0; k < part->functions.n; k++)
        list_function(into, part->functions.at[k]);
    for (uint32_t k = 0; k < part->fields.n; k++) {
        const VarId field = { part->fields.at[k].index + by->var };
        vec_push(into->arena, &into->fields, field);
    }
    for (uint32_t k = 1; k < part->statements.n; k++) {
        Statement s = part->statements.at[k];
        s.target = shift_term(s.target, by);
        s.value = shift_term(s.value, by);
        s.domain = shift_domain(s.domain, by);
        s.inner = shift_statement(s.inner, by);
        s.otherwise = shift_statement(s.otherwise, by);
        s.next = shift_statement(s.next, by);
        vec_push(into->arena, &into->statements, s);
    }
    for (uint32_t k = 0; k < part->ports.n; k++) {
        Port port = part->ports.at[k];
        port.owner.index += by->instance;
        port.first_member += by->member;
        vec_push(into->arena, &into->ports, port);
    }
    for (uint32_t k = 0; k < part->members.n; k++) {
        PortMember member = part->members.at[k];
        member.var.index = shifted(member.var.index, by->var);
        vec_push(into->arena, &into->members, member);
    }
    for (uint32_t k = 0; k < part->connections.n; k++) {
        Connection connection = part->connections.at[k];
        connection.from.index = shifted(connection.from.index, by->var);
        connection.to.index = shifted(connection.to.index, by->var);
        connection.port_a += by->port;
        connection.port_b += by->port;
        vec_push(into->arena, &into->connections, connection);
    }
}

InstanceId model_compose(Model *into, InstanceId into_owner, NameId name, const Model *part, Span span,
                         uint32_t *first_var)
{
    REQUIRE(into->pool == part->pool && into != part);
    REQUIRE(part->relations.n == 0 && part->steps.n == 0 &&
            part->state_sets.n == 0); /* models are composed before the passes */
    const Offsets by = offsets_of(into);
    *first_var = by.var;
    const InstanceId instance = append_instances(into, into_owner, name, part, span, &by);
    append_refs(into, part, &by);
    append_variables(into, part, &by);
    append_equations(into, part, &by);
    append_transitions(into, part, &by);
    append_timed(into, part, &by);
    append_structure(into, part, &by);
    return instance;
}

VarId model_find(Model *model, InstanceId owner, NameId name)
{
    for (uint32_t k = 0; k < model->variables.n; k++) {
        const Variable *v = &model->variables.at[k];
        if (v->owner.index == owner.index && name_equal(v->name, name))
            return (VarId){ k };
    }
    return VAR_NONE;
}

/* ---- names ---- */
/* "a.b" and, if there is one, ".name" behind it, in memory of just that size: models have many names. */
static char *path_of(const Model *model, InstanceId instance, const char *name, Arena *arena)
{
    const Names *names = pool_names(model->pool);
    const size_t length = name ? strlen(name) : 0;
    size_t size = name ? length + 1 : 0; /* of all parts, each with its dot or, the last, with the end */
    for (const Instance *node = &model->instances.at[instance.index]; node->parent.index != ID_NONE;
         node = &model->instances.at[node->parent.index])
        size += strlen(names_of(names, node->name)) + 1;
    char *path = arena_alloc(arena, size ? size : 1, 1), *end = path + size;
    if (name) {
        end -= length + 1;
        memcpy(end, name, length);
    }
    for (const Instance *node = &model->instances.at[instance.index]; node->parent.index != ID_NONE;
         node = &model->instances.at[node->parent.index]) {
        const char *part = names_of(names, node->name);
        const size_t n = strlen(part);
        if (end < path + size) /* another part follows */
            end[-1] = '.';
        end -= n + 1;
        memcpy(end, part, n);
    }
    return path;
}

char *instance_path(const Model *model, InstanceId instance, Arena *arena)
{
    return path_of(model, instance, NULL, arena);
}

char *variable_path(const Model *model, VarId var, Arena *arena)
{
    const Variable *v = model_var(model, var);
    return path_of(model, v->owner, names_of(pool_names(model->pool), v->name), arena);
}

uint64_t variable_count(const Model *model, VarId var)
{
    const Variable *v = model_var(model, var);
    uint64_t count = 1;
    for (uint32_t k = 0; k < v->type.rank; k++)
        count *= (uint64_t)model->dims.at[v->first_dim + k].extent;
    return count;
}

Holders ref_holders(const Model *model, Ref ref)
{
    if (ref.kind == REF_TIME || (ref.kind >= REF_INITIAL && ref.kind <= REF_TICK))
        return (Holders){ 0, 0 };
    if (!variable_is_split(model, ref.var))
        return (Holders){ ref.var.index, 1 };
    return (Holders){ model_var(model, ref.var)->alias.index, (uint32_t)variable_count(model, ref.var) };
}

uint64_t domain_count(const Model *model, DomainId domain)
{
    const Domain *d = &model->domains.at[domain.index];
    uint64_t count = 1;
    for (uint32_t k = 0; k < d->n; k++)
        count *= (uint64_t)model->iterators.at[d->first + k].count;
    return count;
}
