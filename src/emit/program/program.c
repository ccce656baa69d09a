/* Laying out a Schedule; see program.h. Slots come first, then one row and kernel for each block, then the parts as
 * sections of runs, then the event graph. */
#include "emit/program.h"
#include "emit/program/layout.h"
#include "base/bug.h"
#include "emit/routines.h"
#include "emit/program/share.h"

/* ---- slots ---- */
uint32_t take_slots(Layout *l, uint64_t n)
{
    const uint32_t first = l->n_slots;
    REQUIRE(n <= UINT32_MAX / 4 && first <= UINT32_MAX / 4);
    l->n_slots += (uint32_t)n;
    return first;
}

static void align_slots(Layout *l)
{
    l->n_slots = (l->n_slots + 7u) & ~7u; /* 64 bytes */
}

static void place_states(Layout *l)
{
    const Schedule *s = l->schedule;
    align_slots(l);
    l->data.x = l->n_slots;
    for (uint32_t k = 0; k < s->states.n; k++)
        l->now[s->states.at[k].index] = take_slots(l, variable_count(l->model, s->states.at[k]));
    l->data.n_x = l->n_slots - l->data.x;
    align_slots(l);
    l->data.dx = l->n_slots;
    for (uint32_t k = 0; k < s->states.n; k++)
        l->der[s->states.at[k].index] = take_slots(l, variable_count(l->model, s->states.at[k]));
    align_slots(l);
}

static void place_variables(Layout *l, Variability lo, Variability hi)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (var_is_none(v->alias) && l->now[k] == KOINE_NONE && v->variability >= lo && v->variability <= hi)
            l->now[k] = take_slots(l, variable_count(m, (VarId){ k }));
    }
}

/* The elements of a split array lie side by side before, too: if one is wanted, all are. */
static void want_pre(Layout *l, VarId v)
{
    const Model *m = l->model;
    const VarId array = variable_is_element(m, v) ? model_var(m, v)->origin : v;
    const Holders holders = ref_holders(m, ref_now(array));
    for (uint32_t k = 0; k < holders.n; k++)
        l->pre[holders.first + k] = 0;
}

static void place_pre(Layout *l)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < m->refs.n; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind == REF_PRE && (var_is_none(model_var(m, ref.var)->alias) || variable_is_split(m, ref.var)))
            want_pre(l, ref.var); /* placed below in canonical order */
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) { /* edges compare with the value before */
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->trigger == TRIGGER_EDGE && j < t->n_conditions; j++)
            l->pre[term_refs(m, m->conditions.at[t->first_condition + j])[0].var.index] = 0;
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (l->pre[k] == 0)
            l->pre[k] = take_slots(l, variable_count(m, (VarId){ k }));
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_split(m, (VarId){ k }))
            l->pre[k] = l->pre[m->variables.at[k].alias.index];
}

static void place_all(Layout *l)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < m->variables.n; k++)
        l->now[k] = l->der[k] = l->pre[k] = l->seed[k] = l->seed_der[k] = KOINE_NONE;
    l->data.time = take_slots(l, 1);
    l->data.initial = take_slots(l, 1);
    l->calls = m->functions.n ? take_slots(l, ROUTINE_CALL_SLOTS) : KOINE_NONE;
    l->data.calls = m->functions.n ? l->calls + CALL_NOTED : KOINE_NONE;
    place_states(l);
    place_variables(l, VARIABILITY_CONTINUOUS, VARIABILITY_CONTINUOUS);
    align_slots(l);
    place_variables(l, VARIABILITY_DISCRETE, VARIABILITY_DISCRETE);
    align_slots(l);
    l->parameters = l->n_slots;
    place_variables(l, VARIABILITY_CONSTANT, VARIABILITY_PARAMETER);
    l->n_parameters = l->n_slots - l->parameters;
    align_slots(l);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_split(m, (VarId){ k })) { /* its elements follow each other */
            l->now[k] = l->now[m->variables.at[k].alias.index];
            l->der[k] = l->der[m->variables.at[k].alias.index];
        }
    l->data.seed = var_is_none(m->seed) ? KOINE_NONE : l->now[m->seed.index];
    l->data.homotopy = var_is_none(m->homotopy) ? KOINE_NONE : l->now[m->homotopy.index];
    place_pre(l);
}

/* Elements of a split array lie side by side here, too. */
static void place_seed(Layout *l, VarId v)
{
    const Model *m = l->model;
    if (l->seed[v.index] != KOINE_NONE)
        return;
    const Holders holders =
        variable_is_element(m, v) ? ref_holders(m, ref_now(model_var(m, v)->origin)) : (Holders){ v.index, 1 };
    for (uint32_t k = 0; k < holders.n; k++)
        l->seed[holders.first + k] = take_slots(l, variable_count(m, (VarId){ holders.first + k }));
}

/* Tangents: of the states, of their derivatives, and of what lies between. */
static void place_seeds(Layout *l)
{
    const Schedule *s = l->schedule;
    l->data.seed_x = l->data.seed_dx = KOINE_NONE;
    if (!s->has_jacobian && !s->is_whole)
        return;
    align_slots(l);
    l->data.seed_x = l->n_slots;
    for (uint32_t k = 0; k < s->states.n; k++)
        l->seed[s->states.at[k].index] = take_slots(l, variable_count(l->model, s->states.at[k]));
    l->data.seed_dx = l->n_slots;
    for (uint32_t k = 0; k < s->states.n; k++)
        l->seed_der[s->states.at[k].index] = take_slots(l, variable_count(l->model, s->states.at[k]));
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        const uint32_t n = b->kind == BLOCK_ASSIGN ? 1 : b->n_rows;
        for (uint32_t j = 0; j < n; j++) {
            const Ref ref = b->kind == BLOCK_ASSIGN ? term_refs(l->model, b->lhs)[b->lhs.shape->u.leaf]
                                                    : s->rows.at[b->first_row + j].unknown;
            if (ref.kind == REF_NOW)
                place_seed(l, ref.var);
        }
    }
    for (uint32_t k = 0; k < l->model->variables.n; k++)
        if (variable_is_split(l->model, (VarId){ k })) {
            l->seed[k] = l->seed[l->model->variables.at[k].alias.index];
            l->seed_der[k] = l->seed_der[l->model->variables.at[k].alias.index];
        }
}

uint32_t slot_of(const Layout *l, Ref ref)
{
    const uint32_t v = ref.var.index;
    switch ((RefKind)ref.kind) {
    case REF_NOW:
    case REF_START: return l->now[v];
    case REF_PRE: return l->pre[v];
    case REF_DER: return l->der[v];
    case REF_TIME: return l->data.time;
    case REF_INITIAL: return l->data.initial;
    case REF_SEED: return l->seed[v];
    case REF_SEED_DER: return l->seed_der[v];
    case REF_LAST:
    case REF_TERMINAL:
    case REF_FIRED:
    case REF_TICK: break;
    }
    BUG("a reference without slot");
}

/* ---- constants ---- */
static void add_constant(Layout *l, uint32_t slot, uint32_t n, KoineSlot value)
{
    const KoineConstant constant = { slot, n, value };
    vec_push(l->arena, &l->constants, constant);
}

bool literal_value(const Expr *e, KoineSlot *value)
{
    if (!expr_is_constant(e) || e->kind == EXPR_STRING)
        return false;
    if (e->kind == EXPR_REAL)
        value->r = e->u.real;
    else
        value->i = e->u.integer;
    return true;
}

static void fill_constants(Layout *l)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (!var_is_none(v->alias))
            continue;
        const Term term = v->definition == DEFINITION_BINDING ? v->binding : v->start;
        const uint32_t n = (uint32_t)variable_count(m, (VarId){ k });
        KoineSlot value = { .i = 0 };
        if (v->type.kind == TYPE_ENUM)
            value.i = 1;
        if (term.shape && term.shape->kind == EXPR_ARRAY) {
            for (uint32_t j = 0; j < n; j++)
                if (literal_value(expr_array_element(term.shape, j), &value))
                    add_constant(l, l->now[k] + j, 1, value);
            continue;
        }
        if (term.shape)
            literal_value(term.shape, &value);
        if (value.i != 0)
            add_constant(l, l->now[k], n, value);
    }
}

/* ---- tables ---- */
static KoinePlace place_of(const Layout *l, Span span)
{
    if (span.source == SOURCE_NONE)
        return (KoinePlace){ 0, 0, 0 };
    const LineColumn at = span_begin(l->model->sources, span);
    return (KoinePlace){ span.source, at.line, at.column };
}

static double literal_real(Term term, double otherwise)
{
    if (!term.shape)
        return otherwise;
    return term.shape->kind == EXPR_REAL      ? term.shape->u.real
           : term.shape->kind == EXPR_INTEGER ? (double)term.shape->u.integer
                                              : otherwise;
}

/* Elements that are variables of their own stand behind each other. */
static bool is_literal(const Layout *l, uint32_t index, uint64_t count)
{
    const Model *m = l->model;
    for (uint64_t k = 0; k < count && index < m->variables.n; k += variable_count(m, (VarId){ index++ })) {
        const Variable *v = &m->variables.at[index];
        const Term term = v->definition == DEFINITION_BINDING ? v->binding : v->start;
        if (term.shape && !expr_is_literal(term.shape))
            return false;
    }
    return true;
}

static bool is_settable(const Layout *l, uint32_t index, uint64_t count)
{
    const Variable *holder = &l->model->variables.at[index];
    if (holder->variability == VARIABILITY_STRUCTURAL || holder->variability == VARIABILITY_CONSTANT)
        return false;
    if ((holder->definition == DEFINITION_NOW && !l->is_candidate[index]) || holder->definition == DEFINITION_FOREIGN)
        return false;
    return is_literal(l, index, count);
}

/* A state whose start value is computed gets a place for one that is given instead. */
static void place_given_start(Layout *l, uint32_t index, KoineVariable *row)
{
    const Variable *v = &l->model->variables.at[index];
    if (!v->is_fixed || (v->definition != DEFINITION_DER && v->definition != DEFINITION_NEXT) ||
        v->type.kind == TYPE_STRING)
        return;
    if (!l->given[index]) {
        l->given[index] = take_slots(l, row->count);
        add_constant(l, l->given[index], row->count, (KoineSlot){ .i = KOINE_NOT_GIVEN });
        const KoineComputedStart start = { l->now[index], l->given[index], row->count };
        vec_push(l->arena, &l->computed_starts, start);
    }
    row->set = (uint64_t)l->given[index] * sizeof(KoineSlot);
    row->flags |= KOINE_VARIABLE_SETTABLE;
}

/* The parameter that a synonym stands for; ID_NONE: it is none. */
static uint32_t meant_parameter(const Layout *l, uint32_t index)
{
    const Model *m = l->model;
    for (uint32_t steps = 0; m->variables.at[index].is_synonym && steps < m->instances.n; steps++) {
        const Term binding = m->variables.at[index].binding;
        if (term_is_absent(binding) || binding.shape->kind != EXPR_LEAF)
            return ID_NONE;
        index = term_refs(m, binding)[0].var.index;
    }
    return index;
}

static void fill_variable(Layout *l, uint32_t k, KoineVariable *row)
{
    const Model *m = l->model;
    const Names *names = pool_names(m->pool);
    const Variable *v = &m->variables.at[k];
    const uint32_t holder_id = var_is_none(v->alias) ? k : v->alias.index;
    const Variable *holder = &m->variables.at[holder_id];
    *row = (KoineVariable){ .name = variable_path(m, (VarId){ k }, l->arena),
                            .unit = names_of(names, v->unit),
                            .comment = names_of(names, v->comment),
                            .now = (uint64_t)l->now[holder_id] * sizeof(KoineSlot),
                            .pre = KOINE_NO_OFFSET,
                            .set = KOINE_NO_OFFSET,
                            .count = (uint32_t)variable_count(m, (VarId){ k }),
                            .n_dims = v->type.rank,
                            .first_dim = l->dims.n,
                            .enumeration = v->type.enumeration,
                            .type = v->type.kind,
                            .variability = v->variability,
                            .causality = v->causality == CAUSALITY_PORT ? CAUSALITY_LOCAL : v->causality,
                            .state = -1,
                            .start = literal_real(v->start, 0),
                            .nominal = literal_real(v->nominal, 0),
                            .min = literal_real(v->min, -INFINITY),
                            .max = literal_real(v->max, INFINITY) };
    if (holder->variability < v->variability)
        row->variability = holder->variability;
    if (l->n_variables_with_place < 200000) { /* beyond, places are found through the Model when needed */
        row->place = place_of(l, v->span);
        l->n_variables_with_place++;
    }
    if (l->pre[holder_id] != KOINE_NONE)
        row->pre = (uint64_t)l->pre[holder_id] * sizeof(KoineSlot);
    if (holder->definition == DEFINITION_DER)
        row->state = (int32_t)(l->now[holder_id] - l->data.x);
    if (is_settable(l, holder_id, row->count)) {
        row->set = row->now;
        row->flags |= KOINE_VARIABLE_SETTABLE;
    } else {
        place_given_start(l, holder_id, row);
    }
    const uint32_t meant = v->is_synonym ? meant_parameter(l, k) : ID_NONE;
    if (meant != ID_NONE && is_settable(l, meant, row->count)) {
        row->set = (uint64_t)l->now[meant] * sizeof(KoineSlot);
        row->flags |= KOINE_VARIABLE_SETTABLE;
    }
    if (holder_id != k && !variable_is_split(m, (VarId){ k }))
        row->flags |= KOINE_VARIABLE_ALIAS;
    if (v->is_negated)
        row->flags |= KOINE_VARIABLE_NEGATED;
    if (v->is_fixed)
        row->flags |= KOINE_VARIABLE_FIXED;
    if (v->is_generated || v->is_protected)
        row->flags |= KOINE_VARIABLE_HIDDEN;
    for (uint32_t j = 0; j < v->type.rank; j++)
        vec_push(l->arena, &l->dims, (uint32_t)m->dims.at[v->first_dim + j].extent);
}

static const char *derivative_name(Layout *l, VarId state)
{
    const char *path = variable_path(l->model, state, l->scratch);
    const size_t n = strlen(path);
    char *name = arena_alloc(l->arena, n + sizeof "der()", 1);
    memcpy(name, "der(", 4);
    memcpy(name + 4, path, n);
    name[4 + n] = ')';
    return name;
}

static void fill_derivative_row(Layout *l, VarId state, KoineVariable *row)
{
    const Model *m = l->model;
    *row = (KoineVariable){ .name = derivative_name(l, state),
                            .unit = "",
                            .comment = "",
                            .now = (uint64_t)l->der[state.index] * sizeof(KoineSlot),
                            .pre = KOINE_NO_OFFSET,
                            .set = KOINE_NO_OFFSET,
                            .count = (uint32_t)variable_count(m, state),
                            .n_dims = model_var(m, state)->type.rank,
                            .first_dim = l->dims.n,
                            .type = KOINE_REAL,
                            .variability = KOINE_VARIABILITY_CONTINUOUS,
                            .flags = KOINE_VARIABLE_DERIVATIVE | KOINE_VARIABLE_HIDDEN,
                            .state = -1,
                            .min = -INFINITY,
                            .max = INFINITY };
    for (uint32_t j = 0; j < row->n_dims; j++)
        vec_push(l->arena, &l->dims, (uint32_t)m->dims.at[model_var(m, state)->first_dim + j].extent);
}

static void fill_variables(Layout *l)
{
    const Model *m = l->model;
    const Schedule *s = l->schedule;
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->variables.n; k++)
        n += !m->variables.at[k].is_generated;
    KoineVariable *rows = NEW_ARRAY(l->arena, KoineVariable, n + s->states.n + 1);
    l->row_of = NEW_ARRAY(l->arena, uint32_t, m->variables.n + 1);
    n = 0;
    for (uint32_t k = 0; k < m->variables.n; k++)
        l->row_of[k] = KOINE_NONE;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const bool is_hidden_array = v->is_generated && variable_is_split(m, (VarId){ k });
        const uint32_t first = is_hidden_array ? v->alias.index : k;
        const uint64_t count = is_hidden_array ? variable_count(m, (VarId){ k }) : !v->is_generated;
        for (uint32_t j = first; j < first + count; j++) { /* variables that hold elements stand where the array does */
            if (l->row_of[j] != KOINE_NONE || (is_hidden_array && m->variables.at[j].is_generated))
                continue;
            l->row_of[j] = n;
            fill_variable(l, j, &rows[n++]);
        }
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_element(m, (VarId){ k }))
            l->row_of[k] = l->row_of[m->variables.at[k].origin.index];
    uint32_t *state_variable = NEW_ARRAY(l->arena, uint32_t, l->data.n_x + 1);
    for (uint32_t k = 0; k < s->states.n; k++) {
        const uint32_t v = s->states.at[k].index, count = (uint32_t)variable_count(m, s->states.at[k]);
        for (uint32_t j = 0; j < count; j++)
            state_variable[l->now[v] - l->data.x + j] = l->row_of[v] == KOINE_NONE ? 0 : l->row_of[v];
        if (!variable_is_element(m, s->states.at[k]))
            fill_derivative_row(l, s->states.at[k], &rows[n++]);
        else if (model_var(m, model_var(m, s->states.at[k])->origin)->alias.index == v)
            fill_derivative_row(l, model_var(m, s->states.at[k])->origin, &rows[n++]);
    }
    l->tables.variables = l->variable_rows = rows;
    l->tables.n_variables = n;
    l->tables.state_variable = state_variable;
    l->tables.dims = l->dims.at;
    l->tables.n_dims = l->dims.n;
}

/* Unknowns of nonlinear systems: where the search for them begins may be set. */
static void mark_guesses(Layout *l)
{
    const Model *m = l->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const uint32_t slot = l->guess[var_is_none(v->alias) ? k : v->alias.index];
        if (l->row_of[k] == KOINE_NONE || slot == KOINE_NONE || v->type.rank)
            continue;
        KoineVariable *row = &l->variable_rows[l->row_of[k]];
        if (row->flags & KOINE_VARIABLE_SETTABLE)
            continue;
        row->set = (uint64_t)slot * sizeof(KoineSlot);
        row->flags |= KOINE_VARIABLE_GUESS;
    }
}

static void fill_enumerations(Layout *l)
{
    const Pool *pool = l->model->pool;
    const Names *names = pool_names(pool);
    const uint32_t n = pool_n_enumerations(pool);
    KoineEnumeration *rows = NEW_ARRAY(l->arena, KoineEnumeration, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Enumeration *e = pool_get_enumeration(pool, k);
        const char **values = NEW_ARRAY(l->arena, const char *, e->n);
        for (uint32_t j = 0; j < e->n; j++)
            values[j] = names_of(names, e->values[j]);
        rows[k] = (KoineEnumeration){ names_of(names, e->name), e->n, values };
    }
    l->tables.enumerations = rows;
    l->tables.n_enumerations = n;
}

static KoinePattern pattern_of(const StatePattern *p)
{
    return (KoinePattern){ .rows = p->n,
                           .columns = p->n,
                           .start = p->start,
                           .index = p->index,
                           .colour = p->colour,
                           .n_colours = p->n_colours };
}

static void fill_tables(Layout *l)
{
    const Model *m = l->model;
    const Schedule *s = l->schedule;
    l->tables.name = names_of(pool_names(m->pool), m->name);
    l->tables.guid = "";
    l->tables.block_size = 0; /* the machine knows */
    l->tables.x = (uint64_t)l->data.x * sizeof(KoineSlot);
    l->tables.dx = (uint64_t)l->data.dx * sizeof(KoineSlot);
    l->tables.time = (uint64_t)l->data.time * sizeof(KoineSlot);
    l->tables.n_x = l->data.n_x;
    l->tables.capabilities = KOINE_CAN_SNAPSHOT;
    bool has_signals = false; /* that are sampled between events, too */
    for (uint32_t k = 0; k < m->delays.n; k++)
        has_signals |= model_var(m, m->delays.at[k].output)->variability == VARIABILITY_CONTINUOUS;
    if (s->parts[PART_DERIVATIVES].n == 0 && s->parts[PART_ROOTS].n == 0 && s->n_roots == 0 && l->data.n_x == 0 &&
        !has_signals)
        l->tables.capabilities |= KOINE_IS_AUTONOMOUS;
    fill_variables(l);
    fill_enumerations(l);
    l->tables.n_sources = sources_count(m->sources);
    const char **sources = NEW_ARRAY(l->arena, const char *, l->tables.n_sources + 1);
    for (uint32_t k = 0; k < l->tables.n_sources; k++)
        sources[k] = sources_get(m->sources, k)->path;
    l->tables.sources = sources;
    if (s->has_jacobian)
        l->tables.jacobian = pattern_of(&s->jacobian);
    if (s->dae_jacobian.n)
        l->tables.dae_jacobian = pattern_of(&s->dae_jacobian);
}

static const char *const *fill_slot_names(Layout *l)
{
    enum { MOST_NAMED = 50000 }; /* names are for people; larger models use tables, not names */
    const char **names = NEW_ARRAY(l->arena, const char *, l->n_slots + 1);
    if (l->n_slots > MOST_NAMED)
        return names;
    const Model *m = l->model;
    names[l->data.time] = "time";
    for (uint32_t k = 0; k < l->shared_slots.n; k++)
        names[l->shared_slots.at[k]] = arena_format(l->arena, "shared.%u", k + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const char *path = variable_path(m, (VarId){ k }, l->arena);
        if (!var_is_none(m->variables.at[k].alias) || m->variables.at[k].type.rank)
            continue;
        if (l->now[k] != KOINE_NONE)
            names[l->now[k]] = path;
        if (l->der[k] != KOINE_NONE)
            names[l->der[k]] = arena_format(l->arena, "der(%s)", path);
        if (l->pre[k] != KOINE_NONE)
            names[l->pre[k]] = arena_format(l->arena, "pre(%s)", path);
        if (l->seed[k] != KOINE_NONE)
            names[l->seed[k]] = arena_format(l->arena, "seed(%s)", path);
        if (l->seed_der[k] != KOINE_NONE)
            names[l->seed_der[k]] = arena_format(l->arena, "seed(der(%s))", path);
    }
    return names;
}

/* Nodes of the expressions in the derivatives part, each element counted. */
static uint64_t count_work(const Layout *l, uint64_t *in_loops)
{
    enum { LOOP_FROM = 4 };
    uint64_t work = 1;
    for (uint32_t k = 0; k < l->data.derivatives.n; k++) {
        const KoinePartStep step = l->data.derivatives.steps[k];
        const Section *section = step.section == KOINE_NONE ? NULL : &l->sections.at[step.section];
        for (uint32_t j = 0; section && j < section->n_runs; j++) {
            const Run *run = &l->runs.at[section->first_run + j];
            const Kernel *kernel = &l->kernels.at[run->kernel];
            const uint64_t own = (uint64_t)run->n * (kernel->width + kernel->outputs[0]->depth);
            work += own;
            *in_loops += run->n >= LOOP_FROM ? own : 0;
        }
        if (!section)
            work += 50 * ((uint64_t)l->systems.at[step.system].n + l->systems.at[step.system].n_inner);
    }
    return work;
}

static void finish(Layout *l)
{
    l->data.work = count_work(l, &l->data.loop_work);
    l->data.n_slots = l->n_slots;
    l->data.rows = l->rows.at;
    l->data.n_rows = l->rows.n;
    l->data.constants = l->constants.at;
    l->data.n_constants = l->constants.n;
    l->data.computed_starts = l->computed_starts.at;
    l->data.n_computed_starts = l->computed_starts.n;
    l->data.tables = &l->tables;
    l->tables.n_roots = l->data.n_roots;
    Kernel *kernels = l->kernels.at;
    l->code = (Code){ .pool = l->model->pool,
                      .model_name = l->tables.name,
                      .n_kernels = l->kernels.n,
                      .n_runs = l->runs.n,
                      .n_sections = l->sections.n,
                      .n_rows = l->rows.n,
                      .n_slots = l->n_slots,
                      .kernels = kernels,
                      .runs = l->runs.at,
                      .sections = l->sections.at,
                      .rows = l->rows.at,
                      .slot_names = fill_slot_names(l),
                      .calls = l->calls,
                      .derivatives_section = KOINE_NONE };
    if (l->model->functions.n) { /* faults are explained with them while models run: nothing is made then */
        make_routines(l->schedule->model->pool);
        make_routines(l->model->pool);
    }
    find_routines(&l->code, kernels, l->arena);
    if (l->code.n_routines == 0 && l->data.derivatives.n == 1 && l->data.derivatives.steps[0].system == KOINE_NONE)
        l->code.derivatives_section = l->data.derivatives.steps[0].section;
}

struct Program {
    Layout layout;
};

Program *program_create(const Schedule *schedule, Arena *arena)
{
    Program *program = NEW(arena, Program);
    Layout *l = &program->layout;
    const uint32_t n = schedule->model->variables.n + 1;
    *l = (Layout){ .schedule = schedule,
                   .model = model_overlay(schedule->model, arena),
                   .arena = arena,
                   .scratch = arena_create_like(arena),
                   .is_candidate = find_candidates(schedule->model, arena),
                   .guess = NEW_ARRAY(arena, uint32_t, n),
                   .given = NEW_ARRAY(arena, uint32_t, n),
                   .now = NEW_ARRAY(arena, uint32_t, n),
                   .der = NEW_ARRAY(arena, uint32_t, n),
                   .pre = NEW_ARRAY(arena, uint32_t, n),
                   .seed = NEW_ARRAY(arena, uint32_t, n),
                   .seed_der = NEW_ARRAY(arena, uint32_t, n) };
    memset(l->guess, 0xff, n * sizeof *l->guess);
    map_init(&l->kernel_index, arena, 64);
    map_init(&l->tangent_index, arena, 64);
    l->share = share_create(l);
    place_all(l);
    place_seeds(l);
    fill_constants(l);
    fill_tables(l);
    lay_blocks(l);
    lay_parts(l);
    lay_whole(l);
    l->data.n_run_systems = l->systems.n;
    lay_initial(l);
    mark_guesses(l);
    lay_state_sets(l);
    lay_jumps(l);
    lay_events(l);
    lay_fixed(l);
    share_destroy(l->share);
    l->share = NULL;
    finish(l);
    arena_destroy(l->scratch);
    l->scratch = NULL;
    return program;
}

const KoineProgram *program_data(const Program *program)
{
    return &program->layout.data;
}

const Code *program_code(const Program *program)
{
    return &program->layout.code;
}

uint32_t program_slot(const Program *program, Ref ref)
{
    const bool has_slot = ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_DER || ref.kind == REF_TIME;
    return has_slot ? slot_of(&program->layout, ref) : KOINE_NONE;
}
