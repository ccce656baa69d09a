/* What stream members carry where ports are connected.
 *
 * inStream(h) of a member h is the mixture of what flows out of all others that are connected to its port, as if
 * something flowed into its component. A port that is connected inside of its owner gets its h as the mixture of what
 * comes from inside. Two ends hand over their values as they are. Three and more weigh them by the flows; where all
 * flows are smaller than FLOW_LITTLE of their nominal value the weights go over into equal ones, smoothly, so that
 * there is always a mixture (Modelica specification, chapter 15). A flow that turns is an event: there the mixture has
 * a corner. */
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/connect/connect.h"
#include <math.h>

static const double FLOW_LITTLE = 1e-7;

typedef VEC(const Expr *) Leaves;

typedef struct {
    uint32_t port, place;
} Member;

typedef struct Streams {
    Connecting *k;
    Member *of;     /* per variable: the port that has it as a stream member; ID_NONE */
    VarId *inflow;  /* per variable: what inStream of it is; none: nobody asks */
    bool has_grown; /* one more is asked for */
    uint32_t n_variables;
} Streams;

static uint32_t flow_place(const Model *m, uint32_t port)
{
    const Port *p = &m->ports.at[port];
    uint32_t place = 0;
    while (place < p->n_members && m->members.at[p->first_member + place].role != ROLE_FLOW)
        place++;
    return place;
}

/* ---- what is asked for ---- */
static VarId ask(Streams *s, VarId stream)
{
    Model *m = s->k->m;
    if (!var_is_none(s->inflow[stream.index]))
        return s->inflow[stream.index];
    const Variable v = *model_var(m, stream);
    Names *names = pool_names(m->pool);
    const NameId name = names_text(names, arena_format(s->k->c->scratch, "$inStream %s", names_of(names, v.name)));
    const VarId made = model_add_variable(m, v.owner, name, v.type, v.span);
    Variable *row = model_var(m, made);
    row->first_dim = v.first_dim;
    row->variability = VARIABILITY_CONTINUOUS;
    row->definition = DEFINITION_NOW;
    row->start = v.start;
    row->nominal = v.nominal;
    row->is_generated = true;
    row->unit = v.unit;
    if (!v.type.rank)
        row->origin = stream;
    s->has_grown = true;
    return s->inflow[stream.index] = made;
}

static bool is_asked(const Streams *s, VarId stream)
{
    return !var_is_none(s->inflow[stream.index]);
}

/* Whoever needs a mixture needs what comes into the ports of its own component from outside. */
static void ask_outwards(Connecting *k, const PointRun *run)
{
    const Port *port = &k->m->ports.at[k->port[run->point[0]]];
    for (uint32_t place = 0; place < port->n_members; place++) {
        uint32_t n_mixtures = 0;
        if (point_member(k, run->point[0], place)->role != ROLE_STREAM)
            continue;
        for (uint32_t j = 0; j < run->n; j++)
            n_mixtures +=
                point_is_inside(k, run->point[j]) || is_asked(k->streams, point_member(k, run->point[j], place)->var);
        for (uint32_t j = 0; j < run->n && n_mixtures > 1; j++)
            if (point_is_inside(k, run->point[j]))
                ask(k->streams, point_member(k, run->point[j], place)->var);
    }
}

/* ---- mixtures ---- */
static bool is_bound(Term term, bool is_upper)
{
    const Expr *e = term.shape;
    if (!e || e->kind != EXPR_REAL)
        return false;
    return is_upper ? e->u.real <= 0 : e->u.real >= 0;
}

/* Nothing ever flows from there into the connection. */
static bool never_gives(const Connecting *k, uint32_t point)
{
    const PortMember *flow = point_member(k, point, flow_place(k->m, k->port[point]));
    const Variable *v = model_var(k->m, flow->var);
    const bool is_reversed = point_is_inside(k, point) != flow->is_negated;
    return is_reversed ? is_bound(v->max, true) : is_bound(v->min, false);
}

static const Expr *value_at(Streams *s, TermBuilder *builder, const PointRun *run, uint32_t j, uint32_t place)
{
    Part part = point_part(s->k, run, j, place);
    if (point_is_inside(s->k, run->point[j]))
        part.var = ask(s, part.var);
    return part_leaf(builder, &part, REF_NOW, run->n_sets);
}

/* What flows from there into the connection, 0 if nothing does. */
static const Expr *weight_at(Streams *s, TermBuilder *builder, const PointRun *run, uint32_t j)
{
    Pool *pool = s->k->m->pool;
    const uint32_t place = flow_place(s->k->m, s->k->port[run->point[j]]);
    const Part part = point_part(s->k, run, j, place);
    const Expr *flow = part_leaf(builder, &part, REF_NOW, run->n_sets);
    if (point_is_inside(s->k, run->point[j]) == point_member(s->k, run->point[j], place)->is_negated)
        flow = expr_unary(pool, OP_NEG, flow);
    return expr_binary(pool, OP_MAX, flow, expr_real(pool, 0));
}

static double least_nominal(const Streams *s, const PointRun *run, uint32_t n, const uint32_t *which)
{
    const Model *m = s->k->m;
    double least = INFINITY;
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t point = run->point[which[j]];
        const Expr *e = model_var(m, point_member(s->k, point, flow_place(m, s->k->port[point]))->var)->nominal.shape;
        const double nominal = e && e->kind == EXPR_REAL && e->u.real > 0 ? e->u.real : 1;
        least = nominal < least ? nominal : least;
    }
    return least;
}

/* 1 above `little`, and below it smoothly down to 0 */
static const Expr *share_of_flows(Pool *pool, const Expr *sum, double little)
{
    const Expr *one = expr_real(pool, 1), *zero = expr_real(pool, 0), *edge = expr_real(pool, little);
    const Expr *r = expr_binary(pool, OP_DIV, sum, edge);
    const Expr *twice = expr_binary(pool, OP_MUL, expr_real(pool, 2), r);
    const Expr *bend = expr_binary(pool, OP_SUB, expr_real(pool, 3), twice);
    const Expr *curve = expr_binary(pool, OP_MUL, expr_binary(pool, OP_MUL, r, r), bend);
    return expr_if(pool, expr_literal_relation(pool, OP_GT, sum, edge), one,
                   expr_if(pool, expr_literal_relation(pool, OP_GT, sum, zero), curve, zero));
}

static const Expr *mixture(Streams *s, TermBuilder *builder, const PointRun *run, uint32_t place, uint32_t n,
                           const uint32_t *which)
{
    Pool *pool = s->k->m->pool;
    Arena *arena = s->k->c->scratch;
    const Expr **weight = NEW_ARRAY(arena, const Expr *, n), *sum = NULL, *above = NULL, *below = NULL;
    for (uint32_t j = 0; j < n; j++) {
        weight[j] = weight_at(s, builder, run, which[j]);
        sum = sum ? expr_binary(pool, OP_ADD, sum, weight[j]) : weight[j];
    }
    const double little = FLOW_LITTLE * least_nominal(s, run, n, which);
    const Expr *share = share_of_flows(pool, sum, little);
    const Expr *rest =
        expr_binary(pool, OP_MUL, expr_binary(pool, OP_SUB, expr_real(pool, 1), share), expr_real(pool, little));
    for (uint32_t j = 0; j < n; j++) {
        const Expr *w = expr_binary(pool, OP_ADD, expr_binary(pool, OP_MUL, share, weight[j]), rest);
        const Expr *part = expr_binary(pool, OP_MUL, w, value_at(s, builder, run, which[j], place));
        above = above ? expr_binary(pool, OP_ADD, above, part) : part;
        below = below ? expr_binary(pool, OP_ADD, below, w) : w;
    }
    return expr_binary(pool, OP_DIV, above, below);
}

/* What comes from all points but `without`. */
static const Expr *arriving(Streams *s, TermBuilder *builder, const PointRun *run, uint32_t place, uint32_t without)
{
    uint32_t n = 0, *which = NEW_ARRAY(s->k->c->scratch, uint32_t, run->n + 1);
    for (uint32_t j = 0; j < run->n; j++)
        if (j != without && (run->n == 2 || !never_gives(s->k, run->point[j])))
            which[n++] = j;
    if (n > 1)
        return mixture(s, builder, run, place, n, which);
    if (n == 1)
        return value_at(s, builder, run, which[0], place);
    const Part own = point_part(s->k, run, without, place);
    return point_is_inside(s->k, run->point[without]) ? expr_real(s->k->m->pool, 0)
                                                      : part_leaf(builder, &own, REF_NOW, run->n_sets);
}

static void add_stream_equation(Streams *s, const PointRun *run, uint32_t place, uint32_t j, Span span)
{
    Model *m = s->k->m;
    Part part = point_part(s->k, run, j, place);
    TermBuilder builder = term_builder(m);
    const Term right = term_finish(&builder, arriving(s, &builder, run, place, j));
    if (!point_is_inside(s->k, run->point[j]))
        part.var = ask(s, part.var);
    const Term left = term_finish(&builder, part_leaf(&builder, &part, REF_NOW, run->n_sets));
    connect_equation(s->k, left, right, span, &part, run->n_sets);
}

static void expand_streams(Connecting *k, const PointRun *run)
{
    Streams *s = k->streams;
    const Port *port = &k->m->ports.at[k->port[run->point[0]]];
    const Span span = k->m->connections.at[run->connection].span;
    for (uint32_t place = 0; place < port->n_members; place++)
        for (uint32_t j = 0; j < run->n && point_member(k, run->point[0], place)->role == ROLE_STREAM; j++)
            if (point_is_inside(k, run->point[j]) || is_asked(s, point_member(k, run->point[j], place)->var))
                add_stream_equation(s, run, place, j, span);
}

/* A port that is not connected: nothing comes in but what would go out. */
static void close_streams(Streams *s)
{
    Connecting *k = s->k;
    const int32_t still = 0;
    for (uint32_t v = 0; v < s->n_variables; v++) {
        if (!is_asked(s, (VarId){ v }))
            continue;
        const uint32_t port = s->of[v].port;
        for (uint32_t point = k->first[port]; point < k->first[port] + port_count(k, port); point++) {
            const PointRun run = { 1, 1, &point, &still, ID_NONE };
            if (!k->at[point])
                add_stream_equation(s, &run, s->of[v].place, 0, k->m->ports.at[port].span);
        }
    }
}

/* ---- terms that ask ---- */
/* if flow > 0 then inStream(h) else h, the flow counted into the component */
static const Expr *passing(Streams *s, TermBuilder *builder, const Expr *leaf, VarId stream)
{
    Model *m = s->k->m;
    const Member of = s->of[stream.index];
    const PortMember *flow = &m->members.at[m->ports.at[of.port].first_member + flow_place(m, of.port)];
    const uint32_t rank = m->ports.at[of.port].rank;
    const Expr *const *index = leaf->args;
    const Expr *in = leaf->n_args ? term_element(builder, ref_now(ask(s, stream)), leaf->n_args, index)
                                  : term_leaf(builder, ref_now(ask(s, stream)));
    const Expr *out = leaf->n_args ? term_element(builder, ref_now(stream), leaf->n_args, index)
                                   : term_leaf(builder, ref_now(stream));
    const Expr *rate =
        rank ? term_element(builder, ref_now(flow->var), rank, index) : term_leaf(builder, ref_now(flow->var));
    const Expr *zero = expr_real(m->pool, 0);
    const Expr *enters =
        flow->is_negated ? expr_binary(m->pool, OP_LT, rate, zero) : expr_binary(m->pool, OP_GT, rate, zero);
    return expr_if(m->pool, enters, in, out);
}

static void collect_leaves(const Expr *e, const Ref *refs, Arena *arena, Leaves *leaves)
{
    if (e->n_leaves == 0)
        return;
    for (uint32_t j = 0; j < leaves->n; j++)
        if (leaves->at[j] == e)
            return;
    if (e->kind == EXPR_LEAF && (refs[e->u.leaf].kind == REF_PASSING || refs[e->u.leaf].kind == REF_INFLOW))
        vec_push(arena, leaves, e);
    for (uint32_t j = 0; j < e->n_args; j++)
        collect_leaves(e->args[j], refs, arena, leaves);
}

static bool asks(const Model *m, Term term)
{
    bool found = false;
    for (uint32_t j = 0; j < term.shape->n_leaves && !found; j++) {
        const uint8_t kind = term_refs(m, term)[j].kind;
        found = kind == REF_PASSING || kind == REF_INFLOW;
    }
    return found;
}

static Term rewrite(void *context, Term term, const TermPlace *place)
{
    Streams *s = context;
    Model *m = s->k->m;
    if (!asks(m, term))
        return term;
    TermBuilder builder = term_builder(m);
    const Expr *shape = term_import(&builder, term);
    Leaves leaves = { 0 }, values = { 0 };
    collect_leaves(shape, builder.refs.at, s->k->c->scratch, &leaves);
    for (uint32_t j = 0; j < leaves.n; j++) {
        const Expr *leaf = leaves.at[j];
        const Ref ref = builder.refs.at[leaf->u.leaf];
        if (ref.var.index >= s->n_variables || s->of[ref.var.index].port == ID_NONE || leaf->type.rank) {
            diag_error(s->k->c->diag, DIAG_STREAM, place->span, "'%s' is no stream member of a port, or a whole array",
                       variable_path(m, ref.var, s->k->c->scratch));
            diag_help(s->k->c->diag, "inStream and actualStream take a stream member, or an element of it");
            s->k->is_good = false;
            return term;
        }
        const Expr *in = leaf->n_args ? term_element(&builder, ref_now(ask(s, ref.var)), leaf->n_args, leaf->args)
                                      : term_leaf(&builder, ref_now(ask(s, ref.var)));
        const Expr *value = ref.kind == REF_INFLOW ? in : passing(s, &builder, leaf, ref.var);
        vec_push(s->k->c->scratch, &values, value);
    }
    return term_finish(&builder, expr_substitute(m->pool, shape, leaves.n, leaves.at, values.at));
}

/* ---- all of it ---- */
static bool find_members(Streams *s)
{
    const Model *m = s->k->m;
    bool any = false;
    for (uint32_t v = 0; v < s->n_variables; v++) {
        s->of[v].port = ID_NONE;
        s->inflow[v] = VAR_NONE;
    }
    for (uint32_t p = 0; p < m->ports.n; p++)
        for (uint32_t j = 0; j < m->ports.at[p].n_members; j++) {
            const PortMember *member = &m->members.at[m->ports.at[p].first_member + j];
            if (member->role != ROLE_STREAM || var_is_none(member->var))
                continue;
            s->of[member->var.index] = (Member){ p, j };
            any = true;
        }
    return any;
}

static bool any_asks(const Model *m)
{
    return model_may_have(m, REF_INFLOW) || model_may_have(m, REF_PASSING);
}

static bool any_streams(const Model *m)
{
    bool any = false;
    for (uint32_t j = 0; j < m->members.n && !any; j++)
        any = m->members.at[j].role == ROLE_STREAM;
    return any;
}

bool connect_streams(Connecting *k)
{
    Model *m = k->m;
    Streams s = { .k = k, .n_variables = m->variables.n };
    if (!any_asks(m) && !any_streams(m))
        return k->is_good;
    s.of = NEW_ARRAY(k->c->scratch, Member, s.n_variables + 1);
    s.inflow = NEW_ARRAY(k->c->scratch, VarId, s.n_variables + 1);
    k->streams = &s;
    const bool has_members = find_members(&s);
    if (any_asks(m))
        model_rewrite_terms(m, ELEMENTS_ALL, rewrite, &s);
    if (!has_members || !k->is_good)
        return k->is_good;
    do {
        s.has_grown = false;
        connect_each_run(k, ask_outwards);
    } while (s.has_grown);
    connect_each_run(k, expand_streams);
    close_streams(&s);
    return true;
}
