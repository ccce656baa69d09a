/* Generated C as tokens, to compare two texts but for identifiers and comments. */
#ifndef TESTS_EMIT_C_TOKENS_H
#define TESTS_EMIT_C_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *at;
    size_t n; /* 0: the end of the text, or a comment without end */
} CToken;

/* The next token, comments left out; *at is moved behind it. */
static inline CToken c_next_token(const char **at)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (;;) {
        *at += strspn(*at, " \n");
        if (strncmp(*at, "/*", 2) != 0)
            break;
        const char *const end = strstr(*at + 2, "*/");
        if (!end)
            return (CToken){ *at, 0 };
        *at = end + 2;
    }
    const char *const token = *at;
    const size_t n = strspn(token, word);
    *at += n ? n : *token != 0;
    return (CToken){ token, (size_t)(*at - token) };
}

static inline bool c_is_identifier(CToken token)
{
    return (*token.at >= 'a' && *token.at <= 'z') || (*token.at >= 'A' && *token.at <= 'Z') || *token.at == '_';
}

/* Token by token the same; identifiers may be others. *x, *y: where they differ, unless NULL. */
static inline bool c_is_same_code(const char *a, const char *b, CToken *x, CToken *y)
{
    for (;;) {
        const CToken of_a = c_next_token(&a), of_b = c_next_token(&b);
        if (x)
            *x = of_a;
        if (y)
            *y = of_b;
        if (of_a.n == 0 || of_b.n == 0)
            return of_a.n == of_b.n && *of_a.at == 0 && *of_b.at == 0;
        if ((of_a.n != of_b.n || memcmp(of_a.at, of_b.at, of_a.n) != 0) &&
            !(c_is_identifier(of_a) && c_is_identifier(of_b)))
            return false;
    }
}

#endif
