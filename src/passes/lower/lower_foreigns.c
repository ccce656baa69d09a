/* lower-foreigns: what a foreign component gives is defined by equations with a call on the right that nobody can look
 * into. Its arguments are all that the value depends on at once: the time, the states of the component, and the inputs
 * that have a path to it. So everything that orders or rewrites equations knows the component without more.
 *
 * Outputs with the same arguments share a function, and become one block (sort-blocks). The derivatives of the states
 * are such a function, too, and one more gives nothing but the number of the event steps that the component has made:
 * it depends on all inputs, which therefore are known in event steps whoever else reads them. */
#include "ir/external.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t number; /* of the component */
    VEC(Function *) functions;
    VEC(uint64_t) keys; /* per function: what its arguments are */
} Lowering;

static const Foreign *foreign_of(const Lowering *l)
{
    return &l->model->foreigns.at[l->number];
}

static const ForeignPort *port_of(const Lowering *l, uint32_t k)
{
    return &l->model->foreign_ports.at[foreign_of(l)->first_port + k];
}

static bool has_path(const Lowering *l, uint32_t output, uint32_t input)
{
    const Foreign *f = foreign_of(l);
    bool found = !f->has_paths;
    for (uint32_t k = 0; k < f->n_paths && !found; k++) {
        const ForeignPath path = l->model->foreign_paths.at[f->first_path + k];
        found = path.output == output && path.input == input;
    }
    return found;
}

static void add_field(Function *function, const char *letter, Type type)
{
    Model *body = function->body;
    Names *names = pool_names(body->pool);
    const NameId name = names_text(names, arena_format(body->arena, "%s%u", letter, body->variables.n));
    model_add_variable(body, (InstanceId){ 0 }, name, type, function->span);
}

/* Listed nowhere, since nobody but these equations calls it. */
static Function *add_function(Lowering *l, uint32_t n, const Expr *const *args)
{
    Model *m = l->model;
    const Foreign *f = foreign_of(l);
    Function *function = NEW(m->arena, Function);
    *function = (Function){ .name = f->name,
                            .number = pool_count_function(m->pool),
                            .body = model_create(m->pool, m->sources, f->name, m->language, m->span),
                            .n_inputs = n,
                            .external = NEW(m->arena, External),
                            .foreign = 1 + l->number,
                            .is_pure = true, /* between events */
                            .span = f->span };
    function->external->symbol = f->symbol;
    function->external->result = ID_NONE;
    for (uint32_t k = 0; k < n; k++)
        add_field(function, "in", args[k]->type);
    vec_push(l->c->scratch, &l->functions, function);
    return function;
}

typedef struct { /* arguments of a call */
    TermBuilder builder;
    VEC(const Expr *) all;
    uint64_t key; /* which these are */
} Arguments;

/* The time, the states, and the inputs with a path to `output`; ID_NONE: all inputs. */
static Arguments arguments_for(Lowering *l, uint32_t output)
{
    Arguments args = { .builder = term_builder(l->model) };
    vec_push(l->c->scratch, &args.all, term_leaf(&args.builder, ref_time()));
    for (uint32_t k = 0; k < foreign_of(l)->n_ports; k++) {
        const ForeignPort *port = port_of(l, k);
        const bool is_read =
            port->role == FOREIGN_STATE || (port->role == FOREIGN_IN && (output == ID_NONE || has_path(l, output, k)));
        if (!is_read)
            continue;
        vec_push(l->c->scratch, &args.all, term_leaf(&args.builder, ref_now(port->var)));
        args.key = hash_mix(args.key, k);
    }
    return args;
}

typedef enum { GIVES_MOVING, GIVES_DISCRETE, GIVES_DERIVATIVES, GIVES_STEPS } Gives;

/* target := function(arguments) */
static void define(Lowering *l, Ref target, uint32_t output, Gives gives)
{
    Model *m = l->model;
    const Foreign *f = foreign_of(l);
    Arguments args = arguments_for(l, output);
    const Type type = ref_type(m, target);
    const uint64_t key = hash_mix(args.key, gives);
    uint32_t number = 0;
    while (number < l->keys.n && l->keys.at[number] != key)
        number++;
    if (number == l->keys.n) {
        vec_push(l->c->scratch, &l->keys, key);
        add_function(l, args.all.n, args.all.at);
    }
    Function *function = l->functions.at[number];
    add_field(function, "out", type);
    const Expr *call = expr_function(m->pool, function, function->n_outputs++, type, args.all.n, args.all.at);
    const EqId e =
        model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, target), term_finish(&args.builder, call), f->span);
    m->equations.at[e.index].owner = f->owner;
    m->equations.at[e.index].origin.made_by = "lower-foreigns";
}

static void define_all(Lowering *l)
{
    Model *m = l->model;
    for (uint32_t k = 0; k < foreign_of(l)->n_ports; k++) {
        const ForeignPort port = *port_of(l, k);
        Variable *v = model_var(m, port.var);
        if (port.role == FOREIGN_OUT) {
            v->definition = DEFINITION_NOW;
            define(l, ref_now(port.var), k, v->variability == VARIABILITY_CONTINUOUS ? GIVES_MOVING : GIVES_DISCRETE);
        } else if (port.role == FOREIGN_STATE) {
            define(l, ref_der(port.var), ID_NONE, GIVES_DERIVATIVES);
        }
    }
    const VarId steps = model_add_generated(m, "steps", l->number + 1, INTEGER_TYPE, foreign_of(l)->span);
    m->foreigns.at[l->number].steps = steps;
    define(l, ref_now(steps), ID_NONE, GIVES_STEPS);
    m->foreigns.at[l->number].is_lowered = true;
}

bool lower_foreigns(Compile *c)
{
    Lowering l = { .c = c, .model = c->model };
    for (; l.number < c->model->foreigns.n; l.number++) {
        if (foreign_of(&l)->is_lowered)
            continue;
        l.keys.n = l.functions.n = 0;
        define_all(&l);
    }
    return true;
}
