/* The list of what a run starts from, and who says so; see starts.h. */
#include "explain/starts.h"
#include "emit/program/slots.h"
#include "ir/given.h"

typedef struct {
    const Schedule *schedule;
    const Model *model;
    const GivenValue *values;
    uint32_t *given; /* per variable: 1 + the value that was given for it, or for what shares its place */
    uint32_t *sized; /* the same for nominal values */
    uint32_t *run,
        *initial; /* per variable: 1 + the nonlinear system that is solved for it, in the run, at the start */
    bool *is_free, *is_inner; /* computed at the start; by explicit equations of such a system */
    const bool *is_fixed;     /* by an equation of the start */
    bool is_json;
    uint32_t n;
    Arena *scratch;
    Text *to;
} Starts;

static uint32_t holder_of(const Model *m, uint32_t index)
{
    const VarId alias = m->variables.at[index].alias;
    return var_is_none(alias) || variable_is_split(m, (VarId){ index }) ? index : alias.index;
}

static void note_system(Starts *s, const Schedule *of, uint32_t index, uint32_t *block_of)
{
    const Block *b = &of->blocks.at[index];
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++) {
        const Ref unknown = of->rows.at[block_rows(b).first_row + k].unknown;
        if (unknown.kind != REF_NOW)
            continue;
        s->is_free[unknown.var.index] |= of != s->schedule;
        if (b->kind != BLOCK_NEWTON)
            continue;
        s->is_inner[unknown.var.index] |= k < block_rows(b).n_inner;
        block_of[unknown.var.index] = index + 1;
    }
}

static void note_blocks(Starts *s, const Schedule *of, uint32_t *block_of)
{
    for (uint32_t k = 0; of && k < of->blocks.n; k++) {
        const Block *b = &of->blocks.at[k];
        if (b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON || b->kind == BLOCK_ITERATE) {
            note_system(s, of, k, block_of);
        } else if (b->kind == BLOCK_ASSIGN && of != s->schedule) {
            const Ref ref = term_refs(s->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
            if (ref.kind == REF_NOW)
                s->is_free[ref.var.index] = true;
        }
    }
}

/* fixed: it begins there. wish: it does as far as constraints between states allow. guess, default: a search does.
 * computed: a state that follows from the equations of the start. unused: a value was given, but it follows from
 * others. NULL: nothing to tell. */
static const char *kind_of(const Starts *s, uint32_t index)
{
    const Variable *v = &s->model->variables.at[index];
    const bool is_given = !term_is_absent(v->start), is_searched = s->run[index] || s->initial[index];
    if ((v->definition == DEFINITION_DER && !s->is_free[index]) || s->is_fixed[holder_of(s->model, index)])
        return "fixed";
    if (v->definition == DEFINITION_NOW && v->is_fixed && is_given)
        return "wish";
    if (is_searched && !s->is_inner[index])
        return is_given ? "guess" : "default";
    if (v->definition == DEFINITION_DER)
        return "computed";
    return v->definition == DEFINITION_NOW && is_given && v->type.kind == TYPE_REAL ? "unused" : NULL;
}

static const char *source_of(const Starts *s, uint32_t index)
{
    const Variable *v = &s->model->variables.at[index];
    if (s->given[index])
        return s->values[s->given[index] - 1].place;
    if (term_is_absent(v->start) || v->span.source == SOURCE_NONE)
        return "default";
    const LineColumn at = span_begin(s->model->sources, v->span);
    return arena_format(s->scratch, "%s:%u", sources_get(s->model->sources, v->span.source)->path, at.line);
}

/* Who says the nominal value; "": nobody. */
static const char *size_source_of(const Starts *s, uint32_t index)
{
    const Variable *v = &s->model->variables.at[index];
    if (s->sized[index])
        return s->values[s->sized[index] - 1].place;
    if (term_is_absent(v->nominal) || v->span.source == SOURCE_NONE)
        return "";
    const LineColumn at = span_begin(s->model->sources, v->span);
    return arena_format(s->scratch, "%s:%u", sources_get(s->model->sources, v->span.source)->path, at.line);
}

static void list_one(Starts *s, uint32_t index)
{
    const Variable *v = &s->model->variables.at[index];
    const bool is_whole = v->type.rank && !variable_is_split(s->model, (VarId){ index });
    const bool is_told_of = !v->is_generated && (v->type.rank == 0 || is_whole) && var_is_none(v->alias);
    const char *kind = is_told_of ? kind_of(s, index) : NULL;
    const char *name = kind ? variable_path(s->model, (VarId){ index }, s->scratch) : "$";
    if (name[0] == '$') /* of our making */
        return;
    const char *source = source_of(s, index), *size_source = size_source_of(s, index);
    const char *nominal = term_is_absent(v->nominal) ? "" : term_text(s->model, v->nominal, s->scratch);
    const char *value = term_is_absent(v->start) ? "0" : term_text(s->model, v->start, s->scratch);
    const bool is_state = v->definition == DEFINITION_DER;
    const char *run = s->run[index] ? arena_format(s->scratch, "b%u", s->run[index]) : "",
               *initial = s->initial[index] ? arena_format(s->scratch, "i%u", s->initial[index]) : "";
    if (s->is_json) {
        text_add(s->to, s->n ? ",\n{\"name\":" : "\n{\"name\":");
        text_json(s->to, name);
        text_format(s->to, ",\"is\":\"%s\",\"start\":\"%s\",\"value\":", is_state ? "state" : "unknown", kind);
        text_json(s->to, value);
        text_add(s->to, ",\"from\":");
        text_json(s->to, source);
        text_add(s->to, ",\"nominal\":");
        text_json(s->to, nominal);
        text_add(s->to, ",\"nominal_from\":");
        text_json(s->to, size_source);
        text_format(s->to, ",\"block\":\"%s\",\"initial_block\":\"%s\"}", run, initial);
    } else {
        if (s->n == 0)
            text_format(s->to, "%-32s %-8s %-8s %-14s %-10s %-8s %s\n", "variable", "is", "start", "value", "nominal",
                        "block", "from");
        const bool is_told = *size_source && strcmp(size_source, source) != 0;
        text_format(s->to, "%-32s %-8s %-8s %-14s %-10s %-8s %s%s%s\n", name, is_state ? "state" : "unknown", kind,
                    value, nominal,
                    *run && *initial ? arena_format(s->scratch, "%s %s", run, initial)
                    : *run           ? run
                                     : initial,
                    source, is_told ? "; nominal: " : "", is_told ? size_source : "");
    }
    s->n++;
}

void list_starts(const Schedule *schedule, const GivenValue *values, uint32_t n_values, bool is_json, Text *to)
{
    const Model *m = schedule->model;
    Arena *scratch = arena_create_like(to->arena);
    Starts s = { .schedule = schedule,
                 .model = m,
                 .values = values,
                 .given = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1),
                 .sized = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1),
                 .run = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1),
                 .initial = NEW_ARRAY(scratch, uint32_t, m->variables.n + 1),
                 .is_free = NEW_ARRAY(scratch, bool, m->variables.n + 1),
                 .is_fixed = find_fixed_by_equations(m, scratch),
                 .is_inner = NEW_ARRAY(scratch, bool, m->variables.n + 1),
                 .is_json = is_json,
                 .scratch = scratch,
                 .to = to };
    for (uint32_t k = 0; k < n_values; k++) {
        const uint32_t index = find_given(m, values[k].name, scratch);
        if (index != ID_NONE)
            (values[k].is_nominal ? s.sized : s.given)[holder_of(m, index)] = k + 1;
    }
    note_blocks(&s, schedule, s.run);
    note_blocks(&s, schedule->initial, s.initial);
    if (is_json)
        text_format(to, "{\"initial_system\":%s,\"starts\":[", schedule->initial ? "true" : "false");
    for (uint32_t k = 0; k < m->variables.n; k++)
        list_one(&s, k);
    if (is_json)
        text_add(to, "]}\n");
    else if (s.n == 0)
        text_add(to, "nothing has a start value: there are no states, and no nonlinear equations\n");
    else if (schedule->initial)
        text_format(to,
                    "\nthe start is computed by an initial system of %u blocks; 'koine inspect --all' lists them, "
                    "--block i1 shows one\n",
                    schedule->initial->blocks.n);
    arena_destroy(scratch);
}
