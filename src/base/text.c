/* Text under construction; see text.h. Reals go through real_to_text, never through printf's %g,
 * which would follow the locale. */
#include "base/text.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

/* Makes room for `more` bytes and the terminating 0. */
static void text_reserve(Text *text, size_t more)
{
    REQUIRE(more < SIZE_MAX / 4 && text->n < SIZE_MAX / 4);
    const size_t wanted = text->n + more + 1;
    if (wanted <= text->capacity)
        return;
    size_t larger = text->capacity < 64 ? 64 : text->capacity * 2;
    if (larger < wanted)
        larger = wanted;
    if (arena_is_hostile(text->arena))
        larger = wanted + wanted / 8; /* moves often, and yet in total in linear memory */
    text->at = arena_grow(text->arena, text->at, text->capacity, larger, 1);
    text->capacity = larger;
}

void text_bytes(Text *text, const char *more, size_t size)
{
    text_reserve(text, size);
    if (size)
        memcpy(text->at + text->n, more, size);
    text->n += size;
    text->at[text->n] = 0;
}

void text_add(Text *text, const char *more)
{
    text_bytes(text, more, strlen(more));
}

void text_char(Text *text, char c)
{
    text_bytes(text, &c, 1);
}

void text_format(Text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    REQUIRE(length >= 0);
    text_reserve(text, (size_t)length);
    vsnprintf(text->at + text->n, (size_t)length + 1, format, again);
    va_end(again);
    text->n += (size_t)length;
}

void text_real(Text *text, double value)
{
    char digits[REAL_TEXT_SIZE];
    text_bytes(text, digits, real_to_text(value, digits));
}

void text_real_point(Text *text, double value)
{
    char digits[REAL_TEXT_SIZE];
    const size_t n = real_to_text(value, digits);
    text_bytes(text, digits, n);
    if (isfinite(value) && !memchr(digits, '.', n) && !memchr(digits, 'e', n))
        text_bytes(text, ".0", 2);
}

void text_integer(Text *text, int64_t value)
{
    char digits[24];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    text_bytes(text, at, (size_t)(digits + sizeof digits - at));
}

/* One character of a JSON text; what is no UTF-8 becomes the character that stands for it. */
static void add_json(Text *text, uint32_t c, const char *at, uint32_t size)
{
    switch (c) {
    case '"': text_add(text, "\\\""); break;
    case '\\': text_add(text, "\\\\"); break;
    case '\n': text_add(text, "\\n"); break;
    case '\r': text_add(text, "\\r"); break;
    case '\t': text_add(text, "\\t"); break;
    case UTF8_BAD: text_add(text, UTF8_REPLACEMENT); break;
    default:
        if (c < 0x20 || c == 0x7f)
            text_format(text, "\\u%04x", (unsigned)c);
        else
            text_bytes(text, at, size);
    }
}

void text_json(Text *text, const char *value)
{
    const char *end = value + strlen(value);
    uint32_t size;
    text_char(text, '"');
    for (const char *at = value; at < end; at += size) {
        const uint32_t c = utf8_decode(at, end, &size);
        add_json(text, c, at, size);
    }
    text_char(text, '"');
}

void text_wrapped(Text *text, const char *words, uint32_t width, uint32_t column, uint32_t indent)
{
    bool is_first = true;
    while (*words) {
        const size_t length = strcspn(words, " \n");
        if (!is_first && column + 1 + length > width) {
            text_format(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            text_char(text, ' ');
            column++;
        }
        text_bytes(text, words, length);
        column += (uint32_t)length;
        is_first = false;
        words += length;
        if (words[0] == '\n' && words[1] == '\n') {
            text_format(text, "\n\n%*s", (int)indent, "");
            column = indent;
            is_first = true;
        }
        words += strspn(words, " \n");
    }
}

void text_xml(Text *text, const char *value)
{
    const char *end = value + strlen(value);
    uint32_t size;
    for (const char *at = value; at < end; at += size) {
        const uint32_t c = utf8_decode(at, end, &size);
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            text_add(text, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : "&#39;");
        else if (c == UTF8_BAD || (c < ' ' && c != '\t' && c != '\n') || c == 0x7f || c == 0xfffe || c == 0xffff)
            text_add(text, UTF8_REPLACEMENT); /* XML has no way to write those */
        else
            text_bytes(text, at, size);
    }
}

const char *text_shown(const char *value, Arena *arena)
{
    Text text = { .arena = arena };
    const char *end = value + strlen(value);
    uint32_t size;
    text_add(&text, "");
    for (const char *at = value; at < end; at += size) {
        const uint32_t c = utf8_decode(at, end, &size);
        if (c == UTF8_BAD || c < ' ' || (c >= 0x7f && c < 0xa0))
            text_format(&text, "\\x%02x", (unsigned)(c == UTF8_BAD ? (unsigned char)*at : c));
        else if ((c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
            text_format(&text, "\\u%04x", (unsigned)c); /* they turn what stands beside them */
        else
            text_bytes(&text, at, size);
    }
    return text.at;
}

bool text_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

void text_element(Text *text, const char *name, size_t length, uint32_t n, const uint32_t *index)
{
    uint32_t k = 0;
    for (const char *at = name; at < name + length; at++) {
        const bool is_place = *at == ',' || *at == ']';
        if (is_place && k < n && at > name && (at[-1] == '[' || at[-1] == ','))
            text_integer(text, index[k++]);
        text_char(text, *at);
    }
    for (uint32_t first = k; k < n; k++) {
        text_char(text, k == first ? '[' : ',');
        text_integer(text, index[k]);
        if (k + 1 == n)
            text_char(text, ']');
    }
}

/* Numbers with commas up to the closing bracket, behind which it returns; NULL: they are not. */
static const char *read_indices(const char *at, const char *end, uint32_t *index, uint32_t most, uint32_t *n)
{
    while (at < end && *at >= '0' && *at <= '9' && *n < most) {
        char *behind;
        const unsigned long number = strtoul(at, &behind, 10);
        if (number == 0 || number > UINT32_MAX || behind >= end)
            return NULL;
        index[(*n)++] = (uint32_t)number;
        if (*behind == ']')
            return behind + 1;
        if (*behind != ',')
            return NULL;
        at = behind + 1;
    }
    return NULL;
}

uint32_t text_read_element(const char *text, size_t length, const char *name, bool any_case, uint32_t *index,
                           uint32_t most)
{
    const char *at = text, *const end = text + length;
    uint32_t n = 0;
    for (; *name; name++) {
        if (at == end || (any_case ? strncasecmp(at++, name, 1) != 0 : *at++ != *name))
            return 0;
        if (*name != '[' || (name[1] != ']' && name[1] != ','))
            continue;
        const uint32_t before = n, wanted = (uint32_t)strcspn(name, "]");
        at = read_indices(at, end, index, most, &n);
        if (!at || n - before != wanted)
            return 0;
        name += wanted;
    }
    if (at < end && *at == '[')
        at = read_indices(at + 1, end, index, most, &n);
    return at == end ? n : 0;
}
