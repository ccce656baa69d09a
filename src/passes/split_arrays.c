/* split-arrays: arrays that events and branches touch become scalar variables, one an element; what defines them is
 * written out for every element. All other array equations stay whole: they are executed as loops.
 *
 * Split are the targets of transitions, and what is defined in a branch, by a comparison that can change between
 * events, by an initial equation, by an equation without direction, or by itself (x[i] from x[i - 1]). The array itself
 * stays: its alias is the first element, the others follow, so that they lie side by side in memory and the array can
 * still be read as a whole or with an index that is known only at run time. Reductions are written out. */
#include "base/bug.h"
#include "base/text.h"
#include "graph/components.h"
#include "ir/element.h"
#include "passes/instantiate.h"

typedef struct {
    Compile *c;
    Model *model;
    bool *split;      /* per variable */
    bool *expand;     /* per equation */
    bool *has_reason; /* per equation: it cannot stay whole, whatever the others do */
    bool changed;
    Map constants; /* values of loop variables in long ranges: number -> variable */
} Splitter;

enum { MOST_LITERALS = 32 }; /* values of a loop variable that are written into expressions */

static Ref target_of(const Model *m, Term lhs)
{
    return term_refs(m, lhs)[lhs.shape->u.leaf];
}

static bool has_target(const Equation *e)
{
    return e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION;
}

/* ---- what has to be split ---- */
static bool is_moving(const Model *m, const Expr *e, const Ref *refs)
{
    if (e->kind == EXPR_LEAF) {
        const Ref ref = refs[e->u.leaf];
        return ref.kind == REF_TIME || ref.kind == REF_DER ||
               ((ref.kind == REF_NOW || ref.kind == REF_LAST) &&
                model_var(m, ref.var)->variability == VARIABILITY_CONTINUOUS);
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        if (is_moving(m, e->args[k], refs))
            return true;
    return false;
}

/* A comparison or a function with steps or kinks that can change between events. */
static bool has_events(const Model *m, const Expr *e, const Ref *refs)
{
    if (e->n_leaves == 0)
        return false;
    const bool is_one = (e->kind == EXPR_CALL && !e->is_literal &&
                         (op_is_relation((Op)e->op) || (e->op >= OP_ABS && e->op <= OP_IROUND))) ||
                        (e->kind == EXPR_TABLE && table_has_kinks((TableMethod)e->u.table->method));
    if ((is_one || (e->kind == EXPR_REDUCE && (e->op == OP_MIN || e->op == OP_MAX))) && is_moving(m, e, refs))
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_events(m, e->args[k], refs))
            return true;
    return false;
}

static bool is_array_equation(const Model *m, const Equation *e)
{
    if (e->kind == EQUATION_DROPPED || e->kind == EQUATION_ALGORITHM)
        return false;
    return e->domain.index || e->lhs.shape->type.rank ||
           (has_target(e) && model_var(m, target_of(m, e->lhs).var)->type.rank) ||
           (e->kind == EQUATION_RESIDUAL && (e->lhs.shape->has_index || e->rhs.shape->has_index));
}

static bool is_unknown(const Model *m, Term side)
{
    if (side.shape->kind != EXPR_LEAF)
        return false;
    const Ref ref = target_of(m, side);
    const uint8_t definition = ref.kind > REF_START ? DEFINITION_NONE : model_var(m, ref.var)->definition;
    return (ref.kind == REF_NOW && definition == DEFINITION_NOW) ||
           (ref.kind == REF_DER && definition == DEFINITION_DER);
}

static bool has_open_reduction(Splitter *s, const Equation *e)
{
    bool is_open = false;
    const Point point = { .element = -1, .is_attribute = true };
    if (e->domain.index)
        term_at(s->c, e->rhs, &point, e->origin.span, &is_open);
    return is_open;
}

static bool has_reduction(const Expr *e)
{
    if (e->kind == EXPR_REDUCE)
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_reduction(e->args[k]))
            return true;
    return false;
}

static bool has_reason(Splitter *s, const Equation *e)
{
    const Model *m = s->model;
    if (e->region.index != ID_NONE || e->when_valid == VALID_INITIAL_ONLY || e->kind == EQUATION_ITERATION)
        return true;
    if (e->kind == EQUATION_RESIDUAL && !is_unknown(m, e->lhs) && !is_unknown(m, e->rhs))
        return true;
    return has_events(m, e->rhs.shape, term_refs(m, e->rhs)) || has_events(m, e->lhs.shape, term_refs(m, e->lhs)) ||
           (has_reduction(e->rhs.shape) && has_open_reduction(s, e));
}

static void split_variable(Splitter *s, VarId v)
{
    if (model_var(s->model, v)->type.rank == 0 || s->split[v.index])
        return;
    s->split[v.index] = true;
    s->changed = true;
}

static void split_unknowns(Splitter *s, Term term)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        const uint8_t definition = ref.kind > REF_START ? DEFINITION_NONE : model_var(m, ref.var)->definition;
        if (definition == DEFINITION_NOW || definition == DEFINITION_DER)
            split_variable(s, ref.var);
    }
}

static bool reads_split(const Splitter *s, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(s->model, term)[k];
        if (ref.kind <= REF_START && s->split[ref.var.index])
            return true;
    }
    return false;
}

static void expand_equation(Splitter *s, uint32_t k)
{
    const Equation *e = &s->model->equations.at[k];
    s->expand[k] = s->changed = true;
    if (has_target(e)) {
        split_variable(s, target_of(s->model, e->lhs).var);
    } else {
        split_unknowns(s, e->lhs);
        split_unknowns(s, e->rhs);
    }
}

/* An equation is written out if it has a reason of its own, if it defines something that is split, or if it is
 * evaluated in events only and reads something that is split: one changed element shall not cost the others. */
static bool is_to_expand(const Splitter *s, uint32_t k)
{
    const Model *m = s->model;
    const Equation *e = &m->equations.at[k];
    if (s->has_reason[k])
        return true;
    const Ref target = has_target(e) || is_unknown(m, e->lhs) ? target_of(m, e->lhs) : target_of(m, e->rhs);
    return s->split[target.var.index] ||
           (model_var(m, target.var)->variability <= VARIABILITY_DISCRETE && reads_split(s, e->rhs));
}

static void close_under_reading(Splitter *s)
{
    const Model *m = s->model;
    do {
        s->changed = false;
        for (uint32_t k = 0; k < m->equations.n; k++)
            if (!s->expand[k] && is_array_equation(m, &m->equations.at[k]) && is_to_expand(s, k))
                expand_equation(s, k);
    } while (s->changed);
}

/* ---- rings of array equations ---- */
typedef struct { /* elements lo .. hi are defined by the equation; a list by `next` */
    uint32_t equation, next;
    int64_t lo, hi;
} Defined;

typedef struct {
    Splitter *s;
    uint32_t *first; /* per variable, NOW in even, DER in odd places: 1 + Defined */
    VEC(Defined) defined;
    VEC(Edge) edges;
} Rings;

static void elements_of(const Model *m, const Expr *leaf, const Ref *refs, DomainId domain, int64_t *lo, int64_t *hi)
{
    ElementMap map;
    *lo = 0;
    *hi = (int64_t)variable_count(m, refs[leaf->u.leaf].var) - 1;
    if (leaf->n_args && element_map(m, leaf, refs, domain, &map))
        element_range(m, &map, domain, lo, hi);
}

static uint32_t *definers(const Rings *r, Ref ref)
{
    return &r->first[2 * (size_t)ref.var.index + (ref.kind == REF_DER)];
}

static void note_reads(Rings *r, uint32_t equation, const Expr *e, Term term, DomainId domain)
{
    const Model *m = r->s->model;
    if (e->kind == EXPR_LEAF) {
        const Ref ref = term_refs(m, term)[e->u.leaf];
        if (ref.kind == REF_NOW || ref.kind == REF_DER) {
            int64_t lo, hi;
            elements_of(m, e, term_refs(m, term), domain, &lo, &hi);
            for (uint32_t k = *definers(r, ref); k; k = r->defined.at[k - 1].next)
                if (r->defined.at[k - 1].lo <= hi && lo <= r->defined.at[k - 1].hi) {
                    const Edge edge = { equation, r->defined.at[k - 1].equation };
                    vec_push(r->s->c->scratch, &r->edges, edge);
                }
        }
    }
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        note_reads(r, equation, e->args[k], term, domain);
}

static void note_definition(Rings *r, uint32_t k)
{
    const Model *m = r->s->model;
    const Equation *e = &m->equations.at[k];
    const bool is_left = is_unknown(m, e->lhs);
    if (e->kind == EQUATION_DROPPED || e->kind == EQUATION_ALGORITHM || (!is_left && !is_unknown(m, e->rhs)))
        return;
    const Term side = is_left ? e->lhs : e->rhs;
    const Ref ref = target_of(m, side);
    Defined row = { .equation = k, .next = *definers(r, ref) };
    elements_of(m, side.shape, term_refs(m, side), e->domain, &row.lo, &row.hi);
    vec_push(r->s->c->scratch, &r->defined, row);
    *definers(r, ref) = r->defined.n;
}

static void split_rings(Splitter *s)
{
    Model *m = s->model;
    Arena *scratch = s->c->scratch;
    const uint32_t n = m->equations.n;
    Rings r = { .s = s, .first = NEW_ARRAY(scratch, uint32_t, 2 * (size_t)m->variables.n + 2) };
    for (uint32_t k = 0; k < n; k++)
        note_definition(&r, k);
    for (uint32_t k = 0; k < n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_DROPPED && e->kind != EQUATION_ALGORITHM && e->rhs.shape)
            note_reads(&r, k, is_unknown(m, e->lhs) ? e->rhs.shape : e->lhs.shape,
                       is_unknown(m, e->lhs) ? e->rhs : e->lhs, e->domain);
    }
    const Incidence g = incidence_build(n, n, r.edges.at, r.edges.n, scratch);
    const Components components = strong_components(&g, scratch, NULL);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t own = components.component_of[k];
        bool is_ring = components.start[own + 1] - components.start[own] > 1;
        for (uint32_t j = g.start[k]; j < g.start[k + 1]; j++)
            is_ring |= g.index[j] == k;
        if (is_ring && !s->expand[k] && is_array_equation(m, &m->equations.at[k]))
            expand_equation(s, k);
    }
}

static bool decide(Splitter *s)
{
    Model *m = s->model;
    bool any = false;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; j < t->n_assignments; j++)
            split_variable(s, target_of(m, m->assignments.at[t->first_assignment + j].target).var);
    }
    const uint32_t n = m->equations.n;
    for (uint32_t k = 0; k < n; k++)
        if (is_array_equation(m, &m->equations.at[k])) {
            const Equation e = m->equations.at[k];
            s->has_reason[k] = has_reason(s, &e);
            any = true;
        }
    if (diag_errors(s->c->diag))
        return false;
    if (any) {
        close_under_reading(s);
        split_rings(s);
        close_under_reading(s);
    }
    return true;
}

/* ---- variables ---- */
static const char *element_name(const Model *m, VarId var, uint64_t number, Arena *arena)
{
    const Variable *v = model_var(m, var);
    int64_t index[UINT8_MAX];
    for (uint32_t k = v->type.rank; k-- > 0;) {
        const int64_t extent = m->dims.at[v->first_dim + k].extent;
        index[k] = (int64_t)number % extent + 1;
        number /= (uint64_t)extent;
    }
    Text text = { .arena = arena };
    text_add(&text, names_of(pool_names(m->pool), v->name));
    for (uint32_t k = 0; k < v->type.rank; k++)
        text_format(&text, "%c%lld", k ? ',' : '[', (long long)index[k]);
    text_add(&text, "]");
    return text.at;
}

static Term element_term(Splitter *s, Term term, uint64_t number, Span span)
{
    const Point point = { .element = (int64_t)number, .is_attribute = true };
    return term_at(s->c, term, &point, span, NULL);
}

static void add_elements(Splitter *s, VarId array)
{
    Model *m = s->model;
    const uint64_t n = variable_count(m, array);
    if (n == 0)
        return;
    if (n > MOST_ELEMENTS) {
        diag_error(s->c->diag, DIAG_TOO_MANY_ELEMENTS, model_var(m, array)->span,
                   "'%s' has %llu elements, which are treated one by one", variable_path(m, array, s->c->scratch),
                   (unsigned long long)n);
        diag_help(s->c->diag, "at most %d are possible for arrays in events and branches", MOST_ELEMENTS);
        return;
    }
    const uint32_t first = m->variables.n;
    for (uint64_t k = 0; k < n; k++) {
        Variable v = *model_var(m, array);
        const NameId name = names_text(pool_names(m->pool), element_name(m, array, k, s->c->scratch));
        Type scalar = v.type;
        scalar.rank = 0;
        v.start = element_term(s, v.start, k, v.span);
        v.nominal = element_term(s, v.nominal, k, v.span);
        v.min = element_term(s, v.min, k, v.span);
        v.max = element_term(s, v.max, k, v.span);
        const VarId element = model_add_variable(m, v.owner, name, scalar, v.span);
        v.name = name;
        v.type = scalar;
        v.is_generated = true;
        v.origin = array;
        *model_var(m, element) = v;
    }
    model_var(m, array)->alias.index = first;
}

/* ---- equations ---- */
static void write_out(Splitter *s, uint32_t k)
{
    Model *m = s->model;
    const Equation e = m->equations.at[k];
    const bool is_whole = e.domain.index == 0 && e.lhs.shape->type.rank > 0;
    uint64_t n = 1;
    if (is_whole)
        n = variable_count(
            m, (is_unknown(m, e.lhs) || !is_unknown(m, e.rhs) ? target_of(m, e.lhs) : target_of(m, e.rhs)).var);
    if (domain_count(m, e.domain) > MOST_ELEMENTS) {
        diag_error(s->c->diag, DIAG_TOO_MANY_ELEMENTS, e.origin.span,
                   "a range of %llu values, which are treated one by one",
                   (unsigned long long)domain_count(m, e.domain));
        diag_help(s->c->diag, "at most %d are possible", MOST_ELEMENTS);
        return;
    }
    m->equations.at[k].kind = EQUATION_DROPPED;
    Point point;
    for (bool more = point_first(m, e.domain, &point); more; more = point_next(m, e.domain, &point))
        for (uint64_t j = 0; j < n; j++) {
            bool is_open = false;
            Equation one = e;
            point.element = is_whole ? (int64_t)j : -1;
            point.constants = domain_count(m, e.domain) > MOST_LITERALS ? &s->constants : NULL;
            one.lhs = term_at(s->c, e.lhs, &point, e.origin.span, &is_open);
            one.rhs = term_at(s->c, e.rhs, &point, e.origin.span, &is_open);
            one.domain = (DomainId){ 0 };
            one.name = (NameId){ 0 };
            one.origin.made_by = "split-arrays";
            one.origin.parent.index = k;
            vec_push(m->arena, &m->equations, one);
            if (diag_errors(s->c->diag))
                return;
        }
}

/* The term where it stands: reductions are written out, elements of split arrays become variables. */
static void settle(Splitter *s, Term *term, Span span, bool is_attribute)
{
    if (!term->shape || (term->shape->n_leaves == 0 && !has_reduction(term->shape)))
        return;
    bool concerns = has_reduction(term->shape), is_open = false;
    for (uint32_t k = 0; k < term->shape->n_leaves && !concerns; k++) {
        const Ref ref = term_refs(s->model, *term)[k];
        concerns = ref.kind <= REF_START && variable_is_split(s->model, ref.var);
    }
    if (!concerns)
        return;
    const Point point = { .element = -1, .is_attribute = is_attribute };
    *term = term_at(s->c, *term, &point, span, &is_open);
    if (is_open) {
        diag_error(s->c->diag, DIAG_SIZE_NOT_CONSTANT, span, "the range of a sum must be known before the run");
        diag_help(s->c->diag, "use a literal, a constant or a parameter with a value");
    }
}

static void settle_equations(Splitter *s, uint32_t n)
{
    Model *m = s->model;
    for (uint32_t k = 0; k < n; k++) {
        if (m->equations.at[k].kind == EQUATION_DROPPED || m->equations.at[k].kind == EQUATION_ALGORITHM)
            continue;
        Equation e = m->equations.at[k]; /* settling may add equations */
        settle(s, &e.lhs, e.origin.span, false);
        settle(s, &e.rhs, e.origin.span, false);
        m->equations.at[k].lhs = e.lhs;
        m->equations.at[k].rhs = e.rhs;
    }
}

static void settle_conditions(Splitter *s)
{
    Model *m = s->model;
    for (uint32_t k = 0; k < m->regions.n; k++)
        for (uint32_t j = 0; j < m->regions.at[k].n_conditions; j++)
            settle(s, &m->conditions.at[m->regions.at[k].first_condition + j], m->regions.at[k].span, false);
    const uint32_t n = m->variables.n;
    for (uint32_t k = 0; k < n; k++) {
        Variable *v = &m->variables.at[k];
        settle(s, &v->binding, v->span, true);
        settle(s, &v->start, v->span, true);
        settle(s, &v->nominal, v->span, true);
    }
}

/* ---- transitions ---- */
/* x[i] := e with an index that is known only at run time: every element is assigned if the index is its own. An index
 * outside the array assigns the first one what it reads there: no value, and so the fault that names the index. */
static void assign_by_index(Splitter *s, const Assignment *a)
{
    Model *m = s->model;
    Pool *pool = m->pool;
    const Ref target = target_of(m, a->target);
    const Variable array = *model_var(m, target.var);
    const uint64_t n = variable_count(m, target.var);
    for (uint64_t k = 0; k < n; k++) {
        TermBuilder builder = term_builder(m);
        const Expr *place = term_import(&builder, a->target), *own = NULL, *inside = NULL;
        uint64_t rest = k;
        for (uint32_t j = array.type.rank; j-- > 0;) {
            const int64_t extent = m->dims.at[array.first_dim + j].extent;
            const Expr *is_own =
                expr_literal_relation(pool, OP_EQ, place->args[j], expr_integer(pool, (int64_t)rest % extent + 1));
            const Expr *is_inside =
                expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_GE, place->args[j], expr_integer(pool, 1)),
                            expr_literal_relation(pool, OP_LE, place->args[j], expr_integer(pool, extent)));
            own = own ? expr_binary(pool, OP_AND, is_own, own) : is_own;
            inside = inside ? expr_binary(pool, OP_AND, is_inside, inside) : is_inside;
            rest /= (uint64_t)extent;
        }
        const Expr *guard = k ? own : expr_binary(pool, OP_OR, own, expr_unary(pool, OP_NOT, inside));
        if (!term_is_absent(a->guard))
            guard = expr_binary(pool, OP_AND, term_import(&builder, a->guard), guard);
        const Expr *value = term_import(&builder, a->value);
        if (k == 0)
            value = expr_if(pool, inside, value, place);
        Assignment one = { .span = a->span,
                           .target = term_ref(m, ref_now((VarId){ array.alias.index + (uint32_t)k })) };
        one.guard = term_make(m, guard, builder.refs.at);
        one.value = term_make(m, value, builder.refs.at);
        vec_push(m->arena, &m->assignments, one);
    }
}

static void add_assignment(Splitter *s, const Assignment *a, const Point *point)
{
    Model *m = s->model;
    Assignment one = { .span = a->span };
    bool is_open = false;
    one.target = term_at(s->c, a->target, point, a->span, &is_open);
    one.guard = term_at(s->c, a->guard, point, a->span, &is_open);
    one.value = term_at(s->c, a->value, point, a->span, &is_open);
    if (diag_errors(s->c->diag))
        return;
    if (is_open)
        diag_error(s->c->diag, DIAG_SIZE_NOT_CONSTANT, a->span, "the range of a sum must be known before the run");
    else if (one.target.shape->n_args)
        assign_by_index(s, &one);
    else
        vec_push(m->arena, &m->assignments, one);
}

static void add_transition(Splitter *s, const Transition *t, const Point *point, uint32_t group)
{
    Model *m = s->model;
    Transition one = *t;
    one.domain = (DomainId){ 0 };
    one.group = group;
    one.first_condition = m->conditions.n;
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        const Term term = term_at(s->c, m->conditions.at[t->first_condition + k], point, t->origin.span, NULL);
        vec_push(m->arena, &m->conditions, term);
    }
    one.first_assignment = m->assignments.n;
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        const Assignment a = m->assignments.at[t->first_assignment + k];
        add_assignment(s, &a, point);
    }
    one.n_assignments = m->assignments.n - one.first_assignment;
    one.first_action = m->actions.n;
    for (uint32_t k = 0; k < t->n_actions; k++) {
        Action action = m->actions.at[t->first_action + k];
        const uint32_t first = action.first_arg;
        action.guard = term_at(s->c, action.guard, point, action.span, NULL);
        action.first_arg = m->conditions.n;
        for (uint32_t j = 0; j < action.n_args; j++) {
            const Term term = term_at(s->c, m->conditions.at[first + j], point, action.span, NULL);
            vec_push(m->arena, &m->conditions, term);
        }
        vec_push(m->arena, &m->actions, action);
    }
    if (t->domain.index)
        one.name = (NameId){ 0 };
    vec_push(m->arena, &m->transitions, one);
}

/* Transitions in their old order, those over ranges once for each point. Their new numbers for fired(t). */
static void write_out_transitions(Splitter *s)
{
    Model *m = s->model;
    const uint32_t n = m->transitions.n, n_groups = m->n_groups;
    const Transition *old = m->transitions.at;
    uint32_t *number = NEW_ARRAY(s->c->scratch, uint32_t, n + 1);
    m->transitions.at = NULL;
    m->transitions.n = m->transitions.capacity = 0;
    for (uint32_t k = 0; k < n && !diag_errors(s->c->diag); k++) {
        number[k] = m->transitions.n;
        Point point;
        uint64_t iteration = 0;
        if (domain_count(m, old[k].domain) > MOST_ELEMENTS) {
            diag_error(s->c->diag, DIAG_TOO_MANY_ELEMENTS, old[k].origin.span,
                       "a range of %llu values, which are treated one by one",
                       (unsigned long long)domain_count(m, old[k].domain));
            diag_help(s->c->diag, "at most %d are possible", MOST_ELEMENTS);
            return;
        }
        for (bool more = point_first(m, old[k].domain, &point); more && !diag_errors(s->c->diag);
             more = point_next(m, old[k].domain, &point), iteration++) {
            /* an elsewhen group over a range is one group for each point of it */
            const uint32_t group =
                old[k].group && iteration ? n_groups * (uint32_t)iteration + old[k].group : old[k].group;
            if (group > m->n_groups)
                m->n_groups = group;
            point.constants = domain_count(m, old[k].domain) > MOST_LITERALS ? &s->constants : NULL;
            add_transition(s, &old[k], &point, group);
        }
    }
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_FIRED)
            m->refs.at[k].var.index = number[m->refs.at[k].var.index];
}

static bool has_arrays(const Model *m)
{
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (m->variables.at[k].type.rank)
            return true;
    for (uint32_t k = 0; k < m->domains.n; k++)
        if (m->domains.at[k].n)
            return true;
    return false;
}

static bool has_reductions(const Model *m)
{
    for (uint32_t k = 0; k < pool_count(m->pool); k++)
        if (pool_node(m->pool, k)->kind == EXPR_REDUCE)
            return true;
    return false;
}

bool split_arrays(Compile *c)
{
    Model *m = c->model;
    if (!has_arrays(m) && !has_reductions(m))
        return true;
    Splitter s = { .c = c,
                   .model = m,
                   .split = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
                   .expand = NEW_ARRAY(c->scratch, bool, m->equations.n + 1),
                   .has_reason = NEW_ARRAY(c->scratch, bool, m->equations.n + 1) };
    const uint32_t n_variables = m->variables.n, n_equations = m->equations.n;
    map_init(&s.constants, c->scratch, 16);
    if (!decide(&s))
        return false;
    for (uint32_t k = 0; k < n_variables && !diag_errors(c->diag); k++)
        if (s.split[k])
            add_elements(&s, (VarId){ k });
    for (uint32_t k = 0; k < n_equations && !diag_errors(c->diag); k++)
        if (s.expand[k])
            write_out(&s, k);
    if (diag_errors(c->diag))
        return false;
    settle_equations(&s, n_equations);
    settle_conditions(&s);
    write_out_transitions(&s);
    return diag_errors(c->diag) == 0;
}
