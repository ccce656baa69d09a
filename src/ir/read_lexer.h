/* Tokens of the text form. Private to read*.c. */
#ifndef IR_READ_LEXER_H
#define IR_READ_LEXER_H

#include "base/diag.h"
#include "ir/words.h"

typedef enum {
    TOKEN_END,
    TOKEN_LINE,    /* end of a line */
    TOKEN_NAME,    /* word: the word of the text form, or WORD_NO */
    TOKEN_QUOTED,  /* 'name' */
    TOKEN_STRING,  /* "text" */
    TOKEN_INTEGER, /* u.integer; UINT64_MAX: larger than that */
    TOKEN_REAL,    /* u.real */
    TOKEN_PLACE,   /* @source:line:column, u.place */
    TOKEN_BAD,     /* already reported */
    TOKEN_SEMICOLON,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_COLON,
    TOKEN_COLONS, /* :: */
    TOKEN_ASSIGN, /* := */
    TOKEN_IS,     /* = */
    TOKEN_EQ,     /* == */
    TOKEN_NE,     /* <> */
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_TILDE,
    TOKEN_PERCENT,
    TOKEN_CARET,
    TOKEN_OPEN, /* ( */
    TOKEN_CLOSE,
    TOKEN_OPEN_INDEX, /* [ */
    TOKEN_CLOSE_INDEX,
    TOKEN_OPEN_SET, /* { */
    TOKEN_CLOSE_SET,
    TOKEN_DOT_PLUS, /* .+ and the like: element by element */
    TOKEN_DOT_MINUS,
    TOKEN_DOT_STAR,
    TOKEN_DOT_SLASH
} TokenKind;

typedef struct {
    uint32_t source, line, column;
} Place;

typedef struct {
    uint8_t kind;
    uint16_t word; /* TOKEN_NAME: Word or WORD_OPERATION + op */
    uint32_t begin, end;
    union {
        uint64_t integer;
        double real;
        Place place;
    } u;
} Token;

typedef struct {
    const char *text; /* terminated */
    uint32_t at, end;
    uint32_t source;
    const Words *words;
    Diag *diag;
    bool is_quiet; /* report nothing: the same text is read again */
} Lexer;

Token lexer_next(Lexer *lexer);
/* Skips to the end of the element: behind the next ; or before the next end of line. */
void lexer_skip_element(Lexer *lexer);
void lexer_skip_line(Lexer *lexer); /* before the end of the line */
/* Skips behind the next colon that is no part of := or ::; stops before the end of the line. */
void lexer_skip_colon(Lexer *lexer);
/* The place that begins at text[at], which is '@'; false: not one. *end is the first byte after it. */
bool lexer_read_place(const char *text, uint32_t at, uint32_t *end, Place *place);
/* The content of a TOKEN_NAME, TOKEN_QUOTED or TOKEN_STRING; false: bad escape, reported. The text lives in the source
 * or in the arena. */
bool lexer_reader_token_text(const Lexer *lexer, const Token *token, Arena *arena, const char **text, size_t *length);

#endif
