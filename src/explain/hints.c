/* Looking for what a model has and does not need; see hints.h. */
#include "explain/hints.h"

typedef struct {
    const Model *model;
    bool *is_read;    /* per variable: some term names it, or a connection leads away from it */
    bool *is_reached; /* ... a connection leads to it */
    bool *is_changed; /* ... an event assigns it, or its derivative is not 0 */
} Uses;

static void note_derivatives(Uses *u)
{
    const Model *m = u->model;
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind == EQUATION_DROPPED || term_is_absent(e->lhs))
            continue;
        const bool is_rest = !term_is_absent(e->rhs) && expr_is_real(e->rhs.shape, 0);
        for (uint32_t j = 0; j < e->lhs.shape->n_leaves && !is_rest; j++)
            if (term_refs(m, e->lhs)[j].kind == REF_DER)
                u->is_changed[term_refs(m, e->lhs)[j].var.index] = true;
    }
}

static Uses find_uses(const Model *m, Arena *arena)
{
    Uses u = { .model = m,
               .is_read = NEW_ARRAY(arena, bool, m->variables.n + 1),
               .is_reached = NEW_ARRAY(arena, bool, m->variables.n + 1),
               .is_changed = NEW_ARRAY(arena, bool, m->variables.n + 1) };
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind != REF_TIME && m->refs.at[k].var.index < m->variables.n)
            u.is_read[m->refs.at[k].var.index] = true;
    for (uint32_t k = 0; k < m->connections.n; k++)
        if (!m->connections.at[k].is_acausal) {
            u.is_read[m->connections.at[k].from.index] = true;
            u.is_reached[m->connections.at[k].to.index] = true;
        }
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        const Term target = m->assignments.at[k].target;
        u.is_changed[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
    }
    note_derivatives(&u);
    return u;
}

/* NULL: nothing to say. */
static const char *hint_of(const Uses *u, uint32_t index)
{
    const Variable *v = &u->model->variables.at[index];
    if (v->is_generated || v->is_synonym || strcmp(u->model->instances.at[v->owner.index].language, "simplex") != 0)
        return NULL;
    switch ((Definition)v->definition) {
    case DEFINITION_BINDING: return u->is_read[index] ? NULL : "the constant '%s' is not used";
    case DEFINITION_INPUT:
        if (!u->is_read[index])
            return "the sensor '%s' is not read";
        return v->owner.index && !u->is_reached[index] ? "the sensor '%s' is open: it keeps its initial value" : NULL;
    case DEFINITION_NEXT:
    case DEFINITION_DER: return u->is_changed[index] ? NULL : "nothing changes the state variable '%s'";
    default: return NULL;
    }
}

static void list(const Model *m, bool is_json, Text *to)
{
    enum { MOST_SHOWN = 20 };
    Arena *scratch = arena_create_like(to->arena);
    const Uses u = find_uses(m, scratch);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const char *hint = hint_of(&u, k);
        if (!hint || (!is_json && n++ >= MOST_SHOWN))
            continue;
        const Span span = m->variables.at[k].span;
        const bool has_place = span.source != SOURCE_NONE;
        const LineColumn at = has_place ? span_begin(m->sources, span) : (LineColumn){ 0 };
        const char *file = has_place ? sources_get(m->sources, span.source)->path : "";
        const char *path = variable_path(m, (VarId){ k }, scratch);
        Text text = { .arena = scratch };
        for (const char *c = hint; *c; c++)
            if (*c == '%' && c[1] == 's')
                text_add(&text, path), c++;
            else
                text_char(&text, *c);
        if (!is_json) {
            text_format(to, "hint: %s:%u:%u: %s\n", file, at.line, at.column, text.at);
            continue;
        }
        text_add(to, n++ ? ",\n{\"text\":" : "\n{\"text\":");
        text_json(to, text.at);
        text_add(to, ",\"name\":");
        text_json(to, path);
        text_add(to, ",\"file\":");
        text_json(to, file);
        text_format(to, ",\"line\":%u,\"column\":%u}", at.line, at.column);
    }
    if (!is_json && n > MOST_SHOWN)
        text_format(to, "hint: and %u more; --json has all of them\n", n - MOST_SHOWN);
    arena_destroy(scratch);
}

void hints_text(const Model *model, Text *to)
{
    list(model, false, to);
}

void hints_json(const Model *model, Text *to)
{
    text_char(to, '[');
    list(model, true, to);
    text_char(to, ']');
}
