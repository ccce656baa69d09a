#include "koine_external.h"
#include <stdio.h>

/* A constant, a text made for the call, and one that was given. */
const char *g_name(int n)
{
    return n == 1 ? "one" : n == 2 ? "zwei: \xc3\xa4" : "";
}

const char *g_twice(const char *text)
{
    const size_t n = strlen(text);
    char *to = koine_text(2 * n);
    if (!to)
        return NULL;
    memcpy(to, text, n);
    memcpy(to + n, text, n);
    return to;
}

const char *g_same(const char *text)
{
    return text;
}

/* The first word and what is behind it, by address. */
int g_split(const char *text, const char **first, const char **rest)
{
    const char *blank = strchr(text, ' ');
    char *to = koine_text(blank ? (size_t)(blank - text) : strlen(text));
    if (blank)
        memcpy(to, text, (size_t)(blank - text));
    else
        strcpy(to, text);
    *first = to;
    *rest = blank ? blank + 1 : "";
    return blank != NULL;
}

/* The texts in the opposite order. */
void g_reverse(const char **texts, size_t n, const char **to, size_t m)
{
    for (size_t k = 0; k < n && k < m; k++)
        to[n - 1 - k] = texts[k];
}

static int lines;
const char *g_line(void)
{
    char *to = koine_text(40);
    sprintf(to, "line %d", ++lines);
    return to;
}

/* What is no text. */
const char *g_bad(int what)
{
    switch (what) {
    case 0: return NULL;
    case 1: return "\xff\xfe";
    case 2: return "\xc0\x80 overlong";
    case 3: return "\xed\xa0\x80 surrogate";
    case 4: { /* no more of it than anybody looks at takes memory */
        char *to = koine_text(1000000000u);
        memset(to, 'x', 2000000);
        return to;
    }
    case 5: {
        char *to = koine_text(1048577);
        memset(to, 'y', 1048577);
        return to;
    }
    case 6: {
        const char *to = koine_text(10);
        koine_fail("it knows no text");
        return to;
    }
    default: return "\xf0\x9f\x98\x80";
    }
}
