/* Variables under `new` have a memory: the text's new(v) is the value of this event step, v itself the value before.
 *
 * In the Model the variable is defined now, so new(v) is v and the text's v is pre(v), in the class and in the objects
 * that were composed before anybody said new(object.v). Cuts show what the text calls v: where such a variable stands
 * in one, a variable of its own follows pre(v). */
#include "lang/dymola/unit.h"

bool dym_is_remembered(const Unit *unit, VarId var)
{
    uint32_t ignored;
    return map_get(&unit->remembered, var.index, &ignored);
}

void dym_take_memories(Unit *unit, const UnitObject *object)
{
    for (uint32_t k = 0; k < object->unit->memories.n; k++) {
        const VarId var = { object->first_var + object->unit->memories.at[k].index };
        map_put(&unit->remembered, var.index, 1);
        vec_push(unit->arena, &unit->memories, var);
    }
}

static bool can_remember(Unit *unit, const Node *node, VarId var)
{
    const Variable *v = model_var(unit->model, var);
    if (v->variability > VARIABILITY_PARAMETER && v->causality != CAUSALITY_INPUT)
        return true;
    REPORT(unit, DIAG_DYM_NEW, node->span, "new of %s",
           v->causality == CAUSALITY_INPUT ? "an input, which is given from outside" : "a parameter or constant");
    diag_help(unit->diag, "new takes a variable that the model itself changes at events");
    return false;
}

static void collect(Unit *unit, const Node *node, Map *states, uint32_t *n_states)
{
    for (uint32_t k = 0; k < node->n_args; k++)
        collect(unit, node->args[k], states, n_states);
    if (node->kind != NODE_NEW && node->kind != NODE_DER)
        return;
    const VarId var = dym_find_variable(unit, node->path, node->n_path);
    if (var_is_none(var))
        return;
    if (node->kind == NODE_DER) {
        map_put(states, var.index, (*n_states)++);
        return;
    }
    if (!can_remember(unit, node, var) || dym_is_remembered(unit, var))
        return;
    map_put(&unit->remembered, var.index, 1);
    vec_push(unit->arena, &unit->memories, var);
    const MemoryUse use = { var, node->span };
    vec_push(unit->arena, &unit->uses, use);
}

static void collect_equations(Unit *unit, const EquationTexts *equations, Map *states, uint32_t *n_states)
{
    for (uint32_t k = 0; k < equations->n; k++) {
        collect(unit, equations->at[k].left, states, n_states);
        collect(unit, equations->at[k].right, states, n_states);
    }
}

/* What objects, composed before, read of the variable is the value before. */
static void redirect_reads(Unit *unit)
{
    Model *m = unit->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        const bool is_directed = equation_is_directed(e) && dym_is_remembered(unit, term_refs(m, e->lhs)[0].var);
        for (uint32_t j = 0; is_directed && j < unit->uses.n; j++)
            if (unit->uses.at[j].var.index == term_refs(m, e->lhs)[0].var.index) {
                REPORT(unit, DIAG_DYM_NEW, unit->uses.at[j].span, "new of a variable that its own class defines");
                diag_note(unit->diag, e->origin.span, "it is defined here");
                return;
            }
    }
    Map fresh;
    map_init(&fresh, unit->arena, unit->uses.n);
    for (uint32_t k = 0; k < unit->uses.n; k++)
        map_put(&fresh, unit->uses.at[k].var.index, k);
    uint32_t ignored;
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_NOW && map_get(&fresh, m->refs.at[k].var.index, &ignored))
            m->refs.at[k].kind = REF_PRE;
}

static VarId companion_of(Unit *unit, VarId var)
{
    Model *m = unit->model;
    const Type type = model_var(m, var)->type;
    const Span span = model_var(m, var)->span;
    const VarId shown = model_add_generated(m, "o", var.index + 1, type, span);
    dym_copy_size(unit, var, shown);
    model_var(m, shown)->origin = var;
    const Term right = term_ref(m, ref_pre(var));
    model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(shown)), right, span);
    return shown;
}

static void show_in_cuts(Unit *unit)
{
    Map shown;
    map_init(&shown, unit->arena, unit->uses.n);
    for (uint32_t k = 0; k < unit->uses.n; k++)
        map_put(&shown, unit->uses.at[k].var.index, ID_NONE);
    for (uint32_t k = 0; k < unit->model->members.n; k++) {
        const VarId var = unit->model->members.at[k].var;
        uint32_t companion;
        if (var_is_none(var) || !map_get(&shown, var.index, &companion))
            continue;
        if (companion == ID_NONE)
            map_put(&shown, var.index, companion = companion_of(unit, var).index);
        unit->model->members.at[k].var.index = companion;
    }
}

void dym_find_memories(Unit *unit)
{
    Map states;
    uint32_t n_states = 0, which;
    map_init(&states, unit->arena, 16);
    for (uint32_t c = 0; c < unit->chain.n; c++) {
        const Class *class = unit->chain.at[c];
        collect_equations(unit, &class->equations, &states, &n_states);
        for (uint32_t k = 0; k < class->whens.n; k++) {
            collect(unit, class->whens.at[k]->condition, &states, &n_states);
            collect_equations(unit, &class->whens.at[k]->equations, &states, &n_states);
        }
    }
    if (unit->uses.n == 0 || *unit->errors)
        return;
    for (uint32_t k = 0; k < unit->uses.n; k++) {
        const MemoryUse use = unit->uses.at[k];
        if (map_get(&states, use.var.index, &which)) {
            REPORT(unit, DIAG_DYM_NEW, use.span, "new of a variable under der");
            diag_help(unit->diag, "init(v) sets a continuous state at an event");
            return;
        }
        const bool has_start = !term_is_absent(model_var(unit->model, use.var)->start);
        const Term zero = has_start ? TERM_NONE : term_real(unit->model, 0);
        Variable *v = model_var(unit->model, use.var);
        v->variability = VARIABILITY_DISCRETE;
        v->definition = DEFINITION_NOW;
        if (!has_start)
            v->start = zero;
    }
    redirect_reads(unit);
    show_in_cuts(unit);
}
