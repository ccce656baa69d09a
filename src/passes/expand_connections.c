/* expand-connections: a causal connection from -> to becomes the equation to := from, or, if it converts units,
 * to := factor*from + offset; an input that stays unconnected keeps its start value. Two sources of one input are an
 * error that names both.
 *
 * Ports that are connected are a set: their potentials are equal, their flows add up to zero. A port has two sides: in
 * its owner's surroundings, and inside of its owner, where its flow counts the other way. A flow without connection in
 * its owner's surroundings is zero. An empty place of a port takes what the others leave: no sum is formed. Arrays are
 * connected as a whole: their potentials by one equation, their flows by one over the range of the elements. */
#include "base/map.h"
#include "base/unit.h"
#include "graph/sets.h"
#include "passes/instantiate.h"
#include <stdlib.h>

static const char *path_of(Compile *c, VarId v)
{
    return variable_path(c->model, v, c->scratch);
}

static bool fits(Compile *c, const Connection *k)
{
    const Variable *from = model_var(c->model, k->from), *to = model_var(c->model, k->to);
    if (type_equal(from->type, to->type))
        return true;
    diag_error(c->diag, DIAG_CONNECTED_TYPES, k->span, "'%s' and '%s' are connected but have different types",
               path_of(c, k->from), path_of(c, k->to));
    diag_note(c->diag, from->span, "'%s' is declared here", path_of(c, k->from));
    diag_note(c->diag, to->span, "'%s' is declared here", path_of(c, k->to));
    return false;
}

static bool unit_of(const Model *m, const Variable *v, Unit *unit)
{
    const Names *names = pool_names(m->pool);
    UnitFault fault;
    return unit_parse(names_of(names, v->unit), names_length(names, v->unit), unit, &fault) == UNIT_GOOD;
}

static Term carried(Model *m, const Connection *k)
{
    const Variable *from = model_var(m, k->from), *to = model_var(m, k->to);
    const Ref source = ref_now(k->from);
    Unit a, b;
    double factor, offset;
    if (!k->is_converting || from->type.kind != TYPE_REAL || from->type.rank > 0 || !unit_of(m, from, &a) ||
        !unit_of(m, to, &b) || !unit_has_same_dimension(&a, &b))
        return term_ref(m, source);
    unit_convert(&a, &b, &factor, &offset);
    const Expr *value = expr_leaf(m->pool, 0, from->type);
    if (factor != 1)
        value = expr_binary(m->pool, OP_MUL, expr_real(m->pool, factor), value);
    if (offset != 0)
        value = expr_binary(m->pool, OP_ADD, value, expr_real(m->pool, offset));
    return term_make(m, value, &source);
}

/* ---- sets of ports ---- */
enum { OUTSIDE, INSIDE }; /* sides of a port; element 2*port + side */

typedef struct {
    Compile *c;
    Model *m;
    uint32_t *parent; /* sets of sides, see graph/sets.h */
    uint32_t *next;   /* the next element of the same set, in the order of ports; ID_NONE */
    uint32_t *at;     /* per element 1 + the first connection that has it, 0: none */
    bool *is_zero;    /* per variable: has its equation v = 0 already */
} Sets;

typedef struct {
    VarId var;
    double factor;
} Part;
typedef VEC(Part) Parts;

static void join(Sets *s, const Connection *k, uint32_t number)
{
    const Model *m = s->m;
    const InstanceId a = m->ports.at[k->port_a].owner, b = m->ports.at[k->port_b].owner;
    const bool same = a.index == b.index;
    const uint32_t side_a = same ? k->is_inside : m->instances.at[b.index].parent.index == a.index;
    const uint32_t side_b = same ? k->is_inside : m->instances.at[a.index].parent.index == b.index;
    const uint32_t x = 2 * k->port_a + side_a, y = 2 * k->port_b + side_b;
    if (!s->at[x])
        s->at[x] = number + 1;
    if (!s->at[y])
        s->at[y] = number + 1;
    sets_join_least(s->parent, x, y);
}

static void add_equation(Sets *s, Term left, Term right, Span span, VarId first)
{
    const bool is_in_range = model_var(s->m, first)->type.rank && left.shape->type.rank == 0;
    const DomainId domain = is_in_range ? domain_of_array(s->m, first) : (DomainId){ 0 };
    const EqId e = model_add_equation(s->m, EQUATION_RESIDUAL, left, right, span);
    s->m->equations.at[e.index].domain = domain;
    s->m->equations.at[e.index].owner = model_var(s->m, first)->owner;
    s->m->equations.at[e.index].origin.made_by = "expand-connections";
}

static int by_variable(const void *a, const void *b)
{
    const uint32_t x = ((const Part *)a)->var.index, y = ((const Part *)b)->var.index;
    return x < y ? -1 : x > y;
}

/* In the order of variables, each once; flows that cancel are left out. */
static void collect(Parts *parts, bool is_flow)
{
    uint32_t n = 0;
    if (parts->n)
        qsort(parts->at, parts->n, sizeof *parts->at, by_variable);
    for (uint32_t k = 0; k < parts->n; k++)
        if (n && parts->at[n - 1].var.index == parts->at[k].var.index)
            parts->at[n - 1].factor += parts->at[k].factor;
        else
            parts->at[n++] = parts->at[k];
    parts->n = 0;
    for (uint32_t k = 0; k < n; k++)
        if (!is_flow || parts->at[k].factor != 0)
            parts->at[parts->n++] = parts->at[k];
}

/* The variable, or of an array the element of the range. */
static const Expr *flow(TermBuilder *builder, VarId v)
{
    const Expr *index[UINT8_MAX];
    const uint32_t rank = model_var(builder->model, v)->type.rank;
    for (uint32_t k = 0; k < rank; k++)
        index[k] = expr_iterator(builder->model->pool, k);
    return rank ? term_element(builder, ref_now(v), rank, index) : term_leaf(builder, ref_now(v));
}

static Term flow_term(Model *m, VarId v)
{
    TermBuilder builder = term_builder(m);
    return term_finish(&builder, flow(&builder, v));
}

/* A balanced tree: a node can have any number of connections. */
static const Expr *sum_of(Pool *pool, TermBuilder *builder, const Part *parts, uint32_t n)
{
    if (n > 1) {
        const Expr *left = sum_of(pool, builder, parts, n / 2);
        return expr_binary(pool, OP_ADD, left, sum_of(pool, builder, parts + n / 2, n - n / 2));
    }
    const Expr *leaf = flow(builder, parts->var);
    if (parts->factor == 1)
        return leaf;
    if (parts->factor == -1)
        return expr_unary(pool, OP_NEG, leaf);
    return expr_binary(pool, OP_MUL, expr_real(pool, parts->factor), leaf);
}

static void make_zero(Sets *s, VarId var, Span span)
{
    if (s->is_zero[var.index])
        return;
    s->is_zero[var.index] = true;
    add_equation(s, flow_term(s->m, var), term_real(s->m, 0), span, var);
}

static void balance(Sets *s, const Parts *parts, Span span)
{
    Model *m = s->m;
    const Part *p = parts->at;
    TermBuilder builder = term_builder(m);
    if (parts->n == 1) {
        make_zero(s, p[0].var, span);
    } else if (parts->n == 2 && (p[0].factor == p[1].factor || p[0].factor == -p[1].factor)) {
        const bool is_opposite = p[0].factor == p[1].factor;
        const Expr *other = is_opposite ? flow(&builder, p[1].var) : term_leaf(&builder, ref_now(p[1].var));
        if (is_opposite)
            other = expr_unary(m->pool, OP_NEG, other);
        const Term right = term_finish(&builder, other);
        add_equation(s, is_opposite ? flow_term(m, p[0].var) : term_ref(m, ref_now(p[0].var)), right, span, p[0].var);
    } else if (parts->n) {
        const Term right = term_finish(&builder, sum_of(m->pool, &builder, p, parts->n));
        add_equation(s, term_real(m, 0), right, span, p[0].var);
    }
}

/* Member `place` of every port of the set. */
static void expand_place(Sets *s, uint32_t first, uint32_t place, Parts *parts)
{
    Model *m = s->m;
    const Span span = m->connections.at[s->at[first] - 1].span;
    const uint8_t role = m->members.at[m->ports.at[first / 2].first_member + place].role;
    bool is_open = false;
    parts->n = 0;
    for (uint32_t e = first; e != ID_NONE; e = s->next[e]) {
        const PortMember *member = &m->members.at[m->ports.at[e / 2].first_member + place];
        if (var_is_none(member->var)) {
            is_open = true;
            continue;
        }
        const Part part = { member->var, member->is_negated == (e % 2 == INSIDE) ? 1 : -1 };
        vec_push(s->c->scratch, parts, part);
    }
    collect(parts, role == ROLE_FLOW);
    if (role == ROLE_FLOW) {
        if (!is_open)
            balance(s, parts, span);
        return;
    }
    for (uint32_t k = 1; k < parts->n; k++) {
        const Term left = term_ref(m, ref_now(parts->at[k - 1].var));
        add_equation(s, left, term_ref(m, ref_now(parts->at[k].var)), span, parts->at[k - 1].var);
    }
}

/* Flows of ports that are not connected in their surroundings. */
static void close_ports(Sets *s)
{
    const Model *m = s->m;
    for (uint32_t k = 0; k < m->ports.n; k++)
        for (uint32_t j = 0; !s->at[2 * k + OUTSIDE] && j < m->ports.at[k].n_members; j++) {
            const PortMember member = m->members.at[m->ports.at[k].first_member + j];
            if (member.role == ROLE_FLOW && !var_is_none(member.var))
                make_zero(s, member.var, m->ports.at[k].span);
        }
}

/* ---- objects that something flows through ---- */
static uint32_t flow_of(const Model *m, const Port *port, bool *is_negated)
{
    uint32_t flow = ID_NONE;
    for (uint32_t j = 0; j < port->n_members; j++) {
        const PortMember *member = &m->members.at[port->first_member + j];
        if (member->role != ROLE_FLOW || var_is_none(member->var))
            continue;
        if (flow != ID_NONE)
            return ID_NONE;
        flow = member->var.index;
        *is_negated = member->is_negated;
    }
    return flow;
}

static const char *port_name(const Sets *s, uint32_t port)
{
    return names_of(pool_names(s->m->pool), s->m->ports.at[port].name);
}

/* Once for each place: objects of one class have their mistake in common. */
static bool is_told(Map *told, Span span)
{
    const uint64_t key = (uint64_t)span.source << 32 | span.begin;
    uint32_t before;
    if (span.source != SOURCE_NONE && map_get(told, key, &before))
        return true;
    map_put(told, key, 1);
    return false;
}

/* What flows into port `a` flows out of port `b`. */
static void check_pair(Sets *s, uint32_t a, uint32_t b, Map *told)
{
    const Model *m = s->m;
    const Instance *object = &m->instances.at[m->ports.at[a].owner.index];
    const uint32_t x = 2 * a + OUTSIDE, y = 2 * b + OUTSIDE;
    const bool is_joined = s->at[x] && s->at[y] && sets_root(s->parent, x) == sets_root(s->parent, y);
    if ((s->at[x] != 0) == (s->at[y] != 0) && !is_joined)
        return;
    const uint32_t open = s->at[x] ? b : a;
    const Span span = is_joined ? m->connections.at[s->at[x] - 1].span : object->span;
    const char *path = instance_path(m, m->ports.at[a].owner, s->c->scratch);
    if (is_told(told, span))
        return;
    if (is_joined) {
        diag_warning(s->c->diag, DIAG_SHORTED, span, "both ends of '%s' are connected to one node", path);
        diag_note(s->c->diag, object->span, "'%s' with the cuts '%s' and '%s'", path, port_name(s, a), port_name(s, b));
        diag_help(s->c->diag, "connect one of them to another node, or leave the object out");
    } else {
        diag_warning(s->c->diag, DIAG_OPEN_END, span, "the cut '%s' of '%s' is not connected: nothing flows through it",
                     port_name(s, open), path);
        diag_note(s->c->diag, m->ports.at[open].span, "the cut is declared here");
        diag_help(s->c->diag, "connect it, or leave the object out");
    }
}

static void check_objects(Sets *s)
{
    const Model *m = s->m;
    Map told;
    map_init(&told, s->c->scratch, 16);
    uint32_t *first = NEW_ARRAY(s->c->scratch, uint32_t, m->variables.n + 1); /* 1 + the port a flow was met at */
    bool *is_out = NEW_ARRAY(s->c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->ports.n; k++) {
        bool is_negated = false;
        const uint32_t flow = flow_of(m, &m->ports.at[k], &is_negated);
        if (flow == ID_NONE || m->ports.at[k].owner.index == 0 || model_var(m, (VarId){ flow })->type.rank)
            continue;
        if (first[flow] && is_out[flow] != is_negated &&
            m->ports.at[first[flow] - 1].owner.index == m->ports.at[k].owner.index)
            check_pair(s, first[flow] - 1, k, &told);
        first[flow] = k + 1;
        is_out[flow] = is_negated;
    }
}

static void expand_ports(Compile *c)
{
    Model *m = c->model;
    const uint32_t n = 2 * m->ports.n;
    Sets s = { .c = c,
               .m = m,
               .parent = sets_create(c->scratch, n),
               .next = NEW_ARRAY(c->scratch, uint32_t, n + 1),
               .at = NEW_ARRAY(c->scratch, uint32_t, n + 1),
               .is_zero = NEW_ARRAY(c->scratch, bool, m->variables.n + 1) };
    uint32_t *last = NEW_ARRAY(c->scratch, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        s.next[k] = ID_NONE;
    for (uint32_t k = 0; k < m->connections.n; k++)
        if (m->connections.at[k].is_acausal)
            join(&s, &m->connections.at[k], k);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t root = sets_root(s.parent, k);
        if (root != k)
            s.next[last[root]] = k;
        last[root] = k;
    }
    Parts parts = { 0 };
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; s.parent[k] == k && s.at[k] && j < m->ports.at[k / 2].n_members; j++)
            expand_place(&s, k, j, &parts);
    check_objects(&s);
    close_ports(&s);
}

bool expand_connections(Compile *c)
{
    Model *m = c->model;
    uint32_t *source = NEW_ARRAY(c->scratch, uint32_t, m->variables.n);
    bool good = true;
    for (uint32_t k = 0; k < m->connections.n; k++) {
        const Connection connection = m->connections.at[k];
        if (connection.is_acausal)
            continue;
        if (!fits(c, &connection)) {
            good = false;
            continue;
        }
        const uint32_t before = source[connection.to.index];
        if (before) {
            diag_error(c->diag, DIAG_FAN_IN, connection.span, "'%s' has two sources", path_of(c, connection.to));
            diag_note(c->diag, m->connections.at[before - 1].span, "the first connection is here");
            good = false;
            continue;
        }
        source[connection.to.index] = k + 1;
        Variable *to = model_var(m, connection.to);
        to->definition = DEFINITION_NOW;
        const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(connection.to)),
                                          carried(m, &connection), connection.span);
        m->equations.at[e.index].owner = to->owner;
        m->equations.at[e.index].origin.made_by = "expand-connections";
    }
    if (good && m->ports.n)
        expand_ports(c);
    return good;
}
