/* sort-blocks: block triangular form of the event graph. Nodes are equations, relations, step functions and
 * transitions; strong components become blocks: assignments where an equation can be solved symbolically, linear
 * systems, systems for Newton's method, iterations. Blocks of one level and one shape stand together, so that they can
 * be executed as one kernel.
 *
 * A component with comparisons whose sides depend on what they decide becomes several blocks: between events the
 * comparisons are constant, so the rest of it is sorted without them. These blocks stand together, the comparisons
 * last, and share the number `mixed`: at events they are repeated until the comparisons fit (docs/semantics.md). */
#include "base/bug.h"
#include "graph/components.h"
#include "graph/topological.h"
#include "ir/simplify.h"
#include "ir/solve.h"
#include "passes/event_graph.h"

typedef struct {
    Compile *c;
    Model *model;
    Schedule *schedule;
    EventGraph graph;
    Components components;
    uint32_t *block_of, *size_of; /* per component: its blocks, from the first one on */
    uint32_t n_mixed;
} Sorter;

/* ---- blocks ---- */
static Span node_span(const Sorter *s, uint32_t node)
{
    return event_node_span(s->model, s->graph.nodes[node]);
}

static const char *node_text(Sorter *s, uint32_t node)
{
    const Model *m = s->model;
    const EventNode n = s->graph.nodes[node];
    if (n.kind == NODE_EQUATION) {
        const Ref ref = s->c->unknowns.at[s->c->matched[n.object]];
        const char *path = variable_path(m, ref.var, s->c->scratch);
        return ref.kind == REF_DER ? arena_format(s->c->scratch, "the derivative of '%s'", path)
                                   : arena_format(s->c->scratch, "'%s'", path);
    }
    return n.kind == NODE_RELATION ? "the comparison" : n.kind == NODE_STEP ? "the step function" : "the event";
}

/* Variables that a pass made have names that nobody knows. */
static bool is_generated(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    return n.kind == NODE_EQUATION && model_var(s->model, s->c->unknowns.at[s->c->matched[n.object]].var)->is_generated;
}

static void report_loop(Sorter *s, const uint32_t *nodes, uint32_t n, DiagCode code, const char *what, const char *help)
{
    enum { MOST = 12 };
    uint32_t first = 0;
    while (first + 1 < n && (s->graph.nodes[nodes[first]].kind != NODE_EQUATION || is_generated(s, nodes[first])))
        first++;
    diag_error(s->c->diag, code, node_span(s, nodes[first]), "%s: %s depends on itself through %u step%s", what,
               node_text(s, nodes[first]), n, n == 1 ? "" : "s");
    for (uint32_t k = 0; k < n && k < MOST; k++)
        if (!is_generated(s, nodes[k]))
            diag_note(s->c->diag, node_span(s, nodes[k]), "%s takes part", node_text(s, nodes[k]));
    diag_help(s->c->diag, "%s", help);
}

/* Whether a transition that acts now fires: $f1 and its conditions, made by lower-whens. */
static bool is_firing(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    if (n.kind != NODE_EQUATION)
        return false;
    const char *made_by = s->model->equations.at[n.object].origin.made_by;
    const Variable *v = model_var(s->model, s->c->unknowns.at[s->c->matched[n.object]].var);
    return made_by && strcmp(made_by, "lower-whens") == 0 && v->is_generated && v->type.kind == TYPE_BOOLEAN;
}

/* The ring without comparisons, and each event once. */
static void note_ring(Sorter *s, const uint32_t *nodes, uint32_t n, uint32_t first)
{
    enum { MOST = 12 };
    VEC(Span) events = { 0 };
    vec_push(s->c->scratch, &events, node_span(s, nodes[first]));
    for (uint32_t k = 0, shown = 0; k < n && shown < MOST; k++) {
        const Span span = node_span(s, nodes[k]);
        bool is_known = s->graph.nodes[nodes[k]].kind != NODE_EQUATION;
        for (uint32_t j = 0; j < events.n && is_firing(s, nodes[k]); j++)
            is_known |= events.at[j].source == span.source && events.at[j].begin == span.begin;
        if (is_known)
            continue;
        shown++;
        if (is_firing(s, nodes[k])) {
            diag_note(s->c->diag, span, "this event takes part in the ring");
            vec_push(s->c->scratch, &events, span);
        } else {
            diag_note(s->c->diag, span, "%s takes part in the ring", node_text(s, nodes[k]));
        }
    }
}

/* Whether the event occurs would be decided by what it does. */
static bool report_circular_whens(Sorter *s, const uint32_t *nodes, uint32_t n)
{
    uint32_t first = n;
    for (uint32_t k = n; k-- > 0;)
        if (is_firing(s, nodes[k]) && (first == n || node_span(s, nodes[k]).begin < node_span(s, nodes[first]).begin))
            first = k;
    if (first == n)
        return false;
    diag_error(s->c->diag, DIAG_DISCRETE_LOOP, node_span(s, nodes[first]),
               "whether this event occurs depends on what it sets itself");
    note_ring(s, nodes, n, first);
    diag_help(s->c->diag, "let a condition read the value before the event: pre(v), in Dymola v where new(v) is set");
    return true;
}

static bool depends_on_itself(uint32_t node, const Incidence *g)
{
    for (uint32_t k = g->start[node]; k < g->start[node + 1]; k++)
        if (g->index[k] == node)
            return true;
    return false;
}

/* Both sides in one numbering, and the leaf of the unknown. */
typedef struct {
    TermBuilder builder;
    const Expr *lhs, *rhs, *leaf;
} Open;

static Open open_equation(Sorter *s, uint32_t equation, Ref unknown)
{
    Open open = { .builder = term_builder(s->model) };
    const Equation *e = &s->model->equations.at[equation];
    open.lhs = term_import(&open.builder, e->lhs);
    open.rhs = term_import(&open.builder, e->rhs);
    open.leaf = term_leaf(&open.builder, unknown);
    return open;
}

static bool add_single(Sorter *s, uint32_t node, bool is_loop)
{
    Model *m = s->model;
    const uint32_t k = s->graph.nodes[node].object;
    const Equation *e = &m->equations.at[k];
    const Ref unknown = s->c->unknowns.at[s->c->matched[k]];
    Block block = { .kind = BLOCK_ASSIGN,
                    .u.assign.lhs = e->lhs,
                    .u.assign.rhs = e->rhs,
                    .u.assign.domain = e->domain,
                    .equation = { k } };
    block.is_real = ref_type(m, unknown).kind == TYPE_REAL;
    const bool is_array = model_var(m, unknown.var)->type.rank > 0;
    const bool has_direction = e->lhs.shape->kind == EXPR_LEAF && ref_equal(term_refs(m, e->lhs)[0], unknown);
    if (has_direction && is_loop && is_array) { /* scalars are iterated */
        report_loop(s, &node, 1, DIAG_NOT_YET, "an array that depends on its own present value",
                    "use the value of the previous step, or break the ring with a state variable");
        return false;
    }
    if (is_loop || !has_direction) {
        if (!block.is_real) {
            diag_error(s->c->diag, DIAG_UNSOLVABLE_LOOP, node_span(s, node),
                       "this equation cannot be solved for %s, which is not Real", node_text(s, node));
            diag_help(s->c->diag, "write it as v = ... for a quantity that is not Real");
            return false;
        }
        Open open = open_equation(s, k, unknown);
        const Expr *solution = expr_solve(m->pool, open.lhs, open.rhs, open.leaf);
        if (solution) {
            block.u.assign.rhs = term_make(m, expr_simplify(m->pool, solution), open.builder.refs.at);
            block.u.assign.lhs = term_ref(m, unknown);
        } else {
            const SystemRow row = { { k }, e->lhs, e->rhs, unknown };
            block.kind = BLOCK_NEWTON;
            block.u.system = (SystemRows){ .first_row = s->schedule->rows.n, .n_rows = 1 };
            vec_push(s->c->arena, &s->schedule->rows, row);
        }
    }
    vec_push(s->c->arena, &s->schedule->blocks, block);
    return true;
}

/* ---- iteration: assignments in an order in which as few as possible read a value of the cycle before ---- */
static bool is_iterated(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    return n.kind == NODE_EQUATION && s->model->equations.at[n.object].kind == EQUATION_ITERATION;
}

/* v := f(...) of a scalar. */
static bool is_assignment(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    if (n.kind != NODE_EQUATION)
        return false;
    const Equation *e = &s->model->equations.at[n.object];
    const Ref unknown = s->c->unknowns.at[s->c->matched[n.object]];
    return e->lhs.shape->kind == EXPR_LEAF && e->lhs.shape->n_args == 0 &&
           ref_equal(term_refs(s->model, e->lhs)[0], unknown) && model_var(s->model, unknown.var)->type.rank == 0;
}

/* Formulas of the source that say so, and rings that have no other method since a member is not Real. */
static bool is_iteration(const Sorter *s, const uint32_t *nodes, uint32_t n)
{
    bool all_real = true, any_iterated = false;
    for (uint32_t k = 0; k < n; k++) {
        if (!is_assignment(s, nodes[k]))
            return false;
        all_real &=
            ref_type(s->model, s->c->unknowns.at[s->c->matched[s->graph.nodes[nodes[k]].object]]).kind == TYPE_REAL;
        any_iterated |= is_iterated(s, nodes[k]);
    }
    return any_iterated || !all_real;
}

/* Those that are iterated give their values of the cycle before; the others follow each other. A ring of others is cut
 * at its first member. */
static uint32_t *iteration_order(Sorter *s, const uint32_t *nodes, uint32_t n, const Incidence *g)
{
    Arena *scratch = s->c->scratch;
    uint32_t *order = NEW_ARRAY(scratch, uint32_t, n), *waits = NEW_ARRAY(scratch, uint32_t, n);
    bool *is_placed = NEW_ARRAY(scratch, bool, n);
    VEC(Edge) edges = { 0 };
    Map place;
    map_init(&place, scratch, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&place, nodes[k], k);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = g->start[nodes[k]]; j < g->start[nodes[k] + 1]; j++) {
            uint32_t other;
            if (g->index[j] == nodes[k] || is_iterated(s, g->index[j]) || !map_get(&place, g->index[j], &other))
                continue;
            const Edge edge = { other, k }; /* k reads other */
            vec_push(scratch, &edges, edge);
            waits[k]++;
        }
    const Incidence readers = incidence_build(n, n, edges.at, edges.n, scratch);
    uint32_t n_placed = 0, done = 0, cut = 0;
    while (n_placed < n) {
        for (uint32_t k = 0; n_placed == 0 && k < n; k++)
            if (waits[k] == 0)
                is_placed[order[n_placed++] = k] = true;
        if (done == n_placed) { /* all wait for each other */
            while (is_placed[cut])
                cut++;
            is_placed[order[n_placed++] = cut] = true;
        }
        for (; done < n_placed; done++)
            for (uint32_t j = readers.start[order[done]]; j < readers.start[order[done] + 1]; j++) {
                const uint32_t reader = readers.index[j];
                if (waits[reader])
                    waits[reader]--;
                if (waits[reader] == 0 && !is_placed[reader])
                    is_placed[order[n_placed++] = reader] = true;
            }
    }
    for (uint32_t k = 0; k < n; k++)
        order[k] = nodes[order[k]];
    return order;
}

static void add_iteration(Sorter *s, const uint32_t *nodes, uint32_t n, const Incidence *g)
{
    Block block = {
        .kind = BLOCK_ITERATE, .u.system.first_row = s->schedule->rows.n, .u.system.n_rows = n, .is_real = true
    };
    const uint32_t *order = iteration_order(s, nodes, n, g);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t equation = s->graph.nodes[order[k]].object;
        const Equation *e = &s->model->equations.at[equation];
        const SystemRow row = { { equation }, e->lhs, e->rhs, s->c->unknowns.at[s->c->matched[equation]] };
        block.is_real &= ref_type(s->model, row.unknown).kind == TYPE_REAL;
        vec_push(s->c->arena, &s->schedule->rows, row);
    }
    block.equation = s->schedule->rows.at[block.u.system.first_row].equation;
    vec_push(s->c->arena, &s->schedule->blocks, block);
}

/* Linear in all unknowns of the system: no coefficient contains one of them. */
static bool is_linear(Sorter *s, uint32_t first_row, uint32_t n)
{
    Model *m = s->model;
    Map unknowns;
    VEC(bool) is_unknown = { 0 };
    map_init(&unknowns, s->c->scratch, n);
    for (uint32_t k = 0; k < n; k++) {
        const Ref u = s->schedule->rows.at[first_row + k].unknown;
        map_put(&unknowns, (uint64_t)u.kind << 32 | u.var.index, k);
    }
    for (uint32_t k = 0; k < n; k++) {
        const SystemRow *row = &s->schedule->rows.at[first_row + k];
        TermBuilder builder = term_builder(m);
        const Expr *residual =
            expr_binary(m->pool, OP_SUB, term_import(&builder, row->lhs), term_import(&builder, row->rhs));
        is_unknown.n = 0;
        for (uint32_t j = 0; j < builder.refs.n; j++) {
            uint32_t ignored;
            const Ref ref = builder.refs.at[j];
            const bool is_one = map_get(&unknowns, (uint64_t)ref.kind << 32 | ref.var.index, &ignored);
            vec_push(s->c->scratch, &is_unknown, is_one);
        }
        if (!expr_is_linear_in(expr_simplify(m->pool, residual), is_unknown.at))
            return false;
    }
    return true;
}

/* What a when does is decided once in an event step, not again and again. */
static bool belongs_to_when(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    const char *maker = n.kind == NODE_EQUATION ? s->model->equations.at[n.object].origin.made_by : NULL;
    return maker && strcmp(maker, "lower-whens") == 0;
}

static void report_discrete_loop(Sorter *s, const uint32_t *nodes, uint32_t n)
{
    bool is_when = false;
    for (uint32_t k = 0; k < n; k++)
        is_when |= belongs_to_when(s, nodes[k]);
    if (is_when)
        report_loop(s, nodes, n, DIAG_DISCRETE_LOOP, "events that decide whether the others happen",
                    "let one of them look at the values before the event");
    else
        report_loop(s, nodes, n, DIAG_DISCRETE_LOOP, "discrete quantities that depend on each other",
                    "what is not Real must be written as v = ...; or break the ring with a state variable");
}

static bool add_system(Sorter *s, const uint32_t *nodes, uint32_t n)
{
    Model *m = s->model;
    Block block = { .u.system.first_row = s->schedule->rows.n, .u.system.n_rows = n, .is_real = true };
    for (uint32_t k = 0; k < n; k++) {
        const EventNode node = s->graph.nodes[nodes[k]];
        const Ref unknown = node.kind == NODE_EQUATION ? s->c->unknowns.at[s->c->matched[node.object]] : (Ref){ 0 };
        if (node.kind != NODE_EQUATION || ref_type(m, unknown).kind != TYPE_REAL) {
            report_discrete_loop(s, nodes, n);
            return false;
        }
        if (model_var(m, unknown.var)->type.rank) {
            report_loop(s, nodes, n, DIAG_NOT_YET, "array equations that depend on each other",
                        "write the equations of the ring element by element");
            return false;
        }
        const Equation *e = &m->equations.at[node.object];
        const SystemRow row = { { node.object }, e->lhs, e->rhs, unknown };
        vec_push(s->c->arena, &s->schedule->rows, row);
    }
    block.equation = s->schedule->rows.at[block.u.system.first_row].equation;
    block.kind = is_linear(s, block.u.system.first_row, n) ? BLOCK_LINEAR : BLOCK_NEWTON;
    vec_push(s->c->arena, &s->schedule->blocks, block);
    return true;
}

/* ---- foreign components ---- */
static const Function *foreign_of(const Sorter *s, uint32_t node)
{
    const EventNode n = s->graph.nodes[node];
    return n.kind == NODE_EQUATION ? term_foreign(s->model->equations.at[n.object].rhs) : NULL;
}

static void add_foreign(Sorter *s, uint32_t node)
{
    const uint32_t equation = s->graph.nodes[node].object;
    const Equation *e = &s->model->equations.at[equation];
    const SystemRow row = { { equation }, e->lhs, e->rhs, s->c->unknowns.at[s->c->matched[equation]] };
    const Block block = { .kind = BLOCK_FOREIGN,
                          .is_real = ref_type(s->model, row.unknown).kind == TYPE_REAL,
                          .equation = { equation },
                          .u.system = { .first_row = s->schedule->rows.n, .n_rows = 1 } };
    vec_push(s->c->arena, &s->schedule->rows, row);
    vec_push(s->c->arena, &s->schedule->blocks, block);
}

/* Nobody can look into it, so that nothing in it can be solved for. */
static bool report_foreign_loop(Sorter *s, const uint32_t *nodes, uint32_t n)
{
    uint32_t first = 0;
    while (first < n && !foreign_of(s, nodes[first]))
        first++;
    if (first == n)
        return false;
    const Model *m = s->model;
    const Foreign *f = &m->foreigns.at[foreign_of(s, nodes[first])->foreign - 1];
    diag_error(s->c->diag, DIAG_FOREIGN_LOOP, f->span,
               "an output of the foreign component %s depends on itself at once, by way of its inputs",
               names_of(pool_names(m->pool), f->name));
    for (uint32_t k = 0; k < n && k < 12; k++)
        if (!is_generated(s, nodes[k]))
            diag_note(s->c->diag, node_span(s, nodes[k]), "%s takes part", node_text(s, nodes[k]));
    diag_help(s->c->diag,
              "say with through which outputs depend on which inputs at once, if these do not; or break the "
              "ring with a state variable or a value before the event");
    return true;
}

/* What depends on the same of one component is computed by one call. It stands side by side. */
static void join_foreigns(Schedule *s)
{
    const Function *last = NULL;
    VEC(SystemRow) rows = { 0 };
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        Block b = s->blocks.at[k];
        const Function *now = b.kind == BLOCK_FOREIGN ? term_foreign(s->rows.at[b.u.system.first_row].rhs) : NULL;
        if (now) {
            const uint32_t first = b.u.system.first_row;
            vec_push(s->arena, &rows, s->rows.at[first]);
            b.u.system.first_row = rows.n - 1;
        }
        if (now && now == last) {
            s->blocks.at[n - 1].u.system.n_rows++;
            s->blocks.at[n - 1].is_real &= b.is_real;
        } else {
            s->blocks.at[n++] = b;
        }
        last = now;
    }
    s->blocks.n = n;
    for (uint32_t k = 0; k < n; k++) {
        Block *b = &s->blocks.at[k];
        if (b->kind != BLOCK_FOREIGN)
            continue;
        const uint32_t first = b->u.system.first_row;
        b->u.system.first_row = s->rows.n;
        for (uint32_t j = 0; j < b->u.system.n_rows; j++)
            vec_push(s->arena, &s->rows, rows.at[first + j]);
    }
}

/* The nodes of a ring, or one node. */
static void add_nodes(Sorter *s, const uint32_t *nodes, uint32_t n, const Incidence *g)
{
    static const uint8_t kinds[] = {
        [NODE_RELATION] = BLOCK_RELATION, [NODE_STEP] = BLOCK_STEP, [NODE_TRANSITION] = BLOCK_TRANSITION
    };
    if (n > s->schedule->figures.largest_block)
        s->schedule->figures.largest_block = n;
    if (n > 1 && (report_circular_whens(s, nodes, n) || report_foreign_loop(s, nodes, n)))
        return;
    if ((n > 1 || depends_on_itself(nodes[0], g)) && is_iteration(s, nodes, n)) {
        add_iteration(s, nodes, n, g);
        return;
    }
    if (n > 1) {
        add_system(s, nodes, n);
        return;
    }
    const EventNode node = s->graph.nodes[nodes[0]];
    if (foreign_of(s, nodes[0])) {
        add_foreign(s, nodes[0]);
        return;
    }
    if (node.kind == NODE_EQUATION) {
        add_single(s, nodes[0], depends_on_itself(nodes[0], g));
        return;
    }
    const Block block = { .kind = kinds[node.kind], .u.object = node.object, .equation = EQ_NONE };
    vec_push(s->c->arena, &s->schedule->blocks, block);
}

/* ---- comparisons that depend on what they decide ---- */
static bool is_decision(const Sorter *s, uint32_t node)
{
    return s->graph.nodes[node].kind == NODE_RELATION || s->graph.nodes[node].kind == NODE_STEP;
}

static bool is_mixed(const Sorter *s, const uint32_t *nodes, uint32_t n, const Incidence *g)
{
    for (uint32_t k = 0; k < n; k++)
        if (foreign_of(s, nodes[k]))
            return false;
    bool any = false;
    if (n == 1 && !depends_on_itself(nodes[0], g))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (belongs_to_when(s, nodes[k]))
            return false;
        any |= is_decision(s, nodes[k]);
    }
    return any;
}

/* With the decisions given, the other nodes are sorted like a model of their own. */
static void add_mixed(Sorter *s, const uint32_t *nodes, uint32_t n, const Incidence *g)
{
    Arena *scratch = s->c->scratch;
    const uint32_t first = s->schedule->blocks.n;
    VEC(uint32_t) others = { 0 };
    VEC(Edge) edges = { 0 };
    Map place;
    map_init(&place, scratch, n);
    for (uint32_t k = 0; k < n; k++)
        if (!is_decision(s, nodes[k])) {
            map_put(&place, nodes[k], others.n);
            vec_push(scratch, &others, nodes[k]);
        }
    for (uint32_t k = 0; k < others.n; k++)
        for (uint32_t j = g->start[others.at[k]]; j < g->start[others.at[k] + 1]; j++) {
            Edge edge = { k, 0 };
            if (map_get(&place, g->index[j], &edge.column))
                vec_push(scratch, &edges, edge);
        }
    const Incidence inner = incidence_build(others.n, others.n, edges.at, edges.n, scratch);
    const Components parts = strong_components(&inner, scratch, NULL);
    uint32_t *members = NEW_ARRAY(scratch, uint32_t, others.n + 1);
    for (uint32_t k = 0; k < others.n; k++)
        members[k] = others.at[parts.node[k]];
    for (uint32_t k = 0; k < parts.n; k++)
        add_nodes(s, members + parts.start[k], parts.start[k + 1] - parts.start[k], g);
    for (uint32_t k = 0; k < n; k++)
        if (is_decision(s, nodes[k]))
            add_nodes(s, &nodes[k], 1, g);
    s->n_mixed++;
    for (uint32_t k = first; k < s->schedule->blocks.n; k++)
        s->schedule->blocks.at[k].mixed = s->n_mixed;
}

static void add_component(Sorter *s, uint32_t component, const Incidence *g)
{
    const uint32_t *nodes = s->components.node + s->components.start[component];
    const uint32_t n = s->components.start[component + 1] - s->components.start[component];
    s->block_of[component] = s->schedule->blocks.n;
    if (is_mixed(s, nodes, n, g))
        add_mixed(s, nodes, n, g);
    else
        add_nodes(s, nodes, n, g);
    s->size_of[component] = s->schedule->blocks.n - s->block_of[component];
}

/* ---- order: by level, then by shape ---- */
static uint32_t block_key(const Schedule *s, const Block *b)
{
    if (b->kind == BLOCK_FOREIGN)
        return UINT32_MAX - term_foreign(s->rows.at[b->u.system.first_row].rhs)->number;
    if (b->kind == BLOCK_ASSIGN)
        return b->u.assign.rhs.shape->id + 8;
    return b->kind;
}

/* Components in order, each with its blocks as they are. */
static void order_blocks(Sorter *s, const Incidence *g)
{
    Compile *c = s->c;
    const uint32_t n = s->components.n;
    VEC(Edge) edges = { 0 };
    uint32_t *key = NEW_ARRAY(c->scratch, uint32_t, n + 1), *mixed = NEW_ARRAY(c->scratch, uint32_t, s->n_mixed + 1);
    for (uint32_t k = 0; k < s->graph.n; k++) {
        const uint32_t from = s->components.component_of[k];
        for (uint32_t j = g->start[k]; j < g->start[k + 1]; j++) {
            const Edge edge = { from, s->components.component_of[g->index[j]] };
            if (edge.row != edge.column)
                vec_push(c->scratch, &edges, edge);
        }
    }
    for (uint32_t k = 0; k < n; k++)
        key[k] = block_key(s->schedule, &s->schedule->blocks.at[s->block_of[k]]);
    const Incidence components = incidence_build(n, n, edges.at, edges.n, c->scratch);
    Topological order;
    REQUIRE(topological_order(&components, key, c->scratch, &order, NULL));
    Block *before = NEW_ARRAY(c->scratch, Block, s->schedule->blocks.n + 1), *sorted = s->schedule->blocks.at;
    if (s->schedule->blocks.n)
        memcpy(before, sorted, s->schedule->blocks.n * sizeof *before);
    uint32_t n_sorted = 0, n_mixed = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t component = order.order[k], first = s->block_of[component];
        const uint32_t number = before[first].mixed;
        if (number) /* numbered as they stand */
            mixed[number] = ++n_mixed;
        for (uint32_t j = 0; j < s->size_of[component]; j++) {
            sorted[n_sorted] = before[first + j];
            sorted[n_sorted].mixed = mixed[number];
            sorted[n_sorted++].level = order.level[component];
        }
    }
    s->schedule->n_mixed = n_mixed;
}

bool sort_blocks(Compile *c)
{
    Model *m = c->model;
    c->schedule = NEW(c->arena, Schedule);
    c->schedule->model = m;
    c->schedule->arena = c->arena;
    Sorter s = { .c = c, .model = m, .schedule = c->schedule };
    if (!event_graph_build(c, &s.graph))
        return false;
    const Incidence g = s.graph.reads;
    s.components = strong_components(&g, c->scratch, NULL);
    s.block_of = NEW_ARRAY(c->scratch, uint32_t, s.components.n + 1);
    s.size_of = NEW_ARRAY(c->scratch, uint32_t, s.components.n + 1);
    vec_reserve(c->arena, &c->schedule->blocks, s.components.n);
    for (uint32_t k = 0; k < s.components.n; k++)
        add_component(&s, k, &g);
    if (diag_errors(c->diag))
        return false;
    order_blocks(&s, &g);
    if (m->foreigns.n)
        join_foreigns(c->schedule);
    c->schedule->figures.n_unknowns = c->unknowns.n;
    return true;
}
