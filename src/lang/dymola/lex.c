/* Lexical rules: names of letters and digits, case matters; comments in braces; @file reads another file. */
#include "lang/dymola/lex.h"
#include "base/ascii.h"
#include "base/text.h"
#include "lang/dymola/library.h"
#include <math.h>

enum {
    INCLUDE_DEPTH = 50,
    INCLUDE_MOST = 10000 /* files that include others twice, and so on, end somewhere */
};

typedef struct {
    const char *text;
    uint8_t kind;
} Keyword;

static const Keyword keywords[] = {
#define SYMBOL(name, text)
#define KEYWORD(name, text)  { text, TOKEN_##name },
#define KEYWORD2(name, text) { text, TOKEN_##name },
#include "lang/dymola/token.def"
#undef SYMBOL
#undef KEYWORD
#undef KEYWORD2
};

static const Keyword symbols[] = {
#define SYMBOL(name, text) { text, TOKEN_##name },
#define KEYWORD(name, text)
#define KEYWORD2(name, text)
#include "lang/dymola/token.def"
#undef SYMBOL
#undef KEYWORD
#undef KEYWORD2
};

const char *dym_token_text(TokenKind kind)
{
    static const char *const texts[TOKEN_COUNT] = {
        "the end of the text",
        "a name",
        "a number",
#define SYMBOL(name, text)  "`" text "`",
#define KEYWORD(name, text) "`" text "`",
#define KEYWORD2(name, text)
#include "lang/dymola/token.def"
#undef SYMBOL
#undef KEYWORD
#undef KEYWORD2
    };
    return texts[kind];
}

bool dym_is_keyword(TokenKind kind)
{
    static const bool is_keyword[TOKEN_COUNT] = {
#define SYMBOL(name, text)
#define KEYWORD(name, text) [TOKEN_##name] = true,
#define KEYWORD2(name, text)
#include "lang/dymola/token.def"
#undef SYMBOL
#undef KEYWORD
#undef KEYWORD2
    };
    return is_keyword[kind];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static Reading *reading(Lexer *lexer)
{
    return &lexer->files.at[lexer->files.n - 1];
}

static const Source *text_of(Lexer *lexer)
{
    return sources_get(lexer->sources, reading(lexer)->source);
}

void dym_lex_begin(Lexer *lexer, uint32_t source)
{
    const Reading first = { .source = source, .wanted_at = SPAN_NONE };
    vec_push(lexer->arena, &lexer->files, first);
}

void dym_lex_stop(Lexer *lexer)
{
    lexer->files.n = 1;
    reading(lexer)->at = text_of(lexer)->size;
}

/* Blanks and comments; true if a line was ended. */
static bool skip_blanks(Lexer *lexer)
{
    const Source *source = text_of(lexer);
    Reading *r = reading(lexer);
    bool is_new_line = r->at == 0;
    while (r->at < source->size) {
        const char c = source->text[r->at];
        if (is_blank(c)) {
            is_new_line |= c == '\n' || c == '\r';
            r->at++;
        } else if (c == '{') {
            const uint32_t begin = r->at;
            while (r->at < source->size && source->text[r->at] != '}')
                is_new_line |= source->text[r->at++] == '\n';
            if (r->at < source->size) {
                r->at++;
                continue;
            }
            REPORT(lexer, DIAG_DYM_COMMENT, (Span){ r->source, begin, begin + 1 }, "this comment does not end");
            diag_help(lexer->diag, "a comment goes from `{` to the next `}`");
        } else {
            break;
        }
    }
    return is_new_line;
}

/* ---- @file ---- */
static bool is_being_read(const Lexer *lexer, uint32_t source)
{
    for (uint32_t k = 0; k < lexer->files.n; k++)
        if (lexer->files.at[k].source == source)
            return true;
    return false;
}

/* Beside the file that asks for it, else of the library that comes along. */
static SourceStatus open_file(Lexer *lexer, const char *name, uint32_t *source)
{
    const char *asking = text_of(lexer)->path, *slash = strrchr(asking, '/');
    const int folder = name[0] == '/' || !slash ? 0 : (int)(slash - asking) + 1;
    const char *path = arena_format(lexer->arena, "%.*s%s", folder, asking, name);
    const SourceStatus status = sources_open(lexer->sources, path, source);
    if (status != SOURCE_MISSING)
        return status;
    for (uint32_t k = 0; dym_library[k].name; k++)
        if (strcmp(dym_library[k].name, name) == 0) {
            const char *label = arena_format(lexer->arena, "library/dymola/%s", name);
            *source = sources_add_text(lexer->sources, label, dym_library[k].text, strlen(dym_library[k].text));
            return SOURCE_OK;
        }
    return status;
}

static void include(Lexer *lexer)
{
    const Source *from = text_of(lexer);
    Reading *r = reading(lexer);
    const uint32_t begin = r->at++, first = r->at;
    while (r->at < from->size && !is_blank(from->text[r->at]) && !strchr("{},;()", from->text[r->at]))
        r->at++;
    const Span span = { r->source, begin, r->at };
    const char *name = arena_text(lexer->arena, from->text + first, r->at - first);
    uint32_t source = SOURCE_NONE;
    if (!*name) {
        REPORT(lexer, DIAG_DYM_INCLUDE, span, "`@` is followed by no name of a file");
        diag_help(lexer->diag, "write it without a blank: @el.lib");
        return;
    }
    if (open_file(lexer, name, &source) != SOURCE_OK) {
        REPORT(lexer, DIAG_DYM_INCLUDE, span, "the file `%s` cannot be read", name);
        diag_help(lexer->diag,
                  "it is sought beside the file that includes it, then in the library (block.lib, el.lib)");
        return;
    }
    if (is_being_read(lexer, source) || lexer->files.n >= INCLUDE_DEPTH || ++lexer->n_included > INCLUDE_MOST) {
        const bool is_cycle = is_being_read(lexer, source);
        REPORT(lexer, DIAG_DYM_INCLUDE_CYCLE, span,
               is_cycle ? "the file `%s` includes itself" : "`%s` is one inclusion too many", name);
        for (uint32_t k = 1; k < lexer->files.n; k++)
            diag_note(lexer->diag, lexer->files.at[k].wanted_at, "through this inclusion");
        diag_help(lexer->diag, "remove one of the inclusions; at most %d files deep", INCLUDE_DEPTH);
        dym_lex_stop(lexer);
        return;
    }
    sources_set_language(lexer->sources, source, "dymola");
    const Reading next = { .source = source, .wanted_at = span };
    vec_push(lexer->arena, &lexer->files, next);
}

/* ---- words, numbers, symbols ---- */
static TokenKind keyword_of(const char *text, uint32_t length)
{
    uint32_t low = 0, high = sizeof keywords / sizeof *keywords;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        int order = strncmp(text, keywords[middle].text, length);
        if (order == 0 && keywords[middle].text[length])
            order = -1;
        if (order == 0)
            return keywords[middle].kind;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TOKEN_NAME;
}

static void read_word(Lexer *lexer, Token *token)
{
    const Source *source = text_of(lexer);
    Reading *r = reading(lexer);
    const uint32_t begin = r->at;
    while (r->at < source->size && is_name_character(source->text[r->at]))
        r->at++;
    token->kind = (uint8_t)keyword_of(source->text + begin, r->at - begin);
    token->name = names_add(lexer->names, source->text + begin, r->at - begin);
}

static char char_at(const Source *source, uint32_t at)
{
    return at < source->size ? source->text[at] : '\0';
}

/* digits [ '.' digits ] [ 'E' [sign] digits ]; two points after digits are not part of the number. */
static void read_number(Lexer *lexer, Token *token)
{
    const Source *source = text_of(lexer);
    Reading *r = reading(lexer);
    const uint32_t begin = r->at;
    while (is_digit(char_at(source, r->at)))
        r->at++;
    if (char_at(source, r->at) == '.' && char_at(source, r->at + 1) != '.')
        r->at++;
    while (is_digit(char_at(source, r->at)))
        r->at++;
    const char e = char_at(source, r->at), sign = char_at(source, r->at + 1);
    const uint32_t digits = r->at + (sign == '+' || sign == '-' ? 2 : 1);
    if ((e == 'E' || e == 'e') && is_digit(char_at(source, digits)))
        for (r->at = digits; is_digit(char_at(source, r->at));)
            r->at++;
    text_to_real(source->text + begin, source->text + r->at, &token->number);
    token->kind = TOKEN_NUMBER;
    if (!isfinite(token->number)) {
        REPORT(lexer, DIAG_DYM_NUMBER, (Span){ r->source, begin, r->at }, "this number is too large");
        diag_help(lexer->diag, "numbers go up to about 1.8E308");
    }
}

static bool read_symbol(Lexer *lexer, Token *token)
{
    const Source *source = text_of(lexer);
    Reading *r = reading(lexer);
    uint32_t longest = 0;
    for (uint32_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        const uint32_t length = (uint32_t)strlen(symbols[k].text);
        if (length > longest && source->size - r->at >= length &&
            memcmp(source->text + r->at, symbols[k].text, length) == 0) {
            longest = length;
            token->kind = symbols[k].kind;
        }
    }
    r->at += longest;
    return longest > 0;
}

/* A character that begins nothing; the whole of it, if it is not ASCII. */
static void report_character(Lexer *lexer)
{
    const Source *source = text_of(lexer);
    Reading *r = reading(lexer);
    const uint32_t begin = r->at++;
    while (((unsigned char)char_at(source, r->at) & 0xc0) == 0x80)
        r->at++;
    REPORT(lexer, DIAG_DYM_CHARACTER, (Span){ r->source, begin, r->at }, "this character has no meaning here");
    if (source->text[begin] == '^')
        diag_help(lexer->diag, "a power is written a**b");
    else
        diag_help(lexer->diag, "names are made of letters, digits and `_`");
}

Token dym_lex_next(Lexer *lexer)
{
    Token token = { .kind = TOKEN_EOF };
    for (;;) {
        token.begins_line |= skip_blanks(lexer);
        const Source *source = text_of(lexer);
        Reading *r = reading(lexer);
        token.span = (Span){ r->source, r->at, r->at };
        if (r->at == source->size) {
            if (lexer->files.n == 1)
                return token;
            (void)vec_pop(&lexer->files);
            token.begins_line = true;
            continue;
        }
        const char c = source->text[r->at];
        if (c == '@') {
            include(lexer);
            continue;
        }
        if (is_letter(c))
            read_word(lexer, &token);
        else if (is_digit(c))
            read_number(lexer, &token);
        else if (!read_symbol(lexer, &token)) {
            report_character(lexer);
            continue;
        }
        token.span.end = reading(lexer)->at;
        return token;
    }
}
