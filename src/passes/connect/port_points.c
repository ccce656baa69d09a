/* Connections as links between points; see connect.h. */
#include "ir/evaluate.h"
#include "passes/connect/connect.h"
#include "passes/instantiate.h"

const char *point_text(const Connecting *k, uint32_t point)
{
    const Port *port = &k->m->ports.at[k->port[point]];
    Arena *arena = k->c->scratch;
    const char *owner = instance_path(k->m, port->owner, arena);
    const char *name = names_of(pool_names(k->m->pool), port->name);
    const char *path = *owner ? arena_format(arena, "%s.%s", owner, name) : name;
    return port->rank ? arena_format(arena, "%s[%u]", path, point_element(k, point) + 1) : path;
}

/* ---- arrays of ports ---- */
static const Variable *first_variable(const Model *m, uint32_t port, uint32_t depth)
{
    const Port *p = &m->ports.at[port];
    for (uint32_t j = 0; j < p->n_members; j++) {
        const PortMember *member = &m->members.at[p->first_member + j];
        const Variable *v = NULL;
        if (!var_is_none(member->var))
            v = model_var(m, member->var);
        else if (member->port && depth < m->ports.n)
            v = first_variable(m, member->port - 1, depth + 1);
        if (v)
            return v;
    }
    return NULL;
}

static bool size_mismatch(Connecting *k, Span span, const char *what, uint64_t is, uint64_t should)
{
    diag_error(k->c->diag, DIAG_PORT_SIZES, span, "%s: one has %llu ports, the other %llu", what,
               (unsigned long long)is, (unsigned long long)should);
    diag_help(k->c->diag, "arrays of ports are connected element by element: give both one size, or name the elements");
    return false;
}

/* Every member of an array of ports begins with its dimensions. */
static bool count_ports(Connecting *k, uint32_t port, uint64_t *count)
{
    const Model *m = k->m;
    const Port *p = &m->ports.at[port];
    const Variable *like = p->rank ? first_variable(m, port, 0) : NULL;
    *count = 1;
    for (uint32_t d = 0; like && d < p->rank; d++)
        *count *= (uint64_t)m->dims.at[like->first_dim + d].extent;
    for (uint32_t j = 0; j < p->n_members; j++) {
        const PortMember *member = &m->members.at[p->first_member + j];
        uint64_t own = 1;
        if (var_is_none(member->var))
            continue;
        const Variable *v = model_var(m, member->var);
        for (uint32_t d = 0; d < p->rank; d++)
            own *= (uint64_t)m->dims.at[v->first_dim + d].extent;
        if (own != *count)
            return size_mismatch(k, p->span, "the members of an array of ports differ in their sizes", own, *count);
    }
    if (*count <= MOST_ELEMENTS)
        return true;
    diag_error(k->c->diag, DIAG_PORT_SIZES, p->span, "an array of %llu ports is too large", (unsigned long long)*count);
    diag_help(k->c->diag, "at most %d ports can be in one array", MOST_ELEMENTS);
    return false;
}

static bool number_points(Connecting *k)
{
    const Model *m = k->m;
    uint64_t all = 0;
    k->first = NEW_ARRAY(k->c->scratch, uint32_t, m->ports.n + 1);
    for (uint32_t p = 0; p < m->ports.n; p++) {
        uint64_t count = 1;
        k->first[p] = (uint32_t)all;
        if (m->ports.at[p].rank && !count_ports(k, p, &count))
            return false;
        all += 2 * count;
        if (all > UINT32_MAX / 2)
            return size_mismatch(k, m->ports.at[p].span, "there are too many ports", all, UINT32_MAX / 2);
    }
    k->first[m->ports.n] = k->n_points = (uint32_t)all;
    k->port = NEW_ARRAY(k->c->scratch, uint32_t, all + 1);
    for (uint32_t p = 0; p < m->ports.n; p++)
        for (uint32_t point = k->first[p]; point < k->first[p + 1]; point++)
            k->port[point] = p;
    return true;
}

/* ---- links ---- */
typedef struct {
    uint32_t port, side, element;
} End;

static uint32_t point_of(const Connecting *k, End end)
{
    return k->first[end.port] + end.side * port_count(k, end.port) + end.element;
}

/* Ports within ports are connected as these are. */
static void link_ends(Connecting *k, End a, End b, uint32_t connection, uint32_t depth)
{
    const Model *m = k->m;
    const Port *x = &m->ports.at[a.port], *y = &m->ports.at[b.port];
    const PortLink link = { point_of(k, a), point_of(k, b), connection, false };
    vec_push(k->c->scratch, &k->links, link);
    for (uint32_t j = 0; k->has_parts && j < x->n_members && j < y->n_members && depth < m->ports.n; j++) {
        const uint32_t p = m->members.at[x->first_member + j].port, q = m->members.at[y->first_member + j].port;
        if (p && q)
            link_ends(k, (End){ p - 1, a.side, a.element }, (End){ q - 1, b.side, b.element }, connection, depth + 1);
    }
}

static bool index_value(Term term, const Point *point, int64_t *value)
{
    Value v;
    if (!expr_evaluate(term.shape, NULL, point->value, &v))
        return false;
    *value = v.i;
    return true;
}

/* The element that the index terms name at this point of the ranges. */
static bool find_element(Connecting *k, uint32_t port, PortIndex index, const Point *point, Span span,
                         uint32_t *element)
{
    const Model *m = k->m;
    const Port *p = &m->ports.at[port];
    const Variable *like = first_variable(m, port, 0);
    uint64_t at = 0;
    if (index.n != p->rank || !like) {
        diag_error(k->c->diag, DIAG_PORT_SIZES, span, "an array of ports with %u dimensions has %u indices", p->rank,
                   index.n);
        diag_help(k->c->diag, "give one index for each dimension, or none");
        return false;
    }
    for (uint32_t d = 0; d < index.n; d++) {
        const int64_t extent = m->dims.at[like->first_dim + d].extent;
        int64_t value = 0;
        if (!index_value(m->conditions.at[index.first + d], point, &value)) {
            diag_error(k->c->diag, DIAG_PORT_SIZES, span, "the index of a connected port is not known before the run");
            diag_help(k->c->diag, "use numbers, loop variables and structural parameters");
            return false;
        }
        if (value < 1 || value > extent) {
            diag_error(k->c->diag, DIAG_PORT_SIZES, span, "index %lld of a connected port lies outside 1 to %lld",
                       (long long)value, (long long)extent);
            diag_note(k->c->diag, p->span, "the array of ports is declared here");
            return false;
        }
        at = at * (uint64_t)extent + (uint64_t)(value - 1);
    }
    *element = (uint32_t)at;
    return true;
}

/* Whole arrays of ports: element by element. */
static bool link_point(Connecting *k, uint32_t connection, const Point *point, End a, End b)
{
    const Model *m = k->m;
    const Connection *c = &m->connections.at[connection];
    const uint32_t n_a = c->index_a.n ? 1 : port_count(k, a.port), n_b = c->index_b.n ? 1 : port_count(k, b.port);
    if ((c->index_a.n && !find_element(k, a.port, c->index_a, point, c->span, &a.element)) ||
        (c->index_b.n && !find_element(k, b.port, c->index_b, point, c->span, &b.element)))
        return false;
    if (n_a != n_b)
        return size_mismatch(k, c->span, "these cannot be connected", n_a, n_b);
    for (uint32_t e = 0; e < n_a; e++, a.element++, b.element++)
        link_ends(k, a, b, connection, 0);
    return true;
}

static bool link_connection(Connecting *k, uint32_t connection)
{
    const Model *m = k->m;
    const Connection c = m->connections.at[connection];
    const InstanceId a = m->ports.at[c.port_a].owner, b = m->ports.at[c.port_b].owner;
    const bool is_same = a.index == b.index;
    const End x = { c.port_a, is_same ? c.is_inside : m->instances.at[b.index].parent.index == a.index, 0 };
    const End y = { c.port_b, is_same ? c.is_inside : m->instances.at[a.index].parent.index == b.index, 0 };
    Point point = POINT_NONE;
    if (!c.domain.index)
        return link_point(k, connection, &point, x, y);
    if (domain_count(m, c.domain) > MOST_ELEMENTS)
        return size_mismatch(k, c.span, "a connection has too many points", domain_count(m, c.domain), MOST_ELEMENTS);
    for (bool more = point_first(m, c.domain, &point); more; more = point_next(m, c.domain, &point))
        if (!link_point(k, connection, &point, x, y))
            return false;
    return true;
}

bool connect_points(Connecting *k)
{
    bool is_good = number_points(k);
    for (uint32_t j = 0; j < k->m->members.n && !k->has_parts; j++)
        k->has_parts = k->m->members.at[j].port != 0;
    for (uint32_t c = 0; c < k->m->connections.n && is_good; c++)
        if (k->m->connections.at[c].is_acausal)
            is_good = link_connection(k, c);
    return is_good;
}
