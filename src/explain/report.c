/* The structure of an analysed model, list by list, as text and as JSON; see report.h. */
#include "explain/report.h"
#include "explain/chatter.h"
#include "ir/print.h"
#include "ir/words.h"
#include <string.h>

typedef struct {
    const Schedule *schedule;
    const Model *model;
    ReportStyle style;
    Text *to;
    Arena *arena;
} Report;

/* ---- pieces ---- */
static const char *ref_text(const Report *r, Ref ref)
{
    const char *path = variable_path(r->model, ref.var, r->arena);
    return ref.kind == REF_DER ? arena_format(r->arena, "der(%s)", path) : path;
}

/* "file":...,"line":... without braces; for people: the place. */
static void add_place(const Report *r, Span span)
{
    const bool is_known = span.source != SOURCE_NONE && span.source < sources_count(r->model->sources);
    const char *path = is_known ? sources_get(r->model->sources, span.source)->path : "";
    const uint32_t line = is_known ? span_begin(r->model->sources, span).line : 0;
    if (!r->style.is_json) {
        if (is_known)
            text_format(r->to, "%s:%u", path, line);
        return;
    }
    text_add(r->to, "\"file\":");
    if (is_known)
        text_json(r->to, path);
    else
        text_add(r->to, "null");
    text_format(r->to, ",\"line\":%s", is_known ? arena_format(r->arena, "%u", line) : "null");
}

static void add_name(const Report *r, const char *key, const char *name)
{
    text_format(r->to, "{\"%s\":", key);
    text_json(r->to, name);
    text_char(r->to, ',');
}

static void begin_list(const Report *r, const char *key, const char *title, uint32_t n)
{
    if (r->style.is_json)
        text_format(r->to, ",\"%s\":[", key);
    else if (n)
        text_format(r->to, "\n%s\n", title);
}

static void end_list(const Report *r)
{
    if (r->style.is_json)
        text_char(r->to, ']');
}

/* One element of a list: a name and its place. Returns with the object open in JSON. */
static void begin_item(const Report *r, uint32_t *n, const char *key, const char *name, Span span)
{
    if (r->style.is_json) {
        text_add(r->to, (*n)++ ? ",\n" : "\n");
        add_name(r, key, name);
        add_place(r, span);
        return;
    }
    text_format(r->to, "  %-40s ", name);
    add_place(r, span);
    ++*n;
}

static void end_item(const Report *r)
{
    text_add(r->to, r->style.is_json ? "}" : "\n");
}

/* ---- states and index ---- */
static void list_states(const Report *r)
{
    const Schedule *s = r->schedule;
    uint32_t n = 0;
    begin_list(r, "states", "states", s->states.n);
    for (uint32_t k = 0; k < s->states.n; k++) {
        const Variable *v = model_var(r->model, s->states.at[k]);
        begin_item(r, &n, "name", variable_path(r->model, s->states.at[k], r->arena), v->span);
        const char *wish = word_text(select_words.words[v->select]);
        if (r->style.is_json)
            text_format(r->to, ",\"elements\":%llu,\"wish\":\"%s\"",
                        (unsigned long long)variable_count(r->model, s->states.at[k]), wish);
        else if (v->select != SELECT_DEFAULT)
            text_format(r->to, "  %s", wish);
        end_item(r);
    }
    end_list(r);
}

static bool is_differentiation(const Equation *e)
{
    return e->origin.made_by && e->origin.parent.index != ID_NONE && strcmp(e->origin.made_by, "reduce-index") == 0;
}

static const char *equation_text(const Report *r, const Equation *e)
{
    if (term_is_absent(e->lhs) || term_is_absent(e->rhs))
        return "";
    return arena_format(r->arena, "%s = %s", term_text(r->model, e->lhs, r->arena),
                        term_text(r->model, e->rhs, r->arena));
}

/* Each equation that was differentiated, once, with how often. */
static void list_differentiated(const Report *r)
{
    const Model *m = r->model;
    uint32_t *times = NEW_ARRAY(r->arena, uint32_t, m->equations.n + 1), n = 0, total = 0;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        uint32_t root = k, depth = 0;
        while (is_differentiation(&m->equations.at[root])) {
            root = m->equations.at[root].origin.parent.index;
            depth++;
        }
        total += depth > 0 && times[root] == 0;
        times[root] = depth > times[root] ? depth : times[root];
    }
    begin_list(r, "differentiated", "equations that were differentiated", total);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        if (!times[k])
            continue;
        const Equation *e = &m->equations.at[k];
        begin_item(r, &n, "text", equation_text(r, e), e->origin.span);
        if (r->style.is_json)
            text_format(r->to, ",\"times\":%u", times[k]);
        else
            text_add(r->to, times[k] == 1 ? "  once" : arena_format(r->arena, "  %u times", times[k]));
        end_item(r);
    }
    end_list(r);
}

static bool is_dummy(const Model *m, const Variable *v)
{
    const char *name = names_of(pool_names(m->pool), v->name);
    return !var_is_none(v->origin) && v->definition == DEFINITION_NOW && strncmp(name, "der(", 4) == 0;
}

static void list_dummies(const Report *r)
{
    const Model *m = r->model;
    uint32_t n = 0, total = 0;
    for (uint32_t k = 0; k < m->variables.n; k++)
        total += is_dummy(m, &m->variables.at[k]);
    begin_list(r, "dummy_derivatives", "derivatives that are unknowns of their own", total);
    for (uint32_t k = 0; k < m->variables.n && total; k++)
        if (is_dummy(m, &m->variables.at[k])) {
            begin_item(r, &n, "name", variable_path(m, (VarId){ k }, r->arena), m->variables.at[k].span);
            end_item(r);
        }
    end_list(r);
}

static void list_state_sets(const Report *r)
{
    const Model *m = r->model;
    uint32_t n_chosen = 0, listed = 0;
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        n_chosen += state_set_is_chosen(&m->state_sets.at[k]);
    begin_list(r, "state_sets", "states that are chosen while the model runs", n_chosen);
    for (uint32_t k = 0; k < m->state_sets.n; k++) {
        const StateSet *set = &m->state_sets.at[k];
        uint32_t states = 0, n = 0;
        if (!state_set_is_chosen(set))
            continue;
        for (uint32_t j = 0; j < set->n_levels; j++)
            states += set->n_states[j];
        if (r->style.is_json) {
            text_format(r->to, "%s{\"states\":%u,", listed++ ? ",\n" : "\n", states);
            add_place(r, set->span);
            text_add(r->to, ",\"candidates\":[");
        } else {
            text_format(r->to, "  %u of ", states);
        }
        for (uint32_t j = 0; j < set->n_levels * set->n_columns; j++) {
            if (var_is_none(set->candidate[j]))
                continue;
            text_add(r->to, n++ ? (r->style.is_json ? "," : ", ") : "");
            const char *name = variable_path(m, set->candidate[j], r->arena);
            if (r->style.is_json)
                text_json(r->to, name);
            else
                text_add(r->to, name);
        }
        text_add(r->to, r->style.is_json ? "]}" : "\n");
    }
    end_list(r);
}

/* ---- blocks ---- */
typedef struct {
    const char *name, *kind;
    const SystemRow *rows; /* NULL: no equations, or one that computes its left side */
    uint32_t n_rows, n_inner, torn;
    bool is_linear;
} BlockView;

static BlockView view_of(const Report *r, const Schedule *s, uint32_t k, bool is_initial)
{
    const Block *b = &s->blocks.at[k];
    BlockView v = { .name = arena_format(r->arena, "%c%u", is_initial ? 'i' : 'b', k + 1),
                    .kind = block_solved(b).n_rows ? "formula" : word_text(block_words.words[b->kind]),
                    .is_linear = b->kind != BLOCK_NEWTON && b->kind != BLOCK_ITERATE };
    if (block_is_system(b)) {
        v.rows = s->rows.at + block_rows(b).first_row;
        v.n_rows = block_rows(b).n_rows;
        v.n_inner = b->kind == BLOCK_ITERATE ? 0 : block_rows(b).n_inner;
        v.torn = v.n_rows - v.n_inner;
    } else if (block_solved(b).n_rows) {
        v.rows = s->rows.at + block_solved(b).first_row;
        v.n_rows = block_solved(b).n_rows;
        v.n_inner = block_solved(b).n_inner;
        v.torn = v.n_rows - v.n_inner;
    }
    return v;
}

static void add_row(const Report *r, const SystemRow *row, bool is_explicit)
{
    const Equation *e = &r->model->equations.at[row->equation.index];
    const char *text = arena_format(r->arena, "%s = %s", term_text(r->model, row->lhs, r->arena),
                                    term_text(r->model, row->rhs, r->arena));
    if (r->style.is_json) {
        text_add(r->to, "\n{\"text\":");
        text_json(r->to, text);
        text_char(r->to, ',');
        add_place(r, e->origin.span);
        text_format(r->to, ",\"explicit\":%s}", is_explicit ? "true" : "false");
        return;
    }
    text_format(r->to, "      %s  for %s%s  ", text, ref_text(r, row->unknown), is_explicit ? ", explicit" : "");
    add_place(r, e->origin.span);
    text_char(r->to, '\n');
}

static void add_unknown(const Report *r, Ref ref, bool is_iterated)
{
    text_add(r->to, "{\"name\":");
    text_json(r->to, ref_text(r, ref));
    text_char(r->to, ',');
    add_place(r, model_var(r->model, ref.var)->span);
    text_format(r->to, ",\"iterated\":%s}", is_iterated ? "true" : "false");
}

/* A block that is no system: an assignment, a comparison, an event. */
static void add_single(const Report *r, const Block *b)
{
    const Model *m = r->model;
    const bool is_assignment = b->kind == BLOCK_ASSIGN;
    const Ref target = is_assignment ? term_refs(m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf] : ref_now(VAR_NONE);
    const Span span = is_assignment && b->equation.index != ID_NONE ? m->equations.at[b->equation.index].origin.span
                      : b->kind == BLOCK_RELATION                   ? m->relations.at[b->u.object].origin.span
                      : b->kind == BLOCK_STEP                       ? m->steps.at[b->u.object].origin.span
                      : b->kind == BLOCK_TRANSITION                 ? m->transitions.at[b->u.object].origin.span
                                                                    : SPAN_NONE;
    const char *text = is_assignment ? arena_format(r->arena, "%s := %s", term_text(m, b->u.assign.lhs, r->arena),
                                                    term_text(m, b->u.assign.rhs, r->arena))
                                     : "";
    if (!r->style.is_json) {
        text_format(r->to, "      %s  ", text);
        add_place(r, span);
        text_char(r->to, '\n');
        return;
    }
    text_add(r->to, ",\"equations\":[{\"text\":");
    text_json(r->to, text);
    text_char(r->to, ',');
    add_place(r, span);
    text_format(r->to, ",\"explicit\":%s}],\"unknowns\":[", is_assignment ? "true" : "false");
    if (is_assignment)
        add_unknown(r, target, false);
    text_char(r->to, ']');
}

static void add_system(const Report *r, const BlockView *v)
{
    if (r->style.is_json)
        text_add(r->to, ",\"equations\":[");
    for (uint32_t k = 0; k < v->n_rows; k++) {
        text_add(r->to, r->style.is_json && k ? "," : "");
        add_row(r, &v->rows[k], k < v->n_inner);
    }
    if (!r->style.is_json)
        return;
    text_add(r->to, "],\"unknowns\":[");
    for (uint32_t k = 0; k < v->n_rows; k++) {
        text_add(r->to, k ? ",\n" : "\n");
        add_unknown(r, v->rows[k].unknown, k >= v->n_inner);
    }
    text_char(r->to, ']');
}

static void list_blocks_of(Report *r, const Schedule *s, bool is_initial, uint32_t *n)
{
    for (uint32_t k = 0; s && k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        Arena *own = r->arena;
        if (!block_is_system(b) && !block_solved(b).n_rows && !r->style.has_all_blocks)
            continue;
        r->arena = arena_create_like(own);
        const BlockView v = view_of(r, s, k, is_initial);
        if (r->style.is_json)
            text_format(r->to,
                        "%s{\"block\":\"%s\",\"kind\":\"%s\",\"size\":%u,\"torn\":%u,\"linear\":%s,\"moving\":%s,"
                        "\"mixed\":%u",
                        *n ? ",\n" : "\n", v.name, v.kind, v.n_rows ? v.n_rows : 1, v.torn,
                        v.is_linear ? "true" : "false", b->is_moving ? "true" : "false", b->mixed);
        else
            text_format(r->to, "  %s %s, %u equation%s, %u left after tearing%s\n", v.name, v.kind,
                        v.n_rows ? v.n_rows : 1, v.n_rows > 1 ? "s" : "", v.torn,
                        b->mixed ? ", decides together with comparisons" : "");
        ++*n;
        if (v.rows)
            add_system(r, &v);
        else
            add_single(r, b);
        text_add(r->to, r->style.is_json ? "}" : "");
        arena_destroy(r->arena);
        r->arena = own;
    }
}

static void list_blocks(Report *r)
{
    uint32_t n = 0;
    begin_list(r, "blocks", r->style.has_all_blocks ? "blocks" : "systems of equations", 1);
    list_blocks_of(r, r->schedule, false, &n);
    list_blocks_of(r, r->schedule->initial, true, &n);
    if (!r->style.is_json && n == 0)
        text_add(r->to, "  none\n");
    end_list(r);
}

/* ---- comparisons ---- */
static void list_relations(const Report *r)
{
    const Model *m = r->model;
    const ChatterOf *chatter = find_chatter(r->schedule, r->arena);
    uint32_t *mixed = NEW_ARRAY(r->arena, uint32_t, m->relations.n + 1), n = 0;
    for (uint32_t k = 0; k < r->schedule->blocks.n; k++)
        if (r->schedule->blocks.at[k].kind == BLOCK_RELATION)
            mixed[r->schedule->blocks.at[k].u.object] = r->schedule->blocks.at[k].mixed;
    begin_list(r, "relations", "comparisons", m->relations.n);
    for (uint32_t k = 0; k < m->relations.n; k++) {
        const Relation *of = &m->relations.at[k];
        const bool is_possible = chatter[k].verdict == CHATTER_POSSIBLE;
        Text sides = { .arena = r->arena };
        term_print(m, of->left, of->domain, &sides);
        text_format(&sides, " %s ", of->is_strict ? ">" : ">=");
        term_print(m, of->right, of->domain, &sides);
        const char *text = sides.at;
        begin_item(r, &n, "text", text, of->origin.span);
        if (!r->style.is_json) {
            text_add(r->to, chatter[k].verdict == CHATTER_UNKNOWN ? "  not looked at" : "");
            if (is_possible)
                text_format(r->to, "  may chatter: it changes der(%s)", ref_text(r, chatter[k].through));
            end_item(r);
            continue;
        }
        text_format(r->to, ",\"kind\":\"%s\",\"mixed\":%u,\"can_chatter\":%s,\"through\":",
                    word_text(relation_words.words[of->kind]), mixed[k],
                    chatter[k].verdict == CHATTER_UNKNOWN ? "null"
                    : is_possible                         ? "true"
                                                          : "false");
        if (is_possible)
            text_json(r->to, ref_text(r, chatter[k].through));
        else
            text_add(r->to, "null");
        end_item(r);
    }
    end_list(r);
}

void report_structure(const Schedule *schedule, ReportStyle style, Text *to)
{
    Report r = {
        .schedule = schedule, .model = schedule->model, .style = style, .to = to, .arena = arena_create_like(to->arena)
    };
    if (style.is_json)
        text_format(to, "{\"index\":%u", style.index);
    list_states(&r);
    list_differentiated(&r);
    list_dummies(&r);
    list_state_sets(&r);
    list_blocks(&r);
    list_relations(&r);
    if (style.is_json)
        text_add(to, "\n}");
    arena_destroy(r.arena);
}
