/* Attributing executions to the user's text: equations by the parts, nodes and systems they are executed in, the
 * assignments of transitions by the firings. */
#include "emit/program/explain.h"
#include "ir/memo.h"
#include <string.h>

typedef struct {
    const Explainer *of;
    Arena *scratch;
    const char **paths; /* per instance, as far as asked for; NULL: not yet */
    const KoineCounts *counts;
    uint64_t *operations;         /* per kernel: of one element; 0: not known yet */
    uint64_t *executions, *spent; /* per block */
    uint32_t *first_branch;       /* per variable: 1 + first equation in a region, 0: none */
    void (*visit)(void *context, const KoineWork *work);
    void *context;
} Attribution;

/* ---- operations of an expression ---- */
static uint64_t count_operations(const Expr *e, Memo *memo)
{
    uint32_t seen;
    if (e->n_args == 0 || memo_get(memo, e, &seen))
        return e->kind == EXPR_FUNCTION && e->n_args == 0;
    memo_put(memo, e, 1);
    uint64_t n = e->kind != EXPR_LEAF; /* what is selected by an index is no operation, the index may be one */
    for (uint32_t k = 0; k < e->n_args; k++)
        n += count_operations(e->args[k], memo);
    return n;
}

/* What occurs twice is computed once; a copy is one operation, too. */
static uint64_t operations_of(uint32_t n, const Expr *const *outputs)
{
    Memo memo;
    uint64_t sum = 0;
    memo_begin(&memo, NULL);
    for (uint32_t k = 0; k < n; k++)
        sum += outputs[k] ? count_operations(outputs[k], &memo) : 0;
    memo_end(&memo);
    return sum ? sum : 1;
}

static uint64_t kernel_operations(Attribution *a, uint32_t number)
{
    const Kernel *kernel = &a->of->code->kernels[number];
    if (!a->operations[number])
        a->operations[number] = operations_of(kernel->n_outputs, kernel->outputs);
    return a->operations[number];
}

/* ---- sums of a block ---- */
static void add(Attribution *a, uint32_t block, uint32_t kernel, uint64_t executions)
{
    a->executions[block] += executions;
    a->spent[block] += executions * kernel_operations(a, kernel);
}

/* Operands of root functions are counted with their nodes. */
static bool is_operand(const Explainer *of, const Entry *entry)
{
    const uint8_t kind = of->schedule->blocks.at[entry->block].kind;
    return (kind == BLOCK_RELATION || kind == BLOCK_STEP) && !entry->is_shared;
}

/* What several equations need is counted with the first of them. */
static void add_part(Attribution *a, PartKind part, uint64_t evaluations)
{
    const Explainer *of = a->of;
    for (uint32_t k = 0; k < of->executed[part].n; k++) {
        const Entry *entry = &of->executed[part].at[k];
        if (entry->system != KOINE_NONE || is_operand(of, entry))
            continue;
        const uint64_t executions = evaluations * entry->piece.n;
        a->spent[entry->block] += executions * kernel_operations(a, entry->piece.kernel);
        a->executions[entry->block] += entry->is_shared ? 0 : executions;
    }
}

static void add_decision(Attribution *a, const KoineNode *node, const KoineDecision *decision, uint64_t evaluations)
{
    add(a, node->origin, decision->kernel, evaluations + (decision->root == KOINE_NONE ? 0 : a->counts->roots));
}

static void add_node(Attribution *a, const KoineNode *node, uint64_t evaluations)
{
    const KoineProgram *p = a->of->program;
    switch ((KoineNodeKind)node->kind) {
    case KOINE_NODE_ASSIGN:
    case KOINE_NODE_CALL:
    case KOINE_NODE_GUARD: add(a, node->origin, node->kernel, evaluations * node->n); return;
    case KOINE_NODE_SYSTEM: return; /* counted where it is solved */
    case KOINE_NODE_RELATION:
        add_decision(a, node, &p->events.decisions.relations[node->object].decision, evaluations);
        return;
    case KOINE_NODE_STEP: add_decision(a, node, &p->events.decisions.steps[node->object].decision, evaluations); return;
    case KOINE_NODE_TRANSITION:
        a->executions[node->origin] += evaluations;
        a->spent[node->origin] += evaluations * p->events.firings.transitions[node->object].n_conditions;
        return;
    }
}

/* ---- telling ---- */
static void tell(Attribution *a, KoineWorkKind kind, InstanceId owner, Span span, uint64_t executions, uint64_t spent)
{
    if (!executions)
        return;
    if (!a->paths[owner.index])
        a->paths[owner.index] = instance_path(a->of->model, owner, a->scratch);
    const KoineWork work = { .where = origin_at(a->of->model, a->paths[owner.index], span),
                             .kind = (uint8_t)kind,
                             .executions = executions,
                             .operations = spent };
    a->visit(a->context, &work);
}

/* The equations of a quantity in the branches of a region are executed as one: all of it stands at the first of the
 * text, which is not always the first of the model. */
static void find_branches(Attribution *a)
{
    const Model *m = a->of->model;
    a->first_branch = NEW_ARRAY(a->scratch, uint32_t, m->variables.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_DROPPED || e->region.index == ID_NONE || !e->lhs.shape)
            continue;
        const VarId own = term_refs(m, e->lhs)[0].var, alias = model_var(m, own)->alias;
        uint32_t *first = &a->first_branch[var_is_none(alias) ? own.index : alias.index];
        if (!*first || e->origin.span.begin < m->equations.at[*first - 1].origin.span.begin)
            *first = k + 1;
    }
}

static Span first_span(const Attribution *a, const Equation *e)
{
    const Model *m = a->of->model;
    if (!e->origin.made_by || strcmp(e->origin.made_by, "merge-regions") != 0)
        return e->origin.span;
    const uint32_t first = a->first_branch[term_refs(m, e->lhs)[0].var.index];
    return first ? m->equations.at[first - 1].origin.span : e->origin.span;
}

static void tell_equation(Attribution *a, KoineWorkKind kind, EqId equation, uint64_t executions, uint64_t spent)
{
    const Equation *e = equation.index == ID_NONE ? NULL : &a->of->model->equations.at[equation.index];
    tell(a, kind, e ? e->owner : (InstanceId){ 0 }, e ? first_span(a, e) : SPAN_NONE, executions, spent);
}

static void tell_system(Attribution *a, const Block *b, uint64_t executions)
{
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++) {
        const SystemRow *row = &a->of->schedule->rows.at[block_rows(b).first_row + k];
        const Expr *const sides[] = { row->lhs.shape, row->rhs.shape };
        tell_equation(a, KOINE_WORK_EQUATION, row->equation, executions, executions * operations_of(2, sides));
    }
}

static void tell_block(Attribution *a, uint32_t index, bool is_guard)
{
    const Block *b = &a->of->schedule->blocks.at[index];
    const Model *m = a->of->model;
    const uint64_t executions = a->executions[index], spent = a->spent[index];
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
        tell_equation(a, is_guard ? KOINE_WORK_CONDITION : KOINE_WORK_EQUATION, b->equation, executions, spent);
        return;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN: tell_system(a, b, a->counts->systems[a->of->system_of[index]]); return;
    case BLOCK_RELATION: {
        const Relation *r = &m->relations.at[b->u.object];
        tell(a, KOINE_WORK_CONDITION, r->owner, r->origin.span, executions, spent);
        return;
    }
    case BLOCK_STEP: {
        const StepFunction *s = &m->steps.at[b->u.object];
        tell(a, KOINE_WORK_CONDITION, s->owner, s->origin.span, executions, spent);
        return;
    }
    case BLOCK_TRANSITION: {
        const Transition *t = &m->transitions.at[b->u.object];
        tell(a, KOINE_WORK_CONDITION, t->owner, t->origin.span, executions, spent);
        return;
    }
    }
}

static void tell_transition(Attribution *a, uint32_t number)
{
    const KoineProgram *p = a->of->program;
    const KoineTransition *t = &p->events.firings.transitions[number];
    const Transition *own = &a->of->model->transitions.at[a->of->schedule->blocks.at[t->origin].u.object];
    const uint64_t fired = a->counts->transitions[number];
    if (!fired)
        return;
    uint64_t spent = fired;
    for (uint32_t k = 0; k < t->n_shared; k++)
        spent += fired * kernel_operations(a, t->shared[k].kernel);
    for (uint32_t k = 0; k < t->n_actions; k++)
        spent += fired * kernel_operations(a, p->events.firings.actions[t->first_action + k].kernel);
    tell(a, KOINE_WORK_EVENT, own->owner, own->origin.span, fired, spent);
    for (uint32_t k = 0; k < t->n_next; k++) {
        const KoineNext *next = &p->events.firings.nexts[t->first_next + k];
        const Assignment *assignment = &a->of->model->assignments.at[next->origin - a->of->schedule->blocks.n];
        const uint64_t operations = next->kernel == KOINE_NONE ? 1 : kernel_operations(a, next->kernel);
        tell(a, KOINE_WORK_ASSIGNMENT, own->owner, assignment->span, fired, fired * operations);
    }
}

void attribute_work(void *context, const KoineCounts *counts, void (*visit)(void *context, const KoineWork *work),
                    void *visit_context)
{
    const Explainer *of = context;
    Arena *scratch = arena_create_like(of->arena);
    const uint32_t n = of->schedule->blocks.n;
    Attribution a = { .of = of,
                      .scratch = scratch,
                      .paths = NEW_ARRAY(scratch, const char *, of->model->instances.n + 1),
                      .counts = counts,
                      .operations = NEW_ARRAY(scratch, uint64_t, of->code->n_kernels + 1),
                      .executions = NEW_ARRAY(scratch, uint64_t, n + 1),
                      .spent = NEW_ARRAY(scratch, uint64_t, n + 1),
                      .visit = visit,
                      .context = visit_context };
    bool *is_guard = NEW_ARRAY(scratch, bool, n + 1);
    find_branches(&a);
    add_part(&a, PART_DERIVATIVES, counts->derivatives);
    add_part(&a, PART_ROOTS, counts->roots);
    add_part(&a, PART_OUTPUTS, counts->outputs);
    for (uint32_t k = 0; k < of->program->events.graph.n_nodes; k++) {
        add_node(&a, &of->program->events.graph.nodes[k], counts->nodes[k]);
        is_guard[of->program->events.graph.nodes[k].origin] |=
            of->program->events.graph.nodes[k].kind == KOINE_NODE_GUARD;
    }
    for (uint32_t k = 0; k < n; k++)
        tell_block(&a, k, is_guard[k]);
    for (uint32_t k = 0; k < of->program->events.firings.n_transitions; k++)
        tell_transition(&a, k);
    arena_destroy(scratch);
}
