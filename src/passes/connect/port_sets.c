/* Sets of connected points, and the equations of several sets at once; see connect.h. */
#include "graph/sets.h"
#include "passes/connect/connect.h"
#include "passes/instantiate.h"

void connect_sets(Connecting *k)
{
    Arena *arena = k->c->scratch;
    const uint32_t n = k->n_points;
    uint32_t *last = NEW_ARRAY(arena, uint32_t, n + 1);
    k->parent = sets_create(arena, n);
    k->next = NEW_ARRAY(arena, uint32_t, n + 1);
    k->at = NEW_ARRAY(arena, uint32_t, n + 1);
    for (uint32_t j = 0; j < k->links.n; j++) {
        const PortLink *link = &k->links.at[j];
        if (!k->at[link->a])
            k->at[link->a] = link->connection + 1;
        if (!k->at[link->b])
            k->at[link->b] = link->connection + 1;
        if (!link->is_broken)
            sets_join_least(k->parent, link->a, link->b);
    }
    for (uint32_t point = 0; point < n; point++) {
        k->next[point] = ID_NONE;
        const uint32_t root = sets_root(k->parent, point);
        if (root != point)
            k->next[last[root]] = point;
        last[root] = point;
    }
}

/* ---- runs ---- */
typedef struct {
    Connecting *k;
    void (*visit)(Connecting *, const PointRun *);
    PointRun run;
    VEC(uint32_t) points; /* of the first set of the run */
    VEC(uint32_t) set;    /* that is looked at */
    VEC(int32_t) stride;
    VEC(int32_t) still; /* strides of 0 */
} Runs;

static void end_run(Runs *r)
{
    r->run.point = r->points.at;
    r->run.stride = r->stride.at;
    r->run.n = r->points.n;
    if (r->run.n_sets)
        r->visit(r->k, &r->run);
    r->run.n_sets = 0;
}

static void begin_run(Runs *r, uint32_t root)
{
    Arena *arena = r->k->c->scratch;
    end_run(r);
    r->run.n_sets = 1;
    r->run.connection = r->k->at[root] - 1;
    r->points.n = r->stride.n = 0;
    for (uint32_t j = 0; j < r->set.n; j++) {
        vec_push(arena, &r->points, r->set.at[j]);
        vec_push(arena, &r->stride, 0);
    }
}

/* How many elements a row of the last dimension has. */
static uint32_t row_length(const Connecting *k, uint32_t port)
{
    const Model *m = k->m;
    const Port *p = &m->ports.at[port];
    for (uint32_t j = 0; j < p->n_members; j++) {
        const PortMember *member = &m->members.at[p->first_member + j];
        if (!var_is_none(member->var))
            return (uint32_t)m->dims.at[model_var(m, member->var)->first_dim + p->rank - 1].extent;
        if (member->port)
            return row_length(k, member->port - 1);
    }
    return 1;
}

/* The set is the next one of the run: the same sides of the same ports, the elements moved on by as much as before. */
static bool goes_on(Runs *r)
{
    const Connecting *k = r->k;
    bool moves = false;
    if (r->run.n_sets == 0 || r->set.n != r->points.n)
        return false;
    for (uint32_t j = 0; j < r->set.n; j++) {
        const uint32_t first = r->points.at[j], here = r->set.at[j];
        const uint32_t port = k->port[first];
        if (k->port[here] != port || point_is_inside(k, here) != point_is_inside(k, first))
            return false;
        const int64_t from = point_element(k, first), to = point_element(k, here);
        const int64_t stride = r->run.n_sets == 1 ? to - from : r->stride.at[j];
        if (to != from + stride * r->run.n_sets || (stride && from / row_length(k, port) != to / row_length(k, port)))
            return false;
        moves |= stride != 0;
    }
    if (!moves)
        return false;
    if (r->run.n_sets == 1)
        for (uint32_t j = 0; j < r->set.n; j++)
            r->stride.at[j] = (int32_t)point_element(k, r->set.at[j]) - (int32_t)point_element(k, r->points.at[j]);
    r->run.n_sets++;
    return true;
}

/* Of ports that are no arrays: a run of its own. */
static void visit_alone(Runs *r, uint32_t root)
{
    end_run(r);
    while (r->still.n < r->set.n)
        vec_push(r->k->c->scratch, &r->still, 0);
    r->visit(r->k, &(PointRun){ 1, r->set.n, r->set.at, r->still.at, r->k->at[root] - 1 });
}

void connect_each_run(Connecting *k, void (*visit)(Connecting *k, const PointRun *run))
{
    Runs r = { .k = k, .visit = visit };
    for (uint32_t root = 0; root < k->n_points; root++) {
        if (k->parent[root] != root || !k->at[root])
            continue;
        r.set.n = 0;
        for (uint32_t point = root; point != ID_NONE; point = k->next[point])
            vec_push(k->c->scratch, &r.set, point);
        if (k->m->ports.at[k->port[root]].rank == 0)
            visit_alone(&r, root);
        else if (!goes_on(&r))
            begin_run(&r, root);
    }
    end_run(&r);
}

/* ---- members ---- */
Part point_part(const Connecting *k, const PointRun *run, uint32_t which, uint32_t place)
{
    const uint32_t point = run->point[which];
    return (Part){ .var = point_member(k, point, place)->var,
                   .rank = k->m->ports.at[k->port[point]].rank,
                   .element = point_element(k, point),
                   .stride = run->stride[which],
                   .factor = 1 };
}

/* The index of the last dimension of the array of ports: it moves from set to set. */
static const Expr *moving_index(Pool *pool, int64_t first, int64_t stride, uint32_t n_sets)
{
    if (n_sets == 1 || stride == 0)
        return expr_integer(pool, first);
    const Expr *i = expr_iterator(pool, 0);
    if (stride != 1)
        i = expr_binary(pool, OP_MUL, expr_integer(pool, stride), i);
    return first == stride ? i : expr_binary(pool, OP_ADD, i, expr_integer(pool, first - stride));
}

const Expr *part_leaf(TermBuilder *builder, const Part *part, uint8_t kind, uint32_t n_sets)
{
    Model *m = builder->model;
    const Expr *index[UINT8_MAX];
    const Variable *v = model_var(m, part->var);
    const Ref ref = { part->var, kind };
    uint32_t rest = part->element;
    for (uint32_t d = part->rank; d-- > 0;) {
        const uint32_t extent = (uint32_t)m->dims.at[v->first_dim + d].extent;
        index[d] = d + 1 == part->rank ? moving_index(m->pool, rest % extent + 1, part->stride, n_sets)
                                       : expr_integer(m->pool, rest % extent + 1);
        rest /= extent;
    }
    for (uint32_t d = part->rank; d < v->type.rank; d++)
        index[d] = expr_iterator(m->pool, (n_sets > 1) + d - part->rank);
    return v->type.rank ? term_element(builder, ref, v->type.rank, index) : term_leaf(builder, ref);
}

static void add_iterator(Connecting *k, const char *name, int64_t n)
{
    Model *m = k->m;
    const Iterator iterator = { .name = names_text(pool_names(m->pool), name),
                                .lo = term_integer(m, 1),
                                .hi = term_integer(m, n),
                                .first = 1,
                                .stride = 1,
                                .count = n };
    vec_push(m->arena, &m->iterators, iterator);
}

DomainId part_domain(Connecting *k, const Part *part, uint32_t n_sets)
{
    Model *m = k->m;
    const Variable *v = model_var(m, part->var);
    const uint32_t first = m->iterators.n;
    if (n_sets > 1)
        add_iterator(k, "i", n_sets);
    for (uint32_t d = part->rank; d < v->type.rank; d++)
        add_iterator(k, arena_format(m->arena, "i%u", d - part->rank + 1), m->dims.at[v->first_dim + d].extent);
    if (m->iterators.n == first)
        return (DomainId){ 0 };
    const Domain domain = { first, m->iterators.n - first };
    vec_push(m->arena, &m->domains, domain);
    return (DomainId){ m->domains.n - 1 };
}

EqId connect_equation(Connecting *k, Term left, Term right, Span span, const Part *owner, uint32_t n_sets)
{
    Model *m = k->m;
    const DomainId domain = left.shape->type.rank ? (DomainId){ 0 } : part_domain(k, owner, n_sets);
    const EqId e = model_add_equation(m, EQUATION_RESIDUAL, left, right, span);
    m->equations.at[e.index].domain = domain;
    m->equations.at[e.index].owner = model_var(m, owner->var)->owner;
    m->equations.at[e.index].origin.made_by = "expand-connections";
    return e;
}
