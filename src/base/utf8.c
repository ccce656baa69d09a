/* Decoding, encoding and measuring characters; see utf8.h. */
#include "base/utf8.h"
#include <string.h>

uint32_t utf8_decode(const char *at, const char *end, uint32_t *size)
{
    static const uint32_t SMALLEST[] = { 0, 0x80, 0x800, 0x10000 }; /* by number of continuing bytes */
    const unsigned char first = (unsigned char)*at;
    *size = 1;
    if (first < 0x80)
        return first;
    const uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || (size_t)(end - at) <= more)
        return UTF8_BAD;
    uint32_t character = first & (0x3fu >> more);
    for (uint32_t k = 1; k <= more; k++) {
        if (!utf8_is_inside(at[k]))
            return UTF8_BAD;
        character = character << 6 | ((unsigned char)at[k] & 0x3f);
    }
    const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
    if (character < SMALLEST[more] || character > 0x10ffff || is_surrogate)
        return UTF8_BAD;
    *size = more + 1;
    return character;
}

uint32_t utf8_encode(uint32_t character, char to[4])
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    const uint32_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    const uint32_t lead = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
    to[0] = (char)(lead | character >> 6 * more);
    for (uint32_t k = 1; k <= more; k++)
        to[k] = (char)(0x80 | (character >> 6 * (more - k) & 0x3f));
    return more + 1;
}

size_t utf8_ascii(const char *text, size_t size)
{
    size_t at = 0;
    for (uint64_t eight; size - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    while (at < size && (unsigned char)text[at] < 0x80)
        at++;
    return at;
}

bool utf8_is_valid(const char *text, size_t size)
{
    const char *end = text + size;
    uint32_t length;
    for (const char *at = text + utf8_ascii(text, size); at < end; at += length)
        if (utf8_decode(at, end, &length) == UTF8_BAD)
            return false;
    return true;
}

typedef struct {
    uint32_t first, last;
} Range;

static bool is_in(const Range *ranges, size_t n, uint32_t character)
{
    for (size_t k = 0; k < n; k++)
        if (character >= ranges[k].first && character <= ranges[k].last)
            return true;
    return false;
}

/* Blocks of Unicode 15, coarsened: a caret one column off under a rare script is not worth a table of 10 kB. */
uint32_t utf8_width(uint32_t character)
{
    static const Range NARROW[] = {
        { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
        { 0x064b, 0x065f }, { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e },
        { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
        { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
    };
    static const Range WIDE[] = {
        { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
        { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
        { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
    };
    if (character < 0x300)
        return 1;
    if (is_in(NARROW, sizeof NARROW / sizeof *NARROW, character))
        return 0;
    return is_in(WIDE, sizeof WIDE / sizeof *WIDE, character) ? 2 : 1;
}
