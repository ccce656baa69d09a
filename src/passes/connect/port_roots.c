/* Overdetermined ports: their members depend on each other, so a ring of connections would say too much.
 *
 * Ports are nodes of a graph. Branches lead through components, connections are edges that may be left out. What stays
 * is a tree for each root: roots that are named, else the potential root with the least priority. A connection in the
 * tree makes all members equal; one that is left out only says what the function `equality` of the port gives
 * (Modelica specification, section 9.4). */
#include "graph/sets.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/connect/connect.h"

typedef struct {
    Connecting *k;
    uint32_t *tree;     /* per port: sets of those that edges in the trees join */
    uint32_t *root;     /* per port that is the first of its set: 1 + the root of the tree, 0: none yet */
    uint32_t *distance; /* per port: of edges from the root; ID_NONE: not reached */
} Roots;

static bool is_node(const Model *m, uint32_t port)
{
    return m->ports.at[port].equality != NULL;
}

static const char *port_text(const Roots *r, uint32_t port)
{
    return point_text(r->k, r->k->first[port]);
}

static void note_port(Roots *r, uint32_t port)
{
    diag_note(r->k->c->diag, r->k->m->ports.at[port].span, "'%s' is declared here", port_text(r, port));
}

/* ---- trees ---- */
static void join_trees(Roots *r, uint32_t a, uint32_t b)
{
    const uint32_t x = sets_root(r->tree, a), y = sets_root(r->tree, b);
    const uint32_t root = r->root[x] ? r->root[x] : r->root[y];
    sets_join_least(r->tree, x, y);
    r->root[sets_root(r->tree, x)] = root;
}

static bool join_branches(Roots *r)
{
    const Model *m = r->k->m;
    for (uint32_t j = 0; j < m->anchors.n; j++) {
        const Anchor *a = &m->anchors.at[j];
        if (a->kind != ANCHOR_BRANCH)
            continue;
        if (sets_root(r->tree, a->port_a) == sets_root(r->tree, a->port_b)) {
            diag_error(r->k->c->diag, DIAG_ROOTS, a->span, "branches form a ring: '%s' and '%s' are joined already",
                       port_text(r, a->port_a), port_text(r, a->port_b));
            diag_help(r->k->c->diag, "branches must form trees: leave one of the ring out");
            return false;
        }
        join_trees(r, a->port_a, a->port_b);
    }
    return true;
}

static bool name_roots(Roots *r)
{
    const Model *m = r->k->m;
    for (uint32_t j = 0; j < m->anchors.n; j++) {
        const Anchor *a = &m->anchors.at[j];
        if (a->kind != ANCHOR_ROOT)
            continue;
        const uint32_t tree = sets_root(r->tree, a->port_a);
        if (r->root[tree] && r->root[tree] != a->port_a + 1) {
            diag_error(r->k->c->diag, DIAG_ROOTS, a->span, "'%s' and '%s' are both roots, and branches join them",
                       port_text(r, a->port_a), port_text(r, r->root[tree] - 1));
            note_port(r, r->root[tree] - 1);
            diag_help(r->k->c->diag, "give the members of one of them by equations of its own, not as a root");
            return false;
        }
        r->root[tree] = a->port_a + 1;
    }
    return true;
}

/* Links that join nothing new are left out without an equation if the connections before them say the same, else they
 * are broken. */
static void choose_links(Roots *r, bool *is_redundant)
{
    Connecting *k = r->k;
    uint32_t *sets = sets_create(k->c->scratch, k->n_points);
    for (uint32_t j = 0; j < k->links.n; j++) {
        PortLink *link = &k->links.at[j];
        const uint32_t a = k->port[link->a], b = k->port[link->b];
        if (!is_node(k->m, a) || !is_node(k->m, b))
            continue;
        is_redundant[j] = sets_root(sets, link->a) == sets_root(sets, link->b);
        sets_join_least(sets, link->a, link->b);
        const uint32_t x = sets_root(r->tree, a), y = sets_root(r->tree, b);
        link->is_broken = is_redundant[j] || x == y || (r->root[x] && r->root[y]);
        if (!link->is_broken)
            join_trees(r, a, b);
    }
}

/* What the text's order cannot change: the number of its first variable. */
static uint32_t rank_of(const Model *m, uint32_t port)
{
    const Port *p = &m->ports.at[port];
    for (uint32_t j = 0; j < p->n_members; j++)
        if (!var_is_none(m->members.at[p->first_member + j].var))
            return m->members.at[p->first_member + j].var.index;
    return ID_NONE;
}

static bool find_potential_roots(Roots *r)
{
    const Model *m = r->k->m;
    const Anchor **best = NEW_ARRAY(r->k->c->scratch, const Anchor *, m->ports.n + 1);
    for (uint32_t j = 0; j < m->anchors.n; j++) {
        const Anchor *a = &m->anchors.at[j];
        if (a->kind != ANCHOR_POTENTIAL)
            continue;
        const Anchor **to = &best[sets_root(r->tree, a->port_a)];
        if (!*to || a->priority < (*to)->priority ||
            (a->priority == (*to)->priority && rank_of(m, a->port_a) < rank_of(m, (*to)->port_a)))
            *to = a;
    }
    for (uint32_t p = 0; p < m->ports.n; p++) {
        const uint32_t tree = is_node(m, p) ? sets_root(r->tree, p) : ID_NONE;
        if (tree == ID_NONE || r->root[tree])
            continue;
        if (!best[tree]) {
            diag_error(r->k->c->diag, DIAG_ROOTS, m->ports.at[p].span, "nothing that '%s' is connected to is a root",
                       port_text(r, p));
            diag_help(r->k->c->diag, "its members depend on each other: some component must say by `root` or `root ... "
                                     "potential` that its equations give them");
            return false;
        }
        r->root[tree] = best[tree]->port_a + 1;
    }
    return true;
}

/* ---- distances from the root ---- */
typedef struct {
    uint32_t *first, *to; /* per port its neighbours in the tree */
} Neighbours;

static void each_edge(Roots *r, void (*visit)(Neighbours *, uint32_t, uint32_t), Neighbours *n)
{
    const Connecting *k = r->k;
    for (uint32_t j = 0; j < k->m->anchors.n; j++)
        if (k->m->anchors.at[j].kind == ANCHOR_BRANCH)
            visit(n, k->m->anchors.at[j].port_a, k->m->anchors.at[j].port_b);
    for (uint32_t j = 0; j < k->links.n; j++) {
        const PortLink *link = &k->links.at[j];
        if (!link->is_broken && is_node(k->m, k->port[link->a]) && is_node(k->m, k->port[link->b]))
            visit(n, k->port[link->a], k->port[link->b]);
    }
}

static void count_edge(Neighbours *n, uint32_t a, uint32_t b)
{
    n->first[a + 1]++;
    n->first[b + 1]++;
}

static void put_edge(Neighbours *n, uint32_t a, uint32_t b)
{
    n->to[n->first[a]++] = b;
    n->to[n->first[b]++] = a;
}

static void measure(Roots *r)
{
    const Model *m = r->k->m;
    Arena *arena = r->k->c->scratch;
    Neighbours n = { NEW_ARRAY(arena, uint32_t, m->ports.n + 2), NULL };
    uint32_t *queue = NEW_ARRAY(arena, uint32_t, m->ports.n + 1), head = 0, tail = 0;
    each_edge(r, count_edge, &n);
    for (uint32_t p = 0; p < m->ports.n; p++)
        n.first[p + 1] += n.first[p];
    n.to = NEW_ARRAY(arena, uint32_t, n.first[m->ports.n] + 1);
    each_edge(r, put_edge, &n); /* first[p] is now where the next one begins */
    for (uint32_t p = 0; p < m->ports.n; p++) {
        r->distance[p] = ID_NONE;
        if (is_node(m, p) && r->root[sets_root(r->tree, p)] == p + 1) {
            r->distance[p] = 0;
            queue[tail++] = p;
        }
    }
    while (head < tail) {
        const uint32_t p = queue[head++];
        for (uint32_t j = p ? n.first[p - 1] : 0; j < n.first[p]; j++) {
            if (r->distance[n.to[j]] != ID_NONE)
                continue;
            r->distance[n.to[j]] = r->distance[p] + 1;
            queue[tail++] = n.to[j];
        }
    }
}

/* ---- what the broken ones say ---- */
static void push_members(Roots *r, TermBuilder *builder, uint32_t port, const Expr **args, uint32_t *n)
{
    const Model *m = r->k->m;
    const Port *p = &m->ports.at[port];
    for (uint32_t j = 0; j < p->n_members; j++)
        args[(*n)++] = term_leaf(builder, ref_now(m->members.at[p->first_member + j].var));
}

static void break_link(Roots *r, const PortLink *link)
{
    Model *m = r->k->m;
    const uint32_t a = r->k->port[link->a], b = r->k->port[link->b];
    const Function *f = m->ports.at[a].equality;
    const Variable *residue = &f->body->variables.at[f->n_inputs];
    const Span span = m->connections.at[link->connection].span;
    const Expr **args = NEW_ARRAY(r->k->c->scratch, const Expr *, f->n_inputs + 1);
    const Part owner = { .var = m->members.at[m->ports.at[a].first_member].var };
    const uint32_t count =
        residue->type.rank ? (uint32_t)f->body->dims.at[residue->first_dim].term.shape->u.integer : 1;
    for (uint32_t e = 0; e < count; e++) {
        TermBuilder builder = term_builder(m);
        uint32_t n = 0;
        push_members(r, &builder, a, args, &n);
        push_members(r, &builder, b, args, &n);
        const Expr *call = expr_function(m->pool, f, 0, residue->type, n, args);
        if (residue->type.rank)
            call = expr_function_element(m->pool, call, e, REAL_TYPE);
        const Term right = term_finish(&builder, call);
        const EqId made = model_add_equation(m, EQUATION_RESIDUAL, term_real(m, 0), right, span);
        m->equations.at[made.index].owner = model_var(m, owner.var)->owner;
        m->equations.at[made.index].origin.made_by = "expand-connections";
    }
}

/* ---- who asks ---- */
/* The other end of the one branch that begins at the port. */
static bool is_rooted(Roots *r, uint32_t port, Span span)
{
    const Model *m = r->k->m;
    const Anchor *branch = NULL;
    uint32_t n = 0;
    for (uint32_t j = 0; j < m->anchors.n; j++)
        if (m->anchors.at[j].kind == ANCHOR_BRANCH && m->anchors.at[j].port_a == port) {
            branch = &m->anchors.at[j];
            n++;
        }
    if (n != 1) {
        diag_error(r->k->c->diag, DIAG_ROOTS, span,
                   "%u branches begin at '%s', so it is not clear what it is nearer than", n, port_text(r, port));
        diag_help(r->k->c->diag, "rooted asks for the first port of exactly one branch");
        r->k->is_good = false;
        return false;
    }
    return r->distance[port] < r->distance[branch->port_b];
}

static Term answer(void *context, Term term, const TermPlace *place)
{
    Roots *r = context;
    Model *m = r->k->m;
    for (uint32_t j = 0; j < term.shape->n_leaves; j++) {
        const Ref ref = term_refs(m, term)[j];
        if (ref.kind != REF_IS_ROOT && ref.kind != REF_ROOTED)
            continue;
        const uint32_t port = ref.var.index;
        const bool is_true = ref.kind == REF_IS_ROOT ? is_node(m, port) && r->root[sets_root(r->tree, port)] == port + 1
                                                     : is_rooted(r, port, place->span);
        term = term_substitute(m, term, ref, term_boolean(m, is_true));
        j = UINT32_MAX; /* its leaves are numbered anew */
    }
    return term;
}

static bool any_node(const Model *m)
{
    bool any = m->anchors.n > 0;
    for (uint32_t p = 0; p < m->ports.n && !any; p++)
        any = is_node(m, p);
    return any;
}

bool connect_roots(Connecting *k)
{
    const Model *m = k->m;
    Arena *arena = k->c->scratch;
    if (!any_node(m))
        return true;
    Roots r = { .k = k,
                .tree = sets_create(arena, m->ports.n),
                .root = NEW_ARRAY(arena, uint32_t, m->ports.n + 1),
                .distance = NEW_ARRAY(arena, uint32_t, m->ports.n + 1) };
    bool *is_redundant = NEW_ARRAY(arena, bool, k->links.n + 1);
    if (!join_branches(&r) || !name_roots(&r))
        return false;
    choose_links(&r, is_redundant);
    if (!find_potential_roots(&r))
        return false;
    measure(&r);
    k->is_good = true;
    model_rewrite_terms(k->m, ELEMENTS_ALL, answer, &r);
    for (uint32_t j = 0; j < k->links.n; j++)
        if (k->links.at[j].is_broken && !is_redundant[j])
            break_link(&r, &k->links.at[j]);
    return k->is_good;
}
