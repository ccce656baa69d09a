/* Reading a Model: classes, the model, and the order in which all is done; see read.h and read_reader.h. */
#include "ir/read.h"
#include "ir/read_reader.h"

enum { NAMES_TO_COMPARE = 300000 };

Scope *reader_scope(Reader *r, Model *model)
{
    Scope *scope = NEW(r->scratch, Scope);
    scope->model = model;
    map_init(&scope->instances, r->scratch, 16);
    map_init(&scope->array_names, r->scratch, 4);
    map_init(&scope->variables, r->scratch, 64);
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        map_init(&scope->labels[kind], r->scratch, 8);
    return scope;
}

/* ---- classes ---- */
bool reader_find_class(const Reader *r, NameId name, uint32_t *index)
{
    return map_get(&r->head.classes.names, name.index, index);
}

/* [language "x"] [@place] behind the name of a model or class. */
static bool parse_head(Reader *r, uint32_t begin, const char **language, Span *span)
{
    NameId name = { 0 };
    if (reader_accept_word(r, WORD_LANGUAGE) && !reader_parse_plain_or_string(r, &name))
        return false;
    const bool has_place = r->token.kind == TOKEN_PLACE;
    if (!reader_parse_element_end(r, begin, span))
        return false;
    const char *usual = has_place ? sources_get(r->sources, span->source)->language : NULL;
    *language = !name_is_empty(name) ? names_of(r->names, name) : usual ? usual : TEXT_FORM;
    return true;
}

/* The text of a unit, whose names are declared by the first go. */
static void read_unit(Reader *r, uint32_t begin, uint32_t end)
{
    const uint32_t text_end = r->lexer.end;
    reader_scan_unit(r, begin, end, false);
    r->lexer.end = end;
    reader_declare_unit(r);
    reader_jump(r, begin);
    reader_parse_elements(r, (Where){ REGION_NONE, 0 });
    reader_add_later(r);
    if (r->token.kind != TOKEN_END) {
        reader_report(r, DIAG_IR_BLOCK, reader_token_span(r), "this closes nothing");
        HELP(r, "remove it, or open the block");
    }
    r->lexer.end = text_end;
}

static Model *read_class_text(Reader *r, const Class *class)
{
    const char *language = TEXT_FORM;
    Span span = { r->source, class->head, class->begin };
    reader_jump(r, class->begin);
    if (!parse_head(r, class->head + 1, &language, &span))
        reader_recover(r);
    Model *model = model_create(r->pool, r->sources, class->name, language, span);
    r->scope = reader_scope(r, model);
    r->model = model;
    map_init(&r->groups, r->arena, 8);
    read_unit(r, r->token.begin, class->end);
    return model;
}

Model *reader_read_class(Reader *r, uint32_t index, Span wanted_at)
{
    Class *class = &r->head.classes.all.at[index];
    if (class->state == CLASS_READ || class->state == CLASS_BAD)
        return class->model;
    if (class->state == CLASS_READING) {
        reader_report(r, DIAG_IR_CLASS_CYCLE, wanted_at, "class %s contains itself", names_of(r->names, class->name));
        NOTE(r, (Span){ r->source, class->head, class->begin }, "the class begins here");
        HELP(r, "an instance of it cannot be a part of it");
        return NULL;
    }
    if (!reader_enter(r, BLOCK_DEPTH))
        return NULL;
    class->state = CLASS_READING;
    const Reader outer = *r;
    r->mistakes.failed = false;
    r->term.loops.n = 0;
    Model *model = read_class_text(r, &outer.head.classes.all.at[index]);
    class = &r->head.classes.all.at[index];
    class->state = r->mistakes.failed ? CLASS_BAD : CLASS_READ;
    class->model = r->mistakes.failed ? NULL : model;
    /* Back to where the class was wanted. */
    const bool failed = r->mistakes.failed || outer.mistakes.failed;
    const uint32_t to_compare = r->mistakes.to_compare;
    r->lexer = outer.lexer;
    r->token = outer.token;
    r->last_end = outer.last_end;
    r->scope = outer.scope;
    r->model = outer.model;
    r->groups = outer.groups;
    r->term.loops.n = outer.term.loops.n;
    r->mistakes.failed = failed;
    r->mistakes.to_compare = to_compare;
    r->depth--;
    return class->model;
}

/* ---- the file ---- */
static const char head_word[] = TEXT_FORM;

bool is_text_form(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n' || text[at] == '#'))
        if (text[at] == '#')
            while (at < size && text[at] != '\n')
                at++;
        else
            at++;
    return size - at >= sizeof head_word - 1 && memcmp(text + at, head_word, sizeof head_word - 1) == 0;
}

/* koine-ir 1; *begin is behind it. */
static bool parse_version(Reader *r, uint32_t *begin)
{
    int64_t version;
    reader_jump(r, 0);
    while (r->token.kind == TOKEN_LINE)
        reader_advance(r);
    if (!is_text_form(r->lexer.text, r->lexer.end)) {
        reader_report(r, DIAG_IR_HEADER, reader_token_span(r), "the text does not begin with %s 1", head_word);
        HELP(r, "write %s 1 as the first line", head_word);
        return false;
    }
    reader_jump(r, r->token.begin + (uint32_t)sizeof head_word - 1);
    if (!reader_parse_integer(r, 1, 1, &version)) {
        HELP(r, "this reader knows version 1 of the text form");
        return false;
    }
    *begin = r->last_end;
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line");
}

static void read_connectors(Reader *r)
{
    for (uint32_t k = 0; k < r->head.connectors.lines.n; k++) {
        reader_jump(r, r->head.connectors.lines.at[k]);
        reader_parse_connector(r, true);
    }
}

static void read_shapes(Reader *r)
{
    for (uint32_t k = 0; k < r->head.shapes.lines.n; k++) {
        NameId name;
        const Expr *shape;
        reader_jump(r, r->head.shapes.lines.at[k]);
        const Span span = reader_token_span(r);
        uint32_t earlier;
        if (!reader_parse_name(r, &name) || !reader_expect(r, TOKEN_IS, "'='") || !reader_parse_shape(r, &shape))
            continue;
        if (map_get(&r->head.shapes.names, name.index, &earlier)) {
            reader_report(r, DIAG_IR_DECLARED_TWICE, span, "shape %s is declared twice", names_of(r->names, name));
            continue;
        }
        map_put(&r->head.shapes.names, name.index, r->head.shapes.all.n);
        vec_push(r->arena, &r->head.shapes.all, shape);
    }
}

/* What stands outside the model. Elements of the head were read before; here only their places are checked. */
static void skip_head(Reader *r, uint32_t begin, uint32_t end)
{
    const uint32_t text_end = r->lexer.end;
    r->lexer.end = end;
    reader_jump(r, begin);
    while (r->token.kind != TOKEN_END) {
        const uint32_t word = r->token.kind == TOKEN_NAME ? r->token.word : WORD_NO;
        uint32_t index;
        NameId name;
        if (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON) {
            reader_advance(r);
        } else if (word == WORD_SOURCE || word == WORD_ENUM || word == WORD_OBJECT || word == WORD_TABLE ||
                   word == WORD_SHAPE) {
            r->lexer.at = r->token.end;
            lexer_skip_element(&r->lexer);
            r->token = lexer_next(&r->lexer);
        } else if (word == WORD_CONNECTOR) {
            reader_advance(r);
            if (!reader_parse_connector(r, false))
                reader_recover(r);
        } else if (word == WORD_CLASS) {
            reader_advance(r);
            if (reader_parse_name(r, &name) && reader_find_class(r, name, &index)) {
                if (r->head.classes.all.at[index].begin < r->last_end)
                    break; /* a second class of the name, reported */
                reader_jump(r, r->head.classes.all.at[index].end < end ? r->head.classes.all.at[index].end : end);
            }
            reader_recover(r);
        } else {
            reader_report(r, DIAG_IR_MISPLACED, reader_token_span(r),
                          "only source, enum, table, shape, connector and class stand outside a model");
            HELP(r, "put it between model NAME and end NAME");
            reader_recover(r);
        }
    }
    r->lexer.end = text_end;
}

static bool parse_model_head(Reader *r, uint32_t *body)
{
    const char *language = TEXT_FORM;
    NameId name;
    Span span;
    const uint32_t begin = r->head.model_lines.at[0];
    reader_jump(r, begin);
    reader_advance(r);
    if (!reader_parse_name(r, &name) || !parse_head(r, begin, &language, &span))
        return false;
    Model *model = r->model;
    model->name = name;
    model->language = language;
    model->span = span;
    Instance *top = &model->instances.at[0];
    top->class_name = name;
    top->language = language;
    top->span = span;
    *body = r->token.begin;
    return true;
}

static bool find_model(Reader *r, uint32_t end)
{
    if (r->head.model_lines.n == 0) {
        reader_report(r, DIAG_IR_NO_MODEL, (Span){ r->source, end, end }, "the text contains no model");
        HELP(r, "write model NAME ... end NAME");
        return false;
    }
    if (r->head.model_lines.n == 1)
        return true;
    reader_report(r, DIAG_IR_NO_MODEL, (Span){ r->source, r->head.model_lines.at[1], r->head.model_lines.at[1] + 5 },
                  "a text holds one model");
    NOTE(r, (Span){ r->source, r->head.model_lines.at[0], r->head.model_lines.at[0] + 5 }, "the first model is here");
    HELP(r, "make it a class: class NAME ... end NAME");
    return false;
}

static void read_file(Reader *r)
{
    uint32_t begin, body;
    const uint32_t end = r->lexer.end;
    if (!parse_version(r, &begin))
        return;
    reader_scan_unit(r, begin, end, true);
    reader_open_sources(r);
    if (!find_model(r, end))
        return;
    read_connectors(r);
    if (!parse_model_head(r, &body))
        return;
    reader_declare_unit(r);
    read_shapes(r);
    skip_head(r, begin, r->head.model_lines.at[0]);
    reader_jump(r, body);
    reader_parse_elements(r, (Where){ REGION_NONE, 0 });
    reader_add_later(r);
    const Label label = { { 0 }, r->model->name };
    if (reader_parse_block_end(r, &label, r->model->span))
        skip_head(r, r->last_end, end);
}

Reader *reader_create(Model *model, Sources *sources, uint32_t source, Diag *diag)
{
    Pool *pool = model->pool;
    const Source *text = sources_get(sources, source);
    Arena *arena = pool_arena(pool);
    Reader *r = NEW(arena, Reader);
    *r = (Reader){ .pool = pool,
                   .names = pool_names(pool),
                   .arena = arena,
                   .scratch = arena_create_like(arena),
                   .sources = sources,
                   .diag = diag,
                   .source = source,
                   .words = words_create(arena),
                   .mistakes.to_compare = NAMES_TO_COMPARE,
                   .model = model };
    r->lexer = (Lexer){ .text = text->text, .end = text->size, .source = source, .words = r->words, .diag = diag };
    Map *const maps[] = { &r->head.files.numbers,       &r->head.classes.names,
                          &r->head.labels.enumerations, &r->head.labels.values,
                          &r->head.labels.places,       &r->head.connectors.names,
                          &r->head.shapes.names,        &r->groups,
                          &r->head.labels.tables };
    for (uint32_t k = 0; k < sizeof maps / sizeof *maps; k++)
        map_init(maps[k], arena, 8);
    r->scope = r->top = reader_scope(r, model);
    r->scope->has_top = true;
    return r;
}

void reader_end(Reader *r)
{
    arena_destroy(r->scratch);
    r->scratch = NULL;
}

Model *model_read(Pool *pool, Sources *sources, uint32_t source, Diag *diag)
{
    sources_set_language(sources, source, TEXT_FORM);
    Reader *r = reader_create(model_create(pool, sources, (NameId){ 0 }, TEXT_FORM, SPAN_NONE), sources, source, diag);
    const uint32_t errors = diag_errors(diag);
    read_file(r);
    reader_end(r);
    return r->mistakes.failed || diag_errors(diag) > errors ? NULL : r->model;
}

bool condition_read(Model *model, Sources *sources, uint32_t source, Diag *diag, Term *condition)
{
    Reader *r = reader_create(model, sources, source, diag);
    const uint32_t errors = diag_errors(diag);
    reader_enter_model(r);
    reader_jump(r, 0);
    const bool is_good = reader_parse_term(r, BOOLEAN_TYPE, condition) &&
                         (r->token.kind == TOKEN_END || reader_syntax_error(r, "the end of the condition"));
    reader_end(r);
    return is_good && !r->mistakes.failed && diag_errors(diag) == errors;
}
