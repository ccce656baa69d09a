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

static bool can_remember(Translation *translation, const Node *node, VarId var)
{
    const Variable *v = model_var(translation->model, var);
    if (v->variability > VARIABILITY_PARAMETER && v->causality != CAUSALITY_INPUT)
        return true;
    REPORT(translation, DIAG_DYM_NEW, node->span, "new of %s",
           v->causality == CAUSALITY_INPUT ? "an input, which is given from outside" : "a parameter or constant");
    diag_help(translation->diag, "new takes a variable that the model itself changes at events");
    return false;
}

static void collect(Translation *translation, const Node *node, Map *states, uint32_t *n_states)
{
    for (uint32_t k = 0; k < node->n_args; k++)
        collect(translation, node->args[k], states, n_states);
    if (node->kind != NODE_NEW && node->kind != NODE_DER)
        return;
    const VarId var = dym_find_variable(translation, node->path, node->n_path);
    if (var_is_none(var))
        return;
    if (node->kind == NODE_DER) {
        map_put(states, var.index, (*n_states)++);
        return;
    }
    if (!can_remember(translation, node, var) || dym_is_remembered(translation, var))
        return;
    map_put(&translation->memories.known, var.index, 1);
    vec_push(translation->arena, &translation->memories.all, var);
    const MemoryUse use = { var, node->span };
    vec_push(translation->arena, &translation->memories.uses, use);
}

static void collect_equations(Translation *translation, const EquationTexts *equations, Map *states, uint32_t *n_states)
{
    for (uint32_t k = 0; k < equations->n; k++) {
        collect(translation, equations->at[k].left, states, n_states);
        collect(translation, equations->at[k].right, states, n_states);
    }
}

/* What objects, composed before, read of the variable is the value before. */
static void redirect_reads(Translation *translation)
{
    Model *m = translation->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        const bool is_directed = equation_is_directed(e) && dym_is_remembered(translation, term_refs(m, e->lhs)[0].var);
        for (uint32_t j = 0; is_directed && j < translation->memories.uses.n; j++)
            if (translation->memories.uses.at[j].var.index == term_refs(m, e->lhs)[0].var.index) {
                REPORT(translation, DIAG_DYM_NEW, translation->memories.uses.at[j].span,
                       "new of a variable that its own class defines");
                diag_note(translation->diag, e->origin.span, "it is defined here");
                return;
            }
    }
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

void dym_find_memories(Translation *translation)
{
    Map states;
    uint32_t n_states = 0, which;
    map_init(&states, translation->arena, 16);
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        const Class *class = translation->chain.at[c];
        collect_equations(translation, &class->equations, &states, &n_states);
        for (uint32_t k = 0; k < class->whens.n; k++) {
            collect(translation, class->whens.at[k]->condition, &states, &n_states);
            collect_equations(translation, &class->whens.at[k]->equations, &states, &n_states);
        }
    }
    if (translation->memories.uses.n == 0 || *translation->errors)
        return;
    for (uint32_t k = 0; k < translation->memories.uses.n; k++) {
        const MemoryUse use = translation->memories.uses.at[k];
        if (map_get(&states, use.var.index, &which)) {
            REPORT(translation, DIAG_DYM_NEW, use.span, "new of a variable under der");
            diag_help(translation->diag, "init(v) sets a continuous state at an event");
            return;
        }
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
