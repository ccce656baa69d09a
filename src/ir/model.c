/* Building Models; see model.h. */
#include "ir/model.h"
#include "base/bug.h"
#include "base/text.h"
#include "ir/compose.h"
#include <stdlib.h>
#include <string.h>

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

void function_begin_with_zero(Function *function, uint32_t first)
{
    Model *body = function->body;
    for (uint32_t k = first; k < body->variables.n; k++) {
        Variable *v = &body->variables.at[k];
        const Expr *zero = v->type.kind == TYPE_REAL      ? expr_real(body->pool, 0)
                           : v->type.kind == TYPE_INTEGER ? expr_integer(body->pool, 0)
                           : v->type.kind == TYPE_BOOLEAN ? expr_boolean(body->pool, false)
                           : v->type.kind == TYPE_ENUM    ? expr_enum(body->pool, v->type.enumeration, 1)
                                                          : NULL;
        if (zero && term_is_absent(v->binding))
            v->binding = term_expr(body, zero);
    }
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
/* "[,]" behind a name: as many dimensions. */
static void put_brackets(char *to, uint32_t rank)
{
    to[0] = '[';
    memset(to + 1, ',', rank - 1);
    to[rank] = ']';
}

/* "a.b" and, if there is one, ".name" behind it, in memory of just that size: models have many names. Arrays of
 * instances are told by brackets, if `has_brackets`. */
static char *path_of(const Model *model, InstanceId instance, const char *name, bool has_brackets, Arena *arena)
{
    const Names *names = pool_names(model->pool);
    const size_t length = name ? strlen(name) : 0;
    size_t size = name ? length + 1 : 0; /* of all parts, each with its dot or, the last, with the end */
    for (const Instance *node = &model->instances.at[instance.index]; node->parent.index != ID_NONE;
         node = &model->instances.at[node->parent.index])
        size += strlen(names_of(names, node->name)) + 1 + (has_brackets && node->rank ? node->rank + 1 : 0);
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
        end--;
        if (has_brackets && node->rank)
            put_brackets(end -= node->rank + 1, node->rank);
        end -= n;
        memcpy(end, part, n);
    }
    return path;
}

char *instance_path(const Model *model, InstanceId instance, Arena *arena)
{
    return path_of(model, instance, NULL, true, arena);
}

/* The indices of x[2,3], an element of an array that became a variable; 0: it is none. */
static uint32_t element_indices(const char *name, const char **end, uint32_t *index)
{
    const char *at = strrchr(name, '[');
    uint32_t n = 0;
    for (*end = at; at && (*at == '[' || *at == ',') && n < ARRAY_RANK;)
        index[n++] = (uint32_t)strtoul(at + 1, (char **)(uintptr_t)&at, 10);
    return at && strcmp(at, "]") == 0 ? n : 0;
}

char *variable_path(const Model *model, VarId var, Arena *arena)
{
    const Variable *v = model_var(model, var);
    const char *name = names_of(pool_names(model->pool), v->name), *end;
    const uint32_t rank = model->dims.n ? instance_rank(model, v->owner) : 0;
    uint32_t index[ARRAY_RANK];
    const uint32_t n = rank && v->type.rank == 0 ? element_indices(name, &end, index) : 0;
    if (rank == 0 || n < rank)
        return path_of(model, v->owner, name, rank && v->type.rank >= rank, arena);
    const char *array = path_of(model, v->owner, arena_text(arena, name, (size_t)(end - name)), true, arena);
    Text path = { .arena = arena };
    text_element(&path, array, strlen(array), n, index);
    return path.at;
}

uint64_t variable_count(const Model *model, VarId var)
{
    uint64_t count = 1;
    if (model->dims.n == 0)
        return count;
    const Variable *v = model_var(model, var);
    for (uint32_t k = 0; k < v->type.rank; k++)
        count *= (uint64_t)model->dims.at[v->first_dim + k].extent;
    return count;
}

Holders ref_holders(const Model *model, Ref ref)
{
    if (ref.kind == REF_TIME || (ref.kind >= REF_INITIAL && ref.kind <= REF_INTERVAL))
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
