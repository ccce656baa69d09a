/* The walk over terms and ids; see walk.h. */
#include "base/bug.h"
#include "ir/fields.h"

typedef struct {
    const Model *model;
    VisitTerm visit; /* one of the two */
    RewriteTerm rewrite;
    void *context;
    bool wants_dropped; /* equations */
    TermPlace place;
    uint32_t n_statements; /* met in this body: a list that bites its tail ends */
} Walk;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- terms ---- */
ALWAYS_INLINE Term visit(Walk *w, Term term, TermRole role, bool rewrites)
{
    w->place.role = (uint8_t)role;
    if (rewrites)
        return w->rewrite(w->context, term, &w->place);
    w->visit(w->context, term, &w->place);
    return term;
}

/* The field of a row, which is named anew after the visit: the row moves when the function adds one to its list. */
#define VISIT_AS(w, field, role, rewrites)                                                                             \
    do {                                                                                                               \
        if (term_is_absent(field))                                                                                     \
            break;                                                                                                     \
        const Term result_ = visit((w), (field), (role), (rewrites));                                                  \
        if (rewrites)                                                                                                  \
            (field) = result_;                                                                                         \
    } while (0)
#define VISIT(w, field, role) VISIT_AS(w, field, role, (w)->rewrite != NULL)

static inline void begin_element(Walk *w, uint32_t index, Span span)
{
    w->place.index = index;
    w->place.n_loops = 0;
    w->place.span = span;
}

/* A range may use the loop variables of those before it. */
static void visit_domain(Walk *w, DomainId id)
{
    const Model *m = w->model;
    const uint8_t list = w->place.list;
    w->place.list = LIST_ITERATORS;
    for (uint32_t k = 0; k < m->domains.at[id.index].n; k++, w->place.n_loops++) {
        const uint32_t i = m->domains.at[id.index].first + k;
        VISIT(w, m->iterators.at[i].lo, TERM_RANGE);
        VISIT(w, m->iterators.at[i].step, TERM_RANGE);
        VISIT(w, m->iterators.at[i].hi, TERM_RANGE);
    }
    w->place.list = list;
}

/* Of a region, transition or action. */
static void visit_conditions(Walk *w, ModelList of, uint32_t first, uint32_t n)
{
    w->place.list = (uint8_t)of;
    for (uint32_t k = first; k < first + n; k++)
        VISIT(w, w->model->conditions.at[k], TERM_CONDITION);
}

/* What a statement sends; action 0: it is none that does. */
static void visit_sent(Walk *w, uint32_t action)
{
    const Model *m = w->model;
    for (uint32_t k = 0; action && k < m->actions.at[action - 1].n_args; k++)
        VISIT(w, m->conditions.at[m->actions.at[action - 1].first_arg + k], TERM_VALUE);
}

static void visit_statements(Walk *w, uint32_t first)
{
    const Model *m = w->model;
    for (uint32_t k = first; k && ++w->n_statements <= m->statements.n; k = m->statements.at[k].next) {
        const uint32_t n_loops = w->place.n_loops;
        const Span span = w->place.span;
        if (m->statements.at[k].span.source != SOURCE_NONE)
            w->place.span = m->statements.at[k].span;
        VISIT(w, m->statements.at[k].target, TERM_TARGET);
        VISIT(w, m->statements.at[k].value, TERM_VALUE);
        VISIT(w, m->statements.at[k].message, TERM_VALUE);
        visit_sent(w, m->statements.at[k].action);
        if (m->statements.at[k].kind == STATEMENT_FOR)
            visit_domain(w, m->statements.at[k].domain);
        visit_statements(w, m->statements.at[k].inner);
        w->place.n_loops = n_loops;
        visit_statements(w, m->statements.at[k].otherwise);
        w->place.span = span;
    }
}

static void visit_body(Walk *w, uint32_t first)
{
    w->n_statements = 0;
    w->place.list = LIST_STATEMENTS;
    visit_statements(w, first);
}

static inline bool has_terms(const Variable *v)
{
    return v->binding.shape || v->start.shape || v->nominal.shape || v->min.shape || v->max.shape || v->type.rank;
}

/* Of variables and equations there are many: there is a loop of each kind for each kind of walk. */
ALWAYS_INLINE void visit_variable(Walk *w, uint32_t k, bool rewrites)
{
    const Model *m = w->model;
    if (!has_terms(&m->variables.at[k])) /* as most have none */
        return;
    begin_element(w, k, m->variables.at[k].span);
    w->place.list = LIST_VARIABLES;
    VISIT_AS(w, m->variables.at[k].binding, TERM_BINDING, rewrites);
    VISIT_AS(w, m->variables.at[k].start, TERM_START, rewrites);
    VISIT_AS(w, m->variables.at[k].nominal, TERM_NOMINAL, rewrites);
    VISIT_AS(w, m->variables.at[k].min, TERM_MIN, rewrites);
    VISIT_AS(w, m->variables.at[k].max, TERM_MAX, rewrites);
    VISIT_AS(w, m->variables.at[k].fixed, TERM_NOMINAL, rewrites); /* these two of arrays only */
    VISIT_AS(w, m->variables.at[k].wishes, TERM_NOMINAL, rewrites);
    for (uint32_t d = 0; d < m->variables.at[k].type.rank; d++) {
        w->place.list = LIST_DIMS;
        VISIT(w, m->dims.at[m->variables.at[k].first_dim + d].term, TERM_EXTENT);
    }
}

ALWAYS_INLINE void visit_equation(Walk *w, uint32_t k, bool rewrites)
{
    const Model *m = w->model;
    if (m->equations.at[k].kind == EQUATION_DROPPED && !w->wants_dropped)
        return;
    begin_element(w, k, m->equations.at[k].origin.span);
    if (m->equations.at[k].domain.index)
        visit_domain(w, m->equations.at[k].domain);
    w->place.list = LIST_EQUATIONS;
    VISIT_AS(w, m->equations.at[k].lhs, TERM_LEFT, rewrites);
    VISIT_AS(w, m->equations.at[k].rhs, TERM_RIGHT, rewrites);
    if (m->equations.at[k].body)
        visit_body(w, m->equations.at[k].body);
}

ALWAYS_INLINE void visit_all(Walk *w, ModelList list, uint32_t n, bool rewrites)
{
    if (list == LIST_VARIABLES)
        for (uint32_t k = 0; k < n; k++)
            visit_variable(w, k, rewrites);
    else
        for (uint32_t k = 0; k < n; k++)
            visit_equation(w, k, rewrites);
}

static void visit_region(Walk *w, uint32_t k)
{
    const Model *m = w->model;
    begin_element(w, k, m->regions.at[k].span);
    visit_conditions(w, LIST_REGIONS, m->regions.at[k].first_condition, m->regions.at[k].n_conditions);
}

static void visit_assignment(Walk *w, uint32_t k)
{
    const Model *m = w->model;
    if (m->assignments.at[k].span.source != SOURCE_NONE)
        w->place.span = m->assignments.at[k].span;
    w->place.list = LIST_ASSIGNMENTS;
    VISIT(w, m->assignments.at[k].target, TERM_TARGET);
    VISIT(w, m->assignments.at[k].guard, TERM_GUARD);
    VISIT(w, m->assignments.at[k].value, TERM_VALUE);
}

static void visit_action(Walk *w, uint32_t k)
{
    const Model *m = w->model;
    if (m->actions.at[k].span.source != SOURCE_NONE)
        w->place.span = m->actions.at[k].span;
    w->place.list = LIST_ACTIONS;
    VISIT(w, m->actions.at[k].guard, TERM_GUARD);
    VISIT(w, m->actions.at[k].message, TERM_VALUE);
    visit_conditions(w, LIST_ACTIONS, m->actions.at[k].first_arg, m->actions.at[k].n_args);
}

static void visit_transition(Walk *w, uint32_t k)
{
    const Model *m = w->model;
    const Transition t = m->transitions.at[k];
    begin_element(w, k, t.origin.span);
    visit_domain(w, t.domain);
    visit_conditions(w, LIST_TRANSITIONS, t.first_condition, t.n_conditions);
    for (uint32_t j = 0; j < t.n_assignments; j++, w->place.span = t.origin.span)
        visit_assignment(w, t.first_assignment + j);
    for (uint32_t j = 0; j < t.n_actions; j++, w->place.span = t.origin.span)
        visit_action(w, t.first_action + j);
    visit_body(w, t.body);
}

static void visit_indices(Walk *w, PortIndex index)
{
    w->place.list = LIST_CONNECTIONS;
    for (uint32_t k = index.first; k < index.first + index.n; k++)
        VISIT(w, w->model->conditions.at[k], TERM_INDEX);
}

static void visit_connection(Walk *w, uint32_t k)
{
    const Connection c = w->model->connections.at[k];
    begin_element(w, k, c.span);
    visit_domain(w, c.domain);
    visit_indices(w, c.index_a);
    visit_indices(w, c.index_b);
}

static void visit_assertion(Walk *w, uint32_t k)
{
    const Model *m = w->model;
    begin_element(w, k, m->assertions.at[k].span);
    visit_domain(w, m->assertions.at[k].domain);
    w->place.list = LIST_ASSERTIONS;
    VISIT(w, m->assertions.at[k].condition, TERM_CONDITION);
    VISIT(w, m->assertions.at[k].message, TERM_VALUE);
    VISIT(w, m->assertions.at[k].warns, TERM_GUARD);
}

static void visit_entries(Walk *w, uint32_t k)
{
    const StateSet *s = &w->model->state_sets.at[k];
    begin_element(w, k, s->span);
    w->place.list = LIST_STATE_SETS;
    for (uint32_t j = 0; j < s->n_entries; j++)
        VISIT(w, s->entry[j], TERM_ENTRY);
}

static Term *field_of(const Walk *w, ModelList list, uint32_t k, const Field *field)
{
    return (void *)(model_rows(w->model, list).at + (size_t)k * model_lists[list].row_size + field->at);
}

/* A row that has terms and no parts: as the table of fields says. */
static void visit_row(Walk *w, ModelList list, uint32_t k)
{
    const ListFields *l = &model_lists[list];
    Span span;
    memcpy(&span, model_rows(w->model, list).at + (size_t)k * l->row_size + l->span_at, sizeof span);
    begin_element(w, k, span);
    if (list == LIST_RELATIONS)
        visit_domain(w, w->model->relations.at[k].domain);
    w->place.list = (uint8_t)list;
    for (const Field *f = l->fields; f < l->fields + l->n_fields && f->kind == FIELD_TERM; f++)
        VISIT(w, *field_of(w, list, k, f), (TermRole)f->is);
}

static void visit_element(Walk *w, ModelList list, uint32_t k)
{
    if (list == LIST_REGIONS)
        visit_region(w, k);
    else if (list == LIST_TRANSITIONS)
        visit_transition(w, k);
    else if (list == LIST_STATE_SETS)
        visit_entries(w, k);
    else if (list == LIST_CONNECTIONS)
        visit_connection(w, k);
    else if (list == LIST_ASSERTIONS)
        visit_assertion(w, k);
    else
        visit_row(w, list, k);
}

static void visit_elements(Walk *w, ElementSet elements)
{
    w->wants_dropped = elements & ELEMENTS_DROPPED;
    for (ModelList list = 0; list < LIST_COUNT; list++) {
        const uint32_t n = model_rows(w->model, list).n;
        if (n == 0 || model_lists[list].is_part || !(elements & ELEMENTS(list)))
            continue;
        w->place = (TermPlace){ .element = (uint8_t)list };
        const bool is_common = list == LIST_VARIABLES || list == LIST_EQUATIONS;
        if (is_common && w->rewrite)
            visit_all(w, list, n, true);
        else if (is_common)
            visit_all(w, list, n, false);
        else
            for (uint32_t k = 0; k < n; k++)
                visit_element(w, list, k);
    }
}

void model_visit_terms(const Model *model, ElementSet elements, VisitTerm visit_term, void *context)
{
    Walk w = { .model = model, .visit = visit_term, .context = context };
    visit_elements(&w, elements);
}

void function_visit_terms(const Function *function, VisitTerm visit_term, void *context)
{
    Walk w = { .model = function->body, .visit = visit_term, .context = context };
    visit_elements(&w, ELEMENTS_ALL);
    w.place = (TermPlace){ .element = LIST_COUNT, .span = function->span };
    visit_body(&w, function->first);
}

void model_rewrite_terms(Model *model, ElementSet elements, RewriteTerm rewrite, void *context)
{
    Walk w = { .model = model, .rewrite = rewrite, .context = context };
    visit_elements(&w, elements);
}

/* ---- ids ---- */
/* Row by row: rows are large, and each is looked at once. */
static void renumber_fields(const ListFields *fields, ModelList list, Rows rows, const uint32_t *to)
{
    enum { MOST = 8 };
    struct {
        uint32_t at, none, from;
    } own[MOST];
    uint32_t n = 0;
    for (const Field *f = fields->fields; f < fields->fields + fields->n_fields; f++) {
        if (f->kind == FIELD_TERM || f->is != list)
            continue;
        REQUIRE(n < MOST);
        const bool is_from_1 = f->kind == FIELD_ID_FROM_1;
        own[n].at = f->at;
        own[n].none = is_from_1 ? 0 : ID_NONE;
        own[n++].from = is_from_1;
    }
    if (n == 0)
        return;
    for (unsigned char *row = rows.at, *end = rows.at + rows.n * fields->row_size; row < end; row += fields->row_size)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t *id = (void *)(row + own[k].at);
            if (*id != own[k].none)
                *id = to[*id - own[k].from] + own[k].from;
        }
}

static void renumber_vars(VarId *vars, uint32_t n, const uint32_t *to)
{
    for (uint32_t k = 0; k < n; k++)
        if (vars[k].index != ID_NONE)
            vars[k].index = to[vars[k].index];
}

static void renumber_state_sets(Model *model, const uint32_t *to)
{
    for (uint32_t k = 0; k < model->state_sets.n; k++) {
        const StateSet *s = &model->state_sets.at[k];
        uint32_t n = 0;
        for (uint32_t level = 0; level < s->n_levels; level++)
            n += s->n_states[level];
        renumber_vars(s->candidate, s->n_levels * s->n_columns, to);
        renumber_vars(s->state, n, to);
        renumber_vars(s->choice, n, to);
    }
}

static void renumber_refs(Model *model, bool is_fired, const uint32_t *to)
{
    for (uint32_t k = 0; k < model->refs.n; k++) {
        Ref *ref = &model->refs.at[k];
        if (is_fired ? ref->kind == REF_FIRED : ref_is_of_variable(*ref) && ref->var.index != ID_NONE)
            ref->var.index = to[ref->var.index];
    }
}

void model_renumber(Model *model, ModelList list, const uint32_t *to)
{
    REQUIRE(list == LIST_VARIABLES || list == LIST_EQUATIONS || list == LIST_REGIONS || list == LIST_TRANSITIONS);
    if (model_rows(model, list).n == 0)
        return;
    for (ModelList other = 0; other < LIST_COUNT; other++)
        renumber_fields(&model_lists[other], list, model_rows(model, other), to);
    if (list == LIST_VARIABLES || list == LIST_TRANSITIONS)
        renumber_refs(model, list == LIST_TRANSITIONS, to);
    if (list == LIST_VARIABLES) {
        renumber_state_sets(model, to);
        renumber_vars(&model->seed, 1, to);
        renumber_vars(&model->homotopy, 1, to);
    }
}
