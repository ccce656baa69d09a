/* The tables of a model's interface: its variables with their paths, places and values; see tables.h. */
#include "emit/program/tables.h"
#include "ir/segments.h"

enum { MOST_PLACES = 200000 }; /* rows that know where they stand; of others the Model does */

/* Numbers of the representation are copied into the tables: both sides must count alike. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
SAME(TYPE_REAL, KOINE_REAL);
SAME(TYPE_INTEGER, KOINE_INTEGER);
SAME(TYPE_BOOLEAN, KOINE_BOOLEAN);
SAME(TYPE_ENUM, KOINE_ENUMERATION);
SAME(TYPE_STRING, KOINE_STRING);
SAME(VARIABILITY_CONSTANT, KOINE_VARIABILITY_CONSTANT);
SAME(VARIABILITY_STRUCTURAL, KOINE_VARIABILITY_STRUCTURAL);
SAME(VARIABILITY_PARAMETER, KOINE_VARIABILITY_PARAMETER);
SAME(VARIABILITY_DISCRETE, KOINE_VARIABILITY_DISCRETE);
SAME(VARIABILITY_CONTINUOUS, KOINE_VARIABILITY_CONTINUOUS);
SAME(CAUSALITY_LOCAL, KOINE_CAUSALITY_LOCAL);
SAME(CAUSALITY_INPUT, KOINE_CAUSALITY_INPUT);
SAME(CAUSALITY_OUTPUT, KOINE_CAUSALITY_OUTPUT);
SAME(CAUSALITY_PARAMETER, KOINE_CAUSALITY_PARAMETER);
SAME(SEGMENT_INITIAL, KOINE_SEGMENT_INITIAL);
SAME(SEGMENT_STATE, KOINE_SEGMENT_STATE);
SAME(SEGMENT_ALGEBRAIC, KOINE_SEGMENT_ALGEBRAIC);
SAME(SEGMENT_DERIVATIVE, KOINE_SEGMENT_DERIVATIVE);
SAME(SEGMENT_ROOTS, KOINE_SEGMENT_ROOTS);
SAME(SEGMENT_EVENT, KOINE_SEGMENT_EVENT);
#undef SAME

enum { KNOWN_PLACES = 64 };

typedef struct { /* of the variables */
    const Model *model;
    const Slots *slots;
    const bool *is_candidate; /* see Systems */
    Arena *arena, *scratch;
    KoineVariable *rows;
    uint32_t n;
    VEC(uint32_t) dims;
    /* by the low bits of where a span begins: instances of one class have the places of its text */
    Span known[KNOWN_PLACES];
    LineColumn known_at[KNOWN_PLACES];
    const uint32_t *state_variable; /* per scalar state: the row of its variable */
} Rows;

static KoinePlace place_of(Rows *r, Span span)
{
    if (span.source == SOURCE_NONE)
        return (KoinePlace){ 0, 0, 0 };
    Span *known = &r->known[span.begin % KNOWN_PLACES];
    LineColumn *known_at = &r->known_at[span.begin % KNOWN_PLACES];
    if (known_at->line == 0 || known->source != span.source || known->begin != span.begin) {
        *known = span;
        *known_at = span_begin(r->model->sources, span);
    }
    const LineColumn at = *known_at;
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

/* The parameter that a synonym stands for; ID_NONE: it is none. */
static uint32_t meant_parameter(const Rows *r, uint32_t index)
{
    const Model *m = r->model;
    for (uint32_t steps = 0; m->variables.at[index].is_synonym && steps < m->instances.n; steps++) {
        const Term binding = m->variables.at[index].binding;
        if (term_is_absent(binding) || binding.shape->n_leaves != 1) /* arrays are named element by element */
            return ID_NONE;
        index = term_refs(m, binding)[0].var.index;
    }
    return index;
}

static void fill_variable(Rows *r, uint32_t k, KoineVariable *row)
{
    const Model *m = r->model;
    const Names *names = pool_names(m->pool);
    const Variable *v = &m->variables.at[k];
    const uint32_t holder_id = var_is_none(v->alias) ? k : v->alias.index;
    const Variable *holder = &m->variables.at[holder_id];
    *row = (KoineVariable){ .name = variable_path(m, (VarId){ k }, r->arena),
                            .unit = names_of(names, v->unit),
                            .comment = names_of(names, v->comment),
                            .now = (uint64_t)r->slots->now[holder_id] * sizeof(KoineSlot),
                            .pre = KOINE_NO_OFFSET,
                            .set = KOINE_NO_OFFSET,
                            .count = (uint32_t)variable_count(m, (VarId){ k }),
                            .n_dims = v->type.rank,
                            .first_dim = r->dims.n,
                            .enumeration = v->type.enumeration,
                            .type = v->type.kind == TYPE_OBJECT ? (uint8_t)KOINE_INTEGER : v->type.kind,
                            .variability = v->variability,
                            .causality = v->causality == CAUSALITY_PORT ? CAUSALITY_LOCAL : v->causality,
                            .state = -1,
                            .start = literal_real(v->start, 0),
                            .nominal = literal_real(v->nominal, 0),
                            .min = literal_real(v->min, -INFINITY),
                            .max = literal_real(v->max, INFINITY) };
    if (holder->variability < v->variability)
        row->variability = holder->variability;
    if (row - r->rows < MOST_PLACES)
        row->place = place_of(r, v->span);
    if (r->slots->pre[holder_id] != KOINE_NONE)
        row->pre = (uint64_t)r->slots->pre[holder_id] * sizeof(KoineSlot);
    if (holder->definition == DEFINITION_DER)
        row->state = (int32_t)(r->slots->now[holder_id] - r->slots->x);
    const bool is_settable = variable_is_settable(m, r->is_candidate, holder_id, row->count);
    if (is_settable || r->slots->given[holder_id]) {
        row->set = is_settable ? row->now : (uint64_t)r->slots->given[holder_id] * sizeof(KoineSlot);
        row->flags |= KOINE_VARIABLE_SETTABLE;
    }
    const uint32_t meant = v->is_synonym ? meant_parameter(r, k) : ID_NONE;
    if (meant != ID_NONE && variable_is_settable(m, r->is_candidate, meant, row->count)) {
        row->set = (uint64_t)r->slots->now[meant] * sizeof(KoineSlot);
        row->flags |= KOINE_VARIABLE_SETTABLE;
    }
    if (holder_id != k && !variable_is_split(m, (VarId){ k }))
        row->flags |= KOINE_VARIABLE_ALIAS;
    if (v->is_negated)
        row->flags |= KOINE_VARIABLE_NEGATED;
    if (v->is_fixed)
        row->flags |= KOINE_VARIABLE_FIXED;
    if (v->is_generated || v->is_protected || v->type.kind == TYPE_OBJECT)
        row->flags |= KOINE_VARIABLE_HIDDEN;
    for (uint32_t j = 0; j < v->type.rank; j++)
        vec_push(r->arena, &r->dims, (uint32_t)m->dims.at[v->first_dim + j].extent);
}

static const char *derivative_name(Rows *r, VarId state)
{
    const char *path = variable_path(r->model, state, r->scratch);
    const size_t n = strlen(path);
    char *name = arena_alloc(r->arena, n + sizeof "der()", 1);
    memcpy(name, "der(", 4);
    memcpy(name + 4, path, n);
    name[4 + n] = ')';
    return name;
}

static void fill_derivative_row(Rows *r, VarId state, KoineVariable *row)
{
    const Model *m = r->model;
    *row = (KoineVariable){ .name = derivative_name(r, state),
                            .unit = "",
                            .comment = "",
                            .now = (uint64_t)r->slots->der[state.index] * sizeof(KoineSlot),
                            .pre = KOINE_NO_OFFSET,
                            .set = KOINE_NO_OFFSET,
                            .count = (uint32_t)variable_count(m, state),
                            .n_dims = model_var(m, state)->type.rank,
                            .first_dim = r->dims.n,
                            .type = KOINE_REAL,
                            .variability = KOINE_VARIABILITY_CONTINUOUS,
                            .flags = KOINE_VARIABLE_DERIVATIVE | KOINE_VARIABLE_HIDDEN,
                            .state = -1,
                            .min = -INFINITY,
                            .max = INFINITY };
    for (uint32_t j = 0; j < row->n_dims; j++)
        vec_push(r->arena, &r->dims, (uint32_t)m->dims.at[model_var(m, state)->first_dim + j].extent);
}

static void fill_variables(Rows *r, const Schedule *s)
{
    const Model *m = r->model;
    const Slots *slots = r->slots;
    uint32_t n = slots->n_rows;
    r->rows = NEW_ARRAY(r->arena, KoineVariable, n + s->states.n + 1);
    for (uint32_t k = 0; k < n; k++)
        fill_variable(r, slots->variable_of[k], &r->rows[k]);
    uint32_t *state_variable = NEW_ARRAY(r->arena, uint32_t, slots->n_x + 1);
    for (uint32_t k = 0; k < s->states.n; k++) {
        const uint32_t v = s->states.at[k].index, count = (uint32_t)variable_count(m, s->states.at[k]);
        for (uint32_t j = 0; j < count; j++)
            state_variable[slots->now[v] - slots->x + j] = slots->row_of[v] == KOINE_NONE ? 0 : slots->row_of[v];
        if (!variable_is_element(m, s->states.at[k]))
            fill_derivative_row(r, s->states.at[k], &r->rows[n++]);
        else if (model_var(m, model_var(m, s->states.at[k])->origin)->alias.index == v)
            fill_derivative_row(r, model_var(m, s->states.at[k])->origin, &r->rows[n++]);
    }
    r->n = n;
    r->state_variable = state_variable;
}

/* Unknowns of nonlinear systems: where the search for them begins may be set; not of those that begin there. */
static void mark_guesses(Rows *r, const uint32_t *guess)
{
    const Model *m = r->model;
    const bool *has_equation = find_fixed_by_equations(m, r->arena);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const uint32_t holder = var_is_none(v->alias) ? k : v->alias.index, slot = guess[holder];
        if (has_equation[holder] || m->variables.at[holder].is_free || r->slots->row_of[k] == KOINE_NONE ||
            slot == KOINE_NONE || v->type.rank)
            continue;
        KoineVariable *row = &r->rows[r->slots->row_of[k]];
        if (row->flags & KOINE_VARIABLE_SETTABLE)
            continue;
        row->set = (uint64_t)slot * sizeof(KoineSlot);
        row->flags |= KOINE_VARIABLE_GUESS;
    }
}

static void fill_enumerations(const Model *m, KoineTables *tables, Arena *arena)
{
    const Pool *pool = m->pool;
    const Names *names = pool_names(pool);
    const uint32_t n = pool_n_enumerations(pool);
    KoineEnumeration *rows = NEW_ARRAY(arena, KoineEnumeration, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Enumeration *e = pool_get_enumeration(pool, k);
        const char **values = NEW_ARRAY(arena, const char *, e->n);
        for (uint32_t j = 0; j < e->n; j++)
            values[j] = names_of(names, e->values[j]);
        rows[k] = (KoineEnumeration){ names_of(names, e->name), e->n, values };
    }
    tables->types.enumerations = rows;
    tables->types.n_enumerations = n;
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

static KoinePattern port_pattern(const PortPattern *p)
{
    return (KoinePattern){ .rows = p->rows,
                           .columns = p->columns,
                           .start = p->start,
                           .index = p->index,
                           .colour = p->colour,
                           .n_colours = p->n_colours };
}

static const KoinePort *list_ports(const Slots *slots, const PortScalar *ports, uint32_t n, Arena *arena)
{
    KoinePort *rows = NEW_ARRAY(arena, KoinePort, n + 1);
    for (uint32_t k = 0; k < n; k++)
        rows[k] = (KoinePort){ slots->row_of[ports[k].var.index], ports[k].element };
    return rows;
}

/* Rows that end with UINT32_MAX. */
static KoinePattern pattern_of_rows(const uint32_t *const *rows, uint32_t n_rows, uint32_t n_columns, Arena *arena)
{
    uint32_t *start = NEW_ARRAY(arena, uint32_t, n_rows + 1);
    VEC(uint32_t) index = { 0 };
    for (uint32_t k = 0; k < n_rows; k++) {
        for (uint32_t j = 0; rows[k][j] != UINT32_MAX; j++)
            vec_push(arena, &index, rows[k][j]);
        start[k + 1] = index.n;
    }
    if (index.n == 0)
        index.at = NEW_ARRAY(arena, uint32_t, 1);
    return (KoinePattern){ .rows = n_rows, .columns = n_columns, .start = start, .index = index.at };
}

static void fill_segments(const Schedule *s, KoineTables *tables, Arena *arena)
{
    enum { MOST_BLOCKS = 20000 };
    if (s->blocks.n > MOST_BLOCKS)
        return;
    const Segments found = segments_find(s, arena);
    const uint32_t n_in = s->ports.inputs.n, n_out = s->ports.outputs.n;
    if (!found.run)
        return;
    KoineSegment *rows = NEW_ARRAY(arena, KoineSegment, found.n + 1);
    for (uint32_t k = 0; k < found.n; k++) {
        const Segment *segment = &found.at[k];
        rows[k] = (KoineSegment){ .name = segment_kind_name(segment->kind),
                                  .kind = (uint8_t)segment->kind,
                                  .n_in = segment->n_inputs,
                                  .n_out = segment->n_outputs,
                                  .in = segment->inputs,
                                  .out = segment->outputs };
    }
    tables->callables.segments = rows;
    tables->callables.n_segments = found.n;
    tables->patterns.feedthrough = pattern_of_rows(found.run, n_out, n_in, arena);
    tables->patterns.initial_feedthrough = pattern_of_rows(found.initial, n_out, n_in, arena);
}

static void fill_ports(const Schedule *s, const Slots *slots, KoineTables *tables, Arena *arena)
{
    const Ports *ports = &s->ports;
    if (!ports->is_there)
        return;
    tables->ports = (KoinePortTable){ .n_inputs = ports->inputs.n,
                                      .n_outputs = ports->outputs.n,
                                      .inputs = list_ports(slots, ports->inputs.at, ports->inputs.n, arena),
                                      .outputs = list_ports(slots, ports->outputs.at, ports->outputs.n, arena) };
    tables->patterns.input_jacobian = port_pattern(&ports->by_input);
    tables->patterns.output_jacobian = port_pattern(&ports->out_state);
    tables->patterns.through_jacobian = port_pattern(&ports->out_input);
    fill_segments(s, tables, arena);
}

/* Signals that are sampled between events, too. */
static bool has_signals(const Model *m)
{
    for (uint32_t k = 0; k < m->delays.n; k++)
        if (model_var(m, m->delays.at[k].output)->variability == VARIABILITY_CONTINUOUS)
            return true;
    return false;
}

/* After steps something is chosen or tested. */
static bool looks_after_steps(const Model *m)
{
    bool any = m->state_sets.n > 0;
    for (uint32_t k = 0; k < m->transitions.n && !any; k++)
        any = m->transitions.at[k].trigger == TRIGGER_STEP;
    return any;
}

static uint32_t capabilities_of(const Schedule *s, const Slots *slots)
{
    const bool is_autonomous = s->parts[PART_DERIVATIVES].n == 0 && s->parts[PART_ROOTS].n == 0 &&
                               s->figures.n_roots == 0 && slots->n_x == 0 && !has_signals(s->model) &&
                               s->model->foreigns.n == 0;
    bool has_objects = false;
    for (uint32_t k = 0; k < s->model->variables.n && !has_objects; k++)
        has_objects = s->model->variables.at[k].type.kind == TYPE_OBJECT;
    return /* what foreign components and external objects remember is not in the block */
        (s->model->foreigns.n == 0 && !has_objects ? KOINE_CAN_SNAPSHOT : 0) |
        (is_autonomous ? KOINE_IS_AUTONOMOUS : 0) | (looks_after_steps(s->model) ? KOINE_NEEDS_STEP_EVENTS : 0) |
        (slots->phases.terminal != KOINE_NONE ? KOINE_HAS_TERMINAL : 0);
}

static void fill_sources(const Model *m, KoineTables *tables, Arena *arena)
{
    tables->text.n_sources = sources_count(m->sources);
    const char **sources = NEW_ARRAY(arena, const char *, tables->text.n_sources + 1);
    for (uint32_t k = 0; k < tables->text.n_sources; k++)
        sources[k] = sources_get(m->sources, k)->path;
    tables->text.sources = sources;
}

/* Entries by their numbers. */
static void fill_entries(const Model *m, KoineTables *tables, Arena *arena)
{
    KoineEntry *rows = NEW_ARRAY(arena, KoineEntry, m->occasions.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->occasions.n; k++) {
        const Occasion *o = &m->occasions.at[k];
        if (o->kind != OCCASION_ENTRY)
            continue;
        const char *path = instance_path(m, o->owner, arena), *own = names_of(pool_names(m->pool), o->name);
        if (!*own)
            own = arena_format(arena, "entry %u", o->entry);
        uint32_t at = n++;
        for (; at > 0 && rows[at - 1].numerator > o->entry; at--)
            rows[at] = rows[at - 1];
        rows[at] = (KoineEntry){ .name = *path ? arena_format(arena, "%s.%s", path, own) : own,
                                 .numerator = o->entry,
                                 .denominator = 1,
                                 .kind = KOINE_ENTRY_CALLED };
    }
    tables->callables.entries = rows;
    tables->callables.n_entries = n;
}

KoineTables tables_fill(const Schedule *schedule, const Slots *slots, const Systems *systems, const Parts *parts,
                        const Events *events, Arena *arena)
{
    const Model *m = schedule->model;
    Rows r = { .model = m, .slots = slots, .is_candidate = systems->is_candidate, .arena = arena };
    r.scratch = arena_create_like(arena);
    fill_variables(&r, schedule);
    arena_destroy(r.scratch);
    mark_guesses(&r, systems->guess);
    KoineTables tables = { .name = names_of(pool_names(m->pool), m->name),
                           .x = (uint64_t)slots->x * sizeof(KoineSlot),
                           .dx = (uint64_t)slots->dx * sizeof(KoineSlot),
                           .time = (uint64_t)slots->time * sizeof(KoineSlot),
                           .n_x = slots->n_x,
                           .capabilities = capabilities_of(schedule, slots),
                           .variables = r.rows,
                           .n_variables = r.n,
                           .state_variable = r.state_variable,
                           .n_signals = events->data.delays.n_moving + events->data.delays.n_along,
                           .roots = { .n = events->roots.n,
                                      .at = events->roots.origins,
                                      .states = events->roots.states,
                                      .regions = events->roots.regions },
                           .types = { .n_dims = r.dims.n, .dims = r.dims.at },
                           .patterns = { .whole_jacobian = parts->whole.pattern } };
    fill_enumerations(m, &tables, arena);
    fill_sources(m, &tables, arena);
    fill_entries(m, &tables, arena);
    fill_ports(schedule, slots, &tables, arena);
    if (schedule->has_jacobian)
        tables.patterns.jacobian = pattern_of(&schedule->jacobian);
    if (schedule->dae_jacobian.n)
        tables.patterns.dae_jacobian = pattern_of(&schedule->dae_jacobian);
    return tables;
}
