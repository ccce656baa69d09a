/* The keys of random streams: made of the run's seed and of the path and name of the stream, so that they do not
 * depend on the order of components or on what else is in the model. Part of fill-definitions. */
#include "ir/evaluate.h"
#include "passes/pipeline.h"

static VarId add_seed(Model *m)
{
    Names *names = pool_names(m->pool);
    const char *text = "seed";
    while (!var_is_none(model_find(m, (InstanceId){ 0 }, names_text(names, text))))
        text = arena_format(m->arena, "%s_", text);
    const VarId seed = model_add_variable(m, (InstanceId){ 0 }, names_text(names, text), INTEGER_TYPE, m->span);
    Variable *v = model_var(m, seed);
    v->variability = VARIABILITY_PARAMETER;
    v->definition = DEFINITION_BINDING;
    v->causality = CAUSALITY_PARAMETER;
    v->binding = term_integer(m, 0);
    v->comment = names_text(names, "of the random numbers");
    return seed;
}

static int64_t mix(int64_t a, int64_t b)
{
    return op_evaluate(OP_MIX, INTEGER_TYPE, (const Value[]){ { .i = a }, { .i = b } }).i;
}

static int64_t hash_text(int64_t hash, const char *text)
{
    for (const char *c = text; *c; c++)
        hash = mix(hash, (unsigned char)*c);
    return mix(hash, 0);
}

void number_streams(Compile *c)
{
    Model *m = c->model;
    if (m->streams.n == 0)
        return;
    const VarId seed = m->seed = add_seed(m);
    for (uint32_t k = 0; k < m->streams.n; k++) {
        const Stream *s = &m->streams.at[k];
        const int64_t path = hash_text(0, instance_path(m, s->owner, c->scratch));
        const int64_t site = hash_text(path, names_of(pool_names(m->pool), s->name));
        TermBuilder builder = term_builder(m);
        const Expr *leaf = term_leaf(&builder, ref_now(seed));
        model_var(m, s->key)->binding =
            term_finish(&builder, expr_binary(m->pool, OP_MIX, leaf, expr_integer(m->pool, site)));
    }
}
