/* A block, its equations, its Jacobian and its iterations in words, or the list of blocks; see inspect.h. */
#include "explain/inspect.h"
#include "base/map.h"
#include "ir/dependence.h"
#include "ir/words.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_ITERATES = 1000, MOST_COLUMNS = 12, MOST_PATTERN = 60, MOST_NAMES = 4 };

/* ---- following a solution ---- */
void trace_iterated(void *context, const KoineModel *model, const KoineIterate *iterate)
{
    Trace *trace = context;
    const KoineSystem *s = trace->system;
    if (!s || iterate->origin != s->origin)
        return;
    if (iterate->step == 0 && iterate->way == KOINE_WAY_LAST)
        trace->rows.n = 0;
    if (trace->rows.n >= MOST_ITERATES)
        return;
    const KoineSlot *m = (const KoineSlot *)(const void *)model->block;
    double *values = NEW_ARRAY(trace->arena, double, s->n);
    for (uint32_t j = 0; j < s->n; j++)
        values[j] = m[s->unknowns[j]].r;
    const TraceRow row = { *iterate, values };
    vec_push(trace->arena, &trace->rows, row);
}

/* ---- blocks ---- */
static const Schedule *schedule_of(const Inspection *of, bool is_initial)
{
    return is_initial ? of->schedule->initial : of->schedule;
}

/* Equations that are solved together, also by formulas. */
static bool is_system(const Block *b)
{
    return b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON || b->kind == BLOCK_ITERATE || block_solved(b).n_rows;
}

static uint32_t rows_of(const Block *b)
{
    return block_solved(b).n_rows ? block_solved(b).n_rows : block_rows(b).n_rows;
}

static uint32_t first_row_of(const Block *b)
{
    return block_solved(b).n_rows ? block_solved(b).first_row : block_rows(b).first_row;
}

/* Rows at the beginning that are explicit. */
static uint32_t inner_of(const Block *b)
{
    if (block_solved(b).n_rows)
        return block_solved(b).n_inner;
    return b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON ? block_rows(b).n_inner : 0;
}

bool inspect_find(const Inspection *of, const char *name, uint32_t *block, bool *is_initial)
{
    *is_initial = name[0] == 'i';
    const char *number = name + (name[0] == 'i' || name[0] == 'b');
    char *end;
    const unsigned long value = strtoul(number, &end, 10);
    const Schedule *s = schedule_of(of, *is_initial);
    if (*number < '0' || *number > '9' || *end || value == 0 || !s || value > s->blocks.n)
        return false;
    *block = (uint32_t)value - 1;
    return true;
}

const KoineSystem *inspect_system(const Inspection *of, uint32_t block, bool is_initial)
{
    const KoineProgram *p = program_data(of->program);
    const uint32_t origin = is_initial ? schedule_initial_origin(of->schedule) + block : block;
    for (uint32_t k = 0; k < p->systems.n; k++)
        if (p->systems.at[k].origin == origin)
            return &p->systems.at[k];
    return NULL;
}

static const char *ref_text(const Model *m, Ref ref, Arena *arena)
{
    const char *path = variable_path(m, ref.var, arena);
    return ref.kind == REF_DER ? arena_format(arena, "der(%s)", path) : path;
}

static const char *place_text(const Model *m, Span span, Arena *arena)
{
    if (span.source == SOURCE_NONE)
        return "";
    const LineColumn at = span_begin(m->sources, span);
    return arena_format(arena, "%s:%u:%u", sources_get(m->sources, span.source)->path, at.line, at.column);
}

static const char *kind_word(const Block *b)
{
    return block_solved(b).n_rows ? "formula" : word_text(block_words.words[b->kind]);
}

static Span block_span(const Model *m, const Block *b)
{
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN:
        return b->equation.index == ID_NONE ? SPAN_NONE : m->equations.at[b->equation.index].origin.span;
    case BLOCK_RELATION: return m->relations.at[b->u.object].origin.span;
    case BLOCK_STEP: return m->steps.at[b->u.object].origin.span;
    case BLOCK_TRANSITION: return m->transitions.at[b->u.object].origin.span;
    }
    return SPAN_NONE;
}

/* What a block computes. */
static const char *unknowns_text(const Inspection *of, const Schedule *s, const Block *b, Arena *arena)
{
    const Model *m = of->schedule->model;
    Text text = { .arena = arena };
    if (b->kind == BLOCK_ASSIGN && !block_solved(b).n_rows)
        return ref_text(m, term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf], arena);
    const uint32_t first = inner_of(b) < rows_of(b) ? inner_of(b) : 0; /* those that are iterated */
    for (uint32_t k = first; is_system(b) && k < rows_of(b); k++) {
        if (k - first == MOST_NAMES) {
            text_add(&text, ", ...");
            break;
        }
        text_format(&text, "%s%s", k > first ? ", " : "", ref_text(m, s->rows.at[first_row_of(b) + k].unknown, arena));
    }
    return text.at ? text.at : "";
}

static uint32_t size_of(const Block *b)
{
    return is_system(b) ? rows_of(b) : 1;
}

static uint32_t iterated_of(const Block *b)
{
    return is_system(b) ? rows_of(b) - inner_of(b) : 0;
}

static void list_blocks(const Inspection *of, bool is_initial, bool is_complete, uint32_t *n, Text *to)
{
    const Schedule *s = schedule_of(of, is_initial);
    const Model *m = of->schedule->model;
    for (uint32_t k = 0; s && k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        if (!is_complete && !is_system(b))
            continue;
        Arena *scratch = arena_create_like(to->arena);
        const char *unknowns = unknowns_text(of, s, b, scratch), *place = place_text(m, block_span(m, b), scratch);
        const char *name = arena_format(scratch, "%c%u", is_initial ? 'i' : 'b', k + 1);
        if (of->is_json) {
            text_format(to, "%s\n{\"block\":\"%s\",\"kind\":\"%s\",\"size\":%u,\"iterated\":%u,\"unknowns\":",
                        *n ? "," : "", name, kind_word(b), size_of(b), iterated_of(b));
            text_json(to, unknowns);
            text_add(to, ",\"place\":");
            text_json(to, place);
            text_char(to, '}');
        } else {
            if (*n == 0)
                text_format(to, "%-8s %-10s %6s %9s  %-40s %s\n", "block", "kind", "size", "iterated", "unknowns",
                            "place");
            text_format(to, "%-8s %-10s %6u %9u  %-40s %s\n", name, kind_word(b), size_of(b), iterated_of(b), unknowns,
                        place);
        }
        ++*n;
        arena_destroy(scratch);
    }
}

void inspect_list(const Inspection *of, bool is_complete, Text *to)
{
    uint32_t n = 0;
    if (of->is_json) {
        text_add(to, "{\"file\":");
        text_json(to, of->file);
        text_add(to, ",\"blocks\":[");
    }
    list_blocks(of, false, is_complete, &n, to);
    list_blocks(of, true, is_complete, &n, to);
    if (of->is_json)
        text_add(to, "]}\n");
    else if (n == 0)
        text_format(to, "no systems of equations: %u blocks are computed one after the other; --all lists them\n",
                    of->schedule->blocks.n);
}

/* ---- one block ---- */
typedef struct {
    const Inspection *of;
    const InspectedBlock *what;
    const Schedule *schedule;
    const Block *block;
    Model *model;
    const KoineSlot *m;
    const KoineSystem *system; /* or NULL */
    Arena *arena;
    Text *to;
} View;

static Value value_of(void *context, Ref ref)
{
    const View *v = context;
    const uint32_t slot = program_slot(v->of->program, ref);
    Value value = { .r = NAN };
    if (slot != KOINE_NONE)
        memcpy(&value, &v->m[slot], sizeof value);
    return value;
}

typedef struct {
    uint32_t row, column;
    double value;
} Cell;
typedef VEC(Cell) Cells;

static Cells jacobian_of(View *v)
{
    Cells cells = { 0 };
    const SystemRow *rows = v->schedule->rows.at + first_row_of(v->block);
    const uint32_t n = rows_of(v->block);
    Map columns;
    map_init(&columns, v->arena, n);
    for (uint32_t k = 0; k < n; k++)
        map_put(&columns, (uint64_t)rows[k].unknown.kind << 32 | rows[k].unknown.var.index, k);
    double *line = NEW_ARRAY(v->arena, double, n + 1);
    uint32_t *used = NEW_ARRAY(v->arena, uint32_t, n + 1);
    const ValueSource source = { .model = v->model, .value = value_of, .context = v };
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t n_used = row_derivatives(&source, &rows[k], &columns, v->arena, line, used);
        for (uint32_t j = 0; j < n_used; j++) {
            const Cell cell = { k, used[j], line[used[j]] };
            vec_push(v->arena, &cells, cell);
            line[used[j]] = 0;
        }
    }
    return cells;
}

static void add_number(Text *to, double value)
{
    if (isfinite(value))
        text_real(to, value);
    else
        text_add(to, "null");
}

static bool is_explicit(const View *v, uint32_t row)
{
    return row < inner_of(v->block);
}

static Span row_span(const View *v, const SystemRow *row)
{
    return v->model->equations.at[row->equation.index].origin.span;
}

static const char *row_text(const View *v, const SystemRow *row)
{
    return arena_format(v->arena, "%s = %s", term_text(v->model, row->lhs, v->arena),
                        term_text(v->model, row->rhs, v->arena));
}

static double start_of(const View *v, Ref ref)
{
    const Term start = model_var(v->model, ref.var)->start;
    return ref.kind == REF_NOW && start.shape && start.shape->kind == EXPR_REAL ? start.shape->u.real : 0;
}

static double real_of(Term term, double otherwise)
{
    return term.shape && term.shape->kind == EXPR_REAL ? term.shape->u.real : otherwise;
}

static double number_of(const View *v, Ref ref)
{
    const Value value = value_of((void *)v, ref);
    return ref_type(v->model, ref).kind == TYPE_REAL ? value.r : (double)value.i;
}

static const char *const WAYS[] = { [KOINE_WAY_LAST] = "last solution",
                                    [KOINE_WAY_START] = "start values",
                                    [KOINE_WAY_BESIDE] = "beside the start values",
                                    [KOINE_WAY_KINSOL] = "KINSOL",
                                    [KOINE_WAY_HOMOTOPY] = "homotopy" };

static const char *block_name(const View *v)
{
    return arena_format(v->arena, "%c%u", v->what->is_initial ? 'i' : 'b', v->what->block + 1);
}

/* The assignment of an unknown of a system that became formulas: it stands at the system's block or behind it. */
static const Block *formula_of(const Schedule *s, uint32_t block, Ref unknown)
{
    for (uint32_t k = block; k < s->blocks.n && s->blocks.at[k].level == s->blocks.at[block].level; k++) {
        const Block *b = &s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN && b->u.assign.lhs.shape->kind == EXPR_LEAF &&
            ref_equal(term_refs(s->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf], unknown))
            return b;
    }
    return NULL;
}

/* ---- as JSON ---- */
static void json_rows(const View *v)
{
    Text *to = v->to;
    const SystemRow *rows = v->schedule->rows.at + first_row_of(v->block);
    text_add(to, ",\"equations\":[");
    for (uint32_t k = 0; k < rows_of(v->block); k++) {
        text_format(to, "%s\n{\"row\":%u,\"place\":", k ? "," : "", k + 1);
        text_json(to, place_text(v->model, row_span(v, &rows[k]), v->arena));
        text_add(to, ",\"text\":");
        text_json(to, row_text(v, &rows[k]));
        text_format(to, ",\"explicit\":%s}", is_explicit(v, k) ? "true" : "false");
    }
    text_add(to, "],\"unknowns\":[");
    for (uint32_t k = 0; k < rows_of(v->block); k++) {
        const Ref ref = rows[k].unknown;
        const Variable *variable = model_var(v->model, ref.var);
        text_format(to, "%s\n{\"column\":%u,\"name\":", k ? "," : "", k + 1);
        text_json(to, ref_text(v->model, ref, v->arena));
        text_add(to, ",\"value\":");
        add_number(to, number_of(v, ref));
        text_add(to, ",\"start\":");
        add_number(to, start_of(v, ref));
        text_add(to, ",\"nominal\":");
        add_number(to, real_of(variable->nominal, NAN));
        text_add(to, ",\"min\":");
        add_number(to, real_of(variable->min, NAN));
        text_add(to, ",\"max\":");
        add_number(to, real_of(variable->max, NAN));
        text_format(to, ",\"iterated\":%s}", is_explicit(v, k) ? "false" : "true");
    }
    text_char(to, ']');
}

static void json_jacobian(View *v)
{
    const Cells cells = jacobian_of(v);
    text_add(v->to, ",\"jacobian\":[");
    for (uint32_t k = 0; k < cells.n; k++) {
        text_format(v->to, "%s{\"row\":%u,\"column\":%u,\"value\":", k ? "," : "", cells.at[k].row + 1,
                    cells.at[k].column + 1);
        add_number(v->to, cells.at[k].value);
        text_char(v->to, '}');
    }
    text_char(v->to, ']');
}

static void json_iterates(const View *v)
{
    const Trace *trace = v->what->trace;
    text_add(v->to, ",\"iterates\":[");
    for (uint32_t k = 0; k < trace->rows.n; k++) {
        const TraceRow *row = &trace->rows.at[k];
        text_format(v->to, "%s\n{\"way\":\"%s\",\"step\":%u,\"fraction\":", k ? "," : "", WAYS[row->at.way],
                    row->at.step);
        add_number(v->to, row->at.fraction);
        text_add(v->to, ",\"length\":");
        add_number(v->to, row->at.length);
        text_add(v->to, ",\"residual\":");
        add_number(v->to, row->at.residual);
        text_add(v->to, ",\"values\":[");
        for (uint32_t j = 0; j < trace->system->n; j++) {
            text_add(v->to, j ? "," : "");
            add_number(v->to, row->values[j]);
        }
        text_add(v->to, "]}");
    }
    text_char(v->to, ']');
}

static void json_formulas(const View *v)
{
    const Block *b = v->block;
    text_add(v->to, ",\"formulas\":[");
    for (uint32_t k = 0; k < block_solved(b).n_rows - block_solved(b).n_inner; k++) {
        const Ref unknown = v->schedule->rows.at[block_solved(b).first_row + block_solved(b).n_inner + k].unknown;
        const Block *own = formula_of(v->schedule, v->what->block, unknown);
        text_add(v->to, k ? ",{\"unknown\":" : "{\"unknown\":");
        text_json(v->to, ref_text(v->model, unknown, v->arena));
        text_add(v->to, ",\"text\":");
        text_json(v->to, own ? term_text(v->model, own->u.assign.rhs, v->arena) : "");
        text_char(v->to, '}');
    }
    text_char(v->to, ']');
}

static void block_json(View *v)
{
    Text *to = v->to;
    const Block *b = v->block;
    text_add(to, "{\"file\":");
    text_json(to, v->of->file);
    text_format(to, ",\"block\":\"%s\",\"kind\":\"%s\",\"size\":%u,\"iterated\":%u,\"time\":", block_name(v),
                kind_word(b), size_of(b), iterated_of(b));
    add_number(to, v->what->time);
    text_add(to, ",\"failure\":");
    if (v->what->failure)
        text_json(to, v->what->failure);
    else
        text_add(to, "null");
    if (is_system(b)) {
        json_rows(v);
        json_jacobian(v);
        json_iterates(v);
        json_formulas(v);
    }
    text_add(to, "}\n");
}

/* ---- for people ---- */
static void text_rows(const View *v)
{
    Text *to = v->to;
    const SystemRow *rows = v->schedule->rows.at + first_row_of(v->block);
    const bool is_torn = inner_of(v->block) > 0;
    text_add(to, "\nequations\n");
    for (uint32_t k = 0; k < rows_of(v->block); k++)
        text_format(to, "%4u  %s%s\n      %s\n", k + 1, place_text(v->model, row_span(v, &rows[k]), v->arena),
                    !is_torn            ? ""
                    : is_explicit(v, k) ? ", explicit"
                                        : ", residual",
                    row_text(v, &rows[k]));
    text_add(to, "\nunknowns\n");
    for (uint32_t k = 0; k < rows_of(v->block); k++) {
        const Ref ref = rows[k].unknown;
        text_format(to, "%4u  %-32s %-24.17g start %g%s\n", k + 1, ref_text(v->model, ref, v->arena), number_of(v, ref),
                    start_of(v, ref), is_torn && !is_explicit(v, k) ? ", iterated" : "");
    }
}

static void text_jacobian(View *v)
{
    const Cells cells = jacobian_of(v);
    Text *to = v->to;
    const uint32_t n = rows_of(v->block);
    text_format(to, "\nJacobian: %u of %llu entries; rows are equations, columns unknowns\n", cells.n,
                (unsigned long long)n * n);
    if (n > MOST_PATTERN) {
        text_format(to, "  more than %d columns: --json has the entries\n", MOST_PATTERN);
        return;
    }
    const bool has_values = n <= MOST_COLUMNS;
    text_add(to, "      ");
    for (uint32_t j = 0; has_values && j < n; j++)
        text_format(to, " %10u", j + 1);
    text_char(to, '\n');
    for (uint32_t k = 0, at = 0; k < n; k++) {
        text_format(to, "%4u  ", k + 1);
        for (uint32_t j = 0; j < n; j++) {
            const Cell *found = NULL;
            for (uint32_t i = at; i < cells.n && cells.at[i].row == k; i++)
                if (cells.at[i].column == j)
                    found = &cells.at[i];
            if (has_values && found)
                text_format(to, " %10.4g", found->value);
            else
                text_format(to, has_values ? "          %c" : "%c", found ? 'x' : '.');
        }
        while (at < cells.n && cells.at[at].row == k)
            at++;
        text_char(to, '\n');
    }
}

static void text_iterates(const View *v)
{
    const Trace *trace = v->what->trace;
    Text *to = v->to;
    if (trace->rows.n == 0)
        return;
    text_add(to, "\niterates\n  way                       step  fraction    length   residual");
    const uint32_t shown = trace->system->n < MOST_NAMES ? trace->system->n : MOST_NAMES;
    for (uint32_t j = 0; j < shown; j++)
        text_format(to, "  %16s", trace->system->names[j]);
    text_char(to, '\n');
    for (uint32_t k = 0; k < trace->rows.n; k++) {
        const TraceRow *row = &trace->rows.at[k];
        text_format(to, "  %-24s %5u %9.3g %9.3g  %9.3g", WAYS[row->at.way], row->at.step, row->at.fraction,
                    row->at.length, row->at.residual);
        for (uint32_t j = 0; j < shown; j++)
            text_format(to, "  %16.9g", row->values[j]);
        text_char(to, '\n');
    }
}

/* A hidden parameter, and what it is. */
static void add_parameter(const View *v, const char *word, VarId var)
{
    const Variable *p = model_var(v->model, var);
    text_format(v->to, "      %s %s = %s = %g\n", word, variable_path(v->model, var, v->arena),
                term_text(v->model, p->binding, v->arena), number_of(v, ref_now(var)));
}

static void add_parameters(const View *v, Term formula)
{
    for (uint32_t k = 0; k < formula.shape->n_leaves; k++) {
        const Ref ref = term_refs(v->model, formula)[k];
        const Variable *p = ref.kind == REF_NOW ? model_var(v->model, ref.var) : NULL;
        if (p && p->is_generated && p->definition == DEFINITION_BINDING)
            add_parameter(v, "where", ref.var);
    }
}

/* Of the unknowns that are left; the others follow by the explicit equations. */
static void text_formulas(const View *v)
{
    const Schedule *s = v->schedule;
    const Block *b = v->block;
    if (!block_solved(b).n_rows)
        return;
    text_add(v->to, "\nformulas\n");
    for (uint32_t k = 0; k < block_solved(b).n_rows - block_solved(b).n_inner; k++) {
        const Ref unknown = s->rows.at[block_solved(b).first_row + block_solved(b).n_inner + k].unknown;
        const Block *own = formula_of(s, v->what->block, unknown);
        if (!own)
            continue;
        text_format(v->to, "      %s := %s\n", ref_text(v->model, unknown, v->arena),
                    term_text(v->model, own->u.assign.rhs, v->arena));
        add_parameters(v, own->u.assign.rhs);
    }
    if (block_check(b))
        add_parameter(v, "not 0:", (VarId){ block_check(b) - 1 });
}

static void block_text(View *v)
{
    const Block *b = v->block;
    Text *to = v->to;
    text_format(to, "block %s of %s: %s", block_name(v), v->of->file, kind_word(b));
    if (is_system(b)) {
        text_format(to, ", %u equation%s", rows_of(b), rows_of(b) == 1 ? "" : "s");
        if (inner_of(b))
            text_format(to, ", %u unknown%s %s", iterated_of(b), iterated_of(b) == 1 ? "" : "s",
                        block_solved(b).n_rows ? "by formulas" : "iterated");
    }
    text_format(to, "\ntime %g%s%s\n", v->what->time, v->what->failure ? ", failed: " : "",
                v->what->failure ? v->what->failure : "");
    if (is_system(b)) {
        text_rows(v);
        text_jacobian(v);
        text_iterates(v);
        text_formulas(v);
    } else if (b->kind == BLOCK_ASSIGN) {
        const Ref ref = term_refs(v->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
        text_format(to, "%s\n  %s := %s\n", place_text(v->model, block_span(v->model, b), v->arena),
                    term_text(v->model, b->u.assign.lhs, v->arena), term_text(v->model, b->u.assign.rhs, v->arena));
        if (model_var(v->model, ref.var)->type.rank == 0)
            text_format(to, "  %s = %.17g\n", ref_text(v->model, ref, v->arena), number_of(v, ref));
    } else {
        text_format(to, "%s\n", place_text(v->model, block_span(v->model, b), v->arena));
    }
}

void inspect_block(const Inspection *of, const InspectedBlock *what, Text *to)
{
    Arena *arena = arena_create_like(to->arena);
    const Schedule *s = schedule_of(of, what->is_initial);
    View v = { .of = of,
               .what = what,
               .schedule = s,
               .block = &s->blocks.at[what->block],
               .model = (Model *)of->schedule->model, /* terms are added to it, nothing in it is changed */
               .m = (const KoineSlot *)(const void *)what->model->block,
               .system = inspect_system(of, what->block, what->is_initial),
               .arena = arena,
               .to = to };
    (of->is_json ? block_json : block_text)(&v);
    arena_destroy(arena);
}

Inspection inspection_of(const Schedule *schedule, const Program *program, const Sources *sources, bool is_json)
{
    const Span span = schedule->model->span;
    return (Inspection){ .schedule = schedule,
                         .program = program,
                         .file = span.source == SOURCE_NONE ? "" : sources_get(sources, span.source)->path,
                         .is_json = is_json };
}
