/* UTF-8, one character at a time. Strict: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BAD         UINT32_MAX
#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* The character at `at`, which must be before `end`; its bytes in *size. UTF8_BAD with size 1 when there is none. */
uint32_t utf8_decode(const char *at, const char *end, uint32_t *size);
uint32_t utf8_encode(uint32_t character, char to[4]); /* returns the number of bytes */
bool utf8_is_valid(const char *text, size_t size);
size_t utf8_ascii(const char *text, size_t size); /* number of bytes before the first one beyond ASCII */
/* Columns of a character on a terminal: 0 (combining marks), 1 or 2 (East Asian wide, most emoji). */
uint32_t utf8_width(uint32_t character);

/* Whether the byte continues a character. */
static inline bool utf8_is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
