/* Tokens of SIMPLEX-MDL, one at a time.
 *
 * Blanks, comments (`#` to the end of the line) and the original compiler's message lines (`$` in
 * the first column) are skipped. What is wrong inside a token is reported here, and the token is
 * still given, so that the parser does not stumble over it as well. */
#ifndef LANG_SIMPLEX_LEX_H
#define LANG_SIMPLEX_LEX_H

#include "lang/simplex/report.h"
#include "base/map.h"
#include "base/names.h"

typedef enum {
    TOKEN_EOF,
    TOKEN_NAME,   /* name */
    TOKEN_NUMBER, /* number, unsigned */
    TOKEN_STRING, /* name: the text with its escapes replaced */
#define SYMBOL(name, text)  TOKEN_##name,
#define KEYWORD(name, text) TOKEN_##name,
#define PLURAL(name, text)
#include "lang/simplex/token.def"
#undef SYMBOL
#undef KEYWORD
#undef PLURAL
    TOKEN_COUNT
} TokenKind;

typedef struct {
    uint8_t kind; /* TokenKind */
    uint32_t begin, end;
    NameId name;
    double number;
} Token;

typedef struct {
    const char *text;
    uint32_t size, at;
    uint32_t source;
    bool is_strict;
    Arena *arena;
    Names *names;
    Diag *diag;
    uint32_t *errors;
    Map long_names; /* told already */
} Lexer;

/* `given` has everything but the text and the place in it. */
Lexer mdl_lex_begin(const Source *source, Lexer given);
Token mdl_lex_next(Lexer *lexer);
Token mdl_lex_to_bracket(Lexer *lexer); /* up to `]`, as TOKEN_STRING; without it, to where no unit goes on */
void mdl_lex_stop(Lexer *lexer);        /* nothing but TOKEN_EOF from here on */

bool mdl_would_be_keyword(const char *text, uint32_t length); /* if it were written in capitals */
const char *mdl_token_text(TokenKind kind);                   /* "END", ":=", "a name" */
static inline bool token_is_keyword(TokenKind kind)
{
    return kind > TOKEN_DOT;
}

#endif
