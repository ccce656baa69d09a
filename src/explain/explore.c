/* JSON of components, variables, blocks and incidence for a viewer; see explore.h. */
#include "explain/explore.h"
#include "base/map.h"
#include <stdlib.h>

typedef VEC(uint32_t) Indices;

static const char *name_of(const Model *m, NameId name)
{
    return names_of(pool_names(m->pool), name);
}

static void key_text(Text *to, const char *key, const char *value)
{
    text_format(to, ", \"%s\": ", key);
    text_json(to, value);
}

/* ---- places ---- */
/* The whole lines of a span, without what is common space in front; at most a few of them. */
static const char *lines_of(const Sources *sources, Span span, Arena *arena)
{
    enum { LINES_MOST = 24 };
    const Source *source = sources_get(sources, span.source);
    uint32_t begin = span.begin, end = span.begin, lines = 1;
    while (begin > 0 && source->text[begin - 1] != '\n' && source->text[begin - 1] != '\r')
        begin--;
    for (; end < source->size; end++) {
        if (source->text[end] != '\n' && source->text[end] != '\r')
            continue;
        if (end + 1 >= span.end || lines++ == LINES_MOST)
            break;
    }
    return arena_text(arena, source->text + begin, end - begin);
}

static void add_place(const Model *m, Span span, Text *to)
{
    if (span.source == SOURCE_NONE || span.source >= sources_count(m->sources)) {
        text_add(to, "null");
        return;
    }
    text_add(to, "{ \"file\": ");
    text_json(to, sources_get(m->sources, span.source)->path);
    text_format(to, ", \"source\": %u, \"line\": %u", span.source, span_begin(m->sources, span).line);
    key_text(to, "text", lines_of(m->sources, span, to->arena));
    text_add(to, " }");
}

/* ---- components ---- */
void explore_components(const Model *m, Text *to)
{
    uint32_t *own = NEW_ARRAY(to->arena, uint32_t, m->instances.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++)
        own[m->variables.at[k].owner.index] += !m->variables.at[k].is_generated;
    text_add(to, "{ \"components\": [");
    for (uint32_t k = 0; k < m->instances.n; k++) {
        const Instance *i = &m->instances.at[k];
        text_format(to, "%s{ \"name\": ", k ? ",\n" : "");
        text_json(to, name_of(m, k ? i->name : m->name));
        key_text(to, "path", instance_path(m, (InstanceId){ k }, to->arena));
        key_text(to, "class", name_of(m, k ? i->class_name : m->name));
        text_format(to, ", \"parent\": %d, \"variables\": %u }", k ? (int)i->parent.index : -1, own[k]);
    }
    text_add(to, "], \"files\": [");
    for (uint32_t k = 0; k < sources_count(m->sources); k++) {
        text_add(to, k ? ", " : "");
        text_json(to, sources_get(m->sources, k)->path);
    }
    text_add(to, "] }\n");
}

/* ---- one variable ---- */
typedef struct {
    const char *how;
    uint32_t size; /* equations solved together */
    Span span;
} Defined;

typedef struct {
    const Schedule *schedule;
    const Model *model;
    VarId var;    /* what was asked for */
    VarId holder; /* what holds its value */
    Text *to;
    VEC(Defined) definitions;
    Indices reads;
} Behind;

static VarId holder_of(const Model *m, VarId var)
{
    for (uint32_t hops = 0; hops < 64 && !var_is_none(m->variables.at[var.index].alias); hops++)
        var = m->variables.at[var.index].alias;
    return var;
}

static bool is_wanted(const Behind *b, Ref ref)
{
    return (ref.kind == REF_NOW || ref.kind == REF_DER) &&
           (ref.var.index == b->var.index || ref.var.index == b->holder.index);
}

static void note_reads(Behind *b, Term term)
{
    if (term_is_absent(term))
        return;
    const Ref *refs = term_refs(b->model, term);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        if (refs[k].kind > REF_LAST || is_wanted(b, refs[k]))
            continue;
        uint32_t var = refs[k].var.index;
        const Variable *v = &b->model->variables.at[var];
        if (v->is_generated && var_is_none(v->origin))
            continue;
        if (v->is_generated)
            var = v->origin.index;
        bool is_known = false;
        for (uint32_t j = 0; j < b->reads.n; j++)
            is_known |= b->reads.at[j] == var;
        if (!is_known && b->reads.n < 64)
            vec_push(b->to->arena, &b->reads, var);
    }
}

static void add_definition(Behind *b, const char *how, uint32_t size, Span span)
{
    for (uint32_t k = 0; k < b->definitions.n; k++)
        if (memcmp(&b->definitions.at[k].span, &span, sizeof span) == 0)
            return;
    vec_push(b->to->arena, &b->definitions, ((Defined){ how, size, span }));
}

static int by_place(const void *left, const void *right)
{
    const Span *a = &((const Defined *)left)->span, *b = &((const Defined *)right)->span;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void print_definitions(Behind *b)
{
    if (b->definitions.n)
        qsort(b->definitions.at, b->definitions.n, sizeof *b->definitions.at, by_place);
    for (uint32_t k = 0; k < b->definitions.n; k++) {
        const Defined *d = &b->definitions.at[k];
        text_format(b->to, "%s{ \"how\": \"%s\", \"of\": %u, \"place\": ", k ? ", " : "", d->how, d->size);
        add_place(b->model, d->span, b->to);
        text_add(b->to, " }");
    }
}

/* The text an equation was made from: that of the first one in its line that has a place. */
static Span equation_span(const Model *m, EqId equation)
{
    for (uint32_t hops = 0; hops < 64 && equation.index != ID_NONE && equation.index < m->equations.n; hops++) {
        const Origin *origin = &m->equations.at[equation.index].origin;
        if (origin->span.source != SOURCE_NONE)
            return origin->span;
        equation = origin->parent;
    }
    return SPAN_NONE;
}

/* As the language wrote it: also in branches, and where a pass has replaced the equation since. */
static void add_written(Behind *b)
{
    const Model *m = b->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->origin.made_by || term_is_absent(e->lhs) || e->lhs.shape->kind != EXPR_LEAF ||
            !is_wanted(b, term_refs(m, e->lhs)[0]) || e->origin.span.source == SOURCE_NONE)
            continue;
        add_definition(b, "equation", 1, e->origin.span);
        note_reads(b, e->rhs);
    }
}

static void add_scheduled(Behind *b)
{
    const Schedule *s = b->schedule;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *block = &s->blocks.at[k];
        if (block->kind == BLOCK_ASSIGN && !term_is_absent(block->u.assign.lhs) &&
            is_wanted(b, term_refs(b->model, block->u.assign.lhs)[0])) {
            const Span span = equation_span(b->model, block->equation);
            if (span.source != SOURCE_NONE)
                add_definition(b, "equation", 1, span);
            note_reads(b, block->u.assign.rhs);
        }
        for (uint32_t r = 0; r < block_rows(block).n_rows; r++) {
            const SystemRow *row = &s->rows.at[block_rows(block).first_row + r];
            if (!is_wanted(b, row->unknown))
                continue;
            add_definition(b, "system", block_rows(block).n_rows, equation_span(b->model, row->equation));
            note_reads(b, row->lhs);
            note_reads(b, row->rhs);
        }
    }
}

static void add_assigned(Behind *b)
{
    const Model *m = b->model;
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        const Assignment *a = &m->assignments.at[k];
        if (term_is_absent(a->target) || !is_wanted(b, term_refs(m, a->target)[0]))
            continue;
        if (a->span.source != SOURCE_NONE)
            add_definition(b, "event", 1, a->span);
        note_reads(b, a->value);
    }
}

static const char *use_of(const Variable *v)
{
    if (v->variability <= VARIABILITY_PARAMETER)
        return "parameter";
    if (v->definition == DEFINITION_INPUT || v->causality == CAUSALITY_INPUT)
        return "input";
    if (v->definition == DEFINITION_DER)
        return "state";
    return v->definition == DEFINITION_NEXT   ? "discrete state"
           : v->causality == CAUSALITY_OUTPUT ? "output"
                                              : "dependent";
}

/* "x[2,3]" and "der(x)" and "x'" belong to x. */
static const char *bare_name(const char *path, Arena *arena)
{
    size_t n = strlen(path);
    if (n > 5 && strncmp(path, "der(", 4) == 0 && path[n - 1] == ')')
        return bare_name(arena_text(arena, path + 4, n - 5), arena);
    if (n > 1 && path[n - 1] == ']') {
        const char *bracket = path + n - 1;
        while (bracket > path && *bracket != '[')
            bracket--;
        n = (size_t)(bracket - path);
    }
    while (n > 1 && path[n - 1] == '\'')
        n--;
    return arena_text(arena, path, n);
}

static bool find_variable(const Model *m, const char *path, VarId *found, Arena *arena)
{
    const char *bare = bare_name(path, arena);
    Arena *scratch = arena_create_like(arena);
    const ArenaMark mark = arena_mark(scratch);
    bool is_found = false;
    for (uint32_t k = 0; k < m->variables.n && !is_found; k++) {
        if (m->variables.at[k].is_generated)
            continue;
        const char *name = variable_path(m, (VarId){ k }, scratch);
        is_found = strcmp(name, path) == 0 || strcmp(name, bare) == 0;
        *found = (VarId){ k };
        arena_reset(scratch, mark);
    }
    arena_destroy(scratch);
    return is_found;
}

bool explore_variable(const Schedule *schedule, const char *path, Text *to)
{
    const Model *m = schedule->model;
    Behind b = { .schedule = schedule, .model = m, .to = to };
    if (!find_variable(m, path, &b.var, to->arena))
        return false;
    const Variable *v = &m->variables.at[b.var.index];
    b.holder = holder_of(m, b.var);
    text_add(to, "{ \"name\": ");
    text_json(to, variable_path(m, b.var, to->arena));
    text_add(to, ", \"declared\": ");
    add_place(m, v->span, to);
    key_text(to, "unit", name_of(m, v->unit));
    key_text(to, "comment", name_of(m, v->comment));
    key_text(to, "use", use_of(v));
    text_add(to, ", \"alias_of\": ");
    if (b.holder.index == b.var.index || m->variables.at[b.holder.index].is_generated)
        text_add(to, "null");
    else
        text_json(to, variable_path(m, b.holder, to->arena));
    text_add(to, ", \"definitions\": [");
    if (v->definition == DEFINITION_BINDING) {
        add_definition(&b, "value", 1, v->span);
        note_reads(&b, v->binding);
    }
    add_written(&b);
    add_scheduled(&b);
    add_assigned(&b);
    print_definitions(&b);
    text_add(to, "], \"reads\": [");
    for (uint32_t k = 0; k < b.reads.n; k++) {
        text_add(to, k ? ", " : "");
        text_json(to, variable_path(m, (VarId){ b.reads.at[k] }, to->arena));
    }
    text_add(to, "] }\n");
    return true;
}

/* ---- blocks ---- */
static const char *block_word(uint8_t kind)
{
    switch ((BlockKind)kind) {
    case BLOCK_ASSIGN: return "assignment";
    case BLOCK_LINEAR: return "linear system";
    case BLOCK_NEWTON: return "nonlinear system";
    case BLOCK_ITERATE: return "iteration";
    case BLOCK_RELATION: return "comparison";
    case BLOCK_STEP: return "step function";
    case BLOCK_FOREIGN: return "foreign component";
    case BLOCK_TRANSITION: return "event";
    }
    return "other";
}

static const char *ref_name(const Model *m, Ref ref, Arena *arena)
{
    if (ref.kind > REF_LAST || var_is_none(ref.var) || m->variables.at[ref.var.index].is_generated)
        return "";
    const char *name = variable_path(m, ref.var, arena);
    return ref.kind == REF_DER ? arena_format(arena, "der(%s)", name) : name;
}

static Span block_span(const Schedule *s, const Block *block)
{
    const Model *m = s->model;
    switch ((BlockKind)block->kind) {
    case BLOCK_RELATION: return m->relations.at[block->u.object].origin.span;
    case BLOCK_STEP: return m->steps.at[block->u.object].origin.span;
    case BLOCK_TRANSITION: return m->transitions.at[block->u.object].origin.span;
    default:
        return equation_span(m, block_rows(block).n_rows ? s->rows.at[block_rows(block).first_row].equation
                                                         : block->equation);
    }
}

static void add_block(const Schedule *s, const Block *block, Text *to)
{
    enum { UNKNOWNS_MOST = 8 };
    text_format(to, "{ \"kind\": \"%s%s\", \"size\": %u, \"moving\": %s, \"unknowns\": [",
                block->mixed ? "mixed: " : "", block_word(block->kind),
                block_rows(block).n_rows ? block_rows(block).n_rows : 1, block->is_moving ? "true" : "false");
    if (block->kind == BLOCK_ASSIGN && !term_is_absent(block->u.assign.lhs))
        text_json(to, ref_name(s->model, term_refs(s->model, block->u.assign.lhs)[0], to->arena));
    for (uint32_t r = 0; r < block_rows(block).n_rows && r < UNKNOWNS_MOST; r++) {
        text_add(to, r ? ", " : "");
        text_json(to, ref_name(s->model, s->rows.at[block_rows(block).first_row + r].unknown, to->arena));
    }
    text_add(to, "], \"place\": ");
    add_place(s->model, block_span(s, block), to);
    text_add(to, " }");
}

void explore_blocks(const Schedule *s, uint32_t first, uint32_t most, Text *to)
{
    text_format(to, "{ \"total\": %u, \"first\": %u, \"blocks\": [", s->blocks.n, first);
    for (uint32_t k = first; k < s->blocks.n && k - first < most; k++) {
        text_add(to, k > first ? ",\n" : "");
        add_block(s, &s->blocks.at[k], to);
    }
    text_add(to, "] }\n");
}

/* ---- incidence ---- */
typedef struct {
    const Schedule *schedule;
    Map column; /* reference to its position */
    uint32_t n, cells;
    uint32_t *counts; /* cells x cells */
} Incidence;

static uint64_t column_key(Ref ref)
{
    return (uint64_t)ref.var.index * 16 + (ref.kind == REF_DER ? REF_DER : REF_NOW);
}

static void count_term(Incidence *i, uint32_t row, Term term)
{
    if (term_is_absent(term))
        return;
    const Ref *refs = term_refs(i->schedule->model, term);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        uint32_t column;
        if ((refs[k].kind == REF_NOW || refs[k].kind == REF_DER) && map_get(&i->column, column_key(refs[k]), &column))
            i->counts[(uint64_t)row * i->cells / i->n * i->cells + (uint64_t)column * i->cells / i->n]++;
    }
}

static void number_unknowns(Incidence *i)
{
    const Schedule *s = i->schedule;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *block = &s->blocks.at[k];
        if (block->kind == BLOCK_ASSIGN && !term_is_absent(block->u.assign.lhs))
            map_put(&i->column, column_key(term_refs(s->model, block->u.assign.lhs)[0]), i->n++);
        for (uint32_t r = 0; r < block_rows(block).n_rows; r++)
            map_put(&i->column, column_key(s->rows.at[block_rows(block).first_row + r].unknown), i->n++);
    }
}

static void count_entries(Incidence *i, Text *to)
{
    const Schedule *s = i->schedule;
    uint32_t row = 0, n_systems = 0;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *block = &s->blocks.at[k];
        if (block_rows(block).n_rows > 1)
            text_format(to, "%s%u, %u", n_systems++ ? ", " : "", row, block_rows(block).n_rows);
        if (block->kind == BLOCK_ASSIGN && !term_is_absent(block->u.assign.lhs)) {
            count_term(i, row, block->u.assign.lhs);
            count_term(i, row++, block->u.assign.rhs);
        }
        for (uint32_t r = 0; r < block_rows(block).n_rows; r++, row++) {
            count_term(i, row, s->rows.at[block_rows(block).first_row + r].lhs);
            count_term(i, row, s->rows.at[block_rows(block).first_row + r].rhs);
        }
    }
}

void explore_incidence(const Schedule *schedule, uint32_t cells, Text *to)
{
    Incidence i = { .schedule = schedule };
    map_init(&i.column, to->arena, schedule->blocks.n);
    number_unknowns(&i);
    i.cells = i.n < cells ? i.n : cells;
    i.counts = NEW_ARRAY(to->arena, uint32_t, (size_t)i.cells * i.cells + 1);
    text_format(to, "{ \"size\": %u, \"cells\": %u, \"systems\": [", i.n, i.cells);
    count_entries(&i, to);
    text_add(to, "], \"at\": [");
    bool is_first = true;
    for (uint32_t r = 0; r < i.cells; r++) {
        for (uint32_t c = 0; c < i.cells; c++) {
            const uint32_t count = i.counts[(size_t)r * i.cells + c];
            if (count)
                text_format(to, "%s%u, %u, %u", is_first ? "" : ", ", r, c, count);
            is_first = is_first && !count;
        }
    }
    text_add(to, "] }\n");
}

bool explore(const Schedule *schedule, ExploreKind kind, const ExploreRequest *request, Text *to)
{
    switch (kind) {
    case EXPLORE_COMPONENTS: explore_components(schedule->model, to); break;
    case EXPLORE_VARIABLE: return explore_variable(schedule, request->name, to);
    case EXPLORE_BLOCKS: explore_blocks(schedule, request->first, request->most, to); break;
    case EXPLORE_INCIDENCE: explore_incidence(schedule, request->most, to); break;
    }
    return true;
}
