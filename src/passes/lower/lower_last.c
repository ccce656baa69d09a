/* lower-last: last(v) becomes a discrete variable that takes the value of v at each accepted step of the integrator.
 *
 * A transition of steps assigns it, so it is constant while a step is made, whatever stages the method has, and in the
 * first event step behind it; what it is from then on holds for the next step. It begins with the start value of v;
 * that of a state, or of a variable that only events assign, is what they are when the run begins. */
#include "ir/walk.h"
#include "passes/instantiate.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t n;   /* variables that were there before */
    VarId *lasts; /* per such variable: what last() of it is, or none */
} Lowering;

static VarId add_last(Lowering *l, VarId var)
{
    Model *m = l->model;
    const Variable v = *model_var(m, var);
    Names *names = pool_names(m->pool);
    const char *name = arena_format(l->c->scratch, "$last %s", names_of(names, v.name));
    const VarId last = model_add_variable(m, v.owner, names_text(names, name), v.type, v.span);
    Variable *made = model_var(m, last);
    made->first_dim = v.first_dim;
    made->variability = VARIABILITY_DISCRETE;
    made->definition = DEFINITION_NEXT;
    made->is_generated = made->is_fixed = true;
    made->origin = var;
    made->start = v.start;
    return last;
}

/* next(last) := v, element by element. */
static void add_transition(Lowering *l, Trigger trigger, VarId var, VarId last)
{
    Model *m = l->model;
    const Variable v = *model_var(m, var);
    const Expr *index[UINT8_MAX];
    for (uint32_t k = 0; k < v.type.rank; k++)
        index[k] = expr_iterator(m->pool, k);
    TermBuilder builder = term_builder(m);
    Assignment a = { .target = term_ref(m, ref_now(last)), .value = term_ref(m, ref_now(var)), .span = v.span };
    if (v.type.rank) {
        a.target = term_finish(&builder, term_element(&builder, ref_now(last), v.type.rank, index));
        a.value = term_finish(&builder, term_element(&builder, ref_now(var), v.type.rank, index));
    }
    const Transition head = { .trigger = (uint8_t)trigger,
                              .effect = EFFECT_NEXT,
                              .domain = domain_of_array(m, var),
                              .region = REGION_NONE,
                              .owner = v.owner,
                              .origin = { .span = v.span, .made_by = "lower-last", .parent = EQ_NONE } };
    model_add_transition(m, &head, 0, NULL, 1, &a, 0, NULL);
}

static void lower_reads(void *context, Term term, const TermPlace *place)
{
    Lowering *l = context;
    (void)place;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(l->model, term)[k];
        if (ref.kind == REF_LAST)
            l->lasts[ref.var.index] = ref.var;
    }
}

static void lower_variable(Lowering *l, VarId var)
{
    const Variable *v = model_var(l->model, var);
    if (v->variability <= VARIABILITY_PARAMETER)
        return; /* it is what it was */
    const bool is_kept = v->definition == DEFINITION_DER || v->definition == DEFINITION_NEXT;
    const VarId last = add_last(l, var);
    add_transition(l, TRIGGER_STEP, var, last);
    if (is_kept)
        add_transition(l, TRIGGER_INITIAL, var, last);
    l->lasts[var.index] = last;
}

bool lower_last(Compile *c)
{
    Model *m = c->model;
    if (!model_may_have(m, REF_LAST))
        return true;
    Lowering l = { .c = c, .model = m, .n = m->variables.n };
    l.lasts = NEW_ARRAY(c->scratch, VarId, l.n + 1);
    for (uint32_t k = 0; k < l.n; k++)
        l.lasts[k] = VAR_NONE;
    model_visit_terms(m, ELEMENTS_ALL, lower_reads, &l);
    for (uint32_t k = 0; k < l.n; k++)
        if (!var_is_none(l.lasts[k]))
            lower_variable(&l, (VarId){ k });
    for (uint32_t k = 0; k < m->refs.n; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind == REF_LAST && !var_is_none(l.lasts[ref.var.index]))
            m->refs.at[k] = ref_now(l.lasts[ref.var.index]);
    }
    return true;
}
