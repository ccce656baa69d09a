/* See start_splits.h. Nodes are variables and derivatives; an equation of the start leads to all that it mentions, and
 * from there the equations that may determine it lead on. */
#include "passes/start_splits.h"
#include "graph/graph.h"

typedef struct {
    const Model *model;
    Arena *scratch;
    Incidence definers; /* per node: equations that may determine it */
    bool *is_met;       /* per equation */
    bool *is_reached;   /* per node */
    bool *is_given;     /* per variable: an array that direct equations give */
    VEC(uint32_t) queue;
} Reach;

bool variable_has_start_equation(const Variable *v)
{
    return (v->is_fixed || v->fixed.shape) && v->definition == DEFINITION_NOW &&
           v->variability == VARIABILITY_CONTINUOUS && v->type.kind == TYPE_REAL;
}

static bool takes_part(const Equation *e)
{
    return e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM && e->when_valid != VALID_NOT_INITIAL;
}

static bool is_node(Ref ref)
{
    return ref.kind == REF_NOW || ref.kind == REF_DER;
}

static uint32_t node_of(Ref ref)
{
    return 2 * ref.var.index + (ref.kind == REF_DER);
}

static Incidence list_definers(const Model *m, Arena *scratch)
{
    VEC(Edge) edges = { 0 };
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; takes_part(e) && s < (equation_is_directed(e) ? 1 : 2); s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++) {
                const Ref ref = term_refs(m, sides[s])[j];
                const Edge edge = { node_of(ref), k };
                if (is_node(ref))
                    vec_push(scratch, &edges, edge);
            }
    }
    return incidence_build(2 * m->variables.n, m->equations.n, edges.at, edges.n, scratch);
}

static void meet(Reach *r, uint32_t equation)
{
    if (!r->is_met[equation])
        vec_push(r->scratch, &r->queue, equation);
    r->is_met[equation] = true;
}

static void reach(Reach *r, Ref ref)
{
    if (!is_node(ref) || r->is_reached[node_of(ref)] || (ref.kind == REF_NOW && r->is_given[ref.var.index]))
        return;
    const uint32_t node = node_of(ref);
    r->is_reached[node] = true;
    for (uint32_t k = r->definers.start[node]; k < r->definers.start[node + 1]; k++)
        meet(r, r->definers.index[k]);
}

static void follow(Reach *r)
{
    while (r->queue.n) {
        const Equation *e = &r->model->equations.at[vec_pop(&r->queue)];
        const Term sides[] = { e->lhs, e->rhs };
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t j = 0; j < sides[s].shape->n_leaves; j++)
                reach(r, term_refs(r->model, sides[s])[j]);
    }
}

static bool is_array(const Model *m, uint32_t k)
{
    return m->variables.at[k].type.rank > 0 && variable_count(m, (VarId){ k }) > 0;
}

static bool is_free_state(const Model *m, uint32_t k)
{
    return m->variables.at[k].definition == DEFINITION_DER && !m->variables.at[k].is_fixed;
}

/* Whether there is anything to look for: equations of the start, and arrays or parameters that they determine. */
static bool is_concerned(const Model *m)
{
    bool any = false, has_free = false;
    for (uint32_t k = 0; k < m->equations.n && !any; k++)
        any = takes_part(&m->equations.at[k]) && m->equations.at[k].when_valid == VALID_INITIAL_ONLY;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        any |= variable_has_start_equation(&m->variables.at[k]);
        has_free |= m->variables.at[k].is_free || (is_free_state(m, k) && is_array(m, k));
    }
    return any && has_free;
}

static Reach begin(const Model *m, const bool *is_direct, Arena *scratch)
{
    Reach r = { .model = m, .scratch = scratch, .definers = list_definers(m, scratch) };
    r.is_met = NEW_ARRAY(scratch, bool, m->equations.n + 1);
    r.is_reached = NEW_ARRAY(scratch, bool, 2 * (size_t)m->variables.n + 1);
    r.is_given = NEW_ARRAY(scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (is_direct[k])
            r.is_given[term_refs(m, e->lhs)[e->lhs.shape->u.leaf].var.index] = true;
        else if (takes_part(e) && e->when_valid == VALID_INITIAL_ONLY)
            meet(&r, k);
    }
    return r;
}

const bool *find_start_splits(const Model *m, const bool *is_direct, uint64_t most, Arena *scratch)
{
    bool *is_found = NEW_ARRAY(scratch, bool, m->variables.n + 1), any = false;
    if (!is_concerned(m))
        return is_found;
    Reach r = begin(m, is_direct, scratch);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_has_start_equation(&m->variables.at[k]))
            reach(&r, ref_now((VarId){ k }));
    follow(&r);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const uint8_t definition = m->variables.at[k].definition;
        is_found[k] = r.is_reached[2 * (size_t)k] && is_array(m, k) && variable_count(m, (VarId){ k }) <= most &&
                      (definition == DEFINITION_NOW || is_free_state(m, k));
        any |= (is_found[k] && is_free_state(m, k)) || (r.is_reached[2 * (size_t)k] && m->variables.at[k].is_free);
    }
    return any ? is_found : NEW_ARRAY(scratch, bool, m->variables.n + 1);
}
