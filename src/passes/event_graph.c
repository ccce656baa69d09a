/* See event_graph.h. What stands in a term is looked up by the node that defines it: one for a variable, or one for
 * some elements of an array. */
#include "passes/event_graph.h"
#include "base/bug.h"
#include "ir/element.h"

typedef struct { /* elements lo .. hi of an array are defined by node */
    uint32_t node;
    int64_t lo, hi;
} Segment;

typedef struct {
    Compile *c;
    Model *model;
    VEC(EventNode) nodes;
    uint32_t *now, *der;   /* per variable: node that defines it (scalars), or ID_NONE */
    uint32_t *segments_of; /* per variable: 1 + first segment; arrays, NOW in even, DER in odd places */
    VEC(Segment) segments;
    VEC(uint32_t) next_segment;
    VEC(Edge) edges;
} Builder;

/* ---- who defines what ---- */
static void define_element(Builder *b, uint32_t node, const Equation *e, Ref ref)
{
    Model *m = b->model;
    ElementMap map;
    Segment segment = { node, 0, (int64_t)variable_count(m, ref.var) - 1 };
    if (e->lhs.shape->n_args && element_map(m, e->lhs.shape, term_refs(m, e->lhs), e->domain, &map))
        element_range(m, &map, e->domain, &segment.lo, &segment.hi);
    uint32_t *head = &b->segments_of[2 * ref.var.index + (ref.kind == REF_DER)];
    vec_push(b->c->scratch, &b->segments, segment);
    vec_push(b->c->scratch, &b->next_segment, *head);
    *head = b->segments.n;
}

static void define_bits(Builder *b, uint32_t node, VarId bit)
{
    const Segment all = { node, 0, (int64_t)variable_count(b->model, bit) - 1 };
    vec_push(b->c->scratch, &b->segments, all);
    vec_push(b->c->scratch, &b->next_segment, b->segments_of[2 * bit.index]);
    b->segments_of[2 * bit.index] = b->segments.n;
}

static void list_nodes(Builder *b)
{
    Model *m = b->model;
    Compile *c = b->c;
    for (uint32_t k = 0; k < m->variables.n; k++)
        b->now[k] = b->der[k] = ID_NONE;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_DROPPED || c->matched[k] == ID_NONE)
            continue;
        const Ref ref = c->unknowns.at[c->matched[k]];
        const EventNode node = { NODE_EQUATION, k };
        vec_push(c->scratch, &b->nodes, node);
        if (model_var(m, ref.var)->type.rank)
            define_element(b, b->nodes.n - 1, e, ref);
        else
            (ref.kind == REF_DER ? b->der : b->now)[ref.var.index] = b->nodes.n - 1;
    }
    if (c->is_initial) /* bits and step values are given, transitions do not fire */
        return;
    for (uint32_t k = 0; k < m->relations.n; k++) {
        const EventNode node = { NODE_RELATION, k };
        vec_push(c->scratch, &b->nodes, node);
        if (m->relations.at[k].domain.index)
            define_bits(b, b->nodes.n - 1, m->relations.at[k].bit);
        else
            b->now[m->relations.at[k].bit.index] = b->nodes.n - 1;
    }
    for (uint32_t k = 0; k < m->steps.n; k++) {
        const EventNode node = { NODE_STEP, k };
        vec_push(c->scratch, &b->nodes, node);
        b->now[m->steps.at[k].value.index] = b->nodes.n - 1;
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const EventNode node = { NODE_TRANSITION, k };
        vec_push(c->scratch, &b->nodes, node);
    }
}

/* ---- dependencies ---- */
static void depend(Builder *b, uint32_t node, uint32_t on)
{
    const Edge edge = { node, on };
    if (on != ID_NONE)
        vec_push(b->c->scratch, &b->edges, edge);
}

static void depend_on_segments(Builder *b, uint32_t node, Ref ref, int64_t lo, int64_t hi)
{
    if (variable_is_split(b->model, ref.var)) {
        const uint32_t first = model_var(b->model, ref.var)->alias.index;
        for (int64_t k = lo; k <= hi; k++)
            depend(b, node, (ref.kind == REF_DER ? b->der : b->now)[first + k]);
        return;
    }
    for (uint32_t k = b->segments_of[2 * ref.var.index + (ref.kind == REF_DER)]; k; k = b->next_segment.at[k - 1]) {
        const Segment *segment = &b->segments.at[k - 1];
        if (segment->lo <= hi && lo <= segment->hi)
            depend(b, node, segment->node);
    }
}

/* Leaves with index expressions: which elements are read. */
static void depend_on_elements(Builder *b, uint32_t node, const Expr *e, Term term, DomainId domain)
{
    Model *m = b->model;
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(m, term)[e->u.leaf];
        if ((ref.kind != REF_NOW && ref.kind != REF_DER && ref.kind != REF_PRE) ||
            model_var(m, ref.var)->type.rank == 0)
            return;
        const Span span = event_node_span(b->model, b->nodes.at[node]);
        ElementMap map;
        int64_t lo = 0, hi = (int64_t)variable_count(m, ref.var) - 1;
        /* an index that only the run knows may mean any element */
        if (e->n_args && element_map(m, e, term_refs(m, term), domain, &map) && domain_count(m, domain)) {
            int64_t first, last;
            element_range(m, &map, domain, &first, &last);
            if (first < lo || last > hi)
                diag_error(b->c->diag, DIAG_INDEX_RANGE, span, "element %lld of '%s', which has %lld",
                           (long long)(first < lo ? first + 1 : last + 1), variable_path(m, ref.var, b->c->scratch),
                           (long long)hi + 1);
            lo = first;
            hi = last;
        }
        if (ref.kind != REF_PRE)
            depend_on_segments(b, node, ref, lo, hi);
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        depend_on_elements(b, node, e->args[k], term, domain);
}

static void depend_on_term(Builder *b, uint32_t node, Term term, DomainId domain)
{
    Model *m = b->model;
    if (!term.shape)
        return;
    bool has_arrays = false;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind != REF_NOW && ref.kind != REF_DER && ref.kind != REF_PRE)
            continue;
        if (model_var(m, ref.var)->type.rank)
            has_arrays = true;
        else if (ref.kind != REF_PRE)
            depend(b, node, (ref.kind == REF_DER ? b->der : b->now)[ref.var.index]);
    }
    if (has_arrays)
        depend_on_elements(b, node, term.shape, term, domain);
}

static void depend_on_selector(Builder *b, uint32_t node, RegionId region)
{
    if (region.index != ID_NONE)
        depend(b, node, b->now[b->model->regions.at[region.index].selector.index]);
}

static void list_dependencies(Builder *b)
{
    Model *m = b->model;
    const DomainId scalar = { 0 };
    for (uint32_t k = 0; k < b->nodes.n; k++) {
        const EventNode node = b->nodes.at[k];
        switch ((NodeKind)node.kind) {
        case NODE_EQUATION: {
            const Equation *e = &m->equations.at[node.object];
            depend_on_term(b, k, e->rhs, e->domain);
            const bool is_left = e->lhs.shape->kind == EXPR_LEAF &&
                                 ref_equal(term_refs(m, e->lhs)[0], b->c->unknowns.at[b->c->matched[node.object]]);
            if (!is_left) /* v = e, matched to something in e */
                depend_on_term(b, k, e->lhs, e->domain);
            break;
        }
        case NODE_RELATION: {
            const Relation *r = &m->relations.at[node.object];
            if (r->kind == RELATION_TIME) {
                depend_on_term(b, k, r->slope, r->domain);
                depend_on_term(b, k, r->flip, r->domain);
            } else {
                depend_on_term(b, k, r->left, r->domain);
                depend_on_term(b, k, r->right, r->domain);
            }
            depend_on_selector(b, k, r->region);
            break;
        }
        case NODE_STEP: {
            const StepFunction *f = &m->steps.at[node.object];
            if (f->kind == RELATION_TIME) {
                depend_on_term(b, k, f->slope, scalar);
                depend_on_term(b, k, f->offset, scalar);
            } else {
                depend_on_term(b, k, f->argument, scalar);
            }
            depend_on_selector(b, k, f->region);
            break;
        }
        case NODE_TRANSITION: {
            const Transition *t = &m->transitions.at[node.object];
            for (uint32_t j = 0; j < t->n_conditions; j++)
                depend_on_term(b, k, m->conditions.at[t->first_condition + j], t->domain);
            break;
        }
        }
    }
}

Span event_node_span(const Model *m, EventNode n)
{
    switch ((NodeKind)n.kind) {
    case NODE_EQUATION: return m->equations.at[n.object].origin.span;
    case NODE_RELATION: return m->relations.at[n.object].origin.span;
    case NODE_STEP: return m->steps.at[n.object].origin.span;
    case NODE_TRANSITION: return m->transitions.at[n.object].origin.span;
    }
    BUG("unknown NodeKind");
}

bool event_graph_build(Compile *c, EventGraph *graph)
{
    Model *m = c->model;
    Builder b = { .c = c,
                  .model = m,
                  .now = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                  .der = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                  .segments_of = NEW_ARRAY(c->scratch, uint32_t, 2 * (size_t)m->variables.n + 2) };
    list_nodes(&b);
    list_dependencies(&b);
    if (diag_errors(c->diag))
        return false;
    *graph =
        (EventGraph){ b.nodes.at, b.nodes.n, incidence_build(b.nodes.n, b.nodes.n, b.edges.at, b.edges.n, c->scratch) };
    return true;
}
