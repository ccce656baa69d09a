/* apply-task: what is known and what is unknown, where the task says it otherwise than usual.
 *
 * Usually inputs and states are known, derivatives and all others unknown. A state that is named in a task is no state
 * any more: it and its derivative, which becomes a variable `der(x)`, are known or unknown each for itself. A
 * derivative that is known while its state is not named is integrated as it is given; something else has to be unknown
 * then. A state at rest stays a state; its start value is free and its derivative 0 at the start.
 *
 * The following passes find nothing unusual, except that equations are solved for any of their variables. */
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t *now, *der; /* per variable: 1 + the task that names it, its derivative; 0: none */
    VarId *derivative;   /* per variable: what stands for its derivative, or none */
    bool *is_assigned;   /* per variable: by an event */
} Tasks;

static const char *ref_text(const Tasks *t, Ref ref)
{
    const char *path = variable_path(t->model, ref.var, t->c->scratch);
    return ref.kind == REF_DER ? arena_format(t->c->scratch, "der(%s)", path) : path;
}

static void note_assigned(Tasks *t)
{
    const Model *m = t->model;
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        const Term target = m->assignments.at[k].target;
        t->is_assigned[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
    }
}

static void refuse(const Tasks *t, const Task *task, const char *why, const char *help)
{
    diag_error(t->c->diag, DIAG_TASK_VARIABLE, task->span, "'%s' cannot be %s: %s", ref_text(t, task->ref),
               task->kind == TASK_UNKNOWN ? "unknown"
               : task->kind == TASK_KNOWN ? "known"
                                          : "at rest",
               why);
    diag_note(t->c->diag, model_var(t->model, task->ref.var)->span, "it is declared here");
    diag_help(t->c->diag, "%s", help);
}

static bool is_possible(const Tasks *t, const Task *task)
{
    const Variable *v = model_var(t->model, task->ref.var);
    const bool is_state = v->definition == DEFINITION_DER;
    if (v->type.kind != TYPE_REAL) {
        refuse(t, task, "it is not Real", "tasks are about Real quantities");
        return false;
    }
    if ((task->ref.kind == REF_DER || task->kind == TASK_REST) && !is_state) {
        refuse(t, task, "it has no derivative", "only a quantity whose derivative occurs in the model is a state");
        return false;
    }
    if (v->variability == VARIABILITY_STRUCTURAL || v->variability == VARIABILITY_CONSTANT) {
        refuse(t, task, "it is constant", "parameters, inputs, states and computed quantities can take part in a task");
        return false;
    }
    if ((t->is_assigned[task->ref.var.index] && task->kind != TASK_REST) ||
        !(is_state || v->definition == DEFINITION_NOW || v->definition == DEFINITION_INPUT ||
          v->definition == DEFINITION_BINDING)) {
        refuse(t, task, "events assign it",
               "parameters, inputs, states and computed quantities can take part in a task");
        return false;
    }
    return true;
}

/* Each variable and each derivative once. */
static bool collect(Tasks *t)
{
    const Model *m = t->model;
    for (uint32_t k = 0; k < m->tasks.n; k++) {
        const Task *task = &m->tasks.at[k];
        uint32_t *place = &(task->ref.kind == REF_DER ? t->der : t->now)[task->ref.var.index];
        if (!is_possible(t, task))
            continue;
        if (*place) {
            diag_error(t->c->diag, DIAG_TASK_TWICE, task->span, "the task names '%s' twice", ref_text(t, task->ref));
            if (m->tasks.at[*place - 1].span.source != SOURCE_NONE)
                diag_note(t->c->diag, m->tasks.at[*place - 1].span, "the first time here");
            diag_help(t->c->diag, "a quantity is either known or unknown");
        }
        *place = k + 1;
    }
    return diag_errors(t->c->diag) == 0;
}

static void give(Tasks *t, VarId id, Term value)
{
    Variable *v = model_var(t->model, id);
    if (v->definition == DEFINITION_BINDING) { /* known already */
        if (!term_is_absent(value))
            v->binding = value;
        return;
    }
    v->definition = DEFINITION_INPUT;
    v->causality = CAUSALITY_INPUT;
    v->is_fixed = false;
    v->fixed = TERM_NONE;
    if (!term_is_absent(value))
        v->start = value;
}

/* A variable for the derivative, unknown so far. */
static void name_derivative(Tasks *t, VarId state)
{
    Model *m = t->model;
    const char *name = arena_format(m->arena, "der(%s)", variable_path(m, state, t->c->scratch));
    const Variable of = *model_var(m, state);
    const VarId id = model_add_variable(m, (InstanceId){ 0 }, names_text(pool_names(m->pool), name), of.type, of.span);
    Variable *v = model_var(m, id);
    v->first_dim = of.first_dim;
    v->variability = VARIABILITY_CONTINUOUS;
    v->definition = DEFINITION_NOW;
    v->is_rate = true;
    t->derivative[state.index] = id;
}

static void rename_derivatives(Tasks *t, uint32_t n_variables)
{
    Model *m = t->model;
    for (uint32_t k = 0; k < m->refs.n; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind == REF_DER && ref.var.index < n_variables && !var_is_none(t->derivative[ref.var.index]))
            m->refs.at[k] = ref_now(t->derivative[ref.var.index]);
    }
}

static void add_equation(Tasks *t, EquationKind kind, Ref left, Term right, const Task *task)
{
    Model *m = t->model;
    const Term side = term_ref(m, left);
    const EqId e = model_add_equation(m, kind, side, right, task->span);
    m->equations.at[e.index].owner = model_var(m, left.var)->owner;
    m->equations.at[e.index].origin.made_by = "apply-task";
    if (task->kind == TASK_REST)
        m->equations.at[e.index].when_valid = VALID_INITIAL_ONLY;
}

/* The variable itself is unknown from now on. */
static void release(Tasks *t, VarId id)
{
    Variable *v = model_var(t->model, id);
    if (v->definition == DEFINITION_BINDING) { /* its value is where the search begins */
        v->start = v->binding;
        v->binding = TERM_NONE;
        v->causality = CAUSALITY_LOCAL;
    } else if (v->definition == DEFINITION_INPUT) {
        v->causality = CAUSALITY_LOCAL;
    }
    v->definition = DEFINITION_NOW;
    v->variability = VARIABILITY_CONTINUOUS;
    v->is_fixed = false;
    v->fixed = TERM_NONE;
}

static void apply(Tasks *t, uint32_t number)
{
    Model *m = t->model;
    const Task task = m->tasks.at[number];
    const VarId id = task.ref.var, derivative = t->derivative[id.index];
    if (task.kind == TASK_REST) {
        model_var(m, id)->is_fixed = false;
        model_var(m, id)->fixed = TERM_NONE;
        add_equation(t, EQUATION_RESIDUAL, ref_der(id), term_real(m, 0), &task);
    } else if (task.kind == TASK_UNKNOWN) {
        release(t, id);
    } else if (task.ref.kind == REF_NOW) {
        give(t, id, task.value);
    } else {
        give(t, derivative, task.value);
        if (!t->now[id.index])
            add_equation(t, EQUATION_EXPLICIT, ref_der(id), term_ref(m, ref_now(derivative)), &task);
    }
}

bool apply_task(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = m->variables.n;
    if (m->tasks.n == 0)
        return true;
    Tasks t = { .c = c,
                .model = m,
                .now = NEW_ARRAY(c->scratch, uint32_t, n),
                .der = NEW_ARRAY(c->scratch, uint32_t, n),
                .derivative = NEW_ARRAY(c->scratch, VarId, n),
                .is_assigned = NEW_ARRAY(c->scratch, bool, n) };
    note_assigned(&t);
    if (!collect(&t))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        t.derivative[k] = VAR_NONE;
        const bool is_named = t.now[k] && m->tasks.at[t.now[k] - 1].kind != TASK_REST;
        if ((is_named || t.der[k]) && m->variables.at[k].definition == DEFINITION_DER)
            name_derivative(&t, (VarId){ k });
    }
    rename_derivatives(&t, n);
    for (uint32_t k = 0; k < m->tasks.n; k++)
        apply(&t, k);
    m->tasks.n = 0;
    m->has_task = true;
    return true;
}
