/* The first go of the reader: what is declared where. See read_reader.h. */
#include "ir/read_reader.h"

/* ---- scanning ---- */
static bool label_kind(uint32_t word, LabelKind *kind)
{
    switch (word) {
    case WORD_EQ:
    case WORD_ALGORITHM:
    case WORD_DROPPED: *kind = LABEL_EQUATION; return true;
    case WORD_REGION: *kind = LABEL_REGION; return true;
    case WORD_TRANS: *kind = LABEL_TRANSITION; return true;
    case WORD_CHANNEL: *kind = LABEL_CHANNEL; return true;
    case WORD_CLOCK: *kind = LABEL_CLOCK; return true;
    case WORD_DELAY: *kind = LABEL_DELAY; return true;
    case WORD_FOREIGN: *kind = LABEL_FOREIGN; return true;
    case WORD_STREAM: *kind = LABEL_STREAM; return true;
    case WORD_FUNCTION: *kind = LABEL_FUNCTION; return true;
    case WORD_ASSERT: *kind = LABEL_ASSERTION; return true;
    case WORD_PORT: *kind = LABEL_PORT; return true;
    default: return false;
    }
}

static void note(Reader *r, RecordKind kind, uint32_t detail)
{
    const Record record = { r->lexer.at, (uint8_t)kind, (uint8_t)detail };
    vec_push(r->scratch, &r->scope->records, record);
}

/* The begin of the line `end NAME` that closes the class, or the end of the text. */
static uint32_t find_class_end(Reader *r, NameId name)
{
    for (;;) {
        Token token = lexer_next(&r->lexer);
        if (token.kind == TOKEN_END)
            return r->lexer.end;
        if (token.kind == TOKEN_NAME && token.word == WORD_END) {
            const uint32_t begin = token.begin;
            const char *text;
            size_t length;
            NameId found;
            token = lexer_next(&r->lexer);
            if ((token.kind == TOKEN_NAME || token.kind == TOKEN_QUOTED) &&
                lexer_reader_token_text(&r->lexer, &token, r->arena, &text, &length) &&
                names_find(r->names, text, length, &found) && name_equal(found, name))
                return begin;
        }
        if (token.kind != TOKEN_LINE && token.kind != TOKEN_SEMICOLON)
            lexer_skip_element(&r->lexer);
    }
}

bool reader_declared_twice(Reader *r, Span span, const char *what, const char *name, Span earlier)
{
    reader_report(r, DIAG_IR_DECLARED_TWICE, span, "%s %s is declared twice", what, name);
    NOTE(r, earlier, "it is declared here first");
    HELP(r, "rename one of them");
    return false;
}

/* class NAME ... end NAME: behind the keyword; goes on behind the class. */
static void scan_class(Reader *r)
{
    Class class = { .head = r->lexer.at };
    reader_jump(r, class.head);
    const Span span = reader_token_span(r);
    uint32_t earlier;
    r->lexer.is_quiet = false;
    const bool has_name = reader_parse_name(r, &class.name);
    r->lexer.is_quiet = true;
    if (!has_name)
        return;
    class.begin = r->last_end;
    r->lexer.at = class.begin;
    class.end = find_class_end(r, class.name);
    if (class.end == r->lexer.end) {
        reader_report(r, DIAG_IR_BLOCK, span, "class %s is not closed", names_of(r->names, class.name));
        HELP(r, "add a line: end %s", names_of(r->names, class.name));
    }
    if (map_get(&r->head.classes.names, class.name.index, &earlier)) {
        const Class *first = &r->head.classes.all.at[earlier];
        reader_declared_twice(r, span, "class", names_of(r->names, class.name),
                              (Span){ r->source, first->head, first->begin });
    } else {
        map_put(&r->head.classes.names, class.name.index, r->head.classes.all.n);
        vec_push(r->arena, &r->head.classes.all, class);
    }
    lexer_skip_element(&r->lexer);
}

/* Elements that are read at once: they use nothing. */
static void scan_head(Reader *r, bool (*parse)(Reader *))
{
    r->lexer.is_quiet = false;
    reader_jump(r, r->lexer.at);
    if (parse(r) && !reader_is_element_end(r))
        reader_syntax_error(r, "the end of the line");
    r->lexer.is_quiet = true;
    r->lexer.at = r->token.begin;
}

static void scan_word(Reader *r, const Token *token, bool is_file)
{
    LabelKind kind;
    const uint32_t word = token->word;
    if (label_kind(word, &kind)) {
        note(r, RECORD_LABEL, kind);
    } else if (word == WORD_VAR || word == WORD_PARAM || word == WORD_CONST) {
        note(r, RECORD_VARIABLE, 0);
    } else if (word == WORD_INSTANCE) {
        note(r, RECORD_INSTANCE, 0);
    } else if (word == WORD_INPUT || word == WORD_OUTPUT || word == WORD_LOCAL) {
        note(r, RECORD_FIELD, word - WORD_INPUT);
    } else if (is_file && word == WORD_CLASS) {
        scan_class(r);
        return;
    } else if (is_file && word == WORD_SOURCE) {
        scan_head(r, reader_parse_source);
    } else if (is_file && word == WORD_ENUM) {
        scan_head(r, reader_parse_enum);
    } else if (is_file && word == WORD_OBJECT) {
        scan_head(r, reader_parse_object);
    } else if (is_file && word == WORD_TABLE) {
        scan_head(r, reader_parse_table);
    } else if (is_file && word == WORD_SHAPE) {
        vec_push(r->arena, &r->head.shapes.lines, r->lexer.at);
    } else if (is_file && word == WORD_CONNECTOR) {
        vec_push(r->arena, &r->head.connectors.lines, r->lexer.at);
    } else if (is_file && word == WORD_MODEL) {
        vec_push(r->arena, &r->head.model_lines, token->begin);
    } else if (word == WORD_CASE || word == WORD_ELSE) {
        lexer_skip_colon(&r->lexer);
        return; /* an element may follow in this line */
    }
    lexer_skip_element(&r->lexer);
}

_Static_assert(WORD_OUTPUT == WORD_INPUT + 1 && WORD_LOCAL == WORD_INPUT + 2, "fields by number");

void reader_scan_unit(Reader *r, uint32_t begin, uint32_t end, bool is_file)
{
    const uint32_t text_end = r->lexer.end;
    r->lexer.at = begin;
    r->lexer.end = end;
    r->lexer.is_quiet = true;
    for (;;) {
        const Token token = lexer_next(&r->lexer);
        if (token.kind == TOKEN_END)
            break;
        if (token.kind == TOKEN_NAME)
            scan_word(r, &token, is_file);
        else if (token.kind != TOKEN_LINE && token.kind != TOKEN_SEMICOLON)
            lexer_skip_element(&r->lexer);
    }
    r->lexer.is_quiet = false;
    r->lexer.end = text_end;
}

/* A path whose last name is new: the owner and the name. */
static bool parse_new_path(Reader *r, InstanceId *owner, NameId *name)
{
    Label label;
    if (!reader_parse_new_label(r, &label))
        return false;
    *owner = label.owner;
    *name = label.name;
    return true;
}

/* Number of dimensions in [N, 3]; the reader is behind it. */
static uint32_t count_dims(Reader *r)
{
    uint32_t n = 1, depth = 0;
    for (;; reader_advance(r)) {
        switch (r->token.kind) {
        case TOKEN_OPEN_INDEX:
        case TOKEN_OPEN:
        case TOKEN_OPEN_SET: depth++; break;
        case TOKEN_CLOSE_INDEX:
        case TOKEN_CLOSE:
        case TOKEN_CLOSE_SET:
            if (--depth == 0)
                return n;
            break;
        case TOKEN_COMMA: n += depth == 1; break;
        case TOKEN_LINE:
        case TOKEN_END: return n;
        default: break;
        }
    }
}

static bool parse_array_type(Reader *r, Type *type)
{
    if (!reader_parse_type(r, type))
        return false;
    if (r->token.kind != TOKEN_OPEN_INDEX)
        return true;
    const Span span = reader_token_span(r);
    const bool was_quiet = r->lexer.is_quiet;
    r->lexer.is_quiet = true; /* the terms are parsed later */
    const uint32_t n = count_dims(r);
    r->lexer.is_quiet = was_quiet;
    if (n > LARGEST_RANK)
        return reader_report(r, DIAG_IR_RANK, span, "an array has at most %d dimensions", LARGEST_RANK);
    type->rank = (uint8_t)n;
    return true;
}

static VarId add_variable(Reader *r, InstanceId owner, NameId name, Type type, Span span)
{
    uint32_t earlier;
    if (reader_scope_variable(r->scope, owner.index, name, &earlier)) {
        reader_declared_twice(r, span, "variable", names_of(r->names, name), r->model->variables.at[earlier].span);
        return (VarId){ earlier };
    }
    const VarId var = model_add_variable(r->model, owner, name, type, span);
    reader_scope_add_variable(r, owner.index, name, var.index);
    return var;
}

typedef struct {
    InstanceId owner;
    NameId name;
    Span span;
} NewName;

/* var a, b.c Real[N]: behind the keyword. */
static bool declare_variables(Reader *r)
{
    VEC(NewName) names = { 0 };
    Type type;
    do {
        NewName new;
        const uint32_t begin = r->token.begin;
        if (!parse_new_path(r, &new.owner, &new.name))
            return false;
        new.span = reader_span_from(r, begin);
        if (names.n == 0 && r->token.kind != TOKEN_COMMA) { /* the usual case, without memory */
            if (!parse_array_type(r, &type))
                return false;
            add_variable(r, new.owner, new.name, type, new.span);
            return true;
        }
        vec_push(r->arena, &names, new);
    } while (reader_accept(r, TOKEN_COMMA));
    if (!parse_array_type(r, &type))
        return false;
    for (uint32_t k = 0; k < names.n; k++)
        add_variable(r, names.at[k].owner, names.at[k].name, type, names.at[k].span);
    return true;
}

/* ---- functions ---- */
/* The function that is read: its names are those of its fields. */
void reader_enter_function(Reader *r, uint32_t index)
{
    r->scope = r->top->functions.at[index];
    r->model = r->scope->model;
}

void reader_leave_function(Reader *r)
{
    r->scope = r->top;
    r->model = r->top->model;
}

static bool declare_field(Reader *r)
{
    const uint32_t begin = r->token.begin;
    NameId name;
    Type type;
    if (!reader_parse_name(r, &name))
        return false;
    const Span span = reader_span_from(r, begin);
    if (!parse_array_type(r, &type))
        return false;
    add_variable(r, (InstanceId){ 0 }, name, type, span);
    return true;
}

static bool declare_function_head(Reader *r, Label *label, uint32_t *index)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_new_label(r, label))
        return false;
    const Span span = reader_span_from(r, begin);
    const uint64_t key = key_of(label->owner.index, label->name);
    if (label->owner.index != 0)
        return reader_report(r, DIAG_IR_MISPLACED, span, "functions have no owner: their names have no dots");
    if (map_get(&r->scope->labels[LABEL_FUNCTION], key, index))
        return reader_declared_twice(r, span, "function", names_of(r->names, label->name),
                                     r->model->functions.at[*index]->span);
    const char *text = names_of(r->names, label->name);
    const bool is_number = generated_number(text, strlen(text), label_letter(LABEL_FUNCTION)) != 0;
    *index = r->model->functions.n;
    map_put(&r->scope->labels[LABEL_FUNCTION], key, *index);
    const Function *function = model_add_function(r->model, is_number ? (NameId){ 0 } : label->name, span);
    vec_push(r->scratch, &r->top->functions, reader_scope(r, function->body));
    return true;
}

static void declare_function(Reader *r, uint32_t *record)
{
    Label label;
    uint32_t index;
    reader_jump(r, r->scope->records.at[*record].at);
    const bool is_good = declare_function_head(r, &label, &index);
    const Scope *scope = r->scope;
    const uint32_t first = ++*record;
    while (*record < scope->records.n && scope->records.at[*record].kind == RECORD_FIELD)
        ++*record;
    if (!is_good)
        return;
    uint32_t n[3] = { 0 };
    reader_enter_function(r, index);
    for (uint32_t detail = 0; detail < 3; detail++) { /* inputs, outputs, locals */
        const uint32_t before = r->model->variables.n;
        for (uint32_t k = first; k < *record; k++)
            if (scope->records.at[k].detail == detail) {
                reader_jump(r, scope->records.at[k].at);
                declare_field(r);
            }
        n[detail] = r->model->variables.n - before;
    }
    reader_leave_function(r);
    Function *function = r->model->functions.at[index];
    function->n_inputs = n[0];
    function->n_outputs = n[1];
    function->n_locals = n[2];
}

static void declare_functions(Reader *r)
{
    for (uint32_t k = 0; k < r->scope->records.n;) {
        const Record *record = &r->scope->records.at[k];
        if (record->kind == RECORD_LABEL && record->detail == LABEL_FUNCTION)
            declare_function(r, &k);
        else
            k++;
    }
}

/* ---- labels ---- */
static Span find_label(const Reader *r, LabelKind kind, uint32_t number)
{
    for (uint32_t k = 0; k < r->scope->records.n; k++) {
        const Record *record = &r->scope->records.at[k];
        if (record->kind == RECORD_LABEL && record->detail == kind && number-- == 0)
            return (Span){ r->source, record->at + 1, record->at + 2 };
    }
    return SPAN_NONE;
}

static void declare_label(Reader *r, LabelKind kind, const uint32_t *first)
{
    enum { SHOWN = 20 }; /* errors for which the earlier place is looked up */
    const uint32_t begin = r->token.begin;
    const uint32_t index = r->scope->next[kind]++;
    Label label;
    uint32_t earlier;
    if (kind == LABEL_EQUATION && !reader_accept_word(r, WORD_INITIAL))
        reader_accept_word(r, WORD_RUNNING);
    if (!reader_parse_new_label(r, &label))
        return;
    const uint64_t key = key_of(label.owner.index, label.name);
    if (map_get(&r->scope->labels[kind], key, &earlier)) {
        const bool is_shown = diag_errors(r->diag) < SHOWN && earlier >= first[kind];
        reader_declared_twice(r, reader_span_from(r, begin), label_noun(kind), names_of(r->names, label.name),
                              is_shown ? find_label(r, kind, earlier - first[kind]) : SPAN_NONE);
        return;
    }
    map_put(&r->scope->labels[kind], key, index);
}

static void declare_labels(Reader *r)
{
    uint32_t first[LABEL_COUNT];
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        first[kind] = r->scope->next[kind] = label_count(r->model, kind);
    for (uint32_t k = 0; k < r->scope->records.n; k++) {
        const Record *record = &r->scope->records.at[k];
        if (record->kind != RECORD_LABEL || record->detail == LABEL_FUNCTION)
            continue;
        reader_jump(r, record->at);
        declare_label(r, (LabelKind)record->detail, first);
    }
}

/* Tables that grow by doubling are filled several times, and what they leave behind stays in the arena. */
static void reserve_names(Reader *r)
{
    uint32_t n_labels[LABEL_COUNT] = { 0 }, n_variables = 0, n_instances = 0;
    for (uint32_t k = 0; k < r->scope->records.n; k++) {
        const Record *record = &r->scope->records.at[k];
        n_variables += record->kind == RECORD_VARIABLE;
        n_instances += record->kind == RECORD_INSTANCE;
        if (record->kind == RECORD_LABEL)
            n_labels[record->detail]++;
    }
    map_reserve(&r->scope->variables, n_variables);
    map_reserve(&r->scope->instances, n_instances);
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        map_reserve(&r->scope->labels[kind], n_labels[kind]);
}

void reader_declare_unit(Reader *r)
{
    reserve_names(r);
    if (r->scope == r->top)
        declare_functions(r);
    reader_declare_instances(r);
    for (uint32_t k = 0; k < r->scope->records.n; k++)
        if (r->scope->records.at[k].kind == RECORD_VARIABLE) {
            reader_jump(r, r->scope->records.at[k].at);
            declare_variables(r);
        }
    declare_labels(r);
}
