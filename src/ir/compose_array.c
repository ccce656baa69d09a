/* Arrays of instances whose rows are shared; see compose.h. */
#include "base/bug.h"
#include "ir/compose.h"
#include "ir/memo.h"
#include "ir/walk.h"

uint32_t instance_rank(const Model *model, InstanceId instance)
{
    uint32_t rank = 0;
    for (; instance.index != ID_NONE; instance = model->instances.at[instance.index].parent)
        rank += model->instances.at[instance.index].rank;
    return rank;
}

uint64_t shape_count(const ArrayShape *shape)
{
    uint64_t count = 1;
    for (uint32_t k = 0; k < shape->n; k++)
        if (__builtin_mul_overflow(count, (uint64_t)shape->extent[k], &count))
            return UINT64_MAX;
    return count;
}

/* ---- parameters that are one for all instances ---- */
typedef struct {
    const Model *model;
    bool *is_shared; /* per variable */
    bool has_more;   /* one was added */
} Sharing;

/* size(x, 2) of a whole variable. */
static bool is_size(const Expr *e)
{
    return e->kind == EXPR_WHOLE && e->op == WHOLE_SIZE && e->n_args == 2 && e->args[0]->kind == EXPR_LEAF &&
           !e->args[0]->n_args && e->args[1]->kind == EXPR_INTEGER;
}

static void share_leaves(Sharing *s, Term term, const Expr *e)
{
    if (e->n_leaves == 0 || is_size(e)) /* not the values */
        return;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(s->model, term)[e->u.leaf];
        if (ref.kind == REF_NOW && !var_is_none(ref.var) && !s->is_shared[ref.var.index] &&
            model_var(s->model, ref.var)->variability <= VARIABILITY_PARAMETER)
            s->is_shared[ref.var.index] = s->has_more = true;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        share_leaves(s, term, e->args[k]);
}

static void share_sizes(Sharing *s, Term term, const Expr *e)
{
    if (e->n_leaves == 0 || !(e->has_index || e->has_whole || e->n_args))
        return;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (expr_takes_size(e, k))
            share_leaves(s, term, e->args[k]);
        else
            share_sizes(s, term, e->args[k]);
}

static void share_in_term(void *context, Term term, const TermPlace *place)
{
    if (place->role == TERM_EXTENT || place->role == TERM_RANGE || place->role == TERM_INDEX)
        share_leaves(context, term, term.shape);
    else
        share_sizes(context, term, term.shape);
}

/* What a shared parameter is computed of is shared, too. */
static bool *find_shared(const Model *model)
{
    Sharing s = { .model = model, .is_shared = NEW_ARRAY(model->arena, bool, model->variables.n + 1) };
    model_visit_terms(model, ELEMENTS_ALL, share_in_term, &s);
    while (s.has_more) {
        s.has_more = false;
        for (uint32_t k = 0; k < model->variables.n; k++)
            if (s.is_shared[k] && !term_is_absent(model->variables.at[k].binding))
                share_leaves(&s, model->variables.at[k].binding, model->variables.at[k].binding.shape);
    }
    return s.is_shared;
}

/* ---- what cannot be shared ---- */
static const char *variable_obstacle(const Model *model, const bool *is_shared)
{
    bool any = false;
    for (uint32_t k = 0; k < model->variables.n; k++) {
        const Variable *v = &model->variables.at[k];
        any |= !is_shared[k];
        if (v->type.kind == TYPE_STRING)
            return "a String";
        if (v->type.kind == TYPE_OBJECT)
            return "an external object";
        if (v->definition == DEFINITION_CLOCKED)
            return "a variable of a clock";
        if (v->is_torn || !var_is_none(v->residual))
            return "a wish how its equations are solved";
        if (is_shared[k] && v->type.rank)
            return "an array that sizes depend on";
        if (v->type.rank + 1 > ARRAY_RANK)
            return "an array of many dimensions";
    }
    return any || model->equations.n == 0 ? NULL : "no variable";
}

static const char *dynamic_obstacle(const Model *model)
{
    for (uint32_t k = 0; k < model->equations.n; k++)
        if (model->equations.at[k].when || model->equations.at[k].clock)
            return "an equation of a clock or an event";
    for (uint32_t k = 0; k < model->equations.n; k++)
        if (model->equations.at[k].kind == EQUATION_ALGORITHM)
            return "an algorithm";
    for (uint32_t k = 0; k < model->transitions.n; k++) {
        const Transition *t = &model->transitions.at[k];
        if (t->group)
            return "transitions of a group";
        if (t->trigger == TRIGGER_TICK || t->trigger == TRIGGER_MESSAGE)
            return "a transition of a clock or a channel";
    }
    return NULL;
}

/* All elements of an array are delayed by one number. */
static bool is_one_delay(const Delay *d, const bool *is_shared)
{
    const Term amounts[] = { d->amount, d->max };
    if (!term_is_absent(d->position)) /* each element has a profile of its own */
        return false;
    if (d->input.shape->kind != EXPR_LEAF || d->input.shape->n_args || is_shared[d->output.index])
        return false;
    return (term_is_absent(amounts[0]) || amounts[0].shape->n_leaves == 0) &&
           (term_is_absent(amounts[1]) || amounts[1].shape->n_leaves == 0);
}

static const char *link_obstacle(const Model *model, const bool *is_shared)
{
    for (uint32_t k = 0; k < model->delays.n; k++)
        if (!is_one_delay(&model->delays.at[k], is_shared))
            return "a delay of an expression, or by a quantity";
    for (uint32_t k = 0; k < model->members.n; k++)
        if (!var_is_none(model->members.at[k].var) && is_shared[model->members.at[k].var.index])
            return "a port with a parameter that sizes depend on";
    for (uint32_t k = 0; k < model->connections.n; k++) {
        const Connection *c = &model->connections.at[k];
        if (!c->is_acausal && is_shared[c->from.index] != is_shared[c->to.index])
            return "a connection with a parameter that sizes depend on";
        if (c->is_acausal && (c->index_a.n || c->index_b.n) &&
            ((!c->index_a.n && model->ports.at[c->port_a].rank) || (!c->index_b.n && model->ports.at[c->port_b].rank)))
            return "a connection of an element with an array of ports";
    }
    return NULL;
}

static const char *element_obstacle(const Model *model)
{
    const struct {
        bool is_there;
        const char *what;
    } all[] = { { model->regions.n > 0, "a region" },
                { model->channels.n > 0, "a channel" },
                { model->clocks.n > 0, "a clock" },
                { model->streams.n > 0, "random numbers" },
                { model->foreigns.n > 0, "a foreign component" },
                { model->anchors.n > 0, "an anchor" },
                { model->tasks.n > 0, "a task" },
                { model_may_have(model, REF_FIRED), "a reference to a transition" },
                { model_may_have(model, REF_TICK) || model_may_have(model, REF_INTERVAL), "a reference to a clock" },
                { model_may_have(model, REF_IS_ROOT) || model_may_have(model, REF_ROOTED), "a reference to a root" } };
    for (uint32_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].is_there)
            return all[k].what;
    return NULL;
}

const char *model_array_obstacle(const Model *part, const ArrayShape *shape)
{
    const char *what = element_obstacle(part);
    if (!what)
        what = dynamic_obstacle(part);
    if (what)
        return what;
    for (uint32_t k = 0; k < part->instances.n; k++)
        if (instance_rank(part, (InstanceId){ k }) + shape->n > ARRAY_RANK)
            return "arrays in arrays of many dimensions";
    const bool *is_shared = find_shared(part);
    what = variable_obstacle(part, is_shared);
    return what ? what : link_obstacle(part, is_shared);
}

/* ---- terms of one instance become those of any ---- */
typedef struct {
    Model *model; /* a copy of the part */
    const ArrayShape *shape;
    const bool *is_shared;
    VarId any; /* a variable with the dimensions of the array */
} Lift;

typedef struct {
    const Lift *lift;
    Term term;
    uint32_t levels; /* of loops around it, more than before */
    Memo memo;
} TermLift;

static const Expr *lift_node(TermLift *t, const Expr *e);

static const Expr *lift_leaf(TermLift *t, const Expr *e, const Expr *const *args)
{
    const Lift *lift = t->lift;
    Pool *pool = lift->model->pool;
    const Ref ref = term_refs(lift->model, t->term)[e->u.leaf];
    const uint32_t n = lift->shape->n;
    if (!ref_is_of_variable(ref) || lift->is_shared[ref.var.index])
        return expr_with_args(pool, e, args);
    const uint32_t own = e->n_args ? e->n_args : e->type.rank;
    const Expr *index[2 * ARRAY_RANK];
    REQUIRE(n + own <= 2 * ARRAY_RANK);
    for (uint32_t k = 0; k < n; k++)
        index[k] = expr_iterator(pool, k);
    for (uint32_t k = 0; k < own; k++)
        index[n + k] = e->n_args ? args[k] : expr_all(pool);
    Type scalar = e->type;
    scalar.rank = 0;
    return expr_element(pool, e->u.leaf, scalar, n + own, index);
}

/* The dimensions of the array come first. */
static const Expr *lift_size(const TermLift *t, const Expr *e)
{
    const Lift *lift = t->lift;
    Pool *pool = lift->model->pool;
    const uint32_t leaf = e->args[0]->u.leaf, n = lift->shape->n;
    if (lift->is_shared[term_refs(lift->model, t->term)[leaf].var.index])
        return e;
    Type type = e->args[0]->type;
    type.rank = (uint8_t)(type.rank + n);
    const Expr *const args[] = { expr_leaf(pool, leaf, type), expr_integer(pool, e->args[1]->u.integer + n) };
    return expr_whole(pool, WHOLE_SIZE, 2, args);
}

static const Expr *lift_new(TermLift *t, const Expr *e)
{
    Pool *pool = t->lift->model->pool;
    const uint32_t n = t->levels;
    if (is_size(e))
        return lift_size(t, e);
    const Expr *few[8];
    const Expr **args = e->n_args <= 8 ? few : NEW_ARRAY(memo_arena(&t->memo), const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = lift_node(t, e->args[k]);
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: return lift_leaf(t, e, args);
    case EXPR_ITERATOR: return expr_iterator(pool, e->u.iterator + n);
    case EXPR_REDUCE: return expr_reduce(pool, (Op)e->op, e->u.iterator + n, args[0], args[1], args[2], args[3]);
    case EXPR_EACH: return expr_each(pool, e->u.iterator + n, args[0], args[1], args[2], args[3]);
    default: return expr_with_args(pool, e, args);
    }
}

static const Expr *lift_node(TermLift *t, const Expr *e)
{
    uint32_t known;
    if (e->n_leaves == 0 && e->n_args == 0 && e->kind != EXPR_ITERATOR)
        return e;
    if (memo_get(&t->memo, e, &known))
        return pool_node(t->lift->model->pool, known);
    const Expr *lifted = lift_new(t, e);
    memo_put(&t->memo, e, lifted->id);
    return lifted;
}

/* Its references are the same ones, in the same order. */
static Term lift_term(const Lift *lift, Term term, uint32_t levels)
{
    TermLift t = { .lift = lift, .term = term, .levels = levels };
    memo_begin(&t.memo, NULL);
    const Term lifted = { lift_node(&t, term.shape), term.first_ref };
    memo_end(&t.memo);
    return lifted;
}

/* How many instances there are in one direction. */
static const Expr *extent_expr(const Lift *lift, TermBuilder *builder, uint32_t k)
{
    Pool *pool = lift->model->pool;
    if (lift->shape->extent[k] >= 0)
        return expr_integer(pool, lift->shape->extent[k]);
    const Expr *const args[] = { term_leaf(builder, ref_now(lift->any)), expr_integer(pool, k + 1) };
    return expr_whole(pool, WHOLE_SIZE, 2, args);
}

/* ---- attributes of variables: for each instance its own value ---- */
static bool reads_instances(const Lift *lift, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(lift->model, term)[k];
        if (ref_is_of_variable(ref) && !lift->is_shared[ref.var.index])
            return true;
    }
    return false;
}

/* One value that all elements of an array in an instance have, for each of them. */
static const Expr *spread(const Lift *lift, TermBuilder *builder, const Variable *v, const Expr *body)
{
    Pool *pool = lift->model->pool;
    const uint32_t n = lift->shape->n, own = v->type.rank - n;
    const Expr *one = expr_integer(pool, 1);
    for (uint32_t k = own; body->type.rank < own && k-- > 0;)
        body = expr_each(pool, n + k, body, one, one,
                         term_import(builder, lift->model->dims.at[v->first_dim + n + k].term));
    return body;
}

static Term lift_attribute(const Lift *lift, uint32_t var, Term term)
{
    Model *m = lift->model;
    const Variable *v = &m->variables.at[var];
    const uint32_t n = lift->shape->n, own = v->type.rank - n;
    const bool reads = reads_instances(lift, term);
    if (lift->is_shared[var] || (!reads && term.shape->type.rank == 0))
        return term;
    if (term.shape->kind == EXPR_LEAF && !term.shape->n_args && term.shape->type.rank == own) /* the same of another */
        return term_ref(m, term_refs(m, term)[0]);
    TermBuilder builder = term_builder(m);
    const bool is_one = term.shape->type.rank == 0;
    const Expr *body = term_import(&builder, lift_term(lift, term, n + (is_one ? own : 0)));
    const Expr *one = expr_integer(m->pool, 1);
    if (is_one)
        body = spread(lift, &builder, v, body);
    for (uint32_t k = n; k-- > 0;)
        body = expr_each(m->pool, k, body, one, one, extent_expr(lift, &builder, k));
    return term_finish(&builder, body);
}

static Term lift_visited(void *context, Term term, const TermPlace *place)
{
    const Lift *lift = context;
    if (place->role == TERM_EXTENT)
        return term;
    if (place->element == LIST_VARIABLES)
        return lift_attribute(lift, place->index, term);
    if (place->element == LIST_DELAYS) /* a whole variable, or numbers */
        return term.shape->n_leaves ? term_ref(lift->model, term_refs(lift->model, term)[0]) : term;
    return lift_term(lift, term, lift->shape->n);
}

/* ---- ranges ---- */
/* The domain with the ranges of the array before its own; `is_own`: a copy, so that each domain has one user. */
static DomainId lift_domain(const Lift *lift, DomainId of, bool is_own)
{
    Model *m = lift->model;
    const Domain d = m->domains.at[of.index];
    const uint32_t n = is_own ? 0 : lift->shape->n;
    Iterator *iterators = NEW_ARRAY(m->arena, Iterator, n + d.n);
    for (uint32_t k = 0; k < n; k++) {
        TermBuilder builder = term_builder(m);
        iterators[k] = (Iterator){ .lo = term_integer(m, 1),
                                   .hi = term_finish(&builder, extent_expr(lift, &builder, k)),
                                   .count = -1 };
    }
    for (uint32_t k = 0; k < d.n; k++)
        iterators[n + k] = m->iterators.at[d.first + k];
    return n + d.n ? model_add_domain(m, n + d.n, iterators) : (DomainId){ 0 };
}

static void lift_domains(const Lift *lift, bool is_own)
{
    Model *m = lift->model;
    for (uint32_t k = 0; k < m->equations.n; k++)
        m->equations.at[k].domain = lift_domain(lift, m->equations.at[k].domain, is_own);
    for (uint32_t k = 0; k < m->transitions.n; k++)
        m->transitions.at[k].domain = lift_domain(lift, m->transitions.at[k].domain, is_own);
    for (uint32_t k = 0; k < m->assertions.n; k++)
        m->assertions.at[k].domain = lift_domain(lift, m->assertions.at[k].domain, is_own);
    for (uint32_t k = 0; is_own && k < m->statements.n; k++)
        m->statements.at[k].domain = lift_domain(lift, m->statements.at[k].domain, true);
    for (uint32_t k = 0; is_own && k < m->connections.n; k++)
        m->connections.at[k].domain = lift_domain(lift, m->connections.at[k].domain, true);
}

/* ---- ports ---- */
static PortIndex lift_index(const Lift *lift, PortIndex index)
{
    Model *m = lift->model;
    const uint32_t n = lift->shape->n;
    Term *terms = NEW_ARRAY(m->arena, Term, n + index.n);
    for (uint32_t k = 0; k < n; k++)
        terms[k] = term_expr(m, expr_iterator(m->pool, k));
    for (uint32_t k = 0; k < index.n; k++)
        terms[n + k] = m->conditions.at[index.first + k];
    return (PortIndex){ model_add_terms(m, n + index.n, terms), n + index.n };
}

/* Connections without indices go element by element. */
static void lift_ports(const Lift *lift)
{
    Model *m = lift->model;
    for (uint32_t k = 0; k < m->connections.n; k++) {
        Connection *c = &m->connections.at[k];
        if (!c->is_acausal || (!c->index_a.n && !c->index_b.n && !c->domain.index))
            continue;
        c->index_a = lift_index(lift, c->index_a);
        c->index_b = lift_index(lift, c->index_b);
        c->domain = lift_domain(lift, c->domain, false);
    }
    for (uint32_t k = 0; k < m->ports.n; k++)
        m->ports.at[k].rank += lift->shape->n;
}

/* ---- the whole ---- */
static void lift_variables(Lift *lift)
{
    Model *m = lift->model;
    const uint32_t n = lift->shape->n;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        Variable *v = &m->variables.at[k];
        if (lift->is_shared[k])
            continue;
        const uint32_t own = v->type.rank, first = m->dims.n;
        for (uint32_t d = 0; d < n; d++) {
            const int64_t extent = lift->shape->extent[d];
            vec_push(m->arena, &m->dims, ((Dim){ term_integer(m, extent < 0 ? 0 : extent), extent }));
        }
        for (uint32_t d = 0; d < own; d++) {
            const Dim dim = m->dims.at[v->first_dim + d];
            vec_push(m->arena, &m->dims, dim);
        }
        v->first_dim = first;
        v->type.rank = (uint8_t)(n + own);
        if (var_is_none(lift->any))
            lift->any = (VarId){ k };
    }
}

/* Places of subexpressions name nodes that are gone. */
static void forget_occurrences(Model *m)
{
    for (uint32_t k = 0; k < m->equations.n; k++)
        m->equations.at[k].origin.n_occurrences = 0;
    for (uint32_t k = 0; k < m->transitions.n; k++)
        m->transitions.at[k].origin.n_occurrences = 0;
    m->occurrences.n = 0;
}

InstanceId model_compose_array(Model *into, const ArrayName *array, const ArrayShape *shape, const Model *part,
                               uint32_t *first_var)
{
    Model *copy = model_copy(part);
    Lift lift = { .model = copy, .shape = shape, .is_shared = find_shared(part), .any = VAR_NONE };
    lift_domains(&lift, true);
    lift_variables(&lift);
    model_rewrite_terms(copy, ELEMENTS_ALL | ELEMENTS_DROPPED, lift_visited, &lift);
    lift_domains(&lift, false);
    lift_ports(&lift);
    forget_occurrences(copy);
    copy->instances.at[0].rank = shape->n;
    return model_compose(into, array->owner, array->name, copy, array->span, first_var);
}

NameId instance_element_name(Model *model, NameId name, const ArrayShape *shape, uint64_t number)
{
    uint64_t index[ARRAY_RANK];
    for (uint32_t k = shape->n; k-- > 0; number /= (uint64_t)shape->extent[k])
        index[k] = number % (uint64_t)shape->extent[k] + 1;
    const char *text = names_of(pool_names(model->pool), name);
    for (uint32_t k = 0; k < shape->n; k++)
        text = arena_format(model->arena, "%s%c%llu", text, k ? ',' : '[', (unsigned long long)index[k]);
    return names_text(pool_names(model->pool), arena_format(model->arena, "%s]", text));
}

void model_compose_elements(Model *into, const ArrayName *array, const ArrayShape *shape, const Model *part,
                            uint32_t *first_var)
{
    const uint64_t n = shape_count(shape);
    for (uint64_t k = 0; k < n; k++) {
        uint32_t first;
        const NameId name = instance_element_name(into, array->name, shape, k);
        model_compose(into, array->owner, name, part, array->span, &first);
        if (k == 0)
            *first_var = first;
    }
}

void model_set_extents(Model *model, uint32_t first_var, uint32_t n_vars, uint32_t n, const Term *extents)
{
    for (uint32_t k = first_var; k < first_var + n_vars; k++) {
        const Variable *v = &model->variables.at[k];
        for (uint32_t d = 0; d < n && v->type.rank >= instance_rank(model, v->owner); d++)
            model->dims.at[v->first_dim + d].term = extents[d];
    }
}
