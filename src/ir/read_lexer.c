/* Tokens of the text form; see read_lexer.h. */
#include "ir/read_lexer.h"
#include "base/ascii.h"
#include "base/text.h"
#include "base/utf8.h"
#include <math.h>

static Span span_of(const Lexer *lexer, uint32_t begin, uint32_t end)
{
    return (Span){ lexer->source, begin, end };
}

static char byte_at(const Lexer *lexer, uint32_t at)
{
    return at < lexer->end ? lexer->text[at] : '\n';
}

static bool is_line_end(const Lexer *lexer, uint32_t at)
{
    return at >= lexer->end || lexer->text[at] == '\n' || lexer->text[at] == '\r';
}

static void skip_blank(Lexer *lexer)
{
    uint32_t at = lexer->at;
    const char *text = lexer->text;
    while (at < lexer->end) {
        const char c = text[at];
        if (c == '#')
            while (!is_line_end(lexer, at))
                at++;
        else if (c == ' ' || c == '\t' || (c == '\r' && at + 1 < lexer->end && text[at + 1] == '\n'))
            at++;
        else
            break;
    }
    lexer->at = at;
}

/* ---- skipping ---- */
/* Behind the closing quote, or before the end of the line. */
static uint32_t skip_quoted(const Lexer *lexer, uint32_t at)
{
    const char quote = lexer->text[at++];
    for (; !is_line_end(lexer, at); at++) {
        if (lexer->text[at] == quote)
            return at + 1;
        if (lexer->text[at] == '\\' && !is_line_end(lexer, at + 1))
            at++;
    }
    return at;
}

void lexer_skip_line(Lexer *lexer)
{
    while (!is_line_end(lexer, lexer->at))
        lexer->at++;
}

/* Letters that mean nothing in the search for the end of an element. */
static uint32_t skip_plain(const Lexer *lexer, uint32_t at)
{
    static const bool stops[256] = {
        ['\n'] = true, ['\r'] = true, [';'] = true, ['#'] = true, ['"'] = true, ['\''] = true
    };
    while (at < lexer->end && !stops[(unsigned char)lexer->text[at]])
        at++;
    return at;
}

void lexer_skip_element(Lexer *lexer)
{
    uint32_t at = skip_plain(lexer, lexer->at);
    while (!is_line_end(lexer, at)) {
        const char c = lexer->text[at];
        if (c == ';') {
            at++;
            break;
        }
        if (c == '#') {
            lexer->at = at;
            lexer_skip_line(lexer);
            return;
        }
        at = skip_plain(lexer, skip_quoted(lexer, at));
    }
    lexer->at = at;
}

void lexer_skip_colon(Lexer *lexer)
{
    uint32_t at = lexer->at;
    while (!is_line_end(lexer, at) && lexer->text[at] != '#') {
        const char c = lexer->text[at];
        if (c == ':') {
            const char next = byte_at(lexer, at + 1);
            if (next != '=' && next != ':') {
                lexer->at = at + 1;
                return;
            }
            at++;
        }
        at = c == '"' || c == '\'' ? skip_quoted(lexer, at) : at + 1;
    }
    lexer->at = at;
    lexer_skip_line(lexer);
}

/* ---- numbers ---- */
static bool read_digits(const char *text, uint32_t *at, uint32_t *value)
{
    uint64_t number = 0;
    const uint32_t begin = *at;
    while (is_digit(text[*at])) {
        number = number * 10 + (uint64_t)(text[(*at)++] - '0');
        if (number > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)number;
    return *at > begin;
}

bool lexer_read_place(const char *text, uint32_t at, uint32_t *end, Place *place)
{
    *end = ++at;
    const bool is_good = read_digits(text, &at, &place->source) && text[at++] == ':' &&
                         read_digits(text, &at, &place->line) && text[at++] == ':' &&
                         read_digits(text, &at, &place->column);
    if (is_good)
        *end = at;
    return is_good;
}

static Token bad(const Lexer *lexer, Token token, DiagCode code, const char *what, const char *help)
{
    token.kind = TOKEN_BAD;
    if (lexer->is_quiet)
        return token;
    diag_error(lexer->diag, code, span_of(lexer, token.begin, token.end), "%s", what);
    diag_help(lexer->diag, "%s", help);
    return token;
}

static Token lex_place(Lexer *lexer, Token token)
{
    token.kind = TOKEN_PLACE;
    const bool is_good = lexer_read_place(lexer->text, token.begin, &token.end, &token.u.place);
    lexer->at = token.end;
    if (!is_good)
        return bad(lexer, token, DIAG_IR_PLACE, "a place is written @source:line:column",
                   "write for instance @0:12:3, or leave the place out");
    return token;
}

static uint64_t integer_value(const char *at, const char *end)
{
    uint64_t value = 0;
    for (; at < end; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return UINT64_MAX;
        value = value * 10 + digit;
    }
    return value;
}

static Token lex_number(Lexer *lexer, Token token)
{
    uint32_t at = token.begin;
    bool is_real = false;
    while (is_digit(byte_at(lexer, at)))
        at++;
    if (byte_at(lexer, at) == '.' && is_digit(byte_at(lexer, at + 1))) {
        is_real = true;
        at++;
        while (is_digit(byte_at(lexer, at)))
            at++;
    }
    if (byte_at(lexer, at) == 'e' || byte_at(lexer, at) == 'E') {
        uint32_t digits = at + 1;
        if (byte_at(lexer, digits) == '+' || byte_at(lexer, digits) == '-')
            digits++;
        if (is_digit(byte_at(lexer, digits))) {
            is_real = true;
            at = digits;
            while (is_digit(byte_at(lexer, at)))
                at++;
        }
    }
    token.end = lexer->at = at;
    if (is_name_letter(byte_at(lexer, at))) {
        while (is_name_letter(byte_at(lexer, at)))
            at++;
        token.end = lexer->at = at;
        return bad(lexer, token, DIAG_BAD_NUMBER, "a number is followed by letters",
                   "put an operator or a space between them; names that begin with a digit stand in '…'");
    }
    token.kind = is_real ? TOKEN_REAL : TOKEN_INTEGER;
    if (!is_real) {
        token.u.integer = integer_value(lexer->text + token.begin, lexer->text + at);
        return token;
    }
    text_to_real(lexer->text + token.begin, lexer->text + at, &token.u.real);
    if (isinf(token.u.real))
        return bad(lexer, token, DIAG_NUMBER_RANGE,
                   "the number is larger than the largest Real, 1.7976931348623157e+308",
                   "write inf if infinity is meant");
    return token;
}

/* ---- names, texts, signs ---- */
static Token lex_name(Lexer *lexer, Token token)
{
    uint32_t at = token.begin + 1;
    while (is_name_letter(lexer->text[at])) /* the text is terminated */
        at++;
    at = at < lexer->end ? at : lexer->end;
    token.kind = TOKEN_NAME;
    token.end = lexer->at = at;
    token.word = (uint16_t)words_find(lexer->words, lexer->text + token.begin, at - token.begin);
    return token;
}

static Token lex_quoted(Lexer *lexer, Token token)
{
    const char quote = lexer->text[token.begin];
    token.kind = quote == '"' ? TOKEN_STRING : TOKEN_QUOTED;
    token.end = lexer->at = skip_quoted(lexer, token.begin);
    if (token.end - token.begin >= 2 && lexer->text[token.end - 1] == quote) {
        uint32_t slashes = 0;
        while (lexer->text[token.end - 2 - slashes] == '\\' && token.end - 2 - slashes > token.begin)
            slashes++;
        if (slashes % 2 == 0)
            return token;
    }
    return bad(lexer, token, DIAG_UNTERMINATED_TEXT, "the closing quote is missing in this line",
               "close it; a quote inside is written \\\" or \\', a line end \\n");
}

static TokenKind sign_of(char c, char next, uint32_t *size)
{
    *size = 1;
    switch (c) {
    case ';': return TOKEN_SEMICOLON;
    case ',': return TOKEN_COMMA;
    case '.':
        *size = next == '+' || next == '-' || next == '*' || next == '/' ? 2 : 1;
        return next == '+'   ? TOKEN_DOT_PLUS
               : next == '-' ? TOKEN_DOT_MINUS
               : next == '*' ? TOKEN_DOT_STAR
               : next == '/' ? TOKEN_DOT_SLASH
                             : TOKEN_DOT;
    case '+': return TOKEN_PLUS;
    case '-': return TOKEN_MINUS;
    case '*': return TOKEN_STAR;
    case '/': return TOKEN_SLASH;
    case '~': return TOKEN_TILDE;
    case '%': return TOKEN_PERCENT;
    case '^': return TOKEN_CARET;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case '[': return TOKEN_OPEN_INDEX;
    case ']': return TOKEN_CLOSE_INDEX;
    case '{': return TOKEN_OPEN_SET;
    case '}': return TOKEN_CLOSE_SET;
    case ':':
        *size = next == '=' || next == ':' ? 2 : 1;
        return next == '=' ? TOKEN_ASSIGN : next == ':' ? TOKEN_COLONS : TOKEN_COLON;
    case '=': *size = next == '=' ? 2 : 1; return next == '=' ? TOKEN_EQ : TOKEN_IS;
    case '<':
        *size = next == '=' || next == '>' ? 2 : 1;
        return next == '=' ? TOKEN_LE : next == '>' ? TOKEN_NE : TOKEN_LT;
    case '>': *size = next == '=' ? 2 : 1; return next == '=' ? TOKEN_GE : TOKEN_GT;
    default: return TOKEN_BAD;
    }
}

static Token lex_sign(Lexer *lexer, Token token)
{
    uint32_t size;
    const char c = lexer->text[token.begin];
    token.kind = (uint8_t)sign_of(c, byte_at(lexer, token.begin + 1), &size);
    token.end = lexer->at = token.begin + size;
    if (token.kind != TOKEN_BAD)
        return token;
    char what[64];
    if (c > ' ' && c < 0x7f)
        snprintf(what, sizeof what, "the character '%c' means nothing here", c);
    else
        snprintf(what, sizeof what, "the byte 0x%02x means nothing here", (unsigned char)c);
    return bad(lexer, token, DIAG_BAD_CHARACTER, what, "remove it; in a name or text it must stand in quotes");
}

Token lexer_next(Lexer *lexer)
{
    skip_blank(lexer);
    Token token = { .kind = TOKEN_END, .begin = lexer->at, .end = lexer->at };
    if (lexer->at >= lexer->end)
        return token;
    const char c = lexer->text[lexer->at];
    if (c == '\n' || c == '\r') {
        token.kind = TOKEN_LINE;
        token.end = ++lexer->at;
        return token;
    }
    if (is_name_start(c))
        return lex_name(lexer, token);
    if (is_digit(c))
        return lex_number(lexer, token);
    if (c == '\'' || c == '"')
        return lex_quoted(lexer, token);
    return c == '@' ? lex_place(lexer, token) : lex_sign(lexer, token);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte an escape stands for, -1: none. `at` is behind the backslash and moves behind the escape. */
static int read_escape(const char **at)
{
    const char c = *(*at)++;
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '\\':
    case '"':
    case '\'': return c;
    case 'x': {
        const int high = hex_value((*at)[0]), low = high < 0 ? -1 : hex_value((*at)[1]);
        if (low < 0)
            return -1;
        *at += 2;
        return high * 16 + low;
    }
    default: return -1;
    }
}

bool lexer_reader_token_text(const Lexer *lexer, const Token *token, Arena *arena, const char **text, size_t *length)
{
    const char *from = lexer->text + token->begin, *end = lexer->text + token->end;
    if (token->kind != TOKEN_NAME)
        from++, end--;
    *text = from;
    *length = (size_t)(end - from);
    if (token->kind == TOKEN_NAME || !memchr(from, '\\', *length))
        return true;
    char *to = arena_alloc(arena, *length + 1, 1);
    *text = to;
    while (from < end) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        const uint32_t place = (uint32_t)(from++ - lexer->text);
        const int byte = read_escape(&from);
        if (byte < 0) {
            diag_error(lexer->diag, DIAG_BAD_CHARACTER, span_of(lexer, place, place + 2), "unknown escape in a text");
            diag_help(lexer->diag, "the escapes are \\n \\t \\\\ \\\" \\' and \\x with two hexadecimal digits");
            return false;
        }
        *to++ = (char)byte;
    }
    *length = (size_t)(to - *text);
    return true;
}
