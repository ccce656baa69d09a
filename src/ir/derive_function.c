/* The derivative of a function: another function, made by differentiating its statements forwards.
 *
 * Its inputs are those of the function and then the tangents of its Real inputs; its outputs are the tangents of the
 * Real outputs, in order. Every Real field has a tangent beside it; before a Real field is assigned, its tangent is.
 * Control flow stays as it is: the derivative is that of the branch that is taken. */
#include "ir/derive_function.h"
#include "base/bug.h"
#include "ir/derive.h"
#include "ir/difference.h"
#include "ir/routine.h"

typedef struct {
    const Function *of;
    Function *made;
    uint32_t *field, *tangent; /* per field of `of`: that of `made`; tangent ID_NONE: not Real */
    TermBuilder *builder;      /* of the term at work, in `made` */
} Deriver;

static uint32_t add_field(Deriver *d, const Variable *like, const char *format)
{
    Model *body = d->made->body;
    Names *names = pool_names(body->pool);
    const NameId name = names_text(names, arena_format(body->arena, format, names_of(names, like->name)));
    const VarId var = model_add_variable(body, (InstanceId){ 0 }, name, like->type, like->span);
    Term extents[8];
    REQUIRE(like->type.rank <= 8);
    for (uint32_t k = 0; k < like->type.rank; k++)
        extents[k] = d->of->body->dims.at[like->first_dim + k].term;
    if (like->type.rank)
        model_set_dims(body, var, like->type.rank, extents);
    return var.index;
}

/* It has a tangent: an array of numbers that is never assigned has none. */
static bool is_real(const Deriver *d, uint32_t field)
{
    return d->of->body->variables.at[field].type.kind == TYPE_REAL && !function_has_data(d->of, field);
}

/* Inputs, tangents of inputs; tangents of outputs; what were outputs and locals, with their tangents. */
static void add_fields(Deriver *d)
{
    const Function *of = d->of;
    const Variable *v = of->body->variables.at;
    const uint32_t n = function_fields(of), outputs = of->n_inputs, locals = of->n_inputs + of->n_outputs;
    for (uint32_t k = 0; k < n; k++)
        d->tangent[k] = ID_NONE;
    for (uint32_t k = 0; k < outputs; k++)
        d->field[k] = add_field(d, &v[k], "%s");
    for (uint32_t k = 0; k < outputs; k++)
        if (is_real(d, k))
            d->tangent[k] = add_field(d, &v[k], "$d%s");
    d->made->n_inputs = d->made->body->variables.n;
    for (uint32_t k = outputs; k < locals; k++)
        if (is_real(d, k))
            d->tangent[k] = add_field(d, &v[k], "$d%s");
    d->made->n_outputs = d->made->body->variables.n - d->made->n_inputs;
    for (uint32_t k = outputs; k < n; k++)
        d->field[k] = add_field(d, &v[k], "%s");
    for (uint32_t k = locals; k < n; k++)
        if (is_real(d, k))
            d->tangent[k] = add_field(d, &v[k], "$d%s");
    d->made->n_locals = d->made->body->variables.n - d->made->n_inputs - d->made->n_outputs;
}

/* The expression in the new body. */
static const Expr *import(Deriver *d, Term term)
{
    const uint32_t n = term.shape->n_leaves;
    if (n == 0)
        return term.shape;
    uint32_t *map = NEW_ARRAY(d->made->body->arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++) {
        const VarId var = { d->field[term_refs(d->of->body, term)[k].var.index] };
        const Expr *leaf = term_leaf(d->builder, ref_now(var));
        map[k] = leaf->u.leaf;
    }
    return expr_renumber(d->made->body->pool, term.shape, map);
}

static Term copy(Deriver *d, Term term)
{
    TermBuilder builder = term_builder(d->made->body);
    d->builder = &builder;
    const Term result = term.shape ? term_finish(&builder, import(d, term)) : TERM_NONE;
    d->builder = NULL;
    return result;
}

static const Expr *tangent_of(void *context, const Expr *leaf)
{
    Deriver *d = context;
    const uint32_t var = d->builder->refs.at[leaf->u.leaf].var.index;
    for (uint32_t k = 0; k < function_fields(d->of); k++)
        if (d->field[k] == var) {
            if (d->tangent[k] == ID_NONE)
                return NULL;
            const Ref ref = ref_now((VarId){ d->tangent[k] });
            return leaf->n_args ? term_element(d->builder, ref, leaf->n_args, leaf->args) : term_leaf(d->builder, ref);
        }
    return NULL;
}

/* tangent := derivative of value; false: there is none. */
static bool add_tangent(Deriver *d, const Statement *s, uint32_t *statement)
{
    Model *body = d->made->body;
    const Expr *target = s->target.shape;
    const uint32_t field = term_refs(d->of->body, s->target)[target->u.leaf].var.index;
    TermBuilder builder = term_builder(body);
    d->builder = &builder;
    const Expr *value = import(d, s->value);
    const Expr *derivative = expr_time_derivative(body->pool, value, tangent_of, d);
    d->builder = NULL;
    if (!derivative)
        return false;
    Statement made = { .kind = STATEMENT_ASSIGN, .span = s->span };
    made.value = term_finish(&builder, derivative);
    d->builder = &builder;
    const Expr *place = import(d, s->target);
    d->builder = NULL;
    const Ref ref = ref_now((VarId){ d->tangent[field] });
    place = target->n_args ? term_element(&builder, ref, place->n_args, place->args) : term_leaf(&builder, ref);
    made.target = term_finish(&builder, place);
    vec_push(body->arena, &body->statements, made);
    *statement = body->statements.n - 1;
    return true;
}

/* What fields begin with. A tangent of what has no value begins with 0: the field itself is found to have none. */
static bool copy_begins(Deriver *d)
{
    Model *body = d->made->body;
    for (uint32_t k = d->of->n_inputs; k < function_fields(d->of); k++) {
        const Term begin = d->of->body->variables.at[k].binding;
        body->variables.at[d->field[k]].binding = copy(d, begin);
        if (d->tangent[k] == ID_NONE || !begin.shape || begin.shape->n_leaves == 0)
            continue;
        TermBuilder builder = term_builder(body);
        d->builder = &builder;
        const Expr *derivative = expr_time_derivative(body->pool, import(d, begin), tangent_of, d);
        d->builder = NULL;
        if (!derivative)
            return false;
        body->variables.at[d->tangent[k]].binding = term_finish(&builder, derivative);
    }
    for (uint32_t k = 0; k < function_fields(d->of); k++) {
        if (k < d->of->n_inputs || d->tangent[k] == ID_NONE)
            continue;
        Variable *tangent = &body->variables.at[d->tangent[k]];
        if (term_is_absent(tangent->binding))
            tangent->binding = term_real(body, 0);
    }
    return true;
}

static bool derive_list(Deriver *d, uint32_t first, uint32_t *begin);

static DomainId copy_domain(Deriver *d, DomainId domain)
{
    Model *body = d->made->body;
    const Domain of = d->of->body->domains.at[domain.index];
    Iterator *iterators = NEW_ARRAY(body->arena, Iterator, of.n + 1u);
    for (uint32_t k = 0; k < of.n; k++) {
        iterators[k] = d->of->body->iterators.at[of.first + k];
        iterators[k].lo = copy(d, iterators[k].lo);
        iterators[k].hi = copy(d, iterators[k].hi);
        iterators[k].step = copy(d, iterators[k].step);
    }
    return domain.index ? model_add_domain(body, of.n, iterators) : domain;
}

static bool derive_statement(Deriver *d, uint32_t number, uint32_t *first, uint32_t *last)
{
    Model *body = d->made->body;
    const Statement s = d->of->body->statements.at[number];
    Statement made = s;
    made.next = 0;
    made.target = copy(d, s.target);
    made.value = copy(d, s.value);
    made.message = copy(d, s.message);
    made.domain = copy_domain(d, s.domain);
    uint32_t tangent = 0;
    const bool has_tangent = s.kind == STATEMENT_ASSIGN && s.value.shape->type.kind == TYPE_REAL;
    if ((has_tangent && !add_tangent(d, &s, &tangent)) || !derive_list(d, s.inner, &made.inner) ||
        !derive_list(d, s.otherwise, &made.otherwise))
        return false;
    vec_push(body->arena, &body->statements, made);
    *last = body->statements.n - 1;
    *first = has_tangent ? tangent : *last;
    if (has_tangent)
        body->statements.at[tangent].next = *last;
    return true;
}

static bool derive_list(Deriver *d, uint32_t first, uint32_t *begin)
{
    uint32_t end = 0;
    *begin = 0;
    for (uint32_t k = first; k; k = d->of->body->statements.at[k].next) {
        uint32_t from, to;
        if (!derive_statement(d, k, &from, &to))
            return false;
        if (end)
            d->made->body->statements.at[end].next = from;
        else
            *begin = from;
        end = to;
    }
    return true;
}

const Function *function_derivative(const Function *function)
{
    Model *body = function->body;
    if (function->derivative)
        return function->derivative->has_no_value ? NULL : function->derivative;
    if (function->external || !function->is_pure)
        return NULL;
    Names *names = pool_names(body->pool);
    Function *made = NEW(body->arena, Function);
    *made =
        (Function){ .name = names_text(names, arena_format(body->arena, "der(%s)", names_of(names, function->name))),
                    .number = pool_count_function(body->pool),
                    .body = model_create(body->pool, body->sources, body->name, body->language, body->span),
                    .is_pure = true,
                    .span = function->span };
    const uint32_t n = function_fields(function);
    Deriver d = { .of = function,
                  .made = made,
                  .field = NEW_ARRAY(body->arena, uint32_t, n + 1u),
                  .tangent = NEW_ARRAY(body->arena, uint32_t, n + 1u) };
    add_fields(&d);
    ((Function *)function)->derivative = made; /* before its body: a function may call itself */
    made->has_no_value = !copy_begins(&d) || !derive_list(&d, function->first, &made->first);
    made->is_rough = function_is_rough(made);
    return made->has_no_value ? NULL : made;
}
