/* split-arrays: arrays that events and branches touch, and those that equations without direction determine element by
 * element, become scalar variables, one an element; what defines them is written out for every element. All other array
 * equations stay whole: they are executed as loops. choose_splits.c says which are which.
 *
 * An array that is split stays: its alias is the first element, the others follow, so that they lie side by side in
 * memory and the array can still be read as a whole or with an index that is known only at run time. Where nothing does
 * that, and only equations without direction asked for the elements, they are variables of their own: `r[1]` can be
 * equal to another variable and share its place; the array is hidden. Reductions are written out. */
#include "base/bug.h"
#include "base/text.h"
#include "ir/walk.h"
#include "passes/structural.h"
#include "passes/choose_splits.h"
#include "passes/instantiate.h"

typedef struct {
    Compile *c;
    Model *model;
    uint32_t n_equations; /* without those that were written out */
    Splits splits;
    Map constants; /* values of loop variables in long ranges: number -> variable */
} Splitter;

enum { MOST_LITERALS = 32 }; /* values of a loop variable that are written into expressions */

static Ref target_of(const Model *m, Term lhs)
{
    return term_refs(m, lhs)[lhs.shape->u.leaf];
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

/* What is said of this element, a number; `otherwise` where all have the same. */
static int64_t element_wish(Splitter *s, Term each, uint64_t number, int64_t otherwise, Span span)
{
    Value value;
    if (term_is_absent(each))
        return otherwise;
    if (structural_value(s->c, element_term(s, each, number, span), &value))
        return value.i;
    diag_error(s->c->diag, DIAG_SIZE_NOT_CONSTANT, span, "which elements are fixed must be known before the run");
    return otherwise;
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
    const bool is_free = s->splits.is_free[array.index];
    for (uint64_t k = 0; k < n; k++) {
        Variable v = *model_var(m, array);
        const NameId name = names_text(pool_names(m->pool), element_name(m, array, k, s->c->scratch));
        Type scalar = v.type;
        scalar.rank = 0;
        v.start = element_term(s, v.start, k, v.span);
        v.nominal = element_term(s, v.nominal, k, v.span);
        v.min = element_term(s, v.min, k, v.span);
        v.max = element_term(s, v.max, k, v.span);
        v.is_fixed = element_wish(s, v.fixed, k, v.is_fixed, v.span) != 0;
        v.select = (uint8_t)element_wish(s, v.wishes, k, v.select, v.span);
        v.fixed = v.wishes = TERM_NONE;
        const VarId element = model_add_variable(m, v.owner, name, scalar, v.span);
        v.name = name;
        v.type = scalar;
        if (!is_free) {
            v.is_generated = true;
            v.origin = array;
        }
        *model_var(m, element) = v;
    }
    model_var(m, array)->alias.index = first;
    model_var(m, array)->is_generated |= is_free;
}

/* ---- equations ---- */
static void write_out(Splitter *s, uint32_t k)
{
    Model *m = s->model;
    const Equation e = m->equations.at[k];
    const bool is_whole = e.domain.index == 0 && e.lhs.shape->type.rank > 0;
    uint64_t n = 1;
    if (is_whole)
        n = variable_count(m, target_of(m, e.lhs.shape->kind == EXPR_LEAF ? e.lhs : e.rhs).var);
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

/* An operation on whole arrays is one over the range of the array; v = w stays, for eliminate-aliases. */
static void give_range(Splitter *s, uint32_t k)
{
    Model *m = s->model;
    const Equation e = m->equations.at[k];
    if (e.kind == EQUATION_DROPPED || e.kind == EQUATION_ALGORITHM || e.domain.index || !e.lhs.shape->type.rank ||
        (e.lhs.shape->kind == EXPR_LEAF && (e.rhs.shape->kind == EXPR_LEAF || e.rhs.shape->kind == EXPR_FUNCTION)))
        return;
    const VarId like = target_of(m, e.lhs.shape->kind == EXPR_LEAF ? e.lhs : e.rhs).var;
    const DomainId domain = domain_of_array(m, like);
    Point point = POINT_NONE;
    point.element = ELEMENT_IN_RANGE;
    const Term lhs = term_at(s->c, e.lhs, &point, e.origin.span, NULL);
    const Term rhs = term_at(s->c, e.rhs, &point, e.origin.span, NULL);
    Equation *row = &m->equations.at[k];
    row->lhs = lhs;
    row->rhs = rhs;
    row->domain = domain;
}

/* Equations that were not written out, regions, and what variables are given; bounds hold for the whole array. */
static bool is_settled(const Splitter *s, const TermPlace *place)
{
    if (place->element == LIST_VARIABLES)
        return place->role == TERM_BINDING || place->role == TERM_START || place->role == TERM_NOMINAL;
    if (place->element == LIST_EQUATIONS)
        return place->role != TERM_RANGE && place->index < s->n_equations;
    return true;
}

/* The term where it stands: reductions are written out, elements of split arrays become variables. */
static Term settle(void *context, Term term, const TermPlace *place)
{
    Splitter *s = context;
    bool concerns = expr_has_reduction(term.shape), is_open = false;
    for (uint32_t k = 0; k < term.shape->n_leaves && !concerns; k++) {
        const Ref ref = term_refs(s->model, term)[k];
        concerns = ref.kind <= REF_START && variable_is_split(s->model, ref.var);
    }
    if (!concerns || !is_settled(s, place))
        return term;
    const Point point = { .element = -1, .is_attribute = place->element == LIST_VARIABLES };
    const Term result = term_at(s->c, term, &point, place->span, &is_open);
    if (is_open) {
        diag_error(s->c->diag, DIAG_SIZE_NOT_CONSTANT, place->span, "the range of a sum must be known before the run");
        diag_help(s->c->diag, "use a literal, a constant or a parameter with a value");
    }
    return result;
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
        action.message = term_at(s->c, action.message, point, action.span, NULL);
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

/* fired(t) of a transition over a range: one of its elements, first ... end - 1, fires. */
static const Expr *any_fires(Splitter *s, TermBuilder *builder, uint32_t first, uint32_t end)
{
    Pool *pool = s->model->pool;
    if (first == end)
        return expr_boolean(pool, false);
    if (end - first == 1)
        return term_leaf(builder, (Ref){ { first }, REF_FIRED });
    const uint32_t middle = first + (end - first) / 2;
    return expr_binary(pool, OP_OR, any_fires(s, builder, first, middle), any_fires(s, builder, middle, end));
}

/* In whose steps at which point would an equation hold? */
static void refuse_ranges(Splitter *s, const Transition *old)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (!e->when || e->kind == EQUATION_DROPPED || domain_count(m, old[e->when - 1].domain) <= 1)
            continue;
        diag_error(s->c->diag, DIAG_NOT_YET, e->origin.span,
                   "an equation of a transition over a range cannot be executed yet");
        diag_help(s->c->diag, "assign in the transition, or write a transition for each point");
    }
}

/* `old`: the transitions before they were written out; number[k]: where those of transition k begin now. */
static void join_fired(Splitter *s, const Transition *old, uint32_t n, const uint32_t *number)
{
    Model *m = s->model;
    VarId *any = NEW_ARRAY(s->c->scratch, VarId, n + 1);
    for (uint32_t k = 0; k < n; k++)
        any[k] = VAR_NONE;
    const uint32_t n_refs = m->refs.n;
    for (uint32_t k = 0; k < n_refs; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind != REF_FIRED || !old[ref.var.index].domain.index)
            continue;
        if (var_is_none(any[ref.var.index]))
            any[ref.var.index] =
                model_add_generated(m, "any", ref.var.index + 1, BOOLEAN_TYPE, old[ref.var.index].origin.span);
        m->refs.at[k] = ref_now(any[ref.var.index]);
    }
    refuse_ranges(s, old);
    model_renumber(m, LIST_TRANSITIONS, number);
    for (uint32_t k = 0; k < n; k++) {
        if (var_is_none(any[k]))
            continue;
        TermBuilder builder = term_builder(m);
        const uint32_t end = k + 1 < n ? number[k + 1] : m->transitions.n;
        const Expr *value = any_fires(s, &builder, number[k], end);
        const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(any[k])),
                                          term_finish(&builder, value), old[k].origin.span);
        m->equations.at[e.index].owner = old[k].owner;
        m->equations.at[e.index].origin.made_by = "split-arrays";
    }
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
        if (s->splits.stays_whole[k]) {
            vec_push(m->arena, &m->transitions, old[k]);
            continue;
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
    join_fired(s, old, n, number);
}

bool split_arrays(Compile *c)
{
    Model *m = c->model;
    if (!model_has_arrays(m))
        return true;
    Splitter s = { .c = c, .model = m, .n_equations = m->equations.n };
    const uint32_t n_variables = m->variables.n;
    map_init(&s.constants, c->scratch, 16);
    if (!choose_splits(c, &s.splits))
        return false;
    for (uint32_t k = 0; k < n_variables && !diag_errors(c->diag); k++)
        if (s.splits.is_split[k])
            add_elements(&s, (VarId){ k });
    for (uint32_t k = 0; k < s.n_equations && !diag_errors(c->diag); k++)
        if (s.splits.is_written_out[k])
            write_out(&s, k);
        else
            give_range(&s, k);
    if (diag_errors(c->diag))
        return false;
    /* transitions are written out as a whole */
    model_rewrite_terms(m, ELEMENTS(LIST_EQUATIONS) | ELEMENTS(LIST_REGIONS) | ELEMENTS(LIST_VARIABLES), settle, &s);
    write_out_transitions(&s);
    return diag_errors(c->diag) == 0;
}
