/* Formats that make a text of a value: those of C for one value, as "8.3f"; a % before it is allowed. The compiler
 * looks at those that stand in a model, the runtime executes them. */
#ifndef KOINE_TEXT_FORMAT_H
#define KOINE_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Letters for values of each type. */
#define KOINE_FORMAT_REALS    "fFeEgG"
#define KOINE_FORMAT_INTEGERS "dioxXucfFeEgG"
#define KOINE_FORMAT_TEXTS    "s"

typedef struct {
    char flags[6]; /* of "-+ #0" those that are there */
    char letter;
    int64_t width, precision; /* precision -1: none */
} KoineTextFormat;

static inline size_t koine_read_format_number(const char *text, size_t n, size_t at, int64_t *value)
{
    const int64_t many = 1000000000;
    for (*value = 0; at < n && text[at] >= '0' && text[at] <= '9'; at++)
        *value = *value < many ? 10 * *value + (text[at] - '0') : many;
    return at;
}

/* Flags, width, precision and one of the letters; false: that is not what the n bytes are. */
static inline bool koine_read_format(const char *text, size_t n, const char *letters, KoineTextFormat *format)
{
    size_t at = n > 0 && text[0] == '%', n_flags = 0;
    memset(format, 0, sizeof *format);
    format->precision = -1;
    for (; at < n && text[at] && strchr("-+ #0", text[at]); at++)
        if (!strchr(format->flags, text[at]))
            format->flags[n_flags++] = text[at];
    at = koine_read_format_number(text, n, at, &format->width);
    if (at < n && text[at] == '.')
        at = koine_read_format_number(text, n, at + 1, &format->precision);
    if (at + 1 != n || !text[at] || !strchr(letters, text[at]))
        return false;
    format->letter = text[at];
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
