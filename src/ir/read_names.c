/* Tokens, messages and names of the reader; see read_reader.h. */
#include "base/ascii.h"
#include "base/bug.h"
#include "base/text.h"
#include "ir/read_reader.h"
#include <stdarg.h>

/* ---- tokens ---- */
void reader_advance(Reader *r)
{
    r->last_end = r->token.end;
    r->token = lexer_next(&r->lexer);
}

void reader_jump(Reader *r, uint32_t at)
{
    r->lexer.at = at;
    r->token = lexer_next(&r->lexer);
    r->last_end = at;
}

Span reader_token_span(const Reader *r)
{
    return (Span){ r->source, r->token.begin, r->token.end };
}

Span reader_span_from(const Reader *r, uint32_t begin)
{
    return (Span){ r->source, begin, r->last_end > begin ? r->last_end : begin };
}

bool reader_has_word(const Reader *r, Word word)
{
    return r->token.kind == TOKEN_NAME && r->token.word == word;
}

bool reader_accept_word(Reader *r, Word word)
{
    const bool is_there = reader_has_word(r, word);
    if (is_there)
        reader_advance(r);
    return is_there;
}

bool reader_accept(Reader *r, TokenKind kind)
{
    const bool is_there = r->token.kind == kind;
    if (is_there)
        reader_advance(r);
    return is_there;
}

bool reader_is_element_end(const Reader *r)
{
    return r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON || r->token.kind == TOKEN_END;
}

/* ---- messages ---- */
bool reader_report(Reader *r, DiagCode code, Span span, const char *format, ...)
{
    char message[600];
    va_list args;
    r->mistakes.failed = true;
    r->mistakes.has_reported = !r->mistakes.gave_up;
    if (r->mistakes.gave_up)
        return false;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(r->diag, code, span, "%s", message);
    return false;
}

void reader_give_up(Reader *r)
{
    r->mistakes.gave_up = true;
    r->lexer.is_quiet = true;
    reader_jump(r, r->lexer.end);
}

bool reader_syntax_error(Reader *r, const char *wanted)
{
    const Token *t = &r->token;
    const int length = t->end - t->begin > 40 ? 40 : (int)(t->end - t->begin);
    r->mistakes.failed = true;
    r->mistakes.has_reported = false;
    if (t->kind == TOKEN_BAD)
        return false; /* reported by the lexer */
    if (reader_is_element_end(r) && t->kind != TOKEN_SEMICOLON)
        return reader_report(r, DIAG_SYNTAX, reader_token_span(r), "expected %s, found the end of the %s", wanted,
                             t->kind == TOKEN_END ? "text" : "line");
    return reader_report(r, DIAG_SYNTAX, reader_token_span(r), "expected %s, found %.*s", wanted, length,
                         r->lexer.text + t->begin);
}

bool reader_expect(Reader *r, TokenKind kind, const char *what)
{
    return reader_accept(r, kind) || reader_syntax_error(r, what);
}

bool reader_expect_word(Reader *r, Word word)
{
    if (reader_accept_word(r, word))
        return true;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "'%s'", word_text(word));
    return reader_syntax_error(r, wanted);
}

bool reader_choose(Reader *r, const WordList *list, const char *what, uint8_t *value)
{
    for (uint32_t k = 0; k < list->n && r->token.kind == TOKEN_NAME; k++)
        if (r->token.word == list->words[k]) {
            *value = (uint8_t)k;
            reader_advance(r);
            return true;
        }
    reader_syntax_error(r, what);
    Text words = { .arena = r->arena };
    for (uint32_t k = 0; k < list->n; k++)
        text_format(&words, "%s%s", k ? ", " : "", word_text(list->words[k]));
    HELP(r, "write one of %s", words.at ? words.at : "");
    return false;
}

bool reader_enter(Reader *r, uint32_t limit)
{
    if (++r->depth <= limit)
        return true;
    r->depth--;
    reader_report(r, DIAG_NESTED_TOO_DEEP, reader_token_span(r), "nesting is deeper than %u levels", limit);
    HELP(r, "split it: give parts of it names of their own");
    return false;
}

const char *reader_type_text(const Reader *r, Type type)
{
    static const char *const texts[] = { "Real", "Integer", "Boolean", "", "String" };
    const char *scalar = type.kind == TYPE_ENUM || type.kind == TYPE_OBJECT
                             ? names_of(r->names, pool_get_enumeration(r->pool, type.enumeration)->name)
                             : texts[type.kind];
    return type.rank ? arena_format(r->arena, "%s array of rank %u", scalar, type.rank) : scalar;
}

/* ---- single names, texts and numbers ---- */
static bool is_name_token(const Reader *r)
{
    if (r->token.kind == TOKEN_QUOTED)
        return true;
    return r->token.kind == TOKEN_NAME &&
           !words_is_reserved(r->words, r->lexer.text + r->token.begin, r->token.end - r->token.begin);
}

static bool name_expected(Reader *r)
{
    reader_syntax_error(r, "a name");
    if (r->token.kind == TOKEN_NAME)
        HELP(r, "a name that is a word of the text form stands in quotes: '%.*s'", (int)(r->token.end - r->token.begin),
             r->lexer.text + r->token.begin);
    return false;
}

/* The name if the same plain one was seen lately; else where it will be remembered. */
static bool find_recent(Reader *r, uint32_t *place, NameId *name)
{
    const char *text = r->lexer.text, *from = text + r->token.begin;
    const uint32_t length = r->token.end - r->token.begin;
    const uint32_t n = sizeof r->name.recent / sizeof r->name.recent[0];
    *place = ((uint32_t)(unsigned char)from[0] * 31 + (unsigned char)from[length - 1] * 7 +
              (unsigned char)from[length / 2] * 3 + length) %
             n;
    if (r->name.recent[*place].length != length || memcmp(text + r->name.recent[*place].at, from, length) != 0)
        return false;
    *name = r->name.recent[*place].name;
    return true;
}

/* Plain names that are not words have no WORD, which spares asking. */
static bool take_name(Reader *r, bool add, NameId *name)
{
    uint32_t place = 0;
    const bool is_plain = r->token.kind == TOKEN_NAME && r->token.word == WORD_NO;
    if (is_plain && find_recent(r, &place, name)) {
        reader_advance(r);
        return true;
    }
    if (!is_plain && !is_name_token(r))
        return name_expected(r);
    const char *text;
    size_t length;
    if (!lexer_reader_token_text(&r->lexer, &r->token, r->arena, &text, &length))
        return !(r->mistakes.failed = true);
    if (add)
        *name = names_add(r->names, text, length);
    else if (!names_find(r->names, text, length, name))
        *name = (NameId){ ID_NONE };
    if (is_plain && name->index != ID_NONE) {
        r->name.recent[place].at = r->token.begin;
        r->name.recent[place].length = r->token.end - r->token.begin;
        r->name.recent[place].name = *name;
    }
    reader_advance(r);
    return true;
}

bool reader_parse_name(Reader *r, NameId *name)
{
    return take_name(r, true, name);
}

bool reader_parse_string(Reader *r, NameId *text)
{
    if (r->token.kind != TOKEN_STRING)
        return reader_syntax_error(r, "a text in double quotes");
    const char *bytes;
    size_t length;
    if (!lexer_reader_token_text(&r->lexer, &r->token, r->arena, &bytes, &length))
        return !(r->mistakes.failed = true);
    *text = names_add(r->names, bytes, length);
    reader_advance(r);
    return true;
}

bool reader_parse_plain_or_string(Reader *r, NameId *text)
{
    return r->token.kind == TOKEN_STRING ? reader_parse_string(r, text) : reader_parse_name(r, text);
}

bool reader_parse_integer(Reader *r, int64_t least, int64_t largest, int64_t *value)
{
    const bool is_negative = reader_accept(r, TOKEN_MINUS);
    if (r->token.kind != TOKEN_INTEGER)
        return reader_syntax_error(r, "a whole number");
    const uint64_t limit = (uint64_t)INT64_MAX + is_negative;
    const uint64_t size = r->token.u.integer;
    const bool fits = size <= limit;
    *value = !fits ? 0 : is_negative ? (int64_t)(0 - size) : (int64_t)size;
    if (!fits || *value < least || *value > largest)
        return reader_report(r, DIAG_NUMBER_RANGE, reader_token_span(r), "the number must be from %lld to %lld",
                             (long long)least, (long long)largest);
    reader_advance(r);
    return true;
}

bool reader_parse_number(Reader *r, double *value)
{
    const bool is_negative = reader_accept(r, TOKEN_MINUS);
    if (r->token.kind == TOKEN_REAL)
        *value = r->token.u.real;
    else if (r->token.kind == TOKEN_INTEGER)
        *value = (double)r->token.u.integer;
    else if (reader_has_word(r, WORD_INF) || reader_has_word(r, WORD_NAN))
        text_to_real(r->lexer.text + r->token.begin, r->lexer.text + r->token.end, value);
    else
        return reader_syntax_error(r, "a number");
    if (is_negative)
        *value = -*value;
    reader_advance(r);
    return true;
}

/* ---- paths ---- */
/* A dot directly behind a name goes on with the path; with a blank between them it begins another one. */
static bool has_path_dot(const Reader *r)
{
    return r->token.kind == TOKEN_DOT && r->token.begin == r->last_end;
}

bool reader_parse_path(Reader *r)
{
    r->name.path.n = 0;
    for (;;) {
        NameId name;
        if (!take_name(r, false, &name))
            return false;
        vec_push(r->arena, &r->name.path, name);
        if (!has_path_dot(r))
            return true;
        const char next = r->token.end < r->lexer.end ? r->lexer.text[r->token.end] : 0;
        if (is_digit(next))
            return true; /* a number follows: r1.2 */
        reader_advance(r);
    }
}

/* The instance that the first n names of the path lead to. */
static bool walk(Reader *r, const Scope *scope, uint32_t n, uint32_t *instance)
{
    *instance = 0;
    if (n == 1 && r->name.last_owner.scope == scope && r->name.last_owner.name.index == r->name.path.at[0].index) {
        *instance = r->name.last_owner.instance;
        return true;
    }
    for (uint32_t k = 0; k < n; k++)
        if (r->name.path.at[k].index == ID_NONE ||
            !map_get(&scope->instances, key_of(*instance, r->name.path.at[k]), instance))
            return false;
    if (n == 1) {
        r->name.last_owner.scope = scope;
        r->name.last_owner.name = r->name.path.at[0];
        r->name.last_owner.instance = *instance;
    }
    return true;
}

bool reader_path_owner(Reader *r, uint32_t begin, InstanceId *owner)
{
    if (walk(r, r->scope, r->name.path.n - 1, &owner->index))
        return true;
    reader_report(r, DIAG_IR_UNKNOWN_NAME, reader_span_from(r, begin),
                  "the instance before the last dot of %.*s is not declared", (int)(r->last_end - begin),
                  r->lexer.text + begin);
    HELP(r, "declare it: instance NAME CLASS");
    return false;
}

bool reader_scope_variable(const Scope *scope, uint32_t owner, NameId name, uint32_t *var)
{
    if (owner || !scope->has_top)
        return map_get(&scope->variables, key_of(owner, name), var);
    if (name.index >= scope->top.n || !scope->top.at[name.index].var)
        return false;
    *var = scope->top.at[name.index].var - 1;
    return true;
}

void reader_scope_add_variable(Reader *r, uint32_t owner, NameId name, uint32_t var)
{
    Scope *scope = r->scope;
    if (owner || !scope->has_top) {
        map_put(&scope->variables, key_of(owner, name), var);
        return;
    }
    if (name.index >= scope->top.n) {
        vec_reserve(r->scratch, &scope->top, name.index + 1);
        memset(scope->top.at + scope->top.n, 0, (name.index + 1 - scope->top.n) * sizeof *scope->top.at);
        scope->top.n = name.index + 1;
    }
    scope->top.at[name.index] = (TopVariable){ var + 1, r->model->variables.at[var].type };
}

bool reader_find_variable(Reader *r, VarId *var)
{
    const NameId name = r->name.path.at[r->name.path.n - 1];
    uint32_t owner;
    if (name.index == ID_NONE)
        return false;
    if (r->name.path.n == 1 && r->scope->has_top) {
        if (!reader_scope_variable(r->scope, 0, name, &var->index))
            return false;
        r->name.found = r->scope->top.at[name.index].type;
        return true;
    }
    if (!walk(r, r->scope, r->name.path.n - 1, &owner) || !reader_scope_variable(r->scope, owner, name, &var->index))
        return false;
    r->name.found = model_var(r->model, *var)->type;
    return true;
}

/* The declared variable whose name is nearest to the last name of the text, or NULL. */
static const char *nearest_name(Reader *r, const char *text)
{
    enum { FURTHEST = 3 };
    const char *best = NULL;
    uint32_t best_distance = FURTHEST;
    const size_t length = strlen(text);
    if (length < 2)
        return NULL;
    for (uint32_t k = 0; k < r->model->variables.n && r->mistakes.to_compare > 0; k++) {
        const NameId name = r->model->variables.at[k].name;
        const size_t other = names_length(r->names, name);
        if (other + FURTHEST <= length || other >= length + FURTHEST)
            continue;
        r->mistakes.to_compare--;
        const uint32_t distance = edit_distance(text, names_of(r->names, name), best_distance);
        if (distance < best_distance && distance * 2 <= length) {
            best_distance = distance;
            best = names_of(r->names, name);
        }
    }
    return best;
}

bool reader_unknown_name(Reader *r, uint32_t begin, const char *what)
{
    const char *text = r->lexer.text + begin;
    const char *copy = arena_text(r->arena, text, r->last_end - begin);
    const char *dot = strrchr(copy, '.');
    const char *nearest = nearest_name(r, dot ? dot + 1 : copy);
    reader_report(r, DIAG_IR_UNKNOWN_NAME, reader_span_from(r, begin), "there is no %s %s", what, copy);
    if (nearest)
        HELP(r, "did you mean %s?", nearest);
    else
        HELP(r, "declare it, or correct its spelling");
    return false;
}

bool reader_parse_variable_name(Reader *r, VarId *var)
{
    const uint32_t begin = r->token.begin;
    reader_accept(r, TOKEN_DOT);
    if (!reader_parse_path(r) || !reader_path_to_element(r))
        return false;
    return reader_find_variable(r, var) || reader_unknown_name(r, begin, "variable");
}

/* ---- labels ---- */
/* The last name of r->name.path, interned: it may be new. */
static NameId add_last(Reader *r, const Token *last)
{
    const char *text = "";
    size_t length = 0;
    lexer_reader_token_text(&r->lexer, last, r->arena, &text, &length);
    return names_add(r->names, text, length);
}

bool reader_parse_new_label(Reader *r, Label *label)
{
    const uint32_t begin = r->token.begin;
    r->name.path.n = 0;
    for (;;) {
        const Token last = r->token;
        NameId name;
        if (!take_name(r, false, &name))
            return false;
        if (name.index == ID_NONE && !has_path_dot(r))
            name = add_last(r, &last);
        vec_push(r->arena, &r->name.path, name);
        if (!has_path_dot(r))
            break;
        reader_advance(r);
    }
    label->name = r->name.path.at[r->name.path.n - 1];
    return reader_path_owner(r, begin, &label->owner);
}

bool reader_parse_label(Reader *r, LabelKind kind, uint32_t *index)
{
    const uint32_t begin = r->token.begin;
    const Scope *scope = kind == LABEL_FUNCTION ? r->top : r->scope;
    uint32_t owner;
    if (!reader_parse_path(r))
        return false;
    const NameId name = r->name.path.at[r->name.path.n - 1];
    if (name.index != ID_NONE && walk(r, scope, r->name.path.n - 1, &owner) &&
        map_get(&scope->labels[kind], key_of(owner, name), index))
        return true;
    return reader_unknown_name(r, begin, label_noun(kind));
}

/* ---- types ---- */
bool reader_parse_type(Reader *r, Type *type)
{
    if (r->token.kind == TOKEN_NAME) {
        switch (r->token.word) {
        case WORD_REAL:
            *type = REAL_TYPE;
            reader_advance(r);
            return true;
        case WORD_INTEGER:
            *type = INTEGER_TYPE;
            reader_advance(r);
            return true;
        case WORD_BOOLEAN:
            *type = BOOLEAN_TYPE;
            reader_advance(r);
            return true;
        case WORD_STRING:
            *type = STRING_TYPE;
            reader_advance(r);
            return true;
        default: break;
        }
    }
    const Span span = reader_token_span(r);
    const int length = (int)(r->token.end - r->token.begin);
    NameId name;
    uint32_t enumeration;
    if (!is_name_token(r)) {
        reader_syntax_error(r, "a type");
        HELP(r, "types are Real, Integer, Boolean, String and enumerations");
        return false;
    }
    if (!take_name(r, false, &name))
        return false;
    if (name.index != ID_NONE && map_get(&r->head.labels.enumerations, name.index, &enumeration)) {
        *type =
            pool_get_enumeration(r->pool, enumeration)->is_object ? object_type(enumeration) : enum_type(enumeration);
        return true;
    }
    reader_report(r, DIAG_IR_UNKNOWN_TYPE, span, "there is no type %.*s", length, r->lexer.text + span.begin);
    HELP(r, "types are Real, Integer, Boolean, String and declared enumerations: enum NAME (value, value)");
    return false;
}
