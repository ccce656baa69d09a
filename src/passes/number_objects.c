/* Each external object gets a constructor of its own, which knows its number: so two objects are made by equal calls,
 * and a call that is executed again, as the start is tried once more, knows what it has made. */
#include "ir/external.h"
#include "passes/pipeline.h"

static Function *copy_constructor(Model *m, const Function *of, uint32_t number)
{
    Function *made = function_copy(m, of);
    made->external = NEW(m->arena, External);
    *made->external = *of->external;
    made->external->object = number;
    return made;
}

bool number_objects(Compile *c)
{
    Model *m = c->model;
    uint32_t number = 0;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Term binding = m->variables.at[k].binding;
        if (m->variables.at[k].type.kind != TYPE_OBJECT || binding.shape->kind != EXPR_FUNCTION)
            continue;
        const Expr *call = binding.shape;
        const Function *own = copy_constructor(m, call->u.function, ++number);
        const Expr *shape = expr_function(m->pool, own, 0, call->type, call->n_args, call->args);
        Variable *v = &m->variables.at[k];
        v->binding = term_of_canonical(m, shape, term_refs(m, binding));
        v->is_kept = true;
    }
    return true;
}
