/* Variables under `new` have a memory: the text's new(v) is the value of this event step, v itself the value before.
 *
 * In the Model the variable is defined now, so new(v) is v and the text's v is pre(v), in the class and in the objects
 * that were composed before anybody said new(object.v). Cuts show what the text calls v: where such a variable stands
 * in one, a variable of its own follows pre(v). */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

bool dym_is_remembered(const Translation *translation, VarId var)
{
    uint32_t ignored;
    return map_get(&translation->memories.known, var.index, &ignored);
}

void dym_take_memories(Translation *translation, const ClassObject *object)
{
    for (uint32_t k = 0; k < object->translation->memories.all.n; k++) {
        const VarId var = { object->first_var + object->translation->memories.all.at[k].index };
        map_put(&translation->memories.known, var.index, 1);
        vec_push(translation->arena, &translation->memories.all, var);
    }
}

/* What objects, composed before, read of the variable is the value before. */
static void redirect_reads(Translation *translation)
{
    Model *m = translation->model;
    Map fresh;
    map_init(&fresh, translation->arena, translation->memories.uses.n);
    for (uint32_t k = 0; k < translation->memories.uses.n; k++)
        map_put(&fresh, translation->memories.uses.at[k].var.index, k);
    uint32_t ignored;
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_NOW && map_get(&fresh, m->refs.at[k].var.index, &ignored))
            m->refs.at[k].kind = REF_PRE;
}

static VarId companion_of(Translation *translation, VarId var)
{
    Model *m = translation->model;
    const Type type = model_var(m, var)->type;
    const Span span = model_var(m, var)->span;
    const VarId shown = model_add_generated(m, "o", var.index + 1, type, span);
    dym_copy_size(translation, var, shown);
    model_var(m, shown)->origin = var;
    const Term right = term_ref(m, ref_pre(var));
    model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(shown)), right, span);
    return shown;
}

static void show_in_cuts(Translation *translation)
{
    Map shown;
    map_init(&shown, translation->arena, translation->memories.uses.n);
    for (uint32_t k = 0; k < translation->memories.uses.n; k++)
        map_put(&shown, translation->memories.uses.at[k].var.index, ID_NONE);
    for (uint32_t k = 0; k < translation->model->members.n; k++) {
        const VarId var = translation->model->members.at[k].var;
        uint32_t companion;
        if (var_is_none(var) || !map_get(&shown, var.index, &companion))
            continue;
        if (companion == ID_NONE)
            map_put(&shown, var.index, companion = companion_of(translation, var).index);
        translation->model->members.at[k].var.index = companion;
    }
}

void dym_lower_memories(Translation *translation)
{
    if (translation->memories.uses.n == 0)
        return;
    for (uint32_t k = 0; k < translation->memories.uses.n; k++) {
        const MemoryUse use = translation->memories.uses.at[k];
        const bool has_start = !term_is_absent(model_var(translation->model, use.var)->start);
        const Term zero = has_start ? TERM_NONE : term_real(translation->model, 0);
        Variable *v = model_var(translation->model, use.var);
        v->variability = VARIABILITY_DISCRETE;
        v->definition = DEFINITION_NOW;
        if (!has_start)
            v->start = zero;
    }
    redirect_reads(translation);
    show_in_cuts(translation);
}
