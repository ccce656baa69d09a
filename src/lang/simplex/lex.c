/* Lexical rules: spec 2.1; thesis lines 4219 to 4432. */
#include "lang/simplex/lex.h"
#include "base/ascii.h"
#include "base/bug.h"
#include "base/text.h"
#include <math.h>

enum {
    STRICT_NAME = 8,    /* characters of a name in the original */
    LONGEST_NAME = 255, /* in ours */
    STRICT_LINE = 80
};
static const double STRICT_REAL_LARGEST = 1e38, STRICT_REAL_SMALLEST = 1e-38;

typedef struct {
    const char *text;
    uint8_t kind;
} Keyword;

static const Keyword keywords[] = {
#define SYMBOL(name, text)
#define KEYWORD(name, text) { text, TOKEN_##name },
#define PLURAL(name, text)  { text, TOKEN_##name },
#include "lang/simplex/token.def"
#undef SYMBOL
#undef KEYWORD
#undef PLURAL
};
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords, LONGEST_KEYWORD = 13 };

const char *mdl_token_text(TokenKind kind)
{
    static const char *const texts[TOKEN_COUNT] = {
        "the end of the file",
        "a name",
        "a number",
        "a text",
#define SYMBOL(name, text)  "`" text "`",
#define KEYWORD(name, text) text,
#define PLURAL(name, text)
#include "lang/simplex/token.def"
#undef SYMBOL
#undef KEYWORD
#undef PLURAL
    };
    return texts[kind];
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static char peek(const Lexer *lexer, uint32_t ahead)
{
    return lexer->size - lexer->at > ahead ? lexer->text[lexer->at + ahead] : '\0';
}

static Span span_from(const Lexer *lexer, uint32_t begin)
{
    return (Span){ lexer->source, begin, lexer->at };
}

/* The original takes lines of up to 80 characters. */
static void check_lines(const Lexer *lexer)
{
    uint32_t begin = 0, characters = 0;
    for (uint32_t k = 0; k <= lexer->size; k++) {
        if (k == lexer->size || is_line_end(lexer->text[k])) {
            if (characters > STRICT_LINE) {
                REPORT(lexer, DIAG_MDL_LINE_TOO_LONG, (Span){ lexer->source, begin, k },
                       "the line has %u characters, the limit is %d", characters, STRICT_LINE);
                diag_help(lexer->diag, "break the line, or leave the profile `simplex`");
            }
            begin = k + 1;
            characters = 0;
        } else if (((unsigned char)lexer->text[k] & 0xc0) != 0x80) {
            characters++;
        }
    }
}

Lexer mdl_lex_begin(const Source *source, Lexer given)
{
    Lexer lexer = given;
    lexer.text = source->text;
    lexer.size = source->size;
    if (lexer.is_strict)
        check_lines(&lexer);
    return lexer;
}

void mdl_lex_stop(Lexer *lexer)
{
    lexer->at = lexer->size;
}

static void skip_line(Lexer *lexer)
{
    while (lexer->at < lexer->size && !is_line_end(lexer->text[lexer->at]))
        lexer->at++;
}

static void skip_blanks(Lexer *lexer)
{
    for (; lexer->at < lexer->size; lexer->at++) {
        const char c = lexer->text[lexer->at];
        const bool begins_line = lexer->at == 0 || is_line_end(lexer->text[lexer->at - 1]);
        if (c == '#' || (c == '$' && begins_line))
            skip_line(lexer);
        else if (c != ' ' && c != '\t' && !is_line_end(c))
            return;
        if (lexer->at == lexer->size)
            return;
    }
}

static TokenKind keyword_of(const char *text, uint32_t length)
{
    if (length > LONGEST_KEYWORD)
        return TOKEN_NAME;
    uint32_t low = 0, high = N_KEYWORDS;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        int order = strncmp(text, keywords[middle].text, length);
        if (order == 0)
            order = keywords[middle].text[length] == '\0' ? 0 : -1;
        if (order == 0)
            return keywords[middle].kind;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TOKEN_NAME;
}

bool mdl_would_be_keyword(const char *text, uint32_t length)
{
    char capitals[LONGEST_KEYWORD];
    if (length < 2 || length > LONGEST_KEYWORD)
        return false;
    for (uint32_t k = 0; k < length; k++)
        capitals[k] = capital_letter(text[k]);
    return keyword_of(capitals, length) != TOKEN_NAME;
}

/* A name that is used often is told once. */
static bool is_told(Lexer *lexer, const char *text, uint32_t length)
{
    const uint64_t key = hash_bytes(text, length, 0);
    uint32_t ignored;
    if (!lexer->long_names.arena)
        map_init(&lexer->long_names, lexer->arena, 8);
    if (map_get(&lexer->long_names, key, &ignored))
        return true;
    map_put(&lexer->long_names, key, 1);
    return false;
}

static void check_name(Lexer *lexer, uint32_t begin)
{
    const uint32_t length = lexer->at - begin;
    const char *text = lexer->text + begin;
    bool is_good = text[0] != '_' && text[length - 1] != '_';
    for (uint32_t k = 1; k < length; k++)
        is_good &= text[k] != '_' || text[k - 1] != '_';
    if (!is_good) {
        REPORT(lexer, DIAG_MDL_BAD_IDENTIFIER, span_from(lexer, begin),
               "a name cannot begin or end with `_`, nor have two of them in a row");
        diag_help(lexer->diag, "single underscores stand between letters or digits, as in ABC_1");
    }
    const uint32_t limit = lexer->is_strict ? STRICT_NAME : LONGEST_NAME;
    if (length > limit && !is_told(lexer, text, length)) {
        REPORT(lexer, DIAG_MDL_NAME_TOO_LONG, span_from(lexer, begin), "a name has at most %u characters", limit);
        diag_help(lexer->diag, lexer->is_strict ? "shorten it, or leave the profile `simplex`" : "shorten it");
    }
}

/* Words of arrays: in the original they are names. */
static bool is_beyond_thesis(TokenKind kind)
{
    return kind == TOKEN_ARRAY || kind == TOKEN_DIMENSION || kind == TOKEN_FOR || kind == TOKEN_FROM ||
           kind == TOKEN_TO;
}

/* identifier ::= letter { ['_'] letter_or_digit } */
static Token lex_name(Lexer *lexer)
{
    const uint32_t begin = lexer->at;
    bool is_keyword = true;
    for (; lexer->at < lexer->size && is_name_character(lexer->text[lexer->at]); lexer->at++)
        is_keyword &= lexer->text[lexer->at] >= 'A' && lexer->text[lexer->at] <= 'Z';
    uint32_t length = lexer->at - begin;
    Token token = { .kind = TOKEN_NAME, .begin = begin, .end = lexer->at };
    if (is_keyword)
        token.kind = (uint8_t)keyword_of(lexer->text + begin, length);
    if (lexer->is_strict && is_beyond_thesis(token.kind))
        token.kind = TOKEN_NAME;
    if (token.kind != TOKEN_NAME)
        return token;
    check_name(lexer, begin);
    if (length > LONGEST_NAME)
        length = LONGEST_NAME;
    token.name = names_add(lexer->names, lexer->text + begin, length);
    return token;
}

static void bad_number(const Lexer *lexer, uint32_t begin, const char *help)
{
    REPORT(lexer, DIAG_BAD_NUMBER, span_from(lexer, begin), "this is neither a number nor a name");
    diag_help(lexer->diag, "%s", help);
}

static void skip_word(Lexer *lexer)
{
    while (lexer->at < lexer->size && is_name_character(lexer->text[lexer->at]))
        lexer->at++;
}

static void skip_digits(Lexer *lexer)
{
    while (lexer->at < lexer->size && is_digit(lexer->text[lexer->at]))
        lexer->at++;
}

/* exponent ::= 'E' sign digits, `blanks` further on. */
static bool exponent_follows(const Lexer *lexer, uint32_t blanks)
{
    const char sign = peek(lexer, blanks + 1);
    return peek(lexer, blanks) == 'E' && (sign == '+' || sign == '-') && is_digit(peek(lexer, blanks + 2));
}

static double number_value(const Lexer *lexer, uint32_t begin, uint32_t decimal_end)
{
    const char *text = lexer->text + begin;
    const size_t length = lexer->at - begin, decimal = decimal_end - begin;
    double value = 0;
    if (length > decimal && text[decimal] == ' ') { /* `3 E+2`: close the gap */
        char *joined = arena_text(lexer->arena, text, length);
        memmove(joined + decimal, joined + decimal + 1, length - decimal);
        text_to_real(joined, joined + length - 1, &value);
    } else {
        text_to_real(text, text + length, &value);
    }
    return value;
}

static bool has_nonzero_digit(const char *text, uint32_t length)
{
    for (uint32_t k = 0; k < length; k++)
        if (text[k] >= '1' && text[k] <= '9')
            return true;
    return false;
}

static void check_range(const Lexer *lexer, uint32_t begin, uint32_t decimal_end, double value)
{
    const bool is_zero = !has_nonzero_digit(lexer->text + begin, decimal_end - begin);
    const double largest = lexer->is_strict ? STRICT_REAL_LARGEST : 1.7976931348623157e308;
    const double smallest = lexer->is_strict ? STRICT_REAL_SMALLEST : 4.9406564584124654e-324;
    if (value > largest || (!is_zero && value < smallest)) {
        REPORT(lexer, DIAG_NUMBER_RANGE, span_from(lexer, begin), "this number is too %s for a REAL",
               value > largest ? "large" : "small");
        diag_help(lexer->diag,
                  lexer->is_strict ? "numbers lie between 1E-38 and 1E+38" : "numbers lie between 5E-324 and 1.7E+308");
    }
}

/* unsigned_number ::= decimal [[blank] exponent],  decimal ::= digits | digits '.' digits */
static Token lex_number(Lexer *lexer)
{
    const uint32_t begin = lexer->at;
    skip_digits(lexer);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        skip_digits(lexer);
    }
    const bool misses_digits = lexer->text[begin] == '.' || lexer->text[lexer->at - 1] == '.';
    const uint32_t decimal_end = lexer->at;
    const bool has_blank = peek(lexer, 0) == ' ' && exponent_follows(lexer, 1);
    if (has_blank || exponent_follows(lexer, 0)) {
        lexer->at += has_blank ? 3 : 2;
        skip_digits(lexer);
    }
    Token token = { .kind = TOKEN_NUMBER, .begin = begin };
    if (is_name_character(peek(lexer, 0))) {
        const bool is_exponent = peek(lexer, 0) == 'E' || peek(lexer, 0) == 'e';
        const char sign = peek(lexer, 1);
        if (is_exponent && (sign == '+' || sign == '-') && is_digit(peek(lexer, 2)))
            lexer->at += 2;
        skip_word(lexer);
        bad_number(lexer, begin,
                   is_exponent ? "an exponent is written E+2 or E-2: capital E, always with a sign"
                               : "a name begins with a letter");
    } else if (misses_digits) {
        bad_number(lexer, begin, "digits stand on both sides of the point, as in 0.5 or 3.0");
    } else {
        token.number = number_value(lexer, begin, decimal_end);
        check_range(lexer, begin, decimal_end, token.number);
    }
    token.end = lexer->at;
    return token;
}

static char escaped(const Lexer *lexer, uint32_t begin, char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"':
    case '\\': return c;
    }
    REPORT(lexer, DIAG_MDL_BAD_ESCAPE, span_from(lexer, begin), "a text has no escape like this one");
    diag_help(lexer->diag, "there are \\n, \\t, \\\" and \\\\");
    return c;
}

/* A string keeps to one line. */
static Token lex_string(Lexer *lexer)
{
    const uint32_t begin = lexer->at++;
    Text text = { .arena = lexer->arena };
    while (lexer->at < lexer->size && lexer->text[lexer->at] != '"' && !is_line_end(lexer->text[lexer->at])) {
        const uint32_t at = lexer->at;
        char c = lexer->text[lexer->at++];
        if (c == '\\' && lexer->at < lexer->size && !is_line_end(lexer->text[lexer->at])) {
            c = lexer->text[lexer->at++];
            c = escaped(lexer, at, c);
        }
        text_char(&text, c);
    }
    if (peek(lexer, 0) == '"') {
        lexer->at++;
    } else {
        REPORT(lexer, DIAG_UNTERMINATED_TEXT, span_from(lexer, begin), "the text has no end on this line");
        diag_help(lexer->diag, "close it with \"; a line break inside is written \\n");
    }
    const NameId name = names_add(lexer->names, text.n ? text.at : "", text.n);
    return (Token){ .kind = TOKEN_STRING, .begin = begin, .end = lexer->at, .name = name };
}

Token mdl_lex_to_bracket(Lexer *lexer)
{
    const uint32_t begin = lexer->at;
    while (lexer->at < lexer->size && !strchr("],;:#\"", lexer->text[lexer->at]) &&
           !is_line_end(lexer->text[lexer->at]))
        lexer->at++;
    const NameId name = names_add(lexer->names, lexer->text + begin, lexer->at - begin);
    return (Token){ .kind = TOKEN_STRING, .begin = begin, .end = lexer->at, .name = name };
}

static TokenKind symbol_at(const Lexer *lexer, uint32_t *length)
{
    const char second = peek(lexer, 1);
    *length = 1;
    switch (peek(lexer, 0)) {
    case ',': return TOKEN_COMMA;
    case ';': return TOKEN_SEMICOLON;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case '[': return TOKEN_OPEN_BRACKET;
    case ']': return TOKEN_CLOSE_BRACKET;
    case '{': return lexer->is_strict ? TOKEN_EOF : TOKEN_OPEN_BRACE;
    case '}': return lexer->is_strict ? TOKEN_EOF : TOKEN_CLOSE_BRACE;
    case '=': return TOKEN_EQUAL;
    case '\'': return TOKEN_PRIME;
    case '^': return TOKEN_HAT;
    case '+': return TOKEN_PLUS;
    case '*': return TOKEN_STAR;
    case '/': return TOKEN_SLASH;
    case '.': return TOKEN_DOT;
    case '-': *length = second == '-' && peek(lexer, 2) == '>' ? 3 : 1; return *length == 3 ? TOKEN_ARROW : TOKEN_MINUS;
    case ':': *length = second == '=' ? 2 : 1; return *length == 2 ? TOKEN_ASSIGN : TOKEN_COLON;
    case '>': *length = second == '=' ? 2 : 1; return *length == 2 ? TOKEN_GREATER_EQUAL : TOKEN_GREATER;
    case '<':
        *length = second == '=' || second == '>' ? 2 : 1;
        return second == '=' ? TOKEN_LESS_EQUAL : second == '>' ? TOKEN_UNEQUAL : TOKEN_LESS;
    }
    *length = 0;
    return TOKEN_EOF;
}

static bool begins_token(const Lexer *lexer)
{
    uint32_t length;
    const char c = peek(lexer, 0);
    return is_name_character(c) || c == '"' || c == ' ' || c == '\t' || c == '#' || is_line_end(c) ||
           symbol_at(lexer, &length) != TOKEN_EOF;
}

/* One message for a whole run of characters that belong nowhere. */
static void skip_bad(Lexer *lexer)
{
    static const char right_quote[] = "\xe2\x80\x99"; /* what printers make of an apostrophe */
    const uint32_t begin = lexer->at;
    const unsigned char first = (unsigned char)lexer->text[begin];
    while (lexer->at < lexer->size && !begins_token(lexer))
        lexer->at++;
    if (first < 0x20 || first == 0x7f)
        REPORT(lexer, DIAG_BAD_CHARACTER, span_from(lexer, begin), "the character with code %u cannot stand here",
               first);
    else if (first < 0x80)
        REPORT(lexer, DIAG_BAD_CHARACTER, span_from(lexer, begin), "`%c` has no meaning in SIMPLEX-MDL", first);
    else
        REPORT(lexer, DIAG_BAD_CHARACTER, span_from(lexer, begin),
               "only ASCII characters can stand outside of comments and texts");
    if (lexer->at - begin >= 3 && memcmp(lexer->text + begin, right_quote, 3) == 0)
        diag_help(lexer->diag, "the sign of a derivative is the straight apostrophe '");
}

Token mdl_lex_next(Lexer *lexer)
{
    for (;;) {
        skip_blanks(lexer);
        if (lexer->at >= lexer->size)
            return (Token){ .kind = TOKEN_EOF, .begin = lexer->size, .end = lexer->size };
        const char c = lexer->text[lexer->at];
        if (is_letter(c) || c == '_')
            return lex_name(lexer);
        if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
            return lex_number(lexer);
        if (c == '"')
            return lex_string(lexer);
        uint32_t length;
        const TokenKind kind = symbol_at(lexer, &length);
        if (kind != TOKEN_EOF) {
            lexer->at += length;
            return (Token){ .kind = (uint8_t)kind, .begin = lexer->at - length, .end = lexer->at };
        }
        skip_bad(lexer);
    }
}
