/* Tokens of a text and of the files it includes by @file, as one stream. */
#ifndef LANG_DYMOLA_LEX_H
#define LANG_DYMOLA_LEX_H

#include "base/names.h"
#include "base/source.h"
#include "base/vec.h"
#include "lang/dymola/report.h"

typedef enum {
    TOKEN_EOF,
    TOKEN_NAME,
    TOKEN_NUMBER,
#define SYMBOL(name, text)  TOKEN_##name,
#define KEYWORD(name, text) TOKEN_##name,
#define KEYWORD2(name, text)
#include "lang/dymola/token.def"
#undef SYMBOL
#undef KEYWORD
#undef KEYWORD2
    TOKEN_COUNT
} TokenKind;

typedef struct {
    uint8_t kind;
    bool begins_line; /* the first of its line, or of its file */
    Span span;
    NameId name;
    double number;
} Token;

typedef struct { /* a file that is being read */
    uint32_t source, at;
    Span wanted_at;
} Reading;

typedef struct {
    Arena *arena;
    Names *names;
    Sources *sources;
    Diag *diag;
    uint32_t *errors;
    VEC(Reading) files; /* outermost first */
    uint32_t n_included;
} Lexer;

void dym_lex_begin(Lexer *lexer, uint32_t source);
Token dym_lex_next(Lexer *lexer);
void dym_lex_stop(Lexer *lexer); /* nothing but the end follows */
const char *dym_token_text(TokenKind kind);
bool dym_is_keyword(TokenKind kind);

#endif
