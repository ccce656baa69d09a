/* Finds the variables under `new` and sees that they can have a memory. */
#include "lang/dymola/translation.h"

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

static bool check_not_derived(Translation *translation, const Map *states)
{
    for (uint32_t k = 0; k < translation->memories.uses.n; k++) {
        const MemoryUse use = translation->memories.uses.at[k];
        uint32_t ignored;
        if (!map_get(states, use.var.index, &ignored))
            continue;
        REPORT(translation, DIAG_DYM_NEW, use.span, "new of a variable under der");
        diag_help(translation->diag, "init(v) sets a continuous state at an event");
        return false;
    }
    return true;
}

/* What an object's class defines by itself is no memory of the class that uses the object. */
static void check_not_defined(Translation *translation)
{
    const Model *m = translation->model;
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
}

void dym_check_memories(Translation *translation)
{
    Map states;
    uint32_t n_states = 0;
    map_init(&states, translation->arena, 16);
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        const Class *class = translation->chain.at[c];
        collect_equations(translation, &class->equations, &states, &n_states);
        for (uint32_t k = 0; k < class->whens.n; k++) {
            collect(translation, class->whens.at[k]->condition, &states, &n_states);
            collect_equations(translation, &class->whens.at[k]->equations, &states, &n_states);
        }
    }
    if (*translation->errors == 0 && check_not_derived(translation, &states))
        check_not_defined(translation);
}
