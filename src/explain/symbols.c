/* Lists of quantities and classes, and the text with messages between its lines; see symbols.h. */
#include "explain/symbols.h"
#include "base/map.h"
#include "explain/hints.h"
#include <stdlib.h>

typedef struct {
    const char *name, *use, *course, *type, *start, *unit;
    const Enumeration *set; /* NULL: none */
} Symbol;
typedef VEC(Symbol) SymbolList;

static const char *name_of(const Model *m, NameId name)
{
    return names_of(pool_names(m->pool), name);
}

static const char *use_of(const Variable *v)
{
    if (v->variability <= VARIABILITY_PARAMETER)
        return "constant";
    if (v->definition == DEFINITION_INPUT || v->causality == CAUSALITY_INPUT)
        return "sensor";
    if (v->definition == DEFINITION_DER || v->definition == DEFINITION_NEXT)
        return "state";
    return v->causality == CAUSALITY_OUTPUT ? "output" : "dependent";
}

static const char *type_of(const Model *m, const Variable *v, Arena *arena)
{
    static const char *const names[] = {
        [TYPE_REAL] = "Real", [TYPE_INTEGER] = "Integer", [TYPE_BOOLEAN] = "Boolean", [TYPE_STRING] = "String"
    };
    Text text = { .arena = arena };
    text_add(&text, v->type.kind == TYPE_ENUM || v->type.kind == TYPE_OBJECT
                        ? name_of(m, pool_get_enumeration(m->pool, v->type.enumeration)->name)
                        : names[v->type.kind]);
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Dim *dim = &m->dims.at[v->first_dim + k];
        text_add(&text, k ? "," : "[");
        if (dim->extent >= 0)
            text_integer(&text, dim->extent);
        else
            text_add(&text, term_text(m, dim->term, arena));
    }
    text_add(&text, v->type.rank ? "]" : "");
    return text.at;
}

static void collect(const Model *m, SymbolList *list, Arena *arena)
{
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (v->is_generated)
            continue;
        const Term start = v->variability <= VARIABILITY_PARAMETER ? v->binding : v->start;
        const bool is_continuous = v->variability == VARIABILITY_CONTINUOUS;
        Symbol symbol = { .name = variable_path(m, (VarId){ k }, arena),
                          .use = use_of(v),
                          .course = v->variability <= VARIABILITY_PARAMETER ? "fixed"
                                    : is_continuous                         ? "continuous"
                                                                            : "discrete",
                          .type = type_of(m, v, arena),
                          .start = term_is_absent(start) ? "" : term_text(m, start, arena),
                          .unit = name_of(m, v->unit) };
        if (v->type.kind == TYPE_ENUM)
            symbol.set = pool_get_enumeration(m->pool, v->type.enumeration);
        vec_push(arena, list, symbol);
        if (v->definition != DEFINITION_DER)
            continue;
        symbol.name = arena_format(arena, "%s'", symbol.name);
        symbol.use = "derivative";
        symbol.start = symbol.unit = "";
        vec_push(arena, list, symbol);
    }
}

static const char *values_of(const Model *m, const Enumeration *set, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; set && k < set->n; k++)
        text_format(&text, "%s%s", k ? (set->is_ordered ? " < " : ", ") : "", name_of(m, set->values[k]));
    return text.at ? text.at : "";
}

static void pad(Text *to, const char *text, size_t width)
{
    text_add(to, text);
    for (size_t n = strlen(text); n < width; n++)
        text_char(to, ' ');
}

void symbols_text(const Model *m, Text *to)
{
    SymbolList list = { 0 };
    collect(m, &list, to->arena);
    size_t name = 4, type = 4, start = 5;
    for (uint32_t k = 0; k < list.n; k++) {
        const size_t sizes[] = { strlen(list.at[k].name), strlen(list.at[k].type), strlen(list.at[k].start) };
        name = sizes[0] > name ? sizes[0] : name;
        type = sizes[1] > type ? sizes[1] : type;
        start = sizes[2] > start && sizes[2] < 20 ? sizes[2] : start;
    }
    const Symbol head = { "name", "use", "course", "type", "start", "unit", NULL };
    for (uint32_t k = 0; k <= list.n; k++) {
        const Symbol *s = k ? &list.at[k - 1] : &head;
        pad(to, s->name, name + 2);
        pad(to, s->use, 12);
        pad(to, s->course, 12);
        pad(to, s->type, type + 2);
        pad(to, s->start, start + 2);
        text_add(to, s->unit);
        if (s->set)
            text_format(to, "%s(%s)", s->unit[0] ? " " : "", values_of(m, s->set, to->arena));
        while (to->n && to->at[to->n - 1] == ' ')
            to->at[--to->n] = 0;
        text_char(to, '\n');
    }
}

void symbols_json(const Model *m, Text *to)
{
    SymbolList list = { 0 };
    collect(m, &list, to->arena);
    text_char(to, '[');
    for (uint32_t k = 0; k < list.n; k++) {
        const Symbol *s = &list.at[k];
        const char *const fields[][2] = { { "name", s->name }, { "use", s->use },     { "course", s->course },
                                          { "type", s->type }, { "start", s->start }, { "unit", s->unit } };
        text_add(to, k ? ",\n{" : "\n{");
        for (uint32_t j = 0; j < sizeof fields / sizeof *fields; j++) {
            text_format(to, "%s\"%s\":", j ? "," : "", fields[j][0]);
            text_json(to, fields[j][1]);
        }
        text_add(to, ",\"values\":");
        text_add(to, s->set ? "[" : "null");
        for (uint32_t j = 0; s->set && j < s->set->n; j++) {
            text_add(to, j ? "," : "");
            text_json(to, name_of(m, s->set->values[j]));
        }
        text_add(to, s->set ? "]}" : "}");
    }
    text_char(to, ']');
}

/* ---- classes ---- */
typedef struct {
    const char *name, *file;
    uint32_t n;
} ClassRow;
typedef VEC(ClassRow) ClassRows;

static void collect_classes(const Model *m, ClassRows *rows, Arena *arena)
{
    const char **files = NEW_ARRAY(arena, const char *, m->instances.n);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (m->variables.at[k].span.source != SOURCE_NONE)
            files[m->variables.at[k].owner.index] = sources_get(m->sources, m->variables.at[k].span.source)->path;
    Map known;
    map_init(&known, arena, 64);
    for (uint32_t k = 1; k < m->instances.n; k++) {
        const char *name = name_of(m, m->instances.at[k].class_name), *file = files[k] ? files[k] : "";
        const uint64_t key = hash_bytes(file, strlen(file), hash_bytes(name, strlen(name), 0));
        uint32_t at;
        if (!map_get(&known, key, &at)) {
            map_put(&known, key, at = rows->n);
            vec_push(arena, rows, ((ClassRow){ name, file, 0 }));
        }
        rows->at[at].n++;
    }
}

void classes_text(const Model *m, Text *to)
{
    ClassRows rows = { 0 };
    collect_classes(m, &rows, to->arena);
    text_format(to, "%u classes\n", rows.n);
    size_t width = 0;
    for (uint32_t k = 0; k < rows.n; k++)
        width = strlen(rows.at[k].name) > width ? strlen(rows.at[k].name) : width;
    for (uint32_t k = 0; k < rows.n; k++) {
        pad(to, rows.at[k].name, width + 2);
        text_format(to, "%6u  %s\n", rows.at[k].n, rows.at[k].file);
    }
}

void classes_json(const Model *m, Text *to)
{
    ClassRows rows = { 0 };
    collect_classes(m, &rows, to->arena);
    text_char(to, '[');
    for (uint32_t k = 0; k < rows.n; k++) {
        text_add(to, k ? ",{\"name\":" : "{\"name\":");
        text_json(to, rows.at[k].name);
        text_format(to, ",\"components\":%u,\"file\":", rows.at[k].n);
        text_json(to, rows.at[k].file);
        text_char(to, '}');
    }
    text_char(to, ']');
}

/* ---- the text with messages ---- */
static int by_place(const void *a, const void *b)
{
    const DiagItem *x = a, *y = b;
    if (x->at.span.begin != y->at.span.begin)
        return x->at.span.begin < y->at.span.begin ? -1 : 1;
    return x->code < y->code ? -1 : x->code > y->code;
}

static void add_message(const Sources *sources, const DiagItem *item, uint32_t margin, Text *to)
{
    const LineColumn at = span_begin(sources, item->at.span);
    text_format(to, "$%*s|\n", (int)(margin + at.column > 2 ? margin + at.column - 2 : 0), "");
    text_format(to, "$ [KN%u] ", item->code);
    for (const char *c = item->at.message; *c; c++)
        text_add(to, *c == '\n' ? "\n$ " : (char[]){ *c, 0 });
    text_char(to, '\n');
}

void listing(const Sources *sources, uint32_t id, const Diag *diag, ListingStyle style, Text *to)
{
    const Source *source = sources_get(sources, id);
    VEC(DiagItem) items = { 0 };
    DiagItem item;
    for (uint32_t k = 0; !style.has_no_messages && diag_item(diag, k, &item); k++)
        if (item.at.span.source == id)
            vec_push(to->arena, &items, item);
    if (items.n > 1)
        qsort(items.at, items.n, sizeof *items.at, by_place);
    const uint32_t margin = style.has_numbers ? 7 : 0;
    uint32_t next = 0, line = 1;
    for (uint32_t begin = 0; begin < source->size; line++) {
        uint32_t end = begin;
        while (end < source->size && source->text[end] != '\n' && source->text[end] != '\r')
            end++;
        if (!style.drops_earlier || source->text[begin] != '$') {
            if (style.has_numbers)
                text_format(to, "%5u  ", line);
            text_bytes(to, source->text + begin, end - begin);
            text_char(to, '\n');
        }
        begin = end + (end + 1 < source->size && source->text[end] == '\r' && source->text[end + 1] == '\n' ? 2 : 1);
        while (next < items.n && (items.at[next].at.span.begin < begin || begin >= source->size))
            add_message(sources, &items.at[next++], margin, to);
    }
    while (next < items.n) /* of an empty text */
        add_message(sources, &items.at[next++], margin, to);
}

void model_list(const Model *model, ListKind kind, bool is_json, Text *to)
{
    static void (*const lists[][2])(const Model *, Text *) = {
        [LIST_SYMBOLS] = { symbols_text, symbols_json },
        [LIST_CLASSES] = { classes_text, classes_json },
        [LIST_HINTS] = { hints_text, hints_json },
    };
    lists[kind][is_json](model, to);
}
