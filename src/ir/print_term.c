/* Names, places and expressions of the text form; see print_term.h. */
#include "ir/print_term.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "ir/routine.h"

Printer printer_create(const Model *model, Text *to, PrintOptions options)
{
    return (Printer){ .model = model,
                      .labelled = model,
                      .names = pool_names(model->pool),
                      .arena = to->arena,
                      .to = to,
                      .options = options };
}

void printer_put(Printer *p, const char *text)
{
    text_add(p->to, text);
}

void printer_put_number(Printer *p, uint64_t number)
{
    text_integer(p->to, (int64_t)number);
}

void printer_put_word(Printer *p, Word word)
{
    text_char(p->to, ' ');
    printer_put(p, word_text(word));
}

uint32_t printer_use(Printer *p, Uses *uses, uint32_t key)
{
    uint32_t number;
    if (!uses->by_key.capacity)
        map_init(&uses->by_key, p->arena, 16);
    if (map_get(&uses->by_key, key, &number))
        return number;
    map_put(&uses->by_key, key, uses->items.n);
    vec_push(p->arena, &uses->items, key);
    return uses->items.n - 1;
}

/* ---- names ---- */
static void put_escape(Printer *p, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
    text_bytes(p->to, escape, sizeof escape);
}

void printer_put_quoted(Printer *p, const char *text, size_t length, char quote)
{
    text_char(p->to, quote);
    for (const char *at = text, *end = text + length; at < end;) {
        uint32_t size = 1;
        if (*at == '\n')
            printer_put(p, "\\n");
        else if (*at == '\t')
            printer_put(p, "\\t");
        else if (*at == quote || *at == '\\')
            text_bytes(p->to, (const char[]){ '\\', *at }, 2);
        else if ((unsigned char)*at < 0x20 || *at == 0x7f || utf8_decode(at, end, &size) == UTF8_BAD)
            put_escape(p, (unsigned char)*at);
        else
            text_bytes(p->to, at, size);
        at += size;
    }
    text_char(p->to, quote);
}

void printer_put_string(Printer *p, NameId text)
{
    printer_put_quoted(p, names_of(p->names, text), names_length(p->names, text), '"');
}

static bool is_plain(const Printer *p, const char *text, size_t length)
{
    if (length == 0 || !is_name_start(text[0]))
        return false;
    for (size_t k = 1; k < length; k++)
        if (!is_name_letter(text[k]))
            return false;
    return utf8_is_valid(text, length) && !words_is_reserved(p->words, text, length);
}

static void put_spelled(Printer *p, const char *text, size_t length, bool plain)
{
    if (plain)
        text_bytes(p->to, text, length);
    else
        printer_put_quoted(p, text, length, '\'');
}

void printer_put_plain_or_string(Printer *p, const char *text)
{
    const size_t length = strlen(text);
    if (is_plain(p, text, length))
        text_bytes(p->to, text, length);
    else
        printer_put_quoted(p, text, length, '"');
}

void printer_put_name(Printer *p, NameId name)
{
    const char *text = names_of(p->names, name);
    const uint32_t length = names_length(p->names, name);
    if (!p->spelling) {
        put_spelled(p, text, length, is_plain(p, text, length));
        return;
    }
    if (!p->spelling[name.index])
        p->spelling[name.index] = is_plain(p, text, length) ? 1 : 2;
    put_spelled(p, text, length, p->spelling[name.index] == 1);
}

static void put_instance_path(Printer *p, InstanceId instance)
{
    if (p->paths) {
        printer_put(p, p->paths[instance.index]);
        return;
    }
    const Instance *node = &p->model->instances.at[instance.index];
    if (node->parent.index == ID_NONE)
        return;
    put_instance_path(p, node->parent);
    printer_put_name(p, node->name);
    text_char(p->to, '.');
}

void printer_put_path(Printer *p, InstanceId owner, NameId name)
{
    put_instance_path(p, owner);
    printer_put_name(p, name);
}

static bool is_iterator_name(const Printer *p, NameId name)
{
    for (uint32_t k = 0; k < p->iterators.n; k++)
        if (name_equal(p->iterators.at[k], name) && !name_is_empty(name))
            return true;
    return false;
}

void printer_put_variable(Printer *p, VarId var)
{
    const Variable *v = model_var(p->model, var);
    const bool is_like_iterator =
        generated_number(names_of(p->names, v->name), names_length(p->names, v->name), 'i') != 0;
    if (v->owner.index == 0 && (is_like_iterator || is_iterator_name(p, v->name)))
        text_char(p->to, '.');
    printer_put_path(p, v->owner, v->name);
}

void printer_put_label(Printer *p, LabelKind kind, uint32_t index)
{
    const Label label = label_of(p->labelled, kind, index);
    const uint32_t number = p->numbers[kind] ? p->numbers[kind][index] : 0;
    if (!number) {
        printer_put_path(p, label.owner, label.name);
        return;
    }
    put_instance_path(p, label.owner);
    text_format(p->to, "$%c%u", label_letter(kind), number);
}

/* ---- types ---- */
/* The name, or $n2 for a further one of the same name. */
const char *printer_enumeration_label(Printer *p, uint32_t enumeration)
{
    const NameId name = pool_get_enumeration(p->model->pool, enumeration)->name;
    const char *text = names_of(p->names, name);
    if (!p->words)
        return text;
    const uint32_t number = printer_use(p, &p->used.enumerations, enumeration);
    uint32_t first;
    if (!p->enum_names.capacity)
        map_init(&p->enum_names, p->arena, 16);
    if (!map_get(&p->enum_names, name.index, &first))
        map_put(&p->enum_names, name.index, first = number);
    if (first != number || name_is_empty(name) || generated_number(text, names_length(p->names, name), 'n'))
        return arena_format(p->arena, "$n%u", number + 1);
    return text;
}

static void put_enumeration(Printer *p, uint32_t enumeration)
{
    const char *label = printer_enumeration_label(p, enumeration);
    const NameId name = pool_get_enumeration(p->model->pool, enumeration)->name;
    if (label == names_of(p->names, name))
        printer_put_name(p, name);
    else
        printer_put(p, label);
}

/* The name, or $b2 for a further one of the same name. */
const char *printer_table_label(Printer *p, const Table *table)
{
    const char *text = names_of(p->names, table->name);
    if (!p->words)
        return text;
    const uint32_t number = printer_use(p, &p->used.tables, table->index);
    uint32_t first;
    if (!p->table_names.capacity)
        map_init(&p->table_names, p->arena, 16);
    if (!map_get(&p->table_names, table->name.index, &first))
        map_put(&p->table_names, table->name.index, first = number);
    if (first != number || name_is_empty(table->name) ||
        generated_number(text, names_length(p->names, table->name), 'b'))
        return arena_format(p->arena, "$b%u", number + 1);
    return text;
}

void printer_put_table(Printer *p, const Table *table)
{
    const char *label = printer_table_label(p, table);
    if (label == names_of(p->names, table->name))
        printer_put_name(p, table->name);
    else
        printer_put(p, label);
}

void printer_put_type(Printer *p, Type type)
{
    static const Word words[] = { WORD_REAL, WORD_INTEGER, WORD_BOOLEAN, WORD_NO, WORD_STRING };
    if (type.kind == TYPE_ENUM || type.kind == TYPE_OBJECT)
        put_enumeration(p, type.enumeration);
    else
        printer_put(p, word_text(words[type.kind]));
}

/* Mode.on; Mode::on where a variable might be called Mode.on. */
void printer_put_enum_literal(Printer *p, const Expr *e)
{
    const Enumeration *enumeration = pool_get_enumeration(p->model->pool, e->type.enumeration);
    uint32_t ignored;
    put_enumeration(p, e->type.enumeration);
    const bool is_ambiguous =
        p->top_instances.capacity && map_get(&p->top_instances, enumeration->name.index, &ignored);
    printer_put(p, is_ambiguous ? "::" : ".");
    printer_put_name(p, enumeration->values[e->u.integer - 1]);
}

/* ---- places ---- */
/* Places come in their order, mostly: the line of the last one is tried first, then the one after it. */
static bool find_near(Printer *p, const Source *source, uint32_t offset, LineColumn *place)
{
    if (!source->lines || offset > source->size)
        return false;
    uint32_t line = p->last_line;
    for (uint32_t tries = 0; tries < 2; tries++, line++) {
        if (line >= source->n_lines || offset < source->lines[line])
            return false;
        if (line + 1 < source->n_lines && offset >= source->lines[line + 1])
            continue;
        for (uint32_t at = source->lines[line]; at <= offset && at < source->size; at++)
            if ((unsigned char)source->text[at] >= 0x80)
                return false;
        p->last_line = line;
        *place = (LineColumn){ line + 1, offset - source->lines[line] + 1 };
        return true;
    }
    return false;
}

static LineColumn find_place(Printer *p, const Source *source, Span span)
{
    LineColumn place;
    if (find_near(p, source, span.begin, &place))
        return place;
    place = span_begin(p->model->sources, span);
    p->last_line = place.line - 1;
    return place;
}

void printer_put_place(Printer *p, Span span)
{
    if (span.source == SOURCE_NONE || p->options.no_places || !p->model->sources)
        return;
    const Source *source = sources_get(p->model->sources, span.source);
    if (source->language && strcmp(source->language, TEXT_FORM) == 0)
        return;
    const LineColumn place = find_place(p, source, span);
    printer_put(p, " @");
    printer_put_number(p, printer_use(p, &p->used.sources, span.source));
    text_char(p->to, ':');
    printer_put_number(p, place.line);
    text_char(p->to, ':');
    printer_put_number(p, place.column);
}

/* ---- domains ---- */
static bool is_literal_range(const Iterator *i)
{
    return i->lo.shape->kind == EXPR_INTEGER && i->hi.shape->kind == EXPR_INTEGER &&
           (term_is_absent(i->step) || i->step.shape->kind == EXPR_INTEGER);
}

static void put_iterator(Printer *p, const Iterator *i)
{
    const uint32_t level = p->iterators.n;
    const char *text = names_of(p->names, i->name);
    const bool by_number =
        is_iterator_name(p, i->name) || generated_number(text, names_length(p->names, i->name), 'i') != 0;
    /* Its own range does not see it. */
    if (by_number || name_is_empty(i->name))
        text_format(p->to, "$i%u", level + 1);
    else
        printer_put_name(p, i->name);
    printer_put(p, " in ");
    printer_put_term(p, i->lo, BINDS_OR);
    text_char(p->to, ':');
    printer_put_term(p, i->hi, BINDS_OR);
    if (!term_is_absent(i->step)) {
        printer_put(p, " step ");
        printer_put_term(p, i->step, BINDS_OR);
    }
    if (i->count >= 0 && !is_literal_range(i))
        text_format(p->to, " {%lld, %lld, %lld}", (long long)i->first, (long long)i->stride, (long long)i->count);
    vec_push(p->arena, &p->iterators, by_number ? (NameId){ 0 } : i->name);
}

void printer_put_domain(Printer *p, DomainId domain)
{
    const Domain *d = &p->model->domains.at[domain.index];
    if (d->n == 0)
        return;
    printer_put(p, "for ");
    for (uint32_t k = 0; k < d->n; k++) {
        if (k)
            printer_put(p, ", ");
        put_iterator(p, &p->model->iterators.at[d->first + k]);
    }
    printer_put(p, ": ");
}

void printer_leave_domain(Printer *p, DomainId domain)
{
    p->iterators.n -= p->model->domains.at[domain.index].n;
}
