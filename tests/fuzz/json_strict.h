/* Whether a text is JSON by RFC 8259, word for word: a second opinion, written without regard to ours. Nesting counts
 * up to a limit. */
#ifndef TESTS_FUZZ_JSON_STRICT_H
#define TESTS_FUZZ_JSON_STRICT_H

#include <stdbool.h>
#include <string.h>

static inline const char *strict_blanks(const char *t)
{
    while (*t == ' ' || *t == '\t' || *t == '\n' || *t == '\r')
        t++;
    return t;
}

static inline bool strict_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline const char *strict_string(const char *t)
{
    if (*t++ != '"')
        return NULL;
    while (*t != '"') {
        if ((unsigned char)*t < 0x20)
            return NULL;
        if (*t++ != '\\')
            continue;
        if (*t == 'u') {
            for (int k = 1; k <= 4; k++)
                if (!strict_is_digit(t[k]) && !(t[k] >= 'a' && t[k] <= 'f') && !(t[k] >= 'A' && t[k] <= 'F'))
                    return NULL;
            t += 4;
        } else if (!*t || !strchr("\"\\/bfnrt", *t)) {
            return NULL;
        }
        t++;
    }
    return t + 1;
}

static inline const char *strict_number(const char *t)
{
    t += *t == '-';
    if (!strict_is_digit(*t))
        return NULL;
    if (*t == '0')
        t++;
    else
        while (strict_is_digit(*t))
            t++;
    if (*t == '.') {
        if (!strict_is_digit(*++t))
            return NULL;
        while (strict_is_digit(*t))
            t++;
    }
    if (*t == 'e' || *t == 'E') {
        t++;
        t += *t == '+' || *t == '-';
        if (!strict_is_digit(*t))
            return NULL;
        while (strict_is_digit(*t))
            t++;
    }
    return t;
}

static inline const char *strict_value(const char *t, int depth)
{
    t = strict_blanks(t);
    if (depth == 0)
        return NULL;
    if (*t == '"')
        return strict_string(t);
    if (strncmp(t, "true", 4) == 0 || strncmp(t, "null", 4) == 0)
        return t + 4;
    if (strncmp(t, "false", 5) == 0)
        return t + 5;
    if (*t != '{' && *t != '[')
        return strict_number(t);
    const char end = *t == '{' ? '}' : ']';
    t = strict_blanks(t + 1);
    if (*t == end)
        return t + 1;
    for (;; t++) {
        if (end == '}') {
            t = strict_string(strict_blanks(t));
            if (!t || *(t = strict_blanks(t)) != ':')
                return NULL;
            t++;
        }
        t = strict_value(t, depth - 1);
        if (!t)
            return NULL;
        t = strict_blanks(t);
        if (*t == end)
            return t + 1;
        if (*t != ',')
            return NULL;
    }
}

#endif
